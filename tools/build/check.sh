#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make check: every way in which the tree is looked at. usage: check.sh [STAGE...]; without arguments, all of them.
# Goes on after a failure, says at the end which stages failed, and fails if any did. Each builds in a folder of its own.
set -u
cd "$(dirname "$0")/../.."
JOBS=${JOBS:-$(nproc)}
ALL="gcc clang asan tsan fuzz tidy format"
LOG=build-check
mkdir -p $LOG

# configure DIR OPTION...
configure()
{
    local dir=$1
    shift
    [ -f "$dir/build.ninja" ] || meson setup "$dir" "$@" >"$LOG/$(basename "$dir").setup" || {
        cat "$LOG/$(basename "$dir").setup"
        return 1
    }
    ninja -C "$dir" -j "$JOBS" --quiet
}

# The whole suite live; the tests have only the quick one. A sanitizer's machine is a slow one.
validate()
{
    "$1/tools/aerogpu/aerogpu" validate --time-slack 20 --out "$1/validate" >"$LOG/$(basename "$1").validate" && return 0
    grep -E '^- FAIL|^FAIL' "$LOG/$(basename "$1").validate"
    return 1
}

stage_gcc()
{
    CC=gcc configure build-gcc --werror
}

stage_clang()
{
    CC=clang configure build-clang --werror
}

# Errors of memory and of the language. Drivers and translators keep what they allocate once, hence the suppressions.
stage_asan()
{
    CC=gcc configure build-asan -Db_sanitize=address,undefined || return 1
    export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0:verify_asan_link_order=0
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
    meson test -C build-asan --no-rebuild --print-errorlogs --num-processes "$JOBS" --timeout-multiplier 5 || return 1
    validate build-asan
}

# Data races, in the tests that have threads. An executor that ends must be seen to end at once, hence no sleep at exit; children that
# tests fork may have threads, too.
stage_tsan()
{
    CC=gcc configure build-tsan -Db_sanitize=thread || return 1
    export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:atexit_sleep_ms=0:die_after_fork=0:suppressions=$PWD/tests/tsan.supp
    meson test -C build-tsan --no-rebuild --print-errorlogs --num-processes 1 --timeout-multiplier 5 --suite threaded || return 1
    validate build-tsan
}

# The fuzz targets build, and what they found once is not there again.
stage_fuzz()
{
    FUZZ_SECONDS=0 tools/build/fuzz.sh >$LOG/fuzz.log && return 0
    grep -vE ' clean$' $LOG/fuzz.log
    return 1
}

stage_tidy()
{
    CC=clang configure build-clang --werror || return 1
    run-clang-tidy -p build-clang -quiet -j "$JOBS" "^$PWD/(src|tools|bench)/.*\.c\$" >$LOG/tidy.log 2>&1 && return 0
    sed "s/\x1b\[[0-9;]*m//g" $LOG/tidy.log | grep -E "(warning|error):" | sort -u
    return 1
}

stage_format()
{
    git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror 2>&1 | grep -E 'error:' | cut -d: -f1 | sort | uniq -c
    [ "${PIPESTATUS[2]}" != 0 ] # the grep found nothing
}

failed=
for stage in ${*:-$ALL}; do
    echo "== $stage"
    start=$SECONDS
    "stage_$stage" || failed="$failed $stage"
    echo "== $stage: $((SECONDS - start)) s"
done
[ -z "$failed" ] || { echo "check: failed:$failed"; exit 1; }
echo "check: clean"
