/* SPDX-License-Identifier: MIT */
/* play_pixel.h: what became of one pixel (play_params.pixel): a line where it is another than it was when it was seen last. */
#pragma once

#include "base/map.h"
#include "d3d12/play/play_internal.h"

/* `pixels` is what it was last, by resource, subresource and slice `z` of a volume; zeros are none. `where` begins the line. 0, or a
 * negative errno in the player's error. */
int play_pixel_tell(struct player *p, struct map *pixels, const char *where, uint32_t resource, uint32_t sub,
                    uint32_t z, DXGI_FORMAT format, const uint8_t *bytes, size_t size);
bool play_pixel_is_known(const struct map *pixels, uint32_t resource, uint32_t sub, uint32_t z);
/* Reads what it is now, where it is known; the device is idle. What cannot be read is left as it is. */
int play_pixel_now(struct player *p, struct map *pixels, const char *where, uint32_t resource, uint32_t sub,
                   uint32_t z);
void play_pixels_finish(struct map *pixels);
