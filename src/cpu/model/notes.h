/* SPDX-License-Identifier: MIT */
/* notes.h: what went wrong while reading, kept without stopping.
 *
 * Readers of damaged files say what they met, once per place, and go on. The first NOTES_KEPT sentences are
 * kept, all are counted. Every report prints them: nothing is dropped silently.
 */
#pragma once

#include <stdint.h>

#define NOTES_KEPT 32

struct cpu_notes {
    uint64_t count;
    char text[NOTES_KEPT][160];
};

void cpu_note(struct cpu_notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline uint32_t cpu_notes_kept(const struct cpu_notes *n)
{
    return n->count < NOTES_KEPT ? (uint32_t)n->count : NOTES_KEPT;
}
