/* SPDX-License-Identifier: MIT */
/* targets.h: which picture a command stream presents, found by reading the stream as a driver that wrote it would know.
 *
 * A recording holds submissions and no registers. Whoever plays it must programme the scanout before the
 * stream runs, so this follows the packets that make textures, views, aliases and render targets, for all
 * contexts, from the first submission on.
 *
 * Invariant: streams are given in the order in which they execute, each once. What a malformed packet or
 * those behind it would have done is not followed, as the device does not execute them either.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct target_surface {
    uint32_t width, height, format, mips; /* width 0: no texture */
};

/* Zero-initialised is empty. */
struct targets {
    struct map surfaces; /* by handle, token or context (kind in bits 62 and 63); each allocated */
    bool failed;         /* out of memory: answers are the default picture from now on */
};

struct target_scan {
    uint32_t packets;                /* well-formed, unknown ones too */
    uint32_t presents;               /* PRESENT and PRESENT_EX among them */
    bool vsync;                      /* one of them waits for a vblank */
    struct target_surface presented; /* by the last of them; 64x64 R8G8B8A8_UNORM without a colour target */
};

/* Follows one stream of `context`. */
void targets_scan(struct targets *t, uint32_t context, const void *stream, uint64_t size,
                  struct target_scan *out);

void targets_finish(struct targets *t);
