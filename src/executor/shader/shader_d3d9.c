/* SPDX-License-Identifier: MIT */
/* shader_d3d9.c: what a checked Direct3D 9 program needs bound. */
#include <errno.h>
#include <stdlib.h>

#include "executor/shader/d3d9.h"
#include "executor/shader/shader_internal.h"

static void add_element(struct shader_element *x, const struct d3d9_declaration *d, bool position)
{
    shader_set_semantic(x, d3d9_usage_name(d->usage));
    x->in_order = d->usage == D3D9_USAGE_IN_ORDER;
    x->semantic_index = d->usage_index;
    x->location = d->index;
    x->system_value = position && d->usage == D3D9_USAGE_POSITION && !d->usage_index;
    x->mask = x->used_mask = d->mask;
    x->component = SHADER_COMPONENT_FLOAT;
    x->d3d9_usage = (int8_t)d->usage;
}

int shader_d3d9_init(struct shader *s, struct error *e)
{
    static const uint8_t dims[] = {[D3D9_TEXTURE_2D] = SHADER_DIM_2D,
                                   [D3D9_TEXTURE_CUBE] = SHADER_DIM_CUBE,
                                   [D3D9_TEXTURE_VOLUME] = SHADER_DIM_3D};
    struct shader_d3d9_constants *k = &s->info.d3d9;
    struct d3d9_program *p;
    uint32_t *words = NULL, n = 0;
    size_t count;
    int ret = d3d9_program_create(&s->d3d9, s->bytes, s->size, &s->size, e);

    if (ret)
        return ret;
    p = s->d3d9;
    s->info.kind = SHADER_D3D9;
    if (s->info.stage != (p->pixel ? EXEC_PS : EXEC_VS))
        return error_set(e, -EINVAL, "D3D9: a %s program cannot be a %s shader",
                         p->pixel ? "pixel" : "vertex", exec_stage_name(s->info.stage));
    s->info.major = p->major;
    s->info.minor = p->minor;
    s->elements = calloc(p->input_count + p->output_count + 1, sizeof(*s->elements));
    s->descriptors = calloc(17, sizeof(*s->descriptors));
    if (!s->elements || !s->descriptors)
        return error_set(e, -ENOMEM, "no memory for a shader's description");
    for (uint32_t i = 0; i < p->input_count; i++)
        add_element(&s->elements[i], &p->inputs[i], false);
    for (uint32_t i = 0; i < p->output_count; i++)
        add_element(&s->elements[p->input_count + i], &p->outputs[i], true);
    s->info.inputs = s->elements;
    s->info.input_count = p->input_count;
    s->info.outputs = s->elements + p->input_count;
    s->info.output_count = p->output_count;
    s->info.target_mask = p->color_mask;
    s->info.writes_depth = p->writes_depth;
    s->info.uses_kill = p->kills;
    s->info.writes_point_size = p->writes_point_size;
    *k = (struct shader_d3d9_constants){.count_f = p->count_f, .count_i = p->count_i, .count_b = p->count_b};
    k->offset_i = 16 * k->count_f;
    k->offset_b = k->offset_i + 16 * k->count_i;
    k->offset_params = k->offset_b + 16 * k->count_b;
    k->size = k->offset_params + (uint32_t)sizeof(struct shader_d3d9_params);
    s->descriptors[n++] = (struct shader_descriptor){.kind = SHADER_D3D9_BLOCK, .count = 1, .size = k->size};
    for (uint32_t i = 0; i < 16; i++)
        if (p->sampler_dim[i])
            s->descriptors[n++] = (struct shader_descriptor){.kind = SHADER_D3D9_SAMPLER,
                                                             .dim = dims[p->sampler_dim[i]],
                                                             .component = SHADER_COMPONENT_FLOAT,
                                                             .index = i,
                                                             .count = 1};
    s->info.descriptor_count = n;
    shader_assign_bindings(s);
    /* What translates once translates with every variant; the engine learns of a failure here. */
    ret = d3d9_translate(s, NULL, &(struct shader_variant){0}, &words, &count, e);
    free(words);
    return ret;
}
