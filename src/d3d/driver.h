/* SPDX-License-Identifier: MIT */
/* driver.h: the adapter's user-mode driver, as every runtime here finds it, and the thunks that a runtime lends it. */
#pragma once

#include <stdbool.h>

#if !defined(WDDM_WITH_WINDOWS)
#include "d3d/com.h"
#endif
#include "wddm/d3dkmthk.h"
#include "wddm/d3dumddi.h"

/* What a runtime's adapter and device are to the thunks: the handle that a driver calls back with. */
struct d3d_kmt {
    D3DKMT_HANDLE adapter, device; /* 0: an adapter's alone */
    D3DKMT_CLIENTHINT hint;
    D3DKMT_HANDLE
    locked; /* the allocation that the driver locked last, and where; written while the driver is called */
    const void *locked_at;
};

/* What the runtime's resource is to the thunks, where the driver names it with its allocations: they are one resource of the
 * kernel's, which others may open. */
struct d3d_kmt_resource {
    bool shared;
    const void *data; /* the runtime's, for who opens it */
    UINT size;
    D3DKMT_HANDLE resource, share;
};

/* Opens a shared resource: `info` is of its one allocation, whose private data lies in *memory, which the caller frees. */
HRESULT d3d_resource_open(struct d3d_kmt *d, D3DKMT_HANDLE share, void *data, UINT size,
                          struct d3d_kmt_resource *out, D3DDDI_OPENALLOCATIONINFO *info, void **memory);

/* The adapter of the first display, whose handle the caller closes; false: there is none. */
bool d3d_display_open(D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME *open);
/* The library that the adapter names for an interface; NULL: it names none (name[0] is 0), or it cannot be loaded. */
void *d3d_library_open(D3DKMT_HANDLE adapter, KMTUMDVERSION version, char name[260]);
void *d3d_library_symbol(void *library, const char *name);
void d3d_library_close(void *library);
HRESULT d3d_status(NTSTATUS s);
/* UTF-8 of it, cut where there is no room. */
void d3d_utf8(const WCHAR *text, char *out, size_t room);
/* What a program calls an object by SetPrivateData: into `out`; false: the data of this GUID is no name. */
bool d3d_debug_name(const GUID *guid, const void *bytes, size_t size, char *out, size_t room);
extern const D3DDDI_ADAPTERCALLBACKS d3d_adapter_callbacks;
extern const D3DDDI_DEVICECALLBACKS d3d_callbacks;
/* STOPPED, where the kernel does not say. */
D3DKMT_DEVICEEXECUTION_STATE d3d_execution_state(D3DKMT_HANDLE device);
