/* SPDX-License-Identifier: MIT */
/* wingdi.h: what a display miniport includes of GDI's header: nothing is needed. */
#pragma once

#include "wddm/ntddk.h"
