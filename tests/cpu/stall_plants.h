/* SPDX-License-Identifier: MIT */
/* stall_plants.h: what stall_verdicts plants. Each kind says what the verdict has to be, and by which reason. */
#pragma once

#include "base/rng.h"
#include "cpu/model/verdict.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)
#define T0 (500 * UINT64_C(1000000000))

struct plant_kind {
    const char *what;
    enum cpu_verdict_kind expected;
    const char *reason; /* NULL: any */
    bool or_unknown;    /* it may be too little of it to say so: UNKNOWN is right as well */
};

/* Recordings made up: a machine that ticks along, and an executor to which one thing happens. */
extern const struct plant_kind stall_stories[];
extern const uint32_t stall_num_stories;
extern const char *const stall_doubtful[]; /* of these, up to NULL, nothing is certain */
extern const char *const stall_proven[];   /* of these the verdict is certain */
void stall_story(uint32_t story, struct rng *rng, const char *path, struct cpu_window *w);

/* One piece of evidence that grows: `x` from 0, where it is not there, to 1. */
struct stall_scale {
    const char *what;
    enum cpu_verdict_kind at_0, at_1; /* what the ends are called */
    bool turns; /* the evidence moves, it does not grow: what was certain may be so no longer */
};

extern const struct stall_scale stall_scales[];
extern const uint32_t stall_num_scales;
void stall_scale(uint32_t scale, double x, struct rng *rng, const char *path, struct cpu_window *w);

/* What really happens to a process that stands for the GPU, in the forms that the kernel has. */
uint32_t stall_num_forms(void);
const struct plant_kind *stall_form_kind(uint32_t form);

/* What the one who waits does, and what the window says. */
struct stall_outcome {
    bool waiter_sleeps; /* it looks at the limit only */
    bool ends;          /* the executor ends by itself, perhaps after the limit */
    bool has_thread;    /* a thread of the executor does its work */
    double due;         /* part of the limit at which the time-out was due; 0: not given */
};

struct stall_form; /* what a form needs besides the executor: locks, a control group, helpers */

/* Before the executor starts; NULL with the reason why this form cannot be planted here. */
struct stall_form *stall_form_create(uint32_t form, int cpu, struct rng *rng, uint64_t limit_ns, char *why,
                                     size_t cap);
const struct stall_outcome *stall_form_outcome(const struct stall_form *f);
/* In the executor: before it takes its job, when it has (true: it is done), and after it has said so. */
void stall_form_prepare(struct stall_form *f);
bool stall_form_work(struct stall_form *f);
void stall_form_after(struct stall_form *f);
int32_t stall_form_thread(const struct stall_form *f); /* that does the work, 0: the executor itself */
/* In the parent, once the work is submitted; the end of it before the executor is killed. */
void stall_form_plant(struct stall_form *f, pid_t executor);
/* Whether this machine was so busy that it was done a quarter of the wait later than it should be: then something else was planted. */
bool stall_form_late(const struct stall_form *f, uint64_t submit_ns);
void stall_form_destroy(struct stall_form *f, pid_t executor);

/* Waits for the end of a process that runs at a real-time priority. Such a one, when it ends processes of its own, can turn round
 * in the kernel until nobody looks at their /proc any more, and keep who does look from the processor: for ever. So after
 * some seconds it is made ordinary. */
void stall_wait_for(pid_t pid, unsigned seconds);
