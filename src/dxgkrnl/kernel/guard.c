/* SPDX-License-Identifier: MIT */
/* guard.c: see guard.h. */
#include "dxgkrnl/kernel/guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/check.h"
#include "dxgkrnl/image/fault.h"
#include "dxgkrnl/image/image.h"
#include "dxgkrnl/kernel/state.h"

enum { STACK_NEAR = 65536, ALT_STACK = 262144, LOOK_MS = 500, TELL_MS = 5000 };

/* Bug checks of Windows 7 (bugcodes.h). */
enum {
    SYSTEM_THREAD_EXCEPTION_NOT_HANDLED = 0x7E,
    UNEXPECTED_KERNEL_MODE_TRAP = 0x7F,
    DRIVER_IRQL_NOT_LESS_OR_EQUAL = 0xD1,
    VIDEO_TDR_FAILURE_CODE = 0x116,
};

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction before[sizeof(faults) / sizeof(faults[0])];
static _Thread_local int own_tid;
static pthread_key_t alt_stack; /* a stack that is full has no room for a handler */

/* ---- ending a call ------------------------------------------------------- */

_Noreturn void dxgk_guard_leave(struct kernel *k)
{
    struct kernel_ddi *d = k->current->ddi;

    INVARIANT(d && k->current->kernel == k);
    d->abandoned = true;
    __builtin_longjmp(d->back, 1);
}

static void tell(void *ctx)
{
    struct kernel *k = ctx;

    if (k->ops.dead)
        k->ops.dead(k->ctx, k->guard.code, k->guard.why);
}

static _Noreturn void die(struct kernel *k, unsigned code, const char *what)
{
    struct guard *g = &k->guard;

    g->dead = true; /* 2 */
    atomic_store(&g->abandon, 0);
    atomic_store(&k->connected, false);
    g->code = code;
    snprintf(g->why, sizeof(g->why), "%s, in %s", what, k->current->ddi->name);
    atomic_store(&g->telling, true);
    dxgk_kernel_violation(k, "%s", what); /* says where, too */
    atomic_store(&g->telling, false);
    dxgk_kernel_arm(k, &g->tell, dxgk_kernel_now(k), tell, k);
    dxgk_guard_leave(k);
}

static bool is_due(const struct kernel *k)
{
    return k->current && k->current->ddi && atomic_load(&k->guard.abandon) == atomic_load(&k->guard.call);
}

static _Noreturn void end_loop(struct kernel *k)
{
    char what[128];

    snprintf(what, sizeof(what), "a loop that has had the processor for %llu s at IRQL %d",
             (unsigned long long)(atomic_load(&k->guard.limit_ns) / NSEC_PER_SEC), k->irql);
    die(k, VIDEO_TDR_FAILURE_CODE, what);
}

void dxgk_guard_look(struct kernel *k)
{
    if (k->guard.dead && k->current->ddi) /* a call around the one that died */
        dxgk_guard_leave(k);
    if (is_due(k))
        end_loop(k);
}

/* ---- exceptions ---------------------------------------------------------- */

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

static void describe(int sig, const siginfo_t *info, const void *context, char *text, size_t size, bool *full)
{
    const char *what = sig == SIGFPE ? "a divide error" : sig == SIGILL ? "an illegal instruction" : NULL;
    uintptr_t pc = 0, sp = 0, at = (uintptr_t)info->si_addr;
    const char *how = "on";
    char where[100];

#if defined(__x86_64__)
    const ucontext_t *uc = context;
    pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
    sp = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
    if (info->si_code == SEGV_MAPERR || info->si_code == SEGV_ACCERR)
        how = uc->uc_mcontext.gregs[REG_ERR] & 2 ? "writing" : "reading";
#else
    (void)context;
#endif
    place(pc, where, sizeof(where));
    *full = !what && sp && at < sp + STACK_NEAR && at + STACK_NEAR > sp;
    if (what)
        snprintf(text, size, "%s at %s", what, where);
    else if (*full)
        snprintf(text, size, "a stack that is full at %s", where);
    else if (sig == SIGSEGV && info->si_code == SI_KERNEL) /* the processor does not say which */
        snprintf(text, size, "an access violation at %s, on an address that is not canonical", where);
    else
        snprintf(text, size, "an access violation at %s, %s %#lx", where, how, (unsigned long)at);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    struct kernel *k = dxgk_kernel_here();
    const struct sigaction *b = &before[0];

    if (sig == SIGSEGV && dxgk_image_fault(sig, info, context))
        return;
    if (k && k->current && k->current->ddi && info->si_code > 0) {
        unsigned code = SYSTEM_THREAD_EXCEPTION_NOT_HANDLED;
        char text[200];
        bool full;
        if (k->guard.dead)
            dxgk_guard_leave(k);
        describe(sig, info, context, text, sizeof(text), &full);
        if (full)
            code = UNEXPECTED_KERNEL_MODE_TRAP;
        else if (k->irql >= DISPATCH_LEVEL && (sig == SIGSEGV || sig == SIGBUS))
            code = DRIVER_IRQL_NOT_LESS_OR_EQUAL;
        die(k, code, text);
    }
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        if (faults[i] == sig)
            b = &before[i];
    dxgk_image_pass_on(b, sig, info, context);
}

/* ---- loops --------------------------------------------------------------- */

static void on_urge(int sig)
{
    struct kernel *k = dxgk_kernel_here();

    (void)sig;
    if (k && is_due(k))
        end_loop(k);
}

static uint64_t thread_ns(int tid)
{
    /* Linux: the clock of a thread by its number, which may be gone by now (posix-timers.h, CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED). */
    const clockid_t clock = (clockid_t)((~(unsigned)tid << 3) | 6);
    struct timespec t;

    return tid && !clock_gettime(clock, &t) ? (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec : 0;
}

/* Takes no lock and no memory: 5. */
static _Noreturn void end_untold(const struct guard *g)
{
    char line[sizeof(g->why) + 100];
    int n = snprintf(line, sizeof(line),
                     "aerogpu: dxgkrnl: the miniport is dead, and has locked this process up: %s\n", g->why);

    (void)!write(STDERR_FILENO, line, (size_t)n);
    _exit(EXIT_FAILURE);
}

static void *watch(void *arg)
{
    struct kernel *k = arg;
    struct guard *g = &k->guard;
    struct pollfd pfd = {.fd = g->stop_fd, .events = POLLIN};
    uint64_t call = 0, start = 0, asked = 0;
    unsigned untold = 0;

    while (poll(&pfd, 1, LOOK_MS) <= 0) {
        int tid = atomic_load(&g->tid);
        uint64_t now = atomic_load(&g->call), used = thread_ns(tid) + atomic_load(&g->stalled_ns);
        untold = atomic_load(&g->telling) ? untold + 1 : 0;
        if (untold > TELL_MS / LOOK_MS)
            end_untold(g);
        if (!tid || now != call) {
            call = tid ? now : 0;
            start = used;
            asked = 0;
        } else if (used >= start + atomic_load(&g->limit_ns) && !asked) {
            asked = used;
            atomic_store(&g->abandon, call);
        } else if (asked && used >= asked + LOOK_MS * NSEC_PER_MSEC) { /* 4 */
            asked = used;
            if (atomic_load(&g->call) == call)
                syscall(SYS_tgkill, getpid(), tid, SIGURG);
        }
    }
    return NULL;
}

/* ---- where it is watched ------------------------------------------------- */

static void forget_stack(void *stack)
{
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    free(stack);
}

static void prepare_process(void)
{
    INVARIANT(!pthread_key_create(&alt_stack, forget_stack));
}

/* For each kernel anew: who else handles them may have taken them back. */
static void take_signals(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct sigaction urge = {.sa_handler = on_urge, .sa_flags = SA_NODEFER | SA_RESTART},
                           mine = {.sa_sigaction = on_fault,
                                   .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    struct sigaction now;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        if (!sigaction(faults[i], NULL, &now) && now.sa_sigaction != on_fault) {
            before[i] = now;
            sigaction(faults[i], &mine, NULL);
        }
    sigaction(SIGURG, &urge, NULL);
    pthread_mutex_unlock(&lock);
}

static void prepare_thread(void)
{
    stack_t old, new = {.ss_size = ALT_STACK};
    sigset_t wanted;

    sigemptyset(&wanted); /* threads of hosts may have all blocked */
    sigaddset(&wanted, SIGURG);
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigaddset(&wanted, faults[i]);
    pthread_sigmask(SIG_UNBLOCK, &wanted, NULL);
    if (sigaltstack(NULL, &old) || !(old.ss_flags & SS_DISABLE) || !(new.ss_sp = malloc(ALT_STACK)))
        return;
    if (pthread_setspecific(alt_stack, new.ss_sp) || sigaltstack(&new, NULL))
        free(new.ss_sp);
}

void *dxgk_guard_stack(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p =
        mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (mprotect(p, page, PROT_NONE)) {
        munmap(p, size + page);
        return NULL;
    }
    return p + page;
}

void dxgk_guard_stack_free(void *stack, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (stack)
        munmap((char *)stack - page, size + page);
}

int dxgk_guard_create(struct kernel *k)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct guard *g = &k->guard;
    int r;

    pthread_once(&once, prepare_process);
    take_signals();
    g->limit_ns = UINT64_MAX / 4;
    g->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (g->stop_fd < 0)
        return -errno;
    r = -pthread_create(&g->thread, NULL, watch, k);
    if (r)
        close(g->stop_fd);
    return r;
}

void dxgk_guard_destroy(struct kernel *k)
{
    if (eventfd_write(k->guard.stop_fd, 1))
        return;
    pthread_join(k->guard.thread, NULL);
    close(k->guard.stop_fd);
}

/* ---- calls --------------------------------------------------------------- */

void dxgk_guard_begin(struct kernel *k)
{
    struct guard *g = &k->guard;

    if (!own_tid) {
        own_tid = (int)syscall(SYS_gettid);
        prepare_thread();
    }
    atomic_store_explicit(&g->call, atomic_load_explicit(&g->call, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_store_explicit(&g->tid, own_tid, memory_order_relaxed);
}

void dxgk_guard_end(struct kernel *k)
{
    atomic_store_explicit(&k->guard.tid, 0, memory_order_relaxed);
}

bool dxgk_kernel_ddi_enter(struct kernel *k, struct kernel_ddi *d, const char *name, KIRQL irql,
                           uint64_t limit_ns)
{
    if (k->guard.dead)
        return false;
    *d = (struct kernel_ddi){.name = name,
                             .limit_ns = limit_ns,
                             .irql = irql,
                             .entered = k->irql,
                             .mutexes = k->current->mutexes,
                             .regions = k->current->regions,
                             .outer = k->current->ddi};
    if (!k->current->ddi)
        dxgk_guard_begin(k);
    k->current->ddi = d;
    if (k->irql != irql && !(irql == PASSIVE_LEVEL && k->irql == APC_LEVEL))
        dxgk_kernel_violation(k, "dxgkrnl calls %s at IRQL %d, documented is %d", name, k->irql, irql);
    return true;
}

void dxgk_kernel_own(struct kernel *k, bool more)
{
    if (more)
        k->current->mutexes++;
    else if (k->current->mutexes)
        k->current->mutexes--;
}

void dxgk_kernel_ddi_leave(struct kernel *k, struct kernel_ddi *d)
{
    INVARIANT(k->current->ddi == d);
    if (d->abandoned) { /* 1 */
        k->irql = d->entered;
        k->current->mutexes = d->mutexes;
        k->current->regions = d->regions;
    }
    if (k->current->mutexes > d->mutexes) { /* a fast one keeps its IRQL, too */
        dxgk_kernel_violation(k, "%s returned and keeps %u mutexes or resources", d->name,
                              k->current->mutexes - d->mutexes);
        k->current->mutexes = d->mutexes;
        if (k->irql == APC_LEVEL)
            k->irql = d->entered;
    }
    if (k->current->regions > d->regions)
        dxgk_kernel_violation(k, "%s returned inside of %u critical or guarded regions that it entered",
                              d->name, k->current->regions - d->regions);
    k->current->regions = d->regions;
    if (k->irql != d->irql && !(d->irql == PASSIVE_LEVEL && k->irql == APC_LEVEL)) {
        dxgk_kernel_violation(k, "%s returned at IRQL %d, was called at %d", d->name, k->irql, d->irql);
        k->irql = d->irql;
    }
    k->current->ddi = d->outer;
    if (!d->outer)
        dxgk_guard_end(k);
}

bool dxgk_kernel_region(struct kernel *k, bool enter)
{
    if (!enter && !k->current->regions)
        return false;
    k->current->regions += enter ? 1 : -1u;
    return true;
}

_Noreturn void dxgk_kernel_return(struct kernel *k)
{
    __builtin_longjmp(k->current->ddi->back, 1);
}

bool dxgk_kernel_abandoned(const struct kernel *k)
{
    const struct kernel_ddi *d = k->current->ddi;

    return d && (d->abandoned || k->guard.dead);
}

const char *dxgk_kernel_death(const struct kernel *k)
{
    return k->guard.dead ? k->guard.why : NULL;
}

void dxgk_kernel_revive(struct kernel *k)
{
    k->guard.dead = false;
    dxgk_kernel_cancel(k, &k->guard.tell);
}

void dxgk_kernel_limit(struct kernel *k, uint64_t ns)
{
    atomic_store(&k->guard.limit_ns, ns);
}

void dxgk_kernel_stalled(struct kernel *k, uint64_t ns)
{
    atomic_fetch_add_explicit(&k->guard.stalled_ns, ns, memory_order_relaxed);
}
