/* SPDX-License-Identifier: MIT */
/* texel.h: one texel of four numbers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

/* `v`: R, G, B, A. Floats are converted to what the format has; without, the numbers' low bits are the channels'. Returns how many bytes
 * of `out` the texel has; 0: none of this format is made. */
uint32_t exec_texel_pack(VkFormat format, const uint32_t v[4], bool floats, uint8_t out[16]);
/* Whether shaders that read and write it alike may: a channel of 32 bits. */
bool exec_texel_is_word(VkFormat format);
/* What its channels are: 0 floats and what becomes floats, 'U', 'S' integers. */
uint8_t exec_texel_integer(VkFormat format);
