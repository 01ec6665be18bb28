/* SPDX-License-Identifier: MIT */
/* stateblock.h: which parts of a device's state a state block has. */
#pragma once

#include "d3d/d3d9/rt9.h"

struct d9_mask { /* a byte for each */
    uint8_t rs[D9_RENDER_STATES], tss[D9_STAGES][D9_TSS], samplers[D9_SAMPLERS][D9_SAMP],
        textures[D9_SAMPLERS];
    uint8_t world[D9_WORLDS], view, projection, texture[D9_STAGES];
    uint8_t material, lights, clip[6], viewport, scissor;
    uint8_t vs, ps, decl, streams[D9_STREAMS], frequencies[D9_STREAMS], indices;
    uint8_t vs_f[256], vs_i[16], vs_b[16], ps_f[256], ps_i[16], ps_b[16];
};

struct d9_block {
    struct d9_object o;
    struct d9_mask mask;
    bool keeps_offsets; /* of streams: Capture leaves those of what CreateStateBlock made, as on Windows */
    struct d9_state state;
};

/* Where a setter writes: the block that is recorded, or the device's state. */
static inline struct d9_state *d9_into(struct d9_device *d)
{
    return d->recording ? &d->recording->state : &d->state;
}

/* Whether the setter wrote into a block, which has `part` now. */
#define D9_RECORDS(d, part) ((d)->recording ? ((d)->recording->mask.part = 1, true) : false)

void d9_state_release(struct d9_state *s);
