/* SPDX-License-Identifier: MIT */
/* dxbc_sum.h: the checksum of a DXBC container, for all who make or compare one, also for Windows. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What belongs at offset 4 of a container of `size` bytes (at least 20): MD5's compression of what follows, with a padding of its
 * own. */
void dxbc_sum(const void *bytes, size_t size, uint32_t sum[4]);
