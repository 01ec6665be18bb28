/* SPDX-License-Identifier: MIT */
/* fast.h: what every vkCmd call does, inline; what few of them do is in commands.c.
 *
 * Invariants:
 *  1. A command buffer has a chunk only while it has a slot, and is being recorded.
 *  2. Who records into a command buffer keeps others from freeing it, so that a row whose handle it finds stays. Rows are
 *     written under a lock, the handle last, and given up for FREED, which ends no search.
 */
#pragma once

#include "vkbox/layer.h"

enum { KNOWN_BUFFERS = 1 << 15, PROBES = 64 };
#define FREED_HANDLE UINT64_C(1)

struct commands_row {
    _Atomic uint64_t handle; /* 0: never used */
    struct command_buffer *_Atomic cb;
};

extern struct commands_row commands_rows[KNOWN_BUFFERS];

static inline uint32_t commands_hash(uint64_t handle)
{
    return (uint32_t)(handle * UINT64_C(0x9E3779B97F4A7C15) >> 49);
}

/* NULL: not known */
static inline struct command_buffer *command_buffer_of(VkCommandBuffer handle)
{
    const uint64_t want = (uint64_t)(uintptr_t)handle;
    const uint32_t at = commands_hash(want);

    for (uint32_t i = 0; i < PROBES; i++) {
        const struct commands_row *row = &commands_rows[(at + i) % KNOWN_BUFFERS];
        const uint64_t is = atomic_load_explicit(&row->handle, memory_order_acquire);

        if (__builtin_expect(is == want, 1))
            return atomic_load_explicit(&row->cb, memory_order_relaxed);
        if (!is)
            return NULL;
    }
    return NULL;
}

uint32_t *commands_more(struct command_buffer *cb, uint32_t words);
void commands_worked(struct command_buffer *cb);

/* Where the arguments go; NULL: nothing is kept. */
static inline uint32_t *commands_begin(struct command_buffer *cb, uint32_t words)
{
    struct vkbox_chunk *c = cb ? cb->chunk : NULL;
    uint32_t used;

    if (!c)
        return NULL;
    used = atomic_load_explicit(&c->used, memory_order_relaxed);
    return __builtin_expect(used + words <= VKBOX_CHUNK_WORDS, 1) ? &c->words[used + 1]
                                                                  : commands_more(cb, words);
}

__attribute__((always_inline)) static inline void commands_end(struct command_buffer *cb, uint32_t *end,
                                                               enum vkbox_command command)
{
    struct vkbox_chunk *c;
    uint32_t used;

    if (!end)
        return;
    c = cb->chunk;
    used = atomic_load_explicit(&c->used, memory_order_relaxed);
    c->words[used] = (uint32_t)command << 16 | (uint32_t)(end - &c->words[used + 1]);
    atomic_store_explicit(&c->used, (uint32_t)(end - c->words), memory_order_release);
}

/* Where a command is recorded. A part that has only what sets `state` is not executed. */
static inline VkCommandBuffer commands_part(const struct command_buffer *cb, VkCommandBuffer handle,
                                            bool state)
{
    struct parts *p = cb ? cb->parts : NULL;

    if (__builtin_expect(!p, 1))
        return handle;
    if (!state)
        p->used = p->at + 1;
    return p->buffer[p->at];
}

/* What sets state is recorded in the parts behind, too; NULL: there is none. */
static inline VkCommandBuffer commands_part_behind(const struct command_buffer *cb, uint32_t *n)
{
    const struct parts *p = cb ? cb->parts : NULL;

    return __builtin_expect(!p, 1) || p->at + ++*n >= p->num ? NULL : p->buffer[p->at + *n];
}

static inline void commands_region(struct command_buffer *cb, int labels, int regions)
{
    struct parts *p = cb ? cb->parts : NULL;

    if (p && (labels + regions > 0 || (labels ? p->labels : p->regions))) {
        p->labels += (uint32_t)labels;
        p->regions += (uint32_t)regions;
    }
}

static inline void commands_work(struct command_buffer *cb)
{
    if (!cb || !cb->slot)
        return;
    cb->pending++;
    if (!cb->in_pass || cb->exact)
        commands_worked(cb);
}
