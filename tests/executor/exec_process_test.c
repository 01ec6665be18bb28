/* SPDX-License-Identifier: MIT */
/* The executor as a process of its own, through executor/host/host.h: what a device sees of it when it works,
 * dies, hangs, lies, or is not there. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/sched/slice.h"
#include "executor/process/sanitized.h"
#include "exec_process_rig.h"
#include "executor/host/host.h"
#include "executor/process/memory.h"
#include "executor/host/proto.h"

TEST(empty_submissions_complete_in_order)
{
    struct fixture f = {0};
    struct exec_host_stats stats;
    char name[256];
    bool is_cpu;

    start(&f);
    must_submit(&f, TEST_NOTHING, 0, 0); /* before it is ready */
    run_until(&f, 1, 0);
    exec_host_device_name(f.host, name, &is_cpu);
    assert_string_equal(name, "test engine");
    assert_true(is_cpu);
    while (f.completed < 200000) {
        fill(&f);
        exec_host_wait(f.host, 1000);
        exec_host_dispatch(f.host);
    }
    run_until(&f, (unsigned)(f.next_id - 1), 0);
    assert_int_equal(f.errors, 0);
    exec_host_stats(f.host, &stats);
    assert_int_equal(stats.completed, f.completed);
    assert_int_equal(stats.submitted, f.completed);
    assert_true(stats.doorbells < f.completed);
    stop(&f);
}

TEST(one_at_a_time_by_the_event_descriptor)
{
    struct fixture f = {0};
    struct pollfd p;

    start(&f);
    p = (struct pollfd){.fd = exec_host_event_fd(f.host), .events = POLLIN};
    for (unsigned i = 1; i <= 20000; i++) {
        must_submit(&f, TEST_NOTHING, 0, 0);
        while (f.completed < i) {
            assert_int_equal(poll(&p, 1, 10000), 1);
            exec_host_dispatch(f.host);
        }
    }
    assert_int_equal(f.errors, 0);
    stop(&f);
}

TEST(a_full_ring_says_so)
{
    struct fixture f = {0};

    start(&f);
    must_submit(&f, TEST_SLEEP, 50000, 0);
    fill(&f);
    assert_int_equal(f.next_id, EXEC_HOST_DEPTH + 1);
    assert_int_equal(submit(&f, TEST_NOTHING, 0, 0), -EAGAIN);
    run_until(&f, EXEC_HOST_DEPTH, 0);
    must_submit(&f, TEST_NOTHING, 0, 0);
    run_until(&f, EXEC_HOST_DEPTH + 1, 0);
    assert_int_equal(f.errors, 0);
    assert_int_equal(exec_host_submit(f.host, &(struct abi_submission){0}), -EINVAL);
    stop(&f);
}

TEST(maps_are_in_effect_for_what_follows)
{
    struct fixture f = {0};
    struct error e = {0};
    const uint64_t gpa = UINT64_C(0x8000000000);
    int fd = memfd_create("more", MFD_CLOEXEC);
    uint32_t *more;

    assert_int_equal(ftruncate(fd, 8 * 4096), 0);
    more = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    start(&f);
    must_be_ready(&f);
    for (unsigned i = 0; i < 2000; i++) {
        must_submit(&f, TEST_STORE, gpa + 4, i);
        assert_int_equal(exec_host_map(f.host, gpa, 4096, fd, 4096 * (i % 8), &e), 0);
        must_submit(&f, TEST_STORE, gpa + 4, i + 1);
        assert_int_equal(exec_host_unmap(f.host, gpa, 4096), 0);
        must_submit(&f, TEST_STORE, gpa + 4, i);
        run_until(&f, 3 * i + 3, 0);
        assert_string_equal(f.kept[(3 * i) % KEPT].message, "not guest memory 0");
        assert_int_equal(f.kept[(3 * i + 1) % KEPT].error, 0);
        assert_int_equal(f.kept[(3 * i + 2) % KEPT].error, 1);
        assert_int_equal(more[(i % 8) * 1024 + 1], i + 1);
    }
    munmap(more, 8 * 4096);
    close(fd);
    f.files_before--; /* counted after `fd` was open */
    stop(&f);
}

/* What is unmapped goes when what was submitted before it is done, and not earlier. */
TEST(memory_stays_while_it_is_worked_with)
{
    const uint64_t gpa = UINT64_C(0x8000000000);
    struct fixture f = {0};
    struct error e = {0};

    start(&f);
    must_be_ready(&f);
    for (unsigned i = 1; i <= 4; i++) {
        assert_int_equal(exec_host_map(f.host, gpa, 4096, f.ram_fd, 4096 * i, &e), 0);
        must_submit(&f, TEST_SLEEP, 50000, 0);
        must_submit(&f, TEST_STORE, gpa + 4, i);
        assert_int_equal(exec_host_unmap(f.host, gpa, 4096), 0);
        run_until(&f, 2 * i, 0);
        assert_int_equal(f.errors, 0);
        assert_int_equal(*(uint32_t *)(f.ram + 4096 * i + 4), i);
    }
    stop(&f);
}

TEST(regions_survive_the_executor)
{
    struct fixture f = {0};
    struct error e = {0};

    start(&f);
    assert_int_equal(exec_host_map(f.host, 0, 4096, f.ram_fd, 4096 * 9, &e), 0);
    must_be_ready(&f);
    kill(exec_host_pid(f.host), SIGKILL);
    run_until(&f, 0, 1);
    must_submit(&f, TEST_STORE, 12, 0xabcd);
    run_until(&f, 1, 1);
    assert_int_equal(last(&f)->error, 0);
    assert_int_equal(*(uint32_t *)(f.ram + 4096 * 9 + 12), 0xabcd);
    stop(&f);
}

/* Descriptors are for who maps, not for each of those who have it: else clients times their memory. */
TEST(hosts_share_what_they_map)
{
    const uint64_t more = RAM_GPA + 16 * (uint64_t)RAM_SIZE;
    struct fixture f = {0}, g = {0};
    struct exec_region *r[20];
    struct error e = {0};
    unsigned files;

    start(&f);
    start(&g);
    must_be_ready(&f);
    must_be_ready(&g);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(exec_region_create(&r[i], more + i * (uint64_t)RAM_SIZE, RAM_SIZE, f.ram_fd, 0, &e),
                         0);
        assert_int_equal(exec_host_map_region(f.host, r[i], &e), 0);
    }
    files = test_open_fds();
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(exec_host_map_region(g.host, r[i], &e), 0);
        exec_region_put(r[i]);
    }
    assert_int_equal(test_open_fds(), files);
    assert_int_equal(exec_host_map_region(g.host, r[0], &e), -EEXIST);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(exec_host_unmap(f.host, more + i * (uint64_t)RAM_SIZE, RAM_SIZE), 0);
    must_submit(&g, TEST_STORE, more + 19 * (uint64_t)RAM_SIZE, 77); /* it outlives the first */
    run_until(&g, 1, 0);
    assert_int_equal(g.errors, 0);
    assert_int_equal(f.ram[0], 77);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(exec_host_unmap(g.host, more + i * (uint64_t)RAM_SIZE, RAM_SIZE), 0);
    exec_host_destroy(g.host);
    munmap(g.ram, RAM_SIZE);
    close(g.ram_fd);
    stop(&f);
}

TEST(bad_regions_are_refused)
{
    struct fixture f = {0};
    struct error e = {0};
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    const struct {
        uint64_t gpa, size;
        int fd;
        uint64_t offset;
        int code;
        const char *text;
    } bad[] = {
        {0, 0, 0, 0, -EINVAL, "region 0x0, size 0x0, offset 0x0: not whole pages"},
        {1, 4096, 0, 0, -EINVAL, "region 0x1, size 0x1000, offset 0x0: not whole pages"},
        {0, 4096, 0, 8, -EINVAL, "region 0x0, size 0x1000, offset 0x8: not whole pages"},
        {UINT64_MAX - 4095, 8192, 0, 0, -EINVAL, "region 0xfffffffffffff000, size 0x2000 wraps around"},
        {0, RAM_SIZE + 4096, 0, 0, -EINVAL,
         "region 0x0, size 0x101000, offset 0x0 ends beyond its file of 0x100000 bytes"},
        {0, 4096, 0, UINT64_MAX - 4095, -EINVAL,
         "region 0x0, size 0x1000, offset 0xfffffffffffff000 ends beyond its file of 0x100000 bytes"},
        {RAM_GPA + 4096, 4096, 0, 0, -EEXIST,
         "region 0x10001000, size 0x1000 overlaps the one at 0x10000000"},
        {RAM_GPA - 4096, 8192, 0, 0, -EEXIST, "region 0xffff000, size 0x2000 overlaps the one at 0x10000000"},
        {0, 4096, 999, 0, -EBADF, "region 0x0: descriptor 999: Bad file descriptor"},
        {0, 4096, 1000, 0, -EACCES, NULL},
    };

    start(&f);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int use = bad[i].fd == 0 ? f.ram_fd : bad[i].fd == 1000 ? fd : bad[i].fd;

        error_clear(&e);
        assert_int_equal(exec_host_map(f.host, bad[i].gpa, bad[i].size, use, bad[i].offset, &e), bad[i].code);
        if (bad[i].text)
            assert_string_equal(e.text, bad[i].text);
    }
    assert_int_equal(exec_host_unmap(f.host, RAM_GPA, 4096), -ENOENT);
    assert_int_equal(exec_host_unmap(f.host, 0, 4096), -ENOENT);
    close(fd);
    f.files_before--;  /* counted after `fd` was open */
    must_be_ready(&f); /* to start it takes descriptors, and there may be none left */
    for (unsigned i = 1; i < EXEC_HOST_REGIONS; i++) {
        int r = exec_host_map(f.host, RAM_GPA + RAM_SIZE + 4096 * i, 4096, f.ram_fd, 0, &e);
        if (r == -EMFILE)
            break; /* this process may not open that many files */
        assert_int_equal(r, 0);
    }
    assert_int_not_equal(exec_host_map(f.host, 0, 4096, f.ram_fd, 0, &e), 0);
    must_submit(&f, TEST_STORE, RAM_GPA + RAM_SIZE + 4096 + 4, 5);
    run_until(&f, 1, 0);
    assert_int_equal(last(&f)->error, 0);
    stop(&f);
}

TEST(memory_is_contiguous_across_regions)
{
    struct exec_memory m;
    int fd = memfd_create("ram", MFD_CLOEXEC);
    unsigned char *p, *q;

    assert_int_equal(ftruncate(fd, 16 * 4096), 0);
    exec_memory_init(&m);
    /* 0x1000..0x3fff from three places out of order, a gap, 0x5000..0x5fff, and the last page there is. */
    assert_int_equal(exec_memory_add(&m, 0x2000, 4096, fd, 4096 * 7), 0);
    assert_int_equal(exec_memory_add(&m, 0x1000, 4096, fd, 4096 * 3), 0);
    assert_int_equal(exec_memory_add(&m, 0x5000, 4096, fd, 4096 * 5), 0);
    assert_int_equal(exec_memory_add(&m, UINT64_MAX - 4095, 4096, fd, 0), 0);
    p = exec_memory_get(&m, 0x1ffc, 8);
    assert_non_null(p);
    assert_int_equal(exec_memory_add(&m, 0x3000, 4096, fd, 4096 * 1), 0);
    assert_int_equal(exec_memory_add(&m, 0x2000, 4096, fd, 0), -EEXIST);
    memcpy(p, "12345678", 8); /* still there */
    q = exec_memory_get(&m, 0x1000, 0x3000);
    assert_non_null(q);
    assert_memory_equal(q + 0xffc, "12345678", 8);
    assert_memory_equal(exec_memory_get(&m, 0x2000, 4), "5678", 4);
    memset(q, 0x77, 0x3000);
    assert_int_equal(*(unsigned char *)exec_memory_get(&m, 0x3fff, 1), 0x77);
    assert_null(exec_memory_get(&m, 0x1000, 0x3001));
    assert_null(exec_memory_get(&m, 0xfff, 2));
    assert_null(exec_memory_get(&m, 0x3fff, 0x1002));
    assert_null(exec_memory_get(&m, 0x4fff, 2));
    assert_null(exec_memory_get(&m, 0x2000, UINT64_MAX));
    assert_null(exec_memory_get(&m, 0x2000, 0));
    assert_non_null(exec_memory_get(&m, UINT64_MAX, 1));
    assert_null(exec_memory_get(&m, UINT64_MAX, 2));
    exec_memory_trim(&m);
    assert_int_equal(m.views.n, 1);
    assert_ptr_equal(exec_memory_get(&m, 0x1000, 0x3000), q);
    assert_int_equal(exec_memory_remove(&m, 0x2000, 8192), -ENOENT);
    assert_int_equal(exec_memory_remove(&m, 0x2000, 4096), 0);
    assert_int_equal(m.views.n, 0);
    assert_null(exec_memory_get(&m, 0x1ffc, 8));
    assert_non_null(exec_memory_get(&m, 0x1ffc, 4));
    exec_memory_finish(&m);
    close(fd);
}

TEST(a_fault_fails_what_was_in_the_ring)
{
    struct fixture f = {0};
    const struct {
        uint32_t op;
        uint64_t address;
        int signal;
    } faults[] = {{TEST_FAULT, 0x1230, SIGSEGV}, {TEST_FAULT_THREAD, 0xdead000, SIGSEGV}};

    start(&f);
    for (unsigned i = 0; i < 2; i++) {
        must_submit(&f, TEST_NOTHING, 0, 0);
        must_submit(&f, TEST_SLEEP, 20000, 0);
        must_submit(&f, faults[i].op, faults[i].address, 0);
        must_submit(&f, TEST_NOTHING, 0, 0);
        run_until(&f, 5 * i + 4, i + 1);
        assert_int_equal(f.kept[5 * i + 0].error, 0);
        assert_int_equal(f.kept[5 * i + 1].error, 0);
        assert_int_equal(f.kept[5 * i + 2].error, BACKEND);
        assert_true(f.kept[5 * i + 2].has_fault);
        assert_int_equal(f.kept[5 * i + 2].fault_address, faults[i].address);
        assert_non_null(strstr(f.kept[5 * i + 2].message, "the executor died: page fault at 0x"));
        assert_int_equal(f.kept[5 * i + 3].error, BACKEND);
        assert_false(f.kept[5 * i + 3].has_fault);
        assert_int_equal(f.death.signal, faults[i].signal);
        assert_int_equal(f.death.submission, f.kept[5 * i + 2].id);
        assert_int_equal(f.death.fault_address, faults[i].address);
        must_submit(&f, TEST_NOTHING, 0, 0);
        run_until(&f, 5 * i + 5, i + 1);
        assert_int_equal(last(&f)->error, 0);
    }
    stop(&f);
}

TEST(a_fault_of_the_main_thread_names_what_it_decoded)
{
    struct fixture f = {0};

    start(&f);
    must_be_ready(&f);
    must_submit(&f, TEST_FAULT, 0x40, 0);
    run_until(&f, 1, 1);
    assert_int_equal(last(&f)->fault_address, 0x40);
    must_submit(&f, TEST_OVERFLOW, 0, 0); /* needs a stack of the handler's own */
    run_until(&f, 2, 2);
    assert_int_equal(f.death.signal, SIGSEGV);
    assert_true(f.death.has_fault);
    must_submit(&f, TEST_DIVIDE, 0, 0);
    run_until(&f, 3, 3);
    assert_int_equal(f.death.signal, SIGFPE);
    assert_false(f.death.has_fault);
    assert_false(last(&f)->has_fault);
    assert_int_equal(last(&f)->error, BACKEND);
    must_submit(&f, TEST_EXIT, 42, 0);
    run_until(&f, 4, 4);
    assert_int_equal(f.death.signal, 0);
    assert_int_equal(f.death.exit_code, 42);
    assert_string_equal(last(&f)->message, "the executor ended with status 42");
    stop(&f);
}

/* Guest memory whose file has become shorter: the touch is a SIGBUS. */
TEST(vanished_guest_memory_is_a_fault)
{
    struct fixture f = {0};
    struct error e = {0};
    int fd = memfd_create("short", MFD_CLOEXEC);

    assert_int_equal(ftruncate(fd, 4096), 0);
    start(&f);
    assert_int_equal(exec_host_map(f.host, 0, 4096, fd, 0, &e), 0);
    must_submit(&f, TEST_STORE, 0, 1);
    run_until(&f, 1, 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    must_submit(&f, TEST_STORE, 0, 1);
    run_until(&f, 2, 1);
    assert_int_equal(f.death.signal, SIGBUS);
    assert_true(last(&f)->has_fault);
    close(fd);
    f.files_before--;
    stop(&f);
}

TEST(killed_at_any_instant)
{
    struct fixture f = {0};
    struct rng rng = {11};
    pid_t killed = 0;
    unsigned kills = SANITIZED ? 150 : 1000, done = 0;
    struct exec_host_stats stats;

    start(&f);
    for (unsigned i = 0; done < kills; i++) {
        uint64_t end = clock_now(&f.clock) + rng_below(&rng, 3 * NSEC_PER_MSEC);
        pid_t pid;

        if (i % 8)
            must_be_ready(&f); /* else it is killed at its start, now and then */
        do {
            if (rng_below(&rng, 4))
                submit(&f, TEST_NOTHING, 0, 0);
            else if (rng_below(&rng, 2))
                submit(&f, TEST_SLEEP, 20, 0);
            else
                submit(&f, TEST_STORE, RAM_GPA + 65536, 1);
            if (rng_below(&rng, 3) == 0)
                exec_host_dispatch(f.host);
        } while (clock_now(&f.clock) < end);
        pid = exec_host_pid(f.host);
        if (pid && pid != killed) {
            kill(pid, SIGKILL);
            killed = pid;
            done++;
        }
        if (rng_below(&rng, 16) == 0) {
            exec_host_reset(f.host);
            f.expected_id = f.next_id;
        }
        if (rng_below(&rng, 2)) {
            exec_host_dispatch(f.host);
            must_be_ready(&f);
        }
    }
    /* All of it comes to an end, and then it works. */
    for (uint64_t end = clock_now(&f.clock) + 60 * NSEC_PER_SEC;
         f.expected_id < f.next_id && clock_now(&f.clock) < end;) {
        exec_host_wait(f.host, 100);
        exec_host_dispatch(f.host);
    }
    assert_int_equal(f.expected_id, f.next_id);
    must_be_ready(&f);
    must_submit(&f, TEST_STORE, RAM_GPA + 65536, 77);
    while (f.expected_id < f.next_id) {
        exec_host_wait(f.host, 1000);
        exec_host_dispatch(f.host);
    }
    exec_host_stats(f.host, &stats);
    printf("# %u kills, %u deaths at work, %u of %u submissions failed\n", done, f.deaths, f.errors,
           f.completed);
    assert_int_equal(stats.deaths, done);
    stop(&f);
}

/* Submitted when it had died and its owner did not know: nobody waits for the process that comes next. */
TEST(what_comes_around_a_death_fails_with_it)
{
    struct fixture f = {0};
    struct pollfd p;

    for (unsigned all = 0; all < 2; all++) {
        f = (struct fixture){0};
        start(&f);
        must_be_ready(&f);
        exec_host_dispatch(f.host);
        if (all)
            exec_host_fail_all(f.host);
        kill(exec_host_pid(f.host), SIGKILL);
        p = (struct pollfd){.fd = exec_host_event_fd(f.host), .events = POLLIN};
        assert_int_equal(poll(&p, 1, 60000), 1); /* its supervisor knows */
        for (unsigned i = 0; i < 3; i++)
            must_submit(&f, TEST_NOTHING, 0, 0);
        run_until(&f, 3, 1);
        assert_int_equal(f.errors, all ? 3 : 0);
        must_submit(&f, TEST_NOTHING, 0, 0); /* whoever does now, knows */
        run_until(&f, 4, 1);
        assert_int_equal(f.errors, all ? 3 : 0);
        stop(&f);
    }
}

TEST(a_stopped_executor_blocks_nothing)
{
    struct fixture f = {0};
    struct error e = {0};
    pid_t pid;

    start_params(&f, (struct exec_host_params){.limits = {.reset_ms = 1000}});
    must_submit(&f, TEST_NOTHING, 0, 0);
    run_until(&f, 1, 0);
    pid = exec_host_pid(f.host);
    kill(pid, SIGSTOP); /* whoever waits for it from here to the reset waits for ever */
    fill(&f);
    /* More than its socket takes. */
    for (unsigned i = 0; i < 600; i++) {
        assert_int_equal(exec_host_map(f.host, 0, 4096, f.ram_fd, 0, &e), 0);
        assert_int_equal(exec_host_unmap(f.host, 0, 4096), 0);
    }
    assert_int_equal(exec_host_dispatch(f.host), 0);
    exec_host_reset(f.host);
    f.expected_id = f.next_id;
    assert_true(exec_host_resetting(f.host));
    must_submit(&f, TEST_STORE, RAM_GPA + 65536, 5);
    run_until(&f, 2, 1);
    assert_int_equal(last(&f)->error, 0);
    assert_false(exec_host_resetting(f.host));
    assert_int_equal(f.death.signal, SIGKILL);
    assert_string_equal(f.death.message, "the executor was killed: it did not answer a reset within 1000 ms");
    assert_int_not_equal(exec_host_pid(f.host), pid);
    stop(&f);
}

TEST(a_reset_drops_without_completions)
{
    struct fixture f = {0};
    struct exec_host_stats stats;
    pid_t pid;

    start_params(&f, (struct exec_host_params){.limits = {.reset_ms = 60000}});
    must_be_ready(&f);
    pid = exec_host_pid(f.host);
    for (unsigned i = 0; i < 300; i++) {
        unsigned before = f.completed;

        must_submit(&f, TEST_SLEEP, 300, 0);
        must_submit(&f, TEST_NOTHING, 0, 0);
        if (i % 3 == 0)
            usleep(200);
        if (i % 5 == 0)
            exec_host_reset(f.host);
        exec_host_reset(f.host);
        f.expected_id = f.next_id;
        must_submit(&f, TEST_STORE, RAM_GPA + 65536, i);
        run_until(&f, before + 1, 0);
        assert_int_equal(*(uint32_t *)(f.ram + 65536), i);
    }
    assert_int_equal(exec_host_pid(f.host), pid); /* it answered every one */
    exec_host_stats(f.host, &stats);
    assert_int_equal(stats.dropped + stats.completed, stats.submitted);
    stop(&f);
}

/* As many as the ring has room for are done, and none of their slots is free yet: what comes then waits, and is done. */
TEST(a_slot_is_free_when_it_was_taken)
{
    struct fixture f = {0};

    setenv("AEROGPU_HOSTILE_SEED", "lazy", 1);
    start_params(&f, (struct exec_host_params){.executable = TEST_PROGRAMS "/exec_hostile"});
    fill(&f);
    run_until(&f, EXEC_HOST_DEPTH, 0);
    for (unsigned i = 0; i < 20; i++) {
        must_submit(&f, TEST_NOTHING, 0, 0);
        exec_host_dispatch(f.host);
    }
    run_until(&f, EXEC_HOST_DEPTH + 20, 0);
    assert_int_equal(f.errors, 0);
    stop(&f);
    unsetenv("AEROGPU_HOSTILE_SEED");
}

/* It has nothing to do, and sleeps: a reset is news as well, not for when it wakes by itself after five seconds. */
TEST(a_reset_wakes_who_sleeps)
{
    struct fixture f = {0};
    pid_t pid;

    start_params(&f, (struct exec_host_params){.limits = {.reset_ms = 4000}});
    must_be_ready(&f);
    pid = exec_host_pid(f.host);
    for (unsigned i = 1; i <= 3; i++) {
        usleep(50000);
        exec_host_reset(f.host);
        must_submit(&f, TEST_NOTHING, 0, 0);
        run_until(&f, i, 0);
    }
    assert_int_equal(f.errors, 0);
    assert_int_equal(exec_host_pid(f.host), pid);
    stop(&f);
}

TEST(a_hang_ends_with_a_reset)
{
    struct fixture f = {0};

    start_params(&f, (struct exec_host_params){.limits = {.reset_ms = 30}});
    must_submit(&f, TEST_HANG, 0, 0);
    must_be_ready(&f);
    assert_false(exec_host_wait(f.host, 50));
    exec_host_reset(f.host);
    f.expected_id = f.next_id;
    run_until(&f, 0, 1);
    assert_int_equal(f.death.submission, 0);
    must_submit(&f, TEST_NOTHING, 0, 0);
    run_until(&f, 1, 1);
    assert_int_equal(last(&f)->error, 0);
    stop(&f);
}

/* Its time goes from the reset that it did not answer, however many come after that. */
TEST(resets_give_a_hang_no_time)
{
    struct fixture f = {0};

    start_params(&f, (struct exec_host_params){.limits = {.reset_ms = 500}});
    must_submit(&f, TEST_HANG, 0, 0);
    must_be_ready(&f);
    assert_false(exec_host_wait(f.host, 50));
    for (int i = 0; i < 400 && !f.deaths; i++) {
        exec_host_reset(f.host);
        f.expected_id = f.next_id;
        usleep(20000);
        exec_host_dispatch(f.host);
    }
    assert_int_equal(f.deaths, 1);
    stop(&f);
}

TEST(a_missing_program_is_said_at_once)
{
    struct exec_host_params p = {.executable = "/nonexistent/executor", .complete = on_complete};
    struct exec_host *host;
    struct error e = {0};

    assert_int_equal(exec_host_create(&host, &p, &e), -ENOENT);
    assert_string_equal(e.text, "/nonexistent/executor, which is not the executor program");
    assert_null(host);
    p.executable = NULL;
    setenv("AEROGPU_EXECUTOR", "/nonexistent/other", 1);
    error_clear(&e);
    assert_int_equal(exec_host_create(&host, &p, &e), -ENOENT);
    assert_string_equal(e.text,
                        "AEROGPU_EXECUTOR names /nonexistent/other, which is not the executor program");
    unsetenv("AEROGPU_EXECUTOR");
}

TEST(no_vulkan_fails_everything_and_hangs_nothing)
{
    struct exec_host_stats before, after;
    struct fixture f = {0};
    struct error e = {0};

    start_params(&f, (struct exec_host_params){.device = "missing"});
    must_submit(&f, TEST_NOTHING, 0, 0);
    must_submit(&f, TEST_NOTHING, 0, 0);
    run_until(&f, 2, 0);
    assert_int_equal(f.errors, 2);
    assert_int_equal(last(&f)->error, BACKEND);
    assert_string_equal(last(&f)->message,
                        "there is no Vulkan device; a Vulkan driver is needed, Debian's package "
                        "mesa-vulkan-drivers has one");
    assert_int_equal(exec_host_wait_ready(f.host, -1, &e), -ENODEV);
    assert_string_equal(e.text, last(&f)->message);
    must_submit(&f, TEST_NOTHING, 0, 0);
    run_until(&f, 3, 0);
    assert_int_equal(f.errors, 3);
    exec_host_stats(f.host, &before);
    exec_host_reset(f.host); /* tries again */
    must_submit(&f, TEST_NOTHING, 0, 0);
    run_until(&f, 4, 0);
    assert_int_equal(f.errors, 4);
    exec_host_stats(f.host, &after);
    assert_true(after.starts > before.starts);
    stop(&f);
}

/* exec_refusing.c */
TEST(why_it_cannot_run_is_heard_however_late)
{
    struct fixture f = {0};
    struct error e = {0};

    start_params(&f, (struct exec_host_params){.executable = TEST_PROGRAMS "/exec_refusing"});
    for (int i = 0; i < 10; i++) {
        int r;

        while ((r = exec_host_wait_ready(f.host, 0, &e)) == -ETIMEDOUT) {
            assert_int_equal(exec_host_map(f.host, 0, 4096, f.ram_fd, 0, &e), 0);
            assert_int_equal(exec_host_unmap(f.host, 0, 4096), 0);
            error_clear(&e);
            usleep(200);
        }
        assert_int_equal(r, -ENODEV);
        assert_string_equal(e.text, "there is no device");
        error_clear(&e);
        exec_host_reset(f.host); /* tries again */
    }
    stop(&f);
}

TEST(dying_at_every_start_is_given_up)
{
    struct fixture f = {0};
    struct exec_host_stats stats;

    start_params(&f, (struct exec_host_params){.device = "dies"});
    must_submit(&f, TEST_NOTHING, 0, 0);
    run_until(&f, 1, 0);
    assert_string_equal(last(&f)->message, "the executor ended with status 9");
    exec_host_stats(f.host, &stats);
    assert_int_equal(stats.starts, 5);
    assert_int_equal(stats.failed, 1);
    stop(&f);
    f = (struct fixture){0};
    start_params(&f, (struct exec_host_params){.executable = "/bin/false"});
    must_submit(&f, TEST_NOTHING, 0, 0);
    run_until(&f, 1, 0);
    assert_string_equal(last(&f)->message, "the executor ended with status 1");
    stop(&f);
}

TEST(a_slow_start_is_waited_for_or_not)
{
    struct fixture f = {0};
    struct error e = {0};

    start_params(&f, (struct exec_host_params){.device = "slow"});
    must_submit(&f, TEST_NOTHING, 0, 0);
    assert_int_equal(exec_host_wait_ready(f.host, 10, &e), -ETIMEDOUT);
    run_until(&f, 1, 0);
    assert_int_equal(f.errors, 0);
    stop(&f);
    f = (struct fixture){0};
    start_params(&f, (struct exec_host_params){.device = "slow", .limits = {.start_ms = 20}});
    must_submit(&f, TEST_NOTHING, 0, 0);
    run_until(&f, 1, 0);
    assert_string_equal(last(&f)->message, "the executor was killed: it was not ready after 20 ms");
    stop(&f);
    f = (struct fixture){0};
    start_params(&f, (struct exec_host_params){.device = "slow"});
    stop(&f); /* in the middle of it */
}

/* A host that is killed leaves no executor, not even one that is stopped. */
TEST(the_executor_dies_with_its_host)
{
    for (int stopped = 0; stopped < 2; stopped++) {
        int to_parent[2];
        pid_t host_pid, pid = 0;
        char path[64], text[8192];

        assert_int_equal(pipe(to_parent), 0);
        host_pid = fork();
        if (!host_pid) {
            struct fixture *f = calloc(1, sizeof(*f));

            start(f);
            must_submit(f, TEST_HANG, 0, 0);
            must_be_ready(f);
            pid = exec_host_pid(f->host);
            if (stopped)
                kill(pid, SIGSTOP);
            if (write(to_parent[1], &pid, sizeof(pid)) != sizeof(pid))
                _exit(1);
            for (;;)
                pause();
        }
        assert_int_equal(read(to_parent[0], &pid, sizeof(pid)), sizeof(pid));
        kill(host_pid, SIGKILL);
        assert_int_equal(waitpid(host_pid, NULL, 0), host_pid);
        snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
        for (int i = 0; i < 500 && access(path, F_OK) == 0; i++) {
            read_status(pid, text, sizeof(text));
            if (strstr(text, "State:\tZ"))
                break; /* waits for whoever adopted it */
            usleep(10000);
        }
        if (access(path, F_OK) == 0) {
            read_status(pid, text, sizeof(text));
            assert_non_null(strstr(text, "State:\tZ"));
        }
        close(to_parent[0]);
        close(to_parent[1]);
    }
}

/* The executor's session has the share of the processors that the host's has. */
TEST(the_executor_is_as_nice_as_its_host)
{
    pid_t host_pid = fork();
    int status;

    if (!host_pid) {
        static struct fixture f;
        char path[64];
        int nice = 0, oom;
        FILE *file;

        setsid(); /* so that nobody else is nice */
        file = fopen("/proc/self/autogroup", "w");
        if (!file)
            _exit(77);
        fputs("7", file);
        if (fclose(file))
            _exit(77);
        /* Users may say so ten times a second, all of them together: a user's executor is refused at first. */
        start(&f);
        must_be_ready(&f);
        snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)exec_host_pid(f.host));
        file = fopen(path, "r");
        if (!file || fscanf(file, "%d", &oom) != 1 || oom < 500)
            _exit(2);
        fclose(file);
        snprintf(path, sizeof(path), "/proc/%d/autogroup", (int)exec_host_pid(f.host));
        file = fopen(path, "r");
        if (!file && errno == EACCES)
            _exit(77);
        if (!file || fscanf(file, "/autogroup-%*d nice %d", &nice) != 1)
            _exit(3);
        _exit(nice == 7 ? 0 : 1);
    }
    assert_int_equal(waitpid(host_pid, &status, 0), host_pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip(); /* no autogroups, or none that may be changed or read */
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(a_hostile_executor_harms_nobody)
{
    struct fixture f = {0};
    struct rng rng = {5};
    uint64_t end, late;
    struct exec_host_stats stats;

    setenv("AEROGPU_HOSTILE_SEED", "77", 1);
    start_params(&f, (struct exec_host_params){.executable = TEST_PROGRAMS "/exec_hostile",
                                               .limits = {.reset_ms = 10, .start_ms = 100}});
    end = clock_now(&f.clock) + (SANITIZED ? 8 : 4) * NSEC_PER_SEC;
    late = clock_now(&f.clock) + 120 * NSEC_PER_SEC;
    for (stats.deaths = 0; clock_now(&f.clock) < end || (stats.deaths <= 5 && clock_now(&f.clock) < late);
         exec_host_stats(f.host, &stats)) {
        struct error e = {0};
        uint64_t before = clock_now(&f.clock);

        for (unsigned n = (unsigned)rng_below(&rng, 20); n; n--)
            submit(&f, TEST_NOTHING, 0, 0);
        exec_host_wait(f.host, 1);
        exec_host_dispatch(f.host);
        if (rng_below(&rng, 200) == 0) {
            exec_host_reset(f.host);
            f.expected_id = f.next_id;
        }
        if (rng_below(&rng, 50) == 0 && exec_host_map(f.host, 0, 4096, f.ram_fd, 0, &e) == 0)
            assert_int_equal(exec_host_unmap(f.host, 0, 4096), 0);
        assert_true(clock_now(&f.clock) - before < 20 * NSEC_PER_SEC); /* nothing here waits for it */
    }
    assert_true(stats.deaths > 5);
    stop(&f);
    unsetenv("AEROGPU_HOSTILE_SEED");
}

int main(void)
{
    log_set_level(LOG_ERROR); /* every death is a warning, and there are thousands */
    return test_run();
}

/* A service and its executor are of two builds: both say their version, not nothing. */
TEST(another_version_is_named)
{
    struct exec_shared *shared;
    struct exec_ready ready = {0};
    int fd = memfd_create("shared", MFD_CLOEXEC), pair[2], status = 0;
    pid_t pid;

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, sizeof(*shared)), 0);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(shared != MAP_FAILED);
    shared->start = (struct exec_start){.magic = EXEC_PROTO_MAGIC, .version = EXEC_PROTO_VERSION - 1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    pid = fork();
    if (!pid) {
        int from = fcntl(fd, F_DUPFD, 20), to = fcntl(pair[1], F_DUPFD, 20);
        if (dup2(from, EXEC_FD_SHARED) >= 0 && dup2(to, EXEC_FD_CONTROL) >= 0)
            execl(TEST_PROGRAMS "/exec_test_executor", "aerogpu-executor", (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), EXEC_EXIT_START);
    assert_true(recv(pair[0], &ready, sizeof(ready), MSG_DONTWAIT) > 0);
    assert_int_equal(ready.code, -EPROTO);
    assert_non_null(
        strstr(ready.text, "the executor speaks version 6, and the service that started it version 5"));
    munmap(shared, sizeof(*shared));
    close(fd);
    close(pair[0]);
    close(pair[1]);
}
