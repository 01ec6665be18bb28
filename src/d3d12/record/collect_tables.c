/* SPDX-License-Identifier: MIT */
#include "d3d12/record/collect_tables.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "d3d12/gen/table.h"
#include "d3d12_api.h"
#include "record/trace_file.h"

static bool binds_tables(const char *path)
{
    struct trc_call c = {0};
    bool found = false;
    struct trc *t;

    if (trc_open(&t, &d12_api, path, NULL))
        return false;
    while (!found && trc_next(t, &c, NULL) > 0)
        found = c.method == D12_ID3D12GraphicsCommandList_SetGraphicsRootDescriptorTable;
    trc_close(t);
    return found;
}

static bool has(const VkExtensionProperties *e, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(e[i].extensionName, name))
            return true;
    return false;
}

/* Whether the loader's first device is there and lacks the extension. */
static bool first_lacks(PFN_vkGetInstanceProcAddr get, const char *extension, char *device, size_t size)
{
    const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                   .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &app};
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    VkPhysicalDeviceProperties p;
    VkPhysicalDevice first;
    VkInstance instance;
    uint32_t one = 1, n = 0;
    VkExtensionProperties *e = NULL;
    bool lacks = false;

    if (!create || create(&info, NULL, &instance))
        return false;
#define GET(name) ((PFN_vk##name)get(instance, "vk" #name))
    if (GET(EnumeratePhysicalDevices)(instance, &one, &first) >= 0 && one &&
        !GET(EnumerateDeviceExtensionProperties)(first, NULL, &n, NULL) && (e = calloc(n + 1, sizeof(*e))) &&
        !GET(EnumerateDeviceExtensionProperties)(first, NULL, &n, e)) {
        lacks = !has(e, n, extension);
        GET(GetPhysicalDeviceProperties)(first, &p);
        snprintf(device, size, "%s", p.deviceName);
    }
    GET(DestroyInstance)(instance, NULL);
#undef GET
    free(e);
    return lacks;
}

bool tables_are_not_bound(const char *recording, char *device, size_t size)
{
    void *v = binds_tables(recording) ? dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    PFN_vkGetInstanceProcAddr get = NULL;

    if (v)
        *(void **)&get = dlsym(v, "vkGetInstanceProcAddr");
    return get && first_lacks(get, VK_EXT_DESCRIPTOR_INDEXING_EXTENSION_NAME, device, size);
}
