/* SPDX-License-Identifier: MIT */
/* fair.h: the shares of those who do not know each other in what there is a certain number of. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether who has `mine` of `total`, of which all together have `used`, may have `more`: yes while he has no more then than is left
 * to the others. Who is alone gets half; who comes after n that took what they could, at least total / 2^(n + 1). */
static inline bool fair_share(uint64_t mine, uint64_t more, uint64_t used, uint64_t total)
{
    return used <= total && more <= total - used && mine + more <= total - used - more;
}
