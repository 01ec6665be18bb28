/* SPDX-License-Identifier: MIT */
/* sample.h: what the sample programs share: a recording that is being written, shaders from samples/shaders,
 * and the little mathematics of a scene.
 *
 *     sample_begin_frame(s);
 *     ABI_EMIT(&s->stream, …);          packets of one submission
 *     sample_submit(s, context, 0);     ends the stream
 *     sample_end_frame(s);
 *
 * Any failure is kept in s->error, and every call after it does nothing.
 */
#pragma once

#include <math.h>
#include <stdint.h>

#include <aerogpu/cmd.h>
#include <aerogpu/pci.h>

#include "abi/builder.h"
#include "base/error.h"
#include "trace/writer.h"

enum { SAMPLE_MAX_ALLOCS = 4 };

/* Guest memory that resources of the sample are backed by. */
struct sample_alloc {
    uint32_t id;
    uint64_t gpa;
    void *data;
    uint32_t size;
    void *written; /* what it held when it was last written, as blob */
    uint64_t blob;
};

struct sample {
    struct trace_writer *trace;
    struct abi_builder stream;
    const char *shaders; /* folder */
    struct sample_alloc allocs[SAMPLE_MAX_ALLOCS];
    uint32_t num_allocs, frame;
    uint64_t fence;
    struct error error;
};

void sample_begin_frame(struct sample *s);
void sample_submit(struct sample *s, uint32_t context, uint32_t submit_flags);
void sample_end_frame(struct sample *s);

/* Memory that goes along with every submission from now on; the caller's, until the sample is finished. */
void sample_add_alloc(struct sample *s, uint32_t id, uint64_t gpa, void *data, uint32_t size);

/* CREATE_SHADER_DXBC with the bytecode of samples/shaders/`name`. */
void sample_shader(struct sample *s, uint32_t handle, uint32_t stage, const char *name);

/* A buffer of the host with its contents. */
void sample_buffer(struct sample *s, uint32_t handle, uint32_t usage, const void *data, uint32_t size);

/* Colour target of `width` x `height` and, if `depth` is not 0, a depth buffer; binds and sets the viewport.
 */
void sample_targets(struct sample *s, uint32_t colour, uint32_t depth, uint32_t width, uint32_t height,
                    uint32_t format);
void sample_viewport(struct sample *s, float width, float height);
void sample_clear(struct sample *s, uint32_t flags, float r, float g, float b);

/* An ILAY input layout on slot 0: elements of floats in a row. `spec` is "POSITION:3 NORMAL:3 TEXCOORD:2". */
void sample_layout(struct sample *s, uint32_t handle, const char *spec);

void sample_bind_vertices(struct sample *s, uint32_t buffer, uint32_t stride);
void sample_bind_constants(struct sample *s, uint32_t stage, uint32_t slot, uint32_t buffer, uint32_t size);
void sample_bind_shaders(struct sample *s, uint32_t vs, uint32_t ps);

/* ---- column-major matrices, column vectors, left-handed, depth 0 to 1: as Direct3D clips ---- */

struct matrix {
    float m[4][4]; /* [column][row] */
};

struct matrix matrix_identity(void);
struct matrix matrix_multiply(struct matrix a, struct matrix b); /* b happens first */
struct matrix matrix_translation(float x, float y, float z);
struct matrix matrix_scale(float x, float y, float z);
struct matrix matrix_rotation_x(float angle);
struct matrix matrix_rotation_y(float angle);
struct matrix matrix_perspective(float fov_y, float aspect, float near_z, float far_z);

struct vertex {
    float position[3], normal[3], uv[2];
};

/* A torus of `rings` x `sides` quads: (rings + 1) * (sides + 1) vertices, rings * sides * 6 indices, wound
 * clockwise seen from outside. */
void torus(struct vertex *vertices, uint16_t *indices, int rings, int sides, float radius, float tube);

/* A square of 2 x 2 in the xz plane, facing up, as two triangles: 6 vertices. */
void ground(struct vertex vertices[6], float repeat);

/* `size` x `size` RGBA8 texels: a brick pattern that has no symmetry, so that a mirrored picture shows. */
void bricks(uint32_t *texels, uint32_t size);

/* Each writes its scene. */
void sample_spinning(struct sample *s);
void sample_compute(struct sample *s);
void sample_producers(struct sample *s);
void sample_d3d9(struct sample *s);
void sample_shared(struct sample *s);
void sample_stress(struct sample *s);
void sample_hang(struct sample *s);
void sample_after_free(struct sample *s);
void sample_beyond(struct sample *s);
void sample_slow(struct sample *s);
void sample_wild(struct sample *s);
