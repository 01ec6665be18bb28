#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rooms of docs/design.md call each other in one direction: what the objects of a build leave undefined and others define, room by
room, goes round in no circle. Headers alone do not say it: a miniport calls routines that include/wddm declares and src/dxgkrnl has.
  circles_test.py SOURCE_ROOT BUILD_ROOT"""
import collections
import ctypes
import json
import os
import re
import subprocess
import sys

source, build = map(os.path.realpath, sys.argv[1:])
with open(source + "/docs/design.md") as page:
    rooms = {name for row in re.findall(r"^\| (`[^|]*`) \|", page.read().split("## The rooms")[1], re.M) for name in re.findall(r"`([^`]*)/`", row)}


def room_of(path):
    while path and path not in rooms:
        path = os.path.dirname(path)
    return path


objects = {}  # of each room
with open(build + "/compile_commands.json") as commands:
    for c in json.load(commands):
        at = os.path.relpath(os.path.realpath(os.path.join(c["directory"], c["file"])), source)
        out = os.path.join(c["directory"], c["output"])
        if at.startswith("src/") and at.endswith(".c") and os.path.exists(out):
            objects.setdefault(room_of(at), []).append(out)
has, wants = {}, {}
for room, files in objects.items():
    has[room], wants[room] = set(), set()
    for line in subprocess.check_output(["nm", "-P"] + files, text=True, stderr=subprocess.DEVNULL).split("\n"):
        m = re.match(r"(\S+) ([A-Zuv])( |$)", line)
        if m:
            (wants if m[2] == "U" else has)[room].add(m[1])
libc = ctypes.CDLL(None)
owners = collections.defaultdict(set)
for room, names in has.items():
    for name in names:
        owners[name].add(room)
calls = {room: collections.defaultdict(list) for room in objects}
for room in objects:
    for name in sorted(wants[room] - has[room]):
        # What several rooms define is found by the loader; a recorder stands in front of some calls of libc.
        if len(owners[name]) == 1 and not hasattr(libc, name):
            calls[room][min(owners[name])].append(name)


def circles():
    """Rooms that reach themselves, each with what it calls on the way."""
    reach = {room: set(to) for room, to in calls.items()}
    grown = True
    while grown:
        grown = False
        for room in reach:
            more = set().union(*(reach[to] for to in reach[room])) - reach[room]
            grown |= bool(more)
            reach[room] |= more
    for room in sorted(reach):
        if room in reach[room]:
            for to in sorted(calls[room]):
                if room in reach[to]:
                    yield f"{room}/ calls {', '.join(calls[room][to][:5])} of {to}/, which calls it"


wrong = list(circles())
arrows = sum(len(to) for to in calls.values())
missing = sorted(r for r in rooms if r.startswith("src/") and r not in objects)
print("1..2")
for line in wrong:
    print("# " + line)
print(f"{'not ok' if wrong else 'ok'} 1 - no room calls one that calls it")
for room in missing:
    print(f"# {room}/ has no object")
seen = len(missing) <= 3 and arrows > 60 # a scan that sees nothing would find nothing
print(f"{'ok' if seen else 'not ok'} 2 - {arrows} arrows between {len(objects)} rooms were looked at")
sys.exit(0 if seen and not wrong else 1)
