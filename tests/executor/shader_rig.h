/* SPDX-License-Identifier: MIT */
/* shader_rig.h: runs linked shaders on the first Vulkan device and reads floats back: what a translation computes,
 * without the engine around it. */
#pragma once

#include "executor/shader/shader.h"

#define RIG_SIZE       16 /* width and height of the targets, RGBA32F, cleared to 0.25 */
#define RIG_TARGETS    2
#define RIG_ATTRIBUTES 4

struct rig;

/* NULL if there is no Vulkan device. */
struct rig *rig_create(void);
void rig_destroy(struct rig *r);

struct rig_draw {
    const struct shader *stages[EXEC_STAGE_COUNT];
    struct shader_variant variant;
    VkPrimitiveTopology topology;
    uint32_t patch_points;
    const float *vertices; /* four floats for each attribute, attribute n at location n */
    uint32_t vertex_count, attribute_count;
    /* Direct3D 9 registers, by stage (VS, PS) */
    float c[2][256][4];
    int32_t i[2][16][4];
    uint32_t b[2][16];
    struct shader_d3d9_params params[2];
    const void *buffers[16]; /* contents of cb# */
    size_t buffer_sizes[16];
    /* Every texture is 4x4 with three levels; texel (x, y) of level l is {x / 4, y / 4, l, 1}. Sampling is nearest. */
    float pixels[RIG_TARGETS][RIG_SIZE][RIG_SIZE][4]; /* the result, top row first */
};

/* Draws with a negative-height viewport over the whole target. 0, or a negative errno with `e` filled. */
int rig_draw(struct rig *r, struct rig_draw *d, struct error *e);

struct rig_dispatch {
    const struct shader *shader;
    uint32_t groups[3];
    const void *cb0;
    size_t cb0_size;
    uint32_t in[1024], out[1024]; /* every t# buffer, every u# buffer; typed ones are R32_UINT */
    uint32_t counter;
};

int rig_dispatch(struct rig *r, struct rig_dispatch *d, struct error *e);
