#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are wrong, for every command that reads files, and outputs that cannot be made, for every option that names one: the
documented exit code and one clear error, never a signal, and nothing hangs.
  files_test.py AEROGPU SAMPLES STUB CALLALL [MUTATIONS [SEED]]"""
import glob
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

aerogpu, samples, stub, callall = map(os.path.abspath, sys.argv[1:5])
mutations = int(sys.argv[5]) if len(sys.argv) > 5 else 8
seed = int(sys.argv[6]) if len(sys.argv) > 6 else 1
corpus = os.path.dirname(os.path.abspath(__file__)) + "/../fuzz/corpus/"
work = tempfile.mkdtemp(prefix="aerogpu-files-")
env = dict(os.environ, XDG_CACHE_HOME=work + "/cache", AEROGPU_LOG="error", ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")
count = 0


def run(command, files=(), timeout=60, **more):
    return subprocess.run([aerogpu, *command.split(), *files], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(env, **more), cwd=work, timeout=timeout)


def said(r):
    """What it complained of: lines of its own, without those of what it plays on."""
    return [line for line in r.stderr.decode(errors="replace").splitlines() if line.startswith("aerogpu")]


def result(name, bad):
    global count
    count += 1
    for line in bad[:10]:
        print("# " + line)
    print(("not ok" if bad else "ok") + f" {count} - {name}", flush=True)


def put(name, data):
    with open(f"{work}/{name}", "wb") as f:
        f.write(data)
    return name


def get(path):
    with open(os.path.join(work, path), "rb") as f:
        return f.read()


run(f"dump --always -o {work}", [samples + "/compute.aerogputrace"])
run("record -o d3d12 -- " + callall, LD_PRELOAD=stub)
for name, path in ("trace", samples + "/compute.aerogputrace"), ("cpu", corpus + "cpu_file/small.cputrace"), \
                  ("etl", corpus + "etl/plain.etl"), ("dump", work + "/compute-request.aerogpudump"), ("flight", corpus + "flight/small"):
    shutil.copy(path, f"{work}/{name}")
put("empty", b"")
put("noise", bytes(range(256)) * 20)
os.mkdir(work + "/folder")
os.mkfifo(work + "/pipe")
os.symlink("/dev/full", work + "/full")

# Every command that reads files, and a file that it reads. Nothing here plays: the stub of Direct3D 12 does.
readers = [("play", "d3d12"), ("play", "trace"), ("show", "trace"), ("show", "d3d12"), ("show", "etl"), ("show", "flight"), ("show", "dump"),
           ("info", "trace"), ("info", "d3d12"), ("info", "cpu"), ("info", "etl"), ("info", "dump"), ("info", "flight"),
           ("report", "cpu"), ("report", "etl"), ("report", "dump"), ("diff d3d12", "d3d12"), ("trim --frames 0-0 -o made", "d3d12"),
           ("minimize -o made", "trace"), ("minimize -o made", "d3d12"), ("dump -o made", "trace"), ("crashes --index made", "dump")]
for command in dict(readers):
    bad = []
    for file in "nothing", "folder", "empty", "noise", "pipe":
        if command.startswith("crashes") and file in ("folder", "noise"):
            continue  # a folder is looked through
        r = run(command, [file])
        if r.returncode != 3 or len(said(r)) != 1 or file not in said(r)[0]:
            bad.append(f"{command} {file}: exit code {r.returncode}: {said(r)}")
        if os.path.isfile(work + "/made"):
            os.unlink(work + "/made")
        shutil.rmtree(work + "/made", ignore_errors=True)
    result("files that are none, for " + command.split(" -")[0], bad)

# Every option that names an output, what it goes with, and where it writes: a file or a folder.
outputs = [("show --html {}", "d3d12"), ("show --sqlite {}", "d3d12"), ("show --perfetto {}", "d3d12"), ("trim --frames 0-0 -o {}", "d3d12"),
           ("minimize -o {}", "d3d12"), ("minimize -o {}", "trace"), ("play --sheet {}", "trace"), ("report --html {}", "cpu"),
           ("report --perfetto {}", "cpu"), ("report --html {}", "dump"), ("report --perfetto {}", "dump"), ("crashes --index made --html {}", "dump"),
           ("play --dump-resource 10={}", "d3d12"), ("record -o {} play", "trace"), ("record --what d3d12 -o {} -- true", None)]
folders = [("play --png {}", "d3d12"), ("play --png {}", "trace"), ("dump -o {}", "trace")]
for command, file in outputs + folders:
    bad = []
    is_folder = (command, file) in folders
    for to in ["no/such", "full", "folder"] if not is_folder else ["empty", "empty/in"]:
        if to == "full" and ("sqlite" in command or "resource" in command or command.startswith(("record", "trim", "minimize"))):
            continue  # made elsewhere first, or not made at all by what cannot be played here
        r = run(command.format(to), [file] if file else [], LD_PRELOAD=stub if file == "d3d12" and command.startswith("play") else "")
        if r.returncode != 4 or len(said(r)) != 1 or to not in said(r)[0]:
            bad.append(f"{command.format(to)}: exit code {r.returncode}: {said(r)}")
    if file and not is_folder:
        before = get(file)
        os.symlink(file, work + "/link")
        os.link(f"{work}/{file}", work + "/hard")
        for to in file, "./" + file, "link", "hard":
            r = run(command.format(to), [file])
            if r.returncode != 2 or len(said(r)) != 1 or "that is the file" not in said(r)[0]:
                bad.append(f"{command.format(to)} {file}: exit code {r.returncode}: {said(r)}")
            if get(file) != before:
                bad.append(f"{command.format(to)} {file} writes over it")
                put(file, before)
        os.unlink(work + "/link")
        os.unlink(work + "/hard")
    result("outputs that cannot be made, for " + command.replace(" {}", ""), bad)
if os.path.exists(work + "/made"):  # an index of crashes
    os.unlink(work + "/made")
r = run("record --what cpu -o made -- /nonexist")
result("a program that is not there, for record", [] if r.returncode == 4 and len(said(r)) == 1 and not os.path.exists(work + "/made") else [f"{r.returncode}: {said(r)}"])
r = run("record --what device -o made -- true")
result("a program that records nothing", [] if r.returncode == 0 and "nothing was recorded" in said(r)[0] else [f"{r.returncode}: {said(r)}"])
r = run("record -o made info", ["trace"])
result("a command that records nothing", [] if r.returncode == 0 and said(r) == ["aerogpu record: nothing was recorded: the command brought no live machine up"] else [f"{r.returncode}: {said(r)}"])
r = run("report --from 3 --to 2", ["cpu"])
result("a range that is none", [] if r.returncode == 2 and "--to is not behind --from" in said(r)[0] else [f"{r.returncode}: {said(r)}"])
r = run("report --html page --perfetto ./page", ["cpu"])
result("two outputs of one name", [] if r.returncode == 2 and "is made as well" in said(r)[0] else [f"{r.returncode}: {said(r)}"])

# One bit flipped, and the end cut off: it is said, with the place; or what comes out is what came out before.
def same(command, file):
    r = run(command, [file], LD_PRELOAD=stub if command == "play" else "")
    return r.returncode, r.stdout.replace(file.encode(), b"FILE")


def mutate(data, kind, i, rng):
    if kind == "cut":
        return data[:rng.randrange(1, len(data))]
    at = rng.randrange(8 * len(data))
    return data[:at // 8] + bytes([data[at // 8] ^ 1 << at % 8]) + data[at // 8 + 1:]


for command, file in ("show", "d3d12"), ("show --html page", "d3d12"), ("info", "d3d12"), ("play", "d3d12"), ("diff d3d12", "d3d12"), ("report", "cpu"), ("info", "cpu"):
    data = get(file)
    first = same(command, file)
    bad = [] if first[0] == 0 else [f"{command} of what is whole: exit code {first[0]}"]
    for kind in "flip", "cut":
        rng = random.Random(f"{seed} {command} {kind}")
        for i in range(mutations):
            put("bad", mutate(data, kind, i, rng))
            r = run(command, ["bad"], LD_PRELOAD=stub if command == "play" else "")
            words = said(r)
            fine = (r.returncode, r.stdout.replace(b"bad", b"FILE")) == first and kind == "flip"
            if not fine and (r.returncode != 3 or not 1 <= len(words) <= 1 + (command == "play") or not ("byte" in words[0] or "begins with" in words[0])):
                bad.append(f"{command}, {kind} {i}: exit code {r.returncode}: {words}")
    result(f"{command} of a damaged {file}", bad)

# What stands in a file, or is its name, moves no terminal's cursor and turns no text.
evil = "\x1b[31m\x9b\u202eevil\r"
shutil.copy(f"{work}/dump", f"{work}/{evil}.aerogpudump")
with sqlite3.connect(f"{work}/{evil}.aerogpudump") as db:
    db.execute("UPDATE finding SET text = ?1 || char(10) || 'kind: ' || ?1", [evil])
    db.execute("INSERT INTO meta(key, value) VALUES(?1, ?1)", [evil])
db.close()
os.mkdir(f"{work}/evil")
put(f"evil/{evil}.aerogpudump", b"SQLite format 3\0" + bytes(range(256)) * 20)
shutil.copy(f"{work}/{evil}.aerogpudump", f"{work}/evil/{evil}2.aerogpudump")
bad = []
for command, name in ("info", f"{evil}.aerogpudump"), ("info", evil), ("crashes --index index", "evil"), ("crashes --index index", evil):
    r = run(command, [name])
    words = (r.stdout + r.stderr).decode()
    hidden = [c for c in words if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e")]
    if hidden or "evil" not in words or any(line.startswith("kind: ") for line in words.splitlines()):
        bad.append(f"{command}: {hidden}: {words!r}")
result("names and text from files are made visible", bad)

# Nor does it make a line of its own: of every command, whether or not there is such a file, of what is read and of what is made.
lines = "evil\nVERDICT   GPU-HUNG: certain\x1b[2K"
for command in [c for c, _ in readers] + ["compare", "doctor", "lose --", "record -o made --", "run --"]:
    bad = []
    for file in {f for c, f in readers if c == command} | {None}:
        if file:
            shutil.copy(f"{work}/{file}", f"{work}/{lines}")
        r = run(command, [lines], LD_PRELOAD=stub if command == "play" else "")
        words = (r.stdout + r.stderr).decode(errors="replace")
        if "\x1b" in words or any(line.startswith("VERDICT   GPU") for line in words.splitlines()) or \
                (not file and "VERDICT" not in words and "a build without a sanitizer" not in words):
            bad.append(f"{command} of {file}: {words!r}")
        if file:
            os.unlink(f"{work}/{lines}")
        shutil.rmtree(work + "/made", ignore_errors=True)
        if os.path.lexists(work + "/made"):
            os.unlink(work + "/made")
    result(f"a name of two lines, for {command}", bad)
bad = []
for command, option, file in ("trim --frames 0-0", "-o", "d3d12"), ("minimize", "-o", "trace"), ("minimize", "-o", "d3d12"), ("dump --always", "-o", "trace"), \
        ("play", "--sheet", "trace"), ("play", "--png", "trace"), ("record --what d3d12 -d 1", "-o", None), ("record --what cpu -d 0.1", "-o", None), \
        ("report", "--html", "cpu"), ("crashes --index made", "--html", "dump"), ("show", "--html", "d3d12"):
    for to in lines, "no/" + lines:
        r = run(command, [option, to, file] if file else [option, to, "--", callall], LD_PRELOAD=stub if command.startswith("record --what d3d12") else "")
        words = (r.stdout + r.stderr).decode(errors="replace")
        if "\x1b" in words or any(line.startswith("VERDICT   GPU") for line in words.splitlines()):
            bad.append(f"{command} {option}: {words!r}")
        if os.path.isdir(f"{work}/{to}"):
            shutil.rmtree(f"{work}/{to}")
        elif os.path.lexists(f"{work}/{to}"):
            os.unlink(f"{work}/{to}")
result("outputs with a name of two lines", bad)

print(f"1..{count}")
shutil.rmtree(work)
