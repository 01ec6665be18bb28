/* SPDX-License-Identifier: MIT */
/* trace_trim.h: cuts frames out of a recording so that they play on their own. What it knows of the API stands in its tables;
 * what was in objects when the first frame began, the player sees. */
#pragma once

#include "base/error.h"
#include "record/trace_file.h"

struct trc_trim;

struct trc_trim_params {
    uint32_t first, last; /* frames; where the recording ends before `last`, so does the new one */
    /* Plays what stands before frame `first`, and says with the two functions below what is in each part of each object that
     * trc_trim_wants(). NULL: nothing is in them. */
    int (*contents)(struct trc *t, struct trc_trim *x, const struct trc_trim_params *params, struct error *e);
    struct trc_progress *progress; /* of that, for whoever outlives it; or NULL */
};

struct trc_trim_result {
    uint32_t objects;  /* that are made in front of the first frame */
    uint32_t contents; /* parts of objects whose content is in the file */
    uint32_t last;     /* the last frame that is kept */
    uint64_t calls;
};

/* Writes the frames to `path`, behind the calls that make what they use as it was. -ENOENT: there is no frame `first`. */
int trc_trim(struct trc *t, const char *path, const struct trc_trim_params *params, struct trc_trim_result *r,
             struct error *e);

/* For `contents`: whether the object is there when the first frame begins. */
bool trc_trim_wants(struct trc_trim *x, uint32_t object);
/* Part `part` of it is in `state` and holds these bytes; or begins empty, because of `why`. */
int trc_trim_content(struct trc_trim *x, uint32_t object, uint32_t part, uint32_t state, const void *bytes,
                     size_t size, struct error *e);
int trc_trim_empty(struct trc_trim *x, uint32_t object, uint32_t part, const char *why, struct error *e);
