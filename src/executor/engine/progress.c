/* SPDX-License-Identifier: MIT */
/* progress.c: writing the marks of progress.h while command buffers are recorded.
 *
 *   a command buffer begins ──exec_progress_open──▶ mark open ──exec_progress_close──▶ closed ──▶ cut or flushed to the device
 *                                             └─exact: exec_progress_packet closes it and opens the next before each packet's work
 *
 * Invariants:
 *  1. A mark is open exactly while a command buffer is recorded.
 *  2. The end of one mark and the beginning of the next are one write, behind the barrier that stands there anyway: a
 *     barrier more for every group costs 5 % of a frame of small draws, and so do two writes in place of one. Where no
 *     barrier can stand, between two command buffers of a software device, the fence of the first says that its marks are
 *     done: lavapipe passes over a barrier that begins a command buffer, and draws go on behind it.
 *  3. Nothing here can fail: without memory or extension there are no markers, and the slot says so.
 *  4. With VK_AMD_buffer_marker each end of a mark is a write of its own, top of pipe and bottom of pipe, where the mark
 *     begins and ends, also inside a render pass; invariant 2 is about devices without it.
 */
#include "executor/engine/engine_priv.h"

#include <string.h>

#include "abi/packets.h"
#include "base/check.h"
#include "base/log.h"
#include "executor/engine/progress.h"

enum { ALL_MARKS = EXEC_PROGRESS_MARKS, MARK_DRAWS = 50, PAGE = 4096 };

/* The last mark that there is room for is extended for as long as packets come: only the end of all ends it. */
static uint32_t ended(uint32_t marks)
{
    return marks < ALL_MARKS ? marks : ALL_MARKS - 1;
}

static const VkDeviceSize shared_size = (sizeof(struct exec_progress) + PAGE - 1) / PAGE * PAGE;

static struct exec_progress_slot *slot_of(struct exec_engine *g)
{
    return &g->progress.shared->slots[g->batch - g->batches];
}

static VkDeviceSize offset_of(struct exec_engine *g, const uint32_t *field)
{
    return (VkDeviceSize)((const uint8_t *)field - (const uint8_t *)g->progress.shared);
}

/* ---- memory that the device writes --------------------------------------- */

/* Which extension writes the marks, if any does. Lavapipe has none of them: these two ways are written by their
 * specifications. */
static void choose_writer(struct exec_engine *g)
{
    struct exec_progress_recorder *c = &g->progress;

    if (g->vk.caps.amd_marker)
        c->write_marker = (PFN_vkCmdWriteBufferMarkerAMD)(void *)vkGetDeviceProcAddr(
            g->vk.device, "vkCmdWriteBufferMarkerAMD");
    if (!c->write_marker && g->vk.caps.nv_checkpoints) {
        c->get_checkpoints = (PFN_vkGetQueueCheckpointDataNV)(void *)vkGetDeviceProcAddr(
            g->vk.device, "vkGetQueueCheckpointDataNV");
        if (c->get_checkpoints)
            c->set_checkpoint =
                (PFN_vkCmdSetCheckpointNV)(void *)vkGetDeviceProcAddr(g->vk.device, "vkCmdSetCheckpointNV");
    }
    c->shared->writer = c->write_marker     ? EXEC_WRITER_AMD
                        : c->set_checkpoint ? EXEC_WRITER_CHECKPOINTS
                                            : EXEC_WRITER_UPDATES;
}

void exec_progress_create(struct exec_engine *g)
{
    struct exec_progress_recorder *c = &g->progress;

    c->shared = g->params.markers == EXEC_MARKERS_OFF ? NULL : g->params.progress;
    if (!c->shared)
        return;
    c->exact = g->params.markers == EXEC_MARKERS_EXACT;
    c->shared->exact = c->exact;
    c->shared->in_order =
        g->is_cpu; /* one after the other is rasterised; what else there is has threads of its own */
    c->shared->way = EXEC_PROGRESS_SHARED;
    choose_writer(g);
    if (!exec_vk_pages_import(&g->vk, &c->pages, c->shared, shared_size, shared_size,
                              VK_BUFFER_USAGE_TRANSFER_DST_BIT)) {
        c->buffer = c->pages.buffer;
        return;
    }
    c->shared->way = EXEC_PROGRESS_COPIED;
    if (!exec_vk_buffer_create(&g->vk, &c->own, sizeof(*c->shared), VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                               VK_USE_READBACK)) {
        c->buffer = c->own.buffer;
        memset(c->own.memory.map, 0, sizeof(*c->shared));
        return;
    }
    log_warn("executor", "there is no memory for progress markers");
    c->shared->way = EXEC_PROGRESS_NONE;
    c->shared = NULL;
}

void exec_progress_destroy(struct exec_engine *g)
{
    struct exec_progress_recorder *c = &g->progress;

    exec_vk_buffer_destroy(&g->vk, &c->own);
    exec_vk_pages_release(&g->vk, &c->pages);
    *c = (struct exec_progress_recorder){0};
}

void exec_progress_copy(struct exec_engine *g, const struct exec_batch *b)
{
    struct exec_progress_recorder *c = &g->progress;
    struct exec_progress_slot *slot;
    const uint32_t *from;

    if (!c->own.buffer)
        return;
    slot = &c->shared->slots[b - g->batches];
    from = (const uint32_t *)(const void *)(c->own.memory.map + offset_of(g, &slot->top));
    slot->top = from[0];
    slot->bottom = from[1];
    for (int i = 0; i < EXEC_CHECKPOINT_CONTEXTS; i++)
        memcpy(&c->shared->checkpoints[i].bottom,
               c->own.memory.map +
                   offset_of(g, (const uint32_t *)(const void *)&c->shared->checkpoints[i].bottom),
               sizeof(struct exec_checkpoint));
}

/* The device is lost: what its queue's checkpoints say about the batch. A checkpoint is a pointer that only we understand:
 * slot + 1 in the upper, mark in the lower 16 bits. */
void exec_progress_lost(struct exec_engine *g, const struct exec_batch *b)
{
    struct exec_progress_recorder *c = &g->progress;
    VkCheckpointDataNV data[16];
    uint32_t n = 16;

    if (!c->shared || !c->set_checkpoint)
        return;
    for (uint32_t i = 0; i < n; i++)
        data[i] = (VkCheckpointDataNV){.sType = VK_STRUCTURE_TYPE_CHECKPOINT_DATA_NV};
    c->get_checkpoints(g->vk.queue, &n, data);
    for (uint32_t i = 0; i < n && i < 16; i++) {
        uintptr_t v = (uintptr_t)data[i].pCheckpointMarker;
        struct exec_progress_slot *slot = &c->shared->slots[b - g->batches];
        uint32_t mark = (uint32_t)(v & 0xFFFF);

        if (v >> 16 != (uintptr_t)(b - g->batches) + 1 || !mark)
            continue;
        if (data[i].stage == VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT && mark > slot->top)
            slot->top = mark; /* the mark was reached */
        if (data[i].stage == VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT && mark - 1 > slot->bottom)
            slot->bottom = mark - 1; /* what came before the mark is done */
    }
}

void exec_progress_done(struct exec_engine *g, const struct exec_batch *b, bool finished)
{
    struct exec_progress_slot *slot;

    if (!g->progress.shared)
        return;
    slot = &g->progress.shared->slots[b - g->batches];
    if (g->progress.own.buffer)
        exec_progress_copy(g, b);
    if (finished)
        slot->top = slot->bottom = atomic_load_explicit(&slot->num_marks, memory_order_relaxed);
    exec_progress_set_state(g, b, EXEC_PROGRESS_DONE);
}

static void marks_check(const struct exec_progress_recorder *c, const struct exec_progress_slot *slot)
{
    uint32_t n = atomic_load_explicit(&slot->num_marks, memory_order_relaxed);

    INVARIANT(n <= ALL_MARKS);
    INVARIANT(atomic_load_explicit(&slot->passed, memory_order_relaxed) <= n);
    INVARIANT(!n || slot->marks[n - 1].first <= slot->marks[n - 1].last);
    INVARIANT(c->write[1] <= c->write[0] && c->write[0] <= n);
}

/* ---- marks --------------------------------------------------------------- */

void exec_progress_open(struct exec_engine *g)
{
    struct exec_progress_recorder *c = &g->progress;
    struct exec_progress_slot *slot;
    uint32_t n;

    if (!c->shared || !g->batch)
        return;
    slot = slot_of(g);
    n = atomic_load_explicit(&slot->num_marks, memory_order_relaxed);
    c->draws = n == ALL_MARKS ? slot->marks[n - 1].draws : 0;
    if (n == ALL_MARKS)
        return; /* the last one is extended */
    slot->marks[n] = (struct exec_mark){.first = c->packet, .last = c->packet};
    atomic_store_explicit(&slot->num_marks, n + 1, memory_order_release);
    c->write[0] = n + 1;
    marks_check(c, slot);
    if (c->write_marker) {
        c->write_marker(g->batch->cmd, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, c->buffer, offset_of(g, &slot->top),
                        n + 1);
        return;
    }
    if (c->set_checkpoint)
        c->set_checkpoint(g->batch->cmd,
                          (const void *)(((uintptr_t)(g->batch - g->batches) + 1) << 16 | (n + 1)));
    c->due = true;
}

void exec_progress_close(struct exec_engine *g, uint32_t last)
{
    struct exec_progress_recorder *c = &g->progress;
    struct exec_progress_slot *slot;
    uint32_t n;

    if (!c->shared || !g->batch)
        return;
    slot = slot_of(g);
    n = atomic_load_explicit(&slot->num_marks, memory_order_relaxed);
    if (!n)
        return;
    if (last > slot->marks[n - 1].last)
        slot->marks[n - 1].last = last;
    slot->marks[n - 1].draws = c->draws;
    c->write[1] = ended(n);
    marks_check(c, slot);
    if (c->write_marker)
        c->write_marker(g->batch->cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, c->buffer,
                        offset_of(g, &slot->bottom), ended(n));
    else
        c->due = true;
}

void exec_progress_behind_barrier(struct exec_engine *g)
{
    struct exec_progress_recorder *c = &g->progress;

    /* A barrier stands here anyway: a mark with draws in it can end. */
    if (c->shared && !c->due && !c->exact && c->draws && !c->write_marker) {
        exec_progress_close(g, c->packet ? c->packet - 1 : 0);
        exec_progress_open(g);
    }
    if (!c->due)
        return;
    vkCmdUpdateBuffer(g->batch->cmd, c->buffer, offset_of(g, &slot_of(g)->top),
                      c->only_top ? sizeof(c->write[0]) : sizeof(c->write), c->write);
    c->due = false;
}

void exec_progress_passed(struct exec_engine *g, const struct exec_batch *b, uint32_t marks)
{
    if (g->progress.shared)
        atomic_store_explicit(&g->progress.shared->slots[b - g->batches].passed, ended(marks),
                              memory_order_release);
}

void exec_progress_waits(struct exec_engine *g, const struct exec_batch *b, enum exec_progress_wait wait)
{
    if (g->progress.shared)
        atomic_store_explicit(&g->progress.shared->slots[b - g->batches].waits, (uint32_t)wait,
                              memory_order_relaxed);
}

uint32_t exec_progress_marks(const struct exec_engine *g)
{
    const struct exec_progress *c = g->progress.shared;

    return c ? atomic_load_explicit(&c->slots[g->batch - g->batches].num_marks, memory_order_relaxed) : 0;
}

void exec_progress_begin(struct exec_engine *g)
{
    struct exec_progress_recorder *c = &g->progress;
    struct exec_progress_slot *slot;

    c->packet = c->write[0] = c->write[1] = 0;
    c->due = false;
    if (!c->shared)
        return;
    slot = slot_of(g);
    atomic_store_explicit(&slot->submission, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->num_marks, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->decoding, 0, memory_order_relaxed);
    slot->top = slot->bottom = 0;
    atomic_store_explicit(&slot->passed, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->waits, EXEC_WAIT_NONE, memory_order_relaxed);
    if (c->own.buffer)
        memset(c->own.memory.map + offset_of(g, &slot->top), 0, 8);
    slot->context = g->submission->context_id;
    atomic_store_explicit(&slot->state, EXEC_PROGRESS_DECODING, memory_order_relaxed);
    atomic_store_explicit(&slot->submission, g->submission->id, memory_order_release);
}

void exec_progress_set_state(struct exec_engine *g, const struct exec_batch *b,
                             enum exec_progress_state state)
{
    if (g->progress.shared)
        atomic_store_explicit(&g->progress.shared->slots[b - g->batches].state, (uint32_t)state,
                              memory_order_release);
}

void exec_progress_packet(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_progress_recorder *c = &g->progress;

    if (!c->shared)
        return;
    atomic_store_explicit(&slot_of(g)->decoding, p->index + 1, memory_order_relaxed);
    if (c->exact && g->batch->recording && abi_opcode_is_work(p->opcode)) {
        exec_progress_close(g, c->packet);
        g->need_barrier = true;
        exec_batch_transfer(g);
        c->packet = p->index;
        exec_progress_open(g);
    }
    /* Where a mark can end anywhere it ends as soon as it is long. */
    if (c->write_marker && !c->exact && g->batch->recording && c->draws > MARK_DRAWS &&
        abi_opcode_is_work(p->opcode)) {
        exec_progress_close(g, c->packet);
        c->packet = p->index;
        exec_progress_open(g);
    }
    c->packet = p->index;
    c->draws += abi_opcode_is_draw(p->opcode);
}
