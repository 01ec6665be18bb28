#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""streams.py: what another driver's tests write, played.

    tools/build/streams.py CHECKOUT [AEROGPU] [FOLDER]

CHECKOUT is a copy of the public tree wilsonzlin/aero. The tests of its user-mode drivers run on any machine, with the drivers' sources and no
kernel behind them. Here they are built in FOLDER (default: a temporary one), with a line in the stream's writer that keeps each stream when
the test submits it or throws it away; what one writer (one device of the test) wrote becomes a recording, a submission for each stream, and
`aerogpu play` plays them all. Memory that streams name (alloc_id) is there, zeroed, and as large as they say.

Printed: how many streams and recordings, and a row for each reason why a submission was refused, with how many and one of them.
Nothing of that tree is kept here. Exit code 1: a test of theirs failed, or nothing was written.
"""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ABI = 0x00010004
UMD = "drivers/aerogpu/umd"
LIBRARIES = {
    "d3d9": ["aerogpu_d3d9_blit", "aerogpu_d3d9_caps", "aerogpu_d3d9_driver", "aerogpu_kmd_query", "aerogpu_log", "aerogpu_trace",
             "aerogpu_wddm_alloc", "aerogpu_wddm_alloc_list", "aerogpu_wddm_context", "dllmain"],
    "d3d10_11": ["aerogpu_d3d10_11_umd", "aerogpu_d3d10_11_log"],
}
TAP = r"""
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Keeps a writer's streams: WRITER-STREAM.acmd in the folder that STREAM_TAP names. */
struct stream_tap {
    int writer = -1, count = 0;
    stream_tap() = default;
    stream_tap(const stream_tap &) {}
    stream_tap &operator=(const stream_tap &) { return *this; }
    void leave(const uint8_t *bytes, size_t size)
    {
        static int writers;
        const char *folder = getenv("STREAM_TAP");
        uint32_t said = (uint32_t)size;
        char path[4096];
        if (!folder || !bytes || size <= 24 || memcmp(bytes, "ACMD", 4))
            return;
        if (writer < 0)
            writer = writers++;
        snprintf(path, sizeof(path), "%s/%05d-%05d.acmd", folder, writer, count++);
        FILE *out = fopen(path, "wb");
        if (!out || fwrite(bytes, 1, size, out) != size || fseek(out, 8, SEEK_SET) || fwrite(&said, 4, 1, out) != 1 || fclose(out))
            abort();
    }
};
"""


def tap(root):
    """The writer keeps what it has before it forgets it."""
    path = f"{root}/{UMD}/common/aerogpu_cmd_stream_writer.h"
    text = open(path).read()
    name = "class CmdStreamWriter {\n public:\n"
    if text.count(name) != 1:
        sys.exit(f"{path}: no class CmdStreamWriter as it was when this was written")
    before, behind = text.split(name)
    behind, n = re.subn(r"^  void (set_span|set_vector|reset|rewind)\((.*)\) \{\n", r"\g<0>    tap_.leave(data(), size());\n", behind,
                        flags=re.M)
    if n != 4:
        sys.exit(f"{path}: {n} ways to forget a stream, not 4")
    behind = "  stream_tap tap_;\n  ~CmdStreamWriter() { tap_.leave(data(), size()); }\n" + behind
    open(path, "w").write('#include "stream_tap.h"\n' + before + name + behind)
    open(f"{root}/{UMD}/common/stream_tap.h", "w").write(TAP)


def build(root, out):
    rules, programs = [], []
    for half, library in LIBRARIES.items():
        base = f"{root}/{UMD}/{half}"
        include = f"-I{base}/src -I{base}/include -I{root}/drivers/aerogpu/protocol -I{root}/{UMD}/d3d10_11/src"
        objects = [f"{out}/{half}_{name}.o" for name in library]
        for name, obj in zip(library, objects):
            rules.append(f"{obj}: {base}/src/{name}.cpp\n\t$(CXX) {include} -c $< -o $@\n")
        for test in sorted(os.listdir(f"{base}/tests")):
            if not test.endswith(".cpp"):
                continue
            program = f"{out}/{half}-{test[:-4]}"
            programs.append(program)
            rules.append(f"{program}.o: {base}/tests/{test}\n\t$(CXX) {include} -c $< -o $@\n"
                         f"{program}: {program}.o {' '.join(objects)}\n\t$(CXX) $^ -o $@ -ldl -lpthread\n")
    with open(f"{out}/Makefile", "w") as f:
        f.write(f"CXX = ccache g++ -std=c++17 -O0 -w\nall: {' '.join(programs)}\n" + "".join(rules))
    if subprocess.run(["make", "-s", "-j2", "-f", f"{out}/Makefile", "all"]).returncode:
        sys.exit("their tests do not build")
    return programs


def memory_of(stream, needs):
    """What each allocation has to hold for the resources that are made of it."""
    at = 24
    while at + 8 <= len(stream):
        op, size = struct.unpack_from("<II", stream, at)
        if size < 8 or at + size > len(stream):
            break
        if op == 0x100 and size >= 40:
            alloc, offset, = struct.unpack_from("<II", stream, at + 24)
            needs[alloc] = max(needs[alloc], offset + struct.unpack_from("<Q", stream, at + 16)[0])
        elif op == 0x101 and size >= 56:
            _, _, _, width, height, mips, layers, pitch, alloc, offset = struct.unpack_from("<10I", stream, at + 8)
            rows = max(pitch, 16 * width) * (height + 16) * 2  # with all mips it is less
            needs[alloc] = max(needs[alloc], offset + rows * max(layers, 1))
        at += size


def recording(streams, path):
    data = bytearray(b"AEROGPUT" + struct.pack("<6I", 32, 2, ABI, 0, 2, 0) + b"{}")
    frames, blobs, fence = [], 0, 0
    needs = collections.Counter()
    for stream in streams:
        memory_of(stream, needs)
    del needs[0]
    gpa, entries, ranges = 1 << 20, b"", b""
    for alloc, size in sorted(needs.items()):
        size = min((size + 4095) & ~4095, 64 << 20)
        entries += struct.pack("<IIQQQ", alloc, 0, gpa, size, 0)
        ranges += struct.pack("<IIQQQ", alloc, 0, gpa, size, 0)
        gpa += size
    table = struct.pack("<4sIIIII", b"ALOC", ABI, 24 + len(entries), len(needs), 32, 0) + entries

    def record(kind, payload):
        data.extend(struct.pack("<BBHI", kind, 0, 0, len(payload)) + payload)

    def blob(kind, payload):
        nonlocal blobs
        blobs += 1
        record(4, struct.pack("<QII", blobs, kind, 0) + payload)
        return blobs

    alloc = blob(0x101, table) if needs else 0
    for i, stream in enumerate(streams):
        start, fence = len(data), fence + 1
        record(1, struct.pack("<I", i))
        cmd = blob(0x100, stream)
        record(5, struct.pack("<IIIIIIQQQII", 1, 56, 0, 1, 0, 0, fence, cmd, alloc, len(needs), 0) + ranges)
        frames.append(struct.pack("<IIQQQ", i, 0, start, 0, len(data)))
    toc = len(data)
    data += struct.pack("<8sII", b"AEROTOC\0", 1, len(frames)) + b"".join(frames)
    data += struct.pack("<8sIIQQ", b"AEROGPUF", 32, 2, toc, len(data) - toc)
    open(path, "wb").write(data)


def main():
    checkout, aerogpu = sys.argv[1], (sys.argv[2:3] or ["build/tools/aerogpu/aerogpu"])[0]
    out = (sys.argv[3:4] or [tempfile.mkdtemp(prefix="streams-")])[0]
    shutil.rmtree(out, ignore_errors=True)
    for name in ("bin", "streams", "recordings"):
        os.makedirs(f"{out}/{name}")
    shutil.copytree(f"{checkout}/drivers/aerogpu", f"{out}/src/drivers/aerogpu")
    tap(f"{out}/src")
    count, failed = 0, 0
    for program in build(f"{out}/src", f"{out}/bin"):
        name = os.path.basename(program)
        folder = f"{out}/streams/{name}"
        os.mkdir(folder)
        r = subprocess.run([program], cwd=folder, env=dict(os.environ, STREAM_TAP=folder), capture_output=True)
        if r.returncode:
            print(f"{name} ended with {r.returncode}")
            failed += 1
        writers = collections.defaultdict(list)
        for f in sorted(f for f in os.listdir(folder) if f.endswith(".acmd")):
            writers[f.split("-")[0]].append(open(f"{folder}/{f}", "rb").read())
        for writer, streams in writers.items():
            count += len(streams)
            recording(streams, f"{out}/recordings/{name}-{writer}.aerogputrace")
    files = sorted(f"{out}/recordings/{f}" for f in os.listdir(f"{out}/recordings"))
    print(f"{count} streams of {len(files)} devices, in {out}")
    if failed or not files:
        sys.exit(1)
    r = subprocess.run([aerogpu, "play", "--json", *files], capture_output=True, text=True)
    open(f"{out}/play.json", "w").write(r.stdout)
    open(f"{out}/play.err", "w").write(r.stderr)
    if not r.stdout:
        sys.exit(r.stderr)
    reasons, refused = collections.defaultdict(list), 0
    for f in json.loads(r.stdout)["files"]:
        for e in f.get("errors", []):
            refused += e.get("count", 1)
            reasons[re.sub(r"0x[0-9a-f]+|\d+", "#", e["message"])].append((f["file"], e))
    print(f"{count - refused} play, {refused} are refused:")
    for reason, all_of in sorted(reasons.items(), key=lambda x: -len(x[1])):
        f, e = all_of[0]
        print(f"{len(all_of):5}  {e['message']}  [{os.path.basename(f)}, frame {e.get('frame')}]")


main()
