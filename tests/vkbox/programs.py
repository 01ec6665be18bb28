#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""programs.py AEROGPU FOLDER [--driver NAME=ICD[:LIBRARIES]]... [--program NAME]... [--validation above|below] [-v]: do programs draw the
same with the black box as without?

A layer (shot.c) hashes the first pictures that a program presents; of programs that show none, what they print or write is held
against each other. Each is run twice without the black box and once with, on each driver:
`same`: all pictures, in order. `moves`: the program does not draw the same twice by itself; then so many of those with are among those
without. `DIFFERS`: it does, and with the black box it draws something else. `fails`: without the black box too.
With --validation the Khronos layer stands above the black box, or below, and what it says is compared instead: `silent`, or what it
says with the black box and not without. ICD names a driver's JSON file, LIBRARIES a folder of what it needs. Programs that
are not installed are left out. Prints a table for docs/run.md.
"""
import argparse, functools, hashlib, os, re, shutil, sys, tempfile, time
import real
from real import PROGRAMS

ap = argparse.ArgumentParser()
ap.add_argument('aerogpu')
ap.add_argument('folder', help='with the layer that takes pictures')
ap.add_argument('--driver', action='append', default=[])
ap.add_argument('--program', action='append')
ap.add_argument('--validation', choices=['above', 'below'])
ap.add_argument('--option', action='append', default=[], help='of aerogpu run, as --option=--exact')
ap.add_argument('--seconds', type=float, default=20, help='after which a program that does not end is ended')
ap.add_argument('-v', action='store_true')
a = ap.parse_args()
a.aerogpu, a.folder = os.path.abspath(a.aerogpu), os.path.abspath(a.folder)

DRIVERS = {'lavapipe': ('', '')}
DRIVERS.update({name: (rest.split(':') + [''])[:2] for name, rest in (d.split('=', 1) for d in a.driver)})
if not a.driver and os.path.exists(real.CHROMIUM_DRIVER):
    DRIVERS['SwiftShader'] = (real.CHROMIUM_DRIVER, '')
VALIDATION, SYSTEM = 'VK_LAYER_KHRONOS_validation', '/usr/share/vulkan/explicit_layer.d'


def icd_of(driver):
    return real.driver_env(*DRIVERS[driver])


@functools.cache
def device_name(driver):
    return real.device_name(icd_of(driver))


def environment(program, driver, display, tmp):
    env = {**os.environ, **icd_of(driver), **PROGRAMS[program].env, 'XDG_RUNTIME_DIR': tmp, 'DISPLAY': display, 'VK_LOADER_DEBUG': 'none', 'HOME': tmp}
    if a.validation:
        env['VK_INSTANCE_LAYERS'] = VALIDATION
        env['VK_ADD_LAYER_PATH'] = SYSTEM
    elif PROGRAMS[program].shows == 'pictures':
        env.update(VK_INSTANCE_LAYERS='VK_LAYER_AEROGPU_test_shot', VK_ADD_LAYER_PATH=os.path.abspath(a.folder), AEROGPU_TEST_SHOT=tmp + '/shots')
    return env


def run(program, driver, display, box):
    """(exit code or None, evidence: a list, what was said on both streams)"""
    tmp = tempfile.mkdtemp(prefix='aerogpu-programs-')
    try:
        env = environment(program, driver, display, tmp)
        argv = real.command(PROGRAMS[program].argv, tmp, a.folder, device_name(driver), DRIVERS[driver][1])
        if box:
            argv = [a.aerogpu, 'run', '-o', tmp, '--gpu-timeout', '60', *a.option, '--'] + argv
            if a.validation == 'below':  # the loader has them in the order of the folders, of which `aerogpu run` puts its own last
                argv = ['env', 'VK_INSTANCE_LAYERS=VK_LAYER_AEROGPU_blackbox:' + VALIDATION, 'VK_ADD_LAYER_PATH=%s:%s' % (layers, SYSTEM)] + argv
        with open(tmp + '/out', 'w') as out, open(tmp + '/err', 'w') as err:
            p = real.start(argv, env=env, stdout=out, stderr=err, cwd=tmp)
        end = time.time() + a.seconds
        while p.poll() is None and time.time() < end and not enough(tmp):
            time.sleep(0.1)
        code = p.poll()
        real.end(p)
        said, err = open(tmp + '/out', errors='replace').read(), open(tmp + '/err', errors='replace').read()
        what = PROGRAMS[program].shows
        if what == 'pictures':
            evidence = open(tmp + '/shots').read().splitlines() if os.path.exists(tmp + '/shots') else []
        elif what == 'picture':
            evidence = [hashlib.md5(open(tmp + '/picture.png', 'rb').read()).hexdigest()] if os.path.exists(tmp + '/picture.png') else []
        else:
            evidence = re.sub(r'FPS: \d+|FrameTime: [\d.]+|Score: \d+', '', said).splitlines() if code == 0 else []
        if a.v:
            print('#', program, driver, 'with' if box else 'without', code, len(evidence), err[-300:].strip(), flush=True)
        return code, evidence, said + err
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


def enough(tmp):
    """It has shown what is looked at."""
    return not a.validation and os.path.exists(tmp + '/shots') and len(open(tmp + '/shots').readlines()) >= 30


def compare(program, driver, display):
    (_, once, _), (_, twice, _), (_, box, said) = (run(program, driver, display, b) for b in (False, False, True))
    n = min(len(once), len(twice), len(box))
    if not once or not twice:
        return 'fails'
    if 'made no Vulkan instance' in said:
        return 'not seen'
    if n and once[:n] == twice[:n] == box[:n]:
        return 'same (%d)' % n if PROGRAMS[program].shows == 'pictures' else 'same'
    if not n:
        return 'DIFFERS: nothing is shown'
    if once[:n] != twice[:n]:
        return 'moves; %d of %d' % (sum(x in set(once + twice) for x in box), len(box))
    _, again, _ = run(program, driver, display, True)  # one that draws by the clock may have met the same moments twice
    if once[:len(again)] == again[:len(once)]:
        return 'moves; %d of %d, then all' % (sum(x in set(once + twice) for x in box), len(box))
    return 'DIFFERS: %d of %d' % (sum(x != y for x, y in zip(once, box)), n)


def messages(text):
    """What the validation layer says, without handles and numbers."""
    return {re.sub(r'0x[0-9a-f]+|\d+', '#', m) for m in re.findall(r'(VUID-[\w-]+|UNASSIGNED-[\w-]+|SYNC-[\w-]+)', text)}


def validate(program, driver, display):
    code, _, bare = run(program, driver, display, False)
    _, _, said = run(program, driver, display, True)
    more = messages(said) - messages(bare)
    return 'silent (%d of its own)' % len(messages(bare)) if not more else 'SAYS ' + ' '.join(sorted(more))


layers = os.path.normpath(os.path.join(a.folder, '../../src/vkbox'))
real.end_with_us()
display = real.start_display() or sys.exit('there is no Xvfb')
real.make_ddnet()
bad = False
print('| program | %s |\n|%s' % (' | '.join(DRIVERS), '---|' * (len(DRIVERS) + 1)))
for program in a.program or PROGRAMS:
    if not PROGRAMS[program].is_here(a.folder):
        print('| %s | not installed |' % program, flush=True)
        continue
    row = [(validate if a.validation else compare)(program, d, display) for d in DRIVERS]
    bad |= any(r.startswith(('DIFFERS', 'SAYS')) for r in row)
    print('| %s | %s |' % (program, ' | '.join(row)), flush=True)
sys.exit(bad)
