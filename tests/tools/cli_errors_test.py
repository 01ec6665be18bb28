#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `aerogpu` says to a wrong command line, bad files and outputs that cannot be written: one clear error that names what
is wrong, the documented exit code, and nothing left behind.
  cli_errors_test.py AEROGPU SAMPLES MINIPORT_THAT_LACKS_A_DDI"""
import os
import shutil
import re
import stat
import subprocess
import sys
import tempfile

aerogpu, samples, poor = map(os.path.abspath, sys.argv[1:4])
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
with open(work + "/settings", "w") as f:
    f.write("TdrDelay = 2\n")
os.symlink("/dev/full", work + "/full")
shutil.copy(recording, work + "/precious")
os.link(work + "/precious", work + "/same")
for name, bytes_ in (("direct.d3d12trace", b"D3D12TRC"), ("etl.cputrace", b"AGCPUTRC"), ("stream", b"ACMD"), ("flight", b"AGFLIGHT"),
                     ("dump.aerogpudump", b"SQLite format 3\0" + bytes(52) + b"AGBD" + bytes(28)),
                     ("script", b"#!/bin/sh\n"), ("vulkan", b"\177ELF libvulkan.so.1"), ("dx11.exe", b"MZ..D3D11.DLL"),
                     ("arm.exe", b"MZ" + bytes(58) + b"\x40\0\0\0PE\0\0\x64\xaa"), ("dx12.exe", b"MZ.." + "d3d12.dll".encode("utf-16-le"))):
    with open(f"{work}/{name}", "wb") as f:
        f.write(bytes_ + bytes(64))
    os.chmod(f"{work}/{name}", 0o755)

# The command with an argument that a file can follow, the words for a folder, an empty file, and noise.
known = "is nothing that aerogpu knows: it begins with 00 01 02 03"
readers = [(command, "is a folder", "is empty", known) for command in (
    "play", "show", "info", "report", "trim --frames 0-1 -o small", "minimize -o small", "dump -o dumps")] + [
    ("doctor", "no report", None, "no report"),
    (f"diff {work}/noise", None, None, known),
]
commands = [line.split("\t")[1] for line in subprocess.check_output([aerogpu, "--help=list"], text=True).splitlines() if line.startswith("command\t")]
# Command lines that are wrong, and the words that say how.
wrong = [
    ("nonsense", "no command 'nonsense'"),
    ("version now", "it takes no 'now'"),
    ("validate now", "it takes no 'now'"),
    ("validate --soak long", "--soak: 'long' is no number from 0 to"),
    ("sim 3", "it takes no '3'"),
    ("sim --clients 65", "--clients: '65' is no number from 1 to 64"),
    ("sim --seed -1", "--seed: '-1' is no number of at least 0"),
    ("play --frame 1x f", "--frame: '1x' is no number"),
    ("play", "FILE... is missing"),
    ("play --png", "option '--png' requires an argument"),
    ("record -o out", "give a program to run; --what cpu needs none"),
    ("record -o out record play f", "a recording is not recorded"),
    ("record --sched -o out play f", "--sched is for processors, which is not what is recorded"),
    ("record --what cpu --frames 1-2", "--frames is for Direct3D 12, which is not what is recorded"),
    (f"trim -o small --frames 1-2 {recording} {recording}", "it takes no '"),
    (f"play {recording} {work}/direct.d3d12trace", "direct.d3d12trace is not a recording of AeroGPU's device (.aerogputrace), but a recording of Direct3D 12 (.d3d12trace): one kind at a time"),
    (f"play --paced {recording}", "--paced is not for"),
    (f"show --decoded {work}/direct.d3d12trace", "--decoded is not for"),
    (f"report --with w {work}/dump.aerogpudump", "--with is not for"),
    ("dump --hang 0 f", "--hang: '0' is no number from 1 to 3600000"),
    (f"dump --pid 1 {recording}", "--pid and a recording do not go together"),
    ("dump --pid 0", "--pid: '0' is no number"),
] + [(f"play --pixel {p} f", f"--pixel needs X,Y, two numbers from 0 to 4294967295, not '{p}'")
     for p in ("-1,2", "1,-2", "x,y", "5", "5,", ",5", "1,2,3", "1,2x", "4294967296,0")] + [
    ("play --tries 0 f", "--tries: '0' is no number"),
    ("minimize --jobs 0 -o small f", "--jobs: '0' is no number"),
    ("serve --ram 1", "--ram: '1' is no number from 64 to 3072"),
    ("record --what cpu -d never", "--duration: 'never' is no time in seconds, above 0 and up to 1000000"),
    ("record --what cpu -b 1", "--buffer: '1' is no number from 16 to 4194304"),
    ("crashes --index=", "--index: FILE is empty"),
    ("record --output= -- true", "--output: FILE is empty"),
    ("record --what gl -- true", "--what: 'gl' is none of d3d12|device|cpu"),
    ("report", "FILE is missing"),
    (f"report --save {work}/etl.cputrace", "--save goes with --with DUMP"),
    ("watch now", "it takes no 'now'"),
    ("play --frames 3-1 f", "--frames needs a range A-B, not '3-1'"),
    ("play --until-call x f", "--until-call: 'x' is no number"),
] + [(f"play --dump-resource {d} f", f"--dump-resource needs N[:SUB]=FILE, not '{d}'")
     for d in ("5", "5=", "5:=x", "5:-1=x", "-5=x", "4294967296=x", "5:4294967296=x", "5:1:1=x", "=x")] + [
    (f"play --frames 0-0 {work}/direct.d3d12trace", "--frames goes with --png"),
    (f"play --draws 1-2 {work}/direct.d3d12trace", "--draws goes with --png, --hashes, --gpu-time or --pixel"),
    (f"show --fences 10 --state 78 {work}/direct.d3d12trace", "--state and --fences are two ways to look"),
    (f"show --html {work}/a --sqlite {work}/b {work}/direct.d3d12trace", "--html and --sqlite are two ways to look"),
    (f"show --html {work}/a --json {work}/direct.d3d12trace", "--json is of what is printed, and --html writes a file"),
    (f"show --perfetto {work}/a --frames 1-2 {work}/direct.d3d12trace", "--frames is of the list of calls, and --perfetto"),
    (f"show --state 4 --object 2 {work}/direct.d3d12trace", "--object is of the list of calls, and --state"),
    (f"compare --on @x --on vkd3d {work}/direct.d3d12trace", "--on needs WHAT[@DRIVER], not '@x'"),
    (f"play --validate --stop-before 3 {work}/direct.d3d12trace", "--stop-before cannot be compared"),
    (f"play --on vkd3d --d3d12 libvkd3d.so.1 {work}/direct.d3d12trace", "only one can be"),
    ("show --frames x f", "--frames needs a range A-B, not 'x'"),
    (f"show --pictures 1-2 {work}/direct.d3d12trace", "--pictures goes with --html"),
    ("record --memory magic -- true", "--memory: 'magic' is none of auto|kernel|hash"),
    (f"trim --frames 1-2 {work}/direct.d3d12trace", "--frames A-B and -o OUTPUT are needed"),
    (f"minimize {recording}", "-o SMALL is needed"),
    # what is made would be written over what is read: by its name, by another way to it, by a hard link
    (f"play --sheet {work}/precious {work}/precious", "precious: that is the file"),
    (f"minimize {work}/precious -o {work}/./precious", "precious: that is the file"),
    (f"record -o {work}/same play {work}/precious", "same: that is the file"),
]
# Outputs that cannot be written, the exit code, and the words.
outputs = [
    (f"play --sheet {work}/full {recording}", 4, "full: No space left on device"),
    (f"play --sheet {work}/folder {recording}", 4, "folder: Is a directory"),
    (f"play --sheet {work}/no/such {recording}", 4, "no/such: No such file or directory"),
    (f"play --png {work}/empty {recording}", 4, "empty"),
    (f"record -o {work}/no/such play {recording}", 4, "no/such: No such file or directory"),
    (f"dump --out {work}/empty {recording}", 4, "empty: Not a directory"),
    (f"minimize -o {work}/no/such {recording}", 4, "no/such: No such file or directory"),
    (f"crashes --index {work}/index --html {work}/full", 4, "full: No space left on device"),
    (f"crashes --index {work}/no/such", 4, "no/such: unable to open database file"),
    (f"validate --sim --out {work}/empty", 4, "empty/stack.log: Not a directory"),
    (f"serve --ram 64 --event-log {work}/no/such", 4, "no/such: No such file or directory"),
    (f"record --what d3d12 -o {work}/no/such -- true", 4, "no/such: No such file or directory"),
    (f"record -o gone -- {work}/no/such", 4, "no/such: No such file or directory"),
    (f"minimize -o {work}/no/such {work}/direct.d3d12trace", 4, "no/such: No such file or directory"),
    # nothing is started where the end is known; and folders for dumps stand when there are some
    (f"run --on aerogpu -o {work}/empty -- true", 4, "empty: Not a directory"),
    (f"run --on aerogpu -o {work}/empty/x -- true", 4, "empty/x: Not a directory"),
    (f"run --on aerogpu -o {work}/full -- true", 4, "full: Not a directory"),
    (f"run --on aerogpu -o new -- {work}/no", 4, f"cannot run {work}/no: No such file or directory"),
    ("run --on aerogpu -- no-such-program", 4, "cannot run no-such-program: No such file or directory"),
    (f"run --on aerogpu -- {work}/noise", 4, "noise: Permission denied"),
    (f"run --on aerogpu -- {work}/folder", 4, "folder: Permission denied"),
    (f"run --on aerogpu -- wine {work}/no.exe", 4, "no.exe: No such file or directory"),
    (f"run --on aerogpu -- {work}/dx11.exe", 4, "dx11.exe is no program for Windows that can be run: it has no PE header"),
    (f"run --on aerogpu -- wine {work}/arm.exe", 4, "its machine (offset 68) is 0xaa64 (ARM64)"),
    (f"record --what d3d12 -o gone -- wine {work}/arm.exe", 4, "its machine (offset 68) is 0xaa64 (ARM64)"),
]
# What a kind of file does not have, and programs that cannot be recorded: the sentence says what there is instead.
other_kinds = [
    (f"trim -o small --frames 1-2 {recording}", 3,
     "is a recording of AeroGPU's device (.aerogputrace), which this command has nothing for; there is: play, show, info, minimize, dump"),
    (f"report {work}/direct.d3d12trace", 3, "there is: play, show, info, diff, compare, trim, minimize"),
    (f"play {work}/etl.cputrace", 3, "is a recording of processors (.cputrace), which this command has nothing for; there is: info, report"),
    (f"minimize -o small {work}/stream", 3, "is a command stream, which this command has nothing for; there is: show, info"),
    (f"diff {work}/flight {work}/flight", 3, "is a flight recorder, which this command has nothing for; there is: show, info"),
    (f"play {aerogpu}", 3, "is a program, which this command has nothing for; there is: record -- PROGRAM, run -- PROGRAM, lose -- PROGRAM"),
    (f"dump -o dumps {work}/direct.d3d12trace", 3,
     "is a recording of Direct3D 12 (.d3d12trace), which this command has nothing for; there is: play, show, info, diff, compare, trim, minimize"),
    (f"dump -o dumps {work}/dump.aerogpudump", 3, "there is: play, show, info, report, minimize, crashes"),
    # what is made for pictures and dumps of which there are none does not stay
    (f"play --png a/b {work}/cut.aerogputrace", 3, "offset 0x"),
    (f"play --sheet sheet.png {work}/cut.aerogputrace", 3, "offset 0x"),
    (f"play --png a/b {work}/direct.d3d12trace", 3, "direct.d3d12trace: "),
    (f"dump -o a/b {work}/cut.aerogputrace", 3, "offset 0x"),
    # files that options name
    (f"serve --settings {work}/settings", 3, f"aerogpu serve: {work}/settings: line 1: "),
    (f"doctor --settings {work}/settings {work}/empty", 3, f"aerogpu doctor: {work}/settings: line 1: "),
    (f"validate --sim --settings {work}/settings", 3, f"aerogpu validate: {work}/settings: line 1: "),
    (f"validate --sim --settings {work}/nothing", 3, f"aerogpu validate: {work}/nothing: No such file"),
    (f"validate --sim --miniport {recording}", 3, "which this command has nothing for; there is: play"),
    (f"validate --sim --out {work}/poor --miniport {poor}", 1, "aerogpu validate: the miniport lacks DxgkDdi"),
    (f"serve --socket {work}/poor.socket --miniport {poor}", 3, "aerogpu serve: the miniport lacks DxgkDdi"),
    (f"serve --miniport {work}/nothing", 3, f"aerogpu serve: {work}/nothing: No such file"),
    (f"lose --matrix {work}/nothing", 3, f"aerogpu lose: {work}/nothing: No such file"),
    (f"record -- {work}/script", 4, "which API it speaks cannot be seen, since it is a script: `aerogpu record` records"),
    (f"record -- {work}/vulkan", 4, "speaks Vulkan, which cannot be recorded: `aerogpu record` records Direct3D 12"),
    (f"record -- {work}/dx11.exe", 4, "speaks Direct3D 11, which cannot be recorded"),
    (f"record -- {aerogpu}-commands play {recording}", 4, "speaks both Direct3D 12 and AeroGPU's device: --what d3d12|device says which"),
    (f"record -- env {work}/dx12.exe", 4, "is a Windows program: `aerogpu record -- wine"),
]
passed = count = 0
plan = len(readers) + len(commands) + len(wrong) + len(outputs) + len(other_kinds) + 5
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
        (shutil.rmtree if os.path.isdir(f"{work}/cwd/{name}") else os.unlink)(f"{work}/cwd/{name}")
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
for command, code, words in outputs + other_kinds:
    result(command.replace(work + "/", "").replace(samples + "/", ""), check(command, code, words))

result("a cut recording", check(f"play {work}/cut.aerogputrace", 3, "cut.aerogputrace: offset 0x"))
with open("/dev/full", "w") as full:
    bad = []
    for command in "--help", "version", "abi", "play --help", f"show {recording}", f"show --json {recording}", \
                   f"crashes --index {work}/index", "dump --schema", "methods", "sim --seeds 1 --calm":
        bad += check(command, 4, "standard output could not be written", stdout=full)
    result("what cannot be written to standard output", bad)
# One convention: base/options.h has it, the README says it, and every program but aerogpu_dbgctl keeps it.
root = os.path.dirname(os.path.abspath(__file__)) + "/../.."
with open(root + "/src/base/options.h") as f:
    codes = re.findall(r"^    EXIT_[A-Z]+ = (\d),", f.read(), re.M)
with open(root + "/README.md") as f:
    said = re.search(r"^- Exit codes, of every program here:(.*\n(?:  .*\n)*)", f.read(), re.M).group(1).replace("\n  ", " ")
bad = [] if re.findall(r"(\d) (?:done|it ran|the command|a file|this)", said) == codes else [f"the README says: {said}"]
build = os.path.dirname(os.path.dirname(os.path.dirname(aerogpu)))
programs = [aerogpu, build + "/tools/test_runner/aerogpu_test_runner", build + "/suite/triangle", build + "/suite/submit_fence_stress"]
for program in programs:
    for words, code in ("--help", 0), ("--timeout-ms=x" if program == programs[1] else "--bogus", 2):
        r = subprocess.run([program, words], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, timeout=60)
        if r.returncode != code:
            bad.append(f"{program} {words}: exit code {r.returncode}, not {code}")
r = subprocess.run([programs[1], "--manifest", work + "/none"], capture_output=True, text=True, env=env, timeout=60)
bad += [] if r.returncode == 3 else [f"the runner and a manifest that is not there: exit code {r.returncode}: {r.stderr}"]
result("exit codes mean the same for every program", bad)
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
for command in ["play", "show", "report", "info"] if other is not None else []:
    bad += check(f"{command} {work}/noise", 3, "Permission denied", **other)
result("a file that one may not read" + ("" if other is not None else " # SKIP another user may not run this build"), bad)
subprocess.run(["rm", "-rf", work], check=True)
