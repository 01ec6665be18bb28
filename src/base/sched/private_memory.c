/* SPDX-License-Identifier: MIT */
#include "base/sched/private_memory.h"

#include <stdio.h>
#include <unistd.h>

uint64_t private_memory_of(pid_t pid)
{
    unsigned long long kib, sum = 0;
    char path[32], line[128];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "RssAnon: %llu", &kib) == 1 || sscanf(line, "VmSwap: %llu", &kib) == 1)
            sum += kib;
    if (f)
        fclose(f);
    return sum << 10;
}

uint64_t private_memory_of_machine(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}
