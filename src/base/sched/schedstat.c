/* SPDX-License-Identifier: MIT */
#include "base/sched/schedstat.h"

#include <dirent.h>
#include <stdio.h>

enum { MAX_THREADS = 64 };

static bool add(const char *path, struct schedstat *out)
{
    unsigned long long ran, waited;
    FILE *f = fopen(path, "re");
    bool ok = f && fscanf(f, "%llu %llu", &ran, &waited) == 2;

    if (f)
        fclose(f);
    if (ok) {
        out->ran_ns += ran;
        out->waited_ns += waited;
    }
    return ok;
}

bool schedstat_read_thread(struct schedstat *out)
{
    *out = (struct schedstat){0};
    return add("/proc/thread-self/schedstat", out);
}

bool schedstat_read(pid_t pid, struct schedstat *out)
{
    const struct dirent *e;
    char path[64];
    int n = 0;
    DIR *dir;

    *out = (struct schedstat){.pid = pid};
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    while (dir && n < MAX_THREADS && (e = readdir(dir))) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%.12s/schedstat", (int)pid, e->d_name);
        n += add(path, out);
    }
    if (dir)
        closedir(dir);
    return n > 0;
}

uint64_t schedstat_starved(const struct schedstat *from, const struct schedstat *to, uint64_t elapsed_ns)
{
    uint64_t ran = to->ran_ns - from->ran_ns, waited = to->waited_ns - from->waited_ns, idle;

    if (to->pid != from->pid || to->ran_ns < from->ran_ns || to->waited_ns < from->waited_ns)
        return 0;
    idle = ran < elapsed_ns ? elapsed_ns - ran : 0;
    return waited < idle ? waited : idle;
}
