#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dump_proof.py replay|minimize|damage --aerogpu A --plants P --shaders S [--runs N] [--seed K]: what is promised of dumps, tried on planted crashes.

replay    dumps of frames whose guest memory changes are played again: 98 of 100 crash at the planted command.
minimize  what is left of a recording crashes at the planted command: the same packet by its text, the same cause, shaders, slots that
          something is bound in, and words of a refusal.
damage    dumps with flipped bits, cut, with changed, missing, doubled and swapped rows, without tables: each reader says what it
          said, or one sentence that names a table or an offset, and exits with 3."""
import argparse
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

args = argparse.ArgumentParser()
args.add_argument('proof', choices=['replay', 'minimize', 'damage'])
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
    assert out.returncode == 1 and len(lines) in (2, 3), out.stdout + out.stderr  # the third: what else went wrong
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
            'shaders': all_of(made, "SELECT replace(what, ' (destroyed)', '') FROM binding WHERE %s AND kind='shader' AND (slot='cs') = %d ORDER BY slot"
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


def tables(db):
    return [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type='table' AND name<>'checksum' ORDER BY name")]


def a_row(db, rng):
    """A table that has rows, its columns, and one of its rows."""
    full = [t for t in tables(db) if db.execute('SELECT count(*) FROM ' + t).fetchone()[0]]
    table = rng.choice(full)
    rows = [r for r, in db.execute('SELECT rowid FROM ' + table)]
    return table, [c[1] for c in db.execute('PRAGMA table_info(%s)' % table)], rng.choice(rows), rows


def change_value(db, rng):
    table, columns, row, _ = a_row(db, rng)
    column = rng.choice(columns)
    old = db.execute('SELECT %s FROM %s WHERE rowid=?' % (column, table), (row,)).fetchone()[0]
    new = {int: lambda: old ^ 1 << rng.randrange(40), str: lambda: old[:-1] if rng.random() < .5 else old + ' ', float: lambda: old * 1.01 + 1,
           bytes: lambda: old[:-1] + b'x', type(None): lambda: rng.choice((0, '', b''))}[type(old)]()
    db.execute('UPDATE %s SET %s=? WHERE rowid=?' % (table, column), (new, row))


def drop_row(db, rng):
    table, _, row, _ = a_row(db, rng)
    db.execute('DELETE FROM %s WHERE rowid=?' % table, (row,))


def double_row(db, rng):
    table, _, row, _ = a_row(db, rng)
    db.execute('INSERT INTO %s SELECT * FROM %s WHERE rowid=?' % (table, table), (row,))


def swap_rows(db, rng):
    table, _, row, rows = a_row(db, rng)
    other = rng.choice(rows)
    for old, new in ((row, -1), (other, row), (-1, other)) if row != other else ():
        db.execute('UPDATE %s SET rowid=? WHERE rowid=?' % table, (new, old))


def drop_table(db, rng):
    table = rng.choice(tables(db) + ['checksum'])
    db.execute('DROP TABLE ' + table)
    if table != 'checksum' and rng.random() < .5:
        db.execute('DELETE FROM checksum WHERE name=?', (table,))


def rename_column(db, rng):
    table, columns, _, _ = a_row(db, rng)
    db.execute('ALTER TABLE %s RENAME COLUMN %s TO was_%s' % (table, rng.choice(columns), table))


def change_checksum(db, rng):
    table = rng.choice(tables(db))
    db.execute(rng.choice(('DELETE FROM checksum WHERE name=?', 'UPDATE checksum SET rows=rows+1 WHERE name=?',
                           "UPDATE checksum SET hash='0' || substr(hash, 2) WHERE name=?", 'UPDATE checksum SET hash=NULL WHERE name=?')), (table,))


def by_rows(file, rng):
    db = sqlite3.connect(file)
    rng.choice((change_value, change_value, change_value, drop_row, double_row, swap_rows, drop_table, rename_column, change_checksum))(db, rng)
    db.commit()
    db.close()


def by_bytes(file, rng):
    size = os.path.getsize(file)
    with open(file, 'r+b') as f:
        kind = rng.randrange(4)
        if kind == 0:
            f.truncate(rng.randrange(size))
            return
        f.seek(rng.randrange(size if kind == 1 else min(size, 200000)))  # the tables of few rows come first
        if kind == 3:
            f.write(bytes(rng.randrange(1, 4096)))
        else:
            old = f.read(1) or b'\0'
            f.seek(-1, os.SEEK_CUR)
            f.write(bytes([old[0] ^ 1 << rng.randrange(8)]))


READERS = [('report', '--json'), ('info', '--json'), ('show', '--json'), ('crashes', '--json', '--index'), ('play', '--keep', '--tries', '1'),
           ('minimize', '--packets', '-o')]
said = {}


def read(words, file):
    own = {'crashes': [path('index.db')], 'minimize': [path('small.aerogputrace')]}.get(words[0], [])
    if words[0] == 'crashes' and os.path.exists(path('index.db')):
        os.unlink(path('index.db'))
    return aerogpu(*words, *own, file)


def damage(seed):
    """One damaged dump. Playing and minimizing it is tried only where `report` found something: that takes a while."""
    rng = random.Random(seed)
    file = path('damaged.aerogpudump')
    if not said:
        plant('plant', 3)
        os.rename(dump(path('planted.aerogputrace')), path('whole.aerogpudump'))
    shutil.copy(path('whole.aerogpudump'), file)
    if not said:
        said.update({words: read(words, file).stdout for words in READERS[:4]})
    (by_rows if seed % 2 else by_bytes)(file, rng)
    wrong, report = [], 0
    for words in READERS[:1] + rng.sample(READERS[1:4], 1) + ([rng.choice(READERS[4:])] if seed % 8 < 2 else []):
        if words not in said and report != 3:
            continue
        out = read(words, file)
        lines = [line for line in out.stderr.splitlines() if ' dumps added, ' not in line]
        if out.returncode == 0 and out.stdout != said.get(words):
            wrong.append('%s differs in silence' % words[0])
        elif out.returncode != 0 and (out.returncode != 3 or len(lines) != 1 or not re.search('table [a-z_]+ |offset 0x|schema version', lines[0])):
            wrong.append('%s: exit code %d: %s' % (words[0], out.returncode, out.stderr))
        report = out.returncode if words[0] == 'report' else report
    return '; '.join(wrong)


needed = {'replay': 0.98, 'minimize': 1, 'damage': 1}[args.proof]
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
