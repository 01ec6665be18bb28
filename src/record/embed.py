#!/usr/bin/env python3
"""embed.py IN OUT: a file as a list of character codes, for #include inside braces."""
import sys

data = open(sys.argv[1], 'rb').read()
with open(sys.argv[2], 'w') as f:
    for i in range(0, len(data), 24):
        f.write(','.join('%d' % (b - 256 if b > 127 else b) for b in data[i:i + 24]) + (',' if i + 24 < len(data) else '') + '\n')
