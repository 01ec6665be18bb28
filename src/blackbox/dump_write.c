/* SPDX-License-Identifier: MIT */
/* dump_write.c: a package becomes a dump.
 *
 *   package ──▶ PATH.PID.tmp (SQLite, no journal, one transaction) ──fsync──▶ link to PATH
 *
 * Invariants:
 *  1. PATH is never seen before it is whole, and never replaced.
 *  2. Who writes one holds a lock on it: a .tmp that nobody holds was left by a dumper that was killed, and goes with the next.
 */
#include "blackbox/package.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/seal.h"

/* The column of table FILE that has the bytes; the one before it is the number of the part. */
enum { FILE_BYTES = 4, PART = 256 << 10 };

struct writer {
    sqlite3 *db;
    const int *fds;
    int num_fds;
    sqlite3_stmt *insert[BB_NUM_TABLES];
    struct seal seals[BB_NUM_TABLES];
};

static int fail(struct writer *w, const char *path, struct error *e)
{
    int code = w->db ? sqlite3_errcode(w->db) : SQLITE_NOMEM;

    return error_set(e,
                     code == SQLITE_FULL    ? -ENOSPC
                     : code == SQLITE_NOMEM ? -ENOMEM
                                            : -EIO,
                     "%s: %s", path, w->db ? sqlite3_errmsg(w->db) : "out of memory");
}

static int prepare(struct writer *w, const char *path, struct error *e)
{
    struct strbuf sql = {0};
    int r = 0;

    strbuf_puts(&sql, "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;PRAGMA page_size=16384;");
    bb_schema_sql(&sql);
    strbuf_puts(&sql, "BEGIN;");
    if (strbuf_failed(&sql) || sqlite3_exec(w->db, strbuf_str(&sql), NULL, NULL, NULL))
        r = fail(w, path, e);
    for (int t = 0; t < BB_NUM_TABLES && !r; t++) {
        strbuf_clear(&sql);
        strbuf_printf(&sql, "INSERT INTO %s VALUES(?", bb_tables[t].name);
        for (uint32_t c = 1; c < bb_tables[t].num_columns; c++)
            strbuf_puts(&sql, ",?");
        strbuf_puts(&sql, ")");
        if (sqlite3_prepare_v2(w->db, strbuf_str(&sql), -1, &w->insert[t], NULL))
            r = fail(w, path, e);
    }
    strbuf_finish(&sql);
    return r;
}

/* A blob in a file of its own, mapped until the process ends; NULL if it is not as long as it should be. */
static const void *map_file(const struct writer *w, const struct bb_value *v)
{
    struct stat st;
    void *map = MAP_FAILED;

    if (v->i < w->num_fds && v->size && !fstat(w->fds[v->i], &st) && st.st_size >= (off_t)v->size)
        map = mmap(NULL, v->size, PROT_READ, MAP_SHARED, w->fds[v->i], 0);
    return map == MAP_FAILED ? NULL : map;
}

static void bind(sqlite3_stmt *s, int at, const struct bb_value *v)
{
    switch (v->tag) {
    case BB_TAG_INT:
        sqlite3_bind_int64(s, at, v->i);
        break;
    case BB_TAG_REAL:
        sqlite3_bind_double(s, at, v->real);
        break;
    case BB_TAG_TEXT:
        sqlite3_bind_text64(s, at, v->bytes, v->size, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case BB_TAG_BLOB:
        sqlite3_bind_blob64(s, at, v->size ? v->bytes : "", v->size, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_null(s, at);
    }
}

static void seal_value(struct seal *s, const struct bb_value *v)
{
    switch (v->tag) {
    case BB_TAG_INT:
        seal_int(s, v->i);
        break;
    case BB_TAG_REAL:
        seal_real(s, v->real);
        break;
    case BB_TAG_TEXT:
    case BB_TAG_BLOB:
        seal_bytes(s, v->tag == BB_TAG_TEXT ? SQLITE_TEXT : SQLITE_BLOB, v->bytes, v->size);
        break;
    default:
        seal_null(s);
    }
}

static int insert(struct writer *w, enum bb_table t, const struct bb_value *values, const char *path,
                  struct error *e)
{
    sqlite3_stmt *s = w->insert[t];
    int r;

    for (uint32_t c = 0; c < bb_tables[t].num_columns; c++) {
        bind(s, (int)c + 1, &values[c]);
        seal_value(&w->seals[t], &values[c]);
    }
    seal_row(&w->seals[t]);
    r = sqlite3_step(s) == SQLITE_DONE ? 0 : fail(w, path, e);
    sqlite3_reset(s);
    return r;
}

/* A blob in a file, in parts: SQLite makes a copy of each row, and small ones stay in the processor's cache. */
static int insert_parts(struct writer *w, struct bb_value *values, const char *path, struct error *e)
{
    const uint8_t *bytes = map_file(w, &values[FILE_BYTES]);
    uint32_t size = bytes ? values[FILE_BYTES].size : 0, at = 0;
    int r;

    do {
        values[FILE_BYTES - 1] = (struct bb_value){.tag = BB_TAG_INT, .i = at / PART};
        values[FILE_BYTES] = (struct bb_value){.tag = bytes ? BB_TAG_BLOB : BB_TAG_NULL,
                                               .bytes = bytes ? bytes + at : NULL,
                                               .size = size - at < PART ? size - at : PART};
        r = insert(w, BB_TABLE_FILE, values, path, e);
        at += PART;
    } while (!r && at < size);
    return r;
}

static int insert_rows(struct writer *w, const void *data, size_t size, const char *path, struct error *e)
{
    struct bb_value values[BB_MAX_COLUMNS];
    struct bb_package_reader reader;
    enum bb_table table;
    int r = bb_package_open(&reader, data, size, e);

    while (!r && (r = bb_package_next(&reader, &table, values, e)) > 0) {
        r = table == BB_TABLE_FILE && values[FILE_BYTES].tag == BB_TAG_FILE
                ? insert_parts(w, values, path, e)
                : insert(w, table, values, path, e);
    }
    if (!r && reader.dropped) {
        char number[24];
        int n = snprintf(number, sizeof(number), "%llu", (unsigned long long)reader.dropped);

        memset(values, 0, sizeof(values));
        values[0] = (struct bb_value){.tag = BB_TAG_TEXT, .bytes = "dropped_rows", .size = 12};
        values[1] = (struct bb_value){.tag = BB_TAG_TEXT, .bytes = number, .size = (uint32_t)n};
        r = insert(w, BB_TABLE_META, values, path, e);
    }
    return r;
}

/* Locked and still there under its name: else it is another one's, or was just taken for a left one. */
static int hold(int folder, const char *name, int flags)
{
    int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    struct stat st, now;

    if (fd < 0 || (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
                   st.st_uid == geteuid() && !fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) &&
                   now.st_dev == st.st_dev && now.st_ino == st.st_ino))
        return fd;
    close(fd);
    errno = EAGAIN;
    return -1;
}

static void sweep(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *f;

    if (copy >= 0 && !dir)
        close(copy);
    while (dir && (f = readdir(dir))) {
        const char *tail = strstr(f->d_name, DUMP_SUFFIX ".");

        if (!tail ||
            strcmp(tail + strlen(DUMP_SUFFIX) + 1 + strspn(tail + strlen(DUMP_SUFFIX) + 1, "0123456789"),
                   ".tmp") != 0 ||
            (fd = hold(folder, f->d_name, 0)) < 0)
            continue;
        unlinkat(folder, f->d_name, 0);
        close(fd);
    }
    if (dir)
        closedir(dir);
}

/* A new file, for this user alone, in which nobody else has a hand; its descriptor with the lock, or an error. */
static int make_file(const char *path, struct error *e)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];
    int folder, fd;

    snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return error_set(e, -errno, "%s: %s", path, strerror(errno));
    sweep(folder);
    do
        fd = hold(folder, slash ? slash + 1 : path, O_CREAT | O_EXCL);
    while (fd < 0 && errno == EAGAIN);
    close(folder);
    return fd < 0 ? error_set(e, -errno, "%s: %s", path, strerror(errno)) : fd;
}

static int sync_file(const char *path, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;

    if (fd < 0 || fdatasync(fd))
        r = error_set(e, -errno, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return r;
}

int bb_dump_write(const void *data, size_t size, const int *fds, int num_fds, const char *path,
                  struct error *e)
{
    struct writer w = {.fds = fds, .num_fds = num_fds};
    char tmp[PATH_MAX];
    int r, held;

    if ((size_t)snprintf(tmp, sizeof(tmp), "%s.%d.tmp", path, (int)getpid()) >= sizeof(tmp))
        return error_set(e, -ENAMETOOLONG, "%.100s...: the path is too long", path);
    for (int t = 0; t < BB_NUM_TABLES; t++)
        seal_begin(&w.seals[t]);
    held = make_file(tmp, e);
    r = held < 0 ? held : 0;
    if (!r && sqlite3_open_v2(tmp, &w.db, SQLITE_OPEN_READWRITE, NULL))
        r = fail(&w, tmp, e);
    if (!r)
        r = prepare(&w, tmp, e);
    if (!r)
        r = insert_rows(&w, data, size, tmp, e);
    for (int t = 0; t < BB_NUM_TABLES; t++)
        if (seal_end(&w.seals[t], r || t == BB_TABLE_CHECKSUM ? NULL : w.db, bb_tables[t].name))
            r = fail(&w, tmp, e);
    if (!r && sqlite3_exec(w.db, "COMMIT", NULL, NULL, NULL))
        r = fail(&w, tmp, e);
    for (int t = 0; t < BB_NUM_TABLES; t++)
        sqlite3_finalize(w.insert[t]);
    if (sqlite3_close(w.db) && !r)
        r = error_set(e, -EIO, "%s: cannot be closed", tmp);
    if (!r)
        r = sync_file(tmp, e);
    if (!r && link(tmp, path))
        r = error_set(e, -errno, "%s: %s", path, strerror(errno));
    if (held >= 0) {
        unlink(tmp);
        close(held); /* after SQLite, whose locks go with any descriptor of the file */
    }
    return r;
}
