/* SPDX-License-Identifier: MIT */
/* fault.h: whether a signal that says that it is a fault of the processor's was one.
 *
 * Whoever may send a process signals by rt_tgsigqueueinfo(2), as itself and a debugger may, can have them say anything. What the
 * processor had is kept by the kernel for each thread, and is in the context that a handler gets: trap, error code, address.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum { FAULT_DEBUG = 1, FAULT_BREAKPOINT = 3, FAULT_PAGE = 14 }; /* Intel SDM 3A, 6.3.1 */

/* What the kernel kept does not fit what the signal says. It keeps the last fault of each thread: one that fits may be old. */
static inline bool fault_is_made_up(int sig, const siginfo_t *si, const void *context)
{
#if defined(__x86_64__)
    const ucontext_t *uc = context;
    const unsigned long long trap = (unsigned long long)uc->uc_mcontext.gregs[REG_TRAPNO];
    const bool page =
        trap == FAULT_PAGE && (uint64_t)uc->uc_mcontext.gregs[REG_CR2] == (uint64_t)(uintptr_t)si->si_addr;

    if (si->si_code <= 0)
        return false; /* it does not say that it is a fault */
    switch (sig) {
    case SIGSEGV:
        return si->si_code == SI_KERNEL ? trap < 4 || trap > 13 : !page && (trap < 4 || trap > 13);
    case SIGBUS:
        return !page && trap != 11 && trap != 12 && trap != 17 && trap != 18;
    case SIGILL:
        return trap != 6;
    case SIGFPE: /* 0 is a division, and a thread that had no fault: then the address is none of its code */
        return trap ? trap != 16 && trap != 19
                    : (uint64_t)uc->uc_mcontext.gregs[REG_RIP] != (uint64_t)(uintptr_t)si->si_addr;
    case SIGTRAP:
        return trap != FAULT_DEBUG && trap != FAULT_BREAKPOINT;
    default:
        return false;
    }
#else
    (void)sig, (void)si, (void)context;
    return false;
#endif
}
