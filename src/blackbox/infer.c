/* SPDX-License-Identifier: MIT */
/* infer.c: what the commands of a queue were doing, from the markers that were written (rules in blackbox.h).
 *
 *   ░ finished ░│ written BOTTOM … last written marker = `reach` │ … first unwritten TOP │ not started
 *
 * Invariants:
 *  1. A command that is called finished stands before a written BOTTOM marker; one that is called not started stands
 *     behind an unwritten TOP marker, or in front of one that an unfinished command kept from being reached.
 *  2. "Certain" needs one candidate; of a hang, also proof that something in front of a reached, unwritten BOTTOM marker is unfinished,
 *     or an unwritten marker behind the only command that is left.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/check.h"
#include "base/strbuf.h"
#include "blackbox/internal.h"

#define NONE UINT32_MAX

enum { NAMED_CANDIDATES = 4, MAX_DEPTH = 64 };

struct facts {
    const struct bb_item *items;
    uint32_t n;
    enum bb_end end;
    uint32_t last_bottom; /* last written BOTTOM; NONE: none */
    uint32_t reach;       /* last item that the command processor is known to have passed; NONE: none */
    uint32_t stop;        /* first unwritten TOP behind `reach`; n: none */
    uint32_t proven; /* last reached and unwritten BOTTOM behind a command behind last_bottom; NONE: none */
    uint32_t first_proven; /* the first such */
};

static bool is_command(const struct bb_item *i)
{
    return i->kind == BB_ITEM_COMMAND || i->kind == BB_ITEM_WAIT;
}

static bool is_marker(const struct bb_item *i)
{
    return i->kind == BB_ITEM_TOP || i->kind == BB_ITEM_BOTTOM;
}

static void gather(struct facts *f, struct bb_inference *out)
{
    uint32_t certain, commands;

    f->last_bottom = f->reach = f->proven = f->first_proven = NONE;
    for (uint32_t i = 0; i < f->n; i++) {
        if (!is_marker(&f->items[i]) || !f->items[i].written)
            continue;
        f->reach = i;
        if (f->items[i].kind == BB_ITEM_BOTTOM)
            f->last_bottom = i;
    }
    /* A TOP marker in front of a written one, or a BOTTOM marker in front of a written BOTTOM, must have been written. */
    for (uint32_t i = 0; i < f->n && f->reach != NONE && i < f->reach; i++)
        if (is_marker(&f->items[i]) && !f->items[i].written &&
            (f->items[i].kind == BB_ITEM_TOP || (f->last_bottom != NONE && i < f->last_bottom)))
            out->contradictions++;
    f->stop = f->n;
    for (uint32_t i = f->reach == NONE ? 0 : f->reach + 1; i < f->n && f->stop == f->n; i++)
        if (f->items[i].kind == BB_ITEM_TOP)
            f->stop = i;
    /* Markers do not hold the command processor up: it certainly reached those up to the next command. */
    certain = f->reach == NONE ? 0 : f->reach + 1;
    while (certain < f->stop && !is_command(&f->items[certain]))
        certain++;
    commands = 0;
    for (uint32_t i = f->last_bottom == NONE ? 0 : f->last_bottom + 1; i < certain && f->reach != NONE; i++) {
        commands += is_command(&f->items[i]);
        if (f->items[i].kind == BB_ITEM_BOTTOM && !f->items[i].written) {
            out->pending_bottoms++;
            if (commands && f->first_proven == NONE)
                f->first_proven = i;
            if (commands)
                f->proven = i;
        }
    }
}

/* True if a TOP marker that was never written stands between item `i` and the next command. */
static bool own_top_is_missing(const struct facts *f, uint32_t i)
{
    for (i++; i < f->n && !is_command(&f->items[i]); i++)
        if (f->items[i].kind == BB_ITEM_TOP)
            return !f->items[i].written;
    return false;
}

static enum bb_state state_of(const struct facts *f, uint32_t i)
{
    if (f->last_bottom != NONE && i < f->last_bottom)
        return BB_FINISHED;
    if (f->items[i].kind == BB_ITEM_WAIT && f->items[i].written)
        return BB_FINISHED;
    if (i > f->stop)
        return BB_NOT_STARTED;
    if (f->end == BB_END_HANG && f->proven != NONE && i > f->proven && (f->reach == NONE || i > f->reach) &&
        own_top_is_missing(f, i))
        return BB_NOT_STARTED;
    return BB_MAYBE_RUNNING;
}

/* The one command that certainly did not finish: alone between the last written BOTTOM marker and the first
 * that was reached and not written. */
static void mark_certain(const struct facts *f, struct bb_inference *out)
{
    uint32_t found = NONE, n = 0;

    if (f->proven == NONE)
        return;
    for (uint32_t i = 0; i < f->first_proven; i++)
        if (is_command(&f->items[i]) && out->states[i] == BB_MAYBE_RUNNING) {
            found = i;
            n++;
        }
    if (n == 1)
        out->states[found] = BB_RUNNING;
}

static bool all_markers_written(const struct facts *f)
{
    bool any = false;

    for (uint32_t i = 0; i < f->n; i++) {
        if (is_marker(&f->items[i]) && !f->items[i].written)
            return false;
        any |= is_marker(&f->items[i]);
    }
    return any;
}

/* Something behind the command was not written, so that it need not have finished by itself. */
static bool unwritten_behind(const struct facts *f, uint32_t i)
{
    for (; i < f->n; i++)
        if (is_marker(&f->items[i]) && !f->items[i].written)
            return true;
    return false;
}

/* ---- regions and words --------------------------------------------------- */

static void find_path(const struct facts *f, uint32_t target, struct bb_inference *out)
{
    uint32_t stack[MAX_DEPTH], depth = 0, deeper = 0;
    struct strbuf path = {0};

    out->path[0] = '\0';
    for (uint32_t i = 0; i < f->n; i++) {
        for (uint32_t d = 0; i == target && d < depth; d++) {
            const char *whole = f->items[stack[d]].name;
            char name[68];

            utf8_cut(name, sizeof(name), whole ? whole : "?", whole ? strlen(whole) : 1);
            strbuf_printf(&path, "%s%s", d ? "/" : "", name);
        }
        if (f->items[i].kind == BB_ITEM_PUSH && depth == MAX_DEPTH)
            deeper++;
        else if (f->items[i].kind == BB_ITEM_PUSH)
            stack[depth++] = i;
        else if (f->items[i].kind == BB_ITEM_POP && deeper)
            deeper--;
        else if (f->items[i].kind == BB_ITEM_POP && depth)
            depth--;
        else if (f->items[i].kind == BB_ITEM_POP)
            out->unbalanced_pops++;
    }
    if (path.len)
        utf8_path(out->path, sizeof(out->path), strbuf_str(&path));
    strbuf_finish(&path);
    out->open_regions = depth + deeper;
}

static void put_name(struct strbuf *s, const struct bb_item *i)
{
    if (i->name)
        strbuf_puts(s, i->name);
    else
        strbuf_printf(s, "command %llu", (unsigned long long)i->id);
}

static void put_candidates(struct strbuf *s, const struct facts *f, const struct bb_inference *x)
{
    for (uint32_t i = 0; i < x->num_candidates && i < NAMED_CANDIDATES; i++) {
        if (i)
            strbuf_puts(s, i + 1 == x->num_candidates ? " or " : ", ");
        put_name(s, &f->items[x->candidates[i]]);
    }
    if (x->num_candidates > NAMED_CANDIDATES)
        strbuf_printf(s, " or one of %u more", x->num_candidates - NAMED_CANDIDATES);
}

static void put_conclusion(const struct facts *f, struct bb_inference *x)
{
    const struct bb_item *first = x->num_candidates ? &f->items[x->candidates[0]] : NULL;
    const char *where = f->end == BB_END_HANG ? "the hang is in " : "it stopped in ";
    struct strbuf s = {0};

    switch (x->certainty) {
    case BB_NOTHING:
        strbuf_puts(&s, "everything finished");
        break;
    case BB_UNKNOWN:
        strbuf_puts(&s, f->reach == NONE ? "no marker was written: the queue never began"
                                         : "it stopped where there is no command to blame");
        break;
    case BB_CERTAIN:
        strbuf_puts(&s, first->kind == BB_ITEM_WAIT ? "it waits for ever in " : where);
        put_name(&s, first);
        break;
    case BB_SEVERAL:
        strbuf_puts(&s, where);
        put_candidates(&s, f, x);
        if (x->states[x->candidates[0]] == BB_RUNNING) {
            strbuf_puts(&s, ": ");
            put_name(&s, first);
            strbuf_puts(&s, " did not finish, and what follows it was at the top of the pipe or running too");
        }
        break;
    }
    if (x->stalled_by_limit)
        strbuf_printf(&s, "; %d bottom-of-pipe markers were pending, at which the command processor stops",
                      BB_PENDING_BOTTOM_LIMIT);
    if (x->contradictions)
        strbuf_printf(&s, "; %u marker%s contradict the order and may be from earlier work",
                      x->contradictions, x->contradictions == 1 ? "" : "s");
    snprintf(x->conclusion, sizeof(x->conclusion), "%s", strbuf_str(&s));
    strbuf_finish(&s);
}

/* ---- all of it ----------------------------------------------------------- */

static void apply_limit(const struct facts *f, struct bb_inference *out)
{
    uint32_t pending = 0;

    for (uint32_t i = f->last_bottom == NONE ? 0 : f->last_bottom + 1; i < f->n; i++) {
        if (f->items[i].kind == BB_ITEM_BOTTOM && ++pending == BB_PENDING_BOTTOM_LIMIT && i < f->stop)
            out->stalled_by_limit = 1;
        else if (out->stalled_by_limit && is_command(&f->items[i]) && out->states[i] == BB_MAYBE_RUNNING &&
                 (f->reach == NONE || i > f->reach))
            out->states[i] = BB_NOT_STARTED;
    }
}

static void inference_check(const struct facts *f, const struct bb_inference *x)
{
    INVARIANT(x->num_candidates <= x->num_items);
    INVARIANT((x->certainty == BB_CERTAIN) == (x->num_candidates == 1)); /* 2 */
    INVARIANT((x->certainty == BB_SEVERAL) == (x->num_candidates > 1));
    INVARIANT(!x->num_candidates || is_command(&f->items[x->candidates[0]]));
    INVARIANT(!x->num_candidates || bb_state_is_candidate((enum bb_state)x->states[x->candidates[0]]));
    INVARIANT(x->num_candidates < 2 || x->candidates[0] < x->candidates[1]);
    INVARIANT(f->last_bottom == NONE || f->items[f->last_bottom].written);
    INVARIANT(f->reach == NONE || (f->last_bottom == NONE || f->last_bottom <= f->reach));
    INVARIANT(f->stop <= f->n && (f->stop == f->n || !f->items[f->stop].written));
    INVARIANT((f->proven == NONE) == (f->first_proven == NONE) && f->first_proven <= f->proven);
}

int bb_infer(struct bb_inference *out, const struct bb_item *items, uint32_t num_items, enum bb_end end)
{
    struct facts f = {.items = items, .n = num_items, .end = end};

    *out = (struct bb_inference){.num_items = num_items};
    out->states = calloc(num_items ? num_items : 1, 1);
    out->candidates = calloc(num_items ? num_items : 1, sizeof(*out->candidates));
    if (!out->states || !out->candidates) {
        bb_inference_finish(out);
        return -ENOMEM;
    }
    gather(&f, out);
    for (uint32_t i = 0; i < num_items; i++)
        out->states[i] = (uint8_t)state_of(&f, i);
    if (end == BB_END_HANG) {
        apply_limit(&f, out);
        mark_certain(&f, out);
    }
    for (uint32_t i = 0; i < num_items; i++)
        if (is_command(&items[i]) && (out->states[i] == BB_RUNNING || out->states[i] == BB_MAYBE_RUNNING))
            out->candidates[out->num_candidates++] = i;
    if (all_markers_written(&f) && out->num_candidates && !unwritten_behind(&f, 0) && f.last_bottom != NONE &&
        f.last_bottom > out->candidates[out->num_candidates - 1])
        out->num_candidates = 0;
    if (out->num_candidates == 1 && unwritten_behind(&f, out->candidates[0]))
        out->states[out->candidates[0]] = BB_RUNNING;
    if (!out->num_candidates)
        out->certainty = unwritten_behind(&f, 0) ? BB_UNKNOWN : BB_NOTHING;
    else
        out->certainty = out->num_candidates == 1 ? BB_CERTAIN : BB_SEVERAL;
    if (f.reach == NONE && out->num_candidates && f.stop == 0) {
        out->num_candidates = 0;
        out->certainty = BB_UNKNOWN;
    }
    find_path(&f, out->num_candidates ? out->candidates[0] : NONE, out);
    put_conclusion(&f, out);
    inference_check(&f, out);
    return 0;
}

void bb_inference_finish(struct bb_inference *x)
{
    free(x->candidates);
    free(x->states);
    x->candidates = NULL;
    x->states = NULL;
}
