/* SPDX-License-Identifier: MIT */
/* dxgkrnl: time-outs on a host without processors to spare. */
#include "test.h"

#include "base/sched/schedstat.h"
#include "dxgkrnl_rig.h"

/* Part of a processor: percent of the time. */
struct part {
    unsigned ran, waited;
    pid_t pid; /* 0: nothing is known */
};

/* A host that gives the device's process part of a processor, and the threads that serve it others. */
static struct {
    struct world *w;
    struct part executor, threads[2];
    unsigned processors;
    unsigned asked;
} host;

static struct schedstat since_ever(const struct part *p)
{
    uint64_t now = clock_now(&host.w->clock);

    return p->pid ? (struct schedstat){.pid = p->pid,
                                       .ran_ns = now * p->ran / 100,
                                       .waited_ns = now * p->waited / 100}
                  : (struct schedstat){0};
}

static void host_schedlook(void *ctx, uint64_t process, struct schedlook *out)
{
    assert_int_equal(process, 100);
    host.asked++;
    *out = (struct schedlook){.work = since_ever(&host.executor), .processors = host.processors, .count = 2};
    for (unsigned i = 0; i < out->count; i++)
        out->served[i] = since_ever(&host.threads[i]);
}

/* How long a hang lasts on such a host, ms. */
static unsigned hang_ms(struct part executor, struct part first, struct part second, unsigned processors)
{
    uint64_t start, end;
    struct world w;
    struct ctx x;

    world_up(&w, false);
    w.gpu.bus.schedlook = host_schedlook;
    host = (__typeof__(host)){&w, executor, {first, second}, processors, 0};
    x = ctx_make(&w, w.client, w.adapter);
    ctx_put(&x, OP_DELAY, 450, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_int_equal(host.asked, 0); /* what is quick costs nothing */
    start = clock_now(&w.clock);
    ctx_put(&x, OP_HANG, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_DEVICE_REMOVED);
    end = clock_now(&w.clock);
    assert_in_range(host.asked, 2, 40);
    world_settle(&w);
    assert_int_equal(dxgk_event_count(w.dxgk, 4101), 1);
    world_down(&w, 0);
    return (unsigned)((end - start) / NSEC_PER_MSEC);
}

/* From a quarter of the delay on, what it waited for a processor does not count: 1.5 s of its time and 0.5 s of anybody's. */
TEST(who_gets_no_processor_does_not_hang)
{
    static const struct {
        struct part executor, threads[2];
        unsigned least, most, processors;
    } rows[] = {
        {{100, 0, 7}, {{0}}, 2000, 2005},
        {{0, 0, 7}, {{0}}, 2000, 2005},     /* it stands still, or waits for what never comes */
        {{100, 300, 7}, {{0}}, 2000, 2005}, /* its own threads are in each other's way */
        {{50, 50, 7}, {{0}}, 3500, 3640},
        {{50, 150, 7}, {{0}}, 3500, 3640},
        {{25, 75, 7}, {{0}}, 6500, 6800},
        {{100, 100, 7}, {{0}}, 3500, 3640, 2}, /* both of its threads run half of the time */
        {{200, 600, 7}, {{0}}, 2000, 2005, 2}, /* they fill both processors */
        {{0, 100, 7}, {{0}}, 10000, 10005},    /* in the end it counts as hung */
        {{50, 50, 0}, {{0}}, 2000, 2005},      /* nothing is known */
        /* it does nothing, since what serves it got no processor: who starved longest, and not all that did together */
        {{0, 0, 7}, {{10, 0, 8}, {0, 0, 9}}, 2000, 2005},
        {{0, 0, 7}, {{0, 0, 8}, {50, 50, 9}}, 3500, 3640},
        {{0, 0, 7}, {{50, 50, 8}, {25, 75, 9}}, 6500, 6800},
        {{50, 50, 7}, {{50, 50, 8}, {50, 50, 9}}, 3500, 3640},
        {{0, 0, 0}, {{0, 0, 8}, {50, 50, 9}}, 3500, 3640},
        {{0, 0, 7}, {{0, 100, 8}, {0, 100, 9}}, 10000, 10005},
    };

    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_in_range(hang_ms(rows[i].executor, rows[i].threads[0], rows[i].threads[1], rows[i].processors),
                        rows[i].least, rows[i].most);
}
