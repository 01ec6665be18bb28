/* SPDX-License-Identifier: MIT */
/* gpu_rig.h: a device on a bench: 2 MiB of guest memory, a clock that is moved by hand, and a backend that
 * completes what the test tells it to. Tests poke registers and memory as a driver would and look at nothing else.
 */
#pragma once

#include "test.h"

#include "aerogpu/ext.h"
#include "aerogpu/pci.h"
#include "aerogpu/ring.h"
#include "gpu/gpu.h"

enum {
    RIG_RAM = 2 << 20,
    RIG_RING = 0x100000,
    RIG_RING_SIZE = 0x81000,
    RIG_FENCE_PAGE = 0x8000,
    RIG_FB = 0x10000,
    RIG_CURSOR_FB = 0x90000,
    RIG_CMD = 0xA0000,
    RIG_PERIOD = 1000000,
    RIG_CMD_MEM = 0x2,
    RIG_CMD_MASTER = 0x4,
    RIG_CMD_INTX_OFF = 0x400,
    RIG_MSI = 0x50,
};

struct rig {
    struct gpu *gpu;
    struct clock clock;
    uint8_t *ram;
    uint64_t armed;
    uint32_t maps; /* dma_map calls */
    bool level;
    uint32_t rises, msis;
    uint64_t msi_address;
    uint32_t msi_data;
    void (*on_irq)(struct rig *r);
    /* the backend */
    struct abi_submission subs[8192];
    uint32_t count, resets, room;
    int refuse;     /* what submit returns, 0 to take */
    uint64_t full;  /* bit n: no room for client n */
    bool immediate; /* complete inside submit */
    uint32_t next_tail;
};

/* A device that nobody has touched: memory decoding and bus mastering are off. */
struct rig *rig_new(uint64_t without_features);
void rig_free(struct rig *r);
/* The same with decoding and mastering on. */
struct rig *rig_on(uint64_t without_features);

uint32_t rig_read(struct rig *r, uint32_t reg);
uint64_t rig_read64(struct rig *r, uint32_t reg);
void rig_write(struct rig *r, uint32_t reg, uint32_t v);
void rig_write64(struct rig *r, uint32_t reg, uint64_t v);
void rig_command(struct rig *r, uint32_t command);
void rig_msi_on(struct rig *r, uint64_t address, uint32_t data);

/* A ring of `count` entries at RIG_RING, programmed, enabled; the fence page as well. */
void rig_ring(struct rig *r, uint32_t count);
void rig_ring_engines(struct rig *r); /* the same ring, reset into one with EXT_ENGINES */
struct aerogpu_ring_header *rig_header(struct rig *r);
struct aerogpu_fence_page *rig_fence_page(struct rig *r);
struct aerogpu_submit_desc *rig_slot(struct rig *r, uint32_t index);
/* Fills the next slot with an empty submission and moves the tail; no doorbell. */
struct aerogpu_submit_desc *rig_push(struct rig *r, uint64_t fence, uint32_t flags);
/* The same for an engine and a client. */
struct aerogpu_submit_desc *rig_push_to(struct rig *r, uint32_t engine, uint32_t client, uint64_t fence);
void rig_kick(struct rig *r);
void rig_submit(struct rig *r, uint64_t fence); /* push and kick */
/* The backend completes the n-th submission that it was given. */
void rig_done(struct rig *r, uint32_t n, uint32_t flags, uint32_t error);
uint64_t rig_completed(struct rig *r);

void rig_scanout(struct rig *r, uint32_t width, uint32_t height, uint32_t format, uint32_t pitch);
/* Time passes; the timer fires if its time came. */
void rig_advance(struct rig *r, uint64_t ns);
/* Time passes, and the host is too busy to fire the timer. */
void rig_advance_late(struct rig *r, uint64_t ns);

/* Set-up of a test on a ring of 8 with fence and error interrupts on, and tear-down of any test. */
int rig_ring_setup(void **state);
int rig_teardown(void **state);
/* The error latch holds exactly this, and the message has these words. */
void rig_assert_error(struct rig *r, uint32_t code, uint64_t fence, uint32_t count, const char *words);
void rig_assert_no_error(struct rig *r);
