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
    size_t first = 0;

    while (first < guarded && guard[first] == PATTERN)
        first++;
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
    ULONG *const num[2] = {dxgk_answers_room(sizeof(ULONG)), dxgk_answers_room(sizeof(ULONG))};
    DXGK_START_INFO *const info = dxgk_answers_room(sizeof(*info));
    NTSTATUS s = STATUS_NO_MEMORY;

    if (num[0] && num[1] && info) {
        s = DDI(d, StartDevice, d->miniport, info, &d->iface, num[0], num[1]);
        dxgk_answers_kept(d, "DxgkDdiStartDevice", "NumberOfVideoPresentSources, at byte", num[0],
                          sizeof(ULONG));
        dxgk_answers_kept(d, "DxgkDdiStartDevice", "NumberOfChildren, at byte", num[1], sizeof(ULONG));
        dxgk_answers_kept(d, "DxgkDdiStartDevice", "DxgkStartInfo, at byte", info, sizeof(*info));
        d->display.num_sources = *num[0];
        d->display.num_children = *num[1];
    }
    free(num[0]);
    free(num[1]);
    free(info);
    return s;
}
