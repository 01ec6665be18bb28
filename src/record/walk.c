/* SPDX-License-Identifier: MIT */
#include "record/walk.h"

#include <string.h>

#include "record/trace_file.h"

#define MAX_DEPTH  24
#define MAX_FIELDS 48

static void walk_struct(struct bytes *in, const struct api_field *fields, uint32_t n,
                        const struct walk_visitor *v, int depth);

/* A descriptor handle or a GPU address: number and what is added, or the raw value. */
static void read_reference(struct bytes *in, struct walk_value *w)
{
    w->u = bytes_varint(in);
    if (w->u == 1) {
        w->raw = true;
        w->u = bytes_u64(in);
    } else if (w->u) {
        w->offset = bytes_varint(in);
    }
}

static uint64_t read_scalar(struct bytes *in, const struct api_type *t, struct walk_value *w)
{
    w->type = t;
    switch (t->kind) {
    case API_KIND_U8:
        return w->u = bytes_u8(in);
    case API_KIND_I32:
    case API_KIND_HRESULT:
        return w->u = (uint64_t)(int64_t)(int32_t)unzigzag(bytes_varint(in));
    case API_KIND_I64:
        return w->u = (uint64_t)unzigzag(bytes_varint(in));
    case API_KIND_F32: {
        uint32_t bits = bytes_u32(in);

        memcpy(&w->f, &bits, 4);
        return w->u = bits;
    }
    case API_KIND_GUID:
        w->size = 16;
        w->bytes = bytes_take(in, 16);
        return 0;
    case API_KIND_IID:
        w->u = bytes_varint(in);
        if (!w->u) {
            w->size = 16;
            w->bytes = bytes_take(in, 16);
        }
        return 0;
    case API_KIND_STR:
    case API_KIND_WSTR: {
        uint64_t n = bytes_varint(in);

        if (n) {
            w->size = n - 1;
            w->bytes = bytes_take(in, w->size);
        }
        return 0;
    }
    case API_KIND_VA:
    case API_KIND_CPU:
    case API_KIND_GPU:
        read_reference(in, w);
        return 0;
    default:
        return w->u = bytes_varint(in);
    }
}

static uint64_t walk_value(struct bytes *in, const struct api_field *f, const char *name,
                           const struct walk_visitor *v, int depth)
{
    const struct api_type *t = f->type;
    struct walk_value w = {0};

    if (t->kind == API_KIND_STRUCT) {
        if (v && v->begin)
            v->begin(v->ctx, f, name, false, t->num_fields);
        walk_struct(in, t->fields, t->num_fields, v, depth + 1);
        if (v && v->end)
            v->end(v->ctx, false);
        return 0;
    }
    read_scalar(in, t, &w);
    if (v && v->value && !in->bad)
        v->value(v->ctx, f, name, &w);
    return w.u;
}

static void walk_array(struct bytes *in, const struct api_field *f, uint64_t n, const struct walk_visitor *v,
                       int depth)
{
    if (n > bytes_left(in)) { /* every element takes a byte at least */
        in->bad = true;
        return;
    }
    if (v && v->begin)
        v->begin(v->ctx, f, f->name, true, n);
    for (uint64_t i = 0; i < n && !in->bad; i++)
        walk_value(in, f, NULL, v, depth);
    if (v && v->end)
        v->end(v->ctx, true);
}

static void walk_bytes(struct bytes *in, const struct api_field *f, const struct walk_visitor *v)
{
    struct walk_value w = {0};
    uint64_t n = bytes_varint(in);

    if (n & 1) {
        w.size = n >> 1;
        w.bytes = bytes_take(in, w.size);
    } else if (n) {
        w.blob = n >> 1;
    }
    if (!v || in->bad)
        return;
    if (n && v->value)
        v->value(v->ctx, f, f->name, &w);
    else if (!n && v->null)
        v->null(v->ctx, f, f->name, true);
}

static void walk_stream(struct bytes *in, const struct api_field *f, const struct walk_visitor *v, int depth)
{
    uint64_t n = bytes_varint(in);

    if (!n) {
        if (v && v->null)
            v->null(v->ctx, f, f->name, true);
        return;
    }
    if (--n > bytes_left(in)) {
        in->bad = true;
        return;
    }
    if (v && v->begin)
        v->begin(v->ctx, f, f->name, true, n);
    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint64_t type = bytes_varint(in);
        uint32_t k = 0;

        while (k < f->num_cases && (uint64_t)f->cases[k].value != type)
            k++;
        if (k == f->num_cases) {
            in->bad = true;
            break;
        }
        walk_value(in, &f->cases[k].field, f->cases[k].field.name, v, depth);
    }
    if (v && v->end)
        v->end(v->ctx, true);
}

static uint64_t walk_field(struct bytes *in, const struct api_field *f, const struct walk_visitor *v,
                           int depth)
{
    switch (f->mode) {
    case API_MODE_VALUE:
        return walk_value(in, f, f->name, v, depth);
    case API_MODE_FIXED:
        walk_array(in, f, f->count, v, depth);
        return 0;
    case API_MODE_ONE:
        if (bytes_u8(in))
            return walk_value(in, f, f->name, v, depth);
        if (v && v->null)
            v->null(v->ctx, f, f->name, true);
        return 0;
    case API_MODE_ARRAY: {
        uint64_t n = bytes_varint(in);

        if (n)
            walk_array(in, f, n - 1, v, depth);
        else if (v && v->null)
            v->null(v->ctx, f, f->name, true);
        return 0;
    }
    case API_MODE_BYTES:
        walk_bytes(in, f, v);
        return 0;
    case API_MODE_STREAM:
        walk_stream(in, f, v, depth);
        return 0;
    case API_MODE_OPAQUE: {
        uint8_t set = bytes_u8(in);

        if (v && v->null)
            v->null(v->ctx, f, f->name, !set);
        return 0;
    }
    default:
        return 0;
    }
}

static void walk_struct(struct bytes *in, const struct api_field *fields, uint32_t n,
                        const struct walk_visitor *v, int depth)
{
    uint64_t seen[MAX_FIELDS];

    if (depth > MAX_DEPTH) {
        in->bad = true;
        return;
    }
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        const struct api_field *f = &fields[i];

        if (f->mode != API_MODE_UNION) {
            uint64_t u = walk_field(in, f, v, depth);

            if (i < MAX_FIELDS)
                seen[i] = u;
            continue;
        }
        for (uint32_t c = 0; c < f->num_cases; c++)
            if (f->disc == API_DISC_ALWAYS ||
                (f->disc < i && (uint32_t)seen[f->disc] == (uint32_t)f->cases[c].value)) {
                walk_field(in, &f->cases[c].field, v, depth);
                break;
            }
    }
}

void walk_fields(struct bytes *in, const struct api_field *fields, uint32_t n, const struct walk_visitor *v)
{
    walk_struct(in, fields, n, v, 0);
}

void walk_args(const struct trc_call *c, const struct walk_visitor *v)
{
    struct bytes in = bytes_of(c->args, c->args_size);

    walk_fields(&in, c->m->in, c->m->num_in, v);
}

void walk_answers(const struct trc_call *c, const struct walk_visitor *v)
{
    struct bytes in = bytes_of(c->args + c->args_size, c->size - c->args_size);

    if (!c->incomplete && bytes_left(&in))
        walk_fields(&in, c->m->out, c->m->num_out, v);
}

void walk_call(const struct trc_call *c, const struct walk_visitor *v)
{
    walk_args(c, v);
    walk_answers(c, v);
}
