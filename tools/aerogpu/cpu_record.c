/* SPDX-License-Identifier: MIT */
/* cpu_record.c: what `aerogpu record` does for the processors, and `aerogpu watch`: the same live. */
#include "commands.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "cpu/capture/record.h"
#include "cpu/report/watch.h"
#include "record.h"

static atomic_int stop;

static void on_signal(int sig)
{
    atomic_store(&stop, sig);
}

/* What ends a recording or the live view in order; whatever else kills them, the guard cleans up. */
static void catch_signals(void)
{
    const struct sigaction sa = {.sa_handler = on_signal};

    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
}

int record_cpu(const struct record_options *o, char *const *program)
{
    struct cpu_record_run run = {
        .path = o->output ? o->output : "aerogpu.cputrace",
        .stop = &stop,
        .duration_ns = o->duration_ns,
        .params = {.buffer_kb = o->buffer_kb, .sched = o->sched, .timers = o->timers},
        .command = *program ? program : NULL};
    struct error e = {0};
    int r;

    catch_signals();
    if (!run.command && !run.duration_ns && isatty(STDERR_FILENO))
        utf8_print(stderr, "recording to %s; Ctrl-C ends it\n", run.path);
    r = cpu_record_run(&run, &e);
    if (r)
        return command_fail(EXIT_ENV, &e);
    utf8_print(stdout, "%s: %llu events, %.1f MB", run.path, (unsigned long long)run.events,
               (double)run.bytes / 1e6);
    printf(run.lost ? ", %llu events LOST\n" : ", none lost\n", (unsigned long long)run.lost);
    if (run.blind_cpus)
        utf8_print(stdout, "the idle trace of %u CPU%s is incomplete; `aerogpu report %s` says which\n",
                   run.blind_cpus, run.blind_cpus == 1 ? "" : "s", run.path);
    if (run.command && WIFEXITED(run.command_status) && WEXITSTATUS(run.command_status))
        utf8_print(stdout, "%s ended with status %d\n", run.command[0], WEXITSTATUS(run.command_status));
    else if (run.command && WIFSIGNALED(run.command_status))
        utf8_print(stdout, "%s was ended by signal %d (%s)\n", run.command[0], WTERMSIG(run.command_status),
                   strsignal(WTERMSIG(run.command_status)));
    return run.command && run.command_status ? EXIT_FAILED : EXIT_OK;
}

static int watch_loop(struct cpu_watch *w, uint64_t interval_ns, uint64_t frames, struct error *e)
{
    const bool tty = isatty(STDOUT_FILENO);
    struct strbuf frame = {0};
    int r = 0;

    for (uint64_t i = 0; !r && (!frames || i < frames) && !atomic_load(&stop); i++) {
        struct timespec ts = {(time_t)(interval_ns / NSEC_PER_SEC), (long)(interval_ns % NSEC_PER_SEC)};
        nanosleep(&ts, NULL);
        if (atomic_load(&stop))
            break;
        strbuf_clear(&frame);
        r = cpu_watch_frame(w, &frame, e);
        if (!r)
            printf("%s%s%s", tty ? "\033[H\033[J" : "", strbuf_str(&frame), tty ? "" : "\n");
        fflush(stdout);
    }
    strbuf_finish(&frame);
    return r;
}

int cmd_watch(int argc, char **argv)
{
    uint64_t interval_ns = NSEC_PER_SEC, frames = 0;
    bool no_timers = false;
    struct options_row rows[] = {
        OPT_TIME("interval", 'i', &interval_ns, NSEC_PER_SEC, 1000000, "SECONDS", "between two frames (1)"),
        OPT_U64("frames", 'n', &frames, 1, UINT32_MAX, "FRAMES",
                "stop after so many; else go on until Ctrl-C"),
        OPT_FLAG("no-timers", 0, &no_timers, "without timer interrupts: lighter, but no lateness"), OPT_END};
    struct cpu_watch *w;
    struct error e = {0};
    int r = command_line(
        &(struct options){
            .rows = rows,
            .about =
                "Shows what every CPU does, live: idle state and for how long, load, interrupts, IPIs that wait for an answer, how late timers fire. Needs root. A CPU whose idle states the trace does not show is said to be so after a few frames.",
            .exits = {[EXIT_OK] = "done", [EXIT_ENV] = "no root or no tracefs"},
            .see = "aerogpu-record(1), aerogpu-report(1), docs/cpu.md"},
        argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    catch_signals();
    r = cpu_watch_create(&w, &(struct cpu_record_params){.timers = !no_timers}, &e);
    if (r)
        return command_fail(EXIT_ENV, &e);
    r = watch_loop(w, interval_ns, frames, &e);
    cpu_watch_destroy(w);
    return r ? command_fail(EXIT_ENV, &e) : EXIT_OK;
}
