/* SPDX-License-Identifier: MIT */
/* play_renderdoc.c: RenderDoc's in-application API (https://renderdoc.org/docs/in_application_api.html), version 1.0.0, which every later
 * one begins with. The library is not loaded: it hooks Vulkan when a process starts with it, or it comes as a layer. */
#include "d3d12/play/play_renderdoc.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include "base/utf8.h"

enum { VERSION = 10000 };

struct renderdoc { /* what stands between is not called */
    void (*settings[13])(void);
    uint32_t (*num_captures)(void);
    uint32_t (*capture)(uint32_t i, char *path, uint32_t *size, uint64_t *time);
    void (*windows[4])(void);
    void (*begin)(void *device, void *window); /* NULL: of any */
    uint32_t (*is_capturing)(void);
    uint32_t (*end)(void *device, void *window);
};

static const struct renderdoc *library(void)
{
    static struct renderdoc *api;
    void *lib = api ? NULL : dlopen("librenderdoc.so", RTLD_NOW | RTLD_NOLOAD);
    int (*get)(int version, void **out) = NULL;

    if (lib)
        *(void **)&get = dlsym(lib, "RENDERDOC_GetAPI");
    if (get && get(VERSION, (void **)&api) != 1)
        api = NULL;
    return api;
}

bool play_renderdoc_begin(void)
{
    const struct renderdoc *r = library();

    if (r)
        r->begin(NULL, NULL);
    return r;
}

void play_renderdoc_end(unsigned frame)
{
    const struct renderdoc *r = library();
    char path[4096] = "";
    uint32_t size = sizeof(path), n;

    if (!r)
        return;
    if (!r->end(NULL, NULL) || !(n = r->num_captures()) || !r->capture(n - 1, path, &size, NULL))
        printf("RenderDoc has made no capture of frame %u\n", frame);
    else
        utf8_print(stdout, "RenderDoc's capture of frame %u: %s\n", frame, path);
}
