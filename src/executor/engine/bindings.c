/* SPDX-License-Identifier: MIT */
/* bindings.c: packets that bind what shaders and the input assembler read and write. */
#include "executor/engine/context.h"
#include "executor/engine/engine_priv.h"
#include "executor/engine/pipeline.h"

#include <errno.h>
#include <string.h>

/* The buffer of a binding; *b is NULL for handle 0. */
static int binding_buffer(struct exec_engine *g, uint32_t handle, struct exec_buffer **b)
{
    *b = NULL;
    if (!handle)
        return 0;
    *b = exec_object_find(g, handle, OBJECT_BUFFER);
    return *b ? 0 : -EBADMSG;
}

int exec_op_set_vertex_buffers(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_vertex_buffers s;
    struct aerogpu_vertex_buffer_binding v;
    struct exec_buffer *b;
    int r;

    memcpy(&s, p->data, sizeof(s));
    r = exec_check_slots(g, s.start_slot, s.buffer_count, MAX_VERTEX_BUFFERS, "vertex buffer");
    for (uint32_t i = 0; !r && i < s.buffer_count; i++) {
        struct vertex_binding *at = &c->vb[s.start_slot + i];
        memcpy(&v, p->tail + i * sizeof(v), sizeof(v));
        r = binding_buffer(g, v.buffer, &b);
        if (r)
            break;
        if (b && v.offset_bytes > b->size)
            return fail_oob(g, "slot %u: offset %u passes the end of buffer %u, which has %llu bytes",
                            s.start_slot + i, v.offset_bytes, v.buffer, (unsigned long long)b->size);
        if (v.stride_bytes > 2048)
            return fail_decode(g, "slot %u: stride %u, at most 2048 is possible", s.start_slot + i,
                               v.stride_bytes);
        if (at->stride != v.stride_bytes || !at->buffer != !b)
            c->dirty |= DIRTY_PIPELINE;
        exec_object_assign(g, &at->buffer, b);
        at->stride = v.stride_bytes;
        at->offset = v.offset_bytes;
        c->dirty |= DIRTY_VERTEX_BUFFERS;
    }
    return r;
}

int exec_op_set_index_buffer(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_index_buffer s;
    struct exec_buffer *b;
    uint32_t size;
    int r;

    memcpy(&s, p->data, sizeof(s));
    size = s.format == AEROGPU_INDEX_FORMAT_UINT32 ? 4 : 2;
    r = binding_buffer(g, s.buffer, &b);
    if (r)
        return r;
    if (b && (s.offset_bytes > b->size || s.offset_bytes % size))
        return fail_oob(g, "offset %u is no index of buffer %u, which has %llu bytes", s.offset_bytes,
                        s.buffer, (unsigned long long)b->size);
    exec_object_assign(g, &c->ib, b);
    c->index_type = size == 4 ? VK_INDEX_TYPE_UINT32 : VK_INDEX_TYPE_UINT16;
    c->ib_offset = s.offset_bytes;
    c->dirty |= DIRTY_INDEX_BUFFER;
    return 0;
}

int exec_op_set_texture(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_texture s;
    struct exec_object *o = NULL;
    enum exec_stage stage;
    int r;

    memcpy(&s, p->data, sizeof(s));
    r = exec_check_slots(g, s.slot, 1, MAX_TEXTURE_SLOTS, "texture");
    if (r)
        return r;
    if (s.texture) {
        o = exec_object_lookup(g, s.texture);
        if (!o || o->kind < OBJECT_TEXTURE || o->kind > OBJECT_BUFFER_VIEW)
            return fail_decode(g, "handle %u names no texture and no view", s.texture);
    }
    stage = exec_stage_of(g, p);
    exec_object_assign(g, &c->stages[stage].textures[s.slot].object, o);
    c->dirty |= DIRTY_STAGE << stage;
    return 0;
}

int exec_op_set_samplers(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_samplers s;
    enum exec_stage stage;
    int r;

    memcpy(&s, p->data, sizeof(s));
    stage = exec_stage_of(g, p);
    r = exec_check_slots(g, s.start_slot, s.sampler_count, MAX_SAMPLER_SLOTS, "sampler");
    for (uint32_t i = 0; !r && i < s.sampler_count; i++) {
        struct sampler_slot *slot = &c->stages[stage].samplers[s.start_slot + i];
        struct sampler_object *sampler = NULL;
        uint32_t handle;
        memcpy(&handle, p->tail + 4 * i, 4);
        if (handle) {
            sampler = exec_object_find(g, handle, OBJECT_SAMPLER);
            if (!sampler)
                return -EBADMSG;
        }
        exec_object_assign(g, &slot->object, sampler);
        slot->d3d9 = false;
        c->dirty |= DIRTY_STAGE << stage;
    }
    return r;
}

int exec_op_set_sampler_state(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_sampler_state s;
    enum exec_stage stage;
    struct sampler_slot *slot;
    int r;

    memcpy(&s, p->data, sizeof(s));
    r = exec_check_slots(g, s.slot, 1, MAX_SAMPLER_SLOTS, "sampler");
    if (r)
        return r;
    if (!d3dsamp_name(s.state))
        return 0; /* a state of no effect here */
    stage = exec_stage_of(g, p);
    slot = &c->stages[stage].samplers[s.slot];
    slot->state[s.state] = s.value;
    slot->d3d9 = true;
    exec_object_assign(g, &slot->object, NULL);
    c->dirty |= DIRTY_STAGE << stage;
    return 0;
}

static bool is_view(struct exec_engine *g, uint32_t handle)
{
    const struct exec_object *o = handle ? exec_object_lookup(g, handle) : NULL;

    return o && o->kind >= OBJECT_TEXTURE && o->kind <= OBJECT_BUFFER_VIEW;
}

/* EXT_VIEWS: a view, or a texture, in the place of a buffer. */
static int set_uav(struct exec_engine *g, const struct abi_packet *p, uint32_t slot,
                   const struct aerogpu_unordered_access_buffer_binding *v)
{
    enum exec_stage stage = exec_stage_of(g, p);
    struct resource_slot *at = &g->ctx->stages[stage].uavs[slot];
    struct exec_object *o = exec_object_lookup(g, v->buffer);

    if (v->offset_bytes || v->size_bytes)
        return fail_decode(g, "slot %u: bytes %u + %u of view %u, whose own are bound", slot, v->offset_bytes,
                           v->size_bytes, v->buffer);
    exec_object_assign(g, &at->object, o);
    at->offset = at->size = 0;
    g->ctx->dirty |= DIRTY_STAGE << stage;
    return v->initial_count != AEROGPU_UAV_INITIAL_COUNT_KEEP ? exec_uav_counter_set(g, o, v->initial_count)
                                                              : 0;
}

/* SET_CONSTANT_BUFFERS, SET_SHADER_RESOURCE_BUFFERS and SET_UNORDERED_ACCESS_BUFFERS have one shape. */
static int set_buffer_ranges(struct exec_engine *g, const struct abi_packet *p)
{
    struct exec_context *c = g->ctx;
    struct aerogpu_cmd_set_constant_buffers s;
    struct aerogpu_unordered_access_buffer_binding v;
    enum exec_stage stage;
    struct stage_bindings *at;
    uint32_t limit = p->opcode == AEROGPU_CMD_SET_CONSTANT_BUFFERS          ? MAX_CONSTANT_BUFFER_SLOTS
                     : p->opcode == AEROGPU_CMD_SET_SHADER_RESOURCE_BUFFERS ? MAX_TEXTURE_SLOTS
                                                                            : MAX_UAV_SLOTS;
    int r;

    memcpy(&s, p->data, sizeof(s));
    stage = exec_stage_of(g, p);
    at = &c->stages[stage];
    r = exec_check_slots(g, s.start_slot, s.buffer_count, limit, "buffer");
    for (uint32_t i = 0; !r && i < s.buffer_count; i++) {
        uint32_t slot = s.start_slot + i;
        struct exec_buffer *b;
        uint64_t size;
        memcpy(&v, p->tail + i * sizeof(v), sizeof(v));
        if (p->opcode == AEROGPU_CMD_SET_UNORDERED_ACCESS_BUFFERS && is_view(g, v.buffer)) {
            r = set_uav(g, p, slot, &v);
            continue;
        }
        r = binding_buffer(g, v.buffer, &b);
        if (r)
            break;
        if (b && v.offset_bytes > b->size)
            return fail_oob(g, "slot %u: offset %u passes the end of buffer %u, which has %llu bytes", slot,
                            v.offset_bytes, v.buffer, (unsigned long long)b->size);
        size = b ? b->size - v.offset_bytes : 0;
        if (v.size_bytes && v.size_bytes < size)
            size = v.size_bytes;
        c->dirty |= DIRTY_STAGE << stage;
        if (p->opcode == AEROGPU_CMD_SET_CONSTANT_BUFFERS) {
            if (b && v.offset_bytes % 16)
                return fail_decode_alignment(g, "slot %u: constant buffer offset %u is not a multiple of 16",
                                             slot, v.offset_bytes);
            if (!slot)
                at->cb0_set = true;
            exec_object_assign(g, &at->constants[slot].buffer, b);
            at->constants[slot].offset = v.offset_bytes;
            at->constants[slot].size = size;
        } else if (p->opcode == AEROGPU_CMD_SET_SHADER_RESOURCE_BUFFERS) {
            exec_object_assign(g, &at->textures[slot].object, b);
            at->textures[slot].offset = v.offset_bytes;
            at->textures[slot].size = size;
        } else {
            exec_object_assign(g, &at->uavs[slot].object, b);
            at->uavs[slot].offset = v.offset_bytes;
            at->uavs[slot].size = size;
            if (b && v.initial_count != AEROGPU_UAV_INITIAL_COUNT_KEEP) {
                r = exec_uav_counter_set(g, &b->o, v.initial_count);
            }
        }
    }
    return r;
}

EXEC_OP_IS(set_constant_buffers, set_buffer_ranges)
EXEC_OP_IS(set_shader_resource_buffers, set_buffer_ranges)
EXEC_OP_IS(set_unordered_access_buffers, set_buffer_ranges)
