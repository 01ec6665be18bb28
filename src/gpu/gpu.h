/* SPDX-License-Identifier: MIT */
/* gpu.h: the AeroGPU device: PCI configuration space, registers, ring, fences, vblank, scanout, cursor, error latch.
 *
 *   host ──config/BAR accesses, gpu_timer──▶ gpu ──submission──▶ backend (backend.h)
 *   host ◀──dma_map, irq, arm_timer──────── gpu ◀──completion── backend
 *
 * The device is a library: it starts no thread, never waits and reads time from its clock only.
 *
 * Invariants:
 *  1. Every function here may be called from any thread at any time, also from inside `irq`.
 *  2. Fences are signalled in the order of the ring; COMPLETED_FENCE never goes back except to 0 by a ring reset.
 *  3. Each descriptor that the device took from the ring is retired exactly once: signalled, with the error
 *     latch written just before if it failed, or dropped by a reset.
 *  4. Vblanks are due every period while scanout is on, whatever the backend does. All that are due have
 *     happened before an access or completion takes effect: nothing that arrives after a vblank's time is counted into it.
 *  5. A submission with a vsynced present is retired by a vblank that came after its execution, one per vblank.
 *  6. With bus mastering off the device reads and writes no guest memory and sends no MSI; it catches up when
 *     it is switched on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error_type.h"
#include "base/public.h"
#include "gpu/backend.h"
#include "gpu/observer.h"

PUBLIC_BEGIN

enum gpu_interrupt_kind {
    GPU_INTX, /* the INTA# level changed to `level` */
    GPU_MSI,  /* write `data` to `address` */
};

struct gpu_interrupt {
    enum gpu_interrupt_kind kind;
    bool level;
    uint64_t address;
    uint32_t data;
};

struct gpu_host_ops {
    /* The host's view of guest memory [gpa, gpa + size), size > 0; NULL if any byte of it is not memory. The
     * pointer is used until the call into the device returns. Called with the lock held: must not call the device. */
    void *(*dma_map)(void *ctx, uint64_t gpa, uint64_t size);
    /* Raises an interrupt. Called without the lock, by one thread at a time and in order, from whatever
     * thread caused it; may call the device. */
    void (*irq)(void *ctx, const struct gpu_interrupt *irq);
    /* Asks for gpu_timer() at `deadline_ns` of the clock, replacing the last request; GPU_NEVER cancels it.
     * Called with the lock held: must not call the device. */
    void (*arm_timer)(void *ctx, uint64_t deadline_ns);
};

#define GPU_NEVER UINT64_MAX

struct gpu_params {
    const struct gpu_host_ops *host;
    void *host_ctx;
    const struct gpu_backend_ops *backend;
    void *backend_ctx;
    const struct clock *clock; /* outlives the device */
    /* Nanoseconds between two vblanks; 0 for 60 Hz. */
    uint32_t vblank_period_ns;
    /* AEROGPU_FEATURE_* and AEROGPU_EXT_FEATURE() to leave out. Without VBLANK nothing ticks and presents are not paced. */
    uint64_t without_features;
};

/* 0, -EINVAL (a callback or the clock is missing), -ENOMEM. The device comes up with memory decoding and bus
 * mastering off, as after a PCI reset. */
int gpu_create(struct gpu **out, const struct gpu_params *p);
/* No other call may be running. Submissions in flight are forgotten. */
void gpu_destroy(struct gpu *gpu);

/* PCI reset: everything except VRAM is as after gpu_create. */
void gpu_reset(struct gpu *gpu);

/* The timer asked for with arm_timer is due. Calling it early or late is harmless. */
void gpu_timer(struct gpu *gpu);

/* Whether INTA# is asserted now. */
bool gpu_intx(struct gpu *gpu);

/* ---- PCI configuration space --------------------------------------------- */

/* 256 bytes, accesses of 1, 2 and 4 bytes that do not cross a dword. */
uint32_t gpu_config_read(struct gpu *gpu, uint32_t offset, uint32_t size);
void gpu_config_write(struct gpu *gpu, uint32_t offset, uint32_t size, uint32_t value);

/* Where the guest put a BAR (0 or 1); 0 until it did. */
uint64_t gpu_bar_address(struct gpu *gpu, unsigned bar);

/* ---- BARs ---------------------------------------------------------------- */

/* Offsets into the BAR; accesses of 1, 2, 4 and 8 bytes. Any other access, one past the end, and any with memory decoding off
 * reads as ones and writes nothing. */
uint64_t gpu_bar_read(struct gpu *gpu, unsigned bar, uint64_t offset, uint32_t size);
void gpu_bar_write(struct gpu *gpu, unsigned bar, uint64_t offset, uint32_t size, uint64_t value);

/* BAR1's memory, AEROGPU_BAR1_SIZE bytes, and the memfd behind it, both the device's. Pages exist once touched. */
uint8_t *gpu_vram(struct gpu *gpu);
int gpu_vram_fd(struct gpu *gpu);

/* ---- what the scanout shows ---------------------------------------------- */

struct gpu_picture {
    uint32_t width, height;
    uint8_t *rgba; /* tight RGBA8 rows, top-down; the caller's to free() */
};

enum gpu_picture_flags {
    GPU_PICTURE_CURSOR = 1u << 0, /* with the cursor, if it is on, blended over it */
};

/* 0; -ENODATA scanout is off; -EACCES bus mastering is off; -EINVAL registers do not describe a picture;
 * -EFBIG more than 64 MiB; -EFAULT it is not in guest memory or VRAM; -ENOMEM. A cursor that cannot be read
 * is an error as well. */
int gpu_read_scanout(struct gpu *gpu, uint32_t flags, struct gpu_picture *out, struct error *e);

/* The cursor image alone; same errors. */
int gpu_read_cursor(struct gpu *gpu, struct gpu_picture *out, struct error *e);

/* ---- counters since gpu_create ------------------------------------------- */

struct gpu_stats {
    uint64_t doorbells;
    uint64_t submissions; /* descriptors taken from the ring, malformed ones too */
    uint64_t completions; /* from the backend */
    uint64_t retired;
    uint64_t presents, vsynced_presents;
    uint64_t packets, draws;
    uint64_t vblanks;
    uint64_t interrupts; /* rising INTx edges and MSIs */
    uint64_t errors;     /* latched */
    uint64_t ring_resets;
    uint32_t pending;       /* taken and not retired */
    char last_error[240];   /* sentence of the last latched error, "" for none */
    uint64_t fault_address; /* of the last completion with a page fault, if has_fault */
    bool has_fault;
};

/* A copy of what the device has counted. */
void gpu_get_stats(struct gpu *gpu, struct gpu_stats *out);

PUBLIC_END
