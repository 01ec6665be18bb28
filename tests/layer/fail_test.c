/* SPDX-License-Identifier: MIT */
/* An instance that a layer has no memory for is not made at the next layer either, and an environment is whole or none. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fail.h"
#include "layer/env.h"
#include "layer/layer.h"

static struct next { /* what a dispatchable handle points to begins with the loader's table */
    void *table;
    unsigned made;
} next = {.table = &next};

static VKAPI_ATTR VkResult VKAPI_CALL create(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *a,
                                             VkInstance *out)
{
    next.made++;
    *out = (VkInstance)&next;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy(VkInstance i, const VkAllocationCallbacks *a)
{
    next.made--;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get(VkInstance i, const char *name)
{
    return !strcmp(name, "vkCreateInstance")    ? (PFN_vkVoidFunction)create
           : !strcmp(name, "vkDestroyInstance") ? (PFN_vkVoidFunction)destroy
                                                : NULL;
}

static int make_an_instance(void *ctx)
{
    static struct layer_table table = LAYER_TABLE;
    VkLayerInstanceLink before = {.pfnNextGetInstanceProcAddr = get};
    VkLayerInstanceCreateInfo link = {.sType = VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
                                      .function = VK_LAYER_LINK_INFO,
                                      .u.pLayerInfo = &before};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pNext = &link};
    VkInstance i = VK_NULL_HANDLE;
    VkResult r = layer_create_instance(&table, &info, &info, NULL, &i);

    assert_int_equal(next.made, r == VK_SUCCESS);
    layer_destroy_instance(&table, i, NULL);
    assert_int_equal(next.made, 0);
    assert_true(r == VK_SUCCESS || r == VK_ERROR_OUT_OF_HOST_MEMORY);
    return r == VK_SUCCESS ? 0 : -ENOMEM;
}

static int make_an_environment(void *ctx)
{
    const char *const values[] = {"A=1", NULL};
    char **env = layer_env_make(&(struct layer_env){.layer = "L", .folder = "/f", .values = values});
    bool found = false;

    for (char **at = env; at && *at; at++)
        found |= !strcmp(*at, "A=1");
    assert_int_equal(found, env != NULL);
    free(env);
    return env ? 0 : -ENOMEM;
}

TEST(without_memory_nothing_is_half_made)
{
    assert_int_equal(alloc_fail_each(make_an_instance, NULL), 1);
    assert_int_equal(alloc_fail_each(make_an_environment, NULL), 1);
}
