/* SPDX-License-Identifier: MIT */
/* evidence_test.c: what could look the same, of docs/evidence.md, made to look the same. */
#include "test.h"
#include "watch_rig.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aerogpu/ext.h>

#include "base/clock.h"
#include "crash_scene.h"

enum { POINTER = 10, TARGET = 11, ALIAS = 44, TARGET_BYTES = 4096 };

static void addressed(struct rig *r, uint32_t handle, uint32_t size)
{
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = handle,
             .usage_flags = AEROGPU_RESOURCE_USAGE_STORAGE | AEROGPU_RESOURCE_USAGE_EXT_ADDRESS,
             .size_bytes = size);
}

static void point_to(struct rig *r, uint32_t handle, uint64_t offset)
{
    ABI_EMIT(&r->b, EXT_BUFFER_ADDRESS, ext_buffer_address, .dst_buffer = POINTER, .src_buffer = handle,
             .src_offset = offset);
}

static void destroy(struct rig *r, uint32_t handle)
{
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = handle);
}

/* A buffer ends behind what used it by its address, and before what comes behind: in one submission and over several, whether or
 * not its handle names something new. */
TEST(buffers_end_in_stream_order)
{
    struct rig *r = rig_init(EXEC_MARKERS_GROUPS);
    uint64_t fence;

    poke(r, 0);
    dispatch(r);
    destroy(r, TARGET);
    submit(r);
    for (uint32_t i = 0; i < 20; i++) {
        addressed(r, TARGET, TARGET_BYTES);
        point_to(r, TARGET, 4 * i);
        dispatch(r);
        ABI_EMIT(&r->b, EXT_DESTROY_HANDLES, ext_destroy_handles, .first = TARGET, .last = TARGET);
        fence = submit(r);
        if (i % 4 == 3)
            assert_int_equal(driver_wait(r->d, fence, 60 * NSEC_PER_SEC), 0);
    }
    assert_int_equal(watch_crashes(r->w), 0);

    addressed(r, TARGET, 2 * TARGET_BYTES);
    point_to(r, TARGET, 100);
    dispatch(r);
    destroy(r, TARGET);
    addressed(r, TARGET, TARGET_BYTES);
    dispatch(r);
    submit(r);
    await_crash(r, 1);
    assert_int_equal(r->crash.draw, 1);
    assert_int_equal(r->crash.which, BB_SURE_PROVEN);
    assert_int_equal(r->crash.fault_kind, BB_FAULT_USE_AFTER_FREE);
    assert_non_null(
        strstr(r->crash.text, "use after free, 100 bytes into the destroyed buffer 11 of 8192 bytes"));
    rig_finish(r);
}

/* What was destroyed has neighbours too, and users know its handle. */
TEST(behind_what_was_destroyed)
{
    struct rig *r = rig_init(EXEC_MARKERS_GROUPS);

    poke(r, 0);
    destroy(r, TARGET);
    addressed(r, TARGET, TARGET_BYTES);
    point_to(r, TARGET, TARGET_BYTES + 16);
    destroy(r, TARGET);
    dispatch(r);
    submit(r);
    await_crash(r, 1);
    assert_int_equal(r->crash.fault_kind, BB_FAULT_OUT_OF_BOUNDS);
    assert_non_null(strstr(
        r->crash.text, "out of bounds, 17 bytes behind the end of the destroyed buffer 11 of 4096 bytes"));
    assert_non_null(strstr(ask(r->dump, "SELECT text FROM fault"),
                           "behind the end of buffer 11 (4096 bytes), which was destroyed"));
    rig_finish(r);
}

/* A handle that was imported names the same buffer. */
TEST(an_alias_is_no_other_buffer)
{
    struct rig *r = rig_init(EXEC_MARKERS_GROUPS);

    poke(r, 0);
    ABI_EMIT(&r->b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = TARGET,
             .share_token = 77);
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = ALIAS,
             .share_token = 77);
    destroy(r, TARGET);
    point_to(r, ALIAS, 8192);
    dispatch(r);
    submit(r);
    await_crash(r, 1);
    assert_int_equal(r->crash.fault_resource, TARGET);
    assert_non_null(strstr(r->crash.text, "1 bytes behind the end of buffer 11"));
    assert_null(strstr(r->crash.text, "was given the address"));
    rig_finish(r);
}

/* A signal that says that it is a fault, put into a thread of the executor by a debugger: the processor had none. */
TEST(a_fault_that_was_made_up)
{
    struct rig *r;
    siginfo_t si = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};
    int pid, status = 0;
    bool can;

    rig_hang_ms = 60000;
    r = rig_init(EXEC_MARKERS_EXACT);
    rig_hang_ms = HANG_MS;
    crash_scene(&r->b);
    crash_endless_draw(&r->b);
    submit(r);
    await_work(r);
    pid = machine_executor_pid(r->m);
    si.si_addr = (void *)0x7f0012345678;
    can = !ptrace(PTRACE_SEIZE, pid, NULL, NULL);
    if (can) {
        kill(pid, SIGSEGV);
        while (waitpid(pid, &status, __WALL) == pid && WSTOPSIG(status) != SIGSEGV)
            ptrace(PTRACE_CONT, pid, NULL, WSTOPSIG(status));
        can = !ptrace(PTRACE_SETSIGINFO, pid, NULL, &si);
        ptrace(PTRACE_DETACH, pid, NULL, SIGSEGV);
    }
    if (can)
        await_crash(r, 1);
    if (can) {
        assert_int_equal(r->crash.cause, BB_CAUSE_KILLED);
        assert_false(r->crash.certain || r->crash.has_fault);
        assert_int_equal(r->crash.why, BB_SURE_SUGGESTED);
        assert_non_null(strstr(r->crash.unseen, "who sent the signal"));
    }
    rig_finish(r);
    if (!can)
        skip(); /* nobody may trace here */
}

/* Of sigqueue() the kernel does not say who called it. */
TEST(who_sent_it_by_his_own_word)
{
    struct rig *r;
    siginfo_t si = {.si_signo = SIGTERM, .si_code = SI_QUEUE};
    int pid;

    rig_hang_ms = 60000;
    r = rig_init(EXEC_MARKERS_EXACT);
    rig_hang_ms = HANG_MS;
    crash_scene(&r->b);
    crash_endless_draw(&r->b);
    submit(r);
    await_work(r);
    pid = machine_executor_pid(r->m);
    si.si_pid = 1;
    assert_int_equal(syscall(SYS_rt_sigqueueinfo, pid, SIGTERM, &si), 0);
    await_crash(r, 1);
    assert_int_equal(r->crash.cause, BB_CAUSE_KILLED);
    assert_non_null(strstr(r->crash.text, "sent by process 1"));
    assert_non_null(strstr(r->crash.text, ", as it says itself"));
    assert_non_null(strstr(r->crash.unseen, "who sent the signal: of its sender only its own word is known"));
    rig_finish(r);
}

TEST_GROUP(rig_make_dir, rig_remove_dir);
