/* SPDX-License-Identifier: MIT */
/* engine_stream.h: random streams without errors, for an engine_rig: the same seed gives the same packets, whether they go
 * into one submission or into many.
 *
 *   setup (resources, shaders, layouts) ──▶ steps (states, transfers, draws) ──▶ mirror (everything into guest memory)
 *
 * Invariants:
 *  1. Every packet is legal, and nothing that Direct3D leaves undefined is drawn: no texture is read while it is a target,
 *     no vertex or index lies outside of its buffer.
 *  2. What the steps do depends on the seed alone; where submissions end does not change it.
 */
#pragma once

#include "engine_rig.h"

enum stream_cuts {
    CUT_NEVER,  /* one submission for everything */
    CUT_DRAWS,  /* each draw, clear, dispatch and copy in its own */
    CUT_RANDOM, /* here and there, also between the states of one draw */
    CUT_NOISE,  /* as CUT_DRAWS, and between two of them another context draws to a target of its own */
};

enum { STREAM_MIRRORS = 24 };

struct stream_result {
    uint64_t hash[STREAM_MIRRORS]; /* of the bytes of each resource at the end */
};

/* Runs the first `steps` steps of `seed`; the rig's engine forgets everything first. Fails the test on an error. */
void stream_run(struct rig *r, uint64_t seed, uint32_t steps, enum stream_cuts cuts,
                struct stream_result *out);
/* What the mirror holds, in words. */
const char *stream_mirror_name(int mirror);
/* The first byte in which the mirrors of two rigs differ, in words. */
void stream_explain(const struct rig *a, const struct rig *b, int mirror, char *text, uint32_t size);
/* Words about each step go to stderr while this is set. */
extern bool stream_verbose;
