/* SPDX-License-Identifier: MIT */
/* fences.c: see fences.h.
 *
 * Values may go back. A wait is over when the fence has a value as large, as it begins or later. What queues were told to signal they
 * signal when they get there, so all of it may come behind a wait; what the program signals is there at once: of that, and of where the
 * fence began, the last counts. */
#include "d3d12/view/fences.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/json_write.h"
#include "d3d12/gen/table.h"
#include "d3d12_api.h"
#include "record/varint.h"

struct event {
    uint64_t call, value;
    uint32_t queue; /* 0: the program */
    bool read;      /* not signalled, but seen to be there */
};

struct events {
    struct event *of;
    size_t num, room;
};

struct fence {
    uint32_t id;
    uint64_t most; /* of its signals, and of where it began, which is the first of them */
    struct events signals, waits;
};

struct fences {
    struct fence *of;
    size_t num, room;
};

static void fence_finish(struct fence *p)
{
    free(p->signals.of);
    free(p->waits.of);
}

static int add(struct events *to, struct event e)
{
    if (array_reserve(to->of, to->room, to->num + 1))
        return -ENOMEM;
    to->of[to->num++] = e;
    return 0;
}

static int add_signal(struct fence *p, struct event e)
{
    p->most = e.value > p->most ? e.value : p->most;
    return add(&p->signals, e);
}

/* A fence that nobody was seen to make begins at 0. */
static struct fence *fence_of(struct fences *f, uint32_t id)
{
    for (size_t i = 0; i < f->num; i++)
        if (f->of[i].id == id)
            return &f->of[i];
    if (array_reserve(f->of, f->room, f->num + 1))
        return NULL;
    f->of[f->num] = (struct fence){.id = id};
    return add_signal(&f->of[f->num], (struct event){.value = 0}) ? NULL : &f->of[f->num++];
}

/* What was read, unless it is what was read before. */
static int add_read(struct fence *p, struct event e)
{
    for (size_t i = p->signals.num; i-- > 0;)
        if (p->signals.of[i].read) {
            if (p->signals.of[i].value == e.value && i + 1 == p->signals.num)
                return 0;
            break;
        }
    return e.value == UINT64_MAX ? add(&p->signals, e) : add_signal(p, e);
}

static int fence_made(struct fences *f, const struct trc_call *c, uint64_t first)
{
    struct bytes out = bytes_of(c->args + c->args_size, c->size - c->args_size);
    struct fence *p;
    uint64_t id;

    bytes_varint(&out); /* HRESULT */
    id = bytes_varint(&out);
    if (c->incomplete || out.bad || id < 2 || id > UINT32_MAX)
        return 0;
    p = fence_of(f, (uint32_t)id);
    if (!p)
        return -ENOMEM;
    p->signals.num = p->waits.num = 0; /* it may have been another's number */
    p->most = 0;
    return add_signal(p, (struct event){.call = c->index, .value = first});
}

/* 0 or -ENOMEM. */
static int follow_fence(struct fences *f, const struct trc_call *c)
{
    struct bytes in = bytes_of(c->args, c->size);
    const bool queue = c->method == D12_ID3D12CommandQueue_Signal || c->method == D12_ID3D12CommandQueue_Wait;
    struct event e = {.call = c->index, .queue = queue ? c->self : 0};
    struct fence *p;

    switch (c->method) {
    case D12_ID3D12Device_CreateFence:
        return fence_made(f, c, bytes_varint(&in));
    case D12_ID3D12CommandQueue_Signal:
    case D12_ID3D12CommandQueue_Wait:
    case D12_ID3D12Fence_Signal:
    case D12_ID3D12Fence_SetEventOnCompletion:
    case D12_ID3D12Fence_GetCompletedValue:
        break;
    default:
        return 0;
    }
    if (!(p = fence_of(f, queue ? (uint32_t)bytes_varint(&in) : c->self)))
        return -ENOMEM;
    e.value = bytes_varint(&in);
    if (c->method == D12_ID3D12Fence_GetCompletedValue) {
        e.read = true;
        return c->incomplete ? 0 : add_read(p, e);
    }
    return c->method == D12_ID3D12CommandQueue_Signal || c->method == D12_ID3D12Fence_Signal
               ? add_signal(p, e)
               : add(&p->waits, e);
}

/* ---- what was waited for ------------------------------------------------- */

/* By what a wait is over, or NULL: nothing. */
static const struct event *ends(const struct fence *p, const struct event *wait)
{
    const struct event *found = NULL;
    bool over = false; /* what the program signalled before */
    size_t low = 0, high = p->signals.num;

    if (p->most < wait->value)
        return NULL;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (p->signals.of[middle].call < wait->call)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i-- > 0;) {
        const struct event *s = &p->signals.of[i];

        if (s->read || (!s->queue && over))
            continue;
        over = over || !s->queue;
        if (s->value >= wait->value)
            found = s;
        else if (found)
            break;
    }
    for (size_t i = low; i < p->signals.num && !found; i++)
        if (p->signals.of[i].value >= wait->value &&
            !(p->signals.of[i].read &&
              p->signals.of[i].value == UINT64_MAX)) /* which a lost device says of all */
            found = &p->signals.of[i];
    return found;
}

/* Whether `e` is the last that its queue, or the program, did of these; of reads, the last. */
static bool is_last(const struct events *all, const struct event *e)
{
    for (const struct event *x = all->of + all->num; --x > e;)
        if (x->read == e->read && x->queue == e->queue)
            return false;
    return true;
}

/* Of waits that nothing ends all are shown, and of the others the last of each. */
static bool is_shown(const struct fence *p, const struct event *wait)
{
    if (!ends(p, wait))
        return true;
    for (const struct event *x = p->waits.of + p->waits.num; --x > wait;)
        if (x->queue == wait->queue && ends(p, x))
            return false;
    return true;
}

/* ---- showing it ---------------------------------------------------------- */

static void json_event(struct json_writer *w, const char *key, const struct event *e)
{
    json_write_object(w, key);
    json_write_unsigned(w, "value", e->value);
    json_write_unsigned(w, "call", e->call);
    if (e->queue)
        json_write_unsigned(w, "queue", e->queue);
    if (e->read)
        json_write_bool(w, "read", true);
}

/* The last value that was signalled by a queue, or by the program, or that was read. */
static void json_last(struct json_writer *w, const char *key, const struct fence *p, bool queue, bool read)
{
    for (size_t i = p->signals.num; i-- > 1;)
        if (p->signals.of[i].read == read && !!p->signals.of[i].queue == queue) {
            json_write_unsigned(w, key, p->signals.of[i].value);
            return;
        }
}

static void json_fence(struct strbuf *out, const struct fence *p)
{
    struct json_writer w = json_writer_text(out);

    json_write_object(&w, NULL);
    json_write_unsigned(&w, "fence", p->id);
    json_write_unsigned(&w, "initial", p->signals.of[0].value);
    json_last(&w, "queue", p, true, false);
    json_last(&w, "cpu", p, false, false);
    json_last(&w, "read", p, false, true);
    json_write_array(&w, "signals");
    for (size_t i = 1; i < p->signals.num; i++)
        if (!p->signals.of[i].read && is_last(&p->signals, &p->signals.of[i])) {
            json_event(&w, NULL, &p->signals.of[i]);
            json_write_end(&w);
        }
    json_write_end(&w);
    json_write_array(&w, "waits");
    for (size_t i = 0; i < p->waits.num; i++) {
        const struct event *by = ends(p, &p->waits.of[i]);

        if (!is_shown(p, &p->waits.of[i]))
            continue;
        json_event(&w, NULL, &p->waits.of[i]);
        json_write_bool(&w, "signalled", by != NULL);
        if (by) {
            json_event(&w, "by", by);
            json_write_end(&w);
        }
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    strbuf_puts(out, "\n");
}

static void text_who(struct strbuf *out, const struct event *e)
{
    if (e->queue)
        strbuf_printf(out, "queue %u", e->queue);
    else
        strbuf_puts(out, "the program");
}

static void text_wait(struct strbuf *out, const struct fence *p, const struct event *wait)
{
    const struct event *by = ends(p, wait);

    strbuf_puts(out, ", ");
    text_who(out, wait);
    strbuf_printf(out, " waited for %llu (call %llu), ", (unsigned long long)wait->value,
                  (unsigned long long)wait->call);
    if (!by) {
        strbuf_puts(out, "which nobody had signalled");
    } else if (by == p->signals.of) {
        strbuf_puts(out, "where it began");
    } else if (by->read) {
        strbuf_printf(out, "and it was read as far (call %llu)", (unsigned long long)by->call);
    } else {
        strbuf_puts(out, "which ");
        text_who(out, by);
        strbuf_printf(out, by->queue ? " was told to signal (call %llu)" : " signalled (call %llu)",
                      (unsigned long long)by->call);
    }
}

static void text_fence(struct strbuf *out, const struct names *names, const struct fence *p)
{
    const struct name *n = names_get(names, p->id);

    strbuf_printf(out, "Fence#%u%s%s: it began at %llu", p->id, n && n->text ? " " : "",
                  n && n->text ? n->text : "", (unsigned long long)(p->signals.of[0].value));
    for (size_t i = 1; i < p->signals.num; i++) {
        const struct event *s = &p->signals.of[i];

        if (!is_last(&p->signals, s))
            continue;
        strbuf_puts(out, ", ");
        if (!s->read)
            text_who(out, s);
        strbuf_printf(out, "%s %llu (call %llu)",
                      s->read    ? "last read as"
                      : s->queue ? " was told to signal"
                                 : " signalled",
                      (unsigned long long)s->value, (unsigned long long)s->call);
    }
    for (int ended = 1; ended >= 0; ended--)
        for (size_t i = 0; i < p->waits.num; i++)
            if ((ends(p, &p->waits.of[i]) != NULL) == ended && is_shown(p, &p->waits.of[i]))
                text_wait(out, p, &p->waits.of[i]);
    strbuf_puts(out, "\n");
}

int fences_at(struct strbuf *out, enum show_form form, struct trc *t, const struct names *names,
              uint64_t index, struct error *e)
{
    struct fences f = {0};
    struct trc_call c;
    int got = 0, err = 0;

    trc_rewind(t);
    while (!err && (got = trc_next(t, &c, e)) > 0) {
        err = follow_fence(&f, &c);
        if (c.index >= index)
            break;
    }
    if (err)
        error_set(e, err, "no memory for the fences");
    else if (!got)
        err = error_set(e, -ENOENT, "there is no call %llu", (unsigned long long)index);
    for (size_t i = 0; i < f.num; i++) {
        if (!err && form == SHOW_JSON)
            json_fence(out, &f.of[i]);
        else if (!err)
            text_fence(out, names, &f.of[i]);
        fence_finish(&f.of[i]);
    }
    free(f.of);
    trc_rewind(t);
    return err ? err : got < 0 ? got : strbuf_failed(out) ? -ENOMEM : 0;
}
