#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make fuzz: runs each libFuzzer target (or those named) for FUZZ_SECONDS, from the seeds in the tree. What it learns stays
# in build-fuzz/corpus; an input that fails is left in build-fuzz/failures, and is worth a seed and a test.
set -u
cd "$(dirname "$0")/../.."
SECONDS_EACH=${FUZZ_SECONDS:-60}
B=build-fuzz
[ -f $B/build.ninja ] || CC=clang meson setup $B -Dfuzzing=true -Db_lundef=false >/dev/null || exit 1
ninja -C $B --quiet || exit 1
mkdir -p $B/failures
export UBSAN_OPTIONS=print_stacktrace=1
failed=
for source in tests/fuzz/*_fuzz.c; do
    name=$(basename "$source" _fuzz.c)
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    mkdir -p "$B/corpus/$name"
    log=$B/failures/$name.log
    if "$B/tests/fuzz/${name}_fuzz" -max_total_time="$SECONDS_EACH" -timeout=10 -rss_limit_mb=3072 -print_final_stats=1 \
        -artifact_prefix="$B/failures/$name-" "$B/corpus/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
        awk -v n="$name" '/number_of_executed_units/ {u = $2} /cov: / {c = $0; sub(/.*cov: /, "", c); sub(/ .*/, "", c)}
            END {printf "%-20s %10d runs, %5s edges, clean\n", n, u, c}' "$log"
    else
        echo "$name: FAILED, see $log"
        grep -E 'ERROR|SUMMARY|runtime error' "$log" | head -3
        failed="$failed $name"
    fi
done
[ -z "$failed" ] || { echo "fuzz: failed:$failed"; exit 1; }
