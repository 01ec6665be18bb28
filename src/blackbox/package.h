/* SPDX-License-Identifier: MIT */
/* package.h: rows on their way from the program that crashed to the process that writes the dump.
 *
 *   header   magic "AGBP", u32 version, u64 bytes of rows, u64 rows, u64 dropped rows
 *   row      u8 table, u8 number of values, values; columns without one are NULL
 *   value    u8 column, u8 tag: 1 i64 │ 2 double │ 3 text: u32 size, bytes │ 4 blob: u32 size, bytes
 *            │ 5 file: u32 size, u32 number: a blob in a file of its own, which goes along as descriptor
 *
 * Invariants:
 *  1. What is in the memory is well-formed up to the size in the header at any instant.
 *  2. The reader believes nothing: it may be fed anything.
 */
#pragma once

#include <limits.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "blackbox/schema.h"

#define DUMP_SUFFIX ".aerogpudump"

enum { BB_PACKAGE_MAGIC = 0x50424741, BB_PACKAGE_VERSION = 2, BB_PACKAGE_HEADER = 32, BB_MAX_TEXT = 1 << 20 };

enum bb_tag { BB_TAG_NULL, BB_TAG_INT, BB_TAG_REAL, BB_TAG_TEXT, BB_TAG_BLOB, BB_TAG_FILE, BB_NUM_TAGS };

struct bb_value {
    enum bb_tag tag;
    int64_t i; /* FILE: its number */
    double real;
    const void *bytes; /* in the package */
    uint32_t size;
};

enum { BB_MAX_COLUMNS = 16, BB_MAX_FILES = 4 };

struct bb_package_reader {
    struct bytes b;
    uint64_t rows, dropped;
};

/* 0 or -EBADMSG. */
int bb_package_open(struct bb_package_reader *r, const void *data, size_t size, struct error *e);
/* 1: a row whose `values` hold as many values as the table has columns, 0: the end, -EBADMSG. */
int bb_package_next(struct bb_package_reader *r, enum bb_table *table, struct bb_value values[BB_MAX_COLUMNS],
                    struct error *e);

/* What bb_package_create made: a sealed-size memory file. */
int bb_package_fd(struct bb_package *p);
/* The files that go along; returns how many. */
int bb_package_files(const struct bb_package *p, int fds[BB_MAX_FILES]);
/* A blob that is the first `size` bytes of the memory file `fd`, which stays the caller's: it is not copied. */
void bb_blob_file(struct bb_package *p, enum bb_col column, int fd, uint32_t size);
int bb_package_failure(const struct bb_package *p);

/* Makes the dump at `path` from the package, in place of the process. 0 or a negative errno; -EEXIST: something has the name. */
int bb_dump_write(const void *data, size_t size, const int *fds, int num_fds, const char *path,
                  struct error *e);

struct bb_dump_name {
    const char *folder, *program;
    unsigned pid, number;
};

/* bb_package_send to FOLDER/PROGRAM-20260801T101112-PID-NUMBER.aerogpudump; where something has that name, which anybody can guess who
 * may write there, to one that has a random number behind it. `path` is what it was called. */
int bb_package_send_as(struct bb_package *p, const struct bb_dump_name *name, char path[PATH_MAX],
                       struct bb_error *e);
