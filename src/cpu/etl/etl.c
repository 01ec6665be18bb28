/* SPDX-License-Identifier: MIT */
/* Buffers, streams and the logfile header of ETL files. */
#include "cpu/etl/etl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/file/in.h"
#include "cpu/etl/xpress.h"

#define BUFFER_HEADER   0x48u
#define MAX_BUFFER      (16u << 20)
#define MODE_CIRCULAR   0x00000002u /* EVENT_TRACE_FILE_MODE_CIRCULAR */
#define MODE_COMPRESSED 0x04000000u
#define MODES_PARTIAL   0x0000000eu /* circular, appended, new files: not all that was written is there */
#define FLAG_CPU_INDEX  0x20
#define FLAG_PACKED     0x40
#define TYPE_HEADER     4
#define BATCH           512

struct etl_stream {
    uint16_t cpu, logger;
    uint32_t *buffers;
    uint32_t num, next;
    size_t cap;
    const uint8_t *data; /* events of the present buffer */
    uint8_t *unpacked;
    size_t unpacked_cap, size, pos;
    uint32_t buffer; /* its number, for notes */
    uint64_t offset;
};

/* Reads a buffer header; false if it cannot be one. */
static bool read_buffer(const struct etl_file *f, size_t pos, struct etl_buffer *b, uint32_t *state)
{
    struct bytes in = bytes_of(f->map, f->size);
    uint16_t flags, cpu;

    bytes_seek(&in, pos);
    if (bytes_left(&in) < BUFFER_HEADER)
        return false;
    b->offset = pos;
    b->size = bytes_u32(&in);
    b->saved = bytes_u32(&in);
    bytes_seek(&in, pos + 0x18);
    b->sequence = bytes_u64(&in);
    bytes_seek(&in, pos + 0x28);
    cpu = bytes_u16(&in);
    b->logger = bytes_u16(&in);
    *state = bytes_u32(&in);
    bytes_seek(&in, pos + 0x34);
    flags = bytes_u16(&in);
    b->type = (uint8_t)bytes_u16(&in);
    b->packed = flags & FLAG_PACKED;
    b->cpu = flags & FLAG_CPU_INDEX ? cpu & 0x7ff : cpu & 0xff;
    return b->size >= BUFFER_HEADER && b->size <= MAX_BUFFER && b->saved <= MAX_BUFFER && b->type <= 7 &&
           b->cpu < CPU_MAX_CPUS;
}

bool etl_is(const uint8_t *bytes, size_t size)
{
    const struct etl_file f = {.map = bytes, .size = size};
    struct etl_buffer b;
    uint32_t state;

    return size > BUFFER_HEADER && read_buffer(&f, 0, &b, &state) && b.type == TYPE_HEADER && b.size >= 0x100;
}

/* The first event of the first buffer is TRACE_LOGFILE_HEADER, 0x110 or 0x118 bytes. */
static int read_logfile_header(struct etl_file *f, const struct etl_buffer *b, struct error *e)
{
    struct bytes in = bytes_of(f->map, f->size);
    size_t at = b->offset + BUFFER_HEADER + 32;
    uint32_t x64;

    bytes_seek(&in, b->offset + BUFFER_HEADER + 16);
    f->first_ticks = bytes_u64(&in);
    bytes_seek(&in, at);
    f->buffer_size = bytes_u32(&in);
    f->os_version = bytes_u32(&in);
    f->build = bytes_u32(&in);
    f->num_cpus = bytes_u32(&in);
    f->end_filetime = bytes_u64(&in);
    bytes_seek(&in, at + 0x20);
    f->mode = bytes_u32(&in);
    f->buffers_written = bytes_u32(&in);
    bytes_seek(&in, at + 0x2c);
    f->pointer_size = bytes_u32(&in);
    f->events_lost = bytes_u32(&in);
    f->cpu_mhz = bytes_u32(&in);
    x64 = f->pointer_size == 4 ? 8 : 0; /* two pointers are before these */
    bytes_seek(&in, at + 0x100 - x64);
    f->frequency = bytes_u64(&in);
    f->start_filetime = bytes_u64(&in);
    f->clock_type = bytes_u32(&in) & 7;
    if (in.bad)
        return error_set(e, -EBADMSG, "buffer 0: TRACE_LOGFILE_HEADER is cut at offset %zu", in.pos);
    if (f->pointer_size != 4 && f->pointer_size != 8)
        return error_set(e, -EBADMSG, "buffer 0: PointerSize is %u", f->pointer_size);
    if (f->buffer_size < BUFFER_HEADER || f->buffer_size > MAX_BUFFER || f->num_cpus > CPU_MAX_CPUS)
        return error_set(e, -EBADMSG, "buffer 0: BufferSize %u and NumberOfProcessors %u are not possible",
                         f->buffer_size, f->num_cpus);
    if (f->clock_type == 2 || !f->frequency)
        f->frequency = 10000000; /* system time in 100 ns */
    else if (f->clock_type == 3 && f->cpu_mhz)
        f->frequency = f->cpu_mhz * UINT64_C(1000000);
    return 0;
}

static int add_buffer(struct etl_file *f, const struct etl_buffer *b, size_t *cap)
{
    if (array_reserve(f->buffers, *cap, f->num_buffers + 1))
        return -ENOMEM;
    f->buffers[f->num_buffers++] = *b;
    if (b->cpu > f->max_cpu)
        f->max_cpu = b->cpu;
    return 0;
}

/* After a header that cannot be one: uncompressed buffers have a known stride, else the next plausible header. */
static size_t resync(const struct etl_file *f, size_t pos)
{
    struct etl_buffer b;
    uint32_t state;

    if (!(f->mode & MODE_COMPRESSED))
        return pos + f->buffer_size;
    for (pos = (pos + 8) & ~(size_t)7; pos + BUFFER_HEADER <= f->size; pos += 8)
        if (read_buffer(f, pos, &b, &state) && b.saved >= BUFFER_HEADER && b.saved <= f->buffer_size &&
            b.size <= f->buffer_size && b.size <= f->size - pos)
            return pos;
    return f->size;
}

static int index_buffers(struct etl_file *f, struct error *e)
{
    uint32_t state = 0;
    size_t cap = 0;
    struct etl_buffer b;
    size_t pos = 0;
    int r;

    for (uint32_t n = 0; pos < f->size; n++) {
        if (!read_buffer(f, pos, &b, &state) || (n && b.saved < BUFFER_HEADER)) {
            size_t next = resync(f, pos);
            if (f->size - pos < BUFFER_HEADER)
                cpu_note(&f->notes, "buffer %u at offset %zu: cut, %zu bytes are there", n, pos,
                         f->size - pos);
            else
                cpu_note(&f->notes, "buffer %u at offset %zu: its header is bad (size %u, saved %u, type %u)",
                         n, pos, b.size, b.saved, b.type);
            f->bad_buffers++;
            pos = next > pos ? next : pos + BUFFER_HEADER;
            continue;
        }
        if (n == 0) {
            if (b.type != TYPE_HEADER)
                return error_set(e, -EBADMSG, "not an ETL file: the first buffer's type is %u, not %u",
                                 b.type, TYPE_HEADER);
            r = read_logfile_header(f, &b, e);
            if (r)
                return r;
            f->pack_format = f->mode & MODE_COMPRESSED ? state & 0xffff : 0;
        }
        if (b.size > f->size - pos) {
            cpu_note(&f->notes, "buffer %u at offset %zu: cut, %zu of its %u bytes are there", n, pos,
                     f->size - pos, b.size);
            f->bad_buffers++;
            if (b.packed)
                break;
            b.size = (uint32_t)(f->size - pos);
        }
        if (!b.packed && b.saved > b.size) {
            if (pos + b.size < f->size)
                cpu_note(&f->notes, "buffer %u at offset %zu: %u bytes used of %u", n, pos, b.saved, b.size);
            b.saved = b.size;
        }
        if (add_buffer(f, &b, &cap))
            return error_set(e, -ENOMEM, "no memory for the index of buffers");
        pos += b.size;
    }
    /* Of a file that was cut between two buffers nothing else tells. Not proof: who rewrites traces may count otherwise. */
    if (f->buffers_written > f->num_buffers + f->bad_buffers && !(f->mode & MODES_PARTIAL))
        cpu_note(&f->notes, "%u of %u buffers that were written are there: its end may be missing",
                 f->num_buffers, f->buffers_written);
    return 0;
}

int etl_whole(const struct etl_file *f, struct error *e)
{
    if (!f->bad_events && !f->bad_buffers)
        return 0;
    return error_set(e, -EBADMSG, "%llu bad events, %llu bad buffers%s%s", (unsigned long long)f->bad_events,
                     (unsigned long long)f->bad_buffers, f->notes.count ? ": " : "",
                     f->notes.count ? f->notes.text[0] : "");
}

int etl_open_memory(struct etl_file *f, const uint8_t *bytes, size_t size, struct error *e)
{
    int r;

    memset(f, 0, sizeof(*f));
    f->map = bytes;
    f->size = size;
    if (!etl_is(bytes, size))
        return error_set(e, -EBADMSG, "not an ETL file: no buffer of type %u at its start", TYPE_HEADER);
    f->kinds = calloc(ETL_MAX_TYPES, sizeof(*f->kinds));
    f->classic = calloc(65536, sizeof(*f->classic));
    if (!f->kinds || !f->classic) {
        etl_close(f);
        return error_set(e, -ENOMEM, "no memory for the table of events");
    }
    r = index_buffers(f, e);
    if (r)
        etl_close(f);
    return r;
}

int etl_open(struct etl_file *f, const char *path, struct error *e)
{
    const uint8_t *map;
    size_t size;
    int r = in_file_map(path, &map, &size, e);

    memset(f, 0, sizeof(*f));
    if (r)
        return r;
    r = etl_open_memory(f, map, size, e);
    if (r) {
        munmap((void *)map, size);
        error_prefix(e, "%s", path);
        return r;
    }
    f->mapped = true;
    return 0;
}

static void drop_streams(struct etl_file *f)
{
    for (uint32_t i = 0; i < f->num_streams; i++) {
        free(f->streams[i].buffers);
        free(f->streams[i].unpacked);
    }
    free(f->streams);
    f->streams = NULL;
    f->num_streams = 0;
    cpu_merge_finish(&f->merge);
}

void etl_close(struct etl_file *f)
{
    drop_streams(f);
    free(f->buffers);
    free(f->kinds);
    free(f->classic);
    map_finish(&f->hashed);
    if (f->mapped)
        munmap((void *)f->map, f->size);
    memset(f, 0, sizeof(*f));
}

/* Makes buffer `i` the stream's present one; false if it cannot be read. */
static bool load_buffer(struct etl_file *f, struct etl_stream *s, uint32_t i)
{
    const struct etl_buffer *b = &f->buffers[i];
    const uint8_t *body = f->map + b->offset + BUFFER_HEADER;
    struct error e = {0};
    size_t want;

    s->buffer = i;
    s->offset = b->offset;
    s->pos = s->size = 0;
    if (!b->packed) {
        s->data = body;
        s->size = b->saved > BUFFER_HEADER ? b->saved - BUFFER_HEADER : 0;
        return true;
    }
    if (f->pack_format != 3) {
        cpu_note(&f->notes,
                 "buffer %u at offset %llu: compressed with format %u; this program reads 3 (XPRESS)", i,
                 (unsigned long long)b->offset, f->pack_format);
        f->bad_buffers++;
        return false;
    }
    want = b->saved - BUFFER_HEADER;
    if (s->unpacked_cap < want) {
        uint8_t *p = realloc(s->unpacked, want);
        if (!p)
            return false;
        s->unpacked = p;
        s->unpacked_cap = want;
    }
    if (cpu_xpress_unpack(body, b->size - BUFFER_HEADER, s->unpacked, want, &e)) {
        cpu_note(&f->notes, "buffer %u at offset %llu: %s", i, (unsigned long long)b->offset, e.text);
        f->bad_buffers++;
        return false;
    }
    s->data = s->unpacked;
    s->size = want;
    return true;
}

/* The next event of the present buffer. */
static bool next_record(struct etl_file *f, struct etl_stream *s, struct etl_record *r)
{
    const char *why = "";
    int what;

    if (s->pos >= s->size)
        return false;
    what = etl_parse(s->data + s->pos, s->size - s->pos, r, &why);
    if (what == ETL_BAD) {
        cpu_note(&f->notes, "buffer %u at offset %llu: event at 0x%zx: %s", s->buffer,
                 (unsigned long long)s->offset, s->pos + BUFFER_HEADER, why);
        f->bad_events++;
    }
    if (what != ETL_EVENT) {
        s->pos = s->size;
        return false;
    }
    s->pos += (r->size + 7u) & ~7u;
    f->events++;
    f->bytes += r->size;
    return true;
}

static uint32_t fill_from_buffers(void *ctx, uint32_t i, struct cpu_event *ev)
{
    struct etl_file *f = ctx;
    struct etl_stream *s = &f->streams[i];
    struct etl_record r;
    uint32_t n = 0;

    for (;;) {
        while (n < BATCH && next_record(f, s, &r)) {
            const uint16_t kind = etl_kind_of(f, &r);
            if (kind == ETL_MAX_TYPES)
                continue;
            f->kinds[kind].count++;
            if (r.header >= ETL_MESSAGE || !r.time)
                continue; /* counted; without a time it has no place in the stream */
            if (!etl_decode(f, &f->kinds[kind], &r, s->cpu, &ev[n])) {
                f->kinds[kind].bad++;
                cpu_note(&f->notes,
                         "buffer %u at offset %llu: an event of kind %u is shorter than its layout",
                         s->buffer, (unsigned long long)s->offset, kind);
            }
            ev[n].type = kind;
            n++;
        }
        if (n)
            return n;
        if (s->next == s->num)
            return 0;
        load_buffer(f, s, s->buffers[s->next++]);
    }
}

static struct etl_stream *stream_of(struct etl_file *f, const struct etl_buffer *b)
{
    struct etl_stream *p;

    for (uint32_t i = 0; i < f->num_streams; i++)
        if (f->streams[i].cpu == b->cpu && f->streams[i].logger == b->logger)
            return &f->streams[i];
    if (f->num_streams == 65536)
        return NULL;
    p = realloc(f->streams, (f->num_streams + 1) * sizeof(*p));
    if (!p)
        return NULL;
    f->streams = p;
    p += f->num_streams++;
    *p = (struct etl_stream){.cpu = b->cpu, .logger = b->logger};
    return p;
}

static int by_sequence(const void *a, const void *b, void *ctx)
{
    const struct etl_buffer *buffers = ctx;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint64_t i = buffers[x].sequence, k = buffers[y].sequence;

    return i != k ? (i > k) - (i < k) : (x > y) - (x < y);
}

/* A circular file is written over from its beginning when it is full: its buffers follow each other by their numbers. */
static void sort_streams(struct etl_file *f)
{
    for (uint32_t i = 0; f->mode & MODE_CIRCULAR && i < f->num_streams; i++)
        if (f->streams[i].num)
            qsort_r(f->streams[i].buffers, f->streams[i].num, sizeof(uint32_t), by_sequence, f->buffers);
}

static int make_streams(struct etl_file *f)
{
    for (uint32_t i = 0; i < f->num_buffers; i++) {
        struct etl_stream *s = stream_of(f, &f->buffers[i]);
        if (!s)
            return -ENOMEM;
        if (array_reserve(s->buffers, s->cap, s->num + 1))
            return -ENOMEM;
        s->buffers[s->num++] = i;
    }
    sort_streams(f);
    return 0;
}

int etl_rewind(struct etl_file *f, struct cpu_source **out, struct error *e)
{
    uint16_t *cpus;
    int r;

    drop_streams(f);
    for (uint32_t i = 0; i < f->num_kinds; i++)
        f->kinds[i].count = f->kinds[i].bad = 0;
    f->events = f->bad_events = f->bytes = 0;
    r = make_streams(f);
    cpus = calloc(f->num_streams + 1, sizeof(*cpus));
    if (!cpus)
        r = -ENOMEM;
    for (uint32_t i = 0; !r && i < f->num_streams; i++)
        cpus[i] = f->streams[i].cpu;
    if (!r)
        r = cpu_merge_init(&f->merge, cpus, f->num_streams, BATCH, fill_from_buffers, f, &f->notes);
    free(cpus);
    if (r) {
        drop_streams(f);
        return error_set(e, r, "no memory for the streams of %u processors", f->max_cpu + 1);
    }
    *out = &f->merge.source;
    return 0;
}

void etl_each(struct etl_file *f,
              void (*fn)(void *ctx, const struct etl_record *r, uint16_t kind, uint16_t cpu), void *ctx)
{
    struct etl_stream s = {0};
    struct etl_record r;

    for (uint32_t i = 0; i < f->num_kinds; i++)
        f->kinds[i].count = f->kinds[i].bad = 0;
    f->events = f->bad_events = f->bytes = 0;
    for (uint32_t i = 0; i < f->num_buffers; i++) {
        if (!load_buffer(f, &s, i))
            continue;
        while (next_record(f, &s, &r)) {
            const uint16_t kind = etl_kind_of(f, &r);
            if (kind == ETL_MAX_TYPES)
                continue;
            f->kinds[kind].count++;
            fn(ctx, &r, kind, f->buffers[i].cpu);
        }
    }
    free(s.unpacked);
}
