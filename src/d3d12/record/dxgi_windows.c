/* SPDX-License-Identifier: MIT */
/* dxgi_windows.c: dxgi.dll, as the program loads it in place of the system's. It forwards, and shows the factories to the
 * recorder in d3d12.dll beside it: a factory may be of another kind (a debug layer's) than the one the recorder knows. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "d3d12/record/forward.h"

#define REAL_ENV "AEROGPU_DXGI_REAL" /* a library that the program brought itself */

static HMODULE self, module;
static SRWLOCK lock = SRWLOCK_INIT;

void *forward_to(const char *name)
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
    return module ? (void *)GetProcAddress(module, name) : NULL;
}

FORWARD(DXGID3D10CreateDevice, 24)
FORWARD(DXGID3D10CreateLayeredDevice, 20)
FORWARD(DXGID3D10GetLayeredDeviceSize, 8)
FORWARD(DXGID3D10RegisterLayers, 8)
FORWARD(DXGIDeclareAdapterRemovalSupport, 0)
FORWARD(DXGIDisableVBlankVirtualization, 0)
FORWARD(DXGIGetDebugInterface1, 12)
FORWARD(DXGIReportAdapterConfiguration, 4)

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

static HRESULT made(HRESULT hr, void **out)
{
    if (SUCCEEDED(hr))
        tell(*out);
    return hr;
}

__declspec(dllexport) HRESULT WINAPI CreateDXGIFactory(const IID *iid, void **out);
HRESULT WINAPI CreateDXGIFactory(const IID *iid, void **out)
{
    HRESULT(WINAPI * real)(const IID *, void **) = forward_to("CreateDXGIFactory");

    return real ? made(real(iid, out), out) : E_NOINTERFACE;
}

__declspec(dllexport) HRESULT WINAPI CreateDXGIFactory1(const IID *iid, void **out);
HRESULT WINAPI CreateDXGIFactory1(const IID *iid, void **out)
{
    HRESULT(WINAPI * real)(const IID *, void **) = forward_to("CreateDXGIFactory1");

    return real ? made(real(iid, out), out) : E_NOINTERFACE;
}

__declspec(dllexport) HRESULT WINAPI CreateDXGIFactory2(UINT flags, const IID *iid, void **out);
HRESULT WINAPI CreateDXGIFactory2(UINT flags, const IID *iid, void **out)
{
    HRESULT(WINAPI * real)(UINT, const IID *, void **) = forward_to("CreateDXGIFactory2");

    return real ? made(real(flags, iid, out), out) : E_NOINTERFACE;
}

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, void *reserved);
BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, void *reserved)
{
    if (reason == DLL_PROCESS_ATTACH)
        self = instance;
    return TRUE;
}
