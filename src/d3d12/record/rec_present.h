/* SPDX-License-Identifier: MIT */
/* rec_present.h: swap chains of the recorded program: which image is which back buffer, and what a frame looked like. */
#pragma once

#include <stdint.h>
#include <vulkan/vulkan.h>

#include "d3d12_api.h"

/* Of a swap chain's image: the chain's number and the image's index. 0 and 0 if it is none. */
void present_image_find(VkImage image, uint64_t *chain, uint32_t *index);
void present_image_bind(VkImage image, VkDevice device, ID3D12Resource *resource);
void present_queue_bind(VkQueue vk, ID3D12CommandQueue *queue);
