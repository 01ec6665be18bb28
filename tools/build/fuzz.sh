#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make fuzz: runs each libFuzzer target (or those named) for FUZZ_SECONDS, or all of them for MINUTES together, from the seeds in
# the tree; FUZZ_SECONDS=0: these alone. What it learns stays in build-fuzz/corpus; an input that fails is left in build-fuzz/failures, and is worth a seed and
# a test. Says how often each ran, now and in all runs of this folder (build-fuzz/runs).
set -u
cd "$(dirname "$0")/../.."
B=build-fuzz
[ -f $B/build.ninja ] || CC=clang meson setup $B -Dfuzzing=true -Db_lundef=false -Dbench=false >/dev/null || exit 1
names=()
for source in tests/fuzz/*_fuzz.c tests/fuzz/*/*_fuzz.c; do
    name=$(basename "$source" _fuzz.c)
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    names+=("$name")
done
nice ninja -C $B ${JOBS:+-j "$JOBS"} --quiet $(printf 'tests/fuzz/%s_fuzz ' "${names[@]}") || exit 1
each=${FUZZ_SECONDS:-60}
if [ -n "${MINUTES:-}" ]; then
    each=$((MINUTES * 60 / ${#names[@]}))
    [ "$each" -gt 0 ] || { echo "fuzz: $MINUTES minutes are not a second for each of ${#names[@]} targets"; exit 2; }
fi
how=(-max_total_time="$each")
[ "$each" -gt 0 ] || how=(-runs=0)
mkdir -p $B/failures
touch $B/runs
export UBSAN_OPTIONS=print_stacktrace=1
failed= sum=0
for name in "${names[@]}"; do
    mkdir -p "$B/corpus/$name"
    seeds=tests/fuzz/corpus/$name
    [ -d "$seeds" ] || seeds=
    learnt=$B/corpus/$name
    [ "$each" -gt 0 ] || learnt=
    log=$B/failures/$name.log
    # Weighing seeds by how rare what they reach is takes longer than most runs do.
    nice -n 19 "$B/tests/fuzz/${name}_fuzz" -entropic=0 "${how[@]}" -timeout=10 -rss_limit_mb=3072 -print_final_stats=1 \
        -artifact_prefix="$B/failures/$name-" $learnt $seeds >"$log" 2>&1
    rc=$?
    runs=$(awk '/number_of_executed_units/ {print $2}' "$log")
    [ -n "$runs" ] || runs=$(grep -aoE '^#[0-9]+' "$log" | tail -1 | tr -d '#')
    echo "$name ${runs:-0}" >>$B/runs
    sum=$((sum + ${runs:-0}))
    ever=$(awk -v n="$name" '$1 == n {s += $2} END {printf "%d", s}' $B/runs)
    edges=$(grep -aoE 'cov: [0-9]+' "$log" | tail -1)
    if [ $rc = 0 ]; then
        printf '%-14s %11d runs, %12d in all, %5s edges, clean\n' "$name" "${runs:-0}" "$ever" "${edges#cov: }"
    else
        echo "$name: FAILED, see $log"
        grep -aE 'ERROR|SUMMARY|runtime error|broken' "$log" | head -3
        failed="$failed $name"
    fi
done
printf '%-14s %11d runs, %12d in all\n' "together" "$sum" "$(awk '{s += $2} END {printf "%d", s}' $B/runs)"
[ -z "$failed" ] || { echo "fuzz: failed:$failed"; exit 1; }
