/* memory.h: guest memory as the executor sees it: the regions that the host named, by guest address.
 *
 * Invariants:
 *  1. memory_get() returns memory that is contiguous for the whole range, also across regions that touch:
 * such a range is served from a second mapping of the same pages (a view).
 *  2. What memory_get() returned stays valid until memory_remove() or memory_trim(), which the caller makes
 * when nobody uses it any more. memory_add() invalidates nothing.
 */
#ifndef EXECUTOR_MEMORY_H_
#define EXECUTOR_MEMORY_H_

#include <pthread.h>
#include <stdint.h>

struct memory_span {
    uint64_t gpa, size;
    unsigned char *at;
};

struct memory_spans {
    struct memory_span *v;
    unsigned n, room;
};

struct memory {
    pthread_mutex_t lock;               /* memory_get comes from any thread */
    struct memory_spans regions, views; /* by address; views in no order */
};

void memory_init(struct memory *m);
void memory_finish(struct memory *m);

/* Maps [offset, offset + size) of `fd` at `gpa`; the descriptor stays the caller's. 0 or a negative errno. */
int memory_add(struct memory *m, uint64_t gpa, uint64_t size, int fd, uint64_t offset);
int memory_remove(struct memory *m, uint64_t gpa, uint64_t size);

/* Gives up the views that regions added since have made too short. */
void memory_trim(struct memory *m);

/* NULL if any byte is outside the regions, or `size` is 0. */
void *memory_get(struct memory *m, uint64_t gpa, uint64_t size);

#endif
