/* SPDX-License-Identifier: MIT */
/* spirv_points.h: Vulkan wants a point size from the last stage before the rasteriser where that makes points; Direct3D
 * 10 and later have none, and mean one pixel. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Replaces a valid module of a vertex, domain or geometry shader, allocated with malloc(), by one that writes a point
 * size of 1 as well. One that writes a point size already stays as it is. Returns 0 or -ENOMEM. */
int spirv_write_point_size(uint32_t **words, size_t *count);
