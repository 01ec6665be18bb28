/* SPDX-License-Identifier: MIT */
#include "minimize/crash_run.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "play/player.h"

struct run {
    struct crash_run_result *out;
    _Atomic int stop;
};

/* On the watch's thread; the result is read after it has ended. */
static void on_found(void *ctx, const struct watch_crash *crash, const char *path, const struct error *e)
{
    struct run *r = ctx;

    if (r->out->crashed) {
        if (!r->out->others++)
            snprintf(r->out->other, sizeof(r->out->other), "%s", crash->text);
        return;
    }
    r->out->crashed = true;
    r->out->crash = *crash;
    if (path)
        snprintf(r->out->dump, sizeof(r->out->dump), "%s", path);
    r->stop = 1;
}

struct killer {
    struct machine *machine;
    uint32_t after_us;
    int signal;
};

static void *kill_executor(void *arg)
{
    struct killer *k = arg;
    int pid;

    usleep(k->after_us);
    pid = machine_executor_pid(k->machine);
    if (pid > 0)
        kill(pid, k->signal);
    return NULL;
}

static int play(const struct crash_run_params *p, struct run *run, struct trace_reader *reader,
                struct machine *m, struct error *e)
{
    uint32_t hang_ms = p->hang_ms ? p->hang_ms : 2000;
    struct watch_params wp = {.machine = m,
                              .directory = p->directory,
                              .program = p->program,
                              .producer = "aerogpu " AEROGPU_VERSION,
                              .hang_ms = hang_ms,
                              .disassemble = p->disassemble,
                              .max_dumps = 1,
                              .all_errors = p->errors_count,
                              .found = on_found,
                              .ctx = run};
    struct player_params pp = {.machine = m,
                               .only_frame = UINT32_MAX,
                               .stop = &run->stop,
                               /* The watch is sure sooner, also where the executor is hardly let run. */
                               .timeout_ns = (WATCH_HANG_TIMES * hang_ms + 5000ull) * NSEC_PER_MSEC};
    struct player_result result = {0};
    struct watch *w;
    struct player *player;
    int r = watch_create(&w, &wp, e);

    if (r)
        return r;
    r = player_create(&player, &pp, e);
    if (!r) {
        struct killer killer = {m, p->kill_after_us, p->kill_signal ? p->kill_signal : SIGKILL};
        pthread_t thread;
        bool has_thread = p->kill_after_us && !pthread_create(&thread, NULL, kill_executor, &killer);

        player_play(player, reader, &result, &run->out->playing);
        if (has_thread)
            pthread_join(thread, NULL);
        watch_settle(w);
        if (p->dump_at_end && !run->out->crashed && !watch_request(w, p->dump_at_end, e))
            snprintf(run->out->dump, sizeof(run->out->dump), "%s", p->dump_at_end);
        run->out->pause = watch_longest_pause(w);
        run->out->submissions = result.submissions;
        run->out->errors = result.num_errors;
        player_destroy(player);
        player_result_finish(&result);
    }
    watch_destroy(w);
    return r;
}

int crash_run(const struct crash_run_params *p, struct crash_run_result *out, struct error *e)
{
    struct trace_reader_params rp = {.path = p->path, .data = p->data, .size = p->size};
    struct player_memory memory;
    struct trace_reader *reader;
    struct machine *m = NULL;
    struct run run = {.out = out};
    int r;

    memset(out, 0, sizeof(*out));
    r = trace_reader_open(&reader, &rp, e);
    if (r)
        return r;
    r = player_can_play(reader, e);
    if (!r)
        r = player_measure(reader, &memory, e);
    if (!r)
        r = machine_create(&m,
                           &(struct machine_params){.kind = MACHINE_LIVE,
                                                    .ram_size = player_ram_size(&memory),
                                                    .markers = p->markers,
                                                    .addresses = true},
                           e);
    if (!r)
        r = machine_wait_ready(m, 60000, e);
    if (!r)
        r = play(p, &run, reader, m, e);
    INVARIANT(!r || !out->dump[0]);
    INVARIANT(!out->dump[0] || p->directory || p->dump_at_end); /* none that nobody asked for */
    INVARIANT(!out->crashed || out->crash.text[0]);
    machine_destroy(m);
    trace_reader_destroy(reader);
    return r;
}
