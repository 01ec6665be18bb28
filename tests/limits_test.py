#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is to be read stays small: functions, files, folders; headers begin alike; and what each room would need once is there once.
  limits_test.py SOURCE_ROOT"""
import collections
import os
import re
import subprocess
import sys

FUNCTION = 80  # lines, from its opening brace to its closing one
FILE = 900     # lines of a .c file
FOLDER = 39    # .c and .h files beside each other
INVARIANTS = 300

# A key in a string of C, and no sentence in which something in quotes stands before a colon.
JSON_KEY = re.compile(r'\\"[\w%]+\\" ?:(?! (?!true|false|null)[a-z])|"\\" ?: ?"')
# The next slot of an open hash table, as these are written; or a slot by a hash.
PROBE = re.compile(r"\bi = \(i \+ 1\) [&%] |\[\(at \+ i\) % |hash\w*\(.*\) & \(|0x9E3779B97F4A7C15\)* >> ", re.I)

os.chdir(sys.argv[1])
if subprocess.run(["git", "rev-parse"], capture_output=True).returncode:
    print("1..0 # SKIP this is no git checkout")
    sys.exit(0)
files = [f for f in subprocess.check_output(["git", "ls-files", "*.c", "*.h"], text=True).split("\n")[:-1] if os.path.exists(f)]
texts = {f: open(f, errors="replace").read().split("\n") for f in files}


def functions(lines):
    """(line, length) of each: clang-format leaves braces in the first column to them alone."""
    begin = None
    for n, line in enumerate(lines, 1):
        if line == "{":
            begin = n
        elif line.startswith("}") and begin:
            yield begin, n - begin + 1
            begin = None


def only_in(where, what):
    """Lines of what is built for users in which `what` stands, outside of `where`."""
    return [f"{f}:{n}: {line.strip()}" for f, t in texts.items() if f.startswith(("src/", "tools/", "suite/")) and not f.startswith(where)
            for n, line in enumerate(t, 1) if what.search(line)]


folders = collections.Counter(map(os.path.dirname, files))
invariants = sum(line.count("INVARIANT(") for f, t in texts.items() if f.startswith("src/") and f != "src/base/check.h" for line in t)
checks = {
    f"no function is longer than {FUNCTION} lines":
        [f"{f}:{n}: {length} lines" for f in files for n, length in functions(texts[f]) if length > FUNCTION],
    f"no .c file is longer than {FILE} lines":
        [f"{f}: {len(t) - 1} lines" for f, t in texts.items() if f.endswith(".c") and len(t) - 1 > FILE],
    f"no folder has more than {FOLDER} .c and .h files":
        [f"{f}/: {n} files" for f, n in folders.items() if n > FOLDER],
    "every header begins with its licence and is guarded by #pragma once":
        [f for f, t in texts.items() if f.endswith(".h") and ("SPDX-License-Identifier" not in t[0] or "#pragma once" not in t)],
    "JSON is written by base/json_write.h or jansson": only_in("src/base/json_write.c", JSON_KEY),
    "HTML and XML are written by the report kit": only_in("src/report/", re.compile(r"&lt;|<!doctype|<html|<testcase", re.I)),
    "command lines are read by base/options.h": only_in("src/base/options.c", re.compile(r"\bgetopt(_long)?\(|\boptarg\b")),
    "programs are found by base/program.h":
        only_in("src/base/program.c", re.compile(r'getenv\("PATH"\)|readlink\("/proc/self/exe"')),
    # Two are read without a lock, at every call; the third is in a driver, which has its own libc.
    "hash tables are base/map.h, but for three":
        only_in(("src/base/map.c", "src/record/rec_lookup.", "src/vkbox/commands.c", "src/vkbox/fast.h", "src/kmd/render.c"), PROBE),
    f"invariants are held by INVARIANT(), in {INVARIANTS} places and more":
        [f"{invariants} places"] if invariants < INVARIANTS else [],
}
# Rooms by the folder of the test that fails their nth allocation or system call. That of d3d begins with the stack, and the driver in
# it; src/sim is itself a test.
failed_in = {os.path.dirname(f).removeprefix("tests/") for f, t in texts.items() if f.startswith("tests/") and any("alloc_fail.h" in line for line in t)}
rooms = {f.split("/")[1] for f in texts if f.startswith("src/")} - {"sim"}
reached = {"stack": "d3d", "kmd": "d3d"}
checks["each room has a test in which its nth allocation or system call fails"] = [
    f"src/{room}/ has none in tests/{reached.get(room, room)}/" for room in sorted(rooms) if reached.get(room, room) not in failed_in]

counted = sum(1 for t in texts.values() for _ in functions(t))
print(f"1..{len(checks) + 1}")
for n, (name, wrong) in enumerate(checks.items(), 1):
    for w in wrong:
        print(f"# {w}")
    print(f"{'not ok' if wrong else 'ok'} {n} - {name}")
# A scan that sees nothing would find nothing wrong.
print(f"{'ok' if counted > 5 * len(texts) else 'not ok'} {len(checks) + 1} - {counted} functions in {len(texts)} files were looked at")
sys.exit(1 if any(checks.values()) else 0)
