/* SPDX-License-Identifier: MIT */
/* pointers.h: which buffer's address was written or copied into which buffer: whoever reads that may go there. The last ones are
 * known. A buffer goes by its first handle: others that were imported from it name the same memory. */
#pragma once

#include <stdint.h>

#include "abi/stream.h"

enum { WATCH_POINTERS = 256, WATCH_ALIASES = 64 };

struct watch_pointers {
    struct {
        uint32_t in, to;
    } of[WATCH_POINTERS];
    struct {
        uint64_t token;         /* that it was exported by */
        uint32_t handle, first; /* handle 0: the export itself */
    } alias[WATCH_ALIASES];
    uint32_t n, num_aliases; /* ever */
};

void watch_pointers_note(struct watch_pointers *x, const struct abi_packet *p);
uint32_t watch_pointers_first(const struct watch_pointers *x, uint32_t handle);
