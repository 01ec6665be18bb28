#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make mutants: plants the small bugs of tests/mutants/table.toml one at a time, and says who noticed.

usage: mutants.py [--check] [--json]
    --check   only whether each row still fits the sources, as TAP; this is what `make test` runs
    --json    one object per mutant in place of lines

The sources are copied to build-mutants/tree and built there, so that nothing planted is ever in the tree itself. A mutant's checks
are what its row expects to notice it, then the other tests of its room and lives of the sim; the first that fails has noticed it.
They are built with little optimisation and no sanitizer, so that a mutant costs a compilation, a link and a test. A row that only a
sanitizer can notice says `sanitized = true`. A check counts only if it passes without the mutant, and if it fails a second time
with it. Results are kept in build-mutants/results.jsonl: a run that was interrupted goes on where it was.

    MUTANTS=id,id     these only              ROOM=gpu,kmd    those of these rooms only
    KEEP=1            what was noticed on earlier sources is not planted again
    SIM_SEEDS=400     lives of the sim        JOBS=2          the compiler's
    QUICK=1           only the checks that rows expect to notice; survivors get the others in a later run
  Those who survive are looked at longer with
    SANITIZE=1        all checks once more, sanitized          FUZZ_SECONDS=20    each fuzz target of the room for so long
"""
import argparse
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
TREE, PLAIN, SANITIZED, FUZZ = OUT / "tree", OUT / "plain", OUT / "sanitized", OUT / "fuzz"
OPTIONS = {PLAIN: ["-Doptimization=1", "-Ddebug=false"], SANITIZED: ["-Db_sanitize=address,undefined"],
           FUZZ: ["-Dfuzzing=true", "-Db_lundef=false"]}
SIM_SEEDS = int(os.environ.get("SIM_SEEDS", "400"))
FUZZ_SECONDS = int(os.environ.get("FUZZ_SECONDS", "0"))
SANITIZE = bool(os.environ.get("SANITIZE"))
QUICK = bool(os.environ.get("QUICK"))
THOROUGH = [not QUICK, SIM_SEEDS > 0, SANITIZE, FUZZ_SECONDS > 0]
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


def setup(directory):
    if (directory / "build.ninja").is_file():
        if why := ninja(directory, ["build.ninja"]):
            sys.exit(why)
    else:
        subprocess.run(["meson", "setup", directory, TREE, "-Dbench=false", *OPTIONS[directory]], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | ({"CC": "clang"} if directory == FUZZ else {}))


def ninja(directory, targets):
    """None, or what the compiler said."""
    done = subprocess.run(["nice", "ninja", "-C", directory, "-j", os.environ.get("JOBS", str(os.cpu_count())), "--quiet", *targets],
                          capture_output=True, text=True)
    return (done.stdout + done.stderr) if done.returncode else None


def waited():
    """Seconds in which somebody waited for a processor; 0 where the kernel does not say."""
    try:
        return int(Path("/proc/pressure/cpu").read_text().splitlines()[0].rsplit("=", 1)[1]) / 1e6
    except (OSError, ValueError, IndexError):
        return 0.0


def run(cmd, env, cwd, timeout):
    """(whether it passed, its output, up to the first case that fails). On a machine that is busy with other things it has up to four
    times its time: to be starved is not to hang."""
    failed = lambda text: b"\nnot ok" in b"\n" + text
    with open(OUT / "output", "w+b") as out:
        p = subprocess.Popen(["nice", *map(str, cmd)], env={**os.environ, **SANITIZERS, **env}, cwd=cwd, stdin=subprocess.DEVNULL,
                             stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        rc, late, start, idle = None, "", time.monotonic(), waited()
        try:
            while rc is None:
                try:
                    rc = p.wait(0.5)
                except subprocess.TimeoutExpired:
                    if time.monotonic() - start > timeout + min(waited() - idle, 3 * timeout):
                        rc, late = 1, f"\nnot ok - it takes more than {timeout:.0f} s"
                    elif failed((OUT / "output").read_bytes()):
                        rc = 1
        finally: # with everything that it started
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()
        out.seek(0)
        text = out.read()
    return rc in (0, 77) and not failed(text), text.decode(errors="replace") + late


# ---- checks ------------------------------------------------------------------


class Check:
    """A test of the suite, `lives` of the sim, or `fuzz:TARGET`, in one of the builds."""

    tests, targets, baselines = {}, {}, {}

    @classmethod
    def find(cls, build):
        """The tests of a build. What is loaded into other programs is not built with a sanitizer, nor are its tests."""
        if build not in cls.tests:
            setup(build)
            show = lambda what: json.loads(subprocess.run(["meson", "introspect", what, build], check=True, capture_output=True).stdout)
            cls.tests[build] = {t["name"]: t for t in show("--tests")}
            cls.targets[build] = {t["id"]: t["filename"] for t in show("--targets")}
        return cls.tests[build]

    def __init__(self, name, build):
        if name.startswith("fuzz:"):
            build = FUZZ
        elif name != "lives" and name not in self.find(build):
            build = PLAIN
        self.find(build)
        self.name, self.dir, self.env, self.limit = name, build, {}, 600
        self.key, self.cwd = f"{name} {build.name}", build
        if name == "lives":
            exe = build / "tools/aerogpu/aerogpu"
            self.cmd, self.needs = [exe, "sim", "--seeds", str(SIM_SEEDS)], [exe.relative_to(build)]
        elif build == FUZZ:
            target = name.split(":")[1]
            self.needs = [f"tests/fuzz/{target}_fuzz"]
            self.cmd = [FUZZ / self.needs[0], f"-max_total_time={FUZZ_SECONDS}", "-timeout=10", "-rss_limit_mb=3072", "-seed=1",
                        f"-artifact_prefix={OUT}/fuzz-", OUT / "corpus" / target, TREE / "tests/fuzz/corpus" / target]
        else:
            t = self.tests[build][name]
            self.cmd, self.env, self.limit = t["cmd"], t["env"], t["timeout"]
            self.cwd = t["workdir"] or build
            self.needs = [Path(f).relative_to(build) for d in t["depends"] for f in self.targets[build][d]]

    def build(self):
        return ninja(self.dir, self.needs)

    def once(self, timeout):
        if self.dir == FUZZ:
            shutil.rmtree(self.cmd[-2], ignore_errors=True)
            self.cmd[-2].mkdir(parents=True)
        return run(self.cmd, self.env, self.cwd, timeout)

    @classmethod
    def remember(cls, sources):
        """Which checks pass, and how long they take, as found out for these sources before."""
        path = OUT / "baselines.json"
        if path.is_file() and (known := json.loads(path.read_text()))["sources"] == sources:
            cls.baselines = known["seconds"]

    def passes_without(self, sources):
        """How long it takes with nothing planted, which the first call finds out; None: it fails, and proves nothing."""
        if self.key not in self.baselines:
            why = self.build()
            start = time.monotonic()
            passed, text = (False, why) if why else self.once(self.limit * 4)
            self.baselines[self.key] = time.monotonic() - start if passed else None
            (OUT / "baselines.json").write_text(json.dumps({"sources": sources, "seconds": self.baselines}))
            if not passed:
                print(f"# {self.key} fails without a mutant: {notice(text)}", file=sys.stderr, flush=True)
        return self.baselines[self.key]

    def notices(self, seconds):
        """What it says of the mutant that is planted, or None. It has to say so twice."""
        limit = 15 + 5 * seconds
        passed, text = self.once(limit)
        return None if passed or (self.once(limit)[0] and self.once(limit)[0]) else notice(text)


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
    """Its checks, in order: what the row expects, what else the room has, and what takes longest last."""
    names = row["by"]
    if not QUICK:
        names = names + room["tests"] + (["lives"] if room.get("sim") else []) + [f"fuzz:{t}" for t in room.get("fuzz", [])]
    tests = [n for n in dict.fromkeys(names) if not n.startswith("fuzz:") and (SIM_SEEDS or n != "lives")]
    fuzz = [n for n in dict.fromkeys(names) if n.startswith("fuzz:") and FUZZ_SECONDS]
    builds = [SANITIZED] if row.get("sanitized") else [PLAIN, SANITIZED] if SANITIZE else [PLAIN]
    return [Check(n, b) for b in builds for n in tests] + [Check(n, FUZZ) for n in fuzz]


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
            if c.key not in c.baselines:
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
        enough = r["killed"] or all(had or not wanted for had, wanted in zip(r["thorough"], THOROUGH))
        if (r["sources"] == sources and enough) or (r["killed"] and os.environ.get("KEEP")):
            out[r["row"]] = r
    return out


def show(r, as_json):
    if as_json:
        print(json.dumps({k: v for k, v in r.items() if k not in ("row", "sources", "thorough")}), flush=True)
    else:
        said = f"{r['by']}: {r['says']}" if r["killed"] else r["says"] or "nobody noticed"
        print(f"{'killed  ' if r['killed'] else 'SURVIVED'} {r['id']:32} {r['seconds']:4} s  {said}", flush=True)


def main():
    how = argparse.ArgumentParser(description=__doc__, usage="mutants.py [--check] [--json]", add_help=True,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    how.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    how.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    how = how.parse_args()
    if how.check:
        return check()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutants: ended"))
    as_json = how.json
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
    Check.remember(sources)
    done, results = known(sources), []
    for row in rows:
        r = done.get(row_key(row))
        if not r:
            r = plant(row, rooms[row["room"]], sources) | {"row": row_key(row), "sources": sources, "thorough": THOROUGH}
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
