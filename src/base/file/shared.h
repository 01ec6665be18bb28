/* SPDX-License-Identifier: MIT */
/* shared.h: a mapping of a file that its other user may shorten at any time: to look at what is gone is a SIGBUS.
 *
 * Memory that only this program makes is better a memfd that is sealed. This is for what others make, or open by its name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SHARED_MAPPINGS = 64 };

/* From now on pages of it that the file does not have, or has no room for, read as zeros and keep what is written for this process
 * alone. To be called of one thread; beyond SHARED_MAPPINGS: no effect. A SIGBUS of any other origin does what it did. */
void shared_guard(void *at, size_t size);

/* Before it is unmapped. Returns whether there were such pages; what was never guarded is legal. */
bool shared_unguard(const void *at);
