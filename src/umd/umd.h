/* SPDX-License-Identifier: MIT */
/* umd.h: the user-mode driver: from resources, states and draws to D3DKMT calls.
 *
 *   umd_open ─▶ umd_texture, umd_buffer … ─▶ umd_use + ABI_EMIT(umd_stream(d), …) ─▶ umd_flush ─▶ umd_wait ─▶ umd_close
 *                                                     ▲                                │
 *                                                     └──── umd_split, when it is much ┘
 *
 * Invariants:
 *  1. One thread uses a device. Any number of devices may be open.
 *  2. alloc_ids are made here and never used twice by a process; an allocation keeps its id for life, in every process
 *     that opens it. Object names are the device's own where the kernel driver keeps them apart; under another's, which has one
 *     namespace for everybody, no two processes use the same, and umd_close destroys what was made.
 *  3. A stream names only allocations that its submission lists: umd_use notes them, and what is bound stays noted
 *     until it is bound no longer, over submissions too.
 *  4. Submissions are bounded: work that may be long is cut at umd_split, whose size follows what the last ones took,
 *     so that one takes about UMD_SPLIT_MS.
 *  5. After STATUS_DEVICE_REMOVED every call answers it; umd_close and umd_open are the way back.
 *
 * AEROGPU_UMD_LOG=FILE: what devices do, and what fails, a line each.
 *
 * Functions return an NTSTATUS; STATUS_DEVICE_REMOVED as said. Waits come back after their time-out with
 * STATUS_TIMEOUT, which NT_SUCCESS takes for a success.
 */
#pragma once

#include <aerogpu/alloc.h>
#include <aerogpu/escape.h>
#include <aerogpu/pci.h>

#include "abi/builder.h"
#include "base/clock.h"
#include "d3dkmt/d3dkmt.h"

enum {
    UMD_SPLIT_MS = 20,
    UMD_FOREVER_MS = -1,
    UMD_PRIMARIES = 5, /* one on the screen, three queued (as many as dxgkrnl takes), one that is written */
};

struct umd_device;

struct umd_resource {
    struct umd_device *device;
    uint32_t handle;   /* object name in streams */
    uint32_t alloc_id; /* 0: the device keeps it, no guest memory behind it */
    D3DKMT_HANDLE allocation, resource, global_share;
    uint64_t share_token, size; /* of the guest memory */
    uint32_t width, height, format, pitch;
    bool buffer, imported, noted, noted_write, pinned, pinned_write;
    struct umd_resource *next;
};

struct umd_params {
    const char *display;       /* NULL: the first */
    uint32_t dma_buffer_bytes; /* longest stream of one submission, 0 for the driver's default */
};

struct umd_stats {
    uint64_t submissions, splits, presents, bytes;
    uint64_t slowest_ns; /* longest time of a submission at the GPU, as far as it was seen */
};

NTSTATUS umd_open(struct umd_device **out, const struct umd_params *params);
/* Takes every resource with it. NULL is legal. */
void umd_close(struct umd_device *d);

/* The handles behind the device, its private answer of the driver, and what it counted; all live as long as it does. */
D3DKMT_HANDLE umd_adapter(const struct umd_device *d);
D3DKMT_HANDLE umd_kmt_device(const struct umd_device *d);
D3DKMT_HANDLE umd_context(const struct umd_device *d);
const struct aerogpu_umd_private *umd_private(const struct umd_device *d);
const struct umd_stats *umd_stats(const struct umd_device *d);

/* The stream under construction. */
struct abi_builder *umd_stream(struct umd_device *d);
/* A fresh name for a shader, layout, sampler or view. */
uint32_t umd_name(struct umd_device *d);
/* This submission reads `r`, or writes its guest memory. Resources without guest memory may be given. */
void umd_use(struct umd_resource *r, bool write);
/* Every submission from now on does, until umd_unpin: for what is bound. */
void umd_pin(struct umd_resource *r, bool write);
void umd_unpin(struct umd_resource *r);

/* Submits what is in the stream, if anything. `fence` (NULL is legal) gets the context's packet number. */
NTSTATUS umd_flush(struct umd_device *d, uint64_t *fence);
/* Notes `work` units in the stream, and submits it if they have become as many as the GPU does in UMD_SPLIT_MS. The caller
 * says what a unit is, and notes before it goes on: what lies between two calls is not cut. */
NTSTATUS umd_split(struct umd_device *d, uint64_t work);
/* Where time comes from, for every device; NULL: CLOCK_MONOTONIC. */
void umd_use_clock(const struct clock *clock);
NTSTATUS umd_wait(struct umd_device *d, uint64_t fence, int timeout_ms);
/* Flushes and waits for everything. */
NTSTATUS umd_finish(struct umd_device *d, int timeout_ms);
uint64_t umd_completed(const struct umd_device *d);
bool umd_removed(const struct umd_device *d);

/* ---- resources (resource.c) ---------------------------------------------- */

struct umd_texture_params {
    uint32_t width, height, format; /* AEROGPU_FORMAT_*, 8888 formats if `guest` */
    uint32_t usage;                 /* AEROGPU_RESOURCE_USAGE_* */
    bool guest;                     /* with guest memory behind it, that the CPU can map */
    bool shared;                    /* another process may open it; implies guest */
    bool primary;                   /* can be scanned out; implies guest; source 0 */
};
NTSTATUS umd_texture(struct umd_device *d, struct umd_resource **out, const struct umd_texture_params *p);
/* `data` may be NULL; size in bytes, rounded up to 4. */
NTSTATUS umd_buffer(struct umd_device *d, struct umd_resource **out, uint32_t usage, const void *data,
                    uint32_t size, bool guest);
/* Opens a surface that another process shared. */
NTSTATUS umd_open_shared(struct umd_device *d, struct umd_resource **out, D3DKMT_HANDLE global_share);
void umd_destroy(struct umd_resource *r);

/* Guest memory of a resource; waits until the GPU is done with it, unless `now`. */
NTSTATUS umd_map(struct umd_resource *r, void **data, bool now);
void umd_unmap(struct umd_resource *r);
/* The CPU wrote [offset, offset + size) of a guest-backed resource. */
void umd_dirty(struct umd_resource *r, uint64_t offset, uint64_t size);
/* Copies texture `src` into `dst`, which has guest memory, and writes it back there. */
void umd_copy_texture(struct umd_resource *dst, struct umd_resource *src);
void umd_copy_buffer(struct umd_resource *dst, struct umd_resource *src, uint32_t size);
/* The pixels of a texture, read back through a staging surface: width * height words of 0xAARRGGBB, free() them. */
NTSTATUS umd_read(struct umd_resource *src, uint32_t **pixels, int timeout_ms);

/* ---- state and work (state.c) -------------------------------------------- */

NTSTATUS umd_shader(struct umd_device *d, uint32_t *out, uint32_t stage, const void *dxbc, size_t size);
/* An input layout on slot 0, elements of floats in a row: "POSITION:4 COLOR:4". */
uint32_t umd_layout(struct umd_device *d, const char *spec);
void umd_bind_shaders(struct umd_device *d, uint32_t vs, uint32_t ps, uint32_t cs);
/* Colour target and viewport; NULL: none. */
void umd_target(struct umd_device *d, struct umd_resource *colour);
void umd_clear(struct umd_device *d, float r, float g, float b, float a);
void umd_vertices(struct umd_device *d, struct umd_resource *buffer, uint32_t stride);
void umd_constants(struct umd_device *d, uint32_t stage, struct umd_resource *buffer, uint32_t size);
void umd_draw(struct umd_device *d, uint32_t vertices);
void umd_dispatch(struct umd_device *d, struct umd_resource *uav, uint32_t x, uint32_t y, uint32_t z);

/* ---- presenting (present.c) ---------------------------------------------- */

/* A chain of primaries of the display's current mode; render to `target`, then umd_present. */
struct umd_swapchain {
    struct umd_device *device;
    struct umd_resource *target, *primary[UMD_PRIMARIES];
    unsigned next;
    uint32_t width, height;
};
NTSTATUS umd_swapchain(struct umd_device *d, struct umd_swapchain *s);
void umd_swapchain_finish(struct umd_swapchain *s);
/* Shows the target after `interval` vblanks (0 to 4; 0: at once). Waits while too many are queued. */
NTSTATUS umd_present(struct umd_swapchain *s, unsigned interval, uint64_t *fence);

/* ---- queries and events (present.c) -------------------------------------- */

struct umd_query {
    struct umd_device *device;
    uint64_t fence; /* 0: not issued */
};
/* Done when everything before it is. Flushes. */
NTSTATUS umd_query_issue(struct umd_device *d, struct umd_query *q);
/* STATUS_SUCCESS: done; STATUS_PENDING: not yet; never waits. */
NTSTATUS umd_query_get(const struct umd_query *q);
/* An eventfd is signalled when everything before it is done. Flushes. */
NTSTATUS umd_signal_event(struct umd_device *d, int eventfd);

/* Escapes the adapter: `block` starts with struct aerogpu_escape_header, which is filled in. */
NTSTATUS umd_escape(D3DKMT_HANDLE adapter, uint32_t op, void *block, uint32_t size);
/* STATUS_* as text, "0x…" for others. */
const char *umd_status_name(NTSTATUS status, char buffer[16]);
