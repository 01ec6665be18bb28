#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lose_commands_test.py AEROGPU CLIENT: aerogpu lose from the outside: its words, its JSON, its exit codes; and a real program."""
import json, os, shutil, signal, subprocess, sys, time

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
def who_may_end_may_not_die():
    for how, said in (('exit', 'ended: it ended with exit code 3 and made no new device'),
                      ('abort', 'died: signal 6 (Aborted) ended it')):
        out, err = lose('--at-submit', '5', '--timeout', '60', '--', client, how, code=1)
        assert out == '' and err.splitlines()[-1] == said, err
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
    assert err.splitlines()[-1] == ('not-reached: the device was not lost: the program did not come to frame 60 before it ended; '
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
                       (['--expect', 'luck', 'x'], "aerogpu lose: --expect: 'luck' is none of survive|end" + more),
                       (['--nonsense', 'x'], "aerogpu lose: unknown option '--nonsense'" + more)):
        out, err = lose(*args, code=2)
        assert out == '' and err.splitlines()[-1] == said, (args, err)


@case
def what_cannot_run():
    assert lose('--', '/nonexistent', code=4)[1] == 'aerogpu lose: cannot run /nonexistent: No such file or directory\n'
    assert lose('--', 'true', code=4)[1] == 'no-device: the program made no Vulkan device\n'


@case
def an_interrupt_ends_the_program_too():
    p = subprocess.Popen([aerogpu, 'lose', '--at-submit', '4000000000', '--', client, 'recover'], stderr=subprocess.PIPE, text=True)
    line = p.stderr.readline()
    pid = int(line.split()[-1])
    p.send_signal(signal.SIGINT)
    assert p.wait(60) == 130
    assert not os.path.exists('/proc/%d' % pid) or open('/proc/%d/stat' % pid).read().split()[2] == 'Z'


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
    assert (p.returncode, j['verdict'], j['signal']) == (1, 'died', signal.SIGABRT), j
    assert j['losses'][0]['frames'] == 19 and j['losses'][0]['reported_by'] == 'vkQueuePresentKHR', j


print('1..%d' % len(tests))
for n, test in enumerate(tests, 1):
    try:
        skipped = test()
        print('ok %d - %s%s' % (n, test.__name__, ' # SKIP ' + skipped if skipped else ''), flush=True)
    except Exception as e:
        print('not ok %d - %s\n# %s' % (n, test.__name__, str(e).replace('\n', '\n# ')), flush=True)
