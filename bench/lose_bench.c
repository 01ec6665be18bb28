/* SPDX-License-Identifier: MIT */
/* lose_bench: what `aerogpu lose` costs a program as long as nothing is lost.
 *
 * lose_idle: nanoseconds that the layer adds to a call of vkGetFenceStatus, by two threads that do nothing else. The program runs
 * itself with the layer and without, in turns: `lose_bench --loop` prints nanoseconds of thread CPU time a call, and of a call
 * through a pointer that reads an atomic variable, which is the reference.
 * lose_idle_gl: the same of glIsEnabled, by one thread. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <vulkan/vulkan.h>

#include "bench.h"

enum { CALLS = 2000000, ROUNDS = 9, THREADS = 2 };

static VkDevice device;
static _Atomic int variable;

static int read_variable(void)
{
    return atomic_load_explicit(&variable, memory_order_acquire);
}

struct poller {
    pthread_t thread;
    double call, reference;
};

static void *poll_fence(void *arg)
{
    struct poller *p = arg;
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    int (*volatile read)(void) = read_variable;
    VkFence fence;
    double from;

    if (vkCreateFence(device, &info, NULL, &fence))
        return NULL;
    from = bench_cpu();
    for (int i = 0; i < CALLS; i++)
        vkGetFenceStatus(device, fence);
    p->call = (bench_cpu() - from) / CALLS;
    from = bench_cpu();
    for (int i = 0; i < CALLS; i++)
        read();
    p->reference = (bench_cpu() - from) / CALLS;
    vkDestroyFence(device, fence, NULL);
    return NULL;
}

static int loop(void)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                          .pApplicationInfo = &app};
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    struct poller pollers[THREADS] = {0};
    VkPhysicalDevice physical;
    VkInstance instance;
    uint32_t n = 1;

    if (vkCreateInstance(&instance_info, NULL, &instance) ||
        vkEnumeratePhysicalDevices(instance, &n, &physical) < 0 || !n ||
        vkCreateDevice(physical, &info, NULL, &device))
        return 4;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&pollers[i].thread, NULL, poll_fence, &pollers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(pollers[i].thread, NULL);
    printf("%f %f\n", (pollers[0].call + pollers[1].call) / 2,
           (pollers[0].reference + pollers[1].reference) / 2);
    return 0;
}

static int loop_gl(void)
{
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    int (*volatile read)(void) = read_variable;
    EGLContext context;
    double from, call;

    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API))
        return 4;
    context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, NULL);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        return 4;
    from = bench_cpu();
    for (int i = 0; i < CALLS; i++)
        glIsEnabled(GL_BLEND);
    call = (bench_cpu() - from) / CALLS;
    from = bench_cpu();
    for (int i = 0; i < CALLS; i++)
        read();
    printf("%f %f\n", call, (bench_cpu() - from) / CALLS);
    return 0;
}

static bool read_loop(const char *before, const char *which, double *call, double *reference)
{
    char self[4096], command[9000];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    FILE *f;
    int got;

    self[n > 0 ? n : 0] = '\0';
    snprintf(command, sizeof(command), "%s '%s' %s 2>/dev/null", before, self, which);
    f = popen(command, "r");
    if (!f)
        return false;
    got = fscanf(f, "%lf %lf", call, reference);
    pclose(f);
    return got == 2;
}

static void measure(struct bench *b, const char *id, const char *which)
{
    double added[ROUNDS], reference[ROUNDS], with, without = 0, ignored;
    char note[160];

    if (!bench_wants(b, id))
        return;
    for (int i = 0; i < ROUNDS; i++) {
        if (!read_loop("", which, &without, &ignored)) {
            bench_not_measured(b, id, "no driver");
            return;
        }
        if (!read_loop("'" AEROGPU "' lose --at-submit 4294967295 --", which, &with, &reference[i])) {
            bench_failed(b, id, "what runs alone does not under aerogpu lose");
            return;
        }
        added[i] = with > without ? with - without : 0;
    }
    snprintf(note, sizeof(note), "against a call through a pointer; the driver's own %.1f ns", without);
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours_each = added,
                                           .reference_each = reference,
                                           .rounds = ROUNDS,
                                           .unit = "ns",
                                           .target = 3,
                                           .note = note});
}

int main(int argc, char **argv)
{
    struct bench b = {0};

    if (argc == 2 && !strcmp(argv[1], "--loop"))
        return loop();
    if (argc == 2 && !strcmp(argv[1], "--loop-gl"))
        return loop_gl();
    bench_init(&b, argc, argv);
    measure(&b, "lose_idle", "--loop");
    measure(&b, "lose_idle_gl", "--loop-gl");
    return bench_finish(&b);
}
