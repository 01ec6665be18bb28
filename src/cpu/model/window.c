/* SPDX-License-Identifier: MIT */
#include "cpu/model/window.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *const roles[CPU_ROLE_COUNT] = {
#define ROLE(name, text) [CPU_ROLE_##name] = text,
    CPU_ROLES(ROLE)
#undef ROLE
};

const char *cpu_role_name(enum cpu_role role)
{
    return (unsigned)role < CPU_ROLE_COUNT ? roles[role] : "?";
}

/* A number of at least `min`; `fallback` if the member is missing. Of threads and CPUs: as the system counts them. */
static int number(const json_t *o, const char *where, const char *key, int64_t min, int64_t fallback,
                  int64_t *out, struct error *e)
{
    const json_t *v = json_object_get(o, key);

    *out = fallback;
    if (!v)
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < min)
        return error_set(e, -EBADMSG, "%s%s is not a whole number from %lld up", where, key, (long long)min);
    if ((!strcmp(key, "tid") || !strcmp(key, "cpu")) && json_integer_value(v) > INT32_MAX)
        return error_set(e, -EBADMSG, "%s%s is above %d", where, key, INT32_MAX);
    *out = json_integer_value(v);
    return 0;
}

static int parse_thread(struct cpu_window_thread *t, const json_t *o, size_t i, struct error *e)
{
    const char *role = json_string_value(json_object_get(o, "role"));
    int64_t tid, cpu;
    char where[40];
    int k = 0;

    snprintf(where, sizeof(where), "threads[%zu].", i);
    while (k < CPU_ROLE_COUNT && (!role || strcmp(role, roles[k])))
        k++;
    if (k == CPU_ROLE_COUNT)
        return error_set(e, -EBADMSG, "%srole is not one of submit, executor, irq, dpc, waiter, vblank",
                         where);
    if (number(o, where, "tid", 1, -1, &tid, e) || number(o, where, "cpu", 0, -1, &cpu, e))
        return -EBADMSG;
    if (tid < 0 && cpu < 0)
        return error_set(e, -EBADMSG, "%stid and cpu are both missing", where);
    *t = (struct cpu_window_thread){(enum cpu_role)k, (int32_t)tid, (int32_t)cpu};
    return 0;
}

static int parse_vblank(struct cpu_window_vblank *v, const json_t *o, size_t i, struct error *e)
{
    int64_t due, actual, cpu, tid;
    char where[40];

    snprintf(where, sizeof(where), "late_vblanks[%zu].", i);
    if (number(o, where, "due_ns", 1, 0, &due, e) || number(o, where, "actual_ns", 1, 0, &actual, e) ||
        number(o, where, "cpu", 0, -1, &cpu, e) || number(o, where, "tid", 1, -1, &tid, e))
        return -EBADMSG;
    if (!due || actual < due)
        return error_set(e, -EBADMSG, "%sdue_ns and actual_ns are not a lateness", where);
    *v = (struct cpu_window_vblank){(uint64_t)due, (uint64_t)actual, (int32_t)cpu, (int32_t)tid};
    return 0;
}

static void shift(uint64_t *t, int64_t ahead_ns)
{
    if (*t)
        *t = (int64_t)*t > ahead_ns ? *t - (uint64_t)ahead_ns : 1;
}

int cpu_window_shift(struct cpu_window *w, int64_t ahead_ns, struct error *e)
{
    if (ahead_ns < -INT64_MAX / 2 || ahead_ns >= (int64_t)w->submit_ns ||
        (ahead_ns < 0 && w->timeout_ns > INT64_MAX / 2))
        return error_set(e, -EBADMSG, "clock_offset_ns is %lld: the machine's clock was not running then",
                         (long long)ahead_ns);
    shift(&w->submit_ns, ahead_ns);
    shift(&w->timeout_ns, ahead_ns);
    shift(&w->due_ns, ahead_ns);
    shift(&w->completed_ns, ahead_ns);
    for (uint32_t i = 0; i < w->num_vblanks; i++) {
        shift(&w->vblanks[i].due_ns, ahead_ns);
        shift(&w->vblanks[i].actual_ns, ahead_ns);
    }
    return 0;
}

static int parse_clock(struct cpu_window *w, const json_t *j, struct error *e)
{
    const json_t *boot = json_object_get(j, "boot_id");
    int64_t ahead;

    if (boot && (!json_is_string(boot) || json_string_length(boot) >= sizeof(w->boot_id)))
        return error_set(e, -EBADMSG, "boot_id is not a text of less than %zu bytes", sizeof(w->boot_id));
    snprintf(w->boot_id, sizeof(w->boot_id), "%s", boot ? json_string_value(boot) : "");
    if (number(j, "", "clock_offset_ns", INT64_MIN + 1, 0, &ahead, e))
        return -EBADMSG;
    return cpu_window_shift(w, ahead, e);
}

static int parse(struct cpu_window *w, const json_t *j, struct error *e)
{
    const json_t *list;
    const char *format = json_string_value(json_object_get(j, "format"));
    int64_t submit, timeout, due, completed;

    if (!format || strcmp(format, "aerogpu-window"))
        return error_set(e, -EBADMSG, "format is not \"aerogpu-window\"");
    if (json_integer_value(json_object_get(j, "version")) != 1)
        return error_set(e, -EBADMSG, "version is not 1");
    if (number(j, "", "submit_ns", 1, 0, &submit, e) || number(j, "", "timeout_ns", 1, 0, &timeout, e) ||
        number(j, "", "due_ns", 1, 0, &due, e) || number(j, "", "completed_ns", 1, 0, &completed, e))
        return -EBADMSG;
    if (!submit || timeout <= submit)
        return error_set(e, -EBADMSG, "submit_ns and timeout_ns are not a span");
    w->submit_ns = (uint64_t)submit;
    w->timeout_ns = (uint64_t)timeout;
    w->due_ns = (uint64_t)due;
    w->completed_ns = (uint64_t)completed;
    list = json_object_get(j, "threads");
    if (list && !json_is_array(list))
        return error_set(e, -EBADMSG, "threads is not a list");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (i == CPU_WINDOW_THREADS)
            return error_set(e, -EBADMSG, "threads has more than %d members", CPU_WINDOW_THREADS);
        if (parse_thread(&w->threads[w->num_threads++], json_array_get(list, i), i, e))
            return -EBADMSG;
    }
    list = json_object_get(j, "late_vblanks");
    for (size_t i = 0; i < json_array_size(list) && i < CPU_WINDOW_VBLANKS; i++)
        if (parse_vblank(&w->vblanks[w->num_vblanks++], json_array_get(list, i), i, e))
            return -EBADMSG;
    return parse_clock(w, j, e);
}

static int parse_or_say(struct cpu_window *w, json_t *j, const json_error_t *je, struct error *e)
{
    int r;

    memset(w, 0, sizeof(*w));
    if (!j)
        return error_set(e, -EBADMSG, "line %d: %s", je->line, je->text);
    r = parse(w, j, e);
    json_decref(j);
    return r;
}

int cpu_window_parse(struct cpu_window *w, const char *text, size_t size, struct error *e)
{
    json_error_t je;
    json_t *j = json_loadb(text, size, 0, &je);

    return parse_or_say(w, j, &je, e);
}

int cpu_window_load(struct cpu_window *w, const char *path, struct error *e)
{
    json_error_t je;
    json_t *j = json_load_file(path, 0, &je);

    return parse_or_say(w, j, &je, e);
}
