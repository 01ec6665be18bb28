/* SPDX-License-Identifier: MIT */
/* sched.h: the GPU scheduler: contexts' queues (sched.c) in front of the nodes of the device (node.c).
 *
 *   dxgk_sched_queue ─▶ context's queue ─take─▶ resident, Patch, dxgk_node_submit ─▶ at the device ─┬─ DMA_COMPLETED ─▶ retired
 *                        ▲                                                                ├─ DMA_FAULTED ───▶ retired, device lost
 *                        └─────────────────────────────────────────── DMA_PREEMPTED ──────┤
 *                                                                                         └─ reset ─────────▶ dropped
 *
 * Invariants:
 *  1. Packets of one context reach the device, and take effect, in the order they were queued in.
 *  2. Fences of a node rise by one a submission; completions are accepted only between the last completed and the last
 *     submitted one: anything else is a violation.
 *  3. At most HwQueuedRenderPacketGroupLimit packets of a node are at the device; paging, which makes room for them, comes
 *     on top.
 *  4. A waiting packet (synchronisation, flip) holds up only its own context.
 *  5. A node's list is as long as its count says, and its fences rise from one entry to the next.
 */
#pragma once

#include "base/sched/schedstat.h"
#include "dxgkrnl/kernel.h"
#include "dxgkrnl/packet.h"

enum {
    MAX_NODES = DXGK_MAX_ASYMETRICAL_PROCESSING_NODES,
    MAX_QUEUED = 64, /* packets a context may have queued before Render waits */
};

struct node {
    struct packet *hw, **hw_last; /* at the device, in the order of their fences */
    unsigned hw_count, paging;    /* of these, paging buffers */
    UINT submitted, completed;
    uint64_t head_start_ns;
    uint64_t
        clock_ns; /* TdrDelay of the head counts from here: it was at the head, and what it may have waited for had ended */
    uint64_t looked_ns, starved_ns; /* of the head: tdr.c */
    struct schedlook looked;
    struct ktimer timer; /* of the head: dxgk_tdr_due */
    bool pumping, check;
    UINT preempting; /* the fence of a preemption under way, 0: none */
    uint64_t packets_submitted[4], packets_completed[4], packets_faulted, packets_preempted;
    uint64_t busy_ns, switches;
    struct context *last_context;
};

struct sched {
    struct node nodes[MAX_NODES];
    unsigned num_nodes;
    uint64_t busy; /* a bit for each node that has packets at the device */
    uint32_t hw_limit;
    struct context *contexts;
    uint64_t turns; /* given to contexts */
};

/* ---- sched.c ------------------------------------------------------------- */

void dxgk_sched_start(struct dxgk *d);
void dxgk_sched_queue(struct context *c, struct packet *p);
/* At PASSIVE_LEVEL: submits what can be. */
void dxgk_sched_pump(struct dxgk *d, unsigned node);
/* The same of all nodes. */
void dxgk_sched_pump_all(struct dxgk *d);
/* What the context has queued is dropped; waits until nothing of it is at the device. */
void dxgk_sched_drop_context(struct context *c);
/* After a reset: nothing is at the device, and nothing queued. */
void dxgk_sched_drop_all(struct dxgk *d);

/* ---- node.c -------------------------------------------------------------- */

/* Hands a packet with a fence to the device. */
void dxgk_node_submit(struct dxgk *d, struct packet *p);
/* The next fence of the packet's node, which is its own from now on. */
UINT dxgk_node_next_fence(struct dxgk *d, struct packet *p);
/* Retires everything up to `fence`. */
void dxgk_node_retire_to(struct dxgk *d, unsigned node, UINT fence);
/* Asks the miniport for the current fence: whether the oldest packet has completed without an interrupt; then it is retired. */
bool dxgk_node_poll(struct dxgk *d, unsigned node);
/* Watches the head for TdrDelay. */
void dxgk_node_arm(struct dxgk *d, unsigned node);
void dxgk_node_preempt(struct dxgk *d, unsigned node);
void dxgk_node_wait_idle(struct dxgk *d, unsigned node);
void dxgk_nodes_wait_idle(struct dxgk *d);
/* Everything at the device is dropped. */
void dxgk_node_drop(struct dxgk *d, unsigned node);
/* What is there of a context, once nothing comes back any more. */
void dxgk_node_forget_context(struct dxgk *d, struct context *c);

/* What the miniport reports. */
void dxgk_node_completed(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
void dxgk_node_faulted(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
void dxgk_node_preempted(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
