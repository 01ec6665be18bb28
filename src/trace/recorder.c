/* SPDX-License-Identifier: MIT */
#include "trace/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <aerogpu/abi.h>
#include <aerogpu/cmd.h>

#include "abi/alloc_table.h"
#include "abi/stream.h"
#include "base/array.h"
#include "base/check.h"
#include "base/log.h"
#include "trace/blob_index.h"
#include "trace/writer.h"

#define MAX_QUEUED (UINT64_C(512) << 20)

/* One submission on its way to the file. */
struct piece {
    struct piece *next;
    struct trace_submission sub;
    struct trace_range *ranges;
    struct copy {
        uint8_t *data; /* NULL: the same bytes as an earlier submission had, or the range is not recorded */
        uint32_t size;
        XXH128_hash_t hash;
    } stream, table, *memory; /* memory: one per range */
    uint64_t bytes;
};

/* The content that a guest address range had when it was last recorded. */
struct seen {
    uint64_t gpa, size;
    XXH128_hash_t hash;
};

struct trace_recorder {
    struct trace_recorder_params params;
    struct gpu_observer observer;

    /* The device's lock protects these: they belong to event(). */
    struct abi_alloc_table allocs;
    struct seen *seen;
    size_t num_seen, max_seen;
    uint64_t running; /* submissions taken and not completed */
    bool taken, reset;

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct piece *first, **last; /* the queue */
    uint64_t queued;             /* bytes in it */
    bool ending;
    struct error failed; /* under lock */

    /* The writer thread's. */
    struct trace_writer *writer;
    struct blob_index blobs; /* by content: id and size/kind hold the hash, offset the blob's id */
    bool in_frame;
    uint32_t frame;
    struct trace_recorder_stats stats;
};

static void piece_destroy(struct piece *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; p->memory && i < p->sub.num_ranges; i++)
        free(p->memory[i].data);
    free(p->memory);
    free(p->ranges);
    free(p->stream.data);
    free(p->table.data);
    free(p);
}

/* With the lock. */
static void queue_check(const struct trace_recorder *r)
{
    INVARIANT(r->last && !*r->last);
    INVARIANT((r->first == NULL) == (r->last == &r->first));
    INVARIANT(!r->first || r->queued >= r->first->bytes);
    INVARIANT(r->num_seen <= r->max_seen);
}

static void fail(struct trace_recorder *r, const struct error *e)
{
    bool first;

    pthread_mutex_lock(&r->lock);
    first = !r->failed.code;
    if (first)
        r->failed = *e;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    if (first)
        log_error("recorder", "%s: recording stops: %s", r->params.path, e->text);
}

/* ---- on the device's threads --------------------------------------------- */

static int copy_out(struct trace_recorder *r, uint64_t gpa, uint64_t size, const char *what, struct copy *to,
                    struct error *e)
{
    const void *from = r->params.dma_map(r->params.dma_ctx, gpa, size);

    if (!from)
        return error_set(e, -EFAULT, "%s at 0x%" PRIx64 ", %" PRIu64 " bytes, is not guest memory", what, gpa,
                         size);
    if (size > UINT32_MAX - TRACE_BLOB_HEADER_SIZE)
        return error_set(e, -EFBIG, "%s at 0x%" PRIx64 " of %" PRIu64 " bytes does not fit a record", what,
                         gpa, size);
    to->data = malloc(size);
    if (!to->data)
        return error_set(e, -ENOMEM, "no memory for a copy of %" PRIu64 " bytes", size);
    memcpy(to->data, from, size);
    to->size = (uint32_t)size;
    to->hash = XXH3_128bits(to->data, size);
    return 0;
}

static struct seen *find_seen(struct trace_recorder *r, uint64_t gpa, uint64_t size)
{
    for (size_t i = 0; i < r->num_seen; i++)
        if (r->seen[i].gpa == gpa && r->seen[i].size == size)
            return &r->seen[i];
    if (array_reserve(r->seen, r->max_seen, r->num_seen + 1))
        return NULL;
    r->seen[r->num_seen] = (struct seen){.gpa = gpa, .size = size};
    return &r->seen[r->num_seen++];
}

static int copy_memory(struct trace_recorder *r, struct piece *p, const struct abi_alloc *a, struct error *e)
{
    struct copy *copy = &p->memory[p->sub.num_ranges];
    const void *bytes = r->params.dma_map(r->params.dma_ctx, a->gpa, a->size);
    struct seen *seen = find_seen(r, a->gpa, a->size);
    bool known;

    if (!seen)
        return error_set(e, -ENOMEM, "no memory to remember an allocation");
    /* Not guest memory: the device will say so when a stream uses it, and again when the recording is played.
     */
    if (!bytes || a->size > UINT32_MAX - TRACE_BLOB_HEADER_SIZE)
        return 0;
    copy->size = (uint32_t)a->size;
    copy->hash = XXH3_128bits(bytes, a->size);
    known = XXH128_isEqual(copy->hash, seen->hash);
    if (known && r->running)
        return 0;
    if (!known) {
        int rc = copy_out(r, a->gpa, a->size, "memory", copy, e);
        if (rc)
            return rc;
        seen->hash = copy->hash;
        p->bytes += copy->size;
    }
    INVARIANT(p->sub.num_ranges < r->allocs.count);
    p->ranges[p->sub.num_ranges++] = (struct trace_range){
        .alloc_id = a->alloc_id, .flags = a->readonly ? 1 : 0, .gpa = a->gpa, .size = a->size};
    return 0;
}

static int copy_submission(struct trace_recorder *r, struct piece *p, const struct abi_submission *s,
                           struct error *e)
{
    int rc;

    p->sub = (struct trace_submission){.submit_flags = s->flags,
                                       .context_id = s->context_id,
                                       .engine_id = s->engine_id,
                                       .signal_fence = s->fence};
    if (s->cmd_size) {
        rc = copy_out(r, s->cmd_gpa, s->cmd_size, "the command stream", &p->stream, e);
        if (rc)
            return rc;
        p->bytes += s->cmd_size;
    }
    if (!s->alloc_size)
        return 0;
    rc = copy_out(r, s->alloc_gpa, s->alloc_size, "the allocation table", &p->table, e);
    if (rc)
        return rc;
    p->bytes += s->alloc_size;
    /* A malformed table names no memory; it is recorded all the same, since it is what the device was given. */
    rc = abi_alloc_table_parse(&r->allocs, p->table.data, p->table.size, NULL);
    if (rc == -ENOMEM)
        return error_set(e, rc, "no memory for an allocation table of %" PRIu32 " bytes", p->table.size);
    if (rc || !r->allocs.count)
        return 0;
    p->memory = calloc(r->allocs.count, sizeof(*p->memory));
    p->ranges = calloc(r->allocs.count, sizeof(*p->ranges));
    if (!p->memory || !p->ranges)
        return error_set(e, -ENOMEM, "no memory for %" PRIu32 " allocations", r->allocs.count);
    for (uint32_t i = 0; !rc && i < r->allocs.count; i++)
        rc = copy_memory(r, p, &r->allocs.entries[i], e);
    return rc;
}

static void enqueue(struct trace_recorder *r, struct piece *p)
{
    pthread_mutex_lock(&r->lock);
    queue_check(r);
    INVARIANT(!r->ending && !p->next);
    while (r->queued && r->queued + p->bytes > MAX_QUEUED && !r->failed.code)
        pthread_cond_wait(&r->changed, &r->lock);
    *r->last = p;
    r->last = &p->next;
    r->queued += p->bytes;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void take(struct trace_recorder *r, const struct abi_submission *s)
{
    struct error e = {0};
    struct piece *p;
    bool failed;

    pthread_mutex_lock(&r->lock);
    failed = r->failed.code != 0;
    pthread_mutex_unlock(&r->lock);
    if (failed || r->reset)
        return;
    p = calloc(1, sizeof(*p));
    if (!p)
        error_set(&e, -ENOMEM, "no memory for a submission");
    else
        copy_submission(r, p, s, &e);
    if (e.code) {
        piece_destroy(p);
        fail(r, &e);
    } else {
        enqueue(r, p);
    }
    r->taken = true;
}

static void event(void *ctx, const struct gpu_event *e)
{
    struct trace_recorder *r = ctx;

    switch (e->kind) {
    case GPU_EVENT_TAKE:
        take(r, e->submission);
        r->running++;
        break;
    case GPU_EVENT_RETIRE:
        r->running -= r->running > 0;
        break;
    case GPU_EVENT_RING_RESET:
        r->running = 0;
        if (r->taken && !r->reset)
            log_warn("recorder", "%s: the ring was reset, the recording ends here", r->params.path);
        r->reset = r->taken;
        break;
    default:
        break;
    }
}

/* ---- the writer thread --------------------------------------------------- */

static int write_copy(struct trace_recorder *r, uint32_t kind, const struct copy *copy, uint64_t *id,
                      struct error *e)
{
    /* 128 bits of hash spread over the index's fields; the kind is part of what makes a content the same. */
    struct trace_blob key = {.id = copy->hash.low64 ^ kind,
                             .size = (uint32_t)copy->hash.high64,
                             .kind = (uint32_t)(copy->hash.high64 >> 32)};
    const struct trace_blob *known = blob_index_find(&r->blobs, key.id);
    int rc;

    if (known && known->size == key.size && known->kind == key.kind) {
        *id = known->offset;
        return 0;
    }
    if (!copy->data)
        return error_set(e, -EIO, "memory that was recorded before is not in the index");
    rc = trace_writer_blob(r->writer, kind, copy->data, copy->size, id, e);
    key.offset = *id;
    if (!rc && !known && blob_index_add(&r->blobs, &key))
        return error_set(e, -ENOMEM, "no memory to index a blob");
    return rc;
}

static bool presents(const struct piece *p)
{
    struct abi_stream s;
    struct abi_packet packet;
    bool found = false;

    if (abi_stream_open(&s, p->stream.data, p->stream.size, NULL))
        return false;
    while (abi_stream_next(&s, &packet, NULL) > 0)
        found |= abi_class(packet.opcode) == AEROGPU_CLASS_PRESENT;
    return found;
}

static int write_piece(struct trace_recorder *r, struct piece *p, struct error *e)
{
    /* An empty submission has no stream, and a record must name one: the shortest that there is does the same. */
    static const struct aerogpu_cmd_stream_header empty = {.magic = AEROGPU_CMD_STREAM_MAGIC,
                                                           .abi_version = AEROGPU_ABI_VERSION_U32,
                                                           .size_bytes = sizeof(empty)};
    const struct copy no_stream = {(uint8_t *)&empty, sizeof(empty), XXH3_128bits(&empty, sizeof(empty))};
    int rc = 0;

    if (!r->in_frame) {
        rc = trace_writer_begin_frame(r->writer, r->frame++, e);
        r->in_frame = true;
    }
    if (!rc)
        rc = write_copy(r, TRACE_BLOB_CMD_STREAM, p->stream.data ? &p->stream : &no_stream, &p->sub.cmd_blob,
                        e);
    if (!rc && p->table.data)
        rc = write_copy(r, TRACE_BLOB_ALLOC_TABLE, &p->table, &p->sub.alloc_blob, e);
    for (uint32_t i = 0; !rc && i < p->sub.num_ranges; i++)
        rc = write_copy(r, TRACE_BLOB_ALLOC_MEMORY, &p->memory[i], &p->ranges[i].blob, e);
    p->sub.ranges = p->ranges;
    if (!rc)
        rc = trace_writer_submission(r->writer, &p->sub, e);
    if (rc)
        return rc;
    r->stats.submissions++;
    if (!p->stream.data || !presents(p))
        return 0;
    r->in_frame = false;
    r->stats.frames++;
    rc = trace_writer_present(r->writer, e);
    /* What was presented survives a crash of this process. */
    return rc ? rc : trace_writer_flush(r->writer, e);
}

static void *write_all(void *ctx)
{
    struct trace_recorder *r = ctx;
    struct error e = {0};

    pthread_mutex_lock(&r->lock);
    for (;;) {
        struct piece *p = r->first;

        if (!p && r->ending)
            break;
        if (!p) {
            pthread_cond_wait(&r->changed, &r->lock);
            continue;
        }
        r->first = p->next;
        if (!r->first)
            r->last = &r->first;
        queue_check(r);
        pthread_mutex_unlock(&r->lock);
        if (!e.code && write_piece(r, p, &e))
            fail(r, &e);
        pthread_mutex_lock(&r->lock);
        INVARIANT(r->queued >= p->bytes);
        r->queued -= p->bytes;
        pthread_cond_broadcast(&r->changed);
        piece_destroy(p);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- life cycle ---------------------------------------------------------- */

int trace_recorder_create(struct trace_recorder **out, const struct trace_recorder_params *p, struct error *e)
{
    struct trace_recorder *r = calloc(1, sizeof(*r));
    int rc;

    *out = NULL;
    if (!r)
        return error_set(e, -ENOMEM, "no memory for a recorder");
    r->params = *p;
    r->params.path = strdup(p->path);
    r->observer = (struct gpu_observer){.event = event, .ctx = r};
    r->last = &r->first;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    rc = !r->params.path
             ? error_set(e, -ENOMEM, "no memory for a recorder")
             : trace_writer_create(&r->writer,
                                   &(struct trace_writer_params){.path = p->path,
                                                                 .command_abi = AEROGPU_ABI_VERSION_U32,
                                                                 .producer = p->producer,
                                                                 .notes = p->notes},
                                   e);
    if (rc)
        goto fail;
    rc = -pthread_create(&r->thread, NULL, write_all, r);
    if (rc) {
        error_set(e, rc, "cannot start the recorder's thread: %s", strerror(-rc));
        goto fail;
    }
    *out = r;
    return 0;

fail:
    trace_writer_abandon(r->writer);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free((char *)r->params.path);
    free(r);
    return rc;
}

struct gpu_observer *trace_recorder_observer(struct trace_recorder *r)
{
    return &r->observer;
}

int trace_recorder_finish(struct trace_recorder *r, struct trace_recorder_stats *stats, struct error *e)
{
    int rc;

    pthread_mutex_lock(&r->lock);
    r->ending = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    INVARIANT(!r->first && !r->queued);
    INVARIANT(r->stats.frames <= r->frame);
    if (r->failed.code) {
        rc = error_set(e, r->failed.code, "%s", r->failed.text);
        /* What is in the file is whole; with an index it can be played as far as it goes. */
        trace_writer_finish(r->writer, NULL);
    } else {
        rc = trace_writer_finish(r->writer, e);
    }
    if (stats)
        *stats = r->stats;
    blob_index_finish(&r->blobs);
    abi_alloc_table_finish(&r->allocs);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r->seen);
    free((char *)r->params.path);
    free(r);
    return rc;
}
