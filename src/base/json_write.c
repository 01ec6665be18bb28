/* SPDX-License-Identifier: MIT */
#include "base/json_write.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static void put(struct json_writer *w, const char *s, size_t n)
{
    if (w->text)
        strbuf_append(w->text, s, n);
    else
        fwrite_unlocked(s, 1, n, w->out);
}

static void put_char(struct json_writer *w, char c)
{
    if (w->text)
        strbuf_append(w->text, &c, 1);
    else
        putc_unlocked(c, w->out);
}

static void put_text(struct json_writer *w, const char *s, size_t size)
{
    const char *end = s + size;

    put_char(w, '"');
    while (s < end) {
        const char *plain = s;
        uint32_t hidden;
        char escape[UTF8_ESCAPE];
        size_t n;

        while (s < end && *s >= 0x20 && *s < 0x7f && *s != '"' && *s != '\\')
            s++;
        put(w, plain, (size_t)(s - plain));
        if (s == end)
            break;
        n = utf8_length(s, (size_t)(end - s));
        hidden = n ? utf8_hidden(s, n) : *s ? 0xfffd : 0;
        if (*s == '"' || *s == '\\')
            put_char(w, '\\');
        if (hidden || !n) {
            utf8_escape(escape, hidden);
            put(w, escape, strlen(escape));
        } else {
            put(w, s, n);
        }
        s += n ? n : 1;
    }
    put_char(w, '"');
}

static void put_number(struct json_writer *w, uint64_t v)
{
    char s[24], *p = s + sizeof(s);

    do {
        *--p = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    put(w, p, (size_t)(s + sizeof(s) - p));
}

static void item(struct json_writer *w, const char *key)
{
    const uint64_t bit = UINT64_C(1) << w->depth;

    assert(!w->depth || !key == json_write_in_array(w));
    if (w->has_items & bit)
        put_char(w, ',');
    w->has_items |= bit;
    if (key) {
        put_text(w, key, strlen(key));
        put_char(w, ':');
    }
}

static void begin(struct json_writer *w, const char *key, bool is_array)
{
    assert(w->depth < JSON_WRITE_DEPTH);
    item(w, key);
    put_char(w, is_array ? '[' : '{');
    w->depth++;
    w->is_array &= ~(UINT64_C(1) << w->depth);
    w->is_array |= (uint64_t)is_array << w->depth;
    w->has_items &= ~(UINT64_C(1) << w->depth);
}

void json_write_object(struct json_writer *w, const char *key)
{
    begin(w, key, false);
}

void json_write_array(struct json_writer *w, const char *key)
{
    begin(w, key, true);
}

void json_write_end(struct json_writer *w)
{
    assert(w->depth > 0);
    put_char(w, json_write_in_array(w) ? ']' : '}');
    w->depth--;
}

void json_write_string(struct json_writer *w, const char *key, const char *s)
{
    json_write_bytes(w, key, s, s ? strlen(s) : 0);
}

void json_write_bytes(struct json_writer *w, const char *key, const char *s, size_t size)
{
    if (!s) {
        json_write_null(w, key);
        return;
    }
    item(w, key);
    put_text(w, s, size);
}

void json_write_format(struct json_writer *w, const char *key, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    json_write_string(w, key, text);
}

void json_write_unsigned(struct json_writer *w, const char *key, uint64_t v)
{
    item(w, key);
    put_number(w, v);
}

void json_write_signed(struct json_writer *w, const char *key, int64_t v)
{
    item(w, key);
    if (v < 0)
        put_char(w, '-');
    put_number(w, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void json_write_real(struct json_writer *w, const char *key, double v)
{
    char text[32] = "null";

    for (int digits = 6; isfinite(v) && digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    json_write_raw(w, key, text);
}

void json_write_thousandths(struct json_writer *w, const char *key, int64_t v)
{
    const uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;
    char rest[5];

    item(w, key);
    if (v < 0)
        put_char(w, '-');
    put_number(w, size / 1000);
    snprintf(rest, sizeof(rest), ".%03u", (unsigned)(size % 1000));
    put(w, rest, strlen(rest));
}

void json_write_raw(struct json_writer *w, const char *key, const char *json)
{
    item(w, key);
    put(w, json, strlen(json));
}

void json_write_bool(struct json_writer *w, const char *key, bool v)
{
    json_write_raw(w, key, v ? "true" : "false");
}

void json_write_null(struct json_writer *w, const char *key)
{
    json_write_raw(w, key, "null");
}
