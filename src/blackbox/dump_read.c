/* SPDX-License-Identifier: MIT */
#include "blackbox/dump_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file/in.h"
#include "base/file/seal.h"
#include "base/utf8.h"
#include "blackbox/schema.h"

static void note(struct bb_dump *d, int code, const char *what)
{
    const size_t before = strnlen(d->path, 120) + 2 + strlen(d->cut);
    char clean[sizeof(d->trouble.text)]; /* SQLite repeats what it found in the file */

    clean[utf8_clean(clean, sizeof(clean) - 1 - before, what, strlen(what))] = '\0';
    error_set(&d->trouble, code, "%.120s: %s%s", d->path, d->cut, clean);
}

static void note_sql(struct bb_dump *d, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
        note(d, rc == SQLITE_NOMEM ? -ENOMEM : -EBADMSG, seal_error(d->db));
}

/* Of the file's header (https://www.sqlite.org/fileformat2.html, 1.3). */
enum { HEADER = 100, AT_PAGE_SIZE = 16, AT_PAGES = 28, AT_VERSION = 60, AT_APPLICATION = 68 };

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* What the header says, before SQLite is asked; *cut: the file was longer. */
static int check_header(struct bb_dump *d, bool *cut, struct error *e)
{
    uint8_t head[HEADER] = {0};
    const uint8_t *map;
    uint64_t page, size;
    size_t all, n;
    int r = in_file_map(d->path, &map, &all, e);

    if (r)
        return r;
    n = all < sizeof(head) ? all : sizeof(head);
    memcpy(head, map, n);
    munmap((void *)(uintptr_t)map, all);
    if (n < 16 || memcmp(head, "SQLite format 3", 16))
        return error_set(e, -EBADMSG, "%s: offset 0x0: no SQLite database, so no dump", d->path);
    if (n < sizeof(head))
        return error_set(e, -EBADMSG, "%s: offset 0x%zx: the file ends in its header", d->path, n);
    if (be32(head + AT_APPLICATION) != BB_APPLICATION_ID)
        return error_set(
            e, -EBADMSG,
            "%s: offset 0x%x: an SQLite database, but no dump (application_id 0x%x, 0x%x is a dump's)",
            d->path, AT_APPLICATION, be32(head + AT_APPLICATION), BB_APPLICATION_ID);
    if (be32(head + AT_VERSION) != BB_SCHEMA_VERSION)
        error_set(&d->trouble, -EPROTONOSUPPORT, "%.200s: schema version %u, this program knows %d", d->path,
                  be32(head + AT_VERSION), BB_SCHEMA_VERSION);
    page = (uint64_t)(head[AT_PAGE_SIZE] << 8 | head[AT_PAGE_SIZE + 1]);
    size = (page == 1 ? 65536 : page) * be32(head + AT_PAGES);
    *cut = size > all;
    if (*cut)
        snprintf(d->cut, sizeof(d->cut), "offset 0x%llx: the file ends here, it had 0x%llx bytes; ",
                 (unsigned long long)all, (unsigned long long)size);
    return 0;
}

int bb_dump_open(struct bb_dump *d, const char *path, struct error *e)
{
    bool cut = false;
    int r;

    *d = (struct bb_dump){0};
    snprintf(d->path, sizeof(d->path), "%s", path);
    r = check_header(d, &cut, e);
    if (r)
        return r;
    if (seal_open(&d->db, path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW)) {
        r = error_set(e, -EBADMSG, "%s: %s", path, d->db ? seal_error(d->db) : "out of memory");
        bb_dump_close(d);
        return r;
    }
    if (cut) { /* a file that is shorter than its header says is read only with the one, which the other forbids */
        sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
        sqlite3_db_config(d->db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    }
    sqlite3_exec(d->db, "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;", NULL, NULL, NULL);
    return 0;
}

static void note_table(void *ctx, const char *table, const char *what)
{
    struct bb_dump *d = ctx;
    char text[280];

    if (d->num_bad++) /* one is named, the others are counted */
        return;
    snprintf(text, sizeof(text), "table %.40s %.200s", table, what);
    note(d, -EBADMSG, text);
}

/* Of this version; another one has others, and its trouble is known. */
static void check_columns(struct bb_dump *d, const struct bb_table_desc *t)
{
    for (uint32_t c = 0; c < t->num_columns && !d->trouble.code; c++) {
        int rc = sqlite3_table_column_metadata(d->db, NULL, t->name, t->columns[c].name, NULL, NULL, NULL,
                                               NULL, NULL);
        char what[100];

        snprintf(what, sizeof(what), "has no column %s", t->columns[c].name);
        if (rc == SQLITE_ERROR)
            note_table(d, t->name, what);
        else
            note_sql(d, rc);
    }
}

/* The same. */
static void check_names(struct bb_dump *d)
{
    sqlite3_stmt *s =
        d->trouble.code ? NULL : bb_select(d, "SELECT name FROM sqlite_master WHERE type='table'");

    while (bb_step(d, &s)) {
        const char *name = bb_column_text(d, s, 0);
        int t = 0;

        while (t < BB_NUM_TABLES && strcmp(bb_tables[t].name, name))
            t++;
        if (t == BB_NUM_TABLES)
            note_table(d, name, "is none of a dump's");
    }
}

static bool is_asked_for(const char *const *only, const char *table)
{
    while (only && *only && strcmp(*only, table))
        only++;
    return !only || *only;
}

int bb_dump_check(struct bb_dump *d, const char *const *only)
{
    size_t at = strlen(d->trouble.text);
    char what[280];
    int rc = seal_check(d->db, only, note_table, d);

    if (rc && !d->num_bad) {
        snprintf(what, sizeof(what), "offset 0x%x: the list of tables cannot be read: %.200s", HEADER,
                 sqlite3_errstr(rc));
        note(d, rc == SQLITE_NOMEM ? -ENOMEM : -EBADMSG, what);
        d->num_bad++;
    }
    for (int t = 0; t < BB_NUM_TABLES; t++)
        if (is_asked_for(only, bb_tables[t].name))
            check_columns(d, &bb_tables[t]);
    check_names(d);
    if (d->cut[0])
        note(d, -EBADMSG, "what was read of it is whole");
    if (!at && d->num_bad > 1) {
        at = strlen(d->trouble.text);
        snprintf(d->trouble.text + at, sizeof(d->trouble.text) - at, " (%u more are damaged)",
                 d->num_bad - 1);
    }
    return d->trouble.code;
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
