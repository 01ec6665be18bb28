#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`aerogpu validate` ends in a sentence, a report and an exit code, whatever the settings file says and whoever interrupts it.
  validate_end_test.py AEROGPU"""
import json
import os
import signal
import subprocess
import sys
import tempfile

aerogpu = os.path.abspath(sys.argv[1])
work = tempfile.mkdtemp(prefix="aerogpu-end-")
DRIVERS = "[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\n"
hangs = {"tdr_recovery", "tdr_storm", "device_removed_semantics"}
number = 0


def result(name, wrong):
    global number
    number += 1
    print(f"{'not ' if wrong else ''}ok {number} - {name}", flush=True)
    if wrong:
        print("# " + str(wrong).replace("\n", "\n# "))
    return bool(wrong)


def command(name, *options):
    return [aerogpu, "validate", "--sim", "--out", f"{work}/{name}", *options]


def settings(name, content):
    path = f"{work}/{name}.settings"
    with open(path, "wb") as f:
        f.write(content)
    return path


def report(name):
    with open(f"{work}/{name}/report.json") as f:
        return json.load(f)


def skips(name, text, skipped, why):
    """With these settings exactly these tests are skipped, and say so."""
    p = subprocess.run(command(name, "--settings", settings(name, (DRIVERS + text).encode())), capture_output=True, text=True, timeout=120)
    if p.returncode:
        return f"exit code {p.returncode}: {p.stderr}"
    said = {t["test_name"]: t["skip_reason"] for t in report(name)["tests"] if t["skipped"]}
    return "" if set(said) == skipped and all(why in s for s in said.values()) else f"skipped: {said}"


def says(options, code, words):
    p = subprocess.run(command("said", *options), capture_output=True, text=True, timeout=120)
    return "" if p.returncode == code and words in p.stderr else f"exit code {p.returncode}: {p.stderr}"


def interrupted(name, sig):
    """A long run that gets a signal in its middle has a report of what ran until then, and ends of the signal."""
    p = subprocess.Popen(command(name, "--soak", "100000"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in p.stdout:
        if "soak, minute 2 " in line:
            break
    p.send_signal(sig)
    out, err = p.communicate(timeout=120)
    r = report(name)
    well = p.returncode == -sig and f"ended by {sig.name}, which it was sent, " in err and r["status"] == "FAIL" and \
        r["counts"]["pass"] >= 58 and any("which it was sent" in s["evidence"] for s in r["checklist"])
    return "" if well else f"exit code {p.returncode}, {r['counts']}: {err}"


failed = result("TdrLevel 0", skips("level0", "TdrLevel = 0\n", hangs, "TdrLevel is 0"))
failed |= result("TdrLevel 1", skips("level1", "TdrLevel = 1\n", hangs, "TdrLevel is 1"))
failed |= result("TdrDelay 3600", skips("delay", "TdrDelay = 3600\n", hangs, "TdrDelay is 3600 s"))
failed |= result("TdrLimitCount 0", skips("none", "TdrLimitCount = 0\n", hangs, "TdrLimitCount is 0 "))
failed |= result("TdrLimitCount 2", skips("two", "TdrLimitCount = 2\n", {"tdr_storm"}, "2 resets were"))
failed |= result("TdrDdiDelay 3600", skips("ddi", "TdrDdiDelay = 3600\n", set(), ""))
failed |= result("UTF-8 with a mark", says(["--settings", settings("bom", b"\xef\xbb\xbf" + DRIVERS.encode() + b"TdrDelay = x\n")], 3, "line 2: TdrDelay is not a number"))
failed |= result("UTF-16", says(["--settings", settings("utf16", ("\ufeff" + DRIVERS).encode("utf-16-le"))], 3, "line 1: the text is UTF-16"))
failed |= result("--sim has no executor", says(["--executor", "/nosuch"], 2, "--executor goes with no --sim"))
failed |= result("SIGINT", interrupted("int", signal.SIGINT))
failed |= result("SIGTERM", interrupted("term", signal.SIGTERM))
print(f"1..{number}")
subprocess.run(["rm", "-rf", work], check=False)
sys.exit(failed)
