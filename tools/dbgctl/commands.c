/* SPDX-License-Identifier: MIT */
/* commands.c: the table of commands, and those that only ask once. */
#include "dbgctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "base/strbuf.h"
#include "dxgkrnl/faults.h"

/* ---- one query each ------------------------------------------------------ */

/* The fields of the answer are those of the document, or of its part `key`. */
static int simple(struct dbgctl *c, const char *key, json_t *(*get)(struct dbgctl *, NTSTATUS *))
{
    NTSTATUS s;
    json_t *v = get(c, &s);

    if (!v)
        return dbgctl_fail(c, s, "--%s is not answered", c->name);
    if (key)
        json_object_set_new(c->body, key, v);
    else
        json_object_update_new(c->body, v);
    return DBGCTL_OK;
}

static int query_umd_private(struct dbgctl *c)
{
    return simple(c, NULL, dbgctl_umd_private);
}

static int query_segments(struct dbgctl *c)
{
    return simple(c, NULL, dbgctl_segments);
}

static int query_fence(struct dbgctl *c)
{
    return simple(c, "fences", dbgctl_fences);
}

static int query_error(struct dbgctl *c)
{
    return simple(c, NULL, dbgctl_error);
}

static json_t *unanswered(NTSTATUS s)
{
    return json_pack("{s:b, s:b, s:o}", "supported", 0, "available", 0, "error", dbgctl_status(s));
}

static int query_perf(struct dbgctl *c)
{
    int r = simple(c, NULL, dbgctl_perf);
    NTSTATUS s;
    json_t *e;

    if (r)
        return r;
    e = dbgctl_error(c, &s); /* where the device has the latch */
    json_object_set_new(c->body, "last_error", e ? e : unanswered(s));
    return DBGCTL_OK;
}

static int query_scanout(struct dbgctl *c)
{
    struct aerogpu_escape_query_scanout q;
    NTSTATUS s = dbgctl_scanout_ask(c, &q);

    if (s)
        return dbgctl_fail(c, s, "QUERY_SCANOUT");
    json_object_update_new(c->body, dbgctl_sources(c, q.vidpn_source_id));
    json_object_set_new(c->body, "scanout", dbgctl_scanout_of(&q));
    return DBGCTL_OK;
}

static int query_cursor(struct dbgctl *c)
{
    return simple(c, "cursor", dbgctl_cursor);
}

static int dump_ring(struct dbgctl *c)
{
    return simple(c, NULL, dbgctl_ring);
}

static json_t *fences_summary(struct dbgctl *c, NTSTATUS *s)
{
    json_t *out = dbgctl_fences(c, s);

    if (out)
        json_object_set_new(out, "supported", json_true());
    return out;
}

static int status(struct dbgctl *c)
{
    static const struct {
        const char *key;
        json_t *(*get)(struct dbgctl *, NTSTATUS *);
    } parts[] = {
        {"device", dbgctl_device},
        {"fences", fences_summary},
        {"perf", dbgctl_perf},
        {"ring0", dbgctl_ring_summary},
        {"scanout0", dbgctl_scanout},
        {"cursor", dbgctl_cursor},
        {"vblank", dbgctl_vblank},
        {"segments", dbgctl_segments_summary},
        {"umd_private", dbgctl_umd_private_summary},
        {"last_error", dbgctl_error},
        {"createallocation_trace", dbgctl_createalloc_summary},
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

/* What the adapter calls itself. */
static json_t *adapter_string(struct dbgctl *c, D3DKMT_HANDLE adapter)
{
    static D3DKMT_ADAPTERREGISTRYINFO names;
    char text[128];
    size_t n = 0;

    c->adapter = adapter;
    if (dbgctl_query(c, KMTQAITYPE_ADAPTERREGISTRYINFO, &names, sizeof(names)))
        names.AdapterString[0] = 0;
    c->adapter = 0;
    for (; n + 1 < sizeof(text) && names.AdapterString[n]; n++)
        text[n] = names.AdapterString[n] < 128 ? (char)names.AdapterString[n] : '?';
    text[n] = '\0';
    return json_string(text);
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
        json_array_append_new(list,
                              json_pack("{s:i, s:s, s:o, s:b, s:b, s:i}", "index", (int)n - 1, "device_name",
                                        name, "device_string", adapter_string(c, o.hAdapter), "primary",
                                        n == 1, "active", 1, "vidpn_source_id", (int)o.VidPnSourceId));
        D3DKMT_CLOSEADAPTER close = {.hAdapter = o.hAdapter};
        dbgctl_call(c, D3DKMT_THUNK_CloseAdapter, &close, sizeof(close));
    }
    json_object_set_new(c->body, "displays", list);
    return found ? DBGCTL_OK : dbgctl_refuse(c, "there is no display");
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
static int write_csv(struct dbgctl *c, const struct aerogpu_escape_dump_createallocation *t)
{
    struct strbuf b = {0};
    int r;

    strbuf_puts(
        &b, "write_index,entry_count,entry_capacity,seq,call_seq,alloc_index,num_allocations,create_flags,"
            "alloc_id,priv_flags,pitch_bytes,share_token,size_bytes,flags_in,flags_out\n");
    for (uint32_t i = 0; i < t->entry_count && i < AEROGPU_ESCAPE_RECENT; i++) {
        const struct aerogpu_escape_createallocation *e = &t->entries[i];
        strbuf_printf(&b, "%u,%u,%u,%u,%u,%u,%u,0x%x,0x%x,0x%x,%u,0x%" PRIx64 ",%" PRIu64 ",0x%x,0x%x\n",
                      t->write_index, t->entry_count, t->entry_capacity, e->seq, e->call_seq, e->alloc_index,
                      e->num_allocations, e->create_flags, e->alloc_id, e->priv_flags, e->pitch_bytes,
                      (uint64_t)e->share_token, (uint64_t)e->size_bytes, e->flags_in, e->flags_out);
    }
    r = strbuf_failed(&b) ? -ENOMEM : dbgctl_write_file(c->csv_path, strbuf_str(&b), strlen(strbuf_str(&b)));
    strbuf_finish(&b);
    json_object_update_new(c->body, json_pack("{s:s, s:b}", "csv_path", c->csv_path, "csv_written", (int)!r));
    return r ? dbgctl_refuse(c, "%s: %s", c->csv_path, strerror(-r)) : DBGCTL_OK;
}

static int dump_createalloc(struct dbgctl *c)
{
    static struct aerogpu_escape_dump_createallocation t;
    NTSTATUS s = dbgctl_createalloc_ask(c, &t);

    if (s)
        return dbgctl_fail(c, s, "DUMP_CREATEALLOCATION");
    json_object_update_new(c->body, dbgctl_createalloc_of(&t));
    return c->csv_path ? write_csv(c, &t) : DBGCTL_OK;
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
    json_object_update(c->body, json_pack("{s:o, s:{s:o, s:I}}", "shared_handle_hex", dbgctl_hex(c->argument),
                                          "debug_token", "hex", dbgctl_hex(m.debug_token), "dec",
                                          (json_int_t)m.debug_token));
    return DBGCTL_OK;
}

/* The parts of the self-test, in the order in which the driver runs them: it stops at the first that fails, and leaves out what
 * the device does not have, or what only a scanout that is on would show. */
static void subchecks(struct dbgctl *c, uint32_t code)
{
    enum { RING, VBLANK, IRQ, CURSOR, NONE } failed = NONE, stage;
    static const char *const names[] = {"ring", "vblank", "irq", "cursor"};
    struct aerogpu_escape_query_scanout scanout = {.vidpn_source_id = c->source};
    struct aerogpu_umd_private p = {0};
    bool known = !dbgctl_query(c, KMTQAITYPE_UMDRIVERPRIVATE, &p, sizeof(p)),
         scanout_known = !DBGCTL_ESCAPE(c, QUERY_SCANOUT, &scanout),
         off = scanout_known && (!scanout.mmio_enable || scanout.flags >> 1 & 1);
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
    json_object_set_new(c->body, "subchecks", o);
    json_object_update_new(
        c->body, json_pack("{s:b, s:b}", "features_known", (int)known, "scanout_known", (int)scanout_known));
    if (known)
        json_object_set_new(c->body, "features_lo_hex", dbgctl_hex(features));
    if (scanout_known)
        json_object_set_new(c->body, "scanout_enabled", json_boolean(!off));
}

static int selftest(struct dbgctl *c)
{
    struct aerogpu_escape_selftest t = {.timeout_ms = c->timeout_ms};
    uint32_t limit = c->timeout_ms;
    const char *name = "unknown", *doc = "";
    NTSTATUS s;

    c->call_ms = limit < UINT32_MAX - 1000 ? limit + 1000 : limit; /* the driver keeps its own budget */
    s = DBGCTL_ESCAPE(c, SELFTEST, &t);
    c->call_ms = limit;
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
    json_object_update_new(c->body, json_pack("{s:b, s:I, s:i, s:s, s:s}", "passed", (int)t.passed,
                                              "timeout_ms", (json_int_t)limit, "error_code",
                                              (int)t.error_code, "error_code_str", name, "meaning", doc));
    subchecks(c, t.error_code);
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
const struct dbgctl_command
    dbgctl_commands[] =
        {
            {"list-displays",
             {"--list-displays"},
             DBGCTL_NONE,
             true,
             list_displays,
             "the displays there are"},
            C("status", ("--status", "--query-version", "--query-device"), NONE, status,
              "everything at a glance: device, features, fences, counters, ring 0, scanout, cursor, vblank, segments, UMDRIVERPRIVATE, last error, trace of allocations. The first command of any bug report"),
            C("query-umd-private", ("--query-umd-private"), NONE, query_umd_private,
              "the UMDRIVERPRIVATE blob: ABI and features for user-mode drivers"),
            C("query-segments", ("--query-segments"), NONE, query_segments, "memory segments and budgets"),
            C("query-fence", ("--query-fence"), NONE, query_fence,
              "last submitted and completed fence, error counters"),
            C("query-error", ("--query-error"), NONE, query_error,
              "the error latch: code, fence and count of the last error since the last reset; the adapter goes on all the same, for an error takes only the device whose work it was"),
            C("watch-fence", ("--watch-fence"), NONE, dbgctl_watch_fence,
              "a line for each of --samples, --interval-ms apart: fences, what changed, completions a second, error interrupts, whether an error is latched. A completed fence that does not move for three intervals while work is pending is marked STALLED, one that went back RESET, a new error ERROR. After --timeout-ms it ends, and fails"),
            C("query-perf", ("--query-perf", "--perf"), NONE, query_perf,
              "counters of the driver: fences, ring0, submits, irqs, resets, device_error, vblank, selftest, and others. Under submits, present counts DMA buffers that are marked as presents; a flip goes through the registers and is none"),
            C("metrics", ("--metrics"), NONE, dbgctl_metrics,
              "of the adapter and of each client: submissions, queue depth, presents, latency from submission to completion as average, p50, p95, p99 and longest, rates over --interval-ms; vblanks, missed ones and their jitter"),
            C("trace", ("--trace"), NONE, dbgctl_trace,
              "for --timeout-ms, a line of JSON for each event: submissions, completions, flips, vblanks, devices and contexts with the numbers and keywords of Microsoft-Windows-DxgKrnl, and what the miniport's own providers write"),
            C("query-scanout", ("--query-scanout"), NONE, query_scanout,
              "scanout as the driver and the registers have it, and whether the two agree"),
            C("dump-scanout-bmp", ("--dump-scanout-bmp"), PATH, dbgctl_dump_scanout_bmp,
              "what is on the screen, as BMP"),
            C("dump-scanout-png", ("--dump-scanout-png"), PATH, dbgctl_dump_scanout_png,
              "what is on the screen, as PNG"),
            C("query-cursor", ("--query-cursor", "--dump-cursor"), NONE, query_cursor, "cursor registers"),
            C("dump-cursor-bmp", ("--dump-cursor-bmp"), PATH, dbgctl_dump_cursor_bmp,
              "the cursor's picture, as BMP"),
            C("dump-cursor-png", ("--dump-cursor-png"), PATH, dbgctl_dump_cursor_png,
              "the cursor's picture, as PNG"),
            C("dump-ring", ("--dump-ring"), NONE, dump_ring,
              "indices of ring --ring-id and the last descriptors, the newest last"),
            C("watch-ring", ("--watch-ring"), NONE, dbgctl_watch_ring,
              "head and tail of ring --ring-id, a line for each of --samples; marks a stall"),
            C("dump-last-cmd", ("--dump-last-submit", "--dump-last-cmd"), NONE, dbgctl_dump_last,
              "write the stream of the newest submission to --cmd-out (or --out), its allocation table to FILE.alloc_table.bin or to --alloc-out (an empty file if it has none), and a summary to FILE.txt. --index-from-tail takes an older one; --count several, as base_K.bin with the index from the tail; a trailing .bin is no part of the base. `aerogpu show FILE` decodes what was written"),
            C("dump-createalloc", ("--dump-createalloc", "--dump-createallocation", "--dump-allocations"),
              NONE, dump_createalloc,
              "the last allocations that were created; --csv writes them as a table whose first columns, write_index, entry_count and entry_capacity, tell what was overwritten between two dumps"),
            C("dump-log", ("--dump-log"), NONE, dump_log,
              "the driver's own log, the oldest line that is left first: number, time in seconds, level (E, W, T or I), text"),
            C("dump-vblank", ("--dump-vblank", "--query-vblank"), NONE, dbgctl_dump_vblank,
              "vblank registers, interrupt mask and the interrupt type asked for; with several --vblank-samples the cadence between them. The vblank interrupt is on while somebody waits: VBLANK belongs into IRQ_ENABLE then, and is off else"),
            C("wait-vblank", ("--wait-vblank"), NONE, dbgctl_wait_vblank,
              "cadence of D3DKMTWaitForVerticalBlankEvent"),
            C("query-scanline", ("--query-scanline"), NONE, dbgctl_query_scanline,
              "D3DKMTGetScanLine: line and vertical blank"),
            C(
                "map-shared-handle", ("--map-shared-handle"), NUMBER,
                map_shared_handle, "the debug token of a shared resource's handle (hGlobalShare of D3DKMTCreateAllocation), the same in every process while the resource lives; it is not the share token of the protocol. The handles that processes have in common here are those of shared resources: they stand for the section objects of Windows"),
            C("read-gpa", ("--read-gpa"), NUMBER_SIZE, dbgctl_read_gpa,
              "guest memory: 256 bytes, N in the word behind, or --size. 256 of them are shown, 4096 with --force; --out writes all of them, or no file at all"),
            C("selftest", ("--selftest"), NONE, selftest,
              "the driver's self-test; its code is the exit code"),
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
