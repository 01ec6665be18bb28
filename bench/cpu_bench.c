/* SPDX-License-Identifier: MIT */
/* The processor room: how fast recordings are analysed, how much memory that takes, and what recording costs.
 * Speeds are per second of processor time, so that a busy machine does not count. */
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "cpu/capture/record.h"
#include "cpu/report/report.h"
#include "synth.h"
#include "etl_synth.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)
#define T0 (100 * UINT64_C(1000000000))

static char path[] = "/tmp/aerogpu-bench-XXXXXX";

/* A ping-pong between neighbours, with the events of a real one: each turn queues a call, sends an IPI, wakes
 * the other from idle and goes idle itself. */
static uint64_t ping_pong(struct synth *s, uint32_t cpus, uint64_t turns)
{
    uint64_t events = 0;

    synth_init(s, cpus, 4, T0);
    for (uint64_t i = 0; i < turns; i++) {
        for (uint32_t cpu = 0; cpu < cpus; cpu++) {
            const uint64_t t = T0 + i * 40 * US + (cpu & 1) * 20 * US;
            const uint32_t other = cpu ^ 1;
            if (i) {
                synth_event(s, cpu, t - 6000, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_CALL_SINGLE, 251, 0);
                synth_event(s, cpu, t - 5000, 0, CPU_EV_CSD_EXIT, 0, 0xffffffff81000000, 0x1000 + cpu);
                synth_event(s, cpu, t - 4000, 0, CPU_EV_IRQ_EXIT, CPU_IRQ_CALL_SINGLE, 251, 0);
                synth_wake(s, cpu, t - 3000);
                synth_event(s, cpu, t - 2000, 0, CPU_EV_SWITCH, 0, 0, 100 + cpu);
                events += 5;
            }
            synth_event(s, cpu, t, 100 + (int32_t)cpu, CPU_EV_CSD_QUEUE, other, 0xffffffff81000000,
                        0x1000 + other);
            synth_event(s, cpu, t + 1000, 100 + (int32_t)cpu, CPU_EV_IPI_SEND, other, 0xffffffff81000010,
                        0xffffffff81000000);
            synth_event(s, cpu, t + 2000, 100 + (int32_t)cpu, CPU_EV_SWITCH, 100 + cpu, 1, 0);
            synth_idle(s, cpu, t + 3000, 1 + (uint32_t)(i % 3));
            events += 4;
        }
    }
    return events;
}

struct cursor {
    struct synth *s;
    struct cpu_rules *rules;
    size_t at[64];
    struct cpu_page_stats stats;
    struct cpu_notes notes;
};

static uint32_t fill(void *ctx, uint32_t i, struct cpu_event *ev)
{
    struct cursor *c = ctx;
    const struct synth_cpu *cpu = &c->s->cpus[i];

    if (c->at[i] == cpu->num)
        return 0;
    c->at[i]++;
    return cpu_page_decode(c->rules, cpu->pages + (c->at[i] - 1) * SYNTH_PAGE, (uint16_t)i, ev, &c->stats,
                           &c->notes, 0);
}

/* Pages in memory to a whole analysis: decoding, the merge over CPUs, and everything that the report shows.
 */
static double analyse_pages(struct synth *s, struct cpu_rules *rules)
{
    const struct cpu_analysis_params params = {
        .num_cpus = s->num_cpus, .snapshot = &s->before, .to_ns = UINT64_MAX};
    struct cursor c = {.s = s, .rules = rules};
    const struct cpu_event *ev;
    struct cpu_analysis a;
    struct cpu_merge m;
    uint16_t cpus[64];
    double t = bench_cpu();
    uint64_t events;
    int n;

    for (uint32_t i = 0; i < s->num_cpus; i++)
        cpus[i] = (uint16_t)i;
    if (cpu_analysis_init(&a, &params) ||
        cpu_merge_init(&m, cpus, s->num_cpus, cpu_page_max_events(rules), fill, &c, &c.notes))
        abort();
    while ((n = m.source.next(&m.source, &ev)) > 0)
        cpu_analysis_events(&a, ev, n);
    cpu_analysis_end(&a);
    events = a.events;
    cpu_merge_finish(&m);
    cpu_analysis_finish(&a);
    return (double)events * 1e3 / (bench_cpu() - t);
}

enum { ROUNDS = 9 };

/* Events a second of something, against those that this machine merges at that time. */
static void against_merge(struct bench *b, const char *id, double (*rate)(void *), void *arg, double target,
                          const char *note)
{
    double ours[ROUNDS], reference[ROUNDS], before, after = bench_merge_rate();

    rate(arg);
    for (int i = 0; i < ROUNDS; i++) {
        before = after;
        ours[i] = rate(arg);
        after = bench_merge_rate();
        reference[i] = (before + after) / 2;
    }
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours_each = ours,
                                           .reference_each = reference,
                                           .rounds = ROUNDS,
                                           .unit = "M events/s",
                                           .target = target,
                                           .at_least = 1,
                                           .note = note});
}

struct pages {
    struct synth s;
    struct cpu_rules *rules;
};

static double analyse(void *arg)
{
    struct pages *p = arg;

    return analyse_pages(&p->s, p->rules);
}

static void bench_analyse(struct bench *b)
{
    struct pages p = {.rules = calloc(1, sizeof(*p.rules))};

    synth_rules(p.rules);
    ping_pong(&p.s, 2, 60000);
    against_merge(b, "cpu_analyse", analyse, &p, 0.5, "raw pages of 2 CPUs, whole analysis, against a merge");
    synth_finish(&p.s);
    ping_pong(&p.s, 24, 6000);
    against_merge(b, "cpu_analyse_24", analyse, &p, 0.5, "the same, 24 CPUs");
    synth_finish(&p.s);
    free(p.rules);
}

/* Heap in use while a file is analysed, and the speed with unpacking. */
static double analyse_file(double *heap_mib)
{
    struct cpu_report r;
    struct cpu_trace t;
    struct error e = {0};
    double start, rate;
    size_t before;

    malloc_trim(0);
    before = mallinfo2().uordblks + mallinfo2().hblkhd;
    start = bench_cpu();
    if (cpu_trace_open(&t, path, &e) || cpu_report_init(&r, &t, 0, UINT64_MAX, 0, &e)) {
        fprintf(stderr, "cpu_bench: %s\n", e.text);
        exit(1);
    }
    rate = (double)r.a.events * 1e3 / (bench_cpu() - start);
    *heap_mib = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / 1048576;
    cpu_report_finish(&r);
    cpu_trace_close(&t);
    return rate;
}

static void write_file(uint64_t turns)
{
    struct synth s;

    ping_pong(&s, 2, turns);
    synth_write(&s, path);
    synth_finish(&s);
}

static double file_rate(void *heap_mib)
{
    return analyse_file(heap_mib);
}

static void bench_file(struct bench *b)
{
    double small, large;

    write_file(10000);
    analyse_file(&small);
    write_file(100000);
    against_merge(b, "cpu_report", file_rate, &large, 0.25, "from a compressed file");
    bench_report(b, &(struct bench_figure){.id = "cpu_memory",
                                           .ours = large,
                                           .reference = small,
                                           .unit = "MiB",
                                           .target = 1.1,
                                           .note = "a file against one of a tenth"});
}

/* Power events of 16 processors, and as many that nobody decodes. */
static void make_etl(struct etl_synth *s, bool pack)
{
    etl_synth_init(s, 16, pack);
    for (uint64_t i = 0; i < 20000; i++)
        for (uint32_t cpu = 0; cpu < 16; cpu++) {
            uint8_t p[20] = {(uint8_t)(i % 3)};
            etl_synth_perfinfo(s, cpu, i * 1000 + cpu, 0x1239, p, 16);
            etl_synth_perfinfo(s, cpu, i * 1000 + 400 + cpu, 0x123a, p, 8);
            etl_synth_perfinfo(s, cpu, i * 1000 + 410 + cpu, 0x0f43, p, 20);
            etl_synth_perfinfo(s, cpu, i * 1000 + 500 + cpu, 0x0f2e, p, 16);
        }
    etl_synth_close(s);
}

static double decode_etl(void *arg)
{
    double start = bench_cpu();
    const struct etl_synth *s = arg;
    struct cpu_source *source;
    const struct cpu_event *ev;
    struct etl_file f;
    uint64_t n = 0;
    int k;

    if (etl_open_memory(&f, s->file, s->size, NULL) || etl_rewind(&f, &source, NULL))
        abort();
    while ((k = source->next(source, &ev)) > 0)
        n += (uint64_t)k;
    etl_close(&f);
    return (double)n * 1e3 / (bench_cpu() - start);
}

static void bench_etl(struct bench *b)
{
    struct etl_synth s;

    make_etl(&s, false);
    against_merge(b, "etl_decode", decode_etl, &s, 0.2, "made-up power events, 16 CPUs, merged");
    etl_synth_finish(&s);
    make_etl(&s, true);
    against_merge(b, "etl_decode_xpress", decode_etl, &s, 0.2, "the same, compressed");
    etl_synth_finish(&s);
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* Microseconds of a round trip between CPU 0 and CPU 1 through two pipes: the median of those of half a second. */
static double round_trip(void)
{
    enum { MOST = 1 << 16 };
    static double us[MOST];
    int there[2], back[2];
    size_t n = 0;
    double end;
    pid_t pid;
    char c = 0;

    if (pipe(there) || pipe(back))
        exit(1);
    pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(1);
        close(there[1]);
        while (read(there[0], &c, 1) == 1)
            if (write(back[1], &c, 1) != 1)
                break;
        _exit(0);
    }
    pin(0);
    for (end = bench_now() + 5e8; n < MOST && bench_now() < end; n++) {
        double start = bench_now();

        if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
            break;
        us[n] = (bench_now() - start) / 1e3;
    }
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
    }
    waitpid(pid, NULL, 0);
    return bench_quantile(us, n, 0.5);
}

static double round_trip_recorded(const struct cpu_record_params *params, uint64_t *lost)
{
    static struct {
        atomic_int stop, recording;
        uint64_t lost;
    } * sh;
    double us;
    pid_t pid;

    if (!sh)
        sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    atomic_store(&sh->stop, 0);
    atomic_store(&sh->recording, 0);
    pid = fork();
    if (!pid) {
        struct cpu_record_run run = {.path = path,
                                     .params = *params,
                                     .stop = &sh->stop,
                                     .recording = &sh->recording,
                                     .duration_ns = 5000 * MS};
        struct error e = {0};
        if (cpu_record_run(&run, &e)) {
            fprintf(stderr, "cpu_bench: %s\n", e.text);
            atomic_store(&sh->recording, -1);
            _exit(1);
        }
        sh->lost = run.lost;
        _exit(0);
    }
    while (!atomic_load(&sh->recording))
        usleep(1000);
    us = atomic_load(&sh->recording) > 0 ? round_trip() : 0;
    atomic_store(&sh->stop, 1);
    waitpid(pid, NULL, 0);
    *lost += sh->lost;
    return us;
}

/* A ping-pong between two CPUs with and without a recorder, in turns. */
static void bench_overhead(struct bench *b, const char *id, const char *what,
                           const struct cpu_record_params *p, double target)
{
    double off[ROUNDS], on[ROUNDS];
    uint64_t lost = 0;
    char note[96];

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        bench_not_measured(b, id, "it needs two CPUs");
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        off[i] = round_trip();
        on[i] = round_trip_recorded(p, &lost);
        if (on[i] == 0) {
            bench_not_measured(b, id, "this machine cannot record");
            return;
        }
    }
    snprintf(note, sizeof(note), "%s; %llu events lost", what, (unsigned long long)lost);
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours_each = on,
                                           .reference_each = off,
                                           .rounds = ROUNDS,
                                           .unit = "us",
                                           .target = target,
                                           .note = note});
}

int main(int argc, char **argv)
{
    struct bench b;
    int fd = mkstemp(path);

    bench_init(&b, argc, argv);
    if (fd >= 0)
        close(fd);
    bench_analyse(&b);
    bench_file(&b);
    bench_etl(&b);
    bench_overhead(&b, "cpu_record_overhead", "default events", &(struct cpu_record_params){0}, 1.5);
    bench_overhead(&b, "cpu_record_overhead_all", "with --sched and --timers",
                   &(struct cpu_record_params){.sched = true, .timers = true}, 2);
    unlink(path);
    return bench_finish(&b);
}
