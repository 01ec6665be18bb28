/* SPDX-License-Identifier: MIT */
/* A Vulkan program for the test of `aerogpu lose`: it submits and waits, over and over, and reacts to a lost device in the way that
 * its argument names. A second argument is a number of submissions after which it ends.
 *
 *   recover   makes a new device               exit, abort, _exit   ends
 *   ignore    goes on with the lost one        pause                does nothing
 *   probe     asks with a device of its own before it makes the new one
 *   spare     takes the device that it had made, and used once, at the start
 *   watchdog  does not wait longer than 300 ms for anything; `watchdog-pause`: and does nothing then; `watchdog-late`: asks once
 *             more, 1.6 s later, and does nothing then
 *   pending   at the loss, work of it waits for a semaphore that it never signals
 *   slow      recovers, and submits five times a second; `slower`: that from the tenth time on
 *   end-abort destroys everything, and aborts
 *   once      recovers, submits once, and waits for events; `once-pause`: and does nothing; `once-sleeps`, `once-waits`:
 *             for a minute, in a condition of its own; `once-waits-on`: for a century
 *   idle      goes on without Vulkan
 *   new       makes a new device for each submission; `crawl`: recovers, and submits every 0.3 s
 *   empty     recovers, and submits nothing to run any more
 *   both      recovers, and submits twenty times to the lost device for each time to the new one
 *   beside    does nothing, while another process of it makes a device and works
 *   neighbour does nothing, while another thread works with a device that it had before
 *   blue      recovers; the X server's root window is blue all the time; `blue-red`: red on the new device; `blue-late`: a second later
 *   moves     recovers; a yellow box goes over blue; `moves-still`: until the loss, and then nothing is drawn any more
 *   respawn   ends, and leaves a process behind that begins anew a while later
 *   many      makes 300 devices before the one that it works on
 *   leak      recovers, keeps the lost device and a descriptor, and takes 1 MiB
 *   daemon    recovers, and has left a process in a session of its own, with its number in the file LOSE_DAEMON
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

static VkInstance instance;
static VkPhysicalDevice physical;

static atomic_bool goes_on; /* since the loss, if somebody waits for that */

struct gpu {
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkSemaphore timeline, never;
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
    g->never = VK_NULL_HANDLE;
    return VK_SUCCESS;
}

static void destroy(struct gpu *g)
{
    vkDestroySemaphore(g->device, g->never, NULL);
    vkDestroySemaphore(g->device, g->timeline, NULL);
    vkDestroyFence(g->device, g->fence, NULL);
    vkDestroyCommandPool(g->device, g->pool, NULL);
    vkDestroyDevice(g->device, NULL);
}

/* One submission that nobody waits for. */
static VkResult submit(struct gpu *g)
{
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};

    return vkQueueSubmit(g->queue, 1, &info, VK_NULL_HANDLE);
}

/* One submission, and a wait for it by a fence, a timeline semaphore, or the whole device, in turn. */
static VkResult work(struct gpu *g, uint64_t patience)
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
    bool fenced = next % 3 == 0 || patience != UINT64_MAX;
    VkResult r = vkQueueSubmit(g->queue, 1, &info, fenced ? g->fence : VK_NULL_HANDLE);

    if (r)
        return r;
    g->value = next;
    r = fenced          ? vkWaitForFences(g->device, 1, &g->fence, VK_TRUE, patience)
        : next % 3 == 1 ? vkWaitSemaphores(g->device, &wait, patience)
                        : vkDeviceWaitIdle(g->device);
    if (!r && fenced)
        r = vkResetFences(g->device, 1, &g->fence);
    return r;
}

/* X11's protocol, little-endian: fills a part of the root window. */
static void fill(uint32_t color, uint32_t at_x, uint32_t size)
{
    static int x = -1;
    static uint32_t root, gc;
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    if (x < 0) {
        uint32_t hello[3] = {0x0b006c, 0, 0};
        uint8_t reply[65536];
        uint32_t make[5] = {5 << 16 | 55};
        size_t n = 0, want = 8;

        hello[0] = 'l' | 11 << 16;
        x = socket(AF_UNIX, SOCK_STREAM, 0);
        snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/.X11-unix/X%s", getenv("DISPLAY") + 1);
        if (connect(x, (struct sockaddr *)&at, sizeof(at)) || write(x, hello, sizeof(hello)) != sizeof(hello))
            exit(8);
        while (n < want) {
            ssize_t got = read(x, reply + n, want - n);
            if (got <= 0)
                exit(8);
            n += (size_t)got;
            want = 8 + 4u * (reply[6] | reply[7] << 8);
        }
        memcpy(&root, reply + 40 + ((reply[24] + 3u) & ~3u) + 8u * reply[29], 4);
        memcpy(&gc, reply + 12, 4);
        make[1] = gc;
        make[2] = root;
        make[3] = 4; /* the foreground */
        make[4] = color;
        if (write(x, make, sizeof(make)) != sizeof(make))
            exit(8);
    }
    /* And a question: what it is answered, it has painted. */
    uint32_t paint[10] = {4 << 16 | 56,      gc,          4, color, 5 << 16 | 70, root, gc, at_x,
                          size << 16 | size, 1 << 16 | 43};
    uint8_t focus[32];
    if (write(x, paint, sizeof(paint)) != sizeof(paint) ||
        recv(x, focus, sizeof(focus), MSG_WAITALL) != sizeof(focus))
        exit(8);
}

static void leave_daemon(void)
{
    pid_t pid = fork(), left;
    FILE *f;

    if (pid) {
        waitpid(pid, NULL, 0);
        return;
    }
    setsid();
    left = fork();
    while (!left)
        pause();
    f = fopen(getenv("LOSE_DAEMON"), "w");
    fprintf(f, "%d\n", (int)left);
    fclose(f);
    _exit(0);
}

/* Work that waits for what nobody will signal. */
static void leave_pending(struct gpu *g)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    uint64_t value = 1;
    VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = 1,
                                            .pWaitSemaphoreValues = &value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .waitSemaphoreCount = 1,
                         .pWaitDstStageMask = &stage};

    must(vkCreateSemaphore(g->device, &semaphore, NULL, &g->never), "semaphore");
    info.pWaitSemaphores = &g->never;
    must(vkQueueSubmit(g->queue, 1, &info, VK_NULL_HANDLE), "pending");
}

/* What the driver's own answers come through the layer for. */
static void ask(void)
{
    VkPhysicalDeviceMemoryProperties2 memory = {.sType =
                                                    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    VkImageFormatProperties image;
    uint32_t n = 0;

    vkGetPhysicalDeviceMemoryProperties2(physical, &memory);
    must(vkGetPhysicalDeviceImageFormatProperties(physical, VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D,
                                                  VK_IMAGE_TILING_OPTIMAL, VK_IMAGE_USAGE_SAMPLED_BIT, 0,
                                                  &image),
         "format");
    must(vkEnumerateDeviceExtensionProperties(physical, NULL, &n, NULL), "extensions");
    if (!memory.memoryProperties.memoryHeapCount || !n)
        exit(7);
}

/* What `how` does about it; returns if there is something to work on again. */
static void react(const char *how, struct gpu *g, const struct gpu *spare)
{
    struct gpu probe;

    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "exit"))
        exit(3);
    if (!strcmp(how, "watchdog-exit"))
        exit(8);
    if (!strcmp(how, "_exit"))
        _exit(3);
    if (!strcmp(how, "beside") && !fork())
        execl("/proc/self/exe", "lose_client", "recover", NULL);
    if (!strcmp(how, "respawn") && fork())
        exit(0);
    if (!strcmp(how, "respawn")) {
        usleep(1600000);
        execl("/proc/self/exe", "lose_client", "recover", NULL);
    }
    for (int i = 0; !strcmp(how, "many") && i < 300; i++) {
        must(make(&probe), "device");
        destroy(&probe);
    }
    if (!strcmp(how, "watchdog-late")) {
        usleep(1600000);
        vkDeviceWaitIdle(g->device);
    }
    goes_on = true;
    while (!strcmp(how, "neighbour") || !strcmp(how, "pause") || !strncmp(how, "watchdog-", 9) ||
           !strcmp(how, "beside"))
        pause();
    while (!strcmp(how, "idle"))
        usleep(10000);
    if (!strcmp(how, "ignore")) {
        usleep(1000);
        return;
    }
    if (!strcmp(how, "leak-child") && !fork())
        for (;;)
            pause();
    if (!strcmp(how, "leak")) {
        memset(malloc(1 << 20), dup(1), 1 << 20);
        must(make(g), "device");
        return;
    }
    while (!strcmp(how, "new")) {
        destroy(g);
        must(make(g), "device");
        must(work(g, UINT64_MAX), "work");
        usleep(50000);
    }
    if (!strcmp(how, "both")) {
        probe = *g;
        must(make(g), "device");
        while (true) {
            must(work(g, UINT64_MAX), "work");
            for (int i = 0; i < 20; i++)
                submit(&probe);
        }
    }
    destroy(g); /* without another wait: a lost device's work is over */
    if (!strcmp(how, "probe")) {
        must(make(&probe), "probe");
        must(work(&probe, UINT64_MAX), "probe's work");
        destroy(&probe);
    }
    if (!strcmp(how, "spare")) {
        *g = *spare;
        return;
    }
    if (!strcmp(how, "end-abort")) {
        vkDestroyInstance(instance, NULL);
        abort();
    }
    while (make(g))
        usleep(10000);
}

static void wait_for_nobody(time_t seconds)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    pthread_mutex_lock(&mutex);
    while (!pthread_cond_timedwait(&cond, &mutex, &until))
        continue;
}

/* After each submission. */
static void rest(const char *how, bool lost)
{
    static uint32_t since, at;

    since += lost;
    if (!strncmp(how, "blue", 4))
        fill(since > (strcmp(how, "blue-red") ? strcmp(how, "blue-late") ? UINT32_MAX : 50 : 0) ? 0xff0000
                                                                                                : 0x0000ff,
             0, 2000);
    if (!strcmp(how, "blue-late"))
        usleep(20000);
    if (!strncmp(how, "moves", 5) && (!lost || strcmp(how, "moves-still"))) {
        fill(0x0000ff, 0, 2000);
        fill(0xffff00, at++ % 48, 16);
    }
    if (!strncmp(how, "moves", 5))
        usleep(20000);
    if (!strcmp(how, "slow") || (!strcmp(how, "slower") && ++at > 9))
        usleep(200000);
    if (lost && !strcmp(how, "crawl"))
        usleep(400000);
    while (lost && !strcmp(how, "once"))
        poll(NULL, 0, -1);
    if (lost && !strcmp(how, "once-sleeps"))
        usleep(60000000);
    if (lost && !strcmp(how, "once-waits"))
        wait_for_nobody(60);
    if (lost && !strcmp(how, "once-waits-on"))
        wait_for_nobody(100L * 365 * 24 * 3600);
    while (lost && !strcmp(how, "once-pause"))
        pause();
}

/* Works before the loss, and behind it. */
static void *work_beside(void *device)
{
    while (true) {
        must(work(device, UINT64_MAX), "work beside");
        while (((struct gpu *)device)->value == 10 && !goes_on)
            usleep(1000);
        usleep(goes_on ? 2000 : 0);
    }
    return NULL;
}

static void start_neighbour(struct gpu *g)
{
    pthread_t thread;

    must(make(g), "neighbour");
    if (pthread_create(&thread, NULL, work_beside, g))
        exit(9);
    while (((volatile struct gpu *)g)->value < 10)
        usleep(1000);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "recover";
    unsigned long limit = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    uint32_t n = 1;
    uint64_t patience = strncmp(how, "watchdog", 8) ? UINT64_MAX : 300000000;
    bool lost = false;
    struct gpu g, spare;

    puts("lose_client: hello"); /* a program has an output of its own */
    fflush(stdout);
    if (!strcmp(how, "nothing"))
        return 0;
    if (!strcmp(how, "daemon"))
        leave_daemon();
    must(vkCreateInstance(&info, NULL, &instance), "instance");
    if (vkEnumeratePhysicalDevices(instance, &n, &physical) < 0 || !n)
        return 9;
    ask();
    must(make(&g), "device");
    if (!strcmp(how, "neighbour"))
        start_neighbour(&spare);
    if (!strcmp(how, "spare")) {
        must(make(&spare), "spare");
        must(work(&spare, UINT64_MAX), "spare's work");
    }
    for (unsigned long i = 0; !limit || i < limit; i++) {
        VkResult r;

        if (!strcmp(how, "pending") && !lost && i == 15)
            leave_pending(&g);
        r = lost && !strcmp(how, "empty")    ? usleep(10000), submit(&g)
            : strcmp(how, "pending") || lost ? work(&g, patience)
                                             : submit(&g);
        if (r == VK_ERROR_DEVICE_LOST || r == VK_TIMEOUT) {
            react(how, &g, &spare);
            lost = true;
        } else {
            must(r, "work");
            rest(how, lost);
        }
    }
    destroy(&g);
    vkDestroyInstance(instance, NULL);
    return 0;
}
