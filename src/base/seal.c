/* SPDX-License-Identifier: MIT */
#include "base/seal.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
    *s = (struct seal){.state = XXH3_createState()};
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
    feed(s, SQLITE_FLOAT, &v, sizeof(v));
}

void seal_bytes(struct seal *s, int type, const void *bytes, uint64_t size)
{
    feed(s, type, bytes, size);
}

void seal_row(struct seal *s)
{
    s->rows++;
    feed(s, 0, NULL, 0);
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
    char hash[33], *sql;
    int r;

    finish(s, hash);
    if (!db)
        return SQLITE_OK;
    sql = no_memory
              ? NULL
              : sqlite3_mprintf("CREATE TABLE IF NOT EXISTS checksum(name TEXT, rows INTEGER, hash TEXT);"
                                "DELETE FROM checksum WHERE name=%Q;"
                                "INSERT INTO checksum(name, rows, hash) VALUES(%Q,%lld,%Q)",
                                table, table, (long long)s->rows, hash);
    r = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
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

static int check_one(sqlite3 *db, const char *table, const char *rows, const char *hash,
                     void (*bad)(void *ctx, const char *table, const char *what), void *ctx)
{
    char is[33], what[160];
    struct seal s;
    int r;

    if (!hash) {
        bad(ctx, table, "has no checksum");
        return SQLITE_OK;
    }
    seal_begin(&s);
    r = read_table(&s, db, table);
    finish(&s, is);
    if (r != SQLITE_DONE) {
        snprintf(what, sizeof(what), "cannot be read behind its row %llu: %.100s", (unsigned long long)s.rows,
                 sqlite3_errmsg(db));
        bad(ctx, table, what);
        return r;
    }
    if (strcmp(is, hash)) {
        snprintf(what, sizeof(what), "is not what was written: %llu rows, there were %.20s",
                 (unsigned long long)s.rows, rows ? rows : "?");
        bad(ctx, table, what);
    }
    return SQLITE_OK;
}

int seal_check(sqlite3 *db, void (*bad)(void *ctx, const char *table, const char *what), void *ctx)
{
    static const char sql[] =
        "SELECT m.name, c.rows, c.hash FROM sqlite_master m LEFT JOIN checksum c ON c.name=m.name "
        "WHERE m.type='table' AND m.name<>'checksum' UNION ALL "
        "SELECT name, -1, NULL FROM checksum WHERE name NOT IN (SELECT name FROM sqlite_master)";
    sqlite3_stmt *s = NULL;
    int r = sqlite3_prepare_v2(db, sql, -1, &s, NULL), worst = r;

    while (!r && (r = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);

        if (sqlite3_column_int(s, 1) < 0)
            bad(ctx, name ? name : "?", "is missing");
        else
            r = check_one(db, name ? name : "?", (const char *)sqlite3_column_text(s, 1),
                          (const char *)sqlite3_column_text(s, 2), bad, ctx);
        worst = r == SQLITE_ROW || r == SQLITE_OK ? worst : r;
        r = SQLITE_OK;
    }
    if (r != SQLITE_DONE)
        worst = r;
    sqlite3_finalize(s);
    return worst;
}
