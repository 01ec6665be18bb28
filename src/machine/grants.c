/* SPDX-License-Identifier: MIT */
#include "machine/grants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/log.h"

static uint64_t bit(int place)
{
    INVARIANT(place >= 0 && place < GRANTS_HOSTS);
    return UINT64_C(1) << place;
}

void grants_finish(struct grants *g)
{
    for (size_t i = 0; i < g->n; i++)
        exec_region_put(g->v[i].region);
    free(g->v);
    *g = (struct grants){0};
}

int grants_join(struct grants *g, struct exec_host *host)
{
    for (int i = 0; i < GRANTS_HOSTS; i++)
        if (!g->hosts[i]) {
            g->hosts[i] = host;
            return i;
        }
    return -ENOSPC;
}

void grants_leave(struct grants *g, int place)
{
    const uint64_t b = bit(place);

    for (size_t i = 0; i < g->n; i++)
        g->v[i].holders &= ~b;
    g->all &= ~b;
    g->hosts[place] = NULL;
}

/* Index of the first region that ends behind `gpa`. */
static size_t find(struct grants *g, uint64_t gpa)
{
    size_t lo = 0, hi = g->n;

    if (g->found < g->n && gpa >= g->v[g->found].gpa && gpa - g->v[g->found].gpa < g->v[g->found].size)
        return g->found; /* as nearly always */
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (g->v[mid].gpa + (g->v[mid].size - 1) < gpa)
            lo = mid + 1;
        else
            hi = mid;
    }
    g->found = lo;
    return lo;
}

static int give(struct grants *g, struct grant *to, int place, struct error *e)
{
    int r;

    if (to->holders & bit(place))
        return 0;
    r = exec_host_map_region(g->hosts[place], to->region, e);
    if (!r)
        to->holders |= bit(place);
    return r;
}

static void take(struct grants *g, struct grant *from)
{
    for (int i = 0; i < GRANTS_HOSTS; i++)
        if (from->holders & bit(i))
            exec_host_unmap(g->hosts[i], from->gpa, from->size);
    exec_region_put(from->region);
}

/* Who has everything may have no room for more: then he refuses work that names it, and nobody else suffers. */
static void give_if_it_fits(struct grants *g, struct grant *to, int place)
{
    struct error e = {0};

    if (give(g, to, place, &e))
        log_warn("machine", "the executor of all: %s", e.text);
}

int grants_add(struct grants *g, uint64_t gpa, uint64_t size, int fd, struct error *e)
{
    struct grant n = {.gpa = gpa, .size = size};
    int r = exec_region_create(&n.region, gpa, size, fd, 0, e);
    size_t i;

    if (r)
        return r;
    i = find(g, gpa);
    if (i < g->n && g->v[i].gpa <= gpa + (size - 1))
        r = error_set(e, -EEXIST, "region 0x%llx, size 0x%llx overlaps the one at 0x%llx",
                      (unsigned long long)gpa, (unsigned long long)size, (unsigned long long)g->v[i].gpa);
    else if (array_reserve(g->v, g->room, g->n + 1))
        r = error_set(e, -ENOMEM, "region 0x%llx: out of memory", (unsigned long long)gpa);
    if (r) {
        exec_region_put(n.region);
        return r;
    }
    for (int host = 0; host < GRANTS_HOSTS; host++)
        if (g->all & bit(host))
            give_if_it_fits(g, &n, host);
    memmove(&g->v[i + 1], &g->v[i], (g->n - i) * sizeof(g->v[0]));
    g->v[i] = n;
    g->n++;
    return 0;
}

void grants_remove(struct grants *g, uint64_t gpa, uint64_t size)
{
    const size_t i = find(g, gpa);

    if (i == g->n || g->v[i].gpa != gpa || g->v[i].size != size)
        return;
    take(g, &g->v[i]);
    g->n--;
    memmove(&g->v[i], &g->v[i + 1], (g->n - i) * sizeof(g->v[0]));
}

int grants_give(struct grants *g, int place, uint64_t gpa, uint64_t size, struct error *e)
{
    int r = 0;

    if (!size || gpa + (size - 1) < gpa || g->all & bit(place))
        return 0;
    for (size_t i = find(g, gpa); i < g->n && g->v[i].gpa <= gpa + (size - 1) && !r; i++)
        r = give(g, &g->v[i], place, e);
    return r;
}

void grants_give_all(struct grants *g, int place)
{
    if (g->all & bit(place))
        return;
    for (size_t i = 0; i < g->n; i++)
        give_if_it_fits(g, &g->v[i], place);
    g->all |= bit(place);
}
