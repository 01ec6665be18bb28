/* SPDX-License-Identifier: MIT */
/* exceptions.c: see exceptions.h. */
#include "dxgkrnl/kernel/exceptions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "base/sched/signame.h"
#include "dxgkrnl/image/explain.h"
#include "dxgkrnl/image/fault.h"
#include "dxgkrnl/image/image.h"
#include "dxgkrnl/kernel/state.h"

enum { STACK_NEAR = 65536, MAX_FRAMES = 64, TRAP_FLAG = 1 << 8 };

/* Bug checks of Windows 7 (bugcodes.h). */
enum {
    SYSTEM_THREAD_EXCEPTION_NOT_HANDLED = 0x7E,
    UNEXPECTED_KERNEL_MODE_TRAP = 0x7F,
    DRIVER_IRQL_NOT_LESS_OR_EQUAL = 0xD1,
    ATTEMPTED_EXECUTE_OF_NOEXECUTE_MEMORY = 0xFC,
};

enum { SYS_USER_DISPATCH_CODE = 2 }; /* SYS_USER_DISPATCH, which older headers lack */

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
enum { NUM_WATCHED = sizeof(watched) / sizeof(watched[0]) };
static struct sigaction before[NUM_WATCHED];
static _Thread_local void **trying; /* where a fault goes on */

bool dxgk_exceptions_try(void (*fn)(void *arg), void *arg)
{
    void *back[5], **outer = trying;
    bool came_back = false;

    if (!__builtin_setjmp(back)) {
        trying = back;
        fn(arg);
        came_back = true;
    }
    trying = outer;
    return came_back;
}

#define HEAP ", in the C library's heap, which an earlier call may have damaged"

/* ---- where --------------------------------------------------------------- */

static uintptr_t pc_of(const void *context)
{
#if defined(__x86_64__)
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
    (void)context;
    return 0;
#endif
}

static void place(uintptr_t pc, char *text, size_t size)
{
    Dl_info info;
    const char *name;

    if (dxgk_image_describe((const void *)pc, text, size))
        return;
    if (!dladdr((void *)pc, &info) || !info.dli_fname) {
        snprintf(text, size, "%#lx", (unsigned long)pc);
        return;
    }
    name = strrchr(info.dli_fname, '/');
    snprintf(text, size, "%s+%#lx", name ? name + 1 : info.dli_fname,
             (unsigned long)(pc - (uintptr_t)info.dli_fbase));
}

static const void *object_of(const void *pc)
{
    Dl_info info;

    return dladdr(pc, &info) ? info.dli_fbase : NULL;
}

struct walk {
    struct kernel *k;
    const void *pc, *ours;
    const char *name;
    bool begun, in_ours;
    bool allocates;        /* the C library's heap was at it */
    bool in_abort, aborts; /* the second: the C library itself found what abort() is called for */
    unsigned frames;
};

static void look_at_library(struct walk *w, const char *pc, const void *object)
{
    const void *function = _Unwind_FindEnclosingFunction((void *)(uintptr_t)pc);

    w->allocates |= function == (void *)malloc || function == (void *)free || function == (void *)calloc ||
                    function == (void *)realloc;
    w->aborts |= w->in_abort && object == object_of((const void *)abort);
    w->in_abort = function == (void *)abort;
}

/* From the fault outwards, through the C library and dxgkrnl, until the miniport's own code. */
static _Unwind_Reason_Code look_at(struct _Unwind_Context *context, void *arg)
{
    struct walk *w = arg;
    int exact = 0;
    const char *pc = (const char *)_Unwind_GetIPInfo(context, &exact);
    const void *object;
    const char *name;

    w->begun |= pc == w->pc;
    if (!w->begun || !pc) /* who jumped to nowhere comes first */
        return _URC_NO_REASON;
    if (++w->frames > MAX_FRAMES)
        return _URC_END_OF_STACK;
    pc -= !exact;
    object = object_of(pc);
    look_at_library(w, pc, object);
    if (dxgk_image_code(pc) || !object || object == w->k->guard.object)
        return _URC_END_OF_STACK;
    w->in_ours |= object == w->ours;
    name = w->k->ops.routine ? w->k->ops.routine(w->k->ctx, _Unwind_FindEnclosingFunction((void *)pc)) : NULL;
    if (name)
        w->name = name;
    return _URC_NO_REASON;
}

static void walk_out(void *arg)
{
    _Unwind_Backtrace(look_at, arg);
}

static bool is_code(const void *pc)
{
    return dxgk_image_code(pc) || object_of(pc);
}

/* What a call to nowhere was made from: it has only put its return address on the stack. NULL: that is none. */
static const void *caller_of(const void *context)
{
    const void *pc = NULL;
#if defined(__x86_64__)
    const ucontext_t *uc = context;
    struct iovec to = {&pc, sizeof(pc)}, at = {(void *)uc->uc_mcontext.gregs[REG_RSP], sizeof(pc)};

    if (process_vm_readv(getpid(), &to, 1, &at, 1, 0) != sizeof(pc) || !is_code(pc))
        return NULL;
    if ((const char *)pc >= (const char *)dxgk_crossing && (const char *)pc < dxgk_crossing_end) {
        at.iov_base = (char *)at.iov_base + sizeof(pc) + CROSSING_RETURN;
        if (process_vm_readv(getpid(), &to, 1, &at, 1, 0) != sizeof(pc))
            return NULL;
    }
#else
    (void)context;
#endif
    return pc;
}

/* The routine of the kernel that the miniport had called; NULL: none. */
static const char *routine_at(struct kernel *k, const void *context, struct walk *w)
{
    const void *pc = (const void *)pc_of(context), *caller;

    *w = (struct walk){.k = k, .pc = pc, .ours = object_of((const void *)dxgk_exceptions_take)};
    if (is_code(pc)) {
        dxgk_exceptions_try(walk_out, w);
        return w->name;
    }
    caller = caller_of(context);
    return caller && object_of(caller) == w->ours && k->ops.routine
               ? k->ops.routine(k->ctx, _Unwind_FindEnclosingFunction((void *)(uintptr_t)caller))
               : NULL;
}

/* ---- what ---------------------------------------------------------------- */

/* An exception whose address the processor does not say: the instruction tells. */
static bool explain(const void *context, char *text, size_t size)
{
#if defined(__x86_64__)
    const ucontext_t *uc = context;
    uint8_t code[16];
    struct iovec to = {code, sizeof(code)}, at = {(void *)pc_of(context), sizeof(code)};
    ssize_t n;

    while ((n = process_vm_readv(getpid(), &to, 1, &at, 1, 0)) <= 0 && at.iov_len > 1)
        to.iov_len = --at.iov_len;
    return n > 0 && dxgk_image_explain(uc, code, (size_t)n, text, size);
#else
    (void)context;
    (void)text;
    (void)size;
    return false;
#endif
}

/* Code is run that is memory for data; false where that is not known. */
static bool runs_data(int sig, const siginfo_t *info, const void *context)
{
    return sig == SIGSEGV && info->si_code == SEGV_ACCERR && (uintptr_t)info->si_addr == pc_of(context);
}

static void describe(int sig, const siginfo_t *info, const void *context, char *text, size_t size, bool *full)
{
    const char *what = sig == SIGFPE
                           ? info->si_code == FPE_INTDIV ? "a divide error" : "a floating-point exception"
                       : sig == SIGILL ? "an illegal instruction"
                                       : NULL;
    uintptr_t pc = pc_of(context), sp = 0, at = (uintptr_t)info->si_addr;
    const char *how = "on";
    const void *caller;
    char where[100], why[110];

    if (sig == SIGSYS) {
        place(pc - 2, where, sizeof(where));
        snprintf(text, size, "a system call of Linux's, number %d (SYSCALL or INT 80h), at %s",
                 info->si_syscall, where);
        *full = false;
        return;
    }
#if defined(__x86_64__)
    const ucontext_t *uc = context;
    sp = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
    if (info->si_code == SEGV_MAPERR || info->si_code == SEGV_ACCERR)
        how = uc->uc_mcontext.gregs[REG_ERR] & 16  ? "running"
              : uc->uc_mcontext.gregs[REG_ERR] & 2 ? "writing"
                                                   : "reading";
#endif
    place(pc, where, sizeof(where));
    *full = !what && !runs_data(sig, info, context) && sp && at < sp + STACK_NEAR && at + STACK_NEAR > sp;
    if (what)
        snprintf(text, size, "%s at %s", what, where);
    else if (sig == SIGSEGV && dxgk_image_refused(info, context, why, sizeof(why)))
        snprintf(text, size, "%s, at %s", why, where);
    else if (runs_data(sig, info, context))
        snprintf(text, size, "memory that may not be executed is run at %s", where);
    else if (*full)
        snprintf(text, size, "a stack that is full at %s", where);
    else if (sig == SIGBUS && info->si_code == BUS_ADRALN)
        snprintf(text, size, "a misaligned access at %s, while the alignment check flag is set", where);
    else if (sig == SIGSEGV && info->si_code == SI_KERNEL && explain(context, why, sizeof(why)))
        snprintf(text, size, "%s at %s", why, where);
    else if (sig == SIGSEGV && info->si_code == SI_KERNEL) /* the processor does not say which */
        snprintf(text, size, "an access violation at %s, on an address that is not canonical", where);
    else if (!is_code((const void *)pc) && (caller = caller_of(context))) {
        place((uintptr_t)caller, why, sizeof(why));
        snprintf(text, size, "a call of %s, where no code is, from in front of %s", where, why);
    } else
        snprintf(text, size, "an access violation at %s, %s %#lx", where, how, (unsigned long)at);
}

/* ---- handlers ------------------------------------------------------------ */

static bool in_miniport(const struct kernel *k)
{
    return k && k->current && k->current->ddi;
}

/* A breakpoint is a word to who debugs: it is said, and the miniport goes on. So it does when it is single-stepped. */
static void on_trap(struct kernel *k, void *context)
{
    char where[100];

    place(pc_of(context), where, sizeof(where));
#if defined(__x86_64__)
    ucontext_t *uc = context;
    if (uc->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG) {
        uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        dxgk_kernel_violation(k, "the trap flag is set at %s", where);
        return;
    }
#endif
    dxgk_kernel_violation(k, "a breakpoint in front of %s", where);
}

static void end_in_ddi(struct kernel *k, int sig, siginfo_t *info, void *context)
{
    unsigned code = SYSTEM_THREAD_EXCEPTION_NOT_HANDLED;
    const char *routine, *memory;
    struct walk w = {.k = k};
    char text[400];
    bool full;

    if (k->guard.dead)
        dxgk_guard_leave(k);
    describe(sig, info, context, text, sizeof(text) - 200, &full);
    memory = k->ops.memory && sig == SIGSEGV ? k->ops.memory(k->ctx, info->si_addr) : NULL;
    if (memory)
        snprintf(text + strlen(text), 60, ", %s", memory);
    routine = full ? NULL : routine_at(k, context, &w);
    if (routine)
        snprintf(text + strlen(text), 60, ", in %s", routine);
    if (w.allocates)
        snprintf(text + strlen(text), 80, HEAP);
    if (runs_data(sig, info, context))
        code = ATTEMPTED_EXECUTE_OF_NOEXECUTE_MEMORY;
    else if (full)
        code = UNEXPECTED_KERNEL_MODE_TRAP;
    else if (k->irql >= DISPATCH_LEVEL && (sig == SIGSEGV || sig == SIGBUS))
        code = DRIVER_IRQL_NOT_LESS_OR_EQUAL;
    dxgk_guard_die(k, code, text);
}

/* The same outside of every call: what the C library was at. */
static struct walk library_at(struct kernel *k, const void *context)
{
    static struct kernel none; /* has no miniport */
    struct walk w;

    routine_at(k ? k : &none, context, &w);
    return w;
}

/* The process may end of it. */
static void say_last(struct kernel *k, int sig, const siginfo_t *info, const void *context)
{
    const char *whose = k ? "in dxgkrnl" : "in a thread that is not dxgkrnl's";
    struct walk w = library_at(k, context);
    char text[260];
    bool full;

    if (sig == SIGABRT && w.aborts) {
        dxgk_lastwords_say(
            "abort() was called by the C library, which found memory damaged%s, by now or by an earlier call",
            w.allocates ? ", its heap" : "");
    } else if (sig == SIGABRT && in_miniport(k)) {
        const char *routine = w.name;
        dxgk_lastwords_say("abort() was called by the miniport%s%s",
                           routine ? ", or for it in " : ", or for it", routine ? routine : "");
    } else if (sig == SIGABRT)
        dxgk_lastwords_say("abort() was called %s", whose);
    else if (info->si_code <= 0)
        dxgk_lastwords_say("%s was sent by process %d, which is %s", signal_name(sig).text, (int)info->si_pid,
                           info->si_pid == getpid() ? "this one" : "another");
    else if (sig != SIGTRAP) {
        describe(sig, info, context, text, sizeof(text), &full);
        dxgk_lastwords_say("%s, %s%s", text, whose, w.allocates ? HEAP : "");
    }
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    struct kernel *k = dxgk_kernel_here();
    const struct sigaction *b = &before[0];
    bool instruction =
        info->si_code > 0 && sig != SIGABRT && (sig != SIGSYS || info->si_code == SYS_USER_DISPATCH_CODE);

    if (trying && instruction)
        __builtin_longjmp(trying, 1);
    dxgk_guard_put_right(); /* the handler has the flags of what it interrupted */
    if (instruction && dxgk_image_fault(sig, info, context))
        return;
    if (instruction && in_miniport(k)) {
        if (sig != SIGTRAP)
            end_in_ddi(k, sig, info, context);
        on_trap(k, context);
        return;
    }
    say_last(k, sig, info, context);
    for (unsigned i = 0; i < NUM_WATCHED; i++)
        if (watched[i] == sig)
            b = &before[i];
    dxgk_image_pass_on(b, sig, info, context);
}

void dxgk_exceptions_take(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct sigaction mine = {.sa_sigaction = on_signal,
                                   .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    struct sigaction now;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < NUM_WATCHED; i++)
        if (!sigaction(watched[i], NULL, &now) && now.sa_sigaction != on_signal) {
            before[i] = now;
            sigaction(watched[i], &mine, NULL);
        }
    pthread_mutex_unlock(&lock);
}

bool dxgk_exceptions_has(int sig)
{
    bool has = false;

    for (unsigned i = 0; i < NUM_WATCHED; i++)
        has |= watched[i] == sig;
    return has;
}

int dxgk_exceptions_taken_back(void)
{
    int first = 0;
    struct sigaction now;

    for (unsigned i = 0; i < NUM_WATCHED; i++)
        if (watched[i] != SIGBUS && /* base/file/shared.c borrows it */
            !sigaction(watched[i], NULL, &now) && now.sa_sigaction != on_signal)
            first = first ? first : watched[i];
    if (first)
        dxgk_exceptions_take();
    return first;
}

void dxgk_exceptions_let_through(void)
{
    sigset_t wanted;

    sigemptyset(&wanted); /* threads of hosts may have all blocked */
    for (unsigned i = 0; i < NUM_WATCHED; i++)
        sigaddset(&wanted, watched[i]);
    pthread_sigmask(SIG_UNBLOCK, &wanted, NULL);
}
