/* SPDX-License-Identifier: MIT */
/* drawn.h: numbers, and objects that were made before, as bytes say; behind a header of Direct3D. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MOST_KINDS = 32, EACH = 4 };

static struct {
    const uint8_t *at, *end;
    IUnknown *objects[MOST_KINDS][EACH];
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

/* An object of a kind, or none. */
static inline void *object(unsigned kind)
{
    const uint32_t i = below(EACH + 1);

    return i < EACH ? drawn.objects[kind][i] : NULL;
}

static inline void replace(IUnknown **o, void *made)
{
    if (*o)
        IUnknown_Release(*o);
    *o = made;
}

/* Where a new object goes; what was there is given back. */
static inline void put(unsigned kind, void *made)
{
    IUnknown **o = &drawn.objects[kind][below(EACH)];

    if (made)
        replace(o, made);
}

/* One object fewer; what is bound stays. */
static inline void drop_one(unsigned kind)
{
    replace(&drawn.objects[kind][below(EACH)], NULL);
}

static inline void drop_all(void)
{
    for (int k = 0; k < MOST_KINDS; k++)
        for (int i = 0; i < EACH; i++)
            replace(&drawn.objects[k][i], NULL);
}
