/* SPDX-License-Identifier: MIT */
#include "watch/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <aerogpu/ext.h>

#include "base/array.h"
#include "base/check.h"
#include "base/utf8.h"

static void context_check(const struct watch_model *m, const struct watch_model_context *c)
{
    INVARIANT(c->num_slots <= WATCH_MAX_SLOTS);
    INVARIANT(c->depth <= WATCH_DEPTH);
    INVARIANT(c->depth == WATCH_DEPTH || !c->too_deep);
    INVARIANT(!c->depth || c->ends[c->depth - 1] < WATCH_PATH);
    INVARIANT(!c->path[WATCH_PATH - 1]);
    INVARIANT(strlen(c->path) >= (c->depth ? c->ends[c->depth - 1] : 0u)); /* 4 */
    INVARIANT(!c->num_slots || c->slots[c->num_slots - 1].object <= m->num_objects);
    INVARIANT(!c->num_slots || c->slots[c->num_slots - 1].handle);
}

static void model_check(const struct watch_model *m)
{
    INVARIANT(m->num_objects <= m->cap_objects);
    INVARIANT(!m->num_objects ||
              m->objects[m->num_objects - 1].alive == (m->objects[m->num_objects - 1].names > 0));
}

void watch_model_finish(struct watch_model *m)
{
    while (m->contexts) {
        struct watch_model_context *c = m->contexts;
        m->contexts = c->next;
        free(c);
    }
    free(m->objects);
    map_finish(&m->handles);
    map_finish(&m->tokens);
    *m = (struct watch_model){0};
}

struct watch_model_context *watch_model_context(struct watch_model *m, uint32_t id)
{
    struct watch_model_context *c = m->contexts;

    while (c && c->id != id)
        c = c->next;
    if (c)
        return c;
    c = calloc(1, sizeof(*c));
    if (!c) {
        m->failed = true;
        return NULL;
    }
    c->id = id;
    c->next = m->contexts;
    m->contexts = c;
    return c;
}

/* The one that the packet stands in stays: the device refuses that. */
static void end_context(struct watch_model *m, const struct watch_model_context *current, uint32_t id)
{
    for (struct watch_model_context **at = &m->contexts; *at; at = &(*at)->next) {
        struct watch_model_context *c = *at;

        if (c->id != id || c == current)
            continue;
        *at = c->next;
        free(c);
        return;
    }
}

/* ---- objects ------------------------------------------------------------- */

static uint32_t number_of(const struct map *m, uint64_t key)
{
    const uint64_t *n = map_find(m, key);

    return n ? (uint32_t)*n : 0;
}

static void name_it(struct watch_model *m, uint32_t handle, uint32_t number)
{
    uint64_t *n = map_put(&m->handles, handle);

    if (n) {
        *n = number;
        m->objects[number - 1].names++;
    } else {
        m->failed = true;
        m->objects[number - 1].alive = m->objects[number - 1].names > 0;
    }
}

static void unbind(struct watch_model *m, uint32_t number)
{
    for (struct watch_model_context *c = m->contexts; c; c = c->next)
        for (uint32_t i = 0; i < c->num_slots;)
            if (c->slots[i].object == number)
                c->slots[i] = c->slots[--c->num_slots];
            else
                i++;
}

static void destroy(struct watch_model *m, uint32_t handle, uint64_t submission)
{
    uint32_t number = number_of(&m->handles, handle);
    struct watch_object *o = number ? &m->objects[number - 1] : NULL;

    if (!o)
        return;
    map_remove(&m->handles, handle);
    if (--o->names)
        return;
    o->alive = false;
    o->destroyed = submission;
    if (o->kind <= WATCH_OBJECT_VIEW)
        unbind(m, number);
}

static void destroy_range(struct watch_model *m, uint32_t first, uint32_t last, uint64_t submission)
{
    struct map_slot slot;

    for (size_t at = 0; map_next(&m->handles, &at, &slot);)
        if (slot.key >= first && slot.key <= last) {
            destroy(m, (uint32_t)slot.key, submission);
            at--; /* what came after it has moved up */
        }
}

/* A handle that is made again without having been destroyed is refused by the device: the first one stays. */
static void add(struct watch_model *m, const struct watch_object *o, uint64_t submission)
{
    if (!o->handle || map_find(&m->handles, o->handle))
        return;
    if (array_reserve(m->objects, m->cap_objects, m->num_objects + 1)) {
        m->failed = true;
        return;
    }
    m->objects[m->num_objects] = *o;
    m->objects[m->num_objects].alive = true;
    m->objects[m->num_objects].created = submission;
    name_it(m, o->handle, (uint32_t)++m->num_objects);
}

struct watch_object *watch_model_bound(const struct watch_model *m, const struct watch_slot *s)
{
    return s->object ? &m->objects[s->object - 1] : NULL;
}

#define FIELD(p, name, field) abi_packet_u32(p, offsetof(struct aerogpu_cmd_##name, field))

static void share(struct watch_model *m, const struct abi_packet *p)
{
    struct aerogpu_cmd_export_shared_surface e;
    uint64_t *n;

    memcpy(&e, p->data, sizeof(e));
    if (!number_of(&m->handles, e.resource_handle))
        return;
    n = map_put(&m->tokens, e.share_token);
    if (n)
        *n = number_of(&m->handles, e.resource_handle);
    else
        m->failed = true;
}

static void import(struct watch_model *m, const struct abi_packet *p, uint64_t submission)
{
    struct aerogpu_cmd_import_shared_surface i;
    uint32_t number;

    memcpy(&i, p->data, sizeof(i));
    number = number_of(&m->tokens, i.share_token);
    if (!number)
        add(m, &(struct watch_object){.handle = i.out_resource_handle, .kind = WATCH_OBJECT_OTHER},
            submission);
    else if (i.out_resource_handle && !map_find(&m->handles, i.out_resource_handle)) {
        m->objects[number - 1].alive = true;
        name_it(m, i.out_resource_handle, number);
    }
}

static void release(struct watch_model *m, const struct abi_packet *p)
{
    struct aerogpu_cmd_release_shared_surface r;

    memcpy(&r, p->data, sizeof(r));
    map_remove(&m->tokens, r.share_token);
}

static void add_shader(struct watch_model *m, const struct abi_stream *s, const struct abi_packet *p,
                       uint64_t submission)
{
    struct watch_object o = {.handle = FIELD(p, create_shader_dxbc, shader_handle),
                             .kind = WATCH_OBJECT_SHADER,
                             .bytes = p->tail,
                             .bytes_size = p->tail_size,
                             .size = p->tail_size,
                             .stage = abi_packet_stage(s, p)};

    snprintf(o.hash, sizeof(o.hash), "%016llx", (unsigned long long)XXH3_64bits(p->tail, p->tail_size));
    add(m, &o, submission);
}

static void add_texture(struct watch_model *m, const struct abi_packet *p, uint64_t submission)
{
    struct aerogpu_cmd_create_texture2d t;

    memcpy(&t, p->data, sizeof(t));
    add(m,
        &(struct watch_object){.handle = t.texture_handle,
                               .kind = WATCH_OBJECT_TEXTURE,
                               .width = t.width,
                               .height = t.height,
                               .format = t.format,
                               .alloc_id = t.backing_alloc_id,
                               .alloc_offset = t.backing_offset_bytes,
                               .size =
                                   (uint64_t)(t.row_pitch_bytes ? t.row_pitch_bytes : t.width * UINT64_C(4)) *
                                   t.height * (t.array_layers ? t.array_layers : 1)},
        submission);
}

static void add_buffer(struct watch_model *m, const struct abi_packet *p, uint64_t submission)
{
    struct aerogpu_cmd_create_buffer b;

    memcpy(&b, p->data, sizeof(b));
    add(m,
        &(struct watch_object){.handle = b.buffer_handle,
                               .kind = WATCH_OBJECT_BUFFER,
                               .size = b.size_bytes,
                               .alloc_id = b.backing_alloc_id,
                               .alloc_offset = b.backing_offset_bytes},
        submission);
}

/* ---- bindings ------------------------------------------------------------ */

static void bind(struct watch_model *m, struct watch_model_context *c, enum watch_slot_kind kind,
                 uint32_t stage, uint32_t index, uint32_t handle)
{
    struct watch_slot *s = c->slots, *end = c->slots + c->num_slots;

    while (s < end && (s->kind != kind || s->stage != stage || s->index != index))
        s++;
    if (s == end && (!handle || c->num_slots == WATCH_MAX_SLOTS))
        return;
    if (!handle) {
        *s = end[-1];
        c->num_slots--;
        return;
    }
    if (s == end)
        c->num_slots++;
    *s = (struct watch_slot){.kind = (uint8_t)kind,
                             .stage = (uint8_t)stage,
                             .index = (uint16_t)index,
                             .handle = handle,
                             .object = number_of(&m->handles, handle)};
}

/* Packets whose tail is a list of bindings that begin with the handle. */
static void bind_list(struct watch_model *m, struct watch_model_context *c, const struct abi_stream *s,
                      const struct abi_packet *p, enum watch_slot_kind kind)
{
    uint32_t stage = p->desc->stage ? abi_packet_stage(s, p) : 0;
    uint32_t first = kind == WATCH_SLOT_VERTICES ? FIELD(p, set_vertex_buffers, start_slot)
                                                 : FIELD(p, set_constant_buffers, start_slot);

    for (uint32_t i = 0; i < p->tail_count && i < 128; i++) {
        uint32_t handle;
        memcpy(&handle, p->tail + (size_t)i * p->desc->elem_size, 4);
        bind(m, c, kind, stage, (first + i) & 0xFFFF, handle);
    }
}

static void bind_shaders(struct watch_model *m, struct watch_model_context *c, const struct abi_packet *p)
{
    bool ex = p->size >= AEROGPU_BIND_SHADERS_EXTENDED_SIZE;

    bind(m, c, WATCH_SLOT_SHADER, ABI_VS, 0, FIELD(p, bind_shaders, vs));
    bind(m, c, WATCH_SLOT_SHADER, ABI_PS, 0, FIELD(p, bind_shaders, ps));
    bind(m, c, WATCH_SLOT_SHADER, ABI_CS, 0, FIELD(p, bind_shaders, cs));
    bind(m, c, WATCH_SLOT_SHADER, ABI_GS, 0,
         ex ? FIELD(p, bind_shaders_ex, gs) : FIELD(p, bind_shaders, gs_legacy));
    bind(m, c, WATCH_SLOT_SHADER, ABI_HS, 0, ex ? FIELD(p, bind_shaders_ex, hs) : 0);
    bind(m, c, WATCH_SLOT_SHADER, ABI_DS, 0, ex ? FIELD(p, bind_shaders_ex, ds) : 0);
}

static void bind_targets(struct watch_model *m, struct watch_model_context *c, const struct abi_packet *p)
{
    struct aerogpu_cmd_set_render_targets t;

    memcpy(&t, p->data, sizeof(t));
    for (uint32_t i = 0; i < AEROGPU_MAX_RENDER_TARGETS; i++)
        bind(m, c, WATCH_SLOT_TARGET, 0, i, i < t.color_count ? t.colors[i] : 0);
    bind(m, c, WATCH_SLOT_DEPTH, 0, 0, t.depth_stencil);
}

_Static_assert(WATCH_PATH >= (WATCH_DEPTH + 1) * WATCH_REGION,
               "the names of all regions find room, and a marker");

/* Names that are too long are cut, and regions deeper than can be kept are counted, so that each pop ends its own push. */
static void set_name(struct watch_model_context *c, const struct abi_packet *p, bool push)
{
    uint16_t at = c->depth ? c->ends[c->depth - 1] : 0;
    const char *text = (const char *)p->data + 8;

    c->path[at] = '\0';
    if (push && c->depth == WATCH_DEPTH) {
        c->too_deep++;
        return;
    }
    if (at)
        c->path[at++] = '/';
    utf8_cut(c->path + at, WATCH_REGION - 1, text, strnlen(text, p->size - 8));
    if (push)
        c->ends[c->depth++] = (uint16_t)strlen(c->path);
}

static void pop_name(struct watch_model_context *c)
{
    if (c->too_deep)
        c->too_deep--;
    else if (c->depth)
        c->depth--;
    else
        c->unbalanced_pops++;
    c->path[c->depth ? c->ends[c->depth - 1] : 0] = '\0';
}

/* What makes and ends objects. */
static void apply_object(struct watch_model *m, const struct abi_stream *s, const struct abi_packet *p,
                         uint64_t submission)
{
    struct watch_object o = {.handle = abi_packet_object(p), .kind = WATCH_OBJECT_OTHER};

    if (p->desc->class.id == AEROGPU_CLASS_DESTROY) {
        destroy(m, o.handle, submission);
        return;
    }
    switch (p->opcode) {
    case AEROGPU_CMD_CREATE_BUFFER:
        add_buffer(m, p, submission);
        break;
    case AEROGPU_CMD_CREATE_TEXTURE2D:
        add_texture(m, p, submission);
        break;
    case AEROGPU_CMD_CREATE_SHADER_DXBC:
        add_shader(m, s, p, submission);
        break;
    case AEROGPU_CMD_IMPORT_SHARED_SURFACE:
        import(m, p, submission);
        break;
    case AEROGPU_CMD_CREATE_TEXTURE_VIEW:
        o.kind = WATCH_OBJECT_VIEW;
        o.format = FIELD(p, create_texture_view, format);
        o.of = number_of(&m->handles, FIELD(p, create_texture_view, texture_handle));
        /* fall through */
    default:
        add(m, &o, submission);
    }
}

static void give_name(struct watch_model *m, const struct abi_packet *p)
{
    uint32_t number = number_of(&m->handles, FIELD(p, ext_name, object));
    char *name = number ? m->objects[number - 1].name : NULL;

    if (name)
        utf8_cut(name, sizeof(m->objects->name), (const char *)p->tail,
                 strnlen((const char *)p->tail, p->tail_size));
}

void watch_model_apply(struct watch_model *m, struct watch_model_context *c, const struct abi_stream *s,
                       const struct abi_packet *p, uint64_t submission)
{
    const size_t before = m->num_objects;

    context_check(m, c);
    if (p->desc && p->desc->object)
        apply_object(m, s, p, submission);
    for (size_t i = before; i < m->num_objects; i++)
        utf8_path(m->objects[i].made_in, sizeof(m->objects[i].made_in), c->path);
    switch (p->opcode) {
    case AEROGPU_CMD_DEBUG_MARKER:
        set_name(c, p, false);
        break;
    case AEROGPU_CMD_EXT_PUSH_MARKER:
        set_name(c, p, true);
        break;
    case AEROGPU_CMD_EXT_POP_MARKER:
        pop_name(c);
        break;
    case AEROGPU_CMD_EXT_NAME:
        give_name(m, p);
        break;
    case AEROGPU_CMD_EXPORT_SHARED_SURFACE:
        share(m, p);
        break;
    case AEROGPU_CMD_RELEASE_SHARED_SURFACE:
        release(m, p);
        break;
    case AEROGPU_CMD_EXT_DESTROY_CONTEXT:
        end_context(m, c, FIELD(p, ext_destroy_context, context_id));
        break;
    case AEROGPU_CMD_EXT_DESTROY_HANDLES:
        destroy_range(m, FIELD(p, ext_destroy_handles, first), FIELD(p, ext_destroy_handles, last),
                      submission);
        break;
    case AEROGPU_CMD_BIND_SHADERS:
        bind_shaders(m, c, p);
        break;
    case AEROGPU_CMD_SET_RENDER_TARGETS:
        bind_targets(m, c, p);
        break;
    case AEROGPU_CMD_SET_VERTEX_BUFFERS:
        bind_list(m, c, s, p, WATCH_SLOT_VERTICES);
        break;
    case AEROGPU_CMD_SET_INDEX_BUFFER:
        bind(m, c, WATCH_SLOT_INDICES, 0, 0, FIELD(p, set_index_buffer, buffer));
        break;
    case AEROGPU_CMD_SET_TEXTURE:
        bind(m, c, WATCH_SLOT_TEXTURE, abi_packet_stage(s, p), FIELD(p, set_texture, slot) & 0xFFFF,
             FIELD(p, set_texture, texture));
        break;
    case AEROGPU_CMD_SET_CONSTANT_BUFFERS:
        bind_list(m, c, s, p, WATCH_SLOT_CONSTANTS);
        break;
    case AEROGPU_CMD_SET_SHADER_RESOURCE_BUFFERS:
        bind_list(m, c, s, p, WATCH_SLOT_SRV);
        break;
    case AEROGPU_CMD_SET_UNORDERED_ACCESS_BUFFERS:
        bind_list(m, c, s, p, WATCH_SLOT_UAV);
        break;
    default:
        break;
    }
    context_check(m, c);
    model_check(m);
}

void watch_model_use(struct watch_model *m, const struct watch_model_context *c, const struct abi_packet *p,
                     uint64_t submission)
{
    const bool named = abi_class(p->opcode) == AEROGPU_CLASS_TRANSFER;

    for (uint32_t i = 0; i < c->num_slots && !named; i++) {
        struct watch_object *o = watch_model_bound(m, &c->slots[i]);
        if (o)
            o->last_use = submission;
    }
    for (uint32_t f = 0; named && f < p->desc->num_fields; f++) {
        uint32_t number = p->desc->fields[f].kind == AEROGPU_KIND_HANDLE
                              ? number_of(&m->handles, abi_packet_u32(p, p->desc->fields[f].offset))
                              : 0;
        if (number)
            m->objects[number - 1].last_use = submission;
    }
}

/* ---- names --------------------------------------------------------------- */

static const char *const stage_names[] = {"ps", "vs", "gs", "hs", "ds", "cs"};

void watch_slot_name(char name[24], const struct watch_slot *s)
{
    static const char *const kinds[] = {"", "rt", "depth", "vb", "ib", "t", "cb", "t", "u"};
    const char *stage = s->stage < 6 ? stage_names[s->stage] : "?";

    switch (s->kind) {
    case WATCH_SLOT_SHADER:
        snprintf(name, 24, "%s", stage);
        break;
    case WATCH_SLOT_DEPTH:
    case WATCH_SLOT_INDICES:
        snprintf(name, 24, "%s", kinds[s->kind]);
        break;
    case WATCH_SLOT_TARGET:
    case WATCH_SLOT_VERTICES:
        snprintf(name, 24, "%s%u", kinds[s->kind], s->index);
        break;
    default:
        snprintf(name, 24, "%s %s%u", stage, kinds[s->kind], s->index);
    }
}

void watch_object_name(char name[64], const struct watch_object *o)
{
    switch (o->kind) {
    case WATCH_OBJECT_BUFFER:
        snprintf(name, 64, "buffer");
        break;
    case WATCH_OBJECT_TEXTURE:
        snprintf(name, 64, "texture %ux%u", o->width, o->height);
        break;
    case WATCH_OBJECT_VIEW:
        snprintf(name, 64, "view");
        break;
    case WATCH_OBJECT_SHADER:
        snprintf(name, 64, "%s", o->hash);
        break;
    case WATCH_OBJECT_OTHER:
        snprintf(name, 64, "object");
        break;
    }
}

const char *watch_object_given(const struct watch_model *m, const struct watch_object *o)
{
    return o->name[0] || !o->of ? o->name : m->objects[o->of - 1].name;
}
