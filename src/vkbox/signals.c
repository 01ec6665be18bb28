/* SPDX-License-Identifier: MIT */
/* signals.c: signals that end the process. On a processor that is the GPU, a shader's wild access is one of them.
 *
 * What handlers the program has, or installs later, are called as the kernel calls them (signal(7): sa_mask, SA_NODEFER, SA_RESETHAND,
 * SA_ONSTACK, SA_RESTART), and it ends as it would have ended. One that handles such signals itself (a
 * virtual machine, Wine, a sanitizer) knows better which of them are crashes: it gets them all, and a fault in a shader's code is noted all the same.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/fault.h"
#include "vkbox/layer.h"

/* ASK: so many faults that the program handles are looked at; some programs live by them. */
enum { COLLECT_MS = 3000, ASK_MS = 500, ASK = 8, NUM = 5, PAGE = 4096 };

static const int signals[NUM] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
/* Each action that the program was seen to have for a signal has a handler of ours in front of it, and keeps it: a program that puts
 * back what it found has what it had. Of more than LEVELS the later are left alone. */
enum { LEVELS = 8 };
static struct sigaction before[LEVELS][NUM];
static bool taken[LEVELS][NUM];
/* Where the program's handler of the event `inside` was called. */
static struct {
    const char *frame;
    bool alternate; /* on a stack of its own */
} stands;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool installed;
static _Atomic uint32_t asked;

/* Another thread's signal came first; this one would end the process under it. It may not have told the reader yet. */
static void await_other(uint32_t wait_ms)
{
    uint32_t event;

    for (uint32_t ms = 0; !atomic_load(&box->event) && ms < wait_ms; ms++)
        nanosleep(&(struct timespec){0, NSEC_PER_MSEC}, NULL);
    event = atomic_load(&box->event);
    for (int i = 0; i < 10 && atomic_load(&box->event) == event; i++)
        nanosleep(&(struct timespec){0, 5 * NSEC_PER_MSEC}, NULL);
    box_await_collection(wait_ms);
}

static void note_signal(int sig, const siginfo_t *info, const ucontext_t *at, enum again fault,
                        const char *thread, uint32_t wait_ms)
{
    struct vkbox_crash *c = &box->crash;
    uint32_t none = VKBOX_NO_CRASH;

    if (!atomic_compare_exchange_strong(&c->kind, &none, VKBOX_SIGNAL)) {
        await_other(wait_ms);
        return;
    }
    c->time_ns = box_now();
    c->thread = (uint32_t)syscall(SYS_gettid);
    memcpy(c->thread_name, thread, sizeof(c->thread_name));
    c->signal = sig;
    c->code = info->si_code;
    c->processor = fault != AGAIN_SENT;
    c->again = fault == AGAIN_FAULT;
    c->has_address = c->sender = 0;
    c->address = 0;
    if (c->processor) {
        c->has_address = (sig == SIGSEGV || sig == SIGBUS) && info->si_code != SI_KERNEL;
        c->address = (uint64_t)(uintptr_t)info->si_addr;
    } else if (info->si_code == SI_USER || info->si_code == SI_TKILL) {
        c->sender =
            (uint32_t)
                info->si_pid; /* of others, sigqueue()'s, the sender says who it is, and may say anything */
    }
#ifdef __x86_64__
    c->pc = (uint64_t)at->uc_mcontext.gregs[REG_RIP];
    c->sp = (uint64_t)at->uc_mcontext.gregs[REG_RSP];
    c->fault = (uint64_t)at->uc_mcontext.gregs[REG_ERR];
    c->has_address &= at->uc_mcontext.gregs[REG_TRAPNO] == FAULT_PAGE;
    for (int i = 0; i < VKBOX_REGISTERS; i++)
        c->registers[i] = (uint64_t)at->uc_mcontext.gregs[REG_R8 + i];
#endif
    c->handled = wait_ms != COLLECT_MS;
    commands_copy_marks();
    box_event();
    box_await_collection(wait_ms);
}

/* A fault, or abort(3), that the program has a handler for: the reader sees whether a shader's code raised it. If not, nothing happened, unless that
 * handler ends the process. Returns the number of the event, which is never 0. */
static uint32_t ask_about_signal(int sig, const siginfo_t *info, const ucontext_t *at, enum again fault,
                                 const char *thread)
{
    uint32_t kind = VKBOX_SIGNAL, event;

    note_signal(sig, info, at, fault, thread, ASK_MS);
    event = atomic_load(&box->event);
    if (atomic_load(&box->collected) != event) /* nobody looks */
        atomic_compare_exchange_strong(&box->crash.kind, &kind, VKBOX_NO_CRASH);
    return event;
}

bool signals_is_handler(const struct sigaction *h)
{
    return h->sa_flags & SA_SIGINFO || (h->sa_handler != SIG_DFL && h->sa_handler != SIG_IGN);
}

static void call_handler(const struct sigaction *h, int sig, siginfo_t *info, void *context)
{
    if (h->sa_flags & SA_SIGINFO)
        h->sa_sigaction(sig, info, context);
    else
        h->sa_handler(sig);
}

void signals_call(const struct sigaction *h, int sig, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
    sigset_t mask = h->sa_mask;

    for (int i = 1; i < NSIG; i++)
        if (sigismember(&at->uc_sigmask, i) == 1)
            sigaddset(&mask, i);
    if (!(h->sa_flags & SA_NODEFER))
        sigaddset(&mask, sig);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    call_handler(h, sig, info, context);
}

bool signals_reset(const struct sigaction *h, int sig)
{
    struct sigaction now, reset = *h;

    if (!(h->sa_flags & SA_RESETHAND))
        return true;
    if (sigaction(sig, NULL, &now) || now.sa_handler == SIG_DFL)
        return false;
    reset.sa_handler = SIG_DFL;
    sigaction(sig, &reset, NULL);
    return true;
}

void signals_end_by(int sig, siginfo_t *info)
{
    sigaction(sig, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), sig, info);
}

static bool is_alternate(void)
{
    stack_t stack;

    return !sigaltstack(NULL, &stack) && stack.ss_flags & SS_ONSTACK;
}

static int number_of(int sig)
{
    int i = 0;

    while (i < NUM - 1 && signals[i] != sig)
        i++;
    return i;
}

/* Another that has this memory: a child of vfork(2), whose end is not the program's. */
static bool is_another_process(void)
{
    return (uint32_t)getpid() != box->pid;
}

/* A handler that ends the process, as those of crash reporters do, does not return, or takes itself away: the signal is then due when
 * it has returned. */
static void call_inside(const struct sigaction *next, int sig, siginfo_t *info, void *context, bool direct,
                        uint32_t event)
{
    struct sigaction now;

    if (event) {
        stands.frame = __builtin_frame_address(0);
        stands.alternate = is_alternate();
        atomic_store(&box->crash.inside, event);
    }
    if (direct)
        signals_call(next, sig, info, context);
    else /* whose own the mask is */
        call_handler(next, sig, info, context);
    if (event && !sigaction(sig, NULL, &now) && now.sa_handler != SIG_DFL)
        atomic_compare_exchange_strong(&box->crash.inside, &event, 0);
}

/* What is known of it by now is noted; then the program's handler is called, or it ends as it would have. `direct`: the kernel has
 * delivered it, and no handler of the program's. */
static void deliver(int level, int sig, siginfo_t *info, void *context, enum again fault, bool direct)
{
    const struct sigaction *next = &before[level][number_of(sig)];
    char thread[16] = "";
    uint32_t event = 0;

    prctl(PR_GET_NAME, thread);
    if (is_another_process())
        ; /* nothing is noted */
    else if (next->sa_handler == SIG_DFL)
        note_signal(sig, info, context, fault, thread, COLLECT_MS);
    else if ((fault != AGAIN_SENT || sig == SIGABRT) &&
             (next->sa_flags & SA_RESETHAND || atomic_fetch_add(&asked, 1) < ASK))
        event = ask_about_signal(sig, info, context, fault, thread);
    if (signals_is_handler(next) && (!direct || signals_reset(next, sig)))
        call_inside(next, sig, info, context, direct, event);
    else if (next->sa_handler != SIG_IGN || fault != AGAIN_SENT)
        /* Not by running the instruction again: another thread may have mapped something there meanwhile. */
        signals_end_by(sig, info);
}

/* The instruction was run again, and did not fault. */
static void on_ran(int level, int sig, siginfo_t *info, void *context)
{
    deliver(level, sig, info, context, AGAIN_SENT, true);
}

static void on_signal(int level, int sig, siginfo_t *info, void *context, bool direct)
{
    const bool is_fault = info->si_code > 0 && sig != SIGABRT;
    const struct sigaction *next = &before[level][number_of(sig)];
    const uint8_t *address = info->si_addr;
    enum again fault = AGAIN_SENT;
    sigset_t bus;

    /* The file system of the box is full: this page goes on in memory of the process. */
    if (sig == SIGBUS && is_fault && address >= (uint8_t *)box && address < (uint8_t *)(box + 1)) {
        (void)mmap((void *)((uintptr_t)address & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        atomic_store(&box->full, 1);
        return;
    }
    if (direct && sig != SIGBUS && sigismember(&next->sa_mask, SIGBUS)) { /* for that */
        sigemptyset(&bus);
        sigaddset(&bus, SIGBUS);
        pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
    }
    /* Faults by which a program lives are its own affair. */
    if (is_fault && next->sa_handler != SIG_DFL && !(next->sa_flags & SA_RESETHAND) &&
        atomic_load(&asked) >= ASK)
        fault = fault_is_made_up(sig, info, context) ? AGAIN_SENT : AGAIN_UNASKED;
    else if (is_fault)
        fault = again_ask(level, sig, info, context, direct, on_ran);
    if (fault != AGAIN_RUNS)
        deliver(level, sig, info, context, fault, direct);
}

#define ENTRY(level)                                                                                         \
    static void on_##level(int sig, siginfo_t *info, void *context)                                          \
    {                                                                                                        \
        on_signal(level, sig, info, context, AGAIN_IS_DIRECT(context));                                      \
    }
ENTRY(0)
ENTRY(1)
ENTRY(2)
ENTRY(3)
ENTRY(4)
ENTRY(5)
ENTRY(6)
ENTRY(7)
static void (*const entries[LEVELS])(int, siginfo_t *, void *) = {on_0, on_1, on_2, on_3,
                                                                  on_4, on_5, on_6, on_7};

static bool is_ours(const struct sigaction *a)
{
    for (int i = 0; i < LEVELS; i++)
        if (a->sa_flags & SA_SIGINFO && a->sa_sigaction == entries[i])
            return true;
    return false;
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
    for (int i = 1; i < NSIG; i++)
        if (sigismember(&a->sa_mask, i) != sigismember(&b->sa_mask, i))
            return false;
    return a->sa_sigaction == b->sa_sigaction && a->sa_flags == b->sa_flags;
}

/* With the lock: unless it is ours already. The kernel's own part is left to it, and sigaction(2) tells the program of it. */
static void take(int i)
{
    struct sigaction mine = {.sa_flags = SA_SIGINFO}, now;
    int level = 0;

    if (sigaction(signals[i], NULL, &now) || is_ours(&now))
        return;
    while (level < LEVELS && taken[level][i] && !is_same(&before[level][i], &now))
        level++;
    if (level == LEVELS)
        return;
    before[level][i] = now;
    taken[level][i] = true;
    mine.sa_sigaction = entries[level];
    if (signals_is_handler(&now)) {
        mine.sa_flags |= now.sa_flags & (SA_ONSTACK | SA_RESTART);
        mine.sa_mask = now.sa_mask;
    } else {
        mine.sa_flags |= SA_ONSTACK;
    }
    sigaction(signals[i], &mine, NULL);
}

void signals_install(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; !installed && i < NUM; i++)
        take(i);
    atomic_store(&installed, true);
    pthread_mutex_unlock(&lock);
}

/* Whether another thread has it blocked, as it has in a handler; the caller's own process. */
static bool is_blocked(uint32_t thread, int sig)
{
    unsigned long long blocked = 0;
    char line[256];
    FILE *f;

    snprintf(line, sizeof(line), "/proc/self/task/%u/status", thread);
    f = fopen(line, "re");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
            break;
    if (f)
        fclose(f);
    return blocked >> (sig - 1) & 1;
}

void signals_look(bool ends)
{
    uint32_t event = atomic_load_explicit(&box->crash.inside, memory_order_relaxed);
    const char *here = __builtin_frame_address(0);
    bool left;

    if (!event)
        return;
    if (box->crash.thread == (uint32_t)syscall(SYS_gettid))
        left = stands.alternate ? !is_alternate() : !is_alternate() && here >= stands.frame;
    else
        left = ends && !is_blocked(box->crash.thread, box->crash.signal);
    if (left)
        atomic_compare_exchange_strong(&box->crash.inside, &event, 0);
}

/* One of them each time: it is called with every submission. */
void signals_keep(void)
{
    static _Atomic uint32_t turn;

    signals_look(false);
    if (!atomic_load_explicit(&installed, memory_order_relaxed) || pthread_mutex_trylock(&lock))
        return;
    take((int)(atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % NUM));
    pthread_mutex_unlock(&lock);
}
