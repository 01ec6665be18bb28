/* SPDX-License-Identifier: MIT */
/* rows.c: a box as the rows of a dump. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/sched/boot_clock.h"
#include "base/sched/pid_namespace.h"
#include "base/utf8.h"
#include "vkbox/rows.h"

enum { MAX_PACKETS = 20000, MAX_SUBMISSIONS = 256 };

const struct vkbox_device *rows_device(const struct rows *o)
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
    const struct vkbox_device *d = rows_device(o);
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

/* The last checkpoints that a queue reached, and passed; of an earlier submission, where the last one has none. */
struct checkpoints {
    struct {
        const char *which;
        struct vkbox_checkpoint c;
        uint64_t submission;
        char text[64];
    } at[2];
};

static void note_checkpoint(struct checkpoints *x, int i, const struct vkbox_checkpoint *c,
                            const struct vkbox_list *l, uint64_t submission)
{
    if (x->at[i].c.there || !c->there)
        return;
    x->at[i].c = *c;
    x->at[i].submission = submission;
    if (c->named && c->packet < l->num)
        vkbox_text(&l->work[c->packet], x->at[i].text);
    else
        snprintf(x->at[i].text, sizeof(x->at[i].text), "pointer 0x%llx", (unsigned long long)c->pointer);
}

static void find_checkpoints(const struct vkbox_reader *r, uint32_t queue, struct checkpoints *x)
{
    uint32_t looks = MAX_SUBMISSIONS;

    *x = (struct checkpoints){.at = {{.which = "top"}, {.which = "bottom"}}};
    for (uint64_t n = r->b->checkpoints ? r->last : 0; n >= r->first && n && looks && !x->at[1].c.there;
         n--) {
        const struct vkbox_submission *s = vkbox_submission(r, n);
        struct vkbox_list l;

        if (!s || s->queue != queue)
            continue;
        looks--;
        if (vkbox_flatten(r, s, &l))
            return;
        note_checkpoint(x, 0, &l.top, &l, n);
        note_checkpoint(x, 1, &l.bottom, &l, n);
        vkbox_list_finish(&l);
    }
}

static void put_checkpoints(struct rows *o, uint32_t queue, const struct checkpoints *x)
{
    for (int i = 0; i < 2; i++) {
        if (!x->at[i].c.there)
            continue;
        bb_row(o->p, BB_TABLE_CHECKPOINT);
        bb_int(o->p, BB_checkpoint_queue, queue);
        bb_text(o->p, BB_checkpoint_which, x->at[i].which);
        bb_int(o->p, BB_checkpoint_submission, (int64_t)x->at[i].submission);
        bb_int(o->p, BB_checkpoint_packet, (int64_t)x->at[i].c.packet);
        bb_text(o->p, BB_checkpoint_kind, x->at[i].c.named ? "copy" : "pointer");
        if (x->at[i].c.named)
            bb_text(o->p, BB_checkpoint_text, x->at[i].text);
        else
            bb_int(o->p, BB_checkpoint_pointer, (int64_t)x->at[i].c.pointer);
        bb_row_end(o->p);
    }
}

static void put_queues(struct rows *o)
{
    struct checkpoints x;

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
        find_checkpoints(o->r, i, &x);
        for (int k = 0; k < 2; k++)
            if (x.at[k].c.there)
                bb_textf(o->p, k ? BB_queue_bottom : BB_queue_top, "%s (submission %llu, packet %zu)",
                         x.at[k].text, (unsigned long long)x.at[k].submission, x.at[k].c.packet);
        bb_row_end(o->p);
        put_checkpoints(o, i, &x);
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

enum { DEEP = 32, LABEL = 64 };

struct path {
    char text[DEEP * LABEL];
    size_t ends[DEEP];
    uint32_t depth;
};

static void follow(struct path *p, const struct vkbox_work *w)
{
    uint32_t flags = vkbox_commands[w->command].flags;
    char label[LABEL];

    if (flags & VKBOX_IS_PUSH && p->depth < DEEP) {
        size_t n = strlen(p->text);

        vkbox_text(w, label);
        p->ends[p->depth++] = n;
        snprintf(p->text + n, sizeof(p->text) - n, "%s%s", n ? "/" : "", label);
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
    char shown[256], name[64];
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
        vkbox_name(w, name);
        bb_text(o->p, BB_packet_name, name);
        bb_text(o->p, BB_packet_text, strbuf_str(&text));
        bb_int(o->p, BB_packet_work, (flags & (VKBOX_IS_WORK | VKBOX_IS_BEGIN | VKBOX_IS_END)) != 0);
        if (w->draw)
            bb_int(o->p, BB_packet_draw, w->draw);
        utf8_path(shown, sizeof(shown), path.text);
        bb_text(o->p, BB_packet_path, shown);
        if (w->state < BB_NUM_STATES)
            bb_text(o->p, BB_packet_state, bb_state_name(w->state));
        bb_row_end(o->p);
    }
    strbuf_finish(&text);
}

/* When the memory behind a buffer or image was freed; 0: it was not. */
uint64_t rows_freed_ns(const struct vkbox_reader *r, const struct vkbox_object *o)
{
    const struct vkbox_object *memory = o->type == VKBOX_MEMORY ? NULL : vkbox_object(r, o->parent);

    return memory && memory->state == VKBOX_GONE && memory->destroyed_ns > o->created_ns
               ? memory->destroyed_ns
               : 0;
}

void rows_describe(const struct vkbox_object *o, uint64_t handle, char out[160])
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
    rows_describe(of, of->handle, name);
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
    rows_put_bound(&o);
    rows_put_stale(&o);
    rows_put_resources(&o, known);
    rows_put_fault(&o, known);
    put_stacks(&o);
    put_finding(&o);
    bb_resources_destroy(known);
}
