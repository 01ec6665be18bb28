/* SPDX-License-Identifier: MIT */
/* device.h: the toy GPU as a PCI function that dxgkrnl drives through a dxgk_bus. */
#pragma once

#include <pthread.h>

#include "dxgkrnl/dxgkrnl.h"
#include "protocol.h"

enum { SOFTGPU_QUEUE = 256, SOFTGPU_BLOCKS = 4096 };

struct softgpu {
    struct dxgk_bus bus;
    struct dxgk *dxgk; /* whom to interrupt; set by the test */
    struct clock *clock;
    struct loop *loop; /* sim */
    struct loop_timer timer;
    pthread_t thread; /* live */
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool stop, raise;

    uint32_t irq_status, irq_enable, completed, faulted, scan, scan_now, scan_enable;
    uint32_t cmd_lo, cmd_hi, cmd_size, cmd_aperture;
    struct softgpu_job {
        uint64_t address;
        uint32_t size, fence, at, aperture;
    } queue[SOFTGPU_QUEUE];
    unsigned head, count;
    bool hung;
    uint64_t busy_until, next_vblank;
    uint32_t gart[SOFTGPU_PAGES]; /* physical page numbers */

    struct softgpu_block {
        void *va;
        uint64_t pa;
        size_t size;
        int fd;
    } blocks[SOFTGPU_BLOCKS];
    uint64_t next_pa, allocated;

    /* faults */
    unsigned lose_interrupts;         /* so many completions raise none */
    uint64_t executed, from_aperture; /* commands; of these, from the aperture */
};

/* `loop` as in dxgk_params. */
int softgpu_init(struct softgpu *g, struct clock *clock, struct loop *loop);
/* No interrupt comes any more: before dxgk_destroy. softgpu_finish does it too. */
void softgpu_stop(struct softgpu *g);
void softgpu_finish(struct softgpu *g);
