/* SPDX-License-Identifier: MIT */
/* state.c: packets that change a context's state and nothing else.
 *
 * State packets (SET_BLEND_STATE and its kin) and Direct3D 9 render states write the same fields; the last writer wins.
 * What only Direct3D 9 can say (stencil operations, colour factors, slope bias, separate write masks) stays as it was
 * when a state packet comes.
 */
#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"
#include "executor/engine/pipeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* ---- contexts ------------------------------------------------------------ */

static void set_defaults(struct exec_context *c)
{
    c->topology = AEROGPU_TOPOLOGY_TRIANGLELIST;
    c->blend.sample_mask = UINT32_MAX;
    for (int i = 0; i < MAX_TARGETS; i++)
        c->blend.targets[i] =
            (struct target_blend){.src = VK_BLEND_FACTOR_ONE, .src_alpha = VK_BLEND_FACTOR_ONE};
    memset(c->blend.write_mask, 0xF, sizeof(c->blend.write_mask));
    for (int i = 0; i < 4; i++)
        c->blend.constant[i] = 1;
    c->depth = (struct depth_state){.enable = true, .write = true, .func = VK_COMPARE_OP_LESS};
    c->depth.front =
        (VkStencilOpState){.compareOp = VK_COMPARE_OP_ALWAYS, .compareMask = 0xFF, .writeMask = 0xFF};
    c->depth.back = c->depth.front;
    c->raster = (struct raster_state){.fill = VK_POLYGON_MODE_FILL, .cull = VK_CULL_MODE_BACK_BIT};
#define S(name, number, initial) c->rs[number] = initial;
    D3DRS_TABLE(S)
#undef S
    for (int i = 0; i < 8; i++) {
        float(*bump)[4] = &c->d3d9[AEROGPU_D3D9_ROW_BUMP + 2 * i];

        bump[0][0] = bump[0][3] = bump[1][0] = 1;
    }
    for (int s = 0; s < EXEC_STAGE_COUNT; s++)
        for (int i = 0; i < MAX_SAMPLER_SLOTS; i++) {
#define S(name, number, initial) c->stages[s].samplers[i].state[number] = initial;
            D3DSAMP_TABLE(S)
#undef S
        }
}

struct exec_context *exec_context_get(struct exec_engine *g, uint32_t id)
{
    struct exec_context *c;

    HASH_FIND(hh, g->contexts, &id, sizeof(id), c);
    if (c)
        return c;
    c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->id = id;
    set_defaults(c);
    HASH_ADD(hh, g->contexts, id, sizeof(id), c);
    if (HASH_ADDED(c))
        return c;
    free(c);
    return NULL;
}

void exec_context_destroy(struct exec_engine *g, struct exec_context *c)
{
    INVARIANT(c != g->ctx && c != g->pass_ctx);
    for (int i = 0; i < MAX_TARGETS; i++)
        exec_object_unref(g, c->color[i]);
    exec_object_unref(g, c->depth_stencil);
    exec_object_unref(g, (struct exec_object *)c->implicit_target);
    exec_object_unref(g, (struct exec_object *)c->layout);
    exec_object_unref(g, (struct exec_object *)c->ib);
    exec_object_unref(g, (struct exec_object *)c->sink);
    for (int i = 0; i < TEXTURE_DIMS; i++)
        exec_object_unref(g, (struct exec_object *)c->sink_textures[i]);
    for (uint32_t i = 0; i < AEROGPU_STREAM_OUTPUT_SLOTS; i++)
        exec_object_unref(g, (struct exec_object *)c->streams[i].buffer);
    for (int i = 0; i < MAX_VERTEX_BUFFERS; i++)
        exec_object_unref(g, (struct exec_object *)c->vb[i].buffer);
    for (int s = 0; s < EXEC_STAGE_COUNT; s++) {
        struct stage_bindings *b = &c->stages[s];
        exec_object_unref(g, (struct exec_object *)c->shaders[s]);
        for (int i = 0; i < MAX_TEXTURE_SLOTS; i++)
            exec_object_unref(g, b->textures[i].object);
        for (int i = 0; i < MAX_SAMPLER_SLOTS; i++)
            exec_object_unref(g, (struct exec_object *)b->samplers[i].object);
        for (int i = 0; i < MAX_CONSTANT_BUFFER_SLOTS; i++)
            exec_object_unref(g, (struct exec_object *)b->constants[i].buffer);
        for (int i = 0; i < MAX_UAV_SLOTS; i++)
            exec_object_unref(g, b->uavs[i].object);
    }
    free(c);
}

static void unbind(struct exec_engine *g, void *slot, const struct exec_object *o)
{
    if (*(struct exec_object **)slot == o)
        exec_object_assign(g, slot, NULL);
}

void exec_contexts_unbind(struct exec_engine *g, const struct exec_object *o)
{
    struct exec_context *c, *next;

    HASH_ITER(hh, g->contexts, c, next)
    {
        for (int i = 0; i < MAX_TARGETS; i++)
            unbind(g, &c->color[i], o);
        unbind(g, &c->depth_stencil, o);
        unbind(g, &c->ib, o);
        for (uint32_t i = 0; i < AEROGPU_STREAM_OUTPUT_SLOTS; i++)
            unbind(g, &c->streams[i].buffer, o);
        for (int i = 0; i < MAX_VERTEX_BUFFERS; i++)
            unbind(g, &c->vb[i].buffer, o);
        for (int s = 0; s < EXEC_STAGE_COUNT; s++) {
            struct stage_bindings *b = &c->stages[s];
            for (int i = 0; i < MAX_TEXTURE_SLOTS; i++)
                unbind(g, &b->textures[i].object, o);
            for (int i = 0; i < MAX_CONSTANT_BUFFER_SLOTS; i++)
                unbind(g, &b->constants[i].buffer, o);
            for (int i = 0; i < MAX_UAV_SLOTS; i++)
                unbind(g, &b->uavs[i].object, o);
        }
        c->dirty = DIRTY_ALL;
    }
}

enum exec_stage exec_stage_of_program(enum abi_program program)
{
    static const enum exec_stage of[ABI_PROGRAM_COUNT] = {
        [ABI_PS] = EXEC_PS, [ABI_VS] = EXEC_VS, [ABI_GS] = EXEC_GS,
        [ABI_HS] = EXEC_HS, [ABI_DS] = EXEC_DS, [ABI_CS] = EXEC_CS};
    return of[program];
}

enum exec_stage exec_stage_of(struct exec_engine *g, const struct abi_packet *p)
{
    return exec_stage_of_program(abi_packet_stage(&g->stream, p));
}

int exec_check_slots(struct exec_engine *g, uint32_t start, uint32_t count, uint32_t limit, const char *what)
{
    if (start > limit || count > limit - start)
        return fail_decode(g, "%s slots %u + %u, there are %u", what, start, count, limit);
    return 0;
}

/* ---- shaders and layouts ------------------------------------------------- */

int exec_op_bind_shaders(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_bind_shaders b;
    uint32_t handles[EXEC_STAGE_COUNT] = {0};
    struct shader_object *found[EXEC_STAGE_COUNT] = {0};

    memcpy(&b, p->data, sizeof(b));
    handles[EXEC_VS] = b.vs;
    handles[EXEC_PS] = b.ps;
    handles[EXEC_CS] = b.cs;
    if (p->tail_count == 3) {
        memcpy(&handles[EXEC_GS], p->tail, 4);
        memcpy(&handles[EXEC_HS], p->tail + 4, 4);
        memcpy(&handles[EXEC_DS], p->tail + 8, 4);
    } else if (p->size == sizeof(b)) {
        handles[EXEC_GS] = b.gs_legacy;
    }
    for (int s = 0; s < EXEC_STAGE_COUNT; s++) {
        if (!handles[s])
            continue;
        found[s] = exec_object_find(g, handles[s], OBJECT_SHADER);
        if (!found[s])
            return -EBADMSG;
        if (found[s]->stage != (enum exec_stage)s)
            return fail_decode(g, "shader %u is a %s shader, a %s shader is needed", handles[s],
                               exec_stage_name(found[s]->stage), exec_stage_name((enum exec_stage)s));
    }
    if (!c->shaders[EXEC_GS] != !found[EXEC_GS]) /* geometry shaders see all viewports */
        c->dirty |= DIRTY_VIEWPORT | DIRTY_SCISSOR;
    for (int s = 0; s < EXEC_STAGE_COUNT; s++) {
        exec_object_assign(g, &c->shaders[s], found[s]);
        c->dirty |= DIRTY_STAGE << s;
    }
    c->dirty |= DIRTY_PIPELINE;
    return 0;
}

int exec_op_set_input_layout(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_input_layout s;
    struct exec_layout *l = NULL;

    memcpy(&s, p->data, sizeof(s));
    if (s.input_layout_handle) {
        l = exec_object_find(g, s.input_layout_handle, OBJECT_LAYOUT);
        if (!l)
            return -EBADMSG;
    }
    exec_object_assign(g, &c->layout, l);
    c->dirty |= DIRTY_PIPELINE;
    return 0;
}

static int set_constants(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_shader_constants_f s;
    struct stage_bindings *b;
    enum exec_stage stage;
    bool floats = p->opcode == AEROGPU_CMD_SET_SHADER_CONSTANTS_F;
    int r;

    memcpy(&s, p->data, sizeof(s));
    r = exec_check_slots(g, s.start_register, s.vec4_count, floats ? MAX_D3D9_FLOATS : MAX_D3D9_INTS,
                         "register");
    if (r)
        return r;
    stage = exec_stage_of(g, p);
    b = &c->stages[stage];
    if (floats) {
        b->f_set = true;
        memcpy(b->f[s.start_register], p->tail, p->tail_size);
    } else if (p->opcode == AEROGPU_CMD_SET_SHADER_CONSTANTS_I) {
        memcpy(b->i[s.start_register], p->tail, p->tail_size);
    } else {
        for (uint32_t i = 0; i < s.vec4_count; i++) {
            uint32_t lanes[4] = {0};
            memcpy(lanes, p->tail + p->elem_size * i, p->elem_size);
            b->b[s.start_register + i] = lanes[0] || lanes[1] || lanes[2] || lanes[3];
        }
    }
    c->dirty |= DIRTY_STAGE << stage;
    return 0;
}

EXEC_OP_IS(set_shader_constants_f, set_constants)
EXEC_OP_IS(set_shader_constants_i, set_constants)
EXEC_OP_IS(set_shader_constants_b, set_constants)

int exec_op_ext_set_d3d9_values(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_set_d3d9_values s;
    int r;

    memcpy(&s, p->data, sizeof(s));
    r = exec_check_slots(g, s.first, s.vec4_count, AEROGPU_D3D9_ROWS, "row");
    if (r)
        return r;
    memcpy(g->ctx->d3d9[s.first], p->tail, p->tail_size);
    g->ctx->dirty |= DIRTY_STAGE << EXEC_VS | DIRTY_STAGE << EXEC_PS | DIRTY_PIPELINE;
    return 0;
}

/* ---- fixed-function state ------------------------------------------------ */

static VkBlendFactor blend_factor(uint32_t abi, bool alpha)
{
    switch (abi) {
    case AEROGPU_BLEND_ONE:
        return VK_BLEND_FACTOR_ONE;
    case AEROGPU_BLEND_SRC_ALPHA:
        return VK_BLEND_FACTOR_SRC_ALPHA;
    case AEROGPU_BLEND_INV_SRC_ALPHA:
        return VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    case AEROGPU_BLEND_DEST_ALPHA:
        return VK_BLEND_FACTOR_DST_ALPHA;
    case AEROGPU_BLEND_INV_DEST_ALPHA:
        return VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA;
    case AEROGPU_BLEND_CONSTANT:
        return alpha ? VK_BLEND_FACTOR_CONSTANT_ALPHA : VK_BLEND_FACTOR_CONSTANT_COLOR;
    case AEROGPU_BLEND_INV_CONSTANT:
        return alpha ? VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA : VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR;
    default:
        return VK_BLEND_FACTOR_ZERO;
    }
}

/* The same of all targets. */
static void blend_all(struct exec_context *c, const struct target_blend *b)
{
    for (int i = 0; i < MAX_TARGETS; i++)
        c->blend.targets[i] = *b;
}

int exec_op_set_blend_state(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_blend_state s;

    memcpy(&s, p->data, sizeof(s));
    blend_all(c, &(struct target_blend){
                     .enable = s.enable != 0,
                     .src = blend_factor(s.src_factor, false),
                     .dst = blend_factor(s.dst_factor, false),
                     .op = (VkBlendOp)s.blend_op, /* both count add, subtract, reverse subtract, min, max */
                     .src_alpha = blend_factor(s.src_factor_alpha, true),
                     .dst_alpha = blend_factor(s.dst_factor_alpha, true),
                     .op_alpha = (VkBlendOp)s.blend_op_alpha});
    memset(c->blend.write_mask, s.color_write_mask & 0xF, sizeof(c->blend.write_mask));
    memcpy(c->blend.constant, s.blend_constant_rgba, sizeof(c->blend.constant));
    c->blend.sample_mask = s.sample_mask;
    c->blend.alpha_to_coverage = false;
    c->dirty |= DIRTY_PIPELINE | DIRTY_BLEND_CONSTANT;
    return 0;
}

int exec_op_set_depth_stencil_state(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_depth_stencil_state s;

    memcpy(&s, p->data, sizeof(s));
    c->depth.enable = s.depth_enable != 0;
    c->depth.write = s.depth_write_enable != 0;
    c->depth.func = (VkCompareOp)s.depth_func; /* the same numbers */
    c->depth.func_set = true;
    c->depth.stencil = s.stencil_enable != 0;
    c->depth.front.compareMask = c->depth.back.compareMask = s.stencil_read_mask;
    c->depth.front.writeMask = c->depth.back.writeMask = s.stencil_write_mask;
    c->dirty |= DIRTY_PIPELINE | DIRTY_STENCIL;
    return 0;
}

int exec_op_set_rasterizer_state(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    static const VkCullModeFlags culls[] = {VK_CULL_MODE_NONE, VK_CULL_MODE_FRONT_BIT, VK_CULL_MODE_BACK_BIT};
    struct aerogpu_cmd_set_rasterizer_state s;

    memcpy(&s, p->data, sizeof(s));
    c->raster.fill = s.fill_mode == AEROGPU_FILL_WIREFRAME ? VK_POLYGON_MODE_LINE : VK_POLYGON_MODE_FILL;
    c->raster.cull = culls[s.cull_mode];
    c->raster.cull_set = true;
    c->raster.front_ccw = s.front_ccw != 0;
    c->raster.scissor = s.scissor_enable != 0;
    c->raster.scissor_strict = c->raster.scissor_clears = false;
    c->raster.bias = (float)s.depth_bias;
    c->raster.bias_clamp = 0;
    c->raster.bias_is_float = false;
    if (c->raster.samples)
        c->dirty |= DIRTY_TARGETS;
    c->raster.samples = 0;
    c->raster.depth_clamp = s.flags & AEROGPU_RASTERIZER_FLAG_DEPTH_CLIP_DISABLE;
    c->dirty |= DIRTY_PIPELINE | DIRTY_SCISSOR | DIRTY_BIAS;
    return 0;
}

int exec_op_set_render_targets(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_render_targets s;
    struct exec_object *found[MAX_TARGETS + 1] = {0};

    memcpy(&s, p->data, sizeof(s));
    if (s.color_count > MAX_TARGETS)
        return fail_decode(g, "color_count %u, at most %u are possible", s.color_count, MAX_TARGETS);
    for (uint32_t i = 0; i <= MAX_TARGETS; i++) {
        uint32_t handle = i == MAX_TARGETS ? s.depth_stencil : i < s.color_count ? s.colors[i] : 0;
        const struct format_info *f;
        if (!handle)
            continue;
        found[i] = exec_object_lookup(g, handle);
        if (found[i] && found[i]->kind == OBJECT_BUFFER_VIEW) {
            int r = exec_buffer_view_target(g, (struct exec_buffer_view *)found[i]);

            if (r)
                return r;
        } else if (!found[i] || (found[i]->kind != OBJECT_TEXTURE && found[i]->kind != OBJECT_VIEW)) {
            return fail_decode(g, "handle %u names no texture and no view", handle);
        }
        f = exec_view_of(found[i]).format;
        if (f->depth != (i == MAX_TARGETS) || f->block != 1 || f->abi == AEROGPU_FORMAT_EXT_STENCIL_UINT)
            return fail_decode(g, "handle %u is %s, which cannot be a %s target", handle, f->name,
                               i == MAX_TARGETS ? "depth-stencil" : "colour");
    }
    if (c->num_colors == s.color_count && c->depth_stencil == found[MAX_TARGETS] &&
        !memcmp(c->color, found, sizeof(c->color)))
        return 0; /* an open pass goes on */
    for (uint32_t i = 0; i < MAX_TARGETS; i++)
        exec_object_assign(g, &c->color[i], found[i]);
    exec_object_assign(g, &c->depth_stencil, found[MAX_TARGETS]);
    c->num_colors = s.color_count;
    c->dirty |= DIRTY_TARGETS | DIRTY_PIPELINE | DIRTY_VIEWPORT | DIRTY_SCISSOR | DIRTY_BIAS;
    return 0;
}

static float clamp01(float v)
{
    return v > 0 ? v < 1 ? v : 1 : 0;
}

int exec_op_set_viewport(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    float v[6];

    memcpy(v, p->data + sizeof(struct aerogpu_cmd_hdr), sizeof(v));
    c->dirty |= DIRTY_VIEWPORT | (c->more_viewports ? DIRTY_PIPELINE : 0u);
    c->more_viewports = 0;
    c->viewport_set = false;
    for (int i = 0; i < 6; i++)
        if (!isfinite(v[i]))
            return 0; /* means the whole target, as an empty one does */
    for (int i = 0; i < 4; i++)
        if (!(v[i] >= -65536 && v[i] <= 65536))
            return fail_decode(g, "viewport %g,%g %g x %g", (double)v[0], (double)v[1], (double)v[2],
                               (double)v[3]);
    v[4] = clamp01(v[4]);
    v[5] = clamp01(v[5]);
    memcpy(c->viewport, v, sizeof(v));
    c->viewport_set = v[2] > 0 && v[3] > 0;
    return 0;
}

int exec_op_set_scissor(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    memcpy(c->scissor_rect, p->data + sizeof(struct aerogpu_cmd_hdr), sizeof(c->scissor_rect));
    c->scissor_set = true;
    c->more_scissors = 0;
    c->dirty |= DIRTY_SCISSOR;
    return 0;
}

/* ---- Direct3D 9 render states -------------------------------------------- */

static VkBlendFactor d3d9_factor(uint32_t v)
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
        [12] = VK_BLEND_FACTOR_SRC_ALPHA,
        [13] = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        [14] = VK_BLEND_FACTOR_CONSTANT_COLOR,
        [15] = VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR,
    };
    return v >= 1 && v <= 15 ? factors[v] : VK_BLEND_FACTOR_ONE;
}

static void d3d9_blend(struct exec_context *c)
{
    const uint32_t *rs = c->rs;
    bool separate = rs[D3DRS_SEPARATEALPHABLENDENABLE];
    uint32_t src = rs[D3DRS_SRCBLEND], dst = rs[D3DRS_DESTBLEND];
    struct target_blend b;

    if (src == 12) /* BOTHSRCALPHA, BOTHINVSRCALPHA: one value names both */
        dst = 6;
    else if (src == 13)
        dst = 5;
    b.enable = rs[D3DRS_ALPHABLENDENABLE] != 0;
    b.src = d3d9_factor(src);
    b.dst = d3d9_factor(dst);
    b.op = (VkBlendOp)((rs[D3DRS_BLENDOP] - 1) % 5);
    b.src_alpha = separate ? d3d9_factor(rs[D3DRS_SRCBLENDALPHA]) : b.src;
    b.dst_alpha = separate ? d3d9_factor(rs[D3DRS_DESTBLENDALPHA]) : b.dst;
    b.op_alpha = separate ? (VkBlendOp)((rs[D3DRS_BLENDOPALPHA] - 1) % 5) : b.op;
    blend_all(c, &b);
    c->dirty |= DIRTY_PIPELINE;
}

static VkCompareOp d3d9_compare(uint32_t v)
{
    return v >= 1 && v <= 8 ? (VkCompareOp)(v - 1) : VK_COMPARE_OP_ALWAYS;
}

static VkStencilOp d3d9_stencil_op(uint32_t v)
{
    static const VkStencilOp ops[] = {
        [1] = VK_STENCIL_OP_KEEP,
        [2] = VK_STENCIL_OP_ZERO,
        [3] = VK_STENCIL_OP_REPLACE,
        [4] = VK_STENCIL_OP_INCREMENT_AND_CLAMP,
        [5] = VK_STENCIL_OP_DECREMENT_AND_CLAMP,
        [6] = VK_STENCIL_OP_INVERT,
        [7] = VK_STENCIL_OP_INCREMENT_AND_WRAP,
        [8] = VK_STENCIL_OP_DECREMENT_AND_WRAP,
    };
    return v >= 1 && v <= 8 ? ops[v] : VK_STENCIL_OP_KEEP;
}

static void d3d9_stencil(struct exec_context *c)
{
    const uint32_t *rs = c->rs;
    VkStencilOpState *f = &c->depth.front, *b = &c->depth.back;

    c->depth.two_sided = rs[D3DRS_TWOSIDEDSTENCILMODE] != 0;
    f->failOp = d3d9_stencil_op(rs[D3DRS_STENCILFAIL]);
    f->depthFailOp = d3d9_stencil_op(rs[D3DRS_STENCILZFAIL]);
    f->passOp = d3d9_stencil_op(rs[D3DRS_STENCILPASS]);
    f->compareOp = d3d9_compare(rs[D3DRS_STENCILFUNC]);
    b->failOp = c->depth.two_sided ? d3d9_stencil_op(rs[D3DRS_CCW_STENCILFAIL]) : f->failOp;
    b->depthFailOp = c->depth.two_sided ? d3d9_stencil_op(rs[D3DRS_CCW_STENCILZFAIL]) : f->depthFailOp;
    b->passOp = c->depth.two_sided ? d3d9_stencil_op(rs[D3DRS_CCW_STENCILPASS]) : f->passOp;
    b->compareOp = c->depth.two_sided ? d3d9_compare(rs[D3DRS_CCW_STENCILFUNC]) : f->compareOp;
    c->dirty |= DIRTY_PIPELINE;
}

static float as_float(uint32_t v)
{
    float f;

    memcpy(&f, &v, sizeof(f));
    return f;
}

static void d3d9_depth_raster(struct exec_context *c, uint32_t state, uint32_t v)
{
    switch (state) {
    case D3DRS_ZENABLE:
        c->depth.enable = v != 0;
        break;
    case D3DRS_ZWRITEENABLE:
        c->depth.write = v != 0;
        break;
    case D3DRS_ZFUNC:
        c->depth.func = d3d9_compare(v);
        c->depth.func_set = true;
        break;
    case D3DRS_FILLMODE:
        c->raster.fill = v == 1   ? VK_POLYGON_MODE_POINT
                         : v == 2 ? VK_POLYGON_MODE_LINE
                                  : VK_POLYGON_MODE_FILL;
        break;
    case D3DRS_CULLMODE: /* 2 removes clockwise faces, 3 counter-clockwise ones */
        c->raster.cull = v == 2 ? VK_CULL_MODE_FRONT_BIT : v == 3 ? VK_CULL_MODE_BACK_BIT : VK_CULL_MODE_NONE;
        c->raster.cull_set = true;
        c->raster.front_ccw = false;
        break;
    case D3DRS_CLIPPING:
        c->raster.depth_clamp = !v;
        break;
    case D3DRS_SCISSORTESTENABLE:
        c->raster.scissor = c->raster.scissor_strict = c->raster.scissor_clears = v != 0;
        c->dirty |= DIRTY_SCISSOR;
        break;
    case D3DRS_DEPTHBIAS:
        c->raster.bias = as_float(v);
        c->raster.bias_is_float = true;
        c->dirty |= DIRTY_BIAS;
        break;
    case D3DRS_SLOPESCALEDEPTHBIAS:
        c->raster.slope_bias = as_float(v);
        c->dirty |= DIRTY_BIAS;
        break;
    default:
        break;
    }
    c->dirty |= DIRTY_PIPELINE;
}

static void d3d9_masks(struct exec_context *c, uint32_t state, uint32_t v)
{
    switch (state) {
    case D3DRS_STENCILENABLE:
        c->depth.stencil = v != 0;
        c->dirty |= DIRTY_PIPELINE;
        break;
    case D3DRS_STENCILREF:
        c->stencil_ref = (uint8_t)v;
        c->dirty |= DIRTY_STENCIL;
        break;
    case D3DRS_STENCILMASK:
        c->depth.front.compareMask = c->depth.back.compareMask = v & 0xFF;
        c->dirty |= DIRTY_STENCIL;
        break;
    case D3DRS_STENCILWRITEMASK:
        c->depth.front.writeMask = c->depth.back.writeMask = v & 0xFF;
        c->dirty |= DIRTY_STENCIL;
        break;
    case D3DRS_COLORWRITEENABLE:
        memset(c->blend.write_mask, v & 0xF, sizeof(c->blend.write_mask));
        for (int i = 0; i < 3; i++)
            c->blend.write_mask[1 + i] = c->rs[D3DRS_COLORWRITEENABLE1 + i] & 0xF;
        c->dirty |= DIRTY_PIPELINE;
        break;
    case D3DRS_COLORWRITEENABLE1:
    case D3DRS_COLORWRITEENABLE2:
    case D3DRS_COLORWRITEENABLE3:
        c->blend.write_mask[1 + state - D3DRS_COLORWRITEENABLE1] = v & 0xF;
        c->dirty |= DIRTY_PIPELINE;
        break;
    case D3DRS_BLENDFACTOR: /* A8R8G8B8 */
        for (int i = 0; i < 4; i++)
            c->blend.constant[i] = (float)(v >> (i == 3 ? 24 : 16 - 8 * i) & 0xFF) / 255.0f;
        c->dirty |= DIRTY_BLEND_CONSTANT;
        break;
    case D3DRS_MULTISAMPLEMASK:
        c->blend.sample_mask = v;
        c->dirty |= DIRTY_PIPELINE;
        break;
    case D3DRS_ADAPTIVETESS_Y: /* where programs look for what Direct3D 9 has no state for */
        c->blend.alpha_to_coverage = v == 0x434F5441; /* ATOC */
        c->dirty |= DIRTY_PIPELINE;
        break;
    default:
        break;
    }
}

int exec_op_set_render_state(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_render_state s;

    memcpy(&s, p->data, sizeof(s));
    if (!d3drs_name(s.state))
        return 0; /* a state of no effect here */
    c->rs[s.state] = s.value;
    switch (s.state) {
    case D3DRS_ALPHABLENDENABLE:
    case D3DRS_SRCBLEND:
    case D3DRS_DESTBLEND:
    case D3DRS_BLENDOP:
    case D3DRS_SEPARATEALPHABLENDENABLE:
    case D3DRS_SRCBLENDALPHA:
    case D3DRS_DESTBLENDALPHA:
    case D3DRS_BLENDOPALPHA:
        d3d9_blend(c);
        break;
    case D3DRS_STENCILFAIL:
    case D3DRS_STENCILZFAIL:
    case D3DRS_STENCILPASS:
    case D3DRS_STENCILFUNC:
    case D3DRS_TWOSIDEDSTENCILMODE:
    case D3DRS_CCW_STENCILFAIL:
    case D3DRS_CCW_STENCILZFAIL:
    case D3DRS_CCW_STENCILPASS:
    case D3DRS_CCW_STENCILFUNC:
        d3d9_stencil(c);
        break;
    case D3DRS_ZENABLE:
    case D3DRS_ZWRITEENABLE:
    case D3DRS_ZFUNC:
    case D3DRS_FILLMODE:
    case D3DRS_CULLMODE:
    case D3DRS_CLIPPING:
    case D3DRS_SCISSORTESTENABLE:
    case D3DRS_DEPTHBIAS:
    case D3DRS_SLOPESCALEDEPTHBIAS:
        d3d9_depth_raster(c, s.state, s.value);
        break;
    case D3DRS_ALPHATESTENABLE:
    case D3DRS_ALPHAFUNC:
    case D3DRS_SHADEMODE:
    case D3DRS_FOGENABLE:
    case D3DRS_FOGTABLEMODE:
    case D3DRS_POINTSPRITEENABLE:
    case D3DRS_SRGBWRITEENABLE:
        c->dirty |= DIRTY_PIPELINE;
        if (s.state == D3DRS_SRGBWRITEENABLE)
            c->dirty |= DIRTY_TARGETS;
        break;
    case D3DRS_ALPHAREF:
    case D3DRS_FOGCOLOR:
    case D3DRS_FOGSTART:
    case D3DRS_FOGEND:
    case D3DRS_FOGDENSITY:
    case D3DRS_POINTSIZE:
    case D3DRS_POINTSIZE_MIN:
    case D3DRS_POINTSIZE_MAX:
        c->dirty |= DIRTY_STAGE << EXEC_VS | DIRTY_STAGE << EXEC_PS;
        break;
    default:
        d3d9_masks(c, s.state, s.value);
        break;
    }
    return 0;
}

/* ---- all of them --------------------------------------------------------- */

int exec_op_set_primitive_topology(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_set_primitive_topology t;

    memcpy(&t, p->data, sizeof(t));
    g->ctx->topology = t.topology;
    g->ctx->dirty |= DIRTY_PIPELINE;
    return 0;
}
