/* SPDX-License-Identifier: MIT */
/* minimize_bench: figure minimize. Plants crashes by seed, has `aerogpu minimize` make each as small as it can, and compares the
 * packets that are left with those of the same crash as written by hand (which is played as well: it must crash likewise).
 *
 * The figure is the worst of them. MINIMIZE=20 plants 20 crashes in place of 6, one of each kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "bench.h"
#include "minimize/crash_run.h"
#include "plant.h"

static char dir[] = "/tmp/minimize_benchXXXXXX";

static double now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void check(int r, const struct error *e)
{
    if (!r)
        return;
    fprintf(stderr, "minimize_bench: %s\n", e->text);
    exit(4);
}

/* Packets that are left, 0 if it failed. Nothing but the last line of its output is looked at. */
static unsigned minimized(const char *from, const char *to)
{
    char command[700], line[500];
    unsigned left = 0, n;
    FILE *f;

    snprintf(command, sizeof(command), "%s minimize --packets %s -o %s 2>/dev/null", AEROGPU, from, to);
    f = popen(command, "r");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "%u packets are left", &n) == 1)
            left = n;
    return f && pclose(f) == 0 ? left : 0;
}

static void play(const char *path, struct crash_run_result *r)
{
    struct crash_run_params p = {
        .path = path, .markers = EXEC_MARKERS_EXACT, .hang_ms = 500, .errors_count = true};
    struct error e = {0};

    check(crash_run(&p, r, &e), &e);
}

/* How many times the packets of the hand-made one are left; 0 if something went wrong. */
static double one(uint64_t seed, unsigned *left)
{
    char planted[64], by_hand[64], small[64];
    struct crash_run_result hand, tool;
    struct error e = {0};
    struct plant p;
    uint32_t fewest;

    snprintf(planted, sizeof(planted), "%s/planted", dir);
    snprintf(by_hand, sizeof(by_hand), "%s/by-hand", dir);
    snprintf(small, sizeof(small), "%s/small", dir);
    check(plant_write(&p, seed, planted, AEROGPU_SOURCE_DIR "/samples/shaders", &e), &e);
    check(plant_write_smallest(p.kind, by_hand, AEROGPU_SOURCE_DIR "/samples/shaders", &fewest, &e), &e);
    play(by_hand, &hand);
    *left = minimized(planted, small);
    if (!*left) {
        fprintf(stderr, "seed %llu, %s: minimize failed\n", (unsigned long long)seed,
                plant_kind_name(p.kind));
        return 0;
    }
    play(small, &tool);
    if (!hand.crashed || !tool.crashed || hand.crash.cause != tool.crash.cause ||
        hand.crash.fault_kind != tool.crash.fault_kind || strcmp(hand.crash.command, tool.crash.command) ||
        strcmp(hand.crash.shaders, tool.crash.shaders)) {
        fprintf(stderr, "seed %llu, %s: by hand: %s; minimized: %s\n", (unsigned long long)seed,
                plant_kind_name(p.kind), hand.crash.text, tool.crash.text);
        return 0;
    }
    if (*left > fewest)
        fprintf(stderr, "seed %llu, %s: %u packets, %u by hand\n", (unsigned long long)seed,
                plant_kind_name(p.kind), *left, fewest);
    return (double)*left / fewest;
}

int main(int argc, char **argv)
{
    const char *count = getenv("MINIMIZE");
    unsigned n = count ? (unsigned)strtoul(count, NULL, 10) : 6, done = 0, wrong = 0, left, total = 0;
    double worst = 0, start = now_s();
    char note[200], command[64];
    struct bench b;

    bench_init(&b, argc, argv);
    log_set_level(LOG_ERROR);
    if (!mkdtemp(dir)) {
        perror(dir);
        return 4;
    }
    for (uint64_t seed = 1; done < n; seed++) {
        double ratio;

        const enum plant_kind kind = (enum plant_kind)(seed % PLANT_NUM_KINDS);

        if (kind == PLANT_KILLED || kind == PLANT_SIGNAL || kind == PLANT_SLOW)
            continue;
        ratio = one(seed, &left);
        worst = ratio > worst ? ratio : worst;
        wrong += ratio == 0;
        total += left;
        done++;
    }
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    if (system(command))
        perror(dir);
    snprintf(note, sizeof(note),
             "times the packets of the hand-made minimum, worst of %u planted crashes (MINIMIZE=N plants N); "
             "%.1f packets each, %.0f s each; %u failed",
             n, (double)total / n, (now_s() - start) / n, wrong);
    bench_report(&b, &(struct bench_figure){.id = "minimize",
                                            .ours = wrong ? 99 : worst,
                                            .reference = 1,
                                            .unit = "packets",
                                            .target = 2,
                                            .note = note});
    return bench_finish(&b);
}
