/* SPDX-License-Identifier: MIT */
/* reduce.h: a recording in pieces that can be left out: submissions, packets, what packets bind, and the bytes that packets
 * and guest memory carry. What is left is always a well-formed recording; whether it still makes sense is for the device to say.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct reduce_packet {
    uint32_t offset, size;    /* in its submission's stream */
    uint32_t data, data_size; /* of it that is plain data: an upload's bytes; 0 for none */
    bool gone;
};

struct reduce_range {
    uint32_t alloc_id, flags;
    uint64_t gpa, size;
    uint8_t *bytes; /* memory that an earlier submission placed the same has no range */
    uint32_t num_bytes;
};

struct reduce_submission {
    uint32_t flags, context_id, engine_id;
    uint64_t fence;
    bool gone;
    uint8_t *stream, *table;
    uint32_t stream_size, table_size;
    struct reduce_packet *packets;
    uint32_t num_packets;
    struct reduce_range *ranges;
    uint32_t num_ranges;
};

struct reduce {
    struct reduce_submission *subs;
    uint32_t num_subs;
    uint32_t command_abi;
};

/* What may go: submissions; the packets of those that are left; the handles that these name, which become 0; 1/16ths of the
 * data of what is left, which become zeroes. */
enum reduce_level { REDUCE_SUBMISSIONS, REDUCE_PACKETS, REDUCE_BINDINGS, REDUCE_BYTES, REDUCE_LEVELS };

int reduce_load(struct reduce *r, const char *path, const void *data, size_t size, struct error *e);
void reduce_finish(struct reduce *r);

/* Things of a level, and leaving out those whose keep[i] is 0, for good. */
uint32_t reduce_things(const struct reduce *r, enum reduce_level level);
void reduce_apply(struct reduce *r, enum reduce_level level, const uint8_t *keep);

/* At REDUCE_PACKETS: what packet `packet` of submission `sub` can depend on, as far as handles and state tell: a guess that is
 * worth a try. False without memory, or if there is no such packet. */
bool reduce_slice(const struct reduce *r, uint64_t sub, uint32_t packet, uint8_t *keep);

/* A packet by its numbers in what was loaded. */
struct reduce_place {
    uint64_t sub;
    uint32_t packet;
};

/* Turns the numbers of a packet into those that it has in what reduce_write() would write; keep NULL: in what is left. False: it is
 * not there. A stream that stayed whole has its packets' own numbers. */
bool reduce_find(const struct reduce *r, enum reduce_level level, const uint8_t *keep,
                 struct reduce_place *p);

uint32_t reduce_packets_left(const struct reduce *r);

/* The recording without what is left out at `level`; *data is the caller's to munmap. */
int reduce_write(const struct reduce *r, enum reduce_level level, const uint8_t *keep, void **data,
                 size_t *size, struct error *e);
/* To a file. */
int reduce_save(const struct reduce *r, const char *path, const char *notes, struct error *e);
