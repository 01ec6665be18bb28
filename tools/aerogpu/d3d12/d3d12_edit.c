/* SPDX-License-Identifier: MIT */
/* d3d12_edit.c: trim, minimize, diff of Direct3D 12: recordings made out of recordings, and compared. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file/out.h"
#include "base/utf8.h"
#include "d3d12.h"
#include "file_kinds.h"
#include "record/edit/diff.h"
#include "record/edit/trace_minimize.h"
#include "record/edit/trace_trim.h"
#include "d3d12/gen/table.h"
#include "d3d12/play/play.h"

int d3d12_cut(const char *from, const char *to, uint32_t first, uint32_t last)
{
    struct trc_progress progress = {0};
    struct trc_trim_params p = {
        .first = first, .last = last, .contents = play_contents, .progress = &progress};
    struct trc_trim_result r;
    struct error e = {0};
    int code = EXIT_OK;
    struct trc *t;

    if (out_file_check(to, &e))
        return command_error(&e);
    if (!(t = d3d12_open(from, &code)))
        return code;
    d3d12_guard("trim", t, from, &progress);
    if (*trc_cut(t) && !trc_num_blocks(t))
        error_set(&e, -EBADMSG, "no call of it can be read");
    else if (!trc_trim(t, to, &p, &r, &e))
        utf8_print(
            stderr,
            "%s: frames %u to %u%s: %llu calls, behind %u objects and the content of %u subresources\n", to,
            first, r.last, r.last < last ? ", the last one" : "", (unsigned long long)r.calls, r.objects,
            r.contents);
    code = d3d12_end(t, from, code, &e);
    fflush(NULL);
    return code;
}

static const char *trim_output;
static uint32_t trim_first, trim_last = UINT32_MAX;
static struct options_row trim_rows[] = {
    OPT_RANGE32("frames", 0, &trim_first, &trim_last, "A-B", "the frames to keep; A- for all from A on"),
    OPT_TEXT("output", 'o', &trim_output, "OUTPUT", "the recording that has them"), OPT_END};

static int run_trim(enum file_kind kind, char *const *files, int num_files)
{
    if (!trim_output || !options_find(&(struct options){.rows = trim_rows}, "frames")->given)
        return usage_error("--frames A-B and -o OUTPUT are needed");
    /* Without taking the driver apart under its threads, as after playing. */
    _exit(command_end(d3d12_cut(files[0], trim_output, trim_first, trim_last)));
}

const struct file_action d3d12_trim = {"recordings of Direct3D 12 (.d3d12trace):", trim_rows, run_trim};

static uint64_t diff_limit;
static struct options_row diff_rows[] = {
    OPT_U64("limit", 0, &diff_limit, 1, UINT64_MAX, "N", "print no more than N of them"), OPT_END};

static int run_diff(enum file_kind kind, char *const *files, int num_files)
{
    struct diff_result r;
    struct error e = {0};
    int code = EXIT_OK;
    struct trc *a = d3d12_open(files[0], &code), *b = a ? d3d12_open(files[1], &code) : NULL;

    if (a && b && diff_run(stdout, a, b, diff_limit, &r, &e)) {
        code = *trc_cut(a) ? d3d12_end(a, files[0], code, &e) : d3d12_end(b, files[1], code, &e);
    } else if (a && b) {
        printf("%llu calls alike, %llu only in the first, %llu only in the second\n",
               (unsigned long long)r.same, (unsigned long long)r.only_a, (unsigned long long)r.only_b);
        code = d3d12_end(a, files[0], r.only_a || r.only_b ? EXIT_FAILED : EXIT_OK, NULL);
        code = d3d12_end(b, files[1], code, NULL);
    }
    trc_close(a);
    trc_close(b);
    return code;
}

const struct file_action d3d12_diff = {"recordings of Direct3D 12 (.d3d12trace):", diff_rows, run_diff};

static void say_progress(void *ctx, uint32_t tests, uint64_t calls)
{
    if (isatty(2))
        fprintf(stderr, "\r%llu calls after %u plays ", (unsigned long long)calls, tests);
}

static enum trc_outcome play_try(struct trc *t, const struct trc_try *how)
{
    struct play_params p = {.until_call = UINT64_MAX,
                            .until_frame = UINT32_MAX,
                            .stop_before = UINT64_MAX,
                            .draw_first = 1,
                            .timeout_ms = how->timeout_ms,
                            .keep = how->keep,
                            .finish = how->finish,
                            .progress = how->progress};
    struct play_result r;
    struct error e = {0};

    return !play_run(t, &p, &r, &e) ? TRC_PLAYED : r.hung ? TRC_HUNG : r.waits ? TRC_WAITS : TRC_FAILED;
}

static struct trc_minimize_params minimize_params = {.play = play_try, .progress = say_progress};
static const char *minimize_output;
static struct options_row minimize_rows[] = {
    OPT_TEXT("output", 'o', &minimize_output, "SMALL", "the result"),
    OPT_U32("tests", 0, &minimize_params.max_tests, 1, UINT32_MAX, "N", "play at most N times (2000)"),
    OPT_U32("timeout", 0, &minimize_params.timeout_ms, 1, UINT32_MAX, "MS",
            "how long a fence may take (2000)"),
    OPT_END};

static int run_minimize(enum file_kind kind, char *const *files, int num_files)
{
    struct trc_minimize_result r;
    struct error e = {0};
    struct trc *t;
    int code = EXIT_OK;

    if (!minimize_output)
        return usage_error("-o SMALL is needed");
    if (out_file_check(minimize_output, &e))
        return command_error(&e);
    if (!(t = d3d12_open(files[0], &code)))
        return code;
    if (trc_verify(t, &e)) { /* what a damaged recording ends in may be the damage */
        code = d3d12_end(t, files[0], EXIT_INPUT, &e);
        trc_close(t);
        return code;
    }
    if (!trc_minimize(t, minimize_output, &minimize_params, &r, &e)) {
        utf8_print(stdout, "%s: %llu of %llu calls still end ", minimize_output, (unsigned long long)r.calls,
                   (unsigned long long)r.calls_before);
        if (r.signal)
            printf("by signal %d in %s", r.signal, d12_methods[r.method].name);
        else if (r.how == TRC_HUNG)
            printf("in a device that does not get done");
        else if (r.how == TRC_WAITS)
            printf("in %s, which waits for a fence that nobody signals", d12_methods[r.method].name);
        else
            printf("with failure 0 in %s", d12_methods[r.method].name);
        if (*r.place)
            utf8_print(stdout, ", at %s", r.place);
        printf(" (%u plays)\n", r.tests);
    }
    code = d3d12_end(t, files[0], code, &e);
    trc_close(t);
    return code;
}

const struct file_action d3d12_minimize = {
    "recordings of Direct3D 12 (.d3d12trace) that crash the player:", minimize_rows, run_minimize};
