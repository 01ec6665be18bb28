/* SPDX-License-Identifier: MIT */
#include "executor/process/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/check.h"

void exec_memory_init(struct exec_memory *m)
{
    memset(m, 0, sizeof(*m));
    pthread_mutex_init(&m->lock, NULL);
}

static int spans_insert(struct exec_memory_spans *s, unsigned i, struct exec_memory_span span)
{
    if (array_reserve(s->v, s->room, s->n + 1))
        return -ENOMEM;
    memmove(&s->v[i + 1], &s->v[i], (s->n - i) * sizeof(s->v[0]));
    s->v[i] = span;
    s->n++;
    return 0;
}

static void spans_delete(struct exec_memory_spans *s, unsigned i)
{
    munmap(s->v[i].at, s->v[i].size);
    s->n--;
    memmove(&s->v[i], &s->v[i + 1], (s->n - i) * sizeof(s->v[0]));
}

void exec_memory_finish(struct exec_memory *m)
{
    while (m->regions.n)
        spans_delete(&m->regions, m->regions.n - 1);
    while (m->views.n)
        spans_delete(&m->views, m->views.n - 1);
    free(m->regions.v);
    free(m->views.v);
    pthread_mutex_destroy(&m->lock);
}

static bool holds(const struct exec_memory_span *s, uint64_t gpa, uint64_t size)
{
    return gpa >= s->gpa && gpa - s->gpa < s->size && size <= s->size - (gpa - s->gpa);
}

static uint64_t last_of(const struct exec_memory_span *s)
{
    return s->gpa + (s->size - 1);
}

/* With the lock: regions lie by address and apart, and every span is mapped. */
static void memory_check(const struct exec_memory *m)
{
    INVARIANT(m->regions.n <= m->regions.room);
    INVARIANT(m->views.n <= m->views.room);
    for (unsigned i = 0; i < m->regions.n; i++) {
        const struct exec_memory_span *s = &m->regions.v[i];

        INVARIANT(s->at && s->size && last_of(s) >= s->gpa);
        INVARIANT(!i || last_of(s - 1) < s->gpa);
    }
    for (unsigned i = 0; i < m->views.n; i++)
        INVARIANT(m->views.v[i].at && m->views.v[i].size && last_of(&m->views.v[i]) >= m->views.v[i].gpa);
}

/* Index of the first region that ends behind `gpa`. */
static unsigned find(const struct exec_memory *m, uint64_t gpa)
{
    unsigned lo = 0, hi = m->regions.n;

    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;

        if (last_of(&m->regions.v[mid]) < gpa)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int exec_memory_add(struct exec_memory *m, uint64_t gpa, uint64_t size, int fd, uint64_t offset)
{
    struct exec_memory_span s = {.gpa = gpa, .size = size};
    unsigned i;
    int r;

    if (!size || gpa + (size - 1) < gpa)
        return -EINVAL;
    s.at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (s.at == MAP_FAILED)
        return -errno;
    pthread_mutex_lock(&m->lock);
    i = find(m, gpa);
    if (i < m->regions.n && m->regions.v[i].gpa <= last_of(&s))
        r = -EEXIST;
    else
        r = spans_insert(&m->regions, i, s);
    memory_check(m);
    pthread_mutex_unlock(&m->lock);
    if (r)
        munmap(s.at, size);
    return r;
}

int exec_memory_remove(struct exec_memory *m, uint64_t gpa, uint64_t size)
{
    unsigned i;
    int r = -ENOENT;

    pthread_mutex_lock(&m->lock);
    i = find(m, gpa);
    if (i < m->regions.n && m->regions.v[i].gpa == gpa && m->regions.v[i].size == size) {
        spans_delete(&m->regions, i);
        for (unsigned v = m->views.n; v-- > 0;)
            if (m->views.v[v].gpa <= gpa + (size - 1) && last_of(&m->views.v[v]) >= gpa)
                spans_delete(&m->views, v);
        r = 0;
    }
    memory_check(m);
    pthread_mutex_unlock(&m->lock);
    return r;
}

/* The regions that touch each other around region `i`: the first and one past the last. */
static void run_around(const struct exec_memory *m, unsigned i, unsigned *first, unsigned *end)
{
    const struct exec_memory_span *v = m->regions.v;

    *first = i;
    *end = i + 1;
    while (*first > 0 && last_of(&v[*first - 1]) + 1 == v[*first].gpa)
        --*first;
    while (*end < m->regions.n && last_of(&v[*end - 1]) + 1 == v[*end].gpa)
        ++*end;
}

void exec_memory_trim(struct exec_memory *m)
{
    pthread_mutex_lock(&m->lock);
    for (unsigned v = m->views.n; v-- > 0;) {
        unsigned first, end;

        run_around(m, find(m, m->views.v[v].gpa), &first, &end);
        if (m->views.v[v].gpa != m->regions.v[first].gpa ||
            last_of(&m->views.v[v]) != last_of(&m->regions.v[end - 1]))
            spans_delete(&m->views, v);
    }
    memory_check(m);
    pthread_mutex_unlock(&m->lock);
}

/* A second mapping of regions [first, end), one behind the other. */
static struct exec_memory_span *make_view(struct exec_memory *m, unsigned first, unsigned end)
{
    struct exec_memory_span view = {.gpa = m->regions.v[first].gpa};

    for (unsigned i = first; i < end; i++)
        if (__builtin_add_overflow(view.size, m->regions.v[i].size, &view.size))
            return NULL;
    view.at = mmap(NULL, view.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (view.at == MAP_FAILED)
        return NULL;
    for (unsigned i = first; i < end; i++) {
        const struct exec_memory_span *r = &m->regions.v[i];

        /* An old size of 0 makes mremap map shared pages a second time. */
        if (mremap(r->at, 0, r->size, MREMAP_MAYMOVE | MREMAP_FIXED, view.at + (r->gpa - view.gpa)) ==
            MAP_FAILED)
            goto fail;
    }
    if (spans_insert(&m->views, m->views.n, view))
        goto fail;
    return &m->views.v[m->views.n - 1];
fail:
    munmap(view.at, view.size);
    return NULL;
}

static void *get(struct exec_memory *m, uint64_t gpa, uint64_t size)
{
    struct exec_memory_span *s = NULL;
    unsigned i = find(m, gpa), first, end;

    if (i == m->regions.n || gpa < m->regions.v[i].gpa)
        return NULL;
    if (holds(&m->regions.v[i], gpa, size))
        return m->regions.v[i].at + (gpa - m->regions.v[i].gpa);
    run_around(m, i, &first, &end);
    if (gpa + (size - 1) > last_of(&m->regions.v[end - 1]))
        return NULL;
    for (unsigned v = 0; v < m->views.n && !s; v++)
        if (holds(&m->views.v[v], gpa, size))
            s = &m->views.v[v];
    if (!s)
        s = make_view(m, first, end);
    INVARIANT(!s || holds(s, gpa, size));
    return s ? s->at + (gpa - s->gpa) : NULL;
}

void *exec_memory_get(struct exec_memory *m, uint64_t gpa, uint64_t size)
{
    void *p;

    if (!size || gpa + (size - 1) < gpa)
        return NULL;
    pthread_mutex_lock(&m->lock);
    p = get(m, gpa, size);
    pthread_mutex_unlock(&m->lock);
    return p;
}
