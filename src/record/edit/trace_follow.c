/* SPDX-License-Identifier: MIT */
/* trace_follow.c: walks over the calls in front of a point and remembers those whose effect is still there at it.
 *
 * Invariants:
 *  1. A place is defined by one call, also when it came by copying: copies are followed, not repeated.
 *  2. Of what is recorded first and executed later, only the calls since it was last begun are kept.
 *  3. References are counted, not repeated: an object that is alive gets as many as the program held.
 *  4. What a kept call mentions is kept, also if it is gone at the point; it then goes again.
 */
#include "record/edit/trace_follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "record/walk.h"

#define NONE SIZE_MAX

/* ---- objects ------------------------------------------------------------- */

struct follow_object *follow_object(struct trc_follow *s, uint32_t id)
{
    return id < s->num_objects && s->objects[id].iface != API_IFACE_UNKNOWN ? &s->objects[id] : NULL;
}

static struct follow_object *make_object(struct trc_follow *s, uint32_t id)
{
    if (id >= s->num_objects) {
        uint32_t n = s->num_objects ? s->num_objects : 256;
        struct follow_object *p;

        while (n <= id)
            n *= 2;
        p = realloc(s->objects, n * sizeof(*p));
        if (!p)
            return NULL;
        for (uint32_t i = s->num_objects; i < n; i++)
            p[i] = (struct follow_object){.iface = API_IFACE_UNKNOWN};
        s->objects = p;
        s->num_objects = n;
    }
    return &s->objects[id];
}

/* ---- calls --------------------------------------------------------------- */

/* Copies what is the caller's; NULL without memory. */
static void *copy_of(const void *bytes, size_t size)
{
    void *p = malloc(size ? size : 1);

    if (p && size)
        memcpy(p, bytes, size);
    return p;
}

static size_t remember(struct trc_follow *s, const struct trc_call *c, enum follow_stage stage)
{
    bool again = stage != FOLLOW_MAKE && s->num_spare;
    size_t at = again ? s->spare[s->num_spare - 1] : s->num;
    struct follow_call *t;

    if (names_mentioned(c, false, &s->ids) || (!again && array_reserve(s->calls, s->room, s->num + 1))) {
        s->failed = true;
        return NONE;
    }
    t = &s->calls[at];
    *t = (struct follow_call){.call = *c, .stage = (uint8_t)stage, .num_refs = (uint32_t)s->ids.num};
    t->call.args = copy_of(c->args, c->size);
    t->refs = copy_of(s->ids.ids, s->ids.num * sizeof(*t->refs));
    if (!t->call.args || !t->refs) {
        free((void *)t->call.args);
        free(t->refs);
        *t = (struct follow_call){.gone = true};
        s->failed = true;
        return NONE;
    }
    if (again)
        s->num_spare--;
    else
        s->num++;
    return at;
}

static void drop(struct trc_follow *s, size_t i)
{
    struct follow_call *t = &s->calls[i];

    free((void *)t->call.args);
    free(t->refs);
    t->call.args = NULL;
    t->refs = NULL;
    t->num_refs = 0;
    t->gone = true;
    if (!array_reserve(s->spare, s->room_spare, s->num_spare + 1))
        s->spare[s->num_spare++] = i;
}

/* Whether the API says that the call failed. */
static bool has_failed(const struct trc_call *c)
{
    struct bytes in = bytes_of(c->args + c->args_size, c->size - c->args_size);
    const struct api_field *f = c->m->out;

    return c->m->num_out && f->mode == API_MODE_VALUE && f->type->kind == API_KIND_HRESULT &&
           unzigzag(bytes_varint(&in)) < 0;
}

/* ---- places -------------------------------------------------------------- */

static void define(struct trc_follow *s, uint64_t place, size_t call)
{
    size_t num = s->places.num;
    uint64_t *v = map_put(&s->places, place);

    if (!v) {
        s->failed = true;
        return;
    }
    if (call != NONE)
        s->calls[call].uses++;
    if (s->places.num == num && *v != NONE && !--s->calls[*v].uses)
        drop(s, *v);
    *v = call;
}

static size_t definition(const struct trc_follow *s, uint64_t place)
{
    const uint64_t *v = map_find(&s->places, place);

    return v ? *v : NONE;
}

enum { MOST_PLACES = 1 << 20 }; /* in a row: no object has more */

struct span {
    uint64_t start;
    uint32_t size;
};

struct copy { /* the arguments of a copy: 0 where to, 1 where from */
    struct span *span[2];
    size_t num[2], room[2], sizes;
    const struct api_field *field; /* of the last places */
    int group;                     /* which they are; -1: none yet */
    uint32_t count;
    bool failed;
};

static void on_copy(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct copy *x = ctx;
    int g;

    if (!v->type || x->failed)
        return;
    if (v->type->kind == API_KIND_CPU) {
        if (f != x->field && x->group < 1) {
            x->field = f;
            x->group++;
            x->sizes = 0;
        }
        g = x->group;
        if (array_reserve(x->span[g], x->room[g], x->num[g] + 1))
            x->failed = true;
        else
            x->span[g][x->num[g]++] = (struct span){v->raw ? 0 : follow_place(v->u, v->offset),
                                                    f->mode == API_MODE_VALUE ? x->count : 1};
    } else if (f->mode == API_MODE_ARRAY && x->group >= 0) {
        g = x->group;
        if (x->sizes < x->num[g])
            x->span[g][x->sizes++].size = v->u < MOST_PLACES ? (uint32_t)v->u : MOST_PLACES;
    } else if (f->mode == API_MODE_VALUE) {
        x->count = v->u < MOST_PLACES ? (uint32_t)v->u : MOST_PLACES;
    }
}

static void copy_places(struct trc_follow *s, const struct trc_call *c)
{
    struct copy x = {.group = -1};
    struct walk_visitor v = {.value = on_copy, .ctx = &x};
    size_t span[2] = {0, 0};
    uint32_t at[2] = {0, 0};

    walk_args(c, &v);
    while (span[0] < x.num[0] && span[1] < x.num[1] && !x.failed) {
        const struct span *to = &x.span[0][span[0]], *from = &x.span[1][span[1]];

        if (to->start >> 32 && to->size && from->size)
            define(s, to->start + at[0], from->start >> 32 ? definition(s, from->start + at[1]) : NONE);
        for (int k = 0; k < 2; k++)
            if (++at[k] >= x.span[k][span[k]].size) {
                at[k] = 0;
                span[k]++;
            }
    }
    s->failed |= x.failed;
    free(x.span[0]);
    free(x.span[1]);
}

static void on_last_place(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    if (v->type && v->type->kind == API_KIND_CPU)
        *(uint64_t *)ctx = v->raw ? 0 : follow_place(v->u, v->offset);
}

static void define_place(struct trc_follow *s, const struct trc_call *c)
{
    uint64_t place = 0;
    struct walk_visitor v = {.value = on_last_place, .ctx = &place};
    size_t i;

    walk_args(c, &v);
    if (place >> 32 && (i = remember(s, c, FOLLOW_DEFINE)) != NONE)
        define(s, place, i);
}

/* ---- lists, memory, states ----------------------------------------------- */

static void list_call(struct trc_follow *s, const struct trc_call *c)
{
    struct follow_object *o = follow_object(s, c->self);
    size_t i;

    if (!o)
        return;
    if (c->m->flags & API_AFRESH) {
        for (size_t k = 0; k < o->num_list; k++)
            drop(s, o->list[k]);
        o->num_list = 0;
    }
    i = remember(s, c, FOLLOW_LIST);
    if (i != NONE && !array_reserve(o->list, o->room_list, o->num_list + 1))
        o->list[o->num_list++] = i;
    else
        s->failed = true;
}

static void map_call(struct trc_follow *s, const struct trc_call *c)
{
    struct follow_object *o = follow_object(s, c->self);

    if (!o)
        return;
    if (!(c->m->flags & API_UNMAPS)) {
        if (!o->maps++)
            o->map_call = remember(s, c, FOLLOW_MAP);
    } else if (o->maps > 0) {
        o->maps--;
    }
}

struct nth {
    const struct api_field *f;
    uint64_t u;
};

static void on_nth(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct nth *x = ctx;

    if (f == x->f)
        x->u = v->u;
}

/* What of the API's state the call sets or ends: kind and what it is of. 0: nothing. */
static uint64_t state_of(const struct trc_call *c)
{
    const struct api_method *m = c->m;
    struct nth x = {.f = m->state_of ? &m->in[m->state_of - 1] : NULL, .u = c->self};
    struct walk_visitor v = {.value = on_nth, .ctx = &x};

    if (!m->state)
        return 0;
    if (x.f) {
        x.u = 0;
        walk_args(c, &v);
    }
    return x.u && x.u < (uint64_t)1 << 40 ? (uint64_t)m->state << 56 | x.u : 0;
}

/* What was asked of an object: the answer stays the same. */
static uint64_t question(const struct trc_call *c)
{
    return (uint64_t)1 << 48 | (uint64_t)c->method << 32 | c->self;
}

static void state_call(struct trc_follow *s, const struct trc_call *c)
{
    uint64_t key = state_of(c), *v = key ? map_find(&s->states, key) : NULL;
    size_t i;

    if (!key)
        return;
    if (v) {
        drop(s, *v);
        map_remove(&s->states, key);
    }
    if (!(c->m->flags & API_SETS) || (i = remember(s, c, FOLLOW_STATE)) == NONE)
        return;
    if ((v = map_put(&s->states, key)))
        *v = i;
    else
        s->failed = true;
}

static void once_call(struct trc_follow *s, const struct trc_call *c)
{
    if (!follow_object(s, c->self) || map_find(&s->states, question(c)))
        return;
    remember(s, c, FOLLOW_MAKE);
    if (!map_put(&s->states, question(c)))
        s->failed = true;
}

static void reference_call(struct trc_follow *s, const struct trc_call *c)
{
    struct follow_object *o = follow_object(s, c->self);
    struct bytes in = bytes_of(c->args + c->args_size, c->size - c->args_size);

    if (!o)
        return;
    if (c->m->flags & API_KEEPS) {
        o->refs++;
        return;
    }
    o->refs--;
    if (!bytes_varint(&in))
        o->dead = true;
}

/* A call that answers with objects. Those that are there already get a reference more. */
static void making_call(struct trc_follow *s, const struct trc_call *c)
{
    const struct api_method *m = c->m;
    bool fresh = !follow_object(s, s->made.ids[0]);
    size_t at = fresh || m->flags & API_CASTS ? remember(s, c, FOLLOW_MAKE) : NONE;

    for (size_t k = 0; k < s->made.num; k++) {
        struct follow_object *o = make_object(s, s->made.ids[k]);

        if (!o) {
            s->failed = true;
            return;
        }
        o->refs++;
        if (o->iface != API_IFACE_UNKNOWN)
            continue;
        o->iface = 0;
        for (uint32_t f = 0; f < m->num_out; f++)
            if (m->out[f].type && m->out[f].type->kind == API_KIND_OBJECT)
                o->iface = m->out[f].type->iface;
        if (at != NONE) {
            s->calls[at].made = s->made.ids[k];
            o->maker = (uint32_t)at + 1;
        }
    }
}

static void follow_check(const struct trc_follow *s)
{
    INVARIANT(s->num <= s->room);
    INVARIANT(s->num_spare <= s->room_spare && s->num_spare <= s->num);
    INVARIANT(!s->num_spare || s->calls[s->spare[s->num_spare - 1]].gone);
    INVARIANT(!s->num_objects || s->objects);
}

void follow_call(struct trc_follow *s, const struct trc_call *c)
{
    uint32_t flags = c->m->flags;

    follow_check(s);
    if (c->incomplete || s->failed || (!(flags & API_LIST) && has_failed(c)))
        return;
    if (names_mentioned(c, true, &s->made))
        s->failed = true;
    else if (flags & API_LIST)
        list_call(s, c);
    else if (flags & API_DEFINES)
        define_place(s, c);
    else if (flags & API_COPIES)
        copy_places(s, c);
    else if (flags & (API_MAPS | API_UNMAPS))
        map_call(s, c);
    else if (flags & (API_KEEPS | API_ENDS))
        reference_call(s, c);
    else if (flags & (API_SETS | API_CLEARS))
        state_call(s, c);
    else if (flags & API_ONCE)
        once_call(s, c);
    else if (s->made.num)
        making_call(s, c);
    else if (!(flags & (API_QUERY | API_PASSES | API_FRAME | API_EXECUTES)))
        remember(s, c, FOLLOW_MAKE);
}

/* ---- the point ----------------------------------------------------------- */

static bool alive(struct trc_follow *s, uint32_t id)
{
    struct follow_object *o = follow_object(s, id);

    return o && !o->dead;
}

static bool all_alive(struct trc_follow *s, const struct follow_call *t)
{
    if (t->call.self && !alive(s, t->call.self))
        return false;
    for (uint32_t i = 0; i < t->num_refs; i++)
        if (!alive(s, t->refs[i]))
            return false;
    return true;
}

static void need(struct trc_follow *s, const struct follow_call *t)
{
    struct follow_object *o = follow_object(s, t->call.self);

    if (o)
        o->needed = true;
    for (uint32_t i = 0; i < t->num_refs; i++)
        if ((o = follow_object(s, t->refs[i])))
            o->needed = true;
}

void follow_mark(struct trc_follow *s)
{
    follow_check(s);
    for (uint32_t i = 2; i < s->num_objects; i++)
        s->objects[i].needed = alive(s, i);
    for (size_t i = s->num; i-- > 0;) {
        struct follow_call *t = &s->calls[i];
        struct follow_object *o = follow_object(s, t->made ? t->made : t->call.self);

        if (t->gone || t->stage != FOLLOW_MAKE)
            continue;
        if (t->made)
            t->keep = o && o->needed;
        else /* names and the like: for what is alive; what has no object of its own: always */
            t->keep = all_alive(s, t) || (!t->call.self && !t->num_refs) || (o && o->needed && !t->num_refs);
        if (t->keep)
            need(s, t);
    }
    for (size_t i = 0; i < s->num; i++)
        if (!s->calls[i].gone && s->calls[i].stage != FOLLOW_MAKE)
            s->calls[i].keep = all_alive(s, &s->calls[i]);
    for (size_t i = 0; i < s->num; i++)
        INVARIANT(!s->calls[i].gone || (!s->calls[i].call.args && !s->calls[i].num_refs));
}

void follow_finish(struct trc_follow *s)
{
    for (size_t i = 0; i < s->num; i++) {
        free((void *)s->calls[i].call.args);
        free(s->calls[i].refs);
    }
    for (uint32_t i = 0; i < s->num_objects; i++)
        free(s->objects[i].list);
    free(s->calls);
    free(s->spare);
    free(s->objects);
    free(s->ids.ids);
    free(s->made.ids);
    map_finish(&s->places);
    map_finish(&s->states);
    *s = (struct trc_follow){0};
}
