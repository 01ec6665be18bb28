#!/bin/sh
# SPDX-License-Identifier: MIT
# Proves that each header of include/wddm (and its layout asserts) compiles alone, without a warning, as C and as C++, for
# Linux and for Windows, at the level of Windows 7 and at that of Windows 8 (drivers that only display), and behind the C library's, which some
# drivers include first. Prints TAP. Usage: wddm_headers.sh INCLUDE_DIR
set -u
inc=$1
n=0 failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
try() { # NAME INCLUDES COMPILER
    n=$((n + 1))
    if ! command -v "${3%% *}" >/dev/null; then
        echo "ok $n - $1 # SKIP ${3%% *} is not installed"
    elif printf "$2" | $3 -Wall -Wextra -Werror -fsyntax-only -I"$inc" - >"$out" 2>&1; then
        echo "ok $n - $1 with ${3%% *}"
    else
        echo "not ok $n - $1 with ${3%% *}"
        sed 's/^/# /' "$out"
        failed=1
    fi
}
for h in "$inc"/wddm/*.h; do
    name=wddm/$(basename "$h")
    for c in "gcc -std=gnu17 -x c" "gcc -DDXGKDDI_INTERFACE_VERSION=0x300E -std=gnu17 -x c" "g++ -DNTDDI_VERSION=0x06020000 -std=c++17 -x c++" "clang -std=gnu17 -x c" "g++ -std=c++17 -x c++" \
             "x86_64-w64-mingw32-gcc -std=gnu17 -x c" "x86_64-w64-mingw32-g++ -std=c++17 -x c++"; do
        try "$name" "#include \"$name\"\n" "$c"
    done
done
for c in "x86_64-w64-mingw32-gcc -std=gnu17 -x c" "x86_64-w64-mingw32-g++ -std=c++17 -x c++"; do
    try "wddm/ntddk.h behind stdio.h" '#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n#include "wddm/ntddk.h"\n' "$c"
done
echo "1..$n"
exit $failed
