/* SPDX-License-Identifier: MIT */
/* Recording to a file: pages are gathered per CPU into blocks, counters are sampled, names and coverage are
 * added at the end from the file itself. */
#include "cpu/capture/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sched/boot_clock.h"
#include "base/log.h"
#include "base/file/out.h"
#include "base/program.h"
#include "cpu/model/family.h"
#include "cpu/capture/file.h"
#include "cpu/capture/names.h"
#include "cpu/capture/tasks.h"
#include "cpu/model/trace.h"

#define FIRST_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO */
#define PAGES_PER_BLOCK 64
#define DRAIN_NS        (50 * NSEC_PER_MSEC)
#define SAMPLE_NS       (100 * NSEC_PER_MSEC)
#define LOOK_NS         (3 * NSEC_PER_MSEC)   /* of each sample: what the threads wait for */
#define FLUSH_NS        (250 * NSEC_PER_MSEC) /* a kill -9 loses at most this much */

struct gather {
    struct cpu_recorder *rec;
    struct blocks_writer *writer;
    uint32_t page_size;
    uint32_t num_blocks; /* the recorder forgets how many CPUs there were when it closes */
    uint8_t **block;     /* per CPU */
    uint32_t *pages;
    uint64_t total_pages;
    struct cpu_tasks tasks;
    bool looks; /* at what the threads of /proc wait for */
};

static void flush_cpu(struct gather *g, uint16_t cpu)
{
    if (!g->pages[cpu])
        return;
    cpu_writer_pages(g->writer, cpu, cpu_page_time(g->block[cpu]), g->block[cpu],
                     (size_t)g->pages[cpu] * g->page_size);
    g->pages[cpu] = 0;
}

static void on_page(void *ctx, uint16_t cpu, uint8_t *page)
{
    struct gather *g = ctx;

    memcpy(g->block[cpu] + (size_t)g->pages[cpu] * g->page_size, page, g->page_size);
    g->total_pages++;
    if (++g->pages[cpu] == PAGES_PER_BLOCK)
        flush_cpu(g, cpu);
}

static void flush_all(struct gather *g)
{
    for (uint32_t i = 0; i < g->rec->fs.num_cpus; i++)
        flush_cpu(g, (uint16_t)i);
}

static uint64_t realtime_offset(void)
{
    const uint64_t now = boot_clock_now();
    struct timespec r;

    clock_gettime(CLOCK_REALTIME, &r);
    return (uint64_t)r.tv_sec * NSEC_PER_SEC + (uint64_t)r.tv_nsec - now;
}

/* In a PID namespace of its own /proc has other numbers for threads than the trace: what it says would be said of others. */
static bool in_own_namespace(void)
{
    struct stat st;

    return !stat("/proc/self/ns/pid", &st) && st.st_ino != FIRST_NAMESPACE;
}

static json_t *meta(const struct cpu_recorder *rec)
{
    const int64_t offset = boot_clock_offset();
    struct utsname u;
    char system[256], boot[40];

    uname(&u);
    boot_id(boot);
    snprintf(system, sizeof(system), "%.40s %.60s %.20s", u.sysname, u.release, u.machine);
    return json_pack(
        "{s:s, s:s, s:o, s:s, s:i, s:i, s:I, s:I, s:b, s:b, s:b, s:i}", "system", system, "boot_id", boot,
        "clock_offset_ns", offset == BOOT_CLOCK_UNKNOWN ? json_null() : json_integer((json_int_t)offset),
        "clock", "mono", "cpus", (int)rec->fs.num_cpus, "page_size", (int)rec->rules->page_size,
        "realtime_offset_ns", (json_int_t)realtime_offset(), "recorder_pid", (json_int_t)getpid(), "sched",
        rec->params.sched, "timers", rec->params.timers, "pid_namespace", in_own_namespace(), "buffer_kb",
        (int)(rec->params.buffer_kb ? rec->params.buffer_kb : 8192));
}

static void sample(struct gather *g, struct cpu_snapshot *ticks)
{
    const uint64_t now = boot_clock_now();
    json_t *steal = json_array(), *tasks;

    cpu_snapshot_ticks(ticks, "/proc");
    for (uint32_t i = 0; i < ticks->num_cpus; i++)
        json_array_append_new(steal, json_integer((json_int_t)ticks->cpus[i].steal_ticks));
    tasks = g->looks ? cpu_tasks_look(&g->tasks, LOOK_NS) : json_null();
    cpu_writer_json(g->writer, CPU_BLOCK_SAMPLE, now,
                    json_pack("{s:I, s:o, s:o, s:o, s:I}", "ns", (json_int_t)now, "steal_ticks", steal,
                              "pressure_us", cpu_tasks_pressure(), "tasks", tasks, "looked_until_ns",
                              (json_int_t)boot_clock_now()));
}

/* Until the time is up, the command has ended or the user stops it. */
static int record_loop(struct cpu_record_run *run, struct gather *g, struct cpu_snapshot *ticks,
                       struct error *e)
{
    struct clock clock;
    uint64_t start, now, next_sample, next_flush;
    const int priority = getpriority(PRIO_PROCESS, 0);
    pid_t child = 0;

    clock_init_live(&clock);
    start = clock_now(&clock);
    next_sample = start;
    next_flush = start + FLUSH_NS;
    run->command_status = 0;
    if (run->command && (child = program_start(run->command, NULL, NULL)) < 0)
        return error_set(e, -EIO, "%s: %s", run->command[0], strerror(-(int)child));
    setpriority(PRIO_PROCESS, 0,
                -15); /* this thread, where it may: on a busy machine there is the most to see */
    for (;;) {
        struct timespec pause = {0, DRAIN_NS};
        cpu_recorder_drain(g->rec, on_page, g);
        now = clock_now(&clock);
        if (now >= next_sample) {
            sample(g, ticks);
            next_sample = now + SAMPLE_NS;
        }
        if (now >= next_flush) {
            flush_all(g);
            next_flush = now + FLUSH_NS;
        }
        if (blocks_writer_failed(g->writer, NULL))
            break; /* what is written stays; nothing more will be */
        if (child > 0 && waitpid(child, &run->command_status, WNOHANG) == child) {
            child = 0;
            break;
        }
        if ((run->duration_ns && now - start >= run->duration_ns) || (run->stop && atomic_load(run->stop)))
            break;
        if (run->duration_ns && start + run->duration_ns - now < DRAIN_NS)
            pause.tv_nsec = (long)(start + run->duration_ns - now);
        nanosleep(&pause, NULL);
    }
    if (child > 0) {
        kill(child, SIGTERM);
        waitpid(child, &run->command_status, 0);
    }
    setpriority(PRIO_PROCESS, 0, priority);
    return 0;
}

/* Reads the file back: what was recorded is counted where it will be read from. */
static int finish_file(struct cpu_record_run *run, struct gather *g, json_t *losses,
                       const char *saved_cmdlines, struct error *e)
{
    struct cpu_names *names = cpu_names_create();
    FILE *kallsyms;
    struct cpu_coverage cov = {0};
    struct cpu_source *source;
    const struct cpu_event *ev;
    struct cpu_trace t;
    int r, n;

    r = cpu_trace_open(&t, run->path, e);
    if (r)
        goto out_names;
    r = cpu_coverage_init(&cov, &g->rec->before, &g->rec->after, g->rec->records_counter);
    if (!r)
        r = cpu_trace_rewind(&t, 0, UINT64_MAX, &source, e);
    if (r || !names) {
        r = error_set(e, r ? r : -ENOMEM, "the recording cannot be read back");
        goto out;
    }
    while ((n = source->next(source, &ev)) > 0) {
        run->events += (uint64_t)n;
        for (int i = 0; i < n; i++) {
            cpu_coverage_event(&cov, &ev[i]);
            cpu_names_event(names, &ev[i]);
        }
    }
    cpu_coverage_judge(&cov);
    run->blind_cpus = 0;
    for (uint32_t i = 0; i < cov.num_cpus; i++)
        run->blind_cpus += cov.cpus[i].blind;
    kallsyms = fopen("/proc/kallsyms", "re");
    cpu_writer_json(g->writer, CPU_BLOCK_NAMES, 0,
                    cpu_names_resolve(names, kallsyms, saved_cmdlines, !in_own_namespace()));
    if (kallsyms)
        fclose(kallsyms);
    r = cpu_writer_json(g->writer, CPU_BLOCK_END, 0,
                        json_pack("{s:I, s:I, s:O, s:o}", "events", (json_int_t)run->events, "lost",
                                  (json_int_t)run->lost, "cpus", losses, "coverage",
                                  cpu_coverage_to_json(&cov)));
out:
    cpu_trace_close(&t);
    cpu_coverage_finish(&cov);
out_names:
    cpu_names_destroy(names);
    return r;
}

static int gather_init(struct gather *g)
{
    uint32_t n = g->rec->fs.num_cpus;

    g->page_size = g->rec->rules->page_size;
    g->num_blocks = n;
    g->block = calloc(n, sizeof(*g->block));
    g->pages = calloc(n, sizeof(*g->pages));
    for (uint32_t i = 0; g->block && g->pages && i < n; i++) {
        g->block[i] = malloc((size_t)PAGES_PER_BLOCK * g->page_size);
        if (!g->block[i])
            return -ENOMEM;
    }
    return g->block && g->pages ? 0 : -ENOMEM;
}

static void gather_finish(struct gather *g)
{
    for (uint32_t i = 0; g->block && i < g->num_blocks; i++)
        free(g->block[i]);
    free(g->block);
    free(g->pages);
}

static void write_before(struct gather *g)
{
    json_t *processes = json_null(), *tasks = g->looks ? cpu_family_tasks("/proc", &processes) : json_null();

    cpu_writer_json(g->writer, CPU_BLOCK_SNAPSHOT, g->rec->before.ns,
                    json_pack("{s:s, s:o, s:o, s:o}", "when", "before", "snapshot",
                              cpu_snapshot_to_json(&g->rec->before), "tasks", tasks, "processes", processes));
}

int cpu_record_run(struct cpu_record_run *run, struct error *e)
{
    struct gather g = {0};
    struct cpu_snapshot ticks = {0};
    struct strbuf saved = {0};
    json_t *losses = NULL;
    int no_command = 0, r = cpu_recorder_create(&g.rec, &run->params, e);

    if (r)
        return r;
    if (g.rec->num_refused)
        log_warn("cpu", "%u events are not recorded: %s", g.rec->num_refused, g.rec->error.text);
    g.looks = run->params.sched && !in_own_namespace();
    if (run->params.sched && !g.looks)
        log_warn(
            "cpu",
            "in a PID namespace of its own the threads of /proc are not those of the trace: what they wait for is "
            "not recorded, and no verdict rests on them");
    r = gather_init(&g);
    if (r) {
        error_set(e, r, "no memory for the blocks of %u CPUs", g.rec->fs.num_cpus);
        goto out;
    }
    r = cpu_writer_create(&g.writer, run->path, e);
    if (r)
        goto out;
    cpu_writer_json(g.writer, CPU_BLOCK_META, 0, meta(g.rec));
    cpu_writer_json(g.writer, CPU_BLOCK_FORMATS, 0, json_incref(g.rec->formats));
    r = cpu_recorder_start(g.rec, e);
    if (!r)
        r = cpu_snapshot_take(&ticks, "/sys/devices/system/cpu", "/proc", e);
    if (r)
        goto out;
    write_before(&g);
    if (run->recording)
        atomic_store(run->recording, 1);
    no_command = record_loop(run, &g, &ticks, e);
    r = cpu_recorder_stop(g.rec, e);
    r = no_command ? no_command : r;
    if (r)
        goto out;
    cpu_recorder_drain(g.rec, on_page, &g);
    flush_all(&g);
    cpu_writer_json(
        g.writer, CPU_BLOCK_SNAPSHOT, g.rec->after.ns,
        json_pack("{s:s, s:o}", "when", "after", "snapshot", cpu_snapshot_to_json(&g.rec->after)));
    losses = cpu_recorder_losses(g.rec, &run->lost);
    cpu_tracefs_read(&(struct cpu_tracefs){.dir = g.rec->fs.root}, "saved_cmdlines", &saved);
    cpu_tracefs_close(&g.rec->fs);
    g.rec->fs.name[0] = '\0';
    run->pages = g.total_pages;
    r = blocks_writer_failed(g.writer, NULL); /* said below, with the name of the file */
    if (!r)
        r = finish_file(run, &g, losses, strbuf_str(&saved), e);
out:
    if (g.writer) {
        struct error why = {0};

        run->bytes = blocks_writer_size(g.writer);
        if (blocks_writer_finish(g.writer, 0, &why)) {
            r = error_set(e, why.code, "%s%s", why.text,
                          g.total_pages ? "; what was recorded until then is kept" : "");
            no_command |= !g.total_pages;
        }
        if (no_command)
            out_file_discard(run->path);
    }
    json_decref(losses);
    strbuf_finish(&saved);
    cpu_snapshot_finish(&ticks);
    gather_finish(&g);
    cpu_recorder_destroy(g.rec);
    return r;
}
