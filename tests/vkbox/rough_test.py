#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rough_test.py AEROGPU PLANT CC [CASE...]: aerogpu run where little is as it should be: one clear sentence each, and the program runs on."""
import glob, os, shutil, signal, sqlite3, subprocess, sys, tempfile

aerogpu, plant = map(os.path.abspath, sys.argv[1:3])
cc = sys.argv[3]
rough = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rough.py')]
SHM = '/dev/shm' if os.path.isdir('/dev/shm') else None
tests = []


def case(fn):
    tests.append(fn)
    return fn


def run_in(place, *argv, env={}, before=()):
    """(exit code, standard output, standard error, what dumps found)"""
    p = subprocess.run([*before, aerogpu, 'run', '-o', place, '--', *argv], capture_output=True, text=True, timeout=200,
                       # Mesa says where it has no home for its cache.
                       env={**os.environ, 'XDG_RUNTIME_DIR': place, 'MESA_SHADER_CACHE_DISABLE': '1', **env})
    found = [sqlite3.connect(d).execute("SELECT (SELECT value FROM meta WHERE key='program'), cause FROM finding WHERE rank=0").fetchone()
             for d in glob.glob(place + '/*.aerogpudump')]
    return p.returncode, p.stdout, p.stderr, found


def new_place():
    return tempfile.TemporaryDirectory(prefix='aerogpu-rough-', dir=SHM)


@case
def programs_that_use_vulkan_as_few_do_run_undisturbed():
    for what in ('one_after_the_other', '200'), ('at_once', '16'), ('instances', '8'), ('unloaded',), ('threads', '8'):
        with new_place() as place:
            assert run_in(place, *rough, *what) == (0, 'done\n', '', []), what


@case
def more_than_is_kept_is_said_once():
    with new_place() as place:
        code, out, err, found = run_in(place, *rough, 'at_once', '40')
        assert (code, out, found) == (0, 'done\n', []) and len(err.splitlines()) == 1, (code, out, err, found)
        assert 'had more devices at once than are kept: what befalls the others is not seen' in err, err


@case
def devices_that_come_and_go_leave_nothing():
    grown = []
    for before in ([], [aerogpu, 'run', '-o', '/tmp', '--']):
        p = subprocess.run([*before, *rough, 'grows', '1000'], capture_output=True, text=True, timeout=200)
        assert p.returncode == 0 and not p.stderr, p
        grown.append(int(p.stdout.split()[0]))
    assert grown[1] - grown[0] < 2000, grown  # KiB: two for each; the allocator moves by one


@case
def a_program_that_becomes_another_has_one_dump():
    for kind, code, found in (('fine', 0, []), ('wild', 128 + signal.SIGSEGV, [('vkbox_plant', 'program')])):
        with new_place() as place:
            r = run_in(place, *rough, 'another', plant, kind)
            assert r[0] == code and r[3] == found, (kind, r)


@case
def each_process_has_its_own_record():
    for what, found in (('both', plant, 'wild'), 'vkbox_plant'), (('in_child', '0'), 'python'), (('in_child', '1'), 'python'):
        with new_place() as place:
            r = run_in(place, *rough, *what)
            assert r[0] == 0 and r[1].endswith('done\n') and len(r[3]) == 1, (what, r)
            assert r[3][0][0].startswith(found) and r[3][0][1] == 'program', (what, r)


@case
def what_a_program_closes_or_becomes_changes_nothing():
    for what in ('without_descriptors',), ('as_nobody', 'after'):
        if what[0] == 'as_nobody' and os.getuid():
            continue
        with new_place() as place:
            r = run_in(place, *rough, *what)
            assert r[0] == 128 + signal.SIGSEGV and [f[1] for f in r[3]] == ['program'], (what, r)
    if os.getuid():
        return
    with tempfile.TemporaryDirectory() as place:  # who watches cannot look
        os.chown(place, 65534, -1)
        nobody = ['setpriv', '--reuid=65534', '--clear-groups']
        python = [p for p in (sys.executable, '/usr/bin/python3') if subprocess.run([*nobody, 'test', '-x', p], capture_output=True).returncode == 0]
        if python and subprocess.run([*nobody, aerogpu, '--help'], capture_output=True).returncode == 0:
            r = run_in(place, python[0], rough[1], 'hidden', before=nobody)
            assert r[0] == 128 + signal.SIGSEGV and [f[1] for f in r[3]] == ['program'] and 'lets nobody see what it has mapped' in r[2], r
    with new_place() as place:  # where it cannot write
        r = run_in(place, *rough, 'as_nobody', 'before')
        assert r[0] == 128 + signal.SIGSEGV and not r[3] and len(r[2].splitlines()) == 1 and 'has other rights than who runs it' in r[2], r


@case
def records_of_strangers_are_told_and_removed():
    with new_place() as place:
        alone = place + '/aerogpu-blackbox-%d' % os.getuid()
        left = alone + '/aerogpu-record-abcdef'
        os.makedirs(left)
        names = [left + '/4194305.0.vkbox', left + '/4194306.0.vkbox', alone + '/4194307.0.vkbox', alone + '/4194308.0.vkbox']
        with open(names[0], 'wb') as f:
            f.write(os.urandom(100))
        shutil.copy(plant, names[1])
        open(names[2], 'w').close()
        os.symlink('/etc/passwd', names[3])
        code, out, err, found = run_in(place, plant, 'fine')
        lines = err.splitlines()
        assert code == 0 and '5 frames' in out and not found and len(lines) == 4, (code, out, err, found)
        for name in names:
            line, = [l for l in lines if os.path.basename(name) in l]
            assert line.endswith('it cannot be opened: Too many levels of symbolic links' if name == names[3] else 'it is no record of a Vulkan program'), line
        assert not any(map(os.path.lexists, names)) and os.path.exists('/etc/passwd')


@case
def where_the_layer_cannot_be_that_is_said():
    with new_place() as place:
        with open(place + '/s.c', 'w') as f:
            f.write('int main(void) { return 3; }\n')
        if subprocess.run([cc, '-static', '-o', place + '/s', place + '/s.c'], capture_output=True).returncode == 0:
            code, _, err, _ = run_in(place, place + '/s')
            assert code == 3 and len(err.splitlines()) == 1 and 'made no Vulkan instance' in err, err
    if os.getuid():
        return
    with tempfile.TemporaryDirectory() as open_to_all:
        os.chmod(open_to_all, 0o755)
        shutil.copy(plant, open_to_all + '/plant')
        os.chown(open_to_all + '/plant', 65534, -1)
        os.chmod(open_to_all + '/plant', 0o4755)
        code, out, err, found = run_in(open_to_all, open_to_all + '/plant', 'fine')
        assert code == 0 and '5 frames' in out and len(err.splitlines()) == 1 and 'other rights than who runs it' in err and not found, (code, out, err)


@case
def other_layers_stand_beside_it():
    for layer in 'VK_LAYER_MESA_overlay', 'VK_LAYER_LUNARG_gfxreconstruct':
        if not glob.glob('/usr/share/vulkan/explicit_layer.d/*%s*' % layer.split('_')[-1]):
            continue
        with new_place() as place:
            code, out, err, found = run_in(place, plant, 'wild', env={'VK_INSTANCE_LAYERS': layer, 'GFXRECON_CAPTURE_FILE': place + '/c'})
            assert code == 128 + signal.SIGSEGV and found == [('vkbox_plant', 'program')], (layer, code, out, err, found)


@case
def without_places_to_write_it_runs_all_the_same():
    if subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode:
        return
    with new_place() as place:
        hide = 'mount -t tmpfs -o ro tmpfs %s && exec "$@"'
        home = run_in(place, plant, 'fine', env={'HOME': '/mnt'}, before=['unshare', '-m', 'sh', '-c', hide % '/mnt', 'sh'])
        assert home[0] == 0 and '5 frames' in home[1] and not home[2], home
    # Nowhere: the program runs unwatched, which is said.
    hidden = 'mount -t tmpfs -o ro tmpfs /dev/shm && mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && exec "$@"'
    p = subprocess.run(['unshare', '-m', 'sh', '-c', hidden, 'sh', aerogpu, 'run', '--', plant, 'fine'], capture_output=True, text=True, timeout=200,
                       env={**os.environ, 'XDG_RUNTIME_DIR': '/proc'})
    assert p.returncode == 0 and '5 frames' in p.stdout and len(p.stderr.splitlines()) == 1 and 'the program runs unwatched' in p.stderr, p
    with new_place() as place:  # no file may grow, not even what is said
        with open(place + '/said', 'wb') as said:
            p = subprocess.run(['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh', aerogpu, 'run', '-o', place, '--', plant, 'wild'], stdout=subprocess.PIPE, stderr=said,
                               timeout=200, env={**os.environ, 'XDG_RUNTIME_DIR': place})
        assert p.returncode == 128 + signal.SIGSEGV and os.listdir(place) == ['said'], (p, os.listdir(place))
        # The program has its signal as without.
        p = subprocess.run(['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh', aerogpu, 'run', '-o', place, '--', 'sh', '-c', 'exec dd if=/dev/zero of=%s/f' % place],
                           capture_output=True, timeout=200, env={**os.environ, 'XDG_RUNTIME_DIR': place})
        assert p.returncode == 128 + signal.SIGXFSZ, p
    with tempfile.TemporaryDirectory() as place:  # not in /dev/shm, which is read-only here: /tmp is next
        shm = run_in(place, plant, 'wild', env={'XDG_RUNTIME_DIR': ''}, before=['unshare', '-m', 'sh', '-c', hide % '/dev/shm', 'sh'])
        assert shm[0] == 128 + signal.SIGSEGV and shm[3] == [('vkbox_plant', 'program')], shm


@case
def a_process_with_numbers_of_its_own_is_found():
    own = [['unshare', '-pf'], ['unshare', '-pf', '--mount-proc'], ['unshare', '-Urpf', '--mount-proc']]
    own = [u for u in own if subprocess.run([*u, 'true'], capture_output=True).returncode == 0]
    if not own:
        return 'no PID namespace can be made'
    for unshare in own:
        with new_place() as place:
            p = subprocess.run([aerogpu, 'run', '-o', place, '--exact', '--gpu-timeout', '1', '--', *unshare, plant, 'loop-compute'], capture_output=True,
                               text=True, timeout=100, env={**os.environ, 'XDG_RUNTIME_DIR': place})
            # What its threads did, and the files that its addresses are in, /proc has under another number.
            assert p.returncode == 5 and 'was created by make_device (plant_device.c:' in p.stderr, (unshare, p.stderr)
            assert 'of which threads of the program ran 0.0 s' not in p.stderr, p.stderr
            db = sqlite3.connect(glob.glob(place + '/*.aerogpudump')[0])
            meta = dict(db.execute('SELECT key, value FROM meta'))
            assert (meta['pid'], meta['pid_namespace'][:4]) in ((str(n), 'own ') for n in (1, 2)), (unshare, meta)
        with new_place() as place:
            r = run_in(place, *unshare, plant, 'fault')
            assert r[3] == [('vkbox_plant', 'page fault')], (unshare, r)
        with new_place() as place:
            env = {**os.environ, 'XDG_RUNTIME_DIR': place}
            p = subprocess.Popen([aerogpu, 'run', '-o', place, '--', *unshare, '--kill-child', plant, 'sleep'], stdout=subprocess.PIPE, text=True, env=env)
            inner, between = int(p.stdout.readline()), int(open('/proc/%d/task/%d/children' % (p.pid, p.pid)).read().split()[0])
            p.kill()
            p.wait(60)
            # Its number is another process's here, or nobody's: its record is left as long as it runs.
            said = run_in(place, 'true')[2]
            assert inner in (1, 2) and 'still runs' in said and glob.glob(place + '/aerogpu-blackbox-*/aerogpu-record-*/%d.0.vkbox' % inner), (inner, said)
            os.kill(between, signal.SIGKILL)
            p.stdout.read()
            r = run_in(place, 'true')
            assert r[3] == [('vkbox_plant', 'killed')] and not glob.glob(place + '/aerogpu-blackbox-*/aerogpu-record-*'), r


@case
def sparse_buffers_are_bound_in_their_order():
    sparse = os.path.join(os.path.dirname(plant), 'vkbox_sparse')
    bare = subprocess.run([sparse, 'fine'], capture_output=True, text=True, timeout=60)
    if bare.returncode == 77:
        return 'the driver has no sparse buffers'
    with new_place() as place:
        assert run_in(place, sparse, 'fine') == (0, 'all words are there\n', '', []) and bare.returncode == 0
    with new_place() as place:
        p = subprocess.run([aerogpu, 'run', '--gpu-timeout', '1', '-o', place, '--', sparse, 'wait'], capture_output=True, text=True, timeout=100)
        said = p.stderr.strip().split('\n')[0]
        # A driver that waits within the call cannot be made to return.
        assert p.returncode in (5, 128 + signal.SIGALRM) and 'Submission 1 has not begun; it waits for semaphore' in said, p


def damages(whole, path):
    """Puts it at `path` cut, of another version or of others, one after the other: (what it is, what is to be said)"""
    data = open(whole, 'rb').read()
    version = data.index(b'AeroGPU\0', data.index(b'AeroGPU\0') - 16) + 8
    foreign = subprocess.run(['ldd', sys.executable], capture_output=True, text=True).stdout
    libc = [l.split()[2] for l in foreign.splitlines() if 'libc.so' in l and '=>' in l][0]
    made = [('cut at %d' % n, data[:n], 'is cut off at %d bytes' % n) for n in (64, 5000, 60000)]
    made += [('its head alone', data[:63], 'is no program or library'), ('empty', b'', 'is no program or library'), ('text', b'no library', 'is no program or library'),
             ('of another', open(libc, 'rb').read(), 'is no part of AeroGPU'),
             ('older', data[:version] + b'0.0.9' + data[version + 5:], 'is of version 0.0.9, and this is'),
             ('of nonsense', data[:version] + b'\x1b\xff\n\x07' + data[version + 4:], 'is of version '),
             ('of another machine', data[:18] + b'\x16' + data[19:], 'is no program or library of this machine')]
    for what, content, said in made:
        with open(path, 'wb') as f:
            f.write(content)
        os.chmod(path, 0o755)
        yield what, said
    os.unlink(path)
    os.mkfifo(path, 0o755)
    yield 'a pipe', 'is no regular file'


@case
def without_its_parts_the_program_runs_undisturbed():
    if glob.glob('/usr/local/lib/**/libaerogpu-run.so', recursive=True):
        return 'AeroGPU is installed, where what is not there is found'
    with new_place() as place:
        alone = shutil.copy(aerogpu, place + '/aerogpu')
        env = {'AEROGPU_BLACKBOX_LAYER': os.path.join(os.path.dirname(plant), '../../src/vkbox/VkLayer_AEROGPU_blackbox.json')}
        for argv, code, said in (['run', '-o', place, '--', plant, 'fine'], 0, None), \
                                (['run', '-o', place, '--', plant, 'fault'], 128 + signal.SIGSEGV, 'no dump: the library that makes dumps is neither beside'), \
                                (['run', '--json', '--', plant, 'fine'], 4, 'the library that makes dumps is neither beside'), \
                                (['version'], 4, 'the program with the commands is neither beside'):
            p = subprocess.run([alone, *argv], capture_output=True, text=True, timeout=100, env={**os.environ, **env, 'XDG_RUNTIME_DIR': place})
            assert p.returncode == code and (said in p.stderr and len(p.stderr.splitlines()) == 1 if said else not p.stderr), (argv, p)
        for name, argv, code in ('libaerogpu-run.so', ['run', '-o', place, '--', plant, 'fault'], 128 + signal.SIGSEGV), ('aerogpu-commands', ['version'], 4):
            for damage, said in damages(os.path.join(os.path.dirname(aerogpu), name), place + '/' + name):
                p = subprocess.run([alone, *argv], capture_output=True, text=True, timeout=100, env={**os.environ, **env})
                line, = [l for l in p.stderr.splitlines() if l]
                assert p.returncode == code and said in line and place + '/' + name in line and line.isprintable(), (name, damage, p)
            os.unlink(place + '/' + name)
        # What writes dumps: one that writes none, and one that does not come to its end.
        with open(place + '/sleeper', 'w') as f:
            f.write('#!/bin/sh\nexec sleep 300\n')
        os.chmod(place + '/sleeper', 0o755)
        for dumper, said in ('/bin/true', 'no dump: /bin/true has made none'), (place + '/sleeper', 'not written within 10000 ms'):
            p = subprocess.run([aerogpu, 'run', '-o', place, '--', plant, 'fault'], capture_output=True, text=True, timeout=100, env={**os.environ, 'AEROGPU_DUMPER': dumper})
            assert p.returncode == 128 + signal.SIGSEGV and said in p.stderr and 'what it would have said: ' in p.stderr and 'the dump is' not in p.stderr, p


@case
def signals_to_who_watches_leave_nobody_unwatched():
    """One that asks for an end is passed on; others do not end it, and the program has its own as without."""
    for asked, code in ((signal.SIGQUIT, 128 + signal.SIGQUIT), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGUSR1, 7), (signal.SIGUSR2, 7),
                        (signal.SIGALRM, 7), (signal.SIGVTALRM, 7), (signal.SIGPROF, 7), (signal.SIGIO, 7), (signal.SIGPWR, 7), (signal.SIGSTKFLT, 7), (signal.SIGXCPU, 7),
                        (signal.SIGRTMIN, 7), (signal.SIGRTMAX, 7)):
        with new_place() as place:
            p = subprocess.Popen([aerogpu, 'run', '-o', place, '--', 'sh', '-c', 'echo $$; read x; exit 7'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True, start_new_session=True)
            program = int(p.stdout.readline())
            p.send_signal(asked)
            if code == 7:
                p.stdin.write('\n')
                p.stdin.flush()
            assert p.wait(30) == code and not os.path.exists('/proc/%d' % program), (asked, p.returncode)
    for own in signal.SIGUSR1, signal.SIGALRM:
        with new_place() as place:
            assert run_in(place, 'sh', '-c', 'kill -%d $$' % own)[0] == 128 + own, own


@case
def a_layer_that_is_cut_is_not_loaded():
    with new_place() as place:
        manifest = shutil.copy(os.path.join(os.path.dirname(plant), '../../src/vkbox/VkLayer_AEROGPU_blackbox.json'), place)
        layer = os.path.join(os.path.dirname(plant), '../../src/vkbox/libVkLayer_AEROGPU_blackbox.so')
        for damage, said in damages(layer, place + '/libVkLayer_AEROGPU_blackbox.so'):
            p = subprocess.run([aerogpu, 'run', '--', plant, 'fine'], capture_output=True, text=True, timeout=100, env={**os.environ, 'AEROGPU_BLACKBOX_LAYER': manifest})
            assert p.returncode == 4 and said in p.stderr and len(p.stderr.splitlines()) == 1 and not p.stdout, (damage, p)


tests = [t for t in tests if not sys.argv[4:] or t.__name__ in sys.argv[4:]]
print('1..%d' % len(tests))
for i, fn in enumerate(tests):
    try:
        skipped = fn()
        print('ok %d - %s%s' % (i + 1, fn.__name__, ' # SKIP ' + skipped if skipped else ''), flush=True)
    except Exception as e:
        print('not ok %d - %s' % (i + 1, fn.__name__))
        print('# ' + repr(e).replace('\\n', '\n# '), flush=True)
