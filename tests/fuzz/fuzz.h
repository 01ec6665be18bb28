/* SPDX-License-Identifier: MIT */
/* fuzz.h: a fuzz target's one function, and how it says that a promise is broken. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool ok)
{
    if (!ok)
        abort();
}
