/* aerogpu sim: lives of the whole stack in virtual time, one for each seed, with faults, until a promise breaks. */
#include "commands.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/log.h"
#include "sim/explore.h"

static const char help[] =
    "usage: aerogpu sim [OPTIONS]\n\n"
    "Runs the stack in virtual time, with clients and faults drawn from a seed, and checks all along what "
    "may never\n"
    "happen. The executor is a model of its timing: nothing is drawn. A seed that fails, fails again.\n\n"
    "  --seeds N    so many seeds, from --seed on; default 100\n"
    "  --seed S     the first; alone: this one, with its events and what it did\n"
    "  --clients N  1 to 64; default: from the seed\n"
    "  --length S   seconds of virtual time; default: from the seed\n"
    "  --calm       no faults\n"
    "  --json       lines of JSON\n"
    "  --help       this text\n\n"
    "Exit code: 0, or 1 when a promise broke; the first seed that did is printed with the command that "
    "repeats it.\n";

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

struct options {
    struct explore_params life;
    uint64_t seeds;
    bool one, json;
};

enum { MAX_SEEDS = 1000000000, MAX_CLIENTS = 64, MAX_LENGTH_S = 1000000 };

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 'n'},   {"seed", required_argument, NULL, 's'},
        {"clients", required_argument, NULL, 'c'}, {"length", required_argument, NULL, 'l'},
        {"calm", no_argument, NULL, 'q'},          {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {0}};
    uint64_t n = 0;
    int c, bad = 0;

    while (!bad && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'n':
            bad = option_u64("--seeds", 1, MAX_SEEDS, &o->seeds);
            break;
        case 's':
            bad = option_u64("--seed", 0, UINT64_MAX, &o->life.seed);
            o->one = true;
            break;
        case 'c':
            bad = option_u32("--clients", 1, MAX_CLIENTS, &o->life.clients);
            break;
        case 'l':
            bad = option_u64("--length", 1, MAX_LENGTH_S, &n);
            o->life.length_ns = n * NSEC_PER_SEC;
            break;
        case 'q':
            o->life.calm = true;
            break;
        case 'j':
            o->json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return -1;
        default:
            return usage_error(NULL);
        }
    }
    if (!bad && optind < argc)
        return usage_error("it takes no '%s'", argv[optind]);
    return bad;
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
        json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
}

static void again(const struct options *o, const struct explore_result *r)
{
    printf("seed %" PRIu64 ": %s\n", o->life.seed, r->broken);
    printf("again: aerogpu sim --seed %" PRIu64, o->life.seed);
    if (o->life.clients)
        printf(" --clients %u", o->life.clients);
    if (o->life.length_ns)
        printf(" --length %" PRIu64, o->life.length_ns / NSEC_PER_SEC);
    puts(o->life.calm ? " --calm" : "");
}

int cmd_sim(int argc, char **argv)
{
    struct options o = {.seeds = 0};
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
    if (!getenv("AEROGPU_LOG"))
        log_set_level(LOG_ERROR);
    signal(SIGSEGV, crashed);
    signal(SIGABRT, crashed);
    clock_init_live(&clock);
    start = clock_now(&clock);
    for (; n < o.seeds; n++, o.life.seed++) {
        snprintf(crash_text, sizeof(crash_text),
                 "aerogpu sim: crashed; again: aerogpu sim --seed %" PRIu64 "\n", o.life.seed);
        bad = explore(&o.life, &r);
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
