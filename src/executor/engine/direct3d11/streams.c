/* SPDX-License-Identifier: MIT */
/* streams.c: how far each buffer was written is kept with the buffer, in memory of the device: a draw goes on there. */
#include "executor/engine/direct3d11/streams.h"

#include <errno.h>
#include <string.h>

#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"
#include "executor/engine/pipeline.h"

enum { APPEND = -1 };

bool exec_streams_bound(const struct exec_context *c)
{
    for (uint32_t i = 0; i < AEROGPU_STREAM_OUTPUT_SLOTS; i++)
        if (c->streams[i].buffer)
            return true;
    return false;
}

static int make_streamed(struct exec_engine *g, struct exec_buffer *b)
{
    if (b->streamed.buffer)
        return 0;
    if (exec_vk_buffer_create(&g->vk, &b->streamed, 16,
                              VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_COUNTER_BUFFER_BIT_EXT |
                                  VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              VK_USE_SHARED))
        return fail_memory(g, "no device memory for what was written to buffer %u", b->o.handle);
    memset(b->streamed.memory.map, 0, 16);
    return 0;
}

int exec_op_ext_set_stream_output(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_set_stream_output s;
    struct exec_buffer *found[AEROGPU_STREAM_OUTPUT_SLOTS] = {NULL};
    struct exec_context *c = g->ctx;
    int r;

    memcpy(&s, p->data, sizeof(s));
    for (uint32_t i = 0; i < AEROGPU_STREAM_OUTPUT_SLOTS; i++) {
        if (!s.buffers[i])
            continue;
        if (!g->vk.caps.streams)
            return fail_backend(g, "this Vulkan device writes no vertices to buffers");
        found[i] = exec_object_find(g, s.buffers[i], OBJECT_BUFFER);
        if (!found[i])
            return -EBADMSG;
        if (s.offsets[i] != (uint32_t)APPEND && (s.offsets[i] % 4 || s.offsets[i] > found[i]->size))
            return fail_oob(g, "slot %u: offset %u is none of buffer %u, which has %llu bytes", i,
                            s.offsets[i], s.buffers[i], (unsigned long long)found[i]->size);
        r = make_streamed(g, found[i]);
        if (r)
            return r;
    }
    for (uint32_t i = 0; i < AEROGPU_STREAM_OUTPUT_SLOTS; i++) {
        exec_object_assign(g, &c->streams[i].buffer, found[i]);
        if (!found[i] || s.offsets[i] == (uint32_t)APPEND)
            continue;
        vkCmdFillBuffer(exec_batch_transfer(g), found[i]->streamed.buffer, 0, 4, s.offsets[i]);
        exec_batch_use(g, &found[i]->o);
    }
    c->dirty |= DIRTY_TARGETS; /* without any there is a pass all the same */
    return 0;
}

/* The counters of all slots up to the last one that something is bound to. */
static uint32_t counters(const struct exec_context *c, VkBuffer *buffers)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < AEROGPU_STREAM_OUTPUT_SLOTS; i++) {
        buffers[i] = c->streams[i].buffer ? c->streams[i].buffer->streamed.buffer : VK_NULL_HANDLE;
        n = buffers[i] ? i + 1 : n;
    }
    return n;
}

void exec_streams_begin(struct exec_engine *g, struct exec_context *c)
{
    static const VkDeviceSize zero[AEROGPU_STREAM_OUTPUT_SLOTS];
    VkBuffer buffers[AEROGPU_STREAM_OUTPUT_SLOTS];
    uint32_t n = counters(c, buffers);

    for (uint32_t i = 0; i < n; i++) {
        struct exec_buffer *b = c->streams[i].buffer;

        if (!b) /* the pipeline may name it: what it writes goes nowhere */
            continue;
        g->vk.bind_streams(g->batch->cmd, i, 1, &b->vk.buffer, zero, &b->size);
        exec_batch_use(g, &b->o);
    }
    if (n)
        g->vk.begin_streams(g->batch->cmd, 0, n, buffers, zero);
}

void exec_streams_end(struct exec_engine *g, struct exec_context *c)
{
    static const VkDeviceSize zero[AEROGPU_STREAM_OUTPUT_SLOTS];
    VkBuffer buffers[AEROGPU_STREAM_OUTPUT_SLOTS];
    uint32_t n = counters(c, buffers);

    if (n)
        g->vk.end_streams(g->batch->cmd, 0, n, buffers, zero);
}
