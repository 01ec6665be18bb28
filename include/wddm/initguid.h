/* SPDX-License-Identifier: MIT */
/* initguid.h: GUIDs are defined where they are declared: nothing is needed. */
#pragma once

#include "wddm/ntddk.h"
