/* SPDX-License-Identifier: MIT */
/* checkpoint.c: queues, and the checkpoints (ext.h) at which they stand, found where shared memory says. Nothing in that memory is
 * believed: what is no checkpoint of the context is none.
 */
#include "watch/collect.h"

#include <stdio.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "abi/alloc_table.h"
#include "abi/stream.h"

struct watch_checkpoint {
    const struct retained *k;
    uint32_t packet;
    bool by_pointer;
    uint64_t pointer;
    const uint8_t *payload; /* NULL: none */
    uint32_t size;
    char text[161]; /* "" where the payload is no text */
};

/* The context's last ones, or NULL. */
static const struct exec_checkpoints *checkpoints_of(const struct snapshot *sn, uint32_t context)
{
    for (int i = 0; sn->has_progress && i < EXEC_CHECKPOINT_CONTEXTS; i++)
        if (atomic_load(&sn->progress.checkpoints[i].in_use) &&
            sn->progress.checkpoints[i].context == context)
            return &sn->progress.checkpoints[i];
    return NULL;
}

static const uint8_t *pointed_at(struct machine *m, const struct retained *k, uint32_t alloc_id,
                                 uint64_t offset, uint32_t size)
{
    struct abi_alloc_table table = {0};
    const struct abi_alloc *a;
    const uint8_t *at = NULL;

    if (!k->table || abi_alloc_table_parse(&table, k->table, k->alloc_size, NULL))
        return NULL;
    a = abi_alloc_table_find(&table, alloc_id);
    if (a && offset <= a->size && size <= a->size - offset && a->gpa + offset < machine_ram_size(m) &&
        size <= machine_ram_size(m) - a->gpa - offset)
        at = machine_ram(m) + a->gpa + offset;
    abi_alloc_table_finish(&table);
    return at;
}

static void checkpoint_text(struct watch_checkpoint *x)
{
    uint32_t n = x->payload ? x->size : 0;

    while (n && !x->payload[n - 1])
        n--;
    for (uint32_t i = 0; i < n; i++)
        if (x->payload[i] < 0x20 || x->payload[i] == 0x7f)
            n = 0;
    snprintf(x->text, sizeof(x->text), "%.*s", n < 160 ? (int)n : 160, n ? (const char *)x->payload : "");
}

/* `out` points into the snapshot and into guest memory. */
static bool checkpoint_find(const struct watch *w, const struct snapshot *sn,
                            const struct exec_checkpoint *where, uint32_t context,
                            struct watch_checkpoint *out)
{
    struct aerogpu_cmd_ext_checkpoint_pointer cp;
    struct abi_stream s;
    struct abi_packet p;

    *out = (struct watch_checkpoint){.k = watch_submission(sn, where->submission), .packet = where->packet};
    if (!out->k || out->k->context_id != context || !out->k->stream ||
        abi_stream_open(&s, out->k->stream, out->k->cmd_size, NULL))
        return false;
    while (abi_stream_next(&s, &p, NULL) > 0 && p.index < where->packet)
        ;
    if (p.index != where->packet)
        return false;
    if (p.opcode == AEROGPU_CMD_EXT_CHECKPOINT) {
        out->payload = p.tail;
        out->size = p.tail_size;
    } else if (p.opcode == AEROGPU_CMD_EXT_CHECKPOINT_POINTER) {
        memcpy(&cp, p.data, sizeof(cp));
        out->by_pointer = true;
        out->pointer = cp.pointer;
        out->size = cp.payload_bytes;
        if (cp.alloc_id && cp.payload_bytes <= AEROGPU_CHECKPOINT_MAX_BYTES)
            out->payload = pointed_at(w->params.machine, out->k, cp.alloc_id, cp.pointer, cp.payload_bytes);
    } else {
        return false;
    }
    checkpoint_text(out);
    return true;
}

/* ---- rows ---------------------------------------------------------------- */

/* In one line. */
static void put_name(struct collector *c, enum bb_col column, const struct watch_checkpoint *x)
{
    char what[200];

    if (x->text[0])
        snprintf(what, sizeof(what), "%s", x->text);
    else if (x->by_pointer)
        snprintf(what, sizeof(what), "pointer 0x%llx", (unsigned long long)x->pointer);
    else
        snprintf(what, sizeof(what), "%u bytes", x->size);
    bb_textf(c->p, column, "%s (submission %llu, packet %u)", what, (unsigned long long)x->k->id, x->packet);
}

static void put_checkpoint(struct collector *c, uint32_t context, const char *which,
                           const struct watch_checkpoint *x)
{
    bb_row(c->p, BB_TABLE_CHECKPOINT);
    bb_int(c->p, BB_checkpoint_queue, context);
    bb_text(c->p, BB_checkpoint_which, which);
    bb_int(c->p, BB_checkpoint_submission, (int64_t)x->k->id);
    bb_int(c->p, BB_checkpoint_packet, x->packet);
    bb_text(c->p, BB_checkpoint_kind, x->by_pointer ? "pointer" : "copy");
    if (x->by_pointer)
        bb_int(c->p, BB_checkpoint_pointer, (int64_t)x->pointer);
    bb_text(c->p, BB_checkpoint_text, x->text[0] ? x->text : NULL);
    bb_blob(c->p, BB_checkpoint_payload, x->payload, x->payload ? x->size : 0);
    bb_row_end(c->p);
}

void watch_put_queues(struct collector *c)
{
    for (const struct watch_model_context *ctx = c->model.contexts; ctx; ctx = ctx->next) {
        const struct exec_checkpoints *x = checkpoints_of(c->sn, ctx->id);
        uint64_t submitted = 0, completed = 0, asked = 0, fence = 0;
        struct watch_checkpoint top, bottom;
        bool has_top = x && checkpoint_find(c->w, c->sn, &x->top, ctx->id, &top),
             has_bottom = x && checkpoint_find(c->w, c->sn, &x->bottom, ctx->id, &bottom);

        for (uint32_t i = 0; i < c->sn->num_items; i++) {
            const struct retained *k = &c->sn->items[i];
            if (k->context_id != ctx->id)
                continue;
            submitted = k->id;
            asked = k->fence;
            if (k->state == RETAINED_DONE) {
                completed = k->id;
                fence = k->fence;
            }
        }
        bb_row(c->p, BB_TABLE_QUEUE);
        bb_int(c->p, BB_queue_id, ctx->id);
        bb_textf(c->p, BB_queue_name, "context %u", ctx->id);
        bb_int(c->p, BB_queue_last_submitted, (int64_t)submitted);
        bb_int(c->p, BB_queue_last_completed, (int64_t)completed);
        if (has_top)
            put_name(c, BB_queue_top, &top);
        if (has_bottom)
            put_name(c, BB_queue_bottom, &bottom);
        bb_row_end(c->p);
        if (has_top)
            put_checkpoint(c, ctx->id, "top", &top);
        if (has_bottom)
            put_checkpoint(c, ctx->id, "bottom", &bottom);
        bb_row(c->p, BB_TABLE_FENCE);
        bb_textf(c->p, BB_fence_name, "context %u", ctx->id);
        bb_int(c->p, BB_fence_value, (int64_t)fence);
        bb_int(c->p, BB_fence_submitted, (int64_t)asked);
        bb_int(c->p, BB_fence_queue, ctx->id);
        bb_row_end(c->p);
    }
}
