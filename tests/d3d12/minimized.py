#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""minimized.py AEROGPU LAYERS RECORDING...: what `minimize` leaves of recordings of others' programs, for the table in
docs/d3d12-windows.md. A shader of each is one that the driver does not survive (shader_fault.c): the one that is submitted for the
first time last, so that all that leads there is needed. Prints for each recording a line: its calls, and those that are left, after how many plays;
whether what is left still ends the same way, and plays to its end without the plant.

Options: --timeout MS (2000), --kind crash (default) or lost. minimized.py --suite WORKLOAD AEROGPU LAYERS: a program of ours, as a
test that speaks TAP."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

LAYER = 'VK_LAYER_AEROGPU_test_shader_fault'


def run(argv, layers, fault, seconds=900):
    # what wrote the arguments of an indirect draw may be left out: then they are what new memory holds, which has to be zeros, as on
    # Windows, also where memory was used before (else it may draw for minutes); glibc fills with the complement of this
    env = dict(os.environ, MALLOC_PERTURB_='255', VK_INSTANCE_LAYERS=LAYER, VK_ADD_LAYER_PATH=layers, AEROGPU_TEST_SHADER_FAULT=fault)
    try:
        r = subprocess.run(argv, env=env, capture_output=True, text=True, errors='replace', timeout=seconds)
    except subprocess.TimeoutExpired:
        return -1, '', 'not done in %d s' % seconds
    return r.returncode, r.stdout, r.stderr


def last_shader(aerogpu, layers, recording, timeout):
    """Up to where the player gets."""
    out = run([aerogpu, 'play', '--timeout', timeout, recording], layers, 'list')[1]
    found = re.findall(r'^[0-9a-f]+$', out, re.M)
    return found[-1] if found else None


def ending(err):
    """A sentence without the numbers of calls, blocks and objects."""
    said = [l for l in err.splitlines() if l.startswith('aerogpu play: ')]
    return re.sub(r'call \d+ \(block \d+\)', 'call', said[-1]) if said else ''


def minimized(aerogpu, layers, recording, small, kind='crash', timeout='2000', shader=None):
    """(sentence, whether all is as it should be)"""
    shader = shader or last_shader(aerogpu, layers, recording, timeout)
    if not shader:
        return 'nothing is submitted', False
    fault = kind + ':' + shader
    whole = ending(run([aerogpu, 'play', '--timeout', timeout, recording], layers, fault)[2])
    code, out, err = run([aerogpu, 'minimize', '--timeout', timeout, '-o', small, recording], layers, fault, 1500)
    left = re.search(r': (\d+) of (\d+) calls still end (.*) \((\d+) plays\)', out)
    if code or not left:
        return 'minimize: %d %s' % (code, (err or out).strip()[-200:]), False
    again = ending(run([aerogpu, 'play', '--timeout', timeout, small], layers, fault)[2])
    code, _, err = run([aerogpu, 'play', '--timeout', timeout, small], layers, '')
    text = '%s -> %s calls, %s plays, %s; the same with the plant: %s; without: %d %s' % (
        left.group(2), left.group(1), left.group(4), left.group(3), 'yes' if again == whole else 'no, %r not %r' % (again, whole), code,
        ending(err))
    return text, again == whole and code == 0


def suite(workload, aerogpu, layers):
    with tempfile.TemporaryDirectory() as d:
        recording, small = d + '/scene', d + '/small'
        if subprocess.run([workload, 'events'], capture_output=True).returncode or \
                subprocess.run([aerogpu, 'record', '-o', recording, '--', workload, 'scene'], capture_output=True).returncode:
            print('1..0 # SKIP no Direct3D 12 device, or no recorder in this build')
            return False
        fine = True
        for i, kind in enumerate(('crash', 'lost'), 1):
            text, good = minimized(aerogpu, layers, recording, small, kind)
            left = re.search(r'^(\d+) -> (\d+) calls', text)
            good = good and left and int(left.group(2)) <= 30 < int(left.group(1))
            fine &= bool(good)
            print('%sok %d - a draw with a shader that the driver does not survive (%s) is what is left\n# %s' % ('' if good else 'not ', i, kind, text), flush=True)
        print('1..2')
    return not fine


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--timeout', default='2000')
    p.add_argument('--kind', default='crash', choices=('crash', 'lost'))
    p.add_argument('--suite')
    p.add_argument('aerogpu')
    p.add_argument('layers')
    p.add_argument('recordings', nargs='*')
    a = p.parse_args()
    if a.suite:
        return suite(a.suite, a.aerogpu, a.layers)
    fine = True
    with tempfile.TemporaryDirectory() as d:
        for recording in a.recordings:
            text, good = minimized(a.aerogpu, a.layers, recording, os.path.join(d, 'small'), a.kind, a.timeout)
            fine &= good
            print('%s: %s' % (recording, text), flush=True)
    return not fine


if __name__ == '__main__':
    sys.exit(main())
