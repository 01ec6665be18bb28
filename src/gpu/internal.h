/* SPDX-License-Identifier: MIT */
/* internal.h: the device's state, shared by the files of this folder and nobody else.
 *
 * gpu->lock protects everything. It is recursive so that a backend may complete inside submit; the work that
 * such a completion causes is left to the outermost gpu_unlock. Interrupts are handed out by gpu_unlock too,
 * after the lock is given up: `out` collects them, one thread at a time (`delivering`) hands them out in order.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "aerogpu/ext.h"
#include "aerogpu/pci.h"
#include "aerogpu/ring.h"
#include "base/check.h"
#include "base/log.h"
#include "gpu/backend.h"
#include "gpu/gpu.h"

enum gpu_entry_state {
    GPU_ENTRY_QUEUED,    /* not yet taken by the backend */
    GPU_ENTRY_IN_FLIGHT, /* with the backend */
    GPU_ENTRY_DONE,      /* executed, or malformed */
};

/* One descriptor taken from the ring, until it is retired. */
struct gpu_entry {
    struct abi_submission sub;
    enum gpu_entry_state state;
    bool used;
    uint8_t engine;         /* whose time line it is on */
    uint32_t next, waiting; /* the slot behind it on its time line; and among the QUEUED */
    bool wants_irq;         /* it, or one before it with the same fence, did not say NO_IRQ */
    bool wants_vblank;
    uint32_t error;
    enum abi_cause cause;
    char message[196];
};

/* A list of slots; GPU_QUEUE_MAX: none. */
struct gpu_list {
    uint32_t first, last;
};

/* What was taken from the ring. An id is at slot (id - base) % GPU_QUEUE_MAX. */
struct gpu_queue {
    struct gpu_entry entries[GPU_QUEUE_MAX];
    uint32_t count;
    uint64_t base, next_id;
    struct gpu_list lines[AEROGPU_EXT_ENGINES]; /* the fence time lines, in ring order */
    struct gpu_list waiting;                    /* QUEUED, in ring order */
    uint64_t active;                            /* bit n: line n has entries */
};

/* A LO/HI pair of which LO waits for HI. */
struct gpu_gpa_reg {
    uint64_t value;
    uint32_t pending_lo;
    bool has_pending;
};

struct gpu_plane_regs { /* scanout or cursor */
    bool enable;
    uint32_t width, height, format, pitch;
    struct gpu_gpa_reg fb;
    uint32_t x, y, hot_x, hot_y; /* cursor only */
};

struct gpu_config_space {
    uint16_t command;
    uint8_t interrupt_line;
    _Atomic uint32_t bar[2]; /* address bits; read without the lock by gpu_bar_address */
    uint16_t msi_control;
    uint64_t msi_address;
    uint16_t msi_data;
};

struct gpu {
    pthread_mutex_t lock;
    uint32_t depth; /* of the recursive lock */
    struct gpu_params params;
    uint64_t features;
    struct gpu_config_space config;

    /* registers */
    uint64_t ring_gpa, fence_gpa;
    uint64_t completed[AEROGPU_EXT_ENGINES]; /* [0] is COMPLETED_FENCE */
    uint32_t ring_size;
    bool ring_enabled;
    bool engines; /* the ring has EXT_ENGINES; else all is engine 0's */
    uint32_t irq_status, irq_enable;
    uint32_t error_code, error_count;
    uint64_t error_fence;
    uint64_t error_fences[AEROGPU_EXT_ERRORS];
    struct gpu_plane_regs scanout, cursor;

    /* vblank clock: next_vblank is GPU_NEVER while it stands */
    uint64_t vblank_seq, vblank_time, next_vblank, armed;
    uint64_t in_vblank; /* bit n: one vsynced present of time line n may be retired now */

    /* work that waits for bus mastering, the backend or the outermost unlock */
    bool doorbell_pending, reset_dma_pending, retire_pending;
    bool ring_stalled; /* the queue is full: look at the ring again when something retires */
    /* The newest `owed` entries of the queue still have their slots in the ring, which end at `ring_next`: the head moves
     * past a slot when its stream and table have been read, since a driver may use that memory again then. With engines none
     * is owed. */
    uint32_t ring_next, owed;
    bool fence_page_bad;
    uint64_t resets; /* of the ring and of the device */
    struct gpu_queue queue;

    struct { /* as gpu_check saw them last: they only grow, but for a reset */
        uint64_t completed_fence, vblank_seq, next_id, resets;
    } seen;

    /* interrupts to hand out */
    struct {
        bool intx;           /* level that the host has been told, or is being told */
        bool intx_fell;      /* the line has been low since it was told that it is high */
        uint32_t msi_raised; /* pending bits for which an MSI went out */
        uint32_t msi_count;  /* MSIs to send */
        bool delivering;
    } out;

    uint8_t *vram;
    int vram_fd;
    struct gpu_observer *observers;
    struct gpu_stats stats;
};

static inline bool gpu_bus_master(const struct gpu *gpu)
{
    return gpu->config.command & 0x4;
}

/* gpu.c */
void gpu_lock(struct gpu *gpu);                     /* and lets vblanks that are due happen */
void gpu_unlock(struct gpu *gpu);                   /* and does what is left to the outermost */
void gpu_emit(struct gpu *gpu, struct gpu_event e); /* fills in time_ns unless it is a vblank */
/* dma_map, with BAR1 where the guest put it; NULL if bus mastering is off, the range wraps or is not memory.
 */
void *gpu_map(struct gpu *gpu, uint64_t gpa, uint64_t size);
void gpu_latch_error(struct gpu *gpu, uint32_t code, enum abi_cause cause, uint64_t fence, const char *fmt,
                     ...) __attribute__((format(printf, 5, 6)));

/* What gpu_check, at entry and exit of every public function, asks of each file. */
void gpu_config_check(const struct gpu *gpu);
void gpu_irq_check(const struct gpu *gpu);
void gpu_queue_check(const struct gpu *gpu);
void gpu_vblank_check(const struct gpu *gpu);
void gpu_scanout_check(const struct gpu *gpu);

/* config.c */
void gpu_config_init(struct gpu_config_space *c);
bool gpu_msi_enabled(const struct gpu *gpu);

/* irq.c */
void gpu_irq_raise(struct gpu *gpu, uint32_t bits);   /* latches per the rules of each bit */
void gpu_irq_update(struct gpu *gpu, bool after_ack); /* recomputes what the host should see */
void gpu_irq_deliver(struct gpu *gpu);                /* from gpu_unlock; gives the lock up meanwhile */

/* regs.c */
uint64_t gpu_regs_read(struct gpu *gpu, uint64_t offset, uint32_t size);
void gpu_regs_write(struct gpu *gpu, uint64_t offset, uint32_t size, uint64_t value);
void gpu_regs_reset(struct gpu *gpu);

/* ring.c */
void gpu_ring_process(struct gpu *gpu); /* a doorbell */
void gpu_ring_reset(struct gpu *gpu, bool engines);
void gpu_ring_give_back(
    struct gpu *gpu); /* the head moves past what is done; of a ring that is off, past what was taken */
void gpu_dma_catch_up(struct gpu *gpu); /* bus mastering was switched on */

/* fence.c */
struct gpu_entry *gpu_queue_push(struct gpu *gpu);         /* NULL: full */
void gpu_queue_link(struct gpu *gpu, struct gpu_entry *e); /* what was pushed, once it is filled in */
bool gpu_queue_is_done(struct gpu *gpu,
                       uint32_t back); /* the entry that was pushed as the `back`th before the next */
void gpu_queue_drop_all(struct gpu *gpu);
void gpu_offer(struct gpu *gpu);  /* hands entries to the backend */
void gpu_retire(struct gpu *gpu); /* retires what may be retired */
void gpu_write_fence_page(struct gpu *gpu);

/* vblank.c */
void gpu_vblank_catch_up(struct gpu *gpu);
void gpu_vblank_start(struct gpu *gpu);
void gpu_vblank_stop(struct gpu *gpu);

/* scanout.c */
struct abi_scanout gpu_scanout_snapshot(const struct gpu *gpu);
bool gpu_format_known(uint32_t format);
