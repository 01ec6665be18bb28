/* SPDX-License-Identifier: MIT */
/* play_look.c: what playing shows beside pictures of frames (play.h): the time that lists take on the GPU, the picture
 * after each draw, playing that stops before a draw, what a resource holds at the end.
 *
 * Times: a timestamp in front of and behind each list, and each draw that was asked for, two slots of a query heap each, resolved by a
 * list of the player's own right after the list was executed. Pictures: behind the draw the list copies its render target into
 * a buffer, which is saved once the list has been executed. Both wait for each execution.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/log.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/file/out.h"
#include "d3d12/play/play_internal.h"
#include "d3d12/play/play_pixel.h"
#include "d3d12/view/format.h"
#include "record/walk.h"

#define MAX_LISTS    4096
#define MAX_TIMED    4096 /* lists and draws that have times at once */
#define ALL          UINT64_MAX
#define IID_OF(name) ((const IID *)&d12_ifaces[D12_IFACE_##name].iid)

struct shot {                     /* a picture that a list will bring */
    uint32_t list, resource, sub; /* numbers */
    uint32_t z;
    DXGI_FORMAT format;
    uint64_t call;
    const struct api_method *m;
    bool before; /* the call */
    bool is_slice;
    ID3D12Resource *buffer;
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT layout;
    uint64_t row;
    bool saved; /* the list may be executed again: the buffer stays until it is reset */
};

struct timed {
    uint32_t list; /* object number; 0: it is free */
    uint64_t call; /* a draw on it, or ALL */
    const struct api_method *m;
    bool ended;
};

struct target { /* of a render target view */
    uint32_t heap, index, resource, sub;
    uint32_t z;         /* slice of a volume, of which subresources are mips alone */
    DXGI_FORMAT format; /* as the view has it; UNKNOWN: as the resource */
};

struct play_look {
    struct timespec start;
    /* times */
    ID3D12Device *device;
    ID3D12QueryHeap *heap;
    ID3D12Resource *back;
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *resolve;
    struct timed slots[MAX_TIMED]; /* each has two queries */
    uint32_t num_slots, lists;
    double frame_ms;
    bool no_time;
    /* pictures */
    struct target *targets;
    size_t num_targets, room_targets;
    struct {
        uint32_t list, heap, index;
    } bound[MAX_LISTS];
    uint32_t num_bound;
    struct shot *shots;
    size_t num_shots, room_shots;
    struct map pixels;  /* what the pixel was: play_pixel.h */
    struct map sampled; /* targets of several samples, which have no history */
};

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static bool on_list(const struct api_method *m)
{
    return begins(m->iface, "ID3D12GraphicsCommandList");
}

static bool draws(const struct api_method *m)
{
    return on_list(m) &&
           (begins(m->name, "Draw") || begins(m->name, "Dispatch") || begins(m->name, "Execute"));
}

/* Calls that make the GPU write something. */
static bool works(const struct api_method *m)
{
    return draws(m) || (on_list(m) && (begins(m->name, "Copy") || begins(m->name, "Resolve") ||
                                       (begins(m->name, "Clear") && strcmp(m->name, "ClearState"))));
}

static bool wants_draws(const struct player *p)
{
    return p->params->pixel ||
           ((p->params->png_dir || p->params->hashes) && p->params->draw_first <= p->params->draw_last);
}

int play_look_create(struct player *p)
{
    const struct play_params *q = p->params;
    const char *meta = trc_meta(p->trace);

    p->follow = q->dump_path || q->all_dir || q->hashes || wants_draws(p) || q->at ||
                (meta && strstr(meta, "\"cut_from\""));
    if (!q->gpu_time && !wants_draws(p) && !q->paced && q->stop_before == UINT64_MAX)
        return 0;
    p->look = calloc(1, sizeof(*p->look));
    if (!p->look)
        return -ENOMEM;
    clock_gettime(CLOCK_MONOTONIC, &p->look->start);
    return 0;
}

/* ---- idle ---------------------------------------------------------------- */

static int wait_for_queue(struct player *p, ID3D12CommandQueue *queue)
{
    ID3D12Device *device = NULL;
    ID3D12Fence *fence = NULL;
    bool done;

    if (FAILED(queue->lpVtbl->GetDevice(queue, IID_OF(ID3D12Device), (void **)&device)))
        return -EIO;
    done = SUCCEEDED(device->lpVtbl->CreateFence(device, 0, D3D12_FENCE_FLAG_NONE, IID_OF(ID3D12Fence),
                                                 (void **)&fence)) &&
           SUCCEEDED(queue->lpVtbl->Signal(queue, fence, 1)) && play_wait_fence(p, fence, 1);
    if (fence && done)
        fence->lpVtbl->Release(fence);
    device->lpVtbl->Release(device);
    return done ? 0 : -ETIMEDOUT;
}

int play_idle(struct player *p, struct error *e)
{
    for (uint32_t i = 0; i < p->num_objects; i++) {
        const struct play_object *o = &p->objects[i];

        if (!o->ptr || !d12_iface_is(o->iface, D12_IFACE_ID3D12CommandQueue))
            continue;
        if (wait_for_queue(p, o->ptr))
            return error_set(e, -ETIMEDOUT, "queue %u does not finish its work", i);
    }
    return 0;
}

/* ---- times --------------------------------------------------------------- */

static int slot_of(struct play_look *l, uint32_t list, uint64_t call, bool make)
{
    int unused = -1;

    for (uint32_t i = 0; i < l->num_slots; i++) {
        if (l->slots[i].list == list && l->slots[i].call == call)
            return (int)i;
        if (!l->slots[i].list)
            unused = (int)i;
    }
    if (unused < 0 && make && l->num_slots < MAX_TIMED)
        unused = (int)l->num_slots++;
    if (!make || unused < 0)
        return -1;
    l->slots[unused] = (struct timed){.list = list, .call = call};
    return unused;
}

/* The draws of a list that is begun anew. */
static void forget_times(struct play_look *l, uint32_t list)
{
    for (uint32_t i = 0; i < l->num_slots; i++)
        if (l->slots[i].list == list)
            l->slots[i] = (struct timed){0};
}

static bool timing_ready(struct play_look *l, ID3D12GraphicsCommandList *list)
{
    D3D12_QUERY_HEAP_DESC qd = {.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP, .Count = 2 * MAX_TIMED};
    ID3D12Device *device = NULL;

    if (l->no_time || FAILED(list->lpVtbl->GetDevice(list, IID_OF(ID3D12Device), (void **)&device)))
        return false;
    if (l->device) {
        device->lpVtbl->Release(device);
        return l->device == device;
    }
    l->device = device;
    if (FAILED(device->lpVtbl->CreateQueryHeap(device, &qd, IID_OF(ID3D12QueryHeap), (void **)&l->heap)) ||
        FAILED(play_buffer(device, D3D12_HEAP_TYPE_READBACK, 16 * MAX_TIMED, &l->back)) ||
        FAILED(device->lpVtbl->CreateCommandAllocator(device, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                      IID_OF(ID3D12CommandAllocator),
                                                      (void **)&l->allocator)) ||
        FAILED(device->lpVtbl->CreateCommandList(device, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, l->allocator,
                                                 NULL, IID_OF(ID3D12GraphicsCommandList),
                                                 (void **)&l->resolve))) {
        log_warn("d3d12", "this device has no timestamps");
        l->no_time = true;
        return false;
    }
    l->resolve->lpVtbl->Close(l->resolve);
    return true;
}

/* `c`: the draw; NULL: the list as a whole. */
static void stamp(struct play_look *l, ID3D12GraphicsCommandList *list, uint32_t id, const struct trc_call *c,
                  bool end)
{
    D3D12_COMMAND_LIST_TYPE type = list->lpVtbl->GetType(list);
    int slot;

    if ((type != D3D12_COMMAND_LIST_TYPE_DIRECT && type != D3D12_COMMAND_LIST_TYPE_COMPUTE) ||
        !timing_ready(l, list) || (slot = slot_of(l, id, c ? c->index : ALL, !end)) < 0)
        return;
    l->slots[slot].m = c ? c->m : NULL;
    l->slots[slot].ended = end;
    list->lpVtbl->EndQuery(list, l->heap, D3D12_QUERY_TYPE_TIMESTAMP, 2 * (UINT)slot + end);
}

static void tell_time(struct play_look *l, const struct timed *t, double ms)
{
    if (t->call == ALL) {
        l->frame_ms += ms;
        l->lists++;
    } else {
        printf("call %llu: %s: %.6f ms on the GPU\n", (unsigned long long)t->call, t->m->name, ms);
    }
}

static bool is_among(const uint32_t *lists, size_t n, uint32_t list)
{
    for (size_t i = 0; i < n; i++)
        if (lists[i] == list)
            return true;
    return false;
}

static void read_times(struct player *p, ID3D12CommandQueue *queue, const uint32_t *lists, size_t n)
{
    struct play_look *l = p->look;
    ID3D12GraphicsCommandList *r = l->resolve;
    uint64_t freq = 0, *ticks;

    if (!r || FAILED(queue->lpVtbl->GetTimestampFrequency(queue, &freq)) || !freq)
        return;
    l->allocator->lpVtbl->Reset(l->allocator);
    r->lpVtbl->Reset(r, l->allocator, NULL);
    for (uint32_t i = 0; i < l->num_slots; i++)
        if (l->slots[i].ended && is_among(lists, n, l->slots[i].list))
            r->lpVtbl->ResolveQueryData(r, l->heap, D3D12_QUERY_TYPE_TIMESTAMP, 2 * i, 2, l->back,
                                        16 * (UINT64)i);
    r->lpVtbl->Close(r);
    queue->lpVtbl->ExecuteCommandLists(queue, 1, (ID3D12CommandList *const *)&r);
    if (wait_for_queue(p, queue) || FAILED(l->back->lpVtbl->Map(l->back, 0, NULL, (void **)&ticks)))
        return;
    for (uint32_t i = 0; i < l->num_slots; i++)
        if (l->slots[i].ended && is_among(lists, n, l->slots[i].list) && ticks[2 * i + 1] >= ticks[2 * i])
            tell_time(l, &l->slots[i], (double)(ticks[2 * i + 1] - ticks[2 * i]) * 1e3 / (double)freq);
    l->back->lpVtbl->Unmap(l->back, 0, &(D3D12_RANGE){0});
}

static void frame_time(struct player *p, uint32_t frame)
{
    printf("frame %u: %.3f ms on the GPU in %u lists\n", frame, p->look->frame_ms, p->look->lists);
    p->result->gpu_ms += p->look->frame_ms;
    p->look->frame_ms = 0;
    p->look->lists = 0;
}

/* ---- pictures after draws ------------------------------------------------ */

struct picked { /* what a walk over one call picks up */
    uint64_t resource, first_object, heap, index, n, mip, first, format;
    uint32_t lists[64];
    size_t num_lists;
    bool handle_seen;
};

static void pick(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct picked *x = ctx;

    if (!v->type)
        return;
    if (v->type->kind == API_KIND_CPU && !v->raw && !x->handle_seen) {
        x->handle_seen = true;
        x->heap = v->u;
        x->index = v->offset;
    } else if (v->type->kind == API_KIND_OBJECT) {
        x->resource = v->u;
        x->first_object = x->first_object ? x->first_object : v->u;
        if (x->num_lists < 64)
            x->lists[x->num_lists++] = (uint32_t)v->u;
    } else if (name && !strcmp(name, "MipSlice")) {
        x->mip = v->u;
    } else if (name && (!strcmp(name, "FirstArraySlice") || !strcmp(name, "FirstWSlice"))) {
        x->first = v->u;
    } else if (name && !strcmp(name, "Format")) {
        x->format = v->u;
    }
}

static struct picked pick_args(const struct trc_call *c)
{
    struct picked x = {0};
    struct walk_visitor v = {.value = pick, .ctx = &x};

    walk_args(c, &v);
    return x;
}

static struct target *target_of(struct play_look *l, uint64_t heap, uint64_t index)
{
    for (size_t i = l->num_targets; i-- > 0;)
        if (l->targets[i].heap == heap && l->targets[i].index == index)
            return &l->targets[i];
    return NULL;
}

static void view_made(struct player *p, const struct trc_call *c)
{
    struct play_look *l = p->look;
    struct picked x = pick_args(c);
    struct target *t = target_of(l, x.heap, x.index);
    const struct play_object *o = play_object(p, (uint32_t)x.resource);
    D3D12_RESOURCE_DESC d = {0};

    if (!o || !o->ptr)
        return;
    ((ID3D12Resource *)o->ptr)->lpVtbl->GetDesc(o->ptr, &d);
    if (!t) {
        if (array_reserve(l->targets, l->room_targets, l->num_targets + 1))
            return;
        t = &l->targets[l->num_targets++];
    }
    *t = (struct target){.heap = (uint32_t)x.heap,
                         .index = (uint32_t)x.index,
                         .resource = (uint32_t)x.resource,
                         .format = (DXGI_FORMAT)x.format};
    if (d.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D) {
        t->sub = (uint32_t)x.mip;
        t->z = (uint32_t)x.first;
    } else {
        t->sub = (uint32_t)(x.mip + x.first * (d.MipLevels ? d.MipLevels : 1));
    }
}

static void targets_bound(struct play_look *l, const struct trc_call *c)
{
    struct picked x = pick_args(c);
    uint32_t i = 0;

    while (i < l->num_bound && l->bound[i].list != c->self)
        i++;
    if (i == MAX_LISTS)
        return;
    if (i == l->num_bound)
        l->num_bound++;
    l->bound[i].list = c->self;
    l->bound[i].heap = (uint32_t)x.heap;
    l->bound[i].index = (uint32_t)x.index;
}

/* The target that a draw on the list goes to, or that a clear names; NULL: none is known. */
static const struct target *target_at(struct play_look *l, const struct trc_call *c)
{
    struct picked x;

    if (begins(c->m->name, "ClearRenderTargetView")) {
        x = pick_args(c);
        return target_of(l, x.heap, x.index);
    }
    for (uint32_t i = 0; i < l->num_bound; i++)
        if (l->bound[i].list == c->self)
            return target_of(l, l->bound[i].heap, l->bound[i].index);
    return NULL;
}

/* Into a buffer of its own goes all of the target, or the pixel alone. */
static void copy_target(const struct play_params *q, ID3D12GraphicsCommandList *list, ID3D12Resource *from,
                        const struct shot *s, D3D12_RESOURCE_STATES state)
{
    const D3D12_SUBRESOURCE_FOOTPRINT *f = &s->layout.Footprint;
    const uint32_t x = q->pixel ? q->pixel_x : 0, y = q->pixel ? q->pixel_y : 0;
    const D3D12_BOX box = {x, y, s->z, x + f->Width, y + f->Height, s->z + 1};
    const D3D12_TEXTURE_COPY_LOCATION dst = {.pResource = s->buffer,
                                             .Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT,
                                             .PlacedFootprint = s->layout};
    const D3D12_TEXTURE_COPY_LOCATION src = {.pResource = from, .SubresourceIndex = s->sub};
    D3D12_RESOURCE_BARRIER b = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
                                .Transition = {from, s->sub, state, D3D12_RESOURCE_STATE_COPY_SOURCE}};

    list->lpVtbl->ResourceBarrier(list, 1, &b);
    list->lpVtbl->CopyTextureRegion(list, &dst, 0, 0, 0, &src, q->pixel || s->is_slice ? &box : NULL);
    b.Transition.StateBefore = D3D12_RESOURCE_STATE_COPY_SOURCE;
    b.Transition.StateAfter = state;
    list->lpVtbl->ResourceBarrier(list, 1, &b);
}

/* Calls that write to the texture that they name first, in the state that it is in then; 0: it is none. */
static D3D12_RESOURCE_STATES state_written(const struct api_method *m)
{
    if (!on_list(m))
        return 0;
    return begins(m->name, "CopyTextureRegion") || begins(m->name, "CopyResource")
               ? D3D12_RESOURCE_STATE_COPY_DEST
           : begins(m->name, "ResolveSubresource") ? D3D12_RESOURCE_STATE_RESOLVE_DEST
                                                   : 0;
}

/* Of `s` the layout is left to do; the whole target, or the pixel. Bytes of the buffer; 0: there is nothing to copy. */
static uint64_t lay_out(const struct play_params *q, ID3D12Device *device, const D3D12_RESOURCE_DESC *d,
                        struct shot *s)
{
    uint64_t total = 0;
    UINT rows;

    device->lpVtbl->GetCopyableFootprints(device, d, s->sub, 1, 0, &s->layout, &rows, &s->row, &total);
    s->layout.Footprint.Depth = 1; /* of a volume one slice */
    if (d->SampleDesc.Count > 1)
        return 0;
    if (!q->pixel)
        return total;
    if (q->pixel_x >= s->layout.Footprint.Width || q->pixel_y >= s->layout.Footprint.Height)
        return 0; /* it is not in this one */
    s->row /= s->layout.Footprint.Width;
    s->layout.Footprint.Width = s->layout.Footprint.Height = 1;
    s->layout.Footprint.RowPitch = D3D12_TEXTURE_DATA_PITCH_ALIGNMENT;
    return D3D12_TEXTURE_DATA_PITCH_ALIGNMENT;
}

static void take_shot(struct player *p, const struct trc_call *c, ID3D12GraphicsCommandList *list,
                      const struct target *t, D3D12_RESOURCE_STATES state, bool before)
{
    const struct play_params *q = p->params;
    struct play_look *l = p->look;
    const struct play_object *o;
    D3D12_RESOURCE_DESC d = {0};
    ID3D12Device *device;
    uint64_t total = 0;
    struct shot s;

    if (array_reserve(l->shots, l->room_shots, l->num_shots + 1) || !(o = play_object(p, t->resource)) ||
        !o->ptr || FAILED(list->lpVtbl->GetDevice(list, IID_OF(ID3D12Device), (void **)&device)))
        return;
    ((ID3D12Resource *)o->ptr)->lpVtbl->GetDesc(o->ptr, &d);
    s = (struct shot){.list = c->self,
                      .resource = t->resource,
                      .sub = t->sub,
                      .z = t->z,
                      .format = t->format,
                      .is_slice = d.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D,
                      .call = c->index,
                      .m = c->m,
                      .before = before};
    total = lay_out(q, device, &d, &s);
    if (q->pixel && d.SampleDesc.Count > 1 && !map_find(&l->sampled, t->resource)) {
        map_put(&l->sampled, t->resource);
        printf("call %llu: %s: resource %u has %u samples: of its pixels there is no history\n",
               (unsigned long long)c->index, c->m->name, t->resource, d.SampleDesc.Count);
    }
    if (total && SUCCEEDED(play_buffer(device, D3D12_HEAP_TYPE_READBACK, total, &s.buffer))) {
        copy_target(q, list, o->ptr, &s, state);
        l->shots[l->num_shots++] = s;
    }
    device->lpVtbl->Release(device);
}

/* Of what the call draws to or clears; or, where it copies, of each target in the texture that it copies to. */
static void take_picture(struct player *p, const struct trc_call *c, ID3D12GraphicsCommandList *list,
                         bool before)
{
    D3D12_RESOURCE_STATES state = state_written(c->m);
    struct play_look *l = p->look;
    const struct target *t = state ? NULL : target_at(l, c);
    uint64_t to = state ? pick_args(c).first_object : 0;

    if (t)
        take_shot(p, c, list, t, D3D12_RESOURCE_STATE_RENDER_TARGET, before);
    for (size_t i = 0; i < l->num_targets && to; i++) {
        const struct target *a = &l->targets[i];
        size_t k = 0;

        while (k < i && (l->targets[k].resource != a->resource || l->targets[k].sub != a->sub ||
                         l->targets[k].z != a->z))
            k++;
        if (a->resource == to && k == i) /* not another view of the same */
            take_shot(p, c, list, a, state, before);
    }
}

/* What the pixel is where it is another than behind the last call that has a line: a shader that writes to any place, or what no list
 * shows, did that. `resource`: in this one; 0: in all. */
static int tell_now(struct player *p, const char *where, uint32_t resource)
{
    const struct play_look *l = p->look;
    bool idle = false;
    int err = 0;

    for (size_t i = 0; i < l->num_targets && !err; i++) {
        const struct target *t = &l->targets[i];

        if ((resource && t->resource != resource) ||
            !play_pixel_is_known(&l->pixels, t->resource, t->sub, t->z))
            continue;
        err = idle ? 0 : play_idle(p, &p->error);
        idle = true;
        if (!err)
            err = play_pixel_now(p, &p->look->pixels, where, t->resource, t->sub, t->z);
    }
    return err;
}

static int tell_shot(struct player *p, const struct shot *s, const struct play_image *i)
{
    char where[100];

    snprintf(where, sizeof(where), "%scall %llu: %s", s->before ? "in front of " : "",
             (unsigned long long)s->call, s->m->name);
    return play_pixel_tell(p, &p->look->pixels, where, s->resource, s->sub, s->z, i->format, i->bytes,
                           i->size);
}

static int save_shot(struct player *p, struct shot *s)
{
    struct play_image i = {.width = s->layout.Footprint.Width,
                           .height = s->layout.Footprint.Height,
                           .rows = s->layout.Footprint.Height,
                           .row = s->row,
                           .format = s->format ? s->format : s->layout.Footprint.Format};
    char path[4096];
    uint8_t *data;
    int err = 0;

    if (FAILED(s->buffer->lpVtbl->Map(s->buffer, 0, NULL, (void **)&data)))
        return error_set(&p->error, -EIO, "cannot read the picture after call %llu",
                         (unsigned long long)s->call);
    i.size = i.row * i.rows;
    i.bytes = malloc(i.size ? i.size : 1);
    for (UINT y = 0; i.bytes && y < i.rows; y++)
        memcpy(i.bytes + y * i.row, data + s->layout.Offset + (size_t)y * s->layout.Footprint.RowPitch,
               i.row);
    s->buffer->lpVtbl->Unmap(s->buffer, 0, &(D3D12_RANGE){0});
    if (!i.bytes)
        return error_set(&p->error, -ENOMEM, "out of memory");
    if (p->params->pixel)
        err = tell_shot(p, s, &i);
    else if (p->params->hashes)
        printf("draw %llu %u %016llx\n", (unsigned long long)s->call, s->resource,
               (unsigned long long)XXH3_64bits(i.bytes, i.size));
    if (p->params->png_dir && !p->params->pixel) {
        snprintf(path, sizeof(path), "%s/draw-%08llu.png", p->params->png_dir, (unsigned long long)s->call);
        err = play_save_png(&i, false, path, &p->error);
    }
    free(i.bytes);
    return err;
}

static int executed(struct player *p, const struct trc_call *c)
{
    struct play_look *l = p->look;
    const struct play_object *o = play_object(p, c->self);
    struct picked x = pick_args(c);
    bool mine = false;
    int err = 0;

    if (!o || !o->ptr)
        return 0;
    if (p->params->gpu_time)
        read_times(p, o->ptr, x.lists, x.num_lists);
    for (size_t i = 0; i < l->num_shots && !mine; i++)
        mine = is_among(x.lists, x.num_lists, l->shots[i].list);
    /* also where all are saved: a list that is executed again writes their buffers again */
    if (mine && wait_for_queue(p, o->ptr))
        return error_set(&p->error, -ETIMEDOUT, "call %llu: its lists do not finish",
                         (unsigned long long)c->index);
    for (size_t k = 0; k < x.num_lists; k++)
        for (size_t i = 0; i < l->num_shots && !err;
             i++) { /* those of one list are in the order of its calls */
            if (l->shots[i].list != x.lists[k] || l->shots[i].saved)
                continue;
            err = save_shot(p, &l->shots[i]);
            l->shots[i].saved = true;
        }
    return err;
}

static void forget_shots(struct play_look *l, uint32_t list)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->num_shots; i++)
        if (l->shots[i].list == list)
            l->shots[i].buffer->lpVtbl->Release(l->shots[i].buffer);
        else
            l->shots[kept++] = l->shots[i];
    l->num_shots = kept;
}

/* A list that CreateCommandList makes is open from the start. */
static void list_made(struct player *p, const struct trc_call *c)
{
    struct bytes in = bytes_of(c->args + c->args_size, c->size - c->args_size);
    const struct play_object *o;
    uint32_t id;

    bytes_varint(&in); /* HRESULT */
    id = (uint32_t)bytes_varint(&in);
    o = play_object(p, id);
    if (o && o->ptr)
        stamp(p->look, o->ptr, id, NULL, false);
}

/* ---- the loop's hooks ---------------------------------------------------- */

static void pace(struct player *p, const struct trc_call *c)
{
    const struct timespec *s = &p->look->start;
    uint64_t ns = (uint64_t)s->tv_nsec + c->time_ns;
    struct timespec at = {.tv_sec = s->tv_sec + (time_t)(ns / 1000000000),
                          .tv_nsec = (long)(ns % 1000000000)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static bool changes_target(const struct api_method *m)
{
    return draws(m) || !strcmp(m->name, "ClearRenderTargetView") || state_written(m);
}

/* After draws; of a pixel's history clears and copies are part. */
static bool wants_picture(const struct play_params *q, const struct trc_call *c)
{
    if (c->index < q->draw_first || c->index > q->draw_last)
        return q->pixel && q->draw_first > q->draw_last && changes_target(c->m);
    return draws(c->m) || (q->pixel && changes_target(c->m));
}

static bool wants_time(const struct play_params *q, const struct trc_call *c)
{
    return q->gpu_time && draws(c->m) && c->index >= q->draw_first && c->index <= q->draw_last;
}

int play_look_before(struct player *p, const struct trc_call *c)
{
    const struct api_method *m = c->m;
    const struct play_object *o = play_object(p, c->self);
    char where[60];

    if (p->params->paced && c->method == D12_Native_Present)
        pace(p, c);
    if (c->index >= p->params->stop_before && works(m))
        return 1;
    if (p->params->gpu_time && c->method == D12_ID3D12GraphicsCommandList_Close && o && o->ptr)
        stamp(p->look, o->ptr, c->self, NULL, true);
    if (o && o->ptr && wants_time(p->params, c))
        stamp(p->look, o->ptr, c->self, c, false);
    /* what copies and other lists did is not the draw's */
    if (p->params->pixel && o && o->ptr && wants_picture(p->params, c))
        take_picture(p, c, o->ptr, true);
    if (p->params->pixel &&
        c->method == D12_IUnknown_Release) { /* it may be the last time that it is there */
        snprintf(where, sizeof(where), "in front of call %llu: Release", (unsigned long long)c->index);
        return tell_now(p, where, c->self);
    }
    return 0;
}

int play_look_after(struct player *p, const struct trc_call *c)
{
    const struct play_object *o = play_object(p, c->self);

    if (o && o->ptr && wants_time(p->params, c)) /* in front of what the player does behind it */
        stamp(p->look, o->ptr, c->self, c, true);
    if (p->params->gpu_time) {
        if (c->method == D12_ID3D12GraphicsCommandList_Reset && o && o->ptr) {
            forget_times(p->look, c->self);
            stamp(p->look, o->ptr, c->self, NULL, false);
        }
        if (c->method == D12_ID3D12Device_CreateCommandList)
            list_made(p, c);
        if (c->method == D12_Native_Present)
            frame_time(p, c->frame);
    }
    if (c->method == D12_ID3D12GraphicsCommandList_Reset)
        forget_shots(p->look, c->self);
    if (wants_draws(p)) {
        if (c->method == D12_ID3D12Device_CreateRenderTargetView)
            view_made(p, c);
        else if (c->method == D12_ID3D12GraphicsCommandList_OMSetRenderTargets)
            targets_bound(p->look, c);
        else if (o && o->ptr && wants_picture(p->params, c))
            take_picture(p, c, o->ptr, false);
    }
    return c->method == D12_ID3D12CommandQueue_ExecuteCommandLists ? executed(p, c) : 0;
}

static int dump(struct player *p)
{
    const struct play_params *q = p->params;
    const struct res_info *r = res_get(&p->states, q->dump_resource);
    const struct play_object *o = play_object(p, q->dump_resource);
    D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_COMMON;
    size_t n = strlen(q->dump_path);
    struct play_image i;
    FILE *f;
    int err;

    if (!r || !o || !o->ptr)
        return error_set(&p->error, -ENOENT, "there is no resource %u at the end of what was played",
                         q->dump_resource);
    if (r->states && q->dump_sub >= r->num_subs)
        return error_set(&p->error, -ENOENT, "resource %u has %u subresources, and no %u", r->id, r->num_subs,
                         q->dump_sub);
    if (r->states)
        state = (D3D12_RESOURCE_STATES)r->states[q->dump_sub];
    if ((err = play_idle(p, &p->error)) ||
        (err = play_read(p, NULL, o->ptr, q->dump_sub, state, &i, &p->error)))
        return err;
    if (n > 4 && !strcmp(q->dump_path + n - 4, ".png")) {
        err = play_is_picture(&i) ? play_save_png(&i, false, q->dump_path, &p->error)
                                  : error_set(&p->error, -ENOTSUP,
                                              "resource %u has no picture: not four bytes a pixel", r->id);
    } else {
        f = out_file_whole(q->dump_path, &p->error);
        if (!f) {
            free(i.bytes);
            return p->error.code;
        }
        fwrite(i.bytes, 1, i.size, f);
        err = out_file_close(f, q->dump_path, 0, &p->error);
        if (!err)
            utf8_print(stdout, "%s: %zu bytes of resource %u", q->dump_path, i.size, r->id);
        if (!err && i.width)
            printf(", %u x %u, format %d, %llu bytes a row", i.width, i.height, (int)i.format,
                   (unsigned long long)i.row);
        if (!err)
            printf("\n");
    }
    free(i.bytes);
    return err;
}

/* Every resource that is there: a picture where PNG has a way for it, else its first bytes; or a hash. What cannot be read
 * is left out. */
static int dump_all(struct player *p)
{
    int err = play_idle(p, &p->error);

    for (uint32_t id = 2; id < p->states.num && !err; id++) {
        const struct res_info *r = res_get(&p->states, id);
        const struct play_object *o = play_object(p, id);

        for (uint32_t sub = 0; r && o && o->ptr && sub < r->num_subs && sub < 32; sub++) {
            struct play_image i;
            struct error e = {0};
            char path[4096];
            FILE *f;

            if (play_read(p, NULL, o->ptr, sub, r->states ? (D3D12_RESOURCE_STATES)r->states[sub] : 0, &i,
                          &e))
                continue;
            if (p->params->hashes)
                printf("resource %u %u %016llx\n", id, sub, (unsigned long long)XXH3_64bits(i.bytes, i.size));
            if (!p->params->all_dir) {
                free(i.bytes);
                continue;
            }
            snprintf(path, sizeof(path), "%s/res-%u-%u.%s", p->params->all_dir, id, sub,
                     play_is_picture(&i) ? "png" : "bin");
            if (play_is_picture(&i)) {
                err = play_save_png(&i, true, path, &p->error);
            } else if ((f = out_file_whole(path, &p->error))) {
                fwrite(i.bytes, 1, i.size < 4096 ? i.size : 4096, f);
                err = out_file_close(f, path, 0, &p->error);
            } else {
                err = p->error.code;
            }
            free(i.bytes);
        }
    }
    return err;
}

int play_look_end(struct player *p)
{
    if ((p->params->all_dir || p->params->hashes) && dump_all(p))
        return p->error.code;
    if (p->params->pixel && !p->look->pixels.num && !p->look->sampled.num)
        return error_set(&p->error, -ENOENT,
                         "no draw or clear that was played has a render target with pixel %u,%u",
                         p->params->pixel_x, p->params->pixel_y);
    if (p->params->pixel && tell_now(p, "at the end", 0))
        return p->error.code;
    if (p->look && p->look->lists)
        frame_time(p, p->result->frames);
    return p->params->dump_path ? dump(p) : 0;
}

void play_look_finish(struct player *p)
{
    struct play_look *l = p->look;
    IUnknown *u[] = {l ? (IUnknown *)l->resolve : NULL, l ? (IUnknown *)l->allocator : NULL,
                     l ? (IUnknown *)l->back : NULL, l ? (IUnknown *)l->heap : NULL,
                     l ? (IUnknown *)l->device : NULL};

    for (size_t i = 0; l && !p->busy && i < 5; i++)
        if (u[i])
            u[i]->lpVtbl->Release(u[i]);
    for (size_t i = 0; l && !p->busy && i < l->num_shots; i++)
        l->shots[i].buffer->lpVtbl->Release(l->shots[i].buffer);
    if (l) {
        play_pixels_finish(&l->pixels);
        map_finish(&l->sampled);
        free(l->targets);
        free(l->shots);
    }
    free(l);
    p->look = NULL;
}
