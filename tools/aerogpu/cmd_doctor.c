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
#include "dxgkrnl/settings.h"

static const char help[] =
    "usage: aerogpu doctor [OPTIONS] FILE...\n\n"
    "Reads what a run left behind and answers with the symptoms that apply, their likely causes, what to "
    "check first, and\n"
    "the evidence. FILEs are told apart by what is in them: report.json of `aerogpu validate` or "
    "aerogpu_test_runner, an event\n"
    "log of `aerogpu serve --event-log`, output of `aerogpu_dbgctl COMMAND --json`: --status and other "
    "commands, "
    "failed ones\n"
    "too (two of --status, taken some time apart, show what stands still).\n\n"
    "  -S, --settings FILE  the registry's values that the service ran with\n"
    "  -j, --json           the answer as JSON\n"
    "  -h, --help           this text\n\n"
    "Exit code: 0 nothing was found, 1 something was, 2 wrong usage, 3 a file cannot be read.\n";

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
    json_t *file = json_load_file(path, 0, NULL);
    int r = 0;

    if (json_is_array(json_object_get(file, "tests"))) {
        take_report(evidence, file);
    } else if (json_is_string(json_object_get(file, "command"))) {
        take_answer(evidence, file);
    } else if (!is_empty_file(path) && !read_event_log(path, json_object_get(evidence, "events"))) {
        fprintf(stderr, "aerogpu doctor: %s: %s\n", path,
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

    if (settings_read(&s, path, &e)) {
        fprintf(stderr, "aerogpu doctor: %s: %s\n", path, e.text);
        return EXIT_INPUT;
    }
    if (settings_get(&s, SETTINGS_GRAPHICS_DRIVERS, "TdrLevel", &level))
        json_object_set_new(evidence, "tdr_level", json_integer(level));
    settings_finish(&s);
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
            printf("  %-7s %s\n", labels[k], json_string_value(json_object_get(r, keys[k])));
    }
    if (!json_array_size(rows))
        puts("nothing that the table of symptoms knows");
}

int cmd_doctor(int argc, char **argv)
{
    static const struct option options[] = {{"settings", required_argument, NULL, 'S'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    json_t *evidence = json_pack("{s:[], s:[]}", "events", "answers"), *rows = NULL, *top;
    bool json = false;
    int c, r = 0;

    while (!r && (c = getopt_long(argc, argv, "S:jh", options, NULL)) != -1) {
        if (c == 'S') {
            r = take_settings(evidence, optarg);
        } else if (c == 'j') {
            json = true;
        } else if (c == 'h') {
            fputs(help, stdout);
            json_decref(evidence);
            return EXIT_OK;
        } else {
            r = usage_error(NULL);
        }
    }
    if (!r && optind == argc)
        r = usage_error("name a report, an event log or a status");
    for (int i = optind; !r && i < argc; i++)
        r = take(evidence, argv[i]);
    if (!r) {
        rows = diagnose(evidence);
        if (json) {
            top = json_pack("{s:i, s:O}", "schema_version", 1, "diagnosis", rows);
            json_dumpf(top, stdout, JSON_INDENT(2));
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
