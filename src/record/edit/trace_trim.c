/* SPDX-License-Identifier: MIT */
/* trace_trim.c: the new file of trace_trim.h. It is written in this order: what makes the objects; what defines places; maps;
 * states that are set; contents of objects, as playing the frames before shows them; what was recorded but not yet executed;
 * references; then the frames themselves, unchanged. */
#include "record/edit/trace_trim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/edit/trace_edit.h"
#include "record/edit/trace_follow.h"
#include "record/names.h"
#include "record/walk.h"

enum { INLINE_BYTES = 256 }; /* a block of so many stands in the call, a longer one is a blob */

enum first_use { USE_NONE, USE_AFRESH, USE_OTHER };

struct trc_trim {
    struct trc *t;
    const struct api *api;
    const struct trc_trim_params *q;
    struct trc_editor *ed;
    struct trc_follow s;
    uint32_t last;
    uint8_t *first_use; /* by object: enum first_use; 0 beyond */
    size_t num_use;
    struct id_list ids;
    struct trc_trim_result *r;
    struct error *e;
};

static int out_of_memory(struct trc_trim *x)
{
    return error_set(x->e, -ENOMEM, "out of memory");
}

/* ---- the frames that are kept: how lists are used first ------------------ */

static int note_use(struct trc_trim *x, uint32_t id, enum first_use how)
{
    size_t room = x->num_use;

    if (array_reserve(x->first_use, room, (size_t)id + 1))
        return -ENOMEM;
    memset(x->first_use + x->num_use, USE_NONE, room - x->num_use);
    x->num_use = room;
    if (x->first_use[id] == USE_NONE)
        x->first_use[id] = (uint8_t)how;
    return 0;
}

static int note_uses(struct trc_trim *x, const struct trc_call *c)
{
    int err = names_mentioned(c, false, &x->ids);

    for (size_t i = 0; i < x->ids.num && !err; i++)
        err = note_use(x, x->ids.ids[i], USE_OTHER);
    if (c->self && !err)
        err = note_use(x, c->self, c->m->flags & API_AFRESH ? USE_AFRESH : USE_OTHER);
    return err;
}

static int look(struct trc_trim *x)
{
    struct trc_call c;
    uint32_t frame = 0, last = 0; /* of all calls; of the frames that there are */
    int got;

    trc_rewind(x->t);
    while ((got = trc_next(x->t, &c, x->e)) > 0 && c.frame <= x->last) {
        frame = c.frame;
        /* What stands behind the last frame's end without executing anything is no frame. */
        if (c.m->flags & (API_FRAME | API_EXECUTES))
            last = frame;
        if (frame < x->q->first)
            follow_call(&x->s, &c);
        else if (note_uses(x, &c))
            return out_of_memory(x);
    }
    if (got < 0)
        return got;
    if (last < x->q->first)
        return error_set(x->e, -ENOENT, "the recording has no frame %u: it has 0 to %u", x->q->first, last);
    x->last = got ? x->last : frame;
    x->r->last = x->last < last ? x->last : last;
    return x->s.failed ? out_of_memory(x) : 0;
}

/* ---- calls of our own ---------------------------------------------------- */

/* The method with this flag that an object of interface `iface` has; 0: none. */
static uint16_t method_with(const struct trc_trim *x, uint16_t iface, uint32_t flag)
{
    for (uint32_t i = 1; i < x->api->num_methods; i++)
        if (x->api->methods[i].flags & flag && api_iface_is(x->api, iface, x->api->methods[i].iface_index))
            return (uint16_t)i;
    return 0;
}

/* Answers that say success: numbers, all of them 0. */
static uint8_t *put_success(uint8_t *w, const struct api_method *m)
{
    for (uint32_t i = 0; i < m->num_out; i++)
        *w++ = 0;
    return w;
}

static int close_list(struct trc_trim *x, uint32_t id, const struct follow_object *o)
{
    uint16_t close = method_with(x, o->iface, API_CLOSES);
    uint8_t args[16];

    if (!close)
        return 0;
    return trc_edit_add(x->ed, close, id, args, (size_t)(put_success(args, &x->api->methods[close]) - args),
                        x->e);
}

/* The list was open when it was made: that is to begin it with the same objects. */
static int reopen_list(struct trc_trim *x, uint32_t id, const struct follow_object *o)
{
    const struct follow_call *t = o->maker ? &x->s.calls[o->maker - 1] : NULL;
    uint16_t begin = method_with(x, o->iface, API_AFRESH);
    const struct api_method *m = &x->api->methods[begin];
    struct bytes in;
    uint8_t args[8 * VARINT_MAX], *w = args;
    uint32_t k = 0;

    if (!t || !(t->call.m->flags & API_OPEN) || !begin)
        return 0;
    in = bytes_of(t->call.args, t->call.args_size);
    for (uint32_t i = 0; i < t->call.m->num_in && k < m->num_in && k < 4; i++) {
        const struct api_field *f = &t->call.m->in[i];
        struct bytes at = in;

        walk_fields(&in, f, 1, NULL);
        if (f->mode == API_MODE_VALUE && f->type->kind == API_KIND_OBJECT) {
            w = varint_put(w, bytes_varint(&at));
            k++;
        }
    }
    return trc_edit_add(x->ed, begin, id, args, (size_t)(put_success(w, m) - args), x->e);
}

/* ---- what stands in front ------------------------------------------------ */

static int emit(struct trc_trim *x, const struct follow_call *t)
{
    if (names_mentioned(&t->call, true, &x->ids))
        return out_of_memory(x);
    for (size_t i = 0; i < x->ids.num; i++) {
        struct follow_object *o = follow_object(&x->s, x->ids.ids[i]);

        if (o)
            o->given++;
    }
    if (t->made)
        x->r->objects++;
    return trc_edit_copy(x->ed, &t->call, x->e);
}

static int emit_makers(struct trc_trim *x)
{
    int err = 0;

    for (size_t i = 0; i < x->s.num && !err; i++) {
        const struct follow_call *t = &x->s.calls[i];

        if (t->gone || !t->keep || t->stage != FOLLOW_MAKE)
            continue;
        err = emit(x, t);
        if (!err && t->made && t->call.m->flags & API_OPEN) /* it holds what it is recorded into */
            err = close_list(x, t->made, follow_object(&x->s, t->made));
    }
    return err;
}

struct place_size {
    size_t n;
};

static void on_place(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    uint8_t b[2 * VARINT_MAX], *w = b;

    if (!v->type || v->type->kind != API_KIND_CPU)
        return;
    w = varint_put(w, v->u);
    w = varint_put(w, v->offset);
    ((struct place_size *)ctx)->n = (size_t)(w - b);
}

/* The call that defines a place, with this one as its destination: its last argument. */
static int emit_definition(struct trc_trim *x, const struct follow_call *t, uint64_t place)
{
    struct place_size h = {0};
    struct walk_visitor v = {.value = on_place, .ctx = &h};
    struct trc_call c = t->call;
    uint8_t *args, *w;
    int err;

    walk_args(&c, &v);
    if (h.n > c.args_size || !(args = malloc(c.args_size + 2 * VARINT_MAX)))
        return out_of_memory(x);
    memcpy(args, c.args, c.args_size - h.n);
    w = args + c.args_size - h.n;
    w = varint_put(w, place >> 32);
    w = varint_put(w, place & UINT32_MAX);
    c.args = args;
    c.size = c.args_size = (size_t)(w - args);
    err = trc_edit_copy(x->ed, &c, x->e);
    free(args);
    return err;
}

bool trc_trim_wants(struct trc_trim *x, uint32_t id)
{
    const struct follow_object *o = follow_object(&x->s, id);

    return o && !o->dead;
}

static int emit_definitions(struct trc_trim *x)
{
    struct map_slot v;
    int err = 0;

    for (size_t at = 0; !err && map_next(&x->s.places, &at, &v);)
        if (v.value != SIZE_MAX && x->s.calls[v.value].keep && trc_trim_wants(x, (uint32_t)(v.key >> 32)))
            err = emit_definition(x, &x->s.calls[v.value], v.key);
    return err;
}

static int emit_maps(struct trc_trim *x)
{
    int err = 0;

    for (uint32_t id = 2; id < x->s.num_objects && !err; id++) {
        const struct follow_object *o = follow_object(&x->s, id);

        for (int32_t n = 0; o && !o->dead && n < o->maps && !err; n++)
            err = trc_edit_copy(x->ed, &x->s.calls[o->map_call].call, x->e);
    }
    return err;
}

static int by_index(const void *a, const void *b)
{
    const struct follow_call *x = *(struct follow_call *const *)a, *y = *(struct follow_call *const *)b;

    return x->call.index < y->call.index ? -1 : x->call.index > y->call.index;
}

static int emit_states(struct trc_trim *x)
{
    struct follow_call **order = malloc((x->s.num + 1) * sizeof(*order));
    size_t n = 0;
    int err = 0;

    if (!order)
        return out_of_memory(x);
    for (size_t i = 0; i < x->s.num; i++)
        if (!x->s.calls[i].gone && x->s.calls[i].keep && x->s.calls[i].stage == FOLLOW_STATE)
            order[n++] = &x->s.calls[i];
    qsort(order, n, sizeof(*order), by_index);
    for (size_t i = 0; i < n && !err; i++)
        err = trc_edit_copy(x->ed, &order[i]->call, x->e);
    free(order);
    return err;
}

/* ---- contents ------------------------------------------------------------ */

int trc_trim_content(struct trc_trim *x, uint32_t object, uint32_t part, uint32_t state, const void *bytes,
                     size_t size, struct error *e)
{
    uint8_t args[INLINE_BYTES + 8 * VARINT_MAX], *w = args;
    uint64_t blob;

    w = varint_put(w, object);
    w = varint_put(w, part);
    w = varint_put(w, state);
    if (size <= INLINE_BYTES) {
        w = varint_put(w, 2 * (uint64_t)size + 1);
        memcpy(w, bytes, size);
        w += size;
    } else {
        blob = trc_edit_blob(x->ed, bytes, size, e);
        if (!blob)
            return e->code;
        w = varint_put(w, 2 * blob + 2);
    }
    w = varint_put(w, size);
    x->r->contents++;
    return trc_edit_add(x->ed, x->api->contents, 0, args, (size_t)(w - args), e);
}

int trc_trim_empty(struct trc_trim *x, uint32_t object, uint32_t part, const char *why, struct error *e)
{
    uint8_t args[300 + VARINT_MAX], *w;
    char text[300];
    int n = snprintf(text, sizeof(text), "object %u, part %u begins empty: %.200s", object, part, why);

    w = varint_put(args, (uint64_t)n + 1);
    memcpy(w, text, (size_t)n);
    return trc_edit_add(x->ed, x->api->note, 0, args, (size_t)(w - args) + (size_t)n, e);
}

static int emit_contents(struct trc_trim *x)
{
    if (!x->q->first || !x->q->contents)
        return 0;
    trc_rewind(x->t);
    return x->q->contents(x->t, x, x->q, x->e);
}

/* ---- lists and references ------------------------------------------------ */

static int emit_list(struct trc_trim *x, uint32_t id, const struct follow_object *o)
{
    int err = 0;

    for (size_t i = 0; i < o->num_list; i++)
        if (!x->s.calls[o->list[i]].keep)
            return 0; /* it uses what is gone: nobody can execute it */
    if (!(x->s.calls[o->list[0]].call.m->flags & API_AFRESH))
        err = reopen_list(x, id, o);
    for (size_t i = 0; i < o->num_list && !err; i++)
        err = trc_edit_copy(x->ed, &x->s.calls[o->list[i]].call, x->e);
    return err;
}

static int emit_lists(struct trc_trim *x)
{
    int err = 0;

    for (int open = 0; open < 2;
         open++) /* those that are still recorded hold what they are recorded into: last */
        for (uint32_t id = 2; id < x->s.num_objects && !err; id++) {
            const struct follow_object *o = follow_object(&x->s, id);
            bool closed;

            if (!o || o->dead || !o->num_list || id >= x->num_use || x->first_use[id] != USE_OTHER)
                continue;
            closed = x->s.calls[o->list[o->num_list - 1]].call.m->flags & API_CLOSES;
            if (closed == !open)
                err = emit_list(x, id, o);
        }
    return err;
}

/* One reference more or less, until there are as many as the program held. */
static int emit_reference(struct trc_trim *x, uint32_t id, struct follow_object *o, int step)
{
    uint16_t method = method_with(x, o->iface, step > 0 ? API_KEEPS : API_ENDS);
    uint8_t args[VARINT_MAX], *w = args;

    o->given += step;
    if (!method)
        return 0;
    if (x->api->methods[method].num_out)
        w = varint_put(w, (uint64_t)o->given);
    return trc_edit_add(x->ed, method, id, args, (size_t)(w - args), x->e);
}

static int emit_references(struct trc_trim *x)
{
    int err = 0;

    for (uint32_t id = 2; id < x->s.num_objects && !err; id++) {
        struct follow_object *o = follow_object(&x->s, id);
        int64_t want;

        if (!o || !o->given)
            continue;
        want = o->dead ? 0 : o->refs > 0 ? o->refs : 1;
        while (o->given != want && !err)
            err = emit_reference(x, id, o, o->given < want ? 1 : -1);
    }
    return err;
}

/* What became of the last frames stands behind them: it comes behind the last frame. */
static int emit_hash(struct trc_trim *x, const struct trc_call *c)
{
    struct bytes in = bytes_of(c->args, c->size);
    uint32_t frame = c->frame - (uint32_t)bytes_varint(&in);
    uint8_t args[64], *w = varint_put(args, x->last + 1 - frame);

    if (in.bad || frame < x->q->first || frame > x->last || bytes_left(&in) > 32)
        return 0;
    memcpy(w, in.data + in.pos, bytes_left(&in));
    x->r->calls++;
    return trc_edit_add(x->ed, c->method, 0, args, (size_t)(w - args) + bytes_left(&in), x->e);
}

static int emit_frames(struct trc_trim *x)
{
    struct trc_call c;
    int got, err = 0;

    trc_rewind(x->t);
    while (!err && (got = trc_next(x->t, &c, x->e)) > 0 &&
           (c.frame <= x->last || c.frame - x->last <= API_HASHES)) {
        if (c.frame > x->last && c.method == x->api->frame_hash)
            err = emit_hash(x, &c);
        if (c.frame < x->q->first || c.frame > x->last)
            continue;
        err = trc_edit_copy(x->ed, &c, x->e);
        x->r->calls++;
    }
    return err ? err : got < 0 ? got : 0;
}

int trc_trim(struct trc *t, const char *path, const struct trc_trim_params *params, struct trc_trim_result *r,
             struct error *e)
{
    struct trc_trim x = {.t = t, .api = trc_api(t), .q = params, .last = params->last, .r = r, .e = e};
    json_t *add;
    int err, end;

    *r = (struct trc_trim_result){0};
    if ((err = look(&x)))
        goto out;
    add = json_pack("{s:I, s:I}", "cut_from", (json_int_t)params->first, "cut_to", (json_int_t)x.last);
    if ((err = trc_edit_create(&x.ed, t, path, add, e)))
        goto out;
    follow_mark(&x.s);
    (void)((err = emit_makers(&x)) || (err = emit_definitions(&x)) || (err = emit_maps(&x)) ||
           (err = emit_states(&x)) || (err = emit_contents(&x)) || (err = emit_lists(&x)) ||
           (err = emit_references(&x)) || (err = emit_frames(&x)));
out:
    end = trc_edit_finish(x.ed, !err, e);
    follow_finish(&x.s);
    free(x.first_use);
    free(x.ids.ids);
    trc_rewind(t);
    return err ? err : end;
}
