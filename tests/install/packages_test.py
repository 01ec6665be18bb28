#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The packages that `make` installs and those that the Debian packages are built with are the same: the first part of
tools/build/packages/build.txt, and Build-Depends of debian/control.
  packages_test.py SOURCE_ROOT"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
BROUGHT = {"gcc", "g++", "libc6-dev", "make", "ninja-build"}  # by build-essential and meson
OURS = {"debhelper-compat"}                                   # what makes packages, in deb.txt


def listed(text):
    return [word for line in text.splitlines() for word in line.split("#")[0].split()]


groups = {p.stem: listed(p.read_text()) for p in sorted((root / "tools/build/packages").glob("*.txt"))}
control = (root / "debian/control").read_text()
field = re.search(r"^Build-Depends:((?:.*\n)(?: .*\n)*)", control, re.M).group(1)
depends = [d.split()[0] for d in field.replace("\n", " ").split(",") if d.strip()]
to_build = [p for p in groups["build"] if re.search(r"-(dev|headers|tools|mingw-w64-x86-64)$", p)] + ["meson", "pkg-config", "python3"]

checks = {
    "what the packages are built with is installed by make":
        sorted(set(depends) - set(groups["build"]) - OURS),
    "what make installs to build with is in Build-Depends":
        sorted(set(to_build) - set(depends) - BROUGHT),
    "no package is listed twice":
        [f"{name}: {p}" for name, group in {**groups, "Build-Depends": depends}.items() for p in sorted(set(group)) if group.count(p) > 1],
    "nothing is installed twice":
        [f"{p.name}: {line}" for p in sorted((root / "debian").glob("*.install"))
         for line in sorted(set(p.read_text().splitlines())) if p.read_text().splitlines().count(line) > 1],
    "the lists were found": [] if len(depends) > 20 and len(to_build) > 20 else [f"{len(depends)} and {len(to_build)} packages"],
}
print(f"1..{len(checks)}")
for n, (name, wrong) in enumerate(checks.items(), 1):
    for w in wrong:
        print(f"# {w}")
    print(f"{'not ok' if wrong else 'ok'} {n} - {name}")
sys.exit(1 if any(checks.values()) else 0)
