/* SPDX-License-Identifier: MIT */
/* crashes.c: the index is one SQLite file. Adding reads dumps, one transaction for all that are added together; ranking asks
 * the index only; the three forms print what ranking found. */
#include "blackbox/crashes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blackbox/dump_read.h"
#include "report/json_show.h"
#include "report/page.h"

#define SUFFIX ".aerogpudump"

enum {
    INDEX_ID = 0x41474349,
    INDEX_VERSION = 3,
    MAX_DEPTH = 16,
    SHOWN_GROUPS = 20,
    SHOWN_KINDS = 6,
    SHOWN_FEATURES = 8
};

struct bb_crashes {
    sqlite3 *db;
    sqlite3_stmt *find, *insert, *feature, *forget, *same, *content;
    int64_t next; /* id of the next new dump, within a transaction; 0: to be asked */
    char path[4096];
};

static int sql_error(struct bb_crashes *c, struct error *e)
{
    return error_set(e, -EIO, "%s: %s", c->path, c->db ? sqlite3_errmsg(c->db) : "out of memory");
}

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS dump(id INTEGER PRIMARY KEY, path TEXT UNIQUE, size INTEGER, mtime INTEGER, "
    "place TEXT, path_in TEXT, fingerprint TEXT,"
    " cause TEXT, verdict TEXT, vague INTEGER, time TEXT, error TEXT, commands INTEGER, running INTEGER);"
    "CREATE TABLE IF NOT EXISTS feature(dump INTEGER, at INTEGER, kind TEXT, name TEXT, commands INTEGER, running "
    "INTEGER, PRIMARY KEY(dump, at)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS content(dump INTEGER PRIMARY KEY, sums TEXT);"
    "CREATE INDEX IF NOT EXISTS content_sums ON content(sums);"
    "CREATE INDEX IF NOT EXISTS dump_place ON dump(place);";

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
        return sqlite3_exec(c->db, "PRAGMA application_id=1095189321;PRAGMA user_version=3;", NULL, NULL,
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
    int r, made;

    *out = NULL;
    if (!c)
        return error_set(e, -ENOMEM, "no memory for an index");
    snprintf(c->path, sizeof(c->path), "%s", path);
    _Static_assert(INDEX_ID == 1095189321, "as in the statement above");
    made =
        open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600); /* it names what crashed, and how: its user's alone */
    if (made >= 0)
        close(made);
    r = sqlite3_open_v2(path, &c->db, SQLITE_OPEN_READWRITE, NULL) ? sql_error(c, e) : 0;
    if (!r)
        r = check_version(c, e);
    if (!r &&
        (sqlite3_exec(c->db, "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;", NULL, NULL, NULL) ||
         sqlite3_exec(c->db, schema, NULL, NULL, NULL) ||
         sqlite3_prepare_v2(c->db, "SELECT id, size, mtime, error FROM dump WHERE path=?", -1, &c->find,
                            NULL) ||
         sqlite3_prepare_v2(c->db, "DELETE FROM feature WHERE dump=?", -1, &c->forget, NULL) ||
         sqlite3_prepare_v2(c->db, "INSERT OR REPLACE INTO dump VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", -1,
                            &c->insert, NULL) ||
         sqlite3_prepare_v2(c->db, "INSERT INTO feature VALUES(?,?,?,?,?,?)", -1, &c->feature, NULL) ||
         sqlite3_prepare_v2(c->db, "SELECT 1 FROM content WHERE sums=? AND dump<>?", -1, &c->same, NULL) ||
         sqlite3_prepare_v2(c->db, "INSERT OR REPLACE INTO content VALUES(?2,?1)", -1, &c->content, NULL)))
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
    sqlite3_finalize(c->same);
    sqlite3_finalize(c->content);
    sqlite3_close(c->db);
    free(c);
}

/* ---- adding -------------------------------------------------------------- */

struct row {
    char place[160], path[200], fingerprint[40], cause[40], verdict[600], time[40], error[300];
    bool vague; /* its marks left more than one command */
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
           "value, 0, 1 FROM meta WHERE key LIKE 'setting.%%' UNION ALL SELECT key, value, 0, 1 "
           "FROM meta WHERE key IN ('device', 'program', 'producer')");
    int r = 0, at = 0;

    while (bb_step(d, &s)) {
        const char *kind = bb_column_text(d, s, 0);

        if (!strcmp(kind, "total")) {
            row->commands = bb_column_int(d, s, 2, 0);
            row->running = bb_column_int(d, s, 3, 0);
            continue;
        }
        sqlite3_bind_int64(c->feature, 1, id);
        sqlite3_bind_int(c->feature, 2, at++);
        bind_text(c->feature, 3, kind);
        bind_text(c->feature, 4, bb_column_text(d, s, 1));
        sqlite3_bind_int64(c->feature, 5, bb_column_int(d, s, 2, 0));
        sqlite3_bind_int64(c->feature, 6, bb_column_int(d, s, 3, 0));
        if (!r)
            r = put(c, c->feature, e);
    }
    return r;
}

static void read_row(struct bb_dump *d, struct row *row)
{
    const struct {
        const char *key;
        char *to;
        size_t size;
    } metas[] = {{"fingerprint", row->fingerprint, sizeof(row->fingerprint)},
                 {"place", row->place, sizeof(row->place)},
                 {"path", row->path, sizeof(row->path)},
                 {"time", row->time, sizeof(row->time)}};
    sqlite3_stmt *s = bb_select(
        d,
        "SELECT cause, text, certainty<>'certain' AND packet IS NOT NULL FROM finding ORDER BY rank LIMIT 1");

    while (bb_step(d, &s)) {
        snprintf(row->cause, sizeof(row->cause), "%s", bb_column_text(d, s, 0));
        snprintf(row->verdict, sizeof(row->verdict), "%s", bb_column_text(d, s, 1));
        row->vague =
            bb_column_int(d, s, 2, 0) && bb_cause_desc(bb_cause_find(row->cause))->kind == BB_KIND_CRASH;
    }
    s = bb_select(
        d,
        "SELECT key, value FROM meta WHERE key IN ('fingerprint', 'place', 'path', 'time') ORDER BY rowid DESC");
    while (bb_step(d, &s)) /* the first of each counts, and comes last */
        for (size_t i = 0; i < sizeof(metas) / sizeof(metas[0]); i++)
            if (!strcmp(bb_column_text(d, s, 0), metas[i].key))
                snprintf(metas[i].to, metas[i].size, "%s", bb_column_text(d, s, 1));
    if (!row->fingerprint[0])
        snprintf(row->fingerprint, sizeof(row->fingerprint), "%s", row->cause[0] ? row->cause : "unknown");
    if (!row->place[0])
        snprintf(row->place, sizeof(row->place), "%s", row->fingerprint);
}

static int put_row(struct bb_crashes *c, const char *path, const struct stat *st, int64_t id,
                   const struct row *row, struct error *e)
{
    sqlite3_bind_int64(c->insert, 1, id);
    bind_text(c->insert, 2, path);
    sqlite3_bind_int64(c->insert, 3, st->st_size);
    sqlite3_bind_int64(c->insert, 4, (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec);
    bind_text(c->insert, 5, row->place);
    bind_text(c->insert, 6, row->path);
    bind_text(c->insert, 7, row->fingerprint);
    bind_text(c->insert, 8, row->cause);
    bind_text(c->insert, 9, row->verdict);
    sqlite3_bind_int(c->insert, 10, row->vague);
    bind_text(c->insert, 11, row->time);
    if (row->error[0])
        bind_text(c->insert, 12, row->error);
    else
        sqlite3_bind_null(c->insert, 12);
    sqlite3_bind_int64(c->insert, 13, row->commands);
    sqlite3_bind_int64(c->insert, 14, row->running);
    return put(c, c->insert, e);
}

static void take_text(char *to, size_t size, sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);

    snprintf(to, size, "%s", text ? text : "");
}

static void note_bad(struct bb_crashes_added *added, const struct row *row)
{
    added->bad += row->error[0] != '\0';
    if (row->error[0] && added->found_bad)
        added->found_bad(row->error);
}

/* Whether another dump that is known has the same content, by the checksums of all tables, and says when it was: a copy is no second
 * crash. Else it is noted. */
static bool is_copy(struct bb_crashes *c, struct bb_dump *d, int64_t id)
{
    sqlite3_stmt *sums;
    char when[40] = "";
    bool copy = false;

    bb_dump_meta(d, "time_ns", when, sizeof(when));
    if (!*when)
        return false;
    sums = bb_select(d, "SELECT group_concat(name || hash) FROM (SELECT * FROM checksum ORDER BY name)");
    while (bb_step(d, &sums)) {
        const char *text = bb_column_text(d, sums, 0);

        if (!*text)
            continue;
        bind_text(c->same, 1, text);
        sqlite3_bind_int64(c->same, 2, id);
        copy = sqlite3_step(c->same) == SQLITE_ROW;
        sqlite3_reset(c->same);
        if (copy)
            continue;
        bind_text(c->content, 1, text);
        sqlite3_bind_int64(c->content, 2, id);
        sqlite3_step(c->content);
        sqlite3_reset(c->content);
    }
    return copy;
}

static int forget(struct bb_crashes *c, int64_t id, struct error *e)
{
    char sql[120];

    snprintf(sql, sizeof(sql), "DELETE FROM dump WHERE id=%lld;DELETE FROM content WHERE dump=%lld",
             (long long)id, (long long)id);
    return sqlite3_exec(c->db, sql, NULL, NULL, NULL) ? sql_error(c, e) : 0;
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
        take_text(row.error, sizeof(row.error), c->find, 3);
    }
    sqlite3_reset(c->find);
    if (known) {
        added->known += !row.error[0];
        note_bad(added, &row);
        return 0;
    }
    row.error[0] = '\0';
    if (!id && !c->next)
        c->next = ask(c, "SELECT coalesce(max(id), 0) + 1 FROM dump");
    if (!id)
        id = c->next++;
    sqlite3_bind_int64(c->forget, 1, id);
    r = put(c, c->forget, e);
    if (!r && bb_dump_open(&d, path, &why)) {
        snprintf(row.error, sizeof(row.error), "%s", why.text);
    } else if (!r) {
        bb_dump_check(&d, read);
        if (!d.num_bad && is_copy(c, &d, id)) {
            bb_dump_close(&d);
            added->copies++;
            return forget(c, id, e);
        }
        if (!d.num_bad)
            read_row(&d, &row);
        r = d.num_bad ? 0 : put_features(c, &d, id, &row, e);
        if (d.trouble.code)
            snprintf(row.error, sizeof(row.error), "%s", d.trouble.text);
        added->added += !d.trouble.code;
        bb_dump_close(&d);
    }
    if (!row.place[0])
        snprintf(row.place, sizeof(row.place), "unreadable");
    note_bad(added, &row);
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
    c->next = 0;
    r = add_path(c, path, 0, added, e);
    if (sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL) && !r)
        r = sql_error(c, e);
    return r;
}

/* ---- ranking ------------------------------------------------------------- */

/* What a dump has, or the commands at which it crashed. A factor (a setting, device, program or version) is the dump's. */
struct feature {
    char kind[24], name[200];
    bool factor;
    int64_t in, of; /* crashes that have it, of how many */
    int64_t out,
        out_of; /* others that do: of factors, crashes in other places; else commands that did not crash. 0: there are none */
    double inside, outside, score,
        chance; /* shares; chance: that it would be so often inside if it had nothing to do with it */
};

/* The same fingerprint: the same place, path and cause. */
struct kind {
    char fingerprint[40], cause[40], path[200], verdict[600], first[40], last[40], example[400];
    int64_t dumps, vague; /* example: one of the vague */
};

struct group {
    char place[160];
    int64_t dumps, num_kinds;
    struct kind kinds[SHOWN_KINDS];
    uint32_t shown;
    struct feature f[SHOWN_FEATURES], factors[SHOWN_FEATURES];
    uint32_t n, num_factors;
};

static int by_score(const void *a, const void *b)
{
    const struct feature *x = a, *y = b;

    return x->score > y->score ? -1 : x->score < y->score;
}

static int by_chance(const void *a, const void *b)
{
    const struct feature *x = a, *y = b;

    return x->chance < y->chance ? -1 : x->chance > y->chance ? 1 : by_score(a, b);
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

    for (int64_t k = f->in; (double)k <= most; k++)
        if (n - have >= (double)(f->of - k))
            p += exp(choose(have, (double)k) + choose(n - have, (double)(f->of - k)) -
                     choose(n, (double)f->of));
    return p < 1 ? p : 1;
}

static void rate(struct feature *f)
{
    f->inside = f->of ? (double)f->in / (double)f->of : 0;
    f->outside = f->out_of ? (double)f->out / (double)f->out_of : 0;
    f->chance = f->out_of ? chance_of(f) : 1;
    if (!f->out_of) /* there is no elsewhere to compare with */
        f->score = 0.01 * f->inside;
    else
        f->score = f->factor ? 1 - f->chance : f->inside * log((f->inside + 0.01) / (f->outside + 0.01));
}

static void keep_best(struct feature *of, uint32_t *n, const struct feature *f)
{
    if (*n < SHOWN_FEATURES)
        of[(*n)++] = *f;
    else if (f->score > of[*n - 1].score)
        of[*n - 1] = *f;
    else
        return;
    qsort(of, *n, sizeof(*of), f->factor && f->out_of ? by_chance : by_score);
}

/* How many dumps have each factor. */
static const char overall[] =
    "CREATE TEMP TABLE IF NOT EXISTS overall(kind TEXT, name TEXT, n INTEGER, PRIMARY KEY(kind, name)); DELETE FROM overall;"
    "INSERT INTO overall SELECT kind, name, count(DISTINCT dump) FROM feature f JOIN dump d ON d.id=f.dump "
    "WHERE kind IN ('device', 'setting', 'program', 'producer') AND d.place<>'unreadable' GROUP BY kind, name";

/* Of the dumps in that place, or of all. Factors are compared with the dumps in other places, everything else with the commands of
 * the same dumps that did not crash. So many factors are looked at that some seem to matter: a factor ranks if chance would not
 * bring forth one such among all of them. */
static int rank(struct bb_crashes *c, struct group *g, const char *place, int64_t all, struct error *e)
{
    int64_t factors = ask(c, "SELECT count(*) FROM overall");
    char *where = place ? sqlite3_mprintf("d.place=%Q", place) : sqlite3_mprintf("d.place<>'unreadable'");
    char *sql = sqlite3_mprintf(
        "SELECT g.kind, g.name, g.have, g.others, coalesce(o.n, -1), "
        "(SELECT sum(max(d.commands - d.running, 0)) FROM dump d WHERE %s) "
        "FROM (SELECT kind, name, sum(f.running > 0) AS have, sum(max(f.commands - f.running, 0)) AS others "
        "FROM dump d JOIN feature f ON f.dump = d.id WHERE %s GROUP BY kind, name HAVING have > 0) g "
        "LEFT JOIN overall o ON o.kind=g.kind AND o.name=g.name ORDER BY g.kind, g.name",
        where, where);
    sqlite3_stmt *s = NULL;
    int r = sql && !sqlite3_prepare_v2(c->db, sql, -1, &s, NULL) ? 0 : sql_error(c, e);

    sqlite3_free(sql);
    sqlite3_free(where);
    while (!r && sqlite3_step(s) == SQLITE_ROW) {
        int64_t dumps = sqlite3_column_int64(s, 4);
        struct feature f = {.in = sqlite3_column_int64(s, 2), .of = g->dumps, .factor = dumps >= 0};

        snprintf(f.kind, sizeof(f.kind), "%s", (const char *)sqlite3_column_text(s, 0));
        snprintf(f.name, sizeof(f.name), "%s", (const char *)sqlite3_column_text(s, 1));
        f.out = f.factor ? dumps - f.in : sqlite3_column_int64(s, 3);
        f.out_of = f.factor ? all - g->dumps : sqlite3_column_int64(s, 5);
        if (f.in > f.of || f.out < 0 || f.out > f.out_of)
            continue; /* no dump of ours counts so */
        rate(&f);
        if (f.factor && (!f.out_of || f.chance * (double)factors < 0.05))
            keep_best(g->factors, &g->num_factors, &f);
        else if (!f.factor && f.score > 0.005 && (!f.out_of || f.chance < 0.05))
            keep_best(g->f, &g->n, &f);
    }
    sqlite3_finalize(s);
    return r;
}

static int load_kinds(struct bb_crashes *c, struct group *g, struct error *e)
{
    char *sql = sqlite3_mprintf(
        "SELECT fingerprint, max(cause), max(path_in), max(verdict), min(time), max(time), count(*), sum(vague), "
        "max(iif(vague, path, NULL)) FROM dump WHERE place=%Q GROUP BY fingerprint ORDER BY 7 DESC, 1",
        g->place);
    sqlite3_stmt *s = NULL;
    int r = sql && !sqlite3_prepare_v2(c->db, sql, -1, &s, NULL) ? 0 : sql_error(c, e);

    sqlite3_free(sql);
    while (!r && sqlite3_step(s) == SQLITE_ROW) {
        struct kind *k = &g->kinds[g->shown];

        g->num_kinds++;
        if (g->shown == SHOWN_KINDS)
            continue;
        g->shown++;
        take_text(k->fingerprint, sizeof(k->fingerprint), s, 0);
        take_text(k->cause, sizeof(k->cause), s, 1);
        take_text(k->path, sizeof(k->path), s, 2);
        take_text(k->verdict, sizeof(k->verdict), s, 3);
        take_text(k->first, sizeof(k->first), s, 4);
        take_text(k->last, sizeof(k->last), s, 5);
        k->dumps = sqlite3_column_int64(s, 6);
        k->vague = sqlite3_column_int64(s, 7);
        take_text(k->example, sizeof(k->example), s, 8);
    }
    sqlite3_finalize(s);
    return r;
}

static int load_groups(struct bb_crashes *c, struct group **out, uint32_t *n, int64_t all, struct error *e)
{
    sqlite3_stmt *s;
    int r = 0;

    *n = 0;
    *out = calloc(SHOWN_GROUPS, sizeof(**out));
    if (!*out)
        return error_set(e, -ENOMEM, "no memory for groups of crashes");
    if (sqlite3_prepare_v2(
            c->db,
            "SELECT place, count(*) FROM dump WHERE place<>'unreadable' GROUP BY place ORDER BY 2 "
            "DESC, 1 LIMIT 20",
            -1, &s, NULL))
        return sql_error(c, e);
    while (sqlite3_step(s) == SQLITE_ROW && *n < SHOWN_GROUPS) {
        struct group *g = &(*out)[(*n)++];

        take_text(g->place, sizeof(g->place), s, 0);
        g->dumps = sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    for (uint32_t i = 0; i < *n && !r; i++) {
        r = load_kinds(c, &(*out)[i], e);
        if (!r)
            r = rank(c, &(*out)[i], (*out)[i].place, all, e);
    }
    return r;
}

static int load_all(struct bb_crashes *c, struct group **groups, uint32_t *n, struct group *all,
                    struct error *e)
{
    int r;

    *groups = NULL;
    *all = (struct group){.dumps = ask(c, "SELECT count(*) FROM dump WHERE place<>'unreadable'")};
    r = sqlite3_exec(c->db, overall, NULL, NULL, NULL) ? sql_error(c, e)
                                                       : load_groups(c, groups, n, all->dumps, e);
    return r || !all->dumps ? r : rank(c, all, NULL, all->dumps, e);
}

/* ---- forms --------------------------------------------------------------- */

/* The factors of all places, the least likely by chance first. */
struct ranked {
    const struct group *g;
    const struct feature *f;
};

static int by_chance_of(const void *a, const void *b)
{
    return by_chance(((const struct ranked *)a)->f, ((const struct ranked *)b)->f);
}

static uint32_t rank_factors(const struct group *g, uint32_t n,
                             struct ranked out[SHOWN_GROUPS * SHOWN_FEATURES])
{
    uint32_t num = 0;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < g[i].num_factors; k++)
            if (g[i].factors[k].out_of)
                out[num++] = (struct ranked){&g[i], &g[i].factors[k]};
    qsort(out, num, sizeof(*out), by_chance_of);
    return num < SHOWN_FEATURES ? num : SHOWN_FEATURES;
}

static const char *ratio_text(char out[160], const struct feature *f)
{
    int n =
        snprintf(out, 160, "in %lld of %lld (%.0f %%)", (long long)f->in, (long long)f->of, 100 * f->inside);

    if (f->out_of)
        snprintf(out + n, 160 - (size_t)n, ", in %lld of %lld other %s (%.0f %%), by chance %.2g",
                 (long long)f->out, (long long)f->out_of, f->factor ? "crashes" : "commands",
                 100 * f->outside, f->chance);
    return out;
}

static void text_feature(struct strbuf *o, const struct feature *f)
{
    char ratio[160];

    strbuf_printf(o, "    %-9s %-40s %s\n", f->kind, f->name, ratio_text(ratio, f));
}

static void text_features(struct strbuf *o, const struct group *g)
{
    for (uint32_t i = 0; i < g->num_factors; i++)
        text_feature(o, &g->factors[i]);
    for (uint32_t i = 0; i < g->n; i++)
        text_feature(o, &g->f[i]);
}

/* What would make a group of vague ones exact. */
static void offer_replay(char out[700], const struct kind *k)
{
    snprintf(out, 700, "%lld of %lld name several commands, not one: aerogpu play %s", (long long)k->vague,
             (long long)k->dumps, k->example);
}

static void text_group(struct strbuf *o, const struct group *g)
{
    strbuf_printf(o, "\n%lld × %s\n", (long long)g->dumps, g->place);
    for (uint32_t i = 0; i < g->shown; i++) {
        const struct kind *k = &g->kinds[i];
        char offer[700];

        strbuf_printf(o, "  %lld × %s%s%s  (%s)\n", (long long)k->dumps, k->cause[0] ? k->cause : "?",
                      k->path[0] ? " in " : "", k->path, k->fingerprint);
        strbuf_printf(o, "    %s\n    first %s, last %s\n", k->verdict, k->first, k->last);
        offer_replay(offer, k);
        if (k->vague)
            strbuf_printf(o, "    %s\n", offer);
    }
    if (g->num_kinds > g->shown)
        strbuf_printf(o, "  %lld other kinds\n", (long long)(g->num_kinds - g->shown));
    text_features(o, g);
}

int bb_crashes_text(struct bb_crashes *c, struct strbuf *o, struct error *e)
{
    struct ranked factors[SHOWN_GROUPS * SHOWN_FEATURES];
    struct group *g, all;
    uint32_t n, num_factors;
    int r = load_all(c, &g, &n, &all, e);

    if (!r) {
        strbuf_printf(o, "%lld crashes in %u%s places\n", (long long)all.dumps, n,
                      n == SHOWN_GROUPS ? " or more" : "");
        num_factors = rank_factors(g, n, factors);
        strbuf_puts(
            o,
            num_factors
                ? "\nWhat goes with a place, more than chance would have it if each crash came about by itself\n"
                : "");
        for (uint32_t i = 0; i < num_factors; i++) {
            text_feature(o, factors[i].f);
            strbuf_printf(o, "              at %s\n", factors[i].g->place);
        }
        for (uint32_t i = 0; i < n; i++)
            text_group(o, &g[i]);
        strbuf_puts(o, all.n || all.num_factors ? "\nWhat all crashes share\n" : "");
        text_features(o, &all);
    }
    free(g);
    return r;
}

static json_t *feature_json(const struct feature *f)
{
    return json_pack("{s:s,s:s,s:f,s:o,s:f,s:I,s:I,s:I,s:I,s:f}", "kind", f->kind, "name", f->name,
                     "in_crashes", f->inside, "elsewhere", f->out_of ? json_real(f->outside) : json_null(),
                     "score", f->score, "in", (json_int_t)f->in, "of", (json_int_t)f->of, "out",
                     (json_int_t)f->out, "out_of", (json_int_t)f->out_of, "chance", f->chance);
}

static json_t *features_json(const struct feature *f, uint32_t n)
{
    json_t *a = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(a, feature_json(&f[i]));
    return a;
}

static json_t *group_json(const struct group *g)
{
    json_t *kinds = json_array();

    for (uint32_t i = 0; i < g->shown; i++) {
        const struct kind *k = &g->kinds[i];

        json_array_append_new(kinds,
                              json_pack("{s:s,s:I,s:s,s:s,s:s,s:s,s:s,s:I,s:s}", "fingerprint",
                                        k->fingerprint, "dumps", (json_int_t)k->dumps, "cause", k->cause,
                                        "path", k->path, "verdict", k->verdict, "first", k->first, "last",
                                        k->last, "vague", (json_int_t)k->vague, "to_play", k->example));
    }
    return json_pack("{s:s,s:I,s:I,s:o,s:o,s:o}", "place", g->place, "dumps", (json_int_t)g->dumps,
                     "num_kinds", (json_int_t)g->num_kinds, "kinds", kinds, "factors",
                     features_json(g->factors, g->num_factors), "features", features_json(g->f, g->n));
}

int bb_crashes_json(struct bb_crashes *c, struct strbuf *o, struct error *e)
{
    struct ranked factors[SHOWN_GROUPS * SHOWN_FEATURES];
    json_t *groups = json_array(), *ranked = json_array(), *j;
    struct group *g, all;
    uint32_t n, num;
    int r = load_all(c, &g, &n, &all, e);

    for (uint32_t i = 0; !r && i < n; i++)
        json_array_append_new(groups, group_json(&g[i]));
    num = r ? 0 : rank_factors(g, n, factors);
    for (uint32_t i = 0; i < num; i++) {
        json_t *f = feature_json(factors[i].f);

        json_object_set_new(f, "place", json_string(factors[i].g->place));
        json_array_append_new(ranked, f);
    }
    j = json_pack("{s:I,s:o,s:o,s:o,s:o}", "crashes", (json_int_t)all.dumps, "factors", ranked, "groups",
                  groups, "shared_factors", features_json(all.factors, all.num_factors), "shared",
                  features_json(all.f, all.n));
    if (j && !json_show_text(j, JSON_INDENT(1), o))
        strbuf_puts(o, "\n");
    else if (!r)
        r = error_set(e, -ENOMEM, "no memory for a report");
    json_decref(j);
    free(g);
    return r;
}

static void html_feature(struct strbuf *o, const struct feature *f, const char *place)
{
    strbuf_printf(o, "<tr><td class=l>%s<td class=l>", f->kind);
    page_text_in(o, "<code>", f->name, "</code>");
    if (place)
        page_text_in(o, "<td class='l wrap'>", place, "");
    strbuf_printf(o, "<td>%.0f %% (%lld of %lld)", 100 * f->inside, (long long)f->in, (long long)f->of);
    if (f->out_of)
        strbuf_printf(o, "<td>%.0f %% (%lld of %lld)<td>%.2g</tr>", 100 * f->outside, (long long)f->out,
                      (long long)f->out_of, f->chance);
    else
        strbuf_puts(o, "<td><td></tr>");
}

static void html_features(struct strbuf *o, const struct group *g)
{
    if (!g->n && !g->num_factors)
        return;
    page_table(o, "l:what|l:name|in these crashes|elsewhere|by chance");
    for (uint32_t i = 0; i < g->num_factors; i++)
        html_feature(o, &g->factors[i], NULL);
    for (uint32_t i = 0; i < g->n; i++)
        html_feature(o, &g->f[i], NULL);
    page_table_end(o);
}

static void html_group(struct strbuf *o, const struct group *g)
{
    char title[220], offer[700];

    snprintf(title, sizeof(title), "%lld × %s", (long long)g->dumps, g->place);
    page_card(o, NULL, title, NULL);
    for (uint32_t i = 0; i < g->shown; i++) {
        const struct kind *k = &g->kinds[i];

        strbuf_printf(o, "<h3>%lld × %s", (long long)k->dumps, k->cause);
        page_text_in(o, k->path[0] ? " in " : "", k->path, "</h3>");
        strbuf_printf(o, "<div class=dim>%s, %s to %s</div>", k->fingerprint, k->first, k->last);
        page_text_in(o, "<p>", k->verdict, "</p>\n");
        offer_replay(offer, k);
        if (k->vague)
            page_text_in(o, "<p class=dim>", offer, "</p>\n");
    }
    if (g->num_kinds > g->shown)
        strbuf_printf(o, "<p class=dim>%lld other kinds</p>", (long long)(g->num_kinds - g->shown));
    html_features(o, g);
    page_card_end(o);
}

int bb_crashes_html(struct bb_crashes *c, struct strbuf *o, struct error *e)
{
    struct ranked factors[SHOWN_GROUPS * SHOWN_FEATURES];
    const struct page page = {.title = "Crashes"};
    struct group *g, all;
    uint32_t n, num;
    int r = load_all(c, &g, &n, &all, e);

    if (!r) {
        page_begin(o, &page);
        strbuf_printf(o, "<main><h1>%lld crashes</h1>\n", (long long)all.dumps);
        num = rank_factors(g, n, factors);
        if (num) {
            page_card(
                o, NULL,
                "What goes with a place, more than chance would have it if each crash came about by itself",
                NULL);
            page_table(o, "l:what|l:name|l:place|in these crashes|elsewhere|by chance");
            for (uint32_t i = 0; i < num; i++)
                html_feature(o, factors[i].f, factors[i].g->place);
            page_table_end(o);
            page_card_end(o);
        }
        for (uint32_t i = 0; i < n; i++)
            html_group(o, &g[i]);
        page_card(o, NULL, "What all crashes share", NULL);
        html_features(o, &all);
        page_card_end(o);
        strbuf_puts(o, "</main>");
        page_end(o, &page);
    }
    free(g);
    return r;
}
