#!/usr/bin/env bash
# make bench: runs every benchmark of a build folder; one line per figure, and FOLDER/bench.json. usage: bench.sh FOLDER
# Fails if a benchmark fails. A figure that misses its target is counted and named at the end: machines are shared and noisy.
set -u
build=$1
rm -f "$build/bench.json"
failed=
for program in "$build"/bench/*_bench; do
    "$program" --json "$build/bench.json" || failed="$failed $(basename "$program")"
done
python3 - "$build/bench.json" <<'END'
import json, sys
figures = json.load(open(sys.argv[1]))
missed = [f["id"] for f in figures if not f["ok"]]
print(f"{len(figures)} figures, {len(figures) - len(missed)} meet their target" + ("; missed: " + ", ".join(missed) if missed else ""))
END
[ -z "$failed" ] || { echo "bench: failed:$failed"; exit 1; }
