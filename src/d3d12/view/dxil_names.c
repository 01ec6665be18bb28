/* SPDX-License-Identifier: MIT */
/* dxil_names.c: what DirectXShaderCompiler writes into a module's metadata, read in LLVM's text of it:
 *
 *   !dx.resources        four lists: read, written, constant buffers, samplers; of each {number, its type, name, space, register, how many, ...}
 *   !dx.typeAnnotations  {0, a type, {bytes, a field, ...}, another type, ...}; of each field pairs of a tag and what it says
 *   !dx.source.contents  {file, text}
 *
 * Everything is a slice of that text. What is not as it is written there is left out: nothing is known of it then. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "d3d12/view/dxil.h"
#include "d3d12/view/llvm.h"

#define MAX_NODES    65536
#define MAX_NAME     200
#define MAX_BINDINGS 1024
#define MAX_NESTING  8
#define MAX_ROWS     64    /* structs of an array that are taken apart */
#define MAX_STEPS    20000 /* fields that are looked at: structs in one another can be many */

enum { OF_READ, OF_WRITTEN, OF_CONSTANTS, OF_SAMPLERS, LISTS };
enum { TAG_MATRIX = 2, TAG_OFFSET = 3, TAG_NAME = 6, TAG_TYPE = 7 };
enum {
    TYPE_I1 = 1,
    TYPE_U16 = 3,
    TYPE_U32 = 5,
    TYPE_U64 = 7
}; /* of TAG_TYPE; the signed one of each is one less */

struct slice {
    const char *p;
    size_t n;
};

struct module {
    struct slice text;
    struct slice *nodes; /* what stands between the braces */
    size_t num, room;
    struct shader *s;
    uint32_t steps;
    bool library;
    bool any;    /* a name */
    bool failed; /* no memory */
};

/* ---- text ---------------------------------------------------------------- */

static bool begins(struct slice s, const char *with)
{
    return s.n >= strlen(with) && !memcmp(s.p, with, strlen(with));
}

static struct slice from(struct slice s, size_t n)
{
    n = n < s.n ? n : s.n;
    return (struct slice){s.p + n, s.n - n};
}

static struct slice line_of(struct slice *rest)
{
    const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    struct slice line = {rest->p, end ? (size_t)(end - rest->p) : rest->n};

    *rest = from(*rest, line.n + 1);
    return line;
}

/* The next item of a list that commas part, or false; commas in strings and brackets are no such. */
static bool next(struct slice *rest, struct slice *out)
{
    size_t i = 0;
    int depth = 0;
    bool quoted = false;

    while (rest->n && *rest->p == ' ')
        *rest = from(*rest, 1);
    if (!rest->n)
        return false;
    for (; i < rest->n; i++) {
        const char c = rest->p[i];

        if (c == '"')
            quoted = !quoted;
        else if (!quoted && strchr("([{<", c) && c)
            depth++;
        else if (!quoted && strchr(")]}>", c) && c)
            depth--;
        else if (!quoted && c == ',' && depth <= 0)
            break;
    }
    *out = (struct slice){rest->p, i};
    *rest = from(*rest, i + 1);
    while (out->n && out->p[out->n - 1] == ' ')
        out->n--;
    return true;
}

static bool item(struct slice list, unsigned i, struct slice *out)
{
    do
        if (!next(&list, out))
            return false;
    while (i--);
    return true;
}

/* "i32 5" and the like. */
static bool number(struct slice s, uint32_t *out)
{
    uint64_t v = 0;
    size_t i = s.n;

    while (i && s.p[i - 1] >= '0' && s.p[i - 1] <= '9')
        i--;
    if (i == s.n || s.n - i > 10 || s.p[0] != 'i' || (i && s.p[i - 1] != ' '))
        return false;
    for (; i < s.n; i++)
        v = 10 * v + (uint64_t)(s.p[i] - '0');
    *out = (uint32_t)v;
    return v <= UINT32_MAX;
}

static bool number_at(struct slice list, unsigned i, uint32_t *out)
{
    struct slice s;

    return item(list, i, &s) && number(s, out);
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Of !"text" the text, as far as there is room; LLVM writes \XX for what is no plain character. */
static size_t unquote(struct slice s, char *out, size_t room)
{
    size_t n = 0;

    if (!begins(s, "!\"") || s.n < 3)
        return 0;
    for (size_t i = 2; i + 1 < s.n && n < room; i++) {
        if (s.p[i] == '\\' && i + 3 < s.n && hex(s.p[i + 1]) >= 0 && hex(s.p[i + 2]) >= 0) {
            out[n++] = (char)(hex(s.p[i + 1]) << 4 | hex(s.p[i + 2]));
            i += 2;
        } else {
            out[n++] = s.p[i];
        }
    }
    return n;
}

static bool name_of(struct slice s, char name[MAX_NAME])
{
    size_t n = unquote(s, name, MAX_NAME - 1);

    name[n] = 0;
    return n && strlen(name) == n;
}

/* ---- the module ---------------------------------------------------------- */

static struct slice braces(struct slice line)
{
    const char *open = line.n ? memchr(line.p, '{', line.n) : NULL;
    struct slice s = open ? from(line, (size_t)(open + 1 - line.p)) : (struct slice){line.p, 0};

    s.n -= s.n && s.p[s.n - 1] == '}';
    return s;
}

static bool open_module(struct module *m, const struct llvm_text *t)
{
    struct slice rest;

    m->text = rest = (struct slice){t->text, t->size};
    while (rest.n && m->num < MAX_NODES) {
        struct slice line = line_of(&rest);
        char want[24];

        snprintf(want, sizeof(want), "!%zu = ", m->num);
        if (!begins(line, want))
            continue;
        if (array_reserve(m->nodes, m->room, m->num + 1))
            return false;
        line = from(line, strlen(want));
        m->nodes[m->num++] =
            begins(line, "!{") || begins(line, "distinct !{") ? braces(line) : (struct slice){line.p, 0};
    }
    return true;
}

/* What stands between the braces of the line that begins so. */
static struct slice named(const struct module *m, const char *name)
{
    struct slice rest = m->text;

    while (rest.n) {
        struct slice line = line_of(&rest);

        if (begins(line, name) && begins(from(line, strlen(name)), " = "))
            return braces(line);
    }
    return (struct slice){m->text.p, 0};
}

/* What a node is made of; nothing where `s` is none. */
static struct slice node(const struct module *m, struct slice s)
{
    uint64_t v = 0;

    if (s.n < 2 || s.n > 8 || s.p[0] != '!')
        return (struct slice){s.p, 0};
    for (size_t i = 1; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return (struct slice){s.p, 0};
        v = 10 * v + (uint64_t)(s.p[i] - '0');
    }
    return v < m->num ? m->nodes[v] : (struct slice){s.p, 0};
}

static struct slice node_at(const struct module *m, struct slice list, unsigned i)
{
    struct slice s;

    return item(list, i, &s) ? node(m, s) : (struct slice){list.p, 0};
}

/* ---- types --------------------------------------------------------------- */

/* [N x T]: N, and *s becomes T; 0: it is no array. */
static uint32_t take_array(struct slice *s, char open)
{
    uint64_t v = 0;
    size_t i = 1;

    if (s->n < 6 || s->p[0] != open)
        return 0;
    while (i < s->n && s->p[i] >= '0' && s->p[i] <= '9' && v < UINT32_MAX)
        v = 10 * v + (uint64_t)(s->p[i++] - '0');
    if (!begins(from(*s, i), " x ") || v > UINT32_MAX)
        return 0;
    *s = from(*s, i + 3);
    s->n -= s->n > 0;
    return (uint32_t)v;
}

static bool same(struct slice a, struct slice b)
{
    return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

/* The types of what the struct `type` is made of. */
static struct slice members(const struct module *m, struct slice type)
{
    struct slice rest = m->text;

    while (rest.n) {
        struct slice line = line_of(&rest);

        if (line.n > type.n && same((struct slice){line.p, type.n}, type) &&
            begins(from(line, type.n), " = type {"))
            return braces(line);
    }
    return (struct slice){m->text.p, 0};
}

/* What the compiler says of it: {bytes, field...}. */
static struct slice annotation(const struct module *m, struct slice type)
{
    struct slice lists = named(m, "!dx.typeAnnotations"), one;

    while (next(&lists, &one)) {
        struct slice list = node(m, one), is, what;
        uint32_t kind;

        if (!next(&list, &is) || !number(is, &kind) || kind)
            continue; /* of functions */
        while (next(&list, &is) && next(&list, &what))
            if (is.n > 6 && same((struct slice){is.p, is.n - 6}, type)) /* " undef" */
                return node(m, what);
    }
    return (struct slice){m->text.p, 0};
}

/* ---- constant buffers ---------------------------------------------------- */

struct field {
    char name[MAX_NAME];
    uint32_t offset, component, rows, columns, by; /* `by` 1: rows, 2: columns; 0: no matrix */
};

static bool read_field(const struct module *m, struct slice list, struct field *f)
{
    struct slice tag, what;
    uint32_t t;
    bool named_so = false;

    *f = (struct field){0};
    while (next(&list, &tag) && next(&list, &what) && number(tag, &t)) {
        struct slice matrix = node(m, what);

        if (t == TAG_NAME)
            named_so = name_of(what, f->name);
        else if (t == TAG_OFFSET && !number(what, &f->offset))
            return false;
        else if (t == TAG_TYPE && !number(what, &f->component))
            return false;
        else if (t == TAG_MATRIX &&
                 (!number_at(matrix, 0, &f->rows) || !number_at(matrix, 1, &f->columns) ||
                  !number_at(matrix, 2, &f->by) || f->rows > 4 || f->columns > 4 || f->by > 2))
            return false;
    }
    return named_so;
}

static uint16_t type_of(struct slice t, uint32_t component)
{
    const bool no_sign =
        component == TYPE_U16 || component == TYPE_U32 || component == TYPE_U64 || component > 7;

    if (begins(t, "half"))
        return SHADER_HALF;
    if (begins(t, "float"))
        return SHADER_FLOAT;
    if (begins(t, "double"))
        return SHADER_DOUBLE;
    if (component == TYPE_I1)
        return SHADER_BOOL;
    if (begins(t, "i16"))
        return no_sign ? SHADER_UINT16 : SHADER_INT16;
    if (begins(t, "i64"))
        return no_sign ? SHADER_UINT64 : SHADER_INT64;
    return no_sign ? SHADER_UINT : SHADER_INT;
}

static void add_struct(struct module *m, const char *name, uint32_t offset, struct slice type, int depth);

static void add_field(struct module *m, const char *name, const struct field *f, uint32_t offset,
                      struct slice type, int depth)
{
    struct shader_variable v = {.offset = offset, .layout = SHADER_SCALAR, .rows = 1, .columns = 1};
    uint64_t elements = 1;
    bool array = false;

    while (type.n && type.p[0] == '[') {
        struct slice inner = type;
        const uint32_t n = take_array(&inner, '[');

        if (!n || (f->by && inner.n && inner.p[0] != '[' && inner.p[0] != '%'))
            break; /* what is left are a matrix's rows or columns */
        elements *= n;
        type = inner;
        array = true;
    }
    if (elements > UINT16_MAX)
        return;
    v.elements = array ? (uint16_t)elements : 0;
    if (f->by) {
        v.layout = f->by == 1 ? SHADER_MATRIX_ROWS : SHADER_MATRIX_COLUMNS;
        v.rows = (uint16_t)f->rows;
        v.columns = (uint16_t)f->columns;
        if (type.n && type.p[0] == '%' && !item(members(m, type), 0, &type)) /* a class of one array */
            return;
        while (take_array(&type, '[') || take_array(&type, '<'))
            ;
    } else if (type.n && type.p[0] == '%') {
        uint32_t size = 0;
        char one[2 * MAX_NAME];

        number_at(annotation(m, type), 0, &size);
        for (uint32_t k = 0; k < elements && k < MAX_ROWS; k++) {
            snprintf(one, sizeof(one), array ? "%s[%u]" : "%s", name, k);
            add_struct(m, one, offset + k * ((size + 15) & ~15u), type, depth + 1);
        }
        return;
    } else if (type.n && type.p[0] == '<') {
        const uint32_t n = take_array(&type, '<');

        if (n > 4)
            return;
        v.layout = SHADER_VECTOR;
        v.columns = (uint16_t)n;
    }
    v.type = type_of(type, f->component);
    m->failed |= shader_add_variable(m->s, name, &v) == -ENOMEM;
}

static void add_struct(struct module *m, const char *name, uint32_t offset, struct slice type, int depth)
{
    struct slice fields = annotation(m, type), types = members(m, type), field, is;

    if (depth > MAX_NESTING || !next(&fields, &field)) /* its bytes */
        return;
    while (next(&fields, &field) && next(&types, &is) && m->steps++ < MAX_STEPS && !m->failed) {
        char full[2 * MAX_NAME];
        struct field f;

        if (!read_field(m, node(m, field), &f))
            continue;
        snprintf(full, sizeof(full), "%s%s%s", name, *name ? "." : "", f.name);
        add_field(m, full, &f, offset + f.offset, is, depth);
    }
}

/* "T* undef", or "T* @somewhere": T. */
static struct slice pointee(struct slice s)
{
    bool quoted = false;

    for (size_t i = 0; i < s.n; i++) {
        quoted ^= s.p[i] == '"';
        if (!quoted && s.p[i] == '*')
            return (struct slice){s.p, i};
    }
    return s;
}

static void add_buffer(struct module *m, const struct shader_binding *b, struct slice list)
{
    struct shader *s = m->s;
    struct slice type = {0};
    uint32_t size = 0;

    if (!item(list, 1, &type) || !number_at(list, 6, &size))
        return;
    type = pointee(type);
    while (take_array(&type, '['))
        ;
    if (array_reserve(s->buffers, s->room_buffers, s->num_buffers + 1)) {
        m->failed = true;
        return;
    }
    s->buffers[s->num_buffers] =
        (struct shader_buffer){.name = b->name, .size = size, .first = s->num_variables};
    add_struct(m, "", 0, type, 0);
    s->buffers[s->num_buffers].num = s->num_variables - s->buffers[s->num_buffers].first;
    s->num_buffers++;
}

/* ---- bindings ------------------------------------------------------------ */

static int list_of(uint32_t kind)
{
    static const char lists[] = {OF_CONSTANTS, OF_READ,    OF_READ, OF_SAMPLERS, OF_WRITTEN,
                                 OF_READ,      OF_WRITTEN, OF_READ, OF_WRITTEN,  OF_WRITTEN,
                                 OF_WRITTEN,   OF_WRITTEN, OF_READ};

    return kind < sizeof(lists) ? lists[kind] : LISTS;
}

/* D3D_SHADER_INPUT_TYPE of what a list has, by its shape: textures and typed buffers, raw, structured, tbuffers. */
static uint32_t kind_of(int which, uint32_t shape)
{
    enum { RAW = 11, STRUCTURED = 12, TBUFFER = 15 };

    return which == OF_CONSTANTS        ? 0
           : which == OF_SAMPLERS       ? 3
           : shape == RAW               ? (which == OF_READ ? 7 : 8)
           : shape == STRUCTURED        ? (which == OF_READ ? 5 : 6)
           : shape == TBUFFER           ? 1
           : shape == DXIL_ACCELERATION ? SHADER_ACCELERATION
           : which == OF_READ           ? 2
                                        : 4;
}

/* Libraries have no part PSV0: what they bind stands here alone. */
static struct shader_binding *add_binding(struct module *m, int which, struct slice list)
{
    struct shader *s = m->s;
    struct shader_binding b = {.name = ""};
    uint32_t shape = 0;

    if (!m->library || s->num_bindings == MAX_BINDINGS || !number_at(list, 3, &b.space) ||
        !number_at(list, 4, &b.reg) || !number_at(list, 5, &b.count))
        return NULL;
    number_at(list, 6, &shape);
    b.kind = kind_of(which, shape);
    if (array_reserve(s->bindings, s->room_bindings, s->num_bindings + 1)) {
        m->failed = true;
        return NULL;
    }
    s->bindings[s->num_bindings] = b;
    return &s->bindings[s->num_bindings++];
}

static struct shader_binding *find_binding(const struct shader *s, int which, uint32_t space, uint32_t reg)
{
    for (size_t i = 0; i < s->num_bindings; i++) {
        struct shader_binding *b = &s->bindings[i];

        if (list_of(b->kind) == which && b->space == space && b->reg == reg)
            return b;
    }
    return NULL;
}

static void add_name(struct module *m, int which, struct slice list)
{
    struct shader_binding *b;
    uint32_t space, reg;
    char name[MAX_NAME];
    struct slice s;

    if (!item(list, 2, &s) || !name_of(s, name) || !number_at(list, 3, &space) || !number_at(list, 4, &reg))
        return;
    b = find_binding(m->s, which, space, reg);
    if (!b)
        b = add_binding(m, which, list);
    if (!b || *b->name)
        return;
    b->name = shader_keep(m->s, name);
    m->failed |= !b->name;
    b->name = b->name ? b->name : "";
    m->any = true;
    if (which == OF_CONSTANTS && !m->failed)
        add_buffer(m, b, list);
}

int dxil_names(struct shader *s, const struct dxbc *d)
{
    static const char parts[][5] = {"STAT", "ILDB", "DXIL"};
    const struct llvm_text *t = NULL;
    struct module m = {.s = s};

    m.library = !dxbc_find(d, DXBC_FOURCC('P', 'S', 'V', '0'));
    if (!s->num_bindings && !m.library)
        return 0;
    for (size_t i = 0; i < 3 && !m.any && !m.failed; i++) {
        const struct dxil_module from_part =
            dxil_module(d, DXBC_FOURCC(parts[i][0], parts[i][1], parts[i][2], parts[i][3]));
        struct slice lists;

        if (!from_part.bitcode)
            continue;
        t = llvm_text(from_part.bitcode, from_part.size);
        if (!t->text)
            break;
        m.num = m.steps = 0;
        m.failed = !open_module(&m, t);
        lists = node_at(&m, named(&m, "!dx.resources"), 0);
        for (unsigned k = 0; k < LISTS; k++) {
            struct slice list = node_at(&m, lists, k), one;

            while (next(&list, &one) && !m.failed)
                add_name(&m, (int)k, node(&m, one));
        }
    }
    free(m.nodes);
    if (!m.any)
        snprintf(s->unnamed, sizeof(s->unnamed), "%s",
                 t && !t->text ? t->why : "its compiler left them out, or what it left is cut");
    return m.failed ? -ENOMEM : 0;
}

/* ---- source -------------------------------------------------------------- */

static void put_unquoted(struct strbuf *out, struct slice s)
{
    char *text = malloc(s.n + 1);
    size_t n = text ? unquote(s, text, s.n) : 0;

    if (n)
        strbuf_append(out, text, strnlen(text, n));
    free(text);
}

void dxil_source(struct strbuf *out, const struct dxbc *d)
{
    const struct dxil_module debug = dxil_module(d, DXBC_FOURCC('I', 'L', 'D', 'B'));
    const struct llvm_text *t = debug.bitcode ? llvm_text(debug.bitcode, debug.size) : NULL;
    struct module m = {0};
    struct slice files, one;

    if (!t || !t->text)
        return;
    if (open_module(&m, t)) {
        files = named(&m, "!dx.source.contents");
        while (next(&files, &one)) {
            struct slice pair = node(&m, one), name, text;

            if (!next(&pair, &name) || !next(&pair, &text))
                continue;
            strbuf_puts(out, "; source ");
            put_unquoted(out, name);
            strbuf_puts(out, "\n");
            put_unquoted(out, text);
            strbuf_puts(out, "\n; the program\n");
        }
    }
    free(m.nodes);
}
