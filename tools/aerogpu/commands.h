/* commands.h: the subcommands of `aerogpu`. One row in main.c's table and one cmd_NAME.c each.
 *
 * A command gets argv with argv[0] = its own name and returns the exit code (base/options.h).
 */
#ifndef AEROGPU_COMMANDS_H_
#define AEROGPU_COMMANDS_H_

#include <stddef.h>
#include <stdint.h>

#include "base/options.h"

#define AEROGPU_COMMANDS(C)                                                                                  \
    C(validate, "bring the stack up, validate it, break it, write the record")                               \
    C(doctor, "say what is wrong, by the table of symptoms, with the evidence")                              \
    C(play, "play recordings through the whole device")                                                      \
    C(record, "record what a program's device executes")                                                     \
    C(show, "decode a recording: every record, submission and packet")                                       \
    C(abi, "print the reference of the ABI as Markdown")                                                     \
    C(cpu, "record and explain what the processors did: idle, interrupts, stalls")                           \
    C(serve, "answer the D3DKMT calls of other processes")                                                   \
    C(sim, "run the stack in virtual time with faults, and check what may never happen")                     \
    C(version, "print the version and the ABI it speaks")                                                    \
    C(dump, "play recordings and make a dump of what crashes")                                               \
    C(replay, "play a dump's last submissions until it crashes again")                                       \
    C(minimize, "find the smallest recording that still crashes the same way")                               \
    C(crashes, "say what many dumps share")                                                                  \
    C(report, "say what crashed, from a dump")                                                               \
    C(d3d12, "record, play and look into Direct3D 12 programs")                                              \
    C(lose, "run a program, take its Vulkan device away, and see whether it survives")

#define DECLARE_COMMAND(name, summary) int cmd_##name(int argc, char **argv);
AEROGPU_COMMANDS(DECLARE_COMMAND)
#undef DECLARE_COMMAND

/* Runs the command that argv[0] names; `parent` is what stands before it, and argv[0]
 * becomes what one types: "aerogpu d3d12 play". -1: there is none of that name. */
int command_run(const char *parent, const struct options_command *commands, size_t n, int argc, char **argv);
/* The same with the commands of `aerogpu`. */
int command_run_top(int argc, char **argv);

/* Reads the command line by the table. 0: libc's optind is the first operand; -1: help was printed; or EXIT_USAGE, having said
 * what is wrong. */
int command_line(struct options *o, int argc, char **argv);

/* What a command that only has others says: to none of them, to one that it does not have, to --help. Returns the exit code. */
int command_group(struct options *o, int argc, char **argv);

/* Says what is wrong with the command line and where help is. Always EXIT_USAGE. */
int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
enum { MAX_HANG_MS = 3600000 }; /* of --hang: an hour */

/* A command that ends the process itself passes its exit code through here: what it printed must have arrived. */
int command_end(int code);

#endif
