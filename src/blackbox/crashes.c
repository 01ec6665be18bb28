/* SPDX-License-Identifier: MIT */
#include "blackbox/crashes.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "blackbox/dump_read.h"
#include "report/page.h"

#define SUFFIX ".aerogpudump"

enum { INDEX_ID = 0x41474349, INDEX_VERSION = 1, MAX_DEPTH = 16, SHOWN_GROUPS = 20, SHOWN_FEATURES = 8 };

struct bb_crashes {
    sqlite3 *db;
    sqlite3_stmt *find, *insert, *feature, *forget;
    char path[4096];
};

static int sql_error(struct bb_crashes *c, struct error *e)
{
    return error_set(e, -EIO, "%s: %s", c->path, c->db ? sqlite3_errmsg(c->db) : "out of memory");
}

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS dump(id INTEGER PRIMARY KEY, path TEXT UNIQUE, size INTEGER, mtime INTEGER, "
    "fingerprint TEXT,"
    " cause TEXT, verdict TEXT, time TEXT, error TEXT, commands INTEGER, running INTEGER);"
    "CREATE TABLE IF NOT EXISTS feature(dump INTEGER, kind TEXT, name TEXT, commands INTEGER, running "
    "INTEGER);"
    "CREATE INDEX IF NOT EXISTS feature_dump ON feature(dump);"
    "CREATE INDEX IF NOT EXISTS dump_fingerprint ON dump(fingerprint);";

static int64_t ask(struct bb_crashes *c, const char *sql)
{
    sqlite3_stmt *s;
    int64_t v = -1;

    if (!sqlite3_prepare_v2(c->db, sql, -1, &s, NULL) && sqlite3_step(s) == SQLITE_ROW)
        v = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return v;
}

static int check_version(struct bb_crashes *c, struct error *e)
{
    int64_t id = ask(c, "PRAGMA application_id"), version = ask(c, "PRAGMA user_version");

    if (id < 0)
        return sql_error(c, e);
    if (!id && !ask(c, "SELECT count(*) FROM sqlite_master"))
        return sqlite3_exec(c->db, "PRAGMA application_id=1095189321;PRAGMA user_version=1;", NULL, NULL,
                            NULL)
                   ? sql_error(c, e)
                   : 0;
    if (id != INDEX_ID)
        return error_set(e, -EBADMSG, "%s: is no index of crashes", c->path);
    if (version != INDEX_VERSION)
        return error_set(e, -EPROTONOSUPPORT, "%s: version %lld, this program knows %d", c->path,
                         (long long)version, INDEX_VERSION);
    return 0;
}

int bb_crashes_open(struct bb_crashes **out, const char *path, struct error *e)
{
    struct bb_crashes *c = calloc(1, sizeof(*c));
    int r;

    *out = NULL;
    if (!c)
        return error_set(e, -ENOMEM, "no memory for an index");
    snprintf(c->path, sizeof(c->path), "%s", path);
    _Static_assert(INDEX_ID == 1095189321, "as in the statement above");
    r = sqlite3_open_v2(path, &c->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ? sql_error(c, e) : 0;
    if (!r)
        r = check_version(c, e);
    if (!r &&
        (sqlite3_exec(c->db, "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;", NULL, NULL, NULL) ||
         sqlite3_exec(c->db, schema, NULL, NULL, NULL) ||
         sqlite3_prepare_v2(c->db, "SELECT id, size, mtime FROM dump WHERE path=?", -1, &c->find, NULL) ||
         sqlite3_prepare_v2(c->db, "DELETE FROM feature WHERE dump=?", -1, &c->forget, NULL) ||
         sqlite3_prepare_v2(c->db, "INSERT OR REPLACE INTO dump VALUES(?,?,?,?,?,?,?,?,?,?,?)", -1,
                            &c->insert, NULL) ||
         sqlite3_prepare_v2(c->db, "INSERT INTO feature VALUES(?,?,?,?,?)", -1, &c->feature, NULL)))
        r = sql_error(c, e);
    if (r) {
        bb_crashes_close(c);
        return r;
    }
    *out = c;
    return 0;
}

void bb_crashes_close(struct bb_crashes *c)
{
    if (!c)
        return;
    sqlite3_finalize(c->find);
    sqlite3_finalize(c->insert);
    sqlite3_finalize(c->feature);
    sqlite3_finalize(c->forget);
    sqlite3_close(c->db);
    free(c);
}

/* ---- adding -------------------------------------------------------------- */

struct row {
    char fingerprint[40], cause[40], verdict[600], time[40], error[300];
    int64_t commands, running;
};

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

static int put(struct bb_crashes *c, sqlite3_stmt *s, struct error *e)
{
    int rc = sqlite3_step(s);

    sqlite3_reset(s);
    return rc == SQLITE_DONE ? 0 : sql_error(c, e);
}

static int put_features(struct bb_crashes *c, struct bb_dump *d, int64_t id, struct row *row, struct error *e)
{
    sqlite3_stmt *s = bb_select(
        d, "SELECT kind, name, commands, running FROM usage UNION ALL SELECT 'setting', key || '=' || "
           "value, 0, 1 FROM meta WHERE key LIKE 'setting.%%' UNION ALL SELECT 'device', value, 0, 1 "
           "FROM meta WHERE key='device'");
    int r = 0;

    while (bb_step(d, &s)) {
        const char *kind = bb_column_text(d, s, 0);

        if (!strcmp(kind, "total")) {
            row->commands = bb_column_int(d, s, 2, 0);
            row->running = bb_column_int(d, s, 3, 0);
            continue;
        }
        sqlite3_bind_int64(c->feature, 1, id);
        bind_text(c->feature, 2, kind);
        bind_text(c->feature, 3, bb_column_text(d, s, 1));
        sqlite3_bind_int64(c->feature, 4, bb_column_int(d, s, 2, 0));
        sqlite3_bind_int64(c->feature, 5, bb_column_int(d, s, 3, 0));
        if (!r)
            r = put(c, c->feature, e);
    }
    return r;
}

static void read_row(struct bb_dump *d, struct row *row)
{
    sqlite3_stmt *s = bb_select(d, "SELECT cause, text FROM finding ORDER BY rank LIMIT 1");

    while (bb_step(d, &s)) {
        snprintf(row->cause, sizeof(row->cause), "%s", bb_column_text(d, s, 0));
        snprintf(row->verdict, sizeof(row->verdict), "%s", bb_column_text(d, s, 1));
    }
    bb_dump_meta(d, "fingerprint", row->fingerprint, sizeof(row->fingerprint));
    bb_dump_meta(d, "time", row->time, sizeof(row->time));
    if (!row->fingerprint[0])
        snprintf(row->fingerprint, sizeof(row->fingerprint), "%s", row->cause[0] ? row->cause : "unknown");
}

static int put_row(struct bb_crashes *c, const char *path, const struct stat *st, int64_t id,
                   const struct row *row, struct error *e)
{
    sqlite3_bind_int64(c->insert, 1, id);
    bind_text(c->insert, 2, path);
    sqlite3_bind_int64(c->insert, 3, st->st_size);
    sqlite3_bind_int64(c->insert, 4, (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec);
    bind_text(c->insert, 5, row->fingerprint);
    bind_text(c->insert, 6, row->cause);
    bind_text(c->insert, 7, row->verdict);
    bind_text(c->insert, 8, row->time);
    if (row->error[0])
        bind_text(c->insert, 9, row->error);
    else
        sqlite3_bind_null(c->insert, 9);
    sqlite3_bind_int64(c->insert, 10, row->commands);
    sqlite3_bind_int64(c->insert, 11, row->running);
    return put(c, c->insert, e);
}

static int add_file(struct bb_crashes *c, const char *path, const struct stat *st,
                    struct bb_crashes_added *added, struct error *e)
{
    int64_t mtime = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec, id = 0;
    static const char *const read[] = {"meta", "finding", "usage", NULL};
    struct row row = {0};
    struct error why = {0};
    struct bb_dump d;
    bool known = false;
    int r = 0;

    bind_text(c->find, 1, path);
    if (sqlite3_step(c->find) == SQLITE_ROW) {
        id = sqlite3_column_int64(c->find, 0);
        known = sqlite3_column_int64(c->find, 1) == st->st_size && sqlite3_column_int64(c->find, 2) == mtime;
    }
    sqlite3_reset(c->find);
    if (known) {
        added->known++;
        return 0;
    }
    if (!id)
        id = ask(c, "SELECT coalesce(max(id), 0) + 1 FROM dump");
    sqlite3_bind_int64(c->forget, 1, id);
    r = put(c, c->forget, e);
    if (!r && bb_dump_open(&d, path, &why)) {
        snprintf(row.error, sizeof(row.error), "%s", why.text);
        snprintf(row.fingerprint, sizeof(row.fingerprint), "unreadable");
        added->bad++;
    } else if (!r) {
        bb_dump_check(&d, read);
        if (d.num_bad)
            snprintf(row.fingerprint, sizeof(row.fingerprint), "unreadable");
        else
            read_row(&d, &row);
        r = d.num_bad ? 0 : put_features(c, &d, id, &row, e);
        if (d.trouble.code)
            snprintf(row.error, sizeof(row.error), "%s", d.trouble.text);
        added->bad += d.trouble.code != 0;
        added->added += !d.trouble.code;
        bb_dump_close(&d);
    }
    if (row.error[0])
        error_set(&added->first_bad, -EBADMSG, "%s", row.error);
    return r ? r : put_row(c, path, st, id, &row, e);
}

static int add_path(struct bb_crashes *c, const char *path, int depth, struct bb_crashes_added *added,
                    struct error *e)
{
    char name[PATH_MAX];
    struct dirent *entry;
    struct stat st;
    DIR *dir;
    int r = 0;

    if (stat(path, &st))
        return error_set(e, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return add_file(c, path, &st, added, e);
    dir = depth < MAX_DEPTH ? opendir(path) : NULL;
    if (!dir)
        return depth ? 0 : error_set(e, -errno, "%s: %s", path, strerror(errno));
    while (!r && (entry = readdir(dir))) {
        size_t n = strlen(entry->d_name);
        struct stat in;

        if (entry->d_name[0] == '.' ||
            (size_t)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >= sizeof(name) ||
            lstat(name, &in))
            continue;
        if (S_ISDIR(in.st_mode) || (S_ISREG(in.st_mode) && n > strlen(SUFFIX) &&
                                    !strcmp(entry->d_name + n - strlen(SUFFIX), SUFFIX)))
            r = add_path(c, name, depth + 1, added, e);
    }
    closedir(dir);
    return r;
}

int bb_crashes_add(struct bb_crashes *c, const char *path, struct bb_crashes_added *added, struct error *e)
{
    int r = sqlite3_exec(c->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) ? sql_error(c, e) : 0;

    if (r)
        return r;
    r = add_path(c, path, 0, added, e);
    if (sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL) && !r)
        r = sql_error(c, e);
    return r;
}

/* ---- ranking ------------------------------------------------------------- */

struct feature {
    char kind[24], name[200];
    int64_t in, of; /* crashes that have it, of how many */
    int64_t out,
        out_of; /* others that do: of settings, crashes of other groups; else commands that did not crash. 0: there are none */
    double inside, outside, score,
        chance; /* shares; chance: that it would be so often inside if it had nothing to do with it */
};

struct group {
    char fingerprint[40], cause[40], verdict[600], first[40], last[40];
    int64_t dumps;
    struct feature f[SHOWN_FEATURES];
    uint32_t n;
};

static int by_score(const void *a, const void *b)
{
    const struct feature *x = a, *y = b;

    return x->score > y->score ? -1 : x->score < y->score;
}

static double choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Fisher's exact test, one-sided: `in` or more of `of`, where in + out have it of all. */
static double chance_of(const struct feature *f)
{
    double n = (double)(f->of + f->out_of), have = (double)(f->in + f->out), p = 0;
    double most = have < (double)f->of ? have : (double)f->of;

    for (double k = (double)f->in; k <= most; k++)
        if (n - have >= (double)f->of - k)
            p += exp(choose(have, k) + choose(n - have, (double)f->of - k) - choose(n, (double)f->of));
    return p < 1 ? p : 1;
}

static void rate(struct feature *f)
{
    f->inside = f->of ? (double)f->in / (double)f->of : 0;
    f->outside = f->out_of ? (double)f->out / (double)f->out_of : 0;
    f->chance = f->out_of ? chance_of(f) : 1;
    f->score = f->out_of ? f->inside * log((f->inside + 0.01) / (f->outside + 0.01))
                         : 0.01 * f->inside; /* there is no elsewhere to compare with */
}

static void keep_best(struct group *g, const struct feature *f)
{
    if (g->n < SHOWN_FEATURES)
        g->f[g->n++] = *f;
    else if (f->score > g->f[g->n - 1].score)
        g->f[g->n - 1] = *f;
    else
        return;
    qsort(g->f, g->n, sizeof(g->f[0]), by_score);
}

/* How many dumps have each setting and device. */
static const char overall[] =
    "CREATE TEMP TABLE IF NOT EXISTS overall(kind TEXT, name TEXT, n INTEGER, PRIMARY KEY(kind, name)); DELETE FROM overall;"
    "INSERT INTO overall SELECT kind, name, count(DISTINCT dump) FROM feature f JOIN dump d ON d.id=f.dump "
    "WHERE kind IN ('device', 'setting') AND d.fingerprint<>'unreadable' GROUP BY kind, name";

/* Of the dumps with that fingerprint, or of all. Settings are compared with the dumps of other groups, everything else with the
 * commands of the same dumps that did not crash. */
static int rank(struct bb_crashes *c, struct group *g, const char *fingerprint, int64_t all, struct error *e)
{
    char *where = fingerprint ? sqlite3_mprintf("d.fingerprint=%Q", fingerprint)
                              : sqlite3_mprintf("d.fingerprint<>'unreadable'");
    char *sql = sqlite3_mprintf(
        "SELECT f.kind, f.name, sum(f.running > 0), sum(max(f.commands - f.running, 0)), coalesce(o.n, -1), "
        "(SELECT sum(max(d.commands - d.running, 0)) FROM dump d WHERE %s) "
        "FROM feature f JOIN dump d ON d.id = f.dump LEFT JOIN overall o ON o.kind=f.kind AND o.name=f.name WHERE %s "
        "GROUP BY f.kind, f.name HAVING sum(f.running > 0) > 0",
        where, where);
    sqlite3_stmt *s = NULL;
    int r = sql && !sqlite3_prepare_v2(c->db, sql, -1, &s, NULL) ? 0 : sql_error(c, e);

    sqlite3_free(sql);
    sqlite3_free(where);
    while (!r && sqlite3_step(s) == SQLITE_ROW) {
        int64_t dumps = sqlite3_column_int64(s, 4);
        struct feature f = {.in = sqlite3_column_int64(s, 2), .of = g->dumps};

        snprintf(f.kind, sizeof(f.kind), "%s", (const char *)sqlite3_column_text(s, 0));
        snprintf(f.name, sizeof(f.name), "%s", (const char *)sqlite3_column_text(s, 1));
        f.out = dumps < 0 ? sqlite3_column_int64(s, 3) : dumps - f.in;
        f.out_of = dumps < 0 ? sqlite3_column_int64(s, 5) : all - g->dumps;
        if (f.in > f.of || f.out < 0 || f.out > f.out_of)
            continue; /* no dump of ours counts so */
        rate(&f);
        if (f.score > 0.005 && (dumps < 0 || !f.out_of || f.chance < 0.05))
            keep_best(g, &f);
    }
    sqlite3_finalize(s);
    return r;
}

static int load_groups(struct bb_crashes *c, struct group **out, uint32_t *n, int64_t all, struct error *e)
{
    sqlite3_stmt *s;

    *n = 0;
    *out = calloc(SHOWN_GROUPS, sizeof(**out));
    if (!*out)
        return error_set(e, -ENOMEM, "no memory for groups of crashes");
    if (sqlite3_prepare_v2(
            c->db,
            "SELECT fingerprint, count(*), min(time), max(time), max(cause), max(verdict) FROM dump GROUP BY "
            "fingerprint ORDER BY 2 DESC, 1 LIMIT 20",
            -1, &s, NULL))
        return sql_error(c, e);
    while (sqlite3_step(s) == SQLITE_ROW && *n < SHOWN_GROUPS) {
        struct group *g = &(*out)[(*n)++];
        static const int columns[] = {0, 2, 3, 4, 5};
        char *texts[] = {g->fingerprint, g->first, g->last, g->cause, g->verdict};
        const size_t sizes[] = {40, 40, 40, 40, 600};

        for (int i = 0; i < 5; i++) {
            const char *text = (const char *)sqlite3_column_text(s, columns[i]);
            snprintf(texts[i], sizes[i], "%s", text ? text : "");
        }
        g->dumps = sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    for (uint32_t i = 0; i < *n; i++)
        if (rank(c, &(*out)[i], (*out)[i].fingerprint, all, e))
            return e ? e->code : -EIO;
    return 0;
}

static int load_all(struct bb_crashes *c, struct group **groups, uint32_t *n, struct group *all,
                    struct error *e)
{
    int r;

    *groups = NULL;
    *all = (struct group){.dumps = ask(c, "SELECT count(*) FROM dump WHERE fingerprint<>'unreadable'")};
    r = sqlite3_exec(c->db, overall, NULL, NULL, NULL) ? sql_error(c, e)
                                                       : load_groups(c, groups, n, all->dumps, e);
    return r || !all->dumps ? r : rank(c, all, NULL, all->dumps, e);
}

/* ---- forms --------------------------------------------------------------- */

static const char *ratio_text(char out[160], const struct feature *f)
{
    bool dumps = !strcmp(f->kind, "device") || !strcmp(f->kind, "setting");
    int n =
        snprintf(out, 160, "in %lld of %lld (%.0f %%)", (long long)f->in, (long long)f->of, 100 * f->inside);

    if (f->out_of)
        snprintf(out + n, 160 - (size_t)n, ", in %lld of %lld other %s (%.0f %%), by chance %.2g",
                 (long long)f->out, (long long)f->out_of, dumps ? "crashes" : "commands", 100 * f->outside,
                 f->chance);
    return out;
}

static void text_features(struct strbuf *o, const struct group *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        char ratio[160];

        strbuf_printf(o, "    %-9s %-40s %s\n", g->f[i].kind, g->f[i].name, ratio_text(ratio, &g->f[i]));
    }
}

int bb_crashes_text(struct bb_crashes *c, struct strbuf *o, struct error *e)
{
    struct group *g, all;
    uint32_t n;
    int r = load_all(c, &g, &n, &all, e);

    if (!r) {
        strbuf_printf(o, "%lld crashes in %u%s groups\n", (long long)all.dumps, n,
                      n == SHOWN_GROUPS ? " or more" : "");
        for (uint32_t i = 0; i < n; i++) {
            strbuf_printf(o, "\n%lld × %s  %s\n    %s\n    first %s, last %s\n", (long long)g[i].dumps,
                          g[i].fingerprint, g[i].cause, g[i].verdict, g[i].first, g[i].last);
            text_features(o, &g[i]);
        }
        strbuf_puts(o, all.n ? "\nWhat all crashes share\n" : "");
        text_features(o, &all);
    }
    free(g);
    return r;
}

static json_t *features_json(const struct group *g)
{
    json_t *a = json_array();

    for (uint32_t i = 0; i < g->n; i++)
        json_array_append_new(a, json_pack("{s:s,s:s,s:f,s:o,s:f,s:I,s:I,s:I,s:I,s:f}", "kind", g->f[i].kind,
                                           "name", g->f[i].name, "in_crashes", g->f[i].inside, "elsewhere",
                                           g->f[i].out_of ? json_real(g->f[i].outside) : json_null(), "score",
                                           g->f[i].score, "in", (json_int_t)g->f[i].in, "of",
                                           (json_int_t)g->f[i].of, "out", (json_int_t)g->f[i].out, "out_of",
                                           (json_int_t)g->f[i].out_of, "chance", g->f[i].chance));
    return a;
}

int bb_crashes_json(struct bb_crashes *c, struct strbuf *o, struct error *e)
{
    struct group *g, all;
    json_t *groups = json_array(), *j;
    char *text;
    uint32_t n;
    int r = load_all(c, &g, &n, &all, e);

    for (uint32_t i = 0; !r && i < n; i++)
        json_array_append_new(groups, json_pack("{s:s,s:I,s:s,s:s,s:s,s:s,s:o}", "fingerprint",
                                                g[i].fingerprint, "dumps", (json_int_t)g[i].dumps, "cause",
                                                g[i].cause, "verdict", g[i].verdict, "first", g[i].first,
                                                "last", g[i].last, "features", features_json(&g[i])));
    j = json_pack("{s:I,s:o,s:o}", "crashes", (json_int_t)all.dumps, "groups", groups, "shared",
                  features_json(&all));
    text = j ? json_dumps(j, JSON_INDENT(1)) : NULL;
    if (text)
        strbuf_printf(o, "%s\n", text);
    else if (!r)
        r = error_set(e, -ENOMEM, "no memory for a report");
    free(text);
    json_decref(j);
    free(g);
    return r;
}

static void html_features(struct strbuf *o, const struct group *g)
{
    if (!g->n)
        return;
    page_table(o, "l:what|l:name|in these crashes|elsewhere|by chance");
    for (uint32_t i = 0; i < g->n; i++) {
        strbuf_printf(o, "<tr><td class=l>%s<td class=l>", g->f[i].kind);
        page_text_in(o, "<code>", g->f[i].name, "</code>");
        strbuf_printf(o, "<td>%.0f %% (%lld of %lld)", 100 * g->f[i].inside, (long long)g->f[i].in,
                      (long long)g->f[i].of);
        if (g->f[i].out_of)
            strbuf_printf(o, "<td>%.0f %% (%lld of %lld)<td>%.2g</tr>", 100 * g->f[i].outside,
                          (long long)g->f[i].out, (long long)g->f[i].out_of, g->f[i].chance);
        else
            strbuf_puts(o, "<td><td></tr>");
    }
    page_table_end(o);
}

int bb_crashes_html(struct bb_crashes *c, struct strbuf *o, struct error *e)
{
    const struct page page = {.title = "Crashes"};
    struct group *g, all;
    char title[96];
    uint32_t n;
    int r = load_all(c, &g, &n, &all, e);

    if (!r) {
        page_begin(o, &page);
        strbuf_printf(o, "<main><h1>%lld crashes</h1>\n", (long long)all.dumps);
        for (uint32_t i = 0; i < n; i++) {
            snprintf(title, sizeof(title), "%lld × %s", (long long)g[i].dumps, g[i].cause);
            page_card(o, NULL, title, NULL);
            strbuf_printf(o, "<div class=dim>%s, %s to %s</div>", g[i].fingerprint, g[i].first, g[i].last);
            page_text_in(o, "<p>", g[i].verdict, "</p>\n");
            html_features(o, &g[i]);
            page_card_end(o);
        }
        page_card(o, NULL, "What all crashes share", NULL);
        html_features(o, &all);
        page_card_end(o);
        strbuf_puts(o, "</main>");
        page_end(o, &page);
    }
    free(g);
    return r;
}
