/* SPDX-License-Identifier: MIT */
/* inputs.h: which vertex buffers feed which inputs of a vertex shader. */
#pragma once

#include "executor/engine/context.h"

struct vertex_input {
    VkVertexInputBindingDescription bindings[MAX_VERTEX_BUFFERS];
    VkVertexInputAttributeDescription attributes[MAX_VERTEX_BUFFERS];
    VkVertexInputBindingDivisorDescriptionEXT divisors[MAX_VERTEX_BUFFERS];
    uint32_t num_bindings, num_attributes, num_divisors;
    uint32_t slots;
    bool null_slot;
};

/* The layout's element that is the shader's input; NULL: none is. */
const struct layout_element *exec_find_element(const struct exec_layout *l, const struct shader_element *in);
int exec_match_inputs(struct exec_engine *g, struct vertex_input *in, const struct exec_context *c,
                      const struct shader_info *vs);
/* Of the built-in program: positions and colours, of slot 0. */
void exec_builtin_inputs(struct vertex_input *in, const struct exec_context *c);
