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

/* Says what is wrong with the command line and where help is; NULL: getopt has said what is wrong. Always EXIT_USAGE. */
int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* getopt's optarg as a number (decimal, or hexadecimal with 0x) from `min` to `max`. 0, or EXIT_USAGE, having said what is
 * wrong with `option`. */
int option_u64(const char *option, uint64_t min, uint64_t max, uint64_t *out);
int option_u32(const char *option, uint32_t min, uint32_t max, uint32_t *out);

/* The same of "A-B", "A-" (to the end: the type's highest value) and "A". */
int option_range(const char *option, uint64_t *first, uint64_t *last);
int option_range_u32(const char *option, uint32_t *first, uint32_t *last);
enum { MAX_HANG_MS = 3600000 }; /* of --hang: an hour */

/* A command that ends the process itself passes its exit code through here: what it printed must have arrived. */
int command_end(int code);

#endif
