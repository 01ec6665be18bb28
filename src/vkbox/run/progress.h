/* SPDX-License-Identifier: MIT */
/* progress.h: whether the devices of a process have work, and get on with it. */
#pragma once

#include <stdbool.h>

#include "vkbox/box.h"

/* Whether the last submission of a queue that has marks has not ended; adds the devices of such that are not lost to `devices`, a bit each.
 * Then `key` is another with every step of any device. */
bool progress_has_work(const struct vkbox *b, uint64_t *key, uint32_t *devices);

/* Whether it is in a call that submits: there the driver may run shaders; in others what it calls is the program's. */
bool progress_is_submitting(const struct vkbox *b, uint32_t thread);
