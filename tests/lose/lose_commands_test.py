#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lose_commands_test.py AEROGPU CLIENT: aerogpu lose from the outside: its words, its JSON, its exit codes; and a real program."""
import json, os, re, shutil, signal, socket, subprocess, sys, tempfile, time, xml.etree.ElementTree

aerogpu, client = sys.argv[1:3]
tests = []


def case(fn):
    tests.append(fn)
    return fn


def lose(*args, code=0):
    p = subprocess.run([aerogpu, 'lose', *args], capture_output=True, text=True, timeout=200)
    assert p.returncode == code, '%s: exit code %d, expected %d: %s%s' % (args, p.returncode, code, p.stdout, p.stderr)
    return p.stdout, p.stderr


@case
def json_and_events():
    out, err = lose('--at-submit', '25', '--times', '2', '--json', '--timeout', '60', '--', client, 'recover')
    j = json.loads(out)
    assert (j['verdict'], j['ok'], j['at'], j['n'], j['devices'], j['signal']) == ('survived', True, 'submission', 25, 3, None), j
    assert [(l['submissions'], l['frames'], l['reported_by'], l['reported']) for l in j['losses']] == [(24, 0, 'vkQueueSubmit', 1)] * 2, j
    for l in j['losses']:
        assert l['reported_ms'] <= l['destroyed_ms'] <= l['new_device_ms'] <= l['work_ms'], l
    for words in ('a device: ', 'after 0 frames and 24 submissions the device is lost', 'vkQueueSubmit answers VK_ERROR_DEVICE_LOST',
                  'the lost device is destroyed', 'a new device', 'its first submission', 'survived: it works on a new device'):
        assert words in err, (words, err)


@case
def who_works_with_both_is_told():
    err = lose('--at-submit', '25', '--timeout', '20', '--', client, 'both')[1].splitlines()[-1]
    assert re.search(r'; the lost device was called \d{3,} times since, where the new one did \d+ frames or submissions$', err), err


@case
def who_may_end_may_not_die():
    for how, said in (('exit', 'ended cleanly: it ended with exit code 3 and made no new device'),
                      ('abort', 'dies: signal 6 (Aborted) ended it')):
        out, err = lose('--at-submit', '5', '--timeout', '60', '--', client, how, code=1)
        assert out == 'lose_client: hello\n' and err.splitlines()[-1] == said, err
        lose('--at-submit', '5', '--timeout', '60', '--expect', 'end', '--', client, how, code=0 if how == 'exit' else 1)


@case
def a_seed_draws_the_place():
    places = set()
    for seed in ('1', '2', '3', '1'):
        j = json.loads(lose('--seed', seed, '--at-submit', '1000', '--proof', '1', '--json', '--', client, 'recover')[0])
        assert 1 <= j['n'] <= 1000 and j['losses'][0]['submissions'] == j['n'] - 1, j
        places.add(j['n'])
    assert len(places) == 3, places


@case
def what_shows_nothing_needs_at_submit():
    err = lose('--', client, 'recover', '10', code=1)[1]
    assert err.splitlines()[-1] == ('not reached: the device was not lost: the program did not come to frame 60 before it ended; '
                                    'one that shows nothing needs --at-submit'), err


@case
def wrong_usage():
    more = '; `aerogpu lose --help` says more'
    for args, said in ((['--'], 'aerogpu lose: no program is given' + more),
                       (['--at-frame', '0', 'x'], "aerogpu lose: --at-frame: '0' is no number from 1 to 4294967295" + more),
                       (['--at-submit', '-1', 'x'], "aerogpu lose: --at-submit: '-1' is no number from 1 to 4294967295" + more),
                       (['--hang', '2s', 'x'], "aerogpu lose: --hang: '2s' is no time in milliseconds, above 0 and up to 3600000" + more),
                       (['--times', '256', 'x'], "aerogpu lose: --times: '256' is no number from 1 to 255" + more),
                       (['--timeout', 'nan', 'x'],
                        "aerogpu lose: --timeout: 'nan' is no time in seconds, above 0 and up to 86400" + more),
                       (['--expect', 'luck', 'x'], "aerogpu lose: --expect: 'luck' is none of survive|end|ended|dies|ignores|hangs|stalls|not-reached|no-device|wrong-picture|leaks" + more),
                       (['--screen', '0x0', 'x'], "aerogpu lose: --screen: '0x0' is no size of a screen, as 640x480 is" + more),
                       (['--screen', '64', 'x'], "aerogpu lose: --screen: '64' is no size of a screen, as 640x480 is" + more),
                       (['--at-submit', '5', '--at-frame', '9', 'x'],
                        'aerogpu lose: --at-frame and --at-submit: a device is lost at one place' + more),
                       (['--nonsense', 'x'], "aerogpu lose: unknown option '--nonsense'" + more)):
        out, err = lose(*args, code=2)
        assert out == '' and err.splitlines()[-1] == said, (args, err)


@case
def what_cannot_run():
    assert lose('--', '/nonexistent', code=4)[1] == 'aerogpu lose: cannot run /nonexistent: No such file or directory\n'
    assert lose('--', 'true', code=4)[1].startswith('no device: the program made no Vulkan device and no context of OpenGL')
    assert ' of OpenGL, and ended with exit code 9' in lose('--', 'sh', '-c', 'exit 9', code=4)[1]


@case
def an_interrupt_ends_the_program_too():
    p = subprocess.Popen([aerogpu, 'lose', '--at-submit', '4000000000', '--', client, 'recover'], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    line = p.stderr.readline()
    pid = int(line.split()[-1])
    p.send_signal(signal.SIGINT)
    assert p.wait(60) == 130
    with tempfile.TemporaryDirectory() as d:
        p = subprocess.Popen([aerogpu, 'lose', '--at-submit', '4000000000', '--json=' + d + '/j', '--', client, 'recover'],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        p.stderr.readline()
        p.send_signal(signal.SIGTERM)
        assert p.wait(60) == 143
        j = json.load(open(d + '/j'))
        assert (j['verdict'], j['ok'], j['devices']) == ('interrupted', False, 1), j
    assert not os.path.exists('/proc/%d' % pid) or open('/proc/%d/stat' % pid).read().split()[2] == 'Z'


@case
def output_of_the_program_is_not_in_the_json():
    out, err = lose('--at-submit', '5', '--json', '--', client, 'exit', code=1)
    assert json.loads(out)['verdict'] == 'ended cleanly' and 'lose_client: hello' in err, (out, err)
    with tempfile.TemporaryDirectory() as d:
        out, err = lose('--at-submit', '5', '--json=' + d + '/j', '--', client, 'exit', code=1)
        assert out == 'lose_client: hello\n' and json.load(open(d + '/j'))['exit_code'] == 3, out


@case
def what_cannot_be_written_is_said_before():
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/m.toml', 'w') as f:
            f.write('[program.a]\nrun = ["touch", "%s/ran"]\n[fault.f]\noptions = ["--reach", "1"]\n' % d)
        none = d + '/none/x'
        for args in (['--json=' + none, '--', 'touch', d + '/ran'], ['--screen', '64x48', '--picture', none, '--', 'touch', d + '/ran'],
                     ['--matrix', d + '/m.toml', '--junit', none], ['--matrix', d + '/m.toml', '--sarif', none],
                     ['--matrix', d + '/m.toml', '--json=' + none]):
            out, err = lose(*args, code=4)
            assert (out, err) == ('', 'aerogpu lose: %s: No such file or directory\n' % none), (args, out, err)
        assert not os.path.exists(d + '/ran')


@case
def others_may_read_results():
    """As the umask lets them; what holds memory or pictures of games is its user's alone, but these are made for CI systems."""
    mode = lambda path: oct(os.stat(path).st_mode & 0o7777)
    old = os.umask(0o022)
    try:
        with tempfile.TemporaryDirectory() as d:
            with open(d + '/m.toml', 'w') as f:
                f.write('screen = "64x48"\n[program.a]\nrun = [%s, "abort"]\n[fault.f]\noptions = ["--at-submit", "5"]\n' % json.dumps(client))
            if not shutil.which('Xvfb'):
                return 'Xvfb is not installed'
            lose('--matrix', d + '/m.toml', '--junit', d + '/j.xml', '--sarif', d + '/s.sarif', '--json=' + d + '/m.json', '--pictures', d + '/p/q', code=1)
            lose('--at-submit', '5', '--json=' + d + '/j.json', '--screen', '64x48', '--picture', d + '/end.png', '--', client, 'recover')
            os.umask(0o027)
            lose('--at-submit', '5', '--json=' + d + '/group.json', '--', client, 'recover')
            for name in ('j.xml', 's.sarif', 'm.json', 'p/q/a-f.png', 'j.json', 'end.png'):
                assert mode(d + '/' + name) == '0o644', (name, mode(d + '/' + name))
            assert (mode(d + '/p'), mode(d + '/p/q'), mode(d + '/group.json')) == ('0o755', '0o755', '0o640')
    finally:
        os.umask(old)


@case
def who_had_little_left_to_do():
    err = lose('--at-submit', '20', '--timeout', '60', '--', client, 'recover', '24')[1].splitlines()[-1]
    assert re.search(r'; it ended by itself, with exit code 0, after \d of 30 frames or submissions$', err), err
    err = lose('--at-submit', '20', '--timeout', '60', '--', client, 'recover')[1].splitlines()[-1]
    assert 'ended by itself' not in err, err
    err = lose('--at-submit', '20', '--timeout', '60', '--', 'sh', '-c', '"$0" recover 24; exit 3', client, code=1)[1].splitlines()[-1]
    assert err == 'ended cleanly: it ended with exit code 3, with a new device that it did not use for long', err


@case
def a_fault_comes_in_its_phase():
    for fault, losses in (('oom@vkCreateFence:1/recovery', 1), ('oom@vkCreateFence:1/start', 0)):
        j = json.loads(lose('--at-submit', '20', '--fault', fault, '--timeout', '60', '--expect', 'ended', '--json', '--', client, 'recover')[0])
        assert (len(j['losses']), j['faults'][0]['given']) == (losses, 1), j


@case
def a_crash_behind_a_launcher_is_one():
    for how, said in (('abort', 'dies: signal 6 (Aborted) ended it'), ('exit', 'ended cleanly: it ended with exit code 0 and made no new device')):
        err = lose('--at-submit', '5', '--expect', 'end', '--', 'sh', '-c', '"$0" %s; true' % how, client, code=how == 'abort')[1]
        assert err.splitlines()[-1] == said, err
    # A starter that goes away at once.
    err = lose('--at-submit', '5', '--expect', 'end', '--', 'sh', '-c', '(sleep 0.3; exec "$0" abort) &', client, code=1)[1]
    assert err.splitlines()[-1] == 'dies: signal 6 (Aborted) ended it', err


@case
def nobody_is_left_behind():
    with tempfile.TemporaryDirectory() as d:
        os.environ['LOSE_DAEMON'] = d + '/pid'
        lose('--at-submit', '5', '--', client, 'daemon')
        pid = int(open(d + '/pid').read())
    assert not os.path.exists('/proc/%d' % pid), pid


@case
def who_delays_a_program_gives_it_time():
    err = lose('--fault', 'delay=300@vkQueueSubmit:5+', '--timeout', '2', '--proof', '12', '--', client, 'recover')[1]
    assert 'survived' in err.splitlines()[-1], err


@case
def who_is_slow_by_himself_has_his_time():
    err = lose('--fault', 'delay=1@vkQueueSubmit:9', '--timeout', '2', '--', client, 'slow')[1].splitlines()[-1]
    assert re.fullmatch(r'survived: it goes on, and keeps its pace, or half of it: it has done \d+ frames or submissions since, [89] in \d\.\d s before the fault', err), err
    err = lose('--fault', 'delay=400@vkQueueSubmit:9+', '--timeout', '2', '--proof', '5', '--', client, 'slow')[1].splitlines()[-1]
    assert err.startswith('survived: it '), err
    err = lose('--fault', 'delay=1@vkQueueSubmit:9', '--timeout', '2', '--', client, 'slower', code=1)[1].splitlines()[-1]
    assert err.startswith('stalls: it goes on calling Vulkan, and has done '), err


@case
def who_ends_while_it_hangs_has_ended():
    err = lose('--at-submit', '20', '--hang', '5000', '--reach', '60', '--expect', 'end', '--', client, 'watchdog-exit')[1]
    assert 'ended with exit code 8' in err.splitlines()[-1] and 'hangs, and the program does not wait for its reset' in err, err


@case
def who_waits_for_the_reset_is_given_the_time():
    lose('--at-submit', '20', '--hang', '3000', '--reach', '1', '--timeout', '60', '--', client, 'recover')


@case
def who_else_works_makes_nothing_good():
    """Neither what was at work beside the lost device, nor another program."""
    lose('--at-submit', '20', '--timeout', '2', '--expect', 'hangs', '--', client, 'beside')
    lose('--at-submit', '20', '--timeout', '2', '--expect', 'stalls', '--', client, 'neighbour')
    with tempfile.TemporaryDirectory() as d:
        other = shutil.copy(client, d + '/other')
        err = lose('--at-submit', '20', '--timeout', '3', '--', 'sh', '-c', '"$0" exit; exec "$1" recover', client, other, code=1)[1].splitlines()[-1]
    assert err == 'ended cleanly: its process ended by itself and made no new device', err  # with what, its shell knows
    lose('--at-submit', '20', '--timeout', '60', '--', 'sh', '-c', '"$0" exit; exec "$0" recover', client)


@case
def what_each_swapchain_is_told_is_what_the_queue_is_told():
    if not shutil.which('Xvfb'):
        return 'Xvfb is not installed'
    for fault in (['--at-frame', '20'], ['--at-frame', '20', '--hang', '500'], ['--fault', 'lost@vkQueueSubmit:20'], ['--fault', 'suboptimal@vkQueuePresentKHR:9']):
        lose(*fault, '--timeout', '60', '--screen', '64x48', '--', os.path.dirname(client) + '/lose_present_client')
    for answer, code in (('oom', -2), ('out-of-date', -1000001004), ('surface-lost', -1000000000)):
        err = lose('--fault', answer + '@vkQueuePresentKHR:9', '--timeout', '60', '--screen', '64x48', '--', os.path.dirname(client) + '/lose_present_client', code=1)[1]
        assert 'lose_present_client: frame: %d\n' % code in err, err


@case
def who_cannot_be_seen():
    err = lose('--at-submit', '5', '--reach', '4', '--', 'env', '-i', client, 'recover', code=4)[1].splitlines()[-1]
    assert 'uses Vulkan or OpenGL without the layer: its environment was cleared' in err, err
    for change, name in (('VK_INSTANCE_LAYERS=', 'VK_INSTANCE_LAYERS'), ('VK_LAYER_PATH=/tmp', 'VK_LAYER_PATH'), ('VK_ADD_LAYER_PATH=/nowhere', 'VK_ADD_LAYER_PATH')):
        err = lose('--at-submit', '5', '--reach', '4', '--', 'env', change, client, 'recover', code=4)[1].splitlines()[-1]
        assert 'without the layer: what started it has changed %s, which' % name in err, err
    # What keeps all layers out that are not named by it does not keep this one out.
    p = subprocess.run([aerogpu, 'lose', '--at-submit', '5', '--', client, 'recover'], capture_output=True, text=True, timeout=100,
                       env=dict(os.environ, VK_LOADER_LAYERS_DISABLE='*'))
    assert p.returncode == 0 and 'survived' in p.stderr, p
    if os.geteuid():
        return 'not root'
    # Seen all the same: another user, no privileges, a process namespace, a colon in the path.
    for how in (['setpriv', '--bounding-set=-all', '--inh-caps=-all'], ['setpriv', '--reuid=65534', '--clear-groups'],
                ['unshare', '--pid', '--fork']):
        if shutil.which(how[0]):
            lose('--at-submit', '5', '--', *how, client, 'recover')
    # Nor does it help to close the descriptor besides, as browsers do for their processes.
    closer = [sys.executable, '-c', 'import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))']
    for how in (['setpriv', '--bounding-set=-all', '--inh-caps=-all'], ['setpriv', '--reuid=65534', '--clear-groups']):
        if shutil.which(how[0]):
            lose('--at-submit', '5', '--', *closer, *how, client, 'recover')
    # A stranger is given nothing: the socket closes.
    p = subprocess.Popen([aerogpu, 'lose', '--at-submit', '4000000000', '--', 'sh', '-c', 'echo $AEROGPU_LOSE; exec "$0" recover', client],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    _, _, pid, _, fd = p.stdout.readline().strip().split('/')
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect('\0aerogpu-lose-%s-%s' % (pid, fd))
        said, fds, _, _ = socket.recv_fds(s, 1, 1)
    p.terminate()
    p.wait()
    assert (said, fds) == (b'', []), (said, fds)


FORGER = """
import mmap, os, stat, time
fd = os.open(os.environ['AEROGPU_LOSE'], os.O_RDWR)
try:
    os.ftruncate(fd, 0)
    print('truncated')
except PermissionError:
    print('sealed, mode %o' % stat.S_IMODE(os.fstat(fd).st_mode))
record = mmap.mmap(fd, 0)
record[48:] = b'\\x7f' * (len(record) - 48)  # all that is answered
print(record[:4].decode(), flush=True)
time.sleep(60)
"""


@case
def a_program_that_writes_anything_into_the_record():
    for fault in ([], ['--fault', 'delay=1@vkCreateFence:1']):
        began = time.monotonic()
        p = subprocess.run([aerogpu, 'lose', '--at-submit', '5', '--reach', '4', '--timeout', '1', *fault, '--', sys.executable, '-c', FORGER],
                           capture_output=True, text=True, timeout=100)
        assert p.stdout == 'sealed, mode 600\nLOSE\n' and p.returncode == 1, (p.returncode, p.stdout, p.stderr[-500:])
        assert time.monotonic() - began < 30


@case
def who_is_killed_leaves_nothing():
    before = set(os.listdir('/tmp'))
    p = subprocess.Popen([aerogpu, 'lose', '--at-submit', '4000000000', '--', client, 'recover'], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    pid = int(p.stderr.readline().split()[-1])
    p.kill()
    p.wait()
    for _ in range(500):
        if not os.path.exists('/proc/%d' % pid) or open('/proc/%d/stat' % pid).read().split()[2] == 'Z':
            break
        time.sleep(0.02)
    else:
        raise AssertionError('process %d is still there' % pid)
    assert not [f for f in set(os.listdir('/tmp')) - before if f.startswith('aerogpu-lose')]


@case
def a_colon_in_the_path():
    with tempfile.TemporaryDirectory() as d:
        os.symlink(os.path.dirname(os.environ['LOSE_MANIFEST']), d + '/a:b')
        os.environ['AEROGPU_LOSE_LAYER'] = d + '/a:b/' + os.path.basename(os.environ['LOSE_MANIFEST'])
        try:
            lose('--at-submit', '5', '--', client, 'recover')
        finally:
            del os.environ['AEROGPU_LOSE_LAYER']


@case
def every_answer_that_vulkan_has_and_no_other():
    # The registry, read by somebody else than the generator.
    root = xml.etree.ElementTree.parse(os.environ['VK_XML']).getroot()
    names = {e.get('name'): e.get('alias') for e in root.iter('enum')}
    may = {}
    for c in root.find('commands').findall('command'):
        if c.find('proto') is not None and c.findtext('proto/type') == 'VkResult' and c.get('api', 'vulkan') != 'vulkansc':
            answers = (c.get('successcodes', '') + ',' + c.get('errorcodes', '')).split(',')
            may[c.findtext('proto/name')] = {names.get(a) or a for a in answers if a and a != 'VK_SUCCESS'}
    said = [line.split('@') for line in lose('--answers')[0].splitlines() if '@vk' in line]
    word = lambda a: re.sub('_(KHR|EXT|NV|AMD)$', '', a).replace('VK_', '', 1).replace('ERROR_', '', 1).lower().replace('_', '-')
    by = {}
    for answer, call in said:
        by.setdefault(call, set()).add(answer)
    assert len(said) == len(set(map(tuple, said))) > 500, len(said)
    for call, answers in by.items():
        assert answers == {word(a) for a in may[call]}, (call, answers, may[call])
    # What is not there: another system's windows, and what the loader answers before there is an instance.
    for call in set(may) - set(by):
        assert not may[call] or re.search('Win32|Android|ANDROID|FUCHSIA|Metal|MVK|QNX|GGP|NN|Winrt|FullScreenExclusive|DirectFB|NvSci|'
                                          '^vkEnumerateInstance|PresentModes2EXT|Video|NvSciSync', call), call
    # No other: 40 commands at random, every answer.
    every = {word(a) for answers in may.values() for a in answers}
    for call in sorted(by)[::5]:
        wrong = sorted(every - by[call])[0]
        err = lose('--fault', wrong + '@' + call, '--', 'true', code=2)[1]
        assert re.search('--fault: %s never answers VK_[A-Z_]*; it may answer VK_' % call, err), err


@case
def wrong_faults():
    for fault, said in (('luck@vkCreateFence:1', "there is no answer 'luck'; `aerogpu lose --answers` lists all, by command"),
                        ('oom@vkCreateFenc:1', "'vkCreateFenc' is no command of Vulkan that can fail and that a layer sees, nor `frame` nor `submission`"),
                        ('oom@vkEnumerateInstanceVersion:1', "'vkEnumerateInstanceVersion' is no command of Vulkan that can fail and that a layer sees, nor `frame` nor `submission`"),
                        ('oom', "'oom' does not say where: ANSWER@COMMAND:N, as in oom@vkAllocateMemory:3"),
                        ('oom@vkCreateFence:0', "the number of the call: '0' is no number from 1 to 4294967295"),
                        ('oom@vkCreateFence:1/noon', "there is no phase 'noon': start, loading, steady, resize, recovery or shutdown"),
                        ('delay=x@vkCreateFence', 'delay=x: milliseconds are wanted, up to 3600000'),
                        ('budget=9Q', 'budget=9Q: bytes are wanted, as in budget=64M'),
                        ('no-device@vkCreateFence', 'no-device is an answer of vkEnumeratePhysicalDevices only')):
        err = lose('--fault', fault, '--', 'true', code=2)[1].splitlines()[-1]
        assert err == 'aerogpu lose: --fault: %s; `aerogpu lose --help` says more' % said, err


@case
def calls_are_answered_so():
    for fault, code, verdict, exit_code in (
            ('oom@vkCreateFence:1', 1, 'ended cleanly', 9),
            ('host-oom@vkAllocateCommandBuffers', 1, 'ended cleanly', 9),
            ('initialization-failed@vkCreateDevice:1', 1, 'ended cleanly', 9),
            ('incompatible-driver@vkCreateInstance', 1, 'ended cleanly', 9),
            ('no-device', 1, 'ended cleanly', 9),
            ('oom@submission:7', 1, 'ended cleanly', 9),
            ('oom@vkCreateFence:1/start', 1, 'ended cleanly', 9),
            ('oom@vkCreateFence:1/steady', 1, 'not reached', None),
            ('oom@vkQueueSubmit:15/steady', 1, 'ended cleanly', 9),
            ('delay=200@vkQueueSubmit:5', 0, 'survived', None),
            ('suboptimal@vkAcquireNextImageKHR:1', 1, 'not reached', None),
            ('lost@vkGetFenceStatus:1', 1, 'not reached', None),
            ('delay=1@vkEnumeratePhysicalDevices:1', 0, 'survived', None),
            ('delay=1@vkEnumerateDeviceExtensionProperties:1', 0, 'survived', None),
            ('delay=1@vkGetPhysicalDeviceImageFormatProperties:1', 0, 'survived', None),
            ('lost@vkWaitForFences:2', 0, 'survived', None)):
        out = lose('--fault', fault, '--json', '--reach', '10', '--timeout', '30', '--', client, 'recover', code=code)[0]
        j = json.loads(out)
        assert (j['verdict'], j['exit_code']) == (verdict, exit_code), (fault, j)
        assert j['faults'] == [{'fault': fault, 'given': 0 if verdict == 'not reached' else 1}] or 'no-device' in fault, j


@case
def what_it_shows_afterwards():
    if not shutil.which('Xvfb'):
        return 'Xvfb is not installed'
    with tempfile.TemporaryDirectory() as d:
        picture = d + '/end.png'
        how = ['--screen', '64x48', '--same-picture', '--picture', picture, '--at-submit', '40', '--', client]
        assert 'survived: it works on a new device' in lose(*how, 'blue')[1]
        assert open(picture, 'rb').read(8) == b'\x89PNG\r\n\x1a\n'
        for red in ('blue-red', 'blue-late'):
            err = lose(*how, red, code=1)[1].splitlines()[-1]
            assert err == 'survived with a wrong picture: 100.0 % of what it shows is not as without it, where 0.0 % would be as it moves', err
        assert 'survived: it works on a new device' in lose(*how, 'moves')[1]
        err = lose(*how, 'moves-still', code=1)[1].splitlines()[-1]
        assert err == 'survived with a wrong picture: it shows a picture of before the loss: what moves without it stands still', err


@case
def who_begins_anew_in_a_way_of_his_own():
    for how in ('respawn', 'many'):
        err = lose('--at-submit', '20', '--timeout', '60', '--', client, how)[1].splitlines()[-1]
        assert err.startswith('survived: it works on a new device'), (how, err)


@case
def what_is_kept_of_each_loss():
    times = ['--at-submit', '5', '--times', '20', '--timeout', '60', '--', client]
    assert 'survived' in lose(*times, 'recover')[1]
    err = lose(*times, 'leak', code=1)[1].splitlines()[-1]
    assert re.match(r'leaks: it works, and keeps more with every loss: 1\d lost devices that are not destroyed, 1\d descriptors, '
                    r'.*\d+ KiB of memory over 20 losses', err), err


@case
def losses_that_are_seen_at_once():
    """On a busy machine: what is left behind is counted by whoever loses the device, not by who looks on."""
    p = subprocess.Popen([aerogpu, 'lose', '--at-submit', '6', '--times', '20', '--timeout', '60', '--', client, 'leak-child'], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    p.stderr.readline()
    p.send_signal(signal.SIGSTOP)
    time.sleep(1)
    p.send_signal(signal.SIGCONT)
    err = p.communicate(timeout=100)[1].splitlines()[-1]
    assert re.search(r'keeps more with every loss: 1\d processes over 20 losses', err), err


@case
def what_the_validation_layer_says():
    words = ['--validation', '--json', '--at-submit', '20', '--timeout', '60']
    if not os.path.exists('/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json'):
        return 'the validation layer is not installed'
    assert json.loads(lose(*words, '--', client, 'leak')[0])['validation'] == []
    out, err = lose(*words, '--', client, 'recover')
    said = json.loads(out)['validation']
    assert any(re.match(r'VUID-vkDestroyCommandPool-commandPool-00041: .* in use', line) for line in said), said
    assert all('      ' + line + '\n' in err for line in said) and 'is no misuse' in err, err
    env = dict(os.environ, XDG_DATA_DIRS='/nonexistent', HOME='/nonexistent')
    for name in ('VK_LAYER_PATH', 'VK_ADD_LAYER_PATH', 'XDG_DATA_HOME'):
        env.pop(name, None)
    p = subprocess.run([aerogpu, 'lose', '--validation', '--', client], capture_output=True, text=True, timeout=60, env=env)
    assert p.returncode == 4 and 'VK_LAYER_KHRONOS_validation is not installed' in p.stderr, p.stderr


MATRIX = '''
jobs = 2
[program.good]
run = [%(client)s, "recover"]   # comes back
[program.bad]
run = [%(client)s,
       'abort',
]
[program."not there"]
run = ["/nonexistent"]
faults = ["lost", "end"]
[fault.lost]
options = ["--at-submit", "20"]
seeds = 2
[fault.answers]
options = ["--fault", "delay=1@vkCreateFence:1", "--fault", "oom@vkQueueSubmit:9", "--fault", "delay=2@vkCreateFence:1"]
[fault.end]
options = ["--at-submit", "5"]
expect = "end"
[known]
"bad/lost" = "it aborts: #7"
"good/lost" = "long gone"
'''


@case
def a_matrix():
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/m.toml', 'w') as f:
            f.write(MATRIX % {'client': json.dumps(client)})
        out = lose('--matrix', d + '/m.toml', '--junit', d + '/j.xml', '--sarif', d + '/s.sarif', '--json=' + d + '/j.json', code=1)[0]
        assert out.splitlines()[-1] == '11 cases: 1 ok, 3 failed, 2 known, 2 fixed, 3 could not be tried', out
        for words in ('ok      good/end: survived', 'known   bad/lost#2: dies', 'it aborts: #7', 'FAILED  bad/end: dies',
                      'FAILED  good/answers: ended cleanly', 'fewest faults: oom@vkQueueSubmit:9',
                      'repeat: aerogpu lose --fault oom@vkQueueSubmit:9 -- %s recover' % client,
                      'fixed: take it out of [known] good/lost#1: survived', 'BROKEN  not there/end: it could not be tried',
                      'cannot run /nonexistent: No such file or directory'):
            assert words in out, (words, out)
        suite = xml.etree.ElementTree.parse(d + '/j.xml').getroot().find('testsuite')
        assert (suite.get('tests'), suite.get('failures'), suite.get('errors'), suite.get('skipped')) == ('11', '5', '3', '2')
        assert len(suite.findall('testcase/failure')) == 5 and suite.find('testcase/skipped').get('message') == 'it aborts: #7'
        results = json.load(open(d + '/s.sarif'))['runs'][0]['results']
        assert len(results) == 8 and {r['ruleId'] for r in results} == {'lost', 'answers', 'end'}
        cases = json.load(open(d + '/j.json'))['cases']
        assert sum(c['ok'] for c in cases) == 3 and len(cases) == 11
        fewest = {c['name']: c['fewest_faults'] for c in cases}
        assert fewest['good/answers'] == 'oom@vkQueueSubmit:9' and fewest['good/end'] is None and fewest['bad/lost#1'] is None, fewest
        # What is printed to repeat a case does that.
        line = next(l for l in out.splitlines() if 'repeat:' in l and 'abort' in l and 'oom' not in l)
        assert subprocess.run([aerogpu] + line.split()[2:], capture_output=True).returncode == 1


@case
def what_an_interrupt_leaves():
    """The totals and the reports are of what ran; what was ended, and what had not begun, is not ok, and is said to be so."""
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/m.toml', 'w') as f:
            f.write('jobs = 1\n[program.a]\nrun = [%s, "recover"]\n[program.b]\nrun = [%s, "abort"]\n[fault.f]\noptions = ["--at-submit", "20"]\n'
                    '[fault.never]\noptions = ["--at-submit", "4000000000"]\n[known]\n"b/f" = "#7"\n' % (json.dumps(client), json.dumps(client)))
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            p = subprocess.Popen([aerogpu, 'lose', '--matrix', d + '/m.toml', '--junit', d + '/j.xml', '--sarif', d + '/s', '--json=' + d + '/j'],
                                 stdout=subprocess.PIPE, text=True)
            first = p.stdout.readline() # the second case has begun, or is about to
            p.send_signal(sig)
            out = p.communicate(timeout=60)[0]
            assert p.returncode == 128 + sig and first.startswith('ok      a/f: survived'), (p.returncode, first)
            assert out == '4 cases: 1 ok, 0 failed, 0 known, 0 fixed, 0 could not be tried, 3 interrupted\n', out
            cases = json.load(open(d + '/j'))['cases']
            assert [(c['ok'], c['verdict']) for c in cases] == [(True, 'survived'), (False, cases[1]['verdict']), (False, 'not run'), (False, 'not run')], cases
            assert cases[1]['verdict'] in ('interrupted', 'not run') and cases[3]['command'][-2:] == [client, 'abort'], cases
            suite = xml.etree.ElementTree.parse(d + '/j.xml').getroot().find('testsuite')
            assert (suite.get('tests'), suite.get('failures'), suite.get('skipped')) == ('4', '0', '3'), suite.attrib
            assert [s.get('message') for s in suite.findall('testcase/skipped')] == [cases[1]['verdict'], 'not run', 'not run']
            assert json.load(open(d + '/s'))['runs'][0]['results'] == []


@case
def the_json_of_a_matrix_has_standard_output():
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/m.toml', 'w') as f:
            f.write('[program.a]\nrun = [%s, "recover"]\n[fault.f]\noptions = ["--at-submit", "20"]\n' % json.dumps(client))
        out, err = lose('--matrix', d + '/m.toml', '--json')
        assert [c['name'] for c in json.loads(out)['cases']] == ['a/f'], out
        assert err.splitlines()[-1].startswith('1 cases: 1 ok'), err
        if os.path.exists('/dev/full'):
            p = subprocess.run([aerogpu, 'lose', '--matrix', d + '/m.toml', '--json'], stdout=open('/dev/full', 'w'), stderr=subprocess.PIPE, text=True)
            assert p.returncode == 4 and 'aerogpu lose: standard output could not be written' in p.stderr.splitlines()[-1], p.stderr


@case
def faults_that_a_seed_draws():
    drawn = {}
    for seed in ('1', '2', '1', '5', '2'):
        p = subprocess.run([aerogpu, 'lose', '--random', '3', '--seed', seed, '--expect', 'end', '--reach', '3', '--timeout', '3', '--json', '--',
                            client, 'recover'], capture_output=True, text=True, timeout=200)
        faults = [f['fault'] for f in json.loads(p.stdout)['faults']]
        assert len(faults) == 3 and faults == re.findall('^    --fault (.*)$', p.stderr, re.M), (faults, p.stderr)
        for f in faults:
            assert re.fullmatch(r'[a-z-]+@vk\w+:\d+\+?', f), f
        assert drawn.setdefault(seed, faults) == faults, (drawn, faults)
    assert len({tuple(f) for f in drawn.values()}) == 3, drawn
    err = lose('--random', '1', '--reach', '1', '--', 'true', code=4)[1].splitlines()[-1]
    assert err == 'aerogpu lose: the program calls nothing that can fail: no device', err


@case
def a_seed_that_fails_is_reduced():
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/m.toml', 'w') as f:
            f.write('[program.bad]\nrun = [%s, "abort"]\n[fault.f]\noptions = ["--random", "1", "--fault", "delay=1@vkCreateFence", "--reach", "5", '
                    '"--fault", "lost@vkQueueSubmit:5"]\nseeds = 8\nexpect = "end"\n' % json.dumps(client))
        p = subprocess.run([aerogpu, 'lose', '--matrix', d + '/m.toml'], capture_output=True, text=True, timeout=400)
        out = p.stdout
        # Some faults that are drawn end it before.
        failed = out.count('FAILED  bad/f#')
        assert failed and len(re.findall(r'fewest faults: \S+$', out, re.M)) == failed, out # one of them is enough
        assert '--random' not in out and '--seed' not in out, out


@case
def what_fails_in_another_way_is_another_failure():
    """Without the loss, it ends; that is not how it failed."""
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/m.toml', 'w') as f:
            f.write('[program.a]\nrun = [%s, "abort"]\n[fault.f]\noptions = ["--fault", "lost@vkQueueSubmit:5", "--fault", "oom@vkQueueSubmit:9"]\n' % json.dumps(client))
        out = lose('--matrix', d + '/m.toml', code=1)[0]
        assert 'FAILED  a/f: dies' in out and '    fewest faults: lost@vkQueueSubmit:5\n' in out, out


@case
def what_takes_too_long_has_failed():
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/m.toml', 'w') as f:
            f.write('timeout = 1\n[program.a]\nrun = [%s, "recover"]\n[fault.f]\noptions = ["--at-submit", "4000000000"]\nexpect = "not-reached"\n' % json.dumps(client))
        out = lose('--matrix', d + '/m.toml', '--json=' + d + '/j', code=1)[0]
        assert out.startswith('FAILED  a/f: time is up ('), out
        assert json.load(open(d + '/j'))['cases'][0]['verdict'] == 'time is up'


@case
def what_was_not_reached_is_not_reduced():
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/m.toml', 'w') as f:
            f.write('[program.a]\nrun = [%s, "recover", "40"]\n[fault.f]\noptions = ["--fault", "oom@vkQueueSubmit:901", "--fault", '
                    '"oom@vkQueueSubmit:900"]\n' % json.dumps(client))
        out = lose('--matrix', d + '/m.toml', '--json=' + d + '/j', code=1)[0]
        assert 'FAILED  a/f: not reached' in out and 'fewest' not in out and 'repeat: aerogpu lose --fault oom@vkQueueSubmit:901 --fault' in out, out
        assert json.load(open(d + '/j'))['cases'][0]['fewest_faults'] is None
        # Nor is a seed, of a program that does less when it is run again.
        with open(d + '/m.toml', 'w') as f:
            f.write('[program.a]\nrun = ["sh", "-c", "if [ -e %s/$PPID ]; then exec $0 recover 2; fi; touch %s/$PPID; exec $0 recover", %s]\n'
                    '[fault.f]\noptions = ["--random", "1", "--timeout", "60"]\nexpect = "dies"\nseeds = 8\n' % (d, d, json.dumps(client)))
        out = lose('--matrix', d + '/m.toml', '--json=' + d + '/j', code=1)[0]
        missed = [c for c in json.load(open(d + '/j'))['cases'] if c['verdict'] == 'not reached']
        assert missed and all(c['fewest_faults'] is None and '--random' in c['command'] and '--seed' in c['command'] for c in missed), out


@case
def letters_of_everybody():
    """What a program says is in the reports as it said it, where XML can carry it, and well-formed where not."""
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/say', 'wb') as f:
            f.write(b'#!/bin/sh\nprintf "G\xc3\xbcte \xe2\x82\xac \xf0\x9f\x98\x80 <\\377\\033[1m\xef\xbf\xbf>\\n" >&2; exit 3\n')
        os.chmod(d + '/say', 0o755)
        with open(d + '/m.toml', 'w') as f:
            f.write('[program."Prüfling"]\nrun = [%s]\n[fault."Verlust é"]\noptions = ["--reach", "1"]\n' % json.dumps(d + '/say'))
        lose('--matrix', d + '/m.toml', '--junit', d + '/j.xml', '--sarif', d + '/s.sarif', code=1)
        case = xml.etree.ElementTree.parse(d + '/j.xml').getroot().find('testsuite/testcase')
        assert (case.get('classname'), case.get('name')) == ('Prüfling', 'Verlust é'), case.attrib
        assert 'Güte € \U0001F600 <\ufffd<U+001B>[1m\ufffd>' in case.find('system-out').text, case.find('system-out').text
        result = json.load(open(d + '/s.sarif'))['runs'][0]['results'][0]
        assert result['ruleId'] == 'Verlust é' and result['message']['text'].startswith('Prüfling/Verlust é: '), result


@case
def what_is_expected_of_a_case():
    for verdict, how in (('dies', 'abort'), ('ended', 'exit'), ('survive', 'recover')):
        lose('--at-submit', '5', '--expect', verdict, '--', client, how)
    assert 'survived: ' in lose('--at-submit', '5', '--expect', 'dies', '--', client, 'recover', code=1)[1]
    lose('--at-submit', '5', '--expect', 'ended', '--', client, 'recover', code=1)  # end: that or to survive
    lose('--at-submit', '5', '--expect', 'end', '--', client, 'recover')
    lose('--expect', 'no-device', '--', 'true')
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/m.toml', 'w') as f:
            f.write('[program.a]\nrun = [%s, "abort"]\n[program.b]\nrun = ["true"]\n[fault.f]\noptions = ["--at-submit", "5"]\nexpect = "dies"\n'
                    '[fault.g]\noptions = ["--at-submit", "5"]\n[expect]\n"b/f" = "no-device"\n"a/g" = "survive"\n"b/g" = "no-device"\n' % json.dumps(client))
        out = lose('--matrix', d + '/m.toml', code=1)[0]
        for words in ('ok      a/f: dies', 'FAILED  a/g: dies', 'ok      b/f: no device', '4 cases: 3 ok, 1 failed, 0 known, 0 fixed, 0 could not be tried'):
            assert words in out, (words, out)


@case
def the_table_of_programs_is_what_is_expected_of_them():
    docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../docs')
    text = open(docs + '/survival.toml', encoding='utf-8').read()
    programs = re.findall(r'^\[program\.(.*)\]$', text, re.M)
    word = {'survived': 'survive', 'ended cleanly': 'ended', 'dies': 'dies', 'ignores it': 'ignores', 'hangs': 'hangs'}
    said, columns = [], None
    for row in re.findall(r'^\| (.*) \|$', open(docs + '/lose.md', encoding='utf-8').read().split('## Programs of Debian 12')[1], re.M):
        cells = [c.strip(' ²') for c in row.split('|')]
        if cells[0] in ('Vulkan', 'OpenGL'):
            columns = [c.replace(' ', '-') for c in cells[1:]]
        else: # a program's row stands where it stands in the matrix
            said += [('%s/%s' % (programs[0], f), word[v]) for f, v in zip(columns, cells[1:]) if v]
            programs.pop(0)
    assert not programs and len(said) > 100, (programs, len(said))
    expected = [e for e in re.findall(r'^"(.*)" = "(.*)"$', text, re.M) if not e[0].endswith('/same-picture')]
    assert sorted(said) == sorted(expected), set(said) ^ set(expected)


@case
def wrong_matrices():
    good = '[program.a]\nrun = ["true"]\n[fault.f]\noptions = ["--at-submit", "5"]\n'
    with tempfile.TemporaryDirectory() as d:
        path = d + '/m.toml'
        for text, said in (('[fault.f]\n', ': there is no program: [program.NAME]'), ('[program.a]\n[fault.f]', ': line 1: program a has no `run`'),
                           ('x = 1\n', ": line 1: 'x' is none of jobs, timeout, screen (once)"),
                           ('\njobs = 0\n', ': line 2: a number from 1 to 1024 is wanted'),
                           ('screen = "0x0"\n', ": line 1: screen: '0x0' is no size of a screen, as 640x480 is"),
                           ('jobs 2\n', ": line 1: '=' is missing behind 'jobs'"), ('jobs = 2 3\n', ": line 1: what is '3'?"),
                           ('[progam.a]\n', ': line 1: [progam: a table is [program.NAME], [fault.NAME], [expect] or [known]'),
                           ('[program.a]\nrun = "true"\n', ': line 2: an array of strings is wanted, as in ["vkcube"]'),
                           ('[program.a]\nrun = ["true\n', ': line 2: a string without its end'),
                           ('[program.a]\nrun = ["true", 1]\n', ': line 2: a string is wanted in the array'),
                           ('[program.a]\nrun = ["\\x"]\n', ': line 2: a string with \\x, which is none of \\b \\t \\n \\f \\r \\" \\\\'),
                           (good + 'expect = "luck"\n', ": line 5: 'luck' is none of survive|end|ended|dies|ignores|hangs|stalls|not-reached|no-device|wrong-picture|leaks"),
                           (good + '[expect]\n"a/f" = "luck"\n', ": line 6: 'luck' is none of survive|end|ended|dies|ignores|hangs|stalls|not-reached|no-device|wrong-picture|leaks"),
                           (good + '[expect]\n"a/g" = "dies"\n', ': line 6: there is no case a/g'),
                           (good + '[expect]\n"a/f" = "dies"\n"a/f" = "end"\n', ': line 7: what is expected of a/f is in line 6 already'),
                           (good + '[fault.f]\n', ': line 5: fault f is in line 3 already'),
                           ('[program.a]\nrun = ["true"]\nfaults = ["g"]\n[fault.f]\n', ': line 1: program a: there is no fault g'),
                           ('[program.a]\nfault = ["g"]\n', ": line 2: 'fault': a program has `run` and `faults`, once"),
                           (good + '[known]\n"a/g" = "why"\n', ': line 6: there is no case a/g'), ('', ': is empty')):
            with open(path, 'w') as f:
                f.write(text)
            err = lose('--matrix', path, code=3)[1]
            assert err == 'aerogpu lose: %s%s\n' % (path, said), (text, err)
        with open(path, 'w') as f:
            f.write(good + '\0' + good)
        assert lose('--matrix', path, code=3)[1] == 'aerogpu lose: %s: byte %d is 0: this is no text\n' % (path, len(good))
        for options in ('["--bogus"]', '["--matrix", "x"]', '["--", "true"]', '["--fault", "oom"]', '["--at-frame", "1", "--at-submit", "1"]', '["--json=x"]', '["--js=x"]',
                        '["--json"]', '["--junit", "x"]', '["--mat=x"]', '["-j", "2"]', '["--screen", "64x48", "--picture", "x"]', '["true"]'):
            with open(path, 'w') as f:
                f.write('[program.a]\nrun = ["true"]\n\n[fault.f]\noptions = %s\n' % options)
            err = lose('--matrix', path, code=3)[1].splitlines()[-1]
            assert err == 'aerogpu lose: %s: line 4: the options of fault f are none of a case' % path, (options, err)
    for args, said in ((('--junit', 'x', '--', 'true'), '--junit, --sarif, --pictures and --jobs are for --matrix'),
                       (('--matrix', 'x', '--', 'true'), 'a matrix names its programs itself'),
                       (('--matrix', 'x', '--at-frame', '5'), '--at-frame is for one program: in a matrix, the options of its faults have it'),
                       (('--matrix', 'x', '--picture', 'x'), '--picture is for one program: in a matrix, the options of its faults have it'),
                       (('--same-picture', '--', 'true'), '--picture and --same-picture need a --screen')):
        assert lose(*args, code=2)[1].splitlines()[-1] == 'aerogpu lose: %s; `aerogpu lose --help` says more' % said


@case
def gears_do_not_survive():
    """A program that nobody here wrote, on Direct3D 12: its assertion fails, and that is what is said."""
    if not shutil.which('vkd3d-gears') or not shutil.which('Xvfb'):
        return 'vkd3d-gears and Xvfb are not installed'
    screen = subprocess.Popen(['Xvfb', '-displayfd', '1', '-screen', '0', '640x480x24', '-nolisten', 'tcp'], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        p = subprocess.run([aerogpu, 'lose', '--at-frame', '20', '--json', '--timeout', '60', '--', 'vkd3d-gears'], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=200,
                           env=dict(os.environ, DISPLAY=':' + screen.stdout.readline().strip()))
    finally:
        screen.terminate()
        screen.wait()
    j = json.loads(p.stdout)
    assert (p.returncode, j['verdict'], j['signal']) == (1, 'dies', signal.SIGABRT), j
    assert j['losses'][0]['frames'] == 19 and j['losses'][0]['reported_by'] == 'vkQueuePresentKHR', j


print('1..%d' % len(tests))
for n, test in enumerate(tests, 1):
    try:
        skipped = test()
        print('ok %d - %s%s' % (n, test.__name__, ' # SKIP ' + skipped if skipped else ''), flush=True)
    except Exception as e:
        print('not ok %d - %s\n# %s' % (n, test.__name__, str(e).replace('\n', '\n# ')), flush=True)
