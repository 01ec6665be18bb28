#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make deb: the Debian packages of what is committed, in OUT, and what lintian says of them (nothing). usage: deb.sh OUT
set -eu
cd "$(dirname "$0")/../.."
out=$1
version=$(tools/build/changelog.py version CHANGELOG.md)
rm -rf "$out"
mkdir -p "$out"
git archive --prefix="aerogpu-$version/" HEAD | tar -x -C "$out"
tools/build/changelog.py debian CHANGELOG.md >"$out/aerogpu-$version/debian/changelog"
echo "building aerogpu $version; the log is $out/build.log"
(cd "$out/aerogpu-$version" && DEB_BUILD_OPTIONS="parallel=$(nproc)" dpkg-buildpackage -us -uc -b) >"$out/build.log" 2>&1 || {
    tail -30 "$out/build.log"
    exit 1
}
lintian --allow-root --fail-on warning,error "$out"/*.changes
ls "$out"/*.deb
