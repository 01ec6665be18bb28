/* SPDX-License-Identifier: MIT */
/* play.c: the loop over the calls (play.h). */
#include "d3d12/play/play.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "d3d12/play/play_internal.h"
#include "d3d12/play/play_loop.h"
#include "d3d12/play/play_window.h"

#define ID_LIMIT(calls) (65536 + 16 * (calls)) /* numbers count up with the objects that are made */

int play_fail(struct player *p, const struct play_call *c, int err, const char *fmt, ...)
{
    const struct api_method *m = c->call->m;
    char text[200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return error_set(&p->error, err, "call %llu (block %u): %s::%s: %s", (unsigned long long)c->call->index,
                     c->call->block, m->iface, m->name, text);
}

int play_decoded(struct player *p, const struct play_call *c, const struct dec *d)
{
    if (d->bad)
        return play_fail(p, c, d->err ? d->err : -EBADMSG, d->id ? "%s (%u)" : "%s",
                         d->what ? d->what : "malformed", d->id);
    if (d->in.bad)
        return play_fail(p, c, -EBADMSG, "malformed at byte %zu of its arguments", d->in.pos);
    if (bytes_left(&d->in))
        return play_fail(p, c, -EBADMSG, "%zu bytes too many", bytes_left(&d->in));
    return 0;
}

struct play_object *play_object(struct player *p, uint32_t id)
{
    return id >= 2 && id < p->num_objects ? &p->objects[id] : NULL;
}

static struct play_object *make_object(struct player *p, uint32_t id)
{
    if (id >= p->num_objects) {
        uint32_t n = p->num_objects ? p->num_objects : 256;
        struct play_object *o;

        while (n <= id)
            n *= 2;
        o = realloc(p->objects, n * sizeof(*o));
        if (!o)
            return NULL;
        memset(o + p->num_objects, 0, (n - p->num_objects) * sizeof(*o));
        p->objects = o;
        p->num_objects = n;
    }
    return &p->objects[id];
}

void *play_this(struct player *p, const struct play_call *c, uint16_t iface, uint16_t slot)
{
    struct play_object *o = play_object(p, c->call->self);

    if (!o || !o->ptr) {
        play_fail(p, c, -EBADMSG,
                  o && o->gone ? "it is made on object %u after its last release"
                               : "it is made on object %u, which does not exist",
                  c->call->self);
        return NULL;
    }
    if (!d12_iface_is(o->iface, iface)) {
        play_fail(p, c, -EBADMSG, "it is made on object %u, which is an %s", c->call->self,
                  o->iface < D12_NUM_IFACES ? d12_ifaces[o->iface].name : "unknown object");
        return NULL;
    }
    return o->ptr;
}

void play_new_object(struct player *p, const struct play_call *c, uint32_t id, void *ptr, const GUID *iid,
                     uint16_t natural)
{
    uint16_t iface = iid ? d12_iface_of(iid) : natural;
    struct play_object *o;
    bool wrong;

    if (!ptr)
        return;
    if (!id) { /* the recorded program got none */
        ((IUnknown *)ptr)->lpVtbl->Release(ptr);
        return;
    }
    wrong = id < 2 || id >= ID_LIMIT(p->result->calls);
    o = wrong ? NULL : make_object(p, id);
    if (!o) {
        ((IUnknown *)ptr)->lpVtbl->Release(ptr);
        if (wrong)
            play_fail(p, c, -EBADMSG, "its new object has the number %u", id);
        else
            play_fail(p, c, -ENOMEM, "no memory for object %u", id);
        return;
    }
    if (iface == D12_IFACE_UNKNOWN || d12_iface_is(natural, iface))
        iface = natural;
    if (o->ptr == ptr) {
        if (d12_iface_is(iface, o->iface))
            o->iface = iface;
        return;
    }
    *o = (struct play_object){.ptr = ptr, .iface = iface};
}

int play_compare(struct player *p, const struct play_call *c, HRESULT recorded, HRESULT now)
{
    if (p->error.code)
        return p->error.code;
    if (SUCCEEDED(recorded) && FAILED(now) && !c->call->incomplete)
        return play_fail(p, c, -EIO, "it failed with 0x%08x, where the recorded program got 0x%08x",
                         (unsigned)now, (unsigned)recorded);
    return 0;
}

void play_arena_reset(struct player *p)
{
    while (p->arena && p->arena->next) {
        struct arena_block *b = p->arena;

        p->arena = b->next;
        p->arena_total -= b->cap;
        free(b);
    }
    if (p->arena)
        p->arena->used = 0;
}

void play_arena_finish(struct player *p)
{
    play_arena_reset(p);
    free(p->arena);
    p->arena = NULL;
}

/* Whether the program was told that it cannot be done. */
static bool failed_then(const struct trc_call *call)
{
    const struct api_method *m = call->m;
    struct bytes in = bytes_of(call->args + call->args_size, call->size - call->args_size);

    return !call->incomplete && m->num_out && m->out[0].mode == API_MODE_VALUE &&
           m->out[0].type->kind == API_KIND_HRESULT && FAILED((HRESULT)unzigzag(bytes_varint(&in)));
}

/* A draw that is not there: the first is told at once, and how many there were at the end. */
static void note_refused(struct player *p, const struct trc_call *call)
{
    int r = p->on->refused ? p->on->refused() : 0;

    if (r && !p->result->draws_refused++)
        log_warn("d3d12",
                 "call %llu: %s::%s: the Vulkan driver makes no pipeline for it (VkResult %d), so libvkd3d "
                 "leaves it out; what is seen is without it",
                 (unsigned long long)call->index, call->m->iface, call->m->name, r);
}

int play_one(struct player *p, const struct trc_call *call)
{
    const struct api_method *m = call->m;
    struct dec d = {.in = bytes_of(call->args, call->size), .p = p};
    struct play_call c = {call};
    int err;

    if (m->flags & API_QUERY)
        return 0;
    if (m->flags & API_REFUSE && failed_then(call)) /* nothing came of it */
        return 0;
    if (m->flags & API_REFUSE)
        return play_fail(p, &c, -ENOTSUP, "this cannot be played (docs/d3d12.md says why)");
    if (!play_table[call->method])
        return play_fail(p, &c, -ENOTSUP, "this cannot be played");
    play_arena_reset(p);
    if (p->look && (err = play_look_before(p, call)))
        return err < 0 ? err : 0;
    err = play_table[call->method](p, &c, &d);
    note_refused(p, call);
    if (!err && p->follow && res_follow(&p->states, call))
        err = play_fail(p, &c, -ENOMEM, "out of memory");
    return !err && p->look ? play_look_after(p, call) : err;
}

/* The hash of a frame stands some frames behind it, when the GPU was done: those of the frames that were played, `call`
 * being the first that is not. What is wrong with the file there is nothing to who stops here. */
static void compare_frames(struct player *p, struct trc_call call)
{
    const uint32_t last = call.frame;

    do {
        struct dec d = {.in = bytes_of(call.args, call.size), .p = p};
        struct play_call c = {&call};

        if (call.method == D12_Native_FrameHash && play_table[call.method](p, &c, &d))
            return;
    } while (trc_next(p->trace, &call, NULL) > 0 && call.frame - last <= API_HASHES);
}

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static bool looped(const struct player *p, const struct trc_call *c)
{
    return p->params->loop && c->frame == p->params->loop_frame;
}

static int play_next(struct player *p, const struct trc_call *c)
{
    int err;

    if (!c->incomplete)
        p->stuck.fence = 0; /* somebody goes on */
    if (p->params->progress)
        *p->params->progress = (struct trc_progress){c->index, c->block, c->method, c->incomplete};
    err = play_one(p, c);
    if (!err && p->params->step)
        err = play_step(p, c);
    if (!err && p->plan.failed)
        err = error_set(&p->error, -ENOMEM, "call %llu: no memory to translate addresses",
                        (unsigned long long)c->index);
    return err;
}

int play_run(struct trc *t, const struct play_params *params, struct play_result *r, struct error *e)
{
    struct player p = {.trace = t, .on = params->on, .params = params, .result = r};
    struct play_loop loop = {0};
    struct trc_call call;
    uint64_t known = trc_features(t);
    double start = now();
    bool at_done = false;
    int got;

    *r = (struct play_result){0};
    if (!p.on && !(p.on = play_on_library(NULL, e)))
        return e->code;
    if ((!known || known & (TRC_HAS_HEAPS | TRC_HAS_ADDRESSES)) && plan_make(&p.plan, t)) {
        plan_finish(&p.plan);
        return error_set(e, -ENOMEM, "out of memory");
    }
    if (play_look_create(&p))
        return error_set(e, -ENOMEM, "out of memory");
    while ((got = trc_next(t, &call, &p.error)) > 0) {
        if (call.index > params->until_call || call.frame > params->until_frame) {
            r->stopped = true;
            break;
        }
        r->end = call.index + 1;
        r->end_frame = call.frame;
        if (params->at && !at_done && call.frame >= params->at_frame) {
            at_done = true;
            if (play_idle(&p, &p.error) || params->at(&p, params->at_ctx, &p.error))
                break; /* an error, or all that was wanted */
        }
        if ((params->keep && !params->keep[call.index]) || (looped(&p, &call) && play_loop_lets_go(&call)))
            continue;
        got = play_next(&p, &call);
        if (!got && looped(&p, &call))
            got = play_loop_keep(&loop, &call, &p.error);
        if (got)
            break;
        r->calls++;
        INVARIANT(!p.error.code); // a call that failed was the last
        INVARIANT(r->frames <= r->calls && r->calls <= call.index + 1);
        if (call.index >= params->stop_before && call.method == D12_Native_Present)
            break;
        if (p.closed || (params->stop && *params->stop)) {
            r->stopped = true;
            break;
        }
    }
    if (params->loop && got >= 0 && !p.error.code && !p.closed && !(params->stop && *params->stop))
        got = play_loop_run(&p, &loop);
    if (params->finish && !got && !p.error.code && play_idle(&p, &p.error)) {
        r->hung = true;
        error_prefix(&p.error, "after the last call");
    }
    r->waits = params->finish && !got && !p.error.code && play_stuck(&p, &p.error);
    r->seconds = now() - start;
    if (r->stopped && params->validate)
        compare_frames(&p, call);
    if (!p.error.code && got >= 0 && params->window && !p.window && !(params->stop && *params->stop))
        error_set(&p.error, -ENOENT, "nothing was shown: no frame is presented");
    if (!p.error.code)
        play_look_end(&p);
    if (p.error.code)
        error_set(e, p.error.code, "%s", p.error.text);
    play_loop_finish(&loop);
    play_look_finish(&p);
    play_picture_finish(&p);
    play_window_close(p.window);
    res_finish(&p.states);
    play_chains_finish(&p);
    play_arena_finish(&p);
    plan_finish(&p.plan);
    free(p.objects);
    free(p.events);
    free(p.waits);
    return p.error.code;
}
