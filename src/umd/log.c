/* SPDX-License-Identifier: MIT */
/* log.c: what the user-mode driver does, a line each, appended to the file that AEROGPU_UMD_LOG names: seconds of the clock, process,
 * text. Off without it. Processes may share a file: a line is written at once. */
#include "umd/priv.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The file, opened at the first line of the process; NULL: none. */
static FILE *file(void)
{
    static _Atomic(FILE *) opened;
    static atomic_bool tried;
    const char *path;

    if (!atomic_exchange(&tried, true) && (path = getenv("AEROGPU_UMD_LOG")) && *path) {
        FILE *f = fopen(path, "a");
        if (!f)
            perror(path);
        atomic_store(&opened, f);
    }
    return atomic_load(&opened);
}

void umd_log(const char *fmt, ...)
{
    FILE *f = file();
    char line[256];
    va_list ap;
    size_t n;

    if (!f)
        return;
    n = (size_t)snprintf(line, sizeof(line), "%.6f %d ", (double)umd_now() / 1e9, (int)getpid());
    va_start(ap, fmt);
    vsnprintf(line + n, sizeof(line) - n, fmt, ap);
    va_end(ap);
    fprintf(f, "%s\n", line);
    fflush(f);
}
