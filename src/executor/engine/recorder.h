/* SPDX-License-Identifier: MIT */
/* recorder.h: writes the marks of progress.h while command buffers are recorded. */
#pragma once

#include "executor/engine/progress.h"
#include "executor/engine/vk.h"

struct abi_packet;
struct exec_batch;
struct exec_engine;

struct exec_progress_recorder {
    struct exec_progress *shared; /* NULL: no markers */
    bool exact;
    VkBuffer buffer; /* the same layout; of `pages`, or `own` */
    struct exec_vk_pages pages;
    struct exec_vk_buffer own;
    uint32_t packet;   /* that is being decoded */
    uint32_t draws;    /* of the open mark */
    uint32_t write[2]; /* top and bottom: what the device writes behind the next barrier, if `due` */
    bool due;
    bool only_top; /* the next barrier waits for nothing: behind it stands no bottom */
    PFN_vkCmdWriteBufferMarkerAMD write_marker; /* NULL: not by these */
    PFN_vkCmdSetCheckpointNV set_checkpoint;    /* NULL: not by these */
    PFN_vkGetQueueCheckpointDataNV get_checkpoints;
};

void exec_progress_create(struct exec_engine *g);
void exec_progress_destroy(struct exec_engine *g);
void exec_progress_begin(struct exec_engine *g);                              /* g->submission in g->batch */
void exec_progress_packet(struct exec_engine *g, const struct abi_packet *p); /* is decoded next */
void exec_progress_open(struct exec_engine *g);                 /* the command buffer has just begun */
void exec_progress_close(struct exec_engine *g, uint32_t last); /* it is about to end; `last`: packet */
void exec_progress_behind_barrier(struct exec_engine *g); /* all that was recorded before is waited for */
/* The device has done the first `marks` marks of the batch. */
void exec_progress_passed(struct exec_engine *g, const struct exec_batch *b, uint32_t marks);
uint32_t exec_progress_marks(const struct exec_engine *g); /* so far, of the batch that is recorded */
void exec_progress_set_state(struct exec_engine *g, const struct exec_batch *b,
                             enum exec_progress_state state);
/* Until it is called with EXEC_WAIT_NONE. */
void exec_progress_waits(struct exec_engine *g, const struct exec_batch *b, enum exec_progress_wait wait);
void exec_progress_lost(struct exec_engine *g, const struct exec_batch *b);
void exec_progress_done(struct exec_engine *g, const struct exec_batch *b,
                        bool finished); /* all of it, or the device failed */
/* Brings the shared memory up to date where the device cannot. */
void exec_progress_copy(struct exec_engine *g, const struct exec_batch *b);
