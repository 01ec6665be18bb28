/* SPDX-License-Identifier: MIT */
/* pass.h: bound targets and render passes. */
#pragma once

#include "executor/engine/context.h"

struct target_set {
    uint32_t num_colors;
    struct exec_view colors[MAX_TARGETS]; /* texture NULL: unbound */
    struct exec_view depth;
    uint32_t width, height, layers, samples;
};

/* The targets that draws of `c` go to; -ENOENT if there are none. */
int exec_targets_of(struct exec_engine *g, struct exec_context *c, struct target_set *t);
VkFormat exec_target_format(const struct exec_view *v); /* VK_FORMAT_UNDEFINED where nothing is bound */
VkRenderPass exec_render_pass_get(struct exec_engine *g, const struct target_set *t, uint32_t clear_flags);
VkFramebuffer exec_framebuffer_get(struct exec_engine *g, const struct target_set *t, VkRenderPass pass);
/* Forgets framebuffers that use one of the texture's views. */
void exec_targets_forget_texture(struct exec_engine *g, const struct exec_texture *t);
void exec_targets_finish(struct exec_engine *g);
void exec_pass_end(struct exec_engine *g);
/* What of the targets the scissor rectangle leaves, if it counts. */
VkRect2D exec_scissor_of(const struct exec_context *c, const int32_t rect[4], uint32_t width,
                         uint32_t height);
/* How many a pipeline has: one, or all that there can be. */
uint32_t exec_viewports_of(const struct exec_engine *g, const struct exec_context *c);
