/* SPDX-License-Identifier: MIT */
/* vertex.h: the vertices that a draw reads, as a table. */
#pragma once

#include "base/strbuf.h"
#include "record/show.h"
#include "record/trace_file.h"
#include "d3d12/view/contents.h"
#include "d3d12/view/shader_run.h"

#define VERTEX_ROWS  16 /* vertices that are shown */
#define VERTEX_SLOTS 16
#define VERTEX_MESH  3072 /* vertices of a mesh */

struct vertex_view {
    uint64_t resource, offset; /* of a buffer: 0: none */
    uint64_t size, stride;
};

struct vertex_source {
    struct vertex_view views[VERTEX_SLOTS]; /* by slot */
    size_t num_views;
    struct vertex_view index;
    uint32_t index_format; /* DXGI_FORMAT */
    uint32_t topology;     /* D3D_PRIMITIVE_TOPOLOGY */
};

/* A call of the input assembler on a list: what it binds. */
void vertex_bound(struct vertex_source *s, const struct trc_call *c);
/* Appends a line for each of the first vertices of the draw: "role" "vertex", its number, and each element of the pipeline's input
 * layout. `pipeline` made the pipeline (NULL: unknown), `method` is the draw with its arguments. Values that the recording does not
 * know are "?", in JSON null. */
void vertex_show(struct strbuf *out, enum show_form form, const struct vertex_source *s,
                 const struct trc_call *pipeline, const struct contents *contents, uint16_t method,
                 const uint8_t *args, size_t args_size);

/* Appends one line of JSON, "role" "mesh": "semantic" and "index" of what says where vertices are (POSITION, or the first of two
 * components and more), "components" (2 or 3), "count" of all, and the "positions" of the first VERTEX_MESH in the order in which they
 * are drawn, one behind the other; null where they are not known. Nothing where the pipeline has no such element. */
void vertex_mesh(struct strbuf *out, const struct vertex_source *s, const struct trc_call *pipeline,
                 const struct contents *contents, uint16_t method, const uint8_t *args, size_t args_size);

/* The vertices of a draw, one by one, as a vertex shader is given them. */
struct vertex_reader;
/* NULL: how many there are is not known, or there is no memory. */
struct vertex_reader *vertex_reader(const struct vertex_source *s, const struct trc_call *pipeline,
                                    const struct contents *contents, uint16_t method, const uint8_t *args,
                                    size_t args_size);
void vertex_reader_free(struct vertex_reader *r);
uint64_t vertex_count(const struct vertex_reader *r);
/* The vertex of row `row` into the registers that `in` names; its number, VERTEX_UNKNOWN or VERTEX_CUT, which is none. */
#define VERTEX_UNKNOWN (-1)
#define VERTEX_CUT     (-2) /* an index that ends a strip */
int64_t vertex_inputs(const struct vertex_reader *r, const struct dxbc_signature *in, uint64_t row,
                      struct shader_value to[SHADER_REGISTERS][4]);
/* Whether what is in these registers differs from instance to instance, and there is more than one. */
bool vertex_instanced(const struct vertex_reader *r, const struct dxbc_signature *in);
