/* SPDX-License-Identifier: MIT */
/* draw.c: render passes, clears, draws, dispatches.
 *
 *   no pass ──clear or draw──▶ open pass ──other targets, transfer, dispatch, end of batch──▶ no pass
 *
 * Invariants:
 *  1. At most one pass is open, and it belongs to one context and the targets that it had when the pass began.
 *  2. A pass begins behind a barrier against everything recorded before it.
 *  3. On a software device a long pass is cut into groups of draws that are handed over at once: no mark of progress
 *     (progress.h) covers more of them. A cut costs one more walk over the targets, so groups are no smaller than is_full() says.
 *  4. The first draw with a pipeline is a group of its own there: lavapipe compiles when it comes to it, and how long that
 *     takes is no matter of the draws around it. Where draws are slow, the last batch's or such a first one, each is a
 *     group: it is progress that shows, and a cut costs next to nothing beside it.
 */
#include "executor/engine/engine_priv.h"
#include "executor/engine/pass.h"
#include "executor/engine/pipeline.h"
#include "executor/engine/direct3d11/streams.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"

/* Cuts of a batch: up to when it is waited for to know how slow draws are, and up to when these and the first ones are alone. */
enum { MAX_GROUPS = 65535, WAIT_CUTS = 16, SLOW_CUTS = MAX_CUTS / 2, FIRST_CUTS = MAX_CUTS * 3 / 4 };
/* Lavapipe's tiles have so many pixels a side; see is_full(). */
enum { TILE = 64, TILES_PER_COPY = 4, LEAST_COPIES = 100, GROUP_DRAWS = 1000 };

static void pass_check(const struct exec_engine *g)
{
    INVARIANT(!g->pass_ctx || (g->batch && g->batch->recording));
    INVARIANT(!g->pass_ctx || (g->pass_width && g->pass_height && g->pass_layers));
    INVARIANT(g->pass_ctx || !g->pass_stale);
}

/* What stands for buffers takes what they hold before a pass, and gives it back behind it. */
static void move_buffers(struct exec_engine *g, bool back)
{
    for (uint32_t i = 0; i < MAX_TARGETS && g->pass_buffers[i]; i++) {
        if (!i)
            exec_batch_transfer(g);
        exec_buffer_view_move(g, g->pass_buffers[i], back);
        g->pass_buffers[i] = back ? NULL : g->pass_buffers[i];
    }
}

void exec_pass_end(struct exec_engine *g)
{
    pass_check(g);
    if (!g->pass_ctx)
        return;
    vkCmdEndRenderPass(g->batch->cmd);
    g->pass_ctx = NULL;
    g->pass_stale = false;
    g->need_barrier = true;
    move_buffers(g, true);
}

/* The colour that a target of this format becomes: integers are what the numbers are near to. */
static VkClearColorValue clear_value(const struct format_info *f, const struct aerogpu_cmd_clear *clear)
{
    VkClearColorValue v;

    memcpy(v.float32, clear->color_rgba, sizeof(v.float32));
    for (int i = 0; i < 4 && f->integer; i++) {
        double d = (double)v.float32[i], low = f->integer == 'S' ? (double)INT32_MIN : 0,
               high = f->integer == 'S' ? (double)INT32_MAX : (double)UINT32_MAX;

        d = d >= low ? d <= high ? d : high : low;
        v.uint32[i] = f->integer == 'S' ? (uint32_t)(int32_t)d : (uint32_t)d;
    }
    if (!f->alpha)
        v.float32[3] = 1;
    if (f->abi == AEROGPU_FORMAT_EXT_A8_UNORM)
        v.float32[0] = v.float32[3];
    return v;
}

/* Begins a pass on the targets `t`, clearing by `clear` if it is not NULL. */
static int pass_begin(struct exec_engine *g, struct exec_context *c, const struct target_set *t,
                      const struct aerogpu_cmd_clear *clear)
{
    VkClearValue values[MAX_TARGETS + 1];
    VkRenderPassBeginInfo bi = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                .renderArea = {.extent = {t->width, t->height}},
                                .pClearValues = values};

    exec_pass_end(g);
    bi.renderPass = exec_render_pass_get(g, t, clear ? clear->flags & 7 : 0);
    bi.framebuffer = bi.renderPass ? exec_framebuffer_get(g, t, bi.renderPass) : VK_NULL_HANDLE;
    if (!bi.framebuffer)
        return fail_backend(g, "the Vulkan device cannot draw to these targets");
    for (uint32_t i = 0; i < t->num_colors + 1; i++) {
        const struct exec_view *v = i < t->num_colors ? &t->colors[i] : &t->depth;
        VkClearValue *value = &values[bi.clearValueCount];
        if (!v->texture)
            continue;
        bi.clearValueCount++;
        exec_batch_use(g, &v->texture->o);
        memset(value, 0, sizeof(*value));
        if (!clear)
            continue;
        if (i < t->num_colors) {
            value->color = clear_value(v->format, clear);
        } else {
            memcpy(&value->depthStencil.depth, &clear->depth, 4);
            value->depthStencil.stencil = clear->stencil & 0xFF;
        }
    }
    for (uint32_t i = 0, n = 0; i < c->num_colors; i++)
        if (c->color[i] && c->color[i]->kind == OBJECT_BUFFER_VIEW)
            g->pass_buffers[n++] = (struct exec_buffer_view *)c->color[i];
    move_buffers(g, false);
    exec_batch_transfer(g);
    INVARIANT(!g->pass_ctx); /* 1 */
    g->need_barrier = true;
    vkCmdBeginRenderPass(g->batch->cmd, &bi, VK_SUBPASS_CONTENTS_INLINE);
    g->pass_ctx = c;
    g->pass_draws = g->pass_copies = 0;
    g->pass_width = t->width;
    g->pass_height = t->height;
    g->pass_layers = t->layers;
    c->dirty &= ~(uint32_t)DIRTY_TARGETS;
    pass_check(g);
    return 0;
}

/* ---- the scissor rectangle ----------------------------------------------- */

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static VkRect2D clipped(const int32_t s[4], uint32_t width, uint32_t height)
{
    int64_t x0 = clamp(s[0], 0, width), y0 = clamp(s[1], 0, height),
            x1 = clamp((int64_t)s[0] + s[2], x0, width), y1 = clamp((int64_t)s[1] + s[3], y0, height);

    return (VkRect2D){{(int32_t)x0, (int32_t)y0}, {(uint32_t)(x1 - x0), (uint32_t)(y1 - y0)}};
}

/* Drivers of Direct3D 10 and later say "no rectangle" with an empty one; Direct3D 9 means what it says. */
VkRect2D exec_scissor_of(const struct exec_context *c, const int32_t s[4], uint32_t width, uint32_t height)
{
    if (!c->raster.scissor || !c->scissor_set || (!c->raster.scissor_strict && (s[2] <= 0 || s[3] <= 0)))
        return (VkRect2D){.extent = {width, height}};
    return clipped(s, width, height);
}

/* ---- clear --------------------------------------------------------------- */

static void clear_in_pass(struct exec_engine *g, const struct target_set *t, VkRect2D area,
                          const struct aerogpu_cmd_clear *clear)
{
    VkClearAttachment at[MAX_TARGETS + 1];
    VkClearRect rect = {.rect = area, .layerCount = t->layers};
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->num_colors && clear->flags & AEROGPU_CLEAR_COLOR; i++) {
        if (!t->colors[i].texture)
            continue;
        at[n] = (VkClearAttachment){.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .colorAttachment = i};
        at[n].clearValue.color = clear_value(t->colors[i].format, clear);
        n++;
    }
    if (t->depth.texture) {
        VkImageAspectFlags aspects =
            (clear->flags & AEROGPU_CLEAR_DEPTH ? VK_IMAGE_ASPECT_DEPTH_BIT : 0u) |
            (clear->flags & AEROGPU_CLEAR_STENCIL ? VK_IMAGE_ASPECT_STENCIL_BIT : 0u);
        aspects &= format_aspects(t->depth.format);
        if (aspects) {
            at[n] = (VkClearAttachment){.aspectMask = aspects};
            memcpy(&at[n].clearValue.depthStencil.depth, &clear->depth, 4);
            at[n].clearValue.depthStencil.stencil = clear->stencil & 0xFF;
            n++;
        }
    }
    if (n)
        vkCmdClearAttachments(g->batch->cmd, n, at, 1, &rect);
}

int exec_op_clear(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_clear clear;
    struct target_set t;
    VkRect2D area;
    float depth;
    int r = 0;

    memcpy(&clear, p->data, sizeof(clear));
    memcpy(&depth, &clear.depth, sizeof(depth));
    if (!(depth >= 0))
        depth = 0;
    if (depth > 1)
        depth = 1;
    memcpy(&clear.depth, &depth, sizeof(depth));
    r = clear.flags & 7 ? exec_targets_of(g, c, &t) : -ENOENT;
    if (r || (!t.num_colors && !t.depth.texture))
        return r == -ENOENT ? 0 : r; /* there is nothing to clear */
    area = c->raster.scissor_clears ? exec_scissor_of(c, c->scissor_rect, t.width, t.height)
                                    : (VkRect2D){.extent = {t.width, t.height}};
    if (!area.extent.width || !area.extent.height)
        return 0;
    if (g->pass_ctx == c && !(c->dirty & DIRTY_TARGETS)) {
        clear_in_pass(g, &t, area, &clear);
        return 0;
    }
    if (area.extent.width == t.width && area.extent.height == t.height)
        return pass_begin(g, c, &t, &clear);
    r = pass_begin(g, c, &t, NULL);
    if (!r)
        clear_in_pass(g, &t, area, &clear);
    return r;
}

/* EXT_OUTPUT: parts of the colour targets. */
int exec_op_ext_clear_rects(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_ext_clear_rects s;
    struct aerogpu_cmd_clear clear = {.flags = AEROGPU_CLEAR_COLOR};
    struct target_set t;
    int r = exec_targets_of(g, c, &t);

    memcpy(&s, p->data, sizeof(s));
    memcpy(clear.color_rgba, s.color_rgba, sizeof(clear.color_rgba));
    if (r || !t.num_colors)
        return r == -ENOENT ? 0 : r;
    if (g->pass_ctx != c || c->dirty & DIRTY_TARGETS)
        r = pass_begin(g, c, &t, NULL);
    for (uint32_t i = 0; !r && i < p->tail_count; i++) {
        int32_t at[4];
        VkRect2D area;

        memcpy(at, p->tail + i * sizeof(at), sizeof(at));
        area = clipped(at, t.width, t.height);
        if (area.extent.width && area.extent.height)
            clear_in_pass(g, &t, area, &clear);
    }
    return r;
}

/* ---- draw ---------------------------------------------------------------- */

static void set_viewport(struct exec_engine *g, const struct exec_context *c, VkCommandBuffer cmd)
{
    const float *v = c->viewport;
    VkViewport vp[MAX_VIEWPORTS] = {
        {0, (float)g->pass_height, (float)g->pass_width, -(float)g->pass_height, 0, 1}};
    uint32_t n = exec_viewports_of(g, c);

    if (c->viewport_set)
        vp[0] = (VkViewport){v[0], v[1] + v[3], v[2], -v[3], v[4], v[5]};
    for (uint32_t i = 1; i < n; i++) {
        v = c->viewports[i - 1];
        vp[i] =
            (VkViewport){0, 1, 1, -1, 0, 1}; /* of none, and of an empty one, the rectangle leaves nothing */
        if (i <= c->more_viewports && v[2] > 0 && v[3] > 0)
            vp[i] = (VkViewport){v[0], v[1] + v[3], v[2], -v[3], v[4], v[5]};
    }
    vkCmdSetViewport(cmd, 0, n, vp);
}

uint32_t exec_viewports_of(const struct exec_engine *g, const struct exec_context *c)
{
    return (c->more_viewports || c->shaders[EXEC_GS]) && g->vk.caps.viewports ? MAX_VIEWPORTS : 1;
}

static void set_scissor(struct exec_engine *g, const struct exec_context *c, VkCommandBuffer cmd)
{
    VkRect2D r[MAX_VIEWPORTS] = {exec_scissor_of(c, c->scissor_rect, g->pass_width, g->pass_height)};
    uint32_t n = exec_viewports_of(g, c);

    for (uint32_t i = 1; i < n; i++) {
        static const int32_t none[4];
        const float *v = c->viewports[i - 1];
        bool seen = i <= c->more_viewports && v[2] > 0 && v[3] > 0;

        if (seen)
            r[i] = exec_scissor_of(c, i <= c->more_scissors ? c->scissor_rects[i - 1] : none, g->pass_width,
                                   g->pass_height);
    }
    vkCmdSetScissor(cmd, 0, n, r);
}

static void set_bias(const struct exec_engine *g, const struct exec_context *c, VkCommandBuffer cmd)
{
    const struct exec_view ds = exec_view_of(c->depth_stencil);
    const VkFormat f = ds.texture ? ds.format->vk : VK_FORMAT_UNDEFINED;
    const float steps = f == VK_FORMAT_D16_UNORM           ? 65535.0f
                        : f == VK_FORMAT_D24_UNORM_S8_UINT ? 16777215.0f
                                                           : 0; /* floats: by their exponent */
    float bias = c->raster.bias;

    if (c->raster.bias_is_float)
        bias *= steps > 0 ? steps : 8388608.0f;
    if (steps > 0 && g->is_cpu)
        bias /= 2; /* lavapipe's unit is two of the smallest steps, as OpenGL has it there */
    vkCmdSetDepthBias(cmd, bias, g->vk.caps.bias_clamp ? c->raster.bias_clamp : 0, c->raster.slope_bias);
}

static void set_stencil(const struct exec_context *c, VkCommandBuffer cmd)
{
    vkCmdSetStencilReference(cmd, VK_STENCIL_FACE_FRONT_AND_BACK, c->stencil_ref);
    vkCmdSetStencilCompareMask(cmd, VK_STENCIL_FACE_FRONT_AND_BACK, c->depth.front.compareMask);
    vkCmdSetStencilWriteMask(cmd, VK_STENCIL_FACE_FRONT_AND_BACK, c->depth.front.writeMask);
}

static void bind_vertex_buffers(struct exec_engine *g, const struct exec_context *c, VkCommandBuffer cmd)
{
    uint32_t slots = c->pipeline->vertex_slots;

    for (uint32_t i = 0; slots >> i; i++) {
        VkDeviceSize offset = c->vb[i].offset;
        VkBuffer buffer;
        if (!(slots >> i & 1))
            continue;
        buffer = c->vb[i].buffer->vk.buffer;
        if (offset == c->vb[i].buffer->size) { /* nothing is left of it, and Vulkan cannot say so */
            buffer = g->null_buffer.vk.buffer;
            offset = 0;
        }
        vkCmdBindVertexBuffers(cmd, i, 1, &buffer, &offset);
        exec_batch_use(g, &c->vb[i].buffer->o);
        if (i == MAX_VERTEX_BUFFERS - 1)
            break;
    }
    if (c->pipeline->null_vertex_slot) {
        VkDeviceSize zero = 0;
        vkCmdBindVertexBuffers(cmd, NULL_VERTEX_SLOT, 1, &g->null_buffer.vk.buffer, &zero);
    }
}

/* Dynamic state, after the pass has begun. */
static void flush_dynamic(struct exec_engine *g, struct exec_context *c, VkCommandBuffer cmd)
{
    uint32_t dirty = c->dirty;

    if (dirty & DIRTY_VIEWPORT)
        set_viewport(g, c, cmd);
    if (dirty & DIRTY_SCISSOR)
        set_scissor(g, c, cmd);
    if (dirty & DIRTY_BLEND_CONSTANT)
        vkCmdSetBlendConstants(cmd, c->blend.constant);
    if (dirty & DIRTY_STENCIL)
        set_stencil(c, cmd);
    if (dirty & DIRTY_BIAS)
        set_bias(g, c, cmd);
    if (dirty & DIRTY_VERTEX_BUFFERS)
        bind_vertex_buffers(g, c, cmd);
    if (dirty & DIRTY_INDEX_BUFFER && c->ib) {
        vkCmdBindIndexBuffer(cmd, c->ib->vk.buffer, c->ib_offset, c->index_type);
        exec_batch_use(g, &c->ib->o);
    }
    c->dirty &= ~(uint32_t)(DIRTY_VIEWPORT | DIRTY_SCISSOR | DIRTY_BLEND_CONSTANT | DIRTY_STENCIL |
                            DIRTY_BIAS | DIRTY_VERTEX_BUFFERS | DIRTY_INDEX_BUFFER);
}

/* Whether lavapipe copies its state for the draw: of what the rasterizer reads something is new. */
static bool is_copied(const struct exec_engine *g, const struct exec_context *c)
{
    const struct shader_info *ps = c->pipeline->program->infos[EXEC_PS];
    const uint32_t sets = ps && ps->descriptor_count ? DIRTY_STAGE << EXEC_PS : 0;

    return g->bound_pipeline != c->pipeline->pipeline || g->bound_ctx != c ||
           c->dirty & (sets | DIRTY_VIEWPORT | DIRTY_BLEND_CONSTANT | DIRTY_STENCIL);
}

/* Whether the group that is recorded is full. A copy of lavapipe's state is 35 KB, in a block of memory of its own, and the blocks come back
 * when the group is drawn: few of them are still in the processor's cache then, which halves what a copy costs. A cut costs a
 * walk over the tiles of the targets, so that there are more of them to a group where these are large. */
static bool is_full(const struct exec_engine *g)
{
    const uint32_t tiles = ((g->pass_width + TILE - 1) / TILE) * ((g->pass_height + TILE - 1) / TILE) *
                           g->pass_layers,
                   copies = tiles / TILES_PER_COPY;

    if (g->params.group_draws)
        return g->pass_draws >= g->params.group_draws;
    return g->pass_draws >= GROUP_DRAWS || g->pass_copies >= (copies > LEAST_COPIES ? copies : LEAST_COPIES);
}

/* The group that is recorded ends, if the next draw does not belong to it. */
static int end_group(struct exec_engine *g)
{
    struct exec_batch *b = g->batch;
    int r;

    if (!g->is_cpu || !g->pass_ctx || (!is_full(g) && !g->alone))
        return 0;
    r = exec_batch_cut(g);
    if (!r && g->alone && b->num_cuts < WAIT_CUTS)
        b->slow = !exec_batch_cuts_done(g, SLOW_DRAW_NS);
    return r;
}

/* The same, if the next draw wants to be alone. */
static int begin_group(struct exec_engine *g, struct exec_pipeline *p)
{
    const uint32_t room = !p->used ? FIRST_CUTS : g->batch->slow ? SLOW_CUTS : 0;
    int r = 0;

    p->used = true;
    if (!g->is_cpu || !g->progress.shared || g->progress.exact || g->batch->num_cuts >= room)
        return 0;
    if (!g->at_head)
        r = exec_batch_cut(g);
    exec_batch_cmd(g);
    g->alone = true;
    return r;
}

/* Everything that must stand before a draw is recorded. */
static int prepare(struct exec_engine *g, struct exec_context *c, bool indexed)
{
    bool writes = false;
    struct target_set t;
    VkCommandBuffer cmd;
    int r;

    r = end_group(g);
    if (!r)
        r = exec_queries_room(g);
    if (r)
        return r;
    exec_batch_cmd(g); /* a new command buffer makes everything dirty */
    if (c->dirty & DIRTY_PIPELINE || c->pipeline_indexed != indexed) {
        r = exec_pipeline_resolve(g, c, indexed);
        if (r)
            return r;
        c->pipeline_indexed = indexed;
        c->dirty |= DIRTY_VERTEX_BUFFERS;
    }
    r = exec_bind_prepare(g, c, c->pipeline->program);
    if (!r)
        r = begin_group(g, c->pipeline);
    if (r)
        return r;
    c->dirty &= ~(uint32_t)DIRTY_PIPELINE;
    if (g->pass_ctx != c || c->dirty & DIRTY_TARGETS || g->pass_stale) {
        if (exec_targets_of(g, c, &t))
            return fail_backend(g, "no render target");
        r = pass_begin(g, c, &t, NULL);
        if (r)
            return r;
    }
    cmd = g->batch->cmd;
    g->pass_copies += is_copied(g, c);
    if (g->bound_pipeline != c->pipeline->pipeline) {
        vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, c->pipeline->pipeline);
        g->bound_pipeline = c->pipeline->pipeline;
    }
    r = exec_bind_descriptors(g, c, c->pipeline->program, -1, &writes);
    if (r)
        return r;
    flush_dynamic(g, c, cmd);
    g->pass_draws++;
    g->batch->draws++;
    g->pass_stale = writes || c->pipeline->streams;
    INVARIANT(g->pass_ctx == c && c->pipeline);
    INVARIANT(!(c->dirty & (DIRTY_PIPELINE | DIRTY_TARGETS | DIRTY_VIEWPORT | DIRTY_VERTEX_BUFFERS)));
    pass_check(g);
    return 0;
}

/* Around the command itself. */
static void begin_draw(struct exec_engine *g, struct exec_context *c)
{
    exec_queries_begin(g);
    if (c->pipeline->streams)
        exec_streams_begin(g, c);
}

static void end_draw(struct exec_engine *g, struct exec_context *c)
{
    if (c->pipeline->streams)
        exec_streams_end(g, c);
    exec_queries_end(g);
}

int exec_op_draw_indexed(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_draw_indexed d;
    uint32_t unit = c->index_type == VK_INDEX_TYPE_UINT32 ? 4 : 2;
    int r;

    memcpy(&d, p->data, sizeof(d));
    if (!d.index_count || !d.instance_count)
        return 0;
    if (!c->ib)
        return fail_decode(g, "no index buffer is bound");
    if (((uint64_t)d.first_index + d.index_count) * unit > c->ib->size - c->ib_offset)
        return fail_oob(
            g, "indices %u + %u pass the end of index buffer %u, which has %llu bytes behind offset %u",
            d.first_index, d.index_count, c->ib->o.handle, (unsigned long long)(c->ib->size - c->ib_offset),
            c->ib_offset);
    r = prepare(g, c, true);
    if (r)
        return r;
    begin_draw(g, c);
    vkCmdDrawIndexed(g->batch->cmd, d.index_count, d.instance_count, d.first_index, d.base_vertex,
                     d.first_instance);
    end_draw(g, c);
    return 0;
}

int exec_op_draw(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_draw d;
    int r;

    memcpy(&d, p->data, sizeof(d));
    if (!d.vertex_count || !d.instance_count)
        return 0;
    r = prepare(g, c, false);
    if (r)
        return r;
    begin_draw(g, c);
    vkCmdDraw(g->batch->cmd, d.vertex_count, d.instance_count, d.first_vertex, d.first_instance);
    end_draw(g, c);
    return 0;
}

/* The buffer that says how much is drawn or dispatched: `size` bytes from `offset` on. */
static struct exec_buffer *arguments(struct exec_engine *g, uint32_t handle, uint64_t offset, uint64_t size)
{
    struct exec_buffer *b = exec_object_find(g, handle, OBJECT_BUFFER);

    if (b && (offset % 4 || offset > b->size || size > b->size - offset)) {
        fail_oob(g, "%llu bytes at %llu do not fit buffer %u, which has %llu", (unsigned long long)size,
                 (unsigned long long)offset, handle, (unsigned long long)b->size);
        return NULL;
    }
    return b;
}

int exec_op_ext_draw_indirect(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_ext_draw_indirect d;
    struct exec_buffer *b;
    uint32_t size;
    int r;

    memcpy(&d, p->data, sizeof(d));
    size = d.indexed ? sizeof(VkDrawIndexedIndirectCommand) : sizeof(VkDrawIndirectCommand);
    b = arguments(g, d.buffer, d.offset, size);
    if (!b)
        return -EBADMSG;
    if (d.indexed && !c->ib)
        return fail_decode(g, "no index buffer is bound");
    r = prepare(g, c, d.indexed);
    if (r)
        return r;
    begin_draw(g, c);
    if (d.indexed)
        vkCmdDrawIndexedIndirect(g->batch->cmd, b->vk.buffer, d.offset, 1, size);
    else
        vkCmdDrawIndirect(g->batch->cmd, b->vk.buffer, d.offset, 1, size);
    end_draw(g, c);
    exec_batch_use(g, &b->o);
    return 0;
}

int exec_op_ext_draw_auto(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct exec_buffer *b = c->vb[0].buffer;
    int r;

    if (!b || !b->streamed.buffer || !c->vb[0].stride)
        return 0; /* nothing was written there */
    r = prepare(g, c, false);
    if (r)
        return r;
    begin_draw(g, c);
    g->vk.draw_streamed(g->batch->cmd, 1, 0, b->streamed.buffer, 0, 0, c->vb[0].stride);
    end_draw(g, c);
    exec_batch_use(g, &b->o);
    return 0;
}

/* ---- dispatch ------------------------------------------------------------ */

/* What a dispatch needs: the shader, and what it reads and writes, from the slots of a stage. */
static int prepare_dispatch(struct exec_engine *g, enum exec_stage slots, VkCommandBuffer *cmd)
{
    struct exec_context *c = g->ctx;
    struct exec_pipeline *pipe;
    bool writes = false;
    int r = exec_compute_pipeline_resolve(g, c, &pipe);

    if (!r)
        r = exec_queries_room(g);
    if (!r)
        r = exec_bind_prepare(g, c, pipe->program);
    if (r)
        return r;
    *cmd = exec_batch_transfer(g);
    vkCmdBindPipeline(*cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipe->pipeline);
    return exec_bind_descriptors(g, c, pipe->program, (int)slots, &writes);
}

int exec_op_dispatch(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_dispatch d;
    enum abi_program slots;
    VkCommandBuffer cmd;
    int r;

    memcpy(&d, p->data, sizeof(d));
    /* Geometry and tessellation that a driver does with compute shaders bind what these read to the stage they stand for. */
    slots = abi_stage(&g->stream, AEROGPU_SHADER_STAGE_COMPUTE, d.stage_ex);
    if (slots < ABI_GS || slots > ABI_CS)
        return fail_decode(g, "stage_ex %u, NONE, GEOMETRY, HULL, DOMAIN or COMPUTE is needed", d.stage_ex);
    if (!d.group_count_x || !d.group_count_y || !d.group_count_z)
        return 0;
    if (d.group_count_x > MAX_GROUPS || d.group_count_y > MAX_GROUPS || d.group_count_z > MAX_GROUPS)
        return fail_decode(g, "%u x %u x %u groups, at most %u each way are possible", d.group_count_x,
                           d.group_count_y, d.group_count_z, MAX_GROUPS);
    r = prepare_dispatch(g, exec_stage_of_program(slots), &cmd);
    if (r)
        return r;
    exec_queries_begin(g);
    vkCmdDispatch(cmd, d.group_count_x, d.group_count_y, d.group_count_z);
    exec_queries_end(g);
    return 0;
}

int exec_op_ext_dispatch_indirect(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_dispatch_indirect d;
    struct exec_buffer *b;
    VkCommandBuffer cmd;
    int r;

    memcpy(&d, p->data, sizeof(d));
    b = arguments(g, d.buffer, d.offset, sizeof(VkDispatchIndirectCommand));
    if (!b)
        return -EBADMSG;
    r = prepare_dispatch(g, EXEC_CS, &cmd);
    if (r)
        return r;
    exec_queries_begin(g);
    vkCmdDispatchIndirect(cmd, b->vk.buffer, d.offset);
    exec_queries_end(g);
    exec_batch_use(g, &b->o);
    return 0;
}
