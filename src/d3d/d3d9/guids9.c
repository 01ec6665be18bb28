/* SPDX-License-Identifier: MIT */
/* guids9.c: the names of Direct3D 9's interfaces. */
#define INITGUID
#include "d3d/d3d9/com9.h"
