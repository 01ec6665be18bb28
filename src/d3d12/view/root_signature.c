/* SPDX-License-Identifier: MIT */
/* root_signature.c: all is read and checked before anything is shown: the bytes are anybody's. The layout is that of the
 * container's chunk RTS0 (docs of DirectXShaderCompiler, DxilContainer.h); its offsets count from the chunk's first byte. */
#include "d3d12/view/root_signature.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/json_write.h"
#include "d3d12/view/format.h"

#define MAX_RANGES   65536 /* of all tables; more than there are descriptors to bind in a sane program */
#define MAX_SAMPLERS 2032  /* Direct3D 12 has no more in all root signatures of a device */
#define STAGES       8
#define UNBOUNDED    UINT32_MAX

enum { TABLE, CONSTANTS, CBV, SRV, UAV, PARAMETER_KINDS };

static const char *const range_kinds[] = {"SRV", "UAV", "CBV", "sampler"};
static const char *const parameter_kinds[] = {"table", "constants", "CBV", "SRV", "UAV"};
static const char range_letters[] = "tubs", parameter_letters[] = "?bbtu";
static const char *const stage_names[STAGES] = {"all",      "vertex", "hull",          "domain",
                                                "geometry", "pixel",  "amplification", "mesh"};

static int bad(struct error *e, const struct bytes *in, const char *what)
{
    return error_set(e, -EBADMSG, "its %s runs past the end of its %zu bytes", what, in->size);
}

static int find_chunk(struct bytes *out, const void *bytes, size_t size, struct error *e)
{
    struct bytes in = bytes_of(bytes, size), at = in;
    const char *magic = bytes_take(&in, 4);
    uint32_t n;

    if (!magic || memcmp(magic, "DXBC", 4))
        return error_set(e, -EBADMSG, "it does not begin with DXBC");
    bytes_seek(&in, 28); /* behind the digest, a version and the size */
    n = bytes_u32(&in);
    for (uint32_t i = 0; i < n && !in.bad; i++) {
        uint32_t offset = bytes_u32(&in), length;
        const void *chunk;

        if (in.bad)
            break;
        bytes_seek(&at, offset);
        magic = bytes_take(&at, 4);
        length = bytes_u32(&at);
        chunk = bytes_take(&at, length);
        if (at.bad)
            return error_set(e, -EBADMSG, "its chunk %u runs past the end of its %zu bytes", i, size);
        if (!memcmp(magic, "RTS0", 4)) {
            *out = bytes_of(chunk, length);
            return 0;
        }
    }
    return in.bad ? bad(e, &in, "list of chunks") : error_set(e, -EBADMSG, "it has no chunk RTS0");
}

/* A field that must be less than `limit`. */
static uint32_t below(struct bytes *in, uint32_t limit, const char *what, struct error *e)
{
    size_t at = in->pos;
    uint32_t v = bytes_u32(in);

    if (v < limit)
        return v;
    error_set(e, -EBADMSG, "its %s at byte %zu of the chunk is %u, and not below %u", what, at, v, limit);
    return 0;
}

static int read_table(struct root_signature *r, struct root_parameter *p, struct bytes in, uint32_t version,
                      struct error *e)
{
    uint64_t next = 0;
    uint32_t n = below(&in, MAX_RANGES + 1 - (uint32_t)r->num_ranges, "number of ranges", e);

    bytes_seek(&in, bytes_u32(&in));
    if (!e->code && (in.bad || n > bytes_left(&in) / (version > 1 ? 24 : 20)))
        bad(e, &in, "table");
    if (e->code)
        return e->code;
    if (array_reserve(r->ranges, r->room_ranges, r->num_ranges + n))
        return error_set(e, -ENOMEM, "no memory for its ranges");
    p->first_range = r->num_ranges;
    p->ranges = n;
    for (uint32_t i = 0; i < n; i++) {
        struct root_range *g = &r->ranges[r->num_ranges++];
        uint32_t offset;

        g->kind = below(&in, 4, "kind of a range", e);
        g->count = bytes_u32(&in);
        g->reg = bytes_u32(&in);
        g->space = bytes_u32(&in);
        if (version > 1)
            bytes_u32(&in); /* flags */
        offset = bytes_u32(&in);
        g->first = offset == UINT32_MAX ? next : offset; /* which means: behind the one before */
        next = g->first + g->count;
    }
    return e->code;
}

static int read_parameter(struct root_signature *r, struct bytes *in, struct bytes chunk, uint32_t version,
                          struct error *e)
{
    struct root_parameter *p = &r->parameters[r->num++];

    *p = (struct root_parameter){.kind = below(in, PARAMETER_KINDS, "kind of a parameter", e)};
    p->stages = below(in, STAGES, "shader visibility", e);
    bytes_seek(&chunk, bytes_u32(in));
    if (e->code)
        return e->code;
    if (p->kind == TABLE && !in->bad && !chunk.bad)
        return read_table(r, p, chunk, version, e);
    p->reg = bytes_u32(&chunk);
    p->space = bytes_u32(&chunk);
    if (p->kind == CONSTANTS)
        p->values = bytes_u32(&chunk);
    return in->bad || chunk.bad ? bad(e, in, "parameter") : 0;
}

static float float_of(uint32_t u)
{
    float f;

    memcpy(&f, &u, 4);
    return f;
}

static int read_samplers(struct root_signature *r, struct bytes in, uint32_t n, uint32_t at, uint32_t version,
                         struct error *e)
{
    if (n && array_reserve(r->samplers, r->room_samplers, n))
        return error_set(e, -ENOMEM, "no memory for its samplers");
    bytes_seek(&in, n ? at : 0);
    for (uint32_t i = 0; i < n && !in.bad; i++) {
        struct root_sampler *s = &r->samplers[i];

        s->filter = bytes_u32(&in);
        for (unsigned k = 0; k < 3; k++)
            s->address[k] = bytes_u32(&in);
        s->bias = float_of(bytes_u32(&in));
        s->anisotropy = bytes_u32(&in);
        s->comparison = bytes_u32(&in);
        s->border = bytes_u32(&in);
        s->min_lod = float_of(bytes_u32(&in));
        s->max_lod = float_of(bytes_u32(&in));
        s->reg = bytes_u32(&in);
        s->space = bytes_u32(&in);
        s->stages = below(&in, STAGES, "shader visibility", e);
        if (version > 2)
            bytes_u32(&in); /* flags */
    }
    r->num_samplers = n;
    return in.bad ? bad(e, &in, "samplers") : e->code;
}

static int read_chunk(struct root_signature *r, struct bytes chunk, struct error *e)
{
    struct bytes in = chunk;
    uint32_t version = bytes_u32(&in), num, at, samplers, samplers_at;

    if (!in.bad && (version < 1 || version > 3))
        return error_set(e, -EBADMSG, "its version %u is none of 1 to 3", version);
    num = below(&in, ROOT_MAX_PARAMETERS + 1, "number of parameters", e);
    at = bytes_u32(&in);
    samplers = below(&in, MAX_SAMPLERS + 1, "number of samplers", e);
    samplers_at = bytes_u32(&in);
    bytes_u32(&in); /* flags */
    if (in.bad)
        return bad(e, &in, "header");
    bytes_seek(&in, num ? at : 0);
    for (uint32_t i = 0; i < num && !e->code; i++)
        read_parameter(r, &in, chunk, version, e);
    return e->code ? e->code : read_samplers(r, chunk, samplers, samplers_at, version, e);
}

int root_signature_read(struct root_signature *r, const void *bytes, size_t size, struct error *e)
{
    struct error own = {0};
    struct bytes chunk;

    *r = (struct root_signature){0};
    if (find_chunk(&chunk, bytes, size, &own) || read_chunk(r, chunk, &own))
        return error_set(e, own.code, "root signature: %s", own.text);
    return 0;
}

void root_signature_finish(struct root_signature *r)
{
    free(r->ranges);
    free(r->samplers);
    *r = (struct root_signature){0};
}

static void show_range(struct strbuf *out, const struct root_range *g, bool first)
{
    char count[16] = "any number of";

    if (g->count != UNBOUNDED)
        snprintf(count, sizeof(count), "%u", g->count);
    strbuf_printf(out, "%s [%llu] %s %s from %c%u, space %u", first ? "" : ";", (unsigned long long)g->first,
                  count, range_kinds[g->kind], range_letters[g->kind], g->reg, g->space);
}

static void show_parameter(struct strbuf *out, const struct root_signature *r, uint32_t i)
{
    const struct root_parameter *p = &r->parameters[i];

    strbuf_printf(out, "        parameter %u, for %s: %s", i, stage_names[p->stages],
                  parameter_kinds[p->kind]);
    if (p->kind == TABLE) {
        strbuf_puts(out, " of");
        for (size_t k = 0; k < p->ranges; k++)
            show_range(out, &r->ranges[p->first_range + k], !k);
    } else {
        strbuf_printf(out, " %c%u, space %u", parameter_letters[p->kind], p->reg, p->space);
        if (p->kind == CONSTANTS)
            strbuf_printf(out, ", %u values", p->values);
    }
    strbuf_puts(out, "\n");
}

static void range_json(struct json_writer *w, const struct root_range *g)
{
    json_write_object(w, NULL);
    json_write_string(w, "kind", range_kinds[g->kind]);
    json_write_unsigned(w, "register", g->reg);
    json_write_unsigned(w, "space", g->space);
    json_write_unsigned(w, "first", g->first);
    if (g->count != UNBOUNDED)
        json_write_unsigned(w, "count", g->count);
    else
        json_write_null(w, "count");
    json_write_end(w);
}

static void parameter_json(struct strbuf *out, const struct root_signature *r, uint32_t i)
{
    const struct root_parameter *p = &r->parameters[i];
    struct json_writer w = json_writer_text(out);

    json_write_object(&w, NULL);
    json_write_string(&w, "role", "parameter");
    json_write_unsigned(&w, "index", i);
    json_write_string(&w, "stages", stage_names[p->stages]);
    json_write_string(&w, "kind", parameter_kinds[p->kind]);
    if (p->kind == TABLE) {
        json_write_array(&w, "ranges");
        for (size_t k = 0; k < p->ranges; k++)
            range_json(&w, &r->ranges[p->first_range + k]);
        json_write_end(&w);
    } else {
        json_write_unsigned(&w, "register", p->reg);
        json_write_unsigned(&w, "space", p->space);
        if (p->kind == CONSTANTS)
            json_write_unsigned(&w, "values", p->values);
    }
    json_write_end(&w);
    strbuf_puts(out, "\n");
}

/* By number: as the API names them, without what their names begin with. */
static const char *const addresses[] = {"?", "WRAP", "MIRROR", "CLAMP", "BORDER", "MIRROR_ONCE"};
static const char *const comparisons[] = {"NONE",    "NEVER",     "LESS",          "EQUAL", "LESS_EQUAL",
                                          "GREATER", "NOT_EQUAL", "GREATER_EQUAL", "ALWAYS"};
static const char *const borders[] = {"TRANSPARENT_BLACK", "OPAQUE_BLACK", "OPAQUE_WHITE",
                                      "OPAQUE_BLACK_UINT", "OPAQUE_WHITE_UINT"};

#define NAME_OF(names, i) ((i) < sizeof(names) / sizeof(*(names)) ? (names)[i] : "?")

/* D3D12_FILTER is made of bits: how mips, magnified and minified texels are taken, and what is done with them. */
static void filter_text(struct strbuf *out, uint32_t f)
{
    static const char *const does[] = {"", "COMPARISON_", "MINIMUM_", "MAXIMUM_"};

    strbuf_puts(out, does[f >> 7 & 3]);
    if (f & 0x40)
        strbuf_puts(out, "ANISOTROPIC");
    else
        strbuf_printf(out, "MIN_%s_MAG_%s_MIP_%s", f & 0x10 ? "LINEAR" : "POINT", f & 4 ? "LINEAR" : "POINT",
                      f & 1 ? "LINEAR" : "POINT");
}

static void sampler_json(struct strbuf *out, const struct root_sampler *s)
{
    struct json_writer w = json_writer_text(out);
    struct strbuf filter = {0};

    filter_text(&filter, s->filter);
    json_write_object(&w, NULL);
    json_write_string(&w, "role", "sampler");
    json_write_string(&w, "stages", stage_names[s->stages]);
    json_write_unsigned(&w, "register", s->reg);
    json_write_unsigned(&w, "space", s->space);
    json_write_string(&w, "filter", strbuf_str(&filter));
    json_write_array(&w, "address");
    for (unsigned k = 0; k < 3; k++)
        json_write_string(&w, NULL, NAME_OF(addresses, s->address[k]));
    json_write_end(&w);
    json_write_string(&w, "border", NAME_OF(borders, s->border));
    json_write_string(&w, "comparison", NAME_OF(comparisons, s->comparison));
    json_write_unsigned(&w, "anisotropy", s->anisotropy);
    json_write_array(&w, "lod"); /* least, most, bias */
    format_json(&w, (double)s->min_lod);
    format_json(&w, (double)s->max_lod);
    format_json(&w, (double)s->bias);
    json_write_end(&w);
    json_write_end(&w);
    strbuf_puts(out, "\n");
    strbuf_finish(&filter);
}

static void show_sampler(struct strbuf *out, const struct root_sampler *s)
{
    strbuf_printf(out, "        static sampler, for %s: s%u, space %u: ", stage_names[s->stages], s->reg,
                  s->space);
    filter_text(out, s->filter);
    strbuf_printf(out, ", %s %s %s, border %s, lod ", NAME_OF(addresses, s->address[0]),
                  NAME_OF(addresses, s->address[1]), NAME_OF(addresses, s->address[2]),
                  NAME_OF(borders, s->border));
    strbuf_float(out, s->min_lod);
    strbuf_puts(out, " to ");
    strbuf_float(out, s->max_lod);
    strbuf_puts(out, ", bias ");
    strbuf_float(out, s->bias);
    if (s->filter >> 7 & 1)
        strbuf_printf(out, ", passes %s", NAME_OF(comparisons, s->comparison));
    strbuf_puts(out, "\n");
}

void root_signature_show(struct strbuf *out, enum show_form form, const struct root_signature *r)
{
    for (uint32_t i = 0; i < r->num; i++)
        if (form == SHOW_JSON)
            parameter_json(out, r, i);
        else
            show_parameter(out, r, i);
    for (size_t i = 0; i < r->num_samplers; i++)
        (form == SHOW_JSON ? sampler_json : show_sampler)(out, &r->samplers[i]);
}

const char *root_signature_stages(const struct root_parameter *p)
{
    return stage_names[p->stages];
}

uint64_t root_signature_table(const struct root_signature *r, uint64_t parameter)
{
    uint64_t most = 0;

    if (parameter >= r->num || r->parameters[parameter].kind != TABLE)
        return 0;
    for (size_t i = 0; i < r->parameters[parameter].ranges; i++) {
        const struct root_range *g = &r->ranges[r->parameters[parameter].first_range + i];

        if (g->count == UNBOUNDED)
            return 0;
        if (g->first + g->count > most)
            most = g->first + g->count;
    }
    return most;
}
