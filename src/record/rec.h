/* SPDX-License-Identifier: MIT */
/* rec.h: the recorder, as it sits inside the recorded program.
 *
 * What leads the program's calls here is the API's own affair (method tables that are patched, a layer): a thunk for each
 * method writes the arguments into the thread's chunk (shm.h), forwards, and writes the answer.
 *
 *   rec_enter ─▶ rec_begin ─▶ enc_* ─▶ rec_args_done ─▶ the real method ─▶ rec_result ─▶ enc_* ─▶ rec_result_done
 *                   ▲                      │ full: again, into a private buffer
 *                   └──────────────────────┘
 *
 * Invariants:
 *  1. A call that the implementation makes itself (depth > 0, or one of its threads) is never recorded.
 *  2. Arguments are in shared memory before the real method runs: a call that never returns is in the recording.
 *  3. A method that only reads state other threads make takes its place by reading the ticket counter; one that
 *     changes such state takes a ticket: before it runs if others may see its effect, after it returned if it brings
 *     something (an object, a value) into being. Calls on one queue are made under its lock, in ticket order.
 *  4. A pointer that was freed and handed out again is a new object with a new number.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "record/api.h"
#include "record/os.h"
#include "record/rec_lookup.h"
#include "record/shm.h"
#include "record/varint.h"

struct rec_object {
    void *ptr;
    void **orig; /* the real methods, where the API has a table of them */
    _Atomic uint32_t id;
    uint16_t iface;
    _Atomic bool dead; /* its last reference is gone; the address may come back as another object */
    _Atomic(struct rec_thread *) last_thread;
    uint32_t extras; /* enum rec_extras */
    _Atomic uint32_t lock;
};

enum rec_extras {
    REC_HAS_RANGES = 1,    /* descriptor handles or addresses are registered for it */
    REC_HAS_MEMORY = 2,    /* it was mapped */
    REC_HAS_EVENTS = 8,    /* a fence that will set an event */
    REC_HAS_CONTENTS = 16, /* what the API's own recorder knows of it must be forgotten with it */
};

enum rec_mode { REC_MODE_LOAD, REC_MODE_TICKET, REC_MODE_LATE };

struct enc {
    uint8_t *p, *end; /* `end` is followed by SHM_SLACK bytes that unchecked writes may touch */
    bool full;
};

struct rec_range { /* a span of descriptor handles or GPU addresses */
    uint64_t start, end;
    uint32_t id, step;
};

enum { REC_VALUES = 20 };

/* What the last call of a method was given: where its bytes are in the chunk; or values, as they were handed over, an object with
 * its number behind it. It counts as long as the thread has that stamp. */
struct rec_last {
    uint64_t stamp;
    uint32_t at, len;
    uint64_t values[REC_VALUES];
};

struct rec_thread {
    struct enc enc;
    int depth;
    bool internal; /* a thread of the implementation's own */
    bool lent;     /* the chunk goes back behind the call */
    /* the chunk */
    struct shm_chunk *chunk;
    uint8_t *base, *w, *limit;
    uint64_t expected; /* order number the next record has if it says nothing */
    uint32_t last_self;
    uint64_t last_time;
    /* the record being made */
    uint8_t *hdr, *args, *late_at, *result_at;
    uint64_t seq;
    uint32_t self;
    uint64_t time;
    bool retry, ticket, has_seq;
    struct rec_object *recorded; /* the object that the record goes into, if it is one of a list */
    uint8_t *heap;
    size_t heap_cap;
    struct {
        struct rec_range r;
        uint64_t version;
    } hit[3];
    struct rec_object *object; /* that the last call was made on: nodes are never freed */
    /* The short way (below): the list that the last record went into, with its real methods; NULL: the long one. */
    const void *list;
    void **list_orig;
    /* `chunk_stamp` is new with each chunk, `object_stamp` also wherever a pointer may have come to mean something else. */
    uint64_t stamps, chunk_stamp, object_stamp;
    uint32_t number;
    char trouble[160];      /* to be noted behind the record that is being made */
    struct rec_last last[]; /* by method */
};

/* What thunks call is of their own convention: for one function of the system's, which may use them, each would have to save and
 * restore ten vector registers that its caller counts on. */
#if defined(__x86_64__) && !defined(_WIN32)
#define REC_ABI __attribute__((ms_abi))
#else
#define REC_ABI
#endif
#define REC_INLINE static inline __attribute__((always_inline))
/* What is of this library alone is reached without its table of addresses. */
#ifdef _WIN32
#define REC_OWN
#else
#define REC_OWN __attribute__((visibility("hidden")))
#endif

extern struct shm *rec_shm REC_OWN; /* NULL: not recording */
extern const struct api *rec_api;
#ifdef _WIN32
#define rec_self (*os_thread_slot())
#else
extern __thread struct rec_thread *rec_self __attribute__((tls_model("initial-exec")));
#endif
struct rec_thread *REC_ABI rec_enter_slow(void);

/* The thread's state if this call is to be recorded. */
REC_INLINE struct rec_thread *rec_enter(void)
{
    struct rec_thread *t = rec_self;

    if (__builtin_expect(!t, 0))
        return rec_enter_slow();
    return t->depth ? NULL : t;
}

/* 0 if this process is being recorded; -1 if it is not. */
int rec_start(const struct api *api);
void rec_thread_internal(void); /* marks the calling thread as one of the implementation's */

extern struct rec_lookup rec_objects REC_OWN; /* whoever has an address has its object by it */

REC_INLINE struct rec_object *rec_object_find(const void *ptr)
{
    return rec_lookup_find(&rec_objects, ptr);
}

/* The object at `ptr`, with a number: a new one if it is not there or the one there is dead. */
struct rec_object *rec_object_add(void *ptr, uint16_t iface, void **orig);
uint64_t rec_now(void); /* units of TRC_TIME_UNIT_NS since the recording began */

void rec_new_chunk(struct rec_thread *t);
void rec_give_back(struct rec_thread *t);
/* Where the bytes of that chunk are. NULL: they cannot be mapped. */
uint8_t *rec_chunk_bytes(uint32_t chunk);
void REC_ABI rec_begin(struct rec_thread *t, struct rec_object *o, uint32_t method, int mode);
enum rec_answer {
    REC_NO_ANSWER,      /* the record is whole, and what it says is done */
    REC_ANSWER,         /* rec_result() follows */
    REC_RETURNS,        /* there is none, but the method has still to return: rec_returned() follows */
    REC_RETURNS_VALUES, /* the same; what the method is given is compared by values */
};
/* True: it did not fit; the arguments are to be written again. */
bool rec_args_done(struct rec_thread *t, uint32_t method, enum rec_answer answer);

REC_INLINE void rec_returned(struct rec_thread *t)
{
    if (t->chunk)
        atomic_store_explicit(&t->chunk->committed, (uint32_t)(t->w - t->base), memory_order_release);
    if (__builtin_expect(t->lent, 0))
        rec_give_back(t);
}

void rec_result(struct rec_thread *t, int mode);
bool rec_result_done(struct rec_thread *t);

/* ---- the short way ---------------------------------------------------------
 * Methods that only record into a list are the most, and nearly all of their records follow another one on the same list, with
 * nothing in between that others see: such a record begins with nothing but the method, and says nothing more where the method is
 * given what it was given last. Compared is what the program hands over, where that is values: bytes that were just written in
 * other widths are long in coming back. All else takes the long way, in a function of its own, so that the short one needs few
 * registers.
 *
 *   rec_short_begins ─▶ enc_* or values ─▶ rec_short_done ─▶ the real method ─▶ rec_short_returned */

enum { REC_MIN_ROOM = 512 }; /* what a chunk must have left before a record is begun in it */

REC_INLINE bool rec_short_begins(const struct rec_thread *t, const void *list)
{
    return __builtin_expect(t && t->list == list && !t->depth && t->limit - t->w >= REC_MIN_ROOM &&
                                atomic_load_explicit(&rec_shm->seq, memory_order_acquire) == t->expected,
                            1);
}

/* memcmp() and memcpy() of a few bytes, without a call. */
REC_INLINE bool rec_same(const void *first, const void *second, size_t n)
{
    const uint8_t *a = first, *b = second;
    uint64_t x, y;

    if (n < 8) {
        while (n && *a == *b)
            n--, a++, b++;
        return !n;
    }
    for (size_t i = 0;;
         i = i + 16 <= n ? i + 8 : n - 8) { /* the last eight may be some of those before again */
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x != y)
            return false;
        if (i == n - 8)
            return true;
    }
}

REC_INLINE void rec_copy(void *into, const void *source, size_t n)
{
    const uint8_t *from = source;
    uint8_t *to = into;

    for (; n >= 8; n -= 8, to += 8, from += 8) {
        memcpy(to, from, 8);
        __asm__ volatile("" : : : "memory"); /* else the loop becomes a call again */
    }
    while (n--) {
        *to++ = *from++;
        __asm__ volatile("" : : : "memory");
    }
}

/* The record from `hdr` on, with arguments from `args` to `end`: where those are the last call's they are left out. */
REC_INLINE uint8_t *rec_short_bytes(struct rec_thread *t, struct rec_last *last, uint8_t *hdr, uint8_t *args,
                                    uint8_t *end)
{
    uint32_t len = (uint32_t)(end - args);

    if (last->stamp == t->chunk_stamp && last->len == len && rec_same(t->base + last->at, args, len)) {
        if (len)
            *hdr |= REC_REPEAT;
        return args;
    }
    last->stamp = t->chunk_stamp;
    last->at = (uint32_t)(args - t->base);
    last->len = len;
    return end;
}

REC_INLINE void rec_short_done(struct rec_thread *t, uint8_t *end)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("prefetchw %0" : : "m"(end[256]));
#else
    __builtin_prefetch(end + 256, 1);
#endif
    t->w = end;
    atomic_store_explicit(&t->chunk->partial, (uint32_t)(end - t->base), memory_order_release);
    t->depth = 1;
}

REC_INLINE void rec_short_returned(struct rec_thread *t)
{
    struct shm_chunk *c = t->chunk;

    t->depth = 0;
    atomic_store_explicit(&c->committed, atomic_load_explicit(&c->partial, memory_order_relaxed),
                          memory_order_release);
}

void rec_lock(struct rec_object *o);
void rec_unlock(struct rec_object *o);

/* Number of the blob with these bytes; stores them if they are new. */
uint64_t REC_ABI rec_blob(const void *p, size_t n);

enum rec_range_kind { REC_CPU, REC_GPU, REC_VA };
void rec_range_add(enum rec_range_kind k, uint64_t start, uint64_t size, uint32_t id, uint32_t step);
void rec_range_drop(uint32_t id);
bool rec_range_find(struct rec_thread *t, enum rec_range_kind k, uint64_t at, struct rec_range *out);

/* A sentence for whoever reads the recording: what could not be recorded, and why. */
void rec_note(struct rec_thread *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* rec_memory.c: what the program writes into memory that it has mapped (see there). */
enum rec_memory_kind {
    REC_MEMORY_WRITTEN, /* by the program: watched */
    REC_MEMORY_SHARED,  /* by the device as well */
    REC_MEMORY_READ     /* by the program: hashed when it is mapped */
};

struct rec_mapping {
    size_t size;
    enum rec_memory_kind kind;
};

struct rec_part { /* bytes [begin, end) */
    size_t begin, end;
};

/* Sub-object `sub` of `o` was mapped at `p`; the program says that it reads `part` (NULL: all). Where it was not mapped already
 * `describe` is asked what it is; false: it cannot be watched, and that was noted. */
void rec_memory_map(struct rec_thread *t, struct rec_object *o, uint32_t sub, void *p,
                    const struct rec_part *part,
                    bool (*describe)(struct rec_thread *t, struct rec_object *o, struct rec_mapping *m));
void rec_memory_unmap(struct rec_thread *t, struct rec_object *o, uint32_t sub);
void rec_memory_release(struct rec_thread *t, struct rec_object *o);
/* Where the device may come to see what was written: writes it down. */
void rec_memory_scan(struct rec_thread *t);
