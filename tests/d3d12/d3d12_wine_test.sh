#!/bin/bash
# SPDX-License-Identifier: MIT
# Windows programs: recorded under Wine on a virtual screen, played without either. With -x86 those of 32 bits, which are played
# by the same player.
#   d3d12_wine_test.sh AEROGPU SAMPLES_DIR WORK_DIR [-x86]
set -u
aerogpu=$1 samples=$2 work=$3 kind=${4-} n=0

. "$(dirname "$0")/../wine.sh"
command -v Xvfb >/dev/null || skip_all "Xvfb is not installed"
[ -e "$samples/clear$kind.exe" ] || skip_all "this was built without mingw-w64"
wine_begin
dirty=$samples/../../../src/d3d12/windows/dirty_windows_test$kind.exe
if [ -n "$kind" ]; then
    rm -rf "$work/programs" && mkdir "$work/programs"
    for f in "$samples"/*$kind.exe; do
        cp "$f" "$work/programs/$(basename "$f" $kind.exe).exe"
    done
    samples=$work/programs
fi

leave() {
    server -k
    kill $xvfb 2>/dev/null
    wait $xvfb 2>/dev/null
}

screen || skip_all "Xvfb does not start"
trap leave EXIT
wine_prefix
[ -z "$kind" ] || wine_32 || skip_all "this Wine runs no programs of 32 bits"
for attempt in 1 2 3; do
    server -p60 # starting it anew for each program takes a second
    timeout 60 wine "$samples/clear.exe" 1 >/dev/null 2>&1 8>&- && break
    leave
    screen
done

# record NAME ARGUMENT...: the program's answer is the same as without the recorder, and playing gives what was recorded
record() {
    local name=$1 trace=$work/$1.d3d12trace plain recorded
    shift
    plain=$(timeout 60 wine "$from/$name.exe" "$@" 2>"$work/$name.err" 8>&-)
    result $? "$name runs under wine"
    recorded=$(timeout 60 "$aerogpu" record -o "$trace" -- wine "$from/$name.exe" "$@" 2>"$work/$name.record" 8>&-)
    result $? "$name is recorded"
    [ "$plain" = "$recorded" ] || { echo "# plain: $plain"; echo "# recorded: $recorded"; }
    result "$([ "$plain" = "$recorded" ]; echo $?)" "$name says the same while it is recorded"
    timeout 60 "$aerogpu" play --validate "$trace" >"$work/$name.play" 2>&1
    local rc=$?
    [ $rc = 0 ] || sed 's/^/# /' "$work/$name.record" "$work/$name.play"
    result $rc "$name is played: $(grep '^frames:' "$work/$name.play")"
}

# what `play` says of frames or read: says NAME TEXT
says() {
    grep -q "$2" "$work/$1.play" || { echo "# $(cat "$work/$1.play")"; return 1; }
}

# shows NAME PATTERN TEXT: the recording has such a call
shows() {
    "$aerogpu" show "$work/$1.d3d12trace" >"$work/$1.show" 2>&1
    result "$(grep -q "$2" "$work/$1.show"; echo $?)" "$3"
}

# Ends the program as hard as can be while it presents: all frames up to that instant are in the file.
killed() {
    local trace=$work/killed.d3d12trace recorder program i
    rm -f "$work/killed.out" # of an earlier run: it would say that the program is there already
    timeout 60 "$aerogpu" record -o "$trace" -- wine "$samples/clear.exe" 1000000 >"$work/killed.out" \
        2>"$work/killed.record" 8>&- &
    recorder=$!
    for i in $(seq 500); do
        grep -qs eight "$work/killed.out" && break
        sleep 0.1
    done
    program=$(pgrep -P "$(pgrep -P $recorder)")
    kill -9 $program
    wait $recorder
    result "$([ $? = 137 ]; echo $?)" "a program that is killed ends its recording"
    timeout 100 "$aerogpu" play --validate "$trace" >"$work/killed.play" 2>&1
    result $? "what it did until then is played: $(grep '^frames:' "$work/killed.play")"
    result "$(says killed '^frames: [1-9][0-9]* as recorded, 0 different'; echo $?)" "with the same pictures"
}

# On Wine's own Direct3D 12, and on a DLL that is named.
played_on_wine() {
    local n=$work/on-wine.play dll=
    [ -e "$host" ] || { echo "# built without winegcc: not played on Wine"; return 0; }
    for dll in /usr/lib/x86_64-linux-gnu/wine/x86_64-windows/d3d12.dll ""; do
        [ -z "$dll" ] || [ -e "$dll" ] || continue
        timeout 60 "$aerogpu" play --on wine ${dll:+--d3d12 "$dll"} --validate "$work/$1.d3d12trace" >"$n" 2>&1 8>&-
        [ $? = 0 ] && grep -q "$2" "$n" || { sed 's/^/# /' "$n"; return 1; }
    done
}
host=$(dirname "$aerogpu")/../../src/d3d12/aerogpu-d3d12-wine.exe.so

echo "1..56"
from=$samples
before=$(cd "$samples" && ls -A)
record clear 10
result "$(says clear '^frames: 10 as recorded, 0 different'; echo $?)" "clear has ten pictures"
record draws 12
result "$(says draws '^frames: 12 as recorded, 0 different; read back: [1-9][0-9]* as recorded, 0'; echo $?)" \
    "draws has twelve pictures, of two sizes"
said=$(cat "$work/draws.record" "$work/clear.record" | grep -c 'the program draws with descriptor tables')
if command -v vulkaninfo >/dev/null; then
    result "$([ "$said" = "$(vulkaninfo 2>/dev/null | grep -q VK_EXT_descriptor_indexing && echo 0 || echo 1)" ]; echo $?)" \
        "who draws with tables where Wine does not bind them is told, and nobody else"
else
    result 0 "who draws with tables is told # SKIP vulkaninfo is not installed"
fi
shows draws 'SwapChainResize(SwapChain=1, Width=240, Height=160' "the resize is in it"
shows draws 'ExecuteIndirect' "and indirect draws"
shows draws 'ExecuteBundle' "and bundles"
shows draws 'MemoryWrite(.*constants, one slot per frame' "and what was written into mapped memory, by the buffer's name"
"$aerogpu" trim -o "$work/trimmed.d3d12trace" --frames 8-11 "$work/draws.d3d12trace" >/dev/null 2>&1 &&
    "$aerogpu" play --validate "$work/trimmed.d3d12trace" 2>&1 | grep -q '^frames: [1-4] as recorded, 0 different'
result $? "frames behind the resize can be cut out"
record compute 5
result "$(says compute 'read back: [1-9][0-9]* as recorded, 0'; echo $?)" "compute read back the same"
shows compute 'WaitFor(hEvent=event#1, .*return=0' "its waits are in it"
dispatch=$("$aerogpu" show --method Dispatch "$work/compute.d3d12trace" | grep -m1 -o '^[0-9]*')
"$aerogpu" show --state "$dispatch" "$work/compute.d3d12trace" >"$work/state"
grep -A1 'SetComputeRootDescriptorTable(' "$work/state" | grep -q '^      \[0\] .*Create.*View(' &&
    grep -q '^        parameter 1, for all: table of \[0\] 1 SRV from t0, space 0$' "$work/state" &&
    ! grep -A2 'SetComputeRootDescriptorTable(' "$work/state" | grep -q '^      \[1\]'
result $? "the state at a dispatch has the descriptors of its tables"
record many 5
result "$(says many 'read back: [1-9][0-9]* as recorded, 0'; echo $?)" "many read back the same, from two devices"
shows many 'UpdateTileMappings(.*pHeap=Heap#' "tile mappings are in it"
shows many 'Name=.*the queue ä世' "names are, whatever their letters"
from=$work/game/Binaries/Win64 # it writes beside itself, and reads what is above
rm -rf "$work/game" && mkdir -p "$from" "$work/game/Content" && cp "$samples/late.exe" "$from"
echo "a level" >"$work/game/Content/data.txt"
record late
result "$([ "$(wine "$from/late.exe" 2>/dev/null 8>&- | grep -c '^above: a level')" = 1 ]; echo $?)" "it read what is above its folder"
result "$(says late 'read back: 5 as recorded, 0'; echo $?)" "late read back the same"
result "$([ "$(grep -c 'CreateDevice(' <("$aerogpu" show "$work/late.d3d12trace"))" = 4 ]; echo $?)" \
    "both devices and both questions are in it, though it asked which library is loaded"
result "$([ "$(ls "$from" | tr '\n' ' ')" = 'late.exe late.log ' ]; echo $?)" "its file is beside it, and nothing else"
timeout 60 wine "$dirty" >"$work/dirty" 2>&1 8>&-
result "$(! grep '^not ok' "$work/dirty" && [ "$(grep -c '^ok' "$work/dirty")" = 20 ]; echo $?)" \
    "every way of finding written pages works in a Windows process"
mkdir -p "$prefix/drive_c/my games" && cp "$samples/late.exe" "$prefix/drive_c/my games"
timeout 60 "$aerogpu" record -o "$work/c.d3d12trace" -- wine 'C:\my games\late.exe' >/dev/null 2>&1 8>&-
result $? "a program can be named as Windows names it"
timeout 60 "$aerogpu" record -o "$work/none.d3d12trace" -- wine nosuch.exe >"$work/none" 2>&1
result "$([ $? = 4 ] && grep -q "cannot find nosuch.exe: name the program's file" "$work/none"; echo $?)" "one that is not there is"
played_on_wine draws '^frames: 12 as recorded, 0 different; read back: [1-9][0-9]* as recorded, 0'
result $? "draws is played on Wine's Direct3D 12 as well"
played_on_wine many 'read back: [1-9][0-9]* as recorded, 0'
result $? "and many, with events and fences of two devices"
[ ! -e "$host" ] || timeout 60 "$aerogpu" compare --on vkd3d --on wine "$work/draws.d3d12trace" >"$work/compare" 2>&1 8>&-
result "$([ ! -e "$host" ] || grep -q '^1[0-9] frames and reads alike, 0 different' "$work/compare"; echo $?)" "and both make the same of it"
out=$(timeout 60 "$aerogpu" play --d3d12 /usr/lib/x86_64-linux-gnu/wine/x86_64-windows/dxgi.dll "$work/late.d3d12trace" 2>&1 8>&-)
result "$([ $? = 3 ] || [ ! -e "$host" ]; echo $?)" "a DLL that is no Direct3D 12 is refused: $(tail -n1 <<<"$out")"
DISPLAY= timeout 60 "$aerogpu" play --on wine "$work/late.d3d12trace" >/dev/null 2>&1 8>&-
result "$([ $? = 4 ]; echo $?)" "without a display Wine cannot play"
# Wine shows some crashes to no handler: whoever waits for it says what it was at.
if [ -e "$host" ]; then
    timeout 60 "$aerogpu" play --on wine --times 1000000 "$work/late.d3d12trace" >"$work/killed" 2>&1 8>&- &
    player=$!
    for i in $(seq 300); do
        sleep 0.1
        theirs=$(pgrep -P "$(pgrep -P $player)") && grep -aq . "$work/killed" && break
    done
    kill -9 $theirs
    wait $player
    result "$([ $? = 3 ] && grep -q '^aerogpu play: .*late.d3d12trace: call [0-9]* (block [0-9]*): .*::.*: Wine ended meanwhile (signal 9)$' "$work/killed"
        echo $?)" "a Wine that is gone is said, with the call: $(grep -a '^aerogpu' "$work/killed")"
    WINEPREFIX=/dev/null timeout 60 "$aerogpu" play --on wine "$work/late.d3d12trace" >"$work/killed" 2>&1 8>&-
    result "$([ $? = 4 ] && grep -q '^aerogpu play: Wine ended before the first call was made' "$work/killed"; echo $?)" \
        "one that does not start is not there"
else
    result 0 "one that does not start is not there # SKIP built without winegcc"
    result 0 "a Wine that is gone is said # SKIP built without winegcc"
fi
for how in kernel hash; do
    timeout 60 "$aerogpu" record --memory $how -o "$work/memory.d3d12trace" -- wine "$samples/compute.exe" 4 \
        >/dev/null 2>&1 8>&- &&
        timeout 60 "$aerogpu" play --validate "$work/memory.d3d12trace" 2>&1 | grep -q 'back: [4-9] as recorded, 0 d'
    result $? "memory watched by: $how"
done
timeout 60 "$aerogpu" record -o "$work/died.d3d12trace" -- wine "$samples/many.exe" 2 die >/dev/null 2>&1 8>&-
result "$([ $? = 9 ]; echo $?)" "a program that ends itself has its exit code"
shows died 'SOSetTargets(StartSlot=0' "and its last call"
killed
result "$([ "$before" = "$(cd "$samples" && ls -A)" ]; echo $?)" "nothing is left beside the program"
