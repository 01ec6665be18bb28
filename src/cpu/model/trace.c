/* SPDX-License-Identifier: MIT */
#include "cpu/model/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/file/in.h"
#include "base/utf8.h"

/* One CPU's PAGES blocks of the span asked for, one of them unpacked. */
struct trace_stream {
    uint16_t cpu;
    uint32_t *blocks;
    uint32_t num, next;
    uint8_t *buf;
    size_t cap, size, pos;
    uint64_t page_no;
    struct cpu_page_stats stats;
};

/* A block that cannot be had: named once, however often the recording is read. */
static void damaged_block(struct cpu_trace *t, uint16_t cpu, const struct error *e)
{
    if (*t->file.damage && strstr(t->file.damage, e->text))
        return;
    if (!*t->file.damage)
        snprintf(t->file.damage, sizeof(t->file.damage), "%s", e->text);
    cpu_note(&t->notes, "CPU %u: %s", cpu, e->text);
}

/* Decodes the next page that has events. */
static uint32_t fill_from_pages(void *ctx, uint32_t i, struct cpu_event *ev)
{
    struct cpu_trace *t = ctx;
    struct trace_stream *s = &t->blocks[i];
    const uint32_t page = t->rules->page_size;

    for (;;) {
        uint32_t n, b;
        struct error e = {0};
        while (s->size - s->pos >= page) {
            n = cpu_page_decode(t->rules, s->buf + s->pos, s->cpu, ev, &s->stats, &t->notes, s->page_no++);
            s->pos += page;
            if (n)
                return n;
        }
        if (s->size != s->pos)
            cpu_note(&t->notes, "CPU %u: %zu bytes after page %llu are less than a page", s->cpu,
                     s->size - s->pos, (unsigned long long)s->page_no);
        s->size = s->pos = 0;
        if (s->next == s->num)
            return 0;
        b = s->blocks[s->next++];
        if (cpu_file_load(&t->file, b, &s->buf, &s->cap, CPU_PAGE_PAD, &e))
            damaged_block(t, s->cpu, &e);
        else
            s->size = t->file.list[b].raw;
    }
}

static json_t *load_json(struct cpu_trace *t, uint32_t i)
{
    uint8_t *buf = NULL;
    size_t cap = 0;
    struct error e = {0};
    json_error_t je;
    json_t *j = NULL;

    if (cpu_file_load(&t->file, i, &buf, &cap, 1, &e))
        damaged_block(t, t->file.list[i].stream, &e);
    else if (!(j = json_loadb((const char *)buf, t->file.list[i].raw, JSON_ALLOW_NUL, &je)))
        cpu_note(&t->notes, "the block at byte %llu is no JSON: %.80s",
                 (unsigned long long)t->file.list[i].offset, je.text);
    free(buf);
    return j;
}

static int load_formats(struct cpu_trace *t, const json_t *j, struct error *e)
{
    const char *page = json_string_value(json_object_get(j, "header_page")), *key;
    json_t *text;
    int r;

    if (!page)
        return error_set(e, -EBADMSG, "FORMATS has no header_page");
    r = cpu_rules_init(t->rules, page, strlen(page), e);
    if (r)
        return r;
    json_object_foreach(json_object_get(j, "events"), key, text) {
        char system[64];
        struct error fe = {0};
        snprintf(system, sizeof(system), "%.*s", (int)strcspn(key, ":"), key);
        if (cpu_rules_add(t->rules, system, json_string_value(text) ? json_string_value(text) : "",
                          json_string_length(text), &fe))
            cpu_note(&t->notes, "%s", fe.text);
    }
    return 0;
}

static void load_snapshot(struct cpu_trace *t, const json_t *j)
{
    const char *when = json_string_value(json_object_get(j, "when"));
    bool after = when && !strcmp(when, "after");
    struct cpu_snapshot s;
    struct error e = {0};

    if (cpu_snapshot_from_json(&s, json_object_get(j, "snapshot"), &e)) {
        cpu_note(&t->notes, "%s", e.text);
        return;
    }
    cpu_snapshot_finish(after ? &t->after : &t->before);
    *(after ? &t->after : &t->before) = s;
    *(after ? &t->has_after : &t->has_before) = true;
    if (s.num_cpus > t->num_cpus)
        t->num_cpus = s.num_cpus;
}

static void load_waits(struct cpu_sample *p, const json_t *tasks)
{
    const size_t n = json_array_size(tasks);

    p->has_waits = json_is_array(tasks);
    p->waits = n ? calloc(n, sizeof(*p->waits)) : NULL;
    for (size_t i = 0; p->waits && i < n; i++)
        p->num_waits += cpu_task_wait_parse(&p->waits[p->num_waits], json_array_get(tasks, i));
}

static void load_sample(struct cpu_trace *t, const json_t *j)
{
    const json_t *steal = json_object_get(j, "steal_ticks"), *pressure = json_object_get(j, "pressure_us");
    struct cpu_sample *p;
    size_t n = json_array_size(steal);

    if (array_reserve(t->samples, t->room_samples, t->num_samples + (size_t)1))
        return;
    p = &t->samples[t->num_samples];
    *p = (struct cpu_sample){.ns = (uint64_t)json_integer_value(json_object_get(j, "ns")),
                             .num_cpus = n < CPU_MAX_CPUS ? (uint32_t)n : CPU_MAX_CPUS,
                             .has_pressure = json_is_integer(json_array_get(pressure, 1)),
                             .memory_us = (uint64_t)json_integer_value(json_array_get(pressure, 1)),
                             .steal_ticks = calloc(n + 1, sizeof(uint64_t))};
    if (!p->steal_ticks)
        return;
    t->num_samples++;
    p->until_ns = (uint64_t)json_integer_value(json_object_get(j, "looked_until_ns"));
    if (p->until_ns < p->ns)
        p->until_ns = p->ns;
    for (size_t i = 0; i < p->num_cpus; i++)
        p->steal_ticks[i] = (uint64_t)json_integer_value(json_array_get(steal, i));
    load_waits(p, json_object_get(j, "tasks"));
}

/* Names are what threads and recordings call themselves. */
static void one_line(json_t *names)
{
    const char *key;
    json_t *name;

    json_object_foreach(names, key, name) {
        char *text = json_is_string(name) ? strdup(json_string_value(name)) : NULL;

        if (text) {
            utf8_one_line(text);
            json_string_set(name, text);
        }
        free(text);
    }
}

static void load_meta(struct cpu_trace *t, json_t *j)
{
    const char *s = json_string_value(json_object_get(j, "system")),
               *c = json_string_value(json_object_get(j, "clock"));

    snprintf(t->system, sizeof(t->system), "%s", s ? s : "");
    snprintf(t->clock, sizeof(t->clock), "%s", c ? c : "?");
    s = json_string_value(json_object_get(j, "boot_id"));
    snprintf(t->boot_id, sizeof(t->boot_id), "%s", s ? s : "");
    utf8_one_line(t->system);
    utf8_one_line(t->clock);
    t->clock_unknown = json_is_null(json_object_get(j, "clock_offset_ns"));
    t->realtime_offset_ns = (uint64_t)json_integer_value(json_object_get(j, "realtime_offset_ns"));
    t->recorder_pid = json_integer_value(json_object_get(j, "recorder_pid"));
    json_decref(t->meta);
    t->meta = json_incref(j);
}

bool cpu_trace_records(const struct cpu_trace *t, const char *event)
{
    for (uint32_t i = 1; t->rules && i < t->rules->num_rules; i++)
        if (!strcmp(t->rules->rules[i].name, event))
            return true;
    return false;
}

static void load_end(struct cpu_trace *t, const json_t *j)
{
    const bool counters[CPU_COUNTER_COUNT] = {
        [CPU_COUNTER_LOC] = cpu_trace_records(t, "irq_vectors:local_timer_entry"),
        [CPU_COUNTER_RES] = cpu_trace_records(t, "irq_vectors:reschedule_entry"),
        [CPU_COUNTER_CAL] = cpu_trace_records(t, "irq_vectors:call_function_single_entry"),
    };
    struct error e = {0};

    t->complete = true;
    t->overrun = (uint64_t)json_integer_value(json_object_get(j, "lost"));
    if (!t->has_before || !t->has_after)
        return;
    if (cpu_coverage_init(&t->coverage, &t->before, &t->after, counters) ||
        cpu_coverage_from_json(&t->coverage, json_object_get(j, "coverage"), &e)) {
        cpu_note(&t->notes, "%s", e.code ? e.text : "no memory for the coverage");
        cpu_coverage_finish(&t->coverage);
        return;
    }
    t->has_coverage = true;
}

static int load(struct cpu_trace *t, struct error *e)
{
    bool have_formats = false;
    json_t *end = NULL;
    int r = 0;

    t->file_bytes = t->file.size;
    t->rules = calloc(1, sizeof(*t->rules));
    if (!t->rules)
        return error_set(e, -ENOMEM, "no memory");
    for (uint32_t i = 0; i < t->file.num && !r; i++) {
        const struct block *b = &t->file.list[i];
        json_t *j = NULL;
        if (b->kind == CPU_BLOCK_PAGES && b->stream >= CPU_FILE_MAX_CPUS) {
            cpu_note(&t->notes, "the block at byte %llu is of CPU %u, the limit is %d; skipped",
                     (unsigned long long)b->offset, b->stream, CPU_FILE_MAX_CPUS);
            continue;
        }
        if (b->kind == CPU_BLOCK_PAGES) {
            if (b->stream >= t->num_cpus)
                t->num_cpus = b->stream + 1u;
            continue;
        }
        if (b->kind < CPU_BLOCK_META || b->kind > CPU_BLOCK_END) {
            cpu_note(&t->notes, "the block at byte %llu is of kind %u, which is not known; skipped",
                     (unsigned long long)b->offset, b->kind);
            continue;
        }
        j = load_json(t, i);
        if (!j)
            continue;
        if (b->kind == CPU_BLOCK_META) {
            load_meta(t, j);
        } else if (b->kind == CPU_BLOCK_FORMATS && !have_formats) {
            r = load_formats(t, j, e);
            have_formats = !r;
        } else if (b->kind == CPU_BLOCK_SNAPSHOT) {
            load_snapshot(t, j);
            if (json_is_array(json_object_get(j, "tasks"))) {
                json_decref(t->tasks);
                t->tasks = json_incref(json_object_get(j, "tasks"));
                json_decref(t->processes);
                t->processes = json_incref(json_object_get(j, "processes"));
            }
        } else if (b->kind == CPU_BLOCK_SAMPLE) {
            load_sample(t, j);
        } else if (b->kind == CPU_BLOCK_NAMES) {
            json_decref(t->names);
            t->names = json_incref(j);
            one_line(json_object_get(j, "threads"));
            one_line(json_object_get(j, "symbols"));
        } else if (b->kind == CPU_BLOCK_END) {
            json_decref(end);
            end = json_incref(j);
        }
        json_decref(j);
    }
    if (!r && !have_formats)
        r = error_set(e, -EBADMSG, "%s%sno block with the event formats: the pages cannot be read",
                      t->file.damage, *t->file.damage ? "; " : "");
    if (!r && end)
        load_end(t, end);
    json_decref(end);
    return r;
}

/* What the headers of an ETL file say. Nothing there can be checked against counters, and nothing claims so.
 */
static void describe_etl(struct cpu_trace *t)
{
    static const char *const clocks[8] = {
        "?", "performance counter", "system time", "cycle counter", "?", "?", "?", "?"};
    const struct etl_file *f = &t->etl;

    t->is_windows = true;
    t->num_cpus = f->num_cpus > f->max_cpu + 1 ? f->num_cpus : f->max_cpu + 1;
    t->overrun = f->events_lost;
    t->file_bytes = f->size;
    snprintf(t->system, sizeof(t->system), "Windows %u.%u build %u", f->os_version & 0xff,
             f->os_version >> 8 & 0xff, f->build);
    snprintf(t->clock, sizeof(t->clock), "%s", clocks[f->clock_type]);
    t->notes = f->notes;
}

int cpu_trace_open_memory(struct cpu_trace *t, const uint8_t *bytes, size_t size, struct error *e)
{
    int r;

    memset(t, 0, sizeof(*t));
    if (etl_is(bytes, size)) {
        r = etl_open_memory(&t->etl, bytes, size, e);
        if (!r)
            describe_etl(t);
        return r;
    }
    r = cpu_file_open_memory(&t->file, &t->notes, bytes, size, e);
    if (!r)
        r = load(t, e);
    if (r)
        cpu_trace_close(t);
    return r;
}

static int open_any(struct cpu_trace *t, const char *path, struct error *e)
{
    bool etl = false;
    const uint8_t *map;
    size_t size;
    int r = in_file_map(path, &map, &size, e);

    if (r)
        return r;
    etl = etl_is(map, size);
    munmap((void *)(uintptr_t)map, size);
    if (etl) {
        r = etl_open(&t->etl, path, e);
        if (!r)
            describe_etl(t);
        return r;
    }
    r = cpu_file_open(&t->file, &t->notes, path, e);
    if (r)
        return r;
    r = load(t, e);
    if (r)
        error_prefix(e, "%s", path);
    return r;
}

int cpu_trace_open(struct cpu_trace *t, const char *path, struct error *e)
{
    int r;

    memset(t, 0, sizeof(*t));
    r = open_any(t, path, e);
    if (r)
        cpu_trace_close(t);
    else
        snprintf(t->path, sizeof(t->path), "%s", path);
    return r;
}

int cpu_trace_whole(const struct cpu_trace *t, struct error *e)
{
    if (*t->file.damage)
        return error_set(e, -EBADMSG, "%s", t->file.damage);
    return etl_whole(&t->etl, e);
}

static void drop_streams(struct cpu_trace *t)
{
    for (uint32_t i = 0; t->blocks && i < t->merge.num_streams; i++) {
        free(t->blocks[i].blocks);
        free(t->blocks[i].buf);
    }
    free(t->blocks);
    t->blocks = NULL;
    cpu_merge_finish(&t->merge);
}

void cpu_trace_close(struct cpu_trace *t)
{
    drop_streams(t);
    etl_close(&t->etl);
    for (uint32_t i = 0; i < t->num_samples; i++) {
        free(t->samples[i].steal_ticks);
        free(t->samples[i].waits);
    }
    free(t->samples);
    cpu_snapshot_finish(&t->before);
    cpu_snapshot_finish(&t->after);
    cpu_coverage_finish(&t->coverage);
    json_decref(t->meta);
    json_decref(t->names);
    json_decref(t->tasks);
    json_decref(t->processes);
    free(t->rules);
    blocks_close(&t->file);
    memset(t, 0, sizeof(*t));
}

/* Keeps the blocks of a CPU that may hold events of the span: a block ends where the CPU's next one begins.
 */
static int collect(struct cpu_trace *t, struct trace_stream *s, uint16_t cpu)
{
    size_t cap = 0;

    for (uint32_t i = 0; i < t->file.num; i++) {
        const struct block *b = &t->file.list[i];
        if (b->kind != CPU_BLOCK_PAGES || b->stream != cpu || b->first > t->to_ns)
            continue;
        if (s->num && b->first <= t->from_ns && t->file.list[s->blocks[s->num - 1]].first <= b->first)
            s->num--; /* the one before ends before the span */
        if (array_reserve(s->blocks, cap, s->num + 1))
            return -ENOMEM;
        s->blocks[s->num++] = i;
    }
    return 0;
}

int cpu_trace_rewind(struct cpu_trace *t, uint64_t from_ns, uint64_t to_ns, struct cpu_source **out,
                     struct error *e)
{
    uint16_t *cpus = calloc(t->num_cpus + 1, sizeof(*cpus));
    struct trace_stream *blocks = calloc(t->num_cpus + 1, sizeof(*blocks));
    uint32_t num = 0;
    int r = -ENOMEM;

    if (t->is_windows) {
        free(cpus);
        free(blocks);
        return etl_rewind(&t->etl, out, e);
    }
    drop_streams(t);
    t->from_ns = from_ns;
    t->to_ns = to_ns;
    for (uint32_t cpu = 0; cpus && blocks && cpu < t->num_cpus; cpu++) {
        if (collect(t, &blocks[num], (uint16_t)cpu))
            goto fail;
        blocks[num].cpu = (uint16_t)cpu;
        if (blocks[num].num)
            cpus[num++] = (uint16_t)cpu;
    }
    t->blocks = blocks;
    if (cpus && blocks)
        r = cpu_merge_init(&t->merge, cpus, num, cpu_page_max_events(t->rules), fill_from_pages, t,
                           &t->notes);
    if (r)
        goto fail;
    free(cpus);
    *out = &t->merge.source;
    return 0;
fail:
    for (uint32_t i = 0; blocks && i <= num; i++) {
        free(blocks[i].blocks);
        free(blocks[i].buf);
    }
    free(blocks);
    free(cpus);
    t->blocks = NULL;
    return error_set(e, r, "no memory for the pages of %u CPUs", t->num_cpus);
}

uint64_t cpu_trace_first_ns(const struct cpu_trace *t)
{
    uint64_t first = UINT64_MAX;

    for (uint32_t i = 0; i < t->file.num; i++)
        if (t->file.list[i].kind == CPU_BLOCK_PAGES && t->file.list[i].first < first)
            first = t->file.list[i].first;
    return first == UINT64_MAX ? 0 : first;
}

void cpu_trace_type_name(const struct cpu_trace *t, uint16_t type, char *buf, size_t cap)
{
    if (t->is_windows && type < t->etl.num_kinds)
        etl_kind_name(&t->etl, &t->etl.kinds[type], buf, cap);
    else if (t->rules && t->rules->of_id[type])
        snprintf(buf, cap, "%s", t->rules->rules[t->rules->of_id[type]].name);
    else
        snprintf(buf, cap, "event %u without a format", type);
}

const uint64_t *cpu_trace_counts(const struct cpu_trace *t)
{
    return t->is_windows ? t->etl.merge.counts : t->merge.counts;
}

const char *cpu_trace_symbol(const struct cpu_trace *t, uint64_t address, char *buf, size_t cap)
{
    const char *s;

    snprintf(buf, cap, "0x%llx", (unsigned long long)address);
    s = json_string_value(json_object_get(json_object_get(t->names, "symbols"), buf));
    return s ? s : buf;
}

const char *cpu_trace_thread(const struct cpu_trace *t, int32_t tid)
{
    char key[16];
    const char *s;

    snprintf(key, sizeof(key), "%d", tid);
    s = tid == 0 ? "idle task"
                 : json_string_value(json_object_get(json_object_get(t->names, "threads"), key));
    return s ? s : "?";
}

const char *cpu_trace_thread_at(const struct cpu_trace *t, int32_t tid, uint64_t ns)
{
    char key[16];

    snprintf(key, sizeof(key), "%d", tid);
    return (uint64_t)json_integer_value(json_object_get(json_object_get(t->names, "since_ns"), key)) > ns
               ? "?"
               : cpu_trace_thread(t, tid);
}

const char *cpu_trace_state(const struct cpu_trace *t, uint32_t cpu, uint32_t state, char *buf, size_t cap)
{
    const struct cpu_snapshot *s = t->has_before ? &t->before : &t->after;

    if (cpu < s->num_cpus && state < s->cpus[cpu].num_states)
        return s->cpus[cpu].states[state].name;
    if (t->is_windows)
        snprintf(buf, cap, "C%u", state + 1); /* raw 0 is C1 */
    else
        snprintf(buf, cap, "state %u", state);
    return buf;
}
