#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gl_names.py OUT.c HEADER...: the commands of OpenGL, OpenGL ES, EGL and GLX that the headers declare."""
import re
import sys

names = set()
for path in sys.argv[2:]:
    with open(path, encoding='utf-8') as header:
        names |= set(re.findall(r'\b(gl[A-Z]\w+|egl[A-Z]\w+|glX[A-Z]\w+)\s*\(', header.read()))
with open(sys.argv[1], 'w', encoding='utf-8') as out:
    out.write('/* SPDX-License-Identifier: MIT */\n/* Made by gl_names.py. */\n#include "lose/gl_table.h"\n\nconst char *const lose_gl_names[] = {\n')
    out.writelines(f'    "{n}",\n' for n in sorted(names) if len(n) < 64)
    out.write('};\nconst unsigned lose_num_gl_names = sizeof(lose_gl_names) / sizeof(lose_gl_names[0]);\n')
