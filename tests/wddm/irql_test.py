#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every kernel routine that a miniport can call has the IRQL limit that its documentation names (irql.tsv), and checks it.
  irql_test.py SOURCE_ROOT"""
import glob
import os
import re
import sys

root = sys.argv[1]
levels = ["PASSIVE_LEVEL", "APC_LEVEL", "DISPATCH_LEVEL", "DIRQL", "ANY_LEVEL"]
with open(os.path.join(root, "src/dxgkrnl/ntos/routines.h")) as f:
    table = f.read()
ours = {}
for name, limit in re.findall(r"^    [RL]\(\w+, (\w+), (\w+)\)", table, re.M) + re.findall(r"^    B\((\w+), (\w+)\)", table, re.M):
    ours[name] = limit
c_library = dict(re.findall(r"^    C\(\w+, (\w+), (\w+)\)", table, re.M))
with open(os.path.join(root, "tests/wddm/irql.tsv")) as f:
    sources = {r[0]: r[1:] for r in (line.rstrip("\n").split("\t") for line in f if not line.startswith("#"))}
code = ""
for path in sorted(glob.glob(os.path.join(root, "src/dxgkrnl/**/*.c"), recursive=True)):
    with open(path) as f:
        code += f.read()


def body(name):
    m = re.search(r"^[A-Za-z].*\b%s\([^;{]*\)\n\{\n(.*?)^\}" % name, code, re.M | re.S)
    return m.group(1) if m else ""


def is_checked(name):
    """By itself, or by one that it calls with the same limit."""
    if re.search(r"\b(ENTER|CHECK|FROM)\(%s\b|\bLIMIT_%s\b" % (name, name), code):
        return True
    if re.search(r"dxgk_kernel_irql\(.*\) != (APC_LEVEL|DISPATCH_LEVEL|DIRQL)", body(name)):
        return True  # at one level only
    return any(ours.get(callee) == ours[name] and is_checked(callee) for callee in set(re.findall(r"\b(\w+)\(", body(name))) if callee != name)


failed = 0


def check(n, what, wrong):
    global failed
    failed += bool(wrong)
    print(f"{'not ok' if wrong else 'ok'} {n} - {what}" + (": " + "; ".join(sorted(wrong)) if wrong else ""))


print("1..5")
check(1, "there are routines", [] if len(ours) > 150 else [f"{len(ours)} in the table"])
check(2, "each limit has a source, which says the same",
      [f"{n} has {l}, its page {sources[n][0] if n in sources else 'is missing'}" for n, l in ours.items()
       if n not in sources or sources[n][0] != l] + [f"{n}: no limit" for n, l in c_library.items() if l != "ANY_LEVEL"])
check(3, "no source is of a routine that is not there", [n for n in sources if n not in ours])
check(4, "each source is a page, or says that there is none",
      [n for n, s in sources.items() if s[0] not in levels or not (s[1] == "-" and s[2] == "no page" or
       s[2] in ("IRQL", "text") and re.fullmatch(r"(\w+)/n[fc]-\1-\w+", s[1]))])
check(5, "each limit is checked", [n for n, l in ours.items() if l != "ANY_LEVEL" and not is_checked(n)])
sys.exit(bool(failed))
