/* SPDX-License-Identifier: MIT */
/* table.h: what Vulkan's commands may answer, from its registry. */
#pragma once

#include <stdint.h>

#include "lose_calls.h"

struct lose_call_desc {
    const char *name;
    const int32_t *may; /* answer, besides VK_SUCCESS, which ends the list */
};

extern const struct lose_call_desc lose_calls[LOSE_NUM_CALLS]; /* by enum lose_call; the first has no name */

struct lose_result_name {
    int32_t value;
    const char *name, *word; /* "VK_ERROR_DEVICE_LOST", "device-lost" */
};

extern const struct lose_result_name lose_results[];
extern const unsigned lose_num_results;

/* What tells a program of OpenGL or Direct3D of a loss: numbers behind Vulkan's commands. */
#define LOSE_GL_CALLS(C)                                                                                     \
    C(glGetGraphicsResetStatus)                                                                              \
    C(glGetError)                                                                                            \
    C(eglMakeCurrent)                                                                                        \
    C(eglSwapBuffers)                                                                                        \
    C(IDXGISwapChain_Present)                                                                                \
    C(IDXGISwapChain_ResizeBuffers)                                                                          \
    C(ID3D11Device_GetDeviceRemovedReason)                                                                   \
    C(ID3D11Device_Create)                                                                                   \
    C(ID3D11DeviceContext_Map)                                                                               \
    C(ID3D11DeviceContext_GetData)                                                                           \
    C(ID3D12Device_GetDeviceRemovedReason)                                                                   \
    C(ID3D12Device_Create)                                                                                   \
    C(ID3D12CommandQueue_Signal)                                                                             \
    C(ID3D12Fence_GetCompletedValue)                                                                         \
    C(IDirect3DDevice9_Present)                                                                              \
    C(IDirect3DDevice9_TestCooperativeLevel)                                                                 \
    C(IDirect3DDevice9_Reset)                                                                                \
    C(IDirect3DDevice9_Create)                                                                               \
    C(IDirect3DDevice9Ex_CheckDeviceState)

enum lose_gl_call {
    LOSE_GL_FIRST = LOSE_NUM_CALLS - 1,
#define LOSE_GL_ROW(name) LOSE_##name,
    LOSE_GL_CALLS(LOSE_GL_ROW)
#undef LOSE_GL_ROW
        LOSE_GL_END,
};
