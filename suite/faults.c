/* SPDX-License-Identifier: MIT */
/* faults.c: one small thing goes wrong between driver, device and executor, and nobody but the clock may notice: work
 * completes once and in order, nothing is reset, nobody loses a device, vblank keeps its rate, new work draws. */
#include "suite.h"

#include <math.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct ride {
    enum dxgk_fault fault;
    uint32_t min, max;   /* of the fault's value */
    uint32_t iterations; /* by default */
    double limit_ms;     /* that work may take; 0: until umd_wait gives up */
    bool ahead;          /* submitting must be done before the work is */
};

struct rider {
    struct umd_device *device;
    struct suite_scene scene;
    int event;
    uint64_t asked, seen;
    double worst_ms;
};

/* Some submissions with the fault armed; each must be taken at once and complete in its turn. */
static NTSTATUS ride_once(struct suite *s, const struct ride *r, struct rider *x)
{
    uint32_t count = suite_random(s, 1, 6);
    uint32_t value = suite_random(s, r->min, r->max);
    uint64_t start = suite_now(s), fence = 0;
    NTSTATUS st = STATUS_SUCCESS;
    bool before;

    if (!suite_fault(s, r->fault, value))
        return STATUS_NOT_SUPPORTED;
    for (uint32_t i = 0; i < count && NT_SUCCESS(st); i++) {
        suite_scene_draw(&x->scene);
        st = umd_signal_event(x->device, x->event);
        x->asked++;
        if (umd_completed(x->device) < x->seen)
            suite_fail(s, "completed packets go back from %llu to %llu", (unsigned long long)x->seen,
                       (unsigned long long)umd_completed(x->device));
        x->seen = umd_completed(x->device);
    }
    if (NT_SUCCESS(st))
        st = umd_flush(x->device, &fence);
    before = suite_now(s) - start < value / 2 * NSEC_PER_USEC; /* else the answer may well have come */
    if (NT_SUCCESS(st) && r->ahead && before && umd_completed(x->device) >= fence)
        suite_fail(s, "submitting has waited for the executor");
    if (NT_SUCCESS(st))
        st = umd_wait(x->device, fence, suite_ms(s, 10000));
    if ((double)(suite_now(s) - start) / 1e6 > x->worst_ms)
        x->worst_ms = (double)(suite_now(s) - start) / 1e6;
    return st;
}

static uint64_t signals(struct suite *s, const struct rider *x)
{
    uint64_t count = 0, more;

    for (int i = 0; i < suite_ms(s, 400) && count < x->asked; i++) {
        if (read(x->event, &more, sizeof(more)) == sizeof(more))
            count += more;
        else
            suite_sleep_ms(s, 5);
    }
    suite_sleep_ms(s, 5); /* one too many? */
    return read(x->event, &more, sizeof(more)) == sizeof(more) ? count + more : count;
}

/* The device's vblanks from a to b are as many as the time between them holds. */
static void check_rate(struct suite *s, const struct aerogpu_escape_query_vblank *a,
                       const struct aerogpu_escape_query_vblank *b, uint64_t ns)
{
    double due = (double)ns / b->vblank_period_ns, came = (double)(b->vblank_seq - a->vblank_seq);

    CHECK(s, fabs(came - due) < suite_limit(s, 3 + due / 20), "%.0f vblanks came, %.1f were due" SUITE_SLACK,
          came, due);
}

static void ride(struct suite *s, const struct ride *r)
{
    struct aerogpu_escape_query_vblank a = {0}, b = {0};
    struct rider x = {.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    uint32_t n = suite_default(s->iterations, r->iterations), before = suite_tdr_count(s);
    uint64_t start = 0, end = 0, came = 0;
    double again;
    NTSTATUS st;

    CHECK(s, x.event >= 0, "no event");
    st = umd_open(&x.device, NULL);
    if (NT_SUCCESS(st))
        st = suite_scene_create(&x.scene, x.device, 64, 64);
    if (NT_SUCCESS(st))
        st = umd_finish(x.device, suite_ms(s, 10000));
    if (NT_SUCCESS(st))
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &a);
    start = suite_now(s);
    for (uint32_t i = 0; i < n && st == STATUS_SUCCESS && !s->failed && !s->skipped; i++)
        st = ride_once(s, r, &x);
    suite_disarm(s, r->fault);
    if (st == STATUS_SUCCESS)
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &b);
    end = suite_now(s);
    if (st == STATUS_SUCCESS)
        came = signals(s, &x);
    umd_close(x.device);
    close(x.event);
    if (s->failed || s->skipped)
        return;
    CHECK_STATUS(s, st, "work under the fault");
    CHECK(s, came == x.asked, "%llu signals for %llu requests" SUITE_SLACK, (unsigned long long)came,
          (unsigned long long)x.asked);
    CHECK(s, suite_tdr_count(s) == before, "it became a reset");
    check_rate(s, &a, &b, end - start);
    /* Ours polls; another may leave it to dxgkrnl, which asks for the fence when TdrDelay is over. */
    CHECK(s, !r->limit_ms || !s->ours || x.worst_ms < suite_limit(s, r->limit_ms),
          "work took %.1f ms: it was found out late" SUITE_SLACK, x.worst_ms);
    suite_measure(s, "worst_ms", x.worst_ms);
    if (!s->failed)
        suite_works_again(s, 10000, &again);
}

void test_lost_interrupt(struct suite *s)
{
    ride(s, &(struct ride){DXGK_FAULT_LOSE_INTERRUPT, 1, 4, 3, 1600, false});
}

void test_doubled_interrupt(struct suite *s)
{
    ride(s, &(struct ride){DXGK_FAULT_DOUBLE_INTERRUPT, 1, 6, 12, 200, false});
}

void test_delayed_interrupt(struct suite *s)
{
    ride(s, &(struct ride){DXGK_FAULT_DELAY_INTERRUPT, 1000, 200000, 5, 0, false});
}

void test_lost_doorbell(struct suite *s)
{
    ride(s, &(struct ride){DXGK_FAULT_LOSE_DOORBELL, 1, 3, 2, 0, false});
}

void test_stale_fence(struct suite *s)
{
    ride(s, &(struct ride){DXGK_FAULT_STALE_FENCE, 1, 6, 12, 200, false});
}

void test_late_answer(struct suite *s)
{
    ride(s, &(struct ride){DXGK_FAULT_LATE_EXECUTOR, 300000, 800000, 2, 0, true});
}

/* ---- memory that is gone ------------------------------------------------- */

struct heirs {
    struct umd_device *device, *other;
    struct umd_resource *from, *gone, *heir;
};

static void write_back(struct heirs *h)
{
    ABI_EMIT(umd_stream(h->device), COPY_BUFFER, copy_buffer, .dst_buffer = h->gone->handle,
             .src_buffer = h->from->handle, .size_bytes = 4096, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
}

/* The allocation goes; the resource on the device, which the stream knows, stays. */
static NTSTATUS free_memory(struct heirs *h)
{
    NTSTATUS st =
        D3DKMTDestroyAllocation(&(D3DKMT_DESTROYALLOCATION){.hDevice = umd_kmt_device(h->device),
                                                            .phAllocationList = &h->gone->allocation,
                                                            .AllocationCount = 1});

    h->gone->allocation = 0;
    h->gone->alloc_id = 0;
    return st;
}

/* Another client gets memory of that size, the very same pages perhaps, and writes its own into it. */
static NTSTATUS inherit(struct heirs *h)
{
    uint8_t mine[4096];
    NTSTATUS st = umd_open(&h->other, NULL);

    memset(mine, 0x5A, sizeof(mine));
    if (NT_SUCCESS(st))
        st = umd_buffer(h->other, &h->heir, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, mine, sizeof(mine), true);
    return st;
}

static void check_inheritance(struct suite *s, struct heirs *h)
{
    const uint8_t *data;
    void *memory = NULL;
    NTSTATUS st = umd_finish(h->other, suite_ms(s, 10000));

    if (NT_SUCCESS(st))
        st = umd_map(h->heir, &memory, false);
    CHECK_STATUS(s, st, "the other client, who did nothing wrong");
    data = memory;
    for (int i = 0; i < 4096 && !s->failed; i++)
        if (data[i] != 0x5A)
            suite_fail(s, "byte %d of another client's memory is 0x%02x, it wrote 0x5a", i, data[i]);
    umd_unmap(h->heir);
}

static NTSTATUS heirs_open(struct suite *s, struct heirs *h)
{
    static const uint8_t data[4096] = {1, 2, 3};
    NTSTATUS st = umd_open(&h->device, NULL);

    if (NT_SUCCESS(st))
        st = umd_buffer(h->device, &h->from, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, data, sizeof(data), false);
    if (NT_SUCCESS(st))
        st = umd_buffer(h->device, &h->gone, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, 4096, true);
    return NT_SUCCESS(st) ? umd_finish(h->device, suite_ms(s, 10000)) : st;
}

static void heirs_close(struct heirs *h)
{
    umd_close(h->device);
    umd_close(h->other);
    *h = (struct heirs){0};
}

/* The write is under way when the memory is given up: whoever has it next does not see it. */
static void free_under_way(struct suite *s)
{
    struct heirs h = {0};
    uint64_t fence = 0;
    NTSTATUS st = heirs_open(s, &h);

    if (NT_SUCCESS(st) && !suite_fault(s, DXGK_FAULT_LATE_EXECUTOR, suite_random(s, 100000, 400000)))
        st = STATUS_NOT_SUPPORTED;
    if (NT_SUCCESS(st)) {
        umd_use(h.gone, true);
        write_back(&h);
        st = umd_flush(h.device, &fence);
    }
    if (NT_SUCCESS(st))
        st = free_memory(&h);
    if (NT_SUCCESS(st))
        st = inherit(&h);
    if (NT_SUCCESS(st))
        st = umd_wait(h.device, fence, suite_ms(s, 10000));
    if (st == STATUS_SUCCESS)
        check_inheritance(s, &h);
    heirs_close(&h);
    if (!s->skipped)
        CHECK_STATUS(s, st, "memory given up while it is written");
}

/* The memory is gone when the write comes: it is refused, and its device is lost, nobody else's. */
static void write_to_freed(struct suite *s)
{
    struct aerogpu_escape_query_fence before = {0}, after = {0};
    struct heirs h = {0};
    uint64_t fence = 0;
    NTSTATUS st = heirs_open(s, &h);

    if (NT_SUCCESS(st))
        st = free_memory(&h);
    if (NT_SUCCESS(st))
        st = inherit(&h);
    if (NT_SUCCESS(st))
        st = SUITE_ESCAPE(s, QUERY_FENCE, &before);
    if (NT_SUCCESS(st)) {
        write_back(&h);
        st = umd_flush(h.device, &fence);
        if (NT_SUCCESS(st))
            st = umd_wait(h.device, fence, suite_ms(s, 10000));
        if (st != STATUS_DEVICE_REMOVED)
            suite_fail(s,
                       "writing back into an allocation that is gone: 0x%08X, expected STATUS_DEVICE_REMOVED",
                       (uint32_t)st);
        else
            st = SUITE_ESCAPE(s, QUERY_FENCE, &after);
    }
    if (NT_SUCCESS(st) && !s->failed)
        check_inheritance(s, &h);
    heirs_close(&h);
    if (s->failed)
        return;
    CHECK_STATUS(s, st, "an allocation that is gone");
    CHECK(s, after.error_irq_count > before.error_irq_count, "no error interrupt was counted");
}

void test_freed_writeback(struct suite *s)
{
    uint32_t before = suite_tdr_count(s);
    double again;

    suite_expect_event(s, "Display", 4109, 1);
    suite_expect_row(s, "DMA fault (DXGI_ERROR_DEVICE_HUNG 0x887A0006, D3DERR_DEVICELOST)");
    free_under_way(s);
    if (!s->failed && !s->skipped)
        write_to_freed(s);
    if (s->failed || s->skipped)
        return;
    CHECK(s, suite_tdr_count(s) == before, "it became a reset");
    suite_works_again(s, 10000, &again);
}
