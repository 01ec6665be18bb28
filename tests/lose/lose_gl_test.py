#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lose_gl_test.py AEROGPU CLIENT: aerogpu lose with programs of OpenGL, by EGL and by GLX."""
import json, os, re, shutil, subprocess, sys, tempfile

aerogpu, client = sys.argv[1:3]
tests = []
GUILTY, INNOCENT, UNKNOWN, LOST = '8253', '8254', '8255', '507'


def case(fn):
    tests.append(fn)
    return fn


def lose(*args, api='egl', how='recover', limit=(), code=0):
    """Its JSON, what the program printed, and what was said."""
    screen = ['--screen', '64x64'] if api == 'glx' else []
    with tempfile.NamedTemporaryFile() as f:
        p = subprocess.run([aerogpu, 'lose', *screen, '--timeout', '60', *args, '--json=' + f.name, '--', client, api, how, *limit],
                           text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)
        said = open(f.name).read()
    assert p.returncode == code, '%s: exit code %d, expected %d: %s%s' % (args, p.returncode, code, p.stdout, p.stderr)
    return json.loads(said) if said else None, p.stdout, p.stderr


def ways():
    return ['egl', 'dlsym', 'proc'] + (['glx'] if shutil.which('Xvfb') else [])


@case
def who_makes_a_new_context_survives():
    for api in ways():
        j, _, err = lose('--at-frame', '20', api=api)
        assert (j['verdict'], j['devices']) == ('survived', 2), j
        l = j['losses'][0]
        kind, call = ('glx', 'glGetGraphicsResetStatus') if api == 'glx' else ('egl', 'eglSwapBuffers')
        assert (l['api'], l['told'], l['frames'], l['reported_by']) == (kind, True, 19, call), l
        assert l['reported_ms'] <= l['destroyed_ms'] <= l['new_device_ms'] <= l['work_ms'], l
        for words in ('a context: OpenGL by %s, process ' % kind.upper(), 'after 19 frames the context is lost', call + ' tells of the reset',
                      'the lost context is destroyed', 'a new context', 'survived: it works on a new context'):
            assert words in err, (words, err)


@case
def what_a_lost_context_says():
    gl = ['status ' + GUILTY, 'status 0', 'error 0', 'shader 0', 'string 0', 'error ' + LOST, 'error 0', 'sync 9119', 'error 0', 'wait 911d',
          'error ' + LOST]
    for api in ways():
        out = lose('--at-frame', '20', api=api, how='says', code=1)[1].splitlines()
        egl = ['swap 0', 'egl 300e', 'egl 3000']
        # With GLX the program knows by the status already.
        assert out == (['status 0'] + gl[1:] if api == 'glx' else egl + gl + ['current 0', 'egl 300e']), (api, out)


@case
def who_is_guilty():
    for options, mine in (([], GUILTY), (['--reset', 'innocent'], INNOCENT), (['--reset', 'unknown'], UNKNOWN), (['--reset', 'guilty'], GUILTY)):
        assert 'status ' + mine in lose('--at-frame', '20', *options, how='says', code=1)[1], options
    # The other contexts of the process are lost with it.
    assert lose('--at-frame', '20', how='two', code=1)[1] == GUILTY + ' 0 300e\n'


@case
def who_does_what():
    for api in ways()[::3]:
        for how, verdict, exit_code, sig in (('exit', 'ended cleanly', 3, None), ('abort', 'dies', None, 6), ('pause', 'hangs', None, None),
                                             ('ignore', 'ignores it', None, None), ('deaf', 'ignores it', None, None)):
            j, _, err = lose('--at-frame', '20', '--timeout', '2', api=api, how=how, code=1)
            assert (j['verdict'], j['exit_code'], j['signal']) == (verdict, exit_code, sig), (api, how, j)
            if how in ('abort', 'pause'):
                assert ' %s (libc.so.6)' % how in j['stacks'], j
            if (api, how) == ('glx', 'deaf'):
                assert err.splitlines()[-1] == ('ignores it: it goes on with the context that is lost, and shows nothing new: nothing tells it of '
                                                'that, for it did not ask to be told (GL_LOSE_CONTEXT_ON_RESET)'), err
                assert not j['losses'][0]['told'] and not j['losses'][0]['reported'], j
            elif verdict == 'ignores it':
                assert re.search(r'ignores it: it goes on with the context that is lost; calls that told it so: %s$' % (r'1' if api == 'glx' else r'\d{2,}'), err), err


@case
def a_hang_first():
    for api in ways()[::3]:
        j = lose('--at-frame', '20', '--hang', '300', api=api)[0]
        assert (j['verdict'], j['losses'][0]['frames']) == ('survived', 19) and j['losses'][0]['at_ms'] >= 300, j
        j, _, err = lose('--at-submit', '20', '--hang', '60000', api=api, how='watchdog')
        assert j['verdict'] == 'survived' and 'hangs, and the program does not wait for its reset' in err, (j, err)


@case
def what_shows_nothing():
    j, _, err = lose('--at-submit', '20', how='draws')
    assert (j['verdict'], j['losses'][0]['submissions'], j['losses'][0]['frames']) == ('survived', 19, 0), j
    assert 'after 0 frames and 19 draws the context is lost' in err, err


@case
def no_new_context_for_a_while():
    for api in ways()[::3]:
        j, out, _ = lose('--at-frame', '20', '--refuse', '300', api=api, how='refused')
        assert j['verdict'] == 'survived' and j['losses'][0]['new_device_ms'] >= 300, j
        assert out == ('refused: 0\n' if api == 'glx' else 'refused: 3003\n') and j['refused'], (out, j)


@case
def again_and_again():
    j = lose('--at-frame', '6', '--times', '20')[0]
    assert (j['verdict'], [l['frames'] for l in j['losses']]) == ('survived', [5] * 20), j
    err = lose('--at-frame', '6', '--times', '20', how='leak', code=1)[2]
    assert re.search(r'leaks: it works, and keeps more with every loss: 1\d lost contexts that are not destroyed', err), err


@case
def faults():
    for fault, code, verdict, printed in (
            ('oom@glBufferData:1', 1, 'ended cleanly', 'glBufferData: 505 0\n'),
            ('oom@eglCreatePbufferSurface', 1, 'ended cleanly', 'eglCreatePbufferSurface: 3003\n'),
            ('bad-match@eglCreatePbufferSurface', 1, 'ended cleanly', 'eglCreatePbufferSurface: 3009\n'),
            ('framebuffer-unsupported@glCheckFramebufferStatus', 1, 'ended cleanly', 'glCheckFramebufferStatus: 8cdd\n'),
            ('no-device', 1, 'ended cleanly', 'eglInitialize: 3001\n'),
            ('lost@glClear:30', 0, 'survived', ''), ('lost@eglSwapBuffers:7', 0, 'survived', ''), ('lost@frame:7', 0, 'survived', ''),
            ('lost@submission:7', 0, 'survived', ''), ('lost@glClear:5/steady', 0, 'survived', ''),
            ('delay=200@glClear:20', 0, 'survived', ''), ('delay=300@frame:20', 0, 'survived', ''),
            ('oom@eglSwapBuffers:3', 0, 'survived', ''), ('oom@glBufferData:2', 1, 'not reached', '')):
        j, out, _ = lose('--fault', fault, '--reach', '5', code=code)
        assert (j['verdict'], out) == (verdict, printed), (fault, out, j)
        assert j['faults'][0]['given'] == (verdict != 'not reached'), j


@case
def the_call_that_was_answered_is_named():
    for _ in range(3):  # the program goes on while it is looked at
        for fault in 'oom@glClear:15', 'oom@glClear:15+', 'delay=1@frame:6':
            err = lose('--fault', fault, '--reach', '5')[2]
            n, command = re.search(r':(\d+)', fault).group(1), fault.split('@')[1].split(':')[0]
            said = re.search(r'fault 1: call (\d+) of (\w+)', err)
            assert said and said.group(1) == n and (said.group(2) == command or command == 'frame'), (fault, err)


@case
def without_a_gpu():
    err = lose('--fault', 'no-device', '--timeout', '2', how='software')[2].splitlines()[-1]
    assert err == 'survived: it goes on without a device', err
    assert lose('--fault', 'no-device', '--timeout', '2', how='stuck', code=1)[0]['verdict'] == 'hangs'


@case
def faults_that_a_seed_draws():
    drawn = set()
    for seed in ('1', '2', '3', '4', '5', '6'):
        j = lose('--random', '2', '--seed', seed, '--expect', 'end', '--reach', '4', '--timeout', '4')[0]
        drawn |= {f['fault'] for f in j['faults']}
    assert len(drawn) > 8 and all(re.fullmatch(r'[a-z-]+@e?gl[A-Z]\w+:\d+\+?', f) for f in drawn), drawn


@case
def wrong_faults():
    for fault, said in (('oom@glBuferData', "'glBuferData' is no command of OpenGL, OpenGL ES, EGL or GLX"),
                        ('bad-alloc@glBufferData', "glBufferData never answers 'bad-alloc'; it may answer out-of-memory, context-lost"),
                        ('bad-access@eglSwapBuffers', "eglSwapBuffers never answers 'bad-access'; it may answer context-lost, bad-alloc, bad-surface, "
                                                      "bad-native-window"),
                        ('oom@eglGetError', "eglGetError never answers 'bad-alloc'; it may answer nothing but success")):
        err = lose('--fault', fault, code=2)[2].splitlines()[-1]
        assert err == 'aerogpu lose: --fault: %s; `aerogpu lose --help` says more' % said, err


@case
def every_answer_that_is_listed_is_taken():
    said = [l for l in subprocess.run([aerogpu, 'lose', '--answers'], text=True, stdout=subprocess.PIPE).stdout.splitlines()
            if re.search('@e?gl', l)]
    assert len(said) > 6000 and 'out-of-memory@glTexImage2D' in said and 'context-lost@eglMakeCurrent' in said, len(said)
    for fault in said[::700] + [f for f in said if '@egl' in f]:
        p = subprocess.run([aerogpu, 'lose', '--fault', fault, '--answers'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert p.returncode == 0, p.stderr


@case
def what_hides_from_the_vendor_library_is_named():
    hidden = ['env', '-i', client]
    p = subprocess.run([aerogpu, 'lose', '--reach', '3', '--', *hidden], stderr=subprocess.PIPE, text=True)
    assert p.returncode == 4 and 'uses Vulkan or OpenGL without the layer: its environment was cleared' in p.stderr, p.stderr
    # By its path it is found whatever the program's own libraries are.
    p = subprocess.run([aerogpu, 'lose', '--at-frame', '10', '--', 'env', 'LD_LIBRARY_PATH=/tmp', client, 'egl', 'recover'], stderr=subprocess.PIPE,
                       text=True)
    assert p.returncode == 0 and 'survived' in p.stderr, p.stderr
    # Where GLX is loaded besides, its vendor library reports, and EGL's is another's all the same.
    for screen, api, changes in ([], 'egl', {'__EGL_VENDOR_LIBRARY_FILENAMES': '/usr/share/glvnd/egl_vendor.d/50_mesa.json'}), \
            (['--screen', '64x64'], 'glx', {'LD_LIBRARY_PATH': '/tmp'}), (['--screen', '64x64'], 'glx', {'__GLX_VENDOR_LIBRARY_NAME': 'mesa'}):
        if api == 'glx' and not shutil.which('Xvfb'):
            continue
        words = ['%s=%s' % c for c in changes.items()]
        p = subprocess.run([aerogpu, 'lose', *screen, '--at-frame', '10', '--reach', '4', '--', 'env', *words, client, api, 'recover'],
                           stderr=subprocess.PIPE, text=True)
        assert p.returncode == 4 and 'without the layer: what started it has changed %s, which' % list(changes)[0] in p.stderr, p.stderr
    # One that is linked with OpenGL, or Vulkan, and asks it for nothing.
    p = subprocess.run([aerogpu, 'lose', '--reach', '2', '--', client, 'none'], stderr=subprocess.PIPE, text=True)
    assert p.returncode == 4 and p.stderr.startswith('no device: the program made no Vulkan device and no context of OpenGL in time; '
                                                     '--reach gives it more'), p.stderr
    assert 'DISPLAY' in os.environ or 'WAYLAND_DISPLAY' in os.environ or 'DISPLAY is not set: --screen' in p.stderr, p.stderr


@case
def everybody_can_ask_to_be_told():
    """Xvfb's GLX knows no robustness: programs that ask whether there is any, before they ask for it, would not."""
    if not shutil.which('Xvfb'):
        return 'Xvfb is not installed'
    assert lose('--at-frame', '20', api='glx', how='asks')[0]['verdict'] == 'survived'


@case
def gears_show_nothing_new():
    """A program that nobody here wrote."""
    if not shutil.which('glxgears') or not shutil.which('Xvfb'):
        return 'glxgears and Xvfb are not installed'
    p = subprocess.run([aerogpu, 'lose', '--screen', '300x300', '--at-frame', '20', '--timeout', '3', '--', 'glxgears'], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)
    assert p.returncode == 1 and 'ignores it: it goes on with the context that is lost, and shows nothing new' in p.stderr, p.stderr


print('1..%d' % len(tests))
for n, test in enumerate(tests, 1):
    try:
        skipped = test()
        print('ok %d - %s%s' % (n, test.__name__, ' # SKIP ' + skipped if skipped else ''), flush=True)
    except Exception as e:
        print('not ok %d - %s\n# %s' % (n, test.__name__, str(e).replace('\n', '\n# ')), flush=True)
