/* SPDX-License-Identifier: MIT */
/* aerogpu doctor: what is wrong, by the checklist's table of symptoms, with the evidence. */
#include "commands.h"
#include "diagnose.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/utf8.h"
#include "report/json_show.h"
#include "dxgkrnl/settings.h"

/* Logs have seconds, report.json has milliseconds. */
static void set_time(json_t *e)
{
    if (!json_object_get(e, "time_ms"))
        json_object_set_new(e, "time_ms", json_real(json_number_value(json_object_get(e, "time")) * 1e3));
}

/* Lines of JSON: events in the shape of report.json. */
static bool read_event_log(const char *path, json_t *events)
{
    FILE *f = fopen(path, "re");
    char line[2048];
    bool any = false;

    while (f && fgets(line, sizeof(line), f)) {
        json_t *e = json_loads(line, 0, NULL);
        if (json_is_object(e) && json_is_integer(json_object_get(e, "id")) && json_object_get(e, "text")) {
            set_time(e);
            json_array_append(events, e);
            any = true;
        }
        json_decref(e);
    }
    if (f)
        fclose(f);
    return any;
}

static bool is_empty_file(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISREG(st.st_mode) && !st.st_size;
}

/* What one command of dbgctl said, in the shape of --status; and the answer as it is. */
static void take_answer(json_t *evidence, json_t *file)
{
    const char *command = json_string_value(json_object_get(file, "command"));
    json_t *status = json_object_get(evidence, "status"), *shaped = NULL;

    json_array_append(json_object_get(evidence, "answers"), file);
    if (json_is_false(json_object_get(file, "ok")) || !command)
        return;
    if (!strcmp(command, "query-perf"))
        shaped = json_pack("{s:O, s:O*}", "perf", file, "last_error", json_object_get(file, "last_error"));
    else if (!strcmp(command, "query-error"))
        shaped = json_pack("{s:O*}", "last_error", json_object_get(file, "error_state"));
    else
        shaped = json_incref(file);
    if (status && ((json_object_get(status, "fences") && json_object_get(shaped, "fences")) ||
                   (json_object_get(status, "vblank") && json_object_get(shaped, "vblank"))))
        json_object_set(evidence, "later", shaped);
    else if (status) /* what it does not have yet */
        json_object_update_missing(status, shaped);
    else
        json_object_set_new(evidence, "status", json_copy(shaped));
    json_decref(shaped);
}

static void take_report(json_t *evidence, json_t *file)
{
    json_t *events = json_object_get(evidence, "events"), *tests = json_object_get(file, "tests"), *t, *e;
    size_t i, k;

    json_object_set(evidence, "tests", tests);
    if (json_array_extend(events, json_object_get(file, "events")) == 0)
        return;
    json_array_foreach(tests, i, t)
        json_array_foreach(json_object_get(t, "events"), k, e) /* the runner's */
        {
            set_time(e);
            json_array_append(events, e);
        }
}

static int take(json_t *evidence, const char *path)
{
    struct stat st;
    json_t *file;
    int r = 0;

    if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
        fprintf(
            stderr,
            "aerogpu doctor: %s: no report, event log or answer of aerogpu_dbgctl: it is no regular file\n",
            path);
        return EXIT_INPUT;
    }
    file = json_load_file(path, 0, NULL);
    if (json_is_array(json_object_get(file, "tests"))) {
        take_report(evidence, file);
    } else if (json_is_string(json_object_get(file, "command"))) {
        take_answer(evidence, file);
    } else if (!is_empty_file(path) && !read_event_log(path, json_object_get(evidence, "events"))) {
        utf8_print(stderr, "aerogpu doctor: %s: %s\n", path,
                   access(path, R_OK) ? strerror(errno) : "no report, event log or answer of aerogpu_dbgctl");
        r = EXIT_INPUT;
    }
    json_decref(file);
    return r;
}

static int take_settings(json_t *evidence, const char *path)
{
    struct settings s = {0};
    struct error e = {0};
    uint32_t level;

    if (!path)
        return 0;
    if (dxgk_settings_read(&s, path, &e)) {
        utf8_print(stderr, "aerogpu doctor: %s\n", e.text);
        return EXIT_INPUT;
    }
    if (dxgk_settings_get(&s, SETTINGS_GRAPHICS_DRIVERS, "TdrLevel", &level))
        json_object_set_new(evidence, "tdr_level", json_integer(level));
    dxgk_settings_finish(&s);
    return 0;
}

static void print_rows(const json_t *rows)
{
    static const char *const keys[] = {"signal", "causes", "first_checks", "evidence"}, *const labels[] = {
                                                                                            "signal",
                                                                                            "likely", "check",
                                                                                            "seen"};
    const json_t *r;
    size_t i;

    json_array_foreach(rows, i, r) {
        printf("%s%s\n", i ? "\n" : "", json_string_value(json_object_get(r, "symptom")));
        for (int k = 0; k < 4; k++)
            utf8_print(stdout, "  %-7s %s\n", labels[k], json_string_value(json_object_get(r, keys[k])));
    }
    if (!json_array_size(rows))
        puts("nothing that the table of symptoms knows");
}

int cmd_doctor(int argc, char **argv)
{
    json_t *evidence, *rows = NULL, *top;
    const char *settings = NULL;
    bool json = false;
    int r = command_line(
        &(struct options){
            .rows =
                (struct options_row[]){
                    OPT_TEXT(
                        "settings", 'S', &settings, "FILE",
                        "the registry's values that the service ran with: TdrLevel 0 explains a freeze that nothing ends"),
                    OPT_FLAG("json", 'j', &json, "the answer as JSON"), OPT_END},
            .operands = "FILE...",
            .min = 1,
            .max = -1,
            .wrong = "name a report, an event log or a status",
            .about =
                "Reads what a run left behind and answers with the rows of the table of common symptoms that apply: symptom, signal, likely causes, what to check first, and what was seen. A row without evidence is not printed.\n\n"
                "FILEs are told apart by what is in them: report.json of `aerogpu validate` or `aerogpu_test_runner`; an event log of `aerogpu serve --event-log` (an empty one is one without events); output of `aerogpu_dbgctl --status --json`, of which a second one, taken some time after the first, shows fences and vblanks that stand still; and output of its other commands with --json: counters, fences, stalls, the cadence of vblanks. One that failed says something too: that the device is removed, or that nothing answered in time.",
            .exits = {"nothing was found", "something was", [EXIT_INPUT] = "a file cannot be read"},
            .examples =
                "aerogpu_dbgctl --status --json=a.json; sleep 1; aerogpu_dbgctl --status --json=b.json\n"
                "aerogpu doctor events.log a.json b.json\n",
            .see = "aerogpu-validate(1), aerogpu_dbgctl(1)"},
        argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    evidence = json_pack("{s:[], s:[]}", "events", "answers");
    r = take_settings(evidence, settings);
    for (int i = optind; !r && i < argc; i++)
        r = take(evidence, argv[i]);
    if (!r) {
        rows = diagnose(evidence);
        if (json) {
            top = json_pack("{s:i, s:O}", "schema_version", 1, "diagnosis", rows);
            json_show(top, stdout, JSON_INDENT(2));
            putchar('\n');
            json_decref(top);
        } else {
            print_rows(rows);
        }
        r = json_array_size(rows) ? EXIT_FAILED : EXIT_OK;
    }
    json_decref(rows);
    json_decref(evidence);
    return r;
}
