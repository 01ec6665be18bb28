/* aerogpu record: records what a program's device executes. The program brings the machine up and finds the
 * file's name in the environment (trace/attach.h); this command only puts it there and starts the program. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run(int argc, char **argv)
{
    int code = command_run_top(argc, argv);

    if (code >= 0)
        return code;
    execvp(argv[0], argv);
    fprintf(stderr, "aerogpu record: %s: %s\n", argv[0], strerror(errno));
    return errno == ENOENT ? EXIT_USAGE : EXIT_ENV;
}

int cmd_record(int argc, char **argv)
{
    const char *output = NULL;
    int fd,
        r = command_line(
            &(struct options){
                .rows = (struct options_row[]){OPT_TEXT("output", 'o', &output, "OUT",
                                                        "the recording, created or replaced"),
                                               OPT_END},
                .operands = "-o OUT [--] COMMAND [ARGUMENTS...]",
                .min = 1,
                .max = -1,
                .wrong = "give -o OUT and a command to run",
                .stops = true,
                .about =
                    "Runs COMMAND and records every submission that its device executes, with the memory that it read, to OUT (.aerogputrace, container version 2). COMMAND is a command of aerogpu, such as play, or a program that brings a live machine up.\n\n"
                    "The recording begins with the device and ends with it, or with the first ring reset behind its first submission. A program that is killed leaves a file without an index: `aerogpu show` and `aerogpu play --salvage` read it. `AEROGPU_RECORD`=OUT in the environment does the same.",
                .notes = "The exit code is COMMAND's.",
                .examples =
                    "aerogpu record -o copy.aerogputrace play frame.aerogputrace      plays to the same pictures\n"
                    "aerogpu record -o run.aerogputrace -- ./my-test\n",
                .see = "aerogpu-play(1), aerogpu-show(1)"},
            argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    if (!output || !strcmp(argv[optind], "record"))
        return usage_error("give -o OUT and a command to run");
    /* Said here, before anything runs; the file is made anew by the recorder. */
    fd = open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        fprintf(stderr, "aerogpu record: %s: %s\n", output, strerror(errno));
        return EXIT_FAILED;
    }
    close(fd);
    if (setenv("AEROGPU_RECORD", output, 1)) {
        fprintf(stderr, "aerogpu record: no memory\n");
        return EXIT_ENV;
    }
    return run(argc - optind, argv + optind);
}
