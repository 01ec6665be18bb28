#include "d3d12/view/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "d3d12/view/walk.h"
#include "d3d12_api.h"

/* Numbers count up with the objects that are made: one far beyond the calls so far is no number of a recorder. */
#define ID_LIMIT(calls) (65536 + 16 * (calls))

static struct name *reach(struct names *n, uint32_t id, uint64_t calls)
{
    if (id >= ID_LIMIT(calls))
        return NULL;
    if (id >= n->num) {
        uint32_t num = n->num ? n->num : 256;
        struct name *p;

        while (num <= id)
            num *= 2;
        p = realloc(n->of, num * sizeof(*p));
        if (!p)
            return NULL;
        for (uint32_t i = n->num; i < num; i++)
            p[i] = (struct name){.iface = 0xffff, .died = UINT64_MAX};
        n->of = p;
        n->num = num;
    }
    return &n->of[id];
}

struct follow {
    struct names *n;
    const struct trc_call *c;
    uint32_t iid; /* interface asked for, or 0xffff */
    const void *text;
    size_t text_size;
    int64_t ret;
};

static void on_value(void *ctx, const struct d12_field *f, const char *name, const struct walk_value *v)
{
    struct follow *x = ctx;

    if (!v->type)
        return;
    if (v->type->kind == D12_KIND_IID) {
        x->iid = v->u && v->u <= D12_NUM_IFACES ? (uint32_t)v->u - 1 : 0xffff;
    } else if (v->type->kind == D12_KIND_WSTR) {
        x->text = v->bytes;
        x->text_size = v->size;
    } else if (v->type->kind == D12_KIND_HRESULT || v->type->kind == D12_KIND_U32) {
        x->ret = (int64_t)v->u;
    }
}

static void on_new(void *ctx, const struct d12_field *f, const char *name, const struct walk_value *v)
{
    struct follow *x = ctx;
    uint16_t iface;
    struct name *o;

    if (!v->type) /* a byte block */
        return;
    if (v->type->kind != D12_KIND_OBJECT) {
        on_value(ctx, f, name, v);
        return;
    }
    if (v->u < 2 || v->u > UINT32_MAX)
        return;
    o = reach(x->n, (uint32_t)v->u, x->c->index);
    if (!o)
        return;
    iface = v->type->iface;
    if (x->iid != 0xffff && !d12_iface_is(iface, (uint16_t)x->iid))
        iface = (uint16_t)x->iid;
    if (o->iface == 0xffff) {
        o->born = x->c->index;
        o->iface = iface;
    } else if (d12_iface_is(iface, o->iface)) {
        o->iface = iface;
    }
}

static void nothing_begin(void *ctx, const struct d12_field *f, const char *name, bool array, uint64_t n)
{
}

static void nothing_end(void *ctx, bool array)
{
}

static void nothing_null(void *ctx, const struct d12_field *f, const char *name, bool is_null)
{
}

static bool creates(const struct d12_method_info *m)
{
    for (uint32_t i = 0; i < m->num_out; i++)
        if (m->out[i].mode == D12_MODE_VALUE && d12_types[m->out[i].type].kind == D12_KIND_OBJECT)
            return true;
    return false;
}

int names_follow(struct names *n, const struct trc_call *c)
{
    const struct d12_method_info *m = &d12_methods[c->method];
    struct follow x = {.n = n, .c = c, .iid = 0xffff};
    struct walk_visitor v = {nothing_begin, nothing_end, on_value, nothing_null, &x};
    bool named = c->method == D12_ID3D12Object_SetName, released = c->method == D12_IUnknown_Release;
    struct bytes in = bytes_of(c->args, c->size);
    struct name *o;

    if (c->incomplete || (!named && !released && !creates(m)))
        return 0;
    walk_fields(&in, m->in, m->num_in, &v);
    v.value = on_new;
    walk_fields(&in, m->out, m->num_out, &v);
    if ((!named && !released) || c->self < 2 || !(o = reach(n, c->self, c->index)))
        return 0;
    if (released && !x.ret)
        o->died = c->index;
    if (named && x.text) {
        char *s = strndup(x.text, x.text_size);

        if (!s)
            return -ENOMEM;
        free(o->text);
        o->text = s;
    }
    return 0;
}

int names_read(struct names *n, struct trc *t, struct error *e)
{
    struct trc_call c;
    struct error bad = {0};
    int got;

    while ((got = trc_next(t, &c, &bad)) > 0)
        if (names_follow(n, &c))
            return error_set(e, -ENOMEM, "out of memory");
    trc_rewind(t);
    return 0;
}

struct mention {
    uint32_t id;
    bool found;
};

static void on_mention(void *ctx, const struct d12_field *f, const char *name, const struct walk_value *v)
{
    struct mention *m = ctx;

    if (v->type && !v->raw && v->u == m->id &&
        (v->type->kind == D12_KIND_OBJECT || v->type->kind == D12_KIND_CPU || v->type->kind == D12_KIND_GPU ||
         v->type->kind == D12_KIND_VA))
        m->found = true;
}

bool names_mentions(const struct trc_call *c, uint32_t id)
{
    const struct d12_method_info *info = &d12_methods[c->method];
    struct mention m = {.id = id, .found = c->self == id};
    struct walk_visitor v = {nothing_begin, nothing_end, on_mention, nothing_null, &m};
    struct bytes in = bytes_of(c->args, c->size);

    walk_fields(&in, info->in, info->num_in, &v);
    if (!c->incomplete && !c->repeated)
        walk_fields(&in, info->out, info->num_out, &v);
    return m.found;
}

const struct name *names_get(const struct names *n, uint32_t id)
{
    return n && id < n->num && n->of[id].iface != 0xffff ? &n->of[id] : NULL;
}

void names_finish(struct names *n)
{
    for (uint32_t i = 0; i < n->num; i++)
        free(n->of[i].text);
    free(n->of);
    *n = (struct names){0};
}
