#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wine's conformance tests of d3d11, dxgi, d3d10core, d3d10_1, d3d10 (d3d10/device, d3d10/effect) and d3d9, test function by test function, on our libraries and on wined3d.
  conformance.py WINE_SOURCE BUILD [-o TABLE.json] [--on aerogpu|wined3d]... [MODULE[/FILE][:FUNCTION[,FUNCTION...]]...]
FILE is one of the module's, where it is not named as the module: d3d9/device, d3d9/visual. WINE_SOURCE is an unpacked wine-8.0, of which dlls/*/tests and include/wine are read; BUILD is a build of this tree. Every
function is a process of its own, so that one that hangs or crashes takes no other with it. wined3d needs an X server with GL
($DISPLAY; `Xvfb :9` with Mesa will do). Prints a row of each: checks that passed, failed, and what ended it otherwise.
Checks that Wine marks as `todo` count as Windows would answer them: the same rule for both. Direct3D 12, on whose devices dxgi's tests
run a second time where it is, is there for neither."""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HEADERS = "/usr/include/wine/wine"
PRELUDE = """
#define __WINE_ALLOC_SIZE(...)
#define __WINE_MALLOC
#define __WINE_PRINTF_ATTR(...)
#define WINE_NO_TRACE_MSGS
#define WINE_NO_DEBUG_MSGS
#define WIDL_C_INLINE_WRAPPERS
#include <stdlib.h>
#include <string.h>
static int wanted(const char *name) { const char *w = getenv("TEST_FUNCTION"); return !w || !strcmp(w, name); }
"""
CALL = re.compile(r"^(\s+)((?:queue_\w+|run_on_\w+)\([^;]*?\b(test_\w+)\)|(test_\w+|\w+_test)\(\));", re.M)


def build(wine, what, out):
    """The test program of MODULE/FILE, its name, and its functions' names in their order."""
    library, _, module = what.partition("/")
    module = module or library
    path = f"{wine}/dlls/{library}/tests/{module}.c"
    text = open(path, encoding="utf-8").read()
    head, body = text.split(f"START_TEST({module})")
    names = list(dict.fromkeys(m.group(3) or m.group(4) for m in CALL.finditer(body)))
    body = CALL.sub(lambda m: f'{m.group(1)}if (wanted("{m.group(3) or m.group(4)}")) {m.group(2)};', body)
    os.makedirs(f"{out}/wine", exist_ok=True)
    os.makedirs(f"{out}/ddk", exist_ok=True)
    for name in os.listdir(os.path.dirname(path)):
        if name.endswith(".h"):
            with open(f"{out}/{name}", "w", encoding="utf-8") as f:
                f.write(open(f"{wine}/dlls/{library}/tests/{name}", encoding="utf-8").read())
    for name in ("test", "heap"):
        with open(f"{out}/wine/{name}.h", "w", encoding="utf-8") as f:
            f.write(open(f"{wine}/include/wine/{name}.h", encoding="utf-8").read())
    for to, source in (("wine/debug.h", "debug.h"), ("ddk/d3dkmthk.h", "windows/ddk/d3dkmthk.h")):
        with open(f"{out}/{to}", "w", encoding="utf-8") as f:
            f.write(open(f"{HEADERS}/{source}", encoding="utf-8").read())
    with open(f"{out}/{module}.c", "w", encoding="utf-8") as f:
        f.write(PRELUDE + head + f"START_TEST({module})" + body)
    with open(f"{out}/more.c", "w", encoding="utf-8") as f:
        f.write("#include <string.h>\nconst char *__wine_dbg_strdup(const char *s) { return _strdup(s); }\n")
    with open(f"{out}/d3d10_1.def", "w", encoding="utf-8") as f:
        f.write("LIBRARY d3d10_1.dll\nEXPORTS\nD3D10CreateDevice1\nD3D10CreateDeviceAndSwapChain1\n")
    subprocess.run(["x86_64-w64-mingw32-dlltool", "-d", f"{out}/d3d10_1.def", "-l", f"{out}/libd3d10_1.a"], check=True)
    subprocess.run(["x86_64-w64-mingw32-gcc", "-O1", "-w", "-DSTANDALONE", "-DENABLE_PROCESSED_OUTPUT=1",
                    "-DENABLE_VIRTUAL_TERMINAL_PROCESSING=4", f"-I{out}", "-isystem", f"{HEADERS}/windows",
                    f"{out}/{module}.c", f"{out}/more.c", "-o", f"{out}/{module}.exe", f"-L{out}", "-Wl,--allow-multiple-definition", "-ld3d11", "-ldxgi",
                    "-ld3d10_1", "-ld3d10", "-ld3d9", "-ldxguid", "-luuid", "-lgdi32", "-luser32"], check=True)
    return module, names


def run(folder, module, name, env, seconds):
    """One function: {passed, failed, skipped, end, first}."""
    start, said = time.monotonic(), f"{folder}/{name}.log"
    with open(said, "wb") as out:  # a file: Wine's server would keep a pipe open
        p = subprocess.Popen(["wine", f"{folder}/{module}.exe", module, "--single"], env=dict(env, TEST_FUNCTION=name), cwd=folder,
                             stdout=out, stderr=out, start_new_session=True)
    try:
        p.wait(timeout=seconds)
        end = "" if 0 <= p.returncode < 255 else f"exit code {p.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        end = f"hangs ({seconds} s)"
    with open(said, errors="replace", encoding="utf-8") as out:
        text = out.read()
    row = {"passed": 0, "failed": 0, "skipped": 0}
    done = re.search(r"(\d+) tests executed \((\d+) marked as todo, (?:\d+ as flaky, )?(\d+) failures?\), (\d+) skipped", text)
    failures = [line for line in text.splitlines() if "Test failed" in line or "Test succeeded inside todo" in line]
    if done:
        row["failed"] = int(done.group(2)) + int(done.group(3))
        row["passed"] = int(done.group(1)) - row["failed"]
        row["skipped"] = int(done.group(4))
    else:
        row["failed"] = len(failures)
        end = end or "crashes"
    crash = re.search(r"[Uu]nhandled (page fault|exception)[^\n]*", text)
    if crash and not done:
        end = "crashes"
    row["end"] = end
    row["first"] = [re.sub(r"^\S*?:(\d+): ", r"\1: ", f)[:150] for f in failures[:3]] + \
        [line[:150] for line in text.splitlines() if "not implemented" in line or "::" in line][:4]
    row["seconds"] = round(time.monotonic() - start, 1)
    return row


def service(aerogpu, folder):
    log = open(f"{folder}/service.log", "w", encoding="utf-8")
    with open(f"{folder}/settings", "w", encoding="utf-8") as f:  # a processor that others want, too, is no GPU that hangs
        f.write("[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\nTdrDelay = 60\n")
    p = subprocess.Popen([aerogpu, "serve", "--socket", f"{folder}/socket", "--settings", f"{folder}/settings"], stdout=log, stderr=log)
    for _ in range(200):
        if "ready" in open(f"{folder}/service.log", encoding="utf-8").read():
            return p
        time.sleep(0.1)
    sys.exit("conformance: no service: " + open(f"{folder}/service.log", encoding="utf-8").read())


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("wine")
    a.add_argument("build")
    a.add_argument("what", nargs="*", default=["d3d11", "dxgi"])
    a.add_argument("--on", action="append", choices=["aerogpu", "wined3d"])
    a.add_argument("-o", "--output")
    a.add_argument("--seconds", type=int, default=60)
    a = a.parse_args()
    on = a.on or ["aerogpu", "wined3d"]
    rows, built, folder = {}, {}, tempfile.mkdtemp()
    build_dir = os.path.abspath(a.build)
    env = dict(os.environ, WINEPREFIX=f"{build_dir}/wine/wine-prefix", WINEARCH="win64", WINEDEBUG="-all", WINETEST_PLATFORM="windows",
               WINEDLLOVERRIDES="mscoree,mshtml,winemenubuilder.exe,winedbg.exe,d3d12=")
    serve = service(f"{build_dir}/tools/aerogpu/aerogpu", folder) if "aerogpu" in on else None
    try:
        for what in a.what:
            source, _, only = what.partition(":")
            for side in on:
                os.makedirs(f"{folder}/{side}", exist_ok=True)
            if source not in built:
                built[source] = build(os.path.realpath(a.wine), source, folder)
            module, names = built[source]
            for side in on:
                if not os.path.lexists(f"{folder}/{side}/{module}.exe"):
                    os.symlink(f"{folder}/{module}.exe", f"{folder}/{side}/{module}.exe")
            for dll in os.listdir(f"{build_dir}/src/d3d/windows"):
                if dll.endswith(".dll") and "aerogpu" in on and not os.path.lexists(f"{folder}/aerogpu/{dll}"):
                    os.symlink(f"{build_dir}/src/d3d/windows/{dll}", f"{folder}/aerogpu/{dll}")
            for name in names:
                if only and name not in only.split(","):
                    continue
                row = rows.setdefault(f"{module}:{name}", {})
                for side in on:
                    more = {"AEROGPU_SOCKET": f"{folder}/socket", "WINEDLLOVERRIDES": env["WINEDLLOVERRIDES"] + ";d3d9,d3d10_1,d3d10core,d3d11,dxgi=n;d3d10=n,b"} \
                        if side == "aerogpu" else {}
                    row[side] = run(f"{folder}/{side}", module, name, dict(env, **more), a.seconds)
                print(module, name, *(f"{side} {row[side]['passed']}+ {row[side]['failed']}- {row[side]['end']}" for side in on), flush=True)
    finally:
        if serve:
            serve.terminate()
            serve.wait()
        if a.output:
            with open(a.output, "w", encoding="utf-8") as f:
                json.dump(rows, f, indent=1)
    for side in on:
        print(side, sum(r[side]["passed"] for r in rows.values() if side in r), "passed,",
              sum(r[side]["failed"] for r in rows.values() if side in r), "failed")


main()
