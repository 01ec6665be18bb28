/* commands.h: the subcommands of `aerogpu`. One row in main.c's table and one cmd_NAME.c each.
 *
 * A command gets argv with argv[0] = its own name and returns the exit code:
 */
#ifndef AEROGPU_COMMANDS_H_
#define AEROGPU_COMMANDS_H_

enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1, /* it ran, and what it was asked to check or do failed */
    EXIT_USAGE = 2,  /* the command line is wrong */
    EXIT_INPUT = 3,  /* a file or stream it was given is bad */
    EXIT_ENV = 4,    /* this machine lacks something: a Vulkan device, a permission, memory */
};

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

#endif
