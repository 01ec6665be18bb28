#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""planted.py AEROGPU FOLDER [--suite] [--program NAME] [--rounds N] [--json FILE]: faults planted into real programs.

Each fault of each program is planted by a layer (fault.c) that stands where the program does, `aerogpu run --exact` watches, and
the dump's verdict is held against what was planted: the draw or dispatch must be the one that the wrong pipeline was bound
for, and what is said of the memory. `exact`: cause and command are right, and certain. `named`: right, and not said to be certain. `right`: one of
a group that has it.
`wrong`: another command, cause, or no dump. `false`: another command or cause, said to be certain. `none`: no dump, and the program
ended well: what was planted did not run, or did no harm; counted apart, and in the suite a failure. Programs that are not
installed are left out, as are faults that a program cannot have (it makes no dispatch).
"""
import argparse, glob, json, os, shutil, signal, sqlite3, subprocess, sys, tempfile, time

ap = argparse.ArgumentParser()
ap.add_argument('aerogpu')
ap.add_argument('folder', help='with vkbox_plant and the layer')
ap.add_argument('--suite', action='store_true', help='a few of them, as TAP')
ap.add_argument('--program', action='append')
ap.add_argument('--fault', action='append')
ap.add_argument('--rounds', type=int, default=1, help='how many draws each fault is planted at')
ap.add_argument('--timeout', default='2', help='of the device, in seconds')
ap.add_argument('--groups', action='store_true', help='without --exact')
ap.add_argument('--known', action='store_true', help='without --exact, twice: the second time the group is known')
ap.add_argument('--json', help='where the figure is added (bench/README.md)')
ap.add_argument('-v', action='store_true')
a = ap.parse_args()

QML = 'import QtQuick\nWindow { visible: true; width: 300; height: 300; Repeater { model: 5; Rectangle { x: index*50; width: 40; height: 40; ' \
      'gradient: Gradient { GradientStop { position: 0; color: "red" } GradientStop { position: 1; color: "blue" } } ' \
      'Text { text: "a" + index } RotationAnimation on rotation { loops: Animation.Infinite; from: 0; to: 360 } } } }\n'
ZINK = {'LIBGL_ALWAYS_SOFTWARE': '1', 'MESA_LOADER_DRIVER_OVERRIDE': 'zink', 'GALLIUM_DRIVER': 'zink'}
# name: (command line, environment, needs a display)
PROGRAMS = {
    'plant': ([os.path.join(a.folder, 'vkbox_plant'), '--frames', '100', 'fine'], {}, False),
    'vkcube': (['vkcube', '--c', '300'], {}, True),
    'vkd3d-gears': (['vkd3d-gears'], {}, True),
    'qml': (['/usr/lib/qt6/bin/qml', '{tmp}/a.qml'], {'QSG_RHI_BACKEND': 'vulkan', 'QT_QPA_PLATFORM': 'xcb'}, True),
    'mpv': (['mpv', '--no-config', '--no-audio', '--vo=gpu', '--gpu-api=vulkan', '--vulkan-device=llvmpipe (LLVM 15.0.6, 256 bits)', 'av://lavfi:testsrc=size=320x240'], {}, True),
    'ffmpeg': (['ffmpeg', '-v', 'error', '-init_hw_device', 'vulkan=vk:0', '-f', 'lavfi', '-i', 'testsrc=size=320x240', '-t', '3',
                '-vf', 'format=rgba,hwupload,hflip_vulkan,hwdownload,format=rgba', '-f', 'null', '-'], {}, False),
    'glxgears': (['glxgears'], ZINK, True),
    'glmark2': (['glmark2', '-b', 'build', '-s', '300x300'], ZINK, True),
}
# fault: (cause, does it name a command)
FAULTS = {
    'loop-fragment': ('hang', True), 'loop-vertex': ('hang', True), 'indirect': ('hang', True), 'loop-compute': ('hang', True),
    'wild-fragment': ('page fault', True), 'wild-compute': ('page fault', True), 'freed': ('page fault', True),
    'over': ('page fault', True), 'late-set': ('page fault', True), 'indirect-over': ('page fault', True),
    'dead-wait': ('waiting', False), 'order': ('waiting', False), 'abort': ('program', False), 'segv': ('program', False),
    'kill': ('killed', False), 'oom': ('out of memory', False),
}
# What is said of the memory; these but the first are seen with --guard only.
MEMORY = {'freed': 'use after free', 'over': 'out of bounds', 'late-set': 'use after free', 'indirect-over': 'out of bounds'}
GUARDED = {'over', 'late-set', 'indirect-over'}
AT = [(0, 1), (0, 2), (3, 1), (5, 2), (8, 1), (2, 3)]


def start_display():
    for n in range(70, 90):
        if os.path.exists('/tmp/.X11-unix/X%d' % n) or os.path.exists('/tmp/.X%d-lock' % n):
            continue
        p = subprocess.Popen(['Xvfb', ':%d' % n, '-noreset', '-screen', '0', '1024x768x24'], stderr=subprocess.DEVNULL)
        for _ in range(100):
            if os.path.exists('/tmp/.X11-unix/X%d' % n):
                return p, ':%d' % n
            time.sleep(0.05)
        p.kill()
    return None, None


def judge(db, fault, planted):
    """(class, why)"""
    cause, names = FAULTS[fault]
    f = dict(db.execute('SELECT * FROM finding WHERE rank=0').fetchone())
    sure = f['sure_command'] == 'proven'
    text = '%s; %s: %s' % (f['cause'], f['certainty'], f['text'])
    if f['cause'] != cause:
        return ('false' if sure or f['sure_cause'] == 'proven' else 'wrong'), text
    if not names:
        return ('false' if sure and cause != 'waiting' else 'exact'), text
    handles = {r[0] for r in db.execute("SELECT handle FROM binding WHERE packet=? AND slot='pipeline'", (f['packet'],))}
    if planted in handles:
        memory = db.execute('SELECT kind FROM fault').fetchone() if fault in MEMORY else None
        if memory and memory[0] != MEMORY[fault]:
            return ('false' if f['sure_memory'] == 'proven' else 'wrong'), '%s; %s' % (text, memory[0])
        return ('exact' if sure else 'right' if f['text'].startswith('One of ') else 'named'), text
    if sure:
        return 'false', text
    # One of a group: the planted pipeline is bound within the commands that may be it.
    word = '0x%x' % (planted & (1 << 64) - 1)
    group = db.execute("SELECT 1 FROM packet WHERE name='vkCmdBindPipeline' AND text LIKE ?", ('%' + word + '%',)).fetchone()
    return ('right' if group else 'wrong'), text


def plant(name, fault, at, display):
    tmp = tempfile.mkdtemp(prefix='aerogpu-planted-', dir='/dev/shm' if os.path.isdir('/dev/shm') else None)
    try:
        if a.known:
            plant_in(tmp, name, fault, at, display)
            for f in [tmp + '/out'] + glob.glob(tmp + '/*.aerogpudump'):
                os.path.exists(f) and os.unlink(f)
        return plant_in(tmp, name, fault, at, display)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


def plant_in(tmp, name, fault, at, display):
    argv, env, _ = PROGRAMS[name]
    with open(tmp + '/a.qml', 'w') as q:
        q.write(QML)
    env = {**os.environ, **env, 'XDG_RUNTIME_DIR': tmp, 'AEROGPU_TEST_FAULT': '%s:%d:%d' % (fault, *at), 'AEROGPU_TEST_FAULT_OUT': tmp + '/out',
           'VK_INSTANCE_LAYERS': 'VK_LAYER_AEROGPU_test_fault', 'VK_ADD_LAYER_PATH': os.path.abspath(a.folder),
           'VK_LOADER_DEBUG': 'none'}
    if display:
        env['DISPLAY'] = display
    argv = [x.replace('{tmp}', tmp) for x in argv]
    p = subprocess.Popen([a.aerogpu, 'run', '-o', tmp, '--gpu-timeout', a.timeout] + ([] if a.groups or a.known else ['--exact']) +
                         (['--guard'] if fault in GUARDED else []) + ['--'] + argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                         start_new_session=True)
    end = time.time() + 40
    while p.poll() is None and time.time() < end:
        time.sleep(0.1)
        if not os.path.exists(tmp + '/out') and time.time() > end - 25:
            break
        if glob.glob(tmp + '/*.aerogpudump'):
            end = min(end, time.time() + 3)
    for sig in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(p.pid, sig)
            p.wait(3)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
    if not os.path.exists(tmp + '/out'):
        return None, 'not planted'
    planted = int(open(tmp + '/out').read().split()[1])
    dumps = glob.glob(tmp + '/*.aerogpudump')
    if not dumps and not p.returncode:
        return 'none', 'what was planted did not run, or did no harm: the program ended well'
    if len(dumps) != 1:
        return 'wrong', '%d dumps' % len(dumps)
    db = sqlite3.connect(dumps[0])
    db.row_factory = sqlite3.Row
    return judge(db, fault, planted)


def main():
    names = a.program or (['plant'] if a.suite else list(PROGRAMS))
    faults = a.fault or (['loop-fragment', 'wild-compute', 'freed', 'over', 'late-set', 'indirect-over', 'dead-wait', 'order', 'kill', 'oom'] if a.suite else list(FAULTS))
    server, display = start_display() if shutil.which('Xvfb') else (None, None)
    total = {'exact': 0, 'named': 0, 'right': 0, 'wrong': 0, 'false': 0, 'none': 0}
    plan = [(n, f) for n in names for f in faults]
    if a.suite:
        print('1..%d' % len(plan))
    for i, (n, f) in enumerate(plan):
        said, missing = [], not shutil.which(PROGRAMS[n][0][0]) or (PROGRAMS[n][2] and not display)
        for at in AT[:a.rounds]:
            if missing:
                break
            kind, why = plant(n, f, at, display)
            if kind:
                total[kind] += 1
            said.append((kind, why))
            if a.v or kind in ('wrong', 'false', 'none'):
                print('# %s %s at %d:%d: %s: %s' % (n, f, *at, kind, why), flush=True)
        kinds = [k for k, _ in said if k]
        if a.suite:
            ok = all(k == 'exact' or k == 'named' and f in ('indirect-over',) for k in kinds)
            print('%sok %d - %s: %s%s' % ('' if ok else 'not ', i + 1, n, f, '' if kinds else ' # SKIP ' + ('not here' if missing else 'not planted')), flush=True)
        else:
            print('%-12s %-14s %s' % (n, f, ' '.join(k or '-' for k, _ in said) or 'not installed'), flush=True)
    if server:
        server.terminate()
    n = sum(total.values()) - total['none']
    if not a.suite:
        print('run_planted: %d faults: %s' % (n, ', '.join('%d %s' % (v, k) for k, v in total.items())))
    if a.json:
        figures = [x for x in (json.load(open(a.json)) if os.path.exists(a.json) else []) if x['id'] != 'run_planted']
        ratio = (total['exact'] + total['named']) / n if n else 0
        figures.append({'id': 'run_planted', 'measured': True, 'ours': total['exact'] + total['named'], 'reference': n, 'ratio': ratio,
                        'unit': 'faults', 'target': 0.99, 'at_least': True, 'ok': ratio >= 0.99 and not total['false']})
        json.dump(figures, open(a.json, 'w'), indent=1)
    return 1 if total['false'] or (a.json and not figures[-1]['ok']) else 0


sys.exit(main())
