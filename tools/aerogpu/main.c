/* aerogpu: one command, many subcommands (commands.h). */
#include "commands.h"

#include <stdio.h>
#include <string.h>

static const struct options_command commands[] = {
#define ROW(name, summary) {#name, summary, cmd_##name},
    AEROGPU_COMMANDS(ROW)
#undef ROW
};

enum { NUM_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void usage(FILE *out)
{
    fprintf(out, "usage: aerogpu COMMAND [OPTIONS]\n\n"
                 "A GPU you can crash on purpose, with a black box that tells you why.\n\ncommands:\n");
    for (int i = 0; i < NUM_COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n`aerogpu COMMAND --help` teaches one command; `man aerogpu` has all of them.\n"
                 "exit codes: 0 done, 1 the work failed, 2 wrong usage, 3 bad input, 4 this machine lacks "
                 "something\n");
}

int cmd_version(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--help")) {
        printf("usage: aerogpu version\n\nPrints the version and the ABI it speaks.\n");
        return EXIT_OK;
    }
    if (argc > 1)
        return usage_error("it takes no '%s'", argv[1]);
    printf("aerogpu %s, AeroGPU ABI 1.4\n", AEROGPU_VERSION);
    return EXIT_OK;
}

int command_run_top(int argc, char **argv)
{
    return command_run("aerogpu", commands, NUM_COMMANDS, argc, argv);
}

static int run(int argc, char **argv)
{
    int code;

    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return EXIT_OK;
    }
    if (!strcmp(argv[1], "--version"))
        return cmd_version(argc - 1, argv + 1);
    code = command_run_top(argc - 1, argv + 1);
    return code < 0 ? usage_error("no command '%s'", argv[1]) : code;
}

int main(int argc, char **argv)
{
    return command_end(run(argc, argv));
}
