/* SPDX-License-Identifier: MIT */
#include "record/trace_blobs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/check.h"
#include "record/varint.h"
#include "record/trace_file.h"

enum { NUM_READ = 64, RECENT = 64 };

struct fragment {
    uint64_t offset; /* in the blob */
    uint32_t block, at, length;
    uint32_t next; /* of the same blob, plus one */
};

struct blob {
    uint64_t number, turn;
    uint8_t *bytes; /* NULL: not in memory */
    size_t size;
    uint32_t first, last; /* fragments */
    bool pinned;
};

struct trc_blobs {
    struct trc *t;
    uint64_t budget, largest, held, turn;
    struct blob *blobs; /* by number */
    size_t num, cap;
    struct fragment *fragments;
    uint32_t num_fragments;
    size_t cap_fragments;
    struct { /* blocks that were read last */
        uint8_t *raw;
        uint32_t block, size;
    } read[NUM_READ];
    uint32_t last, next; /* which of them is meant, and which goes first */
    bool all;            /* they fit into the budget: they are read at once, and stay */
    size_t hand;         /* where looking for blobs to drop goes on */
};

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const struct blob *)a)->number, y = ((const struct blob *)b)->number;

    return x < y ? -1 : x > y;
}

static int open_block(struct trc_blobs *b, uint32_t block, struct error *e)
{
    uint8_t *raw;
    int err;

    for (uint32_t i = 0; i < NUM_READ; i++)
        if (b->read[i].raw && b->read[i].block == block) {
            b->last = i;
            return 0;
        }
    if ((err = trc_block_bytes(b->t, block, &raw, e)))
        return err;
    b->last = b->next++ % NUM_READ;
    free(b->read[b->last].raw);
    b->read[b->last].raw = raw;
    b->read[b->last].block = block;
    b->read[b->last].size = trc_block(b->t, block)->raw;
    return 0;
}

/* ---- where they are ------------------------------------------------------ */

static int bad_fragment(struct trc_blobs *b, uint32_t block, const char *what, uint64_t n, struct error *e)
{
    return error_set(e, -EBADMSG, "the blob block at byte %llu%s %llu",
                     (unsigned long long)trc_block(b->t, block)->offset, what, (unsigned long long)n);
}

/* The blob whose fragments may still come: they follow each other, but for what other processes of the program write in between. */
static struct blob *recent(struct trc_blobs *b, uint64_t number, uint64_t size)
{
    for (size_t i = b->num; i > 0 && b->num - i < RECENT; i--)
        if (b->blobs[i - 1].number == number && b->blobs[i - 1].size == size)
            return &b->blobs[i - 1];
    return NULL;
}

/* One fragment: number, size of the whole blob, offset, length, bytes. */
static int find_fragment(struct trc_blobs *b, struct bytes *in, uint32_t block, struct error *e)
{
    uint64_t number = bytes_varint(in), size = bytes_varint(in), offset = bytes_varint(in),
             n = bytes_varint(in);
    struct blob *x = recent(b, number, size);
    size_t at = in->pos;
    const void *p = bytes_take(in, n);

    if (in->bad || size > b->largest || offset > size || n > size - offset || n > UINT32_MAX)
        return bad_fragment(b, block, " is malformed at offset", in->pos, e);
    if (array_reserve(b->fragments, b->cap_fragments, b->num_fragments + 1))
        return error_set(e, -ENOMEM, "out of memory");
    b->fragments[b->num_fragments] = (struct fragment){offset, block, (uint32_t)at, (uint32_t)n, 0};
    if (x) {
        b->fragments[x->last].next = b->num_fragments + 1;
        x->last = b->num_fragments++;
        if (b->all)
            memcpy(x->bytes + offset, p, n);
        return 0;
    }
    if (offset)
        return error_set(e, -EBADMSG, "the blob block at byte %llu: blob %llu does not begin at 0",
                         (unsigned long long)trc_block(b->t, block)->offset, (unsigned long long)number);
    if (array_reserve(b->blobs, b->cap, b->num + 1))
        return error_set(e, -ENOMEM, "out of memory");
    x = &b->blobs[b->num++];
    *x = (struct blob){.number = number, .size = size, .first = b->num_fragments, .last = b->num_fragments};
    b->num_fragments++;
    if (!b->all)
        return 0;
    if (!(x->bytes = calloc(1, size ? size : 1)))
        return error_set(e, -ENOMEM, "no memory for a blob of %llu bytes", (unsigned long long)size);
    memcpy(x->bytes, p, n);
    return 0;
}

int trc_blobs_create(struct trc_blobs **out, struct trc *t, uint64_t budget, uint64_t largest,
                     struct error *e)
{
    struct trc_blobs *b = calloc(1, sizeof(*b));
    uint64_t total = 0;
    int err = 0;

    if (!b)
        return error_set(e, -ENOMEM, "out of memory");
    b->t = t;
    b->largest = largest;
    b->budget = budget ? budget : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
    for (uint32_t i = 0; i < trc_num_blocks(t); i++)
        if (trc_block(t, i)->kind == TRC_BLOBS)
            total += trc_block(t, i)->raw;
    b->all = total <= b->budget;
    for (uint32_t i = 0; i < trc_num_blocks(t) && !err; i++) {
        struct bytes in;

        if (trc_block(t, i)->kind != TRC_BLOBS || (err = open_block(b, i, e)))
            continue;
        in = bytes_of(b->read[b->last].raw, b->read[b->last].size);
        while (!err && bytes_left(&in))
            err = find_fragment(b, &in, i, e);
    }
    if (err) {
        trc_blobs_destroy(b);
        return err;
    }
    if (b->num)
        qsort(b->blobs, b->num, sizeof(*b->blobs), by_number);
    *out = b;
    return 0;
}

void trc_blobs_destroy(struct trc_blobs *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->num; i++)
        free(b->blobs[i].bytes);
    free(b->blobs);
    free(b->fragments);
    for (int i = 0; i < NUM_READ; i++)
        free(b->read[i].raw);
    free(b);
}

/* ---- having them --------------------------------------------------------- */

/* Makes room for `size` bytes, as far as there is something that may go. */
static void make_room(struct trc_blobs *b, size_t size)
{
    for (size_t k = 0; k < b->num && b->held + size > b->budget; k++) {
        struct blob *x = &b->blobs[b->hand++ % b->num];

        if (!x->bytes || x->pinned || x->turn == b->turn)
            continue;
        free(x->bytes);
        x->bytes = NULL;
        b->held -= x->size;
    }
}

static int load(struct trc_blobs *b, struct blob *x, struct error *e)
{
    int err;

    make_room(b, x->size);
    x->bytes = calloc(1, x->size ? x->size : 1);
    if (!x->bytes)
        return error_set(e, -ENOMEM, "no memory for a blob of %zu bytes", x->size);
    b->held += x->size;
    for (uint32_t i = x->first + 1; i; i = b->fragments[i - 1].next) {
        const struct fragment *f = &b->fragments[i - 1];

        if ((err = open_block(b, f->block, e))) {
            free(x->bytes);
            x->bytes = NULL;
            b->held -= x->size;
            return err;
        }
        memcpy(x->bytes + f->offset, b->read[b->last].raw + f->at, f->length);
    }
    return 0;
}

static void blobs_check(const struct trc_blobs *b)
{
    INVARIANT(b->num <= b->cap);
    INVARIANT(b->num_fragments <= b->cap_fragments);
    INVARIANT(b->num_fragments >= b->num); // each has one at least
    INVARIANT(b->last < NUM_READ);
    INVARIANT(!b->all || !b->held); // nothing is counted where all of them stay
}

static struct blob *find(const struct trc_blobs *b, uint64_t number)
{
    struct blob key = {.number = number};

    return b->num ? bsearch(&key, b->blobs, b->num, sizeof(key), by_number) : NULL;
}

const void *trc_blobs_get(struct trc_blobs *b, uint64_t number, size_t *size, struct error *e)
{
    struct blob *x = find(b, number);

    blobs_check(b);
    if (!x) {
        error_set(e, -EBADMSG, "there is no blob %llu", (unsigned long long)number);
        return NULL;
    }
    if (!x->bytes && load(b, x, e))
        return NULL;
    x->turn = b->turn;
    *size = x->size;
    return x->bytes;
}

void trc_blobs_turn(struct trc_blobs *b)
{
    if (b)
        b->turn++;
}

void trc_blobs_pin(struct trc_blobs *b, uint64_t number)
{
    struct blob *x = find(b, number);

    if (x)
        x->pinned = true;
}
