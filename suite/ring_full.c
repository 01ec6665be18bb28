/* SPDX-License-Identifier: MIT */
/* The ring has two entries, doorbells get lost, and dxgkrnl hands over up to 64 DMA buffers at once: what does not fit waits
 * in the driver, and everything completes once and in order. On a service of the test's own. */
#include "suite.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { CONTEXTS = 6 };

static void fill(struct suite *s)
{
    uint32_t rounds = suite_default(s->iterations, 30);
    struct umd_device *d[CONTEXTS] = {0};
    struct suite_scene scenes[CONTEXTS];
    struct aerogpu_escape_query_perf perf = {0};
    uint64_t seen[CONTEXTS] = {0}, signals = 0;
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    uint32_t asked = 0;
    NTSTATUS st = STATUS_SUCCESS;

    for (uint32_t i = 0; i < CONTEXTS && NT_SUCCESS(st); i++) {
        st = umd_open(&d[i], NULL);
        if (NT_SUCCESS(st))
            st = suite_scene_create(&scenes[i], d[i], 32, 32);
        if (NT_SUCCESS(st))
            st = umd_finish(d[i], suite_ms(s, 10000));
    }
    for (uint32_t n = 0; n < rounds && NT_SUCCESS(st) && !s->failed && !s->skipped; n++) {
        suite_fault(s, DXGK_FAULT_LOSE_DOORBELL, n % 10 ? 0 : suite_random(s, 4, 12));
        for (uint32_t i = 0; i < CONTEXTS && NT_SUCCESS(st); i++) {
            suite_scene_draw(&scenes[i]);
            st = umd_flush(d[i], NULL);
            if (NT_SUCCESS(st) && umd_completed(d[i]) < seen[i])
                suite_fail(s, "completed packets go back from %llu", (unsigned long long)seen[i]);
            seen[i] = umd_completed(d[i]);
        }
        if (NT_SUCCESS(st))
            st = umd_signal_event(d[n % CONTEXTS], event);
        asked++;
    }
    for (uint32_t i = 0; i < CONTEXTS && st == STATUS_SUCCESS; i++)
        st = umd_finish(d[i], suite_ms(s, 20000));
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_PERF, &perf);
    for (int i = 0; i < suite_ms(s, 400) && NT_SUCCESS(st) && signals < asked; i++) {
        uint64_t more = 0;
        suite_sleep_ms(s, 5);
        signals += read(event, &more, sizeof(more)) == sizeof(more) ? more : 0;
    }
    for (uint32_t i = 0; i < CONTEXTS; i++)
        umd_close(d[i]);
    close(event);
    if (!s->failed && !s->ours && st == STATUS_SUCCESS && perf.ring0_entry_count != 2)
        suite_skip(s,
                   "the ring has %u entries, whatever RingEntries says: the setting is of our miniport alone",
                   perf.ring0_entry_count);
    if (s->failed || s->skipped)
        return;
    CHECK_STATUS(s, st, "work through a ring of two entries");
    CHECK(s, signals == asked, "%llu signals for %u requests" SUITE_SLACK, (unsigned long long)signals,
          asked);
    CHECK(s, perf.ring0_entry_count == 2, "the ring has %u entries", perf.ring0_entry_count);
    CHECK(s, perf.ring_push_failures, "the ring was never full");
    CHECK(s, perf.last_completed_fence == perf.last_submitted_fence, "%llu of %llu fences are complete",
          (unsigned long long)perf.last_completed_fence, (unsigned long long)perf.last_submitted_fence);
    suite_measure(s, "ring_was_full", (double)perf.ring_push_failures);
}

void test_ring_full(struct suite *s)
{
    struct suite_service v;
    json_t *events = NULL;
    int code;

    if (suite_service_up(s, &v, "HwQueuedRenderPacketGroupLimit = 64", "RingEntries = 2"))
        fill(s);
    code = suite_service_down(s, &v, &events);
    if (!s->failed && !s->skipped) {
        const json_t *trouble = suite_trouble(events);
        if (trouble)
            suite_fail(s, "the event log has: %s", json_string_value(json_object_get(trouble, "text")));
        else if (code)
            suite_fail(s, "the service ended with code %d", code);
    }
    json_decref(events);
}
