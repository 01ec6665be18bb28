#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dump_proof.py replay --aerogpu A --plants P --shaders S [--runs N] [--seed K]: what is promised of dumps, tried on planted crashes.

replay    dumps of frames whose guest memory changes are played again: 98 of 100 crash at the planted command."""
import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile

args = argparse.ArgumentParser()
args.add_argument('proof', choices=['replay'])
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


needed = {'replay': 0.98}[args.proof]
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
