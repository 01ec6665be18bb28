/* SPDX-License-Identifier: MIT */
/* engine.c: life cycle, the submission loop and the completion thread (contract in engine.h, map in engine_priv.h). */
#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"
#include "executor/engine/pass.h"
#include "executor/engine/pipeline.h"
#include "executor/engine/shader_object.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "base/check.h"
#include "base/log.h"

enum { MAX_STREAM = 64 << 20, MAX_TABLE = 16 << 20, NULL_BUFFER_SIZE = 64 << 10 };

int exec_fail(struct exec_engine *g, uint32_t code, enum abi_cause cause, int err, const char *fmt, ...)
{
    INVARIANT(err < 0 && code != AEROGPU_ERROR_NONE);
    INVARIANT(g->error); /* a submission is being decoded */
    if (!g->error->code) {
        va_list ap;
        char text[sizeof(g->error->text)];
        va_start(ap, fmt);
        vsnprintf(text, sizeof(text), fmt, ap);
        va_end(ap);
        error_set(g->error, err, "%s", text);
        g->error_code = code;
        g->error_cause = cause;
    }
    return err;
}

int exec_fail_dma(struct exec_engine *g, const char *what, uint64_t gpa, uint64_t size)
{
    if (!g->error->code)
        g->error_address = gpa;
    return exec_fail(g, AEROGPU_ERROR_OOB, ABI_CAUSE_DMA, -ERANGE, "%s%s0x%llx + %llu is not guest memory",
                     what, *what ? ": " : "", (unsigned long long)gpa, (unsigned long long)size);
}

int exec_fail_vulkan(struct exec_engine *g, const char *what, VkResult r)
{
    return exec_fail(g, AEROGPU_ERROR_BACKEND,
                     exec_vk_errno(r) == -ENOMEM ? ABI_CAUSE_MEMORY : ABI_CAUSE_OTHER, -EIO, "%s: %s", what,
                     exec_vk_result_name(r));
}

uint64_t exec_completed(struct exec_engine *g)
{
    uint64_t serial;

    pthread_mutex_lock(&g->lock);
    serial = g->completed_serial;
    pthread_mutex_unlock(&g->lock);
    return serial;
}

bool exec_object_is_busy(struct exec_engine *g, const struct exec_object *o)
{
    if (!o->last_use)
        return false;
    /* The batch that is decoded has not even begun, which needs no look at what is done. */
    return (g->batch && o->last_use == g->batch->serial) || o->last_use > exec_completed(g);
}

/* With the lock held: a batch is free, queued, or in one hand, and what is queued completes in order. */
static void batches_check(const struct exec_engine *g)
{
    uint64_t last = g->completed_serial;
    int n = 0;

    INVARIANT(g->completed_serial <= g->submitted_serial);
    INVARIANT(g->submitted_serial - g->completed_serial <= NUM_BATCHES);
    INVARIANT(!g->queue == (g->queue_end == &g->queue));
    for (const struct exec_batch *b = g->queue; b; b = b->next, n++) {
        INVARIANT(b->serial > last && b->serial <= g->submitted_serial);
        INVARIANT(!b->recording);
        last = b->serial;
    }
    for (const struct exec_batch *b = g->free_batches; b; b = b->next, n++)
        INVARIANT(b->serial <= g->completed_serial && !b->recording);
    INVARIANT(n <= NUM_BATCHES);
    INVARIANT(!g->cut || g->cut->cuts_handed);
}

_Thread_local bool exec_own_thread;

/* ---- the completion thread ----------------------------------------------- */

static VkResult wait_fence(struct exec_engine *g, struct exec_batch *b, VkFence fence)
{
    uint64_t timeout =
        g->progress.own.buffer ? 5000000 : UINT64_MAX; /* ns; the device's markers must be fetched */
    VkResult r;

    while ((r = vkWaitForFences(g->vk.device, 1, &fence, VK_TRUE, timeout)) == VK_TIMEOUT)
        exec_progress_copy(g, b);
    return r;
}

/* The next batches take the draws to be as slow as those of this one. */
static void note_pace(struct exec_engine *g, const struct exec_batch *b)
{
    const uint64_t now = clock_now(&g->clock), began = b->handed_ns > g->done_ns ? b->handed_ns : g->done_ns;

    if (b->draws)
        g->slow_draws = now - began >= (uint64_t)SLOW_DRAW_NS * b->draws;
    g->done_ns = now;
}

static void complete_batch(struct exec_engine *g, struct exec_batch *b)
{
    VkResult r = b->has_work ? wait_fence(g, b, b->fence) : VK_SUCCESS;

    if (r && !b->completion.error) {
        b->completion.error = AEROGPU_ERROR_BACKEND;
        b->completion.cause = exec_vk_errno(r) == -ENOMEM ? ABI_CAUSE_MEMORY : ABI_CAUSE_OTHER;
        snprintf(b->completion.message, sizeof(b->completion.message), "the Vulkan device failed: %s",
                 exec_vk_result_name(r));
    }
    if (!r)
        exec_batch_run_readbacks(g, b);
    exec_shader_jobs_finish(g, b);
    if (r == VK_ERROR_DEVICE_LOST)
        exec_progress_lost(g, b);
    exec_progress_done(g, b, !r);
    note_pace(g, b);
    g->params.complete(g->params.ctx, &b->completion);
    if (r) {
        log_error("executor", "the Vulkan device failed: %s; giving up", exec_vk_result_name(r));
        abort(); /* the host starts a new executor */
    }
}

/* With the lock held. */
static void finished(struct exec_engine *g, struct exec_batch *b)
{
    INVARIANT(b->serial == g->completed_serial + 1);
    INVARIANT(!b->num_readbacks && !b->jobs);
    INVARIANT(b->cuts_passed == b->cuts_handed);
    g->completed_serial = b->serial;
    b->next = g->free_batches;
    g->free_batches = b;
    batches_check(g);
}

/* With the lock held, and given up meanwhile: the next piece of `b` that the device has not ended yet. */
static void pass_cut(struct exec_engine *g, struct exec_batch *b)
{
    const uint32_t n = b->cuts_passed;

    pthread_mutex_unlock(&g->lock);
    if (!wait_fence(g, b, b->cut_fences[n])) /* a device that is lost shows at the end of the batch */
        exec_progress_passed(g, b, b->cut_marks[n]);
    pthread_mutex_lock(&g->lock);
    b->cuts_passed++;
    pthread_cond_broadcast(&g->changed);
}

static void *completion_thread(void *arg)
{
    struct exec_engine *g = arg;

    pthread_setname_np(pthread_self(), "exec-complete");
    exec_own_thread = true;
    pthread_mutex_lock(&g->lock);
    for (;;) {
        struct exec_batch *b = g->queue ? g->queue : g->cut;
        if (b && b->cuts_passed < b->cuts_handed) {
            pass_cut(g, b);
            continue;
        }
        if (!g->queue) {
            if (g->stopping)
                break;
            pthread_cond_wait(&g->changed, &g->lock);
            continue;
        }
        pthread_mutex_unlock(&g->lock);
        complete_batch(g, b);
        pthread_mutex_lock(&g->lock);
        g->queue = b->next;
        if (!g->queue)
            g->queue_end = &g->queue;
        finished(g, b);
        pthread_cond_broadcast(&g->changed);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static void wait_idle(struct exec_engine *g)
{
    pthread_mutex_lock(&g->lock);
    while (g->completed_serial < g->submitted_serial)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

/* ---- decoding ------------------------------------------------------------ */

int exec_op_ext_destroy_context(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_destroy_context c;
    struct exec_context *ctx;

    memcpy(&c, p->data, sizeof(c));
    HASH_FIND(hh, g->contexts, &c.context_id, sizeof(c.context_id), ctx);
    if (!ctx || ctx == g->ctx)
        return 0;
    exec_checkpoints_forget(g, c.context_id);
    HASH_DEL(g->contexts, ctx);
    exec_context_destroy(g, ctx);
    return 0;
}

static int nothing(struct exec_engine *g, const struct abi_packet *p)
{
    return 0;
}

EXEC_OP_IS(nop, nothing)
EXEC_OP_IS(debug_marker, nothing)
EXEC_OP_IS(ext_push_marker, nothing)
EXEC_OP_IS(ext_pop_marker, nothing)
EXEC_OP_IS(ext_name, nothing)
EXEC_OP_IS(flush, nothing) /* all before it starts with its submission */

/* By row of abi_packets. */
#define OP_ROW(opcode, NAME, name, size, tail, count_field, minor, class, doc) exec_op_##name,
static exec_op *const ops[] = {AEROGPU_PACKETS(OP_ROW) AEROGPU_EXT_PACKETS(OP_ROW)};

/* Copies guest memory into *buf, so that it cannot change while it is looked at. */
static int fetch(struct exec_engine *g, uint8_t **buf, uint32_t *cap, uint64_t gpa, uint32_t size,
                 uint32_t limit, const char *what)
{
    const void *src;

    if (size > limit)
        return fail_decode(g, "%s of %u bytes is larger than the limit of %u", what, size, limit);
    if (size > *cap) {
        uint8_t *p = realloc(*buf, size);
        if (!p)
            return fail_memory(g, "no memory for a %s of %u bytes", what, size);
        *buf = p;
        *cap = size;
    }
    src = g->params.dma_map(g->params.ctx, gpa, size);
    if (!src)
        return exec_fail_dma(g, what, gpa, size);
    memcpy(*buf, src, size);
    return 0;
}

static int decode(struct exec_engine *g, const struct abi_submission *s, struct abi_completion *done)
{
    struct error e = {0};
    struct abi_packet p;
    int r;

    g->allocs.count = 0;
    g->allocs.shared = false;
    if (s->alloc_size) {
        r = fetch(g, &g->table_copy, &g->table_cap, s->alloc_gpa, s->alloc_size, MAX_TABLE,
                  "allocation table");
        if (r)
            return r;
        r = abi_alloc_table_parse(&g->allocs, g->table_copy, s->alloc_size, &e);
        if (r)
            return r == -ENOMEM ? fail_memory(g, "%s", e.text) : fail_decode(g, "%s", e.text);
    }
    r = fetch(g, &g->stream_copy, &g->stream_cap, s->cmd_gpa, s->cmd_size, MAX_STREAM, "command stream");
    if (r)
        return r;
    if (abi_stream_open(&g->stream, g->stream_copy, s->cmd_size, &e))
        return fail_decode(g, "%s", e.text);
    r = exec_transfer_shared(g, false);
    if (r)
        return r;
    while ((r = abi_stream_next(&g->stream, &p, &e)) > 0) {
        g->batch->error_packet = p.index;
        exec_progress_packet(g, &p);
        if (p.desc) {
            r = ops[p.desc - abi_packets](g, &p);
            INVARIANT(r <= 0);
            if (r) {
                error_prefix(g->error, "packet %u at offset 0x%x: %s", p.index, p.offset, p.desc->name);
                return r;
            }
            done->draws += p.desc->class.id == AEROGPU_CLASS_DRAW;
            if (p.desc->class.id == AEROGPU_CLASS_PRESENT) {
                done->flags |= ABI_COMPLETION_PRESENT;
                if (abi_packet_u32(&p, offsetof(struct aerogpu_cmd_present, flags)) &
                    AEROGPU_PRESENT_FLAG_VSYNC)
                    done->flags |= ABI_COMPLETION_VSYNC;
            }
        }
        done->packets++;
    }
    return r ? fail_decode(g, "%s", e.text) : 0;
}

static struct exec_batch *take_batch(struct exec_engine *g)
{
    struct exec_batch *b;

    pthread_mutex_lock(&g->lock);
    while (!g->free_batches)
        pthread_cond_wait(&g->changed, &g->lock);
    batches_check(g);
    b = g->free_batches;
    g->free_batches = b->next;
    b->serial = ++g->submitted_serial;
    pthread_mutex_unlock(&g->lock);
    b->next = NULL;
    if (b->has_work || b->cuts_handed)
        exec_batch_recycle(g, b);
    b->num_readbacks = 0;
    b->jobs = NULL;
    b->slow = g->slow_draws;
    return b;
}

/* What changed state only, with nothing before it to wait for, needs no other thread to complete. */
static bool complete_here(struct exec_engine *g, struct exec_batch *b)
{
    bool alone;

    pthread_mutex_lock(&g->lock);
    alone = !b->has_work && !b->cuts_handed && !b->jobs && !b->num_readbacks &&
            g->completed_serial + 1 == b->serial;
    pthread_mutex_unlock(&g->lock);
    if (!alone)
        return false;
    complete_batch(g, b);
    pthread_mutex_lock(&g->lock);
    finished(g, b);
    pthread_mutex_unlock(&g->lock);
    return true;
}

static void queue_batch(struct exec_engine *g, struct exec_batch *b)
{
    pthread_mutex_lock(&g->lock);
    *g->queue_end = b;
    g->queue_end = &b->next;
    g->cut = NULL;
    batches_check(g);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static bool is_idle(struct exec_engine *g)
{
    bool idle;

    pthread_mutex_lock(&g->lock);
    idle = g->completed_serial == g->submitted_serial;
    pthread_mutex_unlock(&g->lock);
    return idle;
}

void exec_engine_submit(struct exec_engine *g, const struct abi_submission *s)
{
    struct abi_completion done = {.id = s->id};
    struct error error = {0};
    struct exec_batch *b;
    VkResult vr;

    if (!s->cmd_size && is_idle(g)) {
        g->params.complete(g->params.ctx, &done);
        return;
    }
    INVARIANT(!g->batch && !g->ctx && !g->pass_ctx); /* no submission is being decoded */
    b = take_batch(g);
    exec_objects_destroy_deferred(g);
    exec_buffers_age(g);
    g->batch = b;
    g->submission = s;
    g->error = &error;
    g->error_code = AEROGPU_ERROR_NONE;
    g->error_cause = ABI_CAUSE_OTHER;
    g->error_address = 0;
    exec_progress_begin(g);
    if (s->cmd_size) {
        g->ctx = exec_context_get(g, s->context_id);
        if (g->ctx)
            g->ctx->dirty = DIRTY_ALL;
        if (!g->ctx)
            fail_memory(g, "no memory for context %u", s->context_id);
        else if (decode(g, s, &done) && !error.code)
            fail_memory(g, "no memory");
        if (g->ctx && exec_transfer_shared(g, true) && !error.code)
            fail_memory(g, "no memory");
    }
    vr = exec_batch_flush(g, b);
    if (vr) {
        b->has_work = false;
        exec_fail_vulkan(g, "the Vulkan device refused the commands", vr);
    }
    if (error.code) {
        done.error = g->error_code;
        done.cause = g->error_cause;
        done.fault_address = g->error_address;
        snprintf(done.message, sizeof(done.message), "%.195s", error.text);
    } else {
        b->error_packet = UINT32_MAX;
    }
    INVARIANT(!b->recording && !g->pass_ctx);
    INVARIANT(!error.code == !done.error);
    b->completion = done;
    exec_progress_set_state(g, b, EXEC_PROGRESS_QUEUED);
    g->batch = NULL;
    g->ctx = NULL;
    if (!complete_here(g, b))
        queue_batch(g, b);
}

/* ---- life cycle ---------------------------------------------------------- */

static int start_threads(struct exec_engine *g, struct error *e)
{
    g->job_queue_end = &g->job_queue;
    for (int i = 0; i < 2; i++)
        if (!pthread_create(&g->workers[i], NULL, exec_shader_worker, g))
            g->num_workers++;
    if (!g->num_workers || pthread_create(&g->completer, NULL, completion_thread, g))
        return error_set(e, -EAGAIN, "the executor cannot start its threads");
    g->completer_running = true;
    return 0;
}

static int make_null_resources(struct exec_engine *g, struct error *e)
{
    struct aerogpu_cmd_create_texture2d c = {.usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE,
                                             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM,
                                             .width = 1,
                                             .height = 1,
                                             .mip_levels = 1,
                                             .array_layers = 6};
    struct abi_submission none = {0};
    int r = exec_vk_buffer_create(&g->vk, &g->null_buffer.vk, NULL_BUFFER_SIZE,
                                  VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
                                      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                      VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                                      VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT,
                                  VK_USE_SHARED);

    if (r)
        return error_set(e, r, "no device memory");
    memset(g->null_buffer.vk.memory.map, 0, NULL_BUFFER_SIZE);
    g->batch = take_batch(g);
    g->submission = &none;
    g->error = e;
    for (enum exec_texture_dim dim = 0; dim < TEXTURE_DIMS && !r; dim++) {
        c.array_layers = dim == TEXTURE_2D ? 6 : 1;
        r = exec_texture_make(g, &g->null_textures[dim], &c, dim);
    }
    if (!r)
        r = exec_batch_sync(g);
    pthread_mutex_lock(&g->lock);
    g->completed_serial = g->batch->serial;
    g->batch->next = g->free_batches;
    g->free_batches = g->batch;
    pthread_mutex_unlock(&g->lock);
    g->batch = NULL;
    return r;
}

int exec_engine_create(struct exec_engine **out, const struct exec_engine_params *p, struct error *e)
{
    struct exec_engine *g = calloc(1, sizeof(*g));
    int r;

    if (!g)
        return error_set(e, -ENOMEM, "no memory for the executor");
    g->params = *p;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    pthread_mutex_init(&g->job_lock, NULL);
    pthread_cond_init(&g->job_changed, NULL);
    g->queue_end = &g->queue;
    r = exec_vk_open_with(&g->vk, p->device, p->addresses, e);
    if (r)
        goto fail;
    g->is_cpu = g->vk.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    for (int i = 0; i < NUM_BATCHES; i++) {
        r = exec_batch_init(g, &g->batches[i]);
        if (r)
            goto no_vulkan;
        g->batches[i].next = g->free_batches;
        g->free_batches = &g->batches[i];
    }
    r = exec_caches_create(g);
    if (r)
        goto no_vulkan;
    r = exec_addresses_open(g);
    if (r)
        goto no_vulkan;
    exec_progress_create(g);
    r = start_threads(g, e);
    if (!r)
        r = make_null_resources(g, e);
    if (r)
        goto fail;
    *out = g;
    return 0;
no_vulkan:
    error_set(e, r, "Vulkan device '%s' has no resources left", g->vk.properties.deviceName);
fail:
    exec_engine_destroy(g);
    return r;
}

void exec_engine_reset(struct exec_engine *g)
{
    wait_idle(g);
    INVARIANT(!g->batch);
    exec_objects_forget_all(g);
    INVARIANT(!g->deferred); /* nothing can be in use */
}

static void stop_threads(struct exec_engine *g)
{
    if (g->completer_running) {
        wait_idle(g);
        pthread_mutex_lock(&g->lock);
        g->stopping = true;
        pthread_cond_broadcast(&g->changed);
        pthread_mutex_unlock(&g->lock);
        pthread_join(g->completer, NULL);
    }
    pthread_mutex_lock(&g->job_lock);
    g->workers_stop = true;
    pthread_cond_broadcast(&g->job_changed);
    pthread_mutex_unlock(&g->job_lock);
    for (int i = 0; i < g->num_workers; i++)
        pthread_join(g->workers[i], NULL);
}

void exec_engine_destroy(struct exec_engine *g)
{
    if (!g)
        return;
    stop_threads(g);
    if (g->vk.device) {
        vkDeviceWaitIdle(g->vk.device);
        if (g->caches)
            exec_objects_forget_all(g);
        for (enum exec_texture_dim dim = 0; dim < TEXTURE_DIMS; dim++)
            if (g->null_textures[dim])
                exec_object_unref(g, &g->null_textures[dim]->o);
        exec_objects_destroy_deferred(g);
        exec_targets_finish(g);
        exec_caches_destroy(g);
        exec_progress_destroy(g);
        exec_buffer_clean(g, &g->null_buffer);
        for (int i = 0; i < NUM_BATCHES; i++)
            exec_batch_finish(g, &g->batches[i]);
    }
    exec_vk_close(&g->vk);
    exec_addresses_close(g);
    abi_alloc_table_finish(&g->allocs);
    free(g->writes);
    free(g->stream_copy);
    free(g->table_copy);
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->job_lock);
    pthread_cond_destroy(&g->job_changed);
    free(g);
}

const char *exec_engine_device_name(const struct exec_engine *g, bool *is_cpu)
{
    if (is_cpu)
        *is_cpu = g->is_cpu;
    return g->vk.properties.deviceName;
}
