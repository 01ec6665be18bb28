/* SPDX-License-Identifier: MIT */
#include "d3d12/view/shader_ops.h"

#include <math.h>
#include <string.h>

float shader_float(uint32_t u)
{
    float f;

    memcpy(&f, &u, 4);
    return f;
}

uint32_t shader_bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, 4);
    return u;
}

bool shader_denormal(uint32_t u)
{
    return !(u & 0x7f800000u) && u << 1;
}

float shader_flushed(float f)
{
    const uint32_t u = shader_bits(f);

    return shader_denormal(u) ? shader_float(u & 0x80000000u) : f;
}

enum shader_kind shader_kind(uint32_t op)
{
    if (op == MOV || op == MOVC || op == MIN || op == MAX)
        return SHADER_MOVES;
    return op == AND || (op >= IADD && op <= ITOF) || op == NOT || op == OR || (op >= UDIV && op <= XOR)
               ? SHADER_INTEGERS
               : SHADER_FLOATS;
}

static uint32_t truth(bool b)
{
    return b ? UINT32_MAX : 0;
}

/* 2 to a power; false: devices differ, as where what comes out is no normal number; not so of less than nothing without end. */
static bool power(float a, float *out)
{
    *out = exp2f(a);
    return isnan(a) || isnormal(*out) || (isinf(a) && a < 0);
}

/* Of two floats that are taken as they are; false: it may be flushed or not. */
static bool pick(bool largest, float a, float b, float *out)
{
    const float x = shader_flushed(a), y = shader_flushed(b);

    *out = largest ? fmaxf(x, y) : fminf(x, y);
    return *out != 0 || (!shader_denormal(shader_bits(a)) && !shader_denormal(shader_bits(b)));
}

/* False: it is none of these, or devices differ: of less than nothing the error of roots and logarithms is not bounded. */
/* clang-format off */
static bool floats(uint32_t op, float a, float b, float c, uint32_t *out)
{
    float r;

    switch (op) {
    case MIN: case MAX: if (!pick(op == MAX, a, b, &r)) return false; break;
    case ADD: r = a + b; break;
    case DIV: r = a / b; break;
    case MUL: r = a * b; break;
    case MAD: r = shader_flushed(a * b) + c; break;
    case EXP: if (!power(a, &r)) return false; break;
    case LOG: if (a < 0) return false; r = log2f(a); break;
    case FRC: r = a - floorf(a); if (r >= 1) return false; break;
    case ROUND_NE: r = nearbyintf(a); break;
    case ROUND_NI: r = floorf(a); break;
    case ROUND_PI: r = ceilf(a); break;
    case ROUND_Z: r = truncf(a); break;
    case RSQ: if (a <= 0) return false; r = 1 / sqrtf(a); break;
    case SQRT: if (a < 0) return false; r = sqrtf(a); break;
    case RCP: r = 1 / a; break;
    case EQ: *out = truth(a == b); return true;
    case NE: *out = truth(a != b); return true;
    case LT: *out = truth(a < b); return true;
    case GE: *out = truth(a >= b); return true;
    case FTOI: *out = isnan(a) ? 0 : a >= 2147483647.0f ? INT32_MAX : a <= -2147483648.0f ? (uint32_t)INT32_MIN : (uint32_t)(int32_t)a; return true;
    case FTOU: *out = !(a > 0) ? 0 : a >= 4294967295.0f ? UINT32_MAX : (uint32_t)a; return true;
    default: return false;
    }
    *out = shader_bits(shader_flushed(r));
    return true;
}

static bool integers(uint32_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t *out)
{
    const int32_t x = (int32_t)a, y = (int32_t)b;

    switch (op) {
    case MOV: *out = a; break;
    case AND: *out = a & b; break;
    case OR: *out = a | b; break;
    case XOR: *out = a ^ b; break;
    case NOT: *out = ~a; break;
    case IADD: *out = a + b; break;
    case IMAD: case UMAD: *out = a * b + c; break;
    case IMAX: *out = x > y ? a : b; break;
    case IMIN: *out = x < y ? a : b; break;
    case UMAX: *out = a > b ? a : b; break;
    case UMIN: *out = a < b ? a : b; break;
    case INEG: *out = 0 - a; break;
    case ISHL: *out = a << (b & 31); break;
    case ISHR: *out = (uint32_t)(x >> (b & 31)); break;
    case USHR: *out = a >> (b & 31); break;
    case IEQ: *out = truth(a == b); break;
    case INE: *out = truth(a != b); break;
    case ILT: *out = truth(x < y); break;
    case IGE: *out = truth(x >= y); break;
    case ULT: *out = truth(a < b); break;
    case UGE: *out = truth(a >= b); break;
    case ITOF: *out = shader_bits((float)x); break;
    case UTOF: *out = shader_bits((float)a); break;
    default: return false;
    }
    return true;
}
/* clang-format on */

bool shader_op(uint32_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t *out)
{
    return integers(op, a, b, c, out) || floats(op, shader_float(a), shader_float(b), shader_float(c), out);
}
