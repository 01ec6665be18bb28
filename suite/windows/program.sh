#!/bin/bash
# SPDX-License-Identifier: MIT
# A validation program that is a Windows program: Wine runs it, by the name that this file has. aerogpu_test_runner takes it like any other:
#   aerogpu_test_runner --bin-dir BUILD/suite/windows --manifest BUILD/suite/windows/tests.txt
# $WINEPREFIX is the user's, or Wine's own. It says PASS, FAIL or SKIP, also to --json=PATH, with the reason; other options are not its.
set -u
here=$(cd "$(dirname "$0")" && pwd) name=${0##*/} json=
for a; do
    case $a in --json=*) json=${a#--json=} ;; esac
done
tell() { # PASS|FAIL SKIPPED REASON
    local text=null
    [ -z "$3" ] || text=\"$(tr -d '"\\\000-\037' <<<"$3")\"
    [ -z "$json" ] || printf '{"schema_version": 1, "test_name": "%s", "status": "%s", "skipped": %s, "%s": %s, "artifacts": []}\n' \
        "$name" "$1" "$2" "$([ "$2" = true ] && echo skip_reason || echo failure)" "$text" >"$json"
}
skip() {
    echo "SKIP: $name: $1"
    tell PASS true "$1"
    exit 0
}
command -v wine >/dev/null || skip "wine is not installed"
if [ "$name" = d3d9ex_shared_surface_wow64 ]; then # x86 has the same program and its libraries, of 32 bits
    [ -e "$here/x86/suite_d3d9.exe" ] || skip "this build has no programs of 32 bits"
    WINEDEBUG=-all wine 'C:\windows\syswow64\cmd.exe' /c exit 7 >/dev/null 2>&1
    [ $? = 7 ] || skip "this Wine runs no programs of 32 bits"
fi
export WINEDLLOVERRIDES="mscoree,mshtml,winemenubuilder.exe,winedbg.exe=;d3d9,d3d10_1,d3d10core,d3d11,dxgi=n;d3d10=n,b" WINEDEBUG=${WINEDEBUG:--all}
case $name in d3d9*) program=suite_d3d9 ;; *) program=suite_direct3d ;; esac
said=$(wine "$here/$program.exe" "$name" | tr -d '\r'; exit "${PIPESTATUS[0]}")
code=$?
echo "$said"
if [ $code = 0 ]; then tell PASS false ""; else tell FAIL false "${said:-it ended with $code}"; fi
exit $code
