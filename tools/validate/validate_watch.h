/* SPDX-License-Identifier: MIT */
/* validate_watch.h: two observers that run beside the tests.
 *
 *   sampler: asks the driver for fences, vblank and resets every few milliseconds, during a hang above all: the time line of
 *            the report, and how long the slowest answer took
 *   leak monitor: what the process and its children hold, minute after minute: memory, descriptors, processes, guest memory
 *
 * Invariants:
 *  1. An observer disturbs nothing: it is a client of its own, and reads /proc.
 *  2. A level is what is held while nothing runs, so that two of them may be compared.
 */
#pragma once

#include "validate.h"

struct sampler;

/* NULL: there is no memory, and nothing to be seen. */
struct sampler *sampler_start(struct validate_host *h);
/* {interval_ms, slowest_ms, samples: [[ms since the start, submitted, completed, vblank, resets]]}, a new reference. */
json_t *sampler_stop(struct sampler *w);

struct leak_level {
    double minute;
    uint64_t memory, executor_memory, guest_memory; /* bytes */
    unsigned descriptors, processes, clients;
};
void leak_monitor_sample(struct validate_host *h, struct leak_level *out);
/* Whether the levels grow, in words; false: they do not. The first ones are for warming up. */
bool leak_verdict(const struct leak_level *levels, unsigned n, char *text, size_t size);
