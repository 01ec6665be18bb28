/* SPDX-License-Identifier: MIT */
/* calls_threads.c: Direct3D 9 on several threads: devices of their own, made and released at once, and one device that all draw with. */
#include "calls.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 12 };

static int bad; /* calls of threads that answered something else: __atomic */

#define THREAD_OK(call)                                                                                      \
    do {                                                                                                     \
        HRESULT hr_ = (call);                                                                                \
        if (hr_ != D3D_OK && !__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED))                                 \
            printf("%s:%d: %s: 0x%08X\n", __FILE__, __LINE__, #call, (unsigned)hr_);                         \
    } while (0)

static void run_threads(void *(*run)(void *))
{
    pthread_t threads[THREADS];

    bad = 0;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    TRUE_(!bad);
}

/* A texture of one colour, drawn over the whole target; what the target then holds. */
static uint32_t draw_texel(IDirect3DDevice9Ex *d, uint32_t colour)
{
    const struct {
        float x, y, z, rhw, u, v;
    } v[] = {{-0.5f, -0.5f, 0, 1, 0, 0},
             {SIDE, -0.5f, 0, 1, 1, 0},
             {-0.5f, SIDE, 0, 1, 0, 1},
             {SIDE, SIDE, 0, 1, 1, 1}};
    IDirect3DSurface9 *target = NULL, *copy = NULL;
    IDirect3DTexture9 *t = NULL;
    D3DLOCKED_RECT l;
    uint32_t got = 0;

    THREAD_OK(IDirect3DDevice9Ex_CreateTexture(d, 1, 1, 1, D3DUSAGE_DYNAMIC, D3DFMT_X8R8G8B8, D3DPOOL_DEFAULT,
                                               &t, NULL));
    if (!t)
        return 0;
    THREAD_OK(IDirect3DTexture9_LockRect(t, 0, &l, NULL, 0));
    memcpy(l.pBits, &colour, 4);
    THREAD_OK(IDirect3DTexture9_UnlockRect(t, 0));
    THREAD_OK(IDirect3DDevice9Ex_SetTexture(d, 0, (IDirect3DBaseTexture9 *)t));
    THREAD_OK(IDirect3DDevice9Ex_SetFVF(d, D3DFVF_XYZRHW | D3DFVF_TEX1));
    THREAD_OK(IDirect3DDevice9Ex_DrawPrimitiveUP(d, D3DPT_TRIANGLESTRIP, 2, v, sizeof(v[0])));
    THREAD_OK(IDirect3DDevice9Ex_GetRenderTarget(d, 0, &target));
    THREAD_OK(IDirect3DDevice9Ex_CreateOffscreenPlainSurface(d, SIDE, SIDE, D3DFMT_X8R8G8B8,
                                                             D3DPOOL_SYSTEMMEM, &copy, NULL));
    THREAD_OK(IDirect3DDevice9Ex_GetRenderTargetData(d, target, copy));
    if (copy && IDirect3DSurface9_LockRect(copy, &l, NULL, D3DLOCK_READONLY) == D3D_OK) {
        memcpy(&got, l.pBits, 4);
        THREAD_OK(IDirect3DSurface9_UnlockRect(copy));
    }
    if (copy)
        IDirect3DSurface9_Release(copy);
    if (target)
        IDirect3DSurface9_Release(target);
    THREAD_OK(IDirect3DDevice9Ex_SetTexture(d, 0, NULL));
    IDirect3DTexture9_Release(t);
    return got & 0xFFFFFF;
}

/* Every other thread has a factory of its own: the last one unloads the driver that others work with. */
static void *own_devices(void *arg)
{
    uint32_t colour = 0x102030u * ((unsigned)(uintptr_t)arg + 1);

    for (int round = 0; round < ROUNDS; round++) {
        IDirect3D9Ex *f = factory;
        IDirect3DDevice9Ex *d = NULL;
        D3DPRESENT_PARAMETERS p = present_params();

        if ((uintptr_t)arg & 1)
            THREAD_OK(Direct3DCreate9Ex(D3D_SDK_VERSION, &f));
        THREAD_OK(IDirect3D9Ex_CreateDeviceEx(f, 0, D3DDEVTYPE_HAL, p.hDeviceWindow,
                                              D3DCREATE_HARDWARE_VERTEXPROCESSING, &p, NULL, &d));
        if (d) {
            if (draw_texel(d, colour) != colour)
                __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
            if (IDirect3DDevice9Ex_Release(d))
                __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
        }
        if ((uintptr_t)arg & 1)
            IDirect3D9Ex_Release(f);
    }
    return NULL;
}

/* What a device shared by threads promises: each call is whole. What is drawn in between is anybody's. */
static void *one_device(void *arg)
{
    uint32_t colour = 0x102030u * ((unsigned)(uintptr_t)arg + 1);

    for (int round = 0; round < 4 * ROUNDS; round++) {
        IDirect3DStateBlock9 *block = NULL;
        IDirect3DVertexBuffer9 *vb = NULL;

        draw_texel(dev, colour);
        THREAD_OK(IDirect3DDevice9Ex_CreateStateBlock(dev, D3DSBT_ALL, &block));
        THREAD_OK(IDirect3DDevice9Ex_CreateVertexBuffer(dev, 256, 0, 0, D3DPOOL_DEFAULT, &vb, NULL));
        THREAD_OK(IDirect3DDevice9Ex_SetStreamSource(dev, 1 + (unsigned)(uintptr_t)arg, vb, 0, 16));
        THREAD_OK(IDirect3DDevice9Ex_SetStreamSource(dev, 1 + (unsigned)(uintptr_t)arg, NULL, 0, 0));
        if (block) {
            THREAD_OK(IDirect3DStateBlock9_Apply(block));
            IDirect3DStateBlock9_Release(block);
        }
        if (vb)
            IDirect3DVertexBuffer9_Release(vb);
    }
    return NULL;
}

void check_threads(void)
{
    D3DPRESENT_PARAMETERS p = present_params();

    run_threads(own_devices);
    OK(IDirect3D9Ex_CreateDeviceEx(factory, 0, D3DDEVTYPE_HAL, p.hDeviceWindow,
                                   D3DCREATE_HARDWARE_VERTEXPROCESSING | D3DCREATE_MULTITHREADED, &p, NULL,
                                   &dev));
    if (!dev)
        return;
    run_threads(one_device);
    OK(IDirect3DDevice9Ex_CheckDeviceState(dev, NULL));
    TRUE_(IDirect3DDevice9Ex_Release(dev) == 0);
    dev = NULL;
}
