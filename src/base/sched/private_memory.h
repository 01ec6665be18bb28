/* SPDX-License-Identifier: MIT */
/* private_memory.h: what a process has of the machine's memory that nobody shares with it (proc_pid_status(5)). */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Bytes, in memory or in the swap area. 0: nothing can be read of it. */
uint64_t private_memory_of(pid_t pid);
/* Bytes of memory that this machine has. */
uint64_t private_memory_of_machine(void);
