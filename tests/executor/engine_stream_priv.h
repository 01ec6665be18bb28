/* SPDX-License-Identifier: MIT */
/* engine_stream_priv.h: what the halves of a random stream share: engine_stream_setup.c makes the resources, shaders and
 * layouts, engine_stream.c sets states, transfers and draws. */
#pragma once

#include "engine_stream.h"

enum {
    VERTICES = 96,  /* of buffers 1 and 7 */
    INDICES = 120,  /* of buffers 4 and 5 */
    MAX_INDEX = 40, /* in them */
    WIDTH = 48,
    HEIGHT = 32,
    VB = 1,
    VB_TEXTURED = 2,
    VB_INSTANCES = 3,
    IB16 = 4,
    IB32 = 5,
    CB = 6,
    VB_COMPUTED = 7,
    VB_LIT = 8,
    VB_COMPUTED2 = 9,
    BACKED = 10,
    BACKED_ALIAS = 11, /* two buffers over the same guest memory */
    FIRST_TARGET = 100,
    FIRST_DEPTH = 120,
    FIRST_TEXTURE = 130,
    FIRST_VIEW = 140,
    FIRST_MIRROR = 200,
    FIRST_LAYOUT = 40,
    FIRST_SHADER = 50,
    FIRST_SAMPLER = 90,
    NOISE_TARGET = 99,
    BACKING_GPA = RIG_DATA_GPA + (31 << 20),
    MIRROR_BYTES = 1 << 20,
};

enum {
    NUM_TARGETS = 6,
    NUM_DEPTHS = 3,
    NUM_TEXTURES = 4,
    NUM_IMAGES = NUM_TARGETS + NUM_DEPTHS + NUM_TEXTURES,
    NUM_VIEWS = 4,
    NUM_BUFFERS = 6,
    NUM_PROGRAMS = 16
};
_Static_assert(NUM_IMAGES + NUM_BUFFERS <= STREAM_MIRRORS, "room for all mirrors");

struct image {
    uint32_t handle, format, width, height, mips, layers, bytes;
};

struct image_view {
    uint32_t handle, texture, mip, mips, layer, layers;
};

struct mirrored_buffer {
    uint32_t handle, size;
};

enum uses { USES_TEXTURE = 1, USES_TRIANGLES = 2, USES_PATCHES = 4, USES_D3D9 = 8 };

struct program {
    const char *vs, *ps, *gs, *hs, *ds;
    uint32_t layout, uses;
};

extern const struct image images[NUM_IMAGES];
extern const struct image_view views[NUM_VIEWS];
extern const struct mirrored_buffer mirrored_buffers[NUM_BUFFERS];
extern const struct program programs[NUM_PROGRAMS];
extern const char *const compute_shaders[2];

struct stream {
    struct rig *r;
    uint64_t rng, cut_rng;
    enum stream_cuts cuts;
    uint64_t seed;
    uint32_t handles[64]; /* of shader files, in the order in which they were made */
    const char *files[64];
    uint32_t num_files;
    const struct program *program;
    uint32_t topology;
    uint32_t targets[8], num_targets, depth;
    uint32_t texture[2];  /* bound to t0 of the pixel stage, and the texture behind it */
    struct stream *noise; /* what the other context does; NULL: nothing */
};

/* ---- chance -------------------------------------------------------------- */

static inline uint32_t next(uint64_t *rng)
{
    *rng += 0x9E3779B97F4A7C15u;
    uint64_t z = (*rng ^ *rng >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(z >> 32);
}

static inline uint32_t below(struct stream *s, uint32_t n)
{
    return next(&s->rng) % n;
}

static inline bool chance(struct stream *s, uint32_t one_in)
{
    return below(s, one_in) == 0;
}

static inline float between(struct stream *s, float lo, float hi)
{
    return lo + (hi - lo) * (float)below(s, 1 << 20) / (float)((1 << 20) - 1);
}

/* ---- setup --------------------------------------------------------------- */

/* Everything that the steps use. */
void stream_make_all(struct stream *s);
struct rig_vertex stream_vertex(struct stream *s);
void stream_create_image(struct stream *s, const struct image *t);
void stream_fill_image(struct stream *s, const struct image *t);
/* Bytes of all levels and layers, one after another. */
uint32_t stream_image_bytes(const struct image *t);
/* The handle of the shader from this file, which is made at the first call; 0 for NULL. */
uint32_t stream_shader(struct stream *s, const char *file, uint32_t stage, uint32_t stage_ex);
