/* SPDX-License-Identifier: MIT */
/* memory.h: guest memory as the executor sees it: the regions that the host named, by guest address.
 *
 * Invariants:
 *  1. exec_memory_get() returns memory that is contiguous for the whole range, also across regions that touch: such a range
 *     is served from a second mapping of the same pages (a view).
 *  2. What exec_memory_get() returned stays valid until exec_memory_remove() or exec_memory_trim(), which the caller calls
 *     when it is in use no more. exec_memory_add() invalidates nothing.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct exec_memory_span {
    uint64_t gpa, size;
    unsigned char *at;
};

struct exec_memory_spans {
    struct exec_memory_span *v;
    unsigned n;
    size_t room;
};

struct exec_memory {
    pthread_mutex_t lock;                    /* memory_get comes from any thread */
    struct exec_memory_spans regions, views; /* by address; views in no order */
};

void exec_memory_init(struct exec_memory *m);
void exec_memory_finish(struct exec_memory *m);

/* Maps [offset, offset + size) of `fd` at `gpa`; the descriptor stays the caller's. 0 or a negative errno. */
int exec_memory_add(struct exec_memory *m, uint64_t gpa, uint64_t size, int fd, uint64_t offset);
int exec_memory_remove(struct exec_memory *m, uint64_t gpa, uint64_t size);

/* Gives up the views that regions added since have made too short. */
void exec_memory_trim(struct exec_memory *m);

/* NULL if any byte is outside the regions, or `size` is 0. */
void *exec_memory_get(struct exec_memory *m, uint64_t gpa, uint64_t size);
