#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# usage: viewer_test.py AEROGPU STUB CALLALL: the page of a recording, in a browser: what a click on a column's head, and a choice of
# the order of calls, make of its lists. Speaks TAP.
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

aerogpu, stub, callall = map(os.path.abspath, sys.argv[1:4])
if not shutil.which("chromium"):
    print("1..0 # SKIP chromium is not installed")
    sys.exit(0)
CLICKS = """
<script>{
const texts = (rows, k) => [...rows].map(r => r.cells[k].textContent);
const side = () => document.querySelector("#side table");
const head = k => side().tHead.rows[0].cells[k];
const calls = () => [...document.querySelectorAll("#list .row:not(.group)")].slice(0, 30).map(r => r.textContent.trim());
const out = {};
document.getElementById("index").click();
out.objects = texts(side().tBodies[0].rows, 0);
head(1).click();
out.types = texts(side().tBodies[0].rows, 1);
head(1).click();
out.types_back = texts(side().tBodies[0].rows, 1);
out.calls = calls();
const order = document.getElementById("order");
order.value = "method";
order.dispatchEvent(new Event("change"));
out.methods = calls();
document.querySelector("#side a[data-o]").click();
out.life = texts(side().tBodies[0].rows, 0);
const pre = document.createElement("pre");
pre.id = "out";
pre.textContent = JSON.stringify(out);
document.body.replaceChildren(pre);
}</script>
"""
tests = []


def check(what, good, why=""):
    tests.append(good)
    print(f"{'ok' if good else 'not ok'} {len(tests)} - {what}")
    if not good:
        print("# " + str(why)[:2000])


with tempfile.TemporaryDirectory() as work:
    env = dict(os.environ, LD_PRELOAD=stub, HOME=work)
    subprocess.run([aerogpu, "record", "-o", work + "/r", "--", callall], env=env, check=True, capture_output=True)
    subprocess.run([aerogpu, "show", "--html", work + "/v.html", work + "/r"], check=True, capture_output=True)
    page = open(work + "/v.html").read()
    open(work + "/v.html", "w").write(page.replace("</body>", CLICKS + "</body>"))
    dom = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", f"file://{work}/v.html"],
                         env=dict(os.environ, HOME=work), capture_output=True, text=True, timeout=200).stdout
    m = re.search(r'<pre id="out">(.*?)</pre>', dom, re.S)
    check("the page opens", bool(m), dom[-1500:])
    out = json.loads(re.sub(r"&(lt|gt|amp);", lambda e: {"lt": "<", "gt": ">", "amp": "&"}[e[1]], m[1])) if m else {}
if out:
    numbers = [int(o[1:]) for o in out["objects"]]
    check("every object is listed", len(numbers) > 20 and numbers == sorted(numbers), numbers)
    check("objects are sorted by type", out["types"] == sorted(out["types"], key=str.lower) and len(set(out["types"])) > 5, out["types"])
    check("and the other way round", out["types_back"] == sorted(out["types"], key=str.lower, reverse=True), out["types_back"])
    name = [re.search(r"(\w+)\(", c)[1] for c in out["methods"]]
    check("calls are sorted by method", name == sorted(name) and out["methods"] != out["calls"], out["methods"])
    check("the calls of an object's life are a list", len(out["life"]) > 1 and all(c.isdigit() for c in out["life"]), out["life"])
print(f"1..{len(tests)}")
sys.exit(not all(tests))
