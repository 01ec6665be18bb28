/* SPDX-License-Identifier: MIT */
/* dump_report.c: what a crash dump says, for people and for programs. */
#include "commands.h"
#include "file_kinds.h"

#include <stdio.h>

#include <aerogpu/blackbox.h>

#include "base/file/out.h"
#include "base/utf8.h"

static int to_file(const char *dump, enum bb_report_format format, const char *path, struct bb_error *e)
{
    struct error out = {0};
    FILE *f = out_file_whole(path, &out);
    int r = 0;

    /* A dump that can be read in part makes a page all the same: the page says what is missing. */
    if (f) {
        r = bb_report(dump, format, f, e);
        out_file_close(f, path, 0, &out);
    }
    if (!out.code)
        return r ? EXIT_INPUT : EXIT_OK;
    *e = (struct bb_error){0}; /* one clear error: the page could not be written */
    return command_error(&out);
}

static const char *html, *perfetto;
static bool json;
static struct options_row rows[] = {
    OPT_TEXT("html", 0, &html, "PAGE", "write the report as one page that needs no other file"),
    OPT_TEXT("perfetto", 0, &perfetto, "OUT", "write time lines for the Perfetto or Chrome trace viewer"),
    OPT_FLAG("json", 0, &json,
             "print as JSON; of a dump every table, of processors with times in nanoseconds"),
    OPT_END};

static int run(enum file_kind kind, char *const *files, int num_files)
{
    struct bb_error e = {0};
    int code = EXIT_OK;

    if (html)
        code = to_file(files[0], BB_REPORT_HTML, html, &e);
    if (perfetto && !code)
        code = to_file(files[0], BB_REPORT_PERFETTO, perfetto, &e);
    if ((json || (!html && !perfetto)) &&
        bb_report(files[0], json ? BB_REPORT_JSON : BB_REPORT_TEXT, stdout, e.code ? NULL : &e))
        code = ferror(stdout) ? EXIT_ENV : EXIT_INPUT;
    if (e.code && code != EXIT_ENV && code != EXIT_USAGE)
        utf8_print(stderr, "aerogpu report: %s\n", e.text);
    return code;
}

const struct file_action dump_report = {"crash dumps (.aerogpudump):", rows, run};
