/* SPDX-License-Identifier: MIT */
#include "machine/sim_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/alloc_table.h"
#include "aerogpu/cmd.h"
#include "base/array.h"
#include "machine/priv.h"

static struct sim_backing *find(struct sim_memory *t, uint32_t handle)
{
    for (size_t i = t->count; i-- > 0;) /* what is used was mostly made lately */
        if (t->v[i].handle == handle)
            return &t->v[i];
    return NULL;
}

static void drop(struct sim_memory *t, uint32_t handle)
{
    struct sim_backing *b = find(t, handle);

    if (b)
        *b = t->v[--t->count];
}

static void refuse(struct abi_completion *c, uint32_t error, const struct sim_backing *b, const char *why)
{
    if (c->error)
        return; /* the first one ends the submission */
    c->error = error;
    snprintf(c->message, sizeof(c->message), "resource %u: alloc_id %u %s", b->handle, b->alloc_id, why);
}

static void note(struct sim_memory *t, const struct sim_backing *b, struct abi_completion *c)
{
    drop(t, b->handle);
    if (!b->alloc_id)
        return;
    if (array_reserve(t->v, t->cap, t->count + 1))
        refuse(c, AEROGPU_ERROR_BACKEND, b, "is not remembered: no memory");
    else
        t->v[t->count++] = *b;
}

/* `size` bytes at `offset` of the resource are to be written into guest memory. */
static void write_back(struct sim_memory *t, struct machine *m, const struct abi_submission *s,
                       uint32_t handle, uint64_t offset, uint64_t size, struct abi_completion *c)
{
    const struct sim_backing *b = find(t, handle);
    const void *data = s->alloc_size ? machine_dma_map(m, s->alloc_gpa, s->alloc_size) : NULL;
    struct abi_alloc_table table = {0};
    const struct abi_alloc *a;
    struct error e = {0};

    if (!b)
        return;
    if (data && abi_alloc_table_parse(&table, data, s->alloc_size, &e)) {
        refuse(c, AEROGPU_ERROR_CMD_DECODE, b, "is in a malformed allocation table");
        return;
    }
    a = abi_alloc_table_find(&table, b->alloc_id);
    if (!a)
        refuse(c, AEROGPU_ERROR_CMD_DECODE, b, "is not in the allocation table");
    else if (a->readonly)
        refuse(c, AEROGPU_ERROR_CMD_DECODE, b, "is READONLY in this submission");
    else if (b->offset > a->size || offset > a->size - b->offset || size > a->size - b->offset - offset)
        refuse(c, AEROGPU_ERROR_OOB, b, "ends before what is written");
    abi_alloc_table_finish(&table);
}

void sim_memory_packet(struct sim_memory *t, struct machine *m, const struct abi_submission *s,
                       const struct abi_packet *p, struct abi_completion *c)
{
    union {
        struct aerogpu_cmd_create_buffer buffer;
        struct aerogpu_cmd_create_texture2d texture;
        struct aerogpu_cmd_copy_buffer copy;
        struct aerogpu_cmd_copy_texture2d blit;
    } u = {0};

    memcpy(&u, p->data, p->size < sizeof(u) ? p->size : sizeof(u));
    if (abi_class(p->opcode) == AEROGPU_CLASS_DESTROY)
        drop(t, abi_packet_object(p));
    switch (p->opcode) {
    case AEROGPU_CMD_CREATE_BUFFER:
        note(t,
             &(struct sim_backing){u.buffer.buffer_handle, u.buffer.backing_alloc_id,
                                   u.buffer.backing_offset_bytes},
             c);
        break;
    case AEROGPU_CMD_CREATE_TEXTURE2D:
        note(t,
             &(struct sim_backing){u.texture.texture_handle, u.texture.backing_alloc_id,
                                   u.texture.backing_offset_bytes},
             c);
        break;
    case AEROGPU_CMD_COPY_BUFFER:
        if (u.copy.flags & AEROGPU_COPY_FLAG_WRITEBACK_DST)
            write_back(t, m, s, u.copy.dst_buffer, u.copy.dst_offset_bytes, u.copy.size_bytes, c);
        break;
    case AEROGPU_CMD_COPY_TEXTURE2D: /* the size depends on the format, which the model does not keep */
        if (u.blit.flags & AEROGPU_COPY_FLAG_WRITEBACK_DST)
            write_back(t, m, s, u.blit.dst_texture, 0, 0, c);
        break;
    default:
        break;
    }
}

void sim_memory_forget(struct sim_memory *t)
{
    t->count = 0;
}

void sim_memory_finish(struct sim_memory *t)
{
    free(t->v);
    *t = (struct sim_memory){0};
}
