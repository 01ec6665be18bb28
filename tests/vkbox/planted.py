#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""planted.py AEROGPU FOLDER [--suite] [--program NAME] [--rounds N] [--log FILE] [--seconds N] [--json FILE]: faults planted into real programs.

Each fault of each program is planted by a layer (fault.c) that stands where the program does, `aerogpu run --exact` watches, and
the dump's verdict is held against what was planted: the draw or dispatch must be the one that the wrong pipeline was bound
for, and what is said of the memory. `exact`: cause and command are right, and certain. `named`: right, and not said to be certain. `right`: one of
a group that has it.
`wrong`: another command, cause, or no dump. `false`: another command or cause, said to be certain. `none`: no dump, and the program
ended well: what was planted did not run, or did no harm; counted apart, and in the suite a failure. Programs that are not
installed are left out, as are faults that a program cannot have (it makes no dispatch).
"""
import argparse, functools, glob, hashlib, json, os, random, shutil, sqlite3, subprocess, sys, tempfile, time
import real
from real import PROGRAMS

ap = argparse.ArgumentParser()
ap.add_argument('aerogpu')
ap.add_argument('folder', help='with vkbox_plant and the layer')
ap.add_argument('--suite', action='store_true', help='a few of them, as TAP')
ap.add_argument('--program', action='append')
ap.add_argument('--fault', action='append')
ap.add_argument('--rounds', type=int, default=1, help='how many seeds each fault of each program is planted with')
ap.add_argument('--timeout', default='2', help='of the device, in seconds')
ap.add_argument('--groups', action='store_true', help='without --exact')
ap.add_argument('--known', action='store_true', help='without --exact, twice: the second time the group is known')
ap.add_argument('--json', help='where the figure is added (bench/README.md)')
ap.add_argument('--log', help='a line of JSON for each, at once; what is there of the same build is not planted again')
ap.add_argument('--seconds', type=float, default=1e9, help='after which nothing more is planted')
ap.add_argument('--driver', help='ICD[:LIBRARIES]')
a = ap.parse_args()

# fault: (cause, does it name a command)
FAULTS = {
    'loop-fragment': ('hang', True), 'loop-vertex': ('hang', True), 'indirect': ('hang', True), 'loop-compute': ('hang', True),
    'wild-fragment': ('page fault', True), 'wild-compute': ('page fault', True), 'freed': ('page fault', True),
    'over': ('page fault', True), 'late-set': ('page fault', True), 'indirect-over': ('page fault', True),
    'dead-wait': ('waiting', False), 'order': ('waiting', False), 'abort': ('program', False), 'segv': ('program', False),
    'kill': ('killed', False), 'oom': ('out of memory', False),
}
# What it takes of the program; others need a submission.
DRAWS = {'loop-fragment', 'loop-vertex', 'indirect', 'wild-fragment', 'indirect-over'}
DISPATCHES = {'loop-compute', 'wild-compute', 'freed', 'over', 'late-set'}
# What is said of the memory; these but the first are seen with --guard only.
MEMORY = {'freed': 'use after free', 'over': 'out of bounds', 'late-set': 'use after free', 'indirect-over': 'out of bounds'}
GUARDED = {'over', 'late-set', 'indirect-over'}
KINDS = ['exact', 'named', 'right', 'wrong', 'false', 'none']
UNSUITED = ['vkd3d-triangle', 'chromium (ANGLE)', 'trackballs (zink)', 'ffmpeg blur']  # like another, or too slow to try hundreds of times
ICD, LIBRARIES = (a.driver.split(':') + [''])[:2] if a.driver else ('', '')
DRIVER = real.driver_env(ICD, LIBRARIES)


@functools.cache
def device():
    return real.device_name(DRIVER)


def is_command(db, planted):
    """The wrong pipeline is bound at what is named, and that is no group."""
    f = db.execute('SELECT * FROM finding WHERE rank=0').fetchone()
    handles = {r[0] for r in db.execute("SELECT handle FROM binding WHERE packet=? AND slot='pipeline'", (f['packet'],))}
    return planted in handles and not f['text'].startswith('One of ')


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
    program = PROGRAMS[name]
    argv = real.command(program.long, tmp, a.folder, device(), LIBRARIES)
    env = {**os.environ, **DRIVER, **program.env, 'XDG_RUNTIME_DIR': tmp, 'AEROGPU_TEST_FAULT': '%s:%d:%d' % (fault, *at), 'AEROGPU_TEST_FAULT_OUT': tmp + '/out',
           'VK_INSTANCE_LAYERS': 'VK_LAYER_AEROGPU_test_fault', 'VK_ADD_LAYER_PATH': os.path.abspath(a.folder),
           'VK_LOADER_DEBUG': 'none'}
    if display:
        env['DISPLAY'] = display
    p = real.start([a.aerogpu, 'run', '-o', tmp, '--gpu-timeout', a.timeout] + ([] if a.groups or a.known else ['--exact']) +
                   (['--guard'] if fault in GUARDED else []) + ['--'] + argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        begun, end = time.time(), time.time() + 120  # others may be at work here
        while p.poll() is None and time.time() < end:
            time.sleep(0.1)
            if not os.path.exists(tmp + '/out') and time.time() > begun + 30:
                break
            if glob.glob(tmp + '/*.aerogpudump'):
                end = min(end, time.time() + 3)
    finally:
        real.end(p)
    if not os.path.exists(tmp + '/out'):
        return '-', 'not planted', {'command': False, 'dumps': 0}
    planted = int(open(tmp + '/out').read().split()[1])
    dumps = glob.glob(tmp + '/*.aerogpudump')
    if not dumps and not p.returncode:
        return 'none', 'what was planted did not run, or did no harm: the program ended well', {'command': False, 'dumps': 0}
    if len(dumps) != 1:
        return 'wrong', '%d dumps' % len(dumps), {'command': False, 'dumps': len(dumps)}
    db = sqlite3.connect(dumps[0])
    db.row_factory = sqlite3.Row
    kind, why = judge(db, fault, planted)
    return kind, why, {'command': is_command(db, planted), 'dumps': 1}


def place(name, fault, seed):
    """(frame, which draw of it): the first is that of every program."""
    r = random.Random('%s %s %d' % (name, fault, seed))
    return (r.randrange(12), r.randrange(1, 5)) if seed else (0, 1)


def can_have(name, fault):
    works = PROGRAMS[name].works
    return works == 'both' or fault not in (DISPATCHES if works == 'draw' else DRAWS)


class Count:
    """What became of them: of each program, and of all."""
    def __init__(self):
        files = [a.aerogpu, os.path.join(a.folder, '../../src/vkbox/libVkLayer_AEROGPU_blackbox.so')]
        self.rows, self.build = [], hashlib.sha256(b''.join(open(f, 'rb').read() for f in files)).hexdigest()[:12]
        if a.log and os.path.exists(a.log):  # what another build did says nothing of this one
            self.rows = [r for r in map(json.loads, (l for l in open(a.log) if l.endswith('}\n'))) if r['build'] == self.build]
        self.known = {(r['program'], r['fault'], r['seed']) for r in self.rows}

    def add(self, **row):
        row['build'] = self.build
        self.rows.append(row)
        if a.log:
            with open(a.log, 'a') as f:
                f.write(json.dumps(row) + '\n')

    def planted(self):
        return [r for r in self.rows if r['kind'] not in ('-', 'none')]

    def is_hopeless(self, name, fault):
        """The program does not do what is to be done wrong."""
        return any(r['kind'] == '-' and r['seed'] == 0 for r in self.rows if (r['program'], r['fault']) == (name, fault))

    def table(self):
        print('| program | faults | ' + ' | '.join(KINDS) + ' |\n|---|---|' + '---|' * len(KINDS))
        for name in dict.fromkeys(r['program'] for r in self.rows):
            own = [r for r in self.rows if r['program'] == name]
            print('| %s | %d | %s |' % (name, sum(r['kind'] not in ('-', 'none') for r in own), ' | '.join(str(sum(r['kind'] == k for r in own)) for k in KINDS)))

    def said(self):
        """({figure: (so many, of so many)})"""
        good, rows = ('exact', 'named'), self.planted()
        named, memory = [r for r in rows if FAULTS[r['fault']][1]], [r for r in rows if r['fault'] in MEMORY]
        return {'told exactly': (sum(r['kind'] in good for r in rows), len(rows)), 'command exact': (sum(r['command'] for r in named), len(named)),
                'memory right': (sum(r['kind'] in good for r in memory), len(memory)), 'one dump each': (sum(r['dumps'] == 1 for r in rows), len(rows)),
                'wrong, said to be certain': (sum(r['kind'] == 'false' for r in rows), len(rows))}


def suite(names, faults, display):
    plan = [(n, f) for n in names for f in faults]
    print('1..%d' % len(plan))
    for i, (n, f) in enumerate(plan):
        kind, why, _ = plant(n, f, place(n, f, 0), display)
        ok = kind in ('exact', '-') or kind == 'named' and f == 'indirect-over'
        print('%sok %d - %s: %s%s' % ('' if ok else 'not ', i + 1, n, f, ' # SKIP not planted' if kind == '-' else ''), flush=True)
        if not ok:
            print('# %s: %s' % (kind, why), flush=True)


def count(names, faults, display):
    """All programs have a fault of a kind before any has it twice."""
    counted, end = Count(), time.time() + a.seconds
    plan = [(n, f, seed) for seed in range(a.rounds) for f in faults for n in names if can_have(n, f)]
    for i, (n, f, seed) in enumerate(plan):
        if (n, f, seed) in counted.known or counted.is_hopeless(n, f):
            continue
        if time.time() > end:
            print('the time is over: %d of %d places were not looked at; with --log they are next' % (len(plan) - i, len(plan)))
            break
        kind, why, more = plant(n, f, place(n, f, seed), display)
        counted.add(program=n, fault=f, seed=seed, kind=kind, why=why, **more)
        if kind != '-':
            print('# %d of %d: %s, %s at %d:%d: %s: %s' % (i + 1, len(plan), n, f, *place(n, f, seed), kind, why), flush=True)
    counted.table()
    said = counted.said()
    print('run_planted: ' + ', '.join('%s %d of %d' % (k, *v) for k, v in said.items()))
    return said


def main():
    names = a.program or (['vkbox_plant'] if a.suite else [n for n in PROGRAMS if n not in UNSUITED])
    faults = a.fault or (['loop-fragment', 'wild-compute', 'freed', 'over', 'late-set', 'indirect-over', 'dead-wait', 'order', 'kill', 'oom'] if a.suite else list(FAULTS))
    real.end_with_us()
    display = None if a.suite else real.start_display()
    names = [n for n in names if PROGRAMS[n].is_here(a.folder) and (display or not PROGRAMS[n].display)]
    if a.suite:
        return suite(names, faults, display)
    real.make_ddnet()
    said = count(names, faults, display)
    good, n = said['told exactly']
    ok = n > 0 and good / n >= 0.99 and not said['wrong, said to be certain'][0]
    if a.json:
        figures = [x for x in (json.load(open(a.json)) if os.path.exists(a.json) else []) if x['id'] != 'run_planted']
        figures.append({'id': 'run_planted', 'measured': True, 'ours': good, 'reference': n, 'ratio': good / n if n else 0,
                        'unit': 'faults', 'target': 0.99, 'at_least': True, 'ok': ok})
        json.dump(figures, open(a.json, 'w'), indent=1)
    return 1 if said['wrong, said to be certain'][0] or (a.json and not ok) else 0


sys.exit(main())
