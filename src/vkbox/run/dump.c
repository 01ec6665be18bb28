/* SPDX-License-Identifier: MIT */
#include "vkbox/run/dump.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "blackbox/package.h"
#include "blackbox/symbols.h"
#include "vkbox/judge.h"
#include "vkbox/run/run.h"

static void trouble(const struct vkbox_run_params *p, const char *fmt, const char *what)
{
    char text[600];

    snprintf(text, sizeof(text), fmt, what);
    if (p->on_trouble)
        p->on_trouble(p->ctx, text);
}

static const char *folder_of(const struct vkbox_run_params *p)
{
    return p->dumps ? p->dumps : ".";
}

static int send_dump(const struct vkbox_dump_order *o, const struct vkbox *b, struct bb_package *package,
                     char path[PATH_MAX], struct bb_error *e)
{
    char program[64];
    struct bb_dump_name name = {
        .folder = folder_of(o->run), .program = program, .pid = b->pid, .number = o->number};

    known_name(b->program, program);
    return bb_package_send_as(package, &name, path, e);
}

/* By which the next run knows where it crashed. */
static void leave_hint(const struct vkbox_dump_order *o, const struct vkbox *b, const struct vkbox_verdict *v)
{
    const char *folder = folder_of(o->run);
    struct error e = {0};

    if (v->group && (known_write(folder, b->program, v->group, &e) ||
                     (v->in_secondary && known_write(folder, b->program, KNOWN_SECONDARIES, &e))))
        trouble(o->run, "the next run will not know where it crashed: %s", e.text);
}

/* What made no progress at the last look may have ended before the copy: the host signalled, or it was slow. */
static bool has_ended(const struct vkbox_reader *r, const struct vkbox_event *ev)
{
    for (uint64_t n = r->first; r->last && n <= r->last; n++) {
        const struct vkbox_submission *s = vkbox_submission(r, n);
        enum vkbox_progress p;
        uint32_t of;

        if (!s || !(ev->queues >> s->queue & 1))
            continue;
        p = vkbox_progress(r, s, &of);
        if (!s->returned || p == VKBOX_WAITING || p == VKBOX_RUNNING || p == VKBOX_OVERWRITTEN ||
            vkbox_is_open(r, s))
            return false;
    }
    return ev->queues != 0;
}

static void make(const struct vkbox_dump_order *o, struct vkbox_dump *out)
{
    struct bb_package *package = NULL;
    struct vkbox_verdict verdict;
    struct vkbox_reader reader;
    struct bb_error be = {0};
    struct error e = {0};

    *out = (struct vkbox_dump){.made = false};
    symbols_add(o->files);
    if (vkbox_copy(&reader, o->fd, &e)) {
        trouble(o->run, "the record of a crash cannot be read: %s", e.text);
        return;
    }
    if (has_ended(&reader, o->event)) {
        out->may_end = true;
        vkbox_finish(&reader);
        return;
    }
    if (vkbox_judge(&reader, o->event, &verdict) || bb_package_create(&package, 0)) {
        trouble(o->run, "%s", "no memory for a dump");
        vkbox_finish(&reader);
        return;
    }
    out->may_end = verdict.may_end;
    vkbox_rows(&reader, o->event, &verdict, package);
    if (o->told && !verdict.may_end && o->event->what != VKBOX_HAPPENED_REQUEST) {
        snprintf(o->told, VKBOX_DUMP_TOLD, "%.255s", verdict.text);
        utf8_mend(o->told);
    }
    if (!(verdict.may_end && o->wait_is_said)) {
        if (o->run->on_describe)
            o->run->on_describe(o->run->ctx, package);
        out->made = !send_dump(o, reader.b, package, out->path, &be);
        if (out->made) {
            leave_hint(o, reader.b, &verdict);
        } else {
            trouble(o->run, "no dump: %s", be.text);
            trouble(o->run, "what it would have said: %s", verdict.text);
        }
    }
    bb_package_destroy(package);
    vkbox_verdict_finish(&verdict);
    vkbox_finish(&reader);
}

static int look_at_left(int fd, struct vkbox_event *out, struct error *e)
{
    struct vkbox_reader reader;
    const struct vkbox *b;
    int code = vkbox_copy(&reader, fd, e);
    bool has_crashed;

    if (code)
        return code;
    b = reader.b;
    *out = (struct vkbox_event){.what = b->crash.kind == VKBOX_DEVICE_LOST ? VKBOX_HAPPENED_LOST
                                        : b->crash.kind == VKBOX_SIGNAL    ? VKBOX_HAPPENED_SIGNAL
                                                                           : VKBOX_HAPPENED_ENDED,
                                .time_ns = b->crash.time_ns,
                                .device = b->crash.device < VKBOX_DEVICES ? b->crash.device : VKBOX_NO_INDEX,
                                .unwatched = true};
    /* What was collected has its dump. */
    has_crashed = out->what == VKBOX_HAPPENED_ENDED ? !b->ended && b->crash.kind == VKBOX_NO_CRASH
                                                    : b->collected != b->event && !b->crash.handled;
    vkbox_finish(&reader);
    return has_crashed;
}

const struct vkbox_dumps vkbox_dumps = {make, look_at_left};
