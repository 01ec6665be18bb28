/* SPDX-License-Identifier: MIT */
/* shader_run_test.c: how programs are read and where they go is what Direct3D says, and nothing is known that is not. */
#include "test.h"

#include <math.h>

#include "shader_program.h"

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
