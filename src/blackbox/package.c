/* SPDX-License-Identifier: MIT */
#include "blackbox/package.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

struct bb_package {
    int fd, failure;
    uint8_t *map;
    uint64_t size, used, limit; /* `used` includes the header */
    uint64_t rows, dropped;
    bool in_row, too_big;
    uint8_t table;
    uint32_t values, given; /* given: a bit per column */
    uint64_t row_start;
    int files[BB_MAX_FILES], num_files;
};

enum { FIRST_SIZE = 1 << 20 };

static void package_check(const struct bb_package *p)
{
    INVARIANT(p->used >= BB_PACKAGE_HEADER && p->used <= p->size); /* 1 */
    INVARIANT(p->row_start <= p->used);
    INVARIANT((uint32_t)__builtin_popcount(p->given) == p->values);
    INVARIANT(p->values <= bb_tables[p->table].num_columns);
    INVARIANT(p->num_files >= 0 && p->num_files <= BB_MAX_FILES);
    INVARIANT(!(p->size & (p->size - 1)));
}

static void put_header(struct bb_package *p)
{
    uint32_t head[2] = {htole32(BB_PACKAGE_MAGIC), htole32(BB_PACKAGE_VERSION)};
    uint64_t counts[3] = {htole64(p->used - BB_PACKAGE_HEADER), htole64(p->rows), htole64(p->dropped)};

    memcpy(p->map, head, sizeof(head));
    memcpy(p->map + sizeof(head), counts, sizeof(counts));
}

int bb_package_create(struct bb_package **out, uint64_t limit)
{
    struct bb_package *p = calloc(1, sizeof(*p));
    int r;

    *out = NULL;
    if (!p)
        return -ENOMEM;
    p->limit = limit ? limit : UINT64_C(512) << 20;
    p->size = FIRST_SIZE;
    p->used = BB_PACKAGE_HEADER;
    p->fd = memfd_create("blackbox-package", MFD_CLOEXEC);
    if (p->fd < 0 || ftruncate(p->fd, (off_t)p->size))
        goto fail;
    p->map = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    if (p->map == MAP_FAILED) {
        p->map = NULL;
        goto fail;
    }
    put_header(p);
    *out = p;
    return 0;
fail:
    r = -errno;
    bb_package_destroy(p);
    return r;
}

void bb_package_destroy(struct bb_package *p)
{
    if (!p)
        return;
    if (p->map)
        munmap(p->map, p->size);
    if (p->fd >= 0)
        close(p->fd);
    for (int i = 0; i < p->num_files; i++)
        close(p->files[i]);
    free(p);
}

int bb_package_fd(struct bb_package *p)
{
    return p->fd;
}

int bb_package_failure(const struct bb_package *p)
{
    return p->failure;
}

/* Room for `n` bytes more, or NULL: the row is then left out. */
static uint8_t *room(struct bb_package *p, uint64_t n)
{
    uint64_t size = p->size;
    uint8_t *map;

    if (p->too_big || p->failure)
        return NULL;
    if (n > p->limit || p->used > p->limit - n) {
        p->too_big = true;
        return NULL;
    }
    while (p->used + n > size)
        size *= 2;
    if (size != p->size) {
        if (ftruncate(p->fd, (off_t)size)) {
            p->failure = -errno;
            return NULL;
        }
        map = mremap(p->map, p->size, size, MREMAP_MAYMOVE);
        if (map == MAP_FAILED) {
            p->failure = -errno;
            return NULL;
        }
        p->map = map;
        p->size = size;
    }
    map = p->map + p->used;
    p->used += n;
    return map;
}

void bb_row(struct bb_package *p, enum bb_table table)
{
    uint8_t *at;

    package_check(p);
    if (p->in_row)
        bb_row_end(p);
    p->in_row = true;
    p->too_big = false;
    p->table = (uint8_t)table;
    p->values = p->given = 0;
    p->row_start = p->used;
    at = room(p, 2);
    if (at) {
        at[0] = p->table;
        at[1] = 0;
    }
}

static void put_value(struct bb_package *p, enum bb_col column, enum bb_tag tag, const void *bytes,
                      uint64_t n)
{
    const struct bb_table_desc *d = &bb_tables[p->table];
    uint32_t c = (uint32_t)column & 0xFF;
    bool sized = tag == BB_TAG_TEXT || tag == BB_TAG_BLOB, legal;
    uint8_t *at;

    legal = p->in_row && column >> 8 == p->table && c < d->num_columns && !(p->given & 1u << c) &&
            (tag == BB_TAG_FILE ? BB_BLOB : (enum bb_type)(tag - BB_TAG_INT)) == d->columns[c].type;
    INVARIANT(legal);
    if (!legal)
        return;
    p->values++;
    p->given |= 1u << c;
    at = room(p, 2 + (sized ? 4u : 0u) + n);
    if (!at)
        return;
    *at++ = (uint8_t)c;
    *at++ = (uint8_t)tag;
    if (sized) {
        uint32_t size = htole32((uint32_t)n);
        memcpy(at, &size, 4);
        at += 4;
    }
    if (n)
        memcpy(at, bytes, n);
}

void bb_int(struct bb_package *p, enum bb_col column, int64_t value)
{
    uint64_t v = htole64((uint64_t)value);

    put_value(p, column, BB_TAG_INT, &v, 8);
}

void bb_real(struct bb_package *p, enum bb_col column, double value)
{
    put_value(p, column, BB_TAG_REAL, &value, 8);
}

static void put_text(struct bb_package *p, enum bb_col column, const char *text, size_t size)
{
    size_t n;
    char *clean;

    if (size > BB_MAX_TEXT)
        size = BB_MAX_TEXT;
    n = utf8_clean(NULL, SIZE_MAX, text, size);
    clean = malloc(n + 1);
    if (!clean)
        return;
    utf8_clean(clean, n, text, size);
    clean[n] = '\0';
    if (column != BB_shader_text) /* a listing; all else is said in one line, and makes no other */
        utf8_one_line(clean);
    put_value(p, column, BB_TAG_TEXT, clean, n);
    free(clean);
}

void bb_text(struct bb_package *p, enum bb_col column, const char *text)
{
    if (text)
        put_text(p, column, text, strlen(text));
}

static void put_format(struct bb_package *p, enum bb_col column, const char *fmt, va_list ap)
{
    char *text = NULL;
    int n = vasprintf(&text, fmt, ap);

    if (n < 0)
        return;
    put_text(p, column, text, (size_t)n);
    free(text);
}

void bb_textf(struct bb_package *p, enum bb_col column, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    put_format(p, column, fmt, ap);
    va_end(ap);
}

void bb_blob(struct bb_package *p, enum bb_col column, const void *bytes, size_t size)
{
    if (size > UINT32_MAX)
        p->too_big = true;
    else if (bytes)
        put_value(p, column, BB_TAG_BLOB, bytes, size);
}

int bb_package_files(const struct bb_package *p, int fds[BB_MAX_FILES])
{
    memcpy(fds, p->files, sizeof(p->files));
    return p->num_files;
}

void bb_blob_file(struct bb_package *p, enum bb_col column, int fd, uint32_t size)
{
    uint32_t v[2] = {htole32(size), htole32((uint32_t)p->num_files)};
    int own = p->num_files < BB_MAX_FILES ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

    if (own < 0)
        return;
    p->files[p->num_files++] = own;
    put_value(p, column, BB_TAG_FILE, v, sizeof(v));
}

void bb_row_end(struct bb_package *p)
{
    package_check(p);
    if (!p->in_row)
        return;
    p->in_row = false;
    if (p->too_big || p->failure) {
        p->used = p->row_start;
        p->dropped++;
    } else {
        p->map[p->row_start + 1] = (uint8_t)p->values;
        p->rows++;
    }
    put_header(p);
    package_check(p);
}

void bb_meta(struct bb_package *p, const char *key, const char *fmt, ...)
{
    va_list ap;

    bb_row(p, BB_TABLE_META);
    bb_text(p, BB_meta_key, key);
    va_start(ap, fmt);
    put_format(p, BB_meta_value, fmt, ap);
    va_end(ap);
    bb_row_end(p);
}

/* ---- reading ------------------------------------------------------------- */

int bb_package_open(struct bb_package_reader *r, const void *data, size_t size, struct error *e)
{
    struct bytes b = bytes_of(data, size);
    uint32_t magic = bytes_u32(&b), version = bytes_u32(&b);
    uint64_t n = bytes_u64(&b);

    r->rows = bytes_u64(&b);
    r->dropped = bytes_u64(&b);
    if (b.bad)
        return error_set(e, -EBADMSG, "package: %zu bytes are no header", size);
    if (magic != BB_PACKAGE_MAGIC)
        return error_set(e, -EBADMSG, "package: offset 0x0: magic 0x%08x", magic);
    if (version != BB_PACKAGE_VERSION)
        return error_set(e, -EPROTONOSUPPORT, "package: offset 0x4: version %u, %d is known", version,
                         BB_PACKAGE_VERSION);
    if (n > bytes_left(&b))
        return error_set(e, -EBADMSG, "package: offset 0x8: %llu bytes of rows, there are %zu",
                         (unsigned long long)n, bytes_left(&b));
    b.size = b.pos + n;
    r->b = b;
    return 0;
}

/* Of the type that the column has: SQLite would convert others, and the table's checksum be another one. What is no number is NULL, as
 * it is there. */
static void take_value(struct bytes *b, enum bb_type type, struct bb_value *v)
{
    uint64_t bits;

    *v = (struct bb_value){.tag = (enum bb_tag)bytes_u8(b)};
    if ((v->tag == BB_TAG_FILE ? BB_BLOB : (enum bb_type)(v->tag - BB_TAG_INT)) != type)
        b->bad = true;
    switch (v->tag) {
    case BB_TAG_INT:
        v->i = (int64_t)bytes_u64(b);
        break;
    case BB_TAG_REAL:
        bits = bytes_u64(b);
        memcpy(&v->real, &bits, 8);
        if (isnan(v->real))
            *v = (struct bb_value){.tag = BB_TAG_NULL};
        break;
    case BB_TAG_TEXT:
    case BB_TAG_BLOB:
        v->size = bytes_u32(b);
        v->bytes = bytes_take(b, v->size);
        break;
    case BB_TAG_FILE:
        v->size = bytes_u32(b);
        v->i = bytes_u32(b);
        break;
    default:
        b->bad = true;
    }
}

int bb_package_next(struct bb_package_reader *r, enum bb_table *table, struct bb_value values[BB_MAX_COLUMNS],
                    struct error *e)
{
    size_t at = r->b.pos;
    uint32_t t, n;

    if (!r->b.bad && !bytes_left(&r->b))
        return 0;
    t = bytes_u8(&r->b);
    n = bytes_u8(&r->b);
    memset(values, 0, BB_MAX_COLUMNS * sizeof(values[0]));
    if (!r->b.bad && t >= BB_TABLE_CHECKSUM) /* that is made by who writes the dump */
        r->b.bad = true;
    for (uint32_t i = 0; i < n && !r->b.bad; i++) {
        uint32_t c = bytes_u8(&r->b);

        if (r->b.bad || c >= bb_tables[t].num_columns || values[c].tag != BB_TAG_NULL)
            r->b.bad = true;
        else
            take_value(&r->b, bb_tables[t].columns[c].type, &values[c]);
    }
    if (r->b.bad)
        return error_set(e, -EBADMSG, "package: offset 0x%zx: malformed row", at);
    *table = (enum bb_table)t;
    return 1;
}
