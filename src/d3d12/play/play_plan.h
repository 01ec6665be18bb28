/* SPDX-License-Identifier: MIT */
/* play_plan.h: what a player knows of all of a recording before it makes the first call.
 *
 * 1. Where argument buffers of ExecuteIndirect hold GPU addresses. Command signatures say at which offsets of a command;
 *    copies between buffers, and other resources at the same place of a heap, lead back to the memory that the program
 *    wrote. Bytes written there are translated: the recorded address of a resource becomes its address here.
 * 2. Which resources are placed in which heap. Where this device needs more room for one, or another alignment, all that
 *    stands behind it moves; what shared memory shares it still.
 *
 * Only recordings that have such signatures or heaps are read twice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/trace_file.h"
#include "d3d12_api.h"

struct player;

/* Addresses, eight bytes each, at base + i * stride of a buffer. */
struct plan_slots {
    uint64_t resource, base, stride, count; /* no padding: they are compared as bytes */
};

struct plan_place { /* a resource in a heap */
    uint32_t heap, resource;
    uint64_t offset, known, known_align; /* what it needed when it was recorded; 0: unknown */
    uint64_t size, align;                /* what it needs on this device */
    uint64_t at;                         /* its offset on this device */
    D3D12_RESOURCE_DESC desc;
};

struct plan_patch { /* a buffer in which addresses are translated */
    uint32_t resource;
    size_t first, num; /* in `slots` */
    uint8_t *recorded; /* what the recording says that it holds; NULL: nothing was written yet */
    uint64_t size;
};

struct plan_address { /* a resource that was asked for its address */
    uint64_t start, size, now;
};

struct play_plan {
    struct plan_slots *slots; /* by resource */
    size_t num_slots;
    struct plan_patch *patches; /* by resource */
    size_t num_patches;
    struct plan_place *places; /* by heap, then offset */
    size_t num_places;
    struct plan_address *addresses; /* by start, apart */
    size_t num_addresses, room_addresses;
    bool failed; /* there was no memory for an address or for bytes: what is played would be wrong */
};

/* 0 or -ENOMEM. What is wrong in the recording is left to be found by playing it. */
int plan_make(struct play_plan *plan, struct trc *t);
void plan_finish(struct play_plan *plan);

/* play_address.c */
struct plan_patch *plan_patch(struct play_plan *plan, uint32_t resource);
/* The resource's address is `recorded` in the recording, and `now` on this device. */
void plan_address_add(struct player *p, uint64_t recorded, uint64_t size, uint64_t now);
/* The program wrote these bytes; `map` is the buffer's memory, of `size` bytes. */
void plan_write(struct play_plan *plan, struct plan_patch *x, uint8_t *map, uint64_t size, uint64_t offset,
                const void *bytes, size_t n);
/* All of a buffer's bytes, from recorded to what they are here; or, with `back`, the other way round. */
void plan_contents(struct play_plan *plan, struct plan_patch *x, uint8_t *bytes, size_t n, bool back);
