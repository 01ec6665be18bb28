/* play_picture.c: what a texture looks like: copied into a read-back buffer on the queue that drew it. */
#include <errno.h>
#include <stdio.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/png_file.h"
#include "d3d12/play_internal.h"

struct play_reader { /* made for one device and size, kept while both stay */
    ID3D12Device *device;
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    ID3D12Fence *fence;
    ID3D12Resource *buffer;
    uint64_t value, size;
};

#define IID_OF(name) ((const IID *)&d12_ifaces[D12_IFACE_##name].iid)

static void release(void *p)
{
    if (p)
        ((IUnknown *)p)->lpVtbl->Release(p);
}

static void reader_finish(struct play_reader *r)
{
    release(r->buffer);
    release(r->fence);
    release(r->list);
    release(r->allocator);
    release(r->device);
    free(r);
}

void play_picture_finish(struct player *p)
{
    if (p->reader)
        reader_finish(p->reader);
    p->reader = NULL;
}

static HRESULT make_reader(struct play_reader *r, D3D12_COMMAND_LIST_TYPE type, uint64_t size)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_READBACK};
    D3D12_RESOURCE_DESC desc = {.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER, .Width = size, .Height = 1,
                                .DepthOrArraySize = 1, .MipLevels = 1, .SampleDesc = {1, 0},
                                .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR};
    ID3D12Device *d = r->device;
    HRESULT hr;

    r->size = size;
    if (FAILED(hr = d->lpVtbl->CreateCommandAllocator(d, type, IID_OF(ID3D12CommandAllocator), (void **)&r->allocator)) ||
        FAILED(hr = d->lpVtbl->CreateCommandList(d, 0, type, r->allocator, NULL, IID_OF(ID3D12GraphicsCommandList),
                                                 (void **)&r->list)) ||
        FAILED(hr = r->list->lpVtbl->Close(r->list)) ||
        FAILED(hr = d->lpVtbl->CreateFence(d, 0, D3D12_FENCE_FLAG_NONE, IID_OF(ID3D12Fence), (void **)&r->fence)))
        return hr;
    return d->lpVtbl->CreateCommittedResource(d, &heap, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COPY_DEST, NULL,
                                              IID_OF(ID3D12Resource), (void **)&r->buffer);
}

static HRESULT copy(struct player *p, ID3D12CommandQueue *queue, ID3D12Resource *texture,
                    const D3D12_PLACED_SUBRESOURCE_FOOTPRINT *layout)
{
    struct play_reader *r = p->reader;
    D3D12_TEXTURE_COPY_LOCATION dst = {.pResource = r->buffer, .Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT,
                                       .PlacedFootprint = *layout};
    D3D12_TEXTURE_COPY_LOCATION src = {.pResource = texture, .Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX};
    D3D12_RESOURCE_BARRIER b = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
                                .Transition = {texture, 0, D3D12_RESOURCE_STATE_PRESENT,
                                               D3D12_RESOURCE_STATE_COPY_SOURCE}};
    ID3D12GraphicsCommandList *l = r->list;
    HRESULT hr;

    if (FAILED(hr = r->allocator->lpVtbl->Reset(r->allocator)) ||
        FAILED(hr = l->lpVtbl->Reset(l, r->allocator, NULL)))
        return hr;
    l->lpVtbl->ResourceBarrier(l, 1, &b);
    l->lpVtbl->CopyTextureRegion(l, &dst, 0, 0, 0, &src, NULL);
    b.Transition.StateBefore = D3D12_RESOURCE_STATE_COPY_SOURCE;
    b.Transition.StateAfter = D3D12_RESOURCE_STATE_PRESENT;
    l->lpVtbl->ResourceBarrier(l, 1, &b);
    if (FAILED(hr = l->lpVtbl->Close(l)))
        return hr;
    queue->lpVtbl->ExecuteCommandLists(queue, 1, (ID3D12CommandList *const *)&l);
    if (FAILED(hr = queue->lpVtbl->Signal(queue, r->fence, ++r->value)))
        return hr;
    return play_wait_fence(p, r->fence, r->value) ? S_OK : E_FAIL;
}

/* Pictures of formats that PNG has no way for are left as they are: four bytes a pixel. */
static void to_rgba(uint8_t *px, size_t n, DXGI_FORMAT f)
{
    bool bgr = f == DXGI_FORMAT_B8G8R8A8_UNORM || f == DXGI_FORMAT_B8G8R8A8_UNORM_SRGB || f == DXGI_FORMAT_B8G8R8X8_UNORM;

    for (size_t i = 0; i < n; i++, px += 4) {
        if (bgr) {
            uint8_t t = px[0];

            px[0] = px[2];
            px[2] = t;
        }
        px[3] = 0xff;
    }
}

int play_picture(struct player *p, ID3D12CommandQueue *queue, ID3D12Resource *texture, uint32_t *width,
                 uint32_t *height, uint32_t *hash, const char *png, struct error *e)
{
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT layout = {0};
    D3D12_COMMAND_QUEUE_DESC qd = {0};
    struct play_reader *r = p->reader;
    ID3D12Device *device = NULL;
    D3D12_RESOURCE_DESC desc = {0};
    uint64_t row = 0, total = 0;
    uint8_t *data, *tight;
    UINT rows = 0;
    HRESULT hr;
    int err = 0;

    texture->lpVtbl->GetDesc(texture, &desc);
    queue->lpVtbl->GetDesc(queue, &qd);
    hr = texture->lpVtbl->GetDevice(texture, IID_OF(ID3D12Device), (void **)&device);
    if (FAILED(hr))
        return error_set(e, -EIO, "a back buffer has no device (0x%08x)", (unsigned)hr);
    device->lpVtbl->GetCopyableFootprints(device, &desc, 0, 1, 0, &layout, &rows, &row, &total);
    if (r && (r->device != device || r->size < total)) {
        reader_finish(r);
        r = p->reader = NULL;
    }
    if (!r) {
        p->reader = r = calloc(1, sizeof(*r));
        if (!r) {
            release(device);
            return error_set(e, -ENOMEM, "out of memory");
        }
        r->device = device;
        device->lpVtbl->AddRef(device);
        hr = make_reader(r, qd.Type, total);
    }
    release(device);
    if (FAILED(hr) || FAILED(hr = copy(p, queue, texture, &layout)) ||
        FAILED(hr = r->buffer->lpVtbl->Map(r->buffer, 0, NULL, (void **)&data)))
        return error_set(e, -EIO, "cannot read a back buffer (0x%08x)", (unsigned)hr);
    tight = malloc(row * rows);
    if (!tight)
        return error_set(e, -ENOMEM, "out of memory");
    for (UINT y = 0; y < rows; y++)
        memcpy(tight + y * row, data + (size_t)y * layout.Footprint.RowPitch, row);
    r->buffer->lpVtbl->Unmap(r->buffer, 0, NULL);
    *width = (uint32_t)desc.Width;
    *height = desc.Height;
    *hash = (uint32_t)XXH3_64bits(tight, row * rows);
    if (png && row == desc.Width * 4) {
        to_rgba(tight, (size_t)desc.Width * desc.Height, desc.Format);
        err = png_file_write(png, tight, *width, *height, row, e);
    }
    free(tight);
    return err;
}
