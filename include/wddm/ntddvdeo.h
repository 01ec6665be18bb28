/* SPDX-License-Identifier: MIT */
/* ntddvdeo.h: what a display miniport includes of the video port's header: nothing is needed. */
#pragma once

#include "wddm/ntddk.h"
