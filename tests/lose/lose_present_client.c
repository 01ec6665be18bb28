/* SPDX-License-Identifier: MIT */
/* A program that shows frames of Vulkan in a window and asks of each swapchain how it went (VkPresentInfoKHR::pResults); makes a new device
 * when it is told. Whoever is told one thing by vkQueuePresentKHR and another by pResults ends with exit code 7.
 */
#define VK_USE_PLATFORM_XCB_KHR
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <vulkan/vulkan.h>
#include <xcb/xcb.h>

enum { UNWRITTEN = 12345 };

static VkInstance instance;
static VkPhysicalDevice physical;
static VkSurfaceKHR surface;

struct gpu {
    VkDevice device;
    VkQueue queue;
    VkSwapchainKHR chain;
    VkImage image[8];
    VkSemaphore ready, drawn;
    VkFence fence;
    VkCommandPool pool;
    VkCommandBuffer commands[8];
};

static void must(VkResult r, const char *what)
{
    if (r >= 0)
        return;
    fprintf(stderr, "lose_present_client: %s: %d\n", what, r);
    exit(9);
}

static void open_window(void)
{
    const char *const extensions[] = {VK_KHR_SURFACE_EXTENSION_NAME, VK_KHR_XCB_SURFACE_EXTENSION_NAME};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .enabledExtensionCount = 2,
                                 .ppEnabledExtensionNames = extensions};
    VkXcbSurfaceCreateInfoKHR create = {.sType = VK_STRUCTURE_TYPE_XCB_SURFACE_CREATE_INFO_KHR,
                                        .connection = xcb_connect(NULL, NULL)};
    const xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(create.connection)).data;
    uint32_t n = 1;

    create.window = xcb_generate_id(create.connection);
    xcb_create_window(create.connection, XCB_COPY_FROM_PARENT, create.window, screen->root, 0, 0, 32, 32, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, 0, NULL);
    xcb_map_window(create.connection, create.window);
    xcb_flush(create.connection);
    must(vkCreateInstance(&info, NULL, &instance), "instance");
    must(vkEnumeratePhysicalDevices(instance, &n, &physical), "devices");
    must(vkCreateXcbSurfaceKHR(instance, &create, NULL, &surface), "surface");
}

/* What is shown is what there was: only the layout changes. */
static void record(struct gpu *g, uint32_t i)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                    .newLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                                    .image = g->image[i],
                                    .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};

    must(vkBeginCommandBuffer(g->commands[i], &begin), "begin");
    vkCmdPipelineBarrier(g->commands[i], VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                         VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
    must(vkEndCommandBuffer(g->commands[i]), "end");
}

static void make_chain(struct gpu *g)
{
    VkSurfaceCapabilitiesKHR can;
    VkSurfaceFormatKHR format;
    uint32_t n = 1, images = 8;
    VkBool32 shows;

    must(vkGetPhysicalDeviceSurfaceSupportKHR(physical, 0, surface, &shows), "support");
    must(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical, surface, &can), "capabilities");
    must(vkGetPhysicalDeviceSurfaceFormatsKHR(physical, surface, &n, &format), "formats");
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                     .surface = surface,
                                     .minImageCount = can.minImageCount,
                                     .imageFormat = format.format,
                                     .imageColorSpace = format.colorSpace,
                                     .imageExtent = can.currentExtent,
                                     .imageArrayLayers = 1,
                                     .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
                                     .preTransform = can.currentTransform,
                                     .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                     .presentMode = VK_PRESENT_MODE_FIFO_KHR};
    must(vkCreateSwapchainKHR(g->device, &info, NULL, &g->chain), "swapchain");
    must(vkGetSwapchainImagesKHR(g->device, g->chain, &images, g->image), "images");
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = g->pool,
                                            .commandBufferCount = images};
    must(vkAllocateCommandBuffers(g->device, &commands, g->commands), "commands");
    for (uint32_t i = 0; i < images; i++)
        record(g, i);
}

static void make(struct gpu *g)
{
    const char *const extensions[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    float one = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &one};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = 1,
                               .ppEnabledExtensionNames = extensions};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};

    must(vkCreateDevice(physical, &info, NULL, &g->device), "device");
    vkGetDeviceQueue(g->device, 0, 0, &g->queue);
    must(vkCreateSemaphore(g->device, &semaphore, NULL, &g->ready), "semaphore");
    must(vkCreateSemaphore(g->device, &semaphore, NULL, &g->drawn), "semaphore");
    must(vkCreateFence(g->device, &fence, NULL, &g->fence), "fence");
    must(vkCreateCommandPool(g->device, &pool, NULL, &g->pool), "pool");
    make_chain(g);
}

static void destroy(struct gpu *g)
{
    vkDestroyCommandPool(g->device, g->pool, NULL);
    vkDestroyFence(g->device, g->fence, NULL);
    vkDestroySemaphore(g->device, g->drawn, NULL);
    vkDestroySemaphore(g->device, g->ready, NULL);
    vkDestroySwapchainKHR(g->device, g->chain, NULL);
    vkDestroyDevice(g->device, NULL);
}

static VkResult show(struct gpu *g)
{
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkResult one = UNWRITTEN, r;
    uint32_t i = 0;

    r = vkAcquireNextImageKHR(g->device, g->chain, UINT64_MAX, g->ready, VK_NULL_HANDLE, &i);
    if (r < 0)
        return r;
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .waitSemaphoreCount = 1,
                           .pWaitSemaphores = &g->ready,
                           .pWaitDstStageMask = &stage,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &g->commands[i],
                           .signalSemaphoreCount = 1,
                           .pSignalSemaphores = &g->drawn};
    VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                .waitSemaphoreCount = 1,
                                .pWaitSemaphores = &g->drawn,
                                .swapchainCount = 1,
                                .pSwapchains = &g->chain,
                                .pImageIndices = &i,
                                .pResults = &one};
    r = vkQueueSubmit(g->queue, 1, &submit, g->fence);
    if (r < 0)
        return r;
    r = vkQueuePresentKHR(g->queue, &present);
    if (one != r) {
        fprintf(stderr, "lose_present_client: vkQueuePresentKHR says %d, pResults %d\n", r, one);
        exit(7);
    }
    if (r >= 0)
        r = vkWaitForFences(g->device, 1, &g->fence, VK_TRUE, UINT64_MAX);
    return r < 0 ? r : vkResetFences(g->device, 1, &g->fence);
}

int main(void)
{
    struct gpu g;

    open_window();
    make(&g);
    while (true) {
        VkResult r = show(&g);

        if (r != VK_ERROR_DEVICE_LOST) {
            must(r, "frame");
            continue;
        }
        destroy(&g);
        make(&g);
    }
}
