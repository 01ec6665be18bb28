/* SPDX-License-Identifier: MIT */
/* processed.h: what the vertex shader of a draw makes of its vertices, and the pixel shader of what is the same for all of them; where other
 * stages are between them, of what no vertex gives it. */
#pragma once

#include "base/strbuf.h"
#include "d3d12/view/shader.h"
#include "d3d12/view/shader_run.h"
#include "d3d12/view/vertex.h"
#include "record/show.h"

struct processed {
    enum show_form form;
    bool page;    /* all vertices, as long as there are steps left */
    bool between; /* other stages make what is drawn of the vertices */
    uint64_t *steps;
    struct vertex_reader *vertices;
    const struct shader *vertex, *pixel; /* `pixel` NULL: there is none */
    const struct shader_code *vertex_code, *pixel_code;
    /* shader_run.h, of the vertex shader; of the pixel shader */
    void (*constants)(void *ctx, struct shader_place b, uint32_t row, struct shader_value *four);
    void (*buffer)(void *ctx, struct shader_place t, uint32_t stride, uint64_t element, uint64_t at,
                   struct shader_value *one);
    void *vertex_ctx, *pixel_ctx;
};

#define PROCESSED_STEPS 4000000 /* for a page */
#define PROCESSED_ALL   600     /* vertices of a draw of which all are run */
#define TRACE_WRITES    300
#define TRACE_STEPS     (PROCESSED_STEPS / 8) /* for a page: those are the first draws */

/* Appends lines: "role" "processed" for each of the first VERTEX_ROWS vertices, its elements as those of "vertex"; "pixel": "discards"
 * ("always", "may", "never") and "targets" with the "values" that the pixel shader writes to each, null where they are not the same for all
 * pixels, and "written", the mask. For a page "mesh" with "after" true: "positions" of four, "all" (false: not of every vertex, or these are
 * not what is drawn). As JSON, and for a page of the first draws, "trace" of the "stage" for vertex "row", or for what is the same for all
 * pixels: "writes" of [word of the program, register and components, values...], TRACE_WRITES at most. */
void processed_show(struct strbuf *out, const struct processed *x);
