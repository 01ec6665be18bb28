/* SPDX-License-Identifier: MIT */
/* winddi.h: what a display miniport includes of the graphics engine's header: nothing is needed. */
#pragma once

#include "wddm/ntddk.h"
