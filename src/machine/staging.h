/* SPDX-License-Identifier: MIT */
/* staging.h: where an executor reads what it executes: command streams and allocation tables, copied out of guest memory that it has
 * nothing else to do with, and that others' streams lie in as well.
 *
 * A ring of memory that the host and one executor share. What is put there is given back in the order in which it was put. The
 * executor may write there, to nobody's harm but its own: nobody reads it but itself.
 */
#pragma once

#include "executor/host/host.h"

/* Where it is for the executor: no guest memory is. */
#define STAGING_GPA (UINT64_C(1) << 60)

struct staging {
    struct exec_host *host;
    uint8_t *at;
    uint64_t size;
    uint64_t head, tail; /* run freely, whatever the size; what lies between is in use */
};

/* All of it is given back, although the executor may still read there: what is put next lies elsewhere. */
void staging_finish(struct staging *s);
/* Copies of both, which may be empty: their addresses. -EAGAIN: not before something was given back; -ENOMEM and others: never. */
int staging_put(struct staging *s, const void *first, uint64_t first_size, const void *second,
                uint64_t second_size, uint64_t gpa[2], struct error *e);
/* All that was put before `head` was this: by whoever is done, in order, also those for whom nothing was put. */
static inline void staging_give_back(struct staging *s, uint64_t head)
{
    if (s->head - head < s->head - s->tail)
        s->tail = head;
}

/* What was put since `head` was this is not needed. */
static inline void staging_undo(struct staging *s, uint64_t head)
{
    s->head = head;
    if (s->tail - head < s->size)
        s->tail = head; /* it was empty, and its rest had been passed over */
}
