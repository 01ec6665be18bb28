/* SPDX-License-Identifier: MIT */
/* vblank_faults.c: vblanks that are noticed late, not at all, or again and again. Waits end with a vblank after they
 * began, whenever it is noticed, presents complete on theirs and not before, and the pace comes back by itself. */
#include "suite.h"

struct beat {
    struct umd_device *device;
    struct umd_swapchain chain;
    uint32_t period_ns;
    double longest_ms;
    uint64_t behind; /* this vblank lies clearly behind, 0 none: the next wait must not end with it */
};

static NTSTATUS beat_open(struct suite *s, struct beat *b)
{
    struct aerogpu_escape_query_vblank v = {0};
    uint64_t fence = 0;
    NTSTATUS st = umd_open(&b->device, NULL);

    if (NT_SUCCESS(st))
        st = umd_swapchain(b->device, &b->chain);
    if (NT_SUCCESS(st))
        st = umd_present(&b->chain, 1, &fence);
    if (NT_SUCCESS(st))
        st = umd_wait(b->device, fence, suite_ms(s, 5000));
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &v);
    b->period_ns = v.vblank_period_ns;
    return st;
}

/* One wait, or one present with interval 1, and the vblanks that it took. */
static NTSTATUS one(struct suite *s, struct beat *b, bool present, uint64_t *took)
{
    struct aerogpu_escape_query_vblank before = {0}, after = {0};
    uint64_t start = suite_now(s), fence = 0;
    uint32_t seen = 0, last = 0;
    double ms;
    NTSTATUS st = SUITE_ESCAPE(s, QUERY_VBLANK, &before);

    if (st == STATUS_SUCCESS)
        st = suite_noticed_vblanks(s, b->device, &seen);
    if (st == STATUS_SUCCESS && present) {
        st = umd_present(&b->chain, 1, &fence);
        if (NT_SUCCESS(st))
            st = umd_wait(b->device, fence, suite_ms(s, 5000));
    } else if (st == STATUS_SUCCESS) {
        st = suite_wait_vblank(s);
    }
    if (st == STATUS_SUCCESS)
        st = suite_noticed_vblanks(s, b->device, &last);
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &after);
    ms = (double)(suite_now(s) - start) / 1e6;
    b->longest_ms = ms > b->longest_ms ? ms : b->longest_ms;
    *took = after.vblank_seq - before.vblank_seq;
    /* The device's vblank is noticed some microseconds later, more on a busy machine: of one wait it says little. */
    if (st == STATUS_SUCCESS && !*took && (present || (b->behind && b->behind == before.vblank_seq)))
        suite_fail(s, "a %s of %.2f ms ended while vblank %llu was still the last",
                   present ? "present" : "wait", ms, (unsigned long long)before.vblank_seq);
    if (st == STATUS_SUCCESS && last == seen)
        suite_fail(s, "a %s ended while vblank %u was still the last that was noticed",
                   present ? "present" : "wait", seen);
    return st;
}

/* Lets a quarter of a period pass after a vblank of the device, which may not have been noticed yet. dxgkrnl knows of vblanks
 * by their notices alone, and takes them to be as late as the least delayed of the last 32 was: on a busy machine what
 * begins closer to one may end with it. */
static NTSTATUS await_device(struct suite *s, struct beat *b)
{
    struct aerogpu_escape_query_vblank v = {0};
    NTSTATUS st = SUITE_ESCAPE(s, QUERY_VBLANK, &v);
    uint64_t seq = v.vblank_seq;

    for (int i = 0; i < 1000 && st == STATUS_SUCCESS && v.vblank_seq == seq; i++) {
        suite_sleep(s, 200 * NSEC_PER_USEC);
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &v);
    }
    b->behind = v.vblank_seq;
    suite_sleep(s, b->period_ns / 4);
    return st;
}

/* Two presents with interval 4: the second stays away from the first for that long, however often vblanks are reported. */
static NTSTATUS two_slow_ones(struct suite *s, struct beat *b, enum dxgk_fault fault, uint32_t value)
{
    struct aerogpu_escape_query_vblank first = {0}, second = {0};
    uint64_t fence[2] = {0};
    NTSTATUS st = umd_present(&b->chain, 4, &fence[0]);

    if (NT_SUCCESS(st))
        st = umd_present(&b->chain, 4, &fence[1]);
    if (NT_SUCCESS(st))
        st = umd_wait(b->device, fence[0], suite_ms(s, 5000));
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &first);
    suite_fault(s, fault, value);
    if (st == STATUS_SUCCESS)
        st = umd_wait(b->device, fence[1], suite_ms(s, 5000));
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &second);
    if (st == STATUS_SUCCESS && second.vblank_seq < first.vblank_seq + 3)
        suite_fail(s, "a present with interval 4 came %llu vblanks after the one before it",
                   (unsigned long long)(second.vblank_seq - first.vblank_seq));
    return st;
}

/* The pace afterwards: so many waits, about so many vblanks. */
static NTSTATUS check_pace(struct suite *s, struct beat *b)
{
    struct aerogpu_escape_query_vblank before = {0}, after = {0};
    enum { WAITS = 20 };
    NTSTATUS st = suite_wait_vblank(s);

    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &before);
    for (int i = 0; i < WAITS && st == STATUS_SUCCESS; i++)
        st = suite_wait_vblank(s);
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &after);
    if (st == STATUS_SUCCESS &&
        (after.vblank_seq - before.vblank_seq < WAITS - 1 ||
         (double)(after.vblank_seq - before.vblank_seq) > suite_limit(s, 1.5 * WAITS)))
        suite_fail(s, "afterwards %d waits took %llu vblanks" SUITE_SLACK, WAITS,
                   (unsigned long long)(after.vblank_seq - before.vblank_seq));
    return st;
}

struct vblank_fault {
    enum dxgk_fault fault;
    uint32_t min, max; /* of its value */
    double limit_ms;   /* that one wait may take at most */
};

static void endure(struct suite *s, const struct vblank_fault *f)
{
    uint32_t n = suite_default(s->iterations, 8), before = suite_tdr_count(s);
    struct beat b = {0};
    NTSTATUS st = beat_open(s, &b);

    for (uint32_t i = 0; i < n && st == STATUS_SUCCESS && !s->failed && !s->skipped; i++) {
        uint64_t took;
        if (!suite_fault(s, f->fault, suite_random(s, f->min, f->max)))
            break;
        if (f->fault == DXGK_FAULT_LATE_VBLANK) /* present or wait between a vblank and its notice */
            st = await_device(s, &b);
        if (st == STATUS_SUCCESS)
            st = one(s, &b, i % 2, &took);
        b.behind = 0;
        for (int k = 0; k < 2 && st == STATUS_SUCCESS && !s->failed; k++)
            st = one(s, &b, false, &took);
    }
    if (st == STATUS_SUCCESS && !s->failed && !s->skipped)
        st = two_slow_ones(s, &b, f->fault, suite_random(s, f->min, f->max));
    suite_disarm(s, f->fault);
    if (st == STATUS_SUCCESS && !s->failed && !s->skipped)
        st = check_pace(s, &b);
    umd_close(b.device);
    if (s->failed || s->skipped)
        return;
    CHECK_STATUS(s, st, "waits and presents under the fault");
    CHECK(s, suite_tdr_count(s) == before, "it became a reset");
    CHECK(s, b.longest_ms <= suite_limit(s, f->limit_ms), "one took %.1f ms" SUITE_SLACK, b.longest_ms);
    suite_measure(s, "longest_ms", b.longest_ms);
}

void test_late_vblank(struct suite *s)
{
    endure(s, &(struct vblank_fault){DXGK_FAULT_LATE_VBLANK, 5000, 60000, 310});
}

void test_burst_vblank(struct suite *s)
{
    endure(s, &(struct vblank_fault){DXGK_FAULT_BURST_VBLANK, 1, 50, 250});
}

/* A few are made up for by the next one. When none comes for a quarter of a second the interrupt is switched on again, and
 * the event log says so. */
void test_missing_vblank(struct suite *s)
{
    uint32_t n = suite_random(s, 22, 30);

    endure(s, &(struct vblank_fault){DXGK_FAULT_MISS_VBLANK, 1, 6, 500});
    if (s->failed || s->skipped)
        return;
    suite_expect_event(s, "dxgkrnl", 4, SUITE_SOME);
    if (!suite_fault(s, DXGK_FAULT_MISS_VBLANK, n))
        return;
    CHECK_STATUS(s, suite_wait_vblank(s), "a wait while none is noticed for a long time");
    suite_disarm(s, DXGK_FAULT_MISS_VBLANK);
    CHECK_STATUS(s, suite_wait_vblank(s), "a wait afterwards");
}
