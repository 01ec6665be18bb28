#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a linker for programs does not do for a driver: INIT is discarded when DriverEntry has returned, and the checksum is
right, without which Windows does not load it.   pe_finish.py DRIVER"""
import struct
import sys

DISCARDABLE = 0x02000000

with open(sys.argv[1], "r+b") as f:
    image = bytearray(f.read())
    header = struct.unpack_from("<I", image, 60)[0]
    sections, = struct.unpack_from("<H", image, header + 6)
    optional_size, = struct.unpack_from("<H", image, header + 20)
    for i in range(sections):
        at = header + 24 + optional_size + 40 * i
        if image[at:at + 8].rstrip(b"\0") == b"INIT":
            flags, = struct.unpack_from("<I", image, at + 36)
            struct.pack_into("<I", image, at + 36, flags | DISCARDABLE)
    field = header + 24 + 64
    struct.pack_into("<I", image, field, 0)
    words = bytes(image) + b"\0" * (len(image) % 2)
    total = sum(struct.unpack(f"<{len(words) // 2}H", words))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into("<I", image, field, total + len(image))
    f.seek(0)
    f.write(image)
