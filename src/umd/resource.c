/* SPDX-License-Identifier: MIT */
/* resource.c: textures and buffers, their guest memory, sharing, copies. */
#include "umd/priv.h"

#include <stdlib.h>

#include "umd/alloc_id.h"

/* The formats that allocations say in their private data, as DXGI_FORMAT. */
static uint32_t dxgi_format(uint32_t format)
{
    switch (format) {
    case AEROGPU_FORMAT_B8G8R8A8_UNORM:
        return AEROGPU_DXGI_B8G8R8A8_UNORM;
    case AEROGPU_FORMAT_B8G8R8X8_UNORM:
        return AEROGPU_DXGI_B8G8R8X8_UNORM;
    case AEROGPU_FORMAT_R8G8B8A8_UNORM:
        return AEROGPU_DXGI_R8G8B8A8_UNORM;
    default:
        return 0;
    }
}

static uint32_t format_of_dxgi(uint32_t dxgi)
{
    return dxgi == AEROGPU_DXGI_B8G8R8A8_UNORM   ? AEROGPU_FORMAT_B8G8R8A8_UNORM
           : dxgi == AEROGPU_DXGI_R8G8B8A8_UNORM ? AEROGPU_FORMAT_R8G8B8A8_UNORM
                                                 : AEROGPU_FORMAT_B8G8R8X8_UNORM;
}

static struct umd_resource *new_resource(struct umd_device *d)
{
    struct umd_resource *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->device = d;
    r->handle = umd_name(d);
    r->next = d->resources;
    d->resources = r;
    return r;
}

static void unlink_resource(struct umd_resource *r)
{
    umd_forget(r);
    for (struct umd_resource **p = &r->device->resources; *p; p = &(*p)->next)
        if (*p == r) {
            *p = r->next;
            break;
        }
    free(r);
}

/* Guest memory for `r`. */
static NTSTATUS allocate(struct umd_resource *r, bool shared, bool primary)
{
    struct umd_device *d = r->device;
    struct aerogpu_alloc_priv_v2 priv = {
        .magic = AEROGPU_ALLOC_PRIV_MAGIC,
        .version = 2,
        .alloc_id = umd_make_alloc_id(),
        .flags = AEROGPU_ALLOC_PRIV_FLAG_CPU_VISIBLE | (shared ? AEROGPU_ALLOC_PRIV_FLAG_SHARED : 0),
        .size_bytes = r->size,
        .desc = r->pitch,
        .kind = r->buffer ? AEROGPU_ALLOC_KIND_BUFFER : AEROGPU_ALLOC_KIND_TEXTURE2D,
        .width = r->width,
        .height = r->height,
        .format = r->buffer ? 0 : dxgi_format(r->format),
        .row_pitch_bytes = r->pitch};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION a = {.hDevice = d->device, .NumAllocations = 1, .pAllocationInfo = &info};
    NTSTATUS s;

    if (primary) {
        info.Flags.Primary = 1;
        info.VidPnSourceId = d->source;
    }
    a.Flags.CreateResource = shared;
    a.Flags.CreateShared = shared;
    s = D3DKMTCreateAllocation(&a);
    if (!NT_SUCCESS(s))
        return umd_check(d, s);
    r->alloc_id = priv.alloc_id;
    r->allocation = info.hAllocation;
    r->resource = a.hResource;
    r->global_share = a.hGlobalShare;
    r->share_token = priv.share_token;
    return STATUS_SUCCESS;
}

static NTSTATUS find_token(struct umd_resource *r);

/* The driver chooses the token; who created the surface learns it as anybody else does: by opening it. */
static NTSTATUS learn_token(struct umd_resource *r)
{
    struct umd_resource opened = {.device = r->device, .global_share = r->global_share};
    NTSTATUS s = find_token(&opened);

    if (opened.resource)
        D3DKMTDestroyAllocation(
            &(D3DKMT_DESTROYALLOCATION){.hDevice = r->device->device, .hResource = opened.resource});
    r->share_token = opened.share_token;
    return umd_check(r->device, s);
}

static void emit_texture(struct umd_resource *r, uint32_t usage)
{
    umd_use(r, false);
    ABI_EMIT(&r->device->stream, CREATE_TEXTURE2D, create_texture2d, .texture_handle = r->handle,
             .usage_flags = usage, .format = r->format, .width = r->width, .height = r->height,
             .mip_levels = 1, .array_layers = 1, .row_pitch_bytes = r->alloc_id ? r->pitch : 0,
             .backing_alloc_id = r->alloc_id);
}

/* Opens a shared surface and reads what its private data says of it. */
static NTSTATUS find_token(struct umd_resource *r)
{
    struct umd_device *d = r->device;
    struct aerogpu_alloc_priv_v2 priv = {0};
    D3DKMT_QUERYRESOURCEINFO q = {.hDevice = d->device, .hGlobalShare = r->global_share};
    D3DDDI_OPENALLOCATIONINFO info = {0};
    D3DKMT_OPENRESOURCE o = {.hDevice = d->device,
                             .hGlobalShare = r->global_share,
                             .NumAllocations = 1,
                             .pOpenAllocationInfo = &info};
    void *total;
    NTSTATUS s = D3DKMTQueryResourceInfo(&q);

    if (!NT_SUCCESS(s))
        return s;
    if (q.NumAllocations != 1 || q.TotalPrivateDriverDataSize < sizeof(priv))
        return STATUS_INVALID_PARAMETER;
    total =
        calloc(1, q.TotalPrivateDriverDataSize + q.ResourcePrivateDriverDataSize + q.PrivateRuntimeDataSize);
    if (!total)
        return STATUS_NO_MEMORY;
    o.pTotalPrivateDriverDataBuffer = total;
    o.TotalPrivateDriverDataBufferSize = q.TotalPrivateDriverDataSize;
    o.pResourcePrivateDriverData = (uint8_t *)total + q.TotalPrivateDriverDataSize;
    o.ResourcePrivateDriverDataSize = q.ResourcePrivateDriverDataSize;
    o.pPrivateRuntimeData = (uint8_t *)total + q.TotalPrivateDriverDataSize + q.ResourcePrivateDriverDataSize;
    o.PrivateRuntimeDataSize = q.PrivateRuntimeDataSize;
    s = D3DKMTOpenResource(&o);
    if (NT_SUCCESS(s)) {
        memcpy(&priv, total, sizeof(priv)); /* the one allocation's, so it comes first */
        r->allocation = info.hAllocation;
        r->resource = o.hResource;
        r->alloc_id = priv.alloc_id;
        r->share_token = priv.share_token;
        r->size = priv.size_bytes;
        r->width = priv.width;
        r->height = priv.height;
        r->pitch = priv.row_pitch_bytes;
        r->format = format_of_dxgi(priv.format);
        r->buffer = priv.kind == AEROGPU_ALLOC_KIND_BUFFER;
        if (priv.magic != AEROGPU_ALLOC_PRIV_MAGIC || !priv.share_token)
            s = STATUS_INVALID_PARAMETER;
    }
    free(total);
    return s;
}

NTSTATUS umd_texture(struct umd_device *d, struct umd_resource **out, const struct umd_texture_params *p)
{
    struct umd_resource *r = new_resource(d);
    NTSTATUS s = STATUS_SUCCESS;

    *out = NULL;
    if (!r)
        return STATUS_NO_MEMORY;
    if (d->failed) {
        unlink_resource(r);
        return d->failed;
    }
    r->width = p->width;
    r->height = p->height;
    r->format = p->format;
    r->pitch = (p->width * 4 + 255) & ~255u;
    r->size = (uint64_t)r->pitch * p->height;
    if (p->guest || p->shared || p->primary)
        s = allocate(r, p->shared, p->primary);
    if (NT_SUCCESS(s) && p->shared && !r->share_token)
        s = learn_token(r);
    if (!NT_SUCCESS(s)) {
        unlink_resource(r);
        return s;
    }
    emit_texture(r, p->usage);
    if (p->shared) {
        ABI_EMIT(&d->stream, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = r->handle,
                 .share_token = r->share_token);
        s = umd_finish(
            d,
            -1); /* whoever gets the handle may import at once, on a context that does not wait for this one */
        if (!NT_SUCCESS(s)) {
            umd_destroy(r);
            return s;
        }
    }
    *out = r;
    return STATUS_SUCCESS;
}

NTSTATUS umd_buffer(struct umd_device *d, struct umd_resource **out, uint32_t usage, const void *data,
                    uint32_t size, bool guest)
{
    struct umd_resource *r = new_resource(d);
    uint32_t padded = (size + 3) & ~3u;
    NTSTATUS s = STATUS_SUCCESS;
    void *memory;

    *out = NULL;
    if (!r)
        return STATUS_NO_MEMORY;
    r->buffer = true;
    r->size = padded;
    if (guest)
        s = allocate(r, false, false);
    if (NT_SUCCESS(s) && guest && data && NT_SUCCESS(s = umd_map(r, &memory, false))) {
        memcpy(memory, data, size);
        umd_unmap(r);
    }
    if (!NT_SUCCESS(s)) {
        unlink_resource(r);
        return s;
    }
    umd_use(r, false);
    ABI_EMIT(&d->stream, CREATE_BUFFER, create_buffer, .buffer_handle = r->handle, .usage_flags = usage,
             .size_bytes = padded, .backing_alloc_id = r->alloc_id);
    if (guest && data)
        umd_dirty(r, 0, padded);
    else if (data)
        ABI_EMIT_TAIL(&d->stream, UPLOAD_RESOURCE, upload_resource, data, size, .resource_handle = r->handle,
                      .size_bytes = padded);
    *out = r;
    return STATUS_SUCCESS;
}

NTSTATUS umd_open_shared(struct umd_device *d, struct umd_resource **out, D3DKMT_HANDLE global_share)
{
    struct umd_resource *r = new_resource(d);
    NTSTATUS s;

    *out = NULL;
    if (!r)
        return STATUS_NO_MEMORY;
    r->imported = true;
    r->global_share = global_share;
    s = umd_check(d, find_token(r));
    if (!NT_SUCCESS(s)) {
        umd_destroy(r);
        return s;
    }
    umd_use(r, false);
    ABI_EMIT(&d->stream, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = r->handle,
             .share_token = r->share_token);
    *out = r;
    return STATUS_SUCCESS;
}

void umd_destroy(struct umd_resource *r)
{
    struct umd_device *d;

    if (!r)
        return;
    d = r->device;
    if (!d->failed && d->context) {
        if (r->share_token && !r->imported)
            ABI_EMIT(&d->stream, RELEASE_SHARED_SURFACE, release_shared_surface,
                     .share_token = r->share_token);
        ABI_EMIT(&d->stream, DESTROY_RESOURCE, destroy_resource, .resource_handle = r->handle);
        umd_free_name(d, r->handle);
        if (r->alloc_id)
            umd_flush(d, NULL); /* before its memory goes */
    }
    if (r->resource) {
        D3DKMTDestroyAllocation(&(D3DKMT_DESTROYALLOCATION){.hDevice = d->device, .hResource = r->resource});
    } else if (r->allocation) {
        D3DKMTDestroyAllocation(&(D3DKMT_DESTROYALLOCATION){
            .hDevice = d->device, .phAllocationList = &r->allocation, .AllocationCount = 1});
    }
    unlink_resource(r);
}

NTSTATUS umd_map(struct umd_resource *r, void **data, bool now)
{
    struct umd_device *d = r->device;
    D3DKMT_LOCK l = {.hDevice = d->device, .hAllocation = r->allocation};
    NTSTATUS s;

    l.Flags.LockEntire = 1;
    l.Flags.DonotWait = now;
    *data = NULL;
    s = d->failed ? d->failed : umd_check(d, D3DKMTLock(&l));
    if (NT_SUCCESS(s))
        *data = l.pData;
    return s;
}

void umd_unmap(struct umd_resource *r)
{
    D3DKMTUnlock(
        &(D3DKMT_UNLOCK){.hDevice = r->device->device, .NumAllocations = 1, .phAllocations = &r->allocation});
}

void umd_dirty(struct umd_resource *r, uint64_t offset, uint64_t size)
{
    umd_use(r, false);
    ABI_EMIT(&r->device->stream, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = r->handle,
             .offset_bytes = offset, .size_bytes = size);
}

void umd_copy_texture(struct umd_resource *dst, struct umd_resource *src)
{
    umd_use(src, false);
    umd_use(dst, true);
    ABI_EMIT(&dst->device->stream, COPY_TEXTURE2D, copy_texture2d, .dst_texture = dst->handle,
             .src_texture = src->handle, .width = dst->width < src->width ? dst->width : src->width,
             .height = dst->height < src->height ? dst->height : src->height,
             .flags = dst->alloc_id ? AEROGPU_COPY_FLAG_WRITEBACK_DST : 0);
}

void umd_copy_buffer(struct umd_resource *dst, struct umd_resource *src, uint32_t size)
{
    umd_use(src, false);
    umd_use(dst, true);
    ABI_EMIT(&dst->device->stream, COPY_BUFFER, copy_buffer, .dst_buffer = dst->handle,
             .src_buffer = src->handle, .size_bytes = size,
             .flags = dst->alloc_id ? AEROGPU_COPY_FLAG_WRITEBACK_DST : 0);
}

NTSTATUS umd_read(struct umd_resource *src, uint32_t **pixels, int timeout_ms)
{
    struct umd_texture_params p = {.width = src->width,
                                   .height = src->height,
                                   .format = src->format,
                                   .usage = AEROGPU_RESOURCE_USAGE_TEXTURE,
                                   .guest = true};
    struct umd_resource *staging;
    void *data;
    NTSTATUS s = umd_texture(src->device, &staging, &p);

    *pixels = NULL;
    if (!NT_SUCCESS(s))
        return s;
    umd_copy_texture(staging, src);
    s = umd_finish(src->device, timeout_ms);
    if (s == STATUS_SUCCESS)
        s = umd_map(staging, &data, false);
    if (s == STATUS_SUCCESS) {
        *pixels = malloc((size_t)src->width * src->height * 4);
        for (uint32_t y = 0; *pixels && y < src->height; y++)
            memcpy(*pixels + (size_t)y * src->width, (uint8_t *)data + (size_t)y * staging->pitch,
                   (size_t)src->width * 4);
        umd_unmap(staging);
        if (!*pixels)
            s = STATUS_NO_MEMORY;
    }
    umd_destroy(staging);
    return s;
}
