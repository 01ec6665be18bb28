#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command line that is printed anywhere (pages, manual, --help) is one: the command is there, and so is each of its options; targets
of make are in the Makefile.
  command_lines_test.py SOURCE_ROOT AEROGPU DBGCTL TEST_RUNNER TEST"""
import glob
import os
import re
import subprocess
import sys

root = os.path.abspath(sys.argv[1])
programs = dict(zip(("aerogpu", "aerogpu_dbgctl", "aerogpu_test_runner", "test"), map(os.path.abspath, sys.argv[2:6])))


def ask(*command):
    return subprocess.check_output(command, text=True)


def rows(*command):
    return [line.split("\t") for line in ask(*command, "--help=list").splitlines()]


def options(*command):
    return {n for r in rows(*command) if r[0] == "option" for n in (r[1] and "--" + r[1], r[2] and "-" + r[2]) if n} | {"--help", "-h"}


commands = {r[1]: options(programs["aerogpu"], r[1]) for r in rows(programs["aerogpu"]) if r[0] == "command"}
plain = {p: options(programs[p]) for p in ("aerogpu_dbgctl", "aerogpu_test_runner")}
plain["aerogpu_test_runner"] |= options(programs["test"])
everybodys = set().union(*commands.values(), *plain.values())
texts = {}
for path in glob.glob(root + "/docs/*.md") + glob.glob(root + "/*.md"):
    with open(path) as f:
        texts[os.path.relpath(path, root)] = f.read().replace("\\|", "|")
for path in glob.glob(root + "/docs/man/*.roff"):  # .B aerogpu record \-\-what cpu
    with open(path) as f:
        texts[os.path.relpath(path, root)] = re.sub(r"^\.[BI] (aerogpu.*)$", r"`\1`", f.read().replace("\\", ""), flags=re.M)
for name in commands:
    texts[f"aerogpu {name} --help"] = ask(programs["aerogpu"], name, "--help")
for p in plain:
    texts[f"{p} --help"] = ask(programs[p], "--help")
texts["aerogpu --help"] = ask(programs["aerogpu"], "--help")
everybodys |= {"--vo", "--disable-domain-blocking-for-3d-apis"}  # mpv's, Chromium's
# What is gone may be named where it is said that it is gone.
gone = {("CHANGELOG.md", c) for c in ("d3d12", "cpu", "replay")}


def lines(text):
    """What is typed: indented blocks, and what stands in backquotes."""
    typed = [line.strip() for line in re.findall(r"^(?: {4}|  (?=aerogpu|make))(.*(?:\\\n.*)*)", text, re.M)]
    return typed + [" ".join(m.split()) for m in re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))]


def command_of(line):
    """Each program with the words behind it, up to the next of a pipe, and up to what another program takes."""
    for part in re.split(r"\s\|\s|;|&&?|\s#\s|\s{3,}|\$\(", line):
        words = part.split()
        while words and re.match(r"^(\$|sudo|xvfb-run|-a|timeout|-s|INT|\d+|[A-Z_]+=\S*|in|do|for)$", words[0]):
            words.pop(0)
        if words:
            yield os.path.basename(words[0]), words[1:]


targets = set(re.findall(r"^([a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)*):", open(root + "/Makefile").read(), re.M))
targets = {t for names in targets for t in names.split()} | {t for names in re.findall(r"^\.PHONY: *((?:.*\\\n)*.*)", open(root + "/Makefile").read(), re.M) for t in names.split()}
bad, seen = [], 0
for where, text in sorted(texts.items()):
    for line in lines(text):
        for program, words in command_of(line):
            words = [w.rstrip(",.;:") for w in words]
            if program == "make" and line.startswith("make ") and words and re.fullmatch(r"[a-z][a-z0-9-]*", words[0]):
                seen += 1
                if words[0] not in targets:
                    bad.append(f"{where}: {line}: make has no {words[0]}")
            if program == "aerogpu" and words and words[0][:1].islower():
                names = words[0].split("|")
                known = set().union(*(commands.get(n, set()) for n in names))
                bad += [f"{where}: {line}: no command {n}" for n in names if n not in commands and (where, n) not in gone]
            elif program in plain:
                known = plain[program]
            elif program in commands and words[:1] != ["="] and any(w.startswith("--") for w in words):  # `play --validate`, no TOML
                known = commands[program]
            elif re.match(r"--[a-z]", program):  # an option alone is somebody's
                known, words = everybodys, [program]
            else:
                continue
            seen += 1
            for w in words:
                if w == "--":
                    break
                o = re.match(r"(--[a-z][a-z0-9-]*|-[A-Za-z](?![\w-]))", w)
                if o and known and o[1] not in known:
                    bad.append(f"{where}: {line}: no option {o[1]}")
print("1..2")
for n, (name, why) in enumerate((("each command line that is printed is one", bad), ("there were many", [] if seen > 500 else [f"only {seen}"])), 1):
    for line in why:
        print("# " + line)
    print(("not ok" if why else "ok") + f" {n} - {name}")
print(f"# {seen} of them")
