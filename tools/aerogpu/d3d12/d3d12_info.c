/* SPDX-License-Identifier: MIT */
/* d3d12_info.c: what a recording of Direct3D 12 is at a glance. */
#include "d3d12.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "d3d12/gen/table.h"
#include "d3d12/view/res_state.h"
#include "d3d12/view/unfinished.h"
#include "d3d12_api.h"
#include "record/names.h"
#include "record/trace_file.h"
#include "record/walk.h"

#define MAX_NOTES 32

struct glance {
    uint64_t calls, seconds_ns, of[D12_NUM_METHODS];
    uint64_t draws, dispatches, copies;
    uint32_t last_frame, last_thread;
    struct names names;
    struct res_states resources;
    struct unfinished *unfinished;
    json_t *notes;
};

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static void on_list(struct glance *g, const char *name)
{
    if (begins(name, "Draw") || begins(name, "ExecuteIndirect"))
        g->draws++;
    else if (begins(name, "Dispatch"))
        g->dispatches++;
    else if (begins(name, "Copy") || begins(name, "Resolve"))
        g->copies++;
}

static void on_note(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v)
{
    struct glance *g = ctx;

    if (v->type && v->type->kind == API_KIND_STR && v->bytes && json_array_size(g->notes) < MAX_NOTES)
        json_array_append_new(g->notes, json_stringn(v->bytes, v->size));
}

static void note(struct glance *g, const struct trc_call *c)
{
    const struct walk_visitor v = {.value = on_note, .ctx = g};

    walk_args(c, &v);
}

/* 0 or -ENOMEM. */
static int see(struct glance *g, const struct trc_call *c)
{
    const struct api_method *m = c->m;

    g->calls++;
    g->of[c->method]++;
    g->seconds_ns = c->time_ns > g->seconds_ns ? c->time_ns : g->seconds_ns;
    g->last_frame = c->frame > g->last_frame ? c->frame : g->last_frame;
    g->last_thread = c->thread > g->last_thread ? c->thread : g->last_thread;
    if (begins(m->iface, "ID3D12GraphicsCommandList"))
        on_list(g, m->name);
    if (c->method == D12_Native_Note)
        note(g, c);
    if (names_follow(&g->names, c) || unfinished_follow(g->unfinished, c))
        return -1;
    return res_follow(&g->resources, c);
}

static int more(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return x[0] < y[0] ? 1 : x[0] > y[0] ? -1 : x[1] < y[1] ? -1 : 1;
}

static void put_count(json_t *list, uint64_t count, const char *fmt, const char *a, const char *b)
{
    char name[160];

    snprintf(name, sizeof(name), fmt, a, b);
    json_array_append_new(list, json_pack("{s:I, s:s}", "count", (json_int_t)count, "name", name));
}

/* Calls by method, the most frequent first; and those that playing refuses. */
static void put_methods(const struct glance *g, json_t *o)
{
    json_t *methods = json_array(), *refused = json_array();
    uint64_t(*order)[2] = calloc(D12_NUM_METHODS, sizeof(*order));
    size_t n = 0;

    for (uint32_t i = 1; order && i < D12_NUM_METHODS; i++)
        if (g->of[i]) {
            order[n][0] = g->of[i];
            order[n++][1] = i;
        }
    if (n)
        qsort(order, n, sizeof(*order), more);
    for (size_t i = 0; i < n; i++) {
        const struct api_method *m = &d12_methods[order[i][1]];

        put_count(methods, order[i][0], "%s::%s", m->iface, m->name);
        if (m->flags & API_REFUSE)
            put_count(refused, order[i][0], "%s::%s", m->iface, m->name);
    }
    if (json_array_size(refused))
        json_object_set(o, "cannot_be_played", refused);
    json_decref(refused);
    json_object_set_new(o, "methods", methods);
    free(order);
}

static void put_objects(const struct glance *g, json_t *o)
{
    json_t *list = json_array();
    uint64_t kinds[D12_NUM_IFACES] = {0}, buffers = 0, textures = 0, alive = 0;

    for (uint32_t i = 2; i < g->names.num; i++) {
        const struct name *n = names_get(&g->names, i);
        const struct res_info *r = res_get(&g->resources, i);

        if (!n)
            continue;
        kinds[n->iface < D12_NUM_IFACES ? n->iface : 0]++;
        alive += n->died == UINT64_MAX;
        buffers += r && r->buffer;
        textures += r && !r->buffer;
    }
    for (uint16_t i = 0; i < D12_NUM_IFACES; i++)
        if (kinds[i])
            put_count(list, kinds[i], "%s%s", d12_ifaces[i].name, "");
    json_object_set_new(o, "buffers", json_integer((json_int_t)buffers));
    json_object_set_new(o, "textures", json_integer((json_int_t)textures));
    json_object_set_new(o, "never_released", json_integer((json_int_t)alive));
    json_object_set_new(o, "objects", list);
}

static void put(json_t *o, const char *key, uint64_t v)
{
    json_object_set_new(o, key, json_integer((json_int_t)v));
}

/* What a program that hung, or lost its device, was waiting for. */
static void put_unfinished(const struct glance *g, json_t *o)
{
    json_t *list = unfinished_list(g->unfinished);

    if (json_array_size(list))
        json_object_set(o, "not_known_to_be_done", list);
    json_decref(list);
}

static void put_glance(const struct glance *g, json_t *o)
{
    const uint64_t *of = g->of;

    put(o, "calls", g->calls);
    put(o, "threads", g->last_thread);
    json_object_set_new(o, "seconds", json_real((double)g->seconds_ns / 1e9));
    put(o, "frames", of[D12_Native_Present]);
    put(o, "last_frame", g->last_frame);
    put(o, "submissions", of[D12_ID3D12CommandQueue_ExecuteCommandLists]);
    put(o, "draws", g->draws);
    put(o, "dispatches", g->dispatches);
    put(o, "copies", g->copies);
    /* what `play --validate` compares */
    put(o, "hashes_of_frames", of[D12_Native_FrameHash]);
    put(o, "hashes_of_reads", of[D12_Native_ReadbackHash]);
    put(o, "hashes_of_contents", of[D12_Native_ContentsHash]);
    put_objects(g, o);
    if (json_array_size(g->notes))
        json_object_set(o, "notes", g->notes);
    put_methods(g, o);
}

static void put_last(const struct glance *g, const struct trc_call *c, char *to, size_t room)
{
    int n = snprintf(to, room, "call %" PRIu64 ", %s::%s, did not return", c->index, c->m->iface, c->m->name);
    uint64_t value;
    uint32_t fence;

    if (n > 0 && (size_t)n < room && unfinished_awaits(g->unfinished, c, &fence, &value))
        snprintf(to + n, room - (size_t)n, "; it waits for fence %" PRIu32 " to reach %" PRIu64, fence,
                 value);
}

int d3d12_info(const char *path, struct json_t *o, struct error *e)
{
    struct glance *g = calloc(1, sizeof(*g));
    struct trc_call c;
    struct trc *t;
    bool died = false;
    char last[160] = "";
    int got = 0;

    if (!g || !(g->unfinished = unfinished_create()) || trc_open(&t, &d12_api, path, e)) {
        if (g)
            unfinished_destroy(g->unfinished);
        free(g);
        return e->code ? e->code : error_set(e, -ENOMEM, "%s: no memory for what it holds", path);
    }
    g->notes = json_array();
    while ((got = trc_next(t, &c, e)) > 0 && !see(g, &c)) {
        if (c.incomplete)
            put_last(g, &c, last, sizeof(last));
        died = died || c.incomplete;
    }
    json_object_set_new(o, "metadata", json_loads(trc_meta(t), 0, NULL));
    json_object_set_new(o, "blocks", json_integer(trc_num_blocks(t)));
    put_glance(g, o);
    if (died)
        json_object_set_new(o, "ended_in", json_string(last));
    put_unfinished(g, o);
    if (trc_features(t) & TRC_LACKS_CALLS)
        json_object_set_new(o, "lacks_calls", json_true());
    if (got > 0)
        error_set(e, -ENOMEM, "%s: no memory for what it holds", path);
    else if (trc_verify(t, e)) {
        json_object_set_new(o, *trc_cut(t) ? "cut" : "damaged", json_string(e->text));
        error_prefix(e, "%s", path);
    }
    names_finish(&g->names);
    res_finish(&g->resources);
    json_decref(g->notes);
    unfinished_destroy(g->unfinished);
    free(g);
    trc_close(t);
    return e->code;
}
