/* SPDX-License-Identifier: MIT */
#include "play/targets.h"

#include <stdlib.h>

#include <aerogpu/cmd.h>
#include <aerogpu/pci.h>

#include "abi/stream.h"
#include "base/check.h"

/* What a key names. Tokens lose their upper two bits: a clash would cost a wrong scanout size, no more. */
enum key_kind { KEY_SURFACE, KEY_TOKEN, KEY_CONTEXT };

static uint64_t key_of(enum key_kind kind, uint64_t id)
{
    return (uint64_t)kind << 62 | (id & (UINT64_MAX >> 2));
}

static struct target_surface get(const struct targets *t, uint64_t key)
{
    const struct target_surface *s = map_pointer(&t->surfaces, key);

    INVARIANT(!s || s->width); /* what is gone has no entry */
    return s ? *s : (struct target_surface){0};
}

static void drop(struct targets *t, uint64_t key)
{
    free(map_pointer(&t->surfaces, key));
    map_remove(&t->surfaces, key);
}

static void set(struct targets *t, uint64_t key, struct target_surface surface)
{
    struct target_surface *s = NULL;
    uint64_t *slot;

    if (t->failed)
        return;
    drop(t, key);
    if (!surface.width)
        return;
    slot = map_put(&t->surfaces, key);
    if (slot)
        s = malloc(sizeof(*s));
    if (!s) {
        map_remove(&t->surfaces, key);
        t->failed = true;
        return;
    }
    *s = surface;
    *slot = (uint64_t)(uintptr_t)s;
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
    INVARIANT(out->presents <= out->packets);
    INVARIANT(!out->presents || out->presented.width);
}

void targets_finish(struct targets *t)
{
    struct map_slot slot;
    size_t at = 0;

    while (map_next(&t->surfaces, &at, &slot))
        free((void *)(uintptr_t)slot.value);
    map_finish(&t->surfaces);
    *t = (struct targets){0};
}
