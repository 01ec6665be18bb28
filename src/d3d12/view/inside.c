/* SPDX-License-Identifier: MIT */
#include "d3d12/view/inside.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_write.h"
#include "d3d12/gen/table.h"
#include "d3d12/view/indirect.h"
#include "d3d12/view/processed.h"
#include "d3d12/view/root_signature.h"
#include "d3d12/view/shader.h"
#include "d3d12/view/vertex.h"
#include "d3d12_api.h"
#include "record/walk.h"

#define MAX_SHADERS   8
#define MAX_RESOURCES 256
#define MAX_REGISTERS 16   /* of a constant buffer of unknown layout */
#define MAX_TABLE     4    /* such buffers of one range */
#define MAX_PARTS     1024 /* subresources of a texture that are looked at */

enum { TABLE, CONSTANTS, CBV, SRV };

struct bound { /* by a root parameter */
    bool set;
    uint64_t resource, offset; /* a view: address in a resource; a table: heap and index */
    uint8_t values[256];       /* constants */
    size_t num_values;         /* bytes */
};

struct draw {
    const struct inside *x;
    bool compute;
    bool bundle;                            /* what its caller had set stays */
    const struct trc_call *pipeline, *root; /* what made them */
    const struct trc_call *targets;         /* what bound them */
    const struct trc_call *predicate;       /* what set it */
    struct bound bound[ROOT_MAX_PARAMETERS];
    struct vertex_source vertices;
    struct shader shaders[MAX_SHADERS];
    size_t shader_sizes[MAX_SHADERS], num_shaders;
    const uint8_t *shader_bytes[MAX_SHADERS];
    struct id_list resources;
    bool failed; /* there was no memory for one of them */
};

/* ---- picking arguments --------------------------------------------------- */

struct picks { /* the numbers of a call in their order, and the first of each other kind */
    uint64_t numbers[8];
    size_t num;
    uint64_t object, base, offset;
    struct {
        const uint8_t *bytes;
        uint64_t size, blob;
    } blobs[MAX_SHADERS];
    size_t num_blobs;
};

static void pick(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct picks *p = ctx;

    if (!v->type) {
        if (p->num_blobs < MAX_SHADERS) {
            p->blobs[p->num_blobs].bytes = v->bytes;
            p->blobs[p->num_blobs].size = v->size;
            p->blobs[p->num_blobs++].blob = v->blob;
        }
    } else if (v->type->kind == API_KIND_OBJECT) {
        p->object = p->object ? p->object : v->u;
    } else if (v->type->kind == API_KIND_VA || v->type->kind == API_KIND_GPU ||
               v->type->kind == API_KIND_CPU) {
        if (!p->base && !v->raw) {
            p->base = v->u;
            p->offset = v->offset;
        }
    } else if (p->num < sizeof(p->numbers) / sizeof(*p->numbers)) {
        p->numbers[p->num++] = v->u;
    }
}

static struct picks picks_of(const struct trc_call *c)
{
    struct picks p = {0};
    const struct walk_visitor v = {.value = pick, .ctx = &p};

    walk_args(c, &v);
    return p;
}

static const uint8_t *blob_of(struct trc *t, const struct picks *p, size_t i, size_t *size)
{
    *size = (size_t)p->blobs[i].size;
    return p->blobs[i].blob ? trc_blob(t, p->blobs[i].blob - 1, size, NULL) : p->blobs[i].bytes;
}

const struct trc_call *inside_maker(struct trc_follow *defined, uint64_t object)
{
    const struct follow_object *o =
        object > 1 && object <= UINT32_MAX ? follow_object(defined, (uint32_t)object) : NULL;

    return o && o->maker && o->maker <= defined->num ? &defined->calls[o->maker - 1].call : NULL;
}

const uint8_t *inside_root_signature(struct trc *t, const struct trc_call *c, size_t *size)
{
    struct picks p;

    if (!c || c->method != D12_ID3D12Device_CreateRootSignature)
        return NULL;
    p = picks_of(c);
    return p.num_blobs ? blob_of(t, &p, 0, size) : NULL;
}

/* ---- what is bound ------------------------------------------------------- */

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static void constants(struct bound *b, struct trc *t, const struct picks *p, bool many)
{
    /* (parameter, value, offset); or (parameter, how many, offset) and the values */
    uint64_t at = p->num > 2 ? p->numbers[2] * 4 : 0;
    size_t size = 4;
    uint32_t one = (uint32_t)p->numbers[1];
    const uint8_t *bytes = many && p->num_blobs ? blob_of(t, p, 0, &size) : (const uint8_t *)&one;

    if (!bytes || at > sizeof(b->values) || size > sizeof(b->values) - at)
        return;
    memcpy(b->values + at, bytes, size);
    if (at + size > b->num_values)
        b->num_values = (size_t)at + size;
}

static void on_root(struct draw *d, const struct trc_call *c, const char *what)
{
    struct picks p = picks_of(c);
    struct bound *b = p.num && p.numbers[0] < ROOT_MAX_PARAMETERS ? &d->bound[p.numbers[0]] : NULL;

    if (!strcmp(what, "Signature")) {
        const struct trc_call *made = inside_maker(d->x->defined, p.object);

        if (made != d->root)
            memset(d->bound, 0, sizeof(d->bound));
        d->root = made;
        return;
    }
    if (!b)
        return;
    b->set = true;
    if (begins(what, "32BitConstant")) {
        constants(b, d->x->t, &p, !strcmp(what, "32BitConstants"));
    } else {
        b->resource = p.base;
        b->offset = p.offset;
    }
}

/* The pipeline that a call names. */
static void on_pipeline(struct draw *d, const struct trc_call *c)
{
    const struct trc_call *made;
    struct id_list l = {0};

    names_mentioned(c, false, &l);
    for (size_t i = 0; i < l.num; i++)
        if ((made = inside_maker(d->x->defined, l.ids[i])) &&
            (strstr(made->m->name, "PipelineState") || !strcmp(made->m->name, "CreateStateObject")))
            d->pipeline = made;
    free(l.ids);
}

static void on_list(struct draw *d, const struct trc_call *c)
{
    const char *name = c->m->name, *root = d->compute ? "SetComputeRoot" : "SetGraphicsRoot";

    if (c->method == D12_ID3D12GraphicsCommandList_SetPipelineState ||
        c->method == D12_ID3D12GraphicsCommandList4_SetPipelineState1) {
        on_pipeline(d, c);
    } else if (c->method == D12_ID3D12GraphicsCommandList_Reset && d->bundle) {
        d->pipeline = NULL;
        on_pipeline(d, c);
    } else if (c->method == D12_ID3D12GraphicsCommandList_Reset ||
               c->method == D12_ID3D12GraphicsCommandList_ClearState) {
        d->root = d->pipeline = NULL;
        memset(d->bound, 0, sizeof(d->bound));
        memset(&d->vertices, 0, sizeof(d->vertices));
        on_pipeline(d, c);
    } else if (begins(name, root)) {
        on_root(d, c, name + strlen(root));
    } else if (begins(name, "IASet")) {
        vertex_bound(&d->vertices, c);
    }
}

/* ---- shaders and constants ----------------------------------------------- */

static int damaged(struct strbuf *out, enum show_form form, const char *why)
{
    struct json_writer w = json_writer_text(out);

    if (form == SHOW_TEXT) {
        strbuf_printf(out, "        %s\n", why);
        return 0;
    }
    json_write_object(&w, NULL);
    json_write_string(&w, "role", "damaged");
    json_write_string(&w, "why", why);
    json_write_end(&w);
    strbuf_puts(out, "\n");
    return 0;
}

static int read_shaders(struct strbuf *out, struct draw *d)
{
    struct picks p = d->pipeline ? picks_of(d->pipeline) : (struct picks){0};

    for (size_t i = 0; i < p.num_blobs; i++) {
        struct shader *s = &d->shaders[d->num_shaders];
        struct error e = {0};
        size_t size;
        const uint8_t *bytes = blob_of(d->x->t, &p, i, &size);
        int err;

        if (!bytes || !dxbc_is(bytes, size))
            continue;
        d->shader_bytes[d->num_shaders] = bytes;
        d->shader_sizes[d->num_shaders++] = size;
        err = shader_read(s, bytes, size, &e);
        if (err == -ENOMEM)
            return err;
        if (err)
            damaged(out, d->x->form, e.text);
        else if ((err = shader_read_names(s, bytes, size)))
            return err;
        shader_show(out, d->x->form, s, size);
        if (d->x->more)
            d->x->more->shader(d->x->more->ctx, s->hash, bytes, size);
    }
    return 0;
}

/* Where a constant buffer's bytes come from. */
struct source {
    const uint8_t *bytes;
    size_t size;
    uint64_t resource, offset; /* 0: root constants, or nothing */
    bool bound;
};

struct first {
    uint64_t element, stride;
};

static void on_first(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct first *x = ctx;

    if (v->type && name && !strcmp(name, "FirstElement"))
        x->element = v->u;
    else if (v->type && name && !strcmp(name, "StructureByteStride"))
        x->stride = v->u;
}

/* Where a view of a structured or raw buffer begins. */
static uint64_t view_offset(const struct trc_call *c)
{
    struct first x = {0};
    const struct walk_visitor v = {.value = on_first, .ctx = &x};

    walk_args(c, &v);
    return x.element * (x.stride ? x.stride : 4);
}

static bool sees(const struct root_parameter *p, const struct shader *s)
{
    return p->stages == 0 || p->stages == s->stage_number;
}

enum { SRV_RANGE, CBV_RANGE = 2 };

/* The descriptor that a table has for register `reg`; false: none of its ranges does. */
static bool in_table(const struct draw *d, const struct root_signature *r, const struct root_parameter *p,
                     const struct bound *b, const struct shader_binding *want, uint32_t kind,
                     struct source *from)
{
    for (size_t i = 0; i < p->ranges; i++) {
        const struct root_range *g = &r->ranges[p->first_range + i];
        const uint64_t *at;
        struct picks v;

        if (g->kind != kind || g->space != want->space || want->reg < g->reg ||
            want->reg - g->reg >= g->count)
            continue;
        at = map_find(&d->x->defined->places,
                      follow_place(b->resource, b->offset + g->first + want->reg - g->reg));
        if (!b->set || !at || *at >= d->x->defined->num)
            return true;
        v = picks_of(&d->x->defined->calls[*at].call);
        from->bound = kind == CBV_RANGE ? v.base != 0 : v.object > 1;
        from->resource = kind == CBV_RANGE ? v.base : v.object;
        from->offset = kind == CBV_RANGE ? v.offset : view_offset(&d->x->defined->calls[*at].call);
        return true;
    }
    return false;
}

/* What a shader has in a register: of a constant buffer, or of a buffer that it reads. */
static struct source bound_to(const struct draw *d, const struct root_signature *r, const struct shader *s,
                              const struct shader_binding *want, uint32_t kind)
{
    struct source from = {0};

    for (uint32_t i = 0; i < r->num; i++) {
        const struct root_parameter *p = &r->parameters[i];
        const struct bound *b = &d->bound[i];

        if (!sees(p, s))
            continue;
        if (p->kind == TABLE && in_table(d, r, p, b, want, kind, &from))
            break;
        if (p->kind == TABLE || p->reg != want->reg || p->space != want->space)
            continue;
        if (p->kind == (kind == CBV_RANGE ? CBV : SRV)) {
            from.bound = b->set && b->resource;
            from.resource = b->resource;
            from.offset = b->offset;
            break;
        }
        if (p->kind == CONSTANTS && kind == CBV_RANGE) {
            from.bound = b->set;
            from.bytes = b->values;
            from.size = b->num_values;
            return from;
        }
    }
    return from;
}

static struct source source_of(const struct draw *d, const struct root_signature *r, const struct shader *s,
                               const struct shader_binding *want)
{
    struct source from = bound_to(d, r, s, want, CBV_RANGE);

    if (from.resource)
        from.bytes = contents_at(d->x->contents, from.resource, from.offset, &from.size);
    return from;
}

static int want_resource(struct draw *d, uint64_t id)
{
    struct id_list *l = &d->resources;

    for (size_t i = 0; i < l->num; i++)
        if (l->ids[i] == id)
            return 0;
    if (id < 2 || id > UINT32_MAX || l->num == MAX_RESOURCES)
        return 0;
    if (array_reserve(l->ids, l->room, l->num + 1))
        return -ENOMEM;
    l->ids[l->num++] = (uint32_t)id;
    return 0;
}

static int show_constants(struct strbuf *out, struct draw *d, const struct root_signature *r)
{
    int err = 0;

    for (size_t k = 0; k < d->num_shaders; k++)
        for (size_t i = 0; i < d->shaders[k].num_buffers && !err; i++) {
            const struct shader_binding *want = shader_buffer_binding(&d->shaders[k], i);
            struct source from;
            char what[120];

            if (!want)
                continue;
            from = source_of(d, r, &d->shaders[k], want);
            if (!from.bound)
                snprintf(what, sizeof(what), "nothing is bound there");
            else if (!from.resource)
                snprintf(what, sizeof(what), "root constants");
            else
                snprintf(what, sizeof(what), "resource %llu at byte %llu%s",
                         (unsigned long long)from.resource, (unsigned long long)from.offset,
                         from.bytes ? "" : ", which the program never wrote through memory");
            shader_values(out, d->x->form, &d->shaders[k], i, from.bytes, from.size, what);
            err = want_resource(d, from.resource);
        }
    return err;
}

/* A constant buffer of which no shader says what it is made of: by registers of four floats. */
static int show_registers(struct strbuf *out, struct draw *d, const struct root_signature *r,
                          const struct root_parameter *p, struct shader_binding want)
{
    struct shader_variable variables[MAX_REGISTERS] = {0};
    struct shader_buffer buffer = {"", 0, 0, 0};
    struct shader s = {.stage = root_signature_stages(p),
                       .stage_number = p->stages,
                       .bindings = &want,
                       .num_bindings = 1,
                       .buffers = &buffer,
                       .num_buffers = 1,
                       .variables = variables};
    struct source from = source_of(d, r, &s, &want);
    char names[MAX_REGISTERS][8], what[120] = "root constants";

    want.name = "";
    for (size_t i = 0; i < MAX_REGISTERS && 16 * i < from.size; i++) {
        snprintf(names[i], sizeof(names[i]), "[%zu]", i);
        variables[i] = (struct shader_variable){
            .name = names[i], .offset = (uint32_t)(16 * i), .layout = 1, .type = 3, .rows = 1, .columns = 4};
        buffer.num = i + 1;
    }
    if (from.resource)
        snprintf(what, sizeof(what), "resource %llu at byte %llu, as floats: no shader says what is there",
                 (unsigned long long)from.resource, (unsigned long long)from.offset);
    if (from.bytes)
        shader_values(out, d->x->form, &s, 0, from.bytes, from.size, what);
    return want_resource(d, from.resource);
}

static bool is_reflected(const struct draw *d, uint32_t reg, uint32_t space)
{
    for (size_t k = 0; k < d->num_shaders; k++)
        for (size_t i = 0; i < d->shaders[k].num_buffers; i++) {
            const struct shader_binding *b = shader_buffer_binding(&d->shaders[k], i);

            if (b && b->space == space && reg >= b->reg && reg - b->reg < b->count)
                return true;
        }
    return false;
}

static int show_unreflected(struct strbuf *out, struct draw *d, const struct root_signature *r)
{
    int err = 0;

    for (uint32_t i = 0; i < r->num && !err; i++) {
        const struct root_parameter *p = &r->parameters[i];

        if (!d->bound[i].set)
            continue;
        if ((p->kind == CBV || p->kind == CONSTANTS) && !is_reflected(d, p->reg, p->space))
            err = show_registers(
                out, d, r, p,
                (struct shader_binding){.name = "", .reg = p->reg, .count = 1, .space = p->space});
        for (size_t k = 0; p->kind == TABLE && k < p->ranges && !err; k++) {
            const struct root_range *g = &r->ranges[p->first_range + k];

            for (uint32_t n = 0; g->kind == 2 && n < g->count && n < MAX_TABLE && !err; n++)
                if (!is_reflected(d, g->reg + n, g->space))
                    err = show_registers(out, d, r, p,
                                         (struct shader_binding){
                                             .name = "", .reg = g->reg + n, .count = 1, .space = g->space});
        }
    }
    return err;
}

/* ---- resources ----------------------------------------------------------- */

static int table_resources(struct draw *d, const struct root_signature *r)
{
    int err = 0;

    for (uint32_t i = 0; i < r->num && !err; i++) {
        uint64_t n = root_signature_table(r, i);

        if (d->bound[i].set && r->parameters[i].kind >= CBV)
            err = want_resource(d, d->bound[i].resource);
        for (uint64_t k = 0; d->bound[i].set && k < n && k < MAX_RESOURCES && !err; k++) {
            const uint64_t *at =
                map_find(&d->x->defined->places, follow_place(d->bound[i].resource, d->bound[i].offset + k));
            struct picks v;

            if (!at || *at >= d->x->defined->num)
                continue;
            v = picks_of(&d->x->defined->calls[*at].call);
            err = want_resource(d, v.object ? v.object : v.base);
        }
    }
    return err;
}

static void pick_target(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct draw *d = ctx;
    const uint64_t *at;

    if (!v->type || v->type->kind != API_KIND_CPU || v->raw)
        return;
    at = map_find(&d->x->defined->places, follow_place(v->u, v->offset));
    if (at && *at < d->x->defined->num && want_resource(d, picks_of(&d->x->defined->calls[*at].call).object))
        d->failed = true;
}

static int target_resources(struct draw *d, const struct trc_call *c)
{
    const struct walk_visitor v = {.value = pick_target, .ctx = d};

    walk_args(c, &v);
    return d->failed ? -ENOMEM : 0;
}

static void show_resource(struct strbuf *out, const struct inside *x, uint32_t id)
{
    const struct trc_call *made = inside_maker(x->defined, id);
    const struct name *n = names_get(x->names, id);
    struct json_writer w = json_writer_text(out);
    uint64_t writer = 0;
    bool written = contents_writer(x->contents, id, &writer);
    bool parts = written && !map_find(&x->contents->buffers, id) &&
                 !contents_part_written(x->contents, id, CONTENTS_WHOLE);

    if (x->form == SHOW_TEXT) {
        strbuf_printf(out, "    resource %u%s%s: ", id, n && n->text ? " " : "", n && n->text ? n->text : "");
        if (written)
            strbuf_printf(out, "written last by call %llu; ", (unsigned long long)writer);
        if (parts)
            strbuf_puts(out, "of it subresources");
        for (uint32_t sub = 0; parts && sub < MAX_PARTS; sub++)
            if (contents_part_written(x->contents, id, sub))
                strbuf_printf(out, " %u", sub);
        if (parts)
            strbuf_puts(out, "; ");
        if (!written)
            strbuf_puts(out, "written by no call that is known; ");
        if (made)
            show_call(out, x->form, x->t, made, x->names);
        strbuf_puts(out, "\n");
        return;
    }
    json_write_object(&w, NULL);
    json_write_string(&w, "role", "resource");
    json_write_unsigned(&w, "object", id);
    json_write_string(&w, "name", n ? n->text : NULL);
    if (written)
        json_write_unsigned(&w, "written_by", writer);
    else
        json_write_null(&w, "written_by");
    if (parts) {
        json_write_array(&w, "written");
        for (uint32_t sub = 0; sub < MAX_PARTS; sub++)
            if (contents_part_written(x->contents, id, sub))
                json_write_unsigned(&w, NULL, sub);
        json_write_end(&w);
    }
    if (made) {
        json_write_object(&w, "call");
        show_json(&w, x->t, made, x->names);
        json_write_end(&w);
    } else {
        json_write_null(&w, "call");
    }
    json_write_end(&w);
    strbuf_puts(out, "\n");
}

/* ---- what comes out of the shaders --------------------------------------- */

struct reading { /* of a shader that is run: what it reads */
    const struct draw *d;
    const struct root_signature *r;
    const struct shader *s;
    struct { /* what was looked up last, by register */
        bool looked;
        struct shader_place at;
        struct source from;
    } constants[16];
};

static const struct source *constants_at(struct reading *x, struct shader_place b)
{
    const struct shader_binding want = {.name = "", .reg = b.reg, .count = 1, .space = b.space};
    const size_t i = b.reg % 16;

    if (!x->constants[i].looked || x->constants[i].at.reg != b.reg || x->constants[i].at.space != b.space) {
        x->constants[i].from = source_of(x->d, x->r, x->s, &want);
        x->constants[i].at = b;
        x->constants[i].looked = true;
    }
    return &x->constants[i].from;
}

static void read_constants(void *ctx, struct shader_place b, uint32_t row, struct shader_value *four)
{
    const struct source *from = constants_at(ctx, b);

    for (unsigned k = 0; k < 4; k++) {
        uint64_t at = 16 * (uint64_t)row + 4 * k;

        if (from->bytes && at + 4 <= from->size) {
            memcpy(&four[k].bits, from->bytes + at, 4);
            four[k].known = true;
        }
    }
}

static void read_buffer(void *ctx, struct shader_place t, uint32_t stride, uint64_t element, uint64_t at,
                        struct shader_value *one)
{
    struct reading *x = ctx;
    const struct shader_binding want = {.name = "", .reg = t.reg, .count = 1, .space = t.space};
    const struct source from = bound_to(x->d, x->r, x->s, &want, SRV_RANGE);
    const uint8_t *p;
    size_t n;

    p = contents_at(x->d->x->contents, from.resource, from.offset + element * stride + at, &n);
    if (p && n >= 4) {
        memcpy(&one->bits, p, 4);
        one->known = true;
    }
}

static struct shader_code *code_of(const struct draw *d, size_t i)
{
    struct error e = {0};
    struct dxbc c;
    bool sum;

    return dxbc_open_unchecked(&c, d->shader_bytes[i], d->shader_sizes[i], &sum, &e) ? NULL : shader_code(&c);
}

/* So that nobody takes what is missing for nothing. */
static void not_run(struct strbuf *out, enum show_form form, const struct shader *s)
{
    struct json_writer w = json_writer_text(out);
    const char *why = s->major > 5 ? "of models 4 to 5.1 alone is known what comes out"
                                   : "it has an instruction that is not known, or too many";

    if (form == SHOW_TEXT) {
        strbuf_printf(out, "    the %s shader is not run: %s\n", s->stage, why);
        return;
    }
    json_write_object(&w, NULL);
    json_write_string(&w, "role", "not_run");
    json_write_string(&w, "stage", s->stage);
    json_write_string(&w, "why", why);
    json_write_end(&w);
    strbuf_puts(out, "\n");
}

enum { VERTEX_STAGE = 1, PIXEL_STAGE = 5 }; /* D3D12_SHADER_VISIBILITY */

static void show_processed(struct strbuf *out, struct draw *d, const struct root_signature *r,
                           const struct indirect *first)
{
    uint64_t steps = 0;
    struct reading of_vertex = {.d = d, .r = r}, of_pixel = {.d = d, .r = r};
    struct shader_code *codes[2] = {NULL, NULL};
    struct processed p = {.form = d->x->form,
                          .page = d->x->more,
                          .steps = d->x->more ? d->x->more->steps : &steps,
                          .constants = read_constants,
                          .buffer = read_buffer,
                          .vertex_ctx = &of_vertex,
                          .pixel_ctx = &of_pixel};

    for (size_t i = 0; i < d->num_shaders; i++) {
        const struct shader *s = &d->shaders[i];

        if (s->stage_number == VERTEX_STAGE) {
            p.vertex = of_vertex.s = s;
            p.vertex_code = codes[0] = codes[0] ? codes[0] : code_of(d, i);
        } else if (s->stage_number == PIXEL_STAGE) {
            p.pixel = of_pixel.s = s;
            p.pixel_code = codes[1] = codes[1] ? codes[1] : code_of(d, i);
        } else {
            p.between = true;
        }
    }
    if (p.vertex && !codes[0])
        not_run(out, d->x->form, p.vertex);
    if (p.pixel && !codes[1])
        not_run(out, d->x->form, p.pixel);
    if (p.vertex) {
        p.vertices = vertex_reader(&d->vertices, d->pipeline, d->x->contents, first->method, first->args,
                                   first->args_size);
        processed_show(out, &p);
        vertex_reader_free(p.vertices);
    }
    shader_code_free(codes[0]);
    shader_code_free(codes[1]);
}

/* ---- all of it ----------------------------------------------------------- */

static int show_bound(struct strbuf *out, struct draw *d, const struct indirect *first)
{
    struct root_signature r = {0};
    struct error e = {0};
    size_t size;
    const uint8_t *bytes = inside_root_signature(d->x->t, d->root, &size);
    int err = bytes ? root_signature_read(&r, bytes, size, &e) : 0;

    if (err == -EBADMSG) /* it is told where the signature is shown */
        err = 0;
    err = err ? err : show_constants(out, d, &r);
    err = err ? err : show_unreflected(out, d, &r);
    err = err ? err : table_resources(d, &r);
    if (!err && !d->compute)
        vertex_show(out, d->x->form, &d->vertices, d->pipeline, d->x->contents, first->method, first->args,
                    first->args_size);
    if (!err && !d->compute)
        show_processed(out, d, &r, first);
    root_signature_finish(&r);
    if (!err && !d->compute && d->targets)
        err = target_resources(d, d->targets);
    return err;
}

/* Whether what it is done by is known, and says that it is done. */
static void show_predicate(struct strbuf *out, const struct draw *d)
{
    struct json_writer w = json_writer_text(out);
    struct picks p = picks_of(d->predicate); /* buffer; where, how */
    const uint8_t *bytes;
    uint64_t value = 0;
    size_t n;

    if (p.object < 2)
        return;
    bytes = contents_at(d->x->contents, p.object, p.numbers[0], &n);
    if (bytes && n >= 8)
        memcpy(&value, bytes, 8);
    if (d->x->form == SHOW_TEXT) {
        if (bytes && n >= 8)
            strbuf_printf(out, "    predicate: %llu\n", (unsigned long long)value);
        return;
    }
    json_write_object(&w, NULL);
    json_write_string(&w, "role", "predicate");
    if (bytes && n >= 8)
        json_write_bool(&w, "skips", (value == 0) == (p.numbers[1] == D3D12_PREDICATION_OP_EQUAL_ZERO));
    else
        json_write_null(&w, "skips");
    json_write_end(&w);
    strbuf_puts(out, "\n");
}

/* The first `n` calls on a list, in order. */
static void on_calls(struct draw *d, uint32_t list, size_t n)
{
    const struct follow_object *l = follow_object(d->x->defined, list);
    const struct trc_call *made = inside_maker(d->x->defined, list);

    d->pipeline = NULL; /* a bundle has none of its caller's */
    if (made && made->method == D12_ID3D12Device_CreateCommandList)
        on_pipeline(d, made);
    for (size_t i = 0; l && i < l->num_list && i < n; i++) {
        const struct trc_call *c = &d->x->defined->calls[l->list[i]].call;

        on_list(d, c);
        if (c->method == D12_ID3D12GraphicsCommandList_OMSetRenderTargets)
            d->targets = c;
        else if (c->method == D12_ID3D12GraphicsCommandList_SetPredication)
            d->predicate = c;
        else if (c->method == D12_ID3D12GraphicsCommandList_ClearState)
            d->targets = d->predicate = NULL;
    }
}

int inside_show(struct strbuf *out, const struct inside *x)
{
    const char *name = d12_methods[x->method].name;
    struct indirect first = {.method = x->method, .args = x->args, .args_size = x->args_size};
    struct draw *d;
    int err = 0;

    if (!follow_object(x->defined, x->list) ||
        (!begins(name, "Dispatch") && !begins(name, "Draw") && !begins(name, "ExecuteIndirect")))
        return 0;
    d = calloc(1, sizeof(*d));
    if (!d)
        return -ENOMEM;
    d->x = x;
    if (x->form == SHOW_TEXT)
        strbuf_puts(out, "and works on:\n");
    if (begins(name, "ExecuteIndirect"))
        indirect_show(out, x, &first);
    d->compute = first.compute || begins(name, "Dispatch");
    if (x->caller)
        on_calls(d, x->caller, x->num_caller);
    d->bundle = x->caller;
    on_calls(d, x->list, x->num_list);
    if (d->predicate)
        show_predicate(out, d);
    err = read_shaders(out, d);
    if (!err)
        err = show_bound(out, d, &first);
    if (!err && !d->compute && x->more)
        vertex_mesh(out, &d->vertices, d->pipeline, x->contents, first.method, first.args, first.args_size);
    for (size_t i = 0; i < d->vertices.num_views && !err; i++)
        err = want_resource(d, d->vertices.views[i].resource);
    if (!err && !d->compute)
        err = want_resource(d, d->vertices.index.resource);
    for (size_t i = 0; i < d->resources.num && !err; i++)
        show_resource(out, x, d->resources.ids[i]);
    for (size_t i = 0; i < d->num_shaders; i++)
        shader_finish(&d->shaders[i]);
    free(d->resources.ids);
    free(d);
    return err;
}
