/* SPDX-License-Identifier: MIT */
/* shader.c: the chunk RDEF is read as anybody's bytes: each offset counts from the chunk's first byte, and is checked where it is
 * used. Layout: what d3dcompiler and vkd3d's own compiler write. */
#include "d3d12/view/shader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/dxbc/sm4_tokens.h"
#include "base/json_write.h"
#include "d3d12/view/dxil.h"
#include "d3d12/view/format.h"

#define MAX_VARIABLES 4096 /* of a shader; a constant buffer has as many registers */
#define MAX_BINDINGS  1024
#define MAX_NESTING   8
#define MAX_ROWS      64 /* elements of an array that are shown */
#define UNDEFINED     UINT32_MAX

enum { STRUCT = 5 }; /* D3D_SHADER_VARIABLE_CLASS, as enum shader_layout */

/* By the kind of program in the token stream; those of model 6 have more. */
static const struct {
    const char *name, *letters;
    unsigned visibility;
} stages[] = {{"pixel", "ps", 5},         {"vertex", "vs", 1},
              {"geometry", "gs", 4},      {"hull", "hs", 2},
              {"domain", "ds", 3},        {"compute", "cs", 0},
              {"library of", "lib", 0},   {"ray generation", "lib", 0},
              {"intersection", "lib", 0}, {"any hit", "lib", 0},
              {"closest hit", "lib", 0},  {"miss", "lib", 0},
              {"callable", "lib", 0},     {"mesh", "ms", 7},
              {"amplification", "as", 6}};

struct reading {
    struct shader *s;
    struct bytes chunk;
    bool five; /* model 5: longer rows */
    struct error *e;
};

static struct bytes at(const struct reading *x, uint32_t offset)
{
    struct bytes b = x->chunk;

    bytes_seek(&b, offset);
    return b;
}

static const char *text(const struct reading *x, uint32_t offset)
{
    const char *p = (const char *)x->chunk.data + offset;

    if (offset >= x->chunk.size || !memchr(p, 0, x->chunk.size - offset)) {
        error_set(x->e, -EBADMSG, "RDEF: a name at byte %u is not inside its %zu bytes", offset,
                  x->chunk.size);
        return NULL;
    }
    return p;
}

static int short_of(const struct reading *x, const char *what)
{
    return error_set(x->e, -EBADMSG, "RDEF: its %s run past the end of its %zu bytes", what, x->chunk.size);
}

/* ---- variables ----------------------------------------------------------- */

int shader_add_variable(struct shader *s, const char *name, const struct shader_variable *v)
{
    char *own;

    if (s->num_variables == MAX_VARIABLES)
        return -E2BIG;
    own = array_reserve(s->variables, s->room_variables, s->num_variables + 1) ? NULL : strdup(name);
    if (!own)
        return -ENOMEM;
    s->variables[s->num_variables] = *v;
    s->variables[s->num_variables++].name = own;
    return 0;
}

static int add_variable(struct reading *x, const char *name, uint32_t offset, const uint16_t *type)
{
    const struct shader_variable v = {.offset = offset,
                                      .layout = type[0],
                                      .type = type[1],
                                      .rows = type[2],
                                      .columns = type[3],
                                      .elements = type[4]};
    int err;

    if (type[2] > 4 || type[3] > 4)
        return error_set(x->e, -EBADMSG, "RDEF: %.100s has %u rows and %u columns, there are 4 at most", name,
                         type[2], type[3]);
    err = shader_add_variable(x->s, name, &v);
    return err == -E2BIG ? error_set(x->e, -EBADMSG, "RDEF: it has more than %d variables", MAX_VARIABLES)
           : err         ? error_set(x->e, err, "no memory for a shader's variables")
                         : 0;
}

/* A variable or member, and of a struct its members; `size`: bytes of all elements, 0: unknown. */
static int read_type(struct reading *x, const char *name, uint32_t offset, uint32_t type_at, uint32_t size,
                     int depth)
{
    struct bytes b = at(x, type_at);
    uint16_t t[6];
    uint32_t members, count, stride;
    char full[256];

    for (int i = 0; i < 6; i++)
        t[i] = bytes_u16(&b);
    members = bytes_u32(&b);
    if (b.bad)
        return short_of(x, "types");
    if (t[0] != STRUCT)
        return add_variable(x, name, offset, t);
    if (depth == MAX_NESTING)
        return error_set(x->e, -EBADMSG, "RDEF: structs in one another deeper than %d", MAX_NESTING);
    count = t[4] ? t[4] : 1;
    stride = count > 1 && size ? (size / count + 15) & ~15u : 0;
    for (uint32_t k = 0; k < count && k < MAX_ROWS && (!k || stride) && !x->e->code; k++) {
        struct bytes m = at(x, members);

        for (uint16_t i = 0; i < t[5] && !x->e->code; i++) {
            const char *own = text(x, bytes_u32(&m));
            uint32_t member_type = bytes_u32(&m), member_at = bytes_u32(&m);

            if (m.bad)
                return short_of(x, "members");
            if (!own)
                break;
            if (t[4])
                snprintf(full, sizeof(full), "%s[%u].%s", name, k, own);
            else
                snprintf(full, sizeof(full), "%s.%s", name, own);
            read_type(x, full, offset + k * stride + member_at, member_type, 0, depth + 1);
        }
    }
    return x->e->code;
}

static int read_buffer(struct reading *x, struct bytes *in)
{
    struct shader *s = x->s;
    struct shader_buffer *b;
    const char *name = text(x, bytes_u32(in));
    uint32_t count = bytes_u32(in);
    struct bytes v = at(x, bytes_u32(in));
    uint32_t size = bytes_u32(in);

    bytes_take(in, 8); /* flags, type */
    if (in->bad)
        return short_of(x, "constant buffers");
    if (!name)
        return x->e->code;
    if (array_reserve(s->buffers, s->room_buffers, s->num_buffers + 1))
        return error_set(x->e, -ENOMEM, "no memory for a shader's buffers");
    b = &s->buffers[s->num_buffers++];
    *b = (struct shader_buffer){.name = name, .size = size, .first = s->num_variables};
    for (uint32_t i = 0; i < count && !x->e->code; i++) {
        const char *own = text(x, bytes_u32(&v));
        uint32_t offset = bytes_u32(&v), bytes = bytes_u32(&v), flags = bytes_u32(&v), type = bytes_u32(&v);

        bytes_take(&v, x->five ? 20 : 4); /* its default, and where textures and samplers begin */
        if (v.bad)
            return short_of(x, "variables");
        (void)flags;
        if (own)
            read_type(x, own, offset, type, bytes, 0);
    }
    b->num = s->num_variables - b->first;
    return x->e->code;
}

static int read_bindings(struct reading *x, struct bytes in, uint32_t n)
{
    struct shader *s = x->s;
    bool spaces = s->major == 5 && s->minor > 0;

    if (n > MAX_BINDINGS)
        return error_set(x->e, -EBADMSG, "RDEF: %u bindings are more than %d", n, MAX_BINDINGS);
    if (n && array_reserve(s->bindings, s->room_bindings, n))
        return error_set(x->e, -ENOMEM, "no memory for a shader's bindings");
    for (uint32_t i = 0; i < n && !x->e->code; i++) {
        struct shader_binding *b = &s->bindings[i];

        *b = (struct shader_binding){.name = text(x, bytes_u32(&in)), .kind = bytes_u32(&in)};
        bytes_take(&in, 4); /* what it returns */
        b->dimension = bytes_u32(&in);
        bytes_take(&in, 4); /* samples */
        b->reg = bytes_u32(&in);
        b->count = bytes_u32(&in);
        bytes_u32(&in); /* flags */
        b->space = spaces ? bytes_u32(&in) : 0;
        if (spaces)
            bytes_u32(&in);
        if (in.bad)
            return short_of(x, "bindings");
        if (b->name)
            s->num_bindings++;
    }
    return x->e->code;
}

static int read_reflection(struct shader *s, const struct dxbc_chunk *c, struct error *e)
{
    struct reading x = {.s = s, .chunk = bytes_of(c->data, c->size), .e = e};
    struct bytes in = x.chunk, buffers;
    uint32_t num_buffers = bytes_u32(&in), buffers_at = bytes_u32(&in), n = bytes_u32(&in),
             bindings_at = bytes_u32(&in);
    uint32_t target = bytes_u32(&in);

    if (in.bad)
        return short_of(&x, "header");
    x.five = (target >> 8 & 0xff) >= 5;
    buffers = at(&x, buffers_at);
    read_bindings(&x, at(&x, bindings_at), n);
    for (uint32_t i = 0; i < num_buffers && !e->code; i++)
        read_buffer(&x, &buffers);
    return e->code;
}

static const struct dxbc_chunk *first_of(const struct dxbc *d, const char *const *names, size_t n)
{
    const struct dxbc_chunk *c = NULL;

    for (size_t i = 0; i < n && !c; i++)
        c = dxbc_find(d, DXBC_FOURCC(names[i][0], names[i][1], names[i][2], names[i][3]));
    return c;
}

const char *shader_keep(struct shader *s, const char *name)
{
    char *own = array_reserve(s->kept, s->room_kept, s->num_kept + 1) ? NULL : strdup(name);

    if (own)
        s->kept[s->num_kept++] = own;
    return own;
}

/* Names are in the bitcode alone. */
static int read_dxil(struct shader *s, const struct dxbc *d)
{
    struct dxil_binding b;

    if (!dxil_groups(d, s->groups))
        memset(s->groups, 0, sizeof(s->groups));
    for (uint32_t i = 0; i < MAX_BINDINGS && dxil_binding(d, i, &b); i++) {
        if (array_reserve(s->bindings, s->room_bindings, s->num_bindings + 1))
            return -ENOMEM;
        s->bindings[s->num_bindings++] = (struct shader_binding){.name = "",
                                                                 .kind = b.kind,
                                                                 .dimension = b.dimension,
                                                                 .reg = b.reg,
                                                                 .count = b.count,
                                                                 .space = b.space};
    }
    return 0;
}

static void read_groups(struct shader *s, const struct dxbc_chunk *program)
{
    struct sm4_instruction i;
    struct error e = {0};
    struct sm4 p;

    if (s->stage_number || sm4_open(&p, program->data, program->size, &e))
        return;
    while (sm4_next(&p, &i, &e) > 0)
        if (i.opcode == SM4_OP_DCL_THREAD_GROUP)
            for (uint32_t k = 0; k < 3; k++)
                s->groups[k] = sm4_word(&p, i.extra_at + k);
}

int shader_read(struct shader *s, const void *bytes, size_t size, struct error *e)
{
    static const char *const ins[] = {"ISGN", "ISG1"}, *const outs[] = {"OSGN", "OSG5", "OSG1"},
                             *const patches[] = {"PCSG", "PSG1"};
    const struct dxbc_chunk *program, *c;
    struct error own = {0};
    struct dxbc d;
    bool sum;

    *s = (struct shader){.stage = "", .hash = XXH3_64bits(bytes, size)};
    if (dxbc_open_unchecked(&d, bytes, size, &sum, &own))
        return error_set(e, -EBADMSG, "%s", own.text);
    program = dxbc_program(&d);
    if (!program)
        program = dxil_program(&d);
    if (program && program->size >= 4) {
        uint32_t kind = program->data[2] | program->data[3] << 8;

        s->major = program->data[0] >> 4;
        s->minor = program->data[0] & 15;
        if (kind < sizeof(stages) / sizeof(*stages)) {
            s->stage = stages[kind].name;
            s->stage_number = stages[kind].visibility;
        }
    }
    if ((c = first_of(&d, ins, 2)) && dxbc_signature(c, &s->in, &own))
        return error_set(e, -EBADMSG, "%s", own.text);
    if ((c = first_of(&d, outs, 3)) && dxbc_signature(c, &s->out, &own))
        return error_set(e, -EBADMSG, "%s", own.text);
    if ((c = first_of(&d, patches, 2)) && dxbc_signature(c, &s->patch, &own))
        return error_set(e, -EBADMSG, "%s", own.text);
    if (program && program == dxil_program(&d) && read_dxil(s, &d))
        return error_set(e, -ENOMEM, "no memory for a shader's bindings");
    if (program && program == dxbc_program(&d))
        read_groups(s, program);
    if ((c = dxbc_find(&d, DXBC_FOURCC('R', 'D', 'E', 'F'))) && read_reflection(s, c, &own))
        return error_set(e, own.code, "%s", own.text);
    return 0;
}

int shader_read_names(struct shader *s, const void *bytes, size_t size)
{
    struct dxbc d;
    bool sum;

    return !dxbc_open_unchecked(&d, bytes, size, &sum, NULL) && dxil_program(&d) ? dxil_names(s, &d) : 0;
}

void shader_finish(struct shader *s)
{
    for (size_t i = 0; i < s->num_kept; i++)
        free(s->kept[i]);
    free(s->kept);
    for (size_t i = 0; i < s->num_variables; i++)
        free(s->variables[i].name);
    free(s->variables);
    free(s->buffers);
    free(s->bindings);
    *s = (struct shader){.stage = ""};
}

#define HEAP_INDEXED 0x2000000u /* in chunk SFI0: whatever the heap has */

bool shader_may_write(const void *bytes, size_t size)
{
    struct error e = {0};
    struct sm4_instruction i;
    struct dxil_binding b;
    struct dxbc d;
    struct sm4 p;
    const struct dxbc_chunk *c;
    bool sum;
    int got;

    if (dxbc_open_unchecked(&d, bytes, size, &sum, &e))
        return true;
    if ((c = dxbc_program(&d))) {
        if (sm4_open(&p, c->data, c->size, &e))
            return true;
        while ((got = sm4_next(&p, &i, &e)) > 0)
            if (i.opcode >= SM4_OP_DCL_UAV_TYPED && i.opcode <= SM4_OP_DCL_UAV_STRUCTURED)
                return true;
        return got < 0;
    }
    c = dxbc_find(&d, DXBC_FOURCC('S', 'F', 'I', '0'));
    if (!dxil_program(&d) || !dxbc_find(&d, DXBC_FOURCC('P', 'S', 'V', '0')) || !c || c->size < 8 ||
        ((uint32_t)c->data[3] << 24) & HEAP_INDEXED)
        return true;
    for (uint32_t k = 0; dxil_binding(&d, k, &b); k++)
        if (b.kind == 4 || b.kind == 6 || (b.kind >= 8 && b.kind != SHADER_ACCELERATION))
            return true;
    return false;
}

/* ---- showing ------------------------------------------------------------- */

static const char *const kinds[] = {
    "constant buffer",       "tbuffer",    "texture", "sampler",    "typed UAV",   "structured buffer",
    "structured UAV",        "raw buffer", "raw UAV", "append UAV", "consume UAV", "counted UAV",
    "acceleration structure"};
static const char letters[] = "bttsututuuuut";

static const char *kind_name(uint32_t kind)
{
    return kind < sizeof(kinds) / sizeof(*kinds) ? kinds[kind] : "unknown";
}

static void show_signature(struct strbuf *out, const char *what, const struct dxbc_signature *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const struct dxbc_element *x = &g->elements[i];
        char mask[5] = "";

        for (int k = 0, n = 0; k < 4; k++)
            if (x->mask >> k & 1)
                mask[n++] = "xyzw"[k];
        strbuf_printf(out, "%s %s%u.%s", i ? "," : what, x->name, x->index, mask);
    }
}

static void signature_json(struct json_writer *w, const char *key, const struct dxbc_signature *g)
{
    json_write_array(w, key);
    for (uint32_t i = 0; i < g->count; i++) {
        json_write_object(w, NULL);
        json_write_string(w, "semantic", g->elements[i].name);
        json_write_unsigned(w, "index", g->elements[i].index);
        json_write_unsigned(w, "register", g->elements[i].reg);
        json_write_unsigned(w, "mask", g->elements[i].mask);
        json_write_unsigned(w, "used", g->elements[i].used_mask);
        json_write_end(w);
    }
    json_write_end(w);
}

static void show_json_lines(struct strbuf *out, const struct shader *s, size_t size)
{
    struct json_writer w = json_writer_text(out);

    json_write_object(&w, NULL);
    json_write_string(&w, "role", "shader");
    json_write_string(&w, "stage", s->stage);
    json_write_format(&w, "model", "%u.%u", s->major, s->minor);
    json_write_unsigned(&w, "bytes", size);
    json_write_format(&w, "hash", "%016llx", (unsigned long long)s->hash);
    signature_json(&w, "in", &s->in);
    signature_json(&w, "out", &s->out);
    if (s->patch.count)
        signature_json(&w, "patch", &s->patch);
    if (s->groups[0]) {
        json_write_array(&w, "groups");
        for (int k = 0; k < 3; k++)
            json_write_unsigned(&w, NULL, s->groups[k]);
        json_write_end(&w);
    }
    if (*s->unnamed)
        json_write_string(&w, "unnamed", s->unnamed);
    json_write_end(&w);
    strbuf_puts(out, "\n");
    for (size_t i = 0; i < s->num_bindings; i++) {
        const struct shader_binding *b = &s->bindings[i];

        w = json_writer_text(out);
        json_write_object(&w, NULL);
        json_write_string(&w, "role", "binding");
        json_write_string(&w, "stage", s->stage);
        json_write_string(&w, "name", b->name);
        json_write_string(&w, "kind", kind_name(b->kind));
        json_write_unsigned(&w, "register", b->reg);
        json_write_unsigned(&w, "space", b->space);
        json_write_unsigned(&w, "count", b->count);
        json_write_unsigned(&w, "dimension", b->dimension);
        json_write_end(&w);
        strbuf_puts(out, "\n");
    }
}

void shader_show(struct strbuf *out, enum show_form form, const struct shader *s, size_t size)
{
    if (form == SHOW_JSON) {
        show_json_lines(out, s, size);
        return;
    }
    strbuf_printf(out, "        %s shader%s, model %u.%u, %zu bytes:", *s->stage ? s->stage : "unknown",
                  strcmp(s->stage, "library of") ? "" : "s", s->major, s->minor, size);
    show_signature(out, " in", &s->in);
    show_signature(out, s->in.count ? "; out" : " out", &s->out);
    show_signature(out, "; of the patch", &s->patch);
    if (s->groups[0])
        strbuf_printf(out, " groups of %u x %u x %u threads", s->groups[0], s->groups[1], s->groups[2]);
    strbuf_puts(out, "\n");
    if (*s->unnamed)
        strbuf_printf(out, "          no names: %s\n", s->unnamed);
    for (size_t i = 0; i < s->num_bindings; i++) {
        const struct shader_binding *b = &s->bindings[i];

        strbuf_printf(out, "          %s%s%s: %c%u, space %u", kind_name(b->kind), *b->name ? " " : "",
                      b->name, b->kind < sizeof(letters) - 1 ? letters[b->kind] : '?', b->reg, b->space);
        if (b->count != 1)
            strbuf_printf(out, ", %u of them", b->count);
        strbuf_puts(out, "\n");
    }
}

const struct shader_binding *shader_buffer_binding(const struct shader *s, size_t i)
{
    for (size_t k = 0; k < s->num_bindings; k++)
        if (s->bindings[k].kind == 0 && !strcmp(s->bindings[k].name, s->buffers[i].name))
            return &s->bindings[k];
    return NULL;
}

/* ---- values -------------------------------------------------------------- */

static double half(uint16_t h)
{
    const int e = h >> 10 & 31;
    const double m = (double)(h & 1023) / 1024, v = e == 31 ? (h & 1023 ? NAN : INFINITY)
                                                    : e     ? ldexp(1 + m, e - 15)
                                                            : ldexp(m, -14);

    return h >> 15 ? -v : v;
}

static double value_of(uint16_t type, const uint8_t *p)
{
    uint16_t h;
    uint32_t u = 0;
    uint64_t l;
    float f;
    double d;

    memcpy(&h, p, 2);
    if (type == SHADER_HALF)
        return half(h);
    if (type == SHADER_INT16 || type == SHADER_UINT16)
        return type == SHADER_INT16 ? (double)(int16_t)h : (double)h;
    memcpy(&u, p, 4);
    memcpy(&f, p, 4);
    if (type == SHADER_FLOAT)
        return (double)f;
    if (type != SHADER_DOUBLE && type != SHADER_INT64 && type != SHADER_UINT64)
        return type == SHADER_INT ? (double)(int32_t)u : (double)u;
    memcpy(&l, p, 8);
    memcpy(&d, p, 8);
    return type == SHADER_DOUBLE ? d : type == SHADER_INT64 ? (double)(int64_t)l : (double)l;
}

static uint32_t width_of(uint16_t type)
{
    return type == SHADER_DOUBLE || type == SHADER_INT64 || type == SHADER_UINT64 ? 8
           : type == SHADER_HALF || type == SHADER_INT16 || type == SHADER_UINT16 ? 2
                                                                                  : 4;
}

struct shape { /* how a variable lies in registers of 16 bytes */
    uint32_t registers, components, width, elements;
};

static struct shape shape_of(const struct shader_variable *v)
{
    bool columns = v->layout == SHADER_MATRIX_COLUMNS;
    struct shape s = {.registers = v->layout == SHADER_MATRIX_ROWS ? v->rows
                                   : columns                       ? v->columns
                                                                   : 1,
                      .components = columns ? v->rows : v->columns,
                      .width = width_of(v->type),
                      .elements = v->elements ? v->elements : 1};

    if (s.elements > MAX_ROWS)
        s.elements = MAX_ROWS;
    return s;
}

/* Where component `c` of register `r` of element `k` lies, or NULL: it is not known. */
static const uint8_t *component(const struct shader_variable *v, const struct shape *s, uint32_t k,
                                uint32_t r, uint32_t c, const uint8_t *bytes, size_t n)
{
    uint64_t at = v->offset + 16 * ((uint64_t)k * s->registers + r) + (uint64_t)c * s->width;

    return bytes && at + s->width <= n ? bytes + at : NULL;
}

static void put_value(struct strbuf *out, uint16_t type, const uint8_t *p)
{
    if (!p)
        strbuf_puts(out, "?");
    else if (type == SHADER_FLOAT || type == SHADER_HALF)
        strbuf_float(out, (float)value_of(type, p));
    else if (type == SHADER_BOOL)
        strbuf_puts(out, value_of(type, p) != 0 ? "true" : "false");
    else
        strbuf_printf(out, "%.17g", value_of(type, p));
}

static void show_variable(struct strbuf *out, const struct shader_variable *v, const uint8_t *bytes, size_t n)
{
    struct shape s = shape_of(v);

    strbuf_printf(out, "      %s =", v->name);
    for (uint32_t k = 0; k < s.elements; k++) {
        if (v->elements)
            strbuf_printf(out, "%s [%u]", k ? "," : "", k);
        for (uint32_t r = 0; r < s.registers; r++) {
            strbuf_puts(out, s.registers > 1 ? " (" : " ");
            for (uint32_t c = 0; c < s.components; c++) {
                strbuf_puts(out, c ? ", " : "");
                put_value(out, v->type, component(v, &s, k, r, c, bytes, n));
            }
            strbuf_puts(out, s.registers > 1 ? ")" : "");
        }
    }
    strbuf_puts(out, v->layout == SHADER_MATRIX_COLUMNS ? " by column\n" : "\n");
}

static void variable_json(struct json_writer *w, const struct shader_variable *v, const uint8_t *bytes,
                          size_t n)
{
    struct shape s = shape_of(v);

    json_write_object(w, NULL);
    json_write_string(w, "name", v->name);
    json_write_unsigned(w, "offset", v->offset);
    json_write_bool(w, "by_column", v->layout == SHADER_MATRIX_COLUMNS);
    json_write_unsigned(w, "components", s.components);
    json_write_array(w, "values");
    for (uint32_t i = 0; i < s.elements * s.registers * s.components; i++) {
        const uint8_t *p = component(v, &s, i / s.components / s.registers, i / s.components % s.registers,
                                     i % s.components, bytes, n);

        if (p)
            format_json(w, value_of(v->type, p));
        else
            json_write_null(w, NULL);
    }
    json_write_end(w);
    json_write_end(w);
}

void shader_values(struct strbuf *out, enum show_form form, const struct shader *s, size_t i,
                   const uint8_t *bytes, size_t n, const char *what)
{
    const struct shader_binding *b = shader_buffer_binding(s, i);
    const struct shader_buffer *f = &s->buffers[i];
    struct json_writer w = json_writer_text(out);

    if (form == SHOW_TEXT) {
        strbuf_printf(out, "    %s shader's %s, b%u, space %u: %s\n", s->stage, f->name, b ? b->reg : 0,
                      b ? b->space : 0, what);
        for (size_t k = 0; k < f->num; k++)
            show_variable(out, &s->variables[f->first + k], bytes, n);
        return;
    }
    json_write_object(&w, NULL);
    json_write_string(&w, "role", "constants");
    json_write_string(&w, "stage", s->stage);
    json_write_string(&w, "buffer", f->name);
    json_write_unsigned(&w, "register", b ? b->reg : 0);
    json_write_unsigned(&w, "space", b ? b->space : 0);
    json_write_string(&w, "from", what);
    json_write_array(&w, "variables");
    for (size_t k = 0; k < f->num; k++)
        variable_json(&w, &s->variables[f->first + k], bytes, n);
    json_write_end(&w);
    json_write_end(&w);
    strbuf_puts(out, "\n");
}
