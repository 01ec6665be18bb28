/* aerogpu d3d12 trim, minimize, diff: recordings made out of recordings, and compared. */
#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out_file.h"
#include "d3d12.h"
#include "d3d12/edit/diff.h"
#include "d3d12/edit/minimize.h"
#include "d3d12/gen/table.h"
#include "d3d12/edit/trim.h"

int d3d12_cut(const char *from, const char *to, uint32_t first, uint32_t last)
{
    struct trim_result r;
    struct error e = {0};
    struct trc *t;
    int err;

    if (out_file_check(to, &e) || trc_open(&t, from, &e))
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

static const char trim_usage[] =
    "usage: aerogpu d3d12 trim FILE --frames A-B -o OUTPUT\n\n"
    "Writes frames A to B of a recording so that they play on their own. Plays the frames before them, to\n"
    "see what is in the resources.\n";

int d3d12_trim(int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"frames", required_argument, NULL, 'f'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *output = NULL;
    uint32_t first = 0, last = UINT32_MAX;
    int o, bad = 0;

    while (!bad && (o = getopt_long(argc, argv, "o:h", options, NULL)) != -1)
        switch (o) {
        case 'o':
            output = optarg;
            break;
        case 'f':
            bad = option_range_u32("--frames", &first, &last);
            break;
        case 'h':
            fputs(trim_usage, stdout);
            return EXIT_OK;
        default:
            return usage_error(NULL);
        }
    if (bad)
        return bad;
    if (!output || optind + 1 != argc)
        return usage_error("a file, --frames A-B and -o OUTPUT are needed");
    o = d3d12_cut(argv[optind], output, first, last);
    fflush(NULL);
    _exit(o); /* without taking the driver apart under its threads, as after playing */
}

static const char diff_usage[] =
    "usage: aerogpu d3d12 diff [--limit N] FILE FILE\n\n"
    "Prints the calls that only one of the two recordings has (- the first, + the second), and a sum. "
    "Threads,\n"
    "times, hashes of pictures and calls that only ask something do not count. Exit 1 if they differ.\n"
    "  --limit N        print no more than N of them\n";

int d3d12_diff(int argc, char **argv)
{
    static const struct option options[] = {
        {"limit", required_argument, NULL, 'l'}, {"help", no_argument, NULL, 'h'}, {0}};
    struct trc *a = NULL, *b = NULL;
    struct diff_result r;
    struct error e = {0};
    uint64_t limit = 0;
    int o, code, bad = 0;

    while (!bad && (o = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (o) {
        case 'l':
            bad = option_u64("--limit", 1, UINT64_MAX, &limit);
            break;
        case 'h':
            fputs(diff_usage, stdout);
            return EXIT_OK;
        default:
            return usage_error(NULL);
        }
    if (bad)
        return bad;
    if (optind + 2 != argc)
        return usage_error("two files are needed");
    if (trc_open(&a, argv[optind], &e) || trc_open(&b, argv[optind + 1], &e) ||
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

static const char minimize_usage[] =
    "usage: aerogpu d3d12 minimize FILE -o SMALL [--tests N] [--timeout MS]\n\n"
    "Leaves out frames, lists, objects and calls as long as playing still ends in the same way in the same\n"
    "method.\n"
    "  --tests N        play at most N times (2000)\n"
    "  --timeout MS     how long a fence may take (2000)\n";

int d3d12_minimize(int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"tests", required_argument, NULL, 'n'},
                                            {"timeout", required_argument, NULL, 't'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct minimize_params p = {.progress = say_progress};
    const char *output = NULL;
    struct minimize_result r;
    struct error e = {0};
    struct trc *t;
    int o, code, bad = 0;

    while (!bad && (o = getopt_long(argc, argv, "o:h", options, NULL)) != -1)
        switch (o) {
        case 'o':
            output = optarg;
            break;
        case 'n':
            bad = option_u32("--tests", 1, UINT32_MAX, &p.max_tests);
            break;
        case 't':
            bad = option_u32("--timeout", 1, UINT32_MAX, &p.timeout_ms);
            break;
        case 'h':
            fputs(minimize_usage, stdout);
            return EXIT_OK;
        default:
            return usage_error(NULL);
        }
    if (bad)
        return bad;
    if (!output || optind + 1 != argc)
        return usage_error("a file and -o SMALL are needed");
    if (out_file_check(output, &e) || trc_open(&t, argv[optind], &e))
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
