/* SPDX-License-Identifier: MIT */
#include "d3d12/view/contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "d3d12/gen/table.h"
#include "d3d12_api.h"
#include "record/edit/trace_follow.h"
#include "record/walk.h"

#define MAX_TARGETS 9

struct held { /* bytes of a buffer */
    uint8_t *bytes;
    size_t size; /* up to the last that is known; holes in it are zero */
    size_t room;
};

struct copy { /* between buffers; `size` UINT64_MAX: all */
    uint64_t to, to_at, from, from_at, size;
};

struct listed {
    struct copy *copies;
    size_t num, room;
    uint64_t targets[MAX_TARGETS];
    size_t num_targets;
};

static void *made(struct map *m, uint64_t key, size_t size)
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

/* ---- bytes --------------------------------------------------------------- */

static int put(struct contents *x, uint64_t resource, uint64_t offset, const void *bytes, uint64_t size)
{
    struct held *h;
    size_t end;

    if (offset > CONTENTS_MAX || size > CONTENTS_MAX - offset || !size)
        return 0;
    end = (size_t)(offset + size);
    if (!(h = made(&x->buffers, resource, sizeof(*h))))
        return -ENOMEM;
    if (end > h->size) {
        if (x->total + (end - h->size) > CONTENTS_MAX)
            return 0;
        if (array_reserve(h->bytes, h->room, end))
            return -ENOMEM;
        memset(h->bytes + h->size, 0, end - h->size);
        x->total += end - h->size;
        h->size = end;
    }
    memcpy(h->bytes + offset, bytes, (size_t)size);
    return 0;
}

const uint8_t *contents_at(const struct contents *x, uint64_t resource, uint64_t offset, size_t *n)
{
    const struct held *h = map_pointer(&x->buffers, resource);

    *n = h && offset < h->size ? h->size - (size_t)offset : 0;
    return *n ? h->bytes + offset : NULL;
}

static int copied(struct contents *x, const struct copy *c)
{
    size_t n;
    const uint8_t *from = contents_at(x, c->from, c->from_at, &n);
    uint8_t *bytes;
    int err;

    if (!from)
        return 0;
    n = c->size < n ? (size_t)c->size : n;
    if (!(bytes = malloc(n))) /* the buffer may be one and the same, and move */
        return -ENOMEM;
    memcpy(bytes, from, n);
    err = put(x, c->to, c->to_at, bytes, n);
    free(bytes);
    return err;
}

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

    walk_args(c, &v);
    if (w.blob && (w.bytes = trc_blob(t, w.blob - 1, &size, NULL)))
        w.size = size;
    return w.bytes ? put(x, w.resource, w.offset, w.bytes, w.size) : 0;
}

/* ---- who wrote ----------------------------------------------------------- */

static int wrote(struct contents *x, uint64_t resource, const struct trc_call *c)
{
    struct map *const maps[] = {&x->writers, c->method == D12_Native_MemoryWrite ? &x->memory : NULL};

    for (size_t i = 0; resource > 1 && i < sizeof(maps) / sizeof(*maps) && maps[i]; i++) {
        uint64_t *slot = map_put(maps[i], resource);

        if (!slot)
            return -ENOMEM;
        *slot = c->index + 1;
    }
    return 0;
}

int contents_writers(const struct contents *x, struct map *out)
{
    struct map_slot s;

    *out = (struct map){0};
    for (size_t at = 0; map_next(&x->writers, &at, &s);) {
        uint64_t *slot = map_put(out, s.key);

        if (!slot) {
            map_finish(out);
            return -ENOMEM;
        }
        *slot = s.value;
    }
    return 0;
}

bool contents_writer(const struct contents *x, const struct map *then, uint64_t resource, uint64_t *call)
{
    const uint64_t *slot = map_find(then, resource), *since = map_find(&x->memory, resource);

    if (since && (!slot || *since > *slot))
        slot = since;
    if (slot)
        *call = *slot - 1;
    return slot;
}

struct seen {
    uint64_t object, places[MAX_TARGETS];
    size_t num;
};

static void on_place(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct seen *s = ctx;

    if (!v->type)
        return;
    if (v->type->kind == API_KIND_OBJECT && !s->object)
        s->object = v->u;
    else if (v->type->kind == API_KIND_CPU && !v->raw && v->u && s->num < MAX_TARGETS)
        s->places[s->num++] = follow_place(v->u, v->offset);
}

static struct seen seen_in(const struct trc_call *c)
{
    struct seen s = {0};
    const struct walk_visitor v = {.value = on_place, .ctx = &s};

    walk_args(c, &v);
    return s;
}

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static int view_made(struct contents *x, const struct trc_call *c)
{
    struct seen s = seen_in(c);
    uint64_t *slot = s.num ? map_put(&x->targets, s.places[0]) : &(uint64_t){0};

    if (!slot)
        return -ENOMEM;
    *slot = s.object;
    return 0;
}

static uint64_t target(const struct contents *x, uint64_t place)
{
    const uint64_t *r = map_find(&x->targets, place);

    return r ? *r : 0;
}

/* ---- calls on lists ------------------------------------------------------ */

static int copy_recorded(struct contents *x, const struct trc_call *c, struct listed *l)
{
    struct bytes in = bytes_of(c->args, c->size);
    struct copy y = {.to = bytes_varint(&in), .size = UINT64_MAX};

    if (c->method == D12_ID3D12GraphicsCommandList_CopyBufferRegion) {
        y.to_at = bytes_varint(&in);
        y.from = bytes_varint(&in);
        y.from_at = bytes_varint(&in);
        y.size = bytes_varint(&in);
    } else {
        y.from = bytes_varint(&in);
    }
    if (array_reserve(l->copies, l->room, l->num + 1))
        return -ENOMEM;
    l->copies[l->num++] = y;
    return wrote(x, y.to, c);
}

static int on_list(struct contents *x, const struct trc_call *c)
{
    struct listed *l = made(&x->lists, c->self, sizeof(*l));
    const char *name = c->m->name;
    struct seen s;
    int err = 0;

    if (!l)
        return -ENOMEM;
    if (c->method == D12_ID3D12GraphicsCommandList_Reset) {
        l->num = l->num_targets = 0;
    } else if (c->method == D12_ID3D12GraphicsCommandList_CopyBufferRegion ||
               c->method == D12_ID3D12GraphicsCommandList_CopyResource) {
        return copy_recorded(x, c, l);
    } else if (begins(name, "Copy") || begins(name, "Resolve")) {
        return wrote(x, seen_in(c).object, c);
    } else if (begins(name, "OMSetRenderTargets")) {
        s = seen_in(c);
        for (l->num_targets = 0; l->num_targets < s.num; l->num_targets++)
            l->targets[l->num_targets] = target(x, s.places[l->num_targets]);
    } else if (begins(name, "ClearRenderTargetView") || begins(name, "ClearDepthStencilView")) {
        s = seen_in(c);
        return wrote(x, s.num ? target(x, s.places[0]) : 0, c);
    } else if (begins(name, "ClearUnorderedAccessView")) {
        return wrote(x, seen_in(c).object, c);
    } else if (begins(name, "Draw") || begins(name, "ExecuteIndirect")) {
        for (size_t i = 0; i < l->num_targets && !err; i++)
            err = wrote(x, l->targets[i], c);
    }
    return err;
}

static int executed(struct contents *x, const struct trc_call *c)
{
    int err = names_mentioned(c, false, &x->ids);

    for (size_t i = 0; i < x->ids.num && !err; i++) {
        const struct listed *l = map_pointer(&x->lists, x->ids.ids[i]);

        for (size_t k = 0; l && k < l->num && !err; k++)
            err = copied(x, &l->copies[k]);
    }
    return err;
}

int contents_follow(struct contents *x, struct trc *t, const struct trc_call *c)
{
    struct written w = {0};
    const struct walk_visitor v = {.value = on_write, .ctx = &w};
    int err;

    if (c->method == D12_Native_MemoryWrite || c->method == D12_Native_Contents) {
        err = memory_written(x, t, c);
        walk_args(c, &v);
        return err ? err : wrote(x, w.resource, c);
    }
    if (c->method == D12_ID3D12Resource_WriteToSubresource)
        return wrote(x, c->self, c);
    if (c->method == D12_ID3D12CommandQueue_ExecuteCommandLists)
        return executed(x, c);
    if (begins(c->m->iface, "ID3D12GraphicsCommandList"))
        return on_list(x, c);
    return c->method == D12_ID3D12Device_CreateRenderTargetView ||
                   c->method == D12_ID3D12Device_CreateDepthStencilView
               ? view_made(x, c)
               : 0;
}

void contents_finish(struct contents *x)
{
    struct map_slot s;
    size_t at = 0;

    while (map_next(&x->buffers, &at, &s)) {
        free(((struct held *)(uintptr_t)s.value)->bytes);
        free((void *)(uintptr_t)s.value);
    }
    for (at = 0; map_next(&x->lists, &at, &s);) {
        free(((struct listed *)(uintptr_t)s.value)->copies);
        free((void *)(uintptr_t)s.value);
    }
    map_finish(&x->buffers);
    map_finish(&x->lists);
    map_finish(&x->targets);
    map_finish(&x->writers);
    map_finish(&x->memory);
    free(x->ids.ids);
    *x = (struct contents){0};
}
