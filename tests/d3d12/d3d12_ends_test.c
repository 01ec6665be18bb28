/* SPDX-License-Identifier: MIT */
/* d3d12_ends_test.c: recordings of programs that crash, hang or are ended, and of recorders that are; and those that are cut. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "d3d12_run.h"
#include "temp_dir.h"

TEST(a_killed_program_is_recorded_to_its_last_call)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/killed.d3d12trace -- %s killed", aerogpu, dir, workload),
                     128 + 9);
    assert_int_equal(run(&out, "%s show %s/killed.d3d12trace | tail -1", aerogpu, dir), 0);
    assert_non_null(strstr(strbuf_str(&out), "CopyBufferRegion(pDstBuffer=Resource#"));
    assert_non_null(strstr(strbuf_str(&out), "DstOffset=12345, "));
    assert_non_null(strstr(strbuf_str(&out), "SrcOffset=54321, NumBytes=4)\n")); /* it returned */
    assert_int_equal(
        run(&out, "%s show --method CopyBufferRegion %s/killed.d3d12trace | wc -l", aerogpu, dir), 0);
    assert_int_equal(atoi(strbuf_str(&out)), 100001);
    strbuf_finish(&out);
}

/* A recording of a crash crashes the player, and a few of its calls are enough for it. */
TEST(crashes_come_back_and_get_small)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/crash -- %s crash", aerogpu, dir, workload), 128 + 11);
    assert_int_equal(run(&out, "ulimit -c 0; %s play %s/crash", aerogpu, dir), 128 + 11);
    /* where its file is damaged, playing is no second crash: it may not be that one */
    assert_int_equal(run(&out, "cd %s; head -c -30 crash > crash2; %s play crash2", dir, aerogpu), 3);
    assert_non_null(strstr(strbuf_str(&out), "aerogpu play: crash2: the file is cut "));
    assert_non_null(
        strstr(strbuf_str(&out), ": making it crashes, where the recorded program died (signal 11)"));
    assert_int_equal(run(&out, "%s minimize --timeout 1000 %s/crash -o %s/small", aerogpu, dir, dir), 0);
    assert_non_null(strstr(strbuf_str(&out), " of 172 calls still end by signal 11 in CopyBufferRegion"));
    assert_true(atoi(strstr(strbuf_str(&out), "small: ") + 7) <= 20); /* five where no fence comes late */
    assert_int_equal(run(&out, "ulimit -c 0; %s play %s/small", aerogpu, dir), 128 + 11);
    assert_int_equal(run(&out,
                         "%s record -o %s/fine -- %s queries && %s minimize --timeout 5000 %s/fine -o %s/x",
                         aerogpu, dir, workload, aerogpu, dir, dir),
                     1);
    assert_non_null(strstr(strbuf_str(&out), "the recording plays to its end without a failure"));
    strbuf_finish(&out);
}

/* A program whose device never got done: playing says so, and a few of its calls are enough for it. */
TEST(hangs_come_back_and_get_small)
{
    struct strbuf out = {0};

    need_device();
    if (run(&out, "export LD_PRELOAD=%s; %s record -o %s/hang -- %s hang", stub, aerogpu, dir, elsewhere))
        fail_msg("%s", strbuf_str(&out));
    assert_int_equal(run(&out, "export LD_PRELOAD=%s; %s play --timeout 100 %s/hang", stub, aerogpu, dir), 1);
    assert_non_null(strstr(strbuf_str(&out), "after the last call: queue "));
    assert_non_null(strstr(strbuf_str(&out), " does not finish its work"));
    /* the eighth submission, by name, with what is in it */
    assert_int_equal(
        run(&out,
            "export LD_PRELOAD=%s; f=%s/hang; a=%s; said=$($a play --step --timeout 100 $f 2>&1); echo step=$?; "
            "call=$($a show --method ExecuteCommandLists $f | sed -n '8s/ .*//p'); "
            "draw=$($a show --method DrawInstanced $f | sed -n '8s/ .*//p'); "
            "echo \"$said\" | grep -c \"call $call: this submission does not get done; list [0-9]* has 1 draws and dispatches, "
            "calls $draw to $draw, the last DrawInstanced with pipeline 0$\"",
            stub, dir, aerogpu),
        0);
    assert_string_equal(strbuf_str(&out), "step=1\n1\n");
    /* the recording alone says what nobody saw done: all ten, since this program looks at no fence */
    assert_int_equal(
        run(&out,
            "f=%s/hang; a=%s; call=$($a show --method ExecuteCommandLists $f | sed -n '8s/ .*//p'); "
            "draw=$($a show --method DrawInstanced $f | sed -n '8s/ .*//p'); $a info $f | grep -c 'call [0-9]*, queue'; "
            "$a info $f | grep -c \"call $call, queue [0-9]*; list [0-9]*: 1 draws, 0 dispatches, last call $draw, DrawInstanced$\"",
            dir, aerogpu),
        0);
    assert_string_equal(strbuf_str(&out), "10\n1\n");
    /* and of one that waited for its fences nothing is left */
    assert_int_equal(
        run(&out,
            "%s record -o %s/waits -- %s clears >/dev/null 2>&1; %s info --json %s/waits | grep -c not_known_to_be_done",
            aerogpu, dir, workload, aerogpu, dir),
        1);
    assert_string_equal(strbuf_str(&out), "0\n");
    if (run(&out, "export LD_PRELOAD=%s; %s minimize --timeout 50 %s/hang -o %s/still", stub, aerogpu, dir,
            dir))
        fail_msg("%s", strbuf_str(&out));
    assert_non_null(strstr(strbuf_str(&out), " calls still end in a device that does not get done"));
    assert_true(atoi(strstr(strbuf_str(&out), "still: ") + 7) <= 8);
    strbuf_finish(&out);
}

/* A program that waited for what nobody does: so does whoever plays it, and says for what. */
TEST(waits_for_ever_come_back_and_get_small)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/waits -- %s waits", aerogpu, dir, workload), 128 + 14);
    assert_int_equal(run(&out, "%s info %s/waits", aerogpu, dir), 0);
    assert_non_null(strstr(strbuf_str(&out), ", Native::EventWait, did not return; it waits for fence "));
    assert_non_null(strstr(strbuf_str(&out), " to reach 1000\n"));
    assert_int_equal(run(&out,
                         "f=%s/waits; a=%s; $a show --fences $($a show $f | tail -1 | cut -d' ' -f1) $f", dir,
                         aerogpu),
                     0);
    assert_non_null(strstr(strbuf_str(&out), ", the program waited for 1000 (call "));
    assert_non_null(strstr(strbuf_str(&out), "), which nobody had signalled\n"));
    for (int step = 0; step < 2; step++) {
        assert_int_equal(run(&out, "%s play %s --timeout 1500 %s/waits", aerogpu, step ? "--step" : "", dir),
                         1);
        assert_non_null(strstr(strbuf_str(&out), ", which did not return, waits for fence "));
        assert_non_null(
            strstr(strbuf_str(&out), " to reach 1000: it is at 2, and nothing is left that signals it"));
    }
    if (run(&out, "%s minimize --timeout 1500 --tests 60 %s/waits -o %s/wait", aerogpu, dir, dir))
        fail_msg("%s", strbuf_str(&out));
    assert_non_null(strstr(strbuf_str(&out),
                           " calls still end in EventWait, which waits for a fence that nobody signals"));
    assert_true(atoi(strstr(strbuf_str(&out), "wait: ") + 6) <= 8);
    assert_int_equal(run(&out, "%s play --timeout 1500 %s/wait", aerogpu, dir), 1);
    /* one that does so while others go on is no reason */
    assert_int_equal(run(&out, "f=%s/waiter; a=%s; $a record -o $f -- %s waiter && $a play --timeout 1500 $f",
                         dir, aerogpu, workload),
                     0);
    strbuf_finish(&out);
}

/* The last call of a program that dies inside of it says that it did not return, also where there is no answer. */
TEST(calls_without_an_answer_do_not_return)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/crash -- %s crash", aerogpu, dir, workload), 128 + 11);
    assert_int_equal(run(&out, "%s show %s/crash | tail -1", aerogpu, dir), 0);
    assert_non_null(strstr(strbuf_str(&out), "CopyBufferRegion("));
    assert_non_null(strstr(strbuf_str(&out), " did not return\n"));
    strbuf_finish(&out);
}

/* Whoever ends the recorder ends the program, and has its recording. */
TEST(signals_end_the_program)
{
    struct strbuf out = {0};

    need_device();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(&out,
                             "timeout --foreground -s %s 2 %s record --what d3d12 -o %s/ended -- sleep 100",
                             i ? "TERM" : "INT", aerogpu, dir),
                         124);
        assert_non_null(strstr(strbuf_str(&out), i ? "ended by signal 15" : "ended by signal 2"));
    }
    strbuf_finish(&out);
}

/* Where there is no more room for the recording the program goes on without, and its recorder waits for it. */
TEST(a_full_disk_ends_nobody)
{
    struct strbuf out = {0};
    const char *unshare = geteuid() ? "unshare --user --map-root-user --mount" : "unshare --mount";

    need_device();
    if (run(&out, "%s sh -c 'mount -t tmpfs none %s && umount %s'", unshare, dir, dir)) {
        print_message("# no file system of a few bytes can be had: skipped\n");
        skip();
    }
    assert_int_equal(
        run(&out,
            "%s sh -c 'mkdir -p %s/little && mount -t tmpfs -o size=8k none %s/little && "
            "%s record --what d3d12 -o %s/little/f -- sh -c \"%s threads; %s threads; sleep 0.3; "
            "echo it went on, and returned \\$?\"'",
            unshare, dir, dir, aerogpu, dir, workload, workload),
        4);
    assert_non_null(strstr(strbuf_str(&out), "No space left on device; the program goes on, unrecorded\n"));
    assert_non_null(strstr(strbuf_str(&out), "\nit went on, and returned 0\n"));
    strbuf_finish(&out);
}

/* A recording of nothing takes the place of none; one of a program that has no device is something. */
TEST(a_recording_of_nothing_replaces_none)
{
    static const char *const nothing[] = {"-- true", "--frames 5-9 -- true", "-- ./nosuch"};
    struct strbuf out = {0};

    need_device();
    assert_int_equal(
        run(&out, "cd %s; %s record -o stood -- %s clears && cp stood copy", dir, aerogpu, workload), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            run(&out,
                "cd %s; for f in stood new; do %s record --what d3d12 -o $f %s; test $? = %d || exit 9; done; "
                "cmp stood copy && test ! -e new && test ! -e new.whole && test ! -e stood.whole",
                dir, aerogpu, nothing[i], i == 2 ? 4 : 0),
            0);
        assert_non_null(strstr(strbuf_str(&out), i == 2 ? "cannot run ./nosuch" : "nothing was recorded"));
    }
    run(&out, "cd %s; VK_DRIVER_FILES=/nonexistent %s record -o stood -- %s clears; %s show stood", dir,
        aerogpu, workload, aerogpu);
    assert_null(strstr(strbuf_str(&out), "nothing was recorded"));
    assert_non_null(strstr(strbuf_str(&out), "return=0x80004005"));
    assert_int_equal(run(&out, "cd %s; %s record -o few --frames 5-9 -- %s clears", dir, aerogpu, workload),
                     3);
    assert_non_null(strstr(strbuf_str(&out), "what was recorded stays in few.whole\n"));
    strbuf_finish(&out);
}

TEST(cut_recordings_are_no_success)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/clears.d3d12trace -- %s clears", aerogpu, dir, workload), 0);
    assert_int_equal(
        run(&out, "cd %s; head -c -30 clears.d3d12trace > short; %s play --validate short", dir, aerogpu), 3);
    assert_non_null(strstr(strbuf_str(&out), "the recording is cut: what is missing was not compared\n"));
    strbuf_finish(&out);
}

/* What can be read is what was asked for, as far as there is any: it takes the older page's place. */
TEST(cut_recordings_have_a_page)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/clears.d3d12trace -- %s clears", aerogpu, dir, workload), 0);
    assert_int_equal(run(&out,
                         "cd %s; head -c -30 clears.d3d12trace > short; echo old > page; "
                         "%s show --html page short; code=$?; grep -c CreateDevice page; exit $code",
                         dir, aerogpu),
                     3);
    assert_non_null(strstr(strbuf_str(&out), "; what else there is was read\n"));
    assert_null(strstr(strbuf_str(&out), "\n0\n"));
    strbuf_finish(&out);
}

/* Wherever it is cut, and whatever is wanted of it: one sentence, which says where. */
TEST(cut_recordings_are_said_once)
{
    static const char *const commands[] = {
        "play",
        "play --validate",
        "play --validate --until-call 2",
        "trim --frames 0-1 -o part",
        "trim --frames 1-1 -o part",
        "minimize --tests 3 -o part",
        "show",
        "show --object 99999",
        "diff clears.d3d12trace",
        "compare --on vkd3d --on vkd3d",
    };
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/clears.d3d12trace -- %s clears", aerogpu, dir, workload), 0);
    for (int part = 1; part < 8; part++)
        for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
            int code =
                run(&out,
                    "cd %s; head -c $(($(stat -c %%s clears.d3d12trace) * %d / 8)) clears.d3d12trace > "
                    "short; %s %s short > printed; code=$?; grep '^nothing' printed; exit $code",
                    dir, part, aerogpu, commands[i]);
            char *said = strstr(strbuf_str(&out), "aerogpu ");

            if (code != 3 || !said || strstr(said + 1, "\naerogpu ") || !strstr(said, ": the file is cut ") ||
                strstr(strbuf_str(&out), "nothing was compared"))
                fail_msg("%s, %d of 8: exit code %d: %s", commands[i], part, code, strbuf_str(&out));
        }
    /* of nothing no part is made */
    assert_int_equal(
        run(&out,
            "cd %s; rm -f part; head -c 260 clears.d3d12trace > short; %s trim --frames 0- -o part short; "
            "code=$?; test ! -e part || echo made; exit $code",
            dir, aerogpu),
        3);
    assert_non_null(strstr(strbuf_str(&out), "; no call of it can be read\n"));
    assert_null(strstr(strbuf_str(&out), "made"));
    strbuf_finish(&out);
}

/* Wherever it is, and whether what was asked for needs that part or not. */
TEST(damage_is_said_once)
{
    static const char *const commands[] = {"show --fences 2", "show --state 30", "minimize --tests 3 -o part",
                                           "compare --on vkd3d --on vkd3d"};
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/clears.d3d12trace -- %s clears", aerogpu, dir, workload), 0);
    for (int part = 1; part < 8; part++)
        for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
            int code = run(&out,
                           "cd %s; python3 -c '\n"
                           "b = bytearray(open(\"clears.d3d12trace\", \"rb\").read())\n"
                           "b[len(b) * %d // 8] ^= 1\n"
                           "open(\"bad\", \"wb\").write(b)'; %s %s bad 2>&1 >/dev/null",
                           dir, part, aerogpu, commands[i]);
            char *said = strstr(strbuf_str(&out), "aerogpu ");

            if (code != 3 || !said || strstr(said + 1, "\naerogpu ") || !strstr(said, ": bad: ") ||
                !strstr(said, "damaged"))
                fail_msg("%s, %d of 8: exit code %d: %s", commands[i], part, code, strbuf_str(&out));
        }
    strbuf_finish(&out);
}

/* libvkd3d says nothing of a draw for which the driver makes no pipeline: the picture is another one. */
TEST(draws_without_a_pipeline_are_told)
{
    struct strbuf out = {0};
    int code;

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/scene.d3d12trace -- %s scene", aerogpu, dir, workload), 0);
    code = run(&out, "%s lose --fault oom@vkCreateGraphicsPipelines:1 -- %s play %s/scene.d3d12trace",
               aerogpu, aerogpu, dir);
    if (code == 4) {
        print_message("%s", strbuf_str(&out));
        skip();
    }
    assert_non_null(strstr(strbuf_str(&out), "the Vulkan driver makes no pipeline for it (VkResult -2)"));
    assert_non_null(
        strstr(strbuf_str(&out), "draws left out, since the Vulkan driver makes no pipeline for them: 1\n"));
    assert_int_equal(run(&out, "%s play %s/scene.d3d12trace", aerogpu, dir), 0);
    assert_null(strstr(strbuf_str(&out), "pipeline"));
    strbuf_finish(&out);
}

/* Who finds no chunk that can be kept has one for a call: nothing is missing, and nobody waits for ever. */
TEST(threads_without_room_are_recorded)
{
    struct strbuf out = {0};

    if (*SANITIZER) /* whose own memory cannot be limited */
        skip();
    assert_int_equal(
        run(&out, "export LD_PRELOAD=%s; %s record -o %s/crowd -- %s crowd", stub, aerogpu, dir, elsewhere),
        0);
    assert_null(strstr(strbuf_str(&out), "memory"));
    assert_non_null(strstr(strbuf_str(&out), " 121 threads\n"));
    for (int k = 0; k < 3; k++) {
        static const char *const calls[] = {"CreateFence", "Signal", "Release"};

        assert_int_equal(run(&out, "%s show --method %s %s/crowd | wc -l", aerogpu, calls[k], dir), 0);
        assert_string_equal(strbuf_str(&out), "1800\n");
    }
    assert_int_equal(run(&out, "export LD_PRELOAD=%s; %s play %s/crowd", stub, aerogpu, dir), 0);
    strbuf_finish(&out);
}

/* Of a dispatch, and of rays: their names, and constants by them. */
TEST(shaders_of_model_6_are_inside)
{
    struct strbuf out = {0};

    assert_int_equal(
        run(&out, "export LD_PRELOAD=%s; %s record -o %s/six -- %s six", stub, aerogpu, dir, elsewhere), 0);
    if (system("command -v llvm-dis-14 llvm-dis >/dev/null"))
        skip();
    assert_int_equal(run(&out,
                         "a=%s; f=%s/six; for m in Dispatch DispatchRays DrawInstanced; do "
                         "$a show --state $($a show --method $m $f | grep -m1 -o '^[0-9]*') $f; done",
                         aerogpu, dir),
                     0);
    assert_non_null(strstr(strbuf_str(&out), "compute shader's Scene, b0, space 0: resource 6 at byte 0\n"
                                             "      view = (0, 1, 2, 3) (4, 5, 6, 7)"));
    assert_non_null(
        strstr(strbuf_str(&out), "          constant buffer materials: b2, space 1, 4 of them\n"));
    assert_non_null(strstr(strbuf_str(&out), "        library of shaders, model 6.3, 4848 bytes:\n"));
    assert_non_null(strstr(strbuf_str(&out), "          acceleration structure scene: t0, space 0\n"));
    assert_non_null(strstr(strbuf_str(&out), "      inverse = (0, 1, 2, 3) (4, 5, 6, 7)"));
    assert_non_null(strstr(strbuf_str(&out), "    the pixel shader is not run: of models 4 to 5.1 alone"));
    assert_null(strstr(strbuf_str(&out), "the vertex shader is not run"));
    strbuf_finish(&out);
}

/* Who asks again, and not in the same breath, ends what does not obey; and kills what obeys nothing. */
TEST(signals_that_come_again_end_what_does_not_obey)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(
        run(&out,
            "%s record --what d3d12 -o %s/again -- sh -c 'trap \"\" INT TERM; exec sleep 100' & pid=$!; "
            "until child=$(pgrep -x -P $pid sleep) || [ $((i += 1)) -gt 400 ]; do sleep 0.05; done; "
            "kill -INT $pid $pid; kill -INT $pid; sleep 2.2; kill -0 $child && kill -INT $pid; "
            "sleep 2.2; kill -0 $child && kill -INT $pid; wait $pid",
            aerogpu, dir),
        128 + 9);
    assert_non_null(strstr(strbuf_str(&out), "ended by signal 9"));
    assert_int_equal(
        run(&out,
            "%s record --what d3d12 -o %s/again -- sh -c 'trap \"\" INT; exec sleep 100' & pid=$!; "
            "until child=$(pgrep -x -P $pid sleep) || [ $((i += 1)) -gt 400 ]; do sleep 0.05; done; "
            "kill -INT $pid; sleep 2.2; kill -INT $pid; wait $pid",
            aerogpu, dir),
        128 + 15);
    assert_non_null(strstr(strbuf_str(&out), "ended by signal 15"));
    strbuf_finish(&out);
}

/* A recorder that is killed leaves its shared memory; the next one clears it away. */
TEST(killed_recorders_leave_nothing)
{
    struct strbuf out = {0};

    need_device();
    if (run(&out,
            "%s record --what d3d12 -o %s/gone -- sleep 100 & pid=$!; shm=; i=0;"
            "while [ -z \"$shm\" ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1));"
            "  shm=$(readlink /proc/$pid/fd/* | grep -m1 /dev/shm/aerogpu-record-); done;"
            "until child=$(pgrep -x -P $pid sleep) || [ $((i += 1)) -gt 400 ]; do sleep 0.05; done; kill -9 "
            "$pid; wait $pid; [ -n \"$shm\" ] && [ "
            "-e $shm ] && %s record --what d3d12 -o "
            "%s/next -- true &&"
            "{ j=0; while [ -e $shm ] && [ $((j += 1)) -lt 200 ]; do sleep 0.05; done; [ ! -e $shm ]; }; code=$?; " /* another one's recorder may be at it */
            "kill $child; exit $code",
            aerogpu, dir, aerogpu, dir))
        fail_msg("%s", strbuf_str(&out));
    strbuf_finish(&out);
}

TEST_GROUP(make_dir, remove_dir);

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    aerogpu = realpath(argv[1], NULL);
    workload = realpath(argv[2], NULL);
    stub = realpath(argv[3], NULL);
    elsewhere = realpath(argv[4], NULL);
    tell_sanitizer();
    return test_run();
}
