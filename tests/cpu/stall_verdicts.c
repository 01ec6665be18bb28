/* SPDX-License-Identifier: MIT */
/* stall_verdicts: plants stalls and asks for verdicts. usage: stall_verdicts [--runs N] [--seed S] [--plant
 * P] [--tap] [--verbose]
 *
 * A run draws one plant by seed; there is one of each kind where N is not given. The live ones are real: a waiter and an executor process on one CPU, recorded while what
 * stall_form.h says keeps the work from being done; or the whole virtual device with its executor process, which is told
 * to hang. The others are recordings made up in the kernel's page
 * format; the reference's crash is the machine of reference 3: 24 processors, 20 of which never answered the
 * one that was awake. Right means the expected verdict; wrongly GPU-HUNG is what must never be.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aerogpu/pci.h"
#include "base/rng.h"
#include "cpu/capture/record.h"
#include "cpu/report/report.h"
#include "cpu/model/dump.h"
#include "cpu/model/verdict.h"
#include "stall_plants.h"
#include "synth.h"
#include "executor/exec_test_engine.h"
#include "machine/driver.h"

static char dir[] = "/tmp/aerogpu-stall-XXXXXX";
static char path[64];
static pid_t owner;                   /* of the folder */
static int chain_cpu = -1, other_cpu; /* of live runs; -1: they cannot run here */
static bool quick;                    /* short waits, enough not to be a hung GPU; no whole stack */

struct shared {
    atomic_int submitted, stop;
    atomic_int executor; /* of the device: its process; -1 = the device cannot be started here */
    uint64_t submit_ns, timeout_ns, completed_ns;
};

static struct shared *sh;

static uint64_t now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void nap(uint64_t ns)
{
    struct timespec ts = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    nanosleep(&ts, NULL);
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* What else runs on this machine must not be the stall that was planted. */
static bool real_time(int priority)
{
    const struct sched_param fifo = {.sched_priority = priority};

    return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &fifo) == 0;
}

static uint64_t cpu_time(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Takes one job, works on it for `work_ns` of CPU time and says so; or what the form makes of it. */
static pid_t start_executor(int job, int done, uint64_t work_ns, struct stall_form *form)
{
    pid_t pid = fork();
    char c = 0;

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "executor");
    if (form)
        stall_form_prepare(form);
    else
        real_time(1); /* what else runs here must not be the stall */
    pin(chain_cpu);
    if (read(job, &c, 1) != 1)
        _exit(1);
    if (!form)
        while (cpu_time() < work_ns)
            ;
    else if (!stall_form_work(form))
        _exit(1); /* what it waited for came after all */
    sh->completed_ns = now();
    if (write(done, &c, 1) == 1 && form)
        stall_form_after(form);
    _exit(0);
}

/* Submits, and waits as a display server does: a look every 16 ms, until the deadline. */
static pid_t start_waiter(int job, int done, uint64_t limit_ns, const struct stall_outcome *outcome)
{
    pid_t pid = fork();
    struct pollfd p = {.fd = done, .events = POLLIN};
    char c = 1;

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "waiter");
    real_time(2);
    pin(chain_cpu);
    while (!atomic_load(&sh->stop))
        nap(MS);
    sh->submit_ns = now();
    if (write(job, &c, 1) != 1)
        _exit(1);
    atomic_store(&sh->submitted, 1);
    if (outcome && outcome->waiter_sleeps)
        nap(limit_ns);
    while (now() < sh->submit_ns + limit_ns)
        if (poll(&p, 1, 16) > 0 && now() < sh->submit_ns + limit_ns)
            break;
    sh->timeout_ns = now();
    _exit(0);
}

static uint64_t submit(struct driver *d, enum test_op op)
{
    const struct test_command c = {.op = op};
    const struct driver_submission s = {.cmd_gpa = driver_alloc(d, sizeof(c), 64), .cmd_size = sizeof(c)};
    uint64_t fence;

    memcpy(driver_ptr(d, s.cmd_gpa), &c, sizeof(c));
    return driver_submit(d, &s, &fence) ? 0 : fence;
}

/* The device: registers, ring, doorbell, vblanks, interrupt, and the executor as a process of its own. One
 * piece of work is done, the next one hangs in the executor. Everything runs on the chain's CPU. */
static void device_main(uint64_t limit_ns)
{
    const struct sched_param fifo = {.sched_priority = 1};
    const struct machine_params p = {.kind = MACHINE_LIVE,
                                     .ram_size = 16 << 20,
                                     .executor = TEST_PROGRAMS "/exec_test_executor",
                                     .device = "test"};
    struct machine *m;
    struct driver *d;
    struct error e = {0};
    uint64_t hung;

    sched_setscheduler(0, SCHED_FIFO, &fifo); /* its threads and its executor as well */
    pin(chain_cpu);
    if (machine_create(&m, &p, &e) || machine_wait_ready(m, 20000, &e) ||
        driver_create(&d, &(struct driver_params){.machine = m}, &e) ||
        driver_set_mode(d, 64, 32, AEROGPU_FORMAT_B8G8R8X8_UNORM) ||
        driver_wait(d, submit(d, TEST_NOTHING), 10000 * MS)) {
        fprintf(stderr, "stall_verdicts: the device cannot be started: %s\n", e.text);
        atomic_store(&sh->executor, -1);
        _exit(2);
    }
    atomic_store(&sh->executor, machine_executor_pid(m));
    while (!atomic_load(&sh->stop))
        nap(MS);
    sh->submit_ns = now();
    hung = submit(d, TEST_HANG);
    atomic_store(&sh->submitted, 1);
    if (hung && driver_wait(d, hung, limit_ns) == -ETIMEDOUT)
        sh->timeout_ns = now();
    driver_reset(d);
    driver_destroy(d);
    machine_destroy(m);
    _exit(0);
}

static pid_t start_device(uint64_t limit_ns)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "device");
        device_main(limit_ns);
    }
    for (int i = 0; i < 20000 && !atomic_load(&sh->executor); i++)
        nap(MS);
    return pid;
}

struct slices {
    uint32_t num;
    int32_t tid[CPU_WINDOW_THREADS];
    uint64_t run[CPU_WINDOW_THREADS];
};

/* How often each thread of a process has had a CPU. */
static void read_slices(struct slices *s, pid_t pid)
{
    char file[64];
    struct dirent *ent;
    DIR *dir_of_tasks;

    s->num = 0;
    snprintf(file, sizeof(file), "/proc/%d/task", (int)pid);
    dir_of_tasks = opendir(file);
    while (dir_of_tasks && (ent = readdir(dir_of_tasks)) && s->num < CPU_WINDOW_THREADS) {
        unsigned long long ran, waited, run;
        FILE *f;
        if (ent->d_name[0] == '.')
            continue;
        snprintf(file, sizeof(file), "/proc/%d/task/%.20s/schedstat", (int)pid, ent->d_name);
        f = fopen(file, "re");
        if (f && fscanf(f, "%llu %llu %llu", &ran, &waited, &run) == 3) {
            s->tid[s->num] = (int32_t)strtol(ent->d_name, NULL, 10);
            s->run[s->num++] = run;
        }
        if (f)
            fclose(f);
    }
    if (dir_of_tasks)
        closedir(dir_of_tasks);
}

/* Those threads of the executor belong to the chain that have run since `before`. */
static void add_executor(struct cpu_window *w, const struct slices *before, const struct slices *after)
{
    for (uint32_t i = 0; i < after->num; i++)
        for (uint32_t k = 0; k < before->num; k++)
            if (after->tid[i] == before->tid[k] && after->run[i] > before->run[k] + 10 &&
                w->num_threads < CPU_WINDOW_THREADS)
                w->threads[w->num_threads++] =
                    (struct cpu_window_thread){CPU_ROLE_EXECUTOR, after->tid[i], -1};
}

/* Ready before the work is submitted, so that it is the first to run once it is let go. */
static pid_t start_hog(int go, uint64_t ns)
{
    pid_t pid = fork();
    uint64_t end;
    char c;

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "hog");
    pin(chain_cpu);
    if (!real_time(50) || read(go, &c, 1) != 1)
        _exit(2);
    end = now() + ns;
    while (now() < end)
        ;
    _exit(0);
}

enum plant {
    LIVE_RT_HOG,
    LIVE_SIGSTOP,
    LIVE_THROTTLE,
    LIVE_DEVICE,
    LIVE_STACK,
    LIVE_STACK_BUSY,
    MADE_REFERENCE,
    MADE_IPI,
    MADE_ASLEEP,
    MADE_TIMER,
    MADE_STEAL,
    MADE_HANG,
    MADE_BLIND,
    MADE_UNCHECKED,
    PLANTS
};

static const struct plant_kind plants[PLANTS] = {
    [LIVE_RT_HOG] = {"live: a real-time hog on the chain's CPU", CPU_VERDICT_CPU_STARVED,
                     "preempted or throttled"},
    [LIVE_SIGSTOP] = {"live: SIGSTOP of the waiting thread", CPU_VERDICT_FROZEN, "stopped by a signal"},
    [LIVE_THROTTLE] = {"live: the worker throttled as by cpulimit", CPU_VERDICT_CPU_STARVED,
                       "throttled by stop signals"},
    [LIVE_DEVICE] = {"live: the device's executor process sleeps for ever", CPU_VERDICT_UNKNOWN,
                     "the executor slept, and not on the device"},
    [LIVE_STACK] = {"live: a shader without end, through the whole stack", CPU_VERDICT_GPU_HUNG, NULL},
    [LIVE_STACK_BUSY] = {"live: the same on a busy machine, with all of its time", CPU_VERDICT_GPU_HUNG,
                         NULL},
    [MADE_REFERENCE] = {"made up: the reference's crash, 20 of 24 silent", CPU_VERDICT_IPI_STALL,
                        "an IPI was not answered"},
    [MADE_IPI] = {"made up: IPIs never answered, one CPU spins", CPU_VERDICT_IPI_STALL, NULL},
    [MADE_ASLEEP] = {"made up: the interrupt's CPU sleeps on", CPU_VERDICT_CPU_ASLEEP, NULL},
    [MADE_TIMER] = {"made up: a timer does not wake its CPU", CPU_VERDICT_CPU_ASLEEP,
                    "a timer did not wake the CPU"},
    [MADE_STEAL] = {"made up: the host takes the CPU away", CPU_VERDICT_HOST_STOLE_TIME, NULL},
    [MADE_HANG] = {"made up: the GPU hangs", CPU_VERDICT_GPU_HUNG, NULL},
    [MADE_BLIND] = {"made up: the same, a CPU not shown by the trace", CPU_VERDICT_UNKNOWN, NULL},
    [MADE_UNCHECKED] = {"made up: the same, the recorder was killed", CPU_VERDICT_UNKNOWN, NULL},
};

/* All kinds: those above, the stories, the forms. */
static const struct plant_kind *kind_of(uint32_t p)
{
    return p < PLANTS                       ? &plants[p]
           : p < PLANTS + stall_num_stories ? &stall_stories[p - PLANTS]
                                            : stall_form_kind(p - PLANTS - stall_num_stories);
}

static bool is_live(uint32_t p)
{
    return p <= LIVE_STACK_BUSY || p >= PLANTS + stall_num_stories;
}

static bool is_left_out(uint32_t p)
{
    return quick && (p == LIVE_STACK || p == LIVE_STACK_BUSY);
}

static void *record(void *arg)
{
    struct cpu_record_run *run = arg;
    const struct sched_param normal = {0};
    struct error e = {0};

    sched_setscheduler(0, SCHED_OTHER, &normal);
    pin(other_cpu);
    if (cpu_record_run(run, &e))
        fprintf(stderr, "stall_verdicts: %s\n", e.text);
    return NULL;
}

static void stop_and_go(pid_t pid, uint64_t stop_ns, uint64_t go_ns, int times)
{
    for (int i = 0; i < times; i++) {
        kill(pid, SIGSTOP);
        nap(stop_ns);
        kill(pid, SIGCONT);
        nap(go_ns);
    }
}

/* The stall itself, once the work is submitted. */
static void plant_live(enum plant plant, pid_t waiter, pid_t executor, int go, uint64_t limit_ns)
{
    if (plant == LIVE_RT_HOG && write(go, "", 1) != 1)
        fprintf(stderr, "stall_verdicts: the hog cannot be let go\n");
    else if (plant == LIVE_SIGSTOP)
        stop_and_go(waiter, limit_ns + 30 * MS, 0, 1);
    else if (plant == LIVE_THROTTLE)
        stop_and_go(executor, 19 * MS, MS, (int)(limit_ns / (20 * MS)));
}

static void start_recorder(pthread_t *recorder, struct cpu_record_run *run)
{
    pthread_create(recorder, NULL, record, run);
    for (int i = 0; i < 2000 && !atomic_load(run->recording); i++)
        nap(MS);
}

/* Lets the waiter submit. */
static void go_on(struct rng *rng)
{
    nap((5 + rng_below(rng, 10)) * MS);
    atomic_store(&sh->stop, 1);
    for (int i = 0; i < 100000 && !atomic_load(&sh->submitted); i++)
        nap(100 * US);
}

static void live_device(struct rng *rng, struct cpu_window *w, struct cpu_record_run *run, uint64_t limit_ns)
{
    const pid_t device = start_device(limit_ns), executor = atomic_load(&sh->executor);
    struct slices before, after;
    pthread_t recorder;

    w->threads[w->num_threads++] = (struct cpu_window_thread){CPU_ROLE_WAITER, device, -1};
    if (executor > 0) {
        start_recorder(&recorder, run);
        read_slices(&before, executor);
        go_on(rng);
        nap(limit_ns * 3 / 4);
        read_slices(&after, executor); /* before the reset ends it */
        add_executor(w, &before, &after);
    }
    stall_wait_for(device, 10);
    if (executor > 0) {
        nap(5 * MS);
        atomic_store((atomic_int *)run->stop, 1);
        pthread_join(recorder, NULL);
    }
}

/* The command as a user has it: the device, its driver and lavapipe, of which all threads get the chain's CPU in turns. */
static pid_t start_stack(void)
{
    const struct sched_param turns = {.sched_priority = 1};
    pid_t pid = fork();

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(chain_cpu);
    sched_setscheduler(0, SCHED_RR, &turns);
    if (chdir(dir) || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        _exit(2);
    execl(AEROGPU, AEROGPU, "dump", SAMPLES "/hang.aerogputrace", (char *)NULL);
    _exit(127);
}

/* The window is what its black box wrote. */
static int window_of_stack(struct cpu_window *w, char why[100])
{
    char file[300];
    struct error e = {0};
    struct dirent *ent;
    DIR *d = opendir(dir);
    int r = -ENOTSUP;

    snprintf(why, 100, "the stack made no dump");
    while (d && (ent = readdir(d))) {
        const char *end = strrchr(ent->d_name, '.');
        if (!end || strcmp(end, ".aerogpudump"))
            continue;
        snprintf(file, sizeof(file), "%s/%.200s", dir, ent->d_name);
        r = cpu_window_read(w, file, &e) ? -EIO : 0;
        if (r)
            fprintf(stderr, "stall_verdicts: %s\n", e.text);
        unlink(file);
    }
    if (d)
        closedir(d);
    return r;
}

static int live_stack(bool busy, struct cpu_window *w, struct cpu_record_run *run, char why[100])
{
    pid_t spinners[24] = {0}, stack;
    pthread_t recorder;

    for (int i = 0; busy && i < 24; i++)
        if ((spinners[i] = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pin(chain_cpu);
            for (volatile int on = 1; on;)
                ;
        }
    run->duration_ns = 60000 * MS;
    start_recorder(&recorder, run);
    stack = start_stack();
    stall_wait_for(stack, 60);
    atomic_store((atomic_int *)run->stop, 1);
    pthread_join(recorder, NULL);
    for (int i = 0; busy && i < 24; i++) {
        kill(spinners[i], SIGKILL);
        waitpid(spinners[i], NULL, 0);
    }
    return window_of_stack(w, why);
}

static bool is_over(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid;
}

/* `form`: what is done to the executor; NULL: what `plant` says. Whether it was done in time. */
static bool live_processes(uint32_t plant, struct stall_form *form, struct rng *rng, struct cpu_window *w,
                           struct cpu_record_run *run, uint64_t limit_ns)
{
    const struct stall_outcome *outcome = form ? stall_form_outcome(form) : NULL;
    pid_t waiter, executor, hog = 0;
    int32_t thread = 0;
    int job[2], done[2], go[2];
    pthread_t recorder;
    bool late = false;

    if (pipe(job) || pipe(done) || pipe(go))
        return true;
    executor = start_executor(job[0], done[1], plant == LIVE_SIGSTOP ? 5 * MS : 40 * MS, form);
    if (plant == LIVE_RT_HOG)
        hog = start_hog(go[0], limit_ns + 10 * MS);
    waiter = start_waiter(job[1], done[0], limit_ns, outcome);
    start_recorder(&recorder, run);
    go_on(rng);
    if (form)
        stall_form_plant(form, executor);
    else
        plant_live((enum plant)plant, waiter, executor, go[1], limit_ns);
    waitpid(waiter, NULL, 0);
    if (form) {
        for (int i = 0; outcome->ends && i < 2000 && !is_over(executor); i++)
            nap(MS);
        thread = stall_form_thread(form);
        if (outcome->due > 0)
            w->due_ns = sh->submit_ns + (uint64_t)(outcome->due * (double)limit_ns);
        if (sh->completed_ns && outcome->ends)
            w->completed_ns = sh->completed_ns;
        late = stall_form_late(form, sh->submit_ns);
        stall_form_destroy(form, executor);
    } else {
        kill(executor, SIGKILL);
        waitpid(executor, NULL, 0);
    }
    if (hog > 0)
        waitpid(hog, NULL, 0);
    nap(5 * MS);
    atomic_store((atomic_int *)run->stop, 1);
    pthread_join(recorder, NULL);
    for (int i = 0; i < 2; i++) {
        close(job[i]);
        close(done[i]);
        close(go[i]);
    }
    w->num_threads = 2;
    w->threads[0] = (struct cpu_window_thread){CPU_ROLE_WAITER, waiter, -1};
    w->threads[1] = (struct cpu_window_thread){CPU_ROLE_EXECUTOR, executor, -1};
    if (thread)
        w->threads[w->num_threads++] = (struct cpu_window_thread){CPU_ROLE_EXECUTOR, thread, -1};
    return !late;
}

/* 0, -ENOTSUP if this kind cannot be planted here (`why`), -EAGAIN if something else was, or -EIO. */
static int live(uint32_t plant, struct rng *rng, struct cpu_window *w, char why[100])
{
    /* what the threads wait for is looked at ten times a second, later on a busy machine */
    const uint64_t limit_ns =
        (plant < PLANTS || quick ? 120 + rng_below(rng, 80) : 250 + rng_below(rng, 150)) * MS;
    atomic_int stop = 0, recording = 0;
    struct cpu_record_run run = {.path = path,
                                 .params = {.sched = true, .timers = true},
                                 .stop = &stop,
                                 .recording = &recording,
                                 .duration_ns = 5000 * MS};

    struct stall_form *form = NULL;
    bool in_time = true;

    if (plant >= PLANTS &&
        !(form = stall_form_create(plant - PLANTS - stall_num_stories, chain_cpu, rng, limit_ns, why, 100)))
        return -ENOTSUP;
    memset(sh, 0, sizeof(*sh));
    memset(w, 0, sizeof(*w));
    if (plant == LIVE_STACK || plant == LIVE_STACK_BUSY)
        return live_stack(plant == LIVE_STACK_BUSY, w, &run, why);
    if (plant == LIVE_DEVICE)
        live_device(rng, w, &run, limit_ns);
    else
        in_time = live_processes(plant, form, rng, w, &run, limit_ns);
    w->submit_ns = sh->submit_ns;
    w->timeout_ns = sh->timeout_ns;
    if (sh->completed_ns && sh->completed_ns < sh->timeout_ns)
        w->completed_ns = sh->completed_ns;
    if (atomic_load(&sh->executor) == -1) {
        snprintf(why, 100, "the device did not start in time");
        return -ENOTSUP;
    }
    if (!in_time) {
        snprintf(why, 100, "it came too late: this machine is busy");
        return -EAGAIN;
    }
    return sh->timeout_ns ? 0 : -EIO;
}

/* A machine of n CPUs that ticks along from T0 on: each CPU wakes every few ms; CPU 0 runs the waiter, CPU 1
 * the executor. `quiet` CPUs are left out from `from` to `to`. */
static void tick_along(struct synth *s, struct rng *rng, uint64_t end, const bool *quiet, uint64_t from,
                       uint64_t to)
{
    for (uint32_t cpu = 0; cpu < s->num_cpus; cpu++) {
        uint64_t t = T0 + rng_below(rng, MS);
        int32_t tid = cpu == 0 ? 100 : cpu == 1 ? 101 : 1000 + (int32_t)cpu;
        bool waits = false; /* the executor, for the device, from the submission on */
        synth_event(s, cpu, t, 1, CPU_EV_SWITCH, 1, 1, (uint64_t)tid);
        for (;;) {
            uint32_t state = (uint32_t)(1 + rng_below(rng, 3));
            uint64_t run = 100 * US + rng_below(rng, 2 * MS), sleep = 200 * US + rng_below(rng, 8 * MS);
            if (t + run + sleep + MS >= end)
                break;
            if (quiet && quiet[cpu] && t + run + sleep + MS >= from && t < to) {
                t = to;
                continue;
            }
            if (cpu == 1 && !waits && t >= T0 + 100 * MS) {
                synth_event(s, cpu, t + US, tid, CPU_EV_FENCE_WAIT_START, 1, 7, 0);
                waits = true;
            }
            synth_event(s, cpu, t + run, tid, CPU_EV_SWITCH, (uint64_t)tid, 1, 0);
            synth_idle(s, cpu, t + run + 2 * US, state);
            t += run + sleep;
            synth_event(s, cpu, t, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
            synth_event(s, cpu, t + US, 0, CPU_EV_WAKEUP, (uint64_t)tid, cpu, 0);
            synth_wake(s, cpu, t + 2 * US);
            synth_event(s, cpu, t + 5 * US, 0, CPU_EV_SWITCH, 0, 0, (uint64_t)tid);
            t += 5 * US;
        }
    }
}

/* The crash of reference 3: CPU 10 asks all 23 others to flush, 20 of them never answer, three do; all 23 are
 * in deep idle, having stopped at nearly the same time, and CPU 10 spins. */
static void reference_crash(struct synth *s, struct rng *rng, uint64_t from, uint64_t end)
{
    const uint32_t odd = 10, talkers[3] = {2, 3, 11};
    const uint64_t ask = from + MS;

    for (uint32_t i = 0; i < 24; i++) {
        const bool answers = i == talkers[0] || i == talkers[1] || i == talkers[2];
        if (i == odd)
            continue;
        synth_idle(s, i, from + rng_below(rng, 300 * US), 2 + (uint32_t)rng_below(rng, 2));
        if (answers) {
            synth_event(s, i, ask + 50 * US, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_CALL_SINGLE, 251, 0);
            synth_wake(s, i, ask + 52 * US);
            synth_idle(s, i, ask + 60 * US, 2);
        }
    }
    for (uint32_t i = 0; i < 24; i++)
        if (i != odd)
            synth_event(s, odd, ask + i, 4, CPU_EV_IPI_SEND, i, 0xffffffff81071000, 0xffffffff81071200);
    for (uint64_t t = from + 2 * MS; t < end; t += 4 * MS)
        synth_event(s, odd, t, 4, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
}

static void made(enum plant plant, struct rng *rng, struct cpu_window *w)
{
    const uint64_t submit = T0 + 100 * MS, timeout = submit + (100 + rng_below(rng, 2000)) * MS,
                   end = timeout + 200 * MS;
    const uint32_t num = plant == MADE_REFERENCE ? 24
                         : plant == MADE_IPI     ? 8 + (uint32_t)rng_below(rng, 24)
                                                 : 2 + (uint32_t)rng_below(rng, 6);
    const uint64_t from = submit + MS, to = timeout + 100 * MS;
    const uint32_t odd = plant == MADE_IPI ? (uint32_t)rng_below(rng, num) : 1;
    bool quiet[64] = {false};
    struct synth s;

    synth_init(&s, num, 4, T0);
    *w = (struct cpu_window){.submit_ns = submit,
                             .timeout_ns = timeout,
                             .num_threads = 2,
                             .threads = {{CPU_ROLE_WAITER, 100, 0}, {CPU_ROLE_EXECUTOR, 101, 1}}};
    for (uint32_t i = 0; i < num; i++)
        quiet[i] = plant == MADE_IPI ? i != odd : (plant == MADE_ASLEEP || plant == MADE_TIMER) && i == odd;
    if (plant == MADE_REFERENCE || plant == MADE_IPI || plant == MADE_ASLEEP || plant == MADE_TIMER)
        tick_along(&s, rng, from, NULL, 0, 0);
    if (plant == MADE_REFERENCE) {
        w->num_threads = 0;
        reference_crash(&s, rng, from, end);
    } else if (plant == MADE_IPI) {
        w->num_threads = 0;
        for (uint32_t i = 0; i < num; i++)
            if (quiet[i])
                synth_idle(&s, i, from + rng_below(rng, 300 * US), 3);
        for (uint32_t i = 0, n = 0; i < num; i++)
            if (quiet[i] && n++ < num - 4)
                synth_event(&s, odd, from + MS + i, 4, CPU_EV_IPI_SEND, i, 0xffffffff81071000,
                            0xffffffff81071200);
        for (uint64_t t = from + 2 * MS; t < end; t += 4 * MS)
            synth_event(&s, odd, t, 4, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
    } else if (plant == MADE_ASLEEP || plant == MADE_TIMER) {
        const uint64_t due = from + 20 * MS;
        if (plant == MADE_ASLEEP)
            w->threads[1] = (struct cpu_window_thread){CPU_ROLE_IRQ, -1, 1};
        if (plant == MADE_ASLEEP)
            w->completed_ns = due;
        if (plant == MADE_TIMER)
            synth_event(&s, 1, from, 101, CPU_EV_TIMER_START, due, 0, 0xabc0);
        synth_idle(&s, 1, from + 1, (uint32_t)(1 + rng_below(rng, 3)));
        for (uint32_t i = 0; i < num; i++)
            for (uint64_t t = from + 2 * MS + i; i != 1 && t < end; t += 8 * MS)
                synth_event(&s, i, t, i ? 1000 + (int32_t)i : 100, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
        if (plant == MADE_TIMER)
            synth_event(&s, 1, timeout - MS, 0, CPU_EV_TIMER_EXPIRE, due, 0, 0xabc0);
        synth_wake(&s, 1, plant == MADE_TIMER ? timeout - MS + 10 * US : to);
    } else {
        tick_along(&s, rng, end, NULL, 0, 0);
    }
    if (plant == MADE_STEAL) {
        s.steal_cpu = (uint32_t)rng_below(rng, 2);
        s.steal_from_ns = submit;
        s.steal_to_ns = submit + (timeout - submit) * (60 + rng_below(rng, 40)) / 100;
    }
    if (plant == MADE_BLIND)
        s.after.cpus[rng_below(rng, 2)].states[1].usage = 300 + rng_below(rng, 100000);
    s.no_end = plant == MADE_UNCHECKED;
    synth_write(&s, path);
    synth_finish(&s);
}

/* Live runs need root, tracefs and a CPU that the trace shows. */
static void find_chain_cpu(char *why, size_t cap)
{
    struct cpu_record_run run = {.path = path, .duration_ns = 150 * MS};
    struct cpu_trace t;
    struct error e = {0};

    if (cpu_record_run(&run, &e) || cpu_trace_open(&t, path, &e)) {
        snprintf(why, cap, "%s", e.text);
        return;
    }
    for (uint32_t i = 0; t.has_coverage && i < t.coverage.num_cpus && chain_cpu < 0; i++)
        if (t.coverage.cpus[i].checked && !t.coverage.cpus[i].blind)
            chain_cpu = (int)i;
    other_cpu = chain_cpu == 0 && t.num_cpus > 1 ? 1 : 0;
    if (chain_cpu < 0)
        snprintf(why, cap, "the trace shows no CPU's idle states here");
    cpu_trace_close(&t);
}

struct tally {
    uint32_t runs, right, wrong[CPU_VERDICT_COUNT], certain, rightly_certain, wrongly_certain, reasons;
    char example[300], why[100]; /* why: it cannot be planted here */
};

static int one_run(uint32_t plant, uint64_t seed, struct tally *t, bool verbose)
{
    const struct plant_kind *kind = kind_of(plant);
    struct rng rng = {seed};
    struct cpu_window w;
    struct cpu_verdict v;
    struct cpu_trace trace;
    struct error e = {0};
    bool right;
    int r = 0;

    if (is_live(plant))
        for (int tries = 0; tries < 5 && (!tries || r == -EAGAIN); tries++)
            r = live(plant, &rng, &w, t->why);
    else if (plant < PLANTS)
        made((enum plant)plant, &rng, &w);
    else
        stall_story(plant - PLANTS, &rng, path, &w);
    if (r)
        return r == -ENOTSUP || r == -EAGAIN ? 0 : r;
    if (cpu_trace_open(&trace, path, &e) || cpu_verdict_make(&v, &trace, &w, 0, &e)) {
        fprintf(stderr, "stall_verdicts: %s\n", e.text);
        return -EIO;
    }
    cpu_trace_close(&trace);
    right = v.kind == kind->expected || (kind->or_unknown && v.kind == CPU_VERDICT_UNKNOWN);
    t->runs++;
    t->certain += v.certainty == CPU_CERTAIN;
    if (right) {
        t->right++;
        t->rightly_certain += v.certainty == CPU_CERTAIN;
        t->reasons += !kind->reason || !strcmp(v.reason, kind->reason);
        if (!t->example[0])
            snprintf(t->example, sizeof(t->example), "%s",
                     v.num_lines ? v.lines[v.num_lines > 1 && !strstr(v.lines[0], "did not answer")] : "");
    } else {
        t->wrong[v.kind]++;
        t->wrongly_certain += v.certainty == CPU_CERTAIN;
    }
    if (verbose || !right || !v.num_lines) {
        struct strbuf o = {0};
        cpu_verdict_text(&v, &o);
        fprintf(stderr, "seed %llu, %s:\n%s", (unsigned long long)seed, kind->what, strbuf_str(&o));
        strbuf_finish(&o);
    }
    return v.num_lines ? 0 : -EIO;
}

static void print_table(const struct tally *t, uint32_t kinds)
{
    printf("%-50s %5s %-16s %6s %7s %7s  %s\n", "planted", "runs", "expected", "right", "reason", "certain",
           "else");
    for (uint32_t p = 0; p < kinds; p++) {
        const struct plant_kind *k = kind_of(p);
        printf("%-50s %5u %-16s %6u %7u %7u ", k->what, t[p].runs, cpu_verdict_name(k->expected), t[p].right,
               t[p].reasons, t[p].certain);
        for (int i = 0; i < CPU_VERDICT_COUNT; i++)
            if (t[p].wrong[i])
                printf(" %s %u", cpu_verdict_name((enum cpu_verdict_kind)i), t[p].wrong[i]);
        if (!t[p].runs && t[p].why[0])
            printf(" %s", t[p].why);
        printf(t[p].example[0] ? "\n    %s\n" : "%s\n", t[p].example);
    }
}

/* Live plants depend on how busy this machine is: here they only must not be called a hung GPU. */
static void print_tap(const struct tally *t, uint32_t kinds, uint32_t hung, const char *why)
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < kinds; p++) {
        const struct plant_kind *k = kind_of(p);
        const bool ok = is_live(p) ? k->expected == CPU_VERDICT_GPU_HUNG || !t[p].wrong[CPU_VERDICT_GPU_HUNG]
                                   : t[p].right == t[p].runs;
        if (is_left_out(p))
            continue;
        if (!t[p].runs)
            printf("ok %u - %s # SKIP %s\n", ++n, k->what, t[p].why[0] ? t[p].why : why);
        else
            printf("%s %u - %s\n", ok ? "ok" : "not ok", ++n, k->what);
    }
    printf("%s %u - never wrongly GPU-HUNG\n1..%u\n", hung ? "not ok" : "ok", n + 1, n + 1);
}

/* However a run ends, but for SIGKILL: children leave it alone. */
static void leave_nothing(void)
{
    if (getpid() != owner)
        return;
    unlink(path);
    rmdir(dir);
}

static void broken_off(int number)
{
    leave_nothing();
    signal(number, SIG_DFL); /* it dies of it all the same: a child's death is evidence */
    raise(number);
}

int main(int argc, char **argv)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    const uint32_t kinds = PLANTS + stall_num_stories + stall_num_forms();
    struct tally *tally = calloc(kinds, sizeof(*tally));
    uint64_t seed = 1, runs = 0; /* 0: one of each kind */
    uint32_t done = 0, right = 0, hung = 0, certain = 0, only = UINT32_MAX;
    uint32_t live_kinds = 0, live_done = 0, live_right = 0, can = 0, sure = 0;
    bool tap = false, verbose = false;
    char why[300] = "";

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--runs") && i + 1 < argc)
            runs = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--plant") && i + 1 < argc)
            only = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--tap"))
            tap = quick = true;
        else if (!strcmp(argv[i], "--verbose"))
            verbose = true;
        else
            return fprintf(stderr,
                           "usage: stall_verdicts [--runs N] [--seed S] [--plant P] [--tap] [--verbose]\n"),
                   2;
    }
    if (!mkdtemp(dir))
        return 4;
    snprintf(path, sizeof(path), "%s/stall.cputrace", dir);
    owner = getpid();
    atexit(leave_nothing);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        signal(ends[i], broken_off);
    sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    find_chain_cpu(why, sizeof(why));
    if (chain_cpu >= 0)
        real_time(60); /* the stall must begin before the work is done */
    for (uint64_t i = 0; i < (runs ? runs : kinds); i++) {
        const uint32_t p = only < kinds ? only : (uint32_t)(i % kinds);
        if ((is_live(p) && chain_cpu < 0) || is_left_out(p))
            continue;
        if (one_run(p, seed * 1000003 + i, &tally[p], verbose))
            return 1;
    }
    for (uint32_t p = 0; p < kinds; p++) {
        live_kinds += is_live(p) && tally[p].runs;
        live_done += is_live(p) ? tally[p].runs : 0;
        live_right += is_live(p) ? tally[p].right : 0;
        done += tally[p].runs;
        right += tally[p].right;
        certain += tally[p].wrongly_certain;
        can += kind_of(p)->expected != CPU_VERDICT_UNKNOWN ? tally[p].runs : 0;
        sure += tally[p].rightly_certain;
        hung += kind_of(p)->expected != CPU_VERDICT_GPU_HUNG ? tally[p].wrong[CPU_VERDICT_GPU_HUNG] : 0;
    }
    if (tap) {
        print_tap(tally, kinds, hung, why);
    } else {
        print_table(tally, kinds);
        if (chain_cpu < 0)
            printf("live plants did not run: %s\n", why);
        printf("live: %u kinds, %u runs, %u right\n", live_kinds, live_done, live_right);
        printf("%u kinds, %u runs, %u right, %u wrongly GPU-HUNG, %u wrong with certainty\n", kinds, done,
               right, hung, certain);
        printf("right with certainty: %u of %u that are not to be UNKNOWN (%.1f %%)\n", sure, can,
               can ? 100.0 * sure / can : 0);
    }
    free(tally);
    return tap ? 0 : right == done ? 0 : 1;
}
