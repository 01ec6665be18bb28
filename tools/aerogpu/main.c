/* SPDX-License-Identifier: MIT */
/* aerogpu: one command, many subcommands (commands.h). What is here is `run`, which stands before other people's command lines and
 * costs them its start; all others are in a program that takes the place of this one. */
#include "commands.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file/part.h"
#include "base/program.h"

static int run_others(char **argv)
{
    static const struct program_params params = {.what = "the program with the commands",
                                                 .built = "tools/aerogpu/aerogpu-commands",
                                                 .installed = "aerogpu-commands",
                                                 .place = PROGRAM_LIBEXEC};
    struct error e = {0};
    char path[PATH_MAX];

    if (!program_find(&params, path, sizeof(path), &e) && !part_check(path, AEROGPU_VERSION, &e)) {
        /* Not by the library's function: RenderDoc's, which is preloaded to capture what is played, takes itself out of what is started. */
        syscall(SYS_execve, path, argv, environ);
        error_set(&e, -errno, "cannot run %s: %s", path, strerror(errno));
    }
    return command_fail(EXIT_ENV, &e);
}

int main(int argc, char **argv)
{
    static const struct options_command run = {"run", COMMANDS_RUN, cmd_run};

    if (argc > 1 && !strcmp(argv[1], run.name))
        return command_end(command_run("aerogpu", &run, 1, argc - 1, argv + 1));
    return run_others(argv);
}
