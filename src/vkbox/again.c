/* SPDX-License-Identifier: MIT */
/* again.c: whether a signal that says that it is a fault of the processor's is one.
 *
 * Any thread of a program may queue one that says so (rt_tgsigqueueinfo(2)), and what the kernel kept of the thread's last fault may
 * fit it. A fault comes again when its instruction is run again:
 *
 *   again_ask() ── int3: the kernel forgets the last fault ── the handler returns, one instruction runs (EFLAGS.TF)
 *        ├─ it faults: again_ask() answers AGAIN_FAULT
 *        └─ it does not: `ran` is called with the signal as it was
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/fault.h"
#include "vkbox/layer.h"

enum { THREADS = 64 };
enum { FORGETS = 1, RUNS, CAME };

#ifdef __x86_64__

#define TRAP_FLAG 0x100 /* of EFLAGS */

/* One for each thread that is asked; where there are more, the first begins anew. */
static struct asked {
    _Atomic uint32_t thread;
    int state, level;
    long long pc;
    const void *context; /* CAME */
    bool blocked;        /* the thread had SIGTRAP blocked */
    siginfo_t info;
} all[THREADS];

static _Atomic(again_ran *) told;
static struct sigaction before; /* the program's for SIGTRAP */

static struct asked *find(uint32_t thread)
{
    for (int i = 0; i < THREADS; i++)
        if (atomic_load(&all[i].thread) == thread)
            return &all[i];
    return NULL;
}

static struct asked *find_or_make(uint32_t thread)
{
    static _Atomic uint32_t turn;
    struct asked *a = find(thread);
    uint32_t none = 0;

    for (int i = 0; !a && i < THREADS; i++, none = 0)
        if (atomic_compare_exchange_strong(&all[i].thread, &none, thread))
            a = &all[i];
    if (!a) {
        a = &all[atomic_fetch_add(&turn, 1) % THREADS];
        atomic_store(&a->thread, thread);
    }
    return a;
}

static void stop_stepping(const struct asked *a, ucontext_t *at)
{
    at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    if (a->blocked)
        sigaddset(&at->uc_sigmask, SIGTRAP);
}

static void pass_on(int sig, siginfo_t *info, void *context)
{
    if (signals_is_handler(&before) && signals_reset(&before, sig))
        signals_call(&before, sig, info, context);
    else if (before.sa_handler != SIG_IGN || info->si_code > 0)
        signals_end_by(sig, info);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
    ucontext_t *at = context;
    struct asked *a = find((uint32_t)syscall(SYS_gettid));
    const long long trap = at->uc_mcontext.gregs[REG_TRAPNO];
    siginfo_t asked;

    if (a && a->state == FORGETS && trap == FAULT_BREAKPOINT)
        return;
    if (!a || trap != FAULT_DEBUG || !(at->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG)) {
        pass_on(sig, info, context);
        return;
    }
    stop_stepping(a, at);
    if (a->state != RUNS) /* a handler that ran meanwhile had a fault of its own */
        return;
    asked = a->info;
    a->state = 0;
    atomic_store(&a->thread, 0);
    atomic_load (&told)(a->level, asked.si_signo, &asked, context);
}

static void install(again_ran *ran)
{
    struct sigaction mine = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK}, now;

    atomic_store(&told, ran);
    sigfillset(&mine.sa_mask);
    if (sigaction(SIGTRAP, NULL, &now) || (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_trap))
        return;
    before = now;
    sigaction(SIGTRAP, &mine, NULL);
}

/* Each trap puts its number over the last one's (arch/x86/kernel/traps.c: do_trap()). */
static void forget_last_fault(struct asked *a)
{
    sigset_t trap;

    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    pthread_sigmask(SIG_UNBLOCK, &trap, NULL);
    a->state = FORGETS;
    __asm__ volatile("int3" ::: "memory");
    a->state = RUNS;
}

enum again again_ask(int level, int sig, siginfo_t *info, void *context, bool direct, again_ran *ran)
{
    const uint32_t thread = (uint32_t)syscall(SYS_gettid);
    struct asked *a = find(thread);
    ucontext_t *at = context;
    const long long pc = at->uc_mcontext.gregs[REG_RIP];

    if (fault_is_made_up(sig, info, context))
        return AGAIN_SENT;
    if (!direct)
        return a && a->state == CAME && a->context == context ? AGAIN_FAULT : AGAIN_UNASKED;
    if (a && a->state == RUNS && a->pc == pc) {
        stop_stepping(a, at);
        a->context = context;
        a->state = CAME;
        return AGAIN_FAULT;
    }
    a = find_or_make(thread);
    a->level = level;
    a->pc = pc;
    a->info = *info;
    a->blocked = sigismember(&at->uc_sigmask, SIGTRAP) == 1;
    install(ran);
    forget_last_fault(a);
    at->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    sigdelset(&at->uc_sigmask, SIGTRAP);
    return AGAIN_RUNS;
}

#else

enum again again_ask(int level, int sig, siginfo_t *info, void *context, bool direct, again_ran *ran)
{
    return AGAIN_UNASKED;
}

#endif
