/* SPDX-License-Identifier: MIT */
/* resource.h: buffers, textures and views of them; their guest memory and their addresses. */
#pragma once

#include <aerogpu/cmd.h>

#include "executor/engine/formats.h"
#include "executor/engine/object.h"
#include "executor/engine/vk.h"

/* Guest memory behind a resource: alloc_id 0 is none. */
struct backing {
    uint32_t alloc_id;
    uint64_t offset;
};

struct texel_view {
    VkBufferView view;
    VkFormat format;
    uint64_t offset, range;
    struct texel_view *next;
};

/* Memory with a GPU address: pages of its own between pages that nobody may touch. */
struct addressed {
    uint8_t *base; /* NULL: the buffer has none */
    size_t span;
    VkDeviceMemory memory;
    uint64_t address;
};

/* The hidden counter of an unordered access view, made when first asked for. */
struct uav_counter {
    struct exec_vk_buffer vk;
    struct texel_view *views;
};

struct buffer_place;

/* Memory that a buffer had (rename.c). */
struct buffer_places {
    struct buffer_place *oldest, *newest;
    struct exec_buffer *prev, *next; /* in the engine's renamed, where it has some */
    bool listed;
};

struct exec_buffer {
    struct exec_object o;
    struct exec_vk_buffer vk;
    struct addressed addressed;
    uint64_t size;
    struct backing backing;
    struct texel_view *views;
    struct buffer_places places;
    struct uav_counter counter;     /* of who binds it without a view */
    struct exec_vk_buffer streamed; /* how many bytes were streamed out to it, made when first asked for */
};

/* A part of a buffer, as texels or, VK_FORMAT_UNDEFINED, as words. */
struct exec_buffer_view {
    struct exec_object o;
    struct exec_buffer *buffer;
    VkFormat format;
    uint32_t texel_bytes;
    uint64_t offset, size;
    struct uav_counter counter;
    struct exec_texture *target; /* what is drawn to in its place; NULL: it never was one */
};

/* What the format calls red is alpha, or green; what it has behind red, or behind green, is one, as Direct3D 9 has it. */
enum { EXEC_ALPHA_ALONE = 2, EXEC_GREEN_ALONE = 3, EXEC_RED_AND_ONES, EXEC_RED_GREEN_AND_ONES };

struct image_view_key {
    VkFormat format;
    VkImageViewType type;
    VkImageAspectFlags aspect;
    uint32_t base_mip, mips, base_layer, layers;
    uint32_t opaque; /* alpha reads as one; or EXEC_*; keys are compared as bytes, so there is no padding */
};

struct image_view {
    struct image_view_key key;
    VkImageView view;
    struct image_view *next;
};

/* What an image is. The ABI has textures of two dimensions, EXT_DIMENSIONS one and three; EXT_SAMPLES several samples. */
enum exec_texture_dim { TEXTURE_2D, TEXTURE_1D, TEXTURE_3D, TEXTURE_MS, TEXTURE_DIMS };

struct exec_texture {
    struct exec_object o;
    VkImage image;
    struct exec_vk_memory memory;
    const struct format_info *format;
    enum exec_texture_dim dim;
    uint32_t width, height, depth, mips, layers,
        row_pitch;    /* of three dimensions: `depth` slices, one layer */
    uint32_t samples; /* 1, but of TEXTURE_MS */
    uint64_t
        linear_size; /* bytes of the linear layout that uploads and guest memory use; of several samples none */
    bool storage;    /* shaders may write to it */
    struct backing backing;
    struct image_view *views;
};

/* What a texture handle or a view handle selects. */
struct exec_view {
    struct exec_object o;
    struct exec_texture *texture;
    const struct format_info *format;
    uint32_t base_mip, mips, base_layer, layers; /* of three dimensions: slices */
};

/* Layers, or, of three dimensions, slices of the mip. */
static inline uint32_t exec_texture_slices(const struct exec_texture *t, uint32_t mip)
{
    return t->dim != TEXTURE_3D ? t->layers : t->depth >> mip ? t->depth >> mip : 1;
}

int exec_texture_make(struct exec_engine *g, struct exec_texture **out,
                      const struct aerogpu_cmd_create_texture2d *c, enum exec_texture_dim dim);
VkImageView exec_texture_view(struct exec_engine *g, struct exec_texture *t,
                              const struct image_view_key *key);
/* What buffers may be bound as: drivers bind them in ways that they did not announce, and all of these cost nothing. */
VkBufferUsageFlags exec_buffer_usage(const struct exec_engine *g);
/* How many samples textures of the format may have: bits, as VkSampleCountFlags. */
VkSampleCountFlags exec_format_samples(struct exec_engine *g, const struct format_info *f);
/* Destroys what is in `b`, not `b`. */
void exec_buffer_clean(struct exec_engine *g, struct exec_buffer *b);
void exec_texel_views_destroy(struct exec_engine *g, struct texel_view *v);

/* ---- rename.c */
/* Gives the buffer, all of which will be written, memory that the device does not use. False: there is none, or the buffer has an
 * address or a counter, which would not come along; nothing changed. */
bool exec_buffer_rename(struct exec_engine *g, struct exec_buffer *b);
/* The last batch that uses the buffer, or memory that it had. */
uint64_t exec_buffer_last_use(const struct exec_buffer *b);
/* Frees what buffers had and do not ask for; once for each submission. */
void exec_buffers_age(struct exec_engine *g);
/* The device is done with them. */
void exec_buffer_places_destroy(struct exec_engine *g, struct exec_buffer *b);

/* ---- objects.c */
VkBufferView exec_buffer_view(struct exec_engine *g, struct exec_buffer *b, VkFormat format, uint64_t offset,
                              uint64_t range);
/* The texture and range that a texture or view object selects. */
struct exec_view exec_view_of(struct exec_object *o);

/* ---- transfer.c */
/* Fills what the view selects with one texel, or block. */
int exec_transfer_fill(struct exec_engine *g, const struct exec_view *v, const uint8_t *texel);
/* Reads [offset, offset + size) of the resource from its guest memory. */
int exec_transfer_from_guest(struct exec_engine *g, struct exec_object *o, uint64_t offset, uint64_t size);
/* `size` bytes of guest memory will be written by a readback of this batch. */
int exec_note_write(struct exec_engine *g, uint64_t gpa, uint64_t size);
/* Bytes [0, size) of guest memory behind `b` from `offset` on; checks the allocation table. *gpa gets the address. */
int exec_backing_resolve(struct exec_engine *g, const struct exec_object *o, const struct backing *b,
                         uint64_t offset, uint64_t size, bool for_writing, uint64_t *gpa);
/* What other clients see of it: all that lies in EXT_SHARED guest memory of this submission is read from there, or written back. */
int exec_transfer_shared(struct exec_engine *g, bool write);
uint64_t exec_texture_linear_size(const struct exec_texture *t);

/* ---- views.c */
void exec_buffer_view_clean(struct exec_engine *g, struct exec_buffer_view *v);
/* Makes what is drawn to in its place, if that is not there: a texture of one row, which a pass takes from the buffer and gives back. */
int exec_buffer_view_target(struct exec_engine *g, struct exec_buffer_view *v);
/* Outside of a pass, behind a barrier. */
void exec_buffer_view_move(struct exec_engine *g, struct exec_buffer_view *v, bool back);
void exec_uav_counter_clean(struct exec_engine *g, struct uav_counter *c);
/* Makes it, as zero, if it is not there. */
int exec_uav_counter_make(struct exec_engine *g, struct uav_counter *c);
/* Of a buffer or a view of one; NULL: it is neither. */
struct uav_counter *exec_uav_counter_of(struct exec_object *o);
/* Sets the hidden counter of an unordered access view, in the order of the stream. */
int exec_uav_counter_set(struct exec_engine *g, struct exec_object *o, uint32_t value);

/* ---- addresses.c */
/* Reserves what buffers with addresses lie in. */
int exec_addresses_open(struct exec_engine *g);
void exec_addresses_close(struct exec_engine *g);
/* What shaders are kept to by what they are made of; NULL: the device does that. */
const struct shader_addresses *exec_addresses(const struct exec_engine *g);
/* Makes b->vk with an address. */
int exec_address_create(struct exec_engine *g, struct exec_buffer *b, VkBufferUsageFlags usage);
/* After b->vk was destroyed: its addresses fault from now on. */
void exec_address_destroy(struct exec_engine *g, struct exec_buffer *b);
