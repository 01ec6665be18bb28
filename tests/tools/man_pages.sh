#!/bin/bash
# SPDX-License-Identifier: MIT
# Every program and every command has a page, which renders without a warning, has each of its options, and refers to pages that
# are there; shells take the completions, and complete with them.
#   man_pages.sh PAGES COMPLETIONS PROGRAM...
set -u
pages=$1 completions=$2 n=0
shift 2

result() { # ok text
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

check_page() { # name, command...
    local page=$pages/$1.1 bad='' option see name=$1
    shift
    [ -s "$page" ] || { result 1 "$name has a page"; return; }
    if command -v groff >/dev/null; then bad+=$(groff -man -Tutf8 -ww -z "$page" 2>&1); fi
    if command -v mandoc >/dev/null; then bad+=$(mandoc -Tlint -W warning "$page" 2>&1 | grep -v 'missing date'); fi
    while read -r option; do
        grep -Fq -- "${option//-/\\-}" "$page" || bad+=" no $option"
    done < <("$@" --help=list | awk -F'\t' '$1 == "option" { print $2 ? "--" $2 : "-" $3 }')
    while read -r see; do
        [ -e "$pages/${see%(1)}.1" ] || bad+=" $see does not exist"
    done < <(sed 's/\\-/-/g' "$page" | grep -oE 'aerogpu[a-z0-9_-]*\(1\)')
    [ -z "$bad" ] || echo "# ${bad//$'\n'/$'\n# '}"
    result "$([ -z "$bad" ]; echo $?)" "$name has a page, with its options, which renders"
}

walk() { # name, command...
    local name=$1 below
    shift
    check_page "$name" "$@"
    while read -r below; do
        walk "$name-$below" "$@" "$below"
    done < <("$@" --help=list | awk -F'\t' '$1 == "command" { print $2 }')
}

complete_bash() { # words...
    (
        # shellcheck source=/dev/null
        cd "$completions" && . "./$1" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && "_$1" && echo "${COMPREPLY[*]}"
    )
}

for program; do walk "$(basename "$program")" "$program"; done
[ "$(complete_bash aerogpu play --expect-)" = --expect-errors ] && [ "$(complete_bash aerogpu lose --expect s)" = "survive stalls" ] &&
    [ "$(complete_bash aerogpu record --what d)" = "d3d12 device" ] && [ "$(complete_bash aerogpu minim)" = minimize ] &&
    [ "$(complete_bash aerogpu record --what = d)" = "d3d12 device" ] && [ "$(complete_bash aerogpu serve --executors = )" = "client user shared" ] &&
    [ "$(complete_bash aerogpu lose --reset i)" = innocent ] && [ "$(complete_bash aerogpu run -- env)" = "$(compgen -c env | tr '\n' ' ' | sed 's/ $//')" ] &&
    [ -z "$(complete_bash aerogpu version "")" ] && [ "$(complete_bash aerogpu_dbgctl --query-fe)" = --query-fence ]
result $? "bash completes"
if command -v zsh >/dev/null; then
    (cd "$completions" && for f in _*; do zsh -n "$f" || exit 1; done)
    result $? "zsh takes the completions"
else
    n=$((n + 1)); echo "ok $n - zsh takes the completions # SKIP zsh is not installed"
fi
if command -v fish >/dev/null; then
    home=$(mktemp -d)
    [ "$(HOME=$home fish -c "source $completions/aerogpu.fish; complete -C 'aerogpu play --expect-'" 2>/dev/null | cut -f1)" = --expect-errors ]
    result $? "fish completes"
    rm -rf "$home"
else
    n=$((n + 1)); echo "ok $n - fish completes # SKIP fish is not installed"
fi
echo "1..$n"
