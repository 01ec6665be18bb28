#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/extending.md is true: what it names is there, and its two examples, applied word for word to a copy of the tree, build and
pass.
  extending_test.py SOURCE_ROOT AEROGPU
The examples are told by the sentence in front of each block: In `FILE`, in front of `TEXT`:, At the end of `FILE`:, or
New file `FILE` (here ...):, in whose FILE NAME is the name of the section's example, as in "Here: `name`"."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

root, aerogpu = map(os.path.abspath, sys.argv[1:3])
with open(root + "/docs/extending.md") as f:
    page = f.read()
sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.M | re.S))
os.chdir(root)
if subprocess.run(["git", "rev-parse"], capture_output=True).returncode:
    print("1..0 # SKIP this is no git checkout")
    sys.exit(0)
files = subprocess.check_output(["git", "ls-files"], text=True).split("\n")[:-1]
work = tempfile.mkdtemp(prefix="aerogpu-extending-")
copy = work + "/tree"
count = 0


def result(name, bad):
    global count
    count += 1
    for line in bad:
        print("# " + line.replace("\n", "\n# "))
    print(("not ok" if bad else "ok") + f" {count} - {name}", flush=True)


def unknown_names():
    """Identifiers in backquotes, and those in capitals, that stand nowhere in the tree, nor in the examples."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S)
    names = {n for n in re.findall(r"`([A-Za-z_][A-Za-z0-9_]{3,})`", prose) + re.findall(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b", prose)
             if "_" in n and "NAME" not in n}
    examples = "".join(re.findall(r"^```\w*\n(.*?)^```$", page, re.M | re.S))
    for f in files:
        if f != "docs/extending.md" and f.endswith((".c", ".h", ".py", ".build", ".annot", ".json")) and os.path.exists(f):
            with open(f, errors="replace") as source:
                body = source.read()
            names -= {n for n in names if n in body}
    return [f"nothing is called {n}" for n in sorted(names) if n not in examples]


def apply(section):
    """Does what the section says to the copy; the files that it touched. Raises ValueError where it cannot be done."""
    touched = []
    example = re.search(r"Here: `(\w+)`", section).group(1)
    for block in re.finditer(r"^```\w*\n(.*?)^```$", section, re.M | re.S):
        before = " ".join(section[:block.start()].split("```")[-1].split())
        at = re.search(r"(?:In `([^`]+)`, in front of `([^`]+)`|At the end of `([^`]+)`|New file `([^`]+)` \(here \w+\)):$", before)
        if not at:
            raise ValueError(f"no place for the block after '...{before[-80:]}'")
        path = at[1] or at[3] or at[4].replace("NAME", example)
        touched.append(path)
        body, old = block[1], ""
        if at[4]:
            if os.path.exists(f"{copy}/{path}"):
                raise ValueError(f"{path} is there already")
        else:
            with open(f"{copy}/{path}") as f:
                old = f.read()
        if at[1]:
            anchor = at[2]
            if old.count(anchor) != 1:
                raise ValueError(f"{path} has '{anchor}' {old.count(anchor)} times")
            here = old.index(anchor)
            line = old.rindex("\n", 0, here) + 1
            if old[line:here].strip():  # inside of a line
                new = old[:here] + body.rstrip("\n") + old[here:]
            else:
                new = old[:line] + body + old[line:]
        else:
            new = old + body
        with open(f"{copy}/{path}", "w") as f:
            f.write(new)
    return touched


def run(*command, **more):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)
    return [f"{' '.join(command)}: exit code {r.returncode}:\n" + r.stdout[-3000:]] if r.returncode else []


def build(target):
    bad = []
    if not os.path.exists(copy + "/build"):
        bad = run("meson", "setup", "build", "-Dbench=false", cwd=copy)
    return bad or run("nice", "ninja", "-C", "build", target, cwd=copy)


def attempt(section, most, target, test):
    try:
        touched = set(apply(sections[section]))
    except (ValueError, OSError) as e:
        return [str(e)]
    bad = [f"it touches {len(touched)} files: {', '.join(sorted(touched))}"] if len(touched) > most else []
    return bad + (build(target) or test(f"{copy}/build/{target}"))


def on_a_service(program):
    socket = work + "/socket"
    env = dict(os.environ, AEROGPU_SOCKET=socket, AEROGPU_LOG="error")
    service = subprocess.Popen([aerogpu, "serve", "--socket", socket, "--ram", "256", "--json"], stdout=subprocess.PIPE, env=env)
    try:
        if b'"ready"' not in service.stdout.readline():
            return ["the service does not start"]
        return run(program, "--time-slack=10", env=env, timeout=120)
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait(60)


print("1..3")
result("docs/extending.md names what there is", unknown_names())
for f in files:
    if os.path.exists(f) and not f.startswith(("tests/fuzz/corpus/", "bench/")):
        os.makedirs(f"{copy}/{os.path.dirname(f)}", exist_ok=True)
        shutil.copy2(f, f"{copy}/{f}", follow_symlinks=False)
try:
    result("a packet by the page: at most 4 files, and it works",
           attempt("A packet", 4, "tests/executor/engine_memory_test", lambda p: run(p, timeout=120)))
    result("a suite test by the page: 3 files, and it passes",
           attempt("A suite test", 3, "suite/many_devices", on_a_service))
finally:
    shutil.rmtree(work)
