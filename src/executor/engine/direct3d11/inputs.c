/* SPDX-License-Identifier: MIT */
#include "executor/engine/direct3d11/inputs.h"

#include "executor/engine/engine_priv.h"

const struct layout_element *exec_find_element(const struct exec_layout *l, const struct shader_element *in)
{
    if (l && in->in_order)
        return in->location < l->count ? &l->elements[in->location] : NULL;
    for (uint32_t i = 0; l && i < l->count; i++)
        if (l->elements[i].semantic_hash == in->semantic_hash &&
            l->elements[i].semantic_index == in->semantic_index)
            return &l->elements[i];
    return NULL;
}

/* Of how many instances each gets the same element; 0: it is one of each vertex's. */
static uint32_t instances_of(const struct exec_context *c, const struct layout_element *e, bool *per_instance)
{
    float n =
        c->layout->d3d9 && e->slot < 16 ? c->d3d9[AEROGPU_D3D9_ROW_INSTANCES + e->slot / 4][e->slot % 4] : 0;

    *per_instance = c->layout->d3d9 ? n >= 1 : e->per_instance;
    return c->layout->d3d9 ? (n >= 1 && n < 0x1p24f ? (uint32_t)n : 1) : e->step_rate;
}

static int add_binding(struct exec_engine *g, struct vertex_input *in, const struct exec_context *c,
                       const struct layout_element *e)
{
    bool per_instance;
    uint32_t rate = instances_of(c, e, &per_instance);

    if (in->slots >> e->slot & 1)
        return 0;
    in->slots |= 1u << e->slot;
    in->bindings[in->num_bindings++] = (VkVertexInputBindingDescription){
        e->slot, c->vb[e->slot].stride,
        per_instance ? VK_VERTEX_INPUT_RATE_INSTANCE : VK_VERTEX_INPUT_RATE_VERTEX};
    if (!per_instance || rate == 1)
        return 0;
    if (!g->vk.caps.divisor)
        return fail_backend(g, "this Vulkan device has no instance step rate but 1; slot %u asks for %u",
                            e->slot, rate);
    in->divisors[in->num_divisors++] = (VkVertexInputBindingDivisorDescriptionEXT){e->slot, rate};
    return 0;
}

static VkFormat null_format(uint8_t component)
{
    return component == SHADER_COMPONENT_UINT   ? VK_FORMAT_R32G32B32A32_UINT
           : component == SHADER_COMPONENT_SINT ? VK_FORMAT_R32G32B32A32_SINT
                                                : VK_FORMAT_R32G32B32A32_SFLOAT;
}

int exec_match_inputs(struct exec_engine *g, struct vertex_input *in, const struct exec_context *c,
                      const struct shader_info *vs)
{
    for (uint32_t i = 0; i < vs->input_count; i++) {
        const struct shader_element *want = &vs->inputs[i];
        const struct layout_element *e = exec_find_element(c->layout, want);
        VkVertexInputAttributeDescription *a = &in->attributes[in->num_attributes];
        VkFormatProperties props;
        int r;
        if (want->system_value || in->num_attributes == MAX_VERTEX_BUFFERS)
            continue;
        in->num_attributes++;
        if (!e || !c->vb[e->slot].buffer) { /* reads as zero */
            in->null_slot = true;
            *a = (VkVertexInputAttributeDescription){want->location, NULL_VERTEX_SLOT,
                                                     null_format(want->component), 0};
            continue;
        }
        vkGetPhysicalDeviceFormatProperties(g->vk.physical, e->format, &props);
        if (!(props.bufferFeatures & VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT))
            return fail_backend(
                g, "this Vulkan device cannot read vertex attribute %s%u in its format (VkFormat %d)",
                want->semantic, want->semantic_index, (int)e->format);
        *a = (VkVertexInputAttributeDescription){want->location, e->slot, e->format, e->offset};
        r = add_binding(g, in, c, e);
        if (r)
            return r;
    }
    if (in->null_slot) {
        if (in->slots >> NULL_VERTEX_SLOT & 1)
            return fail_backend(g, "all %d vertex buffer slots are taken and an input has no buffer",
                                MAX_VERTEX_BUFFERS);
        in->bindings[in->num_bindings++] =
            (VkVertexInputBindingDescription){NULL_VERTEX_SLOT, 0, VK_VERTEX_INPUT_RATE_VERTEX};
    }
    return 0;
}

void exec_builtin_inputs(struct vertex_input *in, const struct exec_context *c)
{
    in->bindings[0] = (VkVertexInputBindingDescription){0, c->vb[0].stride, VK_VERTEX_INPUT_RATE_VERTEX};
    in->attributes[0] = (VkVertexInputAttributeDescription){0, 0, VK_FORMAT_R32G32_SFLOAT, 0};
    in->attributes[1] = (VkVertexInputAttributeDescription){1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 8};
    in->num_bindings = 1;
    in->num_attributes = 2;
    in->slots = 1;
}
