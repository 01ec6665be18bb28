/* SPDX-License-Identifier: MIT */
/* judge.c: from marks, signals and answers to a verdict, with how sure each fact of it is (docs/evidence.md).
 *
 * A point stands in a full barrier: the group behind the last point that was passed is all that can have been running on
 * its queue. Which of its commands it was is proven only if it is one.
 */
#include "vkbox/judge.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/sched/signame.h"
#include "base/utf8.h"
#include "vkbox/awaited.h"

/* VkResult's VK_ERROR_OUT_OF_…_MEMORY so long before the end have to do with it. */
#define MEMORY_NS (2 * NSEC_PER_SEC)

/* ---- which submission ---------------------------------------------------- */

struct choice {
    uint64_t running, waiting, unknown; /* the oldest of each kind, 0: none */
    uint32_t running_queues;
    uint64_t running_of[VKBOX_QUEUES]; /* the oldest of each of them */
    bool may_be_other;                 /* a queue has work of which nothing is kept */
    bool overwritten;                  /* or of which the marks are not the device's */
};

/* Without a mark of its own it has not begun, as far as is known: what it waits for nobody signals who has ended. */
static bool awaits_in_vain(const struct vkbox_reader *r, uint64_t number)
{
    struct awaited *a = awaited_find(r->b, r->last, number);
    bool in_vain = false;

    for (uint32_t i = 0; a && i < a->num; i++) {
        const struct vkbox_submission *by = vkbox_submission(r, a->by[i]);

        in_vain |= !a->by[i] || (by && by->queue < VKBOX_QUEUES && a->by[i] > r->ended[by->queue]);
    }
    awaited_free(a);
    return in_vain;
}

/* Of what waits without marks on a queue that stands: the first that nobody releases, or else the last. */
static uint64_t find_unmarked(const struct vkbox_reader *r, uint32_t queue, uint64_t from)
{
    uint64_t found = 0;

    for (uint64_t n = from; from && n <= r->last; n++) {
        const struct vkbox_submission *s = vkbox_submission(r, n);

        if (!s || s->queue != queue || !vkbox_is_open(r, s))
            continue;
        found = n;
        if (awaits_in_vain(r, n))
            break;
    }
    return found;
}

/* `stands`: it was at work for a time-out, and made no progress. */
static void choose_of_queue(const struct vkbox_reader *r, uint32_t queue, bool stands, struct choice *c)
{
    uint64_t running = 0, waiting = 0, unknown = 0, empty = 0, overwritten = 0;

    for (uint64_t n = r->first; r->last && n <= r->last; n++) {
        const struct vkbox_submission *s = vkbox_submission(r, n);
        uint64_t *to = NULL;
        uint32_t of;

        if (!s || s->queue != queue)
            continue;
        if (!s->num_command_buffers) { /* no mark says whether it is over */
            empty = empty || !s->num_waits ? empty : n;
            waiting = waiting || s->returned ? waiting : empty;
            continue;
        }
        switch (vkbox_progress(r, s, &of)) {
        case VKBOX_RUNNING:
            to = &running;
            break;
        case VKBOX_WAITING:
            /* What waits for nothing itself does not begin because of what is before it. */
            if (!waiting)
                waiting = empty && !s->num_waits ? empty : n;
            break;
        case VKBOX_UNKNOWN:
            to = &unknown;
            break;
        case VKBOX_OVERWRITTEN:
            to = &overwritten;
            break;
        case VKBOX_FINISHED:
            /* The queue goes in order: what has no marks, and lies before, has begun at least. */
            unknown = empty = overwritten = 0;
            break;
        }
        if (to && !*to)
            *to = n;
    }
    if (stands && !running && !waiting && !unknown && !overwritten)
        waiting = find_unmarked(r, queue, empty);
    if (running)
        c->running_of[c->running_queues++] = running;
    c->may_be_other |= r->b->buffers_lost && unknown && (!running || unknown < running);
    c->overwritten |= overwritten != 0;
    unknown = unknown && (!overwritten || unknown < overwritten) ? unknown : overwritten;
    if (running && (!c->running || running < c->running))
        c->running = running;
    if (waiting && (!c->waiting || waiting < c->waiting))
        c->waiting = waiting;
    if (unknown && (!c->unknown || unknown < c->unknown))
        c->unknown = unknown;
}

static struct choice choose(const struct vkbox_reader *r, const struct vkbox_event *ev)
{
    struct choice c = {0};

    for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
        if (r->b->queues[q].state != VKBOX_FREE &&
            (ev->device == VKBOX_NO_INDEX || r->b->queues[q].device == ev->device) &&
            (!ev->queues || ev->queues >> q & 1))
            choose_of_queue(r, q, ev->queues >> q & 1, &c);
    return c;
}

/* ---- which command ------------------------------------------------------- */

static void name_labels(struct vkbox_list *l, char (*names)[64])
{
    size_t k = 0;

    for (size_t i = 0; i < l->num_items; i++)
        if (l->items[i].kind == BB_ITEM_PUSH) {
            vkbox_text(&l->work[l->items[i].id], names[k]);
            l->items[i].name = names[k++];
        }
}

static int infer(struct vkbox_verdict *v, enum bb_end end)
{
    struct vkbox_list *l = &v->list;
    struct bb_inference inf = {0};
    size_t labels = 1;
    char(*names)[64];
    int code;

    for (size_t i = 0; i < l->num_items; i++)
        labels += l->items[i].kind == BB_ITEM_PUSH;
    names = calloc(labels, sizeof(*names));
    if (!names)
        return -ENOMEM;
    name_labels(l, names);
    code = bb_infer(&inf, l->items, (uint32_t)l->num_items, end);
    for (size_t i = 0; i < l->num_items; i++)
        l->items[i].name = NULL;
    free(names);
    if (code)
        return code;
    for (uint32_t i = 0; i < inf.num_items; i++)
        if (l->items[i].kind == BB_ITEM_COMMAND)
            l->work[l->items[i].id].state = inf.states[i];
    v->candidates = 0;
    for (uint32_t i = 0; i < inf.num_candidates; i++) {
        size_t at = l->items[inf.candidates[i]].id;
        uint32_t flags = vkbox_commands[l->work[at].command].flags;

        v->in_secondary |= l->work[at].buffer != l->work[at].primary;
        /* That a pass begins or ends is work where there is no other. */
        if (flags & VKBOX_IS_WORK && v->work != SIZE_MAX &&
            !(vkbox_commands[l->work[v->work].command].flags & VKBOX_IS_WORK)) {
            v->work = SIZE_MAX;
            v->candidates = 0;
        }
        if (v->work == SIZE_MAX)
            v->work = at;
        v->candidates += flags & VKBOX_IS_WORK || !v->candidates;
    }
    snprintf(v->path, sizeof(v->path), "%s", inf.path);
    bb_inference_finish(&inf);
    return 0;
}

/* ---- words --------------------------------------------------------------- */

static void __attribute__((format(printf, 3, 4))) say(char *out, size_t size, const char *fmt, ...)
{
    static const char cut[] = "\u2026";
    const size_t n = strlen(out);
    va_list ap;

    if (n + 2 * sizeof(cut) >= size) /* it ends so already */
        return;
    va_start(ap, fmt);
    if ((size_t)vsnprintf(out + n, size - n, fmt, ap) >= size - n) {
        out[size - sizeof(cut)] = '\0';
        utf8_mend(out);
        strcat(out, cut);
    }
    va_end(ap);
}

#define TEXT(v, ...)   say((v)->text, sizeof((v)->text), __VA_ARGS__)
#define UNSEEN(v, ...) say((v)->unseen, sizeof((v)->unseen), __VA_ARGS__)

/* Whether there is another in use, and of another device. */
static bool has_other_queue(const struct vkbox_reader *r, const struct vkbox_queue *q, bool *other_device)
{
    bool has = false;

    for (uint32_t i = 0; i < VKBOX_QUEUES; i++) {
        const struct vkbox_queue *o = &r->b->queues[i];

        if (o == q || o->state == VKBOX_FREE || !o->submitted)
            continue;
        has = true;
        *other_device |= o->device != q->device;
    }
    return has;
}

/* Where there are several. */
static void name_queue(const struct vkbox_reader *r, uint64_t submission, struct vkbox_verdict *v)
{
    const struct vkbox_submission *s = vkbox_submission(r, submission);
    const struct vkbox_queue *q = s && s->queue < VKBOX_QUEUES ? &r->b->queues[s->queue] : NULL;
    bool other_device = false;

    if (!q || !has_other_queue(r, q, &other_device))
        return;
    if (q->name[0])
        TEXT(v, " on queue \"%.47s\"", q->name);
    else
        TEXT(v, " on queue %u of family %u", q->index, q->family);
    if (other_device && q->device < VKBOX_DEVICES)
        TEXT(v, " of device 0x%llx", (unsigned long long)r->b->devices[q->device].handle);
}

/* What other queues were at. */
static void name_others(const struct vkbox_reader *r, const struct choice *c, struct vkbox_verdict *v)
{
    enum { NAMED = 3 };
    uint32_t named = 0;

    for (uint32_t i = 0; i < c->running_queues; i++) {
        if (c->running_of[i] == v->submission || named++ >= NAMED)
            continue;
        TEXT(v, "%s submission %llu",
             named > 1 ? "," : "; at work as well:", (unsigned long long)c->running_of[i]);
        name_queue(r, c->running_of[i], v);
    }
    if (named > NAMED)
        TEXT(v, ", and %u more", named - NAMED);
}

static void name_command(const struct vkbox_reader *r, struct vkbox_verdict *v)
{
    const struct vkbox_work *w = &v->list.work[v->work];
    char name[64];

    vkbox_name(w, name);
    if (v->candidates > 1)
        TEXT(v, "%s of %u commands, the first of which is ", v->text[0] ? "one" : "One", v->candidates);
    if (w->draw)
        TEXT(v, "%s %u (%s)", vkbox_commands[w->command].flags & VKBOX_IS_DISPATCH ? "dispatch" : "draw",
             w->draw, name);
    else
        TEXT(v, "%s", name);
    if (v->path[0])
        TEXT(v, " in %s", v->path);
    TEXT(v, " of submission %llu", (unsigned long long)v->submission);
    if (v->pending > 1)
        TEXT(v, ", or of a later one of the %u that have its command buffer,", v->pending);
    name_queue(r, v->submission, v);
    if (v->text[0] >= 'a' && v->text[0] <= 'z' && strncmp(v->text, "vk", 2))
        v->text[0] = (char)(v->text[0] - 'a' + 'A');
}

static void name_wait(const struct vkbox_semaphore *wait, const struct vkbox_object *o, uint64_t by,
                      bool may_be_other, struct vkbox_verdict *v)
{
    if (o && o->name[0])
        TEXT(v, "\"%.47s\"", o->name);
    else
        TEXT(v, "0x%llx", (unsigned long long)wait->handle);
    if (wait->value)
        TEXT(v, " to reach %llu", (unsigned long long)wait->value);
    if (!by && o && o->detail == VKBOX_PRESENTATION)
        TEXT(v, ", which the presentation engine signals");
    else if (!by)
        TEXT(v, may_be_other ? ", of which no submission is known that signals it"
                             : ", which no submission signals");
    else
        TEXT(v, ", which submission %llu signals", (unsigned long long)by);
}

/* Behind what `by` is to signal, one that has not begun itself: who waits there for what nobody signals. */
static void name_root(const struct vkbox_reader *r, uint64_t by, struct vkbox_verdict *v)
{
    enum { MOST = 8 };
    uint32_t of;

    for (uint32_t steps = 0; by && steps < MOST; steps++) {
        const struct vkbox_submission *s = vkbox_submission(r, by);
        struct awaited *a;
        uint32_t i = 0;

        if (!s || !s->num_waits || s->queue >= VKBOX_QUEUES || by <= r->ended[s->queue] ||
            (s->num_command_buffers && vkbox_progress(r, s, &of) != VKBOX_WAITING))
            return;
        a = awaited_find(r->b, r->last, by);
        while (a && i < a->num && a->by[i])
            i++;
        if (a && i < a->num) {
            TEXT(v, "; submission %llu waits for semaphore ", (unsigned long long)by);
            name_wait(&a->semaphore[i], vkbox_object(r, a->semaphore[i].handle), 0, a->may_be_other, v);
            v->may_end |= a->semaphore[i].value != 0;
        }
        by = a && i == a->num && a->num ? a->by[0] : 0;
        awaited_free(a);
    }
}

/* A submission that the device did not begin. What nobody signals is named first. */
static void name_waiting(const struct vkbox_reader *r, struct vkbox_verdict *v)
{
    const struct vkbox_submission *s = vkbox_submission(r, v->submission);
    struct awaited *a = awaited_find(r->b, r->last, v->submission);
    uint64_t behind = 0;
    uint32_t named = 0;

    TEXT(v, "Submission %llu has not begun", (unsigned long long)v->submission);
    for (int signalled = 0; signalled < 2; signalled++)
        for (uint32_t i = 0; a && i < a->num; i++) {
            const struct vkbox_object *o = vkbox_object(r, a->semaphore[i].handle);

            v->may_end |= a->semaphore[i].value || (o && o->detail != VKBOX_NOBODY);
            if ((a->by[i] != 0) != signalled || named >= 2)
                continue;
            TEXT(v, "%s semaphore ", named++ ? " and" : "; it waits for");
            name_wait(&a->semaphore[i], o, a->by[i], a->may_be_other, v);
            behind = named == 1 ? a->by[i] : behind;
        }
    if (!a || (s && s->num_waits > VKBOX_SEMAPHORES_MOST)) {
        v->may_end = true;
        UNSEEN(v, "%sall of the semaphores that it waits for", v->unseen[0] ? "; " : "");
    }
    awaited_free(a);
    name_root(r, behind, v);
}

/* For an event that the host may still set. */
static bool waits_for_host(const struct vkbox_verdict *v)
{
    return v->candidates == 1 && vkbox_commands[v->list.work[v->work].command].flags & VKBOX_IS_WAIT;
}

static void name_event(const struct vkbox_reader *r, struct vkbox_verdict *v)
{
    const char *type = "";
    uint64_t handle = 0;
    const struct vkbox_object *o;

    vkbox_handles(&v->list.work[v->work], &handle, &type, 1);
    o = vkbox_object(r, handle);
    TEXT(v, " waits for an event");
    if (o && o->name[0])
        TEXT(v, ", \"%.47s\"", o->name);
}

/* ---- by what happened ---------------------------------------------------- */

const char *vkbox_not_canonical(const struct vkbox_crash *c, uint32_t i)
{
    static const char *const names[VKBOX_REGISTERS] = {"r8",  "r9",  "r10", "r11", "r12", "r13",
                                                       "r14", "r15", "rdi", "rsi", "rbp", "rbx",
                                                       "rdx", "rax", "rcx", "rsp"};
    const uint64_t top = c->registers[i] >> 47;

    return top && top != 0x1FFFF ? names[i] : NULL;
}

bool vkbox_fault_address(const struct vkbox_crash *c, struct vkbox_address *out)
{
    static const char *const said[] = {NULL, "read", "write", "execute"}; /* by VkDeviceFaultAddressTypeEXT */

    *out = (struct vkbox_address){.address = c->address, .precision = 1};
    if (c->kind == VKBOX_DEVICE_LOST && c->said.type && c->said.type < sizeof(said) / sizeof(said[0]))
        *out = (struct vkbox_address){c->said.address, c->said.precision, said[c->said.type]};
    else
        out->access = c->fault & 16 ? "execute" : c->fault & 2 ? "write" : "read";
    return c->kind == VKBOX_DEVICE_LOST ? c->said.type != 0 : c->has_address;
}

static bool is_page_fault(const struct vkbox_crash *c)
{
    return c->processor && (c->signal == SIGSEGV || c->signal == SIGBUS);
}

static void judge_signal(const struct vkbox_reader *r, const struct vkbox_event *ev, struct vkbox_verdict *v)
{
    const struct vkbox_crash *c = &r->b->crash;

    v->happened = BB_SURE_PROVEN;
    if (!c->processor && c->sender && c->sender != r->b->pid) {
        v->cause = BB_CAUSE_KILLED;
        v->why = BB_SURE_SUGGESTED;
        TEXT(v, "Process %u sent %s, as the signal says", c->sender, signal_name(c->signal).text);
        UNSEEN(v, "who sent it: one that the program sends to itself may name anybody");
    } else if (!c->processor && !c->sender) {
        v->cause = BB_CAUSE_KILLED;
        v->why = BB_SURE_SUGGESTED;
        TEXT(v, "%s was sent to the program", signal_name(c->signal).text);
        if (c->code > 0)
            TEXT(v, " as if it were a fault: the processor had none");
        UNSEEN(v, "who sent it: the kernel does not say, and it may have been the program itself");
    } else if (!c->processor && c->signal != SIGABRT) {
        v->cause = BB_CAUSE_PROGRAM;
        v->why = BB_SURE_SUGGESTED;
        TEXT(v, "The program sent itself %s: the processor had no fault; thread %.15s got it",
             signal_name(c->signal).text, c->thread_name);
        UNSEEN(v, "why it did");
    } else if (ev->unwatched || ev->hidden) {
        v->cause = BB_CAUSE_PROGRAM;
        v->why = BB_SURE_UNKNOWN;
        TEXT(v, "%s in thread %.15s", signal_name(c->signal).text, c->thread_name);
        UNSEEN(v, "whose code raised it: %s",
               ev->unwatched ? "nobody watched the process"
                             : "the process lets nobody see what it has mapped");
    } else if (!ev->in_driver || (ev->in_call && !ev->in_shader)) {
        /* A driver that is a processor: shaders can write wherever the program can. */
        v->cause = BB_CAUSE_PROGRAM;
        v->why = BB_SURE_SUGGESTED;
        TEXT(v, ev->in_driver ? "The program crashed in a call of the driver" : "The program itself crashed");
        TEXT(v, ": %s in thread %.15s%s%s", signal_name(c->signal).text, c->thread_name,
             ev->place[0] ? ", at " : "", ev->place);
        if (c->has_address)
            TEXT(v, ", accessing 0x%llx", (unsigned long long)c->address);
        UNSEEN(v, "whether a shader had overwritten what it used");
    } else if (is_page_fault(c)) {
        v->cause = BB_CAUSE_PAGE_FAULT;
        v->why = c->has_address ? BB_SURE_PROVEN : BB_SURE_SUGGESTED;
        if (!c->has_address)
            UNSEEN(v, "the address: the processor does not say one that is not canonical, or not aligned as "
                      "the instruction wants it");
    } else {
        v->cause = c->processor ? BB_CAUSE_FAULT : BB_CAUSE_DEVICE;
        v->why = c->processor ? BB_SURE_PROVEN : BB_SURE_SUGGESTED;
    }
    if (c->handled) {
        v->happened = BB_SURE_SUGGESTED;
        UNSEEN(v, "%swhether the program's own handler mends it: it has one", v->unseen[0] ? "; " : "");
    }
    if (c->processor && !c->again && bb_cause_desc(v->cause)->kind == BB_KIND_CRASH) {
        v->why = BB_SURE_SUGGESTED;
        UNSEEN(v, "%swhether the processor raised it: its instruction could not be run again",
               v->unseen[0] ? "; " : "");
    }
}

/* A call that found no memory in the last seconds: many programs end themselves then. */
static void judge_memory(const struct vkbox_reader *r, const struct vkbox_event *ev, struct vkbox_verdict *v)
{
    const struct vkbox *b = r->b;
    const struct vkbox_error *e = &b->error[b->errors % VKBOX_ERRORS];

    if (v->cause != BB_CAUSE_PROGRAM || !b->errors || e->number != b->errors ||
        e->time_ns + MEMORY_NS < ev->time_ns ||
        (e->result != -1 && e->result != -2 && e->result != -1000069000))
        return;
    v->cause = BB_CAUSE_MEMORY;
    v->why = BB_SURE_SUGGESTED;
    TEXT(v, "; before that, %s answered %s",
         e->call < VKBOX_NUM_CALLS && vkbox_calls[e->call] ? vkbox_calls[e->call] : "a call",
         vkbox_result_name(e->result));
}

static void judge_ended(const struct vkbox_event *ev, struct vkbox_verdict *v)
{
    v->happened = BB_SURE_PROVEN;
    if (ev->unwatched) {
        v->cause = BB_CAUSE_KILLED;
        v->happened = v->why = BB_SURE_SUGGESTED;
        TEXT(v, "The program was ended");
        UNSEEN(v, "by whom, or whether it ended itself by _exit(): only its parent is told");
    } else if (ev->out_of_memory && ev->signal == SIGKILL) {
        v->cause = BB_CAUSE_HOST_MEMORY;
        v->why = BB_SURE_SUGGESTED;
        TEXT(v, "The kernel ended the program because memory ran out");
        UNSEEN(v, "who sent SIGKILL; the kernel counted one more process that it ended for want of memory");
    } else if (ev->guessed) {
        v->cause = BB_CAUSE_KILLED;
        v->happened = v->why = BB_SURE_SUGGESTED;
        TEXT(v, "The program was ended by %s, as the exit code of what started it says",
             signal_name(ev->signal).text);
        UNSEEN(v, "how it ended, which only its parent was told, and who sent the signal");
    } else if (ev->signal != SIGSEGV && ev->signal != SIGBUS && ev->signal != SIGILL &&
               ev->signal != SIGFPE && ev->signal != SIGABRT && ev->signal != SIGSYS &&
               ev->signal != SIGTRAP) {
        v->cause = BB_CAUSE_KILLED;
        v->why = BB_SURE_PROVEN;
        TEXT(v, "%s ended the program", signal_name(ev->signal).text);
        UNSEEN(v, "who sent it");
    } else {
        v->cause = BB_CAUSE_PROGRAM;
        v->why = BB_SURE_UNKNOWN;
        TEXT(v, "%s ended the program", signal_name(ev->signal).text);
        UNSEEN(
            v,
            "where: the layer's handler did not run, as when the program replaces it, the stack runs out, or the thread had the signal blocked "
            "(those of Mesa's drivers block all but SIGSEGV)");
    }
}

static void judge_lost(const struct vkbox_reader *r, struct vkbox_verdict *v)
{
    const struct vkbox_said *said = &r->b->crash.said;
    const bool says = said->tells && (said->type || said->text[0]);

    v->cause = said->type ? BB_CAUSE_PAGE_FAULT : BB_CAUSE_DEVICE;
    v->happened = BB_SURE_PROVEN;
    v->why = says ? BB_SURE_PROVEN : BB_SURE_SUGGESTED;
    if (!says)
        UNSEEN(v, "why: the driver does not say, another program may have had it reset, and a layer can "
                  "answer so as well");
    if (said->type && said->precision > 1)
        UNSEEN(v, "which of the %llu bytes there it was: the driver does not say",
               (unsigned long long)said->precision);
}

/* In its own words. */
static void add_said(const struct vkbox_reader *r, const struct vkbox_event *ev, struct vkbox_verdict *v)
{
    if (ev->what == VKBOX_HAPPENED_LOST && r->b->crash.said.tells && r->b->crash.said.text[0])
        TEXT(v, "; the driver says: %.120s", r->b->crash.said.text);
}

static void judge_hang(const struct vkbox_event *ev, struct vkbox_verdict *v)
{
    v->cause = BB_CAUSE_HANG;
    v->happened = BB_SURE_PROVEN;
    v->why = BB_SURE_SUGGESTED;
    UNSEEN(
        v,
        "whether it would end: there was no progress for %.1f s, of which threads of the program ran %.1f s",
        (double)ev->waited_ns / 1e9, (double)ev->ran_ns / 1e9);
    if (ev->idle)
        UNSEEN(v, "; what kept the driver's threads from running: %u of %u threads slept", ev->slept,
               ev->threads);
}

static void end_page_fault(const struct vkbox_crash *c, struct vkbox_verdict *v)
{
    struct vkbox_address at;
    const char *name;

    if (vkbox_fault_address(c, &at)) {
        TEXT(v, " a page fault at 0x%llx", (unsigned long long)at.address);
        return;
    }
    TEXT(v, " a fault at an address that the processor does not say");
    for (uint32_t i = 0, n = 0; i < VKBOX_REGISTERS && n < 2; i++)
        if ((name = vkbox_not_canonical(c, i)))
            TEXT(v, "%s %s held 0x%llx", n++ ? "," : "; not canonical:", name,
                 (unsigned long long)c->registers[i]);
}

static void end_sentence(const struct vkbox_reader *r, const struct vkbox_event *ev, struct vkbox_verdict *v)
{
    const struct vkbox_crash *c = &r->b->crash;

    switch (v->cause) {
    case BB_CAUSE_HANG:
        if (v->candidates > 1)
            TEXT(v, " hangs or is slow: no group of commands ended for %.1f s", (double)ev->waited_ns / 1e9);
        else
            TEXT(v, ev->idle ? " does not finish, and the driver's threads did not run" : " does not finish");
        break;
    case BB_CAUSE_PAGE_FAULT:
        TEXT(v, " caused");
        end_page_fault(c, v);
        break;
    case BB_CAUSE_DEVICE:
        if (ev->what == VKBOX_HAPPENED_LOST)
            TEXT(v, " was running when %s answered VK_ERROR_DEVICE_LOST",
                 c->call < VKBOX_NUM_CALLS && vkbox_calls[c->call] ? vkbox_calls[c->call] : "a call");
        else
            TEXT(v, " was running when the driver gave up (%s)", signal_name(c->signal).text);
        break;
    default:
        TEXT(v, " was running when %s came", signal_name(c->signal).text);
    }
}

static void make_fingerprint(const struct vkbox_verdict *v, struct vkbox_verdict *out)
{
    char text[400], name[64] = "";
    int n;

    if (v->work != SIZE_MAX)
        vkbox_name(&v->list.work[v->work], name);
    n = snprintf(text, sizeof(text), "%s/%s/%s", bb_cause_desc(v->cause)->name, name, v->path);
    snprintf(out->fingerprint, sizeof(out->fingerprint), "%016llx",
             (unsigned long long)XXH3_64bits(text, (size_t)n));
}

/* Its marks are not the device's: how far it came nobody can say. */
static void name_overwritten(const struct vkbox_reader *r, const struct vkbox_event *ev,
                             struct vkbox_verdict *v)
{
    if (v->cause == BB_CAUSE_HANG) {
        TEXT(v, "Submission %llu may hang", (unsigned long long)v->submission);
        v->may_end = true;
        v->happened = BB_SURE_SUGGESTED;
    } else {
        TEXT(v, "A command");
        end_sentence(r, ev, v);
    }
    TEXT(v, "; which command it was is not known: something wrote over the marks of submission %llu",
         (unsigned long long)v->submission);
    UNSEEN(v, "%show far the device came, and what wrote there: a shader can, and the program",
           v->unseen[0] ? "; " : "");
}

/* Whether what was submitted is no command buffer of the program's. */
static bool has_none(const struct vkbox_reader *r, const struct vkbox_submission *s)
{
    for (uint32_t i = 0; s && i < vkbox_submitted_count(s); i++)
        if (vkbox_submitted_at(r->b, s, i).command_buffer == VKBOX_NO_INDEX)
            return !r->b->buffers_lost && s->num_command_buffers <= VKBOX_SUBMITTED_MOST;
    return false;
}

/* The submission that it was, and the command in it. */
static int find_command(const struct vkbox_reader *r, const struct vkbox_event *ev, struct vkbox_verdict *v)
{
    struct choice c = choose(r, ev);
    const struct vkbox_submission *s;
    bool own, again, bad, unproven;
    uint64_t first;
    int code;

    v->submission = c.running ? c.running : c.waiting && !c.overwritten ? c.waiting : c.unknown;
    s = vkbox_submission(r, v->submission);
    if (!s)
        return 0;
    code = vkbox_flatten(r, s, &v->list);
    if (code || !c.running)
        return code;
    code = infer(v, ev->what == VKBOX_HAPPENED_HANG ? BB_END_HANG : BB_END_AT_ONCE);
    if (code || v->work == SIZE_MAX)
        return code;
    /* A driver's own code may stumble over what an earlier command left. */
    own = ev->what == VKBOX_HAPPENED_SIGNAL && !ev->in_shader;
    v->pending = (uint32_t)vkbox_pending(r, v->list.work[v->work].primary, &first);
    again = v->pending > 1;
    bad = v->list.bad || r->b->full || c.may_be_other || r->b->devices_lost;
    /* Nor is a command at work where no thread of the driver's is, its fault one that nobody can make up, or a loss its own. */
    unproven = c.overwritten || ev->idle || ev->doubtful || ev->what == VKBOX_HAPPENED_LOST ||
               (ev->what == VKBOX_HAPPENED_SIGNAL && r->b->crash.processor && !r->b->crash.again);
    if (v->candidates == 1 && c.running_queues == 1 && !bad && !own && !again && !unproven)
        v->command = BB_SURE_PROVEN;
    else
        v->command = BB_SURE_SUGGESTED;
    if (ev->what == VKBOX_HAPPENED_SIGNAL && bb_cause_desc(v->cause)->kind == BB_KIND_CRASH)
        UNSEEN(v, "%swhat an earlier command had overwritten", v->unseen[0] ? "; " : "");
    if (c.overwritten)
        UNSEEN(v, "%swhat runs of submissions whose marks something wrote over", v->unseen[0] ? "; " : "");
    if (ev->doubtful)
        UNSEEN(v, "%swhether that was a shader's code or what the program generated: it is on the stack",
               v->unseen[0] ? "; " : "");
    if (c.running_queues > 1)
        UNSEEN(v, "%swhich of %u queues it was", v->unseen[0] ? "; " : "", c.running_queues);
    if (again)
        UNSEEN(v,
               "%swhich of %u times that its command buffer was submitted, from %llu on, before it was over",
               v->unseen[0] ? "; " : "", v->pending, (unsigned long long)first);
    if (bad)
        UNSEEN(v, "%scommands that there was no room to record", v->unseen[0] ? "; " : "");
    if (v->candidates > 1)
        UNSEEN(v, "%swhich command of the group", v->unseen[0] ? "; " : "");
    if (v->candidates > 1 && v->cause == BB_CAUSE_HANG) { /* each of them may have ended in time */
        v->happened = BB_SURE_SUGGESTED;
        UNSEEN(v, "; whether they are slow together: with --exact the end of each is seen");
    }
    return 0;
}

/* By what the command is known, and how the next run may know it better. */
static void name_source(const struct vkbox_reader *r, bool blamed, struct vkbox_verdict *v)
{
    bool known;

    snprintf(v->certainty, sizeof(v->certainty), "%s",
             v->command == BB_SURE_PROVEN && v->happened == BB_SURE_PROVEN ? "certain" : "candidate");
    known = v->work != SIZE_MAX && r->b->command_buffers[v->list.work[v->work].primary].known;
    snprintf(v->source, sizeof(v->source), "%s",
             r->b->exact                   ? "exact markers"
             : known && v->candidates == 1 ? "markers of a known group"
                                           : "group markers");
    if (blamed && v->candidates > 1)
        v->group = vkbox_group(r, v->list.work[v->work].primary);
}

/* What came from outside is no command's fault. */
static void blame_none(const struct vkbox_reader *r, const struct vkbox_event *ev, const struct choice *c,
                       struct vkbox_verdict *v)
{
    v->command = BB_SURE_UNKNOWN;
    v->submission = v->work == SIZE_MAX ? 0 : v->submission;
    if (v->cause == BB_CAUSE_PROGRAM && ev->what == VKBOX_HAPPENED_ENDED && v->submission && c->running) {
        TEXT(v, "; the device was at "); /* whose thread it may have been: it could not be seen */
        name_command(r, v);
    }
}

int vkbox_judge(const struct vkbox_reader *r, const struct vkbox_event *ev, struct vkbox_verdict *v)
{
    const struct choice c = choose(r, ev);
    bool blamed;
    int code;

    *v = (struct vkbox_verdict){.work = SIZE_MAX};
    switch (ev->what) {
    case VKBOX_HAPPENED_SIGNAL:
        judge_signal(r, ev, v);
        break;
    case VKBOX_HAPPENED_ENDED:
        judge_ended(ev, v);
        break;
    case VKBOX_HAPPENED_HANG:
        judge_hang(ev, v);
        break;
    case VKBOX_HAPPENED_REQUEST:
        v->cause = BB_CAUSE_REQUEST;
        TEXT(v, "Nothing crashed: the program asked for this dump");
        break;
    case VKBOX_HAPPENED_LOST:
        judge_lost(r, v);
        break;
    }
    judge_memory(r, ev, v);
    code = find_command(r, ev, v);
    if (code) {
        vkbox_verdict_finish(v);
        return code;
    }
    blamed = bb_cause_desc(v->cause)->kind == BB_KIND_CRASH;
    if (!blamed) {
        blame_none(r, ev, &c, v);
    } else if (v->work != SIZE_MAX) {
        name_command(r, v);
        if (v->cause == BB_CAUSE_HANG && waits_for_host(v)) {
            v->cause = BB_CAUSE_WAITING;
            v->may_end = true;
            v->happened = BB_SURE_SUGGESTED;
            name_event(r, v);
        } else {
            end_sentence(r, ev, v);
        }
        name_others(r, &c, v);
    } else if (v->submission && c.overwritten) {
        name_overwritten(r, ev, v);
    } else if (v->submission && c.waiting) {
        v->cause = v->cause == BB_CAUSE_HANG ? BB_CAUSE_WAITING : v->cause;
        name_waiting(r, v);
        v->happened = v->may_end ? BB_SURE_SUGGESTED : v->happened;
    } else if (v->submission && r->b->full) {
        TEXT(v, "Submission %llu", (unsigned long long)v->submission);
        end_sentence(r, ev, v);
        UNSEEN(v, "%scommands that there was no room to record", v->unseen[0] ? "; " : "");
    } else {
        TEXT(v, v->cause != BB_CAUSE_PAGE_FAULT   ? "The device was lost"
                : ev->what == VKBOX_HAPPENED_LOST ? "The device met"
                                                  : "The driver caused");
        if (v->cause == BB_CAUSE_PAGE_FAULT)
            end_page_fault(&r->b->crash, v);
        TEXT(v, "; which command it was is not known");
        if (has_none(r, vkbox_submission(r, v->submission)))
            TEXT(v, ". Submission %llu names a command buffer that was never allocated, or is freed",
                 (unsigned long long)v->submission);
        if (r->b->buffers_lost)
            UNSEEN(v, "%s%u command buffers that there was no room for (%u are kept)",
                   v->unseen[0] ? "; " : "", r->b->buffers_lost, VKBOX_COMMAND_BUFFERS);
        else
            UNSEEN(v, "%sany mark: nothing that was submitted is unfinished, as far as can be seen",
                   v->unseen[0] ? "; " : "");
    }
    add_said(r, ev, v);
    name_source(r, blamed, v);
    make_fingerprint(v, v);
    INVARIANT(v->command != BB_SURE_PROVEN || v->work != SIZE_MAX);
    return 0;
}

void vkbox_verdict_finish(struct vkbox_verdict *v)
{
    vkbox_list_finish(&v->list);
}
