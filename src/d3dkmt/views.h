/* SPDX-License-Identifier: MIT */
/* views.h: memory of the service that is mapped into this process, by the handle that it belongs to.
 *
 * Every allocation and context of the process that is known has one entry; it is mapped the first time it is locked and
 * stays so until the handle goes. Callers hold the client's lock.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wddm/d3dkmthk.h"

struct view {
    struct view *next; /* that goes with it */
    D3DKMT_HANDLE handle, device, resource;
    void *base; /* NULL: not mapped */
    size_t size;
    D3DKMT_CREATECONTEXT context; /* of a context: where its buffers are */
    struct dxgk_progress *progress;
};

struct view *d3dkmt_view_find(D3DKMT_HANDLE handle);
/* The entry for a new handle; an old one with the same number goes. NULL: no memory. */
struct view *d3dkmt_view_add(D3DKMT_HANDLE handle, D3DKMT_HANDLE device, D3DKMT_HANDLE resource);
/* Maps `size` bytes of `fd` from `offset` on. */
NTSTATUS d3dkmt_view_map(struct view *v, int fd, uint64_t offset, uint64_t size);
void d3dkmt_view_drop(D3DKMT_HANDLE handle);
/* Everything of a device, or with it of one of its resources (0: all). */
void d3dkmt_view_drop_device(D3DKMT_HANDLE device, D3DKMT_HANDLE resource);
void d3dkmt_view_drop_all(void);
