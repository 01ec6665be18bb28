/* SPDX-License-Identifier: MIT */
/* play.h: plays a recording: makes the calls again, in their order, on a device of this machine.
 *
 * Swap chain images become ordinary textures, so nothing needs a window. Where the recorded program read a fence or
 * waited for an event, the player waits until the fence is as far as it was then.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/trace_file.h"

struct player;
struct trc_trim;
struct trc_trim_params; /* play_internal.h */
struct play_on;         /* play_on.h */

struct play_params {
    const struct play_on *on; /* NULL: this machine's libvkd3d */
    uint64_t until_call;      /* stop after this call; UINT64_MAX: play all */
    uint32_t until_frame;     /* stop after this frame; UINT32_MAX: play all */
    bool validate;            /* compare pictures and read-back memory with the hashes in the recording */
    const char *png_dir;      /* write each frame's picture there; NULL: none */
    uint32_t png_first, png_last;
    /* Print a line for each presented frame, memory read back, draw (of draw_first..draw_last) and, after the last call, subresource:
     * "frame CALL NUMBER HASH", "read CALL OBJECT HASH", "draw CALL OBJECT HASH", "resource OBJECT SUB HASH". */
    bool hashes;
    uint32_t timeout_ms; /* for a fence or an event; 0: 10 s */
    const char *
        dump_path; /* what `dump_resource` holds after the last call: raw bytes, or a picture if it ends in .png */
    uint32_t dump_resource, dump_sub;
    const char *
        all_dir; /* what every resource holds after the last call: res-N-SUB.png, or the first bytes in .bin */
    uint64_t stop_before; /* from this call on nothing is drawn, copied or cleared; UINT64_MAX: all is */
    uint64_t draw_first,
        draw_last; /* with `png_dir`: the picture after each draw among these calls; first > last: none */
    bool
        pixel; /* print which draws and clears of the first render target change this pixel of it, and what to */
    uint32_t pixel_x, pixel_y;
    bool
        loop; /* the calls of frame `loop_frame` again and again, `loop_times` times in all, and no frame behind it */
    uint32_t loop_frame;
    uint64_t loop_times;
    const volatile sig_atomic_t *stop; /* NULL, or not 0: no more calls */
    bool
        gpu_time; /* measure each list, and each draw of draw_first..draw_last, with timestamps, and print a line for each draw
                      ("call N: METHOD: T ms on the GPU"), and for each frame */
    bool step;   /* wait for each submission: the one that does not get done is named */
    bool paced;  /* frames no earlier than they were recorded */
    bool window; /* show each presented frame in a window; who closes it ends playing */
    /* Called once with the device idle before the first call of frame `at_frame`: for observers. */
    uint32_t at_frame;
    int (*at)(struct player *p, void *ctx, struct error *e);
    void *at_ctx;
    const uint8_t *keep; /* one byte a call: 0: leave it out; NULL: make all */
    struct trc_progress *progress;
    bool
        finish; /* after the last call of the recording wait until the device is done: if it does not, that is an error */
};

struct play_result {
    uint64_t calls, end; /* that were made; the first that was not reached */
    uint32_t end_frame;  /* of the last that was */
    uint32_t frames, frames_same, frames_different, first_different;
    uint32_t reads_same, reads_different, reads_of_times; /* timestamps are never alike */
    uint64_t first_read_call;
    uint32_t written_same, written_different; /* what queues wrote, of programs without pictures and reads */
    uint64_t first_written_call;
    uint64_t draws_refused; /* by the Vulkan driver, as far as that is known: they are not in the pictures */
    double seconds;
    double gpu_ms; /* with gpu_time: of all lists */
    bool stopped;  /* at until_call or until_frame: there are calls behind */
    bool hung;     /* all was played, and the device did not get done with it */
    bool waits;    /* all was played and is done, and the last call waits for a fence that nobody signals */
};

/* 0, or a negative errno with the call that could not be played in *e. */
int play_run(struct trc *t, const struct play_params *params, struct play_result *r, struct error *e);

/* trc_trim_params.contents: plays on this machine's device what stands before the frame, and reads what is in resources then. */
int play_contents(struct trc *t, struct trc_trim *x, const struct trc_trim_params *params, struct error *e);
