/* SPDX-License-Identifier: MIT */
#include "d3d12/play/play_pixel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "d3d12/view/format.h"

struct pixel {
    uint8_t bytes[16];
    size_t size;
    DXGI_FORMAT format; /* as the view that it was seen by has it */
};

static uint64_t key(uint32_t resource, uint32_t sub, uint32_t z)
{
    return (uint64_t)resource << 32 | (sub + 16 * (uint64_t)z);
}

static void show(struct strbuf *out, const struct pixel *x)
{
    int row = format_row(x->format);

    if (row >= 0 && format_bytes(row) == x->size) {
        for (unsigned i = 0; i < format_components(row); i++) {
            strbuf_puts(out, " ");
            strbuf_float(out, (float)format_component(row, x->bytes, i));
        }
        return;
    }
    strbuf_puts(out, " 0x");
    for (size_t i = x->size; i-- > 0;)
        strbuf_printf(out, "%02x", x->bytes[i]);
}

int play_pixel_tell(struct player *p, struct map *pixels, const char *where, uint32_t resource, uint32_t sub,
                    uint32_t z, DXGI_FORMAT format, const uint8_t *bytes, size_t size)
{
    uint64_t *slot = map_put(pixels, key(resource, sub, z));
    struct pixel now = {.size = size < sizeof(now.bytes) ? size : sizeof(now.bytes), .format = format},
                 *was = slot ? (struct pixel *)(uintptr_t)*slot : NULL;
    struct strbuf out = {0};

    memcpy(now.bytes, bytes, now.size);
    if (was && was->size == now.size && !memcmp(was->bytes, now.bytes, now.size))
        return 0;
    if (slot && !was)
        *slot = (uintptr_t)calloc(1, sizeof(*was));
    if (!slot || !*slot)
        return error_set(&p->error, -ENOMEM, "out of memory");
    strbuf_printf(&out, "%s: resource %u:", where, resource);
    if (was) {
        was->format = format;
        show(&out, was);
        strbuf_puts(&out, " ->");
    }
    show(&out, &now);
    printf("%s\n", strbuf_str(&out));
    strbuf_finish(&out);
    *(struct pixel *)(uintptr_t)*slot = now;
    return 0;
}

bool play_pixel_is_known(const struct map *pixels, uint32_t resource, uint32_t sub, uint32_t z)
{
    return map_find(pixels, key(resource, sub, z)) != NULL;
}

int play_pixel_now(struct player *p, struct map *pixels, const char *where, uint32_t resource, uint32_t sub,
                   uint32_t z)
{
    const struct pixel *was = map_pointer(pixels, key(resource, sub, z));
    const struct res_info *r = res_get(&p->states, resource);
    const struct play_object *o = play_object(p, resource);
    struct play_image image;
    struct error e = {0};
    size_t at;
    int err = 0;

    if (!was || !r || !o || !o->ptr || sub >= r->num_subs ||
        play_read(p, NULL, o->ptr, sub, r->states ? (D3D12_RESOURCE_STATES)r->states[sub] : 0, &image, &e))
        return 0;
    at = ((size_t)z * image.height + p->params->pixel_y) * image.row + p->params->pixel_x * was->size;
    if (at + was->size <= image.size && image.row == image.width * was->size)
        err = play_pixel_tell(p, pixels, where, resource, sub, z, was->format, image.bytes + at, was->size);
    free(image.bytes);
    return err;
}

void play_pixels_finish(struct map *pixels)
{
    struct map_slot s;

    for (size_t at = 0; map_next(pixels, &at, &s);)
        free((void *)(uintptr_t)s.value);
    map_finish(pixels);
}
