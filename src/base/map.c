/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdlib.h>

static size_t capacity(const struct map *m)
{
    return m->slots ? (size_t)1 << m->bits : 0;
}

static size_t home(const struct map *m, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - m->bits));
}

/* The slot that holds `key`, or the free one where it would go. */
static struct map_slot *probe(const struct map *m, uint64_t key)
{
    const size_t mask = capacity(m) - 1;
    size_t i = home(m, key);

    while (m->slots[i].key && m->slots[i].key != key)
        i = (i + 1) & mask;
    return &m->slots[i];
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
    struct map_slot *s;

    if (!key)
        return m->has_zero ? (uint64_t *)&m->zero : NULL;
    if (!m->slots)
        return NULL;
    s = probe(m, key);
    return s->key ? &s->value : NULL;
}

static bool grow(struct map *m)
{
    struct map bigger = *m;

    bigger.bits = m->slots ? m->bits + 1 : 4;
    bigger.slots = calloc((size_t)1 << bigger.bits, sizeof(*bigger.slots));
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < capacity(m); i++)
        if (m->slots[i].key)
            *probe(&bigger, m->slots[i].key) = m->slots[i];
    free(m->slots);
    *m = bigger;
    return true;
}

uint64_t *map_put(struct map *m, uint64_t key)
{
    uint64_t *value = map_find(m, key);
    struct map_slot *s;

    if (value)
        return value;
    if (!key) {
        m->has_zero = true;
        m->num++;
        m->zero = 0;
        return &m->zero;
    }
    if (m->num + 1 > capacity(m) / 4 * 3 && !grow(m))
        return NULL;
    s = probe(m, key);
    *s = (struct map_slot){.key = key};
    m->num++;
    return &s->value;
}

bool map_remove(struct map *m, uint64_t key)
{
    const size_t mask = capacity(m) - 1;
    size_t hole, i;

    if (!map_find(m, key))
        return false;
    m->num--;
    if (!key) {
        m->has_zero = false;
        return true;
    }
    /* What comes behind moves into the hole, unless it would lie before its home then. */
    hole = i = (size_t)(probe(m, key) - m->slots);
    for (;;) {
        i = (i + 1) & mask;
        if (!m->slots[i].key)
            break;
        if (((i - home(m, m->slots[i].key)) & mask) >= ((i - hole) & mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole].key = 0;
    return true;
}

bool map_next(const struct map *m, size_t *at, struct map_slot *out)
{
    while (*at < capacity(m)) {
        const struct map_slot *s = &m->slots[(*at)++];
        if (s->key) {
            *out = *s;
            return true;
        }
    }
    if (*at == capacity(m) && m->has_zero) {
        (*at)++;
        *out = (struct map_slot){.key = 0, .value = m->zero};
        return true;
    }
    return false;
}

void map_finish(struct map *m)
{
    free(m->slots);
    *m = (struct map){0};
}
