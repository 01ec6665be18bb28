/* SPDX-License-Identifier: MIT */
/* wire.c: one table says what each thunk's structure points to; everything here follows it. */
#include "d3dkmt/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define PTR(type, pointer, count_member, element_size, direction, may_be_null)                               \
    {                                                                                                        \
        WIDE_AT(type, pointer), WIDE_AT(type, count_member), element_size, direction, may_be_null            \
    }
#define PTR_OF_ONE(type, pointer, count_member, element_size, direction)                                     \
    {                                                                                                        \
        WIDE_AT(type, pointer), WIDE_AT(type, count_member), element_size, direction, false, 1               \
    }
/* One element, or NULL; the member in its front stands in for a count. */
#define PTR_TO_ONE(type, pointer, member, element_size, direction)                                           \
    {                                                                                                        \
        WIDE_AT(type, pointer), WIDE_AT(type, member), element_size, direction, true, 1, 1                   \
    }
/* Each names an enumerator, by which the compiler knows that a thunk has its row. */
#define THUNK(id, type, n, ...)                                                                              \
    [D3DKMT_THUNK_##id] = {                                                                                  \
        #id, WIDE_SIZE(type) + 0 * sizeof(enum {WIRE_HAS_##id}), &d3dkmt_wide_##type, {__VA_ARGS__}, n}

const struct wire_thunk d3dkmt_wire_thunks[D3DKMT_NUM_THUNKS] = {
    THUNK(OpenAdapterFromHdc, D3DKMT_OPENADAPTERFROMHDC, 0),
    THUNK(OpenAdapterFromGdiDisplayName, D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME, 0),
    THUNK(CloseAdapter, D3DKMT_CLOSEADAPTER, 0),
    THUNK(QueryAdapterInfo, D3DKMT_QUERYADAPTERINFO, 1,
          PTR(D3DKMT_QUERYADAPTERINFO, pPrivateDriverData, PrivateDriverDataSize, 1, WIRE_INOUT, true)),
    THUNK(CreateDevice, D3DKMT_CREATEDEVICE, 0),
    THUNK(DestroyDevice, D3DKMT_DESTROYDEVICE, 0),
    THUNK(GetDeviceState, D3DKMT_GETDEVICESTATE, 0),
    THUNK(CreateContext, D3DKMT_CREATECONTEXT, 1,
          PTR(D3DKMT_CREATECONTEXT, pPrivateDriverData, PrivateDriverDataSize, 1, WIRE_IN, true)),
    THUNK(DestroyContext, D3DKMT_DESTROYCONTEXT, 0),
    THUNK(SetContextSchedulingPriority, D3DKMT_SETCONTEXTSCHEDULINGPRIORITY, 0),
    THUNK(GetContextSchedulingPriority, D3DKMT_GETCONTEXTSCHEDULINGPRIORITY, 0),
    THUNK(QueryAllocationResidency, D3DKMT_QUERYALLOCATIONRESIDENCY, 2,
          PTR(D3DKMT_QUERYALLOCATIONRESIDENCY, phAllocationList, AllocationCount, 4, WIRE_IN, true),
          PTR_OF_ONE(D3DKMT_QUERYALLOCATIONRESIDENCY, pResidencyStatus, AllocationCount, 4, WIRE_OUT)),
    THUNK(SetAllocationPriority, D3DKMT_SETALLOCATIONPRIORITY, 2,
          PTR(D3DKMT_SETALLOCATIONPRIORITY, phAllocationList, AllocationCount, 4, WIRE_IN, true),
          PTR_OF_ONE(D3DKMT_SETALLOCATIONPRIORITY, pPriorities, AllocationCount, 4, WIRE_IN)),
    THUNK(CreateAllocation, D3DKMT_CREATEALLOCATION, 3,
          PTR(D3DKMT_CREATEALLOCATION, pPrivateRuntimeData, PrivateRuntimeDataSize, 1, WIRE_IN, true),
          PTR(D3DKMT_CREATEALLOCATION, pPrivateDriverData, PrivateDriverDataSize, 1, WIRE_IN, true),
          PTR(D3DKMT_CREATEALLOCATION, pAllocationInfo, NumAllocations, WIDE_SIZE(D3DDDI_ALLOCATIONINFO),
              WIRE_INOUT, true)),
    THUNK(DestroyAllocation, D3DKMT_DESTROYALLOCATION, 1,
          PTR(D3DKMT_DESTROYALLOCATION, phAllocationList, AllocationCount, 4, WIRE_IN, true)),
    THUNK(QueryResourceInfo, D3DKMT_QUERYRESOURCEINFO, 1,
          PTR(D3DKMT_QUERYRESOURCEINFO, pPrivateRuntimeData, PrivateRuntimeDataSize, 1, WIRE_OUT, true)),
    THUNK(OpenResource, D3DKMT_OPENRESOURCE, 4,
          PTR(D3DKMT_OPENRESOURCE, pOpenAllocationInfo, NumAllocations, WIDE_SIZE(D3DDDI_OPENALLOCATIONINFO),
              WIRE_OUT, true),
          PTR(D3DKMT_OPENRESOURCE, pPrivateRuntimeData, PrivateRuntimeDataSize, 1, WIRE_OUT, true),
          PTR(D3DKMT_OPENRESOURCE, pResourcePrivateDriverData, ResourcePrivateDriverDataSize, 1, WIRE_OUT,
              true),
          PTR(D3DKMT_OPENRESOURCE, pTotalPrivateDriverDataBuffer, TotalPrivateDriverDataBufferSize, 1,
              WIRE_OUT, true)),
    THUNK(Lock, D3DKMT_LOCK, 1, PTR(D3DKMT_LOCK, pPages, NumPages, 4, WIRE_IN, true)),
    THUNK(Unlock, D3DKMT_UNLOCK, 1, PTR(D3DKMT_UNLOCK, phAllocations, NumAllocations, 4, WIRE_IN, true)),
    THUNK(Render, D3DKMT_RENDER, 0),
    THUNK(Present, D3DKMT_PRESENT, 1,
          PTR(D3DKMT_PRESENT, pSrcSubRects, SubRectCnt, sizeof(RECT), WIRE_IN, true)),
    THUNK(CreateSynchronizationObject2, D3DKMT_CREATESYNCHRONIZATIONOBJECT2, 0),
    THUNK(DestroySynchronizationObject, D3DKMT_DESTROYSYNCHRONIZATIONOBJECT, 0),
    THUNK(WaitForSynchronizationObject2, D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2, 0),
    THUNK(SignalSynchronizationObject2, D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, 0),
    THUNK(CreateKeyedMutex, D3DKMT_CREATEKEYEDMUTEX, 0),
    THUNK(OpenKeyedMutex, D3DKMT_OPENKEYEDMUTEX, 0),
    THUNK(DestroyKeyedMutex, D3DKMT_DESTROYKEYEDMUTEX, 0),
    THUNK(AcquireKeyedMutex, D3DKMT_ACQUIREKEYEDMUTEX, 1,
          PTR_TO_ONE(D3DKMT_ACQUIREKEYEDMUTEX, pTimeout, hKeyedMutex, sizeof(LARGE_INTEGER), WIRE_IN)),
    THUNK(ReleaseKeyedMutex, D3DKMT_RELEASEKEYEDMUTEX, 0),
    THUNK(WaitForIdle, D3DKMT_WAITFORIDLE, 0),
    THUNK(Escape, D3DKMT_ESCAPE, 1,
          PTR(D3DKMT_ESCAPE, pPrivateDriverData, PrivateDriverDataSize, 1, WIRE_INOUT, true)),
    THUNK(WaitForVerticalBlankEvent, D3DKMT_WAITFORVERTICALBLANKEVENT, 0),
    THUNK(GetScanLine, D3DKMT_GETSCANLINE, 0),
    THUNK(GetDisplayModeList, D3DKMT_GETDISPLAYMODELIST, 1,
          PTR(D3DKMT_GETDISPLAYMODELIST, pModeList, ModeCount, sizeof(D3DKMT_DISPLAYMODE), WIRE_OUT, true)),
    THUNK(SetDisplayMode, D3DKMT_SETDISPLAYMODE, 0),
    THUNK(SetVidPnSourceOwner, D3DKMT_SETVIDPNSOURCEOWNER, 2,
          PTR(D3DKMT_SETVIDPNSOURCEOWNER, pType, VidPnSourceCount, 4, WIRE_IN, true),
          PTR(D3DKMT_SETVIDPNSOURCEOWNER, pVidPnSourceId, VidPnSourceCount, 4, WIRE_IN, true)),
    THUNK(QueryStatistics, D3DKMT_QUERYSTATISTICS, 0),
    THUNK(SetGammaRamp, D3DKMT_SETGAMMARAMP, 1,
          PTR(D3DKMT_SETGAMMARAMP, pGammaRampRgb256x3x16, Size, 1, WIRE_IN, true)),
    THUNK(ProcessPriority, D3DKMT_PROCESSPRIORITY, 0),
};
#define HAS_ROW(name, type) _Static_assert(!WIRE_HAS_##name, "");
D3DKMT_THUNKS(HAS_ROW)
#undef HAS_ROW

static UINT get_u32(const void *arg, unsigned at)
{
    UINT n;

    memcpy(&n, (const uint8_t *)arg + at, sizeof(n));
    return n;
}

static void *get_ptr(const void *arg, unsigned at)
{
    uint64_t p;

    memcpy(&p, (const uint8_t *)arg + at, sizeof(p));
    return (void *)(uintptr_t)p;
}

static void set_ptr(void *arg, unsigned at, const void *to)
{
    uint64_t p = (uintptr_t)to;

    memcpy((uint8_t *)arg + at, &p, sizeof(p));
}

static uint64_t length_of(const void *arg, const struct wire_pointer *p)
{
    UINT n = get_u32(arg, p->count);

    if (p->most && n > p->most)
        n = p->most;
    return (uint64_t)(n < p->least ? p->least : n) * p->element;
}

#define ANSWER(thunk, type, member)                                                                          \
    {                                                                                                        \
        D3DKMT_THUNK_##thunk, WIDE_AT(type, member)                                                          \
    }
/* Pointers that are answers, not arguments: zero on the wire. */
static const struct {
    enum d3dkmt_thunk thunk;
    unsigned at;
} answers[] = {
    ANSWER(CreateContext, D3DKMT_CREATECONTEXT, pCommandBuffer),
    ANSWER(CreateContext, D3DKMT_CREATECONTEXT, pAllocationList),
    ANSWER(CreateContext, D3DKMT_CREATECONTEXT, pPatchLocationList),
    ANSWER(Render, D3DKMT_RENDER, pNewCommandBuffer),
    ANSWER(Render, D3DKMT_RENDER, pNewAllocationList),
    ANSWER(Render, D3DKMT_RENDER, pNewPatchLocationList),
    ANSWER(Lock, D3DKMT_LOCK, pData),
    ANSWER(OpenAdapterFromHdc, D3DKMT_OPENADAPTERFROMHDC, hDc),
    ANSWER(CreateDevice, D3DKMT_CREATEDEVICE, pCommandBuffer),
    ANSWER(CreateDevice, D3DKMT_CREATEDEVICE, pAllocationList),
    ANSWER(CreateDevice, D3DKMT_CREATEDEVICE, pPatchLocationList),
    ANSWER(CreateAllocation, D3DKMT_CREATEALLOCATION, hPrivateRuntimeResourceHandle),
    ANSWER(Present, D3DKMT_PRESENT, hWindow),
    ANSWER(QueryStatistics, D3DKMT_QUERYSTATISTICS, hProcess),
};

static void clear_answers(enum d3dkmt_thunk thunk, void *arg)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
        if (answers[i].thunk == thunk)
            set_ptr(arg, answers[i].at, NULL);
}

/* Of an allocation that is to be created, by its number; NULL behind the last one. */
static uint8_t *allocation(enum d3dkmt_thunk thunk, const void *arg, UINT i)
{
    uint8_t *all = thunk == D3DKMT_THUNK_CreateAllocation
                       ? get_ptr(arg, WIDE_AT(D3DKMT_CREATEALLOCATION, pAllocationInfo))
                       : NULL;

    return all && i < get_u32(arg, WIDE_AT(D3DKMT_CREATEALLOCATION, NumAllocations))
               ? all + (size_t)i * WIDE_SIZE(D3DDDI_ALLOCATIONINFO)
               : NULL;
}

/* ---- writing ------------------------------------------------------------- */

struct out {
    uint8_t *data;
    size_t pos;
    bool full;
};

static void put(struct out *o, const void *data, size_t n)
{
    if (o->full || n > WIRE_MAX - o->pos) {
        o->full = true;
        return;
    }
    if (data)
        memcpy(o->data + o->pos, data, n);
    else
        memset(o->data + o->pos, 0, n);
    o->pos += n;
}

static void put_block(struct out *o, const void *data, uint64_t length, bool content)
{
    uint32_t head[2] = {data != NULL, (uint32_t)length};

    if (length > WIRE_MAX)
        o->full = true;
    put(o, head, sizeof(head));
    if (content && data)
        put(o, data, length);
    put(o, NULL, -o->pos & 7);
}

void d3dkmt_wire_lengths(enum d3dkmt_thunk thunk, const void *arg, uint64_t lengths[4])
{
    for (unsigned i = 0; i < d3dkmt_wire_thunks[thunk].num; i++)
        lengths[i] = length_of(arg, &d3dkmt_wire_thunks[thunk].pointers[i]);
}

size_t d3dkmt_wire_write(void *msg, enum d3dkmt_thunk thunk, const void *arg, NTSTATUS status,
                         const uint64_t *reply)
{
    const struct wire_thunk *t = &d3dkmt_wire_thunks[thunk];
    struct wire_header h = {.magic = WIRE_MAGIC, .thunk = (uint32_t)thunk, .status = status};
    struct out o = {.data = msg};
    const uint8_t *info;
    uint8_t *copy;

    put(&o, &h, sizeof(h));
    copy = o.data + o.pos;
    put(&o, arg, t->size);
    clear_answers(thunk, copy);
    for (unsigned i = 0; i < t->num; i++)
        set_ptr(copy, t->pointers[i].at, NULL);
    put(&o, NULL, -o.pos & 7);
    for (unsigned i = 0; i < t->num; i++) {
        const struct wire_pointer *p = &t->pointers[i];
        if (!reply || p->dir & WIRE_OUT)
            put_block(&o, get_ptr(arg, p->at), reply ? reply[i] : length_of(arg, p),
                      p->dir & (reply ? WIRE_OUT : WIRE_IN));
    }
    for (UINT i = 0; !reply && !o.full && (info = allocation(thunk, arg, i)); i++)
        put_block(&o, get_ptr(info, WIDE_AT(D3DDDI_ALLOCATIONINFO, pPrivateDriverData)),
                  get_u32(info, WIDE_AT(D3DDDI_ALLOCATIONINFO, PrivateDriverDataSize)), true);
    if (o.full)
        return 0;
    h.size = (uint32_t)o.pos;
    memcpy(msg, &h, sizeof(h));
    return o.pos;
}

/* ---- reading ------------------------------------------------------------- */

/* A block of `expected` bytes. Its memory, from the heap, in *data (NULL when absent). */
static NTSTATUS get_block(struct bytes *b, uint64_t expected, bool content, uint8_t **heap, size_t *left,
                          void **data)
{
    uint32_t present = bytes_u32(b), length = bytes_u32(b);
    size_t room = (expected + 15) & ~(size_t)15;
    const void *from = NULL;

    *data = NULL;
    if (b->bad)
        return STATUS_INFO_LENGTH_MISMATCH;
    if (present > 1 || length != expected)
        return STATUS_INVALID_BUFFER_SIZE;
    if (content && present)
        from = bytes_take(b, length);
    if (b->pos & 7)
        bytes_take(b, -b->pos & 7);
    if (b->bad)
        return STATUS_INFO_LENGTH_MISMATCH;
    if (!present)
        return STATUS_SUCCESS;
    if (room > *left)
        return STATUS_INVALID_BUFFER_SIZE;
    *data = *heap;
    memset(*heap, 0, room);
    if (from)
        memcpy(*heap, from, length);
    *heap += room;
    *left -= room;
    return STATUS_SUCCESS;
}

NTSTATUS d3dkmt_wire_parse(const void *msg, size_t size, enum d3dkmt_thunk *thunk, void *arg, void **heap)
{
    struct bytes b = bytes_of(msg, size);
    struct wire_header h;
    const struct wire_thunk *t;
    const void *from = bytes_take(&b, sizeof(h));
    uint8_t *at, *info;
    size_t left = 2 * WIRE_MAX;
    NTSTATUS s = STATUS_SUCCESS;

    *heap = NULL;
    if (!from)
        return STATUS_INFO_LENGTH_MISMATCH;
    memcpy(&h, from, sizeof(h));
    if (h.magic != WIRE_MAGIC)
        return STATUS_INVALID_PARAMETER;
    if (h.size != size)
        return STATUS_INFO_LENGTH_MISMATCH;
    if (h.thunk >= D3DKMT_NUM_THUNKS)
        return STATUS_NOT_IMPLEMENTED;
    *thunk = (enum d3dkmt_thunk)h.thunk;
    t = &d3dkmt_wire_thunks[h.thunk];
    from = bytes_take(&b, t->size);
    if (!from)
        return STATUS_INFO_LENGTH_MISMATCH;
    memcpy(arg, from, t->size);
    if (b.pos & 7)
        bytes_take(&b, -b.pos & 7);
    for (unsigned i = 0; i < t->num; i++)
        if (get_ptr(arg, t->pointers[i].at))
            return STATUS_INVALID_PARAMETER;
    clear_answers(*thunk, arg);
    if (!t->num)
        return b.bad || bytes_left(&b) ? STATUS_INFO_LENGTH_MISMATCH : STATUS_SUCCESS;
    *heap = at = malloc(left);
    if (!at)
        return STATUS_NO_MEMORY;
    for (unsigned i = 0; i < t->num && NT_SUCCESS(s); i++) {
        const struct wire_pointer *p = &t->pointers[i];
        void *data;
        s = get_block(&b, length_of(arg, p), p->dir & WIRE_IN, &at, &left, &data);
        set_ptr(arg, p->at, data);
    }
    for (UINT i = 0; NT_SUCCESS(s) && (info = allocation(*thunk, arg, i)); i++) {
        void *data;
        s = get_block(&b, get_u32(info, WIDE_AT(D3DDDI_ALLOCATIONINFO, PrivateDriverDataSize)), true, &at,
                      &left, &data);
        set_ptr(info, WIDE_AT(D3DDDI_ALLOCATIONINFO, pSystemMem), NULL);
        set_ptr(info, WIDE_AT(D3DDDI_ALLOCATIONINFO, pPrivateDriverData), data);
    }
    if (NT_SUCCESS(s) && (b.bad || bytes_left(&b)))
        s = STATUS_INFO_LENGTH_MISMATCH;
    return s;
}

/* Of CreateAllocation the handles only: the rest is the caller's. */
static void take_created(uint8_t *to, const uint8_t *from, size_t count)
{
    for (; count--; to += WIDE_SIZE(D3DDDI_ALLOCATIONINFO), from += WIDE_SIZE(D3DDDI_ALLOCATIONINFO))
        memcpy(to + WIDE_AT(D3DDDI_ALLOCATIONINFO, hAllocation),
               from + WIDE_AT(D3DDDI_ALLOCATIONINFO, hAllocation), sizeof(D3DKMT_HANDLE));
}

/* Of OpenResource all but where its data lies: in the total buffer of `left` bytes, in order. */
static bool take_opened(uint8_t *to, const uint8_t *from, size_t count, uint8_t *data, uint64_t left)
{
    for (; count--;
         to += WIDE_SIZE(D3DDDI_OPENALLOCATIONINFO), from += WIDE_SIZE(D3DDDI_OPENALLOCATIONINFO)) {
        UINT size = get_u32(from, WIDE_AT(D3DDDI_OPENALLOCATIONINFO, PrivateDriverDataSize));
        if (size > left)
            return false;
        memcpy(to, from, WIDE_SIZE(D3DDDI_OPENALLOCATIONINFO));
        set_ptr(to, WIDE_AT(D3DDDI_OPENALLOCATIONINFO, pPrivateDriverData), data);
        data += size;
        left -= size;
    }
    return true;
}

/* Block `i`, of `length` bytes, goes to where the caller's pointer leads. */
static bool take_block(enum d3dkmt_thunk thunk, unsigned i, void *const pointers[4], const uint64_t room[4],
                       const void *from, uint64_t length)
{
    length = length < room[i] ? length : room[i];
    if (thunk == D3DKMT_THUNK_CreateAllocation)
        take_created(pointers[i], from, length / WIDE_SIZE(D3DDDI_ALLOCATIONINFO));
    else if (thunk == D3DKMT_THUNK_OpenResource && !i)
        return take_opened(pointers[i], from, length / WIDE_SIZE(D3DDDI_OPENALLOCATIONINFO), pointers[3],
                           pointers[3] ? room[3] : 0);
    else
        memcpy(pointers[i], from, length);
    return true;
}

NTSTATUS d3dkmt_wire_parse_reply(const void *msg, size_t size, enum d3dkmt_thunk thunk, void *arg)
{
    const struct wire_thunk *t = &d3dkmt_wire_thunks[thunk];
    struct bytes b = bytes_of(msg, size);
    const struct wire_header *h = bytes_take(&b, sizeof(*h));
    const void *from;
    void *pointers[4];
    uint64_t room[4];

    if (!h || h->magic != WIRE_MAGIC || h->thunk != (uint32_t)thunk)
        return STATUS_INTERNAL_ERROR;
    if (size == sizeof(*h))
        return h->status; /* refused, or nothing but a status */
    from = bytes_take(&b, t->size);
    if (!from)
        return STATUS_INTERNAL_ERROR;
    for (unsigned i = 0; i < t->num; i++) {
        pointers[i] = get_ptr(arg, t->pointers[i].at);
        room[i] = length_of(arg, &t->pointers[i]);
    }
    memcpy(arg, from, t->size);
    for (unsigned i = 0; i < t->num; i++)
        set_ptr(arg, t->pointers[i].at, pointers[i]);
    /* The caller walks its list by this count. */
    if ((thunk == D3DKMT_THUNK_CreateAllocation && length_of(arg, &t->pointers[2]) != room[2]) ||
        (thunk == D3DKMT_THUNK_OpenResource && length_of(arg, &t->pointers[0]) != room[0]))
        return STATUS_INTERNAL_ERROR;
    if (b.pos & 7)
        bytes_take(&b, -b.pos & 7);
    for (unsigned i = 0; i < t->num; i++) {
        uint32_t present, length;
        if (!(t->pointers[i].dir & WIRE_OUT))
            continue;
        present = bytes_u32(&b);
        length = bytes_u32(&b);
        from = present ? bytes_take(&b, length) : NULL;
        if (b.pos & 7)
            bytes_take(&b, -b.pos & 7);
        if (b.bad || (from && pointers[i] && !take_block(thunk, i, pointers, room, from, length)))
            return STATUS_INTERNAL_ERROR;
    }
    return h->status;
}
