/* SPDX-License-Identifier: MIT */
/* wire.h: what is in the blocks (blocks.h) of a recording of calls. Little-endian throughout.
 *
 * Blocks of kind TRC_CALLS hold the calls of one thread, whose number, from 1, is their `stream`; `first` is the counter of
 * tickets when the block was begun, `frame` the presents seen by then. Decoding a block needs no other block: what records
 * leave out (below) starts afresh with each block. One of kind TRC_SO_FAR is a beginning of the same thread's next block, which
 * replaces it. The header's meta is JSON: command, host, started.
 *
 *   record  = varint(method << 5 | flags) [order] [this] [time] arguments [answer]
 *   order   with REC_SEQ: the difference to the expected number: u32 for late methods, else zigzag varint. A ticket is
 *           unique and counts up over all threads; a call without REC_TICKET only read the counter: it stands after
 *           every ticket below that number. Expected: one more than the last ticket, or the last number read.
 *   this    with REC_THIS: varint object number. Without: the same object as the record before.
 *   time    with REC_TIME: varint, units of 1.024 us since the last time in this block (first: since the start).
 *   REC_REPEAT: no arguments follow: they are those of the last call of this method in this block.
 *
 * Values: unsigned integers as LEB128, signed ones zigzag first, floats and u8 raw, strings and byte blocks behind
 * their length. A byte block is varint 0 (NULL), 2n+1 and n bytes, or 2b+2 for blob number b, whose size and bytes stand
 * in the blocks of kind TRC_BLOBS: fragments {varint number, varint size, varint offset, varint length, bytes}.
 * An object is its number: 0 NULL, 1 one that the recorder does not know. A descriptor handle is varint heap object
 * number (0: zero, 1: raw u64 follows) and varint index; a GPU address is varint resource number (0, 1 likewise) and
 * varint offset.
 */
#pragma once

#include <stdint.h>

enum trc_kind { /* of BLOBS, `first` is the first number */
                TRC_CALLS = 1,
                TRC_BLOBS = 2,
                TRC_SO_FAR =
                    3 /* what the thread's next block has again, with what came behind: for files that end before that one */
};

enum trc_flags {
    TRC_PARTIAL = 1, /* the program died in the last call: there is no answer */
    TRC_SPLIT =
        2, /* what was packed is varint n, n bytes of headers, arguments (trace_split.c); `raw` is the size before */
};

/* What a player must look for in all of the calls before it makes the first. */
enum trc_features { /* what the index says */
                    TRC_FEATURES_KNOWN = 1,
                    TRC_HAS_HEAPS = 2,     /* of resources that are placed */
                    TRC_HAS_ADDRESSES = 4, /* command signatures whose argument buffers hold GPU addresses */
                    TRC_DIED = 8,          /* nothing to look for: the program crashed */
                    TRC_LACKS_CALLS = 16,  /* there was no memory for them in the recorded program */
};

enum rec_flags { REC_SEQ = 1, REC_THIS = 2, REC_TIME = 4, REC_REPEAT = 8, REC_TICKET = 16 };

enum {
    REC_FLAG_BITS = 5,
    REC_LARGE = 0
}; /* method 0: the record itself is a blob: varint 0<<5, varint blob number */

enum { TRC_CHUNK = 256 * 1024, TRC_TIME_UNIT_NS = 1024 };
