/* SPDX-License-Identifier: MIT */
/* dump_read.h: reading dumps, also ones that are damaged, foreign or newer: what can be read is read, and what could not
 * be is remembered in words.
 *
 *   open ──▶ check ──▶ [select ──▶ row*]* ──▶ close
 *
 * Invariants:
 *  1. A dump is opened read-only and changes nothing, and nothing in its schema is trusted to run.
 *  2. A column of the wrong type reads as 0 or "", and is trouble.
 *  3. What is read without a check of its table may be anything: whoever shows it has asked for the check.
 */
#pragma once

#include <sqlite3.h>

#include "base/error.h"
#include "blackbox/internal.h"

struct bb_dump {
    sqlite3 *db;
    char path[4096];
    uint32_t num_bad;     /* tables that a check found damaged, the list of them too */
    char cut[100];        /* of a file that was longer: where it ends */
    struct error trouble; /* the first thing that was wrong */
};

/* 0 with a dump that can be asked; `trouble` may be set all the same. -EBADMSG: it is no dump; or the system's errno. */
int bb_dump_open(struct bb_dump *d, const char *path, struct error *e);
void bb_dump_close(struct bb_dump *d);
/* Whether each of the tables `only` (NULL: all) is what was written; `trouble` names the first that is not, and where. Reads all of
 * them. 0 or the trouble's code. */
int bb_dump_check(struct bb_dump *d, const char *const *only);

/* A statement, or NULL (trouble says why). `sql` is a format for sqlite3_mprintf. */
sqlite3_stmt *bb_select(struct bb_dump *d, const char *sql, ...);
/* True while there are rows; finalizes at the end. */
bool bb_step(struct bb_dump *d, sqlite3_stmt **s);

int64_t bb_column_int(struct bb_dump *d, sqlite3_stmt *s, int column, int64_t if_null);
const char *bb_column_text(struct bb_dump *d, sqlite3_stmt *s, int column); /* "" for NULL */

/* Copies the value of a meta key; "" if there is none. */
const char *bb_dump_meta(struct bb_dump *d, const char *key, char *value, size_t size);
