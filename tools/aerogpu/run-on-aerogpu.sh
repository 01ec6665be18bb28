#!/bin/bash
# SPDX-License-Identifier: MIT
# What `aerogpu run --on aerogpu` does: a service of its own, the program on it, and the report of what crashed.
#   run-on-aerogpu.sh AEROGPU LIBRARIES DUMPS PROGRAM [ARGUMENT...]
# LIBRARIES has the Direct3D of Windows programs. Those find it beside themselves: they run from a folder with links to what is
# beside the program.
set -u
aerogpu=$1 libraries=$2 dumps=$3
shift 3
folder=$(mktemp -d) || exit 4
AEROGPU_DUMPS=$folder "$aerogpu" serve --socket "$folder/socket" >"$folder/log" 2>&1 &
service=$!
leave() {
    kill $service 2>/dev/null
    wait $service 2>/dev/null
    rm -rf "$folder"
}
trap leave EXIT
for i in $(seq 600); do
    grep -q ^ready "$folder/log" && break
    kill -0 $service 2>/dev/null || break
    sleep 0.1
done
grep -q ^ready "$folder/log" || { cat "$folder/log" >&2; exit 4; }
export AEROGPU_SOCKET=$folder/socket

command=("$@")
at=0
case ${1##*/} in wine*) at=1 ;; esac
program=${command[at]-}
case $program in
*.[eE][xX][eE])
    [ -e "$program" ] || { echo "aerogpu run: cannot find $program: name the program's file" >&2; exit 4; }
    [ -n "$libraries" ] || { echo "aerogpu run: this build has no Direct3D for Windows programs: it needs mingw-w64 and libwine-dev" >&2; exit 4; }
    program=$(realpath "$program")
    mkdir "$folder/program"
    ln -s "${program%/*}"/* "$folder/program/"
    ln -sf "$libraries"/*.dll "$folder/program/"
    command[at]=$folder/program/${program##*/}
    [ $at = 1 ] || command=(wine "${command[@]}")
    export WINEDLLOVERRIDES="${WINEDLLOVERRIDES:+$WINEDLLOVERRIDES;}d3d11,dxgi=n"
    ;;
esac
"${command[@]}"
code=$?
kill $service 2>/dev/null # dumps under way are finished
wait $service
for dump in "$folder"/*.aerogpudump; do
    [ -e "$dump" ] || continue
    mkdir -p "$dumps" && mv "$dump" "$dumps/" && dump=$dumps/${dump##*/}
    echo >&2
    "$aerogpu" report "$dump" >&2
    echo "aerogpu run: the dump is $dump; \`aerogpu report --html crash.html\` makes a page of it" >&2
done
exit $code
