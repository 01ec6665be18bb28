/* SPDX-License-Identifier: MIT */
#include "minimize/replay.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

long long replay_number(const struct dump_file *f, uint64_t ordinal)
{
    return ordinal < f->num_submissions ? f->submissions[ordinal] : -1;
}

/* What stopped or starved the executor says nothing about whether its work hangs. */
static bool is_same_cause(enum bb_cause a, enum bb_cause b)
{
    return a == b ||
           (bb_cause_desc(a)->status == BB_STATUS_TIMEOUT && bb_cause_desc(b)->status == BB_STATUS_TIMEOUT);
}

/* What was played is not all that had run, or not as it had. */
static bool is_incomplete(const struct dump_file *f)
{
    return f->memory_dropped || f->streams_dropped;
}

static enum replay_outcome outcome_of(const struct dump_file *f, const struct crash_run_result *r, bool exact)
{
    const struct watch_crash *c = &r->crash;
    const enum bb_cause cause = bb_cause_find(f->cause);
    const long long submission = replay_number(f, c->ordinal);

    if (!r->crashed)
        return cause == BB_CAUSE_HANG && f->hang_ms && r->pause.ns >= f->hang_ms * NSEC_PER_MSEC
                   ? REPLAY_SLOW
                   : REPLAY_NOT_AGAIN;
    if (!is_same_cause(c->cause, cause))
        return REPLAY_OTHERWISE;
    if ((f->submission < 0 || f->submission == submission) &&
        (c->packet == UINT32_MAX ||
         dump_file_suspects(f, c->packet, c->candidates > 1 ? c->last : c->packet)))
        return REPLAY_SAME;
    return submission >= 0 && c->certain && c->exact && exact && !is_incomplete(f) ? REPLAY_ELSEWHERE
                                                                                   : REPLAY_OTHERWISE;
}

/* Replaces `length` bytes of the text from `at` on. */
static void replace(char *text, size_t size, const char *at, size_t length, const char *by)
{
    char rest[900];

    snprintf(rest, sizeof(rest), "%s", at + length);
    snprintf(text + (at - text), size - (size_t)(at - text), "%s%s", by, rest);
}

void replay_sentence(const struct dump_file *f, const struct watch_crash *c, char *text, size_t size)
{
    const long long submission = replay_number(f, c->ordinal);
    char here[48], there[48] = "a submission", *at;

    snprintf(text, size, "%s", c->text);
    snprintf(here, sizeof(here), "submission %llu", (unsigned long long)c->submission);
    if (submission >= 0)
        snprintf(there, sizeof(there), "submission %lld", submission);
    at = strstr(text, here);
    if (at)
        replace(text, size, at, strlen(here), there);
}

/* One address is told: the dump's, if it has one. It is no fact of a crash that is another. */
static void crash_sentence(const struct dump_file *f, const struct watch_crash *c, bool other, char *text,
                           size_t size)
{
    char *at;

    replay_sentence(f, c, text, size);
    at = c->at[0] ? strstr(text, c->at) : NULL;
    if (at && f->at[0])
        replace(text, size, at, strlen(c->at), other ? "" : f->at);
}

static void slow_sentence(const struct dump_file *f, const struct watch_pause *p, char *text, size_t size)
{
    char packet[24] = "Something";

    if (p->packet != UINT32_MAX)
        snprintf(packet, sizeof(packet), "Packet %u", p->packet);
    snprintf(
        text, size,
        "%s of submission %lld made no progress for %.1f s and ended when it was let run: slow, not hung",
        packet, replay_number(f, p->ordinal), (double)p->ns / 1e9);
}

static void because(struct replay_verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void because(struct replay_verdict *v, const char *fmt, ...)
{
    size_t at = strlen(v->why);
    va_list ap;

    if (at)
        at += (size_t)snprintf(v->why + at, sizeof(v->why) - at, "; ");
    va_start(ap, fmt);
    if (at < sizeof(v->why))
        vsnprintf(v->why + at, sizeof(v->why) - at, fmt, ap);
    va_end(ap);
}

/* What the dump and its recording say that may have made the difference. */
static void explain(const struct dump_file *f, const struct watch_crash *c, struct replay_verdict *v)
{
    if (f->memory_dropped)
        because(v, "the guest memory of %u submissions was not kept as it was then", f->memory_dropped);
    if (f->streams_dropped)
        because(v, "%u earlier submissions are not in the dump", f->streams_dropped);
    if (bb_cause_desc(bb_cause_find(f->cause))->kind == BB_KIND_OUTSIDE)
        because(v, "what came from outside does not come again");
    if (f->in_flight > 1)
        because(v, "%u submissions were unfinished, and were played one after the other", f->in_flight);
    if (v->outcome == REPLAY_OTHERWISE && !is_same_cause(c->cause, bb_cause_find(f->cause)))
        because(v, "the dump's cause is '%s', this one is '%s'", f->cause, bb_cause_desc(c->cause)->name);
    if (v->outcome == REPLAY_ELSEWHERE && v->same_place)
        because(v, "the dump concluded from its markers what was seen now");
    else if (v->outcome == REPLAY_ELSEWHERE)
        because(v, "which command it is may depend on where memory lies, and that is elsewhere each time");
    if (!v->why[0])
        because(v, "what it depends on is not in the recording: time, or what another process did");
}

/* An address as a place: whose, and how far; one that is nobody's as it is. */
static const char *place_of(const char *at)
{
    const char *owner = strstr(at, ": ");

    return owner ? owner : at;
}

void replay_compare(const struct dump_file *f, const struct crash_run_result *r, bool exact,
                    struct replay_verdict *out)
{
    const struct watch_crash *c = &r->crash;

    *out = (struct replay_verdict){.outcome = outcome_of(f, r, exact)};
    out->same_place = out->outcome >= REPLAY_ELSEWHERE && !strcmp(place_of(f->at), place_of(c->at));
    if (out->outcome == REPLAY_SLOW)
        slow_sentence(f, &r->pause, out->text, sizeof(out->text));
    else if (r->crashed)
        crash_sentence(f, c, !out->same_place && out->outcome != REPLAY_SAME, out->text, sizeof(out->text));
    if (out->outcome != REPLAY_SAME && out->outcome != REPLAY_SLOW)
        explain(f, c, out);
    else if (out->outcome == REPLAY_SAME && f->fault_kind[0] && c->fault_known &&
             strcmp(f->fault_kind, bb_fault_kind_name(c->fault_kind)))
        because(out, "there the address was '%s', since memory lies elsewhere each time",
                bb_fault_kind_name(c->fault_kind));
    INVARIANT(r->crashed == (out->outcome >= REPLAY_OTHERWISE));
    INVARIANT(out->text[0] || out->outcome == REPLAY_NOT_AGAIN);
    INVARIANT(out->why[0] || out->outcome == REPLAY_SAME || out->outcome == REPLAY_SLOW);
    INVARIANT(out->outcome != REPLAY_ELSEWHERE || !is_incomplete(f));
}
