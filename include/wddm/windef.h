/* SPDX-License-Identifier: MIT */
/* windef.h: the base types, for sources that ask for them by this name. */
#pragma once

#include "wddm/ntddk.h"
