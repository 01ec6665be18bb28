#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""own_test.py OFFERS SAMPLE AEROGPU OWN: programs that have the black box of their own accord (bb_vk_*)."""
import glob, os, signal, sqlite3, subprocess, sys, tempfile, time

offers, sample, aerogpu, own = map(os.path.abspath, sys.argv[1:5])
SHM = '/dev/shm' if os.path.isdir('/dev/shm') else None
tests = []


def case(fn):
    tests.append(fn)
    return fn


class Place:
    """A folder for dumps, which is the current one, and one for records."""

    def __enter__(self):
        self.records, self.dumps = tempfile.TemporaryDirectory(dir=SHM), tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *_):
        # What watches removes the record's folder when it has seen the end.
        for _ in range(200):
            if not os.listdir(self.records.name):
                break
            time.sleep(0.05)
        left = os.listdir(self.records.name)
        self.records.cleanup()
        self.dumps.cleanup()
        assert not left, left

    def env(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(('AEROGPU_BLACKBOX', 'VK_'))}
        return dict(env, XDG_RUNTIME_DIR=self.records.name, **more)

    def run(self, *argv, env={}):
        return subprocess.run(argv, capture_output=True, text=True, timeout=100, cwd=self.dumps.name, env=self.env(**env))

    def dump(self):
        """The only one."""
        path, = glob.glob(self.dumps.name + '/*.aerogpudump')
        return sqlite3.connect(path)


def finding(db):
    return db.execute('SELECT cause, text FROM finding WHERE rank=0').fetchone()


def described(db):
    return dict(db.execute("SELECT key, value FROM meta WHERE key LIKE 'app.%'"))


@case
def what_is_well_is_left_alone_and_collected():
    with Place() as place:
        p = place.run(sample)
        assert p.returncode == 0 and not p.stderr and p.stdout.startswith('the device: active\nthe dump is '), p
        db = place.dump()
        assert finding(db) == ('request', 'Nothing crashed: the program asked for this dump'), finding(db)
        assert described(db) == {'app.level': 'the harbour, at night'}, described(db)


@case
def the_sample_crashes_and_says_where():
    with Place() as place:
        p = place.run(sample, 'crash')
        assert p.returncode == -signal.SIGSEGV and not p.stderr, p
        lines = p.stdout.splitlines()
        assert lines[0].startswith('the dump is ') and ': use after free buffer' in lines[1] and len(lines) == 2, lines
        db = place.dump()
        cause, text = finding(db)
        assert cause == 'page fault' and 'vkCmdCopyBuffer' in text, (cause, text)
        names = [t for t, in db.execute("SELECT text FROM packet WHERE name='vkCmdInsertDebugUtilsLabelEXT' ORDER BY number")]
        assert [any(n in t for t in names) for n in ('clear the target', 'copy the source', 'done')] == [True] * 3, names
        assert described(db) == {'app.level': 'the harbour, at night'}


@case
def a_hang_between_checkpoints_is_lost_and_told():
    with Place() as place:
        p = place.run(offers, 'own', place.dumps.name, '1000')
        assert p.returncode == 0 and not p.stderr, p
        assert p.stdout.splitlines() == [
            'waited: 0, the device: active, a page fault: -2', 'again: -114, attach: 0, of another: -19: the device\'s calls are not seen',
            'dump: .aerogpudump; collect within it: -35',
            'waited: -4, the device: timeout, a page fault: -2', 'again: -114, attach: 0, of another: -19: the device\'s calls are not seen'], p.stdout
        db = place.dump()
        cause, sure, packet = db.execute('SELECT cause, sure_command, packet FROM finding WHERE rank=0').fetchone()
        # Not exact: the checkpoints alone leave one dispatch.
        assert (cause, sure) == ('hang', 'proven'), (cause, sure)
        before = db.execute("SELECT text FROM packet WHERE number<? AND name='vkCmdInsertDebugUtilsLabelEXT' ORDER BY number DESC", (packet,)).fetchone()
        assert 'step 3' in before[0], before
        # They are told by their names, the last that was reached and the last that was passed.
        told = db.execute('SELECT which, kind, text, pointer, packet FROM checkpoint ORDER BY which DESC').fetchall()
        assert [t[:4] for t in told] == [('top', 'copy', 'step 3', None), ('bottom', 'copy', 'step 2', None)], told
        assert db.execute('SELECT name FROM packet WHERE number=?', (told[0][4],)).fetchone()[0] == 'vkCmdInsertDebugUtilsLabelEXT', told
        top, bottom = db.execute('SELECT top, bottom FROM queue').fetchone()
        assert top.startswith('step 3 (submission ') and bottom.startswith('step 2 (submission '), (top, bottom)
        assert described(db) == {'app.scene': 'eight steps'}


@case
def a_program_that_is_killed_leaves_a_dump():
    with Place() as place:
        p = subprocess.Popen([offers, 'own', place.dumps.name, '60000'], stdout=subprocess.PIPE, text=True, env=place.env())
        while 'attach: 0' not in p.stdout.readline():
            pass
        p.kill()
        p.wait(60)
        for _ in range(400):
            if glob.glob(place.dumps.name + '/*.aerogpudump'):
                break
            time.sleep(0.05)
        db = place.dump()
        assert finding(db) == ('killed', 'The program was ended'), finding(db)


@case
def under_aerogpu_run_that_makes_the_dumps():
    with Place() as place:
        p = place.run(aerogpu, 'run', '--guard', '-o', place.dumps.name, '--', sample, 'crash')
        assert p.returncode == 128 + signal.SIGSEGV and 'the dump is' not in p.stdout, p
        db = place.dump()
        assert finding(db)[0] == 'page fault' and described(db) == {}, finding(db)
        names = [t for t, in db.execute("SELECT text FROM packet WHERE name='vkCmdInsertDebugUtilsLabelEXT'")]
        assert len(names) == 3, names


@case
def what_is_missing_is_said():
    with Place() as place:
        for env, said in (({'AEROGPU_BLACKBOX_LAYER': '/no/layer'}, 'AEROGPU_BLACKBOX_LAYER names /no/layer'),
                          ({'AEROGPU_VKBOX_WATCHER': '/no/watcher'}, 'AEROGPU_VKBOX_WATCHER names /no/watcher'),
                          ({'AEROGPU_VKBOX_WATCHER': '/bin/true'}, 'what watches the program did not start: it does not answer')):
            p = place.run(sample, env=env)
            assert p.returncode == 2 and said in p.stderr and len(p.stderr.splitlines()) == 1, p
        for folder, why in (('/no/such/folder', 'No such file or directory'), ('/etc/passwd', 'Not a directory')):
            p = place.run(offers, 'own', folder, '0')
            assert p.returncode == 3 and p.stdout == 'no dumps can be written to %s: %s\n' % (folder, why), p


@case
def from_another_pid_namespace_nobody_watches():
    with Place() as place:
        p = place.run(own, 'namespace', place.dumps.name)
        if p.returncode == 77:
            return 'no PID namespace can be made'
        assert (p.returncode, p.stdout) == (3, 'what watches the program did not start: the program cannot be seen from the PID namespace that '
                                            'its children are in\n'), p


@case
def what_closes_all_descriptors_is_watched_on_and_left_alone():
    with Place() as place:
        p = place.run(own, 'closed', place.dumps.name)
        assert (p.returncode, p.stdout) == (-signal.SIGKILL, 'closed: -5 the program has closed the descriptor by which it asks for dumps\n'), p
        for _ in range(400):
            if not os.listdir(place.records.name):
                break
            time.sleep(0.05)
        db = place.dump()
        assert finding(db) == ('killed', 'The program was ended'), finding(db)
        assert 'has closed the descriptor' in db.execute("SELECT value FROM meta WHERE key='setting.description'").fetchone()[0]


@case
def what_runs_another_program_is_watched_no_more():
    with Place() as place:
        p = place.run(own, 'exec', place.dumps.name)
        assert (p.returncode, p.stdout, os.listdir(place.dumps.name)) == (0, '', []), (p, os.listdir(place.dumps.name))


@case
def what_is_missing_in_a_call_is_one_error():
    with Place() as place:
        p = place.run(own, 'nulls', place.dumps.name)
        assert p.returncode == 0 and p.stdout.splitlines() == [
            'start: -22 out is NULL', 'start: -22 params is NULL', 'attach: -22 bb is NULL: bb_vk_start() made none', 'attach: -22 device is NULL',
            'checkpoint: -22 -22 -22', 'status: unknown unknown', 'fault: -22 -22', 'collect: -22 bb is NULL: bb_vk_start() made none'], p


@case
def a_start_that_failed_leaves_nothing():
    with Place() as place:
        p = place.run(own, 'again', place.dumps.name)
        assert p.returncode == 0 and p.stdout.splitlines() == [
            'no folder: -2 no dumps can be written to /no/such/folder: No such file or directory', 'no room: -28', 'the loader looks in /elsewhere',
            'attach: 0 ', 'again: -114 a process has one record, which was begun already', 'collect: 0 '], p
        assert finding(place.dump())[0] == 'request'


@case
def a_child_that_it_forks_does_not_end_its_watching():
    for _ in range(4):
        with Place() as place:
            p = place.run(own, 'fork', place.dumps.name)
            assert p.returncode == 0 and p.stdout.splitlines() == [
                'child: -10 started the black box..., checkpoint -10, status unknown', 'child collects: -10', 'parent: 0 a path'], p
            assert finding(place.dump())[0] == 'request'


@case
def threads_that_collect_at_once_are_given_one_dump():
    with Place() as place:
        p = place.run(own, 'threads', place.dumps.name)
        assert p.returncode == 0 and p.stdout == '4 of 4 have the same dump; described 1, dumped 1\n', p
        assert described(place.dump()) == {'app.no text': ''}, described(place.dump())


@case
def a_path_that_does_not_fit_is_said():
    with Place() as place:
        p = place.run(own, 'short', place.dumps.name)
        path, = glob.glob(place.dumps.name + '/*.aerogpudump')
        assert p.stdout == "short: -34 the dump's path needs %d bytes, and there is room for 10: %s\n" % (len(path) + 1, path), p
        # One that is longer than paths can be is not made under another name.
        deep = place.dumps.name
        while len(deep) < 4050:
            deep += '/' + min(200, 4074 - len(deep)) * 'd'
            os.mkdir(deep)
        p = place.run(own, 'threads', deep)
        assert p.stdout == '0 of 4 have the same dump; described 1, dumped 0\n', (len(deep), p)
        assert not os.listdir(deep), os.listdir(deep)


print('1..%d' % len(tests))
for i, fn in enumerate(tests):
    try:
        skipped = fn()
        print('ok %d - %s%s' % (i + 1, fn.__name__, ' # SKIP ' + skipped if skipped else ''), flush=True)
    except Exception as e:
        print('not ok %d - %s' % (i + 1, fn.__name__))
        print('# ' + repr(e).replace('\\n', '\n# '), flush=True)
