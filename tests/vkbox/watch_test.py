#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""watch_test.py AEROGPU PLANT LAYERS [CASE...]: aerogpu run as who watches: what ends a program, what is left behind, where records lie, and what asks for them."""
import ctypes, glob, json, os, random, resource, signal, sqlite3, struct, subprocess, tempfile, time

from cases import DISPATCH, SHM, aerogpu, case, crash, draw_of, finding, layers, place, plant, run, run_cases


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


run_cases()
