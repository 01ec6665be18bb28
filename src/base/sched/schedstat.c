/* SPDX-License-Identifier: MIT */
#include "base/sched/schedstat.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

static bool add(const char *path, struct schedstat *out)
{
    unsigned long long ran, waited, turns;
    FILE *f = fopen(path, "re");
    bool ok = f && fscanf(f, "%llu %llu %llu", &ran, &waited, &turns) == 3;

    if (f)
        fclose(f);
    if (ok) {
        out->ran_ns += ran;
        out->waited_ns += waited;
        out->turns += turns;
    }
    return ok;
}

bool schedstat_read_thread(struct schedstat *out)
{
    *out = (struct schedstat){0};
    return add("/proc/thread-self/schedstat", out);
}

/* Calls fn(pid, its thread, ctx) for the threads that there are, the oldest first, until it says that these are enough. */
static void each_thread(pid_t pid, bool (*fn)(pid_t pid, pid_t tid, void *ctx), void *ctx)
{
    const struct dirent *e;
    char path[64];
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    while (dir && (e = readdir(dir)))
        if (e->d_name[0] != '.' && !fn(pid, (pid_t)strtol(e->d_name, NULL, 10), ctx))
            break;
    if (dir)
        closedir(dir);
}

static bool add_thread(pid_t pid, pid_t tid, struct schedstat *out)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    return add(path, out);
}

/* Whether the thread runs or is ready to. */
static bool is_ready(pid_t pid, pid_t tid)
{
    char path[64], text[128] = "";
    const char *name_end;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    f = fopen(path, "re");
    if (f && !fgets(text, sizeof(text), f))
        text[0] = 0;
    if (f)
        fclose(f);
    name_end = strrchr(text, ')'); /* a name may hold anything */
    return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

struct sum {
    struct schedstat *out;
    bool ready; /* is asked for */
    int n;
};

static bool add_to_sum(pid_t pid, pid_t tid, void *ctx)
{
    struct sum *s = ctx;

    s->n += add_thread(pid, tid, s->out);
    if (s->ready)
        s->out->ready |= is_ready(pid, tid);
    return s->n < MAX_THREADS;
}

static bool read_sum(pid_t pid, bool ready, struct schedstat *out)
{
    struct sum s = {out, ready, 0};

    *out = (struct schedstat){.pid = pid};
    each_thread(pid, add_to_sum, &s);
    return s.n > 0;
}

bool schedstat_read(pid_t pid, struct schedstat *out)
{
    return read_sum(pid, false, out);
}

uint64_t schedstat_starved(const struct schedstat *from, const struct schedstat *to, uint64_t elapsed_ns)
{
    uint64_t ran = to->ran_ns - from->ran_ns, waited = to->waited_ns - from->waited_ns, idle;

    if (to->pid != from->pid || to->ran_ns < from->ran_ns || to->waited_ns < from->waited_ns)
        return 0;
    if (!ran && to->turns == from->turns && to->ready)
        return elapsed_ns;
    idle = ran < elapsed_ns ? elapsed_ns - ran : 0;
    return waited < idle ? waited : idle;
}

uint64_t schedstat_slowed(const struct schedstat *from, const struct schedstat *to, uint64_t elapsed_ns,
                          unsigned processors)
{
    double ran = (double)(to->ran_ns - from->ran_ns), waited = (double)(to->waited_ns - from->waited_ns),
           elapsed = (double)elapsed_ns, fills, slowed;

    if (to->pid != from->pid || to->ran_ns < from->ran_ns || to->waited_ns < from->waited_ns || !elapsed_ns)
        return 0;
    fills = (ran + waited) / elapsed;
    fills = fills > processors ? processors : fills;
    slowed = elapsed - ran / (fills > 1 ? fills : 1);
    slowed = slowed < waited ? slowed : waited;
    return slowed > 0 ? (uint64_t)slowed : 0;
}

static bool add_served(pid_t pid, pid_t tid, void *ctx)
{
    struct schedlook *out = ctx;
    struct schedstat *s = &out->served[out->count];

    *s = (struct schedstat){.pid = tid};
    if (add_thread(pid, tid, s)) {
        s->ready = is_ready(pid, tid);
        out->count++;
    }
    return out->count < SCHEDLOOK_THREADS;
}

void schedlook_read(pid_t work, struct schedlook *out)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);

    out->processors = processors > 0 ? (unsigned)processors : 1;
    out->count = 0;
    each_thread(getpid(), add_served, out);
    if (!work || !read_sum(work, true, &out->work))
        out->work = (struct schedstat){0}; /* of nobody */
}

uint64_t schedlook_starved(const struct schedlook *from, const struct schedlook *to, uint64_t elapsed_ns)
{
    uint64_t most = schedstat_starved(&from->work, &to->work, elapsed_ns),
             slowed =
                 schedstat_slowed(&from->work, &to->work, elapsed_ns, to->processors ? to->processors : 1);

    most = slowed > most ? slowed : most;
    for (unsigned i = 0; i < to->count; i++)
        for (unsigned k = 0; k < from->count; k++)
            if (from->served[k].pid == to->served[i].pid) {
                uint64_t ns = schedstat_starved(&from->served[k], &to->served[i], elapsed_ns);
                most = ns > most ? ns : most;
            }
    return most;
}
