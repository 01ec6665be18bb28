/* SPDX-License-Identifier: MIT */
/* file.h: the `.cputrace` file: raw tracefs pages and what is needed to read them on another machine, in blocks
 * (record/blocks.h). `stream` is the CPU, `first` the time in nanoseconds.
 *
 * META and FORMATS come first, SNAPSHOT before and after the pages, END last.
 *
 * Invariants:
 *  1. A damaged block costs that block: the reader notes it with its place, finds the next one, and goes on.
 *  2. Pages of one CPU are in time order; blocks of different CPUs interleave.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cpu/model/notes.h"
#include "record/blocks.h"

#define CPU_FILE_MAGIC    "AGCPUTRC"
#define CPU_FILE_MAX_CPUS 1024

enum cpu_block_kind {
    CPU_BLOCK_META = 1, /* JSON object, see record.c */
    CPU_BLOCK_FORMATS =
        2, /* JSON object: "header_page", "events": {"system:name": text of its format file} */
    CPU_BLOCK_SNAPSHOT =
        3, /* JSON object, see snapshot.h; the first one has "tasks" and "processes" of family.h */
    CPU_BLOCK_PAGES = 4,  /* whole ring-buffer pages of one CPU */
    CPU_BLOCK_SAMPLE = 5, /* JSON object: "ns" and per-CPU counters while recording */
    CPU_BLOCK_NAMES = 6,  /* JSON object: "symbols", "threads", "since_ns" (cpu_trace_thread_at) */
    CPU_BLOCK_END = 7,    /* JSON object: per-CPU losses and counts */
};

/* True if the first bytes are those of this format. */
bool cpu_file_is(const uint8_t *bytes, size_t size);

/* Opens for reading (blocks_open(), blocks_close()); what is damaged goes into `notes`, which outlives `b`. */
int cpu_file_open(struct blocks *b, struct cpu_notes *notes, const char *path, struct error *e);
int cpu_file_open_memory(struct blocks *b, struct cpu_notes *notes, const uint8_t *bytes, size_t size,
                         struct error *e);

/* Unpacks block `i` into *buf (grown with realloc, *cap its size; `pad` zero bytes follow the payload).
 * 0, or -EBADMSG with the place in `e` for damaged payloads. */
int cpu_file_load(const struct blocks *b, uint32_t i, uint8_t **buf, size_t *cap, size_t pad,
                  struct error *e);

int cpu_writer_create(struct blocks_writer **out, const char *path, struct error *e);
/* 0 or a negative errno, which blocks_writer_failed() keeps. */
int cpu_writer_pages(struct blocks_writer *w, uint16_t cpu, uint64_t first_ns, const void *pages,
                     size_t size);
/* Takes the reference; NULL: there was no memory for it. */
int cpu_writer_json(struct blocks_writer *w, enum cpu_block_kind kind, uint64_t ns, json_t *j);
