#!/bin/bash
# SPDX-License-Identifier: MIT
# The Windows package in OUT_DIR: aerogpu.sys for x64 and x86 with symbols, INF, the catalogue's definition and the script that
# test-signs them. The user-mode drivers of Direct3D are in it where FOLDER has them: aerogpu_*_x64.dll and x86/aerogpu_*.dll.
#   kmd-package.sh OUT_DIR FOLDER
set -eu
out=$1 umd=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
from=$root/src/kmd/windows
version=$("$root/tools/build/changelog.py" version "$root/CHANGELOG.md")
date=$(sed -n 's|^## [0-9.]* (\([0-9]*\)-\([0-9]*\)-\([0-9]*\))|\2/\3/\1|p' "$root/CHANGELOG.md" | head -1)
for arch in amd64 x86; do
    "$root/tools/build/kmd-windows.sh" $arch "$out/$arch"
done
if [ -e "$umd/aerogpu_d3d10_x64.dll" ] && [ -e "$umd/x86/aerogpu_d3d10.dll" ]; then
    cp "$umd"/aerogpu_*_x64.dll "$out/amd64/"
    cp "$umd"/x86/aerogpu_*.dll "$out/x86/"
else
    umd=
    echo "without user-mode drivers: they need libwine-dev, and mingw-w64 for x86"
fi
for file in aerogpu.inf aerogpu.cdf; do
    sed -e "s|@DRIVERVER@|$date,$version.0|" -e "$([ -n "$umd" ] && echo '/^;[}]\?umd[{]\?/d' || echo '/^;umd{/,/^;}umd/d')" \
        -e 's/$/\r/' "$from/$file" >"$out/$file"
done
cp "$from/sign-test.sh" "$out/"
"$root/tools/build/inf_check.py" "$out" aerogpu.inf
echo "$out: the package of $version"
