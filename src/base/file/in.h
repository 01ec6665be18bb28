/* SPDX-License-Identifier: MIT */
/* in.h: files that are read whole. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Maps a regular file for reading, until munmap(). 0; or -ENOENT, -EACCES and the like, -EISDIR, -EBADMSG: it is empty, or a
 * pipe or a device, which is never waited for. The words in `e` begin with the path. From then on nothing is written over the
 * file (out.h). */
int in_file_map(const char *path, const uint8_t **map, size_t *size, struct error *e);
