/* SPDX-License-Identifier: MIT */
/* Dumps of anybody: a form of the report, by the file's size, is made of whatever can be read. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <aerogpu/blackbox.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    FILE *out = fopen("/dev/null", "w");
    int fd;

    snprintf(path, sizeof(path), "/dev/shm/dump_fuzz.%d", (int)getpid());
    fd = creat(path, 0600);
    if (out && fd >= 0 && write(fd, data, size) == (ssize_t)size)
        bb_report(path, (enum bb_report_format)(size % (BB_REPORT_PERFETTO + 1)), out, NULL);
    if (fd >= 0)
        close(fd);
    unlink(path);
    if (out)
        fclose(out);
    return 0;
}
