/* SPDX-License-Identifier: MIT */
/* host.c: the host's processors around a crash: what a hang looks like that is none, because nobody let the device run. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sched/schedstat.h"
#include "watch/priv.h"

enum {
    MAX_THREADS = 64,
    TICKS_NS = 20000000, /* in less the counters may not have moved */
    NO_EXECUTOR_NS = 500000000
};

/* The number behind `key` in a file of lines "key number"; -1 if there is none. */
static double number_in(const char *path, const char *key)
{
    FILE *f = fopen(path, "re");
    size_t n = strlen(key);
    char line[256];
    double v = -1;

    while (f && v < 0 && fgets(line, sizeof(line), f))
        if (!strncmp(line, key, n) && (line[n] == ' ' || line[n] == ':' || line[n] == '\t'))
            v = strtod(line + n + 1, NULL);
    if (f)
        fclose(f);
    return v;
}

static size_t read_text(const char *path, char *text, size_t cap)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, cap - 1, f) : 0;

    if (f)
        fclose(f);
    text[n] = '\0';
    return n;
}

/* Its threads one by one: a debugger may hold one of them, and the kernel counts the time that a thread waits for a processor only
 * when it gets one. */
static void executor_thread(struct host_sample *s, int pid, const char *tid, int *stopped)
{
    char path[64], text[512];
    const char *state;

    snprintf(path, sizeof(path), "/proc/%d/task/%.12s/stat", pid, tid);
    read_text(path, text, sizeof(text));
    state = strrchr(text, ')'); /* a name may hold anything */
    if (!state || state[1] != ' ')
        return;
    s->wants |= state[2] == 'R';
    s->blocked |= state[2] == 'D';
    *stopped += state[2] == 't' || state[2] == 'T';
    if (state[2] == 't') {
        s->stop = WATCH_STOP_TRACED;
        snprintf(path, sizeof(path), "/proc/%d/task/%.12s/status", pid, tid);
        s->tracer = (int)number_in(path, "TracerPid");
    } else if (state[2] == 'T' && !s->stop) {
        s->stop = WATCH_STOP_SIGNAL;
    }
}

static void executor_threads(struct host_sample *s, int pid)
{
    char path[64];
    struct dirent *d;
    int n = 0, stopped = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    dir = opendir(path);
    while (dir && n < MAX_THREADS && (d = readdir(dir)))
        if (d->d_name[0] != '.') {
            executor_thread(s, pid, d->d_name, &stopped);
            n++;
        }
    if (dir)
        closedir(dir);
    s->blocked &= !s->wants;
    s->partly = stopped < n;
}

/* Both versions of the freezer; a group is frozen when one above it is. */
static bool is_frozen(int pid)
{
    char path[64], line[512], file[640], state[32] = "";
    bool frozen = false;
    FILE *f, *g;

    snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
    f = fopen(path, "re");
    while (f && !frozen && fgets(line, sizeof(line), f)) {
        char *group = strchr(line, ':');

        line[strcspn(line, "\n")] = '\0';
        if (!group)
            continue;
        if (!strncmp(group, "::", 2)) {
            snprintf(file, sizeof(file), "/sys/fs/cgroup%s/cgroup.events", group + 2);
            frozen = number_in(file, "frozen") == 1;
        } else if (!strncmp(group, ":freezer:", 9)) {
            snprintf(file, sizeof(file), "/sys/fs/cgroup/freezer%s/freezer.state", group + 9);
            g = fopen(file, "re");
            frozen = g && fgets(state, sizeof(state), g) && !strncmp(state, "FROZEN", 6);
            if (g)
                fclose(g);
        }
    }
    if (f)
        fclose(f);
    return frozen;
}

static void executor_state(struct host_sample *s, int pid)
{
    char path[64];
    double pages = -1;
    FILE *f;

    if (!s->stop && is_frozen(pid)) {
        s->stop = WATCH_STOP_FROZEN;
        s->partly = false;
    }
    snprintf(path, sizeof(path), "/proc/%d/statm", pid);
    f = fopen(path, "re");
    if (f && fscanf(f, "%*u %lf", &pages) == 1)
        s->executor_mib = pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
    if (f)
        fclose(f);
}

void watch_host_sample(struct host_sample *s, uint64_t now, int pid)
{
    double v[8], tick = (double)sysconf(_SC_CLK_TCK);
    FILE *f = fopen("/proc/stat", "re");
    char line[512];

    *s = (struct host_sample){.time_ns = now, .executor_mib = -1};
    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
                   &v[6], &v[7]) == 8) {
            s->user = (v[0] + v[1]) / tick;
            s->system = (v[2] + v[5] + v[6]) / tick;
            s->idle = v[3] / tick;
            s->iowait = v[4] / tick;
            s->steal = v[7] / tick;
        } else if (sscanf(line, "procs_running %lf", &v[0]) == 1) {
            s->running = (uint32_t)v[0];
        }
    }
    if (f)
        fclose(f);
    s->executor_pid = pid;
    s->executor_cpu = s->executor_wait = pid ? 0 : -1;
    s->available_mib = number_in("/proc/meminfo", "MemAvailable") / 1024;
    s->oom_kills = (uint64_t)fmax(number_in("/proc/vmstat", "oom_kill"), 0);
    if (pid) {
        struct schedstat t;
        bool known = schedstat_read(pid, &t);
        s->executor_cpu = known ? (double)t.ran_ns / 1e9 : -1;
        s->executor_wait = known ? (double)t.waited_ns / 1e9 : -1;
        snprintf(line, sizeof(line), "/proc/%d/status", pid);
        s->tracer = (int)fmax(number_in(line, "TracerPid"), 0);
        executor_threads(s, pid);
        executor_state(s, pid);
    }
}

/* ---- what only looks like a hang ---------------------------------------- */

/* The time between two samples in which the executor was kept from what it wanted, and no counter says so yet: it wanted a processor
 * at the end and had used none; or it was blocked at both ends (by a disk or for memory) where its processors are the GPU, since a
 * driver blocks for its device as well. */
static double kept_between(const struct host_sample *a, const struct host_sample *b, bool in_order)
{
    const double span = (double)(b->time_ns - a->time_ns) / 1e9,
                 used = b->executor_cpu + b->executor_wait - a->executor_cpu - a->executor_wait;

    if (a->executor_pid != b->executor_pid || a->executor_cpu < 0 || b->executor_cpu < 0 ||
        b->time_ns < a->time_ns + TICKS_NS || used < 0 || used >= 0.05 * span)
        return 0;
    return b->wants || (in_order && a->blocked && b->blocked) ? span : 0;
}

/* What its threads did between two samples. The sums are of the threads that there are: where one has ended between they lack it, and
 * what the others did is in none of them. Then nobody knows, and it is not counted as time that it had. Another executor has
 * had all that it has. */
static void used_between(const struct host_sample *a, const struct host_sample *b, double *ran,
                         double *waited)
{
    const bool same = a->executor_pid == b->executor_pid && a->executor_cpu >= 0;
    const double cpu = b->executor_cpu - (same ? a->executor_cpu : 0),
                 wait = b->executor_wait - (same ? a->executor_wait : 0);

    if (b->executor_cpu < 0)
        return;
    if (cpu >= 0 && wait >= 0) {
        *ran += cpu;
        *waited += wait;
    } else {
        *waited += (double)(b->time_ns - a->time_ns) / 1e9;
    }
}

/* It was stopped as it was looked at. Where a debugger holds one of its threads and the others go on, or want to, that is none. */
static bool was_stopped(const struct host_sample *s, double span, double ran, double waited)
{
    return s->stop && (!s->partly || ran + waited < 0.5 * span);
}

double watch_share_let_run(const struct host_sample *s, uint32_t n, uint64_t progress_ns, bool in_order,
                           struct host_sample *stopped)
{
    const struct host_sample *now = &s[n - 1], *last = NULL;
    double ran = 0, waited = 0, kept = 0, all = 0, unheld = 0, before_stops = 0;
    uint32_t i = 0;

    while (i + 1 < n && s[i + 1].time_ns <= progress_ns)
        i++;
    if (i + 1 == n && was_stopped(now, 1, 0, 0)) /* there is no time before that to be judged */
        last = now;
    for (i++; i < n; i++) {
        const uint64_t from = s[i - 1].time_ns < progress_ns ? progress_ns : s[i - 1].time_ns;
        const double span = (double)(s[i].time_ns - from) / 1e9,
                     part = span * 1e9 / fmax((double)(s[i].time_ns - s[i - 1].time_ns), 1);
        double r = 0, w = 0;

        used_between(&s[i - 1], &s[i], &r, &w);
        r *= part; /* evenly, as far as anybody knows */
        w *= part;
        all += span;
        if (was_stopped(&s[i], span, r, w)) { /* somewhere between: it was let run as long as it ran */
            last = &s[i];
            before_stops += fmin(r, span);
            continue;
        }
        unheld += span;
        ran += r;
        waited += w;
        kept += part * kept_between(&s[i - 1], &s[i], in_order);
    }
    *stopped = last && all - unheld - before_stops >= 0.1 * all ? *last : (struct host_sample){0};
    if (!now->executor_pid || all <= 0)
        return now->executor_pid && !last;
    waited = fmax(waited, kept);
    if (now->executor_cpu >= 0 && unheld > 0 && ran + waited >= 0.05 * unheld)
        unheld *= ran / (ran + waited);
    return (before_stops + unheld) / all;
}

bool watch_misses_executor(uint64_t *since, bool wanted, uint64_t now)
{
    *since = !wanted ? 0 : *since ? *since : now;
    return wanted && now - *since > NO_EXECUTOR_NS;
}

struct watch_hang watch_hang_until(struct watch *w, uint64_t now, double enough_ms)
{
    const uint64_t first = w->num_samples > WATCH_SAMPLES ? w->num_samples - WATCH_SAMPLES : 0;
    struct watch_hang p = {.seconds = (double)(now - w->progress_ns) / 1e9};
    struct host_sample s[WATCH_SAMPLES + 1];
    uint32_t n = 0;

    for (uint64_t i = first; i < w->num_samples; i++)
        s[n++] = w->samples[i % WATCH_SAMPLES];
    watch_host_sample(&s[n++], now, machine_executor_pid(w->params.machine));
    p.let_run = p.seconds * watch_share_let_run(s, n, w->progress_ns, w->in_order, &p.stopped);
    p.starved = p.let_run * 1e3 < enough_ms;
    return p;
}

void watch_set_hung(struct snapshot *sn, const struct watch_hang *p)
{
    sn->hung = true;
    sn->hung_s = p->seconds;
    sn->let_run_s = p->let_run;
    sn->starved = p->starved;
    sn->stopped = p->stopped;
}

/* ---- rows ---------------------------------------------------------------- */

static void put_counter(struct bb_package *p, const char *name, bool has_before, double before, double at,
                        const char *unit)
{
    bb_row(p, BB_TABLE_HOST);
    bb_text(p, BB_host_name, name);
    if (has_before)
        bb_real(p, BB_host_before, before);
    bb_real(p, BB_host_at, at);
    bb_text(p, BB_host_unit, unit);
    bb_row_end(p);
}

static void put_file(struct bb_package *p, const char *path, const char *format, const char *name,
                     const char *unit)
{
    FILE *f = fopen(path, "re");
    double v;

    if (f && fscanf(f, format, &v) == 1)
        put_counter(p, name, false, 0, v, unit);
    if (f)
        fclose(f);
}

/* The sample that is a second older than the last, or as near to that as there is. */
static const struct host_sample *second_before(const struct snapshot *sn)
{
    const struct host_sample *now = &sn->samples[sn->num_samples - 1], *best = NULL;

    for (uint32_t i = 0; i + 1 < sn->num_samples; i++)
        if (now->time_ns - sn->samples[i].time_ns >= NSEC_PER_SEC)
            best = &sn->samples[i];
    return best;
}

void watch_put_host(const struct snapshot *sn, struct bb_package *p)
{
    const struct host_sample *b, *a;

    put_file(p, "/proc/loadavg", "%lf", "load average, 1 minute", "processes");
    put_file(p, "/proc/pressure/cpu", "some avg10=%lf", "processor pressure, 10 s", "%");
    if (!sn->num_samples)
        return;
    for (uint32_t i = 0; i < sn->num_samples; i++) {
        const struct host_sample *s = &sn->samples[i];

        bb_row(p, BB_TABLE_SAMPLE);
        bb_int(p, BB_sample_time_ns, (int64_t)s->time_ns);
        bb_real(p, BB_sample_user, s->user);
        bb_real(p, BB_sample_system, s->system);
        bb_real(p, BB_sample_idle, s->idle);
        bb_real(p, BB_sample_iowait, s->iowait);
        bb_real(p, BB_sample_steal, s->steal);
        bb_int(p, BB_sample_running, s->running);
        if (s->executor_cpu >= 0) {
            bb_real(p, BB_sample_executor_cpu, s->executor_cpu);
            bb_real(p, BB_sample_executor_wait, s->executor_wait);
        }
        bb_row_end(p);
    }
    a = &sn->samples[sn->num_samples - 1];
    b = second_before(sn);
#define COUNTER(field, name)                                                                                 \
    put_counter(p, "processor time, " name, b != NULL, b ? b->field : 0, a->field, "s since boot")
    COUNTER(user, "user");
    COUNTER(system, "system");
    COUNTER(idle, "idle");
    COUNTER(iowait, "iowait");
    COUNTER(steal, "steal");
#undef COUNTER
    put_counter(p, "tasks that want a processor", b != NULL, b ? b->running : 0, a->running, "tasks");
}
