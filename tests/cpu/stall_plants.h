/* SPDX-License-Identifier: MIT */
/* stall_plants.h: what stall_verdicts plants. Each kind says what the verdict has to be, and by which reason. */
#ifndef STALL_PLANTS_H_
#define STALL_PLANTS_H_

#include "base/rng.h"
#include "cpu/model/verdict.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)
#define T0 (500 * UINT64_C(1000000000))

struct plant_kind {
    const char *what;
    enum cpu_verdict_kind expected;
    const char *reason; /* NULL: any */
};

/* Recordings made up: a machine that ticks along, and an executor to which one thing happens. */
extern const struct plant_kind stall_stories[];
extern const uint32_t stall_num_stories;
void stall_story(uint32_t story, struct rng *rng, const char *path, struct cpu_window *w);

/* What really happens to a process that stands for the GPU. Runs in the executor's process after it has taken its job:
 * true if it is to say that the work is done. */
extern const struct plant_kind stall_forms[];
extern const uint32_t stall_num_forms;

struct stall_form; /* what a form needs besides the executor: locks, a control group, a helper */

/* Before the executor starts; NULL with the reason why this form cannot be planted here. */
struct stall_form *stall_form_create(uint32_t form, int cpu, char *why, size_t cap);
/* In the executor: before it takes its job, and when it has. */
void stall_form_prepare(struct stall_form *f);
void stall_form_work(struct stall_form *f);
/* In the parent, once the work is submitted; the end of it before the executor is killed. */
void stall_form_plant(struct stall_form *f, pid_t executor);
void stall_form_destroy(struct stall_form *f, pid_t executor);

#endif
