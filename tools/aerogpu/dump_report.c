/* aerogpu report: what a dump says, for people and for programs. */
#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <aerogpu/blackbox.h>

#include "base/out_file.h"

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
    const char *html = NULL, *perfetto = NULL;
    struct bb_error e = {0};
    bool json = false;
    int code = command_line(
        &(struct options){
            .rows =
                (struct options_row[]){
                    OPT_TEXT("html", 0, &html, "FILE",
                             "write the report as one page that needs nothing else"),
                    OPT_TEXT("perfetto", 0, &perfetto, "FILE", "write the time line for ui.perfetto.dev"),
                    OPT_FLAG("json", 0, &json, "print one JSON object, with every table of the dump"),
                    OPT_END},
            .operands = "DUMP",
            .min = 1,
            .max = 1,
            .wrong = "one dump is needed",
            .about =
                "Says what crashed and how that is known: the verdict in one sentence first, then the evidence.",
            .exits = {"all is well",
                      [EXIT_INPUT] = "the dump is bad (what can be read of it is reported all the same)",
                      [EXIT_ENV] = "the report cannot be written"},
            .see = "aerogpu-dump(1), aerogpu-crashes(1), docs/blackbox.md"},
        argc, argv);

    if (code)
        return code < 0 ? EXIT_OK : code;
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
