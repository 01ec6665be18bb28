/* SPDX-License-Identifier: MIT */
/* executors.h: the executors of a live machine: one for each client, so that what crashes, crashes for one client.
 *
 *   prepare(client) ──▶ its executor starts ──▶ submissions with that client's number ──▶ CLIENT_ENDS ──▶ process and all it has end
 *
 * Submissions of client 0, and of clients that were not prepared, go to a common one. Until somebody has used that, it is the
 * spare: the next client gets it, already started.
 *
 * Invariants:
 *  1. A client's executor is given to nobody else, and ends with it.
 *  2. Submissions of one executor complete in order. Those that are ORDERED do over all executors of a session, and where
 *     they cross sessions over all that have a group in common: one is taken only when those before it, of other executors,
 *     have completed.
 *  3. What a client submits after its executor's death fails at once, until it is prepared again: nothing of what it knew is
 *     left, and nobody waits for the start of a process that he has nothing to do with.
 *  4. Locks are taken in this order: the device's, ours, a host's. Callbacks come without ours.
 *  5. Who dispatches is the only one who removes: an executor that he looks at stays.
 *  6. A client's executor has of guest memory what work of its client named (grants.h), and reads that work from copies (staging.h):
 *     whoever takes it over finds nobody else's.
 */
#pragma once

#include "executor/host/host.h"

struct executors;

enum { EXECUTORS_MOST = 64 }; /* further clients share the common one */

struct executors_params {
    struct exec_host_params host; /* of each; complete, died and ctx are called for all */
    /* Guest memory as the host has it, or NULL: it is none. Called without any lock of ours. NULL: every executor has all of it. */
    const void *(*guest)(void *ctx, uint64_t gpa, uint64_t size);
    int epoll_fd; /* is told of each event descriptor, edge-triggered */
};

int executors_create(struct executors **out, const struct executors_params *p, struct error *e);
/* No callback comes any more, and no other thread is inside. */
void executors_destroy(struct executors *x);

/* The client has an executor when this returns: 0, or why it cannot be started, or -ETIMEDOUT. Waits; any thread. */
int executors_prepare(struct executors *x, uint32_t client, int timeout_ms, struct error *e);

/* As their namesakes of host.h. */
int executors_submit(struct executors *x, const struct abi_submission *s);
void executors_reset(struct executors *x);
/* The client's own executor is killed, with what it has under way, because that hangs or for another reason. False: it has nothing. Any
 * thread. */
bool executors_end_work(struct executors *x, uint32_t client, bool hangs);
/* It was, and its process has not ended yet: who has much memory takes long. */
bool executors_is_ending(struct executors *x, uint32_t client);
/* Who has its number from now on is another client. */
void executors_client_gone(struct executors *x, uint32_t client);
int executors_map(struct executors *x, uint64_t gpa, uint64_t size, int fd, struct error *e);
void executors_unmap(struct executors *x, uint64_t gpa, uint64_t size);

/* ---- whoever serves the device, one thread at a time */

/* Whether there is something to dispatch. Never waits. */
bool executors_pending(struct executors *x);
unsigned executors_dispatch(struct executors *x);
/* exec_host_poll and its halves, for the executor that was submitted to last. */
bool executors_poll(struct executors *x);
bool executors_poll_begin(struct executors *x);
bool executors_poll_end(struct executors *x);

/* ---- any thread */

/* Of the executor that the oldest submission waits for, or which had the last one. */
pid_t executors_pid(struct executors *x);
/* Of the one that has the client's submissions, or 0. */
pid_t executors_client_pid(struct executors *x, uint32_t client);
/* Of its own that was not told to end, or 0. */
pid_t executors_own_pid(struct executors *x, uint32_t client);
bool executors_progress(struct executors *x, struct exec_progress *out);
bool executors_has_pid(struct executors *x, pid_t pid);
void executors_device_name(struct executors *x, char name[256], bool *is_cpu);
void executors_stats(struct executors *x,
                     struct exec_host_stats *out); /* of all that there were; starts and deaths only */
