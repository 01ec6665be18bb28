/* commands.c: the table of commands, and those that only ask. */
#include "dbgctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 10000 };

/* ---- one query each ---- */

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

static int query_perf(struct dbgctl *c)
{
    int r = simple(c, "perf", dbgctl_perf);

    if (!r)
        simple(c, "last_error", dbgctl_error); /* where the device has the latch */
    c->message[0] = '\0';
    return r;
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

static int status(struct dbgctl *c)
{
    static const struct {
        const char *key;
        json_t *(*get)(struct dbgctl *, NTSTATUS *);
    } parts[] = {
        {"device", dbgctl_device},     {"features", dbgctl_features},
        {"fences", dbgctl_fences},     {"perf", dbgctl_perf},
        {"ring0", dbgctl_ring},        {"scanout0", dbgctl_scanout},
        {"cursor", dbgctl_cursor},     {"vblank", dbgctl_vblank},
        {"segments", dbgctl_segments}, {"umd_private", dbgctl_umd_private},
        {"last_error", dbgctl_error},  {"createallocation_trace", dbgctl_createalloc_summary},
    };
    unsigned answered = 0;
    NTSTATUS s, last = 0;
    char name[16];

    c->ring_id = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        json_t *v = parts[i].get(c, &s);
        if (v)
            answered++;
        else
            last = s;
        if (!v) {
            snprintf(name, sizeof(name), "0x%08x", (uint32_t)s);
            v = json_pack("{s:s}", "unavailable", name);
        }
        json_object_set_new(c->body, parts[i].key, v);
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
                dbgctl_fail(c, s, "the service does not answer");
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

/* ---- watching ---- */

static uint32_t capped(uint32_t n)
{
    return n > MAX_SAMPLES ? MAX_SAMPLES : n;
}

static int watch_fence(struct dbgctl *c)
{
    uint32_t n = capped(c->samples), stalls = 0, stalled = 0;
    struct aerogpu_escape_query_fence last = {0}, f = {0};
    json_t *list = json_array();
    uint64_t then = 0;

    json_object_set_new(c->body, "samples", list);
    for (uint32_t i = 0; i < n; i++) {
        NTSTATUS s = DBGCTL_ESCAPE(c, QUERY_FENCE, &f);
        uint64_t now = dbgctl_now_ns();
        uint64_t ds = i ? f.last_submitted_fence - last.last_submitted_fence : 0,
                 dc = i ? f.last_completed_fence - last.last_completed_fence : 0;
        double rate = i && now > then ? (double)dc * 1e9 / (double)(now - then) : 0;
        bool stall;
        if (s)
            return dbgctl_fail(c, s, "QUERY_FENCE, sample %u", i);
        stalled = i && !dc && f.last_submitted_fence != f.last_completed_fence ? stalled + 1 : 0;
        stall = stalled >= 3;
        stalls += stall;
        dbgctl_line(c,
                    "%4u  submitted %" PRIu64 " (+%" PRIu64 ")  completed %" PRIu64 " (+%" PRIu64
                    ")  pending %" PRIu64 "  %.1f/s%s",
                    i, f.last_submitted_fence, ds, f.last_completed_fence, dc,
                    f.last_submitted_fence - f.last_completed_fence, rate, stall ? "  STALLED" : "");
        json_array_append_new(list, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:f, s:b}", "index", (int)i,
                                              "last_submitted_fence", dbgctl_u64(f.last_submitted_fence),
                                              "last_completed_fence", dbgctl_u64(f.last_completed_fence),
                                              "submitted_delta", dbgctl_dec(ds), "completed_delta",
                                              dbgctl_dec(dc), "pending",
                                              dbgctl_dec(f.last_submitted_fence - f.last_completed_fence),
                                              "completed_per_second", rate, "stalled", (int)stall));
        last = f;
        then = now;
        if (i + 1 < n)
            dbgctl_sleep_ms(c->interval_ms);
    }
    json_object_set_new(c->body, "stall_warnings", json_integer(stalls));
    return DBGCTL_OK;
}

static int watch_ring(struct dbgctl *c)
{
    static struct aerogpu_escape_dump_ring_v2 r;
    uint32_t n = capped(c->samples);
    json_t *list = json_array();

    json_object_set_new(c->body, "samples", list);
    for (uint32_t i = 0; i < n; i++) {
        const struct aerogpu_escape_ring_desc_v2 *d = NULL;
        NTSTATUS s;
        memset(&r, 0, sizeof(r));
        r.ring_id = c->ring_id;
        r.desc_capacity = AEROGPU_ESCAPE_RECENT;
        s = DBGCTL_ESCAPE(c, DUMP_RING_V2, &r);
        if (s)
            return dbgctl_fail(c, s, "DUMP_RING_V2, sample %u", i);
        if (r.desc_count && r.desc_count <= AEROGPU_ESCAPE_RECENT)
            d = &r.desc[r.desc_count - 1];
        dbgctl_line(c, "%4u  head %u  tail %u  pending %u  last fence %" PRIu64 "  flags 0x%x", i, r.head,
                    r.tail, r.tail - r.head, d ? d->fence : 0, d ? d->flags : 0);
        json_array_append_new(list, json_pack("{s:i, s:I, s:I, s:I, s:o, s:o}", "index", (int)i, "head",
                                              (json_int_t)r.head, "tail", (json_int_t)r.tail, "pending",
                                              (json_int_t)(r.tail - r.head), "last_fence",
                                              d ? dbgctl_u64(d->fence) : json_null(), "last_flags",
                                              d ? dbgctl_hex(d->flags) : json_null()));
        if (i + 1 < n)
            dbgctl_sleep_ms(c->interval_ms);
    }
    return DBGCTL_OK;
}

/* ---- vblank ---- */

static int dump_vblank(struct dbgctl *c)
{
    uint32_t n = capped(c->vblank_samples);
    json_t *list = json_array();
    NTSTATUS s;

    json_object_set_new(c->body, "samples", list);
    for (uint32_t i = 0; i < n; i++) {
        json_t *v = dbgctl_vblank(c, &s);
        if (!v)
            return dbgctl_fail(c, s, "QUERY_VBLANK, sample %u", i);
        if (!i)
            json_object_set(c->body, "vblank", v);
        if (n > 1)
            json_array_append(list, v);
        json_decref(v);
        if (i + 1 < n)
            dbgctl_sleep_ms(c->vblank_interval_ms);
    }
    return DBGCTL_OK;
}

static int wait_vblank(struct dbgctl *c)
{
    uint32_t n = capped(c->vblank_samples), taken = 0;
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
    uint32_t n = capped(c->vblank_samples), blank = 0, min = ~0u, max = 0;
    json_t *list = json_array();

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
        blank += g.InVerticalBlank;
        min = g.ScanLine < min ? g.ScanLine : min;
        max = g.ScanLine > max ? g.ScanLine : max;
        dbgctl_line(c, "%4u  line %u%s", i, g.ScanLine, g.InVerticalBlank ? "  in vertical blank" : "");
        json_array_append_new(
            list, json_pack("{s:i, s:b}", "scanline", (int)g.ScanLine, "in_vblank", (int)g.InVerticalBlank));
        if (i + 1 < n)
            dbgctl_sleep_ms(c->vblank_interval_ms);
    }
    json_object_set_new(c->body, "summary",
                        json_pack("{s:i, s:i, s:i, s:i}", "samples", (int)n, "in_vblank", (int)blank, "min",
                                  (int)min, "max", (int)max));
    return DBGCTL_OK;
}

/* ---- allocations, handles, the self-test ---- */

static int write_csv(struct dbgctl *c, const json_t *entries)
{
    static const char *const columns[] = {"seq",          "call_seq", "alloc_index", "num_allocations",
                                          "create_flags", "alloc_id", "priv_flags",  "pitch_bytes",
                                          "share_token",  "size",     "flags_in",    "flags_out"};
    char *text = NULL;
    size_t size = 0, i;
    FILE *f = open_memstream(&text, &size);
    const json_t *e;
    int r;

    if (!f)
        return dbgctl_refuse(c, "no memory");
    for (i = 0; i < 12; i++)
        fprintf(f, "%s%s%s", i ? "," : "", columns[i], !strcmp(columns[i], "size") ? "_bytes" : "");
    fputc('\n', f);
    json_array_foreach(entries, i, e)
    {
        for (int k = 0; k < 12; k++) {
            const json_t *v = json_object_get(e, columns[k]);
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
        r = write_csv(c, json_object_get(json_object_get(c->body, "createallocation_trace"), "entries"));
    return r;
}

static int map_shared_handle(struct dbgctl *c)
{
    struct aerogpu_escape_map_shared_handle m = {.shared_handle = c->argument};
    NTSTATUS s = DBGCTL_ESCAPE(c, MAP_SHARED_HANDLE, &m);

    if (s)
        return dbgctl_fail(c, s, "MAP_SHARED_HANDLE of 0x%" PRIx64, c->argument);
    json_object_update(c->body, json_pack("{s:o, s:o}", "shared_handle", dbgctl_hex(c->argument),
                                          "debug_token", dbgctl_hex(m.debug_token)));
    return DBGCTL_OK;
}

static int selftest(struct dbgctl *c)
{
    struct aerogpu_escape_selftest t = {.timeout_ms = c->timeout_ms};
    uint32_t limit = c->timeout_ms;
    const char *name = "unknown", *doc = "";
    NTSTATUS s;

    c->timeout_ms = limit + 1000; /* the driver keeps its own budget */
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
                        json_pack("{s:b, s:i, s:s, s:s}", "passed", (int)t.passed, "error_code",
                                  (int)t.error_code, "error_name", name, "meaning", doc));
    if (t.passed)
        return DBGCTL_OK;
    dbgctl_refuse(c, "the self-test failed: %s, %s", name, doc);
    return t.error_code && t.error_code < 200 ? (int)t.error_code : DBGCTL_FAILED;
}

const struct dbgctl_command dbgctl_commands[] = {
    {"list-displays", {"--list-displays"}, DBGCTL_NONE, true, list_displays, "the displays there are"},
    {"status",
     {"--status", "--query-version", "--query-device"},
     DBGCTL_NONE,
     false,
     status,
     "everything at a glance"},
    {"query-umd-private",
     {"--query-umd-private"},
     DBGCTL_NONE,
     false,
     query_umd_private,
     "the UMDRIVERPRIVATE blob"},
    {"query-segments", {"--query-segments"}, DBGCTL_NONE, false, query_segments, "segments and budgets"},
    {"query-fence", {"--query-fence"}, DBGCTL_NONE, false, query_fence, "fences and error counters"},
    {"query-error", {"--query-error"}, DBGCTL_NONE, false, query_error, "the error latch"},
    {"watch-fence", {"--watch-fence"}, DBGCTL_NONE, false, watch_fence, "fences, again and again"},
    {"query-perf", {"--query-perf", "--perf"}, DBGCTL_NONE, false, query_perf, "counters"},
    {"query-scanout",
     {"--query-scanout"},
     DBGCTL_NONE,
     false,
     query_scanout,
     "scanout as the driver and the registers have it"},
    {"dump-scanout-bmp",
     {"--dump-scanout-bmp"},
     DBGCTL_PATH,
     false,
     dbgctl_dump_scanout_bmp,
     "what is on the screen"},
    {"dump-scanout-png",
     {"--dump-scanout-png"},
     DBGCTL_PATH,
     false,
     dbgctl_dump_scanout_png,
     "what is on the screen"},
    {"query-cursor",
     {"--query-cursor", "--dump-cursor"},
     DBGCTL_NONE,
     false,
     query_cursor,
     "cursor registers"},
    {"dump-cursor-bmp",
     {"--dump-cursor-bmp"},
     DBGCTL_PATH,
     false,
     dbgctl_dump_cursor_bmp,
     "the cursor's picture"},
    {"dump-cursor-png",
     {"--dump-cursor-png"},
     DBGCTL_PATH,
     false,
     dbgctl_dump_cursor_png,
     "the cursor's picture"},
    {"dump-ring", {"--dump-ring"}, DBGCTL_NONE, false, dump_ring, "ring indices and the last descriptors"},
    {"watch-ring", {"--watch-ring"}, DBGCTL_NONE, false, watch_ring, "the ring, again and again"},
    {"dump-last-cmd",
     {"--dump-last-submit", "--dump-last-cmd"},
     DBGCTL_NONE,
     false,
     dbgctl_dump_last,
     "the last streams, as files"},
    {"dump-createalloc",
     {"--dump-createalloc", "--dump-createallocation", "--dump-allocations"},
     DBGCTL_NONE,
     false,
     dump_createalloc,
     "the last allocations"},
    {"dump-vblank",
     {"--dump-vblank", "--query-vblank"},
     DBGCTL_NONE,
     false,
     dump_vblank,
     "vblank registers and interrupt"},
    {"wait-vblank", {"--wait-vblank"}, DBGCTL_NONE, false, wait_vblank, "cadence of vblank waits"},
    {"query-scanline", {"--query-scanline"}, DBGCTL_NONE, false, query_scanline, "the scan line"},
    {"map-shared-handle",
     {"--map-shared-handle"},
     DBGCTL_NUMBER,
     false,
     map_shared_handle,
     "debug token of a shared handle"},
    {"read-gpa", {"--read-gpa"}, DBGCTL_NUMBER_SIZE, false, dbgctl_read_gpa, "guest memory"},
    {"selftest", {"--selftest"}, DBGCTL_NONE, false, selftest, "the driver's self-test"},
};
const unsigned dbgctl_num_commands = sizeof(dbgctl_commands) / sizeof(dbgctl_commands[0]);
