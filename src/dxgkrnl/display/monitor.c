/* SPDX-License-Identifier: MIT */
/* monitor.c: the monitors behind the targets, as a miniport may ask about them.
 *
 *   EDID ─▶ timings (established, standard, detailed), range limits ─┐
 *   none ─▶ what any monitor shows ─────────────────────────────────┴─▶ mode set ─RecommendMonitorModes─▶ kept
 *
 * EDID: VESA Enhanced EDID Standard, release A, sections 3.8 to 3.10. A block that is damaged counts as none.
 */
#include "dxgkrnl/display/loans.h"
#include "dxgkrnl/display/vidpn.h"
#include "dxgkrnl/ntos/routines.h"

#include <stdlib.h>
#include <string.h>

enum {
    EDID_BLOCK = 128,
    ESTABLISHED = 35,
    STANDARD = 38,
    DETAILED = 54,
    DETAILED_SIZE = 18,
    DETAILED_COUNT = 4,
    RANGE_LIMITS = 0xFD,
};

struct timing {
    UINT width, height, hertz;
};

/* Bit 7 of byte 35 first. */
static const struct timing established[] = {
    {720, 400, 70},  {720, 400, 88},  {640, 480, 60},  {640, 480, 67},  {640, 480, 72}, {640, 480, 75},
    {800, 600, 56},  {800, 600, 60},  {800, 600, 72},  {800, 600, 75},  {832, 624, 75}, {1024, 768, 87},
    {1024, 768, 60}, {1024, 768, 70}, {1024, 768, 75}, {1280, 1024, 75}};

/* What is assumed of a monitor that says nothing. */
static const struct timing any[] = {{640, 480, 60}, {800, 600, 60}, {1024, 768, 60}};

/* Of a named timing, size and rate are what a set is searched by; the rest stands in tables that no DDI asks for. */
static D3DKMDT_VIDEO_SIGNAL_INFO named(const struct timing *t)
{
    UINT unknown = D3DKMDT_DIMENSION_NOTSPECIFIED;

    return (D3DKMDT_VIDEO_SIGNAL_INFO){
        .VideoStandard = D3DKMDT_VSS_VESA_DMT,
        .TotalSize = {unknown, unknown},
        .ActiveSize = {t->width, t->height},
        .VSyncFreq = {t->hertz, 1},
        .HSyncFreq = {D3DKMDT_FREQUENCY_NOTSPECIFIED, D3DKMDT_FREQUENCY_NOTSPECIFIED},
        .PixelRate = D3DKMDT_FREQUENCY_NOTSPECIFIED,
        .ScanLineOrdering =
            t->hertz == 87 ? D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST : D3DDDI_VSSLO_PROGRESSIVE};
}

static D3DKMDT_VIDEO_SIGNAL_INFO detailed(const UCHAR *t)
{
    UINT clock = (UINT)(t[0] | t[1] << 8) * 10000, width = (UINT)(t[2] | (t[4] & 0xF0) << 4),
         columns = width + (UINT)(t[3] | (t[4] & 0xF) << 8), height = (UINT)(t[5] | (t[7] & 0xF0) << 4),
         lines = height + (UINT)(t[6] | (t[7] & 0xF) << 8);

    return (D3DKMDT_VIDEO_SIGNAL_INFO){.VideoStandard = D3DKMDT_VSS_OTHER,
                                       .TotalSize = {columns, lines},
                                       .ActiveSize = {width, height},
                                       .VSyncFreq = {clock, columns * lines},
                                       .HSyncFreq = {clock, columns},
                                       .PixelRate = clock,
                                       .ScanLineOrdering = t[17] & 0x80
                                                               ? D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST
                                                               : D3DDDI_VSSLO_PROGRESSIVE};
}

static NTSTATUS add(struct modeset *set, D3DKMDT_VIDEO_SIGNAL_INFO signal,
                    D3DKMDT_MONITOR_CAPABILITIES_ORIGIN origin, bool preferred)
{
    struct mode *m = dxgk_modeset_new_mode(set);
    NTSTATUS s;

    if (!m)
        return STATUS_NO_MEMORY;
    m->monitor.VideoSignalInfo = signal;
    m->monitor.ColorBasis = D3DKMDT_CB_SRGB;
    m->monitor.ColorCoeffDynamicRanges = (D3DKMDT_COLOR_COEFF_DYNAMIC_RANGES){8, 8, 8, 8};
    m->monitor.Origin = origin;
    m->monitor.Preference = preferred ? D3DKMDT_MP_PREFERRED : D3DKMDT_MP_NOTPREFERRED;
    s = dxgk_modeset_add(set, &m->monitor);
    return s == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET ? STATUS_SUCCESS
                                                        : s; /* a loose one goes with its set */
}

/* One of the eight pairs of bytes; 01 01 is unused. Before EDID 1.3 the ratio 0 was 1:1. */
static bool standard(const UCHAR *edid, unsigned i, struct timing *t)
{
    static const struct {
        UINT x, y;
    } ratios[] = {{16, 10}, {4, 3}, {5, 4}, {16, 9}};
    const UCHAR *p = edid + STANDARD + 2 * i;
    unsigned ratio = p[1] >> 6;

    if (p[0] <= 1 && p[1] <= 1)
        return false;
    t->width = 8u * (p[0] + 31u);
    t->height = !ratio && edid[19] < 3 ? t->width : t->width * ratios[ratio].y / ratios[ratio].x;
    t->hertz = 60u + (p[1] & 0x3F);
    return true;
}

static void limits(struct child *c, const UCHAR *p)
{
    c->lent.ranges[0] = (D3DKMDT_MONITOR_FREQUENCY_RANGE){.Origin = D3DKMDT_MCO_MONITORDESCRIPTOR,
                                                          .RangeLimits = {.MinVSyncFreq = {p[5], 1},
                                                                          .MaxVSyncFreq = {p[6], 1},
                                                                          .MinHSyncFreq = {p[7] * 1000u, 1},
                                                                          .MaxHSyncFreq = {p[8] * 1000u, 1}},
                                                          .ConstraintType = D3DKMDT_MFRC_MAXPIXELRATE,
                                                          .Constraint.MaxPixelRate = (SIZE_T)p[9] * 10000000};
    c->num_ranges = 1;
}

static NTSTATUS from_edid(struct child *c)
{
    bool first = true;
    struct timing t;
    NTSTATUS s = STATUS_SUCCESS;

    for (unsigned i = 0; i < DETAILED_COUNT && NT_SUCCESS(s); i++) {
        const UCHAR *p = c->edid + DETAILED + DETAILED_SIZE * i;
        D3DKMDT_VIDEO_SIGNAL_INFO signal;
        if (!p[0] && !p[1]) {
            if (p[3] == RANGE_LIMITS)
                limits(c, p);
            continue;
        }
        signal = detailed(p);
        if (signal.ActiveSize.cx && signal.ActiveSize.cy)
            s = add(c->modes, signal, D3DKMDT_MCO_MONITORDESCRIPTOR,
                    first); /* the first is the preferred one */
        first = false;
    }
    for (unsigned i = 0; i < 8 && NT_SUCCESS(s); i++)
        if (standard(c->edid, i, &t))
            s = add(c->modes, named(&t), D3DKMDT_MCO_MONITORDESCRIPTOR, false);
    for (unsigned i = 0; i < sizeof(established) / sizeof(established[0]) && NT_SUCCESS(s); i++)
        if (c->edid[ESTABLISHED + i / 8] >> (7 - i % 8) & 1)
            s = add(c->modes, named(&established[i]), D3DKMDT_MCO_MONITORDESCRIPTOR, false);
    return s;
}

/* Windows goes by another monitor then, and says nothing: a remark. */
static bool valid(struct dxgk *d, const struct child *c)
{
    static const UCHAR head[8] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};
    struct judge j = {.d = d, .ddi = "DxgkDdiQueryDeviceDescriptor"};
    bool right = !memcmp(c->edid, head, sizeof(head));
    UCHAR sum;

    dxgk_answer(&j, ANSWER_REMARK, right, "DescriptorBuffer, an EDID whose first byte", c->edid[0],
                "the header of an EDID: 00 FF FF FF FF FF FF 00");
    for (UINT at = 0; at < c->edid_size; at += EDID_BLOCK) {
        sum = 0;
        for (unsigned i = 0; i < EDID_BLOCK; i++)
            sum = (UCHAR)(sum + c->edid[at + i]);
        dxgk_answer(&j, ANSWER_REMARK, !sum, "DescriptorBuffer, an EDID of which a block's sum", sum, "0");
        right &= !sum || at;
    }
    return right;
}

static void forget(struct child *c)
{
    dxgk_modeset_unref(c->modes);
    c->modes = NULL;
    c->num_ranges = c->num_descriptors = 0;
}

NTSTATUS dxgk_monitor_start(struct dxgk *d, UINT target)
{
    struct child *c = &d->display.children[dxgk_vidpn_child_index(d, target)];
    DXGKARG_RECOMMENDMONITORMODES args = {.VideoPresentTargetId = target,
                                          .pMonitorSourceModeSetInterface = &dxgk_modeset_monitor_interface};
    struct dxgk_failed failed;
    NTSTATUS s = STATUS_SUCCESS;

    forget(c);
    c->modes = dxgk_modeset_create(MODESET_MONITOR);
    if (!c->modes)
        return STATUS_NO_MEMORY;
    if (c->edid_size && valid(d, c)) {
        memcpy(c->lent.edid, c->edid, sizeof(c->lent.edid));
        for (UINT at = 0; at < c->edid_size; at += EDID_BLOCK)
            c->lent.descriptors[c->num_descriptors++] = (D3DKMDT_MONITOR_DESCRIPTOR){
                .Id = at / EDID_BLOCK,
                .Type = at ? D3DKMDT_MDT_OTHER : D3DKMDT_MDT_VESA_EDID_V1_BASEBLOCK,
                .DataSize = EDID_BLOCK,
                .pData = c->lent.edid + at,
                .Origin = D3DKMDT_MCO_MONITORDESCRIPTOR};
        s = from_edid(c);
    } else {
        for (unsigned i = 0; i < sizeof(any) / sizeof(any[0]) && NT_SUCCESS(s); i++)
            s = add(c->modes, named(&any[i]), D3DKMDT_MCO_DEFAULTMONITORPROFILE, false);
    }
    memcpy(&c->kept, &c->lent, sizeof(c->kept));
    if (!NT_SUCCESS(s))
        return s;
    args.hMonitorSourceModeSet = (D3DKMDT_HMONITORSOURCEMODESET)c->modes;
    if (!dxgk_modeset_lend(c->modes))
        return STATUS_NO_MEMORY;
    failed = d->failed;
    dxgk_vidpn_look(d, NULL);
    s = DDI_ARG(d, RecommendMonitorModes, d->miniport, &args);
    d->failed = failed; /* it may refuse */
    if (dxgk_has_lent(d, c->modes, "monitor's mode set", "DxgkDdiRecommendMonitorModes")) {
        dxgk_give_back(d, c->modes);
        dxgk_modeset_unref(c->modes);
    }
    dxgk_loans_settle(d, "DxgkDdiRecommendMonitorModes");
    if (!NT_SUCCESS(s))
        log_info("dxgkrnl", "DxgkDdiRecommendMonitorModes returned %08x", (unsigned)s);
    return STATUS_SUCCESS; /* it may have none to add */
}

bool dxgk_monitor_written(struct child *c)
{
    bool written = memcmp(&c->lent, &c->kept, sizeof(c->lent)) != 0;

    memcpy(&c->lent, &c->kept, sizeof(c->lent));
    return written;
}

void dxgk_monitor_stop(struct dxgk *d)
{
    for (unsigned i = 0; i < d->display.num_children; i++)
        forget(&d->display.children[i]);
}

/* Rates within half a hertz are the same: 59.94 and 60. */
static bool near(const D3DDDI_RATIONAL *a, const D3DDDI_RATIONAL *b)
{
    double x = a->Denominator ? (double)a->Numerator / a->Denominator : 0;
    double y = b->Denominator ? (double)b->Numerator / b->Denominator : 0;

    return x - y < 0.5 && y - x < 0.5;
}

bool dxgk_monitor_has(const struct dxgk *d, int i, const D3DKMDT_VIDEO_SIGNAL_INFO *signal)
{
    const struct child *c = &d->display.children[i];

    for (const struct mode *m = c->modes ? c->modes->modes : NULL; m; m = m->next) {
        const D3DKMDT_VIDEO_SIGNAL_INFO *has = &m->monitor.VideoSignalInfo;
        if (has->ActiveSize.cx == signal->ActiveSize.cx && has->ActiveSize.cy == signal->ActiveSize.cy &&
            near(&has->VSyncFreq, &signal->VSyncFreq))
            return true;
    }
    return false;
}

/* ---- DXGK_MONITOR_INTERFACE ---------------------------------------------- */

/* The monitor at `target` of the calling miniport's adapter. */
static struct child *child_at(HANDLE adapter, UINT target)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(__func__));
    int i = adapter == (HANDLE)d ? dxgk_vidpn_child_index(d, target) : -1;

    return i >= 0 ? &d->display.children[i] : NULL;
}

/* The sets below are the child itself: what is lent is what they hold. */
static struct child *child_of(const void *handle)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(__func__));

    for (unsigned i = 0; i < d->display.num_children; i++)
        if (handle == &d->display.children[i])
            return &d->display.children[i];
    return NULL;
}

static NTSTATUS NTAPI acquire_modes(HANDLE adapter, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                    D3DKMDT_HMONITORSOURCEMODESET *out,
                                    CONST DXGK_MONITORSOURCEMODESET_INTERFACE **interface)
{
    struct child *c = child_at(adapter, target);

    if (!c)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    if (!c->modes)
        return STATUS_GRAPHICS_MONITOR_NOT_CONNECTED;
    if (!dxgk_modeset_lend(c->modes))
        return STATUS_NO_MEMORY;
    *out = (D3DKMDT_HMONITORSOURCEMODESET)c->modes;
    *interface = &dxgk_modeset_monitor_interface;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI release_modes(HANDLE adapter, D3DKMDT_HMONITORSOURCEMODESET set)
{
    struct modeset *s = dxgk_modeset_lent(set, MODESET_MONITOR, "pfnReleaseMonitorSourceModeSet");

    UNREFERENCED_PARAMETER(adapter);
    if (!s)
        return STATUS_INVALID_PARAMETER;
    dxgk_give_back(OWNER(), s);
    dxgk_modeset_unref(s);
    return STATUS_SUCCESS;
}

/* `item`, if it `is` one; else `none` says why not. */
static NTSTATUS lend(const void *item, bool is, const char *what, const void **out, NTSTATUS none)
{
    bool lent = is && dxgk_lend(OWNER(), item, what, NULL);

    *out = lent ? item : NULL;
    return lent ? STATUS_SUCCESS : is ? STATUS_NO_MEMORY : none;
}

static NTSTATUS release(const void *item, const char *what, const char *function)
{
    if (!item || !dxgk_has_lent(OWNER(), item, what, function))
        return STATUS_INVALID_PARAMETER;
    dxgk_give_back(OWNER(), item);
    return STATUS_SUCCESS;
}

/* The four functions of a set that is an array of a child: NAME in front, handle H, element T, which is called `what` and which the last
 * two, `next` and `free`, are given. */
#define MONITOR_ARRAY(NAME, H, T, array, count, what, next, free)                                            \
    static NTSTATUS NTAPI NAME##_num(H h, SIZE_T *n)                                                         \
    {                                                                                                        \
        struct child *c = child_of(h);                                                                       \
        *n = c ? c->count : 0;                                                                               \
        return c ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;                                                   \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_first(H h, CONST T **out)                                                   \
    {                                                                                                        \
        struct child *c = child_of(h);                                                                       \
        *out = NULL;                                                                                         \
        return c ? lend(c->lent.array, c->count, what, (const void **)out, STATUS_GRAPHICS_DATASET_IS_EMPTY) \
                 : STATUS_INVALID_HANDLE;                                                                    \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_next(H h, CONST T *info, CONST T **out)                                     \
    {                                                                                                        \
        struct child *c = child_of(h);                                                                       \
        *out = NULL;                                                                                         \
        if (!c)                                                                                              \
            return STATUS_INVALID_HANDLE;                                                                    \
        if (!info || !dxgk_has_lent(OWNER(), info, what, next) || info < c->lent.array ||                    \
            info >= c->lent.array + c->count)                                                                \
            return STATUS_INVALID_PARAMETER;                                                                 \
        return lend(info + 1, info + 1 < c->lent.array + c->count, what, (const void **)out,                 \
                    STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET);                                            \
    }                                                                                                        \
    static NTSTATUS NTAPI NAME##_release(H h, CONST T *info)                                                 \
    {                                                                                                        \
        return child_of(h) ? release(info, what, free) : STATUS_INVALID_PARAMETER;                           \
    }

MONITOR_ARRAY(range, D3DKMDT_HMONITORFREQUENCYRANGESET, D3DKMDT_MONITOR_FREQUENCY_RANGE, ranges, num_ranges,
              "monitor's frequency range", "pfnAcquireNextFrequencyRangeInfo", "pfnReleaseFrequencyRangeInfo")
MONITOR_ARRAY(descriptor, D3DKMDT_HMONITORDESCRIPTORSET, D3DKMDT_MONITOR_DESCRIPTOR, descriptors,
              num_descriptors, "monitor's descriptor", "pfnAcquireNextDescriptorInfo",
              "pfnReleaseDescriptorInfo")

const DXGK_MONITORFREQUENCYRANGESET_INTERFACE dxgk_monitor_ranges_interface = {range_num, range_first,
                                                                               range_next, range_release};
const DXGK_MONITORDESCRIPTORSET_INTERFACE dxgk_monitor_descriptors_interface = {
    descriptor_num, descriptor_first, descriptor_next, descriptor_release};

static NTSTATUS NTAPI get_ranges(HANDLE adapter, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                 D3DKMDT_HMONITORFREQUENCYRANGESET *set,
                                 CONST DXGK_MONITORFREQUENCYRANGESET_INTERFACE **interface)
{
    *set = (D3DKMDT_HMONITORFREQUENCYRANGESET)child_at(adapter, target);
    *interface = &dxgk_monitor_ranges_interface;
    return *set ? STATUS_SUCCESS : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
}

static NTSTATUS NTAPI get_descriptors(HANDLE adapter, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                      D3DKMDT_HMONITORDESCRIPTORSET *set,
                                      CONST DXGK_MONITORDESCRIPTORSET_INTERFACE **interface)
{
    *set = (D3DKMDT_HMONITORDESCRIPTORSET)child_at(adapter, target);
    *interface = &dxgk_monitor_descriptors_interface;
    return *set ? STATUS_SUCCESS : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
}

const DXGK_MONITOR_INTERFACE dxgk_monitor_interface = {DXGK_MONITOR_INTERFACE_VERSION_V1, acquire_modes,
                                                       release_modes, get_ranges, get_descriptors};

NTSTATUS NTAPI dxgk_monitor_query_interface(HANDLE adapter, DXGK_MONITOR_INTERFACE_VERSION version,
                                            CONST DXGK_MONITOR_INTERFACE **interface)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(__func__));

    if (!dxgk_kernel_check(d->kernel, "DxgkCbQueryMonitorInterface", LIMIT_DxgkCbQueryMonitorInterface) ||
        adapter != (HANDLE)d)
        return STATUS_INVALID_PARAMETER;
    if (version != DXGK_MONITOR_INTERFACE_VERSION_V1)
        return STATUS_NOT_SUPPORTED;
    *interface = &dxgk_monitor_interface;
    return STATUS_SUCCESS;
}
