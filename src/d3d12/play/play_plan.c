/* SPDX-License-Identifier: MIT */
/* play_plan.c: reads a recording for play_plan.h. Invariants:
 *  1. Arguments are decoded as for playing, with an object's number in place of its address.
 *  2. What stands apart in a recorded heap stands apart in the layout; what begins at one offset begins at one. */
#include "d3d12/play/play_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/check.h"
#include "base/log.h"
#include "base/map.h"
#include "d3d12/play/play_internal.h"
#include "d3d12_args.h"

#define MAX_SLOTS  (1u << 20)
#define MAX_OFFSET (UINT64_C(1) << 40) /* what lies farther in a buffer is not one */
#define MAX_PLACES 8192                /* in one heap; with more it stays as it was recorded */
#define HEAP_ALIGN 65536u

struct signature {
    uint32_t id, num;
    uint64_t stride;
    uint32_t at[64];
};

struct copy { /* of buffers; from itself: two places that share memory */
    uint32_t to, from;
    uint64_t to_at, from_at, size;
};

struct buffer {
    uint32_t id;
    bool shader_writes, cpu_writes, copied, used;
    uint64_t call;
};

struct reading {
    struct play_plan *plan;
    struct player player; /* for its arena */
    struct signature *signatures;
    size_t num_signatures, cap_signatures;
    struct copy *copies;
    size_t num_copies, cap_copies;
    struct buffer *buffers; /* by number, as objects are made */
    size_t num_buffers, cap_buffers;
    uint32_t *tiled; /* heaps whose tiles are mapped */
    size_t num_tiled, cap_tiled;
    size_t cap_slots, cap_places;
    struct map seen; /* a hash of what is in plan->slots to its index, plus one */
    bool addresses, full;
};

#define GROW(x, array, num, cap) grow(x, (void **)&(array), num, &(cap), sizeof(*(array)))

static bool grow(struct reading *x, void **p, size_t num, size_t *cap, size_t item)
{
    x->full |= array_grow(p, cap, num + 1, item) != 0;
    return num < *cap;
}

static uint32_t number(const void *object)
{
    return (uint32_t)(uintptr_t)object;
}

/* ---- reading ------------------------------------------------------------- */

static void read_signature(struct reading *x, const struct args_ID3D12Device_CreateCommandSignature *a)
{
    static const uint32_t sizes[] = {16, 20, 12, 16, 16, 0, 8, 8, 8, 0, 12};
    const D3D12_COMMAND_SIGNATURE_DESC *d = a->pDesc;
    struct signature s = {.id = a->ppvCommandSignature};
    uint32_t at = 0;

    if (FAILED(a->ret) || !d || !d->pArgumentDescs)
        return;
    s.stride = d->ByteStride;
    for (UINT i = 0; i < d->NumArgumentDescs; i++) {
        const D3D12_INDIRECT_ARGUMENT_DESC *g = &d->pArgumentDescs[i];

        if ((g->Type == D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW ||
             g->Type == D3D12_INDIRECT_ARGUMENT_TYPE_INDEX_BUFFER_VIEW ||
             (g->Type >= D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW &&
              g->Type <= D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW)) &&
            s.num < sizeof(s.at) / sizeof(s.at[0]))
            s.at[s.num++] = at;
        if ((uint32_t)g->Type >= sizeof(sizes) / sizeof(sizes[0]))
            break; /* it is unknown where the next one is */
        at += g->Type == D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT ? 4 * g->Constant.Num32BitValuesToSet
                                                               : sizes[g->Type];
    }
    if (s.num && GROW(x, x->signatures, x->num_signatures, x->cap_signatures)) {
        x->signatures[x->num_signatures++] = s;
        x->addresses = true;
    }
}

static struct buffer *buffer_of(struct reading *x, uint32_t id)
{
    size_t lo = 0, hi = x->num_buffers;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (x->buffers[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < x->num_buffers && x->buffers[lo].id == id)
        return &x->buffers[lo];
    if (!GROW(x, x->buffers, x->num_buffers, x->cap_buffers))
        return NULL;
    memmove(&x->buffers[lo + 1], &x->buffers[lo], (x->num_buffers - lo) * sizeof(*x->buffers));
    x->num_buffers++;
    x->buffers[lo] = (struct buffer){.id = id};
    return &x->buffers[lo];
}

static void add_slots(struct reading *x, struct plan_slots s)
{
    struct play_plan *p = x->plan;
    uint64_t *at;

    if (s.base > MAX_OFFSET || !s.count || s.stride > MAX_OFFSET / s.count || p->num_slots == MAX_SLOTS)
        return;
    at = map_put(&x->seen, XXH3_64bits(&s, sizeof(s)));
    x->full |= !at;
    if (!at || (*at && !memcmp(&p->slots[*at - 1], &s, sizeof(s))) ||
        !GROW(x, p->slots, p->num_slots, x->cap_slots))
        return;
    p->slots[p->num_slots++] = s;
    *at = p->num_slots;
}

static void read_indirect(struct reading *x, const struct trc_call *c,
                          const struct args_ID3D12GraphicsCommandList_ExecuteIndirect *a)
{
    uint32_t sig = number(a->pCommandSignature), id = number(a->pArgumentBuffer);
    struct buffer *b;

    for (size_t i = x->num_signatures; i-- > 0;) {
        const struct signature *s = &x->signatures[i];

        if (s->id != sig)
            continue;
        for (uint32_t k = 0; k < s->num && a->MaxCommandCount; k++) {
            struct plan_slots n;

            n.resource = id;
            n.base = a->ArgumentBufferOffset + s->at[k];
            n.stride = s->stride;
            n.count = s->stride ? a->MaxCommandCount : 1;
            add_slots(x, n);
        }
        if ((b = buffer_of(x, id)) && !b->used) {
            b->used = true;
            b->call = c->index;
        }
        return;
    }
}

static void add_copy(struct reading *x, uint32_t to, uint64_t to_at, uint32_t from, uint64_t from_at,
                     uint64_t size)
{
    struct copy *last = x->num_copies ? &x->copies[x->num_copies - 1] : NULL;
    struct copy c = {to, from, to_at, from_at, size};

    if ((last && !memcmp(last, &c, sizeof(c))) || !GROW(x, x->copies, x->num_copies, x->cap_copies))
        return;
    x->copies[x->num_copies++] = c;
}

static void read_place(struct reading *x, uint32_t heap, uint64_t offset, const D3D12_RESOURCE_DESC *d,
                       uint32_t id, HRESULT hr)
{
    struct play_plan *p = x->plan;
    bool buffer = d && d->Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
    struct buffer *b;

    if (FAILED(hr) || !d || id < 2 || !GROW(x, p->places, p->num_places, x->cap_places))
        return;
    p->places[p->num_places++] = (struct plan_place){.heap = heap,
                                                     .resource = id,
                                                     .offset = offset,
                                                     .at = offset,
                                                     .known = buffer ? d->Width : 0,
                                                     .desc = *d};
    if (buffer && d->Flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS && (b = buffer_of(x, id)))
        b->shader_writes = true;
}

/* Arguments of the call, with numbers in place of objects. */
#define DECODE(x, c, name)                                                                                   \
    struct args_##name a = {0};                                                                              \
    struct dec d = {.in = bytes_of((c)->args, (c)->incomplete ? (c)->args_size : (c)->size),                 \
                    .p = &(x)->player,                                                                       \
                    .numbers = true};                                                                        \
    dec_m_##name(&d, &a);                                                                                    \
    if (d.bad || d.in.bad || (c)->incomplete)                                                                \
    return

#define PLACED(name)                                                                                         \
    static void read_##name(struct reading *x, const struct trc_call *c)                                     \
    {                                                                                                        \
        DECODE(x, c, name);                                                                                  \
        /* a D3D12_RESOURCE_DESC1 begins as the older one does */                                            \
        read_place(x, number(a.pHeap), a.HeapOffset, (const D3D12_RESOURCE_DESC *)a.pDesc, a.ppvResource,    \
                   a.ret);                                                                                   \
    }

PLACED(ID3D12Device_CreatePlacedResource)
PLACED(ID3D12Device8_CreatePlacedResource1)
PLACED(ID3D12Device10_CreatePlacedResource2)

static void read_tiles(struct reading *x, const struct trc_call *c)
{
    DECODE(x, c, ID3D12CommandQueue_UpdateTileMappings);
    if (a.pHeap && GROW(x, x->tiled, x->num_tiled, x->cap_tiled))
        x->tiled[x->num_tiled++] = number(a.pHeap);
}

static void read_committed(struct reading *x, const struct trc_call *c)
{
    struct buffer *b;

    DECODE(x, c, ID3D12Device_CreateCommittedResource);
    if (SUCCEEDED(a.ret) && a.pDesc && a.pDesc->Dimension == D3D12_RESOURCE_DIMENSION_BUFFER &&
        a.pDesc->Flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS && (b = buffer_of(x, a.ppvResource)))
        b->shader_writes = true;
}

static void read_placed_size(struct reading *x, const struct trc_call *c)
{
    struct play_plan *p = x->plan;

    DECODE(x, c, Native_PlacedSize);
    for (size_t i = p->num_places;
         i-- > 0;) /* close to the end: it follows the call that makes the resource */
        if (p->places[i].resource == number(a.pResource)) {
            if (a.Size && a.Size != UINT64_MAX) {
                p->places[i].known = a.Size;
                p->places[i].known_align = a.Alignment;
            }
            return;
        }
}

static void read_create_signature(struct reading *x, const struct trc_call *c)
{
    DECODE(x, c, ID3D12Device_CreateCommandSignature);
    read_signature(x, &a);
}

static void read_execute(struct reading *x, const struct trc_call *c)
{
    DECODE(x, c, ID3D12GraphicsCommandList_ExecuteIndirect);
    read_indirect(x, c, &a);
}

static void read_copy_region(struct reading *x, const struct trc_call *c)
{
    DECODE(x, c, ID3D12GraphicsCommandList_CopyBufferRegion);
    add_copy(x, number(a.pDstBuffer), a.DstOffset, number(a.pSrcBuffer), a.SrcOffset, a.NumBytes);
}

static void read_copy(struct reading *x, const struct trc_call *c)
{
    DECODE(x, c, ID3D12GraphicsCommandList_CopyResource);
    add_copy(x, number(a.pDstResource), 0, number(a.pSrcResource), 0, UINT64_MAX);
}

/* One walk finds signatures and places; copies matter only if there are signatures. */
static void read_call(struct reading *x, const struct trc_call *c)
{
    switch (c->method) {
    case D12_ID3D12Device_CreateCommandSignature:
        read_create_signature(x, c);
        break;
    case D12_ID3D12GraphicsCommandList_ExecuteIndirect:
        if (x->addresses)
            read_execute(x, c);
        break;
    case D12_ID3D12GraphicsCommandList_CopyBufferRegion:
        read_copy_region(x, c);
        break;
    case D12_ID3D12GraphicsCommandList_CopyResource:
        read_copy(x, c);
        break;
    case D12_ID3D12Device_CreateCommittedResource:
        read_committed(x, c);
        break;
    case D12_ID3D12Device_CreatePlacedResource:
        read_ID3D12Device_CreatePlacedResource(x, c);
        break;
    case D12_ID3D12Device8_CreatePlacedResource1:
        read_ID3D12Device8_CreatePlacedResource1(x, c);
        break;
    case D12_ID3D12Device10_CreatePlacedResource2:
        read_ID3D12Device10_CreatePlacedResource2(x, c);
        break;
    case D12_Native_PlacedSize:
        read_placed_size(x, c);
        break;
    case D12_ID3D12CommandQueue_UpdateTileMappings:
        read_tiles(x, c);
        break;
    case D12_Native_MemoryWrite: {
        struct bytes in = bytes_of(c->args, c->size);
        uint32_t id = (uint32_t)bytes_varint(&in);
        struct buffer *b = id >= 2 ? buffer_of(x, id) : NULL;

        if (b)
            b->cpu_writes = true;
        break;
    }
    default:
        return;
    }
    play_arena_reset(&x->player);
}

/* ---- from uses to what the program wrote --------------------------------- */

static int by_destination(const void *a, const void *b)
{
    const struct copy *x = a, *y = b;

    return x->to != y->to ? (x->to < y->to ? -1 : 1) : memcmp(x, y, sizeof(*x));
}

static int by_heap(const void *a, const void *b)
{
    const struct plan_place *x = a, *y = b;

    return x->heap != y->heap       ? (x->heap < y->heap ? -1 : 1)
           : x->offset != y->offset ? (x->offset < y->offset ? -1 : 1)
                                    : (x->resource > y->resource) - (x->resource < y->resource);
}

static int by_resource(const void *a, const void *b)
{
    const struct plan_slots *x = a, *y = b;

    return x->resource != y->resource ? (x->resource < y->resource ? -1 : 1)
                                      : (x->base > y->base) - (x->base < y->base);
}

/* The part of `s` that lies in [at, at + size) of its resource, as seen from `from_at` of `from`. */
static void follow(struct reading *x, struct plan_slots s, uint64_t at, uint64_t size, uint32_t from,
                   uint64_t from_at)
{
    uint64_t end = size > UINT64_MAX - at ? UINT64_MAX : at + size, first = 0, last = s.count;
    struct plan_slots n;

    if (s.base < at)
        first = s.stride ? (at - s.base + s.stride - 1) / s.stride : s.count;
    if (s.base + 8 > end)
        return;
    if (s.stride && (end - 8 - s.base) / s.stride + 1 < last)
        last = (end - 8 - s.base) / s.stride + 1;
    if (first >= last)
        return;
    n.resource = from;
    n.base = s.base + first * s.stride - at + from_at;
    n.stride = s.stride;
    n.count = last - first;
    add_slots(x, n);
}

static void follow_copies(struct reading *x, struct plan_slots s)
{
    size_t lo = 0, hi = x->num_copies;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (x->copies[mid].to < s.resource)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < x->num_copies && x->copies[lo].to == s.resource; lo++) {
        const struct copy *c = &x->copies[lo];
        struct buffer *b = buffer_of(x, s.resource);

        if (b)
            b->copied = true;
        follow(x, s, c->to_at, c->size, c->from, c->from_at);
    }
}

/* Buffers that lie at the same place of a heap. */
static void follow_places(struct reading *x, struct plan_slots s)
{
    const struct play_plan *p = x->plan;
    size_t i = 0, k;

    while (i < p->num_places && p->places[i].resource != s.resource)
        i++;
    if (i == p->num_places || !p->places[i].known)
        return;
    for (k = i; k > 0 && p->places[k - 1].heap == p->places[i].heap; k--)
        ;
    for (; k < p->num_places && p->places[k].heap == p->places[i].heap; k++) {
        const struct plan_place *a = &p->places[i], *b = &p->places[k];
        uint64_t from = a->offset > b->offset ? a->offset : b->offset;

        if (k == i || !b->known || b->offset >= a->offset + a->known || a->offset >= b->offset + b->known)
            continue;
        follow(x, s, from - a->offset, b->offset + b->known - from, b->resource, from - b->offset);
    }
}

static void complain(const struct reading *x)
{
    for (size_t i = 0; i < x->num_buffers; i++) {
        const struct buffer *b = &x->buffers[i];

        if (b->used && (b->shader_writes || (!b->copied && !b->cpu_writes)))
            log_warn("d3d12",
                     "call %llu: ExecuteIndirect takes GPU addresses from buffer %u, which %s; those are "
                     "played as they were recorded",
                     (unsigned long long)b->call, b->id,
                     b->shader_writes ? "shaders may write" : "nothing that was recorded fills");
    }
}

static int make_patches(struct play_plan *p)
{
    if (!p->num_slots)
        return 0;
    qsort(p->slots, p->num_slots, sizeof(*p->slots), by_resource);
    p->patches = calloc(p->num_slots, sizeof(*p->patches));
    if (!p->patches)
        return -ENOMEM;
    for (size_t i = 0; i < p->num_slots; i++) {
        struct plan_patch *x = p->num_patches ? &p->patches[p->num_patches - 1] : NULL;

        if (!x || x->resource != p->slots[i].resource) {
            x = &p->patches[p->num_patches++];
            *x = (struct plan_patch){.resource = (uint32_t)p->slots[i].resource, .first = i};
        }
        x->num++;
    }
    return 0;
}

/* Tiles are numbered from the heap's beginning: such a heap stays as it was. */
static void leave_tiled(struct reading *x)
{
    struct play_plan *p = x->plan;
    size_t n = 0;

    for (size_t i = 0; i < p->num_places; i++) {
        bool tiled = false;

        for (size_t k = 0; k < x->num_tiled; k++)
            tiled |= x->tiled[k] == p->places[i].heap;
        if (!tiled)
            p->places[n++] = p->places[i];
    }
    p->num_places = n;
}

int plan_make(struct play_plan *plan, struct trc *t)
{
    struct reading x = {.plan = plan, .player = {.trace = t}};
    struct error ignored = {0};
    struct trc_call c;

    trc_rewind(t);
    while (!x.full && trc_next(t, &c, &ignored) > 0)
        read_call(&x, &c);
    trc_rewind(t);
    if (plan->num_places)
        qsort(plan->places, plan->num_places, sizeof(*plan->places), by_heap);
    if (plan->num_slots) {
        qsort(x.copies, x.num_copies, sizeof(*x.copies), by_destination);
        for (size_t i = 0; i < plan->num_slots && !x.full; i++) { /* those that this finds come behind */
            follow_copies(&x, plan->slots[i]);
            follow_places(&x, plan->slots[i]);
        }
        complain(&x);
    }
    leave_tiled(&x);
    play_arena_finish(&x.player);
    free(x.signatures);
    free(x.copies);
    free(x.buffers);
    free(x.tiled);
    map_finish(&x.seen);
    for (size_t i = 1; i < plan->num_places; i++)
        INVARIANT(by_heap(&plan->places[i - 1], &plan->places[i]) <= 0);
    return x.full ? -ENOMEM : make_patches(plan);
}

void plan_finish(struct play_plan *plan)
{
    for (size_t i = 0; i < plan->num_patches; i++)
        free(plan->patches[i].recorded);
    free(plan->patches);
    free(plan->slots);
    free(plan->places);
    free(plan->addresses);
    *plan = (struct play_plan){0};
}

/* ---- places -------------------------------------------------------------- */

static uint64_t up(uint64_t v, uint64_t align)
{
    return align > 1 ? (v + align - 1) / align * align : v;
}

/* Where the resource ended when it was recorded: at the next one, if nothing says more. */
static uint64_t old_end(const struct plan_place *places, size_t num, size_t i)
{
    size_t k = i;

    if (places[i].known)
        return places[i].offset + places[i].known;
    while (k < num && places[k].offset == places[i].offset)
        k++;
    return k < num ? places[k].offset : UINT64_MAX;
}

static bool fits(const struct plan_place *places, size_t num, uint64_t heap_size)
{
    for (size_t i = 0; i < num; i++) {
        if (places[i].offset % (places[i].align ? places[i].align : 1) || places[i].size > heap_size ||
            places[i].offset > heap_size - places[i].size)
            return false;
        for (size_t k = 0; k < i; k++) /* apart, and not any more */
            if (places[k].offset + places[k].size > places[i].offset &&
                old_end(places, num, k) <= places[i].offset)
                return false;
    }
    return true;
}

/* Where the places of a heap stand if they need what `size` and `align` say. Returns the size that the heap needs. For
 * all places of one heap, by offset. */
static uint64_t lay_out(struct plan_place *places, size_t num, uint64_t heap_size)
{
    uint64_t need = heap_size;

    for (size_t i = 0; i < num; i++) {
        places[i].at = places[i].offset;
        if (!places[i].size)
            places[i].size = places[i].known;
    }
    if (num > MAX_PLACES || fits(places, num, heap_size))
        return heap_size;
    for (size_t i = 0, same; i < num; i = same) {
        uint64_t at = places[i].offset, align = 1;

        for (same = i; same < num && places[same].offset == places[i].offset; same++)
            if (places[same].align > align)
                align = places[same].align;
        if (i && at < places[i - 1].at + (places[i].offset - places[i - 1].offset))
            at = places[i - 1].at + (places[i].offset - places[i - 1].offset);
        for (size_t k = 0; k < i; k++)
            if (old_end(places, num, k) <= places[i].offset && at < places[k].at + places[k].size)
                at = places[k].at + places[k].size;
        at = up(at, align);
        INVARIANT(same > i && at % align == 0);
        INVARIANT(!i || at >= places[i - 1].at); // 2
        for (size_t k = i; k < same; k++) {
            places[k].at = at;
            if (at + places[k].size > need)
                need = at + places[k].size;
        }
    }
    INVARIANT(need >= heap_size);
    return up(need, HEAP_ALIGN);
}

static struct plan_place *places_of(struct play_plan *plan, uint32_t heap, size_t *num)
{
    size_t lo = 0, hi = plan->num_places;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (plan->places[mid].heap < heap)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (*num = 0; lo + *num < plan->num_places && plan->places[lo + *num].heap == heap; ++*num)
        ;
    return plan->places + lo;
}

void play_adjust_pool(ID3D12Device *device, const D3D12_HEAP_PROPERTIES *heap)
{
    D3D12_FEATURE_DATA_ARCHITECTURE a = {0};

    if (heap && heap->Type == D3D12_HEAP_TYPE_CUSTOM && heap->MemoryPoolPreference == D3D12_MEMORY_POOL_L1 &&
        SUCCEEDED(device->lpVtbl->CheckFeatureSupport(device, D3D12_FEATURE_ARCHITECTURE, &a, sizeof(a))) &&
        a.UMA)
        ((D3D12_HEAP_PROPERTIES *)heap)->MemoryPoolPreference = D3D12_MEMORY_POOL_L0;
}

static void adjust_heap(struct player *p, ID3D12Device *device, uint32_t id, const D3D12_HEAP_DESC *desc)
{
    size_t num;
    struct plan_place *places = places_of(&p->plan, id, &num);
    uint64_t size;

    if (desc)
        play_adjust_pool(device, &desc->Properties);
    if (!num || !desc)
        return;
    for (size_t i = 0; i < num; i++) {
        D3D12_RESOURCE_ALLOCATION_INFO info = {0};

        device->lpVtbl->GetResourceAllocationInfo(device, &info, 0, 1, &places[i].desc);
        if (info.SizeInBytes != UINT64_MAX && info.SizeInBytes > places[i].known)
            places[i].size = info.SizeInBytes;
        if (info.Alignment > places[i].known_align) /* else it may stand where it stood */
            places[i].align = info.Alignment;
    }
    size = lay_out(places, num, desc->SizeInBytes);
    if (size != desc->SizeInBytes)
        log_info("d3d12", "heap %u has %llu bytes here, where it was recorded with %llu", id,
                 (unsigned long long)size, (unsigned long long)desc->SizeInBytes);
    ((D3D12_HEAP_DESC *)desc)->SizeInBytes = size;
}

void play_adjust_ID3D12Device_CreateHeap(struct player *p, const struct play_call *c, ID3D12Device *This,
                                         struct args_ID3D12Device_CreateHeap *a)
{
    adjust_heap(p, This, a->ppvHeap, a->pDesc);
}

void play_adjust_ID3D12Device4_CreateHeap1(struct player *p, const struct play_call *c, ID3D12Device4 *This,
                                           struct args_ID3D12Device4_CreateHeap1 *a)
{
    adjust_heap(p, (ID3D12Device *)This, a->ppvHeap, a->pDesc);
}

/* The heap's number stands first among the arguments. */
static void adjust_place(struct player *p, const struct play_call *c, UINT64 *offset)
{
    struct bytes in = bytes_of(c->call->args, c->call->size);
    size_t num;
    struct plan_place *places = places_of(&p->plan, (uint32_t)bytes_varint(&in), &num);

    for (size_t i = 0; i < num; i++)
        if (places[i].offset == *offset) {
            *offset = places[i].at;
            return;
        }
}

void play_adjust_ID3D12Device_CreatePlacedResource(struct player *p, const struct play_call *c,
                                                   ID3D12Device *This,
                                                   struct args_ID3D12Device_CreatePlacedResource *a)
{
    adjust_place(p, c, &a->HeapOffset);
}

void play_adjust_ID3D12Device8_CreatePlacedResource1(struct player *p, const struct play_call *c,
                                                     ID3D12Device8 *This,
                                                     struct args_ID3D12Device8_CreatePlacedResource1 *a)
{
    adjust_place(p, c, &a->HeapOffset);
}

void play_adjust_ID3D12Device10_CreatePlacedResource2(struct player *p, const struct play_call *c,
                                                      ID3D12Device10 *This,
                                                      struct args_ID3D12Device10_CreatePlacedResource2 *a)
{
    adjust_place(p, c, &a->HeapOffset);
}

void play_adjust_ID3D12Device4_CreateCommittedResource1(struct player *p, const struct play_call *c,
                                                        ID3D12Device4 *This,
                                                        struct args_ID3D12Device4_CreateCommittedResource1 *a)
{
    play_adjust_pool((ID3D12Device *)This, a->pHeapProperties);
}

void play_adjust_ID3D12Device8_CreateCommittedResource2(struct player *p, const struct play_call *c,
                                                        ID3D12Device8 *This,
                                                        struct args_ID3D12Device8_CreateCommittedResource2 *a)
{
    play_adjust_pool((ID3D12Device *)This, a->pHeapProperties);
}

void play_adjust_ID3D12Device10_CreateCommittedResource3(
    struct player *p, const struct play_call *c, ID3D12Device10 *This,
    struct args_ID3D12Device10_CreateCommittedResource3 *a)
{
    play_adjust_pool((ID3D12Device *)This, a->pHeapProperties);
}
