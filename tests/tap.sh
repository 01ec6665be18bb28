#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a test program. cmocka 1.1.5 prints a skipped case as "not ok N # SKIP", which TAP readers count as a failure.
set -o pipefail
"$@" | sed -u 's/^not ok \([0-9]* # SKIP\)/ok \1/'
