/* SPDX-License-Identifier: MIT */
/* shared.h: what a shared texture is, for the runtime that opens it: the same in every process and of every Direct3D. */
#pragma once

#include <d3d11.h>

#include "wddm/d3dkmthk.h"

#define D3D_SHARED_MAGIC 0x53313144u /* "D11S" */

struct d3d_shared {
    UINT magic;
    D3D11_TEXTURE2D_DESC desc;
    D3DKMT_HANDLE mutex; /* the global handle of a keyed one; 0: none */
};
