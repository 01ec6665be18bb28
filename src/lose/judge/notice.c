/* SPDX-License-Identifier: MIT */
/* notice.c: what the layer wrote since the last time, and what is said of it as it happens. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "lose/judge/devices.h"

static bool is_gl(enum lose_api api)
{
    return api == LOSE_EGL || api == LOSE_GLX;
}

static void run_check(const struct run *r)
{
    INVARIANT(r->seen <= LOSE_DEVICES);
    INVARIANT(r->out->num_losses <= r->seen); /* a device is lost once */
    INVARIANT(r->out->devices <= r->seen);
    for (uint32_t k = 0; k < r->out->num_losses; k++) {
        INVARIANT(r->slot_of[k] < r->seen);
        INVARIANT(r->stage[k] < 1u << 4);
    }
}

static void __attribute__((format(printf, 4, 5)))
notify(struct run *r, uint64_t at_ns, uint64_t lost_ns, const char *fmt, ...)
{
    char text[300];
    va_list ap;

    if (!r->p->on_event)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    r->p->on_event(r->p->ctx, at_ns > r->start_ns ? at_ns - r->start_ns : 0,
                   lost_ns && at_ns > lost_ns ? at_ns - lost_ns : 0, text);
}

static void note_work(const struct run *r, struct work *out)
{
    for (uint32_t i = 0; i < LOSE_DEVICES; i++)
        out[i] = (struct work){atomic_load(&r->record->device[i].frames_then),
                               atomic_load(&r->record->device[i].submits_then),
                               atomic_load(&r->record->device[i].works_then)};
}

static void note_new_device(struct run *r, const struct lose_device *d)
{
    uint64_t created = record_time(r, &d->created_ns), lost = record_time(r, &r->record->lost_ns);
    char name[sizeof(d->name)];

    memcpy(name, d->name, sizeof(name)); /* the program may write there, and need not end it */
    name[sizeof(name) - 1] = '\0';
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            *c = '?';
    tree_scan(&r->tree); /* while it is there */
    if (!lost || created < lost)
        notify(r, created, 0, "a %s: %s, process %u%s", lose_api_noun(atomic_load(&d->api)), name,
               atomic_load(&d->pid), atomic_load(&d->deaf) ? "; it does not ask to be told of resets" : "");
}

static void note_loss(struct run *r, uint32_t slot, uint64_t lost, bool early)
{
    const struct lose_device *d = &r->record->device[slot];
    uint32_t k = r->out->num_losses++;
    struct lose_loss *l = &r->out->losses[k];
    char submits[64];

    r->slot_of[k] = slot;
    r->lost_ns[k] = lost;
    tree_scan(&r->tree);
    r->processes[k] = tree_alive(&r->tree);
    l->early = early;
    l->api = atomic_load(&d->api) < LOSE_APIS ? atomic_load(&d->api) : LOSE_VULKAN;
    l->deaf = atomic_load(&d->deaf);
    l->frames = atomic_load(&d->frames);
    l->submits = atomic_load(&d->submits);
    l->at_ns = lost - r->start_ns;
    snprintf(submits, sizeof(submits), " and %llu %s", (unsigned long long)l->submits,
             l->api && l->api != LOSE_D3D12 ? "draws" : "submissions");
    notify(r, lost, 0, "after %llu frames%s the %s %s", (unsigned long long)l->frames,
           is_gl(l->api) && l->frames && !r->p->at_submit ? "" : submits, /* draws are not counted then */
           lose_api_noun(l->api),
           early                         ? "hangs, and the program does not wait for its reset"
           : record_time(r, &d->hung_ns) ? "hangs, is reset, and is lost"
                                         : "is lost");
}

/* Whether device `slot` is lost: said by the layer; or nobody asked it since its reset; or the program gave it up
 * before, or ended. */
static void look_for_loss(struct run *r, uint32_t slot)
{
    const struct lose_device *d = &r->record->device[slot];
    uint64_t lost = record_time(r, &d->lost_ns), hung = record_time(r, &d->hung_ns), work = 0;

    if (loss_is_noted(r, slot) || (!lost && !hung))
        return;
    if (!hung || !r->before[r->out->num_losses][slot].submits) /* when it was seen first */
        note_work(r, r->before[r->out->num_losses]);
    if (!lost && run_now(r) >= hung + r->p->hang_ns)
        lost = hung + r->p->hang_ns;
    if (!lost)
        successor(r, slot, hung, r->before[r->out->num_losses], &work);
    if (lost || work || record_time(r, &d->destroyed_ns) || device_is_gone(r, slot))
        note_loss(r, slot, lost && !work ? lost : hung, !lost);
}

/* What has become of a loss since it was looked at last. */
static void follow(struct run *r, uint32_t loss)
{
    const struct lose_device *d = &r->record->device[r->slot_of[loss]];
    uint64_t lost = r->lost_ns[loss], work, first;
    const struct lose_device *s = successor_of_loss(r, loss, &work);
    struct lose_loss *l = &r->out->losses[loss];
    bool frames = device_kind(d) == FRAMES;
    char text[96];

    first = !s || !work ? 0
            : frames    ? record_time(r, &s->first_frame_ns)
                        : record_time(r, &s->first_submit_ns);
    const struct {
        uint64_t at, *ns;
        const char *text;
    } steps[] = {
        {record_time(r, &d->reported_ns), &l->reported_ns, text},
        {record_time(r, &d->destroyed_ns), &l->destroyed_ns,
         is_gl(l->api) ? "the lost context is destroyed" : "the lost device is destroyed"},
        {s ? record_time(r, &s->created_ns) : 0, &l->device_ns,
         s && record_time(r, &s->created_ns) < lost ? "one that it had kept ready"
         : is_gl(l->api)                            ? "a new context"
                                                    : "a new device"},
        {first && first < lost ? run_now(r) : first, &l->work_ns,
         frames ? "its first frame" : "its first submission"},
    };

    l->reported = atomic_load(&d->reported);
    l->call = atomic_load(&d->call) < LOSE_GL_END ? atomic_load(&d->call) : LOSE_NO_CALL;
    snprintf(text, sizeof(text), "%s %s", l->call ? lose_call_name(l->call) : "a call",
             l->call < LOSE_NUM_CALLS ? "answers VK_ERROR_DEVICE_LOST"
             : is_gl(l->api)          ? "tells of the reset"
                                      : "tells of the loss");
    for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (!steps[i].at || r->stage[loss] & 1u << i)
            continue;
        r->stage[loss] |= 1u << i;
        *steps[i].ns = steps[i].at > lost ? steps[i].at - lost : 1;
        notify(r, steps[i].at, lost, "%s", steps[i].text);
    }
}

static void look_for_faults(struct run *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->p->num_faults; i++) {
        const struct lose_fault *f = &r->record->fault[i], *asked = &r->p->faults[i];
        uint64_t at = record_time(r, &f->given_ns);

        n += at != 0;
        if (!at || r->out->given[i])
            continue;
        r->out->given[i] = 1;
        r->fault_ns = at > r->fault_ns ? at : r->fault_ns;
        note_work(r, r->fault_before);
        /* Each number is counted once, so the first that was answered is the one asked for; `seen` has gone on. */
        notify(r, at, 0, "fault %u: call %u of %s", i + 1, f->at,
               *asked->gl ? asked->gl : lose_calls[asked->call].name);
    }
    r->faults_given = n;
}

void notice_calls(struct run *r)
{
    uint32_t maker = atomic_load(&r->record->making);

    for (uint32_t i = 0; i < r->seen; i++) {
        if (atomic_exchange(&r->record->device[i].called, 0))
            r->called_ns[i] = run_now(r);
    }
    if (maker) {
        r->maker = maker;
        r->made_ns = run_now(r);
    }
}

void notice(struct run *r)
{
    uint32_t n = atomic_load(&r->record->devices);

    for (n = n < LOSE_DEVICES ? n : LOSE_DEVICES; r->seen < n && atomic_load(&r->record->device[r->seen].pid);
         r->seen++)
        note_new_device(r, &r->record->device[r->seen]);
    notice_calls(r);
    look_for_faults(r);
    for (uint32_t i = 0; i < r->seen && r->out->num_losses < LOSE_DEVICES; i++)
        look_for_loss(r, i);
    for (uint32_t k = 0; k < r->out->num_losses; k++)
        follow(r, k);
    r->out->devices = r->seen;
    r->out->refused = atomic_load(&r->record->refused);
    run_check(r);
}
