/* SPDX-License-Identifier: MIT */
/* reduce.c: see reduce.h.
 *
 *   reduce_load ─▶ [things of a level ─▶ keep[] ─▶ reduce_write ─▶ does it still crash? ─▶ reduce_apply]* ─▶ reduce_save
 *
 * The search is the caller's (base/ddmin.h); this file knows what the things are. A level's things are numbered in the order of
 * the recording: submissions, then the packets of those that are left, the handles that these name, sixteenths of the bytes that
 * they carry. each_thing() walks them in that order for counting, writing and applying alike, so that a number means the same
 * thing in all three.
 *
 * Invariants:
 *  1. What is gone stays gone: reduce_apply only takes away, and the numbers of the levels above do not change with it.
 *  2. Each recording that is written can be read: a stream says its size, and packets lie in it one behind the other. Guest
 *     memory that is the same as before was loaded once, with the submission that placed it last, and goes with that one.
 *  3. Sizes of packets do not change: handles become 0 and bytes zeroes, in place.
 */
#include "minimize/reduce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aerogpu/cmd.h>
#include <aerogpu/ext.h>

#include "abi/stream.h"
#include "base/array.h"
#include "base/check.h"
#include "trace/reader.h"
#include "trace/writer.h"

enum { PIECES = 16, MIN_DATA = 64 };

static void reduce_check(const struct reduce *r)
{
    INVARIANT(r->subs || !r->num_subs);
    for (uint32_t i = 0; i < r->num_subs; i++) {
        const struct reduce_submission *s = &r->subs[i];

        INVARIANT(s->stream && s->packets && !s->table == !s->table_size);
        for (uint32_t p = 0, end = 0; p < s->num_packets;
             end = s->packets[p].offset + s->packets[p].size, p++) {
            INVARIANT(s->packets[p].offset >= end); /* 2 */
            INVARIANT(s->packets[p].size <= s->stream_size - s->packets[p].offset);
            INVARIANT(!s->packets[p].data_size || s->packets[p].data + s->packets[p].data_size <=
                                                      s->packets[p].offset + s->packets[p].size);
        }
        for (uint32_t k = 0; k < s->num_ranges; k++)
            INVARIANT(s->ranges[k].bytes);
    }
}

/* ---- loading ------------------------------------------------------------- */

static void *take(const struct trace_buffer *b)
{
    void *copy = malloc(b->size ? b->size : 1);

    if (copy)
        memcpy(copy, b->data, b->size);
    return copy;
}

static int load_blob(struct trace_reader *r, uint64_t id, uint32_t kind, struct trace_buffer *b,
                     struct error *e)
{
    struct trace_blob blob;
    int rc = trace_reader_find_blob(r, id, kind, "the recording", &blob, e);

    return rc ? rc : trace_reader_load(r, blob.offset, blob.size, b, e);
}

/* A stream without a header stays whole. What cannot be taken apart behind good packets is the last one. */
static int split(struct reduce_submission *s)
{
    struct abi_stream st;
    struct abi_packet p;
    size_t room = 0;
    uint32_t end;

    if (array_reserve(s->packets, room, 64))
        return -ENOMEM;
    if (abi_stream_open(&st, s->stream, s->stream_size, NULL))
        return 0;
    while (abi_stream_next(&st, &p, NULL) > 0) {
        if (array_reserve(s->packets, room, s->num_packets + 1))
            return -ENOMEM;
        s->packets[s->num_packets] = (struct reduce_packet){.offset = p.offset, .size = p.size};
        if (p.opcode == AEROGPU_CMD_UPLOAD_RESOURCE && p.tail_size >= MIN_DATA) {
            s->packets[s->num_packets].data = (uint32_t)(p.tail - s->stream);
            s->packets[s->num_packets].data_size = p.tail_size;
        }
        s->num_packets++;
    }
    end = s->num_packets ? s->packets[s->num_packets - 1].offset + s->packets[s->num_packets - 1].size
                         : sizeof(struct aerogpu_cmd_stream_header);
    if (st.size - end < sizeof(struct aerogpu_cmd_hdr))
        return 0;
    if (array_reserve(s->packets, room, s->num_packets + 1))
        return -ENOMEM;
    s->packets[s->num_packets++] = (struct reduce_packet){.offset = end, .size = st.size - end};
    return 0;
}

/* Memory as it was placed last. */
struct placed {
    uint64_t gpa, end, blob;
};

struct loader {
    struct reduce *r;
    struct trace_reader *reader;
    struct trace_buffer b;
    struct placed *placed; /* what did not change is not placed again */
    size_t num_placed, max_placed, max_subs;
};

/* Whether it stands there already; if not, whatever it writes over does not any more. */
static bool is_placed(struct loader *l, const struct trace_range *t)
{
    const uint64_t end = t->gpa + t->size;
    size_t kept = 0;

    for (size_t i = 0; i < l->num_placed; i++)
        if (l->placed[i].gpa == t->gpa && l->placed[i].end == end && l->placed[i].blob == t->blob)
            return true;
    for (size_t i = 0; i < l->num_placed; i++)
        if (l->placed[i].end <= t->gpa || end <= l->placed[i].gpa)
            l->placed[kept++] = l->placed[i];
    l->num_placed = kept;
    return false;
}

static int load_ranges(struct loader *l, struct reduce_submission *s, const struct trace_submission *t,
                       struct error *e)
{
    s->ranges = calloc(t->num_ranges ? t->num_ranges : 1, sizeof(*s->ranges));
    if (!s->ranges)
        return error_set(e, -ENOMEM, "no memory for the recording");
    for (uint32_t i = 0; i < t->num_ranges; i++) {
        struct reduce_range *x = &s->ranges[s->num_ranges];
        int rc;

        *x = (struct reduce_range){.alloc_id = t->ranges[i].alloc_id,
                                   .flags = t->ranges[i].flags,
                                   .gpa = t->ranges[i].gpa,
                                   .size = t->ranges[i].size};
        if (is_placed(l, &t->ranges[i]))
            continue;
        rc = load_blob(l->reader, t->ranges[i].blob, TRACE_BLOB_ALLOC_MEMORY, &l->b, e);
        if (rc)
            return rc;
        x->bytes = take(&l->b);
        x->num_bytes = (uint32_t)l->b.size;
        if (!x->bytes)
            return error_set(e, -ENOMEM, "no memory for the recording");
        s->num_ranges++;
        if (array_reserve(l->placed, l->max_placed, l->num_placed + 1))
            return error_set(e, -ENOMEM, "no memory for the recording");
        l->placed[l->num_placed++] =
            (struct placed){t->ranges[i].gpa, t->ranges[i].gpa + t->ranges[i].size, t->ranges[i].blob};
    }
    return 0;
}

static int load_record(struct loader *l, const struct trace_record *rec, struct error *e)
{
    const struct trace_submission *t = &rec->submission;
    struct reduce_submission *s;
    int rc;

    if (array_reserve(l->r->subs, l->max_subs, l->r->num_subs + 1))
        return error_set(e, -ENOMEM, "no memory for the recording");
    s = &l->r->subs[l->r->num_subs++];
    *s = (struct reduce_submission){.fence = l->r->num_subs};
    if (rec->type == TRACE_PACKET) {
        rc = trace_reader_load(l->reader, rec->packet.offset, rec->payload_len, &l->b, e);
    } else {
        s->flags = t->submit_flags;
        s->context_id = t->context_id;
        s->engine_id = t->engine_id;
        rc = t->alloc_blob ? load_blob(l->reader, t->alloc_blob, TRACE_BLOB_ALLOC_TABLE, &l->b, e) : 0;
        if (!rc && t->alloc_blob) {
            s->table = take(&l->b);
            s->table_size = (uint32_t)l->b.size;
            if (!s->table)
                return error_set(e, -ENOMEM, "no memory for the recording");
        }
        if (!rc)
            rc = load_ranges(l, s, t, e);
        if (!rc)
            rc = load_blob(l->reader, t->cmd_blob, TRACE_BLOB_CMD_STREAM, &l->b, e);
    }
    if (rc)
        return rc;
    s->stream = take(&l->b);
    s->stream_size = (uint32_t)l->b.size;
    if (!s->stream || split(s))
        return error_set(e, -ENOMEM, "no memory for the recording");
    return 0;
}

int reduce_load(struct reduce *r, const char *path, const void *data, size_t size, struct error *e)
{
    struct trace_reader_params rp = {.path = path, .data = data, .size = size};
    struct loader l = {.r = r};
    struct trace_record rec;
    int rc;

    *r = (struct reduce){0};
    rc = trace_reader_open(&l.reader, &rp, e);
    if (rc)
        return rc;
    r->command_abi = trace_reader_info(l.reader)->command_abi;
    while ((rc = trace_reader_next(l.reader, &rec, e)) > 0)
        if ((rec.type == TRACE_SUBMISSION || rec.type == TRACE_PACKET) && (rc = load_record(&l, &rec, e)) < 0)
            break;
    trace_buffer_finish(&l.b);
    free(l.placed);
    trace_reader_destroy(l.reader);
    if (rc)
        reduce_finish(r);
    reduce_check(r);
    return rc;
}

void reduce_finish(struct reduce *r)
{
    for (uint32_t i = 0; i < r->num_subs; i++) {
        for (uint32_t k = 0; k < r->subs[i].num_ranges; k++)
            free(r->subs[i].ranges[k].bytes);
        free(r->subs[i].ranges);
        free(r->subs[i].packets);
        free(r->subs[i].stream);
        free(r->subs[i].table);
    }
    free(r->subs);
    *r = (struct reduce){0};
}

/* ---- what packets name --------------------------------------------------- */

enum { MAX_HANDLES = 256 };

struct handle {
    uint32_t offset, value; /* offset in the packet; value not 0 */
    bool made;              /* the packet makes it */
};

static void add_handle(struct handle *out, uint32_t *n, const uint8_t *packet, uint32_t offset, bool made)
{
    uint32_t value;

    memcpy(&value, packet + offset, 4);
    if (*n < MAX_HANDLES && out)
        out[*n] = (struct handle){offset, value, made};
    *n += *n < MAX_HANDLES;
}

static bool read_packet(const struct reduce_submission *s, uint32_t i, struct abi_packet *p,
                        struct abi_stream *st)
{
    /* A stream of its own: the header of the old one, and the packet. */
    *st =
        (struct abi_stream){.data = s->stream + s->packets[i].offset, .size = s->packets[i].size, .minor = 4};
    return abi_stream_next(st, p, NULL) > 0 && p->desc;
}

/* All places for handles, in order, also those that hold 0. */
static uint32_t handles_of(const struct reduce_submission *s, uint32_t i, struct handle *out)
{
    struct abi_stream st;
    struct abi_packet p;
    uint32_t n = 0, tail;

    if (!read_packet(s, i, &p, &st))
        return 0;
    for (uint32_t f = 0; f < p.desc->num_fields; f++)
        for (uint32_t k = 0; k < p.desc->fields[f].count; k++)
            if (p.desc->fields[f].kind == AEROGPU_KIND_HANDLE || p.desc->fields[f].kind == AEROGPU_KIND_NEW ||
                p.desc->fields[f].kind == AEROGPU_KIND_END)
                add_handle(out, &n, p.data, p.desc->fields[f].offset + 4 * k,
                           p.desc->fields[f].kind == AEROGPU_KIND_NEW);
    tail = (uint32_t)(p.tail_count ? p.tail - p.data : 0);
    for (uint32_t k = 0; p.desc->elem_named && k < p.tail_count; k++)
        add_handle(out, &n, p.data, tail + k * p.desc->elem_size, false);
    return n;
}

static void clear_handle(struct reduce_submission *s, uint32_t i, uint32_t place)
{
    struct handle h[MAX_HANDLES];

    if (place < handles_of(s, i, h) && !h[place].made)
        memset(s->stream + s->packets[i].offset + h[place].offset, 0, 4);
}

/* ---- what a packet depends on -------------------------------------------- */

struct slicer {
    const struct reduce *r;
    uint8_t **keep; /* by submission and packet */
    uint32_t *needed;
    size_t num_needed, max_needed;
    bool failed;
};

static bool is_needed(const struct slicer *x, uint32_t handle)
{
    for (size_t i = 0; i < x->num_needed; i++)
        if (x->needed[i] == handle)
            return true;
    return false;
}

static void need_all_of(struct slicer *x, uint32_t sub, uint32_t packet)
{
    struct handle h[MAX_HANDLES];
    uint32_t n = handles_of(&x->r->subs[sub], packet, h);

    x->keep[sub][packet] = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (!h[i].value || is_needed(x, h[i].value))
            continue;
        if (array_reserve(x->needed, x->max_needed, x->num_needed + 1)) {
            x->failed = true;
            return;
        }
        x->needed[x->num_needed++] = h[i].value;
    }
}

static uint32_t opcode_of(const struct reduce_submission *s, uint32_t i)
{
    uint32_t opcode;

    memcpy(&opcode, s->stream + s->packets[i].offset, 4);
    return opcode;
}

/* Makes, ends, fills or shares what its handles name. */
static bool is_of_resources(uint32_t opcode)
{
    enum aerogpu_class c = abi_class(opcode);

    return c == AEROGPU_CLASS_CREATE || c == AEROGPU_CLASS_DESTROY || c == AEROGPU_CLASS_SHARE ||
           c == AEROGPU_CLASS_TRANSFER;
}

static bool same_bytes(const struct reduce_submission *a, uint32_t i, const struct reduce_submission *b,
                       uint32_t k, uint32_t at, uint32_t n)
{
    return a->packets[i].size >= at + n && b->packets[k].size >= at + n &&
           !memcmp(a->stream + a->packets[i].offset + at, b->stream + b->packets[k].offset + at, n);
}

static bool same_state(const struct reduce_submission *a, uint32_t i, const struct reduce_submission *b,
                       uint32_t k)
{
    const struct abi_packet_desc *d = abi_packet_find(opcode_of(a, i));

    return d->opcode == opcode_of(b, k) &&
           same_bytes(a, i, b, k, sizeof(struct aerogpu_cmd_hdr), d->class.key) &&
           (!d->stage_ex || same_bytes(a, i, b, k, d->stage_ex, 4));
}

/* The last setting of everything, in the culprit's context, in front of it. */
static void keep_state(struct slicer *x, uint32_t sub, uint32_t packet)
{
    const struct reduce *r = x->r;
    uint32_t seen[256][2], num_seen = 0;

    for (uint32_t i = sub + 1; i-- > 0;) {
        const struct reduce_submission *s = &r->subs[i];

        for (uint32_t p = i == sub ? packet : s->num_packets; !s->gone && p-- > 0;) {
            bool again = s->context_id != r->subs[sub].context_id || s->packets[p].gone ||
                         abi_class(opcode_of(s, p)) != AEROGPU_CLASS_STATE;

            for (uint32_t k = 0; k < num_seen && !again; k++)
                again = same_state(s, p, &r->subs[seen[k][0]], seen[k][1]);
            if (again || num_seen == 256)
                continue;
            seen[num_seen][0] = i;
            seen[num_seen++][1] = p;
            need_all_of(x, i, p);
        }
    }
}

static void keep_resources(struct slicer *x, uint32_t sub, uint32_t packet)
{
    for (size_t before = SIZE_MAX; before != x->num_needed && !x->failed;) {
        before = x->num_needed;
        for (uint32_t i = 0; i <= sub; i++) {
            const struct reduce_submission *s = &x->r->subs[i];

            for (uint32_t p = 0; p < (i == sub ? packet : s->num_packets); p++) {
                struct handle h[MAX_HANDLES];
                uint32_t n;

                if (s->gone || s->packets[p].gone || x->keep[i][p] || !is_of_resources(opcode_of(s, p)))
                    continue;
                n = handles_of(s, p, h);
                for (uint32_t k = 0; k < n; k++)
                    if (is_needed(x, h[k].value)) {
                        need_all_of(x, i, p);
                        break;
                    }
            }
        }
    }
}

bool reduce_slice(const struct reduce *r, uint64_t sub, uint32_t packet, uint8_t *keep)
{
    struct slicer x = {.r = r, .keep = calloc(r->num_subs ? r->num_subs : 1, sizeof(*x.keep))};
    uint32_t n = 0;

    x.failed = !x.keep || sub >= r->num_subs || packet >= r->subs[sub].num_packets;
    for (uint32_t i = 0; x.keep && i < r->num_subs; i++) {
        x.keep[i] = calloc(r->subs[i].num_packets ? r->subs[i].num_packets : 1, 1);
        x.failed |= !x.keep[i];
    }
    if (!x.failed) {
        need_all_of(&x, (uint32_t)sub, packet);
        keep_state(&x, (uint32_t)sub, packet);
        keep_resources(&x, (uint32_t)sub, packet);
    }
    for (uint32_t i = 0; !x.failed && i < r->num_subs; i++)
        for (uint32_t p = 0; !r->subs[i].gone && p < r->subs[i].num_packets; p++)
            if (!r->subs[i].packets[p].gone)
                keep[n++] = x.keep[i][p];
    INVARIANT(x.failed || n == reduce_packets_left(r));
    for (uint32_t i = 0; x.keep && i < r->num_subs; i++)
        free(x.keep[i]);
    free(x.keep);
    free(x.needed);
    return !x.failed;
}

/* ---- things -------------------------------------------------------------- */

static void
each_handle(const struct reduce_submission *s, uint32_t sub, uint32_t packet,
            void (*each)(void *ctx, uint32_t sub, uint32_t packet, uint32_t range, uint32_t piece), void *ctx)
{
    struct handle h[MAX_HANDLES];
    uint32_t n = handles_of(s, packet, h);

    for (uint32_t k = 0; k < n; k++)
        if (h[k].value && !h[k].made)
            each(ctx, sub, packet, UINT32_MAX, k);
}

/* Calls for every thing of the level that is left, in one order that everybody uses. `packet` or `range` is UINT32_MAX. */
static void each_thing(const struct reduce *r, enum reduce_level level,
                       void (*each)(void *ctx, uint32_t sub, uint32_t packet, uint32_t range, uint32_t piece),
                       void *ctx)
{
    for (uint32_t i = 0; i < r->num_subs; i++) {
        const struct reduce_submission *s = &r->subs[i];

        if (s->gone)
            continue;
        if (level == REDUCE_SUBMISSIONS)
            each(ctx, i, UINT32_MAX, UINT32_MAX, 0);
        for (uint32_t p = 0; level != REDUCE_SUBMISSIONS && p < s->num_packets; p++) {
            if (s->packets[p].gone)
                continue;
            if (level == REDUCE_PACKETS)
                each(ctx, i, p, UINT32_MAX, 0);
            if (level == REDUCE_BINDINGS)
                each_handle(s, i, p, each, ctx);
            for (uint32_t k = 0; level == REDUCE_BYTES && s->packets[p].data_size && k < PIECES; k++)
                each(ctx, i, p, UINT32_MAX, k);
        }
        for (uint32_t m = 0; level == REDUCE_BYTES && m < s->num_ranges; m++)
            for (uint32_t k = 0; s->ranges[m].num_bytes >= MIN_DATA && k < PIECES; k++)
                each(ctx, i, UINT32_MAX, m, k);
    }
}

static void count_one(void *ctx, uint32_t sub, uint32_t packet, uint32_t range, uint32_t piece)
{
    ++*(uint32_t *)ctx;
}

uint32_t reduce_things(const struct reduce *r, enum reduce_level level)
{
    uint32_t n = 0;

    each_thing(r, level, count_one, &n);
    return n;
}

struct applying {
    struct reduce *r;
    const uint8_t *keep;
    enum reduce_level level;
    uint32_t n;
};

static void zero_piece(uint8_t *bytes, uint32_t size, uint32_t piece)
{
    uint32_t first = (uint32_t)((uint64_t)size * piece / PIECES),
             end = (uint32_t)((uint64_t)size * (piece + 1) / PIECES);

    memset(bytes + first, 0, end - first);
}

static void apply_one(void *ctx, uint32_t sub, uint32_t packet, uint32_t range, uint32_t piece)
{
    struct applying *a = ctx;
    struct reduce_submission *s = &a->r->subs[sub];

    if (a->keep[a->n++])
        return;
    if (a->level == REDUCE_SUBMISSIONS)
        s->gone = true;
    else if (a->level == REDUCE_PACKETS)
        s->packets[packet].gone = true;
    else if (a->level == REDUCE_BINDINGS)
        clear_handle(s, packet, piece);
    else if (packet != UINT32_MAX)
        zero_piece(s->stream + s->packets[packet].data, s->packets[packet].data_size, piece);
    else
        zero_piece(s->ranges[range].bytes, s->ranges[range].num_bytes, piece);
}

void reduce_apply(struct reduce *r, enum reduce_level level, const uint8_t *keep)
{
    struct applying a = {.r = r, .keep = keep, .level = level};
    uint32_t before = reduce_packets_left(r);

    /* What goes is asked for while it goes: each_thing skips only what went before. */
    each_thing(r, level, apply_one, &a);
    for (uint32_t i = 0; level == REDUCE_PACKETS && i < r->num_subs; i++) {
        bool any = !r->subs[i].num_packets;
        for (uint32_t p = 0; p < r->subs[i].num_packets; p++)
            any |= !r->subs[i].packets[p].gone;
        if (!any)
            r->subs[i].gone = true;
    }
    INVARIANT(reduce_packets_left(r) <= before); /* 1 */
    reduce_check(r);
}

bool reduce_find(const struct reduce *r, enum reduce_level level, const uint8_t *keep, struct reduce_place *p)
{
    uint64_t ordinal = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->num_subs; i++) {
        const struct reduce_submission *s = &r->subs[i];
        bool kept = !s->gone && (!keep || level != REDUCE_SUBMISSIONS || keep[n++]), found = false;
        uint32_t packets = 0, at = 0;

        for (uint32_t k = 0; !s->gone && k < s->num_packets; k++) {
            const bool stays = !s->packets[k].gone && (!keep || level != REDUCE_PACKETS || keep[n++]);

            found |= stays && k == p->packet;
            at += stays && k < p->packet;
            packets += stays;
        }
        if (i == p->sub) {
            *p = (struct reduce_place){ordinal, s->num_packets ? at : p->packet};
            return kept && (found || !s->num_packets);
        }
        ordinal += kept && (packets || !s->num_packets);
    }
    return false;
}

uint32_t reduce_packets_left(const struct reduce *r)
{
    return reduce_things(r, REDUCE_PACKETS);
}

/* ---- writing ------------------------------------------------------------- */

static int copy_of(struct reduce *to, const struct reduce *from)
{
    *to = (struct reduce){.command_abi = from->command_abi};
    to->subs = calloc(from->num_subs ? from->num_subs : 1, sizeof(*to->subs));
    if (!to->subs)
        return -ENOMEM;
    to->num_subs = from->num_subs;
    for (uint32_t i = 0; i < from->num_subs; i++) {
        const struct reduce_submission *f = &from->subs[i];
        struct reduce_submission *t = &to->subs[i];

        *t = *f;
        t->stream = malloc(f->stream_size ? f->stream_size : 1);
        t->table = f->table ? malloc(f->table_size ? f->table_size : 1) : NULL;
        t->packets = malloc((f->num_packets ? f->num_packets : 1) * sizeof(*t->packets));
        t->ranges = calloc(f->num_ranges ? f->num_ranges : 1, sizeof(*t->ranges));
        t->num_ranges = 0;
        if (!t->stream || (f->table && !t->table) || !t->packets || !t->ranges)
            return -ENOMEM;
        memcpy(t->stream, f->stream, f->stream_size);
        if (f->table)
            memcpy(t->table, f->table, f->table_size);
        memcpy(t->packets, f->packets, f->num_packets * sizeof(*t->packets));
        for (uint32_t k = 0; k < f->num_ranges; k++) {
            t->ranges[k] = f->ranges[k];
            t->ranges[k].bytes = malloc(f->ranges[k].num_bytes ? f->ranges[k].num_bytes : 1);
            t->num_ranges++;
            if (!t->ranges[k].bytes)
                return -ENOMEM;
            memcpy(t->ranges[k].bytes, f->ranges[k].bytes, f->ranges[k].num_bytes);
        }
    }
    return 0;
}

static bool presents(const struct reduce_submission *s)
{
    for (uint32_t p = 0; p < s->num_packets; p++) {
        if (!s->packets[p].gone && abi_class(opcode_of(s, p)) == AEROGPU_CLASS_PRESENT)
            return true;
    }
    return false;
}

/* The packets that are left, behind the stream's header. */
static uint32_t pack(const struct reduce_submission *s, uint8_t *out)
{
    uint32_t at = sizeof(struct aerogpu_cmd_stream_header);

    if (!s->num_packets) {
        memcpy(out, s->stream, s->stream_size);
        return s->stream_size;
    }
    memcpy(out, s->stream, at);
    for (uint32_t p = 0; p < s->num_packets; p++)
        if (!s->packets[p].gone) {
            memcpy(out + at, s->stream + s->packets[p].offset, s->packets[p].size);
            at += s->packets[p].size;
        }
    INVARIANT(at <= s->stream_size); /* 3 */
    memcpy(out + offsetof(struct aerogpu_cmd_stream_header, size_bytes), &at, 4);
    return at;
}

static void write_submission(struct trace_writer *t, const struct reduce_submission *s, uint64_t fence,
                             struct error *e)
{
    struct trace_submission sub = {.submit_flags = s->flags,
                                   .context_id = s->context_id,
                                   .engine_id = s->engine_id,
                                   .signal_fence = fence};
    struct trace_range *ranges = calloc(s->num_ranges ? s->num_ranges : 1, sizeof(*ranges));
    uint8_t *stream = malloc(s->stream_size ? s->stream_size : 1);

    if (!stream || !ranges)
        error_set(e, -ENOMEM, "no memory for the recording");
    else {
        trace_writer_blob(t, TRACE_BLOB_CMD_STREAM, stream, pack(s, stream), &sub.cmd_blob, e);
        if (s->table)
            trace_writer_blob(t, TRACE_BLOB_ALLOC_TABLE, s->table, s->table_size, &sub.alloc_blob, e);
        for (uint32_t k = 0; k < s->num_ranges; k++) {
            ranges[k] = (struct trace_range){.alloc_id = s->ranges[k].alloc_id,
                                             .flags = s->ranges[k].flags,
                                             .gpa = s->ranges[k].gpa,
                                             .size = s->ranges[k].size};
            trace_writer_blob(t, TRACE_BLOB_ALLOC_MEMORY, s->ranges[k].bytes, s->ranges[k].num_bytes,
                              &ranges[k].blob, e);
        }
        sub.ranges = ranges;
        sub.num_ranges = s->num_ranges;
        trace_writer_submission(t, &sub, e);
    }
    free(stream);
    free(ranges);
}

int reduce_save(const struct reduce *r, const char *path, const char *notes, struct error *e)
{
    uint64_t fence = 0;
    struct trace_writer *t;
    uint32_t frame = 0;
    bool open = false;
    int rc = trace_writer_create(
        &t,
        &(struct trace_writer_params){
            .path = path, .command_abi = r->command_abi, .producer = "aerogpu minimize", .notes = notes},
        e);

    if (rc)
        return rc;
    for (uint32_t i = 0; i < r->num_subs; i++) {
        if (r->subs[i].gone)
            continue;
        if (!open)
            trace_writer_begin_frame(t, frame++, e);
        open = true;
        write_submission(t, &r->subs[i], ++fence, e);
        if (presents(&r->subs[i])) {
            trace_writer_present(t, e);
            open = false;
        }
    }
    if (open)
        trace_writer_end_frame(t, e);
    rc = trace_writer_finish(t, e);
    return rc ? rc : e->code;
}

int reduce_write(const struct reduce *r, enum reduce_level level, const uint8_t *keep, void **data,
                 size_t *size, struct error *e)
{
    int fd = memfd_create("reduced", MFD_CLOEXEC), rc;
    struct reduce copy;
    char path[64];
    struct stat st;

    *data = NULL;
    if (fd < 0)
        return error_set(e, -errno, "memfd: %s", strerror(errno));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    rc = copy_of(&copy, r);
    if (!rc) {
        reduce_apply(&copy, level, keep);
        rc = reduce_save(&copy, path, NULL, e);
    }
    reduce_finish(&copy);
    if (!rc && fstat(fd, &st))
        rc = -errno;
    if (!rc) {
        *size = (size_t)st.st_size;
        *data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (*data == MAP_FAILED)
            rc = -errno;
    }
    close(fd);
    return rc ? error_set(e, rc, "a candidate cannot be written: %s", strerror(-rc)) : 0;
}
