#!/usr/bin/env bash
# make bench: runs every benchmark of a build folder; one line per figure, and FOLDER/bench.json. usage: bench.sh FOLDER
set -u
build=$1
rm -f "$build/bench.json"
status=0
for program in "$build"/bench/*_bench; do
    "$program" --json "$build/bench.json" || status=1
done
exit $status
