/* SPDX-License-Identifier: MIT */
#include "d3dkmt/views.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { BUCKETS = 1024 }; /* dxgkrnl counts the low 16 bits of handles up from 1 */

static struct view *buckets[BUCKETS];

static struct view **slot(D3DKMT_HANDLE handle)
{
    struct view **p = &buckets[handle % BUCKETS];

    while (*p && (*p)->handle != handle)
        p = &(*p)->next;
    return p;
}

static void drop(struct view **p)
{
    struct view *v = *p;

    *p = v->next;
    if (v->base)
        munmap(v->base, v->size);
    free(v);
}

struct view *d3dkmt_view_find(D3DKMT_HANDLE handle)
{
    return *slot(handle);
}

struct view *d3dkmt_view_add(D3DKMT_HANDLE handle, D3DKMT_HANDLE device, D3DKMT_HANDLE resource)
{
    struct view *v = calloc(1, sizeof(*v));

    if (!v)
        return NULL;
    d3dkmt_view_drop(handle);
    v->handle = handle;
    v->device = device;
    v->resource = resource;
    v->next = buckets[handle % BUCKETS];
    buckets[handle % BUCKETS] = v;
    return v;
}

NTSTATUS d3dkmt_view_map(struct view *v, int fd, uint64_t offset, uint64_t size)
{
    void *p;

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
    struct view **p = slot(handle);

    if (*p)
        drop(p);
}

void d3dkmt_view_drop_device(D3DKMT_HANDLE device, D3DKMT_HANDLE resource)
{
    for (int i = 0; i < BUCKETS; i++)
        for (struct view **p = &buckets[i]; *p;)
            if ((*p)->device == device && (!resource || (*p)->resource == resource))
                drop(p);
            else
                p = &(*p)->next;
}

void d3dkmt_view_drop_all(void)
{
    for (int i = 0; i < BUCKETS; i++)
        while (buckets[i])
            drop(&buckets[i]);
}
