/* SPDX-License-Identifier: MIT */
/* progress.h: how far a context is, and the display, in memory that a client maps: a fence or a vblank without a call.
 *
 * The client only reads, but for `waiters` and `awaited` of its contexts; dxgkrnl believes nothing it finds here.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct dxgk_progress {
    _Atomic uint64_t queued;    /* packets that Render, Present, waits and signals have queued so far */
    _Atomic uint64_t completed; /* of those: executed, shown, or dropped with the device */
    _Atomic uint32_t
        state; /* of the device: D3DKMT_DEVICEEXECUTION_STATE, set before what it drops completes */
    _Atomic uint32_t change;  /* rises with every change of `completed` and `state`; a futex */
    _Atomic uint32_t waiters; /* how many wait on `change`: while it is 0 nobody is woken */
    _Atomic uint64_t awaited; /* the last packet that the client waited for (dxgkrnl/sched.c) */
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
    _Atomic uint32_t epoch;
    struct {
        _Atomic uint32_t on;     /* vblanks are reported */
        _Atomic uint32_t change; /* rises with `count` and `epoch`; a futex */
        _Atomic uint64_t count;  /* vblanks so far */
        /* The grid of vblanks (display.c): the last one before a time t has the number (t - zero_ns) / period_ns, modulo 2^64,
         * whether it was noticed yet or not. period_ns is 0 while there is no grid. A wait ends with a later one. */
        _Atomic uint64_t zero_ns;
        _Atomic uint32_t period_ns;
    } source[DXGK_VBLANK_SOURCES];
};
