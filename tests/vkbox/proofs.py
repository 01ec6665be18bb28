#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""proofs.py AEROGPU FOLDER [--json FILE] [--kills N] [--rounds N] [--hangs N] [FIGURE...]: what is promised of `aerogpu run`, counted.

run_kill9: programs killed at random instants, whose dumps have every frame that the program said it had finished.
run_dump: seconds from a crash to its dump; run_dump_exact: from a crash without --exact to the dump of the run with it.
run_reproduction: hangs that depend on timing, with the layer against without, at the same moments, in turns: how often the device looked before
the host wrote, which hangs where the device waits by it.
"""
import argparse, glob, json, os, random, signal, sqlite3, statistics, subprocess, sys, tempfile, time

ap = argparse.ArgumentParser()
ap.add_argument('aerogpu')
ap.add_argument('folder', help='with vkbox_plant')
ap.add_argument('figures', nargs='*')
ap.add_argument('--json', help='where the figures are added (bench/README.md)')
ap.add_argument('--kills', type=int, default=1000)
ap.add_argument('--rounds', type=int, default=15)
ap.add_argument('--hangs', type=int, default=50)
a = ap.parse_intermixed_args()
plant = os.path.join(a.folder, 'vkbox_plant')
SHM = '/dev/shm' if os.path.isdir('/dev/shm') else None
figures = []
LOOKS = 40


def report(name, ours, reference, unit, target, at_least, note):
    ratio = ours / reference if reference else 0
    ok = ratio >= target if at_least else ratio <= target
    print('%-18s %.4g %s / %.4g = %.3f (%s), target %s %g  %s' % (name, ours, unit, reference, ratio, note, '>=' if at_least else '<=',
                                                                 target, 'ok' if ok else 'MISSED'), flush=True)
    figures.append({'id': name, 'measured': True, 'ours': ours, 'reference': reference, 'ratio': ratio, 'unit': unit, 'target': target,
                    'at_least': at_least, 'ok': ok})


def start(folder, *args, exact=False):
    return subprocess.Popen([a.aerogpu, 'run', '-o', folder] + (['--exact'] if exact else []) + ['--', plant, *args],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, 'XDG_RUNTIME_DIR': folder})


def dump_of(folder):
    """(path, connection), or None"""
    paths = glob.glob(folder + '/*.aerogpudump')
    return (paths[0], sqlite3.connect(paths[0])) if len(paths) == 1 else None


def kill_once():
    """Whether the record was readable up to the last frame."""
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        p = start(folder, '--frames', '1000000', '--draws', '1', 'count')
        child, first = int(p.stdout.readline()), p.stdout.readline()
        time.sleep(random.random() / 4)
        os.kill(child, signal.SIGKILL)
        # What was being written when it came is no whole line.
        said = [int(x) for x in (first + p.stdout.read()).split('\n')[:-1]]
        p.wait(60)
        dump = dump_of(folder)
        if not dump:
            return False
        last, = dump[1].execute('SELECT max(id) FROM submission').fetchone()
        cause, = dump[1].execute('SELECT cause FROM finding WHERE rank=0').fetchone()
        return cause == 'killed' and last is not None and said[-1] <= last <= said[-1] + 2


def crash_once(exact):
    """(time of the crash, time of the dump, is one command named), by the realtime clock"""
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        p = start(folder, 'fault', exact=exact)
        p.communicate(timeout=60)
        path, db = dump_of(folder)
        crashed, = db.execute('SELECT time_ns FROM fault').fetchone()
        certain, = db.execute('SELECT sure_command FROM finding WHERE rank=0').fetchone()
        offset = time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
        return crashed / 1e9 + offset, os.stat(path).st_mtime, certain == 'proven'


def race_once(layer):
    """(how many of LOOKS the device came to before the host, whether it then hung)"""
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        command = [plant, '--at', '225', '--frames', str(LOOKS), 'race']
        if layer:
            command = [a.aerogpu, 'run', '--gpu-timeout', '60', '-o', folder, '--'] + command
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300)
        return int(p.stdout.split()[0]), p.returncode == 7


def kills():
    good = sum(kill_once() for _ in range(a.kills))
    report('run_kill9', good, a.kills, 'records', 1, True, 'programs killed')


def dumps():
    first, exact = [], []
    for _ in range(a.rounds):
        crashed, dumped, _ = crash_once(False)
        _, named, certain = crash_once(True)
        first.append(dumped - crashed)
        exact.append(named - crashed if certain else 1e9)
    report('run_dump', statistics.median(first), 0.5, 's', 1, False, 'half a second; median of %d' % a.rounds)
    report('run_dump_exact', statistics.median(exact), 5, 's', 1, False, 'five seconds; median of %d' % a.rounds)


def hangs():
    """With the layer, and twice without: by how much these two differ is what nobody can tell on this machine, just now."""
    late, hung = {'with': 0, 'without': 0, 'again': 0}, {'with': 0, 'without': 0, 'again': 0}
    for i in range(a.hangs):
        for arm in random.sample(list(late), 3):
            looks, hangs_ = race_once(arm == 'with')
            late[arm] += looks
            hung[arm] += hangs_
    note = 'without; of %d, and %d hangs to %d' % (a.hangs * LOOKS, hung['with'], hung['without'])
    noise = abs(late['without'] - late['again']) / max(1, late['without'], late['again'])
    if noise > 0.05:
        why = '%d and %d times without it (%d with): who else is at work here decides' % (late['without'], late['again'], late['with'])
        print('%-18s not measured: %s' % ('run_reproduction', why), flush=True)
        figures.append({'id': 'run_reproduction', 'measured': False, 'why': why})
    else:
        report('run_reproduction', late['with'], (late['without'] + late['again']) / 2, 'hangs', 0.95, True, note)


for name, fn in (('run_kill9', kills), ('run_dump', dumps), ('run_reproduction', hangs)):
    if not a.figures or name in a.figures:
        fn()
if a.json:
    others = [x for x in (json.load(open(a.json)) if os.path.exists(a.json) else []) if x['id'] not in [f['id'] for f in figures]]
    json.dump(others + figures, open(a.json, 'w'), indent=1)
sys.exit(0 if all(f.get('ok', True) for f in figures) else 1)
