/* SPDX-License-Identifier: MIT */
/* ffvs.c: transform and lighting as a vertex shader.
 *
 * r0 is the position before the eye, r1 the normal there, r2 and r3 the light's diffuse and specular sums, r8 its ambient one.
 */
#include <math.h>

#include "umd/d3d9/asm.h"
#include "umd/d3d9/umd9.h"

enum {
    C_WVP = 0,      /* columns of world * view * projection */
    C_WV = 4,       /* of world * view */
    C_NORMAL = 8,   /* of its inverse's transpose */
    C_SCREEN = 11,  /* pixels to the clip space: scale, offset */
    C_DIFFUSE = 13, /* of the material, and on: ambient, specular, emissive */
    C_AMBIENT = 14,
    C_SPECULAR = 15,
    C_EMISSIVE = 16,
    C_GLOBAL = 17,  /* the scene's ambient light; w: the material's power */
    C_FOG = 18,     /* -1 / (end - start), end / (end - start), -density * log2(e), density */
    C_NUMBERS = 19, /* 0, 1, 0.5, a little */
    C_POINT = 20,   /* scale A, B, C; size */
    C_POINT2 = 21,  /* the viewport's height */
    C_LIGHT = 24,   /* LIGHT_ROWS of each */
    LIGHT_ROWS =
        7, /* diffuse, specular, ambient, place or direction to it and range, direction, attenuation, cone */
    C_TEXTURE = 80, /* columns of each stage's matrix */
    C_PROJECTION =
        112, /* columns of the projection, and of the other worlds * view, where vertices are blended */
    C_BLEND = 116,
    V_NORMAL = 1,
    V_DIFFUSE = 2,
    V_SPECULAR = 3,
    V_SIZE = 4,
    V_WEIGHT = 5,
    V_COORDINATES = 8,
    MAX_LIGHTS = 8
};
enum { LIGHT_POINT = 1, LIGHT_SPOT, LIGHT_DIRECTIONAL };
enum { MATERIAL, COLOUR1, COLOUR2 };
enum { GENERATE_NOTHING, GENERATE_NORMAL, GENERATE_POSITION, GENERATE_REFLECTION, GENERATE_SPHERE };
enum { FOG_NONE, FOG_EXP, FOG_EXP2, FOG_LINEAR, FOG_SPECULAR };

struct coordinate {
    uint8_t used, index, size, generate, count, projected;
};

struct key {
    uint8_t transformed, normal, diffuse, specular, size;
    uint8_t lighting, highlights, local_viewer, normalize;
    uint8_t sources[4];                         /* of diffuse, ambient, specular, emissive */
    uint8_t fog, range_fog, point_scale, blend; /* blend: matrices */
    uint8_t lights[MAX_LIGHTS];
    struct coordinate coordinates[UMD9_STAGES];
};

static uint32_t in(uint32_t n)
{
    return umd9_reg(D3D9_INPUT, n);
}

static uint32_t t(uint32_t n)
{
    return umd9_temp(n);
}

static uint32_t c(uint32_t n)
{
    return umd9_const(n);
}

static uint32_t only(uint32_t reg, uint32_t component)
{
    return umd9_swizzle(reg, component);
}

static uint32_t to(uint32_t reg, uint32_t mask)
{
    return umd9_dst(reg, mask);
}

static void columns(struct umd9_asm *a, uint32_t dst, uint32_t source, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        UMD9_OP(a, DP4, to(dst, 1u << i), source, c(first + i));
}

/* ---- position ---------------------------------------------------------------------- */

static void from_screen(struct umd9_asm *a)
{
    /* 1 / rhw, and 1 where that is 0 */
    UMD9_OP(a, MUL, to(t(4), 1), only(in(0), UMD9_W), only(in(0), UMD9_W));
    UMD9_OP(a, SGE, to(t(4), 1), only(c(C_NUMBERS), UMD9_X), only(t(4), UMD9_X));
    UMD9_OP(a, ADD, to(t(4), 1), only(t(4), UMD9_X), only(in(0), UMD9_W));
    UMD9_OP(a, RCP, to(t(4), 8), only(t(4), UMD9_X));
    UMD9_OP(a, MOV, to(t(0), 15), in(0));
    UMD9_OP(a, MUL, to(t(4), 7), t(0), c(C_SCREEN));
    UMD9_OP(a, ADD, to(t(4), 7), t(4), c(C_SCREEN + 1));
    UMD9_OP(a, MUL, to(t(4), 7), t(4), only(t(4), UMD9_W));
    UMD9_OP(a, MOV, to(umd9_reg(D3D9_RASTOUT, 0), 15), t(4));
}

/* Each of the matrices has a weight of the vertex's, the last what is left of one. r9: the weights. */
static void blend(struct umd9_asm *a, const struct key *k)
{
    const uint32_t left = t(9);

    UMD9_OP(a, MOV, to(t(0), 15), only(c(C_NUMBERS), UMD9_X));
    UMD9_OP(a, MOV, to(t(1), 15), only(c(C_NUMBERS), UMD9_X));
    UMD9_OP(a, MOV, to(left, 8), only(c(C_NUMBERS), UMD9_Y));
    for (uint32_t i = 0; i < k->blend; i++) {
        const uint32_t first = i ? C_BLEND + 4 * (i - 1) : C_WV;
        const bool last = i + 1 == k->blend;
        const uint32_t weight = last ? only(left, UMD9_W) : only(in(V_WEIGHT), 0x55u * i);

        columns(a, t(4), in(0), first, 4);
        UMD9_OP(a, MAD, to(t(0), 15), t(4), weight, t(0));
        if (k->normal) {
            for (uint32_t n = 0; n < 3; n++)
                UMD9_OP(a, DP3, to(t(5), 1u << n), in(V_NORMAL), c(first + n));
            UMD9_OP(a, MAD, to(t(1), 7), t(5), weight, t(1));
        }
        if (!last)
            UMD9_OP(a, SUB, to(left, 8), only(left, UMD9_W), weight);
    }
    columns(a, umd9_reg(D3D9_RASTOUT, 0), t(0), C_PROJECTION, 4);
    if (k->normal && k->normalize)
        UMD9_OP(a, NRM, to(t(1), 7), t(1));
}

static void from_world(struct umd9_asm *a, const struct key *k)
{
    if (k->blend) {
        blend(a, k);
        return;
    }
    columns(a, umd9_reg(D3D9_RASTOUT, 0), in(0), C_WVP, 4);
    columns(a, t(0), in(0), C_WV, 4);
    if (!k->normal) {
        UMD9_OP(a, MOV, to(t(1), 15), only(c(C_NUMBERS), UMD9_X));
        return;
    }
    for (uint32_t i = 0; i < 3; i++)
        UMD9_OP(a, DP3, to(t(1), 1u << i), in(V_NORMAL), c(C_NORMAL + i));
    if (k->normalize)
        UMD9_OP(a, NRM, to(t(1), 7), t(1));
}

/* ---- light ---------------------------------------------------------------------------- */

/* r4: the direction to the light; r5.x: how much of it arrives. */
static void toward(struct umd9_asm *a, uint32_t b, uint8_t type)
{
    if (type == LIGHT_DIRECTIONAL) {
        UMD9_OP(a, MOV, to(t(4), 7), c(b + 3));
        UMD9_OP(a, MOV, to(t(5), 1), only(c(C_NUMBERS), UMD9_Y));
        return;
    }
    UMD9_OP(a, SUB, to(t(4), 7), c(b + 3), t(0));
    UMD9_OP(a, DP3, to(t(5), 2), t(4), t(4));
    UMD9_OP(a, MAX, to(t(5), 2), only(t(5), UMD9_Y), only(c(C_NUMBERS), UMD9_W));
    UMD9_OP(a, RSQ, to(t(5), 4), only(t(5), UMD9_Y));
    UMD9_OP(a, MUL, to(t(4), 7), t(4), only(t(5), UMD9_Z));
    UMD9_OP(a, MUL, to(t(5), 2), only(t(5), UMD9_Y), only(t(5), UMD9_Z)); /* the distance */
    UMD9_OP(a, MOV, to(t(6), 15), c(b + 5));
    UMD9_OP(a, MAD, to(t(5), 1), only(t(6), UMD9_Z), only(t(5), UMD9_Y), only(t(6), UMD9_Y));
    UMD9_OP(a, MAD, to(t(5), 1), only(t(5), UMD9_X), only(t(5), UMD9_Y), only(t(6), UMD9_X));
    UMD9_OP(a, RCP, to(t(5), 1), only(t(5), UMD9_X));
    UMD9_OP(a, SGE, to(t(5), 8), only(c(b + 3), UMD9_W), only(t(5), UMD9_Y)); /* within its range */
    UMD9_OP(a, MUL, to(t(5), 1), only(t(5), UMD9_X), only(t(5), UMD9_W));
    if (type != LIGHT_SPOT)
        return;
    UMD9_OP(a, MOV, to(t(6), 15), c(b + 6));
    UMD9_OP(a, DP3, to(t(5), 8), umd9_neg(t(4)), c(b + 4));
    UMD9_OP(a, SUB, to(t(5), 8), only(t(5), UMD9_W), only(t(6), UMD9_Y));
    UMD9_OP(a, MUL, to(t(5), 8), only(t(5), UMD9_W), only(t(6), UMD9_Z));
    UMD9_OP(a, SLT, to(t(5), 4), only(c(C_NUMBERS), UMD9_X), only(t(5), UMD9_W)); /* within its cone */
    UMD9_OP(a, MAX, to(t(5), 8), only(t(5), UMD9_W), only(c(C_NUMBERS), UMD9_W));
    UMD9_OP(a, MIN, to(t(5), 8), only(t(5), UMD9_W), only(c(C_NUMBERS), UMD9_Y));
    UMD9_OP(a, POW, to(t(5), 8), only(t(5), UMD9_W), only(t(6), UMD9_W));
    UMD9_OP(a, MUL, to(t(5), 8), only(t(5), UMD9_W), only(t(5), UMD9_Z));
    UMD9_OP(a, MUL, to(t(5), 1), only(t(5), UMD9_X), only(t(5), UMD9_W));
}

static void add_light(struct umd9_asm *a, const struct key *k, uint32_t b, uint8_t type)
{
    toward(a, b, type);
    UMD9_OP(a, MAD, to(t(8), 7), c(b + 2), only(t(5), UMD9_X), t(8));
    UMD9_OP(a, DP3, to(t(5), 2), t(1), t(4));
    UMD9_OP(a, MAX, to(t(5), 2), only(t(5), UMD9_Y), only(c(C_NUMBERS), UMD9_X));
    UMD9_OP(a, MUL, to(t(6), 1), only(t(5), UMD9_Y), only(t(5), UMD9_X));
    UMD9_OP(a, MAD, to(t(2), 7), c(b), only(t(6), UMD9_X), t(2));
    if (!k->highlights)
        return;
    UMD9_OP(a, ADD, to(t(6), 7), t(4), t(7));
    UMD9_OP(a, NRM, to(t(9), 7), t(6));
    UMD9_OP(a, DP3, to(t(6), 8), t(1), t(9));
    UMD9_OP(a, MAX, to(t(6), 8), only(t(6), UMD9_W), only(c(C_NUMBERS), UMD9_W));
    UMD9_OP(a, POW, to(t(6), 8), only(t(6), UMD9_W), only(c(C_GLOBAL), UMD9_W));
    UMD9_OP(a, SLT, to(t(6), 1), only(c(C_NUMBERS), UMD9_X), only(t(5), UMD9_Y)); /* the side that is lit */
    UMD9_OP(a, MUL, to(t(6), 8), only(t(6), UMD9_W), only(t(6), UMD9_X));
    UMD9_OP(a, MUL, to(t(6), 8), only(t(6), UMD9_W), only(t(5), UMD9_X));
    UMD9_OP(a, MAD, to(t(3), 7), c(b + 1), only(t(6), UMD9_W), t(3));
}

static uint32_t source_of(const struct key *k, int which)
{
    static const uint8_t materials[] = {C_DIFFUSE, C_AMBIENT, C_SPECULAR, C_EMISSIVE};

    return k->sources[which] == COLOUR1   ? in(V_DIFFUSE)
           : k->sources[which] == COLOUR2 ? in(V_SPECULAR)
                                          : c(materials[which]);
}

static void clamp(struct umd9_asm *a, uint32_t dst, uint32_t mask, uint32_t source)
{
    UMD9_OP(a, MAX, to(source, mask), source, only(c(C_NUMBERS), UMD9_X));
    UMD9_OP(a, MIN, to(dst, mask), source, only(c(C_NUMBERS), UMD9_Y));
}

static void light(struct umd9_asm *a, const struct key *k)
{
    const uint32_t diffuse = source_of(k, 0), ambient = source_of(k, 1), specular = source_of(k, 2);

    UMD9_OP(a, MOV, to(t(2), 15), only(c(C_NUMBERS), UMD9_X));
    UMD9_OP(a, MOV, to(t(3), 15), only(c(C_NUMBERS), UMD9_X));
    UMD9_OP(a, MOV, to(t(8), 15), c(C_GLOBAL));
    if (k->local_viewer)
        UMD9_OP(a, NRM, to(t(9), 7), t(0));
    else
        UMD9_OP(a, MOV, to(t(9), 3), only(c(C_NUMBERS), UMD9_X));
    if (!k->local_viewer)
        UMD9_OP(a, MOV, to(t(9), 4), only(c(C_NUMBERS), UMD9_Y));
    UMD9_OP(a, MOV, to(t(7), 7), umd9_neg(t(9)));
    for (uint32_t i = 0; i < MAX_LIGHTS && k->lights[i]; i++)
        add_light(a, k, C_LIGHT + LIGHT_ROWS * i, k->lights[i]);
    UMD9_OP(a, MUL, to(t(2), 7), t(2), diffuse);
    UMD9_OP(a, MAD, to(t(2), 7), t(8), ambient, t(2));
    UMD9_OP(a, ADD, to(t(2), 7), t(2), source_of(k, 3));
    UMD9_OP(a, MOV, to(t(2), 8), only(diffuse, UMD9_W));
    UMD9_OP(a, MUL, to(t(3), 7), t(3), specular);
    UMD9_OP(a, MOV, to(t(3), 8), only(specular, UMD9_W));
}

static void colours(struct umd9_asm *a, const struct key *k)
{
    if (k->lighting) {
        light(a, k);
    } else {
        UMD9_OP(a, MOV, to(t(2), 15), k->diffuse ? in(V_DIFFUSE) : only(c(C_NUMBERS), UMD9_Y));
        UMD9_OP(a, MOV, to(t(3), 15), k->specular ? in(V_SPECULAR) : only(c(C_NUMBERS), UMD9_X));
    }
    clamp(a, umd9_reg(D3D9_ATTROUT, 0), 15, t(2));
    clamp(a, umd9_reg(D3D9_ATTROUT, 1), 15, t(3));
}

/* ---- fog, points, coordinates ------------------------------------------------------------ */

static void fog(struct umd9_asm *a, const struct key *k)
{
    const uint32_t f = t(4);

    if (k->fog == FOG_SPECULAR) { /* the program computed it */
        UMD9_OP(a, MOV, to(umd9_reg(D3D9_RASTOUT, 1), 15),
                k->specular ? only(in(V_SPECULAR), UMD9_W) : only(c(C_NUMBERS), UMD9_X));
        return;
    }
    if (k->range_fog) {
        UMD9_OP(a, DP3, to(f, 1), t(0), t(0));
        UMD9_OP(a, MAX, to(f, 1), only(f, UMD9_X), only(c(C_NUMBERS), UMD9_W));
        UMD9_OP(a, RSQ, to(f, 2), only(f, UMD9_X));
        UMD9_OP(a, MUL, to(f, 1), only(f, UMD9_X), only(f, UMD9_Y));
    } else {
        UMD9_OP(a, MAX, to(f, 1), only(t(0), UMD9_Z), umd9_neg(only(t(0), UMD9_Z)));
    }
    if (k->fog == FOG_LINEAR) {
        UMD9_OP(a, MUL, to(f, 1), only(f, UMD9_X), only(c(C_FOG), UMD9_X));
        UMD9_OP(a, ADD, to(f, 1), only(f, UMD9_X), only(c(C_FOG), UMD9_Y));
    } else {
        if (k->fog == FOG_EXP2) { /* (density * distance)^2 */
            UMD9_OP(a, MUL, to(f, 2), only(f, UMD9_X), only(c(C_FOG), UMD9_W));
            UMD9_OP(a, MUL, to(f, 1), only(f, UMD9_X), only(f, UMD9_Y));
        }
        UMD9_OP(a, MUL, to(f, 1), only(f, UMD9_X), only(c(C_FOG), UMD9_Z));
        UMD9_OP(a, EXP, to(f, 1), only(f, UMD9_X));
    }
    UMD9_OP(a, MAX, to(f, 1), only(f, UMD9_X), only(c(C_NUMBERS), UMD9_X));
    UMD9_OP(a, MIN, to(f, 1), only(f, UMD9_X), only(c(C_NUMBERS), UMD9_Y));
    UMD9_OP(a, MOV, to(umd9_reg(D3D9_RASTOUT, 1), 15), only(f, UMD9_X));
}

static void point_size(struct umd9_asm *a, const struct key *k)
{
    const uint32_t s = t(4);

    UMD9_OP(a, MOV, to(s, 1), k->size ? only(in(V_SIZE), UMD9_X) : only(c(C_POINT), UMD9_W));
    if (k->point_scale && !k->transformed) {
        UMD9_OP(a, DP3, to(s, 2), t(0), t(0));
        UMD9_OP(a, MAX, to(s, 2), only(s, UMD9_Y), only(c(C_NUMBERS), UMD9_W));
        UMD9_OP(a, RSQ, to(s, 4), only(s, UMD9_Y));
        UMD9_OP(a, MUL, to(s, 4), only(s, UMD9_Y), only(s, UMD9_Z)); /* the distance */
        UMD9_OP(a, MOV, to(t(5), 15), c(C_POINT));
        UMD9_OP(a, MAD, to(s, 8), only(t(5), UMD9_Z), only(s, UMD9_Z), only(t(5), UMD9_Y));
        UMD9_OP(a, MAD, to(s, 8), only(s, UMD9_W), only(s, UMD9_Z), only(t(5), UMD9_X));
        UMD9_OP(a, MAX, to(s, 8), only(s, UMD9_W), only(c(C_NUMBERS), UMD9_W));
        UMD9_OP(a, RSQ, to(s, 8), only(s, UMD9_W));
        UMD9_OP(a, MUL, to(s, 1), only(s, UMD9_X), only(s, UMD9_W));
        UMD9_OP(a, MUL, to(s, 1), only(s, UMD9_X), only(c(C_POINT2), UMD9_X));
    }
    UMD9_OP(a, MOV, to(umd9_reg(D3D9_RASTOUT, 2), 15), only(s, UMD9_X));
}

/* r5 = 2 * (n . e) * n - e, of the eye's direction e. */
static void reflection(struct umd9_asm *a)
{
    UMD9_OP(a, NRM, to(t(6), 7), t(0));
    UMD9_OP(a, DP3, to(t(5), 8), t(6), t(1));
    UMD9_OP(a, ADD, to(t(5), 8), only(t(5), UMD9_W), only(t(5), UMD9_W));
    UMD9_OP(a, MUL, to(t(5), 7), t(1), only(t(5), UMD9_W));
    UMD9_OP(a, SUB, to(t(5), 7), t(6), t(5));
}

/* The stage's coordinates into r4, filled up as matrices want them: 1 behind the last, then 0. */
static void generate(struct umd9_asm *a, const struct coordinate *x)
{
    uint32_t have = x->size;

    UMD9_OP(a, MOV, to(t(4), 15), only(c(C_NUMBERS), UMD9_X));
    switch (x->generate) {
    case GENERATE_NORMAL:
        UMD9_OP(a, MOV, to(t(4), 7), t(1));
        have = 3;
        break;
    case GENERATE_POSITION:
        UMD9_OP(a, MOV, to(t(4), 7), t(0));
        have = 3;
        break;
    case GENERATE_REFLECTION:
        reflection(a);
        UMD9_OP(a, MOV, to(t(4), 7), t(5));
        have = 3;
        break;
    case GENERATE_SPHERE: /* r / (2 * |r + (0, 0, -1)|) + 0.5 */
        reflection(a);
        UMD9_OP(a, SUB, to(t(5), 4), only(t(5), UMD9_Z), only(c(C_NUMBERS), UMD9_Y));
        UMD9_OP(a, DP3, to(t(5), 8), t(5), t(5));
        UMD9_OP(a, MAX, to(t(5), 8), only(t(5), UMD9_W), only(c(C_NUMBERS), UMD9_W));
        UMD9_OP(a, RSQ, to(t(5), 8), only(t(5), UMD9_W));
        UMD9_OP(a, MUL, to(t(5), 8), only(t(5), UMD9_W), only(c(C_NUMBERS), UMD9_Z));
        UMD9_OP(a, MUL, to(t(4), 3), t(5), only(t(5), UMD9_W));
        UMD9_OP(a, ADD, to(t(4), 3), t(4), only(c(C_NUMBERS), UMD9_Z));
        have = 2;
        break;
    default:
        if (have)
            UMD9_OP(a, MOV, to(t(4), (1u << have) - 1), in(V_COORDINATES + x->index));
        break;
    }
    if (have < 4) /* behind the last there is one; of none that is the fourth */
        UMD9_OP(a, MOV, to(t(4), 1u << (have ? have : 3)), only(c(C_NUMBERS), UMD9_Y));
}

/* The coordinate that the others are divided by: there are no more than the vertex has, but for those that are made. */
static uint32_t last_of(const struct coordinate *x)
{
    return x->count == 4 && !x->generate && x->size == 3 ? 3 : x->count;
}

static void coordinates(struct umd9_asm *a, const struct key *k, uint32_t i)
{
    const struct coordinate *x = &k->coordinates[i];
    const uint32_t out = umd9_reg(D3D9_OUTPUT, i);

    if (!x->used)
        return;
    if (k->transformed || (!x->generate && !x->count)) {
        UMD9_OP(a, MOV, to(out, 15), x->size ? in(V_COORDINATES + x->index) : only(c(C_NUMBERS), UMD9_X));
        if (x->projected && x->size == 3 && !k->transformed)
            UMD9_OP(a, MOV, to(out, 8), only(in(V_COORDINATES + x->index), UMD9_Z));
        return;
    }
    generate(a, x);
    if (x->count) {
        columns(a, t(5), t(4), C_TEXTURE + 4 * i, 4);
        UMD9_OP(a, MOV, to(t(4), 15), t(5));
        if (x->projected) /* by the last of them; the sampler divides by w */
            UMD9_OP(a, MOV, to(t(4), 8), only(t(5), 0x55u * (last_of(x) - 1u)));
    }
    UMD9_OP(a, MOV, to(out, 15), t(4));
}

static void make(struct umd9_asm *a, const void *key)
{
    const struct key *k = key;
    uint32_t declared = 0;

    umd9_asm_dcl(a, k->transformed ? D3D9_USAGE_POSITIONT : D3D9_USAGE_POSITION, 0, to(in(0), 15));
    if (k->normal)
        umd9_asm_dcl(a, D3D9_USAGE_NORMAL, 0, to(in(V_NORMAL), 15));
    if (k->diffuse)
        umd9_asm_dcl(a, D3D9_USAGE_COLOR, 0, to(in(V_DIFFUSE), 15));
    if (k->specular)
        umd9_asm_dcl(a, D3D9_USAGE_COLOR, 1, to(in(V_SPECULAR), 15));
    if (k->size)
        umd9_asm_dcl(a, D3D9_USAGE_PSIZE, 0, to(in(V_SIZE), 15));
    if (k->blend > 1)
        umd9_asm_dcl(a, D3D9_USAGE_BLENDWEIGHT, 0, to(in(V_WEIGHT), 15));
    for (uint32_t i = 0; i < UMD9_STAGES; i++) {
        const struct coordinate *x = &k->coordinates[i];

        if (x->used && x->size && !(declared >> x->index & 1)) {
            declared |= 1u << x->index;
            umd9_asm_dcl(a, D3D9_USAGE_TEXCOORD, x->index, to(in(V_COORDINATES + x->index), 15));
        }
    }
    if (k->transformed)
        from_screen(a);
    else
        from_world(a, k);
    colours(a, k);
    if (k->fog)
        fog(a, k);
    if (k->size || k->point_scale)
        point_size(a, k);
    for (uint32_t i = 0; i < UMD9_STAGES; i++)
        coordinates(a, k, i);
}

/* ---- the state as a key, and as constants ------------------------------------------------- */

static void describe_vertex(const struct umd9_decl *decl, struct key *k, uint8_t sizes[8])
{
    for (uint32_t i = 0; i < decl->count; i++) {
        const D3DDDIVERTEXELEMENT *e = &decl->elements[i];

        if (e->Usage == D3D9_USAGE_POSITIONT && !e->UsageIndex)
            k->transformed = 1;
        else if (e->Usage == D3D9_USAGE_NORMAL && !e->UsageIndex)
            k->normal = 1;
        else if (e->Usage == D3D9_USAGE_COLOR && e->UsageIndex < 2)
            *(e->UsageIndex ? &k->specular : &k->diffuse) = 1;
        else if (e->Usage == D3D9_USAGE_PSIZE && !e->UsageIndex)
            k->size = 1;
        else if (e->Usage == D3D9_USAGE_TEXCOORD && e->UsageIndex < 8)
            sizes[e->UsageIndex] = e->Type <= 3 ? (uint8_t)(e->Type + 1) : 4;
    }
}

static uint8_t fog_of(const struct umd9_device *d, const struct key *k)
{
    uint32_t mode = d->rs[D3DRS_FOGVERTEXMODE];

    if (!d->rs[D3DRS_FOGENABLE] || d->rs[D3DRS_FOGTABLEMODE])
        return FOG_NONE;
    return k->transformed || !mode || mode > 3 ? FOG_SPECULAR : (uint8_t)mode;
}

static uint8_t colour_source(const struct umd9_device *d, const struct key *k, uint32_t state)
{
    uint32_t v = d->rs[D3DRS_COLORVERTEX] ? d->rs[state] : MATERIAL;

    if ((v == COLOUR1 && !k->diffuse) || (v == COLOUR2 && !k->specular) || v > COLOUR2)
        v = MATERIAL;
    return (uint8_t)v;
}

static void describe(const struct umd9_device *d, struct key *k)
{
    uint8_t sizes[8] = {0};
    uint32_t n = 0;

    describe_vertex(d->decl, k, sizes);
    if (!k->transformed && d->rs[D3DRS_VERTEXBLEND] >= 1 && d->rs[D3DRS_VERTEXBLEND] <= 3)
        k->blend = (uint8_t)(d->rs[D3DRS_VERTEXBLEND] + 1);
    k->lighting = !k->transformed && d->rs[D3DRS_LIGHTING];
    k->normalize = !k->transformed && d->rs[D3DRS_NORMALIZENORMALS];
    k->fog = fog_of(d, k);
    k->range_fog = k->fog && d->rs[D3DRS_RANGEFOGENABLE];
    k->point_scale = d->rs[D3DRS_POINTSCALEENABLE] != 0;
    if (k->lighting) {
        k->highlights = d->rs[D3DRS_SPECULARENABLE] != 0;
        k->local_viewer = d->rs[D3DRS_LOCALVIEWER] != 0;
        k->sources[0] = colour_source(d, k, D3DRS_DIFFUSEMATERIALSOURCE);
        k->sources[1] = colour_source(d, k, D3DRS_AMBIENTMATERIALSOURCE);
        k->sources[2] = colour_source(d, k, D3DRS_SPECULARMATERIALSOURCE);
        k->sources[3] = colour_source(d, k, D3DRS_EMISSIVEMATERIALSOURCE);
        for (const struct umd9_light *l = d->lights; l && n < MAX_LIGHTS; l = l->next)
            if (l->enabled && l->data.Type >= LIGHT_POINT && l->data.Type <= LIGHT_DIRECTIONAL)
                k->lights[n++] = (uint8_t)l->data.Type;
    }
    for (uint32_t i = 0; i < UMD9_STAGES; i++) {
        struct coordinate *x = &k->coordinates[i];
        uint32_t flags = d->tss[i][D3DDDITSS_TEXTURETRANSFORMFLAGS],
                 index = d->tss[i][D3DDDITSS_TEXCOORDINDEX];

        x->used = d->ps ? sizes[index & 7] || index >> 16 || flags : d->textures[i] != NULL;
        if (!x->used)
            continue;
        x->index = index & 7;
        x->size = sizes[x->index];
        x->generate = k->transformed ? 0 : index >> 16 & 7;
        x->count = flags & 7;
        /* one is none: no texture has so few */
        x->count = k->transformed || x->count == 1 ? 0 : x->count > 4 ? 4 : x->count;
        x->projected = (flags & 256) != 0;
    }
}

static void multiply(float out[4][4], float a[4][4], float b[4][4])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            out[i][j] = 0;
            for (int k = 0; k < 4; k++)
                out[i][j] += a[i][k] * b[k][j];
        }
}

static void put_columns(float (*out)[4], float m[4][4], int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < 4; j++)
            out[i][j] = m[j][i];
}

/* By cofactors; false: there is no inverse. */
static bool invert(float out[4][4], float m[4][4])
{
    float det = 0;

    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float s[9];
            int n = 0;

            for (int p = 0; p < 4; p++)
                for (int q = 0; q < 4; q++)
                    if (p != i && q != j)
                        s[n++] = m[p][q];
            out[j][i] = s[0] * (s[4] * s[8] - s[5] * s[7]) - s[1] * (s[3] * s[8] - s[5] * s[6]) +
                        s[2] * (s[3] * s[7] - s[4] * s[6]);
            if ((i + j) % 2)
                out[j][i] = -out[j][i];
        }
    for (int j = 0; j < 4; j++)
        det += m[0][j] * out[j][0];
    for (int i = 0; i < 16 && det != 0; i++)
        out[i / 4][i % 4] /= det;
    return det != 0;
}

/* Normals go by the transpose of the whole inverse, whose columns are the rows of the inverse. */
static void put_normal(float (*out)[4], float m[4][4])
{
    float back[4][4];
    const bool is = invert(back, m);

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            out[i][j] = is ? back[i][j] : m[j][i];
        out[i][3] = 0;
    }
}

static void to_view(float out[4], const float v[3], float w, float m[4][4])
{
    for (int j = 0; j < 3; j++)
        out[j] = v[0] * m[0][j] + v[1] * m[1][j] + v[2] * m[2][j] + w * m[3][j];
    out[3] = 0;
}

static void unit(float v[3])
{
    float n = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);

    for (int i = 0; n > 0 && i < 3; i++)
        v[i] /= n;
}

static void put_light(float (*out)[4], const D3DDDI_LIGHT *l, float view[4][4])
{
    float theta = cosf(l->Theta / 2), phi = cosf(l->Phi / 2), width = theta - phi;

    memcpy(out[0], l->Diffuse, 16);
    memcpy(out[1], l->Specular, 16);
    memcpy(out[2], l->Ambient, 16);
    to_view(out[4], l->Direction, 0, view);
    unit(out[4]);
    if (l->Type == LIGHT_DIRECTIONAL)
        for (int i = 0; i < 3; i++)
            out[3][i] = -out[4][i];
    else
        to_view(out[3], l->Position, 1, view);
    out[3][3] = l->Range;
    memcpy(out[5], (float[4]){l->Attenuation0, l->Attenuation1, l->Attenuation2, 0}, 16);
    memcpy(out[6], (float[4]){theta, phi, width > 1e-6f ? 1 / width : 1e6f, l->Falloff}, 16);
}

static float as_float(uint32_t v)
{
    float f;

    memcpy(&f, &v, sizeof(f));
    return f;
}

static void put_screen(const struct umd9_device *d, float (*out)[4])
{
    float width = (float)d->viewport.Width, height = (float)d->viewport.Height, depth = d->z.MaxZ - d->z.MinZ;

    memcpy(out[0], (float[4]){2 / width, -2 / height, depth > 0 ? 1 / depth : 1, 0}, 16);
    memcpy(out[1],
           (float[4]){-1 - 2 * (float)d->viewport.X / width, 1 + 2 * (float)d->viewport.Y / height,
                      depth > 0 ? -d->z.MinZ / depth : 0, 0},
           16);
}

static uint32_t constants(struct umd9_device *d, const struct key *k, float (*out)[4])
{
    const uint32_t ambient = d->rs[D3DRS_AMBIENT];
    const float start = as_float(d->rs[D3DRS_FOGSTART]), end = as_float(d->rs[D3DRS_FOGEND]),
                density = as_float(d->rs[D3DRS_FOGDENSITY]), length = end - start;
    float wv[4][4], wvp[4][4];
    uint32_t n = 0, rows = C_LIGHT;

    multiply(wv, d->world[0], d->view);
    multiply(wvp, wv, d->projection);
    put_columns(&out[C_WVP], wvp, 4);
    put_columns(&out[C_WV], wv, 4);
    put_normal(&out[C_NORMAL], wv);
    put_screen(d, &out[C_SCREEN]);
    memcpy(out[C_DIFFUSE], d->material.Diffuse, 16);
    memcpy(out[C_AMBIENT], d->material.Ambient, 16);
    memcpy(out[C_SPECULAR], d->material.Specular, 16);
    memcpy(out[C_EMISSIVE], d->material.Emissive, 16);
    for (int i = 0; i < 3; i++)
        out[C_GLOBAL][i] = (float)(ambient >> (16 - 8 * i) & 255) / 255.0f;
    out[C_GLOBAL][3] = d->material.Power;
    memcpy(out[C_FOG],
           (float[4]){length != 0 ? -1 / length : 0, length != 0 ? end / length : 0, -density * 1.442695f,
                      density},
           16);
    memcpy(out[C_NUMBERS], (float[4]){0, 1, 0.5f, 1e-12f}, 16);
    memcpy(out[C_POINT],
           (float[4]){as_float(d->rs[D3DRS_POINTSCALE_A]), as_float(d->rs[D3DRS_POINTSCALE_B]),
                      as_float(d->rs[D3DRS_POINTSCALE_C]), as_float(d->rs[D3DRS_POINTSIZE])},
           16);
    out[C_POINT2][0] = (float)d->viewport.Height;
    for (const struct umd9_light *l = d->lights; k->lighting && l && n < MAX_LIGHTS; l = l->next)
        if (l->enabled && l->data.Type >= LIGHT_POINT && l->data.Type <= LIGHT_DIRECTIONAL)
            put_light(&out[C_LIGHT + LIGHT_ROWS * n++], &l->data, d->view);
    rows += LIGHT_ROWS * n;
    for (uint32_t i = 0; i < UMD9_STAGES; i++)
        if (k->coordinates[i].count) {
            put_columns(&out[C_TEXTURE + 4 * i], d->texture[i], 4);
            rows = C_TEXTURE + 4 * i + 4;
        }
    if (k->blend) {
        put_columns(&out[C_PROJECTION], d->projection, 4);
        for (uint32_t i = 1; i < k->blend; i++) {
            multiply(wv, d->world[i], d->view);
            put_columns(&out[C_BLEND + 4 * (i - 1)], wv, 4);
        }
        rows = UMD9_FIXED_ROWS;
    }
    return rows;
}

void umd9_fixed_planes(const struct umd9_device *d, float out[6][4])
{
    float view[4][4], projection[4][4], both[4][4], back[4][4];

    memcpy(view, d->view, sizeof(view));
    memcpy(projection, d->projection, sizeof(projection));
    multiply(both, view, projection);
    if (!invert(back, both))
        return;
    for (int n = 0; n < 6; n++)
        for (int j = 0; j < 4; j++) {
            out[n][j] = 0;
            for (int i = 0; i < 4; i++)
                out[n][j] += back[j][i] * d->clip[n][i];
        }
}

uint32_t umd9_fixed_vertex(struct umd9_device *d)
{
    float rows[UMD9_FIXED_ROWS][4] = {{0}};
    struct key k;
    uint32_t count;

    memset(&k, 0, sizeof(k));
    describe(d, &k);
    count = constants(d, &k, rows);
    if (d->fixed_vs_rows < count || memcmp(rows, d->fixed_vs, count * sizeof(rows[0]))) {
        memcpy(d->fixed_vs, rows, count * sizeof(rows[0]));
        d->fixed_vs_rows = count;
        umd9_own_constants(d, false, 0, rows, count);
    }
    return umd9_generated(d, &d->generated_vs, false, &k, sizeof(k), make);
}
