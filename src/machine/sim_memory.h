/* SPDX-License-Identifier: MIT */
/* sim_memory.h: what the sim's model of the executor knows of guest memory: which resource has which allocation behind
 * it, and so which copies must not write back.
 *
 * Nothing is copied. Resources that came by a share token are unknown to the model, and pass.
 */
#pragma once

#include "abi/stream.h"
#include "gpu/gpu.h"

struct machine;

struct sim_memory {
    struct sim_backing {
        uint32_t handle, alloc_id;
        uint64_t offset;
    } * v;
    size_t count, cap;
};

/* Notes what the packet creates and destroys, and fills in `c` if the executor would refuse to write back. */
void sim_memory_packet(struct sim_memory *t, struct machine *m, const struct abi_submission *s,
                       const struct abi_packet *p, struct abi_completion *c);
/* The executor died, and its resources with it. */
void sim_memory_forget(struct sim_memory *t);
void sim_memory_finish(struct sim_memory *t);
