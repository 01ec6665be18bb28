#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages named on standard input's lists that are missing. usage: need.sh GROUP...
# A group is a file packages/GROUP.txt beside this script: one package a line, '#' starts a comment.
set -eu
here=$(dirname "$0")
missing=
for group in "$@"; do
    packages=$(sed 's/#.*//' "$here/packages/$group.txt")
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $packages 2>/dev/null | sed -n 's/^installed //p')
    for p in $packages; do
        echo "$installed" | grep -qx -e "$p" || missing="$missing $p"
    done
done
[ -n "$missing" ] || exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
if [ -n "$sudo" ] && ! command -v sudo >/dev/null; then
    echo "these Debian packages are missing:$missing" >&2
    echo "install them as root: apt-get install$missing" >&2
    exit 1
fi
echo "installing$missing"
$sudo apt-get update -qq
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
