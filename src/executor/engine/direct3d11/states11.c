/* SPDX-License-Identifier: MIT */
/* states11.c: state as Direct3D 11 has it (ext.h, EXT_STATES). Each packet sets what the ABI's own of the same name sets, and more of it;
 * the last writer wins. */
#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"
#include "executor/engine/pipeline.h"

#include <math.h>
#include <string.h>

/* As D3D11_BLEND. */
static VkBlendFactor blend_factor(uint32_t v, bool alpha)
{
    static const VkBlendFactor factors[] = {
        [1] = VK_BLEND_FACTOR_ZERO,
        [2] = VK_BLEND_FACTOR_ONE,
        [3] = VK_BLEND_FACTOR_SRC_COLOR,
        [4] = VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR,
        [5] = VK_BLEND_FACTOR_SRC_ALPHA,
        [6] = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        [7] = VK_BLEND_FACTOR_DST_ALPHA,
        [8] = VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA,
        [9] = VK_BLEND_FACTOR_DST_COLOR,
        [10] = VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR,
        [11] = VK_BLEND_FACTOR_SRC_ALPHA_SATURATE,
        [14] = VK_BLEND_FACTOR_CONSTANT_COLOR,
        [15] = VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR,
        [16] = VK_BLEND_FACTOR_SRC1_COLOR,
        [17] = VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR,
        [18] = VK_BLEND_FACTOR_SRC1_ALPHA,
        [19] = VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA,
    };

    if (alpha && (v == 14 || v == 15))
        return v == 14 ? VK_BLEND_FACTOR_CONSTANT_ALPHA : VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA;
    return v < sizeof(factors) / sizeof(factors[0]) ? factors[v] : VK_BLEND_FACTOR_ZERO;
}

/* As D3D11_BLEND_OP, which counts as Vulkan does, from 1 on. */
static bool is_op(uint32_t v)
{
    return v >= 1 && v <= 5;
}

/* As D3D11_LOGIC_OP. */
static const VkLogicOp logic_ops[16] = {
    VK_LOGIC_OP_CLEAR,       VK_LOGIC_OP_SET,          VK_LOGIC_OP_COPY,       VK_LOGIC_OP_COPY_INVERTED,
    VK_LOGIC_OP_NO_OP,       VK_LOGIC_OP_INVERT,       VK_LOGIC_OP_AND,        VK_LOGIC_OP_NAND,
    VK_LOGIC_OP_OR,          VK_LOGIC_OP_NOR,          VK_LOGIC_OP_XOR,        VK_LOGIC_OP_EQUIVALENT,
    VK_LOGIC_OP_AND_REVERSE, VK_LOGIC_OP_AND_INVERTED, VK_LOGIC_OP_OR_REVERSE, VK_LOGIC_OP_OR_INVERTED};
enum { LOGIC = 2 }; /* in the place of `enable` */

static bool is_logic(uint32_t color)
{
    return color >> 24 == LOGIC;
}

static bool is_factor(uint32_t v)
{
    return v >= 1 && v <= 19 && v != 12 && v != 13;
}

int exec_op_ext_set_blend_state(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_ext_set_blend_state s;

    memcpy(&s, p->data, sizeof(s));
    for (uint32_t i = 0; i < MAX_TARGETS; i++) {
        uint32_t color = s.targets[2 * i], alpha = s.targets[2 * i + 1];
        if (is_logic(color) && (color >> 16 & 255) >= sizeof(logic_ops) / sizeof(logic_ops[0]))
            return fail_decode(g, "target %u: 0x%x names no logic operation", i, color);
        if (is_logic(color) != is_logic(s.targets[0]) || (is_logic(color) && color != s.targets[0]))
            return fail_decode(g, "target %u: 0x%x, and 0x%x of target 0: logic operations are alike", i,
                               color, s.targets[0]);
        if (color >> 24 && !is_logic(color) &&
            !(is_factor(color & 255) && is_factor(color >> 8 & 255) && is_op(color >> 16 & 255) &&
              is_factor(alpha & 255) && is_factor(alpha >> 8 & 255) && is_op(alpha >> 16 & 255)))
            return fail_decode(g, "target %u: 0x%x and 0x%x name no factors and operations", i, color, alpha);
    }
    for (uint32_t i = 0; i < MAX_TARGETS; i++) {
        uint32_t color = s.targets[2 * i], alpha = s.targets[2 * i + 1];
        struct target_blend *t = &c->blend.targets[i];

        *t = (struct target_blend){.src = VK_BLEND_FACTOR_ONE, .src_alpha = VK_BLEND_FACTOR_ONE};
        c->blend.write_mask[i] = alpha >> 24 & 15;
        if (color >> 24 && !is_logic(color))
            *t = (struct target_blend){.enable = 1,
                                       .src = blend_factor(color & 255, false),
                                       .dst = blend_factor(color >> 8 & 255, false),
                                       .op = (VkBlendOp)((color >> 16 & 255) - 1),
                                       .src_alpha = blend_factor(alpha & 255, true),
                                       .dst_alpha = blend_factor(alpha >> 8 & 255, true),
                                       .op_alpha = (VkBlendOp)((alpha >> 16 & 255) - 1)};
    }
    memcpy(c->blend.constant, s.constant_rgba, sizeof(c->blend.constant));
    c->blend.sample_mask = s.sample_mask;
    c->blend.alpha_to_coverage = s.alpha_to_coverage;
    c->blend.logic = is_logic(s.targets[0]);
    c->blend.logic_op = c->blend.logic ? logic_ops[s.targets[0] >> 16 & 15] : VK_LOGIC_OP_COPY;
    c->dirty |= DIRTY_PIPELINE | DIRTY_BLEND_CONSTANT;
    return 0;
}

static float as_float(uint32_t v)
{
    float f;

    memcpy(&f, &v, sizeof(f));
    return f;
}

int exec_op_ext_set_rasterizer_state(struct exec_engine *g, const struct abi_packet *p)
{
    static const VkCullModeFlags culls[] = {VK_CULL_MODE_NONE, VK_CULL_MODE_FRONT_BIT, VK_CULL_MODE_BACK_BIT};
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_ext_set_rasterizer_state s;
    float clamp, slope;
    uint32_t samples;

    memcpy(&s, p->data, sizeof(s));
    samples = AEROGPU_RASTERIZER_FLAG_EXT_SAMPLES_OF(s.flags);
    clamp = as_float(s.depth_bias_clamp);
    slope = as_float(s.slope_scaled_depth_bias);
    if (isnan(clamp) || isnan(slope))
        return fail_decode(g, "a depth bias that is no number");
    if (c->raster.samples != samples)
        c->dirty |= DIRTY_TARGETS;
    c->raster.samples = samples;
    c->raster.fill = s.fill_mode == AEROGPU_FILL_WIREFRAME ? VK_POLYGON_MODE_LINE : VK_POLYGON_MODE_FILL;
    c->raster.cull = culls[s.cull_mode];
    c->raster.cull_set = true;
    c->raster.front_ccw = s.front_ccw != 0;
    c->raster.scissor = s.scissor_enable != 0;
    c->raster.scissor_strict = true;
    c->raster.scissor_clears = false;
    c->raster.bias = (float)s.depth_bias;
    c->raster.bias_is_float = false;
    c->raster.bias_clamp = clamp;
    c->raster.slope_bias = slope;
    c->raster.depth_clamp = s.flags & AEROGPU_RASTERIZER_FLAG_DEPTH_CLIP_DISABLE;
    c->dirty |= DIRTY_PIPELINE | DIRTY_SCISSOR | DIRTY_BIAS;
    return 0;
}

static bool reads_as_viewport(const float v[8])
{
    for (int i = 0; i < 4; i++)
        if (!(v[i] >= -65536 && v[i] <= 65536))
            return false;
    return v[2] >= 0 && v[3] >= 0 && v[4] >= 0 && v[4] <= 1 && v[5] >= 0 && v[5] <= 1;
}

int exec_op_ext_set_viewports(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    uint32_t n = p->tail_count / 2;
    float v[8];

    if (!n || n > MAX_VIEWPORTS || p->tail_count % 2)
        return fail_decode(g, "%u vectors, two for each of 1 to %u viewports are needed", p->tail_count,
                           MAX_VIEWPORTS);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(v, p->tail + i * sizeof(v), sizeof(v));
        if (!reads_as_viewport(v))
            return fail_decode(g, "viewport %u: %g,%g %g x %g, depth %g to %g", i, (double)v[0], (double)v[1],
                               (double)v[2], (double)v[3], (double)v[4], (double)v[5]);
    }
    for (uint32_t i = 0; i < n; i++) {
        memcpy(v, p->tail + i * sizeof(v), sizeof(v));
        memcpy(i ? c->viewports[i - 1] : c->viewport, v, sizeof(c->viewport));
        if (!i)
            c->viewport_set = v[2] > 0 && v[3] > 0;
    }
    c->dirty |= DIRTY_VIEWPORT | (!c->more_viewports != (n == 1) ? DIRTY_PIPELINE : 0u);
    c->more_viewports = n - 1;
    return 0;
}

int exec_op_ext_set_scissors(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    uint32_t n = p->tail_count;

    if (!n || n > MAX_VIEWPORTS)
        return fail_decode(g, "%u rectangles, 1 to %u are possible", n, MAX_VIEWPORTS);
    memcpy(c->scissor_rect, p->tail, sizeof(c->scissor_rect));
    memcpy(c->scissor_rects, p->tail + sizeof(c->scissor_rect), (n - 1) * sizeof(c->scissor_rect));
    c->more_scissors = n - 1;
    c->scissor_set = true;
    c->dirty |= DIRTY_SCISSOR;
    return 0;
}
