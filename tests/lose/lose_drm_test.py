#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lose_drm_test.py AEROGPU CLIENT KERNEL: what the kernel says to a compositor, said by `aerogpu lose`."""
import json, os, subprocess, sys

aerogpu, client, kernel = sys.argv[1:4]
CASES = (
    # The fault, what the compositor does, the exit code, the verdict, how often it was answered (None: often), and what it was told.
    ('enodev@DRM_IOCTL_MODE_PAGE_FLIP:20', 'exit', 1, 'ended cleanly', 1, 'No such device'),
    ('eacces@DRM_IOCTL_MODE_PAGE_FLIP:20', 'retry', 0, 'survived', 1, None),
    ('ebusy@DRM_IOCTL_MODE_ATOMIC:9', 'retry', 0, 'survived', 1, None),
    ('enospc@DRM_IOCTL_MODE_ATOMIC:9', 'exit', 1, 'ended cleanly', 1, 'No space left on device'),
    ('eintr@DRM_IOCTL_MODE_PAGE_FLIP:9', 'exit', 0, 'survived', 1, None),  # libdrm repeats it
    ('oom@DRM_IOCTL_MODE_PAGE_FLIP:9', 'abort', 1, 'dies', 1, 'Cannot allocate memory'),
    ('enodev@DRM_IOCTL_MODE_PAGE_FLIP:9', 'pause', 1, 'hangs', 1, 'No such device'),
    ('unplugged@DRM_IOCTL_MODE_ATOMIC:9', 'exit', 1, 'ended cleanly', 1, 'No such device'),
    ('unplugged@DRM_IOCTL_MODE_ATOMIC:9', 'deaf', 1, 'stalls', 1, None),
    ('enodev@DRM_IOCTL:30+', 'deaf', 1, 'stalls', None, None),
    ('delay=300@DRM_IOCTL_MODE_PAGE_FLIP:9', 'exit', 0, 'survived', 1, None),
    ('crash@DRM_IOCTL_MODE_PAGE_FLIP:9', 'exit', 1, 'dies', 1, None),
    ('enodev@DRM_IOCTL_PRIME_FD_TO_HANDLE:2', 'exit', 0, 'survived', 1, None),
    ('enodev@DRM_IOCTL_MODE_CURSOR:1', 'exit', 1, 'not reached', 0, None),
    ('eio@DRM_IOCTL_DRIVER:1', 'exit', 1, 'not reached', 0, None),
)
WRONG = (
    ('eio@DRM_IOCTL_MODE_ATOMIC', "DRM_IOCTL_MODE_ATOMIC never answers 'eio'; it may answer unplugged, enodev, enomem, eintr, eacces, einval, ebusy, enospc"),
    ('enodev@DRM_IOCTL_MODE_FLIP', "'DRM_IOCTL_MODE_FLIP' is no ioctl of DRM that is known here"),
    ('enodev@drmModePageFlip', "there is no answer 'enodev'"),
)


def main():
    print('1..%d' % (len(CASES) + len(WRONG) + 1))
    env = dict(os.environ, LD_PRELOAD=kernel)
    n = 0
    for fault, how, code, verdict, given, told in CASES:
        n += 1
        long = verdict in ('survived', 'ended cleanly', 'dies')
        p = subprocess.run([aerogpu, 'lose', '--fault', fault, '--json', '--reach', '4' if verdict == 'not reached' else '60', '--timeout', '60' if long else '3',
                            '--', client, how], capture_output=True, text=True, timeout=200, env=env)
        j = json.loads(p.stdout) if p.stdout else {}
        count = j.get('faults', [{'given': -1}])[0]['given']
        ok = p.returncode == code and j.get('verdict') == verdict and (count > 5 if given is None else count == given) and (not told or told in p.stderr)
        print('%sok %d - %s, %s: %s' % ('' if ok else 'not ', n, fault, how, j.get('verdict')))
        if not ok:
            print('# %d, given %d\n# %s' % (p.returncode, count, p.stderr.replace('\n', '\n# ')))
    for fault, says in WRONG:
        n += 1
        p = subprocess.run([aerogpu, 'lose', '--fault', fault, '--', client], capture_output=True, text=True, timeout=60)
        ok = p.returncode == 2 and says in p.stderr
        print('%sok %d - %s: %s' % ('' if ok else 'not ', n, fault, p.stderr.strip()))
    print('%sok %d - the numbers of the ioctls' % ('' if not subprocess.run([client, 'numbers'], timeout=60).returncode else 'not ', n + 1))


main()
