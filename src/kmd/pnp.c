/* SPDX-License-Identifier: MIT */
/* pnp.c: the adapter's life, its settings, what it is and what hangs on it. */
#include "kmd/kmd.h"

#define SETTLE (10000ull * 500) /* 100 ns */

/* ---- settings ------------------------------------------------------------ */

struct setting {
    CONST WCHAR *name;
    ULONG otherwise, min, max;
};

static BOOLEAN query_dword(HANDLE key, CONST WCHAR *name, ULONG *value)
{
    union {
        KEY_VALUE_PARTIAL_INFORMATION info;
        UCHAR bytes[32];
    } u;
    UNICODE_STRING string;
    ULONG size;

    RtlInitUnicodeString(&string, name);
    if (!NT_SUCCESS(ZwQueryValueKey(key, &string, KeyValuePartialInformation, &u, sizeof(u), &size)) ||
        u.info.Type != REG_DWORD || u.info.DataLength != sizeof(*value))
        return FALSE;
    RtlCopyMemory(value, u.info.Data, sizeof(*value));
    return TRUE;
}

/* Values outside the range go to its nearer end, which `format` says. */
static ULONG setting(struct kmd *k, HANDLE key, CONST WCHAR *name, PCSTR format, ULONG otherwise, ULONG min,
                     ULONG max)
{
    ULONG v = otherwise, given;

    if (!key || !query_dword(key, name, &v))
        return otherwise;
    given = v;
    v = v < min ? min : v > max ? max : v;
    if (v != given)
        kmd_log_line(k, DPFLTR_WARNING_LEVEL, format, given, v, 0);
    return v;
}

#define SETTING(k, key, name, otherwise, min, max)                                                           \
    setting(k, key, u"" #name, "aerogpu-kmd: " #name " = %llu is out of range, %llu is used\n", otherwise,   \
            min, max)

static HANDLE open_key(HANDLE root, PUNICODE_STRING name)
{
    OBJECT_ATTRIBUTES attributes;
    HANDLE key;

    InitializeObjectAttributes(&attributes, name, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, root, NULL);
    return NT_SUCCESS(ZwOpenKey(&key, KEY_READ, &attributes)) ? key : NULL;
}

static HANDLE open_service_key(VOID)
{
    static CONST WCHAR tail[] = u"\\Parameters";
    WCHAR buffer[192];
    UNICODE_STRING name = {0, sizeof(buffer), buffer};

    RtlCopyMemory(buffer, kmd_service_key.Buffer, kmd_service_key.Length);
    RtlCopyMemory((PUCHAR)buffer + kmd_service_key.Length, tail, sizeof(tail));
    name.Length = (USHORT)(kmd_service_key.Length + sizeof(tail) - sizeof(WCHAR));
    return open_key(NULL, &name);
}

static HANDLE open_adapter_key(struct kmd *k)
{
    UNICODE_STRING name;
    HANDLE root, key;

    if (!NT_SUCCESS(IoOpenDeviceRegistryKey(k->pdo, PLUGPLAY_REGKEY_DRIVER, KEY_READ, &root)))
        return NULL;
    RtlInitUnicodeString(&name, u"Parameters");
    key = open_key(root, &name);
    ZwClose(root);
    return key;
}

static ULONG power_of_two(ULONG v)
{
    ULONG p = 1;

    while (p < v)
        p *= 2;
    return p;
}

static VOID read_settings(struct kmd *k)
{
    struct kmd_settings *s = &k->settings;
    HANDLE key = open_service_key();
    ULONG is64 = sizeof(PVOID) == 8;

    s->read_gpa = SETTING(k, key, EnableReadGpaEscape, 0, 0, 1) == 1;
    s->map_shared_handle = SETTING(k, key, EnableMapSharedHandleEscape, 0, 0, 1) == 1;
    s->max_dma = SETTING(k, key, MaxDmaBufferBytes, (is64 ? 32u : 16u) << 20, 256 << 10, 256u << 20);
    s->preferred_width = SETTING(k, key, PreferredWidth, 0, 320, 4096);
    s->preferred_height = SETTING(k, key, PreferredHeight, 0, 200, 4096);
    s->max_width = SETTING(k, key, MaxWidth, 0, 0, 16384);
    s->max_height = SETTING(k, key, MaxHeight, 0, 0, 16384);
    s->ring_entries = power_of_two(SETTING(k, key, RingEntries, KMD_RING_ENTRIES, 2, 4096));
    if (key)
        ZwClose(key);
    key = open_adapter_key(k);
    s->budget_mb = SETTING(k, key, NonLocalMemorySizeMB, 512, 128, is64 ? 2048 : 1024);
    if (key)
        ZwClose(key);
}

/* ---- the registers, wherever the PnP manager lists them ------------------ */

static BOOLEAN probe(struct kmd *k, CM_PARTIAL_RESOURCE_DESCRIPTOR *r)
{
    PVOID va = NULL;

    if (!NT_SUCCESS(k->dxgk.DxgkCbMapMemory(k->dxgk.DeviceHandle, r->u.Memory.Start, r->u.Memory.Length,
                                            FALSE, FALSE, MmNonCached, &va)))
        return FALSE;
    k->regs = va;
    k->regs_size = r->u.Memory.Length;
    if (kmd_read(k, AEROGPU_REG_MAGIC) == AEROGPU_MMIO_MAGIC)
        return TRUE;
    k->dxgk.DxgkCbUnmapMemory(k->dxgk.DeviceHandle, va);
    k->regs = NULL;
    return FALSE;
}

static NTSTATUS find_registers(struct kmd *k, PCM_RESOURCE_LIST list)
{
    ULONG windows = 0;

    for (ULONG i = 0; list && i < list->Count; i++) {
        CM_PARTIAL_RESOURCE_LIST *p = &list->List[i].PartialResourceList; /* one full descriptor for PCI */
        for (ULONG j = 0; j < p->Count; j++) {
            CM_PARTIAL_RESOURCE_DESCRIPTOR *r = &p->PartialDescriptors[j];
            if (r->Type != CmResourceTypeMemory || r->u.Memory.Length < PAGE_SIZE)
                continue;
            windows++;
            if (probe(k, r)) {
                kmd_log(k, DPFLTR_INFO_LEVEL,
                        "StartDevice: BAR0 probe inspected %llu windows, selected mem[%llu] len=%llu "
                        "magic=0x55504741",
                        windows, j, r->u.Memory.Length);
                return STATUS_SUCCESS;
            }
        }
        break;
    }
    kmd_log(k, DPFLTR_ERROR_LEVEL, "StartDevice: none of %llu memory windows begins with the magic", windows,
            0, 0);
    return STATUS_DEVICE_CONFIGURATION_ERROR;
}

static NTSTATUS identify(struct kmd *k)
{
    k->abi = kmd_read(k, AEROGPU_REG_ABI_VERSION);
    k->features =
        (ULONGLONG)kmd_read(k, AEROGPU_REG_FEATURES_HI) << 32 | kmd_read(k, AEROGPU_REG_FEATURES_LO);
    kmd_log(k, DPFLTR_INFO_LEVEL, "StartDevice: ABI=v%llu magic=0x55504741 version=0x%llx features=0x%llx",
            AEROGPU_ABI_VERSION_MAJOR(k->abi), k->abi, k->features);
    if (AEROGPU_ABI_VERSION_MAJOR(k->abi) != AEROGPU_ABI_MAJOR)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    if (!(k->features & AEROGPU_FEATURE_SCANOUT))
        return STATUS_DEVICE_CONFIGURATION_ERROR; /* a display driver has nothing to drive */
    k->anchor.period_ns =
        k->features & AEROGPU_FEATURE_VBLANK ? kmd_read(k, AEROGPU_REG_SCANOUT0_VBLANK_PERIOD_NS) : 0;
    if (!k->anchor.period_ns)
        k->anchor.period_ns = 16666667;
    return STATUS_SUCCESS;
}

/* ---- life ---------------------------------------------------------------- */

NTSTATUS NTAPI kmd_AddDevice(CONST PDEVICE_OBJECT pdo, PVOID *context)
{
    struct kmd *k = kmd_alloc(sizeof(*k));

    *context = k;
    if (!k)
        return STATUS_NO_MEMORY;
    k->pdo = pdo;
    KeInitializeSpinLock(&k->lock);
    ExInitializeFastMutex(&k->mutex);
    ExInitializeFastMutex(&k->display);
    kmd_list_init(&k->devices);
    kmd_list_init(&k->clients);
    kmd_list_init(&k->dead);
    k->next_alloc_id = AEROGPU_ALLOC_ID_KMD_MIN;
    return STATUS_SUCCESS;
}

static VOID finish(struct kmd *k)
{
    kmd_cursor_finish(k);
    kmd_forget_all(k);
    for (ULONG i = 0; i < KMD_POOL_SLOTS; i++)
        kmd_memory_free(&k->pool[i].memory);
    kmd_hw_destroy(k);
    kmd_free(k->pages);
    k->pages = NULL;
    if (k->regs)
        k->dxgk.DxgkCbUnmapMemory(k->dxgk.DeviceHandle, k->regs);
    k->regs = NULL;
    k->started = FALSE;
}

NTSTATUS NTAPI kmd_StartDevice(CONST PVOID context, PDXGK_START_INFO info, PDXGKRNL_INTERFACE dxgk,
                               PULONG sources, PULONG children)
{
    struct kmd *k = context;
    DXGK_DEVICE_INFO device;
    NTSTATUS s;

    UNREFERENCED_PARAMETER(info);
    k->dxgk = *dxgk;
    read_settings(k);
    s = k->dxgk.DxgkCbGetDeviceInformation(k->dxgk.DeviceHandle, &device);
    if (NT_SUCCESS(s))
        s = find_registers(k, device.TranslatedResourceList);
    if (!NT_SUCCESS(s))
        return s;
    s = identify(k);
    if (!NT_SUCCESS(s))
        goto fail;
    k->num_pages = k->settings.budget_mb << (20 - PAGE_SHIFT);
    k->pages = kmd_alloc(k->num_pages * sizeof(*k->pages));
    s = k->pages ? kmd_hw_create(k) : STATUS_NO_MEMORY;
    if (!NT_SUCCESS(s))
        goto fail;
    kmd_display_init(k);
    s = kmd_hw_start(k);
    if (!NT_SUCCESS(s))
        goto fail;
    k->started = TRUE;
    *sources = *children = 1;
    return STATUS_SUCCESS;
fail:
    finish(k);
    return s;
}

/* What is under way ends first (who ended, what nobody shares any more): to who watches the device, work that a reset ends has hung. What
 * does hang is not waited for longer. */
static VOID stop(struct kmd *k)
{
    LARGE_INTEGER t = {.QuadPart = -10000};
    ULONGLONG end = kmd_now() + SETTLE;

    while (k->powered && !kmd_hw_settled(k) && kmd_now() < end)
        KeDelayExecutionThread(KernelMode, FALSE, &t);
    kmd_hw_stop(k);
}

NTSTATUS NTAPI kmd_StopDevice(CONST PVOID context)
{
    struct kmd *k = context;

    if (k->regs)
        stop(k);
    finish(k);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_RemoveDevice(CONST PVOID context)
{
    struct kmd *k = context;

    kmd_free(k);
    return STATUS_SUCCESS;
}

VOID NTAPI kmd_Unload(VOID)
{
}

/* At any IRQL, when the system crashes or turns off: the screen is the firmware's again. */
VOID NTAPI kmd_ResetDevice(CONST PVOID context)
{
    struct kmd *k = context;

    if (!k->regs)
        return;
    kmd_write(k, AEROGPU_REG_IRQ_ENABLE, 0);
    kmd_write(k, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_RESET);
    kmd_write(k, AEROGPU_REG_SCANOUT0_ENABLE, 0);
}

NTSTATUS NTAPI kmd_SetPowerState(CONST PVOID context, ULONG uid, DEVICE_POWER_STATE state,
                                 POWER_ACTION action)
{
    struct kmd *k = context;
    NTSTATUS s = STATUS_SUCCESS;

    UNREFERENCED_PARAMETER(action);
    if (uid != DISPLAY_ADAPTER_HW_ID)
        return uid == KMD_TARGET ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER; /* the monitor has no power */
    if (state == PowerDeviceD0) {
        if (!k->powered)
            s = kmd_hw_start(k);
        if (NT_SUCCESS(s))
            kmd_cursor_restore(k);
    } else if (k->powered) {
        stop(k);
    }
    return s;
}

NTSTATUS NTAPI kmd_DispatchIoRequest(CONST PVOID context, ULONG source, PVIDEO_REQUEST_PACKET packet)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(source);
    UNREFERENCED_PARAMETER(packet);
    return STATUS_NOT_SUPPORTED; /* no I/O control code is left to a WDDM 1.1 miniport with one plain output */
}

NTSTATUS NTAPI kmd_NotifyAcpiEvent(CONST PVOID context, DXGK_EVENT_TYPE type, ULONG event, PVOID argument,
                                   PULONG flags)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(type);
    UNREFERENCED_PARAMETER(event);
    UNREFERENCED_PARAMETER(argument);
    *flags = 0;
    return STATUS_SUCCESS; /* there is no switch key and no dock to follow */
}

NTSTATUS NTAPI kmd_QueryInterface(CONST PVOID context, PQUERY_INTERFACE query)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(query);
    return STATUS_NOT_SUPPORTED;
}

VOID NTAPI kmd_ControlEtwLogging(BOOLEAN enable, ULONG flags, UCHAR level)
{
    UNREFERENCED_PARAMETER(enable);
    UNREFERENCED_PARAMETER(flags);
    UNREFERENCED_PARAMETER(level);
}

/* ---- children ------------------------------------------------------------ */

NTSTATUS NTAPI kmd_QueryChildRelations(CONST PVOID context, PDXGK_CHILD_DESCRIPTOR list, ULONG size)
{
    UNREFERENCED_PARAMETER(context);
    if (size < 2 * sizeof(*list)) /* the child, and the zeroed end */
        return STATUS_BUFFER_TOO_SMALL;
    RtlZeroMemory(list, sizeof(*list));
    list->ChildDeviceType = TypeVideoOutput;
    list->ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HD15;
    list->ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
    list->ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    list->ChildUid = KMD_TARGET;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_QueryChildStatus(CONST PVOID context, PDXGK_CHILD_STATUS status, BOOLEAN non_destructive)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(non_destructive);
    if (status->ChildUid != KMD_TARGET)
        return STATUS_INVALID_PARAMETER;
    if (status->Type != StatusConnection)
        return STATUS_NOT_SUPPORTED;
    status->HotPlug.Connected = TRUE;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_QueryDeviceDescriptor(CONST PVOID context, ULONG uid, PDXGK_DEVICE_DESCRIPTOR descriptor)
{
    struct kmd *k = context;
    ULONG at = descriptor->DescriptorOffset, size = descriptor->DescriptorLength;

    if (uid != KMD_TARGET)
        return STATUS_INVALID_PARAMETER;
    if (at >= KMD_EDID_SIZE)
        return STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA;
    if (size > KMD_EDID_SIZE - at)
        size = KMD_EDID_SIZE - at;
    RtlCopyMemory(descriptor->DescriptorBuffer, k->edid + at, size);
    return STATUS_SUCCESS;
}

/* ---- what the adapter can do --------------------------------------------- */

static NTSTATUS query_umd_private(struct kmd *k, CONST DXGKARG_QUERYADAPTERINFO *q)
{
    struct aerogpu_umd_private p = {.size_bytes = sizeof(p),
                                    .struct_version = AEROGPU_UMD_PRIVATE_VERSION,
                                    .device_mmio_magic = AEROGPU_MMIO_MAGIC,
                                    .device_abi_version = k->abi,
                                    .device_features = k->features};

    if (q->OutputDataSize < sizeof(p))
        return STATUS_BUFFER_TOO_SMALL;
    if (k->features & AEROGPU_FEATURE_VBLANK)
        p.flags |= AEROGPU_UMD_PRIVATE_FLAG_VBLANK;
    if (k->features & AEROGPU_FEATURE_FENCE_PAGE)
        p.flags |= AEROGPU_UMD_PRIVATE_FLAG_FENCE_PAGE;
    if (k->features & AEROGPU_EXT_FEATURE(EXT_CONTEXTS))
        p.flags |= AEROGPU_EXT_UMD_PRIVATE_FLAG_OWN_HANDLES;
    p.flags |= AEROGPU_EXT_UMD_PRIVATE_FLAG_ENGINE(kmd_client_node(k));
    RtlZeroMemory(q->pOutputData, q->OutputDataSize);
    RtlCopyMemory(q->pOutputData, &p, sizeof(p));
    return STATUS_SUCCESS;
}

static NTSTATUS query_caps(struct kmd *k, CONST DXGKARG_QUERYADAPTERINFO *q)
{
    DXGK_DRIVERCAPS *caps = q->pOutputData;

    if (q->OutputDataSize < sizeof(*caps))
        return STATUS_BUFFER_TOO_SMALL;
    RtlZeroMemory(caps, sizeof(*caps));
    caps->HighestAcceptableAddress.QuadPart = -1;
    caps->MaxAllocationListSlotId = KMD_MAX_LIST;
    caps->ApertureSegmentCommitLimit = (SIZE_T)k->settings.budget_mb << 20;
    if (k->features & AEROGPU_FEATURE_CURSOR) {
        caps->MaxPointerWidth = caps->MaxPointerHeight = KMD_POINTER;
        caps->PointerCaps.Monochrome = caps->PointerCaps.Color = caps->PointerCaps.MaskedColor = 1;
    }
    caps->MaxQueuedFlipOnVSync = 1;
    caps->FlipCaps.FlipOnVSyncMmIo = 1;
    caps->FlipCaps.FlipImmediateMmIo = 1;
    caps->FlipCaps.FlipInterval = 1;
    caps->SchedulingCaps.MultiEngineAware = 1;
    caps->GpuEngineTopology.NbAsymetricProcessingNodes = k->num_nodes;
    return STATUS_SUCCESS;
}

static NTSTATUS query_segments(struct kmd *k, CONST DXGKARG_QUERYADAPTERINFO *q)
{
    DXGK_QUERYSEGMENTOUT *out = q->pOutputData;
    DXGK_SEGMENTDESCRIPTOR *d;

    if (q->OutputDataSize < sizeof(*out))
        return STATUS_BUFFER_TOO_SMALL;
    d = out->pSegmentDescriptor;
    if (!d) {
        out->NbSegment = 1;
        return STATUS_SUCCESS;
    }
    if (out->NbSegment < 1)
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(d, sizeof(*d));
    d->BaseAddress.QuadPart = KMD_APERTURE_BASE;
    d->Size = d->CommitLimit = (SIZE_T)k->settings.budget_mb << 20;
    d->Flags.Aperture = d->Flags.CpuVisible = d->Flags.CacheCoherent = 1;
    out->PagingBufferSegmentId = 0; /* system memory */
    out->PagingBufferSize = PAGE_SIZE;
    out->PagingBufferPrivateDataSize = sizeof(struct kmd_dma);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_QueryAdapterInfo(CONST HANDLE adapter, CONST DXGKARG_QUERYADAPTERINFO *q)
{
    struct kmd *k = adapter;

    switch (q->Type) {
    case DXGKQAITYPE_UMDRIVERPRIVATE:
        return query_umd_private(k, q);
    case DXGKQAITYPE_DRIVERCAPS:
        return query_caps(k, q);
    case DXGKQAITYPE_QUERYSEGMENT:
        return query_segments(k, q);
    default:
        return STATUS_NOT_SUPPORTED;
    }
}
