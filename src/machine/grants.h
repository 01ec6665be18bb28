/* SPDX-License-Identifier: MIT */
/* grants.h: which executor has which guest memory.
 *
 * Guest memory comes in regions, each a file of its own: who has the descriptor has all of it, for as long as he lives. So an executor
 * gets a region when work of its client names memory there, and not before. Whose work is everybody's gets all that there is.
 *
 * Not locked: its owner's lock is held.
 */
#pragma once

#include "executor/host/host.h"

enum { GRANTS_HOSTS = 64 };

struct grant {
    struct exec_region *region;
    uint64_t gpa, size;
    uint64_t holders; /* a bit for each of `hosts` */
};

struct grants {
    struct grant *v; /* by address */
    size_t n, room;
    size_t found; /* where the last one was */
    struct exec_host *hosts[GRANTS_HOSTS];
    uint64_t all; /* of them, those that have everything */
};

void grants_finish(struct grants *g);
/* A place for `host`, 0 to GRANTS_HOSTS - 1, or -ENOSPC. */
int grants_join(struct grants *g, struct exec_host *host);
/* It gets nothing more; what it has stays its. */
void grants_leave(struct grants *g, int place);

/* There is such a region; errors as of exec_host_map(). `fd` stays the caller's. */
int grants_add(struct grants *g, uint64_t gpa, uint64_t size, int fd, struct error *e);
/* There is no such region any more, for anybody. */
void grants_remove(struct grants *g, uint64_t gpa, uint64_t size);

/* The regions in which that range lies; what is no guest memory is left to who reads it. Errors as of exec_host_map(). */
int grants_give(struct grants *g, int place, uint64_t gpa, uint64_t size, struct error *e);
/* All that there is and will be, as far as it can have that many regions (EXEC_HOST_REGIONS). */
void grants_give_all(struct grants *g, int place);
