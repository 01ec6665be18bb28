/* SPDX-License-Identifier: MIT */
/* d3d9_program.h: Direct3D 9 token streams (vs_1_1..vs_3_0, ps_1_1..ps_3_0), decoded and checked: who gives them to the device asks
 * here what it would refuse. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

#define D3D9_MAX_WORDS  (1u << 16)
#define D3D9_MAX_DEPTH  24u
#define D3D9_MAX_LABELS 64u

/* clang-format off */
enum d3d9_register {
    D3D9_TEMP, D3D9_INPUT, D3D9_CONST, D3D9_ADDRESS /* ps: texture t# */, D3D9_RASTOUT, D3D9_ATTROUT,
    D3D9_OUTPUT /* below vs_3_0: texture coordinate oT# */, D3D9_CONSTINT, D3D9_COLOROUT, D3D9_DEPTHOUT, D3D9_SAMPLER,
    D3D9_CONST2, D3D9_CONST3, D3D9_CONST4, D3D9_CONSTBOOL, D3D9_LOOP, D3D9_HALF, D3D9_MISC, D3D9_LABEL,
    D3D9_PREDICATE, D3D9_REGISTER_COUNT,
};

enum d3d9_opcode {
    D3D9_NOP, D3D9_MOV, D3D9_ADD, D3D9_SUB, D3D9_MAD, D3D9_MUL, D3D9_RCP, D3D9_RSQ, D3D9_DP3, D3D9_DP4, D3D9_MIN,
    D3D9_MAX, D3D9_SLT, D3D9_SGE, D3D9_EXP, D3D9_LOG, D3D9_LIT, D3D9_DST, D3D9_LRP, D3D9_FRC, D3D9_M4X4, D3D9_M4X3,
    D3D9_M3X4, D3D9_M3X3, D3D9_M3X2, D3D9_CALL, D3D9_CALLNZ, D3D9_LOOP_BEGIN, D3D9_RET, D3D9_ENDLOOP, D3D9_LABEL_OP,
    D3D9_DCL, D3D9_POW, D3D9_CRS, D3D9_SGN, D3D9_ABS, D3D9_NRM, D3D9_SINCOS, D3D9_REP, D3D9_ENDREP, D3D9_IF, D3D9_IFC,
    D3D9_ELSE, D3D9_ENDIF, D3D9_BREAK, D3D9_BREAKC, D3D9_MOVA, D3D9_DEFB, D3D9_DEFI,
    D3D9_TEXCOORD = 64, D3D9_TEXKILL, D3D9_TEX, D3D9_TEXBEM, D3D9_TEXBEML, D3D9_TEXREG2AR, D3D9_TEXREG2GB,
    D3D9_TEXM3X2PAD, D3D9_TEXM3X2TEX, D3D9_TEXM3X3PAD, D3D9_TEXM3X3TEX, D3D9_RESERVED, D3D9_TEXM3X3SPEC,
    D3D9_TEXM3X3VSPEC, D3D9_EXPP, D3D9_LOGP, D3D9_CND, D3D9_DEF, D3D9_TEXREG2RGB, D3D9_TEXDP3TEX, D3D9_TEXM3X2DEPTH,
    D3D9_TEXDP3, D3D9_TEXM3X3, D3D9_TEXDEPTH, D3D9_CMP, D3D9_BEM, D3D9_DP2ADD, D3D9_DSX, D3D9_DSY, D3D9_TEXLDD,
    D3D9_SETP, D3D9_TEXLDL, D3D9_BREAKP, D3D9_OPCODE_COUNT,
    D3D9_PHASE = 0xfffd, D3D9_COMMENT = 0xfffe, D3D9_END = 0xffff,
};

enum d3d9_usage {
    D3D9_USAGE_POSITION, D3D9_USAGE_BLENDWEIGHT, D3D9_USAGE_BLENDINDICES, D3D9_USAGE_NORMAL, D3D9_USAGE_PSIZE,
    D3D9_USAGE_TEXCOORD, D3D9_USAGE_TANGENT, D3D9_USAGE_BINORMAL, D3D9_USAGE_TESSFACTOR, D3D9_USAGE_POSITIONT,
    D3D9_USAGE_COLOR, D3D9_USAGE_FOG, D3D9_USAGE_DEPTH, D3D9_USAGE_SAMPLE, D3D9_USAGE_COUNT,
    D3D9_USAGE_IN_ORDER = D3D9_USAGE_COUNT, /* none: the vertex declaration's element of that number */
};

enum d3d9_modifier { /* of sources */
    D3D9_MOD_NONE, D3D9_MOD_NEG, D3D9_MOD_BIAS, D3D9_MOD_BIASNEG, D3D9_MOD_SIGN, D3D9_MOD_SIGNNEG, D3D9_MOD_COMP,
    D3D9_MOD_X2, D3D9_MOD_X2NEG, D3D9_MOD_DZ, D3D9_MOD_DW, D3D9_MOD_ABS, D3D9_MOD_ABSNEG, D3D9_MOD_NOT,
    D3D9_MOD_COUNT,
};
/* clang-format on */

enum d3d9_texture_type { D3D9_TEXTURE_2D = 2, D3D9_TEXTURE_CUBE, D3D9_TEXTURE_VOLUME }; /* of dcl */

enum { D3D9_DST_SAT = 1, D3D9_DST_PP = 2, D3D9_DST_CENTROID = 4 };

struct d3d9_operand {
    uint8_t type; /* enum d3d9_register; CONST2..4 are folded into CONST */
    uint8_t modifier;
    uint8_t mask;    /* destinations */
    uint8_t swizzle; /* sources: two bits per component */
    int8_t shift;    /* destinations: the result is multiplied by 2^shift */
    bool relative;
    uint8_t relative_type, relative_component; /* ADDRESS or LOOP */
    uint16_t index;
};

struct d3d9_instruction {
    uint32_t at; /* word offset */
    uint16_t opcode;
    uint8_t control; /* comparison of ifc, breakc, setp; projection of texld */
    bool coissue, predicated, has_dst;
    uint8_t src_count;
    struct d3d9_operand dst, src[4], predicate;
    uint8_t usage, usage_index, texture; /* dcl; texture: 2 2D, 3 cube, 4 volume */
    uint32_t value[4];                   /* def, defi, defb */
};

struct d3d9_declaration {
    uint8_t usage, usage_index, type, index, mask, modifier;
};

struct d3d9_constant {
    uint16_t index;
    uint32_t value[4];
};

struct d3d9_program {
    bool pixel, bare; /* bare: see d3d9_reader */
    uint32_t major, minor;
    struct d3d9_instruction *code; /* without dcl, def*, nop and comments */
    uint32_t code_count;
    struct d3d9_declaration inputs[32], outputs[32];
    uint32_t input_count, output_count;
    uint8_t sampler_dim
        [16]; /* enum d3d9_texture_type, 0 unused; of model 1, too, where a driver says what programs need not */
    struct d3d9_constant *def, *defi, *defb;
    uint32_t def_count, defi_count, defb_count;
    uint32_t count_f, count_i, count_b; /* registers that come from the block */
    uint32_t color_mask;                /* oC# written */
    bool writes_depth, kills, writes_point_size, writes_fog, writes_position, relative_const, uses_bump;
};

struct d3d9_reader {
    const uint8_t *data;
    uint32_t words, at;
    bool pixel;
    /* The form in which the reference driver writes its fixed-function shaders: parameter tokens lack bit 31, lengths may
     * count the opcode's word, and nothing is declared. */
    bool bare;
    uint32_t major, minor;
};

int d3d9_open(struct d3d9_reader *r, const void *bytes, size_t size, struct error *e);
/* Decodes the next instruction, skipping comments; 1, 0 at the end token, or -EINVAL. */
int d3d9_next(struct d3d9_reader *r, struct d3d9_instruction *i, struct error *e);
const char *d3d9_name(const struct d3d9_instruction *i);
/* "v", "oC", ... as assembly spells it. */
const char *d3d9_register_name(bool pixel, uint32_t major, uint32_t type);
const char *d3d9_usage_name(uint32_t usage);

/* Reads and checks a whole stream; `*used` is its length in bytes. 0, -EINVAL or -ENOMEM. */
int d3d9_program_create(struct d3d9_program **out, const void *bytes, size_t size, size_t *used,
                        struct error *e);

void d3d9_program_destroy(struct d3d9_program *p); /* NULL is legal */
/* Whether the bytes begin with a Direct3D 9 version token, of whatever version. */
bool d3d9_is(const void *bytes, size_t size);
void d3d9_print(struct strbuf *out, const void *bytes, size_t size);

/* Slot of a vertex shader's output register in the output file: o# itself, or where pre-3.0 names live. */
uint32_t d3d9_output_slot(const struct d3d9_program *p, uint32_t type, uint32_t index);
