/* SPDX-License-Identifier: MIT */
/* play_on.c: ELF libraries that play (play_on.h). */
#include "d3d12/play/play_on.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define VKD3D_NO_WIN32_TYPES
#include <vkd3d.h>

static struct {
    __typeof__(vkd3d_create_instance) *create_instance;
    __typeof__(vkd3d_instance_get_vk_instance) *get_vk_instance;
    __typeof__(vkd3d_instance_decref) *instance_decref;
    __typeof__(vkd3d_create_device) *create_device;
    __typeof__(vkd3d_resource_incref) *incref;
    __typeof__(vkd3d_resource_decref) *decref;
    HRESULT(WINAPI *plain_create)(IUnknown *, D3D_FEATURE_LEVEL, REFIID, void **);
} lib;

/* ---- events of the player's own, for libvkd3d ----------------------------- */

/* libvkd3d 1.2's events cannot wait with a limit. */
struct own_event {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool set;
};

static HANDLE own_create(void)
{
    struct own_event *e = calloc(1, sizeof(*e));
    pthread_condattr_t attr;

    if (!e)
        return NULL;
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&e->cond, &attr);
    pthread_condattr_destroy(&attr);
    return e;
}

static void own_set(HANDLE h)
{
    struct own_event *e = h;

    pthread_mutex_lock(&e->lock);
    e->set = true;
    pthread_cond_signal(&e->cond);
    pthread_mutex_unlock(&e->lock);
}

static bool own_wait(HANDLE h, uint32_t ms)
{
    struct own_event *e = h;
    struct timespec ts;
    bool got;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    ts.tv_sec += ms / 1000;
    ts.tv_nsec += (long)(ms % 1000) * 1000000;
    if (ts.tv_nsec >= 1000000000) {
        ts.tv_nsec -= 1000000000;
        ts.tv_sec++;
    }
    pthread_mutex_lock(&e->lock);
    while (!e->set && !pthread_cond_timedwait(&e->cond, &e->lock, &ts))
        ;
    got = e->set;
    e->set = false;
    pthread_mutex_unlock(&e->lock);
    return got;
}

static HRESULT own_signal(HANDLE h)
{
    if (!h)
        return E_INVALIDARG;
    own_set(h);
    return S_OK;
}

/* ---- libvkd3d ------------------------------------------------------------ */

static void *vulkan(const char *name)
{
    void *v = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);

    return v ? dlsym(v, name) : NULL;
}

/* libvkd3d makes a pipeline when something is first drawn with it, and where the driver makes none it leaves the draw out without a
 * word. So what the driver answers is looked at on its way. */
static struct {
    PFN_vkGetInstanceProcAddr instance_proc;
    PFN_vkGetDeviceProcAddr device_proc;
    PFN_vkCreateGraphicsPipelines create;
} driver;
static _Thread_local int refused;

static VKAPI_ATTR VkResult VKAPI_CALL create_graphics(VkDevice device, VkPipelineCache cache, uint32_t n,
                                                      const VkGraphicsPipelineCreateInfo *infos,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkPipeline *pipelines)
{
    VkResult r = driver.create(device, cache, n, infos, allocator, pipelines);

    refused = r < 0 ? r : refused;
    return r;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction f = driver.device_proc(device, name);

    if (!f || strcmp(name, "vkCreateGraphicsPipelines") != 0)
        return f;
    driver.create = (PFN_vkCreateGraphicsPipelines)f; /* the same for all devices of one driver */
    return (PFN_vkVoidFunction)create_graphics;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction f = driver.instance_proc(instance, name);

    if (!f || strcmp(name, "vkGetDeviceProcAddr") != 0)
        return f;
    driver.device_proc = (PFN_vkGetDeviceProcAddr)f;
    return (PFN_vkVoidFunction)device_proc;
}

static int take_refused(void)
{
    int r = refused;

    refused = 0;
    return r;
}

/* By its number, or by a part of its name. */
static int pick_device(struct vkd3d_instance *instance, const char *want, VkPhysicalDevice *out,
                       struct error *e)
{
    PFN_vkEnumeratePhysicalDevices list =
        (PFN_vkEnumeratePhysicalDevices)vulkan("vkEnumeratePhysicalDevices");
    PFN_vkGetPhysicalDeviceProperties describe =
        (PFN_vkGetPhysicalDeviceProperties)vulkan("vkGetPhysicalDeviceProperties");
    VkPhysicalDevice devices[16];
    uint32_t n = 16;
    char *end;
    unsigned long number = strtoul(want, &end, 10);

    if (!list || !describe || list(lib.get_vk_instance(instance), &n, devices) < 0)
        return error_set(e, -ENODEV, "no Vulkan device can be asked for its name");
    for (uint32_t i = 0; i < n; i++) {
        VkPhysicalDeviceProperties p;

        describe(devices[i], &p);
        if (*end ? strcasestr(p.deviceName, want) != NULL : number == i) {
            *out = devices[i];
            return 0;
        }
    }
    return error_set(e, -ENODEV, "no Vulkan device matches '%s' (of %u devices)", want, n);
}

static HRESULT vkd3d_device(D3D_FEATURE_LEVEL level, const GUID *iid, void **out, struct error *e)
{
    const struct vkd3d_application_info application = {.type = VKD3D_STRUCTURE_TYPE_APPLICATION_INFO,
                                                       .api_version = VKD3D_API_VERSION_1_2};
    const struct vkd3d_instance_create_info info = {.type = VKD3D_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                    .next = &application,
                                                    .pfn_signal_event = own_signal,
                                                    .pfn_vkGetInstanceProcAddr =
                                                        driver.instance_proc ? instance_proc : NULL,
                                                    .wchar_size = sizeof(WCHAR)};
    struct vkd3d_device_create_info device = {.type = VKD3D_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                              .minimum_feature_level = level,
                                              .instance_create_info = &info};
    const char *want = getenv("AEROGPU_VULKAN_DEVICE");
    HRESULT hr;

    if (!want || !*want)
        return lib.create_device(&device, iid, out);
    if (!lib.create_instance || FAILED(hr = lib.create_instance(&info, &device.instance))) {
        error_set(e, -ENODEV, "no Vulkan instance in which '%s' could be looked for", want);
        return E_FAIL;
    }
    device.instance_create_info = NULL;
    hr = pick_device(device.instance, want, &device.vk_physical_device, e)
             ? E_INVALIDARG
             : lib.create_device(&device, iid, out);
    lib.instance_decref(device.instance); /* the device has it */
    return hr;
}

static ULONG incref(ID3D12Resource *r)
{
    return lib.incref ? lib.incref(r) : r->lpVtbl->AddRef(r);
}

static ULONG decref(ID3D12Resource *r)
{
    return lib.decref ? lib.decref(r) : r->lpVtbl->Release(r);
}

static const struct play_on on_vkd3d = {sizeof(wchar_t), vkd3d_device, own_create,  own_set, own_wait, free,
                                        incref,          decref,       take_refused};

/* ---- other libraries ----------------------------------------------------- */

static HRESULT plain_device(D3D_FEATURE_LEVEL level, const GUID *iid, void **out, struct error *e)
{
    return lib.plain_create(NULL, level, iid, out);
}

/* A descriptor in the handle; zero, which is no handle, is never one of them. */
static HANDLE fd_create(void)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    return fd > 0 ? (HANDLE)(intptr_t)fd : NULL;
}

static void fd_set_event(HANDLE h)
{
    const uint64_t one = 1;

    if (write((int)(intptr_t)h, &one, sizeof(one)) < 0)
        log_warn("d3d12", "an event cannot be set: %s", strerror(errno));
}

static bool fd_wait(HANDLE h, uint32_t ms)
{
    struct pollfd p = {.fd = (int)(intptr_t)h, .events = POLLIN};
    uint64_t n;

    return poll(&p, 1, (int)(ms > INT32_MAX ? INT32_MAX : ms)) == 1 && read(p.fd, &n, sizeof(n)) == sizeof(n);
}

static void fd_destroy(HANDLE h)
{
    close((int)(intptr_t)h);
}

static const struct play_on on_plain = {sizeof(wchar_t), plain_device, fd_create, fd_set_event, fd_wait,
                                        fd_destroy,      incref,       decref,    NULL};

const struct play_on *play_on_library(const char *path, struct error *e)
{
    /* this machine's own as if it were linked: a library that is loaded in front of it is taken instead */
    void *l = dlopen(path ? path : "libvkd3d.so.1", RTLD_NOW | (path ? RTLD_LOCAL : RTLD_GLOBAL));

    if (!l) {
        error_set(e, path && !access(path, F_OK) ? -EBADMSG : -ENODEV, "no Direct3D 12: %s", dlerror());
        return NULL;
    }
    l = path ? l : RTLD_DEFAULT;
    lib.create_instance = (__typeof__(lib.create_instance))dlsym(l, "vkd3d_create_instance");
    lib.get_vk_instance = (__typeof__(lib.get_vk_instance))dlsym(l, "vkd3d_instance_get_vk_instance");
    lib.instance_decref = (__typeof__(lib.instance_decref))dlsym(l, "vkd3d_instance_decref");
    lib.create_device = (__typeof__(lib.create_device))dlsym(l, "vkd3d_create_device");
    lib.incref = (__typeof__(lib.incref))dlsym(l, "vkd3d_resource_incref");
    lib.decref = (__typeof__(lib.decref))dlsym(l, "vkd3d_resource_decref");
    lib.plain_create = (__typeof__(lib.plain_create))dlsym(l, "D3D12CreateDevice");
    if (lib.create_device) {
        driver.instance_proc = (PFN_vkGetInstanceProcAddr)vulkan("vkGetInstanceProcAddr");
        return &on_vkd3d;
    }
    if (lib.plain_create) {
        if (getenv("AEROGPU_VULKAN_DEVICE"))
            setenv("VKD3D_FILTER_DEVICE_NAME", getenv("AEROGPU_VULKAN_DEVICE"),
                   0); /* vkd3d-proton's name of it */
        return &on_plain;
    }
    error_set(e, -EBADMSG, "%s is no Direct3D 12: it has no D3D12CreateDevice",
              path ? path : "libvkd3d.so.1");
    return NULL;
}
