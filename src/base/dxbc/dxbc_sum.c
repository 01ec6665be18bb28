/* SPDX-License-Identifier: MIT */
#include "base/dxbc/dxbc_sum.h"

#include <string.h>

#ifndef _WIN32
#include <nettle/md5.h>

#define compress nettle_md5_compress
#else
#include <math.h>

static uint32_t rotate(uint32_t v, unsigned n)
{
    return v << n | v >> (32 - n);
}

static void compress(uint32_t state[4], const uint8_t *block)
{
    static const uint8_t shift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], m[16];

    memcpy(m, block, sizeof(m));
    for (unsigned i = 0; i < 64; i++) {
        uint32_t k = (uint32_t)(int64_t)(fabs(sin(i + 1)) * 4294967296.0), f, t;
        unsigned g;

        if (i < 16) {
            f = (b & c) | (~b & d);
            g = i;
        } else if (i < 32) {
            f = (d & b) | (~d & c);
            g = (5 * i + 1) & 15;
        } else if (i < 48) {
            f = b ^ c ^ d;
            g = (3 * i + 5) & 15;
        } else {
            f = c ^ (b | ~d);
            g = (7 * i) & 15;
        }
        t = d;
        d = c;
        c = b;
        b += rotate(a + f + k + m[g], shift[i / 16][i & 3]);
        a = t;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}
#endif

/* The bit count opens the last block, and (bit count >> 2 | 1) closes it. */
void dxbc_sum(const void *bytes, size_t size, uint32_t sum[4])
{
    const uint8_t *p = (const uint8_t *)bytes + 20;
    size_t n = size - 20, tail = n % 64;
    uint32_t bits = (uint32_t)n * 8, last = (uint32_t)n * 2 | 1;
    uint8_t block[64] = {0};

    sum[0] = 0x67452301;
    sum[1] = 0xefcdab89;
    sum[2] = 0x98badcfe;
    sum[3] = 0x10325476;
    for (size_t i = 0; i + 64 <= n; i += 64)
        compress(sum, p + i);
    p += n - tail;
    if (tail >= 56) {
        memcpy(block, p, tail);
        block[tail] = 0x80;
        compress(sum, block);
        memset(block, 0, sizeof(block));
    } else {
        memcpy(block + 4, p, tail);
        block[4 + tail] = 0x80;
    }
    memcpy(block, &bits, 4);
    memcpy(block + 60, &last, 4);
    compress(sum, block);
}
