/* SPDX-License-Identifier: MIT */
/* resource.c: what buffers, textures and surfaces are made of, and their bytes.
 *
 *   default pool    the driver's; locked through it
 *   managed         memory, and the driver's, which gets what changed (d9_sync)
 *   system, scratch memory, which the driver copies from and to
 */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

enum { MARGIN_ROWS = 16 }; /* of memory, in front of a texture and behind it: lock_beside */

UINT d9_texel_bytes(D3DFORMAT format, UINT *block)
{
    *block = 1;
    switch ((UINT)format) {
    case MAKEFOURCC('D', 'X', 'T', '1'):
    case MAKEFOURCC('A', 'T', 'I', '1'):
        *block = 4;
        return 8;
    case MAKEFOURCC('D', 'X', 'T', '2'):
    case MAKEFOURCC('D', 'X', 'T', '3'):
    case MAKEFOURCC('D', 'X', 'T', '4'):
    case MAKEFOURCC('D', 'X', 'T', '5'):
    case MAKEFOURCC('A', 'T', 'I', '2'):
        *block = 4;
        return 16;
    case D3DFMT_A8:
    case D3DFMT_L8:
    case D3DFMT_P8:
    case D3DFMT_R3G3B2:
    case D3DFMT_A4L4:
    case (D3DFORMAT)MAKEFOURCC('Y', 'V', '1', '2'):
    case (D3DFORMAT)MAKEFOURCC('N', 'V', '1', '2'):
        return 1;
    case D3DFMT_R5G6B5:
    case D3DFMT_X1R5G5B5:
    case D3DFMT_A1R5G5B5:
    case D3DFMT_A4R4G4B4:
    case D3DFMT_X4R4G4B4:
    case D3DFMT_A8R3G3B2:
    case D3DFMT_A8L8:
    case D3DFMT_A8P8:
    case D3DFMT_V8U8:
    case D3DFMT_L6V5U5:
    case D3DFMT_L16:
    case D3DFMT_D16:
    case D3DFMT_D16_LOCKABLE:
    case D3DFMT_R16F:
    case D3DFMT_YUY2:
    case D3DFMT_UYVY:
        return 2;
    case D3DFMT_R8G8B8:
        return 3;
    case D3DFMT_A16B16G16R16:
    case D3DFMT_A16B16G16R16F:
    case D3DFMT_Q16W16V16U16:
    case D3DFMT_G32R32F:
        return 8;
    case D3DFMT_A32B32G32R32F:
        return 16;
    default:
        return 4;
    }
}

static bool is_planar(D3DFORMAT f)
{
    return f == MAKEFOURCC('Y', 'V', '1', '2') || f == MAKEFOURCC('N', 'V', '1', '2');
}

static bool is_video(D3DFORMAT f)
{
    return f == D3DFMT_YUY2 || f == D3DFMT_UYVY || is_planar(f);
}

/* Rows of a program's own memory follow each other as they are. */
static UINT pitch_of(D3DFORMAT format, UINT width, UINT height, bool padded, UINT *rows)
{
    UINT block, bytes = d9_texel_bytes(format, &block);

    *rows = (height + block - 1) / block;
    if (is_planar(format)) /* the colours follow, in half as many lines */
        *rows += (height + 1) / 2;
    bytes *= (width + block - 1) / block;
    return padded ? (bytes + 3) & ~3u : bytes;
}

static bool is_buffer(const struct d9_resource *r)
{
    return r->o.kind == D9_VB || r->o.kind == D9_IB;
}

/* Whether the driver has one of its own beside memory. */
static bool in_video(const struct d9_resource *r)
{
    return r->pool == D3DPOOL_DEFAULT || r->pool == D3DPOOL_MANAGED || is_buffer(r);
}

/* ---- in the driver -------------------------------------------------------------------- */

static D3DDDI_RESOURCEFLAGS flags_of(const struct d9_resource *r)
{
    D3DDDI_RESOURCEFLAGS f = {{.Value = 0}};

    f.RenderTarget = r->usage & D3DUSAGE_RENDERTARGET ? 1 : 0;
    f.ZBuffer = r->usage & D3DUSAGE_DEPTHSTENCIL ? 1 : 0;
    f.Dynamic = r->usage & D3DUSAGE_DYNAMIC ? 1 : 0;
    f.WriteOnly = r->usage & D3DUSAGE_WRITEONLY ? 1 : 0;
    f.Points = r->usage & D3DUSAGE_POINTS ? 1 : 0;
    f.NotLockable = !r->lockable;
    f.Primary = r->primary;
    f.Texture = r->o.kind == D9_TEXTURE || r->o.kind == D9_CUBE || r->o.kind == D9_VOLUMES;
    f.CubeMap = r->o.kind == D9_CUBE;
    f.Volume = r->o.kind == D9_VOLUMES;
    f.AutogenMipmap = r->made > r->levels;
    f.VertexBuffer = r->o.kind == D9_VB;
    f.IndexBuffer = r->o.kind == D9_IB;
    f.SharedResource = r->kmt.shared;
    return f;
}

static UINT part_of(UINT whole, UINT level)
{
    return whole >> level ? whole >> level : 1;
}

/* From level `skip` on, of volumes. */
static HRESULT make(struct d9_resource *r, bool system, UINT skip, HANDLE *out)
{
    UINT levels = (system ? r->levels : r->made) - skip, count = levels * r->faces;
    D3DDDI_SURFACEINFO *list = calloc(count, sizeof(*list));
    D3DDDIARG_CREATERESOURCE a = {.Format = (D3DDDIFORMAT)r->format,
                                  .Pool = system       ? D3DDDIPOOL_SYSTEMMEM
                                          : r->picture ? D3DDDIPOOL_NONLOCALVIDMEM
                                                       : D3DDDIPOOL_VIDEOMEMORY,
                                  .MultisampleType = r->samples,
                                  .MultisampleQuality = r->quality,
                                  .pSurfList = list,
                                  .SurfCount = count,
                                  .MipLevels = levels,
                                  .Fvf = r->fvf,
                                  .VidPnSourceId = r->o.device->factory->source,
                                  .hResource = &r->kmt,
                                  .Flags = flags_of(r),
                                  .Rotation = D3DDDI_ROTATION_IDENTITY};
    HRESULT hr;

    if (!list)
        return E_OUTOFMEMORY;
    for (UINT i = 0; i < count; i++) {
        const struct d9_surface *s = &r->surfaces[system ? skip + i : 0];
        const UINT level = skip + i % levels;

        list[i] = (D3DDDI_SURFACEINFO){.Width = is_buffer(r) ? r->size : part_of(r->width, level),
                                       .Height = part_of(r->height, level),
                                       .Depth = part_of(r->depth, level)};
        if (system) {
            list[i].pSysMem = r->memory + (s->copied ? s->copy : s->offset);
            list[i].SysMemPitch = s->pitch;
            list[i].SysMemSlicePitch = s->slice;
        }
    }
    hr = DDI9(r->o.device, pfnCreateResource, &a);
    free(list);
    *out = hr == S_OK && r->o.device->lost == S_OK ? a.hResource : NULL;
    return hr;
}

HRESULT d9_resource_make(struct d9_resource *r)
{
    HRESULT hr = S_OK;

    if (in_video(r))
        hr = make(r, false, 0, &r->o.drv);
    if (hr == S_OK && r->memory)
        hr = make(r, true, 0, &r->sys);
    for (UINT i = 0; i < r->levels * r->faces; i++)
        d9_dirty(&r->surfaces[i], NULL);
    r->mips_stale = true;
    r->dirty_low = 0;
    r->dirty_high = r->size;
    return hr;
}

HANDLE d9_part(struct d9_resource *r, UINT skip)
{
    HANDLE part = NULL;

    make(r, true, skip, &part);
    return part;
}

void d9_resource_finish(struct d9_resource *r)
{
    for (UINT i = 0; i < r->levels * r->faces; i++)
        d9_data_free(r->surfaces[i].data);
    if (r->pool <= D3DPOOL_MANAGED)
        r->o.device->video_bytes -= r->size;
    if (!r->foreign && r->memory)
        free(r->memory - r->margin);
    free(r->told);
}

/* Formats that Windows takes for ones of a byte a texel: so long is a row, to the program, and so much memory a level has. Where that is
 * too little for its blocks, which programs write all the same, over the next level's, the driver has a copy. */
bool d9_unlike_blocks(D3DFORMAT format)
{
    return (UINT)format == MAKEFOURCC('A', 'T', 'I', '1') || (UINT)format == MAKEFOURCC('A', 'T', 'I', '2');
}

/* false: there are more bytes than 32 bits count. */
static bool lay_out(struct d9_resource *r, const struct d9_shape *s)
{
    uint64_t offset = 0, copies = 0, over = 0; /* over: by as much blocks of a level may reach behind all */

    for (UINT i = 0; i < r->levels * r->faces; i++) {
        struct d9_surface *u = &r->surfaces[i];
        UINT level = i % r->levels, rows;

        *u = (struct d9_surface){.resource = r, .index = i, .offset = (size_t)offset};
        u->vtbl = s->kind == D9_VOLUMES ? (const void *)&d9_volume_vtbl : &d9_surface_vtbl;
        u->width = part_of(r->width, level);
        u->height = part_of(r->height, level);
        u->depth = part_of(r->depth, level);
        u->pitch = pitch_of(r->format, u->width, u->height, !s->memory, &rows);
        u->slice = u->pitch * rows;
        if (d9_unlike_blocks(r->format)) {
            if (u->slice > u->width * u->height && s->kind != D9_VOLUMES && !s->memory)
                u->copied = u->slice;
            if (u->copied || u->slice < u->width * u->height)
                u->slice = u->width * u->height;
            if (u->copied > u->slice + over)
                over = u->copied - u->slice;
            u->copy = (size_t)copies;
            copies += u->copied;
        }
        offset += (uint64_t)u->slice * u->depth;
        if (level + 1 == r->levels) /* programs count on where faces begin */
            offset = (offset + 15) & ~UINT64_C(15);
    }
    if (s->kind <= D9_IB)
        offset = s->width;
    else
        r->margin = (MARGIN_ROWS * (size_t)r->surfaces[0].pitch + 15) & ~(size_t)15;
    if (offset + over + copies + 16 + 2 * r->margin > UINT32_MAX)
        return false;
    r->size = (UINT)offset;
    for (UINT i = 0; i < r->levels * r->faces; i++)
        r->surfaces[i].copy += (size_t)(offset + over);
    r->room = (size_t)(offset + over + copies + 16);
    return true;
}

static uint8_t *new_memory(const struct d9_resource *r)
{
    uint8_t *m = calloc(1, r->room + 2 * r->margin);

    return m ? m + r->margin : NULL;
}

HRESULT d9_resource_create(struct d9_device *d, const struct d9_shape *s, struct d9_resource **out)
{
    struct d9_resource *r = calloc(1, sizeof(*r) + s->levels * s->faces * sizeof(r->surfaces[0]));
    HRESULT hr;

    *out = NULL;
    if (!r)
        return E_OUTOFMEMORY;
    d9_object_init(&r->o, d, s->kind);
    r->type = s->type;
    r->format = s->format;
    r->usage = s->usage;
    r->fvf = s->fvf;
    r->pool = s->pool;
    r->lockable = s->lockable;
    r->primary = s->primary;
    r->picture = s->picture;
    r->samples = s->samples;
    r->quality = s->quality;
    r->width = s->width;
    r->height = s->height;
    r->depth = s->depth ? s->depth : 1;
    r->levels = r->made = s->levels;
    if (s->usage & D3DUSAGE_AUTOGENMIPMAP && s->kind != D9_SURFACE)
        for (UINT side = s->width > s->height ? s->width : s->height; side >> r->made;)
            r->made++;
    r->faces = s->faces;
    r->autogen = D3DTEXF_LINEAR;
    if (!lay_out(r, s)) {
        d9_object_release(r);
        return s->pool == D3DPOOL_DEFAULT ? D3DERR_OUTOFVIDEOMEMORY : E_OUTOFMEMORY;
    }
    if (r->pool <= D3DPOOL_MANAGED)
        d->video_bytes += r->size;
    if (s->pool != D3DPOOL_DEFAULT) {
        r->memory = s->memory ? s->memory : new_memory(r);
        r->foreign = s->memory != NULL;
    }
    if (s->shared && *s->shared)
        hr = d9_share_open(r, *s->shared);
    else if (s->pool != D3DPOOL_DEFAULT && !r->memory)
        hr = E_OUTOFMEMORY;
    else
        hr = s->shared && d9_share_init(r) != S_OK ? E_OUTOFMEMORY : d9_resource_make(r);
    if (hr != S_OK) {
        d9_object_release(r);
        return hr;
    }
    if (s->shared && !*s->shared)
        *s->shared = (HANDLE)(uintptr_t)r->kmt.share;
    *out = r;
    return S_OK;
}

/* ---- what changed ------------------------------------------------------------------------ */

UINT d9_index(const struct d9_resource *r, UINT surface)
{
    return surface / r->levels * r->made + surface % r->levels;
}

void d9_dirty(struct d9_surface *s, const D3DBOX *box)
{
    const D3DBOX all = {0, 0, s->width, s->height, 0, s->depth}, *b = box ? box : &all;
    D3DBOX *d = &s->dirty;
    UINT block, bytes = d9_texel_bytes(s->resource->format, &block);

    if (!bytes || d->Left >= d->Right) {
        *d = *b;
    } else {
        d->Left = b->Left < d->Left ? b->Left : d->Left;
        d->Top = b->Top < d->Top ? b->Top : d->Top;
        d->Front = b->Front < d->Front ? b->Front : d->Front;
        d->Right = b->Right > d->Right ? b->Right : d->Right;
        d->Bottom = b->Bottom > d->Bottom ? b->Bottom : d->Bottom;
        d->Back = b->Back > d->Back ? b->Back : d->Back;
    }
    d->Left -= d->Left % block;
    d->Top -= d->Top % block;
    d->Right = (d->Right + block - 1) / block * block;
    d->Bottom = (d->Bottom + block - 1) / block * block;
    d->Right = d->Right > s->width ? s->width : d->Right;
    d->Bottom = d->Bottom > s->height ? s->height : d->Bottom;
}

void d9_mips_changed(struct d9_resource *r, UINT surface)
{
    r->mips_stale |= surface % r->levels == 0;
}

void d9_mips_make(struct d9_resource *r)
{
    if (!r->mips_stale || r->made == r->levels || !r->o.drv)
        return;
    DDI9(r->o.device, pfnGenerateMipSubLevels, &(D3DDDIARG_GENERATEMIPSUBLEVELS){r->o.drv, r->autogen});
    r->mips_stale = false;
}

static void copy_part(struct d9_resource *r, HANDLE to, UINT surface, const D3DBOX *b)
{
    const RECT part = {(LONG)b->Left, (LONG)b->Top, (LONG)b->Right, (LONG)b->Bottom};

    DDI9(r->o.device, pfnBlt,
         &(D3DDDIARG_BLT){.hSrcResource = r->sys,
                          .SrcSubResourceIndex = surface,
                          .SrcRect = part,
                          .hDstResource = to,
                          .DstSubResourceIndex = d9_index(r, surface),
                          .DstRect = part});
}

/* Textures of system memory have no driver's beside them until somebody draws with them. */
HANDLE d9_sampled(struct d9_resource *r)
{
    if (r && r->pool == D3DPOOL_SYSTEMMEM && !r->twin && r->o.kind >= D9_TEXTURE && r->o.kind <= D9_VOLUMES)
        make(r, false, 0, &r->twin);
    return !r ? NULL : r->twin ? r->twin : r->o.drv;
}

/* The driver's interface copies volumes from the first level down. */
static void sync_volumes(struct d9_resource *r, HANDLE to)
{
    bool any = r->twin != NULL; /* all of it, each time */

    for (UINT i = 0; i < r->levels; i++) {
        any |= r->surfaces[i].dirty.Left < r->surfaces[i].dirty.Right;
        r->surfaces[i].dirty = (D3DBOX){0};
    }
    if (any)
        DDI9(r->o.device, pfnVolBlt,
             &(D3DDDIARG_VOLUMEBLT){.hDstResource = to,
                                    .hSrcResource = r->sys,
                                    .SrcBox = {0, 0, r->width, r->height, 0, r->depth}});
}

void d9_sync(struct d9_resource *r)
{
    struct d9_device *d;

    if (!r || !r->memory || !r->sys || !(r->o.drv || r->twin))
        return;
    d = r->o.device;
    if (r->o.kind == D9_VOLUMES) {
        sync_volumes(r, r->twin ? r->twin : r->o.drv);
        return;
    }
    if (r->twin)
        for (UINT i = 0; i < r->levels * r->faces; i++)
            copy_part(r, r->twin, i, &(D3DBOX){0, 0, r->surfaces[i].width, r->surfaces[i].height, 0, 1});
    if (!r->o.drv)
        return;
    if (is_buffer(r)) {
        if (r->dirty_low < r->dirty_high)
            DDI9(d, pfnBufBlt,
                 &(D3DDDIARG_BUFFERBLT){.hDstResource = r->o.drv,
                                        .hSrcResource = r->sys,
                                        .Offset = r->dirty_low,
                                        .SrcRange = {r->dirty_low, r->dirty_high - r->dirty_low}});
        if (!r->locks) /* what is locked may change until the next draw */
            r->dirty_low = r->dirty_high = 0;
        return;
    }
    for (UINT i = 0; i < r->levels * r->faces; i++) {
        struct d9_surface *s = &r->surfaces[i];

        if (s->dirty.Left >= s->dirty.Right)
            continue;
        copy_part(r, r->o.drv, i, &s->dirty);
        d9_mips_changed(r, i);
        s->dirty = (D3DBOX){0};
    }
}

/* ---- locks ---------------------------------------------------------------------------------- */

static D3DDDI_LOCKFLAGS lock_flags(DWORD flags)
{
    D3DDDI_LOCKFLAGS f = {{.Value = 0}};

    f.ReadOnly = flags & D3DLOCK_READONLY ? 1 : 0;
    f.Discard = flags & D3DLOCK_DISCARD ? 1 : 0;
    f.NoOverwrite = flags & D3DLOCK_NOOVERWRITE ? 1 : 0;
    f.DoNotWait = flags & D3DLOCK_DONOTWAIT ? 1 : 0;
    return f;
}

/* Memory for what is locked while the device is lost. */
static void *nowhere(struct d9_resource *r)
{
    if (!r->memory)
        r->memory = new_memory(r);
    return r->memory;
}

HRESULT d9_lock_box(struct d9_resource *r, UINT index, const D3DBOX *box, DWORD flags, D3DLOCKED_BOX *out)
{
    struct d9_surface *s = &r->surfaces[index];
    const D3DBOX all = {0, 0, s->width, s->height, 0, s->depth}, *b = box ? box : &all;
    D3DDDIARG_LOCK a = {
        .hResource = r->o.drv, .SubResourceIndex = d9_index(r, index), .Flags = lock_flags(flags)};
    UINT block, bytes = d9_texel_bytes(r->format, &block);
    uint8_t *memory;
    HRESULT hr;

    if (r->pool == D3DPOOL_DEFAULT && r->o.drv && r->o.device->lost == S_OK) {
        if (r->o.kind == D9_VOLUMES) {
            a.Box = (D3DDDIBOX){b->Left, b->Top, b->Right, b->Bottom, b->Front, b->Back};
            a.Flags.BoxValid = 1;
        } else {
            a.Area = (RECT){(LONG)b->Left, (LONG)b->Top, (LONG)b->Right, (LONG)b->Bottom};
            a.Flags.AreaValid = 1;
        }
        hr = DDI9(r->o.device, pfnLock, &a);
        if (hr != S_OK && r->o.device->lost == S_OK)
            return hr == D3DERR_WASSTILLDRAWING || hr == E_OUTOFMEMORY ? hr : D3DERR_INVALIDCALL;
    }
    *out = (D3DLOCKED_BOX){(INT)s->pitch, (INT)s->slice, NULL};
    if (a.pSurfData) {
        *out = (D3DLOCKED_BOX){(INT)a.Pitch, (INT)a.SlicePitch, a.pSurfData};
    } else {
        memory = nowhere(r);
        if (!memory)
            return E_OUTOFMEMORY;
        out->pBits = memory + s->offset + (size_t)b->Front * s->slice + (size_t)(b->Top / block) * s->pitch +
                     (size_t)(b->Left / block) * bytes;
    }
    if (d9_unlike_blocks(r->format))
        out->RowPitch = (INT)s->width;
    s->locked = true;
    s->lock = *b;
    s->lock_flags = flags;
    return D3D_OK;
}

/* Whether a rectangle ends where blocks do, or the surface does. */
bool d9_whole_blocks(const struct d9_surface *s, const RECT *r)
{
    const bool video = is_video(s->resource->format);
    UINT block, bytes = d9_texel_bytes(s->resource->format, &block);
    LONG across = video ? 2 : (LONG)block, down = is_planar(s->resource->format) ? 2 : (LONG)block;

    return bytes &&
           !(r->left % across || r->top % down || (r->right % across && r->right != (LONG)s->width) ||
             (r->bottom % down && r->bottom != (LONG)s->height));
}

static bool fits(const struct d9_surface *s, const RECT *r)
{
    return r->left >= 0 && r->top >= 0 && r->left < r->right && r->top < r->bottom &&
           r->right <= (LONG)s->width && r->bottom <= (LONG)s->height;
}

/* No rectangle in memory is checked, as Windows XP has it, which programs rely on: all of the surface is locked then, and the program gets
 * where the rectangle would begin, if that is in memory that the texture has, or little beside it. */
static HRESULT lock_beside(struct d9_resource *r, UINT index, const RECT *area, DWORD flags,
                           D3DLOCKED_RECT *out)
{
    const struct d9_surface *s = &r->surfaces[index];
    UINT block, bytes = d9_texel_bytes(r->format, &block);
    D3DLOCKED_BOX box;
    HRESULT hr = d9_lock_box(r, index, NULL, flags, &box);
    int64_t offset =
        (int64_t)(area->top / (LONG)block) * s->pitch + (int64_t)(area->left / (LONG)block) * bytes;
    const int64_t margin = r->foreign ? 0 : (int64_t)r->margin, at = (int64_t)s->offset + offset;

    if (hr != D3D_OK)
        return hr;
    *out = (D3DLOCKED_RECT){box.RowPitch, (uint8_t *)box.pBits +
                                              (at >= -margin && at < (int64_t)r->size + margin ? offset : 0)};
    return D3D_OK;
}

HRESULT d9_lock(struct d9_resource *r, UINT index, const RECT *area, DWORD flags, D3DLOCKED_RECT *out)
{
    struct d9_surface *s = &r->surfaces[index];
    D3DLOCKED_BOX box;
    HRESULT hr;

    if (!out || s->locked || d9_has_dc(r))
        return D3DERR_INVALIDCALL;
    out->pBits = NULL;
    out->Pitch = 0;
    if (!r->lockable)
        return D3DERR_INVALIDCALL;
    if (flags & D3DLOCK_DISCARD && flags & D3DLOCK_READONLY)
        return D3DERR_INVALIDCALL;
    if (area && r->memory && r->pool != D3DPOOL_DEFAULT && !fits(s, area))
        return lock_beside(r, index, area, flags, out);
    if (area && (!fits(s, area) || (r->pool == D3DPOOL_DEFAULT && !d9_whole_blocks(s, area))))
        return D3DERR_INVALIDCALL;
    hr = d9_lock_box(
        r, index,
        area ? &(D3DBOX){(UINT)area->left, (UINT)area->top, (UINT)area->right, (UINT)area->bottom, 0, 1}
             : NULL,
        flags, &box);
    if (hr == D3D_OK)
        *out = (D3DLOCKED_RECT){box.RowPitch, box.pBits};
    return hr;
}

HRESULT d9_unlock(struct d9_resource *r, UINT index)
{
    struct d9_surface *s = &r->surfaces[index];

    if (!s->locked) /* of textures that could be that is no error, nor while GDI draws */
        return (r->type == D3DRTYPE_TEXTURE && r->lockable) || d9_has_dc(r) ? D3D_OK : D3DERR_INVALIDCALL;
    if (s->dc)
        return D3D_OK;
    s->locked = false;
    if (r->pool == D3DPOOL_DEFAULT && r->o.drv)
        DDI9(r->o.device, pfnUnlock,
             &(D3DDDIARG_UNLOCK){.hResource = r->o.drv, .SubResourceIndex = d9_index(r, index)});
    if (s->lock_flags & D3DLOCK_READONLY)
        return D3D_OK;
    if (s->copied && r->pool != D3DPOOL_DEFAULT)
        memcpy(r->memory + s->copy, r->memory + s->offset, s->copied);
    if (r->pool != D3DPOOL_DEFAULT && !(s->lock_flags & D3DLOCK_NO_DIRTY_UPDATE))
        d9_dirty(s, &s->lock);
    d9_mips_changed(r, index);
    return D3D_OK;
}

/* ---- buffers ----------------------------------------------------------------------------------- */

static HRESULT create_buffer(struct d9_device *d, enum d9_kind kind, UINT size, DWORD usage, DWORD fvf,
                             D3DFORMAT format, D3DPOOL pool, void **out)
{
    struct d9_shape s = {.kind = kind,
                         .type = kind == D9_VB ? D3DRTYPE_VERTEXBUFFER : D3DRTYPE_INDEXBUFFER,
                         .width = size,
                         .height = 1,
                         .levels = 1,
                         .faces = 1,
                         .usage = usage,
                         .fvf = fvf,
                         .format = format,
                         .pool = pool,
                         .lockable = true};

    if (!out)
        return D3DERR_INVALIDCALL;
    *out = NULL;
    if (!size || pool > D3DPOOL_SYSTEMMEM ||
        (pool == D3DPOOL_MANAGED && (d->ex || usage & D3DUSAGE_DYNAMIC)) ||
        usage & (D3DUSAGE_RENDERTARGET | D3DUSAGE_DEPTHSTENCIL))
        return D3DERR_INVALIDCALL;
    if (size > 0x40000000)
        return D3DERR_OUTOFVIDEOMEMORY;
    return d9_resource_create(d, &s, (struct d9_resource **)out);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateVertexBuffer(IDirect3DDevice9Ex *This, UINT size, DWORD usage,
                                                       DWORD fvf, D3DPOOL pool, IDirect3DVertexBuffer9 **out,
                                                       HANDLE *shared)
{
    if (shared)
        return d9_device_of(This)->ex ? D3DERR_NOTAVAILABLE : E_NOTIMPL;
    return create_buffer(d9_device_of(This), D9_VB, size, usage, fvf, D3DFMT_VERTEXDATA, pool, (void **)out);
}

HRESULT STDMETHODCALLTYPE d9_device_CreateIndexBuffer(IDirect3DDevice9Ex *This, UINT size, DWORD usage,
                                                      D3DFORMAT format, D3DPOOL pool,
                                                      IDirect3DIndexBuffer9 **out, HANDLE *shared)
{
    if (shared)
        return d9_device_of(This)->ex ? D3DERR_NOTAVAILABLE : E_NOTIMPL;
    if (format != D3DFMT_INDEX16 && format != D3DFMT_INDEX32)
        return D3DERR_INVALIDCALL;
    return create_buffer(d9_device_of(This), D9_IB, size, usage, 0, format, pool, (void **)out);
}

HRESULT STDMETHODCALLTYPE d9_buffer_Lock(void *This, UINT offset, UINT size, void **out, DWORD flags)
{
    struct d9_resource *r = This;
    D3DDDIARG_LOCK a = {.hResource = r->o.drv, .Flags = lock_flags(flags)};

    if (!out)
        return D3DERR_INVALIDCALL;
    *out = NULL;
    if (offset > r->size || size > r->size - offset)
        return D3DERR_INVALIDCALL;
    if (!size)
        size = r->size - offset;
    if (r->pool == D3DPOOL_DEFAULT && r->o.drv && r->o.device->lost == S_OK) {
        a.Range = (D3DDDIRANGE){offset, size};
        a.Flags.RangeValid = 1;
        DDI9(r->o.device, pfnLock, &a);
    } else if (!(flags & D3DLOCK_READONLY)) {
        if (r->dirty_low >= r->dirty_high) {
            r->dirty_low = offset;
            r->dirty_high = offset + size;
        }
        r->dirty_low = offset < r->dirty_low ? offset : r->dirty_low;
        r->dirty_high = offset + size > r->dirty_high ? offset + size : r->dirty_high;
    }
    if (!a.pSurfData) {
        if (!nowhere(r))
            return E_OUTOFMEMORY;
        a.pSurfData = r->memory + offset;
    }
    *out = a.pSurfData;
    r->locks++;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_buffer_Unlock(void *This)
{
    struct d9_resource *r = This;

    if (!r->locks)
        return D3DERR_INVALIDCALL;
    if (!--r->locks && r->pool == D3DPOOL_DEFAULT && r->o.drv)
        DDI9(r->o.device, pfnUnlock, &(D3DDDIARG_UNLOCK){.hResource = r->o.drv});
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_vb_GetDesc(IDirect3DVertexBuffer9 *This, D3DVERTEXBUFFER_DESC *desc)
{
    struct d9_resource *r = (struct d9_resource *)This;

    if (!desc)
        return D3DERR_INVALIDCALL;
    *desc = (D3DVERTEXBUFFER_DESC){r->format, r->type, r->usage, r->pool, r->size, r->fvf};
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_ib_GetDesc(IDirect3DIndexBuffer9 *This, D3DINDEXBUFFER_DESC *desc)
{
    struct d9_resource *r = (struct d9_resource *)This;

    if (!desc)
        return D3DERR_INVALIDCALL;
    *desc = (D3DINDEXBUFFER_DESC){r->format, r->type, r->usage, r->pool, r->size};
    return D3D_OK;
}

/* ---- what all resources answer -------------------------------------------------------------------- */

D3DRESOURCETYPE STDMETHODCALLTYPE d9_resource_GetType(void *This)
{
    return ((struct d9_resource *)This)->type;
}

DWORD STDMETHODCALLTYPE d9_resource_SetPriority(void *This, DWORD priority)
{
    struct d9_resource *r = This;
    DWORD old = r->priority;

    if (r->pool == D3DPOOL_MANAGED)
        r->priority = priority;
    return old;
}

DWORD STDMETHODCALLTYPE d9_resource_GetPriority(void *This)
{
    return ((struct d9_resource *)This)->priority;
}

void STDMETHODCALLTYPE d9_resource_PreLoad(void *This)
{
    d9_sync(This);
}
