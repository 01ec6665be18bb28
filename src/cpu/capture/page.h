/* SPDX-License-Identifier: MIT */
/* page.h: ring-buffer pages of tracefs, decoded.
 *
 * A page is {u64 time stamp, commit word, records}. The commit word's low 20 bits are the length of the
 * records, bit 31 says that events were lost before the page, bit 30 that their number follows the records. A
 * record starts with u32 {type_len:5, time_delta:27}: 1..28 = 4*type_len bytes of data, 0 = a u32 length
 * follows, 29 = padding (the end if time_delta is 0), 30 = the time moves on by time_delta + (u32 << 27), 31
 * = absolute time. Data starts with the common fields; common_type selects the format.
 *
 * Layouts are compiled once: cpu_rules_add() turns a format into three masked loads at fixed offsets, so that
 * decoding an event is a table look-up and straight loads, without a branch per field.
 *
 * Invariants:
 *  1. No load leaves the page and the CPU_PAGE_PAD bytes that the caller keeps readable after it.
 *  2. An event whose format is unknown, or that is not one of cpu/event.h, becomes OTHER and is counted by its id.
 *  3. A record that does not fit ends its page with a note; the next page is decoded all the same.
 *
 * Source: kernel/trace/ring_buffer.c (header_page and header_event in tracefs describe the same).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu/model/event.h"
#include "cpu/capture/format.h"
#include "cpu/model/notes.h"

#define CPU_PAGE_PAD  128 /* readable bytes after the last page of a buffer */
#define CPU_MAX_RULES 512

struct cpu_rule {
    uint64_t mask_a, mask_b, mask_c, const_a;
    uint16_t off_a, off_b, off_c;
    uint16_t off_timeline; /* of a fence: where its time line's name is said; 0: nowhere */
    uint16_t min_size;     /* bytes of data that the loads need */
    uint16_t id;
    uint8_t kind;
    char name[80]; /* "system:name" */
};

struct cpu_rules {
    uint32_t page_size, data_offset, commit_offset, commit_size;
    uint16_t pid_offset;
    uint16_t num_rules; /* rules[0] is for ids without a format */
    struct cpu_rule rules[CPU_MAX_RULES];
    uint16_t of_id[65536]; /* common_type to index of its rule */
};

/* The layout of a page: `text` is tracefs' events/header_page. */
int cpu_rules_init(struct cpu_rules *r, const char *text, size_t size, struct error *e);

/* One event's format file; `system` is its directory ("power"). */
int cpu_rules_add(struct cpu_rules *r, const char *system, const char *text, size_t size, struct error *e);

struct cpu_page_stats {
    uint64_t pages, events, bytes, lost, bad;
    bool lost_uncounted; /* the kernel lost events and did not say how many */
};

/* The most events that a page can hold: the capacity of the array for cpu_page_decode. */
static inline uint32_t cpu_page_max_events(const struct cpu_rules *r)
{
    return r->page_size / 8 + 2;
}

/* Decodes one page of r->page_size bytes into `ev`; returns the number of events. `where` names the page in notes. */
uint32_t cpu_page_decode(const struct cpu_rules *r, const uint8_t *page, uint16_t cpu, struct cpu_event *ev,
                         struct cpu_page_stats *stats, struct cpu_notes *notes, uint64_t where);

/* Time stamp of a page. */
uint64_t cpu_page_time(const uint8_t *page);
