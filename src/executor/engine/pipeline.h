/* SPDX-License-Identifier: MIT */
/* pipeline.h: programs, pipelines, samplers and descriptor sets, each found again by a key. */
#pragma once

#include "executor/engine/context.h"
#include "executor/engine/hash.h"

struct exec_batch;

struct exec_pipeline {
    VkPipeline pipeline;
    struct exec_program *program;
    uint32_t vertex_slots; /* bit: a buffer is bound there when drawing */
    bool null_vertex_slot; /* the null buffer is read through NULL_VERTEX_SLOT */
    bool streams;          /* vertices are written to buffers */
    bool used;             /* drawn with */
};

struct exec_program {
    struct shader_key key;
    const struct shader_info *infos[EXEC_STAGE_COUNT]; /* of shaders held below; NULL: built-in or unbound */
    struct shader *shaders[EXEC_STAGE_COUNT];
    VkShaderModule modules[EXEC_STAGE_COUNT];
    VkDescriptorSetLayout sets[EXEC_STAGE_COUNT]; /* by set number */
    VkPipelineLayout layout;
    uint32_t num_sets;
    struct exec_pipeline compute; /* made when first dispatched */
    UT_hash_handle hh;
};

int exec_caches_create(struct exec_engine *g);
void exec_caches_destroy(struct exec_engine *g);
int exec_pipeline_resolve(struct exec_engine *g, struct exec_context *c, bool indexed);
int exec_compute_pipeline_resolve(struct exec_engine *g, struct exec_context *c, struct exec_pipeline **out);
VkSampler exec_sampler_get(struct exec_engine *g, const struct sampler_desc *desc);
struct descriptor_pool {
    VkDescriptorPool pool;
    struct descriptor_pool *next;
};

/* Binds what the program's stages ask for; *writes is set if one of them has a UAV. A compute program finds it in the
 * slots of `compute`, EXEC_CS or the geometry, hull or domain stage; a graphics program (-1) in those of its stages. */
int exec_bind_descriptors(struct exec_engine *g, struct exec_context *c, struct exec_program *prog,
                          int compute, bool *writes);
/* Outside of passes, in front of that: makes what unbound slots need. */
int exec_bind_prepare(struct exec_engine *g, struct exec_context *c, const struct exec_program *prog);
void exec_bind_forget(struct exec_batch *b);
