/* SPDX-License-Identifier: MIT */
/* collect_tables.h: what a recording of a Windows program shows wrong because Wine drew it so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the recording binds descriptor tables for draws on a Vulkan device without VK_EXT_descriptor_indexing, on which Wine 8 draws
 * textures and constants of tables wrong; its name is in `device` then. Wine takes the loader's first device. False, too, where that
 * cannot be known. */
bool tables_are_not_bound(const char *recording, char *device, size_t size);
