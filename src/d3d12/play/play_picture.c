/* SPDX-License-Identifier: MIT */
/* play_picture.c: what a resource holds: copied out of it, or into it, on a queue of the player's choice, and waited for. */
#include <errno.h>
#include <math.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file/png.h"
#include "d3d12/play/play_internal.h"
#include "d3d12/play/play_window.h"

struct play_reader { /* made for one device and size, kept while both stay */
    ID3D12Device *device;
    ID3D12CommandQueue *queue; /* for copies that need not stand behind anything */
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    ID3D12Fence *fence;
    ID3D12Resource *buffer;
    D3D12_HEAP_TYPE heap;
    D3D12_COMMAND_LIST_TYPE type;
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
    release(r->queue);
    release(r->device);
    free(r);
}

void play_picture_finish(struct player *p)
{
    if (p->reader && !p->busy)
        reader_finish(p->reader);
    p->reader = NULL;
}

HRESULT play_buffer(ID3D12Device *d, D3D12_HEAP_TYPE type, uint64_t size, ID3D12Resource **out)
{
    D3D12_HEAP_PROPERTIES heap = {.Type = type};
    D3D12_RESOURCE_DESC desc = {.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                .Width = size,
                                .Height = 1,
                                .DepthOrArraySize = 1,
                                .MipLevels = 1,
                                .SampleDesc = {1, 0},
                                .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR};

    return d->lpVtbl->CreateCommittedResource(
        d, &heap, D3D12_HEAP_FLAG_NONE, &desc,
        type == D3D12_HEAP_TYPE_READBACK ? D3D12_RESOURCE_STATE_COPY_DEST : D3D12_RESOURCE_STATE_GENERIC_READ,
        NULL, IID_OF(ID3D12Resource), (void **)out);
}

static HRESULT make_reader(struct play_reader *r)
{
    D3D12_COMMAND_QUEUE_DESC qd = {.Type = r->type};
    ID3D12Device *d = r->device;
    HRESULT hr;

    if (FAILED(hr = d->lpVtbl->CreateCommandQueue(d, &qd, IID_OF(ID3D12CommandQueue), (void **)&r->queue)) ||
        FAILED(hr = d->lpVtbl->CreateCommandAllocator(d, r->type, IID_OF(ID3D12CommandAllocator),
                                                      (void **)&r->allocator)) ||
        FAILED(hr = d->lpVtbl->CreateCommandList(d, 0, r->type, r->allocator, NULL,
                                                 IID_OF(ID3D12GraphicsCommandList), (void **)&r->list)) ||
        FAILED(hr = r->list->lpVtbl->Close(r->list)) ||
        FAILED(hr = d->lpVtbl->CreateFence(d, 0, D3D12_FENCE_FLAG_NONE, IID_OF(ID3D12Fence),
                                           (void **)&r->fence)))
        return hr;
    return play_buffer(d, r->heap, r->size, &r->buffer);
}

/* The reader for `texture`'s device, with a list for queues of `type` and a buffer of that heap and size. */
static HRESULT reader_for(struct player *p, ID3D12Resource *of, D3D12_COMMAND_LIST_TYPE type,
                          D3D12_HEAP_TYPE heap, uint64_t size)
{
    struct play_reader *r = p->reader;
    ID3D12Device *device = NULL;
    HRESULT hr = of->lpVtbl->GetDevice(of, IID_OF(ID3D12Device), (void **)&device);

    if (FAILED(hr))
        return hr;
    if (r && r->device == device && r->size >= size && r->type == type && r->heap == heap) {
        release(device);
        return S_OK;
    }
    play_picture_finish(p);
    r = p->reader = calloc(1, sizeof(*r));
    if (!r) {
        release(device);
        return E_FAIL;
    }
    *r = (struct play_reader){.device = device, .type = type, .heap = heap, .size = size};
    return make_reader(r);
}

/* Copies between `texture` and the reader's buffer, whatever its heap says. */
static HRESULT copy(struct player *p, ID3D12CommandQueue *queue, ID3D12Resource *r, UINT sub,
                    const D3D12_PLACED_SUBRESOURCE_FOOTPRINT *layout, D3D12_RESOURCE_STATES before,
                    D3D12_RESOURCE_STATES after, uint64_t bytes)
{
    struct play_reader *x = p->reader;
    bool in = x->heap == D3D12_HEAP_TYPE_UPLOAD;
    D3D12_RESOURCE_STATES during = in ? D3D12_RESOURCE_STATE_COPY_DEST : D3D12_RESOURCE_STATE_COPY_SOURCE;
    D3D12_TEXTURE_COPY_LOCATION a = {.pResource = x->buffer,
                                     .Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT};
    D3D12_TEXTURE_COPY_LOCATION b = {
        .pResource = r, .Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX, .SubresourceIndex = sub};
    D3D12_RESOURCE_BARRIER t = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
                                .Transition = {r, sub, before, during}};
    ID3D12GraphicsCommandList *l = x->list;
    HRESULT hr;

    if (FAILED(hr = x->allocator->lpVtbl->Reset(x->allocator)) ||
        FAILED(hr = l->lpVtbl->Reset(l, x->allocator, NULL)))
        return hr;
    if (before != during)
        l->lpVtbl->ResourceBarrier(l, 1, &t);
    if (layout) {
        a.PlacedFootprint = *layout;
        l->lpVtbl->CopyTextureRegion(l, in ? &b : &a, 0, 0, 0, in ? &a : &b, NULL);
    } else {
        l->lpVtbl->CopyBufferRegion(l, in ? r : x->buffer, 0, in ? x->buffer : r, 0, bytes);
    }
    t.Transition.StateBefore = during;
    t.Transition.StateAfter = after;
    if (after != during)
        l->lpVtbl->ResourceBarrier(l, 1, &t);
    if (FAILED(hr = l->lpVtbl->Close(l)))
        return hr;
    queue = queue ? queue : x->queue;
    queue->lpVtbl->ExecuteCommandLists(queue, 1, (ID3D12CommandList *const *)&l);
    if (FAILED(hr = queue->lpVtbl->Signal(queue, x->fence, ++x->value)))
        return hr;
    return play_wait_fence(p, x->fence, x->value) ? S_OK : E_FAIL;
}

/* How subresource `sub` lies in a buffer, and how many bytes its rows have without padding. */
static HRESULT layout_of(ID3D12Resource *r, UINT sub, D3D12_PLACED_SUBRESOURCE_FOOTPRINT *layout, UINT *rows,
                         uint64_t *row, uint64_t *total)
{
    D3D12_RESOURCE_DESC desc = {0};
    ID3D12Device *device = NULL;
    HRESULT hr = r->lpVtbl->GetDevice(r, IID_OF(ID3D12Device), (void **)&device);

    if (FAILED(hr))
        return hr;
    r->lpVtbl->GetDesc(r, &desc);
    device->lpVtbl->GetCopyableFootprints(device, &desc, sub, 1, 0, layout, rows, row, total);
    release(device);
    return *total == UINT64_MAX || desc.SampleDesc.Count > 1 ? E_INVALIDARG : S_OK;
}

/* Rows to or from the mapped buffer, without its padding. */
static void move_rows(uint8_t *tight, uint8_t *data, const D3D12_PLACED_SUBRESOURCE_FOOTPRINT *l, UINT rows,
                      uint64_t row, bool in)
{
    for (uint64_t y = 0; y < (uint64_t)rows * (l->Footprint.Depth ? l->Footprint.Depth : 1); y++) {
        uint8_t *at = data + l->Offset + y * l->Footprint.RowPitch;

        memcpy(in ? at : tight + y * row, in ? tight + y * row : at, row);
    }
}

static bool cpu_visible(ID3D12Resource *r)
{
    D3D12_HEAP_PROPERTIES heap = {0};

    if (FAILED(r->lpVtbl->GetHeapProperties(r, &heap, NULL)))
        return false;
    return heap.Type == D3D12_HEAP_TYPE_UPLOAD || heap.Type == D3D12_HEAP_TYPE_READBACK ||
           (heap.Type == D3D12_HEAP_TYPE_CUSTOM &&
            heap.CPUPageProperty > D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE);
}

static D3D12_COMMAND_LIST_TYPE type_of_queue(ID3D12CommandQueue *queue)
{
    D3D12_COMMAND_QUEUE_DESC d = {.Type = D3D12_COMMAND_LIST_TYPE_DIRECT};

    if (queue)
        queue->lpVtbl->GetDesc(queue, &d);
    return d.Type;
}

/* Why something could not be copied. */
static int not_copied(struct player *p, const char *what, HRESULT hr, struct error *e)
{
    return p->busy ? error_set(e, -ETIMEDOUT, "cannot %s: the device is not done with its work within %u ms",
                               what, play_timeout(p))
                   : error_set(e, -EIO, "cannot %s (0x%08x)", what, (unsigned)hr);
}

static int read_buffer(struct player *p, ID3D12Resource *r, struct play_image *out, struct error *e)
{
    D3D12_RESOURCE_DESC desc = {0};
    bool visible = cpu_visible(r);
    ID3D12Resource *from = r;
    HRESULT hr = S_OK;
    uint8_t *data;

    r->lpVtbl->GetDesc(r, &desc);
    out->size = desc.Width;
    out->row = desc.Width;
    out->rows = 1;
    if (!visible) {
        hr = reader_for(p, r, D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_HEAP_TYPE_READBACK, desc.Width);
        if (SUCCEEDED(hr))
            hr = copy(p, NULL, r, 0, NULL, D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COMMON,
                      desc.Width);
        from = p->reader ? p->reader->buffer : NULL;
    }
    if (FAILED(hr) || FAILED(hr = from->lpVtbl->Map(from, 0, NULL, (void **)&data)))
        return not_copied(p, "read a buffer", hr, e);
    out->bytes = malloc(desc.Width ? desc.Width : 1);
    if (out->bytes)
        memcpy(out->bytes, data, desc.Width);
    from->lpVtbl->Unmap(from, 0, &(D3D12_RANGE){0});
    return out->bytes ? 0
                      : error_set(e, -ENOMEM, "no memory for a buffer of %llu bytes",
                                  (unsigned long long)desc.Width);
}

int play_read(struct player *p, ID3D12CommandQueue *queue, ID3D12Resource *r, UINT sub,
              D3D12_RESOURCE_STATES state, struct play_image *out, struct error *e)
{
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT layout = {0};
    D3D12_RESOURCE_DESC desc = {0};
    uint64_t total = 0;
    uint8_t *data;
    HRESULT hr;

    *out = (struct play_image){0};
    r->lpVtbl->GetDesc(r, &desc);
    if (desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER)
        return read_buffer(p, r, out, e);
    hr = layout_of(r, sub, &layout, &out->rows, &out->row, &total);
    if (FAILED(hr))
        return error_set(e, -ENOTSUP, "a texture cannot be copied into a buffer (0x%08x)", (unsigned)hr);
    hr = reader_for(p, r, type_of_queue(queue), D3D12_HEAP_TYPE_READBACK, total);
    if (FAILED(hr) || FAILED(hr = copy(p, queue, r, sub, &layout, state, state, 0)) ||
        FAILED(hr = p->reader->buffer->lpVtbl->Map(p->reader->buffer, 0, NULL, (void **)&data)))
        return not_copied(p, "read a texture", hr, e);
    out->width = layout.Footprint.Width;
    out->height = layout.Footprint.Height;
    out->format = layout.Footprint.Format;
    out->rows *= layout.Footprint.Depth ? layout.Footprint.Depth : 1;
    out->size = out->row * out->rows;
    out->bytes = malloc(out->size ? out->size : 1);
    if (out->bytes)
        move_rows(out->bytes, data, &layout,
                  out->rows / (layout.Footprint.Depth ? layout.Footprint.Depth : 1), out->row, false);
    p->reader->buffer->lpVtbl->Unmap(p->reader->buffer, 0, &(D3D12_RANGE){0});
    return out->bytes ? 0 : error_set(e, -ENOMEM, "out of memory");
}

int play_write(struct player *p, ID3D12Resource *r, UINT sub, D3D12_RESOURCE_STATES before,
               D3D12_RESOURCE_STATES after, const void *bytes, size_t size, struct error *e)
{
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT layout = {0};
    D3D12_RESOURCE_DESC desc = {0};
    uint64_t total = 0, row = 0;
    bool buffer, visible;
    ID3D12Resource *to;
    uint8_t *data;
    UINT rows = 1;
    HRESULT hr = S_OK;

    r->lpVtbl->GetDesc(r, &desc);
    buffer = desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
    visible = buffer && cpu_visible(r);
    if (buffer) {
        total = row = desc.Width;
        layout.Footprint.Depth = 1;
    } else {
        hr = layout_of(r, sub, &layout, &rows, &row, &total);
    }
    if (FAILED(hr) || size != row * rows * (layout.Footprint.Depth ? layout.Footprint.Depth : 1))
        return error_set(e, -EBADMSG, "%zu bytes are not the content of subresource %u", size, sub);
    if (!visible)
        hr = reader_for(p, r, D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_HEAP_TYPE_UPLOAD, total);
    to = visible ? r : p->reader ? p->reader->buffer : NULL;
    if (FAILED(hr) || FAILED(hr = to->lpVtbl->Map(to, 0, NULL, (void **)&data)))
        return not_copied(p, "write to a resource", hr, e);
    if (buffer)
        memcpy(data, bytes, size);
    else
        move_rows((uint8_t *)bytes, data, &layout, rows, row, true);
    to->lpVtbl->Unmap(to, 0, NULL);
    if (!visible && FAILED(hr = copy(p, NULL, r, sub, buffer ? NULL : &layout, before, after, total)))
        return not_copied(p, "write to a resource", hr, e);
    return 0;
}

/* One float a pixel, as depth is: the least that there is is black, the most is white. */
static void to_grey(uint8_t *px, size_t n)
{
    float low = INFINITY, high = -INFINITY, v;

    for (size_t i = 0; i < n; i++) {
        memcpy(&v, px + 4 * i, 4);
        if (isfinite(v)) {
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
    }
    for (size_t i = 0; i < n; i++, px += 4) {
        memcpy(&v, px, 4);
        memset(px, isfinite(v) && high > low ? (int)(255 * ((double)v - low) / ((double)high - low)) : 0, 3);
        px[3] = 0xff;
    }
}

/* Pictures of formats that PNG has no way for are left as they are: four bytes a pixel. */
static void to_rgba(uint8_t *px, size_t n, DXGI_FORMAT f, bool alpha)
{
    if (f == DXGI_FORMAT_D32_FLOAT || f == DXGI_FORMAT_R32_FLOAT || f == DXGI_FORMAT_R32_TYPELESS) {
        to_grey(px, n);
        return;
    }
    alpha = alpha && f != DXGI_FORMAT_B8G8R8X8_UNORM;
    bool bgr = f == DXGI_FORMAT_B8G8R8A8_UNORM || f == DXGI_FORMAT_B8G8R8A8_UNORM_SRGB ||
               f == DXGI_FORMAT_B8G8R8X8_UNORM || f == DXGI_FORMAT_B8G8R8A8_TYPELESS;

    for (size_t i = 0; i < n; i++, px += 4) {
        if (bgr) {
            uint8_t t = px[0];

            px[0] = px[2];
            px[2] = t;
        }
        px[3] = alpha ? px[3] : 0xff;
    }
}

int play_save_png(struct play_image *i, bool alpha, const char *path, struct error *e)
{
    if (!play_is_picture(i))
        return 0;
    to_rgba(i->bytes, (size_t)i->width * i->height, i->format, alpha);
    return png_file_write(path, i->bytes, i->width, i->height, i->row, e);
}

/* In the window, which is made with the first one. */
static int show(struct player *p, const struct play_image *i, struct error *e)
{
    size_t n = (size_t)i->width * i->height;
    uint8_t *rgba;
    int err = 0;

    if (!play_is_picture(i))
        return error_set(e, -ENOTSUP, "a frame cannot be shown: not four bytes a pixel");
    if (!p->window)
        err = play_window_open(&p->window, i->width, i->height, "aerogpu play", e);
    rgba = err ? NULL : malloc(4 * n);
    if (!rgba)
        return err ? err : error_set(e, -ENOMEM, "out of memory");
    memcpy(rgba, i->bytes, 4 * n);
    to_rgba(rgba, n, i->format, false);
    err = play_window_show(p->window, rgba, i->width, i->height, e);
    free(rgba);
    p->closed = err == -ECANCELED;
    return p->closed ? 0 : err;
}

int play_picture(struct player *p, ID3D12CommandQueue *queue, ID3D12Resource *texture, uint32_t *hash,
                 const char *png, struct error *e)
{
    struct play_image i;
    int err = play_read(p, queue, texture, 0, D3D12_RESOURCE_STATE_PRESENT, &i, e);

    if (err)
        return err;
    *hash = (uint32_t)XXH3_64bits(i.bytes, i.size);
    if (p->params->window)
        err = show(p, &i, e);
    if (png && !err)
        err = play_save_png(&i, false, png, e);
    free(i.bytes);
    return err;
}
