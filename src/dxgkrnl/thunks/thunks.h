/* SPDX-License-Identifier: MIT */
/* thunks.h: what the files of thunks share.
 *
 * Every thunk checks its handles against the calling client first; a handle that is not the client's is
 * STATUS_INVALID_HANDLE, whatever else is wrong. A lost device answers STATUS_DEVICE_REMOVED.
 */
#pragma once

#include "dxgkrnl/adapter.h"

enum {
    MAX_PRESENTS = 3,      /* flips a context may have queued before Present waits */
    MAX_PRIVATE = 1 << 20, /* bytes of a driver's own */
};

struct dxgk *dxgk_thunk_enter(struct dxgk_client *c);
NTSTATUS dxgk_thunk_leave(struct dxgk *d, NTSTATUS s);
NTSTATUS dxgk_thunk_usable(const struct dxgk *d, const struct device *dev);
