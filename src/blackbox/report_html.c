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
    "Mono',monospace}pre{overflow-x:auto;white-space:pre-wrap;margin:6px 0}"
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
    "svg{width:100%;height:auto;display:block}svg text{font:10px "
    "system-ui,sans-serif;fill:var(--dim)}</style><main>";

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
    return strstr(state, "running") ? "r" : !strcmp(state, "finished") ? "f" : "n";
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
    sqlite3_stmt *s =
        bb_select(&v->dump,
                  "SELECT number, state, path, text FROM packet WHERE submission=%lld AND work=1 "
                  "ORDER BY number",
                  (long long)id);
    char state[32] = "", path[256] = "";
    int64_t first = 0, last = 0, n = 0, shown = 0;

    PUTS("<ol class=cmds>");
    while (bb_step(&v->dump, &s)) {
        const char *st = bb_column_text(&v->dump, s, 1), *pa = bb_column_text(&v->dump, s, 2);
        bool running = strstr(st, "running") != NULL;

        if (n && (strcmp(st, state) || strcmp(pa, path) || running)) {
            put_run(o, state, path, first, last, n);
            n = 0;
        }
        if (running && shown++ < 16) {
            PUTS("<li class=r><code>");
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
        OUT("<section class=card><details><summary>%s shader %s (%s)</summary><pre>",
            bb_column_text(&v->dump, s, 1), bb_column_text(&v->dump, s, 0), bb_column_text(&v->dump, s, 2));
        esc(o, bb_column_text(&v->dump, s, 3));
        PUTS("</pre></details></section>");
    }
}

/* The last seconds: one line per context with its submissions, and the vblanks. */
static void put_time_line(struct bb_view *v, struct strbuf *o)
{
    sqlite3_stmt *s;
    int64_t now, start, row = 0, last_queue = -1;
    char text[32];
    double span;

    now = strtoll(bb_dump_meta(&v->dump, "time_ns", text, sizeof(text)), NULL, 10);
    start = now - INT64_C(3000000000);
    span = (double)(now - start);
    PUTS("<section class=card><h2>The last three seconds</h2><svg viewBox='0 0 600 110' role=img "
         "aria-label='time line'>");
    s = bb_select(
        &v->dump,
        "SELECT queue, time_ns, coalesce(done_ns, %lld), state, id FROM submission WHERE coalesce(done_ns, "
        "%lld) > %lld ORDER BY queue, time_ns LIMIT 2000",
        (long long)now, (long long)now, (long long)start);
    while (bb_step(&v->dump, &s)) {
        int64_t a = bb_column_int(&v->dump, s, 1, 0), b = bb_column_int(&v->dump, s, 2, now);
        double x, w;

        if (bb_column_int(&v->dump, s, 0, 0) != last_queue && row < 4) {
            last_queue = bb_column_int(&v->dump, s, 0, 0);
            OUT("<text x=0 y=%lld>context %lld</text>", (long long)(12 + row * 22), (long long)last_queue);
            row++;
        }
        x = a < start ? 0 : (double)(a - start) / span * 500;
        w = (double)(b - (a < start ? start : a)) / span * 500;
        OUT("<rect x='%.1f' y=%lld width='%.1f' height=12 rx=2 fill='var(--%s)'><title>submission %lld: "
            "%s</title></rect>",
            95 + x, (long long)(3 + (row - 1) * 22), w < 1 ? 1 : w,
            !strcmp(bb_column_text(&v->dump, s, 3), "completed") ? "ok" : "run",
            (long long)bb_column_int(&v->dump, s, 4, 0), bb_column_text(&v->dump, s, 3));
    }
    s = bb_select(&v->dump, "SELECT time_ns FROM event WHERE name='vblank' AND time_ns > %lld",
                  (long long)start);
    while (bb_step(&v->dump, &s))
        OUT("<rect x='%.1f' y=94 width=.6 height=8 fill='var(--dim)'/>",
            95 + (double)(bb_column_int(&v->dump, s, 0, start) - start) / span * 500);
    PUTS("<text x=0 y=102>vblanks</text></svg></section>");
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
    put_list(v, o, "Also", "SELECT text FROM finding WHERE rank > 0 ORDER BY rank");
    put_list(v, o, "Played again", "SELECT text FROM replay");
    put_submissions(v, o);
    put_bound(v, o);
    put_checkpoints(v, o);
    put_time_line(v, o);
    put_statuses(v, o);
    put_pictures(v, o);
    if (v->dump.trouble.code) {
        PUTS("<section class=card><h2>Not all of the dump could be read</h2>");
        esc(o, v->dump.trouble.text);
        PUTS("</section>");
    }
    PUTS("</main></html>\n");
}
