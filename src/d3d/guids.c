/* SPDX-License-Identifier: MIT */
/* guids.c: the identifiers of the interfaces, which the public headers define where they are asked to. */
#define INITGUID
#include "d3d/com.h"
