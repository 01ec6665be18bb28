/* SPDX-License-Identifier: MIT */
/* share.c: surfaces that several devices have, of this process or others, of Direct3D 9Ex, 10 or 11. The handle is the kernel's, as
 * everywhere before handles of NT. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"
#include "d3d/shared.h"

static DXGI_FORMAT dxgi_of(D3DFORMAT format)
{
    switch ((UINT)format) {
    case D3DFMT_A8R8G8B8:
        return DXGI_FORMAT_B8G8R8A8_UNORM;
    case D3DFMT_X8R8G8B8:
        return DXGI_FORMAT_B8G8R8X8_UNORM;
    case D3DFMT_A8B8G8R8:
        return DXGI_FORMAT_R8G8B8A8_UNORM;
    default:
        return DXGI_FORMAT_UNKNOWN;
    }
}

bool d9_can_share(const struct d9_device *d, const struct d9_shape *s)
{
    return d->ex && s->pool == D3DPOOL_DEFAULT && s->levels == 1 && s->faces == 1 &&
           (s->kind == D9_TEXTURE || s->kind == D9_SURFACE) && !(s->usage & D3DUSAGE_DEPTHSTENCIL) &&
           dxgi_of(s->format) != DXGI_FORMAT_UNKNOWN;
}

HRESULT d9_share_init(struct d9_resource *r)
{
    struct d3d_shared *told = calloc(1, sizeof(*told));

    if (!told)
        return E_OUTOFMEMORY;
    told->magic = D3D_SHARED_MAGIC;
    told->desc = (D3D11_TEXTURE2D_DESC){.Width = r->width,
                                        .Height = r->height,
                                        .MipLevels = 1,
                                        .ArraySize = 1,
                                        .Format = dxgi_of(r->format),
                                        .SampleDesc = {1, 0},
                                        .BindFlags = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_RENDER_TARGET,
                                        .MiscFlags = D3D11_RESOURCE_MISC_SHARED};
    r->told = told;
    r->kmt = (struct d3d_kmt_resource){.shared = true, .data = told, .size = sizeof(*told)};
    return S_OK;
}

HRESULT d9_share_open(struct d9_resource *r, HANDLE handle)
{
    struct d9_device *d = r->o.device;
    D3DDDI_OPENALLOCATIONINFO info = {0};
    D3DDDIARG_OPENRESOURCE a = {.NumAllocations = 1, .pOpenAllocationInfo = &info, .hResource = &r->kmt};
    struct d3d_kmt_resource opened;
    struct d3d_shared told;
    void *memory;
    HRESULT hr;

    if ((uintptr_t)handle > UINT32_MAX)
        return E_INVALIDARG;
    hr = d3d_resource_open(&d->kmt, (D3DKMT_HANDLE)(uintptr_t)handle, &told, sizeof(told), &opened, &info,
                           &memory);
    if (hr != S_OK)
        return hr;
    a.hKMResource = opened.resource;
    r->kmt = opened;
    r->kmt.shared = true;
    /* what it is has to be said once more, and rightly */
    if (told.magic != D3D_SHARED_MAGIC || told.desc.Width != r->width || told.desc.Height != r->height ||
        told.desc.Format != dxgi_of(r->format) || told.desc.MipLevels != 1 || told.desc.ArraySize != 1)
        hr = E_INVALIDARG;
    else
        hr = DDI9(d, pfnOpenResource, &a);
    if (hr == S_OK && d->lost == S_OK)
        r->o.drv = a.hResource;
    if (hr != S_OK)
        D3DKMTDestroyAllocation(
            &(D3DKMT_DESTROYALLOCATION){.hDevice = d->kmt.device, .hResource = opened.resource});
    free(memory);
    return hr;
}
