/* SPDX-License-Identifier: MIT */
#include "d3d12/view/vertex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_write.h"
#include "d3d12/gen/table.h"
#include "d3d12/view/format.h"
#include "d3d12_api.h"
#include "record/varint.h"
#include "record/walk.h"

#define MAX_ELEMENTS 32
#define BEHIND       UINT32_MAX /* D3D12_APPEND_ALIGNED_ELEMENT */

struct element {
    char semantic[40];
    uint32_t index, format, slot, offset, instanced;
    bool unsure; /* implementations put it in different places */
};

struct layout {
    struct element of[MAX_ELEMENTS];
    size_t num;
    int depth;    /* while the walk is inside the elements */
    uint32_t cut; /* D3D12_INDEX_BUFFER_STRIP_CUT_VALUE */
};

/* ---- what the calls say -------------------------------------------------- */

struct views {
    struct vertex_view of[VERTEX_SLOTS];
    size_t num;
    uint64_t first;
    uint32_t format;
};

static void on_view(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct views *x = ctx;
    struct vertex_view *now = x->num ? &x->of[x->num - 1] : NULL;

    if (!v->type || !name)
        return;
    if (v->type->kind == API_KIND_VA && x->num < VERTEX_SLOTS)
        x->of[x->num++] = (struct vertex_view){.resource = v->raw ? 0 : v->u, .offset = v->offset};
    else if (!strcmp(name, "StartSlot"))
        x->first = v->u;
    else if (now && !strcmp(name, "SizeInBytes"))
        now->size = v->u;
    else if (now && !strcmp(name, "StrideInBytes"))
        now->stride = v->u;
    else if (!strcmp(name, "Format"))
        x->format = (uint32_t)v->u;
}

void vertex_bound(struct vertex_source *s, const struct trc_call *c)
{
    struct views x = {0};
    const struct walk_visitor v = {.value = on_view, .ctx = &x};
    struct bytes in = bytes_of(c->args, c->size);

    if (c->method == D12_ID3D12GraphicsCommandList_IASetPrimitiveTopology) {
        s->topology = (uint32_t)bytes_varint(&in);
        return;
    }
    walk_args(c, &v);
    if (c->method == D12_ID3D12GraphicsCommandList_IASetIndexBuffer) {
        s->index = x.of[0];
        s->index_format = x.format;
    } else if (c->method == D12_ID3D12GraphicsCommandList_IASetVertexBuffers) {
        for (size_t i = 0; i < x.num && x.first + i < VERTEX_SLOTS; i++) {
            s->views[x.first + i] = x.of[i];
            if (x.first + i >= s->num_views)
                s->num_views = (size_t)x.first + i + 1;
        }
    }
}

static void begin(void *ctx, const struct api_field *f, const char *name, bool array, uint64_t n)
{
    struct layout *l = ctx;

    if (l->depth || (name && !strcmp(name, "pInputElementDescs")))
        l->depth++;
}

static void end(void *ctx, bool array)
{
    struct layout *l = ctx;

    if (l->depth)
        l->depth--;
}

static void on_element(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct layout *l = ctx;
    struct element *now = l->num ? &l->of[l->num - 1] : NULL;

    if (!l->depth && v->type && name && !strcmp(name, "IBStripCutValue"))
        l->cut = (uint32_t)v->u;
    if (!l->depth || !v->type || !name)
        return;
    if (v->type->kind == API_KIND_STR && l->num < MAX_ELEMENTS) {
        now = &l->of[l->num++];
        *now = (struct element){.offset = 0};
        snprintf(now->semantic, sizeof(now->semantic), "%.*s", (int)v->size,
                 v->bytes ? (const char *)v->bytes : "");
    } else if (now && !strcmp(name, "SemanticIndex")) {
        now->index = (uint32_t)v->u;
    } else if (now && !strcmp(name, "Format")) {
        now->format = (uint32_t)v->u;
    } else if (now && !strcmp(name, "InputSlot")) {
        now->slot = (uint32_t)v->u;
    } else if (now && !strcmp(name, "AlignedByteOffset")) {
        now->offset = (uint32_t)v->u;
    } else if (now && !strcmp(name, "InputSlotClass")) {
        now->instanced = (uint32_t)v->u;
    }
}

static struct layout layout_of(const struct trc_call *pipeline)
{
    struct layout l = {.num = 0};
    const struct walk_visitor v = {.begin = begin, .end = end, .value = on_element, .ctx = &l};
    uint32_t behind[VERTEX_SLOTS] = {0};

    if (pipeline)
        walk_args(pipeline, &v);
    for (size_t i = 0; i < l.num; i++) {
        struct element *x = &l.of[i];
        int row = format_row(x->format);

        if (x->slot >= VERTEX_SLOTS)
            continue;
        if (x->offset == BEHIND) {
            uint32_t size = row < 0 ? 4 : format_bytes(row), step = size < 4 ? size : 4;

            x->offset = step ? (behind[x->slot] + step - 1) / step * step : behind[x->slot];
            /* what is smaller than 4 bytes: Direct3D 12 puts it at its own alignment, vkd3d at 4 */
            x->unsure = row < 0 || x->offset != ((behind[x->slot] + 3) & ~3u);
        }
        behind[x->slot] = x->offset + (row < 0 ? 0 : format_bytes(row));
    }
    return l;
}

/* ---- the table ----------------------------------------------------------- */

struct range { /* of a draw */
    uint64_t count, first, instance, instances;
    int64_t base;
    bool indexed;
    bool known; /* else the GPU reads how many: as many as there are bytes for */
};

static struct range range_of(uint16_t method, const uint8_t *args, size_t size)
{
    struct range r = {.count = VERTEX_ROWS};
    struct bytes in = bytes_of(args, size);

    r.indexed = method == D12_ID3D12GraphicsCommandList_DrawIndexedInstanced;
    if (!r.indexed && method != D12_ID3D12GraphicsCommandList_DrawInstanced)
        return r;
    r.known = true;
    r.count = bytes_varint(&in);
    r.instances = bytes_varint(&in);
    r.first = bytes_varint(&in);
    if (r.indexed)
        r.base = unzigzag(bytes_varint(&in));
    r.instance = bytes_varint(&in);
    return r;
}

/* Whether an index of so many bytes begins a new strip. */
static bool is_cut(const struct vertex_source *s, const struct layout *l, uint32_t index)
{
    const uint32_t t = s->topology;
    const bool strip = t == D3D_PRIMITIVE_TOPOLOGY_LINESTRIP || t == D3D_PRIMITIVE_TOPOLOGY_TRIANGLESTRIP ||
                       t == D3D_PRIMITIVE_TOPOLOGY_LINESTRIP_ADJ ||
                       t == D3D_PRIMITIVE_TOPOLOGY_TRIANGLESTRIP_ADJ;

    return strip && ((l->cut == D3D12_INDEX_BUFFER_STRIP_CUT_VALUE_0xFFFF && index == 0xffff) ||
                     (l->cut == D3D12_INDEX_BUFFER_STRIP_CUT_VALUE_0xFFFFFFFF && index == 0xffffffff));
}

/* The vertex of row `i`, VERTEX_UNKNOWN or VERTEX_CUT. */
static int64_t vertex_of(const struct vertex_source *s, const struct contents *c, const struct layout *l,
                         const struct range *r, uint64_t i)
{
    unsigned width = s->index_format == DXGI_FORMAT_R16_UINT ? 2 : 4;
    const uint8_t *p;
    uint32_t index = 0;
    size_t n;

    if (!r->indexed)
        return (int64_t)(r->first + i);
    p = contents_at(c, s->index.resource, s->index.offset + (r->first + i) * width, &n);
    if (!p || n < width || (r->first + i + 1) * width > s->index.size)
        return VERTEX_UNKNOWN;
    memcpy(&index, p, width);
    if (is_cut(s, l, index))
        return VERTEX_CUT;
    return index + r->base < 0 ? VERTEX_UNKNOWN : index + r->base;
}

struct lack { /* why there is nothing, for people; `call` where the GPU wrote it */
    const char *why;
    uint64_t call;
};

/* The bytes of a vertex's element, or NULL and why. */
static const uint8_t *element_at(const struct vertex_source *s, const struct contents *c,
                                 const struct range *r, const struct element *x, int64_t vertex, int row,
                                 struct lack *lack)
{
    const struct vertex_view *v = x->slot < VERTEX_SLOTS ? &s->views[x->slot] : NULL;
    uint64_t at, who, bytes = row < 0 ? 0 : format_bytes(row);
    const uint8_t *p;
    size_t n;

    *lack = (struct lack){!v || !v->resource     ? "no buffer"
                          : row < 0 || x->unsure ? "format"
                          : vertex == VERTEX_CUT ? "cut"
                          : vertex < 0           ? "index"
                                                 : NULL,
                          0};
    if (lack->why)
        return NULL;
    at = x->offset + (x->instanced ? r->instance : (uint64_t)vertex) * v->stride; /* of the first instance */
    if (at + bytes > v->size) {
        lack->why = "end";
        return NULL;
    }
    p = contents_at(c, v->resource, v->offset + at, &n);
    if (p && n >= bytes)
        return p;
    lack->why = "never";
    for (uint64_t k = 0; k < bytes; k++)
        if (contents_what(c, v->resource, v->offset + at + k, &who) == CONTENTS_UNKNOWN) {
            *lack = (struct lack){"GPU", who};
            break;
        }
    return NULL;
}

static void show_row(struct strbuf *out, const struct vertex_source *s, const struct contents *c,
                     const struct layout *l, const struct range *r, uint64_t i, int64_t vertex)
{
    strbuf_printf(out, "    vertex %llu", (unsigned long long)i);
    if (vertex >= 0 && (uint64_t)vertex != i)
        strbuf_printf(out, " (%lld)", (long long)vertex);
    for (size_t k = 0; k < l->num; k++) {
        int row = format_row(l->of[k].format);
        struct lack lack;
        const uint8_t *p = element_at(s, c, r, &l->of[k], vertex, row, &lack);

        strbuf_printf(out, "%s %s%u ", k ? "," : ":", l->of[k].semantic, l->of[k].index);
        if (!p)
            strbuf_puts(out, vertex == VERTEX_CUT ? "cut" : "?");
        for (unsigned m = 0; p && m < format_components(row); m++) {
            strbuf_puts(out, m ? " " : "");
            if (format_is_integer(row))
                strbuf_printf(out, "%.0f", format_component(row, p, m));
            else
                strbuf_float(out, (float)format_component(row, p, m));
        }
    }
    strbuf_puts(out, "\n");
}

static void row_json(struct strbuf *out, const struct vertex_source *s, const struct contents *c,
                     const struct layout *l, const struct range *r, uint64_t i, int64_t vertex)
{
    struct json_writer w = json_writer_text(out);

    json_write_object(&w, NULL);
    json_write_string(&w, "role", "vertex");
    json_write_unsigned(&w, "row", i);
    json_write_signed(&w, "vertex", vertex);
    json_write_array(&w, "elements");
    for (size_t k = 0; k < l->num; k++) {
        int row = format_row(l->of[k].format);
        struct lack lack;
        const uint8_t *p = element_at(s, c, r, &l->of[k], vertex, row, &lack);

        json_write_object(&w, NULL);
        json_write_string(&w, "semantic", l->of[k].semantic);
        json_write_unsigned(&w, "index", l->of[k].index);
        if (p) {
            json_write_array(&w, "values");
            for (unsigned m = 0; m < format_components(row); m++)
                format_json(&w, format_component(row, p, m));
            json_write_end(&w);
        } else {
            json_write_null(&w, "values");
            json_write_string(&w, "why", lack.why);
            if (lack.call)
                json_write_unsigned(&w, "by", lack.call);
        }
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    strbuf_puts(out, "\n");
}

static bool is_there(const struct vertex_source *s, const struct contents *c, const struct layout *l,
                     const struct range *r, int64_t vertex)
{
    struct lack lack;

    for (size_t k = 0; k < l->num; k++)
        if (!l->of[k].instanced && element_at(s, c, r, &l->of[k], vertex, format_row(l->of[k].format), &lack))
            return true;
    return false;
}

void vertex_show(struct strbuf *out, enum show_form form, const struct vertex_source *s,
                 const struct trc_call *pipeline, const struct contents *contents, uint16_t method,
                 const uint8_t *args, size_t args_size)
{
    struct layout l = layout_of(pipeline);
    struct range r = range_of(method, args, args_size);

    for (uint64_t i = 0; l.num && i < r.count && i < VERTEX_ROWS; i++) {
        int64_t vertex = vertex_of(s, contents, &l, &r, i);

        if (!r.known && !is_there(s, contents, &l, &r, vertex))
            break;
        (form == SHOW_JSON ? row_json : show_row)(out, s, contents, &l, &r, i, vertex);
    }
    if (form == SHOW_TEXT && l.num && r.known && r.count > VERTEX_ROWS)
        strbuf_printf(out, "    and %llu more\n", (unsigned long long)(r.count - VERTEX_ROWS));
}

/* What says where vertices are; NULL: nothing does. */
static const struct element *position_of(const struct layout *l)
{
    const struct element *first = NULL;

    for (size_t k = 0; k < l->num; k++) {
        const struct element *x = &l->of[k];
        int row = format_row(x->format);

        if (x->instanced || row < 0 || format_components(row) < 2)
            continue;
        if (!strncasecmp(x->semantic, "POSITION", 8) || !strncasecmp(x->semantic, "SV_POSITION", 11))
            return x;
        first = first ? first : x;
    }
    return first;
}

void vertex_mesh(struct strbuf *out, const struct vertex_source *s, const struct trc_call *pipeline,
                 const struct contents *contents, uint16_t method, const uint8_t *args, size_t args_size)
{
    struct json_writer w = json_writer_text(out);
    struct layout l = layout_of(pipeline);
    struct range r = range_of(method, args, args_size);
    const struct element *x = position_of(&l);
    int row = x ? format_row(x->format) : -1;
    unsigned components = x && format_components(row) > 2 ? 3 : 2;

    if (!x)
        return;
    json_write_object(&w, NULL);
    json_write_string(&w, "role", "mesh");
    json_write_string(&w, "semantic", x->semantic);
    json_write_unsigned(&w, "index", x->index);
    json_write_unsigned(&w, "components", components);
    json_write_array(&w, "positions");
    for (uint64_t i = 0; i < r.count && i < VERTEX_MESH; i++) {
        struct lack lack;
        const uint8_t *p = element_at(s, contents, &r, x, vertex_of(s, contents, &l, &r, i), row, &lack);

        if (!r.known && !p)
            r.count = i;
        if (i == r.count)
            break;
        for (unsigned m = 0; m < components; m++)
            if (p)
                format_json_brief(&w, format_component(row, p, m), 6);
            else
                json_write_null(&w, NULL);
    }
    json_write_end(&w);
    json_write_unsigned(&w, "count", r.count);
    json_write_end(&w);
    strbuf_puts(out, "\n");
}

/* ---- one by one ---------------------------------------------------------- */

struct vertex_reader {
    const struct vertex_source *s;
    const struct contents *contents;
    struct layout l;
    struct range r;
};

enum { SV_VERTEX = 6, SV_INSTANCE = 8 }; /* D3D_NAME */

struct vertex_reader *vertex_reader(const struct vertex_source *s, const struct trc_call *pipeline,
                                    const struct contents *contents, uint16_t method, const uint8_t *args,
                                    size_t args_size)
{
    struct vertex_reader *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->s = s;
    r->contents = contents;
    r->l = layout_of(pipeline);
    r->r = range_of(method, args, args_size);
    if (r->r.known)
        return r;
    free(r);
    return NULL;
}

void vertex_reader_free(struct vertex_reader *r)
{
    free(r);
}

uint64_t vertex_count(const struct vertex_reader *r)
{
    return r->r.count;
}

static const struct element *element_of(const struct layout *l, const struct dxbc_element *want)
{
    for (size_t k = 0; k < l->num; k++)
        if (l->of[k].index == want->index && !strcasecmp(l->of[k].semantic, want->name))
            return &l->of[k];
    return NULL;
}

int64_t vertex_inputs(const struct vertex_reader *r, const struct dxbc_signature *in, uint64_t row,
                      struct shader_value to[SHADER_REGISTERS][4])
{
    int64_t vertex = vertex_of(r->s, r->contents, &r->l, &r->r, row);

    memset(to, 0, SHADER_REGISTERS * sizeof(*to));
    for (uint32_t k = 0; k < in->count; k++) {
        const struct dxbc_element *want = &in->elements[k];
        const struct element *x = want->system_value ? NULL : element_of(&r->l, want);
        int format = x ? format_row(x->format) : -1;
        struct lack lack;
        const uint8_t *p = x ? element_at(r->s, r->contents, &r->r, x, vertex, format, &lack) : NULL;
        struct shader_value *four = want->reg < SHADER_REGISTERS ? to[want->reg] : NULL;

        if (!four)
            continue;
        if (want->system_value == SV_VERTEX) /* whether it counts from the first is told in two ways */
            four[0] = (struct shader_value){(uint32_t)vertex,
                                            vertex >= 0 && !r->r.base && (r->r.indexed || !r->r.first)};
        if (want->system_value == SV_INSTANCE)
            four[0] = (struct shader_value){0, !r->r.instance};
        for (unsigned m = 0; p && m < 4; m++) {
            four[m].known = true;
            four[m].bits = m < format_components(format) ? format_bits(format, p, m)
                           : m < 3                       ? 0
                           : format_is_integer(format)   ? 1
                                                         : 0x3f800000;
        }
    }
    return vertex;
}

bool vertex_instanced(const struct vertex_reader *r, const struct dxbc_signature *in)
{
    for (uint32_t k = 0; k < in->count && r->r.instances > 1; k++) {
        const struct element *x = element_of(&r->l, &in->elements[k]);

        if (in->elements[k].system_value == SV_INSTANCE || (x && x->instanced))
            return true;
    }
    return false;
}
