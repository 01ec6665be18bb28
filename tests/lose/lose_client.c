/* SPDX-License-Identifier: MIT */
/* A Vulkan program for the test of `aerogpu lose`: it submits and waits, over and over, and reacts to a lost device in the way that
 * its argument names. A second argument is a number of submissions after which it ends. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

static VkInstance instance;
static VkPhysicalDevice physical;

struct gpu {
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkSemaphore timeline;
    uint64_t value;
};

static void must(VkResult r, const char *what)
{
    if (r == VK_SUCCESS)
        return;
    fprintf(stderr, "lose_client: %s: %d\n", what, r);
    exit(9);
}

static VkResult make(struct gpu *g)
{
    float one = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &one};
    VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, .timelineSemaphore = VK_TRUE};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &timelines,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkResult r = vkCreateDevice(physical, &info, NULL, &g->device);

    if (r)
        return r;
    vkGetDeviceQueue(g->device, 0, 0, &g->queue);
    must(vkCreateCommandPool(g->device, &pool, NULL, &g->pool), "pool");
    commands.commandPool = g->pool;
    must(vkAllocateCommandBuffers(g->device, &commands, &g->commands), "commands");
    must(vkBeginCommandBuffer(g->commands, &begin), "begin");
    must(vkEndCommandBuffer(g->commands), "end");
    must(vkCreateFence(g->device, &fence, NULL, &g->fence), "fence");
    must(vkCreateSemaphore(g->device, &semaphore, NULL, &g->timeline), "semaphore");
    g->value = 0;
    return VK_SUCCESS;
}

static void destroy(struct gpu *g)
{
    vkDestroySemaphore(g->device, g->timeline, NULL);
    vkDestroyFence(g->device, g->fence, NULL);
    vkDestroyCommandPool(g->device, g->pool, NULL);
    vkDestroyDevice(g->device, NULL);
}

/* One submission, and a wait for it by a fence, a timeline semaphore, or the whole device, in turn. */
static VkResult work(struct gpu *g)
{
    uint64_t next = g->value + 1;
    VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .signalSemaphoreValueCount = 1,
                                            .pSignalSemaphoreValues = &next};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &g->commands,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &g->timeline};
    VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &g->timeline,
                                .pValues = &next};
    bool fenced = next % 3 == 0;
    VkResult r = vkQueueSubmit(g->queue, 1, &info, fenced ? g->fence : VK_NULL_HANDLE);

    if (r)
        return r;
    g->value = next;
    r = fenced          ? vkWaitForFences(g->device, 1, &g->fence, VK_TRUE, UINT64_MAX)
        : next % 3 == 1 ? vkWaitSemaphores(g->device, &wait, UINT64_MAX)
                        : vkDeviceWaitIdle(g->device);
    if (!r && fenced)
        r = vkResetFences(g->device, 1, &g->fence);
    return r;
}

/* What `how` does about it; returns if there is something to work on again. */
static void react(const char *how, struct gpu *g)
{
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "exit"))
        exit(3);
    while (!strcmp(how, "pause"))
        pause();
    if (!strcmp(how, "ignore")) {
        usleep(1000);
        return;
    }
    destroy(g); /* without another wait: a lost device's work is over */
    while (make(g))
        usleep(10000);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "recover";
    unsigned long limit = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    uint32_t n = 1;
    struct gpu g;

    if (!strcmp(how, "nothing"))
        return 0;
    must(vkCreateInstance(&info, NULL, &instance), "instance");
    if (vkEnumeratePhysicalDevices(instance, &n, &physical) < 0 || !n)
        return 9;
    must(make(&g), "device");
    for (unsigned long i = 0; !limit || i < limit; i++) {
        VkResult r = work(&g);
        if (r == VK_ERROR_DEVICE_LOST)
            react(how, &g);
        else
            must(r, "work");
    }
    destroy(&g);
    vkDestroyInstance(instance, NULL);
    return 0;
}
