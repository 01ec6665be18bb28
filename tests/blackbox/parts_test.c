/* SPDX-License-Identifier: MIT */
/* parts_test.c: the flight recorder, the registry of resources, delta debugging. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aerogpu/blackbox.h>

#include "base/ddmin.h"
#include "base/file/seal.h"
#include "base/rng.h"
#include "blackbox/flight_file.h"
#include "blackbox/flight_read.h"
#include "blackbox/internal.h"
#include "temp_dir.h"

/* ---- flight recorder ----------------------------------------------------- */

struct seen {
    uint64_t n, last_number, last_time, out_of_order, torn;
    char name[80];
};

static void see(void *ctx, const struct bb_flight_record *r)
{
    struct seen *s = ctx;

    s->out_of_order += s->n && (r->time_ns < s->last_time);
    s->torn += r->b != r->a * 3 || r->c != ~r->a;
    s->n++;
    s->last_number = r->number;
    s->last_time = r->time_ns;
    snprintf(s->name, sizeof(s->name), "%s", r->name);
}

static struct bb_flight *open_flight(const char *name, uint32_t events)
{
    struct bb_flight *f;
    struct bb_error e = {0};

    if (bb_flight_open(&f, &(struct bb_flight_params){.directory = dir, .name = name, .events = events}, &e))
        fail_msg("%s", e.text);
    return f;
}

static void record(struct bb_flight *f, uint64_t i)
{
    bb_flight_event(f, 3, i, i * 3, ~i);
}

TEST(flight_keeps_the_last)
{
    struct bb_flight *f = open_flight("last", 64);
    struct seen s = {0};

    bb_flight_name(f, 3, "tick(n)\xff");
    for (uint64_t i = 0; i < 1000; i++)
        record(f, i);
    assert_int_equal(bb_flight_read(bb_flight_path(f), see, &s, NULL), 64);
    assert_int_equal(s.last_number, 999);
    assert_int_equal(s.out_of_order, 0);
    assert_int_equal(s.torn, 0);
    assert_string_equal(s.name, "tick(n)\xEF\xBF\xBD");
    bb_flight_close(f);
    bb_flight_event(NULL, 1, 2, 3, 4); /* without a recorder: nothing */
}

static void *record_many(void *f)
{
    for (uint64_t i = 0; i < 20000; i++)
        record(f, i);
    return NULL;
}

TEST(flight_takes_threads)
{
    struct bb_flight *f = open_flight("threads", 65536);
    pthread_t t[3];
    struct seen s = {0};

    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, record_many, f);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(bb_flight_read(bb_flight_path(f), see, &s, NULL), 60000);
    assert_int_equal(s.torn, 0);
    bb_flight_close(f);
}

TEST(flight_survives_kill)
{
    for (int i = 0; i < 10; i++) {
        struct seen s = {0};
        char path[128];
        pid_t pid = fork();

        if (!pid)
            for (struct bb_flight *f = open_flight("victim", 256);;)
                record_many(f);
        snprintf(path, sizeof(path), "%s/victim-%d.flight", dir, (int)pid);
        while (access(path, R_OK))
            usleep(200);
        usleep(1500);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        assert_true(bb_flight_read(path, see, &s, NULL) >= 0);
        assert_int_equal(s.torn, 0);
    }
}

/* Whoever reads while others write has the header of a moment ago, and events as they are behind any instruction of the writer: what
 * he is told was written whole. */
TEST(flight_tells_whole_events)
{
    enum { EVENTS = 16, SIZE = FLIGHT_EVENTS_AT + EVENTS * sizeof(struct flight_event) };
    struct seen s = {0};
    uint8_t copy[SIZE], *file;
    char path[128];
    pid_t pid = fork();
    int status, fd;

    if (!pid) {
        struct bb_flight *f = open_flight("stopped", EVENTS);
        record_many(f);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(77);
        raise(SIGSTOP);
        for (;;)
            record_many(f);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("# ptrace is not allowed here\n");
        skip();
    }
    snprintf(path, sizeof(path), "%s/stopped-%d.flight", dir, (int)pid);
    fd = open(path, O_RDONLY);
    file = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(file, MAP_FAILED);
    for (int i = 0; i < 4000 || (i < 1000000 && s.last_number <= 20002); i++) {
        assert_true(WIFSTOPPED(status));
        if (i % 200 == 0)
            memcpy(copy, file, FLIGHT_EVENTS_AT);
        memcpy(copy + FLIGHT_EVENTS_AT, file + FLIGHT_EVENTS_AT, SIZE - FLIGHT_EVENTS_AT);
        assert_in_range(flight_parse(copy, SIZE, see, &s, path, NULL), 0, EVENTS);
        assert_int_equal(s.torn, 0);
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
    }
    assert_true(s.last_number > 20002); /* the writer came to write */
    munmap(file, SIZE);
    close(fd);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST(flight_is_shared)
{
    struct bb_flight *f = open_flight("shared", 64), *other;
    struct seen s = {0};

    assert_int_equal(bb_flight_attach(&other, bb_flight_fd(f), NULL), 0);
    record(f, 1);
    record(other, 2);
    assert_int_equal(bb_flight_read(bb_flight_path(f), see, &s, NULL), 2);
    bb_flight_close(other);
    bb_flight_close(f);
}

TEST(flight_folder)
{
    struct bb_flight *a = open_flight("a", 64), *b = open_flight("b", 64);
    char path[128];
    struct seen s = {0};
    uint32_t bad;
    FILE *f;

    for (uint64_t i = 0; i < 20; i++)
        record(i & 1 ? a : b, i);
    snprintf(path, sizeof(path), "%s/garbage.flight", dir);
    f = fopen(path, "w");
    fputs("this is no flight recorder", f);
    fclose(f);
    assert_true(bb_flight_read_all(dir, 0, see, &s, &bad) >= 20);
    assert_int_equal(s.out_of_order, 0);
    assert_int_equal(bad, 1);
    assert_int_equal(bb_flight_read_all(dir, UINT64_MAX, see, &s, &bad), 0);
    assert_int_equal(bb_flight_read_all("/none/such", 0, see, &s, &bad), -ENOENT);
    bb_flight_close(a);
    bb_flight_close(b);
}

/* It holds what a process did: its user's business alone, whatever the process grants otherwise. */
TEST(flight_is_its_users)
{
    const mode_t was = umask(0);
    struct bb_flight *f = open_flight("mine", 64);
    struct stat st;

    umask(was);
    assert_int_equal(stat(bb_flight_path(f), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    bb_flight_close(f);
}

/* Who is given a descriptor believes none of its numbers: a file with room for what it says it has is taken, no other. */
TEST(flight_of_another_size_is_refused)
{
    static const struct {
        uint32_t events;
        int64_t more;
    } cases[] = {{64, 0}, {64, 64}, {64, -64}, {128, 0}, {32, 0}, {0, 0}, {48, 0}, {UINT32_MAX, 0}};
    const size_t size = FLIGHT_EVENTS_AT + 64 * sizeof(struct flight_event);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct flight_header h = {
            .magic = "AGFLIGHT", .version = FLIGHT_VERSION, .events = cases[i].events};
        int fd = memfd_create("flight", MFD_CLOEXEC);
        struct bb_error e = {0};
        struct bb_flight *f;

        assert_int_equal(ftruncate(fd, (off_t)size + cases[i].more), 0);
        assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
        assert_int_equal(bb_flight_attach(&f, fd, &e), i ? -EBADMSG : 0);
        if (!i)
            record(f, 1);
        bb_flight_close(f);
        close(fd);
    }
}

TEST(flight_is_refused)
{
    struct bb_flight *f;
    struct bb_error e = {0};
    struct flight_header h = {.magic = "AGFLIGHT", .version = 9, .events = 64};
    struct error pe = {0};
    struct seen s = {0};
    static uint8_t bytes[FLIGHT_EVENTS_AT];

    assert_int_equal(bb_flight_open(&f, &(struct bb_flight_params){.directory = dir, .events = 100}, &e),
                     -EINVAL);
    assert_string_equal(e.text, "100 events: a power of two up to 4194304 is needed");
    assert_int_equal(flight_parse(bytes, 100, see, &s, "x", &pe), -EBADMSG);
    assert_string_equal(pe.text, "x: 100 bytes are no flight recorder");
    error_clear(&pe);
    memcpy(bytes, &h, sizeof(h));
    assert_int_equal(flight_parse(bytes, sizeof(bytes), see, &s, "x", &pe), -EPROTONOSUPPORT);
    assert_string_equal(pe.text, "x: offset 0x8: version 9, 1 is known");
    error_clear(&pe);
    h.version = 1;
    h.events = 63;
    memcpy(bytes, &h, sizeof(h));
    assert_int_equal(flight_parse(bytes, sizeof(bytes), see, &s, "x", &pe), -EBADMSG);
    assert_string_equal(pe.text, "x: offset 0xc: 63 events");
    /* Cut off behind the names: no event, no error. */
    h.events = 64;
    atomic_store(&h.next, 1000);
    memcpy(bytes, &h, sizeof(h));
    assert_int_equal(flight_parse(bytes, sizeof(bytes), see, &s, "x", NULL), 0);
}

/* ---- resources ----------------------------------------------------------- */

static void add(struct bb_resources *r, uint64_t id, uint64_t address, uint64_t size, const char *name)
{
    assert_int_equal(
        bb_resources_add(r,
                         &(struct bb_resource){
                             .id = id, .name = name, .kind = "buffer", .address = address, .size = size}),
        0);
}

TEST(faults_are_judged)
{
    struct bb_resources *r;
    struct bb_fault f;

    assert_int_equal(bb_resources_create(&r, 0), 0);
    add(r, 1, 0x10000, 0x1000, "lights");
    add(r, 2, 0x40000, 0x1000, "");
    bb_resources_fault(r, 0x10010, &f);
    assert_int_equal(f.kind, BB_FAULT_INSIDE);
    assert_string_equal(f.text, "0x10010 lies 16 bytes into buffer 'lights', which is alive: "
                                "not writable or misaligned");
    bb_resources_fault(r, 0x11007, &f);
    assert_int_equal(f.kind, BB_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(f.distance, 8);
    assert_string_equal(
        f.text, "out of bounds by 8 bytes: 0x11007 lies behind the end of buffer 'lights' (4096 bytes)");
    assert_true(f.has_above && f.above.id == 2);
    bb_resources_fault(r, 0x3fff0, &f);
    assert_string_equal(f.text,
                        "out of bounds by 16 bytes: 0x3fff0 lies before the start of buffer 2 (4096 bytes)");
    assert_int_equal(bb_resources_remove(r, 1, 500), 0);
    assert_int_equal(bb_resources_remove(r, 1, 500), -ENOENT);
    bb_resources_fault(r, 0x10010, &f);
    assert_int_equal(f.kind, BB_FAULT_USE_AFTER_FREE);
    assert_int_equal(f.resource.destroyed_ns, 500);
    assert_string_equal(
        f.text,
        "use after free: 0x10010 lies 16 bytes into buffer 'lights' (4096 bytes), which was destroyed");
    add(r, 3, 0x10000, 0x100, "second");
    assert_int_equal(bb_resources_remove(r, 3, 900), 0);
    bb_resources_fault(r, 0x10010, &f);
    assert_int_equal(f.num_former, 2);
    assert_string_equal(f.former[0].name, "second"); /* the latest owner first */
    assert_string_equal(f.former[1].name, "lights");
    assert_non_null(strstr(
        f.text, "which was destroyed; or into buffer 'lights', which was destroyed: it lay there, too"));
    add(r, 4, 0x50000, 0x100, "memless");
    bb_resources_evict(r, 4, true, 950);
    bb_resources_remove(r, 4, 950);
    bb_resources_fault(r, 0x50010, &f);
    assert_non_null(strstr(f.text, "buffer 'memless' (256 bytes), whose memory was freed"));
    bb_resources_fault(r, 0x900000000, &f);
    assert_int_equal(f.kind, BB_FAULT_NEVER_MAPPED);
    bb_resources_destroy(r);
}

TEST(what_comes_back_is_resident_again)
{
    struct bb_resources *r;
    struct bb_fault f;

    assert_int_equal(bb_resources_create(&r, 0), 0);
    add(r, 1, 0x10000, 0x1000, "lights");
    for (uint64_t round = 0; round < 2; round++) {
        assert_int_equal(bb_resources_evict(r, 1, true, round), 0);
        bb_resources_fault(r, 0x10010, &f);
        assert_int_equal(f.kind, BB_FAULT_NOT_RESIDENT);
        assert_string_equal(f.text,
                            "not resident: 0x10010 lies 16 bytes into buffer 'lights', which is alive "
                            "and was evicted");
        assert_int_equal(bb_resources_evict(r, 1, false, round + 1), 0);
        bb_resources_fault(r, 0x10010, &f);
        assert_int_equal(f.kind, BB_FAULT_INSIDE);
    }
    assert_int_equal(bb_resources_evict(r, 2, true, 1), -ENOENT);
    bb_resources_destroy(r);
}

TEST(bad_resources)
{
    struct bb_resources *r;
    struct bb_fault f;

    assert_int_equal(bb_resources_create(&r, 4), 0);
    assert_int_equal(
        bb_resources_add(r, &(struct bb_resource){.id = 1, .address = UINT64_MAX - 10, .size = 100}),
        -EINVAL);
    add(r, 1, UINT64_MAX - 10, 11, "at the end \xff");
    assert_int_equal(bb_resources_add(r, &(struct bb_resource){.id = 1}), -EEXIST);
    bb_resources_fault(r, UINT64_MAX, &f);
    assert_int_equal(f.kind, BB_FAULT_INSIDE);
    assert_string_equal(f.resource.name, "at the end \xEF\xBF\xBD");
    bb_resources_destroy(r);
}

static void count(void *ctx, const struct bb_resource *r)
{
    ++*(uint32_t *)ctx;
}

/* The last 65 536 that were freed are known, and not one more. */
TEST(history_is_bounded)
{
    struct bb_resources *r;
    struct bb_fault f;
    uint32_t n = 0;

    assert_int_equal(bb_resources_create(&r, 0), 0);
    for (uint64_t i = 0; i < 65536 + 100; i++) {
        add(r, i, 0x100000 + i * 0x1000, 0x1000, "");
        bb_resources_remove(r, i, i + 1);
    }
    bb_resources_each(r, count, &n);
    assert_int_equal(n, 65536);
    assert_int_equal(bb_resources_gaps(r).forgotten, 100);
    bb_resources_fault(r, 0x100000 + 99 * 0x1000, &f);
    assert_int_equal(f.kind, BB_FAULT_NOT_SEEN);
    assert_false(f.has_resource);
    bb_resources_fault(r, 0x7f0000000000, &f); /* where none of them was */
    assert_int_equal(f.kind, BB_FAULT_NEVER_MAPPED);
    bb_resources_fault(r, 0x100000 + 100 * 0x1000, &f);
    assert_int_equal(f.kind, BB_FAULT_USE_AFTER_FREE);
    bb_resources_destroy(r);
}

/* What was destroyed has neighbours; of what was not seen nobody says that it was never mapped, but where no process has memory. */
TEST(former_neighbours_and_gaps)
{
    struct bb_resources *r;
    struct bb_fault f;

    assert_int_equal(bb_resources_create(&r, 4), 0);
    add(r, 1, 0x7f0000000000, 0x1000, "former");
    bb_resources_remove(r, 1, 1);
    bb_resources_fault(r, 0x7f0000001010, &f);
    assert_int_equal(f.kind, BB_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(f.distance, 17);
    assert_string_equal(f.resource.name, "former");
    assert_non_null(strstr(f.text, ", which was destroyed"));
    bb_resources_fault(r, 0x7effffffffff, &f);
    assert_true(f.kind == BB_FAULT_OUT_OF_BOUNDS && f.before && f.distance == 1);
    add(r, 2, 0x7f0000001020, 0x1000, "nearer"); /* and alive */
    bb_resources_fault(r, 0x7f0000001018, &f);
    assert_string_equal(f.resource.name, "nearer");

    add(r, 3, 0x7a0000000000, 0x3000, "reaches"); /* of two that overlap the one that reaches nearer, */
    add(r, 4, 0x7a0000001000, 0x1000, "begins");  /* not the one that begins nearer */
    bb_resources_fault(r, 0x7a0000003004, &f);
    assert_string_equal(f.resource.name, "reaches");
    assert_int_equal(f.distance, 5);

    bb_resources_fault(r, 0x7e0000000000, &f);
    assert_int_equal(f.kind, BB_FAULT_NEVER_MAPPED);
    bb_resources_lose(r, 3);
    assert_int_equal(bb_resources_gaps(r).lost, 3);
    bb_resources_fault(r, 0x7e0000000000, &f);
    assert_int_equal(f.kind, BB_FAULT_NOT_SEEN);
    bb_resources_fault(r, 8, &f);
    assert_int_equal(f.kind, BB_FAULT_NEVER_MAPPED);
    bb_resources_fault(r, UINT64_C(0xffff800000000000), &f);
    assert_int_equal(f.kind, BB_FAULT_NEVER_MAPPED);
    bb_resources_destroy(r);
}

/* ---- delta debugging ----------------------------------------------------- */

/* The smallest set is found whatever is needed, however many candidates are out at a time. */
TEST(ddmin_finds_the_smallest)
{
    for (uint64_t seed = 1; seed < 200; seed++) {
        struct rng rng = {.state = seed};
        uint32_t n = (uint32_t)rng_below(&rng, 150), num_needed = n ? (uint32_t)rng_below(&rng, 5) : 0,
                 distinct = 0;
        uint32_t needed[5], jobs = 1 + (uint32_t)rng_below(&rng, 8), out = 0, steps = 0;
        struct ddmin_candidate c[8];
        struct ddmin *d = ddmin_create(n);

        for (uint32_t i = 0; i < num_needed; i++) {
            bool again = false;
            needed[i] = (uint32_t)rng_below(&rng, n);
            for (uint32_t k = 0; k < i; k++)
                again |= needed[k] == needed[i];
            distinct += !again;
        }
        while (!ddmin_is_done(d)) {
            uint32_t pick;
            while (out < jobs && ddmin_next(d, &c[out]))
                out++;
            assert_true(out > 0 && steps++ < 100000);
            pick = (uint32_t)rng_below(&rng, out);
            if (!ddmin_is_stale(d, c[pick].ticket)) {
                bool still = true;
                for (uint32_t i = 0; i < num_needed; i++)
                    still &= c[pick].keep[needed[i]];
                ddmin_answer(d, c[pick].ticket, still);
            }
            c[pick] = c[--out];
        }
        assert_int_equal(ddmin_num_kept(d), distinct);
        ddmin_destroy(d);
    }
}

/* ---- databases ----------------------------------------------------------- */

static void note_first(void *ctx, const char *table, const char *what)
{
    char *first = ctx;

    if (!*first)
        snprintf(first, 256, "%s %s", table, what);
}

/* Each inner page of table `t` names the next 80 times: 80^8 rows in 6 KiB. It is said, and takes no longer than the file is long. */
TEST(pages_in_circles_end)
{
    enum { PAGE = 512, FIRST = 2, LEVELS = 9, CHILDREN = 80, CELL = PAGE - 8 };
    char path[128], first[256] = "";
    sqlite3 *db;
    int fd;

    snprintf(path, sizeof(path), "%s/circles", dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA page_size=512; CREATE TABLE t(a BLOB);"
                                  "CREATE TABLE checksum(name TEXT, rows INTEGER, hash TEXT, marks BLOB);"
                                  "INSERT INTO checksum VALUES('t', 1, 'x', NULL);"
                                  "INSERT INTO t VALUES(zeroblob(300)), (zeroblob(300)), (zeroblob(5000))",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(lseek(fd, 0, SEEK_END) >= (FIRST + 1 + LEVELS) * PAGE);
    for (uint8_t level = 0; level < LEVELS; level++) { /* the table's root is page 2, its checksum's page 3 */
        const uint8_t page = level ? 3 + level : FIRST, next = 4 + level;
        uint8_t bytes[PAGE] = {5, 0, 0, 0, CHILDREN, CELL >> 8, CELL & 0xFF, 0, 0, 0, 0, next};
        for (int i = 0; i < CHILDREN; i++) {
            bytes[12 + 2 * i] = CELL >> 8;
            bytes[13 + 2 * i] = CELL & 0xFF;
        }
        bytes[CELL + 3] = next; /* and 0, the greatest row in it */
        if (level == LEVELS - 1) {
            memset(bytes, 0, sizeof(bytes));
            memcpy(bytes, (uint8_t[]){13, 0, 0, 0, 1, CELL >> 8, CELL & 0xFF, 0, CELL >> 8, CELL & 0xFF}, 10);
            memcpy(bytes + CELL, (uint8_t[]){2, 1, 2, 8},
                   4); /* two bytes, row 1: a header of 2, the number 0 */
        }
        assert_int_equal(pwrite(fd, bytes, PAGE, (page - 1) * PAGE), PAGE);
    }
    close(fd);
    assert_int_equal(seal_open(&db, path, SQLITE_OPEN_READONLY), SQLITE_OK);
    assert_int_equal(seal_check(db, NULL, note_first, first), SQLITE_INTERRUPT);
    assert_non_null(strstr(first, "t cannot be read behind its row "));
    assert_non_null(strstr(first, ": its pages name each other in circles"));
    sqlite3_close(db);
    unlink(path);
}

TEST(a_table_has_one_checksum)
{
    char path[128], first[256] = "";
    sqlite3 *db;

    snprintf(path, sizeof(path), "%s/twice", dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "CREATE TABLE t(a BLOB); INSERT INTO t VALUES(1);"
                                  "CREATE TABLE checksum(name TEXT, rows INTEGER, hash TEXT, marks BLOB)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(seal_table(db, "t"), SQLITE_OK);
    assert_int_equal(seal_check(db, NULL, note_first, first), SQLITE_OK);
    assert_string_equal(first, "");
    assert_int_equal(sqlite3_exec(db, "INSERT INTO checksum SELECT * FROM checksum", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(seal_check(db, NULL, note_first, first), SQLITE_OK);
    assert_string_equal(first, "t has more than one checksum");
    sqlite3_close(db);
    unlink(path);
}

TEST_GROUP(make_dir, remove_dir);
