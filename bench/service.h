/* SPDX-License-Identifier: MIT */
/* service.h: a service in a process of its own, for the benches of what its clients feel. */
#pragma once

#include <sys/types.h>

#include "stack/stack.h"

/* Serves a stack at `path`, a socket of access mode `mode`; it is ready when this returns. It ends by SIGTERM, or with the bench.
 * One that does not start ends the bench with 4. */
pid_t service_start(const struct stack_params *params, const char *path, unsigned mode);
/* Bytes of its heap that are in use. What the allocator keeps besides depends on how many threads there were at once. */
size_t service_heap(pid_t service);
