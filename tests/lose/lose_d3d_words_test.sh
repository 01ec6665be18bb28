#!/bin/bash
# SPDX-License-Identifier: MIT
# What Direct3D 9, 9Ex, 11 and 12 say of a loss, in Windows' numbers; whoever started the program.
#   lose_d3d_words_test.sh AEROGPU CLIENTS WORK_DIR
set -u
aerogpu=$1 clients=$2 work=$3 n=0
. "$(dirname "$0")/../wine.sh"
command -v Xvfb >/dev/null || skip_all "Xvfb is not installed"
wine_begin
wine_prefix
trap 'server -k' EXIT
echo 1..16
says() # API WORDS OPTION...
{
    local api=$1 want=$2 got
    shift 2
    got=$("$aerogpu" lose "$@" 10 --screen 64x48 --reach 120 --timeout 60 --expect end -- wine "$clients/lose_d3d_client.exe" "$api" says 8>&- 2>/dev/null | tr -d '\r')
    [ "$(echo $got)" = "$want" ]
    result $? "$api $*: $(echo $got)"
}
# D3DERR_DEVICELOST, _DEVICENOTRESET, _DEVICEHUNG; DXGI_ERROR_DEVICE_REMOVED, _HUNG, _RESET.
says d3d9 "lost 0x88760868 present 0x88760868 level 0x88760869 buffer 0x88760868 clear 0x00000000" --at-frame
says d3d9ex "lost 0x88760874 present 0x88760874 level 0x00000000 state 0x88760874 buffer 0x88760874 clear 0x00000000" --at-frame
says d3d9ex "lost 0x88760868 present 0x88760868 level 0x00000000 state 0x88760868 buffer 0x88760868 clear 0x00000000" --reset innocent --at-frame
says d3d11 "lost 0x887A0005 present 0x887A0005 reason 0x887A0006 buffer 0x887A0005 resize 0x887A0005" --at-frame
says d3d11 "lost 0x887A0005 present 0x887A0005 reason 0x887A0007 buffer 0x887A0005 resize 0x887A0005" --reset innocent --at-frame
says d3d12 "lost 0x887A0005 signal 0x887A0005 reason 0x887A0006 fence 0x887A0005" --at-submit
# Wine gives its desktop ten seconds to come up, and programs without one have no windows: here it takes longer.
stop_desktop()
{
    local p stopped= known=" $(pgrep -f 'explorer.exe /desktop' | tr '\n' ' ')" end=$((SECONDS + 60))
    while [ $SECONDS -lt $end ]; do
        for p in $(pgrep -f 'explorer.exe /desktop'); do
            case $known in *" $p "*) continue ;; esac
            known="$known$p "
            tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qxF "WINEPREFIX=$WINEPREFIX" || continue
            [ -n "$stopped" ] || end=$((SECONDS + 13))
            kill -STOP "$p" && stopped="$stopped $p"
        done
        sleep 0.02
    done
    [ -z "$stopped" ] || { echo stood && kill -CONT $stopped; }
}
server -k
stop_desktop >"$work/desktop" 8>&- &
says d3d9 "lost 0x88760868 present 0x88760868 level 0x88760869 buffer 0x88760868 clear 0x00000000" --at-frame
wait $!
[ "$(cat "$work/desktop")" = stood ]
result $? "that desktop took longer"
# Whoever starts it.
client=$(realpath "$clients/lose_d3d_client.exe")
dos="Z:${client//\//\\}"
judged() # VERDICT WORDS OPTION COMMAND...
{
    local verdict=$1 words=$2 at=$3 said
    shift 3
    said=$("$aerogpu" lose "$at" 10 --screen 640x480 --reach "$reach" --timeout 60 --expect "$verdict" -- "$@" 8>&- 2>&1)
    [ $? = 0 ] && [[ $said = *"$words"* ]]
    result $? "$verdict: $*: ${said##*$'\n'}"
}
reach=60
judged survive "" --at-frame wine cmd /c "$dos" d3d9 recover
judged survive "" --at-frame wine start /wait "$dos" d3d9 recover
judged survive "" --at-frame wine explorer /desktop=lose,320x240 "$dos" d3d9 recover
judged survive "" --at-frame sh -c 'wine "$0" launch d3d11 recover' "$client"
judged survive "" --at-submit wine cmd /c "start /wait $dos launch d3d12 recover"
judged ignores "calls that told it so" --at-frame wine cmd /c "$dos" d3d9 ignore
# Where nothing can tell it, nothing is lost.
reach=10
by_path=$(command -v wine)
judged not-reached "nothing that could tell it" --at-frame sh -c "$by_path \"\$0\" d3d9 recover" "$client"
judged not-reached "nothing that could tell it" --at-submit sh -c "$by_path \"\$0\" d3d12 recover" "$client"
