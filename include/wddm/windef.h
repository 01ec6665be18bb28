/* SPDX-License-Identifier: MIT */
/* windef.h: the base types, for sources that ask for them by this name. */
#pragma once

#include "wddm/ntddk.h"

typedef CONST CHAR *LPCSTR;

#define LOWORD(l) ((WORD)((ULONG_PTR)(l)&0xFFFF))
#define HIWORD(l) ((WORD)((ULONG_PTR)(l) >> 16 & 0xFFFF))
