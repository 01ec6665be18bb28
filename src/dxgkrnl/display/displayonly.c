/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"

#include <stdlib.h>
#include <string.h>

struct desktop {
    uint8_t *pixels; /* 32 bits each, as D3DDDIFMT_X8R8G8B8 */
    UINT width, height;
    /* A present that has not been reported yet. */
    bool pending, failed;
    struct kwaiters waiters;
};

struct displayonly {
    KMDDOD_INITIALIZATION_DATA ddi;
    bool owned; /* the driver has the frame buffer that firmware left */
    struct desktop desktops[MAX_SOURCES];
};

/* The driver draws with the processor: a frame that takes so long is lost. */
#define PRESENT_NS (2 * NSEC_PER_SEC)

/* ---- loading ------------------------------------------------------------- */

NTSTATUS dxgk_displayonly_init(struct dxgk *d, const KMDDOD_INITIALIZATION_DATA *data)
{
    struct displayonly *o = calloc(1, sizeof(*o));

    if (!o)
        return STATUS_NO_MEMORY;
    o->ddi = *data;
    d->displayonly = o;
#define COMMON(name) d->ddi.DxgkDdi##name = data->DxgkDdi##name;
    DXGK_DISPLAY_ONLY_COMMON(COMMON, COMMON)
#undef COMMON
    return STATUS_SUCCESS;
}

void dxgk_displayonly_free(struct dxgk *d)
{
    for (unsigned i = 0; d->displayonly && i < MAX_SOURCES; i++)
        free(d->displayonly->desktops[i].pixels);
    free(d->displayonly);
    d->displayonly = NULL;
}

const char *dxgk_displayonly_missing(const struct dxgk *d)
{
#define NEED(name)                                                                                           \
    if (!d->ddi.DxgkDdi##name)                                                                               \
        return "DxgkDdi" #name;
#define MAY(name)
#define ROW(need, name, ...)                                                                                 \
    if (!d->displayonly->ddi.DxgkDdi##name)                                                                  \
        return "DxgkDdi" #name;
    DXGK_DISPLAY_ONLY_COMMON(NEED, MAY)
    WDDM_DISPLAY_ONLY_DDIS(ROW)
#undef NEED
#undef MAY
#undef ROW
    return NULL;
}

/* ---- the frame buffer ---------------------------------------------------- */

NTSTATUS dxgk_displayonly_acquire(struct dxgk *d, DXGK_DISPLAY_INFORMATION *info)
{
    struct dxgk_post_display post = {0};

    *info = (DXGK_DISPLAY_INFORMATION){.TargetId = D3DDDI_ID_UNINITIALIZED};
    if (!d->displayonly)
        return STATUS_INVALID_PARAMETER;
    if (d->bus->post_display && d->bus->post_display(d->bus->ctx, &post)) {
        d->displayonly->owned = true;
        *info = (DXGK_DISPLAY_INFORMATION){.Width = post.width,
                                           .Height = post.height,
                                           .Pitch = post.pitch,
                                           .ColorFormat = post.format,
                                           .PhysicAddress.QuadPart = (LONGLONG)post.address};
    }
    return STATUS_SUCCESS; /* as in Windows: a width of zero says that there is none */
}

static bool in_memory_window(const struct dxgk *d, const DXGK_DISPLAY_INFORMATION *i)
{
    uint64_t at = (uint64_t)i->PhysicAddress.QuadPart, size = (uint64_t)i->Pitch * i->Height;

    for (unsigned n = 0; n < d->bus->num_resources; n++) {
        const struct dxgk_resource *r = &d->bus->resources[n];
        if (r->type == CmResourceTypeMemory && at >= r->start && size <= r->length &&
            at - r->start <= r->length - size)
            return true;
    }
    return false;
}

void dxgk_displayonly_stop(struct dxgk *d)
{
    DXGK_DISPLAY_INFORMATION info = {0};
    struct displayonly *o = d->displayonly;
    NTSTATUS s = STATUS_DEVICE_REMOVED;

    if (!o->owned) {
        DDI(d, StopDevice, d->miniport);
        return;
    }
    KERNEL_CALL(d->kernel, "DxgkDdiStopDeviceAndReleasePostDisplayOwnership", PASSIVE_LEVEL,
                d->tdr.ddi_delay_ns,
                s = KERNEL_GUEST(o->ddi.DxgkDdiStopDeviceAndReleasePostDisplayOwnership)(
                    d->miniport, d->display.sources[0].target, &info));
    o->owned = false;
    if (!NT_SUCCESS(s)) { /* allowed: then it is stopped in the other way */
        DDI(d, StopDevice, d->miniport);
        return;
    }
    if (!info.Width || !info.Height || info.Pitch < info.Width || !in_memory_window(d, &info))
        dxgk_kernel_violation(
            d->kernel,
            "DxgkDdiStopDeviceAndReleasePostDisplayOwnership gave back %u x %u at %llx, pitch %u, "
            "which is no frame buffer of the adapter",
            info.Width, info.Height, (unsigned long long)info.PhysicAddress.QuadPart, info.Pitch);
}

/* ---- the desktop --------------------------------------------------------- */

NTSTATUS dxgk_displayonly_desktop(struct dxgk *d, UINT source, const D3DKMT_DISPLAYMODE *mode)
{
    struct desktop *t = &d->displayonly->desktops[source];
    uint8_t *pixels;

    if (t->pixels && t->width == mode->Width && t->height == mode->Height)
        return STATUS_SUCCESS;
    pixels = calloc((size_t)mode->Width * mode->Height, 4);
    if (!pixels)
        return STATUS_NO_MEMORY;
    free(t->pixels);
    t->pixels = pixels;
    t->width = mode->Width;
    t->height = mode->Height;
    return STATUS_SUCCESS;
}

void dxgk_displayonly_progress(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    UINT source = data->DisplayOnlyPresentProgress.VidPnSourceId;
    struct desktop *t;

    if (!d->displayonly || source >= d->display.num_sources || !d->displayonly->desktops[source].pending) {
        dxgk_interrupts_wrong(d, "DISPLAYONLY_PRESENT_PROGRESS of source %u, which presents nothing", source);
        return;
    }
    t = &d->displayonly->desktops[source];
    t->failed = data->DisplayOnlyPresentProgress.ProgressId != DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_COMPLETE;
    t->pending = false;
    dxgk_kernel_wake_all(d->kernel, &t->waiters);
}

NTSTATUS dxgk_displayonly_present(struct dxgk *d, UINT source, const RECT *dirty, UINT count)
{
    struct desktop *t = &d->displayonly->desktops[source];
    RECT all = {.right = (LONG)t->width, .bottom = (LONG)t->height};
    DXGKARG_PRESENT_DISPLAYONLY args = {.VidPnSourceId = source,
                                        .pSource = t->pixels,
                                        .BytesPerPixel = 4,
                                        .Pitch = (LONG)(t->width * 4),
                                        .NumDirtyRects = dirty ? count : 1,
                                        .pDirtyRect = dirty ? (RECT *)dirty : &all};
    uint64_t until = dxgk_kernel_now(d->kernel) + PRESENT_NS;
    NTSTATUS s = STATUS_DEVICE_REMOVED;

    if (!t->pixels)
        return STATUS_INVALID_DEVICE_STATE;
    t->pending = true; /* it may be done before the call returns */
    t->failed = false;
    KERNEL_CALL(d->kernel, "DxgkDdiPresentDisplayOnly", PASSIVE_LEVEL, d->tdr.ddi_delay_ns,
                s = KERNEL_GUEST(d->displayonly->ddi.DxgkDdiPresentDisplayOnly)(d->miniport, &args));
    while (s == STATUS_PENDING && t->pending)
        if (!dxgk_kernel_wait(d->kernel, &t->waiters, until)) {
            dxgk_kernel_violation(
                d->kernel, "DxgkDdiPresentDisplayOnly was pending for %u s, and no progress was reported",
                (unsigned)(PRESENT_NS / NSEC_PER_SEC));
            break;
        }
    t->pending = false;
    return t->failed ? STATUS_UNSUCCESSFUL : NT_SUCCESS(s) ? STATUS_SUCCESS : s;
}

/* ---- for the host -------------------------------------------------------- */

bool dxgk_displays_only(struct dxgk *d)
{
    return d->displayonly;
}

static bool inside(const struct desktop *t, const RECT *r)
{
    return r->left >= 0 && r->top >= 0 && r->left < r->right && r->top < r->bottom &&
           (UINT)r->right <= t->width && (UINT)r->bottom <= t->height;
}

NTSTATUS dxgk_desktop_present(struct dxgk *d, UINT source, const void *pixels, size_t pitch,
                              const RECT *dirty, unsigned count)
{
    NTSTATUS s = STATUS_INVALID_PARAMETER;
    struct desktop *t;

    dxgk_kernel_enter(d->kernel);
    if (d->state != DXGK_STARTED || !d->displayonly || !dxgk_adapter_lock(d)) {
        dxgk_kernel_leave(d->kernel);
        return STATUS_INVALID_DEVICE_STATE;
    }
    t = source < d->display.num_sources ? &d->displayonly->desktops[source] : NULL;
    for (unsigned i = 0; t && i < count; i++)
        if (!inside(t, &dirty[i]))
            t = NULL;
    if (t && t->pixels && count) {
        for (unsigned i = 0; i < count; i++)
            for (LONG y = dirty[i].top; y < dirty[i].bottom; y++)
                memcpy(t->pixels + ((size_t)y * t->width + (size_t)dirty[i].left) * 4,
                       (const uint8_t *)pixels + (size_t)y * pitch + (size_t)dirty[i].left * 4,
                       (size_t)(dirty[i].right - dirty[i].left) * 4);
        s = dxgk_displayonly_present(d, source, dirty, count);
    }
    dxgk_adapter_unlock(d);
    dxgk_kernel_leave(d->kernel);
    return s;
}

NTSTATUS dxgk_desktop_set_mode(struct dxgk *d, UINT source, const D3DKMT_DISPLAYMODE *mode)
{
    NTSTATUS s = STATUS_INVALID_DEVICE_STATE;

    dxgk_kernel_enter(d->kernel);
    if (d->state == DXGK_STARTED && d->displayonly && dxgk_adapter_lock(d)) {
        s = source < d->display.num_sources && d->display.sources[source].committed
                ? dxgk_display_set_mode(d, source, mode, NULL)
                : STATUS_INVALID_PARAMETER;
        dxgk_adapter_unlock(d);
    }
    dxgk_kernel_leave(d->kernel);
    return s;
}

NTSTATUS dxgk_system_display(struct dxgk *d, const void *pixels, unsigned width, unsigned height, unsigned x,
                             unsigned y)
{
    DXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS flags = {0};
    D3DDDIFORMAT format = D3DDDIFMT_UNKNOWN;
    UINT screen_width = 0, screen_height = 0;
    NTSTATUS s = STATUS_INVALID_DEVICE_STATE;
    KIRQL old;

    dxgk_kernel_enter(d->kernel);
    if (d->displayonly && d->miniport) {
        const KMDDOD_INITIALIZATION_DATA *i = &d->displayonly->ddi;
        old = dxgk_kernel_raise(d->kernel, HIGH_LEVEL); /* as at a bug check: nothing else runs any more */
        KERNEL_CALL(d->kernel, "DxgkDdiSystemDisplayEnable", HIGH_LEVEL, 0,
                    s = KERNEL_GUEST(i->DxgkDdiSystemDisplayEnable)(d->miniport, D3DDDI_ID_UNINITIALIZED,
                                                                    &flags, &screen_width, &screen_height,
                                                                    &format));
        if (NT_SUCCESS(s) &&
            (x > screen_width || width > screen_width - x || y > screen_height || height > screen_height - y))
            s = STATUS_INVALID_PARAMETER;
        if (NT_SUCCESS(s))
            KERNEL_CALL(d->kernel, "DxgkDdiSystemDisplayWrite", HIGH_LEVEL, 0,
                        KERNEL_GUEST(i->DxgkDdiSystemDisplayWrite)(d->miniport, (PVOID)pixels, width, height,
                                                                   width * 4, x, y));
        dxgk_kernel_lower(d->kernel, old);
    }
    dxgk_kernel_leave(d->kernel);
    return s;
}
