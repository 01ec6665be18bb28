/* SPDX-License-Identifier: MIT */
/* vidpn.c: which modes there are, and which the operating system chose.
 *
 * One source, one target, one path; a source mode and a target mode go together when they have the same size. Neither
 * scaling nor rotation. Mode sets that are pinned, or are the pivot of an enumeration, stay as they are, and the other
 * side offers what goes with them.
 */
#include "kmd/kmd.h"

static CONST ULONG pixel_formats[] = {D3DDDIFMT_X8R8G8B8, D3DDDIFMT_A8R8G8B8};

struct net {
    D3DKMDT_HVIDPN vidpn;
    CONST DXGK_VIDPN_INTERFACE *i;
    D3DKMDT_HVIDPNTOPOLOGY topology;
    CONST DXGK_VIDPNTOPOLOGY_INTERFACE *t;
};

static NTSTATUS open_net(struct kmd *k, D3DKMDT_HVIDPN vidpn, struct net *n)
{
    NTSTATUS s = k->dxgk.DxgkCbQueryVidPnInterface(vidpn, DXGK_VIDPN_INTERFACE_VERSION_V1, &n->i);

    n->vidpn = vidpn;
    return NT_SUCCESS(s) ? n->i->pfnGetTopology(vidpn, &n->topology, &n->t) : s;
}

static D3DKMDT_VIDEO_SIGNAL_INFO signal(CONST struct kmd_mode *m)
{
    ULONG lines = m->height + kmd_vblank_lines(m->height), columns = m->width + m->width / 4;

    return (D3DKMDT_VIDEO_SIGNAL_INFO){.VideoStandard = D3DKMDT_VSS_OTHER,
                                       .TotalSize = {columns, lines},
                                       .ActiveSize = {m->width, m->height},
                                       .VSyncFreq = {60, 1},
                                       .HSyncFreq = {60 * lines, 1},
                                       .PixelRate = (SIZE_T)columns * lines * 60,
                                       .ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE};
}

static BOOLEAN known_mode(struct kmd *k, ULONG width, ULONG height)
{
    for (ULONG i = 0; i < k->num_modes; i++)
        if (k->modes[i].width == width && k->modes[i].height == height)
            return TRUE;
    return FALSE;
}

static BOOLEAN known_format(ULONG format)
{
    for (ULONG i = 0; i < RTL_NUMBER_OF(pixel_formats); i++)
        if (pixel_formats[i] == format)
            return TRUE;
    return FALSE;
}

static BOOLEAN known_source_mode(struct kmd *k, CONST D3DKMDT_VIDPN_SOURCE_MODE *m)
{
    CONST D3DKMDT_GRAPHICS_RENDERING_FORMAT *g = &m->Format.Graphics;

    return m->Type == D3DKMDT_RMT_GRAPHICS && known_mode(k, g->PrimSurfSize.cx, g->PrimSurfSize.cy) &&
           g->VisibleRegionSize.cx == g->PrimSurfSize.cx && g->VisibleRegionSize.cy == g->PrimSurfSize.cy &&
           known_format(g->PixelFormat);
}

/* 59 to 61 Hz: systems ask for 59.94 and for 60 alike. */
static BOOLEAN known_target_mode(struct kmd *k, CONST D3DKMDT_VIDPN_TARGET_MODE *m)
{
    CONST D3DKMDT_VIDEO_SIGNAL_INFO *v = &m->VideoSignalInfo;
    ULONGLONG num = v->VSyncFreq.Numerator, den = v->VSyncFreq.Denominator;

    return known_mode(k, v->ActiveSize.cx, v->ActiveSize.cy) && den && num >= 59 * den && num <= 61 * den;
}

/* ---- pinned modes; width 0: none ----------------------------------------- */

struct pins {
    struct kmd_mode source, target;
    ULONG format, stride;
    BOOLEAN bad; /* pinned to what this adapter does not have */
};

static NTSTATUS pinned_source(struct kmd *k, struct net *n, D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                              struct pins *p)
{
    CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i;
    CONST D3DKMDT_VIDPN_SOURCE_MODE *m = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    NTSTATUS s = n->i->pfnAcquireSourceModeSet(n->vidpn, source, &set, &i), r;

    if (!NT_SUCCESS(s))
        return s;
    s = i->pfnAcquirePinnedModeInfo(set, &m); /* a failure does not say that none is */
    if (s == STATUS_SUCCESS && m) {
        p->bad |= !known_source_mode(k, m);
        p->source.width = m->Format.Graphics.PrimSurfSize.cx;
        p->source.height = m->Format.Graphics.PrimSurfSize.cy;
        p->stride = m->Format.Graphics.Stride;
        p->format = m->Format.Graphics.PixelFormat;
        i->pfnReleaseModeInfo(set, m);
    }
    r = n->i->pfnReleaseSourceModeSet(n->vidpn, set);
    return NT_SUCCESS(s) ? r : s;
}

static NTSTATUS pinned_target(struct kmd *k, struct net *n, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                              struct pins *p)
{
    CONST DXGK_VIDPNTARGETMODESET_INTERFACE *i;
    CONST D3DKMDT_VIDPN_TARGET_MODE *m = NULL;
    D3DKMDT_HVIDPNTARGETMODESET set;
    NTSTATUS s = n->i->pfnAcquireTargetModeSet(n->vidpn, target, &set, &i), r;

    if (!NT_SUCCESS(s))
        return s;
    s = i->pfnAcquirePinnedModeInfo(set, &m); /* a failure does not say that none is */
    if (s == STATUS_SUCCESS && m) {
        p->bad |= !known_target_mode(k, m);
        p->target.width = m->VideoSignalInfo.ActiveSize.cx;
        p->target.height = m->VideoSignalInfo.ActiveSize.cy;
        i->pfnReleaseModeInfo(set, m);
    }
    r = n->i->pfnReleaseTargetModeSet(n->vidpn, set);
    return NT_SUCCESS(s) ? r : s;
}

static NTSTATUS read_pins(struct kmd *k, struct net *n, CONST D3DKMDT_VIDPN_PRESENT_PATH *path,
                          struct pins *p)
{
    NTSTATUS s;

    RtlZeroMemory(p, sizeof(*p));
    s = pinned_source(k, n, path->VidPnSourceId, p);
    if (NT_SUCCESS(s))
        s = pinned_target(k, n, path->VidPnTargetId, p);
    if (p->source.width && p->target.width &&
        (p->source.width != p->target.width || p->source.height != p->target.height))
        p->bad = TRUE;
    return s;
}

/* ---- mode sets ----------------------------------------------------------- */

static BOOLEAN goes_with(CONST struct kmd_mode *m, CONST struct kmd_mode *pinned)
{
    return !pinned->width || (m->width == pinned->width && m->height == pinned->height);
}

static NTSTATUS add_source_modes(struct kmd *k, D3DKMDT_HVIDPNSOURCEMODESET set,
                                 CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i, CONST struct kmd_mode *only)
{
    for (ULONG n = 0; n < k->num_modes * RTL_NUMBER_OF(pixel_formats); n++) {
        CONST struct kmd_mode *mode = &k->modes[n / RTL_NUMBER_OF(pixel_formats)];
        D3DKMDT_VIDPN_SOURCE_MODE *m;
        NTSTATUS s;
        if (!goes_with(mode, only))
            continue;
        s = i->pfnCreateNewModeInfo(set, &m);
        if (!NT_SUCCESS(s))
            return s;
        m->Type = D3DKMDT_RMT_GRAPHICS;
        m->Format.Graphics.PrimSurfSize.cx = m->Format.Graphics.VisibleRegionSize.cx = mode->width;
        m->Format.Graphics.PrimSurfSize.cy = m->Format.Graphics.VisibleRegionSize.cy = mode->height;
        m->Format.Graphics.Stride = (4 * mode->width + 255) & ~255u;
        m->Format.Graphics.PixelFormat = (D3DDDIFORMAT)pixel_formats[n % RTL_NUMBER_OF(pixel_formats)];
        m->Format.Graphics.ColorBasis = D3DKMDT_CB_SRGB;
        m->Format.Graphics.PixelValueAccessMode = D3DKMDT_PVAM_DIRECT;
        s = i->pfnAddMode(set, m);
        if (!NT_SUCCESS(s)) {
            i->pfnReleaseModeInfo(set, m);
            return s;
        }
    }
    return STATUS_SUCCESS;
}

static NTSTATUS add_target_modes(struct kmd *k, D3DKMDT_HVIDPNTARGETMODESET set,
                                 CONST DXGK_VIDPNTARGETMODESET_INTERFACE *i, CONST struct kmd_mode *only)
{
    for (ULONG n = 0; n < k->num_modes; n++) {
        D3DKMDT_VIDPN_TARGET_MODE *m;
        NTSTATUS s;
        if (!goes_with(&k->modes[n], only))
            continue;
        s = i->pfnCreateNewModeInfo(set, &m);
        if (!NT_SUCCESS(s))
            return s;
        m->VideoSignalInfo = signal(&k->modes[n]);
        m->Preference = n == k->preferred_mode ? D3DKMDT_MP_PREFERRED : D3DKMDT_MP_NOTPREFERRED;
        s = i->pfnAddMode(set, m);
        if (!NT_SUCCESS(s)) {
            i->pfnReleaseModeInfo(set, m);
            return s;
        }
    }
    return STATUS_SUCCESS;
}

static NTSTATUS offer_source(struct kmd *k, struct net *n, D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                             CONST struct kmd_mode *only)
{
    CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *i;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    NTSTATUS s = n->i->pfnCreateNewSourceModeSet(n->vidpn, source, &set, &i);

    if (!NT_SUCCESS(s))
        return s;
    s = add_source_modes(k, set, i, only);
    if (NT_SUCCESS(s))
        s = n->i->pfnAssignSourceModeSet(n->vidpn, source, set);
    if (!NT_SUCCESS(s))
        n->i->pfnReleaseSourceModeSet(n->vidpn, set);
    return s;
}

static NTSTATUS offer_target(struct kmd *k, struct net *n, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                             CONST struct kmd_mode *only)
{
    CONST DXGK_VIDPNTARGETMODESET_INTERFACE *i;
    D3DKMDT_HVIDPNTARGETMODESET set;
    NTSTATUS s = n->i->pfnCreateNewTargetModeSet(n->vidpn, target, &set, &i);

    if (!NT_SUCCESS(s))
        return s;
    s = add_target_modes(k, set, i, only);
    if (NT_SUCCESS(s))
        s = n->i->pfnAssignTargetModeSet(n->vidpn, target, set);
    if (!NT_SUCCESS(s))
        n->i->pfnReleaseTargetModeSet(n->vidpn, set);
    return s;
}

static NTSTATUS offer_transformation(struct net *n, CONST D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    D3DKMDT_VIDPN_PRESENT_PATH p = *path;

    RtlZeroMemory(&p.ContentTransformation.ScalingSupport, sizeof(p.ContentTransformation.ScalingSupport));
    RtlZeroMemory(&p.ContentTransformation.RotationSupport, sizeof(p.ContentTransformation.RotationSupport));
    p.ContentTransformation.ScalingSupport.Identity = 1;
    p.ContentTransformation.RotationSupport.Identity = 1;
    return n->t->pfnUpdatePathSupportInfo(n->topology, &p);
}

NTSTATUS NTAPI kmd_EnumVidPnCofuncModality(CONST HANDLE adapter,
                                           CONST DXGKARG_ENUMVIDPNCOFUNCMODALITY *CONST e)
{
    CONST D3DKMDT_VIDPN_PRESENT_PATH *path, *next;
    struct kmd *k = adapter;
    struct pins pins;
    struct net n;
    NTSTATUS s = open_net(k, e->hConstrainingVidPn, &n), more;

    if (!NT_SUCCESS(s))
        return s;
    more = n.t->pfnAcquireFirstPathInfo(n.topology, &path);
    while (more == STATUS_SUCCESS) {
        BOOLEAN source_pivot = e->EnumPivotType == D3DKMDT_EPT_VIDPNSOURCE &&
                               e->EnumPivot.VidPnSourceId == path->VidPnSourceId,
                target_pivot = e->EnumPivotType == D3DKMDT_EPT_VIDPNTARGET &&
                               e->EnumPivot.VidPnTargetId == path->VidPnTargetId;
        s = read_pins(k, &n, path, &pins);
        if (NT_SUCCESS(s) && !source_pivot && !pins.source.width)
            s = offer_source(k, &n, path->VidPnSourceId, &pins.target);
        if (NT_SUCCESS(s) && !target_pivot && !pins.target.width)
            s = offer_target(k, &n, path->VidPnTargetId, &pins.source);
        if (NT_SUCCESS(s) && e->EnumPivotType != D3DKMDT_EPT_SCALING &&
            e->EnumPivotType != D3DKMDT_EPT_ROTATION)
            s = offer_transformation(&n, path);
        more = NT_SUCCESS(s) ? n.t->pfnAcquireNextPathInfo(n.topology, path, &next)
                             : STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET;
        n.t->pfnReleasePathInfo(n.topology, path);
        path = next;
    }
    return NT_SUCCESS(s) && !NT_SUCCESS(more) ? more : s;
}

static BOOLEAN supported_path(CONST D3DKMDT_VIDPN_PRESENT_PATH *p)
{
    D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling = p->ContentTransformation.Scaling;
    D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation = p->ContentTransformation.Rotation;

    return p->VidPnSourceId == 0 && p->VidPnTargetId == KMD_TARGET &&
           (scaling == D3DKMDT_VPPS_IDENTITY || scaling == D3DKMDT_VPPS_UNPINNED ||
            scaling == D3DKMDT_VPPS_NOTSPECIFIED || scaling == D3DKMDT_VPPS_UNINITIALIZED) &&
           (rotation == D3DKMDT_VPPR_IDENTITY || rotation == D3DKMDT_VPPR_UNPINNED ||
            rotation == D3DKMDT_VPPR_NOTSPECIFIED || rotation == D3DKMDT_VPPR_UNINITIALIZED);
}

NTSTATUS NTAPI kmd_IsSupportedVidPn(CONST HANDLE adapter, DXGKARG_ISSUPPORTEDVIDPN *args)
{
    CONST D3DKMDT_VIDPN_PRESENT_PATH *path;
    struct kmd *k = adapter;
    struct pins pins;
    struct net n;
    SIZE_T paths;
    NTSTATUS s;

    args->IsVidPnSupported = FALSE;
    if (!args->hDesiredVidPn) { /* no network at all: everything off */
        args->IsVidPnSupported = TRUE;
        return STATUS_SUCCESS;
    }
    s = open_net(k, args->hDesiredVidPn, &n);
    if (NT_SUCCESS(s))
        s = n.t->pfnGetNumPaths(n.topology, &paths);
    if (!NT_SUCCESS(s) || paths > 1)
        return s;
    if (!paths) {
        args->IsVidPnSupported = TRUE;
        return s;
    }
    s = n.t->pfnAcquireFirstPathInfo(n.topology, &path);
    if (!NT_SUCCESS(s))
        return s;
    s = read_pins(k, &n, path, &pins);
    args->IsVidPnSupported = NT_SUCCESS(s) && supported_path(path) && !pins.bad;
    n.t->pfnReleasePathInfo(n.topology, path);
    return s;
}

/* ---- recommending -------------------------------------------------------- */

static NTSTATUS add_path(struct net *n)
{
    D3DKMDT_VIDPN_PRESENT_PATH *p;
    NTSTATUS s = n->t->pfnCreateNewPathInfo(n->topology, &p);

    if (!NT_SUCCESS(s))
        return s;
    p->VidPnSourceId = 0;
    p->VidPnTargetId = KMD_TARGET;
    p->ImportanceOrdinal = D3DKMDT_VPPI_PRIMARY;
    p->ContentTransformation.Scaling = D3DKMDT_VPPS_IDENTITY;
    p->ContentTransformation.ScalingSupport.Identity = 1;
    p->ContentTransformation.Rotation = D3DKMDT_VPPR_IDENTITY;
    p->ContentTransformation.RotationSupport.Identity = 1;
    p->VidPnTargetColorBasis = D3DKMDT_CB_SRGB;
    p->VidPnTargetColorCoeffDynamicRanges = (D3DKMDT_COLOR_COEFF_DYNAMIC_RANGES){8, 8, 8, 8};
    p->Content = D3DKMDT_VPPC_GRAPHICS;
    p->CopyProtection.CopyProtectionType = D3DKMDT_VPPMT_NOPROTECTION;
    p->CopyProtection.CopyProtectionSupport.NoProtection = 1;
    p->GammaRamp.Type = D3DDDI_GAMMARAMP_DEFAULT;
    s = n->t->pfnAddPath(n->topology, p);
    if (!NT_SUCCESS(s))
        n->t->pfnReleasePathInfo(n->topology, p);
    return s;
}

NTSTATUS NTAPI kmd_RecommendVidPnTopology(CONST HANDLE adapter,
                                          CONST DXGKARG_RECOMMENDVIDPNTOPOLOGY *CONST args)
{
    struct kmd *k = adapter;
    struct net n;
    SIZE_T paths;
    NTSTATUS s;

    if (args->VidPnSourceId != 0)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    s = open_net(k, args->hVidPn, &n);
    if (NT_SUCCESS(s))
        s = n.t->pfnGetNumPaths(n.topology, &paths);
    if (!NT_SUCCESS(s) || paths)
        return s;
    return add_path(&n);
}

/* The preferred mode, pinned. */
NTSTATUS NTAPI kmd_RecommendFunctionalVidPn(CONST HANDLE adapter,
                                            CONST DXGKARG_RECOMMENDFUNCTIONALVIDPN *CONST args)
{
    struct kmd *k = adapter;
    CONST struct kmd_mode *mode = &k->modes[k->preferred_mode];
    CONST DXGK_VIDPNSOURCEMODESET_INTERFACE *si;
    CONST DXGK_VIDPNTARGETMODESET_INTERFACE *ti;
    CONST D3DKMDT_VIDPN_SOURCE_MODE *sm;
    CONST D3DKMDT_VIDPN_TARGET_MODE *tm;
    D3DKMDT_HVIDPNSOURCEMODESET ss;
    D3DKMDT_HVIDPNTARGETMODESET ts;
    struct net n;
    NTSTATUS s = open_net(k, args->hRecommendedFunctionalVidPn, &n);

    if (NT_SUCCESS(s))
        s = add_path(&n);
    if (NT_SUCCESS(s))
        s = offer_source(k, &n, 0, mode);
    if (NT_SUCCESS(s))
        s = offer_target(k, &n, KMD_TARGET, mode);
    if (!NT_SUCCESS(s))
        return s;
    s = n.i->pfnAcquireSourceModeSet(n.vidpn, 0, &ss, &si);
    if (!NT_SUCCESS(s))
        return s;
    if (si->pfnAcquireFirstModeInfo(ss, &sm) == STATUS_SUCCESS) {
        s = si->pfnPinMode(ss, sm->Id);
        si->pfnReleaseModeInfo(ss, sm);
    }
    n.i->pfnReleaseSourceModeSet(n.vidpn, ss);
    if (!NT_SUCCESS(s))
        return s;
    s = n.i->pfnAcquireTargetModeSet(n.vidpn, KMD_TARGET, &ts, &ti);
    if (!NT_SUCCESS(s))
        return s;
    if (ti->pfnAcquireFirstModeInfo(ts, &tm) == STATUS_SUCCESS) {
        s = ti->pfnPinMode(ts, tm->Id);
        ti->pfnReleaseModeInfo(ts, tm);
    }
    n.i->pfnReleaseTargetModeSet(n.vidpn, ts);
    return s;
}

/* The monitor's own timings come from its EDID; these are the rest of what the adapter can drive it with. */
NTSTATUS NTAPI kmd_RecommendMonitorModes(CONST HANDLE adapter,
                                         CONST DXGKARG_RECOMMENDMONITORMODES *CONST args)
{
    CONST DXGK_MONITORSOURCEMODESET_INTERFACE *i = args->pMonitorSourceModeSetInterface;
    struct kmd *k = adapter;

    if (args->VideoPresentTargetId != KMD_TARGET)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    for (ULONG n = 0; n < k->num_modes; n++) {
        D3DKMDT_MONITOR_SOURCE_MODE *m;
        NTSTATUS s = i->pfnCreateNewModeInfo(args->hMonitorSourceModeSet, &m);
        if (!NT_SUCCESS(s))
            return s;
        m->VideoSignalInfo = signal(&k->modes[n]);
        m->ColorBasis = D3DKMDT_CB_SRGB;
        m->ColorCoeffDynamicRanges = (D3DKMDT_COLOR_COEFF_DYNAMIC_RANGES){8, 8, 8, 8};
        m->Origin = D3DKMDT_MCO_DRIVER;
        m->Preference = n == k->preferred_mode ? D3DKMDT_MP_PREFERRED : D3DKMDT_MP_NOTPREFERRED;
        s = i->pfnAddMode(args->hMonitorSourceModeSet, m);
        if (!NT_SUCCESS(s)) {
            i->pfnReleaseModeInfo(args->hMonitorSourceModeSet, m);
            if (s != STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET)
                return s;
        }
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_QueryVidPnHWCapability(CONST HANDLE adapter, DXGKARG_QUERYVIDPNHWCAPABILITY *args)
{
    UNREFERENCED_PARAMETER(adapter);
    if (args->SourceId != 0)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    if (args->TargetId != KMD_TARGET)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    RtlZeroMemory(&args->VidPnHWCaps, sizeof(args->VidPnHWCaps));
    return STATUS_SUCCESS;
}

/* ---- committing ---------------------------------------------------------- */

NTSTATUS NTAPI kmd_CommitVidPn(CONST HANDLE adapter, CONST DXGKARG_COMMITVIDPN *CONST args)
{
    CONST D3DKMDT_VIDPN_PRESENT_PATH *path;
    struct kmd *k = adapter;
    struct pins pins = {0};
    SIZE_T paths = 0;
    struct net n;
    NTSTATUS s;

    if (args->AffectedVidPnSourceId != 0 && args->AffectedVidPnSourceId != D3DDDI_ID_ALL)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    s = open_net(k, args->hFunctionalVidPn, &n);
    if (NT_SUCCESS(s))
        s = n.t->pfnGetNumPathsFromSource(n.topology, 0, &paths);
    if (!NT_SUCCESS(s))
        return s;
    if (paths && !args->Flags.PathPoweredOff) {
        s = n.t->pfnAcquireFirstPathInfo(n.topology, &path);
        if (s != STATUS_SUCCESS)
            return s;
        s = supported_path(path) ? read_pins(k, &n, path, &pins)
                                 : STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED;
        n.t->pfnReleasePathInfo(n.topology, path);
        if (!NT_SUCCESS(s))
            return s;
        if (pins.bad || !pins.source.width)
            return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE;
    }
    ExAcquireFastMutex(&k->display);
    kmd_scanout_off(k);
    k->width = pins.source.width;
    k->height = pins.source.height;
    k->pitch = pins.stride;
    k->format = !pins.source.width                  ? AEROGPU_FORMAT_INVALID
                : pins.format == D3DDDIFMT_A8R8G8B8 ? AEROGPU_FORMAT_B8G8R8A8_UNORM
                                                    : AEROGPU_FORMAT_B8G8R8X8_UNORM;
    ExReleaseFastMutex(&k->display);
    kmd_log(k, DPFLTR_INFO_LEVEL, "mode: %llu x %llu, pitch %llu", k->width, k->height, k->pitch);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_UpdateActiveVidPnPresentPath(CONST HANDLE adapter,
                                                CONST DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *CONST args)
{
    CONST D3DKMDT_VIDPN_PRESENT_PATH *p = &args->VidPnPresentPathInfo;

    UNREFERENCED_PARAMETER(adapter);
    if (!supported_path(p))
        return STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED;
    return p->GammaRamp.Type <= D3DDDI_GAMMARAMP_DEFAULT ? STATUS_SUCCESS : STATUS_NOT_SUPPORTED;
}
