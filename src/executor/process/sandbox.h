/* SPDX-License-Identifier: MIT */
/* sandbox.h: what the executor process gives up, in this order: limits and the bounding set before Vulkan
 * opens, the user and every system call that drawing does not need once it is open. There is no way back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* No core files, no new privileges, no debugger; dies with the thread that started it. 0 or a negative errno.
 */
int exec_sandbox_begin(uint64_t memory_bytes, uint32_t files, struct error *e);

/* Becomes nobody if it was root, and lets the system call filter down on every thread. `hardware`: the Vulkan
 * driver talks to the kernel for its work, so ioctl and opening files stay allowed. */
int exec_sandbox_enter(bool hardware, struct error *e);
