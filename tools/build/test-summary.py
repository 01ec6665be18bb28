#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the cases of the last `meson test` run and prints 'N passed, N failed, N skipped' alone on a line.

usage: test-summary.py BUILD_DIR...     exit 1 if anything failed or nothing ran
"""
import glob
import os
import sys
import xml.etree.ElementTree as ET

passed = failed = skipped = 0
for build in sys.argv[1:]:
    for path in glob.glob(os.path.join(build, 'meson-logs', 'testlog*.junit.xml')):
        for suite in ET.parse(path).getroot().iter('testsuite'):
            for case in suite.iter('testcase'):
                if case.find('failure') is not None or case.find('error') is not None:
                    failed += 1
                    print(f"FAILED {suite.get('name')}: {case.get('name')}")
                elif case.find('skipped') is not None:
                    skipped += 1
                else:
                    passed += 1
print(f'{passed} passed, {failed} failed' + (f', {skipped} skipped' if skipped else ''))
sys.exit(1 if failed or not passed else 0)
