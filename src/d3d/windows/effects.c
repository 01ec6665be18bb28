/* SPDX-License-Identifier: MIT */
/* effects.c: what Direct3D 10's library has that is no part of the runtime: effects, and the compiler's older names. They are code
 * above ID3D10Device, the same on every device, and the system's own d3d10.dll has them: this one passes them on, with our devices.
 *
 * Invariant: the system's library is loaded once, by its whole path, and is never this one. */
#define WIN32_LEAN_AND_MEAN
#define INITGUID
#include <windows.h>

#include <d3d10.h>

#include "base/export.h"

static FARPROC of_system(const char *name)
{
    static HMODULE library;
    WCHAR path[MAX_PATH];
    HMODULE now = __atomic_load_n(&library, __ATOMIC_ACQUIRE), own = NULL;
    UINT n;

    if (!now) {
        n = GetSystemDirectoryW(path, MAX_PATH - 16);
        if (!n || n > MAX_PATH - 16)
            return NULL;
        lstrcpyW(path + n, L"\\d3d10.dll");
        now = LoadLibraryW(path);
        GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                               GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           (const WCHAR *)(const void *)&library, &own);
        if (!now || now == own)
            return NULL;
        __atomic_store_n(&library, now, __ATOMIC_RELEASE);
    }
    return GetProcAddress(now, name);
}

/* One function of the system's; without it the answer is `otherwise`. */
#define PASS_ON(type, otherwise, name, declared, given)                                                      \
    EXPORT type WINAPI name declared;                                                                        \
    type WINAPI name declared                                                                                \
    {                                                                                                        \
        type(WINAPI *const f) declared = (void *)of_system(#name);                                           \
        return f ? f given : (otherwise);                                                                    \
    }

PASS_ON(HRESULT, E_NOTIMPL, D3D10CreateEffectFromMemory,
        (void *data, SIZE_T size, UINT flags, ID3D10Device *device, ID3D10EffectPool *pool,
         ID3D10Effect **effect),
        (data, size, flags, device, pool, effect))
PASS_ON(HRESULT, E_NOTIMPL, D3D10CreateEffectPoolFromMemory,
        (void *data, SIZE_T size, UINT flags, ID3D10Device *device, ID3D10EffectPool **pool),
        (data, size, flags, device, pool))
PASS_ON(HRESULT, E_NOTIMPL, D3D10CompileEffectFromMemory,
        (void *data, SIZE_T size, LPCSTR name, const D3D_SHADER_MACRO *macros, ID3D10Include *include,
         UINT hlsl, UINT fx, ID3D10Blob **effect, ID3D10Blob **errors),
        (data, size, name, macros, include, hlsl, fx, effect, errors))
PASS_ON(HRESULT, E_NOTIMPL, D3D10DisassembleEffect, (ID3D10Effect * effect, BOOL colour, ID3D10Blob **text),
        (effect, colour, text))
PASS_ON(HRESULT, E_NOTIMPL, D3D10CompileShader,
        (LPCSTR data, SIZE_T size, LPCSTR name, const D3D_SHADER_MACRO *macros, ID3D10Include *include,
         LPCSTR entry, LPCSTR profile, UINT flags, ID3D10Blob **shader, ID3D10Blob **errors),
        (data, size, name, macros, include, entry, profile, flags, shader, errors))
PASS_ON(HRESULT, E_NOTIMPL, D3D10ReflectShader,
        (const void *data, SIZE_T size, ID3D10ShaderReflection **reflection), (data, size, reflection))
PASS_ON(LPCSTR, NULL, D3D10GetVertexShaderProfile, (ID3D10Device * device), (device))
PASS_ON(LPCSTR, NULL, D3D10GetGeometryShaderProfile, (ID3D10Device * device), (device))
PASS_ON(LPCSTR, NULL, D3D10GetPixelShaderProfile, (ID3D10Device * device), (device))
