/* SPDX-License-Identifier: MIT */
/* breadcrumbs.c: markers and checkpoints of the guest's own (ext.h): markers in guest memory, checkpoints in the memory that
 * the executor shares with its host.
 *
 *   TOP     written by the command processor, which is the thread that decodes, as soon as it comes there
 *   BOTTOM  waits in a queue ──next barrier, or the queue is full──▶ written by the device behind everything before it
 *   exact   with EXEC_MARKERS_EXACT both are written by the device, in their places
 *
 * Invariants:
 *  1. An unwritten TOP marker means that nothing behind it was begun; a written BOTTOM marker that everything before it is
 *     done. A BOTTOM marker may be written later than it could be, never earlier.
 *  2. At most BREADCRUMB_LIMIT BOTTOM markers wait, as on the hardware that the model is taken from. One more ends the group
 *     of draws; the first time that is warned of.
 *  3. Guest memory is written only where the allocation table of the submission that writes says that it may be.
 */
#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "base/check.h"
#include "base/log.h"

enum { PAGE = 4096, MAX_BUFFERS = 256 };

/* Guest memory that the device can write. Lives until everything is forgotten: command buffers may name it. */
struct breadcrumb_buffer {
    struct breadcrumb_buffer *next;
    uint8_t *map; /* of marker 0 */
    uint32_t alloc_id, count;
    uint64_t alloc_offset;
    uint64_t resolved; /* serial of the batch whose allocation table said last that it is there */
    struct exec_vk_pages pages;
    VkDeviceSize offset; /* of marker 0 */
};

static void destroy(struct exec_engine *g, struct breadcrumb_buffer *b)
{
    exec_vk_pages_release(&g->vk, &b->pages);
    free(b);
}

void exec_breadcrumbs_forget_all(struct exec_engine *g)
{
    while (g->breadcrumbs.buffers) {
        struct breadcrumb_buffer *b = g->breadcrumbs.buffers;
        g->breadcrumbs.buffers = b->next;
        destroy(g, b);
    }
    g->breadcrumbs.num_buffers = g->breadcrumbs.num_pending = 0;
    for (int i = 0; g->progress.shared && i < EXEC_CHECKPOINT_CONTEXTS; i++)
        atomic_store_explicit(&g->progress.shared->checkpoints[i].in_use, 0, memory_order_release);
}

static VkResult import(struct exec_engine *g, struct breadcrumb_buffer *b, uint64_t size)
{
    uint8_t *first = (uint8_t *)((uintptr_t)b->map & ~(uintptr_t)(PAGE - 1));
    uint64_t span = ((uint64_t)(b->map - first) + size + PAGE - 1) & ~(uint64_t)(PAGE - 1);

    b->offset = (VkDeviceSize)(b->map - first);
    return exec_vk_pages_import(&g->vk, &b->pages, first, span, span, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
}

/* Where the markers are by this submission's table: allocations move and end between submissions. */
static int resolve(struct exec_engine *g, uint32_t alloc_id, uint64_t offset, uint32_t count, uint8_t **map)
{
    const struct abi_alloc *a = abi_alloc_table_find(&g->allocs, alloc_id);
    uint64_t size = (uint64_t)count * 8;

    if (!a)
        return fail_decode(g, "alloc_id %u is not in the allocation table", alloc_id);
    if (a->readonly)
        return fail_decode(g, "alloc_id %u is READONLY in this submission", alloc_id);
    if (offset % 8 || offset > a->size || size > a->size - offset)
        return fail_oob(g, "%u markers at %llu do not fit alloc_id %u, which has %llu bytes", count,
                        (unsigned long long)offset, alloc_id, (unsigned long long)a->size);
    *map = g->params.dma_map(g->params.ctx, a->gpa + offset, size);
    return *map ? 0 : exec_fail_dma(g, "", a->gpa + offset, size);
}

/* Makes it the context's buffer. The one before stays: command buffers may name it. */
static int set_buffer(struct exec_engine *g, uint32_t alloc_id, uint64_t offset, uint32_t count, uint8_t *map)
{
    struct breadcrumb_buffer *b;
    VkResult r;

    if (g->breadcrumbs.num_buffers == MAX_BUFFERS)
        return fail_backend(g, "%d breadcrumb buffers were set already", MAX_BUFFERS);
    b = calloc(1, sizeof(*b));
    if (!b)
        return fail_memory(g, "no memory for a breadcrumb buffer");
    b->map = map;
    b->alloc_id = alloc_id;
    b->alloc_offset = offset;
    b->count = count;
    b->resolved = g->batch->serial;
    r = import(g, b, (uint64_t)count * 8);
    if (r) {
        destroy(g, b);
        return exec_fail_vulkan(g, "the Vulkan device cannot write guest memory", r);
    }
    INVARIANT(g->breadcrumbs.num_buffers < MAX_BUFFERS);
    b->next = g->breadcrumbs.buffers;
    g->breadcrumbs.buffers = b;
    g->breadcrumbs.num_buffers++;
    g->ctx->breadcrumbs = b;
    return 0;
}

int exec_op_ext_breadcrumb_buffer(struct exec_engine *g, const struct abi_packet *packet)
{
    struct aerogpu_cmd_ext_breadcrumb_buffer c;
    uint8_t *map;
    int r;

    if (!g->vk.caps.host_memory)
        return 0; /* skipped, as an unknown opcode is */
    memcpy(&c, packet->data, sizeof(c));
    if (!c.count) {
        g->ctx->breadcrumbs = NULL;
        return 0;
    }
    r = resolve(g, c.alloc_id, c.offset, c.count, &map);
    return r ? r : set_buffer(g, c.alloc_id, c.offset, c.count, map);
}

/* The context's buffer as it lies in this submission, or NULL after an error. */
static struct breadcrumb_buffer *buffer_now(struct exec_engine *g)
{
    struct breadcrumb_buffer *b = g->ctx->breadcrumbs;
    uint8_t *map;

    if (!b) {
        fail_decode(g, "no breadcrumb buffer is set");
        return NULL;
    }
    if (b->resolved == g->batch->serial)
        return b;
    if (resolve(g, b->alloc_id, b->alloc_offset, b->count, &map))
        return NULL;
    if (map != b->map && set_buffer(g, b->alloc_id, b->alloc_offset, b->count, map))
        return NULL;
    g->ctx->breadcrumbs->resolved = g->batch->serial;
    return g->ctx->breadcrumbs;
}

/* ---- writing ------------------------------------------------------------- */

static void write_now(struct exec_engine *g, const struct pending_breadcrumb *p)
{
    vkCmdUpdateBuffer(g->batch->cmd, p->buffer, p->offset, p->size, p->data);
}

void exec_breadcrumbs_behind_barrier(struct exec_engine *g)
{
    for (uint32_t i = 0; i < g->breadcrumbs.num_pending; i++)
        write_now(g, &g->breadcrumbs.pending[i]);
    g->breadcrumbs.num_pending = 0;
}

static void flush(struct exec_engine *g)
{
    g->need_barrier = true;
    exec_batch_transfer(g);
}

static void write_bottom(struct exec_engine *g, const struct pending_breadcrumb *p)
{
    struct breadcrumbs *q = &g->breadcrumbs;

    if (q->num_pending == BREADCRUMB_LIMIT) {
        if (!q->warned)
            log_warn("executor",
                     "%d bottom-of-pipe markers are pending: hardware would stop here, fewer are better",
                     BREADCRUMB_LIMIT);
        q->warned = true;
        flush(g);
    }
    INVARIANT(q->num_pending < BREADCRUMB_LIMIT); /* 2 */
    exec_batch_cmd(g); /* so that there is something that it can be written behind */
    q->pending[q->num_pending++] = *p;
    if (g->progress.exact)
        flush(g);
}

int exec_op_ext_write_breadcrumb(struct exec_engine *g, const struct abi_packet *packet)
{
    struct aerogpu_cmd_ext_write_breadcrumb c;
    struct breadcrumb_buffer *b;
    struct pending_breadcrumb p;

    if (!g->vk.caps.host_memory)
        return 0; /* skipped, as an unknown opcode is */
    memcpy(&c, packet->data, sizeof(c));
    b = buffer_now(g);
    if (!b)
        return -EBADMSG;
    if (c.type > AEROGPU_BREADCRUMB_BOTTOM)
        return fail_decode(g, "type %u is neither TOP nor BOTTOM", c.type);
    if (c.index >= b->count)
        return fail_oob(g, "index %u, the breadcrumb buffer has %u", c.index, b->count);
    p = (struct pending_breadcrumb){.buffer = b->pages.buffer,
                                    .offset = b->offset + 8 * (VkDeviceSize)c.index,
                                    .size = 8,
                                    .data = {c.data}};
    if (c.type == AEROGPU_BREADCRUMB_BOTTOM) {
        write_bottom(g, &p);
    } else if (g->progress.exact) {
        exec_batch_transfer(g);
        write_now(g, &p);
    } else {
        __atomic_store_n((uint64_t *)__builtin_assume_aligned(b->map + 8 * (size_t)c.index, 8), c.data,
                         __ATOMIC_RELEASE);
    }
    return 0;
}

/* ---- checkpoints --------------------------------------------------------- */

static struct exec_checkpoints *checkpoints_of(struct exec_progress *c, uint32_t context, bool make)
{
    struct exec_checkpoints *unused = NULL;

    for (int i = 0; i < EXEC_CHECKPOINT_CONTEXTS; i++) {
        struct exec_checkpoints *x = &c->checkpoints[i];
        bool in_use = atomic_load_explicit(&x->in_use, memory_order_relaxed);

        if (in_use && x->context == context)
            return x;
        if (!in_use && !unused)
            unused = x;
    }
    if (!unused || !make)
        return NULL;
    unused->context = context;
    unused->top = unused->bottom = (struct exec_checkpoint){0};
    atomic_store_explicit(&unused->in_use, 1, memory_order_release);
    return unused;
}

void exec_checkpoints_forget(struct exec_engine *g, uint32_t context)
{
    struct exec_checkpoints *x =
        g->progress.shared ? checkpoints_of(g->progress.shared, context, false) : NULL;

    if (x)
        atomic_store_explicit(&x->in_use, 0, memory_order_release);
}

/* The payload stays where it is: whoever makes a dump has the stream. */
int exec_op_ext_checkpoint(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_checkpoint at = {.submission = g->submission->id, .packet = p->index};
    struct pending_breadcrumb bottom = {.buffer = g->progress.buffer, .size = sizeof(at)};
    struct aerogpu_cmd_ext_checkpoint_pointer c = {0};
    struct exec_checkpoints *x;
    uint32_t bytes = p->tail_size;

    if (p->opcode == AEROGPU_CMD_EXT_CHECKPOINT_POINTER) {
        memcpy(&c, p->data, sizeof(c));
        bytes = c.payload_bytes;
    }
    if (bytes > AEROGPU_CHECKPOINT_MAX_BYTES)
        return fail_decode(g, "a payload of %u bytes, %u are allowed", bytes, AEROGPU_CHECKPOINT_MAX_BYTES);
    if (!bytes != (p->opcode == AEROGPU_CMD_EXT_CHECKPOINT_POINTER && !c.alloc_id))
        return fail_decode(g, bytes ? "a payload of %u bytes without an alloc_id" : "a payload of %u bytes",
                           bytes);
    if (c.alloc_id) {
        const struct abi_alloc *a = abi_alloc_table_find(&g->allocs, c.alloc_id);

        if (!a)
            return fail_decode(g, "alloc_id %u is not in the allocation table", c.alloc_id);
        if (c.pointer > a->size || bytes > a->size - c.pointer)
            return fail_oob(g, "%u bytes at %llu do not fit alloc_id %u, which has %llu bytes", bytes,
                            (unsigned long long)c.pointer, c.alloc_id, (unsigned long long)a->size);
    }
    x = g->progress.shared ? checkpoints_of(g->progress.shared, g->submission->context_id, true) : NULL;
    if (!x)
        return 0;
    memcpy(bottom.data, &at, sizeof(at));
    bottom.offset = (VkDeviceSize)((const uint8_t *)&x->bottom - (const uint8_t *)g->progress.shared);
    x->top = at;
    write_bottom(g, &bottom);
    return 0;
}

EXEC_OP_IS(ext_checkpoint_pointer, exec_op_ext_checkpoint)
