#!/usr/bin/env python3
"""What `aerogpu` says to a wrong command line, bad files and outputs that cannot be written: one clear error that names what
is wrong, the documented exit code, and nothing left behind.
  cli_errors_test.py AEROGPU SAMPLES"""
import os
import re
import stat
import subprocess
import sys
import tempfile

aerogpu, samples = map(os.path.abspath, sys.argv[1:3])
recording = f"{samples}/compute.aerogputrace"
work = tempfile.mkdtemp(prefix="aerogpu-cli-")
env = dict(os.environ, XDG_CACHE_HOME=work + "/cache", AEROGPU_LOG="error")
os.makedirs(work + "/cwd")
os.makedirs(work + "/folder")
open(work + "/empty", "w").close()
with open(work + "/noise", "wb") as f:
    f.write(bytes(range(256)) * 20)
with open(recording, "rb") as whole, open(work + "/cut.aerogputrace", "wb") as f:
    f.write(whole.read()[:-100])
os.symlink("/dev/full", work + "/full")

# The command with an argument that a file can follow, the words for a folder, an empty file, and noise.
readers = [
    ("play", "is a directory", "needs 32 bytes", "this is no recording"),
    ("show", "is a directory", "needs 32 bytes", "this is no recording"),
    ("dump", "is a directory", "needs 32 bytes", "this is no recording"),
    ("minimize -o small", "is a directory", "needs 32 bytes", "this is no recording"),
    ("replay", "is a folder", "no SQLite database", "no SQLite database"),
    ("report", "is a folder", "no SQLite database", "no SQLite database"),
    ("doctor", "no report", None, "no report"),
    ("cpu report", "is a folder", "empty", "not a .cputrace file"),
    ("cpu import", "is a folder", "empty", "not an ETL file"),
    ("d3d12 play", "is a folder", "the file is empty", "not a Direct3D 12 recording"),
    ("d3d12 show", "is a folder", "the file is empty", "not a Direct3D 12 recording"),
    (f"d3d12 diff {work}/noise", None, None, "not a Direct3D 12 recording"),
    ("d3d12 trim --frames 0-1 -o small", "is a folder", "the file is empty", "not a Direct3D 12 recording"),
    ("d3d12 minimize -o small", "is a folder", "the file is empty", "not a Direct3D 12 recording"),
]
commands = ["validate", "doctor", "play", "record", "show", "abi", "cpu", "cpu record", "cpu report", "cpu watch", "cpu import",
            "serve", "sim", "version", "dump", "replay", "minimize", "crashes", "report", "d3d12", "d3d12 record", "d3d12 play",
            "d3d12 show", "d3d12 diff", "d3d12 minimize", "d3d12 methods", "d3d12 trim"]
# Command lines that are wrong, and the words that say how.
wrong = [
    ("nonsense", "no command 'nonsense'"),
    ("cpu nonsense", "no command 'nonsense'"),
    ("d3d12 nonsense", "no command 'nonsense'"),
    ("version now", "it takes no 'now'"),
    ("validate now", "it takes no 'now'"),
    ("validate --soak long", "--soak: 'long' is no number from 0 to"),
    ("sim 3", "it takes no '3'"),
    ("sim --clients 65", "--clients: '65' is no number from 1 to 64"),
    ("sim --seed -1", "--seed: '-1' is no number of at least 0"),
    ("play --frame 1x f", "--frame: '1x' is no number"),
    ("play", "give at least one recording"),
    ("play --png", "option '--png' requires an argument"),
    ("record -o out", "give -o OUT and a command"),
    ("dump --hang 0 f", "--hang: '0' is no number from 1 to 3600000"),
    ("dump --pid 0", "--pid: '0' is no number"),
    ("replay --tries 0 f", "--tries: '0' is no number"),
    ("minimize --jobs 0 -o small f", "--jobs: '0' is no number"),
    ("serve --ram 1", "--ram: '1' is no number from 64 to 3072"),
    ("cpu record -d never", "-d: 'never' is no time in seconds, above 0 and up to 1000000"),
    ("cpu record -b 1", "-b: '1' is no number from 16 to 4194304"),
    ("cpu report", "give one recording"),
    ("cpu report --save f", "--save goes with --with DUMP"),
    ("cpu watch now", "it takes no 'now'"),
    ("d3d12 play --frames 3-1 f", "--frames needs a range A-B, not '3-1'"),
    ("d3d12 play --until-call x f", "--until-call: 'x' is no number"),
    ("d3d12 play --dump-resource 5 f", "--dump-resource needs N[:SUB]=FILE, not '5'"),
    ("d3d12 play --validate --stop-before 3 f", "--stop-before cannot be compared"),
    ("d3d12 show --frames x f", "--frames needs a range A-B, not 'x'"),
    ("d3d12 show --pictures 1-2 f", "--pictures goes with --html"),
    ("d3d12 record -o f --memory magic -- true", "--memory: 'magic' is none of auto|kernel|fault|hash"),
    ("d3d12 trim f", "a file, --frames A-B and -o OUTPUT are needed"),
]
# Outputs that cannot be written, the exit code, and the words.
outputs = [
    (f"play --sheet {work}/full {recording}", 1, "full: No space left on device"),
    (f"play --sheet {work}/folder {recording}", 1, "folder: Is a directory"),
    (f"play --sheet {work}/no/such {recording}", 1, "no/such: No such file or directory"),
    (f"play --png {work}/empty {recording}", 1, "empty"),
    (f"record -o {work}/no/such play {recording}", 1, "no/such: No such file or directory"),
    (f"dump --out {work}/empty {recording}", 4, "empty: Not a directory"),
    (f"minimize -o {work}/no/such {recording}", 4, "no/such: No such file or directory"),
    (f"crashes --index {work}/index --html {work}/full", 4, "full: No space left on device"),
    (f"crashes --index {work}/no/such", 4, "no/such: unable to open database file"),
    (f"validate --sim --out {work}/empty", 4, "empty/stack.log: Not a directory"),
    (f"serve --ram 64 --event-log {work}/no/such", 4, "no/such: No such file or directory"),
    (f"d3d12 record -o {work}/no/such -- true", 4, "no/such: No such file or directory"),
    (f"d3d12 record -o gone -- {work}/no/such", 4, "no/such: No such file or directory"),
    (f"d3d12 minimize -o {work}/no/such {work}/noise", 1, "no/such: No such file or directory"),
]
passed = count = 0
plan = len(readers) + len(commands) + len(wrong) + len(outputs) + 4
print(f"1..{plan}")


def run(command, **more):
    return subprocess.run([aerogpu] + command.split(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env,
                          errors="replace", cwd=work + "/cwd", timeout=60, **{"stdout": subprocess.PIPE, **more})


def check(command, code, words, **more):
    """The reasons why it did not do as it should."""
    r = run(command, **more)
    lines = [line for line in r.stderr.splitlines() if "WARNING: ASan" not in line]  # sim's coroutines, under a sanitizer
    bad = []
    if r.returncode != code:
        bad.append(f"exit code {r.returncode}, not {code}")
    if words not in r.stderr:
        bad.append(f"it does not say '{words}'")
    if not lines or not lines[0].startswith("aerogpu") or len(lines) > 2:
        bad.append("it is not one clear error")
    left = os.listdir(work + "/cwd")
    for name in left:
        os.unlink(f"{work}/cwd/{name}")
    if left:
        bad.append(f"it leaves {left}")
    return [f"aerogpu {command}: {b}: {r.stderr[:300]!r}" for b in bad]


def result(name, bad):
    global count
    count += 1
    for line in bad:
        print("# " + line)
    print(("not ok" if bad else "ok") + f" {count} - {name}")


for command, folder, empty, noise in readers:
    bad = check(f"{command} {work}/nothing", 3, "nothing" if folder else "noise")
    for file, words in ("folder", folder), ("empty", empty), ("noise", noise):
        if words:
            bad += check(f"{command} {work}/{file}", 3, words)
    result("bad files for " + command.split(" -")[0].replace(work + "/", ""), bad)
for command in commands:
    r = run(command + " --help")
    bad = [] if r.returncode == 0 and r.stdout.startswith("usage: aerogpu") and not r.stderr else [f"{command} --help: {r}"]
    bad += check(command + " --bogus", 2, "--bogus")
    if f"`aerogpu {command} --help`" not in run(command + " --bogus").stderr:
        bad.append(f"{command} --bogus does not say where help is")
    result(f"{command} and an unknown option", bad)
for command, words in wrong:
    result(command, check(command, 2, words))
for command, code, words in outputs:
    result(command.replace(work + "/", "").replace(samples + "/", ""), check(command, code, words))

result("a cut recording", check(f"play {work}/cut.aerogputrace", 3, "cut.aerogputrace: offset 0x"))
with open("/dev/full", "w") as full:
    bad = []
    for command in "--help", "version", "abi", "play --help", f"show {recording}", f"show --json {recording}", \
                   f"crashes --index {work}/index", "dump --schema", "d3d12 methods", "sim --seeds 1 --calm":
        bad += check(command, 4, "standard output could not be written", stdout=full)
    result("what cannot be written to standard output", bad)
result("devices stay where they are", [] if stat.S_ISCHR(os.stat(work + "/full").st_mode) else ["the link is gone"])

os.chmod(work + "/noise", 0)
other = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
os.chmod(work, 0o755)
os.chmod(work + "/cwd", 0o777)
try:
    run("version", **other)
except PermissionError:
    other = None
bad = []
for command in ["play", "show", "report", "cpu report", "d3d12 show"] if other is not None else []:
    bad += check(f"{command} {work}/noise", 3 if command != "cpu report" else 4, "Permission denied", **other)
result("a file that one may not read" + ("" if other is not None else " # SKIP another user may not run this build"), bad)
subprocess.run(["rm", "-rf", work], check=True)
