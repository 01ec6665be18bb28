/* SPDX-License-Identifier: MIT */
/* winerror.h: the status codes are those of ntdef.h, and of the others those that drivers name. */
#pragma once

#include "wddm/ntddk.h"

#define ERROR_NOT_ENOUGH_MEMORY 8L
