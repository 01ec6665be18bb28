/* SPDX-License-Identifier: MIT */
/* evidence_test.c: what could look the same, of docs/evidence.md, made to look the same. */
#include "test.h"
#include "watch_rig.h"

#include <signal.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aerogpu/ext.h>

#include "base/clock.h"
#include "arrays_cs.h"
#include "crash_scene.h"
#include "layouts_cs.h"

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
        r->crash.text, "out of bounds by 17 bytes, behind the end of the destroyed buffer 11 of 4096 bytes"));
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
    assert_non_null(strstr(r->crash.text, "by 1 bytes, behind the end of buffer 11"));
    assert_null(strstr(r->crash.text, "was given the address"));
    rig_finish(r);
}

/* Where something of the executor's lies, by its name in /proc. */
static uint64_t place_of(const struct rig *r, const char *name)
{
    unsigned long long first = 0, end;
    char path[64], line[512];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/maps", machine_executor_pid(r->m));
    f = fopen(path, "re");
    if (!f && errno == EACCES)
        return 0; /* nobody but root is told */
    assert_non_null(f);
    while (fgets(line, sizeof(line), f) && !(strstr(line, name) && strstr(line, " rw")))
        ;
    fclose(f);
    assert_int_equal(sscanf(line, "%llx-%llx", &first, &end), 2);
    assert_non_null(strstr(line, name));
    return first + (end - first) / 2 / 8 * 8;
}

/* A processor that stands for a GPU has the executor's memory in reach, a GPU has not: its marks of progress, for one. */
TEST(shaders_reach_only_what_is_the_gpus)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) /* the heap has another name */
    static const char *const own[] = {"[stack]", "memfd:", "libc.so"};
#else
    static const char *const own[] = {"[heap]", "[stack]", "memfd:", "libc.so"};
#endif
    static const uint64_t wild[] = {0x10, 0x7fffffff0, 0xfffffffffffffff0};
    enum { OWN = sizeof(own) / sizeof(own[0]), WILD = sizeof(wild) / sizeof(wild[0]) };
    struct rig *r = rig_init(EXEC_MARKERS_GROUPS);

    for (uint32_t i = 0; i < OWN + WILD + 2; i++) {
        uint64_t words[2] = {0, 0x5a5a5a5a};

        run_good(r); /* there is an executor */
        if (i < OWN && !place_of(r, own[i])) {
            rig_finish(r);
            skip();
        }
        words[0] = i < OWN           ? place_of(r, own[i])
                   : i < OWN + WILD  ? wild[i - OWN]
                   : i == OWN + WILD ? 0xffff900000000000
                                     : 0x1000000000000000;
        poke(r, 0);
        ABI_EMIT_TAIL(&r->b, UPLOAD_RESOURCE, upload_resource, words, sizeof(words), .resource_handle = 10,
                      .size_bytes = sizeof(words));
        dispatch(r);
        submit(r);
        await_crash(r, i + 1);
        assert_int_equal(r->crash.cause, BB_CAUSE_PAGE_FAULT);
        assert_int_equal(r->crash.which, BB_SURE_PROVEN);
        if (i < OWN + WILD) {
            assert_int_equal(r->crash.fault_address, words[0]);
            assert_string_equal(ask(r->dump, "SELECT access FROM fault"), "write");
        } else if (i > OWN + WILD) {
            assert_true(r->crash.no_address);
            assert_non_null(strstr(r->crash.text, ": 0x1000000000000000"));
            assert_null(strstr(r->crash.text, "kernel's"));
        } else {
            assert_true(r->crash.no_address);
            assert_non_null(
                strstr(r->crash.text, " at an address that is not canonical, or is the kernel's"));
            assert_non_null(strstr(r->crash.text, ": 0xbfff900000000000, or 0xffff900000000000"));
            assert_string_equal(
                ask(r->dump, "SELECT text FROM fault"),
                "an address that is not canonical, or is the kernel's: the processor does not say which it was");
            assert_string_equal(ask(r->dump, "SELECT text FROM register WHERE value = 0xbfff900000000000"),
                                "no address: not canonical, or the kernel's 0xffff900000000000");
        }
        machine_wait_ready(r->m, 60000, NULL);
    }
    rig_finish(r);
}

/* Nor do arrays of a shader's own lead out of it. */
TEST(shaders_keep_to_their_arrays)
{
    static const uint32_t outside[] = {3, 4, 0x3ffffff, 0x4000000, 0x7fffffff, 0xffffffff};
    struct rig *r = rig_init(EXEC_MARKERS_GROUPS);

    poke(r, 0);
    crash_shader(&r->b, 13, AEROGPU_SHADER_STAGE_COMPUTE, arrays_cs, sizeof(arrays_cs));
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 13);
    for (uint32_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        const uint32_t words[2] = {outside[i], outside[sizeof(outside) / sizeof(outside[0]) - 1 - i]};

        ABI_EMIT_TAIL(&r->b, UPLOAD_RESOURCE, upload_resource, words, sizeof(words), .resource_handle = 10,
                      .size_bytes = sizeof(words));
        dispatch(r);
        assert_int_equal(driver_wait(r->d, submit(r), 60 * NSEC_PER_SEC), 0);
    }
    assert_int_equal(watch_crashes(r->w), 0);
    rig_finish(r);
}

/* And what they may do they do: each access is checked, and none is changed. */
TEST(shaders_see_every_layout)
{
    struct rig *r = rig_init(EXEC_MARKERS_GROUPS);
    const uint32_t one = 1;

    poke(r, 0);
    addressed(r, ALIAS, TARGET_BYTES);
    point_to(r, ALIAS, 0);
    ABI_EMIT_TAIL(&r->b, UPLOAD_RESOURCE, upload_resource, &one, sizeof(one), .resource_handle = 10,
                  .offset_bytes = 8, .size_bytes = sizeof(one));
    crash_shader(&r->b, 13, AEROGPU_SHADER_STAGE_COMPUTE, layouts_cs, sizeof(layouts_cs));
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 13);
    dispatch(r);
    assert_int_equal(driver_wait(r->d, submit(r), 60 * NSEC_PER_SEC), 0);
    assert_int_equal(watch_crashes(r->w), 0);
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

/* A page fault that a debugger caused is one, and no command did it. */
TEST(a_fault_under_a_debugger)
{
    struct rig *r = rig_init(EXEC_MARKERS_EXACT);
    int pid;
    bool can;

    run_good(r);
    pid = machine_executor_pid(r->m);
    can = !ptrace(PTRACE_SEIZE, pid, NULL, NULL);
    if (can) {
        usleep(2200000); /* looks come every second, while nothing is to do */
        poke(r, 0);
        ABI_EMIT(&r->b, EXT_RESIDENCY, ext_residency, .buffer = TARGET, .resident = 0);
        dispatch(r);
        submit(r);
        await_crash(r, 1);
        assert_int_equal(r->crash.cause, BB_CAUSE_PAGE_FAULT);
        assert_int_equal(r->crash.which, BB_SURE_SUGGESTED);
        assert_int_equal(r->crash.why, BB_SURE_SUGGESTED);
        assert_non_null(strstr(r->crash.unseen, "did to the executor, which traced it"));
    }
    rig_finish(r);
    if (!can)
        skip(); /* nobody may trace here */
}

/* A number outlives its process, and a process the name that it had: another may have the number since before the signal came. */
TEST(senders_that_are_not_what_they_were)
{
    static const char *const become[] = {NULL, "sleep"};
    struct rig *r;

    rig_hang_ms = 60000;
    r = rig_init(EXEC_MARKERS_EXACT);
    rig_hang_ms = HANG_MS;
    for (uint32_t i = 0; i < 2; i++) {
        char said[80];
        pid_t child;

        crash_scene(&r->b);
        crash_endless_draw(&r->b);
        submit(r);
        await_work(r);
        child = fork();
        if (!child) {
            kill(machine_executor_pid(r->m),
                 SIGSTOP); /* the signal comes to it when it has ended, or is another */
            kill(machine_executor_pid(r->m), SIGTERM);
            if (become[i])
                execlp(become[i], become[i], "30", NULL);
            _exit(0);
        }
        usleep(300000);
        if (!become[i])
            waitpid(child, NULL, 0);
        kill(machine_executor_pid(r->m), SIGCONT);
        await_crash(r, i + 1);
        snprintf(said, sizeof(said),
                 become[i] ? "sent by process %d (%s has this number now)"
                           : "sent by process %d, which has ended%s",
                 (int)child, become[i] ? become[i] : "");
        if (!strstr(r->crash.text, said))
            fail_msg("no \"%s\" in: %s", said, r->crash.text);
        if (become[i]) {
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        }
        machine_wait_ready(r->m, 60000, NULL);
    }
    rig_finish(r);
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
