/* SPDX-License-Identifier: MIT */
/* Whose executor is whose, as a device sees it: real processes, with an engine that does what it is told. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aerogpu/ext.h>

#include "base/clock.h"
#include "executor/exec_test_engine.h"
#include "machine/executors.h"

enum { RAM_SIZE = 1 << 20, WAIT_MS = 60000, A_WHILE_US = 300000 };
static const uint64_t RAM_GPA = UINT64_C(0x10000000);

struct fixture {
    struct executors *x;
    int epoll_fd, ram_fd;
    unsigned char *ram;
    uint64_t next_id;
    unsigned completed, errors, deaths, files_before;
};

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

static void start(struct fixture *f)
{
    struct executors_params p = {.host = {.executable = TEST_PROGRAMS "/exec_test_executor",
                                          .complete = on_complete,
                                          .died = on_died,
                                          .ctx = f}};
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
}

static void stop(struct fixture *f)
{
    executors_destroy(f->x);
    munmap(f->ram, RAM_SIZE);
    close(f->ram_fd);
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

static int submit(struct fixture *f, uint32_t client, uint32_t flags, struct test_command cmd)
{
    struct abi_submission s = {.id = f->next_id, .client = client, .session = 1, .flags = flags};
    int r;

    if (cmd.op != TEST_NOTHING) {
        uint32_t offset = (uint32_t)(s.id % 512 * sizeof(cmd));

        memcpy(f->ram + offset, &cmd, sizeof(cmd));
        s.cmd_gpa = RAM_GPA + offset;
        s.cmd_size = sizeof(cmd);
    }
    r = executors_submit(f->x, &s);
    f->next_id += r == 0;
    return r;
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
    for (unsigned i = 1; i <= 4; i++)
        must_submit(&f, 7, 0,
                    (struct test_command){.op = i < 4 ? TEST_SLEEP : TEST_STORE,
                                          .a = i < 4 ? A_WHILE_US / 4 : RAM_GPA + RAM_SIZE - 8,
                                          .b = 0xC0FFEE});
    must_submit(&f, 7, AEROGPU_SUBMIT_FLAG_EXT_CLIENT_ENDS, nothing);
    executors_dispatch(f.x); /* its process may be taken out here, and may not */
    run_until(&f, 5, 0);
    assert_int_equal(f.errors, 0);
    assert_int_equal(*(uint32_t *)(f.ram + RAM_SIZE - 8), 0xC0FFEE);
    assert_int_equal(executors_own_pid(f.x, 7), 0);
    stop(&f);
}
