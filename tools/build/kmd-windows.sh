#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds src/kmd as aerogpu.sys for Windows x64 with mingw-w64, and checks what it imports. Usage: kmd-windows.sh OUT_DIR
#
# DxgkInitialize is taken from dxgkrnl.sys by an import library made here. With Microsoft's WDK, link displib.lib in its
# place: it finds dxgkrnl at run time.
set -eu
out=${1:-build/windows}
cc=x86_64-w64-mingw32-gcc
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v $cc >/dev/null || exit 77 # skipped, to meson
mkdir -p "$out"
printf 'LIBRARY dxgkrnl.sys\nEXPORTS\nDxgkInitialize\n' >"$out/dxgkrnl.def"
x86_64-w64-mingw32-dlltool -d "$out/dxgkrnl.def" -l "$out/libdxgkrnl.a"
objects=()
for c in "$root"/src/kmd/*.c; do
    o=$out/$(basename "$c" .c).o
    $cc -std=gnu17 -O2 -ffreestanding -fno-builtin -mno-red-zone -fno-asynchronous-unwind-tables -Wall -Wextra -Werror \
        -Wshadow -Wstrict-prototypes -Wvla -Wno-missing-field-initializers -mno-stack-arg-probe -Wframe-larger-than=2048 \
        -I"$root/include" -I"$root/src" -c "$c" -o "$o"
    objects+=("$o")
done
$cc -nostdlib -shared -Wl,--subsystem,native:6.1 -Wl,--entry,DriverEntry -Wl,--image-base,0x140000000 \
    -Wl,--nxcompat -Wl,--dynamicbase -Wl,--file-alignment,0x200 -Wl,--section-alignment,0x1000 -Wl,--exclude-all-symbols \
    -o "$out/aerogpu.sys" "${objects[@]}" -L"$out" -ldxgkrnl -lntoskrnl -lhal
imports=$(x86_64-w64-mingw32-objdump -p "$out/aerogpu.sys" | sed -n 's/^\tDLL Name: //p' | sort)
for dll in $imports; do
    case $dll in
    ntoskrnl.exe | hal.dll | HAL.dll | HAL.DLL | dxgkrnl.sys) ;;
    *)
        echo "aerogpu.sys imports from $dll, which a miniport may not" >&2
        exit 1
        ;;
    esac
done
n=$(x86_64-w64-mingw32-objdump -p "$out/aerogpu.sys" | grep -cE '^\s[0-9a-f]+\s+[0-9]+\s+[A-Za-z_]')
echo "$out/aerogpu.sys: $(stat -c %s "$out/aerogpu.sys") bytes, $n routines from" $imports
