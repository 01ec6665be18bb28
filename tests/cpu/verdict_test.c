/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aerogpu/blackbox.h>
#include <sqlite3.h>

#include "base/file/seal.h"
#include "cpu/model/family.h"
#include "cpu/model/dump.h"
#include "cpu/report/report.h"
#include "cpu/report/watch.h"
#include "synth.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)
#define T0 (100 * UINT64_C(1000000000))

static char path[] = "/tmp/aerogpu-verdict-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);

    return fd < 0 ? -1 : close(fd);
}

static int drop_file(void **state)
{
    return unlink(path);
}

TEST(windows_are_parsed)
{
    static const char text[] =
        "{\"format\": \"aerogpu-window\", \"version\": 1, \"submit_ns\": 10, \"timeout_ns\": 20, "
        "\"due_ns\": 15, \"more\": true, \"threads\": [{\"role\": \"irq\", \"cpu\": 3}, {\"role\": "
        "\"waiter\", \"tid\": 9}], \"late_vblanks\": [{\"due_ns\": 11, \"actual_ns\": 12, \"cpu\": 1}]}";
    struct cpu_window w;
    struct error e = {0};

    assert_int_equal(cpu_window_parse(&w, text, sizeof(text) - 1, &e), 0);
    assert_int_equal(w.submit_ns, 10);
    assert_int_equal(w.due_ns, 15);
    assert_int_equal(w.completed_ns, 0);
    assert_int_equal(w.num_threads, 2);
    assert_int_equal(w.threads[0].role, CPU_ROLE_IRQ);
    assert_int_equal(w.threads[0].tid, -1);
    assert_int_equal(w.threads[1].tid, 9);
    assert_int_equal(w.vblanks[0].cpu, 1);
}

#define HEAD "{\"format\": \"aerogpu-window\", \"version\": 1, "

TEST(bad_windows_name_the_member)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"{", "line 1: string or '}' expected near end of file"},
        {"{\"format\": \"x\"}", "format is not \"aerogpu-window\""},
        {"{\"format\": \"aerogpu-window\", \"version\": 2}", "version is not 1"},
        {HEAD "\"submit_ns\": \"x\"}", "submit_ns is not a whole number from 1 up"},
        {HEAD "\"submit_ns\": 5, \"timeout_ns\": 5}", "submit_ns and timeout_ns are not a span"},
        {HEAD "\"submit_ns\": 5, \"timeout_ns\": 6, \"threads\": [{\"role\": \"boss\", \"tid\": 1}]}",
         "threads[0].role is not one of submit, executor, irq, dpc, waiter, vblank"},
        {HEAD "\"submit_ns\": 5, \"timeout_ns\": 6, \"threads\": [{\"role\": \"irq\"}]}",
         "threads[0].tid and cpu are both missing"},
        {HEAD "\"submit_ns\": 5, \"timeout_ns\": 6, \"threads\": [{\"role\": \"irq\", \"cpu\": -1}]}",
         "threads[0].cpu is not a whole number from 0 up"},
        {HEAD "\"submit_ns\": 5, \"timeout_ns\": 6, \"threads\": [{\"role\": \"irq\", \"tid\": 4294967397}]}",
         "threads[0].tid is above 2147483647"},
        {HEAD "\"submit_ns\": 5, \"timeout_ns\": 6, \"threads\": {\"role\": \"irq\", \"tid\": 7}}",
         "threads is not a list"},
        {HEAD "\"submit_ns\": 5, \"timeout_ns\": 6, \"late_vblanks\": [{\"due_ns\": 7, \"actual_ns\": 6}]}",
         "late_vblanks[0].due_ns and actual_ns are not a lateness"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cpu_window w;
        struct error e = {0};
        assert_int_equal(cpu_window_parse(&w, cases[i].text, strlen(cases[i].text), &e), -EBADMSG);
        assert_string_equal(e.text, cases[i].error);
    }
}

/* Two CPUs that wake every 4 ms for 1 s; CPU 0 runs thread 100, CPU 1 thread 101. CPU 1 sleeps in C2 (state
 * 2) and its timer of 500 ms fires 1.8 ms late. */
static void machine(struct synth *s)
{
    synth_init(s, 2, 4, T0);
    for (uint32_t cpu = 0; cpu < 2; cpu++)
        for (uint64_t i = 0; i < 250; i++) {
            const int32_t tid = 100 + (int32_t)cpu;
            const uint64_t t = T0 + i * 4 * MS, late = cpu == 1 && i == 125 ? 1800 * US : 0;
            if (i == 0)
                synth_event(s, cpu, t, 7, CPU_EV_SWITCH, 7, 1, (uint64_t)tid);
            if (i == 0 && cpu == 0)
                synth_event(s, cpu, t + 10 * US, 100, CPU_EV_TASK, 101, 0, 0);
            if (i == 0 && cpu == 0)
                synth_event(s, cpu, t + 10 * US, 100, CPU_EV_FORK, 100, 101, 0);
            if (i && !late)
                synth_event(s, cpu, t, 0, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236, 0);
            if (late)
                synth_event(s, cpu, t + late, 0, CPU_EV_TIMER_EXPIRE, t + late, 0, 0xf00);
            if (i) {
                synth_event(s, cpu, t + late + US, 0, CPU_EV_WAKEUP, (uint64_t)tid, cpu, 0);
                synth_wake(s, cpu, t + late + 2 * US);
                synth_event(s, cpu, t + late + 3 * US, 0, CPU_EV_SWITCH, 0, 0, (uint64_t)tid);
            }
            if (cpu == 1 && i == 75) /* from the submission on it waits for the device */
                synth_event(s, 1, t + 40 * US, tid, CPU_EV_FENCE_WAIT_START, 1, 7, 0);
            if (cpu == 1 && i == 124)
                synth_event(s, 1, t + 50 * US, tid, CPU_EV_TIMER_START, T0 + 500 * MS, 0, 0xf00);
            synth_event(s, cpu, t + late + 300 * US, tid, CPU_EV_SWITCH, (uint64_t)tid, 1, 0);
            synth_idle(s, cpu, t + late + 302 * US, 2);
        }
}

static const struct cpu_window window = {
    .submit_ns = T0 + 300 * MS,
    .timeout_ns = T0 + 800 * MS,
    .num_threads = 2,
    .threads = {{CPU_ROLE_WAITER, 100, -1}, {CPU_ROLE_EXECUTOR, 101, -1}},
    .num_vblanks = 2,
    .vblanks = {{T0 + 500 * MS, T0 + 500 * MS + 1900 * US, 1, -1},
                {T0 + 601 * MS, T0 + 604 * MS + 10 * US, 0, -1}},
};

static void make(struct cpu_verdict *v, const struct cpu_window *w)
{
    struct cpu_trace t;
    struct error e = {0};

    if (cpu_trace_open(&t, path, &e) || cpu_verdict_make(v, &t, w, 0, &e))
        fail_msg("%s", e.text);
    cpu_trace_close(&t);
    assert_true(v->num_lines > 0);
}

TEST(late_vblanks_are_explained)
{
    struct cpu_verdict v;
    struct synth s;

    machine(&s);
    synth_write(&s, path);
    make(&v, &window);
    assert_int_equal(v.kind, CPU_VERDICT_GPU_HUNG);
    assert_int_equal(v.num_vblanks, 2);
    assert_string_equal(
        v.vblanks[0],
        "vblank due at +200.000 ms came 1.90 ms late: timer on CPU 1 fired 1.80 ms late: C2 exit");
    assert_string_equal(
        v.vblanks[1],
        "vblank due at +301.000 ms came 3.01 ms late: CPU 0 left C2 only 3.00 ms after it was due");
    synth_finish(&s);
}

/* Each of these forbids to call the same trace a hung GPU. */
TEST(a_hung_gpu_needs_every_proof)
{
    for (int k = 0; k < 6; k++) {
        static const char *const reasons[] = {
            "the trace is blind on a CPU of the chain", "the trace cannot be checked",
            "the trace does not cover the wait",        "the work was done, nobody looked",
            "a thread of the chain was not seen",       "the trace does not cover the wait",
        };
        struct cpu_window w = window;
        struct cpu_verdict v;
        struct synth s;
        machine(&s);
        if (k == 0)
            s.after.cpus[1].states[2].usage = 5; /* more than the 250 recorded: one in fifty is enough */
        s.no_end = k == 1;
        if (k == 2)
            w.timeout_ns = T0 + 1500 * MS;
        if (k == 3)
            w.completed_ns = T0 + 400 * MS;
        if (k == 4)
            w.threads[1].tid = 4444;
        if (k == 5) {
            w.submit_ns -= 350 * MS;
            w.timeout_ns -= 350 * MS;
        }
        synth_write(&s, path);
        make(&v, &w);
        assert_int_equal(v.kind, k == 3 ? CPU_VERDICT_WAITER_LATE : CPU_VERDICT_UNKNOWN);
        assert_string_equal(v.reason, reasons[k]);
        synth_finish(&s);
    }
}

/* A crash dump with the tables that a window needs. */
static void write_dump(const char *file, int version, const char *sql)
{
    static const char *const tables[] = {"meta", "status", "finding", "submission", "event"};
    char text[1200];
    sqlite3 *db;

    unlink(file);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    snprintf(text, sizeof(text),
             "PRAGMA application_id = 1095189060; PRAGMA user_version = %d;"
             "CREATE TABLE meta(key, value); CREATE TABLE status(time_ns, status, detail);"
             "CREATE TABLE finding(rank, certainty, cause, text, submission, packet, source); CREATE TABLE "
             "submission(id, time_ns, done_ns);"
             "CREATE TABLE event(time_ns, pid, thread); %s",
             version, sql);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        seal_table(db, tables[i]); /* a case may have dropped it */
    sqlite3_close(db);
}

static void change(const char *file, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Submissions 7, which is done, and 8, which is not; stuck since T0 + 800 ms. */
#define DUMP                                                                                                 \
    "INSERT INTO submission VALUES(7, 100200000000, 100250000000), (8, 100300000000, NULL);"                 \
    "INSERT INTO status VALUES(100000000001, 'active', ''), (100800000000, 'timeout', '');"                  \
    "INSERT INTO meta VALUES('time_ns', '100900000000'); INSERT INTO event VALUES(1, %s, NULL);"             \
    "INSERT INTO meta VALUES('boot_id', '" SYNTH_BOOT "');"

/* The verdict is the first finding after the dump's own, its evidence follows. */
static void check_findings(const char *file, const struct cpu_verdict *v, int own)
{
    sqlite3 *db;
    sqlite3_stmt *q;
    char text[200];

    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT count(*), min(rank), max(rank) FROM finding", -1, &q, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(q, 0), own + 1 + (int)v->num_lines);
    assert_int_equal(sqlite3_column_int(q, 2), 1 + (int)v->num_lines);
    sqlite3_finalize(q);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT text, cause, source FROM finding WHERE rank = 1", -1, &q, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    snprintf(text, sizeof(text), "%s: %s", cpu_verdict_name(v->kind), v->reason);
    assert_string_equal((const char *)sqlite3_column_text(q, 0), text);
    assert_string_equal((const char *)sqlite3_column_text(q, 1), cpu_verdict_name(v->kind));
    assert_string_equal((const char *)sqlite3_column_text(q, 2), "processor trace");
    sqlite3_finalize(q);
    sqlite3_close(db);
}

/* What the trace at `path` says of a dump of process `pid`, with `more` in it. */
static void judge_dump(const char *file, const char *pid, const char *more, struct cpu_window *w,
                       struct cpu_verdict *v)
{
    struct error e = {0};
    char sql[1000];

    snprintf(sql, sizeof(sql), DUMP "%s", pid, more);
    write_dump(file, BB_SCHEMA_VERSION, sql);
    if (cpu_window_read(w, file, &e))
        fail_msg("%s", e.text);
    make(v, w);
}

TEST(dumps_are_windows)
{
    static const struct {
        const char *pid, *more;
        enum cpu_verdict_kind kind;
        const char *reason;
    } cases[] = {
        {"100", "", CPU_VERDICT_GPU_HUNG, "the processors were there, the GPU was not"},
        {"4000", "", CPU_VERDICT_UNKNOWN, "the threads of the chain are not all known"},
        {"100", "INSERT INTO meta VALUES('pid_namespace', 'system');", CPU_VERDICT_GPU_HUNG,
         "the processors were there, the GPU was not"},
        /* a container's number 100 is another process in the trace: what that did proves nothing */
        {"100", "INSERT INTO meta VALUES('pid_namespace', 'own 4026532190');", CPU_VERDICT_UNKNOWN,
         "the dump's numbers of processes are not the trace's"},
        {"100", "INSERT INTO finding(rank, submission) VALUES(0, 7);", CPU_VERDICT_WAITER_LATE,
         "the work was done, nobody looked"},
    };
    char file[64];
    struct synth s;

    machine(&s);
    synth_write(&s, path);
    snprintf(file, sizeof(file), "%s.dump", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cpu_window w;
        struct cpu_verdict v;
        struct error e = {0};

        judge_dump(file, cases[i].pid, cases[i].more, &w, &v);
        assert_int_equal(w.submit_ns, i == 4 ? T0 + 200 * MS : T0 + 300 * MS);
        assert_int_equal(w.timeout_ns, T0 + 800 * MS);
        assert_string_equal(v.reason, cases[i].reason);
        assert_int_equal(v.kind, cases[i].kind);
        for (int again = 0; again < 2; again++) /* the second time in place of the first */
            assert_int_equal(cpu_verdict_save(&v, file, &e), 0);
        check_findings(file, &v, i == 4);
    }
    assert_int_equal(truncate(file, 3000), 0);
    assert_int_equal(cpu_verdict_save(&(struct cpu_verdict){0}, file, &(struct error){0}), -EBADMSG);
    unlink(file);
    synth_finish(&s);
}

/* Times are compared on one clock of one boot: moved to it, or not compared. */
TEST(a_window_is_of_its_clock)
{
    static const char boot[] = "\"boot_id\": \"" SYNTH_BOOT "\",";
    static const struct {
        const char *clock;
        int64_t ahead_ms;
        bool no_boot;
        const char *reason;
    } cases[] = {
        {"", 0, false, "the processors were there, the GPU was not"},
        {boot, 0, false, "the processors were there, the GPU was not"},
        {"\"clock_offset_ns\": 7000000000,", 7000, false, "the processors were there, the GPU was not"},
        {"\"clock_offset_ns\": -7000000000,", -7000, false, "the processors were there, the GPU was not"},
        {"\"clock_offset_ns\": 7000000000,", 0, false, "the trace does not cover the wait"},
        {"\"boot_id\": \"another\",", 0, false, "the window is of another boot"},
        {"\"boot_id\": \"another\",", 0, true, "the processors were there, the GPU was not"},
    };
    struct cpu_window w;
    struct error e = {0};
    char text[500];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t ahead = cases[i].ahead_ms * (int64_t)MS;
        struct cpu_verdict v;
        struct synth s;

        machine(&s);
        s.no_boot = cases[i].no_boot;
        synth_write(&s, path);
        snprintf(text, sizeof(text),
                 HEAD "%s \"submit_ns\": %lld, \"timeout_ns\": %lld, \"threads\": [{\"role\": \"waiter\", "
                      "\"tid\": 100}, {\"role\": \"executor\", \"tid\": 101}]}",
                 cases[i].clock, (long long)window.submit_ns + ahead, (long long)window.timeout_ns + ahead);
        if (cpu_window_parse(&w, text, strlen(text), &e))
            fail_msg("%s", e.text);
        make(&v, &w);
        assert_string_equal(v.reason, cases[i].reason);
        synth_finish(&s);
    }
    snprintf(text, sizeof(text), HEAD "\"submit_ns\": 5, \"timeout_ns\": 6, \"clock_offset_ns\": 5}");
    assert_int_equal(cpu_window_parse(&w, text, strlen(text), &e), -EBADMSG);
    assert_string_equal(e.text, "clock_offset_ns is 5: the machine's clock was not running then");
}

/* A dump says whose clock and which boot; one that does not is believed, but not for certain. */
TEST(a_dump_is_of_its_clock)
{
    static const struct {
        const char *sql, *reason;
        enum cpu_certainty sure;
    } cases[] = {
        {"", "the processors were there, the GPU was not", CPU_CERTAIN},
        {"DELETE FROM meta WHERE key = 'boot_id';", "the processors were there, the GPU was not", CPU_LIKELY},
        {"UPDATE meta SET value = 'another' WHERE key = 'boot_id';", "the window is of another boot",
         CPU_UNSEEN},
        {"INSERT INTO meta VALUES('clock_offset_ns', 'not known');",
         "whose clock the times are of is not known", CPU_UNSEEN},
        {"INSERT INTO meta VALUES('clock_offset_ns', '7000000000');"
         "UPDATE submission SET time_ns = time_ns + 7000000000; UPDATE status SET time_ns = time_ns + 7000000000;",
         "the processors were there, the GPU was not", CPU_CERTAIN},
    };
    char file[64];
    struct synth s;

    machine(&s);
    synth_write(&s, path);
    snprintf(file, sizeof(file), "%s.dump", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cpu_window w;
        struct cpu_verdict v;

        judge_dump(file, "100", cases[i].sql, &w, &v);
        assert_string_equal(v.reason, cases[i].reason);
        assert_int_equal(v.certainty, cases[i].sure);
    }
    unlink(file);
    synth_finish(&s);
}

/* Who writes the dump was started for that, after the submission: it has none of the work, and its life is nobody else's. */
TEST(who_is_started_later_is_no_executor)
{
    enum { PROCESS = 100, DUMPER = 300, WORKER = 301, HELPER = 302 };
    struct cpu_window w = {.submit_ns = T0 + 100 * MS,
                           .timeout_ns = T0 + 500 * MS,
                           .partial = true,
                           .num_threads = 1,
                           .threads = {{CPU_ROLE_WAITER, PROCESS, -1}}};
    struct cpu_trace t;
    struct error e = {0};
    struct synth s;

    synth_init(&s, 1, 4, T0);
    synth_event(&s, 0, T0, 7, CPU_EV_SWITCH, 7, 1, PROCESS);
    for (int i = 0; i < 3;
         i++) { /* the helper before the submission, both others after it; only the worker is a thread */
        const uint64_t at = i == 0 ? T0 + 50 * MS : T0 + 150 * MS, child = i == 0   ? HELPER
                                                                           : i == 1 ? DUMPER
                                                                                    : WORKER;
        synth_event(&s, 0, at, PROCESS, CPU_EV_TASK, child, i == 2 ? 0x10000 : 0, 0);
        synth_event(&s, 0, at, PROCESS, CPU_EV_FORK, PROCESS, child, 0);
    }
    for (uint64_t i = 0, was = PROCESS; i < 30; i++) {
        const uint64_t next = i % 3 == 0 ? HELPER : i % 3 == 1 ? DUMPER : WORKER;
        synth_event(&s, 0, T0 + (200 + i) * MS, (int32_t)was, CPU_EV_SWITCH, was, 1, next);
        was = next;
    }
    synth_write(&s, path);
    assert_int_equal(cpu_trace_open(&t, path, &e), 0);
    assert_int_equal(cpu_family_complete(&w, &t, &e), 0);
    assert_int_equal(w.num_threads, 3);
    assert_int_equal(w.threads[1].tid + w.threads[2].tid, HELPER + WORKER);
    cpu_trace_close(&t);
    synth_finish(&s);
}

/* completed_ns and due_ns mean the same wherever they lie; what cannot be is not believed, and that is said. */
TEST(times_are_honoured_wherever_they_lie)
{
    static const struct {
        int64_t completed_ms, due_ms; /* after the submission; -1000: not given */
        enum cpu_verdict_kind kind;
        const char *line; /* starts one of the lines */
    } cases[] = {
        {-1000, -1000, CPU_VERDICT_GPU_HUNG, "the executor ran for"},
        {-1, -1000, CPU_VERDICT_GPU_HUNG, "the GPU's record says that it was done before it was submitted"},
        {0, -1000, CPU_VERDICT_GPU_HUNG, "the GPU's record says that it was done before it was submitted"},
        {1, -1000, CPU_VERDICT_WAITER_LATE, "the work was done at +1.000 ms"},
        {499, -1000, CPU_VERDICT_GPU_SLOW, "the work was done at +499.000 ms"},
        {500, -1000, CPU_VERDICT_GPU_SLOW, "the work was done at +500.000 ms, 0 ns after the time-out"},
        {90000, -1000, CPU_VERDICT_GPU_SLOW, "the work was done at +90000.000 ms"},
        {-1000, -5, CPU_VERDICT_GPU_HUNG, "when the time-out was due: not before the submission"},
        {-1000, 0, CPU_VERDICT_GPU_HUNG, "when the time-out was due: not before the submission"},
        {-1000, 100, CPU_VERDICT_GPU_HUNG, "the time-out was due at +100.000 ms and detected 400 ms later"},
        {-1000, 499, CPU_VERDICT_GPU_HUNG, "the executor ran for"},
        {-1000, 500, CPU_VERDICT_GPU_HUNG, "the executor ran for"},
        {-1000, 900, CPU_VERDICT_UNKNOWN, "the time-out was detected 400 ms before it was due"},
        {300, 100, CPU_VERDICT_WATCHDOG_LATE,
         "the time-out was due at +100.000 ms and detected 400 ms later"},
        {300, 900, CPU_VERDICT_WAITER_LATE, "the time-out was detected 400 ms before it was due"},
        {600, 100, CPU_VERDICT_GPU_SLOW, "the time-out was due at +100.000 ms"},
    };
    struct synth s;

    machine(&s);
    synth_write(&s, path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cpu_window w = window;
        struct cpu_verdict v;
        bool found = false;

        w.completed_ns =
            cases[i].completed_ms == -1000 ? 0 : w.submit_ns + (uint64_t)cases[i].completed_ms * MS;
        w.due_ns = cases[i].due_ms == -1000 ? 0 : w.submit_ns + (uint64_t)cases[i].due_ms * MS;
        make(&v, &w);
        for (uint32_t k = 0; k < v.num_lines; k++)
            found |= !strncmp(v.lines[k], cases[i].line, strlen(cases[i].line));
        if (v.kind != cases[i].kind || !found)
            fail_msg("case %zu: %s, \"%s\" %s", i, cpu_verdict_name(v.kind), cases[i].line,
                     found ? "is said" : "is not said");
    }
    synth_finish(&s);
}

/* A thread that runs all the time executes the GPU's work, or waits in a loop: only the GPU's own record can say which. */
TEST(who_ran_is_no_proof_of_what)
{
    struct cpu_window w = window;
    struct cpu_verdict v;
    struct synth s;
    bool said = false;

    synth_init(&s, 2, 4, T0);
    for (uint32_t cpu = 0; cpu < 2; cpu++) {
        synth_event(&s, cpu, T0, 7, CPU_EV_SWITCH, 7, 1, 100 + cpu);
        for (uint64_t i = 1; i < 250; i++)
            synth_event(&s, cpu, T0 + i * 4 * MS, 100 + (int32_t)cpu, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236,
                        0);
    }
    synth_write(&s, path);
    w.num_vblanks = 0;
    make(&v, &w);
    assert_int_equal(v.kind, CPU_VERDICT_GPU_HUNG);
    assert_int_equal(v.certainty, CPU_LIKELY);
    for (uint32_t i = 0; i < v.num_lines; i++)
        said |= v.sure[i] == CPU_UNSEEN && !strncmp(v.lines[i], "what it ran: ", 13);
    assert_true(said);
    w.dump = (struct cpu_dump_says){
        .any = true, .cause = "hang", .sure = {"proven", "proven", "suggested", "unknown"}};
    make(&v, &w);
    assert_int_equal(v.kind, CPU_VERDICT_GPU_HUNG);
    assert_int_equal(v.certainty, CPU_CERTAIN);
    strcpy(w.dump.sure[1], "suggested");
    make(&v, &w);
    assert_int_equal(v.certainty, CPU_LIKELY);
    synth_finish(&s);
}

/* What was memory's or the host's is not counted as its own besides. */
TEST(parts_add_up)
{
    static const char line[] =
        "the executor ran for 475 ms and waited for the device for 0 ns of the 500 ms; it was held back for 25.0 ms in all";
    struct cpu_verdict v;
    struct synth s;
    bool said = false;

    synth_init(&s, 2, 4, T0);
    for (uint32_t cpu = 0; cpu < 2; cpu++) {
        synth_event(&s, cpu, T0, 7, CPU_EV_SWITCH, 7, 1, 100 + cpu);
        for (uint64_t i = 1; i < 250; i++)
            synth_event(&s, cpu, T0 + i * 4 * MS, 100 + (int32_t)cpu, CPU_EV_IRQ_ENTRY, CPU_IRQ_TIMER, 236,
                        0);
    }
    s.memory_percent = 5;
    synth_write(&s, path);
    make(&v, &window);
    for (uint32_t i = 0; i < v.num_lines; i++)
        said |= !strcmp(v.lines[i], line);
    if (!said)
        for (uint32_t i = 0; i < v.num_lines; i++)
            print_error("%s\n", v.lines[i]);
    assert_true(said);
    synth_finish(&s);
}

/* The host takes a CPU at which the waiter is for moments only, and sleeps otherwise. */
TEST(a_cpu_where_nobody_was_proves_nothing)
{
    struct cpu_verdict v;
    struct synth s;

    for (uint32_t cpu = 0; cpu < 2; cpu++) {
        struct cpu_window w = window;

        machine(&s);
        s.steal_cpu = 0;
        s.steal_from_ns = window.submit_ns;
        s.steal_to_ns = window.timeout_ns;
        w.threads[0].cpu = cpu ? 0 : -1; /* where it is named it is believed to matter */
        synth_write(&s, path);
        make(&v, &w);
        assert_int_equal(v.kind, CPU_VERDICT_HOST_STOLE_TIME);
        assert_int_equal(v.certainty, cpu ? CPU_CERTAIN : CPU_LIKELY);
        synth_finish(&s);
    }
}

/* Either report carries the other's evidence, and says whether they go together. */
TEST(reports_carry_each_others_evidence)
{
    static const struct {
        const char *cause, *sure, *relation;
    } cases[] = {
        {"hang", "suggested",
         "they agree: the dump says hang (suggested), the processors say GPU-HUNG (certain)"},
        {"starved", "proven",
         "they contradict each other: the dump says starved (proven), the processors say GPU-HUNG (certain); neither is surer"},
        {"slow", "suggested",
         "they contradict each other: the dump says slow (suggested), the processors say GPU-HUNG (certain); the processors are surer"},
        {"malformed", "proven",
         "neither confirms nor contradicts the other: the dump says malformed (proven), the processors say GPU-HUNG (certain)"},
    };
    char file[64], sql[1000];
    struct synth s;

    machine(&s);
    synth_write(&s, path);
    snprintf(file, sizeof(file), "%s.dump", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf o = {0};
        struct cpu_window w;
        struct cpu_verdict v;
        struct cpu_trace t;
        struct cpu_report r;
        struct error e = {0};
        json_t *j;

        snprintf(sql, sizeof(sql),
                 DUMP "ALTER TABLE finding ADD sure_happened; ALTER TABLE finding ADD sure_command;"
                      "ALTER TABLE finding ADD sure_cause; ALTER TABLE finding ADD sure_memory;"
                      "ALTER TABLE finding ADD unseen; INSERT INTO finding(rank, submission, cause, text, "
                      "sure_cause, unseen) VALUES(0, 8, '%s', 'draw 3 & its \xff', '%s', 'who');",
                 "100", cases[i].cause, cases[i].sure);
        write_dump(file, BB_SCHEMA_VERSION, sql);
        if (cpu_window_read(&w, file, &e))
            fail_msg("%s", e.text);
        make(&v, &w);
        assert_int_equal(v.kind, CPU_VERDICT_GPU_HUNG);
        assert_string_equal(v.relation_text, cases[i].relation);
        cpu_verdict_text(&v, &o);
        assert_non_null(strstr(strbuf_str(&o), "THE DUMP  draw 3 & its \xef\xbf\xbd\n"));
        assert_non_null(strstr(strbuf_str(&o), cases[i].relation));
        assert_non_null(strstr(strbuf_str(&o), "not seen: who"));
        assert_int_equal(strstr(strbuf_str(&o), "CONTRADICTION") != NULL, i == 1 || i == 2);
        j = cpu_verdict_json(&v);
        assert_string_equal(json_string_value(json_object_get(json_object_get(j, "dump"), "relation")),
                            i == 0   ? "agrees"
                            : i == 3 ? "apart"
                                     : "contradicts");
        json_decref(j);
        strbuf_clear(&o);
        assert_int_equal(cpu_trace_open(&t, path, &e), 0);
        assert_int_equal(cpu_report_init(&r, &t, 0, UINT64_MAX, 0, &e), 0);
        r.verdict = &v;
        cpu_report_html(&r, &o);
        assert_non_null(strstr(strbuf_str(&o), "draw 3 &amp; its"));
        assert_non_null(strstr(strbuf_str(&o), cases[i].relation));
        cpu_report_finish(&r);
        cpu_trace_close(&t);
        strbuf_finish(&o);
        assert_int_equal(cpu_verdict_save(&v, file, &e), 0);
        if (cpu_window_read(&w, file, &e)) /* what was saved is not the dump's own */
            fail_msg("%s", e.text);
        assert_string_equal(w.dump.cause, cases[i].cause);
    }
    unlink(file);
    synth_finish(&s);
}

/* What no dump or verdict is called compares with nothing. */
TEST(witnesses_know_every_verdict)
{
    for (int i = 1; i < CPU_VERDICT_COUNT; i++)
        assert_int_equal(witness_compare("hang", cpu_verdict_name((enum cpu_verdict_kind)i)),
                         i == CPU_VERDICT_GPU_HUNG ? WITNESS_AGREE : WITNESS_CONTRADICT);
    assert_int_equal(witness_compare("hang", "UNKNOWN"), WITNESS_APART);
    assert_int_equal(witness_compare("waiting", "GPU-SLOW"), WITNESS_CONTRADICT); /* it ended */
    assert_int_equal(witness_compare("waiting", "GPU-HUNG"), WITNESS_APART);
    assert_int_equal(witness_compare("waiting", "CPU-STARVED"),
                     WITNESS_APART); /* perhaps who was to signal it */
    assert_int_equal(witness_compare("", "GPU-HUNG"), WITNESS_APART);
    assert_int_equal(witness_compare("han", "GPU-HUNG"), WITNESS_APART);
}

/* Each relation is of a cause that dumps have: one that is misspelt, or called otherwise now, is missing here. */
TEST(witnesses_know_every_cause)
{
#define NAME(NAME, name, ...) name,
    static const char *const causes[] = {BB_CAUSES(NAME)};
#undef NAME
    uint32_t n[3] = {0};

    for (int i = 0; i < CPU_VERDICT_COUNT; i++)
        for (size_t k = 0; k < sizeof(causes) / sizeof(causes[0]); k++)
            n[witness_compare(causes[k], cpu_verdict_name((enum cpu_verdict_kind)i))]++;
    assert_int_equal(n[WITNESS_AGREE], 12);
    assert_int_equal(n[WITNESS_CONTRADICT], 38);
}

#define TEXT_OF(x) #x
#define NUMBER(x)  TEXT_OF(x)
#define VERSION    NUMBER(BB_SCHEMA_VERSION)

TEST(bad_dumps_say_what_is_wrong)
{
    static const struct {
        int version;
        const char *sql, *error;
    } cases[] = {
        {1, "", "a crash dump of version 1; this program reads version " VERSION},
        {BB_SCHEMA_VERSION, "", "the dump has no submission that is blamed or was not done"},
        {BB_SCHEMA_VERSION, "INSERT INTO submission VALUES(1, 5, NULL);",
         "the dump's submission.time_ns and status.time_ns are not a span"},
        {BB_SCHEMA_VERSION,
         "INSERT INTO submission VALUES(1, 100300000000, NULL); INSERT INTO meta VALUES('reason', 'page fault');",
         "the dump was made because of \"page fault\": there was no time-out to judge"},
        {BB_SCHEMA_VERSION, "DROP TABLE status;", "not a crash dump that can be read: no such table: status"},
        {BB_SCHEMA_VERSION, "PRAGMA application_id = 5;",
         "an SQLite database, but not a crash dump of AeroGPU"},
    };
    char file[64], wanted[200];
    struct error damage = {0};

    snprintf(file, sizeof(file), "%s.dump", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char sql[300];
        struct cpu_window w;
        struct error e = {0};
        snprintf(sql, sizeof(sql), "%s%s", i == 4 ? "INSERT INTO submission VALUES(1, 5, NULL);" : "",
                 cases[i].sql);
        write_dump(file, cases[i].version, sql);
        assert_int_equal(cpu_window_read(&w, file, &e), -EBADMSG);
        snprintf(wanted, sizeof(wanted), "%s: %s", file, cases[i].error);
        assert_string_equal(e.text, wanted);
    }
    /* a verdict that is saved must not seal what was damaged before */
    write_dump(file, BB_SCHEMA_VERSION,
               "INSERT INTO submission VALUES(1, 100300000000, NULL);"
               "INSERT INTO status VALUES(100800000000, 'timeout', '');");
    change(file, "UPDATE status SET time_ns = 100900000000");
    assert_int_equal(cpu_window_read(&(struct cpu_window){0}, file, &damage), -EBADMSG);
    snprintf(wanted, sizeof(wanted), "%s: table status is not what was written", file);
    assert_true(!strncmp(damage.text, wanted, strlen(wanted)));
    assert_int_equal(cpu_verdict_save(&(struct cpu_verdict){0}, file, &(struct error){0}), -EBADMSG);
    assert_int_equal(truncate(file, 3000), 0);
    assert_int_equal(cpu_window_read(&(struct cpu_window){0}, file, &(struct error){0}), -EBADMSG);
    unlink(file);
}

/* This process has its parent as owner, and its threads have it. */
TEST(this_machine_has_families)
{
    json_t *processes = NULL, *list = cpu_family_tasks("/proc", &processes);
    json_int_t owner = 0, is_process = 0;

    for (size_t i = 0; i < json_array_size(list); i += 2)
        if (json_integer_value(json_array_get(list, i)) == getpid())
            owner = json_integer_value(json_array_get(list, i + 1));
    assert_int_equal(owner, getppid());
    for (size_t i = 0; i < json_array_size(processes); i++)
        is_process += json_integer_value(json_array_get(processes, i)) == getpid();
    assert_int_equal(is_process, 1);
    json_decref(list);
    json_decref(processes);
}

TEST(reports_carry_the_verdict)
{
    struct strbuf text = {0}, html = {0};
    struct cpu_verdict v;
    struct cpu_report r;
    struct cpu_trace t;
    struct error e = {0};
    struct synth s;
    json_t *j, *again;
    char *dump, *perfetto = NULL;
    size_t size;
    FILE *f;

    machine(&s);
    synth_write(&s, path);
    assert_int_equal(cpu_trace_open(&t, path, &e), 0);
    assert_int_equal(cpu_verdict_make(&v, &t, &window, 0, &e), 0);
    assert_int_equal(cpu_report_init(&r, &t, 0, UINT64_MAX, 0, &e), 0);
    r.verdict = &v;
    cpu_report_text(&r, &text);
    assert_int_equal(strncmp(strbuf_str(&text), "VERDICT   GPU-HUNG: ", 20), 0);
    j = cpu_report_json(&r);
    assert_non_null(j);
    dump = json_dumps(j, 0);
    again = json_loads(dump, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json_object_get(again, "verdict"), "verdict")),
                        "GPU-HUNG");
    assert_int_equal(
        json_integer_value(json_object_get(json_array_get(json_object_get(again, "cpus"), 0), "idle_ns")),
        cpu_stats_idle(&r.a.cpu[0]));
    free(dump);
    json_decref(j);
    json_decref(again);
    snprintf(t.system, sizeof(t.system), "<script>&\"");
    cpu_report_html(&r, &html);
    assert_non_null(strstr(strbuf_str(&html), "GPU-HUNG"));
    assert_non_null(strstr(strbuf_str(&html), ">submitted</span>"));
    assert_null(strstr(strbuf_str(&html), "<script>"));
    assert_null(strstr(strbuf_str(&html), "nan"));
    assert_non_null(strstr(strbuf_str(&html), "&lt;script&gt;&amp;&quot;"));
    f = open_memstream(&perfetto, &size);
    assert_int_equal(cpu_perfetto_write(&t, f, 0, UINT64_MAX, &e), 0);
    fclose(f);
    j = json_loads(perfetto, 0, NULL);
    assert_true(json_array_size(json_object_get(j, "traceEvents")) > 1000);
    json_decref(j);
    free(perfetto);
    strbuf_finish(&text);
    strbuf_finish(&html);
    cpu_report_finish(&r);
    cpu_trace_close(&t);
    synth_finish(&s);
}

/* As of a recorder that was killed before it had written a page, or of one that nobody knows. */
TEST(a_recording_of_no_processor_is_a_page)
{
    struct strbuf html = {0};
    struct error e = {0};
    struct cpu_report r;
    struct cpu_trace t;
    struct synth s;

    synth_init(&s, 0, 3, T0);
    s.end_ns = T0 + 1000 * MS;
    synth_write(&s, path);
    assert_int_equal(cpu_trace_open(&t, path, &e), 0);
    assert_int_equal(t.num_cpus, 0);
    assert_int_equal(cpu_report_init(&r, &t, 0, UINT64_MAX, 0, &e), 0);
    cpu_report_html(&r, &html);
    assert_non_null(strstr(strbuf_str(&html), "The recording says nothing of any processor."));
    assert_null(strstr(strbuf_str(&html), "nan"));
    strbuf_finish(&html);
    cpu_report_finish(&r);
    cpu_trace_close(&t);
    synth_finish(&s);
}

/* A window of the trace is read alone, with the states at its borders known. */
TEST(a_part_of_a_trace_is_analysed)
{
    struct cpu_report r;
    struct cpu_trace t;
    struct error e = {0};
    struct synth s;

    machine(&s);
    synth_write(&s, path);
    assert_int_equal(cpu_trace_open(&t, path, &e), 0);
    assert_int_equal(cpu_report_init(&r, &t, T0 + 401 * MS, T0 + 402 * MS, 0, &e), 0);
    assert_int_equal(r.a.cpu[0].idle_ns[2], MS);
    assert_int_equal(r.a.cpu[0].running_ns + r.a.cpu[0].unknown_ns, 0);
    cpu_report_finish(&r);
    cpu_trace_close(&t);
    synth_finish(&s);
}

TEST(the_machine_is_watched)
{
    const struct cpu_record_params params = {.buffer_kb = 256};
    struct strbuf frame = {0};
    struct cpu_watch *w;
    struct error e = {0};

    if (cpu_watch_create(&w, &params, &e)) {
        print_message("# skipped: %s\n", e.text);
        skip();
    }
    for (int i = 0; i < 3; i++) {
        usleep(20000);
        assert_int_equal(cpu_watch_frame(w, &frame, &e), 0);
    }
    assert_non_null(strstr(strbuf_str(&frame), "events a second"));
    assert_non_null(strstr(strbuf_str(&frame), "\n   0  "));
    cpu_watch_destroy(w);
    strbuf_finish(&frame);
}

TEST_GROUP(make_file, drop_file);
