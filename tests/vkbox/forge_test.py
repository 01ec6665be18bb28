#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""forge_test.py AEROGPU FORGE [CASE...]: what looks as if a dispatch had done it is not blamed on it with certainty, and ends as without the tool."""
import glob, os, signal, sqlite3, subprocess, sys, tempfile, time

aerogpu, forge = sys.argv[1:3]
place = tempfile.TemporaryDirectory(prefix='aerogpu-forge-test-', dir='/dev/shm' if os.path.isdir('/dev/shm') else None)
os.environ['XDG_RUNTIME_DIR'] = place.name  # what others left is not ours
SEGV, ABRT = 128 + signal.SIGSEGV, 128 + signal.SIGABRT
tests = []


def case(fn):
    tests.append(fn)
    return fn


def found(folder):
    dumps = glob.glob(folder + '/*.aerogpudump')
    db = sqlite3.connect(dumps[0]) if dumps else None
    if db:
        db.row_factory = sqlite3.Row
    return dict(db.execute('SELECT * FROM finding WHERE rank=0').fetchone()) if db else None


def start(folder, *args):
    return subprocess.Popen([aerogpu, 'run', '--exact', '-o', folder, '--gpu-timeout', '2', '--', forge, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(*args, code=0):
    """(what was found, what it printed)"""
    with tempfile.TemporaryDirectory(dir=place.name) as folder:
        p = start(folder, *args)
        said = p.communicate(timeout=200)
        assert p.returncode == code, (args, p.returncode, said)
        return found(folder), said[0]


def bare(*args):
    return subprocess.run([forge, *args], capture_output=True, timeout=100).returncode


@case
def a_fault_that_was_queued_is_none():
    for kind in 'queued', 'queued-again':
        assert bare(kind) == -signal.SIGSEGV  # and so it ends below
        f, p = run(kind, code=SEGV)
        assert (f['cause'], f['sure_cause'], f['sure_command']) == ('killed', 'suggested', 'unknown'), (kind, f)
        assert 'as if it were a fault' in f['text'] and 'who sent it' in f['unseen'], (kind, f)


@case
def a_driver_whose_threads_do_not_run_is_not_hung_in_a_command():
    f, p = run('parked', code=128 + signal.SIGALRM)
    assert (f['cause'], f['sure_command'], f['certainty']) == ('hang', 'suggested', 'candidate'), f
    assert 'threads did not run' in f['text'] and 'threads slept' in f['unseen'], f


@case
def code_that_the_program_generated_is_no_shader():
    for kind, said in (('generated', 'in a handler of signals'), ('callback', 'in a call of the driver')):
        f, p = run(kind, code=SEGV)
        assert (f['cause'], f['sure_cause'], f['sure_command']) == ('program', 'suggested', 'unknown'), (kind, f)
        assert said in f['text'] and 'the driver generated' not in f['text'], (kind, f)


@case
def who_a_signal_names_is_not_proven():
    f, p = run('named', code=ABRT)
    assert (f['cause'], f['sure_cause']) == ('killed', 'suggested') and 'as the signal says' in f['text'] and 'who sent it' in f['unseen'], f


@case
def the_end_of_a_child_that_has_the_memory_is_not_the_programs():
    for kind, signum in (('vforked', signal.SIGSEGV), ('vfork-aborts', signal.SIGABRT)):
        f, p = run(kind)
        assert not f and 'the child got signal %d' % signum in p, (kind, f, p)


@case
def what_a_handler_mends_did_not_certainly_go_wrong():
    f, p = run('pages')
    assert 'it is there' in p, p
    assert not f or (f['sure_happened'] == 'suggested' and 'own handler mends it' in f['unseen']), f


@case
def marks_that_something_wrote_over_prove_nothing():
    f, p = run('marks', code=SEGV)
    assert (f['cause'], f['sure_command'], f['packet']) == ('page fault', 'unknown', None), f
    assert 'something wrote over the marks of submission' in f['text'] and 'how far the device came' in f['unseen'], f
    with tempfile.TemporaryDirectory(dir=place.name) as folder:
        p = start(folder, 'marks-hang')
        while not glob.glob(folder + '/*.aerogpudump') and p.poll() is None:
            time.sleep(0.1)
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=60)
        f = found(folder)
    assert f and (f['cause'], f['sure_happened'], f['sure_command']) == ('hang', 'suggested', 'unknown') and 'may hang' in f['text'], f


wanted = sys.argv[3:]
tests = [t for t in tests if not wanted or t.__name__ in wanted]
print('1..%d' % len(tests))
failed = 0
for number, test in enumerate(tests, 1):
    try:
        test()
        print('ok %d - %s' % (number, test.__name__), flush=True)
    except Exception as e:
        failed += 1
        print('not ok %d - %s\n# %s' % (number, test.__name__, str(e).replace('\n', '\n# ')), flush=True)
sys.exit(failed != 0)
