/* aerogpu report: what a dump says, for people and for programs. */
#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <aerogpu/blackbox.h>

#include "base/out_file.h"

static const char help[] =
    "usage: aerogpu report [OPTIONS] DUMP\n\n"
    "Says what crashed and how that is known: the verdict in one sentence first, then the evidence.\n\n"
    "  --html FILE      write the report as one page that needs nothing else\n"
    "  --perfetto FILE  write the time line for ui.perfetto.dev\n"
    "  --json           print one JSON object, with every table of the dump\n"
    "  --help           this text\n\n"
    "Exit codes: 0 all is well, 2 wrong usage, 3 the dump is bad (what can be read of it is reported all the "
    "same), 4 the\n"
    "report cannot be written.\n";

static int to_file(const char *dump, enum bb_report_format format, const char *path, struct bb_error *e)
{
    struct error out = {0};
    FILE *f = out_file_open(path, &out);
    int r = 0;

    /* A dump that can be read in part makes a page all the same: the page says what is missing. */
    if (f) {
        r = bb_report(dump, format, f, e);
        out_file_close(f, path, 0, &out);
    }
    if (!out.code)
        return r ? EXIT_INPUT : EXIT_OK;
    *e = (struct bb_error){0}; /* one clear error: the page could not be written */
    fprintf(stderr, "aerogpu report: %s\n", out.text);
    return EXIT_ENV;
}

int cmd_report(int argc, char **argv)
{
    static const struct option options[] = {{"html", required_argument, NULL, 'H'},
                                            {"perfetto", required_argument, NULL, 'p'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *html = NULL, *perfetto = NULL;
    struct bb_error e = {0};
    int c, json = 0, code = EXIT_OK;

    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (c) {
        case 'H':
            html = optarg;
            break;
        case 'p':
            perfetto = optarg;
            break;
        case 'j':
            json = 1;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_OK;
        default:
            return usage_error(NULL);
        }
    if (argc - optind != 1)
        return usage_error("one dump is needed");
    if (html)
        code = to_file(argv[optind], BB_REPORT_HTML, html, &e);
    if (perfetto && !code)
        code = to_file(argv[optind], BB_REPORT_PERFETTO, perfetto, &e);
    if ((json || (!html && !perfetto)) &&
        bb_report(argv[optind], json ? BB_REPORT_JSON : BB_REPORT_TEXT, stdout, e.code ? NULL : &e))
        code = ferror(stdout) ? EXIT_ENV : EXIT_INPUT;
    if (e.code && code != EXIT_ENV)
        fprintf(stderr, "aerogpu report: %s\n", e.text);
    return code;
}
