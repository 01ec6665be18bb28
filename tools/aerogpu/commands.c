/* SPDX-License-Identifier: MIT */
/* aerogpu-commands: all commands of `aerogpu` (commands.h), in whose place it runs (main.c). */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/file/part.h"

PART(AEROGPU_VERSION);

static const struct options_command commands[] = {
#define COMMAND(name, summary) {#name, summary, cmd_##name},
#define GROUP(heading)         {.summary = heading},
    AEROGPU_COMMANDS(COMMAND, GROUP)
#undef GROUP
#undef COMMAND
};

enum { NUM_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static struct options program = {
    .name = "aerogpu",
    .summary = "a virtual GPU that can be crashed on purpose",
    .commands = commands,
    .num_commands = NUM_COMMANDS,
    .about =
        "A GPU you can crash on purpose, with a black box that tells you why. It is complete: PCI function, registers, ring, interrupts, scanout, and an executor process that turns command streams into pixels on Vulkan. It needs no GPU: on Mesa's lavapipe it runs on any processor.\n\n"
        "`aerogpu COMMAND --help` teaches one command.",
    .exits = {"done", "it ran, and what it was asked to do or check failed", "the command line is wrong",
              "a file that it was given is bad; the message names the file offset and the field",
              "this machine lacks something: a Vulkan device, the executor program, memory"},
    .examples =
        "aerogpu record -- vkd3d-gears\naerogpu show --html gears.html vkd3d-gears.d3d12trace\n"
        "aerogpu dump frame.aerogputrace && aerogpu report frame-*.aerogpudump\naerogpu lose -- vkcube\n",
    .see = "docs/design.md, docs/blackbox.md",
};

int cmd_version(int argc, char **argv)
{
    int r = command_line(&(struct options){.about = "Prints the version and the ABI it speaks."}, argc, argv);

    if (!r)
        printf("aerogpu %s, AeroGPU ABI 1.4\n", AEROGPU_VERSION);
    return r < 0 ? EXIT_OK : r;
}

bool command_is_one(const char *name)
{
    for (int i = 0; i < NUM_COMMANDS; i++)
        if (commands[i].run && !strcmp(name, commands[i].name))
            return true;
    return false;
}

int command_run_top(int argc, char **argv)
{
    return command_run("aerogpu", commands, NUM_COMMANDS, argc, argv);
}

static int run(int argc, char **argv)
{
    int code;

    if (argc > 1 && !strcmp(argv[1], "--version"))
        return cmd_version(argc - 1, argv + 1);
    code = argc > 1 ? command_run_top(argc - 1, argv + 1) : -1;
    return code < 0 ? command_group(&program, argc, argv) : code;
}

int main(int argc, char **argv)
{
    return command_end(run(argc, argv));
}
