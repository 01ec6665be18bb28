# SPDX-License-Identifier: MIT
"""Cases over a program that does one thing wrong, each a function; SCRIPT AEROGPU PLANT LAYERS [CASE...] runs them."""
import glob, os, shutil, sqlite3, subprocess, sys, tempfile

aerogpu, plant, layers = map(os.path.abspath, sys.argv[1:4])
SHM = '/dev/shm' if os.path.isdir('/dev/shm') else None
place = tempfile.TemporaryDirectory(prefix='aerogpu-run-test-', dir=SHM)
os.environ['XDG_RUNTIME_DIR'] = place.name  # what others left is not ours
tests = []
# The third draw, and the third dispatch, of eight each; draws are counted behind the dispatches.
DISPATCH, DRAW = 3, 11


def case(fn):
    tests.append(fn)
    return fn


def run(*args, options=(), code=0, env=None, before=()):
    """(what it printed, the dumps that it made); `before`: a command line that runs what follows"""
    folder = tempfile.mkdtemp(prefix='aerogpu-run-test-')
    try:
        p = subprocess.run([aerogpu, 'run', '-o', folder, '--gpu-timeout', '1', *options, '--', *before, plant, *args],
                           capture_output=True, text=True, timeout=200, env={**os.environ, **(env or {})})
        assert p.returncode == code, '%s: exit code %d, expected %d: %s%s' % (args, p.returncode, code, p.stdout, p.stderr)
        dumps = []
        for path in glob.glob(folder + '/*.aerogpudump'):
            db = sqlite3.connect(path)
            db.row_factory = sqlite3.Row
            dumps.append(db)
        return p, dumps
    finally:
        shutil.rmtree(folder)


def finding(dumps):
    assert len(dumps) == 1, len(dumps)
    return dict(dumps[0].execute('SELECT * FROM finding WHERE rank=0').fetchone())


def draw_of(db, f):
    return db.execute('SELECT draw, path, text FROM packet WHERE number=?', (f['packet'],)).fetchone()


def crash(kind, exact, options=(), **kw):
    p, dumps = run(*kind.split(), options=(['--exact'] if exact else []) + list(options), **kw)
    return p, dumps[0] if dumps else None, finding(dumps)


def run_cases():
    wanted = [t for t in tests if not sys.argv[4:] or t.__name__ in sys.argv[4:]]
    failed = False
    print('1..%d' % len(wanted))
    for i, fn in enumerate(wanted):
        try:
            skipped = fn()
            print('ok %d - %s%s' % (i + 1, fn.__name__, ' # SKIP ' + skipped if skipped else ''), flush=True)
        except Exception as e:
            failed = True
            print('not ok %d - %s' % (i + 1, fn.__name__))
            print('# ' + str(e).replace('\n', '\n# '), flush=True)
    sys.exit(failed)
