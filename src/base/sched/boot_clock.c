/* SPDX-License-Identifier: MIT */
#include "base/sched/boot_clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"

/* The first one's number is the kernel's (PROC_TIME_INIT_INO, include/linux/proc_ns.h). */
#define FIRST UINT64_C(0xEFFFFFFA)

/* The file has the offsets of the namespace that children will be in, by the clock's name or, in the first kernels, its number. */
static int64_t read_offset(void)
{
    FILE *f = fopen("/proc/self/timens_offsets", "re");
    int64_t offset = BOOT_CLOCK_UNKNOWN, seconds, ns;
    char line[128], clock[16];

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "%15s %" SCNd64 " %" SCNd64, clock, &seconds, &ns) == 3 &&
            (!strcmp(clock, "monotonic") || !strcmp(clock, "1")) && seconds > -INT32_MAX &&
            seconds < INT32_MAX)
            offset = seconds * (int64_t)NSEC_PER_SEC + ns;
    if (f)
        fclose(f);
    return offset;
}

int64_t boot_clock_offset(void)
{
    struct stat own, children, pid;

    if (stat("/proc/self/ns/time", &own)) /* kernels before 5.6 have none; without /proc nobody knows */
        return stat("/proc/self/ns/pid", &pid) ? BOOT_CLOCK_UNKNOWN : 0;
    if (own.st_ino == FIRST)
        return 0;
    if (stat("/proc/self/ns/time_for_children", &children) || children.st_ino != own.st_ino)
        return BOOT_CLOCK_UNKNOWN;
    return read_offset();
}

uint64_t boot_clock_now(void)
{
    const int64_t offset = boot_clock_offset();
    struct clock clock;

    clock_init_live(&clock);
    return clock_now(&clock) - (uint64_t)(offset == BOOT_CLOCK_UNKNOWN ? 0 : offset);
}

void boot_id(char out[40])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    out[0] = '\0';
    if (f && fgets(out, 40, f))
        out[strcspn(out, "\n")] = '\0';
    if (f)
        fclose(f);
}

void boot_clock_text(int64_t offset_ns, char out[24])
{
    if (offset_ns == BOOT_CLOCK_UNKNOWN)
        snprintf(out, 24, "not known");
    else
        snprintf(out, 24, "%" PRId64, offset_ns);
}
