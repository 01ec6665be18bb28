/* SPDX-License-Identifier: MIT */
/* strbuf.h: text that grows. Zero-initialised is empty; after a failed allocation every further call is a no-op and
 * strbuf_failed() is true, so callers check once at the end. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *data; /* NUL-terminated, NULL while empty */
    size_t len, cap;
    bool failed;
};

void strbuf_append(struct strbuf *b, const char *bytes, size_t n);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* The shortest decimal number that reads back as the same float. */
void strbuf_float(struct strbuf *b, float value);
void strbuf_clear(struct strbuf *b); /* empties, keeps the memory */
void strbuf_finish(struct strbuf *b);

static inline const char *strbuf_str(const struct strbuf *b)
{
    return b->data ? b->data : "";
}

static inline bool strbuf_failed(const struct strbuf *b)
{
    return b->failed;
}
