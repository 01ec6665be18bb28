/* SPDX-License-Identifier: MIT */
/* progress.h: how far a context is, and the display, in memory that a client maps: a fence or a vblank without a call.
 *
 * The client only reads, but for `waiters` and `awaited` of its contexts; dxgkrnl believes nothing it finds here.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
#include <atomic>
typedef std::atomic<uint32_t> dxgk_atomic32;
typedef std::atomic<uint64_t> dxgk_atomic64;
#else
#include <stdatomic.h>
typedef _Atomic uint32_t dxgk_atomic32;
typedef _Atomic uint64_t dxgk_atomic64;
#endif

struct dxgk_progress {
    dxgk_atomic64 queued;    /* packets that Render, Present, waits and signals have queued so far */
    dxgk_atomic64 completed; /* of those: executed, shown, or dropped with the device */
    dxgk_atomic32 state;   /* the device's D3DKMT_DEVICEEXECUTION_STATE: set before what it drops completes */
    dxgk_atomic32 change;  /* rises with every change of `completed` and `state`; a futex */
    dxgk_atomic32 waiters; /* how many wait on `change`: while it is 0 no thread is woken */
    dxgk_atomic64 awaited; /* the last packet that the client waited for (dxgkrnl/sched.c) */
};

enum {
    DXGK_VBLANK_SOURCES = 4,
    DXGK_VBLANK_GUARD_NS = 20000, /* what begins so shortly before a vblank begins after it */
};

/* A page of the adapter, which clients cannot write. Who waits, waits on the futex `change` as long as `on` is set and `epoch` is
 * that of a call of WaitForVerticalBlankEvent that succeeded; else by another call, which has the right answer. All wait on one
 * word: a vblank wakes them by one system call, and how many it woke says whether vblanks are wanted. */
struct dxgk_vblanks {
    /* Rises when such a call might answer something else: reset, mode, vblanks on and off, a device lost; never 0. */
    dxgk_atomic32 epoch;
    struct {
        dxgk_atomic32 on;     /* vblanks are reported */
        dxgk_atomic32 change; /* rises with `count` and `epoch`; a futex */
        dxgk_atomic64 count;  /* vblanks so far */
        /* The grid of vblanks (display.c): the last one before a time t has the number (t - zero_ns) / period_ns, modulo 2^64,
         * whether it was noticed yet or not. period_ns is 0 while there is no grid. A wait ends with a later one. */
        dxgk_atomic64 zero_ns;
        dxgk_atomic32 period_ns;
    } source[DXGK_VBLANK_SOURCES];
};
