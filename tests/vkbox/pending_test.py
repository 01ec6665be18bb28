#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pending_test.py AEROGPU PENDING: what waits for the program is told once, of the submission that it is, whatever else is submitted meanwhile."""
import glob, os, re, sqlite3, subprocess, sys, tempfile

aerogpu, pending = map(os.path.abspath, sys.argv[1:3])


def told(what, *options):
    """Of its only dump the finding's text, cause, certainty and submission; the program has come to its end."""
    with tempfile.TemporaryDirectory(prefix='aerogpu-pending-') as place:
        p = subprocess.run([aerogpu, 'run', '--gpu-timeout', '1', *options, '-o', place, '--', pending, what, place], capture_output=True, text=True,
                           timeout=200)
        dumps = glob.glob(place + '/*.aerogpudump')
        assert (p.returncode, p.stdout.splitlines()[-1:], len(dumps)) == (0, ['done'], 1), (what, p, dumps)
        return sqlite3.connect(dumps[0]).execute('SELECT text, cause, certainty, submission FROM finding WHERE rank=0').fetchone()


for options in ([], ['--exact']):
    r = told('host', *options)
    assert r[0].startswith('Submission 1 has not begun; it waits for semaphore') and r[1:] == ('waiting', 'candidate', 1), r

for what in 'empty', 'awaited', 'polled':
    r = told(what, '--exact')
    assert r[0].startswith('Submission 1 has not begun; it waits for semaphore') and r[1:] == ('waiting', 'candidate', 1), (what, r)

r = told('chain', '--exact')
assert re.fullmatch('Submission 2 has not begun; it waits for semaphore 0x[0-9a-f]+ to reach 1, which submission 1 signals; '
                    'submission 1 waits for semaphore 0x[0-9a-f]+ to reach 1, which no submission signals', r[0]) and r[1] == 'waiting', r

r = told('fences', '--exact')
assert 'of submission 4, or of a later one of the 3 that have its command buffer' in r[0] and r[2:] == ('candidate', 4), r

for what in 'frames', 'devices':
    r = told(what, '--exact')
    assert 'vkCmdWaitEvents' in r[0] and 'of submission 1' in r[0] and r[1] == 'waiting', (what, r)

r = told('dead', '--exact')
assert 'has not begun; it waits for semaphore 0x' in r[0] and r[0].endswith(', which no submission signals') and 'to reach' not in r[0] and r[1] == 'waiting', r
