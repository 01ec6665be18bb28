/* SPDX-License-Identifier: MIT */
/* A query is asked without waiting and becomes done; an event is signalled once for once; the state stays. Then two devices, or
 * with --process-stress two processes, do it at once. */
#include "suite.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* One device's part of the stress phase: queries come due, and in order. */
struct stress {
    struct umd_device *device;
    struct suite_scene scene;
    struct umd_query query[2];
};

static NTSTATUS stress_open(struct stress *t)
{
    NTSTATUS st = umd_open(&t->device, NULL);

    return NT_SUCCESS(st) ? suite_scene_create(&t->scene, t->device, 64, 64) : st;
}

static NTSTATUS stress_round(struct suite *s, struct stress *t, uint32_t i)
{
    NTSTATUS st;

    suite_scene_draw(&t->scene);
    st = umd_query_issue(t->device, &t->query[i & 1]);
    if (i && umd_query_get(&t->query[i & 1]) == STATUS_SUCCESS &&
        umd_query_get(&t->query[~i & 1]) != STATUS_SUCCESS)
        suite_fail(s, "stress round %u: a query is done before the one before it", i);
    if (NT_SUCCESS(st) && i % 16 == 15) {
        st = umd_finish(t->device, suite_ms(s, suite_default(s->timeout_ms, 10000)));
        if (st == STATUS_SUCCESS && umd_query_get(&t->query[i & 1]) != STATUS_SUCCESS)
            suite_fail(s, "stress round %u: the work is done, its query is not", i);
    }
    return st;
}

/* Two devices of this process, or of two processes, take turns at the GPU. */
static NTSTATUS stress(struct suite *s, uint32_t n, bool two)
{
    struct stress a = {0}, b = {0};
    NTSTATUS st = stress_open(&a);

    if (NT_SUCCESS(st) && two)
        st = stress_open(&b);
    for (uint32_t i = 0; i < n && NT_SUCCESS(st) && st != STATUS_TIMEOUT && !s->failed; i++) {
        st = stress_round(s, &a, i);
        if (NT_SUCCESS(st) && two)
            st = stress_round(s, &b, i);
    }
    umd_close(a.device);
    umd_close(b.device);
    return st;
}

static void stress_phase(struct suite *s)
{
    uint32_t n = suite_default(s->stress_iterations, 100);
    struct suite_peer peer;
    char role[32], line[64] = "";
    NTSTATUS st;

    snprintf(role, sizeof(role), "stress-%u", n);
    if (s->processes && !suite_peer_start(s, &peer, role))
        return;
    st = stress(s, n, !s->processes);
    if (s->processes) {
        if (!suite_peer_hear(&peer, line, sizeof(line), suite_ms(s, 60000)) || strcmp(line, "ok") != 0)
            suite_fail(s, "the other process says '%s'", line);
        suite_peer_end(&peer, suite_ms(s, 5000));
    }
    CHECK_STATUS(s, st, "the stress phase");
}

void test_event_query(struct suite *s)
{
    uint32_t n = suite_default(s->iterations, 20), pending = 0;
    struct umd_device *d = NULL;
    struct suite_scene scene;
    double ms[512];
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    uint64_t count = 0;
    unsigned rounds;
    NTSTATUS st;

    if (s->role && sscanf(s->role, "stress-%u", &rounds) == 1) {
        close(fd);
        CHECK_STATUS(s, stress(s, rounds, false), "the stress phase in another process");
        suite_say(s, "ok");
        return;
    }
    if (n > 512)
        n = 512;
    CHECK(s, fd >= 0, "no event");
    st = umd_open(&d, NULL);
    if (NT_SUCCESS(st))
        st = suite_scene_create(&scene, d, 256, 256);
    for (uint32_t i = 0; i < n && NT_SUCCESS(st) && !s->failed; i++) {
        struct umd_query q;
        uint64_t start;
        suite_scene_draw(&scene);
        start = suite_now(s);
        st = umd_query_issue(d, &q);
        while (NT_SUCCESS(st) && umd_query_get(&q) == STATUS_PENDING) {
            pending++;
            if (suite_now(s) - start > suite_ms(s, 5000) * NSEC_PER_MSEC) {
                suite_fail(s, "query %u is not done after %d ms" SUITE_SLACK, i, suite_ms(s, 5000));
                break;
            }
            suite_sleep(s, 50000);
        }
        ms[i] = (double)(suite_now(s) - start) / 1e6;
        if (NT_SUCCESS(st) && !s->failed && umd_query_get(&q) != STATUS_SUCCESS)
            suite_fail(s, "query %u was done and is not any more", i);
        if (NT_SUCCESS(st))
            st = umd_signal_event(d, fd);
        if (NT_SUCCESS(st))
            st = umd_finish(d, suite_ms(s, 5000));
    }
    if (NT_SUCCESS(st) && !s->failed) {
        st = umd_wait(d, (uint64_t)0, 0);
        suite_timing(s, ms, n);
        for (int i = 0; i < suite_ms(s, 400) && count < n; i++) {
            uint64_t more = 0;
            if (i)
                suite_sleep_ms(s, 5);
            count += read(fd, &more, sizeof(more)) == sizeof(more) ? more : 0;
        }
        if (count != n)
            suite_fail(s, "%llu signals for %u requests" SUITE_SLACK, (unsigned long long)count, n);
    }
    suite_measure(s, "polls_while_pending", pending);
    umd_close(d);
    close(fd);
    CHECK_STATUS(s, st, "submissions");
    if (!s->failed)
        stress_phase(s);
}
