/* SPDX-License-Identifier: MIT */
/* play_loop.c: one frame again and again: the same every time, for who profiles or captures it.
 *
 * 1. Objects that the frame makes are made once, and none that it lets go is let go: the next time needs it.
 * 2. Fences are where the first time left them, so that no wait waits: where the frame waited, or a queue did, all queues are waited for.
 *    So they are before each time: allocators that it resets are not in use.
 * 3. Hashes are of the first time alone.
 */
#include "d3d12/play/play_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "d3d12/play/play_renderdoc.h"

static bool makes_object(const struct api_method *m)
{
    for (uint32_t i = 0; i < m->num_out; i++)
        if (m->out[i].type && m->out[i].type->kind == API_KIND_OBJECT)
            return true;
    return false;
}

bool play_loop_lets_go(const struct trc_call *c)
{
    return c->m->flags & API_ENDS || c->method == D12_Native_ResourceDecref ||
           c->method == D12_Native_EventDestroy || c->method == D12_Native_SwapChainDestroy;
}

static bool waits(const struct trc_call *c)
{
    switch (c->method) {
    case D12_ID3D12Fence_GetCompletedValue:
    case D12_ID3D12Fence_SetEventOnCompletion:
    case D12_ID3D12Device1_SetEventOnMultipleFenceCompletion:
    case D12_ID3D12CommandQueue_Wait:
    case D12_Native_EventWait:
    case D12_Native_WaitFor:
    case D12_Native_FenceSeen:
        return true;
    default:
        return false;
    }
}

static bool once(const struct trc_call *c)
{
    switch (c->method) {
    case D12_Native_FrameHash:
    case D12_Native_ReadbackHash:
    case D12_Native_ContentsHash:
    case D12_Native_Contents:
    case D12_Native_ResourceIncref:
    case D12_Native_EventCreate:
    case D12_Native_SwapChainCreate:
    case D12_Native_SwapChainResize:
        return true;
    default:
        return c->m->flags & (API_KEEPS | API_CASTS) || makes_object(c->m);
    }
}

int play_loop_keep(struct play_loop *l, const struct trc_call *c, struct error *e)
{
    uint8_t *args;

    if (c->method == D12_ID3D12Device_CreateCommandList)
        return error_set(
            e, -ENOTSUP,
            "call %llu: frame %u makes a command list, which is open then and never again: it cannot be "
            "repeated",
            (unsigned long long)c->index, c->frame);
    if (play_loop_lets_go(c) || once(c))
        return 0;
    args = malloc(c->size ? c->size : 1);
    if (!args || array_reserve(l->calls, l->room, l->num + 1)) {
        free(args);
        return error_set(e, -ENOMEM, "no memory for the calls of frame %u", c->frame);
    }
    memcpy(args, c->args, c->size);
    l->calls[l->num] = *c;
    l->calls[l->num++].args = args;
    return 0;
}

static int again(struct player *p, struct play_loop *l)
{
    int err = play_idle(p, &p->error);

    for (size_t i = 0; i < l->num && !err; i++) {
        if (p->params->progress)
            *p->params->progress = (struct trc_progress){l->calls[i].index, l->calls[i].block,
                                                         l->calls[i].method, l->calls[i].incomplete};
        err = waits(&l->calls[i]) ? play_idle(p, &p->error) : play_one(p, &l->calls[i]);
        p->result->calls += !err;
    }
    return err;
}

int play_loop_run(struct player *p, struct play_loop *l)
{
    const struct play_params *q = p->params;
    int err = 0;

    if (!l->num)
        return error_set(&p->error, -ENOENT, "there is no frame %u", q->loop_frame);
    for (uint64_t i = 1; i < q->loop_times && !(q->stop && *q->stop) && !p->closed && !err; i++) {
        bool captured = i == 1 && play_renderdoc_begin();

        err = again(p, l);
        if (!err && captured) /* with all that its queues were given */
            err = play_idle(p, &p->error);
        if (captured)
            play_renderdoc_end(q->loop_frame);
    }
    return err;
}

void play_loop_finish(struct play_loop *l)
{
    for (size_t i = 0; i < l->num; i++)
        free((void *)(uintptr_t)l->calls[i].args);
    free(l->calls);
    *l = (struct play_loop){0};
}
