/* SPDX-License-Identifier: MIT */
/* room.c: memory that a miniport answers into: what it writes behind its size is seen. */
#include "dxgkrnl/adapter.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PATTERN = 0xA5 };

void dxgk_answers_guard(void *room, size_t size, size_t behind)
{
    memset((uint8_t *)room + size, PATTERN, behind < ANSWERS_GUARD ? behind : ANSWERS_GUARD);
}

void *dxgk_answers_room(size_t size)
{
    uint8_t *room = calloc(1, size + ANSWERS_GUARD);

    if (room)
        dxgk_answers_guard(room, size, ANSWERS_GUARD);
    return room;
}

bool dxgk_answers_kept(struct dxgk *d, const char *ddi, const char *member, void *room, size_t size)
{
    return dxgk_answers_kept_behind(d, ddi, member, room, size, ANSWERS_GUARD);
}

bool dxgk_answers_kept_behind(struct dxgk *d, const char *ddi, const char *member, void *room, size_t size,
                              size_t behind)
{
    const size_t guarded = behind < ANSWERS_GUARD ? behind : ANSWERS_GUARD;
    struct judge j = {.d = d, .ddi = ddi};
    uint8_t *guard = (uint8_t *)room + size;
    const size_t first = dxgk_differs(guard, PATTERN, guarded);

    dxgk_answer(&j, ANSWER_BREAKS, first == guarded, member, size + first,
                "a byte inside of the size that it was given");
    if (first < guarded)
        memset(guard, PATTERN, guarded);
    return first == guarded;
}

bool dxgk_answers_end(struct dxgk *d, const char *ddi, const char *member, const void *room, size_t size,
                      const void *end, UINT *bytes)
{
    const uintptr_t from = (uintptr_t)room, to = (uintptr_t)end;

    *bytes = (UINT)(to - from);
    if (to - from <= size)
        return true;
    if (!end)
        dxgk_kernel_violation(d->kernel, "%s set %s to NULL, which has to be where it ended in %zu bytes",
                              ddi, member, size);
    else if (to < from)
        dxgk_kernel_violation(d->kernel, "%s moved %s back in front of its buffer, by %zu bytes", ddi, member,
                              (size_t)(from - to));
    else
        dxgk_kernel_violation(d->kernel, "%s advanced %s past its buffer: to %zu of %zu bytes", ddi, member,
                              (size_t)(to - from), size);
    return false;
}

bool dxgk_answers_read(void *to, const void *from, size_t size)
{
    struct iovec ours = {to, size}, theirs = {(void *)(uintptr_t)from, size};

    return process_vm_readv(getpid(), &ours, 1, &theirs, 1, 0) == (ssize_t)size;
}

NTSTATUS dxgk_answers_start(struct dxgk *d)
{
    static const char ddi[] = "DxgkDdiStartDevice";
    const DXGK_START_INFO told = {.RequiredDmaQueueEntry = 0};
    const ULONG none = 0;
    ULONG *const sources = dxgk_argument(d, &none, sizeof(none)), *const children =
                                                                      dxgk_argument(d, &none, sizeof(none));
    DXGK_START_INFO *const info = dxgk_argument(d, &told, sizeof(told));
    NTSTATUS s = STATUS_NO_MEMORY;

    d->lent_iface = dxgk_argument(d, &d->iface, d->iface.Size);
    if (sources && children && info && d->lent_iface) {
        s = DDI(d, StartDevice, d->miniport, info, d->lent_iface, sources, children);
        dxgk_inputs_take_all(d, ddi, "DxgkStartInfo", info, &told, sizeof(told));
        dxgk_inputs_take_all(d, ddi, "DxgkInterface", d->lent_iface, &d->iface, d->iface.Size);
    }
    dxgk_argument_back(d, ddi, "NumberOfVideoPresentSources", sources, sizeof(none), &d->display.num_sources);
    dxgk_argument_back(d, ddi, "NumberOfChildren", children, sizeof(none), &d->display.num_children);
    dxgk_argument_back(d, ddi, "DxgkStartInfo", info, sizeof(told), NULL);
    return s;
}

NTSTATUS dxgk_answers_add(struct dxgk *d)
{
    const PVOID none = NULL;
    PVOID *context = dxgk_argument(d, &none, sizeof(none));
    NTSTATUS s = STATUS_NO_MEMORY;

    if (context) {
        s = DDI(d, AddDevice, (PDEVICE_OBJECT)d->objects->device, context);
        dxgk_argument_back(d, "DxgkDdiAddDevice", "MiniportDeviceContext", context, sizeof(none),
                           &d->miniport);
    }
    return s;
}
