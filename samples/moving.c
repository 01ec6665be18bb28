/* SPDX-License-Identifier: MIT */
#include "moving.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "base/rng.h"
#include "moving_cs.h"

enum { COLOUR = 1, SLOTS_BUFFER, VERTICES, VS, ENDLESS, LAYOUT, COUNT, COPY, OLD };
enum { SIZE = 512, SLOT = 256, MAX_SLOTS = 24, CORNERS = 3 * MAX_SLOTS, ALLOC = 7, GROUPS = 16384 };

struct params {
    uint32_t address[2], store, rounds, rest[SLOT / 4 - 4];
};

struct corner {
    float position[4], colour[4];
};

static const struct plant_shader count = {moving_cs, sizeof(moving_cs)};

/* What guest memory holds: the constants of every dispatch of a frame, then the vertices of every draw. */
struct guest {
    struct params slots[MAX_SLOTS];
    struct corner corners[CORNERS];
};

struct mover {
    struct plant *p;
    struct sample s;
    struct rng rng;
    enum moving_kind kind;
    uint32_t slots, frames, bad_frame, bad_slot;
    struct guest *guest;
};

const char *moving_kind_name(enum moving_kind kind)
{
    static const char *const names[] = {
#define NAME_ROW(NAME, doc) #NAME,
        MOVING_KINDS(NAME_ROW)
#undef NAME_ROW
    };

    return kind < MOVING_NUM_KINDS ? names[kind] : "?";
}

static uint32_t below(struct mover *w, uint32_t n)
{
    return (uint32_t)(rng_next(&w->rng) % n);
}

#define EMIT(w, ...) ABI_EMIT(&(w)->s.stream, __VA_ARGS__)

/* One of the last two for OLD and MADE, so that what was read before is written over. */
static bool is_early(const struct mover *w)
{
    return w->kind == MOVING_OLD_FAULT || w->kind == MOVING_MADE_FAULT;
}

/* The frame's constants and vertices. Bad ones stand there for one frame, and read otherwise in all others. */
static void write_guest(struct mover *w, uint32_t frame)
{
    const uint32_t bad_at = is_early(w) ? 0 : w->bad_frame;

    for (uint32_t i = 0; i < w->slots; i++) {
        const bool bad = frame == bad_at && i == w->bad_slot;
        struct params *p = &w->guest->slots[i];

        *p = (struct params){
            .address = {0xdead0000, 0x7d}, .rounds = 1 + below(w, 4), .rest = {below(w, 1000)}};
        p->store = bad && w->kind != MOVING_RING_HANG && w->kind != MOVING_VERTEX_HANG;
        if (bad && w->kind == MOVING_RING_HANG)
            p->rounds = 0;
        for (uint32_t k = 0; k < 3; k++) {
            const float far = bad ? 3.0f : 0.01f;

            w->guest->corners[3 * i + k] = (struct corner){
                {k == 2 ? far - (bad ? 0 : 1) : -1, k == 1 ? far - (bad ? 0 : 1) : -1, 0, 1}, {1, 1, 1, 1}};
        }
    }
}

static void spirv(struct mover *w, uint32_t handle, uint32_t stage, const struct plant_shader *code)
{
    ABI_EMIT_TAIL(&w->s.stream, CREATE_SHADER_DXBC, create_shader_dxbc, code->words, code->size,
                  .shader_handle = handle, .stage = stage, .dxbc_size_bytes = code->size);
}

static void buffer(struct mover *w, uint32_t handle, uint32_t usage, uint32_t size, bool backed,
                   uint32_t offset)
{
    EMIT(w, CREATE_BUFFER, create_buffer, .buffer_handle = handle, .usage_flags = usage, .size_bytes = size,
         .backing_alloc_id = backed ? ALLOC : 0, .backing_offset_bytes = offset);
}

static void create(struct mover *w)
{
    struct sample *s = &w->s;

    sample_targets(s, COLOUR, 0, SIZE, SIZE, AEROGPU_FORMAT_B8G8R8X8_UNORM);
    sample_shader(s, VS, AEROGPU_SHADER_STAGE_VERTEX, "colour_vs.dxbc");
    spirv(w, ENDLESS, AEROGPU_SHADER_STAGE_PIXEL, &plant_endless);
    spirv(w, COUNT, AEROGPU_SHADER_STAGE_COMPUTE, &count);
    sample_layout(s, LAYOUT, "POSITION:4 COLOR:4");
    buffer(w, SLOTS_BUFFER, AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, sizeof(w->guest->slots), true, 0);
    buffer(w, VERTICES, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, sizeof(w->guest->corners), true,
           offsetof(struct guest, corners));
    buffer(w, COPY, AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, sizeof(w->guest->slots), true, 0);
    EMIT(w, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
}

static void dirty(struct mover *w, uint32_t handle, uint32_t offset, uint32_t size)
{
    EMIT(w, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = handle, .offset_bytes = offset,
         .size_bytes = size);
}

static void upload(struct mover *w, uint32_t frame)
{
    if (frame == 0 && w->kind == MOVING_MADE_FAULT) {
        for (uint32_t i = 0; i < w->slots; i++)
            buffer(w, OLD + i, AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, SLOT, true, i * SLOT);
        return;
    }
    if (w->kind == MOVING_OLD_FAULT) {
        if (frame == 0) /* only then */
            dirty(w, SLOTS_BUFFER, 0, w->slots * SLOT);
        return;
    }
    for (uint32_t i = 0; i < w->slots;) { /* in a few pieces, as a driver would */
        uint32_t n = 1 + below(w, w->slots - i);

        dirty(w, SLOTS_BUFFER, i * SLOT, n * SLOT);
        i += n;
    }
    dirty(w, VERTICES, 0, w->slots * 3 * sizeof(struct corner));
    if (w->kind == MOVING_STAGED_FAULT)
        EMIT(w, COPY_BUFFER, copy_buffer, .dst_buffer = COPY, .src_buffer = SLOTS_BUFFER,
             .size_bytes = w->slots * SLOT, .flags = below(w, 2) ? AEROGPU_COPY_FLAG_WRITEBACK_DST : 0);
}

static void constants(struct mover *w, uint32_t frame, uint32_t slot)
{
    const bool made = w->kind == MOVING_MADE_FAULT, staged = w->kind == MOVING_STAGED_FAULT;
    const uint32_t used = is_early(w) && frame != w->bad_frame && slot == w->bad_slot ? 1 : slot;
    struct aerogpu_constant_buffer_binding b = {.buffer = made     ? OLD + used
                                                          : staged ? COPY
                                                                   : SLOTS_BUFFER,
                                                .offset_bytes = made ? 0 : used * SLOT,
                                                .size_bytes = 16};

    ABI_EMIT_TAIL(&w->s.stream, SET_CONSTANT_BUFFERS, set_constant_buffers, &b, sizeof(b),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .buffer_count = 1);
}

/* Of the stream so far. */
static uint32_t num_packets(struct mover *w)
{
    const struct strbuf *b = &w->s.stream.bytes;
    uint32_t n = 0, size;

    for (size_t at = sizeof(struct aerogpu_cmd_stream_header); at + 8 <= b->len; at += size, n++)
        memcpy(&size, b->data + at + 4, 4);
    return n;
}

static void frame(struct mover *w, uint32_t frame)
{
    const bool draws = w->kind == MOVING_VERTEX_HANG;

    sample_begin_frame(&w->s);
    write_guest(w, frame);
    upload(w, frame);
    sample_bind_vertices(&w->s, VERTICES, sizeof(struct corner));
    EMIT(w, BIND_SHADERS, bind_shaders, .vs = VS, .ps = ENDLESS, .cs = COUNT);
    for (uint32_t i = 0; i < w->slots; i++) {
        if (draws)
            EMIT(w, DRAW, draw, .vertex_count = 3, .instance_count = 1, .first_vertex = 3 * i);
        else
            constants(w, frame, i);
        if (!draws)
            EMIT(w, DISPATCH, dispatch, .group_count_x = w->kind == MOVING_RING_HANG ? GROUPS : 1,
                 .group_count_y = 1, .group_count_z = 1);
        if (frame == w->bad_frame && i == w->bad_slot) {
            w->p->ordinal = w->s.fence;
            w->p->packet = num_packets(w) - 1;
        }
    }
    EMIT(w, PRESENT, present, .flags = 0);
    sample_submit(&w->s, 1, 1);
    sample_end_frame(&w->s);
}

static void write_all(struct mover *w)
{
    w->slots = 3 + below(w, w->kind == MOVING_RING_HANG ? 3 : MAX_SLOTS - 3);
    w->bad_frame = 2 + below(w, 4);
    w->bad_slot = is_early(w) ? 0 : below(w, w->slots);
    w->frames = w->bad_frame + 1 + below(w, 3);
    sample_add_alloc(&w->s, ALLOC, 0x10000, w->guest, sizeof(*w->guest));
    sample_begin_frame(&w->s);
    create(w);
    sample_submit(&w->s, 1, 0);
    sample_end_frame(&w->s);
    for (uint32_t i = 0; i < w->frames; i++)
        frame(w, i);
}

int moving_write(struct plant *out, uint64_t seed, const char *path, const char *shaders, struct error *e)
{
    struct mover w = {.p = out,
                      .s = {.shaders = shaders},
                      .rng = {.state = seed},
                      .kind = (enum moving_kind)(seed % MOVING_NUM_KINDS),
                      .guest = calloc(1, sizeof(struct guest))};

    *out = (struct plant){0};
    if (!w.guest)
        return error_set(e, -ENOMEM, "no memory for a recording");
    abi_builder_init(&w.s.stream);
    trace_writer_create(&w.s.trace,
                        &(struct trace_writer_params){
                            .path = path, .command_abi = AEROGPU_ABI_VERSION_U32, .producer = "plant"},
                        &w.s.error);
    if (!w.s.error.code)
        write_all(&w);
    free(w.s.allocs[0].written);
    free(w.guest);
    return plant_end_file(&w.s, e);
}
