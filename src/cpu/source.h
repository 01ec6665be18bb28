/* source.h: the pages of all CPUs as one stream of events in time order.
 *
 *   blocks of a CPU ──▶ one block unpacked ──▶ one page decoded ──▶ head event ─┐
 *   blocks of a CPU ──▶ ...                                       head event ─┴▶ earliest first, in runs
 *
 * Invariants:
 *  1. Memory is one unpacked block and one decoded page per CPU, whatever the size of the file.
 *  2. Events come out in time order if each CPU's pages are in order; a CPU that steps back is noted once per
 * page and its events keep their own times.
 */
#ifndef CPU_SOURCE_H_
#define CPU_SOURCE_H_

#include "cpu/event.h"
#include "cpu/file.h"
#include "cpu/page.h"

/* Where a stream's pages come from: points *data at whole pages (good until the next call for this stream,
 * with CPU_PAGE_PAD readable bytes after them) and returns their size in bytes, 0 at the end. */
typedef size_t (*cpu_pages_fn)(void *ctx, uint32_t stream, const uint8_t **data);

struct cpu_stream {
    uint16_t cpu;
    const uint8_t *pages;
    size_t size, pos;
    uint64_t page_no, last_ns;
    struct cpu_event *events;
    uint32_t num, at;
    bool done;
    struct cpu_page_stats stats;
};

struct cpu_merge {
    struct cpu_source source;
    const struct cpu_rules *rules;
    struct cpu_notes *notes;
    cpu_pages_fn pages;
    void *ctx;
    uint32_t num_streams;
    struct cpu_stream *streams;
    uint64_t *heads;            /* time of each stream's next event, UINT64_MAX when it is done */
    uint32_t taken, taken_from; /* events of the last run, consumed when the next one is asked for */
    uint64_t *counts;           /* events by type, 65536 of them */
};

/* `cpus[i]` is the CPU of stream i. */
int cpu_merge_init(struct cpu_merge *m, const struct cpu_rules *rules, const uint16_t *cpus, uint32_t num,
                   cpu_pages_fn pages, void *ctx, struct cpu_notes *notes);
void cpu_merge_finish(struct cpu_merge *m);

#endif
