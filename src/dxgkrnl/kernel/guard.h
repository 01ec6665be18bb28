/* SPDX-License-Identifier: MIT */
/* guard.h: calls into a miniport that do not come back by themselves.
 *
 *   dxgk_kernel_ddi_enter ──▶ in the miniport ──returns──▶ dxgk_kernel_ddi_leave
 *                               ├─ an exception of the processor ────────────────────────▶ abandoned
 *                               ├─ TdrDdiDelay of the processor's time without a wait ──▶ abandoned in the next routine that it calls, or
 *                               │                                                      where it is, if it calls none
 *                               ├─ as long asleep where no routine of the kernel waits ─▶ the same
 *                               ├─ a wait longer than TdrDdiDelay (ops.stuck), and as long again ▶ abandoned in that wait
 *                               └─ the thread ends, or leaves it by another one's frame ─▶ the process ends (kernel/lastwords.h)
 *
 * Invariants:
 *  1. An abandoned call goes on behind KERNEL_CALL, on the same stack and at the IRQL that it was made at, and returned nothing.
 *  2. After an exception or an endless loop the miniport is dead: it is not called any more, by nobody, until another is loaded.
 *  3. What is counted is time of processors that the thread had, and time that the miniport stalled: a machine that is busy elsewhere, or a
 *     debugger, makes no loop.
 *  4. A routine of the kernel is not abandoned in its middle, but for one that itself faults, or needs LOOK_MS of the processor.
 *  5. What a call leaves in the processor (direction flag, alignment checks, single steps) is found when it comes back or calls a routine, and
 *     is put right.
 *  6. A fault in the middle of the C library may leave it locked, and who says so needs it: where that takes TELL_MS, the process ends with what
 *     was to be said.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkrnl/kernel.h"
#include "dxgkrnl/kernel/lastwords.h"
#include "dxgkrnl/kernel/process.h"

enum { VIDEO_TDR_FAILURE_CODE = 0x116 }; /* bugcodes.h */

struct guard {
    struct lastwords *words;
    uint32_t copies; /* of the process, that were said */
    struct process_watch process;
    const void *object; /* where a miniport that is a shared object begins; NULL: it is none */
    pthread_t thread;   /* looks every LOOK_MS */
    _Atomic uint64_t limit_ns;
    int stop_fd;
    _Atomic bool stopping;
    _Atomic uint64_t call;       /* a number for each stay in the miniport between two waits */
    _Atomic int tid;             /* whose it is; 0: none is under way */
    _Atomic uint64_t stalled_ns; /* KeStallExecutionProcessor, since ever */
    _Atomic uint64_t abandon;    /* the stay that ends in the next routine; 0: none */
    _Atomic bool asleep;         /* why: it slept */
    bool dead;
    _Atomic bool telling; /* what it died of */
    struct ktimer tell;
    unsigned code;
    char why[256];
};

/* 0 or a negative errno. */
int dxgk_guard_create(struct kernel *k);
void dxgk_guard_destroy(struct kernel *k);
/* The running thread is in the miniport from now on, or no more. */
void dxgk_guard_begin(struct kernel *k);
void dxgk_guard_end(struct kernel *k);
/* Ends the call that the running thread is in, if that is due. */
void dxgk_guard_look(struct kernel *k);
/* The IRQL is another, or a call began: whether the miniport runs at DISPATCH_LEVEL and above now. */
void dxgk_guard_above(struct kernel *k);
/* Ends it, whether it is due or not. */
_Noreturn void dxgk_guard_leave(struct kernel *k);
/* The miniport dies of `what`, a bug check's reason, in the call that the running thread is in. */
_Noreturn void dxgk_guard_die(struct kernel *k, unsigned code, const char *what);
/* The processor's flags are as code of ours expects them. */
void dxgk_guard_put_right(void);
/* What is to be checked where the miniport ends and dxgkrnl begins: a DDI "returned", a routine "was called". */
void dxgk_guard_border(struct kernel *k, const char *who, const char *did);
/* A coroutine's stack: what is below it faults. NULL: no memory. */
void *dxgk_guard_stack(size_t size);
void dxgk_guard_stack_free(void *stack, size_t size);
