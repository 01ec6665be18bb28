/* SPDX-License-Identifier: MIT */
/* host_priv.h: what host.c (submissions and completions), regions.c (guest memory) and supervisor.c (the process's life) share.
 *
 * Everything in struct exec_host is guarded by `lock`, except where it says otherwise. Nothing is done under
 * the lock that can wait.
 *
 *   queue:   first ──────── pushed ─────────── last        (run freely; index % EXEC_HOST_DEPTH is the slot)
 *            in the ring     waiting for a ring
 *
 * A defunct executor died after it was ready. Until exec_host_dispatch has delivered what it had completed, died(), and
 * the failures of what else was in its ring, nothing is pushed to its successor.
 */
#pragma once

#include <pthread.h>

#include "executor/host/host.h"
#include "executor/host/launch.h"
#include "executor/host/words.h"

enum exec_state { EXEC_STARTING, EXEC_READY, EXEC_FAILED };

/* A guest memory region; lives while it is in the map or a control message about it waits. */
struct exec_region {
    _Atomic unsigned refs; /* of several hosts, too */
    uint64_t gpa, size, offset;
    int fd;
};

/* A control message that the socket has not taken yet. */
struct exec_op {
    struct exec_op *next;
    uint32_t type;
    uint64_t seq;
    struct exec_region *region;
};

struct exec_host {
    pthread_mutex_t lock;
    pthread_cond_t ready_changed; /* monotonic */
    pthread_t supervisor;
    int event_fd, supervisor_fd; /* constant */
    bool stop;

    /* constant */
    char *path, *device;
    struct exec_limits limits;
    void (*complete)(void *ctx, const struct abi_completion *c);
    void (*died)(void *ctx, const struct exec_death *d, const struct exec_progress *progress);
    void *ctx;
    bool spin;
    enum exec_markers markers;
    bool addresses;

    enum exec_state state;
    struct error failure;    /* why, if EXEC_FAILED */
    unsigned start_failures; /* in a row */
    uint64_t start_at_ns;    /* not before; while STARTING without a process */
    uint32_t reset_ms;       /* for the reset that is under way */
    uint64_t deadline_ns;    /* of the start or the reset, UINT64_MAX for none */
    char device_name[256];
    bool is_cpu;

    struct exec_child child;
    struct exec_words words;       /* of the child; the supervisor's alone */
    uint32_t ring_tail, done_head; /* the child's indices that are ours */
    uint32_t ring_head;            /* of the child, when it was last read */
    char kill_reason[128];         /* not empty: it is being killed, and nothing it says counts */
    bool control_closed;           /* it takes no message any more, and has sent its last or is dying */
    uint64_t op_seq;               /* of the last message meant for the child */
    struct exec_op *ops, **ops_end;

    struct exec_shared *defunct;
    struct exec_death death;
    uint32_t defunct_done_head, defunct_end; /* submissions before defunct_end fail by it */
    bool fails_all;                          /* and so does all that is submitted before died() returns */
    bool failing;                            /* died() was called, and they are failing */

    struct exec_region *regions[EXEC_HOST_REGIONS]; /* by address */
    unsigned n_regions;

    struct abi_submission queue[EXEC_HOST_DEPTH];
    uint32_t first, pushed, last;
    uint32_t epoch;

    struct exec_host_stats stats;

    /* For exec_host_wait, which does not lock. */
    _Atomic(struct exec_shared *) watched; /* where completions appear */
    _Atomic uint32_t watched_head;         /* up to where they were taken */
    struct exec_poller poller;             /* of the dispatching thread */
    bool armed;                            /* the dispatching thread has said that it sleeps */
    bool rung;                             /* and the executor has rung since: event_fd is to be read */
    _Atomic bool notice;                   /* a death, a failure or an answered reset waits for dispatch */
};

#define EXEC_COMPONENT "executor"

uint64_t exec_now(void);

/* host.c; all with the lock held */
void exec_host_check(
    const struct exec_host *host);             /* what must hold whenever the lock is taken or given back */
void exec_host_notice(struct exec_host *host); /* makes dispatch run */
void exec_host_push(struct exec_host *host);   /* queue to ring, if it may */
void exec_host_break(struct exec_host *host, const char *why);       /* the child is to be killed */
void exec_host_set_reset_timeout(struct exec_host *host, bool idle); /* before a reset */
bool exec_host_ring(struct exec_shared *sh); /* wakes the executor if it sleeps; true if it did */

/* regions.c; with the lock held */
void exec_host_flush_ops(struct exec_host *host); /* control messages to the socket */
void exec_host_drop_ops(struct exec_host *host);
int exec_host_queue_op(struct exec_host *host, uint32_t type, struct exec_region *r);

/* supervisor.c */
int exec_supervisor_start(struct exec_host *host, struct error *e);
void exec_supervisor_stop(struct exec_host *host);
void exec_supervisor_wake(struct exec_host *host);
