/* SPDX-License-Identifier: MIT */
/* args.c: the command line. An error in a command's own words carries that command's name in the JSON, any other is
 * "parse-args"; an option that the command would not look at is an error, not a surprise. */
#include "dbgctl.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

enum { MAX_ROWS = 80 };

static const char dump_last[] = "dump-last-cmd";

/* The line while it is read: the table's calls look at the word behind theirs. */
struct line {
    struct dbgctl *c;
    int argc;
    char **argv;
    struct options_row rows[MAX_ROWS], *read_gpa, *size;
    struct options o;
    bool json_path_given;
};

/* A word that must be an option: whoever wrote it forgot the value before it. */
static bool is_option(const char *a)
{
    return !strncmp(a, "--", 2) || !strcmp(a, "-h") || !strcmp(a, "/?");
}

/* `k`: the command that is wrong in itself, or NULL. */
static int wrong(struct dbgctl *c, const struct dbgctl_command *k, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int wrong(struct dbgctl *c, const struct dbgctl_command *k, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(c->message, sizeof(c->message), fmt, ap);
    va_end(ap);
    c->command = k;
    c->name = k ? k->name : "parse-args";
    c->hint = "aerogpu_dbgctl --help lists commands and options";
    return DBGCTL_USAGE;
}

/* ---- calls of the table -------------------------------------------------- */

/* --json[=FILE], or --json FILE where FILE is neither an option nor a number. */
static int take_json(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    struct line *l = ctx;
    const char *next = optind < l->argc ? l->argv[optind] : "--";
    uint64_t unused;

    if (!value && !is_option(next) && options_number("", next, 0, UINT64_MAX, &unused, NULL)) {
        value = next;
        optind++;
    }
    if (e && value && *value && l->json_path_given)
        return error_set(e, -EINVAL, "option '--json' is given twice");
    l->json_path_given = e && value && *value; /* that who looks ahead finds it is no second time */
    l->c->json = true;
    l->c->json_path = value && *value ? value : NULL;
    return value && !*value ? error_set(e, -EINVAL, "--json needs a path that is not empty") : 0;
}

static const struct dbgctl_command *command_of(const struct options_row *row)
{
    for (unsigned i = 0; row && row->name && i < dbgctl_num_commands; i++)
        if (!strcmp(dbgctl_commands[i].options[0] + 2, row->name))
            return &dbgctl_commands[i];
    return NULL;
}

static int take_command(void *ctx, const struct options_row *row, const char *value, struct error *e)
{
    const struct dbgctl_command *k = command_of(row);
    struct line *l = ctx;
    uint64_t size;
    int r = 0;

    if (l->c->command)
        return error_set(e, -EINVAL, "two commands: --%s and --%s", l->c->command->name, row->name);
    if (value && !*value)
        return error_set(e, -EINVAL, "--%s: the value is empty", row->name);
    if (k->argument == DBGCTL_PATH || k->argument == DBGCTL_FAULT)
        l->c->path = value;
    else if (k->argument != DBGCTL_NONE)
        r = options_number(k->options[0], value, 0, UINT64_MAX, &l->c->argument, e);
    if (!r && k->argument == DBGCTL_NUMBER_SIZE && optind < l->argc && !is_option(l->argv[optind])) {
        if (l->size->given)
            return error_set(e, -EINVAL, "--read-gpa: the size is given twice");
        r = options_number("--read-gpa: the size", l->argv[optind++], 1, UINT32_MAX, &size, e);
        l->c->size = r ? 0 : (uint32_t)size;
        l->size->given = 1;
    }
    if (!r)
        l->c->command = k;
    return r;
}

/* ---- the table ----------------------------------------------------------- */

static const char *argument_of(const struct dbgctl_command *k)
{
    static const char *const words[] = {NULL, "FILE", "FAULT[=VALUE]", "HANDLE", "GPA"};

    return words[k->argument];
}

/* Which commands look at an option; every command looks at those that are not here. */
static const struct {
    const char *option, *commands;
} only[] = {{"ring-id", "dump-ring watch-ring dump-last-cmd"},
            {"vblank-samples", "dump-vblank wait-vblank query-scanline"},
            {"vblank-interval-ms", "dump-vblank query-scanline"},
            {"samples", "watch-fence watch-ring"},
            {"interval-ms", "watch-fence watch-ring metrics"},
            {"size", "read-gpa"},
            {"out", "read-gpa dump-last-cmd"},
            {"cmd-out", dump_last},
            {"alloc-out", dump_last},
            {"index-from-tail", dump_last},
            {"count", dump_last},
            {"csv", "dump-createalloc"},
            {"prometheus", "metrics"},
            {"force", "dump-last-cmd read-gpa"}};

static void fill(struct line *l)
{
    struct dbgctl *c = l->c;
    const struct options_row options[] = {
        OPT_GROUP("options"),
        OPT_TEXT("display", 0, &c->display, "NAME", "which display, \\\\.\\DISPLAY1"),
        OPT_U32("ring-id", 0, &c->ring_id, 0, UINT32_MAX, "N",
                "which ring of --dump-ring, --watch-ring, --dump-last-submit; 0"),
        OPT_U32(
            "timeout-ms", 0, &c->timeout_ms, 1, UINT32_MAX, "N",
            "longest time of one call, and of each vblank wait; 2000. Of the whole --watch-fence, if given, and of --trace"),
        OPT_U32("vblank-samples", 0, &c->vblank_samples, 1, DBGCTL_MAX_SAMPLES, "N",
                "samples of --dump-vblank, --wait-vblank, --query-scanline, at most 10000; 1"),
        OPT_U32("vblank-interval-ms", 0, &c->vblank_interval_ms, 0, UINT32_MAX, "N",
                "time between them; 250"),
        OPT_U32("samples", 0, &c->samples, 1, DBGCTL_MAX_SAMPLES, "N",
                "samples of --watch-fence and --watch-ring, at most 10000; 10"),
        OPT_U32("interval-ms", 0, &c->interval_ms, 0, UINT32_MAX, "N",
                "time between them, and of which --metrics takes its rates; 250"),
        OPT_U32("size", 0, &c->size, 1, UINT32_MAX, "N", "bytes of --read-gpa; 256"),
        OPT_TEXT("out", 0, &c->out_path, "FILE", "file of --read-gpa and --dump-last-submit"),
        OPT_TEXT("cmd-out", 0, &c->cmd_out, "FILE", "file of the command stream"),
        OPT_TEXT("alloc-out", 0, &c->alloc_out, "FILE",
                 "file of the allocation table; FILE.alloc_table.bin beside the stream"),
        OPT_U32("index-from-tail", 0, &c->index_from_tail, 0, UINT32_MAX, "K", "0: the newest submission"),
        OPT_U32("count", 0, &c->count, 1, UINT32_MAX, "N", "how many submissions; 1"),
        OPT_TEXT("csv", 0, &c->csv_path, "FILE", "the trace of allocations as a table"),
        OPT_FLAG("prometheus", 0, &c->prometheus, "--metrics as Prometheus reads them, and nothing else"),
        OPT_FLAG("force", 0, &c->force,
                 "dump more than 1 MiB, up to 64 MiB; --read-gpa prints up to 4096 bytes"),
        OPT_CALL("json", 0, take_json, l, "[=FILE]", "one JSON document, to standard output or FILE"),
        OPT_FLAG("pretty", 0, &c->pretty, "JSON with line breaks; implies --json"),
        OPT_END};
    struct options_row *r = l->rows;

    *r++ = (struct options_row)OPT_GROUP("commands");
    for (unsigned i = 0; i < dbgctl_num_commands; i++) {
        const struct dbgctl_command *k = &dbgctl_commands[i];
        if (k->argument == DBGCTL_NUMBER_SIZE)
            l->read_gpa = r;
        *r++ = (struct options_row)OPT_CALL(k->options[0] + 2, 0, take_command, l, argument_of(k), k->doc);
        for (int a = 1; a < 4 && k->options[a]; a++)
            *r++ = (struct options_row)OPT_SAME(k->options[a] + 2);
    }
    memcpy(r, options, sizeof(options));
    l->o.rows = l->rows;
    options_once(options_find(&l->o, "display"));
    l->size = options_find(&l->o, "size");
}

static void help_json(struct line *l)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < dbgctl_num_commands; i++) {
        const struct dbgctl_command *k = &dbgctl_commands[i];
        const char *argument = argument_of(k);
        json_t *names = json_array();
        for (int a = 0; a < 4 && k->options[a]; a++)
            json_array_append_new(names, json_string(k->options[a]));
        json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:s}", "command", k->name, "options", names,
                                              "argument", argument ? argument : "", "doc", k->doc));
    }
    json_object_set_new(l->c->body, "commands", list);
    list = json_array();
    for (const struct options_row *r = options_find(&l->o, "display"); r->kind; r++)
        json_array_append_new(list, json_pack("{s:s+, s:s, s:s}", "option", "--", r->name, "argument",
                                              r->arg ? r->arg : "", "doc", r->doc));
    json_object_set_new(l->c->body, "options", list);
}

/* ---- the line ------------------------------------------------------------ */

static bool is_in(const char *name, const char *list)
{
    const char *at = strstr(list, name);
    size_t n = strlen(name);

    return at && (at == list || at[-1] == ' ') && (!at[n] || at[n] == ' ');
}

/* What can only be said when the whole line is known. */
static int check(struct line *l)
{
    struct dbgctl *c = l->c;
    const struct dbgctl_command *k = c->command;

    if (!k)
        return wrong(c, NULL, "no command");
    for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++)
        if (options_find(&l->o, only[i].option)->given && !is_in(k->name, only[i].commands))
            return wrong(c, NULL, "--%s does not go with %s", only[i].option, k->options[0]);
    if (c->prometheus && c->json)
        return wrong(c, k, "--prometheus and --json are two formats: give one");
    c->timeout_given = options_find(&l->o, "timeout-ms")->given;
    c->call_ms = c->timeout_ms;
    if (k->run == dbgctl_trace &&
        c->call_ms < DBGCTL_CALL_MS) /* who traces for a moment gets there all the same */
        c->call_ms = DBGCTL_CALL_MS;
    if (strcmp(k->name, dump_last) != 0)
        return 0;
    if (c->cmd_out && c->out_path)
        return wrong(c, NULL, "--out and --cmd-out are the same: give one");
    if (!c->cmd_out)
        c->cmd_out = c->out_path;
    if (!c->cmd_out)
        return wrong(c, k, "%s needs --cmd-out FILE", k->options[0]);
    if (c->alloc_out && c->count > 1)
        return wrong(c, k, "--alloc-out goes with --count 1 only");
    return 0;
}

/* Before anything is read, so that complaints about anything come as JSON, and where they should. Help was asked for? */
static bool look_ahead(struct line *l)
{
    bool help = false;

    for (int i = 1; i < l->argc; i++) {
        const char *a = l->argv[i];
        optind = i + 1; /* take_json looks there */
        if (!strncmp(a, "--json", 6) && (!a[6] || a[6] == '='))
            take_json(l, NULL, a[6] ? a + 7 : NULL, NULL);
        l->c->json |= !strcmp(a, "--pretty");
        help |= !strcmp(a, "--help") || !strcmp(a, "-h") || !strcmp(a, "/?");
    }
    return help;
}

int dbgctl_parse(struct dbgctl *c, int argc, char **argv)
{
    static struct line l;
    struct error e = {0};
    int r;

    l = (struct line){.c = c, .argc = argc, .argv = argv};
    l.o = (struct options){
        .name = "aerogpu_dbgctl",
        .summary = "ask the display driver where its fences are and why they do not move",
        .operands = "COMMAND",
        .stops = true,
        .slash = true,
        .about =
            "Talks to the driver of the service at `AEROGPU_SOCKET` (`aerogpu serve`) through D3DKMT: escapes, adapter queries, vblank waits. It answers during a hang and after a failed reset, for no call is waited for longer than --timeout-ms.",
        .notes =
            "What reads guest memory (--read-gpa, --dump-scanout-png and the like, --dump-last-submit) needs EnableReadGpaEscape = 1 in the settings of the service, --map-shared-handle needs EnableMapSharedHandleEscape = 1, and the caller must be root or the service's user; else STATUS_NOT_SUPPORTED. --inject needs EnableFaultInjection = 1, else STATUS_NOT_SUPPORTED; --inject, --force-tdr, --trace, rings, --dump-createalloc and --dump-log need that caller, else STATUS_ACCESS_DENIED. --metrics shows others than these the processes of their own user. An option that a command does not look at is an error with it, and so is a value that is given twice. `--json FILE` works too unless FILE looks like an option or a number. --selftest returns the driver's code, 254 if it was not reached.",
        .exits = {"ok", "wrong usage, or the adapter cannot be opened", "the command failed",
                  "--read-gpa copied a part", "closing the adapter failed"},
        .see = "aerogpu-doctor(1), aerogpu-serve(1), aerogpu_test_runner(1), docs/dbgctl.md"};
    fill(&l);
    if (look_ahead(&l) && c->json) {
        help_json(&l);
        c->name = "help";
        return -1;
    }
    r = options_parse(&l.o, argc, argv, &e);
    if (r > 0)
        exit(0);
    if (r < 0)
        return wrong(c, c->command ? NULL : command_of(l.o.at), "%s", e.text);
    if (c->pretty)
        c->json = true;
    r = check(&l);
    if (!r)
        c->name = c->command->name;
    return r;
}
