/* SPDX-License-Identifier: MIT */
/* rec_windows.c: d3d12.dll, as the program loads it in place of the system's.
 *
 * Every export forwards to the real library, which is loaded by its path. From then on GetModuleHandle("d3d12.dll") may
 * answer with that one, so its export of D3D12CreateDevice is led here too. Nothing is recorded, and nothing patched,
 * unless `aerogpu record` left its shared memory in the environment.
 *
 * Threads whose code lies in the implementation are its own: what they call is no call of the program.
 */
#include "d3d12/record/rec_windows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "d3d12/record/forward.h"
#include "d3d12/record/rec_values.h"
#include "d3d12/record/rec_hooks.h"
#include "d3d12/gen/table.h"

#define REAL_ENV     "AEROGPU_D3D12_REAL" /* a library that the program brought itself */
#define THREAD_START 9                    /* ThreadQuerySetWin32StartAddress */
#define API_VERSION  2                    /* libvkd3d's name for what this is like: VKD3D_API_VERSION_1_2 */
#define MAX_STUBS    16

static HMODULE self, real_d3d12;
static SRWLOCK load_lock = SRWLOCK_INIT;

HMODULE windows_real_module(const char *file)
{
    char path[MAX_PATH];
    const char *own = !strcmp(file, "d3d12.dll") ? getenv(REAL_ENV) : NULL;
    HMODULE m;
    UINT n;

    if (own && (m = LoadLibraryA(own)) &&
        !GetProcAddress(m, "aerogpu_dxgi_factory")) /* not another copy of this one */
        return m;
    n = GetSystemDirectoryA(path, MAX_PATH);
    snprintf(path + n, MAX_PATH - n, "\\%s", file);
    return LoadLibraryA(path);
}

/* ---- exports of other modules -------------------------------------------- */

/* An export is an offset of 32 bits from its module, around the end of the addresses where those have no more: a jump there must lie within that above it. */
static uint8_t *stub_near(HMODULE module)
{
    static uint8_t *page;
    static unsigned used;
    uintptr_t base = (uintptr_t)module;

    if (page && used < MAX_STUBS && (uintptr_t)page - base < UINT32_MAX)
        return page + 16 * used++;
    page = sizeof(void *) == 4 ? VirtualAlloc(NULL, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_EXECUTE_READWRITE)
                               : NULL;
    for (uintptr_t at = (base + 0x1000000) & ~(uintptr_t)0xffff; !page && at - base < 0x7fff0000;
         at += 0x100000)
        page = VirtualAlloc((void *)at, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_EXECUTE_READWRITE);
    used = 1;
    return page;
}

bool windows_export_patch(HMODULE module, const char *name, void *fn)
{
    uint8_t *base = (uint8_t *)module, *stub;
    const IMAGE_NT_HEADERS *nt =
        (const IMAGE_NT_HEADERS *)(base + ((const IMAGE_DOS_HEADER *)base)->e_lfanew);
    const IMAGE_DATA_DIRECTORY *dir = &nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
    const IMAGE_EXPORT_DIRECTORY *x = (const IMAGE_EXPORT_DIRECTORY *)(base + dir->VirtualAddress);
    const DWORD *names;
    const WORD *ordinals;
    DWORD *functions;
    unsigned n;

    if (!dir->Size)
        return false;
    names = (const DWORD *)(base + x->AddressOfNames);
    ordinals = (const WORD *)(base + x->AddressOfNameOrdinals);
    functions = (DWORD *)(base + x->AddressOfFunctions);
    for (DWORD i = 0; i < x->NumberOfNames; i++) {
        if (strcmp((const char *)base + names[i], name))
            continue;
        stub = stub_near(module);
        if (!stub || !os_make_writable(&functions[ordinals[i]], sizeof(DWORD)))
            return false;
        n = 0; /* mov rax, fn; jmp rax; or eax */
        if (sizeof(fn) == 8)
            stub[n++] = 0x48;
        stub[n++] = 0xb8;
        memcpy(stub + n, &fn, sizeof(fn));
        memcpy(stub + n + sizeof(fn), "\xff\xe0", 2);
        functions[ordinals[i]] = (DWORD)(stub - base);
        return true;
    }
    return false;
}

/* ---- the real library ---------------------------------------------------- */

void *forward_to(const char *name)
{
    static void *create_device;
    void *p;

    AcquireSRWLockExclusive(&load_lock);
    if (!real_d3d12) {
        real_d3d12 = windows_real_module("d3d12.dll");
        if (!real_d3d12)
            log_error("d3d12", "the system's d3d12.dll cannot be loaded");
        create_device = real_d3d12 ? (void *)GetProcAddress(real_d3d12, "D3D12CreateDevice") : NULL;
        if (rec_shm && real_d3d12)
            windows_export_patch(real_d3d12, "D3D12CreateDevice",
                                 (void *)GetProcAddress(self, "D3D12CreateDevice"));
    }
    ReleaseSRWLockExclusive(&load_lock);
    p = !real_d3d12                          ? NULL
        : !strcmp(name, "D3D12CreateDevice") ? create_device
                                             : (void *)GetProcAddress(real_d3d12, name);
    return p;
}

FORWARD(D3D12GetDebugInterface, 8)
FORWARD(D3D12GetInterface, 12)
FORWARD(D3D12CreateRootSignatureDeserializer, 16)
FORWARD(D3D12CreateVersionedRootSignatureDeserializer, 16)
FORWARD(D3D12EnableExperimentalFeatures, 16)
FORWARD(D3D12SerializeRootSignature, 16)
FORWARD(D3D12SerializeVersionedRootSignature, 12)
FORWARD(D3D12CoreCreateLayeredDevice, 20)
FORWARD(D3D12CoreGetLayeredDeviceSize, 8)
FORWARD(D3D12CoreRegisterLayers, 8)
FORWARD(GetBehaviorValue, 8)

/* ---- devices ------------------------------------------------------------- */

/* Factories share one method table: patching it reaches those that the program made before. */
static void first_device(void)
{
    static LONG done;
    const GUID factory_iid = {0x7b7166ec, 0x21c7, 0x44ae, {0xb2, 0x1a, 0xc9, 0xae, 0x32, 0x1a, 0xe3, 0x69}};
    HRESULT(WINAPI * create)(const GUID *, void **);
    HMODULE dxgi;
    IUnknown *f;

    if (InterlockedExchange(&done, 1))
        return;
    waits_install();
    dxgi = windows_real_module("dxgi.dll");
    create = dxgi ? (void *)GetProcAddress(dxgi, "CreateDXGIFactory1") : NULL;
    if (!create || FAILED(create(&factory_iid, (void **)&f))) {
        log_warn("d3d12", "there is no DXGI: presents are not recorded");
        return;
    }
    dxgi_factory_seen(f);
    f->lpVtbl->Release(f);
}

__declspec(dllexport) HRESULT WINAPI
    D3D12CreateDevice(IUnknown *adapter, D3D_FEATURE_LEVEL level, REFIID iid, void **device);
HRESULT WINAPI D3D12CreateDevice(IUnknown *adapter, D3D_FEATURE_LEVEL level, REFIID iid, void **device)
{
    HRESULT(WINAPI * create)
    (IUnknown *, D3D_FEATURE_LEVEL, REFIID, void **) = forward_to("D3D12CreateDevice");
    struct rec_thread *t = rec_enter();
    struct enc *e;
    HRESULT hr;

    if (!create)
        return E_FAIL;
    if (!t)
        return create(adapter, level, iid, device);
    e = &t->enc;
    rec_begin(t, NULL, D12_Native_CreateDevice, REC_MODE_LATE);
    enc_u32(e, (uint32_t)level);
    enc_u32(e, API_VERSION);
    enc_iid(e, iid);
    rec_args_done(t, D12_Native_CreateDevice, REC_ANSWER);
    t->depth++;
    first_device();
    hr = create(adapter, level, iid, device);
    t->depth--;
    rec_result(t, REC_MODE_LATE);
    enc_hresult(e, hr);
    enc_new_object(e, device ? *device : NULL, (const GUID *)iid, D12_IFACE_ID3D12Device, SUCCEEDED(hr));
    rec_result_done(t);
    return hr;
}

/* ---- life ---------------------------------------------------------------- */

static bool is_implementation(const void *at)
{
    static const char *const names[] = {"d3d12.dll", "d3d12core.dll", "dxgi.dll", "wined3d.dll",
                                        "winevulkan.dll"};
    char path[MAX_PATH];
    const char *file;
    HMODULE m;

    if (!GetModuleHandleExA(
            GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, at, &m) ||
        !GetModuleFileNameA(m, path, MAX_PATH))
        return false;
    file = strrchr(path, '\\') ? strrchr(path, '\\') + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!_stricmp(file, names[i]))
            return true;
    return m == real_d3d12;
}

static void thread_attach(void)
{
    static LONG(WINAPI * query)(HANDLE, int, void *, ULONG, ULONG *);
    void *start = NULL;

    if (!query)
        query = (void *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtQueryInformationThread");
    if (query && !query(GetCurrentThread(), THREAD_START, &start, sizeof(start), NULL) &&
        is_implementation(start))
        rec_thread_internal();
}

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, void *reserved);
BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, void *reserved)
{
    if (reason == DLL_PROCESS_ATTACH) {
        self = instance;
        if (!rec_start(&d12_api))
            log_info("d3d12", "recording");
        if (rec_shm) /* what is patched leads here: who lets go of the library keeps it */
            GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                               (const char *)&self, &self);
    } else if (reason == DLL_THREAD_ATTACH && rec_shm) {
        thread_attach();
    } else if (reason == DLL_THREAD_DETACH && rec_shm) {
        os_thread_detach();
    }
    return TRUE;
}

/* dxgi.dll beside this one tells which factories the program made. */
__declspec(dllexport) void WINAPI aerogpu_dxgi_factory(void *factory);
void WINAPI aerogpu_dxgi_factory(void *factory)
{
    if (rec_shm)
        dxgi_factory_seen(factory);
}
