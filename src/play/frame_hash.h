/* SPDX-License-Identifier: MIT */
/* frame_hash.h: the hash that names a picture: SHA-256 over LE32 width, LE32 height and tight RGBA8 rows, top-down. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FRAME_HASH_HEX 65 /* 64 digits and a NUL */

/* `stride` is the distance of two rows of `rgba` in bytes. */
void frame_hash(const uint8_t *rgba, uint32_t width, uint32_t height, size_t stride,
                char hex[FRAME_HASH_HEX]);
