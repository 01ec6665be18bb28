/* SPDX-License-Identifier: MIT */
/* xpress.h: XPRESS, the plain LZ77 form of [MS-XCA] 2.4, as compressed ETL buffers use it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Unpacks `size` bytes into exactly `out_size`. 0, or -EBADMSG with the offset in the packed bytes. */
int cpu_xpress_unpack(const uint8_t *in, size_t size, uint8_t *out, size_t out_size, struct error *e);
