/* SPDX-License-Identifier: MIT */
/* shader_numbers_test.c: what instructions make of values is what Direct3D says of them, where all devices agree. */
#include "test.h"

#include "shader_program.h"

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

TEST_GROUP(NULL, NULL);
