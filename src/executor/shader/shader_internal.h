/* SPDX-License-Identifier: MIT */
/* shader_internal.h: what the files behind shader.h share. */
#pragma once

#include <stdatomic.h>

#include <aerogpu/ext.h>

#include "executor/shader/shader.h"

struct d3d9_program;

struct shader {
    atomic_uint refs;
    struct shader_info info; /* its arrays are the ones below */
    uint8_t *bytes;
    size_t size;                     /* of the container or token stream proper: trailing bytes are dropped */
    struct shader_element *elements; /* inputs, outputs, patch constants, in one allocation */
    struct shader_descriptor *descriptors;
    uint32_t *words; /* DXBC: the translation, unless linking decides (domain shaders) */
    size_t word_count;
    struct d3d9_program *d3d9;
    struct shader_streams *streams; /* NULL: none */
};

/* What is written to buffers, as the translator takes it. */
struct shader_streams {
    uint32_t count, strides[AEROGPU_STREAM_OUTPUT_SLOTS];
    struct shader_stream_element {
        const char *semantic; /* NULL: a gap */
        uint32_t stream, index;
        uint8_t component, components, slot;
    } elements[];
};

uint32_t shader_semantic_hash(const char *name);
void shader_set_semantic(struct shader_element *x, const char *name);

/* Fill `s` (bytes and stage are set) with everything but the reference count. 0 or a negative errno. */
int shader_dxbc_init(struct shader *s, struct error *e);
int shader_spirv_init(struct shader *s, const struct shader_addresses *a, struct error *e);
bool spirv_is(const void *bytes, size_t size);
/* Translates; the result is the caller's to free(). `hull` serves domain shaders. `v` may be NULL. */
int shader_dxbc_translate(const struct shader *s, const struct shader *hull, const struct shader_variant *v,
                          uint32_t **words, size_t *count, struct error *e);
/* What of a variant changes this shader's translation; false: nothing does. */
bool shader_dxbc_relevant(const struct shader *s, const struct shader_variant *v, struct shader_variant *out);

/* Gives every descriptor its binding and Vulkan type. */
void shader_assign_bindings(struct shader *s);

/* Refuses a module that is not valid for Vulkan 1.1: the last gate before a driver. */
int shader_validate(const uint32_t *words, size_t count, struct error *e);
