/* SPDX-License-Identifier: MIT */
/* shader_ops.h: what an instruction of shader models 4 to 5.1 makes of one component of each source, where all devices agree on it.
 *
 * Float arithmetic takes and makes 0, with its sign, for what is too small to be normal; moves leave it, and where one is taken for a
 * float on the way (a sign changed, saturated; of min and max what is picked) it may be either. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SHADER_SINCOS_MOST 314.15926f /* 100 pi: up to there the error of sine and cosine is bounded */

enum op { /* as sm4_ops has them */
          ADD = 0,
          AND = 1,
          BREAK = 2,
          BREAKC = 3,
          CONTINUE = 7,
          CONTINUEC = 8,
          DIV = 14,
          DP2 = 15,
          DP3 = 16,
          DP4 = 17,
          EQ = 24,
          EXP = 25,
          FRC = 26,
          FTOI = 27,
          FTOU = 28,
          GE = 29,
          IADD = 30,
          IEQ = 32,
          IGE = 33,
          ILT = 34,
          IMAD = 35,
          IMAX = 36,
          IMIN = 37,
          IMUL = 38,
          INE = 39,
          INEG = 40,
          ISHL = 41,
          ISHR = 42,
          ITOF = 43,
          LOG = 47,
          LT = 49,
          MAD = 50,
          MIN = 51,
          MAX = 52,
          MOV = 54,
          MOVC = 55,
          MUL = 56,
          NE = 57,
          NOP = 58,
          NOT = 59,
          OR = 60,
          RETC = 63,
          ROUND_NE = 64,
          ROUND_NI = 65,
          ROUND_PI = 66,
          ROUND_Z = 67,
          RSQ = 68,
          SQRT = 75,
          SINCOS = 77,
          UDIV = 78,
          ULT = 79,
          UGE = 80,
          UMUL = 81,
          UMAD = 82,
          UMAX = 83,
          UMIN = 84,
          USHR = 85,
          UTOF = 86,
          XOR = 87,
          RCP = 129,
          LD_RAW = 165,
          LD_STRUCTURED = 167
};

/* What an instruction does with its sources. */
enum shader_kind { SHADER_MOVES, SHADER_INTEGERS, SHADER_FLOATS };

enum shader_kind shader_kind(uint32_t op);
float shader_float(uint32_t bits);
uint32_t shader_bits(float f);
bool shader_denormal(uint32_t bits);
float shader_flushed(float f);
/* False: it is no such instruction, or devices differ. */
bool shader_op(uint32_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t *out);
