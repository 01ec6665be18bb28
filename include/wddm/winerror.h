/* SPDX-License-Identifier: MIT */
/* winerror.h: the status codes are those of ntdef.h. */
#pragma once

#include "wddm/ntddk.h"
