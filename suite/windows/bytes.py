# SPDX-License-Identifier: MIT
"""bytes.py OUT FILE...: a header with an array of the bytes of each file, named as it is up to its first dot."""
import os
import sys

with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write("/* Made by bytes.py. */\n#pragma once\n")
    for path in sys.argv[2:]:
        data = ",".join(str(b) for b in open(path, "rb").read())
        out.write(f"static const unsigned char {os.path.basename(path).split('.')[0]}[] = {{{data}}};\n")
