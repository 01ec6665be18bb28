/* SPDX-License-Identifier: MIT */
/* samples.h: numbers collected for a median or a percentile. Zero-initialised is empty; a failed allocation
 * drops samples and says so in `failed`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct samples {
    uint64_t *v;
    size_t n, cap;
    bool failed;
};

void samples_add(struct samples *s, uint64_t value);
/* The value that `percent` of the samples do not exceed (nearest rank); 0 without samples. Sorts them. */
uint64_t samples_percentile(struct samples *s, double percent);
void samples_clear(struct samples *s); /* keeps the memory */
void samples_finish(struct samples *s);
