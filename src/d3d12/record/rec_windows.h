/* SPDX-License-Identifier: MIT */
/* rec_windows.h: the recorder's parts that exist only in the DLL for Windows and Wine. */
#pragma once

#include "d3d12/record/rec_values.h"

/* rec_windows.c: the module that really implements Direct3D 12 or DXGI, loaded once. */
HMODULE windows_real_module(const char *file);
/* Leads one export of a loaded module to `fn`, for those who ask for it by name from now on. */
bool windows_export_patch(HMODULE module, const char *name, void *fn);

/* rec_dxgi.c: patches the factories' method table; to be called with any factory. */
void dxgi_factory_seen(void *factory);

/* rec_waits.c: looks where modules of the program call the system's wait functions. */
void waits_install(void);
