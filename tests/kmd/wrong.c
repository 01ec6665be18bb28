/* SPDX-License-Identifier: MIT */
/* wrong.c: our miniport, which does one thing wrong: the one that $AEROGPU_TEST_WRONG names, NAME or NAME#N for the Nth time that it could
 * (from 1 on; NAME#N+: from then on). A shared object, for `aerogpu validate --miniport`. */
#include "wddm/dispmprt.h"
#include "wddm/ntstatus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG 0x676e7257

static DRIVER_INITIALIZATION_DATA real;

/* Each stack of a process has variables of its own; they count in the four bytes "0000" of the environment together. */
static unsigned count(void)
{
    char *at = getenv("AEROGPU_TEST_WRONG_COUNT");
    unsigned n = 0;

    if (!at)
        return 0;
    memcpy(&n, at, sizeof(n));
    n++;
    memcpy(at, &n, sizeof(n));
    return n - 0x30303030;
}

static BOOLEAN is(const char *name)
{
    const char *want = getenv("AEROGPU_TEST_WRONG");
    size_t n = strlen(name);
    unsigned nth, seen;

    if (!want || strncmp(want, name, n) || (want[n] && want[n] != '#'))
        return FALSE;
    nth = want[n] ? (unsigned)atoi(want + n + 1) : 1;
    seen = count();
    return seen == nth || (seen > nth && want[strlen(want) - 1] == '+');
}

static DXGKRNL_INTERFACE kernel;

static BOOLEAN NTAPI notify(PVOID data)
{
    kernel.DxgkCbNotifyInterrupt(kernel.DeviceHandle, data);
    return TRUE;
}

/* Reports what is not so, from where it is. */
static void report(const char *name, int type, UINT fence, UINT node, UINT engine, UINT flags)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = (DXGK_INTERRUPT_TYPE)type,
                                            .DmaCompleted = {fence, node, engine},
                                            .Flags.Value = flags};
    BOOLEAN result;

    if (!is(name))
        return;
    kernel.DxgkCbSynchronizeExecution(kernel.DeviceHandle, notify, &data, 0, &result);
    kernel.DxgkCbQueueDpc(kernel.DeviceHandle);
}

/* What a DDI returns in place of `s`. */
static NTSTATUS returned(const char *ddi, NTSTATUS s)
{
    return is(ddi) ? STATUS_UNSUCCESSFUL : s;
}

static void misbehave(const char *ddi)
{
    char name[64] = "leak-";

    if (is(strncat(name, ddi, 50)))
        (void)ExAllocatePoolWithTag(NonPagedPool, 100, TAG);
    memcpy(name, "null-", 5);
    if (is(name))
        *(volatile int *)(ULONG_PTR)strlen(name) = 1; /* page 0 */
}

/* ---- life ---------------------------------------------------------------- */

static NTSTATUS NTAPI StartDevice(CONST PVOID m, PDXGK_START_INFO i, PDXGKRNL_INTERFACE k, PULONG sources,
                                  PULONG children)
{
    NTSTATUS s = real.DxgkDdiStartDevice(m, i, k, sources, children);

    kernel = *k;
    if (is("sources-many"))
        *sources = 17;
    if (is("children-minus"))
        *children = (ULONG)-1;
    if (is("started-pending"))
        return STATUS_PENDING;
    return s;
}

static NTSTATUS NTAPI StopDevice(CONST PVOID m)
{
    misbehave("StopDevice");
    return returned("StopDevice", real.DxgkDdiStopDevice(m));
}

static NTSTATUS NTAPI RemoveDevice(CONST PVOID m)
{
    misbehave("RemoveDevice");
    return returned("RemoveDevice", real.DxgkDdiRemoveDevice(m));
}

static VOID NTAPI Unload(VOID)
{
    misbehave("Unload");
    real.DxgkDdiUnload();
}

static NTSTATUS NTAPI QueryChildRelations(CONST PVOID m, PDXGK_CHILD_DESCRIPTOR l, ULONG size)
{
    NTSTATUS s = real.DxgkDdiQueryChildRelations(m, l, size);

    if (is("child-untyped"))
        l->ChildDeviceType = TypeUninitialized;
    if (is("child-unaware"))
        l->ChildCapabilities.HpdAwareness = 0;
    if (is("child-connector"))
        l->ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_UNINITIALIZED;
    if (is("child-sdtv"))
        l->ChildCapabilities.Type.VideoOutput.SupportsSdtvModes = 0x80;
    if (is("children-fail"))
        return STATUS_UNSUCCESSFUL;
    return s;
}

static NTSTATUS NTAPI QueryChildStatus(CONST PVOID m, PDXGK_CHILD_STATUS t, BOOLEAN only)
{
    NTSTATUS s = real.DxgkDdiQueryChildStatus(m, t, only);

    if (is("status-uid"))
        t->ChildUid += 5;
    return is("status-odd") ? (NTSTATUS)0x40000000 : s;
}

static NTSTATUS NTAPI QueryDeviceDescriptor(CONST PVOID m, ULONG uid, PDXGK_DEVICE_DESCRIPTOR e)
{
    NTSTATUS s = real.DxgkDdiQueryDeviceDescriptor(m, uid, e);

    if (is("edid-buffer"))
        e->DescriptorBuffer = NULL;
    if (is("edid-long"))
        memset((char *)e->DescriptorBuffer + e->DescriptorLength, 0, 8);
    return is("edid-denied") ? STATUS_ACCESS_DENIED : s;
}

static BOOLEAN NTAPI InterruptRoutine(CONST PVOID m, ULONG message)
{
    return is("deaf") ? FALSE : real.DxgkDdiInterruptRoutine(m, message);
}

/* ---- what it says of itself ---------------------------------------------- */

static void wrong_segments(DXGK_QUERYSEGMENTOUT *o)
{
    DXGK_SEGMENTDESCRIPTOR *s = o->pSegmentDescriptor;

    if (is("segment-terabytes"))
        s->Size = (SIZE_T)1 << 63;
    if (is("segment-half-page"))
        s->Size += 2048;
    if (is("segment-base"))
        s->BaseAddress.QuadPart = -4096;
    if (is("segment-no-bank"))
        s->Flags.UseBanking = 1;
    if (is("segment-agp-too"))
        s->Flags.Agp = 1;
    if (is("paging-in-1"))
        o->PagingBufferSegmentId = 1;
    if (is("paging-in-2"))
        o->PagingBufferSegmentId = 2;
    if (is("paging-nothing"))
        o->PagingBufferSize = 0;
    if (is("paging-much"))
        o->PagingBufferSize = 1 << 30;
    if (is("paging-private"))
        o->PagingBufferPrivateDataSize = 1 << 24;
}

static NTSTATUS NTAPI QueryAdapterInfo(CONST HANDLE h, CONST DXGKARG_QUERYADAPTERINFO *q)
{
    DXGK_DRIVERCAPS *c = q->pOutputData;
    NTSTATUS s = real.DxgkDdiQueryAdapterInfo(h, q);

    if (q->Type == DXGKQAITYPE_DRIVERCAPS) {
        if (is("caps-nodes"))
            c->GpuEngineTopology.NbAsymetricProcessingNodes = 100;
        if (is("caps-paging-node"))
            c->MemoryManagementCaps.PagingNode = 63;
        if (is("caps-overlays"))
            c->MaxOverlays = 1;
        if (is("caps-address"))
            c->HighestAcceptableAddress.QuadPart = 1;
        if (is("caps-no-pointer"))
            c->MaxPointerHeight = 0;
        if (is("caps-flips"))
            c->FlipCaps.Value |= 0x80000000;
        if (is("caps-no-contexts"))
            c->SchedulingCaps.MultiEngineAware = 0;
        if (is("caps-fail"))
            return STATUS_GRAPHICS_NO_VIDEO_MEMORY;
    } else if (q->Type == DXGKQAITYPE_UMDRIVERPRIVATE && is("blob-behind")) {
        ((UCHAR *)q->pOutputData)[q->OutputDataSize] = 0;
    } else if (q->Type == DXGKQAITYPE_QUERYSEGMENT &&
               ((DXGK_QUERYSEGMENTOUT *)q->pOutputData)->pSegmentDescriptor) {
        wrong_segments(q->pOutputData);
    } else if (q->Type == DXGKQAITYPE_QUERYSEGMENT && is("segments-100")) {
        ((DXGK_QUERYSEGMENTOUT *)q->pOutputData)->NbSegment = 100;
    }
    return s;
}

/* ---- work ---------------------------------------------------------------- */

static NTSTATUS NTAPI CreateDevice(CONST HANDLE h, DXGKARG_CREATEDEVICE *v)
{
    return is("device-nothing") ? STATUS_SUCCESS : real.DxgkDdiCreateDevice(h, v);
}

static NTSTATUS NTAPI CreateContext(CONST HANDLE h, DXGKARG_CREATECONTEXT *x)
{
    NTSTATUS s;

    if (is("context-nothing"))
        return STATUS_SUCCESS;
    s = real.DxgkDdiCreateContext(h, x);
    if (is("context-dma"))
        x->ContextInfo.DmaBufferSize = 1 << 29;
    if (is("context-list"))
        x->ContextInfo.AllocationListSize = 1 << 20;
    if (is("context-segment"))
        x->ContextInfo.DmaBufferSegmentSet = 1u << 31;
    if (is("context-group"))
        x->ContextInfo.DmaBufferAllocationGroup = 7;
    return s;
}

static NTSTATUS NTAPI DestroyContext(CONST HANDLE h)
{
    return returned("DestroyContext", real.DxgkDdiDestroyContext(h));
}

static NTSTATUS NTAPI DestroyDevice(CONST HANDLE h)
{
    return returned("DestroyDevice", real.DxgkDdiDestroyDevice(h));
}

static NTSTATUS NTAPI CreateAllocation(CONST HANDLE h, DXGKARG_CREATEALLOCATION *a)
{
    NTSTATUS s = real.DxgkDdiCreateAllocation(h, a);
    DXGK_ALLOCATIONINFO *i = &a->pAllocationInfo[a->NumAllocations - 1];

    if (is("allocation-nowhere"))
        i->SupportedReadSegmentSet = i->SupportedWriteSegmentSet = 0;
    if (is("allocation-elsewhere"))
        i->SupportedReadSegmentSet |= 4;
    if (is("allocation-empty"))
        i->Size = 0;
    if (is("allocation-endless"))
        i->Size = (SIZE_T)-2;
    if (is("allocation-aligned"))
        i->Alignment = 12345;
    if (is("allocation-evicted"))
        i->EvictionSegmentSet = 0x80;
    if (is("allocation-preferred"))
        i->PreferredSegment.SegmentId1 = 30;
    if (is("allocation-behind"))
        memset(i + 1, 0x55, sizeof(*i));
    if (is("allocation-private"))
        ((UCHAR *)i->pPrivateDriverData)[i->PrivateDriverDataSize] = 1;
    if (is("allocation-count"))
        a->NumAllocations = 100;
    return is("allocation-denied") ? STATUS_ACCESS_DENIED : s;
}

static NTSTATUS NTAPI DestroyAllocation(CONST HANDLE h, CONST DXGKARG_DESTROYALLOCATION *a)
{
    return returned("DestroyAllocation", real.DxgkDdiDestroyAllocation(h, a));
}

static NTSTATUS NTAPI CloseAllocation(CONST HANDLE h, CONST DXGKARG_CLOSEALLOCATION *a)
{
    return returned("CloseAllocation", real.DxgkDdiCloseAllocation(h, a));
}

static NTSTATUS NTAPI StandardData(CONST HANDLE h, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *d)
{
    BOOLEAN second = d->pAllocationPrivateDriverData != NULL;
    NTSTATUS s = real.DxgkDdiGetStandardAllocationDriverData(h, d);

    if (!second && is("standard-much"))
        d->ResourcePrivateDriverDataSize = 0x7fffffff;
    if (second && is("standard-behind"))
        ((UCHAR *)d->pAllocationPrivateDriverData)[d->AllocationPrivateDriverDataSize] = 0;
    if (second && is("standard-grows"))
        d->AllocationPrivateDriverDataSize += 64;
    return s;
}

static NTSTATUS NTAPI Patch(CONST HANDLE h, CONST DXGKARG_PATCH *p)
{
    NTSTATUS s = real.DxgkDdiPatch(h, p);

    if (is("patch-list"))
        ((DXGK_ALLOCATIONLIST *)(ULONG_PTR)p->pAllocationList)->PhysicalAddress.QuadPart ^= 1;
    if (is("patch-private"))
        ((UCHAR *)p->pDmaBufferPrivateData)[p->DmaBufferPrivateDataSize] = 1;
    return returned("Patch", s);
}

static NTSTATUS NTAPI SubmitCommand(CONST HANDLE h, CONST DXGKARG_SUBMITCOMMAND *p)
{
    if (is("submit-private"))
        ((UCHAR *)p->pDmaBufferPrivateData)[p->DmaBufferPrivateDataSize] = 1;
    if (is("submit-pending")) {
        real.DxgkDdiSubmitCommand(h, p);
        return STATUS_PENDING;
    }
    return is("SubmitCommand") ? STATUS_UNSUCCESSFUL : real.DxgkDdiSubmitCommand(h, p);
}

static NTSTATUS NTAPI BuildPagingBuffer(CONST HANDLE h, DXGKARG_BUILDPAGINGBUFFER *b)
{
    NTSTATUS s;

    if (is("paging-wants-more"))
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    if (is("paging-nothing-done"))
        return STATUS_SUCCESS;
    if (is("paging-pending"))
        return STATUS_PENDING;
    if (is("paging-fails"))
        return STATUS_UNSUCCESSFUL;
    s = real.DxgkDdiBuildPagingBuffer(h, b);
    if (is("paging-behind"))
        b->pDmaBuffer = (char *)b->pDmaBuffer + (1 << 20);
    return s;
}

static NTSTATUS NTAPI Render(CONST HANDLE h, DXGKARG_RENDER *r)
{
    report("interrupt-ahead", 1, 1 << 20, 0, 0, 0);
    report("interrupt-node", 1, 1, 64, 0, 0);
    report("interrupt-engine", 1, 1, 0, 3, 0);
    report("interrupt-type", 5, 0, 0, 0, 0);
    report("interrupt-target", 3, 77, 0, 0, 0);
    report("interrupt-flags", 3, 1, 0, 0, ~0u);
    if (is("render-insists")) {
        r->pDmaBuffer = (char *)r->pDmaBuffer + 64;
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    }
    if (is("render-odd"))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    if (is("render-private"))
        ((UCHAR *)r->pDmaBufferPrivateData)[r->DmaBufferPrivateDataSize] = 0;
    if (is("render-behind"))
        ((UCHAR *)r->pDmaBuffer)[r->DmaSize] = 1;
    if (is("render-patches"))
        r->pPatchLocationListOut[r->PatchLocationListOutSize].PatchOffset = 1;
    return real.DxgkDdiRender(h, r);
}

static NTSTATUS NTAPI Present(CONST HANDLE h, DXGKARG_PRESENT *p)
{
    return is("Present") ? STATUS_UNSUCCESSFUL : real.DxgkDdiPresent(h, p);
}

static NTSTATUS NTAPI QueryCurrentFence(CONST HANDLE h, DXGKARG_QUERYCURRENTFENCE *q)
{
    NTSTATUS s = real.DxgkDdiQueryCurrentFence(h, q);

    if (is("fence-ahead"))
        q->CurrentFence += 1 << 20;
    return s;
}

static NTSTATUS NTAPI GetScanLine(CONST HANDLE h, DXGKARG_GETSCANLINE *g)
{
    NTSTATUS s = real.DxgkDdiGetScanLine(h, g);

    if (is("line-boolean"))
        g->InVerticalBlank = 2;
    return s;
}

static NTSTATUS NTAPI IsSupportedVidPn(CONST HANDLE h, DXGKARG_ISSUPPORTEDVIDPN *i)
{
    NTSTATUS s = real.DxgkDdiIsSupportedVidPn(h, i);

    if (is("vidpn-boolean"))
        i->IsVidPnSupported = 0xff;
    if (is("vidpn-refused"))
        i->IsVidPnSupported = FALSE;
    return is("vidpn-odd") ? STATUS_ACCESS_DENIED : s;
}

static NTSTATUS NTAPI EnumVidPnCofuncModality(CONST HANDLE h, CONST DXGKARG_ENUMVIDPNCOFUNCMODALITY *e)
{
    return is("modes-nothing") ? STATUS_SUCCESS : real.DxgkDdiEnumVidPnCofuncModality(h, e);
}

static NTSTATUS NTAPI ControlInterrupt(CONST HANDLE h, CONST DXGK_INTERRUPT_TYPE type, BOOLEAN on)
{
    NTSTATUS s = real.DxgkDdiControlInterrupt(h, type, on);

    return is("interrupt-odd") ? STATUS_PENDING : s;
}

static NTSTATUS NTAPI Escape(CONST HANDLE h, CONST DXGKARG_ESCAPE *e)
{
    NTSTATUS s = real.DxgkDdiEscape(h, e);
    static KDPC dpc;

    if (is("escape-behind"))
        ((UCHAR *)e->pPrivateDriverData)[e->PrivateDriverDataSize + 3] = 0;
    if (is("dpc-made-by-hand")) {
        memset(&dpc, 0x7f, sizeof(dpc));
        KeInsertQueueDpc(&dpc, NULL, NULL);
    }
    return s;
}

NTSTATUS APIENTRY __real_DxgkInitialize(PDRIVER_OBJECT driver, PUNICODE_STRING path,
                                        PDRIVER_INITIALIZATION_DATA d);
NTSTATUS APIENTRY __wrap_DxgkInitialize(PDRIVER_OBJECT driver, PUNICODE_STRING path,
                                        PDRIVER_INITIALIZATION_DATA d);
NTSTATUS APIENTRY __wrap_DxgkInitialize(PDRIVER_OBJECT driver, PUNICODE_STRING path,
                                        PDRIVER_INITIALIZATION_DATA d)
{
    real = *d;
#define WRAP(name) d->DxgkDdi##name = name;
    WRAP(StartDevice)
    WRAP(StopDevice)
    WRAP(RemoveDevice)
    WRAP(Unload)
    WRAP(QueryChildRelations)
    WRAP(QueryChildStatus)
    WRAP(QueryDeviceDescriptor)
    WRAP(InterruptRoutine)
    WRAP(QueryAdapterInfo)
    WRAP(CreateDevice)
    WRAP(CreateContext)
    WRAP(DestroyContext)
    WRAP(DestroyDevice)
    WRAP(CreateAllocation)
    WRAP(DestroyAllocation)
    WRAP(CloseAllocation)
    WRAP(Patch)
    WRAP(SubmitCommand)
    WRAP(BuildPagingBuffer)
    WRAP(Render)
    WRAP(Present)
    WRAP(QueryCurrentFence)
    WRAP(GetScanLine)
    WRAP(IsSupportedVidPn)
    WRAP(EnumVidPnCofuncModality)
    WRAP(ControlInterrupt)
    WRAP(Escape)
    d->DxgkDdiGetStandardAllocationDriverData = StandardData;
    return __real_DxgkInitialize(driver, path, d);
}
