/* aerogpu d3d12 trim, minimize, diff: recordings made out of recordings, and compared. */
#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out_file.h"
#include "d3d12.h"
#include "record/diff.h"
#include "d3d12/edit/minimize.h"
#include "d3d12/gen/table.h"
#include "d3d12/edit/trim.h"

#define TRIM_NEEDS     "a file, --frames A-B and -o OUTPUT are needed"
#define MINIMIZE_NEEDS "a file and -o SMALL are needed"
#define EDIT_EXITS                                                                                           \
    {                                                                                                        \
        "done", "it could not be done", [EXIT_INPUT] = "the recording is bad"                                \
    }

int d3d12_cut(const char *from, const char *to, uint32_t first, uint32_t last)
{
    struct trim_result r;
    struct error e = {0};
    struct trc *t;
    int err;

    if (out_file_check(to, &e) || trc_open(&t, &d12_api, from, &e))
        return d3d12_fail("trim", &e);
    d3d12_guard("trim", t, &r.progress);
    err = trim_run(t, to, first, last, &r, &e);
    if (err)
        err = d3d12_fail("trim", &e);
    else
        fprintf(stderr, "%s: %llu calls, behind %u objects and the content of %u subresources\n", to,
                (unsigned long long)r.calls, r.objects, r.contents);
    fflush(NULL);
    return err;
}

int d3d12_trim(int argc, char **argv)
{
    const char *output = NULL;
    uint32_t first = 0, last = UINT32_MAX;
    int r = command_line(
        &(struct options){
            .rows =
                (struct options_row[]){OPT_TEXT("output", 'o', &output, "FILE", "the recording that is made"),
                                       OPT_RANGE32("frames", 0, &first, &last, "A-B", "what stays"), OPT_END},
            .operands = "FILE --frames A-B -o OUTPUT",
            .min = 1,
            .max = 1,
            .wrong = TRIM_NEEDS,
            .about =
                "Writes frames A to B of a recording so that they play on their own. Plays the frames before them, to see what is in the resources.",
            .exits = EDIT_EXITS,
            .see = "aerogpu-d3d12-minimize(1), docs/d3d12.md"},
        argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    if (!output)
        return usage_error(TRIM_NEEDS);
    r = d3d12_cut(argv[optind], output, first, last);
    fflush(NULL);
    _exit(r); /* without taking the driver apart under its threads, as after playing */
}

int d3d12_diff(int argc, char **argv)
{
    struct trc *a = NULL, *b = NULL;
    struct diff_result r;
    struct error e = {0};
    uint64_t limit = 0;
    int code = command_line(
        &(struct options){
            .rows =
                (struct options_row[]){
                    OPT_U64("limit", 0, &limit, 1, UINT64_MAX, "N", "print no more than N of them"), OPT_END},
            .operands = "FILE FILE",
            .min = 2,
            .max = 2,
            .wrong = "two files are needed",
            .about =
                "Prints the calls that only one of the two recordings has (- the first, + the second), and a sum. Threads, times, hashes of pictures and calls that only ask something do not count.",
            .exits = {"they are alike", "they differ", [EXIT_INPUT] = "a recording is bad"},
            .see = "aerogpu-d3d12-show(1), docs/d3d12.md"},
        argc, argv);

    if (code)
        return code < 0 ? EXIT_OK : code;
    if (trc_open(&a, &d12_api, argv[optind], &e) || trc_open(&b, &d12_api, argv[optind + 1], &e) ||
        diff_run(stdout, a, b, limit, &r, &e)) {
        code = d3d12_fail("diff", &e);
    } else {
        printf("%llu calls alike, %llu only in the first, %llu only in the second\n",
               (unsigned long long)r.same, (unsigned long long)r.only_a, (unsigned long long)r.only_b);
        code = r.only_a || r.only_b ? EXIT_FAILED : EXIT_OK;
    }
    trc_close(a);
    trc_close(b);
    return code;
}

static void say_progress(void *ctx, uint32_t tests, uint64_t calls)
{
    if (isatty(2))
        fprintf(stderr, "\r%llu calls after %u plays ", (unsigned long long)calls, tests);
}

int d3d12_minimize(int argc, char **argv)
{
    struct minimize_params p = {.progress = say_progress};
    const char *output = NULL;
    struct minimize_result r;
    struct error e = {0};
    struct trc *t;
    int code = command_line(
        &(struct options){
            .rows =
                (struct options_row[]){
                    OPT_TEXT("output", 'o', &output, "FILE", "the smallest recording that was found"),
                    OPT_U32("tests", 0, &p.max_tests, 1, UINT32_MAX, "N", "play at most N times; 2000"),
                    OPT_U32("timeout", 0, &p.timeout_ms, 1, UINT32_MAX, "MS",
                            "how long a fence may take; 2000"),
                    OPT_END},
            .operands = "FILE -o SMALL",
            .min = 1,
            .max = 1,
            .wrong = MINIMIZE_NEEDS,
            .about =
                "Leaves out frames, lists, objects and calls of a recording that crashes the player, as long as playing still ends in the same way in the same method.",
            .exits = EDIT_EXITS,
            .see = "aerogpu-d3d12-trim(1), docs/d3d12.md"},
        argc, argv);

    if (code)
        return code < 0 ? EXIT_OK : code;
    if (!output)
        return usage_error(MINIMIZE_NEEDS);
    if (out_file_check(output, &e) || trc_open(&t, &d12_api, argv[optind], &e))
        return d3d12_fail("minimize", &e);
    if (minimize_run(t, output, &p, &r, &e)) {
        code = d3d12_fail("minimize", &e);
    } else {
        printf("%s: %llu of %llu calls still end ", output, (unsigned long long)r.calls,
               (unsigned long long)r.calls_before);
        printf(r.signal ? "by signal %d in %s" : "with failure %d in %s", r.signal,
               d12_methods[r.method].name);
        printf(" (%u plays)\n", r.tests);
        code = EXIT_OK;
    }
    trc_close(t);
    return code;
}
