/* SPDX-License-Identifier: MIT */
/* trim_follow.c: walks over the calls in front of a cut and remembers those whose effect is still there at the cut.
 *
 * Invariants:
 *  1. A descriptor is defined by one call, also when it came by copying: copies are followed, not repeated.
 *  2. Of a command list only the calls since its last Reset are kept.
 *  3. References are counted, not repeated: an object that is alive gets as many as the program held.
 *  4. What a kept call mentions is kept, also if it is gone at the cut; it then goes again.
 */
#include "d3d12/edit/trim_follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "record/names.h"
#include "record/walk.h"
#include "d3d12_api.h"

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

/* ---- objects ------------------------------------------------------------- */

struct trim_object *trim_object(struct trim *s, uint32_t id)
{
    return id < s->num_objects && s->objects[id].iface != 0xffff ? &s->objects[id] : NULL;
}

static struct trim_object *make_object(struct trim *s, uint32_t id)
{
    if (id >= s->num_objects) {
        uint32_t n = s->num_objects ? s->num_objects : 256;
        struct trim_object *p;

        while (n <= id)
            n *= 2;
        p = realloc(s->objects, n * sizeof(*p));
        if (!p)
            return NULL;
        for (uint32_t i = s->num_objects; i < n; i++)
            p[i] = (struct trim_object){.iface = 0xffff};
        s->objects = p;
        s->num_objects = n;
    }
    return &s->objects[id];
}

/* ---- calls --------------------------------------------------------------- */

#define NONE SIZE_MAX

static size_t remember(struct trim *s, const struct trc_call *c, enum trim_stage stage, uint64_t key)
{
    uint32_t ids[4096];
    bool again = stage != TRIM_MAKE && s->num_spare;
    size_t at = again ? s->spare[s->num_spare - 1] : s->num;
    struct trim_call *t;
    uint8_t *copy;

    if (!again && s->num == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 1024;
        void *p = realloc(s->calls, cap * sizeof(*s->calls));

        if (!p) {
            s->failed = true;
            return NONE;
        }
        s->calls = p;
        s->cap = cap;
    }
    t = &s->calls[at];
    *t = (struct trim_call){.call = *c, .stage = (uint8_t)stage, .key = key};
    t->num_refs = (uint32_t)names_mentioned(c, false, ids, 4096);
    copy = malloc(c->size ? c->size : 1);
    t->refs = t->num_refs ? malloc(t->num_refs * sizeof(*t->refs)) : NULL;
    if (!copy || (t->num_refs && !t->refs)) {
        free(copy);
        free(t->refs);
        *t = (struct trim_call){.gone = true};
        s->failed = true;
        return NONE;
    }
    if (c->size)
        memcpy(copy, c->args, c->size);
    if (t->num_refs)
        memcpy(t->refs, ids, t->num_refs * sizeof(*ids));
    t->call.args = copy;
    if (again)
        s->num_spare--;
    else
        s->num++;
    return at;
}

static void drop(struct trim *s, size_t i)
{
    struct trim_call *t = &s->calls[i];

    free((void *)t->call.args);
    free(t->refs);
    t->call.args = NULL;
    t->refs = NULL;
    t->num_refs = 0;
    t->gone = true;
    if (s->num_spare == s->cap_spare) {
        size_t cap = s->cap_spare ? 2 * s->cap_spare : 256;
        void *p = realloc(s->spare, cap * sizeof(*s->spare));

        if (!p)
            return;
        s->spare = p;
        s->cap_spare = cap;
    }
    s->spare[s->num_spare++] = i;
}

/* An earlier call with this stage and key has no effect any more. */
static void replace(struct trim *s, enum trim_stage stage, uint64_t key)
{
    for (size_t i = s->num; i-- > 0;)
        if (!s->calls[i].gone && s->calls[i].stage == stage && s->calls[i].key == key) {
            drop(s, i);
            return;
        }
}

/* ---- descriptors --------------------------------------------------------- */

static void define(struct trim *s, uint64_t slot, size_t call)
{
    size_t num = s->views.num;
    uint64_t *v = map_put(&s->views, slot);

    if (!v) {
        s->failed = true;
        return;
    }
    if (call != NONE)
        s->calls[call].uses++;
    if (s->views.num == num && *v != NONE && !--s->calls[*v].uses)
        drop(s, *v);
    *v = call;
}

static size_t definition(const struct trim *s, uint64_t slot)
{
    const uint64_t *v = map_find(&s->views, slot);

    return v ? *v : NONE;
}

struct copy { /* the arguments of CopyDescriptors */
    uint64_t start[2][256];
    uint32_t size[2][256];
    size_t starts[2], sizes[2];
    uint32_t count;
};

static void on_copy(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct copy *x = ctx;
    int src = strstr(f->name, "Src") != NULL;

    if (!v->type)
        return;
    if (v->type->kind == API_KIND_CPU) {
        if (x->starts[src] < 256)
            x->start[src][x->starts[src]++] = v->raw ? 0 : v->u << 32 | (v->offset & UINT32_MAX);
    } else if (strstr(f->name, "RangeSizes")) {
        if (x->sizes[src] < 256)
            x->size[src][x->sizes[src]++] = (uint32_t)v->u;
    } else if (!strcmp(f->name, "NumDescriptors")) {
        x->count = (uint32_t)v->u;
    }
}

static void copy_views(struct trim *s, const struct trc_call *c)
{
    struct copy x = {0};
    struct walk_visitor v = {.value = on_copy, .ctx = &x};
    size_t range[2] = {0, 0};
    uint32_t at[2] = {0, 0};

    walk_args(c, &v);
    if (c->method == D12_ID3D12Device_CopyDescriptorsSimple)
        for (int k = 0; k < 2; k++)
            x.size[k][0] = x.count;
    else
        for (int k = 0; k < 2; k++)
            for (size_t i = x.sizes[k]; i < 256; i++)
                x.size[k][i] = 1;
    while (range[0] < x.starts[0] && range[1] < x.starts[1]) {
        uint64_t slot[2];

        for (int k = 0; k < 2; k++)
            slot[k] = x.start[k][range[k]] + at[k];
        if (slot[0] >> 32 && x.size[0][range[0]] && x.size[1][range[1]])
            define(s, slot[0], slot[1] >> 32 ? definition(s, slot[1]) : NONE);
        for (int k = 0; k < 2; k++)
            if (++at[k] >= x.size[k][range[k]]) {
                at[k] = 0;
                range[k]++;
            }
    }
}

static bool makes_view(uint16_t method)
{
    return (method >= D12_ID3D12Device_CreateConstantBufferView &&
            method <= D12_ID3D12Device_CreateSampler) ||
           method == D12_ID3D12Device8_CreateSamplerFeedbackUnorderedAccessView ||
           method == D12_ID3D12Device11_CreateSampler2;
}

/* Every method that makes a view has the descriptor as its last argument. */
static void on_last_handle(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    if (v->type && v->type->kind == API_KIND_CPU)
        *(uint64_t *)ctx = v->raw ? 0 : v->u << 32 | (v->offset & UINT32_MAX);
}

static void make_view(struct trim *s, const struct trc_call *c)
{
    uint64_t slot = 0;
    struct walk_visitor v = {.value = on_last_handle, .ctx = &slot};
    size_t i;

    walk_args(c, &v);
    if (slot >> 32 && (i = remember(s, c, TRIM_VIEW, 0)) != NONE)
        define(s, slot, i);
}

/* ---- lists, memory, fences ----------------------------------------------- */

static void list_call(struct trim *s, const struct trc_call *c)
{
    struct trim_object *o = trim_object(s, c->self);
    size_t i;

    if (!o)
        return;
    if (c->method == D12_ID3D12GraphicsCommandList_Reset) {
        for (size_t k = 0; k < o->num_list; k++)
            drop(s, o->list[k]);
        o->num_list = 0;
    }
    i = remember(s, c, TRIM_LIST, 0);
    o = trim_object(s, c->self);
    if (i == NONE)
        return;
    if (o->num_list == o->cap_list) {
        size_t cap = o->cap_list ? 2 * o->cap_list : 64;
        void *p = realloc(o->list, cap * sizeof(*o->list));

        if (!p) {
            s->failed = true;
            return;
        }
        o->list = p;
        o->cap_list = cap;
    }
    o->list[o->num_list++] = i;
}

static void map_call(struct trim *s, const struct trc_call *c)
{
    struct trim_object *o = trim_object(s, c->self);
    struct bytes in = bytes_of(c->args + c->args_size, c->size - c->args_size);
    size_t i;

    if (!o)
        return;
    if (c->method == D12_ID3D12Resource_Unmap) {
        if (o->maps > 0)
            o->maps--;
        return;
    }
    if (c->incomplete || unzigzag(bytes_varint(&in)) < 0)
        return;
    if (!o->maps++) {
        i = remember(s, c, TRIM_MAP, 0);
        o = trim_object(s, c->self);
        o->map_call = i;
    }
}

static uint64_t first_arg(const struct trc_call *c)
{
    struct bytes in = bytes_of(c->args, c->args_size);

    return bytes_varint(&in);
}

static uint64_t nth_arg(const struct trc_call *c, int n)
{
    struct bytes in = bytes_of(c->args, c->args_size);

    while (n--)
        bytes_varint(&in);
    return bytes_varint(&in);
}

enum { KEY_FENCE = 1, KEY_EVENT, KEY_PENDING };

static uint64_t key(int kind, uint64_t of)
{
    return (uint64_t)kind << 60 | of;
}

static bool fence_call(struct trim *s, const struct trc_call *c)
{
    switch (c->method) {
    case D12_ID3D12CommandQueue_Signal:
        replace(s, TRIM_SIGNAL, key(KEY_FENCE, first_arg(c)));
        remember(s, c, TRIM_SIGNAL, key(KEY_FENCE, first_arg(c)));
        return true;
    case D12_ID3D12Fence_Signal:
        replace(s, TRIM_SIGNAL, key(KEY_FENCE, c->self));
        remember(s, c, TRIM_SIGNAL, key(KEY_FENCE, c->self));
        return true;
    case D12_ID3D12Fence_SetEventOnCompletion:
        if (nth_arg(c, 1)) {
            replace(s, TRIM_SIGNAL, key(KEY_PENDING, nth_arg(c, 1)));
            remember(s, c, TRIM_SIGNAL, key(KEY_PENDING, nth_arg(c, 1)));
        }
        return true;
    case D12_Native_EventSignal:
        replace(s, TRIM_SIGNAL, key(KEY_PENDING, first_arg(c)));
        remember(s, c, TRIM_SIGNAL, key(KEY_PENDING, first_arg(c)));
        return true;
    case D12_Native_EventWait:
    case D12_Native_WaitFor:
        replace(s, TRIM_SIGNAL, key(KEY_PENDING, first_arg(c)));
        return true;
    case D12_Native_EventCreate:
    case D12_Native_EventDestroy:
        replace(s, TRIM_MAKE, key(KEY_EVENT, first_arg(c)));
        if (c->method == D12_Native_EventCreate)
            remember(s, c, TRIM_MAKE, key(KEY_EVENT, first_arg(c)));
        return true;
    default:
        return false;
    }
}

static bool reference_call(struct trim *s, const struct trc_call *c)
{
    struct trim_object *o = trim_object(s, c->self);
    struct bytes in = bytes_of(c->args + c->args_size, c->size - c->args_size);

    if (c->method == D12_IUnknown_AddRef) {
        if (o)
            o->refs++;
    } else if (c->method == D12_IUnknown_Release) {
        if (o) {
            o->refs--;
            if (!c->incomplete && !bytes_varint(&in))
                o->dead = true;
        }
    } else {
        return false;
    }
    return true;
}

/* Calls whose effect ends with the frame that they are in, or that the contents of resources stand for. */
static bool has_no_effect(const struct trc_call *c)
{
    switch (c->method) {
    case D12_ID3D12CommandQueue_ExecuteCommandLists:
    case D12_ID3D12CommandQueue_Wait:
    case D12_ID3D12CommandAllocator_Reset:
    case D12_ID3D12Resource_WriteToSubresource:
    case D12_ID3D12Fence_GetCompletedValue:
    case D12_Native_Present:
    case D12_Native_FrameHash:
    case D12_Native_MemoryWrite:
    case D12_Native_ReadbackHash:
    case D12_Native_Contents:
    case D12_Native_FenceSeen:
        return true;
    default:
        return c->m->flags & API_QUERY;
    }
}

static void made(struct trim *s, const struct trc_call *c, size_t i)
{
    const struct api_method *m = c->m;
    uint32_t ids[4];
    size_t n = names_mentioned(c, true, ids, 4);

    for (size_t k = 0; k < n; k++) {
        struct trim_object *o = make_object(s, ids[k]);

        if (!o) {
            s->failed = true;
            return;
        }
        o->refs++;
        if (o->iface != 0xffff)
            continue;
        o->iface = 0;
        for (uint32_t f = 0; f < m->num_out; f++)
            if (m->out[f].type && m->out[f].type->kind == API_KIND_OBJECT)
                o->iface = m->out[f].type->iface;
        if (i != NONE) {
            s->calls[i].made = ids[k];
            o->maker = (uint32_t)i + 1;
        }
    }
}

static void trim_check(const struct trim *s)
{
    INVARIANT(s->num <= s->cap);
    INVARIANT(s->num_spare <= s->cap_spare && s->num_spare <= s->num);
    INVARIANT(!s->num_spare || s->calls[s->spare[s->num_spare - 1]].gone);
    INVARIANT(!s->num_objects || s->objects);
}

void trim_follow(struct trim *s, const struct trc_call *c)
{
    const struct api_method *m = c->m;
    struct trim_object *o;
    uint32_t ids[4];

    trim_check(s);
    if (c->incomplete || s->failed)
        return;
    if (begins(m->iface, "ID3D12GraphicsCommandList"))
        list_call(s, c);
    else if (makes_view(c->method))
        make_view(s, c);
    else if (c->method == D12_ID3D12Device_CopyDescriptors ||
             c->method == D12_ID3D12Device_CopyDescriptorsSimple)
        copy_views(s, c);
    else if (c->method == D12_ID3D12Resource_Map || c->method == D12_ID3D12Resource_Unmap)
        map_call(s, c);
    else if (reference_call(s, c) || fence_call(s, c))
        return;
    else if (c->method == D12_ID3D12Resource_GetGPUVirtualAddress ||
             c->method == D12_ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart ||
             c->method == D12_ID3D12DescriptorHeap_GetGPUDescriptorHandleForHeapStart) {
        bool *has;

        o = trim_object(s, c->self);
        if (!o)
            return;
        has = c->method == D12_ID3D12Resource_GetGPUVirtualAddress                       ? &o->has_va
              : c->method == D12_ID3D12DescriptorHeap_GetCPUDescriptorHandleForHeapStart ? &o->has_cpu
                                                                                         : &o->has_gpu;
        if (!*has)
            remember(s, c, TRIM_MAKE, 0);
        *has = true;
    } else if (names_mentioned(c, true, ids, 4)) {
        bool fresh = !trim_object(s, ids[0]);

        /* GetDevice and QueryInterface bring what is there already: a reference more */
        made(s, c, fresh || c->method == D12_IUnknown_QueryInterface ? remember(s, c, TRIM_MAKE, 0) : NONE);
    } else if (!has_no_effect(c)) {
        remember(s, c, TRIM_MAKE, 0);
    }
}

/* ---- the cut ------------------------------------------------------------- */

static bool alive(struct trim *s, uint32_t id)
{
    struct trim_object *o = trim_object(s, id);

    return o && !o->dead;
}

static bool all_alive(struct trim *s, const struct trim_call *t)
{
    if (t->call.self && !alive(s, t->call.self))
        return false;
    for (uint32_t i = 0; i < t->num_refs; i++)
        if (!alive(s, t->refs[i]))
            return false;
    return true;
}

static void need(struct trim *s, const struct trim_call *t)
{
    struct trim_object *o = trim_object(s, t->call.self);

    if (o)
        o->needed = true;
    for (uint32_t i = 0; i < t->num_refs; i++)
        if ((o = trim_object(s, t->refs[i])))
            o->needed = true;
}

void trim_mark(struct trim *s)
{
    trim_check(s);
    for (uint32_t i = 2; i < s->num_objects; i++)
        s->objects[i].needed = alive(s, i);
    for (size_t i = s->num; i-- > 0;) {
        struct trim_call *t = &s->calls[i];
        struct trim_object *o = trim_object(s, t->made ? t->made : t->call.self);

        if (t->gone || t->stage != TRIM_MAKE)
            continue;
        if (t->made)
            t->keep = o && o->needed;
        else /* names and the like: for what is alive; what has no object of its own (events): always */
            t->keep = all_alive(s, t) || (!t->call.self && !t->num_refs) || (o && o->needed && !t->num_refs);
        if (t->keep)
            need(s, t);
    }
    for (size_t i = 0; i < s->num; i++)
        if (!s->calls[i].gone && s->calls[i].stage != TRIM_MAKE)
            s->calls[i].keep = all_alive(s, &s->calls[i]);
    for (size_t i = 0; i < s->num; i++)
        INVARIANT(!s->calls[i].gone || (!s->calls[i].call.args && !s->calls[i].num_refs));
}

void trim_finish(struct trim *s)
{
    for (size_t i = 0; i < s->num; i++) {
        free((void *)s->calls[i].call.args);
        free(s->calls[i].refs);
    }
    for (uint32_t i = 0; i < s->num_objects; i++)
        free(s->objects[i].list);
    free(s->calls);
    free(s->spare);
    free(s->objects);
    map_finish(&s->views);
    *s = (struct trim){0};
}
