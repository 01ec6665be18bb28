/* SPDX-License-Identifier: MIT */
/* stacks.h: where the threads of a process are. */
#pragma once

#include <sys/types.h>

#include "base/strbuf.h"

/* Appends a line for each thread of `pid` and one for each of its frames; `first` (0: none) comes first. The process is stopped for a
 * moment. Nothing is appended where it cannot be looked at. */
void stacks_print(struct strbuf *out, pid_t pid, pid_t first);
