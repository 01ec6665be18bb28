#!/bin/bash
# SPDX-License-Identifier: MIT
# Windows programs of Direct3D 9, 9Ex, 11 and 12 under Wine, and what `aerogpu lose` says of them.
#   lose_wine_test.sh AEROGPU CLIENTS WORK_DIR
set -u
aerogpu=$1 clients=$2 work=$3
. "$(dirname "$0")/../wine.sh"
command -v Xvfb >/dev/null || skip_all "Xvfb is not installed"
wine_begin
wine_prefix
trap 'server -k' EXIT
python3 "$(dirname "$0")/cases.py" "$aerogpu" "$clients" --some d3d9 d3d9ex d3d11 d3d12 8>&-
