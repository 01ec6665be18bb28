/* SPDX-License-Identifier: MIT */
/* flight_bench: figures recorder_event and kill9.
 *
 * recorder_event: what one event of the flight recorder costs, beside an event with clock_gettime and a write to memory.
 * kill9: processes that record as fast as they can are killed with SIGKILL at random instants; every file must be readable,
 * and every event that is read must be whole: its three arguments belong together. Processes that have dumps made, and those that
 * make them, are killed as well: what lies there as a dump must be a whole one. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <aerogpu/blackbox.h>

#include "bench.h"

enum { EVENTS = 1 << 20, ROUNDS = 15, DUMP_KILLS = 200 };

static char dir[] = "/dev/shm/flight_benchXXXXXX";

static struct bb_flight *open_flight(const char *name, uint32_t events)
{
    struct bb_flight *f;
    struct bb_error e = {0};

    if (bb_flight_open(&f, &(struct bb_flight_params){.directory = dir, .name = name, .events = events},
                       &e)) {
        fprintf(stderr, "flight_bench: %s\n", e.text);
        exit(4);
    }
    return f;
}

static void event_cost(struct bench *b)
{
    struct bb_flight *f = open_flight("cost", 16384);
    static volatile struct {
        uint64_t time, a, b, c;
    } ring[16384];
    double ours[ROUNDS], reference[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        double start = bench_cpu();

        for (uint64_t i = 0; i < EVENTS; i++)
            bb_flight_event(f, 1, i, i + 1, i + 2);
        ours[r] = (bench_cpu() - start) / EVENTS;
        start = bench_cpu();
        for (uint64_t i = 0; i < EVENTS; i++) {
            struct timespec ts;
            clock_gettime(CLOCK_MONOTONIC, &ts);
            ring[i & 16383].time = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
            ring[i & 16383].a = i;
            ring[i & 16383].b = i + 1;
            ring[i & 16383].c = i + 2;
        }
        reference[r] = (bench_cpu() - start) / EVENTS;
    }
    (void)ring[0].a;
    bench_report(b, &(struct bench_figure){.id = "recorder_event",
                                           .ours_each = ours,
                                           .reference_each = reference,
                                           .rounds = ROUNDS,
                                           .unit = "ns",
                                           .target = 1.3,
                                           .note = "one event of the flight recorder, against "
                                                   "clock_gettime and a store into a ring"});
    bb_flight_close(f);
}

struct check {
    uint64_t events, torn;
};

static void check_event(void *ctx, const struct bb_flight_record *r)
{
    struct check *c = ctx;

    c->events++;
    c->torn += r->b != r->a * 3 + 1 || r->c != (r->a ^ UINT64_C(0x5555555555555555));
}

static void __attribute__((noreturn)) victim(void)
{
    struct bb_flight *f = open_flight("victim", 1024);

    bb_flight_name(f, 7, "work(n)");
    for (uint64_t i = 0;; i++)
        bb_flight_event(f, 7, i, i * 3 + 1, i ^ UINT64_C(0x5555555555555555));
}

/* ---- dumps -------------------------------------------------------------------------------------------------------- */

static void __attribute__((noreturn)) dump_victim(void)
{
    static char blob[1 << 18];
    char path[128];

    for (unsigned n = 0;; n++) {
        struct bb_package *p;
        struct bb_error e = {0};

        if (bb_package_create(&p, 0))
            _exit(4);
        bb_meta(p, "summary", "dump %u", n);
        bb_row(p, BB_TABLE_FILE);
        bb_text(p, BB_file_name, "blob");
        bb_text(p, BB_file_kind, "recording");
        bb_int(p, BB_file_size, sizeof(blob));
        bb_int(p, BB_file_part, 0);
        bb_blob(p, BB_file_bytes, blob, sizeof(blob));
        for (unsigned i = 0; i < 2000; i++) {
            bb_row(p, BB_TABLE_EVENT);
            bb_int(p, BB_event_time_ns, i);
            bb_text(p, BB_event_process, "victim");
        }
        snprintf(path, sizeof(path), "%s/%d-%u.aerogpudump", dir, (int)getpid(), n);
        if (bb_package_send(p, &(struct bb_send_params){.path = path}, &e)) {
            fprintf(stderr, "flight_bench: %s\n", e.text);
            _exit(4);
        }
        bb_package_destroy(p);
    }
}

/* The process that writes the dump, if there is one now. */
static pid_t child_of(pid_t pid)
{
    char path[64];
    int child = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    f = fopen(path, "re");
    if (f && fscanf(f, "%d", &child) != 1)
        child = 0;
    if (f)
        fclose(f);
    return child;
}

/* Reads every dump of the folder and removes all that is there. Returns how many dumps could not be read. */
static unsigned look_at_dumps(unsigned *dumps)
{
    FILE *nowhere = fopen("/dev/null", "we");
    unsigned bad = 0;
    struct dirent *d;
    DIR *list = opendir(dir);

    while (list && (d = readdir(list))) {
        char path[400];
        size_t n = strlen(d->d_name);

        snprintf(path, sizeof(path), "%s/%s", dir, d->d_name);
        if (n > 12 && !strcmp(d->d_name + n - 12, ".aerogpudump")) {
            bad += bb_report(path, BB_REPORT_JSON, nowhere, NULL) != 0;
            ++*dumps;
        }
        if (d->d_name[0] != '.' || n > 2)
            unlink(path);
    }
    if (list)
        closedir(list);
    fclose(nowhere);
    return bad;
}

/* Kills who has dumps made, and every other time the process that makes them. Returns how many dumps were bad. */
static unsigned dump_kills(int n, unsigned *dumps)
{
    unsigned bad = 0;

    for (int i = 0; i < n; i++) {
        pid_t pid = fork(), writer;

        if (!pid)
            dump_victim();
        usleep(5000 + (useconds_t)(rand() % 60000));
        writer = child_of(pid);
        if (writer && i % 2)
            kill(writer, SIGKILL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        for (int ms = 0; writer && !kill(writer, 0) && ms < 2000; ms++)
            usleep(1000); /* it may finish what it was given */
        bad += look_at_dumps(dumps);
    }
    return bad;
}

static void kills(struct bench *b, int n)
{
    uint64_t readable = 0, torn = 0, events = 0;
    unsigned dumps = 0, bad;
    char path[128], note[260];

    srand(1);
    for (int i = 0; i < n; i++) {
        struct check c = {0};
        pid_t pid = fork();

        if (!pid)
            victim();
        snprintf(path, sizeof(path), "%s/victim-%d.flight", dir, (int)pid);
        while (access(path, R_OK))
            usleep(100);
        usleep(400 + (useconds_t)(rand() % 2000));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        readable += bb_flight_read(path, check_event, &c, NULL) >= 0;
        torn += c.torn;
        events += c.events;
        unlink(path);
    }
    bad = dump_kills(DUMP_KILLS, &dumps);
    snprintf(
        note, sizeof(note),
        "of %d processes killed while recording, files readable; %llu events, %llu torn; of %d killed while "
        "dumps were written %u dumps, %u bad",
        n, (unsigned long long)events, (unsigned long long)torn, DUMP_KILLS, dumps, bad);
    bench_report(b, &(struct bench_figure){.id = "kill9",
                                           .ours = torn || bad ? 0 : readable,
                                           .reference = n,
                                           .unit = "files",
                                           .target = 1,
                                           .at_least = 1,
                                           .note = note});
}

int main(int argc, char **argv)
{
    struct bench b;
    char path[128];

    bench_init(&b, argc, argv);
    if (!mkdtemp(dir)) {
        perror(dir);
        return 4;
    }
    event_cost(&b);
    snprintf(path, sizeof(path), "%s/cost-%d.flight", dir, (int)getpid());
    unlink(path);
    kills(&b, 1000);
    rmdir(dir);
    return bench_finish(&b);
}
