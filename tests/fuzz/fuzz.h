/* SPDX-License-Identifier: MIT */
/* fuzz.h: a fuzz target's one function, and how it says that a promise is broken. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must_at(bool ok, const char *what, const char *file, int line)
{
    if (ok)
        return;
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, what);
    abort();
}

#define must(promise) must_at(promise, #promise, __FILE__, __LINE__)
