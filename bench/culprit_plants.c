/* SPDX-License-Identifier: MIT */
#include "culprit_plants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "plant.h"
#include "spin_cs.h"
#include "thousand.h"

enum {
    COLOUR = 1,
    VERTICES,
    VS,
    PS,
    ENDLESS,
    LAYOUT,
    POKE,
    PARAMS,
    TARGET,
    WRONG,
    VICTIM,
    STRANGER,
    SPARE,
    SPIN,
    ROUNDS,
    BYSTANDERS = 100,
    NEW = 1000,
};
enum { TRIANGLES = 64, FULL = TRIANGLES, VICTIM_BYTES = 8192, PAGE = 4096 };

const struct culprit_desc culprit_kinds[CULPRIT_NUM_KINDS] = {
#define KIND_ROW(NAME, cause, is, doc) [CULPRIT_##NAME] = {#NAME, BB_CAUSE_##cause, is},
    CULPRIT_KINDS(KIND_ROW)};

#define EMIT(c, ...) ABI_EMIT(&(c)->b, __VA_ARGS__)

static uint32_t below(struct culprit *c, uint32_t n)
{
    return (uint32_t)(rng_next(&c->rng) % n);
}

void culprit_init(struct culprit *c, enum culprit_kind kind, uint64_t seed)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,   SIGABRT,
                                  SIGBUS,  SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2,   SIGPIPE,
                                  SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGSYS};

    *c = (struct culprit){.kind = kind, .desc = &culprit_kinds[kind], .rng = {.state = seed}};
    c->draws = c->desc->is & IS_LONG     ? 10000
               : c->desc->is & IS_HUGE   ? 18000
               : c->desc->is & IS_TINY   ? 1
               : c->desc->is & IS_GROUPS ? 1001 + below(c, 2000)
               : c->desc->is & IS_SHORT  ? 50
                                         : 50 + below(c, 8) * below(c, 250);
    c->signal = c->desc->cause == BB_CAUSE_KILLED && kind != CULPRIT_KILLED
                    ? signals[seed % (sizeof(signals) / sizeof(signals[0]))]
                    : SIGKILL;
    c->is_used = c->desc->is & IS_GROUPS || below(c, 2);
    abi_builder_init(&c->b);
}

void culprit_finish(struct culprit *c)
{
    abi_builder_finish(&c->b);
}

/* ---- pieces of streams --------------------------------------------------- */

static uint32_t num_packets(const struct culprit *c)
{
    const struct strbuf *b = &c->b.bytes;
    uint32_t n = 0, size;

    for (size_t at = sizeof(struct aerogpu_cmd_stream_header); at + 8 <= b->len; at += size, n++)
        memcpy(&size, b->data + at + 4, 4);
    return n;
}

static void shader(struct culprit *c, uint32_t handle, uint32_t stage, const void *bytes, size_t size)
{
    ABI_EMIT_TAIL(&c->b, CREATE_SHADER_DXBC, create_shader_dxbc, bytes, (uint32_t)size,
                  .shader_handle = handle, .stage = stage, .dxbc_size_bytes = (uint32_t)size);
}

static void shader_file(struct culprit *c, uint32_t handle, uint32_t stage, const char *name)
{
    size_t size;
    void *bytes = thousand_shader(name, &size);

    shader(c, handle, stage, bytes, size);
    free(bytes);
}

static void upload(struct culprit *c, uint32_t handle, const void *data, uint32_t size)
{
    ABI_EMIT_TAIL(&c->b, UPLOAD_RESOURCE, upload_resource, data, size, .resource_handle = handle,
                  .size_bytes = size);
}

static void addressed(struct culprit *c, uint32_t handle, uint32_t size)
{
    EMIT(c, CREATE_BUFFER, create_buffer, .buffer_handle = handle,
         .usage_flags = AEROGPU_RESOURCE_USAGE_STORAGE | AEROGPU_RESOURCE_USAGE_EXT_ADDRESS,
         .size_bytes = size);
}

static void address(struct culprit *c, uint32_t dst, uint32_t src, uint64_t offset)
{
    EMIT(c, EXT_BUFFER_ADDRESS, ext_buffer_address, .dst_buffer = dst, .src_buffer = src,
         .src_offset = offset);
}

static void params_of(struct culprit *c, uint32_t handle, uint64_t to, uint32_t value)
{
    const uint32_t values[4] = {(uint32_t)to, (uint32_t)(to >> 32), value, 0};

    EMIT(c, CREATE_BUFFER, create_buffer, .buffer_handle = handle,
         .usage_flags = AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, .size_bytes = 256);
    upload(c, handle, values, sizeof(values));
}

static void params(struct culprit *c, uint32_t handle, uint64_t to)
{
    params_of(c, handle, to, 42);
}

static void viewport(struct culprit *c, float side)
{
    EMIT(c, SET_VIEWPORT, set_viewport, .width = abi_f32(side), .height = abi_f32(side),
         .max_depth = abi_f32(1));
}

static void texture(struct culprit *c, uint32_t handle, uint32_t size)
{
    EMIT(c, CREATE_TEXTURE2D, create_texture2d, .texture_handle = handle,
         .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE | AEROGPU_RESOURCE_USAGE_RENDER_TARGET,
         .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = size, .height = size, .mip_levels = 1,
         .array_layers = 1);
}

static void vertices(struct culprit *c)
{
    static struct thousand_vertex v[(TRIANGLES + 1) * 3];

    for (int i = 0; i < TRIANGLES; i++) {
        const int column = i % 8, row = i / 8;
        const float x = -1 + 0.25f * (float)column, y = -1 + 0.25f * (float)row;
        const float at[3][2] = {{x, y}, {x, y + 0.2f}, {x + 0.2f, y}};

        for (int k = 0; k < 3; k++)
            v[i * 3 + k] =
                (struct thousand_vertex){{at[k][0], at[k][1], 0, 1}, {0.2f, 0.5f, (float)i / TRIANGLES, 1}};
    }
    for (int k = 0; k < 3; k++)
        v[FULL * 3 + k] =
            (struct thousand_vertex){{k == 2 ? 3.0f : -1.0f, k == 1 ? 3.0f : -1.0f, 0, 1}, {1, 1, 1, 1}};
    EMIT(c, CREATE_BUFFER, create_buffer, .buffer_handle = VERTICES,
         .usage_flags = AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, .size_bytes = sizeof(v));
    upload(c, VERTICES, v, sizeof(v));
}

void culprit_objects(struct culprit *c)
{
    texture(c, COLOUR, CULPRIT_SIZE);
    vertices(c);
    shader_file(c, VS, AEROGPU_SHADER_STAGE_VERTEX, "colour_vs.dxbc");
    shader_file(c, PS, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
    shader(c, ENDLESS, AEROGPU_SHADER_STAGE_PIXEL, plant_endless.words, plant_endless.size);
    shader(c, POKE, AEROGPU_SHADER_STAGE_COMPUTE, plant_poke.words, plant_poke.size);
    abi_builder_layout(&c->b, LAYOUT, "POSITION:4 COLOR:4");
    addressed(c, TARGET, 4096);
    addressed(c, VICTIM, VICTIM_BYTES);
    addressed(c, STRANGER, 4096);
    for (uint32_t i = 0; i < 4; i++)
        addressed(c, BYSTANDERS + i, 64 * (1 + below(c, 100)));
    params(c, PARAMS, 0);
    params(c, WRONG,
           c->kind == CULPRIT_NULL_POINTER    ? 0
           : c->kind == CULPRIT_NOT_CANONICAL ? 0xdead000000001000
                                              : 0x7ddead0000);
    address(c, PARAMS, TARGET, 0);
    shader(c, SPIN, AEROGPU_SHADER_STAGE_COMPUTE, spin_cs, sizeof(spin_cs));
    params_of(c, ROUNDS, 0, UINT32_MAX);
    address(c, ROUNDS, TARGET, 0);
}

static void run(struct culprit *c, uint32_t cs, uint32_t constants, uint32_t offset, uint32_t groups)
{
    const struct aerogpu_constant_buffer_binding b = {
        .buffer = constants, .offset_bytes = offset, .size_bytes = 16};

    ABI_EMIT_TAIL(&c->b, SET_CONSTANT_BUFFERS, set_constant_buffers, &b, sizeof(b),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .buffer_count = 1);
    EMIT(c, BIND_SHADERS, bind_shaders, .vs = VS, .ps = PS, .cs = cs);
    EMIT(c, DISPATCH, dispatch, .group_count_x = groups, .group_count_y = 1, .group_count_z = 1);
}

static void poke(struct culprit *c, uint32_t constants, uint32_t offset)
{
    run(c, POKE, constants, offset, 1);
}

static void full_draw(struct culprit *c, uint32_t ps, uint32_t instances)
{
    EMIT(c, BIND_SHADERS, bind_shaders, .vs = VS, .ps = ps);
    EMIT(c, DRAW, draw, .vertex_count = 3, .instance_count = instances, .first_vertex = 3 * FULL);
}

static void begin(struct culprit *c)
{
    const struct aerogpu_vertex_buffer_binding vb = {.buffer = VERTICES,
                                                     .stride_bytes = sizeof(struct thousand_vertex)};

    EMIT(c, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {COLOUR});
    viewport(c, CULPRIT_SIZE);
    ABI_EMIT_TAIL(&c->b, SET_VERTEX_BUFFERS, set_vertex_buffers, &vb, sizeof(vb), .buffer_count = 1);
    EMIT(c, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = LAYOUT);
    EMIT(c, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    EMIT(c, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR, .color_rgba = {0, 0, 0, abi_f32(1)});
}

/* Where groups of draws matter nothing may end one but their number. */
static void good_one(struct culprit *c)
{
    const bool only_draws = c->desc->is & IS_GROUPS;

    if (c->kind == CULPRIT_HANG_MARKED) {
        ABI_EMIT_TAIL(&c->b, EXT_PUSH_MARKER, ext_push_marker, "a region in a region", 20, .hdr = {0});
        ABI_EMIT_TAIL(&c->b, DEBUG_MARKER, debug_marker, "a name", 6, .hdr = {0});
        if (below(c, 2))
            EMIT(c, EXT_POP_MARKER, ext_pop_marker, .hdr = {0});
        if (below(c, 40) == 0)
            EMIT(c, PRESENT, present, .flags = 0);
    }
    if (!only_draws && below(c, 25) == 0) {
        run(c, below(c, 2) ? SPIN : POKE, PARAMS, 0, 1);
    } else {
        EMIT(c, BIND_SHADERS, bind_shaders, .vs = VS, .ps = PS);
        EMIT(c, DRAW, draw, .vertex_count = 3, .instance_count = 1, .first_vertex = 3 * below(c, TRIANGLES));
    }
}

void culprit_good(struct culprit *c)
{
    const uint32_t draws = 50 + below(c, 100);

    begin(c);
    if (c->is_used) {
        viewport(c, 1);
        full_draw(c, ENDLESS, 1);
        viewport(c, CULPRIT_SIZE);
    }
    for (uint32_t i = 0; i < draws; i++)
        good_one(c);
}

void culprit_spin(struct culprit *c, uint32_t groups)
{
    run(c, SPIN, ROUNDS, 0, groups);
}

void culprit_endless(struct culprit *c, float side)
{
    begin(c);
    viewport(c, side);
    full_draw(c, ENDLESS, 1);
}

/* ---- what is wrong ------------------------------------------------------- */

static void of_victim(struct culprit *c, enum bb_fault_kind fault, uint32_t distance)
{
    c->fault = fault;
    c->resource = VICTIM;
    c->distance = distance;
}

static void remake_victim(struct culprit *c, int times)
{
    while (times-- > 0) {
        address(c, WRONG, VICTIM, 0);
        EMIT(c, DESTROY_RESOURCE, destroy_resource, .resource_handle = VICTIM);
        addressed(c, VICTIM, VICTIM_BYTES);
    }
}

/* Behind all that has to be done before it, and that frames between may come behind as well. */
static void prepare(struct culprit *c)
{
    const uint32_t into = 4 * below(c, VICTIM_BYTES / 4), out = 4 * below(c, 512);

    c->fault = BB_FAULT_NEVER_MAPPED;
    c->no_address = c->kind == CULPRIT_NOT_CANONICAL;
    switch (c->kind) {
    case CULPRIT_AFTER_FREE:
    case CULPRIT_AFTER_FREE_REUSED:
        address(c, WRONG, VICTIM, into);
        EMIT(c, DESTROY_RESOURCE, destroy_resource, .resource_handle = VICTIM);
        if (c->kind == CULPRIT_AFTER_FREE_REUSED)
            addressed(c, VICTIM, 2 * VICTIM_BYTES);
        of_victim(c, BB_FAULT_USE_AFTER_FREE, 0);
        break;
    case CULPRIT_BEYOND:
    case CULPRIT_BEYOND_DESTROYED:
    case CULPRIT_FAULT_AHEAD:
    case CULPRIT_FAULT_LONG:
        address(c, WRONG, VICTIM, VICTIM_BYTES + out);
        if (c->kind == CULPRIT_BEYOND_DESTROYED)
            EMIT(c, DESTROY_RESOURCE, destroy_resource, .resource_handle = VICTIM);
        of_victim(c, BB_FAULT_OUT_OF_BOUNDS, out + 1);
        break;
    case CULPRIT_BEFORE:
        address(c, WRONG, VICTIM, (uint64_t)-4 - out);
        of_victim(c, BB_FAULT_OUT_OF_BOUNDS, 0);
        break;
    case CULPRIT_BEYOND_IMPORTED:
        EMIT(c, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = VICTIM, .share_token = 77);
        EMIT(c, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = NEW, .share_token = 77);
        address(c, WRONG, NEW, VICTIM_BYTES + out);
        of_victim(c, BB_FAULT_OUT_OF_BOUNDS, out + 1);
        break;
    case CULPRIT_STRANGER: /* a fact is the address only: nobody can know where the pointer came from */
        address(c, WRONG, STRANGER, 4096 + out);
        c->fault = BB_FAULT_OUT_OF_BOUNDS;
        break;
    case CULPRIT_EVICTED_BACK:
        address(c, WRONG, VICTIM, VICTIM_BYTES + out);
        EMIT(c, EXT_RESIDENCY, ext_residency, .buffer = VICTIM, .resident = 0);
        EMIT(c, EXT_RESIDENCY, ext_residency, .buffer = VICTIM, .resident = 1);
        of_victim(c, BB_FAULT_OUT_OF_BOUNDS, out + 1);
        break;
    case CULPRIT_DESTROYED_BEHIND:
    case CULPRIT_AFTER_USE_AND_FREE:
        address(c, WRONG, VICTIM, into);
        poke(c, WRONG, 0);
        EMIT(c, DESTROY_RESOURCE, destroy_resource, .resource_handle = VICTIM);
        addressed(c, VICTIM, 64);
        of_victim(c, BB_FAULT_USE_AFTER_FREE, 0);
        break;
    case CULPRIT_BEYOND_REMADE: /* with the same handle and size, each where no other was */
        remake_victim(c, 40);
        address(c, WRONG, VICTIM, VICTIM_BYTES + out);
        of_victim(c, BB_FAULT_OUT_OF_BOUNDS, out + 1);
        break;
    case CULPRIT_REUSED_POINTER: /* it held the stranger's, and is another buffer now */
        address(c, WRONG, STRANGER, 0);
        EMIT(c, DESTROY_RESOURCE, destroy_resource, .resource_handle = WRONG);
        params(c, WRONG, 0);
        address(c, WRONG, VICTIM, VICTIM_BYTES + out);
        of_victim(c, BB_FAULT_OUT_OF_BOUNDS, out + 1);
        break;
    case CULPRIT_COPIED_POINTER: /* a buffer that was given another's address as well */
        address(c, WRONG, STRANGER, 0);
        params(c, SPARE, 0);
        address(c, SPARE, VICTIM, VICTIM_BYTES + out);
        EMIT(c, COPY_BUFFER, copy_buffer, .dst_buffer = WRONG, .src_buffer = SPARE, .size_bytes = 16);
        of_victim(c, BB_FAULT_OUT_OF_BOUNDS, out + 1);
        break;
    case CULPRIT_EVICTED:
        address(c, WRONG, VICTIM, into);
        EMIT(c, EXT_RESIDENCY, ext_residency, .buffer = VICTIM, .resident = 0);
        of_victim(c, BB_FAULT_NOT_RESIDENT, 0);
        break;
    default:
        break;
    }
}

static void hang(struct culprit *c)
{
    switch (c->kind) {
    case CULPRIT_HANG_REUSED:
        EMIT(c, BIND_SHADERS, bind_shaders, .vs = VS, .ps = ENDLESS);
        EMIT(c, DESTROY_SHADER, destroy_shader, .shader_handle = ENDLESS);
        shader_file(c, ENDLESS, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
        EMIT(c, DRAW, draw, .vertex_count = 3, .instance_count = 1, .first_vertex = 3 * FULL);
        return;
    case CULPRIT_HANG_CREATION:
        texture(c, NEW, 256);
        break;
    case CULPRIT_HANG_RESIDENCY:
        EMIT(c, EXT_RESIDENCY, ext_residency, .buffer = BYSTANDERS, .resident = 0);
        EMIT(c, EXT_RESIDENCY, ext_residency, .buffer = BYSTANDERS, .resident = 1);
        address(c, WRONG, BYSTANDERS, 0);
        break;
    case CULPRIT_HANG_UPLOAD:
        params(c, NEW, 0);
        break;
    case CULPRIT_HANG_COMPUTE:
        run(c, SPIN, ROUNDS, 0, 65535);
        return;
    case CULPRIT_HANG_INSTANCED:
        EMIT(c, BIND_SHADERS, bind_shaders, .vs = VS, .ps = PS);
        EMIT(c, DRAW, draw, .vertex_count = 3, .instance_count = INT32_MAX, .first_vertex = 3);
        return;
    case CULPRIT_SLOW_BEFORE_HANG:
        viewport(c, sqrtf((float)(c->seconds / 20 / c->pixel_s)));
        for (int i = 0; i < 8; i++)
            full_draw(c, ENDLESS, 1);
        viewport(c, CULPRIT_SIZE);
        break;
    default:
        break;
    }
    full_draw(c, ENDLESS, c->kind == CULPRIT_HANG_INSTANCES ? 3 : 1);
}

static void slow(struct culprit *c)
{
    const int n = c->kind == CULPRIT_SLOW_DRAWS ? 40 : 1;

    if (c->kind == CULPRIT_SLOW_CREATION) {
        for (uint32_t i = 0; i < 24; i++)
            texture(c, NEW + i, 2048);
        for (uint32_t i = 0; i < 24; i++)
            EMIT(c, DESTROY_RESOURCE, destroy_resource, .resource_handle = NEW + i);
        return;
    }
    if (c->kind == CULPRIT_SLOW_COMPUTE) {
        run(c, SPIN, ROUNDS, 0, (uint32_t)(c->seconds / c->group_s));
        c->packet = num_packets(c) - 1;
        return;
    }
    viewport(c, sqrtf((float)(c->seconds / n / c->pixel_s)));
    for (int i = 0; i < n; i++)
        full_draw(c, ENDLESS, 1);
    c->packet = num_packets(c) - 1;
    viewport(c, CULPRIT_SIZE);
}

static void refused(struct culprit *c)
{
    static const uint32_t junk[16] = {1, 2, 3};

    switch (c->kind) {
    case CULPRIT_TYPE:
        EMIT(c, COPY_BUFFER, copy_buffer, .dst_buffer = PARAMS, .src_buffer = PS, .size_bytes = 4);
        break;
    case CULPRIT_MISALIGNED:
        poke(c, PARAMS, 4);
        c->packet = num_packets(c) - 3; /* that bound it */
        return;
    case CULPRIT_DMA:
        EMIT(c, CREATE_BUFFER, create_buffer, .buffer_handle = NEW, .size_bytes = 64,
             .backing_alloc_id = CULPRIT_NOWHERE);
        break;
    case CULPRIT_BAD_SHADER:
        shader(c, NEW, AEROGPU_SHADER_STAGE_PIXEL, junk, sizeof(junk));
        c->packet = num_packets(c) - 1;
        full_draw(c, NEW, 1);
        return;
    case CULPRIT_OUT_OF_MEMORY: /* a quarter of what there may be at all, so often that it does not fit */
        for (uint32_t i = 0; i < 64; i++)
            EMIT(c, CREATE_BUFFER, create_buffer, .buffer_handle = NEW + i, .size_bytes = UINT32_MAX - 3);
        c->packet = UINT32_MAX;
        return;
    case CULPRIT_OUT_OF_TEXTURES:
        for (uint32_t i = 0; i < 256; i++)
            texture(c, NEW + i, 16384);
        c->packet = UINT32_MAX;
        return;
    default:
        EMIT(c, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = 77777);
    }
    c->packet = num_packets(c) - 1;
}

static uint32_t where(struct culprit *c)
{
    switch (c->kind) {
    case CULPRIT_HANG_FIRST:
        return 0;
    case CULPRIT_HANG_LAST:
        return c->draws - 1;
    case CULPRIT_HANG_HUGE:
        return below(c, 15000); /* it has a mark of its own */
    case CULPRIT_HANG_IN_GROUP:
        return 200 + below(c, 600);
    case CULPRIT_HANG_END_OF_GROUP:
        return 999;
    case CULPRIT_HANG_BEGIN_OF_GROUP:
        return 1000;
    default:
        return below(c, c->draws);
    }
}

void culprit_bad(struct culprit *c)
{
    const uint32_t at = where(c);

    prepare(c);
    begin(c);
    for (uint32_t i = 0; i < c->draws; i++) {
        if (i != at) {
            good_one(c);
            continue;
        }
        switch (c->desc->cause) {
        case BB_CAUSE_PAGE_FAULT:
            poke(c, WRONG, 0);
            break;
        case BB_CAUSE_SLOW:
            slow(c);
            continue;
        case BB_CAUSE_NONE:
            good_one(c);
            break;
        case BB_CAUSE_HANG:
        case BB_CAUSE_STARVED:
        case BB_CAUSE_KILLED:
        case BB_CAUSE_STOPPED:
        case BB_CAUSE_HOST_MEMORY: /* something must run when it is done to it */
            hang(c);
            break;
        default:
            refused(c);
            continue;
        }
        c->packet = num_packets(c) - 1;
    }
    if (c->kind == CULPRIT_HANG_CREATION)
        texture(c, NEW + 1, 256);
    if (c->kind == CULPRIT_HANG_TWICE)
        full_draw(c, ENDLESS, 1);
    if (c->kind == CULPRIT_FAULT_TWICE)
        poke(c, WRONG, 0);
}

void culprit_behind(struct culprit *c)
{
    culprit_good(c);
    switch (c->kind) {
    case CULPRIT_HANG_BEFORE_HANG:
    case CULPRIT_FAULT_BEFORE_HANG:
    case CULPRIT_REFUSED_BEFORE_HANG:
        full_draw(c, ENDLESS, 1);
        break;
    case CULPRIT_HANG_BEFORE_FAULT:
        poke(c, WRONG, 0);
        break;
    case CULPRIT_HANG_BEFORE_REFUSAL:
    case CULPRIT_FAULT_BEFORE_REFUSAL:
        EMIT(c, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = 77777);
        break;
    default:
        break;
    }
}

void culprit_first(struct culprit *c)
{
    begin(c);
    params(c, SPARE, 0x7ddeae0000);
    poke(c, SPARE, 0);
}
