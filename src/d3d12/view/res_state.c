/* SPDX-License-Identifier: MIT */
#include "d3d12/view/res_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/walk.h"

#define MAX_SUBS (1u << 20)

/* What a walk over one call picks up. */
struct seen {
    struct res_states *s;
    uint32_t list;
    int depth, err;
    uint32_t type, flags, resource, sub, after; /* of the barrier that is being read */
    uint32_t mip_count, slice, slices, plane,
        planes; /* of one with layouts; `sub` is its first mip, or the only subresource */
    uint32_t dimension, mips, layers, format, state, id;
    bool failed, in_desc;
};

static bool is(const char *a, const char *b)
{
    return a && !strcmp(a, b);
}

static void enter(void *ctx, const struct api_field *f, const char *name, bool array, uint64_t n)
{
    struct seen *x = ctx;

    x->depth++;
    if (is(name, "pDesc"))
        x->in_desc = true;
}

static void leave(void *ctx, bool array)
{
    ((struct seen *)ctx)->depth--;
}

/* ---- resources ----------------------------------------------------------- */

static unsigned planes(uint32_t format)
{
    switch (format) {
    case DXGI_FORMAT_R24G8_TYPELESS:
    case DXGI_FORMAT_D24_UNORM_S8_UINT:
    case DXGI_FORMAT_R32G8X24_TYPELESS:
    case DXGI_FORMAT_D32_FLOAT_S8X24_UINT:
        return 2;
    default:
        return 1;
    }
}

/* The state in which a layout leaves a texture for whoever knows states only. */
static uint32_t state_of_layout(uint32_t layout)
{
    static const uint32_t states[] = {
        [D3D12_BARRIER_LAYOUT_COMMON] = D3D12_RESOURCE_STATE_COMMON,
        [D3D12_BARRIER_LAYOUT_GENERIC_READ] = D3D12_RESOURCE_STATE_GENERIC_READ,
        [D3D12_BARRIER_LAYOUT_RENDER_TARGET] = D3D12_RESOURCE_STATE_RENDER_TARGET,
        [D3D12_BARRIER_LAYOUT_UNORDERED_ACCESS] = D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
        [D3D12_BARRIER_LAYOUT_DEPTH_STENCIL_WRITE] = D3D12_RESOURCE_STATE_DEPTH_WRITE,
        [D3D12_BARRIER_LAYOUT_DEPTH_STENCIL_READ] = D3D12_RESOURCE_STATE_DEPTH_READ,
        [D3D12_BARRIER_LAYOUT_SHADER_RESOURCE] =
            D3D12_RESOURCE_STATE_PIXEL_SHADER_RESOURCE | D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE,
        [D3D12_BARRIER_LAYOUT_COPY_SOURCE] = D3D12_RESOURCE_STATE_COPY_SOURCE,
        [D3D12_BARRIER_LAYOUT_COPY_DEST] = D3D12_RESOURCE_STATE_COPY_DEST,
        [D3D12_BARRIER_LAYOUT_RESOLVE_SOURCE] = D3D12_RESOURCE_STATE_RESOLVE_SOURCE,
        [D3D12_BARRIER_LAYOUT_RESOLVE_DEST] = D3D12_RESOURCE_STATE_RESOLVE_DEST,
        [D3D12_BARRIER_LAYOUT_SHADING_RATE_SOURCE] = D3D12_RESOURCE_STATE_SHADING_RATE_SOURCE,
    };
    static const uint8_t of_queue[] = {
        D3D12_BARRIER_LAYOUT_COMMON,           D3D12_BARRIER_LAYOUT_GENERIC_READ,
        D3D12_BARRIER_LAYOUT_UNORDERED_ACCESS, D3D12_BARRIER_LAYOUT_SHADER_RESOURCE,
        D3D12_BARRIER_LAYOUT_COPY_SOURCE,      D3D12_BARRIER_LAYOUT_COPY_DEST};

    if (layout >= D3D12_BARRIER_LAYOUT_DIRECT_QUEUE_COMMON &&
        layout <= D3D12_BARRIER_LAYOUT_COMPUTE_QUEUE_COPY_DEST)
        layout = of_queue[(layout - D3D12_BARRIER_LAYOUT_DIRECT_QUEUE_COMMON) % sizeof(of_queue)];
    return layout < sizeof(states) / sizeof(*states) ? states[layout] : D3D12_RESOURCE_STATE_COMMON;
}

static void on_create(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct seen *x = ctx;

    if (!v->type)
        return;
    if (x->in_desc && is(name, "Dimension"))
        x->dimension = (uint32_t)v->u;
    else if (x->in_desc && is(name, "MipLevels"))
        x->mips = (uint32_t)v->u;
    else if (x->in_desc && is(name, "DepthOrArraySize"))
        x->layers = (uint32_t)v->u;
    else if (x->in_desc && is(name, "Format") && !x->format)
        x->format = (uint32_t)v->u;
    else if (is(name, "InitialResourceState") || is(name, "InitialState") || is(name, "PresentState"))
        x->state = (uint32_t)v->u;
    else if (is(name, "InitialLayout"))
        x->state = state_of_layout((uint32_t)v->u);
    else if (is(name, "return"))
        x->failed = (int32_t)v->u < 0;
    else if (is(name, "ppvResource") || is(name, "ppResource"))
        x->id = (uint32_t)v->u;
}

static int add(struct seen *x, bool presentable)
{
    struct res_states *s = x->s;
    struct res_info *r;
    uint64_t subs;

    if (x->failed || x->id < 2 || x->id > 1u << 26)
        return 0;
    if (x->id >= s->num) {
        uint32_t n = s->num ? s->num : 256;
        struct res_info **p;

        while (n <= x->id)
            n *= 2;
        p = realloc(s->of, n * sizeof(*p));
        if (!p)
            return -ENOMEM;
        memset(p + s->num, 0, (n - s->num) * sizeof(*p));
        s->of = p;
        s->num = n;
    }
    if (s->of[x->id])
        return 0;
    r = calloc(1, sizeof(*r));
    if (!r)
        return -ENOMEM;
    r->id = x->id;
    r->presentable = presentable;
    r->buffer = x->dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
    subs = r->buffer ? 1
                     : (uint64_t)(x->mips ? x->mips : 1) *
                           (x->dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D ? 1
                            : x->layers                                        ? x->layers
                                                                               : 1) *
                           planes(x->format);
    r->num_subs = subs > MAX_SUBS ? MAX_SUBS : (uint32_t)subs;
    r->mips = x->mips ? x->mips : 1;
    r->layers = r->num_subs / planes(x->format) / r->mips;
    if (!r->buffer) {
        r->states = malloc(r->num_subs * sizeof(*r->states));
        if (!r->states) {
            free(r);
            return -ENOMEM;
        }
        for (uint32_t i = 0; i < r->num_subs; i++)
            r->states[i] = x->state;
    }
    s->of[x->id] = r;
    return 0;
}

const struct res_info *res_get(const struct res_states *s, uint32_t id)
{
    return id < s->num ? s->of[id] : NULL;
}

/* ---- barriers ------------------------------------------------------------ */

static struct res_list *find_list(struct res_states *s, uint32_t id)
{
    for (size_t i = 0; i < s->num_lists; i++)
        if (s->lists[i].id == id)
            return &s->lists[i];
    return NULL;
}

/* The same, made if it is not there; NULL without memory. */
static struct res_list *list_of(struct res_states *s, uint32_t id)
{
    struct res_list *l = find_list(s, id);

    if (l || array_reserve(s->lists, s->room_lists, s->num_lists + 1))
        return l;
    l = &s->lists[s->num_lists++];
    *l = (struct res_list){.id = id};
    return l;
}

static void on_barrier(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct seen *x = ctx;

    if (!v->type)
        return;
    if (is(name, "Type"))
        x->type = (uint32_t)v->u;
    else if (is(name, "Flags"))
        x->flags = (uint32_t)v->u;
    else if (is(name, "pResource"))
        x->resource = (uint32_t)v->u;
    else if (is(name, "Subresource"))
        x->sub = (uint32_t)v->u;
    else if (is(name, "StateAfter"))
        x->after = (uint32_t)v->u;
}

static void add_barrier(struct seen *x, uint32_t sub)
{
    struct res_list *l = list_of(x->s, x->list);

    if (l && !array_reserve(l->b, l->room, l->num + 1))
        l->b[l->num++] = (struct res_barrier){x->resource, sub, x->after};
    else
        x->err = -ENOMEM;
}

static void end_barrier(void *ctx, bool array)
{
    struct seen *x = ctx;

    if (--x->depth != 1 || array) /* the array, then the barrier: its end is the way back to depth 1 */
        return;
    if (x->type != D3D12_RESOURCE_BARRIER_TYPE_TRANSITION ||
        x->flags == D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY)
        return;
    add_barrier(x, x->sub);
}

/* Barriers with layouts stand in groups; those of textures alone have one. */
static void on_group(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    static const struct {
        const char *name;
        size_t at;
    } parts[] = {{"pResource", offsetof(struct seen, resource)},
                 {"LayoutAfter", offsetof(struct seen, after)},
                 {"IndexOrFirstMipLevel", offsetof(struct seen, sub)},
                 {"NumMipLevels", offsetof(struct seen, mip_count)},
                 {"FirstArraySlice", offsetof(struct seen, slice)},
                 {"NumArraySlices", offsetof(struct seen, slices)},
                 {"FirstPlane", offsetof(struct seen, plane)},
                 {"NumPlanes", offsetof(struct seen, planes)}};
    struct seen *x = ctx;

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (is(name, parts[i].name))
            *(uint32_t *)((char *)x + parts[i].at) = (uint32_t)v->u;
}

static bool within(uint32_t i, uint32_t first, uint32_t num)
{
    return i >= first && i - first < num;
}

static void end_group(void *ctx, bool array)
{
    struct seen *x = ctx;
    const struct res_info *r = res_get(x->s, x->resource);

    /* groups, a group, its barriers, a barrier: its end is the way back to the third */
    if (--x->depth != 3 || array)
        return;
    x->after = state_of_layout(x->after);
    if (!x->resource || !r || !r->states) /* what stands in other groups is no texture's */
        return;
    if (!x->mip_count)
        add_barrier(x, x->sub);
    for (uint32_t k = 0; k < r->num_subs && x->mip_count; k++)
        if (within(k % r->mips, x->sub, x->mip_count) &&
            within(k / r->mips % r->layers, x->slice, x->slices) &&
            within(k / r->mips / r->layers, x->plane, x->planes ? x->planes : 1))
            add_barrier(x, k);
    x->resource = 0;
}

static void execute(struct res_states *s, uint32_t list)
{
    struct res_list *l = find_list(s, list);

    for (size_t i = 0; l && i < l->num; i++) {
        struct res_info *r = l->b[i].resource < s->num ? s->of[l->b[i].resource] : NULL;

        if (!r || !r->states)
            continue;
        for (uint32_t k = 0; k < r->num_subs; k++)
            if (l->b[i].sub == k || l->b[i].sub == D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES)
                r->states[k] = l->b[i].after;
    }
}

static void on_execute(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct seen *x = ctx;

    if (v->type && v->type->kind == API_KIND_OBJECT)
        execute(x->s, (uint32_t)v->u);
}

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

/* In each of its versions. */
static bool creates_resource(const struct trc_call *c)
{
    const char *name = c->m->name;

    return c->method == D12_Native_SwapChainBuffer || c->method == D12_Native_CreateImageResource ||
           begins(name, "CreateCommittedResource") || begins(name, "CreatePlacedResource") ||
           begins(name, "CreateReservedResource");
}

int res_follow(struct res_states *s, const struct trc_call *c)
{
    struct seen x = {.s = s, .list = c->self};
    struct walk_visitor v = {.begin = enter, .end = leave, .value = on_create, .ctx = &x};
    struct bytes in = bytes_of(c->args, c->size);

    if (c->incomplete)
        return 0;
    if (c->method == D12_ID3D12GraphicsCommandList_ResourceBarrier) {
        v.value = on_barrier;
        v.end = end_barrier;
        walk_args(c, &v);
        return x.err;
    }
    if (c->method == D12_ID3D12GraphicsCommandList7_Barrier) {
        v.value = on_group;
        v.end = end_group;
        walk_args(c, &v);
        return x.err;
    }
    if (c->method == D12_ID3D12GraphicsCommandList_Reset) {
        struct res_list *l = list_of(s, c->self);

        if (l)
            l->num = 0;
        return l ? 0 : -ENOMEM;
    }
    if (c->method == D12_Native_Contents) {
        struct res_info *r;
        uint64_t id = bytes_varint(&in), sub = bytes_varint(&in), after = bytes_varint(&in);

        r = id < s->num ? s->of[id] : NULL;
        if (r && r->states && sub < r->num_subs)
            r->states[sub] = (uint32_t)after;
        return 0;
    }
    if (c->method == D12_ID3D12CommandQueue_ExecuteCommandLists) {
        v.value = on_execute;
        walk_args(c, &v);
        return 0;
    }
    if (!creates_resource(c))
        return 0;
    walk_args(c, &v);
    x.in_desc = false;
    walk_answers(c, &v);
    return add(&x, c->method == D12_Native_CreateImageResource || c->method == D12_Native_SwapChainBuffer);
}

void res_finish(struct res_states *s)
{
    for (uint32_t i = 0; i < s->num; i++)
        if (s->of[i]) {
            free(s->of[i]->states);
            free(s->of[i]);
        }
    for (size_t i = 0; i < s->num_lists; i++)
        free(s->lists[i].b);
    free(s->of);
    free(s->lists);
    *s = (struct res_states){0};
}
