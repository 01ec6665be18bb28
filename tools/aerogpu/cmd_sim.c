/* SPDX-License-Identifier: MIT */
/* aerogpu sim: lives of the whole stack in virtual time, one for each seed, with faults, until a promise breaks. */
#include "commands.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/log.h"
#include "report/json_show.h"
#include "sim/explore.h"

/* Written before each life, because a signal handler may not format. */
static char crash_text[96];

/* A crash names its seed too. */
static void crashed(int sig)
{
    if (write(2, crash_text, strlen(crash_text)) < 0)
        _exit(2);
    signal(sig, SIG_DFL);
    raise(sig);
}

struct sim {
    struct explore_params life;
    uint64_t seeds;
    bool one, json;
};

enum { MAX_SEEDS = 1000000000, MAX_CLIENTS = 64, MAX_LENGTH_S = 1000000 };

static int parse(int argc, char **argv, struct sim *o)
{
    struct options_row rows[] = {
        OPT_U64("seeds", 0, &o->seeds, 1, MAX_SEEDS, "N",
                "so many seeds, from --seed on, one life each; 100 if neither is given"),
        OPT_U64("seed", 0, &o->life.seed, 0, UINT64_MAX, "S",
                "the first seed; alone: this one, with its events and what it did"),
        OPT_U32("clients", 0, &o->life.clients, 1, MAX_CLIENTS, "N",
                "so many clients, 1 to 64; else a few, drawn from the seed"),
        OPT_TIME("length", 0, &o->life.length_ns, NSEC_PER_SEC, MAX_LENGTH_S, "SECONDS",
                 "virtual time of a life; else drawn from the seed"),
        OPT_FLAG("calm", 0, &o->life.calm, "no faults"),
        OPT_FLAG("json", 0, &o->json, "a line of JSON for each seed"),
        OPT_END};
    struct options line = {
        .rows = rows,
        .about =
            "For each seed the whole stack lives a few seconds of virtual time: device, miniport, dxgkrnl and clients. What goes wrong is drawn from the seed: submissions that hang, an executor that dies or answers late, doorbells and interrupts that are lost, doubled or delayed, vblanks that are late, missing or in bursts, a fence page that is not written, a call into the miniport that blocks, a reset that fails, clients that are killed while they wait or call nonsense. All along it is checked that what may never happen does not: docs/dxgkrnl.md has the list.\n\n"
            "The executor here is a model of its timing, and nothing is drawn. A seed that fails, fails again.",
        .exits = {"every promise held",
                  "one broke: the first seed for which it did is printed, with the command that repeats it"},
        .examples = "aerogpu sim --seeds 1000\naerogpu sim --seed 4711\n",
        .see = "aerogpu-validate(1), docs/dxgkrnl.md"};
    int r;

    options_once(rows);
    r = command_line(&line, argc, argv);

    o->one = options_find(&line, "seed")->given;
    return r;
}

static void print_json(const struct explore_params *p, const struct explore_result *r)
{
    json_t *line =
        json_pack("{s:I, s:b, s:s, s:f, s:I, s:I, s:I, s:I, s:I, s:b}", "seed", (json_int_t)p->seed, "ok",
                  !r->broken[0], "broken", r->broken, "virtual_s", (double)r->virtual_ns / 1e9, "renders",
                  (json_int_t)r->renders, "presents", (json_int_t)r->presents, "removed",
                  (json_int_t)r->removed, "recoveries", (json_int_t)r->recoveries, "injected",
                  (json_int_t)r->injected, "adapter_failed", r->failed);

    if (line)
        json_show(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
}

/* One line, the last: a life that breaks a promise may have said thousands before it. */
static void again(const struct sim *o, const struct explore_result *r)
{
    fflush(stderr);
    printf("broken: seed %" PRIu64 ": %s; again: aerogpu sim --seed %" PRIu64, o->life.seed, r->broken,
           o->life.seed);
    if (o->life.clients)
        printf(" --clients %u", o->life.clients);
    if (o->life.length_ns)
        printf(" --length %.9g", (double)o->life.length_ns / NSEC_PER_SEC);
    puts(o->life.calm ? " --calm" : "");
}

int cmd_sim(int argc, char **argv)
{
    struct sim o = {.seeds = 0};
    struct explore_result r, sum = {0};
    struct clock clock;
    uint64_t start, failed = 0, n = 0;
    double wall;
    int bad = parse(argc, argv, &o);

    if (bad)
        return bad < 0 ? EXIT_OK : bad;
    if (!o.seeds)
        o.seeds = o.one ? 1 : 100;
    else
        o.one = false;
    o.life.verbose = o.one && !o.json;
    if (!getenv("AEROGPU_LOG")) /* what is said of faults that are meant is for who looks at one life */
        log_set_level(o.life.verbose ? LOG_ERROR : LOG_NONE);
    signal(SIGSEGV, crashed);
    signal(SIGABRT, crashed);
    clock_init_live(&clock);
    start = clock_now(&clock);
    for (; n < o.seeds; n++, o.life.seed++) {
        snprintf(crash_text, sizeof(crash_text),
                 "broken: seed %" PRIu64 " crashed; again: aerogpu sim --seed %" PRIu64 "\n", o.life.seed,
                 o.life.seed);
        bad = sim_explore(&o.life, &r);
        if (o.json)
            print_json(&o.life, &r);
        sum.virtual_ns += r.virtual_ns;
        sum.renders += r.renders;
        sum.presents += r.presents;
        sum.removed += r.removed;
        sum.recoveries += r.recoveries;
        sum.injected += r.injected;
        failed += r.failed;
        if (!bad)
            continue;
        if (!o.json)
            again(&o, &r);
        return EXIT_FAILED;
    }
    wall = (double)(clock_now(&clock) - start) / 1e9;
    if (!o.json)
        printf("%" PRIu64
               " seeds: every promise held for %.0f s of virtual time (%.0f times real time): %" PRIu64
               " renders, %" PRIu64 " flips, %" PRIu64 " recoveries, %" PRIu64 " devices removed, %" PRIu64
               " faults injected, %" PRIu64 " adapters made to fail\n",
               n, (double)sum.virtual_ns / 1e9, (double)sum.virtual_ns / 1e9 / wall, sum.renders,
               sum.presents, sum.recoveries, sum.removed, sum.injected, failed);
    return EXIT_OK;
}
