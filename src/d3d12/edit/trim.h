/* SPDX-License-Identifier: MIT */
/* trim.h: cuts frames out of a recording so that they play on their own. */
#pragma once

#include "base/error.h"
#include "d3d12/play/play.h"
#include "record/trace_file.h"

struct trim_result {
    uint32_t objects;  /* that are made in front of the first frame */
    uint32_t contents; /* subresources whose content is in the file */
    uint32_t last;     /* the last frame that is kept */
    uint64_t calls;
    struct trc_progress progress; /* of playing what stands before the first frame */
};

/* Writes frames `first` to `last` of `t` to `path`, behind the calls that make what they use as it was. Plays the frames
 * before on this machine's device to see what was in the resources. Where the recording ends before
 * `last`, so does the new one. -ERANGE: there is no frame `first`. */
int trim_run(struct trc *t, const char *path, uint32_t first, uint32_t last, struct trim_result *r,
             struct error *e);
