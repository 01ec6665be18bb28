/* SPDX-License-Identifier: MIT */
/* driver.h: a small driver for the device of a machine, for programs that want to submit work: tests, benchmarks, samples.
 * It reaches the device through configuration space, registers, guest memory and interrupts only, as any driver does.
 * What every driver does to bring the device up is here in parts, too (driver_probe, driver_ring): the stack's bus and the
 * player, a driver of its own because recordings say where guest memory is, take those.
 *
 *   driver_create ──▶ driver_set_mode ──▶ driver_alloc, driver_submit … driver_wait ──▶ driver_destroy
 *
 * Invariants:
 *  1. One thread calls these functions; the callbacks of driver_params come on the machine's interrupt thread
 *     or, when driver_wait finds an interrupt missing, on the calling one, one at a time.
 *  2. Fences that the driver chooses only go up, over ring resets too.
 *  3. driver_wait needs the interrupt to be quick and not to be right: it looks at the fence page itself
 *     after WATCHDOG_NS without one, and rings the doorbell again if the device has not read all that is in the ring.
 *  4. The ring holds no more than its entries, and no more is in flight than IN_FLIGHT.
 */
#pragma once

#include "aerogpu/ring.h"
#include "machine/machine.h"

/* ---- the parts of bringing a device up ----------------------------------- */

enum { DRIVER_MSI_DATA = 0x40 };

/* Memory decoding and bus mastering on; the function's MSI, if it has one and `msi` says so, in place of INTx. */
void driver_enable(struct machine *m, bool msi);
/* The same, and whether it is an AeroGPU of our major ABI: else -ENODEV. */
int driver_probe(struct machine *m, bool msi, struct error *e);

/* A ring and a fence page in guest memory, of which the device knows. */
struct driver_ring {
    struct machine *machine;
    struct aerogpu_ring_header *header;
    struct aerogpu_submit_desc *slots;
    struct aerogpu_fence_page *fence_page;
    uint32_t entries; /* a power of two */
};

/* Bytes that a ring of so many entries takes. */
uint32_t driver_ring_bytes(uint32_t entries);
/* Lays both out, on pages of their own, shows them to the device and resets it. No interrupt is enabled. */
void driver_ring_init(struct driver_ring *r, struct machine *m, uint64_t ring_gpa, uint64_t fence_gpa,
                      uint32_t entries);
/* Puts a descriptor into the ring, with its size filled in; the doorbell comes after it. False: it is full. */
bool driver_ring_put(struct driver_ring *r, const struct aerogpu_submit_desc *d);
void driver_ring_doorbell(struct driver_ring *r);
/* Whether the device has read all that was put, streams and tables too. */
bool driver_ring_empty(const struct driver_ring *r);
/* COMPLETED_FENCE, as the fence page has it. */
uint64_t driver_ring_completed(const struct driver_ring *r);

/* ---- the driver ---------------------------------------------------------- */

struct driver;

struct driver_params {
    struct machine *machine;
    uint32_t ring_entries; /* a power of two; 0 for 256 */
    bool intx;             /* use INTx instead of MSI */
    /* Submission with `fence` has completed. */
    void (*on_fence)(void *ctx, uint64_t fence, uint64_t submitted_ns, uint64_t completed_ns);
    /* Vblank number `seq` of `time_ns` was seen at `seen_ns`. */
    void (*on_vblank)(void *ctx, uint64_t seq, uint64_t time_ns, uint64_t seen_ns);
    /* The error latch has a new entry; `count` is ERROR_COUNT. */
    void (*on_error)(void *ctx, uint32_t code, uint64_t fence, uint32_t count);
    void *ctx;
};

/* Finds the device, switches it on, sets up ring, fence page and interrupt. -ENODEV (no AeroGPU, or another
 * major ABI), -ENOMEM. */
int driver_create(struct driver **out, const struct driver_params *p, struct error *e);
/* Resets the ring and switches the device off. */
void driver_destroy(struct driver *d);

/* Guest memory: 0 if there is none left. Contents of fresh memory are undefined. `align`: a power of two, at
 * least 64 is used. */
uint64_t driver_alloc(struct driver *d, uint64_t size, uint64_t align);
void driver_free(struct driver *d, uint64_t gpa); /* 0 is legal */
void *driver_ptr(struct driver *d, uint64_t gpa);
uint64_t driver_free_bytes(const struct driver *d);

/* Scanout of width x height in a fresh frame buffer (the old one is freed). 0, -ENOMEM, -EINVAL. */
int driver_set_mode(struct driver *d, uint32_t width, uint32_t height, uint32_t format);
/* The same with a frame buffer of the caller's. */
void driver_set_scanout(struct driver *d, uint64_t fb_gpa, uint32_t width, uint32_t height, uint32_t format,
                        uint32_t pitch);
void driver_disable_scanout(struct driver *d);
uint64_t driver_frame_buffer(const struct driver *d);

struct driver_submission {
    uint64_t cmd_gpa, alloc_gpa;
    uint32_t cmd_size, alloc_size;
    uint32_t flags; /* AEROGPU_SUBMIT_FLAG_* */
    uint32_t context_id;
    uint64_t fence; /* 0: the driver chooses the next */
};

/* Puts it into the ring and rings. 0 with the fence in `*fence` (NULL is legal); -EAGAIN: the ring is full.
 */
int driver_submit(struct driver *d, const struct driver_submission *s, uint64_t *fence);

uint64_t driver_completed(const struct driver *d); /* as of the last interrupt */
/* 0 or -ETIMEDOUT. */
int driver_wait(struct driver *d, uint64_t fence, uint64_t timeout_ns);
/* Everything submitted so far. */
int driver_wait_idle(struct driver *d, uint64_t timeout_ns);

/* Ring reset: what is pending is dropped. The device counts completed fences from 0 again. */
void driver_reset(struct driver *d);

struct driver_stats {
    uint64_t submissions, interrupts, spurious_interrupts, vblanks, errors;
    uint64_t missed_interrupts; /* found by looking */
    uint64_t doorbells_again;
    uint32_t last_error_code;
    uint64_t last_error_fence;
};
void driver_get_stats(struct driver *d, struct driver_stats *out);
