/* SPDX-License-Identifier: MIT */
/* threads.c: Direct3D 11 on several threads: each records with a deferred context of its own what it makes on a device that all have, and
 * makes and draws with devices of its own. Prints a line of each that went otherwise. */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <d3d11.h>

#include "calls.h"

enum { THREADS = 4, ROUNDS = 8 };

static ID3D11Device *shared;
static ID3D11CommandList *lists[THREADS];
static ID3D11Texture2D *targets[THREADS];
static int bad; /* calls that answered something else: __atomic */

#define THREAD_OK(call)                                                                                      \
    do {                                                                                                     \
        HRESULT hr_ = (call);                                                                                \
        if (hr_ != S_OK && !__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED))                                   \
            printf("%s:%d: %s: 0x%08X\n", __FILE__, __LINE__, #call, (unsigned)hr_);                         \
    } while (0)

static ID3D11Texture2D *texture(ID3D11Device *d, UINT bind, UINT access)
{
    const D3D11_TEXTURE2D_DESC t = {
        4, 4, 1, 1, DXGI_FORMAT_R8G8B8A8_UNORM, {1, 0}, access ? D3D11_USAGE_STAGING : 0, bind, access, 0};
    ID3D11Texture2D *out = NULL;

    THREAD_OK(ID3D11Device_CreateTexture2D(d, &t, NULL, &out));
    return out;
}

static void fill(ID3D11Device *d, ID3D11DeviceContext *context, ID3D11Texture2D *t, UINT i)
{
    const FLOAT colour[4] = {(FLOAT)i / 255, 0, 0, 1};
    ID3D11RenderTargetView *view = NULL;

    THREAD_OK(ID3D11Device_CreateRenderTargetView(d, (ID3D11Resource *)t, NULL, &view));
    if (!view)
        return;
    ID3D11DeviceContext_ClearRenderTargetView(context, view, colour);
    ID3D11RenderTargetView_Release(view);
}

static void is(ID3D11Device *d, ID3D11DeviceContext *context, ID3D11Texture2D *t, UINT i)
{
    ID3D11Texture2D *copy = texture(d, 0, D3D11_CPU_ACCESS_READ);
    D3D11_MAPPED_SUBRESOURCE m;
    uint8_t red = 0;

    if (!copy)
        return;
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)t);
    THREAD_OK(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &m));
    memcpy(&red, m.pData, 1);
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
    THREAD_OK(red == i ? S_OK : E_FAIL);
    ID3D11Texture2D_Release(copy);
}

static void *records(void *arg)
{
    const UINT i = (UINT)(uintptr_t)arg;
    ID3D11DeviceContext *recorder = NULL;

    THREAD_OK(ID3D11Device_CreateDeferredContext(shared, 0, &recorder));
    for (int n = 0; recorder && n < ROUNDS; n++) {
        if (targets[i])
            ID3D11Texture2D_Release(targets[i]);
        if (lists[i])
            ID3D11CommandList_Release(lists[i]);
        targets[i] = texture(shared, D3D11_BIND_RENDER_TARGET, 0);
        fill(shared, recorder, targets[i], i + 1);
        THREAD_OK(ID3D11DeviceContext_FinishCommandList(recorder, FALSE, &lists[i]));
    }
    if (recorder)
        ID3D11DeviceContext_Release(recorder);
    return NULL;
}

static void *has_device(void *arg)
{
    const UINT i = (UINT)(uintptr_t)arg;

    for (int n = 0; n < 2; n++) {
        ID3D11DeviceContext *context = NULL;
        ID3D11Texture2D *t;
        ID3D11Device *d = NULL;

        THREAD_OK(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION, &d,
                                    NULL, &context));
        t = d ? texture(d, D3D11_BIND_RENDER_TARGET, 0) : NULL;
        if (t) {
            fill(d, context, t, i + 1);
            is(d, context, t, i + 1);
            ID3D11Texture2D_Release(t);
        }
        if (context)
            ID3D11DeviceContext_Release(context);
        THREAD_OK(d && ID3D11Device_Release(d) == 0 ? S_OK : E_FAIL);
    }
    return NULL;
}

static void run(void *(*what)(void *))
{
    pthread_t t[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, what, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

void threads(const struct calls *c)
{
    shared = c->device;
    run(records);
    for (UINT i = 0; i < THREADS; i++) {
        if (!lists[i])
            continue;
        ID3D11DeviceContext_ExecuteCommandList(c->context, lists[i], TRUE);
        is(shared, c->context, targets[i], i + 1);
        ID3D11CommandList_Release(lists[i]);
        ID3D11Texture2D_Release(targets[i]);
    }
    run(has_device);
}
