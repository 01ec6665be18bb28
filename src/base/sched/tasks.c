/* SPDX-License-Identifier: MIT */
#include "base/sched/tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Threads of a process of this user, by real user as the kernel counts them; 0 for anybody else's. */
static unsigned threads_of(const char *pid)
{
    char path[32], line[128];
    unsigned uid = ~0u, threads = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%.12s/status", pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "Uid: %u", &uid) != 1 && sscanf(line, "Threads: %u", &threads) == 1)
            break;
    fclose(f);
    return uid == getuid() ? threads : 0;
}

unsigned tasks_left(void)
{
    struct rlimit l;
    struct dirent *e;
    unsigned used = 0;
    DIR *d;

    if (getuid() == 0 || getrlimit(RLIMIT_NPROC, &l) || l.rlim_cur >= UINT_MAX || !(d = opendir("/proc")))
        return UINT_MAX;
    while ((e = readdir(d)))
        if (isdigit((unsigned char)e->d_name[0]))
            used += threads_of(e->d_name);
    closedir(d);
    return used < l.rlim_cur ? (unsigned)l.rlim_cur - used : 0;
}
