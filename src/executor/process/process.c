/* SPDX-License-Identifier: MIT */
/* process.c: the program aerogpu-executor: takes submissions from the shared ring, has the engine run them,
 * and puts the completions into the other ring. proto.h says what is shared, sandbox.h what it gives up.
 *
 *   start ──▶ limits ──▶ Vulkan opens ──▶ sandbox ──▶ ready ──▶ ┌─ epoch changed? forget everything
 *                                                               │  a submission? its control messages, then the engine
 *                                                               └─ neither, for EXEC_SPIN_NS? sleep
 *
 * Invariants:
 *  1. Nothing that the host or a guest wrote is read before the sandbox is closed, except struct exec_start.
 *  2. A fault ends the process, after its address is in the shared memory.
 *  3. The process never outlives its host.
 */
#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <aerogpu/blackbox.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/fds.h"
#include "base/log.h"
#include "base/sched/slice.h"
#include "executor/process/code.h"
#include "executor/process/memory.h"
#include "executor/host/proto.h"
#include "executor/process/sandbox.h"
#include "executor/process/sanitized.h"

#define COMPONENT "executor"

enum { LEAST_BACKOFF = 32, MOST_BACKOFF = 1 << 16 }; /* turns; see yield_processor */
enum { IDS = 2 * EXEC_RING_SLOTS };
enum { SETTLE_US = 10000 };
enum { HEAP_KEPT = 64 << 20, HEAP_LARGEST = 4 << 20 }; /* bytes; see keep_heap */
enum { FLIGHT_TAKE, FLIGHT_DECODED, FLIGHT_COMPLETE, FLIGHT_RESET };

struct process {
    struct exec_shared *shared;
    struct exec_engine *engine;
    struct exec_memory memory;
    struct clock clock;
    struct bb_flight *flight; /* NULL: nothing is recorded */
    bool may_spin;
    bool heap_kept; /* since work came, see keep_heap */

    uint32_t ring_head, done_tail; /* the shared indices that are ours */
    uint32_t done_head;            /* the host's, when it was last read */
    _Atomic uint32_t epoch;        /* the one we are in */
    uint64_t control_seq;          /* the last message applied */
    bool has_control; /* one is received and not applied: what is in the ring may come before it */
    struct exec_control control;
    int control_fd; /* that came with it, or -1 */

    /* Submissions in the engine, by number; ids[number % IDS]. The host, which never has more than EXEC_RING_SLOTS under way, may
     * send one for a completion that it has seen and that is not counted here yet. */
    _Atomic uint64_t ids[IDS];
    _Atomic uint32_t started, completed;
    struct exec_poller poller;
    uint32_t turns_seen, backoff; /* see yield_processor */
    pthread_mutex_t idle_lock;
    pthread_cond_t idle;

    pid_t main_thread;
    _Atomic uint64_t decoding; /* id of the submission that main_thread gives to the engine, 0 for none */
};

/* The fault handler finds it here. */
static struct process the_process;

static void __attribute__((noreturn)) leave(int code)
{
    _exit(code); /* no destructors: other threads are in the middle of things */
}

static void __attribute__((noreturn)) leave_broken(const char *what)
{
    log_error(COMPONENT, "the host's %s makes no sense", what);
    leave(EXEC_EXIT_PROTOCOL);
}

/* ---- faults -------------------------------------------------------------- */

/* From the processor's error code (Intel SDM 3A, 4.7): bit 1 a write, bit 4 an instruction fetch. An address that is not canonical
 * is a general protection fault, which has no address. */
static enum exec_access access_of(int sig, const siginfo_t *si, const void *context)
{
#if defined(__x86_64__)
    const ucontext_t *uc = context;
    const unsigned long long error = (unsigned long long)uc->uc_mcontext.gregs[REG_ERR];
    const bool protection = uc->uc_mcontext.gregs[REG_TRAPNO] == 13,
               fault = uc->uc_mcontext.gregs[REG_TRAPNO] == 14;

    if (sig == SIGSEGV && si->si_code == SI_KERNEL && protection)
        return EXEC_ACCESS_NO_ADDRESS;
    if ((sig == SIGSEGV || sig == SIGBUS) && si->si_code > 0 && fault)
        return error & 0x10 ? EXEC_ACCESS_EXECUTE : error & 2 ? EXEC_ACCESS_WRITE : EXEC_ACCESS_READ;
#endif
    return EXEC_ACCESS_UNKNOWN;
}

static void save_registers(uint64_t to[EXEC_NUM_REGISTERS], const void *context)
{
#if defined(__x86_64__)
    static const int at[EXEC_NUM_REGISTERS] = {
#define EXEC_ROW(NAME) REG_##NAME,
        EXEC_REGISTERS(EXEC_ROW)
#undef EXEC_ROW
    };
    const ucontext_t *uc = context;

    for (int i = 0; i < EXEC_NUM_REGISTERS; i++)
        to[i] = (uint64_t)uc->uc_mcontext.gregs[at[i]];
#endif
}

/* Of kill() and tgkill() the kernel says who called them; of sigqueue() the sender does, and may say anything: the executor is
 * none that does. */
static int32_t sender_of(const siginfo_t *si)
{
    if (si->si_code == SI_USER || si->si_code == SI_TKILL)
        return si->si_pid;
    return si->si_code == SI_QUEUE && si->si_pid != getpid() ? si->si_pid : 0;
}

/* What it could still have had at once, to a power of two: who finds no memory may die of anything. */
static uint32_t left_mib(void)
{
    for (uint32_t mib = EXEC_LEFT_MIB; mib; mib /= 2) {
        void *p = mmap(NULL, (size_t)mib << 20, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (p != MAP_FAILED) {
            munmap(p, (size_t)mib << 20);
            return mib;
        }
    }
    return 0;
}

/* What the shader meant, where it was kept from memory that is not the GPU's. */
static void tell_confined(struct exec_fault *f)
{
    const uint64_t meant = exec_engine_address_meant(f->address);

    for (int i = 0; i < EXEC_NUM_REGISTERS; i++)
        if (f->registers[i] == f->address)
            f->registers[i] = meant;
    f->address = meant;
}

static void on_signal(int sig, siginfo_t *si, void *context)
{
    struct process *p = &the_process;
    struct exec_fault *f = &p->shared->fault;
    pid_t thread = (pid_t)syscall(SYS_gettid);
    uint32_t none = 0, done;
    struct timespec now;

    if (!atomic_compare_exchange_strong(&f->state, &none, 1))
        for (;;)
            usleep(SETTLE_US); /* another thread was first and is about to end us */
    /* What was done just before is on its way through the completion thread, and must not look as if it had been running. */
    if (p->completed != p->started)
        usleep(SETTLE_US);
    done = atomic_load(&p->completed);
    clock_gettime(CLOCK_BOOTTIME, &now);
    f->boot_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    f->signal = sig;
    f->code = si->si_code;
    f->sender = sender_of(si);
    f->told = si->si_code == SI_QUEUE;
    f->made_up = fault_is_made_up(sig, si, context);
    f->thread = (uint32_t)thread;
    f->own_thread = exec_own_thread;
    f->access = (uint32_t)access_of(sig, si, context);
    f->left_mib = left_mib();
    save_registers(f->registers, context);
    f->address = (uint64_t)(uintptr_t)(si->si_code > 0 ? si->si_addr : NULL);
    if (exec_code_is_generated(f->registers[EXEC_RIP]))
        tell_confined(f);
    f->submission = thread == p->main_thread ? atomic_load(&p->decoding) : 0;
    if (!f->submission && done != atomic_load(&p->started))
        f->submission = atomic_load(&p->ids[done % IDS]);
    atomic_store(&f->state, 2);
    leave(EXEC_EXIT_FAULT + sig);
}

/* Every signal that would end the process: only here is it known who sent it. What the sandbox forbids, and SIGKILL, end it
 * without asking. */
static int catch_signals(struct error *e)
{
    static char stack[64 * 1024];
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK}, old;
    stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
    static const int harmless[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP,
                                   SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH};
    sigset_t others;

    sigfillset(&sa.sa_mask);
    sigemptyset(&others);
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        sigaddset(&others, harmless[i]);
    if (sigaltstack(&alt, NULL))
        return error_set(e, -errno, "sigaltstack: %s", strerror(errno));
    for (int sig = 1; sig <= SIGRTMAX; sig++) {
        if (sigismember(&others, sig) || (sig > SIGSYS && sig < SIGRTMIN))
            continue;
        if (sigaction(sig, NULL, &old) ||
            ((SANITIZED || old.sa_handler == SIG_DFL) && sigaction(sig, &sa, NULL)))
            return error_set(e, -errno, "sigaction: %s", strerror(errno));
    }
    return 0;
}

/* ---- completions, from the engine's threads ------------------------------ */

static void signal_host(struct process *p)
{
    if (atomic_load(&p->shared->host_sleeping) && atomic_exchange(&p->shared->host_sleeping, 0))
        eventfd_write(EXEC_FD_DONE, 1); /* full means signalled */
}

static void on_complete(void *ctx, const struct abi_completion *c)
{
    struct process *p = ctx;
    struct exec_shared *sh = p->shared;
    struct exec_done_slot *slot = &sh->done[p->done_tail % EXEC_DONE_SLOTS];
    bool dropped = atomic_load(&sh->epoch) != atomic_load(&p->epoch);

    bb_flight_event(p->flight, FLIGHT_COMPLETE, c->id, c->error, c->draws);
    while (!dropped && p->done_tail - p->done_head >= EXEC_DONE_SLOTS) {
        p->done_head = atomic_load(&sh->done_head);
        if (p->done_tail - p->done_head < EXEC_DONE_SLOTS)
            break;
        usleep(100); /* the host has dropped submissions and not polled since */
        dropped = atomic_load(&sh->epoch) != atomic_load(&p->epoch);
    }
    if (!dropped) {
        memcpy(&slot->c, c, c->error ? sizeof(*c) : offsetof(struct abi_completion, message));
        slot->epoch = atomic_load(&p->epoch);
        atomic_store(&sh->done_tail, ++p->done_tail);
    }
    INVARIANT(atomic_load(&p->completed) != atomic_load(&p->started)); /* each completes once */
    if (atomic_fetch_add(&p->completed, 1) + 1 == atomic_load(&p->started)) {
        pthread_mutex_lock(&p->idle_lock);
        pthread_cond_signal(&p->idle);
        pthread_mutex_unlock(&p->idle_lock);
    }
    signal_host(p);
}

static bool is_idle(struct process *p)
{
    return atomic_load(&p->completed) == atomic_load(&p->started);
}

static void wait_idle(struct process *p)
{
    pthread_mutex_lock(&p->idle_lock);
    while (!is_idle(p))
        pthread_cond_wait(&p->idle, &p->idle_lock);
    pthread_mutex_unlock(&p->idle_lock);
}

/* ---- guest memory -------------------------------------------------------- */

static void *dma_map(void *ctx, uint64_t gpa, uint64_t size)
{
    struct process *p = ctx;
    return exec_memory_get(&p->memory, gpa, size);
}

static void apply(struct process *p, const struct exec_control *m, int fd)
{
    int r;

    INVARIANT(p->has_control);
    if (m->seq != p->control_seq + 1)
        leave_broken("control message number");
    p->control_seq = m->seq;
    if (m->type == EXEC_CONTROL_MAP && fd >= 0) {
        if (is_idle(p))
            exec_memory_trim(&p->memory);
        r = exec_memory_add(&p->memory, m->gpa, m->size, fd, m->offset);
    } else if (m->type == EXEC_CONTROL_UNMAP) {
        wait_idle(p);
        INVARIANT(is_idle(p)); /* memory.h, 2: what was handed out is in use no more */
        r = exec_memory_remove(&p->memory, m->gpa, m->size);
    } else {
        leave_broken("control message");
    }
    if (r)
        log_warn(COMPONENT, "guest memory at 0x%llx, size 0x%llx: %s", (unsigned long long)m->gpa,
                 (unsigned long long)m->size, strerror(-r));
}

/* Receives the next control message unless one is waiting to be applied; false if there is none. Looks into
 * the socket only if there should be one, or `wait` says that it is waited for. */
static bool receive_control(struct process *p, bool wait)
{
    size_t num = 1;
    ssize_t n;

    if (p->has_control)
        return true;
    if (!wait && atomic_load(&p->shared->controls) == (uint32_t)p->control_seq)
        return false;
    p->control_fd = -1;
    n = fds_receive(EXEC_FD_CONTROL, &p->control, sizeof(p->control), &p->control_fd, &num, MSG_DONTWAIT);
    if (n == -EAGAIN)
        return false;
    if (n == -EMSGSIZE || n == -E2BIG || (n > 0 && n != sizeof(p->control)))
        leave_broken("control message");
    if (n <= 0)
        leave(EXEC_EXIT_HOST_GONE);
    p->has_control = true;
    return true;
}

static void apply_control(struct process *p)
{
    apply(p, &p->control, p->control_fd);
    if (p->control_fd >= 0)
        close(p->control_fd);
    p->has_control = false;
}

static void control_up_to(struct process *p, uint64_t seq)
{
    struct pollfd pfd = {.fd = EXEC_FD_CONTROL, .events = POLLIN};

    while (p->control_seq < seq) {
        if (receive_control(p, true))
            apply_control(p);
        else
            poll(&pfd, 1, -1);
    }
}

/* ---- the loop ------------------------------------------------------------ */

static uint32_t tell_cpu(struct process *p)
{
    uint32_t cpu = (uint32_t)sched_getcpu();

    if (atomic_load_explicit(&p->shared->executor_cpu, memory_order_relaxed) != cpu)
        atomic_store(&p->shared->executor_cpu, cpu);
    return cpu;
}

static void execute(struct process *p, const struct exec_slot *slot)
{
    uint32_t n = atomic_load(&p->started);

    control_up_to(p, slot->control_seq);
    if (n - atomic_load(&p->completed) > EXEC_RING_SLOTS)
        leave_broken("number of submissions");
    atomic_store(&p->ids[n % IDS], slot->s.id);
    atomic_store(&p->started, n + 1);
    atomic_store(&p->decoding, slot->s.id);
    tell_cpu(p);
    bb_flight_event(p->flight, FLIGHT_TAKE, slot->s.id, slot->s.cmd_size, slot->s.context_id);
    exec_engine_submit(p->engine, &slot->s);
    bb_flight_event(p->flight, FLIGHT_DECODED, slot->s.id, 0, 0);
    atomic_store(&p->decoding, 0);
}

static bool take_submission(struct process *p)
{
    struct exec_shared *sh = p->shared;
    uint32_t waiting = atomic_load(&sh->ring_tail) - p->ring_head;
    struct exec_slot slot;

    if (waiting > EXEC_RING_SLOTS)
        leave_broken("submission ring index");
    if (!waiting)
        return false;
    slot = sh->ring[p->ring_head % EXEC_RING_SLOTS];
    atomic_store(&sh->ring_head, ++p->ring_head);
    p->heap_kept = true;
    execute(p, &slot);
    return true;
}

static bool epoch_changed(struct process *p)
{
    return atomic_load(&p->shared->epoch) != atomic_load(&p->epoch);
}

static void start_epoch(struct process *p)
{
    struct exec_shared *sh = p->shared;
    uint32_t epoch = atomic_load(&sh->epoch);

    bb_flight_event(p->flight, FLIGHT_RESET, epoch, 0, 0);
    INVARIANT(!atomic_load(&p->decoding));
    exec_engine_reset(p->engine);
    wait_idle(p); /* the engine has promised it; the rings depend on it */
    p->ring_head = atomic_load(&sh->ring_tail);
    atomic_store(&sh->ring_head, p->ring_head);
    atomic_store(&p->epoch, epoch);
    atomic_store(&sh->epoch_done, epoch);
    signal_host(p);
}

static bool has_work(struct process *p)
{
    return atomic_load(&p->shared->ring_tail) != p->ring_head || epoch_changed(p);
}

static bool busy_poll(struct process *p)
{
    uint64_t end = clock_now(&p->clock) + EXEC_AWAKE_NS;

    do {
        for (int i = 0; i < 16; i++) {
            if (has_work(p))
                return true;
            exec_pause();
        }
    } while (clock_now(&p->clock) < end);
    return false;
}

/* The scheduler leaves two that take turns on one processor there, though another may be free. That is best as long as both
 * sleep in between; but a host that would poll for the completion pays a change of thread, five times what it costs to poll.
 * After many such turns this thread moves away. If the other processor is busy that costs more than it brings, so each move
 * that did not lead to polling makes the next one twice as rare. */
static void yield_processor(struct process *p, int cpu)
{
    uint32_t turns = atomic_load_explicit(&p->shared->host_would_poll, memory_order_relaxed);
    cpu_set_t all, others;

    if (turns - p->turns_seen < p->backoff || sched_getaffinity(0, sizeof(all), &all))
        return;
    p->turns_seen = turns;
    p->backoff = p->backoff < MOST_BACKOFF ? p->backoff * 2 : MOST_BACKOFF;
    others = all;
    CPU_CLR(cpu, &others);
    if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof(others), &others))
        sched_setaffinity(0, sizeof(all), &all);
}

/* Polls for more work before sleeping, if that is likely to help. */
static bool spin(struct process *p)
{
    uint32_t cpu = (uint32_t)sched_getcpu(), host = atomic_load(&p->shared->host_cpu);
    bool found;

    if (p->may_spin && cpu == host)
        yield_processor(p, (int)cpu);
    cpu = tell_cpu(p);
    if (!p->may_spin || !exec_worth_polling(&p->poller, cpu, host))
        return false;
    found = busy_poll(p);
    exec_polled(&p->poller, found);
    if (found)
        p->backoff = LEAST_BACKOFF;
    return found;
}

/* Software devices take tens of megabytes for the state of a frame of many draws, in small pieces, and free them when it is drawn. glibc
 * gives what is free at a heap's end back at once, all but 128 KiB, and the next frame would fault it in again, which is three quarters
 * of what the frame costs. So it is kept until nothing came for some seconds. (Who says one of the two thresholds says both: glibc then
 * no longer learns the other from what is freed.) */
static void keep_heap(void)
{
    mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
    mallopt(M_MMAP_THRESHOLD, HEAP_LARGEST);
}

static void give_heap_back(struct process *p)
{
    if (!p->heap_kept || atomic_load(&p->started) != atomic_load(&p->completed))
        return;
    malloc_trim(0);
    p->heap_kept = false;
}

static void sleep_until_rung(struct process *p)
{
    static const struct timespec at_most = {.tv_sec =
                                                5}; /* in case the host ended and the kernel did not end us */
    _Atomic uint32_t *sleeping = &p->shared->executor_sleeping;

    atomic_store(sleeping, 1);
    if (!has_work(p) && !receive_control(p, false) &&
        syscall(SYS_futex, sleeping, FUTEX_WAIT, 1, &at_most, NULL, 0) < 0 && errno == ETIMEDOUT) {
        receive_control(p, true);
        give_heap_back(p);
    }
    atomic_store(sleeping, 0);
}

static void __attribute__((noreturn)) run(struct process *p)
{
    bool busy = false;

    for (;;) {
        if (epoch_changed(p)) {
            start_epoch(p);
            busy = true;
        } else if (take_submission(p)) {
            busy = true;
        } else if (p->has_control) { /* and the ring was empty after it came */
            apply_control(p);
            receive_control(p, false);
        } else if (!busy || !spin(p)) {
            sleep_until_rung(p);
            receive_control(p, false);
            busy = false;
        }
    }
}

/* ---- start --------------------------------------------------------------- */

static void __attribute__((noreturn)) refuse(int code, const char *text, bool no_device)
{
    struct exec_ready ready = {.code = code};

    snprintf(ready.text, sizeof(ready.text), "%.200s%s", text,
             no_device ? "; a Vulkan driver is needed, Debian's package mesa-vulkan-drivers has one" : "");
    if (send(EXEC_FD_CONTROL, &ready, sizeof(ready), MSG_NOSIGNAL) < 0)
        log_error(COMPONENT, "%s", ready.text);
    leave(EXEC_EXIT_START);
}

static struct exec_shared *open_shared(void)
{
    struct exec_shared *sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, EXEC_FD_SHARED, 0);

    char text[160];

    if (sh == MAP_FAILED || sh->start.magic != EXEC_PROTO_MAGIC) {
        fprintf(stderr, "aerogpu-executor is started by AeroGPU's device, not by hand\n");
        leave(EXEC_EXIT_START);
    }
    if (sh->start.version != EXEC_PROTO_VERSION) {
        snprintf(
            text, sizeof(text),
            "the executor speaks version %u, and the service that started it version %u: of an upgrade, start "
            "the service again",
            EXEC_PROTO_VERSION, sh->start.version);
        refuse(-EPROTO, text, false);
    }
    close(EXEC_FD_SHARED);
    return sh;
}

static void open_engine(struct process *p, struct error *e)
{
    static char device[sizeof(p->shared->start.device)]; /* an engine may keep it */
    struct exec_engine_params params = {.dma_map = dma_map,
                                        .complete = on_complete,
                                        .ctx = p,
                                        .progress = &p->shared->progress,
                                        .markers = (enum exec_markers)p->shared->start.markers,
                                        .addresses = p->shared->start.addresses != 0};
    int r;

    memcpy(device, p->shared->start.device, sizeof(device));
    device[sizeof(device) - 1] = '\0';
    if (p->shared->start.has_device)
        params.device = device;
    r = exec_engine_create(&p->engine, &params, e);
    if (r)
        refuse(r, e->code ? e->text : "the Vulkan engine does not start", r == -ENODEV);
}

int main(void)
{
    struct process *p = &the_process;
    struct exec_ready ready = {0};
    struct error e = {0};
    bool is_cpu = false;
    int r, share;

    slice_set(
        SLICE_USUAL); /* who started it may have a short one: a draw is no answer that others wait for */
    keep_heap();
    p->shared = open_shared();
    p->main_thread = (pid_t)syscall(SYS_gettid);
    p->may_spin = p->shared->start.spin != 0;
    p->backoff = LEAST_BACKOFF;
    atomic_store(&p->epoch, atomic_load(&p->shared->epoch_done));
    clock_init_live(&p->clock);
    pthread_mutex_init(&p->idle_lock, NULL);
    pthread_cond_init(&p->idle, NULL);
    exec_memory_init(&p->memory);
    p->flight = bb_flight_of_process("executor"); /* before files cannot be opened any more */
    bb_flight_name(p->flight, FLIGHT_TAKE, "take(submission, bytes, context)");
    bb_flight_name(p->flight, FLIGHT_DECODED, "decoded(submission)");
    bb_flight_name(p->flight, FLIGHT_COMPLETE, "complete(submission, error, draws)");
    bb_flight_name(p->flight, FLIGHT_RESET, "reset(epoch)");

    share = exec_sandbox_share(p->shared->start.nice);
    r = exec_sandbox_begin(p->shared->start.memory_bytes, p->shared->start.files, &e);
    if (!r)
        r = catch_signals(&e);
    if (r)
        refuse(r, e.text, false);
    open_engine(p, &e);
    snprintf(ready.text, sizeof(ready.text), "%.255s", exec_engine_device_name(p->engine, &is_cpu));
    ready.is_cpu = is_cpu;
    exec_code_note();
    exec_sandbox_share_again(share, p->shared->start.nice);
    r = exec_sandbox_enter(!is_cpu, &e);
    if (r)
        refuse(r, e.text, false);
    /* Fails if the host has ended before the kernel knew that we wanted to end with it. */
    if (send(EXEC_FD_CONTROL, &ready, sizeof(ready), MSG_NOSIGNAL) < 0)
        leave(EXEC_EXIT_HOST_GONE);
    run(p);
}
