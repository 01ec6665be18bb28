#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `meson install` brings is enough for programs outside of this tree: they are built with nothing but pkg-config's answers,
# and run. TAP.
#   install_test.sh SOURCE_ROOT BUILD_ROOT CC
set -u
root=$1 build=$2 cc=$3
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
n=0
ok() # NAME COMMAND...
{
    local name=$1
    shift
    n=$((n + 1))
    if "$@" >"$dir/out" 2>&1; then
        echo "ok $n - $name"
    else
        sed 's/^/# /' "$dir/out"
        echo "not ok $n - $name"
    fi
}
says() # TEXT COMMAND...
{
    local text=$1
    shift
    "$@" | tee "$dir/says"
    [ "${PIPESTATUS[0]}" = 0 ] && grep -qF -- "$text" "$dir/says"
}
echo 1..17
ok "meson install succeeds" env DESTDIR="$dir/root" meson install -C "$build" --no-rebuild --quiet
prefix=$(meson introspect --buildoptions "$build" | python3 -c 'import json,sys; print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
share=$dir/root$prefix/share
ok "pages and completions lie where man and shells look" ls "$share/man/man1/aerogpu.1" "$share/man/man1/aerogpu-play.1" \
    "$share/man/man1/aerogpu_dbgctl.1" "$share/bash-completion/completions/aerogpu" "$share/zsh/site-functions/_aerogpu" \
    "$share/fish/vendor_completions.d/aerogpu.fish"
named() # what the manual names is there
{
    local page
    while read -r page; do
        [ -e "$share/doc/aerogpu/$page" ] || { echo "$page is named, and not there"; return 1; }
    done < <(sed 's/\\-/-/g' "$share"/man/man1/*.1 | grep -ohE 'docs/[a-z0-9-]+\.md' | cut -d/ -f2 | sort -u)
}
ok "each page that the manual names is installed" named
libdir=$(dirname "$(find "$dir/root" -name libaerogpu-gpu.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir/root LD_LIBRARY_PATH=$libdir AEROGPU_DUMPER=$dir/root$prefix/libexec/aerogpu-dumper
unset AEROGPU_SOCKET
cp "$dir/root$prefix"/share/doc/libaerogpu-dev/examples/*.c "$root"/tests/install/*.c "$root"/tests/dxgkrnl/softgpu/* "$dir"
cd "$dir" || exit 1
make_it() # OUTPUT LIBRARY SOURCE... [FLAGS]
{
    local out=$1 library=$2
    shift 2
    $cc -std=c11 -Wall -Werror -o "$out" "$@" $(pkg-config --cflags --libs "libaerogpu-$library")
}
ok "a program of the black box is built" make_it blackbox blackbox blackbox.c
ok "it hangs, dumps and reports" says "draw oak" ./blackbox "$dir/example.aerogpudump"
ok "a Vulkan program that has the black box itself is built" make_it vulkan blackbox vulkan.c $(pkg-config --libs vulkan)
ok "it finds the layer and what watches, and has a dump made" says "the dump is" env \
    AEROGPU_BLACKBOX_LAYER="$libdir/aerogpu/VkLayer_AEROGPU_blackbox.json" AEROGPU_VKBOX_WATCHER="$dir/root$prefix/libexec/aerogpu-vkbox-watcher" ./vulkan
ok "a program with a device is built" make_it gpu gpu gpu.c
ok "it sees PCI a3a0:0001" says "PCI a3a0:0001" ./gpu
ok "a client of the thunks is built" make_it d3dkmt d3dkmt d3dkmt.c
ok "it is told that there is no adapter" says "status c000000e" ./d3dkmt
ok "a miniport and its host are built" eval 'make_it miniport.so wddm -shared -fPIC kmd.c && make_it host wddm wddm.c device.c -D_GNU_SOURCE'
ok "the miniport runs on dxgkrnl" says "started and stopped, 0 violations" ./host ./miniport.so
# Each header by itself, in both languages.
alone() # LANGUAGE COMPILER...
{
    local language=$1 h n=0
    shift
    while read -r h; do
        n=$((n + 1))
        echo "#include <$h>" | "$@" -x "$language" -Wall -Werror -fsyntax-only - $(pkg-config --cflags libaerogpu-wddm) || { echo "$h"; return 1; }
    done < <(cd "$dir/root$prefix"/include/aerogpu-* && find . -name '*.h' -printf '%P\n' | sort)
    [ $n -ge 25 ] # of them were there
}
ok "each header is C11 by itself" alone c $cc -std=c11
ok "each header is C++17 by itself" alone c++ c++ -std=c++17
ok "the libraries export what is public, and nothing else" sh -c '
    ! nm -D --defined-only '"$libdir"'/libaerogpu-blackbox.so '"$libdir"'/libaerogpu-gpu.so '"$libdir"'/libaerogpu-d3dkmt.so |
        awk "NF == 3 {print \$3}" | grep -vE "^(bb_|gpu_|d3dkmt_|D3DKMT)"'
ok "what was installed finds its other programs" says "PASS" sh -c '
    bin='"$dir/root$prefix"'; "$bin/bin/aerogpu" serve --socket "$0/socket" >"$0/serve" 2>&1 & trap "kill $!" EXIT
    for i in $(seq 100); do grep -q ready "$0/serve" && break; sleep 0.2; done
    AEROGPU_SOCKET=$0/socket "$bin/libexec/aerogpu/suite/reset_failure"' "$dir"
