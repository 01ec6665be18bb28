/* SPDX-License-Identifier: MIT */
/* aerogpu record: runs a program and records it, or what the processors do. What it records shows by the program (record_see),
 * unless --what says it.
 *
 * A recording of AeroGPU's device is made by the program itself, which brings the machine up and finds the file's name in the
 * environment (trace/attach.h): this command puts it there. */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/out.h"
#include "base/program.h"
#include "record.h"
#include "record/dirty/dirty.h"

_Static_assert(DIRTY_AUTO == 0 && DIRTY_KERNEL == 1 && DIRTY_HASH == 2, "the words of --memory");

static struct record_options options = {.last_frame = UINT32_MAX, .hash_every = 1};
static unsigned what;
/* What each group of rows is for. */
static const struct {
    enum record_what what;
    const char *name;
} groups[] = {{RECORD_D3D12, "Direct3D 12"}, {RECORD_CPU, "processors"}};
static struct options_row rows[] = {
    OPT_TEXT(
        "output", 'o', &options.output, "FILE",
        "the recording, created or replaced (PROGRAM.d3d12trace, PROGRAM.aerogputrace, aerogpu.cputrace; a command of aerogpu needs one)"),
    OPT_CHOICE(
        "what", 0, &what, "d3d12|device|cpu",
        "what to record, where the program does not show it: the calls of Direct3D 12, the submissions of AeroGPU's device, or what every CPU does"),
    OPT_GROUP("Direct3D 12, of Linux programs over libvkd3d and of Windows programs under Wine:"),
    OPT_RANGE32(
        "frames", 0, &options.first_frame, &options.last_frame, "A-B",
        "keep these only, behind what makes them play on their own; the frames before are kept in FILE.whole until the program ends, then played once"),
    OPT_U32("hash-every", 0, &options.hash_every, 0, UINT32_MAX, "N",
            "hash the picture of every Nth frame (1; 0: none), for `aerogpu play --validate`"),
    OPT_CHOICE("memory", 0, &options.memory, "auto|kernel|hash",
               "how writes into mapped memory are found (auto)"),
    OPT_GROUP("processors (--what cpu), as root:"),
    OPT_TIME("duration", 'd', &options.duration_ns, NSEC_PER_SEC, 1000000, "SECONDS", "stop after so long"),
    OPT_U32("buffer", 'b', &options.buffer_kb, 16, 4u << 20, "KIB",
            "kernel buffer for each CPU (8192); take more if events are lost"),
    OPT_FLAG("sched", 0, &options.sched,
             "thread switches and wake-ups too: who could run and did not; verdicts need it"),
    OPT_FLAG("timers", 0, &options.timers,
             "timer interrupts and high-resolution timers too: lateness, complete wake-up causes"),
    OPT_END};

static int parse(int argc, char **argv)
{
    return command_line(
        &(struct options){
            .rows = rows,
            .about =
                "Runs PROGRAM and records it. What it speaks shows by what it is linked with or names: Direct3D 12 calls, of all threads and devices; or the submissions of AeroGPU's device with the memory that they read, if it is a program that brings a live machine up, or a command of aerogpu such as play.\n\n"
                "With --what cpu it records what every CPU does: idle states, inter-processor interrupts, queued calls, interrupts, fences; until PROGRAM ends, after SECONDS, or on Ctrl-C, whichever comes first. It uses a tracing instance of its own: the system's tracer is not touched, and nothing is left behind, also after kill -9 (the file is then readable up to a quarter of a second before). The recording is checked against the kernel's own counters at the end. A CPU whose idle states the trace does not show is named, and never used for a conclusion.",
            .operands = "[-- PROGRAM [ARGUMENT...]]",
            .max = -1,
            .stops = true,
            .notes =
                "A recording of AeroGPU's device begins with the device and ends with it, or with the first ring reset behind its first submission. A program that is killed leaves a file without an index, which `aerogpu show` and `aerogpu play --salvage` read. AEROGPU_RECORD=FILE in the environment does the same.\n\n"
                "The exit code is the program's, 128 and the signal's number if one ended it; with --what cpu 1 if it failed.",
            .exits = {[EXIT_OK] = "recorded",
                      [EXIT_INPUT] =
                          "PROGRAM has no frame A of --frames; what was recorded stays in FILE.whole",
                      [EXIT_ENV] =
                          "PROGRAM cannot be run or recorded, FILE cannot be written, no root or no tracefs"},
            .examples = "aerogpu record -- vkd3d-gears\n"
                        "aerogpu record -o game.d3d12trace --frames 100-109 -- wine game.exe\n"
                        "aerogpu record -o copy.aerogputrace play frame.aerogputrace\n"
                        "aerogpu record --what cpu -d 5\n"
                        "aerogpu record --what cpu --sched --timers -o hang.cputrace -- ./my-game\n",
            .see = "aerogpu-play(1), aerogpu-show(1), aerogpu-report(1), docs/d3d12.md, docs/cpu.md"},
        argc, argv);
}

/* Options that are not for what is recorded are refused by name. */
static int check_given(enum record_what of)
{
    int group = -1;

    for (const struct options_row *r = rows; r->kind; r++) {
        group += r->kind == OPTIONS_GROUP;
        if (r->kind != OPTIONS_GROUP && group >= 0 && r->given && groups[group].what != of)
            return usage_error("--%s is for %s, which is not what is recorded", r->name, groups[group].name);
    }
    return EXIT_OK;
}

/* Whoever runs with AEROGPU_RECORD records itself; here it is seen whether it did. `before` is of the file as it was. */
static void check_recorded(const struct stat *before, const char *who)
{
    struct stat after;

    if (stat(options.output, &after) ||
        (after.st_ino == before->st_ino && after.st_mtim.tv_sec == before->st_mtim.tv_sec &&
         after.st_mtim.tv_nsec == before->st_mtim.tv_nsec))
        fprintf(stderr, "aerogpu record: nothing was recorded: the %s brought no live machine up\n", who);
}

static int run_program(char **program, const struct stat *before)
{
    struct error e = {0};
    int status = 0;
    pid_t pid;

    pid = program_start(program, NULL, NULL);
    if (pid < 0) {
        error_set(&e, -EIO, "%s: %s", program[0], strerror(-(int)pid));
        return command_error(&e);
    }
    signal(SIGINT, SIG_IGN); /* from a terminal the program gets them as well */
    signal(SIGQUIT, SIG_IGN);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    check_recorded(before, "program");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int record_device(char **program)
{
    /* Said here, before anything runs; the file is made anew by the recorder. */
    struct error e = {0};
    struct stat before = {0};
    int n = 0, code;

    if (out_file_check(options.output, &e))
        return command_error(&e);
    if (setenv("AEROGPU_RECORD", options.output, 1)) {
        error_set(&e, -ENOMEM, "no memory");
        return command_fail(EXIT_ENV, &e);
    }
    while (program[n])
        n++;
    stat(options.output, &before);
    code = command_run_top(n, program);
    if (code < 0)
        return run_program(program, &before);
    if (code == EXIT_OK)
        check_recorded(&before, "command");
    return code;
}

/* PROGRAM.d3d12trace, in this folder. */
static void name_output(const char *program, const char *suffix)
{
    static char name[256];
    const char *slash = strrchr(program, '/');

    snprintf(name, sizeof(name), "%.200s%s", slash ? slash + 1 : program, suffix);
    options.output = name;
}

int cmd_record(int argc, char **argv)
{
    const struct options table = {.rows = rows};
    struct error e = {0};
    enum record_what of;
    int code = parse(argc, argv);
    char **program = argv + optind;

    if (code)
        return code < 0 ? EXIT_OK : code;
    of = (enum record_what)what;
    if (*program && !strcmp(*program, "record"))
        return usage_error("a recording is not recorded");
    if (!*program && !(options_find(&table, "what")->given && of == RECORD_CPU))
        return usage_error("give a program to run; --what cpu needs none");
    if (!options_find(&table, "what")->given) {
        if (command_is_one(*program) && !options.output)
            return usage_error("-o FILE is needed");
        if (command_is_one(*program))
            of = RECORD_DEVICE;
        else if (record_see(program, &of, &e))
            return command_fail(EXIT_ENV, &e);
    }
    code = check_given(of);
    if (code)
        return code;
    if (!options.output && of != RECORD_CPU)
        name_output(*program, of == RECORD_D3D12 ? ".d3d12trace" : ".aerogputrace");
    return of == RECORD_D3D12 ? record_d3d12(&options, program)
           : of == RECORD_CPU ? record_cpu(&options, program)
                              : record_device(program);
}
