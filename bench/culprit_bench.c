/* SPDX-License-Identifier: MIT */
/* culprit_bench: figure culprit_accuracy. Plants crashes by seed in frames of 50 to 2 000 draws, has them crash, and compares
 * what the black box says with what was planted: cause, submission, packet, and for page faults the buffer and the distance.
 * Each is played as it would crash in use (group markers), and then again with exact markers, as `aerogpu play` does.
 *
 * CULPRITS=N plants N crashes in place of 42. A share of them that is named exactly is the figure; one that is named wrong
 * with certainty by either run makes it 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#include "base/log.h"
#include "bench.h"
#include "minimize/crash_run.h"
#include "plant.h"

enum { HANG_MS = 700 };

struct tally {
    unsigned planted, exact, wrong, missed;
};

static bool is_from_outside(const struct plant *p)
{
    return p->kind == PLANT_KILLED || p->kind == PLANT_SIGNAL;
}

static bool is_right_cause(const struct plant *p, const struct watch_crash *c)
{
    static const enum bb_cause causes[PLANT_NUM_KINDS] = {[PLANT_HANG] = BB_CAUSE_HANG,
                                                          [PLANT_WILD] = BB_CAUSE_PAGE_FAULT,
                                                          [PLANT_AFTER_FREE] = BB_CAUSE_PAGE_FAULT,
                                                          [PLANT_BEYOND] = BB_CAUSE_PAGE_FAULT,
                                                          [PLANT_MALFORMED] = BB_CAUSE_MALFORMED,
                                                          [PLANT_KILLED] = BB_CAUSE_KILLED,
                                                          [PLANT_TWO_CONTEXTS] = BB_CAUSE_HANG,
                                                          [PLANT_SLOW] = BB_CAUSE_SLOW,
                                                          [PLANT_SIGNAL] = BB_CAUSE_KILLED,
                                                          [PLANT_NOT_CANONICAL] = BB_CAUSE_PAGE_FAULT,
                                                          [PLANT_NULL_POINTER] = BB_CAUSE_PAGE_FAULT,
                                                          [PLANT_REUSED] = BB_CAUSE_HANG};

    return c->cause == causes[p->kind];
}

static bool is_right_command(const struct plant *p, const struct watch_crash *c)
{
    return !is_from_outside(p) && c->ordinal == p->ordinal && c->packet == p->packet;
}

static bool is_right_memory(const struct plant *p, const struct watch_crash *c)
{
    switch (p->kind) {
    case PLANT_WILD:
    case PLANT_NULL_POINTER:
        return c->fault_kind == BB_FAULT_NEVER_MAPPED && !c->no_address;
    case PLANT_NOT_CANONICAL:
        return c->no_address;
    case PLANT_AFTER_FREE:
        return c->fault_kind == BB_FAULT_USE_AFTER_FREE && c->fault_resource == p->buffer;
    case PLANT_BEYOND:
        return c->fault_kind == BB_FAULT_OUT_OF_BOUNDS && c->fault_resource == p->buffer &&
               c->fault_distance == p->distance;
    default:
        return true;
    }
}

static bool is_right(const struct plant *p, const struct watch_crash *c)
{
    if (!is_right_cause(p, c) || !is_right_memory(p, c))
        return false;
    if (p->kind == PLANT_REUSED && c->certain && !strcmp(c->shaders, ""))
        return false;
    return is_from_outside(p) || is_right_command(p, c);
}

/* A single fact that is said to be proven, and is not so. */
static bool lies(const struct plant *p, const struct watch_crash *c)
{
    return (c->which == BB_SURE_PROVEN && !is_right_command(p, c)) ||
           (c->why == BB_SURE_PROVEN && !is_right_cause(p, c)) ||
           (c->whose == BB_SURE_PROVEN && !is_right_memory(p, c));
}

/* What went on when it was given ten times as long: the slow one, as `aerogpu play` of a dump would say. */
static void call_slow(struct crash_run_result *r, uint32_t hang_ms)
{
    if (r->crashed || r->pause.ns < hang_ms * NSEC_PER_MSEC)
        return;
    r->crashed = true;
    r->crash = (struct watch_crash){.cause = BB_CAUSE_SLOW,
                                    .certain = true,
                                    .which = BB_SURE_SUGGESTED,
                                    .ordinal = r->pause.ordinal,
                                    .packet = r->pause.packet};
}

static void complain(const struct plant *p, uint64_t seed, const char *how, const struct crash_run_result *r)
{
    fprintf(stderr, "seed %llu, %s, %s markers: planted submission %llu packet %u, said: %s\n",
            (unsigned long long)seed, plant_kind_name(p->kind), how, (unsigned long long)p->ordinal,
            p->packet, r->crashed ? r->crash.text : "nothing crashed");
}

static void one(uint64_t seed, struct tally *t)
{
    int fd = memfd_create("plant", MFD_CLOEXEC);
    struct crash_run_params params = {.hang_ms = HANG_MS, .errors_count = true};
    struct crash_run_result r;
    struct error e = {0};
    struct plant p;
    char path[64];
    bool named = false, wrong = false;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (plant_write(&p, seed, path, AEROGPU_SOURCE_DIR "/samples/shaders", &e)) {
        fprintf(stderr, "culprit_bench: %s\n", e.text);
        exit(4);
    }
    params.path = path;
    if (is_from_outside(&p))
        params.kill_after_us = 5000 + (uint32_t)(seed * 7919 % 60000);
    params.kill_signal = p.signal;
    for (int pass = 0; pass < 2 && !named; pass++) {
        params.markers = pass ? EXEC_MARKERS_EXACT : EXEC_MARKERS_GROUPS;
        params.hang_ms = pass && p.kind == PLANT_SLOW ? 10 * HANG_MS : HANG_MS;
        if (crash_run(&params, &r, &e)) {
            fprintf(stderr, "culprit_bench: %s\n", e.text);
            exit(4);
        }
        if (pass)
            call_slow(&r, HANG_MS);
        if (is_from_outside(&p) && !r.crashed)
            break; /* it was idle when it was killed, or had ended */
        named = r.crashed && is_right(&p, &r.crash) && (r.crash.certain || is_from_outside(&p));
        if (r.crashed && lies(&p, &r.crash) && !(p.kind == PLANT_SLOW && !pass)) {
            wrong = true;
            complain(&p, seed, pass ? "exact" : "group", &r);
        }
    }
    close(fd);
    if (is_from_outside(&p) && !r.crashed) {
        t->missed++;
        return;
    }
    t->planted++;
    t->exact += named && !wrong;
    t->wrong += wrong;
    if (!named && !wrong)
        complain(&p, seed, "exact", &r);
}

int main(int argc, char **argv)
{
    const char *count = getenv("CULPRITS");
    uint64_t n = count ? strtoull(count, NULL, 10) : 42;
    struct tally t = {0};
    char note[160];
    struct bench b;

    bench_init(&b, argc, argv);
    log_set_level(LOG_ERROR);
    for (uint64_t seed = 1; seed <= n; seed++)
        one(seed, &t);
    snprintf(note, sizeof(note), "of %u planted crashes %u named exactly, %u named wrong with certainty%s",
             t.planted, t.exact, t.wrong,
             t.missed ? "; some kills came when nothing ran, and do not count" : "");
    bench_report(&b, &(struct bench_figure){.id = "culprit_accuracy",
                                            .ours = t.wrong ? 0 : t.exact,
                                            .reference = t.planted,
                                            .unit = "crashes",
                                            .target = 0.99,
                                            .at_least = 1,
                                            .note = note});
    return bench_finish(&b);
}
