/* SPDX-License-Identifier: MIT */
/* marker.c: the words in BeginEvent and SetMarker, by the number in front of the bytes: 0 UTF-16, 1 a string; the others are words of 64
 * bits that WinPixEventRuntime writes, which begin with what stands in them.
 *
 *   2        [type from bit 10; 0x10: of a context] [colour] [context] [string: from bit 54 whether of bytes] string, arguments
 *   6345127  [from bit 12: 1 a context, 2 a string of bytes, 0xf0 a colour of its own] [colour] [context] string, arguments
 *
 * Arguments take the places that the string has for them, as with printf: a word each, floats as doubles, strings as above. */
#include "d3d12/gen/table.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

enum { UTF16, ANSI, PIX3, PIX3_V2 = 6345127 };

struct text {
    char *p;
    size_t n, room;
};

static void put_bytes(struct text *t, const char *s, size_t n)
{
    if (t->room - t->n < n)
        return;
    memcpy(t->p + t->n, s, n);
    t->n += n;
}

static void put(struct text *t, uint32_t c)
{
    char s[4];
    size_t n = 0;

    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd; /* none, or half of one */

    if (c < 0x80) {
        s[n++] = (char)c;
    } else if (c < 0x800) {
        s[n++] = (char)(0xc0 | c >> 6);
        s[n++] = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        s[n++] = (char)(0xe0 | c >> 12);
        s[n++] = (char)(0x80 | (c >> 6 & 63));
        s[n++] = (char)(0x80 | (c & 63));
    } else {
        s[n++] = (char)(0xf0 | c >> 18);
        s[n++] = (char)(0x80 | (c >> 12 & 63));
        s[n++] = (char)(0x80 | (c >> 6 & 63));
        s[n++] = (char)(0x80 | (c & 63));
    }
    put_bytes(t, s, n);
}

/* Up to its end, or that of the bytes; a character is of `width` bytes, of 1 it is taken as it is. */
static void string(struct text *t, struct bytes *in, unsigned width)
{
    while (!in->bad && bytes_left(in) >= width) {
        uint32_t c = 0;

        memcpy(&c, bytes_take(in, width), width);
        if (!c)
            return;
        if (width == 1) {
            put_bytes(t, (const char *)in->data + in->pos - 1, 1);
            continue;
        }
        if (width == 2 && c >= 0xd800 && c < 0xdc00 && bytes_left(in) >= 2) {
            uint16_t low;

            memcpy(&low, in->data + in->pos, 2);
            if (low >= 0xdc00 && low < 0xe000) {
                bytes_take(in, 2);
                c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
            }
        }
        put(t, c);
    }
}

/* To the next word of 64 bits. */
static void align(struct bytes *in)
{
    size_t over = in->pos % 8;

    if (over)
        bytes_take(in, 8 - over < bytes_left(in) ? 8 - over : bytes_left(in));
}

static void argument(struct text *t, struct bytes *in, char how)
{
    char s[48];
    uint64_t v = bytes_u64(in);
    double d;

    memcpy(&d, &v, 8);
    if (how == 's') {
        string(t, in, v >> 54 & 1 ? 1 : 2);
        align(in);
        return;
    }
    if (strchr("fFeEgGaA", how))
        snprintf(s, sizeof(s), "%g", d);
    else if (how == 'c')
        snprintf(s, sizeof(s), "%c", (char)v);
    else
        snprintf(s, sizeof(s),
                 how == 'd' || how == 'i'   ? "%lld"
                 : how == 'x' || how == 'X' ? "%llx"
                                            : "%llu",
                 (unsigned long long)v);
    for (const char *c = s; *c; c++)
        put(t, (uint8_t)*c);
}

/* The string with what stands behind it in its places. */
static size_t filled(struct bytes *in, unsigned width, char *out, size_t room)
{
    struct text t = {.p = out, .room = room}, format = {.p = (char[512]){0}, .room = 511};
    const char *c;

    string(&format, in, width);
    align(in);
    for (c = format.p; *c; c++) {
        const char *end = c + 1 + strspn(c + 1, "0123456789.+-# lhzjtI");

        if (*c == '%' && c[1] == '%') {
            put(&t, '%');
            c++;
        } else if (*c == '%' && *end && strchr("diuxXosScfFeEgGaAp", *end) && bytes_left(in) >= 8) {
            argument(&t, in, *end == 'S' ? 's' : *end);
            c = end;
        } else {
            put_bytes(&t, c, 1); /* of what is UTF-8 already */
        }
    }
    return t.n;
}

size_t d12_said(uint64_t kind, const uint8_t *bytes, size_t size, char *out, size_t room)
{
    struct text t = {.p = out, .room = room};
    struct bytes in = bytes_of(bytes, size);
    uint64_t first;
    uint32_t wide;

    switch (kind) {
    case UTF16: /* of a native program characters have 32 bits: two of 16 never make one of those */
        memcpy(&wide, size >= 4 ? bytes : (const uint8_t *)"\0\0\0", 4);
        string(&t, &in, size >= 4 && wide <= 0x10ffff ? 4 : 2);
        return t.n;
    case ANSI:
        string(&t, &in, 1);
        return t.n;
    case PIX3:
        first = bytes_u64(&in);
        bytes_u64(&in);
        if (first >> 10 & 0x10)
            bytes_u64(&in);
        first = bytes_u64(&in);
        return filled(&in, first >> 54 & 1 ? 1 : 2, out, room);
    case PIX3_V2:
        first = bytes_u64(&in) >> 12;
        if ((first & 0xf0) == 0xf0)
            bytes_u64(&in);
        if (first & 1)
            bytes_u64(&in);
        return filled(&in, first & 2 ? 1 : 2, out, room);
    default:
        return 0;
    }
}
