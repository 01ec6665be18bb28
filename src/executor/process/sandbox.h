/* SPDX-License-Identifier: MIT */
/* sandbox.h: what the executor process gives up, in this order: limits and the bounding set before Vulkan
 * opens, the user and every system call that drawing does not need once it is open. There is no way back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Before all others. Where memory runs out, it is ended before its host. And a new session's share of the processors is an ordinary
 * one, where the kernel shares them out by session (sched(7), the autogroup feature); the host's may be another, `nice`: whoever asked
 * for that asked for what it starts, too. As far as it may. Users may say a share ten times a second, all of them together: where
 * others just did, this answers a descriptor for exec_sandbox_share_again(), which tries for some seconds and closes it; else -1. */
int exec_sandbox_share(int nice);
void exec_sandbox_share_again(int fd, int nice);

/* No core files, no new privileges, no debugger; dies with the thread that started it. 0 or a negative errno.
 */
int exec_sandbox_begin(uint64_t memory_bytes, uint32_t files, struct error *e);

/* Becomes a user of its own, without rights, if it was root (`nobody` where there is no other), and lets the system call filter down on
 * every thread. `hardware`: the Vulkan driver talks to the kernel for its work, so ioctl and opening files stay allowed. */
int exec_sandbox_enter(bool hardware, struct error *e);
