/* SPDX-License-Identifier: MIT */
/* pending: a right program that keeps its queues waiting for itself, and one that is not.
 *
 *   pending host|fences|frames|devices|dead|empty|awaited|polled|chain DUMPS
 *
 * host: a command buffer is submitted twice, the first time for a value that the host signals when it was told of. fences: one is submitted six
 * times, of which three fences are seen before an event holds up the fourth. frames: behind what waits for an event others are submitted all the time.
 * devices: another device works meanwhile. dead: so it does while one waits for a semaphore that nobody signals.
 * empty: a submission without commands waits for the host. awaited, polled: so it does, and the program looks at the value that it signals. chain: another
 * one, with commands, waits for that. The event is set when a dump is in the folder DUMPS, at the latest after two minutes, and "done" is printed.
 */
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

struct gpu {
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkEvent event;
};

static VkPhysicalDevice physical;
static const char *dumps;

static void check(VkResult r)
{
    if (r) {
        printf("%d\n", r);
        exit(3);
    }
}

static void make_instance(void)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VkInstance instance;
    uint32_t n = 1;

    check(vkCreateInstance(&info, NULL, &instance));
    if (vkEnumeratePhysicalDevices(instance, &n, &physical) < 0)
        exit(3);
}

static struct gpu make_device(void)
{
    const float priority = 1;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, .timelineSemaphore = VK_TRUE};
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &timeline,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkEventCreateInfo event = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    struct gpu g;

    check(vkCreateDevice(physical, &info, NULL, &g.device));
    vkGetDeviceQueue(g.device, 0, 0, &g.queue);
    check(vkCreateCommandPool(g.device, &pool, NULL, &g.pool));
    check(vkCreateEvent(g.device, &event, NULL, &g.event));
    return g;
}

/* That may be pending several times. */
static VkCommandBuffer make_commands(const struct gpu *g, bool waits)
{
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = g->pool,
                                            .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    VkCommandBuffer cb;

    check(vkAllocateCommandBuffers(g->device, &allocate, &cb));
    check(vkBeginCommandBuffer(cb, &begin));
    if (waits)
        vkCmdWaitEvents(cb, 1, &g->event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 1,
                        &barrier, 0, NULL, 0, NULL);
    check(vkEndCommandBuffer(cb));
    return cb;
}

/* Without commands: waits for 1 of one, and makes 1 of another. */
static void pass_on(const struct gpu *g, VkSemaphore from, VkSemaphore to)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const uint64_t value = 1;
    VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = 1,
                                            .pWaitSemaphoreValues = &value,
                                            .signalSemaphoreValueCount = 1,
                                            .pSignalSemaphoreValues = &value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .waitSemaphoreCount = 1,
                         .pWaitSemaphores = &from,
                         .pWaitDstStageMask = &stage,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &to};

    check(vkQueueSubmit(g->queue, 1, &info, VK_NULL_HANDLE));
}

/* Waits for the semaphore, if there is one (of one with a value, to be 1); without commands, if these are NULL. */
static VkFence submit(const struct gpu *g, VkCommandBuffer cb, VkSemaphore semaphore)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const uint64_t value = 1;
    VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = semaphore != VK_NULL_HANDLE,
                                            .pWaitSemaphoreValues = &value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .waitSemaphoreCount = semaphore != VK_NULL_HANDLE,
                         .pWaitSemaphores = &semaphore,
                         .pWaitDstStageMask = &stage,
                         .commandBufferCount = cb != NULL,
                         .pCommandBuffers = &cb};
    VkFenceCreateInfo make = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;

    check(vkCreateFence(g->device, &make, NULL, &fence));
    check(vkQueueSubmit(g->queue, 1, &info, fence));
    return fence;
}

static void await(const struct gpu *g, VkFence fence)
{
    check(vkWaitForFences(g->device, 1, &fence, VK_TRUE, UINT64_MAX));
}

static bool has_dump(void)
{
    char pattern[PATH_MAX];
    glob_t found;
    bool has;

    snprintf(pattern, sizeof(pattern), "%s/*.aerogpudump", dumps);
    has = !glob(pattern, 0, NULL, &found) && found.gl_pathc;
    globfree(&found);
    return has;
}

/* On a busy machine what stands still is told of when it has been let run for long enough. */
static void await_dump(void)
{
    for (uint32_t i = 0; i < 1200 && !has_dump(); i++)
        usleep(100000);
    usleep(1500000); /* in which it would be told again */
}

/* With values. */
static VkSemaphore make_semaphore(const struct gpu *g)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkSemaphore semaphore;

    check(vkCreateSemaphore(g->device, &info, NULL, &semaphore));
    return semaphore;
}

static void host(const struct gpu *g)
{
    VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = make_semaphore(g), .value = 1};
    VkCommandBuffer cb = make_commands(g, false);
    VkFence second;

    submit(g, cb, signal.semaphore);
    second = submit(g, cb, VK_NULL_HANDLE);
    await_dump();
    check(vkSignalSemaphore(g->device, &signal));
    await(g, second);
}

/* The program has to look at what has no mark. */
static void empty(const struct gpu *g)
{
    VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = make_semaphore(g), .value = 1};
    VkFence fence = submit(g, NULL, signal.semaphore);

    for (uint32_t i = 0, behind = 0; i < 8000 && behind < 100; i++, behind += has_dump())
        if (vkWaitForFences(g->device, 1, &fence, VK_TRUE, 15000000) != VK_TIMEOUT)
            exit(4);
    check(vkSignalSemaphore(g->device, &signal));
    await(g, fence);
}

static VkResult look(const struct gpu *g, VkSemaphore semaphore, bool polls, uint64_t ns)
{
    const uint64_t one = 1;
    VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &semaphore,
                                .pValues = &one};
    uint64_t value;

    if (!polls)
        return vkWaitSemaphores(g->device, &wait, ns);
    usleep((useconds_t)(ns / 1000));
    check(vkGetSemaphoreCounterValue(g->device, semaphore, &value));
    return value ? VK_SUCCESS : VK_TIMEOUT;
}

static void values(const struct gpu *g, bool polls)
{
    VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = make_semaphore(g), .value = 1};
    VkSemaphore out = make_semaphore(g);

    pass_on(g, signal.semaphore, out);
    for (uint32_t i = 0, behind = 0; i < 8000 && behind < 100; i++, behind += has_dump())
        if (look(g, out, polls, 15000000) != VK_TIMEOUT)
            exit(4);
    check(vkSignalSemaphore(g->device, &signal));
    check(look(g, out, false, UINT64_MAX));
}

static void chain(const struct gpu *g)
{
    VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = make_semaphore(g), .value = 1};
    VkSemaphore between = make_semaphore(g);
    VkFence last;

    pass_on(g, signal.semaphore, between);
    last = submit(g, make_commands(g, false), between);
    await_dump();
    check(vkSignalSemaphore(g->device, &signal));
    await(g, last);
}

static void fences(const struct gpu *g)
{
    VkCommandBuffer cb = make_commands(g, true);
    VkFence f[6];

    check(vkSetEvent(g->device, g->event));
    for (uint32_t i = 0; i < 3; i++)
        f[i] = submit(g, cb, VK_NULL_HANDLE);
    for (uint32_t i = 0; i < 3; i++)
        await(g, f[i]);
    check(vkResetEvent(g->device, g->event));
    for (uint32_t i = 3; i < 6; i++)
        f[i] = submit(g, cb, VK_NULL_HANDLE);
    await_dump();
    check(vkSetEvent(g->device, g->event));
    await(g, f[5]);
}

/* `worker` works while `g` waits. */
static void work(const struct gpu *g, const struct gpu *worker)
{
    VkFence waits = submit(g, make_commands(g, true), VK_NULL_HANDLE), last = VK_NULL_HANDLE;
    VkCommandBuffer cb = make_commands(worker, false);

    for (uint32_t i = 0, behind = 0; i < 8000 && behind < 100; i++, behind += has_dump()) {
        last = submit(worker, cb, VK_NULL_HANDLE);
        if (worker != g)
            await(worker, last);
        usleep(15000);
    }
    check(vkSetEvent(g->device, g->event));
    await(g, waits);
    await(worker, last);
}

/* The driver may wait in the call. */
static void *wait_for_nobody(void *arg)
{
    const struct gpu *g = arg;
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore;

    check(vkCreateSemaphore(g->device, &info, NULL, &semaphore));
    submit(g, make_commands(g, false), semaphore);
    return NULL;
}

static void dead(struct gpu *g, const struct gpu *worker)
{
    VkCommandBuffer cb = make_commands(worker, false);
    pthread_t thread;

    pthread_create(&thread, NULL, wait_for_nobody, g);
    for (uint32_t i = 0, behind = 0; i < 8000 && behind < 100; i++, behind += has_dump()) {
        await(worker, submit(worker, cb, VK_NULL_HANDLE));
        usleep(15000);
    }
    puts("done");
    fflush(stdout);
    _exit(0); /* nobody comes back from there */
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct gpu g, other;

    dumps = argc > 2 ? argv[2] : ".";
    make_instance();
    g = make_device();
    if (!strcmp(what, "host")) {
        host(&g);
    } else if (!strcmp(what, "empty")) {
        empty(&g);
    } else if (!strcmp(what, "awaited") || !strcmp(what, "polled")) {
        values(&g, !strcmp(what, "polled"));
    } else if (!strcmp(what, "chain")) {
        chain(&g);
    } else if (!strcmp(what, "fences")) {
        fences(&g);
    } else if (!strcmp(what, "frames")) {
        work(&g, &g);
    } else if (!strcmp(what, "devices")) {
        other = make_device();
        work(&g, &other);
    } else if (!strcmp(what, "dead")) {
        other = make_device();
        dead(&g, &other);
    } else {
        return 99;
    }
    puts("done");
    return 0;
}
