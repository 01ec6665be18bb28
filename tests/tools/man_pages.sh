#!/bin/bash
# The man pages: groff finds nothing to warn about, and the pages and --help name the same options.
#   man_pages.sh SOURCE_ROOT AEROGPU DBGCTL TEST_RUNNER SUITE
set -u
root=$1 aerogpu=$2 dbgctl=$3 runner=$4 suite=$5 n=0
pages=("$root"/docs/man/*.1)
commands=(play sim show record dump report replay minimize crashes serve validate doctor "cpu record" "cpu report" "cpu watch" "cpu import" "d3d12 record" "d3d12 play" "d3d12 show"
    "d3d12 diff" "d3d12 trim" "d3d12 methods")
commands+=("d3d12 minimize" lose)

result() { # ok text
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

# What stands in front of an entry of a page, as options.
entries() { awk '/^\.TP/ { entry = 1; next } entry && !/^\.(PD|ns)/ { print; entry = 0 }' "$1" | sed 's/\\-/-/g; s/\\f[A-Z]//g' |
    grep -oE -- '(^|[ ",/|])--?[a-zA-Z][a-zA-Z-]*' | grep -oE -- '--?[a-zA-Z].*' | sort -u; }
# Every --help that a page is about.
helps() {
    case $1 in
    aerogpu) "$aerogpu" --help ;;
    aerogpu_dbgctl) "$dbgctl" --help ;;
    aerogpu_test_runner) "$runner" --help; for test in $("$runner" --list); do "$suite/$test" --help; done ;;
    *)
        for command in "${commands[@]}"; do
            # shellcheck disable=SC2086
            [ "aerogpu-${command%% *}" = "$1" ] && "$aerogpu" $command --help
        done
        ;;
    esac
}

echo "1..$((2 * ${#pages[@]} + ${#commands[@]}))"
for page in "${pages[@]}"; do
    name=$(basename "$page")
    if command -v groff >/dev/null; then
        text=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
        [ -n "$text" ] && echo "# $text"
        result "$([ -z "$text" ]; echo $?)" "$name is well formed"
    else
        n=$((n + 1)); echo "ok $n - $name # SKIP groff is not installed"
    fi
done
for command in "${commands[@]}"; do
    bad=
    page=aerogpu-${command%% *}.1
    # shellcheck disable=SC2086 # a command and its subcommand
    for option in $("$aerogpu" $command --help | grep -o -- '^  \(-[a-zA-Z]\b,\? *\)\?\(--[a-z-]*\)\?' | grep -o -- '-[a-zA-Z-]*'); do
        case $option in --help|-h) continue ;; esac
        sed 's/\\-/-/g' "$root/docs/man/$page" | grep -Eq -- "(^|[^a-z-])$option([^a-z-]|\$)" || bad="$bad $option"
    done
    [ -n "$bad" ] && echo "# not in the page:$bad"
    result "$([ -z "$bad" ]; echo $?)" "$page has every option of $command --help"
done
for page in "${pages[@]}"; do
    name=$(basename "$page" .1) bad=
    text=$(helps "$name")
    for option in $(entries "$page"); do
        grep -qE -- "(^|[^a-zA-Z-])$option([^a-zA-Z-]|\$)" <<<"$text" || bad="$bad $option"
    done
    [ -n "$bad" ] && echo "# not in --help:$bad"
    result "$([ -z "$bad" ] && [ -n "$text" ]; echo $?)" "$name.1 describes only options of --help"
done
