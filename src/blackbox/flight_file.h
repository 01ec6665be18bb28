/* SPDX-License-Identifier: MIT */
/* flight_file.h: the flight recorder's file, as it lies in memory.
 *
 *   header │ names: 256 x 64 │ events: a power of two x 64 bytes
 *
 * Invariants:
 *  1. An event whose stamp is its number + 1 was written whole. Its writer sets the stamp to 0 first and last to its value.
 *  2. Nobody ever waits: two writers that are a whole ring apart may spoil one event, whose stamp then is wrong.
 *  3. Times are the processor's counter where it runs evenly; `pairs` and the reader's own clock turn them into
 *     nanoseconds. Otherwise they are nanoseconds.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define FLIGHT_MAGIC "AGFLIGHT"

enum {
    FLIGHT_VERSION = 1,
    FLIGHT_NAMES = 256,
    FLIGHT_NAME = 64,
    FLIGHT_MAX_EVENTS = 1 << 22,
    FLIGHT_PAIR_EVERY = 1024
};

struct flight_pair {
    uint64_t counter, ns;
};

struct flight_header {
    char magic[8];
    uint32_t version, events;
    uint32_t pid, counter_is_tsc;
    char name[32];
    uint8_t boot[16]; /* of the kernel: pairs of another boot are of no use to the reader's clock */
    struct flight_pair first, last;
    uint64_t reserved[2];
    _Alignas(64) _Atomic uint64_t next; /* number of the next event */
    uint64_t pad[7];
};

struct flight_event {
    _Atomic uint64_t stamp;
    uint64_t counter, a, b, c;
    uint32_t thread;
    uint8_t event, reserved[3];
    uint64_t pad[2];
};

_Static_assert(sizeof(struct flight_header) == 192 && sizeof(struct flight_event) == 64,
               "the layout is a file's");

enum { FLIGHT_EVENTS_AT = 192 + FLIGHT_NAMES * FLIGHT_NAME };

/* The running kernel's number, zeroes if it has none. */
void flight_boot(uint8_t boot[16]);
