#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py [--text] OUT FILE...: a header with one array per file, named as the file is (page.css: page_css).

With --text it is a string, with a zero at its end."""
import os
import re
import sys

text = sys.argv[1] == '--text'
out, *files = sys.argv[1 + text:]
with open(out, 'w') as f:
    f.write('#include <stdint.h>\n')
    for path in files:
        name = re.sub(r'\W', '_', os.path.basename(path))
        with open(path, 'rb') as source:
            data = source.read() + (b'\0' if text else b'')
        values = ','.join(str(b - 256 if text and b > 127 else b) for b in data)
        f.write(f'static const {"char" if text else "uint8_t"} {name}[] __attribute__((unused)) = {{{values}}};\n')
