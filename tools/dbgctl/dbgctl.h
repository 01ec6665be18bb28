/* SPDX-License-Identifier: MIT */
/* dbgctl.h: aerogpu_dbgctl: asks the miniport, through D3DKMT only, where its fences are and why they do not move.
 *
 *   parse ─▶ open the adapter ─▶ the command fills a JSON object ─▶ printed as text or JSON ─▶ exit code
 *
 * Invariants:
 *  1. One command a run. With --json exactly one JSON document is written, for wrong usage and failures too.
 *  2. No call into the service takes longer than --timeout-ms: one that does is left behind on its
 *     thread.
 *  3. Files appear whole or not at all.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <aerogpu/escape.h>
#include <aerogpu/pci.h>

#include "d3dkmt/d3dkmt.h"

enum dbgctl_exit {
    DBGCTL_OK = 0,
    DBGCTL_USAGE = 1, /* or the adapter cannot be opened */
    DBGCTL_FAILED = 2,
    DBGCTL_PARTIAL = 3, /* READ_GPA gave less than was asked for */
    DBGCTL_CLOSE = 4,
    DBGCTL_TRANSPORT = 254, /* --selftest did not reach the driver */
};

struct dbgctl {
    /* options */
    const char *display, *json_path, *csv_path, *cmd_out, *alloc_out, *out_path;
    const char *path; /* or FAULT[=VALUE] */
    uint32_t ring_id, timeout_ms, vblank_samples, vblank_interval_ms, samples, interval_ms, size,
        index_from_tail, count;
    uint32_t call_ms;  /* the longest time of one call */
    uint64_t argument; /* GPA or handle */
    bool json, pretty, force, prometheus, timeout_given;

    const struct dbgctl_command *command;
    const char *name; /* what the JSON calls it */
    D3DKMT_HANDLE adapter;
    LUID luid;
    uint32_t source;
    json_t *body;
    char message[300]; /* of the failure */
    const char *hint;  /* what to do next, or NULL */
    NTSTATUS status;
    bool has_status;
};

enum { DBGCTL_MAX_SAMPLES = 10000, DBGCTL_CALL_MS = 2000 };
enum dbgctl_argument { DBGCTL_NONE, DBGCTL_PATH, DBGCTL_FAULT, DBGCTL_NUMBER, DBGCTL_NUMBER_SIZE };

struct dbgctl_command {
    const char *name; /* canonical, as in the JSON */
    const char *options[4];
    enum dbgctl_argument argument;
    bool without_adapter;
    int (*run)(struct dbgctl *c);
    const char *doc; /* and its own options */
};
extern const struct dbgctl_command dbgctl_commands[];
extern const unsigned dbgctl_num_commands;

/* ---- args.c -------------------------------------------------------------- */

/* 0, DBGCTL_USAGE with the complaint in c->message, or -1: what --help says is in c->body. Without --json help ends the program. */
int dbgctl_parse(struct dbgctl *c, int argc, char **argv);

/* ---- call.c: bounded calls ----------------------------------------------- */

NTSTATUS dbgctl_call(struct dbgctl *c, enum d3dkmt_thunk thunk, void *arg, size_t size);
NTSTATUS dbgctl_escape(struct dbgctl *c, uint32_t op, void *block, uint32_t size);
#define DBGCTL_ESCAPE(c, NAME, e) dbgctl_escape(c, AEROGPU_ESCAPE_OP_##NAME, e, sizeof(*(e)))
NTSTATUS dbgctl_query(struct dbgctl *c, KMTQUERYADAPTERINFOTYPE type, void *data, UINT size);
/* Fills in the failure; returns DBGCTL_FAILED. */
int dbgctl_fail(struct dbgctl *c, NTSTATUS status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int dbgctl_refuse(struct dbgctl *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dbgctl_sleep_ms(uint32_t ms);
uint64_t dbgctl_now_ns(void);
/* Guest memory, piece by piece: how much was read in *got. STATUS_PARTIAL_COPY: it ends there. */
NTSTATUS dbgctl_read(struct dbgctl *c, uint64_t gpa, void *data, uint32_t size, uint32_t *got);

/* ---- values.c: what the blocks say, as JSON ------------------------------ */

const char *dbgctl_status_name(NTSTATUS s, char buffer[16]);
json_t *dbgctl_status(NTSTATUS s); /* {"ntstatus", "name"} */
json_t *dbgctl_u64(uint64_t v);    /* {"hex", "dec"} */
json_t *dbgctl_hex(uint64_t v);    /* "0x…" */
json_t *dbgctl_dec(uint64_t v);    /* "123": 64 bits do not fit a JSON number */
json_t *dbgctl_size(uint64_t v);   /* {"bytes", "mib"} */

/* Answers of the driver; *s gets the escape's status, and NULL says that it failed. ..._summary: as --status has it. */
json_t *dbgctl_device(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_fences(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_latched(struct dbgctl *c);
json_t *dbgctl_perf(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_ring(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_ring_summary(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_scanout(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_cursor(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_vblank(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_segments(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_segments_summary(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_umd_private(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_umd_private_summary(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_error(struct dbgctl *c, NTSTATUS *s);
json_t *dbgctl_createalloc_summary(struct dbgctl *c, NTSTATUS *s);

/* The same in two steps, for who needs the block, too. */
NTSTATUS dbgctl_ring_ask(struct dbgctl *c, struct aerogpu_escape_dump_ring_v2 *r); /* desc_count fits desc */
const char *dbgctl_ring_format(const struct aerogpu_escape_dump_ring_v2 *r);
json_t *dbgctl_ring_head(const struct aerogpu_escape_dump_ring_v2 *r);
/* Where descriptor `i` of the block has its place in the ring. */
uint32_t dbgctl_ring_index(const struct aerogpu_escape_dump_ring_v2 *r, uint32_t i);
json_t *dbgctl_descriptor(const struct aerogpu_escape_ring_desc_v2 *d);
NTSTATUS dbgctl_scanout_ask(struct dbgctl *c, struct aerogpu_escape_query_scanout *q);
json_t *dbgctl_scanout_of(const struct aerogpu_escape_query_scanout *q);
json_t *dbgctl_cursor_of(const struct aerogpu_escape_query_cursor *q);
NTSTATUS dbgctl_createalloc_ask(struct dbgctl *c, struct aerogpu_escape_dump_createallocation *t);
json_t *dbgctl_createalloc_of(const struct aerogpu_escape_dump_createallocation *t);
/* Which source was asked for, and which one answered. */
json_t *dbgctl_sources(const struct dbgctl *c, uint32_t answered);

struct dbgctl_picture {
    const char *what;
    uint64_t gpa;
    uint32_t width, height, pitch, format;
};
json_t *dbgctl_picture(uint32_t enable, const struct dbgctl_picture *p);

/* ---- text.c -------------------------------------------------------------- */

void dbgctl_print_text(json_t *body);
/* A line of watch-* as it happens; with --json nothing. */
void dbgctl_line(const struct dbgctl *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- faults.c ------------------------------------------------------------ */

int dbgctl_inject(struct dbgctl *c);
int dbgctl_force_tdr(struct dbgctl *c);

/* ---- watch.c, vblank.c ---------------------------------------------------- */

int dbgctl_watch_fence(struct dbgctl *c);
int dbgctl_watch_ring(struct dbgctl *c);
int dbgctl_dump_vblank(struct dbgctl *c);
int dbgctl_wait_vblank(struct dbgctl *c);
int dbgctl_query_scanline(struct dbgctl *c);

/* ---- metrics.c ----------------------------------------------------------- */

int dbgctl_metrics(struct dbgctl *c);

/* ---- trace.c ------------------------------------------------------------- */

int dbgctl_trace(struct dbgctl *c);

/* ---- dumps.c ------------------------------------------------------------- */

int dbgctl_dump_scanout_bmp(struct dbgctl *c);
int dbgctl_dump_scanout_png(struct dbgctl *c);
int dbgctl_dump_cursor_bmp(struct dbgctl *c);
int dbgctl_dump_cursor_png(struct dbgctl *c);
int dbgctl_dump_last(struct dbgctl *c);
int dbgctl_read_gpa(struct dbgctl *c);
/* Replaces `path`. 0 or a negative errno. */
int dbgctl_write_file(const char *path, const void *data, size_t size);
