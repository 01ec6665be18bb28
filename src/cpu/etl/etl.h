/* SPDX-License-Identifier: MIT */
/* etl.h: Windows event trace logs (.etl), read as a stream of events.
 *
 * A file is a sequence of buffers, each written by one processor: a 0x48-byte WMI_BUFFER_HEADER, then events,
 * 8-byte aligned, up to SavedOffset. The first buffer (type 4) holds TRACE_LOGFILE_HEADER and is never
 * compressed; the others may be, with XPRESS. Each event starts with one of a dozen headers, told apart by
 * its third and fourth byte.
 *
 * Invariants:
 *  1. Bytes are untrusted: every size is checked against its container. A bad event ends its buffer, a bad
 *     buffer costs that buffer; each is noted with its number and offset, and the rest is read.
 *  2. Events of one processor come in order; processors are merged by time.
 *  3. Every event is counted under its type, decoded or not: nothing is hidden (etl_type_*).
 *  4. Idle state numbers stay raw: C1 is 0.
 *
 * Sources: the evntrace.h and ntwmi.h declarations, [MS-XCA]; facts were checked on public files.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "cpu/etl/etl_table.h"
#include "cpu/model/notes.h"
#include "cpu/model/source.h"

#define ETL_MAX_TYPES 8192

enum etl_header { ETL_CLASSIC, ETL_GUID, ETL_MANIFEST, ETL_TRACELOGGING, ETL_MESSAGE, ETL_SKIPPED };

/* One event as found in a buffer; pointers are into the buffer. */
struct etl_record {
    enum etl_header header;
    uint8_t type, group; /* classic */
    uint8_t version, pointer_size;
    uint16_t id; /* manifest */
    const uint8_t *guid;
    int32_t tid, pid; /* -1 = the header has none */
    uint64_t time;    /* in the file's clock ticks; 0 if the header has none */
    const uint8_t *payload;
    uint32_t payload_size;
    const uint8_t *schema, *traits; /* TraceLogging: extended items 11 and 12 */
    uint16_t schema_size, traits_size;
    uint32_t size; /* of the whole event */
};

/* A kind of event that occurs in the file. */
struct etl_kind {
    enum etl_header header;
    uint8_t guid[16];
    uint16_t id;     /* group << 8 | type of classic events */
    uint8_t version; /* the first one seen */
    uint64_t schema_hash;
    char provider[64], name[64];   /* TraceLogging */
    const struct etl_event *event; /* NULL = not decoded */
    uint8_t named_kind;            /* cpu_event kind of a TraceLogging event, 0 = none */
    uint64_t count, bad;           /* bad: shorter than its layout */
};

struct etl_buffer {
    uint64_t offset, sequence;
    uint32_t size, saved;
    uint16_t cpu, logger;
    uint8_t type;
    bool packed;
};

struct etl_stream;

struct etl_file {
    const uint8_t *map;
    size_t size;
    bool mapped;
    struct cpu_notes notes;
    struct etl_buffer *buffers;
    uint32_t num_buffers;

    /* TRACE_LOGFILE_HEADER */
    uint32_t buffer_size, num_cpus, mode, buffers_written, pointer_size, events_lost, cpu_mhz, clock_type,
        os_version, build, pack_format;
    uint64_t start_filetime, end_filetime, frequency;
    uint64_t first_ticks; /* time of the header's own event: the zero of ns */
    uint32_t max_cpu;

    struct etl_kind *kinds;
    uint32_t num_kinds;
    uint64_t kinds_dropped;
    uint16_t *classic; /* group << 8 | type to index of its kind + 1 */
    struct map hashed; /* the other kinds by a hash of what they are, + 1 */
    uint64_t events, bad_events, bad_buffers, bytes;

    struct cpu_merge merge;
    struct etl_stream *streams;
    uint32_t num_streams;
};

/* Whether these first bytes of a file are an event trace's. */
bool etl_is(const uint8_t *bytes, size_t size);

/* 0, or a negative errno with the offset in `e`. The bytes stay the caller's, and must outlive the file. */
int etl_open(struct etl_file *f, const char *path, struct error *e);
int etl_open_memory(struct etl_file *f, const uint8_t *bytes, size_t size, struct error *e);
void etl_close(struct etl_file *f);
/* After all events were read: 0, or -EBADMSG with how many were bad, and the first place. */
int etl_whole(const struct etl_file *f, struct error *e);

/* Starts from the first event. Types of cpu_event are indices of f->kinds. */
int etl_rewind(struct etl_file *f, struct cpu_source **out, struct error *e);

/* Calls `fn` for every event, buffer after buffer, in the order of the file. */
void etl_each(struct etl_file *f,
              void (*fn)(void *ctx, const struct etl_record *r, uint16_t kind, uint16_t cpu), void *ctx);

/* Nanoseconds since the trace began, from the ticks of its clock. */
uint64_t etl_ns(const struct etl_file *f, uint64_t ticks);

/* "System Power: IdleStateEnter", or what identifies a kind that is not decoded. */
void etl_kind_name(const struct etl_file *f, const struct etl_kind *k, char *buf, size_t cap);

/* "State=1 Properties=0x8 ..." */
void etl_print(const struct etl_file *f, const struct etl_kind *k, const struct etl_record *r,
               struct strbuf *out);

/* Parses the event at `data`; its size in *r, or 0 with *why if it is not one. 1 = an end marker or the end.
 */
enum { ETL_BAD = 0, ETL_END = 1, ETL_EVENT = 2 };
int etl_parse(const uint8_t *data, size_t left, struct etl_record *r, const char **why);

/* Finds or makes the kind of an event; ETL_MAX_TYPES when the table is full. */
uint16_t etl_kind_of(struct etl_file *f, const struct etl_record *r);

/* Turns an event into what the analysis understands. False if it is shorter than its layout. */
bool etl_decode(const struct etl_file *f, const struct etl_kind *k, const struct etl_record *r, uint16_t cpu,
                struct cpu_event *ev);
