/* SPDX-License-Identifier: MIT */
/* watch.h: a black box for a machine: listens at the device's border, notices that something crashed, and has a dump
 * made of it.
 *
 *   device ──event──▶ copies of the last streams ─┐
 *   executor's death, latched error, no progress ─┴─▶ the watch's thread: evidence ──▶ package ──▶ dump, dumped()
 *
 * Invariants:
 *  1. On the device's threads there is a copy of each stream and table, and nothing that waits.
 *  2. A crash gives one dump. Not more than `max_dumps` are made.
 *  3. Nothing of the device is changed: whether a hung submission is reset is for others to decide.
 */
#pragma once

#include <aerogpu/blackbox.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "machine/machine.h"

/* What is known about a crash. */
struct watch_crash {
    enum bb_cause cause;
    bool certain; /* the packet is the one: which is PROVEN */
    enum bb_sure happened, which, why,
        whose;               /* per fact: that it went wrong, the packet, the cause, the memory */
    bool exact;              /* by exact markers, or by what the device said; else by group markers */
    uint64_t submission;     /* id, 0: none can be named */
    uint64_t fence, ordinal; /* of it; ordinal: how many were taken before it since the last ring reset */
    uint32_t packet, draw;   /* numbers in the stream; of the first candidate; UINT32_MAX: none */
    uint32_t candidates;     /* draws and other work that may be it */
    uint32_t last;           /* packet of the last of them, if there is any */
    bool in_decoder;         /* it happened while the packet was decoded, not on the Vulkan device */
    bool has_fault;
    bool no_address; /* of a page fault: it was not canonical, and the processor does not say which it was */
    uint64_t fault_address;
    enum bb_fault_kind fault_kind; /* if has_fault and fault_known */
    bool fault_known;
    uint64_t fault_resource; /* handle of the buffer that it is about, 0: none */
    uint64_t fault_distance; /* bytes out of bounds */
    uint32_t leads[8]; /* handles of buffers whose addresses were written into what is bound at the command */
    uint32_t num_leads; /* more than there is room for: 9 */
    char text[900];     /* one sentence */
    char at[480];       /* the part of it from the address of a page fault on, "" for none */
    char unseen[400];   /* what could not be seen, "" for nothing that matters */
    /* What the same crash has in common when it happens again. */
    char command[32];     /* name of the first candidate's opcode */
    char shaders[120];    /* hashes of those bound to it */
    uint64_t bound;       /* a hash of which slots its shaders can read or write have something bound */
    char refusal[200];    /* what the device said, without its numbers */
    char path[200];       /* names of the regions around it */
    char place[160];      /* its shaders, or else its command */
    char fingerprint[17]; /* of all that */
};

/* The longest that work made no progress and went on after all. */
struct watch_pause {
    uint64_t ns, submission, ordinal;
    uint32_t packet; /* that was running; UINT32_MAX: more than one may have been */
};

struct watch;

/* The longest that the watch waits before it calls something a hang, in times of hang_ms: time in which the executor was not
 * let run by the host counts less. */
enum { WATCH_HANG_TIMES = 20 };

struct watch_params {
    struct machine *machine;
    const char *directory;     /* of dumps; NULL: none are written, found() is called all the same */
    const char *program;       /* name of the program */
    const char *producer;      /* "aerogpu 0.2.0" */
    uint32_t hang_ms;          /* no progress for so long is a hang; 0 for 2 000 */
    uint32_t max_dumps;        /* 0 for 4 */
    uint64_t max_stream_bytes; /* kept since the last ring reset; 0 for 64 MiB */
    uint64_t max_memory_bytes; /* of guest memory in a dump; 0 for 256 MiB */
    /* What a shader's bytes say, appended to `out`; NULL: dumps have the bytes only. On the watch's thread. */
    void (*disassemble)(struct strbuf *out, const void *bytes, size_t size);
    /* Calls row(to, name, value) for each setting that the system runs with; NULL: there are none. On the watch's thread. */
    void (*settings)(const void *of, void (*row)(void *to, const char *name, const char *value), void *to);
    const void *settings_of;
    bool all_errors; /* dump for latched errors too, not only for hangs and deaths */
    /* On the watch's thread: `path` is NULL if no dump was written. */
    void (*found)(void *ctx, const struct watch_crash *crash, const char *path, const struct error *e);
    void *ctx;
};

int watch_create(struct watch **out, const struct watch_params *p, struct error *e);
/* Finishes a dump that has begun. NULL is legal. Before machine_destroy. */
void watch_destroy(struct watch *w);

/* A dump now, on the calling thread. 0, or what kept it from being made. */
int watch_request(struct watch *w, const char *path, struct error *e);

/* The operating system's event log: 4101 (the driver stopped responding and has recovered), 4109 (a device was removed
 * because of an error), 0x116 (it gave up). A removal gives a dump, if none was made of what caused it. Any thread; takes a
 * lock and no more. */
void watch_system_event(struct watch *w, unsigned id, const char *text);

/* Waits until everything that has happened so far was examined. */
void watch_settle(struct watch *w);
uint32_t watch_crashes(struct watch *w);
struct watch_pause watch_longest_pause(struct watch *w);
