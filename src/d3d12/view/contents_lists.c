/* SPDX-License-Identifier: MIT */
/* contents_lists.c: what lists do to resources when they are executed, and what their shaders may do. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "d3d12/gen/table.h"
#include "d3d12/view/contents.h"
#include "d3d12/view/format.h"
#include "d3d12/view/root_signature.h"
#include "d3d12/view/shader.h"
#include "d3d12_api.h"
#include "record/walk.h"

#define MAX_TARGETS 9
#define MAX_VIEWS   4 /* stream output: twice as many addresses */
#define WHOLE       UINT64_MAX

enum kind {
    OP_AT,      /* a draw or dispatch: what comes behind is done by it */
    OP_COPY,    /* `size` bytes from `from`, or all */
    OP_UNKNOWN, /* so many bytes of `to` */
    OP_VALUE,   /* four bytes: `from` */
    OP_WROTE,   /* a texture, or subresource `to_at` of it */
    OP_VIEWS,   /* what `size` descriptors from `to_at` of heap `to` let a shader write */
    OP_ALL,     /* whatever a shader can write */
    OP_BUNDLE
};

struct op {
    enum kind kind;
    uint64_t call, to, to_at, from, from_at, size;
};

struct address {
    uint64_t base, at; /* of a resource, or of a heap of descriptors */
};

struct bound {
    uint64_t root;
    struct address of[ROOT_MAX_PARAMETERS];
};

struct listed {
    struct op *ops;
    size_t num, room;
    uint64_t targets[MAX_TARGETS];
    size_t num_targets;
    struct bound graphics, compute;
    uint64_t pipeline;
    struct {
        struct address at, filled;
        uint64_t size;
    } streams[MAX_VIEWS];
    bool bundle;
};

enum writes { WRITES_ALL, WRITES_NOTHING, WRITES_VIEWS }; /* of a pipeline; the first: it is not known */

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

/* ---- picking arguments --------------------------------------------------- */

struct seen { /* of a call: what it mentions, in order */
    uint64_t objects[4], numbers[12];
    struct address at[2 * MAX_VIEWS + MAX_TARGETS];
    size_t num_objects, num_numbers, num_at;
};

static void on_seen(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct seen *s = ctx;

    if (!v->type)
        return;
    if (v->type->kind == API_KIND_OBJECT) {
        if (s->num_objects < 4)
            s->objects[s->num_objects++] = v->u;
    } else if (v->type->kind == API_KIND_VA || v->type->kind == API_KIND_CPU ||
               v->type->kind == API_KIND_GPU) {
        if (s->num_at < 2 * MAX_VIEWS + MAX_TARGETS)
            s->at[s->num_at++] = (struct address){v->raw ? 0 : v->u, v->offset};
    } else if (s->num_numbers < 12) {
        s->numbers[s->num_numbers++] = v->u;
    }
}

static struct seen seen_in(const struct trc_call *c)
{
    struct seen s = {0};
    const struct walk_visitor v = {.value = on_seen, .ctx = &s};

    walk_args(c, &v);
    return s;
}

/* ---- pipelines and root signatures --------------------------------------- */

struct shaders {
    struct trc *t;
    enum writes writes;
    unsigned num;
};

static void on_shader(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct shaders *x = ctx;
    const uint8_t *bytes = v->bytes;
    size_t size = (size_t)v->size;

    if (v->type)
        return;
    if (v->blob)
        bytes = trc_blob(x->t, v->blob - 1, &size, NULL);
    if (!bytes || !dxbc_is(bytes, size))
        return;
    x->num++;
    if (shader_may_write(bytes, size) && x->writes != WRITES_ALL)
        x->writes = WRITES_VIEWS;
}

static int pipeline_made(struct contents *x, struct trc *t, const struct trc_call *c)
{
    struct shaders s = {.t = t, .writes = WRITES_NOTHING};
    const struct walk_visitor v = {.value = on_shader, .ctx = &s};
    struct id_list made = {0};
    int err = names_mentioned(c, true, &made);

    walk_args(c, &v);
    for (size_t i = 0; i < made.num && !err; i++) {
        uint64_t *slot = map_put(&x->pipelines, made.ids[i]);

        if (slot)
            *slot = s.num ? s.writes : WRITES_ALL;
        else
            err = -ENOMEM;
    }
    free(made.ids);
    return err;
}

static void root_finish(struct root_signature *r)
{
    root_signature_finish(r);
    free(r);
}

struct blob {
    struct trc *t;
    const uint8_t *bytes;
    size_t size;
};

static void on_blob(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct blob *b = ctx;

    if (v->type || b->bytes)
        return;
    b->size = (size_t)v->size;
    b->bytes = v->blob ? trc_blob(b->t, v->blob - 1, &b->size, NULL) : v->bytes;
}

static int root_made(struct contents *x, struct trc *t, const struct trc_call *c)
{
    struct blob b = {.t = t};
    const struct walk_visitor v = {.value = on_blob, .ctx = &b};
    struct root_signature *r;
    struct id_list made = {0};
    uint64_t *slot;
    int err = names_mentioned(c, true, &made);

    walk_args(c, &v);
    if (err || !b.bytes || !made.num || map_find(&x->roots, made.ids[0])) {
        free(made.ids);
        return err;
    }
    r = calloc(1, sizeof(*r));
    err = r ? root_signature_read(r, b.bytes, b.size, NULL) : -ENOMEM;
    if (!err && !(slot = map_put(&x->roots, made.ids[0])))
        err = -ENOMEM;
    if (!err)
        *slot = (uintptr_t)r;
    else if (r)
        root_finish(r);
    free(made.ids);
    return err == -EBADMSG ? 0 : err; /* nothing is known of it then */
}

/* ---- recording ----------------------------------------------------------- */

static int push(struct listed *l, struct op o)
{
    if (array_reserve(l->ops, l->room, l->num + 1))
        return -ENOMEM;
    l->ops[l->num++] = o;
    return 0;
}

static int view_made(struct contents *x, const struct trc_call *c)
{
    struct seen s = seen_in(c);
    uint64_t *slot = s.num_at ? map_put(&x->targets, follow_place(s.at[0].base, s.at[0].at)) : &(uint64_t){0};

    if (!slot)
        return -ENOMEM;
    *slot = s.objects[0];
    return 0;
}

static uint64_t target(const struct contents *x, const struct address *at)
{
    const uint64_t *r = at->base ? map_find(&x->targets, follow_place(at->base, at->at)) : NULL;

    return r ? *r : 0;
}

static void bind(struct bound *b, const struct trc_call *c, const char *what)
{
    struct seen s = seen_in(c);

    if (!strcmp(what, "Signature")) {
        if (b->root != s.objects[0])
            memset(b->of, 0, sizeof(b->of));
        b->root = s.objects[0];
    } else if (s.num_at && s.numbers[0] < ROOT_MAX_PARAMETERS) {
        b->of[s.numbers[0]] = s.at[0];
    }
}

/* What the shaders of a draw or dispatch may write. */
static int push_shaders(struct contents *x, struct listed *l, const struct bound *b, uint64_t call)
{
    const uint64_t *p = map_find(&x->pipelines, l->pipeline);
    const struct root_signature *r = map_pointer(&x->roots, b->root);
    enum writes writes = p ? (enum writes) * p : WRITES_ALL;
    int err = 0;

    if (writes == WRITES_NOTHING)
        return 0;
    if (writes == WRITES_ALL || !r || l->bundle) /* a bundle has what its caller bound */
        return push(l, (struct op){.kind = OP_ALL, .call = call});
    for (uint32_t i = 0; i < r->num && !err; i++) {
        const struct root_parameter *q = &r->parameters[i];
        const struct address *a = &b->of[i];

        if (q->kind == D3D12_ROOT_PARAMETER_TYPE_UAV && a->base)
            err = push(
                l,
                (struct op){.kind = OP_UNKNOWN, .call = call, .to = a->base, .to_at = a->at, .size = WHOLE});
        for (size_t k = 0;
             q->kind == D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE && a->base && k < q->ranges && !err; k++) {
            const struct root_range *g = &r->ranges[q->first_range + k];

            if (g->kind == D3D12_DESCRIPTOR_RANGE_TYPE_UAV && g->count > 4096)
                err = push(l, (struct op){.kind = OP_ALL, .call = call});
            else if (g->kind == D3D12_DESCRIPTOR_RANGE_TYPE_UAV)
                err = push(l, (struct op){.kind = OP_VIEWS,
                                          .call = call,
                                          .to = a->base,
                                          .to_at = a->at + g->first,
                                          .size = g->count});
        }
    }
    return err;
}

static int push_draw(struct contents *x, struct listed *l, const struct trc_call *c, bool draws,
                     bool computes)
{
    int err = push(l, (struct op){.kind = OP_AT, .call = c->index});

    if (!err && draws)
        err = push_shaders(x, l, &l->graphics, c->index);
    if (!err && computes)
        err = push_shaders(x, l, &l->compute, c->index);
    for (size_t i = 0; i < l->num_targets && !err && draws; i++)
        err = push(l, (struct op){.kind = map_find(&x->buffers, l->targets[i]) ? OP_UNKNOWN : OP_WROTE,
                                  .call = c->index,
                                  .to = l->targets[i],
                                  .to_at = map_find(&x->buffers, l->targets[i]) ? 0 : CONTENTS_WHOLE,
                                  .size = WHOLE});
    for (size_t i = 0; i < MAX_VIEWS && !err && draws; i++) {
        if (l->streams[i].at.base)
            err = push(l, (struct op){.kind = OP_UNKNOWN,
                                      .call = c->index,
                                      .to = l->streams[i].at.base,
                                      .to_at = l->streams[i].at.at,
                                      .size = l->streams[i].size});
        if (l->streams[i].filled.base && !err)
            err = push(l, (struct op){.kind = OP_UNKNOWN,
                                      .call = c->index,
                                      .to = l->streams[i].filled.base,
                                      .to_at = l->streams[i].filled.at,
                                      .size = 8});
    }
    return err;
}

/* Of ExecuteIndirect: by its command signature, which may bind anything. */
static int push_indirect(struct contents *x, struct listed *l, const struct trc_call *c)
{
    struct seen s = seen_in(c);
    struct follow_object *o =
        s.objects[0] <= UINT32_MAX ? follow_object(x->defined, (uint32_t)s.objects[0]) : NULL;
    const struct trc_call *made =
        o && o->maker && o->maker <= x->defined->num ? &x->defined->calls[o->maker - 1].call : NULL;
    bool computes = !made, draws = !made, all = !made;

    if (made) {
        struct seen m = seen_in(made); /* stride, how many, then each: its type first */
        uint64_t last = 0;

        for (size_t i = 2; i < m.num_numbers; i++) {
            all |= m.numbers[i] == D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW;
            last = m.numbers[i];
        }
        computes = m.num_numbers < 3 || last >= D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH || m.num_numbers > 4;
        draws = m.num_numbers < 3 || last != D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH || m.num_numbers > 4;
        all |= m.num_numbers == 12;
    }
    if (all) {
        int err = push_draw(x, l, c, false, false);

        return err ? err : push(l, (struct op){.kind = OP_ALL, .call = c->index});
    }
    return push_draw(x, l, c, draws, computes);
}

static int push_copy(struct listed *l, const struct trc_call *c)
{
    struct seen s = seen_in(c);
    struct op o = {
        .kind = OP_COPY, .call = c->index, .to = s.objects[0], .from = s.objects[1], .size = WHOLE};

    if (c->method == D12_ID3D12GraphicsCommandList_CopyBufferRegion) {
        o.to_at = s.numbers[0];
        o.from_at = s.numbers[1];
        o.size = s.numbers[2];
    }
    return push(l, o);
}

/* Into a buffer from a texture, or into a texture. */
static int push_texture_copy(struct contents *x, struct listed *l, const struct trc_call *c)
{
    struct seen s = seen_in(c); /* type; offset, format, width, height, depth, pitch */
    bool buffer = map_find(&x->buffers, s.objects[0]) != NULL;
    bool placed = buffer && s.numbers[0] == D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
    uint64_t sub = s.numbers[0] == D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX ? s.numbers[1] : CONTENTS_WHOLE;

    return push(l,
                (struct op){.kind = buffer ? OP_UNKNOWN : OP_WROTE,
                            .call = c->index,
                            .to = s.objects[0],
                            .to_at = placed   ? s.numbers[1]
                                     : buffer ? 0
                                              : sub,
                            .size = placed && s.num_numbers > 6 ? s.numbers[6] * s.numbers[4] * s.numbers[5]
                                                                : WHOLE});
}

static int push_immediates(struct listed *l, const struct trc_call *c)
{
    struct seen s = seen_in(c); /* how many, then the value of each, then their modes */
    int err = 0;

    if (s.numbers[0] >= 6) /* more than are seen */
        return push(l, (struct op){.kind = OP_ALL, .call = c->index});
    for (size_t i = 0; i < s.num_at && i < s.numbers[0] && !err; i++)
        err = push(l, (struct op){.kind = OP_VALUE,
                                  .call = c->index,
                                  .to = s.at[i].base,
                                  .to_at = s.at[i].at,
                                  .from = s.numbers[1 + i]});
    return err;
}

static int push_query(struct listed *l, const struct trc_call *c)
{
    static const uint8_t sizes[] = {8, 8, 8, 88, 16, 16, 16, 16}; /* by D3D12_QUERY_TYPE */
    struct seen s = seen_in(c);                                   /* type, first, how many, offset */
    uint64_t size = s.numbers[0] < sizeof(sizes) ? sizes[s.numbers[0]] : 256;

    return push(l, (struct op){.kind = OP_UNKNOWN,
                               .call = c->index,
                               .to = s.objects[1],
                               .to_at = s.numbers[3],
                               .size = s.numbers[2] * size});
}

static void stream_targets(struct listed *l, const struct trc_call *c)
{
    struct seen s = seen_in(c); /* first slot, how many, then the size of each */

    for (size_t i = 0; i < s.numbers[1] && s.numbers[0] + i < MAX_VIEWS; i++) {
        bool there = 2 * i + 1 < s.num_at;

        l->streams[s.numbers[0] + i].at = there ? s.at[2 * i] : (struct address){0};
        l->streams[s.numbers[0] + i].filled = there ? s.at[2 * i + 1] : (struct address){0};
        l->streams[s.numbers[0] + i].size = there ? s.numbers[2 + i] : 0;
    }
}

static int begun(struct listed *l, const struct trc_call *c, uint64_t pipeline)
{
    struct op *ops = l->ops;
    size_t room = l->room;
    bool cleared = c->method == D12_ID3D12GraphicsCommandList_ClearState, bundle = l->bundle;
    size_t num = cleared ? l->num : 0;

    *l = (struct listed){.ops = ops, .room = room, .num = num, .bundle = bundle, .pipeline = pipeline};
    return 0;
}

/* Calls that write, and are none of the others: the object that they name first, or the place of a view. */
static int push_written(struct contents *x, struct listed *l, const struct trc_call *c)
{
    const char *name = c->m->name;
    struct seen s = seen_in(c);
    uint64_t to = 0, at = 0, size = WHOLE;

    if (begins(name, "ClearRenderTargetView") || begins(name, "ClearDepthStencilView")) {
        to = s.num_at ? target(x, &s.at[0]) : 0;
    } else if (begins(name, "ClearUnorderedAccessView") || begins(name, "Discard") ||
               begins(name, "Resolve") || begins(name, "CopyTiles")) {
        to = s.objects[0];
    } else if (begins(name, "AtomicCopyBuffer")) {
        to = s.objects[0];
        at = s.numbers[0];
        size = 8;
    } else if (begins(name, "BuildRaytracing") || begins(name, "CopyRaytracing") ||
               begins(name, "EmitRaytracing")) {
        to = s.num_at ? s.at[0].base : 0;
        at = s.num_at ? s.at[0].at : 0;
        return push(l, (struct op){.kind = OP_ALL, .call = c->index}); /* and what it works in */
    } else {
        return 0;
    }
    if (to && !map_find(&x->buffers, to))
        return push(l, (struct op){.kind = OP_WROTE, .call = c->index, .to = to, .to_at = CONTENTS_WHOLE});
    return to ? push(l,
                     (struct op){.kind = OP_UNKNOWN, .call = c->index, .to = to, .to_at = at, .size = size})
              : 0;
}

static int on_list(struct contents *x, const struct trc_call *c)
{
    struct listed *l = contents_made(&x->lists, c->self, sizeof(*l));
    const char *name = c->m->name;
    struct seen s;

    if (!l)
        return -ENOMEM;
    if (begins(name, "SetGraphicsRoot")) {
        bind(&l->graphics, c, name + 15);
    } else if (begins(name, "SetComputeRoot")) {
        bind(&l->compute, c, name + 14);
    } else if (begins(name, "Draw") || begins(name, "DispatchMesh")) {
        return push_draw(x, l, c, true, false);
    } else if (begins(name, "DispatchRays") || begins(name, "ExecuteMeta") ||
               begins(name, "InitializeMeta")) {
        return push_draw(x, l, c, false, false) || push(l, (struct op){.kind = OP_ALL, .call = c->index})
                   ? -ENOMEM
                   : 0;
    } else if (begins(name, "Dispatch")) {
        s = seen_in(c); /* of no group nothing is done */
        return push_draw(x, l, c, false, s.numbers[0] && s.numbers[1] && s.numbers[2]);
    } else if (begins(name, "ExecuteIndirect")) {
        return push_indirect(x, l, c);
    } else if (begins(name, "SetPipelineState")) {
        l->pipeline = seen_in(c).objects[0];
    } else if (!strcmp(name, "Reset") || !strcmp(name, "ClearState")) {
        s = seen_in(c);
        return begun(l, c, s.objects[!strcmp(name, "Reset")]);
    } else if (!strcmp(name, "CopyBufferRegion") || !strcmp(name, "CopyResource")) {
        return push_copy(l, c);
    } else if (begins(name, "CopyTextureRegion")) {
        return push_texture_copy(x, l, c);
    } else if (begins(name, "WriteBufferImmediate")) {
        return push_immediates(l, c);
    } else if (begins(name, "ResolveQueryData")) {
        return push_query(l, c);
    } else if (begins(name, "SOSetTargets")) {
        stream_targets(l, c);
    } else if (begins(name, "OMSetRenderTargets")) {
        s = seen_in(c);
        for (l->num_targets = 0; l->num_targets < s.num_at && l->num_targets < MAX_TARGETS; l->num_targets++)
            l->targets[l->num_targets] = target(x, &s.at[l->num_targets]);
    } else if (begins(name, "ExecuteBundle")) {
        return push(l, (struct op){.kind = OP_BUNDLE, .call = c->index, .to = seen_in(c).objects[0]});
    } else {
        return push_written(x, l, c);
    }
    return 0;
}

static int list_made(struct contents *x, const struct trc_call *c)
{
    struct seen s = seen_in(c); /* node, type; allocator, pipeline */
    struct id_list made = {0};
    struct listed *l;
    int err = names_mentioned(c, true, &made);

    for (size_t i = 0; i < made.num && !err; i++) {
        if (!(l = contents_made(&x->lists, made.ids[i], sizeof(*l))))
            err = -ENOMEM;
        else if (s.num_numbers > 1) {
            l->bundle = s.numbers[1] == D3D12_COMMAND_LIST_TYPE_BUNDLE;
            l->pipeline = s.objects[1];
        }
    }
    free(made.ids);
    return err;
}

int contents_list_call(struct contents *x, struct trc *t, const struct trc_call *c)
{
    const char *name = c->m->name;

    if (begins(c->m->iface, "ID3D12GraphicsCommandList"))
        return on_list(x, c);
    if (begins(name, "CreateCommandList"))
        return list_made(x, c);
    if (begins(name, "CreateRootSignature"))
        return root_made(x, t, c);
    if ((begins(name, "Create") || begins(name, "Load")) &&
        (strstr(name, "PipelineState") || strstr(name, "Pipeline")) && !strstr(name, "Library"))
        return pipeline_made(x, t, c);
    return c->method == D12_ID3D12Device_CreateRenderTargetView ||
                   c->method == D12_ID3D12Device_CreateDepthStencilView
               ? view_made(x, c)
               : 0;
}

/* ---- executing ----------------------------------------------------------- */

struct view { /* of a buffer: what a shader can write through it */
    uint64_t resource, counter, first, num, stride, format;
};

static void on_view(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct view *w = ctx;

    if (!v->type || !name)
        return;
    if (!strcmp(name, "pResource"))
        w->resource = v->u;
    else if (!strcmp(name, "pCounterResource"))
        w->counter = v->u;
    else if (!strcmp(name, "FirstElement"))
        w->first = v->u;
    else if (!strcmp(name, "NumElements"))
        w->num = v->u;
    else if (!strcmp(name, "StructureByteStride"))
        w->stride = v->u;
    else if (!strcmp(name, "Format"))
        w->format = v->u;
}

static int view_written(struct contents *x, uint64_t place, uint64_t call)
{
    const uint64_t *at = map_find(&x->defined->places, place);
    const struct trc_call *c = at && *at < x->defined->num ? &x->defined->calls[*at].call : NULL;
    struct view w = {0};
    const struct walk_visitor v = {.value = on_view, .ctx = &w};
    int row, err;

    if (!c || !begins(c->m->name, "CreateUnorderedAccessView"))
        return 0;
    walk_args(c, &v);
    err = contents_wrote(x, w.resource, CONTENTS_WHOLE, call);
    if (!err && w.counter > 1)
        err = contents_mark(x, w.counter, 0, WHOLE, CONTENTS_UNKNOWN, call);
    if (err || !map_find(&x->buffers, w.resource))
        return err;
    row = format_row((uint32_t)w.format);
    if (!w.stride)
        w.stride = w.format == DXGI_FORMAT_R32_TYPELESS ? 4 : row < 0 ? 0 : format_bytes(row);
    return w.stride && w.num
               ? contents_mark(x, w.resource, w.first * w.stride, w.num * w.stride, CONTENTS_UNKNOWN, call)
               : contents_mark(x, w.resource, 0, WHOLE, CONTENTS_UNKNOWN, call);
}

static int execute(struct contents *x, const struct op *o)
{
    uint32_t value = (uint32_t)o->from, sub = CONTENTS_WHOLE;
    int err = 0;

    switch (o->kind) {
    case OP_COPY:
        err = map_find(&x->buffers, o->to)
                  ? contents_copy(x, o->to, o->to_at, o->from, o->from_at, o->size, o->call)
                  : 0;
        break;
    case OP_UNKNOWN:
        err = contents_mark(x, o->to, o->to_at, o->size, CONTENTS_UNKNOWN, o->call);
        break;
    case OP_VALUE:
        err = contents_put(x, o->to, o->to_at, &value, sizeof(value));
        break;
    case OP_VIEWS:
        for (uint64_t i = 0; i < o->size && !err; i++)
            err = view_written(x, follow_place(o->to, o->to_at + i), o->call);
        return err;
    case OP_ALL:
        return contents_all_written(x, o->call);
    case OP_WROTE:
        sub = (uint32_t)o->to_at;
        break;
    default:
        return 0;
    }
    return err ? err : contents_wrote(x, o->to, sub, o->call);
}

int contents_execute(struct contents *x, uint64_t list, uint64_t caller, contents_at_call *at, void *ctx)
{
    const struct listed *l = map_pointer(&x->lists, list);
    int err = 0;

    for (size_t i = 0; l && i < l->num && !err; i++) {
        const struct op *o = &l->ops[i];

        if (o->kind == OP_BUNDLE)
            err = caller ? 0 : contents_execute(x, o->to, list, at, ctx); /* a bundle has no bundles */
        else if (o->kind == OP_AT)
            err = at(ctx, list, caller, o->call);
        else
            err = execute(x, o);
    }
    return err;
}

void contents_lists_finish(struct contents *x)
{
    struct map_slot s;
    size_t at = 0;

    while (map_next(&x->lists, &at, &s)) {
        free(((struct listed *)(uintptr_t)s.value)->ops);
        free((void *)(uintptr_t)s.value);
    }
    for (at = 0; map_next(&x->roots, &at, &s);)
        root_finish((struct root_signature *)(uintptr_t)s.value);
    map_finish(&x->lists);
    map_finish(&x->roots);
}
