/* SPDX-License-Identifier: MIT */
/* alloc.c: devices, contexts, allocations, and where in guest memory they are.
 *
 *   private data ─CreateAllocation─▶ allocation ─OpenAllocation─▶ one open of a device ─▶ allocation list of a Render
 *                                        └─ aperture ─BuildPagingBuffer─▶ pages ─kmd_resolve─▶ guest address
 *
 * Invariants:
 *  1. alloc_id names the allocation in every process; ids up to AEROGPU_ALLOC_ID_UMD_MAX are the user-mode driver's,
 *     those above are handed out here.
 *  2. A share token is made here, for an allocation with the SHARED flag, and never used again. What a client writes
 *     into that field does not count.
 *  3. A page of the aperture is known from the paging operation that maps it until the one that unmaps it, or a reset.
 */
#include "kmd/kmd.h"

/* ---- clients --------------------------------------------------------------- */

ULONG kmd_client_number(struct kmd *k)
{
    return k->features & AEROGPU_EXT_FEATURE(EXT_CLIENTS) ? (ULONG)(ULONG_PTR)PsGetCurrentProcessId() : 0;
}

/* Users that do not know each other are in sessions of their own. 0: the system's, or the device knows none. */
static ULONG kmd_session(struct kmd *k)
{
    return kmd_client_number(k) ? PsGetCurrentProcessSessionId() : 0;
}

/* With `mutex` held. */
static struct kmd_client *find_client(struct kmd *k, ULONG number)
{
    for (PLIST_ENTRY e = k->clients.Flink; e != &k->clients; e = e->Flink) {
        struct kmd_client *c = CONTAINING_RECORD(e, struct kmd_client, link);
        if (c->number == number)
            return c;
    }
    return NULL;
}

ULONG kmd_client_node(struct kmd *k)
{
    struct kmd_client *c;
    ULONG node;

    ExAcquireFastMutex(&k->mutex);
    c = find_client(k, kmd_client_number(k));
    node = c ? c->node : 0;
    ExReleaseFastMutex(&k->mutex);
    return node;
}

/* A node of its own for who has none: the first that is free. 0: none is left. */
static ULONG take_node(struct kmd *k)
{
    for (ULONG i = 1; i < k->num_nodes; i++)
        if (!(k->nodes_taken >> i & 1)) {
            if (!NT_SUCCESS(kmd_hw_use_node(k, i)))
                break;
            k->nodes_taken |= 1ull << i;
            return i;
        }
    return 0;
}

/* With `mutex` held. NULL: no memory. */
static struct kmd_client *take_client(struct kmd *k, BOOLEAN system)
{
    ULONG number = kmd_client_number(k);
    struct kmd_client *c = find_client(k, number);

    if (c) {
        c->devices++;
        return c;
    }
    c = kmd_alloc(sizeof(*c));
    if (!c)
        return NULL;
    c->number = number;
    c->devices = 1;
    c->session = kmd_session(k);
    c->grave = number ? kmd_grave_create(0, number, 0, 0) : NULL;
    if (number && !c->grave) {
        kmd_free(c);
        return NULL;
    }
    if (c->grave)
        c->grave->used = TRUE; /* an executor waits for it */
    c->node = system ? 0 : take_node(k);
    kmd_list_add(&k->clients, &c->link);
    return c;
}

/* With `mutex` held. */
static VOID give_client(struct kmd *k, struct kmd_client *c)
{
    if (--c->devices)
        return;
    kmd_list_remove(&c->link);
    kmd_bury(k, c->grave);
    k->nodes_taken &= ~(1ull << c->node);
    kmd_free(c);
}

/* ---- devices and contexts ------------------------------------------------ */

NTSTATUS NTAPI kmd_CreateDevice(CONST HANDLE adapter, DXGKARG_CREATEDEVICE *args)
{
    struct kmd *k = adapter;
    struct kmd_device *d = kmd_alloc(sizeof(*d));

    if (!d)
        return STATUS_NO_MEMORY;
    d->kmd = k;
    d->dxgk = args->hDevice;
    kmd_list_init(&d->opens);
    ExAcquireFastMutex(&k->mutex);
    d->number = kmd_device_number(k);
    if (!d->number) {
        kmd_reap(k);
        d->number = kmd_device_number(k);
    }
    d->client = d->number ? take_client(k, args->Flags.SystemDevice) : NULL;
    d->grave =
        d->client ? kmd_grave_create(AEROGPU_CMD_EXT_DESTROY_HANDLES, d->client->number, d->number, 0) : NULL;
    if (d->grave)
        kmd_list_add(&k->devices, &d->link);
    else if (d->client)
        give_client(k, d->client);
    ExReleaseFastMutex(&k->mutex);
    if (!d->grave) {
        NTSTATUS s = d->number ? STATUS_NO_MEMORY : STATUS_INSUFFICIENT_RESOURCES;
        kmd_free(d);
        return s;
    }
    args->hDevice = d;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_DestroyDevice(CONST HANDLE device)
{
    struct kmd_device *d = device;

    ExAcquireFastMutex(&d->kmd->mutex);
    kmd_list_remove(&d->link);
    kmd_bury(d->kmd, d->grave);
    give_client(d->kmd, d->client);
    kmd_reap(d->kmd);
    ExReleaseFastMutex(&d->kmd->mutex);
    kmd_free(d);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_CreateContext(CONST HANDLE device, DXGKARG_CREATECONTEXT *args)
{
    struct kmd_device *d = device;
    struct aerogpu_context_priv priv;
    struct kmd_context *c;
    ULONG dma = KMD_DMA_DEFAULT;

    if (args->NodeOrdinal && args->NodeOrdinal != d->client->node) /* that would make its owner wait */
        return STATUS_INVALID_PARAMETER;
    if (args->PrivateDriverDataSize) {
        if (args->PrivateDriverDataSize < sizeof(priv))
            return STATUS_INVALID_PARAMETER;
        RtlCopyMemory(&priv, args->pPrivateDriverData, sizeof(priv));
        if (priv.magic != AEROGPU_CONTEXT_PRIV_MAGIC || priv.version != 1 || priv.flags)
            return STATUS_INVALID_PARAMETER;
        if (priv.dma_buffer_bytes)
            dma = priv.dma_buffer_bytes;
        if (dma < 16 * PAGE_SIZE)
            dma = 16 * PAGE_SIZE;
        if (dma > d->kmd->settings.max_dma)
            dma = d->kmd->settings.max_dma;
        dma = (dma + PAGE_SIZE - 1) & ~(ULONG)(PAGE_SIZE - 1);
    }
    c = kmd_alloc(sizeof(*c));
    if (!c)
        return STATUS_NO_MEMORY;
    c->device = d;
    c->node = args->NodeOrdinal;
    c->system = args->Flags.SystemContext;
    c->id = (ULONG)InterlockedIncrement(&d->kmd->next_context);
    c->list_size =
        KMD_MAX_LIST < dma / 4 / 32 ? KMD_MAX_LIST : dma / 4 / 32; /* a full table takes a quarter */
    c->dma_size = dma;
    c->seen_mask = 1;
    while (c->seen_mask < 2 * c->list_size)
        c->seen_mask *= 2;
    c->seen = c->system ? NULL : kmd_alloc(c->seen_mask * sizeof(*c->seen));
    c->grave =
        c->system ? NULL : kmd_grave_create(AEROGPU_CMD_EXT_DESTROY_CONTEXT, d->client->number, c->id, 0);
    if (!c->system && (!c->seen || !c->grave)) {
        kmd_free(c->grave);
        kmd_free(c->seen);
        kmd_free(c);
        return STATUS_NO_MEMORY;
    }
    c->seen_mask--;
    args->hContext = c;
    args->ContextInfo.DmaBufferSize = c->system ? PAGE_SIZE : dma;
    args->ContextInfo.DmaBufferSegmentSet = 0; /* contiguous system memory */
    args->ContextInfo.DmaBufferPrivateDataSize = sizeof(struct kmd_dma);
    args->ContextInfo.AllocationListSize = c->list_size;
    args->ContextInfo.PatchLocationListSize = c->list_size;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_DestroyContext(CONST HANDLE context)
{
    struct kmd_context *c = context;

    ExAcquireFastMutex(&c->device->kmd->mutex);
    kmd_bury(c->device->kmd, c->grave);
    ExReleaseFastMutex(&c->device->kmd->mutex);
    kmd_free(c->seen);
    kmd_free(c);
    return STATUS_SUCCESS;
}

/* ---- formats ------------------------------------------------------------- */

static CONST struct {
    ULONG format, dxgi, d3d, bytes;
} formats[] = {
    {AEROGPU_FORMAT_B8G8R8A8_UNORM, AEROGPU_DXGI_B8G8R8A8_UNORM, D3DDDIFMT_A8R8G8B8, 4},
    {AEROGPU_FORMAT_B8G8R8X8_UNORM, AEROGPU_DXGI_B8G8R8X8_UNORM, D3DDDIFMT_X8R8G8B8, 4},
    {AEROGPU_FORMAT_R8G8B8A8_UNORM, AEROGPU_DXGI_R8G8B8A8_UNORM, D3DDDIFMT_A8B8G8R8, 4},
    {AEROGPU_FORMAT_R8G8B8X8_UNORM, 0, D3DDDIFMT_X8B8G8R8, 4},
    {AEROGPU_FORMAT_B5G6R5_UNORM, AEROGPU_DXGI_B5G6R5_UNORM, D3DDDIFMT_R5G6B5, 2},
    {AEROGPU_FORMAT_B5G5R5A1_UNORM, AEROGPU_DXGI_B5G5R5A1_UNORM, D3DDDIFMT_A1R5G5B5, 2},
    {AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB, AEROGPU_DXGI_B8G8R8A8_UNORM_SRGB, 0, 4},
    {AEROGPU_FORMAT_B8G8R8X8_UNORM_SRGB, AEROGPU_DXGI_B8G8R8X8_UNORM_SRGB, 0, 4},
    {AEROGPU_FORMAT_R8G8B8A8_UNORM_SRGB, AEROGPU_DXGI_R8G8B8A8_UNORM_SRGB, 0, 4},
};

static ULONG format_from(ULONG dxgi, ULONG d3d)
{
    for (ULONG i = 0; i < RTL_NUMBER_OF(formats); i++)
        if ((dxgi && formats[i].dxgi == dxgi) || (d3d && formats[i].d3d == d3d))
            return formats[i].format;
    return AEROGPU_FORMAT_INVALID;
}

static ULONG dxgi_from(ULONG d3d)
{
    for (ULONG i = 0; i < RTL_NUMBER_OF(formats); i++)
        if (formats[i].d3d == d3d)
            return formats[i].dxgi;
    return 0;
}

/* ---- creating ------------------------------------------------------------ */

static BOOLEAN fits(ULONGLONG size, ULONG pitch, ULONG height)
{
    return (ULONGLONG)pitch * height <= size;
}

/* What the private data says, or why it cannot be. The block is the operating system's copy. */
static NTSTATUS parse_private(struct kmd *k, CONST DXGK_ALLOCATIONINFO *info, struct kmd_allocation *a)
{
    struct aerogpu_alloc_priv_v2 p = {0};
    ULONG size = info->PrivateDriverDataSize;

    if (!info->pPrivateDriverData || size < sizeof(struct aerogpu_alloc_priv))
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(&p, info->pPrivateDriverData, size < sizeof(p) ? size : sizeof(p));
    if (p.magic != AEROGPU_ALLOC_PRIV_MAGIC || (p.version != 1 && p.version != 2) ||
        (p.version == 2 && size < sizeof(p)) || !p.size_bytes)
        return STATUS_INVALID_PARAMETER;
    if (p.flags & ~(ULONG)(AEROGPU_ALLOC_PRIV_FLAG_SHARED | AEROGPU_ALLOC_PRIV_FLAG_CPU_VISIBLE |
                           AEROGPU_ALLOC_PRIV_FLAG_STAGING))
        return STATUS_INVALID_PARAMETER;
    if (!p.alloc_id || (p.alloc_id > AEROGPU_ALLOC_ID_UMD_MAX && p.alloc_id >= k->next_alloc_id))
        return STATUS_INVALID_PARAMETER; /* ids above are given out by this driver */
    if (p.share_token && !(p.flags & AEROGPU_ALLOC_PRIV_FLAG_SHARED))
        return STATUS_INVALID_PARAMETER;
    if (p.size_bytes > (ULONGLONG)k->num_pages << PAGE_SHIFT)
        return STATUS_GRAPHICS_NO_VIDEO_MEMORY;
    a->alloc_id = p.alloc_id;
    a->flags = p.flags;
    a->size = p.size_bytes;
    if (p.version == 2) {
        if (p.kind > AEROGPU_ALLOC_KIND_TEXTURE2D)
            return STATUS_INVALID_PARAMETER;
        if (p.kind == AEROGPU_ALLOC_KIND_TEXTURE2D) {
            a->width = p.width;
            a->height = p.height;
            a->pitch = p.row_pitch_bytes;
            a->format = format_from(p.format, 0);
        }
    } else if (p.desc & AEROGPU_ALLOC_PRIV_DESC_MARKER) {
        a->width = AEROGPU_ALLOC_PRIV_DESC_WIDTH(p.desc);
        a->height = AEROGPU_ALLOC_PRIV_DESC_HEIGHT(p.desc);
        a->format = format_from(0, AEROGPU_ALLOC_PRIV_DESC_FORMAT(p.desc));
    } else {
        a->pitch = (ULONG)p.desc;
    }
    /* Of the formats that this driver copies itself, the rows must be inside. */
    if (a->format && a->pitch && (a->pitch < a->width || !fits(a->size, a->pitch, a->height)))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

/* SplitMix64: tokens that do not follow each other, from a counter that never repeats. */
static ULONGLONG next_token(struct kmd *k)
{
    ULONGLONG z;

    do {
        z = k->next_share_token += UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        z ^= z >> 31;
    } while (!z);
    return z;
}

static VOID trace(struct kmd *k, CONST DXGKARG_CREATEALLOCATION *args, ULONG i, ULONG flags_in)
{
    struct aerogpu_escape_createallocation *t = &k->trace[k->trace_written % AEROGPU_ESCAPE_RECENT];
    struct kmd_allocation *a = args->pAllocationInfo[i].hAllocation;

    *t = (struct aerogpu_escape_createallocation){.seq = k->trace_written++,
                                                  .call_seq = k->trace_calls,
                                                  .alloc_index = i,
                                                  .num_allocations = args->NumAllocations,
                                                  .create_flags = args->Flags.Value,
                                                  .alloc_id = a->alloc_id,
                                                  .priv_flags = a->flags,
                                                  .pitch_bytes = a->pitch,
                                                  .share_token = a->share_token,
                                                  .size_bytes = a->size,
                                                  .flags_in = flags_in,
                                                  .flags_out = args->pAllocationInfo[i].Flags.Value};
}

static VOID free_allocation(struct kmd_allocation *a)
{
    kmd_free(a->grave);
    kmd_free(a);
}

/* The surface crosses sessions; with `mutex` held. What names it is then in order with what names it or another of the session that made
 * it; not with all that those may name who opened it, who may have opened anybody's. It keeps its group, so that what comes has it in
 * common with what is under way. */
static VOID join(struct kmd *k, struct kmd_allocation *a)
{
    ULONG at = KMD_GROUPS - 1;

    for (ULONG i = KMD_GROUPS - 1; i-- > 0;)
        if (!k->groups[i].surfaces)
            at = i;
    for (ULONG i = 0; i < KMD_GROUPS - 1; i++)
        if (k->groups[i].surfaces && k->groups[i].session == a->session)
            at = i;
    if (a->groups)
        return;
    a->groups = 1u << at;
    k->groups[at].session = a->session;
    k->groups[at].surfaces++;
}

/* The surface is no more; with `mutex` held. */
static VOID leave(struct kmd *k, CONST struct kmd_allocation *a)
{
    for (ULONG i = 0; i < KMD_GROUPS; i++)
        k->groups[i].surfaces -= a->groups >> i & 1;
}

static NTSTATUS create_one(struct kmd *k, DXGK_ALLOCATIONINFO *info)
{
    struct kmd_allocation *a = kmd_alloc(sizeof(*a));
    struct aerogpu_alloc_priv *p = info->pPrivateDriverData;
    NTSTATUS s;

    if (!a)
        return STATUS_NO_MEMORY;
    a->kmd = k;
    a->session = kmd_session(k);
    s = parse_private(k, info, a);
    if (!NT_SUCCESS(s)) {
        kmd_free(a);
        return s;
    }
    if (a->flags & AEROGPU_ALLOC_PRIV_FLAG_SHARED) {
        a->share_token = next_token(k);
        a->client = kmd_client_number(k);
        a->grave = kmd_grave_create(AEROGPU_CMD_RELEASE_SHARED_SURFACE, a->client, 0, a->share_token);
        if (!a->grave) {
            kmd_free(a);
            return STATUS_NO_MEMORY;
        }
        p->share_token = a->share_token; /* kept by the operating system for those who open it */
    }
    info->Size = (SIZE_T)a->size;
    info->Alignment = 0;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 1u << (KMD_APERTURE - 1);
    info->PreferredSegment.Value = 0;
    info->PreferredSegment.SegmentId0 = KMD_APERTURE;
    info->EvictionSegmentSet = 0;
    info->Flags.CpuVisible = 1; /* it is system memory */
    info->hAllocation = a;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_CreateAllocation(CONST HANDLE adapter, DXGKARG_CREATEALLOCATION *args)
{
    struct kmd *k = adapter;
    NTSTATUS s = STATUS_SUCCESS;
    ULONG done;

    ExAcquireFastMutex(&k->mutex);
    k->trace_calls++;
    for (done = 0; done < args->NumAllocations; done++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[done];
        ULONG flags_in = info->Flags.Value;
        s = create_one(k, info);
        if (NT_SUCCESS(s) && args->NumAllocations != 1 &&
            ((struct kmd_allocation *)info->hAllocation)->share_token) {
            free_allocation(info->hAllocation); /* a shared surface is one allocation: one token, one name */
            s = STATUS_INVALID_PARAMETER;
        }
        if (!NT_SUCCESS(s))
            break;
        trace(k, args, done, flags_in);
    }
    if (!NT_SUCCESS(s)) {
        kmd_log(k, DPFLTR_WARNING_LEVEL, "CreateAllocation: allocation %llu of %llu is refused: %llx", done,
                args->NumAllocations, (ULONG)s);
        while (done--)
            free_allocation(args->pAllocationInfo[done].hAllocation);
    }
    ExReleaseFastMutex(&k->mutex);
    return s;
}

NTSTATUS NTAPI kmd_DestroyAllocation(CONST HANDLE adapter, CONST DXGKARG_DESTROYALLOCATION *args)
{
    struct kmd *k = adapter;

    for (UINT i = 0; i < args->NumAllocations; i++) {
        struct kmd_allocation *a = args->pAllocationList[i];
        ExAcquireFastMutex(&k->mutex);
        leave(k, a);
        kmd_bury(k, a->grave);
        ExReleaseFastMutex(&k->mutex);
        kmd_free(a);
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_DescribeAllocation(CONST HANDLE adapter, DXGKARG_DESCRIBEALLOCATION *args)
{
    struct kmd_allocation *a = args->hAllocation;

    UNREFERENCED_PARAMETER(adapter);
    args->Width = a->width;
    args->Height = a->height;
    args->Format = D3DDDIFMT_UNKNOWN;
    for (ULONG i = 0; i < RTL_NUMBER_OF(formats); i++)
        if (formats[i].format == a->format)
            args->Format = (D3DDDIFORMAT)formats[i].d3d;
    args->MultisampleMethod.NumSamples = args->MultisampleMethod.NumQualityLevels = 0;
    args->RefreshRate.Numerator = 60;
    args->RefreshRate.Denominator = 1;
    args->PrivateDriverFormatAttribute = 0;
    return STATUS_SUCCESS;
}

/* ---- what the operating system allocates itself -------------------------- */

NTSTATUS NTAPI kmd_GetStandardAllocationDriverData(CONST HANDLE adapter,
                                                   DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args)
{
    struct aerogpu_alloc_priv_v2 p = {.magic = AEROGPU_ALLOC_PRIV_MAGIC,
                                      .version = 2,
                                      .flags = AEROGPU_ALLOC_PRIV_FLAG_CPU_VISIBLE,
                                      .kind = AEROGPU_ALLOC_KIND_TEXTURE2D};
    struct kmd *k = adapter;
    ULONG d3d = D3DDDIFMT_X8R8G8B8;
    UINT *pitch = NULL;

    switch (args->StandardAllocationType) {
    case D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE:
        p.width = args->pCreateSharedPrimarySurfaceData->Width;
        p.height = args->pCreateSharedPrimarySurfaceData->Height;
        d3d = args->pCreateSharedPrimarySurfaceData->Format;
        break;
    case D3DKMDT_STANDARDALLOCATION_SHADOWSURFACE:
        p.width = args->pCreateShadowSurfaceData->Width;
        p.height = args->pCreateShadowSurfaceData->Height;
        d3d = args->pCreateShadowSurfaceData->Format;
        pitch = &args->pCreateShadowSurfaceData->Pitch;
        break;
    case D3DKMDT_STANDARDALLOCATION_STAGINGSURFACE:
        p.width = args->pCreateStagingSurfaceData->Width;
        p.height = args->pCreateStagingSurfaceData->Height;
        p.flags |= AEROGPU_ALLOC_PRIV_FLAG_STAGING;
        pitch = &args->pCreateStagingSurfaceData->Pitch;
        break;
    case D3DKMDT_STANDARDALLOCATION_GDISURFACE:
        p.width = args->pCreateGdiSurfaceData->Width;
        p.height = args->pCreateGdiSurfaceData->Height;
        d3d = args->pCreateGdiSurfaceData->Format;
        pitch = &args->pCreateGdiSurfaceData->Pitch;
        break;
    default:
        return STATUS_NOT_SUPPORTED;
    }
    if (!p.width || !p.height || p.width > 16384 || p.height > 16384)
        return STATUS_INVALID_PARAMETER;
    if (d3d != D3DDDIFMT_X8R8G8B8 && d3d != D3DDDIFMT_A8R8G8B8)
        return STATUS_NOT_SUPPORTED;
    p.format = dxgi_from(d3d);
    p.row_pitch_bytes = (4 * p.width + 255) & ~255u;
    p.size_bytes = (ULONGLONG)p.row_pitch_bytes * p.height;
    p.desc = p.row_pitch_bytes;
    if (pitch)
        *pitch = p.row_pitch_bytes;
    args->ResourcePrivateDriverDataSize = 0;
    if (!args->pAllocationPrivateDriverData) {
        args->AllocationPrivateDriverDataSize = sizeof(p);
        return STATUS_SUCCESS;
    }
    if (args->AllocationPrivateDriverDataSize < sizeof(p))
        return STATUS_BUFFER_TOO_SMALL;
    ExAcquireFastMutex(&k->mutex);
    p.alloc_id = k->next_alloc_id++;
    if (!k->next_alloc_id) /* 2^31 of them later */
        k->next_alloc_id = AEROGPU_ALLOC_ID_KMD_MIN;
    ExReleaseFastMutex(&k->mutex);
    RtlCopyMemory(args->pAllocationPrivateDriverData, &p, sizeof(p));
    return STATUS_SUCCESS;
}

/* ---- opening ------------------------------------------------------------- */

static VOID close_one(struct kmd_open *o)
{
    if (!o)
        return;
    kmd_list_remove(&o->link);
    kmd_free(o);
}

NTSTATUS NTAPI kmd_OpenAllocation(CONST HANDLE device, CONST DXGKARG_OPENALLOCATION *args)
{
    struct kmd_device *d = device;
    struct kmd *k = d->kmd;
    NTSTATUS s = STATUS_SUCCESS;
    UINT i;

    for (i = 0; i < args->NumAllocations; i++) {
        DXGK_OPENALLOCATIONINFO *info = &args->pOpenAllocation[i];
        DXGKARGCB_GETHANDLEDATA get = {.hObject = info->hAllocation, .Type = DXGK_HANDLE_ALLOCATION};
        struct kmd_allocation *a = k->dxgk.DxgkCbGetHandleData(&get);
        struct kmd_open *o = a ? kmd_alloc(sizeof(*o)) : NULL;
        if (!o) {
            s = a ? STATUS_NO_MEMORY : STATUS_INVALID_HANDLE;
            break;
        }
        o->allocation = a;
        o->device = d;
        o->read_only = args->Flags.ReadOnly;
        o->creator = args->Flags.Create;
        ExAcquireFastMutex(&k->mutex);
        kmd_list_add(&d->opens, &o->link);
        if (a->share_token && a->session != d->client->session)
            join(k, a);
        ExReleaseFastMutex(&k->mutex);
        info->hDeviceSpecificAllocation = o;
    }
    if (!NT_SUCCESS(s)) {
        ExAcquireFastMutex(&k->mutex);
        while (i--)
            close_one(args->pOpenAllocation[i].hDeviceSpecificAllocation);
        ExReleaseFastMutex(&k->mutex);
    }
    return s;
}

NTSTATUS NTAPI kmd_CloseAllocation(CONST HANDLE device, CONST DXGKARG_CLOSEALLOCATION *args)
{
    struct kmd_device *d = device;

    ExAcquireFastMutex(&d->kmd->mutex);
    for (UINT i = 0; i < args->NumAllocations; i++)
        close_one(args->pOpenHandleList[i]);
    ExReleaseFastMutex(&d->kmd->mutex);
    return STATUS_SUCCESS;
}

/* ---- the aperture -------------------------------------------------------- */

static NTSTATUS map(struct kmd *k, CONST DXGKARG_BUILDPAGINGBUFFER *b)
{
    SIZE_T first = b->MapApertureSegment.OffsetInPages, n = b->MapApertureSegment.NumberOfPages;
    PPFN_NUMBER frames;

    if (b->MapApertureSegment.SegmentId != KMD_APERTURE || n > k->num_pages || first > k->num_pages - n)
        return STATUS_INVALID_PARAMETER;
    frames = MmGetMdlPfnArray(b->MapApertureSegment.pMdl) + b->MapApertureSegment.MdlOffset;
    for (SIZE_T i = 0; i < n; i++)
        k->pages[first + i] = (ULONG)frames[i];
    return STATUS_SUCCESS;
}

static NTSTATUS unmap(struct kmd *k, CONST DXGKARG_BUILDPAGINGBUFFER *b)
{
    SIZE_T first = b->UnmapApertureSegment.OffsetInPages, n = b->UnmapApertureSegment.NumberOfPages;

    if (b->UnmapApertureSegment.SegmentId != KMD_APERTURE || n > k->num_pages || first > k->num_pages - n)
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(k->pages + first, n * sizeof(*k->pages));
    return STATUS_SUCCESS;
}

/* The device knows nothing of the aperture, so there is nothing for it to execute: no paging buffer is written. */
NTSTATUS NTAPI kmd_BuildPagingBuffer(CONST HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *b)
{
    struct kmd *k = adapter;
    NTSTATUS s;

    ExAcquireFastMutex(&k->mutex);
    switch (b->Operation) {
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        s = map(k, b);
        k->map_serial++;
        break;
    case DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
        s = unmap(k, b);
        k->map_serial++;
        break;
    case DXGK_OPERATION_DISCARD_CONTENT:
    case DXGK_OPERATION_READ_PHYSICAL:
    case DXGK_OPERATION_WRITE_PHYSICAL:
        s = STATUS_SUCCESS; /* nothing is cached on the way to memory */
        break;
    default: /* contents never move: there is no memory segment to move them to */
        s = STATUS_NOT_SUPPORTED;
    }
    ExReleaseFastMutex(&k->mutex);
    return s;
}

ULONGLONG kmd_resolve(struct kmd *k, struct kmd_allocation *a, PHYSICAL_ADDRESS address, ULONGLONG size)
{
    ULONGLONG offset = (ULONGLONG)(address.QuadPart - KMD_APERTURE_BASE), first = offset >> PAGE_SHIFT;
    ULONGLONG n = (size + (offset & (PAGE_SIZE - 1)) + PAGE_SIZE - 1) >> PAGE_SHIFT, gpa;

    if (a && a->map_serial == k->map_serial && a->map_address == offset && a->gpa)
        return a->gpa;
    if (address.QuadPart < KMD_APERTURE_BASE || !n || n > k->num_pages || first > k->num_pages - n ||
        !k->pages[first])
        return 0;
    for (ULONGLONG i = 1; i < n; i++)
        if (k->pages[first + i] != k->pages[first] + i)
            return 0;
    gpa = ((ULONGLONG)k->pages[first] << PAGE_SHIFT) + (offset & (PAGE_SIZE - 1));
    if (a && size == a->size) {
        a->map_serial = k->map_serial;
        a->map_address = offset;
        a->gpa = gpa;
    }
    return gpa;
}
