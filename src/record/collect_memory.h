/* SPDX-License-Identifier: MIT */
/* collect_memory.h: the collector's side of the memory that it shares with the program that is recorded (shm.h).
 *
 * The program may write anything over it at any time. What is taken from it is looked at once, or copied, and what makes no sense ends the
 * recording with an error that names the chunk.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "record/shm.h"

struct trc_writer;

struct collect_memory {
    struct shm *shm;
    char path[64];
    uint32_t chunks; /* that have memory: what the program may have written over it does not count */
    int fd;          /* stays open, and closes on exec, as long as the memory is used: with a lock */
    uint8_t *copy;   /* of the chunk that is written; the owner frees it */
    uint32_t done[SHM_CHUNKS]; /* of open chunks of blobs: bytes that are in the file already */
    struct {
        uint64_t chunk, at; /* 1 + its order; how many chunks had been begun when it was last written */
        uint32_t size;
    } so_far[SHM_CHUNKS];             /* of open chunks of calls: as TRC_SO_FAR */
    uint64_t went_on[(1 << 16) / 64]; /* a bit for each thread of which a whole chunk is written */
};

struct collect_sink {
    struct trc_writer *w;
    uint32_t last_frame; /* calls of later ones are left out */
    uint64_t blocks;     /* written */
};

/* Has the system's memory for `chunks` chunks, a multiple of SHM_STEP. 0 or a negative errno. */
int collect_memory_reserve(struct collect_memory *m, uint32_t chunks);
/* Where every chunk is held by a thread, others get some more. */
void collect_memory_grow(struct collect_memory *m);
/* Writes the chunks that are full, and frees them; at most as many as there are: a program that is faster than that does not keep us from
 * seeing its end. 0, -EBADMSG, or what the writer says. */
int collect_memory_drain(struct collect_memory *m, struct collect_sink *to, struct error *e);
/* After the end: chunks that were still open, in the order in which they were begun; `dead`: with the calls that threads were in. What a
 * process that the program left behind opens from then on is no part of it. */
int collect_memory_drain_open(struct collect_memory *m, struct collect_sink *to, bool dead, struct error *e);
