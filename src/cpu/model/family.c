/* SPDX-License-Identifier: MIT */
#include "cpu/model/family.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIDS   (1u << 22) /* the kernel's own limit */
#define ACTIVE 256
#define RUN_UP UINT64_C(2000000000)

struct active {
    int32_t tid;
    uint32_t times;
};

struct family {
    uint8_t *member; /* a bit per thread */
    uint32_t num;
    struct active list[ACTIVE];
};

static int64_t parent_of(const char *proc_dir, const char *pid)
{
    char path[300], text[512];
    const char *end;
    long long parent = 0;
    FILE *f;
    size_t n;

    snprintf(path, sizeof(path), "%.200s/%.20s/stat", proc_dir, pid);
    f = fopen(path, "re");
    n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    end = strrchr(text, ')'); /* a name may hold anything */
    return end && sscanf(end, ") %*c %lld", &parent) == 1 ? parent : 0;
}

static void add_threads(json_t *list, json_t *processes, const char *proc_dir, const char *pid)
{
    const long long process = strtoll(pid, NULL, 10);
    char path[300];
    struct dirent *ent;
    DIR *d;

    snprintf(path, sizeof(path), "%.200s/%.20s/task", proc_dir, pid);
    d = opendir(path);
    if (d)
        json_array_append_new(processes, json_integer(process));
    while (d && (ent = readdir(d))) {
        const long long tid = strtoll(ent->d_name, NULL, 10);
        if (tid <= 0)
            continue;
        json_array_append_new(list, json_integer(tid));
        json_array_append_new(list, json_integer(tid == process ? parent_of(proc_dir, pid) : process));
    }
    if (d)
        closedir(d);
}

json_t *cpu_family_tasks(const char *proc_dir, json_t **processes)
{
    json_t *list = json_array();
    DIR *d = opendir(proc_dir);
    struct dirent *ent;

    *processes = json_array();
    while (d && (ent = readdir(d)))
        if (ent->d_name[0] >= '1' && ent->d_name[0] <= '9')
            add_threads(list, *processes, proc_dir, ent->d_name);
    if (d)
        closedir(d);
    return list;
}

static bool is_member(const struct family *f, uint64_t tid)
{
    return tid < TIDS && (f->member[tid / 8] >> (tid % 8) & 1);
}

static bool add_member(struct family *f, uint64_t tid)
{
    if (tid == 0 || tid >= TIDS || is_member(f, tid))
        return false;
    f->member[tid / 8] |= (uint8_t)(1u << (tid % 8));
    return true;
}

/* Those that were there when the recording began. */
static void add_tasks(struct family *f, const json_t *tasks)
{
    bool more = json_array_size(tasks) > 0;

    while (more) {
        more = false;
        for (size_t i = 0; i + 1 < json_array_size(tasks); i += 2) {
            const json_int_t tid = json_integer_value(json_array_get(tasks, i)),
                             owner = json_integer_value(json_array_get(tasks, i + 1));
            if (tid > 0 && owner > 0 && is_member(f, (uint64_t)owner))
                more |= add_member(f, (uint64_t)tid);
        }
    }
}

static void ran(struct family *f, uint64_t tid)
{
    uint32_t i = 0;

    while (i < f->num && (uint64_t)f->list[i].tid != tid)
        i++;
    if (i == f->num && f->num < ACTIVE)
        f->list[f->num++] = (struct active){(int32_t)tid, 0};
    if (i < f->num)
        f->list[i].times++;
}

static int more_active(const void *a, const void *b)
{
    const struct active *x = a, *y = b;

    return (x->times < y->times) - (x->times > y->times);
}

static bool named(const struct cpu_window *w, int32_t tid)
{
    for (uint32_t i = 0; i < w->num_threads; i++)
        if (w->threads[i].tid == tid)
            return true;
    return false;
}

/* A process that is started after the submission (one that writes the dump) has none of its work; a new thread may have. */
static void add_child(struct family *f, const struct cpu_window *w, const struct cpu_event *ev,
                      bool knows_threads)
{
    const bool is_task = ev->kind == CPU_EV_TASK;
    const uint64_t parent = !is_task ? ev->a : ev->tid > 0 ? (uint64_t)ev->tid : 0;

    if (is_task != knows_threads || !is_member(f, parent))
        return;
    if (!is_task || ev->ns < w->submit_ns || ev->b & CLONE_THREAD)
        add_member(f, is_task ? ev->a : ev->b);
}

int cpu_family_complete(struct cpu_window *w, struct cpu_trace *t, struct error *e)
{
    const uint64_t from = w->submit_ns > RUN_UP ? w->submit_ns - RUN_UP : 0;
    const bool knows_threads = cpu_trace_records(t, "task:task_newtask");
    const json_t *tasks = t->tasks;
    struct family f = {.member = calloc(TIDS / 8, 1)};
    const struct cpu_event *ev;
    struct cpu_source *source;
    int n, r;

    if (!f.member)
        return error_set(e, -ENOMEM, "no memory for the threads of the recording");
    for (uint32_t i = 0; i < w->num_threads; i++)
        if (w->threads[i].tid > 0)
            add_member(&f, (uint64_t)w->threads[i].tid);
    add_tasks(&f, tasks);
    r = cpu_trace_rewind(t, 0, w->timeout_ns, &source, e);
    while (!r && (n = source->next(source, &ev)) > 0 && ev->ns <= w->timeout_ns)
        for (int i = 0; i < n && ev[i].ns <= w->timeout_ns; i++) {
            if (ev[i].kind == CPU_EV_TASK || ev[i].kind == CPU_EV_FORK)
                add_child(&f, w, &ev[i], knows_threads);
            else if (ev[i].kind == CPU_EV_SWITCH && ev[i].ns >= from && is_member(&f, ev[i].c))
                ran(&f, ev[i].c);
        }
    qsort(f.list, f.num, sizeof(f.list[0]), more_active);
    for (uint32_t i = 0; !r && i < f.num && w->num_threads < CPU_WINDOW_THREADS; i++) {
        if (named(w, f.list[i].tid))
            continue;
        w->threads[w->num_threads++] = (struct cpu_window_thread){CPU_ROLE_EXECUTOR, f.list[i].tid, -1};
        w->partial = false;
    }
    free(f.member);
    return r;
}
