/* SPDX-License-Identifier: MIT */
/* present.c: swap chains on the display, queries and events. */
#include "umd/priv.h"

#include <stdatomic.h>

#include "base/check.h"
#include "dxgkrnl/progress.h"

static NTSTATUS current_mode(struct umd_device *d, D3DKMT_DISPLAYMODE *mode)
{
    D3DKMT_CURRENTDISPLAYMODE m = {.VidPnSourceId = d->source};
    D3DKMT_QUERYADAPTERINFO q = {.hAdapter = d->adapter,
                                 .Type = KMTQAITYPE_CURRENTDISPLAYMODE,
                                 .pPrivateDriverData = &m,
                                 .PrivateDriverDataSize = sizeof(m)};
    NTSTATUS s = D3DKMTQueryAdapterInfo(&q);

    *mode = m.DisplayMode;
    return s;
}

NTSTATUS umd_swapchain(struct umd_device *d, struct umd_swapchain *s)
{
    struct umd_texture_params p = {.format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                   .usage =
                                       AEROGPU_RESOURCE_USAGE_RENDER_TARGET | AEROGPU_RESOURCE_USAGE_TEXTURE};
    D3DKMT_DISPLAYMODE mode = {0};
    NTSTATUS st = d->failed ? d->failed : current_mode(d, &mode);

    *s = (struct umd_swapchain){.device = d};
    if (!NT_SUCCESS(st))
        return umd_check(d, st);
    s->width = p.width = mode.Width;
    s->height = p.height = mode.Height;
    st = umd_texture(d, &s->target, &p);
    p.primary = true;
    p.usage |= AEROGPU_RESOURCE_USAGE_SCANOUT;
    for (unsigned i = 0; i < UMD_PRIMARIES && NT_SUCCESS(st); i++)
        st = umd_texture(d, &s->primary[i], &p);
    if (!NT_SUCCESS(st))
        umd_swapchain_finish(s);
    return st;
}

void umd_swapchain_finish(struct umd_swapchain *s)
{
    umd_destroy(s->target);
    for (unsigned i = 0; i < UMD_PRIMARIES; i++)
        umd_destroy(s->primary[i]);
    *s = (struct umd_swapchain){0};
}

NTSTATUS umd_present(struct umd_swapchain *s, unsigned interval, uint64_t *fence)
{
    struct umd_device *d = s->device;
    struct umd_resource *back = s->primary[s->next];
    D3DKMT_PRESENT p = {.hContext = d->context,
                        .VidPnSourceId = d->source,
                        .hSource = back->allocation,
                        .FlipInterval = (D3DDDI_FLIPINTERVAL_TYPE)interval};
    NTSTATUS st;

    INVARIANT(s->next < UMD_PRIMARIES && back && back->device == d);
    umd_copy_texture(back, s->target);
    st = umd_flush(d, NULL);
    if (!NT_SUCCESS(st))
        return st;
    p.Flags.Flip = 1;
    st = umd_check(d, D3DKMTPresent(&p));
    umd_log("present: context 0x%x, allocation 0x%x, interval %u: 0x%08x", d->context, back->allocation,
            interval, (uint32_t)st);
    if (!NT_SUCCESS(st))
        return st;
    d->stats.presents++;
    s->next = (s->next + 1) % UMD_PRIMARIES;
    if (fence)
        *fence = atomic_load(&d->progress->queued);
    return STATUS_SUCCESS;
}

NTSTATUS umd_query_issue(struct umd_device *d, struct umd_query *q)
{
    q->device = d;
    return umd_flush(d, &q->fence);
}

NTSTATUS umd_query_get(const struct umd_query *q)
{
    if (!q->device)
        return STATUS_INVALID_PARAMETER;
    if (umd_removed(q->device))
        return umd_check(q->device, STATUS_DEVICE_REMOVED);
    return umd_completed(q->device) >= q->fence ? STATUS_SUCCESS : STATUS_PENDING;
}

NTSTATUS umd_signal_event(struct umd_device *d, int eventfd)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 a = {.hContext = d->context};
    NTSTATUS s = umd_flush(d, NULL);

    a.Flags.EnqueueCpuEvent = 1;
    a.CpuEventHandle = (HANDLE)(intptr_t)eventfd;
    return NT_SUCCESS(s) ? umd_check(d, D3DKMTSignalSynchronizationObject2(&a)) : s;
}
