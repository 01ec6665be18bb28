/* SPDX-License-Identifier: MIT */
/* ntstrsafe.h: the safe string routines are of no display miniport that was met; the types only. */
#pragma once

#include "wddm/ntddk.h"
