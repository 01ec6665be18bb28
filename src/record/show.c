/* SPDX-License-Identifier: MIT */
/* show.c: one visitor, two forms: text as a C programmer would write the call, JSON for other programs. */
#include "record/show.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record/walk.h"

#define MAX_DEPTH 32

struct printer {
    struct strbuf *out;
    enum show_form form;
    const struct names *names;
    struct trc *trace;
    int depth;
    bool comma[MAX_DEPTH];
    bool in_array[MAX_DEPTH];
};

static void put_num(struct strbuf *b, uint64_t v)
{
    char s[24], *p = s + sizeof(s);

    do {
        *--p = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    strbuf_append(b, p, (size_t)(s + sizeof(s) - p));
}

static void put_signed(struct strbuf *b, int64_t v)
{
    if (v < 0) {
        strbuf_append(b, "-", 1);
        put_num(b, 0 - (uint64_t)v);
    } else {
        put_num(b, (uint64_t)v);
    }
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

static void put_code(struct printer *p, uint32_t v)
{
    if (p->form == SHOW_JSON)
        strbuf_append(p->out, "\"", 1);
    put_hex(p->out, v); /* failures have their top bit set: eight digits */
    if (p->form == SHOW_JSON)
        strbuf_append(p->out, "\"", 1);
}

static void put_text(struct strbuf *b, const char *s, size_t n)
{
    strbuf_append(b, "\"", 1);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c == '"' || c == '\\')
            strbuf_printf(b, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            strbuf_printf(b, "\\u%04x", c);
        else
            strbuf_append(b, s + i, 1);
    }
    strbuf_append(b, "\"", 1);
}

static void key(struct printer *p, const char *name)
{
    if (p->comma[p->depth])
        strbuf_append(p->out, ", ", 2);
    p->comma[p->depth] = true;
    if (!name || p->in_array[p->depth])
        return;
    if (p->form == SHOW_JSON) {
        strbuf_append(p->out, "\"", 1);
        strbuf_puts(p->out, name);
        strbuf_append(p->out, "\": ", 3);
    } else {
        strbuf_puts(p->out, name);
        strbuf_append(p->out, "=", 1);
    }
}

static void begin(void *ctx, const struct api_field *f, const char *name, bool array, uint64_t n)
{
    struct printer *p = ctx;

    key(p, name);
    strbuf_append(p->out, array ? "[" : "{", 1);
    if (p->depth + 1 < MAX_DEPTH)
        p->depth++;
    p->comma[p->depth] = false;
    /* a pipeline stream names its subobjects' types: in JSON as values of objects with one key would nest too deep */
    p->in_array[p->depth] = array;
}

static void end(void *ctx, bool array)
{
    struct printer *p = ctx;

    if (p->depth)
        p->depth--;
    strbuf_append(p->out, array ? "]" : "}", 1);
}

static void null(void *ctx, const struct api_field *f, const char *name, bool is_null)
{
    struct printer *p = ctx;

    key(p, name);
    strbuf_puts(p->out, is_null ? (p->form == SHOW_JSON ? "null" : "NULL")
                                : (p->form == SHOW_JSON ? "\"(not recorded)\"" : "(not recorded)"));
}

static void put_object(struct printer *p, uint64_t id)
{
    const struct name *n = id <= UINT32_MAX ? names_get(p->names, (uint32_t)id) : NULL;

    if (!id) {
        strbuf_puts(p->out, p->form == SHOW_JSON ? "null" : "NULL");
        return;
    }
    if (p->form == SHOW_JSON) {
        strbuf_printf(p->out, "{\"object\": %llu", (unsigned long long)id);
        if (n) {
            strbuf_printf(p->out, ", \"type\": \"%s\"", trc_api(p->trace)->ifaces[n->iface].name);
            if (n->text) {
                strbuf_puts(p->out, ", \"name\": ");
                put_text(p->out, n->text, strlen(n->text));
            }
        }
        strbuf_append(p->out, "}", 1);
        return;
    }
    if (id == 1) {
        strbuf_puts(p->out, "unknown-object");
        return;
    }
    if (n)
        strbuf_puts(p->out, api_short_name(trc_api(p->trace), n->iface));
    strbuf_append(p->out, "#", 1);
    put_num(p->out, id);
    if (n && n->text)
        put_text(p->out, n->text, strlen(n->text));
}

static void put_enum(struct printer *p, const struct api_type *t, uint32_t v)
{
    uint32_t rest = v;
    bool any = false;

    for (uint32_t i = 0; i < t->num_values; i++)
        if (t->values[i].value == v) {
            if (p->form == SHOW_JSON)
                strbuf_append(p->out, "\"", 1);
            strbuf_puts(p->out, t->values[i].name);
            if (p->form == SHOW_JSON)
                strbuf_append(p->out, "\"", 1);
            return;
        }
    if (p->form == SHOW_JSON)
        strbuf_append(p->out, "\"", 1);
    for (uint32_t i = 0; t->num_fields && i < t->num_values && rest; i++) {
        uint32_t bit = t->values[i].value;

        if (!bit || bit & (bit - 1) || !(rest & bit))
            continue;
        if (any)
            strbuf_append(p->out, " | ", 3);
        strbuf_puts(p->out, t->values[i].name);
        rest &= ~bit;
        any = true;
    }
    if (rest || !any) {
        if (any)
            strbuf_append(p->out, " | ", 3);
        put_hex(p->out, rest);
    }
    if (p->form == SHOW_JSON)
        strbuf_append(p->out, "\"", 1);
}

static void put_guid(struct printer *p, const uint8_t *g)
{
    /* the first three numbers are little-endian, the rest is a row of bytes; -1 stands for a hyphen */
    static const int8_t order[] = {3, 2, 1, 0, -1, 5, 4, -1, 7, 6, -1, 8, 9, -1, 10, 11, 12, 13, 14, 15};
    char s[40], *at = s;

    if (p->form == SHOW_JSON)
        *at++ = '"';
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
    if (p->form == SHOW_JSON)
        *at++ = '"';
    strbuf_append(p->out, s, (size_t)(at - s));
}

static void put_iid(struct printer *p, uint16_t iface)
{
    strbuf_puts(p->out, p->form == SHOW_JSON ? "\"" : "IID_");
    strbuf_puts(p->out, trc_api(p->trace)->ifaces[iface].name);
    if (p->form == SHOW_JSON)
        strbuf_append(p->out, "\"", 1);
}

static void put_reference(struct printer *p, const struct walk_value *v)
{
    if (p->form == SHOW_JSON) {
        if (v->raw || !v->u) {
            strbuf_printf(p->out, "\"0x%llx\"", (unsigned long long)v->u);
            return;
        }
        strbuf_puts(p->out, "{\"base\": ");
        put_object(p, v->u);
        strbuf_printf(p->out, ", \"%s\": %llu}", v->type->kind == API_KIND_VA ? "offset" : "index",
                      (unsigned long long)v->offset);
        return;
    }
    if (v->raw || !v->u) {
        put_hex(p->out, v->u);
        return;
    }
    put_object(p, v->u);
    strbuf_append(p->out, v->type->kind == API_KIND_VA ? "+" : "[", 1);
    if (v->type->kind == API_KIND_VA) {
        put_hex(p->out, v->offset);
    } else {
        put_num(p->out, v->offset);
        strbuf_append(p->out, "]", 1);
    }
}

static void put_bytes(struct printer *p, const struct walk_value *v)
{
    const uint8_t *b = v->bytes;
    size_t size = v->size;

    if (v->blob) {
        b = trc_blob(p->trace, v->blob - 1, &size, NULL);
        if (!b)
            size = 0;
    }
    if (p->form == SHOW_JSON)
        strbuf_printf(p->out, "{\"size\": %zu, \"blob\": %lld, \"hex\": \"", size, (long long)v->blob - 1);
    else
        strbuf_printf(p->out, "%zu bytes", size);
    if (p->form != SHOW_JSON && size)
        strbuf_append(p->out, " ", 1);
    for (size_t i = 0; b && i < size && i < 32; i++) {
        char hex[2] = {"0123456789abcdef"[b[i] >> 4], "0123456789abcdef"[b[i] & 15]};

        strbuf_append(p->out, hex, 2);
    }
    if (size > 32)
        strbuf_puts(p->out, "...");
    if (p->form == SHOW_JSON)
        strbuf_puts(p->out, "\"}");
}

static void value(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct printer *p = ctx;
    bool json = p->form == SHOW_JSON;

    key(p, name);
    if (!v->type) {
        put_bytes(p, v);
        return;
    }
    switch (v->type->kind) {
    case API_KIND_I32:
    case API_KIND_I64:
        put_signed(p->out, (int64_t)v->u);
        break;
    case API_KIND_HRESULT:
        if (!v->u)
            strbuf_puts(p->out, json ? "\"S_OK\"" : "S_OK");
        else
            put_code(p, (uint32_t)v->u);
        break;
    case API_KIND_F32:
        if (!json || isfinite(v->f))
            strbuf_float(p->out, v->f);
        else
            strbuf_printf(p->out, "\"%g\"", (double)v->f);
        break;
    case API_KIND_GUID:
        put_guid(p, v->bytes);
        break;
    case API_KIND_IID:
        if (v->u && v->u <= trc_api(p->trace)->num_ifaces)
            put_iid(p, (uint16_t)(v->u - 1));
        else if (v->bytes)
            put_guid(p, v->bytes);
        else
            put_num(p->out, v->u);
        break;
    case API_KIND_STR:
    case API_KIND_WSTR:
        if (v->bytes)
            put_text(p->out, v->bytes, v->size);
        else
            strbuf_puts(p->out, json ? "null" : "NULL");
        break;
    case API_KIND_VA:
    case API_KIND_CPU:
    case API_KIND_GPU:
        put_reference(p, v);
        break;
    case API_KIND_ENUM:
        put_enum(p, v->type, (uint32_t)v->u);
        break;
    case API_KIND_OBJECT:
        put_object(p, v->u);
        break;
    case API_KIND_HANDLE:
        if (json || !v->u) {
            put_num(p->out, v->u);
        } else {
            strbuf_puts(p->out, "event#");
            put_num(p->out, v->u);
        }
        break;
    default:
        put_num(p->out, v->u);
    }
}

void show_call(struct strbuf *out, enum show_form form, struct trc *t, const struct trc_call *c,
               const struct names *names)
{
    const struct api_method *m = c->m;
    struct printer p = {.out = out, .form = form, .names = names, .trace = t};
    struct walk_visitor v = {begin, end, value, null, &p};
    bool json = form == SHOW_JSON;

    if (json) {
        strbuf_printf(
            out,
            "{\"call\": %llu, \"frame\": %u, \"thread\": %u, \"time_us\": %.3f, \"interface\": \"%s\", "
            "\"method\": \"%s\", \"this\": ",
            (unsigned long long)c->index, c->frame, c->thread, (double)c->time_ns / 1e3, m->iface, m->name);
        put_object(&p, c->self);
        strbuf_puts(out, ", \"args\": {");
    } else {
        put_num(out, c->index);
        strbuf_append(out, " @", 2);
        put_num(out, c->thread);
        strbuf_append(out, " ", 1);
        if (c->self) {
            put_object(&p, c->self);
            strbuf_append(out, ".", 1);
        }
        strbuf_puts(out, m->name);
        strbuf_append(out, "(", 1);
    }
    walk_args(c, &v);
    strbuf_append(out, json ? "}" : ")", 1);
    if (c->incomplete) {
        strbuf_puts(out, json ? ", \"returned\": false" : " did not return");
    } else if (m->num_out) {
        p.comma[0] = false;
        strbuf_puts(out, json ? ", \"result\": {" : " -> ");
        walk_answers(c, &v);
        if (json)
            strbuf_append(out, "}", 1);
    }
    if (json)
        strbuf_append(out, "}", 1);
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
    strbuf_printf(x->out, "%s: %zu bytes\n", name ? name : "", size);
    hexdump(x->out, p, size);
}

int show_bytes(struct strbuf *out, struct trc *t, uint64_t index, struct error *e)
{
    struct dumping x = {out, t};
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
