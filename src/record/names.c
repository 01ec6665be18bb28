/* SPDX-License-Identifier: MIT */
#include "record/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/walk.h"

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
            p[i] = (struct name){.iface = API_IFACE_UNKNOWN, .died = UINT64_MAX};
        n->of = p;
        n->num = num;
    }
    return &n->of[id];
}

struct follow {
    struct names *n;
    const struct trc_call *c;
    uint32_t iid; /* interface asked for, or API_IFACE_UNKNOWN */
    const void *text;
    size_t text_size;
    int64_t ret;
};

static void on_value(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct follow *x = ctx;

    if (!v->type)
        return;
    if (v->type->kind == API_KIND_IID) {
        x->iid = v->u && v->u <= x->c->api->num_ifaces ? (uint32_t)v->u - 1 : API_IFACE_UNKNOWN;
    } else if (v->type->kind == API_KIND_WSTR || v->type->kind == API_KIND_STR) {
        x->text = v->bytes;
        x->text_size = v->size;
    } else if (v->type->kind == API_KIND_HRESULT || v->type->kind == API_KIND_U32) {
        x->ret = (int64_t)v->u;
    }
}

static void on_new(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct follow *x = ctx;
    uint16_t iface;
    struct name *o;

    if (!v->type) /* a byte block */
        return;
    if (v->type->kind != API_KIND_OBJECT) {
        on_value(ctx, f, name, v);
        return;
    }
    if (v->u < 2 || v->u > UINT32_MAX)
        return;
    o = reach(x->n, (uint32_t)v->u, x->c->index);
    if (!o)
        return;
    iface = v->type->iface;
    if (x->iid != API_IFACE_UNKNOWN && !api_iface_is(x->c->api, iface, (uint16_t)x->iid))
        iface = (uint16_t)x->iid;
    if (o->iface == API_IFACE_UNKNOWN) {
        o->born = x->c->index;
        o->iface = iface;
    } else if (api_iface_is(x->c->api, iface, o->iface)) {
        o->iface = iface;
    }
}

static bool creates(const struct api_method *m)
{
    for (uint32_t i = 0; i < m->num_out; i++)
        if (m->out[i].mode == API_MODE_VALUE && m->out[i].type->kind == API_KIND_OBJECT)
            return true;
    return false;
}

int names_follow(struct names *n, const struct trc_call *c)
{
    struct follow x = {.n = n, .c = c, .iid = API_IFACE_UNKNOWN};
    struct walk_visitor v = {.value = on_value, .ctx = &x};
    bool named = c->m->flags & API_NAMES, released = c->m->flags & API_ENDS;
    struct name *o;

    if (c->incomplete || (!named && !released && !creates(c->m)))
        return 0;
    walk_args(c, &v);
    v.value = on_new;
    walk_answers(c, &v);
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

struct mentioned {
    struct id_list *l;
    int err;
};

static bool refers(const struct walk_value *v)
{
    return v->type && !v->raw &&
           (v->type->kind == API_KIND_OBJECT || v->type->kind == API_KIND_CPU ||
            v->type->kind == API_KIND_GPU || v->type->kind == API_KIND_VA);
}

static void on_mention(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct mention *m = ctx;

    if (refers(v) && v->u == m->id)
        m->found = true;
}

bool names_mentions(const struct trc_call *c, uint32_t id)
{
    struct mention m = {.id = id, .found = c->self == id};
    struct walk_visitor v = {.value = on_mention, .ctx = &m};

    walk_call(c, &v);
    return m.found;
}

static void on_mentioned(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct mentioned *m = ctx;

    if (!refers(v) || v->u < 2 || v->u > NAMES_MAX_ID || m->err)
        return;
    if (!(m->err = array_reserve(m->l->ids, m->l->room, m->l->num + 1)))
        m->l->ids[m->l->num++] = (uint32_t)v->u;
}

int names_mentioned(const struct trc_call *c, bool answers, struct id_list *l)
{
    struct mentioned m = {l, 0};
    struct walk_visitor v = {.value = on_mentioned, .ctx = &m};

    l->num = 0;
    (answers ? walk_answers : walk_args)(c, &v);
    return m.err;
}

const struct name *names_get(const struct names *n, uint32_t id)
{
    return n && id < n->num && n->of[id].iface != API_IFACE_UNKNOWN ? &n->of[id] : NULL;
}

void names_finish(struct names *n)
{
    for (uint32_t i = 0; i < n->num; i++)
        free(n->of[i].text);
    free(n->of);
    *n = (struct names){0};
}
