/* SPDX-License-Identifier: MIT */
/* log_put.c: the log inside of a Windows program goes where that program's standard error goes, as it comes. */
#include "base/log.h"

#include <io.h>

void log_put(int fd, const char *line, size_t bytes)
{
    if (write(fd, line, (unsigned)bytes) < 0)
        return; /* nobody is left to tell */
}
