/* SPDX-License-Identifier: MIT */
/* wire.h: the bytes of a recording. Little-endian throughout.
 *
 *   file    = header block* [index]
 *   block   = struct trc_block, then `packed` bytes of zstd (each block is a frame of its own)
 *   index   = a block of kind TRC_INDEX, then struct trc_tail: the file's last 24 bytes. Lost with the end of the file;
 *             a scan of the block headers makes it again.
 *
 * Blocks of kind TRC_CALLS hold the calls of one thread. Decoding a block needs no other block: what records leave out
 * (below) starts afresh with each block.
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
#ifndef RECORD_WIRE_H_
#define RECORD_WIRE_H_

#include <stdint.h>

#define TRC_MAJOR       1
#define TRC_MINOR       0
#define TRC_BLOCK_MAGIC 0x4b4c4244u /* "DBLK" */
#define TRC_TAIL_MAGIC  UINT64_C(0x4c49415443525444)

struct trc_header {
    char magic[8]; /* the API's */
    uint16_t major, minor;
    uint32_t meta_size; /* bytes of JSON that follow: command, host, started */
    uint64_t schema;    /* of the tables that it was recorded with */
};

enum trc_kind { TRC_CALLS = 1, TRC_BLOBS = 2, TRC_INDEX = 3 };

enum trc_flags {
    TRC_PARTIAL = 1, /* the program died in the last call: there is no answer */
    TRC_SPLIT =
        2, /* what was packed is varint n, n bytes of headers, arguments (trace_split.c); `raw` is the size before */
};

struct trc_block {
    uint32_t magic;
    uint8_t kind, flags;
    uint16_t thread; /* the recorder's number of the thread, from 1 */
    uint32_t raw, packed;
    uint64_t first_seq; /* CALLS: the counter when the block was begun; BLOBS: its first blob number */
    uint32_t frame;     /* presents seen when it was begun */
    uint32_t reserved;
    uint64_t hash; /* XXH3-64 of the packed bytes */
};

struct trc_index_entry {
    uint64_t offset; /* of the struct trc_block */
    uint64_t first_seq;
    uint32_t raw, frame;
    uint16_t thread;
    uint8_t kind, flags;
    uint32_t packed;
};

struct trc_tail {
    uint64_t index_offset;
    uint64_t features; /* enum trc_features; 0: nobody knows */
    uint64_t magic;
};

/* What a player must look for in all of the calls before it makes the first. */
enum trc_features {
    TRC_FEATURES_KNOWN = 1,
    TRC_HAS_HEAPS = 2,     /* of resources that are placed */
    TRC_HAS_ADDRESSES = 4, /* command signatures whose argument buffers hold GPU addresses */
    TRC_DIED = 8,          /* nothing to look for: the program crashed */
};

enum rec_flags { REC_SEQ = 1, REC_THIS = 2, REC_TIME = 4, REC_REPEAT = 8, REC_TICKET = 16 };

enum {
    REC_FLAG_BITS = 5,
    REC_LARGE = 0
}; /* method 0: the record itself is a blob: varint 0<<5, varint blob number */

enum { TRC_CHUNK = 256 * 1024, TRC_TIME_UNIT_NS = 1024, TRC_MAX_RAW = 1 << 26 };

#endif
