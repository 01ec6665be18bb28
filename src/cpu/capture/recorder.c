/* SPDX-License-Identifier: MIT */
/* The recorder: which events, snapshots, pages. record.c puts them into a file, watch.c onto the screen. */
#include "cpu/capture/record.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Systems whose events are all taken, but for those that skip() names. */
static const char *const whole_systems[] = {"ipi", "csd", "irq_vectors", "dma_fence", "watchdog"};
static const char *const single_events[] = {
    "power/cpu_idle",      "power/cpu_idle_miss", "power/cpu_frequency",   "power/cpu_frequency_limits",
    "power/pstate_sample", "timer/tick_stop",     "irq/irq_handler_entry",
};
static const char *const sched_events[] = {
    "sched/sched_switch",       "sched/sched_wakeup",       "sched/sched_wakeup_new",
    "sched/sched_process_fork", "sched/sched_process_exit", "sched/sched_process_exec",
    "sched/sched_migrate_task", "task/task_newtask",        "task/task_rename",
    "signal/signal_generate",
};
static const char *const timer_events[] = {"timer/hrtimer_start", "timer/hrtimer_expire_entry",
                                           "timer/hrtimer_cancel"};

struct enabling {
    struct cpu_recorder *r;
    const char *system;
};

static void enable(struct cpu_recorder *r, const char *system, const char *event)
{
    char file[160], key[160];
    struct strbuf text = {0};
    struct error e = {0};
    int err;

    snprintf(file, sizeof(file), "events/%.60s/%.60s/format", system, event);
    if (cpu_tracefs_read(&r->fs, file, &text))
        goto out; /* this kernel does not have it */
    if (cpu_rules_add(r->rules, system, strbuf_str(&text), text.len, &e)) {
        error_set(&r->error, e.code, "%s", e.text);
        r->num_refused++;
        goto out;
    }
    snprintf(file, sizeof(file), "events/%.60s/%.60s/enable", system, event);
    err = cpu_tracefs_write(&r->fs, file, "1");
    if (err) {
        error_set(&r->error, err, "%s:%s cannot be enabled: %s", system, event, strerror(-err));
        r->num_refused++;
        goto out;
    }
    snprintf(key, sizeof(key), "%.60s:%.60s", system, event);
    json_object_set_new(json_object_get(r->formats, "events"), key,
                        json_stringn(strbuf_str(&text), text.len));
    if (!strcmp(key, "irq_vectors:local_timer_entry"))
        r->records_counter[CPU_COUNTER_LOC] = true;
    if (!strcmp(key, "irq_vectors:reschedule_entry"))
        r->records_counter[CPU_COUNTER_RES] = true;
    if (!strcmp(key, "irq_vectors:call_function_single_entry"))
        r->records_counter[CPU_COUNTER_CAL] = true;
    r->num_events++;
out:
    strbuf_finish(&text);
}

static void enable_one(void *ctx, const char *event)
{
    struct enabling *n = ctx;

    /* the local timer interrupt is four fifths of a normal trace; vector_* are about allocating vectors */
    if (!n->r->params.timers && !strncmp(event, "local_timer_", 12))
        return;
    if (!strncmp(event, "vector_", 7))
        return;
    enable(n->r, n->system, event);
}

static void enable_list(struct cpu_recorder *r, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char system[32];
        const char *slash = strchr(list[i], '/');
        snprintf(system, sizeof(system), "%.*s", (int)(slash - list[i]), list[i]);
        enable(r, system, slash + 1);
    }
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int cpu_recorder_create(struct cpu_recorder **out, const struct cpu_record_params *p, struct error *e)
{
    struct cpu_recorder *r = calloc(1, sizeof(*r));
    struct strbuf text = {0};
    int err;

    if (!r)
        return error_set(e, -ENOMEM, "no memory");
    r->params = *p;
    r->rules = calloc(1, sizeof(*r->rules));
    r->formats = json_pack("{s:{}}", "events");
    if (!r->rules || !r->formats) {
        err = error_set(e, -ENOMEM, "no memory");
        goto fail;
    }
    err = cpu_tracefs_open(&r->fs, p->buffer_kb ? p->buffer_kb : 8192, e);
    if (err)
        goto fail;
    /* header_page is in the top directory's events; instances have it too on kernels since 3.10 */
    err = cpu_tracefs_read(&r->fs, "events/header_page", &text);
    if (err) {
        strbuf_clear(&text);
        err = cpu_tracefs_read(&(struct cpu_tracefs){.dir = r->fs.root}, "events/header_page", &text);
    }
    if (err) {
        error_set(e, err, "tracefs: events/header_page: %s", strerror(-err));
        goto fail;
    }
    err = cpu_rules_init(r->rules, strbuf_str(&text), text.len, e);
    if (err)
        goto fail;
    json_object_set_new(r->formats, "header_page", json_stringn(strbuf_str(&text), text.len));
    enable_list(r, single_events, COUNT(single_events));
    for (size_t i = 0; i < COUNT(whole_systems); i++)
        cpu_tracefs_each_event(&r->fs, whole_systems[i], enable_one, &(struct enabling){r, whole_systems[i]});
    if (p->sched)
        enable_list(r, sched_events, COUNT(sched_events));
    if (p->timers)
        enable_list(r, timer_events, COUNT(timer_events));
    if (!r->num_events) {
        err = error_set(e, r->error.code ? r->error.code : -ENODEV, "no event can be enabled: %s",
                        r->error.code ? r->error.text : "this kernel has none of them");
        goto fail;
    }
    err = cpu_tracefs_open_raw(&r->fs, e);
    if (err)
        goto fail;
    r->page = malloc(r->rules->page_size + CPU_PAGE_PAD);
    if (!r->page) {
        err = error_set(e, -ENOMEM, "no memory");
        goto fail;
    }
    strbuf_finish(&text);
    *out = r;
    return 0;
fail:
    strbuf_finish(&text);
    cpu_recorder_destroy(r);
    return err;
}

/* Runs on every CPU in turn, so that each leaves idle at least once and its state is known from then on. */
static void wake_every_cpu(uint32_t num)
{
    cpu_set_t old, one;

    if (sched_getaffinity(0, sizeof(old), &old))
        return;
    for (uint32_t i = 0; i < num && i < CPU_SETSIZE; i++) {
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        if (!sched_setaffinity(0, sizeof(one), &one))
            sched_yield();
    }
    sched_setaffinity(0, sizeof(old), &old);
}

int cpu_recorder_start(struct cpu_recorder *r, struct error *e)
{
    int err = cpu_tracefs_write(&r->fs, "tracing_on", "1");

    if (err)
        return error_set(e, err, "tracefs: tracing_on: %s", strerror(-err));
    wake_every_cpu(r->fs.num_cpus);
    return cpu_snapshot_take(&r->before, "/sys/devices/system/cpu", "/proc", e);
}

int cpu_recorder_drain(struct cpu_recorder *r, void (*fn)(void *ctx, uint16_t cpu, uint8_t *page), void *ctx)
{
    int pages = 0;

    for (uint32_t i = 0; i < r->fs.num_cpus; i++) {
        /* a bound, so that a CPU that fills pages as fast as they are read cannot starve the others */
        for (int k = 0; k < 4096 && r->fs.raw[i] >= 0; k++) {
            ssize_t n = read(r->fs.raw[i], r->page, r->rules->page_size);
            uint32_t commit, used;
            if (n < (ssize_t)r->rules->data_offset)
                break;
            memcpy(&commit, r->page + r->rules->commit_offset, 4);
            used = r->rules->data_offset + (commit & 0xfffff) + (commit & 0x40000000u ? 8 : 0);
            if (used > (uint32_t)n)
                used = (uint32_t)n;
            memset(r->page + used, 0,
                   r->rules->page_size + CPU_PAGE_PAD - used); /* what an older page left there */
            fn(ctx, (uint16_t)i, r->page);
            pages++;
        }
    }
    return pages;
}

int cpu_recorder_stop(struct cpu_recorder *r, struct error *e)
{
    int err = cpu_snapshot_take(&r->after, "/sys/devices/system/cpu", "/proc", e);

    cpu_tracefs_write(&r->fs, "tracing_on", "0");
    return err;
}

json_t *cpu_recorder_losses(struct cpu_recorder *r, uint64_t *lost)
{
    static const struct {
        const char *line, *key;
        bool is_loss;
    } fields[] = {{"entries:", "entries", false},
                  {"overrun:", "overrun", true},
                  {"commit overrun:", "commit_overrun", true},
                  {"dropped events:", "dropped", true},
                  {"read events:", "read", false}};
    json_t *list = json_array();

    *lost = 0;
    for (uint32_t i = 0; i < r->fs.num_cpus; i++) {
        struct strbuf text = {0};
        json_t *o = json_object();
        char file[64], *line, *save;
        snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", i);
        cpu_tracefs_read(&r->fs, file, &text);
        for (line = text.data ? strtok_r(text.data, "\n", &save) : NULL; line;
             line = strtok_r(NULL, "\n", &save)) {
            for (size_t k = 0; k < COUNT(fields); k++) {
                size_t n = strlen(fields[k].line);
                uint64_t v;
                if (strncmp(line, fields[k].line, n))
                    continue;
                v = strtoull(line + n, NULL, 10);
                json_object_set_new(o, fields[k].key, json_integer((json_int_t)v));
                *lost += fields[k].is_loss ? v : 0;
            }
        }
        json_array_append_new(list, o);
        strbuf_finish(&text);
    }
    return list;
}

void cpu_recorder_destroy(struct cpu_recorder *r)
{
    if (!r)
        return;
    if (r->fs.name[0])
        cpu_tracefs_close(&r->fs);
    cpu_snapshot_finish(&r->before);
    cpu_snapshot_finish(&r->after);
    json_decref(r->formats);
    free(r->rules);
    free(r->page);
    free(r);
}
