/* SPDX-License-Identifier: MIT */
/* d3d12_other.c: another implementation, for `aerogpu compare`: libvkd3d, but that ExecuteIndirect draws nothing. */
#include <dlfcn.h>
#include <stdint.h>
#include <sys/mman.h>

#include "d3d12/gen/table.h"
#include "d3d12_api.h"

#define IID(name) ((const GUID *)&d12_ifaces[D12_IFACE_##name].iid)

static WINAPI void draw_nothing(ID3D12GraphicsCommandList *list, ID3D12CommandSignature *signature, UINT max,
                                ID3D12Resource *arguments, UINT64 at, ID3D12Resource *count, UINT64 count_at)
{
}

static void patch(void *slot, void *fn)
{
    uintptr_t page = (uintptr_t)slot & ~(uintptr_t)4095;

    mprotect((void *)page, 8192, PROT_READ | PROT_WRITE);
    *(void **)slot = fn;
}

__attribute__((visibility("default"))) HRESULT vkd3d_create_device(const void *info, const GUID *iid,
                                                                   void **out)
{
    void *real = dlopen("libvkd3d.so.1", RTLD_NOW);
    HRESULT(*create)
    (const void *, const GUID *, void **) = (__typeof__(create))dlsym(real, "vkd3d_create_device");
    HRESULT hr = create(info, iid, out);
    ID3D12Device *device = FAILED(hr) ? NULL : *out;
    ID3D12CommandAllocator *allocator = NULL;
    ID3D12GraphicsCommandList *list = NULL;

    if (!device)
        return hr;
    device->lpVtbl->CreateCommandAllocator(device, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                           IID(ID3D12CommandAllocator), (void **)&allocator);
    device->lpVtbl->CreateCommandList(device, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator, NULL,
                                      IID(ID3D12GraphicsCommandList), (void **)&list);
    patch((void *)&list->lpVtbl->ExecuteIndirect, (void *)draw_nothing);
    list->lpVtbl->Release(list);
    allocator->lpVtbl->Release(allocator);
    return hr;
}
