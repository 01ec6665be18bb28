/* SPDX-License-Identifier: MIT */
/* shader.h: shader bytes become SPIR-V that Vulkan 1.1 accepts, and a description of what they need bound.
 *
 *   bytes ──shader_create──▶ struct shader (checked, described, immutable)
 *   shaders of a pipeline + variant ──shader_link──▶ struct shader_program (final words per stage)
 *
 * Two kinds of bytes are taken: DXBC containers with shader model 4 and 5 programs (translated by libvkd3d-shader), and
 * Direct3D 9 token streams vs_1_1..vs_3_0 and ps_1_1..ps_3_0 (translated by d3d9_*.c).
 *
 * Invariants:
 *  1. Bytes are checked (container, checksum, chunk bounds, token lengths, operands) before a translator sees them; a
 *     shader that shader_create accepted can be translated.
 *  2. A shader never changes after shader_create; every function here may be called from any thread.
 *  3. Descriptor set numbers are fixed per stage: VS 0, PS 1, GS 2, HS 3, DS 4, CS 0; bindings are 0..n-1 in the order
 *     of shader_info.descriptors (binding i is descriptors[i].binding == i). Entry point "main".
 *  4. Coordinates are Direct3D's: the pipeline flips y with a negative viewport height, depth is 0..1. Vertex shaders
 *     of Direct3D 9 move positions to their pixels' centres, as the parameters say.
 *  5. Equal shader_link_key()s give equal words.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

#include "base/error.h"
#include "base/strbuf.h"

enum exec_stage { EXEC_VS, EXEC_PS, EXEC_GS, EXEC_HS, EXEC_DS, EXEC_CS, EXEC_STAGE_COUNT };

/* "vertex", "pixel", ... for messages. */
const char *exec_stage_name(enum exec_stage stage);
VkShaderStageFlagBits exec_stage_vk(enum exec_stage stage);
/* Number of the stage's descriptor set (invariant 3). */
uint32_t exec_stage_set(enum exec_stage stage);

enum shader_kind { SHADER_DXBC, SHADER_D3D9, SHADER_SPIRV };

enum shader_component {
    SHADER_COMPONENT_NONE,
    SHADER_COMPONENT_UINT,
    SHADER_COMPONENT_SINT,
    SHADER_COMPONENT_FLOAT
};

/* One element of an input or output signature. A D3D9 register appears under the semantic name of its usage. */
struct shader_element {
    char semantic[32];      /* upper case, cut at 31 characters (the hash is of the whole name) */
    uint32_t semantic_hash; /* FNV-1a 32 of the upper-case name */
    uint32_t semantic_index;
    uint32_t location;     /* register number; the Vulkan location of vertex inputs and pixel outputs */
    uint32_t system_value; /* D3D_NAME_* number, 0 for none: such inputs take no vertex attribute */
    uint32_t stream;       /* geometry shader output stream */
    uint8_t mask;          /* components declared, bit 0 = x */
    uint8_t used_mask;     /* of these, read or written by the program */
    uint8_t component;     /* enum shader_component */
    int8_t d3d9_usage;     /* D3DDECLUSAGE, or -1 for DXBC */
    bool in_order;         /* has no semantic: it is the input layout's element number `location` */
};

enum shader_descriptor_kind {
    SHADER_CBV,            /* cb#: uniform buffer */
    SHADER_SRV_TEXTURE,    /* t#: sampled image (no sampler) */
    SHADER_SRV_TYPED,      /* t#: uniform texel buffer of a typed Buffer<> */
    SHADER_SRV_RAW,        /* t#: uniform texel buffer R32_UINT over a ByteAddressBuffer */
    SHADER_SRV_STRUCTURED, /* t#: uniform texel buffer R32_UINT over a StructuredBuffer */
    SHADER_UAV_TEXTURE,    /* u#: storage image */
    SHADER_UAV_TYPED,      /* u#: storage texel buffer */
    SHADER_UAV_RAW,        /* u#: see vk_type */
    SHADER_UAV_STRUCTURED,
    SHADER_UAV_COUNTER,  /* hidden counter of structured buffer u#: see vk_type; one uint32 */
    SHADER_SAMPLER,      /* s#: sampler */
    SHADER_D3D9_SAMPLER, /* s#: combined image and sampler */
    SHADER_D3D9_BLOCK,   /* uniform buffer that holds what struct shader_d3d9_constants lays out */
};

enum shader_dim {
    SHADER_DIM_NONE,
    SHADER_DIM_BUFFER,
    SHADER_DIM_1D,
    SHADER_DIM_2D,
    SHADER_DIM_2DMS,
    SHADER_DIM_3D,
    SHADER_DIM_CUBE,
    SHADER_DIM_1DARRAY,
    SHADER_DIM_2DARRAY,
    SHADER_DIM_2DMSARRAY,
    SHADER_DIM_CUBEARRAY,
};

struct shader_descriptor {
    uint8_t kind;      /* enum shader_descriptor_kind */
    uint8_t dim;       /* enum shader_dim, for textures and buffers */
    uint8_t component; /* enum shader_component of what is read or written; FLOAT covers UNORM and SNORM */
    bool comparison;   /* a sampler used with comparison */
    bool uav_read;     /* a typed UAV that is read too */
    uint32_t index;    /* register number: N of cbN, tN, uN, sN */
    uint32_t count;    /* array size; 1 */
    uint32_t binding;  /* Vulkan binding in the stage's set */
    uint32_t size;     /* CBV and D3D9 block: bytes that the shader can address; structured: stride; else 0 */
    VkDescriptorType vk_type;
};

/* The uniform block of a D3D9 shader: float constants c0..c(count_f-1), then i#, b# and the parameters below, each array
 * element on 16 bytes (b# is one uint32 in .x). `def`, `defi` and `defb` constants are part of the code: the register
 * file may hold anything there. Every D3D9 shader has the block, at binding 0; the parameters are always in it. */
struct shader_d3d9_constants {
    uint32_t count_f, count_i, count_b; /* registers present in the block */
    uint32_t offset_i, offset_b;        /* bytes; c0 is at 0 */
    uint32_t offset_params;             /* struct shader_d3d9_params */
    uint32_t size;                      /* bytes of the whole block */
};

/* Render states that code reads as values, so that they do not multiply variants. */
struct shader_d3d9_params {
    float fog_color[4];
    float fog_start, fog_end, fog_density;            /* table fog */
    float alpha_ref;                                  /* 0..1 */
    float point_size, point_size_min, point_size_max; /* vertex shader: for topologies of points */
    float reserved;
    float bump[8][2][4]; /* texture stages: {MAT00, MAT01, MAT10, MAT11}, {LSCALE, LOFFSET, 0, 0} */
    float clip[6][4];    /* vertex shader: planes in clip space */
    float centre[4];     /* and what positions are moved by */
};

enum shader_primitive { /* of GS input and output, and HS patches */
                        SHADER_PRIMITIVE_NONE,
                        SHADER_PRIMITIVE_POINTS,
                        SHADER_PRIMITIVE_LINES,
                        SHADER_PRIMITIVE_TRIANGLES,
                        SHADER_PRIMITIVE_LINES_ADJ,
                        SHADER_PRIMITIVE_TRIANGLES_ADJ,
                        SHADER_PRIMITIVE_LINE_STRIP,
                        SHADER_PRIMITIVE_TRIANGLE_STRIP,
                        SHADER_PRIMITIVE_PATCH,
};

struct shader_info {
    enum shader_kind kind;
    enum exec_stage stage;
    uint32_t major, minor; /* shader model: 4.0, 5.0, 2.0 */
    uint64_t hash[2];      /* of the bytes */

    const struct shader_element *inputs, *outputs, *patch_constants;
    uint32_t input_count, output_count, patch_constant_count;
    const struct shader_descriptor *descriptors;
    uint32_t descriptor_count;

    uint32_t group_size[3];                     /* CS */
    enum shader_primitive gs_input, gs_output;  /* GS */
    uint32_t gs_max_vertices;                   /* GS */
    uint32_t hs_input_points, hs_output_points; /* HS; hs_input_points of GS patches too */
    uint32_t tess_domain, tess_partitioning,
        tess_output;                   /* HS and DS: D3D11_TESSELLATOR_* numbers, 0 = not said */
    uint32_t target_mask;              /* PS: bit n = writes SV_Target n / oC n */
    bool writes_depth;                 /* PS */
    bool uses_kill;                    /* PS */
    bool writes_point_size;            /* VS */
    bool uses_addresses;               /* SPIR-V: physical addresses */
    bool asks_samples;                 /* DXBC, PS: how many samples the targets have */
    bool streams, rasterized;          /* VS, DS, GS: writes vertices to buffers; and draws them, too */
    struct shader_d3d9_constants d3d9; /* zero for DXBC */
};

struct shader;

/* Where all buffers lie that shaders may reach by address. */
struct shader_addresses {
    uint64_t base, size;
};

/* Checks and describes `size` bytes as a shader of `stage`. Returns 0, -EINVAL (malformed, wrong stage), -ENOTSUP
 * (well-formed, but the translator lacks it) or -ENOMEM. The bytes are copied. `a`: what SPIR-V with physical addresses is kept to;
 * NULL: its addresses are left alone. */
int shader_create(struct shader **out, enum exec_stage stage, const void *bytes, size_t size,
                  const struct shader_addresses *a, struct error *e);
struct shader *shader_ref(struct shader *s); /* returns `s`; NULL is legal */
void shader_unref(struct shader *s);         /* NULL is legal */

/* Valid as long as the shader. */
const struct shader_info *shader_info(const struct shader *s);

enum shader_fog { SHADER_FOG_NONE, SHADER_FOG_EXP, SHADER_FOG_EXP2, SHADER_FOG_LINEAR, SHADER_FOG_VERTEX };

/* Render states that change the code of shaders; zero-initialised changes nothing. DXBC knows `points` and what stands behind it. */
struct shader_variant {
    uint8_t alpha_func; /* D3DCMP_* 1 NEVER .. 8 ALWAYS while ALPHATESTENABLE, else 0 */
    uint8_t
        fog;   /* enum shader_fog: D3DFOGMODE of FOGTABLEMODE; VERTEX when that is NONE; 0 if FOGENABLE off */
    bool flat; /* SHADEMODE flat: COLOR inputs are not interpolated */
    bool points;         /* the topology is a point list: the vertex shader writes a point size */
    bool point_sprite;   /* POINTSPRITEENABLE with points: TEXCOORD inputs become the point coordinate */
    uint8_t projected;   /* ps_1_1..1_3: bits 2n, 2n+1: what divides those of stage n: 1 y, 2 z, 3 w */
    uint16_t compared;   /* pixel shader: bit n: what sampler n reads is compared with the third coordinate */
    uint16_t spread;     /* ... all components are the first: depth that is read as a number */
    uint16_t decoded;    /* ... the colour is decoded from sRGB */
    bool w_fog;          /* table fog is of w, and not of z */
    uint8_t clip_planes; /* bit n: vertices have a distance to plane n, and what is behind it is cut away */
    uint8_t samples;     /* of the targets; 0: one */
    bool dual_source;    /* target 1 is what the colours of target 0 are blended by */
    uint8_t alpha_targets; /* bit n: target n has alpha alone, in the place of red */
    uint32_t uint_inputs,
        sint_inputs; /* bit n: vertex attribute n is an integer, whatever the shader's signature says */
};

struct shader_link_params {
    const struct shader
        *stages[EXEC_STAGE_COUNT]; /* NULL where unbound; CS alone, or VS with any of the others */
    struct shader_variant variant;
};

struct shader_key {
    uint64_t part[2];
};

/* Names the result of shader_link; parts of the variant that these shaders ignore do not count. */
struct shader_key shader_link_key(const struct shader_link_params *p);

struct shader_program {
    struct shader_key key;
    struct shader_code {
        const uint32_t *words;
        size_t count; /* words; 0 for an unbound stage */
    } code[EXEC_STAGE_COUNT];
};

/* Final code for every bound stage. Returns 0, -EINVAL (stages that cannot work together), -ENOTSUP or -ENOMEM. */
int shader_link(struct shader_program *out, const struct shader_link_params *p, struct error *e);
void shader_program_finish(struct shader_program *prog); /* zero-initialised is legal */

/* What `bytes` are, for people: kind, signatures and an instruction listing, as far as they can be read; never fails on
 * malformed bytes (the text says where it stopped). */
void shader_print(struct strbuf *out, const void *bytes, size_t size);
