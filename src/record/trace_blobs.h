/* SPDX-License-Identifier: MIT */
/* trace_blobs.h: the blobs of a recording, for trace_read.c.
 *
 * A walk over the blocks finds where the fragments of each blob stand. If all blobs fit into the budget they stay in memory;
 * else one is read when it is asked for, and goes again when it was not asked for in a turn and the budget is spent. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/wire.h"

struct trc;
struct trc_blobs;

/* trace_read.c: the unpacked bytes of a block, malloc'd: as many as trc_block() says. */
int trc_block_bytes(struct trc *t, uint32_t block, uint8_t **out, struct error *e);

/* `budget` 0: a quarter of this machine's memory. `largest`: no blob of this file can be larger. */
int trc_blobs_create(struct trc_blobs **out, struct trc *t, uint64_t budget, uint64_t largest,
                     struct error *e);
void trc_blobs_destroy(struct trc_blobs *b);
const void *trc_blobs_get(struct trc_blobs *b, uint64_t number, size_t *size, struct error *e);
/* What was asked for until now may go. NULL is fine. */
void trc_blobs_turn(struct trc_blobs *b);
/* It stays. */
void trc_blobs_pin(struct trc_blobs *b, uint64_t number);
