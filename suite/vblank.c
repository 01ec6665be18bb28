/* SPDX-License-Identifier: MIT */
/* vblank.c: the tests that wait for vblanks; they differ in what they accept. */
#include "suite.h"

#include <stdlib.h>

struct band {
    double fail_min, fail_max, fail_avg_max; /* ms; fails at or below, or above */
    double warn_min, warn_max;               /* average; 0: no warning */
};

static void pacing(struct suite *s, const struct band *band, uint32_t samples)
{
    double *ms = calloc(samples, sizeof(*ms));
    uint64_t last;

    CHECK(s, ms, "no memory");
    if (suite_wait_vblank_bounded(s) != STATUS_SUCCESS)
        suite_fail(s, "WaitForVerticalBlankEvent failed");
    last = suite_now(s);
    for (uint32_t i = 0; i < samples && !s->failed; i++) {
        uint64_t now;
        NTSTATUS st = suite_wait_vblank_bounded(s);
        char text[16];
        if (st != STATUS_SUCCESS) {
            suite_fail(s, "WaitForVerticalBlankEvent: %s after %u samples", umd_status_name(st, text), i);
            break;
        }
        now = suite_now(s);
        ms[i] = (double)(now - last) / 1e6;
        last = now;
        if (s->timeout_ms && ms[i] > s->timeout_ms)
            suite_fail(s, "a wait took %.3f ms, --wait-timeout-ms is %u", ms[i], s->timeout_ms);
    }
    if (!s->failed)
        suite_timing(s, ms, samples);
    free(ms);
    if (s->failed)
        return;
    CHECK(s, s->timing.avg > band->fail_min, "the average is %.3f ms: waits return at once", s->timing.avg);
    CHECK(s, s->timing.max <= suite_limit(s, band->fail_max), "the longest wait was %.3f ms" SUITE_SLACK,
          s->timing.max);
    CHECK(s, !band->fail_avg_max || s->timing.avg < suite_limit(s, band->fail_avg_max),
          "the average is %.3f ms" SUITE_SLACK, s->timing.avg);
    if (band->warn_max && (s->timing.avg < band->warn_min || s->timing.avg > band->warn_max))
        suite_log(s, "warning: the average is outside %g to %g ms", band->warn_min, band->warn_max);
}

/* Cadence on the display that --display names, and what is no display. */
void test_vblank_wait(struct suite *s)
{
    pacing(s, &(struct band){2, 250, 0, 0, 0}, suite_default(s->samples, 30));
    if (s->failed)
        return;
    CHECK_EQ_STATUS(s,
                    D3DKMTWaitForVerticalBlankEvent(
                        &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = s->adapter, .VidPnSourceId = 77}),
                    STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "source 77");
    CHECK_EQ_STATUS(
        s, D3DKMTWaitForVerticalBlankEvent(&(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = s->adapter + 64}),
        STATUS_INVALID_HANDLE, "an adapter handle that nobody has");
}

void test_wait_vblank_pacing(struct suite *s)
{
    pacing(s, &(struct band){2, 250, 0, 10, 25}, suite_default(s->samples, 120));
}

void test_vblank_wait_pacing(struct suite *s)
{
    pacing(s, &(struct band){2, 250, 50, 0, 0}, suite_default(s->samples, 60));
}

struct vblank_waits {
    struct umd_device *device;
    uint32_t before, after; /* noticed by the system */
    struct aerogpu_escape_query_vblank device_first, device_before, device_after;
};

static NTSTATUS wait_once(struct suite *s, struct vblank_waits *w)
{
    NTSTATUS st = SUITE_ESCAPE(s, QUERY_VBLANK, &w->device_before);

    if (st == STATUS_SUCCESS)
        st = suite_noticed_vblanks(s, w->device, &w->before);
    if (st == STATUS_SUCCESS)
        st = suite_wait_vblank_bounded(s);
    if (st == STATUS_SUCCESS)
        st = suite_noticed_vblanks(s, w->device, &w->after);
    return st == STATUS_SUCCESS ? SUITE_ESCAPE(s, QUERY_VBLANK, &w->device_after) : st;
}

/* Every wait ends with a vblank that was not noticed when it began, none is skipped on the way, and the device has had as many. */
static void wait_often(struct suite *s, struct vblank_waits *w, uint32_t n)
{
    uint32_t missed = 0;
    uint64_t had;

    for (uint32_t i = 0; i < n; i++) {
        CHECK_STATUS(s, wait_once(s, w), "WaitForVerticalBlankEvent, and the vblanks before and after");
        CHECK(s, (int32_t)(w->after - w->before) > 0, "a wait returned while vblank %u was still the last",
              w->before);
        if (!i)
            w->device_first = w->device_before;
        missed += w->device_after.vblank_seq > w->device_before.vblank_seq + 2;
    }
    had = w->device_after.vblank_seq - w->device_first.vblank_seq;
    suite_measure(s, "late_wakeups", missed);
    CHECK(s, missed <= suite_limit(s, 0.25 * n), "%u of %u waits woke more than one vblank late" SUITE_SLACK,
          missed, n);
    /* News of one may have been under way when the first wait began. */
    CHECK(s, (double)had + suite_limit(s, 1) >= n, "%u waits in %llu vblanks of the device" SUITE_SLACK, n,
          (unsigned long long)had);
}

void test_vblank_wait_sanity(struct suite *s)
{
    struct vblank_waits w = {0};

    CHECK_STATUS(s, umd_open(&w.device, NULL), "open");
    wait_often(s, &w, suite_default(s->samples, 30));
    umd_close(w.device);
}

void test_vblank_state_sanity(struct suite *s)
{
    uint32_t n = suite_default(s->samples, 10), interval = suite_default(s->interval_ms, 50);
    struct aerogpu_escape_query_vblank v = {0}, last = {0};

    for (uint32_t i = 0; i < n; i++) {
        CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_VBLANK, &v), "QUERY_VBLANK");
        CHECK(s, v.flags & AEROGPU_ESCAPE_FLAGS_VALID, "flags 0x%08X: not valid", v.flags);
        CHECK(s, v.flags & 1, "flags 0x%08X: no vblank", v.flags);
        CHECK(s, v.vblank_period_ns >= 2000000 && v.vblank_period_ns <= 250000000, "period %u ns",
              v.vblank_period_ns);
        if (i) {
            uint64_t ticks = v.vblank_seq - last.vblank_seq,
                     ns = v.last_vblank_time_ns - last.last_vblank_time_ns;
            CHECK(s, v.vblank_seq >= last.vblank_seq && v.last_vblank_time_ns >= last.last_vblank_time_ns,
                  "vblank %llu at %llu ns after %llu at %llu ns", (unsigned long long)v.vblank_seq,
                  (unsigned long long)v.last_vblank_time_ns, (unsigned long long)last.vblank_seq,
                  (unsigned long long)last.last_vblank_time_ns);
            CHECK(s, ticks, "vblank stands at %llu for %u ms", (unsigned long long)v.vblank_seq, interval);
            CHECK(s, ns == ticks * v.vblank_period_ns, "%llu vblanks in %llu ns, the period is %u",
                  (unsigned long long)ticks, (unsigned long long)ns, v.vblank_period_ns);
        }
        last = v;
        suite_sleep_ms(s, interval);
    }
    suite_measure(s, "period_ms", v.vblank_period_ns / 1e6);
}

void test_get_scanline_sanity(struct suite *s)
{
    uint32_t n = suite_default(s->samples, 50), distinct = 0, blank = 0, last = ~0u;
    D3DKMT_DISPLAYMODE mode;

    CHECK_STATUS(s, suite_mode(s, &mode), "CURRENTDISPLAYMODE");
    for (uint32_t i = 0; i < n; i++) {
        D3DKMT_GETSCANLINE g = {.hAdapter = s->adapter, .VidPnSourceId = s->source};
        CHECK_STATUS(s, D3DKMTGetScanLine(&g), "GetScanLine");
        CHECK(s, g.ScanLine < mode.Height + 40 + 1, "line %u of %u", g.ScanLine, mode.Height);
        CHECK(s, g.InVerticalBlank == (g.ScanLine >= mode.Height), "line %u of %u, in vertical blank: %u",
              g.ScanLine, mode.Height, g.InVerticalBlank);
        distinct += g.ScanLine != last;
        blank += g.InVerticalBlank;
        last = g.ScanLine;
        suite_sleep(s, suite_default(s->interval_ms, 0) * NSEC_PER_MSEC + 1300 * NSEC_PER_USEC);
    }
    suite_measure(s, "in_vblank_percent", 100.0 * blank / n);
    CHECK(s, distinct > n / 4, "%u different lines in %u samples: the scan line stands", distinct, n);
}

/* The fences of one client's work must not slow the vblank of another's: GPU busy, vblank measured. */
void test_vblank_under_load(struct suite *s)
{
    uint32_t n = suite_default(s->samples, 60);
    struct umd_device *d = NULL;
    struct umd_resource *buffer;
    struct aerogpu_escape_query_vblank a = {0}, b = {0};
    uint64_t t0, t1;
    NTSTATUS st;
    double rate;

    CHECK_STATUS(s, umd_open(&d, NULL), "open");
    st = suite_dispatch(d, &buffer, 64, 64);
    if (NT_SUCCESS(st))
        st = umd_flush(d, NULL);
    t0 = suite_now(s);
    if (NT_SUCCESS(st))
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &a);
    for (uint32_t i = 0; i < n && NT_SUCCESS(st); i++) {
        umd_dispatch(d, buffer, 64, 64, 1);
        st = umd_flush(d, NULL);
        if (NT_SUCCESS(st))
            st = suite_wait_vblank(s);
    }
    if (NT_SUCCESS(st))
        st = SUITE_ESCAPE(s, QUERY_VBLANK, &b);
    t1 = suite_now(s);
    if (NT_SUCCESS(st))
        st = umd_finish(d, suite_ms(s, suite_default(s->timeout_ms, 10000)));
    umd_close(d);
    CHECK_STATUS(s, st, "work and waits");
    rate = (double)(b.vblank_seq - a.vblank_seq) * 1e9 / (double)(t1 - t0);
    suite_measure(s, "vblank_hz", rate);
    CHECK(s,
          rate > 0.9e9 / b.vblank_period_ns / suite_limit(s, 1) &&
              rate < suite_limit(s, 1.1e9) / b.vblank_period_ns,
          "%.2f vblanks a second under load, %.2f are due" SUITE_SLACK, rate, 1e9 / b.vblank_period_ns);
}

/* The raster goes through all lines once a vblank: its speed, from pairs of samples that are less than a frame apart. */
void test_raster_status_pacing(struct suite *s)
{
    uint32_t n = suite_default(s->samples, 200), pairs = 0;
    struct aerogpu_escape_query_vblank v = {0};
    double lines = 0, seconds = 0, speed, due;
    D3DKMT_GETSCANLINE g = {.hAdapter = s->adapter, .VidPnSourceId = s->source};
    D3DKMT_DISPLAYMODE mode;
    uint64_t at = 0;
    uint32_t line = 0;

    CHECK_STATUS(s, suite_mode(s, &mode), "CURRENTDISPLAYMODE");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_VBLANK, &v), "QUERY_VBLANK");
    for (uint32_t i = 0; i < n; i++) {
        uint64_t before = suite_now(s), now;
        CHECK_STATUS(s, D3DKMTGetScanLine(&g), "GetScanLine");
        now = before + (suite_now(s) - before) / 2;
        if (at && now - at < v.vblank_period_ns * 3 / 4) {
            /* it has gone round when it is smaller; how many lines a round has beyond the visible ones nobody says */
            if (g.ScanLine >= line) {
                lines += g.ScanLine - line;
                seconds += (double)(now - at) / 1e9;
                pairs++;
            }
        }
        at = now;
        line = g.ScanLine;
        suite_sleep(s, suite_default(s->interval_ms, 0) * NSEC_PER_MSEC + 900 * NSEC_PER_USEC);
    }
    if (pairs < 10) {
        suite_skip(s, "only %u of %u samples are less than a frame apart: the machine is too busy", pairs, n);
        return;
    }
    speed = lines / seconds;
    due = mode.Height * 1e9 / v.vblank_period_ns;
    suite_measure(s, "lines_per_second", speed);
    CHECK(s, speed > 0.9 * due / suite_limit(s, 1) && speed < suite_limit(s, 1.25) * due,
          "%.0f lines a second, a frame of %u lines every %.3f ms makes about %.0f" SUITE_SLACK, speed,
          mode.Height, v.vblank_period_ns / 1e6, due);
}
