/* SPDX-License-Identifier: MIT */
/* memory.h: what strangers' work takes of the host's own memory, beside all that dxgkrnl hands out: what executes it makes objects there.
 *
 * Nobody is asked before that is taken, so it is looked at, LOOK_NS apart, as long as a stranger has a device: whose user has come to
 * have more than his share of dxgk_bus.work_memory (base/fair.h) loses what executes the work of that of his processes which
 * has most, with its devices, until it is his share again (event dxgkrnl 9). Who has no more than at the look before keeps it, whatever
 * others have come to have.
 */
#pragma once

#include <stdint.h>

struct dxgk;

/* When to look next; LOOP_FOREVER: there is nobody to look at. */
uint64_t dxgk_memory_due(const struct dxgk *d);
/* At PASSIVE_LEVEL; looks if that is due. */
void dxgk_memory_look(struct dxgk *d);
