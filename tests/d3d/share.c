/* SPDX-License-Identifier: MIT */
/* share.c: a surface that two processes share, of Direct3D 11, 10.1 or 10:
 *   share API produce          fills one with red, prints its handle, and waits for a line: then fills it with green, prints "green"
 *   share API consume HANDLE   opens it, prints its pixel's bytes; again after each line; ends at the end of the lines
 *   share API keyed-produce    the same in turns: draws red with key 0, prints the handle; after a line lets key 1 have it, waits for
 *                              key 2, prints the pixel, lets key 3 have it, and prints what waiting for that one comes to
 *   share API keyed-consume HANDLE   waits for key 1, prints the pixel, fills it with green, lets key 2 have it
 *   share API keyed-abandon HANDLE   waits for key 3, and ends
 *   share 11 cycle             one device makes surfaces, another opens them, and both let go of them at once; prints "done"
 *   share API refuse           what Direct3D refuses: prints a line of each thing that went otherwise, then "done" */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d10_1.h>
#include <d3d11.h>

#include "program.h"

enum { SIDE = 64 };

static ID3D11Device *device;
static ID3D11DeviceContext *context;
static ID3D10Device *device10;

static void make_device(int api)
{
    D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_10_0;

    if (api == 11)
        NEED(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, &level, 1, D3D11_SDK_VERSION, &device,
                               NULL, &context));
    else if (api == 101)
        NEED(D3D10CreateDevice1(NULL, D3D10_DRIVER_TYPE_HARDWARE, NULL, 0, D3D10_FEATURE_LEVEL_10_0,
                                D3D10_1_SDK_VERSION, (ID3D10Device1 **)&device10));
    else
        NEED(D3D10CreateDevice(NULL, D3D10_DRIVER_TYPE_HARDWARE, NULL, 0, D3D10_SDK_VERSION, &device10));
}

static BOOL keyed;

static void *make_surface(void)
{
    D3D11_TEXTURE2D_DESC d = {.Width = SIDE,
                              .Height = SIDE,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_B8G8R8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_RENDER_TARGET | D3D11_BIND_SHADER_RESOURCE,
                              .MiscFlags =
                                  keyed ? D3D11_RESOURCE_MISC_SHARED_KEYEDMUTEX : D3D11_RESOURCE_MISC_SHARED};
    D3D10_TEXTURE2D_DESC d10;
    ID3D10Texture2D *t10;
    ID3D11Texture2D *t;

    if (device) {
        NEED(ID3D11Device_CreateTexture2D(device, &d, NULL, &t));
        return t;
    }
    memcpy(&d10, &d, sizeof(d10));
    d10.MiscFlags = keyed ? D3D10_RESOURCE_MISC_SHARED_KEYEDMUTEX : D3D10_RESOURCE_MISC_SHARED;
    NEED(ID3D10Device_CreateTexture2D(device10, &d10, NULL, &t10));
    return t10;
}

static void fill(void *surface, float red, float green)
{
    const float colour[4] = {red, green, 0, 1};
    ID3D11RenderTargetView *v;
    ID3D10RenderTargetView *v10;

    if (device) {
        NEED(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)surface, NULL, &v));
        ID3D11DeviceContext_ClearRenderTargetView(context, v, colour);
        ID3D11RenderTargetView_Release(v);
        ID3D11DeviceContext_Flush(context);
        return;
    }
    NEED(ID3D10Device_CreateRenderTargetView(device10, (ID3D10Resource *)surface, NULL, &v10));
    ID3D10Device_ClearRenderTargetView(device10, v10, colour);
    ID3D10RenderTargetView_Release(v10);
    ID3D10Device_Flush(device10);
}

static unsigned pixel(void *surface)
{
    D3D11_TEXTURE2D_DESC d;
    D3D10_TEXTURE2D_DESC d10;
    ID3D11Texture2D *copy;
    ID3D10Texture2D *copy10;
    D3D11_MAPPED_SUBRESOURCE m;
    D3D10_MAPPED_TEXTURE2D m10;
    unsigned p;

    if (device) {
        ID3D11Texture2D_GetDesc((ID3D11Texture2D *)surface, &d);
        d.Usage = D3D11_USAGE_STAGING;
        d.BindFlags = d.MiscFlags = 0;
        d.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
        NEED(ID3D11Device_CreateTexture2D(device, &d, NULL, &copy));
        ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)surface);
        NEED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &m));
        memcpy(&p, (char *)m.pData + 33 * m.RowPitch + 17 * 4, sizeof(p));
        ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
        ID3D11Texture2D_Release(copy);
        return p;
    }
    ID3D10Texture2D_GetDesc((ID3D10Texture2D *)surface, &d10);
    d10.Usage = D3D10_USAGE_STAGING;
    d10.BindFlags = d10.MiscFlags = 0;
    d10.CPUAccessFlags = D3D10_CPU_ACCESS_READ;
    NEED(ID3D10Device_CreateTexture2D(device10, &d10, NULL, &copy10));
    ID3D10Device_CopyResource(device10, (ID3D10Resource *)copy10, (ID3D10Resource *)surface);
    NEED(ID3D10Texture2D_Map(copy10, 0, D3D10_MAP_READ, 0, &m10));
    memcpy(&p, (char *)m10.pData + 33 * m10.RowPitch + 17 * 4, sizeof(p));
    ID3D10Texture2D_Unmap(copy10, 0);
    ID3D10Texture2D_Release(copy10);
    return p;
}

static void *open_surface(unsigned long handle)
{
    HANDLE h = (HANDLE)(uintptr_t)handle;
    void *surface;

    if (device)
        NEED(ID3D11Device_OpenSharedResource(device, h, &IID_ID3D11Texture2D, &surface));
    else
        NEED(ID3D10Device_OpenSharedResource(device10, h, &IID_ID3D10Texture2D, &surface));
    return surface;
}

static void expect(const char *what, HRESULT got, HRESULT wanted)
{
    if (got != wanted)
        printf("%s: 0x%08X\n", what, (unsigned)got);
}

static void refuse(void)
{
    D3D11_TEXTURE2D_DESC d = {.Width = SIDE,
                              .Height = SIDE,
                              .MipLevels = 2,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_B8G8R8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_RENDER_TARGET,
                              .MiscFlags = D3D11_RESOURCE_MISC_SHARED};
    void *surface, *none = NULL;
    IDXGIResource *resource;
    ID3D11Texture2D *t = NULL;
    HANDLE handle;
    HRESULT hr = S_OK;

    expect("no handle", ID3D11Device_OpenSharedResource(device, NULL, &IID_ID3D11Texture2D, &none),
           E_INVALIDARG);
    expect("a handle of nothing",
           ID3D11Device_OpenSharedResource(device, (HANDLE)(uintptr_t)0x1234, &IID_ID3D11Texture2D, &none),
           E_INVALIDARG);
    expect("mips", ID3D11Device_CreateTexture2D(device, &d, NULL, &t), E_INVALIDARG);
    d.MipLevels = 1;
    d.Usage = D3D11_USAGE_STAGING;
    expect("staging", ID3D11Device_CreateTexture2D(device, &d, NULL, &t), E_INVALIDARG);
    d.Usage = D3D11_USAGE_DEFAULT;
    d.MiscFlags = 0;
    NEED(ID3D11Device_CreateTexture2D(device, &d, NULL, &t));
    NEED(ID3D11Texture2D_QueryInterface(t, &IID_IDXGIResource, (void **)&resource));
    expect("one that is not shared", IDXGIResource_GetSharedHandle(resource, &handle), E_INVALIDARG);
    IDXGIResource_Release(resource);
    ID3D11Texture2D_Release(t);
    surface = make_surface();
    NEED(IUnknown_QueryInterface((IUnknown *)surface, &IID_IDXGIResource, (void **)&resource));
    NEED(IDXGIResource_GetSharedHandle(resource, &handle));
    expect("another interface", ID3D11Device_OpenSharedResource(device, handle, &IID_ID3D11Buffer, &none),
           E_NOINTERFACE);
    fill(surface, 1, 0);
    for (int i = 0; i < 100; i++) { /* opening and closing leaves nothing */
        NEED(ID3D11Device_OpenSharedResource(device, handle, &IID_ID3D11Texture2D, &none));
        if (i == 99)
            expect("the pixel", (HRESULT)pixel(none), (HRESULT)0xFFFF0000);
        IUnknown_Release((IUnknown *)none);
    }
    IDXGIResource_Release(resource);
    IUnknown_Release((IUnknown *)surface);
    for (int i = 0; i < 1000;
         i++) { /* it ends when the device is through with it, which is awaited by another copy */
        hr = ID3D11Device_OpenSharedResource(device, handle, &IID_ID3D11Texture2D, &none);
        if (hr != S_OK)
            break;
        IUnknown_Release((IUnknown *)none);
        surface = make_surface();
        pixel(surface);
        IUnknown_Release((IUnknown *)surface);
    }
    expect("one that ended", hr, E_INVALIDARG);
    printf("done\n");
}

static IDXGIKeyedMutex *mutex_of(void *surface)
{
    IDXGIKeyedMutex *m;

    NEED(IUnknown_QueryInterface((IUnknown *)surface, &IID_IDXGIKeyedMutex, (void **)&m));
    return m;
}

static void take_turns(const char *how, void *surface)
{
    IDXGIKeyedMutex *m = mutex_of(surface);

    if (!strcmp(how, "keyed-abandon")) {
        NEED(IDXGIKeyedMutex_AcquireSync(m, 3, 30000));
        exit(0); /* with it */
    }
    expect("a key that it has not", IDXGIKeyedMutex_AcquireSync(m, 77, 10), WAIT_TIMEOUT);
    NEED(IDXGIKeyedMutex_AcquireSync(m, 1, INFINITE));
    printf("%08X\n", pixel(surface));
    fill(surface, 0, 1);
    NEED(IDXGIKeyedMutex_ReleaseSync(m, 2));
    expect("one that is not held", IDXGIKeyedMutex_ReleaseSync(m, 2), E_FAIL);
    IDXGIKeyedMutex_Release(m);
}

static void give_turns(void)
{
    void *surface = make_surface();
    IDXGIKeyedMutex *m = mutex_of(surface);
    IDXGIResource *resource;
    HANDLE handle;
    char line[64];

    NEED(IDXGIKeyedMutex_AcquireSync(m, 0, 0));
    fill(surface, 1, 0);
    NEED(IUnknown_QueryInterface((IUnknown *)surface, &IID_IDXGIResource, (void **)&resource));
    NEED(IDXGIResource_GetSharedHandle(resource, &handle));
    IDXGIResource_Release(resource);
    printf("%lu\n", (unsigned long)(uintptr_t)handle);
    if (!fgets(line, sizeof(line), stdin))
        exit(1);
    NEED(IDXGIKeyedMutex_ReleaseSync(m, 1));
    NEED(IDXGIKeyedMutex_AcquireSync(m, 2, 30000));
    printf("%08X\n", pixel(surface));
    NEED(IDXGIKeyedMutex_ReleaseSync(m, 3));
    if (!fgets(line, sizeof(line), stdin))
        exit(1);
    printf("%X\n", (unsigned)IDXGIKeyedMutex_AcquireSync(m, 3, 30000));
    IDXGIKeyedMutex_Release(m);
    IUnknown_Release((IUnknown *)surface);
}

/* Neither waits for what the device does with them. */
static void cycle(void)
{
    const D3D11_TEXTURE2D_DESC d = {.Width = 256,
                                    .Height = 256,
                                    .MipLevels = 1,
                                    .ArraySize = 1,
                                    .Format = DXGI_FORMAT_B8G8R8A8_UNORM,
                                    .SampleDesc = {1, 0},
                                    .BindFlags = D3D11_BIND_RENDER_TARGET,
                                    .MiscFlags = D3D11_RESOURCE_MISC_SHARED};
    D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_10_0;
    ID3D11Device *other;

    NEED(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, &level, 1, D3D11_SDK_VERSION, &other,
                           NULL, NULL));
    for (int i = 0; i < 150; i++) {
        ID3D11Texture2D *made, *opened;
        IDXGIResource *resource;
        HANDLE handle;

        NEED(ID3D11Device_CreateTexture2D(device, &d, NULL, &made));
        NEED(ID3D11Texture2D_QueryInterface(made, &IID_IDXGIResource, (void **)&resource));
        NEED(IDXGIResource_GetSharedHandle(resource, &handle));
        NEED(ID3D11Device_OpenSharedResource(other, handle, &IID_ID3D11Texture2D, (void **)&opened));
        ID3D11Texture2D_Release(opened);
        IDXGIResource_Release(resource);
        ID3D11Texture2D_Release(made);
    }
    printf("done\n");
}

int main(int argc, char **argv)
{
    char line[64];
    IDXGIResource *resource;
    HANDLE handle;
    void *surface;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc < 3)
        return 2;
    make_device(atoi(argv[1]));
    if (!strcmp(argv[2], "refuse")) {
        refuse();
        return 0;
    }
    if (!strcmp(argv[2], "cycle")) {
        cycle();
        return 0;
    }
    keyed = !strncmp(argv[2], "keyed-", 6);
    if (!strcmp(argv[2], "keyed-produce")) {
        give_turns();
        return 0;
    }
    if (!strcmp(argv[2], "produce")) {
        surface = make_surface();
        fill(surface, 1, 0);
        NEED(IUnknown_QueryInterface((IUnknown *)surface, &IID_IDXGIResource, (void **)&resource));
        NEED(IDXGIResource_GetSharedHandle(resource, &handle));
        printf("%lu\n", (unsigned long)(uintptr_t)handle);
        if (fgets(line, sizeof(line), stdin)) {
            fill(surface, 0, 1);
            pixel(surface); /* it is there when this is said */
            printf("green\n");
            if (fgets(line, sizeof(line), stdin))
                return 0;
        }
        return 0;
    }
    surface = open_surface(argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
    if (keyed) {
        take_turns(argv[2], surface);
        return 0;
    }
    do
        printf("%08X\n", pixel(surface));
    while (fgets(line, sizeof(line), stdin));
    return 0;
}
