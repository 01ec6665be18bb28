/* SPDX-License-Identifier: MIT */
#include "blackbox/dump_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/seal.h"
#include "blackbox/schema.h"

static void note(struct bb_dump *d, int code, const char *what)
{
    error_set(&d->trouble, code, "%.200s: %s", d->path, what);
}

static void note_sql(struct bb_dump *d, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
        note(d, rc == SQLITE_NOMEM ? -ENOMEM : -EBADMSG, sqlite3_errmsg(d->db));
}

static int64_t pragma(struct bb_dump *d, const char *name)
{
    sqlite3_stmt *s = bb_select(d, "PRAGMA %s", name);
    int64_t v = -1;

    while (bb_step(d, &s))
        v = sqlite3_column_int64(s, 0);
    return v;
}

int bb_dump_open(struct bb_dump *d, const char *path, struct error *e)
{
    static const char magic[16] = "SQLite format 3";
    char head[16] = {0};
    FILE *f = fopen(path, "re");
    struct stat st;
    int64_t id, version;
    size_t n;

    *d = (struct bb_dump){0};
    snprintf(d->path, sizeof(d->path), "%s", path);
    if (!f || fstat(fileno(f), &st)) {
        int r = -errno;
        if (f)
            fclose(f);
        return error_set(e, r, "%s: %s", path, strerror(-r));
    }
    n = fread(head, 1, sizeof(head), f);
    fclose(f);
    if (S_ISDIR(st.st_mode))
        return error_set(e, -EISDIR, "%s: is a folder, not a dump", path);
    if (n < sizeof(head) || memcmp(head, magic, sizeof(magic)))
        return error_set(e, -EBADMSG, "%s: offset 0x0: no SQLite database, so no dump", path);
    if (sqlite3_open_v2(path, &d->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, NULL)) {
        error_set(e, -EBADMSG, "%s: %s", path, d->db ? sqlite3_errmsg(d->db) : "out of memory");
        bb_dump_close(d);
        return e ? e->code : -EBADMSG;
    }
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_exec(d->db, "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;", NULL, NULL, NULL);
    id = pragma(d, "application_id");
    version = pragma(d, "user_version");
    if (id != BB_APPLICATION_ID) {
        bb_dump_close(d);
        return error_set(e, -EBADMSG,
                         "%s: an SQLite database, but no dump (application_id 0x%llx, 0x%x is a dump's)",
                         path, (long long)id, BB_APPLICATION_ID);
    }
    if (version != BB_SCHEMA_VERSION)
        error_set(&d->trouble, -EPROTONOSUPPORT, "%.200s: schema version %lld, this program knows %d", path,
                  (long long)version, BB_SCHEMA_VERSION);
    return 0;
}

static void note_table(void *ctx, const char *table, const char *what)
{
    char text[200];

    snprintf(text, sizeof(text), "table %.40s %.140s", table, what);
    note(ctx, -EBADMSG, text);
}

void bb_dump_check(struct bb_dump *d)
{
    note_sql(d, seal_check(d->db, note_table, d));
}

void bb_dump_close(struct bb_dump *d)
{
    sqlite3_close(d->db);
    d->db = NULL;
}

sqlite3_stmt *bb_select(struct bb_dump *d, const char *fmt, ...)
{
    sqlite3_stmt *s = NULL;
    va_list ap;
    char *sql;

    va_start(ap, fmt);
    sql = sqlite3_vmprintf(fmt, ap);
    va_end(ap);
    if (sql)
        note_sql(d, sqlite3_prepare_v2(d->db, sql, -1, &s, NULL));
    sqlite3_free(sql);
    return s;
}

bool bb_step(struct bb_dump *d, sqlite3_stmt **s)
{
    int rc;

    if (!*s)
        return false;
    rc = sqlite3_step(*s);
    if (rc == SQLITE_ROW)
        return true;
    note_sql(d, rc);
    sqlite3_finalize(*s);
    *s = NULL;
    return false;
}

static void wrong_type(struct bb_dump *d, sqlite3_stmt *s, int column)
{
    char what[160];

    d->wrong_types++;
    snprintf(what, sizeof(what), "column %.60s has the wrong type", sqlite3_column_name(s, column));
    note(d, -EBADMSG, what);
}

int64_t bb_column_int(struct bb_dump *d, sqlite3_stmt *s, int column, int64_t if_null)
{
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER:
        return sqlite3_column_int64(s, column);
    case SQLITE_NULL:
        return if_null;
    default:
        wrong_type(d, s, column);
        return if_null;
    }
}

const char *bb_column_text(struct bb_dump *d, sqlite3_stmt *s, int column)
{
    const char *text;

    switch (sqlite3_column_type(s, column)) {
    case SQLITE_TEXT:
        text = (const char *)sqlite3_column_text(s, column);
        return text ? text : "";
    case SQLITE_NULL:
        return "";
    default:
        wrong_type(d, s, column);
        return "";
    }
}

const char *bb_dump_meta(struct bb_dump *d, const char *key, char *value, size_t size)
{
    sqlite3_stmt *s = bb_select(d, "SELECT value FROM meta WHERE key=%Q LIMIT 1", key);

    value[0] = '\0';
    while (bb_step(d, &s))
        snprintf(value, size, "%s", bb_column_text(d, s, 0));
    return value;
}
