#!/bin/bash
# The man pages: groff finds nothing to warn about, and the pages and --help name the same options.
#   man_pages.sh SOURCE_ROOT AEROGPU
set -u
root=$1 aerogpu=$2 n=0
pages=("$root"/docs/man/*.1)
commands=(play sim show record dump report replay minimize crashes serve validate doctor "cpu record" "cpu report" "cpu watch" "cpu import" "d3d12 record" "d3d12 play" "d3d12 show"
    "d3d12 diff" "d3d12 trim" "d3d12 methods")
commands+=("d3d12 minimize" lose)

result() { # ok text
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

echo "1..$((${#pages[@]} + ${#commands[@]}))"
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
        [ "$option" = --help ] && continue
        sed 's/\\-/-/g' "$root/docs/man/$page" | grep -Eq -- "(^|[^a-z-])$option([^a-z-]|\$)" || bad="$bad $option"
    done
    [ -n "$bad" ] && echo "# not in the page:$bad"
    result "$([ -z "$bad" ]; echo $?)" "$page has every option of $command --help"
done
