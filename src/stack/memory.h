/* SPDX-License-Identifier: MIT */
/* memory.h: who has which guest memory.
 *
 * dxgkrnl's and the miniport's own memory is the machine's RAM. Memory that clients may map lies above it, in chunks of one
 * owner each: a chunk is a file of its own, so that whoever is given its descriptor sees what is its owner's and nothing
 * else. An empty chunk goes back.
 *
 * Invariants:
 *  1. What is handed out is zeroed, whole pages, contiguous for the device and for this process.
 *  2. Page 0 is never handed out: address 0 is nobody's.
 *  3. A chunk has one owner from first to last.
 */
#pragma once

#include "machine/machine.h"

struct memory;

int stack_memory_create(struct memory **out, struct machine *m);
/* Frees everything; the machine must still be there. */
void stack_memory_destroy(struct memory *mem);

/* owner 0: RAM. 0 or -ENOMEM. Any thread, all of them. */
int stack_memory_alloc(struct memory *mem, size_t size, uint64_t owner, void **va, uint64_t *pa);
void stack_memory_free(struct memory *mem, uint64_t pa);
/* The memory at `pa`, or NULL if some of it is not memory. */
void *stack_memory_ptr(struct memory *mem, uint64_t pa, size_t size);
/* The file of an owner's memory at `pa`; -1 for RAM, which is nobody's to see. */
int stack_memory_fd(struct memory *mem, uint64_t pa, uint64_t *offset);
uint64_t stack_memory_bytes(struct memory *mem);
