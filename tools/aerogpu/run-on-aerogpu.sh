#!/bin/bash
# SPDX-License-Identifier: MIT
# What `aerogpu run --on aerogpu` does: a service of its own, the program on it, and the report of what crashed.
#   run-on-aerogpu.sh AEROGPU DUMPS LIBRARIES WINDOWS PROGRAM [ARGUMENT...]
# WINDOWS is which of the words from PROGRAM on, counted from 0, is a program for Windows, or nothing: one that can be run (run_on.c).
# LIBRARIES has its Direct3D. Such programs run where they are, in a prefix of Wine that has it among the system's libraries.
#
# When this script has ended, however it did, nothing is left: a supervisor holds the other end of descriptor 9, which nobody else
# has. At its end of file the supervisor ends the service and the program of whom it was not told that they have ended.
set -u
BASH_ARGV0="aerogpu run" # in what bash says
aerogpu=$1 dumps=$2 libraries=$3 windows=$4
shift 4
folder=$(mktemp -d 2>&1) || { echo "aerogpu run: it needs a folder of its own: ${folder#mktemp: }" >&2; exit 4; }
: >"$folder/log"

command=("$@")
prefix=$folder/prefix

server() { # of the Wine that runs the program
    local s
    for s in "${WINESERVER:-}" "$(dirname -- "$(command -v -- "${command[0]}")")/wineserver" "$(command -v wineserver)" /usr/lib/wine/wineserver{,64}; do
        [ -x "$s" ] && "$s" "$@" >/dev/null 2>&1 9>&- && return
    done
}

gone() { # PID, within ten seconds; it may be left as a zombie that nobody waits for
    local i
    for i in $(seq 100); do
        readlink -q "/proc/$1/exe" >/dev/null || return 0
        sleep 0.1
    done
    return 1
}

keep() {
    local what pid program='' service='' sockets
    trap '' HUP INT QUIT TERM
    while read -r what pid; do
        printf -v "$what" %s "$pid"
    done
    [ -z "$program$service" ] || kill $program $service 2>/dev/null
    for pid in $program $service; do
        gone "$pid" || kill -KILL "$pid" 2>/dev/null
    done
    if [ -d "$prefix" ]; then
        WINEPREFIX=$prefix server -k
        sockets=${TMPDIR:-/tmp}/$(cat "$prefix/wineserver" 2>/dev/null || echo ".wine-$UID") # Debian's Wine has that file
        rm -rf "$sockets/server-$(stat -c %D "$prefix")-$(printf %x "$(stat -c %i "$prefix")")"
        rmdir "$sockets" 2>/dev/null
    fi
    rm -rf "$folder"
}
exec 9> >(keep)
supervisor=$!
leave() {
    exec 9>&-
    wait $supervisor 2>/dev/null || gone $supervisor # a signal's traps may make bash forget whom it started
}
trap leave EXIT
trap 'exit 130' INT # bash goes on where only itself is interrupted
trap 'exit 131' QUIT

# Who is started says so himself, before he is what is started: from then on he is ended, at whatever line a signal ends this script.
told() { # WHAT COMMAND [ARGUMENT...]
    echo "$1 $BASHPID" >&9
    exec 9>&-
    exec "${@:2}"
}

# What is done to the program (`aerogpu lose`) is not done to the service.
AEROGPU_DUMPS=$folder told service env -u AEROGPU_LOSE -u VK_INSTANCE_LAYERS "$aerogpu" serve --socket "$folder/socket" >"$folder/log" 2>&1 &
service=$!
for i in $(seq 600); do
    grep -q ^ready "$folder/log" && break
    kill -0 $service 2>/dev/null || break
    sleep 0.1
done
grep -q ^ready "$folder/log" || { cat "$folder/log" >&2; exit 4; }
export AEROGPU_SOCKET=$folder/socket

# One line of why not.
must() {
    local why
    why=$("$@" 2>&1) || { echo "aerogpu run: ${why%%$'\n'*}" >&2; exit 4; }
}

# A prefix like the user's, of links into it, but for the system's folders: in these are our libraries, for the program and for what it
# starts, of 64 or 32 bits, wherever it lies and however it looks for them. The registry is a copy.
own_prefix() { # FROM
    local f windows=drive_c/windows
    if [ ! -e "$1/system.reg" ]; then
        echo "aerogpu run: Wine makes its folder $1 first, which takes a while" >&2
        WINEPREFIX=$1 WINEDEBUG=-all told program "${command[0]}" 'C:\windows\system32\cmd.exe' /c exit >/dev/null 2>&1 &
        wait $!
        echo "program" >&9
        WINEPREFIX=$1 server -w
        [ -e "$1/system.reg" ] || { echo "aerogpu run: ${command[0]} cannot make its folder $1" >&2; exit 4; }
    fi
    must mkdir -p "$prefix/$windows/system32" "$prefix/dosdevices"
    must cp -t "$prefix" -- "$1"/*.reg
    [ ! -e "$1/.update-timestamp" ] || must cp -t "$prefix" -- "$1/.update-timestamp"
    must ln -s ../drive_c "$prefix/dosdevices/c:"
    for f in "$1"/dosdevices/*; do
        [ "${f##*/}" = c: ] || [ ! -L "$f" ] || must ln -s -- "$(realpath -m -- "$f")" "$prefix/dosdevices/${f##*/}"
    done
    must cp -r -- "${libraries%/x86}" "$folder/direct3d" # of its own, too: what a program writes to those does not stay
    if [ -d "$1/$windows/syswow64" ]; then
        must mkdir "$prefix/$windows/syswow64"
        ln -s -t "$prefix/$windows/syswow64" -- "$folder/direct3d/x86"/*.dll 2>/dev/null
        must ln -s -t "$prefix/$windows/system32" -- "$folder/direct3d"/*.dll
    else
        must ln -s -t "$prefix/$windows/system32" -- "$folder/direct3d${libraries#"${libraries%/x86}"}"/*.dll
    fi
    for f in $windows/{syswow64,system32} $windows drive_c; do # what is there is not replaced
        [ ! -d "$prefix/$f" ] || ln -s -t "$prefix/$f" -- "$1/$f"/* 2>/dev/null
    done
    for f in "$folder/direct3d"/*.dll; do # nor is it there twice, in other letters
        f=${f##*/}
        find "$prefix/$windows"/sys{tem32,wow64} -maxdepth 1 -iname "$f" ! -name "$f" -delete 2>/dev/null
    done
    export WINEPREFIX=$prefix
}

# What was put into the folders that are not links goes where it was meant for.
give_back() { # TO
    local d f
    for d in drive_c drive_c/windows{,/system32,/syswow64}; do
        for f in "$prefix/$d"/*; do
            case ${f##*/} in windows | system32 | syswow64) continue ;; esac
            [ -L "$f" ] || [ ! -e "$f" ] || [ -d "$1/$d/${f##*/}" ] || mv -- "$f" "$1/$d/"
        done
    done
}

if [ -n "$windows" ]; then
    program=${command[windows]}
    [ "$windows" != 0 ] || command=(wine "${command[@]}")
    export WINEDLLOVERRIDES="${WINEDLLOVERRIDES:+$WINEDLLOVERRIDES;}d3d9,d3d10_1,d3d10core,d3d11,dxgi=n;d3d10=n,b"
    users=${WINEPREFIX:-${HOME:+$HOME/.wine}}
    [ -n "$users" ] || { echo "aerogpu run: where is Wine's folder? Neither WINEPREFIX nor HOME is set" >&2; exit 4; }
    users=$(realpath -m -- "$users")
    own_prefix "$users"
    if [ "${libraries##*/}" = x86 ]; then # Wine without its other half would answer 0, as if the program had run
        WINEDEBUG=-all told program "${command[0]}" 'C:\windows\syswow64\cmd.exe' /c exit 7 >/dev/null 2>&1 &
        wait $!
        [ $? = 7 ] || { echo "aerogpu run: $program is of 32 bits, and ${command[0]} runs no such programs (package wine32)" >&2; exit 4; }
        echo "program" >&9
    fi
fi

# In the background, so that signals are passed on while it runs; with the signals and the input that it has in the foreground. A
# terminal sends its interrupt to the program, too.
(trap - INT QUIT; told program "${command[@]}") <&0 &
program=$!
trap 'kill -TERM $program 2>/dev/null' TERM
trap 'kill -HUP $program 2>/dev/null' HUP
trap '[ -t 0 ] || kill -INT $program 2>/dev/null' INT
trap '[ -t 0 ] || kill -QUIT $program 2>/dev/null' QUIT
wait $program
code=$?
while kill -0 $program 2>/dev/null; do # that was a signal to this script
    wait $program
    code=$?
done
echo "program" >&9
if [ -n "$windows" ]; then # what it has started may go on
    server -w &
    waiter=$!
    trap 'kill $waiter 2>/dev/null' TERM HUP INT QUIT
    while kill -0 $waiter 2>/dev/null; do
        wait $waiter
    done
    server -k # unless all have ended
    give_back "$users"
fi
trap - TERM HUP INT QUIT
kill $service 2>/dev/null # dumps under way are finished
wait $service
echo "service" >&9
for dump in "$folder"/*.aerogpudump; do
    [ -e "$dump" ] || continue
    kept=$dumps/${dump##*/}
    if ! why=$(mkdir -p -m 700 -- "$dumps" 2>&1 && mv -- "$dump" "$kept" 2>&1); then
        rm -f -- "$kept" # a part of it
        kept=$folder-${dump##*/}
        mv "$dump" "$kept"
        echo "aerogpu run: the dump cannot be in $dumps: ${why#mv: }" >&2
    fi
    echo >&2
    "$aerogpu" report "$kept" >&2 9>&-
    echo "aerogpu run: the dump is $kept; \`aerogpu report --html crash.html\` makes a page of it" >&2
done
exit $code
