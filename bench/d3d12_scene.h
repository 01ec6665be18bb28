/* SPDX-License-Identifier: MIT */
#pragma once

#define COBJMACROS
#define WIDL_C_INLINE_WRAPPERS
#define VKD3D_UTILS_API_VERSION VKD3D_API_VERSION_1_2
#include <vkd3d_utils.h>

enum { SCENE_FRAMES = 40 };

/* Draws them and prints the microseconds of processor time that a frame takes; 1: there is no device. */
int scene_draws(void);
/* A buffer as it is made on such a heap, or NULL; a list that is open, with its own allocator. */
ID3D12Resource *scene_buffer(ID3D12Device *device, D3D12_HEAP_TYPE type, UINT64 size);
HRESULT scene_list(ID3D12Device *device, ID3D12CommandAllocator **allocator,
                   ID3D12GraphicsCommandList **list);
