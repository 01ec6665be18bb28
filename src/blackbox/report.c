/* SPDX-License-Identifier: MIT */
/* report.c: bb_report, the verdict, and the report as text. */
#include "blackbox/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "blackbox/spirv_source.h"
#include "blackbox/symbols.h"

static void advise(struct bb_view *v, const char *text)
{
    if (v->num_advice < 4)
        snprintf(v->advice[v->num_advice++], sizeof(v->advice[0]), "%s", text);
}

/* Whether the dump holds what can be played again. */
static bool has_recording(struct bb_view *v)
{
    sqlite3_stmt *s = bb_select(&v->dump, "SELECT 1 FROM file WHERE kind='recording' LIMIT 1");
    bool any = false;

    while (bb_step(&v->dump, &s))
        any = true;
    return any;
}

static void make_advice(struct bb_view *v)
{
    const struct bb_cause_desc *cause = bb_cause_desc(bb_cause_find(v->cause));
    bool recording = has_recording(v);

    if ((cause->kind != BB_KIND_OUTSIDE || cause->status == BB_STATUS_TIMEOUT) &&
        strcmp(v->certainty, "certain")) {
        if (recording)
            advise(
                v,
                "Run `aerogpu play` on this dump: it plays the last submissions in a fresh executor with a marker around every command, and writes the exact one into the dump.");
        else if (v->packet >= 0 && strcmp(v->source, "exact markers"))
            advise(
                v,
                "Run the program once more: where it crashed is known, and every command there gets a marker of its own. Or with `aerogpu run --exact`: every command of all.");
    }
    if (cause->advice)
        advise(v, cause->advice);
    if (recording && (cause->kind == BB_KIND_CRASH || cause->kind == BB_KIND_REFUSAL))
        advise(
            v,
            "Run `aerogpu minimize` on this dump for the smallest recording that still crashes the same way.");
}

sqlite3_stmt *bb_view_processors(struct bb_view *v)
{
    return bb_select(
        &v->dump, "SELECT text, CASE certainty WHEN 'certain' THEN 'certain' WHEN 'candidate' THEN 'likely' "
                  "ELSE 'not seen' END, cause FROM finding WHERE source='processor trace' ORDER BY rank");
}

static void read_processors(struct bb_view *v)
{
    sqlite3_stmt *s = bb_view_processors(v);

    if (bb_step(&v->dump, &s)) { /* its verdict is the first */
        snprintf(v->processors.text, sizeof(v->processors.text), "%s", bb_column_text(&v->dump, s, 0));
        snprintf(v->processors.certainty, sizeof(v->processors.certainty), "%s",
                 bb_column_text(&v->dump, s, 1));
        snprintf(v->processors.verdict, sizeof(v->processors.verdict), "%s", bb_column_text(&v->dump, s, 2));
        v->processors.relation =
            witness_text(v->processors.relation_text, sizeof(v->processors.relation_text), v->cause,
                         v->sure_cause, v->processors.verdict, v->processors.certainty);
    }
    sqlite3_finalize(s);
}

/* Reads what all forms need. */
static void view_init(struct bb_view *v)
{
    struct bb_dump *d = &v->dump;
    sqlite3_stmt *s =
        bb_select(d, "SELECT text, certainty, cause, source, submission, packet, sure_cause FROM finding "
                     "WHERE source IS NOT 'processor trace' ORDER BY rank LIMIT 1");

    v->submission = v->packet = -1;
    while (bb_step(d, &s)) {
        snprintf(v->verdict, sizeof(v->verdict), "%s", bb_column_text(d, s, 0));
        snprintf(v->certainty, sizeof(v->certainty), "%s", bb_column_text(d, s, 1));
        snprintf(v->cause, sizeof(v->cause), "%s", bb_column_text(d, s, 2));
        snprintf(v->source, sizeof(v->source), "%s", bb_column_text(d, s, 3));
        v->submission = bb_column_int(d, s, 4, -1);
        v->packet = bb_column_int(d, s, 5, -1);
        snprintf(v->sure_cause, sizeof(v->sure_cause), "%s", bb_column_text(d, s, 6));
    }
    read_processors(v);
    if (!v->verdict[0])
        bb_dump_meta(d, "summary", v->verdict, sizeof(v->verdict));
    if (!v->verdict[0])
        snprintf(v->verdict, sizeof(v->verdict), "This dump has no verdict");
    make_advice(v);
}

void bb_when(char out[48], int64_t time_ns, int64_t dump_ns)
{
    double ms = (double)(dump_ns - time_ns) / 1e6;

    if (ms >= 10000 || ms <= -10000)
        snprintf(out, 48, "%.1f s %s", (ms < 0 ? -ms : ms) / 1000, ms < 0 ? "after" : "before");
    else
        snprintf(out, 48, "%.1f ms %s", ms < 0 ? -ms : ms, ms < 0 ? "after" : "before");
}

/* From the first of the samples of the last three seconds to the last one. */
void bb_view_host(struct bb_view *v, char out[400])
{
    struct bb_dump *d = &v->dump;
    double at[2][7], busy, all, seconds;
    int n = 0;
    sqlite3_stmt *s =
        bb_select(d, "SELECT time_ns, user + system, idle + iowait, steal, coalesce(executor_cpu, -1), "
                     "coalesce(executor_wait, -1), running FROM sample WHERE time_ns > (SELECT max(time_ns) "
                     "FROM sample) - "
                     "3000000000 ORDER BY time_ns");

    out[0] = '\0';
    while (bb_step(d, &s)) {
        for (int i = 0; i < 7; i++)
            at[n != 0][i] = sqlite3_column_double(s, i);
        n++;
    }
    if (n < 2)
        return;
    seconds = (at[1][0] - at[0][0]) / 1e9;
    busy = at[1][1] - at[0][1];
    all = busy + at[1][2] - at[0][2] + at[1][3] - at[0][3];
    if (seconds <= 0 || all <= 0)
        return;
    snprintf(
        out, 400,
        "in the last %.1f s the processors were %.0f %% busy and %.0f %% taken by the hypervisor, and %.0f "
        "tasks wanted one at the end",
        seconds, 100 * busy / all, 100 * (at[1][3] - at[0][3]) / all, at[1][6]);
    if (at[0][4] >= 0 && at[1][4] >= at[0][4])
        snprintf(out + strlen(out), 400 - strlen(out),
                 "; the executor's threads ran %.2f s and waited %.2f s for a processor", at[1][4] - at[0][4],
                 at[1][5] - at[0][5]);
}

void bb_view_sureness(struct bb_view *v, char known[200], char unseen[400])
{
    static const char *const facts[] = {"it went wrong", "which command", "why", "whose memory"};
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT sure_happened, sure_command, sure_cause, sure_memory, unseen FROM finding WHERE sure_happened IS NOT NULL ORDER BY rank LIMIT 1");

    known[0] = unseen[0] = '\0';
    while (bb_step(&v->dump, &s)) {
        for (int i = 0; i < 4; i++)
            if (*bb_column_text(&v->dump, s, i))
                snprintf(known + strlen(known), 200 - strlen(known), "%s%s %.30s", known[0] ? ", " : "",
                         facts[i], bb_column_text(&v->dump, s, i));
        snprintf(unseen, 400, "%s", bb_column_text(&v->dump, s, 4));
    }
}

/* ---- text ---------------------------------------------------------------- */

static void put_facts(struct bb_view *v, struct strbuf *o)
{
    static const char *const keys[][2] = {{"reason", "Made because of"}, {"time", "Time"},
                                          {"program", "Program"},        {"device", "Device"},
                                          {"markers", "Markers"},        {"death", "Executor"}};
    char value[600];

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (*bb_dump_meta(&v->dump, keys[i][0], value, sizeof(value)))
            strbuf_printf(o, "  %-16s %s\n", keys[i][1], value);
}

static void put_sureness(struct bb_view *v, struct strbuf *o)
{
    char known[200], unseen[400];

    bb_view_sureness(v, known, unseen);
    if (known[0])
        strbuf_printf(o, "  Known            %s\n", known);
    if (unseen[0])
        strbuf_printf(o, "  Not seen         %s\n", unseen);
}

static void put_findings(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s =
        bb_select(&v->dump, "SELECT text, certainty, source FROM finding WHERE rank > 0 AND source IS NOT "
                            "'processor trace' ORDER BY rank");

    while (bb_step(&v->dump, &s))
        strbuf_printf(o, "  also (%s, %s): %s\n", bb_column_text(&v->dump, s, 1),
                      bb_column_text(&v->dump, s, 2), bb_column_text(&v->dump, s, 0));
    s = bb_select(&v->dump, "SELECT text FROM fault WHERE text IS NOT NULL LIMIT -1 OFFSET 1");
    while (bb_step(&v->dump, &s))
        strbuf_printf(o, "  fault: %s\n", bb_column_text(&v->dump, s, 0));
    s = bb_select(&v->dump, "SELECT text FROM replay");
    while (bb_step(&v->dump, &s))
        strbuf_printf(o, "  replay: %s\n", bb_column_text(&v->dump, s, 0));
}

static void put_processors(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_view_processors(v);

    if (!v->processors.verdict[0]) {
        sqlite3_finalize(s);
        return;
    }
    strbuf_puts(o, "\nThe processors\n");
    while (bb_step(&v->dump, &s))
        strbuf_printf(o, "    %s (%s)\n", bb_column_text(&v->dump, s, 0), bb_column_text(&v->dump, s, 1));
    strbuf_printf(o, "  %s %s\n", v->processors.relation == WITNESS_CONTRADICT ? "CONTRADICTION" : "Together",
                  v->processors.relation_text);
}

struct run {
    char state[32], path[256], text[200];
    int64_t first, last, count;
    bool running;
};

static void put_run(struct strbuf *o, const struct run *r)
{
    if (!r->count)
        return;
    if (r->running)
        strbuf_printf(o, "  ▶ %-16s %s", r->state, r->text);
    else
        strbuf_printf(o, "    %-16s packets %" PRId64 "–%" PRId64, r->state, r->first, r->last);
    if (!r->running || r->count > 1)
        strbuf_printf(o, " (%" PRId64 "%s)", r->count, r->running ? " times" : "");
    strbuf_printf(o, "%s%s\n", r->path[0] ? "  in " : "", r->path);
}

/* Runs of commands in the same state are one line; of running ones those that are the same. */
static void put_commands(struct bb_view *v, struct strbuf *o, int64_t submission)
{
    sqlite3_stmt *s =
        bb_select(&v->dump,
                  "SELECT number, name, state, draw, path, text FROM packet WHERE submission=%lld AND work=1 "
                  "ORDER BY number",
                  (long long)submission);
    struct run r = {.count = 0};

    while (bb_step(&v->dump, &s)) {
        struct run now = {.running = bb_state_is_candidate(bb_state_find(bb_column_text(&v->dump, s, 2)))};

        snprintf(now.state, sizeof(now.state), "%s", bb_column_text(&v->dump, s, 2));
        snprintf(now.path, sizeof(now.path), "%s", bb_column_text(&v->dump, s, 4));
        if (now.running)
            snprintf(now.text, sizeof(now.text), "%s", bb_column_text(&v->dump, s, 5));
        now.first = bb_column_int(&v->dump, s, 0, 0);
        if (r.count && (strcmp(r.state, now.state) || strcmp(r.path, now.path) || strcmp(r.text, now.text))) {
            put_run(o, &r);
            r.count = 0;
        }
        if (!r.count)
            r = now;
        r.last = now.first;
        r.count++;
    }
    put_run(o, &r);
}

static void put_submissions(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT id, coalesce((SELECT name FROM queue q WHERE q.id=s.queue), 'context ' || queue), fence, state, packets, draws "
        "FROM submission s WHERE state<>'completed' ORDER BY id=%lld DESC, id LIMIT 8",
        (long long)v->submission);
    bool first = true;

    while (bb_step(&v->dump, &s)) {
        int64_t id = bb_column_int(&v->dump, s, 0, 0);

        strbuf_printf(o, "%sSubmission %" PRId64 " (%s", id == v->submission || first ? "\n" : "", id,
                      bb_column_text(&v->dump, s, 1));
        if (bb_column_int(&v->dump, s, 2, 0))
            strbuf_printf(o, ", fence %" PRId64, bb_column_int(&v->dump, s, 2, 0));
        strbuf_printf(o, "): %s", bb_column_text(&v->dump, s, 3));
        if (bb_column_int(&v->dump, s, 4, 0))
            strbuf_printf(o, ", %" PRId64 " packets, %" PRId64 " draws", bb_column_int(&v->dump, s, 4, 0),
                          bb_column_int(&v->dump, s, 5, 0));
        strbuf_puts(o, "\n");
        first = false;
        put_commands(v, o, id);
    }
}

static void put_bound(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT slot, kind, handle, "
        "what || coalesce((SELECT ' ''' || s.name || '''' FROM shader s WHERE s.hash=binding.what AND "
        "binding.kind='shader' AND s.name IS NOT NULL LIMIT 1), '') "
        "FROM binding WHERE submission=%lld AND packet=%lld "
        "ORDER BY kind DESC, slot",
        (long long)v->submission, (long long)v->packet);
    bool any = false;

    while (v->packet >= 0 && bb_step(&v->dump, &s)) {
        if (!any)
            strbuf_puts(o, "\nBound at that command\n");
        any = true;
        strbuf_printf(o, "    %-12s %s", bb_column_text(&v->dump, s, 0), bb_column_text(&v->dump, s, 3));
        strbuf_printf(o, bb_column_int(&v->dump, s, 2, 0) >> 24 ? "  (handle 0x%llx)\n" : "  (handle %lld)\n",
                      (long long)bb_column_int(&v->dump, s, 2, 0));
    }
    sqlite3_finalize(s);
}

/* Which lines of its shaders may be what it does: no instruction is known. */
void bb_report_source(struct bb_view *v, struct strbuf *o)
{
    const bool hang = !strcmp(v->cause, bb_cause_desc(BB_CAUSE_HANG)->name);
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT DISTINCT s.stage, s.bytes FROM shader s JOIN binding b ON s.hash=b.what WHERE b.submission=%lld "
        "AND b.packet=%lld AND b.kind='shader' AND s.kind='SPIR-V'",
        (long long)v->submission, (long long)v->packet);
    struct strbuf lines = {0};

    if (!hang && strcmp(v->cause, bb_cause_desc(BB_CAUSE_PAGE_FAULT)->name)) {
        sqlite3_finalize(s);
        return;
    }
    while (bb_step(&v->dump, &s)) {
        const void *bytes = sqlite3_column_blob(s, 1);

        strbuf_clear(&lines);
        if (bytes && spirv_source_lines(bytes, (size_t)sqlite3_column_bytes(s, 1),
                                        hang ? SPIRV_LOOPS : SPIRV_ADDRESSES, 4, &lines))
            strbuf_printf(o, "\n%s of the %s shader\n%s", hang ? "Loops" : "Accesses by address",
                          bb_column_text(&v->dump, s, 0), strbuf_str(&lines));
    }
    strbuf_finish(&lines);
}

/* A return address in few words; false: what called it is the system's. */
static bool put_frame(struct strbuf *o, struct bb_view *v, sqlite3_stmt *s)
{
    const char *module = bb_column_text(&v->dump, s, 4);
    char where[256];

    symbols_find(module, bb_column_text(&v->dump, s, 5), (uint64_t)bb_column_int(&v->dump, s, 6, 0), where,
                 sizeof(where));
    if (!strncmp(where, "__libc_start", 12) || !strncmp(where, "start_thread", 12))
        return false;
    strbuf_puts(o, bb_column_int(&v->dump, s, 3, 0) ? " < " : " ");
    if (where[0])
        strbuf_puts(o, where);
    else
        strbuf_printf(o, "%s%s0x%llx", module, *module ? "+" : "",
                      (long long)bb_column_int(&v->dump, s, 6, 0));
    return true;
}

/* Who made, freed and submitted it: of each the innermost callers. */
void bb_report_stacks(struct bb_view *v, struct strbuf *o)
{
    enum { SHOWN = 4 };
    sqlite3_stmt *s = bb_select(
        &v->dump, "SELECT what, handle, name, depth, module, build_id, offset FROM stack ORDER BY rowid");
    bool first = true, on = false;

    while (bb_step(&v->dump, &s)) {
        const int64_t depth = bb_column_int(&v->dump, s, 3, 0);

        if (!depth) {
            strbuf_printf(o, "%s    %s was %s by", first ? "\nCall stacks\n" : "\n",
                          bb_column_text(&v->dump, s, 2), bb_column_text(&v->dump, s, 0));
            on = true;
            first = false;
        }
        on = on && depth < SHOWN && put_frame(o, v, s);
    }
    strbuf_puts(o, first ? "" : "\n");
    symbols_finish();
}

/* The life of what a page fault is about. */
static void put_lives(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT DISTINCT r.kind, r.id, r.address, r.size, r.created_ns, r.destroyed_ns, r.evicted_ns FROM "
        "resource r JOIN fault f ON r.id=f.resource AND r.address IS NOT NULL AND f.address "
        "BETWEEN r.address - 65536 AND r.address + r.size + 65536");
    char when[48], now[32];
    int64_t dump_ns;

    dump_ns = strtoll(bb_dump_meta(&v->dump, "time_ns", now, sizeof(now)), NULL, 10);
    for (bool first = true; bb_step(&v->dump, &s); first = false) {
        static const char *const events[] = {"created", "destroyed", "evicted"};
        const long long handle = bb_column_int(&v->dump, s, 1, 0);

        strbuf_printf(o,
                      handle < 1 << 24 ? "%s    %s %lld: %lld bytes at 0x%llx\n" /* else an address */
                                       : "%s    %s 0x%llx: %lld bytes at 0x%llx\n",
                      first ? "\nThe resource\n" : "", bb_column_text(&v->dump, s, 0), handle,
                      (long long)bb_column_int(&v->dump, s, 3, 0),
                      (long long)bb_column_int(&v->dump, s, 2, 0));
        for (int i = 0; i < 3; i++)
            if (bb_column_int(&v->dump, s, 4 + i, 0)) {
                bb_when(when, bb_column_int(&v->dump, s, 4 + i, 0), dump_ns);
                strbuf_printf(o, "      %-10s %s\n", events[i], when);
            }
    }
}

static void put_checkpoints(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT name, coalesce(top, 'none'), coalesce(bottom, 'none') FROM queue WHERE top IS NOT NULL");

    for (bool first = true; bb_step(&v->dump, &s); first = false)
        strbuf_printf(o, "%s    %-12s reached %s\n    %-12s passed  %s\n", first ? "\nCheckpoints\n" : "",
                      bb_column_text(&v->dump, s, 0), bb_column_text(&v->dump, s, 1), "",
                      bb_column_text(&v->dump, s, 2));
}

static void put_statuses(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(&v->dump, "SELECT time_ns, status, detail FROM status ORDER BY rowid");
    char when[48], now[32];

    bb_dump_meta(&v->dump, "time_ns", now, sizeof(now));
    for (bool first = true; bb_step(&v->dump, &s); first = false) {
        if (first)
            strbuf_puts(o, "\nDevice status\n");
        bb_when(when, bb_column_int(&v->dump, s, 0, 0), strtoll(now, NULL, 10));
        strbuf_printf(o, "    %-18s %-14s %s\n", when, bb_column_text(&v->dump, s, 1),
                      bb_column_text(&v->dump, s, 2));
    }
}

/* The text has at most so many lines: what is longest is cut first. JSON and HTML have all. */
enum { LINES = 37, SHORT = 4 };

static uint32_t count_lines(const struct strbuf *o)
{
    uint32_t n = 0;

    for (const char *at = strbuf_str(o); (at = strchr(at, '\n')); at++)
        n++;
    return n;
}

static void put_lines(struct strbuf *o, const struct strbuf *from, uint32_t lines, uint32_t of)
{
    const char *at = strbuf_str(from), *end = at;

    for (uint32_t i = 0; i < lines - (lines < of); i++)
        end = strchr(end, '\n') + 1;
    strbuf_append(o, at, (size_t)(end - at));
    if (lines < of)
        strbuf_printf(o, "    … and %u more lines\n", of - lines + 1);
}

static void put_host(struct bb_view *v, struct strbuf *o)
{
    char host[400];

    bb_view_host(v, host);
    if (host[0])
        strbuf_printf(o, "\nHost\n    %s\n", host);
}

static void put_head(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(&v->dump, "SELECT text FROM fault WHERE text IS NOT NULL LIMIT 1");

    strbuf_printf(o, "%s.\n", v->verdict);
    while (bb_step(&v->dump, &s)) /* whose memory it was is half of the verdict */
        strbuf_printf(o, "%s.\n", bb_column_text(&v->dump, s, 0));
    strbuf_puts(o, "\n");
    strbuf_printf(o, "  %-16s %s%s%s\n", "Certainty", v->certainty[0] ? v->certainty : "none",
                  v->source[0] ? ", by " : "", v->source);
    put_sureness(v, o);
    put_facts(v, o);
}

static void put_advice(struct bb_view *v, struct strbuf *o)
{
    strbuf_puts(o, v->num_advice ? "\nWhat to try next\n" : "");
    for (uint32_t i = 0; i < v->num_advice; i++)
        strbuf_printf(o, "  %u. %s\n", i + 1, v->advice[i]);
}

static void report_text(struct bb_view *v, struct strbuf *o)
{
    static void (*const sections[])(struct bb_view *, struct strbuf *) = {
        put_head,         put_findings, put_processors,  put_submissions, put_bound, bb_report_source,
        bb_report_stacks, put_lives,    put_checkpoints, put_statuses,    put_host,  put_advice};
    enum { NUM = sizeof(sections) / sizeof(sections[0]) };
    struct strbuf text[NUM] = {{0}};
    uint32_t has[NUM], gets[NUM], all = 0;

    for (uint32_t i = 0; i < NUM; i++) {
        sections[i](v, &text[i]);
        all += gets[i] = has[i] = count_lines(&text[i]);
    }
    for (uint32_t longest; all > LINES; all--) {
        longest = 1;
        for (uint32_t i = 2; i < NUM - 1; i++) /* the verdict and the advice stay */
            if (gets[i] > gets[longest] + (sections[i] == bb_report_stacks ? 4 : 0))
                longest = i;
        if (gets[longest] <= SHORT)
            break;
        gets[longest]--;
    }
    for (uint32_t i = 0; i < NUM; i++) {
        put_lines(o, &text[i], gets[i], has[i]);
        strbuf_finish(&text[i]);
    }
}

/* ---- all forms ----------------------------------------------------------- */

int bb_report(const char *path, enum bb_report_format format, FILE *out, struct bb_error *public_error)
{
    struct error *e = bb_error_begin(public_error);
    struct bb_view *v = calloc(1, sizeof(*v));
    struct strbuf o = {0}, text = {0};
    int r;

    if (!v)
        return error_set(e, -ENOMEM, "no memory for a report");
    r = bb_dump_open(&v->dump, path, e);
    if (r) {
        free(v);
        return r;
    }
    bb_dump_check(&v->dump, NULL);
    view_init(v);
    switch (format) {
    case BB_REPORT_TEXT:
        report_text(v, &text);
        utf8_visible(&o, strbuf_str(&text), text.len, true);
        o.failed |= strbuf_failed(&text);
        strbuf_finish(&text);
        break;
    case BB_REPORT_JSON:
        r = bb_report_json(v, &o);
        break;
    case BB_REPORT_HTML:
        bb_report_html(v, &o);
        break;
    case BB_REPORT_PERFETTO:
        bb_report_perfetto(v, out);
        break;
    }
    if (r || strbuf_failed(&o))
        r = error_set(e, -ENOMEM, "%s: no memory for a report", path);
    else if (fwrite(strbuf_str(&o), 1, o.len, out) != o.len || fflush(out))
        r = error_set(e, -errno, "the report cannot be written: %s", strerror(errno));
    else if (v->dump.trouble.code)
        r = error_set(e, v->dump.trouble.code, "%s", v->dump.trouble.text);
    strbuf_finish(&o);
    bb_dump_close(&v->dump);
    free(v);
    return r;
}
