#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make fuzz: runs each libFuzzer target (or those named) for FUZZ_SECONDS, or all of them for MINUTES together, from the seeds in
# the tree; FUZZ_SECONDS=0: these alone. What it learns stays in build-fuzz/corpus; an input that fails is left in build-fuzz/failures, and is worth a seed and
# a test. Who ran least goes first; BELOW=M: only those that had fewer than M minutes so far. MERGE=1: instead, what was learnt is
# minimised to the inputs that reach something that no smaller one does.
# build-fuzz/runs has a line for each run: the target, how often it was executed, and the seconds of processor time that this took (a busy
# machine makes a run longer, not better). Both are shown as of all runs of this folder, too.
set -u
cd "$(dirname "$0")/../.."
B=build-fuzz
[ -f $B/build.ninja ] || CC=clang meson setup $B -Dfuzzing=true -Db_lundef=false -Dbench=false >/dev/null || exit 1
mkdir -p $B/failures
touch $B/runs

# NAME's executions and minutes in all runs, or everybody's.
ever() {
    awk -v n="${1:-}" 'n == "" || $1 == n {runs += $2; cpu += $3} END {printf "%d %.1f\n", runs, cpu / 60}' $B/runs
}

mapfile -t names < <(for source in tests/fuzz/*_fuzz.c tests/fuzz/*/*_fuzz.c; do
    name=$(basename "$source" _fuzz.c)
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    read -r _ minutes < <(ever "$name")
    echo "$minutes $name"
done | sort -n | awk -v below="${BELOW:-}" 'below == "" || $1 < below {print $2}')
[ ${#names[@]} -gt 0 ] || { echo "fuzz: nobody to run"; exit 0; }
nice ninja -C $B ${JOBS:+-j "$JOBS"} --quiet $(printf 'tests/fuzz/%s_fuzz ' "${names[@]}") || exit 1

# What the learnt inputs reach, by fewer of them.
merge() {
    rm -rf "$B/merged"
    mkdir -p "$B/merged" "$B/corpus/$1"
    before=$(ls "$B/corpus/$1" | wc -l)
    nice -n 19 "$B/tests/fuzz/$1_fuzz" -merge=1 -rss_limit_mb=3072 -artifact_prefix="$B/failures/$1-" "$B/merged" \
        "$B/corpus/$1" >"$B/failures/$1.log" 2>&1 || { echo "$1: FAILED, see $B/failures/$1.log"; return 1; }
    rm -rf "$B/corpus/$1"
    mv "$B/merged" "$B/corpus/$1"
    printf '%-14s %6d inputs, now %6d\n' "$1" "$before" "$(ls "$B/corpus/$1" | wc -l)"
}

if [ -n "${MERGE:-}" ]; then
    rc=0
    for name in "${names[@]}"; do
        merge "$name" || rc=1
    done
    exit $rc
fi

each=${FUZZ_SECONDS:-60}
if [ -n "${MINUTES:-}" ]; then
    each=$((MINUTES * 60 / ${#names[@]}))
    [ "$each" -gt 0 ] || { echo "fuzz: $MINUTES minutes are not a second for each of ${#names[@]} targets"; exit 2; }
fi
# Leaks are looked for at the end, and after each of the seeds alone: to look after each input that leaves something behind, be it a cache,
# takes longer than the input does.
how=(-max_total_time="$each" -detect_leaks=0)
[ "$each" -gt 0 ] || how=(-runs=0)
export UBSAN_OPTIONS=print_stacktrace=1
INTERRUPTED=72 # what libFuzzer exits with at SIGINT and SIGTERM
trap : INT     # what ran until then counts
TIMEFORMAT='%U %S'
failed= sum=0
for name in "${names[@]}"; do
    mkdir -p "$B/corpus/$name"
    seeds=tests/fuzz/corpus/$name
    [ -d "$seeds" ] || seeds=
    learnt=$B/corpus/$name
    [ "$each" -gt 0 ] || learnt=
    log=$B/failures/$name.log
    # An input that takes a minute hangs; one of ten seconds may have had no processor.
    # Weighing seeds by how rare what they reach is takes longer than most runs do.
    { time nice -n 19 "$B/tests/fuzz/${name}_fuzz" -entropic=0 "${how[@]}" -timeout=60 -rss_limit_mb=3072 -print_final_stats=1 \
        -artifact_prefix="$B/failures/$name-" $learnt $seeds >"$log" 2>&1; } 2>"$B/failures/$name.time"
    rc=$?
    runs=$(awk '/number_of_executed_units/ {print $2}' "$log")
    [ -n "$runs" ] || runs=$(grep -aoE '^#[0-9]+' "$log" | tail -1 | tr -d '#')
    echo "$name ${runs:-0} $(awk '{print $1 + $2}' "$B/failures/$name.time")" >>$B/runs
    sum=$((sum + ${runs:-0}))
    read -r all minutes < <(ever "$name")
    edges=$(grep -aoE 'cov: [0-9]+' "$log" | tail -1)
    if [ $rc = 0 ] || [ $rc = $INTERRUPTED ]; then
        printf '%-14s %11d runs, %12d in %6.1f minutes in all, %5s edges, clean\n' "$name" "${runs:-0}" "$all" "$minutes" "${edges#cov: }"
    else
        echo "$name: FAILED, see $log"
        grep -aE 'ERROR|SUMMARY|runtime error|broken' "$log" | head -3
        failed="$failed $name"
    fi
    [ $rc != $INTERRUPTED ] || break
done
read -r all minutes < <(ever)
printf '%-14s %11d runs, %12d in %6.1f minutes in all\n' "together" "$sum" "$all" "$minutes"
[ -z "$failed" ] || { echo "fuzz: failed:$failed"; exit 1; }
[ "${rc:-0}" = 0 ] || exit 1
