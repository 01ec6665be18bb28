/* report_html.c: the report as one page that needs nothing else: no script, no other file. It is made to be read on a phone
 * first: one column, nothing wider than the screen, long lists folded. */
#include <stdlib.h>
#include <string.h>

#include "blackbox/report.h"

#define PUTS(s)  strbuf_puts(o, s)
#define OUT(...) strbuf_printf(o, __VA_ARGS__)

static const char head[] =
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
    "content='width=device-width,initial-scale=1'>"
    "<title>Crash report</title><style>"
    ":root{--ink:#1c2330;--dim:#667085;--line:#e3e7ee;--bg:#f6f7f9;--card:#fff;--bad:#b42318;--badbg:#fef0ee;"
    "--run:#d9480f;"
    "--ok:#1a7f4b;--wait:#b9c2d0}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--dim:#98a2b3;--line:#2b3240;--bg:#12161d;--card:#"
    "1a202a;"
    "--bad:#ff8a7a;--badbg:#3a1c19;--run:#ff9d5c;--ok:#5fd39a;--wait:#4a5566}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 "
    "system-ui,'DejaVu "
    "Sans',sans-serif;overflow-wrap:anywhere}main{max-width:860px;margin:0 auto;padding:16px}"
    "h1{font-size:1.35rem;line-height:1.3;margin:0 0 8px}h2{font-size:1.05rem;margin:0 0 8px}"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px "
    "16px;margin:14px 0}"
    ".verdict{border-left:5px solid var(--bad);background:var(--badbg)}.dim{color:var(--dim)}"
    "dl{display:grid;grid-template-columns:minmax(90px,max-content) 1fr;gap:4px "
    "14px;margin:0}dt{color:var(--dim)}dd{margin:0}"
    "code,pre{font:13px/1.45 ui-monospace,'DejaVu Sans "
    "Mono',monospace}pre{overflow:auto;max-height:26em;white-space:pre-wrap;margin:6px 0}"
    ".bar{display:flex;height:18px;border-radius:4px;overflow:hidden;margin:8px "
    "0;background:var(--line)}.bar i{display:block}"
    ".f{background:var(--ok)}.r{background:var(--run)}.n{background:var(--wait)}"
    ".key i{display:inline-block;width:11px;height:11px;border-radius:2px;margin:0 5px 0 12px}"
    "ol.cmds{list-style:none;margin:8px 0;padding:0}ol.cmds li{padding:4px 0 4px 12px;border-left:4px solid "
    "var(--wait);"
    "margin:2px 0}ol.cmds li.f{background:none;border-color:var(--ok)}ol.cmds "
    "li.r{background:none;border-color:var(--run);"
    "font-weight:600}ol.cmds li.n{background:none}"
    "img{max-width:100%;height:auto;border-radius:6px;border:1px solid var(--line)}summary{cursor:pointer}"
    "svg{width:100%;height:auto;display:block}svg text{font:15px "
    "system-ui,sans-serif;fill:var(--dim)}table{border-collapse:collapse;width:100%}td{padding:2px 8px 2px "
    "0;vertical-align:top}</style><main>";

static void esc(struct strbuf *o, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<':
            PUTS("&lt;");
            break;
        case '>':
            PUTS("&gt;");
            break;
        case '&':
            PUTS("&amp;");
            break;
        case '"':
            PUTS("&quot;");
            break;
        case '\'':
            PUTS("&#39;");
            break;
        default:
            strbuf_append(o, s, 1);
        }
}

static void base64(struct strbuf *o, const unsigned char *b, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < n; i += 3) {
        unsigned v =
            (unsigned)b[i] << 16 | (i + 1 < n ? (unsigned)b[i + 1] << 8 : 0) | (i + 2 < n ? b[i + 2] : 0u);
        char c[4] = {digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=',
                     i + 2 < n ? digits[v & 63] : '='};
        strbuf_append(o, c, 4);
    }
}

static const char *class_of(const char *state)
{
    enum bb_state s = bb_state_find(state);

    return bb_state_is_candidate(s) ? "r" : s == BB_FINISHED ? "f" : "n";
}

static void put_verdict(struct bb_view *v, struct strbuf *o)
{
    static const char *const keys[][2] = {{"reason", "Made because of"}, {"time", "Time"},
                                          {"program", "Program"},        {"device", "Device"},
                                          {"markers", "Markers"},        {"death", "Executor"},
                                          {"fingerprint", "Fingerprint"}};
    char value[600];

    PUTS("<section class='card verdict'><h1>");
    esc(o, v->verdict);
    PUTS(".</h1><div class=dim>");
    esc(o, v->certainty[0] ? v->certainty : "no finding");
    if (v->source[0]) {
        PUTS(", by ");
        esc(o, v->source);
    }
    PUTS("</div></section><section class=card><dl>");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (*bb_dump_meta(&v->dump, keys[i][0], value, sizeof(value))) {
            OUT("<dt>%s</dt><dd>", keys[i][1]);
            esc(o, value);
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
            OUT("<section class=card><h2>%s</h2><ul>", title);
        any = true;
        PUTS("<li>");
        esc(o, bb_column_text(&v->dump, s, 0));
    }
    if (any)
        PUTS("</ul></section>");
}

static void put_bar(struct bb_view *v, struct strbuf *o, int64_t id)
{
    static const char *const states[][2] = {
        {"finished", "f"}, {"running", "r"}, {"perhaps running", "r"}, {"not started", "n"}};

    PUTS("<div class=bar>");
    for (int i = 0; i < 4; i++) {
        sqlite3_stmt *s =
            bb_select(&v->dump, "SELECT count(*) FROM packet WHERE submission=%lld AND work=1 AND state=%Q",
                      (long long)id, states[i][0]);
        while (bb_step(&v->dump, &s))
            if (sqlite3_column_int64(s, 0))
                OUT("<i class=%s style='flex:%lld'></i>", states[i][1],
                    (long long)sqlite3_column_int64(s, 0));
    }
    PUTS("</div><div class='key dim'><i class=f style='margin-left:0'></i>done<i class=r></i>running<i "
         "class=n></i>not "
         "started</div>");
}

static void put_run(struct strbuf *o, const char *state, const char *path, int64_t first, int64_t last,
                    int64_t n)
{
    OUT("<li class=%s>", class_of(state));
    if (path[0]) {
        PUTS("<span class=dim>");
        esc(o, path);
        PUTS("</span> ");
    }
    if (n == 1)
        OUT("packet %lld: ", (long long)first);
    else
        OUT("%lld commands, packets %lld–%lld: ", (long long)n, (long long)first, (long long)last);
    esc(o, state);
}

static void put_commands(struct bb_view *v, struct strbuf *o, int64_t id)
{
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT number, state, path, text, coalesce(draw, -1) FROM packet WHERE submission=%lld AND "
        "work=1 ORDER BY number",
        (long long)id);
    char state[32] = "", path[256] = "";
    int64_t first = 0, last = 0, n = 0, shown = 0;

    PUTS("<ol class=cmds>");
    while (bb_step(&v->dump, &s)) {
        const char *st = bb_column_text(&v->dump, s, 1), *pa = bb_column_text(&v->dump, s, 2);
        bool running = bb_state_is_candidate(bb_state_find(st));

        if (n && (strcmp(st, state) || strcmp(pa, path) || running)) {
            put_run(o, state, path, first, last, n);
            n = 0;
        }
        if (running && shown++ < 16) {
            PUTS("<li class=r>");
            if (bb_column_int(&v->dump, s, 4, -1) >= 0)
                OUT("draw %lld, ", (long long)bb_column_int(&v->dump, s, 4, 0));
            OUT("packet %lld: <code>", (long long)bb_column_int(&v->dump, s, 0, 0));
            esc(o, bb_column_text(&v->dump, s, 3));
            PUTS("</code> ");
            esc(o, st);
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
        &v->dump, "SELECT id, queue, state, packets, draws FROM submission WHERE state<>'completed' "
                  "ORDER BY id LIMIT 6");

    while (bb_step(&v->dump, &s)) {
        int64_t id = bb_column_int(&v->dump, s, 0, 0);

        OUT("<section class=card><h2>Submission %lld</h2><div class=dim>context %lld, %s, %lld packets, %lld "
            "draws</div>",
            (long long)id, (long long)bb_column_int(&v->dump, s, 1, 0), bb_column_text(&v->dump, s, 2),
            (long long)bb_column_int(&v->dump, s, 3, 0), (long long)bb_column_int(&v->dump, s, 4, 0));
        put_bar(v, o, id);
        put_commands(v, o, id);
        PUTS("</section>");
    }
}

static void put_bound(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = v->packet < 0
                          ? NULL
                          : bb_select(&v->dump,
                                      "SELECT slot, handle, what FROM binding WHERE submission=%lld AND "
                                      "packet=%lld ORDER BY kind DESC, slot",
                                      (long long)v->submission, (long long)v->packet);
    bool any = false;

    while (bb_step(&v->dump, &s)) {
        if (!any)
            PUTS("<section class=card><h2>Bound at that command</h2><dl>");
        any = true;
        OUT("<dt>%s</dt><dd>", bb_column_text(&v->dump, s, 0));
        esc(o, bb_column_text(&v->dump, s, 2));
        OUT(" <span class=dim>handle %lld</span></dd>", (long long)bb_column_int(&v->dump, s, 1, 0));
    }
    if (any)
        PUTS("</dl></section>");
    s = v->packet < 0
            ? NULL
            : bb_select(
                  &v->dump,
                  "SELECT hash, stage, kind, text FROM shader WHERE text IS NOT NULL AND hash IN (SELECT "
                  "what FROM binding WHERE submission=%lld AND packet=%lld AND kind='shader') LIMIT 6",
                  (long long)v->submission, (long long)v->packet);
    while (bb_step(&v->dump, &s)) {
        OUT("<section class=card><details%s><summary>%s shader %s (%s)</summary><pre>",
            strcmp(bb_column_text(&v->dump, s, 1), "vertex") ? " open" : "", bb_column_text(&v->dump, s, 1),
            bb_column_text(&v->dump, s, 0), bb_column_text(&v->dump, s, 2));
        esc(o, bb_column_text(&v->dump, s, 3));
        PUTS("</pre></details></section>");
    }
}

/* ---- the last seconds ---------------------------------------------------- */

enum { LINE_LEFT = 110, LINE_WIDTH = 480 };

struct span {
    int64_t start, end;
};

static double x_of(const struct span *t, int64_t at)
{
    int64_t v = at < t->start ? t->start : at > t->end ? t->end : at;

    return LINE_LEFT + (double)(v - t->start) / (double)(t->end - t->start) * LINE_WIDTH;
}

/* Three seconds, or since the first submission and vblank if that is less. */
static struct span find_span(struct bb_view *v)
{
    struct span t;
    char text[32];
    sqlite3_stmt *s;

    t.end = strtoll(bb_dump_meta(&v->dump, "time_ns", text, sizeof(text)), NULL, 10);
    t.start = t.end - INT64_C(3000000000);
    s = bb_select(&v->dump,
                  "SELECT min(time_ns) FROM (SELECT time_ns FROM submission UNION ALL SELECT time_ns FROM "
                  "event WHERE name='vblank')");
    while (bb_step(&v->dump, &s)) {
        int64_t first = bb_column_int(&v->dump, s, 0, 0);

        if (first > t.start && first < t.end - 1000000)
            t.start = first;
    }
    return t;
}

/* One line per context with its submissions. Returns how many lines. */
static int64_t put_spans(struct bb_view *v, struct strbuf *o, const struct span *t)
{
    int64_t row = -1, last_queue = -1;
    sqlite3_stmt *s =
        bb_select(&v->dump,
                  "SELECT queue, time_ns, coalesce(done_ns, %lld), state, id FROM submission WHERE "
                  "coalesce(done_ns, %lld) > %lld AND queue IN (SELECT DISTINCT queue FROM submission "
                  "ORDER BY queue LIMIT 6) ORDER BY queue, time_ns LIMIT 2000",
                  (long long)t->end, (long long)t->end, (long long)t->start);

    while (bb_step(&v->dump, &s)) {
        double a = x_of(t, bb_column_int(&v->dump, s, 1, 0)),
               b = x_of(t, bb_column_int(&v->dump, s, 2, t->end));

        if (bb_column_int(&v->dump, s, 0, 0) != last_queue) {
            last_queue = bb_column_int(&v->dump, s, 0, 0);
            OUT("<text x=0 y=%lld>context %lld</text>", (long long)(15 + ++row * 24), (long long)last_queue);
        }
        OUT("<rect x='%.1f' y=%lld width='%.1f' height=14 rx=2 fill='var(--%s)'><title>submission %lld: "
            "%s</title></rect>",
            a, (long long)(3 + row * 24), b - a < 1 ? 1 : b - a,
            !strcmp(bb_column_text(&v->dump, s, 3), "completed") ? "ok" : "run",
            (long long)bb_column_int(&v->dump, s, 4, 0), bb_column_text(&v->dump, s, 3));
    }
    return row + 1;
}

static void put_time_line(struct bb_view *v, struct strbuf *o)
{
    struct span t = find_span(v);
    struct strbuf lines = {0};
    sqlite3_stmt *s;
    int64_t rows = put_spans(v, &lines, &t), y = rows * 24;

    OUT("<section class=card><h2>The last %.1f seconds</h2><svg viewBox='0 0 600 %lld' role=img "
        "aria-label='time "
        "line'>",
        (double)(t.end - t.start) / 1e9, (long long)(y + 50));
    strbuf_append(o, strbuf_str(&lines), lines.len);
    strbuf_finish(&lines);
    s = bb_select(&v->dump, "SELECT time_ns FROM event WHERE name='vblank' AND time_ns > %lld",
                  (long long)t.start);
    while (bb_step(&v->dump, &s))
        OUT("<rect x='%.1f' y=%lld width=.7 height=12 fill='var(--dim)'/>",
            x_of(&t, bb_column_int(&v->dump, s, 0, 0)), (long long)(y + 4));
    OUT("<text x=0 y=%lld>vblanks</text>", (long long)(y + 15));
    s = bb_select(&v->dump,
                  "SELECT time_ns, name FROM event WHERE name IN ('error','ring_reset','event') AND time_ns "
                  "> %lld LIMIT 50",
                  (long long)t.start);
    while (bb_step(&v->dump, &s)) {
        OUT("<rect x='%.1f' y=0 width=2 height=%lld fill='var(--bad)'><title>",
            x_of(&t, bb_column_int(&v->dump, s, 0, 0)), (long long)(y + 18));
        esc(o, bb_column_text(&v->dump, s, 1));
        PUTS("</title></rect>");
    }
    OUT("<text x=%d y=%lld>%.1f s before</text><text x=%d y=%lld text-anchor=end>the "
        "crash</text></svg></section>",
        LINE_LEFT, (long long)(y + 40), (double)(t.end - t.start) / 1e9, LINE_LEFT + LINE_WIDTH,
        (long long)(y + 40));
}

static void put_events(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s =
        bb_select(&v->dump, "SELECT time_ns, process, name, a, b, c, text FROM (SELECT * FROM event WHERE "
                            "name<>'vblank' ORDER BY time_ns DESC LIMIT 40) ORDER BY time_ns");
    char when[48], now[32];
    bool any = false;

    bb_dump_meta(&v->dump, "time_ns", now, sizeof(now));
    while (bb_step(&v->dump, &s)) {
        PUTS(any ? "" : "<section class=card><details><summary>The last events</summary><table>");
        any = true;
        bb_when(when, bb_column_int(&v->dump, s, 0, 0), strtoll(now, NULL, 10));
        OUT("<tr><td class=dim>%s<td>", when);
        esc(o, bb_column_text(&v->dump, s, 1));
        PUTS("<td>");
        esc(o, bb_column_text(&v->dump, s, 2));
        OUT("<td>%lld %lld %lld ", (long long)bb_column_int(&v->dump, s, 3, 0),
            (long long)bb_column_int(&v->dump, s, 4, 0), (long long)bb_column_int(&v->dump, s, 5, 0));
        esc(o, bb_column_text(&v->dump, s, 6));
    }
    PUTS(any ? "</table></details></section>" : "");
}

/* ---- lives --------------------------------------------------------------- */

/* What a page fault is about, and who lies next to it. */
static void put_lives(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s = bb_select(
        &v->dump,
        "SELECT r.kind, r.id, r.address, r.size, r.created_ns, r.destroyed_ns, r.evicted_ns, f.address, "
        "r.id=f.resource FROM resource r JOIN fault f ON r.address IS NOT NULL AND (r.id=f.resource OR "
        "f.address BETWEEN r.address - 1048576 AND r.address + r.size + 1048576) ORDER BY r.address LIMIT "
        "12");
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
        esc(o, bb_column_text(&v->dump, s, 0));
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
    esc(o, text);
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
        esc(o, bb_column_text(&v->dump, s, 0));
        PUTS("</dt><dd>reached <b>");
        esc(o, bb_column_text(&v->dump, s, 1));
        PUTS("</b><br>passed <b>");
        esc(o, bb_column_text(&v->dump, s, 2));
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
        esc(o, bb_column_text(&v->dump, s, 1));
        PUTS("</b> <span class=dim>");
        esc(o, bb_column_text(&v->dump, s, 2));
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
        PUTS("<section class=card><h2>");
        esc(o, bb_column_text(&v->dump, s, 0));
        PUTS("</h2><img alt='what the screen showed' src='data:image/png;base64,");
        base64(o, sqlite3_column_blob(s, 3), (size_t)sqlite3_column_bytes(s, 3));
        PUTS("'></section>");
    }
}

void bb_report_html(struct bb_view *v, struct strbuf *o)
{
    PUTS(head);
    put_verdict(v, o);
    PUTS(v->num_advice ? "<section class=card><h2>What to try next</h2><ol>" : "");
    for (uint32_t i = 0; i < v->num_advice; i++) {
        PUTS("<li>");
        esc(o, v->advice[i]);
    }
    PUTS(v->num_advice ? "</ol></section>" : "");
    put_list(v, o, "Page faults", "SELECT coalesce(text, printf('address 0x%x', address)) FROM fault");
    put_list(v, o, "Known before, or besides", "SELECT text FROM finding WHERE rank > 0 ORDER BY rank");
    put_list(v, o, "Played again", "SELECT text FROM replay");
    put_submissions(v, o);
    put_bound(v, o);
    put_lives(v, o);
    put_checkpoints(v, o);
    put_time_line(v, o);
    put_statuses(v, o);
    put_host(v, o);
    put_pictures(v, o);
    put_events(v, o);
    if (v->dump.trouble.code) {
        PUTS("<section class=card><h2>Not all of the dump could be read</h2>");
        esc(o, v->dump.trouble.text);
        PUTS("</section>");
    }
    PUTS("</main></html>\n");
}
