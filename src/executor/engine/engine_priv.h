/* SPDX-License-Identifier: MIT */
/* engine_priv.h: the engine itself. Each family of objects has a header of its own, and its .c file or files:
 *
 *   fail.h           how a handler says what is wrong
 *   ops.h            what executes each packet
 *   object.h         objects.c, share.c: handles, reference counts, share tokens
 *   resource.h       objects.c, transfer.c, addresses.c, views.c, samples.c: buffers and textures, and how bytes get in and out
 *   shader_object.h  objects.c: shaders and the threads that translate them
 *   layout.h         layout.c, objects.c: input layouts, samplers
 *   context.h        state.c, states11.c, bindings.c: packets that only change a context's state, Direct3D 9 states included
 *   pass.h           targets.c, draw.c: render passes, clears, draws, dispatches
 *   pipeline.h       pipeline.c, bind.c: programs, pipelines, samplers, descriptor sets, and their caches
 *   direct3d11/inputs.h   inputs.c: vertex buffers and the inputs of shaders
 *   direct3d11/streams.h  streams.c: vertices that are written to buffers
 *   direct3d11/texel.h    texel.c: one texel of four numbers
 *   batch.h          batch.c: command buffers, fences, staging memory, what waits for the device
 *   recorder.h       progress.c: progress markers
 *   breadcrumbs.h    breadcrumbs.c: the guest's markers
 *   queries.h        queries.c: what draws count for the guest
 *   vk.h             vk.c: the Vulkan device and its memory
 *
 * Everything here belongs to the submit thread, except a batch that is queued (batch.h).
 */
#pragma once

#include <pthread.h>

#include "abi/alloc_table.h"
#include "abi/stream.h"
#include "executor/shader/shader.h"
#include "executor/engine/batch.h"
#include "executor/engine/breadcrumbs.h"
#include "executor/engine/engine.h"
#include "executor/engine/fail.h"
#include "executor/engine/ops.h"
#include "executor/engine/recorder.h"
#include "executor/engine/resource.h"
#include "base/clock.h"

struct caches;            /* pipeline.c */
struct framebuffer_entry; /* targets.c */
struct pass_entry;        /* targets.c */

struct exec_engine {
    struct exec_engine_params params;
    struct exec_vk vk;
    bool is_cpu;
    struct shader_addresses addresses; /* reserved for buffers; size 0: none have any */
    uint64_t addresses_used;           /* of it */

    struct exec_handle *handles;
    struct exec_token *tokens;
    struct exec_context *contexts;
    struct exec_object *deferred;
    struct exec_buffer *renamed; /* those that had other memory, and how much that is, all together */
    uint64_t place_bytes;
    struct caches *caches;
    struct pass_entry *passes;
    struct framebuffer_entry *framebuffers;

    struct exec_buffer null_buffer;                   /* zeroes; no handle names it */
    struct exec_texture *null_textures[TEXTURE_DIMS]; /* 1 x 1, zero; 6 layers of two dimensions */

    /* batches */
    pthread_mutex_t lock; /* what is below */
    pthread_cond_t changed;
    struct exec_batch batches[NUM_BATCHES];
    struct exec_batch *free_batches, *queue, **queue_end;
    struct exec_batch *cut; /* is being decoded, and pieces of it are at the device; NULL: none */
    uint64_t submitted_serial, completed_serial;
    struct clock clock;      /* the machine's, of zeroes */
    uint64_t done_ns;        /* when the last batch was; of whoever completes */
    _Atomic bool slow_draws; /* of the last batch, by the mean */
    bool stopping;
    pthread_t completer;
    bool completer_running;

    /* shader jobs */
    pthread_mutex_t job_lock;
    pthread_cond_t job_changed;
    struct shader_job *job_queue, **job_queue_end;
    pthread_t workers[2];
    int num_workers;
    bool workers_stop;

    /* the submission that is being decoded */
    struct exec_batch *batch;
    const struct abi_submission *submission;
    struct abi_stream stream;
    struct abi_alloc_table allocs;
    uint8_t *stream_copy;
    uint32_t stream_cap;
    uint8_t *table_copy;
    uint32_t table_cap;
    struct exec_context *ctx;
    struct pending_write *writes;
    uint32_t num_writes;
    size_t cap_writes;
    struct error *error;
    uint32_t error_code; /* aerogpu_error_code that goes with *error */
    enum abi_cause error_cause;
    uint64_t error_address; /* of ABI_CAUSE_DMA */

    /* what the command buffer is in the middle of */
    struct exec_context *pass_ctx; /* NULL: no render pass is open */
    uint32_t pass_draws, pass_copies, pass_width, pass_height, pass_layers;
    struct exec_buffer_view
        *pass_buffers[AEROGPU_MAX_RENDER_TARGETS]; /* that are drawn to; NULL behind the last */
    bool need_barrier;                             /* before the next pass, dispatch or copy */
    bool pass_stale; /* the open pass wrote UAVs: what comes next needs a barrier */
    bool at_head;    /* nothing is recorded yet: lavapipe passes over a barrier here */
    bool alone;      /* the last draw is a group of its own */
    struct exec_progress_recorder progress;
    struct breadcrumbs breadcrumbs;
    VkPipeline bound_pipeline;
    struct exec_program *bound_program[2]; /* whose sets are bound: graphics, compute */
    struct exec_context *bound_ctx;        /* whose state they show */
    int bound_slots;                       /* the stage whose slots the compute program's show */
};

/* Notes that the batch uses `o`. */
static inline void exec_batch_use(struct exec_engine *g, struct exec_object *o)
{
    o->last_use = g->batch->serial;
}
