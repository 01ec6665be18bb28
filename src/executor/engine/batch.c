/* SPDX-License-Identifier: MIT */
/* batch.c: one submission on its way through the device.
 *
 *   free ──engine takes it──▶ decoding (submit thread) ──batch_flush──▶ queued ──fence──▶ write-backs, complete ──▶ free
 *                               │      ▲   batch_cut: some of it early      (completion thread)
 *                               └batch_sync (flush, wait, write back, start again)
 *
 * Invariants:
 *  1. Staging memory, descriptor pools and what the command buffer names live until the fence of the batch has signalled.
 *  2. Readbacks run after the fence and before completion, in the order in which they were asked for.
 *  3. The completion thread sees the end of every piece that has a fence before the end of its batch.
 */
#include "executor/engine/engine_priv.h"
#include "executor/engine/pass.h"
#include "executor/engine/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"

enum { CHUNK_SIZE = 1 << 20, CHUNKS_KEPT = 8 };

static void batch_check(const struct exec_batch *b)
{
    INVARIANT(b->num_cuts < MAX_CUTS && b->cuts_handed <= b->num_cuts);
    INVARIANT(b->cmd == b->cmds[b->num_cuts]);
    INVARIANT(!b->recording || b->has_work);
    INVARIANT(b->num_readbacks <= b->cap_readbacks);
    INVARIANT(!b->chunks || b->chunks->used <= b->chunks->buffer.size);
}

static VkResult next_cmd(struct exec_engine *g, struct exec_batch *b, uint32_t n)
{
    VkCommandBufferAllocateInfo ai = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                      .commandPool = b->pool,
                                      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                      .commandBufferCount = 1};
    VkResult r = b->cmds[n] ? VK_SUCCESS : vkAllocateCommandBuffers(g->vk.device, &ai, &b->cmds[n]);

    if (!r) {
        b->num_cuts = n;
        b->cmd = b->cmds[n];
    }
    return r;
}

int exec_batch_init(struct exec_engine *g, struct exec_batch *b)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                    .queueFamilyIndex = g->vk.queue_family};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult r = vkCreateCommandPool(g->vk.device, &pool, NULL, &b->pool);

    if (!r)
        r = next_cmd(g, b, 0);
    if (!r)
        r = vkCreateFence(g->vk.device, &fence, NULL, &b->fence);
    return exec_vk_errno(r);
}

static void free_chunks(struct exec_engine *g, struct exec_batch *b)
{
    while (b->chunks) {
        struct staging_chunk *c = b->chunks;
        b->chunks = c->next;
        exec_vk_buffer_destroy(&g->vk, &c->buffer);
        free(c);
    }
}

void exec_batch_finish(struct exec_engine *g, struct exec_batch *b)
{
    free_chunks(g, b);
    exec_queries_finish(g, b);
    exec_bind_forget(b);
    while (b->pools) {
        struct descriptor_pool *p = b->pools;
        b->pools = p->next;
        vkDestroyDescriptorPool(g->vk.device, p->pool, NULL);
        free(p);
    }
    if (b->fence)
        vkDestroyFence(g->vk.device, b->fence, NULL);
    for (int i = 0; i < MAX_CUTS && b->cut_fences[i]; i++)
        vkDestroyFence(g->vk.device, b->cut_fences[i], NULL);
    if (b->pool)
        vkDestroyCommandPool(g->vk.device, b->pool, NULL);
    free(b->readbacks);
    *b = (struct exec_batch){0};
}

VkCommandBuffer exec_batch_cmd(struct exec_engine *g)
{
    VkCommandBufferBeginInfo bi = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                   .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    struct exec_batch *b = g->batch;

    batch_check(b);
    if (!b->recording) {
        INVARIANT(!g->pass_ctx);
        vkBeginCommandBuffer(b->cmd, &bi);
        b->recording = b->has_work = true;
        g->bound_pipeline = VK_NULL_HANDLE;
        g->alone = false;
        g->bound_program[0] = g->bound_program[1] = NULL;
        if (g->ctx)
            g->ctx->dirty = DIRTY_ALL;
        g->need_barrier = g->at_head = true; /* against the batch before */
        exec_progress_open(g);
    }
    return b->cmd;
}

/* A barrier for `dst`, outside of a render pass, and what is to be written behind one. */
static void barrier(struct exec_engine *g, VkPipelineStageFlags dst, const VkMemoryBarrier *memory)
{
    static const float any[4];
    VkCommandBuffer cmd = g->batch->cmd;

    /* Lavapipe waits at barriers but at those that begin a command buffer. What the guest shall see needs one that waits. */
    if (g->at_head && g->is_cpu && g->breadcrumbs.num_pending) {
        vkCmdSetBlendConstants(cmd, any);
        g->at_head = false;
    }
    if (g->need_barrier)
        vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, dst, 0, 1, memory, 0, NULL, 0, NULL);
    g->progress.only_top = g->at_head && g->is_cpu;
    exec_progress_behind_barrier(g);
    exec_breadcrumbs_behind_barrier(g);
    g->at_head = false;
    g->need_barrier = true;
}

VkCommandBuffer exec_batch_transfer(struct exec_engine *g)
{
    const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                 .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    VkCommandBuffer cmd;

    exec_pass_end(g);
    cmd = exec_batch_cmd(g);
    INVARIANT(!g->pass_ctx && g->batch->recording);
    barrier(g, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, &all);
    return cmd;
}

int exec_batch_stage(struct exec_engine *g, uint64_t size, uint64_t align, VkBuffer *buffer,
                     VkDeviceSize *offset, uint8_t **map)
{
    struct exec_batch *b = g->batch;
    struct staging_chunk *c = b->chunks;
    VkDeviceSize at = c ? (c->used + align - 1) / align * align : 0;

    if (!c || at + size > c->buffer.size) {
        int r;
        c = calloc(1, sizeof(*c));
        if (!c)
            return fail_memory(g, "no memory for staging");
        r = exec_vk_buffer_create(&g->vk, &c->buffer, size > CHUNK_SIZE ? size : CHUNK_SIZE,
                                  VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                      VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
                                  VK_USE_READBACK);
        if (r) {
            free(c);
            return fail_memory(g, "no device memory for %llu bytes of staging", (unsigned long long)size);
        }
        c->next = b->chunks;
        b->chunks = c;
        at = 0;
    }
    INVARIANT(at % align == 0 && at + size <= c->buffer.size);
    INVARIANT(c == b->chunks);
    *buffer = c->buffer.buffer;
    *offset = at;
    *map = c->buffer.memory.map + at;
    c->used = at + size;
    return 0;
}

struct readback *exec_batch_readback(struct exec_engine *g)
{
    struct exec_batch *b = g->batch;

    if (array_reserve(b->readbacks, b->cap_readbacks, b->num_readbacks + 1))
        return NULL;
    b->readbacks[b->num_readbacks] = (struct readback){0};
    return &b->readbacks[b->num_readbacks++];
}

/* What the device wrote must be visible to the host when the fence signals. */
static const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                        .dstAccessMask = VK_ACCESS_HOST_READ_BIT};

static VkResult hand_over(struct exec_engine *g, struct exec_batch *b, VkFence fence)
{
    VkSubmitInfo si = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &b->cmd};
    VkResult r;

    b->recording = false;
    if (!b->num_cuts)
        b->handed_ns = clock_now(&g->clock);
    r = vkEndCommandBuffer(b->cmd);
    return r ? r : vkQueueSubmit(g->vk.queue, 1, &si, fence);
}

/* From now on the completion thread waits for the piece. */
static void note_cut(struct exec_engine *g, struct exec_batch *b)
{
    pthread_mutex_lock(&g->lock);
    b->cut_marks[b->cuts_handed++] = exec_progress_marks(g);
    g->cut = b;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

int exec_batch_cut(struct exec_engine *g)
{
    const VkFenceCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct exec_batch *b = g->batch;
    VkFence *fence = &b->cut_fences[b->cuts_handed];
    VkResult r = VK_SUCCESS;

    if (!b->recording || b->num_cuts + 1 == MAX_CUTS)
        return 0;
    exec_progress_close(g, g->progress.packet ? g->progress.packet - 1
                                              : 0); /* the packet that asks for room comes after it */
    exec_pass_end(g);
    if (g->breadcrumbs.num_pending)
        barrier(g, VK_PIPELINE_STAGE_HOST_BIT, &to_host);
    if (g->progress.shared && !*fence)
        r = vkCreateFence(g->vk.device, &ci, NULL, fence);
    if (!r)
        r = hand_over(g, b, g->progress.shared ? *fence : VK_NULL_HANDLE);
    if (!r)
        r = next_cmd(g, b, b->num_cuts + 1);
    if (!r && g->progress.shared)
        note_cut(g, b);
    batch_check(b);
    return r ? exec_fail_vulkan(g, "the Vulkan device refused the commands", r) : 0;
}

bool exec_batch_cuts_done(struct exec_engine *g, uint64_t ns)
{
    const struct exec_batch *b = g->batch;

    return !b->cuts_handed ||
           !vkWaitForFences(g->vk.device, 1, &b->cut_fences[b->cuts_handed - 1], VK_TRUE, ns);
}

VkResult exec_batch_flush(struct exec_engine *g, struct exec_batch *b)
{
    batch_check(b);
    exec_queries_close(g); /* what is wrong with it is the submission's error */
    if (!b->recording && !b->num_cuts)
        return VK_SUCCESS;
    if (!b->recording)
        exec_batch_cmd(g); /* cut right before the end: the fence needs something to follow */
    exec_progress_close(g, g->progress.packet);
    exec_pass_end(g);
    /* A software device stands still at a barrier until all before it is done. Where nothing is read back, and no marker
     * waits to be written, the fence alone says as much. */
    if (!g->is_cpu || b->num_readbacks || g->breadcrumbs.num_pending || g->progress.exact) {
        g->need_barrier = true;
        barrier(g, VK_PIPELINE_STAGE_HOST_BIT, &to_host);
    }
    return hand_over(g, b, b->fence);
}

/* Depth and stencil come from the device as words and bytes; in guest memory a texel is one piece: D24S8 a word, D32_FLOAT_S8 two. */
static void join_stencil(uint8_t *dst, const uint8_t *depth, const struct readback *r, const uint8_t *stencil,
                         uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v, high = stencil[i];
        float f;
        memcpy(&v, depth + 4 * i, 4);
        memcpy(&f, depth + 4 * i, 4);
        if (r->stencil_follows == 8) {
            memcpy(dst + 8 * (size_t)i, &v, 4);
            memcpy(dst + 8 * (size_t)i + 4, &high, 4);
            continue;
        }
        if (r->depth_is_float)
            v = f <= 0 ? 0 : f >= 1 ? 0xFFFFFF : (uint32_t)(f * 16777215.0f + 0.5f);
        v = (v & 0xFFFFFF) | high << 24;
        memcpy(dst + 4 * i, &v, 4);
    }
}

/* Results of queries (queries.c). */
static void write_numbers(const struct readback *r, uint8_t *dst)
{
    for (uint32_t at = 0; at < r->row_bytes; at += 8) {
        uint64_t sum = 0, v;

        for (uint32_t i = 0; i < r->added; i++) {
            memcpy(&v, r->from + (size_t)i * r->row_bytes + at, 8);
            sum += v;
        }
        memcpy(&v, r->added ? dst + at : r->from + at, 8);
        sum = r->added ? sum + v : (uint64_t)((double)v * (double)r->ns_per_tick);
        memcpy(dst + at, &sum, 8);
    }
}

void exec_batch_run_readbacks(struct exec_engine *g, struct exec_batch *b)
{
    INVARIANT(!b->recording); /* 2: the device is done */
    for (uint32_t i = 0; i < b->num_readbacks; i++) {
        const struct readback *r = &b->readbacks[i];
        uint32_t texels = r->stencil_follows ? r->row_bytes / r->stencil_follows
                          : r->convert_from  ? r->row_bytes / r->convert_from->bytes
                                             : 0;
        uint32_t out_bytes = r->convert_to ? texels * exec_format_find(r->convert_to)->bytes : r->row_bytes;
        uint64_t span = r->rows ? (uint64_t)(r->rows - 1) * r->pitch + out_bytes : 0;
        uint8_t *dst = span ? g->params.dma_map(g->params.ctx, r->gpa, span) : NULL;
        if (!dst && span && !b->completion.error) {
            /* It was there when the packet was decoded; the memory map has changed since. */
            b->completion.error = AEROGPU_ERROR_OOB;
            b->completion.cause = ABI_CAUSE_DMA;
            b->completion.fault_address = r->gpa;
            snprintf(b->completion.message, sizeof(b->completion.message),
                     "write-back: 0x%llx + %llu is not guest memory any more", (unsigned long long)r->gpa,
                     (unsigned long long)span);
        }
        if (!dst)
            continue;
        if (r->added || r->ns_per_tick != 0) {
            write_numbers(r, dst);
            continue;
        }
        for (uint32_t y = 0; y < r->rows; y++) {
            const uint8_t *src = r->from + (size_t)y * r->row_bytes;
            uint8_t *row = dst + y * r->pitch;
            if (r->stencil_follows)
                join_stencil(row, r->from + (size_t)y * texels * 4, r,
                             r->from + (size_t)r->rows * texels * 4 + (size_t)y * texels, texels);
            else if (r->convert_to)
                exec_format_convert_row(row, r->convert_to, src, r->convert_from, texels);
            else
                memcpy(row, src, r->row_bytes);
        }
    }
    b->num_readbacks = 0;
}

/* Makes the batch ready to record again; the device is done with it. */
void exec_batch_recycle(struct exec_engine *g, struct exec_batch *b)
{
    struct staging_chunk **link = &b->chunks;
    int kept = 0;

    INVARIANT(b->cuts_passed == b->cuts_handed); /* 3: nobody waits for them */
    exec_queries_recycle(b);
    vkResetFences(g->vk.device, 1, &b->fence);
    if (b->cuts_handed)
        vkResetFences(g->vk.device, b->cuts_handed, b->cut_fences);
    b->cuts_handed = b->cuts_passed = 0;
    vkResetCommandPool(g->vk.device, b->pool, 0);
    next_cmd(g, b, 0);
    while (*link) {
        struct staging_chunk *c = *link;
        c->used = 0;
        if (c->buffer.size > CHUNK_SIZE || kept == CHUNKS_KEPT) {
            *link = c->next;
            exec_vk_buffer_destroy(&g->vk, &c->buffer);
            free(c);
            continue;
        }
        kept++;
        link = &c->next;
    }
    exec_bind_forget(b);
    for (struct descriptor_pool *p = b->pools; p; p = p->next)
        vkResetDescriptorPool(g->vk.device, p->pool, 0);
    b->draws = 0;
    b->has_work = false;
    INVARIANT(!b->num_cuts && !b->sets);
    batch_check(b);
}

int exec_batch_sync(struct exec_engine *g)
{
    struct exec_batch *b = g->batch;
    uint64_t before = b->serial - 1;
    VkResult r = exec_batch_flush(g, b);

    if (!r && b->has_work)
        r = vkWaitForFences(g->vk.device, 1, &b->fence, VK_TRUE, UINT64_MAX);
    if (r)
        return exec_fail_vulkan(g, "the Vulkan device failed", r);
    pthread_mutex_lock(&g->lock);
    while (g->completed_serial < before || b->cuts_passed < b->cuts_handed)
        pthread_cond_wait(&g->changed, &g->lock);
    g->cut = NULL;
    pthread_mutex_unlock(&g->lock);
    exec_progress_passed(g, b, exec_progress_marks(g));
    exec_batch_run_readbacks(g, b);
    if (b->has_work)
        exec_batch_recycle(g, b);
    return 0;
}
