/* SPDX-License-Identifier: MIT */
/* seal.h: checksums of the tables of an SQLite database, in a table of its own: checksum(name, rows, hash, marks).
 *
 *     seal_begin(&s);  seal_int(&s, 7);  seal_bytes(&s, SQLITE_TEXT, "seven", 5);  seal_row(&s);  …  seal_end(&s, db, "numbers");
 *
 * while the rows are written, or seal_table(db, "numbers") when they stand there already. seal_check() says of each table
 * whether it is what it was.
 *
 * 1. A value that changed, a row more, less, or in another place, and a table without a checksum are found.
 * 2. Space between rows, and how SQLite keeps them, do not count.
 * 3. A sealed database is tables, of columns that have a name and at most a type, and nothing else: a trigger, a view, an index, a
 *    default or a check is somebody else's, and would be asked when the database is read or added to. None of it ever runs.
 * 4. `marks` is the hash so far behind every nth row, 256 of them at most: it says where the first row is that changed.
 */
#pragma once

#include <sqlite3.h>
#include <stdint.h>

enum { SEAL_MARKS = 256 };

struct seal {
    void *state; /* NULL: there was no memory */
    uint64_t rows;
    uint32_t every, num_marks; /* every: a power of two */
    uint32_t marks[SEAL_MARKS];
};

void seal_begin(struct seal *s);
void seal_null(struct seal *s);
void seal_int(struct seal *s, int64_t v);
void seal_real(struct seal *s, double v);
void seal_bytes(struct seal *s, int type, const void *bytes, uint64_t size); /* SQLITE_TEXT or SQLITE_BLOB */
void seal_row(struct seal *s);

/* Keeps it, in place of what there was; SQLite's result code. Ends `s` in any case; a NULL database does no more. */
int seal_end(struct seal *s, sqlite3 *db, const char *table);
int seal_table(sqlite3 *db, const char *table);

/* Opens one by SQLite's flags, so that nothing in its schema runs (3), and no statement for longer than the file is long: SQLite follows
 * pages that name each other in circles for ever. *db must be closed in any case. SQLite's result code. */
int seal_open(sqlite3 **db, const char *path, int flags);
/* sqlite3_errmsg, and what it means that a statement was ended. */
const char *seal_error(sqlite3 *db);

/* Calls bad(ctx, table, what) for each of `only` (NULL: of all) that is not what it was, and for all that is no such table (3). A
 * result code other than SQLITE_OK: not all could be read. */
int seal_check(sqlite3 *db, const char *const *only,
               void (*bad)(void *ctx, const char *table, const char *what), void *ctx);
