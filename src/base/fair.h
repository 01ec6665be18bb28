/* SPDX-License-Identifier: MIT */
/* fair.h: the shares of those who do not know each other in what there is a certain number of. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What those who share leave, however many they are: a 16th, or one of few. Who need not share finds that much. */
static inline uint64_t fair_reserve(uint64_t total)
{
    return total / 16 ? total / 16 : total > 1;
}

/* Whether who has `mine` of `total`, of which all together have `used`, may have `more`: what is there but for the reserve, as long as he
 * has little then, a 64th; and while he has no more then than is left to the others but for a quarter. So who is alone gets 11/32, who
 * comes after n that took what they could 11/16 of total / 2^(n + 1), and the quarter is for 16 who find nothing else. */
static inline bool fair_share(uint64_t mine, uint64_t more, uint64_t used, uint64_t total)
{
    const uint64_t little = total / 64 ? total / 64 : 1, kept = total / 4,
                   shared = total - fair_reserve(total),
                   left = used <= shared && more <= shared - used ? shared - used - more : 0;
    const bool fits = !more || (used <= shared && more <= shared - used);

    return fits && (mine + more <= little || (left >= kept && mine + more <= left - kept));
}
