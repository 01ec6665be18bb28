/* SPDX-License-Identifier: MIT */
/* batch.h: command buffers, their staging memory, and what waits for the device. A batch belongs to the submit thread until it is
 * queued, and to the completion thread from then until it has completed. */
#pragma once

#include "abi/submission.h"
#include "executor/engine/formats.h"
#include "executor/engine/queries.h"
#include "executor/engine/vk.h"

struct descriptor_pool;
struct exec_engine;
struct set_cache_entry;
struct shader_job;

enum { NUM_BATCHES = 4, MAX_CUTS = 128, SLOW_DRAW_NS = 30000000 };

/* Rows of staging memory that go to guest memory when the device is done. */
struct readback {
    const uint8_t *from;
    uint32_t row_bytes, rows; /* of `from`, tight */
    uint64_t gpa, pitch;
    const struct format_info *convert_from; /* NULL: bytes as they are */
    uint32_t convert_to;                    /* aerogpu_format */
    uint8_t
        stencil_follows; /* depth words, then stencil bytes: 4 and 8 are what a texel has in guest memory */
    bool depth_is_float; /* these words are floats: the device has no 24-bit depth */
    uint32_t added;      /* not 0: so many rows of 64-bit numbers, which are added up, and to what is there */
    float ns_per_tick;   /* not 0: the row is a number of these */
};

struct staging_chunk {
    struct staging_chunk *next;
    struct exec_vk_buffer buffer;
    VkDeviceSize used;
};

struct exec_batch {
    uint64_t serial;
    VkCommandPool pool;
    VkCommandBuffer cmds[MAX_CUTS]; /* made when first needed; a batch is submitted in as many pieces */
    VkCommandBuffer cmd;            /* the one in use: cmds[num_cuts] */
    uint32_t num_cuts;
    VkFence fence;
    VkFence cut_fences[MAX_CUTS]; /* of the pieces before the last: made when first needed */
    uint32_t cut_marks[MAX_CUTS]; /* marks up to the end of the piece */
    uint32_t cuts_handed,
        cuts_passed; /* pieces that have a fence, and those whose end was seen; engine's lock */
    bool recording, has_work;
    bool slow;      /* draws are, as far as is known: each is a piece */
    uint32_t draws; /* since it was handed to the device last, all pieces together */
    uint64_t handed_ns;
    struct staging_chunk *chunks; /* in use; the first has room */
    struct readback *readbacks;
    uint32_t num_readbacks;
    size_t cap_readbacks;
    struct descriptor_pool *pools; /* in use */
    struct set_cache_entry *sets;
    struct shader_job *jobs; /* created by this submission */
    struct exec_query_pools queries;
    struct abi_completion completion;
    uint32_t error_packet;   /* packet that completion.error is about */
    struct exec_batch *next; /* in the queue of the completion thread */
};

/* Guest memory that a readback of batch `serial` will write. */
struct pending_write {
    uint64_t serial, gpa, size;
};

int exec_batch_init(struct exec_engine *g, struct exec_batch *b);
void exec_batch_finish(struct exec_engine *g, struct exec_batch *b);
/* The command buffer, started if need be, outside any render pass and behind a barrier if one is due; NULL on failure. */
VkCommandBuffer exec_batch_transfer(struct exec_engine *g);
/* The command buffer, wherever it is. */
VkCommandBuffer exec_batch_cmd(struct exec_engine *g);
/* `size` bytes of staging memory, 16-byte aligned; *map is where to write or read them. */
int exec_batch_stage(struct exec_engine *g, uint64_t size, uint64_t align, VkBuffer *buffer,
                     VkDeviceSize *offset, uint8_t **map);
struct readback *exec_batch_readback(struct exec_engine *g);
/* Hands everything recorded so far to the device and waits for it, write-backs included. */
int exec_batch_sync(struct exec_engine *g);
/* Hands what is recorded to the device and goes on in a new command buffer; does nothing after MAX_CUTS of them. */
int exec_batch_cut(struct exec_engine *g);
/* Whether the device is done with all pieces of the batch that were handed to it, or is within `ns`. */
bool exec_batch_cuts_done(struct exec_engine *g, uint64_t ns);
VkResult exec_batch_flush(struct exec_engine *g, struct exec_batch *b);
void exec_batch_run_readbacks(struct exec_engine *g, struct exec_batch *b);
void exec_batch_recycle(struct exec_engine *g, struct exec_batch *b);
