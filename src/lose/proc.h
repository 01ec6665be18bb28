/* SPDX-License-Identifier: MIT */
/* proc.h: what /proc says of processes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a file says, up to `size` - 1 bytes; false: it is not there. */
bool proc_read(const char *path, char *text, size_t size);
/* How many entries a folder has. */
uint64_t proc_count(const char *path);
/* The number behind `word` in such a text, or `otherwise`. */
uint64_t proc_number(const char *text, const char *word, uint64_t otherwise);
/* The namespace of processes' numbers that this process is in; 0: not known. */
uint64_t proc_space(void);
