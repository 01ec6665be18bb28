/* SPDX-License-Identifier: MIT */
/* file.h: the `.cputrace` file: raw tracefs pages and what is needed to read them on another machine.
 *
 * Layout, little-endian:
 *   16 bytes  "AGCPUTRC", u32 version (1), u32 0
 *   blocks    48-byte header, payload, zero bytes up to a multiple of 8:
 *             0 u32 "CPUB" · 4 u16 type · 6 u16 CPU · 8 u32 stored size · 12 u32 raw size · 16 u64 first ns
 *             24 u32 flags (1 = zstd) · 28 u32 0 · 32 u64 XXH64 of the payload · 40 u32 XXH64 of bytes 0..39 · 44 u32 0
 *
 * Block types are CPU_BLOCK_*. META and FORMATS come first, SNAPSHOT before and after the pages, END last.
 *
 * Invariants:
 *  1. A block is independent: readable without any other block, written with one call. A recorder killed at
 *     any instant leaves a file that reads up to its last whole block.
 *  2. A damaged block costs that block: the reader notes it with its offset, finds the next header, and goes on.
 *  3. Pages of one CPU are in time order; blocks of different CPUs interleave.
 */
#ifndef CPU_FILE_H_
#define CPU_FILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cpu/model/notes.h"

#define CPU_FILE_MAGIC     "AGCPUTRC"
#define CPU_FILE_MAX_CPUS  1024
#define CPU_FILE_MAX_BLOCK (64u << 20) /* raw bytes */

enum cpu_block_type {
    CPU_BLOCK_META = 1, /* JSON object, see record.c */
    CPU_BLOCK_FORMATS =
        2, /* JSON object: "header_page", "events": {"system:name": text of its format file} */
    CPU_BLOCK_SNAPSHOT = 3, /* JSON object, see snapshot.h; the first one has the tasks of family.h */
    CPU_BLOCK_PAGES = 4,    /* whole ring-buffer pages of one CPU */
    CPU_BLOCK_SAMPLE = 5,   /* JSON object: "ns" and per-CPU counters while recording */
    CPU_BLOCK_NAMES = 6,    /* JSON object: "symbols" and "threads" */
    CPU_BLOCK_END = 7,      /* JSON object: per-CPU losses and counts */
};

struct cpu_block {
    uint16_t type, cpu;
    uint32_t stored_size, raw_size, flags;
    uint64_t first_ns, hash, offset; /* offset of the header in the file */
};

struct cpu_file {
    const uint8_t *map;
    size_t size;
    bool mapped;
    struct cpu_block *blocks;
    uint32_t num_blocks;
    struct cpu_notes notes;
};

/* True if the first bytes are those of this format. */
bool cpu_file_is(const uint8_t *bytes, size_t size);

/* Opens for reading; the file stays mapped until cpu_file_close. */
int cpu_file_open(struct cpu_file *f, const char *path, struct error *e);
/* The same over memory that outlives `f`. */
int cpu_file_open_memory(struct cpu_file *f, const uint8_t *bytes, size_t size, struct error *e);
void cpu_file_close(struct cpu_file *f);

/* Unpacks block `i` into *buf (grown with realloc, *cap its size; `pad` zero bytes follow the payload).
 * 0, or -EBADMSG with the offset in `e` for damaged payloads. */
int cpu_file_load(const struct cpu_file *f, uint32_t i, uint8_t **buf, size_t *cap, size_t pad,
                  struct error *e);

struct cpu_writer;

int cpu_writer_create(struct cpu_writer **out, const char *path, struct error *e);
/* 0 or a negative errno; `size` at most CPU_FILE_MAX_BLOCK. */
int cpu_writer_put(struct cpu_writer *w, enum cpu_block_type type, uint16_t cpu, uint64_t first_ns,
                   const void *data, size_t size);
uint64_t cpu_writer_bytes(const struct cpu_writer *w);
/* 0, or the first failure of any put. */
int cpu_writer_failed(const struct cpu_writer *w);
/* The same, or the failure to close. */
int cpu_writer_close(struct cpu_writer *w);

#endif
