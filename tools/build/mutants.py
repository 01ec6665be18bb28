#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make mutants: plants the small bugs of tests/mutants/table.toml one at a time, and says who noticed.

usage: mutants.py [--check] [--json]
    --check   only whether each row still fits the sources, as TAP; this is what `make test` runs
    --json    one object per mutant in place of lines

The sources are copied to build-mutants/tree and built there, so that nothing planted is ever in the tree itself. A mutant's checks
are what its row expects to notice it, then the other tests of its room, lives of the sim and a while of the room's fuzz targets;
the first that fails has noticed it. A check counts only if it passes without the mutant, and if it fails a second time with it.
Results are kept in build-mutants/results.jsonl: a run that was interrupted goes on where it was.

    MUTANTS=id,id     these only              ROOM=gpu,kmd    those of these rooms only
    KEEP=1            what was noticed on earlier sources is not planted again
    SIM_SEEDS=400     lives of the sim        FUZZ_SECONDS=20    each fuzz target's time (0: without; survivors look again later)
"""
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/mutants/table.toml"
OUT = ROOT / "build-mutants"
TREE, BUILD, FUZZ, PLAIN = OUT / "tree", OUT / "build", OUT / "fuzz", OUT / "plain"
SIM_SEEDS = int(os.environ.get("SIM_SEEDS", "400"))
FUZZ_SECONDS = int(os.environ.get("FUZZ_SECONDS", "20"))
WANTED_PERCENT = 90
# As `make check` runs the tests; but signals are the executor's own to handle.
SANITIZERS = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0:verify_asan_link_order=0:"
                              "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0",
              "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
              "LSAN_OPTIONS": f"suppressions={ROOT}/tests/lsan.supp:print_suppressions=0"}


def load():
    with open(TABLE, "rb") as f:
        table = tomllib.load(f)
    return table["rooms"], table["mutant"]


def fault(row, rooms, seen):
    """What is wrong with a row, or None."""
    missing = [k for k in ("id", "room", "file", "bug", "from", "to", "by") if k not in row]
    if missing:
        return f"has no {', '.join(missing)}"
    if row["id"] in seen:
        return "two rows have this id"
    if row["room"] not in rooms:
        return f"there is no room {row['room']}"
    if row["from"] == row["to"]:
        return "changes nothing"
    path = ROOT / row["file"]
    n = path.read_text().count(row["from"]) if path.is_file() else 0
    return None if n == 1 else f"{row['file']} has its text {n} times"


def check():
    rooms, rows = load()
    bad, seen = 0, set()
    print("1..2")
    for row in rows:
        why = fault(row, rooms, seen)
        seen.add(row.get("id"))
        if why:
            bad += 1
            print(f"# {row.get('id')}: {why}")
    print(f"{'not ' if bad else ''}ok 1 - each of {len(rows)} mutants can be planted at one place")
    idle = [r for r in rooms if not any(row["room"] == r for row in rows)]
    print(f"{'not ' if idle else ''}ok 2 - each room has mutants {' '.join(idle)}")
    return 1 if bad or idle else 0


# ---- the copy ----------------------------------------------------------------


def sync():
    """The tree as it is, uncommitted changes too. Files that did not change keep their time. Returns what names the sources."""
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True, capture_output=True)
    names = [n for n in files.stdout.decode().split("\0") if n and (ROOT / n).is_file()]
    sources = hashlib.sha256()
    for name in sorted(names):
        data, copy = (ROOT / name).read_bytes(), TREE / name
        if name.startswith(("src/", "include/", "tests/", "suite/")) and not name.startswith("tests/mutants/"):
            sources.update(name.encode() + b"\0" + data)
        if not copy.is_file() or copy.read_bytes() != data:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy)
            os.utime(copy)
    for copy in [p for p in TREE.rglob("*") if p.is_file() and "__pycache__" not in p.parts]:
        if str(copy.relative_to(TREE)) not in set(names):
            copy.unlink()
    return sources.hexdigest()[:16]


def meson_setup(directory, *options, **env):
    if not (directory / "build.ninja").is_file():
        subprocess.run(["meson", "setup", directory, TREE, *options], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, **env})


def ninja(directory, targets):
    """None, or what the compiler said."""
    done = subprocess.run(["nice", "ninja", "-C", directory, "-j", os.environ.get("JOBS", "1"), "--quiet", *targets],
                          capture_output=True, text=True)
    return (done.stdout + done.stderr) if done.returncode else None


def run(cmd, env, cwd, timeout):
    """(whether it passed, its output)"""
    with open(OUT / "output", "w+b") as out:
        p = subprocess.Popen(["nice", *map(str, cmd)], env={**os.environ, **SANITIZERS, **env}, cwd=cwd, stdin=subprocess.DEVNULL,
                             stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            rc, late = p.wait(timeout), ""
        except subprocess.TimeoutExpired:
            rc, late = 1, f"\nnot ok - it takes more than {timeout:.0f} s"
        finally: # with everything that it started
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()
        out.seek(0)
        text = out.read().decode(errors="replace") + late
    return rc in (0, 77) and "\nnot ok" not in "\n" + text, text


# ---- checks ------------------------------------------------------------------


class Check:
    """A test of the suite, `lives` of the sim, or `fuzz:TARGET`."""

    tests, targets, baseline = {}, {}, {}

    @classmethod
    def find(cls, build):
        """Its tests, as far as no other build has them: what is loaded into other programs is not built with a sanitizer."""
        show = lambda what: json.loads(subprocess.run(["meson", "introspect", what, build], check=True, capture_output=True).stdout)
        cls.tests = {t["name"]: t | {"build": build} for t in show("--tests")} | cls.tests
        cls.targets |= {(build, t["id"]): t["filename"] for t in show("--targets")}

    def __init__(self, name):
        self.name, self.cwd, self.env, self.limit, self.dir = name, BUILD, {}, 600, BUILD
        if name == "lives":
            exe = BUILD / "tools/aerogpu/aerogpu"
            self.cmd, self.needs = [exe, "sim", "--seeds", str(SIM_SEEDS)], [exe.relative_to(BUILD)]
        elif name.startswith("fuzz:"):
            target = name.split(":")[1]
            self.dir = self.cwd = FUZZ
            self.needs = [f"tests/fuzz/{target}_fuzz"]
            self.cmd = [FUZZ / self.needs[0], f"-max_total_time={FUZZ_SECONDS}", "-timeout=10", "-rss_limit_mb=3072", "-seed=1",
                        f"-artifact_prefix={OUT}/fuzz-", OUT / "corpus" / target, TREE / "tests/fuzz/corpus" / target]
        else:
            if name not in self.tests:
                meson_setup(PLAIN, "-Dbench=false")
                self.find(PLAIN)
            t = self.tests[name]
            self.cmd, self.env, self.limit, self.dir = t["cmd"], t["env"], t["timeout"], t["build"]
            self.cwd = t["workdir"] or self.dir
            self.needs = [Path(f).relative_to(self.dir) for d in t["depends"] for f in self.targets[self.dir, d]]

    def build(self):
        if self.dir == FUZZ:
            meson_setup(FUZZ, "-Dfuzzing=true", "-Db_lundef=false", "-Dbench=false", CC="clang")
        return ninja(self.dir, self.needs)

    def once(self, timeout):
        if self.dir == FUZZ:
            shutil.rmtree(self.cmd[-2], ignore_errors=True)
            self.cmd[-2].mkdir(parents=True)
        return run(self.cmd, self.env, self.cwd, timeout)

    def baseline_key(self, sources):
        return f"{sources} {self.name}"

    def passes_without(self, sources):
        """How long it takes with nothing planted, which the first call finds out; None: it fails, and proves nothing."""
        key = self.baseline_key(sources)
        if key not in self.baseline:
            why = self.build()
            start = time.monotonic()
            passed, text = (False, why) if why else self.once(self.limit * 4)
            self.baseline[key] = time.monotonic() - start if passed else None
            if not passed:
                print(f"# {self.name} fails without a mutant: {notice(text)}", file=sys.stderr, flush=True)
        return self.baseline[key]

    def notices(self, seconds):
        """What it says of the mutant that is planted, or None. It has to say so twice."""
        passed, text = self.once(30 + 6 * seconds)
        if passed:
            return None
        said = notice(text)
        again = self.once(30 + 6 * seconds)[0] and self.once(30 + 6 * seconds)[0]
        return None if again else said


def notice(text):
    """The line that says it best."""
    lines = [l.strip() for l in text.splitlines() if l.strip()]
    for mark in ("INVARIANT", "ERROR: ", "runtime error", "broken", "not ok", "assert", "error:"):
        for line in lines:
            if mark in line and "# SKIP" not in line:
                return line[:140]
    return lines[-1][:140] if lines else "it ends without a word"


# ---- mutants -----------------------------------------------------------------


def plan(row, room):
    names = row["by"] + [t for t in room["tests"] if t not in row["by"]]
    for extra in (["lives"] if room.get("sim") else []) + [f"fuzz:{t}" for t in room.get("fuzz", [])]:
        if extra not in names:
            names.append(extra)
    skipped = [] if SIM_SEEDS else ["lives"]
    return [Check(n) for n in names if n not in skipped and (FUZZ_SECONDS or not n.startswith("fuzz:"))]


def put(path, text):
    if path.read_text() != text: # what stays is not built again
        path.write_text(text)


def plant(row, room, sources):
    checks = plan(row, room)
    start, path = time.monotonic(), TREE / row["file"]
    clean = path.read_text()
    result = {"id": row["id"], "room": row["room"], "bug": row["bug"], "killed": False, "by": None, "says": None}
    try:
        for c in checks:
            if c.baseline_key(sources) not in c.baseline:
                put(path, clean)
            usual = c.passes_without(sources)
            if usual is None:
                continue
            put(path, clean.replace(row["from"], row["to"]))
            why = c.build()
            if why:
                result["says"] = f"does not build: {notice(why)}"
                break
            said = c.notices(usual)
            if said:
                result |= {"killed": True, "by": c.name, "says": said, "expected": c.name in row["by"]}
                break
    finally:
        put(path, clean)
    result["seconds"] = round(time.monotonic() - start)
    return result


def row_key(row):
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:16]


def known(sources):
    """Results that still hold: key of the row -> result."""
    out = {}
    path = OUT / "results.jsonl"
    for line in path.read_text().splitlines() if path.is_file() else []:
        r = json.loads(line)
        whole = r["killed"] or r["whole"] or not (SIM_SEEDS and FUZZ_SECONDS)
        if (r["sources"] == sources and whole) or (r["killed"] and os.environ.get("KEEP")):
            out[r["row"]] = r
    return out


def show(r, as_json):
    if as_json:
        print(json.dumps({k: v for k, v in r.items() if k not in ("row", "sources", "whole")}), flush=True)
    else:
        said = f"{r['by']}: {r['says']}" if r["killed"] else r["says"] or "nobody noticed"
        print(f"{'killed  ' if r['killed'] else 'SURVIVED'} {r['id']:32} {r['seconds']:4} s  {said}", flush=True)


def main():
    if "--check" in sys.argv:
        return check()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutants: ended"))
    as_json = "--json" in sys.argv
    rooms, rows = load()
    ids, only = (list(filter(None, os.environ.get(v, "").split(","))) for v in ("MUTANTS", "ROOM"))
    unknown = set(ids) - {r["id"] for r in rows} | set(only) - set(rooms)
    if unknown:
        sys.exit(f"mutants: {', '.join(sorted(unknown))} is not in {TABLE.relative_to(ROOT)}")
    if check_faults := [f"{r['id']}: {why}" for r in rows if (why := fault(r, rooms, set()))]:
        sys.exit("mutants: " + "\n".join(check_faults))
    rows = [r for r in rows if (not ids or r["id"] in ids) and (not only or r["room"] in only)]
    OUT.mkdir(exist_ok=True)
    lock = open(OUT / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"mutants: somebody plants in {OUT.name} already")
    sources = sync()
    meson_setup(BUILD, "-Dbench=false", "-Db_sanitize=address,undefined")
    Check.find(BUILD)
    done, results = known(sources), []
    for row in rows:
        r = done.get(row_key(row))
        if not r:
            r = plant(row, rooms[row["room"]], sources) | {"row": row_key(row), "sources": sources, "whole": bool(SIM_SEEDS and FUZZ_SECONDS)}
            with open(OUT / "results.jsonl", "a") as f:
                f.write(json.dumps(r) + "\n")
        show(r, as_json)
        results.append(r)
    killed = sum(r["killed"] for r in results)
    if not as_json:
        for room in rooms:
            of = [r for r in results if r["room"] == room]
            if of:
                print(f"{room:10} {sum(r['killed'] for r in of)} of {len(of)}")
        print(f"{killed} of {len(results)} killed")
    return 0 if results and killed * 100 >= WANTED_PERCENT * len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
