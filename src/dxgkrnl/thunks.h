/* SPDX-License-Identifier: MIT */
/* thunks.h: what the two files of thunks share. */
#pragma once

#include "dxgkrnl/adapter.h"

enum { MAX_PRESENTS = 3 }; /* flips a context may have queued before Present waits */

struct dxgk *dxgk_thunk_enter(struct dxgk_client *c);
NTSTATUS dxgk_thunk_leave(struct dxgk *d, NTSTATUS s);
NTSTATUS dxgk_thunk_usable(const struct dxgk *d, const struct device *dev);
