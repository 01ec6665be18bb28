/* SPDX-License-Identifier: MIT */
/* views.c: views of buffers, what unordered access views count, and how what is looked at is filled (ext.h, EXT_VIEWS). */
#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"
#include "executor/engine/direct3d11/texel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- views of buffers ---------------------------------------------------- */

/* The format that it names, and how many bytes its texels have; false: nothing is read or written as that here. */
static bool view_format(struct exec_engine *g, uint32_t dxgi, VkFormat *format, uint32_t *bytes)
{
    const VkFormatFeatureFlags any =
        VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT | VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT;
    VkFormatProperties has;

    *format = VK_FORMAT_UNDEFINED;
    *bytes = 4;
    if (!dxgi)
        return true;
    *format = exec_format_of_dxgi_attribute(dxgi, bytes);
    if (*format == VK_FORMAT_UNDEFINED)
        return false;
    vkGetPhysicalDeviceFormatProperties(g->vk.physical, *format, &has);
    return has.bufferFeatures & any;
}

int exec_op_ext_create_buffer_view(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_create_buffer_view c;
    struct exec_buffer_view *v;
    struct exec_buffer *b;
    VkFormat format;
    uint32_t bytes, unit;
    int r;

    memcpy(&c, p->data, sizeof(c));
    r = exec_handle_check_new(g, c.view_handle);
    if (r)
        return r;
    b = exec_object_find(g, c.buffer, OBJECT_BUFFER);
    if (!b)
        return -EBADMSG;
    if (!view_format(g, c.dxgi_format, &format, &bytes))
        return fail_decode(g, "view %u: buffers have no texels of DXGI format %u here", c.view_handle,
                           c.dxgi_format);
    unit = bytes;
    if (!c.size_bytes || c.offset_bytes % unit || c.size_bytes % unit)
        return fail_decode(g, "view %u: bytes %llu + %llu are no multiples of %u, above 0", c.view_handle,
                           (unsigned long long)c.offset_bytes, (unsigned long long)c.size_bytes, unit);
    if (c.offset_bytes > b->size || c.size_bytes > b->size - c.offset_bytes)
        return fail_oob(g, "view %u: bytes %llu + %llu pass the end of buffer %u, which has %llu",
                        c.view_handle, (unsigned long long)c.offset_bytes, (unsigned long long)c.size_bytes,
                        c.buffer, (unsigned long long)b->size);
    v = calloc(1, sizeof(*v));
    if (!v)
        return fail_memory(g, "no memory for view %u", c.view_handle);
    *v = (struct exec_buffer_view){.o = {.kind = OBJECT_BUFFER_VIEW, .handle = c.view_handle, .refs = 1},
                                   .buffer = b,
                                   .format = format,
                                   .texel_bytes = bytes,
                                   .offset = c.offset_bytes,
                                   .size = c.size_bytes};
    exec_object_ref(&b->o);
    return exec_handle_add(g, c.view_handle, &v->o);
}

int exec_buffer_view_target(struct exec_engine *g, struct exec_buffer_view *v)
{
    const struct format_info *f = v->format == VK_FORMAT_UNDEFINED ? NULL : exec_format_of_vk(v->format);
    struct aerogpu_cmd_create_texture2d row = {
        .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .height = 1, .mip_levels = 1, .array_layers = 1};

    if (v->target)
        return 0;
    if (!f || f->depth || f->block != 1 || v->size / v->texel_bytes > g->vk.caps.max_image_2d)
        return fail_decode(g, "view %u of %llu bytes of a buffer cannot be a colour target", v->o.handle,
                           (unsigned long long)v->size);
    row.format = f->abi;
    row.width = (uint32_t)(v->size / v->texel_bytes);
    return exec_texture_make(g, &v->target, &row, TEXTURE_2D);
}

void exec_buffer_view_move(struct exec_engine *g, struct exec_buffer_view *v, bool back)
{
    const VkBufferImageCopy c = {.bufferOffset = v->offset,
                                 .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                 .imageExtent = {v->target->width, 1, 1}};
    VkCommandBuffer cmd = g->batch->cmd;

    if (back)
        vkCmdCopyImageToBuffer(cmd, v->target->image, VK_IMAGE_LAYOUT_GENERAL, v->buffer->vk.buffer, 1, &c);
    else
        vkCmdCopyBufferToImage(cmd, v->buffer->vk.buffer, v->target->image, VK_IMAGE_LAYOUT_GENERAL, 1, &c);
    exec_batch_use(g, &v->o);
    exec_batch_use(g, &v->target->o);
    exec_batch_use(g, &v->buffer->o);
}

void exec_buffer_view_clean(struct exec_engine *g, struct exec_buffer_view *v)
{
    exec_object_unref(g, (struct exec_object *)v->target);
    exec_uav_counter_clean(g, &v->counter);
    exec_object_unref(g, &v->buffer->o);
}

/* ---- counters ------------------------------------------------------------ */

void exec_uav_counter_clean(struct exec_engine *g, struct uav_counter *c)
{
    while (c->views) {
        struct texel_view *next = c->views->next;

        vkDestroyBufferView(g->vk.device, c->views->view, NULL);
        free(c->views);
        c->views = next;
    }
    exec_vk_buffer_destroy(&g->vk, &c->vk);
}

int exec_uav_counter_make(struct exec_engine *g, struct uav_counter *c)
{
    if (c->vk.buffer)
        return 0;
    if (exec_vk_buffer_create(&g->vk, &c->vk, 16,
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT |
                                  VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                              VK_USE_SHARED))
        return fail_memory(g, "no device memory for the counter of a view");
    memset(c->vk.memory.map, 0, 16);
    return 0;
}

struct uav_counter *exec_uav_counter_of(struct exec_object *o)
{
    if (o->kind == OBJECT_BUFFER)
        return &((struct exec_buffer *)o)->counter;
    return o->kind == OBJECT_BUFFER_VIEW ? &((struct exec_buffer_view *)o)->counter : NULL;
}

int exec_uav_counter_set(struct exec_engine *g, struct exec_object *o, uint32_t value)
{
    struct uav_counter *c = exec_uav_counter_of(o);
    int r = c ? exec_uav_counter_make(g, c) : 0;

    if (!c || r)
        return r;
    vkCmdFillBuffer(exec_batch_transfer(g), c->vk.buffer, 0, 4, value);
    exec_batch_use(g, o);
    return 0;
}

int exec_op_ext_copy_count(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_copy_count c;
    VkBufferCopy region = {.size = 4};
    struct exec_buffer_view *v;
    struct exec_buffer *dst;
    int r;

    memcpy(&c, p->data, sizeof(c));
    v = exec_object_find(g, c.view, OBJECT_BUFFER_VIEW);
    dst = v ? exec_object_find(g, c.dst_buffer, OBJECT_BUFFER) : NULL;
    if (!dst)
        return -EBADMSG;
    if (c.dst_offset % 4 || dst->size < 4 || c.dst_offset > dst->size - 4)
        return fail_oob(g, "4 bytes at %llu do not fit buffer %u, which has %llu",
                        (unsigned long long)c.dst_offset, c.dst_buffer, (unsigned long long)dst->size);
    r = exec_uav_counter_make(g, &v->counter);
    if (r)
        return r;
    region.dstOffset = c.dst_offset;
    vkCmdCopyBuffer(exec_batch_transfer(g), v->counter.vk.buffer, dst->vk.buffer, 1, &region);
    exec_batch_use(g, &v->o);
    exec_batch_use(g, &dst->o);
    return 0;
}

/* ---- filling ------------------------------------------------------------- */

static int fill_buffer(struct exec_engine *g, struct exec_buffer_view *v, const uint8_t *texel,
                       uint32_t bytes)
{
    VkBufferCopy region = {.dstOffset = v->offset, .size = v->size};
    VkBuffer staging;
    uint8_t *map;
    int r = exec_batch_stage(g, v->size, 16, &staging, &region.srcOffset, &map);

    if (r)
        return r;
    for (uint64_t at = 0; at < v->size; at += bytes)
        memcpy(map + at, texel, bytes);
    vkCmdCopyBuffer(exec_batch_transfer(g), staging, v->buffer->vk.buffer, 1, &region);
    exec_batch_use(g, &v->buffer->o);
    exec_batch_use(g, &v->o);
    return 0;
}

int exec_op_ext_clear_view(struct exec_engine *g, const struct abi_packet *p)
{
    struct aerogpu_cmd_ext_clear_view c;
    struct exec_object *o;
    struct exec_view v;
    uint8_t texel[16];
    uint32_t bytes;

    memcpy(&c, p->data, sizeof(c));
    o = exec_object_lookup(g, c.view);
    if (o && o->kind == OBJECT_BUFFER_VIEW) {
        struct exec_buffer_view *b = (struct exec_buffer_view *)o;

        if (b->format == VK_FORMAT_UNDEFINED) {
            bytes = 4;
            memcpy(texel, c.values, bytes);
        } else {
            bytes = exec_texel_pack(b->format, c.values, c.floats, texel);
        }
        return bytes ? fill_buffer(g, b, texel, bytes)
                     : fail_decode(g, "view %u has a format that nothing is filled with", c.view);
    }
    if (!o || (o->kind != OBJECT_TEXTURE && o->kind != OBJECT_VIEW))
        return fail_decode(g, "handle %u names no texture and no view", c.view);
    v = exec_view_of(o);
    bytes = exec_texel_pack(v.format->vk, c.values, c.floats, texel);
    if (v.texture->samples > 1 || bytes != v.format->bytes || v.format->depth)
        return fail_decode(g, "view %u is %s, with %u samples, which nothing is filled with", c.view,
                           v.format->name, v.texture->samples);
    exec_batch_use(g, o);
    return exec_transfer_fill(g, &v, texel);
}
