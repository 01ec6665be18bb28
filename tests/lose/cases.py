#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cases.py AEROGPU CLIENTS [--some] [--print] [API...]: programs that behave in every way there is, with every kind of fault, in every
API: whether `aerogpu lose` says of each what it does. One matrix, and one line of TAP for each case.

CLIENTS is the folder of lose_client and its like. --some: a few of each API, for every run of the tests; --print: the matrix.
"""
import json, os, shutil, subprocess, sys, tempfile

SURVIVES, ENDED, DIES, IGNORES, HANGS, STALLS, NEVER, NOTHING, LEAKS, WRONG = (
    'survive', 'ended', 'dies', 'ignores', 'hangs', 'stalls', 'not-reached', 'no-device', 'leaks', 'wrong-picture')

# A way to fail, by the options that bring it about. What is expected to come to an end by itself may take its time on a busy machine.
FAULTS = {
    'lost': '--at-submit 20', 'frame': '--at-frame 20', 'hang': '--at-submit 20 --hang 300', 'frame-hang': '--at-frame 20 --hang 300',
    'long-hang': '--at-submit 20 --hang 60000', 'five-seconds': '--at-submit 20 --hang 5000 --reach 2', 'refuse': '--at-submit 20 --refuse 400', 'frame-refuse': '--at-frame 20 --refuse 400',
    'five': '--at-submit 12 --times 5', 'twenty': '--at-submit 6 --times 20', 'frame-twenty': '--at-frame 6 --times 20',
    'early': '--at-submit 1', 'late': '--at-submit 300', 'never': '--at-submit 4000000000 --reach 15', 'seed': '--at-submit 60 --seed 5',
    'lost-waiting': '--fault lost@vkWaitForFences:3', 'lost-first': '--fault lost@vkQueueSubmit:1', 'lost-idle': '--fault lost@vkDeviceWaitIdle:2',
    'oom': '--fault oom@vkQueueSubmit:9', 'oom-start': '--fault oom@vkCreateFence:1/start', 'host-oom': '--fault host-oom@vkAllocateCommandBuffers',
    'no-driver': '--fault incompatible-driver@vkCreateInstance', 'no-feature': '--fault feature-not-present@vkCreateDevice:1',
    'oom-steady': '--fault oom@vkQueueSubmit:15/steady', 'recovery-oom': '--at-submit 20 --fault oom@vkCreateFence:1/recovery',
    'recovery-lost': '--at-submit 20 --fault device-lost@vkCreateDevice:1/recovery',
    'no-device': '--fault no-device', 'slow': '--fault delay=150@vkQueueSubmit:5', 'incomplete': '--fault incomplete@vkEnumeratePhysicalDevices:1',
    'gl-oom': '--fault oom@glBufferData:1', 'gl-alloc': '--fault bad-alloc@eglCreatePbufferSurface', 'gl-lost': '--fault lost@glClear:30',
    'gl-incomplete': '--fault framebuffer-unsupported@glCheckFramebufferStatus', 'gl-slow': '--fault delay=150@glClear:20',
    'innocent': '--at-frame 20 --reset innocent', 'unknown': '--at-frame 20 --reset unknown', 'gl-never': '--at-frame 4000000000 --reach 3',
    'picture': '--at-submit 40 --same-picture', 'crash': '--fault crash@vkQueueSubmit:9', 'gl-crash': '--fault crash@frame:9', 'crash-submission': '--fault crash@submission:9',
    'slow-never': '--at-submit 4000000000 --reach 25', 'page': '--at-frame 60 --same-picture', 'page-submit': '--at-submit 150 --same-picture', 'page-hang': '--at-frame 60 --hang 500 --same-picture',
    'page-crash': '--fault crash@frame:60 --same-picture',
}


def vulkan(c):
    client = c + '/lose_client'
    ways = {'recover': [], 'exit': ENDED, '_exit': ENDED, 'abort': DIES, 'ignore': IGNORES, 'pause': HANGS, 'probe': [], 'spare': [], 'watchdog': [],
            'pending': [], 'slow': [], 'end-abort': DIES, 'once': [], 'once-pause': HANGS, 'once-sleeps': STALLS, 'once-waits': STALLS, 'once-waits-on': HANGS, 'idle': IGNORES, 'new': STALLS, 'empty': STALLS, 'both': [],
            'beside': HANGS, 'neighbour': STALLS, 'leak': []}
    at_once = ('probe', 'new', 'both', 'leak') # they end where there is no new device at once
    for how, verdict in ways.items():
        yield how, [client, how], {'lost': verdict or SURVIVES, 'hang': verdict or SURVIVES, 'refuse': ENDED if how in at_once else verdict or SURVIVES}
    yield 'recover', [client, 'recover'], {
        'five': SURVIVES, 'twenty': SURVIVES, 'early': SURVIVES, 'late': SURVIVES, 'never': NEVER, 'seed': SURVIVES, 'lost-waiting': SURVIVES,
        'lost-first': SURVIVES, 'lost-idle': SURVIVES, 'oom': ENDED, 'oom-start': ENDED, 'host-oom': ENDED, 'no-driver': ENDED, 'no-feature': ENDED,
        'crash': DIES, 'oom-steady': ENDED, 'recovery-oom': ENDED, 'recovery-lost': SURVIVES, 'no-device': ENDED, 'slow': SURVIVES, 'incomplete': ENDED}
    yield 'leak', [client, 'leak'], {'twenty': LEAKS}
    yield 'leak-child', [client, 'leak-child'], {'twenty': LEAKS}
    yield 'abort', [client, 'abort'], {'lost-waiting': DIES, 'five': DIES, 'never': NEVER, 'slow': SURVIVES, 'seed': DIES}
    yield 'pause', [client, 'pause'], {'lost-waiting': HANGS, 'lost-first': HANGS, 'five': HANGS}
    yield 'ignore', [client, 'ignore'], {'lost-waiting': IGNORES, 'lost-idle': IGNORES, 'five': IGNORES}
    yield 'exit', [client, 'exit'], {'lost-waiting': ENDED, 'early': ENDED, 'late': ENDED}
    for how, verdict in (('watchdog', SURVIVES), ('watchdog-pause', HANGS), ('watchdog-exit', ENDED)):
        yield how, [client, how], {'five-seconds': verdict}
    yield 'short', [client, 'recover', '10'], {'lost': NEVER, 'oom': ENDED, 'slow': SURVIVES}
    yield 'few-more', [client, 'recover', '24'], {'lost': SURVIVES, 'hang': SURVIVES}
    yield 'nothing', [client, 'nothing'], {'lost': NOTHING, 'no-device': NOTHING}
    yield 'true', ['true'], {'lost': NOTHING}
    # By whom it was started.
    starters = {'sh': ['sh', '-c', '"$0" "$@"; true'], 'gone': ['sh', '-c', '(sleep 0.3; exec "$0" "$@") &'], 'env': ['env'],
                'timeout': ['timeout', '100'], 'nice': ['nice'], 'setsid': ['setsid', '-w'], 'stdbuf': ['stdbuf', '-o0'],
                'closes': [sys.executable, '-c', 'import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]) and 1)']}
    for starter, words in starters.items():
        for how, verdict in (('recover', SURVIVES), ('abort', DIES), ('pause', HANGS)):
            yield starter + '-' + how, words + [client, how], {'lost': verdict}
    for how in ('exit', 'ignore'):
        yield 'sh-' + how, starters['sh'] + [client, how], {'lost': ENDED if how == 'exit' else IGNORES}
    yield 'cleared', ['env', '-i', client, 'recover'], {'lost': NOTHING}
    if shutil.which('Xvfb'):
        for how, verdict in (('blue', SURVIVES), ('blue-red', WRONG), ('blue-late', WRONG), ('moves', SURVIVES), ('moves-still', WRONG)):
            yield how, [client, how], {'picture': verdict}


def opengl(c, api):
    client = c + '/lose_gl_client'
    for how, verdict in (('recover', SURVIVES), ('exit', ENDED), ('abort', DIES), ('pause', HANGS), ('ignore', IGNORES), ('deaf', IGNORES)):
        yield how, [client, api, how], {f: verdict for f in ('frame', 'frame-hang', 'frame-refuse')}
    yield 'recover', [client, api, 'recover'], {'innocent': SURVIVES, 'unknown': SURVIVES, 'frame-twenty': SURVIVES, 'gl-lost': SURVIVES,
                                                'gl-oom': ENDED, 'gl-incomplete': ENDED, 'gl-slow': SURVIVES, 'gl-crash': DIES, 'gl-never': NEVER}
    yield 'leak', [client, api, 'leak'], {'frame-twenty': LEAKS}
    yield 'watchdog', [client, api, 'watchdog'], {'long-hang': SURVIVES}
    yield 'draws', [client, api, 'draws'], {'lost': SURVIVES}
    yield 'sh-abort', ['sh', '-c', '"$0" "$@"; true', client, api, 'abort'], {'frame': DIES}
    yield 'short', [client, api, 'recover', '10'], {'frame': NEVER}
    if api == 'egl':
        yield 'alloc', [client, api, 'recover'], {'gl-alloc': ENDED}
        yield 'software', [client, api, 'software'], {'no-device': SURVIVES}
        yield 'stuck', [client, api, 'stuck'], {'no-device': HANGS}


def vkd3d(c):
    """By libvkd3d."""
    client = c + '/lose_d3d_client'
    for how, verdict in (('recover', SURVIVES), ('exit', ENDED), ('abort', DIES), ('pause', HANGS), ('ignore', IGNORES), ('once', HANGS)):
        # Of a device that hung, libvkd3d 1.2 tells nobody: its own thread goes on asking.
        yield how, [client, 'd3d12', how], {'lost': verdict, 'refuse': verdict, 'hang': IGNORES}
    yield 'leak', [client, 'd3d12', 'leak'], {'twenty': LEAKS}
    yield 'recover', [client, 'd3d12', 'recover'], {'twenty': SURVIVES, 'no-device': ENDED, 'never': NEVER}


def windows(c, api, hung):
    """Direct3D under Wine, with Windows' codes."""
    client = ['wine', c + '/lose_d3d_client.exe', api]
    lost = 'lost' if api == 'd3d12' else 'frame'
    if not shutil.which('wine') or not os.path.exists(client[1]):
        return
    yield 'recover', client + ['recover'], {lost: SURVIVES, hung: SURVIVES, 'refuse': SURVIVES, 'five': SURVIVES, 'unknown' if lost == 'frame' else 'late': SURVIVES,
                                            'slow-never': NEVER}
    for how, verdict in (('exit', ENDED), ('abort', DIES), ('pause', HANGS), ('ignore', IGNORES), ('once', HANGS if api == 'd3d12' else SURVIVES), ('empty', IGNORES)):
        yield how, client + [how], {lost: verdict}
    yield 'none', client + ['recover'], {'no-device': ENDED, 'gl-crash' if lost == 'frame' else 'crash-submission': DIES}
    if api == 'd3d9':
        yield 'release', client + ['release'], {'lost': SURVIVES}


def pages(c, api):
    """WebGPU and WebGL in Chromium, on the Vulkan driver that it brings. The browser starts again whatever happens; the canvas tells."""
    driver, page = '/usr/lib/chromium/vk_swiftshader_icd.json', 'file://' + os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lose_page.html')
    if not shutil.which('chromium') or not os.path.exists(driver) or not shutil.which('Xvfb'):
        return
    # After a reset Chromium keeps pages from the GPU, unless it is told not to; and it has its own watchdog for the start, and bars that come and go.
    flag = '--disable-domain-blocking-for-3d-apis'
    words = ['sh', '-c', 'exec env VK_ICD_FILENAMES=%s chromium --no-sandbox --no-first-run --user-data-dir=$(mktemp -d) --window-size=600,400 '
             '--enable-unsafe-webgpu --enable-features=Vulkan --use-angle=vulkan --ignore-gpu-blocklist --disable-gpu-watchdog --test-type $1 --app="$0"' % driver]
    for how, verdicts in (('recover', {'page': SURVIVES, 'page-submit': SURVIVES, 'page-hang': SURVIVES, 'page-crash': SURVIVES}),
                          ('ignore', {'page': WRONG, 'page-hang': WRONG}), ('reload', {'page': SURVIVES, 'page-crash': SURVIVES}),
                          ('empty', {'page': WRONG})):
        yield how, words + ['%s?%s-%s' % (page, api, how), flag], verdicts


APIS = {'vulkan': vulkan, 'egl': lambda c: opengl(c, 'egl'), 'glx': lambda c: opengl(c, 'glx'), 'vkd3d': vkd3d,
        'd3d9': lambda c: windows(c, 'd3d9', 'hang'), 'd3d9ex': lambda c: windows(c, 'd3d9ex', 'frame-hang'),
        'd3d11': lambda c: windows(c, 'd3d11', 'frame-hang'), 'd3d12': lambda c: windows(c, 'd3d12', 'hang'),
        'webgpu': lambda c: pages(c, 'webgpu'), 'webgl': lambda c: pages(c, 'webgl')}
SCREEN = ('glx', 'd3d9', 'd3d9ex', 'd3d11', 'd3d12', 'webgpu', 'webgl')
SLOW = SCREEN[1:] # to start: and one at a time


def cases(clients, apis):
    for api in apis:
        if api in SCREEN and not shutil.which('Xvfb'):
            continue
        for name, run, verdicts in APIS[api](clients):
            if not os.path.isabs(run[0]) or os.path.exists(run[0]):
                for fault, verdict in verdicts.items():
                    yield api, '%s-%s' % (api, name), run, fault, verdict


def some(rows):
    """One of each verdict of each API, and of the others every twelfth; of what is slow, a survivor of each, and one of each other verdict."""
    seen = set()
    for n, row in enumerate(rows):
        slow = row[0] in SLOW
        key = (slow and row[4] != SURVIVES or row[0], row[4])
        if key not in seen or (n % 12 == 0 and not slow):
            seen.add(key)
            yield row


def matrix(rows):
    """A program of a matrix has one command, and a fault the same options for all: with a screen where the API wants one."""
    programs, faults, expects = {}, {}, []
    for api, name, run, fault, verdict in rows:
        key = name + ('-' + run[-1] if name in programs and programs[name][0] != run else '')
        way = fault + ('-seen' if api in SCREEN else '')
        options = FAULTS[fault].split() + ['--timeout', '60' if verdict in (SURVIVES, LEAKS, ENDED, DIES) else '4']
        if 'page' in fault: # the proof is a picture
            options[-1] = '20'
        if api in SLOW and '--reach' not in options:
            options += ['--reach', '60']
        options += ['--screen', '640x480' if 'page' in fault else '64x48'] if api in SCREEN or fault == 'picture' else []
        way += '-' + options[options.index('--timeout') + 1]
        programs.setdefault(key, (run, []))[1].append(way)
        faults[way] = options
        expects.append('"%s/%s" = "%s"' % (key, way, verdict))
    for name, (run, only) in programs.items():
        yield '[program.%s]\nrun = %s\nfaults = %s\n' % (name, json.dumps(run), json.dumps(only))
    for name, options in faults.items():
        yield '[fault.%s]\noptions = %s\n' % (name, json.dumps(options))
    yield '[expect]\n' + '\n'.join(expects) + '\n'


def run(aerogpu, rows, jobs):
    """What became of each."""
    with tempfile.TemporaryDirectory() as d:
        with open(d + '/cases.toml', 'w', encoding='utf-8') as f:
            f.write('\n'.join(matrix(rows)))
        p = subprocess.run([aerogpu, 'lose', '--matrix', d + '/cases.toml', '--jobs', str(jobs), '--json=' + d + '/j'], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
        if not os.path.exists(d + '/j'):
            print('Bail out! ' + p.stdout)
            sys.exit(1)
        return json.load(open(d + '/j', encoding='utf-8'))['cases']


def main():
    aerogpu, clients = sys.argv[1:3]
    words = [a for a in sys.argv[3:] if not a.startswith('--')]
    rows = list(cases(os.path.abspath(clients), words or APIS))
    if '--some' in sys.argv:
        rows = list(some(rows))
    if '--print' in sys.argv:
        print('\n'.join(matrix(rows)))
        return
    slow, quick = [r for r in rows if r[0] in SLOW], [r for r in rows if r[0] not in SLOW]
    # They mostly wait; but what one program of Wine's leaves when it is ended, others would have to do with.
    done = (run(aerogpu, quick, 2 * (os.cpu_count() or 1)) if quick else []) + (run(aerogpu, slow, 1) if slow else [])
    print('1..%d' % len(done))
    for n, c in enumerate(done, 1):
        print('%sok %d - %s: %s' % ('' if c['ok'] else 'not ', n, c['name'], c['verdict']))
        if not c['ok']:
            print('# ' + c['says'].strip().replace('\n', '\n# '))
    print('# %d of %d judged rightly' % (sum(c['ok'] for c in done), len(done)))


main()
