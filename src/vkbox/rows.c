/* SPDX-License-Identifier: MIT */
/* rows.c: a box as the rows of a dump. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "base/sched/boot_clock.h"
#include "base/sched/pid_namespace.h"
#include "base/utf8.h"
#include "blackbox/spirv_source.h"
#include "executor/shader/shader.h"
#include "vkbox/judge.h"

enum { MAX_PACKETS = 20000, MAX_SUBMISSIONS = 256, MAX_OBJECTS = 65536 };

/* Of VkObjectType. */
enum {
    VKBOX_MEMORY = 8,
    VKBOX_BUFFER = 9,
    VKBOX_IMAGE = 10,
    VKBOX_BUFFER_VIEW = 13,
    VKBOX_IMAGE_VIEW = 14,
    VKBOX_SET = 23
};
enum { STALE = 4, LEADS = 64, NAMED = 3 };

#define DESTROYED ", destroyed"

struct rows {
    const struct vkbox_reader *r;
    const struct vkbox_event *ev;
    const struct vkbox_verdict *v;
    struct bb_package *p;
    enum bb_sure memory; /* that the fault is about what is named */
    char stale[STALE][400];
    uint32_t num_stale;
    const struct vkbox_object *faulted, *pipeline; /* what the fault is about; what was bound. NULL: none */
    const struct vkbox_object *leads[LEADS]; /* buffers and images that the command has bound, or names */
    uint32_t num_leads;
    char others[300]; /* those that could lead to the address besides the one that it lies at; "": none */
};

static const struct vkbox_device *device_of(const struct rows *o)
{
    for (uint32_t i = 0; i < VKBOX_DEVICES; i++)
        if (o->r->b->devices[i].state == VKBOX_LIVE &&
            (o->ev->device == VKBOX_NO_INDEX || o->ev->device == i))
            return &o->r->b->devices[i];
    return &o->r->b->devices[0];
}

static bool knows_groups(const struct vkbox *b)
{
    for (uint32_t i = 0; i < VKBOX_COMMAND_BUFFERS; i++)
        if (b->command_buffers[i].state != VKBOX_FREE && b->command_buffers[i].known)
            return true;
    return false;
}

static void put_meta(struct rows *o)
{
    static const char *const reasons[] = {"device lost", "signal", "timeout", "signal", "request"};
    static const char *const marks[] = {"none: the device's queues cannot write them",
                                        "written by the device into the record",
                                        "written by the device, and copied"};
    const struct vkbox *b = o->r->b;
    const struct vkbox_device *d = device_of(o);
    time_t now = time(NULL);
    const int64_t offset = boot_clock_offset();
    char stamp[32], numbers[32], boot[40], clock[24];
    struct tm tm;

    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    bb_meta(o->p, "reason", "%s", o->v->cause == BB_CAUSE_PAGE_FAULT ? "page fault" : reasons[o->ev->what]);
    bb_meta(o->p, "summary", "%s", o->v->text);
    bb_meta(o->p, "cause", "%s", bb_cause_desc(o->v->cause)->name);
    bb_meta(o->p, "fingerprint", "%s", o->v->fingerprint);
    bb_meta(o->p, "time", "%s", stamp);
    bb_meta(o->p, "time_ns", "%llu", (unsigned long long)o->ev->time_ns);
    bb_meta(o->p, "producer", "aerogpu run");
    bb_meta(o->p, "program", "%.63s", b->program);
    bb_meta(o->p, "pid", "%u", b->pid);
    pid_namespace_text(b->pid_namespace, numbers);
    if (numbers[0])
        bb_meta(o->p, "pid_namespace", "%s", numbers);
    boot_id(boot);
    boot_clock_text(offset == b->clock_offset_ns ? offset : BOOT_CLOCK_UNKNOWN, clock);
    bb_meta(o->p, "boot_id", "%s", boot);
    bb_meta(o->p, "clock_offset_ns", "%s", clock);
    bb_meta(o->p, "device", "%.127s", d->name);
    bb_meta(o->p, "markers", "%s, %s", marks[d->marks < 3 ? d->marks : 0],
            b->exact                ? "one for each command"
            : knows_groups(o->r->b) ? "one for each group, and for each command where a run before crashed"
                                    : "one for each group");
    bb_meta(o->p, "setting.driver", "%.63s %.63s", d->driver, d->driver_info);
    if (b->guard)
        bb_meta(o->p, "setting.guard",
                d->guards ? "%u allocations of memory between guard pages, %u not"
                          : "not possible: the device cannot use memory of the program",
                d->guarded, d->unguarded);
    bb_meta(o->p, "setting.frames", "%llu", (unsigned long long)b->frames);
}

static void put_finding(struct rows *o)
{
    const struct vkbox_verdict *v = o->v;

    bb_row(o->p, BB_TABLE_FINDING);
    bb_int(o->p, BB_finding_rank, 0);
    bb_text(o->p, BB_finding_certainty, v->certainty);
    bb_text(o->p, BB_finding_cause, bb_cause_desc(v->cause)->name);
    bb_text(o->p, BB_finding_text, v->text);
    if (v->submission)
        bb_int(o->p, BB_finding_submission, (int64_t)v->submission);
    if (v->work != SIZE_MAX)
        bb_int(o->p, BB_finding_packet, (int64_t)v->work);
    bb_text(o->p, BB_finding_source, v->source);
    bb_text(o->p, BB_finding_sure_happened, bb_sure_name(v->happened));
    bb_text(o->p, BB_finding_sure_command, bb_sure_name(v->command));
    bb_text(o->p, BB_finding_sure_cause, bb_sure_name(v->why));
    if (v->cause == BB_CAUSE_PAGE_FAULT || o->faulted)
        bb_text(o->p, BB_finding_sure_memory, bb_sure_name(o->memory));
    if (v->unseen[0] || o->others[0])
        bb_textf(o->p, BB_finding_unseen, "%s%s%s", v->unseen, v->unseen[0] && o->others[0] ? "; " : "",
                 o->others);
    bb_row_end(o->p);
}

static void put_statuses(struct rows *o)
{
    const struct vkbox *b = o->r->b;

    for (uint64_t n = b->errors >= VKBOX_ERRORS ? b->errors - VKBOX_ERRORS + 1 : 1;
         b->errors && n <= b->errors && n; n++) {
        const struct vkbox_error *e = &b->error[n % VKBOX_ERRORS];

        if (e->number != n)
            continue;
        bb_row(o->p, BB_TABLE_STATUS);
        bb_int(o->p, BB_status_time_ns, (int64_t)e->time_ns);
        bb_text(o->p, BB_status_status,
                bb_status_name(e->result == -4   ? BB_STATUS_STOPPED
                               : e->result == -2 ? BB_STATUS_OUT_OF_MEMORY
                                                 : BB_STATUS_ACTIVE));
        bb_textf(o->p, BB_status_detail, "%s answered %s",
                 e->call < VKBOX_NUM_CALLS && vkbox_calls[e->call] ? vkbox_calls[e->call] : "a call",
                 vkbox_result_name(e->result));
        bb_row_end(o->p);
    }
}

static void put_queues(struct rows *o)
{
    for (uint32_t i = 0; i < VKBOX_QUEUES; i++) {
        const struct vkbox_queue *q = &o->r->b->queues[i];

        if (q->state != VKBOX_LIVE)
            continue;
        bb_row(o->p, BB_TABLE_QUEUE);
        bb_int(o->p, BB_queue_id, i);
        if (q->name[0])
            bb_textf(o->p, BB_queue_name, "%.47s", q->name);
        else
            bb_textf(o->p, BB_queue_name, "queue %u of family %u", q->index, q->family);
        if (q->submitted)
            bb_int(o->p, BB_queue_last_submitted, (int64_t)q->submitted);
        bb_row_end(o->p);
    }
}

static void put_submissions(struct rows *o)
{
    static const char *const states[] = {NULL, "queued", "running", "completed", NULL};
    uint64_t from = o->r->last > MAX_SUBMISSIONS ? o->r->last - MAX_SUBMISSIONS + 1 : 1;

    if (o->v->submission && o->v->submission < from)
        from = o->v->submission;
    for (uint64_t n = from; o->r->last && n <= o->r->last; n++) {
        const struct vkbox_submission *s = vkbox_submission(o->r, n);
        const char *state;
        uint32_t of;

        if (!s)
            continue;
        state = states[vkbox_progress(o->r, s, &of)];
        bb_row(o->p, BB_TABLE_SUBMISSION);
        bb_int(o->p, BB_submission_id, (int64_t)n);
        bb_int(o->p, BB_submission_queue, s->queue);
        bb_int(o->p, BB_submission_time_ns, (int64_t)s->time_ns);
        bb_text(o->p, BB_submission_state, state);
        if (n == o->v->submission) {
            bb_int(o->p, BB_submission_packets, (int64_t)o->v->list.num);
            bb_int(o->p, BB_submission_draws, o->v->list.draws);
        }
        bb_row_end(o->p);
    }
}

/* ---- commands ------------------------------------------------------------ */

struct path {
    char text[256];
    size_t ends[32];
    uint32_t depth;
};

static void follow(struct path *p, const struct vkbox_work *w)
{
    uint32_t flags = vkbox_commands[w->command].flags;
    char label[64];

    if (flags & VKBOX_IS_PUSH && p->depth < 32) {
        size_t n = strlen(p->text);

        vkbox_text(w, label);
        p->ends[p->depth++] = n;
        snprintf(p->text + n, sizeof(p->text) - n, "%s%s", n ? "/" : "", label);
        utf8_mend(p->text);
    } else if (flags & VKBOX_IS_POP && p->depth) {
        p->text[p->ends[--p->depth]] = '\0';
    }
}

/* The commands around the first that may be to blame, if there are too many. */
static void put_packets(struct rows *o)
{
    const struct vkbox_list *l = &o->v->list;
    size_t at = o->v->work == SIZE_MAX ? 0 : o->v->work;
    size_t from = at > MAX_PACKETS / 2 ? at - MAX_PACKETS / 2 : 0;
    struct path path = {.text = ""};
    struct strbuf text = {0};

    for (size_t i = 0; i < l->num; i++) {
        const struct vkbox_work *w = &l->work[i];
        uint32_t flags = vkbox_commands[w->command].flags;

        follow(&path, w);
        if (i < from || i >= from + MAX_PACKETS)
            continue;
        strbuf_clear(&text);
        vkbox_print(o->r, w, &text);
        bb_row(o->p, BB_TABLE_PACKET);
        bb_int(o->p, BB_packet_submission, (int64_t)o->v->submission);
        bb_int(o->p, BB_packet_number, (int64_t)i);
        bb_text(o->p, BB_packet_name, vkbox_commands[w->command].name);
        bb_text(o->p, BB_packet_text, strbuf_str(&text));
        bb_int(o->p, BB_packet_work, (flags & (VKBOX_IS_WORK | VKBOX_IS_BEGIN | VKBOX_IS_END)) != 0);
        if (w->draw)
            bb_int(o->p, BB_packet_draw, w->draw);
        bb_text(o->p, BB_packet_path, path.text);
        if (w->state < BB_NUM_STATES)
            bb_text(o->p, BB_packet_state, bb_state_name(w->state));
        bb_row_end(o->p);
    }
    strbuf_finish(&text);
}

/* When the memory behind a buffer or image was freed; 0: it was not. */
static uint64_t freed_ns(const struct vkbox_reader *r, const struct vkbox_object *o)
{
    const struct vkbox_object *memory = o->type == VKBOX_MEMORY ? NULL : vkbox_object(r, o->parent);

    return memory && memory->state == VKBOX_GONE && memory->destroyed_ns > o->created_ns
               ? memory->destroyed_ns
               : 0;
}

/* ---- what was bound ------------------------------------------------------ */

static void code_hash(const struct vkbox *b, const struct vkbox_code *c, char out[20])
{
    if (c->offset > VKBOX_CODE || c->size > VKBOX_CODE - c->offset)
        snprintf(out, 20, "not kept");
    else
        snprintf(out, 20, "%016llx", (unsigned long long)XXH3_64bits(b->code + c->offset, c->size));
}

static const char *stage_name(uint32_t stage)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {{1, "vertex"}, {2, "hull"},     {4, "domain"}, {8, "geometry"},
                 {16, "pixel"}, {32, "compute"}, {64, "task"},  {128, "mesh"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].bit == stage)
            return names[i].name;
    return "ray tracing";
}

static void put_binding(struct rows *o, const char *slot, const char *kind, uint64_t handle, const char *what)
{
    bb_row(o->p, BB_TABLE_BINDING);
    bb_int(o->p, BB_binding_submission, (int64_t)o->v->submission);
    bb_int(o->p, BB_binding_packet, (int64_t)o->v->work);
    bb_text(o->p, BB_binding_slot, slot);
    bb_text(o->p, BB_binding_kind, kind);
    bb_int(o->p, BB_binding_handle, (int64_t)handle);
    bb_text(o->p, BB_binding_what, what);
    bb_row_end(o->p);
}

static void describe(const struct vkbox_object *o, uint64_t handle, char out[160])
{
    char type[48];

    if (!o) {
        snprintf(out, 160, "0x%llx", (unsigned long long)handle);
        return;
    }
    vkbox_type_name(o->type, type);
    if (o->name[0])
        snprintf(out, 160, "%s \"%.47s\"", type, o->name);
    else if (o->width)
        snprintf(out, 160, "%s %ux%u", type, o->width, o->height);
    else if (o->size && o->type != VKBOX_SET)
        snprintf(out, 160, "%s of %llu bytes", type, (unsigned long long)o->size);
    else
        snprintf(out, 160, "%s", type);
    if (o->state == VKBOX_GONE)
        strcat(out, DESTROYED);
}

static void put_shader(struct rows *o, const struct vkbox_code *c, const struct vkbox_object *pipeline)
{
    const struct vkbox *b = o->r->b;
    char hash[20];

    code_hash(b, c, hash);
    bb_row(o->p, BB_TABLE_SHADER);
    bb_text(o->p, BB_shader_hash, hash);
    bb_int(o->p, BB_shader_handle, (int64_t)pipeline->handle);
    bb_text(o->p, BB_shader_stage, stage_name(c->stage));
    bb_text(o->p, BB_shader_kind, "SPIR-V");
    bb_int(o->p, BB_shader_alive, pipeline->state == VKBOX_LIVE);
    if (c->offset <= VKBOX_CODE && c->size <= VKBOX_CODE - c->offset) {
        void *bytes = malloc(c->size + 1);
        struct strbuf text = {0};

        if (bytes) {
            memcpy(bytes, b->code + c->offset, c->size);
            spirv_hide_folders(bytes, c->size, getenv("HOME"));
            bb_blob(o->p, BB_shader_bytes, bytes, c->size);
            shader_print(&text, bytes, c->size);
            bb_text(o->p, BB_shader_text, strbuf_str(&text));
        }
        strbuf_finish(&text);
        free(bytes);
    }
    bb_row_end(o->p);
}

static void put_pipeline(struct rows *o, uint64_t handle)
{
    const struct vkbox_object *p = vkbox_object(o->r, handle);
    char what[160], hash[20], line[200];

    o->pipeline = p;
    describe(p, handle, what);
    put_binding(o, "pipeline", "resource", handle, what);
    for (uint32_t i = 0; p && i < VKBOX_STAGES && p->code[i].stage; i++) {
        code_hash(o->r->b, &p->code[i], hash);
        snprintf(line, sizeof(line), "%s", hash);
        put_binding(o, stage_name(p->code[i].stage), "shader", handle, line);
        put_shader(o, &p->code[i], p);
    }
}

enum { BIND_POINTS = 2, BINDINGS = 16, PUSHED = 32, SHOWN = 64 };

struct bound {
    uint64_t pipeline[BIND_POINTS], sets[BIND_POINTS][BINDINGS], vertices[BINDINGS], indices, framebuffer,
        targets[BINDINGS];
    const struct vkbox_work *pushed[BIND_POINTS];
    uint32_t num_targets;
};

static void track_sets(struct bound *b, const struct vkbox_work *w, const uint64_t *handles, uint32_t n)
{
    const uint32_t point = vkbox_number(w, "pipelineBindPoint"), first = vkbox_number(w, "firstSet");

    if (point >= BIND_POINTS)
        return;
    if (vkbox_commands[w->command].flags & VKBOX_IS_PUSHED)
        b->pushed[point] = w;
    else
        for (uint32_t i = 1; i < n && first + i - 1 < BINDINGS; i++) /* the first is the layout */
            b->sets[point][first + i - 1] = handles[i];
}

static void track(struct bound *b, const struct vkbox_work *w)
{
    uint32_t flags = vkbox_commands[w->command].flags, n, first;
    const char *types[BINDINGS];
    uint64_t handles[BINDINGS];

    if (!(flags & (VKBOX_IS_PIPELINE | VKBOX_IS_SETS | VKBOX_IS_PUSHED | VKBOX_IS_VERTICES |
                   VKBOX_IS_INDICES | VKBOX_IS_BEGIN)))
        return;
    n = vkbox_handles(w, handles, types, BINDINGS);
    if (flags & VKBOX_IS_PIPELINE && n) {
        first = vkbox_number(w, "pipelineBindPoint");
        if (first < BIND_POINTS)
            b->pipeline[first] = handles[0];
    } else if (flags & (VKBOX_IS_SETS | VKBOX_IS_PUSHED)) {
        track_sets(b, w, handles, n);
    } else if (flags & VKBOX_IS_VERTICES) {
        first = vkbox_number(w, "firstBinding");
        for (uint32_t i = 0; i < n && first + i < BINDINGS; i++)
            b->vertices[first + i] = handles[i];
    } else if (flags & VKBOX_IS_INDICES && n) {
        b->indices = handles[0];
    } else if (flags & VKBOX_IS_BEGIN) {
        b->num_targets = 0;
        b->framebuffer = 0;
        for (uint32_t i = 0; i < n; i++)
            if (!strcmp(types[i], "VkFramebuffer"))
                b->framebuffer = handles[i];
            else if (handles[i] && strcmp(types[i], "VkRenderPass"))
                b->targets[b->num_targets++] = handles[i];
    }
}

/* That something which the command names is not there any more. */
static void note_stale(struct rows *o, const char *slot, const struct vkbox_object *what, uint64_t gone_ns,
                       bool memory)
{
    const struct vkbox_submission *s = vkbox_submission(o->r, o->v->submission);
    char text[160];

    if (!what || !gone_ns || o->num_stale == STALE)
        return;
    describe(what, what->handle, text);
    if (what->state == VKBOX_GONE)
        text[strlen(text) - strlen(DESTROYED)] = '\0';
    snprintf(o->stale[o->num_stale++], sizeof(o->stale[0]), "%s of the command is %s%s, which was %s %s",
             slot, text, memory ? ", bound to memory" : "", memory ? "freed" : "destroyed",
             s && gone_ns < s->time_ns ? "before the submission" : "when it had been submitted");
}

static bool has_memory(const struct vkbox_object *of)
{
    return of && (of->type == VKBOX_BUFFER || of->type == VKBOX_IMAGE);
}

static bool leads(const struct rows *o, const struct vkbox_object *of)
{
    uint32_t i = 0;

    while (i < o->num_leads && o->leads[i] != of)
        i++;
    return i < o->num_leads;
}

static void note_lead(struct rows *o, const struct vkbox_object *of)
{
    if (has_memory(of) && o->num_leads < LEADS && !leads(o, of))
        o->leads[o->num_leads++] = of;
}

/* What a handle was at that time, with what stands behind it. */
static void put_named(struct rows *o, const char *slot, const char *prefix, uint64_t handle, uint64_t time_ns)
{
    const struct vkbox_object *of = vkbox_object_at(o->r, handle, time_ns), *behind = of;
    char what[160], line[400];
    size_t n;

    describe(of, handle, what);
    n = (size_t)snprintf(line, sizeof(line), "%s%s", prefix, what);
    note_stale(o, slot, of, of && of->state == VKBOX_GONE ? of->destroyed_ns : 0, false);
    if (of && (of->type == VKBOX_IMAGE_VIEW || of->type == VKBOX_BUFFER_VIEW)) {
        behind = vkbox_object_at(o->r, of->parent, of->created_ns);
        describe(behind, of->parent, what);
        snprintf(line + n, sizeof(line) - n, " of %s", what);
        note_stale(o, slot, behind, behind && behind->state == VKBOX_GONE ? behind->destroyed_ns : 0, false);
    }
    if (behind && behind->state == VKBOX_LIVE &&
        (behind->type == VKBOX_BUFFER || behind->type == VKBOX_IMAGE))
        note_stale(o, slot, behind, freed_ns(o->r, behind), true);
    note_lead(o, behind);
    utf8_mend(line);
    put_binding(o, slot, "resource", handle, line);
}

static void put_slots(struct rows *o, const char *name, const uint64_t *handles, uint32_t n)
{
    char slot[24];

    for (uint32_t i = 0; i < n; i++) {
        if (!handles[i])
            continue;
        snprintf(slot, sizeof(slot), "%s%u", name, i);
        put_named(o, slot, "", handles[i], UINT64_MAX);
    }
}

static void put_descriptor(struct rows *o, uint32_t number, const struct vkbox_descriptor *d)
{
    char slot[48], prefix[100];

    if (d->element)
        snprintf(slot, sizeof(slot), "set%u.%u[%u]", number, d->binding, d->element);
    else
        snprintf(slot, sizeof(slot), "set%u.%u", number, d->binding);
    if (!d->range)
        snprintf(prefix, sizeof(prefix), "%s: ", vkbox_descriptor_name(d->type - 1));
    else if (d->range == UINT64_MAX)
        snprintf(prefix, sizeof(prefix), "%s, from %llu: ", vkbox_descriptor_name(d->type - 1),
                 (unsigned long long)d->offset);
    else
        snprintf(prefix, sizeof(prefix), "%s, %llu bytes from %llu: ", vkbox_descriptor_name(d->type - 1),
                 (unsigned long long)d->range, (unsigned long long)d->offset);
    put_named(o, slot, prefix, d->handle ? d->handle : d->other, d->written_ns);
}

/* What it names is destroyed, or what that is of. */
static bool is_gone(const struct rows *o, const struct vkbox_descriptor *d)
{
    const struct vkbox_object *of = vkbox_object_at(o->r, d->handle ? d->handle : d->other, d->written_ns),
                              *behind =
                                  of && of->parent ? vkbox_object_at(o->r, of->parent, of->created_ns) : NULL;

    return of && (of->state == VKBOX_GONE || (behind && behind->state == VKBOX_GONE));
}

/* What the descriptors of a set name: first what is gone, which a long array may have anywhere, then the first ones. */
static void put_descriptors(struct rows *o, uint32_t number, const struct vkbox_object *set)
{
    uint32_t shown = 0;

    if (!set || set->type != VKBOX_SET)
        return;
    for (int gone = 1; gone >= 0; gone--)
        for (uint64_t i = 0; i < set->size && set->offset + i < VKBOX_DESCRIPTORS && shown < SHOWN; i++) {
            const struct vkbox_descriptor *d = &o->r->b->descriptors[set->offset + i];

            if (!d->type || (!d->handle && !d->other) || is_gone(o, d) != gone)
                continue;
            shown++;
            put_descriptor(o, number, d);
        }
}

static void put_pushed(struct rows *o, const struct vkbox_work *w)
{
    const char *types[PUSHED];
    uint64_t handles[PUSHED];
    uint32_t n = w ? vkbox_handles(w, handles, types, PUSHED) : 0;
    char slot[32];

    for (uint32_t i = 1; i < n; i++) { /* the first is the layout */
        if (!handles[i] || !strcmp(types[i], "VkDescriptorSet"))
            continue;
        snprintf(slot, sizeof(slot), "set%u pushed", vkbox_number(w, "set"));
        put_named(o, slot, "", handles[i], UINT64_MAX);
    }
}

static void put_bound(struct rows *o)
{
    const struct vkbox_list *l = &o->v->list;
    struct bound b = {0};
    uint32_t flags, point, left;

    if (o->v->work == SIZE_MAX)
        return;
    left = o->r->b->command_buffers[l->work[o->v->work].buffer].left;
    if (left)
        snprintf(o->stale[o->num_stale++], sizeof(o->stale[0]),
                 "The program %s the command buffer while the device was at it",
                 left == VKBOX_LEFT_RECORDED ? "recorded anew" : "freed");
    for (size_t i = 0; i <= o->v->work; i++) {
        if (i && l->work[i].buffer != l->work[i - 1].buffer) {
            /* nothing is inherited but what a pass draws into */
            struct bound next = {.framebuffer = b.framebuffer, .num_targets = b.num_targets};

            memcpy(next.targets, b.targets, sizeof(b.targets));
            b = next;
        }
        track(&b, &l->work[i]);
    }
    flags = vkbox_commands[l->work[o->v->work].command].flags;
    if (!(flags & (VKBOX_IS_DRAW | VKBOX_IS_DISPATCH))) {
        const char *types[BINDINGS];
        uint64_t handles[BINDINGS];
        uint32_t n = vkbox_handles(&l->work[o->v->work], handles, types, BINDINGS);

        for (uint32_t i = 0; i < n; i++)
            note_lead(o, vkbox_object(o->r, handles[i]));
        return;
    }
    point = (flags & VKBOX_IS_DISPATCH) != 0;
    put_pipeline(o, b.pipeline[point]);
    for (uint32_t i = 0; i < BINDINGS; i++)
        if (b.sets[point][i]) {
            char slot[24];

            snprintf(slot, sizeof(slot), "set%u", i);
            put_named(o, slot, "", b.sets[point][i], UINT64_MAX);
            put_descriptors(o, i, vkbox_object(o->r, b.sets[point][i]));
        }
    put_pushed(o, b.pushed[point]);
    if (!(flags & VKBOX_IS_DRAW))
        return;
    put_slots(o, "vertices", b.vertices, BINDINGS);
    put_slots(o, "indices", &b.indices, 1);
    put_slots(o, "target", b.targets, b.num_targets);
    put_slots(o, "framebuffer", &b.framebuffer, 1);
}

static void put_stale(struct rows *o)
{
    for (uint32_t i = 0; i < o->num_stale; i++) {
        bb_row(o->p, BB_TABLE_FINDING);
        bb_int(o->p, BB_finding_rank, i + 1);
        bb_text(o->p, BB_finding_certainty, "candidate");
        bb_text(o->p, BB_finding_cause, bb_cause_desc(o->v->cause)->name);
        bb_text(o->p, BB_finding_text, o->stale[i]);
        bb_int(o->p, BB_finding_submission, (int64_t)o->v->submission);
        bb_int(o->p, BB_finding_packet, (int64_t)o->v->work);
        bb_text(o->p, BB_finding_source, "what it has bound");
        bb_row_end(o->p);
    }
}

/* ---- memory -------------------------------------------------------------- */

static uint64_t address_of(const struct vkbox_reader *r, const struct vkbox_object *o)
{
    const struct vkbox_object *memory;

    if (o->address || !o->parent)
        return o->address;
    memory = vkbox_object(r, o->parent);
    return memory && memory->address ? memory->address + o->offset : 0;
}

/* Where the program itself reaches it, when it is mapped. */
static uint64_t host_address_of(const struct vkbox_reader *r, const struct vkbox_object *o)
{
    const struct vkbox_object *memory = vkbox_object(r, o->parent);

    return memory && memory->address ? memory->address + o->offset : 0;
}

static void put_resources(struct rows *o, struct bb_resources *known)
{
    for (uint32_t i = 0; i < VKBOX_OBJECTS; i++) {
        const struct vkbox_object *b = &o->r->b->objects[i];
        char what[160], name[VKBOX_NAME];
        uint64_t address, freed;

        if (b->state == VKBOX_FREE ||
            (b->type != VKBOX_MEMORY && b->type != VKBOX_BUFFER && b->type != VKBOX_IMAGE))
            continue;
        address = address_of(o->r, b);
        freed = freed_ns(o->r, b);
        describe(b, b->handle, what);
        bb_row(o->p, BB_TABLE_RESOURCE);
        bb_int(o->p, BB_resource_id, (int64_t)b->handle);
        bb_text(o->p, BB_resource_kind, what);
        if (address)
            bb_int(o->p, BB_resource_address, (int64_t)address);
        if (b->size)
            bb_int(o->p, BB_resource_size, (int64_t)b->size);
        bb_int(o->p, BB_resource_created_ns, (int64_t)b->created_ns);
        if (b->state == VKBOX_GONE)
            bb_int(o->p, BB_resource_destroyed_ns, (int64_t)b->destroyed_ns);
        else if (freed)
            bb_int(o->p, BB_resource_evicted_ns, (int64_t)freed);
        bb_row_end(o->p);
        address = o->v->cause == BB_CAUSE_PROGRAM ? host_address_of(o->r, b) : address;
        if (!known || !address || !b->size || b->type == VKBOX_MEMORY)
            continue;
        snprintf(name, sizeof(name), "%.47s", b->name);
        vkbox_type_name(b->type, what);
        bb_resources_add(known, &(struct bb_resource){.id = i,
                                                      .name = name,
                                                      .kind = what,
                                                      .address = address,
                                                      .size = b->size,
                                                      .created_ns = b->created_ns});
        if (b->state != VKBOX_GONE && freed)
            bb_resources_evict(known, i, true, freed);
        if (b->state == VKBOX_GONE || freed)
            bb_resources_remove(known, i, freed ? freed : b->destroyed_ns);
    }
}

static void name_other(struct rows *o, const struct vkbox_object *of, uint32_t *num)
{
    size_t n = strlen(o->others);
    char what[160];

    if (of == o->faulted || ++*num > NAMED)
        return;
    describe(of, of->handle, what);
    snprintf(o->others + n, sizeof(o->others) - n, "%s%s",
             *num == 1 ? "whether the address was reached through another: " : ", ", what);
    utf8_mend(o->others);
}

/* An address lies at one owner, and any other that the command could reach may have led there: what is bound; for a shader, whatever
 * has an address. */
static void name_others(struct rows *o)
{
    const struct vkbox_list *l = &o->v->list;
    uint32_t num = 0, flags;
    size_t n;

    if (o->v->work == SIZE_MAX)
        return;
    flags = vkbox_commands[l->work[o->v->work].command].flags;
    for (uint32_t i = 0; i < o->num_leads; i++)
        name_other(o, o->leads[i], &num);
    for (uint32_t i = 0; flags & (VKBOX_IS_DRAW | VKBOX_IS_DISPATCH) && i < VKBOX_OBJECTS; i++) {
        const struct vkbox_object *of = &o->r->b->objects[i];

        if (of->state == VKBOX_LIVE && of->type == VKBOX_BUFFER && of->address && !leads(o, of))
            name_other(o, of, &num);
    }
    n = strlen(o->others);
    if (num > NAMED)
        snprintf(o->others + n, sizeof(o->others) - n, ", or %u more", num - NAMED);
}

static void put_no_address(struct rows *o, const struct vkbox_crash *c)
{
    const char *name;

    bb_row(o->p, BB_TABLE_FAULT);
    bb_int(o->p, BB_fault_time_ns, (int64_t)c->time_ns);
    bb_text(o->p, BB_fault_text,
            "the processor does not say the address: it is not canonical, or not aligned as the instruction "
            "wants it");
    bb_row_end(o->p);
    for (uint32_t i = 0; i < VKBOX_REGISTERS; i++) {
        if (!(name = vkbox_not_canonical(c, i)))
            continue;
        bb_row(o->p, BB_TABLE_REGISTER);
        bb_text(o->p, BB_register_name, name);
        bb_int(o->p, BB_register_value, (int64_t)c->registers[i]);
        bb_text(o->p, BB_register_text, "no address: not canonical");
        bb_row_end(o->p);
    }
}

/* The driver, and the program, have memory that no call tells of, and what is gone may have been there. */
static void say_not_seen(const struct rows *o, struct bb_fault *f)
{
    const char *mapped = o->ev->mapped;

    if (f->address >> 63) { /* the kernel's half */
        snprintf(f->text, sizeof(f->text), "0x%" PRIx64 " was never mapped: no program can have it",
                 f->address);
        return;
    }
    f->kind = BB_FAULT_NOT_SEEN;
    snprintf(f->text, sizeof(f->text),
             "0x%" PRIx64 " lies in, or near, no buffer or image whose address was seen%s%s%s", f->address,
             *mapped ? "; " : "", mapped, *mapped ? " is mapped there" : "");
}

static void put_fault(struct rows *o, struct bb_resources *known)
{
    const struct vkbox_crash *c = &o->r->b->crash;
    bool by_program = o->v->cause == BB_CAUSE_PROGRAM;
    struct vkbox_address at;
    bool has_address = vkbox_fault_address(c, &at);
    struct bb_fault f = {0};

    if ((o->v->cause != BB_CAUSE_PAGE_FAULT && !(by_program && has_address)) || !known)
        return;
    if (!has_address) {
        put_no_address(o, c);
        return;
    }
    bb_resources_fault(known, at.address, &f);
    if (f.kind == BB_FAULT_NEVER_MAPPED)
        say_not_seen(o, &f);
    /* Without guards, what is near is the program's own memory more often than not. */
    if (by_program && (!f.has_resource || !device_of(o)->guards))
        return;
    o->faulted = f.has_resource && f.resource.id < VKBOX_OBJECTS ? &o->r->b->objects[f.resource.id] : NULL;
    if (!by_program)
        name_others(o);
    if (f.kind == BB_FAULT_OUT_OF_BOUNDS || f.kind == BB_FAULT_USE_AFTER_FREE)
        o->memory =
            device_of(o)->guards && f.num_former <= 1 && o->v->command == BB_SURE_PROVEN && !o->others[0]
                ? BB_SURE_PROVEN
                : BB_SURE_SUGGESTED;
    bb_row(o->p, BB_TABLE_FAULT);
    bb_int(o->p, BB_fault_time_ns, (int64_t)c->time_ns);
    bb_int(o->p, BB_fault_address, (int64_t)at.address);
    bb_text(o->p, BB_fault_kind, bb_fault_kind_name(f.kind));
    if (o->faulted)
        bb_int(o->p, BB_fault_resource, (int64_t)o->faulted->handle);
    bb_int(o->p, BB_fault_distance, (int64_t)f.distance);
    bb_text(o->p, BB_fault_text, f.text);
    bb_text(o->p, BB_fault_access, at.access);
    bb_row_end(o->p);
}

/* ---- who called ---------------------------------------------------------- */

static const struct vkbox_module *module_of(const struct vkbox *b, uint64_t pc)
{
    for (uint32_t i = 0; i < VKBOX_MODULES; i++)
        if (pc >= b->modules[i].first && pc < b->modules[i].end)
            return &b->modules[i];
    return NULL;
}

static void put_stack(struct rows *o, const char *what, uint64_t handle, const char *name, uint32_t number)
{
    const struct vkbox *b = o->r->b;
    const struct vkbox_stack *s = number && number < VKBOX_STACKS ? &b->stacks[number] : NULL;
    char hex[48];

    for (uint32_t i = 0; s && i < s->num && i < VKBOX_FRAMES; i++) {
        const struct vkbox_module *m = module_of(b, s->pc[i]);

        bb_row(o->p, BB_TABLE_STACK);
        bb_text(o->p, BB_stack_what, what);
        bb_int(o->p, BB_stack_handle, (int64_t)handle);
        bb_text(o->p, BB_stack_name, name);
        bb_int(o->p, BB_stack_depth, i);
        if (m) {
            hex[0] = '\0';
            for (uint32_t k = 0; k < m->build_id_size && k < sizeof(m->build_id); k++)
                snprintf(hex + 2 * k, 3, "%02x", m->build_id[k]);
            bb_textf(o->p, BB_stack_module, "%.63s", m->name);
            if (hex[0])
                bb_text(o->p, BB_stack_build_id, hex);
        }
        bb_int(o->p, BB_stack_offset, (int64_t)(s->pc[i] - (m ? m->base : 0)));
        bb_row_end(o->p);
    }
}

static void put_stacks_of(struct rows *o, const struct vkbox_object *of)
{
    char name[160];

    if (!of)
        return;
    describe(of, of->handle, name);
    if (of->state == VKBOX_GONE)
        name[strlen(name) - strlen(DESTROYED)] = '\0';
    put_stack(o, "created", of->handle, name, of->created_by);
    if (of->state == VKBOX_GONE)
        put_stack(o, "destroyed", of->handle, name, of->destroyed_by);
}

/* What is submitted; whose memory it is; who made the pipeline. */
static void put_stacks(struct rows *o)
{
    const struct vkbox_submission *s = vkbox_submission(o->r, o->v->submission);
    char name[48];

    if (s) {
        snprintf(name, sizeof(name), "submission %llu", (unsigned long long)o->v->submission);
        put_stack(o, "submitted", o->v->submission, name, s->stack);
    }
    put_stacks_of(o, o->faulted);
    put_stacks_of(o, o->pipeline);
}

void vkbox_rows(const struct vkbox_reader *r, const struct vkbox_event *ev, const struct vkbox_verdict *v,
                struct bb_package *p)
{
    struct rows o = {.r = r, .ev = ev, .v = v, .p = p};
    struct bb_resources *known = NULL;

    bb_resources_create(&known, VKBOX_OBJECTS);
    put_meta(&o);
    put_statuses(&o);
    put_queues(&o);
    put_submissions(&o);
    put_packets(&o);
    put_bound(&o);
    put_stale(&o);
    put_resources(&o, known);
    put_fault(&o, known);
    put_stacks(&o);
    put_finding(&o);
    bb_resources_destroy(known);
}
