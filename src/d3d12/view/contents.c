/* SPDX-License-Identifier: MIT */
#include "d3d12/view/contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "d3d12/gen/table.h"
#include "d3d12_api.h"
#include "record/walk.h"

#define ZEROS 65536 /* of memory that nobody wrote, as many at a time */

struct span { /* of bytes that are alike */
    uint64_t from, to, call;
    enum contents_what what;
};

struct held { /* a buffer */
    uint8_t *bytes;
    size_t size, room;  /* what nobody wrote is zeros here */
    struct span *spans; /* sorted, apart; nobody wrote what is between them */
    size_t num, room_spans;
    uint64_t width;       /* 0: not known */
    bool seen;            /* by the program: zeros until it is written */
    bool shaders;         /* can write it */
    bool shared;          /* its memory is another's too: nothing of it is known */
    uint64_t heap, place; /* where it was placed */
    uint64_t before;      /* the resource that was placed in that heap before */
};

void *contents_made(struct map *m, uint64_t key, size_t size)
{
    void *p = map_pointer(m, key);
    uint64_t *slot;

    if (p || !(p = calloc(1, size)))
        return p;
    if (!(slot = map_put(m, key))) {
        free(p);
        return NULL;
    }
    *slot = (uintptr_t)p;
    return p;
}

/* ---- which buffer -------------------------------------------------------- */

static void held_finish(struct held *h)
{
    free(h->bytes);
    free(h->spans);
    free(h);
}

static struct held *held_of(const struct contents *x, uint64_t resource)
{
    struct held *h = x->tried ? map_pointer(&x->trial, resource) : NULL;

    return h ? h : map_pointer(&x->buffers, resource);
}

/* To be changed. NULL: no memory. */
static struct held *own(struct contents *x, uint64_t resource)
{
    const struct held *from = map_pointer(&x->buffers, resource);
    struct held *h;

    if (!x->tried)
        return contents_made(&x->buffers, resource, sizeof(*h));
    h = map_pointer(&x->trial, resource);
    if (h || !(h = contents_made(&x->trial, resource, sizeof(*h))) || !from)
        return h;
    *h = *from;
    h->bytes = NULL;
    h->spans = NULL;
    h->size = h->room = h->num = h->room_spans = 0;
    if (array_reserve(h->bytes, h->room, from->size + 1) ||
        array_reserve(h->spans, h->room_spans, from->num + 1))
        return NULL;
    memcpy(h->bytes, from->bytes ? from->bytes : (const uint8_t *)"", from->size);
    h->size = from->size;
    for (h->num = 0; h->num < from->num; h->num++)
        h->spans[h->num] = from->spans[h->num];
    return h;
}

/* ---- spans --------------------------------------------------------------- */

/* The first that ends behind `at`. */
static size_t span_at(const struct held *h, uint64_t at)
{
    size_t low = 0, high = h->num;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (h->spans[middle].to > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool alike(const struct span *a, const struct span *b)
{
    return a->what == b->what && (a->what == CONTENTS_KNOWN || a->call == b->call);
}

static int set(struct held *h, uint64_t from, uint64_t to, enum contents_what what, uint64_t call)
{
    const struct span now = {from, to, call, what};
    struct span pieces[3];
    size_t first = span_at(h, from), last = first, n = 0;

    if (from >= to)
        return 0;
    if (first < h->num && h->spans[first].from <= from && h->spans[first].to >= to &&
        alike(&h->spans[first], &now))
        return 0;
    if (first && h->spans[first - 1].to == from && alike(&h->spans[first - 1], &now) &&
        what != CONTENTS_NEVER)
        first--;
    while (last < h->num && h->spans[last].from < to)
        last++;
    if (first < last && h->spans[first].from < from) {
        pieces[n] = h->spans[first];
        pieces[n++].to = from;
    }
    if (what != CONTENTS_NEVER) {
        if (n && alike(&pieces[n - 1], &now))
            pieces[n - 1].to = to;
        else
            pieces[n++] = now;
    }
    if (first < last && h->spans[last - 1].to > to) {
        struct span rest = h->spans[last - 1];

        rest.from = to;
        if (n && pieces[n - 1].to == to && alike(&pieces[n - 1], &rest))
            pieces[n - 1].to = rest.to;
        else
            pieces[n++] = rest;
    }
    if (array_reserve(h->spans, h->room_spans, h->num + 3))
        return -ENOMEM;
    memmove(h->spans + first + n, h->spans + last, (h->num - last) * sizeof(*h->spans));
    memcpy(h->spans + first, pieces, n * sizeof(*pieces));
    h->num += n - (last - first);
    return 0;
}

static bool grow(struct contents *x, struct held *h, uint64_t end)
{
    if (end <= h->size)
        return true;
    if (end > CONTENTS_MAX || x->total + (end - h->size) > CONTENTS_MAX ||
        array_reserve(h->bytes, h->room, (size_t)end))
        return false;
    memset(h->bytes + h->size, 0, (size_t)end - h->size);
    x->total += end - h->size;
    h->size = (size_t)end;
    return true;
}

int contents_mark(struct contents *x, uint64_t resource, uint64_t from, uint64_t size,
                  enum contents_what what, uint64_t call)
{
    struct held *h = resource > 1 ? own(x, resource) : NULL;
    uint64_t to = size > UINT64_MAX - from ? UINT64_MAX : from + size;

    if (!h)
        return resource > 1 ? -ENOMEM : 0;
    if (h->width && to > h->width)
        to = h->width;
    if (what == CONTENTS_NEVER && from < h->size && from < to)
        memset(h->bytes + from, 0, (size_t)((to < h->size ? to : h->size) - from));
    return set(h, from, to, what, call);
}

int contents_put(struct contents *x, uint64_t resource, uint64_t offset, const void *bytes, uint64_t size)
{
    struct held *h = resource > 1 ? own(x, resource) : NULL;

    if (!h || size > UINT64_MAX - offset)
        return resource > 1 && !h ? -ENOMEM : 0;
    if (!size)
        return 0;
    if (!grow(x, h, offset + size))
        return set(h, offset, offset + size, CONTENTS_UNKNOWN, 0);
    memcpy(h->bytes + offset, bytes, (size_t)size);
    return set(h, offset, offset + size, CONTENTS_KNOWN, 0);
}

/* What is at `at`, and up to where. */
static enum contents_what stretch(const struct held *h, uint64_t at, uint64_t *end, uint64_t *call)
{
    size_t i = h ? span_at(h, at) : 0;
    bool in = h && i < h->num && h->spans[i].from <= at;

    *call = 0;
    *end = UINT64_MAX;
    if (h && h->shared)
        return CONTENTS_UNKNOWN;
    if (!in) {
        if (h && i < h->num)
            *end = h->spans[i].from;
        else if (h && h->width > at)
            *end = h->width;
        return CONTENTS_NEVER;
    }
    *end = h->spans[i].to;
    *call = h->spans[i].call;
    return h->spans[i].what;
}

enum contents_what contents_what(const struct contents *x, uint64_t resource, uint64_t offset, uint64_t *call)
{
    const struct held *h = held_of(x, resource);
    uint64_t end;
    enum contents_what what = stretch(h, offset, &end, call);

    return what == CONTENTS_NEVER && h && h->seen && x->tried
               ? CONTENTS_UNKNOWN
               : what; /* it is written down when lists are executed */
}

const uint8_t *contents_at(const struct contents *x, uint64_t resource, uint64_t offset, size_t *n)
{
    struct held *h = held_of(x, resource);
    uint64_t at = offset, end, call;

    *n = 0;
    while (h) {
        enum contents_what what = stretch(h, at, &end, &call);

        if (what == CONTENTS_UNKNOWN || (what == CONTENTS_NEVER && (!h->seen || x->tried || at >= h->width)))
            break;
        if (what == CONTENTS_NEVER && end - offset > ZEROS) /* as many as anybody asks for */
            end = at < offset + ZEROS ? offset + ZEROS : at;
        if (end == at || !grow((struct contents *)(uintptr_t)x, h, end)) /* zeros, which are there anyhow */
            break;
        at = end;
    }
    *n = (size_t)(at - offset);
    return *n ? h->bytes + offset : NULL;
}

int contents_copy(struct contents *x, uint64_t to, uint64_t to_at, uint64_t from, uint64_t from_at,
                  uint64_t size, uint64_t call)
{
    struct held *h = held_of(x, from);
    uint64_t left =
        h && h->width && h->width > from_at && h->width - from_at < size ? h->width - from_at : size;
    int err = 0;

    while (left && !err) {
        uint64_t end, who;
        enum contents_what what = stretch(h, from_at, &end, &who);
        uint64_t n = end - from_at < left ? end - from_at : left;
        size_t known = 0;
        const uint8_t *bytes = what == CONTENTS_UNKNOWN ? NULL : contents_at(x, from, from_at, &known);

        if (bytes) {
            uint8_t *copy;

            n = known < left ? known : left;
            if (!(copy = malloc((size_t)n))) /* the buffer may be one and the same, and move */
                return -ENOMEM;
            memcpy(copy, bytes, (size_t)n);
            err = contents_put(x, to, to_at, copy, n);
            free(copy);
        } else {
            err = contents_mark(x, to, to_at, n, what == CONTENTS_KNOWN ? CONTENTS_UNKNOWN : what, call);
        }
        h = held_of(x, from);
        from_at += n;
        to_at += n;
        left -= n;
    }
    return err;
}

int contents_all_written(struct contents *x, uint64_t call)
{
    struct map_slot s;
    size_t at = 0, num = 0;
    uint64_t *all = malloc((x->buffers.num + 1) * sizeof(*all));
    int err = all ? 0 : -ENOMEM;

    while (all && map_next(&x->buffers, &at, &s))
        if (((const struct held *)(uintptr_t)s.value)->shaders)
            all[num++] = s.key;
    for (size_t i = 0; i < num && !err; i++)
        err = contents_mark(x, all[i], 0, UINT64_MAX, CONTENTS_UNKNOWN, call) ||
                      contents_wrote(x, all[i], CONTENTS_WHOLE, call)
                  ? -ENOMEM
                  : 0;
    free(all);
    return err;
}

/* ---- who wrote ----------------------------------------------------------- */

int contents_wrote(struct contents *x, uint64_t resource, uint32_t sub, uint64_t call)
{
    uint64_t *slot;

    if (resource < 2)
        return 0;
    slot = map_put(x->tried ? &x->trial_writers : &x->writers, resource);
    if (!slot)
        return -ENOMEM;
    *slot = call + 1;
    return map_find(&x->buffers, resource) ||
                   map_put(x->tried ? &x->trial_parts : &x->parts, resource << 32 | sub)
               ? 0
               : -ENOMEM;
}

static bool is_written(const struct contents *x, uint64_t key)
{
    return map_find(&x->parts, key) || (x->tried && map_find(&x->trial_parts, key));
}

bool contents_part_written(const struct contents *x, uint64_t resource, uint32_t sub)
{
    return is_written(x, resource << 32 | sub) || is_written(x, resource << 32 | CONTENTS_WHOLE);
}

bool contents_writer(const struct contents *x, uint64_t resource, uint64_t *call)
{
    const uint64_t *slot = x->tried ? map_find(&x->trial_writers, resource) : NULL;

    if (!slot)
        slot = map_find(&x->writers, resource);
    if (slot)
        *call = *slot - 1;
    return slot;
}

/* ---- resources ----------------------------------------------------------- */

struct made {
    uint64_t dimension, width, flags, heap_type, page, heap, place, id, heap_flags;
    bool failed;
};

static void on_made(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    static const struct {
        const char *name;
        size_t at;
    } parts[] = {
        {"Dimension", offsetof(struct made, dimension)}, {"Width", offsetof(struct made, width)},
        {"Flags", offsetof(struct made, flags)},         {"HeapFlags", offsetof(struct made, heap_flags)},
        {"Type", offsetof(struct made, heap_type)},      {"CPUPageProperty", offsetof(struct made, page)},
        {"pHeap", offsetof(struct made, heap)},          {"HeapOffset", offsetof(struct made, place)},
        {"ppvResource", offsetof(struct made, id)},      {"ppvHeap", offsetof(struct made, id)}};
    struct made *m = ctx;

    if (!v->type || !name)
        return;
    if (!strcmp(name, "return"))
        m->failed = (int32_t)v->u < 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (!strcmp(name, parts[i].name))
            *(uint64_t *)((char *)m + parts[i].at) = v->u;
}

/* Of a buffer in a heap: whether others have its memory too. */
static int placed(struct contents *x, struct held *h, uint64_t id)
{
    uint64_t *last = map_put(&x->placed, h->heap);

    if (!last)
        return -ENOMEM;
    h->before = *last;
    *last = id;
    for (uint64_t k = h->before; k;) {
        struct held *o = map_pointer(&x->buffers, k);

        if (!o)
            break;
        if (h->place < o->place + o->width && o->place < h->place + h->width)
            h->shared = o->shared = true;
        k = o->before;
    }
    return 0;
}

static int resource_made(struct contents *x, const struct trc_call *c)
{
    const struct walk_visitor v = {.value = on_made, .ctx = &(struct made){0}};
    struct made *m = v.ctx;
    const bool is_heap = !strncmp(c->m->name, "CreateHeap", 10);
    struct held *h;
    bool seen;

    walk_args(c, &v);
    walk_answers(c, &v);
    if (m->failed || m->id < 2)
        return 0;
    seen = m->heap_type == D3D12_HEAP_TYPE_UPLOAD || m->heap_type == D3D12_HEAP_TYPE_READBACK ||
           (m->heap_type == D3D12_HEAP_TYPE_CUSTOM && m->page > D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE);
    if ((is_heap ? m->flags : m->heap_flags) & D3D12_HEAP_FLAG_CREATE_NOT_ZEROED)
        seen = false;
    if (is_heap)
        return seen && !map_put(&x->heaps, m->id) ? -ENOMEM : 0;
    if (m->dimension != D3D12_RESOURCE_DIMENSION_BUFFER)
        return 0;
    if ((h = map_pointer(&x->buffers, m->id))) { /* a number is given once, in a recording of ours */
        h->shared = true;
        return 0;
    }
    if (!(h = contents_made(&x->buffers, m->id, sizeof(*h))))
        return -ENOMEM;
    h->width = m->width;
    h->seen = m->heap ? map_find(&x->heaps, m->heap) != NULL : seen;
    h->shaders = m->flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
    h->shared = !strncmp(c->m->name, "CreateReservedResource", 22); /* which memory it has is said later */
    h->heap = m->heap;
    h->place = m->place;
    return m->heap ? placed(x, h, m->id) : 0;
}

/* ---- calls --------------------------------------------------------------- */

struct written {
    uint64_t resource, offset;
    const void *bytes;
    uint64_t size, blob;
};

static void on_write(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct written *w = ctx;

    if (!v->type) {
        w->bytes = v->bytes;
        w->size = v->size;
        w->blob = v->blob;
    } else if (v->type->kind == API_KIND_OBJECT) {
        w->resource = v->u;
    } else if (name && !strcmp(name, "Offset")) {
        w->offset = v->u;
    }
}

static int memory_written(struct contents *x, struct trc *t, const struct trc_call *c)
{
    struct written w = {0};
    const struct walk_visitor v = {.value = on_write, .ctx = &w};
    size_t size;
    int err;

    walk_args(c, &v);
    if (w.blob && (w.bytes = trc_blob(t, w.blob - 1, &size, NULL)))
        w.size = size;
    err = w.bytes ? contents_put(x, w.resource, w.offset, w.bytes, w.size) : 0;
    return err ? err : contents_wrote(x, w.resource, CONTENTS_WHOLE, c->index);
}

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

int contents_follow(struct contents *x, struct trc *t, const struct trc_call *c, contents_at_call *at,
                    void *ctx)
{
    const char *name = c->m->name;
    int err;

    if (c->method == D12_Native_MemoryWrite || c->method == D12_Native_Contents)
        return memory_written(x, t, c);
    if (c->method == D12_ID3D12Resource_WriteToSubresource) {
        err = map_find(&x->buffers, c->self)
                  ? contents_mark(x, c->self, 0, UINT64_MAX, CONTENTS_UNKNOWN, c->index)
                  : 0;
        return err ? err : contents_wrote(x, c->self, CONTENTS_WHOLE, c->index);
    }
    if (c->method == D12_ID3D12CommandQueue_ExecuteCommandLists) {
        struct id_list ids = x->ids;

        x->ids = (struct id_list){0};
        err = names_mentioned(c, false, &ids);
        for (size_t i = 0; i < ids.num && !err; i++)
            err = contents_execute(x, ids.ids[i], 0, at, ctx);
        x->ids = ids;
        return err;
    }
    if (c->incomplete)
        return 0;
    if (begins(name, "CreateCommittedResource") || begins(name, "CreatePlacedResource") ||
        begins(name, "CreateReservedResource") || begins(name, "CreateHeap"))
        return resource_made(x, c);
    return contents_list_call(x, t, c);
}

static void drop(struct map *m)
{
    struct map_slot s;

    for (size_t at = 0; map_next(m, &at, &s);)
        held_finish((struct held *)(uintptr_t)s.value);
    map_finish(m);
    *m = (struct map){0};
}

int contents_try(struct contents *x, uint64_t list, contents_at_call *at, void *ctx)
{
    uint64_t total = x->total;
    int err;

    x->tried = true;
    err = contents_execute(x, list, 0, at, ctx);
    x->tried = false;
    drop(&x->trial);
    map_finish(&x->trial_writers);
    map_finish(&x->trial_parts);
    x->trial_writers = x->trial_parts = (struct map){0};
    x->total = total;
    return err;
}

void contents_finish(struct contents *x)
{
    drop(&x->buffers);
    contents_lists_finish(x);
    map_finish(&x->targets);
    map_finish(&x->writers);
    map_finish(&x->parts);
    map_finish(&x->pipelines);
    map_finish(&x->heaps);
    map_finish(&x->placed);
    free(x->ids.ids);
    *x = (struct contents){0};
}
