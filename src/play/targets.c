#include "play/targets.h"

#include <stdlib.h>

#include <aerogpu/cmd.h>
#include <aerogpu/pci.h>

#include "abi/stream.h"

/* What a key names. Tokens lose their upper two bits: a clash would cost a wrong scanout size, no more. */
enum key_kind { KEY_SURFACE, KEY_TOKEN, KEY_CONTEXT };

static uint64_t key_of(enum key_kind kind, uint64_t id)
{
    return (uint64_t)kind << 62 | (id & (UINT64_MAX >> 2));
}

static struct target_slot *probe(const struct targets *t, uint64_t key)
{
    size_t i = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (t->capacity - 1);

    while (t->slots[i].used && t->slots[i].key != key)
        i = (i + 1) & (t->capacity - 1);
    return &t->slots[i];
}

static struct target_surface get(const struct targets *t, uint64_t key)
{
    const struct target_slot *slot = t->capacity ? probe(t, key) : NULL;

    return slot && slot->used ? slot->surface : (struct target_surface){0};
}

/* Makes room, leaving out what has been destroyed. */
static bool grow(struct targets *t)
{
    struct targets bigger = {.capacity = t->capacity ? t->capacity : 64};
    size_t live = 0;

    for (size_t i = 0; i < t->capacity; i++)
        live += t->slots[i].used && t->slots[i].surface.width;
    if (4 * live > t->capacity)
        bigger.capacity = 2 * t->capacity;
    bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->slots[i].used && t->slots[i].surface.width) {
            *probe(&bigger, t->slots[i].key) = t->slots[i];
            bigger.count++;
        }
    free(t->slots);
    *t = bigger;
    return true;
}

static void set(struct targets *t, uint64_t key, struct target_surface surface)
{
    struct target_slot *slot;

    if (t->failed)
        return;
    if (2 * (t->count + 1) > t->capacity && !grow(t)) {
        t->failed = true;
        return;
    }
    slot = probe(t, key);
    if (!slot->used)
        t->count++;
    *slot = (struct target_slot){.key = key, .surface = surface, .used = true};
}

static uint32_t mip_size(uint32_t size, uint32_t mip)
{
    size = mip < 32 ? size >> mip : 0;
    return size ? size : 1;
}

static void follow_view(struct targets *t, const struct aerogpu_cmd_create_texture_view *v)
{
    struct target_surface s = get(t, key_of(KEY_SURFACE, v->texture_handle));

    if (!s.width)
        return;
    s.width = mip_size(s.width, v->base_mip_level);
    s.height = mip_size(s.height, v->base_mip_level);
    s.format = v->format;
    set(t, key_of(KEY_SURFACE, v->view_handle), s);
}

static void forget(struct targets *t, uint32_t handle)
{
    if (get(t, key_of(KEY_SURFACE, handle)).width)
        set(t, key_of(KEY_SURFACE, handle), (struct target_surface){0});
}

static void follow_present(struct targets *t, uint32_t context, uint32_t flags, struct target_scan *out)
{
    struct target_surface s = get(t, key_of(KEY_CONTEXT, context));

    if (!s.width)
        s = (struct target_surface){.width = 64, .height = 64, .format = AEROGPU_FORMAT_R8G8B8A8_UNORM};
    out->presented = s;
    out->presents++;
    out->vsync |= flags & AEROGPU_PRESENT_FLAG_VSYNC;
}

static void follow(struct targets *t, uint32_t context, const struct abi_packet *p, struct target_scan *out)
{
    if (p->desc->class.id == AEROGPU_CLASS_DESTROY)
        forget(t, abi_packet_object(p));
    if (p->desc->class.id == AEROGPU_CLASS_PRESENT)
        follow_present(t, context, abi_packet_u32(p, offsetof(struct aerogpu_cmd_present, flags)), out);
    switch (p->opcode) {
    case AEROGPU_CMD_CREATE_TEXTURE2D: {
        const struct aerogpu_cmd_create_texture2d *c = (const void *)p->data;
        set(t, key_of(KEY_SURFACE, c->texture_handle),
            (struct target_surface){
                .width = c->width, .height = c->height, .format = c->format, .mips = c->mip_levels});
        break;
    }
    case AEROGPU_CMD_CREATE_TEXTURE_VIEW:
        follow_view(t, (const void *)p->data);
        break;
    case AEROGPU_CMD_EXPORT_SHARED_SURFACE: {
        const struct aerogpu_cmd_export_shared_surface *c = (const void *)p->data;
        set(t, key_of(KEY_TOKEN, c->share_token), get(t, key_of(KEY_SURFACE, c->resource_handle)));
        break;
    }
    case AEROGPU_CMD_IMPORT_SHARED_SURFACE: {
        const struct aerogpu_cmd_import_shared_surface *c = (const void *)p->data;
        set(t, key_of(KEY_SURFACE, c->out_resource_handle), get(t, key_of(KEY_TOKEN, c->share_token)));
        break;
    }
    case AEROGPU_CMD_RELEASE_SHARED_SURFACE: {
        const struct aerogpu_cmd_release_shared_surface *c = (const void *)p->data;
        set(t, key_of(KEY_TOKEN, c->share_token), (struct target_surface){0});
        break;
    }
    case AEROGPU_CMD_SET_RENDER_TARGETS: {
        const struct aerogpu_cmd_set_render_targets *c = (const void *)p->data;
        set(t, key_of(KEY_CONTEXT, context),
            c->color_count ? get(t, key_of(KEY_SURFACE, c->colors[0])) : (struct target_surface){0});
        break;
    }
    default:
        break;
    }
}

void targets_scan(struct targets *t, uint32_t context, const void *stream, uint64_t size,
                  struct target_scan *out)
{
    struct abi_stream s;
    struct abi_packet p;

    *out = (struct target_scan){0};
    if (abi_stream_open(&s, stream, size, NULL))
        return;
    while (abi_stream_next(&s, &p, NULL) > 0) {
        out->packets++;
        if (p.desc)
            follow(t, context, &p, out);
    }
}

void targets_finish(struct targets *t)
{
    free(t->slots);
    *t = (struct targets){0};
}
