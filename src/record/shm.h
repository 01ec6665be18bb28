/* SPDX-License-Identifier: MIT */
/* shm.h: the memory that the recorded program shares with the collector (collect.h).
 *
 * The recorder inside the program writes into chunks; the collector outside compresses full ones into the file. What
 * was written when the program died, however it died, is still here, and the collector writes it.
 *
 *   FREE ──recorder takes──▶ OPEN ──recorder fills──▶ FULL ──collector writes──▶ FREE
 *
 * Invariants:
 *  1. Only the thread that opened a chunk writes to it; only the collector frees one, and never an OPEN one while
 *     the program lives.
 *  2. bytes [0, committed) are whole records. [committed, partial) is the call that the thread is in: with all of its
 *     arguments, also where it has no answer.
 *  3. The first `num_chunks` have their memory: the collector gets it from the system before it says so, since a write to memory
 *     of a file that the system has no room for ends the program. It adds some when all are held by threads.
 *  4. A collector that was killed has ended all the same: the kernel says so in `collector`. What it did not write is still here, and
 *     whoever reads the file takes it (salvage.h): each chunk says how much of it is in the file.
 *  5. Processes of 32 and of 64 bits share it: no layout here depends on the size of a pointer. A recorder maps the head, and
 *     SHM_STEP chunks at a time where it comes to use one of them: a process of 32 bits has no room for all.
 *     The last SHM_LENT chunks of the first step are kept by nobody: a thread that finds no other, and for which there is no memory
 *     to have more, has one of them for a single call. So however many threads there are, all are recorded.
 *  6. Sequence tickets come from `seq`, blob numbers from `blobs`, thread numbers from `threads`, so that several
 *     processes of one program (fork) stay apart.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/wire.h"

#define SHM_MAGIC UINT64_C(0x3153434552323144)
#define SHM_ENV   "AEROGPU_RECORD_SHM"
#define SHM_SLACK (16 * 1024) /* room behind each chunk's limit for what is written unchecked */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define SHM_STEP 8 /* each input is all of it */
#else
#define SHM_STEP 64 /* so many chunks more are there at once */
#endif
#define SHM_LENT   (SHM_STEP / 4)
#define SHM_CHUNKS 4096 /* and so many at most: every thread that makes calls holds one */

enum shm_state { SHM_FREE, SHM_OPEN, SHM_FULL };

struct shm_chunk { /* a cache line of its own: its thread writes into it at every call */
    _Alignas(64) _Atomic uint32_t state;
    uint32_t kind; /* trc_kind */
    uint32_t thread;
    uint32_t frame;
    uint64_t first_seq;
    uint64_t order; /* chunks of one thread are written in this order */
    _Atomic uint32_t committed, partial;
    /* The collector's: bytes [from, upto) are in the file if it is longer than `at`; bytes before `from` are in any case. */
    _Atomic uint32_t from, upto;
    _Atomic uint64_t at;
};

#define SHM_OWNER_DIED 0x40000000u /* of the kernel's robust futexes */

struct shm {
    uint64_t magic;
    uint64_t schema;
    _Atomic uint32_t num_chunks;
    uint32_t chunk_size;
    uint32_t hash_every;              /* 0: no frame hashes; n: every nth frame */
    uint32_t dirty_method;            /* enum dirty_method */
    uint32_t first_frame, last_frame; /* capture range; last 0: all */
    uint64_t start_ns;
    _Atomic uint64_t epoch_ns; /* where time begins for the recorded processes, by their clock */
    _Atomic uint64_t seq;
    _Atomic uint64_t order;
    _Atomic uint32_t blobs, threads, objects, events, frame;
    _Atomic uint32_t bell;      /* futex: rung when a chunk turns FULL */
    _Atomic uint32_t free_bell; /* futex: rung when one turns FREE */
    _Atomic uint32_t collector_gone;
    _Atomic uint32_t no_more;            /* chunks can be had */
    _Atomic uint32_t features;           /* enum trc_features */
    _Atomic uint32_t collector;          /* its thread, as long as it lives: a robust futex */
    _Atomic uint32_t lost;               /* calls, at least: there was no memory for them */
    uint64_t output_device, output_file; /* the recording, by stat(2)'s numbers */
    char output[4096];                   /* and by its path */
    struct shm_chunk chunks[SHM_CHUNKS];
};

#define SHM_DATA                                                                                             \
    ((sizeof(struct shm) + 65535) & ~(size_t)65535) /* where a part can be mapped on any system */
#define SHM_STRIDE ((size_t)TRC_CHUNK + SHM_SLACK)
#define SHM_SIZE   (SHM_DATA + SHM_STRIDE * SHM_CHUNKS)

_Static_assert(offsetof(struct shm, chunks) == 4288 && sizeof(struct shm_chunk) == 64,
               "of the same size everywhere");
_Static_assert(SHM_STRIDE *SHM_STEP % 65536 == 0, "each step can be mapped alone");

static inline bool shm_is_lent(uint32_t chunk)
{
    return chunk < SHM_STEP && chunk >= SHM_STEP - SHM_LENT;
}

/* Nobody writes full chunks any more. */
static inline bool shm_is_left(struct shm *s)
{
    return atomic_load(&s->collector_gone) || atomic_load(&s->collector) & SHM_OWNER_DIED;
}

static inline uint8_t *shm_data(struct shm *s, uint32_t chunk)
{
    return (uint8_t *)s + SHM_DATA + SHM_STRIDE * chunk;
}
