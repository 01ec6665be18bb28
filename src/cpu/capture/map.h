/* SPDX-License-Identifier: MIT */
/* map.h: a whole file, read-only in memory. */
#ifndef CPU_MAP_H_
#define CPU_MAP_H_

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* 0, -EBADMSG for an empty file, or what the system says. munmap() it. */
int cpu_map(const char *path, const uint8_t **map, size_t *size, struct error *e);

#endif
