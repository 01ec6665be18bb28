/* SPDX-License-Identifier: MIT */
/* drawn.h: numbers that are read from bytes; behind a header of Direct3D. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static struct {
    const uint8_t *at, *end;
} drawn;

static inline uint32_t next(void)
{
    return drawn.at < drawn.end ? *drawn.at++ : 0;
}

static inline uint32_t below(uint32_t n)
{
    return next() % n;
}

static inline bool rarely(void)
{
    return !below(16);
}

/* Small most of the time, and now and then what has all bits, one too many, or very large. */
static inline uint32_t number(void)
{
    static const uint32_t odd[] = {0,      1,       0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                                   0xFFFF, 0x10000, 16384,      16385,      4096};

    return rarely() ? odd[below(10)] : below(65);
}

static inline uint32_t one_of(const uint32_t *of, uint32_t n)
{
    return rarely() ? number() : of[below(n)];
}
#define ONE_OF(...)                                                                                          \
    one_of((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static inline float real(void)
{
    static const float reals[] = {0, 1, -1, 0.5f, 16, 64, 1e30f, -1e30f, 32768, -0.0f};
    const uint32_t nan = 0x7FC00000;
    float f;

    if (!rarely())
        return reals[below(10)];
    memcpy(&f, &nan, sizeof(f));
    return f;
}
