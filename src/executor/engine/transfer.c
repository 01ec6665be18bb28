/* SPDX-License-Identifier: MIT */
/* transfer.c: bytes in and out of resources.
 *
 * The linear layout of a texture, in which uploads and guest memory speak of it: for each layer, for each mip, rows of
 * texels (of blocks, for BC formats); rows of mip 0 are row_pitch apart, those of other mips are tight. Of three dimensions: for
 * each mip, for each slice.
 *
 * Invariants:
 *  1. Every range is checked against the resource, and against the allocation table where guest memory is behind it,
 *     before anything is recorded.
 *  2. Guest memory that an earlier copy writes back is not read before that has happened.
 */
#include "executor/engine/engine_priv.h"
#include "executor/engine/pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { RENAME_LIMIT = 64 << 10 };

/* ---- the linear layout --------------------------------------------------- */

static uint32_t mip_size(uint32_t size, uint32_t mip)
{
    return size >> mip ? size >> mip : 1;
}

/* One mip of one layer, or one slice of it. */
struct subresource {
    uint32_t mip, layer, slice;
    uint32_t width, height; /* texels */
    uint32_t rows;          /* of texels or blocks */
    uint64_t row_bytes, pitch, offset, size;
};

static struct subresource subresource_of(const struct format_info *f, uint32_t width, uint32_t height,
                                         uint32_t mip, uint32_t row_pitch)
{
    struct subresource s = {.mip = mip, .width = mip_size(width, mip), .height = mip_size(height, mip)};

    s.rows = format_blocks(f, s.height);
    s.row_bytes = (uint64_t)format_blocks(f, s.width) * f->bytes;
    s.pitch = mip ? s.row_bytes : row_pitch;
    s.size = s.pitch * s.rows;
    return s;
}

static struct subresource mip_of(const struct exec_texture *t, uint32_t mip)
{
    return subresource_of(t->format, t->width, t->height, mip, t->row_pitch);
}

uint64_t exec_texture_linear_size(const struct exec_texture *t)
{
    uint64_t size = 0;

    for (uint32_t mip = 0; mip < t->mips; mip++)
        size += mip_of(t, mip).size * exec_texture_slices(t, mip);
    return size;
}

static struct subresource texture_subresource(const struct exec_texture *t, uint32_t mip, uint32_t layer)
{
    bool volume = t->dim == TEXTURE_3D;
    struct subresource s = mip_of(t, mip);

    s.layer = volume ? 0 : layer;
    s.slice = volume ? layer : 0;
    s.offset = volume ? s.size * layer : t->linear_size / t->layers * layer;
    for (uint32_t m = 0; m < mip; m++)
        s.offset += mip_of(t, m).size * (volume ? exec_texture_slices(t, m) : 1);
    return s;
}

/* ---- guest memory -------------------------------------------------------- */

int exec_backing_resolve(struct exec_engine *g, const struct exec_object *o, const struct backing *b,
                         uint64_t offset, uint64_t size, bool for_writing, uint64_t *gpa)
{
    const char *what = exec_object_kind_name(o->kind);
    const struct abi_alloc *a;

    if (!b->alloc_id)
        return fail_decode(g, "%s %u has no guest memory behind it", what, o->handle);
    a = abi_alloc_table_find(&g->allocs, b->alloc_id);
    if (!a)
        return fail_decode(g, "%s %u: alloc_id %u is not in the allocation table%s", what, o->handle,
                           b->alloc_id, g->submission->alloc_size ? "" : ", which this submission lacks");
    if (b->offset > a->size || offset > a->size - b->offset || size > a->size - b->offset - offset)
        return fail_oob(g, "%s %u: bytes %llu + %llu pass the end of alloc_id %u, which has %llu", what,
                        o->handle, (unsigned long long)(b->offset + offset), (unsigned long long)size,
                        b->alloc_id, (unsigned long long)a->size);
    if (for_writing && a->readonly)
        return fail_decode(g, "%s %u: alloc_id %u is READONLY in this submission", what, o->handle,
                           b->alloc_id);
    *gpa = a->gpa + b->offset + offset;
    return 0;
}

/* Forgets the writes that have happened. */
static void drop_done_writes(struct exec_engine *g)
{
    uint32_t kept = 0;
    uint64_t done;

    pthread_mutex_lock(&g->lock);
    done = g->completed_serial;
    pthread_mutex_unlock(&g->lock);
    for (uint32_t i = 0; i < g->num_writes; i++)
        if (g->writes[i].serial > done)
            g->writes[kept++] = g->writes[i];
    g->num_writes = kept;
}

int exec_note_write(struct exec_engine *g, uint64_t gpa, uint64_t size)
{
    if (g->num_writes == g->cap_writes) {
        drop_done_writes(g);
        /* half empty, there is room for long enough */
        if (g->num_writes >= g->cap_writes / 2 && array_reserve(g->writes, g->cap_writes, g->cap_writes + 1))
            return fail_memory(g, "no memory");
    }
    g->writes[g->num_writes++] = (struct pending_write){g->batch->serial, gpa, size};
    return 0;
}

/* Invariant 2. */
static int wait_for_writes(struct exec_engine *g, uint64_t gpa, uint64_t size)
{
    uint64_t wait = 0;

    if (!g->num_writes)
        return 0;
    drop_done_writes(g);
    for (uint32_t i = 0; i < g->num_writes; i++) {
        const struct pending_write *w = &g->writes[i];
        if (w->gpa < gpa + size && gpa < w->gpa + w->size && w->serial > wait)
            wait = w->serial;
    }
    if (wait == g->batch->serial)
        return exec_batch_sync(g);
    pthread_mutex_lock(&g->lock);
    while (g->completed_serial < wait)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
    return 0;
}

/* ---- buffers ------------------------------------------------------------- */

static int write_buffer(struct exec_engine *g, struct exec_buffer *b, uint64_t offset, uint64_t size,
                        const void *src)
{
    VkBufferCopy region = {.dstOffset = offset, .size = size};
    VkBuffer staging;
    uint8_t *map;
    int r;

    if (!size)
        return 0;
    if (!exec_object_is_busy(g, &b->o) ||
        (offset == 0 && size == b->size && size <= RENAME_LIMIT && exec_buffer_rename(g, b))) {
        memcpy(b->vk.memory.map + offset, src, size);
        return 0;
    }
    r = exec_batch_stage(g, size, 16, &staging, &region.srcOffset, &map);
    if (r)
        return r;
    memcpy(map, src, size);
    vkCmdCopyBuffer(exec_batch_transfer(g), staging, b->vk.buffer, 1, &region);
    exec_batch_use(g, &b->o);
    return 0;
}

static int check_buffer_range(struct exec_engine *g, const struct exec_buffer *b, uint64_t offset,
                              uint64_t size, const char *what)
{
    if (offset % 4 || size % 4)
        return fail_decode(g, "%s %llu + %llu of buffer %u is not in multiples of 4", what,
                           (unsigned long long)offset, (unsigned long long)size, b->o.handle);
    if (offset > b->size || size > b->size - offset)
        return fail_oob(g, "%s %llu + %llu passes the end of buffer %u, which has %llu bytes", what,
                        (unsigned long long)offset, (unsigned long long)size, b->o.handle,
                        (unsigned long long)b->size);
    return 0;
}

/* ---- textures ------------------------------------------------------------ */

/* A rectangle of a subresource, in texels or blocks. */
struct rect {
    uint32_t x, y, width, height;
};

static VkBufferImageCopy image_region(const struct format_info *f, const struct subresource *s,
                                      const struct rect *r, VkDeviceSize offset, VkImageAspectFlags aspect)
{
    VkBufferImageCopy c = {
        .bufferOffset = offset,
        .imageSubresource = {aspect, s->mip, s->layer, 1},
        .imageOffset = {(int32_t)(r->x * f->block), (int32_t)(r->y * f->block), (int32_t)s->slice},
        .imageExtent = {r->width * f->block, r->height * f->block, 1}};

    if (r->x * f->block + c.imageExtent.width > s->width) /* blocks may hang over the edge */
        c.imageExtent.width = s->width - r->x * f->block;
    if (r->y * f->block + c.imageExtent.height > s->height)
        c.imageExtent.height = s->height - r->y * f->block;
    return c;
}

/* One row of words with stencil into depth words and stencil bytes: D24S8, or D32_FLOAT_S8 with its stencil 4 bytes on. */
static void split_stencil(uint8_t *depth, uint8_t *stencil, const uint8_t *src, uint32_t n,
                          const struct format_info *f)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v;
        float d;
        memcpy(&v, src + (size_t)f->bytes * i, 4);
        stencil[i] = f->bytes == 8 ? src[8 * (size_t)i + 4] : (uint8_t)(v >> 24);
        if (f->bytes == 4)
            v &= 0xFFFFFF;
        d = (float)v / 16777215.0f;
        memcpy(depth + 4 * i,
               f->bytes == 4 && f->vk == VK_FORMAT_D32_SFLOAT_S8_UINT ? (void *)&d : (void *)&v, 4);
    }
}

/* Bytes of a texel in a copy of its depth, or of its colour. */
static uint32_t plane_bytes(const struct format_info *f)
{
    return f->stencil ? 4 : f->bytes;
}

static int write_rect(struct exec_engine *g, struct exec_texture *t, const struct subresource *s,
                      const struct rect *r, const uint8_t *src, uint64_t src_pitch)
{
    const struct format_info *f = t->format;
    uint64_t row = (uint64_t)r->width * plane_bytes(f), depth_size = row * r->height;
    uint64_t size = depth_size + (f->stencil ? (uint64_t)r->width * r->height : 0);
    VkBufferImageCopy regions[2];
    VkDeviceSize offset;
    VkBuffer staging;
    uint8_t *map;
    int err;

    if (!r->width || !r->height)
        return 0;
    err = exec_batch_stage(g, size, 16, &staging, &offset, &map);
    if (err)
        return err;
    for (uint32_t y = 0; y < r->height; y++) {
        if (f->stencil)
            split_stencil(map + y * row, map + depth_size + (size_t)y * r->width, src + y * src_pitch,
                          r->width, f);
        else
            memcpy(map + y * row, src + y * src_pitch, row);
    }
    regions[0] =
        image_region(f, s, r, offset, f->depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT);
    regions[1] = image_region(f, s, r, offset + depth_size, VK_IMAGE_ASPECT_STENCIL_BIT);
    vkCmdCopyBufferToImage(exec_batch_transfer(g), staging, t->image, VK_IMAGE_LAYOUT_GENERAL,
                           f->stencil ? 2 : 1, regions);
    exec_batch_use(g, &t->o);
    return 0;
}

int exec_transfer_fill(struct exec_engine *g, const struct exec_view *v, const uint8_t *texel)
{
    struct exec_texture *t = v->texture;
    struct subresource s = texture_subresource(t, v->base_mip, v->base_layer);
    uint64_t size = s.row_bytes * s.rows;
    VkDeviceSize offset;
    VkBuffer staging;
    uint8_t *map;
    int r = exec_batch_stage(g, size, 16, &staging, &offset, &map);

    if (r)
        return r;
    for (uint64_t at = 0; at < size; at += t->format->bytes)
        memcpy(map + at, texel, t->format->bytes);
    for (uint32_t mip = v->base_mip; mip < v->base_mip + v->mips; mip++)
        for (uint32_t layer = v->base_layer;
             layer < v->base_layer + v->layers && layer < exec_texture_slices(t, mip); layer++) {
            VkBufferImageCopy region;
            s = texture_subresource(t, mip, layer);
            region = image_region(
                t->format, &s,
                &(struct rect){.width = (uint32_t)(s.row_bytes / t->format->bytes), .height = s.rows}, offset,
                VK_IMAGE_ASPECT_COLOR_BIT);
            vkCmdCopyBufferToImage(exec_batch_transfer(g), staging, t->image, VK_IMAGE_LAYOUT_GENERAL, 1,
                                   &region);
        }
    exec_batch_use(g, &t->o);
    return 0;
}

/* Bytes [lo, hi) of one subresource: a piece of a row, whole rows, a piece of a row. */
static int write_subresource(struct exec_engine *g, struct exec_texture *t, const struct subresource *s,
                             uint64_t lo, uint64_t hi, const uint8_t *src)
{
    uint32_t bytes = t->format->bytes, first = (uint32_t)(lo / s->pitch),
             last = (uint32_t)((hi - 1) / s->pitch);
    uint64_t from = lo % s->pitch, to = (hi - 1) % s->pitch + 1;
    struct rect whole = {.width = (uint32_t)(s->row_bytes / bytes)};
    int r = 0;

    for (uint32_t row = first; row <= last;) {
        uint64_t a = row == first ? from : 0, b = row == last ? to : s->pitch;
        struct rect piece = {.y = row, .height = 1};
        if (b > s->row_bytes)
            b = s->row_bytes;
        if (a == 0 && b == s->row_bytes) { /* and as many like it as there are */
            uint32_t end = last + (to >= s->row_bytes);
            whole.y = row;
            whole.height = end - row;
            r = write_rect(g, t, s, &whole, src + row * s->pitch - lo, s->pitch);
            row = end;
        } else {
            if (a % bytes || (a < b && b % bytes))
                return fail_decode(g,
                                   "texture %u: the range cuts a %u-byte texel or block of row %u of mip %u",
                                   t->o.handle, bytes, row, s->mip);
            piece.x = (uint32_t)(a / bytes);
            piece.width = a < b ? (uint32_t)((b - a) / bytes) : 0;
            r = write_rect(g, t, s, &piece, src + row * s->pitch + a - lo, s->pitch);
            row++;
        }
        if (r)
            return r;
    }
    return 0;
}

static int write_texture(struct exec_engine *g, struct exec_texture *t, uint64_t offset, uint64_t size,
                         const uint8_t *src)
{
    for (uint32_t mip = 0; mip < t->mips; mip++)
        for (uint32_t layer = 0; layer < exec_texture_slices(t, mip); layer++) {
            struct subresource s = texture_subresource(t, mip, layer);
            uint64_t lo = offset > s.offset ? offset : s.offset;
            uint64_t hi = offset + size < s.offset + s.size ? offset + size : s.offset + s.size;
            int r;
            if (lo >= hi)
                continue;
            r = write_subresource(g, t, &s, lo - s.offset, hi - s.offset, src + (lo - offset));
            if (r)
                return r;
        }
    return 0;
}

static int check_texture_range(struct exec_engine *g, const struct exec_texture *t, uint64_t offset,
                               uint64_t size)
{
    if (offset > t->linear_size || size > t->linear_size - offset)
        return fail_oob(g, "bytes %llu + %llu pass the end of texture %u, which has %llu",
                        (unsigned long long)offset, (unsigned long long)size, t->o.handle,
                        (unsigned long long)t->linear_size);
    return 0;
}

/* ---- uploads ------------------------------------------------------------- */

static struct exec_object *find_resource(struct exec_engine *g, uint32_t handle)
{
    struct exec_object *o = exec_object_lookup(g, handle);

    if (!o || (o->kind != OBJECT_BUFFER && o->kind != OBJECT_TEXTURE)) {
        fail_decode(g, "handle %u names no buffer and no texture", handle);
        return NULL;
    }
    return o;
}

/* Of what find_resource() finds: where it lies in guest memory, and how many bytes it has there. */
static const struct backing *backing_of(const struct exec_object *o)
{
    return o->kind == OBJECT_BUFFER ? &((const struct exec_buffer *)o)->backing
                                    : &((const struct exec_texture *)o)->backing;
}

static uint64_t size_of(const struct exec_object *o)
{
    return o->kind == OBJECT_BUFFER ? ((const struct exec_buffer *)o)->size
                                    : ((const struct exec_texture *)o)->linear_size;
}

static int write_resource(struct exec_engine *g, struct exec_object *o, uint64_t offset, uint64_t size,
                          const void *src)
{
    if (o->kind == OBJECT_BUFFER)
        return write_buffer(g, (struct exec_buffer *)o, offset, size, src);
    return write_texture(g, (struct exec_texture *)o, offset, size, src);
}

int exec_op_upload_resource(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_upload_resource c;
    struct exec_object *o;
    int r;

    memcpy(&c, p->data, sizeof(c));
    o = find_resource(g, c.resource_handle);
    if (!o)
        return -EBADMSG;
    if (o->kind == OBJECT_BUFFER)
        r = check_buffer_range(g, (struct exec_buffer *)o, c.offset_bytes, c.size_bytes, "upload");
    else
        r = check_texture_range(g, (struct exec_texture *)o, c.offset_bytes, c.size_bytes);
    return r ? r : write_resource(g, o, c.offset_bytes, c.size_bytes, p->tail);
}

int exec_transfer_from_guest(struct exec_engine *g, struct exec_object *o, uint64_t offset, uint64_t size)
{
    const void *src;
    uint64_t gpa;
    int r;

    if (!size)
        return 0;
    r = exec_backing_resolve(g, o, backing_of(o), offset, size, false, &gpa);
    if (!r)
        r = wait_for_writes(g, gpa, size);
    if (r)
        return r;
    src = g->params.dma_map(g->params.ctx, gpa, size);
    if (!src)
        return exec_fail_dma(g, exec_object_kind_name(o->kind), gpa, size);
    return write_resource(g, o, offset, size, src);
}

int exec_op_resource_dirty_range(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_resource_dirty_range c;
    uint64_t lo, hi, limit;
    struct exec_object *o;

    memcpy(&c, p->data, sizeof(c));
    o = find_resource(g, c.resource_handle);
    if (!o)
        return -EBADMSG;
    limit = size_of(o);
    lo = c.offset_bytes;
    hi = lo + c.size_bytes;
    if (!backing_of(o)->alloc_id)
        return 0; /* it has no guest memory that could have changed */
    if (lo > limit || c.size_bytes > limit - lo)
        return fail_oob(g, "bytes %llu + %llu pass the end of %s %u, which has %llu", (unsigned long long)lo,
                        (unsigned long long)c.size_bytes, exec_object_kind_name(o->kind), o->handle,
                        (unsigned long long)limit);
    if (o->kind ==
        OBJECT_TEXTURE) { /* what is dirty may begin inside a texel; reading all of it does no harm */
        uint32_t bytes = ((struct exec_texture *)o)->format->bytes;
        struct subresource s0 = texture_subresource((struct exec_texture *)o, 0, 0);
        if (s0.pitch % bytes) {
            lo = 0;
            hi = limit;
        } else {
            lo -= lo % bytes;
            hi = hi + bytes - 1 - (hi + bytes - 1) % bytes;
            hi = hi < limit ? hi : limit;
        }
    }
    return exec_transfer_from_guest(g, o, lo, hi - lo);
}

/* ---- copies -------------------------------------------------------------- */

int exec_op_copy_buffer(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_copy_buffer c;
    struct exec_buffer *dst, *src;
    VkBufferCopy region;
    VkCommandBuffer cmd;
    uint64_t gpa = 0;
    int r;

    memcpy(&c, p->data, sizeof(c));
    dst = exec_object_find(g, c.dst_buffer, OBJECT_BUFFER);
    src = dst ? exec_object_find(g, c.src_buffer, OBJECT_BUFFER) : NULL;
    if (!src)
        return -EBADMSG;
    r = check_buffer_range(g, dst, c.dst_offset_bytes, c.size_bytes, "destination");
    if (!r)
        r = check_buffer_range(g, src, c.src_offset_bytes, c.size_bytes, "source");
    if (!r && dst == src && c.dst_offset_bytes < c.src_offset_bytes + c.size_bytes &&
        c.src_offset_bytes < c.dst_offset_bytes + c.size_bytes && c.size_bytes)
        r = fail_decode(g, "source and destination overlap in buffer %u", c.dst_buffer);
    if (!r && c.flags & AEROGPU_COPY_FLAG_WRITEBACK_DST)
        r = exec_backing_resolve(g, &dst->o, &dst->backing, c.dst_offset_bytes, c.size_bytes, true, &gpa);
    if (r || !c.size_bytes)
        return r;
    if (c.flags & AEROGPU_COPY_FLAG_WRITEBACK_DST && !g->params.dma_map(g->params.ctx, gpa, c.size_bytes))
        return exec_fail_dma(g, "", gpa, c.size_bytes);
    cmd = exec_batch_transfer(g);
    region = (VkBufferCopy){c.src_offset_bytes, c.dst_offset_bytes, c.size_bytes};
    vkCmdCopyBuffer(cmd, src->vk.buffer, dst->vk.buffer, 1, &region);
    exec_batch_use(g, &src->o);
    exec_batch_use(g, &dst->o);
    if (c.flags & AEROGPU_COPY_FLAG_WRITEBACK_DST) {
        struct readback *rb;
        VkBuffer staging;
        uint8_t *map;
        r = exec_batch_stage(g, c.size_bytes, 16, &staging, &region.dstOffset, &map);
        if (!r)
            r = exec_note_write(g, gpa, c.size_bytes);
        rb = r ? NULL : exec_batch_readback(g);
        if (!rb)
            return r ? r : fail_memory(g, "no memory");
        vkCmdCopyBuffer(exec_batch_transfer(g), src->vk.buffer, staging, 1, &region);
        *rb = (struct readback){
            .from = map, .row_bytes = (uint32_t)c.size_bytes, .rows = 1, .gpa = gpa, .pitch = c.size_bytes};
    }
    return 0;
}

/* Records a copy of the rectangle into staging memory: tight rows, for D24S8 the stencil bytes behind the depth words. */
static int read_rect(struct exec_engine *g, struct exec_texture *t, const struct subresource *s,
                     const struct rect *r, const uint8_t **map)
{
    const struct format_info *f = t->format;
    uint64_t texels = (uint64_t)r->width * r->height, main_size = texels * plane_bytes(f);
    VkBufferImageCopy regions[2];
    VkDeviceSize offset;
    VkBuffer staging;
    uint8_t *at;
    int err = exec_batch_stage(g, main_size + (f->stencil ? texels : 0), 16, &staging, &offset, &at);

    if (err)
        return err;
    regions[0] =
        image_region(f, s, r, offset, f->depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT);
    regions[1] = image_region(f, s, r, offset + main_size, VK_IMAGE_ASPECT_STENCIL_BIT);
    vkCmdCopyImageToBuffer(exec_batch_transfer(g), t->image, VK_IMAGE_LAYOUT_GENERAL, staging,
                           f->stencil ? 2 : 1, regions);
    exec_batch_use(g, &t->o);
    *map = at;
    return 0;
}

static VkImageAspectFlags first_aspect(const struct format_info *f)
{
    return f->depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
}

/* Through staging memory, so that rectangles of one image may overlap, and texels become those of another format, bit by bit. */
static int copy_staged(struct exec_engine *g, struct exec_texture *dst, const struct subresource *ds,
                       const struct rect *dr, struct exec_texture *src, const struct subresource *ss,
                       const struct rect *sr)
{
    const struct format_info *f = src->format;
    uint64_t texels = (uint64_t)sr->width * sr->height, main_size = texels * plane_bytes(f);
    VkBufferImageCopy from[2], to[2];
    VkDeviceSize offset;
    VkBuffer staging;
    uint8_t *map;
    int err = exec_batch_stage(g, main_size + (f->stencil ? texels : 0), 16, &staging, &offset, &map);

    if (err)
        return err;
    from[0] = image_region(f, ss, sr, offset, first_aspect(f));
    from[1] = image_region(f, ss, sr, offset + main_size, VK_IMAGE_ASPECT_STENCIL_BIT);
    to[0] = image_region(dst->format, ds, dr, offset, first_aspect(dst->format));
    to[1] = image_region(dst->format, ds, dr, offset + main_size, VK_IMAGE_ASPECT_STENCIL_BIT);
    vkCmdCopyImageToBuffer(exec_batch_transfer(g), src->image, VK_IMAGE_LAYOUT_GENERAL, staging,
                           f->stencil ? 2 : 1, from);
    vkCmdCopyBufferToImage(exec_batch_transfer(g), staging, dst->image, VK_IMAGE_LAYOUT_GENERAL,
                           f->stencil ? 2 : 1, to);
    exec_batch_use(g, &src->o);
    exec_batch_use(g, &dst->o);
    return 0;
}

static int copy_between(struct exec_engine *g, struct exec_texture *dst, const struct subresource *ds,
                        const struct rect *dr, struct exec_texture *src, const struct subresource *ss,
                        const struct rect *sr)
{
    VkBufferImageCopy d = image_region(dst->format, ds, dr, 0, 0),
                      s = image_region(src->format, ss, sr, 0, 0);
    VkImageCopy region = {.srcSubresource = {format_aspects(src->format), ss->mip, ss->layer, 1},
                          .srcOffset = s.imageOffset,
                          .dstSubresource = {format_aspects(dst->format), ds->mip, ds->layer, 1},
                          .dstOffset = d.imageOffset,
                          .extent = s.imageExtent};

    vkCmdCopyImage(exec_batch_transfer(g), src->image, VK_IMAGE_LAYOUT_GENERAL, dst->image,
                   VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    exec_batch_use(g, &src->o);
    exec_batch_use(g, &dst->o);
    return 0;
}

/* The rectangle in texels or blocks, checked against its subresource. */
static int check_rect(struct exec_engine *g, const struct exec_texture *t, const struct subresource *s,
                      uint32_t x, uint32_t y, uint32_t width, uint32_t height, const char *what,
                      struct rect *out)
{
    uint32_t block = t->format->block;

    if (x > s->width || width > s->width - x || y > s->height || height > s->height - y)
        return fail_oob(g, "%s %u,%u + %u x %u passes the edge of texture %u, which is %u x %u at mip %u",
                        what, x, y, width, height, t->o.handle, s->width, s->height, s->mip);
    if (x % block || y % block || (width % block && x + width != s->width) ||
        (height % block && y + height != s->height))
        return fail_decode(g, "%s %u,%u + %u x %u cuts 4 x 4 blocks of texture %u", what, x, y, width, height,
                           t->o.handle);
    *out = (struct rect){x / block, y / block, format_blocks(t->format, width),
                         format_blocks(t->format, height)};
    return 0;
}

static int write_back_rect(struct exec_engine *g, struct exec_texture *t, const struct subresource *s,
                           const struct rect *r, uint64_t gpa, uint64_t span)
{
    struct readback *rb;
    const uint8_t *map;
    /* In guest memory, what such a format has in the place of alpha is all ones. */
    bool x8 = t->format->bytes == 4 && !t->format->alpha && !t->format->depth;
    int err = read_rect(g, t, s, r, &map);

    if (!err)
        err = exec_note_write(g, gpa, span);
    rb = err ? NULL : exec_batch_readback(g);
    if (!rb)
        return err ? err : fail_memory(g, "no memory");
    *rb = (struct readback){.from = map,
                            .row_bytes = r->width * t->format->bytes,
                            .rows = r->height,
                            .gpa = gpa,
                            .pitch = s->pitch,
                            .convert_from = x8 ? t->format : NULL,
                            .convert_to = x8 ? t->format->abi : 0,
                            .stencil_follows = t->format->stencil ? t->format->bytes : 0,
                            .depth_is_float = t->format->vk == VK_FORMAT_D32_SFLOAT_S8_UINT};
    return 0;
}

static int check_subresource(struct exec_engine *g, const struct exec_texture *t, uint32_t mip,
                             uint32_t layer, const char *what)
{
    uint32_t slices = exec_texture_slices(t, mip < t->mips ? mip : 0);

    if (mip >= t->mips || layer >= slices)
        return fail_oob(g, "%s: mip %u layer %u of texture %u, which has %u mips and %u layers", what, mip,
                        layer, t->o.handle, t->mips, slices);
    return 0;
}

/* EXT_COPIES: of other formats, those whose texels or blocks have as many bytes. */
static bool can_become(const struct exec_texture *src, const struct exec_texture *dst)
{
    const struct format_info *s = src->format, *d = dst->format;

    return s->abi == d->abi ||
           (s->bytes == d->bytes && !s->stencil && !d->stencil && src->samples == 1 && dst->samples == 1);
}

/* So many texels of `from`, in those of `to`: a block becomes a texel, and a texel a block, of which the last one may reach over the
 * edge of a level that ends `left` texels on. */
static uint32_t scaled(uint32_t n, const struct format_info *from, const struct format_info *to,
                       uint32_t left)
{
    uint32_t all = format_blocks(from, n) * to->block;

    if (from->block == to->block)
        return n;
    return all > left && all - left < to->block ? left : all;
}

int exec_op_copy_texture2d(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_copy_texture2d c;
    struct exec_texture *dst, *src;
    struct subresource ds, ss;
    struct rect dr, sr;
    uint64_t gpa = 0, span = 0;
    uint32_t dst_width, dst_height;
    int r;

    memcpy(&c, p->data, sizeof(c));
    dst = exec_object_find(g, c.dst_texture, OBJECT_TEXTURE);
    src = dst ? exec_object_find(g, c.src_texture, OBJECT_TEXTURE) : NULL;
    if (!src)
        return -EBADMSG;
    if (!can_become(src, dst))
        return fail_decode(g, "texture %u is %s, texture %u is %s", c.dst_texture, dst->format->name,
                           c.src_texture, src->format->name);
    r = check_subresource(g, dst, c.dst_mip_level, c.dst_array_layer, "destination");
    if (!r)
        r = check_subresource(g, src, c.src_mip_level, c.src_array_layer, "source");
    if (r)
        return r;
    ds = texture_subresource(dst, c.dst_mip_level, c.dst_array_layer);
    ss = texture_subresource(src, c.src_mip_level, c.src_array_layer);
    dst_width = scaled(c.width, src->format, dst->format, c.dst_x < ds.width ? ds.width - c.dst_x : 0);
    dst_height = scaled(c.height, src->format, dst->format, c.dst_y < ds.height ? ds.height - c.dst_y : 0);
    r = check_rect(g, dst, &ds, c.dst_x, c.dst_y, dst_width, dst_height, "destination", &dr);
    if (!r)
        r = check_rect(g, src, &ss, c.src_x, c.src_y, c.width, c.height, "source", &sr);
    if (r)
        return r;
    if (c.flags & AEROGPU_COPY_FLAG_WRITEBACK_DST) {
        uint64_t at = ds.offset + dr.y * ds.pitch + (uint64_t)dr.x * dst->format->bytes;
        span = dr.height ? (dr.height - 1) * ds.pitch + (uint64_t)dr.width * dst->format->bytes : 0;
        r = exec_backing_resolve(g, &dst->o, &dst->backing, at, span, true, &gpa);
        if (!r && span && !g->params.dma_map(g->params.ctx, gpa, span))
            r = exec_fail_dma(g, "", gpa, span);
        if (r)
            return r;
    }
    if (!c.width || !c.height)
        return 0;
    r = dst == src || dst->format != src->format ? copy_staged(g, dst, &ds, &dr, src, &ss, &sr)
                                                 : copy_between(g, dst, &ds, &dr, src, &ss, &sr);
    if (!r && c.flags & AEROGPU_COPY_FLAG_WRITEBACK_DST)
        r = write_back_rect(g, dst, &ds, &dr, gpa, span);
    return r;
}

/* ---- what clients share ---------------------------------------------------- */

static int write_back_buffer(struct exec_engine *g, struct exec_buffer *b, uint64_t gpa)
{
    VkBufferCopy region = {.size = b->size};
    struct readback *rb;
    VkBuffer staging;
    uint8_t *map;
    int r = exec_batch_stage(g, b->size, 16, &staging, &region.dstOffset, &map);

    if (!r)
        r = exec_note_write(g, gpa, b->size);
    rb = r ? NULL : exec_batch_readback(g);
    if (!rb)
        return r ? r : fail_memory(g, "no memory");
    vkCmdCopyBuffer(exec_batch_transfer(g), b->vk.buffer, staging, 1, &region);
    exec_batch_use(g, &b->o);
    *rb = (struct readback){
        .from = map, .row_bytes = (uint32_t)b->size, .rows = 1, .gpa = gpa, .pitch = b->size};
    return 0;
}

static int write_shared(struct exec_engine *g, struct exec_object *o)
{
    struct exec_texture *t = o->kind == OBJECT_TEXTURE ? (struct exec_texture *)o : NULL;
    uint64_t gpa, size = size_of(o);
    int r = exec_backing_resolve(g, o, backing_of(o), 0, size, true, &gpa);

    if (!r && !g->params.dma_map(g->params.ctx, gpa, size))
        r = exec_fail_dma(g, exec_object_kind_name(o->kind), gpa, size);
    if (r || !t)
        return r ? r : write_back_buffer(g, (struct exec_buffer *)o, gpa);
    for (uint32_t mip = 0; mip < t->mips && !r; mip++)
        for (uint32_t layer = 0; layer < exec_texture_slices(t, mip) && !r; layer++) {
            struct subresource s = texture_subresource(t, mip, layer);
            struct rect whole = {.width = (uint32_t)(s.row_bytes / t->format->bytes), .height = s.rows};
            r = write_back_rect(g, t, &s, &whole, gpa + s.offset, s.size);
        }
    return r;
}

int exec_transfer_shared(struct exec_engine *g, bool write)
{
    int r = 0;

    for (struct exec_handle *h = g->allocs.shared ? g->handles : NULL; h && !r; h = h->hh.next) {
        struct exec_object *o = h->object;
        uint32_t id = o->kind == OBJECT_BUFFER || o->kind == OBJECT_TEXTURE ? backing_of(o)->alloc_id : 0;
        const struct abi_alloc *a = id ? abi_alloc_table_find(&g->allocs, id) : NULL;

        if (a && a->shared && !(write && a->readonly))
            r = write ? write_shared(g, o) : exec_transfer_from_guest(g, o, 0, size_of(o));
    }
    return r;
}

/* ---- present ------------------------------------------------------------- */

int exec_op_present(struct exec_engine *g, const struct abi_packet *p)
{
    const struct abi_scanout *out = &g->submission->scanout;
    struct aerogpu_cmd_present c;
    const struct format_info *f;
    struct subresource s;
    struct readback *rb;
    struct rect rect = {0};
    struct exec_view v;
    uint64_t span;
    int r;

    memcpy(&c, p->data, sizeof(c));
    if (c.scanout_id)
        return fail_decode(g, "scanout_id %u, there is 0 only", c.scanout_id);
    if (!out->enabled || g->submission->flags & AEROGPU_SUBMIT_FLAG_EXT_HIDDEN)
        return 0;
    v = exec_view_of(g->ctx->num_colors && g->ctx->color[0] ? g->ctx->color[0]
                                                            : (struct exec_object *)g->ctx->implicit_target);
    if (!v.texture)
        return 0; /* nothing was ever drawn */
    f = exec_format_find(out->format);
    if (!f || !exec_format_can_convert(v.texture->format, out->format))
        return fail_backend(g, "scanout format %u cannot show texture %u, which is %s", out->format,
                            v.texture->o.handle, v.texture->format->name);
    s = texture_subresource(v.texture, v.base_mip, v.base_layer);
    rect.width = s.width < out->width ? s.width : out->width;
    rect.height = s.height < out->height ? s.height : out->height;
    if (!rect.width || !rect.height)
        return 0;
    if (out->pitch < (uint64_t)rect.width * f->bytes)
        return fail_backend(g, "scanout pitch %u is shorter than a row of %u pixels", out->pitch, rect.width);
    span = (uint64_t)(rect.height - 1) * out->pitch + (uint64_t)rect.width * f->bytes;
    if (!g->params.dma_map(g->params.ctx, out->fb_gpa, span))
        return exec_fail_dma(g, "scanout framebuffer", out->fb_gpa, span);
    const uint8_t *map;
    r = read_rect(g, v.texture, &s, &rect, &map);
    if (!r)
        r = exec_note_write(g, out->fb_gpa, span);
    rb = r ? NULL : exec_batch_readback(g);
    if (!rb)
        return r ? r : fail_memory(g, "no memory");
    *rb = (struct readback){.from = map,
                            .row_bytes = rect.width * v.texture->format->bytes,
                            .rows = rect.height,
                            .gpa = out->fb_gpa,
                            .pitch = out->pitch,
                            .convert_from = v.texture->format,
                            .convert_to = out->format};
    return 0;
}

EXEC_OP_IS(present_ex, exec_op_present)
