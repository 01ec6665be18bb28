/* SPDX-License-Identifier: MIT */
/* resource.c: buffers and textures: what the API allows of their descriptions. */
#include "d3d/tables.h"
#include "d3d/d3d.h"

enum {
    BUFFER_BINDS = D3D11_BIND_VERTEX_BUFFER | D3D11_BIND_INDEX_BUFFER | D3D11_BIND_CONSTANT_BUFFER |
                   D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_STREAM_OUTPUT | D3D11_BIND_RENDER_TARGET |
                   D3D11_BIND_UNORDERED_ACCESS,
    TEXTURE_BINDS = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_RENDER_TARGET | D3D11_BIND_DEPTH_STENCIL |
                    D3D11_BIND_UNORDERED_ACCESS,
    MIPPED = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_RENDER_TARGET,
    SHARED = D3D11_RESOURCE_MISC_SHARED | D3D11_RESOURCE_MISC_SHARED_KEYEDMUTEX,
    WRITTEN = D3D11_BIND_RENDER_TARGET | D3D11_BIND_UNORDERED_ACCESS,
    CHANGED = WRITTEN | D3D11_BIND_DEPTH_STENCIL | D3D11_BIND_STREAM_OUTPUT /* by the GPU */
};
enum { MAX_VOLUME = 2048, MAX_BUFFER = 1 << 28 };

UINT d3d_max_texture(const struct d3d_device *d)
{
    return d->level >= D3D_FEATURE_LEVEL_11_0 ? 16384 : 8192;
}

static UINT max_array(const struct d3d_device *d)
{
    return d->level >= D3D_FEATURE_LEVEL_11_0 ? 2048 : 512;
}

/* Samples that the driver has, of a quality that it has; several are drawn to, and nothing is loaded into them. */
static bool valid_samples(struct d3d_device *d, const D3D11_TEXTURE2D_DESC *t, const void *data)
{
    UINT levels = 0;

    if (t->SampleDesc.Count == 1)
        return !t->SampleDesc.Quality || t->SampleDesc.Quality >= D3D11_CENTER_MULTISAMPLE_PATTERN;
    DDI(d, pfnCheckMultisampleQualityLevels, t->Format, t->SampleDesc.Count, &levels);
    return (t->SampleDesc.Quality < levels ||
            (levels && (t->SampleDesc.Quality == D3D11_STANDARD_MULTISAMPLE_PATTERN ||
                        t->SampleDesc.Quality == D3D11_CENTER_MULTISAMPLE_PATTERN))) &&
           t->MipLevels == 1 && t->Usage == D3D11_USAGE_DEFAULT && !data &&
           !(t->MiscFlags & D3D11_RESOURCE_MISC_TEXTURECUBE) && !(t->BindFlags & D3D11_BIND_UNORDERED_ACCESS);
}

/* The rules that all resources share; `binds`: what one of its kind can be bound as. */
static bool valid_usage(D3D11_USAGE usage, UINT bind, UINT binds, UINT cpu, bool initial)
{
    if (bind & ~binds)
        return false;
    switch (usage) {
    case D3D11_USAGE_DEFAULT:
        return !cpu;
    case D3D11_USAGE_IMMUTABLE:
        return !cpu && initial && bind && !(bind & CHANGED);
    case D3D11_USAGE_DYNAMIC:
        return cpu == D3D11_CPU_ACCESS_WRITE && bind && !(bind & CHANGED);
    case D3D11_USAGE_STAGING:
        return cpu && !bind && !(cpu & ~(UINT)(D3D11_CPU_ACCESS_READ | D3D11_CPU_ACCESS_WRITE));
    default:
        return false;
    }
}

static HRESULT create(struct d3d_device *d, D3D11DDIARG_CREATERESOURCE *a, struct d3d_child *c, void **out)
{
    DDI(d, pfnCreateResource, a, DRV(D3D10DDI_HRESOURCE, c), (D3D10DDI_HRTRESOURCE){&c->kmt});
    return d3d_child_finish(c, out);
}

/* Raw and structured buffers: what their views count in. */
static bool valid_elements(const D3D11_BUFFER_DESC *b)
{
    enum { VIEWED = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_UNORDERED_ACCESS };
    bool raw = b->MiscFlags & D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS;

    if (b->MiscFlags & D3D11_RESOURCE_MISC_BUFFER_STRUCTURED)
        return !raw && b->StructureByteStride && !(b->StructureByteStride & 3) &&
               b->StructureByteStride <= D3D11_REQ_MULTI_ELEMENT_STRUCTURE_SIZE_IN_BYTES &&
               !(b->ByteWidth % b->StructureByteStride);
    return !raw || b->BindFlags & VIEWED;
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateBuffer(ID3D11Device *This, const D3D11_BUFFER_DESC *desc,
                                                  const D3D11_SUBRESOURCE_DATA *data, ID3D11Buffer **out)
{
    struct d3d_device *d = (struct d3d_device *)This;
    D3D10DDI_MIPINFO mip;
    D3D10_DDIARG_SUBRESOURCE_UP up;
    D3D11DDIARG_CREATERESOURCE a;
    struct d3d_child *c;

    if (out)
        *out = NULL;
    if (!desc || !desc->ByteWidth || desc->ByteWidth > MAX_BUFFER || (data && !data->pSysMem) ||
        !valid_elements(desc) || desc->MiscFlags & D3D11_RESOURCE_MISC_GENERATE_MIPS ||
        !valid_usage(desc->Usage, desc->BindFlags, BUFFER_BINDS, desc->CPUAccessFlags, data) ||
        (desc->BindFlags & D3D11_BIND_CONSTANT_BUFFER &&
         (desc->BindFlags != D3D11_BIND_CONSTANT_BUFFER || desc->ByteWidth & 15 ||
          (desc->ByteWidth > 65536 && !d->eleven_one)))) {
        return d3d_refuse(
            d, D3D11_MESSAGE_ID_CREATEBUFFER_INVALIDARG_RETURN,
            "ID3D11Device::CreateBuffer: %u bytes of usage %d, bind flags 0x%X, CPU access 0x%X, misc flags 0x%X: there is no "
            "such buffer",
            desc ? desc->ByteWidth : 0, desc ? (int)desc->Usage : -1, desc ? desc->BindFlags : 0,
            desc ? desc->CPUAccessFlags : 0, desc ? desc->MiscFlags : 0);
    }
    if (!out)
        return S_FALSE;
    mip = (D3D10DDI_MIPINFO){desc->ByteWidth, 1, 1, desc->ByteWidth, 1, 1};
    a = (D3D11DDIARG_CREATERESOURCE){
        .pMipInfoList = &mip,
        .ResourceDimension = D3D10DDIRESOURCE_BUFFER,
        .Usage = desc->Usage,
        .BindFlags = desc->BindFlags,
        .MapFlags = desc->CPUAccessFlags >> 16,
        .MiscFlags = desc->MiscFlags & ~SHARED, /* it takes the flags and is nobody's but its device's */
        .SampleDesc = {1, 0},
        .MipLevels = 1,
        .ArraySize = 1,
        .ByteStride = desc->StructureByteStride};
    if (data) {
        up =
            (D3D10_DDIARG_SUBRESOURCE_UP){(void *)(uintptr_t)data->pSysMem, desc->ByteWidth, desc->ByteWidth};
        a.pInitialDataUP = &up;
    }
    c = d3d_child_create(d, D3D_BUFFER, d->ddi.pfnCalcPrivateResourceSize(d->drv, &a));
    if (!c)
        return E_OUTOFMEMORY;
    c->desc.buffer = *desc;
    if (!(desc->MiscFlags & D3D11_RESOURCE_MISC_BUFFER_STRUCTURED))
        c->desc.buffer.StructureByteStride = 0;
    return create(d, &a, c, (void **)out);
}

static bool is_compressed(DXGI_FORMAT f) /* BC1 to BC7: blocks of 4 x 4 */
{
    return (f >= DXGI_FORMAT_BC1_TYPELESS && f <= DXGI_FORMAT_BC5_SNORM) ||
           (f >= DXGI_FORMAT_BC6H_TYPELESS && f <= DXGI_FORMAT_BC7_UNORM_SRGB);
}

DXGI_FORMAT d3d_format_family(DXGI_FORMAT f)
{
    /* the first and the last of each, as their numbers go */
    static const uint8_t families[][2] = {
        {1, 4},   {5, 8},   {9, 14},  {15, 18}, {19, 22}, {23, 25}, {27, 32}, {33, 38}, {39, 43}, {44, 47},
        {48, 52}, {53, 59}, {60, 64}, {70, 72}, {73, 75}, {76, 78}, {79, 81}, {82, 84}, {94, 96}, {97, 99}};

    if (f == DXGI_FORMAT_B8G8R8A8_UNORM || f == DXGI_FORMAT_B8G8R8A8_UNORM_SRGB)
        return DXGI_FORMAT_B8G8R8A8_TYPELESS;
    if (f == DXGI_FORMAT_B8G8R8X8_UNORM || f == DXGI_FORMAT_B8G8R8X8_UNORM_SRGB)
        return DXGI_FORMAT_B8G8R8X8_TYPELESS;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (f >= families[i][0] && f <= families[i][1])
            return (DXGI_FORMAT)families[i][0];
    return f;
}

bool d3d_format_typeless(DXGI_FORMAT f)
{
    return f == d3d_format_family(f) && d3d_format_family((DXGI_FORMAT)(f + 1)) == f;
}

void d3d_format_block(DXGI_FORMAT f, UINT *bytes, UINT *block)
{
    /* up to which format how many, as their numbers go; blocks of 4 x 4 have an own table */
    static const uint8_t sizes[][2] = {{4, 16}, {8, 12}, {22, 8}, {47, 4}, {59, 2},
                                       {65, 1}, {69, 4}, {84, 0}, {86, 2}, {93, 4}};

    *block = is_compressed(f) ? 4 : 1;
    *bytes = 2; /* DXGI_FORMAT_B4G4R4A4_UNORM */
    for (size_t i = sizeof(sizes) / sizeof(sizes[0]); i-- > 0;)
        if ((UINT)f <= sizes[i][0])
            *bytes = sizes[i][1];
    if (*block == 4)
        *bytes = d3d_format_family(f) == DXGI_FORMAT_BC1_TYPELESS ||
                         d3d_format_family(f) == DXGI_FORMAT_BC4_TYPELESS
                     ? 8
                     : 16;
}

bool d3d_copyable(const struct d3d_child *to, const struct d3d_child *from)
{
    const DXGI_FORMAT t = d3d_format_family(to->desc.texture.Format),
                      f = d3d_format_family(from->desc.texture.Format), plain = is_compressed(f) ? t : f;
    UINT bytes[2], block[2];

    d3d_format_block(t, &bytes[0], &block[0]);
    d3d_format_block(f, &bytes[1], &block[1]);
    if (t == f)
        return true;
    if (block[0] == block[1]) /* shared exponents are words, too */
        return to->device->level >= D3D_FEATURE_LEVEL_10_1 &&
               ((t == DXGI_FORMAT_R32_TYPELESS && f == DXGI_FORMAT_R9G9B9E5_SHAREDEXP) ||
                (f == DXGI_FORMAT_R32_TYPELESS && t == DXGI_FORMAT_R9G9B9E5_SHAREDEXP));
    return to->device->level >= D3D_FEATURE_LEVEL_10_1 && bytes[0] == bytes[1] &&
           (plain == DXGI_FORMAT_R32G32B32A32_TYPELESS || plain == DXGI_FORMAT_R16G16B16A16_TYPELESS ||
            plain == DXGI_FORMAT_R32G32_TYPELESS);
}

UINT d3d_copied_size(UINT n, const struct d3d_child *from, const struct d3d_child *to)
{
    UINT bytes, had = 1, has = 1;

    if (from->kind != D3D_BUFFER)
        d3d_format_block(from->desc.texture.Format, &bytes, &had);
    if (to->kind != D3D_BUFFER)
        d3d_format_block(to->desc.texture.Format, &bytes, &has);
    return had == has ? n : (n + had - 1) / had * has;
}

static UINT all_mips(UINT width, UINT height, UINT depth)
{
    UINT n = 1;

    for (UINT v = width | height | depth; v > 1; v >>= 1)
        n++;
    return n;
}

/* Depth may be bound as that, and as nothing else that is drawn to. */
static bool is_depth(DXGI_FORMAT f)
{
    return f == DXGI_FORMAT_R32G8X24_TYPELESS || f == DXGI_FORMAT_D32_FLOAT_S8X24_UINT ||
           f == DXGI_FORMAT_R32_TYPELESS || f == DXGI_FORMAT_D32_FLOAT || f == DXGI_FORMAT_R24G8_TYPELESS ||
           f == DXGI_FORMAT_D24_UNORM_S8_UINT || f == DXGI_FORMAT_R16_TYPELESS || f == DXGI_FORMAT_D16_UNORM;
}

/* What the driver says of the format, and what may be bound as what. */
static bool valid_format(struct d3d_device *d, DXGI_FORMAT f, UINT bind)
{
    bool typeless = d3d_format_typeless(f);
    UINT has = 0;

    DDI(d, pfnCheckFormatSupport, f, &has);
    if (!has || (bind & D3D11_BIND_SHADER_RESOURCE && is_depth(f) && !typeless) ||
        (bind & D3D11_BIND_DEPTH_STENCIL && (!is_depth(f) || bind & WRITTEN)) ||
        (bind & D3D11_BIND_UNORDERED_ACCESS && is_depth(f) && f != DXGI_FORMAT_R32_TYPELESS &&
         f != DXGI_FORMAT_R16_TYPELESS))
        return false;
    return !(bind & D3D11_BIND_RENDER_TARGET) || has & 2 ||
           (typeless && f != DXGI_FORMAT_R24G8_TYPELESS && f != DXGI_FORMAT_R32G8X24_TYPELESS);
}

/* Textures of one and three dimensions take the flag of a keyed mutex, and are nobody's but their device's. */
static UINT sharing(enum d3d_kind kind, UINT flags)
{
    return flags & (kind == D3D_TEXTURE ? SHARED : D3D11_RESOURCE_MISC_SHARED);
}

/* To the driver, what has a keyed mutex is shared. */
static UINT driver_misc(enum d3d_kind kind, UINT flags)
{
    return sharing(kind, flags) ? flags | D3D11_RESOURCE_MISC_SHARED : flags;
}

/* It can be acquired with key 0 first. */
static HRESULT make_mutex(struct d3d_child *c)
{
    D3DKMT_CREATEKEYEDMUTEX k = {0};
    NTSTATUS s = D3DKMTCreateKeyedMutex(&k);

    c->keyed = k.hKeyedMutex;
    c->share.mutex = k.hSharedHandle;
    return d3d_status(s);
}

static D3DKMT_HANDLE open_mutex(D3DKMT_HANDLE share)
{
    D3DKMT_OPENKEYEDMUTEX k = {.hSharedHandle = share};

    return NT_SUCCESS(D3DKMTOpenKeyedMutex(&k)) ? k.hKeyedMutex : 0;
}

HRESULT d3d_texture_create(struct d3d_device *d, enum d3d_kind kind, const D3D11_TEXTURE2D_DESC *given,
                           UINT depth, const D3D11_SUBRESOURCE_DATA *data, DXGI_DDI_PRIMARY_DESC *primary,
                           struct d3d_child **out)
{
    D3D11_TEXTURE2D_DESC desc = *given;
    D3D10DDI_MIPINFO mips[16];
    D3D10_DDIARG_SUBRESOURCE_UP *up = NULL;
    D3D11DDIARG_CREATERESOURCE a;
    struct d3d_child *c;
    HRESULT hr;

    if (!desc.MipLevels)
        desc.MipLevels = all_mips(desc.Width, desc.Height, depth);
    for (UINT m = 0; m < desc.MipLevels; m++) {
        UINT w = desc.Width >> m ? desc.Width >> m : 1, h = desc.Height >> m ? desc.Height >> m : 1,
             z = depth >> m ? depth >> m : 1;
        mips[m] = (D3D10DDI_MIPINFO){w, h, z, w, h, z};
    }
    a = (D3D11DDIARG_CREATERESOURCE){.pMipInfoList = mips,
                                     .ResourceDimension = kind == D3D_TEXTURE1D   ? D3D10DDIRESOURCE_TEXTURE1D
                                                          : kind == D3D_TEXTURE3D ? D3D10DDIRESOURCE_TEXTURE3D
                                                          : desc.MiscFlags & D3D11_RESOURCE_MISC_TEXTURECUBE
                                                              ? D3D10DDIRESOURCE_TEXTURECUBE
                                                              : D3D10DDIRESOURCE_TEXTURE2D,
                                     .Usage = desc.Usage,
                                     .BindFlags = desc.BindFlags,
                                     .MiscFlags = driver_misc(kind, desc.MiscFlags),
                                     .Format = desc.Format,
                                     .SampleDesc = {desc.SampleDesc.Count, desc.SampleDesc.Quality},
                                     .MipLevels = desc.MipLevels,
                                     .ArraySize = desc.ArraySize,
                                     .pPrimaryDesc = primary};
    if (data) {
        up = calloc((size_t)desc.MipLevels * desc.ArraySize, sizeof(*up));
        if (!up)
            return E_OUTOFMEMORY;
        for (UINT i = 0; i < desc.MipLevels * desc.ArraySize; i++)
            up[i] = (D3D10_DDIARG_SUBRESOURCE_UP){(void *)(uintptr_t)data[i].pSysMem, data[i].SysMemPitch,
                                                  data[i].SysMemSlicePitch};
        a.pInitialDataUP = up;
    }
    c = d3d_child_create(d, kind, d->ddi.pfnCalcPrivateResourceSize(d->drv, &a));
    if (c) {
        c->desc.texture = desc;
        c->depth = depth;
        c->share = (struct d3d_shared){D3D_SHARED_MAGIC, desc, 0};
        c->kmt = (struct d3d_kmt_resource){sharing(kind, desc.MiscFlags), &c->share, sizeof(c->share), 0, 0};
    }
    hr = c ? S_OK : E_OUTOFMEMORY;
    if (c && sharing(kind, desc.MiscFlags) & D3D11_RESOURCE_MISC_SHARED_KEYEDMUTEX)
        hr = make_mutex(c);
    if (c && hr == S_OK)
        hr = create(d, &a, c, (void **)out);
    else if (c)
        d3d_child_release(c);
    free(up);
    return hr;
}

/* What GDI draws on. */
static bool valid_canvas(enum d3d_kind kind, const D3D11_TEXTURE2D_DESC *desc)
{
    return kind == D3D_TEXTURE && desc->MipLevels == 1 && desc->ArraySize == 1 &&
           desc->SampleDesc.Count == 1 && desc->Usage == D3D11_USAGE_DEFAULT &&
           desc->BindFlags & D3D11_BIND_RENDER_TARGET &&
           d3d_format_family(desc->Format) == DXGI_FORMAT_B8G8R8A8_TYPELESS;
}

/* What others can open: as documented, textures of two dimensions with one mip. */
static bool valid_shared(enum d3d_kind kind, const D3D11_TEXTURE2D_DESC *desc)
{
    return kind == D3D_TEXTURE && desc->MipLevels == 1 && desc->ArraySize == 1 &&
           desc->SampleDesc.Count == 1 && desc->Usage == D3D11_USAGE_DEFAULT &&
           !(desc->BindFlags & D3D11_BIND_DEPTH_STENCIL) && (desc->MiscFlags & SHARED) != SHARED;
}

/* What all textures have to be; then they are made. */
static HRESULT try_texture(struct d3d_device *d, enum d3d_kind kind, const D3D11_TEXTURE2D_DESC *desc,
                           UINT depth, const D3D11_SUBRESOURCE_DATA *data, void **out)
{
    UINT most = kind == D3D_TEXTURE3D ? MAX_VOLUME : d3d_max_texture(d), all;
    bool cube = desc->MiscFlags & D3D11_RESOURCE_MISC_TEXTURECUBE;

    if (out)
        *out = NULL;
    if (!desc->Width || !desc->Height || !depth || desc->Width > most || desc->Height > most ||
        depth > most || !desc->ArraySize || desc->ArraySize > max_array(d) || !desc->SampleDesc.Count)
        return E_INVALIDARG;
    all = all_mips(desc->Width, desc->Height, depth);
    if (desc->MipLevels > all ||
        !valid_usage(desc->Usage, desc->BindFlags, TEXTURE_BINDS, desc->CPUAccessFlags, data) ||
        (is_compressed(desc->Format) && (desc->Width | desc->Height) & 3) ||
        !valid_format(d, desc->Format, desc->BindFlags) || !valid_samples(d, desc, data) ||
        (sharing(kind, desc->MiscFlags) && !valid_shared(kind, desc)) ||
        (desc->MiscFlags & D3D11_RESOURCE_MISC_GDI_COMPATIBLE && !valid_canvas(kind, desc)) ||
        (desc->MiscFlags & D3D11_RESOURCE_MISC_GENERATE_MIPS && (desc->BindFlags & MIPPED) != MIPPED) ||
        (cube && (kind != D3D_TEXTURE || desc->ArraySize < 6 || desc->Width != desc->Height ||
                  (d->level < D3D_FEATURE_LEVEL_10_1 && desc->ArraySize != 6))))
        return E_INVALIDARG;
    for (UINT i = 0; data && i < (desc->MipLevels ? desc->MipLevels : all) * desc->ArraySize; i++)
        if (!data[i].pSysMem)
            return E_INVALIDARG;
    if (!out)
        return S_FALSE;
    return d3d_texture_create(d, kind, desc, depth, data, NULL, (struct d3d_child **)out);
}

static HRESULT texture(struct d3d_device *d, enum d3d_kind kind, const D3D11_TEXTURE2D_DESC *desc, UINT depth,
                       const D3D11_SUBRESOURCE_DATA *data, void **out)
{
    static const D3D11_MESSAGE_ID ids[] = {
        [D3D_TEXTURE1D] = D3D11_MESSAGE_ID_CREATETEXTURE1D_INVALIDARG_RETURN,
        [D3D_TEXTURE] = D3D11_MESSAGE_ID_CREATETEXTURE2D_INVALIDARG_RETURN,
        [D3D_TEXTURE3D] = D3D11_MESSAGE_ID_CREATETEXTURE3D_INVALIDARG_RETURN};
    HRESULT hr = try_texture(d, kind, desc, depth, data, out);

    if (hr != E_INVALIDARG)
        return hr;
    return d3d_refuse(
        d, ids[kind],
        "ID3D11Device::CreateTexture%dD: %u x %u x %u, %u mips, %u layers, format %d, %u samples, usage %d, bind flags "
        "0x%X, CPU access 0x%X, misc flags 0x%X: there is no such texture",
        (int)kind - D3D_BUFFER, desc->Width, desc->Height, depth, desc->MipLevels, desc->ArraySize,
        (int)desc->Format, desc->SampleDesc.Count, (int)desc->Usage, desc->BindFlags, desc->CPUAccessFlags,
        desc->MiscFlags);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateTexture1D(ID3D11Device *This, const D3D11_TEXTURE1D_DESC *desc,
                                                     const D3D11_SUBRESOURCE_DATA *data,
                                                     ID3D11Texture1D **out)
{
    if (!desc)
        return E_INVALIDARG;
    return texture((struct d3d_device *)This, D3D_TEXTURE1D,
                   &(D3D11_TEXTURE2D_DESC){.Width = desc->Width,
                                           .Height = 1,
                                           .MipLevels = desc->MipLevels,
                                           .ArraySize = desc->ArraySize,
                                           .Format = desc->Format,
                                           .SampleDesc = {1, 0},
                                           .Usage = desc->Usage,
                                           .BindFlags = desc->BindFlags,
                                           .CPUAccessFlags = desc->CPUAccessFlags,
                                           .MiscFlags = desc->MiscFlags},
                   1, data, (void **)out);
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateTexture2D(ID3D11Device *This, const D3D11_TEXTURE2D_DESC *desc,
                                                     const D3D11_SUBRESOURCE_DATA *data,
                                                     ID3D11Texture2D **out)
{
    return desc ? texture((struct d3d_device *)This, D3D_TEXTURE, desc, 1, data, (void **)out) : E_INVALIDARG;
}

static HRESULT open_shared(struct d3d_device *d, D3DKMT_HANDLE share, struct d3d_child **out)
{
    D3DDDI_OPENALLOCATIONINFO info = {0};
    D3D10DDIARG_OPENRESOURCE a = {.NumAllocations = 1, .pOpenAllocationInfo = &info};
    struct d3d_kmt_resource opened;
    struct d3d_shared told;
    struct d3d_child *c;
    void *memory;
    HRESULT hr = d3d_resource_open(&d->kmt, share, &told, sizeof(told), &opened, &info, &memory);

    if (hr != S_OK)
        return hr == (HRESULT)0x88760870 ? DXGI_ERROR_DEVICE_REMOVED : hr;
    a.hKMResource.handle = opened.resource;
    c = told.magic == D3D_SHARED_MAGIC && told.desc.MiscFlags & SHARED &&
                texture(d, D3D_TEXTURE, &told.desc, 1, NULL, NULL) == S_FALSE
            ? d3d_child_create(d, D3D_TEXTURE, d->ddi.pfnCalcPrivateOpenedResourceSize(d->drv, &a))
            : NULL;
    if (c) {
        c->desc.texture = told.desc;
        c->depth = 1;
        c->kmt = opened;
        c->kmt.shared = true;
        c->keyed = told.mutex ? open_mutex(told.mutex) : 0;
        DDI(d, pfnOpenResource, &a, DRV(D3D10DDI_HRESOURCE, c), (D3D10DDI_HRTRESOURCE){&c->kmt});
        hr = d3d_child_finish(c, (void **)out);
    } else {
        hr = E_INVALIDARG;
    }
    if (hr != S_OK)
        D3DKMTDestroyAllocation(
            &(D3DKMT_DESTROYALLOCATION){.hDevice = d->kmt.device, .hResource = opened.resource});
    free(memory);
    return hr;
}

HRESULT STDMETHODCALLTYPE d3d_device_OpenSharedResource(ID3D11Device *This, HANDLE handle, REFIID riid,
                                                        void **out)
{
    struct d3d_child *c = NULL;
    HRESULT hr;

    if (!out)
        return S_FALSE;
    *out = NULL;
    if (!handle || (uintptr_t)handle > UINT32_MAX) /* a global handle, not one of the process */
        return E_INVALIDARG;
    hr = open_shared((struct d3d_device *)This, (D3DKMT_HANDLE)(uintptr_t)handle, &c);
    if (hr != S_OK)
        return hr;
    hr = d3d_child_QueryInterface(c, riid, out);
    d3d_child_release(c);
    return hr;
}

HRESULT STDMETHODCALLTYPE d3d_device_CreateTexture3D(ID3D11Device *This, const D3D11_TEXTURE3D_DESC *desc,
                                                     const D3D11_SUBRESOURCE_DATA *data,
                                                     ID3D11Texture3D **out)
{
    if (!desc)
        return E_INVALIDARG;
    return texture((struct d3d_device *)This, D3D_TEXTURE3D,
                   &(D3D11_TEXTURE2D_DESC){.Width = desc->Width,
                                           .Height = desc->Height,
                                           .MipLevels = desc->MipLevels,
                                           .ArraySize = 1,
                                           .Format = desc->Format,
                                           .SampleDesc = {1, 0},
                                           .Usage = desc->Usage,
                                           .BindFlags = desc->BindFlags,
                                           .CPUAccessFlags = desc->CPUAccessFlags,
                                           .MiscFlags = desc->MiscFlags},
                   desc->Depth, data, (void **)out);
}

void STDMETHODCALLTYPE d3d_resource_GetType(void *This, D3D11_RESOURCE_DIMENSION *type)
{
    static const D3D11_RESOURCE_DIMENSION types[] = {[D3D_BUFFER] = D3D11_RESOURCE_DIMENSION_BUFFER,
                                                     [D3D_TEXTURE1D] = D3D11_RESOURCE_DIMENSION_TEXTURE1D,
                                                     [D3D_TEXTURE] = D3D11_RESOURCE_DIMENSION_TEXTURE2D,
                                                     [D3D_TEXTURE3D] = D3D11_RESOURCE_DIMENSION_TEXTURE3D};

    *type = types[((struct d3d_child *)This)->kind];
}

void STDMETHODCALLTYPE d3d_buffer_GetDesc(ID3D11Buffer *This, D3D11_BUFFER_DESC *desc)
{
    *desc = ((struct d3d_child *)This)->desc.buffer;
}

void STDMETHODCALLTYPE d3d_texture1d_GetDesc(ID3D11Texture1D *This, D3D11_TEXTURE1D_DESC *desc)
{
    const D3D11_TEXTURE2D_DESC *t = &((struct d3d_child *)This)->desc.texture;

    *desc = (D3D11_TEXTURE1D_DESC){t->Width, t->MipLevels, t->ArraySize,      t->Format,
                                   t->Usage, t->BindFlags, t->CPUAccessFlags, t->MiscFlags};
}

void STDMETHODCALLTYPE d3d_texture_GetDesc(ID3D11Texture2D *This, D3D11_TEXTURE2D_DESC *desc)
{
    *desc = ((struct d3d_child *)This)->desc.texture;
}

void STDMETHODCALLTYPE d3d_texture3d_GetDesc(ID3D11Texture3D *This, D3D11_TEXTURE3D_DESC *desc)
{
    const struct d3d_child *c = (const struct d3d_child *)This;
    const D3D11_TEXTURE2D_DESC *t = &c->desc.texture;

    *desc = (D3D11_TEXTURE3D_DESC){t->Width, t->Height,    c->depth,          t->MipLevels, t->Format,
                                   t->Usage, t->BindFlags, t->CPUAccessFlags, t->MiscFlags};
}

/* ---- eviction priorities: kept, and what is resident is the kernel's affair ---- */

void STDMETHODCALLTYPE d3d_resource_SetEvictionPriority(void *This, UINT priority)
{
    ((struct d3d_child *)This)->priority = priority;
}

UINT STDMETHODCALLTYPE d3d_resource_GetEvictionPriority(void *This)
{
    return ((struct d3d_child *)This)->priority;
}
