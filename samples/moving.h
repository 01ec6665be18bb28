/* SPDX-License-Identifier: MIT */
/* moving.h: recordings with a crash planted in them, by seed, that comes of what guest memory held when its submission, or an earlier
 * one, was made: the memory is written over for each frame, as a driver's upload rings are. */
#pragma once

#include "plant.h"

#define MOVING_KINDS(K)                                                                                      \
    K(RING_FAULT, "constants in guest memory name a wild address in one frame")                              \
    K(RING_HANG, "constants in guest memory count for ever in one frame")                                    \
    K(OLD_FAULT, "constants were read frames ago from memory that holds others since")                       \
    K(STAGED_FAULT, "constants are copied from a staging buffer in guest memory, which is read back too")    \
    K(VERTEX_HANG, "vertices in guest memory cover all of the target in one frame, for a slow shader")       \
    K(MADE_FAULT, "a buffer is made of what guest memory holds, and used frames later")

enum moving_kind {
#define MOVING_ROW(NAME, doc) MOVING_##NAME,
    MOVING_KINDS(MOVING_ROW)
#undef MOVING_ROW
        MOVING_NUM_KINDS
};

const char *moving_kind_name(enum moving_kind kind);

/* Writes the recording that `seed` stands for; out: ordinal and packet only. `shaders` as in struct sample. */
int moving_write(struct plant *out, uint64_t seed, const char *path, const char *shaders, struct error *e);
