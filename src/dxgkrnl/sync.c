/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/kernel/process.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- events -------------------------------------------------------------- */

int dxgk_signaller_init(struct signaller *s)
{
    int r = 0;

    s->context = 0;
    s->fd = memfd_create("dxgkrnl-signal", MFD_CLOEXEC);
    if (s->fd < 0)
        return -errno;
    if (ftruncate(s->fd, 1) || syscall(SYS_io_setup, 1, &s->context))
        r = -errno;
    if (r)
        close(s->fd);
    else
        dxgk_process_keep(s->fd, true);
    return r;
}

void dxgk_signaller_finish(struct signaller *s)
{
    dxgk_process_keep(s->fd, false);
    syscall(SYS_io_destroy, s->context);
    close(s->fd);
}

int dxgk_sync_dup_event(int event_fd)
{
    char path[40], target[32];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", event_fd);
    n = event_fd >= 0 ? readlink(path, target, sizeof(target) - 1) : -1;
    target[n > 0 ? n : 0] = '\0';
    return strcmp(target, "anon_inode:[eventfd]") ? -1 : dup(event_fd);
}

void dxgk_sync_signal_event(struct dxgk *d, int event_fd)
{
    char byte;
    struct iocb read = {.aio_lio_opcode = IOCB_CMD_PREAD,
                        .aio_fildes = (uint32_t)d->signaller.fd,
                        .aio_buf = (uintptr_t)&byte,
                        .aio_nbytes = 1,
                        .aio_flags = IOCB_FLAG_RESFD,
                        .aio_resfd = (uint32_t)event_fd},
                *list = &read;
    struct io_event done;

    if (event_fd < 0)
        return;
    if (syscall(SYS_io_submit, d->signaller.context, 1, &list) != 1 ||
        syscall(SYS_io_getevents, d->signaller.context, 1, 1, &done, NULL) != 1)
        log_debug("dxgkrnl", "an event cannot be signalled: %s", strerror(errno));
}

/* ---- objects ------------------------------------------------------------- */

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
        if (!dxgk_quota_take(dev->d, dev->client, QUOTA_DESCRIPTORS, 1)) {
            s = STATUS_INSUFFICIENT_RESOURCES;
            break;
        }
        o->event_fd = dxgk_sync_dup_event((int)(intptr_t)info->CPUNotification.Event);
        if (o->event_fd < 0) {
            dxgk_quota_give(dev->d, dev->client, QUOTA_DESCRIPTORS, 1);
            s = STATUS_INVALID_HANDLE;
        }
        break;
    default:
        s = STATUS_INVALID_PARAMETER;
    }
    if (NT_SUCCESS(s) && info->Flags.Value)
        s = STATUS_NOT_SUPPORTED; /* sharing between processes is for surfaces */
    if (!NT_SUCCESS(s)) {
        if (o->event_fd >= 0)
            dxgk_quota_give(dev->d, dev->client, QUOTA_DESCRIPTORS, 1);
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
    if (s->event_fd >= 0)
        dxgk_quota_give(s->device->d, s->device->client, QUOTA_DESCRIPTORS, 1);
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

void dxgk_sync_signal(struct dxgk *d, struct syncobj *const *s, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++) {
        if (s[i]->type == D3DDDI_FENCE)
            s[i]->value = value;
        else if (s[i]->type == D3DDDI_CPU_NOTIFICATION)
            dxgk_sync_signal_event(d, s[i]->event_fd);
        else if (s[i]->value < s[i]->max)
            s[i]->value++;
        check(s[i]);
    }
}
