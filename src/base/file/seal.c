/* SPDX-License-Identifier: MIT */
#include "base/file/seal.h"

#include <endian.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

static void feed(struct seal *s, int type, const void *bytes, uint64_t size)
{
    uint64_t head[2] = {(uint64_t)type, size};

    if (!s->state)
        return;
    XXH3_128bits_update(s->state, head, sizeof(head));
    if (size)
        XXH3_128bits_update(s->state, bytes, size);
}

void seal_begin(struct seal *s)
{
    *s = (struct seal){.state = XXH3_createState(), .every = 1};
    if (s->state)
        XXH3_128bits_reset(s->state);
}

void seal_null(struct seal *s)
{
    feed(s, SQLITE_NULL, NULL, 0);
}

void seal_int(struct seal *s, int64_t v)
{
    feed(s, SQLITE_INTEGER, &v, sizeof(v));
}

void seal_real(struct seal *s, double v)
{
    if (v == 0)
        v = 0; /* SQLite keeps no sign of it */
    feed(s, SQLITE_FLOAT, &v, sizeof(v));
}

void seal_bytes(struct seal *s, int type, const void *bytes, uint64_t size)
{
    feed(s, type, bytes, size);
}

/* When there are too many, every other one goes. */
static void mark(struct seal *s)
{
    if (s->num_marks == SEAL_MARKS) {
        for (s->num_marks = 0; s->num_marks < SEAL_MARKS / 2; s->num_marks++)
            s->marks[s->num_marks] = s->marks[2 * s->num_marks + 1];
        s->every *= 2;
    }
    if (s->rows % s->every == 0)
        s->marks[s->num_marks++] = htole32((uint32_t)XXH3_128bits_digest(s->state).low64);
}

void seal_row(struct seal *s)
{
    s->rows++;
    feed(s, 0, NULL, 0);
    if (s->state && s->rows % s->every == 0)
        mark(s);
}

static void finish(struct seal *s, char hash[33])
{
    XXH128_hash_t h = {0};

    if (s->state)
        h = XXH3_128bits_digest(s->state);
    snprintf(hash, 33, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
    XXH3_freeState(s->state);
    s->state = NULL;
}

int seal_end(struct seal *s, sqlite3 *db, const char *table)
{
    bool no_memory = !s->state;
    sqlite3_stmt *put = NULL;
    char hash[33], *sql;
    int r;

    finish(s, hash);
    if (!db)
        return SQLITE_OK;
    sql = no_memory
              ? NULL
              : sqlite3_mprintf(
                    "CREATE TABLE IF NOT EXISTS checksum(name TEXT, rows INTEGER, hash TEXT, marks BLOB);"
                    "DELETE FROM checksum WHERE name=%Q",
                    table);
    r = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (!r)
        r = sqlite3_prepare_v2(db, "INSERT INTO checksum(name, rows, hash, marks) VALUES(?,?,?,?)", -1, &put,
                               NULL);
    if (!r) {
        sqlite3_bind_text(put, 1, table, -1, SQLITE_STATIC);
        sqlite3_bind_int64(put, 2, (sqlite3_int64)s->rows);
        sqlite3_bind_text(put, 3, hash, -1, SQLITE_STATIC);
        sqlite3_bind_blob(put, 4, s->marks, (int)(s->num_marks * sizeof(s->marks[0])), SQLITE_STATIC);
        sqlite3_step(put);
        r = sqlite3_finalize(put);
    }
    return r;
}

static void feed_column(struct seal *s, sqlite3_stmt *row, int c)
{
    switch (sqlite3_column_type(row, c)) {
    case SQLITE_INTEGER:
        seal_int(s, sqlite3_column_int64(row, c));
        break;
    case SQLITE_FLOAT:
        seal_real(s, sqlite3_column_double(row, c));
        break;
    case SQLITE_TEXT:
        seal_bytes(s, SQLITE_TEXT, sqlite3_column_text(row, c), (uint64_t)sqlite3_column_bytes(row, c));
        break;
    case SQLITE_BLOB:
        seal_bytes(s, SQLITE_BLOB, sqlite3_column_blob(row, c), (uint64_t)sqlite3_column_bytes(row, c));
        break;
    default:
        seal_null(s);
    }
}

/* SQLITE_DONE where all of it was read. */
static int read_table(struct seal *s, sqlite3 *db, const char *table)
{
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY rowid", table);
    sqlite3_stmt *row = NULL;
    int r = sql ? sqlite3_prepare_v2(db, sql, -1, &row, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    while (!r && (r = sqlite3_step(row)) == SQLITE_ROW) {
        for (int c = 0; c < sqlite3_column_count(row); c++)
            feed_column(s, row, c);
        seal_row(s);
        r = SQLITE_OK;
    }
    sqlite3_finalize(row);
    return r;
}

int seal_table(sqlite3 *db, const char *table)
{
    struct seal s;
    int r;

    seal_begin(&s);
    r = read_table(&s, db, table);
    if (r != SQLITE_DONE) {
        seal_end(&s, NULL, table);
        return r;
    }
    return seal_end(&s, db, table);
}

struct checker {
    sqlite3 *db;
    void (*bad)(void *ctx, const char *table, const char *what);
    void *ctx;
};

/* Rows from 1: behind the last mark that is as it was, up to the first that is not, or to the end. */
static void first_that_differs(const struct seal *is, const uint8_t *marks, size_t num_marks, uint64_t rows,
                               uint64_t *first, uint64_t *last)
{
    uint64_t every = 1, step;

    while (rows / every > SEAL_MARKS)
        every *= 2;
    step = every > is->every ? every : is->every;
    *first = 1;
    for (uint64_t at = step; at / every <= num_marks && at / is->every <= is->num_marks; at += step) {
        *last = at;
        if (memcmp(marks + 4 * (at / every - 1), &is->marks[at / is->every - 1], 4))
            return;
        *first = at + 1;
    }
    *last = rows > is->rows ? rows : is->rows;
}

/* kept: the row of its checksum; NULL: there is none. */
static int check_one(const struct checker *c, const char *table, sqlite3_stmt *kept)
{
    const char *hash = kept ? (const char *)sqlite3_column_text(kept, 1) : NULL;
    uint64_t rows = kept ? (uint64_t)sqlite3_column_int64(kept, 0) : 0, first, last;
    char is[33], what[160], range[48];
    struct seal s;
    int r;

    if (!hash) {
        c->bad(c->ctx, table, "has no checksum");
        return SQLITE_OK;
    }
    seal_begin(&s);
    r = s.state ? read_table(&s, c->db, table) : SQLITE_NOMEM;
    finish(&s, is);
    if (r == SQLITE_NOMEM)
        return r;
    if (r != SQLITE_DONE) {
        snprintf(what, sizeof(what), "cannot be read behind its row %llu: %.100s", (unsigned long long)s.rows,
                 seal_error(c->db));
        c->bad(c->ctx, table, what);
        return r;
    }
    if (!strcmp(is, hash) && s.rows == rows)
        return SQLITE_OK;
    first_that_differs(&s, sqlite3_column_blob(kept, 2),
                       (size_t)sqlite3_column_bytes(kept, 2) / sizeof(uint32_t), rows, &first, &last);
    snprintf(range, sizeof(range), first < last ? "rows %llu to %llu" : "row %llu", (unsigned long long)first,
             (unsigned long long)last);
    snprintf(what, sizeof(what), "is not what was written: %s first; of %llu rows there are %llu", range,
             (unsigned long long)rows, (unsigned long long)s.rows);
    c->bad(c->ctx, table, what);
    return SQLITE_OK;
}

static int check_kept(const struct checker *c, const char *table, sqlite3_stmt *kept)
{
    int r, worst = SQLITE_OK;

    sqlite3_bind_text(kept, 1, table, -1, SQLITE_STATIC);
    r = sqlite3_step(kept);
    if (r == SQLITE_ROW || r == SQLITE_DONE) {
        worst = check_one(c, table, r == SQLITE_ROW ? kept : NULL);
        r = r == SQLITE_ROW ? sqlite3_step(kept) : r;
    }
    if (r == SQLITE_ROW)
        c->bad(c->ctx, table, "has more than one checksum");
    else if (r != SQLITE_DONE)
        worst = r;
    sqlite3_reset(kept);
    return worst;
}

static bool is_asked_for(const char *const *only, const char *table)
{
    while (only && *only && strcmp(*only, table))
        only++;
    return !only || *only;
}

static const char *word(const char *p)
{
    const char *end = p;

    while ((*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z') || (*end >= '0' && *end <= '9') ||
           *end == '_')
        end++;
    return end;
}

static bool skip(const char **p, const char *what)
{
    const size_t n = strlen(what);
    const bool is = !strncmp(*p, what, n);

    *p += is ? n : 0;
    return is;
}

/* "CREATE TABLE name(column TYPE, column, …)" */
static bool is_plain_table(const char *sql)
{
    const char *p = sql;

    if (!skip(&p, "CREATE TABLE ") || word(p) == p)
        return false;
    p = word(p);
    if (!skip(&p, "("))
        return false;
    do {
        skip(&p, " ");
        if (word(p) == p)
            return false;
        p = word(p);
        if (skip(&p, " "))
            p = word(p);
    } while (skip(&p, ","));
    return !strcmp(p, ")");
}

/* 3. */
static int check_schema(const struct checker *c)
{
    sqlite3_stmt *s = NULL;
    int r = sqlite3_prepare_v2(c->db, "SELECT type, name, sql FROM sqlite_master", -1, &s, NULL);
    char what[80];

    while (!r && (r = sqlite3_step(s)) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(s, 0),
                   *name = (const char *)sqlite3_column_text(s, 1),
                   *sql = (const char *)sqlite3_column_text(s, 2);

        const bool is_table = type && !strcmp(type, "table");

        r = SQLITE_OK;
        if (!type || (is_table && sql && is_plain_table(sql)))
            continue; /* a damaged row is nothing that could run */
        if (is_table)
            snprintf(what, sizeof(what), "has more than columns: nobody writes that");
        else
            snprintf(what, sizeof(what), "is no table (%.20s): nobody writes that", type);
        c->bad(c->ctx, name ? name : "?", what);
    }
    sqlite3_finalize(s);
    return r == SQLITE_DONE ? SQLITE_OK : r;
}

static int end_statement(void *ctx)
{
    return 1;
}

/* A row takes two bytes at least, and some 20 steps to read; a report joins a few tables. */
static int most_steps(const char *path)
{
    enum { LEAST = 1 << 22, OF_BYTE = 256 };
    struct stat st;

    return stat(path, &st) || st.st_size > (INT_MAX - LEAST) / OF_BYTE ? INT_MAX
                                                                       : LEAST + (int)st.st_size * OF_BYTE;
}

int seal_open(sqlite3 **db, const char *path, int flags)
{
    const int r = sqlite3_open_v2(path, db, flags, NULL);

    if (r)
        return r;
    sqlite3_progress_handler(*db, most_steps(path), end_statement, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return SQLITE_OK;
}

const char *seal_error(sqlite3 *db)
{
    return sqlite3_errcode(db) == SQLITE_INTERRUPT ? "its pages name each other in circles"
                                                   : sqlite3_errmsg(db);
}

int seal_check(sqlite3 *db, const char *const *only,
               void (*bad)(void *ctx, const char *table, const char *what), void *ctx)
{
    static const char sql[] =
        "SELECT name, 1 FROM sqlite_master WHERE type='table' AND name<>'checksum' UNION ALL "
        "SELECT name, 0 FROM checksum WHERE name NOT IN (SELECT name FROM sqlite_master)";
    static const char kept_sql[] = "SELECT rows, hash, marks FROM checksum WHERE name=?";
    const struct checker c = {db, bad, ctx};
    sqlite3_stmt *s = NULL, *kept = NULL;
    int r = sqlite3_prepare_v2(db, sql, -1, &s, NULL), worst;

    if (!r)
        r = sqlite3_prepare_v2(db, kept_sql, -1, &kept, NULL);
    worst = r;
    while (!r && (r = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);

        name = name ? name : "?";
        r = SQLITE_OK;
        if (!is_asked_for(only, name))
            continue;
        if (sqlite3_column_int(s, 1))
            r = check_kept(&c, name, kept);
        else
            bad(ctx, name, "is missing");
        worst = r ? r : worst;
        r = SQLITE_OK;
    }
    if (r != SQLITE_DONE)
        worst = r;
    sqlite3_finalize(kept);
    sqlite3_finalize(s);
    r = check_schema(&c);
    worst = r ? r : worst;
    return worst;
}
