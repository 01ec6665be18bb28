#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vkd3d-new.sh FOLDER: unpacks the libvkd3d of Debian's development suite, and the libc that it needs, into FOLDER, and writes
# FOLDER/run, which runs a program with them. Nothing of the system changes. The test for pipeline streams uses it:
#   tools/build/vkd3d-new.sh /some/folder && AEROGPU_VKD3D_NEW=/some/folder/run meson test -C build d3d12
set -eu
mkdir -p "$1/apt/lists/partial" "$1/apt/cache/archives/partial" "$1/root"
folder=$(realpath "$1")
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main" >"$folder/apt/sources.list"
options=(-o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User=root)
apt-get "${options[@]}" update >/dev/null
cd "$folder"
apt-get "${options[@]}" download libvkd3d1/sid libvkd3d-utils1/sid libvkd3d-shader1/sid libc6/sid >/dev/null
for package in *.deb; do dpkg -x "$package" root; done
rm -f ./*.deb
libs=$folder/root/usr/lib/x86_64-linux-gnu
cat >run <<END
#!/bin/sh
exec $libs/ld-linux-x86-64.so.2 --library-path $libs:/usr/lib/x86_64-linux-gnu "\$@"
END
chmod +x run
echo "$folder/run"
