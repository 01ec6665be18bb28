/* SPDX-License-Identifier: MIT */
#include "plant.h"

#include <signal.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "base/rng.h"

enum {
    COLOUR = 1,
    VERTICES,
    VS,
    PS,
    SLOW_PS,
    LAYOUT,
    POKE,
    PARAMS,
    TARGET,
    WRONG_PARAMS,
    VICTIM,
    BYSTANDERS = 100,
};
enum { SIZE = 512, SLOW_SIZE = 160, TRIANGLES = 64, FULL = TRIANGLES };

struct corner {
    float position[4], colour[4];
};

struct planter {
    struct plant *p;
    struct sample *s;
    struct rng rng;
};

const char *plant_kind_name(enum plant_kind kind)
{
    static const char *const names[] = {
#define NAME_ROW(NAME, doc) #NAME,
        PLANT_KINDS(NAME_ROW)
#undef NAME_ROW
    };

    return kind < PLANT_NUM_KINDS ? names[kind] : "?";
}

static uint32_t below(struct planter *w, uint32_t n)
{
    return (uint32_t)(rng_next(&w->rng) % n);
}

#define EMIT(w, ...) ABI_EMIT(&(w)->s->stream, __VA_ARGS__)

static void make_vertices(struct corner *v)
{
    for (int i = 0; i < TRIANGLES; i++) {
        float x = -1 + 0.25f * (float)(i % 8), y = -1 + 0.25f * (float)(i / 8);
        const float at[3][2] = {{x, y}, {x, y + 0.2f}, {x + 0.2f, y}};
        for (int k = 0; k < 3; k++)
            v[i * 3 + k] = (struct corner){{at[k][0], at[k][1], 0, 1}, {0.2f, 0.5f, (float)i / TRIANGLES, 1}};
    }
    for (int k = 0; k < 3; k++)
        v[FULL * 3 + k] = (struct corner){{k == 2 ? 3.0f : -1.0f, k == 1 ? 3.0f : -1.0f, 0, 1}, {1, 1, 1, 1}};
}

static void spirv(struct planter *w, uint32_t handle, uint32_t stage, const struct plant_shader *code)
{
    ABI_EMIT_TAIL(&w->s->stream, CREATE_SHADER_DXBC, create_shader_dxbc, code->words, code->size,
                  .shader_handle = handle, .stage = stage, .dxbc_size_bytes = code->size);
}

static void address(struct planter *w, uint32_t dst, uint32_t src, uint64_t offset)
{
    abi_builder_packet(
        &w->s->stream, AEROGPU_CMD_EXT_BUFFER_ADDRESS,
        &(struct aerogpu_cmd_ext_buffer_address){.dst_buffer = dst, .src_buffer = src, .src_offset = offset},
        sizeof(struct aerogpu_cmd_ext_buffer_address), NULL, 0);
}

static void addressed_buffer(struct planter *w, uint32_t handle, uint32_t size)
{
    EMIT(w, CREATE_BUFFER, create_buffer, .buffer_handle = handle,
         .usage_flags = AEROGPU_RESOURCE_USAGE_STORAGE | AEROGPU_RESOURCE_USAGE_EXT_ADDRESS,
         .size_bytes = size);
}

/* Where the store goes unless an address is written over it. */
static void params(struct planter *w, uint32_t handle)
{
    const enum plant_kind kind = w->p->kind;
    const uint32_t values[4] = {kind == PLANT_NULL_POINTER    ? 0u
                                : kind == PLANT_NOT_CANONICAL ? 0x1000u
                                                              : 0xdead0000,
                                kind == PLANT_NULL_POINTER    ? 0u
                                : kind == PLANT_NOT_CANONICAL ? 0xdead0000u
                                                              : 0x7d,
                                42, 0};

    EMIT(w, CREATE_BUFFER, create_buffer, .buffer_handle = handle,
         .usage_flags = AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, .size_bytes = 256);
    ABI_EMIT_TAIL(&w->s->stream, UPLOAD_RESOURCE, upload_resource, values, sizeof(values),
                  .resource_handle = handle, .size_bytes = sizeof(values));
}

static void create(struct planter *w)
{
    static struct corner vertices[(TRIANGLES + 1) * 3];
    uint32_t victim = 4096 * (1 + below(w, 16)), beyond = 4 * below(w, 2000);
    struct sample *s = w->s;

    make_vertices(vertices);
    sample_targets(s, COLOUR, 0, SIZE, SIZE, AEROGPU_FORMAT_B8G8R8X8_UNORM);
    sample_buffer(s, VERTICES, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, vertices, sizeof(vertices));
    sample_shader(s, VS, AEROGPU_SHADER_STAGE_VERTEX, "colour_vs.dxbc");
    sample_shader(s, PS, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
    sample_layout(s, LAYOUT, "POSITION:4 COLOR:4");
    sample_bind_vertices(s, VERTICES, sizeof(struct corner));
    spirv(w, SLOW_PS, AEROGPU_SHADER_STAGE_PIXEL, &plant_endless);
    spirv(w, POKE, AEROGPU_SHADER_STAGE_COMPUTE, &plant_poke);
    EMIT(w, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    addressed_buffer(w, TARGET, 4096);
    addressed_buffer(w, VICTIM, victim);
    for (uint32_t i = 0; i < 4; i++)
        addressed_buffer(w, BYSTANDERS + i, 64 * (1 + below(w, 100)));
    params(w, PARAMS);
    params(w, WRONG_PARAMS);
    address(w, PARAMS, TARGET, 0);
    if (w->p->kind == PLANT_AFTER_FREE)
        address(w, WRONG_PARAMS, VICTIM, 4 * below(w, 1024));
    if (w->p->kind == PLANT_BEYOND)
        address(w, WRONG_PARAMS, VICTIM, victim + beyond);
    if (w->p->kind == PLANT_BEYOND || w->p->kind == PLANT_AFTER_FREE)
        w->p->buffer = VICTIM;
    w->p->distance = w->p->kind == PLANT_BEYOND ? beyond + 1 : 0;
    sample_submit(s, 1, 0);
}

/* In front of everything that a dispatch needs: what is bound for draws stays. */
static void poke(struct planter *w, uint32_t constants)
{
    sample_bind_constants(w->s, AEROGPU_SHADER_STAGE_COMPUTE, 0, constants, 16);
    EMIT(w, BIND_SHADERS, bind_shaders, .vs = VS, .ps = PS, .cs = POKE);
    EMIT(w, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
}

static void good(struct planter *w)
{
    if (below(w, 25) == 0) {
        poke(w, PARAMS);
        return;
    }
    EMIT(w, BIND_SHADERS, bind_shaders, .vs = VS, .ps = PS);
    EMIT(w, DRAW, draw, .vertex_count = 3, .instance_count = 1, .first_vertex = 3 * below(w, TRIANGLES));
}

/* Of the stream so far. */
static uint32_t num_packets(struct planter *w)
{
    const struct strbuf *b = &w->s->stream.bytes;
    uint32_t n = 0, size;

    for (size_t at = sizeof(struct aerogpu_cmd_stream_header); at + 8 <= b->len; at += size, n++)
        memcpy(&size, b->data + at + 4, 4);
    return n;
}

static void bad(struct planter *w)
{
    switch (w->p->kind) {
    case PLANT_HANG:
    case PLANT_TWO_CONTEXTS:
        EMIT(w, BIND_SHADERS, bind_shaders, .vs = VS, .ps = SLOW_PS);
        EMIT(w, DRAW, draw, .vertex_count = 3, .instance_count = 1, .first_vertex = 3 * FULL);
        break;
    case PLANT_SLOW:
        EMIT(w, BIND_SHADERS, bind_shaders, .vs = VS, .ps = SLOW_PS);
        sample_viewport(w->s, SLOW_SIZE, SLOW_SIZE);
        EMIT(w, DRAW, draw, .vertex_count = 3, .instance_count = 1, .first_vertex = 3 * FULL);
        w->p->packet = num_packets(w) - 1;
        sample_viewport(w->s, SIZE, SIZE);
        return;
    case PLANT_REUSED:
        EMIT(w, BIND_SHADERS, bind_shaders, .vs = VS, .ps = SLOW_PS);
        EMIT(w, DESTROY_SHADER, destroy_shader, .shader_handle = SLOW_PS);
        sample_shader(w->s, SLOW_PS, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
        EMIT(w, DRAW, draw, .vertex_count = 3, .instance_count = 1, .first_vertex = 3 * FULL);
        break;
    case PLANT_NOT_CANONICAL:
    case PLANT_NULL_POINTER:
    case PLANT_WILD:
    case PLANT_AFTER_FREE:
    case PLANT_BEYOND:
        poke(w, WRONG_PARAMS);
        break;
    case PLANT_MALFORMED:
        EMIT(w, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = 77777);
        break;
    default:
        good(w);
    }
    w->p->packet = num_packets(w) - 1;
}

static void begin(struct planter *w, uint32_t context)
{
    struct sample *s = w->s;

    EMIT(w, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {COLOUR});
    sample_viewport(s, SIZE, SIZE);
    sample_bind_vertices(s, VERTICES, sizeof(struct corner));
    EMIT(w, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = LAYOUT);
    EMIT(w, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    sample_clear(s, AEROGPU_CLEAR_COLOR, 0.1f, 0.1f, 0.15f);
}

static void frame(struct planter *w, uint32_t context, bool crash)
{
    uint32_t k = below(w, w->p->draws);

    begin(w, context);
    for (uint32_t i = 0; i < w->p->draws; i++) {
        if (crash && i == k)
            bad(w);
        else
            good(w);
    }
    EMIT(w, PRESENT, present, .flags = 0);
    if (crash)
        w->p->ordinal = w->s->fence;
    sample_submit(w->s, context, 1);
}

void plant_into(struct plant *p, struct sample *s, enum plant_kind kind, uint64_t seed)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,   SIGABRT,
                                  SIGBUS,  SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2,   SIGPIPE,
                                  SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGSYS};
    struct planter w = {.p = p, .s = s, .rng = {.state = seed}};
    const bool killed = kind == PLANT_KILLED || kind == PLANT_SIGNAL;
    uint32_t frames, contexts = kind == PLANT_TWO_CONTEXTS ? 2 : 1;

    *p = (struct plant){.kind = kind, .draws = 50 + below(&w, 8) * below(&w, 280)};
    if (killed)
        p->draws = 2000;
    if (kind == PLANT_SIGNAL)
        p->signal = signals[below(&w, sizeof(signals) / sizeof(signals[0]))];
    frames = killed ? 30 : 1 + below(&w, 3);
    sample_begin_frame(s);
    create(&w);
    if (kind == PLANT_AFTER_FREE) /* in the stream of the next frame */
        EMIT(&w, DESTROY_RESOURCE, destroy_resource, .resource_handle = VICTIM);
    sample_end_frame(s);
    for (uint32_t i = 0; i <= frames; i++) {
        sample_begin_frame(s);
        for (uint32_t c = 1; c <= contexts; c++)
            frame(&w, c, i == frames && c == contexts && !killed);
        sample_end_frame(s);
    }
}

int plant_end_file(struct sample *s, struct error *e)
{
    if (s->trace && s->error.code)
        trace_writer_abandon(s->trace);
    else if (s->trace)
        trace_writer_finish(s->trace, &s->error);
    abi_builder_finish(&s->stream);
    return s->error.code ? error_set(e, s->error.code, "%s", s->error.text) : 0;
}

int plant_write(struct plant *out, uint64_t seed, const char *path, const char *shaders, struct error *e)
{
    struct sample s = {.shaders = shaders};

    abi_builder_init(&s.stream);
    trace_writer_create(&s.trace,
                        &(struct trace_writer_params){
                            .path = path, .command_abi = AEROGPU_ABI_VERSION_U32, .producer = "plant"},
                        &s.error);
    if (!s.error.code)
        plant_into(out, &s, (enum plant_kind)(seed % PLANT_NUM_KINDS), seed);
    return plant_end_file(&s, e);
}

/* ---- the smallest of each kind ------------------------------------------- */

static void smallest_draw(struct planter *w)
{
    static struct corner full[3];

    for (int k = 0; k < 3; k++)
        full[k] = (struct corner){{k == 2 ? 3.0f : -1.0f, k == 1 ? 3.0f : -1.0f, 0, 1}, {1, 1, 1, 1}};
    EMIT(w, CREATE_TEXTURE2D, create_texture2d, .texture_handle = COLOUR,
         .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = AEROGPU_FORMAT_B8G8R8X8_UNORM,
         .width = SIZE, .height = SIZE, .mip_levels = 1, .array_layers = 1);
    sample_buffer(w->s, VERTICES, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, full, sizeof(full));
    sample_shader(w->s, VS, AEROGPU_SHADER_STAGE_VERTEX, "colour_vs.dxbc");
    spirv(w, SLOW_PS, AEROGPU_SHADER_STAGE_PIXEL, &plant_endless);
    sample_layout(w->s, LAYOUT, "POSITION:4 COLOR:4");
    EMIT(w, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {COLOUR});
    EMIT(w, BIND_SHADERS, bind_shaders, .vs = VS, .ps = SLOW_PS);
    EMIT(w, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = LAYOUT);
    sample_bind_vertices(w->s, VERTICES, sizeof(struct corner));
    EMIT(w, DRAW, draw, .vertex_count = 3, .instance_count = 1);
}

static void smallest_poke(struct planter *w, enum plant_kind kind)
{
    spirv(w, POKE, AEROGPU_SHADER_STAGE_COMPUTE, &plant_poke);
    if (kind == PLANT_WILD || kind == PLANT_NULL_POINTER || kind == PLANT_NOT_CANONICAL) {
        params(w, PARAMS);
    } else {
        EMIT(w, CREATE_BUFFER, create_buffer, .buffer_handle = PARAMS,
             .usage_flags = AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, .size_bytes = 256);
        addressed_buffer(w, VICTIM, 4096);
        address(w, PARAMS, VICTIM, kind == PLANT_BEYOND ? 4096 : 0);
    }
    if (kind == PLANT_AFTER_FREE)
        EMIT(w, DESTROY_RESOURCE, destroy_resource, .resource_handle = VICTIM);
    sample_bind_constants(w->s, AEROGPU_SHADER_STAGE_COMPUTE, 0, PARAMS, 16);
    EMIT(w, BIND_SHADERS, bind_shaders, .cs = POKE);
    EMIT(w, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
}

int plant_write_smallest(enum plant_kind kind, const char *path, const char *shaders, uint32_t *packets,
                         struct error *e)
{
    struct sample s = {.shaders = shaders};
    struct plant p = {.kind = kind};
    struct planter w = {.p = &p, .s = &s};

    abi_builder_init(&s.stream);
    trace_writer_create(&s.trace,
                        &(struct trace_writer_params){
                            .path = path, .command_abi = AEROGPU_ABI_VERSION_U32, .producer = "plant"},
                        &s.error);
    sample_begin_frame(&s);
    if (kind == PLANT_MALFORMED)
        bad(&w);
    else if (kind == PLANT_HANG || kind == PLANT_TWO_CONTEXTS || kind == PLANT_REUSED)
        smallest_draw(&w);
    else
        smallest_poke(&w, kind);
    *packets = num_packets(&w);
    sample_submit(&s, 1, 0);
    sample_end_frame(&s);
    return plant_end_file(&s, e);
}

void sample_slow(struct sample *s)
{
    struct plant p;

    plant_into(&p, s, PLANT_SLOW, 7);
}

void sample_after_free(struct sample *s)
{
    struct plant p;

    plant_into(&p, s, PLANT_AFTER_FREE, 7);
}

void sample_beyond(struct sample *s)
{
    struct plant p;

    plant_into(&p, s, PLANT_BEYOND, 7);
}

void sample_wild(struct sample *s)
{
    struct plant p;

    plant_into(&p, s, PLANT_WILD, 7);
}
