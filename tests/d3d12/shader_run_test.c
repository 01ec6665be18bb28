/* SPDX-License-Identifier: MIT */
/* shader_run_test.c: what instructions make of values is what Direct3D says of them, and nothing is known that is not. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/dxbc/sm4_tokens.h"
#include "d3d12/view/shader_run.h"

enum { VERTEX = 0x10050, VERTEX_51 = 0x10051, PIXEL = 0x50, WORDS = 512 };
enum { ANY = 0x7fc00000, INF = 0x7f800000 };
#define F(x) bits_of(x)

static uint32_t bits_of(float f)
{
    uint32_t u;

    memcpy(&u, &f, 4);
    return u;
}

/* ---- programs ------------------------------------------------------------ */

struct program {
    uint32_t words[WORDS], num, start;
};

static void word(struct program *p, uint32_t w)
{
    assert_true(p->num < WORDS);
    p->words[p->num++] = w;
}

static void begin(struct program *p, uint32_t stage)
{
    p->num = 0;
    word(p, stage);
    word(p, 0);
}

/* `bits`: what the opcode token has besides. Ends with end(). */
static void op(struct program *p, uint32_t opcode, uint32_t bits)
{
    p->start = p->num;
    word(p, opcode | bits);
}

static void end(struct program *p)
{
    p->words[p->start] |= (p->num - p->start) << 24;
}

enum { MASK = 2, SWIZZLE = 2 | 1 << 2, ONE = 2 | 2 << 2, XYZW = 0xe4, ALL = 15 };

static void reg(struct program *p, uint32_t how, uint32_t which, uint32_t type, uint32_t n)
{
    word(p, how | which << 4 | type << 12 | 1 << 20);
    word(p, n);
}

/* Of two indices. */
static void reg2(struct program *p, uint32_t how, uint32_t which, uint32_t type, uint32_t a, uint32_t b)
{
    word(p, how | which << 4 | type << 12 | 2 << 20);
    word(p, a);
    word(p, b);
}

/* Of a range; with model 5.1 these name it, and the register or first and last. */
static void reg3(struct program *p, uint32_t how, uint32_t which, uint32_t type, uint32_t a, uint32_t b,
                 uint32_t c)
{
    word(p, how | which << 4 | type << 12 | 3 << 20);
    word(p, a);
    word(p, b);
    word(p, c);
}

static void out(struct program *p, uint32_t n)
{
    reg(p, MASK, ALL, SM4_OUTPUT, n);
}

static void in(struct program *p, uint32_t n)
{
    reg(p, SWIZZLE, XYZW, SM4_INPUT, n);
}

static void number(struct program *p, uint32_t v)
{
    word(p, 1 | SM4_IMM32 << 12);
    word(p, v);
}

static void plain(struct program *p, uint32_t opcode)
{
    op(p, opcode, 0);
    end(p);
}

static void set(struct program *p, uint32_t n, uint32_t v)
{
    op(p, 54, 0);
    out(p, n);
    number(p, v);
    end(p);
}

static void declare_temps(struct program *p, uint32_t n)
{
    op(p, SM4_OP_DCL_TEMPS, 0);
    word(p, n);
    end(p);
}

/* ---- running ------------------------------------------------------------- */

static struct shader_code *code_of(struct program *p)
{
    static struct dxbc d;

    p->words[1] = p->num;
    d = (struct dxbc){.chunk_count = 1};
    d.chunks[0] = (struct dxbc_chunk){
        .fourcc = DXBC_FOURCC('S', 'H', 'E', 'X'), .size = 4 * p->num, .data = (const uint8_t *)p->words};
    return shader_code(&d);
}

static void constants(void *ctx, struct shader_place b, uint32_t row, struct shader_value *four)
{
    for (unsigned k = 0; k < 3; k++) /* w is not known */
        four[k] = (struct shader_value){100000 * b.space + 1000 * b.reg + 10 * row + k, true};
}

static void buffer(void *ctx, struct shader_place t, uint32_t stride, uint64_t element, uint64_t at,
                   struct shader_value *one)
{
    *one = (struct shader_value){(uint32_t)(100000 * t.space + 1000 * t.reg + stride * element + at), true};
}

/* Adds the end, and runs it with inputs that are numbers without a fraction: v2.y is 9; v8 and more are not known. */
static bool run(struct program *p, struct shader_run *x)
{
    struct shader_code *c;
    bool got;

    plain(p, SM4_OP_RET);
    c = code_of(p);
    assert_non_null(c);
    x->constants = constants;
    x->buffer = buffer;
    for (unsigned k = 0; k < 8; k++)
        for (unsigned m = 0; m < 4; m++)
            if (!x->in[k][m].known)
                x->in[k][m] = (struct shader_value){4 * k + m, true};
    got = shader_run(c, x);
    shader_code_free(c);
    return got;
}

static void is_row(const struct shader_value *v, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t want[] = {a, b, c, d};

    for (unsigned k = 0; k < 4; k++) {
        assert_true(v[k].known);
        assert_int_equal(v[k].bits, want[k]);
    }
}

static void is_unknown(const struct shader_value *v)
{
    for (unsigned k = 0; k < 4; k++)
        assert_false(v[k].known);
}

/* ---- tests --------------------------------------------------------------- */

/* Of up to three sources; sources that are not there are left out of `sources`. */
static const struct {
    const char *name;
    uint32_t op, sources, of[3];
    float f;        /* what comes out of it as a number, or */
    uint32_t other; /* as bits, where `f` is 0 */
} arithmetic[] = {
    {"add", 0, 2, {0x3fc00000, 0x40000000}, 3.5f, 0},
    {"and", 1, 2, {0xff00ff00, 0x0ff00ff0}, 0, 0x0f000f00},
    {"div", 14, 2, {0x40e00000, 0x40000000}, 3.5f, 0},
    {"div by zero", 14, 2, {0x3f800000, 0}, 0, INF},
    {"eq", 24, 2, {0x3f800000, 0x3f800000}, 0, 0xffffffff},
    {"eq of zeros", 24, 2, {0, 0x80000000}, 0, 0xffffffff},
    {"eq of no number", 24, 2, {ANY, ANY}, 0, 0},
    {"exp", 25, 1, {0x40400000}, 8, 0},
    {"frc", 26, 1, {0xbfa00000}, 0.75f, 0}, /* -1.25 */
    {"ftoi", 27, 1, {0xc0200000}, 0, (uint32_t)-2},
    {"ftoi of too much", 27, 1, {0x50000000}, 0, 0x7fffffff},
    {"ftoi of too little", 27, 1, {0xd0000000}, 0, 0x80000000},
    {"ftoi of no number", 27, 1, {ANY}, 0, 0},
    {"ftou", 28, 1, {0x40200000}, 0, 2},
    {"ftou of less than nothing", 28, 1, {0xc0200000}, 0, 0},
    {"ftou of too much", 28, 1, {0x50000000}, 0, 0xffffffff},
    {"ge", 29, 2, {0x3f800000, 0x3f800000}, 0, 0xffffffff},
    {"ge of no number", 29, 2, {ANY, 0x3f800000}, 0, 0},
    {"iadd", 30, 2, {0xffffffff, 3}, 0, 2},
    {"ieq", 32, 2, {0, 0x80000000}, 0, 0},
    {"ige", 33, 2, {0xffffffff, 1}, 0, 0},
    {"ilt", 34, 2, {0xffffffff, 1}, 0, 0xffffffff},
    {"imad", 35, 3, {0xffffffff, 5, 7}, 0, 2},
    {"imax", 36, 2, {0xffffffff, 1}, 0, 1},
    {"imin", 37, 2, {0xffffffff, 1}, 0, 0xffffffff},
    {"ine", 39, 2, {4, 5}, 0, 0xffffffff},
    {"ineg", 40, 1, {5}, 0, (uint32_t)-5},
    {"ishl", 41, 2, {3, 33}, 0, 6},
    {"ishr", 42, 2, {0x80000000, 4}, 0, 0xf8000000},
    {"itof", 43, 1, {(uint32_t)-3}, -3, 0},
    {"log", 47, 1, {0x41000000}, 3, 0},
    {"lt", 49, 2, {0x3f800000, 0x40000000}, 0, 0xffffffff},
    {"mad", 50, 3, {0x40000000, 0x40400000, 0x3f000000}, 6.5f, 0},
    {"min", 51, 2, {0x40000000, 0xc0400000}, -3, 0},
    {"min of no number", 51, 2, {ANY, 0x40400000}, 3, 0},
    {"max", 52, 2, {0x40000000, 0xc0400000}, 2, 0},
    {"mov", 54, 1, {0x12345678}, 0, 0x12345678},
    {"movc of something", 55, 3, {1, 7, 8}, 0, 7},
    {"movc of nothing", 55, 3, {0, 7, 8}, 0, 8},
    {"mul", 56, 2, {0x40400000, 0xbf000000}, -1.5f, 0},
    {"ne", 57, 2, {ANY, ANY}, 0, 0xffffffff},
    {"not", 59, 1, {0x0f0f0f0f}, 0, 0xf0f0f0f0},
    {"or", 60, 2, {0xf0, 0x0f}, 0, 0xff},
    {"round_ne", 64, 1, {0x40200000}, 2, 0},  /* 2.5 */
    {"round_ni", 65, 1, {0xbfa00000}, -2, 0}, /* -1.25 */
    {"round_pi", 66, 1, {0xbfa00000}, -1, 0},
    {"round_z", 67, 1, {0xbfe00000}, -1, 0}, /* -1.75 */
    {"rsq", 68, 1, {0x41800000}, 0.25f, 0},
    {"sqrt", 75, 1, {0x41800000}, 4, 0},
    {"ult", 79, 2, {1, 0xffffffff}, 0, 0xffffffff},
    {"uge", 80, 2, {1, 0xffffffff}, 0, 0},
    {"umad", 82, 3, {3, 4, 5}, 0, 17},
    {"umax", 83, 2, {1, 0xffffffff}, 0, 0xffffffff},
    {"umin", 84, 2, {1, 0xffffffff}, 0, 1},
    {"ushr", 85, 2, {0x80000000, 36}, 0, 0x08000000},
    {"utof", 86, 1, {0x80000000}, 2147483648.0f, 0},
    {"xor", 87, 2, {0xff, 0x0f}, 0, 0xf0},
    {"rcp", 129, 1, {0x40800000}, 0.25f, 0},
};

TEST(numbers_are_what_direct3d_says)
{
    for (size_t i = 0; i < sizeof(arithmetic) / sizeof(arithmetic[0]); i++)
        for (uint32_t lacks = 0; lacks <= arithmetic[i].sources;
             lacks++) { /* which is not known; the last: none */
            const uint32_t want = arithmetic[i].f != 0 ? bits_of(arithmetic[i].f) : arithmetic[i].other;
            struct shader_run x = {0};
            struct program p;

            begin(&p, VERTEX);
            op(&p, arithmetic[i].op, 0);
            out(&p, 3);
            for (uint32_t k = 0; k < arithmetic[i].sources; k++)
                if (k == lacks)
                    in(&p, 9);
                else
                    number(&p, arithmetic[i].of[k]);
            end(&p);
            assert_true(run(&p, &x));
            for (unsigned m = 0; m < 4; m++) {
                const struct shader_value *v = &x.out[3][m];
                /* of movc the one that is not taken may be anything */
                const bool known = lacks == arithmetic[i].sources ||
                                   (arithmetic[i].op == 55 && lacks == (arithmetic[i].of[0] ? 2 : 1));

                if (v->known != known || (known && v->bits != want))
                    fail_msg("%s without source %u: %s %08x", arithmetic[i].name, lacks,
                             v->known ? "known" : "unknown", v->bits);
            }
            assert_int_equal(x.written[3], ALL);
            assert_int_equal(x.written[2], 0);
        }
}

/* Arithmetic flushes what is too small to be normal, on its way in and out, and moves do not; what may do either is not known. */
TEST(denormals_are_flushed_by_arithmetic_alone)
{
    enum { TINY = 5, MINUS_TINY = (int)0x80000005u, LEAST = 0x00800000, HALF = 0x3f000000 };
    static const struct {
        const char *name;
        uint32_t op, bits, sources, of[3], want;
        bool known;
    } all[] = {
        {"mov", 54, 0, 1, {TINY}, TINY, true},
        {"movc", 55, 0, 3, {TINY, TINY, 8}, TINY, true},
        {"or", 60, 0, 2, {TINY, 0}, TINY, true},
        {"mul of one", 56, 0, 2, {TINY, 0x7e800000}, 0, true},
        {"mul of less than nothing", 56, 0, 2, {0x3f800000, (uint32_t)MINUS_TINY}, 0x80000000, true},
        {"mul to one", 56, 0, 2, {LEAST, HALF}, 0, true},
        {"add to one", 0, 0, 2, {LEAST + 1, LEAST | 1u << 31}, 0, true},
        {"mad", 50, 0, 3, {LEAST, HALF, TINY}, 0, true},
        {"rcp", 129, 0, 1, {TINY}, INF, true},
        {"sqrt", 75, 0, 1, {TINY}, 0, true},
        {"log", 47, 0, 1, {TINY}, 0xff800000, true},
        {"ne", 57, 0, 2, {TINY, 0}, 0, true},
        {"lt", 49, 0, 2, {0, TINY}, 0, true},
        {"ge", 29, 0, 2, {(uint32_t)MINUS_TINY, TINY}, UINT32_MAX, true},
        {"round_pi", 66, 0, 1, {TINY}, 0, true},
        {"dp2", 15, 0, 2, {TINY, 0x7e800000}, 0, true},
        {"sincos", 77, 0, 1, {TINY}, 0, true},
        {"min", 51, 0, 2, {TINY, 0x3f800000}, 0, false},
        {"min of another", 51, 0, 2, {TINY, 0xbf800000}, 0xbf800000, true},
        {"max", 52, 0, 2, {TINY, 0xbf800000}, 0, false},
        {"mov_sat", 54, 1 << 13, 1, {TINY}, 0, false},
        {"mov -", 54, 1, 1, {TINY}, 0, false},
        {"mul_sat", 56, 1 << 13, 2, {TINY, 0x7e800000}, 0, true},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct shader_run x = {0};
        struct program p;

        begin(&p, VERTEX);
        op(&p, all[i].op, all[i].bits & 1 << 13);
        out(&p, 0);
        if (all[i].op == 77)
            word(&p, SM4_NULL << 12);
        for (uint32_t k = 0; k < all[i].sources; k++) {
            x.in[k][0] = x.in[k][1] = x.in[k][2] = x.in[k][3] = (struct shader_value){all[i].of[k], true};
            word(&p, SWIZZLE | XYZW << 4 | SM4_INPUT << 12 | 1 << 20 | (all[i].bits & 1) << 31);
            if (all[i].bits & 1)
                word(&p, 1 << 6 | 1);
            word(&p, k);
        }
        end(&p);
        assert_true(run(&p, &x));
        if (x.out[0][1].known != all[i].known || (all[i].known && x.out[0][1].bits != all[i].want))
            fail_msg("%s: %s %08x", all[i].name, x.out[0][1].known ? "known" : "unknown", x.out[0][1].bits);
    }
}

/* Where Direct3D bounds no error devices differ, and nothing is said. */
TEST(what_devices_differ_in_is_unknown)
{
    static const struct {
        const char *name;
        uint32_t op, of;
        bool known;
    } all[] = {
        {"exp of an end", 25, INF, false},
        {"exp of too much", 25, 0x43000000, false},       /* 128 */
        {"exp of nearly too much", 25, 0x42fe0000, true}, /* 127 */
        {"exp to a denormal", 25, 0xc2fe0000, false},     /* -127 */
        {"exp of much less", 25, 0xc47a0000, false},      /* -1000 */
        {"exp to nothing", 25, 0xff800000, true},
        {"log of less than nothing", 47, 0xbf800000, false},
        {"log of nothing", 47, 0, true},
        {"rsq of nothing", 68, 0, false},
        {"rsq of a denormal", 68, 5, false},
        {"rsq of less than nothing", 68, 0xbf800000, false},
        {"rsq", 68, 0x3f800000, true},
        {"sqrt of less than nothing", 75, 0xbf800000, false},
        {"sqrt of nothing", 75, 0x80000000, true},
        {"sincos of 100 pi", 77, 0x439d1463, true},
        {"sincos of more", 77, 0x439d2000, false},
        {"sincos of less", 77, 0xcd8f0d18, false}, /* -3e8 */
        {"sincos without end", 77, INF, false},
        {"frc that is rounded up", 26, 0x80800000, false},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct shader_run x = {0};
        struct program p;

        begin(&p, VERTEX);
        op(&p, all[i].op, 0);
        out(&p, 0);
        if (all[i].op == 77)
            out(&p, 1);
        number(&p, all[i].of);
        end(&p);
        assert_true(run(&p, &x));
        if (x.out[0][0].known != all[i].known || (all[i].op == 77 && x.out[1][0].known != all[i].known))
            fail_msg("%s: %s", all[i].name, x.out[0][0].known ? "known" : "unknown");
    }
}

/* What is not computed is not known; nor is any of what is there only for pixels. */
TEST(what_is_not_computed_is_unknown)
{
    static const uint32_t ops[] = {11 /* deriv_rtx */, 130 /* f32tof16 */, 134 /* countbits */,
                                   141 /* bfrev */, 201 /* dtof */};

    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        struct shader_run x = {0};
        struct program p;

        begin(&p, PIXEL);
        op(&p, ops[i], 0);
        out(&p, 0);
        in(&p, 1);
        end(&p);
        assert_true(run(&p, &x));
        is_unknown(x.out[0]);
    }
}

TEST(instructions_of_two_results)
{
    static const struct {
        uint32_t op, a, b, first, second;
    } all[] = {{38, 0xffffffff, 2, 0xffffffff, 0xfffffffe}, /* imul: -1 * 2 */
               {81, 0xffffffff, 2, 1, 0xfffffffe},          /* umul */
               {78, 17, 5, 3, 2},                           /* udiv */
               {78, 17, 0, 0xffffffff, 0xffffffff}};
    struct shader_run x = {0};
    struct program p;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        begin(&p, VERTEX);
        op(&p, all[i].op, 0);
        out(&p, 0);
        out(&p, 1);
        number(&p, all[i].a);
        number(&p, all[i].b);
        end(&p);
        assert_true(run(&p, &x));
        is_row(x.out[0], all[i].first, all[i].first, all[i].first, all[i].first);
        is_row(x.out[1], all[i].second, all[i].second, all[i].second, all[i].second);
    }
    begin(&p, VERTEX);
    op(&p, 77, 0); /* sincos */
    out(&p, 0);
    out(&p, 1);
    number(&p, 0);
    end(&p);
    assert_true(run(&p, &x));
    is_row(x.out[0], 0, 0, 0, 0);
    is_row(x.out[1], F(1), F(1), F(1), F(1));
}

TEST(dot_products_are_of_as_many_as_they_say)
{
    for (uint32_t n = 2; n <= 4; n++) {
        struct shader_run x = {0};
        struct program p;
        float sum = 0;

        begin(&p, VERTEX);
        op(&p, 13 + n, 0);
        out(&p, 0);
        in(&p, 0);
        in(&p, 1);
        end(&p);
        for (unsigned k = 0; k < 4; k++) {
            x.in[0][k] = (struct shader_value){F((float)(k + 1)), k < n};
            x.in[1][k] = (struct shader_value){F((float)(k + 2)), true};
            sum += k < n ? (float)((k + 1) * (k + 2)) : 0;
        }
        assert_true(run(&p, &x));
        is_row(x.out[0], F(sum), F(sum), F(sum), F(sum));
    }
}

/* Swizzles, masks, one component, and what is done to a number on its way. */
TEST(operands_are_read_and_written_by_their_tokens)
{
    enum { NEGATE = 1 << 6 | 1, NEGATED_SIZE = 3 << 6 | 1, SATURATE = 1 << 13, EXTENDED = 1u << 31 };
    struct shader_run x = {0};
    struct program p;

    begin(&p, VERTEX);
    op(&p, 54, 0); /* mov o0.xz, v1.wzyx */
    reg(&p, MASK, 5, SM4_OUTPUT, 0);
    reg(&p, SWIZZLE, 0x1b, SM4_INPUT, 1);
    end(&p);
    op(&p, 54, 0); /* mov o1, v2.y */
    out(&p, 1);
    reg(&p, ONE, 1, SM4_INPUT, 2);
    end(&p);
    op(&p, 54, SATURATE); /* of four numbers */
    out(&p, 2);
    word(&p, 2 | SM4_IMM32 << 12);
    for (unsigned k = 0; k < 4; k++)
        word(&p, (const uint32_t[]){F(-1), F(0.5f), F(7), ANY}[k]);
    end(&p);
    op(&p, 54, 0); /* mov o3, -|v0| */
    out(&p, 3);
    word(&p, SWIZZLE | XYZW << 4 | SM4_INPUT << 12 | 1 << 20 | EXTENDED);
    word(&p, NEGATED_SIZE);
    word(&p, 0);
    end(&p);
    op(&p, 30, 0); /* iadd o4, v1, -v2 */
    out(&p, 4);
    in(&p, 1);
    word(&p, SWIZZLE | XYZW << 4 | SM4_INPUT << 12 | 1 << 20 | EXTENDED);
    word(&p, NEGATE);
    word(&p, 2);
    end(&p);
    x.in[0][0] = (struct shader_value){F(-2), true};
    x.in[0][1] = (struct shader_value){F(3), true};
    assert_true(run(&p, &x));
    assert_int_equal(x.written[0], 5);
    assert_int_equal(x.out[0][0].bits, 7);
    assert_int_equal(x.out[0][2].bits, 5);
    assert_false(x.out[0][1].known || x.out[0][3].known);
    is_row(x.out[1], 9, 9, 9, 9);
    is_row(x.out[2], 0, F(0.5f), F(1), 0);
    assert_int_equal(x.out[3][0].bits, F(-2));
    assert_int_equal(x.out[3][1].bits, F(-3));
    is_row(x.out[4], (uint32_t)-4, (uint32_t)-4, (uint32_t)-4, (uint32_t)-4);
}

TEST(constants_and_buffers_are_asked_for)
{
    struct shader_run x = {0};
    struct program p;

    begin(&p, VERTEX);
    op(&p, SM4_OP_CUSTOMDATA, 3 << 11);
    p.words[p.num++] = 2 + 8;
    for (uint32_t k = 0; k < 8; k++)
        word(&p, 100 + k);
    op(&p, SM4_OP_DCL_RESOURCE_STRUCTURED, 0);
    reg(&p, 0, 0, SM4_RESOURCE, 6);
    word(&p, 24);
    end(&p);
    op(&p, 54, 0); /* mov o0, cb2[3] */
    out(&p, 0);
    reg2(&p, SWIZZLE, XYZW, SM4_CONSTANT_BUFFER, 2, 3);
    end(&p);
    op(&p, 54, 0); /* mov o1, icb[1] */
    out(&p, 1);
    reg(&p, SWIZZLE, XYZW, SM4_ICB, 1);
    end(&p);
    op(&p, 54, 0); /* mov o2, icb[2], which is not there */
    out(&p, 2);
    reg(&p, SWIZZLE, XYZW, SM4_ICB, 2);
    end(&p);
    op(&p, 167, 0); /* ld_structured o3, 5, 8, t6.wzyx */
    out(&p, 3);
    number(&p, 5);
    number(&p, 8);
    reg(&p, SWIZZLE, 0x1b, SM4_RESOURCE, 6);
    end(&p);
    op(&p, 165, 0); /* ld_raw o4, 32, t7.xyzw */
    out(&p, 4);
    number(&p, 32);
    reg(&p, SWIZZLE, XYZW, SM4_RESOURCE, 7);
    end(&p);
    op(&p, 165, 0); /* from somewhere */
    out(&p, 5);
    in(&p, 9);
    reg(&p, SWIZZLE, XYZW, SM4_RESOURCE, 7);
    end(&p);
    assert_true(run(&p, &x));
    assert_int_equal(x.out[0][2].bits, 2032);
    assert_false(x.out[0][3].known);
    is_row(x.out[1], 104, 105, 106, 107);
    is_unknown(x.out[2]);
    is_row(x.out[3], 6140, 6136, 6132, 6128);
    is_row(x.out[4], 7032, 7036, 7040, 7044);
    is_unknown(x.out[5]);
}

/* What models up to 5.0 name by its register is in 5.1 a register of a range in a space, which may have no end. */
TEST(ranges_are_of_their_space)
{
    struct shader_run x = {0};
    struct program p;

    begin(&p, VERTEX_51);
    op(&p, SM4_OP_DCL_CONSTANT_BUFFER, 0); /* CB0[3:5][4], space 2 */
    reg3(&p, SWIZZLE, XYZW, SM4_CONSTANT_BUFFER, 0, 3, 5);
    word(&p, 4);
    word(&p, 2);
    end(&p);
    op(&p, SM4_OP_DCL_CONSTANT_BUFFER, 0); /* CB1[0:0][4], space 0 */
    reg3(&p, SWIZZLE, XYZW, SM4_CONSTANT_BUFFER, 1, 0, 0);
    word(&p, 4);
    word(&p, 0);
    end(&p);
    op(&p, SM4_OP_DCL_RESOURCE_STRUCTURED, 0); /* T0[7:*], 24, space 1 */
    reg3(&p, 0, 0, SM4_RESOURCE, 0, 7, UINT32_MAX);
    word(&p, 24);
    word(&p, 1);
    end(&p);
    op(&p, SM4_OP_DCL_RESOURCE, 3 << 11); /* T1[0:0], space 9: a texture */
    reg3(&p, 0, 0, SM4_RESOURCE, 1, 0, 0);
    word(&p, 0x5555);
    word(&p, 9);
    end(&p);
    op(&p, 54, 0); /* mov o0, CB0[4][1] */
    out(&p, 0);
    reg3(&p, SWIZZLE, XYZW, SM4_CONSTANT_BUFFER, 0, 4, 1);
    end(&p);
    op(&p, 54, 0); /* mov o1, CB1[0][3] */
    out(&p, 1);
    reg3(&p, SWIZZLE, XYZW, SM4_CONSTANT_BUFFER, 1, 0, 3);
    end(&p);
    op(&p, 54, 0); /* mov o2, CB0[6][1], which is none of them */
    out(&p, 2);
    reg3(&p, SWIZZLE, XYZW, SM4_CONSTANT_BUFFER, 0, 6, 1);
    end(&p);
    op(&p, 54, 0); /* mov o3, CB0[v0.w][1]: v0.w is 3 */
    out(&p, 3);
    word(&p, SWIZZLE | XYZW << 4 | SM4_CONSTANT_BUFFER << 12 | 3 << 20 | 2 << 25);
    word(&p, 0);
    reg(&p, ONE, 3, SM4_INPUT, 0);
    word(&p, 1);
    end(&p);
    op(&p, 167, 0); /* ld_structured o4, 2, 8, T0[9] */
    out(&p, 4);
    number(&p, 2);
    number(&p, 8);
    reg2(&p, SWIZZLE, XYZW, SM4_RESOURCE, 0, 9);
    end(&p);
    op(&p, 54, 0); /* mov o5, CB0[v9.x][1], which nobody knows */
    out(&p, 5);
    word(&p, SWIZZLE | XYZW << 4 | SM4_CONSTANT_BUFFER << 12 | 3 << 20 | 2 << 25);
    word(&p, 0);
    reg(&p, ONE, 0, SM4_INPUT, 9);
    word(&p, 1);
    end(&p);
    assert_true(run(&p, &x));
    assert_int_equal(x.out[0][1].bits, 204011);
    assert_int_equal(x.out[1][2].bits, 32);
    is_unknown(x.out[2]);
    assert_int_equal(x.out[3][0].bits, 203010);
    is_row(x.out[4], 109056, 109060, 109064, 109068);
    is_unknown(x.out[5]);
}

struct told {
    uint32_t word, number;
    char file;
    uint8_t mask;
    struct shader_value four[4];
};

static void tell(void *ctx, uint32_t at, char file, uint32_t n, uint8_t mask, const struct shader_value *four)
{
    struct told **next = ctx;

    *(*next) = (struct told){at, n, file, mask, {{0}}};
    memcpy((*next)->four, four, sizeof((*next)->four));
    (*next)++;
}

/* Each write, in order, with where its instruction stands. */
TEST(what_is_written_is_told)
{
    struct shader_run x = {.wrote = tell};
    struct told told[8] = {0}, *next = told;
    struct program p;

    begin(&p, VERTEX);
    declare_temps(&p, 2);
    op(&p, 54, 0); /* mov r1.xy, v1 */
    reg(&p, MASK, 3, SM4_TEMP, 1);
    in(&p, 1);
    end(&p);
    op(&p, 0, 1 << 13); /* add_sat o3, r1, v9, which is not known */
    out(&p, 3);
    reg(&p, SWIZZLE, XYZW, SM4_TEMP, 1);
    in(&p, 9);
    end(&p);
    x.wrote_ctx = &next;
    assert_true(run(&p, &x));
    assert_int_equal(next - told, 2);
    assert_int_equal(told[0].word, 4);
    assert_int_equal(told[0].file, 'r');
    assert_int_equal(told[0].number, 1);
    assert_int_equal(told[0].mask, 3);
    assert_int_equal(told[0].four[1].bits, 5);
    assert_false(told[0].four[2].known);
    assert_int_equal(told[1].word, 9);
    assert_int_equal(told[1].file, 'o');
    assert_int_equal(told[1].number, 3);
    assert_int_equal(told[1].mask, 15);
    is_unknown(told[1].four);
}

/* if (v0.x) { o0 = 5 } else { o0 = 6 }, o1 = 7 */
static void branch(struct program *p, uint32_t nonzero, uint32_t input)
{
    begin(p, VERTEX);
    op(p, SM4_OP_IF, nonzero << 18);
    reg(p, ONE, 0, SM4_INPUT, input);
    end(p);
    op(p, 54, 0);
    out(p, 0);
    number(p, 5);
    end(p);
    plain(p, SM4_OP_ELSE);
    op(p, 54, 0);
    out(p, 0);
    number(p, 6);
    end(p);
    plain(p, SM4_OP_ENDIF);
    op(p, 54, 0);
    out(p, 1);
    number(p, 7);
    end(p);
}

TEST(branches_go_where_the_condition_says)
{
    for (uint32_t nonzero = 0; nonzero < 2; nonzero++)
        for (uint32_t input = 0; input < 2; input++) {
            struct shader_run x = {0};
            struct program p;
            const uint32_t want = (input != 0) == nonzero ? 5 : 6; /* v0.x is 0, v1.x is 4 */

            branch(&p, nonzero, input);
            assert_true(run(&p, &x));
            is_row(x.out[0], want, want, want, want);
            is_row(x.out[1], 7, 7, 7, 7);
        }
}

/* What a branch writes of which nobody knows whether it is taken is not known, and the rest is. */
TEST(a_branch_in_doubt_leaves_what_it_does_not_write)
{
    struct shader_run x = {0};
    struct program p;

    branch(&p, 1, 9);
    assert_true(run(&p, &x));
    is_unknown(x.out[0]);
    is_row(x.out[1], 7, 7, 7, 7);
    assert_int_equal(x.written[0], ALL);
}

/* r0 counts to 5; each time 2 is added to o0's source; 3 is left out by `continue`. */
static void loop(struct program *p, uint32_t until)
{
    begin(p, VERTEX);
    declare_temps(p, 3);
    for (uint32_t k = 0; k < 2; k++) {
        op(p, 54, 0);
        reg(p, MASK, ALL, SM4_TEMP, k);
        number(p, 0);
        end(p);
    }
    plain(p, SM4_OP_LOOP);
    op(p, 33, 0); /* ige r2, r0, until */
    reg(p, MASK, ALL, SM4_TEMP, 2);
    reg(p, SWIZZLE, XYZW, SM4_TEMP, 0);
    reg(p, SWIZZLE, XYZW, SM4_INPUT, until);
    end(p);
    op(p, 3, 1 << 18); /* breakc_nz r2.x */
    reg(p, ONE, 0, SM4_TEMP, 2);
    end(p);
    op(p, 30, 0); /* iadd r0, r0, 1 */
    reg(p, MASK, ALL, SM4_TEMP, 0);
    reg(p, SWIZZLE, XYZW, SM4_TEMP, 0);
    number(p, 1);
    end(p);
    op(p, 32, 0); /* ieq r2, r0, 3 */
    reg(p, MASK, ALL, SM4_TEMP, 2);
    reg(p, SWIZZLE, XYZW, SM4_TEMP, 0);
    number(p, 3);
    end(p);
    op(p, 8, 1 << 18); /* continuec_nz r2.x */
    reg(p, ONE, 0, SM4_TEMP, 2);
    end(p);
    op(p, 30, 0); /* iadd r1, r1, 2 */
    reg(p, MASK, ALL, SM4_TEMP, 1);
    reg(p, SWIZZLE, XYZW, SM4_TEMP, 1);
    number(p, 2);
    end(p);
    plain(p, SM4_OP_ENDLOOP);
    op(p, 54, 0);
    out(p, 0);
    reg(p, SWIZZLE, XYZW, SM4_TEMP, 1);
    end(p);
}

TEST(loops_end_where_they_are_broken)
{
    struct shader_run x = {0};
    struct program p;

    x.in[1][0] = (struct shader_value){5, true};
    loop(&p, 1);
    assert_true(run(&p, &x));
    assert_int_equal(x.out[0][0].bits, 8);
    loop(&p, 9); /* of which nobody knows when it ends */
    assert_false(run(&p, &x));
    is_unknown(x.out[0]);
    begin(&p, VERTEX); /* for ever */
    plain(&p, SM4_OP_LOOP);
    plain(&p, SM4_OP_ENDLOOP);
    x.steps = 0;
    assert_false(run(&p, &x));
    assert_in_range(x.steps, SHADER_STEPS, SHADER_STEPS + 1);
}

static void label(struct program *p, uint32_t v)
{
    op(p, SM4_OP_CASE, 0);
    number(p, v);
    end(p);
}

/* switch (v) { case 0: case 4: o0 = 1; break; case 7: switch (v) { default: o1 = 9; break; } o0 = 2; break; default: o0 = 3; }, o2 = 7 */
static void switches(struct program *p, uint32_t input, uint32_t component)
{
    begin(p, VERTEX);
    op(p, SM4_OP_SWITCH, 0);
    reg(p, ONE, component, SM4_INPUT, input);
    end(p);
    label(p, 0);
    label(p, 4);
    set(p, 0, 1);
    plain(p, 2); /* break */
    label(p, 7);
    op(p, SM4_OP_SWITCH, 0);
    reg(p, ONE, component, SM4_INPUT, input);
    end(p);
    plain(p, SM4_OP_DEFAULT);
    set(p, 1, 9);
    plain(p, 2);
    plain(p, SM4_OP_ENDSWITCH);
    set(p, 0, 2);
    plain(p, 2);
    plain(p, SM4_OP_DEFAULT);
    set(p, 0, 3);
    plain(p, 2);
    plain(p, SM4_OP_ENDSWITCH);
    set(p, 2, 7);
}

TEST(switches_go_where_their_labels_say)
{
    static const struct {
        uint32_t input, component, is;
        bool inner;
    } all[] = {{0, 0, 1, false}, {1, 0, 1, false}, {1, 3, 2, true}, {1, 1, 3, false}}; /* 0, 4, 7, 5 */
    struct shader_run x = {0};
    struct program p;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        switches(&p, all[i].input, all[i].component);
        assert_true(run(&p, &x));
        is_row(x.out[0], all[i].is, all[i].is, all[i].is, all[i].is);
        assert_int_equal(x.out[1][0].known, all[i].inner);
        is_row(x.out[2], 7, 7, 7, 7);
    }
    switches(&p, 9, 0); /* of which nobody knows */
    assert_true(run(&p, &x));
    is_unknown(x.out[0]);
    is_unknown(x.out[1]);
    is_row(x.out[2], 7, 7, 7, 7);
    begin(&p, VERTEX); /* no label is it, and there is no default */
    op(&p, SM4_OP_SWITCH, 0);
    number(&p, 3);
    end(&p);
    label(&p, 2);
    set(&p, 0, 1);
    plain(&p, 2);
    plain(&p, SM4_OP_ENDSWITCH);
    set(&p, 1, 2);
    assert_true(run(&p, &x));
    is_unknown(x.out[0]);
    is_row(x.out[1], 2, 2, 2, 2);
}

/* break in a switch leaves it, and continue the loop around; who may leave a loop or not ends what is known. */
TEST(switches_in_loops)
{
    for (uint32_t unknown = 0; unknown < 2; unknown++) {
        struct shader_run x = {0};
        struct program p;

        begin(&p, VERTEX);
        declare_temps(&p, 1);
        op(&p, 54, 0);
        reg(&p, MASK, ALL, SM4_TEMP, 0);
        number(&p, 0);
        end(&p);
        plain(&p, SM4_OP_LOOP);
        op(&p, 30, 0); /* iadd r0, r0, 1 */
        reg(&p, MASK, ALL, SM4_TEMP, 0);
        reg(&p, SWIZZLE, XYZW, SM4_TEMP, 0);
        number(&p, 1);
        end(&p);
        op(&p, SM4_OP_SWITCH, 0);
        reg(&p, ONE, 0, unknown ? SM4_INPUT : SM4_TEMP, unknown ? 9 : 0);
        end(&p);
        label(&p, 5);
        plain(&p, 2); /* break: behind the switch */
        plain(&p, SM4_OP_DEFAULT);
        plain(&p, 7); /* continue */
        plain(&p, SM4_OP_ENDSWITCH);
        plain(&p, 2); /* break: behind the loop */
        plain(&p, SM4_OP_ENDLOOP);
        op(&p, 54, 0);
        out(&p, 0);
        reg(&p, SWIZZLE, XYZW, SM4_TEMP, 0);
        end(&p);
        assert_int_equal(run(&p, &x), !unknown);
        if (!unknown)
            is_row(x.out[0], 5, 5, 5, 5);
    }
}

TEST(pixels_are_discarded)
{
    static const struct {
        uint32_t input;
        enum shader_discard is;
    } all[] = {{0, SHADER_KEEPS}, {1, SHADER_DISCARDS}, {9, SHADER_MAY_DISCARD}};

    for (size_t i = 0; i < 3; i++) {
        struct shader_run x = {0};
        struct program p;

        begin(&p, PIXEL);
        op(&p, SM4_OP_DISCARD, 1 << 18);
        reg(&p, ONE, 0, SM4_INPUT, all[i].input);
        end(&p);
        assert_true(run(&p, &x));
        assert_int_equal(x.discard, all[i].is);
    }
}

/* o[v + n] or x0[v + n], where `input` says v in x. */
static void indexed(struct program *p, uint32_t type, uint32_t n, uint32_t input)
{
    const uint32_t dims = type == SM4_OUTPUT ? 1 : 2;

    word(p, MASK | ALL << 4 | type << 12 | dims << 20 | 3u << (22 + 3 * (dims - 1)));
    if (dims == 2)
        word(p, 0);
    word(p, n);
    reg(p, ONE, 0, SM4_INPUT, input);
}

static void array(struct program *p, uint32_t input)
{
    begin(p, VERTEX);
    declare_temps(p, 1);
    op(p, SM4_OP_DCL_INDEXABLE_TEMP, 0);
    word(p, 0);
    word(p, 8);
    word(p, 4);
    end(p);
    op(p, 54, 0);
    reg2(p, MASK, ALL, SM4_INDEXABLE_TEMP, 0, 6);
    number(p, 1);
    end(p);
    op(p, 54, 0);
    indexed(p, SM4_INDEXABLE_TEMP, 2, input);
    number(p, 2);
    end(p);
    op(p, 54, 0);
    out(p, 0);
    reg2(p, SWIZZLE, XYZW, SM4_INDEXABLE_TEMP, 0, 6);
    end(p);
}

/* Who writes at an index that is not known may have written anything that can be indexed. */
TEST(what_is_indexed_by_something_unknown_may_be_any)
{
    struct shader_run x = {0};
    struct program p;

    array(&p, 1); /* v1.x is 4: it is x0[6] */
    assert_true(run(&p, &x));
    is_row(x.out[0], 2, 2, 2, 2);
    array(&p, 0); /* x0[2] */
    assert_true(run(&p, &x));
    is_row(x.out[0], 1, 1, 1, 1);
    array(&p, 9);
    assert_true(run(&p, &x));
    is_unknown(x.out[0]);
    for (uint32_t input = 1; input <= 9; input += 8) {
        begin(&p, VERTEX);
        op(&p, 54, 0);
        out(&p, 5);
        number(&p, 1);
        end(&p);
        op(&p, 54, 0);
        indexed(&p, SM4_OUTPUT, 2, input);
        number(&p, 2);
        end(&p);
        assert_true(run(&p, &x));
        if (input == 9) {
            is_unknown(x.out[5]);
        } else {
            is_row(x.out[5], 1, 1, 1, 1);
            is_row(x.out[6], 2, 2, 2, 2);
        }
        assert_int_equal(x.written[1], 0);
        assert_int_equal(x.written[6], ALL);
    }
}

/* What is interpolated is a number, and 0 times that is 0; 0 times what is known to be none is none. */
TEST(nothing_of_something_is_nothing_in_pixels)
{
    for (uint32_t stage = 0; stage < 2; stage++) {
        struct shader_run x = {0};
        struct program p;

        begin(&p, stage ? PIXEL : VERTEX);
        op(&p, 56, 0); /* mul o0, v9, 0 */
        out(&p, 0);
        in(&p, 9);
        number(&p, 0);
        end(&p);
        op(&p, 50, 0); /* mad o1, inf, 0, 1 */
        out(&p, 1);
        number(&p, INF);
        number(&p, 0);
        number(&p, F(1));
        end(&p);
        op(&p, 15, 0); /* dp2 o2, inf, 0 */
        out(&p, 2);
        number(&p, INF);
        number(&p, 0);
        end(&p);
        assert_true(run(&p, &x));
        if (stage)
            is_row(x.out[0], 0, 0, 0, 0);
        else
            is_unknown(x.out[0]);
        for (unsigned k = 1; k < 3; k++) {
            float f;

            memcpy(&f, &x.out[k][0].bits, 4);
            assert_true(x.out[k][0].known && isnan(f));
        }
    }
}

TEST(what_cannot_be_run_is_refused)
{
    struct program p;

    begin(&p, 0x20050); /* a geometry shader */
    plain(&p, SM4_OP_RET);
    assert_null(code_of(&p));
    begin(&p, 0x10060); /* model 6.0 */
    plain(&p, SM4_OP_RET);
    assert_null(code_of(&p));
    begin(&p, VERTEX_51); /* a range that says neither its first register nor its last */
    op(&p, SM4_OP_DCL_RESOURCE_RAW, 0);
    reg(&p, 0, 0, SM4_RESOURCE, 0);
    word(&p, 0);
    end(&p);
    plain(&p, SM4_OP_RET);
    assert_null(code_of(&p));
    for (size_t i = 0; i < 6; i++) { /* what is not ended, or not begun */
        begin(&p, VERTEX);
        plain(&p, ((const uint32_t[]){SM4_OP_LOOP, SM4_OP_ELSE, SM4_OP_ENDIF, SM4_OP_ENDLOOP, SM4_OP_DEFAULT,
                                      SM4_OP_ENDSWITCH})[i]);
        assert_null(code_of(&p));
    }
    begin(&p, VERTEX);
    declare_temps(&p, 5000);
    assert_null(code_of(&p));
}

TEST_GROUP(NULL, NULL);
