/* SPDX-License-Identifier: MIT */
/* show.c: a visitor for each form: text as a C programmer would write the call, JSON for other programs. */
#include "record/show.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "record/walk.h"

#define MAX_DEPTH 32

/* ---- words that both forms have ------------------------------------------ */

static void put_num(struct strbuf *b, uint64_t v)
{
    char s[24], *p = s + sizeof(s);

    do {
        *--p = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    strbuf_append(b, p, (size_t)(s + sizeof(s) - p));
}

static void put_hex(struct strbuf *b, uint64_t v)
{
    char s[20], *p = s + sizeof(s);

    do {
        *--p = "0123456789abcdef"[v & 15];
        v >>= 4;
    } while (v);
    *--p = 'x';
    *--p = '0';
    strbuf_append(b, p, (size_t)(s + sizeof(s) - p));
}

static void put_enum(struct strbuf *b, const struct api_type *t, uint32_t v)
{
    uint32_t rest = v;
    bool any = false;

    for (uint32_t i = 0; i < t->num_values; i++)
        if (t->values[i].value == v) {
            strbuf_puts(b, t->values[i].name);
            return;
        }
    for (uint32_t i = 0; t->num_fields && i < t->num_values && rest; i++) {
        uint32_t bit = t->values[i].value;

        if (!bit || bit & (bit - 1) || !(rest & bit))
            continue;
        if (any)
            strbuf_append(b, " | ", 3);
        strbuf_puts(b, t->values[i].name);
        rest &= ~bit;
        any = true;
    }
    if (rest || !any) {
        if (any)
            strbuf_append(b, " | ", 3);
        put_hex(b, rest);
    }
}

static void put_guid(struct strbuf *b, const uint8_t *g)
{
    /* the first three numbers are little-endian, the rest is a row of bytes; -1 stands for a hyphen */
    static const int8_t order[] = {3, 2, 1, 0, -1, 5, 4, -1, 7, 6, -1, 8, 9, -1, 10, 11, 12, 13, 14, 15};
    char s[40], *at = s;

    *at++ = '{';
    for (size_t i = 0; i < sizeof(order); i++) {
        if (order[i] < 0) {
            *at++ = '-';
            continue;
        }
        *at++ = "0123456789abcdef"[g[order[i]] >> 4];
        *at++ = "0123456789abcdef"[g[order[i]] & 15];
    }
    *at++ = '}';
    strbuf_append(b, s, (size_t)(at - s));
}

/* Failures have their top bit set: eight digits. */
static void put_result(struct strbuf *b, uint32_t v)
{
    if (v)
        put_hex(b, v);
    else
        strbuf_puts(b, "S_OK");
}

static void put_head_of(struct strbuf *b, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; bytes && i < size && i < 32; i++) {
        char hex[2] = {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15]};

        strbuf_append(b, hex, 2);
    }
    if (size > 32)
        strbuf_puts(b, "...");
}

static const uint8_t *bytes_of_value(struct trc *t, const struct walk_value *v, size_t *size)
{
    const uint8_t *b = v->bytes;

    *size = v->size;
    if (v->blob && !(b = trc_blob(t, v->blob - 1, size, NULL)))
        *size = 0;
    return b;
}

static const struct name *name_of(const struct names *names, uint64_t id)
{
    return id <= UINT32_MAX ? names_get(names, (uint32_t)id) : NULL;
}

/* The interface that a value of kind IID names, or NULL: then its bytes, or its number, are all that is known. */
static const struct api_iface *iface_of(struct trc *t, const struct walk_value *v)
{
    const struct api *api = trc_api(t);

    return v->u && v->u <= api->num_ifaces ? &api->ifaces[v->u - 1] : NULL;
}

/* ---- text ---------------------------------------------------------------- */

struct text {
    struct strbuf *out;
    const struct names *names;
    struct trc *trace;
    int depth;
    bool comma[MAX_DEPTH];
    bool in_array[MAX_DEPTH];
};

static void text_key(struct text *p, const char *name)
{
    if (p->comma[p->depth])
        strbuf_append(p->out, ", ", 2);
    p->comma[p->depth] = true;
    if (!name || p->in_array[p->depth])
        return;
    strbuf_puts(p->out, name);
    strbuf_append(p->out, "=", 1);
}

static void text_begin(void *ctx, const struct api_field *f, const char *name, bool array, uint64_t n)
{
    struct text *p = ctx;

    text_key(p, name);
    strbuf_append(p->out, array ? "[" : "{", 1);
    if (p->depth + 1 < MAX_DEPTH)
        p->depth++;
    p->comma[p->depth] = false;
    p->in_array[p->depth] = array;
}

static void text_end(void *ctx, bool array)
{
    struct text *p = ctx;

    if (p->depth)
        p->depth--;
    strbuf_append(p->out, array ? "]" : "}", 1);
}

static void text_null(void *ctx, const struct api_field *f, const char *name, bool is_null)
{
    struct text *p = ctx;

    text_key(p, name);
    strbuf_puts(p->out, is_null ? "NULL" : "(not recorded)");
}

/* In quotes, with JSON's escapes. */
static void text_quoted(struct text *p, const char *s, size_t n)
{
    struct json_writer w = json_writer_text(p->out);

    json_write_bytes(&w, NULL, s, n);
}

static void text_object(struct text *p, uint64_t id)
{
    const struct name *n = name_of(p->names, id);

    if (id < 2) {
        strbuf_puts(p->out, id ? "unknown-object" : "NULL");
        return;
    }
    if (n)
        strbuf_puts(p->out, api_short_name(trc_api(p->trace), n->iface));
    strbuf_append(p->out, "#", 1);
    put_num(p->out, id);
    if (n && n->text)
        text_quoted(p, n->text, strlen(n->text));
}

static void text_reference(struct text *p, const struct walk_value *v)
{
    if (v->raw || !v->u) {
        put_hex(p->out, v->u);
        return;
    }
    text_object(p, v->u);
    strbuf_append(p->out, v->type->kind == API_KIND_VA ? "+" : "[", 1);
    if (v->type->kind == API_KIND_VA) {
        put_hex(p->out, v->offset);
    } else {
        put_num(p->out, v->offset);
        strbuf_append(p->out, "]", 1);
    }
}

static void text_bytes(struct text *p, const struct walk_value *v)
{
    size_t size;
    const uint8_t *b = bytes_of_value(p->trace, v, &size);

    strbuf_printf(p->out, size ? "%zu bytes " : "%zu bytes", size);
    put_head_of(p->out, b, size);
}

static void text_signed(struct strbuf *b, int64_t v)
{
    if (v < 0)
        strbuf_append(b, "-", 1);
    put_num(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static void text_iid(struct text *p, const struct walk_value *v)
{
    const struct api_iface *iface = iface_of(p->trace, v);

    if (iface) {
        strbuf_puts(p->out, "IID_");
        strbuf_puts(p->out, iface->name);
    } else if (v->bytes) {
        put_guid(p->out, v->bytes);
    } else {
        put_num(p->out, v->u);
    }
}

static void text_value(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct text *p = ctx;

    text_key(p, name);
    if (!v->type) {
        text_bytes(p, v);
        return;
    }
    switch (v->type->kind) {
    case API_KIND_I32:
    case API_KIND_I64:
        text_signed(p->out, (int64_t)v->u);
        break;
    case API_KIND_HRESULT:
        put_result(p->out, (uint32_t)v->u);
        break;
    case API_KIND_F32:
        strbuf_float(p->out, v->f);
        break;
    case API_KIND_GUID:
        put_guid(p->out, v->bytes);
        break;
    case API_KIND_IID:
        text_iid(p, v);
        break;
    case API_KIND_STR:
    case API_KIND_WSTR:
        if (v->bytes)
            text_quoted(p, v->bytes, v->size);
        else
            strbuf_puts(p->out, "NULL");
        break;
    case API_KIND_VA:
    case API_KIND_CPU:
    case API_KIND_GPU:
        text_reference(p, v);
        break;
    case API_KIND_ENUM:
        put_enum(p->out, v->type, (uint32_t)v->u);
        break;
    case API_KIND_OBJECT:
        text_object(p, v->u);
        break;
    case API_KIND_HANDLE:
        if (v->u)
            strbuf_puts(p->out, "event#");
        put_num(p->out, v->u);
        break;
    default:
        put_num(p->out, v->u);
    }
}

struct saying {
    struct trc *t;
    uint64_t kind;
    bool kind_seen;
    const uint8_t *bytes;
    size_t size;
};

static void on_saying(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct saying *x = ctx;

    if (v->type && !x->kind_seen)
        x->kind = v->u;
    x->kind_seen = x->kind_seen || v->type;
    if (!v->type && !x->bytes)
        x->bytes = bytes_of_value(x->t, v, &x->size);
}

/* The program's words; 0: there are none. */
static size_t words_of(struct trc *t, const struct trc_call *c, char *text, size_t room)
{
    struct saying x = {.t = t};
    const struct walk_visitor v = {.value = on_saying, .ctx = &x};

    if (!(c->m->flags & API_SAYS) || !c->api->said)
        return 0;
    walk_args(c, &v);
    return x.bytes ? c->api->said(x.kind, x.bytes, x.size, text, room) : 0;
}

static void show_text(struct strbuf *out, struct trc *t, const struct trc_call *c, const struct names *names)
{
    struct text p = {.out = out, .names = names, .trace = t};
    const struct walk_visitor v = {text_begin, text_end, text_value, text_null, &p};
    char words[1024];
    size_t n;

    put_num(out, c->index);
    strbuf_append(out, " @", 2);
    put_num(out, c->thread);
    strbuf_append(out, " ", 1);
    if (c->self) {
        text_object(&p, c->self);
        strbuf_append(out, ".", 1);
    }
    strbuf_puts(out, c->m->name);
    strbuf_append(out, "(", 1);
    walk_args(c, &v);
    strbuf_append(out, ")", 1);
    if ((n = words_of(t, c, words, sizeof(words)))) {
        strbuf_append(out, " ", 1);
        text_quoted(&p, words, n);
    }
    if (c->incomplete) {
        strbuf_puts(out, " did not return");
    } else if (c->m->num_out) {
        p.comma[0] = false;
        strbuf_puts(out, " -> ");
        walk_answers(c, &v);
    }
}

/* ---- JSON ---------------------------------------------------------------- */

struct json {
    struct json_writer *out;
    struct strbuf word; /* the one that is being made */
    const struct names *names;
    struct trc *trace;
};

/* Elements of arrays have no names: a pipeline stream's are the types of its parts. */
static const char *json_key(const struct json *p, const char *name)
{
    return json_write_in_array(p->out) ? NULL : name;
}

static void json_begin(void *ctx, const struct api_field *f, const char *name, bool array, uint64_t n)
{
    struct json *p = ctx;

    if (array)
        json_write_array(p->out, json_key(p, name));
    else
        json_write_object(p->out, json_key(p, name));
}

static void json_end(void *ctx, bool array)
{
    struct json *p = ctx;

    json_write_end(p->out);
}

static void json_null(void *ctx, const struct api_field *f, const char *name, bool is_null)
{
    struct json *p = ctx;

    json_write_string(p->out, json_key(p, name), is_null ? NULL : "(not recorded)");
}

/* What was put into `word` since it was cleared, as a string. */
static void json_word(struct json *p, const char *key)
{
    json_write_bytes(p->out, key, strbuf_str(&p->word), p->word.len);
}

static void json_object(struct json *p, const char *key, uint64_t id)
{
    const struct name *n = name_of(p->names, id);

    if (!id) {
        json_write_null(p->out, key);
        return;
    }
    json_write_object(p->out, key);
    json_write_unsigned(p->out, "object", id);
    if (n)
        json_write_string(p->out, "type", trc_api(p->trace)->ifaces[n->iface].name);
    if (n && n->text)
        json_write_string(p->out, "name", n->text);
    json_write_end(p->out);
}

static void json_reference(struct json *p, const char *key, const struct walk_value *v)
{
    if (v->raw || !v->u) {
        json_write_format(p->out, key, "0x%llx", (unsigned long long)v->u);
        return;
    }
    json_write_object(p->out, key);
    json_object(p, "base", v->u);
    json_write_unsigned(p->out, v->type->kind == API_KIND_VA ? "offset" : "index", v->offset);
    json_write_end(p->out);
}

static void json_bytes(struct json *p, const char *key, const struct walk_value *v)
{
    size_t size;
    const uint8_t *b = bytes_of_value(p->trace, v, &size);

    json_write_object(p->out, key);
    json_write_unsigned(p->out, "size", size);
    json_write_signed(p->out, "blob", (int64_t)v->blob - 1);
    put_head_of(&p->word, b, size);
    json_word(p, "hex");
    json_write_end(p->out);
}

static void json_iid(struct json *p, const char *key, const struct walk_value *v)
{
    const struct api_iface *iface = iface_of(p->trace, v);

    if (iface) {
        json_write_string(p->out, key, iface->name);
    } else if (v->bytes) {
        put_guid(&p->word, v->bytes);
        json_word(p, key);
    } else {
        json_write_unsigned(p->out, key, v->u);
    }
}

static void json_value(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct json *p = ctx;
    const char *key = json_key(p, name);

    strbuf_clear(&p->word);
    if (!v->type) {
        json_bytes(p, key, v);
        return;
    }
    switch (v->type->kind) {
    case API_KIND_I32:
    case API_KIND_I64:
        json_write_signed(p->out, key, (int64_t)v->u);
        break;
    case API_KIND_HRESULT:
        put_result(&p->word, (uint32_t)v->u);
        json_word(p, key);
        break;
    case API_KIND_F32:
        strbuf_float(&p->word, v->f);
        if (isfinite(v->f))
            json_write_raw(p->out, key, strbuf_str(&p->word));
        else
            json_word(p, key);
        break;
    case API_KIND_GUID:
        put_guid(&p->word, v->bytes);
        json_word(p, key);
        break;
    case API_KIND_IID:
        json_iid(p, key, v);
        break;
    case API_KIND_STR:
    case API_KIND_WSTR:
        json_write_bytes(p->out, key, v->bytes, v->size);
        break;
    case API_KIND_VA:
    case API_KIND_CPU:
    case API_KIND_GPU:
        json_reference(p, key, v);
        break;
    case API_KIND_ENUM:
        put_enum(&p->word, v->type, (uint32_t)v->u);
        json_word(p, key);
        break;
    case API_KIND_OBJECT:
        json_object(p, key, v->u);
        break;
    default:
        json_write_unsigned(p->out, key, v->u);
    }
}

void show_json(struct json_writer *out, struct trc *t, const struct trc_call *c, const struct names *names)
{
    struct json p = {.out = out, .names = names, .trace = t};
    const struct walk_visitor v = {json_begin, json_end, json_value, json_null, &p};
    char words[1024];
    size_t n;

    json_write_unsigned(out, "call", c->index);
    json_write_unsigned(out, "frame", c->frame);
    json_write_unsigned(out, "thread", c->thread);
    json_write_thousandths(out, "time_us", (int64_t)c->time_ns);
    json_write_string(out, "interface", c->m->iface);
    json_write_string(out, "method", c->m->name);
    json_object(&p, "this", c->self);
    json_write_object(out, "args");
    walk_args(c, &v);
    json_write_end(out);
    if ((n = words_of(t, c, words, sizeof(words))))
        json_write_bytes(out, "says", words, n);
    if (c->incomplete) {
        json_write_bool(out, "returned", false);
    } else if (c->m->num_out) {
        json_write_object(out, "result");
        walk_answers(c, &v);
        json_write_end(out);
    }
    strbuf_finish(&p.word);
}

void show_call(struct strbuf *out, enum show_form form, struct trc *t, const struct trc_call *c,
               const struct names *names)
{
    struct json_writer w = json_writer_text(out);

    if (form == SHOW_TEXT) {
        show_text(out, t, c, names);
        return;
    }
    json_write_object(&w, NULL);
    show_json(&w, t, c, names);
    json_write_end(&w);
}

const char *api_short_name(const struct api *api, uint16_t iface)
{
    const char *name = api->ifaces[iface].name;
    size_t n = strlen(api->prefix);

    return strncmp(name, api->prefix, n) ? name : name + n;
}

static const char *fate(const struct api_method *m)
{
    if (m->flags & API_REFUSE)
        return "recorded, cannot be played";
    return m->flags & API_QUERY ? "recorded, asks only: not played" : "recorded and played";
}

void show_methods(struct strbuf *out, const struct api *api, bool markdown)
{
    if (markdown)
        strbuf_printf(
            out,
            "# %s: every method, and what becomes of it\n\n"
            "Made from the tables of this program. Calls that are recorded but cannot be played stop the player, which "
            "names them.\n\n| interface | method | |\n|---|---|---|\n",
            api->name);
    for (uint16_t i = 0; i < api->num_ifaces; i++) {
        const struct api_iface *f = &api->ifaces[i];

        if (f->skip)
            strbuf_printf(out, markdown ? "| %s | all | not recorded: %s |\n" : "%s * not recorded: %s\n",
                          f->name, f->skip);
        for (uint32_t k = 1; k < api->num_methods && !f->skip; k++)
            if (api->methods[k].name && api->methods[k].iface_index == i)
                strbuf_printf(out, markdown ? "| %s | %s | %s |\n" : "%s %s %s\n", f->name,
                              api->methods[k].name, fate(&api->methods[k]));
    }
}

/* ---- bytes --------------------------------------------------------------- */

struct dumping {
    struct strbuf *out;
    enum show_form form;
    struct trc *t;
};

static void hexdump(struct strbuf *out, const uint8_t *p, size_t n)
{
    for (size_t at = 0; at < n; at += 16) {
        size_t row = n - at < 16 ? n - at : 16;

        strbuf_printf(out, "%08zx ", at);
        for (size_t i = 0; i < 16; i++)
            if (i < row)
                strbuf_printf(out, " %02x", p[at + i]);
            else
                strbuf_puts(out, "   ");
        strbuf_puts(out, "  ");
        for (size_t i = 0; i < row; i++)
            strbuf_append(out, p[at + i] >= 0x20 && p[at + i] < 0x7f ? (const char *)&p[at + i] : ".", 1);
        strbuf_puts(out, "\n");
    }
}

static void json_bytes_line(struct strbuf *out, const char *name, const uint8_t *p, size_t n)
{
    struct json_writer w = json_writer_text(out);
    struct strbuf hex = {0};

    for (size_t i = 0; i < n; i++)
        strbuf_printf(&hex, "%02x", p[i]);
    json_write_object(&w, NULL);
    json_write_string(&w, "name", name);
    json_write_unsigned(&w, "size", n);
    json_write_bytes(&w, "hex", strbuf_str(&hex), hex.len);
    json_write_end(&w);
    strbuf_puts(out, "\n");
    out->failed = out->failed || strbuf_failed(&hex);
    strbuf_finish(&hex);
}

static void on_bytes(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct dumping *x = ctx;
    const void *p = v->bytes;
    size_t size = v->size;

    if (v->type)
        return;
    if (v->blob)
        p = trc_blob(x->t, v->blob - 1, &size, NULL);
    if (!p)
        return;
    if (x->form == SHOW_JSON) {
        json_bytes_line(x->out, name, p, size);
        return;
    }
    strbuf_printf(x->out, "%s: %zu bytes\n", name ? name : "", size);
    hexdump(x->out, p, size);
}

int show_bytes(struct strbuf *out, enum show_form form, struct trc *t, uint64_t index, struct error *e)
{
    struct dumping x = {out, form, t};
    struct walk_visitor v = {.value = on_bytes, .ctx = &x};
    struct trc_call c;
    int got;

    trc_rewind(t);
    while ((got = trc_next(t, &c, e)) > 0 && c.index < index)
        ;
    if (got > 0)
        walk_call(&c, &v);
    trc_rewind(t);
    return got < 0 ? got
           : got   ? 0
                   : error_set(e, -ENOENT, "there is no call %llu", (unsigned long long)index);
}
