/* main.c: the command line, the adapter, the output. The contract is in dbgctl.h. */
#include "dbgctl.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_kind { NUMBER, TEXT, FLAG };

struct option_row {
    const char *name;
    enum option_kind kind;
    void *at;
    bool *have;
    uint32_t min;
    const char *doc;
};

static void usage(FILE *f, const struct option_row *rows)
{
    fputs("usage: aerogpu_dbgctl [OPTIONS] COMMAND\n\nAsks the driver behind $AEROGPU_SOCKET where its "
          "fences are.\n\n"
          "commands:\n",
          f);
    for (unsigned i = 0; i < dbgctl_num_commands; i++) {
        const struct dbgctl_command *k = &dbgctl_commands[i];
        char text[120];
        int n = snprintf(text, sizeof(text), "%s%s", k->options[0],
                         k->argument == DBGCTL_PATH          ? " PATH"
                         : k->argument == DBGCTL_NUMBER      ? " HANDLE"
                         : k->argument == DBGCTL_NUMBER_SIZE ? " GPA [N]"
                                                             : "");
        for (int a = 1; a < 4 && k->options[a] && n > 0 && n < (int)sizeof(text); a++)
            n += snprintf(text + n, sizeof(text) - (size_t)n, ", %s", k->options[a]);
        fprintf(f, "  %-52s %s\n", text, k->doc);
    }
    fputs("  --help, -h, /?                                       this\n\noptions:\n", f);
    for (const struct option_row *r = rows; r->name; r++)
        fprintf(f, "  %s%-*s %s\n", r->name, 26 - (int)strlen(r->name),
                r->kind == NUMBER ? " N"
                : r->kind == TEXT ? " X"
                                  : "",
                r->doc);
    fputs("  --json[=PATH]             one JSON document, to standard output or PATH\n\n"
          "exit codes: 0 ok, 1 wrong usage or no adapter, 2 the command failed, 3 READ_GPA copied a part, 4 "
          "closing the\n"
          "adapter failed; --selftest: the driver's code, 254 if it was not reached\n",
          f);
}

static bool number(const char *text, uint64_t max, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return !*end && !errno && *out <= max;
}

/* ---- output ---- */

static void output_json(struct dbgctl *c, bool ok)
{
    json_t *top = json_pack("{s:i, s:s, s:b}", "schema_version", 1, "command",
                            c->command ? c->command->name : "parse-args", "ok", (int)ok);
    size_t flags = c->pretty ? JSON_INDENT(2) : JSON_COMPACT;
    char hex[16];
    char *text;
    const char *name = "";

    json_object_update(top, c->body);
    if (!ok) {
        json_t *status = json_null();
        if (c->has_status) {
            snprintf(hex, sizeof(hex), "0x%08x", (uint32_t)c->status);
#define ROW(id, value)                                                                                       \
    if ((uint32_t)c->status == (uint32_t)(value))                                                            \
        name = #id;
            WDDM_STATUS_CODES(ROW)
#undef ROW
            status = json_pack("{s:s, s:s}", "hex", hex, "name", name);
        }
        json_object_set_new(top, "error", json_pack("{s:s, s:o}", "message", c->message, "status", status));
    }
    text = json_dumps(top, flags | JSON_REAL_PRECISION(9));
    json_decref(top);
    if (!text)
        return;
    if (c->json_path) {
        size_t n = strlen(text);
        text[n] = '\n'; /* instead of the terminator: the size says where it ends */
        int r = dbgctl_write_file(c->json_path, text, n + 1);
        if (r)
            fprintf(stderr, "aerogpu_dbgctl: %s: %s\n", c->json_path, strerror(-r));
    } else {
        puts(text);
    }
    free(text);
}

static int finish(struct dbgctl *c, int code)
{
    bool ok = code == DBGCTL_OK;

    if (c->json)
        output_json(c, ok);
    else if (ok && c->command && strncmp(c->command->name, "watch-", 6) != 0)
        dbgctl_print_text(c->body);
    if (!c->json && !ok) {
        fprintf(stderr, "aerogpu_dbgctl: %s", c->message);
        if (c->has_status)
            fprintf(stderr, " (NTSTATUS 0x%08x)", (uint32_t)c->status);
        fputc('\n', stderr);
    }
    fflush(stdout);
    json_decref(c->body);
    return code;
}

static int wrong(struct dbgctl *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int wrong(struct dbgctl *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(c->message, sizeof(c->message), fmt, ap);
    va_end(ap);
    c->has_status = false;
    return DBGCTL_USAGE;
}

/* ---- the command line ---- */

static const struct dbgctl_command *find_command(const char *option)
{
    for (unsigned i = 0; i < dbgctl_num_commands; i++)
        for (int k = 0; k < 4 && dbgctl_commands[i].options[k]; k++)
            if (!strcmp(dbgctl_commands[i].options[k], option))
                return &dbgctl_commands[i];
    return NULL;
}

static int take_command(struct dbgctl *c, const struct dbgctl_command *k, int argc, char **argv, int *i,
                        const char *given)
{
    uint64_t v;

    if (c->command)
        return wrong(c, "two commands: --%s and %s", c->command->name, argv[*i]);
    if (k->argument == DBGCTL_NONE) {
        if (given)
            return wrong(c, "%s takes no value", k->options[0]);
        c->command = k;
        return 0;
    }
    if (!given && *i + 1 < argc)
        given = argv[++*i];
    if (!given || !*given || (k->argument == DBGCTL_PATH && !strncmp(given, "--", 2)))
        return wrong(c, "%s needs %s", k->options[0], k->argument == DBGCTL_PATH ? "a path" : "a number");
    if (k->argument == DBGCTL_PATH) {
        c->path = given;
    } else {
        if (!number(given, UINT64_MAX, &c->argument))
            return wrong(c, "%s: '%s' is no number", k->options[0], given);
        if (k->argument == DBGCTL_NUMBER_SIZE && *i + 1 < argc && isdigit((unsigned char)argv[*i + 1][0])) {
            if (!number(argv[++*i], UINT32_MAX, &v))
                return wrong(c, "%s: '%s' is no size", k->options[0], argv[*i]);
            c->size = (uint32_t)v;
            c->have_size = true;
        }
    }
    c->command = k;
    return 0;
}

static int take_option(struct dbgctl *c, const struct option_row *r, int argc, char **argv, int *i,
                       const char *given)
{
    uint64_t v;

    if (r->kind == FLAG) {
        if (given)
            return wrong(c, "%s takes no value", r->name);
        *(bool *)r->at = true;
        return 0;
    }
    if (!given && *i + 1 < argc)
        given = argv[++*i];
    if (!given || !*given || (r->kind == TEXT && !strncmp(given, "--", 2)))
        return wrong(c, "%s needs a value", r->name);
    if (r->kind == TEXT) {
        *(const char **)r->at = given;
    } else {
        if (!number(given, UINT32_MAX, &v) || v < r->min)
            return wrong(c, "%s: '%s' is no number%s", r->name, given, r->min ? " above 0" : "");
        *(uint32_t *)r->at = (uint32_t)v;
    }
    if (r->have)
        *r->have = true;
    return 0;
}

/* 0, DBGCTL_USAGE, or -1 when help was shown. */
static int parse(struct dbgctl *c, int argc, char **argv, const struct option_row *rows)
{
    int r = 0;

    for (int i = 1; i < argc; i++) /* so that complaints about anything come as JSON */
        if (!strcmp(argv[i], "--json") || !strncmp(argv[i], "--json=", 7))
            c->json = true;
        else if (!strcmp(argv[i], "--pretty"))
            c->pretty = true;
    for (int i = 1; i < argc && !r; i++) {
        const char *a = argv[i], *equals = strncmp(a, "--", 2) ? NULL : strchr(a, '='),
                   *given = equals ? equals + 1 : NULL;
        char name[64];
        const struct dbgctl_command *k;
        const struct option_row *o = rows;
        snprintf(name, sizeof(name), "%.*s", (int)(equals ? equals - a : (long)strlen(a)), a);
        if (!strcmp(a, "--help") || !strcmp(a, "-h") || !strcmp(a, "/?")) {
            usage(stdout, rows);
            return -1;
        }
        if (!strcmp(name, "--json")) {
            if (given && !*given)
                r = wrong(c, "--json= needs a path");
            else if (given)
                c->json_path = given;
            else if (i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0 && strcmp(argv[i + 1], "-h") != 0 &&
                     strcmp(argv[i + 1], "/?") != 0)
                c->json_path = argv[++i];
            continue;
        }
        k = find_command(name);
        if (k) {
            r = take_command(c, k, argc, argv, &i, given);
            continue;
        }
        while (o->name && strcmp(o->name, name) != 0)
            o++;
        r = o->name ? take_option(c, o, argc, argv, &i, given) : wrong(c, "unknown option '%s'", a);
    }
    if (!r && !c->command)
        r = wrong(c, "no command");
    if (!r && !strcmp(c->command->name, "dump-last-cmd")) {
        if (!c->cmd_out)
            c->cmd_out = c->out_path;
        if (!c->cmd_out)
            r = wrong(c, "--dump-last-submit needs --cmd-out");
        else if (c->alloc_out && c->count > 1)
            r = wrong(c, "--alloc-out goes with --count 1 only");
    }
    if (r)
        c->command = NULL; /* "parse-args" in the JSON */
    return r;
}

static int run(struct dbgctl *c)
{
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC)(uintptr_t)c->display};
    D3DKMT_CLOSEADAPTER close = {0};
    NTSTATUS s;
    int code;

    if (c->command->without_adapter)
        return c->command->run(c);
    s = dbgctl_call(c, D3DKMT_THUNK_OpenAdapterFromHdc, &open, sizeof(open));
    if (s) {
        dbgctl_fail(c, s, "the adapter%s%s cannot be opened%s", c->display ? " of " : "",
                    c->display ? c->display : "",
                    getenv(D3DKMT_SOCKET_VARIABLE) ? "" : ": $" D3DKMT_SOCKET_VARIABLE " is not set");
        return DBGCTL_USAGE;
    }
    c->adapter = open.hAdapter;
    c->luid = open.AdapterLuid;
    c->source = open.VidPnSourceId;
    code = c->command->run(c);
    close.hAdapter = c->adapter;
    s = dbgctl_call(c, D3DKMT_THUNK_CloseAdapter, &close, sizeof(close));
    if (s && code == DBGCTL_OK) {
        dbgctl_fail(c, s, "the adapter cannot be closed");
        code = DBGCTL_CLOSE;
    }
    return code;
}

int main(int argc, char **argv)
{
    struct dbgctl c = {.timeout_ms = 2000,
                       .vblank_samples = 1,
                       .vblank_interval_ms = 250,
                       .samples = 10,
                       .interval_ms = 250,
                       .count = 1};
    const struct option_row rows[] = {
        {"--display", TEXT, &c.display, NULL, 0, "which display, \\\\.\\DISPLAY1"},
        {"--ring-id", NUMBER, &c.ring_id, NULL, 0, "which ring (0)"},
        {"--timeout-ms", NUMBER, &c.timeout_ms, NULL, 1, "longest time of one call (2000)"},
        {"--vblank-samples", NUMBER, &c.vblank_samples, NULL, 1, "samples of vblank commands (1)"},
        {"--vblank-interval-ms", NUMBER, &c.vblank_interval_ms, NULL, 0, "time between them (250)"},
        {"--samples", NUMBER, &c.samples, &c.have_samples, 1, "samples of --watch-* (10)"},
        {"--interval-ms", NUMBER, &c.interval_ms, &c.have_interval, 0, "time between them (250)"},
        {"--size", NUMBER, &c.size, &c.have_size, 1, "bytes of --read-gpa (256)"},
        {"--out", TEXT, &c.out_path, NULL, 0, "file of --read-gpa and --dump-last-submit"},
        {"--cmd-out", TEXT, &c.cmd_out, NULL, 0, "file of the stream"},
        {"--alloc-out", TEXT, &c.alloc_out, NULL, 0, "file of the allocation table"},
        {"--index-from-tail", NUMBER, &c.index_from_tail, NULL, 0, "0: the newest submission"},
        {"--count", NUMBER, &c.count, &c.have_count, 1, "how many submissions (1)"},
        {"--csv", TEXT, &c.csv_path, NULL, 0, "file of --dump-createalloc"},
        {"--force", FLAG, &c.force, NULL, 0, "dump more than 1 MiB, up to 64 MiB"},
        {"--pretty", FLAG, &c.pretty, NULL, 0, "JSON with line breaks"},
        {NULL, FLAG, NULL, NULL, 0, NULL},
    };
    int code;

    c.body = json_object();
    code = parse(&c, argc, argv, rows);
    if (code < 0) {
        json_decref(c.body);
        return DBGCTL_OK;
    }
    code = finish(&c, code ? code : run(&c));
    _exit(code); /* calls that were left behind must not hold us up */
}
