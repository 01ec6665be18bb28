#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table by which a process of 32 bits makes x86-64's structures of its own (src/d3dkmt/wide.h) moves each member to where Windows 7
has it: what the table makes of each offset of layouts-x86.tsv is the one of layouts.tsv. Prints TAP.
   wide_test.py SOURCE_ROOT"""
import os
import re
import shutil
import subprocess
import sys

root = sys.argv[1]
if not shutil.which("i686-w64-mingw32-gcc"):
    print("1..0 # SKIP there is no i686-w64-mingw32-gcc")
    sys.exit(0)


def facts(name, scale):
    found = {}
    with open(os.path.join(root, "tests/wddm", name)) as f:
        for kind, what, *values in (line.rstrip("\n").split("\t") for line in f if line[0] in "SM"):
            if kind == "S":
                found.setdefault(what, {})[""] = int(values[0])
            elif "." not in values[0]:
                found.setdefault(what.split(".", 1)[0], {})[what.split(".", 1)[1]] = (int(values[0]), int(values[1]) // scale)
    return found


narrow, wide = facts("layouts-x86.tsv", 1), facts("layouts.tsv", 8)
source = '#include "d3dkmt/wide.c"\n'
rows = subprocess.run(["i686-w64-mingw32-gcc", "-std=gnu17", "-w", "-D_GNU_SOURCE", "-S", "-o", "-", "-x", "c", "-"] +
                      [f"-I{root}/{d}" for d in ("src/base/windows", "include", "src")],
                      input=source, text=True, capture_output=True, check=True).stdout
types = {}
for name, body in re.findall(r"^_rows_(\w+):\n((?:\t\.(?:word|byte|space)\s.*\n)+)", rows, re.M):
    data = b""
    for how, value in re.findall(r"\t\.(word|byte|space)\s+(\d+)", body):
        data += int(value).to_bytes(2, "little") if how == "word" else bytes([int(value)]) if how == "byte" else bytes(int(value))
    types[name] = [(int.from_bytes(data[i:i + 2], "little"), int.from_bytes(data[i + 2:i + 4], "little"), data[i + 4])
                   for i in range(0, len(data) - 6, 6)]


def moved(table, at):
    """Where the table's copying puts what lies at offset `at`."""
    here = there = 0
    for row_at, row_wide, pointer in table:
        if at < row_at:
            break
        here, there = row_at, row_wide
        if pointer and at >= row_at + 4:
            here, there = row_at + 4, row_wide + 8
    return there + at - here


def differences(tables):
    compared = 0
    for name, table in tables.items():
        for member, place in narrow.get(name, {}).items():
            if not member or member not in wide.get(name, {}):
                continue
            compared += 1
            to = moved(table, place[0])
            if to != wide[name][member][0]:
                yield f"{name}.{member}: {place[0]} becomes {to}, Windows 7 has it at {wide[name][member][0]}"
    if compared < 150:
        yield f"only {compared} members were compared"


print("1..2")
wrong = list(differences(types))
for w in wrong:
    print("# " + w)
print(f"{'not ok' if wrong or len(types) < 30 else 'ok'} 1 - the members of {len(types)} structures are moved to where x86-64 has them")
lies = {**types, "D3DKMT_LOCK": [row for row in types["D3DKMT_LOCK"] if row[1] != wide["D3DKMT_LOCK"]["pData"][0]]}
told = [w for w in differences(lies) if "D3DKMT_LOCK.Flags" in w]
print(f"{'ok' if told else 'not ok'} 2 - a row that is missing is noticed")
