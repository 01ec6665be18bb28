#!/bin/bash
# SPDX-License-Identifier: MIT
# One turn of a Windows program of this folder.   turn.sh aerogpu|wined3d AEROGPU LIBRARIES WORK PROGRAM [ARGUMENT...]
# On aerogpu it runs on a service of its own, with our libraries beside it; on wined3d with Wine's. Both have the same display.
# Where the program does not run to its end, the line "failed: ..." says so, and standard error what it and the service said.
set -u
side=$1 aerogpu=$2 libraries=$3 work=$4 program=$5
shift 5
. "$(dirname "$0")/../../tests/wine.sh" 2>/dev/null
skip_all() {
    echo "skip: $1"
    exit 0
}
fail() {
    echo "failed: $1"
    tail -n 20 "$folder"/errors "$folder"/log >&2 2>/dev/null
    exit 1
}
# Until a file of a process has the line, a minute at most.
await() { # FILE PATTERN PROCESS WHAT
    for i in $(seq 600); do
        grep -q "$2" "$1" 2>/dev/null && return
        kill -0 "$3" 2>/dev/null || break
        sleep 0.1
    done
    fail "$4 did not start"
}
wine_begin
wine_prefix
command -v Xvfb >/dev/null || skip_all "Xvfb is not installed"
folder=$(mktemp -d)
ln -s "$program" "$folder"
Xvfb -displayfd 7 -screen 0 1024x768x24 7>"$folder/display" >/dev/null 2>&1 8>&- &
x=$! service=
leave() {
    kill $x $service 2>/dev/null
    wait $x $service 2>/dev/null
    server -k
    rm -rf "$folder"
}
trap leave EXIT
await "$folder/display" . $x "Xvfb"
export DISPLAY=:$(cat "$folder/display")
if [ "$side" = aerogpu ]; then
    ln -s "$libraries"/*.dll "$folder"
    export WINEDLLOVERRIDES="$WINEDLLOVERRIDES;d3d9,d3d11,dxgi=n" AEROGPU_SOCKET=$folder/socket
    "$aerogpu" serve --socket "$folder/socket" >"$folder/log" 2>&1 8>&- &
    service=$!
    await "$folder/log" ^ready $service "the service"
fi
timeout 300 wine "$folder/${program##*/}" "$@" 2>"$folder/errors" 8>&- | tr -d '\r'
status=${PIPESTATUS[0]}
[ "$status" = 0 ] || fail "${program##*/} on $side ended with status $status"
