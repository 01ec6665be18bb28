#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make bench: runs every benchmark of a build folder; one line per figure, and FOLDER/bench.json. usage: bench.sh FOLDER
# Fails if a figure misses its target or could not be measured that should have been. What this machine has not is said.
set -u
build=$1
rm -f "$build/bench.json"
failed=
for program in "$build"/bench/*_bench; do
    "$program" --json "$build/bench.json"
    [ $? -le 1 ] || failed="$failed $(basename "$program")"
done
if [ -f "$build/tests/vkbox/vkbox_plant" ]; then
    python3 tests/vkbox/planted.py "$build/tools/aerogpu/aerogpu" "$build/tests/vkbox" --rounds 2 --seconds 3000 \
        --log "$build/planted.jsonl" --json "$build/bench.json"
    [ $? -le 1 ] || failed="$failed run_planted"
    python3 tests/vkbox/proofs.py "$build/tools/aerogpu/aerogpu" "$build/tests/vkbox" --json "$build/bench.json"
    [ $? -le 1 ] || failed="$failed run_kill9"
fi
python3 - "$build/bench.json" $failed <<'END'
import json, sys
figures = json.load(open(sys.argv[1]))
measured = [f for f in figures if f["measured"]]
missed = [f["id"] for f in measured if not f["ok"]]
absent = [f["id"] for f in figures if not f["measured"]]
print(f"{len(measured)} figures, {len(measured) - len(missed)} meet their target"
      + ("; missed: " + ", ".join(missed) if missed else "")
      + ("; not measured: " + ", ".join(absent) if absent else "")
      + ("; failed: " + ", ".join(sys.argv[2:]) if sys.argv[2:] else ""))
sys.exit(bool(missed or sys.argv[2:]))
END
