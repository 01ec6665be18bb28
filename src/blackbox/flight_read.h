/* SPDX-License-Identifier: MIT */
/* flight_read.h: the parser behind bb_flight_read, for tests and fuzzers. */
#pragma once

#include "blackbox/internal.h"

/* Returns how many events were given to `each`, or a negative errno. `data` is aligned as memory from malloc is. */
int64_t flight_parse(const void *data, size_t size, void (*each)(void *ctx, const struct bb_flight_record *r),
                     void *ctx, const char *path, struct error *e);
