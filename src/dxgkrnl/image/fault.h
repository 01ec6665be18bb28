/* SPDX-License-Identifier: MIT */
/* fault.h: what faults in a driver's image.
 *
 *  - instructions that image/emulate.h knows are done, and the driver goes on;
 *  - INT 2Ch (a failed NT_ASSERT) and breakpoints are violations, and the driver goes on;
 *  - anything else is an exception of the miniport (kernel/guard.h), behind a line that says where in which image and on what.
 * Breakpoints elsewhere go to who had them before.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* In a handler of any signal that an instruction makes: whether it was one of these, and is done. The C library and shared
 * objects have their accesses to register windows done, too. */
bool dxgk_image_fault(int sig, siginfo_t *info, void *context);
/* Behind the former: it was an access to a register window that nobody does; which instruction. */
bool dxgk_image_refused(const siginfo_t *info, const void *context, char *text, size_t size);
/* In a handler: the signal is for who `had` it; where nobody had, the process ends of it, as it would have. */
void dxgk_image_pass_on(const struct sigaction *had, int sig, siginfo_t *info, void *context);
