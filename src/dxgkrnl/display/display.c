/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/display/loans.h"
#include "dxgkrnl/display/recommend.h"

#include <stdlib.h>
#include <string.h>

/* See display.h. */
static void check(const struct dxgk *d)
{
    INVARIANT(d->display.num_sources <= MAX_SOURCES && d->display.num_children <= MAX_CHILDREN);
    for (unsigned i = 0; i < d->display.num_sources; i++) {
        const struct source *s = &d->display.sources[i];
        INVARIANT(!s->flips == !s->flip_count);
        INVARIANT(!s->flips_last || !*s->flips_last);
        INVARIANT(!s->flip_programmed || s->flips);
        INVARIANT(!s->visible || s->committed);
        INVARIANT(!s->primary || s->primary->pins); /* 4 */
        INVARIANT(!s->flips || (s->flips->allocs[0]->pins && s->flips->allocs[0]->busy));
        INVARIANT(s->last_flip <= s->vblanks && s->last_wanted <= s->vblanks);
    }
}

/* ---- vblank -------------------------------------------------------------- */

/* No vblank for so long while somebody waits for one: its interrupt was lost, and with it those that would follow. */
#define VSYNC_LOST_NS (250 * NSEC_PER_MSEC)
enum { VSYNC_MISSES = 8 };  /* then it is a time-out like any other */
enum { FLIP_STRANGE = 60 }; /* vblanks; a device shows what it was told at the next one */

static void vsync_check(void *ctx)
{
    struct dxgk *d = ctx;

    if (dxgk_kernel_now(d->kernel) >= d->display.vsync_ns + VSYNC_LOST_NS) {
        d->display.vsync_stuck = true;
        d->display.vsync_ns = dxgk_kernel_now(d->kernel);
        dxgk_adapter_kick(d);
    }
    dxgk_kernel_arm(d->kernel, &d->display.vsync_timer, d->display.vsync_ns + VSYNC_LOST_NS, vsync_check, d);
}

/* The vblanks of an adapter that has none: every period of source 0, and all sources at once. */
static void soft_vblank(void *ctx)
{
    struct dxgk *d = ctx;
    uint64_t now = dxgk_kernel_now(d->kernel);
    const struct grid *g = &d->display.sources[0].grid;

    if (!d->display.vsync_software)
        return;
    for (unsigned i = 0; i < d->display.num_sources; i++) {
        const struct source *s = &d->display.sources[i];
        PHYSICAL_ADDRESS shown = {0};
        if (s->flip_programmed)
            shown = dxgk_vidmm_address(d, s->flips->allocs[0]);
        dxgk_display_vblank(d, s->target, shown, now, now);
    }
    dxgk_kernel_arm(d->kernel, &d->display.soft_timer,
                    now + g->period_ns - (now - dxgk_grid_zero(g)) % g->period_ns, soft_vblank, d);
}

static void enable_vsync(struct dxgk *d, bool on)
{
    NTSTATUS s;

    if (d->display.vsync_enabled == on || d->state != DXGK_STARTED)
        return;
    d->display.vsync_enabled = on;
    d->display.vsync_ns = d->display.vsync_on_ns = dxgk_kernel_now(d->kernel);
    d->display.vsync_software = false;
    dxgk_kernel_cancel(d->kernel, &d->display.soft_timer);
    if (on)
        dxgk_kernel_arm(d->kernel, &d->display.vsync_timer, d->display.vsync_ns + VSYNC_LOST_NS, vsync_check,
                        d);
    else
        dxgk_kernel_cancel(d->kernel, &d->display.vsync_timer);
    s = DDI(d, ControlInterrupt, d->miniport, DXGK_INTERRUPT_CRTC_VSYNC, on);
    if (on && !NT_SUCCESS(s) && d->display.sources[0].grid.period_ns) {
        log_info("dxgkrnl", "DxgkDdiControlInterrupt(CRTC_VSYNC) returned %08x: a timer makes the vblanks",
                 (unsigned)s);
        d->display.vsync_software = true;
        dxgk_kernel_arm(d->kernel, &d->display.soft_timer,
                        d->display.vsync_on_ns + d->display.sources[0].grid.period_ns, soft_vblank, d);
    }
    dxgk_vblanks_changed(d);
}

/* At PASSIVE_LEVEL: off and on again brings lost ones back; if not, the device is reset. */
static void revive_vsync(struct dxgk *d)
{
    d->display.vsync_stuck = false;
    if (!d->display.vsync_enabled || d->resetting)
        return;
    dxgk_log(d, "dxgkrnl", 4, "no vblank for %u ms: its interrupt is switched on again",
             (unsigned)(VSYNC_LOST_NS / NSEC_PER_MSEC));
    enable_vsync(d, false);
    enable_vsync(d, true);
    if (++d->display.vsync_misses == VSYNC_MISSES) {
        d->display.vsync_misses = 0;
        dxgk_adapter_force_tdr(d);
    }
}

static NTSTATUS program(struct dxgk *d, UINT source, struct alloc *a, bool mode_change, bool immediate)
{
    DXGKARG_SETVIDPNSOURCEADDRESS args = {.VidPnSourceId = source,
                                          .PrimarySegment = a->segment,
                                          .PrimaryAddress = dxgk_vidmm_address(d, a),
                                          .hAllocation = a->driver};

    d->display.sources[source].flip_programmed =
        false; /* one that was is not any more: the next vblank tries again */
    args.Flags.ModeChange = mode_change;
    args.Flags.FlipImmediate = immediate;
    args.Flags.FlipOnNextVSync = !mode_change && !immediate;
    DXGK_TRACE(d, MMIO_FLIP, 0, source, a->segment, (uint64_t)args.PrimaryAddress.QuadPart, args.Flags.Value);
    if (!mode_change && d->caps.FlipCaps.FlipOnVSyncMmIo)
        return DDI_ARG_AT(d, DIRQL, SetVidPnSourceAddress, d->miniport, &args);
    return DDI_ARG(d, SetVidPnSourceAddress, d->miniport, &args);
}

static void show(struct source *s, struct alloc *a)
{
    if (a)
        a->pins++;
    INVARIANT(!s->primary || s->primary->pins);
    if (s->primary)
        s->primary->pins--;
    s->primary = a;
}

void dxgk_display_flipped(struct dxgk *d, struct packet *p)
{
    struct source *s = &d->display.sources[p->source];

    if (p->list_count > DXGK_PRESENT_SOURCE_INDEX && p->allocs[DXGK_PRESENT_SOURCE_INDEX] && s->committed)
        show(s, p->allocs[DXGK_PRESENT_SOURCE_INDEX]);
    s->frames++;
    dxgk_metrics_presented(d, p, false);
}

static void start_flip(struct dxgk *d, unsigned i)
{
    struct source *s = &d->display.sources[i];
    struct packet *p = s->flips;

    if (!p || s->flip_programmed)
        return;
    if (s->vblanks + 1 < s->flip_due)
        return; /* a later vblank programs it */
    program(d, i, p->allocs[0], false, false);
    s->flip_programmed = true;
    s->flip_ns = dxgk_kernel_now(d->kernel);
    s->flip_after = dxgk_grid_number(&s->grid, s->flip_ns + DXGK_VBLANK_GUARD_NS, s->vblanks);
}

static void finish_flip(struct dxgk *d, unsigned i)
{
    struct source *s = &d->display.sources[i];
    struct packet *p = s->flips;

    INVARIANT(s->vblanks >= s->flip_due && s->vblanks > s->flip_after); /* 1 */
    s->flips = p->next;
    if (!s->flips)
        s->flips_last = &s->flips;
    s->flip_count--;
    s->flip_programmed = false;
    s->last_flip = s->vblanks;
    s->frames++;
    show(s, p->allocs[0]);
    p->allocs[0]->pins--; /* dxgk_display_flip's */
    p->allocs[0]->busy--;
    dxgk_metrics_presented(d, p, s->vblanks > s->flip_due);
    if (s->flips)
        s->flip_due = s->last_flip + s->flips->interval;
    dxgk_packet_finish(d, p);
}

/* Whether a vblank that reports this address shows the flip that is due. A miniport that goes on to report others is named once,
 * and is not asked any more: nothing would ever be shown. */
static bool is_shown(struct dxgk *d, struct source *s, PHYSICAL_ADDRESS address)
{
    const PHYSICAL_ADDRESS want = dxgk_vidmm_address(d, s->flips->allocs[0]);

    if (address.QuadPart == want.QuadPart) {
        s->strange = 0;
        return true;
    }
    if (s->strange == FLIP_STRANGE)
        return true;
    if (++s->strange < FLIP_STRANGE)
        return false;
    dxgk_kernel_violation(d->kernel,
                          "CRTC_VSYNC of target %u reports the address %#llx at %d vblanks in a row; "
                          "DxgkDdiSetVidPnSourceAddress was given %#llx",
                          s->target, (unsigned long long)address.QuadPart, FLIP_STRANGE,
                          (unsigned long long)want.QuadPart);
    return true;
}

static bool is_target(const struct dxgk *d, UINT target)
{
    for (unsigned i = 0; i < d->display.num_children; i++)
        if (d->display.children[i].desc.ChildUid == target)
            return true;
    return false;
}

void dxgk_display_vblank(struct dxgk *d, UINT target, PHYSICAL_ADDRESS address, uint64_t raised_ns,
                         uint64_t time_ns)
{
    check(d);
    if (d->state == DXGK_STARTED && !is_target(d, target) && !d->display.strange_target) {
        d->display.strange_target = true;
        dxgk_interrupts_wrong(d, "CRTC_VSYNC of target %u, which DxgkDdiQueryChildRelations did not report",
                              target);
    }
    for (unsigned i = 0; i < d->display.num_sources; i++) {
        struct source *s = &d->display.sources[i];
        uint64_t number;
        bool waited;
        if (!s->committed || s->target != target)
            continue;
        number = dxgk_grid_notice(&s->grid, time_ns, s->vblanks);
        if (number <= s->vblanks)
            continue; /* reported twice: the next one is what everybody waits for */
        DXGK_TRACE(d, VSYNC_DPC, 0, target, (uint64_t)address.QuadPart);
        if (s->vblank_ns >= d->display.vsync_on_ns)
            dxgk_metrics_vblank(d, i, number - s->vblanks - 1, time_ns - s->vblank_ns);
        s->vblanks = number;
        s->vblank_ns = d->display.vsync_ns = time_ns;
        d->display.vsync_misses = 0;
        if (s->flips && s->flip_programmed && raised_ns > s->flip_ns && s->vblanks >= s->flip_due &&
            s->vblanks > s->flip_after && is_shown(d, s, address))
            finish_flip(d, i);
        start_flip(d, i);
        waited = dxgk_vblanks_tick(d, i);
        if (s->waiting || s->flips || waited)
            s->last_wanted = s->vblanks;
        dxgk_kernel_wake_all(d->kernel, &s->vblank_waiters);
        if (s->vblanks > s->last_wanted + VSYNC_IDLE_FRAMES && d->display.vsync_enabled) {
            d->display.vsync_idle = true;
            dxgk_adapter_kick(d);
        }
    }
    check(d);
}

/* At PASSIVE_LEVEL, from the scheduler's thread. */
void dxgk_display_work(struct dxgk *d)
{
    check(d);
    if (d->display.vsync_stuck)
        revive_vsync(d);
    if (!d->display.vsync_idle)
        return;
    d->display.vsync_idle = false;
    for (unsigned i = 0; i < d->display.num_sources; i++)
        if (d->display.sources[i].waiting || d->display.sources[i].flips)
            return;
    enable_vsync(d, false);
    check(d);
}

/* Takes over a flip packet whose context has nothing else at the device. */
void dxgk_display_flip(struct dxgk *d, struct packet *p)
{
    struct source *s = &d->display.sources[p->source];
    struct alloc *a = p->allocs[0];
    unsigned epoch = d->epoch;
    NTSTATUS st = STATUS_DEVICE_REMOVED;

    if (dxgk_adapter_lock(d)) {
        st = dxgk_vidmm_make_resident(d, a, a->read_set);
        dxgk_adapter_unlock(d);
    }
    if (!NT_SUCCESS(st) || epoch != d->epoch || !s->visible) {
        if (epoch == d->epoch && NT_SUCCESS(st))
            log_info("dxgkrnl", "a flip to the invisible source %u is dropped", p->source);
        dxgk_packet_finish(d, p);
        return;
    }
    if (!p->interval) {
        program(d, p->source, a, false, true);
        show(s, a);
        s->frames++;
        dxgk_metrics_presented(d, p, false);
        dxgk_packet_finish(d, p);
        return;
    }
    a->pins++;
    a->busy++;
    p->next = NULL;
    if (!s->flips) {
        s->flips_last = &s->flips;
        s->flip_due = s->last_flip + p->interval > s->vblanks ? s->last_flip + p->interval : s->vblanks + 1;
    }
    *s->flips_last = p;
    s->flips_last = &p->next;
    s->flip_count++;
    enable_vsync(d, true);
    start_flip(d, p->source);
}

void dxgk_display_drop_flips(struct dxgk *d, struct device *dev)
{
    check(d);
    for (unsigned i = 0; i < d->display.num_sources; i++) {
        struct source *s = &d->display.sources[i];
        for (struct packet **pp = &s->flips; *pp;) {
            struct packet *p = *pp;
            if (dev && p->context->device != dev) {
                pp = &p->next;
                continue;
            }
            if (p == s->flips)
                s->flip_programmed = false;
            *pp = p->next;
            s->flip_count--;
            p->allocs[0]->pins--;
            p->allocs[0]->busy--;
            dxgk_packet_finish(d, p);
        }
        s->flips_last = &s->flips;
        while (*s->flips_last)
            s->flips_last = &(*s->flips_last)->next;
    }
    check(d);
}

/* The desktop comes back where `a` was shown. */
static void forget_alloc(struct dxgk *d, struct alloc *a)
{
    for (unsigned i = 0; i < d->display.num_sources; i++) {
        struct source *s = &d->display.sources[i];
        if (s->primary != a || s->own_primary == a)
            continue;
        if (d->state == DXGK_STARTED && s->own_primary &&
            NT_SUCCESS(dxgk_vidmm_make_resident(d, s->own_primary, s->own_primary->read_set)))
            program(d, i, s->own_primary, true, false);
        show(s, s->own_primary);
    }
}

NTSTATUS dxgk_display_wait_vblank(struct dxgk_client *c, UINT source, struct device *dev)
{
    struct dxgk *d = c->d;
    struct source *s = &d->display.sources[source];
    unsigned epoch = d->epoch;
    uint64_t seen;

    if (!s->committed || !s->visible)
        return STATUS_GRAPHICS_PRESENT_OCCLUDED;
    s->waiting++;
    enable_vsync(d, true);
    /* One that is noticed late is none to wait for. */
    seen = dxgk_grid_number(&s->grid, dxgk_kernel_now(d->kernel) + DXGK_VBLANK_GUARD_NS, s->vblanks);
    while (s->vblanks <= seen && !c->cancelled && d->state == DXGK_STARTED && epoch == d->epoch && s->visible)
        dxgk_kernel_wait(d->kernel, &s->vblank_waiters, LOOP_FOREVER);
    s->waiting--;
    s->last_wanted = s->vblanks;
    if (c->cancelled)
        return STATUS_CANCELLED;
    if (d->state != DXGK_STARTED || (dev && epoch != d->epoch))
        return STATUS_DEVICE_REMOVED;
    return s->visible ? STATUS_SUCCESS : STATUS_GRAPHICS_PRESENT_OCCLUDED;
}

/* ---- modes --------------------------------------------------------------- */

/* Lets the miniport fit everything in `v` to what is pinned, except the pivot. */
static NTSTATUS fit(struct dxgk *d, struct vidpn *v, D3DKMDT_ENUMCOFUNCMODALITY_PIVOT_TYPE pivot, UINT source,
                    UINT target)
{
    DXGKARG_ENUMVIDPNCOFUNCMODALITY e = {
        .hConstrainingVidPn = dxgk_vidpn_handle(v),
        .EnumPivotType = pivot,
        .EnumPivot.VidPnSourceId = pivot == D3DKMDT_EPT_NOPIVOT || pivot == D3DKMDT_EPT_VIDPNTARGET
                                       ? D3DDDI_ID_UNINITIALIZED
                                       : source,
        .EnumPivot.VidPnTargetId = pivot == D3DKMDT_EPT_NOPIVOT || pivot == D3DKMDT_EPT_VIDPNSOURCE
                                       ? D3DDDI_ID_UNINITIALIZED
                                       : target};

    NTSTATUS s;

    v->open = VIDPN_MODES;
    s = DISPLAY_DDI(d, EnumVidPnCofuncModality, d->miniport, &e);
    v->open = VIDPN_CLOSED;
    return s;
}

static struct vidpn *make_vidpn(struct dxgk *d, UINT source, UINT target)
{
    struct vidpn *v = dxgk_vidpn_create(d);

    if (!v)
        return NULL;
    if (!NT_SUCCESS(dxgk_vidpn_add_path(v, source, target)) ||
        !NT_SUCCESS(fit(d, v, D3DKMDT_EPT_NOPIVOT, source, target))) {
        dxgk_vidpn_destroy(v);
        return NULL;
    }
    return v;
}

/* Each thing that was chosen is once the pivot, as when it is chosen one by one: pinned modes must come out as they went in. */
static NTSTATUS fit_pinned(struct dxgk *d, struct vidpn *v, UINT source, UINT target)
{
    static const D3DKMDT_ENUMCOFUNCMODALITY_PIVOT_TYPE pivots[] = {
        D3DKMDT_EPT_VIDPNSOURCE, D3DKMDT_EPT_VIDPNTARGET, D3DKMDT_EPT_SCALING, D3DKMDT_EPT_ROTATION};
    struct modeset **sets[] = {&v->source[source], &v->target[dxgk_vidpn_child_index(d, target)]};
    struct modeset *was[] = {*sets[0], *sets[1]};
    const struct mode *pinned[] = {was[0]->pinned, was[1]->pinned};
    NTSTATUS s = STATUS_SUCCESS;

    dxgk_modeset_ref(was[0]);
    dxgk_modeset_ref(was[1]);
    for (size_t i = 0; i < sizeof(pivots) / sizeof(pivots[0]) && NT_SUCCESS(s); i++) {
        s = fit(d, v, pivots[i], source, target);
        if (!NT_SUCCESS(s) || (*sets[0] == was[0] && *sets[1] == was[1] && was[0]->pinned == pinned[0] &&
                               was[1]->pinned == pinned[1]))
            continue; /* what a call that failed leaves half done is thrown away */
        dxgk_kernel_violation(
            d->kernel,
            "DxgkDdiEnumVidPnCofuncModality with pivot %d changed the %s modes, of which one is pinned",
            pivots[i], *sets[0] == was[0] && was[0]->pinned == pinned[0] ? "target" : "source");
        s = STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
    }
    dxgk_modeset_unref(was[0]);
    dxgk_modeset_unref(was[1]);
    return s;
}

/* A driver that only displays may not know its rate: the timer that stands in for its vblanks has this one. */
static D3DDDI_RATIONAL rate(const D3DKMDT_VIDEO_SIGNAL_INFO *i)
{
    return i->VSyncFreq.Numerator == D3DKMDT_FREQUENCY_NOTSPECIFIED ? (D3DDDI_RATIONAL){60, 1} : i->VSyncFreq;
}

static UINT hertz(const D3DDDI_RATIONAL *r)
{
    return r->Denominator ? (r->Numerator + r->Denominator / 2) / r->Denominator : 0;
}

/* The scaling that shows source mode `s` as target mode `t` on path `p`; UNINITIALIZED: they do not go together. */
static D3DKMDT_VIDPN_PRESENT_PATH_SCALING fits(const struct vidpn_path *p, const D3DKMDT_VIDPN_SOURCE_MODE *s,
                                               const D3DKMDT_VIDPN_TARGET_MODE *t)
{
    const D3DKMDT_2DREGION *from = &s->Format.Graphics.VisibleRegionSize,
                           *to = &t->VideoSignalInfo.ActiveSize;

    if (s->Type != D3DKMDT_RMT_GRAPHICS)
        return D3DKMDT_VPPS_UNINITIALIZED;
    if (from->cx == to->cx && from->cy == to->cy)
        return D3DKMDT_VPPS_IDENTITY;
    return p && p->info.ContentTransformation.ScalingSupport.Centered && from->cx <= to->cx &&
                   from->cy <= to->cy
               ? D3DKMDT_VPPS_CENTERED
               : D3DKMDT_VPPS_UNINITIALIZED;
}

D3DKMT_DISPLAYMODE dxgk_display_mode_from(const D3DKMDT_VIDPN_SOURCE_MODE *s,
                                          const D3DKMDT_VIDPN_TARGET_MODE *t)
{
    D3DDDI_RATIONAL freq = rate(&t->VideoSignalInfo);

    return (D3DKMT_DISPLAYMODE){.Width = s->Format.Graphics.PrimSurfSize.cx,
                                .Height = s->Format.Graphics.PrimSurfSize.cy,
                                .Format = s->Format.Graphics.PixelFormat,
                                .IntegerRefreshRate = hertz(&freq),
                                .RefreshRate = freq,
                                .ScanLineOrdering = t->VideoSignalInfo.ScanLineOrdering,
                                .DisplayOrientation = D3DDDI_ROTATION_IDENTITY};
}

static const char *lacks(const struct vidpn *v, UINT source, int child)
{
    return !v->source[source] || !v->source[source]->modes ? "left the source without a mode"
           : !v->target[child] || !v->target[child]->modes ? "left the target without a mode"
                                                           : "left no source mode that fits a target mode";
}

/* The cofunctional modes of a path; *best is the index of the preferred one. */
static NTSTATUS enumerate(struct dxgk *d, UINT source, UINT target, unsigned *best)
{
    struct source *s = &d->display.sources[source];
    struct vidpn *v = make_vidpn(d, source, target);
    int child = dxgk_vidpn_child_index(d, target);
    D3DKMT_DISPLAYMODE *modes = NULL;
    unsigned n = 0;

    *best = 0;
    if (!v)
        return STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
    for (struct mode *a = v->source[source] ? v->source[source]->modes : NULL; a; a = a->next)
        for (struct mode *b = v->target[child] ? v->target[child]->modes : NULL; b; b = b->next) {
            D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling;
            D3DKMT_DISPLAYMODE *grown;
            scaling = fits(v->paths, &a->source, &b->target);
            if (!scaling)
                continue;
            grown = realloc(modes, (n + 1) * sizeof(*modes));
            if (!grown)
                break;
            modes = grown;
            if (b->target.Preference == D3DKMDT_MP_PREFERRED && scaling == D3DKMDT_VPPS_IDENTITY &&
                (!n || modes[*best].Format == a->source.Format.Graphics.PixelFormat || !*best))
                *best = n;
            modes[n] = dxgk_display_mode_from(&a->source, &b->target);
            modes[n++].Flags.ValidatedAgainstMonitorCaps =
                dxgk_monitor_has(d, child, &b->target.VideoSignalInfo);
        }
    if (!n)
        d->failed =
            (struct dxgk_failed){"DxgkDdiEnumVidPnCofuncModality", STATUS_SUCCESS, lacks(v, source, child)};
    dxgk_vidpn_destroy(v);
    free(s->modes);
    s->modes = modes;
    s->num_modes = n;
    return n ? STATUS_SUCCESS : STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
}

/* Pins the modes that `mode` names; false if the network does not have them. */
static bool pin(struct vidpn *v, UINT source, int child, const D3DKMT_DISPLAYMODE *mode, UINT *stride)
{
    for (struct mode *a = v->source[source] ? v->source[source]->modes : NULL; a; a = a->next)
        for (struct mode *b = v->target[child] ? v->target[child]->modes : NULL; b; b = b->next) {
            D3DKMT_DISPLAYMODE m = dxgk_display_mode_from(&a->source, &b->target);
            D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling = fits(v->paths, &a->source, &b->target);
            if (!scaling || m.Width != mode->Width || m.Height != mode->Height || m.Format != mode->Format ||
                (mode->IntegerRefreshRate && m.IntegerRefreshRate != mode->IntegerRefreshRate))
                continue;
            v->source[source]->pinned = a;
            v->target[child]->pinned = b;
            *stride = a->source.Format.Graphics.Stride;
            for (struct vidpn_path *p = v->paths; p; p = p->next) {
                p->info.ContentTransformation.Scaling = scaling;
                p->info.ContentTransformation.Rotation = D3DKMDT_VPPR_IDENTITY;
                dxgk_vidpn_path_changed(p);
            }
            return true;
        }
    return false;
}

static NTSTATUS set_visible(struct dxgk *d, UINT source, bool visible)
{
    DXGKARG_SETVIDPNSOURCEVISIBILITY args = {.VidPnSourceId = source, .Visible = visible};
    NTSTATUS s = DDI_ARG(d, SetVidPnSourceVisibility, d->miniport, &args);

    if (NT_SUCCESS(s))
        d->display.sources[source].visible = visible;
    dxgk_vblanks_changed(d);
    return s;
}

/* What is shown in `mode`: *primary, or the desktop's own surface, resident; *fresh is a new one of those. A driver that only displays
 * has no surfaces, but the desktop's pixels. The desktop's own surface fits the mode even while a client's is shown: it is what comes
 * back. */
static NTSTATUS surfaces(struct dxgk *d, UINT source, const D3DKMT_DISPLAYMODE *mode, struct alloc **primary,
                         struct alloc **fresh)
{
    struct source *s = &d->display.sources[source];
    D3DKMDT_SHAREDPRIMARYSURFACEDATA data = {.Width = mode->Width,
                                             .Height = mode->Height,
                                             .Format = mode->Format,
                                             .RefreshRate = mode->RefreshRate,
                                             .VidPnSourceId = source};
    NTSTATUS st = STATUS_SUCCESS;

    if (d->displayonly)
        return dxgk_displayonly_desktop(d, source, mode);
    if (!s->own_primary || !s->committed || s->mode.Width != mode->Width || s->mode.Height != mode->Height ||
        s->mode.Format != mode->Format)
        st = dxgk_vidmm_create_standard(d, D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE, &data, fresh);
    if (!*primary)
        *primary = *fresh ? *fresh : s->own_primary;
    return NT_SUCCESS(st) ? dxgk_vidmm_make_resident(d, *primary, (*primary)->read_set) : st;
}

/* `primary` NULL: a shared primary surface of dxgkrnl's own. Called with the adapter held. */
NTSTATUS dxgk_display_set_mode(struct dxgk *d, UINT source, const D3DKMT_DISPLAYMODE *mode,
                               struct alloc *primary)
{
    struct source *s = &d->display.sources[source];
    struct vidpn *v = make_vidpn(d, source, s->target);
    int child = dxgk_vidpn_child_index(d, s->target);
    DXGKARG_ISSUPPORTEDVIDPN supported = {.hDesiredVidPn = dxgk_vidpn_handle(v)};
    DXGKARG_COMMITVIDPN commit = {.hFunctionalVidPn = dxgk_vidpn_handle(v),
                                  .AffectedVidPnSourceId = source,
                                  .MonitorConnectivityChecks = D3DKMDT_MCC_IGNORE};
    D3DKMT_DISPLAYMODE now = *mode;
    struct alloc *fresh = NULL;
    UINT stride = 0;
    bool palette;
    NTSTATUS st;

    if (!v)
        return STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
    if (!pin(v, source, child, mode, &stride)) {
        dxgk_vidpn_destroy(v);
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE;
    }
    palette = v->source[source]->pinned->source.Format.Graphics.PixelValueAccessMode ==
              D3DKMDT_PVAM_SETTABLEPALETTE;
    now.RefreshRate = rate(&v->target[child]->pinned->target.VideoSignalInfo);
    now.IntegerRefreshRate = hertz(&now.RefreshRate);
    st = fit_pinned(d, v, source, s->target);
    if (NT_SUCCESS(st))
        st = DISPLAY_DDI(d, IsSupportedVidPn, d->miniport, &supported);
    if (NT_SUCCESS(st))
        dxgk_answers_boolean(d, "DxgkDdiIsSupportedVidPn", "IsVidPnSupported", supported.IsVidPnSupported);
    if (NT_SUCCESS(st) && !supported.IsVidPnSupported) {
        st = STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
        dxgk_blame(d, "DxgkDdiIsSupportedVidPn",
                   "answered IsVidPnSupported = 0 for modes that it had enumerated");
    }
    if (NT_SUCCESS(st))
        st = surfaces(d, source, mode, &primary, &fresh);
    if (!NT_SUCCESS(st))
        goto fail;
    if (s->visible)
        set_visible(d, source, false);
    commit.hPrimaryAllocation = primary ? primary->driver : NULL;
    st = DISPLAY_DDI(d, CommitVidPn, d->miniport, &commit);
    if (!NT_SUCCESS(st)) {
        if (s->committed)
            set_visible(d, source, true);
        goto fail;
    }
    s->committed = true;
    s->mode = now;
    dxgk_grid_restart(&s->grid, now.RefreshRate.Numerator, now.RefreshRate.Denominator);
    s->stride = stride;
    if (primary)
        st = program(d, source, primary, true, false);
    if (NT_SUCCESS(st))
        st = set_visible(d, source, true);
    if (NT_SUCCESS(st) && d->displayonly)
        st = dxgk_displayonly_present(d, source, NULL, 0);
    show(s, primary);
    if (fresh) {
        struct alloc *old = s->own_primary;
        s->own_primary = fresh;
        dxgk_vidmm_destroy_standard(d, old);
    }
    if (palette)
        dxgk_palette_start(d, source);
    dxgk_pointer_restore(d, source);
    dxgk_ask_about_mode(d, source, v);
    dxgk_vidpn_destroy(d->display.active);
    d->display.active = v;
    return st;
fail:
    dxgk_vidmm_destroy_standard(d, fresh);
    dxgk_vidpn_destroy(v);
    return st;
}

/* After a reset or a power transition: what was shown is shown again. */
NTSTATUS dxgk_display_restore(struct dxgk *d)
{
    NTSTATUS st = STATUS_SUCCESS;

    check(d);
    for (unsigned i = 0; i < d->display.num_sources && NT_SUCCESS(st); i++) {
        struct source *s = &d->display.sources[i];
        bool vsync = d->display.vsync_enabled;
        if (!s->committed)
            continue;
        s->visible = false;
        st = dxgk_display_set_mode(d, i, &s->mode, NULL);
        d->display.vsync_enabled = false;
        enable_vsync(d, vsync);
    }
    check(d);
    return st;
}

/* ---- start and stop ------------------------------------------------------ */

static bool usable(const struct child *c)
{
    return c->connected && c->desc.ChildDeviceType == TypeVideoOutput;
}

/* The child whose monitor source `source` goes to: the miniport's choice, else the next that none of `taken` is. -1: none is left. */
static int choose_child(struct dxgk *d, UINT source, const bool *taken)
{
    int child = dxgk_recommended_target(d, source);

    if (child >= 0 && usable(&d->display.children[child]) && !taken[child])
        return child;
    for (unsigned i = 0; i < d->display.num_children; i++)
        if (usable(&d->display.children[i]) && !taken[i])
            return (int)i;
    return -1;
}

static NTSTATUS start_source(struct dxgk *d, UINT source)
{
    struct source *s = &d->display.sources[source];
    D3DKMT_DISPLAYMODE mode;
    unsigned best;
    NTSTATUS st = dxgk_monitor_start(d, s->target);

    if (NT_SUCCESS(st))
        st = enumerate(d, source, s->target, &best);
    if (!NT_SUCCESS(st))
        return st;
    if (!dxgk_recommended_mode(d, source, s->target, &mode) ||
        !NT_SUCCESS(dxgk_display_set_mode(d, source, &mode, NULL)))
        st = dxgk_display_set_mode(d, source, &s->modes[best], NULL);
    if (NT_SUCCESS(st))
        dxgk_ask_about_colours(d, source);
    return st;
}

NTSTATUS dxgk_display_start(struct dxgk *d)
{
    bool taken[MAX_CHILDREN] = {false};
    NTSTATUS st = STATUS_SUCCESS;

    memset(d->display.sources, 0, sizeof(d->display.sources));
    d->vidmm.forget = forget_alloc;
    for (unsigned i = 0; i < d->display.num_sources; i++)
        d->display.sources[i].flips_last = &d->display.sources[i].flips;
    for (unsigned i = 0; i < d->display.num_sources && NT_SUCCESS(st); i++) {
        int child = choose_child(d, i, taken);
        if (child < 0 && !i)
            dxgk_blame(d, "DxgkDdiQueryChildStatus", "answered that nothing is connected");
        if (child < 0)
            break;
        taken[child] = true;
        d->display.sources[i].target = d->display.children[child].desc.ChildUid;
        st = start_source(d, i);
    }
    return st;
}

void dxgk_display_stop(struct dxgk *d)
{
    dxgk_display_drop_flips(d, NULL);
    for (unsigned i = 0; i < d->display.num_sources; i++) {
        struct source *s = &d->display.sources[i];
        if (s->visible && d->state == DXGK_STARTED)
            set_visible(d, i, false);
        s->visible = s->committed = false;
        dxgk_kernel_wake_all(d->kernel, &s->vblank_waiters);
        show(s, NULL);
        dxgk_vidmm_destroy_standard(d, s->own_primary);
        s->own_primary = NULL;
        free(s->modes);
        s->modes = NULL;
        s->num_modes = 0;
        free(s->pointer);
        s->pointer = NULL;
    }
    if (d->display.vsync_enabled && d->state == DXGK_STARTED)
        enable_vsync(d, false);
    d->display.vsync_enabled = d->display.vsync_software = false;
    dxgk_vblanks_changed(d);
    dxgk_kernel_cancel(d->kernel, &d->display.vsync_timer);
    dxgk_kernel_cancel(d->kernel, &d->display.soft_timer);
    dxgk_monitor_stop(d);
    dxgk_vidpn_destroy(d->display.active);
    d->display.active = NULL;
}
