#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""handlers_test.py AEROGPU HANDLERS [CASE...]: what a program's own handlers of signals see, and how it ends, is the same with the layer as without."""
import glob, os, signal, sqlite3, subprocess, sys, tempfile

aerogpu, program = map(os.path.abspath, sys.argv[1:3])
SHM = '/dev/shm' if os.path.isdir('/dev/shm') else None
place = tempfile.TemporaryDirectory(prefix='aerogpu-handlers-test-', dir=SHM)
os.environ['XDG_RUNTIME_DIR'] = place.name
SEGV = -signal.SIGSEGV
# What it does, how it ends, what it prints (None: whatever it prints without), the cause in its dump (None: there is none; '': whichever) and a word of that.
ROWS = (('reset', SEGV, 'handler\n', 'program', 'itself crashed: SIGSEGV'), ('nodefer', 24, 'mended 2\n', None, ''), ('jumps', 23, 'mended 1\n', None, ''),
        ('jumps 20', 23, 'mended 20\n', None, ''), ('unblocks', 24, 'mended 20\n', None, ''), ('aborts', 23, 'mended 3\n', None, ''),
        ('divides', 23, 'mended 3\n', None, ''), ('exits', 27, '', 'program', 'itself crashed: SIGSEGV'), ('mask', 24, None, None, ''),
        ('returned', SEGV, 'jumped 1\nhandler\n', 'program', 'itself crashed: SIGSEGV'), ('hole', SEGV, '', '', 'SIGSEGV'), ('sends', SEGV, '', 'program', 'sent itself SIGSEGV'),
        ('kills', SEGV, '', 'program', 'sent itself SIGSEGV'))


def go(kind):
    what, code, printed, cause, word = kind
    bare = subprocess.run([program, *what.split()], capture_output=True, text=True, timeout=100)
    assert bare.returncode == code and printed in (None, bare.stdout), bare
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        p = subprocess.run([aerogpu, 'run', '-o', folder, '--', program, *what.split()], capture_output=True, text=True, timeout=100)
        found = [sqlite3.connect(d).execute('SELECT cause, sure_happened, text FROM finding WHERE rank=0').fetchone() for d in glob.glob(folder + '/*.aerogpudump')]
    assert p.returncode == (code if code >= 0 else 128 - code) and p.stdout == bare.stdout, (p, bare)
    assert len(found) == (cause is not None) and all(f[:2] == (cause or f[0], 'proven') and word in f[2] for f in found), (found, p.stderr)


rows = [r for r in ROWS if not sys.argv[3:] or r[0] in sys.argv[3:]]
print('1..%d' % len(rows))
failed = 0
for i, row in enumerate(rows):
    try:
        go(row)
        print('ok %d - %s' % (i + 1, row[0]), flush=True)
    except (AssertionError, subprocess.TimeoutExpired) as e:
        failed += 1
        print('not ok %d - %s\n# %s' % (i + 1, row[0], str(e).replace('\n', '\n# ')), flush=True)
sys.exit(failed > 0)
