#include "dxgkrnl/adapter.h"
#include "dxgkrnl/sync.h"

#include <stdlib.h>
#include <unistd.h>

static void check(const struct syncobj *s)
{
    INVARIANT(s->refs);
    INVARIANT(s->type == D3DDDI_FENCE || s->type == D3DDDI_CPU_NOTIFICATION || s->value <= s->max);
    INVARIANT((s->event_fd >= 0) == (s->type == D3DDDI_CPU_NOTIFICATION));
    INVARIANT(s->device || !s->handle); /* whose handle is gone lives by packets alone */
}

NTSTATUS dxgk_sync_create(struct device *dev, const D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info,
                          struct syncobj **out)
{
    struct syncobj *o;
    NTSTATUS s = STATUS_SUCCESS;

    o = calloc(1, sizeof(*o));
    if (!o)
        return STATUS_NO_MEMORY;
    *o = (struct syncobj){.type = info->Type, .device = dev, .max = 1, .event_fd = -1, .refs = 1};
    switch (info->Type) {
    case D3DDDI_SYNCHRONIZATION_MUTEX:
        o->value = !info->SynchronizationMutex.InitialState;
        break;
    case D3DDDI_SEMAPHORE:
        o->value = info->Semaphore.InitialCount;
        o->max = info->Semaphore.MaxCount;
        if (!o->max || o->value > o->max)
            s = STATUS_INVALID_PARAMETER;
        break;
    case D3DDDI_FENCE:
        o->value = info->Fence.FenceValue;
        break;
    case D3DDDI_CPU_NOTIFICATION:
        o->event_fd = dup((int)(intptr_t)info->CPUNotification.Event);
        if (o->event_fd < 0)
            s = STATUS_INVALID_HANDLE;
        break;
    default:
        s = STATUS_INVALID_PARAMETER;
    }
    if (NT_SUCCESS(s) && info->Flags.Value)
        s = STATUS_NOT_SUPPORTED; /* sharing between processes is for surfaces */
    if (!NT_SUCCESS(s)) {
        dxgk_sync_unref(o);
        return s;
    }
    check(o);
    o->next = dev->syncs;
    dev->syncs = o;
    *out = o;
    return s;
}

void dxgk_sync_unref(struct syncobj *s)
{
    if (!s || --s->refs)
        return;
    if (s->event_fd >= 0)
        close(s->event_fd);
    free(s);
}

void dxgk_sync_close(struct syncobj *s)
{
    LIST_DROP(&s->device->syncs, s, next);
    check(s);
    dxgk_handle_free(s->device->d, s->handle);
    s->device = NULL;
    s->handle = 0;
    dxgk_sync_unref(s);
}

bool dxgk_sync_take(struct syncobj *const *s, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++) {
        check(s[i]);
        if (s[i]->type == D3DDDI_FENCE ? s[i]->value < value : !s[i]->value)
            return false;
    }
    for (unsigned i = 0; i < count; i++)
        if (s[i]->type != D3DDDI_FENCE)
            s[i]->value--;
    return true;
}

void dxgk_sync_signal_event(int event_fd)
{
    uint64_t one = 1;

    if (event_fd >= 0 && write(event_fd, &one, sizeof(one)) < 0)
        log_debug("dxgkrnl", "a notification event is full");
}

void dxgk_sync_signal(struct syncobj *const *s, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++) {
        if (s[i]->type == D3DDDI_FENCE)
            s[i]->value = value;
        else if (s[i]->type == D3DDDI_CPU_NOTIFICATION)
            dxgk_sync_signal_event(s[i]->event_fd);
        else if (s[i]->value < s[i]->max)
            s[i]->value++;
        check(s[i]);
    }
}
