/* SPDX-License-Identifier: MIT */
/* d3d12_local.c: a program that loads libvkd3d-utils for itself alone, as plug-ins do. */
#include <dlfcn.h>

#include "d3d12/gen/table.h"
#include "d3d12_api.h"

#define IID(name) ((const GUID *)&d12_ifaces[D12_IFACE_##name].iid)

int main(void)
{
    void *library = dlopen("libvkd3d-utils.so.1", RTLD_NOW | RTLD_LOCAL);
    HRESULT(WINAPI * create)
    (IUnknown *, D3D_FEATURE_LEVEL, REFIID, void **) = library ? dlsym(library, "D3D12CreateDevice") : NULL;
    D3D12_COMMAND_QUEUE_DESC q = {0};
    ID3D12CommandQueue *queue;
    ID3D12Device *device;

    if (!create || FAILED(create(NULL, D3D_FEATURE_LEVEL_11_0, IID(ID3D12Device), (void **)&device)) ||
        FAILED(device->lpVtbl->CreateCommandQueue(device, &q, IID(ID3D12CommandQueue), (void **)&queue)))
        return 1;
    queue->lpVtbl->Release(queue);
    device->lpVtbl->Release(device);
    return 0;
}
