/* SPDX-License-Identifier: MIT */
#include "abi/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t field_value(const struct abi_field *f, uint32_t i, const uint8_t *base)
{
    uint64_t v64;
    uint32_t v32;

    switch (f->type) {
    case ABI_U8:
        return base[f->offset + i];
    case ABI_U64:
        memcpy(&v64, base + f->offset + 8 * i, 8);
        return v64;
    default:
        memcpy(&v32, base + f->offset + 4 * i, 4);
        return v32;
    }
}

static float as_float(uint64_t bits)
{
    uint32_t v = (uint32_t)bits;
    float f;

    memcpy(&f, &v, sizeof(f));
    return f;
}

static void print_flags(struct strbuf *out, const struct abi_enum_desc *d, uint64_t v)
{
    const char *sep = "";

    if (!v)
        strbuf_puts(out, "0");
    for (uint32_t i = 0; i < d->count; i++)
        if (v & d->values[i].value) {
            strbuf_printf(out, "%s%s", sep, d->values[i].name);
            v &= ~(uint64_t)d->values[i].value;
            sep = "|";
        }
    if (v)
        strbuf_printf(out, "%s0x%llx", sep, (unsigned long long)v);
}

static void print_value(struct strbuf *out, const struct abi_field *f, uint64_t v)
{
    const struct abi_enum_desc *d = abi_enum((enum aerogpu_kind)f->kind);
    const char *name;

    if (d && d->flags) {
        print_flags(out, d, v);
        return;
    }
    name = abi_value_name((enum aerogpu_kind)f->kind, (uint32_t)v);
    if (name)
        strbuf_puts(out, name);
    else if (f->type == ABI_F32)
        strbuf_float(out, as_float(v));
    else if (f->kind == AEROGPU_KIND_X || f->kind == AEROGPU_KIND_MASK || f->kind == AEROGPU_KIND_TOKEN)
        strbuf_printf(out, "0x%llx", (unsigned long long)v);
    else if (f->type == ABI_I32)
        strbuf_printf(out, "%d", (int32_t)(uint32_t)v);
    else
        strbuf_printf(out, "%llu", (unsigned long long)v);
}

static bool all_zero(const struct abi_field *f, const uint8_t *base)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (field_value(f, i, base))
            return false;
    return true;
}

static void print_fields(struct strbuf *out, const struct abi_field *f, uint32_t n, const uint8_t *base,
                         const char *sep)
{
    for (uint32_t k = 0; k < n; k++, f++) {
        if (f->kind == AEROGPU_KIND_RSV && all_zero(f, base))
            continue;
        strbuf_printf(out, "%s%s=", sep, f->name);
        sep = " ";
        if (f->count > 1)
            strbuf_puts(out, "[");
        for (uint32_t i = 0; i < f->count; i++) {
            if (i)
                strbuf_puts(out, ",");
            print_value(out, f, field_value(f, i, base));
        }
        if (f->count > 1)
            strbuf_puts(out, "]");
    }
}

static uint32_t text_length(const struct abi_packet *p)
{
    uint32_t n = p->tail_size;

    while (n && !p->tail[n - 1])
        n--;
    return n;
}

static void print_text(struct strbuf *out, const struct abi_packet *p)
{
    strbuf_puts(out, " \"");
    for (uint32_t i = 0, n = text_length(p); i < n; i++) {
        if (p->tail[i] < 0x20 || p->tail[i] == '"' || p->tail[i] == '\\' || p->tail[i] == 0x7f)
            strbuf_printf(out, "\\x%02x", p->tail[i]);
        else
            strbuf_append(out, (const char *)p->tail + i, 1);
    }
    strbuf_puts(out, "\"");
}

static void print_tail_element(struct strbuf *out, const struct abi_packet *p, uint32_t i)
{
    const uint8_t *at = p->tail + (size_t)i * p->elem_size;
    const struct abi_elem_desc *elem = abi_elem((enum aerogpu_tail)p->desc->tail);
    uint32_t v[4];

    if (elem) {
        strbuf_puts(out, " {");
        print_fields(out, elem->fields, elem->num_fields, at, "");
        strbuf_puts(out, "}");
        return;
    }
    memcpy(v, at, p->elem_size < 16 ? 4 : 16);
    if (p->desc->tail == AEROGPU_TAIL_VEC4F) {
        for (int k = 0; k < 4; k++) {
            strbuf_puts(out, k ? "," : " (");
            strbuf_float(out, as_float(v[k]));
        }
        strbuf_puts(out, ")");
    } else if (p->desc->tail == AEROGPU_TAIL_VEC4I && p->elem_size == 16)
        strbuf_printf(out, " (%d,%d,%d,%d)", (int32_t)v[0], (int32_t)v[1], (int32_t)v[2], (int32_t)v[3]);
    else if (p->desc->tail == AEROGPU_TAIL_BIND)
        strbuf_printf(out, " %s=%u", i == 0 ? "gs" : i == 1 ? "hs" : "ds", v[0]);
    else
        strbuf_printf(out, " %u", v[0]);
}

void abi_print_packet(struct strbuf *out, const struct abi_packet *p, uint32_t max_tail)
{
    if (!p->desc) {
        strbuf_printf(out, "unknown opcode 0x%x, %u bytes, skipped", p->opcode, p->size);
        return;
    }
    strbuf_puts(out, p->desc->name);
    print_fields(out, p->desc->fields, p->desc->num_fields, p->data, " ");
    if (p->desc->tail == AEROGPU_TAIL_TEXT) {
        print_text(out, p);
        return;
    }
    if (p->desc->tail == AEROGPU_TAIL_BYTES) {
        strbuf_puts(out, " :");
        for (uint32_t i = 0; i < p->tail_size && i < max_tail; i++)
            strbuf_printf(out, "%s%02x", i % 4 ? "" : " ", p->tail[i]);
    } else {
        for (uint32_t i = 0; i < p->tail_count && i < max_tail; i++)
            print_tail_element(out, p, i);
    }
    if (p->tail_count > max_tail)
        strbuf_puts(out, " …");
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *value_json(const struct abi_field *f, uint64_t v)
{
    const struct abi_enum_desc *d = abi_enum((enum aerogpu_kind)f->kind);
    const char *name = d && d->flags ? NULL : abi_value_name((enum aerogpu_kind)f->kind, (uint32_t)v);

    if (d && d->flags) {
        struct strbuf b = {0};
        json_t *j;
        print_flags(&b, d, v);
        j = json_string(strbuf_str(&b));
        strbuf_finish(&b);
        return j;
    }
    if (name)
        return json_string(name);
    if (f->type == ABI_F32) /* JSON has no infinities: they and NaNs are given as their bits */
        return isfinite(as_float(v)) ? json_real((double)as_float(v)) : json_integer((json_int_t)v);
    if (f->kind == AEROGPU_KIND_TOKEN) {
        char hex[24];
        snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)v);
        return json_string(hex);
    }
    if (f->type == ABI_I32)
        return json_integer((int32_t)(uint32_t)v);
    return json_integer((json_int_t)v);
}

static json_t *fields_json(const struct abi_field *f, uint32_t n, const uint8_t *base)
{
    json_t *o = json_object();

    for (uint32_t k = 0; k < n; k++, f++) {
        if (f->kind == AEROGPU_KIND_RSV && all_zero(f, base))
            continue;
        if (f->count == 1) {
            json_object_set_new(o, f->name, value_json(f, field_value(f, 0, base)));
            continue;
        }
        json_t *a = json_array();
        for (uint32_t i = 0; i < f->count; i++)
            json_array_append_new(a, value_json(f, field_value(f, i, base)));
        json_object_set_new(o, f->name, a);
    }
    return o;
}

static json_t *bytes_json(const uint8_t *data, uint32_t n)
{
    char hex[129];
    uint32_t shown = n < 64 ? n : 64;

    for (uint32_t i = 0; i < shown; i++)
        snprintf(hex + 2 * i, 3, "%02x", data[i]);
    hex[2 * shown] = '\0';
    return json_pack("{s:I,s:s}", "bytes", (json_int_t)n, "hex", hex);
}

static json_t *element_json(const struct abi_packet *p, uint32_t i)
{
    static const struct abi_field vec4f = {"v", "", 0, ABI_F32, AEROGPU_KIND_FLOAT, 4};
    static const struct abi_field vec4i = {"v", "", 0, ABI_I32, AEROGPU_KIND_U, 4};
    const uint8_t *at = p->tail + (size_t)i * p->elem_size;
    const struct abi_elem_desc *elem = abi_elem((enum aerogpu_tail)p->desc->tail);
    const struct abi_field *vec = p->desc->tail == AEROGPU_TAIL_VEC4F ? &vec4f : &vec4i;
    uint32_t v;
    json_t *a;

    if (elem)
        return fields_json(elem->fields, elem->num_fields, at);
    if (p->elem_size == 4) {
        memcpy(&v, at, 4);
        return json_integer(v);
    }
    a = json_array();
    for (uint32_t k = 0; k < 4; k++)
        json_array_append_new(a, value_json(vec, field_value(vec, k, at)));
    return a;
}

static json_t *tail_json(const struct abi_packet *p)
{
    json_t *a;

    if (p->desc->tail == AEROGPU_TAIL_TEXT) {
        json_t *s = json_stringn((const char *)p->tail, text_length(p));
        return s ? s : bytes_json(p->tail, p->tail_size); /* not UTF-8 */
    }
    if (p->desc->tail == AEROGPU_TAIL_BYTES)
        return bytes_json(p->tail, p->tail_size);
    a = json_array();
    for (uint32_t i = 0; i < p->tail_count; i++)
        json_array_append_new(a, element_json(p, i));
    return a;
}

json_t *abi_packet_json(const struct abi_packet *p)
{
    json_t *o = json_pack("{s:I,s:I,s:I,s:I}", "index", (json_int_t)p->index, "offset", (json_int_t)p->offset,
                          "opcode", (json_int_t)p->opcode, "size", (json_int_t)p->size);

    if (!o || !p->desc)
        return o;
    json_object_set_new(o, "name", json_string(p->desc->name));
    json_object_set_new(o, "fields", fields_json(p->desc->fields, p->desc->num_fields, p->data));
    if (p->desc->tail != AEROGPU_TAIL_NONE)
        json_object_set_new(o, "tail", tail_json(p));
    return o;
}
