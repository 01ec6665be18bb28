/* SPDX-License-Identifier: MIT */
#include "base/samples.h"

#include <math.h>
#include <stdlib.h>

void samples_add(struct samples *s, uint64_t value)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 256;
        uint64_t *v = realloc(s->v, cap * sizeof(*v));
        if (!v) {
            s->failed = true;
            return;
        }
        s->v = v;
        s->cap = cap;
    }
    s->v[s->n++] = value;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

uint64_t samples_percentile(struct samples *s, double percent)
{
    size_t rank;

    if (!s->n)
        return 0;
    qsort(s->v, s->n, sizeof(*s->v), compare);
    rank = (size_t)ceil(percent / 100 * (double)s->n);
    if (rank < 1)
        rank = 1;
    return s->v[(rank > s->n ? s->n : rank) - 1];
}

void samples_clear(struct samples *s)
{
    s->n = 0;
}

void samples_finish(struct samples *s)
{
    free(s->v);
    *s = (struct samples){0};
}
