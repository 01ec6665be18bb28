/* SPDX-License-Identifier: MIT */
/* priv.h: what watch.c (listening) and collect.c (evidence) share. */
#pragma once

#include <limits.h>
#include <pthread.h>

#include <aerogpu/blackbox.h>

#include "base/map.h"
#include "watch/model.h"
#include "watch/watch.h"
#include "gpu/observer.h"

enum { WATCH_EVENTS = 4096, WATCH_STATUSES = 64, WATCH_SAMPLES = 64 };

enum retained_state { RETAINED_QUEUED, RETAINED_DONE, RETAINED_FAILED, RETAINED_DROPPED };

/* Bytes of guest memory as a submission found them; the same ones of several submissions are one copy (memory.c). */
struct watch_copy {
    uint64_t gpa;
    uint32_t refs, size;
    uint8_t bytes[];
};

struct watch_piece {
    struct watch_copy *copy;
    uint32_t alloc_id;
    bool readonly;
};

struct watch_span {
    uint64_t start, end;
};

struct watch_memory {
    struct map backings, tokens; /* by handle, by share token: where a resource's guest memory lies */
    struct map latest;           /* by guest address: the copy that was made last */
    uint64_t bytes;
};

/* A submission since the last ring reset. In evidence it is a copy that shares stream, table and memory. */
struct retained {
    struct retained *next;
    uint64_t id, fence, ordinal, cmd_gpa, alloc_gpa, time_ns, done_ns;
    uint32_t context_id, engine_id, flags, cmd_size, alloc_size;
    enum retained_state state;
    uint32_t error, cause, packets; /* of the completion; enum abi_cause */
    bool has_fault;
    uint64_t fault_address;
    char message[200];
    uint8_t *stream, *table; /* NULL: not guest memory, or too much */
    /* Guest memory that it reads, as it was when the device took it, in the order of reading; what it writes to. */
    struct watch_piece *pieces;
    size_t num_pieces, room_pieces;
    struct watch_span *writes;
    uint32_t num_writes;
    bool forgotten; /* there was no room for all of it */
};

struct retained_list {
    struct retained *first, **end;
    uint32_t count;
    uint64_t bytes, dropped; /* dropped: streams that were given up for room */
};

struct device_event {
    uint64_t time_ns, a, b, c;
    uint8_t kind;
    char text[60];
};

/* What keeps a process from running at all. */
enum watch_stop { WATCH_STOP_NONE, WATCH_STOP_SIGNAL, WATCH_STOP_TRACED, WATCH_STOP_FROZEN };

/* How busy the host was; seconds since boot or since the process began. */
struct host_sample {
    uint64_t time_ns;
    double user, system, idle, iowait, steal; /* of all processors */
    uint32_t running;                         /* tasks that run or want to */
    int executor_pid;                         /* 0: none */
    double executor_cpu, executor_wait;       /* its threads ran; waited for a processor; -1: not known */
    double executor_mib, available_mib;       /* memory that it had; that the host had left; -1: not known */
    uint64_t oom_kills;                       /* processes that the kernel ended for want of memory, ever */
    enum watch_stop stop;                     /* of any of its threads */
    bool partly;                              /* and not of all */
    int tracer;                               /* of its first thread, or of one that is TRACED; 0: none */
    bool wants,
        blocked; /* a thread of it has or wants a processor; is blocked in the kernel, and none has or wants one */
};

struct status_change {
    uint64_t time_ns;
    enum bb_status status;
    char detail[160];
};

/* All that a dump is made of. */
struct snapshot {
    struct retained *items; /* oldest first */
    uint32_t num_items;
    uint64_t streams_dropped, failed_id;
    struct exec_progress progress;
    bool has_progress;
    struct exec_death death;
    bool died;                  /* the death belongs to it */
    bool hung, starved;         /* starved: the executor was hardly let run meanwhile */
    struct host_sample stopped; /* .stop: it was not let run at all for a part of it */
    double hung_s, let_run_s;   /* without progress; the part of it in which it was let run */
    bool removed;               /* the system took a client's device away; `reason` says why */
    uint64_t time_ns;
    struct device_event *events;
    uint32_t num_events;
    struct status_change statuses[WATCH_STATUSES];
    uint32_t num_statuses;
    struct host_sample samples[WATCH_SAMPLES]; /* oldest first; the last is of now */
    uint32_t num_samples;
    const char *reason;
    struct bb_resources *resources; /* the watch's */
};

struct watch {
    struct watch_params params;
    struct gpu_observer observer;
    struct bb_flight *flight; /* NULL: none */
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* monotonic */
    bool stop;
    struct retained_list list, garbage; /* garbage: freed when nobody collects */
    struct watch_memory memory;
    uint32_t collecting;
    uint64_t ordinal;
    uint64_t crash_id; /* a submission that failed and was not examined */
    bool crash_pending;
    struct snapshot *rescued; /* taken at a ring reset, not examined */
    uint64_t examined, happened;
    struct device_event events[WATCH_EVENTS];
    uint64_t num_events;
    struct status_change statuses[WATCH_STATUSES];
    uint32_t num_statuses;
    char error_text[200]; /* of the last error that was latched */
    enum abi_cause error_cause;
    uint64_t examined_ns; /* when a crash was examined last */
    bool removed_pending; /* the system took a device away */
    uint64_t removed_ns;
    int ended_pid;      /* of the executor that ended, until another runs; else 0 */
    uint64_t missed_ns; /* since then work is seen to wait, and no executor to run; 0: it is not */
    bool unknown;       /* work waited and no executor ran */
    bool went_wrong;    /* the status is about a submission that was refused: the next good one clears it */

    /* the watch's thread */
    bool in_order; /* the last executor's device works in order */
    struct host_sample samples[WATCH_SAMPLES];
    uint64_t num_samples;
    struct bb_resources *resources; /* buffers with addresses */
    uint64_t addresses_seen;        /* events of the running executor */
    int addresses_pid;
    uint64_t death_seen_ns, hang_reported;
    char death_text[200]; /* of the last one: what fails by it says the same */
    uint64_t progress_ns, progress_hash;
    struct watch_pause pause, longest; /* since progress_ns; of those that ended */
    uint32_t dumps, crashes;
    char dump_path[PATH_MAX];
};

/* memory.c, with the lock */

/* Keeps what the submission reads of guest memory. It is not in the list yet. */
void watch_memory_take(struct watch *w, struct retained *k);
void watch_memory_release(struct watch_memory *m, struct retained *k);
/* After all of them. */
void watch_memory_finish(struct watch_memory *m);

/* collect.c */

/* How it ended, for bb_infer. */
enum bb_end watch_end(const struct snapshot *sn);
/* By its number, NULL: it is not there. */
const struct retained *watch_submission(const struct snapshot *sn, uint64_t id);
/* Says what crashed. */
void watch_judge(const struct snapshot *sn, struct watch_crash *crash);
/* Writes everything into `p`. */
void watch_collect(struct watch *w, struct snapshot *sn, const struct watch_crash *crash,
                   struct bb_package *p);
void watch_snapshot_finish(struct snapshot *sn);

/* snprintf() behind what is there. */
void watch_add(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* fault.c */

const char *watch_register_name(enum exec_register r);
/* What lies where it points: a buffer, or that it is no address at all. False: nothing is known of it. */
bool watch_register_text(const struct snapshot *sn, enum exec_register r, char text[200]);
/* Whether a register held what is no address: else the instruction itself may have been what went wrong. */
bool watch_has_wild_register(const struct snapshot *sn);
/* Whose address it is, by the guest's handles. */
void watch_fault(const struct snapshot *sn, uint64_t address, struct bb_fault *f);
/* Whose address it was, for the sentence. */
void watch_judge_fault(const struct snapshot *sn, struct watch_crash *crash);
/* How the address may have been reached: an index out of one buffer's bounds can lead to any other. After the leads are known. */
void watch_judge_leads(const struct snapshot *sn, struct watch_crash *crash);

/* addresses.c */

/* Takes what happened to addresses since the last call. */
void watch_addresses(struct watch *w, const struct exec_progress *c);
/* What a dead executor had is gone with it. */
void watch_addresses_gone(struct watch *w);

/* host.c */

/* How busy the host is now, and the process `pid` (0: none). Reads files in /proc: some 50 microseconds. */
void watch_host_sample(struct host_sample *s, uint64_t now, int pid);
/* How it is with the work that makes no progress. */
struct watch_hang {
    double seconds, let_run;    /* since there was progress last, and of that it was let run */
    bool starved;               /* that was for less than `enough_ms` */
    struct host_sample stopped; /* as in a snapshot */
};

/* Of the time since `progress_ns` the part in which the executor could have gone on: where it was stopped, or its threads waited
 * for a processor, nobody let it, and that time does not count as a hang; nor does time in which there is none. 1 where it sleeps, or
 * where that cannot be known. `s`: samples in order, the last one of now. `in_order`: its device is the host's processors. `stopped`:
 * the last sample in which it was, if it was for a tenth of that time. */
double watch_share_let_run(const struct host_sample *s, uint32_t n, uint64_t progress_ns, bool in_order,
                           struct host_sample *stopped);
struct watch_hang watch_hang_until(struct watch *w, uint64_t now, double enough_ms);
/* Whether it was seen for half a second that there is no executor where one is `wanted`; `*since`: since when it is seen, 0 at first.
 * Time in which nobody looked does not count: one that has just died is told by its death. */
bool watch_misses_executor(uint64_t *since, bool wanted, uint64_t now);
void watch_set_hung(struct snapshot *sn, const struct watch_hang *h);

void watch_put_host(const struct snapshot *sn, struct bb_package *p);
