/* SPDX-License-Identifier: MIT */
/* collect.c: what a snapshot knows becomes rows of the dump. */
#include "watch/collect.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi/alloc_table.h"
#include "base/file/png.h"
#include "base/sched/boot_clock.h"
#include "base/sched/pid_namespace.h"

enum { MAX_FLIGHT = 50000 };

/* When the device took the submission; 0 is none. */
static void put_time(struct collector *c, enum bb_col column, uint64_t submission)
{
    const struct retained *k = watch_submission(c->sn, submission);

    if (k)
        bb_int(c->p, column, (int64_t)k->time_ns);
}

/* By the table of the submission that made it. */
static void put_gpa(struct collector *c, const struct watch_object *o)
{
    const struct retained *k = watch_submission(c->sn, o->created);
    struct abi_alloc_table table = {0};
    const struct abi_alloc *a;

    if (!o->alloc_id || !k || !k->table || abi_alloc_table_parse(&table, k->table, k->alloc_size, NULL))
        return;
    a = abi_alloc_table_find(&table, o->alloc_id);
    if (a)
        bb_int(c->p, BB_resource_gpa, (int64_t)(a->gpa + o->alloc_offset));
    abi_alloc_table_finish(&table);
}

static void put_objects(struct collector *c)
{
    static const char *const stages[] = {"pixel", "vertex", "geometry", "hull", "domain", "compute"};

    for (uint32_t i = 0; i < c->model.num_objects; i++) {
        const struct watch_object *o = &c->model.objects[i];
        char name[64];

        watch_object_name(name, o);
        if (o->kind == WATCH_OBJECT_SHADER) {
            bool dxbc = o->bytes_size >= 4 && !memcmp(o->bytes, "DXBC", 4);
            bool spirv = o->bytes_size >= 4 && !memcmp(o->bytes, "\x03\x02\x23\x07", 4);

            bb_row(c->p, BB_TABLE_SHADER);
            bb_text(c->p, BB_shader_hash, o->hash);
            bb_text(c->p, BB_shader_name, o->name[0] ? o->name : NULL);
            bb_int(c->p, BB_shader_handle, o->handle);
            bb_text(c->p, BB_shader_stage, o->stage < 6 ? stages[o->stage] : "?");
            bb_text(c->p, BB_shader_kind, dxbc ? "DXBC" : spirv ? "SPIR-V" : "D3D9");
            bb_int(c->p, BB_shader_alive, o->alive);
            bb_blob(c->p, BB_shader_bytes, o->bytes, o->bytes_size);
            if (c->w->params.disassemble) {
                struct strbuf text = {0};

                c->w->params.disassemble(&text, o->bytes, o->bytes_size);
                bb_text(c->p, BB_shader_text, strbuf_str(&text));
                strbuf_finish(&text);
            }
            bb_row_end(c->p);
        } else if (o->kind != WATCH_OBJECT_OTHER) {
            bb_row(c->p, BB_TABLE_RESOURCE);
            bb_int(c->p, BB_resource_id, o->handle);
            bb_text(c->p, BB_resource_kind, name);
            bb_text(c->p, BB_resource_name, o->name[0] ? o->name : o->made_in[0] ? o->made_in : NULL);
            bb_int(c->p, BB_resource_size, (int64_t)o->size);
            put_gpa(c, o);
            put_time(c, BB_resource_created_ns, o->created);
            put_time(c, BB_resource_last_use_ns, o->last_use);
            put_time(c, BB_resource_destroyed_ns, o->destroyed);
            bb_row_end(c->p);
        }
    }
}

static void put_events(struct collector *c)
{
    for (uint32_t i = 0; i < c->sn->num_events; i++) {
        const struct device_event *d = &c->sn->events[i];

        bb_row(c->p, BB_TABLE_EVENT);
        bb_int(c->p, BB_event_time_ns, (int64_t)d->time_ns);
        bb_text(c->p, BB_event_process, d->kind == GPU_EVENT_KINDS ? "system" : "device");
        bb_int(c->p, BB_event_pid, getpid());
        bb_text(c->p, BB_event_name,
                d->kind == GPU_EVENT_KINDS ? "event" : gpu_event_name((enum gpu_event_kind)d->kind));
        bb_int(c->p, BB_event_a, (int64_t)d->a);
        bb_int(c->p, BB_event_b, (int64_t)d->b);
        bb_int(c->p, BB_event_c, (int64_t)d->c);
        bb_text(c->p, BB_event_text, d->text[0] ? d->text : NULL);
        bb_row_end(c->p);
    }
}

struct flight_rows {
    struct bb_package *p;
    uint32_t left;
};

static void put_flight_event(void *ctx, const struct bb_flight_record *r)
{
    struct flight_rows *rows = ctx;

    if (!rows->left || !strcmp(r->process, "device"))
        return; /* the device's own are there already, with their texts */
    rows->left--;
    bb_row(rows->p, BB_TABLE_EVENT);
    bb_int(rows->p, BB_event_time_ns, (int64_t)r->time_ns);
    bb_text(rows->p, BB_event_process, r->process);
    bb_int(rows->p, BB_event_pid, r->pid);
    bb_int(rows->p, BB_event_thread, r->thread);
    bb_text(rows->p, BB_event_name, r->name);
    bb_int(rows->p, BB_event_a, (int64_t)r->a);
    bb_int(rows->p, BB_event_b, (int64_t)r->b);
    bb_int(rows->p, BB_event_c, (int64_t)r->c);
    bb_row_end(rows->p);
}

/* What every process recorded in the last ten seconds. */
static void put_flight(struct collector *c)
{
    struct flight_rows rows = {c->p, MAX_FLIGHT};

    if (c->w->flight)
        bb_flight_read_all(NULL, c->sn->time_ns - 10 * NSEC_PER_SEC, put_flight_event, &rows, NULL);
}

static void put_picture(struct collector *c)
{
    struct gpu_picture pic = {0};
    int fd = memfd_create("blackbox-picture", MFD_CLOEXEC);
    char path[64];
    struct stat st;
    void *map;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd < 0 || gpu_read_scanout(machine_gpu(c->w->params.machine), 0, &pic, NULL) ||
        png_file_write(path, pic.rgba, pic.width, pic.height, (size_t)pic.width * 4, NULL) || fstat(fd, &st))
        goto out;
    map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        goto out;
    bb_row(c->p, BB_TABLE_PICTURE);
    bb_int(c->p, BB_picture_time_ns, (int64_t)c->sn->time_ns);
    bb_text(c->p, BB_picture_name, "scanout 0");
    bb_int(c->p, BB_picture_width, pic.width);
    bb_int(c->p, BB_picture_height, pic.height);
    bb_blob(c->p, BB_picture_png, map, (size_t)st.st_size);
    bb_row_end(c->p);
    munmap(map, (size_t)st.st_size);
out:
    free(pic.rgba);
    if (fd >= 0)
        close(fd);
}

/* The extension that the marks are written with. */
static const char *writer_text(const struct snapshot *sn)
{
    static const char *const names[] = {"", "; by VK_AMD_buffer_marker, top and bottom of pipe",
                                        "; with VK_NV_device_diagnostic_checkpoints once the device is lost"};
    uint32_t w = sn->has_progress ? sn->progress.writer : 0;

    return names[w < 3 ? w : 0];
}

static const char *markers_text(const struct snapshot *sn)
{
    if (!sn->has_progress || sn->progress.way == EXEC_PROGRESS_NONE)
        return "none";
    if (sn->progress.exact)
        return sn->progress.way == EXEC_PROGRESS_SHARED
                   ? "exact: every command, written by the Vulkan device into shared memory"
                   : "exact: every command, copied by the executor every 5 ms";
    return sn->progress.way == EXEC_PROGRESS_SHARED
               ? "groups of commands (one command buffer each), written by the Vulkan device into shared "
                 "memory"
               : "groups of commands (one command buffer each), copied by the executor every 5 ms";
}

static void setting(void *package, const char *name, const char *value)
{
    char key[300];

    snprintf(key, sizeof(key), "setting.%s", name);
    bb_meta(package, key, "%s", value);
}

/* What the system and the environment had set. */
static void collect_settings(struct collector *c)
{
    const struct watch_params *p = &c->w->params;
    char text[256];

    snprintf(text, sizeof(text), "%u", p->hang_ms);
    setting(c->p, "hang_ms", text);
    if (p->settings)
        p->settings(p->settings_of, setting, c->p);
    for (char **e = environ; *e; e++) {
        const char *value = strchr(*e, '=');

        if (strncmp(*e, "AEROGPU_", 8) || !value || value - *e >= (ptrdiff_t)sizeof(text))
            continue;
        snprintf(text, sizeof(text), "%.*s", (int)(value - *e), *e);
        setting(c->p, text, value + 1);
    }
}

static void put_meta(struct collector *c, const struct watch_crash *crash)
{
    char device[256], stamp[40], numbers[32], boot[40], offset[24];
    time_t t = time(NULL);
    struct tm tm;
    bool is_cpu;

    gmtime_r(&t, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &tm);
    machine_device_name(c->w->params.machine, device, &is_cpu);
    bb_meta(c->p, "reason", "%s", c->sn->reason);
    bb_meta(c->p, "cause", "%s", bb_cause_desc(crash->cause)->name);
    bb_meta(c->p, "summary", "%s", crash->text);
    if (crash->fingerprint[0])
        bb_meta(c->p, "fingerprint", "%s", crash->fingerprint);
    if (crash->place[0])
        bb_meta(c->p, "place", "%s", crash->place);
    if (crash->path[0])
        bb_meta(c->p, "path", "%s", crash->path);
    bb_meta(c->p, "time", "%s", stamp);
    bb_meta(c->p, "time_ns", "%llu", (unsigned long long)c->sn->time_ns);
    bb_meta(c->p, "producer", "%s", c->w->params.producer ? c->w->params.producer : "aerogpu");
    bb_meta(c->p, "program", "%s", c->w->params.program ? c->w->params.program : "");
    bb_meta(c->p, "pid", "%d", (int)getpid());
    pid_namespace_text(pid_namespace(), numbers);
    if (numbers[0])
        bb_meta(c->p, "pid_namespace", "%s", numbers);
    boot_id(boot);
    boot_clock_text(boot_clock_offset(), offset);
    bb_meta(c->p, "boot_id", "%s", boot);
    bb_meta(c->p, "clock_offset_ns", "%s", offset);
    bb_meta(c->p, "device", "%s", device);
    bb_meta(c->p, "markers", "%s%s", markers_text(c->sn), writer_text(c->sn));
    if (c->sn->streams_dropped)
        bb_meta(c->p, "streams_dropped", "%llu", (unsigned long long)c->sn->streams_dropped);
    if (c->sn->died)
        bb_meta(c->p, "death", "%s", c->sn->death.message);
    collect_settings(c);
}

static void put_statuses(struct collector *c)
{
    for (uint32_t i = 0; i < c->sn->num_statuses; i++) {
        bb_row(c->p, BB_TABLE_STATUS);
        bb_int(c->p, BB_status_time_ns, (int64_t)c->sn->statuses[i].time_ns);
        bb_text(c->p, BB_status_status, bb_status_name(c->sn->statuses[i].status));
        bb_text(c->p, BB_status_detail, c->sn->statuses[i].detail);
        bb_row_end(c->p);
    }
}

static void put_fault(struct collector *c, const struct watch_crash *crash)
{
    static const char *const accesses[] = {NULL, "read", "write", "execute", NULL};
    struct bb_fault f;

    bb_row(c->p, BB_TABLE_FAULT);
    bb_int(c->p, BB_fault_time_ns, (int64_t)c->sn->death.time_ns);
    bb_text(c->p, BB_fault_access, accesses[c->sn->death.access]);
    bb_text(c->p, BB_fault_at, crash->at);
    if (crash->no_address) {
        bb_text(c->p, BB_fault_kind, "not canonical");
        bb_textf(c->p, BB_fault_text, "%.*s: the processor does not say which it was",
                 (int)strcspn(crash->at + 4, "."), crash->at + 4); /* " at an address …. A register …" */
    } else {
        watch_fault(c->sn, crash->fault_address, &f);
        bb_int(c->p, BB_fault_address, (int64_t)crash->fault_address);
        bb_text(c->p, BB_fault_kind, bb_fault_kind_name(f.kind));
        if (f.has_resource)
            bb_int(c->p, BB_fault_resource, (int64_t)f.resource.id);
        bb_int(c->p, BB_fault_distance, (int64_t)f.distance);
        bb_text(c->p, BB_fault_text, f.text);
    }
    bb_row_end(c->p);
}

static void put_registers(struct collector *c)
{
    for (int i = 0; i < EXEC_NUM_REGISTERS; i++) {
        char text[200];

        bb_row(c->p, BB_TABLE_REGISTER);
        bb_text(c->p, BB_register_name, watch_register_name((enum exec_register)i));
        bb_int(c->p, BB_register_value, (int64_t)c->sn->death.registers[i]);
        bb_text(c->p, BB_register_text,
                watch_register_text(c->sn, (enum exec_register)i, text) ? text : NULL);
        bb_row_end(c->p);
    }
}

static void put_address(void *ctx, const struct bb_resource *r)
{
    struct bb_package *p = ctx;

    bb_row(p, BB_TABLE_RESOURCE);
    bb_int(p, BB_resource_id, (int64_t)(r->id & UINT32_MAX));
    bb_text(p, BB_resource_kind, r->kind);
    bb_int(p, BB_resource_address, (int64_t)r->address);
    bb_int(p, BB_resource_size, (int64_t)r->size);
    bb_int(p, BB_resource_created_ns, (int64_t)r->created_ns);
    bb_int(p, BB_resource_last_use_ns, (int64_t)r->last_use_ns);
    if (r->destroyed_ns)
        bb_int(p, BB_resource_destroyed_ns, (int64_t)r->destroyed_ns);
    if (r->evicted_ns)
        bb_int(p, BB_resource_evicted_ns, (int64_t)r->evicted_ns);
    bb_row_end(p);
}

static void put_finding(struct collector *c, const struct watch_crash *crash)
{
    const struct bb_cause_desc *cause = bb_cause_desc(crash->cause);

    bb_row(c->p, BB_TABLE_FINDING);
    bb_int(c->p, BB_finding_rank, 0);
    bb_text(c->p, BB_finding_certainty, crash->certain ? "certain" : "candidate");
    bb_text(c->p, BB_finding_cause, cause->name);
    bb_text(c->p, BB_finding_text, crash->text);
    if (crash->submission)
        bb_int(c->p, BB_finding_submission, (int64_t)crash->submission);
    if (crash->packet != UINT32_MAX)
        bb_int(c->p, BB_finding_packet, crash->packet);
    bb_text(c->p, BB_finding_source,
            cause->kind == BB_KIND_REFUSAL ? "device error"
            : crash->in_decoder            ? "decoder position"
            : crash->exact                 ? "exact markers"
                                           : "group markers");
    bb_text(c->p, BB_finding_sure_happened, bb_sure_name(crash->happened));
    bb_text(c->p, BB_finding_sure_command, bb_sure_name(crash->which));
    bb_text(c->p, BB_finding_sure_cause, bb_sure_name(crash->why));
    if (crash->has_fault)
        bb_text(c->p, BB_finding_sure_memory, bb_sure_name(crash->whose));
    bb_text(c->p, BB_finding_unseen, crash->unseen[0] ? crash->unseen : NULL);
    bb_row_end(c->p);
    if (crash->has_fault)
        put_fault(c, crash);
    if (crash->has_fault && c->sn->death.registers[EXEC_RIP])
        put_registers(c);
}

void watch_collect(struct watch *w, struct snapshot *sn, const struct watch_crash *crash,
                   struct bb_package *p)
{
    struct collector c = {.w = w, .sn = sn, .p = p};
    bool *presents = calloc(sn->num_items ? sn->num_items : 1, sizeof(*presents));

    put_meta(&c, crash);
    put_statuses(&c);
    put_finding(&c, crash);
    for (uint32_t i = 0; presents && i < sn->num_items; i++)
        watch_put_submission(&c, &sn->items[i], &presents[i]);
    watch_put_usage(&c);
    for (const struct watch_model_context *ctx = c.model.contexts; ctx; ctx = ctx->next)
        if (ctx->unbalanced_pops)
            bb_meta(p, "unbalanced_pops", "context %u ended %u regions that it had not begun", ctx->id,
                    ctx->unbalanced_pops);
    watch_put_queues(&c);
    put_objects(&c);
    bb_resources_each(sn->resources, put_address, p);
    put_events(&c);
    put_flight(&c);
    watch_put_host(sn, p);
    put_picture(&c);
    if (presents && sn->num_items)
        watch_put_recording(&c, presents);
    free(presents);
    watch_model_finish(&c.model);
}
