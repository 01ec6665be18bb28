/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

#include "base/strbuf.h"

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

void utf8_mend(char *text)
{
    size_t n = strlen(text), from = n;

    while (from && n - from < 4 && ((unsigned char)text[from - 1] & 0xC0) == 0x80)
        from--;
    if (from && (unsigned char)text[from - 1] >= 0xC0 && !utf8_length(text + from - 1, n - from + 1))
        text[from - 1] = '\0';
}

static const char CUT[] = "\u2026";
enum { CUT_SIZE = sizeof(CUT) - 1 };

size_t utf8_cut(char *out, size_t max, const char *text, size_t size)
{
    const bool fits = size < max;
    size_t n = fits ? size : max - 1 - CUT_SIZE;

    memcpy(out, text, n);
    out[n] = '\0';
    if (fits)
        return n;
    utf8_mend(out);
    n = strlen(out);
    memcpy(out + n, CUT, sizeof(CUT));
    return n + CUT_SIZE;
}

size_t utf8_path(char *out, size_t max, const char *path)
{
    const size_t size = strlen(path);
    const char *from = path + size - (size < max ? size : max - 1 - CUT_SIZE), *name = strchr(from, '/');

    if (size < max)
        return utf8_cut(out, max, path, size);
    if (!name) { /* the last one alone is too long */
        name = strrchr(path, '/');
        return utf8_cut(out, max, name ? name + 1 : path, strlen(name ? name + 1 : path));
    }
    memcpy(out, CUT, CUT_SIZE);
    strcpy(out + CUT_SIZE, name);
    return CUT_SIZE + strlen(name);
}

void utf8_one_line(char *text)
{
    while ((text = strpbrk(text, "\n\r\v\f")))
        *text++ = ' ';
}

uint32_t utf8_hidden(const char *text, size_t length)
{
    static const uint32_t ranges[][2] = {{0x01, 0x1F},     {0x7F, 0x9F},     {0x61C, 0x61C},
                                         {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
                                         {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
    const unsigned char *s = (const unsigned char *)text;
    uint32_t c = length < 2 ? s[0] : s[0] & (0x7Fu >> length);

    for (size_t i = 1; i < length; i++)
        c = c << 6 | (s[i] & 0x3F);
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return c;
    return 0;
}

void utf8_visible(struct strbuf *o, const char *text, size_t size, bool lines)
{
    uint32_t hidden;

    for (size_t i = 0, n; i < size; i += n ? n : 1) {
        n = utf8_length(text + i, size - i);
        hidden = n && !(lines && text[i] == '\n') ? utf8_hidden(text + i, n) : 0;
        if (!n)
            strbuf_puts(o, "…");
        else if (hidden)
            strbuf_printf(o, "<U+%04X>", hidden);
        else
            strbuf_append(o, text + i, n);
    }
}

void utf8_print(FILE *f, const char *fmt, ...)
{
    const size_t from = strspn(fmt, "\n"), all = strlen(fmt);
    size_t to = all;
    struct strbuf raw = {0}, text = {0};
    va_list ap;

    while (to > from && fmt[to - 1] == '\n')
        to--;
    va_start(ap, fmt);
    strbuf_vprintf(&raw, fmt, ap);
    va_end(ap);
    if (!strbuf_failed(&raw)) {
        strbuf_append(&text, fmt, from);
        utf8_visible(&text, strbuf_str(&raw) + from, raw.len - from - (all - to), false);
        strbuf_puts(&text, fmt + to);
    }
    fputs(strbuf_str(&text), f);
    strbuf_finish(&raw);
    strbuf_finish(&text);
}

void utf8_escape(char out[UTF8_ESCAPE], uint32_t c)
{
    if (c < 0x10000)
        snprintf(out, UTF8_ESCAPE, "\\u%04x", c & 0xFFFF);
    else
        snprintf(out, UTF8_ESCAPE, "\\u%04x\\u%04x", 0xD800 | ((c - 0x10000) >> 10 & 0x3FF),
                 0xDC00 | (c & 0x3FF));
}
