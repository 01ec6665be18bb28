/* SPDX-License-Identifier: MIT */
/* Live plants of the run queue: who else runs, and who may. */
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>

#include "stall_form.h"

/* ---- helpers that keep a processor ------------------------------------------- */

static void spin_along(struct stall_form *f)
{
    stall_pin(f->cpu);
    stall_ready(f);
    stall_wait_go(f);
    stall_spin(atomic_load(&f->common->until_ns));
}

static void spin_first(struct stall_form *f)
{
    setpriority(PRIO_PROCESS, 0, -20);
    spin_along(f);
}

/* `arg` percent of the time, before everybody else */
static void spin_in_bursts(struct stall_form *f)
{
    const uint64_t busy = 10 * MS * (uint64_t)f->form->arg / 100;

    stall_real_time(50);
    stall_pin(f->cpu);
    stall_ready(f);
    stall_wait_go(f);
    while (stall_now() < atomic_load(&f->common->until_ns)) {
        stall_spin(stall_now() + busy);
        if (busy < 10 * MS)
            stall_nap(10 * MS - busy);
    }
}

static bool many(struct stall_form *f, char *why, size_t cap)
{
    (void)why;
    (void)cap;
    for (int i = 0; i < 24; i++)
        stall_helper(f, "spinner", spin_along);
    return true;
}

static bool one(struct stall_form *f, char *why, size_t cap)
{
    (void)why;
    (void)cap;
    stall_helper(f, "spinner", spin_along);
    return true;
}

static bool favoured(struct stall_form *f, char *why, size_t cap)
{
    (void)why;
    (void)cap;
    for (int i = 0; i < 3; i++)
        stall_helper(f, "favourite", spin_first);
    return true;
}

static bool bursts(struct stall_form *f, char *why, size_t cap)
{
    (void)why;
    (void)cap;
    stall_helper(f, "bursts", spin_in_bursts);
    return true;
}

/* ---- who the executor is -------------------------------------------------------- */

static void be_last(struct stall_form *f)
{
    (void)f;
    setpriority(PRIO_PROCESS, 0, 19);
}

static void be_idle(struct stall_form *f)
{
    (void)f;
    sched_setscheduler(0, SCHED_IDLE, &(const struct sched_param){0});
}

/* Real-time threads are neither starved by others nor limited. */
static void be_usual(struct stall_form *f)
{
    (void)f;
}

/* ---- limits ------------------------------------------------------------------------ */

static bool create_limit(struct stall_form *f, char *why, size_t cap)
{
    const int version = stall_group(f, 0, "cpu", "cpu.cfs_quota_us", "cpu.max");
    char quota[32];

    snprintf(quota, sizeof(quota), version == 2 ? "%d 100000" : "%d", f->form->arg * 1000);
    if (version && stall_write(f->group[0], version == 2 ? "cpu.max" : "cpu.cfs_quota_us", quota))
        return true;
    snprintf(why, cap, "no control group with a limit of processor time can be made here");
    return false;
}

static void limit(struct stall_form *f, pid_t executor)
{
    if (!stall_join(f, 0, executor))
        fprintf(stderr, "stall_verdicts: the executor's processor time cannot be limited\n");
}

const struct form stall_queues[] = {
    {.kind = {"live: starved by 24 spinners", CPU_VERDICT_CPU_STARVED, "preempted or throttled"},
     .create = many,
     .prepare = be_usual,
     .work = stall_spin_on,
     .plant = stall_go},
    {.kind = {"live: nice 19 beside three of nice -20", CPU_VERDICT_CPU_STARVED, "preempted or throttled"},
     .create = favoured,
     .prepare = be_last,
     .work = stall_spin_on,
     .plant = stall_go},
    {.kind = {"live: SCHED_IDLE beside one that is not", CPU_VERDICT_CPU_STARVED, "preempted or throttled"},
     .create = one,
     .prepare = be_idle,
     .work = stall_spin_on,
     .plant = stall_go},
    {.kind = {"live: real-time bursts of 92 %", CPU_VERDICT_CPU_STARVED, "preempted or throttled"},
     .create = bursts,
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = stall_go,
     .arg = 92},
    {.kind = {"live: real-time bursts of 50 %", CPU_VERDICT_CPU_STARVED, NULL, true},
     .create = bursts,
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = stall_go,
     .arg = 50},
    {.kind = {"live: real-time bursts of 25 %", CPU_VERDICT_UNKNOWN, NULL},
     .create = bursts,
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = stall_go,
     .arg = 25},
    {.kind = {"live: real-time bursts of 3 %, and a hang", CPU_VERDICT_GPU_HUNG, NULL},
     .create = bursts,
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = stall_go,
     .arg = 3},
    {.kind = {"live: a busy machine, and a hang that had its time", CPU_VERDICT_GPU_HUNG, NULL},
     .create = many,
     .prepare = stall_be_first,
     .work = stall_spin_on,
     .plant = stall_go},
    {.kind = {"live: throttled by cpu.max to 1 %", CPU_VERDICT_CPU_STARVED,
              "throttled while its CPU was idle"},
     .create = create_limit,
     .prepare = be_usual,
     .work = stall_spin_on,
     .plant = limit,
     .arg = 1},
    {.kind = {"live: throttled by cpu.max to 30 %", CPU_VERDICT_CPU_STARVED, NULL, true},
     .create = create_limit,
     .prepare = be_usual,
     .work = stall_spin_on,
     .plant = limit,
     .arg = 30},
};
const uint32_t stall_queues_num = sizeof(stall_queues) / sizeof(stall_queues[0]);
