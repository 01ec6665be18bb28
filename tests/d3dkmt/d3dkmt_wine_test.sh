#!/bin/bash
# SPDX-License-Identifier: MIT
# A Windows program under Wine, without a screen, calls D3DKMT of a service.
#   d3dkmt_wine_test.sh AEROGPU PROGRAM.exe WORK_DIR [32]
set -u
aerogpu=$1 program=$2 work=$3
. "$(dirname "$0")/../wine.sh"
wine_begin
wine_prefix
[ "${4-}" != 32 ] || wine_32 || skip_all "this Wine runs no programs of 32 bits"
folder=$(mktemp -d)
"$aerogpu" serve --socket "$folder/socket" >"$folder/log" 2>&1 8>&- &
service=$!
leave() {
    kill $service 2>/dev/null
    wait $service 2>/dev/null
    server -k
    rm -rf "$folder"
}
trap leave EXIT
for i in $(seq 100); do
    grep -q ^ready "$folder/log" && break
    sleep 0.1
done
grep -q ^ready "$folder/log" || { sed 's/^/# /' "$folder/log"; echo "Bail out! no service"; exit 1; }
unset DISPLAY
AEROGPU_SOCKET=$folder/socket timeout 60 wine "$program" 8>&- | tr -d '\r'
