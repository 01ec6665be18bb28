/* SPDX-License-Identifier: MIT */
/* trim.c: the new file of trim.h. It is written in this order: what makes the objects; descriptors; maps; values of fences
 * and armed events; contents of resources, as playing the frames before shows them; lists that were recorded but not yet
 * executed; references; then the frames themselves, unchanged. */
#include "d3d12/edit/trim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "d3d12/play/play_internal.h"
#include "record/trace_edit.h"
#include "d3d12/edit/trim_follow.h"
#include "record/names.h"
#include "record/walk.h"

struct cut {
    struct trc *t;
    struct trc_editor *ed;
    struct trim s;
    uint32_t first, last;
    uint8_t *first_use; /* by object: enum first_use */
    uint32_t num_use;
    struct trim_result *r;
    struct error *e;
};

enum first_use { USE_NONE, USE_RESET, USE_OTHER };

/* ---- the frames that are kept: how lists are used first ------------------ */

static int note_use(struct cut *x, uint32_t id, enum first_use how)
{
    if (id >= x->num_use) {
        uint32_t n = x->num_use ? x->num_use : 1024;
        uint8_t *p;

        while (n <= id)
            n *= 2;
        p = realloc(x->first_use, n);
        if (!p)
            return -ENOMEM;
        memset(p + x->num_use, 0, n - x->num_use);
        x->first_use = p;
        x->num_use = n;
    }
    if (x->first_use[id] == USE_NONE)
        x->first_use[id] = (uint8_t)how;
    return 0;
}

static int look(struct cut *x)
{
    uint32_t ids[256];
    struct trc_call c;
    uint32_t frame = 0, last = 0; /* of all calls; of the frames that there are */
    int got;

    trc_rewind(x->t);
    while ((got = trc_next(x->t, &c, x->e)) > 0 && c.frame <= x->last) {
        frame = c.frame;
        /* What stands behind the last frame's end without executing anything is no frame. */
        if (c.m->flags & (API_FRAME | API_EXECUTES))
            last = c.frame;
        if (c.frame < x->first) {
            trim_follow(&x->s, &c);
            continue;
        }
        for (size_t i = 0, n = names_mentioned(&c, false, ids, 256); i < n; i++)
            if (note_use(x, ids[i], USE_OTHER))
                return -ENOMEM;
        if (c.self &&
            note_use(x, c.self, c.method == D12_ID3D12GraphicsCommandList_Reset ? USE_RESET : USE_OTHER))
            return -ENOMEM;
    }
    if (got < 0)
        return got;
    if (last < x->first)
        return error_set(x->e, -ERANGE, "the recording has no frame %u: it has 0 to %u", x->first, last);
    x->last = got ? x->last : frame;
    x->r->last = x->last < last ? x->last : last;
    return x->s.failed ? error_set(x->e, -ENOMEM, "out of memory") : 0;
}

/* ---- what stands in front ------------------------------------------------ */

static int emit(struct cut *x, const struct trim_call *t)
{
    uint32_t ids[4];
    size_t n = names_mentioned(&t->call, true, ids, 4);

    for (size_t i = 0; i < n; i++) {
        struct trim_object *o = trim_object(&x->s, ids[i]);

        if (o)
            o->given++;
    }
    if (t->made)
        x->r->objects++;
    return trc_edit_copy(x->ed, &t->call, x->e);
}

static int close_list(struct cut *x, uint32_t list)
{
    uint8_t args[16], *w = varint_put(args, zigzag(0));

    return trc_edit_add(x->ed, D12_ID3D12GraphicsCommandList_Close, list, args, (size_t)(w - args), x->e);
}

static int emit_makers(struct cut *x)
{
    int err = 0;

    for (size_t i = 0; i < x->s.num && !err; i++) {
        const struct trim_call *t = &x->s.calls[i];

        if (t->gone || !t->keep || t->stage != TRIM_MAKE)
            continue;
        err = emit(x, t);
        if (!err &&
            t->call.method == D12_ID3D12Device_CreateCommandList) /* it is open, and holds its allocator */
            err = close_list(x, t->made);
    }
    return err;
}

struct handle_size {
    size_t n;
};

static void on_handle(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    uint8_t b[20], *w = b;

    if (!v->type || v->type->kind != API_KIND_CPU)
        return;
    w = varint_put(w, v->u);
    w = varint_put(w, v->offset);
    ((struct handle_size *)ctx)->n = (size_t)(w - b);
}

/* The call that defines a descriptor, with this descriptor as its destination: its last argument. */
static int emit_view(struct cut *x, const struct trim_call *t, uint64_t slot)
{
    struct handle_size h = {0};
    struct walk_visitor v = {.value = on_handle, .ctx = &h};
    struct trc_call c = t->call;
    uint8_t *args, *w;
    int err;

    walk_args(&c, &v);
    if (h.n > c.size || !(args = malloc(c.size + 20)))
        return error_set(x->e, -ENOMEM, "out of memory");
    memcpy(args, c.args, c.size - h.n);
    w = args + c.size - h.n;
    w = varint_put(w, slot >> 32);
    w = varint_put(w, slot & UINT32_MAX);
    c.args = args;
    c.size = c.args_size = (size_t)(w - args);
    err = trc_edit_copy(x->ed, &c, x->e);
    free(args);
    return err;
}

static bool is_alive(struct cut *x, uint32_t id)
{
    struct trim_object *o = trim_object(&x->s, id);

    return o && !o->dead;
}

static int emit_views(struct cut *x)
{
    struct map_slot v;
    int err = 0;

    for (size_t at = 0; !err && map_next(&x->s.views, &at, &v);)
        if (v.value != SIZE_MAX && x->s.calls[v.value].keep && is_alive(x, (uint32_t)(v.key >> 32)))
            err = emit_view(x, &x->s.calls[v.value], v.key);
    return err;
}

static int emit_maps(struct cut *x)
{
    int err = 0;

    for (uint32_t id = 2; id < x->s.num_objects && !err; id++) {
        struct trim_object *o = trim_object(&x->s, id);

        for (int32_t n = 0; o && !o->dead && n < o->maps && !err; n++)
            if (o->map_call != SIZE_MAX)
                err = trc_edit_copy(x->ed, &x->s.calls[o->map_call].call, x->e);
    }
    return err;
}

static int by_index(const void *a, const void *b)
{
    const struct trim_call *x = *(struct trim_call *const *)a, *y = *(struct trim_call *const *)b;

    return x->call.index < y->call.index ? -1 : x->call.index > y->call.index;
}

static int emit_signals(struct cut *x)
{
    struct trim_call **order = malloc((x->s.num + 1) * sizeof(*order));
    size_t n = 0;
    int err = 0;

    if (!order)
        return error_set(x->e, -ENOMEM, "out of memory");
    for (size_t i = 0; i < x->s.num; i++)
        if (!x->s.calls[i].gone && x->s.calls[i].keep && x->s.calls[i].stage == TRIM_SIGNAL)
            order[n++] = &x->s.calls[i];
    qsort(order, n, sizeof(*order), by_index);
    for (size_t i = 0; i < n && !err; i++)
        err = trc_edit_copy(x->ed, &order[i]->call, x->e);
    free(order);
    return err;
}

/* ---- contents ------------------------------------------------------------ */

static int put_content(struct cut *x, uint32_t id, uint32_t sub, uint32_t state, const struct play_image *i)
{
    uint8_t args[600], *w = args;
    uint64_t blob;

    w = varint_put(w, id);
    w = varint_put(w, sub);
    w = varint_put(w, state);
    if (i->size <= 256) {
        w = varint_put(w, 2 * (uint64_t)i->size + 1);
        memcpy(w, i->bytes, i->size);
        w += i->size;
    } else {
        blob = trc_edit_blob(x->ed, i->bytes, i->size, x->e);
        if (!blob)
            return -EIO;
        w = varint_put(w, 2 * blob + 2);
    }
    w = varint_put(w, i->size);
    x->r->contents++;
    return trc_edit_add(x->ed, D12_Native_Contents, 0, args, (size_t)(w - args), x->e);
}

static int put_note(struct cut *x, const char *text)
{
    uint8_t args[400], *w = varint_put(args, strlen(text) + 1);

    memcpy(w, text, strlen(text));
    return trc_edit_add(x->ed, D12_Native_Note, 0, args, (size_t)(w - args) + strlen(text), x->e);
}

/* Called by the player in front of the first frame that is kept. */
static int take_contents(struct player *p, void *ctx, struct error *e)
{
    struct cut *x = ctx;
    int err = 0;

    for (uint32_t id = 2; id < p->states.num && !err; id++) {
        const struct res_info *r = res_get(&p->states, id);
        const struct play_object *o = play_object(p, id);
        struct plan_patch *patch = plan_patch(&p->plan, id);

        if (!r || !o || !o->ptr || !is_alive(x, id))
            continue;
        for (uint32_t sub = 0; sub < r->num_subs && !err; sub++) {
            uint32_t state = r->states ? r->states[sub] : 0;
            struct play_image i = {0};
            struct error why = {0};
            char text[300];

            if (play_read(p, NULL, o->ptr, sub, (D3D12_RESOURCE_STATES)state, &i, &why)) {
                snprintf(text, sizeof(text), "resource %u, subresource %u begins empty: %.200s", id, sub,
                         why.text);
                err = put_note(x, text);
                continue;
            }
            if (patch)
                plan_contents(&p->plan, patch, i.bytes, i.size, true);
            err = put_content(x, id, sub, state, &i);
            free(i.bytes);
        }
    }
    if (err && x->e != e)
        error_set(e, err, "%s", x->e->text);
    return err ? err : 1; /* that was all that playing was for */
}

static int emit_contents(struct cut *x)
{
    struct play_params q = {.until_call = UINT64_MAX,
                            .until_frame = UINT32_MAX,
                            .stop_before = UINT64_MAX,
                            .draw_first = 1,
                            .at_frame = x->first,
                            .at = take_contents,
                            .at_ctx = x,
                            .progress = &x->r->progress};
    struct play_result r;

    trc_rewind(x->t);
    return play_run(x->t, &q, &r, x->e);
}

/* ---- lists and references ------------------------------------------------ */

/* The list was open when it was made: that is a Reset with the same allocator and pipeline. */
static int reopen(struct cut *x, uint32_t id, const struct trim_object *o)
{
    const struct trim_call *t = o->maker ? &x->s.calls[o->maker - 1] : NULL;
    uint8_t args[40], *w = args;
    struct bytes in;
    uint64_t v[4];

    if (!t || t->call.method != D12_ID3D12Device_CreateCommandList)
        return 0;
    in = bytes_of(t->call.args, t->call.args_size);
    for (int i = 0; i < 4; i++) /* nodes, type, allocator, pipeline */
        v[i] = bytes_varint(&in);
    w = varint_put(w, v[2]);
    w = varint_put(w, v[3]);
    w = varint_put(w, zigzag(0));
    return trc_edit_add(x->ed, D12_ID3D12GraphicsCommandList_Reset, id, args, (size_t)(w - args), x->e);
}

static int emit_list(struct cut *x, uint32_t id)
{
    const struct trim_object *o = trim_object(&x->s, id);
    int err = 0;

    for (size_t i = 0; i < o->num_list; i++)
        if (!x->s.calls[o->list[i]].keep)
            return 0; /* it uses what is gone: nobody can execute it */
    if (x->s.calls[o->list[0]].call.method != D12_ID3D12GraphicsCommandList_Reset)
        err = reopen(x, id, o);
    for (size_t i = 0; i < o->num_list && !err; i++)
        err = trc_edit_copy(x->ed, &x->s.calls[o->list[i]].call, x->e);
    return err;
}

static int emit_lists(struct cut *x)
{
    int err = 0;

    for (int open = 0; open < 2; open++) /* those that are still being recorded keep their allocators: last */
        for (uint32_t id = 2; id < x->s.num_objects && !err; id++) {
            const struct trim_object *o = trim_object(&x->s, id);
            bool closed;

            if (!o || o->dead || !o->num_list || id >= x->num_use || x->first_use[id] != USE_OTHER)
                continue;
            closed = x->s.calls[o->list[o->num_list - 1]].call.method == D12_ID3D12GraphicsCommandList_Close;
            if (closed == !open)
                err = emit_list(x, id);
        }
    return err;
}

static int emit_references(struct cut *x)
{
    int err = 0;

    for (uint32_t id = 2; id < x->s.num_objects && !err; id++) {
        struct trim_object *o = trim_object(&x->s, id);
        uint8_t args[16];
        int64_t want;

        if (!o || !o->given)
            continue;
        want = o->dead ? 0 : o->refs > 0 ? o->refs : 1;
        for (; o->given < want && !err; o->given++)
            err = trc_edit_add(x->ed, D12_IUnknown_AddRef, id, args,
                               (size_t)(varint_put(args, (uint64_t)o->given + 1) - args), x->e);
        for (; o->given > want && !err; o->given--)
            err = trc_edit_add(x->ed, D12_IUnknown_Release, id, args,
                               (size_t)(varint_put(args, (uint64_t)o->given - 1) - args), x->e);
    }
    return err;
}

/* The hash of a frame stands some frames behind it, when the GPU was done: the last ones' come behind the last frame. */
static int emit_hash(struct cut *x, const struct trc_call *c)
{
    struct bytes in = bytes_of(c->args, c->size);
    uint32_t frame = c->frame - (uint32_t)bytes_varint(&in);
    uint8_t args[64], *w = varint_put(args, x->last + 1 - frame);

    if (in.bad || frame < x->first || frame > x->last || bytes_left(&in) > 32)
        return 0;
    memcpy(w, in.data + in.pos, bytes_left(&in));
    x->r->calls++;
    return trc_edit_add(x->ed, c->method, 0, args, (size_t)(w - args) + bytes_left(&in), x->e);
}

static int emit_frames(struct cut *x)
{
    struct trc_call c;
    int got, err = 0;

    trc_rewind(x->t);
    while (!err && (got = trc_next(x->t, &c, x->e)) > 0 &&
           (c.frame <= x->last || c.frame - x->last <= PLAY_HASHES)) {
        if (c.frame > x->last && c.method == D12_Native_FrameHash)
            err = emit_hash(x, &c);
        if (c.frame < x->first || c.frame > x->last)
            continue;
        err = trc_edit_copy(x->ed, &c, x->e);
        x->r->calls++;
    }
    return err ? err : got < 0 ? got : 0;
}

int trim_run(struct trc *t, const char *path, uint32_t first, uint32_t last, struct trim_result *r,
             struct error *e)
{
    struct cut x = {.t = t, .first = first, .last = last, .r = r, .e = e};
    char add[100];
    int err, end;

    *r = (struct trim_result){0};
    if ((err = look(&x)))
        goto out;
    snprintf(add, sizeof(add), "{\"cut_from\": %u, \"cut_to\": %u}", x.first, x.last);
    if ((err = trc_edit_create(&x.ed, t, path, add, e)))
        goto out;
    trim_mark(&x.s);
    (void)((err = emit_makers(&x)) || (err = emit_views(&x)) || (err = emit_maps(&x)) ||
           (err = emit_signals(&x)) || (first && (err = emit_contents(&x))) || (err = emit_lists(&x)) ||
           (err = emit_references(&x)) || (err = emit_frames(&x)));
out:
    end = trc_edit_finish(x.ed, !err, e);
    trim_finish(&x.s);
    free(x.first_use);
    trc_rewind(t);
    return err ? err : end;
}
