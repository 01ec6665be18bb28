/* SPDX-License-Identifier: MIT */
/* host.h: the executor as a child process, seen by the device that owns it.
 *
 *   exec_host_submit ──▶ queue ──▶ shared ring, doorbell ──▶ aerogpu-executor ──▶ completion ring, event fd
 *                                                                                        │
 *   complete(), died() ◀── exec_host_dispatch ◀── the owner's loop sees the event fd ◀───┘
 *
 * Invariants:
 *  1. Every submission that exec_host_submit accepted completes exactly once, in order, unless exec_host_reset drops it
 *     first: executed, or with AEROGPU_ERROR_BACKEND when the executor died or cannot be started.
 *  2. No function waits for the executor, whatever it does: stopped, hung, dead, or writing garbage into the rings. Only
 *     exec_host_wait and exec_host_wait_ready do, up to their time-outs.
 *  3. Callbacks run inside exec_host_dispatch only, without a lock held: they may call everything here but
 *     exec_host_dispatch and exec_host_destroy.
 *  4. An executor that dies is replaced in the background. What was in its ring fails; what is submitted after died() was
 *     called, or was still waiting in the queue, runs on the new one, which knows no resources.
 *
 *   STARTING ──ready──▶ READY ──death, broken protocol, unanswered reset──▶ STARTING
 *       │ ▲ death at start: again, a little later each time
 *       └─┘ too many of them, or no Vulkan device ──▶ FAILED (submissions fail at once) ──exec_host_reset──▶ STARTING
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "executor/engine/progress.h"
#include "executor/engine/engine.h"

enum {
    EXEC_HOST_DEPTH = 256,    /* submissions accepted and not completed, at most */
    EXEC_HOST_REGIONS = 4096, /* guest memory regions, at most */
};

/* Why an executor process ended. */
struct exec_death {
    pid_t pid;
    int signal;    /* 0 if it exited by itself */
    int exit_code; /* if signal is 0 */
    bool sent; /* the signal was sent, by whomever: no fault of the processor's, no limit of the kernel's */
    pid_t sender;            /* who sent it: `pid`, it raised it itself; 0, the kernel, or nobody knows */
    enum exec_access access; /* if has_fault; NO_ADDRESS: fault_address is none */
    uint64_t submission;     /* id of the submission that it was executing, 0 for none */
    uint64_t fault_address;
    bool has_fault;  /* a page fault, at fault_address */
    bool in_decoder; /* the fault was in the thread that decodes, not in the Vulkan device's */
    bool seen;       /* its handler saw it: without, nobody knows which thread it was */
    bool no_memory;  /* `seen`, and it would not have got 16 MiB more of private memory at once */
    bool made_up; /* the signal says that it is a fault, and the processor had none: a debugger can do that */
    bool told;    /* `sender` is what the sender says, who may say anything */
    bool own_thread;  /* it was in neither of them: where shaders are translated, or memory is written back */
    bool by_host;     /* killed by us: it broke the protocol or did not answer a reset */
    uint64_t time_ns; /* when it was noticed, on CLOCK_MONOTONIC; no two deaths have the same */
    char message[196]; /* one sentence; also in the completions that fail because of it */
    uint64_t registers[EXEC_NUM_REGISTERS]; /* if has_fault; all 0: not known */
};

enum { EXEC_IDLE_RESET_MS = 200 };

/* What the process may use. 0 stands for the default in brackets. */
struct exec_limits {
    uint64_t memory_bytes; /* private memory of the process; guest memory does not count [4 GiB] */
    uint32_t files;        /* open descriptors [128] */
    uint32_t start_ms;     /* from start to ready [30 000] */
    uint32_t reset_ms;     /* from exec_host_reset to its answer [EXEC_IDLE_RESET_MS] */
};

struct exec_host_params {
    /* The executor program. NULL: $AEROGPU_EXECUTOR, else the one installed or built beside the running program. */
    const char *executable;
    const char *device;        /* as in exec_engine_params */
    enum exec_markers markers; /* as in exec_engine_params */
    bool addresses;            /* as in exec_engine_params */
    struct exec_limits limits;
    void (*complete)(void *ctx, const struct abi_completion *c);
    /* May be NULL; comes before the completions that fail by it. `progress`, how far it had come, lasts as long as the call. */
    void (*died)(void *ctx, const struct exec_death *d, const struct exec_progress *progress);
    void *ctx;
};

struct exec_host;

/* Starts the first executor in the background: submissions are accepted at once. -ENOENT if there is no program. */
int exec_host_create(struct exec_host **out, const struct exec_host_params *p, struct error *e);

/* Kills the executor. Submissions that have not completed are dropped. */
void exec_host_destroy(struct exec_host *host);

/* Takes a copy of `s`. Never blocks. -EAGAIN if EXEC_HOST_DEPTH submissions have not completed, -EINVAL for
 * id 0. Any thread, but one at a time. */
int exec_host_submit(struct exec_host *host, const struct abi_submission *s);

/* Guest memory [gpa, gpa + size) is `fd` from `offset` on, for submissions after this call. All three numbers
 * are multiples of 4096. The descriptor stays the caller's and must be open for reading and writing. -EINVAL
 * (bad number, or beyond the end of the file), -EEXIST (overlaps a region), -ENOSPC (too many), -EACCES,
 * -EMFILE, -ENOMEM. Any thread. */
int exec_host_map(struct exec_host *host, uint64_t gpa, uint64_t size, int fd, uint64_t offset,
                  struct error *e);

/* Takes back exactly what one exec_host_map gave, for submissions after this call; the executor lets go of
 * the pages when the submissions before it have completed. -ENOENT if there is no such region. Any thread. */
int exec_host_unmap(struct exec_host *host, uint64_t gpa, uint64_t size);

/* From now on what is submitted before died() returns fails with the executor that died, and does not wait for the next one. */
void exec_host_fail_all(struct exec_host *host);

/* A region that several hosts may map, with one descriptor; exec_host_map() in two parts. exec_region_put() when its maker needs it no
 * more; it lives as long as a host has it. */
struct exec_region;
int exec_region_create(struct exec_region **out, uint64_t gpa, uint64_t size, int fd, uint64_t offset,
                       struct error *e);
void exec_region_put(struct exec_region *r);
int exec_host_map_region(struct exec_host *host, struct exec_region *r, struct error *e);

/* Drops everything in flight without completions and makes the executor forget every resource; memory regions
 * stay. Returns at once; submissions after it run after it. An executor that has not answered within
 * limits.reset_ms (one that had nothing to do: EXEC_IDLE_RESET_MS, if that is more) is killed and replaced. What was dropped may write guest memory until exec_host_resetting()
 * is false. A completion that another thread is delivering while this is called may still arrive. Any thread.
 */
void exec_host_reset(struct exec_host *host);
bool exec_host_resetting(struct exec_host *host);

/* Kills the executor, if there is one. `why` it hangs, the end of a sentence; NULL: it does not, and dies of the signal. Any thread. */
void exec_host_end(struct exec_host *host, const char *why);

/* Readable when exec_host_dispatch has something to do. Level-triggered; belongs to the host. */
int exec_host_event_fd(const struct exec_host *host);

/* Calls the callbacks for all that has happened; returns how many completions were delivered. One thread at a time. */
unsigned exec_host_dispatch(struct exec_host *host);

/* Waits until exec_host_dispatch has something to do, which must then be called; `timeout_ms` at most (-1: no limit). Polls
 * for a few microseconds where that is worth it, then sleeps: where submissions follow each other closely this is ten
 * times faster than to wait for the event descriptor. With a timeout of 0 it polls once without a system call, for callers
 * that do their own waiting. True if there is something. The dispatching thread only. */
bool exec_host_wait(struct exec_host *host, int timeout_ms);

/* The first part of exec_host_wait alone, for an owner that sleeps on other things too: busy-polls for a few
 * microseconds, if that is likely to help. The dispatching thread only. */
bool exec_host_poll(struct exec_host *host);

/* exec_host_poll in two parts, for an owner that is about to submit: what completes between the two is found by the
 * second, without a signal. False: not worth it, and there is no second part. The dispatching thread only, which calls
 * nothing else of the three between them. */
bool exec_host_poll_begin(struct exec_host *host);
bool exec_host_poll_end(struct exec_host *host);

/* Waits until the executor is ready: 0; -ENODEV and others with the reason if it cannot be started, -ETIMEDOUT. */
int exec_host_wait_ready(struct exec_host *host, int timeout_ms, struct error *e);

/* Copies how far the running executor has come. False while there is none. Never waits for it. Any thread. */
bool exec_host_progress(struct exec_host *host, struct exec_progress *out);

/* The running executor's process id, 0 while there is none. */
pid_t exec_host_pid(struct exec_host *host);

/* Name of the Vulkan device in use, "" before the first executor was ready. */
void exec_host_device_name(struct exec_host *host, char name[256], bool *is_cpu);

struct exec_host_stats {
    uint64_t submitted, completed, dropped;
    uint64_t failed;                    /* of completed, because an executor died or none started */
    uint64_t starts, deaths, doorbells; /* doorbells: how often the executor had to be woken */
};
void exec_host_stats(struct exec_host *host, struct exec_host_stats *out);
