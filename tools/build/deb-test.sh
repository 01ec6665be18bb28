#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make deb-test: the packages in OUT are installed over an older version, used, and purged in a bare Debian 12, and nothing is left.
# Then their autopkgtest runs there: the validation suite, and a program that is built against them. As root.
#   deb-test.sh OUT [CHROOT]     CHROOT: a bare Debian 12 that is there already; it is copied
set -eu
out=$(cd "$1" && pwd)
base=${2:-}
dir=$(mktemp -d -p "$out" chroot.XXXXXX)
root=$dir/root
trap 'umount "$root/dev/shm" "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$dir"' EXIT

say() { echo "== $*"; }
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }

if [ -n "$base" ]; then
    cp -a "$base" "$root"
else
    say "a bare Debian 12"
    debootstrap --variant=minbase bookworm "$root" >"$out/debootstrap.log"
fi
# what this machine knows of mirrors
rm -f "$root/etc/apt/sources.list"
cp /etc/apt/sources.list "$root/etc/apt/" 2>/dev/null || true
for d in sources.list.d apt.conf.d trusted.gpg.d; do
    cp -r "/etc/apt/$d/." "$root/etc/apt/$d/" 2>/dev/null || true
done
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mount -t tmpfs tmpfs "$root/dev/shm"
in_root apt-get update -qq

# Older versions, made of the same files.
mkdir "$root/older" "$root/newer"
for deb in "$out"/*_amd64.deb "$out"/*_all.deb; do
    case $deb in *dbgsym*) continue ;; esac
    cp "$deb" "$root/newer/"
    dpkg-deb -R "$deb" "$dir/unpacked"
    sed -i 's/^Version: .*/Version: 0.0.1/; s/(= [0-9.]*)/(= 0.0.1)/g' "$dir/unpacked/DEBIAN/control"
    dpkg-deb -b --root-owner-group "$dir/unpacked" "$root/older/" >/dev/null
    rm -rf "$dir/unpacked"
done

say "install an older version"
in_root sh -c 'apt-get install -y -qq --no-install-recommends /older/*.deb' >"$out/deb-test.log" 2>&1 || { tail -20 "$out/deb-test.log"; exit 1; }
say "upgrade it"
in_root sh -c 'apt-get install -y -qq --no-install-recommends /newer/*.deb' >>"$out/deb-test.log" 2>&1 || { tail -20 "$out/deb-test.log"; exit 1; }
in_root aerogpu --version
say "purge it"
in_root sh -c 'apt-get purge -y -qq aerogpu libaerogpu0 libaerogpu-dev aerogpu-doc' >>"$out/deb-test.log" 2>&1 || { tail -20 "$out/deb-test.log"; exit 1; }
left=$(cd "$root" && find . -xdev \( -path ./proc -o -path ./older -o -path ./newer \) -prune -o \( -iname '*aerogpu*' -print \) | grep -v '^./var/lib/apt\|^./var/cache/apt' || true)
[ -z "$left" ] || { printf 'left behind:\n%s\n' "$left"; exit 1; }
say "autopkgtest"
autopkgtest --no-built-binaries "$out"/aerogpu-*/ "$root"/newer/*.deb -- chroot "$root" >"$out/autopkgtest.log" 2>&1 || { tail -40 "$out/autopkgtest.log"; exit 1; }
grep -E '(PASS|FAIL|SKIP)' "$out/autopkgtest.log" | tail -5
say "the packages install, upgrade and purge cleanly, and work"
