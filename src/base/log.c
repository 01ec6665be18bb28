/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

static atomic_int current = -1, destination = STDERR_FILENO;

enum log_level log_level(void)
{
    static const char *const names[] = {"none", "error", "warn", "info", "debug"};
    int level = atomic_load_explicit(&current, memory_order_relaxed);

    if (level < 0) {
        const char *s = getenv("AEROGPU_LOG");
        level = LOG_WARN;
        for (int i = LOG_NONE; s && i <= LOG_DEBUG; i++)
            if (!strcmp(s, names[i]))
                level = i;
        atomic_store_explicit(&current, level, memory_order_relaxed);
    }
    return (enum log_level)level;
}

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&current, (int)level, memory_order_relaxed);
}

void log_to(int fd)
{
    atomic_store_explicit(&destination, fd, memory_order_relaxed);
}

void log_line(enum log_level level, const char *component, const char *fmt, ...)
{
    char buf[LINE_BYTES];
    va_list ap;
    int n, k;

    if (level > log_level())
        return;
    n = snprintf(buf, sizeof(buf), "aerogpu: %s: %s", component, level == LOG_ERROR ? "error: " : "");
    va_start(ap, fmt);
    k = vsnprintf(buf + n, sizeof(buf) - (size_t)n - 1, fmt, ap);
    va_end(ap);
    if (k < 0)
        return;
    n += k;
    if ((size_t)n > sizeof(buf) - 2)
        n = (int)sizeof(buf) - 2;
    for (int i = 0; i < n; i++) /* names come from anywhere, and end no line */
        if ((unsigned char)buf[i] < 0x20 || buf[i] == 0x7f)
            buf[i] = '?';
    buf[n++] = '\n';
    log_put(atomic_load_explicit(&destination, memory_order_relaxed), buf, (size_t)n);
}
