/* SPDX-License-Identifier: MIT */
/* command.c: what all commands share (commands.h). */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file/out.h"
#include "base/strbuf.h"
#include "base/utf8.h"

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

int command_line(struct options *o, int argc, char **argv)
{
    struct error e = {0};
    int r;

    if (!o->summary)
        o->summary = summary;
    r = options_parse(o, argc, argv, &e);
    for (int i = optind; !r && i < argc; i++)
        if (out_file_spare(argv[i], &e)) /* what is made is not written over what is read */
            return command_error(&e);
    return r < 0 ? usage_error("%s", e.text) : -r;
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
    struct strbuf text = {0};
    va_list ap;

    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    utf8_print(stderr, "%s: %s; `%s --help` says more\n", running, strbuf_str(&text), running);
    strbuf_finish(&text);
    return EXIT_USAGE;
}

void command_say(const char *complaint)
{
    utf8_print(stderr, "%s: %s\n", running, complaint);
}

int command_fail(enum exit_code code, const struct error *e)
{
    command_say(e->text);
    return code;
}

int command_error(const struct error *e)
{
    static const struct {
        int err;
        enum exit_code code;
    } codes[] = {
        {-EEXIST, EXIT_USAGE}, /* an output that is an input, or another output (base/file/out.h) */
        {-EBADMSG, EXIT_INPUT}, {-ENODATA, EXIT_INPUT},
        {-ENOTSUP, EXIT_INPUT}, {-EPROTONOSUPPORT, EXIT_INPUT},
        {-ENOENT, EXIT_INPUT},  {-ENOTDIR, EXIT_INPUT},
        {-EACCES, EXIT_INPUT},  {-EISDIR, EXIT_INPUT},
        {-ELOOP, EXIT_INPUT},   {-ENAMETOOLONG, EXIT_INPUT},
        {-EIO, EXIT_ENV}, /* all that is wrong with an output */
        {-ENOSPC, EXIT_ENV},    {-ENOMEM, EXIT_ENV},
        {-EMFILE, EXIT_ENV},    {-ENFILE, EXIT_ENV},
        {-EBUSY, EXIT_ENV},     {-ENODEV, EXIT_ENV},
    };

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i].err == e->code)
            return command_fail(codes[i].code, e);
    return command_fail(EXIT_FAILED, e);
}

int command_stack_error(const struct error *e)
{
    bool is_driver = e->code == -ENXIO || e->code == -ENOEXEC; /* dxgk_load, dxgk_start */

    return command_fail(is_driver ? EXIT_INPUT : EXIT_ENV, e);
}

int command_end(int code)
{
    int r = fflush(stdout);

    out_file_folders_end();
    if (!r && !ferror(stdout))
        return code;
    utf8_print(stderr, "%s: standard output could not be written%s%s\n", running, r ? ": " : "",
               r ? strerror(errno) : "");
    return code ? code : EXIT_ENV;
}
