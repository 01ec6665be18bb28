/* SPDX-License-Identifier: MIT */
/* A driver that only displays, written against include/wddm only: it copies what changed of the desktop into the frame buffer that
 * firmware left. Built as a shared object. Escapes make it behave badly. */
#define DXGKDDI_INTERFACE_VERSION 0x300E
#include "wddm/dispmprt.h"

#include "protocol.h"

#define TAG 0x444F4B4D

struct adapter {
    DXGKRNL_INTERFACE dxgk;
    DXGK_DISPLAY_INFORMATION screen;
    PUCHAR pixels;
    UINT width, height; /* of the source's mode */
    BOOLEAN visible;
    UINT behaviour;
};

static NTSTATUS NTAPI AddDevice(CONST PDEVICE_OBJECT device, PVOID *context)
{
    UNREFERENCED_PARAMETER(device);
    *context = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(struct adapter), TAG);
    return *context ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS NTAPI RemoveDevice(CONST PVOID context)
{
    ExFreePoolWithTag(context, TAG);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI StartDevice(CONST PVOID context, PDXGK_START_INFO info, PDXGKRNL_INTERFACE dxgk,
                                  PULONG sources, PULONG children)
{
    struct adapter *a = context;
    NTSTATUS s;

    UNREFERENCED_PARAMETER(info);
    if (dxgk->Size < sizeof(*dxgk) || dxgk->Version != DXGKDDI_INTERFACE_VERSION_WIN8)
        return STATUS_INVALID_PARAMETER;
    a->dxgk = *dxgk;
    s = dxgk->DxgkCbAcquirePostDisplayOwnership(dxgk->DeviceHandle, &a->screen);
    if (!NT_SUCCESS(s) || !a->screen.Width)
        return STATUS_UNSUCCESSFUL;
    a->pixels = MmMapIoSpaceEx(a->screen.PhysicAddress, (SIZE_T)a->screen.Pitch * a->screen.Height,
                               PAGE_READWRITE | PAGE_WRITECOMBINE);
    *sources = *children = 1;
    return a->pixels ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS NTAPI StopDevice(CONST PVOID context)
{
    struct adapter *a = context;

    MmUnmapIoSpace(a->pixels, (SIZE_T)a->screen.Pitch * a->screen.Height);
    a->pixels = NULL;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI StopDeviceAndReleasePostDisplayOwnership(PVOID context,
                                                               D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                                               PDXGK_DISPLAY_INFORMATION info)
{
    struct adapter *a = context;

    UNREFERENCED_PARAMETER(target);
    *info = a->screen;
    if (a->behaviour == BEHAVE_GIVES_BACK_RUBBISH)
        info->PhysicAddress.QuadPart = 0x1000;
    return StopDevice(context);
}

static NTSTATUS NTAPI DispatchIoRequest(CONST PVOID context, ULONG source, PVIDEO_REQUEST_PACKET p)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(source);
    UNREFERENCED_PARAMETER(p);
    return STATUS_NOT_SUPPORTED;
}

static VOID NTAPI ResetDevice(CONST PVOID context)
{
    UNREFERENCED_PARAMETER(context);
}

static VOID NTAPI Unload(VOID)
{
}

static VOID NTAPI DpcRoutine(CONST PVOID context)
{
    struct adapter *a = context;

    a->dxgk.DxgkCbNotifyDpc(a->dxgk.DeviceHandle);
}

static NTSTATUS NTAPI QueryChildRelations(CONST PVOID context, PDXGK_CHILD_DESCRIPTOR children, ULONG size)
{
    UNREFERENCED_PARAMETER(context);
    if (size < 2 * sizeof(*children))
        return STATUS_BUFFER_TOO_SMALL;
    children->ChildDeviceType = TypeVideoOutput;
    children->ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    children->ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_OTHER;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI QueryChildStatus(CONST PVOID context, PDXGK_CHILD_STATUS status, BOOLEAN gentle)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(gentle);
    status->HotPlug.Connected = TRUE;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI QueryDeviceDescriptor(CONST PVOID context, ULONG child, PDXGK_DEVICE_DESCRIPTOR d)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(child);
    UNREFERENCED_PARAMETER(d);
    return STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
}

static NTSTATUS NTAPI SetPowerState(CONST PVOID context, ULONG uid, DEVICE_POWER_STATE state,
                                    POWER_ACTION action)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(uid);
    UNREFERENCED_PARAMETER(state);
    UNREFERENCED_PARAMETER(action);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI QueryAdapterInfo(CONST HANDLE h, CONST DXGKARG_QUERYADAPTERINFO *q)
{
    DXGK_DRIVERCAPS *caps = q->pOutputData;

    UNREFERENCED_PARAMETER(h);
    if (q->Type != DXGKQAITYPE_DRIVERCAPS)
        return STATUS_NOT_SUPPORTED;
    if (q->OutputDataSize < sizeof(*caps))
        return STATUS_BUFFER_TOO_SMALL;
    caps->WDDMVersion = DXGKDDI_WDDMv1_2;
    caps->HighestAcceptableAddress.QuadPart = -1;
    caps->SupportNonVGA = TRUE;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI SetPointerPosition(CONST HANDLE h, CONST DXGKARG_SETPOINTERPOSITION *p)
{
    UNREFERENCED_PARAMETER(h);
    UNREFERENCED_PARAMETER(p);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI SetPointerShape(CONST HANDLE h, CONST DXGKARG_SETPOINTERSHAPE *p)
{
    UNREFERENCED_PARAMETER(h);
    UNREFERENCED_PARAMETER(p);
    return STATUS_NOT_SUPPORTED;
}

static NTSTATUS NTAPI Escape(CONST HANDLE h, CONST DXGKARG_ESCAPE *e)
{
    if (e->PrivateDriverDataSize != sizeof(UINT))
        return STATUS_INVALID_PARAMETER;
    ((struct adapter *)h)->behaviour = *(UINT *)e->pPrivateDriverData;
    return STATUS_SUCCESS;
}

/* ---- modes ----------------------------------------------------------------- */

static NTSTATUS add_source_mode(CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i, D3DKMDT_HVIDPNSOURCEMODESET set,
                                UINT w, UINT h)
{
    D3DKMDT_VIDPN_SOURCE_MODE *m;
    NTSTATUS s = i->pfnCreateNewModeInfo(set, &m);

    if (!NT_SUCCESS(s))
        return s;
    m->Type = D3DKMDT_RMT_GRAPHICS;
    m->Format.Graphics.PrimSurfSize.cx = m->Format.Graphics.VisibleRegionSize.cx = w;
    m->Format.Graphics.PrimSurfSize.cy = m->Format.Graphics.VisibleRegionSize.cy = h;
    m->Format.Graphics.Stride = 4 * w;
    m->Format.Graphics.PixelFormat = D3DDDIFMT_A8R8G8B8;
    m->Format.Graphics.ColorBasis = D3DKMDT_CB_SCRGB;
    m->Format.Graphics.PixelValueAccessMode = D3DKMDT_PVAM_DIRECT;
    return i->pfnAddMode(set, m);
}

/* Modes for a source that has none pinned: what firmware set, and a smaller one in its middle. */
static NTSTATUS fill_source(struct adapter *a, CONST DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    NTSTATUS s = v->pfnCreateNewSourceModeSet(vidpn, 0, &set, &i);

    if (NT_SUCCESS(s))
        s = add_source_mode(i, set, a->screen.Width, a->screen.Height);
    if (NT_SUCCESS(s))
        s = add_source_mode(i, set, 640, 480);
    return NT_SUCCESS(s) ? v->pfnAssignSourceModeSet(vidpn, 0, set) : s;
}

static NTSTATUS fill_target(struct adapter *a, CONST DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    CONST DXGK_VIDPNTARGETMODESET_INTERFACE *i;
    D3DKMDT_HVIDPNTARGETMODESET set;
    D3DKMDT_VIDPN_TARGET_MODE *m;
    NTSTATUS s = v->pfnCreateNewTargetModeSet(vidpn, 0, &set, &i);

    if (!NT_SUCCESS(s) || !NT_SUCCESS(s = i->pfnCreateNewModeInfo(set, &m)))
        return s;
    m->VideoSignalInfo.VideoStandard = D3DKMDT_VSS_OTHER;
    m->VideoSignalInfo.ActiveSize.cx = m->VideoSignalInfo.TotalSize.cx = a->screen.Width;
    m->VideoSignalInfo.ActiveSize.cy = m->VideoSignalInfo.TotalSize.cy = a->screen.Height;
    m->VideoSignalInfo.VSyncFreq.Numerator = m->VideoSignalInfo.VSyncFreq.Denominator =
        D3DKMDT_FREQUENCY_NOTSPECIFIED;
    m->VideoSignalInfo.ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE;
    m->Preference = D3DKMDT_MP_PREFERRED;
    s = i->pfnAddMode(set, m);
    return NT_SUCCESS(s) ? v->pfnAssignTargetModeSet(vidpn, 0, set) : s;
}

static NTSTATUS NTAPI EnumVidPnCofuncModality(CONST HANDLE h, CONST DXGKARG_ENUMVIDPNCOFUNCMODALITY *CONST e)
{
    struct adapter *a = h;
    CONST DXGK_VIDPN_INTERFACE *v;
    CONST DXGK_VIDPNTOPOLOGY_INTERFACE *t;
    D3DKMDT_HVIDPNTOPOLOGY topology;
    CONST D3DKMDT_VIDPN_PRESENT_PATH *path;
    D3DKMDT_VIDPN_PRESENT_PATH changed;
    NTSTATUS s =
        a->dxgk.DxgkCbQueryVidPnInterface(e->hConstrainingVidPn, DXGK_VIDPN_INTERFACE_VERSION_V1, &v);

    if (!NT_SUCCESS(s) || e->EnumPivotType != D3DKMDT_EPT_NOPIVOT)
        return s;
    s = v->pfnGetTopology(e->hConstrainingVidPn, &topology, &t);
    if (!NT_SUCCESS(s) || (s = t->pfnAcquireFirstPathInfo(topology, &path)) != STATUS_SUCCESS)
        return s;
    changed = *path;
    changed.ContentTransformation.ScalingSupport.Identity =
        changed.ContentTransformation.ScalingSupport.Centered = 1;
    changed.ContentTransformation.RotationSupport.Identity =
        changed.ContentTransformation.RotationSupport.Offset0 = 1;
    s = t->pfnUpdatePathSupportInfo(topology, &changed);
    t->pfnReleasePathInfo(topology, path);
    if (NT_SUCCESS(s))
        s = fill_source(a, v, e->hConstrainingVidPn);
    return NT_SUCCESS(s) ? fill_target(a, v, e->hConstrainingVidPn) : s;
}

static NTSTATUS NTAPI CommitVidPn(CONST HANDLE h, CONST DXGKARG_COMMITVIDPN *CONST c)
{
    struct adapter *a = h;
    CONST DXGK_VIDPN_INTERFACE *v;
    CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    CONST D3DKMDT_VIDPN_SOURCE_MODE *m;
    NTSTATUS s = a->dxgk.DxgkCbQueryVidPnInterface(c->hFunctionalVidPn, DXGK_VIDPN_INTERFACE_VERSION_V1, &v);

    if (!NT_SUCCESS(s) || !NT_SUCCESS(s = v->pfnAcquireSourceModeSet(c->hFunctionalVidPn, 0, &set, &i)))
        return s;
    s = i->pfnAcquirePinnedModeInfo(set, &m);
    if (s == STATUS_SUCCESS) {
        a->width = m->Format.Graphics.PrimSurfSize.cx;
        a->height = m->Format.Graphics.PrimSurfSize.cy;
        i->pfnReleaseModeInfo(set, m);
    }
    v->pfnReleaseSourceModeSet(c->hFunctionalVidPn, set);
    return s;
}

static NTSTATUS NTAPI IsSupportedVidPn(CONST HANDLE h, DXGKARG_ISSUPPORTEDVIDPN *p)
{
    UNREFERENCED_PARAMETER(h);
    p->IsVidPnSupported = TRUE;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI RecommendFunctionalVidPn(CONST HANDLE h,
                                               CONST DXGKARG_RECOMMENDFUNCTIONALVIDPN *CONST p)
{
    UNREFERENCED_PARAMETER(h);
    UNREFERENCED_PARAMETER(p);
    return STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN;
}

static NTSTATUS NTAPI SetVidPnSourceVisibility(CONST HANDLE h, CONST DXGKARG_SETVIDPNSOURCEVISIBILITY *p)
{
    struct adapter *a = h;

    a->visible = p->Visible;
    RtlZeroMemory(a->pixels, (SIZE_T)a->screen.Pitch * a->screen.Height);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI UpdateActiveVidPnPresentPath(CONST HANDLE h,
                                                   CONST DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *CONST p)
{
    UNREFERENCED_PARAMETER(h);
    UNREFERENCED_PARAMETER(p);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI RecommendMonitorModes(CONST HANDLE h, CONST DXGKARG_RECOMMENDMONITORMODES *CONST p)
{
    UNREFERENCED_PARAMETER(h);
    UNREFERENCED_PARAMETER(p);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI QueryVidPnHWCapability(CONST HANDLE h, DXGKARG_QUERYVIDPNHWCAPABILITY *p)
{
    UNREFERENCED_PARAMETER(h);
    p->VidPnHWCaps.DriverColorConvert = 1;
    return STATUS_SUCCESS;
}

/* ---- pictures -------------------------------------------------------------- */

static VOID copy(struct adapter *a, CONST UCHAR *from, LONG pitch, CONST RECT *r, UINT x, UINT y)
{
    for (LONG row = r->top; row < r->bottom; row++)
        RtlCopyMemory(a->pixels + (SIZE_T)(y + (UINT)row) * a->screen.Pitch + (SIZE_T)(x + (UINT)r->left) * 4,
                      from + row * (LONGLONG)pitch + (SIZE_T)r->left * 4, (SIZE_T)(r->right - r->left) * 4);
}

static BOOLEAN NTAPI report(PVOID context)
{
    struct adapter *a = context;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA n = {.InterruptType = DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS};

    n.DisplayOnlyPresentProgress.ProgressId = a->behaviour == BEHAVE_FAILS_LATER
                                                  ? DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_FAILED
                                                  : DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_COMPLETE;
    a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &n);
    return a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
}

static NTSTATUS NTAPI PresentDisplayOnly(CONST HANDLE h, CONST DXGKARG_PRESENT_DISPLAYONLY *p)
{
    struct adapter *a = h;
    BOOLEAN queued;

    if (!a->visible)
        return STATUS_SUCCESS;
    if (a->behaviour == BEHAVE_FAILS)
        return STATUS_INVALID_PARAMETER;
    if (p->NumMoves || p->BytesPerPixel != 4)
        return STATUS_NOT_SUPPORTED;
    for (ULONG i = 0; i < p->NumDirtyRects; i++)
        copy(a, p->pSource, p->Pitch, &p->pDirtyRect[i], (a->screen.Width - a->width) / 2,
             (a->screen.Height - a->height) / 2);
    if (a->behaviour != BEHAVE_REPORTS_LATER && a->behaviour != BEHAVE_FAILS_LATER &&
        a->behaviour != BEHAVE_NEVER_REPORTS)
        return STATUS_SUCCESS;
    if (a->behaviour != BEHAVE_NEVER_REPORTS)
        a->dxgk.DxgkCbSynchronizeExecution(a->dxgk.DeviceHandle, report, a, 0, &queued);
    return STATUS_PENDING;
}

static NTSTATUS NTAPI SystemDisplayEnable(PVOID context, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                          PDXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS flags, UINT *width,
                                          UINT *height, D3DDDIFORMAT *format)
{
    struct adapter *a = context;

    UNREFERENCED_PARAMETER(target);
    UNREFERENCED_PARAMETER(flags);
    *width = a->screen.Width;
    *height = a->screen.Height;
    *format = a->screen.ColorFormat;
    return STATUS_SUCCESS;
}

static VOID NTAPI SystemDisplayWrite(PVOID context, PVOID source, UINT width, UINT height, UINT stride,
                                     UINT x, UINT y)
{
    RECT all = {0, 0, (LONG)width, (LONG)height};

    copy(context, source, (LONG)stride, &all, x, y);
}

DRIVER_INITIALIZE DriverEntry;
__attribute__((visibility("default"))) NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT driver, PUNICODE_STRING path)
{
    KMDDOD_INITIALIZATION_DATA i = {
        .Version = DXGKDDI_INTERFACE_VERSION,
#define D(name) .DxgkDdi##name = name
        D(AddDevice),
        D(StartDevice),
        D(StopDevice),
        D(RemoveDevice),
        D(DispatchIoRequest),
        D(DpcRoutine),
        D(QueryChildRelations),
        D(QueryChildStatus),
        D(QueryDeviceDescriptor),
        D(SetPowerState),
        D(ResetDevice),
        D(Unload),
        D(QueryAdapterInfo),
        D(SetPointerPosition),
        D(SetPointerShape),
        D(Escape),
        D(IsSupportedVidPn),
        D(RecommendFunctionalVidPn),
        D(EnumVidPnCofuncModality),
        D(SetVidPnSourceVisibility),
        D(CommitVidPn),
        D(UpdateActiveVidPnPresentPath),
        D(RecommendMonitorModes),
        D(QueryVidPnHWCapability),
        D(PresentDisplayOnly),
        D(StopDeviceAndReleasePostDisplayOwnership),
        D(SystemDisplayEnable),
#if !defined(NO_BUG_CHECK_SCREEN)
        D(SystemDisplayWrite),
#endif
    };
    UNREFERENCED_PARAMETER(SystemDisplayWrite);
    return DxgkInitializeDisplayOnlyDriver(driver, path, &i);
}
