/* SPDX-License-Identifier: MIT */
/* commands.c: the table of commands, and those that only ask. */
#include "dbgctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "dxgkrnl/faults.h"

enum { STALL_AFTER = 3 /* intervals without progress */ };

/* ---- one query each ------------------------------------------------------ */

static int simple(struct dbgctl *c, const char *key, json_t *(*get)(struct dbgctl *, NTSTATUS *))
{
    NTSTATUS s;
    json_t *v = get(c, &s);

    if (!v)
        return dbgctl_fail(c, s, "%s cannot be asked for", key);
    json_object_set_new(c->body, key, v);
    return DBGCTL_OK;
}

static int query_umd_private(struct dbgctl *c)
{
    return simple(c, "umd_private", dbgctl_umd_private);
}

static int query_segments(struct dbgctl *c)
{
    return simple(c, "segments", dbgctl_segments);
}

static int query_fence(struct dbgctl *c)
{
    return simple(c, "fences", dbgctl_fences);
}

static int query_error(struct dbgctl *c)
{
    return simple(c, "error_state", dbgctl_error);
}

static json_t *unanswered(NTSTATUS s)
{
    return json_pack("{s:b, s:o}", "supported", 0, "error", dbgctl_status(s));
}

static int query_perf(struct dbgctl *c)
{
    NTSTATUS s;
    json_t *perf = dbgctl_perf(c, &s), *e;

    if (!perf)
        return dbgctl_fail(c, s, "QUERY_PERF");
    json_object_update(c->body, perf);
    json_decref(perf);
    e = dbgctl_error(c, &s); /* where the device has the latch */
    json_object_set_new(c->body, "last_error", e ? e : unanswered(s));
    return DBGCTL_OK;
}

static int query_scanout(struct dbgctl *c)
{
    return simple(c, "scanout", dbgctl_scanout);
}

static int query_cursor(struct dbgctl *c)
{
    return simple(c, "cursor", dbgctl_cursor);
}

static int dump_ring(struct dbgctl *c)
{
    return simple(c, "ring", dbgctl_ring);
}

/* The newest submission is enough at a glance. */
static json_t *ring_summary(struct dbgctl *c, NTSTATUS *s)
{
    json_t *ring = dbgctl_ring(c, s), *list = json_object_get(ring, "descriptors"), *last;

    if (!ring)
        return NULL;
    last = json_array_get(list, json_array_size(list) - 1);
    json_object_set_new(ring, "last", last ? json_incref(last) : json_null());
    json_object_del(ring, "descriptors");
    return ring;
}

static int status(struct dbgctl *c)
{
    static const struct {
        const char *key;
        json_t *(*get)(struct dbgctl *, NTSTATUS *);
    } parts[] = {
        {"device", dbgctl_device},     {"features", dbgctl_features},
        {"fences", dbgctl_fences},     {"perf", dbgctl_perf},
        {"ring0", ring_summary},       {"scanout0", dbgctl_scanout},
        {"cursor", dbgctl_cursor},     {"vblank", dbgctl_vblank},
        {"segments", dbgctl_segments}, {"umd_private", dbgctl_umd_private},
        {"last_error", dbgctl_error},  {"createallocation_trace", dbgctl_createalloc_summary},
    };
    unsigned answered = 0;
    NTSTATUS s, last = 0;

    c->ring_id = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        json_t *v = parts[i].get(c, &s);
        if (v)
            answered++;
        else
            last = s;
        json_object_set_new(c->body, parts[i].key, v ? v : unanswered(s));
    }
    return answered ? DBGCTL_OK : dbgctl_fail(c, last, "the driver answers nothing");
}

static int list_displays(struct dbgctl *c)
{
    json_t *list = json_array();
    unsigned found = 0;

    for (unsigned n = 1; n <= 16; n++) {
        D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME o = {0};
        char name[32];
        int len = snprintf(name, sizeof(name), "\\\\.\\DISPLAY%u", n);
        for (int i = 0; i < len; i++)
            o.DeviceName[i] = (WCHAR)name[i];
        NTSTATUS s = dbgctl_call(c, D3DKMT_THUNK_OpenAdapterFromGdiDisplayName, &o, sizeof(o));
        if (s) {
            if (n == 1) {
                json_object_set_new(c->body, "displays", list);
                dbgctl_fail(c, s, "no display can be opened");
                return DBGCTL_USAGE;
            }
            break;
        }
        found++;
        json_array_append_new(list, json_pack("{s:s, s:i, s:b}", "name", name, "vidpn_source_id",
                                              (int)o.VidPnSourceId, "primary", n == 1));
        D3DKMT_CLOSEADAPTER close = {.hAdapter = o.hAdapter};
        dbgctl_call(c, D3DKMT_THUNK_CloseAdapter, &close, sizeof(close));
    }
    json_object_set_new(c->body, "displays", list);
    return found ? DBGCTL_OK : dbgctl_refuse(c, "there is no display");
}

/* ---- watching ------------------------------------------------------------ */

struct fence_sample {
    struct aerogpu_escape_query_fence f;
    uint64_t time_ns;
    uint32_t stalled; /* intervals without progress while work was pending */
};

static const char *warning(const struct fence_sample *last, const struct fence_sample *now, bool first)
{
    if (!first && now->f.last_completed_fence < last->f.last_completed_fence)
        return "RESET";
    if (!first && now->f.error_irq_count > last->f.error_irq_count)
        return "ERROR";
    return now->stalled >= STALL_AFTER ? "STALLED" : "";
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
                *warn ? "  " : "", warn);
    json_array_append_new(
        list,
        json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:i, s:b, s:s}", "index", (int)i,
                  "last_submitted_fence", dbgctl_u64(f->last_submitted_fence), "last_completed_fence",
                  dbgctl_u64(f->last_completed_fence), "submitted_delta", dbgctl_dec(ds), "completed_delta",
                  dbgctl_dec(dc), "pending", dbgctl_dec(pending), "error_irq_count",
                  dbgctl_u64(f->error_irq_count), "last_error_fence", dbgctl_u64(f->last_error_fence),
                  "latched", latched, "dt_ms", ms, "completed_per_second", rate, "stall_intervals",
                  (int)now->stalled, "stalled", (int)(now->stalled >= STALL_AFTER), "warn", warn));
}

static int watch_fence(struct dbgctl *c)
{
    uint32_t n = c->samples, warnings = 0;
    struct fence_sample last = {0}, now = {0};
    json_t *list = json_array();
    uint64_t end = dbgctl_now_ns() + (uint64_t)c->timeout_ms * 1000000;

    json_object_set_new(c->body, "samples_requested", json_integer(c->samples));
    json_object_set_new(c->body, "samples", list);
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

static NTSTATUS ring_sample(struct dbgctl *c, struct aerogpu_escape_dump_ring_v2 *r)
{
    memset(r, 0, sizeof(*r));
    r->ring_id = c->ring_id;
    r->desc_capacity = AEROGPU_ESCAPE_RECENT;
    return DBGCTL_ESCAPE(c, DUMP_RING_V2, r);
}

static int watch_ring(struct dbgctl *c)
{
    static struct aerogpu_escape_dump_ring_v2 r;
    uint32_t n = c->samples, last_head = 0, last_pending = 0, stalled = 0, warnings = 0;
    json_t *list = json_array();

    json_object_set_new(c->body, "ring_id", json_integer(c->ring_id));
    json_object_set_new(c->body, "samples_requested", json_integer(c->samples));
    json_object_set_new(c->body, "samples", list);
    for (uint32_t i = 0; i < n; i++) {
        const struct aerogpu_escape_ring_desc_v2 *d = NULL;
        NTSTATUS s = ring_sample(c, &r);
        uint32_t pending = r.tail - r.head;
        int64_t delta = i ? (int64_t)pending - last_pending : 0;
        bool stall;
        if (s)
            return dbgctl_fail(c, s, "--watch-ring ended after %u of %u samples", i, n);
        if (r.desc_count && r.desc_count <= AEROGPU_ESCAPE_RECENT)
            d = &r.desc[r.desc_count - 1];
        stalled = i && pending && r.head == last_head ? stalled + 1 : 0;
        stall = stalled >= STALL_AFTER;
        warnings += stall;
        dbgctl_line(
            c, "%4u  head %u  tail %u  pending %u (%+" PRId64 ")  last fence %" PRIu64 "  flags 0x%x%s", i,
            r.head, r.tail, pending, delta, d ? d->fence : 0, d ? d->flags : 0, stall ? "  STALLED" : "");
        json_array_append_new(
            list, json_pack("{s:i, s:I, s:I, s:I, s:I, s:i, s:b, s:o, s:o}", "index", (int)i, "head",
                            (json_int_t)r.head, "tail", (json_int_t)r.tail, "pending", (json_int_t)pending,
                            "pending_delta", (json_int_t)delta, "stall_intervals", (int)stalled, "stalled",
                            (int)stall, "last_fence", d ? dbgctl_u64(d->fence) : json_null(), "last_flags",
                            d ? dbgctl_hex(d->flags) : json_null()));
        last_head = r.head;
        last_pending = pending;
        if (i + 1 < n)
            dbgctl_sleep_ms(c->interval_ms);
    }
    json_object_set_new(c->body, "stall_warnings", json_integer(warnings));
    return DBGCTL_OK;
}

/* ---- vblank -------------------------------------------------------------- */

static uint64_t dec_of(const json_t *v, const char *key)
{
    return strtoull(json_string_value(json_object_get(json_object_get(v, key), "dec")), NULL, 10);
}

/* Each vblank by itself: an average over several shows no late one. */
struct each_vblank {
    uint64_t seq, ns;
    unsigned taken;
    double min, max;
};

static void note_vblank(struct each_vblank *e, const json_t *v)
{
    uint64_t seq = dec_of(v, "vblank_seq"), ns = dec_of(v, "last_vblank_time_ns");
    double ms = (double)(ns - e->ns) / 1e6;

    if (e->seq && seq == e->seq + 1) {
        e->min = !e->taken || ms < e->min ? ms : e->min;
        e->max = ms > e->max ? ms : e->max;
        e->taken++;
    }
    e->seq = seq;
    e->ns = ns;
}

/* Sleeps, and looks at every vblank meanwhile. */
static void sleep_and_look(struct dbgctl *c, uint32_t ms, struct each_vblank *e)
{
    enum { LOOK_MS = 4 };
    uint64_t end = dbgctl_now_ns() + ms * UINT64_C(1000000), now;
    NTSTATUS s;

    while ((now = dbgctl_now_ns()) < end) {
        uint64_t left = (end - now) / 1000000 + 1;
        json_t *v;
        dbgctl_sleep_ms(left < LOOK_MS ? (uint32_t)left : LOOK_MS);
        v = dbgctl_vblank(c, &s);
        if (v)
            note_vblank(e, v);
        json_decref(v);
    }
}

/* What lies between the samples: the cadence of vblank itself, from the registers. */
static json_t *vblank_cadence(const json_t *samples, const struct each_vblank *each)
{
    uint64_t vblanks = 0, time = 0;
    unsigned taken = 0, stalls = 0;

    for (size_t i = 1; i < json_array_size(samples); i++) {
        const json_t *a = json_array_get(samples, i - 1), *b = json_array_get(samples, i);
        uint64_t n = dec_of(b, "vblank_seq") - dec_of(a, "vblank_seq"),
                 ns = dec_of(b, "last_vblank_time_ns") - dec_of(a, "last_vblank_time_ns");
        taken += n != 0;
        stalls += n == 0;
        vblanks += n;
        time += ns;
    }
    return json_pack("{s:i, s:f, s:f, s:f, s:i, s:f, s:i}", "intervals", (int)taken, "avg_ms",
                     vblanks ? (double)time / 1e6 / (double)vblanks : 0.0, "min_ms", each->min, "max_ms",
                     each->max, "seen", (int)each->taken, "hz",
                     time ? (double)vblanks * 1e9 / (double)time : 0.0, "stalls", (int)stalls);
}

/* The interrupt was asked for once and is not on now: by itself no fault. */
static bool is_masked(const json_t *v)
{
    const char *mask = json_string_value(json_object_get(json_object_get(v, "irq_enable"), "value"));

    return json_is_object(json_object_get(v, "vblank_interrupt_type")) && mask &&
           !(strtoul(mask, NULL, 0) & 2);
}

static int dump_vblank(struct dbgctl *c)
{
    uint32_t n = c->vblank_samples;
    bool masked = true;
    json_t *list = json_array();
    struct each_vblank each = {0};
    NTSTATUS s;

    json_object_set_new(c->body, "samples", list);
    for (uint32_t i = 0; i < n; i++) {
        json_t *v = dbgctl_vblank(c, &s);
        if (!v)
            return dbgctl_fail(c, s, "QUERY_VBLANK, sample %u", i);
        json_object_set(c->body, "vblank", v); /* the last one */
        masked = masked && is_masked(v);
        json_array_append(list, v);
        note_vblank(&each, v);
        json_decref(v);
        if (i + 1 < n)
            sleep_and_look(c, c->vblank_interval_ms, &each);
    }
    if (n > 1)
        json_object_set_new(c->body, "summary", vblank_cadence(list, &each));
    else if (!c->json)
        json_object_del(c->body, "samples"); /* it is "vblank" */
    if (masked)
        json_object_set_new(
            c->body, "note",
            json_string(
                "VBLANK is off in IRQ_ENABLE, as it is while nobody waits for a vblank; it must be on while aerogpu_dbgctl --wait-vblank runs beside this"));
    return DBGCTL_OK;
}

static int wait_vblank(struct dbgctl *c)
{
    uint32_t n = c->vblank_samples, taken = 0;
    double sum = 0, min = 0, max = 0;
    json_t *list = json_array();
    uint64_t last = 0;

    json_object_set_new(c->body, "intervals_ms", list);
    for (uint32_t i = 0; i <= n; i++) { /* the first one only sets the clock */
        D3DKMT_WAITFORVERTICALBLANKEVENT w = {.hAdapter = c->adapter, .VidPnSourceId = c->source};
        NTSTATUS s = dbgctl_call(c, D3DKMT_THUNK_WaitForVerticalBlankEvent, &w, sizeof(w));
        uint64_t now = dbgctl_now_ns();
        if (s && c->source && s != STATUS_TIMEOUT) {
            c->source = 0;
            i--;
            continue;
        }
        if (s)
            return dbgctl_fail(c, s, "WaitForVerticalBlankEvent, wait %u, at most %u ms", i, c->timeout_ms);
        if (i) {
            double ms = (double)(now - last) / 1e6;
            json_array_append_new(list, json_real(ms));
            sum += ms;
            min = !taken || ms < min ? ms : min;
            max = ms > max ? ms : max;
            taken++;
        }
        last = now;
    }
    json_object_set_new(c->body, "wait_vblank",
                        json_pack("{s:i, s:f, s:f, s:f, s:f}", "samples", (int)taken, "avg_ms",
                                  taken ? sum / taken : 0.0, "min_ms", min, "max_ms", max, "hz",
                                  sum > 0 ? taken * 1e3 / sum : 0.0));
    return DBGCTL_OK;
}

static int query_scanline(struct dbgctl *c)
{
    uint32_t n = c->vblank_samples, blank = 0, min = ~0u, max = 0, asked = c->source;
    json_t *list = json_array(), *summary;

    json_object_set_new(c->body, "samples", list);
    for (uint32_t i = 0; i < n; i++) {
        D3DKMT_GETSCANLINE g = {.hAdapter = c->adapter, .VidPnSourceId = c->source};
        NTSTATUS s = dbgctl_call(c, D3DKMT_THUNK_GetScanLine, &g, sizeof(g));
        if (s && c->source && s != STATUS_TIMEOUT) {
            c->source = 0;
            i--;
            continue;
        }
        if (s)
            return dbgctl_fail(c, s, "GetScanLine, sample %u", i);
        if (g.InVerticalBlank) {
            blank++;
        } else {
            min = g.ScanLine < min ? g.ScanLine : min;
            max = g.ScanLine > max ? g.ScanLine : max;
        }
        dbgctl_line(c, "%4u  line %u%s", i, g.ScanLine, g.InVerticalBlank ? "  in vertical blank" : "");
        json_array_append_new(list, json_pack("{s:i, s:i, s:i, s:b}", "index", (int)i + 1, "vidpn_source_id",
                                              (int)c->source, "scanline", (int)g.ScanLine, "in_vblank",
                                              (int)g.InVerticalBlank));
        if (i + 1 < n)
            dbgctl_sleep_ms(c->vblank_interval_ms);
    }
    summary = json_pack("{s:i, s:i, s:i}", "samples", (int)n, "in_vblank", (int)blank, "out_vblank",
                        (int)(n - blank));
    if (blank < n)
        json_object_set_new(summary, "out_scanline_range",
                            json_pack("{s:i, s:i}", "min", (int)min, "max", (int)max));
    json_object_update_new(c->body,
                           json_pack("{s:i, s:i, s:i, s:b, s:i, s:o}", "vidpn_source_id_requested",
                                     (int)asked, "vidpn_source_id", (int)c->source, "samples_requested",
                                     (int)n, "fallback_to_source0", (int)(asked != c->source), "interval_ms",
                                     (int)c->vblank_interval_ms, "summary", summary));
    return DBGCTL_OK;
}

/* ---- the driver's log ---------------------------------------------------- */

/* "NUMBER SECONDS LEVEL TEXT" */
static json_t *log_line(const char *line)
{
    char level = 0;
    unsigned long long number = 0;
    double time = 0;
    int at = 0;

    if (sscanf(line, "%llu %lf %c %n", &number, &time, &level, &at) < 3 || !at)
        return json_pack("{s:n, s:n, s:n, s:s}", "number", "time", "level", "text", line);
    return json_pack("{s:I, s:f, s:s#, s:s}", "number", (json_int_t)number, "time", time, "level", &level, 1,
                     "text", line + at);
}

static int dump_log(struct dbgctl *c)
{
    static struct aerogpu_escape_read_log e;
    json_t *list = json_array();
    uint64_t next = 0;

    json_object_set_new(c->body, "log", list);
    for (;;) {
        char *line, *end = NULL;
        NTSTATUS s;
        memset(&e, 0, sizeof(e));
        e.first = next;
        s = dbgctl_escape(c, AEROGPU_EXT_ESCAPE_OP_READ_LOG, &e, sizeof(e));
        if (s)
            return dbgctl_fail(c, s, "READ_LOG");
        if (e.next <= next || !e.text_bytes || e.text_bytes > sizeof(e.text) ||
            json_array_size(list) >= DBGCTL_MAX_SAMPLES)
            break;
        if (json_array_size(list) == 0 && e.first)
            json_object_set_new(c->body, "lines_lost", json_integer((json_int_t)e.first));
        e.text[e.text_bytes - 1] = '\0';
        for (line = strtok_r(e.text, "\n", &end); line; line = strtok_r(NULL, "\n", &end)) {
            if (c->json)
                json_array_append_new(list, log_line(line));
            else
                puts(line);
        }
        next = e.next;
    }
    if (!c->json)
        json_object_clear(c->body);
    return DBGCTL_OK;
}

/* ---- allocations, handles, the self-test --------------------------------- */

/* The first three columns are the same in each row: whether entries were overwritten between two dumps. */
static int write_csv(struct dbgctl *c, const json_t *trace)
{
    static const char *const columns[] = {"write_index", "entry_count", "entry_capacity",  "seq",
                                          "call_seq",    "alloc_index", "num_allocations", "create_flags",
                                          "alloc_id",    "priv_flags",  "pitch_bytes",     "share_token",
                                          "size",        "flags_in",    "flags_out"};
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    char *text = NULL;
    size_t size = 0, i;
    FILE *f = open_memstream(&text, &size);
    const json_t *e;
    int r;

    if (!f)
        return dbgctl_refuse(c, "no memory");
    for (i = 0; i < COLUMNS; i++)
        fprintf(f, "%s%s%s", i ? "," : "", columns[i], !strcmp(columns[i], "size") ? "_bytes" : "");
    fputc('\n', f);
    json_array_foreach(json_object_get(trace, "entries"), i, e) {
        for (int k = 0; k < COLUMNS; k++) {
            const json_t *v = json_object_get(k < 3 ? trace : e, columns[k]);
            if (json_is_object(v))
                v = json_object_get(v, "bytes");
            fputs(k ? "," : "", f);
            if (json_is_integer(v))
                fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
            else
                fputs(json_string_value(v), f);
        }
        fputc('\n', f);
    }
    fclose(f);
    r = dbgctl_write_file(c->csv_path, text, size);
    free(text);
    json_object_set_new(c->body, "csv_path", json_string(c->csv_path));
    return r ? dbgctl_refuse(c, "%s: %s", c->csv_path, strerror(-r)) : DBGCTL_OK;
}

static int dump_createalloc(struct dbgctl *c)
{
    int r = simple(c, "createallocation_trace", dbgctl_createalloc);

    if (!r && c->csv_path)
        r = write_csv(c, json_object_get(c->body, "createallocation_trace"));
    return r;
}

static int map_shared_handle(struct dbgctl *c)
{
    struct aerogpu_escape_map_shared_handle m = {.shared_handle = c->argument};
    NTSTATUS s = DBGCTL_ESCAPE(c, MAP_SHARED_HANDLE, &m);

    if (s == STATUS_NOT_SUPPORTED)
        c->hint =
            "EnableMapSharedHandleEscape = 1 in the service's settings opens it, to root and the service's user";
    else if (s == STATUS_INVALID_HANDLE)
        c->hint =
            "the handle is that of a shared resource that lives: hGlobalShare of D3DKMTCreateAllocation";
    if (s)
        return dbgctl_fail(c, s, "MAP_SHARED_HANDLE of 0x%" PRIx64, c->argument);
    json_object_update(c->body, json_pack("{s:o, s:o}", "shared_handle", dbgctl_hex(c->argument),
                                          "debug_token", dbgctl_u64(m.debug_token)));
    return DBGCTL_OK;
}

/* The parts of the self-test, in the order in which the driver runs them: it stops at the first that fails, and leaves out what
 * the device does not have, or what only a scanout that is on would show. */
static json_t *subchecks(struct dbgctl *c, uint32_t code)
{
    enum { RING, VBLANK, IRQ, CURSOR, NONE } failed = NONE, stage;
    static const char *const names[] = {"ring", "vblank", "irq", "cursor"};
    struct aerogpu_escape_query_scanout scanout = {.vidpn_source_id = c->source};
    struct aerogpu_umd_private p = {0};
    bool known = !dbgctl_query(c, KMTQAITYPE_UMDRIVERPRIVATE, &p, sizeof(p)),
         off = !DBGCTL_ESCAPE(c, QUERY_SCANOUT, &scanout) && !scanout.mmio_enable;
    uint64_t features;
    json_t *o = json_object();

    memcpy(&features, (uint8_t *)&p + offsetof(struct aerogpu_umd_private, device_features),
           sizeof(features));
    switch (code) {
    case AEROGPU_SELFTEST_OK:
        break;
    case AEROGPU_SELFTEST_VBLANK_REGS_OUT_OF_RANGE:
    case AEROGPU_SELFTEST_VBLANK_SEQ_STUCK:
    case AEROGPU_SELFTEST_TIME_BUDGET_EXHAUSTED:
        failed = VBLANK;
        break;
    case AEROGPU_SELFTEST_VBLANK_IRQ_REGS_OUT_OF_RANGE:
    case AEROGPU_SELFTEST_VBLANK_IRQ_NOT_LATCHED:
    case AEROGPU_SELFTEST_VBLANK_IRQ_NOT_CLEARED:
    case AEROGPU_SELFTEST_VBLANK_IRQ_NOT_DELIVERED:
        failed = IRQ;
        break;
    case AEROGPU_SELFTEST_CURSOR_REGS_OUT_OF_RANGE:
    case AEROGPU_SELFTEST_CURSOR_RW_MISMATCH:
        failed = CURSOR;
        break;
    default:
        failed = RING;
    }
    for (stage = RING; stage < NONE; stage++) {
        uint64_t feature = stage == CURSOR ? AEROGPU_FEATURE_CURSOR : AEROGPU_FEATURE_VBLANK;
        bool there = stage == RING || (features & feature && (stage == CURSOR || !off));
        const char *what = stage != RING && !known                                            ? "unknown"
                           : !there                                                           ? "skip"
                           : stage < failed                                                   ? "pass"
                           : stage > failed || code == AEROGPU_SELFTEST_TIME_BUDGET_EXHAUSTED ? "skip"
                                                                                              : "fail";
        json_object_set_new(o, names[stage], json_string(what));
    }
    return o;
}

static int selftest(struct dbgctl *c)
{
    struct aerogpu_escape_selftest t = {.timeout_ms = c->timeout_ms};
    uint32_t limit = c->timeout_ms;
    const char *name = "unknown", *doc = "";
    NTSTATUS s;

    c->timeout_ms = limit < UINT32_MAX - 1000 ? limit + 1000 : limit; /* the driver keeps its own budget */
    s = DBGCTL_ESCAPE(c, SELFTEST, &t);
    c->timeout_ms = limit;
    if (s) {
        dbgctl_fail(c, s, "SELFTEST");
        return DBGCTL_TRANSPORT;
    }
    switch (t.error_code) {
#define ROW(value, NAME, text)                                                                               \
    case value:                                                                                              \
        name = #NAME;                                                                                        \
        doc = text;                                                                                          \
        break;
        AEROGPU_SELFTEST_CODES(ROW)
#undef ROW
    default:
        break;
    }
    json_object_set_new(c->body, "selftest",
                        json_pack("{s:b, s:i, s:s, s:s, s:o}", "passed", (int)t.passed, "error_code",
                                  (int)t.error_code, "error_name", name, "meaning", doc, "subchecks",
                                  subchecks(c, t.error_code)));
    if (t.passed)
        return DBGCTL_OK;
    dbgctl_refuse(c, "the self-test failed: %s, %s", name, doc);
    return t.error_code && t.error_code < 200 ? (int)t.error_code : DBGCTL_FAILED;
}

/* C(name, its options, argument, function, what it is for, the options that are its own) */
#define C(name, names, arg, fn, doc)                                                                         \
    {                                                                                                        \
        name, {GROUP names}, DBGCTL_##arg, false, fn, doc                                                    \
    }
#define GROUP(...)                __VA_ARGS__
#define FAULT_DOC(id, name, text) " " name ": " text ";"
const struct dbgctl_command dbgctl_commands[] = {
    {"list-displays", {"--list-displays"}, DBGCTL_NONE, true, list_displays, "the displays there are"},
    C("status", ("--status", "--query-version", "--query-device"), NONE, status,
      "everything at a glance: device, features, fences, counters, ring 0, scanout, cursor, vblank, segments, UMDRIVERPRIVATE, last error, trace of allocations. The first command of any bug report"),
    C("query-umd-private", ("--query-umd-private"), NONE, query_umd_private,
      "the UMDRIVERPRIVATE blob: ABI and features for user-mode drivers"),
    C("query-segments", ("--query-segments"), NONE, query_segments, "memory segments and budgets"),
    C("query-fence", ("--query-fence"), NONE, query_fence,
      "last submitted and completed fence, error counters"),
    C("query-error", ("--query-error"), NONE, query_error,
      "the error latch: code, fence and count of the last error since the last reset; the adapter goes on all the same, for an error takes only the device whose work it was"),
    C("watch-fence", ("--watch-fence"), NONE, watch_fence,
      "a line for each of --samples, --interval-ms apart: fences, what changed, completions a second, error interrupts, whether an error is latched. A completed fence that does not move for three intervals while work is pending is marked STALLED, one that went back RESET, a new error ERROR. After --timeout-ms it ends, and fails"),
    C("query-perf", ("--query-perf", "--perf"), NONE, query_perf,
      "counters of the driver: fences, ring0, submits, irqs, resets, device_error, vblank, selftest, and others. Under submits, present counts DMA buffers that are marked as presents; a flip goes through the registers and is none"),
    C("metrics", ("--metrics"), NONE, dbgctl_metrics,
      "of the adapter and of each client: submissions, queue depth, presents, latency from submission to completion as average, p50, p95, p99 and longest, rates over --interval-ms; vblanks, missed ones and their jitter"),
    C("query-scanout", ("--query-scanout"), NONE, query_scanout,
      "scanout as the driver and the registers have it, and whether the two agree"),
    C("dump-scanout-bmp", ("--dump-scanout-bmp"), PATH, dbgctl_dump_scanout_bmp,
      "what is on the screen, as BMP"),
    C("dump-scanout-png", ("--dump-scanout-png"), PATH, dbgctl_dump_scanout_png,
      "what is on the screen, as PNG"),
    C("query-cursor", ("--query-cursor", "--dump-cursor"), NONE, query_cursor, "cursor registers"),
    C("dump-cursor-bmp", ("--dump-cursor-bmp"), PATH, dbgctl_dump_cursor_bmp, "the cursor's picture, as BMP"),
    C("dump-cursor-png", ("--dump-cursor-png"), PATH, dbgctl_dump_cursor_png, "the cursor's picture, as PNG"),
    C("dump-ring", ("--dump-ring"), NONE, dump_ring,
      "indices of ring --ring-id and the last descriptors, the newest last"),
    C("watch-ring", ("--watch-ring"), NONE, watch_ring,
      "head and tail of ring --ring-id, a line for each of --samples; marks a stall"),
    C("dump-last-cmd", ("--dump-last-submit", "--dump-last-cmd"), NONE, dbgctl_dump_last,
      "write the stream of the newest submission to --cmd-out (or --out), its allocation table to FILE.alloc_table.bin or to --alloc-out (an empty file if it has none), and a summary to FILE.txt. --index-from-tail takes an older one; --count several, as base_K.bin with the index from the tail; a trailing .bin is no part of the base. `aerogpu show FILE` decodes what was written"),
    C("dump-createalloc", ("--dump-createalloc", "--dump-createallocation", "--dump-allocations"), NONE,
      dump_createalloc,
      "the last allocations that were created; --csv writes them as a table whose first columns, write_index, entry_count and entry_capacity, tell what was overwritten between two dumps"),
    C("dump-log", ("--dump-log"), NONE, dump_log,
      "the driver's own log, the oldest line that is left first: number, time in seconds, level (E, W, T or I), text"),
    C("dump-vblank", ("--dump-vblank", "--query-vblank"), NONE, dump_vblank,
      "vblank registers, interrupt mask and the interrupt type asked for; with several --vblank-samples the cadence between them. The vblank interrupt is on while somebody waits: VBLANK belongs into IRQ_ENABLE then, and is off else"),
    C("wait-vblank", ("--wait-vblank"), NONE, wait_vblank, "cadence of D3DKMTWaitForVerticalBlankEvent"),
    C("query-scanline", ("--query-scanline"), NONE, query_scanline,
      "D3DKMTGetScanLine: line and vertical blank"),
    C("map-shared-handle", ("--map-shared-handle"), NUMBER, map_shared_handle,
      "the debug token of a shared resource's handle (hGlobalShare of D3DKMTCreateAllocation), the same in every process while the resource lives; it is not the share token of the protocol. The handles that processes have in common here are those of shared resources: they stand for the section objects of Windows"),
    C("read-gpa", ("--read-gpa"), NUMBER_SIZE, dbgctl_read_gpa,
      "guest memory: 256 bytes, N in the word behind, or --size. 256 of them are shown, 4096 with --force; --out writes all of them, or no file at all"),
    C("selftest", ("--selftest"), NONE, selftest, "the driver's self-test; its code is the exit code"),
    C("inject", ("--inject"), FAULT, dbgctl_inject,
      "break something of the running service, VALUE (1) times or as long as the fault says; 0 disarms. Faults:" DXGK_FAULTS(
          FAULT_DOC)),
    C("force-tdr", ("--force-tdr"), NONE, dbgctl_force_tdr,
      "have the adapter reset as after a hang, and wait until it was: devices that had work are lost"),
};
#undef C
#undef GROUP
#undef FAULT_DOC
const unsigned dbgctl_num_commands = sizeof(dbgctl_commands) / sizeof(dbgctl_commands[0]);
