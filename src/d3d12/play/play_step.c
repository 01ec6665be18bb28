/* SPDX-License-Identifier: MIT */
/* play_step.c: each submission waited for, so that the one that does not get done is known (play_params.step).
 *
 * A queue that waits for a fence which is not there yet is let be: what lets it go may be a call still to come. What is in the lists
 * is read from the recording once one hangs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "d3d12/play/play_internal.h"
#include "record/names.h"

#define MAX_LISTS 64

struct in_list { /* since it was begun */
    uint32_t list, pipeline;
    uint64_t works, first, last; /* draws and dispatches; calls */
    const struct api_method *method;
};

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static void on_call(struct in_list *l, const struct trc_call *c)
{
    struct bytes in = bytes_of(c->args, c->size);
    const char *name = c->m->name;

    if (c->method == D12_ID3D12GraphicsCommandList_Reset) {
        *l = (struct in_list){.list = l->list};
        bytes_varint(&in); /* the allocator */
        l->pipeline = (uint32_t)bytes_varint(&in);
    } else if (c->method == D12_ID3D12GraphicsCommandList_SetPipelineState) {
        l->pipeline = (uint32_t)bytes_varint(&in);
    } else if (begins(name, "Draw") || begins(name, "Dispatch") || begins(name, "Execute")) {
        l->first = l->works++ ? l->first : c->index;
        l->last = c->index;
        l->method = c->m;
    }
}

/* Says what is in the lists of the submission `index`, which hangs. */
static int hangs(struct player *p, uint64_t index, const uint32_t *ids, size_t num)
{
    struct in_list lists[MAX_LISTS];
    char text[240] = "";
    struct trc_call c;
    size_t n = 0;

    num = num < MAX_LISTS ? num : MAX_LISTS;
    for (size_t i = 0; i < num; i++)
        lists[i] = (struct in_list){.list = ids[i]};
    trc_rewind(p->trace);
    while (trc_next(p->trace, &c, NULL) > 0 && c.index < index)
        for (size_t i = 0; i < num; i++)
            if (lists[i].list == c.self)
                on_call(&lists[i], &c);
    for (size_t i = 0; i < num && n < sizeof(text); i++)
        if (lists[i].works)
            n += (size_t)snprintf(
                text + n, sizeof(text) - n,
                "; list %u has %llu draws and dispatches, calls %llu to %llu, the last %s with pipeline %u",
                lists[i].list, (unsigned long long)lists[i].works, (unsigned long long)lists[i].first,
                (unsigned long long)lists[i].last, lists[i].method->name, lists[i].pipeline);
    p->result->hung = true;
    return error_set(&p->error, -ETIMEDOUT, "call %llu: this submission does not get done%s",
                     (unsigned long long)index, text);
}

/* Whether a queue waits for a fence that is not there. */
static bool waited_for(struct player *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->num_waits; i++) {
        const struct play_object *fence = play_object(p, p->waits[i].fence);

        if (fence && fence->ptr &&
            ((ID3D12Fence *)fence->ptr)->lpVtbl->GetCompletedValue(fence->ptr) < p->waits[i].value)
            p->waits[kept++] = p->waits[i];
    }
    p->num_waits = kept;
    return kept;
}

int play_step(struct player *p, const struct trc_call *c)
{
    struct bytes in = bytes_of(c->args, c->size);
    struct id_list ids = {0};
    struct error e = {0};
    int err = 0;

    if (c->method == D12_ID3D12CommandQueue_Wait) {
        if (array_reserve(p->waits, p->room_waits, p->num_waits + 1))
            return error_set(&p->error, -ENOMEM, "out of memory");
        p->waits[p->num_waits].fence = (uint32_t)bytes_varint(&in);
        p->waits[p->num_waits++].value = bytes_varint(&in);
    }
    if (c->method != D12_ID3D12CommandQueue_ExecuteCommandLists || waited_for(p))
        return 0;
    if (names_mentioned(c, false, &ids))
        err = error_set(&p->error, -ENOMEM, "out of memory");
    else if (play_idle(p, &e))
        err = hangs(p, c->index, ids.ids, ids.num);
    free(ids.ids);
    return err;
}
