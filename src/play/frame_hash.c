/* SPDX-License-Identifier: MIT */
#include "play/frame_hash.h"

#include <endian.h>
#include <nettle/sha2.h>
#include <stdio.h>

void frame_hash(const uint8_t *rgba, uint32_t width, uint32_t height, size_t stride, char hex[FRAME_HASH_HEX])
{
    uint32_t head[2] = {htole32(width), htole32(height)};
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx sha;

    sha256_init(&sha);
    sha256_update(&sha, sizeof(head), (const uint8_t *)head);
    for (uint32_t y = 0; y < height; y++)
        sha256_update(&sha, (size_t)width * 4, rgba + y * stride);
    sha256_digest(&sha, sizeof(digest), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}
