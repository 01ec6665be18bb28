/* SPDX-License-Identifier: MIT */
/* com9.h: the public header of Direct3D 9, and the driver's interface beside it. In Windows programs it is mingw-w64's; elsewhere
 * Wine's, which compiles there too. */
#pragma once

#define WIN32_NO_STATUS
#define WDDM_WITH_WINDOWS
#define CINTERFACE
#define COBJMACROS
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif

#include "wddm/d3dannotate9.h"
#include "wddm/d3dumddi9.h"

#include <d3d9.h>

#if !defined(D3DPRESENT_FORCEIMMEDIATE)
#define D3DPRESENT_FORCEIMMEDIATE 0x00000100L
#endif
