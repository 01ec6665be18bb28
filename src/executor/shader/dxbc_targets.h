/* SPDX-License-Identifier: MIT */
/* dxbc_targets.h: pixel shaders that write only some components of a target. */
#pragma once

#include "base/dxbc/dxbc.h"
#include "executor/shader/sm4.h"

/* The container of a checked pixel shader with every floating-point SV_Target written whole, in memory that is the caller's to
 * free(); *bytes is NULL where it is so already. `outputs` and `out` are its output signature. 0 or -ENOMEM. */
int dxbc_fill_targets(const struct dxbc *d, const struct sm4 *program, const struct dxbc_chunk *outputs,
                      const struct dxbc_signature *out, uint8_t **bytes, size_t *size, struct error *e);
