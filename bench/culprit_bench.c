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

static bool is_right(const struct plant *p, const struct watch_crash *c)
{
    static const enum bb_cause causes[] = {[PLANT_HANG] = BB_CAUSE_HANG,
                                           [PLANT_WILD] = BB_CAUSE_PAGE_FAULT,
                                           [PLANT_AFTER_FREE] = BB_CAUSE_PAGE_FAULT,
                                           [PLANT_BEYOND] = BB_CAUSE_PAGE_FAULT,
                                           [PLANT_MALFORMED] = BB_CAUSE_MALFORMED,
                                           [PLANT_KILLED] = BB_CAUSE_KILLED,
                                           [PLANT_TWO_CONTEXTS] = BB_CAUSE_HANG};

    if (c->cause != causes[p->kind])
        return false;
    if (p->kind == PLANT_KILLED)
        return true;
    if (c->ordinal != p->ordinal || c->packet != p->packet)
        return false;
    switch (p->kind) {
    case PLANT_WILD:
        return c->fault_kind == BB_FAULT_NEVER_MAPPED;
    case PLANT_AFTER_FREE:
        return c->fault_kind == BB_FAULT_USE_AFTER_FREE && c->fault_resource == p->buffer;
    case PLANT_BEYOND:
        return c->fault_kind == BB_FAULT_OUT_OF_BOUNDS && c->fault_resource == p->buffer &&
               c->fault_distance == p->distance;
    default:
        return true;
    }
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
    if (p.kind == PLANT_KILLED)
        params.kill_after_us = 5000 + (uint32_t)(seed * 7919 % 60000);
    for (int pass = 0; pass < 2 && !named; pass++) {
        params.markers = pass ? EXEC_MARKERS_EXACT : EXEC_MARKERS_GROUPS;
        if (crash_run(&params, &r, &e)) {
            fprintf(stderr, "culprit_bench: %s\n", e.text);
            exit(4);
        }
        if (p.kind == PLANT_KILLED && !r.crashed)
            break; /* it was idle when it was killed, or had ended */
        named = r.crashed && is_right(&p, &r.crash) && (r.crash.certain || p.kind == PLANT_KILLED);
        if (r.crashed && r.crash.certain && !is_right(&p, &r.crash)) {
            wrong = true;
            complain(&p, seed, pass ? "exact" : "group", &r);
        }
    }
    close(fd);
    if (p.kind == PLANT_KILLED && !r.crashed) {
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
