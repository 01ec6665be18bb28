/* SPDX-License-Identifier: MIT */
/* vidmm.h: allocations, segments, budgets and residency.
 *
 *   created ──dxgk_vidmm_make_resident──▶ in a segment ──evict──▶ in system memory ──dxgk_vidmm_make_resident──▶ in a segment ...
 *
 * Invariants:
 *  1. An allocation always has backing pages. In an aperture segment they are what the GPU sees (mapped by a paging
 *     operation); in a memory segment the content is in the segment, and is moved back when it is evicted.
 *  2. Nothing that a packet at the device uses, that is scanned out or locked is evicted.
 *  3. The allocations committed to a segment never exceed its CommitLimit, and the resident ones never its size.
 *  4. Resident allocations of a segment do not overlap.
 *
 * DMA buffers of contexts that want them in an aperture are allocations of dxgkrnl's own, of no driver's handle, which count against no
 * budget: who needs the room gets it as soon as no packet uses them.
 */
#pragma once

#include "dxgkrnl/packet.h"

enum { MAX_SEGMENTS = 31 }; /* what 5 bits can say, and 0 is none */

struct alloc {
    struct alloc *next, **at;    /* of all; `at` points to it */
    struct alloc *lower, *upper; /* its neighbours in the segment */
    struct resource *resource;
    HANDLE driver;
    UINT size;
    UINT read_set, write_set, preferred;
    DXGK_ALLOCATIONINFOFLAGS flags;
    struct physmem backing;
    unsigned commit;  /* the segment whose budget it counts against; 0: none */
    unsigned segment; /* 1-based; 0: not resident */
    uint64_t offset;  /* in the segment */
    UINT alignment;   /* of its offset there; 0: any */
    bool fresh;       /* never was resident */
    unsigned busy;    /* packets queued or running that use it */
    unsigned pins;    /* being scanned out, or locked in place */
    UINT priority;    /* D3DDDI_ALLOCATIONPRIORITY_*: of several the least is evicted first */
    uint64_t last_used;
    void *priv;
    UINT priv_size;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID source;
    MDL *mdl;
};

struct resource {
    HANDLE driver;
    unsigned refs; /* devices that opened it */
    D3DKMT_HANDLE share;
    struct alloc **allocs;
    HANDLE *handles; /* room for those of all, so that destroying needs no memory */
    unsigned count;
    void *priv, *runtime;
    UINT priv_size, runtime_size;
    uint64_t owner;   /* of its memory: a client, or this resource alone; 0: the system */
    uint64_t user;    /* a stranger's whose share it counts against (dxgk_offender_user); 0: nobody's */
    bool is_resource; /* made with CreateResource */
};

/* An allocation as one device sees it. */
struct open_alloc {
    struct open_alloc *next, **at; /* of the device's */
    struct open_alloc *next_of_group;
    struct device *device;
    struct open_resource *group;
    struct alloc *alloc;
    HANDLE driver; /* hDeviceSpecificAllocation */
    D3DKMT_HANDLE handle;
    unsigned locks;
};

struct open_resource {
    struct open_resource *next;
    struct device *device;
    struct resource *resource;
    D3DKMT_HANDLE handle; /* 0 when made without CreateResource */
    HANDLE *handles;      /* room for those of all */
    bool doomed;          /* destroyed by its client, as soon as no work of the device names it */
    struct open_alloc *allocs;
};

struct segment {
    DXGK_SEGMENTDESCRIPTOR desc;
    uint64_t committed, resident, evicted;
    unsigned commits, residents;
    struct alloc *first, *rover; /* residents by offset; behind whom room was found last */
};

struct vidmm {
    struct segment segments[MAX_SEGMENTS];
    unsigned num_segments;
    struct alloc *allocs;
    struct resource dma;                                   /* of all DMA buffers in apertures */
    struct context *context;                               /* the system's: paging */
    UINT paging_size, paging_segment, paging_private_size; /* as the miniport asks for */
    void (*forget)(struct dxgk *d,
                   struct alloc *a); /* one is about to be destroyed: the display lets go of it */
    unsigned doomed;                 /* resources that are */
    uint64_t refused_bytes;          /* the allocation that no segment's budget had room for */
    uint64_t uses;                   /* counts up: what was used last has the highest */
    uint64_t created, destroyed, locks;
};

NTSTATUS dxgk_vidmm_start(struct dxgk *d);
/* telemetry/segments.h */
NTSTATUS dxgk_vidmm_segments(const struct dxgk *d, void *data, size_t size);
/* The miniport's CreateAllocation and what follows; on success the resource has one reference. */
NTSTATUS dxgk_vidmm_create(struct dxgk *d, struct resource *r, const void *priv, UINT priv_size,
                           D3DDDI_ALLOCATIONINFO *infos, unsigned count);
NTSTATUS dxgk_vidmm_open(struct device *dev, struct resource *r, bool create, struct open_resource **out,
                         struct open_alloc **opens);
/* At once; no work of the device may name it. */
void dxgk_vidmm_close(struct open_resource *g);
/* Its handles go at once, the rest as soon as no work of the device names it. */
void dxgk_vidmm_doom(struct open_resource *g);
/* The budget is too small: an event, once a second. */
void dxgk_vidmm_log_refusal(struct dxgk *d, struct dxgk_client *c);
/* At PASSIVE_LEVEL: closes the doomed that can be. */
void dxgk_vidmm_reap(struct dxgk *d);
/* Drops one reference. */
void dxgk_vidmm_release(struct dxgk *d, struct resource *r);
/* Puts `a` into one of the segments of `set`; may evict, page and wait. */
NTSTATUS dxgk_vidmm_make_resident(struct dxgk *d, struct alloc *a, UINT set);
PHYSICAL_ADDRESS dxgk_vidmm_address(struct dxgk *d, const struct alloc *a);
/* After a reset: nothing is resident. */
void dxgk_vidmm_forget(struct dxgk *d);
NTSTATUS dxgk_vidmm_create_standard(struct dxgk *d, D3DKMDT_STANDARDALLOCATION_TYPE type, void *data,
                                    struct alloc **out);
void dxgk_vidmm_destroy_standard(struct dxgk *d, struct alloc *a);
/* A DMA buffer for the apertures of `set`; NULL without memory. It goes at PASSIVE_LEVEL if it is resident, else at any. */
struct alloc *dxgk_vidmm_create_dma(struct dxgk *d, UINT size, UINT set);
void dxgk_vidmm_destroy_dma(struct dxgk *d, struct alloc *a);

/* paging.c: moves `a` into its segment, or out of it, and waits for that. */
NTSTATUS dxgk_paging_move(struct dxgk *d, const struct segment *seg, struct alloc *a, bool in);
