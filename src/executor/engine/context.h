/* SPDX-License-Identifier: MIT */
/* context.h: the pipeline state of a context. */
#pragma once

#include <aerogpu/ext.h>

#include "abi/stream.h"
#include "abi/d3d9_states.h"
#include "executor/engine/layout.h"
#include "executor/engine/queries.h"
#include "executor/engine/resource.h"
#include "executor/engine/shader_object.h"

struct abi_packet;
struct breadcrumb_buffer;
struct exec_pipeline;

enum {
    MAX_TEXTURE_SLOTS = 128,
    MAX_SAMPLER_SLOTS = 16,
    MAX_CONSTANT_BUFFER_SLOTS = 16,
    MAX_UAV_SLOTS = 64,
    MAX_VIEWPORTS = 16,
    NULL_VERTEX_SLOT = MAX_VERTEX_BUFFERS - 1, /* taken by the null buffer where the guest left it free */
    MAX_TARGETS = AEROGPU_MAX_RENDER_TARGETS,
    MAX_D3D9_FLOATS = 256,
    MAX_D3D9_INTS = 256, /* of which shaders can name 16 */
};

struct target_blend { /* part of keys: no padding */
    uint32_t enable;
    VkBlendFactor src, dst, src_alpha, dst_alpha;
    VkBlendOp op, op_alpha;
};

struct blend_state {
    struct target_blend targets[MAX_TARGETS];
    uint8_t write_mask[MAX_TARGETS];
    float constant[4];
    uint32_t sample_mask;
    bool alpha_to_coverage;
    bool logic; /* of all targets that are no floats: the operation, and no blending */
    VkLogicOp logic_op;
};

struct depth_state {
    bool enable, write, stencil, two_sided;
    bool func_set; /* by the stream: until then Direct3D 9 and later ones differ */
    VkCompareOp func;
    VkStencilOpState front, back; /* of clockwise and of counter-clockwise faces */
};

struct raster_state {
    VkPolygonMode fill;
    VkCullModeFlags cull;
    bool cull_set; /* by the stream: until then the built-in program draws both sides */
    bool front_ccw, scissor, depth_clamp;
    bool scissor_strict; /* not by the ABI's own packet: the rectangle may be empty */
    bool scissor_clears; /* turned on as a render state: it limits clears, too */
    float bias, slope_bias, bias_clamp;
    uint32_t samples;   /* while there is no target; 0: one */
    bool bias_is_float; /* Direct3D 9: bias is in units of depth, not of its resolution */
};

struct vertex_binding {
    struct exec_buffer *buffer;
    uint32_t stride, offset;
};

struct range_binding { /* constant buffers, what is streamed out to */
    struct exec_buffer *buffer;
    uint64_t offset, size;
};

struct resource_slot { /* t#, u#: a texture, a view, or a range of a buffer */
    struct exec_object *object;
    uint64_t offset, size; /* for buffers */
};

struct sampler_slot {
    struct sampler_object *object;
    bool d3d9; /* state set by SET_SAMPLER_STATE since an object was bound */
    uint32_t state[D3DSAMP_COUNT];
};

struct stage_bindings {
    struct resource_slot textures[MAX_TEXTURE_SLOTS];
    struct sampler_slot samplers[MAX_SAMPLER_SLOTS];
    struct range_binding constants[MAX_CONSTANT_BUFFER_SLOTS];
    struct resource_slot uavs[MAX_UAV_SLOTS];
    bool cb0_set, f_set; /* by the stream: until cb0 is, it holds the float constants */
    float f[MAX_D3D9_FLOATS][4];
    int32_t i[MAX_D3D9_INTS][4];
    uint32_t b[MAX_D3D9_INTS];
};

enum dirty {
    DIRTY_PIPELINE = 1u << 0,
    DIRTY_TARGETS = 1u << 1,
    DIRTY_VERTEX_BUFFERS = 1u << 2,
    DIRTY_INDEX_BUFFER = 1u << 3,
    DIRTY_VIEWPORT = 1u << 4,
    DIRTY_SCISSOR = 1u << 5,
    DIRTY_BLEND_CONSTANT = 1u << 6,
    DIRTY_STENCIL = 1u << 7,
    DIRTY_BIAS = 1u << 8,
    DIRTY_STAGE = 1u << 9, /* << exec_stage: descriptors of that stage */
    DIRTY_ALL = 0xFFFFFFFFu,
};

struct exec_context {
    uint32_t id;
    UT_hash_handle hh;
    uint32_t dirty;

    struct exec_object *color[MAX_TARGETS]; /* texture or view */
    uint32_t num_colors;
    struct exec_object *depth_stencil;
    struct exec_texture *implicit_target; /* stands in while no target is bound and the scanout is on */

    struct shader_object *shaders[EXEC_STAGE_COUNT];
    struct exec_layout *layout;
    struct vertex_binding vb[MAX_VERTEX_BUFFERS];
    struct exec_buffer *ib;
    VkIndexType index_type;
    uint32_t ib_offset;
    uint32_t topology; /* AEROGPU_TOPOLOGY_* */
    struct stage_bindings stages[EXEC_STAGE_COUNT];

    struct blend_state blend;
    struct depth_state depth;
    struct raster_state raster;
    uint8_t stencil_ref;
    bool viewport_set, scissor_set;
    float viewport[6];
    int32_t scissor_rect[4];
    uint32_t more_viewports, more_scissors; /* beside these: of EXT_SET_VIEWPORTS, EXT_SET_SCISSORS */
    float viewports[MAX_VIEWPORTS - 1][6];
    int32_t scissor_rects[MAX_VIEWPORTS - 1][4];
    uint32_t rs[D3DRS_COUNT]; /* Direct3D 9 render states as last set */
    float d3d9[AEROGPU_D3D9_ROWS][4];

    struct exec_buffer *sink; /* what unbound UAVs write to and read; NULL: none had to be made yet */
    struct exec_texture *sink_textures[TEXTURE_DIMS];
    struct range_binding
        streams[AEROGPU_STREAM_OUTPUT_SLOTS]; /* offset: where the next is written; APPEND_STREAM */
    struct breadcrumb_buffer *breadcrumbs;    /* NULL: none is set */
    struct exec_query queries[AEROGPU_QUERY_SLOTS];
    uint32_t active_queries[EXEC_QUERY_POOLS]; /* by kind */
    struct exec_pipeline *pipeline;            /* while DIRTY_PIPELINE is clear */
    bool pipeline_indexed;
};

struct exec_context *exec_context_get(struct exec_engine *g, uint32_t id);
void exec_context_destroy(struct exec_engine *g, struct exec_context *c);
/* Takes `o` out of every slot of every context. */
void exec_contexts_unbind(struct exec_engine *g, const struct exec_object *o);
enum exec_stage exec_stage_of_program(enum abi_program program);
/* Slots [first, first + count) of `limit` that there are. */
int exec_check_slots(struct exec_engine *g, uint32_t first, uint32_t count, uint32_t limit, const char *what);
/* The stage that the packet names. */
enum exec_stage exec_stage_of(struct exec_engine *g, const struct abi_packet *p);
struct sampler_desc exec_sampler_desc_of(const struct sampler_slot *slot, bool d3d9_shader);
