#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# usage: window_test.py AEROGPU RENDERDOC: play --window, on an X server whose pixels are a file: what is on it is what was played. Speaks TAP.
import ctypes
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

aerogpu, renderdoc = map(os.path.abspath, sys.argv[1:3])
if not shutil.which("Xvfb") or not shutil.which("vkd3d-gears"):
    print("1..0 # SKIP Xvfb and vkd3d-gears are not installed")
    sys.exit(0)
tests = []


def check(what, good, why=""):
    tests.append(good)
    print(f"{'ok' if good else 'not ok'} {len(tests)} - {what}", flush=True)
    if not good:
        print("# " + str(why)[:1500])


def close_windows(display):
    """Destroys what stands on the screen, as somebody else's program."""
    x = ctypes.CDLL("libX11.so.6")
    x.XOpenDisplay.restype = ctypes.c_void_p
    d = ctypes.c_void_p(x.XOpenDisplay(display.encode()))
    root, parent, children, n = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.POINTER(ctypes.c_ulong)(), ctypes.c_uint()
    x.XDefaultRootWindow.restype = ctypes.c_ulong
    x.XQueryTree(d, ctypes.c_ulong(x.XDefaultRootWindow(d)), ctypes.byref(root), ctypes.byref(parent), ctypes.byref(children), ctypes.byref(n))
    for i in range(n.value):
        x.XDestroyWindow(d, ctypes.c_ulong(children[i]))
    x.XCloseDisplay(d)


def on_screen(folder):
    """Rows of (red, green, blue): Xvfb's picture, as XWDFile.h has it."""
    data = open(folder + "/Xvfb_screen0", "rb").read()
    words = struct.unpack(">25I", data[:100])
    width, height, stride, at = words[4], words[5], words[12], words[0] + 12 * words[19]
    return [[tuple(data[at + y * stride + 4 * x + c] for c in (2, 1, 0)) for x in range(width)] for y in range(height)]


def read_png(path):
    """Rows of (red, green, blue) of a picture of eight bits a channel that is not interlaced."""
    data, at, body, channels = open(path, "rb").read(), 8, b"", 0
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            body += data[at + 8:at + 8 + n]
        at += 12 + n
    raw, rows, above = zlib.decompress(body), [], bytes(width * channels)
    for y in range(height):
        kind, row = raw[y * (width * channels + 1)], bytearray(raw[y * (width * channels + 1) + 1:(y + 1) * (width * channels + 1)])
        for i in range(len(row)):
            a, b, c = row[i - channels] if i >= channels else 0, above[i], above[i - channels] if i >= channels else 0
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[i] = row[i] + (0, a, b, (a + b) // 2, near)[kind] & 255
        above = bytes(row)
        rows.append([tuple(row[i:i + 3]) for i in range(0, len(row), channels)])
    return rows


with tempfile.TemporaryDirectory() as work:
    screen = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "400x320x24", "-fbdir", work, "-nolisten", "tcp"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    env = dict(os.environ, DISPLAY=":" + screen.stdout.readline().strip())
    try:
        gears = subprocess.Popen([aerogpu, "record", "-o", work + "/g", "--", "vkd3d-gears"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.time() + 60
        while time.time() < end and len({p for row in on_screen(work) for p in row}) < 20: # until it shows something, and a while longer
            time.sleep(0.2)
        time.sleep(2)
        gears.terminate()
        gears.wait(60)
        made = subprocess.run([aerogpu, "play", "--png", work + "/png", "--frames", "1-1", "--until-frame", "1", work + "/g"], capture_output=True, text=True)
        check("two frames are recorded and played", made.returncode == 0 and os.path.exists(work + "/png/frame-000001.png"), made.stderr)
        want = read_png(work + "/png/frame-000001.png")
        check("they show something", len({p for row in want for p in row}) > 20)
        play = subprocess.Popen([aerogpu, "play", "--window", "--loop-frame", "1", work + "/g"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        same, end = False, time.time() + 60
        while not same and time.time() < end and play.poll() is None:
            time.sleep(0.2)
            same = [row[:len(want[0])] for row in on_screen(work)[:len(want)]] == want
        check("the window shows the frame, to the pixel", same and play.poll() is None, play.poll())
        close_windows(env["DISPLAY"])
        try:
            code = play.wait(60)
        except subprocess.TimeoutExpired:
            code = play.kill()
        check("who closes it ends playing", code == 0, (code, play.stderr.read()))
        frames = json.loads(subprocess.run([aerogpu, "info", "--json", work + "/g"], capture_output=True, text=True).stdout)["frames"]
        play = subprocess.Popen([aerogpu, "play", "--window", "--loop", "--paced", work + "/g"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.time() + 60
        while time.time() < end and play.poll() is None and len({p for row in on_screen(work) for p in row}) < 20:
            time.sleep(0.05)
        play.send_signal(signal.SIGINT)
        said = play.communicate(timeout=60)
        played = [int(n) for n in re.findall(r"calls, (\d+) frames in", said[0])]
        check("Ctrl-C ends it between two frames", play.returncode == 0 and len(played) == 1 and 0 < played[0] < frames, (play.returncode, said, frames))
        none = subprocess.run([aerogpu, "play", "--window", "--until-call", "3", work + "/g"], env=env, capture_output=True, text=True)
        check("where nothing is shown that is no success", none.returncode == 3 and "nothing was shown: no frame is presented" in none.stderr, (none.returncode, none.stderr))
        gone = subprocess.run([aerogpu, "play", "--window", work + "/g"], env=dict(env, DISPLAY=":4095"), capture_output=True, text=True)
        captured = subprocess.run([aerogpu, "play", "--loop-frame", "1", "--times", "4", work + "/g"], capture_output=True, text=True,
                                  env=dict(env, LD_PRELOAD=renderdoc, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0"))
        check("RenderDoc captures the frame once, where it is", captured.returncode == 0 and
              [l for l in captured.stderr.splitlines() if l.startswith("stub: ")] == ["stub: begin", "stub: end"] and
              "RenderDoc's capture of frame 1: /captured/0.rdc\n" in captured.stdout, (captured.stdout, captured.stderr))
        check("no X server is one error", gone.returncode == 4 and
              "there is no X server to show a window on (DISPLAY)" in gone.stderr, (gone.returncode, gone.stderr))
    finally:
        screen.terminate()
        screen.wait()
print(f"1..{len(tests)}")
sys.exit(not all(tests))
