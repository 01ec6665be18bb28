#!/bin/bash
# SPDX-License-Identifier: MIT
# The suite's Windows programs, run by aerogpu_test_runner on a service.   named_test.sh AEROGPU RUNNER SUITE_WINDOWS LIBRARIES WORK_DIR
set -u
aerogpu=$1 runner=$2 suite=$3 libraries=$4 work=$5 n=0
. "$(dirname "$0")/../wine.sh"
wine_begin
wine_prefix
folder=$(mktemp -d)
ln -s "$suite"/* "$libraries"/*.dll "$folder" # a program finds its libraries beside itself
if [ -d "$libraries/x86" ]; then # and so does one of 32 bits
    rm -f "$folder/x86"
    mkdir "$folder/x86"
    ln -s "$suite"/x86/*.exe "$libraries"/x86/*.dll "$folder/x86"
fi
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
unset DISPLAY
names=$(grep -v '^#' "$suite/tests.txt")
echo 1..$(wc -w <<<"$names")
AEROGPU_SOCKET=$folder/socket "$runner" --bin-dir "$folder" --manifest "$suite/tests.txt" --timeout-ms 120000 \
    --json="$folder/report.json" >"$folder/said" 2>&1 8>&-
sed 's/^/# /' "$folder/said"
for name in $names; do
    python3 - "$folder/report.json" "$name" <<'END'
import json, sys
t = [t for t in json.load(open(sys.argv[1]))["tests"] if t["test_name"] == sys.argv[2]]
sys.exit(not t or t[0]["status"] != "PASS")
END
    result $? "$name"
done
