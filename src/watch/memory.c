/* SPDX-License-Identifier: MIT */
/* memory.c: guest memory as each submission found it, as far as the device reads it. A driver writes the next frame's vertices and
 * constants where the last one's were; what is there when something crashes says nothing about the frames before.
 *
 *   taken ──▶ which resources of its stream are read from guest memory, and where ──▶ a copy of what changed there
 *
 * Guest memory is read for RESOURCE_DIRTY_RANGE, and when a resource with memory behind it is made; both name the bytes. So it
 * is known beforehand which they are, and nothing needs to be searched for changes.
 *
 * Invariants:
 *  1. `bytes` is the sum of all copies that there are, and at most MAX_KEPT. The oldest submissions lose theirs first, and say so.
 *  2. A copy is shared by all submissions that found the same bytes at the same place: `latest` finds it as long as one has it.
 *  3. What an earlier submission of the device's may still write is not copied: playing it again writes it again.
 *  4. A stream is looked at for no longer than MAX_KEPT bytes of memory take: it is a stranger's, and others wait.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/alloc_table.h"
#include "base/array.h"
#include "base/check.h"
#include "watch/priv.h"

enum { MAX_BACKINGS = 1 << 16, MAX_WRITES = 16, TEXEL = 16, MAX_KEPT = 64 << 20 };

/* Of a resource. A texture's rows may be read from the beginning of a texel, or as a whole. */
struct backing {
    uint32_t alloc_id;
    bool texture, odd; /* odd: rows do not begin with whole texels of every size */
    uint64_t offset;
};

struct looking {
    struct watch *w;
    struct retained *k;
    struct abi_alloc_table allocs;
    uint64_t left; /* 4 */
};

static void memory_check(const struct watch_memory *m)
{
    INVARIANT(m->bytes <= MAX_KEPT && (m->bytes || !m->latest.num)); /* 1, 2 */
    INVARIANT(m->backings.num <= MAX_BACKINGS && m->tokens.num <= MAX_BACKINGS);
}

/* ---- copies -------------------------------------------------------------- */

static void unref(struct watch_memory *m, struct watch_copy *copy)
{
    INVARIANT(copy->refs && copy->size <= m->bytes);
    if (--copy->refs)
        return;
    if (map_pointer(&m->latest, copy->gpa) == copy)
        map_remove(&m->latest, copy->gpa);
    m->bytes -= copy->size;
    free(copy);
}

void watch_memory_release(struct watch_memory *m, struct retained *k)
{
    for (size_t i = 0; i < k->num_pieces; i++)
        unref(m, k->pieces[i].copy);
    free(k->pieces);
    free(k->writes);
    k->pieces = NULL;
    k->writes = NULL;
    k->num_pieces = k->room_pieces = k->num_writes = 0;
}

/* While evidence is collected, nothing goes that it may look at. */
static bool make_room(struct watch *w, const struct retained *for_whom, uint64_t size)
{
    for (struct retained *k = w->list.first; k && k != for_whom && w->memory.bytes + size > MAX_KEPT;
         k = k->next) {
        if (w->collecting)
            break;
        k->forgotten |= k->num_pieces > 0;
        watch_memory_release(&w->memory, k);
    }
    return w->memory.bytes + size <= MAX_KEPT;
}

/* The one that has these bytes already, or a new one; NULL: there is no room. */
static struct watch_copy *copy_of(struct looking *l, const uint8_t *from, uint64_t gpa, uint32_t size)
{
    struct watch_memory *m = &l->w->memory;
    struct watch_copy *c = map_pointer(&m->latest, gpa);
    uint64_t *slot;

    if (c && c->size == size && !memcmp(c->bytes, from, size)) {
        c->refs++;
        return c;
    }
    if (!make_room(l->w, l->k, size))
        return NULL;
    c = malloc(sizeof(*c) + size);
    slot = c ? map_put(&m->latest, gpa) : NULL;
    if (!slot) {
        free(c);
        return NULL;
    }
    *c = (struct watch_copy){.refs = 1, .gpa = gpa, .size = size};
    memcpy(c->bytes, from, size);
    *slot = (uint64_t)(uintptr_t)c;
    m->bytes += size;
    return c;
}

/* ---- what a stream reads and writes -------------------------------------- */

static bool overlaps(const struct retained *k, uint64_t gpa, uint64_t size)
{
    for (uint32_t i = 0; i < k->num_writes; i++)
        if (gpa < k->writes[i].end && k->writes[i].start < gpa + size)
            return true;
    return false;
}

static bool may_be_written(const struct looking *l, uint64_t gpa, uint64_t size)
{
    for (const struct retained *k = l->w->list.first; k; k = k->next)
        if (k->state == RETAINED_QUEUED && overlaps(k, gpa, size))
            return true;
    return overlaps(l->k, gpa, size);
}

/* Where these bytes of the resource lie, cut at the end of its allocation; NULL: nowhere that the device would read. */
static const struct abi_alloc *place(const struct looking *l, const struct backing *b, uint64_t offset,
                                     uint64_t *size, uint64_t *gpa)
{
    const struct abi_alloc *a = b ? abi_alloc_table_find(&l->allocs, b->alloc_id) : NULL;
    uint64_t ram = machine_ram_size(l->w->params.machine);

    if (!a || b->offset >= a->size || offset >= a->size - b->offset || a->gpa >= ram ||
        a->size > ram - a->gpa)
        return NULL;
    if (*size > a->size - b->offset - offset)
        *size = a->size - b->offset - offset;
    *gpa = a->gpa + b->offset + offset;
    return *size ? a : NULL;
}

static void note_read(struct looking *l, const struct backing *b, uint64_t offset, uint64_t size)
{
    struct retained *k = l->k;
    const struct abi_alloc *a;
    struct watch_copy *c;
    uint64_t gpa;

    if (b && b->texture) {
        uint64_t back = b->odd ? offset : offset % TEXEL;

        offset -= back;
        size = b->odd || size > UINT64_MAX - back - TEXEL ? UINT64_MAX : size + back + TEXEL;
    }
    a = place(l, b, offset, &size, &gpa);
    if (!a || may_be_written(l, gpa, size))
        return;
    c = size <= l->left && !array_reserve(k->pieces, k->room_pieces, k->num_pieces + 1)
            ? copy_of(l, machine_ram(l->w->params.machine) + gpa, gpa, (uint32_t)size)
            : NULL;
    if (!c) {
        k->forgotten = true;
        return;
    }
    l->left -= size;
    k->pieces[k->num_pieces++] =
        (struct watch_piece){.copy = c, .alloc_id = a->alloc_id, .readonly = a->readonly};
}

/* Those that there is no room for are taken together. */
static void note_write(struct looking *l, const struct backing *b, uint64_t offset, uint64_t size)
{
    struct retained *k = l->k;
    struct watch_span s, *last;

    if (!place(l, b, offset, &size, &s.start))
        return;
    s.end = s.start + size;
    if (!k->writes)
        k->writes = calloc(MAX_WRITES, sizeof(*k->writes));
    if (k->writes && k->num_writes < MAX_WRITES) {
        k->writes[k->num_writes++] = s;
    } else if (k->writes) {
        last = &k->writes[MAX_WRITES - 1];
        last->start = s.start < last->start ? s.start : last->start;
        last->end = s.end > last->end ? s.end : last->end;
    }
}

/* ---- resources ----------------------------------------------------------- */

static void forget(struct map *of, uint64_t key)
{
    free(map_pointer(of, key));
    map_remove(of, key);
}

static const struct backing *know(struct map *of, uint64_t key, const struct backing *b)
{
    struct backing *copy = NULL;
    uint64_t *slot;

    forget(of, key);
    if (!b || !b->alloc_id || of->num >= MAX_BACKINGS)
        return NULL;
    copy = malloc(sizeof(*copy));
    slot = copy ? map_put(of, key) : NULL;
    if (!slot) {
        free(copy);
        return NULL;
    }
    *copy = *b;
    *slot = (uint64_t)(uintptr_t)copy;
    return copy;
}

static void look_at(struct looking *l, const struct abi_packet *p)
{
    struct map *known = &l->w->memory.backings, *tokens = &l->w->memory.tokens;
    const struct backing *b;
    union {
        struct aerogpu_cmd_create_buffer buffer;
        struct aerogpu_cmd_create_texture2d texture;
        struct aerogpu_cmd_destroy_resource destroy;
        struct aerogpu_cmd_resource_dirty_range dirty;
        struct aerogpu_cmd_copy_buffer copy;
        struct aerogpu_cmd_copy_texture2d copy_texture;
        struct aerogpu_cmd_export_shared_surface export;
        struct aerogpu_cmd_import_shared_surface import;
        struct aerogpu_cmd_release_shared_surface release;
    } c;

    memcpy(&c, p->data, p->desc && p->desc->size < sizeof(c) ? p->desc->size : 0);
    switch (p->opcode) {
    case AEROGPU_CMD_CREATE_BUFFER:
        b = know(known, c.buffer.buffer_handle,
                 &(struct backing){.alloc_id = c.buffer.backing_alloc_id,
                                   .offset = c.buffer.backing_offset_bytes});
        note_read(l, b, 0, c.buffer.size_bytes);
        break;
    case AEROGPU_CMD_CREATE_TEXTURE2D:
        b = know(known, c.texture.texture_handle,
                 &(struct backing){.alloc_id = c.texture.backing_alloc_id,
                                   .offset = c.texture.backing_offset_bytes,
                                   .texture = true,
                                   .odd = c.texture.row_pitch_bytes % TEXEL != 0});
        note_read(l, b, 0, UINT64_MAX);
        break;
    case AEROGPU_CMD_DESTROY_RESOURCE:
        forget(known, c.destroy.resource_handle);
        break;
    case AEROGPU_CMD_RESOURCE_DIRTY_RANGE:
        note_read(l, map_pointer(known, c.dirty.resource_handle), c.dirty.offset_bytes, c.dirty.size_bytes);
        break;
    case AEROGPU_CMD_COPY_BUFFER:
        if (c.copy.flags & AEROGPU_COPY_FLAG_WRITEBACK_DST)
            note_write(l, map_pointer(known, c.copy.dst_buffer), c.copy.dst_offset_bytes, c.copy.size_bytes);
        break;
    case AEROGPU_CMD_COPY_TEXTURE2D:
        if (c.copy_texture.flags & AEROGPU_COPY_FLAG_WRITEBACK_DST)
            note_write(l, map_pointer(known, c.copy_texture.dst_texture), 0, UINT64_MAX);
        break;
    case AEROGPU_CMD_EXPORT_SHARED_SURFACE:
        know(tokens, c.export.share_token, map_pointer(known, c.export.resource_handle));
        break;
    case AEROGPU_CMD_IMPORT_SHARED_SURFACE:
        know(known, c.import.out_resource_handle, map_pointer(tokens, c.import.share_token));
        break;
    case AEROGPU_CMD_RELEASE_SHARED_SURFACE:
        forget(tokens, c.release.share_token);
        break;
    default:
        break;
    }
}

void watch_memory_take(struct watch *w, struct retained *k)
{
    struct looking l = {.w = w, .k = k, .left = MAX_KEPT};
    struct abi_stream s;
    struct abi_packet p;

    memory_check(&w->memory);
    if (k->table)
        abi_alloc_table_parse(&l.allocs, k->table, k->alloc_size, NULL);
    if (k->stream && !abi_stream_open(&s, k->stream, k->cmd_size, NULL))
        while (abi_stream_next(&s, &p, NULL) > 0)
            look_at(&l, &p);
    abi_alloc_table_finish(&l.allocs);
    memory_check(&w->memory);
}

static void free_all(struct map *m)
{
    struct map_slot s;

    for (size_t at = 0; map_next(m, &at, &s);)
        free((void *)(uintptr_t)s.value);
    map_finish(m);
}

void watch_memory_finish(struct watch_memory *m)
{
    INVARIANT(!m->bytes && !m->latest.num);
    free_all(&m->backings);
    free_all(&m->tokens);
    map_finish(&m->latest);
}
