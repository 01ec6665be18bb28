/* args.c: the command line. An error in a command's own words carries that command's name in the JSON, any other is
 * "parse-args"; an option that the command would not look at is an error, not a surprise. */
#include "dbgctl.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_kind { NUMBER, TEXT, FLAG };

static const struct option_row {
    const char *name;
    enum option_kind kind;
    size_t at;
    uint32_t min;
    const char *only; /* commands that it belongs to, and then once only; NULL: any */
    const char *word, *doc;
} options[] = {
#define AT(field) offsetof(struct dbgctl, field)
    {"--display", TEXT, AT(display), 0, NULL, "NAME", "which display, \\\\.\\DISPLAY1"},
    {"--ring-id", NUMBER, AT(ring_id), 0, NULL, "N",
     "which ring of --dump-ring, --watch-ring, --dump-last-submit (0)"},
    {"--timeout-ms", NUMBER, AT(timeout_ms), 1, NULL, "N",
     "longest time of one call (2000); of the whole --watch-fence, if given"},
    {"--vblank-samples", NUMBER, AT(vblank_samples), 1, NULL, "N",
     "samples of --dump-vblank, --wait-vblank, --query-scanline (1)"},
    {"--vblank-interval-ms", NUMBER, AT(vblank_interval_ms), 0, NULL, "N", "time between them (250)"},
    {"--samples", NUMBER, AT(samples), 1, NULL, "N", "samples of --watch-* (10; at most 10000)"},
    {"--interval-ms", NUMBER, AT(interval_ms), 0, NULL, "N", "time between them (250)"},
    {"--size", NUMBER, AT(size), 1, "read-gpa", "N", "bytes of --read-gpa (256)"},
    {"--out", TEXT, AT(out_path), 0, "read-gpa dump-last-cmd", "FILE",
     "file of --read-gpa and --dump-last-submit"},
    {"--cmd-out", TEXT, AT(cmd_out), 0, "dump-last-cmd", "FILE", "file of the command stream"},
    {"--alloc-out", TEXT, AT(alloc_out), 0, "dump-last-cmd", "FILE",
     "file of the allocation table (FILE.alloc_table.bin beside the stream)"},
    {"--index-from-tail", NUMBER, AT(index_from_tail), 0, "dump-last-cmd", "K", "0: the newest submission"},
    {"--count", NUMBER, AT(count), 1, "dump-last-cmd", "N", "how many submissions (1)"},
    {"--csv", TEXT, AT(csv_path), 0, "dump-createalloc", "FILE", "the trace of allocations as a table"},
    {"--force", FLAG, AT(force), 0, NULL, "",
     "dump more than 1 MiB, up to 64 MiB; --read-gpa prints up to 4096 bytes"},
    {"--pretty", FLAG, AT(pretty), 0, NULL, "", "JSON with line breaks"},
#undef AT
};
enum { NUM_OPTIONS = sizeof(options) / sizeof(options[0]), COLUMN = 34 };

/* ---- help ---- */

static const char *argument_of(const struct dbgctl_command *k)
{
    static const char *const words[] = {"", " FILE", " HANDLE", " GPA [N]"};

    return words[k->argument];
}

static void usage(FILE *f)
{
    fputs("usage: aerogpu_dbgctl [OPTIONS] COMMAND\n\n"
          "Asks the driver of the service at $AEROGPU_SOCKET (aerogpu serve) where its fences are and why "
          "they do "
          "not move.\n\ncommands:\n",
          f);
    for (unsigned i = 0; i < dbgctl_num_commands; i++) {
        const struct dbgctl_command *k = &dbgctl_commands[i];
        int n = fprintf(f, "  %s%s", k->options[0], argument_of(k));
        for (int a = 1; a < 4 && k->options[a]; a++)
            n += fprintf(f, ", %s", k->options[a]);
        fprintf(f, "%s%*s%s\n", n >= COLUMN ? "\n" : "", n >= COLUMN ? COLUMN : COLUMN - n, "", k->doc);
        if (k->takes)
            fprintf(f, "%*s%s\n", COLUMN, "", k->takes);
    }
    fprintf(f, "  %-*s%s\n\noptions:\n", COLUMN - 2, "--help, -h, /?", "this");
    for (int i = 0; i < NUM_OPTIONS; i++) {
        int n = fprintf(f, "  %s %s", options[i].name, options[i].word);
        fprintf(f, "%*s%s\n", COLUMN - n, "", options[i].doc);
    }
    fprintf(
        f,
        "  %-*sone JSON document, to standard output or FILE; --pretty implies it\n\n"
        "What reads guest memory (--read-gpa, --dump-scanout-*, --dump-cursor-*, --dump-last-submit) needs "
        "EnableReadGpaEscape = 1\nin the settings of the service, --map-shared-handle needs "
        "EnableMapSharedHandleEscape = 1, and the caller must be root or\nthe service's user.\n\n"
        "exit codes: 0 ok; 1 wrong usage or no adapter; 2 the command failed; 3 READ_GPA copied a part; 4 "
        "closing the adapter\nfailed. --selftest: the driver's code, 254 if it was not reached.\n",
        COLUMN - 2, "--json[=FILE]");
}

static void help(struct dbgctl *c)
{
    json_t *list;

    if (!c->json) {
        usage(stdout);
        return;
    }
    list = json_array();
    for (unsigned i = 0; i < dbgctl_num_commands; i++) {
        const struct dbgctl_command *k = &dbgctl_commands[i];
        json_t *names = json_array();
        for (int a = 0; a < 4 && k->options[a]; a++)
            json_array_append_new(names, json_string(k->options[a]));
        json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:s}", "command", k->name, "options", names,
                                              "argument", *argument_of(k) ? argument_of(k) + 1 : "", "doc",
                                              k->doc));
    }
    json_object_set_new(c->body, "commands", list);
    list = json_array();
    for (int i = 0; i < NUM_OPTIONS; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "option", options[i].name, "argument",
                                              options[i].word, "doc", options[i].doc));
    json_object_set_new(c->body, "options", list);
}

/* ---- values ---- */

static bool number(const char *text, uint64_t max, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return !*end && !errno && *out <= max;
}

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

/* --json[=FILE], or --json FILE where FILE is neither an option nor a number. */
static bool take_json(struct dbgctl *c, int argc, char **argv, int *i, int *r)
{
    const char *a = argv[*i];
    uint64_t unused;

    if (!strncmp(a, "--json=", 7)) {
        a += 7;
    } else if (strcmp(a, "--json") != 0) {
        return false;
    } else if (*i + 1 < argc && !is_option(argv[*i + 1]) && !number(argv[*i + 1], UINT64_MAX, &unused)) {
        a = argv[++*i];
    } else {
        a = NULL;
    }
    c->json = true;
    if (a && *a)
        c->json_path = a;
    else if (a)
        *r = wrong(c, NULL, "--json needs a path that is not empty");
    return true;
}

/* ---- commands and options ---- */

static const struct dbgctl_command *find_command(const char *option)
{
    for (unsigned i = 0; i < dbgctl_num_commands; i++)
        for (int k = 0; k < 4 && dbgctl_commands[i].options[k]; k++)
            if (!strcmp(dbgctl_commands[i].options[k], option))
                return &dbgctl_commands[i];
    return NULL;
}

static const struct option_row *find_option(const char *name)
{
    for (int i = 0; i < NUM_OPTIONS; i++)
        if (!strcmp(options[i].name, name))
            return &options[i];
    return NULL;
}

static int take_size(struct dbgctl *c, const struct dbgctl_command *k, const char *text)
{
    uint64_t v;

    if (!number(text, UINT32_MAX, &v) || !v)
        return wrong(c, k, "--read-gpa: '%s' is no size", text);
    if (c->given & 1u << (find_option("--size") - options))
        return wrong(c, k, "--read-gpa: the size is given twice");
    c->given |= 1u << (find_option("--size") - options);
    c->size = (uint32_t)v;
    return 0;
}

static int take_command(struct dbgctl *c, const struct dbgctl_command *k, int argc, char **argv, int *i,
                        const char *given)
{
    const char *name = argv[*i];

    if (c->command)
        return wrong(c, NULL, "two commands: --%s and %s", c->command->name, name);
    if (k->argument == DBGCTL_NONE) {
        if (given)
            return wrong(c, NULL, "%s takes no value", k->options[0]);
        c->command = k;
        return 0;
    }
    if (!given && *i + 1 < argc && !is_option(argv[*i + 1]))
        given = argv[++*i];
    if (!given || !*given)
        return wrong(c, k, "%s needs %s", k->options[0], k->argument == DBGCTL_PATH ? "a path" : "a number");
    c->command = k;
    if (k->argument == DBGCTL_PATH)
        c->path = given;
    else if (!number(given, UINT64_MAX, &c->argument))
        return wrong(c, k, "%s: '%s' is no number", k->options[0], given);
    else if (k->argument == DBGCTL_NUMBER_SIZE && *i + 1 < argc && !is_option(argv[*i + 1]))
        return take_size(c, k, argv[++*i]);
    return 0;
}

static int take_option(struct dbgctl *c, const struct option_row *o, int argc, char **argv, int *i,
                       const char *given)
{
    void *at = (uint8_t *)c + o->at;
    uint32_t bit = 1u << (o - options);
    uint64_t v;

    if (o->kind == FLAG) {
        if (given)
            return wrong(c, NULL, "%s takes no value", o->name);
        *(bool *)at = true;
        return 0;
    }
    if (!given && *i + 1 < argc && !is_option(argv[*i + 1]))
        given = argv[++*i];
    if (!given || !*given)
        return wrong(c, NULL, "%s needs a value", o->name);
    if (o->only && c->given & bit)
        return wrong(c, NULL, "%s is given twice", o->name);
    c->given |= bit;
    if (o->kind == TEXT) {
        *(const char **)at = given;
        return 0;
    }
    if (!number(given, UINT32_MAX, &v))
        return wrong(c, NULL, "%s: '%s' is no number from %u to %u", o->name, given, o->min, UINT32_MAX);
    if (v < o->min)
        return wrong(c, NULL, "%s must be at least %u", o->name, o->min);
    *(uint32_t *)at = (uint32_t)v;
    return 0;
}

static bool is_in(const char *name, const char *list)
{
    const char *at = strstr(list, name);
    size_t n = strlen(name);

    return at && (at == list || at[-1] == ' ') && (!at[n] || at[n] == ' ');
}

/* What can only be said when the whole line is known. */
static int check(struct dbgctl *c)
{
    const struct dbgctl_command *k = c->command;

    if (!k)
        return wrong(c, NULL, "no command");
    for (int i = 0; i < NUM_OPTIONS; i++)
        if (c->given & 1u << i && options[i].only && !is_in(k->name, options[i].only))
            return wrong(c, NULL, "%s does not go with %s", options[i].name, k->options[0]);
    c->timeout_given = c->given & 1u << (find_option("--timeout-ms") - options);
    if (strcmp(k->name, "dump-last-cmd") != 0)
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

static int take(struct dbgctl *c, int argc, char **argv, int *i)
{
    const char *a = argv[*i], *equals = strncmp(a, "--", 2) ? NULL : strchr(a, '='),
               *given = equals ? equals + 1 : NULL;
    const struct dbgctl_command *k;
    const struct option_row *o;
    char name[64];
    int r = 0;

    if (take_json(c, argc, argv, i, &r))
        return r;
    snprintf(name, sizeof(name), "%.*s", (int)(equals ? equals - a : (long)strlen(a)), a);
    if ((k = find_command(name)))
        return take_command(c, k, argc, argv, i, given);
    if ((o = find_option(name)))
        return take_option(c, o, argc, argv, i, given);
    return wrong(c, NULL, "unknown %s '%s'", *a == '-' ? "option" : "argument", a);
}

int dbgctl_parse(struct dbgctl *c, int argc, char **argv)
{
    int r = 0;

    for (int i = 1; i < argc;
         i++) /* first, so that complaints about anything come as JSON, and where they should */
        if (!take_json(c, argc, argv, &i, &r) && !strcmp(argv[i], "--pretty"))
            c->json = true;
    r = 0;
    for (int i = 1; i < argc && !r; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") || !strcmp(argv[i], "/?")) {
            help(c);
            c->name = "help";
            return -1;
        }
        r = take(c, argc, argv, &i);
    }
    if (!r)
        r = check(c);
    if (!r)
        c->name = c->command->name;
    return r;
}
