/* SPDX-License-Identifier: MIT */
/* present.c: DxgkDdiPresent: rectangles between surfaces, and filled ones, as a stream of the driver's own.
 *
 *   names that were left end ─▶ names for both surfaces ─▶ read what guest memory holds ─▶ COPY_TEXTURE2D a rectangle, written back ─▶ names end
 *
 * The surfaces are taken as guest memory has them: what a client drew and did not copy back is not seen. Flips never
 * come here (SetVidPnSourceAddress does them). Rectangles are copied one to one; stretching is refused.
 */
#include "kmd/kmd.h"

enum { SRC = KMD_OWN_NUMBER << 20 | 1, DST = KMD_OWN_NUMBER << 20 | 2, FILL = KMD_OWN_NUMBER << 20 | 3 };

struct stream {
    PUCHAR base;
    ULONG used, room;
};

static VOID put(struct stream *s, ULONG opcode, PVOID packet, ULONG size)
{
    struct aerogpu_cmd_hdr hdr = {opcode, size};

    NT_ASSERT(size >= sizeof(hdr) && !(size & 3));
    RtlCopyMemory(packet, &hdr, sizeof(hdr));
    RtlCopyMemory(s->base + s->used, packet, size);
    s->used += size;
}
#define PUT(s, NAME, name, ...)                                                                              \
    do {                                                                                                     \
        struct aerogpu_cmd_##name packet_ = {__VA_ARGS__};                                                   \
        put(s, AEROGPU_CMD_##NAME, &packet_, sizeof(packet_));                                               \
    } while (0)

/* The IEEE-754 bits of n / 255, without floating point. */
static ULONG unit_float(ULONG n)
{
    ULONG exponent = 127, mantissa;

    if (!n)
        return 0;
    while (n < 255) {
        n *= 2;
        exponent--;
    }
    mantissa = (((n - 255) << 23) + 127) / 255;
    return (exponent << 23) + mantissa;
}

static VOID name_surface(struct stream *s, ULONG handle, CONST struct kmd_allocation *a, ULONG format)
{
    PUT(s, CREATE_TEXTURE2D, create_texture2d, .texture_handle = handle,
        .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = format, .width = a->width,
        .height = a->height, .mip_levels = 1, .array_layers = 1, .row_pitch_bytes = a->pitch,
        .backing_alloc_id = a->alloc_id);
    PUT(s, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = handle,
        .size_bytes = (ULONGLONG)a->pitch * a->height);
}

static VOID end_name(struct stream *s, ULONG handle)
{
    PUT(s, DESTROY_RESOURCE, destroy_resource, .resource_handle = handle);
}

static BOOLEAN is_surface(CONST struct kmd_allocation *a)
{
    return a && a->format && a->width && a->height &&
           a->pitch >= (ULONGLONG)a->width * aerogpu_pixel_bytes(a->format) &&
           (ULONGLONG)a->pitch * a->height <= a->size;
}

/* B8G8R8A8 and B8G8R8X8 are the same bytes, R8G8B8A8 and R8G8B8X8 too. */
static ULONG layout(ULONG format)
{
    switch (format) {
    case AEROGPU_FORMAT_B8G8R8X8_UNORM:
    case AEROGPU_FORMAT_B8G8R8A8_UNORM_SRGB:
    case AEROGPU_FORMAT_B8G8R8X8_UNORM_SRGB:
        return AEROGPU_FORMAT_B8G8R8A8_UNORM;
    case AEROGPU_FORMAT_R8G8B8X8_UNORM:
    case AEROGPU_FORMAT_R8G8B8A8_UNORM_SRGB:
        return AEROGPU_FORMAT_R8G8B8A8_UNORM;
    default:
        return format;
    }
}

/* Cuts `r` to what lies inside both surfaces; dx, dy lead from it to the source. */
static BOOLEAN clip(RECT *r, LONGLONG dx, LONGLONG dy, CONST struct kmd_allocation *dst,
                    CONST struct kmd_allocation *src)
{
    LONGLONG left = r->left, top = r->top, right = r->right, bottom = r->bottom;

    left = left < 0 ? 0 : left;
    top = top < 0 ? 0 : top;
    right = right > (LONGLONG)dst->width ? (LONGLONG)dst->width : right;
    bottom = bottom > (LONGLONG)dst->height ? (LONGLONG)dst->height : bottom;
    if (src) {
        left = left + dx < 0 ? -dx : left;
        top = top + dy < 0 ? -dy : top;
        right = right + dx > (LONGLONG)src->width ? (LONGLONG)src->width - dx : right;
        bottom = bottom + dy > (LONGLONG)src->height ? (LONGLONG)src->height - dy : bottom;
    }
    *r = (RECT){(LONG)left, (LONG)top, (LONG)right, (LONG)bottom};
    return left < right && top < bottom;
}

static BOOLEAN intersect(RECT *r, CONST RECT *with)
{
    r->left = r->left > with->left ? r->left : with->left;
    r->top = r->top > with->top ? r->top : with->top;
    r->right = r->right < with->right ? r->right : with->right;
    r->bottom = r->bottom < with->bottom ? r->bottom : with->bottom;
    return r->left < r->right && r->top < r->bottom;
}

struct job {
    CONST struct kmd_allocation *src, *dst;
    LONGLONG dx, dy;
    ULONG format;
};

static NTSTATUS check(CONST DXGKARG_PRESENT *p, struct job *j)
{
    struct kmd_open *src = p->pAllocationList[DXGK_PRESENT_SOURCE_INDEX].hDeviceSpecificAllocation,
                    *dst = p->pAllocationList[DXGK_PRESENT_DESTINATION_INDEX].hDeviceSpecificAllocation;
    CONST RECT *s = &p->SrcRect, *d = &p->DstRect;

    RtlZeroMemory(j, sizeof(*j));
    if (!p->Flags.Blt && !p->Flags.ColorFill)
        return STATUS_NOT_SUPPORTED;
    if (p->Flags.SrcColorKey || p->Flags.DstColorKey || p->Flags.Rotate)
        return STATUS_NOT_SUPPORTED;
    j->dst = dst ? dst->allocation : NULL;
    if (!is_surface(j->dst) || dst->read_only)
        return STATUS_INVALID_PARAMETER;
    if (!p->SubRectCnt || !p->pDstSubRects || d->left > d->right || d->top > d->bottom)
        return STATUS_INVALID_PARAMETER;
    j->format = j->dst->format;
    if (!p->Flags.Blt)
        return STATUS_SUCCESS;
    j->src = src ? src->allocation : NULL;
    if (!is_surface(j->src) || j->src == j->dst)
        return STATUS_INVALID_PARAMETER;
    if ((LONGLONG)s->right - s->left != (LONGLONG)d->right - d->left ||
        (LONGLONG)s->bottom - s->top != (LONGLONG)d->bottom - d->top ||
        layout(j->src->format) != layout(j->dst->format))
        return STATUS_NOT_SUPPORTED;
    j->format = layout(j->dst->format);
    j->dx = (LONGLONG)s->left - d->left;
    j->dy = (LONGLONG)s->top - d->top;
    return STATUS_SUCCESS;
}

static VOID make_fill(struct stream *s, CONST struct job *j, ULONG color)
{
    PUT(s, CREATE_TEXTURE2D, create_texture2d, .texture_handle = FILL,
        .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = j->format, .width = j->dst->width,
        .height = j->dst->height, .mip_levels = 1, .array_layers = 1);
    PUT(s, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {FILL});
    PUT(s, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR,
        .color_rgba = {unit_float(color >> 16 & 255), unit_float(color >> 8 & 255), unit_float(color & 255),
                       unit_float(color >> 24)});
}

/* Rectangles from *next on, as many as fit. */
static NTSTATUS copy_rectangles(struct stream *s, CONST DXGKARG_PRESENT *p, CONST struct job *j, UINT *next)
{
    for (; *next < p->SubRectCnt; ++*next) {
        RECT r = p->pDstSubRects[*next];
        if (s->room - s->used < sizeof(struct aerogpu_cmd_copy_texture2d))
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        if (!intersect(&r, &p->DstRect) || !clip(&r, j->dx, j->dy, j->dst, j->src))
            continue;
        PUT(s, COPY_TEXTURE2D, copy_texture2d, .dst_texture = DST, .src_texture = j->src ? SRC : FILL,
            .dst_x = (ULONG)r.left, .dst_y = (ULONG)r.top, .src_x = (ULONG)(r.left + j->dx),
            .src_y = (ULONG)(r.top + j->dy), .width = (ULONG)(r.right - r.left),
            .height = (ULONG)(r.bottom - r.top), .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI kmd_Present(CONST HANDLE context, DXGKARG_PRESENT *p)
{
    struct aerogpu_cmd_stream_header header = {.magic = AEROGPU_CMD_STREAM_MAGIC,
                                               .abi_version = AEROGPU_ABI_VERSION_U32};
    enum { FRAME = 1024, TABLE = 3 }; /* what stands around the rectangles */
    struct kmd_patches patches = {p->pPatchLocationListOut, p->PatchLocationListOutSize, FALSE, FALSE};
    struct kmd_dma *dma = p->pDmaBufferPrivateData;
    struct kmd_context *c = context;
    struct stream s = {.base = p->pDmaBuffer, .used = sizeof(header)};
    ULONG table, table_size;
    struct job j;
    NTSTATUS status = c->system ? STATUS_INVALID_PARAMETER : check(p, &j), end;

    if (!NT_SUCCESS(status))
        return status;
    if (p->DmaBufferPrivateDataSize < sizeof(*dma) ||
        p->DmaSize < FRAME + kmd_table_bytes(TABLE) + sizeof(struct aerogpu_cmd_copy_texture2d))
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    s.room = p->DmaSize - FRAME / 2 - kmd_table_bytes(TABLE);
    /* A present that failed half way has left its names behind, and to end one that is not there does nothing. */
    end_name(&s, SRC);
    end_name(&s, DST);
    end_name(&s, FILL);
    name_surface(&s, DST, j.dst, j.format);
    if (j.src)
        name_surface(&s, SRC, j.src, j.format);
    else
        make_fill(&s, &j, p->Color);
    end = copy_rectangles(&s, p, &j, &p->MultipassOffset);
    end_name(&s, j.src ? SRC : FILL);
    end_name(&s, DST);
    NT_ASSERT(s.used + kmd_table_bytes(TABLE) + KMD_TABLE_ALIGN <= p->DmaSize);
    header.size_bytes = s.used;
    RtlCopyMemory(s.base, &header, sizeof(header));
    table = (s.used + KMD_TABLE_ALIGN - 1) & ~(KMD_TABLE_ALIGN - 1);
    status = kmd_build_table(c, p->pAllocationList, TABLE, s.base + table, table, &patches, &table_size);
    if (!NT_SUCCESS(status))
        return status;
    *dma = (struct kmd_dma){.magic = KMD_DMA_MAGIC,
                            .flags = AEROGPU_SUBMIT_FLAG_PRESENT |
                                     kmd_order(c, &patches, AEROGPU_SUBMIT_FLAG_PRESENT),
                            .client = c->device->client->number,
                            .session = c->device->client->session,
                            .groups = patches.groups,
                            .context_id = KMD_OWN_CONTEXT,
                            .stream_size = s.used,
                            .table_offset = table,
                            .table_size = table_size,
                            .kind = KMD_SUBMIT_PRESENT,
                            .buffer = s.base};
    p->pDmaBuffer = s.base + table + table_size;
    p->pDmaBufferPrivateData = dma + 1;
    p->pPatchLocationListOut = patches.at;
    return end;
}
