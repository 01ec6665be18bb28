/* SPDX-License-Identifier: MIT */
#include "stall_plants.h"

#include "synth.h"

enum { WAITER = 100, EXECUTOR = 101, SUBMITTER = 102, TWIN = 103, HOG = 900 };
enum { RUNS = 0, SLEEPS = 1, BLOCKED = 2, STOPPED = 4, TRACED = 8, DEAD = 0x20 };
/* Told from the kernel's bits: it yields whenever it has the processor; it becomes another program. */
enum { YIELDS = 0x10000, BECOMES = 0x20000 };

/* The executor is at the device (or not) but for a part of the wait, in which it is out in a state. Parts are of the wait. */
struct story {
    bool device;     /* it waits for a fence whenever it sleeps */
    bool runs;       /* it does not sleep at all but for what `out` says */
    uint32_t out;    /* state bits of what happens to it */
    double from, to; /* when; both 0: never */
    double completed, due;
    const char *tasks; /* what a look at the threads shows */
    enum { ALL, NO_EXECUTOR, WITH_SUBMITTER, WITH_IRQ } chain;
    bool waiter_out;           /* it happens to the waiter, not to the executor */
    bool progress;             /* fences are signalled */
    uint32_t fence, signalled; /* whose the fences are that it waits for; that are signalled (synth.h) */
    uint64_t wait_ms;          /* 0: by chance */
    double tasks_to;           /* part of the wait in which it was looked at so; 0: all */
    double stolen;             /* part that the host takes from `stolen_cpu` */
    double ipi;                /* part for which an IPI to CPU 0 is not answered */
    uint32_t stolen_cpu;
    bool twin;       /* another thread of the executor, on CPU 2, runs all the time */
    bool reborn;     /* before the submission its number was another thread's, which died */
    bool lives_on;   /* its process has a thread that the window does not name */
    bool unrecorded; /* who was whose is not in the recording */
    bool
        strays; /* instead of a CPU that takes the interrupt, one at which a thread of the window was for a moment */
    int32_t unseen; /* the window's thread of this number is not in the trace */
    uint32_t again; /* state bits of a second thing that happens, from `to` to `again_to` */
    double again_to;
    uint32_t times; /* it is out so often, and back for a third of the time; 0, 1: once, for all of it */
    bool blind;     /* interrupts of the CPU that is asked were lost to the recording */
};

static const struct story stories[] = {
    {.device = true},
    {.runs = true},
    {.device = true, .chain = WITH_SUBMITTER},
    {.device = true, .chain = WITH_IRQ},
    {.runs = true, .out = RUNS, .from = .05, .to = .95, .waiter_out = true},
    {.runs = true, .out = RUNS, .from = .2, .to = .45},
    {.runs = true, .out = RUNS, .from = .1, .to = .69},
    {.runs = true, .out = RUNS, .from = .1, .to = .71},
    {.device = true, .wait_ms = 60},
    {.device = true, .chain = NO_EXECUTOR},
    {.device = false},
    {.out = SLEEPS, .from = .02, .to = 1.1, .tasks = "[[101, \"S\", \"poll\", \"do_sys_poll\", \"\", 0]]"},
    {.out = DEAD, .from = .3, .to = 9},
    {.out = STOPPED, .from = .1, .to = .9},
    {.out = TRACED, .from = .1, .to = .9},
    {.out = SLEEPS, .from = .02, .to = 1.1, .tasks = "[[101, \"S\", \"\", \"do_freezer_trap\", \"\", 0]]"},
    {.out = BLOCKED, .from = .02, .to = 1.1, .tasks = "[[101, \"D\", \"\", \"__refrigerator\", \"\", 0]]"},
    {.out = BLOCKED, .from = .1, .to = .9},
    {.out = BLOCKED,
     .from = .05,
     .to = .95,
     .tasks = "[[101, \"D\", \"fsync\", \"folio_wait_bit_common\", \"\", 0]]"},
    {.out = BLOCKED,
     .from = .02,
     .to = 1.1,
     .tasks = "[[101, \"D\", \"ioctl\", \"dma_fence_default_wait\", \"/dev/dri/card0 (amdgpu)\", 0]]"},
    {.out = SLEEPS,
     .from = .02,
     .to = 1.1,
     .tasks = "[[101, \"S\", \"futex\", \"futex_wait_queue\", \"mutex 0x1000\", 1001]]"},
    {.out = SLEEPS,
     .from = .02,
     .to = 1.1,
     .tasks =
         "[[101, \"S\", \"futex\", \"0\", \"mutex 0x1000\", 555], [555, \"S\", \"futex\", \"0\", \"mutex 0x2000\", 101]]"},
    {.out = SLEEPS,
     .from = .02,
     .to = 1.1,
     .tasks = "[[101, \"S\", \"fcntl\", \"fcntl_setlk\", \"/tmp/x\", 0]]"},
    {.out = SLEEPS, .from = .02, .to = 1.1, .tasks = "[[101, \"S\", \"futex\", \"0\", \"futex 0x1000\", 0]]"},
    {.device = true, .completed = .3},
    {.device = true, .completed = .97},
    {.device = true, .completed = 1.2},
    {.device = true, .completed = .7, .due = .5},
    {.device = true, .progress = true},
    {.device = true, .completed = .2, .out = RUNS, .from = .15, .to = .99, .waiter_out = true},
    {.device = true, .completed = .2, .out = STOPPED, .from = .15, .to = 1.2, .waiter_out = true},
    {.device = true, .completed = .97, .out = STOPPED, .from = .05, .to = .9},
    {.device = true, .out = TRACED, .from = .2, .to = .5},
    {.runs = true, .out = BLOCKED, .from = .1, .to = .55},
    {.device = true, .out = STOPPED, .from = .05, .to = .95, .waiter_out = true},
    {.device = true, .out = DEAD, .from = .5, .to = 9, .waiter_out = true},
    {.device = true, .stolen = .3, .stolen_cpu = 1},
    {.runs = true, .stolen = .95, .stolen_cpu = 1},
    {.device = true, .ipi = .6},
    {.device = true, .ipi = .15},
    {.device = true, .completed = 1},
    {.device = true, .due = 1.5},
    {.device = true, .out = DEAD, .from = .95, .to = 9},
    {.out = SLEEPS,
     .from = .02,
     .to = 1.1,
     .tasks =
         "[[101, \"S\", \"futex\", \"0\", \"mutex 0x1000\", 100], [100, \"S\", \"futex\", \"0\", \"mutex 0x2000\", 101]]"},
    {.out = SLEEPS,
     .from = .02,
     .to = 1.1,
     .tasks = "[[101, \"S\", \"futex\", \"0\", \"mutex 0x1000\", 4242]]"},
    {.device = true,
     .completed = .3,
     .progress = true,
     .out = BLOCKED,
     .from = .25,
     .to = 1.2,
     .waiter_out = true},
    {.twin = true, .runs = true, .out = STOPPED, .from = .1, .to = .9},
    {.twin = true, .runs = true, .out = TRACED, .from = .3, .to = .5},
    {.twin = true, .runs = true, .out = RUNS, .from = .1, .to = .9},
    {.twin = true, .runs = true, .out = DEAD, .from = .3, .to = 9},
    {.runs = true, .reborn = true, .out = DEAD},
    {.runs = true, .out = DEAD, .from = .3, .to = .35},
    {.runs = true, .out = RUNS, .from = .02, .to = .68, .again = STOPPED, .again_to = 1.1},
    {.runs = true, .out = STOPPED, .from = .02, .to = .68, .again = RUNS, .again_to = 1.1},
    {.out = SLEEPS,
     .from = .02,
     .to = 1.1,
     .tasks = "[[101, \"S\", \"read\", \"0\", \"/tmp/dev/dri/card0\", 0]]"},
    {.out = SLEEPS, .from = .02, .to = 1.1, .tasks = "[[101, \"S\", \"\", \"sockfd_wait\", \"\", 0]]"},
    {.out = BLOCKED,
     .from = .02,
     .to = 1.1,
     .tasks = "[[101, \"D\", \"ioctl\", \"drm_modeset_lock\", \"\", 0]]"},
    {.out = SLEEPS,
     .from = .02,
     .to = 1.1,
     .tasks =
         "[[101, \"S\", \"futex\", \"0\", \"mutex 0x1000\", 555], [555, \"S\", \"ioctl\", \"dma_fence_wait\", \"\", 0]]"},
    {.out = RUNS, .from = .02, .to = .68, .again = SLEEPS, .again_to = 1.1},
    {.runs = false, .tasks = "[[101, \"S\", \"futex\", \"0\", \"mutex 0x1000\", 555]]", .tasks_to = .3},
    {.out = BLOCKED,
     .from = .02,
     .to = 1.1,
     .tasks =
         "[[101, \"D\", \"fsync\", \"folio_wait_bit_common\", \"\", 0], [103, \"S\", \"futex\", \"0\", \"mutex 0x1000\", 101]]"},
    {.device = true, .fence = SYNTH_FENCE_OTHER},
    {.device = true, .fence = SYNTH_FENCE_DISPLAY},
    {.device = true, .fence = SYNTH_FENCE_MANY},
    {.device = true, .fence = SYNTH_FENCE_SECOND},
    {.device = true, .progress = true, .signalled = SYNTH_FENCE_OTHER},
    {.device = true, .progress = true, .signalled = SYNTH_FENCE_MANY},
    {.out = BLOCKED,
     .from = .02,
     .to = 1.1,
     .tasks = "[[101, \"D\", \"ioctl\", \"dma_fence_default_wait\", \"/dev/dri/card1 (vgem)\", 0]]"},
    {.out = SLEEPS,
     .from = .02,
     .to = 1.1,
     .tasks = "[[101, \"S\", \"poll\", \"dma_fence_wait_any_timeout\", \"\", 0]]"},
    {.out = SLEEPS,
     .from = .02,
     .to = 1.1,
     .tasks = "[[101, \"S\", \"futex\", \"futex_wait_queue\", \"mutex 0x1000\", 1001]]",
     .twin = true},
    {.device = true, .out = DEAD, .from = .3, .to = 9, .lives_on = true},
    {.device = true, .out = DEAD, .from = .3, .to = 9, .unrecorded = true},
    {.device = true, .out = BECOMES, .from = .3, .to = 9},
    {.runs = true, .out = YIELDS, .from = .02, .to = 1.1},
    {.device = true, .completed = .2, .out = SLEEPS, .from = .15, .to = 1.1, .waiter_out = true},
    {.device = true, .completed = .2, .out = SLEEPS, .from = .22, .to = 1.1, .waiter_out = true},
    {.device = true, .completed = .2, .out = STOPPED, .from = .3, .to = 1.1, .waiter_out = true},
    {.device = true, .completed = .2, .unseen = WAITER},
    {.device = true, .completed = 1.2, .unseen = EXECUTOR},
    {.completed = 1.2},
    {.runs = true, .completed = 1.2},
    {.device = true, .ipi = .6, .chain = WITH_SUBMITTER, .strays = true},
    {.device = true, .ipi = .6, .blind = true},
    {.device = true, .stolen = .95, .stolen_cpu = 2},
    {.runs = true, .out = STOPPED, .from = .02, .to = .99, .times = 2},
    {.runs = true, .out = STOPPED, .from = .02, .to = .99, .times = 3},
};

const struct plant_kind stall_stories[] = {
    {"made up: the executor waits on its fence", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: the executor runs a shader all the time", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: who submitted sleeps, its part is over", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: a hung GPU lets its interrupt's CPU sleep", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: a busy machine, the shader had its time", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: the executor starved for 25 %", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: the executor starved for 59 %", CPU_VERDICT_CPU_STARVED, "preempted or throttled"},
    {"made up: the executor starved for 61 %", CPU_VERDICT_CPU_STARVED, "preempted or throttled"},
    {"made up: a wait of 60 ms", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: no executor is named", CPU_VERDICT_UNKNOWN, "no executor is named"},
    {"made up: the executor sleeps now and then", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: the executor waits for input", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: the executor died", CPU_VERDICT_EXECUTOR_DIED, NULL},
    {"made up: the executor stopped by a signal", CPU_VERDICT_FROZEN, "stopped by a signal"},
    {"made up: the executor held by a debugger", CPU_VERDICT_FROZEN, "held by a debugger"},
    {"made up: frozen by cgroup v2", CPU_VERDICT_FROZEN, "frozen by its control group"},
    {"made up: frozen by cgroup v1", CPU_VERDICT_FROZEN, "frozen by its control group"},
    {"made up: blocked, nobody looked on what", CPU_VERDICT_BLOCKED_ON_IO, NULL},
    {"made up: blocked on a disk", CPU_VERDICT_BLOCKED_ON_IO, NULL},
    {"made up: blocked in the GPU's driver", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: a mutex that a busy thread holds", CPU_VERDICT_LOCKED, NULL},
    {"made up: a deadlock", CPU_VERDICT_LOCKED, "a deadlock"},
    {"made up: a lock on a file", CPU_VERDICT_LOCKED, NULL},
    {"made up: a helper waits for work", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: done, and nobody looked", CPU_VERDICT_WAITER_LATE, NULL},
    {"made up: done just before the time-out", CPU_VERDICT_GPU_SLOW, NULL},
    {"made up: done after the time-out", CPU_VERDICT_GPU_SLOW, NULL},
    {"made up: the watchdog looked late", CPU_VERDICT_WATCHDOG_LATE, NULL},
    {"made up: fences are signalled all the time", CPU_VERDICT_GPU_SLOW, "it made progress"},
    {"made up: done, the waiter starved", CPU_VERDICT_CPU_STARVED, NULL},
    {"made up: done, the waiter stopped", CPU_VERDICT_FROZEN, NULL},
    {"made up: stopped for most of it, and done then", CPU_VERDICT_FROZEN, "stopped by a signal"},
    {"made up: held by a debugger for 30 %", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: blocked for 45 %, and then it runs", CPU_VERDICT_BLOCKED_ON_IO, NULL},
    {"made up: hung, and the waiter was stopped", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: hung, and the waiter died", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: the host took 30 % of the executor's CPU", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: the host took 95 % of the executor's CPU", CPU_VERDICT_HOST_STOLE_TIME, NULL},
    {"made up: an IPI was not answered for 60 %", CPU_VERDICT_IPI_STALL, NULL},
    {"made up: an IPI was not answered for 15 %", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: done at the moment of the time-out", CPU_VERDICT_GPU_SLOW, NULL},
    {"made up: the time-out came too early", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: at the device, and dead at the end", CPU_VERDICT_EXECUTOR_DIED, NULL},
    {"made up: the executor and the waiter lock each other out", CPU_VERDICT_LOCKED, "a deadlock"},
    {"made up: a mutex of a thread that nobody saw", CPU_VERDICT_LOCKED, NULL},
    {"made up: done, the waiter blocked", CPU_VERDICT_BLOCKED_ON_IO, NULL},
    {"made up: a thread spins, its twin is stopped", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: a thread spins, its twin is traced for 20 %", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: a thread spins, its twin starves", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: one executor ends, another goes on", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: its number was a dead thread's before", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: dead, and its number is another's", CPU_VERDICT_EXECUTOR_DIED, NULL},
    {"made up: starved, and stopped then", CPU_VERDICT_CPU_STARVED, NULL},
    {"made up: stopped, and starved then", CPU_VERDICT_FROZEN, NULL},
    {"made up: a file named as a GPU's", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: a function named nearly as a GPU's", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: a lock of the GPU's driver", CPU_VERDICT_BLOCKED_ON_IO, NULL},
    {"made up: who has the lock waits for the GPU", CPU_VERDICT_LOCKED, NULL},
    {"made up: starved, and asleep then, for whatever", CPU_VERDICT_CPU_STARVED, NULL},
    {"made up: a lock in some of many sleeps", CPU_VERDICT_LOCKED, NULL},
    {"made up: IO in a lock that a thread wants", CPU_VERDICT_BLOCKED_ON_IO, NULL},
    {"made up: it waits for another driver's fence", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: it waits for a display's fence", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: it waits for fences of anybody", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: it waits for a second GPU's fence only", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: another driver's fences are signalled", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: fences of anybody are signalled", CPU_VERDICT_GPU_SLOW, "it made progress"},
    {"made up: blocked in another driver's fence", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: it polls a fence, nobody knows whose", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: a thread of it runs, another waits for a lock", CPU_VERDICT_UNKNOWN, NULL},
    {"made up: a thread of it ended, its process did not", CPU_VERDICT_UNKNOWN,
     "a thread ended, its process lived on"},
    {"made up: it ended, nobody knows what else there was", CPU_VERDICT_EXECUTOR_DIED, NULL},
    {"made up: it became another program", CPU_VERDICT_EXECUTOR_DIED, "it became another program"},
    {"made up: it polls and yields to who works", CPU_VERDICT_CPU_STARVED,
     "it gave its processor back, others ran"},
    {"made up: done, who waits slept all the time", CPU_VERDICT_WAITER_LATE, NULL},
    {"made up: done, who waits took it and slept then", CPU_VERDICT_UNKNOWN,
     "who waits ran when the work was done"},
    {"made up: done, who waits ran, was stopped then", CPU_VERDICT_FROZEN, NULL},
    {"made up: done, who waits was never seen", CPU_VERDICT_UNKNOWN, "who waits was not seen"},
    {"made up: done late by whom nobody saw", CPU_VERDICT_GPU_SLOW, NULL},
    {"made up: done late, after sleep on whatever", CPU_VERDICT_GPU_SLOW, NULL},
    {"made up: done late, it ran all the time", CPU_VERDICT_GPU_SLOW, NULL},
    {"made up: an IPI waits where a thread was once", CPU_VERDICT_IPI_STALL, NULL},
    {"made up: hung, and an answer was not recorded", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: hung, the host took a CPU of others", CPU_VERDICT_GPU_HUNG, NULL},
    {"made up: stopped twice", CPU_VERDICT_FROZEN, "stopped by a signal"},
    {"made up: stopped again and again", CPU_VERDICT_CPU_STARVED, "throttled by stop signals"},
};
/* The two that could be why, or what was seen too seldom: whichever it is called, that is not certain. */
const char *const stall_doubtful[] = {"made up: starved, and stopped then",
                                      "made up: stopped, and starved then",
                                      "made up: a lock of the GPU's driver",
                                      "made up: who has the lock waits for the GPU",
                                      "made up: a lock in some of many sleeps",
                                      "made up: starved, and asleep then, for whatever",
                                      "made up: the executor runs a shader all the time", /* or a loop */
                                      "made up: it ended, nobody knows what else there was",
                                      "made up: it became another program",
                                      "made up: it polls and yields to who works",
                                      "made up: done, and nobody looked", /* it ran again and again */
                                      "made up: done, who waits ran, was stopped then",
                                      "made up: done late by whom nobody saw",
                                      "made up: done late, after sleep on whatever",
                                      "made up: done late, it ran all the time",
                                      "made up: an IPI waits where a thread was once",
                                      "made up: stopped twice",
                                      "made up: stopped again and again",
                                      NULL};
/* A tool that always hedges is useless as well. */
const char *const stall_proven[] = {"made up: the executor waits on its fence",
                                    "made up: blocked in the GPU's driver",
                                    "made up: done just before the time-out",
                                    "made up: done after the time-out",
                                    "made up: an IPI was not answered for 60 %",
                                    "made up: the executor died",
                                    "made up: done, who waits slept all the time",
                                    "made up: done, the waiter stopped",
                                    "made up: IO in a lock that a thread wants",
                                    "made up: dead, and its number is another's",
                                    "made up: hung, and an answer was not recorded",
                                    "made up: hung, the host took a CPU of others",
                                    NULL};
const uint32_t stall_num_stories = sizeof(stall_stories) / sizeof(stall_stories[0]);

_Static_assert(sizeof(stories) / sizeof(stories[0]) == sizeof(stall_stories) / sizeof(stall_stories[0]),
               "a row each");

struct span {
    uint64_t from, to, again_to;
};

/* It has the processor for a moment, and gives it to who works, who has it for long: no interrupt came meanwhile. */
static uint64_t yield(struct synth *s, uint32_t cpu, uint64_t t, int32_t tid)
{
    const uint64_t hog = HOG + cpu;

    synth_event(s, cpu, t + 10 * US, tid, CPU_EV_SWITCH, (uint64_t)tid, RUNS, hog);
    synth_event(s, cpu, t + 2 * MS, (int32_t)hog, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
    synth_event(s, cpu, t + 2 * MS + 5 * US, (int32_t)hog, CPU_EV_SWITCH, hog, RUNS, (uint64_t)tid);
    return t + 2 * MS + 5 * US;
}

/* To and from what happens: `tid` ends, becomes another program, or its number is given out again. */
static void change_fate(struct synth *s, uint32_t cpu, uint64_t t, int32_t now, int32_t tid, bool is_out,
                        uint32_t left)
{
    if (left == DEAD && is_out)
        synth_event(s, cpu, t, now, CPU_EV_EXIT, (uint64_t)now, 0, 0);
    else if (left == BECOMES && is_out)
        synth_event(s, cpu, t, now, CPU_EV_EXEC, (uint64_t)now, (uint64_t)now, 0);
    else if (left == DEAD) {
        synth_event(s, cpu, t, now, CPU_EV_TASK, (uint64_t)tid, 0, 0);
        synth_event(s, cpu, t, now, CPU_EV_FORK, (uint64_t)now, (uint64_t)tid, 0);
    }
}

/* Whether the story has it out now, between `from` and `to`. */
static bool is_its_turn(const struct story *x, struct span out, uint64_t t)
{
    return x->times < 2 || t < out.from || (t - out.from) * 3 * x->times / (out.to - out.from) % 3 < 2;
}

/* What CPU `cpu` does from T0 to `end`: its thread runs and sleeps in turns, but within `out`, where another one does. */
static void tick(struct synth *s, struct rng *rng, uint32_t cpu, int32_t tid, const struct story *x,
                 struct span out, uint64_t fence_at, uint64_t end)
{
    uint64_t t = T0 + rng_below(rng, MS);
    const bool always = (x->runs && tid == EXECUTOR) || tid == TWIN,
               hit = (tid == WAITER) == x->waiter_out && tid <= EXECUTOR;
    int32_t now = tid;
    bool fenced = false, second = false, became = false;

    synth_event(s, cpu, t, 1, CPU_EV_SWITCH, 1, 1, (uint64_t)tid);
    while (t + 12 * MS < end) {
        const uint64_t run = 100 * US + rng_below(rng, 2 * MS), sleep = 200 * US + rng_below(rng, 2 * MS);
        const bool is_again = hit && x->again_to > 0 && t >= out.to && t < out.again_to,
                   is_out = (hit && t + run >= out.from && t < out.to && is_its_turn(x, out, t)) || is_again;
        const uint32_t left = is_again ? x->again : x->out;
        const int32_t next = is_out && left != BECOMES ? HOG + (int32_t)cpu : tid;

        if (!is_out && t >= fence_at && !fenced && tid == EXECUTOR) {
            synth_event(s, cpu, t + US, tid, CPU_EV_FENCE_WAIT_START, 1, 7, x->fence);
            fenced = true;
        }
        if (is_again && !second) { /* it comes back for a moment, for the next thing */
            synth_event(s, cpu, t + US, now, CPU_EV_SWITCH, (uint64_t)now, 1, (uint64_t)tid);
            now = tid;
            second = true;
        }
        if (is_out && left == YIELDS) {
            t = yield(s, cpu, t + 2 * US, tid);
            continue;
        }
        if (next != now || (is_out && left == BECOMES && !became))
            change_fate(s, cpu, t + US, now, tid, is_out, left);
        became |= is_out && left == BECOMES;
        if (next != now) { /* to and from what happens */
            if (is_out && left == RUNS)
                synth_event(s, cpu, t + 2 * US, now, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
            synth_event(s, cpu, t + 2 * US, now, CPU_EV_SWITCH, (uint64_t)now, is_out ? left : 1,
                        (uint64_t)next);
            now = next;
        }
        if (always || (is_out && left == RUNS)) {
            synth_event(s, cpu, t + run, now, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
            t += run;
            continue;
        }
        synth_event(s, cpu, t + run, now, CPU_EV_SWITCH, (uint64_t)now, 1, 0);
        synth_idle(s, cpu, t + run + 2 * US, 1 + (uint32_t)rng_below(rng, 3));
        t += run + sleep;
        synth_event(s, cpu, t, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
        if (x->progress && cpu == 0 && fenced < t)
            synth_event(s, cpu, t + US / 2, 0, CPU_EV_FENCE_SIGNALED, 1, 6, x->signalled);
        synth_event(s, cpu, t + US, 0, CPU_EV_WAKEUP, (uint64_t)now, cpu, 0);
        synth_wake(s, cpu, t + 2 * US);
        synth_event(s, cpu, t + 5 * US, 0, CPU_EV_SWITCH, 0, 0, (uint64_t)now);
        t += 5 * US;
    }
}

static uint64_t at(const struct cpu_window *w, double part)
{
    return part > 0 ? w->submit_ns + (uint64_t)(part * (double)(w->timeout_ns - w->submit_ns)) : 0;
}

/* CPU 2 asks CPU 0, which does other things meanwhile; in order with what it does already. */
static void ask(struct synth *s, const struct story *x, const struct cpu_window *w, uint64_t end)
{
    const uint64_t asked = at(w, .01), answered = at(w, .01 + x->ipi);

    for (uint64_t t = T0 + MS; t < end; t += MS) {
        synth_event(s, 2, t, 1002, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
        if (x->ipi > 0 && t <= asked && t + MS > asked)
            synth_event(s, 2, asked, 1002, CPU_EV_IPI_SEND, 3, 0xffffffff81071000, 0xffffffff81071200);
        synth_event(s, 3, t, 1003, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
        if (x->strays && t <= asked && t + MS > asked) {
            synth_event(s, 3, t, 1003, CPU_EV_SWITCH, 1003, RUNS, SUBMITTER);
            synth_event(s, 3, t + 10 * US, SUBMITTER, CPU_EV_SWITCH, SUBMITTER, SLEEPS, 1003);
        }
        if (x->ipi > 0 && t <= answered && t + MS > answered)
            synth_event(s, 3, answered, 1003, CPU_EV_IRQ_ENTRY, CPU_IRQ_CALL_SINGLE, 251, 0);
    }
}

static void make_story(const struct story *x, struct rng *rng, const char *path, struct cpu_window *w)
{
    const uint64_t submit = T0 + 100 * MS, wait = x->wait_ms ? x->wait_ms : 300 + rng_below(rng, 1500);
    const uint32_t num = x->ipi > 0 ? 2 : 2 + x->twin + (uint32_t)rng_below(rng, 6);
    struct synth s;
    struct span out;
    uint64_t end;

    *w = (struct cpu_window){.submit_ns = submit,
                             .timeout_ns = submit + wait * MS,
                             .num_threads = 2,
                             .threads = {{CPU_ROLE_WAITER, WAITER, 0}, {CPU_ROLE_EXECUTOR, EXECUTOR, 1}}};
    w->completed_ns = at(w, x->completed);
    w->due_ns = at(w, x->due);
    if (x->chain == NO_EXECUTOR)
        w->num_threads = 1;
    if (x->twin)
        w->threads[w->num_threads++] = (struct cpu_window_thread){CPU_ROLE_EXECUTOR, TWIN, -1};
    if (x->chain == WITH_SUBMITTER)
        w->threads[w->num_threads++] = (struct cpu_window_thread){CPU_ROLE_SUBMIT, SUBMITTER, -1};
    if (x->chain == WITH_IRQ)
        w->threads[w->num_threads++] = (struct cpu_window_thread){CPU_ROLE_IRQ, -1, (int32_t)num};
    end = w->timeout_ns + 300 * MS;
    out = (struct span){at(w, x->from), at(w, x->to), at(w, x->again_to)};
    if (x->reborn)
        out = (struct span){T0 + 20 * MS, T0 + 40 * MS, 0};
    synth_init(&s, x->ipi > 0 ? 4 : num + (x->chain == WITH_IRQ), 4, T0);
    for (uint32_t cpu = 0; cpu < num; cpu++)
        tick(&s, rng, cpu,
             cpu == 0              ? WAITER
             : cpu == 1            ? EXECUTOR
             : cpu == 2 && x->twin ? TWIN
                                   : 1000 + (int32_t)cpu,
             x, out, x->device ? submit : UINT64_MAX, end);
    if (x->chain == WITH_IRQ) { /* a CPU with nothing to do */
        synth_event(&s, num, T0 + MS, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
        synth_idle(&s, num, T0 + 2 * MS, 3);
        for (uint64_t t = T0 + 60 * MS; t < end; t += 60 * MS)
            synth_event(&s, num, t, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
    }
    if (x->ipi > 0) { /* CPU 3 takes the interrupt: it is of the chain */
        ask(&s, x, w, end);
        if (!x->strays)
            w->threads[w->num_threads++] = (struct cpu_window_thread){CPU_ROLE_DPC, -1, 3};
    }
    for (uint32_t i = 0; i < w->num_threads; i++)
        if (x->unseen && w->threads[i].tid == x->unseen)
            w->threads[i].tid = 4444;
    if (!x->unrecorded) {
        s.owners = x->lives_on || x->twin ? "[100, 1, 101, 1, 102, 1, 103, 101]" : "[100, 1, 101, 1, 102, 1]";
        s.processes = "[100, 101, 102]";
    }
    if (x->blind) { /* by the kernel's count it took more than the recording has */
        s.before.cpus[3].has_counter[CPU_COUNTER_CAL] = s.after.cpus[3].has_counter[CPU_COUNTER_CAL] = true;
        s.after.cpus[3].counter[CPU_COUNTER_CAL] = 1000;
    }
    s.steal_cpu = x->stolen_cpu;
    s.steal_from_ns = submit;
    s.steal_to_ns = x->stolen > 0 ? at(w, x->stolen) : 0;
    s.tasks = x->tasks;
    s.tasks_from_ns = submit;
    s.tasks_to_ns = x->tasks_to > 0 ? at(w, x->tasks_to) : w->timeout_ns;
    synth_write(&s, path);
    synth_finish(&s);
}

void stall_story(uint32_t story, struct rng *rng, const char *path, struct cpu_window *w)
{
    make_story(&stories[story], rng, path, w);
}

/* ---- scales ----------------------------------------------------------------------- */

enum scale {
    STARVED_RUNNING,
    STARVED_WAITING,
    STOP,
    TRACE,
    FREEZE,
    DISK,
    LOCK,
    SLEEP,
    DEATH,
    STEAL_WAITER,
    STEAL_EXECUTOR,
    IPI,
    DONE_EARLIER,
    DONE_LATER,
    DUE_EARLIER,
    WATCHDOG,
    WAITER_STARVED,
    TIME_OUT_EARLY,
    SCALES
};

const struct stall_scale stall_scales[SCALES] = {
    [STARVED_RUNNING] = {"a running executor starves", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_CPU_STARVED},
    [STARVED_WAITING] = {"a waiting executor starves", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_CPU_STARVED},
    [STOP] = {"the executor is stopped", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_FROZEN},
    [TRACE] = {"the executor is traced", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_FROZEN},
    [FREEZE] = {"the executor is frozen", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_FROZEN},
    [DISK] = {"the executor waits for a disk", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_BLOCKED_ON_IO},
    [LOCK] = {"the executor waits for a lock", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_LOCKED},
    [SLEEP] = {"the executor sleeps", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_UNKNOWN},
    [DEATH] = {"the executor dies earlier", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_EXECUTOR_DIED},
    [STEAL_WAITER] = {"the host takes the waiter's CPU", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_HOST_STOLE_TIME},
    [STEAL_EXECUTOR] = {"the host takes the executor's CPU", CPU_VERDICT_GPU_HUNG,
                        CPU_VERDICT_HOST_STOLE_TIME},
    [IPI] = {"an IPI waits", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_IPI_STALL},
    [DONE_EARLIER] = {"done earlier, nobody looked", CPU_VERDICT_GPU_SLOW, CPU_VERDICT_WAITER_LATE},
    [DONE_LATER] = {"done later, after the time-out at last", CPU_VERDICT_WAITER_LATE, CPU_VERDICT_GPU_SLOW,
                    true},
    [DUE_EARLIER] = {"done at 60 %, the time-out was due earlier", CPU_VERDICT_WAITER_LATE,
                     CPU_VERDICT_WATCHDOG_LATE, true},
    [WATCHDOG] = {"due at 40 %, done later", CPU_VERDICT_WAITER_LATE, CPU_VERDICT_GPU_SLOW, true},
    [WAITER_STARVED] = {"done, the waiter starves", CPU_VERDICT_WAITER_LATE, CPU_VERDICT_CPU_STARVED},
    [TIME_OUT_EARLY] = {"the time-out comes before it is due", CPU_VERDICT_GPU_HUNG, CPU_VERDICT_UNKNOWN},
};
const uint32_t stall_num_scales = SCALES;

static const char disk[] = "[[101, \"D\", \"fsync\", \"folio_wait_bit_common\", \"\", 0]]",
                  lock[] = "[[101, \"S\", \"futex\", \"0\", \"mutex 0x1000\", 1001]]",
                  frozen[] = "[[101, \"S\", \"\", \"do_freezer_trap\", \"\", 0]]";

/* It is out from the beginning for `x` of the wait. */
static struct story out_for(double x, uint32_t out, const char *tasks)
{
    return (struct story){
        .runs = true, .out = out, .from = x > 0 ? .001 : 0, .to = x, .tasks = tasks, .tasks_to = x};
}

static struct story scaled(enum scale scale, double x)
{
    struct story s = {.device = true};

    switch (scale) {
    case STARVED_RUNNING:
        return out_for(x, RUNS, NULL);
    case STARVED_WAITING:
        s = out_for(x, RUNS, NULL);
        s.runs = false;
        s.device = true;
        return s;
    case STOP:
        return out_for(x, STOPPED, NULL);
    case TRACE:
        return out_for(x, TRACED, NULL);
    case FREEZE:
        return out_for(x, SLEEPS, frozen);
    case DISK:
        return out_for(x, BLOCKED, disk);
    case LOCK:
        return out_for(x, SLEEPS, lock);
    case SLEEP:
        return out_for(x, SLEEPS, NULL);
    case DEATH:
        return (struct story){.runs = true, .out = DEAD, .from = 1.01 - x, .to = 9};
    case STEAL_WAITER:
    case STEAL_EXECUTOR:
        s.stolen = x;
        s.stolen_cpu = scale == STEAL_EXECUTOR;
        s.device = scale == STEAL_WAITER;
        s.runs = scale == STEAL_EXECUTOR;
        return s;
    case IPI:
        s.ipi = x + 1e-6;
        return s;
    case DONE_EARLIER:
        s.completed = 1 - .9 * x - 1e-4;
        return s;
    case DONE_LATER:
        s.completed = .05 + 1.2 * x;
        return s;
    case DUE_EARLIER:
        s.completed = .6;
        s.due = 1 - .9 * x;
        return s;
    case WATCHDOG:
        s.due = .4;
        s.completed = .05 + x;
        return s;
    case WAITER_STARVED:
        s = (struct story){.device = true, .completed = .1, .out = RUNS, .waiter_out = true};
        s.from = x > 0 ? .1 : 0;
        s.to = .1 + x;
        return s;
    default:
        s.due = 1 + x;
        return s;
    }
}

void stall_scale(uint32_t scale, double x, struct rng *rng, const char *path, struct cpu_window *w)
{
    struct story s = scaled((enum scale)scale, x);

    s.wait_ms = 500;
    make_story(&s, rng, path, w);
}
