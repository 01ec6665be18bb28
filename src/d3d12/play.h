/* play.h: plays a recording: makes the calls again, in their order, on a device of this machine.
 *
 * Swap chain images become ordinary textures, so nothing needs a window. Where the recorded program read a fence or
 * waited for an event, the player waits until the fence is as far as it was then.
 */
#ifndef D3D12_PLAY_H_
#define D3D12_PLAY_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "d3d12/trace_file.h"

struct play_params {
    uint64_t until_call;  /* stop after this call; UINT64_MAX: play all */
    uint32_t until_frame; /* stop after this frame; UINT32_MAX: play all */
    bool validate;        /* compare pictures and read-back memory with the hashes in the recording */
    const char *png_dir;  /* write each frame's picture there; NULL: none */
    uint32_t png_first, png_last;
    uint32_t timeout_ms;  /* for a fence or an event; 0: 10 s */
    const char *dump_path; /* raw bytes of `dump_resource` after the last call, or NULL */
    uint32_t dump_resource;
};

struct play_result {
    uint64_t calls;
    uint32_t frames, frames_same, frames_different, first_different;
    uint32_t reads_same, reads_different;
    uint64_t first_read_call;
    double seconds;
};

/* 0, or a negative errno with the call that could not be played in *e. */
int play_run(struct trc *t, const struct play_params *params, struct play_result *r, struct error *e);

#endif
