/* SPDX-License-Identifier: MIT */
#include "base/sched/pid_namespace.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

/* The first one's number is the kernel's (PROC_PID_INIT_INO, include/linux/proc_ns.h). */
#define FIRST UINT64_C(0xEFFFFFFC)

uint64_t pid_namespace(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) ? 0 : (uint64_t)st.st_ino;
}

void pid_namespace_text(uint64_t number, char out[32])
{
    out[0] = '\0';
    if (number == FIRST)
        snprintf(out, 32, "system");
    else if (number)
        snprintf(out, 32, "own %" PRIu64, number);
}
