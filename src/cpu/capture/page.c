/* SPDX-License-Identifier: MIT */
#include "cpu/capture/page.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Which fields of which event become a, b and c. `irq` is for IRQ_ENTRY and IRQ_EXIT, whose a says what for.
 */
static const struct binding {
    const char *event;
    uint8_t kind;
    const char *a, *b, *c;
    uint8_t irq;
} bindings[] = {
    {"power:cpu_idle", CPU_EV_IDLE, "state", "cpu_id", NULL, 0},
    {"power:cpu_idle_miss", CPU_EV_IDLE_MISS, "state", "cpu_id", "below", 0},
    {"power:cpu_frequency", CPU_EV_FREQUENCY, "state", "cpu_id", NULL, 0},
    {"power:pstate_sample", CPU_EV_DELIVERED, "aperf", "mperf", NULL, 0},
    {"ipi:ipi_send_cpu", CPU_EV_IPI_SEND, "cpu", "callsite", "callback", 0},
    {"ipi:ipi_send_cpumask", CPU_EV_IPI_SEND_MASK, "cpumask", "callsite", "callback", 0},
    {"csd:csd_queue_cpu", CPU_EV_CSD_QUEUE, "cpu", "func", "csd", 0},
    {"csd:csd_function_entry", CPU_EV_CSD_ENTRY, NULL, "func", "csd", 0},
    {"csd:csd_function_exit", CPU_EV_CSD_EXIT, NULL, "func", "csd", 0},
    {"irq_vectors:local_timer_entry", CPU_EV_IRQ_ENTRY, NULL, "vector", NULL, CPU_IRQ_TIMER},
    {"irq_vectors:local_timer_exit", CPU_EV_IRQ_EXIT, NULL, "vector", NULL, CPU_IRQ_TIMER},
    {"irq_vectors:reschedule_entry", CPU_EV_IRQ_ENTRY, NULL, "vector", NULL, CPU_IRQ_RESCHEDULE},
    {"irq_vectors:reschedule_exit", CPU_EV_IRQ_EXIT, NULL, "vector", NULL, CPU_IRQ_RESCHEDULE},
    {"irq_vectors:call_function_entry", CPU_EV_IRQ_ENTRY, NULL, "vector", NULL, CPU_IRQ_CALL},
    {"irq_vectors:call_function_exit", CPU_EV_IRQ_EXIT, NULL, "vector", NULL, CPU_IRQ_CALL},
    {"irq_vectors:call_function_single_entry", CPU_EV_IRQ_ENTRY, NULL, "vector", NULL, CPU_IRQ_CALL_SINGLE},
    {"irq_vectors:call_function_single_exit", CPU_EV_IRQ_EXIT, NULL, "vector", NULL, CPU_IRQ_CALL_SINGLE},
    {"irq_vectors:irq_work_entry", CPU_EV_IRQ_ENTRY, NULL, "vector", NULL, CPU_IRQ_IRQ_WORK},
    {"irq_vectors:irq_work_exit", CPU_EV_IRQ_EXIT, NULL, "vector", NULL, CPU_IRQ_IRQ_WORK},
    {"irq_vectors:x86_platform_ipi_entry", CPU_EV_IRQ_ENTRY, NULL, "vector", NULL, CPU_IRQ_OTHER},
    {"irq_vectors:x86_platform_ipi_exit", CPU_EV_IRQ_EXIT, NULL, "vector", NULL, CPU_IRQ_OTHER},
    {"irq_vectors:error_apic_entry", CPU_EV_IRQ_ENTRY, NULL, "vector", NULL, CPU_IRQ_OTHER},
    {"irq_vectors:error_apic_exit", CPU_EV_IRQ_EXIT, NULL, "vector", NULL, CPU_IRQ_OTHER},
    {"irq_vectors:spurious_apic_entry", CPU_EV_IRQ_ENTRY, NULL, "vector", NULL, CPU_IRQ_OTHER},
    {"irq_vectors:spurious_apic_exit", CPU_EV_IRQ_EXIT, NULL, "vector", NULL, CPU_IRQ_OTHER},
    {"irq_vectors:thermal_apic_entry", CPU_EV_IRQ_ENTRY, NULL, "vector", NULL, CPU_IRQ_OTHER},
    {"irq_vectors:thermal_apic_exit", CPU_EV_IRQ_EXIT, NULL, "vector", NULL, CPU_IRQ_OTHER},
    {"irq:irq_handler_entry", CPU_EV_IRQ_ENTRY, NULL, "irq", NULL, CPU_IRQ_DEVICE},
    {"irq:irq_handler_exit", CPU_EV_IRQ_EXIT, NULL, "irq", NULL, CPU_IRQ_DEVICE},
    {"timer:tick_stop", CPU_EV_TICK_STOP, "success", "dependency", NULL, 0},
    {"timer:hrtimer_start", CPU_EV_TIMER_START, "expires", NULL, "hrtimer", 0},
    {"timer:hrtimer_expire_entry", CPU_EV_TIMER_EXPIRE, "now", NULL, "hrtimer", 0},
    {"timer:hrtimer_cancel", CPU_EV_TIMER_CANCEL, NULL, NULL, "hrtimer", 0},
    {"dma_fence:dma_fence_init", CPU_EV_FENCE_INIT, "context", "seqno", NULL, 0},
    {"dma_fence:dma_fence_emit", CPU_EV_FENCE_EMIT, "context", "seqno", NULL, 0},
    {"dma_fence:dma_fence_signaled", CPU_EV_FENCE_SIGNALED, "context", "seqno", NULL, 0},
    {"dma_fence:dma_fence_wait_start", CPU_EV_FENCE_WAIT_START, "context", "seqno", NULL, 0},
    {"dma_fence:dma_fence_wait_end", CPU_EV_FENCE_WAIT_END, "context", "seqno", NULL, 0},
    {"sched:sched_switch", CPU_EV_SWITCH, "prev_pid", "prev_state", "next_pid", 0},
    {"sched:sched_wakeup", CPU_EV_WAKEUP, "pid", "target_cpu", NULL, 0},
    {"sched:sched_wakeup_new", CPU_EV_WAKEUP, "pid", "target_cpu", NULL, 0},
    {"sched:sched_process_fork", CPU_EV_FORK, "parent_pid", "child_pid", NULL, 0},
    {"sched:sched_process_exit", CPU_EV_EXIT, "pid", NULL, NULL, 0},
    {"sched:sched_process_exec", CPU_EV_EXEC, "pid", "old_pid", NULL, 0},
    {"sched:sched_migrate_task", CPU_EV_MIGRATE, "pid", "dest_cpu", NULL, 0},
    {"task:task_rename", CPU_EV_RENAME, "pid", NULL, NULL, 0},
    {"task:task_newtask", CPU_EV_TASK, "pid", "clone_flags", NULL, 0},
    {"signal:signal_generate", CPU_EV_SIGNAL, "pid", "sig", "code", 0},
    {"watchdog:watchdog_start", CPU_EV_WATCHDOG, "id", NULL, NULL, 0},
    {"watchdog:watchdog_ping", CPU_EV_WATCHDOG, "id", NULL, NULL, 0},
    {"watchdog:watchdog_stop", CPU_EV_WATCHDOG, "id", NULL, NULL, 0},
    {"watchdog:watchdog_set_timeout", CPU_EV_WATCHDOG, "id", NULL, NULL, 0},
};

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, 8);
    return le64toh(v);
}

static inline uint32_t load32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, 4);
    return le32toh(v);
}

uint64_t cpu_page_time(const uint8_t *page)
{
    return load64(page);
}

int cpu_rules_init(struct cpu_rules *r, const char *text, size_t size, struct error *e)
{
    const struct cpu_field *stamp, *commit, *data;
    struct cpu_format f;
    int err = cpu_format_parse(&f, text, size, e);

    memset(r, 0, sizeof(*r));
    if (err) {
        error_prefix(e, "header_page");
        return err;
    }
    stamp = cpu_format_field(&f, "timestamp");
    commit = cpu_format_field(&f, "commit");
    data = cpu_format_field(&f, "data");
    if (!stamp || !commit || !data)
        return error_set(e, -EINVAL, "header_page: timestamp, commit or data is missing");
    if (stamp->offset != 0 || stamp->size != 8 || commit->offset != 8 ||
        (commit->size != 8 && commit->size != 4))
        return error_set(e, -EINVAL,
                         "header_page: time stamp at %u and commit at %u are not where pages have them",
                         stamp->offset, commit->offset);
    r->page_size = data->offset + data->size;
    r->data_offset = data->offset;
    r->commit_offset = commit->offset;
    r->commit_size = commit->size;
    if (r->data_offset < commit->offset + commit->size || r->page_size < 256 || r->page_size > 65536 ||
        r->page_size % 256)
        return error_set(e, -EINVAL, "header_page: data at %u with size %u is not a page", data->offset,
                         data->size);
    r->num_rules = 1;
    r->pid_offset = 4;
    return 0;
}

static uint64_t bind(const struct cpu_format *f, const char *name, uint16_t *off, uint16_t *need,
                     bool *missing)
{
    const struct cpu_field *field = name ? cpu_format_field(f, name) : NULL;

    if (!field) {
        *missing |= name != NULL;
        return 0;
    }
    if (field->size == 0 || field->size > 8 || field->offset + 8 > CPU_PAGE_PAD - 8) {
        *missing = true;
        return 0;
    }
    *off = (uint16_t)field->offset;
    if (*need < field->offset + field->size)
        *need = (uint16_t)(field->offset + field->size);
    return field->size == 8 ? UINT64_MAX : (UINT64_C(1) << (field->size * 8)) - 1;
}

/* Whose it is, where the format says so. */
static void bind_fence(struct cpu_rule *rule, const struct cpu_format *f)
{
    const struct cpu_field *timeline = cpu_format_field(f, "timeline");
    const struct cpu_field *driver = cpu_format_field(f, "driver");
    bool missing = false;

    if (!driver || !driver->is_data_loc || driver->size != 4)
        return;
    rule->mask_c = bind(f, "driver", &rule->off_c, &rule->min_size, &missing);
    if (!missing && timeline && timeline->is_data_loc && timeline->size == 4)
        (void)bind(f, "timeline", &rule->off_timeline, &rule->min_size, &missing);
}

int cpu_rules_add(struct cpu_rules *r, const char *system, const char *text, size_t size, struct error *e)
{
    const struct cpu_field *pid;
    struct cpu_format f;
    struct cpu_rule *rule;
    bool missing = false;
    int err = cpu_format_parse(&f, text, size, e);

    if (err) {
        error_prefix(e, "format of %s", system);
        return err;
    }
    pid = cpu_format_field(&f, "common_pid");
    if (!pid || pid->size != 4 || pid->offset > 12)
        return error_set(e, -EINVAL, "format of %s:%s: no common_pid", system, f.name);
    if (r->num_rules == CPU_MAX_RULES)
        return error_set(e, -E2BIG, "format of %s:%s: more than %d events", system, f.name,
                         CPU_MAX_RULES - 1);
    rule = &r->rules[r->num_rules];
    memset(rule, 0, sizeof(*rule));
    rule->id = (uint16_t)f.id;
    rule->min_size = (uint16_t)(pid->offset + 4);
    r->pid_offset = (uint16_t)pid->offset;
    snprintf(rule->name, sizeof(rule->name), "%s:%s", system, f.name);
    for (size_t i = 0; i < sizeof(bindings) / sizeof(bindings[0]); i++) {
        const struct binding *b = &bindings[i];
        if (strcmp(b->event, rule->name))
            continue;
        rule->kind = b->kind;
        rule->mask_a = bind(&f, b->a, &rule->off_a, &rule->min_size, &missing);
        rule->mask_b = bind(&f, b->b, &rule->off_b, &rule->min_size, &missing);
        rule->mask_c = bind(&f, b->c, &rule->off_c, &rule->min_size, &missing);
        rule->const_a = b->irq;
    }
    if (rule->kind >= CPU_EV_FENCE_INIT && rule->kind <= CPU_EV_FENCE_WAIT_END)
        bind_fence(rule, &f);
    if (missing)
        return error_set(e, -EINVAL, "format of %s: a field that the analysis needs is missing", rule->name);
    r->of_id[f.id] = r->num_rules++;
    return 0;
}

/* The mask of ipi_send_cpumask is found through a u32 {offset:16, length:16} relative to the record. */
static bool take_mask(struct cpu_event *ev, const uint8_t *data, uint32_t len)
{
    uint32_t at = ev->a & 0xffff, size = (uint32_t)(ev->a >> 16) & 0xffff;

    if (at > len || size > len - at)
        return false;
    ev->data = data + at;
    ev->data_size = (uint16_t)size;
    return true;
}

/* A text that is found like a mask: "" where it is none. */
static void take_text(char out[32], uint32_t where, const uint8_t *data, uint32_t len)
{
    const uint32_t at = where & 0xffff, size = where >> 16;

    out[0] = '\0';
    if (at && at <= len && size <= len - at)
        snprintf(out, 32, "%.*s", (int)(size < 31 ? size : 31), (const char *)data + at);
}

static uint32_t take_fence(const struct cpu_rule *rule, uint32_t where, const uint8_t *data, uint32_t len)
{
    char driver[32], timeline[32];

    take_text(driver, where, data, len);
    take_text(timeline, rule->off_timeline ? load32(data + rule->off_timeline) : 0, data, len);
    return cpu_fence_of(driver, timeline);
}

static void page_note(struct cpu_notes *notes, struct cpu_page_stats *stats, uint16_t cpu, uint64_t where,
                      size_t offset, const char *what)
{
    stats->bad++;
    cpu_note(notes, "CPU %u, page %llu, offset %zu: %s", cpu, (unsigned long long)where, offset, what);
}

static uint32_t lost_event(const struct cpu_rules *r, const uint8_t *page, uint32_t commit, uint32_t len,
                           uint16_t cpu, struct cpu_event *ev, struct cpu_page_stats *stats)
{
    uint64_t lost = 0;

    if (!(commit & 0x80000000u))
        return 0;
    if ((commit & 0x40000000u) && r->data_offset + len + 8 <= r->page_size)
        lost = load64(page + r->data_offset + len);
    else
        stats->lost_uncounted = true;
    stats->lost += lost;
    *ev = (struct cpu_event){.ns = load64(page), .kind = CPU_EV_LOST, .a = lost, .cpu = cpu, .tid = -1};
    return 1;
}

uint32_t cpu_page_decode(const struct cpu_rules *r, const uint8_t *page, uint16_t cpu, struct cpu_event *ev,
                         struct cpu_page_stats *stats, struct cpu_notes *notes, uint64_t where)
{
    const uint32_t commit = load32(page + r->commit_offset), room = r->page_size - r->data_offset;
    uint32_t len = commit & 0xfffff, n = 0;
    const uint8_t *p = page + r->data_offset, *end;
    uint64_t ns = load64(page);

    stats->pages++;
    if (len > room) {
        page_note(notes, stats, cpu, where, r->commit_offset, "the page says that it holds more than a page");
        len = room;
    }
    stats->bytes += len;
    end = p + len;
    n = lost_event(r, page, commit, len, cpu, ev, stats);
    while (end - p >= 4) {
        const uint32_t head = load32(p), type = head & 31, delta = head >> 5;
        const struct cpu_rule *rule;
        const uint8_t *data = p + 4;
        uint32_t size = type * 4, id;

        if (type == 0 || type > 28) {
            if (end - p < 8) {
                if (type != 29 || delta)
                    page_note(notes, stats, cpu, where, (size_t)(p - page), "a record is cut");
                break;
            }
            if (type >= 30) {
                const uint64_t t = delta + ((uint64_t)load32(p + 4) << 27);
                ns = type == 30 ? ns + t : t | (ns & UINT64_C(0xf800000000000000));
                p += 8;
                continue;
            }
            if (type == 29 && !delta)
                break;
            size = load32(p + 4);
            if (type == 0) {
                data += 4;
                size -= 4;
            }
        }
        if (size > (size_t)(end - data) || (type == 0 && size < 4)) {
            page_note(notes, stats, cpu, where, (size_t)(p - page), "a record reaches past the page");
            break;
        }
        p = data + ((size + 3) & ~3u);
        if (type == 29)
            continue;
        ns += delta;
        id = data[0] | (uint32_t)data[1] << 8;
        rule = &r->rules[r->of_id[id]];
        ev[n] = (struct cpu_event){
            .ns = ns,
            .a = (load64(data + rule->off_a) & rule->mask_a) | rule->const_a,
            .b = load64(data + rule->off_b) & rule->mask_b,
            .c = load64(data + rule->off_c) & rule->mask_c,
            .kind = rule->kind,
            .cpu = cpu,
            .type = (uint16_t)id,
            .tid = (int32_t)load32(data + r->pid_offset),
        };
        if (size < rule->min_size || (rule->kind == CPU_EV_IPI_SEND_MASK && !take_mask(&ev[n], data, size))) {
            page_note(notes, stats, cpu, where, (size_t)(data - page), "an event is shorter than its format");
            continue;
        }
        if (rule->kind >= CPU_EV_FENCE_INIT && rule->kind <= CPU_EV_FENCE_WAIT_END)
            ev[n].c = take_fence(rule, (uint32_t)ev[n].c, data, size);
        n++;
    }
    stats->events += n;
    return n;
}
