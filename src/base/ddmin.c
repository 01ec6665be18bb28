/* SPDX-License-Identifier: MIT */
/* ddmin.c: complements of chunks are tried, from large chunks to single things. (Trying the chunks themselves, as the
 * original algorithm does first, rarely helps where the things depend on each other.) */
#include "base/ddmin.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OUT = 64 };

struct out {
    uint64_t ticket; /* 0: free */
    uint32_t chunk;
    uint8_t *keep;
};

struct ddmin {
    uint32_t n, kept, chunks; /* the current set is divided into so many chunks */
    uint8_t *current;
    uint32_t next;    /* chunk that is asked next */
    uint32_t clean;   /* chunks in a row that were refused, since the set last changed */
    uint32_t waiting; /* handed out */
    bool changed;     /* since the chunks began to have this size */
    uint64_t tickets;
    struct out out[MAX_OUT];
};

struct ddmin *ddmin_create(uint32_t n)
{
    struct ddmin *d = calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->n = d->kept = n;
    d->chunks = n < 2 ? n : 2;
    d->current = malloc(n ? n : 1);
    if (!d->current) {
        free(d);
        return NULL;
    }
    memset(d->current, 1, n);
    return d;
}

void ddmin_destroy(struct ddmin *d)
{
    if (!d)
        return;
    for (int i = 0; i < MAX_OUT; i++)
        free(d->out[i].keep);
    free(d->current);
    free(d);
}

/* Without the chunk: chunk c holds the kept things number [c * kept / chunks, (c + 1) * kept / chunks). */
static uint32_t complement(const struct ddmin *d, uint32_t chunk, uint8_t *keep)
{
    uint32_t first = (uint32_t)((uint64_t)chunk * d->kept / d->chunks);
    uint32_t end = (uint32_t)((uint64_t)(chunk + 1) * d->kept / d->chunks), at = 0;

    for (uint32_t i = 0; i < d->n; i++) {
        keep[i] = d->current[i] && (at < first || at >= end);
        at += d->current[i];
    }
    return d->kept - (end - first);
}

/* All chunks of this size were refused: smaller ones, if there are. */
static void refine(struct ddmin *d)
{
    if (d->next < d->chunks || d->waiting)
        return;
    if (d->chunks >= d->kept) {
        if (!d->changed)
            return;         /* done */
        d->changed = false; /* once more: what went may have freed others */
    } else {
        d->chunks = d->chunks > d->kept / 2 ? d->kept : d->chunks * 2;
        d->changed = false;
    }
    d->next = 0;
}

bool ddmin_next(struct ddmin *d, struct ddmin_candidate *c)
{
    struct out *o = d->out;

    refine(d);
    while (o < d->out + MAX_OUT && o->ticket)
        o++;
    if (d->next >= d->chunks || !d->kept || o == d->out + MAX_OUT)
        return false;
    if (!o->keep)
        o->keep = malloc(d->n);
    if (!o->keep)
        return false;
    o->chunk = d->next++;
    o->ticket = ++d->tickets;
    d->waiting++;
    *c = (struct ddmin_candidate){
        .keep = o->keep, .num_kept = complement(d, o->chunk, o->keep), .ticket = o->ticket};
    return true;
}

static struct out *find(const struct ddmin *d, uint64_t ticket)
{
    for (int i = 0; ticket && i < MAX_OUT; i++)
        if (d->out[i].ticket == ticket)
            return (struct out *)&d->out[i];
    return NULL;
}

bool ddmin_is_stale(const struct ddmin *d, uint64_t ticket)
{
    return !find(d, ticket);
}

bool ddmin_answer(struct ddmin *d, uint64_t ticket, bool still)
{
    struct out *o = find(d, ticket);
    uint32_t first = UINT32_MAX;

    if (!o)
        return false;
    d->waiting--;
    o->ticket = 0;
    if (!still)
        return false;
    memcpy(d->current, o->keep, d->n);
    d->kept = 0;
    for (uint32_t i = 0; i < d->n; i++)
        d->kept += d->current[i];
    /* What else is out was made from the old set, and is asked again: chunks keep their places, one is missing. */
    for (int i = 0; i < MAX_OUT; i++)
        if (d->out[i].ticket) {
            uint32_t chunk = d->out[i].chunk - (d->out[i].chunk > o->chunk);
            first = chunk < first ? chunk : first;
            d->out[i].ticket = 0;
        }
    d->waiting = 0;
    d->changed = true;
    d->chunks--;
    d->next = o->chunk < d->next - 1 ? d->next - 1 : o->chunk;
    if (first < d->next)
        d->next = first;
    if (d->chunks < 2 && d->kept > 1)
        d->chunks = 2, d->next = 0;
    if (!d->chunks && d->kept)
        d->chunks = 1, d->next = 0;
    return true;
}

bool ddmin_is_done(const struct ddmin *d)
{
    return !d->kept || (!d->waiting && d->next >= d->chunks && d->chunks >= d->kept && !d->changed);
}

const uint8_t *ddmin_current(const struct ddmin *d)
{
    return d->current;
}

uint32_t ddmin_num_kept(const struct ddmin *d)
{
    return d->kept;
}
