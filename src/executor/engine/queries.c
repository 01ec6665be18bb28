/* SPDX-License-Identifier: MIT */
/* queries.c: what draws and dispatches count for the guest.
 *
 *   BEGIN ──▶ active ──each draw: one Vulkan query of its kind──▶ active ──END, or the batch ends──▶ added to guest memory
 *
 * Vulkan's queries end with their render pass and command buffer, and there is one of a kind at a time; the guest's go over
 * many submissions, and nest. So each draw has its own, and whoever is active adds up those since it began.
 *
 * Invariants:
 *  1. Pools are reset outside of passes, and read before they are reset.
 *  2. Guest memory is written only where the allocation table of the submission that writes says that it may be.
 */
#include "executor/engine/queries.h"

#include "base/check.h"
#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"

enum { ROOM = 512 };

static const VkQueryPipelineStatisticFlags all_statistics =
    VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT |
    VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_PRIMITIVES_BIT |
    VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT |
    VK_QUERY_PIPELINE_STATISTIC_GEOMETRY_SHADER_INVOCATIONS_BIT |
    VK_QUERY_PIPELINE_STATISTIC_GEOMETRY_SHADER_PRIMITIVES_BIT |
    VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT |
    VK_QUERY_PIPELINE_STATISTIC_CLIPPING_PRIMITIVES_BIT |
    VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT |
    VK_QUERY_PIPELINE_STATISTIC_TESSELLATION_CONTROL_SHADER_PATCHES_BIT |
    VK_QUERY_PIPELINE_STATISTIC_TESSELLATION_EVALUATION_SHADER_INVOCATIONS_BIT |
    VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT;

static const struct {
    VkQueryType type;
    uint32_t words; /* of a result; statistics come in the order of their bits, which is Direct3D's */
} kinds[EXEC_QUERY_POOLS] = {
    [EXEC_QUERY_SAMPLES] = {VK_QUERY_TYPE_OCCLUSION, 1},
    [EXEC_QUERY_STATISTICS] = {VK_QUERY_TYPE_PIPELINE_STATISTICS, AEROGPU_QUERY_STATISTICS_WORDS},
    [EXEC_QUERY_STREAM] = {VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT, 2},
    [EXEC_QUERY_STREAM + 1] = {VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT, 2},
    [EXEC_QUERY_STREAM + 2] = {VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT, 2},
    [EXEC_QUERY_STREAM + 3] = {VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT, 2},
    [EXEC_QUERY_TIME] = {VK_QUERY_TYPE_TIMESTAMP, 1},
};

static bool is_stream(enum exec_query_pool_kind kind)
{
    return kind >= EXEC_QUERY_STREAM && kind < EXEC_QUERY_TIME;
}

static bool can(const struct exec_engine *g, enum exec_query_pool_kind kind)
{
    if (is_stream(kind))
        return g->vk.caps.streams && (uint32_t)(kind - EXEC_QUERY_STREAM) < g->vk.caps.max_streams;
    return kind == EXEC_QUERY_SAMPLES ||
           (kind == EXEC_QUERY_STATISTICS ? g->vk.caps.statistics : g->vk.caps.timestamps);
}

static bool counts(const struct exec_engine *g, enum exec_query_pool_kind kind)
{
    return g->ctx->active_queries[kind] && can(g, kind);
}

/* A pool with something free, reset: what was in it has been read (1). */
static int room_in(struct exec_engine *g, enum exec_query_pool_kind kind)
{
    VkQueryPoolCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                .queryType = kinds[kind].type,
                                .queryCount = ROOM,
                                .pipelineStatistics = kind == EXEC_QUERY_STATISTICS ? all_statistics : 0};
    struct exec_query_pools *q = &g->batch->queries;

    if (q->ready[kind] && q->used[kind] < ROOM)
        return 0;
    if (q->ready[kind]) {
        int r = exec_queries_close(g);
        if (r)
            return r;
    }
    if (!q->pool[kind] && vkCreateQueryPool(g->vk.device, &ci, NULL, &q->pool[kind]))
        return fail_memory(g, "no memory for queries");
    vkCmdResetQueryPool(exec_batch_transfer(g), q->pool[kind], 0, ROOM);
    q->ready[kind] = true;
    q->used[kind] = 0;
    for (uint32_t i = 0; i < AEROGPU_QUERY_SLOTS; i++)
        if (g->ctx->queries[i].kind == kind)
            g->ctx->queries[i].first = 0;
    return 0;
}

int exec_queries_room(struct exec_engine *g)
{
    int r = 0;

    for (int kind = 0; kind < EXEC_QUERY_TIME && !r; kind++)
        if (counts(g, kind))
            r = room_in(g, kind);
    return r;
}

void exec_queries_begin(struct exec_engine *g)
{
    struct exec_query_pools *q = &g->batch->queries;

    for (int kind = 0; kind < EXEC_QUERY_TIME; kind++)
        if (counts(g, kind) && is_stream(kind))
            g->vk.begin_query(g->batch->cmd, q->pool[kind], q->used[kind], 0,
                              (uint32_t)kind - EXEC_QUERY_STREAM);
        else if (counts(g, kind))
            vkCmdBeginQuery(
                g->batch->cmd, q->pool[kind], q->used[kind],
                kind == EXEC_QUERY_SAMPLES && g->vk.caps.precise_samples ? VK_QUERY_CONTROL_PRECISE_BIT : 0);
}

void exec_queries_end(struct exec_engine *g)
{
    struct exec_query_pools *q = &g->batch->queries;

    for (int kind = 0; kind < EXEC_QUERY_TIME; kind++)
        if (counts(g, kind) && is_stream(kind))
            g->vk.end_query(g->batch->cmd, q->pool[kind], q->used[kind]++,
                            (uint32_t)kind - EXEC_QUERY_STREAM);
        else if (counts(g, kind))
            vkCmdEndQuery(g->batch->cmd, q->pool[kind], q->used[kind]++);
    INVARIANT(q->used[EXEC_QUERY_SAMPLES] <= ROOM && q->used[EXEC_QUERY_STATISTICS] <= ROOM);
}

/* Where a result goes (2). */
static int resolve(struct exec_engine *g, uint32_t alloc_id, uint64_t offset, uint64_t size, uint64_t *gpa)
{
    const struct abi_alloc *a = abi_alloc_table_find(&g->allocs, alloc_id);

    if (!a)
        return fail_decode(g, "alloc_id %u is not in the allocation table", alloc_id);
    if (a->readonly)
        return fail_decode(g, "alloc_id %u is READONLY in this submission", alloc_id);
    if (offset % 8 || offset > a->size || size > a->size - offset)
        return fail_oob(g, "%llu bytes at %llu do not fit alloc_id %u, which has %llu bytes",
                        (unsigned long long)size, (unsigned long long)offset, alloc_id,
                        (unsigned long long)a->size);
    *gpa = a->gpa + offset;
    return g->params.dma_map(g->params.ctx, *gpa, size) ? 0 : exec_fail_dma(g, "", *gpa, size);
}

/* `count` results from `first` on, or zero, to guest memory when the device is done. */
static int read_back(struct exec_engine *g, enum exec_query_pool_kind kind, uint32_t first, uint32_t count,
                     uint64_t gpa)
{
    uint64_t bytes = kinds[kind].words * UINT64_C(8), size = bytes * (count ? count : 1);
    struct readback *rb;
    VkDeviceSize offset;
    VkBuffer staging;
    uint8_t *map;
    int r = exec_batch_stage(g, size, 16, &staging, &offset, &map);

    if (!r)
        r = exec_note_write(g, gpa, bytes);
    rb = r ? NULL : exec_batch_readback(g);
    if (!rb)
        return r ? r : fail_memory(g, "no memory");
    memset(map, 0, size);
    *rb = (struct readback){.from = map,
                            .row_bytes = (uint32_t)bytes,
                            .rows = 1,
                            .gpa = gpa,
                            .pitch = bytes,
                            .added = kind == EXEC_QUERY_TIME ? 0 : count,
                            .ns_per_tick =
                                kind == EXEC_QUERY_TIME ? g->vk.properties.limits.timestampPeriod : 0};
    if (count)
        vkCmdCopyQueryPoolResults(exec_batch_transfer(g), g->batch->queries.pool[kind], first, count, staging,
                                  offset, bytes, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    else
        exec_batch_cmd(g); /* so that there is a fence to wait for */
    return 0;
}

/* What the query has counted and nobody read. */
static int collect(struct exec_engine *g, struct exec_query *q)
{
    uint32_t used = g->batch->queries.used[q->kind], first = q->first;
    uint64_t gpa;
    int r;

    if (!g->batch->queries.ready[q->kind] || first == used)
        return 0;
    r = resolve(g, q->alloc_id, q->offset, kinds[q->kind].words * UINT64_C(8), &gpa);
    if (r)
        return r;
    q->first = used;
    return read_back(g, q->kind, first, used - first, gpa);
}

int exec_queries_close(struct exec_engine *g)
{
    int r = 0;

    if (!g->ctx || g->error->code)
        return 0;
    for (uint32_t i = 0; i < AEROGPU_QUERY_SLOTS && !r; i++)
        if (g->ctx->queries[i].active)
            r = collect(g, &g->ctx->queries[i]);
    return r;
}

void exec_queries_recycle(struct exec_batch *b)
{
    memset(b->queries.used, 0, sizeof(b->queries.used));
    memset(b->queries.ready, 0, sizeof(b->queries.ready));
}

void exec_queries_finish(struct exec_engine *g, struct exec_batch *b)
{
    for (int kind = 0; kind < EXEC_QUERY_POOLS; kind++)
        if (b->queries.pool[kind])
            vkDestroyQueryPool(g->vk.device, b->queries.pool[kind], NULL);
}

static void stop(struct exec_context *c, struct exec_query *q)
{
    c->active_queries[q->kind] -= q->active;
    q->active = false;
}

int exec_op_ext_begin_query(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_begin_query c;
    struct exec_query *q;
    uint64_t gpa;
    int r;

    memcpy(&c, p->data, sizeof(c));
    if (c.slot >= AEROGPU_QUERY_SLOTS || c.kind >= EXEC_QUERY_TIME)
        return fail_decode(g, "slot %u, kind %u: there are %u slots, and kinds 0 to 5", c.slot, c.kind,
                           AEROGPU_QUERY_SLOTS);
    r = resolve(g, c.alloc_id, c.offset, kinds[c.kind].words * UINT64_C(8), &gpa);
    if (!r)
        r = read_back(g, c.kind, 0, 0, gpa);
    if (r)
        return r;
    q = &g->ctx->queries[c.slot];
    stop(g->ctx, q);
    *q = (struct exec_query){.active = true,
                             .kind = (uint8_t)c.kind,
                             .alloc_id = c.alloc_id,
                             .offset = c.offset,
                             .first = g->batch->queries.used[c.kind]};
    g->ctx->active_queries[c.kind]++;
    return 0;
}

int exec_op_ext_end_query(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_end_query c;
    struct exec_query *q;
    int r;

    memcpy(&c, p->data, sizeof(c));
    q = c.slot < AEROGPU_QUERY_SLOTS ? &g->ctx->queries[c.slot] : NULL;
    if (!q || !q->active)
        return fail_decode(g, "no query has begun in slot %u", c.slot);
    r = collect(g, q);
    stop(g->ctx, q);
    return r;
}

int exec_op_ext_write_timestamp(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_query_pools *q = &g->batch->queries;
    struct aerogpu_cmd_ext_write_timestamp c;
    uint64_t gpa;
    int r;

    memcpy(&c, p->data, sizeof(c));
    r = resolve(g, c.alloc_id, c.offset, 8, &gpa);
    if (r || !can(g, EXEC_QUERY_TIME))
        return r ? r : read_back(g, EXEC_QUERY_TIME, 0, 0, gpa);
    r = room_in(g, EXEC_QUERY_TIME);
    if (r)
        return r;
    vkCmdWriteTimestamp(exec_batch_transfer(g), VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                        q->pool[EXEC_QUERY_TIME], q->used[EXEC_QUERY_TIME]);
    return read_back(g, EXEC_QUERY_TIME, q->used[EXEC_QUERY_TIME]++, 1, gpa);
}
