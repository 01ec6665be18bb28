#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Structures and method tables as the recorder for Windows programs has them lie as mingw-w64's own d3d12.h says, for programs of 64
and of 32 bits. Prints TAP.
   layouts_test.py SOURCE_ROOT IDL_DIR GENERATED_DIR"""
import os
import re
import shutil
import subprocess
import sys

root, idl, generated = sys.argv[1:4]
sys.path.insert(0, os.path.join(root, "src/d3d12/gen"))
import gen  # noqa: E402

model = gen.load(idl, os.path.join(root, "src/d3d12/gen/d3d12.annot"), os.path.join(root, "src/d3d12/gen/native.idl")).m
OURS = '#include "d3d12_api.h"\n'
THEIRS = "#define COBJMACROS\n#define WIDL_EXPLICIT_AGGREGATE_RETURNS\n#include <windows.h>\n#include <d3d12.h>\n"


def members(fields):
    for f in fields:
        if f.members is None:
            if not f.bits:
                yield f.name
        else:
            yield from ((f.name + "." if f.name else "") + m for m in members(f.members))


def compiled(cc, header, facts, extra=()):
    """The value of each; one that the header does not have is left out."""
    text = set(re.findall(r"\w+", subprocess.run([cc, "-E", "-x", "c", "-", *extra], input=header, text=True, capture_output=True).stdout))
    words = {f: "sizeof(%s)" % f if "|" not in f else "__builtin_offsetof(%s, %s)" % tuple(f.split("|")) for f in facts
             if text.issuperset(re.findall(r"\w+", f))}
    while True:
        source = header + "".join(
            "unsigned fact_%d = ~(unsigned)%s;\n" % (i, w) for i, w in enumerate(words.values()))  # none of them is zero
        done = subprocess.run([cc, "-std=gnu17", "-w", "-fmax-errors=0", "-fno-diagnostics-show-caret", "-S", "-o", "-", "-x", "c", "-", *extra], input=source, text=True,
                              capture_output=True)
        if not done.returncode:
            values = dict(re.findall(r"^_?fact_(\d+):\n\t\.long\s+(-?\d+)", done.stdout, re.M))
            return {f: ~int(values[str(i)]) & 0xFFFFFFFF for i, f in enumerate(words)}
        first = header.count("\n") + 1
        bad = {int(n) - first for n in re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr, re.M)}
        if not bad or min(bad) < 0:
            print(done.stderr, file=sys.stderr)
            raise SystemExit("Bail out! the header does not compile")
        words = {f: w for i, (f, w) in enumerate(words.items()) if i not in bad}


def facts():
    for name, fields in model.structs.items():
        if name.startswith(("D3D12_", "DXGI_")):
            yield name
            yield from (name + "|" + m for m in members(fields))
    for name in model.ifaces:
        if name.startswith("ID3D12"):
            yield from ("%sVtbl|%s" % (name, m.name) for i in model.chain(name) for m in i.methods)


wanted = list(facts())
print("1..4")
sizes = {}
for n, cc in enumerate(("x86_64-w64-mingw32-gcc", "i686-w64-mingw32-gcc")):
    if not shutil.which(cc):
        print("ok %d - # SKIP there is no %s" % (n + 1, cc))
        continue
    inc = ["-I" + os.path.join(root, "src"), "-I" + generated]
    ours, theirs = compiled(cc, OURS, wanted, inc), compiled(cc, THEIRS, wanted)
    wrong = [f for f in theirs if f in ours and ours[f] != theirs[f]]
    for f in wrong:
        print("# %s: %d, mingw-w64 has %d" % (f, ours[f], theirs[f]))
    sizes[cc] = ours
    print("%s %d - %s: %d facts are as in mingw-w64's d3d12.h" % (
        "not ok" if wrong or len(theirs) < 1000 or len(ours) != len(wanted) else "ok", n + 1, cc.split("-")[0], len(theirs)))
if len(sizes) < 2:
    print("ok 3 - # SKIP there is one compiler\nok 4 - # SKIP there is one compiler")
    sys.exit(0)
wide, narrow = sizes.values()
differ = {f for f in wide if wide[f] != narrow[f]}
print("%s 3 - the layouts of %d structures differ between them" % (
    "ok" if {"D3D12_SHADER_BYTECODE", "D3D12_RANGE", "ID3D12DeviceVtbl|CreateFence"} <= differ else "not ok",
    len([f for f in differ if "|" not in f])))
alike = {"D3D12_RESOURCE_DESC", "D3D12_GPU_DESCRIPTOR_HANDLE", "D3D12_RESOURCE_ALLOCATION_INFO", "D3D12_VERTEX_BUFFER_VIEW"}
print("%s 4 - those without pointers are alike, with members of eight bytes at multiples of eight" % ("not ok" if alike & differ else "ok"))
