/* SPDX-License-Identifier: MIT */
/* fair.h: the shares of those who do not know each other in what there is a certain number of. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether who has `mine` of `total`, of which all together have `used`, may have `more`: what is there, as long as he has little
 * then, a 64th; and while he has no more then than is left to the others but for a quarter. So who is alone gets three eighths,
 * who comes after n that took what they could 3/4 of total / 2^(n + 1), and the last quarter is for 16 who find nothing else. */
static inline bool fair_share(uint64_t mine, uint64_t more, uint64_t used, uint64_t total)
{
    const uint64_t little = total / 64 ? total / 64 : 1, kept = total / 4,
                   left = used <= total && more <= total - used ? total - used - more : 0;
    const bool fits = !more || (used <= total && more <= total - used);

    return fits && (mine + more <= little || (left >= kept && mine + more <= left - kept));
}
