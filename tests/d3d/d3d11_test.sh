#!/bin/bash
# SPDX-License-Identifier: MIT
# A Direct3D 11 program draws, presents, hangs and recovers on a service, natively or as a Windows program under Wine, of
# 64 or 32 bits.
#   d3d11_test.sh native|wine|wine32 AEROGPU PROGRAM CALLS D3D10 LIBRARIES SHADERS WORK_DIR
set -u
how=$1 aerogpu=$(realpath "$2") program=$(realpath "$3") calls=$(realpath "$4") d3d10=$(realpath "$5") libraries=$(realpath "$6") shaders=$7 work=$8 n=0
. "$(dirname "$0")/../wine.sh"
if [ "$how" != native ]; then
    wine_begin
    wine_prefix
    [ "$how" = wine ] || wine_32 || skip_all "this Wine runs no programs of 32 bits"
    export WINEDLLOVERRIDES="$WINEDLLOVERRIDES;d3d10_1,d3d10core,d3d11,dxgi=n;d3d10=n,b"
else
    export AEROGPU_UMD_DIR=$libraries
fi
folder=$(mktemp -d)
if [ "$how" != native ]; then # a program finds its libraries beside itself
    ln -s "$program" "$calls" "$d3d10" "$libraries"/*.dll "$folder"
    program=$folder/${program##*/}
    calls=$folder/${calls##*/}
    d3d10=$folder/${d3d10##*/}
fi
serve() { # OPTIONS
    : >"$folder/log" # what the one before said does not count
    "$aerogpu" serve --socket "$folder/socket" "$@" >"$folder/log" 2>&1 8>&- &
    service=$!
    for i in $(seq 100); do
        grep -q ^ready "$folder/log" && return
        sleep 0.1
    done
    sed 's/^/# /' "$folder/log"
    echo "Bail out! no service"
    exit 1
}
leave() {
    kill $service ${xvfb-} 2>/dev/null
    wait $service 2>/dev/null
    [ "$how" = native ] || server -k
    rm -rf "$folder"
}
trap leave EXIT
unset DISPLAY
export AEROGPU_SOCKET=$folder/socket

run() { # MODE: what it prints is in $said, with errors in $told; its picture in $folder/picture
    local start=
    [ "$how" = native ] || start=wine
    rm -f "$folder/picture"
    said=$(timeout 60 $start "$program" "$shaders" "$folder/picture" $1 2>"$folder/errors" 8>&- | tr -d '\r' | tr '\n' ';')
    told=$said$(tr -d '\r' <"$folder/errors" | tr '\n' ';')
}

# Every pixel: blue, and red where its centre is inside of the triangle (top-left rule: not on the slope).
picture() {
    python3 - "$folder/picture" <<'END'
import sys
want = b"P6\n64 64\n255\n" + b"".join(b"\xff\0\0" if 8 <= x < 56 and 8 <= y < 56 and x < y else b"\0\0\xff"
                                      for y in range(64) for x in range(64))
sys.exit(open(sys.argv[1], "rb").read() != want)
END
}

case $how in native) echo 1..26 ;; wine) echo 1..21 ;; wine32) echo 1..22 ;; esac
# nothing here hangs, however busy the machine is
printf '[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\nTdrDelay = 60\n' >"$folder/settings"
serve --settings "$folder/settings"
run draw
result $([ "$said" = "done;" ]; echo $?) "the program runs and gives every reference back ($told)"
picture
result $? "the triangle has the pixels that Direct3D's rules give it"
run present
result $([ "$said" = "presented;done;" ]; echo $?) "frames are shown full screen ($told)"
start=
[ "$how" = native ] || start=wine
said=$(timeout 120 $start "$calls" "$shaders" 2>"$folder/errors" 8>&- | tr -d '\r' | tr '\n' ';')
result $([ "$said" = "done;" ]; echo $?) "what Direct3D refuses or drops does not remove the device ($said)"
said=$(timeout 60 $start "$d3d10" "$shaders" 2>"$folder/errors" 8>&- | tr -d '\r' | tr '\n' ';')
result $([ "$said" = "done;" ]; echo $?) "a program of Direct3D 10 draws the same triangle ($said)"

if [ "$how" = native ]; then
    said=$(timeout 120 "$(dirname "$calls")/any" "$shaders" 1 60 2>&1 8>&- | tr '\n' ';')
    result $([ "$said" = "done;" ]; echo $?) "no call of a program alone removes its device ($said)"
fi

# Surfaces that two processes share.
ext=
[ "$how" = native ] || ext=.exe
share=$(dirname "$calls")/share$ext
[ "$how" = native ] || ln -sf "$(dirname "$(realpath "$calls")")/share.exe" "$folder"
said=$(timeout 120 $start "$share" 11 refuse 2>"$folder/errors" 8>&- | tr -d '\r' | tr '\n' ';')
result $([ "$said" = "done;" ]; echo $?) "what cannot be shared is refused ($said)"
shared() { # API [CONSUMER...]: a producer and a consumer, each a process
    local handle pixel word again consume=($start "$share")
    [ $# = 1 ] || consume=("${@:2}")
    mkfifo "$folder/to$1" "$folder/from$1"
    timeout 60 $start "$share" $1 produce <"$folder/to$1" >"$folder/from$1" 2>>"$folder/errors" 8>&- &
    exec 5>"$folder/to$1" 6<"$folder/from$1"
    read -t 60 -ru 6 handle
    pixel=$(timeout 60 "${consume[@]}" $1 consume "${handle%$'\r'}" </dev/null 2>>"$folder/errors" 8>&- | tr -d '\r')
    echo >&5
    read -t 60 -ru 6 word
    again=$(timeout 60 "${consume[@]}" $1 consume "${handle%$'\r'}" </dev/null 2>>"$folder/errors" 8>&- | tr -d '\r')
    exec 5>&- 6<&-
    wait $!
    rm "$folder/to$1" "$folder/from$1"
    result $([ "$pixel ${word%$'\r'} $again" = "FFFF0000 green FF00FF00" ]; echo $?) \
        "a surface of API $1 is seen by another process, and what is drawn to it later ($pixel $word $again)"
}
for api in 11 101 10; do
    shared $api
done
if [ "$how" = wine32 ]; then # with a process of 64 bits
    here=$(dirname "$(realpath "$calls")")
    shared 11 env AEROGPU_UMD_DIR="$here/../../../src/umd" "$here/../share"
fi
keyed() { # API: in turns, by a keyed mutex
    local handle pixel green code
    mkfifo "$folder/tokeyed" "$folder/fromkeyed"
    timeout 120 $start "$share" $1 keyed-produce <"$folder/tokeyed" >"$folder/fromkeyed" 2>>"$folder/errors" 8>&- &
    exec 5>"$folder/tokeyed" 6<"$folder/fromkeyed"
    read -t 60 -ru 6 handle
    timeout 60 $start "$share" $1 keyed-consume "${handle%$'\r'}" </dev/null >"$folder/pixel" 2>>"$folder/errors" 5>&- 6<&- 8>&- &
    local consumer=$!
    echo >&5
    read -t 60 -ru 6 green
    wait $consumer
    pixel=$(tr -d '\r' <"$folder/pixel")
    timeout 60 $start "$share" $1 keyed-abandon "${handle%$'\r'}" </dev/null >/dev/null 2>>"$folder/errors" 5>&- 6<&- 8>&-
    echo >&5
    read -t 60 -ru 6 code
    exec 5>&- 6<&-
    result $([ "$pixel ${green%$'\r'} ${code%$'\r'}" = "FFFF0000 FF00FF00 80" ]; echo $?) \
        "two processes take turns by a keyed mutex; one that ends with it abandons it ($pixel $green $code)"
}
keyed 11
if [ "$how" != native ]; then # with a screen, which Wine's desktop takes when it starts
    server -k -w
    ln -sf "$(dirname "$(realpath "$calls")")/fullscreen.exe" "$folder"
    if screen; then
        said=$(timeout 120 wine "$folder/fullscreen.exe" 2>"$folder/errors" 8>&- | tr -d '\r' | tr '\n' ';')
        result $([ "$said" = "done;" ]; echo $?) "who has the screen: Alt+Enter, windows that come to the front ($said)"
        server -k -w
        kill $xvfb
        wait $xvfb 2>/dev/null
        unset DISPLAY
    else
        result 0 "who has the screen # SKIP there is no Xvfb"
    fi
fi
kill $service
wait $service 2>/dev/null
serve
run hang
result $([ "$said" = "the draw: 0x887A0005;the device: 0x887A0006;done;" ]; echo $?) "an endless shader: DXGI_ERROR_DEVICE_HUNG ($told)"
picture
result $? "and the same picture on a new device"
result $(grep -q "event .*4101" "$folder/log"; echo $?) "the service recovered the display driver"

# The same on a stack of its own, whose black box is asked.
unset AEROGPU_SOCKET
start=
[ "$how" = native ] || start=wine
said=$(timeout 120 "$aerogpu" run --on aerogpu -o "$folder/dumps" -- $start "$program" "$shaders" "$folder/picture" hang \
    2>"$folder/report" 8>&- | tr -d '\r' | tr '\n' ';')
result $([ "$said" = "the draw: 0x887A0005;the device: 0x887A0006;done;" ]; echo $?) "aerogpu run --on aerogpu ($said)"
grep -q "[Dd]raw 0 (packet [0-9]*, DRAW) in frame/fog of submission" "$folder/report"
where=$?
[ $where = 0 ] || sed 's/^/# /' "$folder/report"
result $where "the dump says where in the program: in frame/fog"
grep -q "^ *rt0  *texture 2048x2048 'fog mask', .*" "$folder/report" && grep -q "^ *ps  *[0-9a-f]* 'endless fog!'" "$folder/report"
where=$?
[ $where = 0 ] || grep -A9 "^Bound" "$folder/report" | sed 's/^/# /'
result $where "and what was bound, by the program's names"
mkdir "$folder/none"
said=$(timeout 120 "$aerogpu" run --on aerogpu -o "$folder/none" -- $start "$share" 11 cycle 2>"$folder/report" 8>&- | tr -d '\r')
result $([ "$said" = done ] && [ -z "$(ls "$folder/none")" ]; echo $?) "surfaces that nobody keeps hang nothing, and are no crash ($said)"
if [ "$how" != native ]; then # wherever the program lies and however it looks for Direct3D, and what it starts and leaves
    mkdir -p "$folder/game/bin" "$folder/other/bin" "$folder/run"
    places=$(realpath "$(dirname "$(realpath "$calls")")/places.exe")
    cp "$places" "$folder/game/bin"
    cp "$places" "$folder/other/bin"
    echo here >"$folder/game/above.txt"
    rm -f "$prefix/drive_c/late.txt"
    ln -sf d3d11.dll "$prefix/drive_c/windows/system32/D3D11.DLL" # as installers may name it
    said=$(cd "$folder/game/bin"; TMPDIR=$folder/run timeout 120 "$aerogpu" run --on aerogpu -- wine places.exe "Z:${folder//\//\\}\\other\\bin\\places.exe" 2>"$folder/errors" 8>&- | tr -d '\r')
    late=$(tr -d '\r' <"$prefix/drive_c/late.txt" 2>/dev/null)
    [ "$said" = "vendor a3a0 by path 1 above here" ] && [ "$late" = "vendor a3a0 by path 1 above here" ]
    where=$?
    [ $where = 0 ] || sed "s/^/# /" "$folder/errors"
    result $where "Direct3D is found in the system's folder, by who is started, too ($said; $late)"
    said=$(cd "$folder/game/bin"; timeout 120 "$aerogpu" run --on aerogpu -- wine cmd /c places.exe 2>"$folder/errors" 8>&- | tr -d '\r')
    again=$(cd "$folder/game/bin"; timeout 120 "$aerogpu" run --on aerogpu -- wine "Z:${folder//\//\\}\\other\\bin\\places.exe" 2>>"$folder/errors" 8>&- | tr -d '\r')
    rm "$prefix/drive_c/windows/system32/D3D11.DLL"
    [ "$said" = "vendor a3a0 by path 1 above here" ] && [ "$again" = "$said" ]
    result $? "by programs that Wine finds itself, too ($said; $again)"
    [ -z "$(ls "$folder/run")" ] && [ -z "$(ls "$prefix"/drive_c/windows/sys*/aerogpu_* 2>/dev/null)" ] &&
        [ -z "$(find "$libraries" -name '*.dll' -size -9k)" ]
    result $? "and nothing of that is left in Wine's folder, nor elsewhere, nor of what is written over libraries ($(ls "$folder/run"))"
fi
[ "$how" = native ] || exit 0

# Nothing is left of `aerogpu run --on aerogpu` that is ended from outside: not its program, not its service, not its folder. Nor where
# that comes while it starts them: it is held at the line after that. Who started the tests may have had them ignore SIGHUP.
cat >"$folder/hold" <<'END'
trap 'case $BASH_COMMAND in "$HELD") echo $$ >"$HELD_FILE"; sleep 2 ;; esac' DEBUG
END
end_from_outside() { # SIGNAL [LINE]
    local at="$folder/$1$n" i run code left words hold= ready=pid
    mkdir "$at"
    [ $# = 1 ] || ready=held hold="BASH_ENV=$folder/hold HELD_FILE=$at.held"
    env --default-signal=HUP,TERM TMPDIR="$at" HELD="${2-}" $hold "$aerogpu" run --on aerogpu -- \
        sh -c 'echo $$ >"$0"; exec sleep 60' "$at.pid" 2>"$folder/errors" 8>&- &
    run=$!
    for i in $(seq 100); do
        [ -s "$at.$ready" ] && break
        sleep 0.1
    done
    kill -$1 $run
    { wait $run; } 2>/dev/null
    code=$?
    for i in $(seq 200); do
        [ -n "$(ls "$at")" ] || break
        sleep 0.1
    done
    left=$(ls "$at")$(pgrep -f "$at[/.]" | tr '\n' ' ')
    [ ! -s "$at.pid" ] || left=$left$(readlink "/proc/$(cat "$at.pid")/exe")
    words=$(cat "$folder/errors")
    result $([ -z "$left$words" ] && [ $code = $((128 + $(kill -l $1))) ]; echo $?) \
        "nothing is left after SIG$1${2+ at $2}, which is passed on (code $code; $left$words)"
}
for signal in KILL TERM HUP; do
    end_from_outside $signal
done
end_from_outside HUP 'service=$!'
end_from_outside HUP 'program=$!'
said=
for option in --exact --guard --json "--gpu-timeout 10"; do
    "$aerogpu" run --on aerogpu $option -- true 2>"$folder/errors" 8>&-
    said="$said$? $(wc -l <"$folder/errors");"
done
result $([ "$said" = "2 1;2 1;2 1;2 1;" ]; echo $?) "options of the Vulkan layer are refused with --on ($said)"
TMPDIR=$folder/nowhere "$aerogpu" run --on aerogpu -- true 2>"$folder/errors" 8>&-
said="$? $(wc -l <"$folder/errors") $(cut -d: -f1 <"$folder/errors")"
result $([ "$said" = "4 1 aerogpu run" ]; echo $?) "no folder for temporary files: one line, exit code 4 ($said)"
mkdir "$folder/gone" "$folder/tmp"
said=$(TMPDIR=$folder/tmp timeout 120 "$aerogpu" run --on aerogpu -o "$folder/gone" -- sh -c 'rmdir "$0"; : >"$0"; exec "$@"' "$folder/gone" \
    "$program" "$shaders" "$folder/picture" hang 2>&1 >/dev/null 8>&- | grep "^aerogpu run: the dump")
kept=$(ls "$folder/tmp")
[[ $kept = *.aerogpudump && $said = "aerogpu run: the dump cannot be in $folder/gone: "*File\ exists*"aerogpu run: the dump is $folder/tmp/$kept; "* ]]
result $? "a dump is not lost where its folder is (${said//$'\n'/; }; $kept)"
