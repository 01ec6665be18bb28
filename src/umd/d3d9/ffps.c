/* SPDX-License-Identifier: MIT */
/* ffps.c: texture stages as a pixel shader. r0 is CURRENT, r1 TEMP, r2 the stage's texel, r3 to r5 its arguments, r10 the coordinates that
 * the texel before moves. */
#include "umd/d3d9/asm.h"
#include "umd/d3d9/umd9.h"

enum {
    C_FACTOR = 0,
    C_STAGE = 1,
    C_BUMP = 9,    /* two rows of each stage: the matrix; scale and offset of luminance */
    C_NUMBERS = 31 /* 0.5, 2, 4, 1 */
};
enum {
    OP_DISABLE = 1,
    OP_SELECT1,
    OP_SELECT2,
    OP_MODULATE,
    OP_MODULATE2X,
    OP_MODULATE4X,
    OP_ADD,
    OP_ADDSIGNED,
    OP_ADDSIGNED2X,
    OP_SUBTRACT,
    OP_ADDSMOOTH,
    OP_BLEND_DIFFUSE,
    OP_BLEND_TEXTURE,
    OP_BLEND_FACTOR,
    OP_BLEND_TEXTURE_PM,
    OP_BLEND_CURRENT,
    OP_PREMODULATE,
    OP_ALPHA_ADDCOLOR,
    OP_COLOR_ADDALPHA,
    OP_INVALPHA_ADDCOLOR,
    OP_INVCOLOR_ADDALPHA,
    OP_BUMP,
    OP_BUMP_LUMINANCE,
    OP_DOT3,
    OP_MULTIPLYADD,
    OP_LERP,
    OP_COUNT
};
enum {
    ARG_DIFFUSE,
    ARG_CURRENT,
    ARG_TEXTURE,
    ARG_FACTOR,
    ARG_SPECULAR,
    ARG_TEMP,
    ARG_CONSTANT,
    ARG_SELECT = 15,
    ARG_COMPLEMENT = 16,
    ARG_ALPHA = 32
};

struct stage {
    uint8_t op[2], arg[2][3]; /* colour, alpha; arguments 0, 1, 2 */
    uint8_t result, texture, projected;
    uint8_t bump; /* its texel moves the next stage's coordinates: OP_BUMP, OP_BUMP_LUMINANCE */
};

struct key {
    struct stage stages[UMD9_STAGES];
    uint8_t specular;
};

static uint32_t num(uint32_t component)
{
    return umd9_swizzle(umd9_const(C_NUMBERS), component);
}

/* An argument as a source, computed into `scratch` where it takes computing. */
static uint32_t argument(struct umd9_asm *a, uint32_t stage, uint8_t arg, uint32_t scratch)
{
    uint32_t s;

    switch (arg & ARG_SELECT) {
    case ARG_DIFFUSE:
        s = umd9_reg(D3D9_INPUT, 0);
        break;
    case ARG_TEXTURE:
        s = umd9_temp(2);
        break;
    case ARG_FACTOR:
        s = umd9_const(C_FACTOR);
        break;
    case ARG_SPECULAR:
        s = umd9_reg(D3D9_INPUT, 1);
        break;
    case ARG_TEMP:
        s = umd9_temp(1);
        break;
    case ARG_CONSTANT:
        s = umd9_const(C_STAGE + stage);
        break;
    default:
        s = umd9_temp(0);
        break;
    }
    if (arg & ARG_ALPHA)
        s = umd9_swizzle(s, UMD9_W);
    if (arg & ARG_COMPLEMENT)
        UMD9_OP(a, SUB, umd9_dst(umd9_temp(scratch), 15), num(UMD9_W), s);
    else /* everything into a temporary: an instruction reads one constant */
        UMD9_OP(a, MOV, umd9_dst(umd9_temp(scratch), 15), s);
    return umd9_temp(scratch);
}

static void blend(struct umd9_asm *a, uint32_t dst, uint32_t by, uint32_t x, uint32_t y)
{
    UMD9_OP(a, MOV, umd9_dst(umd9_temp(6), 15), umd9_swizzle(by, UMD9_W));
    UMD9_OP(a, LRP, dst, umd9_temp(6), x, y);
}

/* dst = x op y, of what a computed before; b0 is argument 0. */
static void operate(struct umd9_asm *a, uint8_t op, uint32_t dst, uint32_t b0, uint32_t x, uint32_t y)
{
    const uint32_t t = umd9_temp(6), td = umd9_dst(t, 15), xa = umd9_swizzle(x, UMD9_W);

    switch (op) {
    case OP_SELECT2:
        UMD9_OP(a, MOV, dst, y);
        break;
    case OP_MODULATE:
        UMD9_OP(a, MUL, dst, x, y);
        break;
    case OP_MODULATE2X:
    case OP_MODULATE4X:
        UMD9_OP(a, MUL, td, x, y);
        UMD9_OP(a, MUL, dst, t, num(op == OP_MODULATE2X ? UMD9_Y : UMD9_Z));
        break;
    case OP_ADD:
        UMD9_OP(a, ADD, dst, x, y);
        break;
    case OP_ADDSIGNED:
    case OP_ADDSIGNED2X:
        UMD9_OP(a, ADD, td, x, y);
        UMD9_OP(a, SUB, op == OP_ADDSIGNED ? dst : td, t, num(UMD9_X));
        if (op == OP_ADDSIGNED2X)
            UMD9_OP(a, MUL, dst, t, num(UMD9_Y));
        break;
    case OP_SUBTRACT:
        UMD9_OP(a, SUB, dst, x, y);
        break;
    case OP_ADDSMOOTH:
        UMD9_OP(a, SUB, td, num(UMD9_W), x);
        UMD9_OP(a, MAD, dst, t, y, x);
        break;
    case OP_BLEND_DIFFUSE:
        blend(a, dst, umd9_reg(D3D9_INPUT, 0), x, y);
        break;
    case OP_BLEND_TEXTURE:
        blend(a, dst, umd9_temp(2), x, y);
        break;
    case OP_BLEND_FACTOR:
        blend(a, dst, umd9_const(C_FACTOR), x, y);
        break;
    case OP_BLEND_CURRENT:
        blend(a, dst, umd9_temp(0), x, y);
        break;
    case OP_BLEND_TEXTURE_PM:
        UMD9_OP(a, SUB, td, num(UMD9_W), umd9_swizzle(umd9_temp(2), UMD9_W));
        UMD9_OP(a, MAD, dst, t, y, x);
        break;
    case OP_ALPHA_ADDCOLOR:
        UMD9_OP(a, MAD, dst, xa, y, x);
        break;
    case OP_COLOR_ADDALPHA:
        UMD9_OP(a, MAD, dst, x, y, xa);
        break;
    case OP_INVALPHA_ADDCOLOR:
        UMD9_OP(a, SUB, td, num(UMD9_W), xa);
        UMD9_OP(a, MAD, dst, t, y, x);
        break;
    case OP_INVCOLOR_ADDALPHA:
        UMD9_OP(a, SUB, td, num(UMD9_W), x);
        UMD9_OP(a, MAD, dst, t, y, xa);
        break;
    case OP_DOT3: /* of what -1 to 1 is 0 to 1: 4 * (x - 0.5) * (y - 0.5) */
        UMD9_OP(a, SUB, td, x, num(UMD9_X));
        UMD9_OP(a, SUB, umd9_dst(umd9_temp(7), 15), y, num(UMD9_X));
        UMD9_OP(a, DP3, td, t, umd9_temp(7));
        UMD9_OP(a, MUL, dst, t, num(UMD9_Z));
        break;
    case OP_MULTIPLYADD:
        UMD9_OP(a, MAD, dst, x, y, b0);
        break;
    case OP_LERP:
        UMD9_OP(a, LRP, dst, b0, x, y);
        break;
    default:
        UMD9_OP(a, MOV, dst, x);
        break;
    }
}

/* The stage's texel, where the one before moves its coordinates, and maybe darkens it. */
static void sample_bumped(struct umd9_asm *a, const struct stage *s, uint32_t i, uint8_t bump)
{
    const uint32_t at = umd9_temp(10), c = umd9_const(C_BUMP + 2 * (i - 1)),
                   x = umd9_swizzle(umd9_temp(2), UMD9_X), y = umd9_swizzle(umd9_temp(2), UMD9_Y);

    UMD9_OP(a, MOV, umd9_dst(at, 15), umd9_reg(D3D9_ADDRESS, i));
    if (s->projected) {
        UMD9_OP(a, RCP, umd9_dst(at, 8), umd9_swizzle(at, UMD9_W));
        UMD9_OP(a, MUL, umd9_dst(at, 7), at, umd9_swizzle(at, UMD9_W));
    }
    UMD9_OP(a, MOV, umd9_dst(umd9_temp(11), 15), c);
    UMD9_OP(a, MAD, umd9_dst(at, 3), umd9_temp(11), x, at);
    UMD9_OP(a, MAD, umd9_dst(at, 3), umd9_swizzle(umd9_temp(11), 0xEE), y, at);
    if (bump == OP_BUMP_LUMINANCE) {
        UMD9_OP(a, MOV, umd9_dst(umd9_temp(11), 15), umd9_const(C_BUMP + 2 * (i - 1) + 1));
        UMD9_OP(a, MAD, umd9_saturate(umd9_dst(umd9_temp(11), 4)), umd9_swizzle(umd9_temp(2), UMD9_Z),
                umd9_swizzle(umd9_temp(11), UMD9_X), umd9_swizzle(umd9_temp(11), UMD9_Y));
    }
    umd9_op(a, D3D9_TEX, 3, umd9_dst(umd9_temp(2), 15), at, umd9_reg(D3D9_SAMPLER, i));
    if (bump == OP_BUMP_LUMINANCE)
        UMD9_OP(a, MUL, umd9_dst(umd9_temp(2), 15), umd9_temp(2), umd9_swizzle(umd9_temp(11), UMD9_Z));
}

static void emit_stage(struct umd9_asm *a, const struct stage *s, uint32_t i, uint8_t bump)
{
    const uint32_t coordinates = umd9_reg(D3D9_ADDRESS, i);
    uint32_t result = umd9_temp(s->result == ARG_TEMP ? 1 : 0), values[2];

    if (s->texture && bump)
        sample_bumped(a, s, i, bump);
    else if (s->texture)
        umd9_op(a, D3D9_TEX | (s->projected ? 1u << 16 : 0), 3, umd9_dst(umd9_temp(2), 15), coordinates,
                umd9_reg(D3D9_SAMPLER, i));
    if (s->bump) /* it only moves what follows */
        return;
    for (int alpha = 0; alpha < 2; alpha++) {
        uint32_t b[3];

        values[alpha] = umd9_temp(alpha ? 9 : 8);
        if (s->op[alpha] == OP_DISABLE) {
            UMD9_OP(a, MOV, umd9_dst(values[alpha], 15), umd9_temp(0));
            continue;
        }
        for (uint32_t k = 0; k < 3; k++)
            b[k] = argument(a, i, s->arg[alpha][k], 3 + k);
        operate(a, s->op[alpha], umd9_saturate(umd9_dst(values[alpha], 15)), b[0], b[1], b[2]);
    }
    UMD9_OP(a, MOV, umd9_dst(result, 7), values[0]);
    UMD9_OP(a, MOV, umd9_dst(result, 8), s->op[0] == OP_DOT3 ? values[0] : values[1]);
}

static void make(struct umd9_asm *a, const void *key)
{
    const struct key *k = key;

    umd9_asm_def(a, C_NUMBERS, 0.5f, 2, 4, 1);
    umd9_asm_dcl(a, 0, 0, umd9_dst(umd9_reg(D3D9_INPUT, 0), 15));
    umd9_asm_dcl(a, 0, 0, umd9_dst(umd9_reg(D3D9_INPUT, 1), 15));
    for (uint32_t i = 0; i < UMD9_STAGES && k->stages[i].op[0]; i++)
        if (k->stages[i].texture) {
            umd9_asm_dcl(a, 0, 0, umd9_dst(umd9_reg(D3D9_ADDRESS, i), 15));
            umd9_asm_sampler(a, i, k->stages[i].texture);
        }
    UMD9_OP(a, MOV, umd9_dst(umd9_temp(0), 15), umd9_reg(D3D9_INPUT, 0));
    UMD9_OP(a, SUB, umd9_dst(umd9_temp(1), 15), umd9_temp(0), umd9_temp(0));
    for (uint32_t i = 0; i < UMD9_STAGES && k->stages[i].op[0]; i++)
        emit_stage(a, &k->stages[i], i, i ? k->stages[i - 1].bump : 0);
    if (k->specular)
        UMD9_OP(a, ADD, umd9_saturate(umd9_dst(umd9_temp(0), 7)), umd9_temp(0), umd9_reg(D3D9_INPUT, 1));
    UMD9_OP(a, MOV, umd9_dst(umd9_reg(D3D9_COLOROUT, 0), 15), umd9_temp(0));
}

/* Whether an operation reads argument `n`. */
static bool reads(uint8_t op, int n)
{
    if (n == 0)
        return op == OP_MULTIPLYADD || op == OP_LERP;
    return n == 1 ? op != OP_SELECT2 : op != OP_SELECT1;
}

static void describe_half(struct umd9_device *d, uint32_t i, struct stage *s, int alpha, bool textured)
{
    const uint32_t *t = d->tss[i];
    const uint32_t args[2][3] = {{t[D3DDDITSS_COLORARG0], t[D3DDDITSS_COLORARG1], t[D3DDDITSS_COLORARG2]},
                                 {t[D3DDDITSS_ALPHAARG0], t[D3DDDITSS_ALPHAARG1], t[D3DDDITSS_ALPHAARG2]}};
    uint32_t op = t[alpha ? D3DDDITSS_ALPHAOP : D3DDDITSS_COLOROP];
    bool missing = false;

    if (!op || op >= OP_COUNT || op == OP_PREMODULATE)
        op = alpha ? OP_DISABLE : OP_SELECT1;
    if (!alpha && (op == OP_BUMP || op == OP_BUMP_LUMINANCE) && textured)
        s->bump = (uint8_t)op;
    if (op == OP_BUMP || op == OP_BUMP_LUMINANCE)
        op = alpha ? OP_DISABLE : OP_SELECT1;
    for (int n = 0; n < 3; n++) {
        uint8_t arg = args[alpha][n] & 63;

        if ((arg & ARG_SELECT) == ARG_CURRENT && i == 0)
            arg = (uint8_t)((arg & ~ARG_SELECT) | ARG_DIFFUSE);
        s->arg[alpha][n] = reads((uint8_t)op, n) ? arg : ARG_CURRENT;
        missing |= !textured && (s->arg[alpha][n] & ARG_SELECT) == ARG_TEXTURE;
    }
    missing |= !textured && (op == OP_BLEND_TEXTURE || op == OP_BLEND_TEXTURE_PM);
    if (missing && op != OP_DISABLE) { /* what reads a texture that there is not, hands on what it gets */
        op = OP_SELECT1;
        memset(s->arg[alpha], ARG_CURRENT, sizeof(s->arg[alpha]));
    }
    s->op[alpha] = (uint8_t)op;
}

uint32_t umd9_fixed_pixel(struct umd9_device *d)
{
    struct key k;
    float c[C_BUMP + 2 * UMD9_STAGES][4] = {{0}};
    uint32_t used = 1;
    bool bumps = false;

    memset(&k, 0, sizeof(k));
    for (uint32_t i = 0; i < UMD9_STAGES && d->tss[i][D3DDDITSS_COLOROP] > OP_DISABLE; i++, used = 1 + i) {
        const struct umd9_resource *r = d->textures[i];
        struct stage *s = &k.stages[i];

        s->texture = r ? umd9_dim(r) : 0;
        s->projected =
            s->texture && s->texture != D3D9_TEXTURE_CUBE && d->tss[i][D3DDDITSS_TEXTURETRANSFORMFLAGS] & 256;
        s->result = d->tss[i][D3DDDITSS_RESULTARG] & ARG_SELECT;
        describe_half(d, i, s, 0, r != NULL);
        describe_half(d, i, s, 1, r != NULL);
        bumps |= s->bump != 0;
    }
    k.specular = d->rs[D3DRS_SPECULARENABLE] != 0;
    for (uint32_t i = 0; i < used; i++) {
        uint32_t v = i ? d->tss[i - 1][D3DDDITSS_CONSTANT] : d->rs[D3DRS_TEXTUREFACTOR];

        for (uint32_t n = 0; n < 4; n++)
            c[i][n] = (float)(v >> (n == 3 ? 24 : 16 - 8 * n) & 255) / 255.0f;
    }
    if (bumps) {
        for (uint32_t i = 0; i < UMD9_STAGES; i++)
            for (uint32_t n = 0; n < 4; n++) {
                memcpy(&c[C_BUMP + 2 * i][n], &d->tss[i][D3DDDITSS_BUMPENVMAT00 + n], 4);
                if (n < 2)
                    memcpy(&c[C_BUMP + 2 * i + 1][n], &d->tss[i][D3DDDITSS_BUMPENVLSCALE + n], 4);
            }
        used = C_BUMP + 2 * UMD9_STAGES;
    }
    if (memcmp(d->fixed_ps, c, used * sizeof(c[0])) || d->fixed_ps_rows < used) {
        memcpy(d->fixed_ps, c, used * sizeof(c[0]));
        d->fixed_ps_rows = used;
        umd9_own_constants(d, true, 0, c, used);
    }
    return umd9_generated(d, &d->generated_ps, true, &k, sizeof(k), make);
}
