/* SPDX-License-Identifier: MIT */
#include "d3d12/view/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_write.h"
#include "record/varint.h"
#include "record/edit/trace_follow.h"
#include "d3d12/view/inside.h"
#include "d3d12/view/root_signature.h"
#include "d3d12/gen/table.h"
#include "record/walk.h"
#include "d3d12_api.h"

#define PIECE_HANDLES 9

struct piece {
    uint32_t list;
    uint16_t method;
    uint64_t slot; /* first argument of methods that set one of several */
    uint64_t call;
    char *text;
    uint32_t object; /* a pipeline or a root signature that it names, or 0 */
    struct {
        uint64_t heap, index;
    } at[PIECE_HANDLES]; /* a table's first descriptor; or render targets and depth */
    size_t num_at;
    bool table;
};

struct pieces {
    struct piece *p;
    size_t num, room;
    struct id_list ids;
};

static bool starts(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static bool sets_state(const char *name)
{
    return starts(name, "Set")
               ? !starts(name, "SetMarker") && !starts(name, "SetName") && !starts(name, "SetPrivate")
               : starts(name, "IASet") || starts(name, "RSSet") || starts(name, "OMSet") ||
                     starts(name, "SOSet");
}

/* Root parameters and buffer slots are pieces of state of their own; table, view and constants replace each other. */
static uint64_t slot_of(const struct trc_call *c)
{
    const struct api_method *m = c->m;
    struct bytes in = bytes_of(c->args, c->size);

    if (m->num_in && (!strcmp(m->in[0].name, "RootParameterIndex") || !strcmp(m->in[0].name, "StartSlot")))
        return bytes_varint(&in);
    return UINT64_MAX;
}

static bool same_piece(uint16_t method, uint64_t slot, uint16_t other, uint64_t other_slot)
{
    const char *a = d12_methods[method].name, *b = d12_methods[other].name;

    if (slot != other_slot)
        return false;
    if (method == other)
        return true;
    return slot != UINT64_MAX && starts(a, "SetGraphicsRoot") == starts(b, "SetGraphicsRoot") &&
           starts(a, "SetComputeRoot") == starts(b, "SetComputeRoot") && strstr(a, "Root") &&
           strstr(b, "Root");
}

static void forget(struct pieces *s, uint32_t list, const char *method)
{
    for (size_t i = 0; i < s->num;) {
        const char *name = d12_methods[s->p[i].method].name;

        if (s->p[i].list == list && (!method || (s->p[i].slot != UINT64_MAX && starts(name, method)))) {
            free(s->p[i].text);
            s->p[i] = s->p[--s->num];
        } else {
            i++;
        }
    }
}

static void pick_handle(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct piece *p = ctx;

    if (!v->type || (v->type->kind != API_KIND_GPU && v->type->kind != API_KIND_CPU) || v->raw || !v->u ||
        p->num_at == PIECE_HANDLES)
        return;
    p->table = v->type->kind == API_KIND_GPU;
    p->at[p->num_at].heap = v->u;
    p->at[p->num_at++].index = v->offset;
}

/* What stands behind a piece: the pipeline or root signature, the table. */
static int look_behind(struct piece *p, struct id_list *ids, const struct trc_call *c,
                       const struct names *names)
{
    const struct walk_visitor v = {.value = pick_handle, .ctx = p};
    int err = names_mentioned(c, false, ids);

    walk_args(c, &v);
    for (size_t i = 0; i < ids->num && !err; i++) {
        const struct name *o = names_get(names, ids->ids[i]);

        if (o && (d12_iface_is(o->iface, D12_IFACE_ID3D12PipelineState) ||
                  d12_iface_is(o->iface, D12_IFACE_ID3D12RootSignature)))
            p->object = ids->ids[i];
    }
    return err;
}

static int remember(struct pieces *s, enum show_form form, struct trc *t, const struct trc_call *c,
                    uint32_t list, const struct names *names)
{
    uint64_t slot = slot_of(c);
    struct strbuf b = {0};
    struct piece *p = NULL;

    for (size_t i = 0; i < s->num && !p; i++)
        if (s->p[i].list == list && same_piece(s->p[i].method, s->p[i].slot, c->method, slot))
            p = &s->p[i];
    if (!p) {
        if (array_reserve(s->p, s->room, s->num + 1))
            return -ENOMEM;
        p = &s->p[s->num++];
        p->text = NULL;
    }
    show_call(&b, form, t, c, names);
    free(p->text);
    *p = (struct piece){.list = list, .method = c->method, .slot = slot, .call = c->index, .text = b.data};
    return strbuf_failed(&b) ? -ENOMEM : look_behind(p, &s->ids, c, names);
}

static int by_method(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* A list is made open, with a first pipeline: its state until it is reset. */
static int made_open(struct pieces *s, enum show_form form, struct trc *t, const struct trc_call *c,
                     const struct names *names)
{
    uint32_t list;
    int err = names_mentioned(c, true, &s->ids);

    if (err || c->incomplete || !s->ids.num)
        return err;
    list = s->ids.ids[s->ids.num - 1];
    forget(s, list, NULL);
    err = remember(s, form, t, c, list, names);
    if (!s->p[s->num - 1].object) /* it has none */
        free(s->p[--s->num].text);
    return err;
}

/* What a call of this method set last on the list, a root signature; or 0. */
static uint32_t object_of(const struct pieces *s, uint32_t list, uint16_t method)
{
    for (size_t i = 0; i < s->num; i++)
        if (s->p[i].list == list && s->p[i].method == method)
            return s->p[i].object;
    return 0;
}

static void follow(struct pieces *s, enum show_form form, struct trc *t, const struct trc_call *c,
                   const struct names *names, int *err)
{
    const struct api_method *m = c->m;

    if (c->method == D12_ID3D12Device_CreateCommandList)
        *err = made_open(s, form, t, c, names);
    if (!starts(m->iface, "ID3D12GraphicsCommandList"))
        return;
    if (c->method == D12_ID3D12GraphicsCommandList_Reset ||
        c->method == D12_ID3D12GraphicsCommandList_ClearState) {
        forget(s, c->self, NULL);
        *err = remember(s, form, t, c, c->self, names); /* it names the first pipeline */
        return;
    }
    if (sets_state(m->name)) {
        uint32_t before = object_of(s, c->self, c->method);

        *err = remember(s, form, t, c, c->self, names);
        /* another root signature ends what was bound through the old one */
        if (!strcmp(m->name, "SetGraphicsRootSignature") && object_of(s, c->self, c->method) != before)
            forget(s, c->self, "SetGraphicsRoot");
        if (!strcmp(m->name, "SetComputeRootSignature") && object_of(s, c->self, c->method) != before)
            forget(s, c->self, "SetComputeRoot");
    }
}

/* A line is what it is of, and a call. */
static void line(struct strbuf *out, enum show_form form, const char *role, const char *indent, struct trc *t,
                 const struct trc_call *c, const struct names *names)
{
    struct json_writer w = json_writer_text(out);

    if (form == SHOW_TEXT) {
        strbuf_puts(out, indent);
        show_call(out, form, t, c, names);
    } else {
        json_write_object(&w, NULL);
        json_write_string(&w, "role", role);
        json_write_object(&w, "call");
        show_json(&w, t, c, names);
        json_write_end(&w);
        json_write_end(&w);
    }
    strbuf_puts(out, "\n");
}

/* The same, of a call that was shown when it came. */
static void line_of(struct strbuf *out, enum show_form form, const char *role, const char *indent,
                    const char *call)
{
    struct json_writer w = json_writer_text(out);

    if (form == SHOW_TEXT) {
        strbuf_puts(out, indent);
        strbuf_puts(out, call);
    } else {
        json_write_object(&w, NULL);
        json_write_string(&w, "role", role);
        json_write_raw(&w, "call", call);
        json_write_end(&w);
    }
    strbuf_puts(out, "\n");
}

/* `c`: the one that defined it, or NULL. */
static void show_descriptor(struct strbuf *out, enum show_form form, struct trc *t, const struct names *names,
                            uint64_t heap, uint64_t index, const struct trc_call *c)
{
    struct json_writer w = json_writer_text(out);

    if (form == SHOW_TEXT) {
        strbuf_printf(out, "      [%llu] ", (unsigned long long)index);
        if (c)
            show_call(out, form, t, c, names);
        else
            strbuf_puts(out, "nothing");
    } else {
        json_write_object(&w, NULL);
        json_write_string(&w, "role", "descriptor");
        json_write_unsigned(&w, "heap", heap);
        json_write_unsigned(&w, "index", index);
        if (c) {
            json_write_object(&w, "call");
            show_json(&w, t, c, names);
            json_write_end(&w);
        } else {
            json_write_null(&w, "call");
        }
        json_write_end(&w);
    }
    strbuf_puts(out, "\n");
}

/* The `n` descriptors from `first` on, and where nothing was ever put; `n` 0: as far as they are set one after the other. */
static void show_descriptors(struct strbuf *out, enum show_form form, struct trc *t,
                             const struct names *names, const struct trc_follow *defined, uint64_t heap,
                             uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < first + (n ? n : STATE_TABLE); i++) {
        const uint64_t *at = map_find(&defined->places, follow_place(heap, i));
        bool set = at && *at < defined->num;

        if (!set && !n)
            return;
        show_descriptor(out, form, t, names, heap, i, set ? &defined->calls[*at].call : NULL);
    }
}

/* What a table of parameter `p` has room for by the root signature that it is bound through; 0: unknown. */
static uint64_t table_size(const struct pieces *s, struct trc *t, struct trc_follow *defined,
                           const struct piece *p)
{
    const char *setter = starts(d12_methods[p->method].name, "SetCompute") ? "SetComputeRootSignature"
                                                                           : "SetGraphicsRootSignature";
    uint64_t n = 0;

    for (size_t i = 0; i < s->num; i++) {
        const struct piece *q = &s->p[i];
        struct root_signature r;
        const uint8_t *bytes;
        size_t size;

        if (q->list != p->list || strcmp(d12_methods[q->method].name, setter) ||
            !(bytes = inside_root_signature(t, inside_maker(defined, q->object), &size)))
            continue;
        if (!root_signature_read(&r, bytes, size, NULL))
            n = root_signature_table(&r, p->slot);
        root_signature_finish(&r);
    }
    return n < STATE_TABLE_MAX ? n : STATE_TABLE_MAX;
}

static int show_root_signature(struct strbuf *out, enum show_form form, const uint8_t *bytes, size_t size)
{
    struct json_writer w = json_writer_text(out);
    struct root_signature r;
    struct error e = {0};
    int err = root_signature_read(&r, bytes, size, &e);

    if (!err) {
        root_signature_show(out, form, &r);
    } else if (err != -ENOMEM && form == SHOW_TEXT) {
        strbuf_printf(out, "        %s\n", e.text);
    } else if (err != -ENOMEM) {
        json_write_object(&w, NULL);
        json_write_string(&w, "role", "damaged");
        json_write_string(&w, "why", e.text);
        json_write_end(&w);
        strbuf_puts(out, "\n");
    }
    root_signature_finish(&r);
    return err == -ENOMEM ? err : 0;
}

static int show_piece(struct strbuf *out, enum show_form form, struct trc *t, const struct names *names,
                      struct trc_follow *defined, const struct pieces *s, const struct piece *p)
{
    const struct trc_call *maker = inside_maker(defined, p->object);
    const uint8_t *bytes;
    size_t size;
    int err = 0;

    line_of(out, form, "state", "  ", p->text);
    if (maker) {
        line(out, form, "object", "      ", t, maker, names);
        if ((bytes = inside_root_signature(t, maker, &size)))
            err = show_root_signature(out, form, bytes, size);
    }
    for (size_t i = 0; i < p->num_at; i++)
        show_descriptors(out, form, t, names, defined, p->at[i].heap, p->at[i].index,
                         p->table ? table_size(s, t, defined, p) : 1);
    return err;
}

/* A call of which is said what it works on when its list is executed first, or begun anew: there its bytes are known. */
struct own { /* a piece of state that was set on its own list */
    uint16_t method;
    uint64_t slot;
    uint32_t object;
};

struct pending {
    uint64_t call;
    uint32_t list, caller; /* a bundle's: the list that executes it first, or 0 */
    size_t num_caller;     /* calls on that list in front of it */
    struct own *own;
    size_t num_own;
    uint16_t method;
    uint8_t *args;
    size_t args_size, num_list;
    struct strbuf lines; /* what was set, up to then */
    bool shown;
};

struct states {
    enum show_form form;
    struct trc *t;
    const struct names *names;
    const struct state_wanted *wanted;
    struct trc_follow defined;
    struct contents contents;
    struct pieces pieces;
    struct pending *pending; /* by their calls */
    size_t num_pending, room_pending;
    struct error *e; /* while lists are executed */
};

static void pending_finish(struct pending *p)
{
    free(p->args);
    free(p->own);
    strbuf_finish(&p->lines);
}

/* The call itself, and what is set. 0 or -ENOMEM. */
static int begin_state(struct states *x, const struct trc_call *c)
{
    const struct follow_object *l = follow_object(&x->defined, c->self);
    struct pending *p;
    int err;

    if (array_reserve(x->pending, x->room_pending, x->num_pending + 1))
        return -ENOMEM;
    p = &x->pending[x->num_pending++];
    *p = (struct pending){.call = c->index,
                          .list = c->self,
                          .method = c->method,
                          .args = malloc(c->args_size ? c->args_size : 1),
                          .args_size = c->args_size,
                          .own = calloc(x->pieces.num + 1, sizeof(*p->own)),
                          .num_list = l ? l->num_list : 0};
    if (!p->args || !p->own)
        return -ENOMEM;
    if (c->args_size)
        memcpy(p->args, c->args, c->args_size);
    line(&p->lines, x->form, "call", "", x->t, c, x->names);
    if (x->form == SHOW_TEXT)
        strbuf_puts(&p->lines, "is recorded with:\n");
    if (x->pieces.num)
        qsort(x->pieces.p, x->pieces.num, sizeof(*x->pieces.p), by_method);
    err = 0;
    for (size_t i = 0; i < x->pieces.num && !err; i++) {
        const struct piece *q = &x->pieces.p[i];

        if (q->list != c->self)
            continue;
        p->own[p->num_own++] = (struct own){q->method, q->slot, q->object};
        err = show_piece(&p->lines, x->form, x->t, x->names, &x->defined, &x->pieces, q);
    }
    return err;
}

/* Whether a bundle has of its caller what `q` set: all that it did not set itself, but for the pipeline and the topology, and what
 * was bound through another root signature. */
static bool inherits(const struct pending *p, const struct pieces *s, const struct piece *q)
{
    const char *name = d12_methods[q->method].name;
    const bool graphics = starts(name, "SetGraphicsRoot");

    if (!sets_state(name) || starts(name, "SetPipelineState") || !strcmp(name, "IASetPrimitiveTopology"))
        return false;
    for (size_t i = 0; i < p->num_own; i++) {
        const struct own *o = &p->own[i];

        if (same_piece(o->method, o->slot, q->method, q->slot))
            return false;
        if (q->slot != UINT64_MAX && (graphics || starts(name, "SetComputeRoot")) &&
            !strcmp(d12_methods[o->method].name,
                    graphics ? "SetGraphicsRootSignature" : "SetComputeRootSignature") &&
            o->object != object_of(s, q->list, o->method))
            return false;
    }
    return true;
}

/* The first list that executes a bundle: what that draws has the state of this one besides. */
static int call_bundle(struct states *x, const struct trc_call *c)
{
    const struct follow_object *l = follow_object(&x->defined, c->self);
    int err = 0;

    if (x->pieces.num)
        qsort(x->pieces.p, x->pieces.num, sizeof(*x->pieces.p), by_method);
    for (size_t i = 0; i < x->num_pending && !err; i++) {
        struct pending *p = &x->pending[i];

        if (p->caller || p->list == c->self || !names_mentions(c, p->list))
            continue;
        p->caller = c->self;
        p->num_caller = l ? l->num_list : 0;
        if (x->form == SHOW_TEXT)
            strbuf_puts(&p->lines, "and what was set by the list that executes the bundle:\n");
        line(&p->lines, x->form, "caller", "  ", x->t, c, x->names);
        for (size_t k = 0; k < x->pieces.num && !err; k++)
            if (x->pieces.p[k].list == c->self && inherits(p, &x->pieces, &x->pieces.p[k]))
                err =
                    show_piece(&p->lines, x->form, x->t, x->names, &x->defined, &x->pieces, &x->pieces.p[k]);
    }
    return err;
}

/* What it works on. */
static int end_state(struct states *x, struct pending *p)
{
    const struct inside in = {.form = x->form,
                              .t = x->t,
                              .names = x->names,
                              .defined = &x->defined,
                              .contents = &x->contents,
                              .list = p->list,
                              .num_list = p->num_list,
                              .caller = p->caller,
                              .num_caller = p->num_caller,
                              .method = p->method,
                              .args = p->args,
                              .args_size = p->args_size,
                              .more = x->wanted->more};

    if (inside_show(&p->lines, &in) || strbuf_failed(&p->lines))
        return error_set(x->e, -ENOMEM, "no memory to show what is set");
    p->shown = true;
    return x->wanted->shown(x->wanted->ctx, p->call, strbuf_str(&p->lines), x->e);
}

/* A list is executed, up to this call of it. */
static int at_call(void *ctx, uint64_t list, uint64_t caller, uint64_t call)
{
    struct states *x = ctx;
    size_t low = 0, high = x->num_pending;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (x->pending[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == x->num_pending || x->pending[low].call != call || x->pending[low].shown ||
        (caller && x->pending[low].caller != caller))
        return 0;
    return end_state(x, &x->pending[low]);
}

static void forget_shown(struct states *x)
{
    size_t kept = 0;

    for (size_t i = 0; i < x->num_pending; i++)
        if (x->pending[i].shown)
            pending_finish(&x->pending[i]);
        else
            x->pending[kept++] = x->pending[i];
    x->num_pending = kept;
}

/* Calls on a list that is begun anew, and was never executed: as if it had been, at last. 0: of all lists. */
static int end_states(struct states *x, uint32_t list)
{
    int err = 0;

    for (size_t i = 0; i < x->num_pending && !err; i++) {
        const struct pending *p = &x->pending[i];

        if (!p->shown && (!list || p->list == list || p->caller == list))
            err = contents_try(&x->contents, p->caller ? p->caller : p->list, at_call, x);
    }
    for (size_t i = 0; i < x->num_pending && !err; i++) { /* what draws by no call that is known */
        struct pending *p = &x->pending[i];

        if (!p->shown && (!list || p->list == list || p->caller == list))
            err = end_state(x, p);
    }
    forget_shown(x);
    return err;
}

static int follow_states(struct states *x, const struct trc_call *c, struct error *e)
{
    const bool ends = c->method == D12_ID3D12CommandQueue_ExecuteCommandLists;
    int err = 0;

    x->e = e;
    if (c->method == D12_ID3D12GraphicsCommandList_Reset && x->num_pending)
        err = end_states(x, c->self);
    if (!err && starts(c->m->iface, "ID3D12GraphicsCommandList") && x->wanted->is(x->wanted->ctx, c))
        err = begin_state(x, c);
    if (!err && c->method == D12_ID3D12GraphicsCommandList_ExecuteBundle)
        err = call_bundle(x, c);
    if (!err)
        err = contents_follow(&x->contents, x->t, c, at_call, x);
    if (ends)
        forget_shown(x);
    if (err && e && e->code)
        return err;
    follow_call(&x->defined, c);
    if (!err)
        follow(&x->pieces, x->form, x->t, c, x->names, &err);
    return err || x->defined.failed ? error_set(e, -ENOMEM, "no memory for what is set") : 0;
}

int state_each(enum show_form form, struct trc *t, const struct names *names,
               const struct state_wanted *wanted, struct error *e)
{
    struct states x = {.form = form, .t = t, .names = names, .wanted = wanted};
    struct trc_call c;
    int got = 0, err = 0;

    x.contents.defined = &x.defined;
    trc_rewind(t);
    while (!err && (x.num_pending || !wanted->ends || !wanted->ends(wanted->ctx)) &&
           (got = trc_next(t, &c, e)) > 0)
        err = follow_states(&x, &c, e);
    if (!err && x.num_pending) {
        error_clear(e); /* a recording that is cut there says so elsewhere */
        got = 0;
        x.e = e;
        err = end_states(&x, 0);
    }
    for (size_t i = 0; i < x.num_pending; i++)
        pending_finish(&x.pending[i]);
    free(x.pending);
    for (size_t i = 0; i < x.pieces.num; i++)
        free(x.pieces.p[i].text);
    free(x.pieces.p);
    free(x.pieces.ids.ids);
    contents_finish(&x.contents);
    follow_finish(&x.defined);
    trc_rewind(t);
    return err ? err : got < 0 ? got : 0;
}

struct one {
    uint64_t index;
    struct strbuf *out;
    bool found;
};

static bool is_the_one(void *ctx, const struct trc_call *c)
{
    struct one *x = ctx;

    return c->index == x->index;
}

static bool one_is_past(void *ctx)
{
    const struct one *x = ctx;

    return x->found;
}

static int show_one(void *ctx, uint64_t call, const char *lines, struct error *e)
{
    struct one *x = ctx;

    x->found = true;
    strbuf_puts(x->out, lines);
    return strbuf_failed(x->out) ? error_set(e, -ENOMEM, "no memory to show what is set") : 0;
}

int state_at(struct strbuf *out, enum show_form form, struct trc *t, const struct names *names,
             uint64_t index, struct error *e)
{
    struct one one = {.index = index, .out = out};
    const struct state_wanted wanted = {
        .is = is_the_one, .ends = one_is_past, .shown = show_one, .ctx = &one};
    int err = state_each(form, t, names, &wanted, e);

    if (!err && !one.found)
        err = error_set(e, -ENOENT, "call %llu is no call on a command list", (unsigned long long)index);
    return err;
}
