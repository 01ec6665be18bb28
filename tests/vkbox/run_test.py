#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_test.py AEROGPU PLANT LAYERS [CASE...]: aerogpu run over a program that does one thing wrong: the verdict, the dump, the exit code."""
import glob, json, os, shutil, signal, sqlite3, subprocess, sys, tempfile, time

from cases import DISPATCH, DRAW, SHM, aerogpu, case, crash, draw_of, finding, plant, run, run_cases


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


run_cases()
