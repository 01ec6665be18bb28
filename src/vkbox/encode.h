/* SPDX-License-Identifier: MIT */
/* encode.h: how the arguments of a call are written into a record (gen.py); what hooks call. */
#pragma once

#include <stdint.h>
#include <string.h>

enum { VKBOX_TEXT_MAX = 60 }; /* gen.py's TEXT: what is longer ends in "…" */

/* What a VkWriteDescriptorSet of that VkDescriptorType names. */
static inline int names_images(int type)
{
    return (type >= 0 && type <= 3) || type == 10;
}

static inline int names_views(int type)
{
    return type == 4 || type == 5;
}

static inline int names_buffers(int type)
{
    return type >= 6 && type <= 9;
}

static inline uint32_t *put_u32(uint32_t *p, uint32_t v)
{
    *p = v;
    return p + 1;
}

static inline uint32_t *put_u64(uint32_t *p, uint64_t v)
{
    memcpy(p, &v, 8);
    return p + 2;
}

static inline uint32_t *put_f32(uint32_t *p, float v)
{
    memcpy(p, &v, 4);
    return p + 1;
}

static inline uint32_t *put_text(uint32_t *p, const char *s)
{
    static const char cut[] = "\u2026";
    const uint32_t all = s ? (uint32_t)strnlen(s, VKBOX_TEXT_MAX + 1) : 0,
                   more = all > VKBOX_TEXT_MAX ? sizeof(cut) - 1 : 0;
    uint32_t n = more ? VKBOX_TEXT_MAX - more : all;

    while (more && n && (s[n] & 0xC0) == 0x80) /* no character is cut */
        n--;
    *p = n + more;
    if (*p)
        p[(*p + 3) / 4] = 0;
    if (n)
        memcpy(p + 1, s, n);
    if (more)
        memcpy((char *)(p + 1) + n, cut, more);
    return p + 1 + (n + more + 3) / 4;
}
