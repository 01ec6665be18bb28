/* SPDX-License-Identifier: MIT */
/* guard.c: see guard.h. */
#include "dxgkrnl/kernel/guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "dxgkrnl/image/image.h"
#include "dxgkrnl/kernel/exceptions.h"
#include "dxgkrnl/kernel/state.h"

enum { ALT_STACK = 262144, LOOK_MS = 500, TELL_MS = 5000, OBEY_MS = 2000 };

static _Thread_local int own_tid;
static pthread_key_t thread_end; /* a stack that is full has no room for a handler: its alternative, or */
static char no_stack;            /* the thread has one already */

/* ---- ending a call ------------------------------------------------------- */

_Noreturn void dxgk_guard_leave(struct kernel *k)
{
    struct kernel_ddi *d = k->current->ddi;

    INVARIANT(d && k->current->kernel == k);
    if (d->final)
        dxgk_lastwords_end("%s does not end", d->name);
    d->abandoned = true;
    __builtin_longjmp(d->back, 1);
}

static void tell(void *ctx)
{
    struct kernel *k = ctx;

    if (k->ops.dead)
        k->ops.dead(k->ctx, k->guard.code, k->guard.why);
}

_Noreturn void dxgk_guard_die(struct kernel *k, unsigned code, const char *what)
{
    struct guard *g = &k->guard;

    if (k->current->ddi->final)
        dxgk_lastwords_end("%s, in %s", what, k->current->ddi->name);
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

_Noreturn void dxgk_kernel_endless(struct kernel *k, const char *what)
{
    dxgk_guard_die(k, VIDEO_TDR_FAILURE_CODE, what);
}

static bool is_due(const struct kernel *k)
{
    return k->current && k->current->ddi && atomic_load(&k->guard.abandon) == atomic_load(&k->guard.call);
}

static _Noreturn void end_loop(struct kernel *k)
{
    char what[128];

    snprintf(what, sizeof(what),
             atomic_load(&k->guard.asleep) ? "a wait of %llu s that is none of the kernel's, at IRQL %d"
                                           : "a loop that has had the processor for %llu s at IRQL %d",
             (unsigned long long)(atomic_load(&k->guard.limit_ns) / NSEC_PER_SEC), k->irql);
    dxgk_guard_die(k, VIDEO_TDR_FAILURE_CODE, what);
}

void dxgk_guard_look(struct kernel *k)
{
    if (k->guard.dead && k->current->ddi) /* a call around the one that died */
        dxgk_guard_leave(k);
    if (is_due(k))
        end_loop(k);
}

/* ---- the border ---------------------------------------------------------- */

#if defined(__x86_64__)
enum {
    DIRECTION_FLAG = 1 << 10,
    NESTED_FLAG = 1 << 14,
    ALIGNMENT_FLAG = 1 << 18,
    WRONG_FLAGS = DIRECTION_FLAG | NESTED_FLAG | ALIGNMENT_FLAG,
    MXCSR_CONTROL = 0xFFC0
};

static inline unsigned long read_flags(void)
{
    return __builtin_ia32_readeflags_u64();
}

void dxgk_guard_put_right(void)
{
    unsigned long flags = read_flags();

    if (flags & WRONG_FLAGS)
        __builtin_ia32_writeeflags_u64(flags & ~(unsigned long)WRONG_FLAGS);
}

static void check_flags(struct kernel *k, const char *who, const char *did)
{
    unsigned long flags = read_flags();

    if (flags & WRONG_FLAGS) {
        dxgk_guard_put_right();
        dxgk_kernel_violation(k, "%s %s with the %s flag set", who, did,
                              flags & DIRECTION_FLAG ? "direction"
                              : flags & NESTED_FLAG  ? "nested task"
                                                     : "alignment check");
    }
}

/* The control bits belong to the caller: those of MXCSR, and the x87's word above them. */
static unsigned read_floating(void)
{
    uint16_t control;

    __asm__ volatile("fnstcw %0" : "=m"(control));
    return (__builtin_ia32_stmxcsr() & MXCSR_CONTROL) | (unsigned)control << 16;
}

static void check_floating(struct kernel *k, const struct kernel_ddi *d)
{
    unsigned now = read_floating();
    struct {
        uint32_t control, status, tags, other[4];
    } x87;
    uint16_t control = (uint16_t)(d->floating >> 16);
    bool full;

    __asm__ volatile("fnstenv %0" : "=m"(x87)); /* and no exception of it is delivered any more */
    full = (x87.tags & 0xFFFF) != 0xFFFF;
    if (full)
        __asm__ volatile("fninit");
    __asm__ volatile("fldcw %0" ::"m"(control));
    if ((now ^ d->floating) & MXCSR_CONTROL)
        __builtin_ia32_ldmxcsr(d->floating & MXCSR_CONTROL);
    if (d->abandoned)
        return;
    if ((now ^ d->floating) & MXCSR_CONTROL)
        dxgk_kernel_violation(k, "%s returned with other control bits of floating point (MXCSR)", d->name);
    if ((now ^ d->floating) >> 16)
        dxgk_kernel_violation(k, "%s returned with another control word of the x87", d->name);
    if (full)
        dxgk_kernel_violation(k, "%s returned and left values in the registers of x87 and MMX", d->name);
}
#else
static unsigned read_floating(void)
{
    return 0;
}

static void check_floating(struct kernel *k, const struct kernel_ddi *d)
{
    (void)k;
    (void)d;
}

void dxgk_guard_put_right(void)
{
}

static void check_flags(struct kernel *k, const char *who, const char *did)
{
    (void)k;
    (void)who;
    (void)did;
}
#endif

void dxgk_guard_border(struct kernel *k, const char *who, const char *did)
{
    struct guard *g = &k->guard;

    check_flags(k, who, did);
    if (dxgk_lastwords_copied())
        dxgk_lastwords_copy_ends(k->current->ddi ? k->current->ddi->name : who);
    if (g->copies != atomic_load_explicit(&g->words->copies, memory_order_relaxed)) {
        g->copies = atomic_load(&g->words->copies);
        dxgk_kernel_violation(
            k, "a copy of the process that was made in %s came back (fork or clone), and was ended",
            atomic_load(&g->words->copied_in));
    }
}

/* fork() of the C library: the copy does not even begin. */
static _Thread_local bool copying;

static void before_fork(void)
{
    struct kernel *k = dxgk_kernel_here();

    copying = k && k->current && k->current->ddi;
    if (copying)
        dxgk_kernel_violation(k, "a copy of the process is made (fork)");
}

static void in_copy(void)
{
    if (copying)
        _exit(EXIT_FAILURE);
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

/* The state of a thread as the kernel has it: R, S, Z and so on; 'X': it is gone. */
static char thread_state(int tid)
{
    char path[64], text[512], *end = NULL;
    int fd;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 'X' : '?';
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    end = strrchr(text, ')'); /* behind the name, which may have anything in it */
    return n <= 0 ? 'X' : end && end[1] ? end[2] : '?';
}

/* What the watch knows of the stay that is under way. */
struct stay {
    uint64_t call, start, asked,
        stalled;              /* processor's time; and what the miniport stalled, which it sleeps away */
    unsigned asleep, unheard; /* looks in a row */
};

static void look(struct guard *g, struct stay *s)
{
    int tid = atomic_load(&g->tid);
    uint64_t now = atomic_load(&g->call), stalled = atomic_load(&g->stalled_ns);
    uint64_t limit = atomic_load(&g->limit_ns), used = thread_ns(tid) + stalled;
    char state;

    if (!tid || now != s->call || atomic_load(&g->telling)) {
        *s = (struct stay){.call = tid ? now : 0, .start = used};
        return;
    }
    state = thread_state(tid);
    if ((state == 'X' || state == 'Z') && atomic_load(&g->call) == now && atomic_load(&g->tid) == tid)
        dxgk_lastwords_end("the thread that was in %s has ended", atomic_load(&g->words->ddi));
    s->asleep = state == 'S' && stalled == s->stalled ? s->asleep + 1 : 0;
    s->stalled = stalled;
    if (!s->asked && (used >= s->start + limit || s->asleep * LOOK_MS * NSEC_PER_MSEC >= limit)) {
        s->asked = used ? used : 1;
        atomic_store(&g->asleep, used < s->start + limit);
        atomic_store(&g->abandon, now);
    } else if (s->asked && (s->asleep || used >= s->asked + LOOK_MS * NSEC_PER_MSEC)) { /* 4 */
        s->asked = used ? used : 1;
        if (++s->unheard > OBEY_MS / LOOK_MS)
            dxgk_lastwords_end("%s does not end, and takes no signal", atomic_load(&g->words->ddi));
        if (atomic_load(&g->call) == now)
            syscall(SYS_tgkill, getpid(), tid, SIGURG);
    }
}

static void *watch(void *arg)
{
    struct kernel *k = arg;
    struct guard *g = &k->guard;
    struct pollfd pfd = {.fd = g->stop_fd, .events = POLLIN};
    struct stay stay = {0};
    unsigned untold = 0;

    while (!atomic_load(&g->stopping)) {
        if (poll(&pfd, 1, LOOK_MS) > 0 && !atomic_load(&g->stopping))
            dxgk_lastwords_end(dxgk_process_all_kept() ? PROCESS_WRITTEN : PROCESS_CLOSED,
                               atomic_load(&g->words->ddi));
        untold = atomic_load(&g->telling) ? untold + 1 : 0;
        if (untold > TELL_MS / LOOK_MS) /* 6 */
            dxgk_lastwords_end("the miniport is dead, and has locked this process up: %s", g->why);
        look(g, &stay);
    }
    return NULL;
}

/* ---- where it is watched ------------------------------------------------- */

/* A thread of ours ends, and it is not one that has come back. */
static void on_thread_end(void *stack)
{
    struct kernel *k = dxgk_kernel_here();

    if (k && k->current && k->current->ddi)
        dxgk_lastwords_end("the thread was ended (pthread_exit), in %s", k->current->ddi->name);
    if (stack == &no_stack)
        return;
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    free(stack);
}

static void prepare_process(void)
{
    INVARIANT(!pthread_key_create(&thread_end, on_thread_end));
    pthread_atfork(before_fork, NULL, in_copy);
}

/* A library that says nothing of stacks makes those of the process executable, and then a driver that jumps there is not noticed. */
static void protect_stack(void)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), here = (uintptr_t)&page & ~(page - 1);
    pthread_attr_t attr;
    size_t size;
    void *low;

    if (pthread_getattr_np(pthread_self(), &attr))
        return;
    if (!pthread_attr_getstack(&attr, &low, &size)) {
        bool main = own_tid == getpid(); /* its stack grows */
        uintptr_t from = main ? here : (uintptr_t)low;
        if (mprotect((void *)from, (uintptr_t)low + size - from,
                     PROT_READ | PROT_WRITE | (main ? PROT_GROWSDOWN : 0)))
            log_debug("dxgkrnl", "a stack stays executable: %s", strerror(errno));
    }
    pthread_attr_destroy(&attr);
}

static __thread uintptr_t
    stack_low; /* of the thread's own stack, as far as it may grow; 0: nobody has looked */

static uintptr_t find_stack(void)
{
    pthread_attr_t attr;
    size_t size;
    void *low;

    if (!stack_low) {
        stack_low = UINTPTR_MAX;
        if (!pthread_getattr_np(pthread_self(), &attr)) {
            if (!pthread_attr_getstack(&attr, &low, &size))
                stack_low = (uintptr_t)low;
            pthread_attr_destroy(&attr);
        }
    }
    return stack_low;
}

size_t dxgk_kernel_returned(const struct kernel *k, const void **frames)
{
    const struct kernel_ddi *d = k->current->ddi;
    uintptr_t low = !d ? UINTPTR_MAX : k->current->stack ? (uintptr_t)k->current->stack : find_stack();

    *frames = (const void *)low;
    return (uintptr_t)d > low ? (uintptr_t)d - low : 0;
}

static void prepare_thread(void)
{
    stack_t old, new = {.ss_size = ALT_STACK};
    sigset_t wanted;

    sigemptyset(&wanted); /* threads of hosts may have all blocked */
    sigaddset(&wanted, SIGURG);
    pthread_sigmask(SIG_UNBLOCK, &wanted, NULL);
    if (dxgk_lastwords_stranger())
        protect_stack();
    dxgk_exceptions_let_through();
    dxgk_process_note_thread();
    pthread_setspecific(thread_end, &no_stack);
    if (sigaltstack(NULL, &old) || !(old.ss_flags & SS_DISABLE) || !(new.ss_sp = malloc(ALT_STACK)))
        return;
    if (sigaltstack(&new, NULL) || pthread_setspecific(thread_end, new.ss_sp))
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
    const struct sigaction urge = {.sa_handler = on_urge, .sa_flags = SA_NODEFER | SA_RESTART};
    struct guard *g = &k->guard;
    int r;

    pthread_once(&once, prepare_process);
    dxgk_exceptions_take();
    sigaction(SIGURG, &urge, NULL);
    g->words = dxgk_lastwords_begin();
    g->copies = atomic_load(&g->words->copies);
    dxgk_process_begin(&g->process);
    if (dxgk_lastwords_stranger())
        dxgk_process_note();
    g->limit_ns = UINT64_MAX / 4;
    g->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (g->stop_fd < 0)
        return -errno;
    r = -pthread_create(&g->thread, NULL, watch, k);
    if (r)
        close(g->stop_fd);
    else
        dxgk_process_keep(g->stop_fd, true);
    return r;
}

void dxgk_guard_destroy(struct kernel *k)
{
    atomic_store(&k->guard.stopping, true);
    if (eventfd_write(k->guard.stop_fd, 1))
        return;
    pthread_join(k->guard.thread, NULL);
    dxgk_process_keep(k->guard.stop_fd, false);
    close(k->guard.stop_fd);
}

/* ---- calls --------------------------------------------------------------- */

void dxgk_guard_begin(struct kernel *k)
{
    struct guard *g = &k->guard;

    dxgk_lastwords_note(g->words, k->current->ddi ? k->current->ddi->name : NULL, true);
    if (!own_tid) {
        own_tid = (int)syscall(SYS_gettid);
        prepare_thread();
    }
    dxgk_image_fence();
    atomic_store_explicit(&g->call, atomic_load_explicit(&g->call, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_store_explicit(&g->tid, own_tid, memory_order_relaxed);
}

/* What is asked of the system, and of strangers only. */
static void check_process(struct kernel *k, const char *ddi)
{
    if (!dxgk_lastwords_stranger())
        return;
    if (dxgk_lastwords_borrowed())
        dxgk_lastwords_end("a copy of the process with the same memory came back (vfork), in %s", ddi);
    if (dxgk_process_environment_back())
        dxgk_kernel_violation(k, "%s changed the environment of the process that it runs in", ddi);
    dxgk_process_look(k, &k->guard.process, ddi);
}

void dxgk_guard_end(struct kernel *k)
{
    if (k->current->ddi) /* it waits */
        check_process(k, k->current->ddi->name);
    dxgk_lastwords_note(k->guard.words, NULL, false);
    atomic_store_explicit(&k->guard.tid, 0, memory_order_relaxed);
}

void dxgk_guard_above(struct kernel *k)
{
    if (k->ops.above)
        k->ops.above(k->ctx, k->current->ddi && k->irql >= DISPATCH_LEVEL);
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
                             .floating = read_floating(),
                             .mutexes = k->current->mutexes,
                             .outer = k->current->ddi};
    memcpy(d->regions, k->current->regions, sizeof(d->regions));
    if (d->outer)
        check_process(k, d->outer->name);
    else if (dxgk_lastwords_stranger())
        dxgk_process_environment_keep();
    k->current->ddi = d;
    if (!d->outer)
        dxgk_guard_begin(k);
    else
        dxgk_lastwords_note(k->guard.words, name, true);
    dxgk_guard_above(k);
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
    int left;

    if (k->current->ddi != d) /* by a frame of its own that had returned before */
        dxgk_lastwords_end("%s was left without a return, into a frame that had returned (longjmp)",
                           k->current->ddi ? k->current->ddi->name : d->name);
    if (k->ops.above)
        k->ops.above(k->ctx, false);
    dxgk_guard_border(k, d->name, "returned");
    check_floating(k, d);
    if (k->ops.left)
        k->ops.left(k->ctx);
    check_process(k, d->name);
    if (d->abandoned) { /* 1 */
        k->irql = d->entered;
        k->current->mutexes = d->mutexes;
        memcpy(k->current->regions, d->regions, sizeof(d->regions));
    }
    if (k->current->mutexes > d->mutexes) { /* a fast one keeps its IRQL, too */
        dxgk_kernel_violation(k, "%s returned and keeps %u mutexes or resources", d->name,
                              k->current->mutexes - d->mutexes);
        k->current->mutexes = d->mutexes;
        if (k->irql == APC_LEVEL)
            k->irql = d->entered;
    }
    if (k->current->promised && !d->abandoned)
        dxgk_kernel_violation(k, "%s returned without the wait that %s was told of (Wait = TRUE)", d->name,
                              k->current->promised);
    k->current->promised = NULL;
    left = k->current->regions[REGION_CRITICAL] + k->current->regions[REGION_GUARDED] -
           d->regions[REGION_CRITICAL] - d->regions[REGION_GUARDED];
    if (left > 0)
        dxgk_kernel_violation(k, "%s returned inside of %d critical or guarded regions that it entered",
                              d->name, left);
    memcpy(k->current->regions, d->regions, sizeof(d->regions));
    if (k->irql != d->entered) {
        dxgk_kernel_violation(k, "%s returned at IRQL %d, was called at %d", d->name, k->irql, d->entered);
        k->irql = d->entered;
    }
    k->current->ddi = d->outer;
    if (!d->outer)
        dxgk_guard_end(k);
    else
        dxgk_lastwords_note(k->guard.words, d->outer->name, true);
}

void dxgk_kernel_final(struct kernel *k, const char *name, void (*fn)(void *arg), void *arg)
{
    bool dead = k->guard.dead;
    struct kernel_ddi d;

    k->guard.dead = false; /* what is left of it runs in any case */
    if (dxgk_kernel_ddi_enter(k, &d, name, k->irql, 0)) {
        d.final = true;
        fn(arg);
        dxgk_kernel_ddi_leave(k, &d);
    }
    k->guard.dead = dead;
}

void dxgk_kernel_object(struct kernel *k, const void *object)
{
    k->guard.object = object;
}

bool dxgk_kernel_in_object(const struct kernel *k, const void *address)
{
    Dl_info info;

    return dxgk_image_code(address) ||
           (k->guard.object && dladdr(address, &info) && info.dli_fbase == k->guard.object);
}

bool dxgk_kernel_region(struct kernel *k, enum region region, bool enter)
{
    if (!enter && !k->current->regions[region])
        return false;
    k->current->regions[region] += enter ? 1 : -1u;
    return true;
}

bool dxgk_kernel_in_guarded_region(const struct kernel *k)
{
    const unsigned *in = k->current->regions;

    return in[REGION_GUARDED] || in[REGION_OWNED_GUARDED] || k->irql >= APC_LEVEL;
}

bool dxgk_kernel_in_region(const struct kernel *k)
{
    const unsigned *in = k->current->regions;

    return in[REGION_CRITICAL] || in[REGION_OWNED] || dxgk_kernel_in_guarded_region(k);
}

void dxgk_kernel_promise(struct kernel *k, const char *routine)
{
    if (routine && k->irql > APC_LEVEL)
        dxgk_kernel_violation(k, "%s with Wait = TRUE at IRQL %d, where no wait is possible", routine,
                              k->irql);
    k->current->promised = routine;
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
