/* SPDX-License-Identifier: MIT */
/* resource.c: buffers, textures and surfaces; their bytes.
 *
 *   system memory   the runtime's; the driver copies from and to it
 *   video memory    memory of the host. What a program locks is the shadow, in the program's format: it is read back when the device
 *                   wrote since (stale), and what was written goes there when it is unlocked.
 *   primary         guest memory that can be scanned out
 */
#include "umd/d3d9/umd9.h"

#include <stdlib.h>

static uint32_t blocks(uint32_t n, uint32_t block)
{
    return (n + block - 1) / block;
}

/* ---- to the device and back ------------------------------------------------ */

void umd9_upload_buffer(struct umd9_device *d, uint32_t name, uint64_t offset, const uint8_t *from,
                        uint64_t size)
{
    uint64_t most = d->command_size / 2 & ~63u;

    for (uint64_t at = 0, n; at < size; at += n) {
        n = size - at < most ? size - at : most;
        umd9_room(d, n);
        ABI_EMIT_TAIL(&d->stream, UPLOAD_RESOURCE, upload_resource, from + at, (uint32_t)n,
                      .resource_handle = name, .offset_bytes = offset + at,
                      .size_bytes = (n + 3) & ~UINT64_C(3));
    }
}

/* Where a surface begins in the linear layout that packets speak of; the bytes of its rows. */
static uint64_t linear(const struct umd9_resource *r, uint32_t surface, uint32_t *pitch)
{
    const struct umd9_format *f = r->format;
    uint64_t layer = 0, offset = 0;

    for (uint32_t m = 0; m < r->mips; m++) {
        const struct umd9_surface *s = &r->surfaces[m];
        uint32_t row = m || !r->pitch ? blocks(s->width, f->block) * f->abi_bytes : r->pitch;

        if (m < surface % r->mips)
            offset += (uint64_t)row * s->rows * s->depth;
        else if (m == surface % r->mips)
            *pitch = row;
        layer += (uint64_t)row * s->rows * s->depth;
    }
    return offset + surface / r->mips * layer;
}

static void upload_rows(struct umd9_device *d, uint32_t name, uint64_t offset, const uint8_t *from,
                        uint64_t size)
{
    umd9_room(d, size);
    ABI_EMIT_TAIL(&d->stream, UPLOAD_RESOURCE, upload_resource, from, (uint32_t)size, .resource_handle = name,
                  .offset_bytes = offset, .size_bytes = size);
}

static void upload_slice(struct umd9_device *d, struct umd9_resource *r, uint32_t surface,
                         const D3DDDIBOX *box, uint32_t z, const uint8_t *from, uint32_t pitch)
{
    const struct umd9_format *f = r->format;
    uint32_t to_pitch = 0, columns = blocks(box->Right - box->Left, f->block),
             rows = blocks(box->Bottom - box->Top, f->block);
    uint32_t row = columns * f->abi_bytes, left = box->Left / f->block * f->abi_bytes,
             top = box->Top / f->block;
    uint64_t at = linear(r, surface, &to_pitch) + left;
    bool whole = row == to_pitch;
    uint32_t group = whole ? d->command_size / 2 / row : 1;
    uint8_t *buffer;

    at += ((uint64_t)z * r->surfaces[surface].rows + top) * to_pitch;
    group = group > rows ? rows : group ? group : 1;
    buffer = malloc((size_t)group * row);
    if (!buffer)
        return;
    for (uint32_t i = 0, n; i < rows; i += n) {
        n = rows - i < group ? rows - i : group;
        for (uint32_t k = 0; k < n; k++)
            if (f->planar)
                f->planar(buffer + (size_t)k * row, from - (size_t)box->Top * pitch - box->Left, pitch,
                          r->surfaces[surface].height, box->Left, box->Top + i + k, columns);
            else if (f->widen)
                f->widen(buffer + (size_t)k * row, from + (size_t)(i + k) * pitch, columns);
            else
                memcpy(buffer + (size_t)k * row, from + (size_t)(i + k) * pitch, row);
        upload_rows(d, r->name, at + (uint64_t)i * to_pitch, buffer, (uint64_t)n * row);
    }
    free(buffer);
}

void umd9_upload(struct umd9_device *d, struct umd9_resource *r, uint32_t surface, const D3DDDIBOX *box,
                 const uint8_t *from, uint32_t pitch, uint32_t slice)
{
    if (r->alloc && r->alloc->resource)
        r->alloc->drawn = true;
    for (uint32_t z = box->Front; z < box->Back; z++, from += slice)
        upload_slice(d, r, surface, box, z, from, pitch);
}

void umd9_written(struct umd9_resource *r, uint32_t surface)
{
    r->surfaces[surface].stale = r->unresolved = true;
    if (r->alloc && r->alloc->resource)
        r->alloc->drawn = true;
}

uint8_t *umd9_texel(const struct umd9_resource *r, uint32_t surface, uint8_t *base, uint32_t x, uint32_t y,
                    uint32_t z)
{
    const struct umd9_surface *s = &r->surfaces[surface];

    return base + (size_t)z * s->slice + (size_t)(y / r->format->block) * s->pitch +
           (size_t)(x / r->format->block) * r->format->bytes;
}

uint32_t umd9_source(struct umd9_device *d, struct umd9_resource *r)
{
    if (r->samples == 1)
        return r->name;
    umd9_room(d, 256);
    if (!r->resolved) {
        r->resolved = umd9_name(d);
        ABI_EMIT(&d->stream, CREATE_TEXTURE2D, create_texture2d, .texture_handle = r->resolved,
                 .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = r->format->abi,
                 .width = r->surfaces[0].width, .height = r->surfaces[0].height, .mip_levels = 1,
                 .array_layers = 1);
    }
    if (r->unresolved)
        ABI_EMIT(&d->stream, EXT_RESOLVE, ext_resolve, .dst_texture = r->resolved, .src_texture = r->name,
                 .format = r->format->abi);
    r->unresolved = false;
    return r->resolved;
}

/* Guest memory that a picture of that shape is copied into. */
static HRESULT scratch(struct umd9_device *d, const struct umd9_format *f, uint32_t width, uint32_t height)
{
    struct umd9_scratch *s = &d->scratch;
    uint32_t pitch = (blocks(width, f->block) * f->abi_bytes + 255) & ~255u;
    HRESULT hr;

    if (s->alloc && s->format == f->abi && s->width == width && s->height == height)
        return S_OK;
    if (s->alloc) {
        umd9_room(d, 64);
        ABI_EMIT(&d->stream, DESTROY_RESOURCE, destroy_resource, .resource_handle = s->name);
        umd9_alloc_destroy(d, s->alloc);
        s->alloc = NULL;
    }
    hr = umd9_alloc_create(d, &s->alloc, (uint64_t)pitch * blocks(height, f->block), NULL, 0);
    if (hr != S_OK)
        return hr;
    *s = (struct umd9_scratch){s->alloc, umd9_name(d), f->abi, width, height, pitch};
    umd9_room(d, 128);
    umd9_alloc_use(s->alloc, false);
    ABI_EMIT(&d->stream, CREATE_TEXTURE2D, create_texture2d, .texture_handle = s->name,
             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = f->abi, .width = width,
             .height = height, .mip_levels = 1, .array_layers = 1, .row_pitch_bytes = pitch,
             .backing_alloc_id = s->alloc->id);
    return S_OK;
}

HRESULT umd9_download(struct umd9_device *d, struct umd9_resource *r, uint32_t surface, const RECT *rect,
                      uint8_t *to, uint32_t pitch, bool wait)
{
    const struct umd9_format *f = r->format;
    const struct umd9_surface *s = &r->surfaces[surface];
    uint32_t width = (uint32_t)(rect->right - rect->left), height = (uint32_t)(rect->bottom - rect->top);
    uint32_t source;
    void *data = NULL;
    HRESULT hr;

    if ((f->widen && !f->narrow) || f->bytes != f->abi_bytes)
        return D3DDDIERR_NOTAVAILABLE;
    hr = scratch(d, f, s->width, s->height);
    if (hr != S_OK)
        return hr;
    source = umd9_source(d, r);
    umd9_room(d, 128);
    umd9_alloc_use(d->scratch.alloc, true);
    umd9_alloc_use(r->alloc, false);
    ABI_EMIT(&d->stream, COPY_TEXTURE2D, copy_texture2d, .dst_texture = d->scratch.name,
             .src_texture = source, .src_mip_level = surface % r->mips, .src_array_layer = surface / r->mips,
             .dst_x = (uint32_t)rect->left, .dst_y = (uint32_t)rect->top, .src_x = (uint32_t)rect->left,
             .src_y = (uint32_t)rect->top, .width = width, .height = height,
             .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    hr = umd9_alloc_lock(d, d->scratch.alloc, wait, &data);
    if (hr != S_OK)
        return hr;
    for (uint32_t i = 0; i < blocks(height, f->block); i++) {
        const uint8_t *from = (uint8_t *)data +
                              (size_t)((uint32_t)rect->top / f->block + i) * d->scratch.pitch +
                              (uint32_t)rect->left / f->block * f->bytes;

        if (f->narrow)
            f->narrow(to + (size_t)i * pitch, from, width);
        else
            memcpy(to + (size_t)i * pitch, from, (size_t)blocks(width, f->block) * f->bytes);
    }
    umd9_alloc_unlock(d, d->scratch.alloc);
    return S_OK;
}

/* ---- creating -------------------------------------------------------------- */

static void describe(struct umd9_resource *r, const D3DDDIARG_CREATERESOURCE *a)
{
    r->mips = a->MipLevels ? a->MipLevels : 1;
    r->num_surfaces = a->SurfCount;
    r->faces = r->num_surfaces / r->mips;
    for (uint32_t i = 0; i < a->SurfCount; i++) {
        const D3DDDI_SURFACEINFO *from = &a->pSurfList[i];
        struct umd9_surface *s = &r->surfaces[i];
        uint32_t lines; /* in memory */

        s->width = from->Width;
        s->height = from->Height ? from->Height : 1;
        s->depth = from->Depth ? from->Depth : 1;
        s->sysmem = (uint8_t *)(uintptr_t)from->pSysMem;
        s->offset = r->size;
        if (!r->format) {
            s->pitch = s->width;
            s->rows = 1;
        } else {
            s->pitch = (blocks(s->width, r->format->block) * r->format->bytes + 3) & ~3u;
            s->rows = blocks(s->height, r->format->block);
        }
        lines = s->rows + (r->format && r->format->planar ? (s->rows + 1) / 2 : 0);
        r->size += (uint64_t)s->pitch * lines * s->depth;
        if (s->sysmem && from->SysMemPitch)
            s->pitch = from->SysMemPitch;
        s->slice = s->sysmem && from->SysMemSlicePitch ? from->SysMemSlicePitch : s->pitch * lines;
    }
}

static uint32_t usage_of(D3DDDI_RESOURCEFLAGS f)
{
    return (f.RenderTarget || f.Primary ? AEROGPU_RESOURCE_USAGE_RENDER_TARGET : 0u) |
           (f.ZBuffer ? AEROGPU_RESOURCE_USAGE_DEPTH_STENCIL : 0u) |
           (f.Primary ? AEROGPU_RESOURCE_USAGE_SCANOUT : 0u) |
           (f.Volume ? AEROGPU_RESOURCE_USAGE_EXT_3D : 0u) |
           (f.ZBuffer && !f.Texture ? 0u : AEROGPU_RESOURCE_USAGE_TEXTURE);
}

static void emit_create(struct umd9_device *d, struct umd9_resource *r)
{
    umd9_room(d, 128);
    umd9_alloc_use(r->alloc, false);
    if (!r->format)
        ABI_EMIT(&d->stream, CREATE_BUFFER, create_buffer, .buffer_handle = r->name,
                 .usage_flags = AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER | AEROGPU_RESOURCE_USAGE_INDEX_BUFFER,
                 .size_bytes = (r->size + 3) & ~UINT64_C(3));
    else
        ABI_EMIT(&d->stream, CREATE_TEXTURE2D, create_texture2d, .texture_handle = r->name,
                 .usage_flags =
                     usage_of(r->flags) | AEROGPU_RESOURCE_USAGE_EXT_SAMPLES(r->samples > 1 ? 2 : 0),
                 .format = r->format->abi, .width = r->surfaces[0].width, .height = r->surfaces[0].height,
                 .mip_levels = r->mips, .array_layers = r->flags.Volume ? r->surfaces[0].depth : r->faces,
                 .row_pitch_bytes = r->pitch, .backing_alloc_id = r->alloc ? r->alloc->id : 0);
}

static HRESULT APIENTRY destroy_resource(HANDLE h, HANDLE resource);

/* What may have several samples: the device has them where there are no mips, and no guest memory. */
static bool plain_target(const D3DDDIARG_CREATERESOURCE *a)
{
    const D3DDDI_RESOURCEFLAGS f = a->Flags;

    return a->SurfCount == 1 && !a->MultisampleQuality && (f.RenderTarget || f.ZBuffer) && !f.Primary &&
           !f.SharedResource && !f.Texture && a->Pool == D3DDDIPOOL_VIDEOMEMORY;
}

static HRESULT APIENTRY create_resource(HANDLE h, D3DDDIARG_CREATERESOURCE *a)
{
    struct umd9_device *d = umd9_device(h);
    bool buffer = a->Flags.VertexBuffer || a->Flags.IndexBuffer;
    const struct umd9_format *f = umd9_format((uint32_t)a->Format);
    struct umd9_resource *r;
    HRESULT hr = umd9_state(d);
    uint32_t samples;
    void *memory;

    if (hr != S_OK)
        return hr;
    if (f && !umd9_operations(f, d->info.device_features))
        f = NULL;
    samples = umd9_samples(f, d->info.device_features, a->MultisampleType);
    if (!a->SurfCount || !samples || (samples > 1 && !plain_target(a)) ||
        (a->Flags.SharedResource &&
         (a->SurfCount != 1 || a->Pool == D3DDDIPOOL_SYSTEMMEM || !umd9_shared_format(f))) ||
        (!buffer && !f && a->Pool != D3DDDIPOOL_SYSTEMMEM) ||
        (a->Flags.Volume && a->Pool != D3DDDIPOOL_SYSTEMMEM &&
         !(umd9_operations(f, d->info.device_features) & FORMATOP_VOLUMETEXTURE)))
        return D3DDDIERR_NOTAVAILABLE;
    r = calloc(1, sizeof(*r) + a->SurfCount * sizeof(r->surfaces[0]));
    if (!r)
        return E_OUTOFMEMORY;
    r->runtime = a->hResource;
    r->format = buffer ? NULL : f;
    r->flags = a->Flags;
    r->samples = samples;
    r->type = a->MultisampleType;
    r->unresolved = true;
    describe(r, a);
    if (a->Pool != D3DDDIPOOL_SYSTEMMEM) {
        if (r->size > UINT32_MAX - 16) { /* with its shadow */
            hr = E_OUTOFMEMORY;
        } else if (a->Flags.Primary || a->Flags.SharedResource) {
            r->pitch = (r->surfaces[0].width * 4 + 255) & ~255u;
            hr = umd9_alloc_create(d, &r->alloc, (uint64_t)r->pitch * r->surfaces[0].height, r,
                                   a->VidPnSourceId);
        } else if (a->Pool == D3DDDIPOOL_NONLOCALVIDMEM && f && f->bytes == f->abi_bytes && !f->widen &&
                   a->SurfCount == 1 && !a->Flags.Volume) {
            r->nonlocal = true;
            r->pitch = (blocks(r->surfaces[0].width, f->block) * f->bytes + 255) & ~255u;
            hr = umd9_alloc_create(d, &r->alloc, (uint64_t)r->pitch * blocks(r->surfaces[0].height, f->block),
                                   NULL, 0);
        }
        if (hr != S_OK) {
            free(r);
            return hr;
        }
        r->name = umd9_name(d);
        emit_create(d, r);
    }
    if (a->Flags.SharedResource) {
        umd9_room(d, 64);
        ABI_EMIT(&d->stream, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = r->name,
                 .share_token = r->token);
        hr = umd9_alloc_lock(d, r->alloc, true,
                             &memory); /* done: whoever gets the handle may open it at once */
        if (hr != S_OK) {
            destroy_resource(h, r);
            return hr;
        }
        umd9_alloc_unlock(d, r->alloc);
    }
    a->hResource = r;
    return S_OK;
}

/* What a shared surface's format is called in its private data; 0: it cannot be shared. */
uint32_t umd9_shared_format(const struct umd9_format *f)
{
    switch (f ? f->d3d : 0) {
    case D3DDDIFMT_A8R8G8B8:
        return AEROGPU_DXGI_B8G8R8A8_UNORM;
    case D3DDDIFMT_X8R8G8B8:
        return AEROGPU_DXGI_B8G8R8X8_UNORM;
    case D3DDDIFMT_A8B8G8R8:
        return AEROGPU_DXGI_R8G8B8A8_UNORM;
    default:
        return 0;
    }
}

static uint32_t format_shared(uint32_t dxgi)
{
    return dxgi == AEROGPU_DXGI_R8G8B8A8_UNORM   ? D3DDDIFMT_A8B8G8R8
           : dxgi == AEROGPU_DXGI_B8G8R8X8_UNORM ? D3DDDIFMT_X8R8G8B8
           : dxgi == AEROGPU_DXGI_B8G8R8A8_UNORM ? D3DDDIFMT_A8R8G8B8
                                                 : 0;
}

/* What another device made, of this interface or another. */
static HRESULT APIENTRY open_resource(HANDLE h, D3DDDIARG_OPENRESOURCE *a)
{
    struct umd9_device *d = umd9_device(h);
    const D3DDDI_OPENALLOCATIONINFO *info = a->pOpenAllocationInfo;
    struct aerogpu_alloc_priv_v2 p = {0};
    D3DDDI_SURFACEINFO surface = {0};
    D3DDDIARG_CREATERESOURCE same = {.pSurfList = &surface, .SurfCount = 1, .MipLevels = 1};
    struct umd9_resource *r;
    HRESULT hr = umd9_state(d);

    if (hr != S_OK)
        return hr;
    if (a->NumAllocations == 1 && info->PrivateDriverDataSize >= sizeof(p))
        memcpy(&p, info->pPrivateDriverData, sizeof(p));
    if (p.magic != AEROGPU_ALLOC_PRIV_MAGIC || !p.share_token || p.kind != AEROGPU_ALLOC_KIND_TEXTURE2D ||
        !format_shared(p.format))
        return E_INVALIDARG;
    r = calloc(1, sizeof(*r) + sizeof(r->surfaces[0]));
    if (r)
        r->alloc = calloc(1, sizeof(*r->alloc));
    if (!r || !r->alloc) {
        free(r);
        return E_OUTOFMEMORY;
    }
    r->runtime = a->hResource;
    r->format = umd9_format(format_shared(p.format));
    r->flags.SharedResource = r->flags.Texture = r->flags.RenderTarget = 1;
    r->samples = 1;
    surface.Width = p.width;
    surface.Height = p.height;
    describe(r, &same);
    r->pitch = p.row_pitch_bytes;
    r->token = p.share_token;
    *r->alloc = (struct umd9_alloc){
        .id = p.alloc_id, .handle = info->hAllocation, .size = p.size_bytes, .resource = r->runtime};
    umd9_alloc_link(d, r->alloc);
    r->name = umd9_name(d);
    umd9_room(d, 64);
    umd9_alloc_use(r->alloc, false);
    ABI_EMIT(&d->stream, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = r->name,
             .share_token = r->token);
    a->hResource = r;
    return S_OK;
}

static void unbind(struct umd9_device *d, const struct umd9_resource *r)
{
    for (int i = 0; i < UMD9_TARGETS; i++)
        if (d->targets[i] == r) {
            d->targets[i] = NULL;
            d->targets_changed = true;
        }
    if (d->depth == r) {
        d->depth = NULL;
        d->targets_changed = true;
    }
    for (int i = 0; i < UMD9_SAMPLERS; i++)
        if (d->textures[i] == r)
            d->textures[i] = NULL;
    for (int i = 0; i < UMD9_STREAMS; i++)
        if (d->streams[i].buffer == r) {
            d->streams[i].buffer = NULL;
            d->streams_changed = true;
        }
    if (d->indices_bound == r)
        d->indices_bound = NULL;
}

static HRESULT APIENTRY destroy_resource(HANDLE h, HANDLE resource)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *r = resource;

    unbind(d, r);
    d->locked_buffers -= !r->format && r->range.Size;
    for (uint32_t i = 0; i < r->num_surfaces; i++)
        if (r->surfaces[i].view) {
            umd9_room(d, 64);
            ABI_EMIT(&d->stream, DESTROY_TEXTURE_VIEW, destroy_texture_view,
                     .view_handle = r->surfaces[i].view);
        }
    umd9_room(d, 64);
    if (r->resolved)
        ABI_EMIT(&d->stream, DESTROY_RESOURCE, destroy_resource, .resource_handle = r->resolved);
    if (r->name)
        ABI_EMIT(&d->stream, DESTROY_RESOURCE, destroy_resource, .resource_handle = r->name);
    umd9_alloc_destroy(d, r->alloc);
    free(r->shadow);
    free(r);
    return S_OK;
}

uint32_t umd9_target(struct umd9_device *d, struct umd9_resource *r, uint32_t surface)
{
    struct umd9_surface *s = &r->surfaces[surface];

    if (r->num_surfaces == 1)
        return r->name;
    if (!s->view) {
        s->view = umd9_name(d);
        umd9_room(d, 128);
        ABI_EMIT(&d->stream, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = s->view,
                 .texture_handle = r->name, .format = r->format->abi, .base_mip_level = surface % r->mips,
                 .mip_level_count = 1, .base_array_layer = surface / r->mips, .array_layer_count = 1);
    }
    return s->view;
}

/* ---- locks ----------------------------------------------------------------- */

void umd9_upload_locked(struct umd9_device *d, const struct umd9_resource *r)
{
    uint32_t low = r->range.Offset & ~3u, high = (r->range.Offset + r->range.Size + 3) & ~3u;

    umd9_upload_buffer(d, r->name, low, r->shadow + low, high - low);
}

/* Ranges that are locked at once are one from the first to the last byte. */
static HRESULT lock_buffer(struct umd9_device *d, struct umd9_resource *r, D3DDDIARG_LOCK *a)
{
    D3DDDIRANGE want = a->Flags.RangeValid ? a->Range : (D3DDDIRANGE){0, (UINT)r->size};
    UINT end;

    if (want.Offset > r->size)
        return E_INVALIDARG;
    if (!want.Size || want.Size > r->size - want.Offset)
        want.Size = (UINT)(r->size - want.Offset);
    a->pSurfData = r->shadow + want.Offset;
    a->Pitch = a->SlicePitch = (UINT)r->size;
    end = want.Offset + want.Size;
    if (r->range.Size && r->range.Offset + r->range.Size > end)
        end = r->range.Offset + r->range.Size;
    if (r->range.Size && r->range.Offset < want.Offset)
        want.Offset = r->range.Offset;
    d->locked_buffers += !r->range.Size && end > want.Offset;
    r->range = (D3DDDIRANGE){want.Offset, end - want.Offset};
    return S_OK;
}

/* What is in memory that the device and the CPU both have: the device's own writes are there when they are done. */
static HRESULT lock_nonlocal(struct umd9_device *d, struct umd9_resource *r, D3DDDIARG_LOCK *a)
{
    void *memory;
    HRESULT hr = umd9_alloc_lock(d, r->alloc, !a->Flags.DoNotWait, &memory);

    if (hr != S_OK)
        return hr;
    r->surfaces[0].locked_read_only = a->Flags.ReadOnly;
    a->pSurfData = memory;
    a->Pitch = a->SlicePitch = r->pitch;
    return S_OK;
}

static void unlock_nonlocal(struct umd9_device *d, struct umd9_resource *r)
{
    umd9_alloc_unlock(d, r->alloc);
    if (r->surfaces[0].locked_read_only)
        return;
    umd9_room(d, 64);
    umd9_alloc_use(r->alloc, false);
    ABI_EMIT(&d->stream, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = r->name,
             .size_bytes = r->alloc->size);
}

static HRESULT lock_surface(struct umd9_device *d, struct umd9_resource *r, D3DDDIARG_LOCK *a)
{
    struct umd9_surface *s = &r->surfaces[a->SubResourceIndex];
    RECT all = {0, 0, (LONG)s->width, (LONG)s->height};
    HRESULT hr;

    s->area = a->Flags.BoxValid ? a->Box : (D3DDDIBOX){0, 0, s->width, s->height, 0, s->depth};
    if (a->Flags.AreaValid)
        s->area = (D3DDDIBOX){
            (UINT)a->Area.left, (UINT)a->Area.top, (UINT)a->Area.right, (UINT)a->Area.bottom, 0, 1};
    if (s->area.Right > s->width || s->area.Bottom > s->height || s->area.Back > s->depth ||
        s->area.Left >= s->area.Right || s->area.Top >= s->area.Bottom || s->area.Front >= s->area.Back)
        return E_INVALIDARG;
    if ((s->stale || r->flags.SharedResource) &&
        !a->Flags.Discard) { /* others write to what is shared, too */
        hr = umd9_download(d, r, a->SubResourceIndex, &all, r->shadow + s->offset, s->pitch,
                           !a->Flags.DoNotWait);
        if (hr != S_OK)
            return hr;
        s->stale = false;
    }
    s->locked = true;
    s->locked_read_only = a->Flags.ReadOnly;
    a->pSurfData =
        umd9_texel(r, a->SubResourceIndex, r->shadow + s->offset, s->area.Left, s->area.Top, s->area.Front);
    a->Pitch = s->pitch;
    a->SlicePitch = s->slice;
    return S_OK;
}

static HRESULT APIENTRY lock(HANDLE h, D3DDDIARG_LOCK *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *r = a->hResource;

    if (d->removed)
        return D3DDDIERR_DEVICEREMOVED;
    if (a->SubResourceIndex >= r->num_surfaces || !r->name)
        return E_INVALIDARG;
    if (r->nonlocal)
        return lock_nonlocal(d, r, a);
    if (!r->shadow && !(r->shadow = calloc(1, r->size + 16)))
        return E_OUTOFMEMORY;
    return r->format ? lock_surface(d, r, a) : lock_buffer(d, r, a);
}

static HRESULT APIENTRY unlock(HANDLE h, CONST D3DDDIARG_UNLOCK *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *r = a->hResource;
    struct umd9_surface *s = &r->surfaces[a->SubResourceIndex];

    if (r->nonlocal) {
        unlock_nonlocal(d, r);
        return umd9_state(d);
    }
    if (!r->shadow)
        return E_INVALIDARG;
    if (!r->format) {
        if (r->range.Size)
            umd9_upload_locked(d, r);
        d->locked_buffers -= r->range.Size != 0;
        r->range.Size = 0;
    } else if (s->locked && !s->locked_read_only) {
        umd9_upload(d, r, a->SubResourceIndex, &s->area,
                    umd9_texel(r, a->SubResourceIndex, r->shadow + s->offset, s->area.Left, s->area.Top,
                               s->area.Front),
                    s->pitch, s->slice);
    }
    s->locked = false;
    return umd9_state(d);
}

static HRESULT APIENTRY set_priority(HANDLE h, CONST D3DDDIARG_SETPRIORITY *a)
{
    return S_OK; /* nothing is ever evicted */
}

static HRESULT APIENTRY query_residency(HANDLE h, CONST D3DDDIARG_QUERYRESOURCERESIDENCY *a)
{
    return umd9_state(umd9_device(h)); /* all that there is, is resident */
}

void umd9_resource_functions(D3DDDI_DEVICEFUNCS *f)
{
    f->pfnCreateResource = create_resource;
    f->pfnOpenResource = open_resource;
    f->pfnDestroyResource = destroy_resource;
    f->pfnLock = lock;
    f->pfnUnlock = unlock;
    f->pfnSetPriority = set_priority;
    f->pfnQueryResourceResidency = query_residency;
}
