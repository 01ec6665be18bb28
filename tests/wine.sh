# SPDX-License-Identifier: MIT
# wine.sh: what tests of Windows programs share; sourced by them, with $work their folder.
# The prefix in $work is made once; its copies of Wine's libraries become links (they are 600 MB).
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
    wine wineboot -i >"$work/wineboot.log" 2>&1 && server -w
    [ -e "$prefix/drive_c/windows/system32/d3d12.dll" ] || return 1
    for libs in /usr/lib/x86_64-linux-gnu/wine/x86_64-windows /usr/lib64/wine/x86_64-windows; do
        for f in "$prefix"/drive_c/windows/system32/*; do
            [ -f "$f" ] && [ ! -L "$f" ] && cmp -s "$f" "$libs/${f##*/}" && ln -sf "$libs/${f##*/}" "$f"
        done
    done
    touch "$prefix/ready"
}

server() {
    local s
    for s in $(command -v wineserver) /usr/lib/wine/wineserver /usr/lib/wine/wineserver64; do
        [ -x "$s" ] && "$s" "$@" >/dev/null 2>&1 8>&- && return
    done
}

# One test at a time has the prefix.
wine_begin() {
    command -v wine >/dev/null || skip_all "wine is not installed"
    mkdir -p "$work"
    exec 8>"$work/wine.lock"
    flock 8
    export WINEPREFIX=$prefix WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe,winedbg.exe='
}

# Whether it runs programs of 32 bits, too.
wine_32() {
    wine 'C:\windows\syswow64\cmd.exe' /c exit 7 >/dev/null 2>&1 8>&-
    [ $? = 7 ]
}

# A screen of the test's own, for $DISPLAY; ended by who calls this, as $xvfb. Two servers that start at the same instant can take the same
# number, so a window is to be tried.
screen() {
    local i
    rm -f "$work/display"
    Xvfb -displayfd 1 -screen 0 640x480x24 -nolisten tcp >"$work/display" 2>/dev/null 8>&- &
    xvfb=$!
    for i in $(seq 100); do
        [ -s "$work/display" ] && break
        sleep 0.1
    done
    [ -s "$work/display" ] || return
    export DISPLAY=:$(cat "$work/display")
}

wine_prefix() {
    [ -e "$prefix/ready" ] || make_prefix 8>&- || skip_all "wine cannot make a prefix here"
}
