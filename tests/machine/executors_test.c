/* SPDX-License-Identifier: MIT */
/* Whose executor is whose, as a device sees it: real processes, with an engine that does what it is told. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>

#include "base/clock.h"
#include "executor/exec_test_engine.h"
#include "machine/executors.h"

enum {
    RAM_SIZE = 4 << 20,
    MORE = 2,
    MORE_SIZE = 64 << 10,
    SLOTS = 512,
    ROOM = 4096,
    WAIT_MS = 60000,
    A_WHILE_US = 300000
};
enum { FIRST = 1, SECOND = 2, ACROSS = 4 }; /* of the files behind RAM */
static const uint64_t RAM_GPA = UINT64_C(0x10000000);

struct fixture {
    struct executors *x;
    int epoll_fd, ram_fd, more_fd[MORE];
    unsigned char *ram;
    uint32_t *more[MORE];
    uint32_t size; /* of the next command stream, if it is more than the command */
    uint64_t next_id;
    unsigned completed, errors, deaths, files_before;
};

static uint64_t more_gpa(unsigned i)
{
    return RAM_GPA + RAM_SIZE + (uint64_t)i * MORE_SIZE;
}

static void on_complete(void *ctx, const struct abi_completion *c)
{
    struct fixture *f = ctx;

    f->completed++;
    f->errors += c->error != 0;
}

static void on_died(void *ctx, const struct exec_death *d, const struct exec_progress *progress)
{
    struct fixture *f = ctx;

    f->deaths++;
}

static const void *guest(void *ctx, uint64_t gpa, uint64_t size)
{
    const struct fixture *f = ctx;

    return gpa >= RAM_GPA && gpa - RAM_GPA < RAM_SIZE && size <= RAM_SIZE - (gpa - RAM_GPA)
               ? f->ram + (gpa - RAM_GPA)
               : NULL;
}

static void start(struct fixture *f)
{
    struct executors_params p = {.host = {.executable = TEST_PROGRAMS "/exec_test_executor",
                                          .complete = on_complete,
                                          .died = on_died,
                                          .ctx = f},
                                 .guest = guest};
    struct error e = {0};

    *f = (struct fixture){.next_id = 1, .files_before = test_open_fds()};
    p.epoll_fd = f->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    f->ram_fd = memfd_create("ram", MFD_CLOEXEC);
    assert_int_equal(ftruncate(f->ram_fd, RAM_SIZE), 0);
    f->ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, f->ram_fd, 0);
    assert_true(f->ram != MAP_FAILED);
    if (executors_create(&f->x, &p, &e))
        fail_msg("%s", e.text);
    assert_int_equal(executors_map(f->x, RAM_GPA, RAM_SIZE, f->ram_fd, &e), 0);
    for (unsigned i = 0; i < MORE; i++) {
        f->more_fd[i] = memfd_create("more", MFD_CLOEXEC);
        assert_int_equal(ftruncate(f->more_fd[i], MORE_SIZE), 0);
        f->more[i] = mmap(NULL, MORE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, f->more_fd[i], 0);
        assert_true((void *)f->more[i] != MAP_FAILED);
        assert_int_equal(executors_map(f->x, more_gpa(i), MORE_SIZE, f->more_fd[i], &e), 0);
    }
}

static void stop(struct fixture *f)
{
    executors_destroy(f->x);
    munmap(f->ram, RAM_SIZE);
    close(f->ram_fd);
    for (unsigned i = 0; i < MORE; i++) {
        munmap(f->more[i], MORE_SIZE);
        close(f->more_fd[i]);
    }
    close(f->epoll_fd);
    assert_int_equal(test_open_fds(), f->files_before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void prepare(struct fixture *f, uint32_t client)
{
    struct error e = {0};

    if (executors_prepare(f->x, client, WAIT_MS, &e))
        fail_msg("%s", e.text);
}

/* `named`: FIRST, SECOND, ACROSS (the end of one and the beginning of the other), what its allocation table has. */
static int submit_with(struct fixture *f, uint32_t client, uint32_t flags, struct test_command cmd,
                       unsigned named)
{
    struct abi_submission s = {.id = f->next_id, .client = client, .session = 1, .flags = flags};
    struct {
        struct aerogpu_alloc_table_header h;
        struct aerogpu_alloc_entry entry[MORE];
    } table = {.h.entry_stride_bytes = sizeof(struct aerogpu_alloc_entry)};
    unsigned char *slot = f->ram + s.id % SLOTS * ROOM;
    int r;

    for (unsigned i = 0; i < MORE; i++)
        if (named & 1u << i)
            table.entry[table.h.entry_count++] =
                (struct aerogpu_alloc_entry){.gpa = more_gpa(i) + 4096, .size_bytes = 4096};
    if (named & ACROSS)
        table.entry[table.h.entry_count++] =
            (struct aerogpu_alloc_entry){.gpa = more_gpa(1) - 4096, .size_bytes = 8192};
    if (cmd.op != TEST_NOTHING) {
        memcpy(slot, &cmd, sizeof(cmd));
        s.cmd_gpa = RAM_GPA + (uint64_t)(slot - f->ram);
        s.cmd_size = f->size > sizeof(cmd) ? f->size : sizeof(cmd);
    }
    if (named) {
        memcpy(slot + ROOM / 2, &table, sizeof(table));
        s.alloc_gpa = RAM_GPA + (uint64_t)(slot - f->ram) + ROOM / 2;
        s.alloc_size = sizeof(table);
    }
    r = executors_submit(f->x, &s);
    f->next_id += r == 0;
    return r;
}

static int submit(struct fixture *f, uint32_t client, uint32_t flags, struct test_command cmd)
{
    return submit_with(f, client, flags, cmd, 0);
}

static void must_submit(struct fixture *f, uint32_t client, uint32_t flags, struct test_command cmd)
{
    assert_int_equal(submit(f, client, flags, cmd), 0);
}

/* Until `n` submissions have completed and `deaths` executors have died. */
static void run_until(struct fixture *f, unsigned n, unsigned deaths)
{
    struct clock clock;
    uint64_t end;

    clock_init_live(&clock);
    end = clock_now(&clock) + WAIT_MS * NSEC_PER_MSEC;
    while ((f->completed < n || f->deaths < deaths) && clock_now(&clock) < end) {
        struct epoll_event ev;

        epoll_wait(f->epoll_fd, &ev, 1, 20);
        executors_dispatch(f->x);
    }
    assert_int_equal(f->completed, n);
    assert_int_equal(f->deaths, deaths);
}

static const struct test_command nothing = {.op = TEST_NOTHING},
                                 a_while = {.op = TEST_SLEEP, .a = A_WHILE_US};

/* Of `value` into the second word of file i. */
static struct test_command store(unsigned i, uint32_t value)
{
    return (struct test_command){.op = TEST_STORE, .a = more_gpa(i) + 4, .b = value};
}

TEST(a_spare_that_nobody_used_is_the_first_clients)
{
    struct fixture f;
    pid_t spare;

    start(&f);
    prepare(&f, 0);
    spare = executors_client_pid(f.x, 0);
    prepare(&f, 7);
    assert_true(spare > 0);
    assert_int_equal(executors_own_pid(f.x, 7), spare);
    prepare(&f, 8);
    assert_int_not_equal(executors_own_pid(f.x, 8), spare);
    stop(&f);
}

TEST(what_others_worked_with_is_nobodys_own)
{
    struct fixture f;
    pid_t common;

    start(&f);
    must_submit(&f, 0, 0, nothing);
    run_until(&f, 1, 0);
    common = executors_client_pid(f.x, 0);
    prepare(&f, 7);
    assert_true(executors_own_pid(f.x, 7) > 0);
    assert_int_not_equal(executors_own_pid(f.x, 7), common);
    assert_int_equal(executors_client_pid(f.x, 0), common);
    stop(&f);
}

TEST(ordered_work_waits_for_others_and_not_for_its_own)
{
    const uint32_t ordered = AEROGPU_SUBMIT_FLAG_EXT_ORDERED;
    struct fixture f;

    start(&f);
    prepare(&f, 7);
    prepare(&f, 8);
    must_submit(&f, 7, ordered, a_while);
    must_submit(&f, 7, ordered, a_while); /* behind the first by itself */
    assert_int_equal(submit(&f, 8, ordered, nothing), -EAGAIN);
    must_submit(&f, 8, 0, nothing);
    run_until(&f, 3, 0);
    must_submit(&f, 8, ordered, nothing);
    run_until(&f, 4, 0);
    assert_int_equal(f.errors, 0);
    stop(&f);
}

TEST(who_has_nothing_to_do_does_not_hang)
{
    struct fixture f;
    pid_t pid;

    start(&f);
    prepare(&f, 7);
    pid = executors_own_pid(f.x, 7);
    must_submit(&f, 7, 0, nothing);
    run_until(&f, 1, 0);
    assert_false(executors_end_work(f.x, 7, true));
    assert_false(executors_is_ending(f.x, 7));
    assert_int_equal(executors_own_pid(f.x, 7), pid);
    must_submit(&f, 7, 0, (struct test_command){.op = TEST_HANG});
    assert_true(executors_end_work(f.x, 7, true));
    run_until(&f, 2, 1);
    assert_int_equal(f.errors, 1);
    assert_int_equal(submit(&f, 7, 0, nothing), -EIO); /* until it is prepared again */
    prepare(&f, 7);
    must_submit(&f, 7, 0, nothing);
    run_until(&f, 3, 1);
    assert_int_equal(f.errors, 1);
    stop(&f);
}

TEST(a_clients_end_waits_for_its_work)
{
    struct fixture f;

    start(&f);
    prepare(&f, 7);
    for (unsigned i = 0; i < 3; i++)
        must_submit(&f, 7, 0, (struct test_command){.op = TEST_SLEEP, .a = A_WHILE_US / 4});
    assert_int_equal(submit_with(&f, 7, 0, store(0, 0xC0FFEE), FIRST), 0);
    must_submit(&f, 7, AEROGPU_SUBMIT_FLAG_EXT_CLIENT_ENDS, nothing);
    executors_dispatch(f.x); /* its process may be taken out here, and may not */
    run_until(&f, 5, 0);
    assert_int_equal(f.errors, 0);
    assert_int_equal(f.more[0][1], 0xC0FFEE);
    assert_int_equal(executors_own_pid(f.x, 7), 0);
    stop(&f);
}

TEST(an_executor_has_what_its_clients_work_names)
{
    const struct test_command to_ram = {.op = TEST_STORE, .a = RAM_GPA + RAM_SIZE - 8, .b = 1};
    struct error e = {0};
    struct fixture f;
    unsigned done = 0;

    start(&f);
    prepare(&f, 7); /* the spare one, that was there before */
    prepare(&f, 8);
    for (uint32_t client = 7; client <= 8; client++) {
        must_submit(&f, client, 0, store(0, 70));
        must_submit(&f, client, 0, to_ram); /* where its own commands lie */
        assert_int_equal(submit_with(&f, client, 0, store(1, 70), FIRST), 0);
        run_until(&f, done += 3, 0);
        assert_int_equal(f.errors, done);
    }
    assert_int_equal(submit_with(&f, 7, 0, store(0, 71), FIRST), 0);
    must_submit(&f, 7, 0, store(0, 72)); /* what it had once, it has */
    assert_int_equal(submit_with(&f, 8, 0, store(1, 82), ACROSS), 0);
    must_submit(&f, 0, 0, store(1, 2)); /* nobody's own work has everything */
    must_submit(&f, 0, 0, to_ram);
    run_until(&f, done + 5, 0);
    assert_int_equal(f.errors, done);
    assert_int_equal(f.more[0][1], 72);
    assert_int_equal(*(uint32_t *)(f.ram + RAM_SIZE - 8), 1);
    executors_unmap(f.x, more_gpa(1), MORE_SIZE);
    must_submit(&f, 8, 0, store(1, 83));
    must_submit(&f, 0, 0, store(1, 3));
    run_until(&f, done + 7, 0);
    assert_int_equal(f.errors, done + 2);
    assert_int_equal(executors_map(f.x, more_gpa(1), MORE_SIZE, f.more_fd[0], &e), 0);
    must_submit(&f, 8, 0, store(1, 84)); /* another's, perhaps */
    assert_int_equal(submit_with(&f, 7, 0, store(1, 74), SECOND), 0);
    run_until(&f, done + 9, 0);
    assert_int_equal(f.errors, done + 3);
    assert_int_equal(f.more[0][1], 74);
    must_submit(&f, 0, 0, store(1, 4));
    run_until(&f, done + 10, 0);
    assert_int_equal(f.errors, done + 3);
    assert_int_equal(f.more[0][1], 4);
    stop(&f);
}

/* A table that makes no sense gives nothing, at once. */
TEST(a_table_without_a_stride_is_no_table)
{
    struct aerogpu_alloc_table_header *h;
    struct fixture f;

    start(&f);
    prepare(&f, 7);
    for (uint32_t stride = 0; stride < sizeof(struct aerogpu_alloc_entry); stride += 31) {
        struct abi_submission s = {.id = f.next_id++, .client = 7, .alloc_gpa = RAM_GPA, .alloc_size = 4096};
        h = (void *)f.ram;
        *h = (struct aerogpu_alloc_table_header){.entry_count = UINT32_MAX, .entry_stride_bytes = stride};
        assert_int_equal(executors_submit(f.x, &s), 0);
    }
    run_until(&f, 2, 0);
    stop(&f);
}

static void must_submit_in_time(struct fixture *f, struct test_command cmd)
{
    struct epoll_event ev;
    int r;

    while ((r = submit(f, 7, 0, cmd)) == -EAGAIN) {
        epoll_wait(f->epoll_fd, &ev, 1, 20);
        executors_dispatch(f->x);
    }
    assert_int_equal(r, 0);
}

/* Streams of every size, faster than they are executed; the executor reads what was submitted, whatever lies there by then. */
TEST(streams_are_read_as_they_were)
{
    enum { N = 3000 };
    struct fixture f;
    unsigned all = 1;

    start(&f);
    prepare(&f, 7);
    assert_int_equal(submit_with(&f, 7, 0, store(0, 0), FIRST), 0);
    for (uint32_t i = 1; i <= N; i++) {
        const struct test_command to = {.op = TEST_STORE, .a = more_gpa(0) + i % (MORE_SIZE / 4) * 4, .b = i};
        /* up to a third of a megabyte, and one that needs more room than there was; now and then so many small ones that no more are taken */
        f.size = i == N / 2 ? 1900000 : i % 1000 < 300 ? 0 : i % 97 * i % 300000;
        must_submit_in_time(&f, to);
        memset(f.ram + (f.next_id - 1) % SLOTS * ROOM, 0xee, sizeof(to));
        for (unsigned k = 0; k < i % 7; k++, all++) /* and some that have none */
            must_submit_in_time(&f, nothing);
        all++;
    }
    run_until(&f, all, 0);
    assert_int_equal(f.errors, 0);
    for (uint32_t i = 1; i <= N; i++)
        assert_int_equal(f.more[0][i % (MORE_SIZE / 4)], i);
    stop(&f);
}

/* More regions than an executor can have: whose work names few does not notice, and regions come all the same. */
TEST(who_has_everything_takes_nothing_from_others)
{
    const uint64_t far = RAM_GPA * 16;
    struct error e = {0};
    struct fixture f;

    start(&f);
    must_submit(&f, 0, 0, nothing); /* the executor of all */
    prepare(&f, 7);
    for (unsigned i = 0; i < EXEC_HOST_REGIONS + 10; i++) {
        int r = executors_map(f.x, far + 2 * (uint64_t)i * MORE_SIZE, MORE_SIZE, f.more_fd[1], &e);
        if (r == -EMFILE) {
            stop(&f);
            skip(); /* this process may not open that many files */
        }
        assert_int_equal(r, 0);
    }
    executors_unmap(f.x, more_gpa(0), MORE_SIZE);
    assert_int_equal(executors_map(f.x, more_gpa(0), MORE_SIZE, f.more_fd[0], &e), 0);
    assert_int_equal(submit_with(&f, 7, 0, store(0, 7), FIRST), 0);
    run_until(&f, 2, 0);
    assert_int_equal(f.errors, 0);
    assert_int_equal(f.more[0][1], 7);
    stop(&f);
}

/* What a reset dropped may still be read: it lies where it lay. */
/* What ran its work is not the next one's, who has its number, though a reset dropped what would have said that it is gone. */
TEST(a_number_is_given_again_without_its_executor)
{
    struct fixture f;
    pid_t pid;

    start(&f);
    prepare(&f, 7);
    assert_int_equal(submit_with(&f, 7, 0, store(0, 1), FIRST), 0);
    run_until(&f, 1, 0);
    pid = executors_own_pid(f.x, 7);
    assert_true(pid > 0);
    executors_reset(f.x);
    executors_client_gone(f.x, 8);
    assert_int_equal(executors_own_pid(f.x, 7), pid);
    executors_client_gone(f.x, 7);
    executors_client_gone(f.x, 7);
    assert_int_equal(executors_own_pid(f.x, 7), 0);
    prepare(&f, 7);
    assert_int_not_equal(executors_own_pid(f.x, 7), pid);
    assert_int_equal(submit_with(&f, 7, 0, store(0, 2), FIRST), 0);
    run_until(&f, 2, 0);
    assert_int_equal(f.more[0][1], 2);
    stop(&f);
}

TEST(a_reset_leaves_streams_alone)
{
    struct fixture f;
    pid_t pid;

    start(&f);
    prepare(&f, 7);
    pid = executors_own_pid(f.x, 7);
    for (unsigned round = 0; round < 20; round++) {
        const unsigned done = f.completed;
        for (unsigned i = 0; i < 10; i++)
            assert_int_equal(submit_with(&f, 7, 0, store(0, i), FIRST), 0);
        executors_reset(f.x);
        prepare(&f, 7);
        f.completed = done;
        assert_int_equal(submit_with(&f, 7, 0, store(0, 100 + round), FIRST), 0);
        run_until(&f, done + 1, 0);
        assert_int_equal(f.more[0][1], 100 + round);
    }
    assert_int_equal(f.errors, 0);
    assert_int_equal(executors_own_pid(f.x, 7), pid);
    stop(&f);
}
