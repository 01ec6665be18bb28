/* SPDX-License-Identifier: MIT */
/* trace_split.h: another order of a block's bytes, in which they compress better (wire.h, TRC_SPLIT). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "record/api.h"

#define SPLIT_BOUND(n) (2 * (n) + 64) /* what split_block() may need at most */

/* Size of what was written to `out`, or 0 if the block does not consist of whole records. */
size_t split_block(const struct api *api, const uint8_t *raw, size_t n, uint8_t *out);

/* Makes the `raw` bytes again, exactly `n` of them. 0, -ENOMEM, or -EBADMSG if `in` is malformed. */
int unsplit_block(const struct api *api, const uint8_t *in, size_t size, uint8_t *raw, size_t n);
