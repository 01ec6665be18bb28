/* aerogpu lose: does a program survive the loss of its GPU? */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/rng.h"
#include "beside.h"
#include "lose/lose.h"

static const char help[] =
    "usage: aerogpu lose [OPTIONS] -- PROGRAM [ARGUMENT...]\n\n"
    "Runs PROGRAM, takes its Vulkan device away as a driver does after a reset, and watches what it does. "
    "The GPU is not\n"
    "harmed: a Vulkan layer answers VK_ERROR_DEVICE_LOST. PROGRAM may use Vulkan itself, or what is built on "
    "it: Direct3D 12\n"
    "(libvkd3d; also under Wine), DXVK, OpenGL through Zink.\n\n"
    "when\n"
    "  --at-frame N    the Nth frame (vkQueuePresentKHR) of a device is not shown any more; 60\n"
    "  --at-submit N   the Nth submission of a device is not run any more: for programs that show nothing\n"
    "  --seed S        draw N by this seed, from 1 to the N given\n"
    "  --times N       so many losses, each on a device made after the one before; 1\n"
    "how\n"
    "  --hang MS       the device hangs: submissions are taken and never complete, and after MS it is reset "
    "and lost\n"
    "  --refuse MS     for MS after a loss no new device can be made, as while a driver starts again\n"
    "what counts as surviving\n"
    "  --proof N       so many frames (or submissions) on a new device; 30\n"
    "  --patience S    within so many seconds of the loss; 10\n"
    "  --reach S       seconds to come to the loss; 60\n"
    "  --expect WHAT   survive, or end: it may also end by itself, with any code but by no signal; survive\n"
    "  --keep          let the program go on afterwards; else it is ended\n"
    "  --json          print one JSON object on standard output; news go to standard error either way\n"
    "  --help          this text\n\n"
    "Exit code: 0 it survived (or ended, where that is expected), 1 it did not, or never came to the loss, 2 "
    "wrong usage,\n"
    "4 the program cannot be run, or makes no Vulkan device.\n\n"
    "  aerogpu lose -- vkcube\n"
    "  aerogpu lose --at-submit 100 --hang 2000 --json -- ./my-renderer --headless\n"
    "  for s in $(seq 20); do aerogpu lose --seed $s --at-submit 500 -- ./my-renderer || break; done\n";

struct options {
    struct lose_params run;
    bool json, may_end, has_seed;
    uint64_t seed;
};

static volatile int stopped;

static void on_signal(int sig)
{
    stopped = sig;
}

/* 0, or the exit code. */
static int seconds(const char *option, uint64_t *ns)
{
    char *end;
    double s = strtod(optarg, &end);

    if (end == optarg || *end || !isfinite(s) || s <= 0 || s > 86400)
        return usage_error("%s: '%s' is no time in seconds, above 0 and up to 86400", option, optarg);
    *ns = (uint64_t)(s * 1e9);
    return 0;
}

static int milliseconds_option(const char *option, uint64_t *ns)
{
    uint64_t n;
    int r = option_u64(option, 1, 3600000, &n);

    if (!r)
        *ns = n * NSEC_PER_MSEC;
    return r;
}

enum { AT_FRAME = 256, AT_SUBMIT, SEED, TIMES, HANG, REFUSE, PROOF, PATIENCE, REACH, EXPECT, KEEP, JSON };

static const struct option long_options[] = {{"at-frame", required_argument, NULL, AT_FRAME},
                                             {"at-submit", required_argument, NULL, AT_SUBMIT},
                                             {"seed", required_argument, NULL, SEED},
                                             {"times", required_argument, NULL, TIMES},
                                             {"hang", required_argument, NULL, HANG},
                                             {"refuse", required_argument, NULL, REFUSE},
                                             {"proof", required_argument, NULL, PROOF},
                                             {"patience", required_argument, NULL, PATIENCE},
                                             {"reach", required_argument, NULL, REACH},
                                             {"expect", required_argument, NULL, EXPECT},
                                             {"keep", no_argument, NULL, KEEP},
                                             {"json", no_argument, NULL, JSON},
                                             {"help", no_argument, NULL, 'h'},
                                             {0}};

/* 0, or the exit code. */
static int option(struct options *o, int c)
{
    struct lose_params *p = &o->run;

    switch (c) {
    case AT_FRAME:
        p->at_submit = 0;
        return option_u32("--at-frame", 1, UINT32_MAX, &p->at_frame);
    case AT_SUBMIT:
        p->at_frame = 0;
        return option_u32("--at-submit", 1, UINT32_MAX, &p->at_submit);
    case SEED:
        o->has_seed = true;
        return option_u64("--seed", 0, UINT64_MAX, &o->seed);
    case TIMES:
        return option_u32("--times", 1, LOSE_DEVICES - 1, &p->times);
    case HANG:
        p->how = LOSE_HUNG;
        return milliseconds_option("--hang", &p->hang_ns);
    case REFUSE:
        return milliseconds_option("--refuse", &p->refuse_ns);
    case PROOF:
        return option_u32("--proof", 1, UINT32_MAX, &p->proof);
    case PATIENCE:
        return seconds("--patience", &p->patience_ns);
    case REACH:
        return seconds("--reach", &p->reach_ns);
    case EXPECT:
        o->may_end = !strcmp(optarg, "end");
        return o->may_end || !strcmp(optarg, "survive")
                   ? 0
                   : usage_error("--expect: '%s' is neither survive nor end", optarg);
    case KEEP:
        p->keep = true;
        return 0;
    case JSON:
        o->json = true;
        return 0;
    }
    return usage_error(NULL);
}

/* ---- what is printed ---- */

static void news(void *ctx, uint64_t ns, uint64_t since_loss_ns, const char *text)
{
    if (since_loss_ns)
        fprintf(stderr, "  +%8.1f ms  %s\n", (double)since_loss_ns / 1e6, text);
    else
        fprintf(stderr, "%10.3f s   %s\n", (double)ns / 1e9, text);
}

static void explain(const struct options *o, const struct lose_result *r)
{
    const struct lose_loss *l = r->num_losses ? &r->losses[r->num_losses - 1] : NULL;
    const char *what = o->run.at_frame ? "frame" : "submission";

    fprintf(stderr, "%s: ", lose_verdict_name(r->verdict));
    switch (r->verdict) {
    case LOSE_SURVIVED:
        fprintf(stderr, "it works on a new device, %.1f ms after the loss\n", (double)l->work_ns / 1e6);
        break;
    case LOSE_ENDED:
        fprintf(stderr, "it ended with exit code %d%s\n", r->code,
                l->device_ns ? ", with a new device that it did not use for long"
                             : " and made no new device");
        break;
    case LOSE_DIED:
        fprintf(stderr, "signal %d (%s) ended it%s\n", r->code, strsignal(r->code),
                l ? "" : ", before the device was lost");
        break;
    case LOSE_DEAF:
        fprintf(stderr,
                "it goes on with the device that is lost: %" PRIu64 " calls answered VK_ERROR_DEVICE_LOST\n",
                l->told);
        break;
    case LOSE_STUCK:
        fprintf(stderr, "it %s\n",
                l->told ? "was told, and does nothing any more"
                        : "does nothing any more, and has called nothing that could have told it");
        break;
    case LOSE_NOT_REACHED:
        fprintf(stderr, "the device was not lost: the program did not come to %s %u%s%s\n", what,
                o->run.at_frame ? o->run.at_frame : o->run.at_submit, r->exited ? " before it ended" : "",
                o->run.at_frame ? "; one that shows nothing needs --at-submit" : "");
        break;
    default:
        fprintf(stderr, "the program made no Vulkan device%s\n",
                r->exited ? "" : " in time; --reach gives it more");
    }
}

static json_t *milliseconds(uint64_t ns)
{
    return ns ? json_real((double)ns / 1e6) : json_null();
}

static json_t *loss_json(const struct lose_loss *l)
{
    return json_pack("{s:I, s:I, s:o, s:s?, s:I, s:o, s:o, s:o, s:o}", "frames", (json_int_t)l->frames,
                     "submissions", (json_int_t)l->submits, "at_ms", milliseconds(l->at_ns), "told_by",
                     l->call ? lose_call_name(l->call) : NULL, "told", (json_int_t)l->told, "told_ms",
                     milliseconds(l->told_ns), "destroyed_ms", milliseconds(l->destroyed_ns), "new_device_ms",
                     milliseconds(l->device_ns), "work_ms", milliseconds(l->work_ns));
}

static void print_json(const struct options *o, const struct lose_result *r, bool ok)
{
    json_t *losses = json_array(), *j;

    for (uint32_t i = 0; i < r->num_losses; i++)
        json_array_append_new(losses, loss_json(&r->losses[i]));
    j = json_pack("{s:s, s:b, s:s, s:i, s:o?, s:o?, s:i, s:i, s:o}", "verdict", lose_verdict_name(r->verdict),
                  "ok", (int)ok, "at", o->run.at_frame ? "frame" : "submission", "n",
                  (int)(o->run.at_frame ? o->run.at_frame : o->run.at_submit), "exit_code",
                  r->exited ? json_integer(r->code) : json_null(), "signal",
                  r->signalled ? json_integer(r->code) : json_null(), "devices", (int)r->devices, "refused",
                  (int)r->refused, "losses", losses);
    json_dumpf(j, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(j);
}

static int parse(int argc, char **argv, struct options *o)
{
    struct rng rng;
    uint32_t *at;
    int c;

    optind = 1;
    while ((c = getopt_long(argc, argv, "+h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            exit(EXIT_OK);
        }
        c = option(o, c);
        if (c)
            return c;
    }
    if (optind == argc)
        return usage_error("no program is given");
    at = o->run.at_frame ? &o->run.at_frame : &o->run.at_submit;
    if (o->has_seed) {
        rng = (struct rng){o->seed};
        *at = 1 + (uint32_t)rng_below(&rng, *at);
    }
    o->run.argv = argv + optind;
    return EXIT_OK;
}

int cmd_lose(int argc, char **argv)
{
    static struct lose_result result;
    struct options o = {.run = {.at_frame = 60,
                                .times = 1,
                                .proof = 30,
                                .reach_ns = 60 * NSEC_PER_SEC,
                                .patience_ns = 10 * NSEC_PER_SEC,
                                .news = news,
                                .stop = &stopped}};
    struct sigaction sa = {.sa_handler = on_signal};
    struct error e = {0};
    char manifest[PATH_MAX];
    bool ok;
    int r = parse(argc, argv, &o);

    if (r)
        return r;
    if (find_beside(manifest, sizeof(manifest), "lose", "VkLayer_AEROGPU_lose.json", "AEROGPU_LOSE_LAYER")) {
        fprintf(stderr, "aerogpu lose: VkLayer_AEROGPU_lose.json is not beside this program; a build with a "
                        "sanitizer has no "
                        "layer\n");
        return EXIT_ENV;
    }
    o.run.layers = dirname(manifest);
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    r = lose_run(&o.run, &result, &e);
    if (r == -EINTR) {
        fprintf(stderr, "aerogpu lose: interrupted; the program was ended\n");
        return 128 + stopped;
    }
    if (r) {
        fprintf(stderr, "aerogpu lose: %s\n", e.text);
        return EXIT_ENV;
    }
    ok = result.verdict == LOSE_SURVIVED || (o.may_end && result.verdict == LOSE_ENDED);
    explain(&o, &result);
    if (o.json)
        print_json(&o, &result, ok);
    return ok ? EXIT_OK : result.verdict == LOSE_NO_DEVICE ? EXIT_ENV : EXIT_FAILED;
}
