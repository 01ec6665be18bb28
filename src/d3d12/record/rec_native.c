/* SPDX-License-Identifier: MIT */
/* rec_native.c: the entry points that the recorder takes over on Linux.
 *
 * The library is loaded in front of libvkd3d and libvulkan, so that its exports are found first; each forwards to the
 * next one. Threads that are started from inside a forwarded call are the implementation's own.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/export.h"
#include "d3d12/record/rec_values.h"
#include "d3d12/record/rec_hooks.h"
#include "d3d12/record/rec_present.h"
#include "d3d12/gen/table.h"

#define VKD3D_NO_WIN32_TYPES
#include <vkd3d.h>

#define NEXT(name) ((__typeof__(name) *)next(#name, &next_##name))

static void *next_D3D12CreateDeviceVKD3D, *next_D3D12CreateDevice, *next_vkd3d_create_device,
    *next_vkd3d_create_image_resource, *next_vkd3d_resource_incref, *next_vkd3d_resource_decref,
    *next_vkd3d_acquire_vk_queue, *next_vkd3d_create_event, *next_vkd3d_destroy_event,
    *next_vkd3d_signal_event, *next_vkd3d_wait_event, *next_pthread_create, *next_vkd3d_get_vk_device;

static void *next(const char *name, void **cache)
{
    static const char *const libraries[] = {"libvkd3d.so.1", "libvkd3d-utils.so.1"};
    void *p = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

    if (!p) {
        p = dlsym(RTLD_NEXT, name);
        for (size_t i = 0; !p && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
            /* loaded for one part of the program alone */
            void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

            p = library ? dlsym(library, name) : NULL;
        }
        if (!p) {
            log_error("d3d12", "the program's libraries have no %s", name);
            abort();
        }
        __atomic_store_n(cache, p, __ATOMIC_RELEASE);
    }
    return p;
}

__attribute__((constructor)) static void loaded(void)
{
    if (!rec_start(&d12_api))
        log_info("d3d12", "recording");
}

/* ---- devices ------------------------------------------------------------- */

EXPORT HRESULT WINAPI D3D12CreateDeviceVKD3D(IUnknown *adapter, D3D_FEATURE_LEVEL level, REFIID iid,
                                             void **device, enum vkd3d_api_version version);
EXPORT HRESULT WINAPI D3D12CreateDevice(IUnknown *adapter, D3D_FEATURE_LEVEL level, REFIID iid,
                                        void **device);

static void begin_device(struct rec_thread *t, UINT level, UINT version, REFIID iid)
{
    struct enc *e = &t->enc;

    rec_begin(t, NULL, D12_Native_CreateDevice, REC_MODE_LATE);
    enc_u32(e, level);
    enc_u32(e, version);
    enc_iid(e, iid);
    rec_args_done(t, D12_Native_CreateDevice, REC_ANSWER);
}

static void end_device(struct rec_thread *t, HRESULT hr, REFIID iid, void **device)
{
    rec_result(t, REC_MODE_LATE);
    enc_hresult(&t->enc, hr);
    enc_new_object(&t->enc, device ? *device : NULL, iid, D12_IFACE_ID3D12Device, SUCCEEDED(hr));
    rec_result_done(t);
}

EXPORT HRESULT WINAPI D3D12CreateDeviceVKD3D(IUnknown *adapter, D3D_FEATURE_LEVEL level, REFIID iid,
                                             void **device, enum vkd3d_api_version version)
{
    struct rec_thread *t = rec_enter();
    HRESULT hr;

    if (!t)
        return NEXT(D3D12CreateDeviceVKD3D)(adapter, level, iid, device, version);
    begin_device(t, level, version, iid);
    t->depth++;
    hr = NEXT(D3D12CreateDeviceVKD3D)(adapter, level, iid, device, version);
    t->depth--;
    end_device(t, hr, iid, device);
    return hr;
}

EXPORT HRESULT WINAPI D3D12CreateDevice(IUnknown *adapter, D3D_FEATURE_LEVEL level, REFIID iid, void **device)
{
    struct rec_thread *t = rec_enter();
    HRESULT hr;

    if (!t)
        return NEXT(D3D12CreateDevice)(adapter, level, iid, device);
    begin_device(t, level, VKD3D_API_VERSION_1_0, iid);
    t->depth++;
    hr = NEXT(D3D12CreateDevice)(adapter, level, iid, device);
    t->depth--;
    end_device(t, hr, iid, device);
    return hr;
}

EXPORT HRESULT vkd3d_create_device(const struct vkd3d_device_create_info *info, REFIID iid, void **device)
{
    struct rec_thread *t = rec_enter();
    HRESULT hr;

    if (!t)
        return NEXT(vkd3d_create_device)(info, iid, device);
    begin_device(t, info ? info->minimum_feature_level : 0, VKD3D_API_VERSION_1_2, iid);
    t->depth++;
    hr = NEXT(vkd3d_create_device)(info, iid, device);
    t->depth--;
    end_device(t, hr, iid, device);
    return hr;
}

/* ---- back buffers -------------------------------------------------------- */

EXPORT HRESULT vkd3d_create_image_resource(ID3D12Device *device,
                                           const struct vkd3d_image_resource_create_info *info,
                                           ID3D12Resource **resource)
{
    struct rec_thread *t = rec_enter();
    uint64_t chain = 0;
    uint32_t index = 0;
    struct enc *e;
    HRESULT hr;

    if (!t)
        return NEXT(vkd3d_create_image_resource)(device, info, resource);
    e = &t->enc;
    present_image_find(info->vk_image, &chain, &index);
    rec_begin(t, NULL, D12_Native_CreateImageResource, REC_MODE_LATE);
    enc_object(e, device);
    enc_u8(e, 1);
    enc_resource_desc(e, &info->desc);
    enc_u32(e, info->flags);
    enc_u32(e, info->present_state);
    enc_u64(e, chain);
    enc_u32(e, index);
    rec_args_done(t, D12_Native_CreateImageResource, REC_ANSWER);
    t->depth++;
    hr = NEXT(vkd3d_create_image_resource)(device, info, resource);
    if (SUCCEEDED(hr))
        present_image_bind(info->vk_image, NEXT(vkd3d_get_vk_device)(device), *resource);
    t->depth--;
    rec_result(t, REC_MODE_LATE);
    enc_hresult(e, hr);
    enc_new_object(e, *resource, NULL, D12_IFACE_ID3D12Resource, SUCCEEDED(hr));
    rec_result_done(t);
    return hr;
}

static ULONG resource_ref(struct rec_thread *t, uint32_t method, ULONG (*fn)(ID3D12Resource *),
                          ID3D12Resource *r)
{
    ULONG n;

    rec_begin(t, NULL, method, REC_MODE_LATE);
    enc_object(&t->enc, r);
    rec_args_done(t, method, REC_ANSWER);
    t->depth++;
    n = fn(r);
    t->depth--;
    rec_result(t, REC_MODE_LATE);
    enc_u32(&t->enc, n);
    rec_result_done(t);
    return n;
}

EXPORT ULONG vkd3d_resource_incref(ID3D12Resource *r)
{
    struct rec_thread *t = rec_enter();

    return t ? resource_ref(t, D12_Native_ResourceIncref, NEXT(vkd3d_resource_incref), r)
             : NEXT(vkd3d_resource_incref)(r);
}

EXPORT ULONG vkd3d_resource_decref(ID3D12Resource *r)
{
    struct rec_thread *t = rec_enter();

    return t ? resource_ref(t, D12_Native_ResourceDecref, NEXT(vkd3d_resource_decref), r)
             : NEXT(vkd3d_resource_decref)(r);
}

EXPORT VkQueue vkd3d_acquire_vk_queue(ID3D12CommandQueue *queue)
{
    struct rec_thread *t = rec_enter();
    VkQueue vk;

    if (!t)
        return NEXT(vkd3d_acquire_vk_queue)(queue);
    t->depth++;
    vk = NEXT(vkd3d_acquire_vk_queue)(queue);
    t->depth--;
    present_queue_bind(vk, queue);
    return vk;
}

/* ---- events -------------------------------------------------------------- */

EXPORT HANDLE vkd3d_create_event(void);
EXPORT void vkd3d_destroy_event(HANDLE event);
EXPORT HRESULT vkd3d_signal_event(HANDLE event);
EXPORT unsigned int vkd3d_wait_event(HANDLE event, unsigned int milliseconds);

static void event_call(struct rec_thread *t, uint32_t method, HANDLE h)
{
    rec_begin(t, NULL, method, REC_MODE_TICKET);
    enc_handle(&t->enc, h);
    rec_args_done(t, method, REC_NO_ANSWER);
}

EXPORT HANDLE vkd3d_create_event(void)
{
    struct rec_thread *t = rec_enter();
    HANDLE h = NEXT(vkd3d_create_event)();

    if (t && h) {
        rec_event_forget(h);
        event_call(t, D12_Native_EventCreate, h);
        rec_event_own(h);
    }
    return h;
}

EXPORT void vkd3d_destroy_event(HANDLE event)
{
    struct rec_thread *t = rec_enter();

    if (t) {
        event_call(t, D12_Native_EventDestroy, event);
        rec_event_forget(event);
    }
    NEXT(vkd3d_destroy_event)(event);
}

EXPORT HRESULT vkd3d_signal_event(HANDLE event)
{
    struct rec_thread *t = rec_enter();

    if (t)
        event_call(t, D12_Native_EventSignal, event);
    return NEXT(vkd3d_signal_event)(event);
}

EXPORT unsigned int vkd3d_wait_event(HANDLE event, unsigned int milliseconds)
{
    struct rec_thread *t = rec_enter();
    unsigned int ret;

    if (!t)
        return NEXT(vkd3d_wait_event)(event, milliseconds);
    rec_begin(t, NULL, D12_Native_EventWait, REC_MODE_LATE);
    enc_handle(&t->enc, event);
    enc_u32(&t->enc, milliseconds);
    rec_args_done(t, D12_Native_EventWait, REC_ANSWER);
    t->depth++;
    ret = NEXT(vkd3d_wait_event)(event, milliseconds);
    t->depth--;
    rec_result(t, REC_MODE_LATE);
    enc_u32(&t->enc, ret);
    rec_result_done(t);
    if (!ret)
        rec_contents_look(t);
    return ret;
}

/* ---- threads ------------------------------------------------------------- */

struct start {
    void *(*fn)(void *);
    void *arg;
};

static void *internal_main(void *p)
{
    struct start s = *(struct start *)p;

    free(p);
    rec_thread_internal();
    return s.fn(s.arg);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    struct rec_thread *t = rec_self;
    struct start *s;

    if (t && t->depth && (s = malloc(sizeof(*s)))) {
        *s = (struct start){fn, arg};
        int err = NEXT(pthread_create)(thread, attr, internal_main, s);

        if (err)
            free(s);
        return err;
    }
    return NEXT(pthread_create)(thread, attr, fn, arg);
}
