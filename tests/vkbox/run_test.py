#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_test.py AEROGPU PLANT LAYERS [CASE...]: aerogpu run over a program that does one thing wrong: the verdict, the dump, the exit code."""
import ctypes, glob, json, os, random, resource, shutil, signal, sqlite3, struct, subprocess, sys, tempfile, time

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


@case
def what_is_well_is_left_alone():
    bare = subprocess.run([plant, 'fine'], capture_output=True, text=True, timeout=60)
    for options in ([], ['--exact']):
        p, dumps = run('fine', options=options)
        assert p.stdout == bare.stdout and 'picture' in p.stdout and not p.stderr and not dumps, (bare.stdout, p.stdout, p.stderr)


@case
def a_hang_is_one_of_its_group():
    for kind, path, draw in (('loop-compute', 'frame/simulation', 1), ('loop-fragment', 'frame/shapes', 9),
                             ('loop-vertex', 'frame/shapes', 9)):
        p, db, f = crash(kind, False, code=5)
        assert (f['cause'], f['certainty'], f['sure_happened'], f['sure_command']) == ('hang', 'candidate', 'suggested', 'suggested'), f
        # Slow draws of one pass look the same.
        assert 'hangs or is slow: no group of commands ended for' in f['text'] and 'with --exact' in f['unseen'], f
        assert tuple(draw_of(db, f))[:2] == (draw, path), tuple(draw_of(db, f))
        assert 'aerogpu run --exact' in p.stderr, p.stderr


@case
def exact_mode_names_the_command():
    for kind, path, draw in (('loop-compute', 'frame/simulation', DISPATCH), ('loop-fragment', 'frame/shapes', DRAW),
                             ('loop-vertex', 'frame/shapes', DRAW)):
        _, db, f = crash(kind, True, code=5)
        assert (f['cause'], f['certainty'], f['sure_command']) == ('hang', 'certain', 'proven'), f
        assert tuple(draw_of(db, f))[:2] == (draw, path), tuple(draw_of(db, f))
        slots = dict(db.execute('SELECT slot, what FROM binding WHERE packet=?', (f['packet'],)).fetchall())
        if kind == 'loop-compute':
            assert slots['pipeline'] == 'pipeline "simulate"' and 'compute' in slots, slots
        else:
            assert slots['pipeline'] == 'pipeline "shapes"' and {'vertex', 'pixel', 'framebuffer0'} <= set(slots), slots
        assert db.execute("SELECT count(*) FROM shader WHERE text LIKE '%OpEntryPoint%'").fetchone()[0] > 0


@case
def exact_mode_names_what_a_secondary_command_buffer_draws():
    bare = subprocess.run([plant, '--secondaries', '2', 'fine'], capture_output=True, text=True, timeout=60)
    # The last draw of all, where 64 are told apart in each: one of several there.
    for n, draws, at, sure, region in ((1, 8, 3, 'proven', 'even'), (3, 8, 3, 'proven', 'odd'), (2, 8, 8, 'proven', 'odd'), (1, 70, 70, 'suggested', 'even')):
        options = '--secondaries %d --draws %d --at %d ' % (n, draws, at)
        for kind in 'loop-fragment', 'loop-vertex':
            _, db, f = crash(options + kind, True, code=5)
            assert (f['cause'], f['sure_command']) == ('hang', sure), (options, f)
            assert sure != 'proven' or tuple(draw_of(db, f))[:2] == (draws + at, 'frame/shapes/' + region), (options, tuple(draw_of(db, f)))
            slots = dict(db.execute('SELECT slot, what FROM binding WHERE packet=?', (f['packet'],)).fetchall())
            assert slots['pipeline'] == 'pipeline "shapes"' and {'vertex', 'pixel', 'framebuffer0'} <= set(slots), slots
    for options in ([], ['--exact']):
        p, dumps = run('--secondaries', '2', 'fine', options=options)
        assert p.stdout == bare.stdout and 'picture' in p.stdout and not p.stderr and not dumps, (bare.stdout, p.stdout, p.stderr)


@case
def the_next_run_knows_the_group_and_names_the_command():
    def go(kind, code):
        p = subprocess.run([aerogpu, 'run', '-o', folder, '--gpu-timeout', '1', '--', plant, *kind.split()], capture_output=True, text=True, timeout=60)
        assert p.returncode == code, p
        dumps = glob.glob(folder + '/*.aerogpudump')
        db = sqlite3.connect(dumps[0]) if dumps else None
        for d in dumps:
            os.unlink(d)
        if not db:
            return p, None, None, None
        db.row_factory = sqlite3.Row
        return p, db, finding([db]), db.execute("SELECT value FROM meta WHERE key='markers'").fetchone()[0]
    for kind, draw, lines in (('loop-fragment', DRAW, 1), ('loop-vertex', DRAW, 1), ('--draws 40 --at 37 loop-compute', 37, 1),
                              ('--secondaries 3 loop-fragment', DRAW, 2)):
        with tempfile.TemporaryDirectory(dir=SHM) as folder:
            _, db, f, markers = go(kind, 5)
            assert (f['certainty'], f['source']) == ('candidate', 'group markers') and markers.endswith('one for each group'), (f, markers)
            hint, = glob.glob(folder + '/*.aerogpuhint')
            assert os.path.basename(hint) == 'vkbox_plant.aerogpuhint' and len(open(hint).readlines()) == lines
            p, db, f, markers = go(kind, 5)
            assert (f['certainty'], f['sure_command'], f['source']) == ('certain', 'proven', 'markers of a known group') and draw_of(db, f)[0] == draw, f
            assert markers.endswith('for each command where a run before crashed') and len(open(hint).readlines()) == lines, markers
            # Only there: what stands elsewhere has as many marks as it had.
            fine = ' '.join(kind.split()[:-1] + ['fine'])
            bare = subprocess.run([plant, *fine.split()], capture_output=True, text=True, timeout=60)
            p, db, f, _ = go(fine, 0)
            assert p.stdout == bare.stdout and not p.stderr and db is None, p
            if kind != 'loop-fragment':
                continue
            # A hint that is torn, of another program's or no text is none.
            with open(hint, 'wb') as h:
                h.write(b'\xff' * 100 + b'\nabc\n' + b'0' * 16)
            assert go(kind, 5)[2]['source'] == 'group markers'


@case
def a_wild_access_is_a_page_fault():
    _, db, f = crash('fault', True, code=128 + signal.SIGSEGV)
    assert (f['cause'], f['sure_command'], f['sure_cause']) == ('page fault', 'proven', 'proven'), f
    assert draw_of(db, f)[0] == DISPATCH
    address, kind = db.execute('SELECT address, kind FROM fault').fetchone()
    assert (address, kind) == (0x123456789000, 'not seen'), (hex(address), kind)
    # What the layer did not see may have been there: only what no program can have was never mapped.
    assert 'was seen; nothing is mapped there' in db.execute('SELECT text FROM fault').fetchone()[0]
    _, db, f = crash('code', True, code=128 + signal.SIGSEGV)
    kind, text = db.execute('SELECT kind, text FROM fault').fetchone()
    assert kind == 'not seen' and 'vkbox_plant (r-x) is mapped there' in text, (kind, text)


@case
def an_address_that_the_processor_does_not_say_is_not_told():
    p, db, f = crash('far', True, code=128 + signal.SIGSEGV)
    assert (f['cause'], f['sure_command'], f['sure_cause']) == ('page fault', 'proven', 'suggested') and draw_of(db, f)[0] == DISPATCH, f
    assert 'at an address that the processor does not say' in f['text'] and '0x0' not in f['text'] and 'not canonical' in f['unseen'], f
    assert [tuple(r) for r in db.execute('SELECT address, kind, access FROM fault')] == [(None, None, None)]
    registers = [tuple(r) for r in db.execute('SELECT name, value FROM register')]
    assert any(value == 0x900000001000 for _, value in registers) and '0x900000001000' in f['text'], (registers, f)


@case
def the_memory_of_images_has_a_name():
    _, db, f = crash('freed-image', True, code=128 + signal.SIGSEGV)
    row = db.execute('SELECT f.kind, r.kind FROM fault f JOIN resource r ON r.id=f.resource').fetchone()
    assert row and row[0] == 'use after free' and row[1].startswith('image 1024x1024'), (tuple(row or ()), f)
    assert db.execute("SELECT count(*) FROM resource WHERE kind LIKE 'image%' AND address IS NULL").fetchone()[0] == 0


@case
def freed_memory_has_a_name():
    _, db, f = crash('freed', True, code=128 + signal.SIGSEGV)
    assert f['cause'] == 'page fault' and draw_of(db, f)[0] == DISPATCH, f
    row = db.execute('SELECT f.kind, r.kind, r.destroyed_ns FROM fault f JOIN resource r ON r.id=f.resource '
                     'WHERE r.destroyed_ns IS NOT NULL').fetchone()
    assert row and row[0] == 'use after free' and '"particles"' in row[1], tuple(row or ())
    assert [n for n, in db.execute("SELECT DISTINCT name FROM resource WHERE kind LIKE '%particles%'")] == ['particles']


@case
def between_guard_pages_small_overruns_and_late_uses_fault():
    bare = subprocess.run([plant, 'fine'], capture_output=True, text=True, timeout=60)
    p, dumps = run('fine', options=['--guard'])
    assert p.stdout == bare.stdout and not p.stderr and not dumps, (bare.stdout, p.stdout, p.stderr)
    for kind, draw, fault in (('over', DISPATCH, 'out of bounds'), ('over-vertex', DRAW, 'out of bounds'), ('copy-over', None, 'out of bounds'),
                              ('small-freed', DISPATCH, 'use after free'), ('late-set', DISPATCH, 'use after free')):
        _, db, f = crash(kind, True, options=['--guard'], code=128 + signal.SIGSEGV)
        assert f['cause'] == 'page fault' and draw_of(db, f)[0] == draw, (kind, f)
        if draw is None:
            assert draw_of(db, f)['text'].startswith('vkCmdCopyBuffer('), (kind, tuple(draw_of(db, f)))
        row = db.execute('SELECT f.kind, f.distance, f.text, r.kind FROM fault f JOIN resource r ON r.id=f.resource').fetchone()
        assert row and row[0] == fault and '"particles"' in row[3], (kind, tuple(row or ()), f)
        # The address is a fact, its owner a guess: what else the command reaches may have led there.
        assert f['sure_memory'] == 'suggested' and 'whether the address was reached through another: buffer' in f['unseen'], (kind, f)
        assert '"particles"' not in f['unseen'], (kind, f)
        assert fault != 'out of bounds' or row[1] <= 64 and 'behind the end of buffer' in row[2], (kind, tuple(row))


@case
def guards_leave_the_program_its_mappings():
    p, dumps = run('maps', options=['--guard'])
    assert 'mapped 1, thread 0' in p.stdout and not dumps, (p.stdout, p.stderr)
    assert p.stderr.count('what it allocates beyond them is not guarded') == 1, p.stderr


@case
def the_programs_own_overruns_are_named():
    for kind, fault in (('host-over', 'out of bounds'), ('host-freed', 'use after free')):
        p, db, f = crash(kind, False, options=['--guard'], code=128 + signal.SIGSEGV)
        address, found, access, what = db.execute('SELECT f.address, f.kind, f.access, r.kind FROM fault f JOIN resource r ON r.id=f.resource').fetchone()
        assert (found, access) == (fault, 'write') and '"particles"' in what, (kind, found, access, what)
        assert (f['cause'], f['sure_memory']) == ('program', 'suggested') and 'accessing 0x%x' % address in f['text'], (kind, f)
    _, db, f = crash('wild', False, options=['--guard'], code=128 + signal.SIGSEGV)
    assert not db.execute('SELECT count(*) FROM fault').fetchone()[0] and f['sure_memory'] is None, f


@case
def call_stacks_say_who_it_was():
    p, db, f = crash('freed', True, code=128 + signal.SIGSEGV)
    for line in ('submission %d was submitted by frame (plant.c:' % f['submission'], 'buffer "particles" was created by make_buffer (plant_device.c:',
                 'buffer "particles" was destroyed by bad_address (plant.c:', 'pipeline "simulate" was created by make_'):
        assert line in p.stderr or line.replace('by frame (', 'by main (') in p.stderr, p.stderr  # some are inlined
    rows = db.execute("SELECT module, build_id FROM stack WHERE what='destroyed' AND depth=0").fetchall()
    assert rows and all(r[0] == 'vkbox_plant' and len(r[1]) == 40 for r in rows), rows


@case
def of_a_long_array_of_descriptors_what_is_gone_is_told():
    _, db, f = crash('loop-array', True, code=5)
    assert f['cause'] == 'hang', f
    slots = dict(db.execute('SELECT slot, what FROM binding WHERE packet=?', (f['packet'],)).fetchall())
    assert '"particles"' in slots['set1.0[900]'] and '"results"' in slots['set1.0[3]'], slots
    stale = [t for t, in db.execute('SELECT text FROM finding WHERE rank>0')]
    assert any(t.startswith('set1.0[900] of the command is buffer "particles", which was destroyed') for t in stale), stale


@case
def what_a_set_names_is_told():
    _, db, f = crash('loop-set', True, code=5)
    slots = dict(db.execute('SELECT slot, what FROM binding WHERE packet=?', (f['packet'],)).fetchall())
    assert slots['set0.0'].startswith('storage buffer, ') and slots['set0.0'].endswith(', destroyed'), slots
    also = [r[0] for r in db.execute('SELECT text FROM finding WHERE rank>0')]
    assert any(t.startswith('set0.0 of the command is buffer ') and 'which was destroyed before the submission' in t for t in also), also
    _, db, f = crash('loop-fragment', True, code=5)
    slots = dict(db.execute('SELECT slot, what FROM binding WHERE packet=?', (f['packet'],)).fetchall())
    assert slots['set0.0'] == 'storage buffer, from 0: buffer "results"', slots
    assert not db.execute('SELECT 1 FROM finding WHERE rank>0').fetchone()


@case
def extensions_that_the_driver_lacks_are_there():
    offers = os.path.join(os.path.dirname(plant), 'vkbox_offers')
    bare = subprocess.run([offers, 'plain'], capture_output=True, text=True, timeout=60).stdout
    if not bare.startswith('0 of 4'):
        return 'the driver has some of them'
    for options in ([], ['--exact']):
        with tempfile.TemporaryDirectory() as folder:
            p, q = (subprocess.run([aerogpu, 'run', '-o', folder, '--gpu-timeout', '1', *options, '--', offers, kind], capture_output=True,
                                   text=True, timeout=60) for kind in ('plain', 'hang'))
            db = sqlite3.connect(*glob.glob(folder + '/*.aerogpudump'))
            subprocess.run([aerogpu, 'report', '--html', folder + '/page', *glob.glob(folder + '/*.aerogpudump')], check=True, capture_output=True, timeout=60)
            page = open(folder + '/page').read()
        assert p.stdout.splitlines() == ['4 of 4 extensions, 4 by name, features 1 1', 'waited: 0', 'markers 8 8', 'checkpoint top 8', 'checkpoint bottom 8',
                                         'fault: Nothing is known of a fault (0 addresses)', 'addresses: buffers 2 1, images 1 1, memory 3 1'], p
        lines = q.stdout.splitlines()
        assert lines[1:5] == ['waited: -4', 'markers 3 2', 'checkpoint top 3', 'checkpoint bottom 2'], q
        # What the program asks for the dump has as well, and the report.
        told = db.execute('SELECT which, kind, pointer FROM checkpoint ORDER BY which DESC').fetchall()
        assert told == [('top', 'pointer', 3), ('bottom', 'pointer', 2)], told
        for text in q.stderr, page:
            assert 'reached' in text and 'pointer 0x3 (submission 1, packet ' in text and 'pointer 0x2 (submission 1, packet ' in text, text
        assert lines[5].startswith('fault: ') and 'ispatch 3 (vkCmdDispatch)' in lines[5] and 'does not finish' in lines[5], q


@case
def what_is_left_at_work_hangs_all_the_same():
    for kind, did in (('recorded-anew', 'recorded anew'), ('freed-buffer', 'freed')):
        _, db, f = crash(kind, True, code=5)
        assert (f['cause'], f['sure_command']) == ('hang', 'proven') and draw_of(db, f)[0] == DISPATCH, (kind, f)
        also = [r[0] for r in db.execute('SELECT text FROM finding WHERE rank>0')]
        assert 'The program %s the command buffer while the device was at it' % did in also, also


@case
def a_program_recovers():
    p, dumps = run('--recover', '--frames', '6', 'loop-vertex')  # llvmpipe's rasteriser serves all devices of a process
    assert 'the device was lost' in p.stdout and '6 frames' in p.stdout and len(dumps) == 1, p.stdout


@case
def a_device_behind_a_hang_is_lost_as_well():
    p, dumps = run('--recover', 'loop-fragment', code=5)  # what is made again waits for the rasteriser
    behind = p.stderr.count('makes no progress after the hang either')
    assert len(dumps) == 1 and behind >= 1 and p.stdout.count('the device was lost') >= 2, (p.stdout, p.stderr)


@case
def of_a_submission_all_command_buffers_are_seen():
    _, db, f = crash('batch', True, code=5)
    assert (f['cause'], f['sure_command'], f['submission']) == ('hang', 'proven', 3) and draw_of(db, f)[0] == DISPATCH, f


@case
def what_runs_another_program_instead_hangs_no_more():
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        p = subprocess.run([aerogpu, 'run', '-o', folder, '--gpu-timeout', '1', '--', plant, 'becomes'], capture_output=True, text=True, timeout=100)
        assert p.returncode == 0 and not glob.glob(folder + '/*.aerogpudump'), (p.returncode, p.stderr)


@case
def what_waits_for_nobody_is_said():
    for kind in 'dead-wait', 'dead-waits', 'spent-wait':
        _, db, f = crash(kind, False, code=128 + signal.SIGALRM)
        assert f['cause'] == 'waiting' and 'it waits for semaphore "never", which no submission signals' in f['text'], f
    _, db, f = crash('stray', False, code=128 + signal.SIGSEGV)
    assert 'names a command buffer that was never allocated, or is freed' in f['text'], f


@case
def the_programs_own_crashes_are_its_own():
    for kind, sig in (('abort', signal.SIGABRT), ('wild', signal.SIGSEGV)):
        _, _, f = crash(kind, False, code=128 + sig)
        assert (f['cause'], f['submission']) == ('program', None) and 'SIG' in f['text'], f


@case
def a_call_with_a_stale_handle_is_the_programs():
    for exact in (False, True):
        _, _, f = crash('stale', exact, code=128 + signal.SIGSEGV)
        assert (f['cause'], f['submission'], f['sure_cause']) == ('program', None, 'suggested'), f
        assert 'in a call of the driver' in f['text'], f


@case
def what_a_program_handles_is_its_own():
    p, dumps = run('handled')
    assert not dumps and '5 frames' in p.stdout, p
    _, db, f = crash('fault-handled', True, code=42)
    assert f['cause'] == 'page fault' and draw_of(db, f)[0] == DISPATCH, f


@case
def a_signal_that_no_handler_saw_is_told_with_what_the_device_was_at():
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        p = subprocess.Popen([aerogpu, 'run', '--exact', '--gpu-timeout', '600', '-o', folder, '--', plant, 'loop-compute'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(3)
        os.kill(int(open('/proc/%d/task/%d/children' % (p.pid, p.pid)).read().split()[0]), signal.SIGTRAP)
        said = p.communicate(timeout=60)[1]
        assert p.returncode == 128 + signal.SIGTRAP and 'SIGTRAP ended the program; the device was at dispatch 3 (vkCmdDispatch) in frame/simulation of submission 3.' in said, said


@case
def what_a_handler_ends_is_the_crash_that_it_was_called_for():
    # Those of crash reporters take themselves away and send the signal again; some never come back.
    _, db, f = crash('--reports copy-over', True, options=['--guard'], code=128 + signal.SIGSEGV)
    assert f['cause'] == 'page fault' and draw_of(db, f)['text'].startswith('vkCmdCopyBuffer('), f
    assert 'handler' not in (f['unseen'] or ''), f
    _, db, f = crash('--reports wild', True, code=128 + signal.SIGSEGV)
    assert f['cause'] == 'program' and 'SIGSEGV in thread' in f['text'], f
    # What the driver's threads do while it ends the program is no crash of its own.
    _, db, f = crash('abort-fault', True, code=128 + signal.SIGSEGV)
    assert f['cause'] == 'program' and 'SIGABRT in thread' in f['text'], f
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        p = subprocess.Popen([aerogpu, 'run', '-o', folder, '--', plant, '--stands', 'wild'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(3)
        assert not glob.glob(folder + '/*.aerogpudump'), os.listdir(folder)
        p.terminate()
        said = p.communicate(timeout=60)[1]
        assert 'The program itself crashed: SIGSEGV in thread' in said and len(glob.glob(folder + '/*.aerogpudump')) == 1, said


@case
def what_a_handler_stands_in_for_a_time_out_is_told_as_a_crash_that_may_be_none():
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        p = subprocess.Popen([aerogpu, 'run', '--gpu-timeout', '1', '-o', folder, '--', plant, '--stands', 'wild'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True)
        end = time.monotonic() + 60
        while not glob.glob(folder + '/*.aerogpudump') and time.monotonic() < end:
            time.sleep(0.1)
        db = sqlite3.connect(*glob.glob(folder + '/*.aerogpudump'))
        db.row_factory = sqlite3.Row
        f = finding([db])
        assert f['cause'] == 'program' and 'SIGSEGV in thread' in f['text'], f
        assert f['sure_happened'] == 'suggested' and 'own handler mends it' in f['unseen'], f
        p.terminate()
        said = p.communicate(timeout=60)[1]
        assert p.returncode == 128 + signal.SIGTERM and len(glob.glob(folder + '/*.aerogpudump')) == 1, (p.returncode, said)
    # One that left its handler by a jump stands nowhere.
    p, dumps = run('handled-idle')
    assert not dumps and '5 frames' in p.stdout, p


@case
def handlers_that_are_installed_later_are_called_and_the_fault_is_seen():
    for kind, code in (('fault-late', 42), ('fault-chained', 128 + signal.SIGSEGV)):
        p, db, f = crash(kind, True, code=code)
        assert (f['cause'], f['sure_command']) == ('page fault', 'proven') and draw_of(db, f)[0] == DISPATCH, (kind, f)
        assert ('chained' in p.stdout) == (kind == 'fault-chained'), p  # each thread of the driver's that faults


@case
def more_command_buffers_than_are_kept_are_told():
    p, dumps = run('crowd')
    assert '5 frames' in p.stdout and not dumps and 'more command buffers at once than are kept' in p.stderr, p


@case
def a_wait_for_an_event_is_named_and_may_end():
    for options in ([], ['--exact']):
        _, dumps = run('event', options=options, code=128 + signal.SIGALRM)
        found = {f['cause']: (db, f) for db in dumps for f in [finding([db])]}
        assert set(found) == {'waiting', 'killed'}, found  # then an alarm ends it
        db, f = found['waiting']
        assert f['sure_happened'] == 'suggested' and draw_of(db, f)['text'].startswith('vkCmdWaitEvents('), f


@case
def a_copy_by_the_device_is_the_devices():
    _, db, f = crash('copy-freed', True, code=128 + signal.SIGSEGV)
    assert f['cause'] == 'page fault' and draw_of(db, f)['text'].startswith('vkCmdCopyBuffer('), (f, tuple(draw_of(db, f)))
    assert db.execute('SELECT kind FROM fault').fetchone()[0] == 'use after free'


@case
def destroying_a_device_at_work_ends_as_without():
    bare = subprocess.run([plant, 'destroy'], capture_output=True, text=True, timeout=60)
    p, _ = run('destroy', code=bare.returncode)
    assert p.stdout == bare.stdout, (p, bare)


@case
def where_dumps_go_is_checked_first():
    p = subprocess.run([aerogpu, 'run', '-o', '/proc/1/x', '--', plant, 'fine'], capture_output=True, text=True, timeout=60)
    assert p.returncode == 4 and '/proc/1/x' in p.stderr and not p.stdout, p


@case
def a_name_that_somebody_took_prevents_no_dump():
    # Whoever may write there knows the program's name and number, and the time.
    take = 'import os, sys, time\n' \
           'for s in range(100):\n' \
           '    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(time.time() - 2 + s))\n' \
           '    open("%s/vkbox_plant-%s-%d-1.aerogpudump" % (sys.argv[1], stamp, os.getpid()), "w").close()\n' \
           'os.execv(sys.argv[2], sys.argv[2:])\n'
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        p = subprocess.run([aerogpu, 'run', '-o', folder, '--', sys.executable, '-c', take, folder, plant, 'fault'], capture_output=True, text=True, timeout=60)
        made = [f for f in glob.glob(folder + '/*.aerogpudump') if os.path.getsize(f)]
        assert len(made) == 1 and len(glob.glob(folder + '/*')) == 102, (os.listdir(folder), p.stderr)  # a hint as well
        db = sqlite3.connect(made[0])
        db.row_factory = sqlite3.Row
        assert finding([db])['cause'] == 'page fault' and made[0] in p.stderr and 'no dump' not in p.stderr, p.stderr


@case
def scripts_without_an_interpreter_run():
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + '/s', 'w') as f:
            f.write('exit 9\n')
        os.chmod(folder + '/s', 0o755)
        assert subprocess.run([aerogpu, 'run', '--', folder + '/s'], capture_output=True, timeout=60).returncode == 9


@case
def what_could_be_several_is_not_certain():
    for kind in ('twice', 'two'):
        _, db, f = crash(kind, True, code=5)
        assert (f['cause'], f['sure_command']) == ('hang', 'suggested') and 'which' in f['unseen'], (kind, f)
        assert draw_of(db, f)[0] == DISPATCH, (kind, tuple(draw_of(db, f)))
        # Which queue it was is said where there are several, and what the others were at.
        queue = ' on queue 0 of family 0 of device 0x'
        assert f['text'].count(queue) == (2 if kind == 'two' else 0), f
        assert kind != 'two' or f['text'].index(queue) < f['text'].index(' does not finish; at work as well: submission '), f


@case
def a_hang_with_thousands_behind_it_is_seen():
    _, db, f = crash('many', True, code=5)
    assert (f['cause'], f['sure_command']) == ('hang', 'proven') and draw_of(db, f)[0] == DISPATCH, f


@case
def names_do_not_reach_the_terminal():
    p, _, _ = crash('escape', True, code=5)
    assert '<U+001B>]0;title<U+0007>simulate' in p.stderr and '\x1b' not in p.stderr and '\x07' not in p.stderr, p.stderr


@case
def names_are_whole_and_run_forward():
    p, db, f = crash('names', True, code=5, env={'HOME': '/tmp', 'A_SECRET': 'ENVIRONMENT-TEXT'})
    assert '\u202e' not in p.stderr and '<U+202E>etalumis the particles of this frame: \u00e9' in p.stderr, p.stderr
    assert '\ufffd' not in p.stderr and 'of this frame: \u00e9\u2026"' in p.stderr, p.stderr
    assert draw_of(db, f)['path'] == 'a label of which the fifty-ninth character of all is this\u2026/simulation', draw_of(db, f)['path']


@case
def a_program_is_called_what_can_be_seen():
    with tempfile.TemporaryDirectory() as folder:
        name = 'p\x1b\u009b\u202ecod\x7f\u2066\u00e9'
        shutil.copy(plant, folder + '/' + name)
        os.mkdir(folder + '/dumps\u202e')
        p = subprocess.run([aerogpu, 'run', '--json', '--exact', '--gpu-timeout', '1', '-o', folder + '/dumps\u202e', '--', folder + '/' + name, 'loop-compute'],
                           capture_output=True, text=True, timeout=60)
        dump, = os.listdir(folder + '/dumps\u202e')
        hidden = '\x1b\u009b\u202e\x7f\u2066'
        assert not [c for c in hidden if c in p.stdout + p.stderr], p
        assert not [c for c in hidden if c in dump] and '\u00e9' in dump, dump
        j = json.loads(p.stdout)
        assert '\u202e' in j['dumps'][0]['path'] and name in json.dumps(j, ensure_ascii=False).replace('\\u007f', '\x7f').replace('\\u001b', '\x1b'), j['dumps'][0]['path']
        q = subprocess.run([aerogpu, 'no\u202ecommand\x9b'], capture_output=True, text=True, timeout=60)
        assert '\u202e' not in q.stderr and '\x9b' not in q.stderr and 'no<U+202E>command' in q.stderr, q
        q = subprocess.run([aerogpu, 'show', '/no\u202esuch\x9b'], capture_output=True, text=True, timeout=60)
        assert '\u202e' not in q.stderr and '\x9b' not in q.stderr and '<U+202E>' in q.stderr, q


@case
def nothing_private_is_in_a_dump():
    for kind in ('names', 'freed'):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([aerogpu, 'run', '--exact', '--gpu-timeout', '1', '-o', folder, '--', plant, kind], capture_output=True, timeout=60,
                           env={**os.environ, 'HOME': os.path.dirname(plant), 'A_SECRET': 'ENVIRONMENT-TEXT'})
            dump, = glob.glob(folder + '/*.aerogpudump')
            subprocess.run([aerogpu, 'report', '--html', folder + '/page', dump], check=True, timeout=60)
            page = open(folder + '/page').read()
            assert kind != 'names' or ('&lt;U+202E&gt;etalumis' in page and '\u202e' not in page), page
            bytes_ = open(dump, 'rb').read()
            assert b'vkbox_plant' in bytes_
            for text in ('RESOURCE-BYTES', 'ENVIRONMENT-TEXT', 'A_SECRET', os.path.dirname(plant), '/home/', folder):
                assert text.encode() not in bytes_, text


@case
def the_report_fits_a_screen_and_shows_the_source():
    for kind, line in (('loop-fragment', 'shape.frag:9: for (uint i = 0;'), ('loop-compute', 'work.comp:13: for (uint i = 0;'), ('many', ''),
                       ('freed', 'work.comp:17: Word(push.address).word += n;')):
        p, _ = run(kind, options=['--exact'], code=128 + signal.SIGSEGV if kind == 'freed' else 5)
        assert len(p.stderr.strip().splitlines()) <= 41, p.stderr  # the last one is the program's
        assert line in p.stderr and p.stderr.index('the dump is') > p.stderr.index('What to try next'), p.stderr


@case
def all_of_it_is_json():
    p, dumps = run('loop-vertex', options=['--json'], code=5)
    j = json.loads(p.stdout)
    assert (j['exit_code'], j['signal'], j['processes']) == (5, None, 1) and len(j['dumps']) == len(dumps) == 1
    assert j['dumps'][0]['report']['cause'] == 'hang' and j['dumps'][0]['report']['tables']['packet'], j['dumps'][0]['report'].keys()


@case
def a_child_that_crashes_is_no_affair_of_the_box():
    p, dumps = run('fork')
    assert 'the child got signal 11' in p.stdout and '5 frames' in p.stdout and not dumps, p


@case
def a_limit_on_files_is_no_signal():
    p = subprocess.run([aerogpu, 'run', '--', plant, 'fine'], capture_output=True, text=True, timeout=60,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    assert p.returncode == 0 and '5 frames' in p.stdout, p


@case
def slow_is_given_its_time():
    _, dumps = run('--groups', '60', 'slow', options=['--gpu-timeout', '30'])
    assert not dumps


@case
def a_stop_is_no_time_without_progress():
    """Work of two seconds, stopped for most of a time-out of four and let go on before that is over."""
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.Popen([aerogpu, 'run', '-o', folder, '--gpu-timeout', '4', '--', plant, '--groups', '4000', 'slow'],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        ran, pid, tick = 0, 0, os.sysconf('SC_CLK_TCK')
        while ran < 0.5 and p.poll() is None:
            time.sleep(0.01)
            try:
                pid = int(open('/proc/%d/task/%d/children' % (p.pid, p.pid)).read().split()[0])
                ran = int(open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[11]) / tick
            except (OSError, IndexError):
                pass
        os.kill(pid, signal.SIGSTOP)
        time.sleep(3.2)
        os.kill(pid, signal.SIGCONT)
        said = p.communicate(timeout=120)[1]
        assert p.returncode == 0, (p.returncode, said)
        assert not glob.glob(folder + '/*.aerogpudump'), said


@case
def killed_from_outside_is_nobodys_fault():
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.Popen([aerogpu, 'run', '-o', folder, '--', plant, 'sleep'], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        pid = int(p.stdout.readline())
        os.kill(pid, signal.SIGKILL)
        p.wait(60)
        assert p.returncode == 128 + signal.SIGKILL
        db = sqlite3.connect(glob.glob(folder + '/*.aerogpudump')[0])
        assert db.execute('SELECT cause, submission FROM finding').fetchone() == ('killed', None)


def killed_behind(launcher, sig, folder):
    """(exit code, what was said, (cause, certainty, text) of each dump) of a program that another started, and that is sent a signal"""
    p = subprocess.Popen([aerogpu, 'run', '-o', folder, '--', *launcher], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env=dict(os.environ, XDG_RUNTIME_DIR=folder))
    os.kill(int(p.stdout.readline()), sig)
    said = p.communicate(timeout=60)[1]
    found = [sqlite3.connect(d).execute('SELECT cause, sure_cause, text FROM finding').fetchone() for d in glob.glob(folder + '/*.aerogpudump')]
    assert os.listdir(folder) == [os.path.basename(d) for d in glob.glob(folder + '/*.aerogpudump')], os.listdir(folder)
    return p.returncode, said, found


@case
def who_is_killed_behind_what_started_it_has_a_dump():
    by_shell = lambda then: ['sh', '-c', '"$0" sleep%s' % then, plant]
    for launcher, code in ((['timeout', '100', plant, 'sleep'], 137), (by_shell('; exit $?'), 137), (by_shell(' & wait $!'), 137), (['env', 'A=1', 'nice', plant, 'sleep'], 137)):
        with tempfile.TemporaryDirectory(dir=SHM) as folder:
            returned, said, found = killed_behind(launcher, signal.SIGKILL, folder)
            # Where the kernel does not tell, the launcher's exit code does, if it was quick enough to be told first.
            assert returned == code and len(found) == 1 and found[0][0] == 'killed' and 'SIGKILL' in found[0][2], (launcher, returned, said, found)
            assert (found[0][1] == 'suggested') == ('exit code of what started it' in found[0][2]), found
    # By these the parts of a program end one another; that it was the program's end says its exit code.
    for launcher, dumps in ((by_shell('; true'), 0), (by_shell('; exit $?'), 1)):
        with tempfile.TemporaryDirectory(dir=SHM) as folder:
            returned, said, found = killed_behind(launcher, signal.SIGTERM, folder)
            assert len(found) == dumps, (launcher, returned, said, found)


@case
def who_is_left_by_what_started_it_is_watched_to_its_end():
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        started = ['sh', '-c', '"$0" sleep > "$1" & while ! [ -s "$1" ]; do sleep 0.05; done; cat "$1"; sleep 0.5; exit 3', plant, folder + '/number']
        p = subprocess.Popen([aerogpu, 'run', '-o', folder, '--', *started], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pid = int(p.stdout.readline())
        line = p.stderr.readline()
        assert 'process %d (vkbox_plant), which it left, is watched to its end' % pid in line, line
        os.kill(pid, signal.SIGKILL)
        said = p.communicate(timeout=60)[1]
        dumps = glob.glob(folder + '/*.aerogpudump')
        assert p.returncode == 3 and len(dumps) == 1 and 'SIGKILL ended the program' in said, (p.returncode, said)
        # Its files are gone with it; their names are not.
        assert 'make_device (plant_device.c:' in said or 'was created by' not in said, said


@case
def a_record_that_is_cut_ends_neither_the_watching_nor_the_program():
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.Popen([aerogpu, 'run', '-o', folder, '--', plant, 'sleep'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pid = int(p.stdout.readline())
        record, = glob.glob('%s/aerogpu-blackbox-*/aerogpu-record-*/%d.*' % (place.name, pid))
        while record not in open('/proc/%d/maps' % p.pid).read():
            time.sleep(0.01)
        os.truncate(record, 0)
        time.sleep(0.5)
        assert p.poll() is None, p.communicate()
        os.kill(pid, signal.SIGKILL)
        said = p.communicate(timeout=60)[1]
        assert p.returncode == 128 + signal.SIGKILL and 'a process shortened its record %d.' % pid in said, (p.returncode, said)


@case
def who_sent_a_signal_is_not_what_the_sender_says():
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.Popen([aerogpu, 'run', '-o', folder, '--', plant, 'sleep'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pid = int(p.stdout.readline())
        # siginfo_t: number, errno, SI_QUEUE, and a process that never sent it.
        info = struct.pack('iiiiii', signal.SIGSEGV, 0, -1, 0, 1, 0).ljust(128, b'\0')
        RT_SIGQUEUEINFO = {'x86_64': 129}.get(os.uname().machine, 138)
        assert ctypes.CDLL(None).syscall(RT_SIGQUEUEINFO, pid, int(signal.SIGSEGV), info) == 0
        p.communicate(timeout=60)
        assert p.returncode == 128 + signal.SIGSEGV, p.returncode
        db = sqlite3.connect(glob.glob(folder + '/*.aerogpudump')[0])
        cause, sure, text, unseen = db.execute('SELECT cause, sure_cause, text, unseen FROM finding').fetchone()
        assert (cause, sure) == ('killed', 'suggested') and 'SIGSEGV was sent to the program' in text and 'rocess 1 ' not in text, (cause, sure, text)
        assert 'who sent it' in unseen, unseen


@case
def the_record_is_readable_up_to_the_last_frame():
    for n in range(8):
        with tempfile.TemporaryDirectory() as folder:
            p = subprocess.Popen([aerogpu, 'run', '-o', folder, '--', plant, '--frames', '1000000', '--draws', '1', 'count'],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            child, first = int(p.stdout.readline()), p.stdout.readline()
            time.sleep(random.random() / 4)
            os.kill(child, signal.SIGKILL)
            lines = [first] + p.stdout.read().splitlines()
            assert p.wait(60) == 128 + signal.SIGKILL
            db = sqlite3.connect(glob.glob(folder + '/*.aerogpudump')[0])
            last, = db.execute('SELECT max(id) FROM submission').fetchone()
            assert int(lines[-1]) <= last <= int(lines[-1]) + 2, (lines[-1], last)


@case
def instances_and_devices_come_and_go():
    _, _, f = crash('--again 40 abort', False, code=128 + signal.SIGABRT)
    assert f['cause'] == 'program' and 'SIGABRT in thread' in f['text'], f


@case
def exit_codes_are_passed_on():
    p = subprocess.run([aerogpu, 'run', '--', 'sh', '-c', 'exit 7'], capture_output=True, text=True, timeout=60)
    assert p.returncode == 7 and 'made no Vulkan instance' in p.stderr, p
    p = subprocess.run([aerogpu, 'run', '--', '/no/such/program'], capture_output=True, text=True, timeout=60)
    assert p.returncode == 4 and 'cannot run /no/such/program' in p.stderr, p
    p = subprocess.run([aerogpu, 'run', '--', plant, 'fine'], capture_output=True, text=True, timeout=60, env=dict(os.environ, AEROGPU_BLACKBOX_LAYER='/etc/passwd'))
    assert p.returncode == 4 and p.stderr.startswith('aerogpu run: /etc/passwd is no manifest of VK_LAYER_AEROGPU_blackbox') and not p.stdout, p
    # What keeps the layer out, and what nobody watches, is said.
    p = subprocess.run([aerogpu, 'run', '--', 'env', '-i', plant, 'fine'], capture_output=True, text=True, timeout=60)
    assert p.returncode == 0 and 'keeps the layer out' in p.stderr, p
    p = subprocess.run([aerogpu, 'run', '--', 'sh', '-c', '"$0" fine; sleep 3 >&- 2>&- & exit 3', plant], capture_output=True, text=True, timeout=60)
    assert p.returncode == 3 and p.stderr.count('made no Vulkan instance, runs on, unwatched') == 1, p


@case
def what_a_program_leaves_behind_is_watched_if_it_is_asked_for():
    late = 'sleep 1; setsid "$0" %s >/dev/null 2>&1 </dev/null & exit 3'
    for kind, found in ('wild', 1), ('fine', 0):
        with tempfile.TemporaryDirectory(dir=SHM) as folder:
            p = subprocess.run([aerogpu, 'run', '--all', '-o', folder, '--', 'sh', '-c', 'sh -c %s "$0"; exit 3' % repr(late % kind), plant], capture_output=True, text=True, timeout=100)
            dumps = glob.glob(folder + '/*.aerogpudump')
            assert p.returncode == 3 and p.stderr.count('what it started is watched until the last of it has') == 1 and len(dumps) == found, (kind, p, dumps)
    with tempfile.TemporaryDirectory(dir=SHM) as folder:  # and asked to end, it ends
        p = subprocess.Popen([aerogpu, 'run', '--all', '-o', folder, '--', 'sh', '-c', 'sleep 300 >/dev/null 2>&1 </dev/null & echo $!'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        left, said = int(p.stdout.readline()), p.stderr.readline()
        p.terminate()
        assert p.wait(60) == 0 and 'watched until the last' in said, (p.returncode, said)
        os.kill(left, signal.SIGKILL)


def left_record(ends, folder, more={}):
    """What `aerogpu run` says of what the layer alone kept of a program that `ends` ends."""
    env = dict(os.environ, XDG_RUNTIME_DIR=folder, AEROGPU_BLACKBOX='1', XDG_DATA_HOME=folder + '/data', **more)
    os.makedirs(folder + '/data/vulkan/implicit_layer.d', exist_ok=True)
    manifest = json.load(open(layers + '/implicit.manifest'))
    manifest['layer']['library_path'] = layers + '/libVkLayer_AEROGPU_blackbox.so'
    with open(folder + '/data/vulkan/implicit_layer.d/a.json', 'w') as f:
        json.dump(manifest, f)
    p = subprocess.Popen([plant, ends], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
    if ends == 'sleep':
        os.kill(int(p.stdout.readline()), signal.SIGKILL)
    p.communicate(timeout=60)
    return said_of_left(folder)


def said_of_left(folder):
    p = subprocess.run([aerogpu, 'run', '-o', folder, '--', 'true'], capture_output=True, text=True, timeout=60,
                       env=dict(os.environ, XDG_RUNTIME_DIR=folder))
    assert p.returncode == 0, p
    dumps = glob.glob(folder + '/*.aerogpudump')
    found = [sqlite3.connect(d).execute('SELECT cause, submission, text, sure_command, sure_cause, unseen FROM finding').fetchone() for d in dumps]
    p.images = [a for d in dumps for a, in sqlite3.connect(d).execute("SELECT address FROM resource WHERE kind LIKE 'image%' ORDER BY address")]
    for d in dumps:
        os.unlink(d)
    return p, found


@case
def what_nobody_watched_is_found_by_the_next():
    for ends, cause, text in (('fine', None, ''), ('sleep', 'killed', 'was ended'), ('wild', 'program', 'SIGSEGV in thread')):
        with tempfile.TemporaryDirectory(dir=SHM) as folder:
            _, found = left_record(ends, folder)
            assert len(found) == (cause is not None), (ends, found)
            assert not found or found[0][0] == cause and found[0][1] is None and text in found[0][2], (ends, found)
            assert not glob.glob(folder + '/aerogpu-*/*'), (ends, glob.glob(folder + '/*/*'))
            assert said_of_left(folder)[1] == [], ends


@case
def a_file_of_settings_asks_for_what_the_environment_does_not_name():
    base = dict(os.environ, VK_ADD_LAYER_PATH=layers, VK_INSTANCE_LAYERS='VK_LAYER_AEROGPU_blackbox')
    for text, env, dump, source in (('aerogpu_blackbox.record = true # always\n\n khronos_validation.exact = 7\naerogpu_blackbox.exact=TRUE', {}, True, 'exact markers'),
                                    ('aerogpu_blackbox.record = 1\n', {}, True, 'group markers'), ('aerogpu_blackbox.record = true\n', {'AEROGPU_BLACKBOX': ''}, False, ''),
                                    ('aerogpu_blackbox.record = false\naerogpu_blackbox.exact = yes\n', {}, False, 'line 2: exact is neither true nor false'),
                                    ('\naerogpu_blackbox.exakt = true\n', {}, False, "line 2: there is no setting 'exakt'"), (None, {}, False, ''), ('x' * 70000, {}, False, '')):
        for by_folder in (True, False):
            with tempfile.TemporaryDirectory(dir=SHM) as folder:
                path = folder + '/vk_layer_settings.txt'
                if text is None:
                    os.mkfifo(path)
                else:
                    with open(path, 'w') as f:
                        f.write(text)
                named = {'VK_LAYER_SETTINGS_PATH': folder if by_folder else path} if text != 'aerogpu_blackbox.record = 1\n' else {}
                p = subprocess.run([plant, 'fault'], capture_output=True, text=True, timeout=100, cwd=folder, env={**base, **env, **named, 'XDG_RUNTIME_DIR': folder})
                assert p.returncode == -signal.SIGSEGV, p
                assert p.stderr.count('\n') == ('line 2' in source) and (not p.stderr or source in p.stderr), (text, p.stderr)
                os.unlink(path)
                said, found = said_of_left(folder)
                assert len(found) == dump and (not dump or 'by ' + source in said.stderr), (text, found, said.stderr)


@case
def variables_that_mean_nothing_are_said():
    base = dict(os.environ, VK_ADD_LAYER_PATH=layers, VK_INSTANCE_LAYERS='VK_LAYER_AEROGPU_blackbox')
    for name in 'AEROGPU_BLACKBOX', 'AEROGPU_BLACKBOX_EXACT', 'AEROGPU_BLACKBOX_GUARD':
        p = subprocess.run([plant, 'fine'], capture_output=True, text=True, timeout=100, env={**base, name: 'garbage'})
        assert p.returncode == 0 and p.stderr == "VK_LAYER_AEROGPU_blackbox: %s is 'garbage': 1 is asked for, 0 is not\n" % name, p


@case
def what_the_driver_tells_of_a_fault_is_told():
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        p = subprocess.run([aerogpu, 'run', '-o', folder, '--', 'true'], capture_output=True, text=True, timeout=60)
        # What is implicit stands above what is named: the test's driver is below.
        p, found = left_record('slow', folder, {'VK_INSTANCE_LAYERS': 'VK_LAYER_AEROGPU_test_driver', 'VK_ADD_LAYER_PATH': os.path.dirname(plant)})
        assert len(found) == 1 and found[0][0] == 'page fault', (found, p.stderr)
        assert 'the driver says: MMU fault of the test' in found[0][2] and 'of the 16 bytes there' in p.stderr, (found, p.stderr)
        assert 'out of bounds by 17 bytes' in p.stderr and "behind the end of buffer 'results'" in p.stderr, p.stderr
        # And where images are, which nobody can ask for.
        assert p.images == [0x770000000000], p.images
        # A layer can say so, and another program be why.
        p, found = left_record('slow', folder, {'VK_INSTANCE_LAYERS': 'VK_LAYER_AEROGPU_test_driver', 'VK_ADD_LAYER_PATH': os.path.dirname(plant),
                                                'AEROGPU_BLACKBOX_EXACT': '1', 'AEROGPU_TEST_DRIVER_SAYS_NOTHING': '1'})
        assert len(found) == 1 and found[0][0] == 'device' and found[0][3:5] == ('suggested', 'suggested'), (found, p.stderr)
        assert 'the driver does not say' in found[0][5], found


@case
def who_reads_the_report_may_end_first():
    with tempfile.TemporaryDirectory() as folder:
        reader, writer = os.pipe()
        p = subprocess.Popen([aerogpu, 'run', '-o', folder, '--gpu-timeout', '1', '--', 'sh', '-c', 'exec "$0" loop-compute >/dev/null 2>&1', plant],
                             stdout=writer, stderr=writer)
        os.close(writer)
        os.close(reader)
        assert p.wait(200) == 5 and len(glob.glob(folder + '/*.aerogpudump')) == 1, (p.returncode, os.listdir(folder))
        p, dumps = run('fine')
        assert not dumps and not p.stderr, p.stderr  # nothing is left of it
        p = subprocess.run([aerogpu, 'run', '-o', folder, '--', 'sh', '-c', 'kill -PIPE $$'], capture_output=True, timeout=60)
        assert p.returncode == 128 + signal.SIGPIPE, p  # the program has what it had


@case
def commands_that_the_registry_does_not_know_are_told_by_their_names():
    env = {'VK_INSTANCE_LAYERS': 'VK_LAYER_AEROGPU_test_foreign', 'VK_ADD_LAYER_PATH': layers + ':' + os.path.dirname(plant)}  # below ours
    bare = subprocess.run([plant, 'foreign-fine'], capture_output=True, text=True, timeout=60, env={**os.environ, **env})
    for options in ([], ['--exact']):
        p, dumps = run('foreign-fine', options=options, env=env)
        assert p.stdout == bare.stdout and 'picture' in p.stdout and not p.stderr and not dumps, (bare.stdout, p.stdout, p.stderr)
    _, db, f = crash('foreign', True, code=5, env=env)
    assert (f['certainty'], f['sure_command']) == ('certain', 'proven'), f
    assert f['text'].startswith('vkCmdDispatchAEROGPU in frame/simulation of submission 3 does not finish'), f
    assert not db.execute('SELECT * FROM binding').fetchall()
    p, db, f = crash('foreign', False, code=5, env=env)
    assert db.execute("SELECT text FROM packet WHERE name='vkCmdDispatchAEROGPU'").fetchall()[0][0] == 'vkCmdDispatchAEROGPU(…)'
    # What such a command has bound nobody knows: what was bound before is not told in its place.
    p, db, f = crash('foreign-bind', True, code=5, env=env)
    assert (f['certainty'], f['sure_command']) == ('certain', 'proven') and tuple(draw_of(db, f))[0] == DISPATCH, f
    bound = db.execute('SELECT slot, what FROM binding').fetchall()
    assert len(bound) == 1 and 'vkCmdBindAEROGPU' in bound[0][1] and 'simulate' not in p.stderr, (list(map(tuple, bound)), p.stderr)


@case
def what_a_killed_run_left_is_found_by_the_next():
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        env = dict(os.environ, XDG_RUNTIME_DIR=folder)
        p = subprocess.Popen([aerogpu, 'run', '-o', folder, '--', plant, 'sleep'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        pid = int(p.stdout.readline())
        p.kill()
        p.wait(60)
        said, found = said_of_left(folder)
        assert not found and 'nobody watches it' in said.stderr and os.path.exists('/proc/%d' % pid), (found, said.stderr)
        os.kill(pid, signal.SIGKILL)
        p.communicate(timeout=60)
        said, found = said_of_left(folder)
        assert len(found) == 1 and found[0][0] == 'killed', found
        assert os.listdir(folder) == [], os.listdir(folder)


@case
def without_a_folder_the_program_runs_on():
    for folder in ('/no/such/folder', 'relative', ''):
        env = dict(os.environ, AEROGPU_BLACKBOX=folder, VK_ADD_LAYER_PATH=layers,
                   VK_INSTANCE_LAYERS='VK_LAYER_AEROGPU_blackbox')
        p = subprocess.run([plant, 'fine'], capture_output=True, text=True, timeout=60, env=env)
        assert p.returncode == 0 and '5 frames' in p.stdout, p


@case
def a_full_disk_disturbs_nobody():
    for size, records in ('16k', 0), ('72k', 0), ('120k', 1), ('200k', 1):
        with tempfile.TemporaryDirectory() as folder:
            if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=' + size, 'tmpfs', folder], capture_output=True).returncode:
                return
            try:
                env = dict(os.environ, AEROGPU_BLACKBOX=folder, VK_ADD_LAYER_PATH=layers,
                           VK_INSTANCE_LAYERS='VK_LAYER_AEROGPU_blackbox')
                p = subprocess.run([plant, 'fine'], capture_output=True, text=True, timeout=60, env=env)
                assert p.returncode == 0 and '5 frames' in p.stdout and len(os.listdir(folder)) == records, (size, p, os.listdir(folder))
            finally:
                subprocess.run(['umount', folder])


@case
def a_small_disk_ends_neither_the_watching_nor_the_program():
    # Where there is room for little, the next place is taken; where there is none any more, what was to be kept is missing.
    for size, left, kind, code, dumps in (('1m', 0, 'fine', 0, 0), ('1m', 0, 'loop-compute', 5, 1), ('8m', 176, 'fine', 0, 0), ('8m', 176, 'loop-compute', 5, 1),
                                          ('8m', 120, 'fine', 0, 0), ('8m', 4, 'fine', 0, 0)):
        with tempfile.TemporaryDirectory() as folder:
            if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'mode=700,size=' + size, 'tmpfs', folder], capture_output=True).returncode:
                return
            try:
                # The program's shell fills it, when the place is taken already.
                fill = 'dd if=/dev/zero of="$XDG_RUNTIME_DIR/fill" bs=4k count=%d 2>/dev/null; "$@"; code=$?; rm "$XDG_RUNTIME_DIR/fill"; exit $code'
                p, made = run(kind, code=code, options=['--exact'], env={'XDG_RUNTIME_DIR': folder}, before=['sh', '-c', fill % (2048 - left // 4), 'sh'] if left else ())
                assert len(made) == dumps and not os.listdir(folder), (size, left, p)
                assert ('5 frames' in p.stdout) == (kind == 'fine'), (size, left, p)
                assert ('could not be written' in p.stderr) == (0 < left < 80), (size, left, p)
                assert not made or size == '1m' or 'no room to record' in finding(made)['unseen'], finding(made)
                assert not made or size != '1m' or finding(made)['sure_command'] == 'proven', finding(made)
            finally:
                subprocess.run(['umount', folder])


@case
def the_validation_layer_has_nothing_to_say():
    if not os.path.exists('/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json'):
        return 'no Khronos validation layer'
    ours, theirs = 'VK_LAYER_AEROGPU_blackbox', 'VK_LAYER_KHRONOS_validation'
    system = '/usr/share/vulkan/explicit_layer.d'
    for order, folders in ((ours, theirs), layers + ':' + system), ((theirs, ours), system + ':' + layers):
        for exact, guard in '00', '10', '01':
            with tempfile.TemporaryDirectory(dir=SHM) as folder:
                env = dict(os.environ, AEROGPU_BLACKBOX=folder, AEROGPU_BLACKBOX_EXACT=exact, AEROGPU_BLACKBOX_GUARD=guard,
                           VK_ADD_LAYER_PATH=folders, VK_INSTANCE_LAYERS=':'.join(order))
                p = subprocess.run([plant, '--secondaries', '2', 'fine'], capture_output=True, text=True, timeout=100, env=env)
                assert p.returncode == 0 and len(p.stdout.splitlines()) == 1 and not p.stderr, (order, p.stdout[:2000], p.stderr)
        # The loader has them in the order of the folders, whatever VK_INSTANCE_LAYERS says.
        p = subprocess.run([plant, 'fine'], capture_output=True, text=True, timeout=100, env=dict(env, AEROGPU_BLACKBOX='', VK_LOADER_DEBUG='all'))
        stack = p.stderr[p.stderr.index('vkCreateInstance layer callstack'):]
        assert stack.index(order[0]) < stack.index(order[1]), order


tests = [t for t in tests if not sys.argv[4:] or t.__name__ in sys.argv[4:]]
print('1..%d' % len(tests))
for i, fn in enumerate(tests):
    try:
        skipped = fn()
        print('ok %d - %s%s' % (i + 1, fn.__name__, ' # SKIP ' + skipped if skipped else ''), flush=True)
    except Exception as e:
        print('not ok %d - %s' % (i + 1, fn.__name__))
        print('# ' + str(e).replace('\n', '\n# '), flush=True)
