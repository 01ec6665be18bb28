#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""aerogpu.sys is what Windows 7 x64 would load: all that it imports is exported there, by that module; and the kernel in user
space exports nothing that Windows 7 does not.
  kmd_windows_test.py AEROGPU_SYS SOURCE_ROOT"""
import os
import re
import struct
import sys

path, root = sys.argv[1:3]
with open(path, "rb") as f:
    image = f.read()
with open(os.path.join(root, "tests/wddm/exports.txt")) as f:
    exports = {tuple(line.split()) for line in f if not line.startswith("#")}
with open(os.path.join(root, "src/dxgkrnl/ntos/routines.h")) as f:
    ours = set(re.findall(r"^    [RCD]\((\w+), (\w+)", f.read(), re.M))

header = struct.unpack_from("<I", image, 60)[0]
machine, num_sections = struct.unpack_from("<HH", image, header + 4)
optional = header + 24
optional_size = struct.unpack_from("<H", image, header + 20)[0]
sections = []
for i in range(num_sections):
    name, size, address, file_size, offset = struct.unpack_from("<8sIIII", image, optional + optional_size + 40 * i)
    flags = struct.unpack_from("<I", image, optional + optional_size + 40 * i + 36)[0]
    sections.append((name.rstrip(b"\0").decode(), address, max(size, file_size), offset, flags))


def directory(n):
    return struct.unpack_from("<II", image, optional + 112 + 8 * n)


def at(address):
    """The offset in the file of an address in the image."""
    for _, start, size, offset, _ in sections:
        if start <= address < start + size:
            return offset + address - start
    raise ValueError(hex(address))


def string(offset):
    return image[offset:image.index(b"\0", offset)].decode()


def imports():
    offset = at(directory(1)[0])
    while True:
        names, _, _, module, slots = struct.unpack_from("<IIIII", image, offset)
        if not module:
            return
        thunk = at(names or slots)
        while entry := struct.unpack_from("<Q", image, thunk)[0]:
            yield string(at(module)).lower().split(".")[0], string(at(entry) + 2)
            thunk += 8
        offset += 20


def section(name):
    return next((s for s in sections if s[0] == name), None)


results = []


def check(what, *problems):
    results.append((what, [p for p in problems if p]))


imported = list(imports())
check(f"each of {len(imported)} imports is exported by Windows 7",
      *(f"{m}!{n} is not" for m, n in imported if (m, n) not in exports))
check(f"each of {len(ours)} routines that dxgkrnl exports is one of Windows 7", *(f"{m}!{n} is not" for m, n in ours - exports))
check("it is native code for x64 and Windows 6.1",
      machine != 0x8664 and f"machine {machine:#x}",
      struct.unpack_from("<H", image, optional + 68)[0] != 1 and "subsystem",
      struct.unpack_from("<HH", image, optional + 48) != (6, 1) and "subsystem version",
      struct.unpack_from("<HH", image, optional + 40) != (6, 1) and "version of the operating system")
debug, size = directory(6)
codeview = struct.unpack_from("<I", image, at(debug) + 24)[0] if size else 0
check("a debugger finds its symbols", (not codeview or image[codeview:codeview + 4] != b"RSDS") and "no CodeView record",
      codeview and string(codeview + 24) != "aerogpu.pdb" and "it names another file")
with open(os.path.join(root, "CHANGELOG.md")) as f:
    version = re.search(r"^## ([0-9.]+) ", f.read(), re.M)[1]
check("its version is that of the tree", version.encode("utf-16-le") not in image and f"{version} is nowhere in it")
size = directory(3)[1]
check("it can be unwound", (not size or size % 12) and f".pdata has {size} bytes")
check("its entry point is in INIT, which goes",
      not (section("INIT") and section("INIT")[1] <= struct.unpack_from("<I", image, optional + 16)[0] <
           section("INIT")[1] + section("INIT")[2]) and "not in INIT",
      section("INIT") and not section("INIT")[4] & 0x02000000 and "INIT is not discardable")
check("no section may be written and executed", *(f"{s[0]} may" for s in sections if s[4] & 0xA0000000 == 0xA0000000))

print(f"1..{len(results)}")
for i, (what, problems) in enumerate(results):
    print(f"{'not ok' if problems else 'ok'} {i + 1} - {what}")
    for p in problems:
        print(f"# {p}")
sys.exit(any(p for _, p in results))
