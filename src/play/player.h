/* SPDX-License-Identifier: MIT */
/* player.h: plays recordings on a device, as a driver: registers, ring, doorbell, interrupt. It is a driver
 * of its own, on the parts of machine/driver.h, since recordings say where guest memory is, and that is anywhere.
 *
 *   player_play ──▶ ring reset ──▶ [memory and scanout, descriptor, doorbell, interrupt, fence]* ──▶ frames, figures
 *
 * Invariants:
 *  1. Every recording begins on a device that knows nothing: the ring is reset, and with it every resource.
 *  2. One submission runs at a time: guest memory is as the recording has it when a stream begins.
 *  3. Fences rise: a submission whose recorded fence is higher than all before it gets the next number. One that repeats a
 *     fence or falls back (of several clients, or of the driver's own) gets the last number again, so that it advances nothing,
 *     as when it was recorded. It is waited for until its turn in the ring's order came. NO_IRQ stays.
 *     The device is given the recording's submissions and nothing else: the nth that it takes is the recording's nth.
 *  4. Recorded guest addresses are used as they are wherever they can be. What the player needs itself lies above them.
 *  5. The scanout has the size and format of the colour target that the frame presents; 64x64 R8G8B8A8 without one.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "gpu/gpu.h"
#include "machine/machine.h"
#include "base/samples.h"
#include "trace/reader.h"

/* Memory that a player needs for itself. */
#define PLAYER_OWN_MEMORY (UINT64_C(192) << 20)
/* Recorded addresses below PLAYER_LOW_END are used as they are. Those above, from machines with more memory
 * than this one can have, are moved down together, and the allocation tables rewritten; they may span
 * PLAYER_MAX_SPAN. */
#define PLAYER_LOW_END  (UINT64_C(2) << 30)
#define PLAYER_MAX_SPAN (UINT64_C(1) << 30)

struct player_frame {
    uint32_t index;             /* in the recording */
    struct gpu_picture picture; /* rgba: NULL unless wanted; a callback that keeps it sets it to NULL */
};

struct player_error {
    uint32_t code;
    uint64_t fence; /* as recorded */
    uint32_t count; /* how often in a row */
    uint32_t frame;
    char message[200];
};

/* Of one recording. Zero-initialised is empty; player_result_finish frees it. */
struct player_result {
    uint64_t submissions, commands, presents, frames;
    uint64_t unpresented;    /* frames that should have shown something and did not */
    struct samples latency;  /* doorbell to the interrupt or fence of each submission */
    struct samples lateness; /* of each vblank against its own time */
    uint64_t busy_ns;        /* the time it took, without what the frame callback took */
    struct player_error *errors;
    size_t num_errors, max_errors;
};

struct player_params {
    struct machine *machine; /* its interrupt routine becomes the player's */
    bool pictures;
    uint32_t only_frame; /* pictures of this frame only, and stop behind it; UINT32_MAX: all */
    void (*frame)(void *ctx, struct player_frame *f); /* may be NULL */
    /* Every now and then: the file offset that was reached. May be NULL. */
    void (*progress)(void *ctx, uint64_t offset, uint64_t end);
    void *ctx;
    /* Ends playing early when it is not 0; may be NULL. Atomic: other threads set it as well as signal handlers. */
    const _Atomic int *stop;
    uint64_t timeout_ns; /* for one submission; 0: 30 s */
};

struct player;

/* The guest memory that a recording names. */
struct player_memory {
    uint64_t low_end;              /* of addresses below PLAYER_LOW_END, 0 for none */
    uint64_t high_start, high_end; /* of the others, equal if there are none */
};

/* Looks through a recording; the reader is rewound. -EFBIG if its memory ranges span too much. Whatever else
 * is wrong with it is left for its turn to be played. */
int player_measure(struct trace_reader *r, struct player_memory *memory, struct error *e);

/* 0, or -EPROTONOSUPPORT: the commands are not of this ABI. */
int player_can_play(const struct trace_reader *r, struct error *e);

/* Guest memory that a machine needs for it, the player's own included. */
uint64_t player_ram_size(const struct player_memory *memory);

/* Brings the device up as a driver does: memory decoding, bus mastering, MSI, ring and fence page. The
 * machine has at least player_ram_size bytes of memory for each recording. */
int player_create(struct player **out, const struct player_params *p, struct error *e);
void player_destroy(struct player *p);

/* Plays from the beginning to the end, to the first damaged record, or until stopped. Errors that the device
 * latches are part of the result; a negative errno means that the recording is bad (-EBADMSG, -ENODATA,
 * -EPROTONOSUPPORT, …), that the device does not answer (-ETIMEDOUT) or that memory is short. The result
 * holds what happened until then. */
int player_play(struct player *p, struct trace_reader *r, struct player_result *result, struct error *e);

void player_result_finish(struct player_result *r);
