#!/bin/bash
# SPDX-License-Identifier: MIT
# A Direct3D 9 program draws, presents, hangs and recovers on a service, natively or as a Windows program under Wine.
#   d3d9_test.sh native|wine AEROGPU PROGRAM CALLS LIBRARIES WORK_DIR [SHADERS]
set -u
how=$1 aerogpu=$2 program=$(realpath "$3") calls=$(realpath "$4") libraries=$(realpath "$5") work=$6 n=0 start=
. "$(dirname "$0")/../wine.sh"
if [ "$how" = wine ]; then
    wine_begin
    wine_prefix
    export WINEDLLOVERRIDES="$WINEDLLOVERRIDES;d3d9=n"
    start=wine
else
    export AEROGPU_UMD_DIR=$libraries
fi
folder=$(mktemp -d)
if [ "$how" = wine ]; then # a program finds its libraries beside itself
    ln -s "$program" "$calls" "$libraries"/*.dll "$folder"
    program=$folder/${program##*/}
    calls=$folder/${calls##*/}
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
    kill $service 2>/dev/null
    wait $service 2>/dev/null
    [ "$how" = native ] || server -k
    rm -rf "$folder"
}
trap leave EXIT
unset DISPLAY
export AEROGPU_SOCKET=$folder/socket

run() { # MODE: what it prints is in $said, with errors in $told; its picture in $folder/picture
    rm -f "$folder/picture"
    said=$(timeout 60 $start "$program" "$folder/picture" $1 2>"$folder/errors" 8>&- | tr -d '\r' | tr '\n' ';')
    told=$said$(tr -d '\r' <"$folder/errors" | tr '\n' ';')
}

# Every pixel: blue, and red where its centre, at whole numbers, is inside of the triangle.
picture() {
    python3 - "$folder/picture" <<'END'
import sys
want = b"P6\n64 64\n255\n" + b"".join(b"\xff\0\0" if 8 <= x and 8 <= y and x + y <= 62 else b"\0\0\xff"
                                      for y in range(64) for x in range(64))
sys.exit(open(sys.argv[1], "rb").read() != want)
END
}

case $how in native) echo 1..10 ;; wine) echo 1..9 ;; esac
# nothing here hangs, however busy the machine is
printf '[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\nTdrDelay = 60\n' >"$folder/settings"
serve --settings "$folder/settings"
run draw
result $([ "$said" = "done;" ]; echo $?) "the program runs and gives every reference back ($told)"
picture
result $? "the triangle has the pixels that Direct3D 9's rules give it"
run present
result $([ "$said" = "presented;done;" ]; echo $?) "frames are shown full screen ($told)"
timeout 240 $start "$calls" >"$folder/said" 2>"$folder/errors" 8>&-
code=$?
sed 's/^/# /' "$folder/errors" "$folder/said"
result $([ $code = 0 ] && grep -q "^done" "$folder/said"; echo $?) "every check of calls.c ($code)"
if [ "$how" = native ]; then
    said=$(timeout 120 "$(dirname "$calls")/any9" "$7" 1 15 2>&1 | tr '\n' ';')
    result $([ "$said" = "done;" ]; echo $?) "no call of a program alone removes its device ($said)"
fi
kill $service
wait $service 2>/dev/null
serve
run hang
result $([ "$said" = "Present: 0x88760874;state: 0x88760874;done;" ]; echo $?) "an endless shader: D3DERR_DEVICEHUNG, and ResetEx ($told)"
picture
result $? "and the same picture after it"
result $(grep -q "event .*4101" "$folder/log"; echo $?) "the service recovered the display driver"
# The same on a stack of its own.
unset AEROGPU_SOCKET
said=$(timeout 120 "$aerogpu" run --on aerogpu -o "$folder/dumps" -- $start "$program" "$folder/picture" hang \
    2>"$folder/report" 8>&- | tr -d '\r' | tr '\n' ';')
result $([ "$said" = "Present: 0x88760874;state: 0x88760874;done;" ]; echo $?) "aerogpu run --on aerogpu ($said)"
grep -q "running .*DRAW.*in frame/fog" "$folder/report"
where=$?
[ $where = 0 ] || sed 's/^/# /' "$folder/report"
result $where "the dump says where in the program: in frame/fog"
