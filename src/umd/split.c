/* SPDX-License-Identifier: MIT */
/* split.c: how much work goes into a submission, so that none takes long: time-outs look at submissions, and so does whoever
 * waits behind them (the checklist's rule A).
 *
 * The GPU's pace is work done over time, seen whenever the stream is split, submitted or waited for. Two looks give the
 * pace if the GPU had work all the time between them:
 *
 *   idle ──umd_pace_submitted──▶ busy since now ──look: something is done──▶ busy since now … ──look: all is done──▶ idle
 *
 * Invariants:
 *  1. Time in a queue behind other submissions is not counted as a submission's own.
 *  2. The budget goes down at once, while a submission that takes too long is still at the GPU, and up by four at most.
 *  3. A look that comes late makes the GPU seem slow: it may raise the budget, and only one that is on time may lower it.
 */
#include <time.h>

#include "base/check.h"
#include "dxgkrnl/progress.h"
#include "umd/priv.h"

enum { MARKS = sizeof(((struct umd_pace *)0)->marks) / sizeof(((struct umd_pace *)0)->marks[0]) };

static const struct clock *the_clock;

void umd_use_clock(const struct clock *clock)
{
    the_clock = clock;
}

uint64_t umd_now(void)
{
    struct timespec t;

    if (the_clock)
        return clock_now(the_clock);
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

void umd_pace_submitted(struct umd_device *d, uint64_t fence)
{
    struct umd_pace *p = &d->pace;

    if (!p->count) {
        p->since_ns = umd_now();
        p->since_work = p->submitted;
        p->since_fence = umd_completed(d);
    }
    p->submitted += d->work;
    if (p->count < MARKS)
        p->count++; /* else the last one stands for several */
    p->marks[(p->first + p->count - 1) % MARKS].fence = fence;
    p->marks[(p->first + p->count - 1) % MARKS].work = p->submitted;
    INVARIANT(p->count <= MARKS && p->since_work <= p->submitted);
}

/* `work` took `took` nanoseconds. */
static void adapt(struct umd_device *d, uint64_t work, uint64_t took, bool exact)
{
    double want = (double)work * UMD_SPLIT_MS * 1e6 / (double)(took ? took : 1);

    if (!work || (want < (double)d->budget && !exact))
        return;
    if (want > 4.0 * (double)d->budget)
        want = 4.0 * (double)d->budget;
    INVARIANT(want <= 4.0 * (double)d->budget); /* 2 */
    d->budget = want < 1 ? 1 : (uint64_t)want;
}

void umd_pace_look(struct umd_device *d, bool on_time)
{
    struct umd_pace *p = &d->pace;
    uint64_t completed = umd_completed(d), done = p->since_work, now, took, submissions;

    if (!p->count)
        return;
    now = umd_now();
    took = now - p->since_ns;
    for (; p->count && p->marks[p->first].fence <= completed; p->count--) {
        done = p->marks[p->first].work;
        p->first = (p->first + 1) % MARKS;
    }
    if (done == p->since_work) { /* still at the same one */
        if (p->count && took > 2 * UMD_SPLIT_MS * NSEC_PER_MSEC && d->budget > 1) {
            adapt(d, p->marks[p->first].work - p->since_work, took, true);
            if (took > d->stats.slowest_ns)
                d->stats.slowest_ns = took;
        }
        return;
    }
    submissions = completed - p->since_fence;
    if ((p->count || on_time) && submissions && took / submissions > d->stats.slowest_ns)
        d->stats.slowest_ns = took / submissions;
    adapt(d, done - p->since_work, took, p->count || on_time);
    p->since_ns = now;
    p->since_work = done;
    p->since_fence = completed;
}

NTSTATUS umd_split(struct umd_device *d, uint64_t work)
{
    d->work += work;
    if (strbuf_failed(&d->stream.bytes)) /* what was said since is lost */
        return umd_flush(d, NULL);
    umd_pace_look(d, false);
    /* Half of the buffer, so that one more step always fits. */
    if (d->work < d->budget && d->stream.bytes.len < d->command_size / 2)
        return STATUS_SUCCESS;
    d->stats.splits++;
    return umd_flush(d, NULL);
}
