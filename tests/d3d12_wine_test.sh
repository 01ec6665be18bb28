#!/bin/bash
# Windows programs: recorded under Wine on a virtual screen, played without either.
#   d3d12_wine_test.sh AEROGPU SAMPLES_DIR WORK_DIR
# The prefix in WORK_DIR is made once; its copies of Wine's libraries become links (they are 600 MB).
set -u
aerogpu=$1 samples=$2 work=$3 n=0
prefix=$work/wine-prefix

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

result() { # ok text
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

make_prefix() {
    local libs f
    wine wineboot -i >"$work/wineboot.log" 2>&1 && wineserver_end
    [ -e "$prefix/drive_c/windows/system32/d3d12.dll" ] || return 1
    for libs in /usr/lib/x86_64-linux-gnu/wine/x86_64-windows /usr/lib64/wine/x86_64-windows; do
        for f in "$prefix"/drive_c/windows/system32/*; do
            [ -f "$f" ] && [ ! -L "$f" ] && cmp -s "$f" "$libs/${f##*/}" && ln -sf "$libs/${f##*/}" "$f"
        done
    done
    touch "$prefix/ready"
}

wineserver_end() {
    local s
    for s in $(command -v wineserver) /usr/lib/wine/wineserver /usr/lib/wine/wineserver64; do
        [ -x "$s" ] && "$s" "$@" -w && return
    done
}

command -v wine >/dev/null || skip_all "wine is not installed"
command -v Xvfb >/dev/null || skip_all "Xvfb is not installed"
[ -e "$samples/clear.exe" ] || skip_all "this was built without mingw-w64"

mkdir -p "$work"
exec 8>"$work/wine.lock"
flock 8
export WINEPREFIX=$prefix WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe,winedbg.exe='
Xvfb -displayfd 1 -screen 0 640x480x24 -nolisten tcp >"$work/display" 2>/dev/null 8>&- &
xvfb=$!
trap 'kill $xvfb 2>/dev/null; wait $xvfb 2>/dev/null' EXIT
for i in $(seq 100); do
    [ -s "$work/display" ] && break
    sleep 0.1
done
[ -s "$work/display" ] || skip_all "Xvfb does not start"
export DISPLAY=:$(cat "$work/display")
[ -e "$prefix/ready" ] || make_prefix 8>&- || skip_all "wine cannot make a prefix here"

# record NAME ARGUMENT...: the program's answer is the same as without the recorder, and playing gives what was recorded
record() {
    local name=$1 trace=$work/$1.d3d12trace plain recorded
    shift
    plain=$(timeout 60 wine "$samples/$name.exe" "$@" 2>"$work/$name.err" 8>&-)
    result $? "$name runs under wine"
    recorded=$(timeout 60 "$aerogpu" d3d12 record -o "$trace" -- wine "$samples/$name.exe" "$@" 2>"$work/$name.record" 8>&-)
    result $? "$name is recorded"
    [ "$plain" = "$recorded" ] || { echo "# plain: $plain"; echo "# recorded: $recorded"; }
    result "$([ "$plain" = "$recorded" ]; echo $?)" "$name says the same while it is recorded"
    timeout 60 "$aerogpu" d3d12 play --validate "$trace" >"$work/$name.play" 2>&1
    local rc=$?
    [ $rc = 0 ] || sed 's/^/# /' "$work/$name.record" "$work/$name.play"
    result $rc "$name is played: $(grep '^frames:' "$work/$name.play")"
}

echo "1..6"
before=$(cd "$samples" && ls -A)
record clear 10
result "$(grep -q '^frames: 10 as recorded, 0 different' "$work/clear.play"; echo $?)" "clear has ten pictures"
result "$([ "$before" = "$(cd "$samples" && ls -A)" ]; echo $?)" "nothing is left beside the program"
