#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds one program or library for Windows x64 with mingw-w64, or with WINDOWS_CC; with -m32, for x86. Like meson, through ccache where
# that is.
#   windows.sh OUT DEPFILE SOURCE-OR-OPTION...
set -eu
out=$1 depfile=$2 machine=x86_64 objects=() compile=() link=()
shift 2
for a; do [ "$a" != -m32 ] || machine=i686; done
read -ra cc <<<"${WINDOWS_CC:-$(command -v ccache || true) $machine-w64-mingw32-gcc}"
root=$(cd "$(dirname "$0")/../.." && pwd)
for a; do
    case $a in
    *.c | -m32) ;;
    -[DI]*) compile+=("$a") ;;
    *) link+=("$a") ;;
    esac
done
rm -rf "$out.p"
mkdir -p "$out.p"
for a; do
    [ "${a%.c}" != "$a" ] || continue
    object=$out.p/${#objects[@]}.o
    "${cc[@]}" -std=gnu17 -O2 -g -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wno-unused-parameter \
        -Wno-missing-field-initializers -D_GNU_SOURCE -D_WIN32_WINNT=0x0601 -D__USE_MINGW_ANSI_STDIO=1 \
        -ffile-prefix-map="$root"=. -I"$root/src/base/windows" -I"$root/include" -I"$root/src" ${compile[@]+"${compile[@]}"} \
        -MD -c "$a" -o "$object"
    objects+=("$object")
done
"${cc[@]}" -static -Wl,--no-insert-timestamp -o "$out" "${objects[@]}" ${link[@]+"${link[@]}"} -lwinpthread
{ echo -n "$out:"; cat /dev/null "$out.p"/*.d 2>/dev/null | sed 's/^[^ ]*:/ /' | tr -d '\\\n'; echo; } >"$depfile"
rm -rf "$out.p"
