/* SPDX-License-Identifier: MIT */
/* unfinished.c: see unfinished.h.
 *
 *   submitted ──the program sees a value that the queue signals behind it──▶ done, and all before it on that queue
 *
 * Invariants:
 *  1. Of each queue submissions are in the order of recording; so are signals.
 *  2. What is listed was not known to be done. It may be done nonetheless: nobody looked.
 *  3. At most MAX submissions are kept; older ones of a program that never looks at a fence are forgotten. */
#include "d3d12/view/unfinished.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "d3d12/gen/table.h"
#include "d3d12_api.h"
#include "record/varint.h"

enum { MAX = 64, LISTS = 16 };

struct list { /* what was recorded into it since it was begun */
    uint64_t draws, dispatches, last;
    uint32_t pipeline, id;
    uint16_t method; /* of the last */
};

struct submission {
    uint64_t call, number;
    uint32_t queue, num;
    struct list of[LISTS];
};

struct signal {
    uint64_t value, after; /* of `queue`, all up to that number are done when it is there */
    uint32_t queue, fence;
};

struct event { /* that a fence will set */
    uint64_t handle, value;
    uint32_t fence;
};

struct unfinished {
    struct map by_list; /* object to an index in `lists` */
    struct list *lists;
    size_t num_lists, room_lists;
    struct submission of[MAX];
    size_t num;
    uint64_t number;
    struct signal *signals;
    size_t num_signals, room_signals;
    struct event *events;
    size_t num_events, room_events;
};

struct unfinished *unfinished_create(void)
{
    return calloc(1, sizeof(struct unfinished));
}

void unfinished_destroy(struct unfinished *u)
{
    if (!u)
        return;
    map_finish(&u->by_list);
    free(u->lists);
    free(u->signals);
    free(u->events);
    free(u);
}

/* ---- lists --------------------------------------------------------------- */

static struct list *list_of(struct unfinished *u, uint32_t id)
{
    uint64_t *at = map_find(&u->by_list, id);

    if (at)
        return &u->lists[*at];
    if (array_reserve(u->lists, u->room_lists, u->num_lists + 1) || !(at = map_put(&u->by_list, id)))
        return NULL;
    *at = u->num_lists;
    u->lists[u->num_lists] = (struct list){.id = id};
    return &u->lists[u->num_lists++];
}

static int follow_list(struct unfinished *u, const struct trc_call *c)
{
    bool draw = !strncmp(c->m->name, "Draw", 4) || !strncmp(c->m->name, "ExecuteIndirect", 15),
         dispatch = !strncmp(c->m->name, "Dispatch", 8),
         other = !strncmp(c->m->name, "Copy", 4) || !strncmp(c->m->name, "Resolve", 7);
    bool reset = c->method == D12_ID3D12GraphicsCommandList_Reset,
         pipeline = c->method == D12_ID3D12GraphicsCommandList_SetPipelineState;
    struct bytes in = bytes_of(c->args, c->size);
    struct list *l;

    if (!draw && !dispatch && !other && !reset && !pipeline)
        return 0;
    if (!(l = list_of(u, c->self)))
        return -ENOMEM;
    if (reset) {
        *l = (struct list){.id = c->self};
        bytes_varint(&in); /* the allocator */
        l->pipeline = (uint32_t)bytes_varint(&in);
    } else if (pipeline) {
        l->pipeline = (uint32_t)bytes_varint(&in);
    } else {
        l->draws += draw;
        l->dispatches += dispatch;
        l->last = c->index;
        l->method = c->method;
    }
    return 0;
}

/* ---- queues and fences --------------------------------------------------- */

static int submit(struct unfinished *u, const struct trc_call *c)
{
    struct bytes in = bytes_of(c->args, c->size);
    struct submission *s;
    uint64_t n;

    bytes_varint(&in); /* the count, which stands before the array as well */
    n = bytes_varint(&in);
    if (u->num == MAX)
        memmove(u->of, u->of + 1, --u->num * sizeof(*u->of));
    s = &u->of[u->num++];
    *s = (struct submission){.call = c->index, .number = ++u->number, .queue = c->self};
    for (uint64_t i = 1; i < n && !in.bad && s->num < LISTS; i++) {
        struct list *l = list_of(u, (uint32_t)bytes_varint(&in));

        if (!l)
            return -ENOMEM;
        s->of[s->num++] = *l;
    }
    INVARIANT(u->num <= MAX);
    return 0;
}

static void done(struct unfinished *u, uint32_t queue, uint64_t number)
{
    size_t n = 0;

    for (size_t i = 0; i < u->num; i++)
        if (u->of[i].queue != queue || u->of[i].number > number)
            u->of[n++] = u->of[i];
    u->num = n;
    n = 0;
    for (size_t i = 0; i < u->num_signals; i++)
        if (u->signals[i].queue != queue || u->signals[i].after > number)
            u->signals[n++] = u->signals[i];
    u->num_signals = n;
}

/* The program knows that the fence is that far. */
static void seen(struct unfinished *u, uint32_t fence, uint64_t value)
{
    for (size_t i = u->num_signals; i-- > 0;)
        if (i < u->num_signals && u->signals[i].fence == fence && u->signals[i].value <= value)
            done(u, u->signals[i].queue, u->signals[i].after);
}

static int signalled(struct unfinished *u, uint32_t queue, uint32_t fence, uint64_t value)
{
    if (u->num_signals >= (size_t)MAX * 16) /* nobody looks */
        memmove(u->signals, u->signals + 1, --u->num_signals * sizeof(*u->signals));
    if (array_reserve(u->signals, u->room_signals, u->num_signals + 1))
        return -ENOMEM;
    u->signals[u->num_signals++] =
        (struct signal){.queue = queue, .fence = fence, .value = value, .after = u->number};
    return 0;
}

static int will_set(struct unfinished *u, uint32_t fence, uint64_t value, uint64_t handle)
{
    if (!handle) { /* the call itself waited */
        seen(u, fence, value);
        return 0;
    }
    for (size_t i = 0; i < u->num_events; i++)
        if (u->events[i].handle == handle) {
            u->events[i] = (struct event){handle, value, fence};
            return 0;
        }
    if (array_reserve(u->events, u->room_events, u->num_events + 1))
        return -ENOMEM;
    u->events[u->num_events++] = (struct event){handle, value, fence};
    return 0;
}

static void waited(struct unfinished *u, uint64_t handle)
{
    for (size_t i = 0; i < u->num_events; i++)
        if (u->events[i].handle == handle)
            seen(u, u->events[i].fence, u->events[i].value);
}

bool unfinished_awaits(const struct unfinished *u, const struct trc_call *c, uint32_t *fence, uint64_t *value)
{
    struct bytes in = bytes_of(c->args, c->size);
    uint64_t a = bytes_varint(&in), b = bytes_varint(&in);

    if (c->method == D12_ID3D12Fence_SetEventOnCompletion && !b && !in.bad) {
        *fence = c->self;
        *value = a;
        return true;
    }
    if (c->method != D12_Native_EventWait && c->method != D12_Native_WaitFor)
        return false;
    for (size_t i = 0; i < u->num_events && a; i++)
        if (u->events[i].handle == a) {
            *fence = u->events[i].fence;
            *value = u->events[i].value;
            return true;
        }
    return false;
}

int unfinished_follow(struct unfinished *u, const struct trc_call *c)
{
    struct bytes in = bytes_of(c->args, c->size);
    uint64_t a, b;

    switch (c->method) {
    case D12_ID3D12CommandQueue_ExecuteCommandLists:
        return submit(u, c);
    case D12_ID3D12CommandQueue_Signal:
        a = bytes_varint(&in);
        return signalled(u, c->self, (uint32_t)a, bytes_varint(&in));
    case D12_Native_FenceSeen:
        a = bytes_varint(&in);
        seen(u, (uint32_t)a, bytes_varint(&in));
        return 0;
    case D12_ID3D12Fence_GetCompletedValue:
        a = c->incomplete ? 0 : bytes_varint(&in);
        if (a != UINT64_MAX) /* a device that is lost says that of all */
            seen(u, c->self, a);
        return 0;
    case D12_ID3D12Fence_SetEventOnCompletion:
        a = bytes_varint(&in);
        b = bytes_varint(&in);
        return c->incomplete ? 0 : will_set(u, c->self, a, b);
    case D12_Native_EventWait:
        a = bytes_varint(&in);
        bytes_varint(&in); /* how long at most */
        if (!c->incomplete && !bytes_varint(&in) && !in.bad)
            waited(u, a);
        return 0;
    }
    return strncmp(c->m->iface, "ID3D12GraphicsCommandList", 25) ? 0 : follow_list(u, c);
}

/* ---- what is left -------------------------------------------------------- */

static json_t *put_list(const struct list *l, struct strbuf *text)
{
    json_t *o = json_pack("{s:I, s:I, s:I}", "list", (json_int_t)l->id, "draws", (json_int_t)l->draws,
                          "dispatches", (json_int_t)l->dispatches);

    strbuf_printf(text, "; list %u: %llu draws, %llu dispatches", l->id, (unsigned long long)l->draws,
                  (unsigned long long)l->dispatches);
    if (l->pipeline) {
        json_object_set_new(o, "pipeline", json_integer(l->pipeline));
        strbuf_printf(text, ", pipeline %u", l->pipeline);
    }
    if (l->method) {
        json_object_set_new(o, "last_call", json_integer((json_int_t)l->last));
        json_object_set_new(o, "last", json_string(d12_methods[l->method].name));
        strbuf_printf(text, ", last call %llu, %s", (unsigned long long)l->last, d12_methods[l->method].name);
    }
    return o;
}

json_t *unfinished_list(const struct unfinished *u)
{
    json_t *all = json_array();

    for (size_t i = 0; i < u->num; i++) {
        json_t *lists = json_array(), *o;
        struct strbuf text = {0};

        strbuf_printf(&text, "call %llu, queue %u", (unsigned long long)u->of[i].call, u->of[i].queue);
        for (uint32_t k = 0; k < u->of[i].num; k++)
            json_array_append_new(lists, put_list(&u->of[i].of[k], &text));
        o = json_pack("{s:I, s:I, s:o}", "call", (json_int_t)u->of[i].call, "queue",
                      (json_int_t)u->of[i].queue, "lists", lists);
        json_object_set_new(o, "text", json_string(strbuf_str(&text)));
        json_array_append_new(all, o);
        strbuf_finish(&text);
    }
    return all;
}
