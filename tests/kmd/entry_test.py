#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`aerogpu validate` says what aerogpu.sys does wrong whose DriverEntry begins with other bytes: none of it reaches Linux.
  entry_test.py AEROGPU AEROGPU_SYS"""
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile

aerogpu, sys_file = map(os.path.abspath, sys.argv[1:3])
work = tempfile.mkdtemp(prefix="aerogpu-entry-")
here = r"at wrong\.sys\+0x[0-9a-f]+, in DriverEntry"
# The bytes and what is said of them.
ROWS = [
    ("int3", "cc", r"a breakpoint in front of wrong\.sys\+0x[0-9a-f]+, in DriverEntry"),
    ("jump-to-stack", "4889e0ffe0", r"memory that may not be executed is run at 0x[0-9a-f]+, in DriverEntry"),
    ("jump-to-headers", "488d0500f0ffffffe0", r"(memory that may not be executed is run|is called|access violation|a stack that is full).*, in DriverEntry"),
    ("syscall", "b8270000000f05c3", r"a system call of Linux's, number 39 \(SYSCALL or INT 80h\), " + here),
    ("int-80", "b814000000cd80c3", r"a system call of Linux's, number 20 \(SYSCALL or INT 80h\), " + here),
    ("rdmsr", "31c90f32c3", r"a privileged instruction, RDMSR, " + here),
    ("hlt", "f4", r"a privileged instruction, HLT, " + here),
    ("refuses", "b8010000c0c3", r"DriverEntry returned c0000001"),
]


def with_entry(code):
    """The image with `code` where its entry point is, and the checksum that goes with it."""
    b = bytearray(open(sys_file, "rb").read())
    pe = struct.unpack_from("<I", b, 0x3C)[0]
    optional = pe + 24
    entry = struct.unpack_from("<I", b, optional + 16)[0]
    sections = optional + struct.unpack_from("<H", b, pe + 20)[0]
    for n in range(struct.unpack_from("<H", b, pe + 6)[0]):
        size, address, _, at = struct.unpack_from("<IIII", b, sections + 40 * n + 8)
        if address <= entry < address + size:
            b[entry - address + at:entry - address + at + len(code)] = code
    struct.pack_into("<I", b, optional + 64, 0)
    total = 0
    for i in range(0, len(b), 2):
        total += int.from_bytes(b[i:i + 2], "little")
        total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into("<I", b, optional + 64, (total + len(b)) & 0xFFFFFFFF)
    return bytes(b)


old = tuple(map(int, re.findall(r"\d+", platform.release())[:2])) < (5, 11)  # Linux cannot tell whose a system call is
print(f"1..{len(ROWS)}")
for n, (name, code, says) in enumerate(ROWS, 1):
    if old and "Linux's" in says:
        print(f"ok {n} - {name} # SKIP Linux before 5.11")
        continue
    path = work + "/wrong.sys"
    with open(path, "wb") as f:
        f.write(with_entry(bytes.fromhex(code)))
    p = subprocess.run([aerogpu, "validate", "--sim", "--miniport", path, "--out", work + "/out"], text=True, capture_output=True, timeout=120)
    said = p.stdout + p.stderr
    well = p.returncode in (1, 3) and re.search(says, said)
    print(f"{'ok' if well else 'not ok'} {n} - {name}", flush=True)
    if not well:
        print(f"# exit code {p.returncode}, says not: {says}")
        print("".join(f"#   {line}\n" for line in said.splitlines()[-5:]), end="")
shutil.rmtree(work)
