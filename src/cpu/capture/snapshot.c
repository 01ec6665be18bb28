/* SPDX-License-Identifier: MIT */
#include "cpu/capture/snapshot.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sched/boot_clock.h"

static const char *const counter_names[CPU_COUNTER_COUNT] = {"LOC", "RES", "CAL"};

const char *cpu_counter_name(enum cpu_counter c)
{
    return counter_names[c];
}

/* The first line of a small file, without its newline; false if it cannot be read. */
static bool read_line(char *buf, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool read_line(char *buf, size_t cap, const char *fmt, ...)
{
    char path[512];
    va_list ap;
    ssize_t n;
    int fd;

    va_start(ap, fmt);
    vsnprintf(path, sizeof(path), fmt, ap);
    va_end(ap);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, buf, cap - 1);
    close(fd);
    if (n < 0)
        return false;
    buf[n] = '\0';
    buf[strcspn(buf, "\n")] = '\0';
    return true;
}

static uint64_t state_number(const char *dir, unsigned cpu, unsigned state, const char *name)
{
    char buf[64];

    if (!read_line(buf, sizeof(buf), "%s/cpu%u/cpuidle/state%u/%s", dir, cpu, state, name))
        return 0;
    return strtoull(buf, NULL, 10);
}

static uint32_t freq_khz(const char *dir, unsigned cpu, const char *name)
{
    char buf[64];

    return read_line(buf, sizeof(buf), "%s/cpu%u/cpufreq/%s", dir, cpu, name)
               ? (uint32_t)strtoul(buf, NULL, 10)
               : 0;
}

static void take_cpu(struct cpu_snapshot_cpu *c, const char *dir, unsigned cpu)
{
    char buf[64];

    for (unsigned s = 0; s < CPU_MAX_STATES; s++) {
        struct cpu_snapshot_state *st = &c->states[s];
        if (!read_line(st->name, sizeof(st->name), "%s/cpu%u/cpuidle/state%u/name", dir, cpu, s))
            break;
        read_line(st->desc, sizeof(st->desc), "%s/cpu%u/cpuidle/state%u/desc", dir, cpu, s);
        st->latency_us = (uint32_t)state_number(dir, cpu, s, "latency");
        st->residency_us = (uint32_t)state_number(dir, cpu, s, "residency");
        st->disabled = state_number(dir, cpu, s, "disable") != 0;
        c->num_states = s + 1;
    }
    c->cur_khz = freq_khz(dir, cpu, "scaling_cur_freq");
    c->base_khz = freq_khz(dir, cpu, "base_frequency");
    c->max_khz = freq_khz(dir, cpu, "cpuinfo_max_freq");
    c->online = !read_line(buf, sizeof(buf), "%s/cpu%u/online", dir, cpu) ||
                buf[0] == '1'; /* cpu0 may lack the file */
    /* the counters that the trace is checked against come last and together, right after the clock */
    c->ns = boot_clock_now();
    for (unsigned s = 0; s < c->num_states; s++)
        c->states[s].usage = state_number(dir, cpu, s, "usage");
    for (unsigned s = 0; s < c->num_states; s++) {
        c->states[s].time_us = state_number(dir, cpu, s, "time");
        c->states[s].above = state_number(dir, cpu, s, "above");
        c->states[s].below = state_number(dir, cpu, s, "below");
        c->states[s].rejected = state_number(dir, cpu, s, "rejected");
    }
}

int cpu_snapshot_ticks(struct cpu_snapshot *s, const char *proc_dir)
{
    char path[300], line[512];
    unsigned cpu;
    unsigned long long v[8];
    FILE *f;

    snprintf(path, sizeof(path), "%s/stat", proc_dir);
    f = fopen(path, "re");
    if (!f)
        return -errno;
    while (fgets(line, sizeof(line), f) && !strncmp(line, "cpu", 3)) {
        if (!isdigit((unsigned char)line[3]))
            continue;
        if (sscanf(line + 3, "%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &v[0], &v[1], &v[2], &v[3],
                   &v[4], &v[5], &v[6], &v[7]) != 9 ||
            cpu >= s->num_cpus)
            continue;
        s->cpus[cpu].busy_ticks = v[0] + v[1] + v[2] + v[5] + v[6];
        s->cpus[cpu].idle_ticks = v[3] + v[4];
        s->cpus[cpu].steal_ticks = v[7];
    }
    fclose(f);
    return 0;
}

/* /proc/interrupts: a header with the CPUs that are online, then "LOC: n n n  text". */
static void take_interrupts(struct cpu_snapshot *s, const char *proc_dir)
{
    char path[300], *line = NULL, *p, *end;
    unsigned cpus[CPU_MAX_CPUS], num = 0;
    size_t cap = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/interrupts", proc_dir);
    f = fopen(path, "re");
    if (!f)
        return;
    if (getline(&line, &cap, f) > 0)
        for (p = line; (p = strstr(p, "CPU")) && num < CPU_MAX_CPUS; p += 3)
            cpus[num++] = (unsigned)strtoul(p + 3, NULL, 10);
    while (getline(&line, &cap, f) > 0) {
        for (p = line; *p == ' '; p++)
            ;
        for (int k = 0; k < CPU_COUNTER_COUNT; k++) {
            char *q = p + 4;
            if (strncmp(p, counter_names[k], 3) || p[3] != ':')
                continue;
            for (unsigned i = 0; i < num; i++, q = end) {
                uint64_t v = strtoull(q, &end, 10);
                if (end == q || cpus[i] >= s->num_cpus)
                    break;
                s->cpus[cpus[i]].counter[k] = v;
                s->cpus[cpus[i]].has_counter[k] = true;
            }
        }
    }
    free(line);
    fclose(f);
}

int cpu_snapshot_take(struct cpu_snapshot *s, const char *cpu_dir, const char *proc_dir, struct error *e)
{
    char buf[64], path[300];
    long hz = sysconf(_SC_CLK_TCK);

    memset(s, 0, sizeof(*s));
    s->ns = boot_clock_now();
    s->ticks_per_second = hz > 0 ? (uint32_t)hz : 100;
    for (unsigned cpu = 0; cpu < CPU_MAX_CPUS; cpu++) {
        snprintf(path, sizeof(path), "%s/cpu%u", cpu_dir, cpu);
        if (access(path, F_OK) == 0)
            s->num_cpus = cpu + 1;
    }
    if (!s->num_cpus)
        return error_set(e, -ENOENT, "%s: no CPU is listed there", cpu_dir);
    s->cpus = calloc(s->num_cpus, sizeof(*s->cpus));
    if (!s->cpus)
        return error_set(e, -ENOMEM, "no memory for the counters of %u CPUs", s->num_cpus);
    if (read_line(buf, sizeof(buf), "%s/cpuidle/current_driver", cpu_dir))
        snprintf(s->driver, sizeof(s->driver), "%.31s", buf);
    if (read_line(buf, sizeof(buf), "%s/cpuidle/current_governor", cpu_dir))
        snprintf(s->governor, sizeof(s->governor), "%.31s", buf);
    for (unsigned cpu = 0; cpu < s->num_cpus; cpu++)
        take_cpu(&s->cpus[cpu], cpu_dir, cpu);
    cpu_snapshot_ticks(s, proc_dir);
    take_interrupts(s, proc_dir);
    return 0;
}

void cpu_snapshot_finish(struct cpu_snapshot *s)
{
    free(s->cpus);
    memset(s, 0, sizeof(*s));
}

json_t *cpu_snapshot_to_json(const struct cpu_snapshot *s)
{
    json_t *cpus = json_array();

    for (uint32_t i = 0; i < s->num_cpus; i++) {
        const struct cpu_snapshot_cpu *c = &s->cpus[i];
        json_t *states = json_array(), *counters = json_object();
        for (uint32_t k = 0; k < c->num_states; k++) {
            const struct cpu_snapshot_state *st = &c->states[k];
            json_array_append_new(
                states, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "name", st->name,
                                  "desc", st->desc, "latency_us", (json_int_t)st->latency_us, "residency_us",
                                  (json_int_t)st->residency_us, "usage", (json_int_t)st->usage, "time_us",
                                  (json_int_t)st->time_us, "above", (json_int_t)st->above, "below",
                                  (json_int_t)st->below, "rejected", (json_int_t)st->rejected, "disabled",
                                  st->disabled));
        }
        for (int k = 0; k < CPU_COUNTER_COUNT; k++)
            if (c->has_counter[k])
                json_object_set_new(counters, counter_names[k], json_integer((json_int_t)c->counter[k]));
        json_array_append_new(cpus,
                              json_pack("{s:i, s:I, s:b, s:o, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "cpu",
                                        (int)i, "ns", (json_int_t)c->ns, "online", c->online, "states",
                                        states, "steal_ticks", (json_int_t)c->steal_ticks, "idle_ticks",
                                        (json_int_t)c->idle_ticks, "busy_ticks", (json_int_t)c->busy_ticks,
                                        "interrupts", counters, "cur_khz", (json_int_t)c->cur_khz, "base_khz",
                                        (json_int_t)c->base_khz, "max_khz", (json_int_t)c->max_khz));
    }
    return json_pack("{s:I, s:i, s:s, s:s, s:o}", "ns", (json_int_t)s->ns, "ticks_per_second",
                     (int)s->ticks_per_second, "driver", s->driver, "governor", s->governor, "cpus", cpus);
}

static uint64_t get(const json_t *o, const char *key)
{
    json_int_t v = json_integer_value(json_object_get(o, key));

    return v > 0 ? (uint64_t)v : 0;
}

static void get_text(const json_t *o, const char *key, char *dst, size_t cap)
{
    const char *s = json_string_value(json_object_get(o, key));

    snprintf(dst, cap, "%s", s ? s : "");
}

int cpu_snapshot_from_json(struct cpu_snapshot *s, const json_t *j, struct error *e)
{
    const json_t *cpus = json_object_get(j, "cpus"), *c, *st;
    size_t i, k;

    memset(s, 0, sizeof(*s));
    if (!json_is_array(cpus) || json_array_size(cpus) > CPU_MAX_CPUS)
        return error_set(e, -EBADMSG, "snapshot: \"cpus\" is not a list of at most %d CPUs", CPU_MAX_CPUS);
    s->ns = get(j, "ns");
    s->ticks_per_second = (uint32_t)get(j, "ticks_per_second");
    if (!s->ticks_per_second)
        s->ticks_per_second = 100;
    get_text(j, "driver", s->driver, sizeof(s->driver));
    get_text(j, "governor", s->governor, sizeof(s->governor));
    s->num_cpus = (uint32_t)json_array_size(cpus);
    s->cpus = calloc(s->num_cpus + 1, sizeof(*s->cpus));
    if (!s->cpus)
        return error_set(e, -ENOMEM, "no memory for the counters of %u CPUs", s->num_cpus);
    json_array_foreach((json_t *)cpus, i, c) {
        struct cpu_snapshot_cpu *out = &s->cpus[i];
        const json_t *irq = json_object_get(c, "interrupts"), *states = json_object_get(c, "states");
        out->ns = get(c, "ns");
        out->online = json_is_true(json_object_get(c, "online"));
        out->steal_ticks = get(c, "steal_ticks");
        out->idle_ticks = get(c, "idle_ticks");
        out->busy_ticks = get(c, "busy_ticks");
        out->cur_khz = (uint32_t)get(c, "cur_khz");
        out->base_khz = (uint32_t)get(c, "base_khz");
        out->max_khz = (uint32_t)get(c, "max_khz");
        for (int n = 0; n < CPU_COUNTER_COUNT; n++) {
            out->has_counter[n] = json_object_get(irq, counter_names[n]) != NULL;
            out->counter[n] = get(irq, counter_names[n]);
        }
        json_array_foreach((json_t *)states, k, st) {
            struct cpu_snapshot_state *o = &out->states[k];
            if (k == CPU_MAX_STATES)
                break;
            get_text(st, "name", o->name, sizeof(o->name));
            get_text(st, "desc", o->desc, sizeof(o->desc));
            o->latency_us = (uint32_t)get(st, "latency_us");
            o->residency_us = (uint32_t)get(st, "residency_us");
            o->usage = get(st, "usage");
            o->time_us = get(st, "time_us");
            o->above = get(st, "above");
            o->below = get(st, "below");
            o->rejected = get(st, "rejected");
            o->disabled = json_is_true(json_object_get(st, "disabled"));
            out->num_states = (uint32_t)k + 1;
        }
    }
    return 0;
}
