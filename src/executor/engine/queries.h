/* SPDX-License-Identifier: MIT */
/* queries.h: what draws and dispatches count for the guest (ext.h, EXT_QUERIES). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

#include <aerogpu/ext.h>

struct exec_batch;
struct exec_engine;

/* The first are numbered as enum aerogpu_query_kind. */
enum exec_query_pool_kind {
    EXEC_QUERY_SAMPLES,
    EXEC_QUERY_STATISTICS,
    EXEC_QUERY_STREAM, /* and those of the other streams */
    EXEC_QUERY_TIME = EXEC_QUERY_STREAM + 4,
    EXEC_QUERY_POOLS
};

/* One of a context's queries. */
struct exec_query {
    bool active;
    uint8_t kind; /* enum aerogpu_query_kind */
    uint32_t alloc_id;
    uint64_t offset;
    uint32_t first; /* of the batch's pool: the first that is its, and was not read yet */
};

/* Of a batch: as many as `used` of each pool are taken. */
struct exec_query_pools {
    VkQueryPool pool[EXEC_QUERY_POOLS]; /* made when first needed */
    uint32_t used[EXEC_QUERY_POOLS];
    bool ready[EXEC_QUERY_POOLS]; /* reset since the batch began */
};

/* Outside of any pass, in front of a draw or dispatch: there is room for what it counts. */
int exec_queries_room(struct exec_engine *g);
/* Around the command itself. */
void exec_queries_begin(struct exec_engine *g);
void exec_queries_end(struct exec_engine *g);
/* What was counted up to here is read back. */
int exec_queries_close(struct exec_engine *g);
/* The device is done with the batch. */
void exec_queries_recycle(struct exec_batch *b);
void exec_queries_finish(struct exec_engine *g, struct exec_batch *b);
