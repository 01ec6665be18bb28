/* SPDX-License-Identifier: MIT */
/* What the miniport answers is held against the documents (dxgkrnl/answers): each row is one wrong answer, put behind what softgpu
 * answers, and what is said of it. */
#include "test.h"

#include "dxgkrnl_rig.h"

#include <stdio.h>
#include <string.h>

#include "dxgkrnl/adapter.h"
#include "wddm/ntstatus.h"

/* R(name, where, statement, B breaks a rule or N is a remark, what is said) */
#define ROWS(R)                                                                                              \
    R(haa, CAPS, c->HighestAcceptableAddress.QuadPart = 0, B, "HighestAcceptableAddress.QuadPart = 0;")      \
    R(slots, CAPS, c->MaxAllocationListSlotId = 1 << 24, N, "MaxAllocationListSlotId = 0x1000000;")          \
    R(width, CAPS, c->MaxPointerWidth = ~0u, N, "MaxPointerWidth = 0xffffffff;")                             \
    R(height, CAPS, c->MaxPointerHeight = ~0u, N, "MaxPointerHeight = 0xffffffff;")                          \
    R(no_width, CAPS, c->MaxPointerWidth = 0, N, "MaxPointerWidth = 0;")                                     \
    R(pointer, CAPS, c->PointerCaps.Reserved = 1, N, "PointerCaps.Reserved = 1;")                            \
    R(message, CAPS, c->InterruptMessageNumber = 99, N, "InterruptMessageNumber = 99;")                      \
    R(ranges, CAPS, c->NumberOfSwizzlingRanges = 1, B, "NumberOfSwizzlingRanges = 1; allowed: 0, without")   \
    R(overlays, CAPS, c->MaxOverlays = 2, B, "MaxOverlays = 2;")                                             \
    R(gamma, CAPS, c->GammaRampCaps.Reserved = 5, N, "GammaRampCaps.Reserved = 5;")                          \
    R(gdi, CAPS, c->PresentationCaps.Value = 2 << 10 | 4, B, "without DxgkDdiRenderKm")                      \
    R(present, CAPS, c->PresentationCaps.Reserved = 1, N, "PresentationCaps.Reserved = 1;")                  \
    R(queued, CAPS, c->MaxQueuedFlipOnVSync = 0, N, "MaxQueuedFlipOnVSync = 0;")                             \
    R(flips, CAPS, c->FlipCaps.Reserved = 1, N, "FlipCaps.Reserved = 1;")                                    \
    R(scheduling, CAPS, c->SchedulingCaps.Reserved = 1, N, "SchedulingCaps.Reserved = 1;")                   \
    R(engine, CAPS, c->MemoryManagementCaps.DedicatedPagingEngine = 1, N, "DedicatedPagingEngine = 1;")      \
    R(paging, CAPS, c->MemoryManagementCaps.PagingNode = 1, B, "MemoryManagementCaps.PagingNode = 1;")       \
    R(no_node, CAPS, c->GpuEngineTopology.NbAsymetricProcessingNodes = 0, B, "ProcessingNodes = 0;")         \
    R(nodes, CAPS, c->GpuEngineTopology.NbAsymetricProcessingNodes = 65, B, "ProcessingNodes = 65;")         \
    R(topology, CAPS, c->GpuEngineTopology.Reserved[63] = 1, N, "GpuEngineTopology.Reserved = 1;")           \
    R(wddm, CAPS, c->WDDMVersion = DXGKDDI_WDDMv1_2, N, "WDDMVersion = 4608; documented: reserved, 0")       \
    R(virtual, CAPS, c->VirtualAddressCaps.IdealGPUPageSize = 1, N, "VirtualAddressCaps")                    \
    R(dma, CAPS, c->DmaBufferCaps.PagingDmaBuffer.Size = 1, N, "DmaBufferCaps")                              \
    R(caps_behind, CAPS, ((UCHAR *)(c + 1))[16] = 1, B, "pOutputData, at byte = ")                           \
    R(no_segment, FIRST, o->NbSegment = 0, B, "NbSegment = 0; allowed: 1 to 31")                             \
    R(segments, FIRST, o->NbSegment = 32, B, "NbSegment = 32;")                                              \
    R(grown, SECOND, o->NbSegment = 5, B, "NbSegment = 5; allowed: what it was")                             \
    R(array, SECOND, o->pSegmentDescriptor++, B, "pSegmentDescriptor = 0x")                                  \
    R(paging_id, SECOND, o->PagingBufferSegmentId = 77, B, "PagingBufferSegmentId = 77;")                    \
    R(paging_memory, SECOND, (o->PagingBufferSegmentId = 1, s->Flags.Aperture = 0), B,                       \
      "PagingBufferSegmentId = 1; allowed: 0, or an aperture")                                               \
    R(paging_0, SECOND, o->PagingBufferSize = 0, B, "PagingBufferSize = 0;")                                 \
    R(paging_size, SECOND, o->PagingBufferSize = ~0u, B, "PagingBufferSize = 0xffffffff;")                   \
    R(paging_private, SECOND, o->PagingBufferPrivateDataSize = ~0u, B, "PagingBufferPrivateDataSize = 0x")   \
    R(size_0, SECOND, s->Size = 0, B, "pSegmentDescriptor[0].Size = 0;")                                     \
    R(size_odd, SECOND, s->Size = 4097, B, "pSegmentDescriptor[0].Size = 4097; allowed: a multiple of")      \
    R(size_minus, SECOND, s->Size = (SIZE_T)-4096, B, "[0].Size = 0xfffffffffffff000; allowed: with Base")   \
    R(base, SECOND, s->BaseAddress.QuadPart = INT64_MAX, B, "allowed: with BaseAddress")                     \
    R(agp, SECOND, s->Flags.Agp = 1, B, "pSegmentDescriptor[0].Flags.Value = 7; allowed: Agp, or")           \
    R(coherent, SECOND, (s->Flags.Value = 0x10, s->CommitLimit = s->Size), N, "Flags.CacheCoherent = 1;")    \
    R(populated, SECOND, s->Flags.PopulatedFromSystemMemory = 1, N, "PopulatedFromSystemMemory = 1;")        \
    R(commit, SECOND, (s->Flags.Value = 0, s->CommitLimit = 4096), N, "CommitLimit = 4096;")                 \
    R(window, SECOND, (s->Flags.Value = 4, s->CommitLimit = s->Size), N, "CpuTranslatedAddress.QuadPart")    \
    R(flags, SECOND, s->Flags.Reserved = 1, N, "Flags.Reserved = 1;")                                        \
    R(banks, SECOND, (s->Flags.UseBanking = 1, s->NbOfBanks = 100000), B, "NbOfBanks = 0x186a0;")            \
    R(bank_table, SECOND, (s->Flags.UseBanking = 1, s->NbOfBanks = 3, s->pBankRangeTable = (SIZE_T *)8), B,  \
      "pBankRangeTable = 8;")                                                                                \
    R(bank_end, SECOND, (s->Flags.UseBanking = 1, s->NbOfBanks = 3, s->pBankRangeTable = ends), B,           \
      "pBankRangeTable, an end = 4096;")                                                                     \
    R(no_source, START, *sources = 0, B, "NumberOfVideoPresentSources = 0;")                                 \
    R(no_child, START, *children = 0, B, "NumberOfChildren = 0;")                                            \
    R(type, CHILDREN, l->ChildDeviceType = 99, B, "ChildRelations[0].ChildDeviceType = 99;")                 \
    R(uid, CHILDREN, l->ChildUid = ~0u, B, "ChildUid = 0xffffffff; allowed: any other")                      \
    R(hpd, CHILDREN, l->ChildCapabilities.HpdAwareness = 9, N, "HpdAwareness = 9;")                          \
    R(connector, CHILDREN, l->ChildCapabilities.Type.VideoOutput.InterfaceTechnology = 7, N,                 \
      "InterfaceTechnology = 7;")                                                                            \
    R(orientation, CHILDREN, l->ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = 0, N,       \
      "MonitorOrientationAwareness = 0;")                                                                    \
    R(last, CHILDREN, l[1].ChildUid = 3, B, "behind the last child, = 1; allowed: zeroed")                   \
    R(status_type, STATUS, t->Type = StatusRotation, N, "DxgkDdiQueryChildStatus answered Type = 2;")        \
    R(status_bool, STATUS, t->HotPlug.Connected = 7, N, "HotPlug.Connected = 7;")                            \
    R(edid_sum, EDID, ((UCHAR *)e->DescriptorBuffer)[127]++, N, "an EDID of which a block's sum = 1;")       \
    R(edid_head, EDID, ((UCHAR *)e->DescriptorBuffer)[0] = 7, N, "an EDID whose first byte = 7;")            \
    R(edid_length, EDID, e->DescriptorLength = ~0u, N, "DescriptorLength, or another member")                \
    R(fit, IS_SUPPORTED, i->IsVidPnSupported = 7, N, "IsVidPnSupported = 7;")                                \
    R(standard, STANDARD, d->AllocationPrivateDriverDataSize = ~0u, B, "PrivateDriverDataSize = 0xffff")     \
    R(standard_2, STANDARD2, d->AllocationPrivateDriverDataSize = 4096, B, "= 4096; allowed: what it was")   \
    R(device, DEVICE, v->hDevice = given, N, "DxgkDdiCreateDevice answered hDevice = 0x")                    \
    R(context, CONTEXT, x->hContext = given, N, "DxgkDdiCreateContext answered hContext = 0x")               \
    R(dma_0, CONTEXT, x->ContextInfo.DmaBufferSize = 0, B, "answered DmaBufferSize = 0; allowed: 1 to")      \
    R(dma_size, CONTEXT, x->ContextInfo.DmaBufferSize = ~0u, B, "answered DmaBufferSize = 0xffffffff;")      \
    R(dma_private, CONTEXT, x->ContextInfo.DmaBufferPrivateDataSize = ~0u, B,                                \
      "answered DmaBufferPrivateDataSize = 0xffffffff;")                                                     \
    R(list, CONTEXT, x->ContextInfo.AllocationListSize = ~0u, B, "AllocationListSize = 0xffffffff;")         \
    R(patches, CONTEXT, x->ContextInfo.PatchLocationListSize = ~0u, B, "PatchLocationListSize = 0xff")       \
    R(group, CONTEXT, x->ContextInfo.DmaBufferAllocationGroup = 1, N, "DmaBufferAllocationGroup = 1;")       \
    R(set, CONTEXT, x->ContextInfo.DmaBufferSegmentSet = 1 << 5, B, "= 32; allowed: segments that there")    \
    R(a_size_0, ALLOCATION, a->Size = 0, B, "pAllocationInfo[0].Size = 0;")                                  \
    R(a_size, ALLOCATION, a->Size = SIZE_MAX, B, "pAllocationInfo[0].Size = 0xffffffffffffffff;")            \
    R(a_alignment, ALLOCATION, a->Alignment = 3, N, "pAllocationInfo[0].Alignment = 3;")                     \
    R(a_aligned, ALLOCATION, (a->Alignment = 65536, a->PitchAlignedSize = 1), N, "PitchAlignedSize = 1;")    \
    R(a_pitch, ALLOCATION, a->PitchAlignedSize = 1, N, "PitchAlignedSize = 1;")                              \
    R(a_read, ALLOCATION, a->SupportedReadSegmentSet = 2, B, "SupportedReadSegmentSet = 2;")                 \
    R(a_write, ALLOCATION, a->SupportedWriteSegmentSet = 1u << 31, B, "SupportedWriteSegmentSet = 0x8000")   \
    R(a_none, ALLOCATION, a->SupportedReadSegmentSet = a->SupportedWriteSegmentSet = 0, B,                   \
      "SupportedReadSegmentSet = 0; allowed: a segment that")                                                \
    R(a_evict, ALLOCATION, a->EvictionSegmentSet = 2, N, "EvictionSegmentSet = 2;")                          \
    R(a_prefer, ALLOCATION, a->PreferredSegment.SegmentId3 = 9, N, "PreferredSegment, a segment = 9;")       \
    R(a_handle, ALLOCATION, (lost = a->hAllocation, a->hAllocation = NULL), B, "hAllocation = 0;")           \
    R(a_overlay, ALLOCATION, a->Flags.Overlay = 1, N, "Flags.Overlay = 1;")                                  \
    R(a_swizzled, ALLOCATION, a->Flags.Swizzled = 1, N, "Flags.Swizzled = 1;")                               \
    R(a_flags, ALLOCATION, a->Flags.Reserved = 1, N, "Flags.Reserved = 1;")                                  \
    R(opened, OPEN, p->pOpenAllocation->hDeviceSpecificAllocation = NULL, N,                                 \
      "DxgkDdiOpenAllocation answered hDeviceSpecificAllocation = 0;")

enum where {
    NOWHERE,
    CAPS,
    FIRST,
    SECOND,
    START,
    CHILDREN,
    STATUS,
    EDID,
    IS_SUPPORTED,
    STANDARD,
    STANDARD2,
    DEVICE, /* from here on at work */
    CONTEXT,
    ALLOCATION,
    OPEN
};
enum row {
#define R(name, where, statement, degree, says) ROW_##name,
    ROWS(R)
#undef R
        NUM_ROWS
};
enum { B = ANSWER_BREAKS, N = ANSWER_REMARK };
static const struct {
    const char *name;
    enum where where;
    int degree;
    const char *says;
} rows[] = {
#define R(name, where, statement, degree, says) {#name, where, degree, says},
    ROWS(R)
#undef R
};

static DRIVER_INITIALIZATION_DATA real;
static int planted = -1; /* the row */
static SIZE_T ends[] = {8192, 4096};
static void *lost, *given;

/* Puts the row's answer behind the right one, if it is of this place, once. */
static void plant(enum where where, void *arg, void *more)
{
    DXGK_DRIVERCAPS *c = arg;
    DXGK_QUERYSEGMENTOUT *o = arg;
    DXGK_SEGMENTDESCRIPTOR *s = where == SECOND ? o->pSegmentDescriptor : NULL;
    ULONG *sources = arg, *children = more;
    DXGK_CHILD_DESCRIPTOR *l = arg;
    DXGK_CHILD_STATUS *t = arg;
    DXGK_DEVICE_DESCRIPTOR *e = arg;
    DXGKARG_ISSUPPORTEDVIDPN *i = arg;
    DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *d = arg;
    DXGKARG_CREATEDEVICE *v = arg;
    DXGKARG_CREATECONTEXT *x = arg;
    DXGK_ALLOCATIONINFO *a = arg;
    const DXGKARG_OPENALLOCATION *p = arg;

    if (planted < 0 || rows[planted].where != where)
        return;
    switch (planted) {
#define R(name, where, statement, degree, says)                                                              \
    case ROW_##name:                                                                                         \
        statement;                                                                                           \
        break;
        ROWS(R)
#undef R
    default:
        break;
    }
    planted = -1;
}

static NTSTATUS NTAPI QueryAdapterInfo(CONST HANDLE h, CONST DXGKARG_QUERYADAPTERINFO *q)
{
    DXGK_QUERYSEGMENTOUT *o = q->pOutputData;
    bool first = q->Type == DXGKQAITYPE_QUERYSEGMENT && !o->pSegmentDescriptor;
    NTSTATUS st = real.DxgkDdiQueryAdapterInfo(h, q);

    plant(q->Type == DXGKQAITYPE_DRIVERCAPS     ? CAPS
          : q->Type != DXGKQAITYPE_QUERYSEGMENT ? NOWHERE
          : first                               ? FIRST
                                                : SECOND,
          q->pOutputData, NULL);
    return st;
}

static NTSTATUS NTAPI StartDevice(CONST PVOID m, PDXGK_START_INFO i, PDXGKRNL_INTERFACE k, PULONG sources,
                                  PULONG children)
{
    NTSTATUS st = real.DxgkDdiStartDevice(m, i, k, sources, children);

    plant(START, sources, children);
    return st;
}

static NTSTATUS NTAPI QueryChildRelations(CONST PVOID m, PDXGK_CHILD_DESCRIPTOR l, ULONG size)
{
    NTSTATUS st = real.DxgkDdiQueryChildRelations(m, l, size);

    plant(CHILDREN, l, NULL);
    return st;
}

static NTSTATUS NTAPI QueryChildStatus(CONST PVOID m, PDXGK_CHILD_STATUS t, BOOLEAN only)
{
    NTSTATUS st = real.DxgkDdiQueryChildStatus(m, t, only);

    plant(STATUS, t, NULL);
    return st;
}

static NTSTATUS NTAPI QueryDeviceDescriptor(CONST PVOID m, ULONG uid, PDXGK_DEVICE_DESCRIPTOR e)
{
    NTSTATUS st = real.DxgkDdiQueryDeviceDescriptor(m, uid, e);

    plant(EDID, e, NULL);
    return st;
}

static NTSTATUS NTAPI IsSupportedVidPn(CONST HANDLE h, DXGKARG_ISSUPPORTEDVIDPN *i)
{
    NTSTATUS st = real.DxgkDdiIsSupportedVidPn(h, i);

    plant(IS_SUPPORTED, i, NULL);
    return st;
}

static NTSTATUS NTAPI StandardData(CONST HANDLE h, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *d)
{
    bool first = !d->pAllocationPrivateDriverData;
    NTSTATUS st = real.DxgkDdiGetStandardAllocationDriverData(h, d);

    plant(first ? STANDARD : STANDARD2, d, NULL);
    return st;
}

static NTSTATUS NTAPI CreateDevice(CONST HANDLE h, DXGKARG_CREATEDEVICE *v)
{
    void *own = v->hDevice;
    NTSTATUS st = real.DxgkDdiCreateDevice(h, v);

    lost = v->hDevice;
    given = own;
    plant(DEVICE, v, NULL);
    return st;
}

/* The handle that the miniport gave, where a row has taken it. */
static HANDLE found(HANDLE h)
{
    return h && h == given ? lost : h;
}

static NTSTATUS NTAPI DestroyDevice(CONST HANDLE h)
{
    return real.DxgkDdiDestroyDevice(found(h));
}

static NTSTATUS NTAPI CreateContext(CONST HANDLE h, DXGKARG_CREATECONTEXT *x)
{
    void *own = x->hContext;
    NTSTATUS st = real.DxgkDdiCreateContext(h, x);

    if (planted == ROW_context) {
        lost = x->hContext;
        given = own;
    }
    plant(CONTEXT, x, NULL);
    return st;
}

static NTSTATUS NTAPI DestroyContext(CONST HANDLE h)
{
    return real.DxgkDdiDestroyContext(found(h));
}

static NTSTATUS NTAPI CreateAllocation(CONST HANDLE h, DXGKARG_CREATEALLOCATION *a)
{
    NTSTATUS st = real.DxgkDdiCreateAllocation(h, a);

    plant(ALLOCATION, a->pAllocationInfo, NULL);
    return st;
}

static NTSTATUS NTAPI DestroyAllocation(CONST HANDLE h, CONST DXGKARG_DESTROYALLOCATION *a)
{
    DXGKARG_DESTROYALLOCATION found_one = *a;

    if (!a->pAllocationList[0])
        found_one.pAllocationList = &lost; /* there is one */
    return real.DxgkDdiDestroyAllocation(h, &found_one);
}

static NTSTATUS NTAPI OpenAllocation(CONST HANDLE h, CONST DXGKARG_OPENALLOCATION *p)
{
    NTSTATUS st = real.DxgkDdiOpenAllocation(h, p);

    plant(OPEN, (void *)(uintptr_t)p, NULL);
    return st;
}

static void wrap(struct world *w)
{
    DRIVER_INITIALIZATION_DATA *d = &w->dxgk->ddi;

    real = *d;
    d->DxgkDdiQueryAdapterInfo = QueryAdapterInfo;
    d->DxgkDdiStartDevice = StartDevice;
    d->DxgkDdiQueryChildRelations = QueryChildRelations;
    d->DxgkDdiQueryChildStatus = QueryChildStatus;
    d->DxgkDdiQueryDeviceDescriptor = QueryDeviceDescriptor;
    d->DxgkDdiIsSupportedVidPn = IsSupportedVidPn;
    d->DxgkDdiGetStandardAllocationDriverData = StandardData;
    d->DxgkDdiCreateDevice = CreateDevice;
    d->DxgkDdiDestroyDevice = DestroyDevice;
    d->DxgkDdiCreateContext = CreateContext;
    d->DxgkDdiDestroyContext = DestroyContext;
    d->DxgkDdiCreateAllocation = CreateAllocation;
    d->DxgkDdiDestroyAllocation = DestroyAllocation;
    d->DxgkDdiOpenAllocation = OpenAllocation;
}

/* ---- the rows ------------------------------------------------------------ */

/* Whether an event `id` says this, behind the first `from`. */
static bool says(struct world *w, unsigned id, unsigned from, const char *what)
{
    struct dxgk_event e;
    bool said = false;

    for (unsigned i = from; dxgk_event(w->dxgk, i, &e); i++)
        said |= e.id == id && strstr(e.text, what);
    return said;
}

static unsigned events(struct world *w)
{
    struct dxgk_event e;
    unsigned n = 0;

    while (dxgk_event(w->dxgk, n, &e))
        n++;
    return n;
}

TEST(settings_out_of_range_are_said_once)
{
    struct dxgk_event e;
    struct world w;
    unsigned n = 0;

    world_set("TdrDdiDelay", 99999);
    world_up(&w, false);
    dxgk_stop(w.dxgk);
    assert_int_equal(dxgk_start(w.dxgk, NULL), STATUS_SUCCESS);
    for (unsigned i = 0; dxgk_event(w.dxgk, i, &e); i++)
        n += e.id == 1 && !strcmp(e.text, "TdrDdiDelay = 99999 is out of range (1 to 3600): 5 is used");
    assert_int_equal(n, 1);
    world_down(&w, 0);
}

static NTSTATUS at_work(struct world *w, enum where where)
{
    D3DKMT_CREATEDEVICE d = {.hAdapter = w->adapter};
    D3DKMT_CREATECONTEXT x = {0};
    struct softgpu_alloc priv = {.size = 4096};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION a = {.NumAllocations = 1, .pAllocationInfo = &info};
    NTSTATUS st = dxgk_CreateDevice(w->client, &d);

    assert_int_equal(st, STATUS_SUCCESS);
    x.hDevice = a.hDevice = d.hDevice;
    if (where == CONTEXT)
        st = dxgk_CreateContext(w->client, &x);
    else if (where != DEVICE)
        st = dxgk_CreateAllocation(w->client, &a);
    assert_int_equal(dxgk_DestroyDevice(w->client, &(D3DKMT_DESTROYDEVICE){d.hDevice}), STATUS_SUCCESS);
    return st;
}

TEST(every_wrong_answer_is_named)
{
    struct world w;
    unsigned broken = 0;

    world_up(&w, false);
    wrap(&w);
    for (int i = 0; i < NUM_ROWS; i++) {
        unsigned before = dxgk_violations(w.dxgk), from = events(&w);
        bool breaks = rows[i].degree == ANSWER_BREAKS, start = rows[i].where < DEVICE;
        struct error err = {0};
        NTSTATUS st;

        w.dxgk->remarks.count = 0;
        planted = i;
        if (start)
            dxgk_stop(w.dxgk);
        st = start ? dxgk_start(w.dxgk, &err) : at_work(&w, rows[i].where);
        assert_int_equal(planted, -1);
        if (!says(&w, breaks ? 0xC4 : 11, from, rows[i].says))
            fail_msg("%s: nothing says '%s'", rows[i].name, rows[i].says);
        if (NT_SUCCESS(st) && breaks)
            fail_msg("%s: %08x, '%s'", rows[i].name, (unsigned)st, err.text);
        if (breaks && start && !strstr(err.text, rows[i].says))
            fail_msg("%s: '%s' does not say '%s'", rows[i].name, err.text, rows[i].says);
        if (dxgk_violations(w.dxgk) - before != breaks)
            fail_msg("%s: %u rules were broken", rows[i].name, dxgk_violations(w.dxgk) - before);
        broken += breaks;
        if (start && !NT_SUCCESS(st))
            assert_int_equal(dxgk_start(w.dxgk, &err), STATUS_SUCCESS);
    }
    w.dxgk->ddi = real;
    world_down(&w, broken);
}

/* ---- statuses ------------------------------------------------------------ */

static NTSTATUS told;

static NTSTATUS NTAPI failing_stop(CONST PVOID m)
{
    real.DxgkDdiStopDevice(m);
    return told;
}

static NTSTATUS NTAPI failing_remove(CONST PVOID m)
{
    real.DxgkDdiRemoveDevice(m);
    return told;
}

static NTSTATUS NTAPI failing_destroy(CONST HANDLE h)
{
    real.DxgkDdiDestroyDevice(h);
    return told;
}

static NTSTATUS NTAPI failing_query(CONST HANDLE h, CONST DXGKARG_QUERYADAPTERINFO *q)
{
    UNREFERENCED_PARAMETER(h);
    UNREFERENCED_PARAMETER(q);
    return told;
}

static NTSTATUS NTAPI odd_add(CONST PDEVICE_OBJECT pdo, PVOID *m)
{
    NTSTATUS st = real.DxgkDdiAddDevice(pdo, m);

    return NT_SUCCESS(st) ? told : st;
}

static NTSTATUS NTAPI odd_submit(CONST HANDLE h, CONST DXGKARG_SUBMITCOMMAND *s)
{
    NTSTATUS st = real.DxgkDdiSubmitCommand(h, s);

    return NT_SUCCESS(st) ? told : st;
}

/* They say that they have recommended something. */
static NTSTATUS NTAPI no_topology(CONST HANDLE h, CONST DXGKARG_RECOMMENDVIDPNTOPOLOGY *CONST r)
{
    UNREFERENCED_PARAMETER(h);
    UNREFERENCED_PARAMETER(r);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI no_vidpn(CONST HANDLE h, CONST DXGKARG_RECOMMENDFUNCTIONALVIDPN *CONST r)
{
    UNREFERENCED_PARAMETER(h);
    UNREFERENCED_PARAMETER(r);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI odd_hardware(CONST HANDLE h, DXGKARG_QUERYVIDPNHWCAPABILITY *q)
{
    UNREFERENCED_PARAMETER(h);
    q->VidPnHWCaps.Reserved = 3;
    return STATUS_SUCCESS;
}

TEST(a_status_that_is_not_documented_is_named)
{
    D3DKMT_CREATEDEVICE d = {0};
    struct error err = {0};
    struct world w;
    uint32_t blob[64];
    D3DKMT_QUERYADAPTERINFO q = {.Type = KMTQAITYPE_UMDRIVERPRIVATE,
                                 .pPrivateDriverData = blob,
                                 .PrivateDriverDataSize = sizeof(blob)};

    world_up(&w, false);
    real = w.dxgk->ddi;
    told = STATUS_UNSUCCESSFUL;
    q.hAdapter = d.hAdapter = w.adapter;
    w.dxgk->ddi.DxgkDdiDestroyDevice = failing_destroy;
    assert_int_equal(dxgk_CreateDevice(w.client, &d), STATUS_SUCCESS);
    assert_int_equal(dxgk_DestroyDevice(w.client, &(D3DKMT_DESTROYDEVICE){d.hDevice}), STATUS_SUCCESS);
    w.dxgk->ddi.DxgkDdiDestroyDevice = real.DxgkDdiDestroyDevice;
    assert_true(says(&w, 0xC4, 0, "DxgkDdiDestroyDevice returned c0000001"));
    w.dxgk->ddi.DxgkDdiQueryAdapterInfo = failing_query;
    told = STATUS_NOT_SUPPORTED; /* which says no more than that */
    assert_int_equal(dxgk_QueryAdapterInfo(w.client, &q), STATUS_NOT_SUPPORTED);
    assert_int_equal(dxgk_event_count(w.dxgk, 11), 0);
    told = STATUS_UNSUCCESSFUL;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(dxgk_QueryAdapterInfo(w.client, &q), STATUS_UNSUCCESSFUL);
    w.dxgk->ddi.DxgkDdiQueryAdapterInfo = real.DxgkDdiQueryAdapterInfo;
    assert_int_equal(dxgk_event_count(w.dxgk, 11), 1); /* once */
    assert_true(says(&w, 11, 0, "DxgkDdiQueryAdapterInfo returned c0000001, which is none of the statuses"));
    w.dxgk->ddi.DxgkDdiStopDevice = failing_stop;
    w.dxgk->ddi.DxgkDdiRemoveDevice = failing_remove;
    dxgk_stop(w.dxgk);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 1), "DxgkDdiStopDevice returned c0000001"));
    assert_non_null(strstr(dxgk_violation(w.dxgk, 2), "DxgkDdiRemoveDevice returned c0000001"));
    w.dxgk->ddi = real;
    w.dxgk->ddi.DxgkDdiAddDevice = odd_add;
    w.dxgk->ddi.DxgkDdiSubmitCommand = odd_submit;
    w.dxgk->ddi.DxgkDdiRecommendVidPnTopology = no_topology;
    w.dxgk->ddi.DxgkDdiRecommendFunctionalVidPn = no_vidpn;
    w.dxgk->ddi.DxgkDdiQueryVidPnHWCapability = odd_hardware;
    told = STATUS_PENDING;
    assert_int_equal(dxgk_start(w.dxgk, &err), STATUS_SUCCESS);
    assert_true(
        says(&w, 11, 0, "DxgkDdiAddDevice returned 00000103, which is a success, and not STATUS_SUCCESS"));
    assert_true(says(&w, 0xC4, 0, "DxgkDdiSubmitCommand returned 00000103; allowed: STATUS_SUCCESS alone"));
    assert_true(says(&w, 11, 0, "DxgkDdiRecommendVidPnTopology answered STATUS_SUCCESS, and paths"));
    assert_true(says(&w, 11, 0, "DxgkDdiRecommendFunctionalVidPn answered STATUS_SUCCESS, and modes"));
    assert_true(says(&w, 11, 0, "DxgkDdiQueryVidPnHWCapability answered VidPnHWCaps.Reserved = 3;"));
    w.dxgk->ddi = real;
    world_down(&w, dxgk_violations(w.dxgk)); /* one more for each submission */
}

/* ---- interrupts and fences ----------------------------------------------- */

static BOOLEAN NTAPI deaf(CONST PVOID m, ULONG message)
{
    UNREFERENCED_PARAMETER(m);
    UNREFERENCED_PARAMETER(message);
    return FALSE;
}

TEST(an_interrupt_routine_that_does_nothing_is_named)
{
    struct error err = {0};
    struct world w;

    world_up(&w, false);
    real = w.dxgk->ddi;
    dxgk_stop(w.dxgk);
    w.dxgk->ddi.DxgkDdiInterruptRoutine = deaf;
    dxgk_start(w.dxgk, &err);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 0), "DxgkDdiInterruptRoutine returned FALSE for "));
    w.dxgk->ddi = real;
    world_down(&w, 1);
}

static UINT fence_shift;

static NTSTATUS NTAPI odd_fence(CONST HANDLE h, DXGKARG_QUERYCURRENTFENCE *q)
{
    NTSTATUS st = real.DxgkDdiQueryCurrentFence(h, q);

    q->CurrentFence += fence_shift;
    fence_shift = 0;
    return st;
}

TEST(a_fence_of_the_future_is_named)
{
    struct world w;
    struct ctx x;

    world_up(&w, false);
    real = w.dxgk->ddi;
    w.dxgk->ddi.DxgkDdiQueryCurrentFence = odd_fence;
    fence_shift = 1000;
    x = ctx_make(&w, w.client, w.adapter);
    ctx_hang(&w, &x);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 0), "DxgkDdiQueryCurrentFence answered CurrentFence = "));
    w.dxgk->ddi = real;
    world_down(&w, 1);
}

/* It supports another of the machine's functions. */
static NTSTATUS NTAPI no_adapter(CONST PDEVICE_OBJECT pdo, PVOID *m)
{
    UNREFERENCED_PARAMETER(pdo);
    *m = NULL;
    return STATUS_SUCCESS;
}

TEST(a_miniport_may_not_want_the_adapter)
{
    struct error err = {0};
    struct world w;

    world_up(&w, false);
    real = w.dxgk->ddi;
    dxgk_stop(w.dxgk);
    w.dxgk->ddi.DxgkDdiAddDevice = no_adapter;
    assert_int_equal(dxgk_start(w.dxgk, &err), STATUS_NO_SUCH_DEVICE);
    assert_non_null(strstr(err.text, "does not support this adapter"));
    w.dxgk->ddi = real;
    assert_int_equal(dxgk_start(w.dxgk, &err), STATUS_SUCCESS);
    world_down(&w, 0);
}

/* What is asked for is kept, also behind one that ends between two such places. */
TEST(allocations_are_aligned_as_asked)
{
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE list[4];
    unsigned n = 0;

    world_up(&w, false);
    wrap(&w);
    x = ctx_make(&w, w.client, w.adapter);
    for (unsigned i = 0; i < 4; i++) {
        planted = i & 1 ? ROW_a_aligned : -1;
        assert_int_equal(ctx_allocate(&w, &x, 4096, false, &list[i]), STATUS_SUCCESS);
        ctx_put(&x, OP_FILL, i, 0, 1, i);
    }
    assert_int_equal(ctx_render(w.client, &x, list, 4), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    for (const struct alloc *a = w.dxgk->vidmm.allocs; a; a = a->next)
        if (a->alignment) {
            assert_int_equal(a->segment, 1);
            assert_int_equal(a->offset % 65536, 0);
            n++;
        }
    assert_int_equal(n, 2);
    w.dxgk->ddi = real;
    world_down(&w, 0);
}

/* ---- modes --------------------------------------------------------------- */

/* M(source or target, statement, what is said) */
#define MODES(M)                                                                                             \
    M(source, f->PixelFormat = 0, "PixelFormat = 0;")                                                        \
    M(source, f->Stride = 640 * 4 - 1, "Stride = 2559; documented: the bytes of a line, and more")           \
    M(source, f->VisibleRegionSize.cx = 641, "VisibleRegionSize.cx = 641;")                                  \
    M(source, f->VisibleRegionSize.cy = 0, "VisibleRegionSize.cy = 0;")                                      \
    M(source, f->ColorBasis = 6, "ColorBasis = 6;")                                                          \
    M(source, f->PixelValueAccessMode = 0, "PixelValueAccessMode = 0;")                                      \
    M(source, s->Type = 3, "Type = 3;")                                                                      \
    M(target, i->TotalSize.cx = 639, "TotalSize.cx = 639;")                                                  \
    M(target, i->TotalSize.cy = 1, "TotalSize.cy = 1;")                                                      \
    M(target, i->VSyncFreq.Denominator = 0, "VSyncFreq.Denominator = 0;")                                    \
    M(target, i->VSyncFreq.Numerator = 0, "VSyncFreq.Numerator = 0;")                                        \
    M(target, i->VideoStandard = 0, "VideoStandard = 0;")
static const char *const mode_says[] = {
#define M(kind, statement, text) text,
    MODES(M)
#undef M
};
static struct dxgk *asked;

static void plant_mode(unsigned n, D3DKMDT_VIDPN_SOURCE_MODE *s, D3DKMDT_VIDPN_TARGET_MODE *t)
{
    D3DKMDT_GRAPHICS_RENDERING_FORMAT *f = &s->Format.Graphics;
    D3DKMDT_VIDEO_SIGNAL_INFO *i = &t->VideoSignalInfo;
    unsigned k = 0;

    s->Type = D3DKMDT_RMT_GRAPHICS;
    *f = (D3DKMDT_GRAPHICS_RENDERING_FORMAT){.PrimSurfSize = {640, 480},
                                             .VisibleRegionSize = {640, 480},
                                             .Stride = 640 * 4,
                                             .PixelFormat = D3DDDIFMT_X8R8G8B8,
                                             .ColorBasis = D3DKMDT_CB_SRGB,
                                             .PixelValueAccessMode = D3DKMDT_PVAM_DIRECT};
    *i = (D3DKMDT_VIDEO_SIGNAL_INFO){.VideoStandard = D3DKMDT_VSS_OTHER,
                                     .TotalSize = {640, 480},
                                     .ActiveSize = {640, 480},
                                     .VSyncFreq = {60, 1},
                                     .ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE};
    t->Preference = D3DKMDT_MP_NOTPREFERRED;
#define M(kind, statement, text)                                                                             \
    if (n == k++)                                                                                            \
        statement;
    MODES(M)
#undef M
}

/* Each odd mode is added to a set that is dropped. */
static NTSTATUS NTAPI with_odd_modes(CONST HANDLE h, CONST DXGKARG_ENUMVIDPNCOFUNCMODALITY *CONST e)
{
    CONST DXGK_VIDPN_INTERFACE *v;
    CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *si;
    CONST DXGK_VIDPNTARGETMODESET_INTERFACE *ti;
    D3DKMDT_HVIDPNSOURCEMODESET ss;
    D3DKMDT_HVIDPNTARGETMODESET ts;
    D3DKMDT_HVIDPN n = e->hConstrainingVidPn;
    D3DKMDT_VIDPN_SOURCE_MODE *s;
    D3DKMDT_VIDPN_TARGET_MODE *t;

    asked->iface.DxgkCbQueryVidPnInterface(n, DXGK_VIDPN_INTERFACE_VERSION_V1, &v);
    v->pfnCreateNewSourceModeSet(n, 0, &ss, &si);
    v->pfnCreateNewTargetModeSet(n, 7, &ts, &ti);
    for (unsigned i = 0; i <= sizeof(mode_says) / sizeof(mode_says[0]); i++) { /* the last is well */
        si->pfnCreateNewModeInfo(ss, &s);
        ti->pfnCreateNewModeInfo(ts, &t);
        plant_mode(i, s, t);
        if (si->pfnAddMode(ss, s) != STATUS_SUCCESS)
            si->pfnReleaseModeInfo(ss, s);
        if (ti->pfnAddMode(ts, t) != STATUS_SUCCESS)
            ti->pfnReleaseModeInfo(ts, t);
    }
    v->pfnReleaseSourceModeSet(n, ss);
    v->pfnReleaseTargetModeSet(n, ts);
    return real.DxgkDdiEnumVidPnCofuncModality(h, e);
}

TEST(odd_modes_are_named)
{
    struct error err = {0};
    struct world w;
    char text[200];

    world_up(&w, false);
    asked = w.dxgk;
    real = w.dxgk->ddi;
    dxgk_stop(w.dxgk);
    w.dxgk->ddi.DxgkDdiEnumVidPnCofuncModality = with_odd_modes;
    assert_int_equal(dxgk_start(w.dxgk, &err), STATUS_SUCCESS);
    for (size_t i = 0; i < sizeof(mode_says) / sizeof(mode_says[0]); i++) {
        snprintf(text, sizeof(text), "DxgkDdiEnumVidPnCofuncModality answered %s", mode_says[i]);
        if (!says(&w, 11, 0, text))
            fail_msg("nothing says '%s'", text);
    }
    assert_int_equal(dxgk_event_count(w.dxgk, 11), sizeof(mode_says) / sizeof(mode_says[0]));
    w.dxgk->ddi = real;
    world_down(&w, 0);
}
