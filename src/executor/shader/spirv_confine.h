/* SPDX-License-Identifier: MIT */
/* spirv_confine.h: SPIR-V that a guest wrote runs, on a processor's driver, in the executor's own address space. A GPU would keep it
 * from everything that is not the GPU's; here the shader itself has to.
 *
 *   0        2 GiB                          2^47          -2^47                              -2 GiB     2^64
 *   │ nothing │ executor … │ GPU │ … executor │  no address  │ ◀─ accesses to the executor's ─▶ │ nothing │
 *                            └── shader_addresses                      fault here
 *
 * Invariants:
 *  1. An access by address that begins outside of the GPU's addresses faults, whatever the executor has there. It ends no more than
 *     SPIRV_MARGIN behind them.
 *  2. Where it faults tells which address it was: spirv_confined_address().
 *  3. An index outside of an array of the shader's own selects the first element. (Buffers are the device's to bound.)
 *  4. What a shader has of its own fits into a thread's stack.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "executor/shader/shader.h"

/* Where accesses go that are none of the GPU's: for [OUTSIDE, 2^47) to the kernel's half, where no program has memory, and for what
 * would have been there to what is no address at all. */
#define SPIRV_OUTSIDE        ((uint64_t)1 << 31)
#define SPIRV_OUTSIDE_SIZE   (((uint64_t)1 << 47) - SPIRV_OUTSIDE)
#define SPIRV_OUTSIDE_FAULTS (~(uint64_t)0 << 47)
#define SPIRV_NO_ADDRESS     ((uint64_t)1 << 62)
/* Behind shader_addresses so much is reserved that nobody has: the whole of an access whose first byte is the GPU's lies there, or in it. */
#define SPIRV_MARGIN ((uint64_t)1 << 29)

/* The address that was meant where generated code faulted at `address`. */
static inline uint64_t spirv_confined_address(uint64_t address)
{
    return address - SPIRV_OUTSIDE_FAULTS < SPIRV_OUTSIDE_SIZE
               ? address - SPIRV_OUTSIDE_FAULTS + SPIRV_OUTSIDE
               : address;
}

/* Replaces a valid module, allocated with malloc(). `a` NULL: addresses are left alone. Returns 0, -ENOMEM, or -ENOTSUP for what
 * cannot be confined, and *e says what. */
int spirv_confine(uint32_t **words, size_t *count, const struct shader_addresses *a, struct error *e);
