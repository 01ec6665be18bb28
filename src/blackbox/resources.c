/* SPDX-License-Identifier: MIT */
/* resources.c: what lies at an address, and what lay there.
 *
 *   add ──▶ living (sorted by address) ──remove──▶ history (a ring, latest last) ──▶ forgotten
 *
 * Invariants:
 *  1. Living resources are sorted by address; they may overlap (aliases), and lookups find the smallest that fits.
 *  2. The history holds the last `history` that were removed, in the order of their removal. Of those before them it is known between
 *     which addresses they lay, and how many they were.
 *  3. An address was never mapped only if neither they nor a change that was not seen can have been there.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "blackbox/internal.h"
#include "blackbox/package.h"
#include "base/utf8.h"

enum { NAME = 64, DEFAULT_HISTORY = 65536 };

struct entry {
    struct bb_resource r;
    char name[NAME], kind[NAME];
};

struct bb_resources {
    pthread_mutex_t lock;
    struct entry **living;
    size_t n, cap;
    struct entry *history;
    uint64_t removed; /* ever */
    uint32_t room;
    uint64_t forgotten_low, forgotten_high; /* 2 */
    uint64_t lost;                          /* changes that were not seen */
    uint64_t largest; /* size of a living resource, ever: how far back a lookup must go */
};

/* With the lock; `at`: where something changed. */
static void resources_check(const struct bb_resources *r, size_t at)
{
    INVARIANT(r->n <= r->cap && at <= r->n);
    INVARIANT(!at || at == r->n || r->living[at - 1]->r.address <= r->living[at]->r.address); /* 1 */
    INVARIANT(at + 1 >= r->n || r->living[at]->r.address <= r->living[at + 1]->r.address);
    INVARIANT(at == r->n || !r->living[at]->r.destroyed_ns);
    INVARIANT(at == r->n || r->living[at]->r.size <= r->largest);
    INVARIANT(r->removed <= r->room || r->forgotten_low < r->forgotten_high);
    INVARIANT(!r->removed || r->history[(r->removed - 1) % r->room].r.destroyed_ns); /* 2 */
}

int bb_resources_create(struct bb_resources **out, uint32_t history)
{
    struct bb_resources *r = calloc(1, sizeof(*r));

    *out = NULL;
    if (!r)
        return -ENOMEM;
    r->room = history ? history : DEFAULT_HISTORY;
    r->history = calloc(r->room, sizeof(*r->history));
    if (!r->history) {
        free(r);
        return -ENOMEM;
    }
    pthread_mutex_init(&r->lock, NULL);
    *out = r;
    return 0;
}

void bb_resources_destroy(struct bb_resources *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        free(r->living[i]);
    free(r->living);
    free(r->history);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* Index of the first living resource that begins behind `address`. */
static size_t behind(const struct bb_resources *r, uint64_t address)
{
    size_t lo = 0, hi = r->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (r->living[mid]->r.address <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct entry *by_id(struct bb_resources *r, uint64_t id, size_t *at)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->living[i]->r.id == id) {
            *at = i;
            return r->living[i];
        }
    return NULL;
}

static void copy_text(char to[NAME], const char *from)
{
    size_t n = from ? utf8_clean(to, NAME - 1, from, strlen(from)) : 0;

    to[n] = '\0';
}

int bb_resources_add(struct bb_resources *r, const struct bb_resource *x)
{
    struct entry *e;
    size_t at;
    int ret = 0;

    if (x->size && x->address + (x->size - 1) < x->address)
        return -EINVAL;
    pthread_mutex_lock(&r->lock);
    if (by_id(r, x->id, &at)) {
        ret = -EEXIST;
        goto out;
    }
    if (array_reserve(r->living, r->cap, r->n + 1)) {
        ret = -ENOMEM;
        goto out;
    }
    e = malloc(sizeof(*e));
    if (!e) {
        ret = -ENOMEM;
        goto out;
    }
    e->r = *x;
    e->r.destroyed_ns = e->r.evicted_ns = 0;
    copy_text(e->name, x->name);
    copy_text(e->kind, x->kind);
    at = behind(r, x->address);
    memmove(&r->living[at + 1], &r->living[at], (r->n - at) * sizeof(*r->living));
    r->living[at] = e;
    r->n++;
    if (x->size > r->largest)
        r->largest = x->size;
    resources_check(r, at);
out:
    pthread_mutex_unlock(&r->lock);
    return ret;
}

void bb_resources_use(struct bb_resources *r, uint64_t id, uint64_t time_ns)
{
    struct entry *e;
    size_t at;

    pthread_mutex_lock(&r->lock);
    e = by_id(r, id, &at);
    if (e)
        e->r.last_use_ns = time_ns;
    pthread_mutex_unlock(&r->lock);
}

/* What has its place in the history goes. */
static void forget(struct bb_resources *r, const struct bb_resource *old)
{
    const uint64_t end = old->size ? old->address + (old->size - 1) : old->address;

    if (r->removed == r->room || old->address < r->forgotten_low)
        r->forgotten_low = old->address;
    if (r->removed == r->room || end >= r->forgotten_high)
        r->forgotten_high = end < UINT64_MAX ? end + 1 : end;
}

struct bb_gaps bb_resources_gaps(struct bb_resources *r)
{
    struct bb_gaps g;

    pthread_mutex_lock(&r->lock);
    g = (struct bb_gaps){.forgotten = r->removed > r->room ? r->removed - r->room : 0, .lost = r->lost};
    pthread_mutex_unlock(&r->lock);
    return g;
}

void bb_resources_lose(struct bb_resources *r, uint64_t changes)
{
    pthread_mutex_lock(&r->lock);
    r->lost += changes;
    pthread_mutex_unlock(&r->lock);
}

int bb_resources_remove(struct bb_resources *r, uint64_t id, uint64_t time_ns)
{
    struct entry *e;
    size_t at;

    pthread_mutex_lock(&r->lock);
    e = by_id(r, id, &at);
    if (e) {
        e->r.destroyed_ns = time_ns ? time_ns : 1;
        if (r->removed >= r->room)
            forget(r, &r->history[r->removed % r->room].r);
        r->history[r->removed++ % r->room] = *e;
        free(e);
        memmove(&r->living[at], &r->living[at + 1], (--r->n - at) * sizeof(*r->living));
        resources_check(r, at);
    }
    pthread_mutex_unlock(&r->lock);
    return e ? 0 : -ENOENT;
}

int bb_resources_evict(struct bb_resources *r, uint64_t id, bool evicted, uint64_t time_ns)
{
    struct entry *e;
    size_t at;

    pthread_mutex_lock(&r->lock);
    e = by_id(r, id, &at);
    if (e)
        e->r.evicted_ns = !evicted ? 0 : time_ns ? time_ns : 1;
    pthread_mutex_unlock(&r->lock);
    return e ? 0 : -ENOENT;
}

/* ---- faults -------------------------------------------------------------- */

static struct bb_resource shown(const struct entry *e)
{
    struct bb_resource r = e->r;

    r.name = e->name;
    r.kind = e->kind;
    return r;
}

static bool contains(const struct bb_resource *r, uint64_t address)
{
    return address >= r->address && address - r->address < r->size;
}

static void find_former(const struct bb_resources *r, uint64_t address, struct bb_fault *f)
{
    uint64_t kept = r->removed < r->room ? r->removed : r->room;

    for (uint64_t i = 0; i < kept && f->num_former < BB_FAULT_OWNERS; i++) {
        const struct entry *e = &r->history[(r->removed - 1 - i) % r->room];
        if (contains(&e->r, address))
            f->former[f->num_former++] = shown(e);
    }
}

/* Bytes from the address to what is behind it or before it; its own bytes are no distance. */
static uint64_t distance(const struct bb_resource *r, uint64_t address, bool *before)
{
    *before = address < r->address;
    return *before ? r->address - address : address - (r->address + r->size) + 1;
}

/* The nearest former one; what was destroyed has neighbours, too. */
static const struct entry *nearest_former(const struct bb_resources *r, uint64_t address, uint64_t *nearest,
                                          bool *before)
{
    const uint64_t kept = r->removed < r->room ? r->removed : r->room;
    const struct entry *found = NULL;

    *nearest = UINT64_MAX;
    for (uint64_t i = 0; i < kept; i++) {
        const struct entry *e = &r->history[(r->removed - 1 - i) % r->room];
        bool is_before;
        const uint64_t d = contains(&e->r, address) ? UINT64_MAX : distance(&e->r, address, &is_before);

        if (d < *nearest) {
            *nearest = d;
            *before = is_before;
            found = e;
        }
    }
    return found;
}

/* 3. No process has the first pages, nor what is above the lower half of 48 bits. */
static bool may_be_unknown(const struct bb_resources *r, uint64_t address)
{
    const bool possible = address >= BB_FAULT_REACH && address >> 47 == 0;

    return possible && (r->lost || (r->removed > r->room && address + BB_FAULT_REACH >= r->forgotten_low &&
                                    address < r->forgotten_high + BB_FAULT_REACH));
}

/* The smallest living owner, and the neighbours. */
static const struct entry *find_living(const struct bb_resources *r, uint64_t address, struct bb_fault *f)
{
    size_t i = behind(r, address);
    const struct entry *owner = NULL, *below = NULL;
    uint64_t reach = r->largest < UINT64_MAX - BB_FAULT_REACH ? r->largest + BB_FAULT_REACH : UINT64_MAX;

    if (i < r->n) {
        f->has_above = true;
        f->above = shown(r->living[i]);
    }
    while (i > 0 && address - r->living[i - 1]->r.address <= reach) {
        const struct entry *e = r->living[--i];
        if (contains(&e->r, address) && (!owner || e->r.size < owner->r.size))
            owner = e;
        else if (!contains(&e->r, address) &&
                 (!below || e->r.address + e->r.size > below->r.address + below->r.size))
            below = e;
    }
    if (!below && i > 0 && !owner)
        below = r->living[i - 1];
    if (below) {
        f->has_below = true;
        f->below = shown(below);
    }
    return owner;
}

static void name(char out[160], const struct bb_resource *r)
{
    if (r->name[0])
        snprintf(out, 160, "%s '%s'", r->kind, r->name);
    else
        snprintf(out, 160, "%s %" PRIu64, r->kind, r->id);
}

const char *bb_fault_kind_name(enum bb_fault_kind kind)
{
    static const char *const names[] = {"inside",       "use after free", "out of bounds",
                                        "never mapped", "not resident",   "not seen"};

    return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

static const char *gone(const struct bb_resource *r)
{
    return !r->destroyed_ns                   ? ""
           : r->evicted_ns == r->destroyed_ns ? ", whose memory was freed"
                                              : ", which was destroyed";
}

/* Whose address it was before: any of them may be meant. */
static void add_former(struct bb_fault *f)
{
    for (uint32_t i = 0; i < f->num_former; i++) {
        const size_t n = strlen(f->text);
        char who[160];

        if (f->former[i].id == f->resource.id)
            continue;
        name(who, &f->former[i]);
        snprintf(f->text + n, sizeof(f->text) - n, "; or into %s%s: it lay there, too", who,
                 gone(&f->former[i]));
    }
}

void bb_fault_words(struct bb_fault *f)
{
    char who[160] = "";

    if (f->has_resource)
        name(who, &f->resource);
    switch (f->kind) {
    case BB_FAULT_INSIDE:
        snprintf(f->text, sizeof(f->text),
                 "0x%" PRIx64 " lies %" PRIu64 " bytes into %s, which is alive: not writable or misaligned",
                 f->address, f->address - f->resource.address, who);
        break;
    case BB_FAULT_USE_AFTER_FREE:
        snprintf(f->text, sizeof(f->text),
                 "use after free: 0x%" PRIx64 " lies %" PRIu64 " bytes into %s (%" PRIu64 " bytes)%s",
                 f->address, f->address - f->resource.address, who, f->resource.size, gone(&f->resource));
        add_former(f);
        break;
    case BB_FAULT_OUT_OF_BOUNDS:
        snprintf(f->text, sizeof(f->text),
                 "out of bounds by %" PRIu64 " bytes: 0x%" PRIx64 " lies %s %s (%" PRIu64 " bytes)%s",
                 f->distance, f->address, f->before ? "before the start of" : "behind the end of", who,
                 f->resource.size, gone(&f->resource));
        break;
    case BB_FAULT_NOT_RESIDENT:
        snprintf(f->text, sizeof(f->text),
                 "not resident: 0x%" PRIx64 " lies %" PRIu64 " bytes into %s, which is alive and was evicted",
                 f->address, f->address - f->resource.address, who);
        break;
    case BB_FAULT_NOT_SEEN:
        snprintf(f->text, sizeof(f->text),
                 "0x%" PRIx64 " lies in nothing that is known, and not all that was there is", f->address);
        break;
    case BB_FAULT_NEVER_MAPPED:
        snprintf(f->text, sizeof(f->text),
                 "0x%" PRIx64 " was never an address of a buffer's, and none is near it", f->address);
        break;
    }
}

void bb_resources_fault(struct bb_resources *r, uint64_t address, struct bb_fault *f)
{
    const struct entry *owner, *nearest;
    uint64_t above = UINT64_MAX, below = UINT64_MAX, former;
    bool before = false;

    *f = (struct bb_fault){.kind = BB_FAULT_NEVER_MAPPED, .address = address};
    pthread_mutex_lock(&r->lock);
    owner = find_living(r, address, f);
    find_former(r, address, f);
    nearest = nearest_former(r, address, &former, &before);
    if (f->has_below)
        below = address - (f->below.address + f->below.size) + 1;
    if (f->has_above)
        above = f->above.address - address;
    if (owner) {
        f->kind = owner->r.evicted_ns ? BB_FAULT_NOT_RESIDENT : BB_FAULT_INSIDE;
        f->resource = shown(owner);
    } else if (f->num_former) {
        f->kind = BB_FAULT_USE_AFTER_FREE;
        f->resource = f->former[0];
    } else if (former < below && former < above && former <= BB_FAULT_REACH && !may_be_unknown(r, address)) {
        f->kind = BB_FAULT_OUT_OF_BOUNDS;
        f->resource = shown(nearest);
        f->distance = former;
        f->before = before;
    } else if (below <= above && below <= BB_FAULT_REACH) {
        f->kind = BB_FAULT_OUT_OF_BOUNDS;
        f->resource = f->below;
        f->distance = below;
    } else if (above <= BB_FAULT_REACH) {
        f->kind = BB_FAULT_OUT_OF_BOUNDS;
        f->resource = f->above;
        f->distance = above;
        f->before = true;
    } else if (may_be_unknown(r, address)) {
        f->kind = BB_FAULT_NOT_SEEN;
    }
    f->has_resource = f->kind != BB_FAULT_NEVER_MAPPED && f->kind != BB_FAULT_NOT_SEEN;
    bb_fault_words(f);
    INVARIANT(f->num_former <= BB_FAULT_OWNERS);
    INVARIANT(f->kind != BB_FAULT_OUT_OF_BOUNDS || (f->distance && f->distance <= BB_FAULT_REACH) ||
              f->before);
    INVARIANT(f->kind != BB_FAULT_USE_AFTER_FREE || f->resource.destroyed_ns);
    INVARIANT(f->kind != BB_FAULT_INSIDE || contains(&f->resource, address));
    pthread_mutex_unlock(&r->lock);
}

void bb_resources_each(struct bb_resources *r, void (*each)(void *ctx, const struct bb_resource *resource),
                       void *ctx)
{
    uint64_t kept;

    pthread_mutex_lock(&r->lock);
    kept = r->removed < r->room ? r->removed : r->room;
    for (uint64_t i = r->removed - kept; i < r->removed; i++) {
        struct bb_resource x = shown(&r->history[i % r->room]);
        each(ctx, &x);
    }
    for (size_t i = 0; i < r->n; i++) {
        struct bb_resource x = shown(r->living[i]);
        each(ctx, &x);
    }
    pthread_mutex_unlock(&r->lock);
}
