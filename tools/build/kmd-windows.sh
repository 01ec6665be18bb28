#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds src/kmd as aerogpu.sys for Windows 7 x64 with mingw-w64. Usage: kmd-windows.sh OUT_DIR [DEPFILE]
set -eu
out=${1:-build/windows}
cc=x86_64-w64-mingw32-gcc
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v $cc >/dev/null || { echo "kmd-windows: there is no $cc" >&2; exit 77; }
mkdir -p "$out/aerogpu.sys.p"
objects=()
for c in "$root"/src/kmd/*.c; do
    o=$out/aerogpu.sys.p/$(basename "$c" .c).o
    $cc -std=gnu17 -O2 -ffreestanding -fno-builtin -mno-red-zone -mgeneral-regs-only -Wall -Wextra -Werror \
        -Wshadow -Wstrict-prototypes -Wvla -Wno-missing-field-initializers -mno-stack-arg-probe -Wframe-larger-than=2048 \
        -I"$root/include" -I"$root/src" -MD -c "$c" -o "$o"
    objects+=("$o")
done
$cc -nostdlib -shared -Wl,--subsystem,native:6.1 -Wl,--major-os-version,6 -Wl,--minor-os-version,1 -Wl,--entry,DriverEntry -Wl,--image-base,0x140000000 \
    -Wl,--nxcompat -Wl,--dynamicbase -Wl,--file-alignment,0x200 -Wl,--section-alignment,0x1000 -Wl,--exclude-all-symbols \
    -o "$out/aerogpu.sys" "${objects[@]}" -lntoskrnl -lhal
"$root/tools/build/pe_finish.py" "$out/aerogpu.sys"
[ -z "${2:-}" ] || { echo -n "${2%.d}:"; cat "$out"/aerogpu.sys.p/*.d | sed 's/^[^ ]*:/ /' | tr -d '\\\n'; echo; } >"$2"
