#!/usr/bin/env python3
"""embed_shaders.py OUT FILE.dxbc...: a header with one array per file."""
import os, sys

with open(sys.argv[1], 'w') as f:
    f.write('#include <stdint.h>\n')
    for path in sys.argv[2:]:
        name = os.path.basename(path).replace('.', '_')
        data = open(path, 'rb').read()
        f.write('static const uint8_t %s[] __attribute__((unused)) = {%s};\n' % (name, ','.join(map(str, data))))
