/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *e, int code, const char *fmt, ...)
{
    if (e && !e->code) {
        va_list ap;
        e->code = code;
        va_start(ap, fmt);
        vsnprintf(e->text, sizeof(e->text), fmt, ap);
        va_end(ap);
    }
    return code;
}

void error_prefix(struct error *e, const char *fmt, ...)
{
    char old[sizeof(e->text)];
    va_list ap;
    int n;

    if (!e || !e->code)
        return;
    memcpy(old, e->text, sizeof(old));
    va_start(ap, fmt);
    n = vsnprintf(e->text, sizeof(e->text), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof(e->text))
        snprintf(e->text + n, sizeof(e->text) - (size_t)n, ": %s", old);
}
