/* SPDX-License-Identifier: MIT */
#include "base/json_write.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/utf8.h"

void json_write_text(FILE *out, const char *s)
{
    putc_unlocked('"', out);
    while (*s) {
        const unsigned char c = (unsigned char)*s;
        const size_t n = utf8_length(s, 4);
        const uint32_t hidden = n ? utf8_hidden(s, n) : 0;
        char escape[UTF8_ESCAPE];

        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (hidden)
            fputs((utf8_escape(escape, hidden), escape), out);
        else if (n)
            fwrite(s, 1, n, out);
        else
            fputs("\\ufffd", out);
        s += n ? n : 1;
    }
    putc_unlocked('"', out);
}

static void item(struct json_writer *w, const char *key)
{
    const uint64_t bit = UINT64_C(1) << w->depth;

    assert(!w->depth || !key == !!(w->is_array & bit));
    if (w->has_items & bit)
        putc_unlocked(',', w->out);
    w->has_items |= bit;
    if (key) {
        json_write_text(w->out, key);
        putc_unlocked(':', w->out);
    }
}

static void begin(struct json_writer *w, const char *key, bool is_array)
{
    assert(w->depth < JSON_WRITE_DEPTH);
    item(w, key);
    putc_unlocked(is_array ? '[' : '{', w->out);
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
    putc_unlocked(w->is_array >> w->depth & 1 ? ']' : '}', w->out);
    w->depth--;
}

void json_write_string(struct json_writer *w, const char *key, const char *s)
{
    item(w, key);
    if (s)
        json_write_text(w->out, s);
    else
        fputs("null", w->out);
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
    fprintf(w->out, "%" PRIu64, v);
}

void json_write_signed(struct json_writer *w, const char *key, int64_t v)
{
    item(w, key);
    fprintf(w->out, "%" PRId64, v);
}

void json_write_real(struct json_writer *w, const char *key, double v)
{
    char text[32] = "null";

    item(w, key);
    for (int digits = 6; isfinite(v) && digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    fputs(text, w->out);
}

void json_write_thousandths(struct json_writer *w, const char *key, int64_t v)
{
    const uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;

    item(w, key);
    fprintf(w->out, "%s%" PRIu64 ".%03u", v < 0 ? "-" : "", size / 1000, (unsigned)(size % 1000));
}

void json_write_raw(struct json_writer *w, const char *key, const char *json)
{
    item(w, key);
    fputs(json, w->out);
}

void json_write_bool(struct json_writer *w, const char *key, bool v)
{
    item(w, key);
    fputs(v ? "true" : "false", w->out);
}

void json_write_null(struct json_writer *w, const char *key)
{
    json_write_string(w, key, NULL);
}
