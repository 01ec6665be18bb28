/* SPDX-License-Identifier: MIT */
/* aerogpu run: the black box for any program on any Vulkan driver. */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/out.h"
#include "base/file/part.h"
#include "base/program.h"
#include "base/utf8.h"
#include "run.h"
#include "vkbox/run/run.h"

#define NOT_GIVEN UINT64_MAX /* a time */

static volatile int stopped;

static void on_signal(int sig)
{
    stopped = sig;
}

struct command_line_run {
    bool json;
    const char *on; /* a device that the program is brought up on; NULL: what there is */
};

static const struct vkbox_dumps *dumps_by(void *ctx, struct error *e)
{
    const struct run_library *library = run_library(e);

    return library ? library->dumps : NULL;
}

static void on_dump(void *ctx, const char *path)
{
    const struct command_line_run *c = ctx;

    run_library(NULL)->tell(path, c->json); /* which made it */
}

static void on_trouble(void *ctx, const char *text)
{
    utf8_print(stderr, "aerogpu run: %s\n", text);
}

static int check_on(const struct command_line_run *c, const struct vkbox_run_params *p, struct error *e)
{
    if (strcmp(c->on, "aerogpu") != 0)
        return error_set(e, -EINVAL, "--on: '%s' is not aerogpu", c->on);
    if (p->exact || p->guard || p->all || c->json || p->timeout_ns != NOT_GIVEN)
        return error_set(
            e, -EINVAL,
            "--exact, --guard, --all, --json and --gpu-timeout are the Vulkan layer's, which --on does without");
    return 0;
}

/* Its manifest, which the loader would take without a word if it were none, and leave out. */
static int find_layer(char manifest[PATH_MAX], struct error *e)
{
    char line[256], library[PATH_MAX + 64];
    bool is_named = false;
    FILE *f;

    if (program_find(&(struct program_params){.what = "the Vulkan layer (of a build without a sanitizer)",
                                              .variable = "AEROGPU_BLACKBOX_LAYER",
                                              .built = "src/vkbox/VkLayer_AEROGPU_blackbox.json",
                                              .installed = "aerogpu/VkLayer_AEROGPU_blackbox.json",
                                              .place = PROGRAM_LIB,
                                              .is_data = true},
                     manifest, PATH_MAX, e))
        return e->code;
    f = fopen(manifest, "re");
    while (f && !is_named && fgets(line, sizeof(line), f))
        is_named = strstr(line, "\"VK_LAYER_AEROGPU_blackbox\"");
    if (f)
        fclose(f);
    if (!is_named)
        return error_set(
            e, -EINVAL,
            "%s is no manifest of VK_LAYER_AEROGPU_blackbox (AEROGPU_BLACKBOX_LAYER names another?)",
            manifest);
    snprintf(library, sizeof(library), "%.*s/libVkLayer_AEROGPU_blackbox.so",
             (int)(strrchr(manifest, '/') ? strrchr(manifest, '/') - manifest : 1),
             strrchr(manifest, '/') ? manifest : ".");
    return part_check(library, AEROGPU_VERSION, e); /* of one that is cut the program would die */
}

int cmd_run(int argc, char **argv)
{
    struct command_line_run c = {0};
    struct vkbox_run_params p = {.timeout_ns = NOT_GIVEN,
                                 .stop = &stopped,
                                 .dumps_by = dumps_by,
                                 .on_dump = on_dump,
                                 .on_trouble = on_trouble,
                                 .ctx = &c};
    struct options_row rows[] = {
        OPT_TIME(
            "gpu-timeout", 0, &p.timeout_ns, NSEC_PER_SEC, 86400, "SECONDS",
            "a device that makes no progress for so long, while the driver was let run, hangs: there is a dump, and the program hears `VK_ERROR_DEVICE_LOST`; 10"),
        OPT_FLAG(
            "exact", 0, &p.exact,
            "mark every command, where marks otherwise stand between groups of them: slower, and the report names one command"),
        OPT_FLAG(
            "guard", 0, &p.guard,
            "put memory that the program allocates between pages that nothing may touch, and let what it freed fault for as long as there is room: on a driver that is a processor, what goes out of bounds or comes too late ends the program at once"),
        OPT_TEXT(
            "on", 0, &c.on, "DEVICE",
            "`aerogpu`: on a service of its own, which ends with the program; Windows programs, under Wine, draw with its Direct3D 9 to 11 (docs/windows-programs.md). What the service's black box says of a crash is printed. With `--output` only: the other options are the Vulkan layer's"),
        OPT_FLAG(
            "all", 0, &p.all,
            "when the program has ended, watch what it started and left (daemons, launchers that do not wait) until the last of it has; without, only what has used Vulkan by then"),
        OPT_TEXT("output", 'o', &p.dumps, "DIR", "where dumps go; the current folder"),
        OPT_FLAG(
            "json", 0, &c.json,
            "at the end one JSON object on standard output, with all that the dumps hold; what happens goes to standard error either way"),
        OPT_END};
    struct options line = {
        .rows = rows,
        .operands = "-- PROGRAM [ARGUMENT...]",
        .min = 1,
        .max = -1,
        .wrong = "no program is given",
        .stops = true,
        .about =
            "Runs a program with a Vulkan layer that keeps what it does: command buffers, submissions, objects with their names, shaders. The device marks how far it came. When the device is lost or hangs, when a shader's access to memory ends the process, or when something else does, a dump says which command it was, with which shaders and resources, and the report is printed. The program may use Vulkan itself, or anything that is built on it: Direct3D 12 with vkd3d, DXVK, OpenGL with Zink, WebGPU, compute libraries; and any driver.\n\n"
            "The program's exit code is passed on; a signal that ended it is 128 and its number.",
        .exits = {"the program's own",
                  [EXIT_ENV] = "the program cannot be run, or the layer is missing; or the program's own"},
        .examples = "aerogpu run -- vkcube\n"
                    "aerogpu run --gpu-timeout 2 -- wine game.exe\n"
                    "aerogpu run --on aerogpu -- wine program.exe\n"
                    "aerogpu run --exact -- ./my-renderer --headless\n"
                    "aerogpu run --exact --guard -- ./compute\n",
        .see = "aerogpu-report(1), aerogpu-crashes(1), aerogpu-lose(1)"};
    struct sigaction sa = {.sa_handler = on_signal};
    struct vkbox_run_result result;
    struct error e = {0};
    char manifest[PATH_MAX];
    int r = command_line(&line, argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    if (c.on && check_on(&c, &p, &e))
        return command_fail(EXIT_USAGE, &e);
    if (c.on)
        return run_on(p.dumps, argv + optind, &e) ? command_fail(EXIT_ENV, &e) : EXIT_OK;
    if (find_layer(manifest, &e))
        return command_fail(EXIT_ENV, &e);
    if (c.json && !run_library(&e))
        return command_fail(EXIT_ENV, &e);
    if (p.dumps && out_file_folder(p.dumps, &e))
        return command_fail(EXIT_ENV, &e);
    if (p.timeout_ns == NOT_GIVEN)
        p.timeout_ns = 10 * NSEC_PER_SEC;
    p.layers = dirname(manifest);
    p.argv = argv + optind;
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
    sigaction(SIGQUIT, &sa, NULL);
    r = vkbox_run(&p, &result, &e);
    if (!r && c.json)
        run_library(NULL)->tell_json(&result);
    if (r)
        return command_fail(EXIT_ENV, &e);
    return result.signalled ? 128 + result.code : result.code;
}
