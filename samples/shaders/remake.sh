#!/bin/bash
# SPDX-License-Identifier: MIT
# Remakes the bytecode beside the sources. A build does not need it.
#   remake.sh [DIR]   DIR keeps the compilers between runs (default: a temporary folder)
# HLSL is compiled by vkd3d-compiler of Debian's unstable suite, unpacked into DIR and not installed (the one of Debian 12
# has no HLSL); Direct3D 9 assembly by D3DXAssembleShader in Wine (packages wine, mingw-w64).
set -eu
cd "$(dirname "$0")"
dir=${1:-$(mktemp -d)}
mkdir -p "$dir"
dir=$(realpath "$dir")

fetch_compiler() {
    local d=$dir/apt options
    mkdir -p "$d/lists/partial" "$d/cache/archives/partial"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main" >"$d/sources"
    options=(-o Dir::Etc::sourcelist="$d/sources" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$d/lists"
             -o Dir::Cache="$d/cache" -o Dir::State::status=/var/lib/dpkg/status)
    apt-get "${options[@]}" update -qq
    (cd "$d" && apt-get "${options[@]}" download -qq vkd3d-compiler libvkd3d-shader1 libc6 libtinfo6)
    for deb in "$d"/*.deb; do dpkg -x "$deb" "$dir/root"; done
}

lib=$dir/root/usr/lib/x86_64-linux-gnu
[ -x "$dir/root/usr/bin/vkd3d-compiler" ] || fetch_compiler
compile() { # SOURCE TARGET PROFILE ENTRY OUTPUT
    "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$dir/root/usr/bin/vkd3d-compiler" \
        -x hlsl -b "$2" -p "$3" -e "$4" "$1" -o "$5"
}

while read -r source profile entry; do
    case $profile in
    '' | '#'*) ;;
    *_1_* | *_2_* | *_3_*) compile "$source.hlsl" d3dbc "$profile" "$entry" "${entry}_${profile#*s_}.d3d9" ;;
    *) compile "$source.hlsl" dxbc-tpf "$profile" "$entry" "$entry.dxbc" ;;
    esac
done <<'TABLE'
scene vs_4_0 scene_vs
scene ps_4_0 scene_ps
basic vs_4_0 colour_vs
basic vs_5_0 scaled_vs
basic vs_4_0 instanced_vs
basic vs_4_0 texture_vs
basic vs_4_0 fullscreen_vs
basic ps_4_0 colour_ps
basic ps_4_0 texture_ps
basic ps_5_0 texture_level_ps
basic ps_4_0 load_ps
basic ps_4_0 targets_ps
basic ps_4_0 depth_ps
basic ps_4_0 clip_ps
basic ps_4_0 three_ps
basic ps_4_0 two_ps
basic ps_4_0 number_ps
basic ps_4_0 front_ps
geometry gs_4_0 quads_gs
geometry gs_5_0 point_gs
geometry gs_4_0 around_gs
geometry gs_4_0 before_gs
geometry gs_5_0 numbered_gs
tessellation vs_5_0 control_vs
tessellation hs_5_0 bulge_hs
tessellation ds_5_0 bulge_ds
compute cs_5_0 picture_raw_cs
compute cs_5_0 ring_structured_cs
compute cs_5_0 swap_structured_cs
compute cs_5_0 transpose_image_cs
compute cs_5_0 count_typed_cs
compute cs_5_0 sum_raw_cs
d3d9 vs_2_0 lit_vs
d3d9 ps_2_0 textured_ps
d3d9 ps_2_0 bias_ps
d3d9 vs_2_0 colour_vs
d3d9 ps_2_0 colour_ps
d3d9 vs_3_0 lit_vs
d3d9 ps_3_0 textured_ps
d3d9 ps_3_0 targets_ps
d3d9 ps_3_0 sides_ps
TABLE

x86_64-w64-mingw32-gcc -O1 -o "$dir/assemble.exe" assemble.c -ld3dx9_43 -luuid
export WINEPREFIX=$dir/wine WINEDEBUG=-all DISPLAY=
for source in asm/*.asm; do
    wine "$dir/assemble.exe" "$source" "$(basename "$source" .asm).d3d9"
done
