/* SPDX-License-Identifier: MIT */
/* play_on.h: which Direct3D 12 plays. The player calls methods of objects and nothing else of an implementation, but for
 * what stands here: how a device is made, what an event is, and how wide its characters are.
 *
 *   libvkd3d             vkd3d_create_device(): events are whatever its caller says, and so the player's own
 *   another ELF library  D3D12CreateDevice(): events are descriptors of eventfd(2), as in vkd3d-proton's native builds
 *   a DLL under Wine     D3D12CreateDevice(): Windows' events (play_wine.c)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "d3d12_api.h"

struct play_on {
    unsigned wide; /* bytes of a WCHAR */
    /* What the library answers. Where the player knows why there is no device, *e says it. */
    HRESULT (*create_device)(D3D_FEATURE_LEVEL level, const GUID *iid, void **out, struct error *e);
    HANDLE (*event_create)(void); /* it resets itself; NULL: no memory */
    void (*event_signal)(HANDLE event);
    bool (*event_wait)(HANDLE event, uint32_t ms); /* false: not within `ms` */
    void (*event_destroy)(HANDLE event);
    ULONG (*resource_incref)(ID3D12Resource *r); /* references that keep a resource's memory */
    ULONG (*resource_decref)(ID3D12Resource *r);
    /* The VkResult with which the driver made no pipeline for what this thread drew since it was asked last; 0: none. NULL: it cannot
     * be known. */
    int (*refused)(void);
};

/* The ELF library `path`, or, NULL, this machine's libvkd3d. One library a process: it stays loaded, and what was returned
 * lives as long. libvkd3d takes the Vulkan device that AEROGPU_VULKAN_DEVICE names. NULL: -ENODEV, -ENOENT or -EBADMSG
 * in *e, with the loader's own sentence. */
const struct play_on *play_on_library(const char *path, struct error *e);

/* Windows' own functions, of the process that this runs in under Wine. */
struct play_windows {
    void *(WINAPI *load_library)(const char *name);
    void *(WINAPI *get_proc_address)(void *module, const char *name);
};

/* The DLL `path`, or, NULL, Wine's own d3d12.dll. */
const struct play_on *play_on_windows(const struct play_windows *w, const char *path, struct error *e);
/* Has `crashed` called when an exception would end the process. */
void play_on_windows_crash(const struct play_windows *w, void (*crashed)(int sig));
