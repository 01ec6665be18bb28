#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds src/kmd as aerogpu.sys for Windows 7 with mingw-w64.   kmd-windows.sh amd64|x86 OUT_DIR [DEPFILE]
set -eu
arch=$1 out=$2 depfile=${3:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
case $arch in
amd64) target=x86_64-w64-mingw32 entry=DriverEntry base=0x140000000 flags=(-mno-red-zone) ;;
x86) target=i686-w64-mingw32 entry=_DriverEntry@8 base=0x10000 flags=(-march=i686) ;;
*) echo "kmd-windows: $arch is neither amd64 nor x86" >&2; exit 2 ;;
esac
command -v $target-gcc >/dev/null || { echo "kmd-windows: there is no $target-gcc" >&2; exit 77; }
version=$("$root/tools/build/changelog.py" version "$root/CHANGELOG.md")
mkdir -p "$out/aerogpu.sys.p"
objects=("$out/aerogpu.sys.p/version.o")
$target-windres -DVERSION_TEXT="\\\"$version\\\"" -DVERSION_NUMBERS="${version//./,},0" "$root/src/kmd/windows/aerogpu.rc" "${objects[0]}"
for c in "$root"/src/kmd/*.c; do
    o=$out/aerogpu.sys.p/$(basename "$c" .c).o
    # No vector registers: on x86 they are the interrupted thread's.
    $target-gcc "${flags[@]}" -std=gnu17 -O2 -g -ffreestanding -fno-builtin -mgeneral-regs-only -Wall -Wextra -Werror \
        -Wshadow -Wstrict-prototypes -Wvla -Wno-missing-field-initializers -mno-stack-arg-probe -Wframe-larger-than=2048 \
        -ffile-prefix-map="$root"=. -I"$root/include" -I"$root/src" -MD -c "$c" -o "$o"
    objects+=("$o")
done
# --pdb also writes the CodeView record by which a debugger finds the symbols.
$target-gcc -s -nostdlib -shared -Wl,--subsystem,native:6.1 -Wl,--major-os-version,6 -Wl,--minor-os-version,1 \
    -Wl,--entry,$entry -Wl,--image-base,$base -Wl,--nxcompat -Wl,--dynamicbase -Wl,--file-alignment,0x200 \
    -Wl,--section-alignment,0x1000 -Wl,--exclude-all-symbols -Wl,--no-insert-timestamp -Wl,--pdb,"$out/aerogpu.pdb" \
    -o "$out/aerogpu.sys" "${objects[@]}" -lntoskrnl -lhal -lgcc
"$root/tools/build/pe_finish.py" "$out/aerogpu.sys"
[ -z "$depfile" ] || { echo -n "${depfile%.d}:"; cat "$out"/aerogpu.sys.p/*.d | sed 's/^[^ ]*:/ /' | tr -d '\\\n'; echo; } >"$depfile"
