/* SPDX-License-Identifier: MIT */
/* Crash dumps of the GPU: a window out of one, and a verdict into one. A dump is an SQLite database whose schema
 * docs/dump-schema.md describes. It is somebody else's: its views and triggers are not trusted, it is written to
 * only when a verdict is to be kept in it, and what it says is checked like a window written by hand. */
#include "cpu/model/dump.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/seal.h"
#include "base/utf8.h"

#define APPLICATION_ID 0x41474244 /* "AGBD" */
#define SCHEMA_VERSION 3          /* tests/cpu/verdict_test.c writes dumps of the present one */

/* What a time-out is, by the dump's own reason (docs/dump-schema.md); a dump that does not say is taken for one. */
static const char other_reason[] = "SELECT value FROM meta WHERE key = 'reason' AND value <> '' AND "
                                   "value NOT LIKE 'timeout%' AND value NOT LIKE 'time-out%' AND "
                                   "value NOT LIKE 'reset%' AND value NOT LIKE 'hang%'";
/* The submission that the dump blames; else the first that was not done. */
static const char blamed[] = "SELECT s.time_ns, s.done_ns FROM submission s LEFT JOIN finding f "
                             "ON f.submission = s.id AND f.rank = 0 "
                             "WHERE f.rank = 0 OR s.done_ns IS NULL "
                             "ORDER BY f.rank IS NULL, s.time_ns LIMIT 1";
/* When it was seen that the device is stuck; else when the dump was made. */
static const char noticed[] =
    "SELECT min(t) FROM (SELECT time_ns AS t, 0 AS k FROM status WHERE status <> 'active' AND time_ns > ?1 "
    "UNION ALL SELECT CAST(value AS INTEGER), 1 FROM meta WHERE key = 'time_ns') "
    "WHERE k = (SELECT NOT EXISTS(SELECT 1 FROM status WHERE status <> 'active' AND time_ns > ?1))";
/* The trace has the numbers of the machine's own PID namespace. */
static const char foreign[] = "SELECT count(*) FROM meta WHERE key = 'pid_namespace' AND value LIKE 'own%'";
static const char processes[] = "SELECT DISTINCT coalesce(thread, pid) FROM event WHERE pid > 0";

/* The first row of a query into `out`; 1, 0 if there is none, or a negative errno. */
static int row(sqlite3 *db, const char *sql, int64_t arg, int64_t *out, int columns, struct error *e)
{
    sqlite3_stmt *s = NULL;
    int r = sqlite3_prepare_v2(db, sql, -1, &s, NULL);

    if (r == SQLITE_OK)
        sqlite3_bind_int64(s, 1, arg);
    if (r == SQLITE_OK)
        r = sqlite3_step(s);
    for (int i = 0; r == SQLITE_ROW && i < columns; i++)
        out[i] = sqlite3_column_int64(s, i);
    if (r != SQLITE_ROW && r != SQLITE_DONE)
        error_set(e, -EBADMSG, "not a crash dump that can be read: %s", seal_error(db));
    sqlite3_finalize(s);
    return r == SQLITE_ROW ? 1 : r == SQLITE_DONE ? 0 : -EBADMSG;
}

static int add_processes(struct cpu_window *w, sqlite3 *db, struct error *e)
{
    sqlite3_stmt *s = NULL;
    int r = sqlite3_prepare_v2(db, processes, -1, &s, NULL);

    while (r == SQLITE_OK && w->num_threads < CPU_WINDOW_THREADS && sqlite3_step(s) == SQLITE_ROW) {
        const int64_t tid = sqlite3_column_int64(s, 0);
        if (tid > 0 && tid <= INT32_MAX)
            w->threads[w->num_threads++] = (struct cpu_window_thread){CPU_ROLE_WAITER, (int32_t)tid, -1};
    }
    if (r != SQLITE_OK)
        error_set(e, -EBADMSG, "not a crash dump that can be read: %s", seal_error(db));
    sqlite3_finalize(s);
    return r == SQLITE_OK ? 0 : -EBADMSG;
}

static int check(sqlite3 *db, struct error *e)
{
    int64_t id = 0, version = 0;
    int r = row(db, "PRAGMA application_id", 0, &id, 1, e);

    if (r >= 0)
        r = row(db, "PRAGMA user_version", 0, &version, 1, e);
    if (r < 0)
        return r;
    if (id != APPLICATION_ID)
        return error_set(e, -EBADMSG, "an SQLite database, but not a crash dump of AeroGPU");
    if (version != SCHEMA_VERSION)
        return error_set(e, -EBADMSG, "a crash dump of version %lld; this program reads version %d",
                         (long long)version, SCHEMA_VERSION);
    return 0;
}

static int check_reason(sqlite3 *db, struct error *e)
{
    sqlite3_stmt *s = NULL;
    int r = 0;

    if (sqlite3_prepare_v2(db, other_reason, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        r = error_set(e, -EBADMSG, "the dump was made because of \"%.60s\": there was no time-out to judge",
                      (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return r;
}

/* Its own conclusion; a dump of a version without these columns has none. */
static void read_conclusion(struct cpu_dump_says *out, sqlite3 *db)
{
    static const char sql[] =
        "SELECT text, cause, sure_happened, sure_command, sure_cause, sure_memory, unseen "
        "FROM finding WHERE source IS NOT 'processor trace' ORDER BY rank LIMIT 1";
    sqlite3_stmt *s = NULL;
    const struct {
        char *to;
        size_t cap;
    } columns[] = {{out->text, sizeof(out->text)},       {out->cause, sizeof(out->cause)},
                   {out->sure[0], sizeof(out->sure[0])}, {out->sure[1], sizeof(out->sure[1])},
                   {out->sure[2], sizeof(out->sure[2])}, {out->sure[3], sizeof(out->sure[3])},
                   {out->unseen, sizeof(out->unseen)}};

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW) {
        for (int i = 0; i < (int)(sizeof(columns) / sizeof(columns[0])); i++) {
            const char *text = (const char *)sqlite3_column_text(s, i);
            columns[i].to[text ? utf8_clean(columns[i].to, columns[i].cap - 1, text, strlen(text)) : 0] =
                '\0';
        }
        out->any = out->text[0] || out->cause[0];
    }
    sqlite3_finalize(s);
}

/* Whose clock its times are of; what comes from before it was said is taken for the machine's own. */
static int read_clock(struct cpu_window *w, sqlite3 *db, struct error *e)
{
    sqlite3_stmt *s = NULL;
    int64_t ahead = 0;

    if (sqlite3_prepare_v2(db, "SELECT key, value FROM meta WHERE key = 'boot_id' OR key = 'clock_offset_ns'",
                           -1, &s, NULL) == SQLITE_OK)
        while (sqlite3_step(s) == SQLITE_ROW) {
            const char *key = (const char *)sqlite3_column_text(s, 0),
                       *value = (const char *)sqlite3_column_text(s, 1);
            if (!key || !value)
                continue;
            if (!strcmp(key, "boot_id"))
                snprintf(w->boot_id, sizeof(w->boot_id), "%s", value);
            else if (strcmp(value, "not known"))
                ahead = strtoll(value, NULL, 10);
            else
                w->clock_unknown = true;
        }
    sqlite3_finalize(s);
    return cpu_window_shift(w, ahead, e);
}

static int read_dump(struct cpu_window *w, sqlite3 *db, struct error *e)
{
    int64_t submission[2] = {0}, timeout = 0, other = 0;
    int r = row(db, blamed, 0, submission, 2, e);
    if (r < 0)
        return r;
    if (r == 0)
        return error_set(e, -EBADMSG, "the dump has no submission that is blamed or was not done");
    r = row(db, noticed, submission[0], &timeout, 1, e);
    if (r < 0)
        return r;
    if (submission[0] <= 0 || timeout <= submission[0])
        return error_set(e, -EBADMSG, "the dump's submission.time_ns and status.time_ns are not a span");
    w->submit_ns = (uint64_t)submission[0];
    w->timeout_ns = (uint64_t)timeout;
    if (submission[1] > submission[0])
        w->completed_ns = (uint64_t)submission[1];
    w->partial = w->is_dump = true;
    r = read_clock(w, db, e);
    if (r)
        return r;
    read_conclusion(&w->dump, db);
    r = row(db, foreign, 0, &other, 1, e);
    w->other_numbers = other > 0;
    return r < 0 ? r : w->other_numbers ? 0 : add_processes(w, db, e);
}

static void note_damage(void *ctx, const char *table, const char *what)
{
    struct error *e = ctx;

    if (!e->code)
        error_set(e, -EBADMSG, "table %.40s %s", table, what);
}

/* What a verdict rests on is what was written; and to save one in a damaged table would seal the damage. */
static int check_tables(sqlite3 *db, struct error *e)
{
    static const char *const read[] = {"submission", "finding", "status", "meta", "event", NULL};
    struct error damage = {0};
    const int rc = seal_check(db, read, note_damage, &damage);

    if (damage.code)
        return error_set(e, damage.code, "%s", damage.text);
    return rc ? error_set(e, -EBADMSG, "not a crash dump that can be read: %s", seal_error(db)) : 0;
}

static int open_dump(sqlite3 **db, const char *path, int flags, struct error *e)
{
    if (seal_open(db, path, flags | SQLITE_OPEN_NOMUTEX) != SQLITE_OK)
        return error_set(e, -EBADMSG, "%s", *db ? seal_error(*db) : "no memory");
    sqlite3_limit(*db, SQLITE_LIMIT_VDBE_OP, 20000);
    int r = check(*db, e);
    r = r ? r : check_tables(*db, e);
    return r ? r : check_reason(*db, e);
}

static int window_read_dump(struct cpu_window *w, const char *path, struct error *e)
{
    sqlite3 *db = NULL;
    int r = open_dump(&db, path, SQLITE_OPEN_READONLY, e);

    memset(w, 0, sizeof(*w));
    if (!r)
        r = read_dump(w, db, e);
    sqlite3_close(db);
    return r;
}

static bool is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char head[16] = {0};
    FILE *f = fopen(path, "re");
    bool is = f && fread(head, 1, sizeof(head), f) == sizeof(head) && !memcmp(head, magic, sizeof(head));

    if (f)
        fclose(f);
    return is;
}

int cpu_window_read(struct cpu_window *w, const char *path, struct error *e)
{
    int r = is_database(path) ? window_read_dump(w, path, e) : cpu_window_load(w, path, e);

    error_prefix(e, "%s", path);
    return r;
}

static int add_finding(sqlite3 *db, const struct cpu_verdict *v, enum cpu_certainty sure, const char *text)
{
    static const char sql[] = "INSERT INTO finding(rank, certainty, cause, text, source) "
                              "SELECT coalesce(max(rank), 0) + 1, ?1, ?2, ?3, 'processor trace' FROM finding";
    sqlite3_stmt *s = NULL;
    int r = sqlite3_prepare_v2(db, sql, -1, &s, NULL);

    if (r == SQLITE_OK) {
        sqlite3_bind_text(s, 1,
                          sure == CPU_CERTAIN  ? "certain"
                          : sure == CPU_LIKELY ? "candidate"
                                               : "hint",
                          -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, cpu_verdict_name(v->kind), -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, text, -1, SQLITE_TRANSIENT);
        r = sqlite3_step(s);
    }
    sqlite3_finalize(s);
    return r == SQLITE_DONE ? SQLITE_OK : r;
}

int cpu_verdict_save(const struct cpu_verdict *v, const char *dump, struct error *e)
{
    sqlite3 *db = NULL;
    char text[160];
    int r = open_dump(&db, dump, SQLITE_OPEN_READWRITE, e), q = SQLITE_OK;

    if (!r) {
        snprintf(text, sizeof(text), "%s: %s", cpu_verdict_name(v->kind), v->reason);
        q = sqlite3_exec(db, "BEGIN; DELETE FROM finding WHERE source = 'processor trace'", NULL, NULL, NULL);
        q = q ? q : add_finding(db, v, v->certainty, text);
        for (uint32_t i = 0; i < v->num_lines && !q; i++)
            q = add_finding(db, v, (enum cpu_certainty)v->sure[i], v->lines[i]);
        for (uint32_t i = 0; i < v->num_vblanks && !q; i++)
            q = add_finding(db, v, CPU_LIKELY, v->vblanks[i]);
        q = q ? q : seal_table(db, "finding");
        q = q ? q : sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
        if (q)
            r = error_set(e, -EBADMSG, "the verdict cannot be kept in it: %s", sqlite3_errmsg(db));
    }
    sqlite3_close(db); /* what was begun and not committed is undone */
    error_prefix(e, "%s", dump);
    return r;
}
