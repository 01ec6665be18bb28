/* SPDX-License-Identifier: MIT */
/* exec_test_engine.h: an engine for tests of the process around it. It draws nothing; a submission's command
 * buffer is one struct test_command that says what the engine should do to its process.
 *
 * The device name chooses how it starts: "missing" (no Vulkan device), "dies" (exits), "slow" (200 ms), else at once.
 */
#pragma once

#include <stdint.h>

enum test_op {
    TEST_NOTHING,
    TEST_STORE,        /* the value b at guest address a */
    TEST_SLEEP,        /* a microseconds, on another thread */
    TEST_FAULT,        /* stores to the process's own address a */
    TEST_FAULT_THREAD, /* the same on another thread */
    TEST_OVERFLOW,     /* the main thread's stack */
    TEST_HANG,         /* for ever */
    TEST_EXIT,         /* with status a */
    TEST_DIVIDE,       /* by zero */
    TEST_ALLOCATE,     /* a bytes, touched; an error if there are none */
    TEST_DESCRIPTORS,  /* duplicates descriptors until that fails; error text says how many it got */
    TEST_JIT,          /* makes and runs code, starts a thread */
    TEST_OPEN,         /* opens a file; and a threads at once take memory, for which malloc does */
    TEST_ASK,          /* what libraries ask and do without: files, limits */
    TEST_FORBIDDEN,    /* number a of test_forbidden */
    TEST_FRAME_MEMORY, /* takes 40 MB of a thread's heap, and frees them */
    TEST_SAY,          /* prints a lines of b, each with a terminal's escapes */
};

enum test_forbidden {
    FORBIDDEN_SOCKET,
    FORBIDDEN_EXEC,
    FORBIDDEN_FORK,
    FORBIDDEN_KILL,
    FORBIDDEN_TGKILL,
    FORBIDDEN_PTRACE,
    FORBIDDEN_BLOCKING,
    FORBIDDEN_UNLINK,
    FORBIDDEN_SETUID,
    FORBIDDEN_SHARED_MEMORY,
    FORBIDDEN_COUNT,
};

struct test_command {
    uint32_t op, reserved;
    uint64_t a, b;
};
