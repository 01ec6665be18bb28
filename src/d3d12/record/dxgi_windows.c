/* SPDX-License-Identifier: MIT */
/* dxgi_windows.c: dxgi.dll, as the program loads it in place of the system's. It forwards, and shows the factories to the
 * recorder in d3d12.dll beside it: a factory may be of another kind (a debug layer's) than the one the recorder knows. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define REAL_ENV "AEROGPU_DXGI_REAL" /* a library that the program brought itself */

typedef uintptr_t(WINAPI *any_fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static HMODULE self, module;
static SRWLOCK lock = SRWLOCK_INIT;

static any_fn real(const char *name)
{
    const char *own = getenv(REAL_ENV);
    char path[MAX_PATH];
    UINT n;

    AcquireSRWLockExclusive(&lock);
    if (!module && own) {
        module = LoadLibraryA(own);
    } else if (!module) {
        n = GetSystemDirectoryA(path, MAX_PATH);
        snprintf(path + n, MAX_PATH - n, "\\dxgi.dll");
        module = LoadLibraryA(path);
    }
    ReleaseSRWLockExclusive(&lock);
    return module ? (any_fn)(void *)GetProcAddress(module, name) : NULL;
}

#define FORWARD(name)                                                                                        \
    __declspec(dllexport) uintptr_t WINAPI name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,          \
                                                uintptr_t e, uintptr_t f);                                   \
    uintptr_t WINAPI name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)      \
    {                                                                                                        \
        any_fn fn = real(#name);                                                                             \
                                                                                                             \
        return fn ? fn(a, b, c, d, e, f) : (uintptr_t)(uint32_t)E_NOINTERFACE;                               \
    }

FORWARD(DXGID3D10CreateDevice)
FORWARD(DXGID3D10CreateLayeredDevice)
FORWARD(DXGID3D10GetLayeredDeviceSize)
FORWARD(DXGID3D10RegisterLayers)
FORWARD(DXGIDeclareAdapterRemovalSupport)
FORWARD(DXGIDisableVBlankVirtualization)
FORWARD(DXGIGetDebugInterface1)
FORWARD(DXGIReportAdapterConfiguration)

/* Only a program that uses Direct3D 12 has the recorder loaded. */
static void tell(void *factory)
{
    void(WINAPI * seen)(void *);
    char path[MAX_PATH], *end;
    HMODULE recorder;

    if (!GetModuleFileNameA(self, path, MAX_PATH) || !(end = strrchr(path, '\\')))
        return;
    snprintf(end, (size_t)(path + MAX_PATH - end), "\\d3d12.dll");
    recorder = GetModuleHandleA(path);
    seen = recorder ? (void *)GetProcAddress(recorder, "aerogpu_dxgi_factory") : NULL;
    if (seen)
        seen(factory);
}

static HRESULT create(const char *name, uintptr_t a, uintptr_t b, uintptr_t c, void **out)
{
    any_fn fn = real(name);
    HRESULT hr = fn ? (HRESULT)fn(a, b, c, 0, 0, 0) : E_NOINTERFACE;

    if (SUCCEEDED(hr))
        tell(*out);
    return hr;
}

__declspec(dllexport) HRESULT WINAPI CreateDXGIFactory(const IID *iid, void **out);
HRESULT WINAPI CreateDXGIFactory(const IID *iid, void **out)
{
    return create("CreateDXGIFactory", (uintptr_t)iid, (uintptr_t)out, 0, out);
}

__declspec(dllexport) HRESULT WINAPI CreateDXGIFactory1(const IID *iid, void **out);
HRESULT WINAPI CreateDXGIFactory1(const IID *iid, void **out)
{
    return create("CreateDXGIFactory1", (uintptr_t)iid, (uintptr_t)out, 0, out);
}

__declspec(dllexport) HRESULT WINAPI CreateDXGIFactory2(UINT flags, const IID *iid, void **out);
HRESULT WINAPI CreateDXGIFactory2(UINT flags, const IID *iid, void **out)
{
    return create("CreateDXGIFactory2", flags, (uintptr_t)iid, (uintptr_t)out, out);
}

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, void *reserved);
BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, void *reserved)
{
    if (reason == DLL_PROCESS_ATTACH)
        self = instance;
    return TRUE;
}
