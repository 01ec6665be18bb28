/* SPDX-License-Identifier: MIT */
/* com.h: the public headers of Direct3D 11 and DXGI, and the driver's interface beside them. In Windows programs they are
 * mingw-w64's; elsewhere Wine's, which compile there too. */
#pragma once

#define WIN32_NO_STATUS
#define WDDM_WITH_WINDOWS
#define COBJMACROS
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif

#include "wddm/d3d10umddi_11_1.h"
#include "wddm/d3dannotate.h"
#include "wddm/d3dkmthk.h"

#include <d3d10_1.h>
#include <d3d10sdklayers.h>
#include <d3d11_4.h>
#include <d3d11sdklayers.h>
#include <dxgi1_5.h>
