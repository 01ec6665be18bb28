/* SPDX-License-Identifier: MIT */
/* dxil.c: the parts of a container. Layouts: DirectXShaderCompiler's DxilContainer.h, DxilPipelineStateValidation.h and
 * DxilRuntimeReflection.h. */
#include "d3d12/view/dxil.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "d3d12/view/llvm.h"
#include "d3d12/view/root_signature.h"

const struct dxbc_chunk *dxil_program(const struct dxbc *d)
{
    return dxbc_find(d, DXBC_FOURCC('D', 'X', 'I', 'L'));
}

static struct bytes part(const struct dxbc *d, const char *name)
{
    const struct dxbc_chunk *c = dxbc_find(d, DXBC_FOURCC(name[0], name[1], name[2], name[3]));

    return c ? bytes_of(c->data, c->size) : bytes_of(NULL, 0);
}

struct dxil_module dxil_module(const struct dxbc *d, uint32_t fourcc)
{
    const struct dxbc_chunk *c = dxbc_find(d, fourcc);
    struct bytes in = c ? bytes_of(c->data, c->size) : bytes_of(NULL, 0);
    struct dxil_module m = {.version = bytes_u32(&in), .words = bytes_u32(&in)};
    uint32_t magic = bytes_u32(&in), at, size;

    m.dxil = bytes_u32(&in);
    at = bytes_u32(&in);
    size = bytes_u32(&in);
    bytes_seek(&in, 8 + (size_t)at); /* counts from the magic number */
    if (!in.bad && magic == DXBC_FOURCC('D', 'X', 'I', 'L') && size && size <= bytes_left(&in)) {
        m.bitcode = c->data + 8 + at;
        m.size = size;
    }
    return m;
}

/* ---- what is bound ------------------------------------------------------- */

bool dxil_binding(const struct dxbc *d, uint32_t i, struct dxil_binding *b)
{
    /* sampler, constants, then textures and buffers to read: typed, raw, structured; the same to write; structured with a counter */
    static const uint8_t kinds[] = {0, 3, 0, 2, 7, 5, 4, 8, 6, 11};
    /* of textures of 1, 2, 2 multisampled, 3 dimensions, cubes, arrays of those in this order, and buffers of three kinds */
    static const uint8_t dimensions[] = {0, 2, 4, 6, 8, 9, 3, 5, 7, 10, 1, 1, 1};
    struct bytes in = part(d, "PSV0");
    const size_t whole = bytes_left(&in);
    uint32_t info = bytes_u32(&in), num, size, type, last, shape;

    bytes_take(&in, info);
    num = bytes_u32(&in);
    size = num ? bytes_u32(&in) : 0;
    if (in.bad || i >= num || size < 16 || (uint64_t)i * size > whole)
        return false;
    bytes_take(&in, (uint64_t)i * size);
    type = bytes_u32(&in);
    b->kind = type < sizeof(kinds) ? kinds[type] : UINT32_MAX;
    b->space = bytes_u32(&in);
    b->reg = bytes_u32(&in);
    last = bytes_u32(&in);
    b->count = last == UINT32_MAX ? 0 : last - b->reg + 1;
    shape = size >= 20 ? bytes_u32(&in) : 0;
    b->kind = shape == DXIL_ACCELERATION ? SHADER_ACCELERATION : b->kind;
    b->dimension = shape < sizeof(dimensions) ? dimensions[shape] : 0;
    return !in.bad;
}

bool dxil_groups(const struct dxbc *d, uint32_t groups[3])
{
    enum { GROUPS_AT = 36 };
    struct bytes in = part(d, "PSV0");
    uint32_t info = bytes_u32(&in);

    if (in.bad || info < GROUPS_AT + 12)
        return false;
    bytes_take(&in, GROUPS_AT);
    for (int k = 0; k < 3; k++)
        groups[k] = bytes_u32(&in);
    return !in.bad && groups[0] && groups[1] && groups[2];
}

/* ---- other parts --------------------------------------------------------- */

static void print_hash(struct strbuf *out, const struct dxbc *d)
{
    struct bytes in = part(d, "HASH");
    uint32_t flags = bytes_u32(&in);
    const uint8_t *digest = bytes_take(&in, 16);

    if (!digest || in.bad)
        return;
    strbuf_puts(out, "; hash ");
    for (int i = 0; i < 16; i++)
        strbuf_printf(out, "%02x", digest[i]);
    strbuf_puts(out, flags & 1 ? ", of the source\n" : "\n");
}

static void print_features(struct strbuf *out, const struct dxbc *d)
{
    struct bytes in = part(d, "SFI0");
    uint64_t features = bytes_u64(&in);

    if (!in.bad && features)
        strbuf_printf(out, "; needs D3D_SHADER_REQUIRES 0x%llx\n", (unsigned long long)features);
}

/* Where a compiler put the debug information that is not in the container. */
static void print_debug_name(struct strbuf *out, const struct dxbc *d)
{
    struct bytes in = part(d, "ILDN");
    uint16_t length;
    const char *name;

    bytes_u16(&in); /* flags */
    length = bytes_u16(&in);
    name = bytes_take(&in, length);
    if (in.bad || !length)
        return;
    strbuf_puts(out, "; debug information: ");
    for (uint16_t i = 0; i < length; i++)
        strbuf_printf(out, "%c", name[i] >= ' ' && name[i] < 127 ? name[i] : '?');
    strbuf_puts(out, "\n");
}

static void print_root_signature(struct strbuf *out, const struct dxbc *d)
{
    struct root_signature r = {0};
    struct strbuf lines = {0};
    struct error e = {0};

    if (!dxbc_find(d, DXBC_FOURCC('R', 'T', 'S', '0')))
        return;
    strbuf_puts(out, "; its root signature:\n");
    if (root_signature_read(&r, d->bytes, d->size, &e))
        strbuf_printf(&lines, "%s\n", e.text);
    else
        root_signature_show(&lines, SHOW_TEXT, &r);
    for (const char *at = strbuf_str(&lines), *end; (end = strchr(at, '\n')); at = end + 1)
        strbuf_printf(out, ";   %.*s\n", (int)(end - at - (ptrdiff_t)strspn(at, " ")), at + strspn(at, " "));
    root_signature_finish(&r);
    strbuf_finish(&lines);
}

/* Of a library: what it exports, by RDAT. */
static void print_functions(struct strbuf *out, const struct dxbc *d)
{
    enum { STRINGS = 1, FUNCTIONS = 4, UNMANGLED_AT = 4, KIND_AT = 16 };
    static const char *const kinds[] = {"pixel",        "vertex",  "geometry",     "hull",
                                        "domain",       "compute", "library",      "raygeneration",
                                        "intersection", "anyhit",  "closesthit",   "miss",
                                        "callable",     "mesh",    "amplification"};
    struct bytes in = part(d, "RDAT"), strings = {0}, table = {0};
    const struct bytes whole = in;
    uint32_t version = bytes_u32(&in), parts = bytes_u32(&in), num, stride;

    for (uint32_t i = 0; i < parts && !in.bad; i++) {
        struct bytes at = whole;
        uint32_t type, size;
        const void *p;

        bytes_seek(&at, bytes_u32(&in));
        type = bytes_u32(&at);
        size = bytes_u32(&at);
        p = bytes_take(&at, size);
        if (at.bad || in.bad)
            return;
        if (type == STRINGS)
            strings = bytes_of(p, size);
        else if (type == FUNCTIONS)
            table = bytes_of(p, size);
    }
    (void)version;
    num = bytes_u32(&table);
    stride = bytes_u32(&table);
    for (uint32_t i = 0; i < num && !table.bad && stride >= KIND_AT + 4; i++) {
        struct bytes row = bytes_of(bytes_take(&table, stride), table.bad ? 0 : stride);
        const char *name;
        uint32_t at, kind;

        bytes_seek(&row, UNMANGLED_AT);
        at = bytes_u32(&row);
        bytes_seek(&row, KIND_AT);
        kind = bytes_u32(&row);
        if (row.bad || at >= strings.size || !memchr(strings.data + at, 0, strings.size - at))
            return;
        name = (const char *)strings.data + at;
        strbuf_printf(out, "; exports %.200s (%s)\n", name,
                      kind < sizeof(kinds) / sizeof(*kinds) ? kinds[kind] : "unknown");
    }
}

/* ---- text ---------------------------------------------------------------- */

void dxil_print(struct strbuf *out, const struct dxbc *d)
{
    const struct dxil_module m = dxil_module(d, DXBC_FOURCC('D', 'X', 'I', 'L'));
    const struct llvm_text *t = NULL;
    uint32_t groups[3];

    strbuf_puts(out, "; parts:");
    for (uint32_t i = 0; i < d->chunk_count; i++)
        strbuf_printf(out, " %.4s %u", (const char *)&d->chunks[i].fourcc, d->chunks[i].size);
    strbuf_printf(out, "\n; model %u.%u, DXIL %u.%u, %u words\n", m.version >> 4 & 15, m.version & 15,
                  m.dxil >> 8 & 255, m.dxil & 255, m.words);
    print_hash(out, d);
    if (dxil_groups(d, groups))
        strbuf_printf(out, "; groups of %u x %u x %u threads\n", groups[0], groups[1], groups[2]);
    print_features(out, d);
    print_debug_name(out, d);
    print_functions(out, d);
    print_root_signature(out, d);
    dxil_source(out, d);
    if (!m.bitcode)
        strbuf_printf(out, "; its part DXIL is cut: the program is not where it says, in its %u bytes\n",
                      dxil_program(d)->size);
    else
        t = llvm_text(m.bitcode, m.size);
    if (t && t->text)
        strbuf_append(out, t->text, t->size);
    if (t && *t->why)
        strbuf_printf(out, "; %s\n", t->why);
}
