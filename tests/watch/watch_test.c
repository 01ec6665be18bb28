/* SPDX-License-Identifier: MIT */
/* watch_test.c: what the watch of a machine notices and puts into dumps: checkpoints, statuses, and causes told apart. */
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>

#include "abi/builder.h"
#include "base/log.h"
#include "executor/process/sanitized.h"
#include "watch/watch.h"
#include "machine/driver.h"
#include "crash_scene.h"
#include "plant.h"
#include "watch_rig.h"

#define CHECKPOINT(r, text)                                                                                  \
    ABI_EMIT_TAIL(&(r)->b, EXT_CHECKPOINT, ext_checkpoint, text, (uint32_t)strlen(text),                     \
                  .payload_bytes = (uint32_t)strlen(text))

/* ---- checkpoints, names -------------------------------------------------- */

TEST(checkpoints_are_dumped)
{
    struct rig *r;
    char *text = NULL;
    size_t size;
    FILE *f;

    r = rig_init(EXEC_MARKERS_EXACT);
    crash_scene(&r->b);
    ABI_EMIT_TAIL(&r->b, EXT_PUSH_MARKER, ext_push_marker, "fr\xff\xc3\xa4me", 8, .hdr = {0});
    CHECKPOINT(r, "shadows done");
    crash_endless_draw(&r->b);
    strcpy(driver_ptr(r->d, r->memory + 100), "in guest memory");
    ABI_EMIT(&r->b, EXT_CHECKPOINT_POINTER, ext_checkpoint_pointer, .alloc_id = ALLOC, .payload_bytes = 16,
             .pointer = 100);
    for (int i = 0; i < 3; i++)
        ABI_EMIT(&r->b, EXT_POP_MARKER, ext_pop_marker, .hdr = {0});
    submit(r);
    await_crash(r, 1);
    assert_hang(r);
    assert_string_equal(r->crash.command, "DRAW");
    assert_string_equal(ask(r->dump, "SELECT text FROM checkpoint WHERE which='top'"), "in guest memory");
    assert_string_equal(
        ask(r->dump, "SELECT kind || length(payload) || queue FROM checkpoint WHERE which='top'"),
        "pointer163");
    assert_string_equal(ask(r->dump, "SELECT text FROM checkpoint WHERE which='bottom'"), "shadows done");
    assert_string_equal(ask(r->dump, "SELECT path FROM packet WHERE name='DRAW'"),
                        "fr\xef\xbf\xbd\xc3\xa4me");
    assert_string_equal(ask(r->dump, "SELECT value FROM meta WHERE key='unbalanced_pops'"),
                        "context 3 ended 2 regions that it had not begun");
    f = open_memstream(&text, &size);
    assert_int_equal(bb_report(r->dump, BB_REPORT_TEXT, f, NULL), 0);
    fclose(f);
    assert_non_null(strstr(text, "reached in guest memory (submission 1, packet 10)"));
    assert_non_null(strstr(text, "passed  shadows done (submission 1, packet 7)"));
    free(text);
    rig_finish(r);
}

/* With markers for groups they are kept as well, and a pointer of the client's own is only shown. */
TEST(checkpoints_of_finished_work)
{
    struct rig *r;
    char path[128];
    struct error e = {0};

    r = rig_init(EXEC_MARKERS_GROUPS);
    crash_scene(&r->b);
    CHECKPOINT(r, "\x01\x02\x03");
    ABI_EMIT(&r->b, EXT_CHECKPOINT_POINTER, ext_checkpoint_pointer, .pointer = 0x1234567890);
    assert_int_equal(driver_wait(r->d, submit(r), 60 * NSEC_PER_SEC), 0);
    snprintf(path, sizeof(path), "%s/finished", rig_dir);
    if (watch_request(r->w, path, &e))
        fail_msg("%s", e.text);
    assert_string_equal(ask(path, "SELECT top FROM queue WHERE id=3"),
                        "pointer 0x1234567890 (submission 1, packet 7)");
    assert_string_equal(ask(path, "SELECT bottom FROM queue WHERE id=3"),
                        "pointer 0x1234567890 (submission 1, packet 7)");
    assert_string_equal(ask(path, "SELECT value FROM meta WHERE key='reason'"), "request");
    assert_string_equal(ask(path, "SELECT value FROM meta WHERE key='setting.hang_ms'"), "300");
    assert_string_equal(ask(path, "SELECT value FROM meta WHERE key='setting.TdrDelay'"), "2");
    rig_finish(r);
}

TEST(bad_checkpoints)
{
    static const struct {
        uint32_t alloc_id, bytes;
        uint64_t pointer;
        const char *text;
    } cases[] = {
        {ALLOC, 1u << 30, 0, "EXT_CHECKPOINT_POINTER: a payload of 1073741824 bytes, 1024 are allowed"},
        {ALLOC, 0, 0, "EXT_CHECKPOINT_POINTER: a payload of 0 bytes"},
        {0, 7, 0, "EXT_CHECKPOINT_POINTER: a payload of 7 bytes without an alloc_id"},
        {77, 7, 0, "EXT_CHECKPOINT_POINTER: alloc_id 77 is not in the allocation table"},
        {ALLOC, 8, ALLOC_BYTES - 7, "8 bytes at 4089 do not fit alloc_id 9, which has 4096 bytes"},
    };
    static const char long_one[1028];
    struct rig *r;

    r = rig_init(EXEC_MARKERS_GROUPS);
    for (uint32_t i = 0; i < 5; i++) {
        ABI_EMIT(&r->b, EXT_CHECKPOINT_POINTER, ext_checkpoint_pointer, .alloc_id = cases[i].alloc_id,
                 .payload_bytes = cases[i].bytes, .pointer = cases[i].pointer);
        submit(r);
        await_crash(r, i + 1);
        if (!strstr(r->crash.text, cases[i].text))
            fail_msg("%s", r->crash.text);
        assert_int_equal(r->crash.cause, BB_CAUSE_MALFORMED);
    }
    ABI_EMIT_TAIL(&r->b, EXT_CHECKPOINT, ext_checkpoint, long_one, 1028, .payload_bytes = 1028);
    submit(r);
    await_crash(r, 6);
    assert_non_null(strstr(r->crash.text, "EXT_CHECKPOINT: a payload of 1028 bytes, 1024 are allowed"));
    ABI_EMIT_TAIL(&r->b, EXT_CHECKPOINT, ext_checkpoint, long_one, 8, .payload_bytes = 1u << 30);
    submit(r);
    await_crash(r, 7);
    assert_non_null(strstr(r->crash.text, "1073741824 elements of 1 bytes do not fit its 24 bytes"));
    assert_string_equal(statuses(r), "active"); /* a bad stream says nothing about the device */
    rig_finish(r);
}

/* Deep regions and long names: each pop ends its own push. */
TEST(deep_names)
{
    static char name[300];
    struct rig *r;

    r = rig_init(EXEC_MARKERS_EXACT);
    crash_scene(&r->b);
    memset(name, 'x', sizeof(name));
    ABI_EMIT_TAIL(&r->b, EXT_PUSH_MARKER, ext_push_marker, "outer", 5, .hdr = {0});
    for (int i = 0; i < 40; i++)
        ABI_EMIT_TAIL(&r->b, EXT_PUSH_MARKER, ext_push_marker, name, i == 39 ? 300 : 3, .hdr = {0});
    for (int i = 0; i < 40; i++)
        ABI_EMIT(&r->b, EXT_POP_MARKER, ext_pop_marker, .hdr = {0});
    crash_endless_draw(&r->b);
    submit(r);
    await_crash(r, 1);
    assert_string_equal(r->crash.path, "outer");
    assert_string_equal(ask(r->dump, "SELECT count(*) FROM meta WHERE key='unbalanced_pops'"), "0");
    rig_finish(r);
}

/* ---- causes, statuses ---------------------------------------------------- */

TEST(evicted_memory_is_told)
{
    struct rig *r;

    r = rig_init(EXEC_MARKERS_EXACT);
    poke(r, 0);
    ABI_EMIT(&r->b, EXT_RESIDENCY, ext_residency, .buffer = 11, .resident = 0);
    ABI_EMIT(&r->b, EXT_RESIDENCY, ext_residency, .buffer = 11, .resident = 1);
    dispatch(r);
    assert_int_equal(driver_wait(r->d, submit(r), 60 * NSEC_PER_SEC), 0);
    ABI_EMIT(&r->b, EXT_RESIDENCY, ext_residency, .buffer = 11, .resident = 0);
    dispatch(r);
    submit(r);
    await_crash(r, 1);
    assert_int_equal(r->crash.cause, BB_CAUSE_PAGE_FAULT);
    assert_int_equal(r->crash.fault_kind, BB_FAULT_NOT_RESIDENT);
    assert_int_equal(r->crash.fault_resource, 11);
    assert_true(r->crash.certain);
    assert_non_null(strstr(r->crash.text, "not resident, 4096 bytes into buffer 11 of 8192 bytes"));
    assert_string_equal(ask(r->dump, "SELECT kind FROM fault"), "not resident");
    assert_string_equal(ask(r->dump, "SELECT count(*) FROM resource WHERE evicted_ns > 0"), "1");
    assert_string_equal(ask(r->dump, "SELECT count(*) > 0 FROM sample WHERE user > 0"), "1");
    machine_wait_ready(r->m, 60000, NULL);
    run_good(r);
    assert_string_equal(statuses(r), "active, page fault, active");
    rig_finish(r);
}

/* An index out of the bounds of one buffer leads into another: which one it came from is said, and not concluded from where it lies. */
TEST(a_strangers_memory)
{
    enum { STRANGER = 20, OWN, STRANGER_SIZE = 256 << 20, OWN_SIZE = 64 << 20 };
    struct rig *r;

#ifdef __SANITIZE_THREAD__
    skip(); /* what is mapped next does not lie below what was mapped before */
#endif
    r = rig_init(EXEC_MARKERS_EXACT);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = STRANGER,
             .usage_flags = AEROGPU_RESOURCE_USAGE_STORAGE | AEROGPU_RESOURCE_USAGE_EXT_ADDRESS,
             .size_bytes = STRANGER_SIZE);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = OWN,
             .usage_flags = AEROGPU_RESOURCE_USAGE_STORAGE | AEROGPU_RESOURCE_USAGE_EXT_ADDRESS,
             .size_bytes = OWN_SIZE); /* below it */
    poke(r, 0);
    ABI_EMIT(&r->b, EXT_RESIDENCY, ext_residency, .buffer = STRANGER, .resident = 0);
    ABI_EMIT(&r->b, EXT_BUFFER_ADDRESS, ext_buffer_address, .dst_buffer = 10, .src_buffer = OWN,
             .src_offset = OWN_SIZE + STRANGER_SIZE / 2);
    dispatch(r);
    submit(r);
    await_crash(r, 1);
    assert_int_equal(r->crash.fault_resource, STRANGER);
    assert_int_equal(r->crash.whose, BB_SURE_SUGGESTED);
    assert_non_null(strstr(
        r->crash.text, ". What is bound at the command was given the address of buffer 11, of 21, and not of "
                       "the one that lies there"));
    assert_string_equal(ask(r->dump, "SELECT access FROM fault"), "write");
    /* The address is in a register, and what lies there is said. */
    assert_string_equal(
        ask(r->dump,
            "SELECT register.text LIKE 'not resident buffer 20%' FROM register, fault WHERE value=address"),
        "1");
    rig_finish(r);
}

TEST(refusals_are_told_apart)
{
    struct watch_crash first;
    struct rig *r;

    r = rig_init(EXEC_MARKERS_GROUPS);
    poke(r, 0);
    constants(r, 10, 4);
    dispatch(r);
    submit(r);
    await_crash(r, 1);
    assert_int_equal(r->crash.cause, BB_CAUSE_MISALIGNED);
    assert_non_null(strstr(r->crash.text, "constant buffer offset 4 is not a multiple of 16"));
    assert_string_equal(ask(r->dump, "SELECT cause FROM finding"), "misaligned");

    /* The same with other numbers is the same; in other words it is not. */
    first = r->crash;
    assert_non_null(strstr(first.refusal, "constant buffer offset  is not a multiple of "));
    constants(r, 10, 8);
    dispatch(r);
    submit(r);
    await_crash(r, 2);
    assert_string_equal(r->crash.refusal, first.refusal);
    assert_true(r->crash.bound == first.bound);

    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 10, .src_buffer = 12, .size_bytes = 4);
    submit(r);
    await_crash(r, 3);
    assert_int_equal(r->crash.cause, BB_CAUSE_TYPE);
    assert_string_not_equal(r->crash.refusal, first.refusal);
    assert_non_null(strstr(r->crash.text, "handle 12 is a shader, a buffer is needed"));

    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 10, .src_buffer = 99, .size_bytes = 4);
    submit(r);
    await_crash(r, 4);
    assert_int_equal(r->crash.cause, BB_CAUSE_MALFORMED);
    assert_string_equal(statuses(r), "active");
    rig_finish(r);
}

/* A draw waits for its shader, and completes with what was wrong with it: the packet is the shader's. */
TEST(a_bad_shader_is_named_where_it_was_made)
{
    static const uint32_t junk[16] = {1, 2, 3};
    struct rig *r;

    for (int stage = 0; stage < 2; stage++) {
        r = rig_init(EXEC_MARKERS_EXACT);
        crash_scene(&r->b);
        ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 2, .ps = 3);
        crash_shader(&r->b, 40, stage ? AEROGPU_SHADER_STAGE_COMPUTE : AEROGPU_SHADER_STAGE_PIXEL, junk,
                     sizeof(junk)); /* packet 7 */
        for (int i = 0; i < 5; i++)
            ABI_EMIT(&r->b, NOP, nop, .hdr = {0});
        if (stage) {
            ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 40);
            dispatch(r);
        } else {
            ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .vs = 2, .ps = 40);
            ABI_EMIT(&r->b, DRAW, draw, .vertex_count = 3, .instance_count = 1);
        }
        submit(r);
        await_crash(r, 1);
        assert_int_equal(r->crash.cause, BB_CAUSE_MALFORMED);
        assert_int_equal(r->crash.packet, 7);
        assert_string_equal(r->crash.command, "CREATE_SHADER_DXBC");
        assert_string_equal(ask(r->dump, "SELECT packet FROM finding WHERE rank=0"), "7");
        assert_string_equal(ask(r->dump, "SELECT name FROM packet, finding WHERE packet.submission="
                                         "finding.submission AND number=packet AND rank=0"),
                            "CREATE_SHADER_DXBC");
        rig_finish(r);
    }
}

enum { LIMITED = !SANITIZED }; /* a sanitizer's executor has all the memory there is */

TEST(memory_and_dma_faults)
{
    struct driver_submission nowhere = {.cmd_gpa = UINT64_C(1) << 41, .cmd_size = 24};
    struct rig *r;

    if (!LIMITED)
        skip();
    rig_hang_ms = 5000; /* to clear what there is takes time */
    r = rig_init(EXEC_MARKERS_GROUPS);
    rig_hang_ms = HANG_MS;
    for (uint32_t i = 0; i < 4; i++) /* more than the executor may have */
        ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 50 + i, .size_bytes = UINT32_MAX - 3);
    submit(r);
    await_crash(r, 1);
    assert_int_equal(r->crash.cause, BB_CAUSE_MEMORY);
    run_good(r);
    assert_string_equal(statuses(r), "active, out of memory, active");

    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 60, .size_bytes = 64,
             .backing_alloc_id = NOWHERE);
    submit(r);
    await_crash(r, 2);
    assert_int_equal(r->crash.cause, BB_CAUSE_DMA);
    assert_non_null(strstr(r->crash.text, "0x10000000000 + 64 is not guest memory"));
    run_good(r);

    assert_int_equal(driver_submit(r->d, &nowhere, NULL), 0);
    await_crash(r, 3);
    assert_int_equal(r->crash.cause, BB_CAUSE_DMA);
    assert_non_null(strstr(r->crash.text, "24 bytes are not all guest memory"));
    run_good(r);
    assert_string_equal(statuses(r), "active, out of memory, active, DMA fault, active, DMA fault, active");
    rig_finish(r);
}

static uint64_t private_bytes(int pid)
{
    char path[64], line[256];
    unsigned long long kib = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        sscanf(line, "VmData: %llu", &kib);
    if (f)
        fclose(f);
    assert_true(kib > 0);
    return kib * 1024;
}

/* An executor that finds no memory, wherever it is when that happens: either the device refuses, or what has died says that it
 * died of that, and what had the memory; never of a command, of a system call or of an address. */
TEST(no_memory_left)
{
    uint32_t refused = 0, died = 0, fine = 0;
    uint64_t bytes;
    struct rig *r;

    if (!LIMITED)
        skip();
    r = rig_init(EXEC_MARKERS_EXACT);
    run_good(r);
    bytes = private_bytes(machine_executor_pid(r->m));
    rig_finish(r);
    for (int i = 0; i < 40 && fine < 2; i++) {
        rig_executor_bytes = bytes + ((uint64_t)i << 19);
        r = rig_init(EXEC_MARKERS_EXACT);
        crash_scene(&r->b);
        for (uint32_t k = 0; k < 200; k++)
            ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 500 + k, .size_bytes = 51200);
        poke(r, 0);
        dispatch(r);
        assert_int_equal(driver_wait(r->d, submit(r), 60 * NSEC_PER_SEC), 0);
        watch_settle(r->w);
        refused += r->crashes && r->crash.cause == BB_CAUSE_MEMORY;
        if (!r->crashes) {
            fine++;
        } else if (r->crash.cause == BB_CAUSE_LIMIT) {
            died++;
            assert_int_equal(r->crash.which, BB_SURE_SUGGESTED);
            assert_int_equal(r->crash.why, BB_SURE_SUGGESTED);
            assert_non_null(strstr(r->crash.text, " buffers and textures had "));
            assert_non_null(strstr(r->crash.text, "the largest is texture 1024x1024 1 with 4.0 MiB"));
            assert_string_equal(ask(r->dump, "SELECT cause FROM finding"), "memory limit");
        } else if (r->crash.cause != BB_CAUSE_MEMORY) {
            fail_msg("%d: %s", i, r->crash.text);
        }
        rig_finish(r);
    }
    rig_executor_bytes = 0;
    printf("# refused %u, died %u, fine %u\n", refused, died, fine);
    assert_true(refused && died && fine);
}

/* What the device refused is done with: no time-out follows. */
TEST(what_was_refused_is_no_hang)
{
    struct driver_submission nowhere = {.cmd_gpa = UINT64_C(1) << 41, .cmd_size = 24};
    struct rig *r;

    r = rig_init(EXEC_MARKERS_GROUPS);
    assert_int_equal(driver_submit(r->d, &nowhere, NULL), 0);
    await_crash(r, 1);
    assert_int_equal(r->crash.cause, BB_CAUSE_DMA);
    usleep((HANG_MS + 200) * 1000);
    assert_int_equal(watch_crashes(r->w), 1);
    rig_finish(r);
}

TEST(hangs_and_deaths)
{
    struct rig *r;
    int pid;

    r = rig_init(EXEC_MARKERS_GROUPS);
    crash_scene(&r->b);
    crash_endless_draw(&r->b);
    submit(r);
    await_crash(r, 1);
    driver_reset(r->d);
    run_good(r);
    assert_string_equal(statuses(r), "active, timeout, reset, active");

    pid = machine_executor_pid(r->m);
    assert_true(pid > 0);
    kill(pid, SIGSTOP); /* so that it has work when it ends */
    crash_scene(&r->b);
    submit(r);
    kill(pid, SIGKILL);
    await_crash(r, 2);
    assert_int_equal(r->crash.cause, BB_CAUSE_KILLED);
    machine_wait_ready(r->m, 60000, NULL);
    run_good(r);
    assert_string_equal(statuses(r), "active, timeout, reset, active, stopped, active");
    rig_finish(r);
}

/* Whatever somebody sends, also what a processor or a watchdog raises, no command is to blame, and the sender is named. */
TEST(signals_from_outside)
{
    static const int signals[] = {SIGHUP,    SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                                  SIGFPE,    SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,
                                  SIGVTALRM, SIGXCPU, SIGSYS,  SIGPROF, SIGKILL};
    char by[64];
    struct rig *r;

    rig_hang_ms = 60000; /* what runs meanwhile is none */
    r = rig_init(EXEC_MARKERS_EXACT);
    rig_hang_ms = HANG_MS;
    snprintf(by, sizeof(by), "sent by process %d", (int)getpid());
    for (uint32_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        crash_scene(&r->b);
        crash_endless_draw(&r->b);
        submit(r);
        await_work(r);
        kill(machine_executor_pid(r->m), signals[i]);
        await_crash(r, i + 1);
        if (r->crash.cause != BB_CAUSE_KILLED || r->crash.certain || r->crash.which == BB_SURE_PROVEN)
            fail_msg("signal %d: %s", signals[i], r->crash.text);
        if (signals[i] != SIGKILL && !strstr(r->crash.text, by))
            fail_msg("signal %d: %s", signals[i], r->crash.text);
        if (signals[i] == SIGKILL)
            assert_string_equal(r->crash.unseen, "who sent the signal");
        assert_false(r->crash.in_decoder); /* the thread that a signal came to did not cause it */
        machine_wait_ready(r->m, 60000, NULL);
    }
    assert_string_equal(ask(r->dump, "SELECT certainty FROM finding"), "candidate");
    assert_string_equal(
        ask(r->dump, "SELECT sure_happened || ', ' || sure_command || ', ' || sure_cause FROM finding"),
        "proven, suggested, proven");
    rig_finish(r);
}

static pid_t tracer; /* 0: none */

/* A process that holds all threads of another one, with its first or without, until it ends. */
static void trace_threads(int pid, bool first)
{
    char path[64], c;
    struct dirent *ent;
    int ready[2], status;
    DIR *d;

    assert_int_equal(pipe(ready), 0);
    tracer = fork();
    if (!tracer) {
        snprintf(path, sizeof(path), "/proc/%d/task", pid);
        d = opendir(path);
        while (d && (ent = readdir(d))) {
            const int tid = atoi(ent->d_name);
            if (tid > 0 && (tid != pid || first) && !ptrace(PTRACE_SEIZE, tid, NULL, NULL) &&
                !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
                waitpid(tid, &status, __WALL);
        }
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
}

static void let_go(int pid)
{
    kill(pid, SIGCONT);
    if (tracer) {
        kill(tracer, SIGKILL);
        waitpid(tracer, NULL, 0);
        tracer = 0;
    }
}

/* Something is done to the executor in the middle of a draw that does not end, and somebody resets it after a while. On a busy
 * machine the draw may have been called a hang by then: then it is done again. */
static void reset_amid(struct rig *r, void (*what)(int pid))
{
    uint32_t before = 0;
    int pid = 0;

    for (int tries = 0; tries < 20; tries++) {
        before = watch_crashes(r->w);
        crash_scene(&r->b);
        crash_endless_draw(&r->b);
        submit(r);
        await_work(r);
        pid = machine_executor_pid(r->m);
        what(pid);
        if (watch_crashes(r->w) == before)
            break;
        driver_reset(r->d);
        let_go(pid);
        machine_wait_ready(r->m, 60000, NULL);
    }
    usleep(3 * HANG_MS * 1000);
    assert_int_equal(watch_crashes(r->w), before);
    driver_reset(r->d); /* as a system would that has waited long enough */
    await_crash(r, before + 1);
    let_go(pid);
    machine_wait_ready(r->m, 60000, NULL);
}

static void stop(int pid)
{
    kill(pid, SIGSTOP);
}

static void trace_all(int pid)
{
    trace_threads(pid, true);
}

static void trace_workers(int pid)
{
    trace_threads(pid, false);
}

/* What is stopped or traced does not hang. */
TEST(stopped_is_not_hung)
{
    void (*const ways[])(int pid) = {stop, trace_all, trace_workers};
    struct rig *r;

    r = rig_init(EXEC_MARKERS_EXACT);
    for (size_t i = 0; i < (geteuid() ? 1 : sizeof(ways) / sizeof(ways[0]));
         i++) { /* only root traces executors */
        reset_amid(r, ways[i]);
        if (r->crash.cause != BB_CAUSE_STOPPED || r->crash.certain ||
            !strstr(r->crash.text, i ? "The executor was held by process "
                                     : "The executor was stopped by a signal: no command is to blame"))
            fail_msg("way %zu: %s", i, r->crash.text);
        run_good(r);
    }
    rig_finish(r);
}

/* The system took a device away: a dump, unless there was one of what caused it. */
TEST(removed_device)
{
    struct rig *r;

    r = rig_init(EXEC_MARKERS_GROUPS);
    run_good(r);
    watch_system_event(r->w, 4109, "a DMA buffer of process 7 faulted: its device is removed");
    await_crash(r, 1);
    assert_int_equal(r->crash.cause, BB_CAUSE_REMOVED);
    assert_string_equal(ask(r->dump, "SELECT value FROM meta WHERE key='reason'"), "device removed");
    assert_string_equal(ask(r->dump, "SELECT text FROM event WHERE process='system' AND a=4109"),
                        "a DMA buffer of process 7 faulted: its device is removed");
    ABI_EMIT(&r->b, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = 4711);
    submit(r);
    await_crash(r, 2);
    watch_system_event(r->w, 4109, "the same");
    watch_settle(r->w);
    assert_int_equal(watch_crashes(r->w), 2);
    watch_system_event(r->w, 0x116, "gave up");
    assert_non_null(strstr(statuses(r), "stopped"));
    watch_system_event(NULL, 4109, "nobody listens");
    rig_finish(r);
}

TEST_GROUP(rig_make_dir, rig_remove_dir);

int main(void)
{
    log_set_level(LOG_ERROR);
    return test_run();
}
