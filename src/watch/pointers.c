/* SPDX-License-Identifier: MIT */
#include "watch/pointers.h"

#include <string.h>

#include <aerogpu/ext.h>

static void add_pointer(struct watch_pointers *x, uint32_t in, uint32_t to)
{
    x->of[x->n % WATCH_POINTERS].in = in;
    x->of[x->n++ % WATCH_POINTERS].to = to;
}

static void add_alias(struct watch_pointers *x, uint64_t token, uint32_t handle, uint32_t first)
{
    const uint32_t at = x->num_aliases++ % WATCH_ALIASES;

    x->alias[at].token = token;
    x->alias[at].handle = handle;
    x->alias[at].first = first;
}

uint32_t watch_pointers_first(const struct watch_pointers *x, uint32_t handle)
{
    for (uint32_t i = 0; i < x->num_aliases && i < WATCH_ALIASES; i++)
        if (handle && x->alias[i].handle == handle)
            return x->alias[i].first;
    return handle;
}

static void import(struct watch_pointers *x, uint64_t token, uint32_t handle)
{
    for (uint32_t i = 0; i < x->num_aliases && i < WATCH_ALIASES; i++)
        if (!x->alias[i].handle && x->alias[i].token == token) {
            add_alias(x, token, handle, x->alias[i].first);
            return;
        }
}

/* The handle may come again, for something else; what is in the buffer is known as long as another handle names it. */
static void end(struct watch_pointers *x, uint32_t handle)
{
    bool shared = false;

    for (uint32_t i = 0; i < x->num_aliases && i < WATCH_ALIASES; i++)
        if (x->alias[i].handle == handle) {
            x->alias[i].handle = UINT32_MAX;
            return;
        } else {
            shared |= x->alias[i].first == handle;
        }
    for (uint32_t i = 0; i < x->n && i < WATCH_POINTERS && !shared; i++)
        if (x->of[i].in == handle)
            x->of[i].in = 0;
}

void watch_pointers_note(struct watch_pointers *x, const struct abi_packet *p)
{
    const uint32_t n = x->n < WATCH_POINTERS ? x->n : WATCH_POINTERS;
    union {
        struct aerogpu_cmd_ext_buffer_address address;
        struct aerogpu_cmd_copy_buffer copy;
        struct aerogpu_cmd_destroy_resource gone;
        struct aerogpu_cmd_export_shared_surface export;
        struct aerogpu_cmd_import_shared_surface import;
    } c;
    uint32_t from, to;

    memcpy(&c, p->data, p->desc && p->desc->size <= sizeof(c) ? p->desc->size : 0);
    switch (p->opcode) {
    case AEROGPU_CMD_EXT_BUFFER_ADDRESS:
        add_pointer(x, watch_pointers_first(x, c.address.dst_buffer),
                    watch_pointers_first(x, c.address.src_buffer));
        break;
    case AEROGPU_CMD_COPY_BUFFER: /* and what is in it with it */
        from = watch_pointers_first(x, c.copy.src_buffer);
        to = watch_pointers_first(x, c.copy.dst_buffer);
        for (uint32_t i = 0; i < n; i++)
            if (x->of[i].in == from && from != to)
                add_pointer(x, to, x->of[i].to);
        break;
    case AEROGPU_CMD_DESTROY_RESOURCE:
        end(x, c.gone.resource_handle);
        break;
    case AEROGPU_CMD_EXPORT_SHARED_SURFACE:
        add_alias(x, c.export.share_token, 0, watch_pointers_first(x, c.export.resource_handle));
        break;
    case AEROGPU_CMD_IMPORT_SHARED_SURFACE:
        import(x, c.import.share_token, c.import.out_resource_handle);
        break;
    default:
        break;
    }
}
