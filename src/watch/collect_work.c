/* SPDX-License-Identifier: MIT */
/* collect_work.c: submissions, their packets and marks, what is bound where and used how often. Streams are walked from the
 * first to the last, so that what was bound at a command is known when it comes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/packets.h"
#include "abi/print.h"
#include "base/array.h"
#include "base/utf8.h"
#include "watch/collect.h"
#include "watch/items.h"

enum { MAX_BOUND_ROWS = 20000, MAX_USAGE = 1000, MAX_COUNTED = 20000 };

struct watch_usage {
    char kind[12], name[200];
    int64_t commands, running;
};

/* ---- what became of each packet ------------------------------------------ */

struct outcome {
    enum bb_state default_state;
    struct watch_items items;
    struct bb_inference x;
    bool inferred;
    uint32_t decoded; /* packets that the decoder had done */
};

static void outcome_init(struct outcome *o, const struct snapshot *sn, const struct retained *k)
{
    const struct exec_progress_slot *slot =
        sn->has_progress ? watch_progress_find(&sn->progress, k->id) : NULL;

    *o = (struct outcome){.default_state = k->state == RETAINED_DONE ? BB_FINISHED : BB_NOT_STARTED};
    if (!slot || k->state == RETAINED_DONE || watch_items_init(&o->items, k, slot))
        return;
    o->decoded = atomic_load(&slot->decoding);
    o->decoded -= o->decoded > 0;
    if (bb_infer(&o->x, o->items.items, o->items.n, watch_end(sn)))
        watch_items_finish(&o->items);
    else
        o->inferred = true;
}

static enum bb_state outcome_of(const struct outcome *o, uint32_t packet)
{
    for (uint32_t i = 0; o->inferred && i < o->items.n; i++)
        if (o->items.items[i].kind == BB_ITEM_COMMAND && o->items.items[i].id == packet)
            return (enum bb_state)o->x.states[i];
    return o->inferred && packet < o->decoded ? BB_FINISHED : o->default_state;
}

static void outcome_finish(struct outcome *o)
{
    if (!o->inferred)
        return;
    watch_items_finish(&o->items);
    bb_inference_finish(&o->x);
}

enum { FULL_NAME = 160 };

/* What it is called in every table: alike in every dump of the same program. */
static void full_name(char out[FULL_NAME], const struct watch_model *m, const struct watch_object *o)
{
    const char *given = watch_object_given(m, o);
    char name[64];

    watch_object_name(name, o);
    if (o->kind == WATCH_OBJECT_SHADER)
        snprintf(out, FULL_NAME, "%s", name);
    else
        snprintf(out, FULL_NAME, "%s%s%s%s, %llu bytes", name, given[0] ? " '" : "", given,
                 given[0] ? "'" : "", (unsigned long long)o->size);
}

/* ---- what is used how often ---------------------------------------------- */

static void count(struct collector *c, const char *kind, const char *name, bool running)
{
    struct watch_usage *u = c->usage;

    while (u < c->usage + c->num_usage && (strcmp(u->kind, kind) || strcmp(u->name, name)))
        u++;
    if (u == c->usage + c->num_usage) {
        if (c->num_usage == MAX_USAGE)
            return;
        if (array_reserve(c->usage, c->cap_usage, c->num_usage + 1))
            return;
        u = &c->usage[c->num_usage++];
        *u = (struct watch_usage){0};
        snprintf(u->kind, sizeof(u->kind), "%s", kind);
        snprintf(u->name, sizeof(u->name), "%s", name);
    }
    u->commands++;
    u->running += running;
}

static void count_command(struct collector *c, const struct abi_packet *p,
                          const struct watch_model_context *ctx, bool running)
{
    const bool draw = abi_opcode_is_draw(p->opcode);

    c->commands++;
    c->running += running;
    count(c, "command", p->desc->name, running);
    if (ctx->path[0]) {
        char path[sizeof(c->usage->name)];

        utf8_path(path, sizeof(path), ctx->path);
        count(c, "path", path, running);
    }
    for (uint32_t i = 0; draw && i < ctx->num_slots; i++) {
        const struct watch_object *o = watch_model_bound(&c->model, &ctx->slots[i]);
        char name[FULL_NAME];

        if (!o || (ctx->slots[i].kind == WATCH_SLOT_SHADER &&
                   (ctx->slots[i].stage == ABI_CS) != (p->opcode == AEROGPU_CMD_DISPATCH)))
            continue;
        full_name(name, &c->model, o);
        count(c, o->kind == WATCH_OBJECT_SHADER ? "shader" : "resource", name, running);
    }
}

void watch_put_usage(struct collector *c)
{
    for (uint32_t i = 0; i <= c->num_usage; i++) {
        bool last = i == c->num_usage;

        bb_row(c->p, BB_TABLE_USAGE);
        bb_text(c->p, BB_usage_kind, last ? "total" : c->usage[i].kind);
        bb_text(c->p, BB_usage_name, last ? "" : c->usage[i].name);
        bb_int(c->p, BB_usage_commands, last ? c->commands : c->usage[i].commands);
        bb_int(c->p, BB_usage_running, last ? c->running : c->usage[i].running);
        bb_row_end(c->p);
    }
    free(c->usage);
}

/* ---- submissions --------------------------------------------------------- */

static bool concerns(const struct watch_slot *s, uint32_t opcode)
{
    bool graphics = s->kind == WATCH_SLOT_TARGET || s->kind == WATCH_SLOT_DEPTH ||
                    s->kind == WATCH_SLOT_VERTICES || s->kind == WATCH_SLOT_INDICES;

    if (opcode == AEROGPU_CMD_DISPATCH)
        return !graphics && s->stage == ABI_CS;
    return graphics || s->stage != ABI_CS;
}

static void put_bindings(struct collector *c, const struct retained *k, const struct watch_model_context *ctx,
                         uint32_t packet, uint32_t opcode)
{
    for (uint32_t i = 0; i < ctx->num_slots && c->bound_rows < MAX_BOUND_ROWS; i++, c->bound_rows++) {
        const struct watch_object *o = watch_model_bound(&c->model, &ctx->slots[i]);
        char slot[24], name[FULL_NAME] = "unknown handle";

        if (!concerns(&ctx->slots[i], opcode))
            continue;
        watch_slot_name(slot, &ctx->slots[i]);
        if (o)
            full_name(name, &c->model, o);
        bb_row(c->p, BB_TABLE_BINDING);
        bb_int(c->p, BB_binding_submission, (int64_t)k->id);
        bb_int(c->p, BB_binding_packet, packet);
        bb_text(c->p, BB_binding_slot, slot);
        bb_text(c->p, BB_binding_kind, ctx->slots[i].kind == WATCH_SLOT_SHADER ? "shader" : "resource");
        bb_int(c->p, BB_binding_handle, ctx->slots[i].handle);
        bb_textf(c->p, BB_binding_what, "%s%s", name, o && !o->alive ? " (destroyed)" : "");
        bb_row_end(c->p);
    }
}

static void put_packet(struct collector *c, const struct retained *k, const struct abi_packet *p,
                       const struct watch_model_context *ctx, const struct outcome *o, uint32_t draws)
{
    struct strbuf text = {0};
    const bool draw = abi_opcode_is_draw(p->opcode), works = abi_opcode_is_work(p->opcode);
    const enum bb_state state = works ? outcome_of(o, p->index) : BB_NUM_STATES;

    bb_row(c->p, BB_TABLE_PACKET);
    bb_int(c->p, BB_packet_submission, (int64_t)k->id);
    bb_int(c->p, BB_packet_number, p->index);
    bb_int(c->p, BB_packet_offset, p->offset);
    if (p->desc) {
        abi_print_packet(&text, p, 8);
        bb_text(c->p, BB_packet_name, p->desc->name);
    } else {
        bb_textf(c->p, BB_packet_name, "0x%04x", p->opcode);
    }
    bb_text(c->p, BB_packet_text, strbuf_str(&text));
    bb_int(c->p, BB_packet_work, works);
    if (draw)
        bb_int(c->p, BB_packet_draw, draws);
    bb_text(c->p, BB_packet_path, ctx->path);
    if (works)
        bb_text(c->p, BB_packet_state, bb_state_name(state));
    bb_row_end(c->p);
    strbuf_finish(&text);
    if (bb_state_is_candidate(state))
        put_bindings(c, k, ctx, p->index, p->opcode);
}

static void walk(struct collector *c, const struct retained *k, bool verbose, uint32_t *packets,
                 uint32_t *draws, bool *presents)
{
    struct watch_model_context *ctx = watch_model_context(&c->model, k->context_id);
    struct outcome o = {.default_state = BB_FINISHED};
    struct abi_stream s;
    struct abi_packet p;

    *packets = *draws = 0;
    *presents = false;
    if (!ctx || !k->stream || abi_stream_open(&s, k->stream, k->cmd_size, NULL))
        return;
    if (verbose)
        outcome_init(&o, c->sn, k);
    while (abi_stream_next(&s, &p, NULL) > 0) {
        watch_model_apply(&c->model, ctx, &s, &p, k->id);
        if (abi_opcode_is_work(p.opcode))
            watch_model_use(&c->model, ctx, &p, k->id);
        if (verbose)
            put_packet(c, k, &p, ctx, &o, *draws);
        if (abi_opcode_is_work(p.opcode) && c->commands < MAX_COUNTED)
            count_command(c, &p, ctx, bb_state_is_candidate(outcome_of(&o, p.index)));
        *draws += abi_opcode_is_draw(p.opcode);
        *presents |= abi_class(p.opcode) == AEROGPU_CLASS_PRESENT;
        ++*packets;
    }
    if (verbose)
        outcome_finish(&o);
}

static void put_marks(struct collector *c, const struct retained *k)
{
    const struct exec_progress_slot *slot =
        c->sn->has_progress ? watch_progress_find(&c->sn->progress, k->id) : NULL;
    uint32_t n = slot ? atomic_load(&slot->num_marks) : 0;

    for (uint32_t m = 0; m < n && m < EXEC_PROGRESS_MARKS; m++) {
        bb_row(c->p, BB_TABLE_MARK);
        bb_int(c->p, BB_mark_submission, (int64_t)k->id);
        bb_int(c->p, BB_mark_number, m + 1);
        bb_int(c->p, BB_mark_first, slot->marks[m].first);
        bb_int(c->p, BB_mark_last, slot->marks[m].last);
        bb_int(c->p, BB_mark_top, slot->top > m);
        bb_int(c->p, BB_mark_bottom, exec_progress_bottom(slot) > m);
        bb_int(c->p, BB_mark_exact, c->sn->progress.exact);
        bb_row_end(c->p);
    }
}

static const char *state_of(const struct collector *c, const struct retained *k)
{
    const struct exec_progress_slot *slot =
        c->sn->has_progress ? watch_progress_find(&c->sn->progress, k->id) : NULL;

    if (k->state == RETAINED_DONE)
        return "completed";
    if (k->state == RETAINED_FAILED && !slot)
        return "failed";
    return slot && (slot->top || atomic_load(&slot->decoding)) ? "running" : "queued";
}

void watch_put_submission(struct collector *c, const struct retained *k, bool *presents)
{
    bool verbose = k->state != RETAINED_DONE;
    uint32_t packets, draws;

    walk(c, k, verbose, &packets, &draws, presents);
    bb_row(c->p, BB_TABLE_SUBMISSION);
    bb_int(c->p, BB_submission_id, (int64_t)k->id);
    bb_int(c->p, BB_submission_queue, k->context_id);
    bb_int(c->p, BB_submission_fence, (int64_t)k->fence);
    bb_int(c->p, BB_submission_time_ns, (int64_t)k->time_ns);
    if (k->done_ns)
        bb_int(c->p, BB_submission_done_ns, (int64_t)k->done_ns);
    bb_text(c->p, BB_submission_state, state_of(c, k));
    bb_text(c->p, BB_submission_error, k->message[0] ? k->message : NULL);
    bb_int(c->p, BB_submission_cmd_gpa, (int64_t)k->cmd_gpa);
    bb_int(c->p, BB_submission_cmd_size, k->cmd_size);
    bb_int(c->p, BB_submission_flags, k->flags);
    bb_int(c->p, BB_submission_packets, packets);
    bb_int(c->p, BB_submission_draws, draws);
    bb_blob(c->p, BB_submission_stream, k->stream, k->stream ? k->cmd_size : 0);
    bb_blob(c->p, BB_submission_table_, k->table, k->table ? k->alloc_size : 0);
    bb_row_end(c->p);
    if (verbose)
        put_marks(c, k);
}
