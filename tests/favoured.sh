#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a test that makes the GPU hang, before the others' work where it may: an executor that is hardly let run is called starved, not
# hung. What counts between sessions is the autogroup's nice value (sched(7)), which executors get from their hosts. A terminal's
# session is left as it is.
{ : </dev/tty; } 2>/dev/null || echo -15 2>/dev/null >/proc/self/autogroup
exec "$@"
