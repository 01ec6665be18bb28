/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "cpu/capture/names.h"
#include "cpu/capture/record.h"
#include "cpu/capture/tasks.h"
#include "cpu/model/verdict.h"
#include "cpu/report/report.h"
#include "synth.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)
#define T0 (100 * UINT64_C(1000000000))

static char dir[] = "/tmp/aerogpu-cpu-XXXXXX";
static char path[64];

static int make_dir(void **state)
{
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/t.cputrace", dir);
    return 0;
}

static int drop_dir(void **state)
{
    unlink(path);
    rmdir(dir);
    return 0;
}

/* Two CPUs, 1 ms apart: what the analysis must find is known exactly. */
static void small_trace(struct synth *s)
{
    synth_init(s, 2, 4, T0);
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t t = T0 + i * 10 * MS;
        synth_event(s, 0, t, 55, CPU_EV_WAKEUP, 1, 1, 0);
        synth_idle(s, 0, t + 1 * MS, 2);
        synth_idle(s, 1, t + 3 * MS, 1);
        synth_event(s, 1, t + 5 * MS - 20 * US, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
        synth_wake(s, 1, t + 5 * MS);
        synth_event(s, 1, t + 6 * MS, 77, CPU_EV_IPI_SEND, 0, 0x1000, 0);
        synth_event(s, 0, t + 6 * MS + 30 * US, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_RESCHEDULE, 253, 0);
        synth_wake(s, 0, t + 6 * MS + 40 * US);
    }
}

static void open_report(struct cpu_trace *t, struct cpu_report *r)
{
    struct error e = {0};

    if (cpu_trace_open(t, path, &e) || cpu_report_init(r, t, 0, UINT64_MAX, 0, &e))
        fail_msg("%s", e.text);
}

static void close_report(struct cpu_trace *t, struct cpu_report *r)
{
    cpu_report_finish(r);
    cpu_trace_close(t);
}

TEST(known_traces_give_known_answers)
{
    struct synth s;
    struct cpu_trace t;
    struct cpu_report r;
    const struct cpu_stats *c;

    small_trace(&s);
    synth_write(&s, path);
    open_report(&t, &r);
    c = r.a.cpu;
    assert_int_equal(t.notes.count, 0);
    assert_true(t.has_coverage);
    assert_false(t.coverage.cpus[0].blind);
    assert_int_equal(c[0].enters[2], 100);
    assert_int_equal(c[0].idle_ns[2], 100 * (5 * MS + 40 * US));
    assert_int_equal(c[1].idle_ns[1], 100 * 2 * MS);
    assert_int_equal(c[1].unknown_ns, 3 * MS); /* nothing before its first entry */
    assert_int_equal(c[0].unknown_ns, 0);      /* thread 55 ran at the start */
    assert_int_equal(c[0].wakes[CPU_IRQ_RESCHEDULE], 100);
    assert_int_equal(c[1].wakes[CPU_IRQ_TIMER], 100);
    assert_int_equal(r.a.ipi_sent[CPU_IPI_RESCHEDULE], 100);
    assert_int_equal(r.a.ipi_answered[CPU_IPI_RESCHEDULE], 100);
    assert_int_equal(r.a.ipi_latency[CPU_IPI_RESCHEDULE].max, 30 * US);
    assert_int_equal(r.a.ipi_unanswered, 0);
    assert_int_equal(r.a.pairs[1 * 2 + 0].sent, 100);
    assert_int_equal(c[0].wake_latency[2].n, 100);
    assert_int_equal(c[0].wake_latency[2].max, 30 * US);
    assert_int_equal(r.a.concurrency[2], 100 * 2 * MS);
    assert_int_equal(r.a.concurrency[1], 100 * (3 * MS + 40 * US) - 2 * MS);
    assert_int_equal(r.a.concurrency_unknown_ns, 3 * MS);
    assert_int_equal(r.a.deep_from, 2);
    close_report(&t, &r);
    synth_finish(&s);
}

/* One entry answers all that were sent before it, also those that had no place in the list, and once; an end that is recorded twice
 * ends one interrupt. */
TEST(answers_and_ends_count_once)
{
    const uint32_t sent = CPU_PENDING + 10;
    struct synth s;
    struct cpu_trace t;
    struct cpu_report r;

    synth_init(&s, 2, 3, T0);
    for (uint32_t i = 0; i < sent; i++)
        synth_event(&s, 1, T0 + MS + i, 77, CPU_EV_IPI_SEND, 0, 0x1000, 0);
    for (uint32_t i = 0; i < 3; i++) {
        synth_event(&s, 0, T0 + (2 + i) * MS, 55, CPU_EV_IRQ_ENTRY, CPU_IRQ_RESCHEDULE, 253, 0);
        synth_event(&s, 0, T0 + (2 + i) * MS + 5 * US, 55, CPU_EV_IRQ_ENTRY, CPU_IRQ_CALL_SINGLE, 251, 0);
        synth_event(&s, 0, T0 + (2 + i) * MS + 15 * US, 55, CPU_EV_IRQ_EXIT, CPU_IRQ_CALL_SINGLE, 251, 0);
        synth_event(&s, 0, T0 + (2 + i) * MS + 25 * US, 55, CPU_EV_IRQ_EXIT, CPU_IRQ_CALL_SINGLE, 251, 0);
    }
    synth_event(&s, 1, T0 + 6 * MS, 77, CPU_EV_CSD_QUEUE, 0, 0x1000, 0x2000);
    synth_event(&s, 1, T0 + 6 * MS + 1, 77, CPU_EV_CSD_QUEUE, 0, 0x1000, 0x3000);
    synth_event(&s, 0, T0 + 7 * MS, 55, CPU_EV_CSD_EXIT, 0, 0x1000, 0x2000);
    synth_write(&s, path);
    open_report(&t, &r);
    assert_int_equal(r.a.csd_pending, 1);
    assert_int_equal(r.a.csd_latency.n, 1);
    assert_int_equal(r.a.ipi_sent[CPU_IPI_RESCHEDULE], sent);
    assert_int_equal(r.a.ipi_answered[CPU_IPI_RESCHEDULE], sent);
    assert_int_equal(r.a.ipi_unanswered, 0);
    assert_int_equal(r.a.cpu[0].irq_ns[CPU_IRQ_CALL_SINGLE], 3 * 10 * US);
    close_report(&t, &r);
    synth_finish(&s);
}

/* The kernel counted 500 more entries of CPU 1 than the trace shows. */
TEST(a_blind_cpu_is_said_so_and_not_used)
{
    struct strbuf text = {0};
    struct synth s;
    struct cpu_trace t;
    struct cpu_report r;

    small_trace(&s);
    s.after.cpus[1].states[1].usage = 500;
    synth_write(&s, path);
    open_report(&t, &r);
    assert_true(t.coverage.cpus[1].blind);
    assert_int_equal(t.coverage.cpus[1].expected, 600);
    assert_int_equal(r.a.num_visible, 1);
    assert_int_equal(r.a.concurrency[1], 100 * (5 * MS + 40 * US));
    cpu_report_text(&r, &text);
    assert_non_null(
        strstr(strbuf_str(&text), "CPU 1   IDLE TRACE INCOMPLETE: 500 of 600 idle entries are missing"));
    strbuf_finish(&text);
    close_report(&t, &r);
    synth_finish(&s);
}

/* On two CPUs one runs while the other sleeps, as on any: nobody was stopped. */
TEST(one_of_two_is_no_stop)
{
    struct synth s;
    struct cpu_trace t;
    struct cpu_report r;

    synth_init(&s, 2, 4, T0);
    synth_event(&s, 1, T0, 4, CPU_EV_WAKEUP, 1, 1, 0);
    synth_idle(&s, 1, T0 + MS, 3);
    for (uint64_t i = 0; i < 500; i++)
        synth_event(&s, 0, T0 + i * 10 * MS, 4, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
    synth_write(&s, path);
    open_report(&t, &r);
    assert_int_equal(r.a.num_visible, 2);
    assert_int_equal(r.a.num_incidents, 0);
    close_report(&t, &r);
    synth_finish(&s);
}

/* The kernel says that a CPU woke before it says by what: the first interrupt after it, if one comes before it sleeps again. */
TEST(what_wakes_is_recorded_after_the_waking)
{
    enum { ROUNDS = 50 };
    struct synth s;
    struct cpu_trace t;
    struct cpu_report r;

    synth_init(&s, 1, 4, T0);
    synth_event(&s, 0, T0, 4, CPU_EV_WAKEUP, 1, 1, 0);
    for (uint64_t i = 0; i < 2 * ROUNDS; i++) {
        const uint64_t at = T0 + MS + i * 10 * MS;
        synth_idle(&s, 0, at, 2);
        synth_wake(&s, 0, at + 5 * MS);
        if (i % 2 == 0) {
            synth_event(&s, 0, at + 5 * MS + 2 * US, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_RESCHEDULE, 253, 0);
            synth_event(&s, 0, at + 5 * MS + 9 * US, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
        }
    }
    synth_idle(&s, 0, T0 + 2 * ROUNDS * 10 * MS + MS, 2);
    synth_write(&s, path);
    open_report(&t, &r);
    assert_int_equal(r.a.cpu[0].wakes[CPU_IRQ_RESCHEDULE], ROUNDS);
    assert_int_equal(r.a.cpu[0].wakes[CPU_IRQ_TIMER], 0);
    assert_int_equal(r.a.cpu[0].wakes[CPU_WAKE_NO_IRQ], ROUNDS);
    close_report(&t, &r);
    synth_finish(&s);
}

/* 24 CPUs; 23 go to deep idle within 300 us; CPU 10 sends IPIs to 20 of them and spins for ever. */
TEST(all_but_one_is_found)
{
    struct synth s;
    struct cpu_trace t;
    struct cpu_report r;
    struct error e = {0};
    char *text = NULL;
    size_t size;
    uint32_t waits = 0;
    FILE *f;

    synth_init(&s, 24, 4, T0);
    for (uint32_t i = 0; i < 24; i++)
        synth_event(&s, i, T0 + i, 1000 + (int)i, CPU_EV_WAKEUP, 1, 1, 0);
    for (uint32_t i = 0, n = 0; i < 24; i++)
        if (i != 10)
            synth_idle(&s, i, T0 + 50 * MS + n++ * 300 * US / 22, 3);
    for (uint32_t i = 0, n = 0; i < 24 && n < 20; i++)
        if (i != 10) {
            synth_event(&s, 10, T0 + 60 * MS + n, 4, CPU_EV_IPI_SEND, i, 0x10, 0x20);
            n++;
        }
    for (uint32_t i = 0; i < 100; i++)
        synth_event(&s, 10, T0 + 61 * MS + i * 10 * MS, 4, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
    synth_write(&s, path);
    open_report(&t, &r);
    assert_int_equal(r.a.num_incidents, 1);
    assert_int_equal(r.a.incidents[0].awake, 10);
    assert_int_equal(r.a.incidents[0].silent, 23);
    assert_int_equal(r.a.incidents[0].spread_ns, 300 * US);
    assert_int_equal(r.a.incidents[0].waiting_for, 20);
    assert_true(r.a.incidents[0].at_end);
    assert_int_equal(r.a.ipi_unanswered, 20);
    assert_int_equal(r.a.unanswered_stuck, 20);
    assert_true(r.a.cpu[0].still_idle);
    assert_int_equal(r.a.num_sets, 24); /* the set grows by one CPU at a time, from none */
    f = open_memstream(&text, &size);
    assert_int_equal(cpu_perfetto_write(&t, f, 0, UINT64_MAX, &e), 0);
    fclose(f);
    for (const char *p = text; (p = strstr(p, "\"args\":{\"answered\":false}")); p++)
        waits++;
    assert_int_equal(waits, 20);
    free(text);
    close_report(&t, &r);
    synth_finish(&s);
}

/* Times that differ by almost 2^64 ns: everything ends, and says so. */
TEST(wild_times_end)
{
    struct cpu_analysis a;
    const struct cpu_analysis_params params = {.num_cpus = 1, .to_ns = UINT64_MAX};
    const struct cpu_event ev[] = {{.ns = 1, .kind = CPU_EV_IDLE, .a = 1},
                                   {.ns = UINT64_MAX - 5, .kind = CPU_EV_IDLE, .a = CPU_IDLE_LEFT}};
    uint64_t sum = 0;

    assert_int_equal(cpu_analysis_init(&a, &params), 0);
    cpu_analysis_events(&a, ev, 2);
    cpu_analysis_end(&a);
    for (uint32_t i = 0; i < CPU_BINS; i++)
        sum += a.cpu[0].bins[i].idle_ns;
    assert_int_equal(a.cpu[0].idle_ns[1], UINT64_MAX - 6);
    assert_int_equal(sum, UINT64_MAX - 6);
    cpu_analysis_finish(&a);
}

static uint8_t *slurp(size_t *size)
{
    int fd = open(path, O_RDONLY);
    struct stat st;
    uint8_t *p;

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    p = malloc((size_t)st.st_size);
    assert_int_equal(read(fd, p, (size_t)st.st_size), st.st_size);
    close(fd);
    *size = (size_t)st.st_size;
    return p;
}

/* Cut at any byte: an error that says why, or a report of what is left with a note. */
/* More sets of deeply idle CPUs than there are places, then one that lasts: it is not among the forgotten. */
TEST(the_set_that_lasts_is_kept)
{
    struct synth s;
    struct cpu_trace t;
    struct cpu_report r;
    uint8_t order[CPU_IDLE_SETS];
    uint64_t sum = 0, all;

    synth_init(&s, 9, 4, T0);
    for (uint32_t cpu = 0; cpu < 9; cpu++)
        synth_event(&s, cpu, T0 + cpu, 7, CPU_EV_SWITCH, 7, 1, 100);
    for (uint32_t i = 1; i < 256; i++) { /* a Gray code: one CPU changes at a time, every set comes once */
        const uint32_t gray = i ^ i >> 1, changed = (uint32_t)__builtin_ctz(gray ^ ((i - 1) ^ (i - 1) >> 1));
        if (gray >> changed & 1)
            synth_idle(&s, changed, T0 + i * MS, 3);
        else
            synth_wake(&s, changed, T0 + i * MS);
    }
    for (uint32_t cpu = 0; cpu < 7; cpu++) /* the last one left CPU 7 alone in deep idle */
        synth_idle(&s, cpu, T0 + 256 * MS, 3);
    synth_event(&s, 8, T0 + 900 * MS, 100, CPU_EV_SWITCH, 100, 1, 101);
    synth_write(&s, path);
    open_report(&t, &r);
    assert_int_equal(cpu_report_sets(&r, order), CPU_IDLE_SETS);
    assert_int_equal(r.a.sets[order[0]].mask[0], 0xff);
    assert_int_equal(r.a.sets[order[0]].ns, 644 * MS);
    for (uint32_t i = 0; i < CPU_IDLE_SETS; i++)
        sum += r.a.sets[i].ns;
    all = r.a.end_ns - r.a.begin_ns;
    assert_int_equal(sum + r.a.sets_other_ns + r.a.concurrency_unknown_ns, all);
    close_report(&t, &r);
    synth_finish(&s);
}

/* Every entry is there, and a third of the time asleep is not. */
TEST(a_cpu_whose_sleep_is_missing_is_blind)
{
    for (int k = 0; k < 2; k++) {
        struct synth s;
        struct cpu_trace t;
        struct cpu_report r;

        small_trace(&s);
        s.after.cpus[1].states[1].time_us = k ? 300000 : 200000; /* 200 ms were recorded */
        synth_write(&s, path);
        open_report(&t, &r);
        assert_int_equal(t.coverage.cpus[1].blind, k == 1);
        close_report(&t, &r);
        synth_finish(&s);
    }
}

/* CPU 1 shows its state only after 400 ms: until then no set is known. */
TEST(sets_never_count_unknown_time)
{
    struct synth s;
    struct cpu_trace t;
    struct cpu_report r;
    uint64_t sum = 0;

    synth_init(&s, 2, 4, T0);
    synth_event(&s, 0, T0, 55, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
    for (uint64_t i = 0; i < 100; i++) {
        synth_idle(&s, 0, T0 + i * 10 * MS + MS, 3);
        synth_wake(&s, 0, T0 + i * 10 * MS + 6 * MS);
        if (i >= 40) {
            synth_idle(&s, 1, T0 + i * 10 * MS + 2 * MS, 3);
            synth_wake(&s, 1, T0 + i * 10 * MS + 7 * MS);
        }
    }
    synth_write(&s, path);
    open_report(&t, &r);
    for (uint32_t i = 0; i < r.a.num_sets; i++)
        sum += r.a.sets[i].ns;
    assert_true(r.a.concurrency_unknown_ns >= 400 * MS);
    assert_int_equal(sum + r.a.sets_other_ns + r.a.concurrency_unknown_ns, r.a.end_ns - r.a.begin_ns);
    close_report(&t, &r);
    synth_finish(&s);
}

TEST(files_cut_anywhere_are_read_up_to_there)
{
    struct synth s;
    size_t size, whole = 0;
    uint8_t *bytes;

    small_trace(&s);
    synth_write(&s, path);
    bytes = slurp(&size);
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 13) {
        uint8_t *part = malloc(cut ? cut : 1); /* of its own, so that a sanitizer sees a read past it */
        struct cpu_trace t;
        struct cpu_report r;
        struct error e = {0};
        memcpy(part, bytes, cut);
        if (cpu_trace_open_memory(&t, part, cut, &e)) {
            assert_int_equal(e.code, -EBADMSG);
            assert_true(e.text[0] != '\0');
        } else {
            assert_non_null(strstr(t.file.damage, " at byte "));
            assert_string_equal(t.notes.text[0], t.file.damage);
            assert_int_equal(cpu_report_init(&r, &t, 0, UINT64_MAX, 0, &e), 0);
            whole += r.a.events > 0;
            close_report(&t, &r);
        }
        free(part);
    }
    assert_true(whole > 0);
    free(bytes);
    synth_finish(&s);
}

TEST(damaged_blocks_are_skipped_and_named)
{
    struct rng rng = {3};
    struct synth s;
    size_t size;
    uint8_t *bytes;
    int noted = 0;

    small_trace(&s);
    synth_write(&s, path);
    bytes = slurp(&size);
    for (int i = 0; i < 300; i++) {
        uint8_t *bad = malloc(size);
        struct cpu_trace t;
        struct cpu_report r;
        struct error e = {0};
        memcpy(bad, bytes, size);
        bad[rng_below(&rng, size)] ^= (uint8_t)(1 + rng_below(&rng, 255));
        if (!cpu_trace_open_memory(&t, bad, size, &e)) {
            assert_int_equal(cpu_report_init(&r, &t, 0, UINT64_MAX, 0, &e), 0);
            noted++;
            assert_non_null(strstr(t.file.damage, " at byte "));
            assert_true(t.notes.count > 0);
            close_report(&t, &r);
        } else {
            assert_int_equal(e.code, -EBADMSG);
        }
        free(bad);
    }
    assert_true(noted > 200);
    free(bytes);
    synth_finish(&s);
}

/* Needs root and tracefs; says why if it cannot run. */
static bool can_record(void)
{
    struct cpu_tracefs t;
    struct error e = {0};

    if (cpu_tracefs_open(&t, 16, &e)) {
        print_message("# skipped: %s\n", e.text);
        return false;
    }
    cpu_tracefs_close(&t);
    return true;
}

/* What /proc says, in the forms that it can have. */
TEST(proc_is_read)
{
    static const struct {
        const char *stat;
        char state;
        unsigned flags;
        int threads;
    } stats[] = {
        {"5 (sh) S 1 5 5 0 -1 4194304 9 9 9 9 9 9 9 9 20 0 1 0", 'S', 4194304, 1},
        {"5 (a) S 1) D 1 5 5 0 -1 64 9 9 9 9 9 9 9 9 20 0 12 0", 'D', 64, 12},
        {"5 () R (\n)) t 1 5 5 0 -1 64 9 9 9 9 9 9 9 9 20 0 2 0", 't', 64, 2},
        {"5 (sh) Z", 'Z', 0, 0},
        {"5 (sh", '\0', 0, 0},
        {"5 (sh)", '\0', 0, 0},
        {"", '\0', 0, 0},
    };
    static const struct {
        const char *locks;
        int32_t holder;
    } locks[] = {
        {"1: POSIX  ADVISORY  WRITE 90 00:1a:5 0 EOF\n2: FLOCK  ADVISORY  WRITE 91 00:1a:6 0 EOF\n"
         "2: -> FLOCK  ADVISORY  WRITE 8 00:1a:6 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 7 00:1a:6 0 EOF\n",
         91},
        {"1: OFDLCK ADVISORY  WRITE -1 00:1a:5 0 EOF\n1: -> OFDLCK ADVISORY  WRITE 7 00:1a:5 0 EOF\n", 0},
        {"1: POSIX  ADVISORY  WRITE 90 00:1a:5 0 EOF\n", 0},
        {"1: -> POSIX ADVISORY WRITE 7 00:1a:5 0 EOF\n", 0},
        {"\n", 0},
    };

    for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++) {
        unsigned flags;
        int threads;
        assert_int_equal(cpu_task_state(stats[i].stat, &flags, &threads), stats[i].state);
        assert_int_equal(flags, stats[i].flags);
        assert_int_equal(threads, stats[i].threads);
    }
    for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
        FILE *f = fmemopen((void *)locks[i].locks, strlen(locks[i].locks), "r");
        assert_int_equal(cpu_task_lock_holder(f, 7), locks[i].holder);
        fclose(f);
    }
}

TEST(kernel_addresses_get_names)
{
    struct cpu_names *n = cpu_names_create();
    const struct cpu_event calls[] = {{.kind = CPU_EV_CSD_QUEUE, .tid = 2147483001, .b = 0xffffffff81000040},
                                      {.kind = CPU_EV_CSD_QUEUE, .tid = 2147483002, .b = 0xffffffff81000030}};
    char text[2000], *at = text;
    json_t *j, *symbols, *threads;
    FILE *f;

    at +=
        sprintf(at, "ffffffff81000000 T _text\nffffffff81000030 t do_idle\t[m]\n0000000000000000 t hidden\n");
    at += sprintf(at, "ffffffff82000000 t %0900d\n",
                  0); /* longer than a line used to be; its end reads like an address */
    sprintf(at, "ffffffff81000020 t\nno line at all\n");
    f = fmemopen(text, strlen(text), "r");
    for (int i = 0; i < 2; i++)
        cpu_names_event(n, &calls[i]);
    j = cpu_names_resolve(n, f, "2147483001 a b\n2147483002 \xff\n5 other\nx\n", true);
    symbols = json_object_get(j, "symbols");
    threads = json_object_get(j, "threads");
    assert_string_equal(json_string_value(json_object_get(symbols, "0xffffffff81000040")), "do_idle+0x10");
    assert_string_equal(json_string_value(json_object_get(symbols, "0xffffffff81000030")), "do_idle");
    assert_int_equal(json_object_size(symbols), 2);
    assert_string_equal(json_string_value(json_object_get(threads, "2147483001")), "a b");
    assert_string_equal(json_string_value(json_object_get(threads, "2147483002")), "\xef\xbf\xbd");
    assert_int_equal(json_object_size(threads), 2);
    json_decref(j);
    fclose(f);
    cpu_names_destroy(n);
}

TEST(this_machine_is_recorded)
{
    struct cpu_record_run run = {.path = path, .duration_ns = 200 * MS, .params = {.buffer_kb = 256}};
    struct cpu_trace t;
    struct cpu_report r;
    struct error e = {0};

    if (!can_record())
        skip();
    if (cpu_record_run(&run, &e))
        fail_msg("%s", e.text);
    open_report(&t, &r);
    assert_true(t.complete);
    assert_true(r.a.events > 0);
    assert_int_equal(r.a.events, run.events);
    assert_int_equal(t.notes.count, 0);
    for (uint32_t i = 0; i < t.coverage.num_cpus; i++)
        if (!t.coverage.cpus[i].blind)
            assert_true(t.coverage.cpus[i].recorded + 3 >= t.coverage.cpus[i].expected * 99 / 100);
    close_report(&t, &r);
}

/* Many words are 2 and have a small number behind them: a mutex is one by all of its words, and a thread that can have it. */
TEST(a_mutex_is_known_by_its_record)
{
    const uint32_t self = (uint32_t)getpid();
    const struct {
        uint32_t words[5];
        int op;
        int32_t holder;
        bool is_lock;
    } cases[] = {
        {{2, 0, self, 1, 0}, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, (int32_t)self, true},
        {{2, 3, self, 1, 1}, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, (int32_t)self, true},
        {{2, 0, self, 1, 128}, FUTEX_WAIT, (int32_t)self, true},
        {{2, 0, (uint32_t)getppid(), 1, 128}, FUTEX_WAIT, 0, false}, /* it has not this memory */
        {{2, 0, (uint32_t)getppid(), 1, 0}, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, false},
        {{2, 0, 1, 1, 0}, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, false},
        {{2, 0x7f001000, self, 1, 0}, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, false},
        {{2, 0, self, 0, 0}, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, false},
        {{2, 0, self, 1, 0xdead}, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, false},
        {{1, 0, self, 1, 0}, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, false},
        {{FUTEX_WAITERS | self}, FUTEX_LOCK_PI, (int32_t)self, true},
        {{FUTEX_WAITERS | 0x3ffffff}, FUTEX_LOCK_PI, 0, true},
    };
    bool is_lock;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int32_t holder = cpu_task_futex_holder(getpid(), (uint64_t)(uintptr_t)cases[i].words,
                                                     (uint64_t)cases[i].op, 2, &is_lock);
        if (holder != cases[i].holder || is_lock != cases[i].is_lock)
            fail_msg("%zu: %d, %d", i, holder, is_lock);
    }
    assert_int_equal(cpu_task_futex_holder(getpid(), 8, FUTEX_WAIT, 2, &is_lock), 0);
    assert_false(is_lock);
}

/* Another process's number in a mutex is its owner's only if that process has the memory. */
TEST(a_shared_mutex_is_of_those_who_have_it)
{
    uint32_t *words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const uint32_t locked[5] = {2, 0, 0, 1, 128};
    bool is_lock;
    pid_t pid;

    assert_true(words != MAP_FAILED);
    memcpy(words, locked, sizeof(locked));
    pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    for (int has = 1; has >= 0; has--) {
        words[2] = (uint32_t)(has ? pid : 1); /* whatever number 1 is, it has none of it */
        assert_int_equal(cpu_task_futex_holder(getpid(), (uint64_t)(uintptr_t)words, FUTEX_WAIT, 2, &is_lock),
                         has ? pid : 0);
        assert_int_equal(is_lock, has);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    munmap(words, 4096);
}

/* In a container a mutex's record has the container's numbers. */
TEST(a_mutex_in_another_namespace)
{
    static const uint32_t inside[5] = {2, 0, 1, 1, 0}; /* it is number 1 there */
    int ready[2], go[2];
    int32_t child = 0;
    bool is_lock;
    char c;
    pid_t pid;

    assert_false(pipe(ready) || pipe(go));
    pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWPID))
            _exit(2);
        child = fork();
        if (child == 0)
            _exit(read(go[0], &c, 1) != 1);
        if (write(ready[1], &child, sizeof(child)) == (ssize_t)sizeof(child))
            waitpid(child, NULL, 0);
        _exit(0);
    }
    close(ready[1]);
    if (read(ready[0], &child, sizeof(child)) == (ssize_t)sizeof(child)) {
        assert_int_equal(cpu_task_futex_holder(child, (uint64_t)(uintptr_t)inside,
                                               FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, &is_lock),
                         child);
        assert_true(is_lock);
    }
    assert_int_equal(write(go[1], "", 1), 1);
    waitpid(pid, NULL, 0);
    close(ready[0]);
    close(go[0]);
    close(go[1]);
    if (!child)
        skip();
}

/* In a PID namespace of its own nobody is named by numbers that mean others. */
TEST(a_namespace_of_its_own_is_said)
{
    struct cpu_record_run run = {
        .path = path, .duration_ns = 150 * MS, .params = {.sched = true, .buffer_kb = 256}};
    const struct cpu_window w = {.num_threads = 1, .threads = {{CPU_ROLE_EXECUTOR, 1, -1}}};
    struct cpu_window window = w;
    struct cpu_verdict v;
    struct cpu_trace t;
    struct error e = {0};
    int status = 0;
    pid_t pid;

    if (!can_record())
        skip();
    pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS))
            _exit(2);
        pid = fork();
        if (pid == 0) {
            mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL);
            mount("proc", "/proc", "proc", 0, NULL);
            _exit(cpu_record_run(&run, &e) ? 1 : 0);
        }
        waitpid(pid, &status, 0);
        _exit(WEXITSTATUS(status));
    }
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status) == 2)
        skip();
    assert_int_equal(status, 0);
    if (cpu_trace_open(&t, path, &e))
        fail_msg("%s", e.text);
    assert_true(json_is_true(json_object_get(t.meta, "pid_namespace")));
    assert_true(json_is_null(t.tasks) || !t.tasks);
    window.submit_ns = cpu_trace_first_ns(&t) + 10 * MS;
    window.timeout_ns = window.submit_ns + 120 * MS;
    assert_int_equal(cpu_verdict_make(&v, &t, &window, 0, &e), 0);
    assert_int_not_equal(v.certainty, CPU_CERTAIN);
    assert_int_not_equal(v.kind, CPU_VERDICT_GPU_HUNG);
    cpu_trace_close(&t);
}

/* What was written before the disk was full stays and can be read, and it is said at once. */
TEST(a_full_disk_keeps_what_was_written)
{
    char small[64], file[96];
    struct cpu_record_run run = {
        .path = file, .duration_ns = 20000 * MS, .params = {.sched = true, .timers = true, .buffer_kb = 256}};
    struct cpu_trace t;
    struct cpu_report r;
    struct error e = {0};
    time_t start = time(NULL);
    pid_t busy;

    snprintf(small, sizeof(small), "%s/small", dir);
    snprintf(file, sizeof(file), "%s/full.cputrace", small);
    assert_int_equal(mkdir(small, 0700), 0);
    if (!can_record() || mount("small", small, "tmpfs", 0, "size=192k")) {
        rmdir(small);
        skip();
    }
    busy = fork();
    while (busy == 0)
        nanosleep(&(struct timespec){0, 20000}, NULL);
    assert_int_equal(cpu_record_run(&run, &e), -EIO);
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
    assert_non_null(strstr(e.text, "No space left on device; what was recorded until then is kept"));
    assert_true(time(NULL) - start < 12);
    if (cpu_trace_open(&t, file, &e) || cpu_report_init(&r, &t, 0, UINT64_MAX, 0, &e))
        fail_msg("%s", e.text);
    assert_true(r.a.events > 0);
    assert_false(t.complete);
    cpu_report_finish(&r);
    cpu_trace_close(&t);
    assert_int_equal(umount(small), 0);
    rmdir(small);
}

/* The guard removes the instance of a recorder that was killed. */
TEST(nothing_stays_behind_after_a_kill)
{
    struct cpu_tracefs t;
    struct error e = {0};
    char name[64], file[128];
    int p[2], gone = 0;
    pid_t pid;

    if (!can_record())
        skip();
    assert_int_equal(pipe(p), 0);
    pid = fork();
    if (pid == 0) {
        if (!cpu_tracefs_open(&t, 16, &e) && write(p[1], t.name, sizeof(t.name)) > 0)
            pause();
        _exit(1);
    }
    close(p[1]);
    assert_int_equal(read(p[0], name, sizeof(name)), sizeof(name));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(p[0]);
    assert_int_equal(cpu_tracefs_open(&t, 16, &e), 0);
    snprintf(file, sizeof(file), "instances/%s", name);
    for (int i = 0; i < 500 && !gone; i++) {
        gone = faccessat(t.root, file, F_OK, 0) != 0;
        usleep(10000);
    }
    cpu_tracefs_close(&t);
    assert_true(gone);
}

TEST_GROUP(make_dir, drop_dir);
