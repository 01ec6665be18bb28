/* SPDX-License-Identifier: MIT */
/* d3d12_test.c: whole programs recorded by the Direct3D 12 recorder, and played (its parts: d3d12_file_test.c).
 * usage: d3d12_test AEROGPU WORKLOAD STUB CALLALL ELSEWHERE LOCAL OTHER */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "d3d12_records.h"
#include "d3d12_run.h"
#include "temp_dir.h"

static const char *callall, *local_libraries, *other;

/* ---- whole programs ------------------------------------------------------ */

/* The last line of a program's output: its checksum. */
static const char *last_line(const struct strbuf *b, const char *begin)
{
    const char *p = strstr(strbuf_str(b), begin);
    static char line[100];

    assert_non_null(p);
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
    return line;
}

static void roundtrip(const char *name, const char *options, int reads)
{
    struct strbuf plain = {0}, out = {0};
    char want[100], sum[100], begin[32];

    snprintf(begin, sizeof(begin), "%s ", name);
    assert_int_equal(run(&plain, "%s %s", workload, name), 0);
    snprintf(sum, sizeof(sum), "%s", last_line(&plain, begin));
    if (run(&out, "%s record %s -o %s/%s.d3d12trace -- %s %s", aerogpu, options, dir, name, workload, name))
        fail_msg("%s", strbuf_str(&out));
    assert_string_equal(last_line(&out, begin), sum); /* recording changes nothing */
    if (run(&out, "%s play --validate %s/%s.d3d12trace", aerogpu, dir, name) != !reads)
        fail_msg("%s", strbuf_str(&out));
    if (!reads) /* nothing that was compared is no success */
        assert_non_null(strstr(strbuf_str(&out), "nothing was compared: the recording has no hashes\n"));
    snprintf(want, sizeof(want), "read back: %d as recorded, 0 different", reads);
    if (!strstr(strbuf_str(&out), want))
        fail_msg("%s: %s", name, strbuf_str(&out));
    strbuf_finish(&plain);
    strbuf_finish(&out);
}

TEST(cleared_textures_play_alike)
{
    need_device();
    roundtrip("clears", "", 1);
}

TEST(mapped_memory_plays_alike)
{
    need_device();
    roundtrip("maps", "", 21);
    roundtrip("maps", "--memory hash", 21);
    roundtrip("reused", "", 40);
}

TEST(aliased_upload_memory_plays_alike)
{
    need_device();
    roundtrip("placed", "", 12);
    roundtrip("placed", "--memory hash", 12);
}

TEST(drawn_scenes_play_alike)
{
    need_device();
    roundtrip("scene", "", 4);
    roundtrip("scene", "--memory hash", 4);
}

/* Pipeline streams need a libvkd3d that is newer than the installed one: AEROGPU_VKD3D_NEW is a program that runs another
 * one with it (tools/build/vkd3d-new.sh makes one). */
TEST(pipeline_streams_play_alike_on_a_newer_libvkd3d)
{
    const char *with = getenv("AEROGPU_VKD3D_NEW");
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s stream", workload), 77); /* the installed one says so */
    if (!with) {
        print_message(
            "# AEROGPU_VKD3D_NEW is not set (tools/build/vkd3d-new.sh fetches a newer libvkd3d): skipped\n");
        skip();
    }
    if (run(&out,
            "%s record -o %s/stream -- %s %s stream; %s show %s/stream; %s %s play "
            "--validate %s/stream",
            aerogpu, dir, with, workload, aerogpu, dir, with, aerogpu, dir))
        fail_msg("%s", strbuf_str(&out));
    assert_non_null(strstr(strbuf_str(&out), "CreatePipelineState(pDesc={SizeInBytes="));
    assert_non_null(strstr(strbuf_str(&out), "read back: 4 as recorded, 0 different"));
    strbuf_finish(&out);
}

TEST(many_threads_play_alike)
{
    need_device();
    for (int i = 0; i < 3; i++)
        roundtrip("threads", "", 1);
}

TEST(fences_and_devices_play_alike)
{
    need_device();
    roundtrip("events", "", 0);
    roundtrip("devices", "", 10);
    roundtrip("gated", "", 4);
    roundtrip("queries", "", 1);
    roundtrip("signals", "", 6);
}

/* A program that presents nothing and keeps its memory mapped has hashes of what the device put there, too. */
TEST(memory_that_stays_mapped_is_compared)
{
    struct strbuf out = {0};

    need_device();
    roundtrip("kept", "", 4); /* of each buffer: when it is mapped, and when it no longer is */
    assert_int_equal(
        run(&out, "%s show %s/kept.d3d12trace | grep -o 'Hash=[0-9]*' | sort -u | wc -l", aerogpu, dir), 0);
    assert_string_equal(strbuf_str(&out), "3\n"); /* zeroes in both, and what each had at last */
    strbuf_finish(&out);
}

/* libvkd3d-utils loaded for one part of the program alone. */
TEST(local_libraries_are_recorded)
{
    struct strbuf out = {0};

    need_device();
    if (run(&out, "%s record -o %s/local -- %s; %s show %s/local", aerogpu, dir, local_libraries, aerogpu,
            dir))
        fail_msg("%s", strbuf_str(&out));
    assert_non_null(strstr(strbuf_str(&out), "CreateCommandQueue("));
    strbuf_finish(&out);
}

TEST(a_recording_of_nothing_says_so)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/nothing -- %s nosuch", aerogpu, dir, workload), 2);
    assert_non_null(
        strstr(strbuf_str(&out), "nothing was recorded: the program made no call that the recorder saw"));
    strbuf_finish(&out);
}

/* It is what nothing was recorded of, and whoever starts it. */
TEST(elf_programs_of_32_bits_are_named)
{
    struct strbuf out = {0};

    run(&out,
        "cd %s; { printf '\177ELF\1\1\1'; head -c 64 /dev/zero; } >old32; chmod +x old32; "
        "%s record --what d3d12 -o old -- env true ./old32; echo code $?",
        dir, aerogpu);
    assert_non_null(
        strstr(strbuf_str(&out),
               "./old32 is a Linux program of 32 bits: of those only Windows programs are recorded\n"));
    assert_non_null(strstr(strbuf_str(&out), "code 4\n"));
    strbuf_finish(&out);
}

/* They need a recorder of their own. */
TEST(without_a_recorder_for_32_bits_such_programs_are_refused)
{
    struct strbuf out = {0};

    run(&out,
        "cd %s; { printf MZ; head -c 58 /dev/zero; printf '\\100\\0\\0\\0PE\\0\\0\\114\\1\\0\\0'; "
        "head -c 12 /dev/zero; printf '\\340\\0\\2\\1\\13\\1'; head -c 512 /dev/zero; } >old.exe; "
        "mkdir dlls; touch dlls/d3d12.dll dlls/dxgi.dll; "
        "AEROGPU_D3D12_DLL=$PWD/dlls/d3d12.dll %s record --what d3d12 -o old -- wine old.exe; echo code $?",
        dir, aerogpu);
    assert_non_null(strstr(
        strbuf_str(&out),
        "dlls/d3d12-x86.dll: No such file or directory (the recorder for programs of 32 bits is of a build with i686-w64-mingw32-gcc)\n"));
    assert_non_null(strstr(strbuf_str(&out), "code 4\n"));
    strbuf_clear(&out);
    run(&out, "cd %s; %s record --what d3d12 -o old -- sh -c 'true;: wine old.exe'; echo code $?", dir,
        aerogpu);
    assert_non_null(strstr(strbuf_str(&out), "old.exe is a Windows program that something else starts"));
    assert_non_null(strstr(strbuf_str(&out), "code 4\n"));
    strbuf_finish(&out);
}

/* What was asked for, and is not in the recording. */
TEST(what_is_not_there_is_said)
{
    struct strbuf out = {0};

    need_device();
    roundtrip("clears", "", 1);
    assert_int_equal(run(&out, "cd %s; %s play --validate --until-call 2 clears.d3d12trace", dir, aerogpu),
                     1);
    assert_non_null(
        strstr(strbuf_str(&out), "nothing was compared: the part that was played has no hashes\n"));
    assert_int_equal(run(&out, "cd %s; %s show --object 99999 clears.d3d12trace", dir, aerogpu), 3);
    assert_string_equal(strbuf_str(&out),
                        "aerogpu show: none of the recording's calls is one that was asked for\n");
    assert_int_equal(run(&out, "cd %s; %s trim --frames 7-8 -o part clears.d3d12trace", dir, aerogpu), 3);
    assert_string_equal(strbuf_str(&out), "aerogpu trim: the recording has no frame 7: it has 0 to 0\n");
    assert_int_equal(run(&out, "cd %s; %s play --png none --frames 7-8 clears.d3d12trace", dir, aerogpu), 3);
    assert_non_null(strstr(strbuf_str(&out), "there is no frame 7: 0 were played\n"));
    assert_int_equal(run(&out, "ls %s/none", dir), 2);
    assert_int_equal(run(&out,
                         "cd %s; for o in '--stop-before 99999' '--hashes --draws 99999-100000' "
                         "'--hashes --draws 40-50 --until-call 10'; do %s play $o clears.d3d12trace "
                         ">/dev/null; test $? = 3 || exit 9; done",
                         dir, aerogpu),
                     0);
    assert_string_equal(strbuf_str(&out),
                        "aerogpu play: there is no call 99999: what was played ends before call 52\n"
                        "aerogpu play: there is no call 99999: what was played ends before call 52\n"
                        "aerogpu play: there is no call 40: what was played ends before call 11\n");
    assert_int_equal(run(&out,
                         "cd %s; for o in '--until-call 52' '--until-frame 1' '--until-call 51' "
                         "'--until-frame 0' '--hashes --draws 51-99' '--stop-before 51'; do "
                         "%s play $o clears.d3d12trace >/dev/null || exit 9; done",
                         dir, aerogpu),
                     0);
    assert_string_equal(strbuf_str(&out),
                        "aerogpu play: clears.d3d12trace has no call 52: it was played to its end\n"
                        "aerogpu play: clears.d3d12trace has no frame 1: it was played to its end\n");
    /* what the program gave back behind its last frame is no frame */
    assert_int_equal(run(&out, "cd %s; %s trim --frames 1-1 -o part clears.d3d12trace", dir, aerogpu), 3);
    assert_string_equal(strbuf_str(&out), "aerogpu trim: the recording has no frame 1: it has 0 to 0\n");
    assert_int_equal(run(&out,
                         "cd %s; %s trim --frames 0-99999999999 -o part clears.d3d12trace && %s info part",
                         dir, aerogpu, aerogpu),
                     0);
    assert_non_null(strstr(strbuf_str(&out), "part: frames 0 to 0, the last one: "));
    assert_non_null(strstr(strbuf_str(&out), "\"cut_from\": 0, \"cut_to\": 0}"));
    strbuf_finish(&out);
}

TEST(names_and_json_are_shown)
{
    struct strbuf out = {0};

    need_device();
    roundtrip("clears", "", 1);
    assert_int_equal(run(&out, "%s show %s/clears.d3d12trace", aerogpu, dir), 0);
    assert_non_null(strstr(strbuf_str(&out),
                           "\"Target \xc3\xa4\xe4\xb8\xad\".SetPrivateData(guid={12345678-0001-0002-0304-"
                           "05060708090a}, DataSize=5, pData=5 bytes 68656c6c6f) -> return=S_OK"));
    assert_int_equal(
        run(&out,
            "%s show --json %s/clears.d3d12trace | python3 -c '"
            "import json,sys\n"
            "c=[json.loads(l) for l in sys.stdin]\n"
            "d=[x for x in c if x[\"method\"]==\"ClearRenderTargetView\"]\n"
            "print(len(d), d[2][\"args\"][\"RenderTargetView\"][\"index\"], d[2][\"args\"][\"ColorRGBA\"])'",
            aerogpu, dir),
        0);
    assert_string_equal(strbuf_str(&out), "8 1 [0.25, 0.75, 0.5, 1]\n");
    strbuf_finish(&out);
}

/* What stands where another object stood is another object, however much a call is like the last one. */
TEST(what_is_made_at_the_same_address_is_another)
{
    struct strbuf out = {0};
    unsigned object[6] = {0};
    const char *at;

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/again -- %s again", aerogpu, dir, workload), 0);
    if (!strstr(strbuf_str(&out), "same address"))
        skip(); /* this allocator gives another */
    assert_int_equal(run(&out, "%s show %s/again", aerogpu, dir), 0);
    at = strbuf_str(&out);
    for (int i = 0; i < 6; i++) {
        assert_non_null(at = strstr(at, ".CopyBufferRegion("));
        assert_non_null(at = strstr(at, "pSrcBuffer=Resource#"));
        object[i] = (unsigned)strtoul(at + strlen("pSrcBuffer=Resource#"), NULL, 10);
        assert_int_equal(object[i], object[i / 3 * 3]);
    }
    assert_int_not_equal(object[0], object[3]);
    strbuf_finish(&out);
}

/* A recording whose handles are wrong is played up to the call, which is named; the call is not made. */
TEST(wrong_handles_are_named)
{
    struct record r = {0};
    struct strbuf out = {0};
    char path[100];

    snprintf(path, sizeof(path), "%s/wrong", dir);
    sample(&r);
    r.n = 0;
    op(&r, D12_ID3D12GraphicsCommandList_DrawInstanced, REC_THIS);
    var(&r, 5);
    for (int i = 0; i < 4; i++)
        var(&r, 1);
    write_file(path, r.bytes, r.n, 1);
    assert_int_equal(run(&out, "%s play %s", aerogpu, path), 3);
    assert_non_null(strstr(strbuf_str(&out), "/wrong: call 0 (block 0): ID3D12GraphicsCommandList::"
                                             "DrawInstanced: it is made on object 5, which does not exist"));
    assert_int_equal(run(&out, "%s play /dev/null", aerogpu), 3);
    assert_int_equal(run(&out, "%s d3d12 frobnicate", aerogpu), 2);
    strbuf_finish(&out);
}

/* Every method of every interface of the IDL files, over an implementation that does nothing: recorded, played under the
 * recorder, and the two recordings compared. What the player does on its own account is known. */
TEST(every_method_plays_alike)
{
    struct strbuf out = {0}, list = {0};
    const char *p;

    need_device();
    if (run(&out, "export LD_PRELOAD=%s; %s record -o %s/all1 -- %s", stub, aerogpu, dir, callall) ||
        run(&out, "export LD_PRELOAD=%s; %s record --what d3d12 -o %s/all2 -- %s play %s/all1", stub, aerogpu,
            dir, aerogpu, dir))
        fail_msg("%s", strbuf_str(&out));
    run(&out, "%s diff %s/all1 %s/all2", aerogpu, dir, dir);
    p = strstr(strbuf_str(&out), " calls alike");
    assert_non_null(p);
    while (p > strbuf_str(&out) && p[-1] != '\n')
        p--;
    assert_true(atoi(p) > 600);
    run(&list,
        "grep -vE '^\\+ .*\\.(GetDevice|Release|Map|Unmap)\\(|^\\+ .*\\.CreateFence\\(InitialValue=0, Flags=D3D12_FENCE_FLAG_NONE, |"
        "^\\+ .*\\.Signal\\(pFence=Fence#[0-9]+, Value=1\\)|^[-+] .* MemoryWrite\\(| calls alike' "
        "<<'END'\n%s\nEND",
        strbuf_str(&out));
    assert_string_equal(strbuf_str(&list), "\n");
    /* the recording has all that can be played */
    assert_int_equal(run(&out,
                         "%s methods | grep -E 'recorded and played|asks only' | grep -v ^IUnknown | "
                         "cut -d' ' -f2 | "
                         "sort -u > %s/want; %s show --json %s/all1 | grep -o '\"method\":\"[^\"]*' | "
                         "cut -d'\"' -f4 | sort -u > %s/got; comm -23 %s/want %s/got",
                         aerogpu, dir, aerogpu, dir, dir, dir, dir),
                     0);
    assert_string_equal(strbuf_str(&out), "");
    /* what cannot be played is recorded, and named */
    assert_int_equal(
        run(&out, "export LD_PRELOAD=%s; %s record -o %s/all3 -- %s all", stub, aerogpu, dir, callall), 0);
    assert_int_equal(run(&out, "export LD_PRELOAD=%s; %s play %s/all3", stub, aerogpu, dir), 3);
    assert_non_null(strstr(strbuf_str(&out), "this cannot be played"));
    strbuf_finish(&out);
    strbuf_finish(&list);
}

/* State objects, acceleration structures and rays are recorded with all that their descriptions say: addresses as what they mean, and an
 * association by the place of what it points to. Where the program was told that there are none, playing goes on. */
TEST(ray_tracing_is_decoded)
{
    static const char *const said[] = {
        "DXILLibrary={pShaderBytecode=15 bytes 4458424320616e6420736f206f6e00, BytecodeLength=15}, NumExports=1, pExports=[{Name=\"hit\", ",
        "pDesc={HitGroupExport=\"group\", Type=D3D12_HIT_GROUP_TYPE_TRIANGLES, AnyHitShaderImport=NULL, ClosestHitShaderImport=\"hit\", ",
        "pDesc={MaxPayloadSizeInBytes=16, MaxAttributeSizeInBytes=8}",
        "pDesc={pSubobjectToAssociate=2, NumExports=1, pExports=[\"group\"]}",
        "pDesc={pSubobjectToAssociate=4294967295, NumExports=0, pExports=NULL}",
        "DescsLayout=D3D12_ELEMENTS_LAYOUT_ARRAY_OF_POINTERS, pGeometryDescs=[{Type=D3D12_RAYTRACING_GEOMETRY_TYPE_TRIANGLES, ",
        "VertexCount=33, IndexBuffer=0x0, VertexBuffer={StartAddress=Resource#7+0x400, StrideInBytes=12}}}, ",
        "AABBs={AABBCount=7, AABBs={StartAddress=Resource#7+0x200, StrideInBytes=24}}}]}",
        "ScratchAccelerationStructureData=Resource#7+0x2000}",
        "DescsLayout=D3D12_ELEMENTS_LAYOUT_ARRAY, InstanceDescs=Resource#7+0x4000}",
        "SetPipelineState1(pStateObject=StateObject#6)",
        "HitGroupTable={StartAddress=Resource#7+0x6000, SizeInBytes=64, StrideInBytes=32}",
    };
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "export LD_PRELOAD=%s; %s record -o %s/rays -- %s rays && %s show %s/rays",
                         stub, aerogpu, dir, elsewhere, aerogpu, dir),
                     0);
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        if (!strstr(strbuf_str(&out), said[i]))
            fail_msg("%s is not in %s", said[i], strbuf_str(&out));
    assert_int_equal(run(&out, "export LD_PRELOAD=%s; %s play %s/rays", stub, aerogpu, dir), 3);
    assert_non_null(strstr(strbuf_str(&out), "ID3D12Device5::CreateStateObject: this cannot be played"));
    assert_int_equal(
        run(&out,
            "export LD_PRELOAD=%s; STUB_NO_RAYS=1 %s record -o %s/rays -- %s rays && %s show %s/rays | tail -1 "
            "&& %s play %s/rays",
            stub, aerogpu, dir, elsewhere, aerogpu, dir, aerogpu, dir),
        0);
    assert_non_null(strstr(strbuf_str(&out), "pExports=[\"group\"]"));
    assert_non_null(strstr(strbuf_str(&out), "-> return=0x80004001, ppStateObject=NULL"));
    strbuf_finish(&out);
}

/* What the stub was asked for, line by line. */
static void stub_says(struct strbuf *out, const char *environment, const char *command)
{
    assert_int_equal(run(out, "{ export LD_PRELOAD=%s STUB_LOG=1 %s; %s; } 2>/dev/null | grep ^stub:", stub,
                         environment, command),
                     0);
}

/* Addresses in buffers mean the same resources on a device that hands out others, wherever the bytes came from. */
TEST(addresses_in_buffers_are_translated)
{
    struct strbuf here = {0}, there = {0};
    char command[500];

    need_device();
    snprintf(command, sizeof(command), "%s record -o %s/elsewhere -- %s indirect", aerogpu, dir, elsewhere);
    stub_says(&here, "", command);
    assert_non_null(strstr(strbuf_str(&here), "stub: indirect 1.1: "));
    snprintf(command, sizeof(command), "%s play %s/elsewhere", aerogpu, dir);
    stub_says(&there, "STUB_BASE=4096", command);
    assert_string_equal(strbuf_str(&here), strbuf_str(&there));
    /* without its end, nobody says that there are such buffers: they are found all the same */
    assert_int_equal(run(&there, "head -c -30 %s/elsewhere > %s/elsewhere2", dir, dir), 0);
    snprintf(command, sizeof(command), "%s play %s/elsewhere2", aerogpu, dir);
    stub_says(&there, "STUB_BASE=77", command);
    assert_string_equal(strbuf_str(&here), strbuf_str(&there));
    /* what shaders write into an argument buffer cannot be translated: that is said */
    assert_int_equal(run(&there,
                         "export LD_PRELOAD=%s; %s record -o %s/written -- %s written; %s play %s/written",
                         stub, aerogpu, dir, elsewhere, aerogpu, dir),
                     0);
    assert_non_null(
        strstr(strbuf_str(&there), "which shaders may write; those are played as they were recorded"));
    strbuf_finish(&here);
    strbuf_finish(&there);
}

/* What crashes this machine's implementation only is an error of playing. */
TEST(crashes_of_the_player_are_errors)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(
        run(&out, "export LD_PRELOAD=%s; %s record -o %s/null -- %s null", stub, aerogpu, dir, elsewhere), 0);
    assert_int_equal(run(&out, "%s play %s/null 2>&1 | grep -v fixme", aerogpu, dir), 0);
    assert_string_equal(strbuf_str(&out),
                        "aerogpu play: call 4 (block 0): ID3D12GraphicsCommandList::IASetVertexBuffers: "
                        "making it crashes (signal 11)\n");
    assert_int_equal(run(&out, "%s play %s/null", aerogpu, dir), 3);
    /* of a file that is cut as well, both in one sentence */
    assert_int_equal(run(&out,
                         "cd %s; head -c -30 null > null2; %s play null2 >printed 2>said; code=$?; "
                         "grep -v fixme said; exit $code",
                         dir, aerogpu),
                     3);
    if (strncmp(strbuf_str(&out), "aerogpu play: null2: the file is cut ", 37) ||
        !strstr(strbuf_str(&out), "; call 4 (block 0): ID3D12GraphicsCommandList::IASetVertexBuffers: ") ||
        strchr(strbuf_str(&out), '\n')[1])
        fail_msg("%s", strbuf_str(&out));
    strbuf_finish(&out);
}

/* Which Direct3D 12 plays, and on which Vulkan device, can be said. */
TEST(a_library_named_by_its_path_plays)
{
    struct strbuf out = {0};

    need_device();
    roundtrip("clears", "", 1);
    assert_int_equal(
        run(&out,
            "l=$(grep -m1 -o '/.*libvkd3d.so.1.*' /proc/$$/maps || PATH=$PATH:/sbin ldconfig -p | "
            "sed -n 's/.*libvkd3d.so.1 .*=> //p;T;q'); %s play --validate --d3d12 $l %s/clears.d3d12trace",
            aerogpu, dir),
        0);
    assert_non_null(strstr(strbuf_str(&out), "read back: 1 as recorded, 0 different"));
    /* the one that does nothing never gets done */
    assert_int_equal(run(&out, "%s play --timeout 50 --d3d12 %s %s/clears.d3d12trace", aerogpu, stub, dir),
                     1);
    assert_non_null(strstr(strbuf_str(&out), "EventWait: event 1 is not signalled within 50 ms"));
    assert_int_equal(run(&out, "%s play --d3d12 %s %s/clears.d3d12trace", aerogpu, aerogpu, dir), 3);
    assert_non_null(strstr(strbuf_str(&out), "aerogpu play: no Direct3D 12: "));
    assert_int_equal(run(&out, "%s play --d3d12 %s/none %s/clears.d3d12trace", aerogpu, dir, dir), 3);
    /* a name is for the loader to find */
    assert_int_equal(run(&out, "%s play --validate --d3d12 libvkd3d.so.1 %s/clears.d3d12trace", aerogpu, dir),
                     0);
    assert_int_equal(run(&out, "%s play --d3d12 libnone.so.1 %s/clears.d3d12trace", aerogpu, dir), 4);
    assert_int_equal(run(&out, "%s play --loop --times 3 %s/clears.d3d12trace", aerogpu, dir), 2);
    assert_int_equal(
        run(&out, "AEROGPU_VULKAN_DEVICE=0 %s play --validate %s/clears.d3d12trace", aerogpu, dir), 0);
    assert_int_equal(run(&out, "AEROGPU_VULKAN_DEVICE='no such' %s play %s/clears.d3d12trace", aerogpu, dir),
                     4);
    assert_non_null(strstr(strbuf_str(&out), "CreateDevice: no Vulkan device matches 'no such' (of "));
    strbuf_finish(&out);
}

/* Behind the state at a draw: what made its pipeline and root signature, and the descriptors. */
TEST(state_shows_what_it_names)
{
    struct strbuf out = {0};

    need_device();
    roundtrip("scene", "", 4);
    assert_int_equal(
        run(&out,
            "f=%s/scene.d3d12trace; a=%s; n=$($a show --method ExecuteIndirect $f | grep -m1 -o '^[0-9]*'); "
            "$a show --json --state $n $f | python3 -c '\n"
            "import json,sys\n"
            "for o in map(json.loads, sys.stdin): print(o[\"role\"], (o.get(\"call\") or {}).get(\"method\") or o.get(\"kind\") or \"\")\n"
            "'; $a show --state $n $f | sed -n \"/^and works on/,\\$p\"; "
            "$a show --state $n $f | grep -A1 -e OMSetRenderTargets -e CreateRootSignature; "
            "c=$($a show --method CopyTextureRegion $f | grep -m1 -o '^[0-9]*'); "
            "echo writer=$($a show --state $n $f | grep -c \"^    resource .*: written last by call $c; \"); "
            "$a show --json --fences $n $f; echo fences=$?; $a show --bytes $n $f; echo bytes=$?; $a show --json --fences 103 $f; $a show --fences 9999 $f",
            dir, aerogpu),
        3);
    assert_non_null(strstr(strbuf_str(&out), "call ExecuteIndirect\n"));
    assert_non_null(strstr(strbuf_str(&out),
                           "state SetPipelineState\nobject CreateGraphicsPipelineState\n"
                           "state SetGraphicsRootSignature\nobject CreateRootSignature\nparameter CBV\n"));
    assert_non_null(
        strstr(strbuf_str(&out), "state OMSetRenderTargets\ndescriptor CreateRenderTargetView\n"));
    assert_non_null(strstr(strbuf_str(&out), "\n        parameter 0, for all: CBV b0, space 0\n"));
    assert_non_null(strstr(strbuf_str(&out), "\n      [0] "));
    assert_non_null(strstr(strbuf_str(&out), "    command 0 of 1, resource "));
    assert_non_null(strstr(strbuf_str(&out), ": DRAW VertexCountPerInstance=3 InstanceCount=1 "));
    /* what it works on: constants and vertices as values, and who wrote what it draws to */
    assert_non_null(strstr(
        strbuf_str(&out),
        "descriptor CreateRenderTargetView\narguments \nshader \nbinding constant buffer\nshader \nconstants \n"
        "vertex \nvertex \nvertex \ntrace \nprocessed \nprocessed \nprocessed \ntrace \npixel \nresource CreateCommittedResource\n"));
    assert_non_null(strstr(
        strbuf_str(&out),
        "StartInstanceLocation=0\n        vertex shader, model 5.0, 900 bytes: in POSITION0.xyzw, COLOR0.xyzw; "));
    assert_non_null(strstr(
        strbuf_str(&out), "\n      scale_offset = 0.9, 0.9, 0, 0\n"
                          "    vertex 0: POSITION0 -1 -1 0 1, COLOR0 1 0 0 1\n"
                          "    vertex 1: POSITION0 0 1 0 1, COLOR0 0 1 0 1\n"
                          "    vertex 2: POSITION0 1 -1 0 1, COLOR0 0 0 1 1\n"
                          "    vertex 0 after the vertex shader: SV_Position0 -0.9 -0.9 0 1, COLOR0 1 0 0 1\n"
                          "    vertex 1 after the vertex shader: SV_Position0 0 0.9 0 1, COLOR0 0 1 0 1\n"
                          "    vertex 2 after the vertex shader: SV_Position0 0.9 -0.9 0 1, COLOR0 0 0 1 1\n"
                          "    every pixel of target 0: ? ? ? 1\n    resource "));
    assert_non_null(
        strstr(strbuf_str(&out), "writer=1\n")); /* of the target: the copy in front of the draw */
    assert_non_null(strstr(strbuf_str(&out), "fences=0\n"));
    assert_non_null(strstr(strbuf_str(&out), " carries no bytes\nbytes=3\n"));
    assert_non_null(strstr(strbuf_str(&out), "there is no call 9999\n"));
    assert_non_null(strstr(strbuf_str(&out), "{\"fence\":6,\"initial\":0,\"queue\":"));
    strbuf_finish(&out);
}

/* A draw in a bundle has what the list that executes it had set, but for what the bundle set and what bundles do not have of their callers. */
TEST(a_bundle_has_its_callers_state)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(
        run(&out,
            "f=%s/black; a=%s; $a record -o $f -- %s black >/dev/null 2>&1 || exit; "
            "b=$($a show --method ExecuteBundle $f | grep -o '^[0-9]*'); "
            "$a show --state $($a show --method DrawInstanced $f | grep -o '^[0-9]*' | awk \"\\$1 < $b\" | tail -1) $f | "
            "grep -oE 'and what was set by.*|ExecuteBundle|(RS|IA|OM)Set[A-Za-z]*|SetPipelineState|vertex shader,|resource [0-9]*: written last'",
            dir, aerogpu, workload),
        0);
    assert_non_null(
        strstr(strbuf_str(&out),
               "and what was set by the list that executes the bundle:\nExecuteBundle\nRSSetViewports\n"
               "OMSetRenderTargets\nvertex shader,\n"));
    assert_null(strstr(strbuf_str(&out), "RSSetScissorRects"));
    assert_non_null(strstr(strbuf_str(&out), "IASetVertexBuffers"));
    strbuf_finish(&out);
}

/* A program that presents nothing and reads nothing back has what its queues wrote to be compared; one that reads has that alone. */
TEST(what_nobody_reads_is_compared)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/unread -- %s unread", aerogpu, dir, workload), 0);
    if (run(&out, "%s play --validate %s/unread", aerogpu, dir))
        fail_msg("%s", strbuf_str(&out));
    assert_non_null(strstr(strbuf_str(&out), "written by queues: 4 as recorded, 0 different\n"));
    assert_int_equal(run(&out, "%s play --validate --d3d12 %s %s/unread", aerogpu, other, dir), 1);
    assert_non_null(strstr(strbuf_str(&out), "written by queues: 0 as recorded, 4 different\n"));
    assert_int_equal(run(&out, "%s record --hash-every 0 -o %s/unread -- %s unread", aerogpu, dir, workload),
                     0);
    assert_int_equal(run(&out, "%s play --validate %s/unread", aerogpu, dir), 1);
    assert_non_null(strstr(strbuf_str(&out), "nothing was compared: the recording has no hashes\n"));
    assert_int_equal(run(&out, "%s record -o %s/read -- %s scene; %s show --method ContentsHash %s/read",
                         aerogpu, dir, workload, aerogpu, dir),
                     3);
    assert_non_null(strstr(strbuf_str(&out), "none of the recording's calls is one that was asked for"));
    strbuf_finish(&out);
}

/* A pixel is that of the view: of the slice of a volume, and in the view's format, packed ones too. */
TEST(pixels_are_seen_as_their_view_sees_them)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out, "%s record -o %s/views -- %s views && %s play --pixel 8,8 %s/views", aerogpu,
                         dir, workload, aerogpu, dir),
                     0);
    assert_non_null(strstr(strbuf_str(&out), ": 0 0 0 1 -> 1 0 0 1\n"));
    assert_non_null(strstr(strbuf_str(&out), ": 0 0 0 1 -> 0 1 0 1\n"));
    assert_non_null(strstr(strbuf_str(&out), ": 0 0 0 1 -> 1 0 1 1\n"));
    assert_non_null(strstr(strbuf_str(&out), ": 0 0 0 -> 0.5 1 8\n"));
    assert_int_equal(run(&out, "%s play --png %s --draws 0-1000 %s/views", aerogpu, dir, dir), 0);
    strbuf_finish(&out);
}

/* What instances have begins where the draw says, and vertices do as well; what they are is what the pipeline says that the list was
 * made with. */
TEST(instances_begin_where_the_draw_says)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out,
                         "export LD_PRELOAD=%s; f=%s/instances; a=%s; $a record -o $f -- %s instances && "
                         "$a show --state $($a show --method DrawInstanced $f | cut -d' ' -f1) $f",
                         stub, dir, aerogpu, elsewhere),
                     0);
    assert_non_null(strstr(strbuf_str(&out), "pInitialState=PipelineState#"));
    assert_non_null(strstr(strbuf_str(&out), "vertex 0 (1): POSITION0 10 11, OFFSET0 104 105\n"));
    assert_non_null(strstr(strbuf_str(&out), "vertex 1 (2): POSITION0 20 21, OFFSET0 104 105\n"));
    strbuf_finish(&out);
}

/* Of fifty draws that each reach one pixel the history of that pixel names that draw, the clear before it, and no other. */
TEST(pixels_have_a_history)
{
    struct strbuf out = {0};
    const char *at;

    need_device();
    roundtrip("pixels", "", 1);
    assert_int_equal(
        run(&out,
            "f=%s/pixels.d3d12trace; a=%s; clear=$($a show --method ClearRenderTargetView $f | grep -o '^[0-9]*'); "
            "for k in 0 7 14 21 28 35 42 49; do x=$((k * 5 %% 16)); y=$((k * 5 / 16)); "
            "draw=$($a show --method DrawInstanced $f | sed -n \"$((k + 1))s/ .*//p\"); "
            "got=$($a play --pixel $x,$y $f | grep -o '^call [0-9]*' | tr '\\n' ' '); "
            "[ \"$got\" = \"call $clear call $draw \" ] || echo \"$k: $got, not $draw\"; done; "
            "$a play --pixel 3,3 $f | grep -c '^call .*-> 0 0 0.5019608 1$'; $a play --pixel 99,0 $f",
            dir, aerogpu),
        3);
    if (strncmp(strbuf_str(&out), "1\n", 2))
        fail_msg("%s", strbuf_str(&out));
    assert_non_null(
        strstr(strbuf_str(&out), "no draw or clear that was played has a render target with pixel 99,0\n"));
    /* the copy behind the last draw has a line; where it is left out, what it did is there in front of the texture's end, or of that of
     * playing */
    assert_int_equal(
        run(&out,
            "f=%s/pixels.d3d12trace; a=%s; clear=$($a show --method ClearRenderTargetView $f | grep -o '^[0-9]*'); "
            "copy=$($a show --method CopyTextureRegion $f | tail -1 | cut -d' ' -f1); "
            "$a play --pixel 15,15 $f | sed \"s/call $copy:/the copy:/\"; "
            "$a play --pixel 15,15 --draws $clear-$((copy - 1)) $f; "
            "last=$($a show --method ExecuteCommandLists $f | tail -1 | cut -d' ' -f1); "
            "$a play --pixel 15,15 --draws $clear-$((copy - 1)) --until-call $last $f",
            dir, aerogpu),
        0);
    at = strstr(strbuf_str(&out), "the copy: CopyTextureRegion: resource ");
    assert_non_null(at);
    assert_non_null(strstr(at, ": 0 0 0.5019608 1 -> "));
    assert_non_null(at = strstr(at, ": Release: resource "));
    assert_non_null(strstr(at, ": 0 0 0.5019608 1 -> "));
    assert_non_null(at = strstr(at, "\nat the end: resource "));
    assert_non_null(strstr(at, ": 0 0 0.5019608 1 -> "));
    strbuf_finish(&out);
}

/* Of a list that is executed again each buffer that it writes is there until it is done, however early playing stops. */
TEST(pixels_outlive_the_last_execution)
{
    struct strbuf out = {0};

    need_device();
    roundtrip("pixels", "", 1);
    assert_int_equal(
        run(&out,
            "f=%s/pixels.d3d12trace; n=$(%s show --method ExecuteCommandLists $f | sed -n '2s/ .*//p'); "
            "for i in $(seq 30); do "
            "%s play --pixel 0,0 --until-call $n $f >/dev/null || exit $?; done",
            dir, aerogpu, aerogpu),
        0);
    strbuf_finish(&out);
}

/* Two implementations of which one leaves draws out part at the first of them. */
TEST(implementations_are_compared)
{
    struct strbuf out = {0};

    need_device();
    roundtrip("scene", "", 4);
    assert_int_equal(
        run(&out, "%s compare --on vkd3d --on vkd3d %s/scene.d3d12trace 2>&1 | grep -v ^fixme", aerogpu, dir),
        0);
    assert_string_equal(strbuf_str(&out), "4 frames and reads alike, 0 different\n");
    assert_int_equal(run(&out, "%s compare --on vkd3d --on %s %s/scene.d3d12trace", aerogpu, other, dir), 1);
    assert_non_null(strstr(strbuf_str(&out), "0 frames and reads alike, 4 different\n"));
    assert_non_null(strstr(strbuf_str(&out), "the first is what was read from resource "));
    assert_non_null(
        strstr(strbuf_str(&out), "the first different draw, after 0 that are alike, into resource "));
    assert_non_null(strstr(strbuf_str(&out), "ID3D12GraphicsCommandList::ExecuteIndirect on "));
    assert_non_null(strstr(strbuf_str(&out), "different at the end of it: resource "));
    assert_int_equal(run(&out, "%s compare --on vkd3d --on %s %s/scene.d3d12trace", aerogpu, aerogpu, dir),
                     3);
    assert_int_equal(run(&out, "%s compare --on vkd3d %s/scene.d3d12trace", aerogpu, dir), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(&out, "%s compare --on vkd3d --on %snone.so %s/scene.d3d12trace", aerogpu,
                             i ? "/nowhere/" : "", dir),
                         4);
        assert_null(strstr(strbuf_str(&out), "alike"));
        assert_non_null(strstr(strbuf_str(&out), "No such file"));
    }
    strbuf_finish(&out);
}

/* Resources that need more room on another device stand farther apart in a larger heap, and share memory as they did. */
TEST(placed_resources_get_the_room_they_need)
{
    struct strbuf out = {0};
    char command[500];

    need_device();
    snprintf(command, sizeof(command), "%s record -o %s/placed -- %s placed", aerogpu, dir, elsewhere);
    stub_says(&out, "", command);
    assert_string_equal(
        strbuf_str(&out),
        "stub: heap of 458752\nstub: custom, pool 2\nstub: placed at 0\nstub: placed at 65536\n"
        "stub: placed at 65536\nstub: placed at 131072\nstub: placed at 196608\n");
    snprintf(command, sizeof(command), "%s play %s/placed", aerogpu, dir);
    stub_says(&out, "", command);
    assert_string_equal(
        strbuf_str(&out),
        "stub: heap of 458752\nstub: custom, pool 2\nstub: placed at 0\nstub: placed at 65536\n"
        "stub: placed at 65536\nstub: placed at 131072\nstub: placed at 196608\n");
    /* the third of 262144 bytes shares memory with the two behind it */
    stub_says(&out, "STUB_LARGE=1", command);
    assert_string_equal(
        strbuf_str(&out),
        "stub: heap of 1048576\nstub: custom, pool 1\nstub: placed at 0\nstub: placed at 262144\n"
        "stub: placed at 262144\nstub: placed at 524288\nstub: placed at 786432\n");
    strbuf_finish(&out);
}

TEST(unknown_stream_subobjects_are_noted)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out,
                         "export LD_PRELOAD=%s; %s record -o %s/unknown -- %s unknown; %s show %s/unknown",
                         stub, aerogpu, dir, callall, aerogpu, dir),
                     0);
    assert_non_null(strstr(
        strbuf_str(&out), "CreatePipelineState(pDesc={SizeInBytes=16, pPipelineStateSubobjectStream=[0x7]}"));
    assert_non_null(strstr(strbuf_str(&out),
                           "Note(Text=\"pipeline stream: unknown subobject 999 at offset 8; it and what "
                           "follows are not recorded\")"));
    strbuf_finish(&out);
}

TEST(recordings_are_compared)
{
    struct strbuf out = {0};

    need_device();
    assert_int_equal(run(&out,
                         "cd %s; %s record -o a.trc -- %s clears; %s trim a.trc --frames 0- -o b.trc; "
                         "%s diff a.trc b.trc",
                         dir, aerogpu, workload, aerogpu, aerogpu),
                     0);
    assert_non_null(strstr(strbuf_str(&out), " calls alike, 0 only in the first, 0 only in the second\n"));
    assert_int_equal(run(&out, "cd %s; %s record -o c.trc -- %s queries; %s diff a.trc c.trc", dir, aerogpu,
                         workload, aerogpu),
                     1);
    assert_non_null(strstr(strbuf_str(&out), "CreateQueryHeap("));
    assert_int_equal(run(&out,
                         "cd %s; n=$(%s show --method SetPrivateData a.trc | head -1 | cut -d' ' -f1); "
                         "%s show --bytes $n a.trc",
                         dir, aerogpu, aerogpu),
                     0);
    assert_string_equal(strbuf_str(&out),
                        "pData: 5 bytes\n00000000  68 65 6c 6c 6f                                   hello\n");
    strbuf_finish(&out);
}

TEST(gears_play_alike)
{
    struct strbuf out = {0};

    need_device();
    if (*SANITIZER) {
        print_message("# a recorder with a sanitizer records only programs that have it too: skipped\n");
        skip();
    }
    if (run(&out, "command -v Xvfb && command -v vkd3d-gears")) {
        print_message("no Xvfb or no vkd3d-gears (package vkd3d-demos): skipped\n");
        skip();
    }
    run(&out,
        "Xvfb -displayfd 9 -screen 0 640x480x24 9>%s/display >/dev/null & x=$!; "
        "for i in 1 2 3 4 5 6 7 8 9 10; do [ -s %s/display ] && break; sleep 0.2; done; "
        "export DISPLAY=:$(cat %s/display); %s record -o %s/gears -- timeout -s INT 1 vkd3d-gears; "
        "%s record --frames 20-39 -o %s/part -- timeout -s INT 1 vkd3d-gears; kill $x",
        dir, dir, dir, aerogpu, dir, aerogpu, dir);
    if (!strstr(strbuf_str(&out), " frames, "))
        fail_msg("%s", strbuf_str(&out));
    assert_int_equal(run(&out, "%s play --validate %s/gears", aerogpu, dir), 0);
    assert_non_null(strstr(strbuf_str(&out), " as recorded, 0 different; read back"));
    assert_null(strstr(strbuf_str(&out), "frames: 0 as recorded"));
    /* the hashes of what was played stand behind it */
    assert_int_equal(run(&out, "%s play --validate --until-frame 2 %s/gears", aerogpu, dir), 0);
    assert_non_null(strstr(strbuf_str(&out), " 3 frames in "));
    assert_non_null(strstr(strbuf_str(&out), "frames: 3 as recorded, 0 different"));
    /* what is given up is not taken from under the device that works with it */
    if (run(&out, "%s play --validate --timeout 1 %s/gears", aerogpu, dir) > 1)
        fail_msg("%s", strbuf_str(&out));
    if (!strstr(strbuf_str(&out), "0 different; read back"))
        assert_non_null(strstr(strbuf_str(&out), " within 1 ms\n"));
    /* a frame that is repeated is the same picture the last time, and is refused where it cannot be repeated */
    assert_int_equal(run(&out, "%s play --validate --loop-frame 5 --times 20 %s/gears", aerogpu, dir), 0);
    assert_non_null(strstr(strbuf_str(&out), " 25 frames in "));
    assert_non_null(strstr(strbuf_str(&out), "frames: 6 as recorded, 0 different"));
    assert_int_equal(run(&out, "%s play --loop-frame 0 --times 20 %s/gears", aerogpu, dir), 3);
    assert_non_null(
        strstr(strbuf_str(&out), "frame 0 makes a command list, which is open then and never again"));
    /* frames cut out play on their own, from other frames' contents */
    assert_int_equal(run(&out, "%s play --validate %s/part; ls %s", aerogpu, dir, dir), 0);
    if (!strstr(strbuf_str(&out), " 20 frames in ") ||
        !strstr(strbuf_str(&out), "frames: 20 as recorded, 0 different"))
        fail_msg("%s", strbuf_str(&out));
    assert_null(strstr(strbuf_str(&out), "part.whole"));
    strbuf_finish(&out);
}

/* Contents, pictures after draws, times and playing that stops before a draw, on a recording of known colours. */
TEST(playing_shows_what_is_inside)
{
    struct strbuf out = {0};

    need_device();
    roundtrip("clears", "", 1);
    assert_int_equal(
        run(&out,
            "f=%s/clears.d3d12trace; a=%s; $a show --json $f | python3 -c '\n"
            "import json,sys\n"
            "c=[json.loads(l) for l in sys.stdin]\n"
            "d=[x for x in c if x[\"method\"]==\"ClearRenderTargetView\"]\n"
            "r=[x for x in c if x[\"method\"]==\"CreateRenderTargetView\"][0][\"args\"]\n"
            "e=[x for x in c if x[\"method\"]==\"ExecuteCommandLists\"]\n"
            "print(r[\"pResource\"][\"object\"], d[0][\"call\"], d[2][\"call\"], e[0][\"call\"])' > %s/ids; "
            "read t first third exec < %s/ids; "
            "$a play --until-call $exec --dump-resource $t:0=%s/one $f && "
            "$a play --until-call $exec --stop-before $first --dump-resource $t:0=%s/none $f && "
            "$a play --until-call $exec --gpu-time $f; "
            "cmp -s %s/one %s/none; echo differ=$?; wc -c < %s/one; "
            "$a play --until-call $exec --dump-resource $t:99=%s/x $f; echo exit=$?; "
            "$a play --until-call $exec --dump-resource $t=/dev/full $f; echo full=$?; "
            "$a play --until-call $exec --dump-resource $t=$f $f; echo input=$?; "
            "$a play --validate --stop-before 1 $f; echo exit=$?",
            dir, aerogpu, dir, dir, dir, dir, dir, dir, dir, dir),
        0);
    if (!strstr(strbuf_str(&out), "differ=1") || !strstr(strbuf_str(&out), "ms on the GPU in 1 lists"))
        fail_msg("%s", strbuf_str(&out));
    assert_non_null(strstr(strbuf_str(&out), "resource 8 has 4 subresources, and no 99\n"));
    assert_non_null(strstr(strbuf_str(&out), "cannot be compared with --validate; "));
    assert_non_null(strstr(strbuf_str(&out), "full=4\n"));
    assert_non_null(strstr(strbuf_str(&out), "input=2\n"));
    strbuf_finish(&out);
}

TEST_GROUP(make_dir, remove_dir);

int main(int argc, char **argv)
{
    if (argc != 8)
        return 2;
    stub = realpath(argv[3], NULL);
    callall = realpath(argv[4], NULL);
    elsewhere = realpath(argv[5], NULL);
    local_libraries = realpath(argv[6], NULL);
    other = realpath(argv[7], NULL);
    aerogpu = realpath(argv[1], NULL);
    workload = realpath(argv[2], NULL);
    tell_sanitizer();
    return test_run();
}
