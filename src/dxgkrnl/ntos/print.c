/* SPDX-License-Identifier: MIT */
/* print.c: see print.h. Each conversion goes to snprintf with its length spelled out. */
#include "dxgkrnl/ntos/print.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "wddm/ntdef.h"

struct sink {
    char *out;
    size_t size, length;
};

/* One conversion: flags, width and precision as they stand, without `*`. */
struct conversion {
    char flags[24];
    int precision; /* -1: none */
    char length;   /* 'h', 'l' (32 bits), 'L' (64), 'w' (wide), 'I' (a pointer's), 0 */
    char kind;
};

static void put(struct sink *s, char c)
{
    if (s->length + 1 < s->size)
        s->out[s->length] = c;
    s->length++;
}

static void put_utf8(struct sink *s, unsigned c)
{
    if (c < 0x80) {
        put(s, (char)c);
    } else if (c < 0x800) {
        put(s, (char)(0xC0 | c >> 6));
        put(s, (char)(0x80 | (c & 0x3F)));
    } else {
        put(s, (char)(0xE0 | c >> 12));
        put(s, (char)(0x80 | (c >> 6 & 0x3F)));
        put(s, (char)(0x80 | (c & 0x3F)));
    }
}

static void put_text(struct sink *s, const char *text, int precision)
{
    if (!text)
        text = "(null)";
    for (int i = 0; text[i] && (precision < 0 || i < precision); i++)
        put(s, text[i]);
}

static void put_wide(struct sink *s, PCWSTR text, int precision)
{
    if (!text) {
        put_text(s, NULL, precision);
        return;
    }
    for (int i = 0; (precision < 0 && text[i]) || i < precision; i++)
        put_utf8(s, text[i]);
}

static void put_number(struct sink *s, const struct conversion *c, uint64_t value)
{
    char format[40], text[80];
    int n;

    if (c->kind == 'd' || c->kind == 'i') /* as wide as the argument is, with its sign */
        value = (uint64_t)(c->length == 'L'   ? (int64_t)value
                           : c->length == 'h' ? (int16_t)value
                                              : (int32_t)value);
    else if (c->length != 'L' && c->kind != 'p')
        value = c->length == 'h' ? (uint16_t)value : (uint32_t)value;
    if (c->kind == 'p')
        n = snprintf(text, sizeof(text), "%016llX", (unsigned long long)value);
    else {
        snprintf(format, sizeof(format), "%%%sll%c", c->flags, c->kind);
        n = snprintf(text, sizeof(text), format, (unsigned long long)value);
    }
    for (int i = 0; i < n && text[i] && i < (int)sizeof(text) - 1; i++)
        put(s, text[i]);
}

static const char *parse_length(const char *f, struct conversion *c)
{
    if (!strncmp(f, "I64", 3) || !strncmp(f, "I32", 3)) {
        c->length = f[1] == '6' ? 'L' : 'l';
        return f + 3;
    }
    if (*f == 'l' && f[1] == 'l') {
        c->length = 'L';
        return f + 2;
    }
    if (*f == 'I' || *f == 'z') { /* as wide as a pointer */
        c->length = 'L';
        return f + 1;
    }
    if (*f == 'h' || *f == 'l' || *f == 'w')
        c->length = *f++;
    return f;
}

/* What stands between `%` and the kind, with the numbers that `*` stands for. Returns behind the kind. */
static const char *parse(const char *f, struct conversion *c, ms_va_list *ap)
{
    size_t n = 0;
    bool precision = false;

    *c = (struct conversion){.precision = -1};
    while (*f && strchr("-+ #0123456789.*", *f)) {
        char digits[12];
        int taken = *f == '*' ? snprintf(digits, sizeof(digits), "%d", __builtin_va_arg(*ap, int))
                              : snprintf(digits, sizeof(digits), "%c", *f);
        if (*f == '.') {
            precision = true;
            c->precision = 0;
        } else if (precision) {
            for (int i = 0; i < taken && c->precision < 1000; i++)
                c->precision =
                    digits[i] >= '0' && digits[i] <= '9' ? 10 * c->precision + digits[i] - '0' : -1;
        }
        if (n + (size_t)taken < sizeof(c->flags)) {
            memcpy(c->flags + n, digits, (size_t)taken);
            n += (size_t)taken;
        }
        f++;
    }
    f = parse_length(f, c);
    c->kind = *f;
    return *f ? f + 1 : f;
}

bool dxgk_print_is_wide(const char *format)
{
    while ((format = strchr(format, '%'))) {
        struct conversion c = {0};
        format++;
        format = parse_length(format + strspn(format, "-+ #0123456789.*"), &c);
        c.kind = *format;
        if (c.kind == 'C' || c.kind == 'S' ||
            (strchr("csZ", c.kind) && c.kind && (c.length == 'w' || (c.length == 'l' && c.kind != 'Z'))))
            return true;
        format += *format != '\0';
    }
    return false;
}

size_t dxgk_print(char *out, size_t size, const char *format, ms_va_list list)
{
    struct sink s = {.out = out, .size = size};
    struct conversion c;

    while (*format) {
        uint64_t value;
        if (*format != '%') {
            put(&s, *format++);
            continue;
        }
        if (format[1] == '%') {
            put(&s, '%');
            format += 2;
            continue;
        }
        format = parse(format + 1, &c, &list);
        if (!c.kind)
            break;
        value = __builtin_va_arg(list, uint64_t);
        if (strchr("diuxXop", c.kind))
            put_number(&s, &c, value);
        else if (c.kind == 'c' || c.kind == 'C')
            put_utf8(&s, (uint16_t)value);
        else if (c.kind == 'Z' && value && c.length == 'w')
            put_wide(&s, ((PCUNICODE_STRING)value)->Buffer, ((PCUNICODE_STRING)value)->Length / 2);
        else if (c.kind == 'Z' && value)
            put_text(&s, (const char *)((PCUNICODE_STRING)value)->Buffer, ((PCUNICODE_STRING)value)->Length);
        else if (c.kind == 'S' || (c.kind == 's' && (c.length == 'l' || c.length == 'w')))
            put_wide(&s, (PCWSTR)value, c.precision);
        else if (c.kind == 's' || c.kind == 'Z')
            put_text(&s, (const char *)value, c.precision);
        else
            put_text(&s, "?", -1); /* floating point among them */
    }
    out[s.length < size ? s.length : size - 1] = '\0';
    return s.length;
}
