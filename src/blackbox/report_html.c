/* SPDX-License-Identifier: MIT */
/* report_html.c: the report as one page, made to be read on a phone, too: nothing wider than the screen, long lists folded. */
#include <stdlib.h>
#include <string.h>

#include "blackbox/report.h"
#include "report/chart.h"
#include "report/page.h"
#include "report/timeline.h"

#define PUTS(s)  strbuf_puts(o, s)
#define OUT(...) strbuf_printf(o, __VA_ARGS__)

static const char *colour_of(const char *state)
{
    return bb_state_is_candidate(bb_state_find(state)) ? "run"
           : !strcmp(state, "finished")                ? "ok"
                                                       : "unknown";
}

static void put_verdict(struct bb_view *v, struct strbuf *o)
{
    static const char *const keys[][2] = {{"reason", "Made because of"}, {"time", "Time"},
                                          {"program", "Program"},        {"device", "Device"},
                                          {"markers", "Markers"},        {"death", "Executor"},
                                          {"fingerprint", "Fingerprint"}};
    char value[600], unseen[400];

    PUTS("<section class='card verdict' style='--c:var(--bad)'><h1>");
    page_text(o, v->verdict);
    PUTS(".</h1><div class=dim>");
    page_text(o, v->certainty[0] ? v->certainty : "no finding");
    if (v->source[0]) {
        PUTS(", by ");
        page_text(o, v->source);
    }
    PUTS("</div></section>\n<section class=card><dl>");
    bb_view_sureness(v, value, unseen);
    page_text_in(o, value[0] ? "<dt>Known</dt><dd>" : "", value, value[0] ? "</dd>" : "");
    page_text_in(o, unseen[0] ? "<dt>Not seen</dt><dd>" : "", unseen, unseen[0] ? "</dd>" : "");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (*bb_dump_meta(&v->dump, keys[i][0], value, sizeof(value))) {
            OUT("<dt>%s</dt><dd>", keys[i][1]);
            page_text(o, value);
            PUTS("</dd>");
        }
    PUTS("</dl></section>");
}

static void put_list(struct bb_view *v, struct strbuf *o, const char *title, const char *sql)
{
    sqlite3_stmt *s = bb_select(&v->dump, "%s", sql);
    bool any = false;

    while (bb_step(&v->dump, &s)) {
        if (!any)
            page_card(o, NULL, title, "");
        PUTS(any ? "<li>" : "<ul><li>");
        any = true;
        page_text(o, bb_column_text(&v->dump, s, 0));
    }
    if (any)
        PUTS("</ul></section>");
}

static void put_processors(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_view_processors(v);

    if (!v->processors.verdict[0]) {
        sqlite3_finalize(s);
        return;
    }
    page_card(o, "processors", "The processors", "What a recording of them shows of the same time-out.");
    PUTS("<ul>");
    while (bb_step(&v->dump, &s)) {
        page_text_in(o, "<li>", bb_column_text(&v->dump, s, 0), "");
        page_text_in(o, " <span class=dim>", bb_column_text(&v->dump, s, 1), "</span>");
    }
    OUT("</ul><p%s>", v->processors.relation == WITNESS_CONTRADICT ? " style='color:var(--bad)'" : "");
    page_text(o, v->processors.relation_text);
    PUTS("</p>");
    page_card_end(o);
}

static void put_bar(struct bb_view *v, struct strbuf *o, int64_t id)
{
    static const char *const states[][2] = {
        {"finished", "ok"}, {"running", "run"}, {"perhaps running", "run"}, {"not started", "unknown"}};

    PUTS("<div class=bar>");
    for (int i = 0; i < 4; i++) {
        sqlite3_stmt *s =
            bb_select(&v->dump, "SELECT count(*) FROM packet WHERE submission=%lld AND work=1 AND state=%Q",
                      (long long)id, states[i][0]);
        while (bb_step(&v->dump, &s))
            if (sqlite3_column_int64(s, 0))
                OUT("<i class=c-%s style='flex:%lld'></i>", states[i][1],
                    (long long)sqlite3_column_int64(s, 0));
    }
    PUTS("</div>");
    chart_key(o, "c-ok done|c-run running|c-unknown not started");
}

static void put_run(struct strbuf *o, const char *state, const char *path, int64_t first, int64_t last,
                    int64_t n)
{
    OUT("<li class=c-%s>", colour_of(state));
    if (path[0]) {
        PUTS("<span class=dim>");
        page_text(o, path);
        PUTS("</span> ");
    }
    if (n == 1)
        OUT("<span>packet %lld: ", (long long)first);
    else
        OUT("<span>%lld commands, packets %lld–%lld: ", (long long)n, (long long)first, (long long)last);
    page_text_in(o, "", state, "</span>");
}

static void put_commands(struct bb_view *v, struct strbuf *o, int64_t id)
{
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT number, state, path, text, coalesce(draw, -1) FROM packet WHERE submission=%lld AND work=1 ORDER BY number",
        (long long)id);
    char state[32] = "", path[256] = "";
    int64_t first = 0, last = 0, n = 0, shown = 0;

    PUTS("<ol class=steps>");
    while (bb_step(&v->dump, &s)) {
        const char *st = bb_column_text(&v->dump, s, 1), *pa = bb_column_text(&v->dump, s, 2);
        const bool alone = bb_state_is_candidate(bb_state_find(st)) && shown < 16;

        if (n && (strcmp(st, state) || strcmp(pa, path) || alone)) {
            put_run(o, state, path, first, last, n);
            n = 0;
        }
        if (alone) {
            shown++;
            PUTS("<li class=c-run><span>");
            if (bb_column_int(&v->dump, s, 4, -1) >= 0)
                OUT("draw or dispatch %lld, ", (long long)bb_column_int(&v->dump, s, 4, 0));
            OUT("packet %lld: <code>", (long long)bb_column_int(&v->dump, s, 0, 0));
            page_text(o, bb_column_text(&v->dump, s, 3));
            page_text_in(o, "</code> ", st, "</span>");
            continue;
        }
        if (!n)
            first = bb_column_int(&v->dump, s, 0, 0);
        last = bb_column_int(&v->dump, s, 0, 0);
        n++;
        snprintf(state, sizeof(state), "%s", st);
        snprintf(path, sizeof(path), "%s", pa);
    }
    if (n)
        put_run(o, state, path, first, last, n);
    PUTS("</ol>");
}

static void put_submissions(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT id, queue, state, packets, draws FROM submission WHERE state<>'completed' ORDER BY id LIMIT 6");

    while (bb_step(&v->dump, &s)) {
        int64_t id = bb_column_int(&v->dump, s, 0, 0);

        OUT("<section class=card><h2>Submission %lld</h2><div class=dim>context %lld, %s, %lld packets, %lld draws</div>",
            (long long)id, (long long)bb_column_int(&v->dump, s, 1, 0), bb_column_text(&v->dump, s, 2),
            (long long)bb_column_int(&v->dump, s, 3, 0), (long long)bb_column_int(&v->dump, s, 4, 0));
        put_bar(v, o, id);
        put_commands(v, o, id);
        page_card_end(o);
    }
}

static void put_bound(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s =
        v->packet < 0
            ? NULL
            : bb_select(
                  &v->dump,
                  "SELECT slot, handle, "
                  "what || coalesce((SELECT ' ''' || s.name || '''' FROM shader s WHERE s.hash=binding.what AND "
                  "binding.kind='shader' AND s.name IS NOT NULL LIMIT 1), '') "
                  "FROM binding WHERE submission=%lld AND packet=%lld ORDER BY kind DESC, slot",
                  (long long)v->submission, (long long)v->packet);
    bool any = false;

    while (bb_step(&v->dump, &s)) {
        if (!any)
            PUTS("<section class=card><h2>Bound at that command</h2><dl>");
        any = true;
        OUT("<dt>%s</dt><dd>", bb_column_text(&v->dump, s, 0));
        page_text(o, bb_column_text(&v->dump, s, 2));
        OUT(" <span class=dim>handle %lld</span></dd>", (long long)bb_column_int(&v->dump, s, 1, 0));
    }
    if (any)
        PUTS("</dl></section>");
    s = v->packet < 0
            ? NULL
            : bb_select(
                  &v->dump,
                  "SELECT hash, stage, kind, text FROM shader WHERE text IS NOT NULL AND hash IN (SELECT what FROM binding WHERE submission=%lld AND packet=%lld AND kind='shader') LIMIT 6",
                  (long long)v->submission, (long long)v->packet);
    while (bb_step(&v->dump, &s)) {
        OUT("<section class=card><details%s><summary>%s shader %s (%s)</summary><pre>",
            strcmp(bb_column_text(&v->dump, s, 1), "vertex") ? " open" : "", bb_column_text(&v->dump, s, 1),
            bb_column_text(&v->dump, s, 0), bb_column_text(&v->dump, s, 2));
        page_text(o, bb_column_text(&v->dump, s, 3));
        PUTS("</pre></details></section>");
    }
}

/* As in the text. */
static void put_section(struct bb_view *v, struct strbuf *o,
                        void (*section)(struct bb_view *, struct strbuf *))
{
    struct strbuf text = {0};

    section(v, &text);
    if (text.len) {
        PUTS("<section class=card><pre>");
        page_text(o, strbuf_str(&text) + 1);
        PUTS("</pre></section>");
    }
    strbuf_finish(&text);
}

/* ---- the last seconds --------------------------------------------------------- */

enum { LANE = 26, BAR = 18 };

struct span {
    int64_t start, end;
};

/* Three seconds, or since the first submission and vblank if that is less. */
static struct span find_span(struct bb_view *v)
{
    struct span t;
    char text[32];
    sqlite3_stmt *s;

    t.end = strtoll(bb_dump_meta(&v->dump, "time_ns", text, sizeof(text)), NULL, 10);
    t.start = t.end - INT64_C(3000000000);
    s = bb_select(
        &v->dump,
        "SELECT min(time_ns) FROM (SELECT time_ns FROM submission UNION ALL SELECT time_ns FROM event WHERE name='vblank')");
    while (bb_step(&v->dump, &s)) {
        int64_t first = bb_column_int(&v->dump, s, 0, 0);

        if (first > t.start && first < t.end - 1000000)
            t.start = first;
    }
    return t;
}

static const char SUBMISSIONS[] =
    "SELECT queue, time_ns, coalesce(done_ns, %lld), state, id FROM submission WHERE coalesce(done_ns, %lld) > %lld AND "
    "queue IN (SELECT DISTINCT queue FROM submission ORDER BY queue LIMIT 6) ORDER BY queue, time_ns LIMIT 2000";

/* The lane of a context: they come in order. */
static int64_t lane_of(int64_t lane, int64_t *last, int64_t queue)
{
    const bool next = lane < 0 || queue != *last;

    *last = queue;
    return lane + next;
}

static void put_spans(struct bb_view *v, struct timeline *l, const struct span *t)
{
    sqlite3_stmt *s =
        bb_select(&v->dump, SUBMISSIONS, (long long)t->end, (long long)t->end, (long long)t->start);
    int64_t lane = -1, last = 0;

    while (bb_step(&v->dump, &s)) {
        char title[96];

        lane = lane_of(lane, &last, bb_column_int(&v->dump, s, 0, 0));
        snprintf(title, sizeof(title), "submission %lld: %s", (long long)bb_column_int(&v->dump, s, 4, 0),
                 bb_column_text(&v->dump, s, 3));
        timeline_bar(l, (double)lane * LANE, BAR, bb_column_int(&v->dump, s, 1, 0),
                     bb_column_int(&v->dump, s, 2, t->end),
                     strcmp(bb_column_text(&v->dump, s, 3), "completed") ? "run" : "ok", title);
    }
}

static void put_time_line(struct bb_view *v, struct strbuf *o)
{
    struct span t = find_span(v);
    struct timeline l;
    int64_t lanes = -1, last = 0, rows[6];
    sqlite3_stmt *s =
        bb_select(&v->dump, SUBMISSIONS, (long long)t.end, (long long)t.end, (long long)t.start);
    char title[48];

    while (bb_step(&v->dump, &s)) {
        lanes = lane_of(lanes, &last, bb_column_int(&v->dump, s, 0, 0));
        rows[lanes] = last;
    }
    lanes++;
    snprintf(title, sizeof(title), "The last %.1f seconds", (double)(t.end - t.start) / 1e9);
    page_card(o, NULL, title, NULL);
    timeline_begin(&l, o, t.start, t.end, t.start - t.end, (double)(lanes + 1) * LANE);
    for (int64_t i = 0; i < lanes; i++)
        timeline_name(&l, (double)i * LANE, BAR, "context %lld", (long long)rows[i]);
    timeline_name(&l, (double)lanes * LANE, BAR, "vblanks");
    timeline_lanes(&l, "what was submitted in the last seconds");
    put_spans(v, &l, &t);
    s = bb_select(&v->dump, "SELECT time_ns FROM event WHERE name='vblank' AND time_ns > %lld",
                  (long long)t.start);
    PUTS("<path class='line c-dim' d='");
    while (bb_step(&v->dump, &s))
        OUT("M%.0f %lldv%d", timeline_x(&l, bb_column_int(&v->dump, s, 0, 0)), (long long)lanes * LANE, BAR);
    PUTS("'/>\n");
    s = bb_select(
        &v->dump,
        "SELECT time_ns, name FROM event WHERE name IN ('error','ring_reset','event') AND time_ns > %lld "
        "LIMIT 50",
        (long long)t.start);
    while (bb_step(&v->dump, &s)) {
        const int64_t at = bb_column_int(&v->dump, s, 0, 0);

        timeline_mark(&l, at, "bad", bb_column_text(&v->dump, s, 1),
                      timeline_x(&l, at) > TIMELINE_WIDTH / 2.0);
    }
    timeline_end(&l);
    page_card_end(o);
}

static void put_events(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s =
        bb_select(&v->dump, "SELECT time_ns, process, name, a, b, c, text FROM (SELECT * FROM event WHERE "
                            "name<>'vblank' ORDER BY time_ns DESC LIMIT 400) ORDER BY time_ns");
    char now[32];
    bool any = false;

    bb_dump_meta(&v->dump, "time_ns", now, sizeof(now));
    while (bb_step(&v->dump, &s)) {
        if (!any) {
            page_card(o, "events", "The last events", NULL);
            PUTS("<details><summary>all of them</summary>");
            page_table(o, "before the dump|l:process|l:event|a|b|c|l:text");
        }
        any = true;
        OUT("<tr><td>%.3f ms<td class=l>",
            (double)(strtoll(now, NULL, 10) - bb_column_int(&v->dump, s, 0, 0)) / 1e6);
        page_text_in(o, "", bb_column_text(&v->dump, s, 1), "<td class=l>");
        page_text(o, bb_column_text(&v->dump, s, 2));
        OUT("<td>%lld<td>%lld<td>%lld<td class='l wrap'>", (long long)bb_column_int(&v->dump, s, 3, 0),
            (long long)bb_column_int(&v->dump, s, 4, 0), (long long)bb_column_int(&v->dump, s, 5, 0));
        page_text_in(o, "", bb_column_text(&v->dump, s, 6), "</tr>\n");
    }
    if (!any)
        return;
    page_table_end(o);
    PUTS("</details>");
    page_card_end(o);
}

/* ---- lives -------------------------------------------------------------------- */

/* What a page fault is about, and who lies next to it. */
static void put_lives(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT r.kind, r.id, r.address, r.size, r.created_ns, r.destroyed_ns, r.evicted_ns, f.address, r.id=f.resource FROM resource r JOIN fault f ON r.address IS NOT NULL AND (r.id=f.resource OR f.address BETWEEN r.address - 1048576 AND r.address + r.size + 1048576) ORDER BY r.address LIMIT 12");
    char when[48], now[32];
    bool any = false;
    int64_t dump_ns;

    dump_ns = strtoll(bb_dump_meta(&v->dump, "time_ns", now, sizeof(now)), NULL, 10);
    while (bb_step(&v->dump, &s)) {
        int64_t address = bb_column_int(&v->dump, s, 2, 0), at = bb_column_int(&v->dump, s, 7, 0);
        static const char *const events[] = {"created", "destroyed", "evicted"};

        PUTS(any ? "" : "<section class=card><h2>Around the address</h2><dl>");
        any = true;
        OUT("<dt>0x%llx</dt><dd>%s", (long long)address, bb_column_int(&v->dump, s, 8, 0) ? "<b>" : "");
        page_text(o, bb_column_text(&v->dump, s, 0));
        OUT(" %lld%s, %lld bytes", (long long)bb_column_int(&v->dump, s, 1, 0),
            bb_column_int(&v->dump, s, 8, 0) ? "</b>" : "", (long long)bb_column_int(&v->dump, s, 3, 0));
        if (at >= address && at - address < bb_column_int(&v->dump, s, 3, 0))
            OUT(", <b>byte %lld</b> was accessed", (long long)(at - address));
        for (int i = 0; i < 3; i++)
            if (bb_column_int(&v->dump, s, 4 + i, 0)) {
                bb_when(when, bb_column_int(&v->dump, s, 4 + i, 0), dump_ns);
                OUT("<br><span class=dim>%s %s</span>", events[i], when);
            }
        PUTS("</dd>");
    }
    PUTS(any ? "</dl></section>" : "");
}

static void put_host(struct bb_view *v, struct strbuf *o)
{
    char text[400];

    bb_view_host(v, text);
    if (!text[0])
        return;
    PUTS("<section class=card><h2>The host</h2>");
    text[0] = (char)(text[0] >= 'a' ? text[0] - 32 : text[0]);
    page_text(o, text);
    PUTS(".</section>");
}

static void put_checkpoints(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT name, coalesce(top, 'none'), coalesce(bottom, 'none') FROM queue WHERE top IS NOT NULL");
    bool any = false;

    while (bb_step(&v->dump, &s)) {
        PUTS(any ? "" : "<section class=card><h2>Checkpoints</h2><dl>");
        any = true;
        PUTS("<dt>");
        page_text(o, bb_column_text(&v->dump, s, 0));
        PUTS("</dt><dd>reached <b>");
        page_text(o, bb_column_text(&v->dump, s, 1));
        PUTS("</b><br>passed <b>");
        page_text(o, bb_column_text(&v->dump, s, 2));
        PUTS("</b></dd>");
    }
    PUTS(any ? "</dl></section>" : "");
}

static void put_statuses(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(&v->dump, "SELECT time_ns, status, detail FROM status ORDER BY rowid");
    char when[48], now[32];

    bb_dump_meta(&v->dump, "time_ns", now, sizeof(now));
    PUTS("<section class=card><h2>Device status</h2><dl>");
    while (bb_step(&v->dump, &s)) {
        bb_when(when, bb_column_int(&v->dump, s, 0, 0), strtoll(now, NULL, 10));
        OUT("<dt>%s</dt><dd><b>", when);
        page_text(o, bb_column_text(&v->dump, s, 1));
        PUTS("</b> <span class=dim>");
        page_text(o, bb_column_text(&v->dump, s, 2));
        PUTS("</span></dd>");
    }
    PUTS("</dl></section>");
}

static void put_pictures(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(&v->dump, "SELECT name, width, height, png FROM picture LIMIT 4");

    while (bb_step(&v->dump, &s)) {
        if (sqlite3_column_type(s, 3) != SQLITE_BLOB)
            continue;
        PUTS("<section class=card>");
        page_text_in(o, "<h2>", bb_column_text(&v->dump, s, 0), "</h2>");
        page_picture(o, sqlite3_column_blob(s, 3), (size_t)sqlite3_column_bytes(s, 3),
                     "what the screen showed", NULL);
        page_card_end(o);
    }
}

void bb_report_html(struct bb_view *v, struct strbuf *o)
{
    const struct page page = {.title = "Crash report"};

    page_begin(o, &page);
    PUTS("<main>");
    put_verdict(v, o);
    PUTS(v->num_advice ? "<section class=card><h2>What to try next</h2><ol>" : "");
    for (uint32_t i = 0; i < v->num_advice; i++) {
        PUTS("<li>");
        page_text(o, v->advice[i]);
    }
    PUTS(v->num_advice ? "</ol></section>" : "");
    put_list(v, o, "Page faults", "SELECT coalesce(text, printf('address 0x%x', address)) FROM fault");
    put_list(v, o, "Known before, or besides",
             "SELECT text FROM finding WHERE rank > 0 AND source IS NOT 'processor trace' ORDER BY rank");
    put_processors(v, o);
    put_list(v, o, "Played again", "SELECT text FROM replay");
    put_submissions(v, o);
    put_bound(v, o);
    put_section(v, o, bb_report_source);
    put_section(v, o, bb_report_stacks);
    put_lives(v, o);
    put_checkpoints(v, o);
    put_time_line(v, o);
    put_statuses(v, o);
    put_host(v, o);
    put_pictures(v, o);
    put_events(v, o);
    if (v->dump.trouble.code) {
        PUTS("<section class=card><h2>Not all of the dump could be read</h2>");
        page_text(o, v->dump.trouble.text);
        page_card_end(o);
    }
    PUTS("</main>\n");
    page_end(o, &page);
}
