/* SPDX-License-Identifier: MIT */
/* run_tell.c: what `aerogpu run` says of a dump; the library (run.h). */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include <aerogpu/blackbox.h>

#include "base/export.h"
#include "base/file/part.h"
#include "base/utf8.h"
#include "report/json_show.h"
#include "run.h"
#include "vkbox/run/dump.h"
#include "vkbox/run/run.h"

static json_t *dumps; /* told so far, with their reports */

/* NULL: it cannot be read. */
static json_t *report_json(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    json_t *report = NULL;
    bool ok;

    if (!f)
        return NULL;
    ok = !bb_report(path, BB_REPORT_JSON, f, NULL);
    ok &= !fclose(f);
    report = ok ? json_loadb(text, size, 0, NULL) : NULL;
    free(text);
    return report;
}

static void tell(const char *path, bool json)
{
    struct bb_error e = {0};

    dumps = dumps ? dumps : json_array();
    if (json)
        json_array_append_new(dumps, json_pack("{s:s, s:o?}", "path", path, "report", report_json(path)));
    fputs("\n", stderr);
    if (bb_report(path, BB_REPORT_TEXT, stderr, &e))
        utf8_print(stderr, "aerogpu run: %s\n", e.text);
    utf8_print(stderr,
               "\naerogpu run: the dump is %s; `aerogpu report --html crash.html` makes a page of it\n",
               path);
}

static void tell_json(const struct vkbox_run_result *r)
{
    json_t *j;

    dumps = dumps ? dumps : json_array();
    j = json_pack("{s:o?, s:o?, s:i, s:i, s:O}", "exit_code", r->exited ? json_integer(r->code) : json_null(),
                  "signal", r->signalled ? json_integer(r->code) : json_null(), "processes",
                  (int)r->processes, "devices", (int)r->devices, "dumps", dumps);
    json_show(j, stdout, JSON_INDENT(1));
    puts("");
    json_decref(j);
    json_decref(dumps);
    dumps = NULL;
}

EXPORT extern const struct run_library aerogpu_run_library;
const struct run_library aerogpu_run_library = {&vkbox_dumps, tell, tell_json};
PART(AEROGPU_VERSION);
