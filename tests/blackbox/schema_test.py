#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/dump-schema.md is what the program prints, and each column and key on it is written by something; and the other way round.
  schema_test.py SOURCE_ROOT AEROGPU"""
import glob
import re
import subprocess
import sys

root, aerogpu = sys.argv[1:]
page = open(f"{root}/docs/dump-schema.md").read()
printed = subprocess.check_output([aerogpu, "dump", "--schema"], text=True)
writers = {f: open(f).read() for d in ("src/watch", "src/blackbox", "src/vkbox", "src/cpu", "src/base", "tools/aerogpu")
           for f in glob.glob(f"{root}/{d}/**/*.c", recursive=True)}
code = "\n".join(writers.values())
checks = [("the page is the one that the program prints",
           [] if page == printed else ["run `aerogpu dump --schema > docs/dump-schema.md`"])]

columns, table, section = set(), None, None
for line in page.split("\n"):
    if line.startswith("## "):
        table, section = line[3:], None
    elif line.startswith("| column "):
        section = "columns"
    elif line.startswith("| key "):
        section = "keys"
    elif section and (m := re.match(r"\| `([^`]+)` \|", line)):
        columns.add((table if section == "columns" else "key", m[1]))
inserted = {(m[1], c.strip()) for m in re.finditer(r"INSERT INTO (\w+)\(([^)]*)\)", re.sub(r'"\s*"', "", code))
            for c in m[2].split(",")}
set_by_name = {tuple(m) for m in re.findall(r"\bBB_([a-z]+)_([a-z_]+)\b", code)} | inserted
keys = {k for k in re.findall(r'bb_meta\([^,]+, "(\w+)"', code)} | {k for k in re.findall(r"INTO meta VALUES\('(\w+)'", code)} | \
    set(re.findall(r'\.bytes = "(\w+)"', code))
tables = {t for t, _ in columns} - {"key"}
checks.append(("each column is written by something",
               [f"{t}.{c} is not" for t, c in sorted(columns) if t != "key" and (t, c) not in set_by_name]))
causes = {m[1]: m[2] for m in re.finditer(r'C\((\w+), "([^"]+)", (?!NOTHING, "")', open(f"{root}/include/aerogpu/blackbox.h").read())}
checks.append(("each cause is written by something",
               [f"{name} is not" for c, name in causes.items()
                if not re.search(rf"BB_CAUSE_{c}\b", re.sub(r"[!=]= *BB_CAUSE_\w+|case BB_CAUSE_\w+", "", code)) and f"'{name}'" not in code]))
checks.append(("each key of meta is written by something",
               [f"{k} is not" for t, k in sorted(columns) if t == "key" and k != "setting.NAME" and k not in keys]))
checks.append(("each key that is written is on the page",
               [f"{k} is not" for k in sorted(keys) if ("key", k) not in columns]))
checks.append(("what is inserted by hand names columns that there are",
               [f"{t}.{c} is none" for t, c in sorted(inserted) if t in tables and (t, c) not in columns]))
sources = {s for block in re.findall(r"(?:BB_finding_source,|sizeof\(v->source\),)(.*?);", code, re.S)
           for s in re.findall(r'"((?:[^"\\]|\\.)*)"', block)} - {"%s"}
row = re.search(r"^\| `source` \| TEXT \| (.*) \|$", page, re.M)[1]
checks.append(("each source of a finding is on the page",
               [f"{s} is not" for s in sorted(sources) if s not in row] + ([] if len(sources) > 4 else [f"only these were found: {sources}"])))
print(f"1..{len(checks)}")
for n, (name, bad) in enumerate(checks, 1):
    for line in bad:
        print("# " + line)
    print(f"{'not ok' if bad else 'ok'} {n} - {name}")
