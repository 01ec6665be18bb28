/* SPDX-License-Identifier: MIT */
/* spirv_bounds.h: Direct3D's shaders may index outside of what they declare: group-shared memory, indexable temporaries, constants in
 * the code and in buffers, inputs. In SPIR-V that is undefined, and a processor's driver reads and writes whatever lies there. And their
 * barriers are for buffers and images, which the translator leaves out; and a type of functions is one, which it declares again. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Replaces a module that is valid but for that, allocated with malloc(), by one whose arrays have ends: outside of them reads are zero, and a write changes
 * nothing that can be read. (Buffers without a length are the device's to bound.) Barriers become barriers for buffers and images as well. Returns 0 or
 * -ENOMEM. */
int spirv_bound_arrays(uint32_t **words, size_t *count);
