#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rooms of docs/design.md are those of the tree, and none includes what its row does not allow; files that the pages name
exist.
  rooms_test.py SOURCE_ROOT"""
import os
import re
import subprocess
import sys

root = sys.argv[1]
os.chdir(root)
if subprocess.run(["git", "rev-parse"], capture_output=True).returncode:
    print("1..0 # SKIP this is no git checkout")
    sys.exit(0)
files = subprocess.check_output(["git", "ls-files"], text=True).split("\n")[:-1]
folders = {os.path.dirname(f)[:n] for f in files for n in
           [i for i, c in enumerate(os.path.dirname(f) + "/") if c == "/"]}
with open("docs/design.md") as page:
    rows = re.findall(r"^\| (`[^|]*`) \|[^|]*\| ([^|]*) \|$", page.read().split("## The rooms")[1], re.M)
rooms = {}  # folder: what it may include
for names, may in rows:
    for name in re.findall(r"`([^`]*)/`", names):
        rooms[name] = [m.strip(" `") for m in re.split(r"[,;:]", may)]
tops = {f.split("/")[1] for f in files if f.startswith("src/")} | {"aerogpu", "wddm"}
checks = []


def room_of(path):
    """The deepest folder with a row that holds this file: src/x/y/ has a row of its own where src/x/ is several libraries."""
    while path and path not in rooms:
        path = os.path.dirname(path)
    return path


def of_room(folder):
    """Includes that are not allowed. A row names rooms (x, or all of x/), or single headers."""
    may = rooms[folder]
    for f in files:
        if not f.endswith((".c", ".h")) or room_of(f) != folder:
            continue
        with open(f) as text:
            for path in re.findall(r'^#include [<"]([a-z0-9_]+/[^">]*)', text.read(), re.M):
                top = path.split("/")[0]
                to = room_of(("include/" if top in ("aerogpu", "wddm") else "src/") + path)
                if top in tops and to != folder and not any(path == m or path.startswith(m + "/") for m in may):
                    yield f"{f} includes {path}: {folder}/ may include {', '.join(may)}"


def missing(page):
    """What a page names, by a link or as `path/to/file`, and that is not there."""
    with open(page) as text:
        words = text.read()
    for target in re.findall(r"\]\(([^)#:]+)\)", words):
        path = os.path.normpath(os.path.join(os.path.dirname(page), target))
        if path not in files and path not in folders:
            yield f"{page} links to {target}, which is not there"
    for name in re.findall(r"`((?:src|include|tests|tools|bench|docs|samples|suite)/[\w./-]*)`", words):
        if "NAME" not in name and name.rstrip("/") not in files and name.rstrip("/") not in folders:
            yield f"{page} names {name}, which is not there"


def names_an_api():
    """The recorder core knows no API: no identifier or word of Direct3D in it."""
    for f in files:
        if f.startswith("src/record/"):
            with open(f) as text:
                for no, line in enumerate(text, 1):
                    if re.search(r"d3d12|d12_|direct3d|dxgi", line, re.I):
                        yield f"{f}:{no} names an API: {line.strip()}"


for folder in sorted(rooms):
    bad = [] if folder in folders else [f"there is no {folder}/"]
    if folder.startswith(("src/", "include/")) or folder == "suite":
        bad += of_room(folder)
    checks.append((f"{folder}/ keeps to its row", bad))
checks.append(("every room has a row",
               sorted({f"{os.path.dirname(f)}/ has none" for f in files
                       if f.startswith("src/") and f.endswith((".c", ".h", ".py")) and room_of(f) in ("", "src")})))
checks.append(("src/record/ knows no API", list(names_an_api())))
for page in [f for f in files if f.endswith(".md") and (f.count("/") == 0 or f.startswith("docs/"))]:
    checks.append((f"{page} names what there is", list(missing(page))))
print(f"1..{len(checks)}")
for n, (name, bad) in enumerate(checks, 1):
    for line in bad:
        print("# " + line)
    print(f"{'not ok' if bad else 'ok'} {n} - {name}")
