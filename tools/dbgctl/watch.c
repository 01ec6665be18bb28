/* SPDX-License-Identifier: MIT */
/* watch.c: --watch-fence and --watch-ring: the same question again and again, what changed, and whether anything still does. */
#include "dbgctl.h"

#include <inttypes.h>
#include <string.h>

enum { STALL_AFTER = 3 /* intervals without progress */ };

/* What was asked for, before the first sample; the list that they go into. */
static json_t *begin(struct dbgctl *c)
{
    json_t *list = json_array();

    json_object_update_new(c->body,
                           json_pack("{s:I, s:I, s:I, s:I, s:o}", "samples_requested", (json_int_t)c->samples,
                                     "samples_effective", (json_int_t)c->samples, "interval_ms_requested",
                                     (json_int_t)c->interval_ms, "interval_ms", (json_int_t)c->interval_ms,
                                     "samples", list));
    return list;
}

struct fence_sample {
    struct aerogpu_escape_query_fence f;
    uint64_t start_ns, time_ns;
    uint32_t stalled; /* intervals without progress while work was pending */
};

static const char *warning(const struct fence_sample *last, const struct fence_sample *now, bool first)
{
    if (!first && now->f.last_completed_fence < last->f.last_completed_fence)
        return "RESET";
    if (!first && now->f.error_irq_count > last->f.error_irq_count)
        return "ERROR";
    return now->stalled >= STALL_AFTER ? "STALLED" : "-";
}

static void fence_line(struct dbgctl *c, json_t *list, uint32_t i, const struct fence_sample *last,
                       struct fence_sample *now)
{
    const struct aerogpu_escape_query_fence *f = &now->f;
    uint64_t ds = i ? f->last_submitted_fence - last->f.last_submitted_fence : 0,
             dc = i ? f->last_completed_fence - last->f.last_completed_fence : 0,
             pending = f->last_submitted_fence - f->last_completed_fence;
    double ms = i ? (double)(now->time_ns - last->time_ns) / 1e6 : 0,
           rate = ms > 0 ? (double)dc * 1e3 / ms : 0;
    json_t *latched = dbgctl_latched(c);
    const char *warn;

    now->stalled = i && !dc && pending ? last->stalled + 1 : 0;
    warn = warning(last, now, !i);
    dbgctl_line(c,
                "%4u  submitted %" PRIu64 " (+%" PRIu64 ")  completed %" PRIu64 " (+%" PRIu64
                ")  pending %" PRIu64 "  %.1f/s  errors %" PRIu64 " (last fence %" PRIu64 ")%s%s%s",
                i, f->last_submitted_fence, ds, f->last_completed_fence, dc, pending, rate,
                f->error_irq_count, f->last_error_fence, json_is_true(latched) ? "  latched" : "",
                *warn != '-' ? "  " : "", *warn != '-' ? warn : "");
    json_array_append_new(
        list,
        json_pack("{s:i, s:f, s:{s:o, s:o, s:o, s:o, s:o, s:o}, s:{s:o, s:o, s:f, s:f, s:b}, s:i, s:s}",
                  "index", (int)i + 1, "t_ms", (double)(now->time_ns - now->start_ns) / 1e6, "fences",
                  "submitted", dbgctl_u64(f->last_submitted_fence), "completed",
                  dbgctl_u64(f->last_completed_fence), "pending", dbgctl_dec(pending), "error_irq_count",
                  dbgctl_u64(f->error_irq_count), "last_error_fence", dbgctl_u64(f->last_error_fence),
                  "latched", latched, "delta", "d_submitted", dbgctl_dec(ds), "d_completed", dbgctl_dec(dc),
                  "dt_ms", ms, "completed_per_s", rate, "reset", (int)!strcmp(warn, "RESET"),
                  "stall_intervals", (int)now->stalled, "warn", warn));
}

int dbgctl_watch_fence(struct dbgctl *c)
{
    uint32_t n = c->samples, warnings = 0;
    struct fence_sample last = {0}, now = {0};
    json_t *list = begin(c);
    uint64_t end = dbgctl_now_ns() + (uint64_t)c->timeout_ms * 1000000;

    now.start_ns = dbgctl_now_ns();
    json_object_set_new(c->body, "overall_timeout_ms", json_integer(c->timeout_given ? c->timeout_ms : 0));
    for (uint32_t i = 0; i < n; i++) {
        NTSTATUS s = c->timeout_given && dbgctl_now_ns() >= end ? STATUS_TIMEOUT
                                                                : DBGCTL_ESCAPE(c, QUERY_FENCE, &now.f);
        if (s)
            return dbgctl_fail(c, s, "--watch-fence ended after %u of %u samples", i, n);
        now.time_ns = dbgctl_now_ns();
        fence_line(c, list, i, &last, &now);
        warnings += now.stalled >= STALL_AFTER;
        last = now;
        if (i + 1 < n)
            dbgctl_sleep_ms(c->interval_ms);
    }
    json_object_set_new(c->body, "stall_warnings", json_integer(warnings));
    return DBGCTL_OK;
}

static json_t *ring_line(struct dbgctl *c, const struct aerogpu_escape_dump_ring_v2 *r, uint32_t i,
                         int64_t delta, uint32_t stalled)
{
    const struct aerogpu_escape_ring_desc_v2 *d = r->desc_count ? &r->desc[r->desc_count - 1] : NULL;
    uint32_t pending = r->tail - r->head;
    bool stall = stalled >= STALL_AFTER;
    json_t *out;

    dbgctl_line(c, "%4u  head %u  tail %u  pending %u (%+" PRId64 ")  last fence %" PRIu64 "  flags 0x%x%s",
                i, r->head, r->tail, pending, delta, d ? d->fence : 0, d ? d->flags : 0,
                stall ? "  STALL" : "");
    out = json_pack("{s:i, s:s, s:I, s:I, s:o, s:o, s:i, s:s}", "index", (int)i + 1, "format",
                    dbgctl_ring_format(r), "head", (json_int_t)r->head, "tail", (json_int_t)r->tail,
                    "pending", dbgctl_dec(pending), "d_pending", json_sprintf("%" PRId64, delta),
                    "stall_intervals", (int)stalled, "warn", stall ? "STALL" : "-");
    if (d)
        json_object_set_new(
            out, "last",
            json_pack("{s:o, s:o}", "fence", dbgctl_u64(d->fence), "flags_u32_hex", dbgctl_hex(d->flags)));
    return out;
}

int dbgctl_watch_ring(struct dbgctl *c)
{
    static struct aerogpu_escape_dump_ring_v2 r;
    uint32_t n = c->samples, last_head = 0, last_pending = 0, stalled = 0, warnings = 0;
    json_t *list = begin(c);

    json_object_set_new(c->body, "ring_id", json_integer(c->ring_id));
    json_object_set_new(c->body, "used_v2", json_true());
    for (uint32_t i = 0; i < n; i++) {
        NTSTATUS s = dbgctl_ring_ask(c, &r);
        uint32_t pending = r.tail - r.head;
        if (s)
            return dbgctl_fail(c, s, "--watch-ring ended after %u of %u samples", i, n);
        stalled = i && pending && r.head == last_head ? stalled + 1 : 0;
        warnings += stalled >= STALL_AFTER;
        json_array_append_new(list, ring_line(c, &r, i, i ? (int64_t)pending - last_pending : 0, stalled));
        last_head = r.head;
        last_pending = pending;
        if (i + 1 < n)
            dbgctl_sleep_ms(c->interval_ms);
    }
    json_object_set_new(c->body, "stall_warnings", json_integer(warnings));
    return DBGCTL_OK;
}
