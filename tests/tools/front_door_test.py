#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands on files look at the file and know what it is; `record` looks at the program.
  front_door_test.py AEROGPU SAMPLES STUB CALLALL"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

aerogpu, samples, stub, callall = map(os.path.abspath, sys.argv[1:5])
corpus = os.path.dirname(os.path.abspath(__file__)) + "/../fuzz/corpus/"
work = tempfile.mkdtemp(prefix="aerogpu-door-")
count = 0


def run(*words, code=0, **env):
    r = subprocess.run([aerogpu, *words], capture_output=True, text=True, cwd=work, timeout=120, errors="replace",
                       env=dict(os.environ, **env))
    assert r.returncode in (code if isinstance(code, tuple) else (code,)), f"{words}: exit code {r.returncode}, not {code}: {r.stdout[-300:]}{r.stderr[-600:]}"
    return r.stdout, r.stderr


def case(f):
    global count
    count += 1
    try:
        f()
        print(f"ok {count} - {f.__name__}")
    except Exception as e:  # pylint: disable=broad-except
        print("\n".join("# " + line for line in repr(e).split("\\n")))
        print(f"not ok {count} - {f.__name__}")


subprocess.run([aerogpu, "dump", "--always", "-o", work, samples + "/compute.aerogputrace"], stdout=subprocess.DEVNULL, check=True)
# One of a program of its own, which nothing can play.
subprocess.run([samples + "/aerogpu-blackbox-example", work + "/bare"], stdout=subprocess.DEVNULL, check=True,
               env=dict(os.environ, AEROGPU_DUMPER=os.path.dirname(samples) + "/src/blackbox/aerogpu-dumper"))
# What lies in the tree of each kind, under names that say nothing.
kinds = {
    "trace": (samples + "/compute.aerogputrace", "a recording of AeroGPU's device", "play, show, info, minimize, dump"),
    "cpu": (corpus + "cpu_file/small.cputrace", "a recording of processors", "info, report"),
    "etl": (corpus + "etl/plain.etl", "a Windows event trace", "show, info, report"),
    "packed": (corpus + "etl/packed.etl", "a Windows event trace", "show, info, report"),
    "dump": (work + "/compute-request.aerogpudump", "a crash dump", "play, show, info, report, minimize, crashes"),
    "flight": (corpus + "flight/small", "a flight recorder", "show, info"),
    "stream": (corpus + "stream/engine_test-001", "a command stream", "show, info"),
    "table": (corpus + "alloc_table/" + sorted(os.listdir(corpus + "alloc_table"))[0], "an allocation table", "show, info"),
}
for name, (path, _, _) in kinds.items():
    shutil.copy(path, f"{work}/{name}")


@case
def a_file_is_known_by_its_bytes():
    for name, (_, kind, commands) in kinds.items():
        o = json.loads(run("info", "--json", name)[0])
        assert o["kind"].startswith(kind) and o["commands"] == commands and o["file"] == name, o
        assert o["bytes"] == os.path.getsize(f"{work}/{name}"), o


@case
def info_says_what_is_in_it():
    assert json.loads(run("info", "--json", "trace")[0])["frames"] == 30
    o = json.loads(run("info", "--json", "packed")[0])
    assert sum(e["count"] for e in o["events"]) == 64 and o["events_with_a_known_layout"] == 63, o
    assert {"count": 20, "name": "PerfInfo: Isr"} in o["events"], o
    assert json.loads(run("info", "--json", "cpu")[0])["processors"] == 2
    assert json.loads(run("info", "--json", "flight")[0])["events"] == 8
    assert "verdict: nothing crashed: the dump was asked for\n" in run("info", "dump")[0]


@case
def many_files_of_many_kinds():
    out, err = run("info", *kinds, "nothing", code=3)
    assert all(f"{name}: {kind}" in out for name, (_, kind, _) in kinds.items()), out
    assert err == "aerogpu info: nothing: No such file or directory\n", err


@case
def show_decodes_each_in_its_way():
    assert "DISPATCH" in run("show", "trace")[0]
    assert "take(n)  3 3 3" in run("show", "flight")[0]
    assert "(not decoded)" in run("show", "etl")[0] and "(not decoded)" not in run("show", "--decoded", "etl")[0]
    assert "System Power: IdleStateEnter  State=1" in run("show", "etl")[0]
    assert run("show", "stream")[0].startswith("stream: ")
    assert run("show", "dump")[0].count("DISPATCH") == 60


@case
def a_dump_without_a_recording_shows_its_tables():
    out, _ = run("show", "bare")
    assert '"cause":"hang"' in out and "\nfinding\n" in out and "\npacket\n" not in out, out
    o = json.loads(run("show", "--json", "bare")[0])
    assert o["tables"]["finding"][0]["cause"] == "hang" and o["tables"]["packet"] == [], o
    o = json.loads(run("info", "--json", "bare")[0])
    assert o["recording"] is False and {"count": 1, "name": "finding"} in o["tables"], o
    assert json.loads(run("info", "--json", "dump")[0])["recording"] is True
    assert "has no recording" in run("play", "bare", code=3)[1]


@case
def what_is_no_utf8_is_shown_as_such():
    name = work.encode() + b"/b\xffd"
    shutil.copy(work + "/bare", name)
    with sqlite3.connect(name) as db:
        db.execute("UPDATE finding SET certainty=CAST(x'ff41' AS TEXT), source=CAST(x'ff42' AS TEXT), text=CAST(x'ff43' AS TEXT)")
    db.close()
    for words in ("report", "--json"), ("info", "--json"), ("info",), ("show", "--json"), ("show",), ("report",):
        r = subprocess.run([aerogpu, *words, name], capture_output=True, check=False)
        assert r.returncode == 3 and b"is not what was written" in r.stderr + r.stdout, (words, r)
        if "--json" in words:
            json.loads(r.stdout.decode())


@case
def a_span_without_events_is_refused():
    assert "no event is between" in run("report", "--from", "1000", "cpu", code=3)[1]


@case
def report_of_a_dump_and_of_processors():
    assert run("report", "dump")[0].startswith("nothing crashed: the dump was asked for.")
    assert "made up for a test" in run("report", "cpu")[0]
    assert json.loads(run("report", "--json", "etl")[0])["format"] == "aerogpu-cpu-report"


@case
def what_a_recording_holds_need_not_be_whole():
    with open(f"{work}/trace", "rb") as f:
        whole = f.read()
    with open(f"{work}/cut", "wb") as f:
        f.write(whole[:-100])
    out, err = run("info", "cut", code=3)
    assert "cut: it has no index" in out and f"aerogpu info: cut: cut at byte {len(whole) - 100}: it has no index" in err, err


@case
def a_windows_trace_that_is_cut():
    with open(f"{work}/etl", "rb") as f:
        whole = f.read()
    with open(f"{work}/cut.etl", "wb") as f:
        f.write(whole[:10000])
    for command in "show", "info", "report":
        _, err = run(command, "cut.etl", code=3)
        assert err == f"aerogpu {command}: cut.etl: 0 bad events, 1 bad buffers: buffer 2 at offset 8192: cut, 1808 of its 4096 bytes are there\n", err
    assert "its end" not in run("report", "etl")[0]
    # BuffersWritten of TRACE_LOGFILE_HEADER, behind the headers of the buffer and of the event, says how many there were
    for written, mode, said in (3, 1, False), (4, 1, True), (4, 2, False), (0, 1, False):
        with open(f"{work}/between.etl", "wb") as f:
            f.write(whole[:0x88] + mode.to_bytes(4, "little") + written.to_bytes(4, "little") + whole[0x90:])
        assert ("3 of 4 buffers that were written are there: its end may be missing" in run("report", "between.etl")[0]) == said, (written, mode)


@case
def record_sees_what_the_program_speaks():
    run("record", "--", callall, LD_PRELOAD=stub)
    name = os.path.basename(callall) + ".d3d12trace"
    o = json.loads(run("info", "--json", name)[0])
    assert o["kind"] == "a recording of Direct3D 12 (.d3d12trace)" and o["blocks"] > 0 and "cut" not in o, o
    assert o["draws"] > 0 and o["dispatches"] > 0 and o["buffers"] > 0 and o["hashes_of_frames"] == 0, o
    assert sum(m["count"] for m in o["methods"]) == o["calls"], o
    calls = [json.loads(line) for line in run("show", "--json", name)[0].splitlines()]
    assert o["calls"] == len(calls) and o["draws"] == sum(c["method"].startswith(("Draw", "ExecuteIndirect")) for c in calls), o
    private = next(c["call"] for c in calls if c["method"] == "CreateRootSignature")
    data = json.loads(run("show", "--json", "--bytes", str(private), name)[0])
    assert data["size"] == len(data["hex"]) // 2 > 0 and data["name"] == "pBlobWithRootSignature", data
    assert run("diff", name, name)[0].endswith(" 0 only in the first, 0 only in the second\n")
    run("record", "-o", "wrapped", "--", "env", "A=b", callall, LD_PRELOAD=stub)
    assert "Direct3D 12" in run("info", "wrapped")[0]


@case
def help_has_the_options_of_every_kind():
    out, _ = run("play", "--help")
    for words in ("--sheet", "--validate", "--tries", "recordings of Direct3D 12 (.d3d12trace)", "aerogpu play hang.aerogpudump"):
        assert words in out, words
    assert sum(line.strip().startswith("--png DIR") for line in out.splitlines()) == 1, out  # two kinds share it
    out, _ = run("--help")
    at = [out.index(w) for w in ("record, play and look into files", "find out why it crashed", "run the whole stack", "look things up")]
    assert at == sorted(at), out


print(f"1..{count}")
shutil.rmtree(work)
