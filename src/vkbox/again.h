/* SPDX-License-Identifier: MIT */
/* again.h: whether a signal that says that it is a fault of the processor's is one.
 *
 * Any thread of a program may queue one that says so (rt_tgsigqueueinfo(2)), and what the kernel kept of the thread's last fault may
 * fit it. A fault comes again when its instruction is run again:
 *
 *   again_ask() ── int3: the kernel forgets the last fault ── the handler returns, one instruction runs (EFLAGS.TF)
 *        ├─ it faults: again_ask() answers AGAIN_FAULT
 *        └─ it does not: `ran` is called with the signal as it was
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

enum again {
    AGAIN_SENT,    /* it is none */
    AGAIN_FAULT,   /* it came again */
    AGAIN_UNASKED, /* the instruction cannot be run again: somebody else's handler calls this one */
    AGAIN_RUNS,    /* the handler is to return */
};

/* A signal with si_code > 0, in its handler. `direct`: the kernel called that. `ran` gets `level`, in a handler of SIGTRAP in which all
 * signals are blocked; it is the same in all calls. */
typedef void again_ran(int level, int sig, siginfo_t *info, void *context);
enum again again_ask(int level, int sig, siginfo_t *info, void *context, bool direct, again_ran *ran);

/* In a handler, whether the kernel called it: its frame lies there (arch/x86/include/asm/sigframe.h: struct rt_sigframe). */
#define AGAIN_IS_DIRECT(context) ((const char *)(context) == (const char *)__builtin_frame_address(0) + 16)
