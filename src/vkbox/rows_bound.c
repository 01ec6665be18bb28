/* SPDX-License-Identifier: MIT */
/* rows_bound.c: what was bound at a command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/utf8.h"
#include "blackbox/spirv_source.h"
#include "executor/shader/shader.h"
#include "vkbox/rows.h"

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
    rows_describe(p, handle, what);
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
    const struct vkbox_work *foreign_pipeline[BIND_POINTS], *foreign; /* that may have bound others since */
    uint32_t num_targets;
};

/* Whether it binds nothing, as far as its name says. */
static bool binds_nothing(const struct vkbox_work *w)
{
    static const char *const verbs[] = {"Draw", "Dispatch", "Copy", "Trace", "Write", "Begin", "End"};
    char name[64];
    const char *verb;

    vkbox_name(w, name);
    verb = strncmp(name, "vkCmd", 5) ? name : name + 5;
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (!strncmp(verb, verbs[i], strlen(verbs[i])))
            return true;
    return false;
}

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

    if (flags & VKBOX_IS_FOREIGN && !binds_nothing(w))
        b->foreign = b->foreign_pipeline[0] = b->foreign_pipeline[1] = w;
    if (!(flags & (VKBOX_IS_PIPELINE | VKBOX_IS_SETS | VKBOX_IS_PUSHED | VKBOX_IS_VERTICES |
                   VKBOX_IS_INDICES | VKBOX_IS_BEGIN)))
        return;
    n = vkbox_handles(w, handles, types, BINDINGS);
    if (flags & VKBOX_IS_PIPELINE && n) {
        first = vkbox_number(w, "pipelineBindPoint");
        if (first < BIND_POINTS) {
            b->pipeline[first] = handles[0];
            b->foreign_pipeline[first] = NULL;
        }
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
    rows_describe(what, what->handle, text);
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

bool rows_lead(const struct rows *o, const struct vkbox_object *of)
{
    uint32_t i = 0;

    while (i < o->num_leads && o->leads[i] != of)
        i++;
    return i < o->num_leads;
}

static void note_lead(struct rows *o, const struct vkbox_object *of)
{
    if (has_memory(of) && o->num_leads < LEADS && !rows_lead(o, of))
        o->leads[o->num_leads++] = of;
}

/* What a handle was at that time, with what stands behind it. */
static void put_named(struct rows *o, const char *slot, const char *prefix, uint64_t handle, uint64_t time_ns)
{
    const struct vkbox_object *of = vkbox_object_at(o->r, handle, time_ns), *behind = of;
    char what[160], line[400];
    size_t n;

    rows_describe(of, handle, what);
    n = (size_t)snprintf(line, sizeof(line), "%s%s", prefix, what);
    note_stale(o, slot, of, of && of->state == VKBOX_GONE ? of->destroyed_ns : 0, false);
    if (of && (of->type == VKBOX_IMAGE_VIEW || of->type == VKBOX_BUFFER_VIEW)) {
        behind = vkbox_object_at(o->r, of->parent, of->created_ns);
        rows_describe(behind, of->parent, what);
        snprintf(line + n, sizeof(line) - n, " of %s", what);
        note_stale(o, slot, behind, behind && behind->state == VKBOX_GONE ? behind->destroyed_ns : 0, false);
    }
    if (behind && behind->state == VKBOX_LIVE &&
        (behind->type == VKBOX_BUFFER || behind->type == VKBOX_IMAGE))
        note_stale(o, slot, behind, rows_freed_ns(o->r, behind), true);
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

/* What was bound before it may be so no more: nobody knows, and nothing is told of it. */
static void put_foreign(struct rows *o, const struct vkbox_work *w)
{
    char name[64], line[200];

    vkbox_name(w, name);
    snprintf(line, sizeof(line),
             "not known: %s, recorded before, is no command of the registry that this build has, and may "
             "have bound others",
             name);
    o->foreign = true;
    put_binding(o, "all else", "resource", 0, line);
}

void rows_put_bound(struct rows *o)
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
        o->foreign = (flags & VKBOX_IS_FOREIGN) != 0;
        return;
    }
    point = (flags & VKBOX_IS_DISPATCH) != 0;
    if (b.foreign) {
        put_foreign(o, b.foreign);
        if (!b.foreign_pipeline[point])
            put_pipeline(o, b.pipeline[point]);
        return;
    }
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

void rows_put_stale(struct rows *o)
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
