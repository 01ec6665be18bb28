#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CHANGELOG.md, the one place of the version: prints the newest version, or all of it as debian/changelog.
  changelog.py version|debian CHANGELOG.md"""
import datetime
import re
import sys
import textwrap

MAINTAINER = "The AeroGPU authors <maintainers@users.noreply.a-seed-e389f9cf.example>"

with open(sys.argv[2]) as page:
    sections = re.split(r"^## ", page.read(), flags=re.M)[1:]
releases = []
for section in sections:
    head, body = section.split("\n", 1)
    found = re.fullmatch(r"(\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)", head.strip())
    if not found:
        sys.exit(f'{sys.argv[2]}: "## {head}" is not "## VERSION (YEAR-MONTH-DAY)"')
    releases.append((*found.groups(), body))
if not releases:
    sys.exit(f"{sys.argv[2]}: no version")
if sys.argv[1] == "version":
    print(releases[0][0])
    sys.exit(0)
for n, (version, date, body) in enumerate(releases):
    # Of those of one day, each is an hour newer than the one before it.
    hour = 12 + sum(older == date for _, older, _ in releases[n + 1:])
    day = datetime.datetime.fromisoformat(date)
    print(f"aerogpu ({version}) unstable; urgency=medium\n")
    for item in re.split(r"^- ", body.strip(), flags=re.M)[1:]:
        print(textwrap.fill(" ".join(item.split()), 78, initial_indent="  * ", subsequent_indent="    "))
    print(f"\n -- {MAINTAINER}  {day.strftime('%a, %d %b %Y')} {hour:02}:00:00 +0000\n")
