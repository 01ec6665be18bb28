/* SPDX-License-Identifier: MIT */
/* rename.c: memory that buffers had.
 *
 * What writes all of a buffer while the device still reads it, as programs do that discard, gives the buffer other memory. The old keeps
 * what draws of before read, and stays with its buffer: it is what the buffer gets when the device is done with it, so that a program that
 * discards for each draw makes no more buffers than it has under way.
 *
 *   in the buffer ──exec_buffer_rename──▶ place, newest … oldest ──exec_buffer_rename, device is done──▶ in the buffer
 *                                                            └──exec_buffers_age, not asked for──▶ gone
 *
 * Invariants:
 *  1. Places are in the order in which they were left, so that none is done before an older one.
 *  2. A buffer that goes waits for the device to be done with all of its places.
 */
#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"

#include <stdlib.h>

#include "base/check.h"

/* What nobody asked for during so many submissions goes, and what is more than so many bytes as soon as the device is done with it. */
enum { KEPT_SUBMISSIONS = 16, KEPT_BYTES = 32 << 20 };

struct buffer_place {
    struct buffer_place *next; /* younger */
    struct exec_vk_buffer vk;
    struct texel_view *views;
    uint64_t last_use;
};

static struct buffer_place *take_oldest(struct exec_engine *g, struct exec_buffer *b)
{
    struct buffer_places *all = &b->places;
    struct buffer_place *p = all->oldest;

    all->oldest = p->next;
    if (!all->oldest)
        all->newest = NULL;
    g->place_bytes -= p->vk.size;
    INVARIANT(!all->oldest || all->oldest->last_use >= p->last_use); /* 1 */
    return p;
}

static void leave(struct exec_engine *g, struct exec_buffer *b, struct buffer_place *p)
{
    struct buffer_places *all = &b->places;

    *p = (struct buffer_place){NULL, b->vk, b->views, b->o.last_use};
    if (all->newest)
        all->newest->next = p;
    else
        all->oldest = p;
    all->newest = p;
    g->place_bytes += p->vk.size;
    if (all->listed)
        return;
    all->listed = true;
    all->next = g->renamed;
    all->prev = NULL;
    if (g->renamed)
        g->renamed->places.prev = b;
    g->renamed = b;
}

static void forget(struct exec_engine *g, struct exec_buffer *b)
{
    struct buffer_places *all = &b->places;

    if (!all->listed)
        return;
    if (all->prev)
        all->prev->places.next = all->next;
    else
        g->renamed = all->next;
    if (all->next)
        all->next->places.prev = all->prev;
    *all = (struct buffer_places){0};
}

static void place_destroy(struct exec_engine *g, struct buffer_place *p)
{
    exec_texel_views_destroy(g, p->views);
    exec_vk_buffer_destroy(&g->vk, &p->vk);
    free(p);
}

bool exec_buffer_rename(struct exec_engine *g, struct exec_buffer *b)
{
    struct buffer_place *p = b->places.oldest, fresh = {0};

    if (b->addressed.base || b->counter.vk.buffer || b->streamed.buffer)
        return false;
    if (p && p->last_use <= exec_completed(g)) {
        fresh = *take_oldest(g, b);
    } else {
        p = calloc(1, sizeof(*p));
        if (!p)
            return false;
        if (exec_vk_buffer_create(&g->vk, &fresh.vk, b->size, exec_buffer_usage(g), VK_USE_SHARED)) {
            free(p);
            return false;
        }
    }
    leave(g, b, p);
    b->vk = fresh.vk;
    b->views = fresh.views;
    b->o.last_use = 0;
    g->ctx->dirty |= DIRTY_VERTEX_BUFFERS | DIRTY_INDEX_BUFFER;
    for (int s = 0; s < EXEC_STAGE_COUNT; s++)
        g->ctx->dirty |= DIRTY_STAGE << s;
    return true;
}

uint64_t exec_buffer_last_use(const struct exec_buffer *b)
{
    const uint64_t left = b->places.newest ? b->places.newest->last_use : 0;

    return b->o.last_use > left ? b->o.last_use : left;
}

void exec_buffers_age(struct exec_engine *g)
{
    const uint64_t done = exec_completed(g);
    struct exec_buffer *b, *next;

    for (b = g->renamed; b; b = next) {
        const struct buffer_places *all = &b->places;

        next = all->next;
        while (all->oldest && all->oldest->last_use <= done &&
               (all->oldest->last_use + KEPT_SUBMISSIONS <= done || g->place_bytes > KEPT_BYTES))
            place_destroy(g, take_oldest(g, b));
        if (!all->oldest)
            forget(g, b);
    }
}

void exec_buffer_places_destroy(struct exec_engine *g, struct exec_buffer *b)
{
    while (b->places.oldest)
        place_destroy(g, take_oldest(g, b));
    forget(g, b);
}
