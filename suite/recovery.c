/* SPDX-License-Identifier: MIT */
/* recovery.c: what breaks, and what must go on afterwards. */
#include "suite.h"

#include <stdlib.h>

#include "dxgkrnl/recovery.h"

uint32_t suite_tdr_count(struct suite *s)
{
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC)(uintptr_t)s->display};
    D3DKMT_QUERYSTATISTICS q = {.Type = D3DKMT_QUERYSTATISTICS_ADAPTER};

    if (!NT_SUCCESS(D3DKMTOpenAdapterFromHdc(&open)))
        return 0;
    q.AdapterLuid = open.AdapterLuid;
    D3DKMTQueryStatistics(&q);
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = open.hAdapter});
    return q.QueryResult.AdapterInformation.TdrDetectedCount;
}

void suite_works_again(struct suite *s, uint32_t ms, double *took_ms)
{
    uint64_t start = suite_now(s);
    NTSTATUS st = STATUS_UNSUCCESSFUL;
    char text[16];

    ms = (uint32_t)suite_ms(s, ms);

    do {
        struct umd_device *d = NULL;
        struct suite_scene scene;
        uint32_t *pixels = NULL;
        st = umd_open(&d, NULL);
        if (NT_SUCCESS(st))
            st = suite_scene_create(&scene, d, 64, 64);
        if (NT_SUCCESS(st)) {
            suite_scene_draw(&scene);
            st = umd_read(scene.target, &pixels, suite_ms(s, 5000));
        }
        if (st == STATUS_SUCCESS && pixels)
            suite_scene_check(s, pixels, 64, 64);
        free(pixels);
        umd_close(d);
        if (st != STATUS_SUCCESS)
            suite_sleep_ms(s, 10);
    } while (st != STATUS_SUCCESS && suite_now(s) - start < ms * NSEC_PER_MSEC);
    *took_ms = (double)(suite_now(s) - start) / 1e6;
    if (st != STATUS_SUCCESS)
        suite_fail(s, "new work does not run within %u ms: %s" SUITE_SLACK, ms, umd_status_name(st, text));
}

enum { DETECTED_MS = 20000 }; /* that a time-out may take */

/* Whether so many hangs end in resets, and soon: else there is no way on behind the first. */
static bool recovers(struct suite *s, uint32_t hangs)
{
    struct dxgk_recovery r = {0};
    NTSTATUS st = D3DKMTEscape(&(D3DKMT_ESCAPE){.hAdapter = s->adapter,
                                                .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_RECOVERY,
                                                .pPrivateDriverData = &r,
                                                .PrivateDriverDataSize = sizeof(r)});
    if (st != STATUS_SUCCESS) /* a system that does not say: as its defaults are */
        return true;
    if (!r.level)
        suite_skip(s, "TdrLevel is 0: nothing ends work that does not end");
    else if (r.level == 1)
        suite_skip(s, "TdrLevel is 1: work that does not end is a bug check");
    else if (r.delay_s >= (uint32_t)suite_ms(s, DETECTED_MS) / 1000)
        suite_skip(s, "TdrDelay is %u s, and this test waits for %d s" SUITE_SLACK, r.delay_s,
                   suite_ms(s, DETECTED_MS) / 1000);
    else if ((uint64_t)r.resets + hangs > r.limit_count)
        suite_skip(s,
                   "TdrLimitCount is %u within %u s, %u resets were, and %u more are too many: a bug check",
                   r.limit_count, r.limit_time_s, r.resets, hangs);
    return !s->skipped;
}

/* Hangs the GPU and waits for the reset; how long it took from the submission. */
static void hang_once(struct suite *s, struct umd_device **device, double *detected_ms)
{
    struct umd_device *d = NULL;
    uint32_t before = suite_tdr_count(s);
    uint64_t start = suite_now(s), fence;
    NTSTATUS st;

    *device = NULL;
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    *device = d;
    st = suite_hang(s, d);
    if (s->skipped)
        return;
    CHECK_STATUS(s, st, "submitting work that does not end");
    st = umd_flush(d, &fence);
    if (NT_SUCCESS(st))
        st = umd_wait(d, fence, suite_ms(s, DETECTED_MS));
    *detected_ms = (double)(suite_now(s) - start) / 1e6;
    CHECK_EQ_STATUS(s, st, STATUS_DEVICE_REMOVED, "waiting for work that does not end");
    if (!suite_is_seated(s)) {
        suite_skip(s, "a hang of this user's ends his own work only: be root, the service's own user, or who "
                      "`aerogpu serve --seat` names");
        return;
    }
    while (suite_tdr_count(s) == before && suite_now(s) - start < suite_ms(s, DETECTED_MS) * NSEC_PER_MSEC)
        suite_sleep_ms(s, 2);
    CHECK(s, suite_tdr_count(s) == before + 1, "%u resets, %u before the hang", suite_tdr_count(s), before);
}

/* What a reset leaves in the event log, and what the doctor makes of it. */
static void expect_resets(struct suite *s, uint32_t n)
{
    suite_expect_event(s, "Display", 4101, (int)n);
    suite_expect_row(s, "Display 4101");
    suite_expect_row(s, "STATUS_DEVICE_REMOVED (DXGI_ERROR_DEVICE_REMOVED 0x887A0005)");
}

void test_tdr_recovery(struct suite *s)
{
    struct umd_device *d = NULL;
    double detected, again;

    if (!recovers(s, 1))
        return;
    expect_resets(s, 1);
    hang_once(s, &d, &detected);
    if (!s->failed && !s->skipped) {
        suite_works_again(s, 10000, &again);
        suite_measure(s, "hang_to_removed_ms", detected);
        suite_measure(s, "removed_to_new_work_ms", again);
    }
    umd_close(d);
}

void test_tdr_storm(struct suite *s)
{
    uint32_t n = suite_default(s->iterations, 2);
    double detected, again = 0, worst = 0;

    if (!recovers(s, n))
        return;
    expect_resets(s, n);
    for (uint32_t i = 0; i < n && !s->failed && !s->skipped; i++) {
        struct umd_device *d = NULL;
        hang_once(s, &d, &detected);
        if (!s->failed && !s->skipped)
            suite_works_again(s, 10000, &again);
        worst = again > worst ? again : worst;
        umd_close(d);
    }
    if (!s->skipped)
        suite_measure(s, "worst_removed_to_new_work_ms", worst);
}

/* The other client's device: it did nothing wrong, and still every handle of it says device removed. */
void test_device_removed_semantics(struct suite *s)
{
    struct umd_device *guilty = NULL, *other = NULL;
    struct umd_resource *buffer = NULL, *late = NULL;
    D3DKMT_GETDEVICESTATE state = {.StateType = D3DKMT_DEVICESTATE_EXECUTION};
    double detected, again;
    void *data;

    if (!recovers(s, 1))
        return;
    expect_resets(s, 1);
    CHECK_STATUS(s, umd_open(&other, NULL), "open");
    CHECK_STATUS(s, umd_buffer(other, &buffer, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, 4096, true),
                 "buffer");
    CHECK_STATUS(s, umd_finish(other, suite_ms(s, 5000)), "first work");
    hang_once(s, &guilty, &detected);
    if (!s->failed && !s->skipped) {
        CHECK_EQ_STATUS(s, umd_map(buffer, &data, false), STATUS_DEVICE_REMOVED, "Lock after the reset");
        CHECK_EQ_STATUS(s, umd_buffer(other, &late, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, 4096, true),
                        STATUS_DEVICE_REMOVED, "CreateAllocation after the reset");
        CHECK_EQ_STATUS(s, umd_finish(other, suite_ms(s, 1000)), STATUS_DEVICE_REMOVED,
                        "Render after the reset");
        state.hDevice = umd_kmt_device(other);
        CHECK_STATUS(s, D3DKMTGetDeviceState(&state), "GetDeviceState");
        CHECK(s,
              state.ExecutionState == D3DKMT_DEVICEEXECUTION_RESET ||
                  state.ExecutionState == D3DKMT_DEVICEEXECUTION_HUNG,
              "the device's state is %d", state.ExecutionState);
        suite_works_again(s, 10000, &again);
    }
    umd_close(guilty);
    umd_close(other);
}

/* Writing back into an allocation that the submission only reads: refused by the device, a fault of that context. */
void test_dma_fault(struct suite *s)
{
    struct aerogpu_escape_query_fence before = {0}, after = {0};
    struct umd_device *d = NULL, *other = NULL;
    struct umd_resource *from = NULL, *to = NULL;
    uint32_t resets = suite_tdr_count(s);
    uint64_t fence = 0;
    double again;
    NTSTATUS st, other_st;

    suite_expect_event(s, "Display", 4109, 1);
    suite_expect_row(s, "DMA fault (DXGI_ERROR_DEVICE_HUNG 0x887A0006, D3DERR_DEVICELOST)");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_FENCE, &before), "QUERY_FENCE");
    CHECK_STATUS(s, umd_open(&other, NULL), "open");
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = umd_buffer(d, &from, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, 64, false);
    if (NT_SUCCESS(st))
        st = umd_buffer(d, &to, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, 64, true);
    if (NT_SUCCESS(st))
        st = umd_finish(d, suite_ms(s, 5000));
    CHECK_STATUS(s, st, "two buffers");
    umd_use(to, false);
    ABI_EMIT(umd_stream(d), COPY_BUFFER, copy_buffer, .dst_buffer = to->handle, .src_buffer = from->handle,
             .size_bytes = 64, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    st = umd_flush(d, &fence);
    if (NT_SUCCESS(st))
        st = umd_wait(d, fence, suite_ms(s, 10000));
    other_st = umd_finish(other, suite_ms(s, 5000));
    umd_close(d);
    umd_close(other);
    CHECK_EQ_STATUS(s, st, STATUS_DEVICE_REMOVED, "a stream that writes what it may only read");
    CHECK_STATUS(s, other_st, "the other client");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_FENCE, &after), "QUERY_FENCE");
    CHECK(s, after.error_irq_count > before.error_irq_count, "no error interrupt was counted");
    CHECK(s, after.last_error_fence, "last_error_fence is 0");
    CHECK(s, suite_tdr_count(s) == resets, "a fault reset the adapter");
    suite_works_again(s, 10000, &again);
}

/* The executor dies under work: that device is lost, which says that it did die; new work runs, vblank never stopped. */
void test_executor_kill(struct suite *s)
{
    struct aerogpu_escape_query_vblank a = {0}, b = {0};
    struct umd_device *d = NULL;
    struct umd_resource *buffer = NULL;
    uint64_t fence = 0;
    double again;
    NTSTATUS st;

    suite_expect_event(s, "Display", 4109, SUITE_SOME); /* whoever had work there */
    suite_expect_row(s, "DMA fault (DXGI_ERROR_DEVICE_HUNG 0x887A0006, D3DERR_DEVICELOST)");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_VBLANK, &a), "QUERY_VBLANK");
    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = suite_dispatch(d, &buffer, 1, 1);
    if (NT_SUCCESS(st))
        st = umd_finish(d, suite_ms(s, 10000));
    for (int i = 0; i < 4 && st == STATUS_SUCCESS; i++) /* some tenths of a second each */
        umd_dispatch(d, buffer, 1024, 1024, 1);
    if (st == STATUS_SUCCESS)
        st = umd_flush(d, &fence);
    if (!(s->host && s->host->sim)) /* what has not reached the executor yet would be for the next one */
        suite_sleep_ms(s, 50);
    if (st == STATUS_SUCCESS && suite_fault(s, DXGK_FAULT_KILL_EXECUTOR, 1))
        st = umd_wait(d, fence, suite_ms(s, 20000));
    umd_close(d);
    if (s->skipped)
        return;
    CHECK_EQ_STATUS(s, st, STATUS_DEVICE_REMOVED, "work when the executor dies");
    suite_works_again(s, 20000, &again);
    if (s->failed)
        return;
    suite_measure(s, "kill_to_new_work_ms", again);
    CHECK_STATUS(s, suite_wait_vblank(s), "vblank");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_VBLANK, &b), "QUERY_VBLANK");
    CHECK(s, b.vblank_seq > a.vblank_seq, "vblank stands since the executor died");
}

static uint64_t committed(struct suite *s)
{
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC)(uintptr_t)s->display};
    D3DKMT_QUERYSTATISTICS q = {.Type = D3DKMT_QUERYSTATISTICS_SEGMENT};

    if (!NT_SUCCESS(D3DKMTOpenAdapterFromHdc(&open)))
        return 0;
    q.AdapterLuid = open.AdapterLuid;
    D3DKMTQueryStatistics(&q);
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = open.hAdapter});
    return q.QueryResult.SegmentInformation.BytesCommitted;
}

static void be_victim(struct suite *s)
{
    struct umd_device *d = NULL;
    struct umd_resource *buffer = NULL, *work = NULL;

    CHECK_STATUS(s, umd_open(&d, NULL), "victim: open");
    CHECK_STATUS(s, umd_buffer(d, &buffer, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, 8 << 20, true),
                 "victim: 8 MiB");
    CHECK_STATUS(s, suite_dispatch(d, &work, 64, 64), "victim: dispatch");
    CHECK_STATUS(s, umd_flush(d, NULL), "victim: work");
    suite_say(s, "ready");
    while (suite_wait_vblank(s) == STATUS_SUCCESS) /* killed in here */
        ;
    umd_close(d);
}

void test_client_kill(struct suite *s)
{
    uint32_t n = suite_default(s->iterations, 4);
    uint64_t before;
    double again;

    if (s->role) {
        be_victim(s);
        return;
    }
    before = committed(s);
    for (uint32_t i = 0; i < n && !s->failed; i++) {
        struct suite_peer p;
        char line[400];
        uint64_t start;
        if (!suite_peer_start(s, &p, "victim"))
            return;
        if (!suite_peer_hear(&p, line, sizeof(line), suite_ms(s, 20000)) || strcmp(line, "ready") != 0)
            suite_fail(s, "the victim says '%s'", line);
        suite_peer_kill(&p);
        start = suite_now(s);
        while (committed(s) > before && suite_now(s) - start < suite_ms(s, 5000) * NSEC_PER_MSEC)
            suite_sleep_ms(s, 5);
        if (committed(s) > before)
            suite_fail(s, "%llu bytes stay committed after the client was killed" SUITE_SLACK,
                       (unsigned long long)(committed(s) - before));
        if (suite_wait_vblank(s) != STATUS_SUCCESS)
            suite_fail(s, "no vblank after the client was killed");
    }
    if (!s->failed)
        suite_works_again(s, 10000, &again);
}
