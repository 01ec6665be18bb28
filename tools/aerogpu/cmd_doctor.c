/* aerogpu doctor: what is wrong, by the checklist's table of symptoms, with the evidence. */
#include "commands.h"
#include "diagnose.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dxgkrnl/settings.h"

static const char help[] =
    "usage: aerogpu doctor [OPTIONS] [FILE...]\n\n"
    "Reads what a run left behind and answers with the symptoms that apply, their likely causes, what to "
    "check first, and\n"
    "the evidence. FILEs are told apart by what is in them: report.json of `aerogpu validate`, an event log "
    "of\n"
    "`aerogpu serve --event-log`, output of `aerogpu_dbgctl --status --json` (two of them, taken some time "
    "apart, show\n"
    "what stands still).\n\n"
    "  -S, --settings FILE  the registry's values that the service ran with\n"
    "  -j, --json           the answer as JSON\n"
    "  -h, --help           this text\n\n"
    "Exit code: 0 nothing was found, 1 something was, 2 wrong usage, 3 a file cannot be read.\n";

/* Lines of JSON: events in the shape of report.json. */
static bool read_event_log(const char *path, json_t *events)
{
    FILE *f = fopen(path, "re");
    char line[2048];
    bool any = false;

    while (f && fgets(line, sizeof(line), f)) {
        json_t *e = json_loads(line, 0, NULL);
        if (json_is_object(e) && json_is_integer(json_object_get(e, "id")) && json_object_get(e, "text")) {
            if (!json_object_get(e, "time_ms"))
                json_object_set_new(e, "time_ms",
                                    json_real(json_number_value(json_object_get(e, "time")) * 1e3));
            json_array_append(events, e);
            any = true;
        }
        json_decref(e);
    }
    if (f)
        fclose(f);
    return any;
}

static int take(json_t *evidence, const char *path)
{
    json_t *file = json_load_file(path, 0, NULL), *status;

    if (!json_is_object(file) || (!json_object_get(file, "tests") && !json_object_get(file, "command"))) {
        bool ok = read_event_log(path, json_object_get(evidence, "events"));
        json_decref(file);
        if (!ok)
            fprintf(stderr, "aerogpu doctor: %s is no report, event log or status\n", path);
        return ok ? 0 : EXIT_INPUT;
    }
    if (json_object_get(file, "tests")) {
        json_array_extend(json_object_get(evidence, "events"), json_object_get(file, "events"));
        json_object_set(evidence, "tests", json_object_get(file, "tests"));
    } else {
        status = json_object_get(evidence, "status");
        json_object_set(evidence, status ? "later" : "status", file);
    }
    json_decref(file);
    return 0;
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

    json_array_foreach(rows, i, r)
    {
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
    json_t *evidence = json_pack("{s:[]}", "events"), *rows = NULL, *top;
    bool json = false;
    int c, r = 0;

    optind = 1;
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
            r = EXIT_USAGE;
        }
    }
    if (!r && optind == argc) {
        fprintf(
            stderr,
            "aerogpu doctor: name a report, an event log or a status; `aerogpu doctor --help` says which\n");
        r = EXIT_USAGE;
    }
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
