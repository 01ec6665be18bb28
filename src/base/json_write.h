/* SPDX-License-Identifier: MIT */
/* json_write.h: JSON onto a stream or into a text, for what is too large to be held as a tree (jansson is for what is not).
 *
 *     struct json_writer w = json_writer(stdout);
 *     json_write_object(&w, NULL);
 *     json_write_string(&w, "name", "triangle");
 *     json_write_array(&w, "frames");
 *     json_write_unsigned(&w, NULL, 7);
 *     json_write_end(&w);
 *     json_write_end(&w);
 *
 * 1. Members of objects have a key, those of arrays have none (NULL).
 * 2. What comes out can be parsed, whatever the bytes of the strings are: control characters are escaped, and bytes that
 *    are not UTF-8 become U+FFFD. Numbers that JSON does not have (infinities, not-a-number) become null.
 * 3. Errors are the stream's or the text's: ferror() or strbuf_failed() at the end tells.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/strbuf.h"

#define JSON_WRITE_DEPTH 63 /* objects and arrays in one another */

struct json_writer {
    FILE *out;
    struct strbuf *text; /* one of the two */
    unsigned depth;
    uint64_t is_array; /* a bit per depth */
    uint64_t has_items;
};

static inline struct json_writer json_writer(FILE *out)
{
    return (struct json_writer){.out = out};
}

/* Appends to `text`, which stays the caller's. */
static inline struct json_writer json_writer_text(struct strbuf *text)
{
    return (struct json_writer){.text = text};
}

/* Whether what comes next is an element of an array, and has no key. */
static inline bool json_write_in_array(const struct json_writer *w)
{
    return w->is_array >> w->depth & 1;
}

void json_write_object(struct json_writer *w, const char *key);
void json_write_array(struct json_writer *w, const char *key);
void json_write_end(struct json_writer *w);

void json_write_string(struct json_writer *w, const char *key, const char *s); /* NULL: null */
/* `size` bytes, which may be NUL among others; NULL: null. */
void json_write_bytes(struct json_writer *w, const char *key, const char *s, size_t size);
void json_write_format(struct json_writer *w, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4))); /* a string of at most 1,023 bytes */
void json_write_unsigned(struct json_writer *w, const char *key, uint64_t v);
void json_write_signed(struct json_writer *w, const char *key, int64_t v);
void json_write_real(struct json_writer *w, const char *key, double v); /* as short as reads back the same */
void json_write_thousandths(struct json_writer *w, const char *key,
                            int64_t v); /* 1234567 as 1234.567, exactly */
void json_write_raw(struct json_writer *w, const char *key,
                    const char *json); /* JSON that somebody else wrote */
void json_write_bool(struct json_writer *w, const char *key, bool v);
void json_write_null(struct json_writer *w, const char *key);
