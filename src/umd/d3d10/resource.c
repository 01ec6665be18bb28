/* SPDX-License-Identifier: MIT */
/* resource.c: buffers and textures; their bytes.
 *
 *   DEFAULT, IMMUTABLE  memory of the host, written by UPLOAD_RESOURCE
 *   DYNAMIC             the same, and a shadow that the CPU maps: what it wrote is uploaded when it is unmapped
 *   DYNAMIC, large      a buffer with pieces of guest memory instead: the CPU writes one, which the device copies when it is unmapped;
 *                       when all is discarded, what the device still has to read is left to it, and another piece is written
 *   STAGING             guest memory, mapped where it is; copies into it are written back
 *   primary             guest memory that can be scanned out
 */
#include "umd/d3d10/umd10.h"

#include <stdlib.h>

#include "umd/alloc_id.h"
#include "base/check.h"

struct where {              /* of a subresource, in the linear layout */
    uint64_t offset, slice; /* bytes from slice to slice */
    uint32_t pitch, rows, width, height, slices;
};

enum { R32_TYPELESS = 39, R32_FLOAT = 41, R16_TYPELESS = 53, D16_UNORM = 55 }; /* of DXGI_FORMAT */

static const struct {
    uint8_t dxgi;
    uint16_t format;
} formats[] = {
    {27, AEROGPU_FORMAT_R8G8B8A8_UNORM},
    {28, AEROGPU_FORMAT_R8G8B8A8_UNORM},
    {29, AEROGPU_FORMAT_R8G8B8A8_UNORM_SRGB},
    {39, AEROGPU_FORMAT_D32_FLOAT},
    {40, AEROGPU_FORMAT_D32_FLOAT},
    {44, AEROGPU_FORMAT_D24_UNORM_S8_UINT},
    {45, AEROGPU_FORMAT_D24_UNORM_S8_UINT},
    {70, AEROGPU_FORMAT_BC1_RGBA_UNORM},
    {71, AEROGPU_FORMAT_BC1_RGBA_UNORM},
    {72, AEROGPU_FORMAT_BC1_RGBA_UNORM_SRGB},
    {73, AEROGPU_FORMAT_BC2_RGBA_UNORM},
    {74, AEROGPU_FORMAT_BC2_RGBA_UNORM},
    {75, AEROGPU_FORMAT_BC2_RGBA_UNORM_SRGB},
    {76, AEROGPU_FORMAT_BC3_RGBA_UNORM},
    {77, AEROGPU_FORMAT_BC3_RGBA_UNORM},
    {78, AEROGPU_FORMAT_BC3_RGBA_UNORM_SRGB},
    {85, AEROGPU_FORMAT_B5G6R5_UNORM},
    {86, AEROGPU_FORMAT_B5G5R5A1_UNORM},
    {87, AEROGPU_FORMAT_B8G8R8A8_UNORM},
    {88, AEROGPU_FORMAT_B8G8R8X8_UNORM},
    {90, AEROGPU_FORMAT_B8G8R8A8_UNORM},
    {91, AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB},
    {92, AEROGPU_FORMAT_B8G8R8X8_UNORM},
    {93, AEROGPU_FORMAT_B8G8R8X8_UNORM_SRGB},
    {97, AEROGPU_FORMAT_BC7_RGBA_UNORM},
    {98, AEROGPU_FORMAT_BC7_RGBA_UNORM},
    {99, AEROGPU_FORMAT_BC7_RGBA_UNORM_SRGB},
    {1, AEROGPU_FORMAT_EXT_R32G32B32A32_FLOAT},
    {2, AEROGPU_FORMAT_EXT_R32G32B32A32_FLOAT},
    {9, AEROGPU_FORMAT_EXT_R16G16B16A16_FLOAT},
    {10, AEROGPU_FORMAT_EXT_R16G16B16A16_FLOAT},
    {11, AEROGPU_FORMAT_EXT_R16G16B16A16_UNORM},
    {13, AEROGPU_FORMAT_EXT_R16G16B16A16_SNORM},
    {15, AEROGPU_FORMAT_EXT_R32G32_FLOAT},
    {16, AEROGPU_FORMAT_EXT_R32G32_FLOAT},
    {23, AEROGPU_FORMAT_EXT_R10G10B10A2_UNORM},
    {24, AEROGPU_FORMAT_EXT_R10G10B10A2_UNORM},
    {26, AEROGPU_FORMAT_EXT_R11G11B10_FLOAT},
    {31, AEROGPU_FORMAT_EXT_R8G8B8A8_SNORM},
    {33, AEROGPU_FORMAT_EXT_R16G16_FLOAT},
    {34, AEROGPU_FORMAT_EXT_R16G16_FLOAT},
    {35, AEROGPU_FORMAT_EXT_R16G16_UNORM},
    {37, AEROGPU_FORMAT_EXT_R16G16_SNORM},
    {41, AEROGPU_FORMAT_EXT_R32_FLOAT},
    {48, AEROGPU_FORMAT_EXT_R8G8_UNORM},
    {49, AEROGPU_FORMAT_EXT_R8G8_UNORM},
    {51, AEROGPU_FORMAT_EXT_R8G8_SNORM},
    {53, AEROGPU_FORMAT_EXT_R16_FLOAT},
    {54, AEROGPU_FORMAT_EXT_R16_FLOAT},
    {56, AEROGPU_FORMAT_EXT_R16_UNORM},
    {58, AEROGPU_FORMAT_EXT_R16_SNORM},
    {60, AEROGPU_FORMAT_EXT_R8_UNORM},
    {61, AEROGPU_FORMAT_EXT_R8_UNORM},
    {63, AEROGPU_FORMAT_EXT_R8_SNORM},
    {67, AEROGPU_FORMAT_EXT_R9G9B9E5_FLOAT},
    {79, AEROGPU_FORMAT_EXT_BC4_UNORM},
    {80, AEROGPU_FORMAT_EXT_BC4_UNORM},
    {81, AEROGPU_FORMAT_EXT_BC4_SNORM},
    {82, AEROGPU_FORMAT_EXT_BC5_UNORM},
    {83, AEROGPU_FORMAT_EXT_BC5_UNORM},
    {84, AEROGPU_FORMAT_EXT_BC5_SNORM},
    {94, AEROGPU_FORMAT_EXT_BC6H_UFLOAT},
    {95, AEROGPU_FORMAT_EXT_BC6H_UFLOAT},
    {96, AEROGPU_FORMAT_EXT_BC6H_SFLOAT},
    {3, AEROGPU_FORMAT_EXT_R32G32B32A32_UINT},
    {4, AEROGPU_FORMAT_EXT_R32G32B32A32_SINT},
    {12, AEROGPU_FORMAT_EXT_R16G16B16A16_UINT},
    {14, AEROGPU_FORMAT_EXT_R16G16B16A16_SINT},
    {17, AEROGPU_FORMAT_EXT_R32G32_UINT},
    {18, AEROGPU_FORMAT_EXT_R32G32_SINT},
    {19, AEROGPU_FORMAT_EXT_D32_FLOAT_S8_UINT},
    {20, AEROGPU_FORMAT_EXT_D32_FLOAT_S8_UINT},
    {25, AEROGPU_FORMAT_EXT_R10G10B10A2_UINT},
    {30, AEROGPU_FORMAT_EXT_R8G8B8A8_UINT},
    {32, AEROGPU_FORMAT_EXT_R8G8B8A8_SINT},
    {36, AEROGPU_FORMAT_EXT_R16G16_UINT},
    {38, AEROGPU_FORMAT_EXT_R16G16_SINT},
    {42, AEROGPU_FORMAT_EXT_R32_UINT},
    {43, AEROGPU_FORMAT_EXT_R32_SINT},
    {50, AEROGPU_FORMAT_EXT_R8G8_UINT},
    {52, AEROGPU_FORMAT_EXT_R8G8_SINT},
    {55, AEROGPU_FORMAT_EXT_D16_UNORM},
    {57, AEROGPU_FORMAT_EXT_R16_UINT},
    {59, AEROGPU_FORMAT_EXT_R16_SINT},
    {62, AEROGPU_FORMAT_EXT_R8_UINT},
    {64, AEROGPU_FORMAT_EXT_R8_SINT},
    {65, AEROGPU_FORMAT_EXT_A8_UNORM},
};

uint32_t umd10_format(const struct umd10_device *d, UINT dxgi)
{
    uint64_t features = d->info.device_features;

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        uint32_t f = formats[i].format;
        uint64_t needs = f >= AEROGPU_FORMAT_EXT_R32G32B32A32_UINT ? AEROGPU_EXT_FEATURE(EXT_DIMENSIONS)
                         : f >= AEROGPU_EXT_FIRST_FORMAT           ? AEROGPU_EXT_FEATURE(EXT_FORMATS)
                                                                   : 0;
        if (formats[i].dxgi == dxgi)
            return (features & needs) == needs ? f : AEROGPU_FORMAT_INVALID;
    }
    return AEROGPU_FORMAT_INVALID;
}

static void format_block(uint32_t format, uint32_t *bytes, uint32_t *block)
{
    switch (format) {
#define ROW(value, name, b, k, kind, alpha, srgb, minor, doc)                                                \
    case value:                                                                                              \
        *bytes = b;                                                                                          \
        *block = k;                                                                                          \
        return;
        AEROGPU_FORMATS(ROW)
        AEROGPU_EXT_FORMATS(ROW)
#undef ROW
    }
    *bytes = *block = 1;
}

static struct where where(const struct umd10_resource *r, UINT subresource)
{
    uint32_t layer = r->mips ? subresource / r->mips : 0, mip = r->mips ? subresource % r->mips : 0, bytes,
             block;
    struct where w = {.offset = r->buffer ? 0 : r->size / r->layers * layer};

    if (r->buffer)
        return (struct where){0, r->size, (uint32_t)r->size, 1, (uint32_t)r->size, 1, 1};
    format_block(r->format, &bytes, &block);
    for (uint32_t m = 0; m <= mip; m++) {
        w.offset += w.slice * w.slices;
        w.width = r->width >> m ? r->width >> m : 1;
        w.height = r->height >> m ? r->height >> m : 1;
        w.slices = r->depth >> m ? r->depth >> m : 1;
        w.rows = (w.height + block - 1) / block;
        w.pitch = m || !r->pitch ? (w.width + block - 1) / block * bytes : r->pitch;
        w.slice = (uint64_t)w.pitch * w.rows;
    }
    return w;
}

/* What a shared surface's format is called in its private data; 0: it cannot be shared. */
static UINT shared_format(uint32_t format)
{
    static const uint16_t shared[][2] = {
        {AEROGPU_FORMAT_B8G8R8A8_UNORM, AEROGPU_DXGI_B8G8R8A8_UNORM},
        {AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB, AEROGPU_DXGI_B8G8R8A8_UNORM_SRGB},
        {AEROGPU_FORMAT_R8G8B8A8_UNORM, AEROGPU_DXGI_R8G8B8A8_UNORM},
        {AEROGPU_FORMAT_R8G8B8A8_UNORM_SRGB, AEROGPU_DXGI_R8G8B8A8_UNORM_SRGB},
        {AEROGPU_FORMAT_B8G8R8X8_UNORM, AEROGPU_DXGI_B8G8R8X8_UNORM}};

    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        if (shared[i][0] == format)
            return shared[i][1];
    return 0;
}

static void link_guest(struct umd10_device *d, struct umd10_resource *r)
{
    r->next = d->guest;
    r->self = &d->guest;
    if (r->next)
        r->next->self = &r->next;
    d->guest = r;
}

HRESULT umd10_allocate(struct umd10_device *d, struct umd10_resource *r, UINT source)
{
    bool shown = r->primary || r->shared;
    struct aerogpu_alloc_priv_v2 priv = {
        .magic = AEROGPU_ALLOC_PRIV_MAGIC,
        .version = 2,
        .alloc_id = umd_make_alloc_id(),
        .flags = AEROGPU_ALLOC_PRIV_FLAG_CPU_VISIBLE | (r->shared ? AEROGPU_ALLOC_PRIV_FLAG_SHARED : 0),
        .size_bytes = r->size,
        .desc = r->pitch,
        .kind = shown ? AEROGPU_ALLOC_KIND_TEXTURE2D : AEROGPU_ALLOC_KIND_BUFFER,
        .width = shown ? r->width : 0,
        .height = shown ? r->height : 0,
        .format = r->primary  ? AEROGPU_DXGI_B8G8R8A8_UNORM
                  : r->shared ? shared_format(r->format)
                              : 0,
        .row_pitch_bytes = shown ? r->pitch : 0};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DDDICB_ALLOCATE a = {
        .hResource = r->shared ? r->runtime.handle : NULL, .NumAllocations = 1, .pAllocationInfo = &info};
    HRESULT hr;

    info.Flags.Primary = r->primary;
    info.VidPnSourceId = source;
    hr = d->kt->pfnAllocateCb(d->runtime.handle, &a);
    if (hr != S_OK)
        return hr;
    r->alloc_id = priv.alloc_id;
    r->token = priv.share_token;
    r->allocation = info.hAllocation;
    link_guest(d, r);
    return S_OK;
}

void umd10_deallocate(struct umd10_device *d, struct umd10_resource *r)
{
    if (!r->alloc_id)
        return;
    umd10_flush(d); /* what was said of it, before its memory goes */
    *r->self = r->next;
    if (r->next)
        r->next->self = r->self;
    d->kt->pfnDeallocateCb(d->runtime.handle,
                           &(D3DDDICB_DEALLOCATE){.hResource = r->shared ? r->runtime.handle : NULL,
                                                  .NumAllocations = 1,
                                                  .HandleList = &r->allocation});
    r->alloc_id = 0;
}

static void upload(struct umd10_device *d, struct umd10_resource *r, uint64_t offset, const uint8_t *data,
                   uint64_t size)
{
    uint64_t most = d->command_size / 2 & ~63u;

    for (uint64_t at = 0, n; at < size; at += n) {
        n = size - at < most ? size - at : most;
        umd10_room(d, n);
        ABI_EMIT_TAIL(&d->stream, UPLOAD_RESOURCE, upload_resource, data + at, (uint32_t)n,
                      .resource_handle = r->name, .offset_bytes = offset + at,
                      .size_bytes = r->buffer ? (n + 3) & ~UINT64_C(3) : n);
    }
}

/* A box of a subresource, from memory with pitches of its own. NULL: all of it. */
static void write_box(struct umd10_device *d, struct umd10_resource *r, UINT subresource,
                      const D3D10_DDI_BOX *box, const uint8_t *data, UINT pitch, UINT depth_pitch)
{
    struct where w = where(r, subresource);
    uint32_t bytes, block, left = 0, top = 0, width, rows, front = 0, back = w.slices;

    if (r->buffer) {
        left = box ? (uint32_t)box->left : 0;
        upload(d, r, left, data, box ? (uint32_t)box->right - left : r->size);
        return;
    }
    format_block(r->format, &bytes, &block);
    if (box) {
        left = (uint32_t)box->left / block * bytes;
        top = (uint32_t)box->top / block;
        front = (uint32_t)box->front;
        back = (uint32_t)box->back;
    }
    width = box ? ((uint32_t)box->right + block - 1) / block * bytes - left : w.pitch;
    rows = box ? ((uint32_t)box->bottom + block - 1) / block - top : w.rows;
    for (uint32_t z = front; z < back; z++, data += depth_pitch) {
        uint64_t at = w.offset + z * w.slice + (uint64_t)top * w.pitch;

        if (pitch == w.pitch && width == w.pitch) {
            upload(d, r, at, data, (uint64_t)rows * w.pitch);
            continue;
        }
        for (uint32_t y = 0; y < rows; y++)
            upload(d, r, at + (uint64_t)y * w.pitch + left, data + (size_t)y * pitch, width);
    }
}

void umd10_fill(struct umd10_device *d, struct umd10_resource *r, uint64_t offset, uint64_t size,
                uint32_t value)
{
    uint32_t words[1024];

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        words[i] = value;
    for (uint64_t at = 0, n; at < size; at += n) {
        n = size - at < sizeof(words) ? size - at : sizeof(words);
        upload(d, r, offset + at, (const uint8_t *)words, n);
    }
}

/* ---- creating ------------------------------------------------------------ */

static SIZE_T APIENTRY resource_size(D3D10DDI_HDEVICE h, CONST D3D11DDIARG_CREATERESOURCE *a)
{
    return sizeof(struct umd10_resource);
}

static uint32_t usage_of(UINT bind)
{
    static const struct {
        uint16_t bind;
        uint16_t usage;
    } flags[] = {{D3D10_DDI_BIND_VERTEX_BUFFER, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER},
                 {D3D10_DDI_BIND_INDEX_BUFFER, AEROGPU_RESOURCE_USAGE_INDEX_BUFFER},
                 {D3D10_DDI_BIND_CONSTANT_BUFFER, AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER},
                 {D3D10_DDI_BIND_SHADER_RESOURCE, AEROGPU_RESOURCE_USAGE_TEXTURE},
                 {D3D10_DDI_BIND_RENDER_TARGET, AEROGPU_RESOURCE_USAGE_RENDER_TARGET},
                 {D3D10_DDI_BIND_DEPTH_STENCIL, AEROGPU_RESOURCE_USAGE_DEPTH_STENCIL},
                 {D3D11_DDI_BIND_UNORDERED_ACCESS, AEROGPU_RESOURCE_USAGE_STORAGE}};
    uint32_t usage = 0;

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        usage |= bind & flags[i].bind ? flags[i].usage : 0u;
    return usage;
}

static void emit_create(struct umd10_device *d, struct umd10_resource *r, uint32_t usage)
{
    uint32_t dimension = r->dimensions == 1   ? AEROGPU_RESOURCE_USAGE_EXT_1D
                         : r->dimensions == 3 ? AEROGPU_RESOURCE_USAGE_EXT_3D
                                              : 0;

    umd10_room(d, 128);
    umd10_use(r, false);
    if (r->buffer)
        ABI_EMIT(&d->stream, CREATE_BUFFER, create_buffer, .buffer_handle = r->name, .usage_flags = usage,
                 .size_bytes = r->size, .backing_alloc_id = r->alloc_id);
    else
        ABI_EMIT(&d->stream, CREATE_TEXTURE2D, create_texture2d, .texture_handle = r->name,
                 .usage_flags = (usage ? usage : AEROGPU_RESOURCE_USAGE_TEXTURE) | dimension |
                                AEROGPU_RESOURCE_USAGE_EXT_SAMPLES(r->samples > 1 ? 2 : 0),
                 .format = r->format, .width = r->width, .height = r->height, .mip_levels = r->mips,
                 .array_layers = r->dimensions == 3 ? r->depth : r->layers, .row_pitch_bytes = r->pitch,
                 .backing_alloc_id = r->alloc_id);
}

/* Typeless ones of depth are what depth they hold, where they are bound as that. */
static UINT format_of(CONST D3D11DDIARG_CREATERESOURCE *a)
{
    bool depth = a->BindFlags & D3D10_DDI_BIND_DEPTH_STENCIL;

    if ((UINT)a->Format == R32_TYPELESS && !depth)
        return R32_FLOAT;
    return (UINT)a->Format == R16_TYPELESS && depth ? D16_UNORM : (UINT)a->Format;
}

/* One or four: what drivers of processors have, and what others have, too. */
static bool samples_there_are(const struct umd10_device *d, uint32_t format, UINT samples)
{
    uint32_t bytes, block;

    format_block(format, &bytes, &block);
    return samples == 1 || (samples == 4 && block == 1 && format != AEROGPU_FORMAT_EXT_R9G9B9E5_FLOAT &&
                            umd10_has(d, AEROGPU_EXT_FEATURE(EXT_SAMPLES)));
}

/* The shape that the runtime asks for; false: the device has no such thing. */
static bool describe(const struct umd10_device *d, struct umd10_resource *r,
                     CONST D3D11DDIARG_CREATERESOURCE *a)
{
    uint32_t bytes, block;
    struct where last;

    r->buffer = a->ResourceDimension == D3D10DDIRESOURCE_BUFFER;
    r->staging = a->Usage == D3D10_DDI_USAGE_STAGING;
    r->primary = a->pPrimaryDesc != NULL;
    r->shared = a->MiscFlags & D3D10_DDI_RESOURCE_MISC_SHARED;
    r->stride = a->MiscFlags & D3D11_DDI_RESOURCE_MISC_BUFFER_STRUCTURED ? a->ByteStride : 0;
    r->samples = a->SampleDesc.Count > 1 ? a->SampleDesc.Count : 1;
    if (r->buffer) {
        r->size = ((uint64_t)a->pMipInfoList[0].TexelWidth + 3) & ~UINT64_C(3);
        return r->size && !r->shared;
    }
    r->format = umd10_format(d, format_of(a));
    r->dimensions = a->ResourceDimension == D3D10DDIRESOURCE_TEXTURE1D   ? 1
                    : a->ResourceDimension == D3D10DDIRESOURCE_TEXTURE3D ? 3
                                                                         : 2;
    if (!r->format || !samples_there_are(d, r->format, r->samples) ||
        (r->samples > 1 && (r->staging || a->MipLevels != 1 || r->dimensions != 2)) ||
        (r->dimensions != 2 && !(d->info.device_features & AEROGPU_EXT_FEATURE(EXT_DIMENSIONS))))
        return false;
    r->width = a->pMipInfoList[0].TexelWidth;
    r->height = a->pMipInfoList[0].TexelHeight;
    r->depth = a->pMipInfoList[0].TexelDepth;
    r->mips = a->MipLevels;
    r->layers = a->ArraySize;
    format_block(r->format, &bytes, &block);
    if (r->shared && !shared_format(r->format))
        return false;
    if (r->staging || r->primary || r->shared)
        r->pitch = ((r->width + block - 1) / block * bytes + 255) & ~255u;
    last = where(r, r->mips - 1);
    r->size = (last.offset + last.slice * last.slices) * r->layers;
    if (r->samples > 1)
        r->size = 0; /* nobody writes it from memory */
    return true;
}

/* ---- large dynamic buffers ------------------------------------------------- */

enum { LARGE = 64 << 10 }; /* smaller ones are copied as fast as memory is locked */

static HRESULT make_mappable(struct umd10_resource *r)
{
    if (r->buffer && r->size >= LARGE)
        r->memory = calloc(1, sizeof(*r->memory));
    else
        r->shadow = calloc(1, r->size);
    return r->memory || r->shadow ? S_OK : E_OUTOFMEMORY;
}

static HRESULT add_piece(struct umd10_device *d, struct umd10_memory *m, uint64_t size)
{
    struct umd10_resource *piece = &m->pieces[m->count];
    HRESULT hr;

    *piece = (struct umd10_resource){.buffer = true, .size = size};
    hr = umd10_allocate(d, piece, 0);
    if (hr != S_OK)
        return hr;
    piece->name = umd10_name(d);
    emit_create(d, piece, 0);
    m->now = m->count++;
    return S_OK;
}

enum how { AS_IT_IS, IF_IDLE, WHEN_IDLE };

static HRESULT lock_piece(struct umd10_device *d, struct umd10_resource *piece, enum how how, void **out)
{
    D3DDDICB_LOCK l = {.hAllocation = piece->allocation};
    HRESULT hr;

    l.Flags.LockEntire = 1;
    l.Flags.IgnoreSync = how == AS_IT_IS;
    l.Flags.DonotWait = how == IF_IDLE;
    hr = d->kt->pfnLockCb(d->runtime.handle, &l);
    d->removed |= hr == D3DDDIERR_DEVICEREMOVED;
    *out = l.pData;
    return hr;
}

/* Locks the piece that is written next: the one that was, or one that the device does not have to read any more. */
static HRESULT map_memory(struct umd10_device *d, struct umd10_resource *r, bool discard, void **out)
{
    struct umd10_memory *m = r->memory;
    uint32_t oldest = m->count ? (m->now + 1) % m->count : 0;
    HRESULT hr;

    if (m->count && !discard)
        return lock_piece(d, &m->pieces[m->now], AS_IT_IS, out);
    hr = m->count && !m->pieces[oldest].listed ? lock_piece(d, &m->pieces[oldest], IF_IDLE, out)
                                               : D3DERR_WASSTILLDRAWING;
    if (hr == D3DERR_WASSTILLDRAWING && m->count < UMD10_PIECES && add_piece(d, m, r->size) == S_OK)
        return lock_piece(d, &m->pieces[m->now], AS_IT_IS, out);
    if (hr == D3DERR_WASSTILLDRAWING) {
        if (!m->count)
            return E_OUTOFMEMORY;
        umd10_flush(d);
        hr = d->removed ? D3DDDIERR_DEVICEREMOVED : lock_piece(d, &m->pieces[oldest], WHEN_IDLE, out);
    }
    if (hr == S_OK)
        m->now = oldest;
    return hr;
}

static void unmap_memory(struct umd10_device *d, struct umd10_resource *r)
{
    struct umd10_resource *piece = &r->memory->pieces[r->memory->now];

    if (!r->memory->count)
        return;
    d->kt->pfnUnlockCb(d->runtime.handle, &(D3DDDICB_UNLOCK){1, &piece->allocation});
    umd10_room(d, 256);
    umd10_use(piece, false);
    ABI_EMIT(&d->stream, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = piece->name,
             .size_bytes = piece->size);
    ABI_EMIT(&d->stream, COPY_BUFFER, copy_buffer, .dst_buffer = r->name, .src_buffer = piece->name,
             .size_bytes = piece->size);
}

static HRESULT fill_memory(struct umd10_device *d, struct umd10_resource *r, const void *bytes, size_t size)
{
    void *to;
    HRESULT hr = map_memory(d, r, true, &to);

    if (hr != S_OK)
        return hr;
    memcpy(to, bytes, size);
    unmap_memory(d, r);
    return S_OK;
}

static void free_memory(struct umd10_device *d, struct umd10_memory *m)
{
    for (uint32_t i = 0; m && i < m->count; i++) {
        umd10_room(d, 64);
        umd10_use(&m->pieces[i], false);
        ABI_EMIT(&d->stream, DESTROY_RESOURCE, destroy_resource, .resource_handle = m->pieces[i].name);
        umd10_deallocate(d, &m->pieces[i]);
    }
    free(m);
}

static void release(struct umd10_device *d, struct umd10_resource *r)
{
    free(r->shadow);
    free_memory(d, r->memory);
    r->shadow = NULL;
    r->memory = NULL;
    if (!r->name)
        return; /* nothing was said of it, and it has no memory of the kernel's */
    /* A shared one's token is the kernel's driver's to release: with the last that has it open. */
    umd10_room(d, 64);
    ABI_EMIT(&d->stream, DESTROY_RESOURCE, destroy_resource, .resource_handle = r->name);
    umd10_deallocate(d, r);
}

/* When this is done it is known to the device: whoever gets the handle may open it at once, and other contexts wait for nobody. */
static void share(struct umd10_device *d, struct umd10_resource *r)
{
    HRESULT hr = D3DDDIERR_DEVICEREMOVED;
    void *memory;

    umd10_room(d, 64);
    ABI_EMIT(&d->stream, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = r->name,
             .share_token = r->token);
    umd10_flush(d);
    if (!d->removed)
        hr = lock_piece(d, r, WHEN_IDLE, &memory);
    if (hr == S_OK)
        d->kt->pfnUnlockCb(d->runtime.handle, &(D3DDDICB_UNLOCK){1, &r->allocation});
    else
        umd10_error(d, hr);
}

static void make(struct umd10_device *d, struct umd10_resource *r, CONST D3D11DDIARG_CREATERESOURCE *a)
{
    HRESULT s = S_OK;

    if (!describe(d, r, a)) {
        umd10_error(d, DXGI_DDI_ERR_UNSUPPORTED);
        return;
    }
    if (r->staging || r->primary || r->shared)
        s = umd10_allocate(d, r, a->pPrimaryDesc ? a->pPrimaryDesc->VidPnSourceId : 0);
    else if (a->Usage == D3D10_DDI_USAGE_DYNAMIC)
        s = make_mappable(r);
    if (s != S_OK) {
        umd10_error(d, s);
        return;
    }
    r->name = umd10_name(d);
    emit_create(d, r, usage_of(a->BindFlags) | (r->primary ? AEROGPU_RESOURCE_USAGE_SCANOUT : 0));
    if (r->memory && a->pInitialDataUP) {
        s = fill_memory(d, r, a->pInitialDataUP->pSysMem, a->pMipInfoList[0].TexelWidth);
        if (s != S_OK)
            umd10_error(d, s);
        return;
    }
    for (UINT i = 0; a->pInitialDataUP && r->samples == 1 && i < (r->buffer ? 1 : r->mips * r->layers); i++) {
        const D3D10_DDIARG_SUBRESOURCE_UP *up = &a->pInitialDataUP[i];
        write_box(d, r, i, r->buffer ? &(D3D10_DDI_BOX){.right = (LONG)a->pMipInfoList[0].TexelWidth} : NULL,
                  up->pSysMem, up->SysMemPitch, up->SysMemSlicePitch);
        if (r->shadow && r->buffer)
            memcpy(r->shadow, up->pSysMem, a->pMipInfoList[0].TexelWidth);
    }
    if (r->shared)
        share(d, r);
}

static VOID APIENTRY create_resource(D3D10DDI_HDEVICE h, CONST D3D11DDIARG_CREATERESOURCE *a,
                                     D3D10DDI_HRESOURCE hr, D3D10DDI_HRTRESOURCE rt)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_resource *r = hr.pDrvPrivate;
    unsigned errors = d->errors;

    memset(r, 0, sizeof(*r));
    r->runtime = rt;
    make(d, r, a);
    if (d->errors != errors)
        release(d, r); /* the runtime destroys nothing that was not made */
}

/* ---- what another device made ----------------------------------------------- */

static SIZE_T APIENTRY opened_size(D3D10DDI_HDEVICE h, CONST D3D10DDIARG_OPENRESOURCE *a)
{
    return sizeof(struct umd10_resource);
}

static VOID APIENTRY open_resource(D3D10DDI_HDEVICE h, CONST D3D10DDIARG_OPENRESOURCE *a,
                                   D3D10DDI_HRESOURCE hr, D3D10DDI_HRTRESOURCE rt)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_resource *r = hr.pDrvPrivate;
    const D3DDDI_OPENALLOCATIONINFO *info = a->pOpenAllocationInfo;
    struct aerogpu_alloc_priv_v2 p = {0};

    memset(r, 0, sizeof(*r));
    r->runtime = rt;
    if (a->NumAllocations == 1 && info->PrivateDriverDataSize >= sizeof(p))
        memcpy(&p, info->pPrivateDriverData, sizeof(p));
    r->format = umd10_format(d, p.format);
    if (p.magic != AEROGPU_ALLOC_PRIV_MAGIC || !p.share_token || p.kind != AEROGPU_ALLOC_KIND_TEXTURE2D ||
        !r->format) {
        umd10_error(d, E_INVALIDARG);
        return;
    }
    r->shared = true;
    r->dimensions = 2;
    r->depth = r->mips = r->layers = r->samples = 1;
    r->width = p.width;
    r->height = p.height;
    r->pitch = p.row_pitch_bytes;
    r->size = p.size_bytes;
    r->alloc_id = p.alloc_id;
    r->token = p.share_token;
    r->allocation = info->hAllocation;
    r->name = umd10_name(d);
    link_guest(d, r);
    umd10_room(d, 64);
    umd10_use(r, false);
    ABI_EMIT(&d->stream, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = r->name,
             .share_token = r->token);
}

static VOID APIENTRY destroy_resource(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hr)
{
    release(umd10_device(h), hr.pDrvPrivate);
}

/* ---- mapping ------------------------------------------------------------- */

static VOID APIENTRY map_staging(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hr, UINT subresource,
                                 D3D10_DDI_MAP type, UINT flags, D3D10DDI_MAPPED_SUBRESOURCE *out)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_resource *r = hr.pDrvPrivate;
    struct where w = where(r, subresource);
    D3DDDICB_LOCK l = {.hAllocation = r->allocation};
    HRESULT s;

    memset(out, 0, sizeof(*out));
    umd10_flush(d);
    if (d->removed) {
        umd10_error(d, D3DDDIERR_DEVICEREMOVED);
        return;
    }
    l.Flags.LockEntire = 1;
    l.Flags.DonotWait = flags & D3D10_DDI_MAP_FLAG_DONOTWAIT ? 1 : 0;
    s = d->kt->pfnLockCb(d->runtime.handle, &l);
    if (s != S_OK) {
        d->removed |= s == D3DDDIERR_DEVICEREMOVED;
        umd10_error(d, s == D3DERR_WASSTILLDRAWING ? DXGI_DDI_ERR_WASSTILLDRAWING : s);
        return;
    }
    *out = (D3D10DDI_MAPPED_SUBRESOURCE){(uint8_t *)l.pData + w.offset, w.pitch, (UINT)w.slice};
    r->maps++;
    r->written |= type != D3D10_DDI_MAP_READ;
}

static VOID APIENTRY unmap_staging(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hr, UINT subresource)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_resource *r = hr.pDrvPrivate;
    struct where w = where(r, subresource);

    d->kt->pfnUnlockCb(d->runtime.handle, &(D3DDDICB_UNLOCK){1, &r->allocation});
    if (r->written) { /* else the device has what there is */
        umd10_room(d, 64);
        umd10_use(r, false);
        ABI_EMIT(&d->stream, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = r->name,
                 .offset_bytes = w.offset, .size_bytes = w.slice * w.slices);
    }
    r->maps -= r->maps != 0;
    r->written &= r->maps != 0;
}

static VOID APIENTRY map_dynamic(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hr, UINT subresource,
                                 D3D10_DDI_MAP type, UINT flags, D3D10DDI_MAPPED_SUBRESOURCE *out)
{
    struct umd10_resource *r = hr.pDrvPrivate;
    struct where w = where(r, subresource);
    HRESULT s;

    if (r->memory) {
        *out = (D3D10DDI_MAPPED_SUBRESOURCE){NULL, w.pitch, (UINT)w.slice};
        s = map_memory(umd10_device(h), r, type != D3D10_DDI_MAP_WRITE_NOOVERWRITE, &out->pData);
        if (s != S_OK)
            umd10_error(umd10_device(h), s);
        return;
    }
    *out = (D3D10DDI_MAPPED_SUBRESOURCE){r->shadow + w.offset, w.pitch, (UINT)w.slice};
}

static VOID APIENTRY unmap_dynamic(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hr, UINT subresource)
{
    struct umd10_resource *r = hr.pDrvPrivate;
    struct where w = where(r, subresource);

    if (r->memory)
        unmap_memory(umd10_device(h), r);
    else
        upload(umd10_device(h), r, w.offset, r->shadow + w.offset, w.slice * w.slices);
}

static VOID APIENTRY map_any(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hr, UINT subresource, D3D10_DDI_MAP type,
                             UINT flags, D3D10DDI_MAPPED_SUBRESOURCE *out)
{
    struct umd10_resource *r = hr.pDrvPrivate;

    (r->shadow || r->memory ? map_dynamic : map_staging)(h, hr, subresource, type, flags, out);
}

static VOID APIENTRY unmap_any(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hr, UINT subresource)
{
    struct umd10_resource *r = hr.pDrvPrivate;

    (r->shadow || r->memory ? unmap_dynamic : unmap_staging)(h, hr, subresource);
}

static BOOL APIENTRY is_busy(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hr)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_resource *r = hr.pDrvPrivate;
    D3DDDICB_LOCK l = {.hAllocation = r->allocation};

    l.Flags.DonotWait = 1;
    if (d->kt->pfnLockCb(d->runtime.handle, &l) != S_OK)
        return TRUE;
    d->kt->pfnUnlockCb(d->runtime.handle, &(D3DDDICB_UNLOCK){1, &r->allocation});
    return FALSE;
}

static VOID APIENTRY update(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE dst, UINT subresource,
                            CONST D3D10_DDI_BOX *box, CONST VOID *data, UINT row_pitch, UINT depth_pitch,
                            UINT flags)
{
    struct umd10_resource *r = dst.pDrvPrivate;

    if (!umd10_device(h)->dropped && (r->buffer || r->samples == 1))
        write_box(umd10_device(h), r, subresource, box, data, row_pitch, depth_pitch);
}

/* ---- copying ------------------------------------------------------------- */

void umd10_copy(struct umd10_device *d, struct umd10_resource *dst, UINT dst_sub, UINT x, UINT y, UINT z,
                struct umd10_resource *src, UINT src_sub, const D3D10_DDI_BOX *box)
{
    struct where w = where(src, src_sub);
    D3D10_DDI_BOX all = {0, 0, 0, (LONG)w.width, (LONG)w.height, (LONG)w.slices};
    const D3D10_DDI_BOX *b = box ? box : &all;
    uint32_t flags = dst->alloc_id ? AEROGPU_COPY_FLAG_WRITEBACK_DST : 0;

    if (!src->buffer && (src->samples != dst->samples || (src == dst && src->samples > 1)))
        return; /* resolving is something else */
    if (!src->buffer && src->format != dst->format &&
        (!umd10_has(d, AEROGPU_EXT_FEATURE(EXT_COPIES)) || src->samples > 1))
        return;
    for (LONG slice = b->front; slice < b->back; slice++, z++) {
        umd10_room(d, 128);
        umd10_use(src, false);
        umd10_use(dst, true);
        if (src->buffer) {
            ABI_EMIT(&d->stream, COPY_BUFFER, copy_buffer, .dst_buffer = dst->name, .src_buffer = src->name,
                     .dst_offset_bytes = x, .src_offset_bytes = (uint32_t)b->left,
                     .size_bytes = ((uint64_t)(b->right - b->left) + 3) & ~UINT64_C(3), .flags = flags);
            return;
        }
        ABI_EMIT(&d->stream, COPY_TEXTURE2D, copy_texture2d, .dst_texture = dst->name,
                 .src_texture = src->name, .dst_mip_level = dst_sub % dst->mips,
                 .dst_array_layer = dst->dimensions == 3 ? z : dst_sub / dst->mips,
                 .src_mip_level = src_sub % src->mips,
                 .src_array_layer = src->dimensions == 3 ? (uint32_t)slice : src_sub / src->mips, .dst_x = x,
                 .dst_y = y, .src_x = (uint32_t)b->left, .src_y = (uint32_t)b->top,
                 .width = (uint32_t)(b->right - b->left), .height = (uint32_t)(b->bottom - b->top),
                 .flags = flags);
    }
}

static VOID APIENTRY copy_region(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE dst, UINT dst_subresource, UINT x,
                                 UINT y, UINT z, D3D10DDI_HRESOURCE src, UINT src_subresource,
                                 CONST D3D10_DDI_BOX *box, UINT flags)
{
    if (!umd10_device(h)->dropped)
        umd10_copy(umd10_device(h), dst.pDrvPrivate, dst_subresource, x, y, z, src.pDrvPrivate,
                   src_subresource, box);
}

static VOID APIENTRY copy_all(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE dst, D3D10DDI_HRESOURCE src)
{
    struct umd10_resource *from = src.pDrvPrivate;

    for (UINT i = 0; i < (from->buffer ? 1 : from->mips * from->layers); i++)
        copy_region(h, dst, i, 0, 0, 0, src, i, NULL, 0);
}

static VOID APIENTRY hazard(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE r)
{
} /* streams are executed in order */

bool umd10_is_drawn(uint32_t f)
{
    return f < AEROGPU_FORMAT_D24_UNORM_S8_UINT || umd10_is_integer(f) || f == AEROGPU_FORMAT_EXT_A8_UNORM ||
           (f >= AEROGPU_EXT_FIRST_FORMAT && f < AEROGPU_FORMAT_EXT_R9G9B9E5_FLOAT);
}

static VOID APIENTRY check_format(D3D10DDI_HDEVICE h, DXGI_FORMAT format, UINT *support)
{
    uint32_t f = umd10_format(umd10_device(h), (UINT)format);
    bool integer = umd10_is_integer(f), drawn = umd10_is_drawn(f);

    /* sampled, rendered to, blended, the same with several samples, and they are loaded */
    *support = !f ? 0 : !drawn ? 1 : integer ? 1 | 2 : 1 | 2 | 4;
    if (f && drawn && samples_there_are(umd10_device(h), f, 4))
        *support |= 8 | 16;
}

static VOID APIENTRY check_samples(D3D10DDI_HDEVICE h, DXGI_FORMAT format, UINT samples, UINT *levels)
{
    uint32_t f = umd10_format(umd10_device(h), (UINT)format);

    *levels = f && samples_there_are(umd10_device(h), f, samples);
}

uint32_t umd10_texel_bytes(UINT dxgi)
{
    uint32_t bytes, block;

    if (dxgi >= 6 && dxgi <= 8) /* R32G32B32, of which there are no textures */
        return 12;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].dxgi == dxgi) {
            format_block(formats[i].format, &bytes, &block);
            return block == 1 ? bytes : 0;
        }
    return 0;
}

static VOID APIENTRY resolve(D3D10DDI_HDEVICE h, D3D10DDI_HRESOURCE hd, UINT dst_sub, D3D10DDI_HRESOURCE hs,
                             UINT src_sub, DXGI_FORMAT format)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_resource *dst = hd.pDrvPrivate, *src = hs.pDrvPrivate;
    uint32_t f = umd10_format(d, (UINT)format), mip = dst_sub % dst->mips;
    struct where w = where(dst, dst_sub);

    /* what is neither depth nor of another family, which the runtime saw to */
    if (d->dropped || src->samples < 2 || dst->samples != 1 || !f || umd10_is_depth(f) ||
        umd10_is_depth(src->format) || umd10_is_depth(dst->format) || dst->dimensions != 2 ||
        w.width != src->width || w.height != src->height)
        return;
    umd10_room(d, 128);
    umd10_use(dst, true);
    ABI_EMIT(&d->stream, EXT_RESOLVE, ext_resolve, .dst_texture = dst->name, .src_texture = src->name,
             .dst_mip_level = mip, .dst_array_layer = dst_sub / dst->mips, .src_array_layer = src_sub,
             .format = f);
}

void umd10_resource_functions(D3D11_1DDI_DEVICEFUNCS *f)
{
    f->pfnCalcPrivateResourceSize = resource_size;
    f->pfnCreateResource = create_resource;
    f->pfnCalcPrivateOpenedResourceSize = opened_size;
    f->pfnOpenResource = open_resource;
    f->pfnDestroyResource = destroy_resource;
    f->pfnResourceMap = map_any;
    f->pfnResourceUnmap = unmap_any;
    f->pfnStagingResourceMap = map_staging;
    f->pfnStagingResourceUnmap = unmap_staging;
    f->pfnDynamicResourceMapDiscard = f->pfnDynamicConstantBufferMapDiscard = map_dynamic;
    f->pfnDynamicIABufferMapDiscard = f->pfnDynamicIABufferMapNoOverwrite = map_dynamic;
    f->pfnDynamicConstantBufferMapNoOverwrite = map_dynamic;
    f->pfnDynamicResourceUnmap = f->pfnDynamicConstantBufferUnmap = f->pfnDynamicIABufferUnmap =
        unmap_dynamic;
    f->pfnResourceIsStagingBusy = is_busy;
    f->pfnResourceUpdateSubresourceUP = f->pfnDefaultConstantBufferUpdateSubresourceUP = update;
    f->pfnResourceCopy = f->pfnResourceConvert = copy_all;
    f->pfnResourceCopyRegion = f->pfnResourceConvertRegion = copy_region;
    f->pfnResourceReadAfterWriteHazard = hazard;
    f->pfnResourceResolveSubresource = resolve;
    f->pfnCheckFormatSupport = check_format;
    f->pfnCheckMultisampleQualityLevels = check_samples;
}
