#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""crash_commands_test.py AEROGPU SAMPLES RESEAL: dump, report, replay, minimize and crashes on real crashes."""
import json, os, re, shutil, signal, sqlite3, struct, subprocess, sys, tempfile, time

aerogpu, samples, reseal = sys.argv[1:4]
folder = tempfile.mkdtemp(prefix='crash_commands')
tests = []
dumps = {}


def case(fn):
    tests.append(fn)
    return fn


def run(*args, code=0, env=None):
    p = subprocess.run([aerogpu, *args], capture_output=True, text=True, timeout=100, env=env)
    assert p.returncode == code, '%s: exit code %d, expected %d: %s%s' % (args, p.returncode, code, p.stdout, p.stderr)
    return p.stdout, p.stderr


def run_until_let_run(command, file, *args, code):
    """What hangs is called starved where the executor was hardly let run: then it gets longer. (result, what it printed)"""
    work = path('let_run')
    for ms in '600', '1200', '2400':
        shutil.rmtree(work, ignore_errors=True)
        os.mkdir(work)
        if command == 'play':
            played = shutil.copy(file, work)
        out, _ = run(command, *(['--out', work, file] if command == 'dump' else [played]), '--hang', ms, *args, code=code)
        if 'hardly let run' not in out:
            break
    result, = os.listdir(work)
    shutil.move(os.path.join(work, result), path(result) if command == 'dump' else file)
    os.rmdir(work)
    return path(result), out


def sample(name):
    return os.path.join(samples, name + '.aerogputrace')


def path(name):
    return os.path.join(folder, name)


def ask(dump, sql):
    db = sqlite3.connect('file:%s?mode=ro' % dump, uri=True)
    try:
        return db.execute(sql).fetchone()
    finally:
        db.close()


@case
def dumps_are_made():
    for name in ('wild', 'hang'):
        dumps[name], _ = run_until_let_run('dump', sample(name), code=1)
    assert 'page fault at 0x7ddead0000' in ask(dumps['wild'], 'SELECT text FROM finding')[0]
    assert ask(dumps['hang'], 'SELECT certainty FROM finding')[0] == 'candidate'
    assert ask(dumps['wild'], 'SELECT count(*) FROM sample')[0] > 0
    assert not [f for f in os.listdir(folder) if not f.endswith('.aerogpudump')]


@case
def a_dump_says_whose_numbers_its_processes_have():
    own = os.readlink('/proc/self/ns/pid')[5:-1]
    sql = "SELECT value FROM meta WHERE key='pid_namespace'"
    here = ask(dumps['wild'], sql)[0]
    assert here == ('system' if own == str(0xEFFFFFFC) else 'own ' + own), (here, own)
    unshare = ['unshare', '--fork', '--pid', '--mount-proc'] + ([] if os.geteuid() == 0 else ['--user', '--map-root-user'])
    if subprocess.run(unshare + ['true'], capture_output=True).returncode:
        return  # this machine lets nobody have one
    os.mkdir(path('namespace'))
    p = subprocess.run(unshare + [aerogpu, 'dump', '--out', path('namespace'), sample('wild')], capture_output=True, text=True, timeout=100)
    assert p.returncode == 1, p.stdout + p.stderr
    there = ask(p.stdout.splitlines()[1].strip(), sql)[0]
    shutil.rmtree(path('namespace'))  # it is none of those that are grouped
    assert there.startswith('own ') and there != here, (there, here)


@case
def a_dump_says_whose_clock_its_times_have():
    def clock(file):
        return [ask(file, f"SELECT value FROM meta WHERE key='{k}'")[0] for k in ('boot_id', 'clock_offset_ns')]
    boot = open('/proc/sys/kernel/random/boot_id').read().strip()
    assert clock(dumps['wild'])[0] == boot
    unshare = ['unshare', '--fork', '--time', '--monotonic', '7000'] + ([] if os.geteuid() == 0 else ['--user', '--map-root-user'])
    if subprocess.run(unshare + ['true'], capture_output=True).returncode:
        return  # this machine lets nobody have one
    os.mkdir(path('clock'))
    p = subprocess.run(unshare + [aerogpu, 'dump', '--out', path('clock'), sample('wild')], capture_output=True, text=True, timeout=100)
    assert p.returncode == 1, p.stdout + p.stderr
    there = clock(p.stdout.splitlines()[1].strip())
    shutil.rmtree(path('clock'))
    assert there == [boot, '7000000000000'], there


@case
def a_dump_that_cannot_be_written():
    out, err = run('dump', '--out', '/proc', sample('wild'), code=4)
    assert '/proc/' in err and 'page fault' in out or os.getuid() and err == 'aerogpu dump: /proc: Permission denied\n', (out, err)


@case
def a_dump_of_what_does_not_crash():
    small = os.path.join(os.path.dirname(samples), 'spinning.aerogputrace')
    run('dump', '--out', folder, '--always', small)
    assert ask(path('spinning-request.aerogpudump'), "SELECT value FROM meta WHERE key='reason'")[0] == 'request'
    os.unlink(path('spinning-request.aerogpudump'))


@case
def replay_names_the_command():
    _, out = run_until_let_run('play', dumps['hang'], code=0)
    assert out.startswith('It crashed again on try 1: Draw 77 (packet 170, DRAW)'), out
    assert ask(dumps['hang'], 'SELECT certainty, packet, source FROM finding WHERE rank=0') == \
        ('certain', 170, 'exact markers, played again')
    assert ask(dumps['hang'], 'SELECT markers, tries, crashed, same FROM replay') == ('exact', 1, 1, 1)
    assert ask(dumps['hang'], "SELECT count(*) FROM packet WHERE state='running'")[0] == 1
    assert ask(dumps['hang'], 'PRAGMA integrity_check')[0] == 'ok'


def dump_of_what_is_slow():
    """Where the executor is hardly let run it is called starved, however long it gets: what is played is what an idle machine says."""
    said = []
    while len(said) < 10:  # and where the watcher is hardly let run it may look too late, or at what came before
        out = subprocess.run([aerogpu, 'dump', '--out', folder, '--hang', '120', sample('slow')], capture_output=True, text=True, timeout=100)
        if out.returncode == 0:
            said.append(out.stdout)
            continue
        assert out.returncode == 1, out
        dump = out.stdout.splitlines()[1].strip()
        found = ask(dump, 'SELECT cause, sure_cause, packet, text, unseen FROM finding')
        if found[1:3] == ('suggested', 834) and found[0] in ('hang', 'starved'):
            if found[0] == 'starved':
                db = sqlite3.connect(dump)
                db.execute("UPDATE finding SET cause='hang'")
                db.execute("UPDATE meta SET value='hang' WHERE key='cause'")
                db.commit()
                db.close()
                subprocess.check_call([reseal, dump, 'finding', 'meta'])
            return dump
        said.append(found)
        os.unlink(dump)
    raise AssertionError('neither slow nor starved: %s' % said)


@case
def what_is_slow_is_not_hung():
    dump = dump_of_what_is_slow()
    out, _ = run('play', '--hang', '60000', dump, code=1)
    assert out.startswith('It did not crash on try 1: Packet '), out
    assert out.endswith(' and ended when it was let run: slow, not hung.\n'), out
    assert ask(dump, 'SELECT cause, certainty FROM finding WHERE rank=0') == ('slow', 'candidate')
    assert ask(dump, 'SELECT cause, certainty, sure_cause FROM finding WHERE rank=1') == ('hang', 'candidate', 'suggested')
    assert 'the same when it was played again' in ask(dump, 'SELECT unseen FROM finding WHERE rank=1')[0]
    os.unlink(dump)


@case
def replay_overrules():
    """The markers of the dump leave another command: what is seen again is the verdict."""
    dump, _ = run_until_let_run('dump', sample('hang'), code=1)
    db = sqlite3.connect(dump)
    db.execute("UPDATE packet SET state='not started' WHERE state IS NOT NULL")
    db.execute("UPDATE packet SET state='running' WHERE number=4")
    db.execute("UPDATE finding SET certainty='certain', sure_command='proven', packet=4")
    db.commit()
    db.close()
    _, err = run('play', dump, code=3)  # nobody knows what else was changed
    assert 'table finding is not what was written: row 1 first' in err or 'table packet is not' in err, err
    subprocess.check_call([reseal, dump, 'finding', 'packet'])
    _, out = run_until_let_run('play', dump, '--tries', '1', code=0)
    assert out.startswith('It crashed again on try 1, at another command than the dump\'s markers left: Draw 77'), out
    assert ask(dump, 'SELECT certainty, packet FROM finding WHERE rank=0') == ('certain', 170)
    assert ask(dump, 'SELECT certainty, sure_command, packet FROM finding WHERE rank=1') == ('candidate', 'suggested', 4)
    assert ask(dump, 'SELECT crashed, same FROM replay') == (1, 0)
    os.unlink(dump)


@case
def a_recording_that_ends_early_says_why():
    """A submission whose commands are not in the recording: neither a crash, nor silence."""
    data = bytearray(open(sample('wild'), 'rb').read())
    at = 0
    while data[at:at + 4] != b'\x05\0\0\0' or data[at + 8:at + 16] != struct.pack('<II', 1, 0x38):
        at += 1
    data[at + 40:at + 48] = struct.pack('<Q', 999999)
    open(path('early.aerogputrace'), 'wb').write(data)
    out, err = run('dump', '--out', folder, path('early.aerogputrace'), code=3)
    assert 'nothing crashed in 0 submissions' in out, out
    assert 'early.aerogputrace: ' in err and 'no blob 999999 stands before it' in err, err


@case
def what_nobody_writes_is_refused():
    """Triggers, views, indexes, defaults, checks and tables of somebody else's: none runs, each is named, nothing is sealed."""
    dump = run('dump', '--out', folder, sample('wild'), code=1)[0].splitlines()[1].strip()
    finding = ask(dump, "SELECT sql FROM sqlite_master WHERE name='finding'")[0]
    for sql, said in (("CREATE TRIGGER lie AFTER INSERT ON replay BEGIN UPDATE finding SET text='a lie'; END", 'lie is no table (trigger)'),
                      ('CREATE VIEW lie AS SELECT * FROM finding', 'lie is no table (view)'),
                      ('CREATE INDEX lie ON finding(rank)', 'lie is no table (index)'),
                      ('CREATE TABLE lie(x)', 'lie is none of a dump'),
                      ("UPDATE sqlite_master SET sql=%r WHERE name='finding'" % finding.replace('unseen TEXT', "unseen TEXT DEFAULT 'x'"),
                       'finding has more than columns')):
        bad = dump + '.bad.aerogpudump'
        shutil.copy(dump, bad)
        db = sqlite3.connect(bad)
        db.execute('PRAGMA writable_schema=ON')
        db.executescript(sql)
        db.commit()
        db.close()
        if sql.startswith('CREATE TABLE'):
            subprocess.check_call([reseal, bad, 'lie'])
        before = open(bad, 'rb').read()
        assert said in run('play', bad, code=3)[1], said
        assert said in run('report', bad, code=3)[1], said
        assert open(bad, 'rb').read() == before, said
        os.unlink(bad)
    os.unlink(dump)


@case
def a_report_has_one_address():
    """Memory lies elsewhere each time: the address is the crash's, also where it was played again."""
    dump = run('dump', '--out', folder, sample('beyond'), code=1)[0].splitlines()[1].strip()
    address = '0x%x' % ask(dump, 'SELECT address FROM fault')[0]
    out, _ = run('play', dump)
    assert address in out and 'It may be why' not in out, out
    out, _ = run('report', dump)
    assert set(re.findall('at (0x[0-9a-f]{9,})', out.split('The resource')[0])) == {address}, out
    assert ask(dump, 'SELECT same FROM replay') == (1,)
    os.unlink(dump)


@case
def a_replay_that_differs_says_why():
    dump = run('dump', '--out', folder, sample('wild'), code=1)[0].splitlines()[1].strip()
    db = sqlite3.connect(dump)
    db.execute("UPDATE finding SET cause='killed'")
    db.execute("UPDATE meta SET value='killed' WHERE key='cause'")
    db.execute("INSERT INTO meta VALUES('memory_dropped', '3')")
    db.commit()
    db.close()
    subprocess.check_call([reseal, dump, 'finding', 'meta'])
    out, _ = run('play', '--tries', '1', dump, code=1)
    assert 'It crashed in another way on each of 1 tries' in out and 'at 0x' not in out, out
    assert 'It may be why: the guest memory of 3 submissions was not kept as it was then; what came from outside does not come ' \
        "again; the dump's cause is 'killed', this one is 'page fault'" in out, out
    os.unlink(dump)


@case
def replay_leaves_the_dump_alone():
    before = open(dumps['wild'], 'rb').read()
    out, _ = run('play', '--keep', dumps['wild'])
    assert 'It crashed again on try 1' in out and 'in no buffer that ever had an address' in out, out
    assert open(dumps['wild'], 'rb').read() == before


@case
def reports():
    run('report', '--html', path('r.html'), dumps['hang'])
    out, _ = run('report', dumps['hang'])
    assert out.startswith('Draw 77 (packet 170, DRAW) in fog of submission'), out
    page = open(path('r.html')).read()
    assert 'http' not in page and 'which command proven' in page and 'Not seen' in page
    doc = json.loads(run('report', '--json', dumps['hang'])[0])
    assert doc['certainty'] == 'certain' and doc['packet'] == 170, doc['verdict']
    os.unlink(path('r.html'))


@case
def minimize_finds_the_smallest():
    run('minimize', '--packets', dumps['wild'], '-o', path('small'))
    out, _ = run('minimize', '--packets', path('small'), '-o', path('smaller'))
    assert out.splitlines()[1].startswith('6 packets are left'), out  # as many as by hand: nothing more can go
    assert 'page fault at 0x7ddead0000' in out, out
    assert not os.path.exists(path('small.progress'))
    run('dump', '--out', folder, path('smaller'), code=1)


@case
def minimize_goes_on_where_it_was():
    args = [aerogpu, 'minimize', '--packets', sample('beyond'), '-o', path('resumed')]
    p = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    progress = path('resumed.progress')
    for _ in range(3000):
        if os.path.exists(progress) and len(open(progress).readlines()) >= 5:
            break
        time.sleep(0.02)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    assert p.returncode == 1 and 'broken off; the same call goes on from' in err, err
    out, _ = run(*args[1:])
    known = int(out.split('(')[-1].split()[0])
    assert known >= 5, out
    assert out.splitlines()[1].startswith('7 packets'), out


@case
def minimize_refuses():
    small = os.path.join(os.path.dirname(samples), 'spinning.aerogputrace')
    _, err = run('minimize', small, '-o', path('x'), code=1)
    assert 'it does not crash' in err, err
    _, err = run('minimize', sys.argv[0], '-o', path('x'), code=3)
    run('minimize', small, code=2)
    run('minimize', '/nonexistent', '-o', path('x'), code=3)


@case
def replay_refuses():
    _, err = run('play', '--tries', '2', sample('wild'), code=2)
    assert '--tries is not for' in err and 'is a recording of AeroGPU' in err, err
    run('play', code=2)
    shutil.copy(dumps['wild'], path('empty.aerogpudump'))
    db = sqlite3.connect(path('empty.aerogpudump'))
    db.execute('DELETE FROM file')
    db.commit()
    db.close()
    subprocess.check_call([reseal, path('empty.aerogpudump'), 'file'])
    _, err = run('play', path('empty.aerogpudump'), code=3)
    assert 'recording' in err, err
    os.unlink(path('empty.aerogpudump'))


@case
def crashes_are_grouped():
    index = ['--index', path('crashes.db')]
    with open(path('broken.aerogpudump'), 'wb') as f:
        f.write(b'SQLite format 3\0' + bytes(100))
    os.mkdir(path('bad'))
    bad = ['bad/empty', 'bad/noise', 'bad/cut', 'broken']
    open(path('bad/empty.aerogpudump'), 'w').close()
    with open(path('bad/noise.aerogpudump'), 'w') as f:
        f.write('noise' * 100)
    with open(dumps['hang'], 'rb') as whole, open(path('bad/cut.aerogpudump'), 'wb') as f:
        f.write(whole.read(9000))
    for args in ('--html', path('c.html'), folder), (folder,):  # each is named, the second time too
        out, err = run('crashes', *index, *args, code=3)
        assert ' %d bad\n' % len(bad) in err and '?' not in out, out + err
        for name in bad:
            assert err.count('aerogpu crashes: %s.aerogpudump: ' % path(name)) == 1, err
    shutil.rmtree(path('bad'))
    os.unlink(path('broken.aerogpudump'))
    doc = json.loads(run('crashes', *index, '--json')[0])
    groups = doc['groups']
    # the minimized one is the same crash
    assert [([(k['cause'], k['dumps']) for k in g['kinds']], g['dumps']) for g in groups] == \
        [([('page fault', 2)], 2), ([('hang', 1)], 1)], groups  # what cannot be read is no crash
    assert groups[1]['features'][0]['kind'] == 'shader', groups[1]
    assert groups[0]['place'].startswith('shaders ') and groups[1]['kinds'][0]['path'] == 'fog', groups
    assert 'http' not in open(path('c.html')).read()
    again, _ = run('crashes', *index, folder)  # what is known is not read again
    assert again == run('crashes', *index)[0], again


@case
def a_service_dumps_on_request():
    env = dict(os.environ, AEROGPU_DUMPS=path('service'), AEROGPU_FLIGHT=path('flight'))
    os.mkdir(path('flight'))
    service = subprocess.Popen([aerogpu, 'serve', '--socket', path('s')], env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert service.stdout.readline().startswith('ready')
        client = subprocess.run([os.path.join(samples, '../../suite/triangle')], capture_output=True, text=True,
                                env=dict(env, AEROGPU_SOCKET=path('s')), timeout=60)
        assert client.returncode == 0, client.stdout + client.stderr
        dump = run('dump', '--pid', str(service.pid))[0].strip()
        assert ask(dump, "SELECT value FROM meta WHERE key='reason'")[0] == 'request'
        for process in ('client', 'dxgkrnl', 'device', 'executor'):
            assert ask(dump, "SELECT count(*) FROM event WHERE process='%s'" % process)[0] > 0, process
    finally:
        service.terminate()
        service.wait(60)
    names = {f.rsplit('-', 1)[0] for f in os.listdir(path('flight'))}
    assert names == {'client', 'dxgkrnl', 'device', 'executor'}, names
    _, err = run('dump', '--pid', str(os.getpid()), code=4)
    assert 'makes no dumps' in err, err
    run('dump', '--pid', 'x', code=2)


@case
def what_several_clients_did_is_played():
    """A replay speaks in the numbers of the dump, not in its own, as often as it is played."""
    os.mkdir(path('clients'))
    env = dict(os.environ, AEROGPU_DUMPS=path('clients'), AEROGPU_SOCKET=path('s'))
    service = subprocess.Popen([aerogpu, 'serve', '--socket', path('s')], env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert service.stdout.readline().startswith('ready')
        for program in ('triangle', 'triangle', 'triangle', 'dma_fault'):
            client = subprocess.run([os.path.join(samples, '../../suite', program)], capture_output=True, text=True, env=env, timeout=60)
            assert client.returncode == 0, client.stdout + client.stderr
    finally:
        service.terminate()
        service.wait(60)
    dump, = (os.path.join(path('clients'), f) for f in os.listdir(path('clients')))
    first, last = ask(dump, 'SELECT submission, packet, text FROM finding'), ask(dump, 'SELECT max(id) FROM submission')[0]
    assert 100 < first[0] <= last, (first, last)  # what came while it was being noticed is there too
    findings = 'SELECT count(*), min(certainty), min(submission), max(submission), min(packet), min(text), max(text) FROM finding'
    for _ in range(3):
        out, _ = run('play', dump)
        assert out == 'It crashed again on try 1: %s.\n' % first[2], out
        assert ask(dump, findings) == (2, 'certain', first[0], first[0], first[1], first[2], first[2]), ask(dump, findings)
    _, err = run('minimize', '--packets', dump, '-o', path('of_clients'))
    assert ': %s (' % first[2] in err, err
    os.unlink(path('of_clients'))
    os.unlink(dump)


@case
def what_is_slow_is_found_once():
    dump = dump_of_what_is_slow()
    for _ in range(2):
        out, _ = run('play', '--hang', '60000', dump, code=1)
        found = ask(dump, "SELECT group_concat(rank || ' ' || cause || ': ' || coalesce(unseen, '-'), ' | ') FROM finding")[0]
        assert ask(dump, 'SELECT count(*), max(rank) FROM finding') == (2, 1), (out, found)
        again = ask(dump, 'SELECT unseen FROM finding WHERE rank=1')[0]
        assert again.count('the same when it was played again') == 1, (out, found)
    os.unlink(dump)


failed = 0
print('1..%d' % len(tests))
try:
    for i, t in enumerate(tests):
        try:
            t()
            print('ok %d - %s' % (i + 1, t.__name__), flush=True)
        except Exception as e:
            failed = 1
            print('not ok %d - %s\n# %s' % (i + 1, t.__name__, str(e).replace('\n', '\n# ')), flush=True)
finally:
    shutil.rmtree(folder, ignore_errors=True)
sys.exit(failed)
