/* SPDX-License-Identifier: MIT */
/* commands.h: the commands of `aerogpu`. One row here and one function each: cmd_NAME.c has it, or file_kinds.c for
 * those that work on files of several kinds.
 *
 * A command gets argv with argv[0] = its own name and returns the exit code (base/options.h).
 *
 * They are in a program of their own, in whose place `aerogpu` runs (main.c). `run` stands before other people's command lines, and
 * costs them its start: `aerogpu` has it itself.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/options.h"

#define COMMANDS_RUN "run a program on any Vulkan driver, and say why its GPU crashed"

/* G(heading) begins a group of `aerogpu --help`. */
#define AEROGPU_COMMANDS(C, G)                                                                               \
    G("record, play and look into files; each looks at the file and knows what it is")                       \
    C(record, "run a program and record it, or what the processors do")                                      \
    C(play, "play a recording, or the last submissions of a crash dump")                                     \
    C(show, "decode a file: every record, call, packet or event")                                            \
    C(info, "say what a file is, what it holds, and which commands it has")                                  \
    C(diff, "print what only one of two recordings has")                                                     \
    C(compare, "play a recording on two implementations, and say where they part")                           \
    C(trim, "cut frames out of a recording, so that they play on their own")                                 \
    G("find out why it crashed, or stood still")                                                             \
    C(report, "say what crashed, from a dump; or what the processors did")                                   \
    C(minimize, "find the smallest recording that still crashes the same way")                               \
    C(dump, "play recordings and make a dump of what crashes")                                               \
    C(crashes, "say what many dumps share")                                                                  \
    C(doctor, "say what is wrong, by the table of symptoms, with the evidence")                              \
    C(watch, "show what the processors do, live")                                                            \
    G("run the whole stack, or a program on a GPU that fails")                                               \
    C(validate, "bring the stack up, validate it, break it, write the record")                               \
    C(serve, "answer the D3DKMT calls of other processes")                                                   \
    C(sim, "run the stack in virtual time with faults, and check what may never happen")                     \
    C(run, COMMANDS_RUN)                                                                                     \
    C(lose, "run a program, take its Vulkan device away, and see whether it survives")                       \
    G("look things up")                                                                                      \
    C(abi, "print the reference of the ABI as Markdown")                                                     \
    C(methods, "list every method of Direct3D 12, and what becomes of calls of it")                          \
    C(version, "print the version and the ABI it speaks")

#define DECLARE_COMMAND(name, summary) int cmd_##name(int argc, char **argv);
#define NO_GROUP(heading)
AEROGPU_COMMANDS(DECLARE_COMMAND, NO_GROUP)
#undef NO_GROUP
#undef DECLARE_COMMAND

/* Runs the command that argv[0] names; `parent` is what stands before it, and argv[0]
 * becomes what one types: "aerogpu play". -1: there is none of that name. */
int command_run(const char *parent, const struct options_command *commands, size_t n, int argc, char **argv);
/* The same with the commands of `aerogpu`. */
int command_run_top(int argc, char **argv);
bool command_is_one(const char *name);

/* Reads the command line by the table. 0: libc's optind is the first operand; -1: help was printed; or EXIT_USAGE, having said
 * what is wrong. */
int command_line(struct options *o, int argc, char **argv);

/* What a command that only has others says: to none of them, to one that it does not have, to --help. Returns the exit code. */
int command_group(struct options *o, int argc, char **argv);

/* Says what is wrong with the command line and where help is. Always EXIT_USAGE. */
int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
enum { MAX_HANG_MS = 3600000 }; /* of --hang: an hour */

/* Prints the complaint behind the command's name. It may hold text from anywhere: names of files, what stands in them. */
void command_say(const char *complaint);
/* The same with an error's sentence; returns `code`, which the command knows. */
int command_fail(enum exit_code code, const struct error *e);
/* The same with the exit code that the error says: a file that was given is bad, an output cannot be written, this machine lacks
 * something; else what was asked for failed. */
int command_error(const struct error *e);
/* The same for a stack that does not come up: the miniport, or this machine. */
int command_stack_error(const struct error *e);

/* A command that ends the process itself passes its exit code through here: what it printed must have arrived. */
int command_end(int code);
