/* SPDX-License-Identifier: MIT */
/* d3d12_play.c: makes the calls of a recording again. */
#include "commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/out.h"
#include "base/utf8.h"
#include "d3d12.h"
#include "d3d12/gen/table.h"
#include "file_kinds.h"
#include "d3d12/play/play.h"

static int report(const struct play_result *r, bool validate, bool cut)
{
    printf("%llu calls, %u frames in %.3f s", (unsigned long long)r->calls, r->frames, r->seconds);
    if (r->frames && r->seconds > 0)
        printf(" (%.0f a second)", r->frames / r->seconds);
    printf("\n");
    if (r->gpu_ms > 0)
        printf("%.3f ms on the GPU\n", r->gpu_ms);
    if (r->draws_refused)
        printf("draws left out, since the Vulkan driver makes no pipeline for them: %llu\n",
               (unsigned long long)r->draws_refused);
    if (!validate)
        return EXIT_OK;
    printf("frames: %u as recorded, %u different; read back: %u as recorded, %u different", r->frames_same,
           r->frames_different, r->reads_same, r->reads_different);
    if (r->written_same || r->written_different)
        printf("; written by queues: %u as recorded, %u different", r->written_same, r->written_different);
    printf("\n");
    if (r->frames_different)
        printf("the first different frame is %u\n", r->first_different);
    if (r->reads_of_times)
        printf("%u reads of timestamps are not compared\n", r->reads_of_times);
    if (r->reads_different)
        printf("the first different read is call %llu\n", (unsigned long long)r->first_read_call);
    if (r->written_different)
        printf("the first that is different is at call %llu\n", (unsigned long long)r->first_written_call);
    if (!r->frames_same && !r->frames_different && !r->reads_same && !r->reads_different &&
        !r->written_same && !r->written_different) {
        if (!cut)
            printf("nothing was compared: the %s no hashes\n",
                   r->stopped ? "part that was played has" : "recording has");
        return EXIT_FAILED;
    }
    return r->frames_different || r->reads_different || r->written_different ? EXIT_FAILED : EXIT_OK;
}

static struct play_params params = {.until_call = UINT64_MAX,
                                    .until_frame = UINT32_MAX,
                                    .png_last = UINT32_MAX,
                                    .stop_before = UINT64_MAX,
                                    .draw_first = 1};
static struct d3d12_on on;
static bool loop;
static uint32_t times = 1;

/* "N[:SUB]=FILE" */
static int parse_dump(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    struct play_params *p = ctx;
    const char *path = d3d12_parse_number(value, '=', &p->dump_resource), *sub;

    p->dump_sub = 0;
    if (!path && (sub = d3d12_parse_number(value, ':', &p->dump_resource)))
        path = d3d12_parse_number(sub, '=', &p->dump_sub);
    p->dump_path = path;
    return !path || !*path ? error_set(e, -EINVAL, "--dump-resource needs N[:SUB]=FILE, not '%s'", value) : 0;
}

static struct options_row rows[] = {
    OPT_FLAG(
        "validate", 0, &params.validate,
        "compare every frame and every memory read back with the recording; exit code 1 if one differs, or there is nothing to compare"),
    OPT_CHOICE("on", 0, &on.where, "vkd3d|wine",
               "the Direct3D 12 that plays: this machine's libvkd3d, or Wine's, which needs a display"),
    OPT_TEXT("d3d12", 0, &on.library, "FILE",
             "a library that plays instead: an ELF library, or a DLL, which Wine loads"),
    OPT_U64("until-call", 0, &params.until_call, 0, UINT64_MAX, "N", "stop after call N"),
    OPT_U32("until-frame", 0, &params.until_frame, 0, UINT32_MAX, "N", "stop after frame N"),
    OPT_U64("stop-before", 0, &params.stop_before, 0, UINT64_MAX, "N",
            "from call N on draw, copy and clear nothing; stop after that frame"),
    OPT_TEXT("png", 0, &params.png_dir, "DIR", "write the frames' pictures"),
    OPT_RANGE32("frames", 0, &params.png_first, &params.png_last, "A-B", "with --png: those of a range"),
    OPT_RANGE(
        "draws", 0, &params.draw_first, &params.draw_last, "A-B",
        "with --png or --hashes: also the picture after each draw among calls A to B; with --gpu-time how long each takes"),
    OPT_CALL("pixel", 0, d3d12_parse_pixel, &params, "X,Y",
             "which draws and clears change this pixel of the first render target, and what to"),
    OPT_FLAG(
        "hashes", 0, &params.hashes,
        "print a hash of each frame, of memory read back, after each draw of --draws, and of what resources hold at the end"),
    OPT_CALL("dump-resource", 0, parse_dump, &params, "N[:SUB]=FILE",
             "what resource N holds at the end: bytes, or a picture if FILE ends in .png"),
    OPT_FLAG("gpu-time", 0, &params.gpu_time, "how long each frame's lists take on the GPU"),
    OPT_FLAG(
        "step", 0, &params.step,
        "wait for each submission: the one that does not get done is named, with its lists and pipelines"),
    OPT_FLAG("window", 0, &params.window,
             "show each presented frame in a window of the X server; who closes it ends playing"),
    OPT_FLAG("paced", 0, &params.paced,
             "frames no earlier than they were recorded (else as fast as the device allows)"),
    OPT_U32("loop-frame", 0, &params.loop_frame, 0, UINT32_MAX - 1, "N",
            "play up to frame N, and that one again and again until Ctrl-C, or as often as --times says"),
    OPT_FLAG("loop", 0, &loop, "play again and again until Ctrl-C"),
    OPT_U32("times", 0, &times, 1, UINT32_MAX, "N", "play N times"),
    OPT_U32("timeout", 0, &params.timeout_ms, 1, UINT32_MAX, "MS", "how long a fence may take (10000)"),
    OPT_END};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    interrupted = 1;
}

/* What was asked for, and is not there; an end that the recording does not reach is its own. */
static void check_asked(const struct trc *t, const struct play_params *p, const struct play_result *r,
                        const char *path, struct error *e)
{
    const bool whole = !*trc_cut(t) && !r->stopped && !p->loop && p->stop_before == UINT64_MAX;
    const bool draws = options_find(&(struct options){.rows = rows}, "draws")->given;
    const uint64_t left_out = p->stop_before != UINT64_MAX ? p->stop_before : 0;
    const uint64_t first = draws && p->draw_first > left_out ? p->draw_first : left_out;

    if (p->png_dir && p->png_first && p->png_first >= r->frames)
        error_set(e, -ENOENT, "there is no frame %u: %u were played", p->png_first, r->frames);
    else if (first && first >= r->end)
        error_set(e, -ENOENT, "there is no call %llu: what was played ends before call %llu",
                  (unsigned long long)first, (unsigned long long)r->end);
    else if (whole && p->until_call != UINT64_MAX && p->until_call >= r->end)
        utf8_print(stderr, "aerogpu play: %s has no call %llu: it was played to its end\n", path,
                   (unsigned long long)p->until_call);
    else if (whole && p->until_frame != UINT32_MAX && p->until_frame > r->end_frame)
        utf8_print(stderr, "aerogpu play: %s has no frame %u: it was played to its end\n", path,
                   p->until_frame);
}

static int play_file(const char *path, struct play_params *p)
{
    struct trc_progress *progress = &d3d12_told()->progress;
    struct play_result r = {0};
    struct error e = {0};
    struct trc *t;
    int code = EXIT_OK;

    if (!(t = d3d12_open(path, &code)))
        return code;
    p->progress = progress;
    *progress = (struct trc_progress){0};
    p->finish = true;
    d3d12_guard("play", t, path, progress);
    for (uint32_t i = 0; (loop || i < times) && !interrupted && code == EXIT_OK && !e.code; i++) {
        trc_rewind(t);
        play_run(t, p, &r, &e);
        code = report(&r, p->validate && !e.code, *trc_cut(t));
    }
    if (!e.code)
        check_asked(t, p, &r, path, &e);
    if (!e.code && p->validate && *trc_cut(t))
        printf("the recording is cut: what is missing was not compared\n");
    code = d3d12_end(t, path, code, &e);
    trc_close(t);
    return code;
}

static int run(enum file_kind kind, char *const *files, int num_files)
{
    struct sigaction on_int = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    const struct options table = {.rows = rows};
    struct play_params p = params;
    struct error e = {0};
    int code = EXIT_OK;

    p.loop = options_find(&table, "loop-frame")->given;
    if (p.loop) {
        p.until_frame = p.loop_frame;
        p.loop_times = options_find(&table, "times")->given ? times : UINT64_MAX;
        times = 1;
    }
    if (loop && options_find(&table, "times")->given)
        return usage_error("--loop plays until Ctrl-C, and --times says how often: only one can be");
    if (options_find(&table, "on")->given && on.where == D3D12_ON_VKD3D && on.library)
        return usage_error(
            "--on vkd3d is this machine's libvkd3d, and --d3d12 names another: only one can be");
    if (options_find(&table, "frames")->given && !p.png_dir)
        return usage_error("--frames goes with --png");
    if (options_find(&table, "draws")->given && !p.png_dir && !p.hashes && !p.gpu_time && !p.pixel)
        return usage_error("--draws goes with --png, --hashes, --gpu-time or --pixel");
    if (p.stop_before != UINT64_MAX && p.validate)
        return usage_error("what is left out with --stop-before cannot be compared with --validate");
    if ((p.png_dir && out_file_folder(p.png_dir, &e)) || (p.dump_path && out_file_check(p.dump_path, &e)))
        return command_error(&e);
    if (d3d12_on_open(&on, &p.on, &e))
        return command_error(&e);
    if (loop || p.loop) {
        p.stop = &interrupted;
        sigaction(SIGINT, &on_int, NULL);
    }
    for (int i = 0; i < num_files; i++) {
        int one = play_file(files[i], &p);
        code = one > code ? one : code;
    }
    /* What the recorded program never released is still alive, and so are the driver's threads that work on it: end
     * without taking the driver apart under them. */
    fflush(stderr);
    code = command_end(code);
    d3d12_told()->end = 1 + code;
    _exit(code);
}

const struct file_action d3d12_play = {
    "recordings of Direct3D 12 (.d3d12trace), on this machine's Direct3D 12 device:", rows, run};
