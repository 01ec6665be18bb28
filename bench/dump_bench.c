/* SPDX-License-Identifier: MIT */
/* dump_bench: figures dump_time and crash_index.
 *
 * dump_time: a dump on request of a machine with 256 MiB of guest memory in use, while as many threads as there are
 * processors spin. crash_index: 10 000 dumps (500 different files, 20 names each) are indexed and ranked, folder by folder, and
 * each folder's are read right before; and then one more. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aerogpu/alloc.h>

#include "abi/builder.h"
#include "base/log.h"
#include "bench.h"
#include "blackbox/crashes.h"
#include "watch/watch.h"
#include "machine/driver.h"

enum { RUNS = 9, FILES = 500, NAMES = 20, FOLDERS = 20 };
_Static_assert(FILES % FOLDERS == 0, "as many in each");
#define TRACKED (UINT64_C(256) << 20)

static char dir[] = "/dev/shm/dump_benchXXXXXX";
static _Atomic bool stop;

static void check(int r, const char *what, const struct error *e)
{
    if (!r)
        return;
    fprintf(stderr, "dump_bench: %s: %s\n", what, e && e->code ? e->text : strerror(-r));
    exit(4);
}

static void *spin(void *arg)
{
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        continue;
    return NULL;
}

/* Milliseconds in which as many bytes are written to a file, as they are. */
static double write_bare(const void *bytes)
{
    double start = bench_now() / 1e6;
    char path[128];
    int fd;

    snprintf(path, sizeof(path), "%s/bare", dir);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (size_t at = 0; at < TRACKED; at += 1 << 20)
        if (write(fd, (const uint8_t *)bytes + at, 1 << 20) != 1 << 20)
            check(-errno, "write", NULL);
    close(fd);
    unlink(path);
    return bench_now() / 1e6 - start;
}

static void dump_time(struct bench *b)
{
    struct machine_params mp = {.kind = MACHINE_LIVE, .ram_size = TRACKED + (UINT64_C(64) << 20)};
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct driver_params dp = {0};
    struct machine *m;
    struct driver *d;
    struct watch *w;
    struct abi_builder builder;
    struct error e = {0};
    pthread_t threads[64];
    double ms[RUNS], bare[RUNS];
    uint64_t memory, table, stream, fence;
    struct aerogpu_alloc_entry entry = {.alloc_id = 1, .size_bytes = TRACKED};
    struct aerogpu_alloc_table_header header = {.magic = AEROGPU_ALLOC_TABLE_MAGIC,
                                                .abi_version = AEROGPU_ABI_VERSION_U32,
                                                .size_bytes = sizeof(header) + sizeof(entry),
                                                .entry_count = 1,
                                                .entry_stride_bytes = sizeof(entry)};
    struct stat st;
    uint32_t size;

    check(machine_create(&m, &mp, &e), "machine", &e);
    check(machine_wait_ready(m, 60000, &e), "executor", &e);
    dp.machine = m;
    check(watch_create(&w, &(struct watch_params){.machine = m}, &e), "watch", &e);
    check(driver_create(&d, &dp, &e), "driver", &e);
    memory = driver_alloc(d, TRACKED, 4096);
    table = driver_alloc(d, 4096, 4096);
    stream = driver_alloc(d, 4096, 4096);
    memset(driver_ptr(d, memory), 0x5a, TRACKED);
    entry.gpa = memory;
    memcpy(driver_ptr(d, table), &header, sizeof(header));
    memcpy((uint8_t *)driver_ptr(d, table) + sizeof(header), &entry, sizeof(entry));
    abi_builder_init(&builder);
    ABI_EMIT(&builder, NOP, nop, );
    memcpy(driver_ptr(d, stream), abi_builder_end(&builder, &size), builder.bytes.len);
    check(driver_submit(
              d,
              &(struct driver_submission){
                  .cmd_gpa = stream, .cmd_size = size, .alloc_gpa = table, .alloc_size = header.size_bytes},
              &fence),
          "submit", NULL);
    check(driver_wait(d, fence, 10 * NSEC_PER_SEC), "wait", NULL);
    for (long i = 0; i < cpus && i < 64; i++)
        pthread_create(&threads[i], NULL, spin, NULL);
    for (int i = 0; i < RUNS; i++) {
        char path[128];
        double start = bench_now() / 1e6;

        snprintf(path, sizeof(path), "%s/%d.aerogpudump", dir, i);
        check(watch_request(w, path, &e), "dump", &e);
        ms[i] = bench_now() / 1e6 - start;
        if (stat(path, &st) || (uint64_t)st.st_size < TRACKED) {
            fprintf(stderr, "dump_bench: the dump has %lld bytes\n", (long long)st.st_size);
            exit(1);
        }
        unlink(path);
        bare[i] = write_bare(driver_ptr(d, memory));
    }
    atomic_store(&stop, true);
    for (long i = 0; i < cpus && i < 64; i++)
        pthread_join(threads[i], NULL);
    bench_report(b,
                 &(struct bench_figure){.id = "dump_time",
                                        .ours_each = ms,
                                        .reference_each = bare,
                                        .rounds = RUNS,
                                        .unit = "ms",
                                        .target = 3,
                                        .note = "256 MiB of guest memory, all processors spinning, against "
                                                "writing them"});
    abi_builder_finish(&builder);
    watch_destroy(w);
    driver_destroy(d);
    machine_destroy(m);
}

static void make_dump(const char *path, int i)
{
    static const char *const kinds[] = {"shader", "resource", "path", "command"};
    struct bb_package *p;
    struct bb_error e = {0};

    if (bb_package_create(&p, 0))
        exit(4);
    bb_meta(p, "fingerprint", "%016x", i % 7);
    bb_meta(p, "time", "2026-08-%02dT00:00:00Z", 1 + i % 28);
    bb_meta(p, "device", "a device");
    bb_row(p, BB_TABLE_FINDING);
    bb_int(p, BB_finding_rank, 0);
    bb_text(p, BB_finding_certainty, "certain");
    bb_text(p, BB_finding_cause, "hang");
    bb_textf(p, BB_finding_text, "Draw %d of submission 1 does not finish", i);
    bb_row_end(p);
    for (int k = 0; k < 60; k++) {
        bb_row(p, BB_TABLE_USAGE);
        bb_text(p, BB_usage_kind, kinds[k % 4]);
        bb_textf(p, BB_usage_name, "%s %d", kinds[k % 4], k < 10 ? k : (i * 31 + k) % 200);
        bb_int(p, BB_usage_commands, 100);
        bb_int(p, BB_usage_running, k < 10 && k % 7 == i % 7);
        bb_row_end(p);
    }
    bb_row(p, BB_TABLE_USAGE);
    bb_text(p, BB_usage_kind, "total");
    bb_text(p, BB_usage_name, "");
    bb_int(p, BB_usage_commands, 1000);
    bb_int(p, BB_usage_running, 1);
    bb_row_end(p);
    if (bb_package_send(p, &(struct bb_send_params){.path = path}, &e)) {
        fprintf(stderr, "dump_bench: %s\n", e.text);
        exit(4);
    }
    bb_package_destroy(p);
}

static void name_dump(char path[160], int file, int name)
{
    snprintf(path, 160, "%s/%d/%d-%d.aerogpudump", dir, file / (FILES / FOLDERS), file, name);
}

/* Seconds in which every file of a folder is opened and its findings are read, by SQLite alone. */
static double read_bare(int folder)
{
    double start = bench_cpu();
    char path[160];

    for (int i = 0; i < FILES / FOLDERS * NAMES; i++) {
        sqlite3_stmt *s = NULL;
        sqlite3 *db = NULL;

        name_dump(path, folder * (FILES / FOLDERS) + i / NAMES, i % NAMES);
        if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ||
            sqlite3_prepare_v2(db, "SELECT * FROM finding", -1, &s, NULL) || sqlite3_step(s) != SQLITE_ROW)
            check(-EIO, sqlite3_errmsg(db), NULL);
        sqlite3_finalize(s);
        sqlite3_close(db);
    }
    return (bench_cpu() - start) / 1e9;
}

static void make_dumps(void)
{
    char path[160], other[160];

    for (int i = 0; i < FILES; i++) {
        name_dump(path, i, 0);
        snprintf(other, sizeof(other), "%s/%d", dir, i / (FILES / FOLDERS));
        if (i % (FILES / FOLDERS) == 0 && mkdir(other, 0700))
            exit(4);
        make_dump(path, i);
        for (int k = 1; k < NAMES; k++) {
            name_dump(other, i, k);
            if (link(path, other))
                exit(4);
        }
    }
}

static void crash_index(struct bench *b)
{
    char path[160], note[120];
    struct bb_crashes_added added = {0};
    struct strbuf out = {0};
    struct bb_crashes *c;
    struct error e = {0};
    double start, rank, ours[FOLDERS], bare[FOLDERS];

    make_dumps();
    snprintf(path, sizeof(path), "%s/index.db", dir);
    check(bb_crashes_open(&c, path, &e), "index", &e);
    for (int i = 0; i < FOLDERS; i++) {
        bare[i] = read_bare(i);
        snprintf(path, sizeof(path), "%s/%d", dir, i);
        start = bench_cpu();
        check(bb_crashes_add(c, path, &added, &e), "index", &e);
        ours[i] = (bench_cpu() - start) / 1e9;
    }
    start = bench_cpu();
    check(bb_crashes_text(c, &out, &e), "rank", &e);
    rank = (bench_cpu() - start) / 1e9;
    for (int i = 0; i < FOLDERS; i++)
        ours[i] += rank / FOLDERS;
    snprintf(path, sizeof(path), "%s/new.aerogpudump", dir);
    make_dump(path, 3);
    start = bench_cpu();
    check(bb_crashes_add(c, path, &added, &e), "index", &e);
    snprintf(
        note, sizeof(note),
        "%llu dumps indexed and ranked, in %d folders, against reading their findings; one more: %.1f ms",
        (unsigned long long)added.added, FOLDERS, (bench_cpu() - start) / 1e6);
    bench_report(b, &(struct bench_figure){.id = "crash_index",
                                           .ours_each = ours,
                                           .reference_each = bare,
                                           .rounds = FOLDERS,
                                           .unit = "s/folder",
                                           .target = 6,
                                           .note = note});
    bb_crashes_close(c);
    strbuf_finish(&out);
}

int main(int argc, char **argv)
{
    char command[64];
    struct bench b;
    int r;

    bench_init(&b, argc, argv);
    log_set_level(LOG_ERROR);
    if (!mkdtemp(dir)) {
        perror(dir);
        return 4;
    }
    if (bench_wants(&b, "dump_time"))
        dump_time(&b);
    if (bench_wants(&b, "crash_index"))
        crash_index(&b);
    r = bench_finish(&b);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) ? 4 : r;
}
