/* SPDX-License-Identifier: MIT */
/* progress.h: whether the devices of a process have work, and get on with it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "vkbox/box.h"

/* What a queue is at: the oldest of its submissions that has marks, or that the driver has not returned from, and has not ended; else one that
 * waits without a mark, and that the program has just seen unfinished. */
struct progress_head {
    uint64_t key;    /* another with each of its steps, and no other's */
    uint64_t number; /* the submission's; 0: there is none */
    uint64_t ended;  /* up to this one all of the queue have, for sure */
    uint32_t device; /* of its queue */
    bool begun;      /* what has not may wait for another queue (progress_stuck()) */
};

/* The queues, of devices that are not lost, that have such work: a bit each. */
uint64_t progress_heads(const struct vkbox *b, uint64_t now_ns, struct progress_head heads[VKBOX_QUEUES]);

/* Of queues that made no progress for a time-out (`due`) those that are behind nobody who does. What has not begun may wait for a
 * semaphore: one that nobody signals, or only who is due or waits for this one, will not come; any other may. Where it waits for none, as
 * far as is known, it may be behind any other queue, as a driver can take one after the other: `quiet` has it if nothing moved meanwhile. */
uint64_t progress_stuck(const struct vkbox *b, const struct progress_head heads[VKBOX_QUEUES], uint64_t due,
                        uint64_t quiet);

/* A wait for progress: it begins with the second look that finds the same. */
struct progress_wait {
    uint64_t key, since_ns;
    uint64_t told;          /* the key of what was told to wait for what may come: it is not judged again */
    struct place_times *at; /* what its threads had done when it began; NULL: it has not */
    uint32_t compiles;
};

/* Returns whether it had begun: the same `key`, and work, at this look as at the last two. */
bool progress_wait(struct progress_wait *w, pid_t pid, uint64_t now_ns, bool works, uint64_t key);
void progress_begin_wait(struct progress_wait *w, pid_t pid, uint64_t now_ns); /* anew */
void progress_end_wait(struct progress_wait *w);
/* Those of `queues` that wait for so long, and were not told. */
uint64_t progress_due(const struct progress_wait waits[VKBOX_QUEUES], uint64_t queues, uint64_t now_ns,
                      uint64_t ns);

/* Whether it (0: any) is in a call that submits: there the driver may run shaders; in others what it calls is the program's. */
bool progress_is_submitting(const struct vkbox *b, uint32_t thread);
