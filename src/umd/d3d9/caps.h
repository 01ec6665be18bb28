/* SPDX-License-Identifier: MIT */
/* caps.h: what the driver says that it can do. */
#pragma once

#include "umd/d3d9/umd9.h"

HRESULT APIENTRY umd9_get_caps(HANDLE adapter, CONST D3DDDIARG_GETCAPS *a);
