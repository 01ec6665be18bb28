/* SPDX-License-Identifier: MIT */
/* A fence for every submission, in order; an EVENT query after each says nothing before its work is done and never waits; presents
 * are marked in their descriptors and have an allocation table, and who presents faster than the display is held back. */
#include "suite.h"

#include <aerogpu/ring.h>

enum { FRAMES_QUEUED = 3, ASKING_TAKES_MS = 100 };

struct stress {
    struct umd_device *device;
    struct suite_scene scene;
    uint64_t last;
    struct umd_query query, before;
    uint32_t presents, pending, asked;
    double longest_ms; /* that asking a query took */
};

/* Asks without waiting. */
static NTSTATUS ask(struct suite *s, struct stress *t, const struct umd_query *q)
{
    uint64_t start = suite_now(s);
    NTSTATUS st = umd_query_get(q);
    double ms = (double)(suite_now(s) - start) / 1e6;

    t->asked++;
    t->pending += st == STATUS_PENDING;
    t->longest_ms = ms > t->longest_ms ? ms : t->longest_ms;
    return st;
}

static NTSTATUS submit(struct suite *s, struct stress *t, uint32_t i)
{
    struct umd_device *d = t->device;
    NTSTATUS st = STATUS_SUCCESS, answer;
    uint64_t fence;

    suite_scene_draw(&t->scene);
    if (i % 8 == 7) {
        struct umd_resource *noted = NULL;
        st = umd_buffer(d, &noted, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, 64, true);
        ABI_EMIT(umd_stream(d), PRESENT, present, .flags = 0);
        t->presents++;
    }
    t->before = t->query;
    if (NT_SUCCESS(st))
        st = umd_query_issue(d, &t->query);
    fence = t->query.fence;
    if (fence != t->last + 1 && t->last && i % 8 != 0)
        suite_fail(s, "fence %llu after %llu", (unsigned long long)fence, (unsigned long long)t->last);
    if (umd_completed(d) > fence)
        suite_fail(s, "%llu complete, %llu submitted", (unsigned long long)umd_completed(d),
                   (unsigned long long)fence);
    t->last = fence;
    if (!NT_SUCCESS(st))
        return st;
    answer = ask(s, t, &t->query); /* before the older one is asked: it may become done meanwhile */
    if (answer != STATUS_SUCCESS && answer != STATUS_PENDING)
        return answer;
    if (answer == STATUS_SUCCESS && i && ask(s, t, &t->before) != STATUS_SUCCESS)
        suite_fail(s, "submission %u: its query is done, and the one before it is not", i);
    return st;
}

/* Presents without waiting for anything: as many as are queued at most are ahead of the display. */
static NTSTATUS throttled(struct suite *s, struct umd_device *d, uint32_t n)
{
    struct aerogpu_escape_query_vblank v = {0}, w = {0};
    struct umd_swapchain chain = {0};
    uint64_t fence = 0;
    NTSTATUS st = umd_swapchain(d, &chain);

    for (uint32_t i = 0; i < FRAMES_QUEUED + 1 && NT_SUCCESS(st); i++)
        st = umd_present(&chain, 1, &fence); /* the queue is full now */
    if (NT_SUCCESS(st))
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &v);
    for (uint32_t i = 0; i < n && NT_SUCCESS(st); i++)
        st = umd_present(&chain, 1, &fence);
    if (NT_SUCCESS(st))
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &w);
    if (NT_SUCCESS(st)) {
        suite_measure(s, "vblanks_of_presents", (double)(w.vblank_seq - v.vblank_seq));
        if (w.vblank_seq - v.vblank_seq + FRAMES_QUEUED < n)
            suite_fail(s, "%u presents in %llu vblanks, at most %d are queued: nobody is held back", n,
                       (unsigned long long)(w.vblank_seq - v.vblank_seq), FRAMES_QUEUED);
        st = umd_wait(d, fence, suite_ms(s, suite_default(s->timeout_ms, 20000)));
    }
    return st;
}

static void check_ring(struct suite *s)
{
    static struct aerogpu_escape_dump_ring_v2 ring;
    uint32_t marked = 0;

    ring = (struct aerogpu_escape_dump_ring_v2){.desc_capacity = AEROGPU_ESCAPE_RECENT};
    CHECK_STATUS(s, SUITE_ESCAPE(s, DUMP_RING_V2, &ring), "DUMP_RING_V2");
    for (uint32_t i = 0; i < ring.desc_count && i < AEROGPU_ESCAPE_RECENT; i++) {
        if (!(ring.desc[i].flags & AEROGPU_SUBMIT_FLAG_PRESENT))
            continue;
        marked++;
        CHECK(s, ring.desc[i].alloc_table_gpa || !ring.desc[i].cmd_gpa,
              "a present with fence %llu has no allocation table", (unsigned long long)ring.desc[i].fence);
    }
    /* The flag is DxgkDdiPresent's; that a stream with a PRESENT has it too is a promise of our miniport's. */
    CHECK(s, marked || !s->ours,
          "none of the last %u descriptors is marked PRESENT, our last submission was one", ring.desc_count);
}

void test_submit_fence_stress(struct suite *s)
{
    /* more than the ring has entries, and the last is a present */
    uint32_t n = (suite_default(s->iterations, 600) + 7) / 8 * 8;
    struct aerogpu_escape_query_perf a = {0}, b = {0};
    struct stress t = {0};
    NTSTATUS st;

    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_PERF, &a), "QUERY_PERF");
    CHECK_STATUS(s, umd_open(&t.device, NULL), "open");
    st = suite_scene_create(&t.scene, t.device, 32, 32);
    for (uint32_t i = 0; i < n && NT_SUCCESS(st) && !s->failed; i++)
        st = submit(s, &t, i);
    if (NT_SUCCESS(st))
        st = umd_wait(t.device, t.last, suite_ms(s, suite_default(s->timeout_ms, 20000)));
    if (st == STATUS_SUCCESS && !s->failed && umd_query_get(&t.query) != STATUS_SUCCESS)
        suite_fail(s, "all is done, and the last query says that it is not");
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_PERF, &b);
    if (st == STATUS_SUCCESS && !s->failed)
        check_ring(s);
    if (st == STATUS_SUCCESS && !s->failed)
        st = throttled(s, t.device, suite_default(s->samples, 24));
    umd_close(t.device);
    CHECK_STATUS(s, st, "submissions");
    suite_measure(s, "asked_while_pending", t.pending);
    CHECK(s, t.longest_ms <= suite_limit(s, ASKING_TAKES_MS), "asking a query took %.1f ms" SUITE_SLACK,
          t.longest_ms);
    CHECK(s, !s->ours || b.total_presents - a.total_presents >= t.presents,
          "%u presents were submitted, the driver counts %llu", t.presents,
          (unsigned long long)(b.total_presents - a.total_presents));
}
