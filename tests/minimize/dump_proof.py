#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dump_proof.py replay|minimize --aerogpu A --plants P --shaders S [--runs N] [--seed K]: what is promised of dumps, tried on planted crashes.

replay    dumps of frames whose guest memory changes are played again: 98 of 100 crash at the planted command.
minimize  what is left of a recording crashes at the planted command: the same packet by its text, the same cause, shaders, slots that
          something is bound in, and words of a refusal."""
import argparse
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

args = argparse.ArgumentParser()
args.add_argument('proof', choices=['replay', 'minimize'])
for name in ('aerogpu', 'plants', 'shaders'):
    args.add_argument('--' + name, required=True)
args.add_argument('--runs', type=int, default=50)
args.add_argument('--seed', type=int, default=1)
args = args.parse_args()
folder = tempfile.TemporaryDirectory(prefix='dump_proof')


def path(name):
    return os.path.join(folder.name, name)


def aerogpu(*words):
    return subprocess.run([args.aerogpu, *words], capture_output=True, text=True, timeout=300)


def plant(family, seed):
    """Kind, submission and packet of the crash in path('planted')."""
    out = subprocess.check_output([args.plants, args.shaders, family, str(seed), path('planted.aerogputrace')], text=True)
    kind, ordinal, packet = out.split()
    return kind, int(ordinal), int(packet)


def dump(recording, *words):
    """The dump of its crash."""
    out = aerogpu('dump', '--hang', '700', '--out', folder.name, *words, recording)
    lines = out.stdout.splitlines()
    assert out.returncode == 1 and len(lines) == 2, out.stdout + out.stderr
    return lines[1].strip()


def ask(file, sql):
    db = sqlite3.connect('file:%s?mode=ro' % file, uri=True)
    try:
        return db.execute(sql).fetchone()
    finally:
        db.close()


def all_of(file, sql):
    db = sqlite3.connect('file:%s?mode=ro' % file, uri=True)
    try:
        return [row[0] for row in db.execute(sql)]
    finally:
        db.close()


def replay(seed):
    """One dump; None, or what is wrong with it."""
    kind, ordinal, packet = plant('moving', seed)
    made = dump(path('planted.aerogputrace'))
    played = aerogpu('play', '--tries', '2', '--hang', '3000', made)
    first = ask(made, 'SELECT min(id) FROM submission')[0]
    found = ask(made, 'SELECT submission, packet, certainty, cause FROM finding WHERE rank=0')
    cause = 'hang' if kind.endswith('HANG') else 'page fault'
    os.unlink(made)
    if played.returncode or found != (first + ordinal, packet, 'certain', cause):
        return '%s: planted %s at submission %d packet %d: %s %s' % (kind, cause, first + ordinal, packet, found, played.stdout)
    return None


def bug(recording):
    """What makes a crash the one that it is, by a dump of it with exact markers."""
    made = dump(recording, '--exact')
    submission, packet, cause = ask(made, 'SELECT submission, packet, cause FROM finding WHERE rank=0')
    here = 'submission=%d AND packet=%d' % (submission, packet)
    text, = ask(made, 'SELECT text FROM packet WHERE submission=%d AND number=%d' % (submission, packet))
    error, = ask(made, 'SELECT error FROM submission WHERE id=%d' % submission)
    shader_slots = all_of(made, "SELECT slot FROM binding WHERE %s AND kind<>'shader' AND substr(slot, 1, 2) NOT IN ('rt', 'vb', 'ib', 'ds') "
                          'ORDER BY slot' % here)
    what = {'packet': text, 'cause': cause, 'error': re.sub(r'0x[0-9a-f]+|[0-9]+', '', error or ''), 'slots': shader_slots,
            'shaders': all_of(made, "SELECT what FROM binding WHERE %s AND kind='shader' AND (slot='cs') = %d ORDER BY slot"
                              % (here, text.startswith('DISPATCH'))),
            'fault': ask(made, 'SELECT kind FROM fault')}
    first = ask(made, 'SELECT min(id) FROM submission')[0]
    os.unlink(made)
    return what, (submission - first, packet)


def minimize(seed):
    """One recording; what nothing in it crashes by is not asked for."""
    family, number = ('moving', seed // 2) if seed % 2 else ('plant', (0, 1, 2, 3, 4, 6, 9, 10, 11)[seed // 2 % 9] + 12 * (seed // 18))
    kind, ordinal, packet = plant(family, number)
    before, place = bug(path('planted.aerogputrace'))
    assert place == (ordinal, packet), '%s: crashed at %s, planted at %s' % (kind, place, (ordinal, packet))
    out = aerogpu('minimize', '--packets', path('planted.aerogputrace'), '-o', path('small.aerogputrace'))
    assert out.returncode == 0, '%s: %s' % (kind, out.stderr)
    after, _ = bug(path('small.aerogputrace'))
    return None if after == before else '%s: %s' % (kind, ', '.join('%s was %s, is %s' % (k, before[k], after[k])
                                                                    for k in before if before[k] != after[k]))


needed = {'replay': 0.98, 'minimize': 1}[args.proof]
bad = 0
print('1..1')
for i in range(args.seed, args.seed + args.runs):
    try:
        wrong = globals()[args.proof](i)
    except AssertionError as e:
        wrong = str(e)
    if wrong:
        bad += 1
        print('# seed %d: %s' % (i, wrong.strip().replace('\n', ' ')), flush=True)
held = args.runs - bad >= needed * args.runs
print('%sok 1 - %s: %d of %d' % ('' if held else 'not ', args.proof, args.runs - bad, args.runs))
sys.exit(not held)
