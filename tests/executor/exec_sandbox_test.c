/* SPDX-License-Identifier: MIT */
/* What the executor's process may not do, is not given, and cannot spend. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/sched/private_memory.h"
#include "base/sched/slice.h"
#include "executor/process/sanitized.h"
#include "exec_process_rig.h"
#include "executor/host/host.h"
#include "executor/process/memory.h"
#include "executor/host/proto.h"

TEST(the_sandbox_denies)
{
    struct fixture f = {0};

    if (SANITIZED)
        skip(); /* a sanitizer's runtime needs the calls that the sandbox forbids */
    start(&f);
    for (unsigned i = 0; i < FORBIDDEN_COUNT; i++) {
        must_submit(&f, TEST_FORBIDDEN, i, 0);
        run_until(&f, i + 1, i + 1);
        assert_int_equal(last(&f)->error, BACKEND);
        assert_int_equal(f.death.signal, SIGSYS);
        assert_string_equal(last(&f)->message,
                            "the executor died: its sandbox forbids a system call that it made");
    }
    must_submit(&f, TEST_JIT, 0, 0);
    run_until(&f, FORBIDDEN_COUNT + 1, FORBIDDEN_COUNT);
    assert_int_equal(last(&f)->error, 0);
    must_submit(&f, TEST_OPEN, 24, 0); /* refused, and nobody dies of it */
    run_until(&f, FORBIDDEN_COUNT + 2, FORBIDDEN_COUNT);
    assert_int_equal(last(&f)->error, 0);
    stop(&f);
}

/* What a frame freed is there for the next one, and the kernel has it back when none comes; the sandbox lets it. */
TEST(an_idle_executor_keeps_no_memory)
{
    enum { FRAME = 40000000, SECONDS = 60 };
    struct fixture f = {0};
    pid_t pid;
    int tenths = 0;

    if (SANITIZED) /* heaps of their own */
        skip();
    start(&f);
    for (unsigned i = 0; i < 2; i++) {
        must_submit(&f, TEST_FRAME_MEMORY, 0, 0);
        run_until(&f, i + 1, 0);
        assert_int_equal(last(&f)->error, 0);
    }
    pid = exec_host_pid(f.host);
    assert_true(private_memory_of(pid) > FRAME);
    while (private_memory_of(pid) > FRAME / 4 && tenths++ < 10 * SECONDS)
        usleep(100000);
    assert_true(private_memory_of(pid) < FRAME / 4);
    must_submit(&f, TEST_NOTHING, 0, 0);
    run_until(&f, 3, 0);
    stop(&f);
}

/* libc, LLVM and Mesa may ask at any time: an error, and not death, on a recording that is valid. */
TEST(the_sandbox_refuses_what_libraries_do_without)
{
    struct fixture f = {0};

    if (SANITIZED)
        skip();
    start(&f);
    must_submit(&f, TEST_ASK, 0, 0);
    run_until(&f, 1, 0);
    assert_string_equal(last(&f)->message, "");
    stop(&f);
}

/* What /proc says of the process: a user of its own, no capabilities, a filter, no new privileges, few descriptors. */
static void read_link(pid_t pid, const char *what, char *text, size_t size)
{
    char path[64];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
    n = readlink(path, text, size - 1);
    text[n < 0 ? 0 : n] = '\0';
}

TEST(the_process_has_no_privileges)
{
    static const struct {
        int flag;
        const char *link;
    } spaces[] = {{CLONE_NEWNET, "ns/net"}, {CLONE_NEWIPC, "ns/ipc"}, {CLONE_NEWUTS, "ns/uts"}};
    struct fixture f = {0};
    char text[8192], own[64];
    struct stat memory;
    uint64_t usual = slice_of(0);

    slice_set(SLICE_SHORT); /* as the service's threads do */
    start(&f);
    slice_set(SLICE_USUAL);
    must_be_ready(&f);
    assert_int_equal(getsid(exec_host_pid(f.host)),
                     exec_host_pid(f.host)); /* its processor time is its own */
    assert_int_equal(slice_of(exec_host_pid(f.host)), usual);
    snprintf(own, sizeof(own), "/proc/%d/mem", (int)exec_host_pid(f.host));
    assert_int_equal(stat(own, &memory), 0);
    assert_int_equal(memory.st_uid, 0); /* nobody's to dump or to trace, though it is the user's process */
    read_status(exec_host_pid(f.host), text, sizeof(text));
    assert_non_null(strstr(text, "NoNewPrivs:\t1"));
    assert_non_null(strstr(text, "CapEff:\t0000000000000000"));
    assert_non_null(strstr(text, "CapPrm:\t0000000000000000"));
    if (!SANITIZED)
        assert_non_null(strstr(text, "Seccomp:\t2"));
    if (geteuid() == 0) {
        const unsigned user = 61184 + (unsigned)exec_host_pid(f.host) % 4336; /* which nobody else has */
        char ids[80];
        snprintf(ids, sizeof(ids), "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n", user, user, user, user,
                 user, user, user, user);
        assert_non_null(strstr(text, ids));
        assert_non_null(strstr(text, "Groups:\t \n"));
        assert_non_null(strstr(text, "CapBnd:\t0000000000000000"));
    }
    if (!SANITIZED) {
        read_proc(exec_host_pid(f.host), "limits", text, sizeof(text));
        assert_non_null(strstr(text, "Max file size             0                    0 "));
        if (!geteuid()) { /* nobody else reads the links of a process that is not to be traced */
            read_link(exec_host_pid(f.host), "root", text, sizeof(text));
            assert_string_not_equal(text, "/");
        }
        for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
            int child = fork(), status; /* whether it is ours to give */
            if (!child)
                _exit(unshare(spaces[i].flag) != 0);
            waitpid(child, &status, 0);
            read_link(exec_host_pid(f.host), spaces[i].link, text, sizeof(text));
            read_link(getpid(), spaces[i].link, own, sizeof(own));
            if (!status && !geteuid())
                assert_string_not_equal(text, own);
        }
    }
    stop(&f);
}

/* A program in the executor's place that tells what it was given. */
TEST(the_environment_is_a_list)
{
    static const char *const secret[] = {"SECRET_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "PATHS",
                                         "GLIBC_TUNABLES"};
    /* One that a driver of each vendor reads, and the loader. */
    static const char *const told_of[] = {"LP_NUM_THREADS",
                                          "RADV_DEBUG",
                                          "INTEL_DEBUG",
                                          "ANV_DEBUG",
                                          "NVK_DEBUG",
                                          "TU_DEBUG",
                                          "__GL_THREADED_OPTIMIZATIONS",
                                          "__NV_PRIME_RENDER_OFFLOAD",
                                          "VK_LOADER_DEBUG"};
    char line[80];
    char script[] = "/tmp/aerogpu-env-XXXXXX", told[64], text[16384] = "\n";
    int fd = mkstemp(script);
    struct fixture f = {0};
    FILE *file;

    assert_true(fd >= 0);
    snprintf(told, sizeof(told), "%s.told", script);
    assert_true(dprintf(fd, "#!/bin/sh\n/usr/bin/env >%s.new\nmv %s.new %s\n", told, told, told) > 0);
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
        setenv(secret[i], "hidden", 1);
    setenv("MESA_SHADER_CACHE_DISABLE", "false", 1);
    for (size_t i = 0; i < sizeof(told_of) / sizeof(told_of[0]); i++)
        setenv(told_of[i], "2", 1);
    start_params(&f, (struct exec_host_params){.executable = script});
    for (int i = 0; i < 6000 && access(told, F_OK); i++)
        usleep(10000);
    stop(&f);
    file = fopen(told, "r");
    assert_non_null(file);
    assert_true(fread(text + 1, 1, sizeof(text) - 2, file) > 0);
    fclose(file);
    assert_null(strstr(text, "hidden"));
    assert_null(strstr(text, "CACHE_DISABLE=false"));
    assert_non_null(strstr(text, "MESA_SHADER_CACHE_DISABLE=true\n"));
    assert_non_null(strstr(text, "\nGLIBC_TUNABLES=glibc.malloc.")); /* its own */
    for (size_t i = 0; i < sizeof(told_of) / sizeof(told_of[0]); i++) {
        snprintf(line, sizeof(line), "\n%s=2\n", told_of[i]);
        assert_non_null(strstr(text, line));
        unsetenv(told_of[i]);
    }
    for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
        unsetenv(secret[i]);
    unsetenv("MESA_SHADER_CACHE_DISABLE");
    unlink(told);
    unlink(script);
}

/* What an executor prints reaches the log as text, and no more of it than a log can bear. */
TEST(what_it_prints_is_text_and_bounded)
{
    static const char expected[] = "says: ?]0;owned? line 7?\xEF\xBF\xBD\n";
    struct fixture f = {0};
    FILE *log = tmpfile();
    char *text = calloc(1, 4 << 20);
    size_t size;

    assert_non_null(log);
    assert_non_null(text);
    log_to(fileno(log));
    start(&f);
    must_submit(&f, TEST_SAY, 3, 7);
    must_submit(&f, TEST_SAY, 100000, 8); /* 2 MB */
    must_submit(&f, TEST_EXIT, 3, 0);
    run_until(&f, 3, 1);
    must_submit(&f, TEST_SAY, 1, 9); /* the next one has a voice of its own */
    must_submit(&f, TEST_EXIT, 3, 0);
    run_until(&f, 5, 2);
    stop(&f);
    log_to(STDERR_FILENO);
    rewind(log);
    size = fread(text, 1, (4 << 20) - 1, log);
    fclose(log);
    assert_true(size < 2 << 20);
    for (int i = 0; i < 3; i++) {
        char *at = strstr(text, expected);
        assert_non_null(at);
        at[0] = '#';
    }
    assert_null(strstr(text, expected));
    assert_non_null(strstr(text, "says more than 262144 bytes: the rest is left out\n"));
    assert_non_null(strstr(text, "line 9"));
    for (size_t i = 0; i < size; i++)
        assert_true((unsigned char)text[i] >= 0x20 || text[i] == '\n');
    free(text);
}

TEST(limits_hold)
{
    struct fixture f = {0};

    if (SANITIZED)
        skip(); /* their allocator takes terabytes of address space to begin with */
    start_params(&f, (struct exec_host_params){.limits = {.memory_bytes = 256 << 20, .files = 32}});
    must_submit(&f, TEST_ALLOCATE, 100 << 20, 0);
    must_submit(&f, TEST_ALLOCATE, 300 << 20, 0);
    must_submit(&f, TEST_DESCRIPTORS, 0, 0);
    run_until(&f, 3, 0);
    assert_int_equal(f.kept[0].error, 0);
    assert_string_equal(f.kept[1].message, "out of memory 0");
    assert_string_equal(f.kept[2].message, "descriptors 27"); /* 0-2, done and control are open */
    stop(&f);
}
