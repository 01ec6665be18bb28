/* SPDX-License-Identifier: MIT */
#include "synth.h"

#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "cpu/model/coverage.h"

/* Ids and layouts are ours, different from any kernel's on purpose where order is concerned. */
static const struct layout {
    enum cpu_event_kind kind;
    uint64_t irq; /* for IRQ_ENTRY and IRQ_EXIT */
    const char *name;
    uint16_t id;
    struct {
        const char *type, *name;
        uint16_t offset, size;
        char operand; /* a, b, c, or 0 */
    } fields[5];
} layouts[] = {
    {CPU_EV_IDLE, 0, "power:cpu_idle", 568, {{"u32", "state", 8, 4, 'a'}, {"u32", "cpu_id", 12, 4, 'b'}}},
    {CPU_EV_IDLE_MISS,
     0,
     "power:cpu_idle_miss",
     567,
     {{"u32", "cpu_id", 8, 4, 'b'}, {"u32", "state", 12, 4, 'a'}, {"bool", "below", 16, 1, 'c'}}},
    {CPU_EV_FREQUENCY,
     0,
     "power:cpu_frequency",
     565,
     {{"u32", "state", 8, 4, 'a'}, {"u32", "cpu_id", 12, 4, 'b'}}},
    {CPU_EV_IPI_SEND,
     0,
     "ipi:ipi_send_cpu",
     354,
     {{"unsigned int", "cpu", 8, 4, 'a'},
      {"void *", "callsite", 16, 8, 'b'},
      {"void *", "callback", 24, 8, 'c'}}},
    {CPU_EV_CSD_QUEUE,
     0,
     "csd:csd_queue_cpu",
     529,
     {{"unsigned int", "cpu", 8, 4, 'a'}, {"void *", "func", 24, 8, 'b'}, {"void *", "csd", 32, 8, 'c'}}},
    {CPU_EV_CSD_EXIT,
     0,
     "csd:csd_function_exit",
     527,
     {{"void *", "func", 8, 8, 'b'}, {"void *", "csd", 16, 8, 'c'}}},
    {CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, "irq_vectors:local_timer_entry", 170, {{"int", "vector", 8, 4, 'b'}}},
    {CPU_EV_IRQ_ENTRY,
     CPU_IRQ_RESCHEDULE,
     "irq_vectors:reschedule_entry",
     155,
     {{"int", "vector", 8, 4, 'b'}}},
    {CPU_EV_IRQ_ENTRY,
     CPU_IRQ_CALL_SINGLE,
     "irq_vectors:call_function_single_entry",
     151,
     {{"int", "vector", 8, 4, 'b'}}},
    {CPU_EV_IRQ_EXIT,
     CPU_IRQ_CALL_SINGLE,
     "irq_vectors:call_function_single_exit",
     150,
     {{"int", "vector", 8, 4, 'b'}}},
    {CPU_EV_TIMER_START,
     0,
     "timer:hrtimer_start",
     460,
     {{"void *", "hrtimer", 8, 8, 'c'}, {"s64", "expires", 24, 8, 'a'}}},
    {CPU_EV_TIMER_EXPIRE,
     0,
     "timer:hrtimer_expire_entry",
     459,
     {{"void *", "hrtimer", 8, 8, 'c'}, {"s64", "now", 16, 8, 'a'}}},
    {CPU_EV_FENCE_SIGNALED,
     0,
     "dma_fence:dma_fence_signaled",
     2190,
     {{"unsigned int", "context", 16, 4, 'a'},
      {"unsigned int", "seqno", 20, 4, 'b'},
      {"__data_loc char[]", "driver", 8, 4, 0},
      {"__data_loc char[]", "timeline", 12, 4, 0}}},
    {CPU_EV_FENCE_WAIT_START,
     0,
     "dma_fence:dma_fence_wait_start",
     2191,
     {{"unsigned int", "context", 16, 4, 'a'},
      {"unsigned int", "seqno", 20, 4, 'b'},
      {"__data_loc char[]", "driver", 8, 4, 0},
      {"__data_loc char[]", "timeline", 12, 4, 0}}},
    {CPU_EV_FENCE_WAIT_END,
     0,
     "dma_fence:dma_fence_wait_end",
     2192,
     {{"unsigned int", "context", 16, 4, 'a'}, {"unsigned int", "seqno", 20, 4, 'b'}}},
    {CPU_EV_SWITCH,
     0,
     "sched:sched_switch",
     372,
     {{"pid_t", "prev_pid", 24, 4, 'a'},
      {"long", "prev_state", 32, 8, 'b'},
      {"pid_t", "next_pid", 56, 4, 'c'}}},
    {CPU_EV_FORK,
     0,
     "sched:sched_process_fork",
     366,
     {{"pid_t", "parent_pid", 12, 4, 'a'}, {"pid_t", "child_pid", 20, 4, 'b'}}},
    {CPU_EV_TASK,
     0,
     "task:task_newtask",
     120,
     {{"pid_t", "pid", 8, 4, 'a'}, {"unsigned long", "clone_flags", 32, 8, 'b'}}},
    {CPU_EV_EXIT, 0, "sched:sched_process_exit", 367, {{"pid_t", "pid", 24, 4, 'a'}}},
    {CPU_EV_EXEC,
     0,
     "sched:sched_process_exec",
     365,
     {{"pid_t", "pid", 12, 4, 'a'}, {"pid_t", "old_pid", 16, 4, 'b'}}},
    {CPU_EV_MIGRATE,
     0,
     "sched:sched_migrate_task",
     369,
     {{"pid_t", "pid", 24, 4, 'a'}, {"int", "dest_cpu", 36, 4, 'b'}}},
    {CPU_EV_WAKEUP,
     0,
     "sched:sched_wakeup",
     371,
     {{"pid_t", "pid", 24, 4, 'a'}, {"int", "target_cpu", 32, 4, 'b'}}},
};

enum { SYNTH_FENCE_TEXT = 24 };
enum { NUM_LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static void format_text(const struct layout *l, struct strbuf *o)
{
    strbuf_printf(o,
                  "name: %s\nID: %u\nformat:\n"
                  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                  "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
                  strchr(l->name, ':') + 1, l->id);
    for (int i = 0; i < 5 && l->fields[i].name; i++)
        strbuf_printf(o, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:0;\n", l->fields[i].type,
                      l->fields[i].name, l->fields[i].offset, l->fields[i].size);
    strbuf_puts(o, "\nprint fmt: \"\"\n");
}

char *synth_formats(void)
{
    json_t *j = json_pack("{s:s, s:{}}", "header_page", header_page, "events");
    char *text;

    for (int i = 0; i < NUM_LAYOUTS; i++) {
        struct strbuf o = {0};
        format_text(&layouts[i], &o);
        json_object_set_new(json_object_get(j, "events"), layouts[i].name, json_string(strbuf_str(&o)));
        strbuf_finish(&o);
    }
    text = json_dumps(j, JSON_COMPACT);
    json_decref(j);
    return text;
}

void synth_rules(struct cpu_rules *r)
{
    struct error e = {0};
    int err = cpu_rules_init(r, header_page, sizeof(header_page) - 1, &e);

    assert(!err);
    for (int i = 0; i < NUM_LAYOUTS; i++) {
        struct strbuf o = {0};
        char system[32];
        snprintf(system, sizeof(system), "%.*s", (int)strcspn(layouts[i].name, ":"), layouts[i].name);
        format_text(&layouts[i], &o);
        err = cpu_rules_add(r, system, strbuf_str(&o), o.len, &e);
        assert(!err);
        strbuf_finish(&o);
    }
}

void synth_init(struct synth *s, uint32_t num_cpus, uint32_t num_states, uint64_t begin_ns)
{
    static const struct {
        const char *name;
        uint32_t latency;
    } states[] = {{"POLL", 0}, {"C1", 1}, {"C2", 151}, {"C3", 1034}};

    *s = (struct synth){
        .num_cpus = num_cpus, .num_states = num_states, .begin_ns = begin_ns, .end_ns = begin_ns};
    s->cpus = calloc(num_cpus, sizeof(*s->cpus));
    for (int k = 0; k < 2; k++) {
        struct cpu_snapshot *snap = k ? &s->after : &s->before;
        *snap = (struct cpu_snapshot){
            .ticks_per_second = 100, .num_cpus = num_cpus, .driver = "made_up", .governor = "menu"};
        snap->cpus = calloc(num_cpus, sizeof(*snap->cpus));
        for (uint32_t i = 0; i < num_cpus; i++) {
            snap->cpus[i].online = true;
            snap->cpus[i].num_states = num_states;
            for (uint32_t n = 0; n < num_states; n++) {
                snprintf(snap->cpus[i].states[n].name, 32, "%s", states[n].name);
                snap->cpus[i].states[n].latency_us = states[n].latency;
            }
        }
    }
}

void synth_finish(struct synth *s)
{
    for (uint32_t i = 0; i < s->num_cpus; i++)
        free(s->cpus[i].pages);
    free(s->cpus);
    cpu_snapshot_finish(&s->before);
    cpu_snapshot_finish(&s->after);
}

static uint8_t *new_page(struct synth_cpu *c, uint64_t ns)
{
    uint8_t *p;

    if (c->num == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 4;
        c->pages = realloc(c->pages, c->cap * SYNTH_PAGE + CPU_PAGE_PAD);
    }
    p = c->pages + c->num++ * SYNTH_PAGE;
    memset(p, 0, SYNTH_PAGE + CPU_PAGE_PAD);
    memcpy(p, &ns, 8);
    c->used = 0;
    c->last_ns = ns;
    return p;
}

/* Of a fence: whose it is. */
static void put_fence(uint8_t *data, uint64_t c)
{
    static const char *const whose[][2] = {[SYNTH_FENCE_GPU] = {"amdgpu", "gfx_0.0.0"},
                                           [SYNTH_FENCE_OTHER] = {"vgem", "unbound"},
                                           [SYNTH_FENCE_DISPLAY] = {"i915", "CRTC:51-pipe A"},
                                           [SYNTH_FENCE_SECOND] = {"i915", "rcs0"},
                                           [SYNTH_FENCE_MANY] = {"dma_fence_array", "unbound"}};
    uint16_t at = SYNTH_FENCE_TEXT;

    for (int i = 0; i < 2; i++) {
        const uint16_t where[2] = {at, (uint16_t)(strlen(whose[c][i]) + 1)};

        memcpy(data + 8 + 4 * i, where, sizeof(where));
        memcpy(data + at, whose[c][i], where[1]);
        at = (uint16_t)(at + where[1]);
    }
}

void synth_event(struct synth *s, uint32_t cpu, uint64_t ns, int32_t tid, enum cpu_event_kind kind,
                 uint64_t a, uint64_t b, uint64_t c)
{
    const struct layout *l = NULL;
    struct synth_cpu *sc = &s->cpus[cpu];
    uint8_t *page, *rec;
    uint32_t size = 8, head, need;
    uint64_t delta;

    for (int i = 0; i < NUM_LAYOUTS && !l; i++)
        if (layouts[i].kind == kind &&
            ((kind != CPU_EV_IRQ_ENTRY && kind != CPU_EV_IRQ_EXIT) || layouts[i].irq == a))
            l = &layouts[i];
    assert(l && ns >= sc->last_ns);
    for (int i = 0; i < 5 && l->fields[i].name; i++)
        if (l->fields[i].offset + l->fields[i].size > (int)size)
            size = l->fields[i].offset + l->fields[i].size;
    if (kind == CPU_EV_FENCE_SIGNALED || kind == CPU_EV_FENCE_WAIT_START)
        size = SYNTH_FENCE_TEXT + 40;
    size = (size + 3) & ~3u;
    need = 4 + size + 8;
    page = sc->num && sc->used + need <= SYNTH_PAGE - 16 ? sc->pages + (sc->num - 1) * SYNTH_PAGE
                                                         : new_page(sc, ns);
    delta = ns - sc->last_ns;
    rec = page + 16 + sc->used;
    if (delta >> 27) {
        uint32_t ext[2] = {30 | (uint32_t)(delta & 0x7ffffff) << 5, (uint32_t)(delta >> 27)};
        memcpy(rec, ext, 8);
        rec += 8;
        sc->used += 8;
        delta = 0;
    }
    head = size / 4 | (uint32_t)delta << 5;
    memcpy(rec, &head, 4);
    memcpy(rec + 4, &l->id, 2);
    memcpy(rec + 8, &tid, 4);
    for (int i = 0; i < 5 && l->fields[i].name; i++) {
        uint64_t v = l->fields[i].operand == 'a' ? a : l->fields[i].operand == 'b' ? b : c;
        if (l->fields[i].operand)
            memcpy(rec + 4 + l->fields[i].offset, &v, l->fields[i].size);
    }
    if (kind == CPU_EV_FENCE_SIGNALED || kind == CPU_EV_FENCE_WAIT_START)
        put_fence(rec + 4, c);
    sc->used += 4 + size;
    memcpy(page + 8, &sc->used, 4);
    sc->last_ns = ns;
    if (ns > s->end_ns)
        s->end_ns = ns;
}

void synth_idle(struct synth *s, uint32_t cpu, uint64_t ns, uint32_t state)
{
    synth_event(s, cpu, ns, 0, CPU_EV_IDLE, state, cpu, 0);
    s->cpus[cpu].idle_entries[state]++;
    s->cpus[cpu].idle_since = ns;
    s->cpus[cpu].idle_state = state;
}

void synth_wake(struct synth *s, uint32_t cpu, uint64_t ns)
{
    synth_event(s, cpu, ns, 0, CPU_EV_IDLE, CPU_IDLE_LEFT, cpu, 0);
    if (s->cpus[cpu].idle_since)
        s->cpus[cpu].idle_ns += ns - s->cpus[cpu].idle_since;
    s->cpus[cpu].idle_since = 0;
}

static void put_samples(struct synth *s, struct blocks_writer *w)
{
    for (uint64_t ns = s->begin_ns; ns <= s->end_ns + 99999999; ns += 100000000) {
        json_t *steal = json_array();
        for (uint32_t i = 0; i < s->num_cpus; i++) {
            uint64_t to = ns < s->steal_to_ns ? ns : s->steal_to_ns;
            uint64_t taken = i == s->steal_cpu && to > s->steal_from_ns ? to - s->steal_from_ns : 0;
            json_array_append_new(steal, json_integer((json_int_t)(taken / 10000000)));
        }
        cpu_writer_json(w, CPU_BLOCK_SAMPLE, 0,
                        json_pack("{s:I, s:o, s:[i, I], s:o*}", "ns", (json_int_t)ns, "steal_ticks", steal,
                                  "pressure_us", 0,
                                  (json_int_t)(s->memory_percent * (ns - s->begin_ns) / 100000), "tasks",
                                  s->tasks && ns >= s->tasks_from_ns && ns <= s->tasks_to_ns
                                      ? json_loads(s->tasks, 0, NULL)
                                      : NULL));
    }
}

void synth_write(struct synth *s, const char *path)
{
    const bool counters[CPU_COUNTER_COUNT] = {true, true, true}; /* where the snapshots have them */
    struct cpu_coverage cov;
    struct blocks_writer *w;
    struct error e = {0};
    char *formats = synth_formats();
    int err = cpu_writer_create(&w, path, &e);

    assert(!err);
    s->before.ns = s->begin_ns;
    s->after.ns = s->end_ns;
    for (uint32_t i = 0; i < s->num_cpus; i++) {
        s->before.cpus[i].ns = s->begin_ns;
        s->after.cpus[i].ns = s->end_ns;
        for (uint32_t k = 0; k < s->num_states; k++)
            s->after.cpus[i].states[k].usage += s->cpus[i].idle_entries[k];
    }
    cpu_writer_json(w, CPU_BLOCK_META, 0,
                    json_pack("{s:s, s:s, s:s*, s:i, s:b, s:b}", "system", "made up for a test", "clock",
                              "mono", "boot_id", s->no_boot ? NULL : SYNTH_BOOT, "clock_offset_ns", 0,
                              "sched", 1, "timers", 1));
    cpu_writer_json(w, CPU_BLOCK_FORMATS, 0, json_loads(formats, 0, NULL));
    cpu_writer_json(w, CPU_BLOCK_SNAPSHOT, 0,
                    json_pack("{s:s, s:o, s:o*, s:o*}", "when", "before", "snapshot",
                              cpu_snapshot_to_json(&s->before), "tasks",
                              s->owners ? json_loads(s->owners, 0, NULL) : NULL, "processes",
                              s->processes ? json_loads(s->processes, 0, NULL) : NULL));
    for (size_t at = 0, more = 1; more; at += 64) {
        more = 0;
        for (uint32_t i = 0; i < s->num_cpus; i++) {
            struct synth_cpu *c = &s->cpus[i];
            size_t n = c->num > at ? c->num - at : 0;
            if (n > 64)
                n = 64;
            if (n)
                cpu_writer_pages(w, (uint16_t)i, cpu_page_time(c->pages + at * SYNTH_PAGE),
                                 c->pages + at * SYNTH_PAGE, n * SYNTH_PAGE);
            more += n;
        }
    }
    put_samples(s, w);
    cpu_writer_json(w, CPU_BLOCK_SNAPSHOT, 0,
                    json_pack("{s:s, s:o}", "when", "after", "snapshot", cpu_snapshot_to_json(&s->after)));
    if (!s->no_end) {
        err = cpu_coverage_init(&cov, &s->before, &s->after, counters);
        assert(!err);
        for (uint32_t i = 0; i < s->num_cpus; i++)
            cov.cpus[i].idle_recorded_ns = s->cpus[i].idle_ns;
        for (uint32_t i = 0; i < s->num_cpus; i++)
            for (uint32_t k = 0; k < CPU_MAX_STATES; k++) {
                cov.cpus[i].state_recorded[k] = s->cpus[i].idle_entries[k];
                cov.cpus[i].recorded += s->cpus[i].idle_entries[k];
            }
        cpu_writer_json(
            w, CPU_BLOCK_END, 0,
            json_pack("{s:i, s:[], s:o}", "lost", 0, "cpus", "coverage", cpu_coverage_to_json(&cov)));
        cpu_coverage_finish(&cov);
    }
    err = blocks_writer_finish(w, 0, &e);
    assert(!err);
    free(formats);
}
