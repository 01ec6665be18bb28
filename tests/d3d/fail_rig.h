/* SPDX-License-Identifier: MIT */
/* fail_rig.h: a program of Direct3D on the whole stack in virtual time, where all runs on one thread, with one allocation or system
 * call failing (alloc_fail.h). The user-mode driver is linked into the test (linked_driver.h), so that its calls fail as well. */
#pragma once

#include <stdint.h>

/* Makes each call fail once on the way through `program`, which answers as
 * the last call that it made. That is S_OK, or there is no memory, or the device is gone. Nothing crashes, no rule of the
 * miniport is broken, neither guest memory nor descriptors stay (nor other memory, under ASan). At least `calls` are made to fail.
 * `entry` is the driver's function that the runtime asks for. */
void fail_each_in(int32_t (*program)(void), const char *entry, void *function, unsigned calls);
