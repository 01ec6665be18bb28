/* SPDX-License-Identifier: MIT */
/* adapter.c: the D3DKMT thunks for what a client asks of an adapter: to open it, what it is, escapes, statistics; and what all thunks
 * begin and end with. */
#include "dxgkrnl/pointer.h"
#include "dxgkrnl/telemetry/segments.h"
#include "dxgkrnl/thunks/thunks.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct dxgk *dxgk_thunk_enter(struct dxgk_client *c)
{
    dxgk_kernel_enter_turn(c->d->kernel, &c->turn);
    dxgk_kernel_set_caller(
        c->d->kernel,
        (struct dxgk_kernel_caller){.process = c->process, .session = c->session, .admin = c->admin});
    return c->d;
}

NTSTATUS dxgk_thunk_leave(struct dxgk *d, NTSTATUS s)
{
    dxgk_kernel_set_caller(d->kernel, (struct dxgk_kernel_caller){0});
    dxgk_kernel_leave(d->kernel);
    return s;
}

NTSTATUS dxgk_thunk_usable(const struct dxgk *d, const struct device *dev)
{
    if (d->state != DXGK_STARTED || (dev && dev->state != D3DKMT_DEVICEEXECUTION_ACTIVE))
        return STATUS_DEVICE_REMOVED;
    return STATUS_SUCCESS;
}

/* ---- adapters ------------------------------------------------------------ */

static NTSTATUS open_adapter(struct dxgk_client *c, UINT source, D3DKMT_HANDLE *handle, LUID *luid,
                             UINT *out_source)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    NTSTATUS s = STATUS_SUCCESS;

    if (d->state != DXGK_STARTED && d->state != DXGK_FAILED)
        s = STATUS_NO_SUCH_DEVICE;
    else if (source >= d->display.num_sources)
        s = STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    else if (!(*handle = dxgk_handle_new(d, HANDLE_ADAPTER, c, d)))
        s = STATUS_NO_MEMORY;
    *luid = d->luid;
    *out_source = source;
    return dxgk_thunk_leave(d, s);
}

/* \\.\DISPLAYn, n from 1 on: device names have no case, and nothing behind them. */
static bool source_of(const char *name, UINT *source)
{
    static const char prefix[] = "\\\\.\\DISPLAY";
    UINT n = 0;

    if (strncasecmp(name, prefix, sizeof(prefix) - 1) != 0)
        return false;
    name += sizeof(prefix) - 1;
    if (*name < '1' || *name > '9' || strlen(name) > 9)
        return false;
    for (; *name >= '0' && *name <= '9'; name++)
        n = n * 10 + (UINT)(*name - '0');
    *source = n - 1;
    return !*name;
}

NTSTATUS dxgk_OpenAdapterFromHdc(struct dxgk_client *c, D3DKMT_OPENADAPTERFROMHDC *arg)
{
    const char *name = arg->hDc;
    UINT source = 0;

    if (name && !source_of(name, &source))
        return STATUS_INVALID_PARAMETER;
    return open_adapter(c, source, &arg->hAdapter, &arg->AdapterLuid, &arg->VidPnSourceId);
}

NTSTATUS dxgk_OpenAdapterFromGdiDisplayName(struct dxgk_client *c, D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME *arg)
{
    char name[33] = {0};
    UINT source;

    for (int i = 0; i < 32 && arg->DeviceName[i]; i++)
        name[i] = arg->DeviceName[i] < 127 ? (char)arg->DeviceName[i] : '?';
    if (!source_of(name, &source))
        return STATUS_INVALID_PARAMETER;
    return open_adapter(c, source, &arg->hAdapter, &arg->AdapterLuid, &arg->VidPnSourceId);
}

NTSTATUS dxgk_CloseAdapter(struct dxgk_client *c, CONST D3DKMT_CLOSEADAPTER *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    NTSTATUS s = STATUS_INVALID_HANDLE;

    if (dxgk_handle_get(d, arg->hAdapter, HANDLE_ADAPTER, c)) {
        dxgk_handle_free(d, arg->hAdapter);
        s = STATUS_SUCCESS;
    }
    return dxgk_thunk_leave(d, s);
}

/* What a KMTQUERYADAPTERINFOTYPE is answered with; the caller's buffer has exactly the size of the answer, and is all zero
 * but for what `in` bytes of it say. */

static NTSTATUS segment_sizes(const struct dxgk_client *c, void *arg)
{
    struct dxgk *d = c->d;
    D3DKMT_SEGMENTSIZEINFO *out = arg;

    for (unsigned i = 0; i < d->vidmm.num_segments; i++) {
        const DXGK_SEGMENTDESCRIPTOR *g = &d->vidmm.segments[i].desc;
        if (g->Flags.Aperture)
            out->SharedSystemMemorySize += g->CommitLimit;
        else if (g->Flags.PopulatedFromSystemMemory)
            out->DedicatedSystemMemorySize += g->CommitLimit;
        else
            out->DedicatedVideoMemorySize += g->CommitLimit;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS flip_queue(const struct dxgk_client *c, void *out)
{
    *(D3DKMT_FLIPQUEUEINFO *)out =
        (D3DKMT_FLIPQUEUEINFO){.MaxHardwareFlipQueueLength = c->d->caps.MaxQueuedFlipOnVSync,
                               .MaxSoftwareFlipQueueLength = MAX_PRESENTS,
                               .FlipFlags.FlipInterval = 1};
    return STATUS_SUCCESS;
}

static NTSTATUS registry_info(const struct dxgk_client *c, void *arg)
{
    const struct dxgk *d = c->d;
    D3DKMT_ADAPTERREGISTRYINFO *out = arg;

    for (int i = 0; d->service[i]; i++)
        out->AdapterString[i] = out->ChipType[i] = (WCHAR)d->service[i];
    return STATUS_SUCCESS;
}

static NTSTATUS umd_name(const struct dxgk_client *c, void *arg)
{
    D3DKMT_UMDFILENAMEINFO *out = arg;
    const char *name;

    if ((UINT)out->Version >= NUM_KMTUMDVERSIONS)
        return STATUS_INVALID_PARAMETER;
    name = c->d->umd[c->is_wow64][out->Version];
    if (!*name)
        return STATUS_OBJECT_NAME_NOT_FOUND;
    for (int i = 0; name[i]; i++)
        out->UmdFileName[i] = (WCHAR)name[i];
    return STATUS_SUCCESS;
}

static NTSTATUS display_mode(const struct dxgk_client *c, void *arg)
{
    const struct dxgk *d = c->d;
    D3DKMT_CURRENTDISPLAYMODE *mode = arg;

    if (mode->VidPnSourceId >= d->display.num_sources || !d->display.sources[mode->VidPnSourceId].committed)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    mode->DisplayMode = d->display.sources[mode->VidPnSourceId].mode;
    return STATUS_SUCCESS;
}

static NTSTATUS device_ids(const struct dxgk_client *c, void *arg)
{
    const struct dxgk_bus *bus = c->d->bus;
    D3DKMT_QUERY_DEVICE_IDS *out = arg;
    uint8_t config[64] = {0};

    if (out->PhysicalAdapterIndex)
        return STATUS_INVALID_PARAMETER;
    if (!bus->config_read || bus->config_read(bus->ctx, 0, config, sizeof(config)) != sizeof(config))
        return STATUS_NOT_SUPPORTED;
    out->DeviceIds = (D3DKMT_DEVICE_IDS){.VendorID = config[0] | config[1] << 8u,
                                         .DeviceID = config[2] | config[3] << 8u,
                                         .RevisionID = config[8],
                                         .SubVendorID = config[44] | config[45] << 8u,
                                         .SubSystemID = config[46] | config[47] << 8u,
                                         .BusType = PCIBus};
    return STATUS_SUCCESS;
}

static NTSTATUS driver_version(const struct dxgk_client *c, void *out)
{
    *(D3DKMT_DRIVERVERSION *)out = KMT_DRIVERVERSION_WDDM_1_1;
    return STATUS_SUCCESS;
}

static const struct {
    int type;
    UINT size, in;
    NTSTATUS (*fill)(const struct dxgk_client *c, void *out); /* NULL: nothing but zeros */
} infos[] = {
    {KMTQAITYPE_UMDRIVERNAME, sizeof(D3DKMT_UMDFILENAMEINFO), sizeof(KMTUMDVERSION), umd_name},
    {KMTQAITYPE_GETSEGMENTSIZE, sizeof(D3DKMT_SEGMENTSIZEINFO), 0, segment_sizes},
    {KMTQAITYPE_ADAPTERGUID, sizeof(GUID), 0, NULL},
    {KMTQAITYPE_FLIPQUEUEINFO, sizeof(D3DKMT_FLIPQUEUEINFO), 0, flip_queue},
    {KMTQAITYPE_ADAPTERADDRESS, sizeof(D3DKMT_ADAPTERADDRESS), 0, NULL},
    {KMTQAITYPE_ADAPTERREGISTRYINFO, sizeof(D3DKMT_ADAPTERREGISTRYINFO), 0, registry_info},
    {KMTQAITYPE_CURRENTDISPLAYMODE, sizeof(D3DKMT_CURRENTDISPLAYMODE), sizeof(D3DKMT_CURRENTDISPLAYMODE),
     display_mode},
    {KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, sizeof(D3DKMT_QUERY_DEVICE_IDS), sizeof(D3DKMT_QUERY_DEVICE_IDS),
     device_ids},
    {KMTQAITYPE_CHECKDRIVERUPDATESTATUS, sizeof(BOOL), 0, NULL}, /* none is pending */
    {KMTQAITYPE_DRIVERVERSION, sizeof(D3DKMT_DRIVERVERSION), 0, driver_version},
};

static NTSTATUS driver_private(struct dxgk *d, void *data, UINT size)
{
    DXGKARG_QUERYADAPTERINFO q = {
        .Type = DXGKQAITYPE_UMDRIVERPRIVATE, .pOutputData = data, .OutputDataSize = size};
    NTSTATUS s;

    dxgk_answers_query(d, &q, "DxgkDdiQueryAdapterInfo(UMDRIVERPRIVATE)", &s);
    return s;
}

static NTSTATUS query_info(const struct dxgk_client *c, const D3DKMT_QUERYADAPTERINFO *arg)
{
    struct dxgk *d = c->d;
    UINT size = arg->PrivateDriverDataSize;

    if (arg->Type == KMTQAITYPE_UMDRIVERPRIVATE)
        return d->miniport ? driver_private(d, arg->pPrivateDriverData, size) : STATUS_DEVICE_REMOVED;
    for (size_t i = 0; i < sizeof(infos) / sizeof(infos[0]); i++) {
        if (infos[i].type != (int)arg->Type)
            continue;
        if (size != infos[i].size)
            return size < infos[i].size ? STATUS_BUFFER_TOO_SMALL : STATUS_INVALID_PARAMETER;
        memset((char *)arg->pPrivateDriverData + infos[i].in, 0, size - infos[i].in);
        return infos[i].fill ? infos[i].fill(c, arg->pPrivateDriverData) : STATUS_SUCCESS;
    }
    return STATUS_NOT_SUPPORTED;
}

NTSTATUS dxgk_QueryAdapterInfo(struct dxgk_client *c, CONST D3DKMT_QUERYADAPTERINFO *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    NTSTATUS s;

    if (!dxgk_handle_get(d, arg->hAdapter, HANDLE_ADAPTER, c))
        s = STATUS_INVALID_HANDLE;
    else if (!arg->pPrivateDriverData || arg->PrivateDriverDataSize > MAX_PRIVATE)
        s = STATUS_INVALID_PARAMETER;
    else
        s = query_info(c, arg);
    return dxgk_thunk_leave(d, s);
}

/* ---- escapes ------------------------------------------------------------- */

static NTSTATUS inject(struct dxgk_client *c, const D3DKMT_ESCAPE *arg)
{
    struct dxgk_injection i;

    if (arg->PrivateDriverDataSize != sizeof(i))
        return STATUS_INVALID_PARAMETER;
    if (!c->admin)
        return STATUS_ACCESS_DENIED; /* whatever the settings are: those are no business of a stranger's */
    if (!c->d->injection.allowed)
        return STATUS_NOT_SUPPORTED;
    memcpy(&i, arg->pPrivateDriverData, sizeof(i));
    return dxgk_inject(c->d, i.fault, i.value);
}

static NTSTATUS point(struct dxgk_client *c, const D3DKMT_ESCAPE *arg)
{
    struct dxgk *d = c->d;
    NTSTATUS s = c->admin ? dxgk_thunk_usable(d, NULL) : STATUS_ACCESS_DENIED;

    if (!NT_SUCCESS(s))
        return s;
    if (!dxgk_adapter_lock(d))
        return STATUS_DEVICE_REMOVED;
    s = dxgk_pointer_set(d, arg->pPrivateDriverData, arg->PrivateDriverDataSize);
    dxgk_adapter_unlock(d);
    return s;
}

static NTSTATUS recovery(struct dxgk *d, const D3DKMT_ESCAPE *arg)
{
    struct dxgk_recovery r;

    if (arg->PrivateDriverDataSize != sizeof(r))
        return STATUS_INVALID_PARAMETER;
    dxgk_tdr_tell(d, &r);
    memcpy(arg->pPrivateDriverData, &r, sizeof(r));
    return STATUS_SUCCESS;
}

/* What a miniport writes behind the data goes into no memory of the client's, and is named. */
static NTSTATUS driver_escape(struct dxgk *d, DXGKARG_ESCAPE e)
{
    void *data = e.pPrivateDriverData;
    NTSTATUS s;

    e.pPrivateDriverData = dxgk_answers_room(e.PrivateDriverDataSize);
    if (!e.pPrivateDriverData)
        return STATUS_NO_MEMORY;
    memcpy(e.pPrivateDriverData, data, e.PrivateDriverDataSize);
    s = DDI_ARG(d, Escape, d->miniport, &e);
    dxgk_answers_kept(d, "DxgkDdiEscape", "pPrivateDriverData, at byte", e.pPrivateDriverData,
                      e.PrivateDriverDataSize);
    memcpy(data, e.pPrivateDriverData, e.PrivateDriverDataSize);
    free(e.pPrivateDriverData);
    return s;
}

NTSTATUS dxgk_Escape(struct dxgk_client *c, CONST D3DKMT_ESCAPE *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    struct device *dev = arg->hDevice ? dxgk_handle_get(d, arg->hDevice, HANDLE_DEVICE, c) : NULL;
    struct context *x = arg->hContext ? dxgk_handle_get(d, arg->hContext, HANDLE_CONTEXT, c) : NULL;
    DXGKARG_ESCAPE e = {.hDevice = dev ? dev->driver : NULL,
                        .Flags = arg->Flags,
                        .pPrivateDriverData = arg->pPrivateDriverData,
                        .PrivateDriverDataSize = arg->PrivateDriverDataSize,
                        .hContext = x ? x->driver : NULL};
    UINT type = 0;
    NTSTATUS s;

    if (!dxgk_handle_get(d, arg->hAdapter, HANDLE_ADAPTER, c) || (arg->hDevice && !dev) ||
        (arg->hContext && !x))
        return dxgk_thunk_leave(d, STATUS_INVALID_HANDLE);
    if (!arg->pPrivateDriverData || !arg->PrivateDriverDataSize || arg->PrivateDriverDataSize > MAX_PRIVATE)
        return dxgk_thunk_leave(d, STATUS_INVALID_PARAMETER);
    switch ((int)arg->Type) {
    case D3DKMT_ESCAPE_DRIVERPRIVATE:
        if (!d->miniport) {
            s = STATUS_DEVICE_REMOVED;
        } else if (arg->Flags.HardwareAccess) {
            s = STATUS_DEVICE_REMOVED;
            if (dxgk_adapter_lock(d)) {
                s = driver_escape(d, e);
                dxgk_adapter_unlock(d);
            }
        } else {
            s = driver_escape(d, e); /* also while the device hangs, and after it failed */
        }
        break;
    case D3DKMT_ESCAPE_TDRDBGCTRL:
        if (arg->PrivateDriverDataSize != sizeof(type)) {
            s = STATUS_INVALID_PARAMETER;
            break;
        }
        memcpy(&type, arg->pPrivateDriverData, sizeof(type));
        s = !c->admin ? STATUS_ACCESS_DENIED
            : type == D3DKMT_TDRDBGCTRLTYPE_FORCETDR || type == D3DKMT_TDRDBGCTRLTYPE_GPUTDR
                ? dxgk_thunk_usable(d, NULL)
                : STATUS_NOT_SUPPORTED;
        if (NT_SUCCESS(s)) {
            dxgk_adapter_force_tdr(d);
        }
        break;
    case DXGK_ESCAPE_INJECT:
        s = inject(c, arg);
        break;
    case DXGK_ESCAPE_POINTER:
        s = point(c, arg);
        break;
    case DXGK_ESCAPE_SEGMENTS:
        s = dxgk_vidmm_segments(d, arg->pPrivateDriverData, arg->PrivateDriverDataSize);
        break;
    case DXGK_ESCAPE_RECOVERY:
        s = recovery(d, arg);
        break;
    case DXGK_ESCAPE_TRACE:
        s = dxgk_trace_escape(d, c->admin, arg->pPrivateDriverData, arg->PrivateDriverDataSize);
        break;
    case DXGK_ESCAPE_METRICS:
        s = dxgk_metrics_get(d, c, arg->pPrivateDriverData, arg->PrivateDriverDataSize);
        break;
    default:
        s = STATUS_NOT_SUPPORTED;
    }
    return dxgk_thunk_leave(d, s);
}

/* ---- statistics ---------------------------------------------------------- */

static void node_statistics(struct dxgk *d, const struct node *n,
                            D3DKMT_QUERYSTATISTICS_PROCESS_NODE_INFORMATION *out)
{
    uint64_t busy = n->busy_ns + (n->hw ? dxgk_kernel_now(d->kernel) - n->head_start_ns : 0);

    out->RunningTime.QuadPart = (LONGLONG)(busy / 100);
    out->ContextSwitch = (ULONG)n->switches;
    out->PreemptionCounter[0] = (ULONG)n->packets_preempted;
    for (int i = 0; i < 4; i++) {
        out->PacketStatistics.DmaPacket[i].PacketSubmited = (ULONG)n->packets_submitted[i];
        out->PacketStatistics.DmaPacket[i].PacketCompleted = (ULONG)n->packets_completed[i];
    }
    out->PacketStatistics.DmaPacket[D3DKMT_ClientRenderBuffer].PacketFaulted = (ULONG)n->packets_faulted;
    out->PacketStatistics.DmaPacket[D3DKMT_ClientRenderBuffer].PacketPreempted = (ULONG)n->packets_preempted;
}

static NTSTATUS statistics(struct dxgk *d, D3DKMT_QUERYSTATISTICS *arg)
{
    D3DKMT_QUERYSTATISTICS_RESULT *r = &arg->QueryResult;
    const struct segment *g;

    memset(r, 0, sizeof(*r));
    switch (arg->Type) {
    case D3DKMT_QUERYSTATISTICS_ADAPTER:
        r->AdapterInformation.NbSegments = d->vidmm.num_segments;
        r->AdapterInformation.NodeCount = d->sched.num_nodes;
        r->AdapterInformation.VidPnSourceCount = d->display.num_sources;
        r->AdapterInformation.VSyncEnabled = d->display.vsync_enabled;
        r->AdapterInformation.TdrDetectedCount = d->tdr.total;
        r->AdapterInformation.Allocations[0].Count = (ULONG)d->vidmm.created;
        r->AdapterInformation.Allocations[1].Count = (ULONG)d->vidmm.destroyed;
        r->AdapterInformation.Locks[0] = (ULONG)d->vidmm.locks;
        return STATUS_SUCCESS;
    case D3DKMT_QUERYSTATISTICS_SEGMENT:
        if (arg->QuerySegment.SegmentId >= d->vidmm.num_segments)
            return STATUS_INVALID_PARAMETER;
        g = &d->vidmm.segments[arg->QuerySegment.SegmentId];
        r->SegmentInformation.CommitLimit = g->desc.CommitLimit;
        r->SegmentInformation.BytesCommitted = g->committed;
        r->SegmentInformation.BytesResident = g->resident;
        r->SegmentInformation.Memory.TotalBytesEvicted = g->evicted;
        r->SegmentInformation.Memory.AllocsCommitted = g->commits;
        r->SegmentInformation.Memory.AllocsResident = g->residents;
        r->SegmentInformation.Aperture = g->desc.Flags.Aperture;
        return STATUS_SUCCESS;
    case D3DKMT_QUERYSTATISTICS_NODE:
        if (arg->QueryNode.NodeId >= d->sched.num_nodes)
            return STATUS_INVALID_PARAMETER;
        node_statistics(d, &d->sched.nodes[arg->QueryNode.NodeId], &r->NodeInformation.GlobalInformation);
        return STATUS_SUCCESS;
    case D3DKMT_QUERYSTATISTICS_VIDPNSOURCE:
        if (arg->QueryVidPnSource.VidPnSourceId >= d->display.num_sources)
            return STATUS_INVALID_PARAMETER;
        r->VidPnSourceInformation.GlobalInformation.Frame =
            (ULONG)d->display.sources[arg->QueryVidPnSource.VidPnSourceId].frames;
        r->VidPnSourceInformation.GlobalInformation.QueuedPresent =
            d->display.sources[arg->QueryVidPnSource.VidPnSourceId].flip_count;
        r->VidPnSourceInformation.GlobalInformation.IsVSyncEnabled = d->display.vsync_enabled;
        return STATUS_SUCCESS;
    default:
        return STATUS_NOT_SUPPORTED;
    }
}

NTSTATUS dxgk_QueryStatistics(struct dxgk_client *c, D3DKMT_QUERYSTATISTICS *arg)
{
    struct dxgk *d = dxgk_thunk_enter(c);
    NTSTATUS s = STATUS_INVALID_PARAMETER;

    if (arg->AdapterLuid.LowPart == d->luid.LowPart && arg->AdapterLuid.HighPart == d->luid.HighPart)
        s = statistics(d, arg);
    return dxgk_thunk_leave(d, s);
}
