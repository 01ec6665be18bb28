/* SPDX-License-Identifier: MIT */
/* rec_memory.c: what the program wrote into mapped memory.
 *
 * Mapped upload memory is watched (dirty.h) as regions of whole pages; mappings that share pages share a region. At
 * every point where the device may come to see the bytes (command lists submitted, a fence signalled by the CPU, memory
 * unmapped) the written pages are compared with a copy of what the file already says, and only what differs is written,
 * as calls of the API's `memory_write` by the thread that looked.
 *
 * Invariants:
 *  1. The copy is kept by address, so that resources that share bytes (aliased, placed) share it.
 *  2. 16 bytes whose content the file does not say yet (new memory) are written whole when their page is first seen
 *     written, never compared.
 *  3. When a resource's last reference goes, what is known about its bytes is forgotten.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/check.h"
#include "base/map.h"
#include "record/dirty/dirty.h"
#include "record/rec_enc.h"

#define GRANULE  16
#define GRANULES (DIRTY_PAGE / GRANULE)

struct shadow {
    uint64_t known[GRANULES / 64];
    uint8_t bytes[DIRTY_PAGE];
};

struct region {
    uintptr_t start, end;
    int refs;
    struct dirty_span *span;
};

struct rec_memory { /* one mapped subresource */
    struct rec_object *o;
    struct rec_memory *next; /* of the same object */
    uint8_t *ptr;
    size_t size;
    uint32_t sub;
    int count; /* 0: it was mapped once, and what is known of its bytes must be forgotten with it */
    bool tracked;
    bool read;            /* by the program: hashed */
    struct rec_part part; /* which says that it reads this */
    uint64_t given;       /* `mem.given` when it was last hashed */
};

static struct {
    pthread_mutex_t lock;
    _Atomic uint64_t given; /* how often the device was given something to do */
    struct dirty *dirty;
    bool failed;
    struct rec_memory **maps; /* sorted by address */
    size_t num_maps, cap_maps;
    struct map of_objects;  /* number of an object: the first of its mappings */
    struct region *regions; /* sorted, apart */
    size_t num_regions, cap_regions;
    struct map shadows; /* address of a page: its struct shadow */
} mem = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the copy ------------------------------------------------------------ */

static struct shadow *shadow_of(uintptr_t page, bool make)
{
    struct shadow *s = map_pointer(&mem.shadows, page);
    uint64_t *slot;

    if (s || !make)
        return s;
    s = malloc(sizeof(*s));
    slot = s ? map_put(&mem.shadows, page) : NULL;
    if (!slot) {
        free(s);
        return NULL;
    }
    memset(s->known, 0, sizeof(s->known));
    *slot = (uintptr_t)s;
    return s;
}

static void forget(uintptr_t start, uintptr_t end)
{
    for (uintptr_t page = start & ~(uintptr_t)(DIRTY_PAGE - 1); page < end; page += DIRTY_PAGE) {
        struct shadow *s = shadow_of(page, false);

        if (!s)
            continue;
        for (unsigned g = 0; g < GRANULES; g++)
            if (page + (g + 1) * GRANULE > start && page + g * GRANULE < end)
                s->known[g / 64] &= ~(UINT64_C(1) << (g % 64));
    }
}

/* ---- writing down what changed ------------------------------------------- */

static void write_run(struct rec_thread *t, const struct rec_memory *m, uintptr_t from, const void *bytes,
                      size_t n)
{
    do {
        struct enc *e = &t->enc;

        rec_begin(t, NULL, rec_api->memory_write, REC_MODE_TICKET);
        enc_var(e, m->o->id);
        enc_u32(e, m->sub);
        enc_u64(e, from - (uintptr_t)m->ptr);
        enc_bytes(e, bytes, n);
        enc_u64(e, n);
    } while (rec_args_done(t, rec_api->memory_write, REC_NO_ANSWER));
}

/* Compares [from, to), inside one page, with the copy. */
static void compare(struct rec_thread *t, const struct rec_memory *m, uintptr_t from, uintptr_t to)
{
    uintptr_t page = from & ~(uintptr_t)(DIRTY_PAGE - 1), start = 0, end = 0;
    struct shadow *s = shadow_of(page, true);

    if (!s) { /* no memory for the copy: as it is */
        write_run(t, m, from, (const void *)from, to - from);
        return;
    }
    for (uintptr_t g = from & ~(uintptr_t)(GRANULE - 1); g < to; g += GRANULE) {
        uintptr_t a = g < from ? from : g, b = g + GRANULE > to ? to : g + GRANULE;
        unsigned i = (unsigned)((g - page) / GRANULE);
        bool known = s->known[i / 64] >> (i % 64) & 1;
        uint8_t now[GRANULE], *copy = s->bytes + (a - page);

        memcpy(now, (const void *)a, b - a);
        if (known && !memcmp(now, copy, b - a))
            continue;
        if (start && a > end + GRANULE) {
            write_run(t, m, start, s->bytes + (start - page), end - start);
            start = 0;
        }
        if (known) { /* narrow it to the words that differ: whole ones, so that the next frame's run is like this one */
            while (b - a > 4 && !memcmp(now, copy, 4)) {
                a += 4;
                copy += 4;
                memmove(now, now + 4, (size_t)(b - a));
            }
            while (b - a > 4 && (b - a) % 4 == 0 && !memcmp(now + (b - a) - 4, copy + (b - a) - 4, 4))
                b -= 4;
        }
        if (!start)
            start = a;
        end = b;
        memcpy(copy, now, b - a);
        s->known[i / 64] |= UINT64_C(1) << (i % 64);
    }
    if (start)
        write_run(t, m, start, s->bytes + (start - page), end - start);
}

/* The first mapping at or behind an address. */
static size_t first_map(uintptr_t at)
{
    size_t lo = 0, hi = mem.num_maps;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if ((uintptr_t)mem.maps[mid]->ptr < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct look {
    struct rec_thread *t;
    uintptr_t region; /* where it begins; what is watched in it lies in it whole */
};

static void on_run(void *ctx, struct dirty_run r)
{
    const struct look *look = ctx;

    for (size_t i = first_map(look->region); i < mem.num_maps && (uintptr_t)mem.maps[i]->ptr < r.end; i++) {
        const struct rec_memory *m = mem.maps[i];
        uintptr_t a = (uintptr_t)m->ptr, b = a + m->size;

        if (!m->tracked || !m->count || b <= r.start)
            continue;
        a = a < r.start ? r.start : a;
        b = b > r.end ? r.end : b;
        while (a < b) {
            uintptr_t next = (a & ~(uintptr_t)(DIRTY_PAGE - 1)) + DIRTY_PAGE;

            compare(look->t, m, a, next < b ? next : b);
            a = next;
        }
    }
}

static void scan_region(struct rec_thread *t, struct region *r)
{
    struct look look = {t, r->start};
    int err = dirty_collect(mem.dirty, r->span, on_run, &look);

    if (err) /* the pages are gone or were replaced: look at all that is mapped there */
        on_run(&look, (struct dirty_run){r->start, r->end});
}

void rec_memory_scan(struct rec_thread *t)
{
    atomic_fetch_add_explicit(&mem.given, 1, memory_order_relaxed);
    if (!mem.num_regions)
        return;
    pthread_mutex_lock(&mem.lock);
    for (size_t i = 0; i < mem.num_regions; i++)
        scan_region(t, &mem.regions[i]);
    pthread_mutex_unlock(&mem.lock);
}

/* ---- regions ------------------------------------------------------------- */

/* Around region `i`, where they were changed: sorted, apart, whole pages. */
static void regions_check(size_t i)
{
    const struct region *r = &mem.regions[i];

    INVARIANT(mem.num_regions <= mem.cap_regions);
    INVARIANT(i >= mem.num_regions ||
              (r->start < r->end && r->start % DIRTY_PAGE == 0 && r->end % DIRTY_PAGE == 0));
    INVARIANT(i >= mem.num_regions || r->refs > 0);
    INVARIANT(!i || i >= mem.num_regions || r[-1].end <= r->start);
    INVARIANT(i + 1 >= mem.num_regions || r->end <= r[1].start);
}

/* The first region that ends behind an address. */
static size_t first_region(uintptr_t at)
{
    size_t lo = 0, hi = mem.num_regions;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (mem.regions[mid].end <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Makes the pages of [start, end) watched, merging with regions that share pages. */
static int region_add(struct rec_thread *t, uintptr_t start, uintptr_t end)
{
    struct region r = {.refs = 1};
    size_t i, j;
    int err;

    r.start = start & ~(uintptr_t)(DIRTY_PAGE - 1);
    r.end = (end + DIRTY_PAGE - 1) & ~(uintptr_t)(DIRTY_PAGE - 1);
    i = first_region(r.start);
    if (i < mem.num_regions && mem.regions[i].start <= r.start && mem.regions[i].end >= r.end) {
        mem.regions[i].refs++;
        return 0;
    }
    for (j = i; j < mem.num_regions && mem.regions[j].start < r.end; j++) {
        dirty_remove(mem.dirty, mem.regions[j].span);
        r.refs += mem.regions[j].refs;
        if (mem.regions[j].start < r.start)
            r.start = mem.regions[j].start;
        if (mem.regions[j].end > r.end)
            r.end = mem.regions[j].end;
    }
    err = dirty_add(mem.dirty, &r.span, (void *)r.start, r.end - r.start);
    if (array_reserve(mem.regions, mem.cap_regions, mem.num_regions + 1))
        return -1;
    memmove(&mem.regions[i + 1 - !!err], &mem.regions[j], (mem.num_regions - j) * sizeof(r));
    mem.num_regions -= j - i;
    if (err)
        return err;
    mem.regions[i] = r;
    mem.num_regions++;
    regions_check(i);
    if (j > i) /* what was written to those until all was watched again */
        on_run(&(struct look){t, r.start}, (struct dirty_run){r.start, r.end});
    return 0;
}

static void region_drop(struct rec_thread *t, uintptr_t at)
{
    size_t i = first_region(at);
    struct region *r = &mem.regions[i];

    if (i == mem.num_regions || at < r->start)
        return;
    scan_region(t, r);
    if (!--r->refs) {
        dirty_remove(mem.dirty, r->span);
        memmove(r, r + 1, (--mem.num_regions - i) * sizeof(*r));
    }
    regions_check(i);
}

/* ---- mappings ------------------------------------------------------------ */

static struct rec_memory *find(const struct rec_object *o, uint32_t sub)
{
    struct rec_memory *m = map_pointer(&mem.of_objects, o->id);

    while (m && m->sub != sub)
        m = m->next;
    INVARIANT(!m || m->o == o);
    return m;
}

static void hash_readback(struct rec_thread *t, struct rec_memory *m)
{
    struct enc *e = &t->enc;
    uint64_t hash;

    m->given = atomic_load_explicit(&mem.given, memory_order_relaxed);
    if (m->part.begin >= m->part.end || m->part.end > m->size)
        return;
    hash = XXH3_64bits(m->ptr + m->part.begin, m->part.end - m->part.begin);
    rec_begin(t, NULL, rec_api->readback_hash, REC_MODE_TICKET);
    enc_var(e, m->o->id);
    enc_u64(e, m->part.begin);
    enc_u64(e, m->part.end - m->part.begin);
    enc_u64(e, hash);
    rec_args_done(t, rec_api->readback_hash, REC_NO_ANSWER);
}

static void take_out(struct rec_memory *m)
{
    size_t i = first_map((uintptr_t)m->ptr);

    while (i < mem.num_maps && mem.maps[i] != m)
        i++;
    INVARIANT(i < mem.num_maps);
    memmove(&mem.maps[i], &mem.maps[i + 1], (--mem.num_maps - i) * sizeof(*mem.maps));
}

static void put_in(struct rec_memory *m)
{
    size_t i = first_map((uintptr_t)m->ptr);

    memmove(&mem.maps[i + 1], &mem.maps[i], (mem.num_maps - i) * sizeof(*mem.maps));
    mem.maps[i] = m;
    mem.num_maps++;
    INVARIANT(mem.num_maps <= mem.cap_maps);
    INVARIANT(!i || mem.maps[i - 1]->ptr <= m->ptr);
    INVARIANT(i + 1 == mem.num_maps || m->ptr <= mem.maps[i + 1]->ptr);
}

static struct rec_memory *map_new(struct rec_thread *t, struct rec_object *o, uint32_t sub, size_t size,
                                  void *p)
{
    struct rec_memory *m = calloc(1, sizeof(*m));
    uint64_t *of_object;

    if (!m || array_reserve(mem.maps, mem.cap_maps, mem.num_maps + 1) ||
        !(of_object = map_put(&mem.of_objects, o->id))) {
        free(m);
        return NULL;
    }
    *m = (struct rec_memory){
        .o = o, .next = (void *)(uintptr_t)*of_object, .ptr = p, .size = size, .sub = sub};
    *of_object = (uintptr_t)m;
    put_in(m);
    return m;
}

/* The first of nested maps: from here on the memory is watched. */
static void map_begin(struct rec_thread *t, struct rec_memory *m, enum rec_memory_kind kind, void *p)
{
    uintptr_t at = (uintptr_t)p;

    if (m->ptr != p) {
        forget((uintptr_t)m->ptr, (uintptr_t)m->ptr + m->size);
        take_out(m);
        m->ptr = p;
        put_in(m);
    }
    m->read = kind == REC_MEMORY_READ;
    m->tracked = !m->read;
    if (kind == REC_MEMORY_SHARED)
        forget(at, at + m->size); /* the device may have written since */
    if (m->tracked && region_add(t, at, at + m->size)) {
        m->tracked = false;
        rec_note(t, "the memory of resource %u cannot be watched: what is written to it is not recorded",
                 m->o->id);
    }
}

static void map_object(struct rec_thread *t, struct rec_object *o, uint32_t sub, void *p,
                       const struct rec_part *part,
                       bool (*describe)(struct rec_thread *t, struct rec_object *o, struct rec_mapping *m))
{
    struct rec_memory *m = find(o, sub);
    struct rec_mapping what = {0};

    if (!m || !m->count) {
        if (!describe(t, o, &what) || (!m && !(m = map_new(t, o, sub, what.size, p))))
            return;
        map_begin(t, m, what.kind, p);
        o->extras |= REC_HAS_MEMORY;
    }
    m->count++;
    m->part = part ? *part : (struct rec_part){0, m->size};
    if (m->read)
        hash_readback(t, m);
}

void rec_memory_map(struct rec_thread *t, struct rec_object *o, uint32_t sub, void *p,
                    const struct rec_part *part,
                    bool (*describe)(struct rec_thread *t, struct rec_object *o, struct rec_mapping *m))
{
    pthread_mutex_lock(&mem.lock);
    if (!mem.dirty && !mem.failed && dirty_create(&mem.dirty, (enum dirty_method)rec_shm->dirty_method)) {
        mem.failed = true;
        rec_note(t, "the chosen way of watching memory is not there: no memory is recorded");
    }
    if (mem.dirty)
        map_object(t, o, sub, p, part, describe);
    pthread_mutex_unlock(&mem.lock);
}

/* Memory that stays mapped while the device works is read when that is done, and not when it was mapped. */
static void map_end(struct rec_thread *t, struct rec_memory *m)
{
    if (m->read && m->given != atomic_load_explicit(&mem.given, memory_order_relaxed))
        hash_readback(t, m);
    if (m->tracked)
        region_drop(t, (uintptr_t)m->ptr);
    m->count = 0;
}

void rec_memory_unmap(struct rec_thread *t, struct rec_object *o, uint32_t sub)
{
    struct rec_memory *m;

    pthread_mutex_lock(&mem.lock);
    m = find(o, sub);
    if (m && m->count == 1)
        map_end(t, m);
    else if (m && m->count > 1)
        m->count--;
    pthread_mutex_unlock(&mem.lock);
}

void rec_memory_release(struct rec_thread *t, struct rec_object *o)
{
    struct rec_memory *m, *next;

    pthread_mutex_lock(&mem.lock);
    m = map_pointer(&mem.of_objects, o->id);
    map_remove(&mem.of_objects, o->id);
    for (; m; m = next) {
        next = m->next;
        if (m->count)
            map_end(t, m);
        forget((uintptr_t)m->ptr, (uintptr_t)m->ptr + m->size);
        take_out(m);
        free(m);
    }
    pthread_mutex_unlock(&mem.lock);
}
