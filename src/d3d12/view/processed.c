/* SPDX-License-Identifier: MIT */
#include "d3d12/view/processed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_write.h"
#include "d3d12/view/format.h"

enum {
    SV_POSITION = 1,
    SV_TARGET = 64,
    INTEGERS = 2
}; /* D3D_NAME; D3D_REGISTER_COMPONENT_TYPE below FLOAT */

struct same { /* what is the same after every vertex */
    struct shader_value of[SHADER_REGISTERS][4];
    bool any;
};

static void meet(struct same *s, const struct shader_run *r)
{
    for (unsigned k = 0; k < SHADER_REGISTERS; k++)
        for (unsigned m = 0; m < 4; m++) {
            struct shader_value *v = &s->of[k][m];

            if (!s->any)
                *v = r->out[k][m];
            else if (!r->out[k][m].known || v->bits != r->out[k][m].bits)
                v->known = false;
        }
    s->any = true;
}

static double number(const struct dxbc_element *e, uint32_t bits)
{
    float f;

    memcpy(&f, &bits, 4);
    return e->component == 1 ? (double)bits : e->component == INTEGERS ? (double)(int32_t)bits : (double)f;
}

static bool is_position(const struct dxbc_element *e)
{
    return e->system_value == SV_POSITION || !strcasecmp(e->name, "SV_Position");
}

static bool is_target(const struct dxbc_element *e)
{
    return e->system_value == SV_TARGET || !strcasecmp(e->name, "SV_Target");
}

/* ---- what each instruction does ------------------------------------------- */

struct trace {
    struct strbuf text;
    struct json_writer w;
    unsigned num;
};

/* Registers have no type: what is no sensible float is a whole number, or a truth. */
static void register_value(struct json_writer *w, const struct shader_value *v)
{
    const uint32_t exponent = v->bits >> 23 & 0xff;
    float f;

    memcpy(&f, &v->bits, 4);
    if (!v->known)
        json_write_null(w, NULL);
    else if ((!exponent && v->bits << 1) || (exponent == 0xff && v->bits << 9))
        json_write_signed(w, NULL, (int32_t)v->bits);
    else
        format_json_brief(w, (double)f, 9);
}

static void on_wrote(void *ctx, uint32_t word, char file, uint32_t number, uint8_t mask,
                     const struct shader_value *four)
{
    struct trace *t = ctx;
    char name[24];
    int n = snprintf(name, sizeof(name), "%c%u.", file, number);

    if (t->num++ >= TRACE_WRITES)
        return;
    for (unsigned k = 0; k < 4; k++)
        if (mask >> k & 1)
            name[n++] = "xyzw"[k];
    name[n] = '\0';
    json_write_array(&t->w, NULL);
    json_write_unsigned(&t->w, NULL, word);
    json_write_string(&t->w, NULL, name);
    for (unsigned k = 0; k < 4; k++)
        if (mask >> k & 1)
            register_value(&t->w, &four[k]);
    json_write_end(&t->w);
}

static bool is_traced(const struct processed *x)
{
    return x->form == SHOW_JSON && (!x->page || *x->steps < TRACE_STEPS);
}

/* Runs it, and tells what each of its instructions wrote. */
static void run_traced(struct strbuf *out, const struct shader_code *code, struct shader_run *r,
                       const char *stage, int64_t row)
{
    struct trace t = {0};

    t.w = json_writer_text(&t.text);
    json_write_object(&t.w, NULL);
    json_write_string(&t.w, "role", "trace");
    json_write_string(&t.w, "stage", stage);
    if (row >= 0)
        json_write_signed(&t.w, "row", row);
    json_write_array(&t.w, "writes");
    r->wrote = on_wrote;
    r->wrote_ctx = &t;
    shader_run(code, r);
    json_write_end(&t.w);
    json_write_end(&t.w);
    strbuf_append(out, strbuf_str(&t.text), t.text.len);
    strbuf_puts(out, "\n");
    out->failed = out->failed || strbuf_failed(&t.text);
    strbuf_finish(&t.text);
}

/* ---- vertices ------------------------------------------------------------ */

static void row_text(struct strbuf *out, const struct processed *x, const struct shader_run *r, uint64_t row)
{
    strbuf_printf(out, "    vertex %llu after the vertex shader", (unsigned long long)row);
    for (uint32_t k = 0; k < x->vertex->out.count; k++) {
        const struct dxbc_element *e = &x->vertex->out.elements[k];

        strbuf_printf(out, "%s %s%u", k ? "," : ":", e->name, e->index);
        for (unsigned m = 0; m < 4 && e->reg < SHADER_REGISTERS; m++) {
            if (!(e->mask >> m & 1))
                continue;
            strbuf_puts(out, " ");
            if (!r->out[e->reg][m].known)
                strbuf_puts(out, "?");
            else
                strbuf_float(out, (float)number(e, r->out[e->reg][m].bits));
        }
    }
    strbuf_puts(out, "\n");
}

static void values(struct json_writer *w, const struct dxbc_element *e, const struct shader_value *four)
{
    json_write_array(w, "values");
    for (unsigned m = 0; m < 4; m++)
        if (!(e->mask >> m & 1))
            continue;
        else if (four && four[m].known)
            format_json(w, number(e, four[m].bits));
        else
            json_write_null(w, NULL);
    json_write_end(w);
}

static void row_json(struct strbuf *out, const struct processed *x, const struct shader_run *r, uint64_t row)
{
    struct json_writer w = json_writer_text(out);

    json_write_object(&w, NULL);
    json_write_string(&w, "role", "processed");
    json_write_unsigned(&w, "row", row);
    json_write_array(&w, "elements");
    for (uint32_t k = 0; k < x->vertex->out.count; k++) {
        const struct dxbc_element *e = &x->vertex->out.elements[k];

        json_write_object(&w, NULL);
        json_write_string(&w, "semantic", e->name);
        json_write_unsigned(&w, "index", e->index);
        values(&w, e, e->reg < SHADER_REGISTERS ? r->out[e->reg] : NULL);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    strbuf_puts(out, "\n");
}

/* Whether every vertex was run. */
static bool vertices(struct strbuf *out, const struct processed *x, struct same *same, float *positions,
                     bool *known, uint64_t *num)
{
    const struct dxbc_element *position = NULL;
    uint64_t count = vertex_count(x->vertices);
    struct shader_run *r = calloc(1, sizeof(*r));
    bool all = r && count <= PROCESSED_ALL;
    const uint64_t most = all ? count : VERTEX_ROWS;

    for (uint32_t k = 0; k < x->vertex->out.count; k++)
        if (is_position(&x->vertex->out.elements[k]) && x->vertex->out.elements[k].reg < SHADER_REGISTERS)
            position = &x->vertex->out.elements[k];
    for (uint64_t i = 0; r && i < count && i < most; i++) {
        int64_t vertex;

        if (*x->steps > PROCESSED_STEPS) {
            all = false;
            break;
        }
        *r = (struct shader_run){.constants = x->constants, .buffer = x->buffer, .ctx = x->vertex_ctx};
        vertex = vertex_inputs(x->vertices, &x->vertex->in, i, r->in);
        if (vertex != VERTEX_CUT && !same->any && is_traced(x))
            run_traced(out, x->vertex_code, r, "vertex", (int64_t)i);
        else if (vertex != VERTEX_CUT)
            shader_run(x->vertex_code, r);
        *x->steps += r->steps + 20;
        if (i < VERTEX_ROWS && vertex != VERTEX_CUT)
            (x->form == SHOW_JSON ? row_json : row_text)(out, x, r, i);
        if (vertex != VERTEX_CUT)
            meet(same, r);
        for (unsigned m = 0; m < 4; m++) {
            known[4 * i + m] = position && r->out[position->reg][m].known;
            if (position)
                memcpy(&positions[4 * i + m], &r->out[position->reg][m].bits, 4);
        }
        *num = i + 1;
    }
    free(r);
    return all;
}

static void mesh(struct strbuf *out, const float *positions, const bool *known, uint64_t num, bool all)
{
    struct json_writer w = json_writer_text(out);

    json_write_object(&w, NULL);
    json_write_string(&w, "role", "mesh");
    json_write_bool(&w, "after", true);
    json_write_bool(&w, "all", all);
    json_write_unsigned(&w, "components", 4);
    json_write_unsigned(&w, "count", num);
    json_write_array(&w, "positions");
    for (uint64_t i = 0; i < 4 * num; i++)
        if (known[i])
            format_json_brief(&w, (double)positions[i], 9);
        else
            json_write_null(&w, NULL);
    json_write_end(&w);
    json_write_end(&w);
    strbuf_puts(out, "\n");
}

/* ---- pixels -------------------------------------------------------------- */

/* What vertices gave, into the registers in which the pixel shader looks for it. */
static void pixel_inputs(const struct processed *x, const struct same *same, struct shader_run *r)
{
    for (uint32_t k = 0; k < x->pixel->in.count; k++) {
        const struct dxbc_element *want = &x->pixel->in.elements[k];

        for (uint32_t n = 0; n < x->vertex->out.count && !want->system_value; n++) {
            const struct dxbc_element *e = &x->vertex->out.elements[n];

            if (e->index != want->index || strcasecmp(e->name, want->name) || e->reg >= SHADER_REGISTERS ||
                want->reg >= SHADER_REGISTERS || !e->mask || !want->mask)
                continue;
            for (unsigned m = (unsigned)__builtin_ctz(want->mask), from = (unsigned)__builtin_ctz(e->mask);
                 m < 4 && from < 4; m++, from++)
                if (want->mask >> m & 1 && e->mask >> from & 1)
                    r->in[want->reg][m] = same->of[e->reg][from];
        }
    }
}

static void pixel_text(struct strbuf *out, const struct processed *x, const struct shader_run *r)
{
    if (r->discard == SHADER_DISCARDS)
        strbuf_puts(out, "    the pixel shader discards every pixel\n");
    for (uint32_t k = 0; k < x->pixel->out.count; k++) {
        const struct dxbc_element *e = &x->pixel->out.elements[k];
        bool any = false;

        for (unsigned m = 0; m < 4 && e->reg < SHADER_REGISTERS; m++)
            any |= r->out[e->reg][m].known;
        if (!is_target(e) || !any)
            continue;
        strbuf_printf(out, "    every pixel of target %u:", e->index);
        for (unsigned m = 0; m < 4; m++) {
            strbuf_puts(out, " ");
            if (r->out[e->reg][m].known)
                strbuf_float(out, (float)number(e, r->out[e->reg][m].bits));
            else
                strbuf_puts(out, "?");
        }
        strbuf_puts(out, "\n");
    }
}

static void pixel_json(struct strbuf *out, const struct processed *x, const struct shader_run *r)
{
    static const char *const discards[] = {"never", "may", "always"};
    struct json_writer w = json_writer_text(out);

    json_write_object(&w, NULL);
    json_write_string(&w, "role", "pixel");
    json_write_string(&w, "discards", discards[r->discard]);
    json_write_array(&w, "targets");
    for (uint32_t k = 0; k < x->pixel->out.count; k++) {
        const struct dxbc_element *e = &x->pixel->out.elements[k];

        if (!is_target(e) || e->reg >= SHADER_REGISTERS)
            continue;
        json_write_object(&w, NULL);
        json_write_unsigned(&w, "target", e->index);
        json_write_unsigned(&w, "written", r->written[e->reg]);
        values(&w, e, r->out[e->reg]);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    strbuf_puts(out, "\n");
}

static void pixel(struct strbuf *out, const struct processed *x, const struct same *same)
{
    struct shader_run *r = calloc(1, sizeof(*r));

    if (!r)
        return;
    r->constants = x->constants;
    r->buffer = x->buffer;
    r->ctx = x->pixel_ctx;
    if (same)
        pixel_inputs(x, same, r);
    if (is_traced(x))
        run_traced(out, x->pixel_code, r, "pixel", -1);
    else
        shader_run(x->pixel_code, r);
    *x->steps += r->steps;
    (x->form == SHOW_JSON ? pixel_json : pixel_text)(out, x, r);
    free(r);
}

void processed_show(struct strbuf *out, const struct processed *x)
{
    const uint64_t room =
        x->vertices && vertex_count(x->vertices) < VERTEX_MESH ? vertex_count(x->vertices) : VERTEX_MESH;
    struct same *same = calloc(1, sizeof(*same));
    float *positions = malloc((4 * room + 4) * sizeof(*positions));
    bool *known = malloc((4 * room + 4) * sizeof(*known)), all = false;
    uint64_t num = 0;

    if (same && positions && known && x->vertices && x->vertex_code) {
        all = vertices(out, x, same, positions, known, &num) && !x->between &&
              !vertex_instanced(x->vertices, &x->vertex->in);
        if (x->page && num)
            mesh(out, positions, known, num, all);
    }
    if (x->pixel_code)
        pixel(out, x, all && same->any ? same : NULL);
    free(same);
    free(positions);
    free(known);
}
