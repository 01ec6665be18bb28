/* SPDX-License-Identifier: MIT */
/* command.c: what all commands share (commands.h). */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static char running[64] = "aerogpu";
static const char *summary = "a virtual GPU that can be crashed on purpose";

int command_run(const char *parent, const struct options_command *commands, size_t n, int argc, char **argv)
{
    for (size_t i = 0; i < n; i++) {
        if (!commands[i].run || strcmp(argv[0], commands[i].name) != 0)
            continue;
        snprintf(running, sizeof(running), "%s %s", parent, commands[i].name);
        summary = commands[i].summary;
        argv[0] = running; /* getopt's complaints begin with it */
        optind = 1;
        return commands[i].run(argc, argv);
    }
    return -1;
}

/* An option that names a file which is an operand too: what it makes would be written over what is read. */
static int check_operands(const struct options *o, int argc, char **argv)
{
    struct stat file, operand;

    for (const struct options_row *r = o->rows; r && r->kind != OPTIONS_END; r++) {
        if (r->kind != OPTIONS_TEXT || !r->given || stat(*r->to.text, &file) || !S_ISREG(file.st_mode))
            continue;
        for (int i = optind; i < argc; i++)
            if (!stat(argv[i], &operand) && operand.st_dev == file.st_dev && operand.st_ino == file.st_ino)
                return usage_error("--%s %s: that is the file %s itself; name another", r->name, *r->to.text,
                                   argv[i]);
    }
    return EXIT_OK;
}

int command_line(struct options *o, int argc, char **argv)
{
    struct error e = {0};
    int r;

    if (!o->summary)
        o->summary = summary;
    r = options_parse(o, argc, argv, &e);
    return r < 0 ? usage_error("%s", e.text) : r > 0 ? -r : check_operands(o, argc, argv);
}

int command_group(struct options *o, int argc, char **argv)
{
    struct error e = {0};

    if (argc > 1 && *argv[1] != '-' && strcmp(argv[1], "help") != 0)
        return usage_error("no command '%s'", argv[1]);
    if (!o->summary)
        o->summary = summary;
    if (!o->name)
        o->name = running;
    if (argc < 2 || !strcmp(argv[1], "help"))
        options_print(o, argc < 2 ? stderr : stdout, NULL);
    else if (options_parse(o, argc, argv, &e) < 0)
        return usage_error("%s", e.text);
    return argc < 2 ? EXIT_USAGE : EXIT_OK;
}

int usage_error(const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "%s: ", running);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "; `%s --help` says more\n", running);
    return EXIT_USAGE;
}

int command_fail(enum exit_code code, const struct error *e)
{
    fprintf(stderr, "%s: %s\n", running, e->text);
    return code;
}

int command_end(int code)
{
    int r = fflush(stdout);

    if (!r && !ferror(stdout))
        return code;
    fprintf(stderr, "%s: standard output could not be written%s%s\n", running, r ? ": " : "",
            r ? strerror(errno) : "");
    return code ? code : EXIT_ENV;
}
