/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

size_t utf8_length(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
               : (s[0] & 0xF0) == 0xE0       ? 3
               : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                             : 0;

    if (!s[0] || !n || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF0 && s[1] < 0x90) ||
        (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return n;
}

size_t utf8_clean(char *out, size_t max, const char *text, size_t size)
{
    size_t len = 0, i = 0;

    while (i < size) {
        size_t n = utf8_length(text + i, size - i), put = n ? n : 3;

        if (put > max - len)
            break;
        if (out)
            memcpy(out + len, n ? text + i : "\xEF\xBF\xBD", put);
        len += put;
        i += n ? n : 1;
    }
    return len;
}
