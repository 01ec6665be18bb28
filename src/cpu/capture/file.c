/* SPDX-License-Identifier: MIT */
#include "cpu/capture/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/check.h"
#include "cpu/capture/map.h"

#define BLOCK_MAGIC  UINT32_C(0x42555043) /* "CPUB" */
#define BLOCK_HEADER 48
#define BLOCK_ZSTD   1u
#define ZSTD_LEVEL                                                                                           \
    1 /* the recorder must keep up with the trace; higher levels gain a tenth and cost three times */

static void put32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, 4);
}

static void put64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, 8);
}

bool cpu_file_is(const uint8_t *bytes, size_t size)
{
    return size >= 8 && !memcmp(bytes, CPU_FILE_MAGIC, 8);
}

/* Reads the header at `pos`: 1 if it is whole and its own, 0 if not. */
static int read_header(const struct cpu_file *f, size_t pos, struct cpu_block *b)
{
    struct bytes in = bytes_of(f->map, f->size);
    uint32_t hash;

    bytes_seek(&in, pos);
    if (bytes_left(&in) < BLOCK_HEADER || bytes_u32(&in) != BLOCK_MAGIC)
        return 0;
    b->offset = pos;
    b->type = bytes_u16(&in);
    b->cpu = bytes_u16(&in);
    b->stored_size = bytes_u32(&in);
    b->raw_size = bytes_u32(&in);
    b->first_ns = bytes_u64(&in);
    b->flags = bytes_u32(&in);
    bytes_u32(&in);
    b->hash = bytes_u64(&in);
    hash = bytes_u32(&in);
    return !in.bad && hash == (uint32_t)XXH64(f->map + pos, 40, 0);
}

/* After damage at `from`: the next place with a valid header, or the end. */
static size_t resync(const struct cpu_file *f, size_t from)
{
    struct cpu_block b;

    for (size_t pos = (from + 8) & ~(size_t)7; pos + BLOCK_HEADER <= f->size; pos += 8)
        if (read_header(f, pos, &b))
            return pos;
    return f->size;
}

static int add_block(struct cpu_file *f, const struct cpu_block *b, uint32_t *cap)
{
    if (f->num_blocks == *cap) {
        uint32_t n = *cap ? *cap * 2 : 64;
        struct cpu_block *p = realloc(f->blocks, n * sizeof(*p));
        if (!p)
            return -ENOMEM;
        f->blocks = p;
        *cap = n;
    }
    f->blocks[f->num_blocks++] = *b;
    return 0;
}

static int index_blocks(struct cpu_file *f)
{
    size_t pos = 16, next;
    uint32_t cap = 0;
    struct cpu_block b;

    while (pos < f->size) {
        if (!read_header(f, pos, &b)) {
            next = resync(f, pos);
            cpu_note(&f->notes, "offset %zu: no block header; %zu bytes skipped", pos, next - pos);
            pos = next;
            continue;
        }
        if (b.stored_size > f->size - pos - BLOCK_HEADER) {
            cpu_note(&f->notes, "block at offset %zu: cut, %zu of its %u bytes are there", pos,
                     f->size - pos - BLOCK_HEADER, b.stored_size);
            pos = resync(f, pos);
            continue;
        }
        if (b.raw_size > CPU_FILE_MAX_BLOCK || (!(b.flags & BLOCK_ZSTD) && b.raw_size != b.stored_size))
            cpu_note(&f->notes, "block at offset %zu: unpacked size %u is not possible", pos, b.raw_size);
        else if (b.cpu >= CPU_FILE_MAX_CPUS)
            cpu_note(&f->notes, "block at offset %zu: CPU %u, the limit is %d", pos, b.cpu,
                     CPU_FILE_MAX_CPUS);
        else if (add_block(f, &b, &cap))
            return -ENOMEM;
        pos += (BLOCK_HEADER + (size_t)b.stored_size + 7) & ~(size_t)7;
    }
    return 0;
}

int cpu_file_open_memory(struct cpu_file *f, const uint8_t *bytes, size_t size, struct error *e)
{
    struct bytes in = bytes_of(bytes, size);
    uint32_t version;

    memset(f, 0, sizeof(*f));
    if (!cpu_file_is(bytes, size))
        return error_set(e, -EBADMSG, "not a .cputrace file: it does not start with %s", CPU_FILE_MAGIC);
    bytes_seek(&in, 8);
    version = bytes_u32(&in);
    if (version != 1)
        return error_set(e, -EBADMSG,
                         "offset 8: version %u of the .cputrace format; this program reads version 1",
                         version);
    f->map = bytes;
    f->size = size;
    if (index_blocks(f)) {
        cpu_file_close(f);
        return error_set(e, -ENOMEM, "no memory for the index of blocks");
    }
    return 0;
}

int cpu_file_open(struct cpu_file *f, const char *path, struct error *e)
{
    const uint8_t *map;
    size_t size;
    int r = cpu_map(path, &map, &size, e);

    memset(f, 0, sizeof(*f));
    if (r)
        return r;
    r = cpu_file_open_memory(f, map, size, e);
    if (r) {
        munmap((void *)map, size);
        error_prefix(e, "%s", path);
        return r;
    }
    f->mapped = true;
    return 0;
}

void cpu_file_close(struct cpu_file *f)
{
    free(f->blocks);
    if (f->mapped)
        munmap((void *)f->map, f->size);
    memset(f, 0, sizeof(*f));
}

int cpu_file_load(const struct cpu_file *f, uint32_t i, uint8_t **buf, size_t *cap, size_t pad,
                  struct error *e)
{
    const struct cpu_block *b = &f->blocks[i];
    const uint8_t *stored = f->map + b->offset + BLOCK_HEADER;
    size_t n;

    if (XXH64(stored, b->stored_size, 0) != b->hash)
        return error_set(e, -EBADMSG, "block at offset %llu: its %u bytes are damaged",
                         (unsigned long long)b->offset, b->stored_size);
    if (*cap < b->raw_size + pad) {
        uint8_t *p = realloc(*buf, b->raw_size + pad);
        if (!p)
            return error_set(e, -ENOMEM, "block at offset %llu: no memory for %u bytes",
                             (unsigned long long)b->offset, b->raw_size);
        *buf = p;
        *cap = b->raw_size + pad;
    }
    if (b->flags & BLOCK_ZSTD) {
        n = ZSTD_decompress(*buf, b->raw_size, stored, b->stored_size);
        if (ZSTD_isError(n) || n != b->raw_size)
            return error_set(e, -EBADMSG, "block at offset %llu: does not unpack: %s",
                             (unsigned long long)b->offset,
                             ZSTD_isError(n) ? ZSTD_getErrorName(n) : "wrong size");
    } else {
        memcpy(*buf, stored, b->raw_size);
    }
    memset(*buf + b->raw_size, 0, pad);
    return 0;
}

struct cpu_writer {
    int fd, failed;
    uint64_t bytes;
    uint8_t *packed;
    size_t packed_cap;
    ZSTD_CCtx *zstd;
};

static int write_all(struct cpu_writer *w, struct iovec *v, int n)
{
    while (n) {
        ssize_t k = writev(w->fd, v, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -errno;
        w->bytes += (uint64_t)k;
        while (n && (size_t)k >= v->iov_len) {
            k -= (ssize_t)v->iov_len;
            v++;
            n--;
        }
        if (n) {
            v->iov_base = (uint8_t *)v->iov_base + k;
            v->iov_len -= (size_t)k;
        }
    }
    return 0;
}

int cpu_writer_create(struct cpu_writer **out, const char *path, struct error *e)
{
    uint8_t head[16] = CPU_FILE_MAGIC;
    struct iovec v = {head, sizeof(head)};
    struct cpu_writer *w = calloc(1, sizeof(*w));

    if (!w)
        return error_set(e, -ENOMEM, "no memory");
    put32(head + 8, 1);
    w->zstd = ZSTD_createCCtx();
    w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (w->fd < 0 || !w->zstd) {
        const int cause = w->fd < 0 ? errno : ENOMEM;
        if (w->fd >= 0)
            close(w->fd);
        ZSTD_freeCCtx(w->zstd);
        free(w);
        return error_set(e, cause == ENOMEM ? -ENOMEM : -EIO, "%s: %s", path, strerror(cause));
    }
    w->failed = write_all(w, &v, 1);
    *out = w;
    return 0;
}

int cpu_writer_put(struct cpu_writer *w, enum cpu_block_type type, uint16_t cpu, uint64_t first_ns,
                   const void *data, size_t size)
{
    static const uint8_t zeros[8];
    uint8_t head[BLOCK_HEADER] = {0};
    size_t need = ZSTD_compressBound(size), n;
    struct iovec v[3];

    INVARIANT(w->fd >= 0 && w->failed <= 0 && w->bytes % 8 == 0); /* blocks begin at multiples of 8 */
    INVARIANT(type >= CPU_BLOCK_META && type <= CPU_BLOCK_END && cpu < CPU_FILE_MAX_CPUS);
    if (w->failed)
        return w->failed;
    if (size > CPU_FILE_MAX_BLOCK)
        return w->failed = -EFBIG;
    if (need > w->packed_cap) {
        uint8_t *p = realloc(w->packed, need);
        if (!p)
            return w->failed = -ENOMEM;
        w->packed = p;
        w->packed_cap = need;
    }
    n = ZSTD_compressCCtx(w->zstd, w->packed, w->packed_cap, data, size, ZSTD_LEVEL);
    if (ZSTD_isError(n))
        return w->failed = -EIO;
    put32(head, BLOCK_MAGIC);
    put32(head + 4, (uint32_t)type | (uint32_t)cpu << 16);
    put32(head + 8, (uint32_t)n);
    put32(head + 12, (uint32_t)size);
    put64(head + 16, first_ns);
    put32(head + 24, BLOCK_ZSTD);
    put64(head + 32, XXH64(w->packed, n, 0));
    put32(head + 40, (uint32_t)XXH64(head, 40, 0));
    v[0] = (struct iovec){head, sizeof(head)};
    v[1] = (struct iovec){w->packed, n};
    v[2] = (struct iovec){(void *)zeros, -(n + BLOCK_HEADER) & 7};
    return w->failed = write_all(w, v, 3);
}

uint64_t cpu_writer_bytes(const struct cpu_writer *w)
{
    return w->bytes;
}

int cpu_writer_failed(const struct cpu_writer *w)
{
    return w->failed;
}

int cpu_writer_close(struct cpu_writer *w)
{
    int r;

    if (!w)
        return 0;
    r = w->failed;
    if (close(w->fd) && !r)
        r = -errno;
    ZSTD_freeCCtx(w->zstd);
    free(w->packed);
    free(w);
    return r;
}
