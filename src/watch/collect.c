/* collect.c: evidence about a machine becomes rows of the dump. Streams are walked from the first to the last, so that
 * what was bound at a command is known when it comes. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi/alloc_table.h"
#include "abi/packets.h"
#include "abi/print.h"
#include "base/png_file.h"
#include "watch/checkpoint.h"
#include "watch/items.h"
#include "watch/priv.h"
#include "blackbox/package.h"
#include "trace/writer.h"

enum { MAX_BOUND_ROWS = 20000, MAX_USAGE = 1000, MAX_COUNTED = 20000, MAX_FLIGHT = 50000 };

struct usage {
    char kind[12], name[WATCH_PATH];
    int64_t commands, running;
};

struct collector {
    struct watch *w;
    struct evidence *ev;
    struct bb_package *p;
    struct watch_model model;
    uint32_t bound_rows;
    struct usage *usage;
    uint32_t num_usage, cap_usage;
    int64_t commands, running;
};

/* ---- what became of each packet ----------------------------------------------------------------------------------- */

struct outcome {
    const char *default_state;
    struct watch_items items;
    struct bb_inference x;
    bool inferred;
    uint32_t decoded; /* packets that the decoder had done */
};

static void outcome_init(struct outcome *o, const struct evidence *ev, const struct kept *k)
{
    const struct exec_crumb_slot *slot = ev->has_crumbs ? watch_crumbs_find(&ev->crumbs, k->id) : NULL;

    *o = (struct outcome){.default_state = k->state == KEPT_DONE ? "finished" : "not started"};
    if (!slot || k->state == KEPT_DONE || watch_items_init(&o->items, k, slot))
        return;
    o->decoded = atomic_load(&slot->decoding);
    o->decoded -= o->decoded > 0;
    if (bb_infer(&o->x, o->items.items, o->items.n))
        watch_items_finish(&o->items);
    else
        o->inferred = true;
}

static const char *outcome_of(const struct outcome *o, uint32_t packet)
{
    for (uint32_t i = 0; o->inferred && i < o->items.n; i++)
        if (o->items.items[i].kind == BB_ITEM_COMMAND && o->items.items[i].id == packet)
            return bb_state_name((enum bb_state)o->x.states[i]);
    return o->inferred && packet < o->decoded ? "finished" : o->default_state;
}

static void outcome_finish(struct outcome *o)
{
    if (!o->inferred)
        return;
    watch_items_finish(&o->items);
    bb_inference_finish(&o->x);
}

/* What it is called in every table: alike in every dump of the same program. */
static void full_name(char out[100], const struct watch_object *o)
{
    char name[64];

    watch_object_name(name, o);
    if (o->kind == WATCH_OBJECT_SHADER)
        snprintf(out, 100, "%s", name);
    else
        snprintf(out, 100, "%s, %llu bytes", name, (unsigned long long)o->size);
}

/* ---- what is used how often ---------------------------------------------------------------------------------------- */

static void count(struct collector *c, const char *kind, const char *name, bool running)
{
    struct usage *u = c->usage;

    while (u < c->usage + c->num_usage && (strcmp(u->kind, kind) || strcmp(u->name, name)))
        u++;
    if (u == c->usage + c->num_usage) {
        if (c->num_usage == MAX_USAGE)
            return;
        if (c->num_usage == c->cap_usage) {
            struct usage *bigger = realloc(c->usage, (c->cap_usage + 64) * sizeof(*bigger));
            if (!bigger)
                return;
            c->usage = bigger;
            c->cap_usage += 64;
        }
        u = &c->usage[c->num_usage++];
        *u = (struct usage){0};
        snprintf(u->kind, sizeof(u->kind), "%s", kind);
        snprintf(u->name, sizeof(u->name), "%s", name);
    }
    u->commands++;
    u->running += running;
}

static void count_command(struct collector *c, const struct abi_packet *p,
                          const struct watch_model_context *ctx, bool running)
{
    const bool draw = abi_opcode_is_draw(p->opcode);

    c->commands++;
    c->running += running;
    count(c, "command", p->desc->name, running);
    if (ctx->path[0])
        count(c, "path", ctx->path, running);
    for (uint32_t i = 0; draw && i < ctx->num_slots; i++) {
        const struct watch_object *o = watch_model_find(&c->model, ctx->slots[i].handle);
        char name[100];

        if (!o || (ctx->slots[i].kind == WATCH_SLOT_SHADER &&
                   (ctx->slots[i].stage == ABI_CS) != (p->opcode == AEROGPU_CMD_DISPATCH)))
            continue;
        full_name(name, o);
        count(c, o->kind == WATCH_OBJECT_SHADER ? "shader" : "resource", name, running);
    }
}

static void put_usage(struct collector *c)
{
    for (uint32_t i = 0; i <= c->num_usage; i++) {
        bool last = i == c->num_usage;

        bb_row(c->p, BB_TABLE_USAGE);
        bb_text(c->p, last ? "total" : c->usage[i].kind);
        bb_text(c->p, last ? "" : c->usage[i].name);
        bb_int(c->p, last ? c->commands : c->usage[i].commands);
        bb_int(c->p, last ? c->running : c->usage[i].running);
        bb_row_end(c->p);
    }
    free(c->usage);
}

/* ---- submissions -------------------------------------------------------------------------------------------------- */

static bool concerns(const struct watch_slot *s, uint32_t opcode)
{
    bool graphics = s->kind == WATCH_SLOT_TARGET || s->kind == WATCH_SLOT_DEPTH ||
                    s->kind == WATCH_SLOT_VERTICES || s->kind == WATCH_SLOT_INDICES;

    if (opcode == AEROGPU_CMD_DISPATCH)
        return !graphics && s->stage == ABI_CS;
    return graphics || s->stage != ABI_CS;
}

static void put_bindings(struct collector *c, const struct kept *k, const struct watch_model_context *ctx,
                         uint32_t packet, uint32_t opcode)
{
    for (uint32_t i = 0; i < ctx->num_slots && c->bound_rows < MAX_BOUND_ROWS; i++, c->bound_rows++) {
        const struct watch_object *o = watch_model_find(&c->model, ctx->slots[i].handle);
        char slot[24], name[100] = "unknown handle";

        if (!concerns(&ctx->slots[i], opcode))
            continue;
        watch_slot_name(slot, &ctx->slots[i]);
        if (o)
            full_name(name, o);
        bb_row(c->p, BB_TABLE_BINDING);
        bb_int(c->p, (int64_t)k->id);
        bb_int(c->p, packet);
        bb_text(c->p, slot);
        bb_text(c->p, ctx->slots[i].kind == WATCH_SLOT_SHADER ? "shader" : "resource");
        bb_int(c->p, ctx->slots[i].handle);
        bb_textf(c->p, "%s%s", name, o && !o->alive ? " (destroyed)" : "");
        bb_row_end(c->p);
    }
}

static void put_packet(struct collector *c, const struct kept *k, const struct abi_packet *p,
                       const struct watch_model_context *ctx, const struct outcome *o, uint32_t draws)
{
    struct strbuf text = {0};
    const bool draw = abi_opcode_is_draw(p->opcode), works = abi_opcode_is_work(p->opcode);
    const char *state = works ? outcome_of(o, p->index) : NULL;

    if (p->desc)
        abi_print_packet(&text, p, 8);
    bb_row(c->p, BB_TABLE_PACKET);
    bb_int(c->p, (int64_t)k->id);
    bb_int(c->p, p->index);
    bb_int(c->p, p->offset);
    if (p->desc)
        bb_text(c->p, p->desc->name);
    else
        bb_textf(c->p, "0x%04x", p->opcode);
    bb_text(c->p, strbuf_str(&text));
    bb_int(c->p, works);
    if (draw)
        bb_int(c->p, draws);
    else
        bb_null(c->p);
    bb_text(c->p, ctx->path);
    bb_text(c->p, state);
    bb_row_end(c->p);
    strbuf_finish(&text);
    if (state && (!strcmp(state, "running") || !strcmp(state, "perhaps running")))
        put_bindings(c, k, ctx, p->index, p->opcode);
}

static void walk(struct collector *c, const struct kept *k, bool verbose, uint32_t *packets, uint32_t *draws,
                 bool *presents)
{
    struct watch_model_context *ctx = watch_model_context(&c->model, k->context_id);
    struct outcome o = {.default_state = "finished"};
    struct abi_stream s;
    struct abi_packet p;

    *packets = *draws = 0;
    *presents = false;
    if (!ctx || !k->stream || abi_stream_open(&s, k->stream, k->cmd_size, NULL))
        return;
    if (verbose)
        outcome_init(&o, c->ev, k);
    while (abi_stream_next(&s, &p, NULL) > 0) {
        watch_model_apply(&c->model, ctx, &s, &p, k->id);
        if (abi_opcode_is_work(p.opcode))
            watch_model_use(&c->model, ctx, k->id);
        if (verbose)
            put_packet(c, k, &p, ctx, &o, *draws);
        if (abi_opcode_is_work(p.opcode) && c->commands < MAX_COUNTED)
            count_command(c, &p, ctx, strstr(outcome_of(&o, p.index), "running") != NULL);
        *draws += abi_opcode_is_draw(p.opcode);
        *presents |= p.opcode == AEROGPU_CMD_PRESENT || p.opcode == AEROGPU_CMD_PRESENT_EX;
        ++*packets;
    }
    if (verbose)
        outcome_finish(&o);
}

static void put_marks(struct collector *c, const struct kept *k)
{
    const struct exec_crumb_slot *slot = c->ev->has_crumbs ? watch_crumbs_find(&c->ev->crumbs, k->id) : NULL;
    uint32_t n = slot ? atomic_load(&slot->num_marks) : 0;

    for (uint32_t m = 0; m < n && m < EXEC_CRUMB_MARKS; m++) {
        bb_row(c->p, BB_TABLE_MARK);
        bb_int(c->p, (int64_t)k->id);
        bb_int(c->p, m + 1);
        bb_int(c->p, slot->marks[m].first);
        bb_int(c->p, slot->marks[m].last);
        bb_int(c->p, slot->top > m);
        bb_int(c->p, slot->bottom > m);
        bb_int(c->p, c->ev->crumbs.exact);
        bb_row_end(c->p);
    }
}

static const char *state_of(const struct collector *c, const struct kept *k)
{
    const struct exec_crumb_slot *slot = c->ev->has_crumbs ? watch_crumbs_find(&c->ev->crumbs, k->id) : NULL;

    if (k->state == KEPT_DONE)
        return "completed";
    if (k->state == KEPT_FAILED && !slot)
        return "failed";
    return slot && (slot->top || atomic_load(&slot->decoding)) ? "running" : "queued";
}

static void put_submission(struct collector *c, const struct kept *k, bool *presents)
{
    bool verbose = k->state != KEPT_DONE;
    uint32_t packets, draws;

    walk(c, k, verbose, &packets, &draws, presents);
    bb_row(c->p, BB_TABLE_SUBMISSION);
    bb_int(c->p, (int64_t)k->id);
    bb_int(c->p, k->context_id);
    bb_int(c->p, (int64_t)k->fence);
    bb_int(c->p, (int64_t)k->time_ns);
    if (k->done_ns)
        bb_int(c->p, (int64_t)k->done_ns);
    else
        bb_null(c->p);
    bb_text(c->p, state_of(c, k));
    bb_text(c->p, k->message[0] ? k->message : NULL);
    bb_int(c->p, (int64_t)k->cmd_gpa);
    bb_int(c->p, k->cmd_size);
    bb_int(c->p, k->flags);
    bb_int(c->p, packets);
    bb_int(c->p, draws);
    bb_blob(c->p, k->stream, k->stream ? k->cmd_size : 0);
    bb_blob(c->p, k->table, k->table ? k->alloc_size : 0);
    bb_row_end(c->p);
    if (verbose)
        put_marks(c, k);
}

/* ---- the playable recording --------------------------------------------------------------------------------------- */

struct memory {
    uint64_t gpa, size, blob;
};

struct recording {
    struct trace_writer *t;
    struct memory *memory;
    uint32_t n, cap;
    uint64_t bytes;
    struct error e;
};

/* Its blob, if it is to be written now: each piece of memory stands in the recording once, at its first use. */
static uint64_t memory_blob(struct collector *c, struct recording *r, uint64_t gpa, uint64_t size)
{
    struct machine *m = c->w->params.machine;
    uint64_t ram = machine_ram_size(m), id = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->memory[i].gpa == gpa && r->memory[i].size == size)
            return 0;
    if (!size || gpa >= ram || size > ram - gpa || size > c->w->params.max_memory_bytes - r->bytes)
        return 0;
    if (r->n == r->cap) {
        struct memory *bigger = realloc(r->memory, (r->cap + 64) * sizeof(*bigger));
        if (!bigger)
            return 0;
        r->memory = bigger;
        r->cap += 64;
    }
    trace_writer_blob(r->t, TRACE_BLOB_ALLOC_MEMORY, machine_ram(m) + gpa, size, &id, &r->e);
    r->memory[r->n++] = (struct memory){gpa, size, id};
    r->bytes += size;
    return id;
}

static void record_submission(struct collector *c, struct recording *r, const struct kept *k)
{
    struct trace_submission s = {.submit_flags = k->flags,
                                 .context_id = k->context_id,
                                 .engine_id = k->engine_id,
                                 .signal_fence = k->fence};
    struct abi_alloc_table table = {0};
    struct trace_range *ranges = NULL;

    if (!k->stream)
        return;
    trace_writer_blob(r->t, TRACE_BLOB_CMD_STREAM, k->stream, k->cmd_size, &s.cmd_blob, &r->e);
    if (k->table) {
        trace_writer_blob(r->t, TRACE_BLOB_ALLOC_TABLE, k->table, k->alloc_size, &s.alloc_blob, &r->e);
        if (!abi_alloc_table_parse(&table, k->table, k->alloc_size, NULL))
            ranges = calloc(table.count ? table.count : 1, sizeof(*ranges));
    }
    for (uint32_t i = 0; ranges && i < table.count; i++) {
        const struct abi_alloc *a = &table.entries[i];
        uint64_t blob = memory_blob(c, r, a->gpa, a->size);

        if (blob)
            ranges[s.num_ranges++] = (struct trace_range){.alloc_id = a->alloc_id,
                                                          .flags = a->readonly ? 1 : 0,
                                                          .gpa = a->gpa,
                                                          .size = a->size,
                                                          .blob = blob};
    }
    s.ranges = ranges;
    trace_writer_submission(r->t, &s, &r->e);
    abi_alloc_table_finish(&table);
    free(ranges);
}

static void put_recording(struct collector *c, const bool *presents)
{
    int fd = memfd_create("blackbox-recording", MFD_CLOEXEC);
    struct recording r = {0};
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd < 0 ||
        trace_writer_create(&r.t,
                            &(struct trace_writer_params){
                                .path = path,
                                .command_abi = AEROGPU_ABI_VERSION_U32,
                                .producer = c->w->params.producer ? c->w->params.producer : "aerogpu",
                                .notes = "the last submissions before a crash"},
                            &r.e))
        goto out;
    for (uint32_t i = 0, frame = 0; i < c->ev->num_items; i++) {
        if (!i || presents[i - 1])
            trace_writer_begin_frame(r.t, frame++, &r.e);
        record_submission(c, &r, &c->ev->items[i]);
        if (presents[i])
            trace_writer_present(r.t, &r.e);
        else if (i + 1 == c->ev->num_items)
            trace_writer_end_frame(r.t, &r.e);
    }
    if (trace_writer_finish(r.t, &r.e) || fstat(fd, &st))
        goto out;
    bb_row(c->p, BB_TABLE_FILE);
    bb_text(c->p, "last.aerogputrace");
    bb_text(c->p, "recording");
    bb_int(c->p, st.st_size);
    bb_int(c->p, 0);
    if (st.st_size <= UINT32_MAX)
        bb_blob_file(c->p, fd, (uint32_t)st.st_size);
    bb_row_end(c->p);
out:
    if (r.e.code)
        bb_meta(c->p, "recording_error", "%s", r.e.text);
    free(r.memory);
    if (fd >= 0)
        close(fd);
}

/* ---- the rest ----------------------------------------------------------------------------------------------------- */

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
            bb_text(c->p, o->hash);
            bb_int(c->p, o->handle);
            bb_text(c->p, o->stage < 6 ? stages[o->stage] : "?");
            bb_text(c->p, dxbc ? "DXBC" : spirv ? "SPIR-V" : "D3D9");
            bb_int(c->p, o->alive);
            bb_blob(c->p, o->bytes, o->bytes_size);
            if (c->w->params.disassemble) {
                struct strbuf text = {0};

                c->w->params.disassemble(&text, o->bytes, o->bytes_size);
                bb_text(c->p, strbuf_str(&text));
                strbuf_finish(&text);
            }
            bb_row_end(c->p);
        } else if (o->kind != WATCH_OBJECT_OTHER) {
            bb_row(c->p, BB_TABLE_RESOURCE);
            bb_int(c->p, o->handle);
            bb_text(c->p, "");
            bb_text(c->p, name);
            bb_null(c->p);
            bb_int(c->p, (int64_t)o->size);
            if (o->alloc_id)
                bb_int(c->p, (int64_t)o->alloc_offset);
            else
                bb_null(c->p);
            bb_row_end(c->p);
        }
    }
}

static void put_events(struct collector *c)
{
    for (uint32_t i = 0; i < c->ev->num_events; i++) {
        const struct device_event *d = &c->ev->events[i];

        bb_row(c->p, BB_TABLE_EVENT);
        bb_int(c->p, (int64_t)d->time_ns);
        bb_text(c->p, d->kind == GPU_EVENT_KINDS ? "system" : "device");
        bb_int(c->p, getpid());
        bb_null(c->p);
        bb_text(c->p, d->kind == GPU_EVENT_KINDS ? "event" : gpu_event_name((enum gpu_event_kind)d->kind));
        bb_int(c->p, (int64_t)d->a);
        bb_int(c->p, (int64_t)d->b);
        bb_int(c->p, (int64_t)d->c);
        bb_text(c->p, d->text[0] ? d->text : NULL);
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
    bb_int(rows->p, (int64_t)r->time_ns);
    bb_text(rows->p, r->process);
    bb_int(rows->p, r->pid);
    bb_int(rows->p, r->thread);
    bb_text(rows->p, r->name);
    bb_int(rows->p, (int64_t)r->a);
    bb_int(rows->p, (int64_t)r->b);
    bb_int(rows->p, (int64_t)r->c);
    bb_row_end(rows->p);
}

/* What every process recorded in the last ten seconds. */
static void put_flight(struct collector *c)
{
    struct flight_rows rows = {c->p, MAX_FLIGHT};

    if (c->w->flight)
        bb_flight_read_all(NULL, c->ev->time_ns - 10 * NSEC_PER_SEC, put_flight_event, &rows, NULL);
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
    bb_int(c->p, (int64_t)c->ev->time_ns);
    bb_text(c->p, "scanout 0");
    bb_int(c->p, pic.width);
    bb_int(c->p, pic.height);
    bb_blob(c->p, map, (size_t)st.st_size);
    bb_row_end(c->p);
    munmap(map, (size_t)st.st_size);
out:
    free(pic.rgba);
    if (fd >= 0)
        close(fd);
}

/* The extension that the marks are written with. */
static const char *writer_text(const struct evidence *ev)
{
    static const char *const names[] = {"", "; by VK_AMD_buffer_marker, top and bottom of pipe",
                                        "; with VK_NV_device_diagnostic_checkpoints once the device is lost"};
    uint32_t w = ev->has_crumbs ? ev->crumbs.writer : 0;

    return names[w < 3 ? w : 0];
}

static const char *markers_text(const struct evidence *ev)
{
    if (!ev->has_crumbs || ev->crumbs.way == EXEC_CRUMBS_NONE)
        return "none";
    if (ev->crumbs.exact)
        return ev->crumbs.way == EXEC_CRUMBS_SHARED
                   ? "exact: every command, written by the Vulkan device into shared memory"
                   : "exact: every command, copied by the executor every 5 ms";
    return ev->crumbs.way == EXEC_CRUMBS_SHARED
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
    char device[256], stamp[40];
    time_t t = time(NULL);
    struct tm tm;
    bool is_cpu;

    gmtime_r(&t, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &tm);
    machine_device_name(c->w->params.machine, device, &is_cpu);
    bb_meta(c->p, "reason", "%s", c->ev->reason);
    bb_meta(c->p, "cause", "%s", watch_crash_cause_name(crash->cause));
    bb_meta(c->p, "summary", "%s", crash->text);
    if (crash->fingerprint[0])
        bb_meta(c->p, "fingerprint", "%s", crash->fingerprint);
    bb_meta(c->p, "time", "%s", stamp);
    bb_meta(c->p, "time_ns", "%llu", (unsigned long long)c->ev->time_ns);
    bb_meta(c->p, "producer", "%s", c->w->params.producer ? c->w->params.producer : "aerogpu");
    bb_meta(c->p, "program", "%s", c->w->params.program ? c->w->params.program : "");
    bb_meta(c->p, "pid", "%d", (int)getpid());
    bb_meta(c->p, "device", "%s", device);
    bb_meta(c->p, "markers", "%s%s", markers_text(c->ev), writer_text(c->ev));
    if (c->ev->streams_dropped)
        bb_meta(c->p, "streams_dropped", "%llu", (unsigned long long)c->ev->streams_dropped);
    if (c->ev->died)
        bb_meta(c->p, "death", "%s", c->ev->death.message);
    collect_settings(c);
}

static void put_statuses(struct collector *c)
{
    for (uint32_t i = 0; i < c->ev->num_statuses; i++) {
        bb_row(c->p, BB_TABLE_STATUS);
        bb_int(c->p, (int64_t)c->ev->statuses[i].time_ns);
        bb_text(c->p, bb_status_name(c->ev->statuses[i].status));
        bb_text(c->p, c->ev->statuses[i].detail);
        bb_row_end(c->p);
    }
}

static void put_fault(struct collector *c, uint64_t address)
{
    struct bb_fault f;

    bb_resources_fault(c->ev->resources, address, &f);
    bb_text(c->p, bb_fault_kind_name(f.kind));
    if (f.has_resource)
        bb_int(c->p, (int64_t)(f.resource.id & UINT32_MAX));
    else
        bb_null(c->p);
    bb_int(c->p, (int64_t)f.distance);
    bb_text(c->p, f.text);
}

static void put_address(void *ctx, const struct bb_resource *r)
{
    struct bb_package *p = ctx;

    bb_row(p, BB_TABLE_RESOURCE);
    bb_int(p, (int64_t)(r->id & UINT32_MAX));
    bb_text(p, r->name);
    bb_text(p, r->kind);
    bb_int(p, (int64_t)r->address);
    bb_int(p, (int64_t)r->size);
    bb_null(p);
    bb_int(p, (int64_t)r->created_ns);
    bb_int(p, (int64_t)r->last_use_ns);
    if (r->destroyed_ns)
        bb_int(p, (int64_t)r->destroyed_ns);
    else
        bb_null(p);
    if (r->evicted_ns)
        bb_int(p, (int64_t)r->evicted_ns);
    bb_row_end(p);
}

static void put_finding(struct collector *c, const struct watch_crash *crash)
{
    bb_row(c->p, BB_TABLE_FINDING);
    bb_int(c->p, 0);
    bb_text(c->p, crash->certain || crash->cause == WATCH_CRASH_KILLED ? "certain" : "candidate");
    bb_text(c->p, watch_crash_cause_name(crash->cause));
    bb_text(c->p, crash->text);
    if (crash->submission)
        bb_int(c->p, (int64_t)crash->submission);
    else
        bb_null(c->p);
    if (crash->packet != UINT32_MAX)
        bb_int(c->p, crash->packet);
    else
        bb_null(c->p);
    bb_text(c->p, watch_crash_is_refusal(crash->cause) ? "device error"
                  : crash->in_decoder                  ? "decoder position"
                  : crash->exact                       ? "exact markers"
                                                       : "group markers");
    bb_row_end(c->p);
    if (crash->has_fault) {
        bb_row(c->p, BB_TABLE_FAULT);
        bb_int(c->p, (int64_t)c->ev->death.time_ns);
        bb_int(c->p, (int64_t)crash->fault_address);
        bb_null(c->p);
        put_fault(c, crash->fault_address);
        bb_row_end(c->p);
    }
}

/* ---- queues and their checkpoints ---------------------------------------------------------------------------------- */

/* In one line. */
static void put_checkpoint_name(struct collector *c, const struct watch_checkpoint *x, bool found)
{
    if (!found)
        bb_null(c->p);
    else if (x->text[0])
        bb_textf(c->p, "%s (submission %llu, packet %u)", x->text, (unsigned long long)x->k->id, x->packet);
    else if (x->by_pointer)
        bb_textf(c->p, "pointer 0x%llx (submission %llu, packet %u)", (unsigned long long)x->pointer,
                 (unsigned long long)x->k->id, x->packet);
    else
        bb_textf(c->p, "%u bytes (submission %llu, packet %u)", x->size, (unsigned long long)x->k->id,
                 x->packet);
}

static void put_checkpoint(struct collector *c, uint32_t context, const char *which,
                           const struct watch_checkpoint *x)
{
    bb_row(c->p, BB_TABLE_CHECKPOINT);
    bb_int(c->p, context);
    bb_text(c->p, which);
    bb_int(c->p, (int64_t)x->k->id);
    bb_int(c->p, x->packet);
    bb_text(c->p, x->by_pointer ? "pointer" : "copy");
    if (x->by_pointer)
        bb_int(c->p, (int64_t)x->pointer);
    else
        bb_null(c->p);
    bb_text(c->p, x->text[0] ? x->text : NULL);
    bb_blob(c->p, x->payload, x->payload ? x->size : 0);
    bb_row_end(c->p);
}

static void put_queues(struct collector *c)
{
    for (const struct watch_model_context *ctx = c->model.contexts; ctx; ctx = ctx->next) {
        const struct exec_checkpoints *x = watch_checkpoints_of(c->ev, ctx->id);
        uint64_t submitted = 0, completed = 0, fence = 0;
        struct watch_checkpoint top, bottom;
        bool has_top = x && watch_checkpoint_find(c->w, c->ev, &x->top, ctx->id, &top),
             has_bottom = x && watch_checkpoint_find(c->w, c->ev, &x->bottom, ctx->id, &bottom);

        for (uint32_t i = 0; i < c->ev->num_items; i++) {
            const struct kept *k = &c->ev->items[i];
            if (k->context_id != ctx->id)
                continue;
            submitted = k->id;
            if (k->state == KEPT_DONE) {
                completed = k->id;
                fence = k->fence;
            }
        }
        bb_row(c->p, BB_TABLE_QUEUE);
        bb_int(c->p, ctx->id);
        bb_textf(c->p, "context %u", ctx->id);
        bb_int(c->p, (int64_t)submitted);
        bb_int(c->p, (int64_t)completed);
        put_checkpoint_name(c, &top, has_top);
        put_checkpoint_name(c, &bottom, has_bottom);
        bb_row_end(c->p);
        if (has_top)
            put_checkpoint(c, ctx->id, "top", &top);
        if (has_bottom)
            put_checkpoint(c, ctx->id, "bottom", &bottom);
        bb_row(c->p, BB_TABLE_FENCE);
        bb_textf(c->p, "context %u", ctx->id);
        bb_int(c->p, (int64_t)fence);
        bb_null(c->p);
        bb_int(c->p, ctx->id);
        bb_row_end(c->p);
    }
}

void watch_evidence_collect(struct watch *w, struct evidence *ev, const struct watch_crash *crash,
                            struct bb_package *p)
{
    struct collector c = {.w = w, .ev = ev, .p = p};
    bool *presents = calloc(ev->num_items ? ev->num_items : 1, sizeof(*presents));

    put_meta(&c, crash);
    put_statuses(&c);
    put_finding(&c, crash);
    for (uint32_t i = 0; presents && i < ev->num_items; i++)
        put_submission(&c, &ev->items[i], &presents[i]);
    put_usage(&c);
    for (const struct watch_model_context *ctx = c.model.contexts; ctx; ctx = ctx->next)
        if (ctx->unbalanced_pops)
            bb_meta(p, "unbalanced_pops", "context %u ended %u regions that it had not begun", ctx->id,
                    ctx->unbalanced_pops);
    put_queues(&c);
    put_objects(&c);
    bb_resources_each(ev->resources, put_address, p);
    put_events(&c);
    put_flight(&c);
    watch_put_host(ev, p);
    put_picture(&c);
    if (presents && ev->num_items)
        put_recording(&c, presents);
    free(presents);
    watch_model_finish(&c.model);
}
