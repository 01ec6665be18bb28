/* SPDX-License-Identifier: MIT */
#include "d3dkmt/views.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/check.h"
#include "base/map.h"

static struct map views; /* handle: struct view */

static void drop(struct view *v)
{
    INVARIANT(!v->base == !v->size);
    map_remove(&views, v->handle);
    if (v->base)
        munmap(v->base, v->size);
    free(v);
}

struct view *d3dkmt_view_find(D3DKMT_HANDLE handle)
{
    struct view *v = map_pointer(&views, handle);

    INVARIANT(!v || v->handle == handle);
    return v;
}

struct view *d3dkmt_view_add(D3DKMT_HANDLE handle, D3DKMT_HANDLE device, D3DKMT_HANDLE resource)
{
    struct view *v = calloc(1, sizeof(*v));
    uint64_t *slot;

    d3dkmt_view_drop(handle);
    slot = v ? map_put(&views, handle) : NULL;
    if (!slot) {
        free(v);
        return NULL;
    }
    *v = (struct view){.handle = handle, .device = device, .resource = resource};
    *slot = (uintptr_t)v;
    return v;
}

NTSTATUS d3dkmt_view_map(struct view *v, int fd, uint64_t offset, uint64_t size)
{
    void *p;

    INVARIANT(!v->base);
    if (fd < 0 || !size || size > SIZE_MAX / 2)
        return STATUS_INTERNAL_ERROR;
    size = (size + 4095) & ~UINT64_C(4095);
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (p == MAP_FAILED)
        return STATUS_NO_MEMORY;
    v->base = p;
    v->size = size;
    return STATUS_SUCCESS;
}

void d3dkmt_view_drop(D3DKMT_HANDLE handle)
{
    struct view *v = d3dkmt_view_find(handle);

    if (v)
        drop(v);
}

void d3dkmt_view_drop_device(D3DKMT_HANDLE device, D3DKMT_HANDLE resource)
{
    struct view *doomed = NULL;
    struct map_slot s;

    for (size_t at = 0; map_next(&views, &at, &s);) {
        struct view *v = (void *)(uintptr_t)s.value;
        if (v->device == device && (!resource || v->resource == resource)) {
            v->next = doomed;
            doomed = v;
        }
    }
    for (struct view *next; doomed; doomed = next) {
        next = doomed->next;
        drop(doomed);
    }
}

void d3dkmt_view_drop_all(void)
{
    struct map_slot s;

    for (size_t at = 0; map_next(&views, &at, &s);) {
        struct view *v = (void *)(uintptr_t)s.value;
        if (v->base)
            munmap(v->base, v->size);
        free(v);
    }
    map_finish(&views);
}
