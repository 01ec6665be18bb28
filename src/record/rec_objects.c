/* SPDX-License-Identifier: MIT */
/* rec_objects.c: which number an object has, and where handles and addresses lead.
 *
 * Lookups take no lock. Nodes of objects are never freed: an address that comes back is the same node with a new number
 * (rec_lookup.h). The spans of descriptor handles and GPU addresses are sorted arrays behind a sequence lock, with the last hit of
 * each thread in front.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "record/rec.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct rec_lookup rec_objects;

/* ---- objects ------------------------------------------------------------- */

static uint32_t next_number(void)
{
    return atomic_fetch_add(&rec_shm->objects, 1) + 2; /* 0 is NULL, 1 an unknown object */
}

struct rec_object *rec_object_add(void *ptr, uint16_t iface, void **orig)
{
    static struct rec_object none = {.id = 1, .iface = API_IFACE_UNKNOWN};
    struct rec_object *o;
    bool fresh;

    pthread_mutex_lock(&lock);
    o = rec_object_find(ptr);
    fresh = !o;
    if (o) {
        if (atomic_load(&o->dead)) {
            o->id = next_number();
            o->iface = iface;
            o->extras = 0;
            o->last_thread = NULL;
            atomic_store(&o->dead, false);
        } else if (iface != o->iface && api_iface_is(rec_api, iface, o->iface)) {
            o->iface = iface;
        }
        if (o->orig != orig) /* other threads may be reading it */
            o->orig = orig;
    } else if ((o = calloc(1, sizeof(*o)))) {
        o->ptr = ptr;
        o->id = next_number();
        o->iface = iface;
        o->orig = orig;
    }
    if (!o || (fresh && !rec_lookup_add(&rec_objects, o))) {
        free(o);
        o = &none;
    }
    pthread_mutex_unlock(&lock);
    return o;
}

/* ---- spans of handles and addresses -------------------------------------- */

/* Read while it changes: what was read counts only if the version stayed the same. */
struct span {
    _Atomic uint64_t start, end, what; /* `what`: the object's number, and the step */
};

static struct {
    pthread_mutex_t lock;
    _Atomic uint64_t version; /* odd while it changes */
    struct span *_Atomic s;
    _Atomic size_t num;
    size_t cap;
} spans[3] = {{.lock = PTHREAD_MUTEX_INITIALIZER},
              {.lock = PTHREAD_MUTEX_INITIALIZER},
              {.lock = PTHREAD_MUTEX_INITIALIZER}};

static struct rec_range get(struct span *s)
{
    uint64_t what = atomic_load_explicit(&s->what, memory_order_relaxed);

    return (struct rec_range){.start = atomic_load_explicit(&s->start, memory_order_relaxed),
                              .end = atomic_load_explicit(&s->end, memory_order_relaxed),
                              .id = (uint32_t)(what >> 32),
                              .step = (uint32_t)what};
}

static void put(struct span *s, struct rec_range r)
{
    atomic_store_explicit(&s->start, r.start, memory_order_relaxed);
    atomic_store_explicit(&s->end, r.end, memory_order_relaxed);
    atomic_store_explicit(&s->what, (uint64_t)r.id << 32 | r.step, memory_order_relaxed);
}

/* Spans from `from` on, `n` of them, stand at `to` afterwards. */
static void move(struct span *s, size_t to, size_t from, size_t n)
{
    if (to < from)
        for (size_t i = 0; i < n; i++)
            put(&s[to + i], get(&s[from + i]));
    else if (to > from)
        for (size_t i = n; i-- > 0;)
            put(&s[to + i], get(&s[from + i]));
}

/* Index of the first span that ends behind `at`. */
static size_t lower(struct span *s, size_t n, uint64_t at)
{
    size_t lo = 0;

    while (lo < n) {
        size_t mid = lo + (n - lo) / 2;

        if (get(&s[mid]).end <= at)
            lo = mid + 1;
        else
            n = mid;
    }
    return lo;
}

static void span_insert(enum rec_range_kind k, struct rec_range x)
{
    struct span *s = atomic_load(&spans[k].s);
    size_t num = atomic_load(&spans[k].num), i = lower(s, num, x.start), j = i;

    while (j < num && get(&s[j]).start < x.end) /* what overlaps is gone: the memory was handed out again */
        j++;
    if (num + 1 - (j - i) > spans[k].cap) {
        size_t cap = spans[k].cap ? 2 * spans[k].cap : 256;
        struct span *p = calloc(cap, sizeof(*p));

        if (!p)
            return;
        for (size_t m = 0; m < num; m++)
            put(&p[m], get(&s[m]));
        spans[k].cap = cap;
        atomic_store(&spans[k].s, p); /* the old array stays for readers */
        s = p;
    }
    move(s, i + 1, j, num - j);
    put(&s[i], x);
    atomic_store(&spans[k].num, num + 1 - (j - i));
    INVARIANT(atomic_load(&spans[k].version) & 1); // readers look again
    INVARIANT(num + 1 - (j - i) <= spans[k].cap);
    INVARIANT(!i || get(&s[i - 1]).end <= x.start);
    INVARIANT(i == num - (j - i) || x.end <= get(&s[i + 1]).start);
}

void rec_range_add(enum rec_range_kind k, uint64_t start, uint64_t size, uint32_t id, uint32_t step)
{
    pthread_mutex_lock(&spans[k].lock);
    atomic_fetch_add(&spans[k].version, 1);
    span_insert(k, (struct rec_range){start, start + size, id, step});
    atomic_fetch_add(&spans[k].version, 1);
    pthread_mutex_unlock(&spans[k].lock);
}

void rec_range_drop(uint32_t id)
{
    for (int k = 0; k < 3; k++) {
        struct span *s;
        size_t num;

        pthread_mutex_lock(&spans[k].lock);
        s = atomic_load(&spans[k].s);
        num = atomic_load(&spans[k].num);
        for (size_t i = 0; i < num;) {
            if (get(&s[i]).id != id) {
                i++;
                continue;
            }
            atomic_fetch_add(&spans[k].version, 1);
            move(s, i, i + 1, num - i - 1);
            atomic_store(&spans[k].num, --num);
            atomic_fetch_add(&spans[k].version, 1);
        }
        pthread_mutex_unlock(&spans[k].lock);
    }
}

bool rec_range_find(struct rec_thread *t, enum rec_range_kind k, uint64_t at, struct rec_range *out)
{
    for (;;) {
        uint64_t v = atomic_load_explicit(&spans[k].version, memory_order_acquire);
        struct span *s;
        size_t n, i;
        bool hit;

        if (t->hit[k].version == v && at - t->hit[k].r.start < t->hit[k].r.end - t->hit[k].r.start) {
            *out = t->hit[k].r;
            return true;
        }
        if (v & 1)
            continue;
        n = atomic_load(&spans[k].num); /* before the array: a larger number belongs to the larger array */
        s = atomic_load(&spans[k].s);
        i = lower(s, n, at);
        if (i < n)
            *out = get(&s[i]);
        hit = i < n && out->start <= at && at < out->end;
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&spans[k].version, memory_order_relaxed) != v)
            continue;
        if (hit) {
            t->hit[k].r = *out;
            t->hit[k].version = v;
        }
        return hit;
    }
}
