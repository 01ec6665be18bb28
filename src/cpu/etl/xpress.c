/* SPDX-License-Identifier: MIT */
#include "cpu/etl/xpress.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Lengths above 9 go on in a nibble, then a byte, a u16 and a u32. A nibble's byte is shared by two lengths.
 */
static bool long_length(const uint8_t **in, const uint8_t *end, const uint8_t **nibble, uint64_t *len)
{
    uint16_t half;
    uint32_t word;

    if (*nibble) {
        *len = **nibble >> 4;
        *nibble = NULL;
    } else {
        if (*in == end)
            return false;
        *nibble = *in;
        *len = *(*in)++ & 15;
    }
    if (*len < 15) {
        *len += 7;
        return true;
    }
    if (*in == end)
        return false;
    *len = *(*in)++;
    if (*len < 255) {
        *len += 15 + 7;
        return true;
    }
    if (end - *in < 2)
        return false;
    memcpy(&half, *in, 2);
    *in += 2;
    *len = le16toh(half);
    if (*len == 0) {
        if (end - *in < 4)
            return false;
        memcpy(&word, *in, 4);
        *in += 4;
        *len = le32toh(word);
    }
    return *len >= 15 + 7;
}

int cpu_xpress_unpack(const uint8_t *in, size_t size, uint8_t *out, size_t out_size, struct error *e)
{
    const uint8_t *const begin = in, *const end = in + size, *nibble = NULL;
    uint8_t *const out_begin = out, *const out_end = out + out_size;
    uint32_t flags = 0;
    int left = 0;

    while (out < out_end) {
        uint16_t match;
        uint64_t len;
        size_t distance;
        if (left == 0) {
            if (end - in < 4)
                return error_set(e, -EBADMSG,
                                 "XPRESS: the input ends at offset %zu, %zu of %zu bytes unpacked", size,
                                 (size_t)(out - out_begin), out_size);
            memcpy(&flags, in, 4);
            flags = le32toh(flags);
            in += 4;
            left = 32;
        }
        if (!(flags >> (left - 1) & 1)) {
            /* every zero bit up to the next one is a literal */
            const uint32_t rest = flags << (32 - left);
            size_t n = rest ? (size_t)__builtin_clz(rest) : (size_t)left;
            if (n > (size_t)(out_end - out))
                n = (size_t)(out_end - out);
            if (n > (size_t)(end - in))
                return error_set(e, -EBADMSG,
                                 "XPRESS: the input ends at offset %zu, %zu of %zu bytes unpacked", size,
                                 (size_t)(out - out_begin) + (size_t)(end - in), out_size);
            memcpy(out, in, n);
            out += n;
            in += n;
            left -= (int)n;
            continue;
        }
        left--;
        if (end - in < 2)
            return error_set(e, -EBADMSG, "XPRESS: the input ends at offset %zu, %zu of %zu bytes unpacked",
                             size, (size_t)(out - out_begin), out_size);
        memcpy(&match, in, 2);
        match = le16toh(match);
        in += 2;
        distance = (size_t)(match >> 3) + 1;
        len = match & 7;
        if (len == 7 && !long_length(&in, end, &nibble, &len))
            return error_set(e, -EBADMSG, "XPRESS: offset %zu: bad length of a match", (size_t)(in - begin));
        len += 3;
        if (distance > (size_t)(out - out_begin) || len > (size_t)(out_end - out))
            return error_set(
                e, -EBADMSG,
                "XPRESS: offset %zu: a match of %llu bytes from %zu bytes back leaves the output",
                (size_t)(in - begin), (unsigned long long)len, distance);
        if (distance >= len) {
            memcpy(out, out - distance, len);
            out += len;
        } else {
            for (; len; len--, out++)
                *out = out[-(ptrdiff_t)distance];
        }
    }
    return 0;
}
