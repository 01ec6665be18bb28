/* SPDX-License-Identifier: MIT */
/* shader_program.h: shader programs that tests make word by word, and run. Behind cmocka.h. */
#pragma once

#include <string.h>

#include "base/dxbc/sm4_tokens.h"
#include "d3d12/view/shader_run.h"

enum { VERTEX = 0x10050, VERTEX_51 = 0x10051, PIXEL = 0x50, WORDS = 512 };
enum { ANY = 0x7fc00000, INF = 0x7f800000 };
#define F(x) bits_of(x)

static inline uint32_t bits_of(float f)
{
    uint32_t u;

    memcpy(&u, &f, 4);
    return u;
}

struct program {
    uint32_t words[WORDS], num, start;
};

static inline void word(struct program *p, uint32_t w)
{
    assert_true(p->num < WORDS);
    p->words[p->num++] = w;
}

static inline void begin(struct program *p, uint32_t stage)
{
    p->num = 0;
    word(p, stage);
    word(p, 0);
}

/* `bits`: what the opcode token has besides. Ends with end(). */
static inline void op(struct program *p, uint32_t opcode, uint32_t bits)
{
    p->start = p->num;
    word(p, opcode | bits);
}

static inline void end(struct program *p)
{
    p->words[p->start] |= (p->num - p->start) << 24;
}

enum { MASK = 2, SWIZZLE = 2 | 1 << 2, ONE = 2 | 2 << 2, XYZW = 0xe4, ALL = 15 };

static inline void reg(struct program *p, uint32_t how, uint32_t which, uint32_t type, uint32_t n)
{
    word(p, how | which << 4 | type << 12 | 1 << 20);
    word(p, n);
}

/* Of two indices. */
static inline void reg2(struct program *p, uint32_t how, uint32_t which, uint32_t type, uint32_t a,
                        uint32_t b)
{
    word(p, how | which << 4 | type << 12 | 2 << 20);
    word(p, a);
    word(p, b);
}

/* Of a range; with model 5.1 these name it, and the register or first and last. */
static inline void reg3(struct program *p, uint32_t how, uint32_t which, uint32_t type, uint32_t a,
                        uint32_t b, uint32_t c)
{
    word(p, how | which << 4 | type << 12 | 3 << 20);
    word(p, a);
    word(p, b);
    word(p, c);
}

static inline void out(struct program *p, uint32_t n)
{
    reg(p, MASK, ALL, SM4_OUTPUT, n);
}

static inline void in(struct program *p, uint32_t n)
{
    reg(p, SWIZZLE, XYZW, SM4_INPUT, n);
}

static inline void number(struct program *p, uint32_t v)
{
    word(p, 1 | SM4_IMM32 << 12);
    word(p, v);
}

static inline void plain(struct program *p, uint32_t opcode)
{
    op(p, opcode, 0);
    end(p);
}

static inline void set(struct program *p, uint32_t n, uint32_t v)
{
    op(p, 54, 0);
    out(p, n);
    number(p, v);
    end(p);
}

static inline void declare_temps(struct program *p, uint32_t n)
{
    op(p, SM4_OP_DCL_TEMPS, 0);
    word(p, n);
    end(p);
}

static inline struct shader_code *code_of(struct program *p)
{
    static struct dxbc d;

    p->words[1] = p->num;
    d = (struct dxbc){.chunk_count = 1};
    d.chunks[0] = (struct dxbc_chunk){
        .fourcc = DXBC_FOURCC('S', 'H', 'E', 'X'), .size = 4 * p->num, .data = (const uint8_t *)p->words};
    return shader_code(&d);
}

static inline void constants(void *ctx, struct shader_place b, uint32_t row, struct shader_value *four)
{
    for (unsigned k = 0; k < 3; k++) /* w is not known */
        four[k] = (struct shader_value){100000 * b.space + 1000 * b.reg + 10 * row + k, true};
}

static inline void buffer(void *ctx, struct shader_place t, uint32_t stride, uint64_t element, uint64_t at,
                          struct shader_value *one)
{
    *one = (struct shader_value){(uint32_t)(100000 * t.space + 1000 * t.reg + stride * element + at), true};
}

/* Adds the end, and runs it with inputs that are numbers without a fraction: v2.y is 9; v8 and more are not known. */
static inline bool run(struct program *p, struct shader_run *x)
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

static inline void is_row(const struct shader_value *v, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t want[] = {a, b, c, d};

    for (unsigned k = 0; k < 4; k++) {
        assert_true(v[k].known);
        assert_int_equal(v[k].bits, want[k]);
    }
}

static inline void is_unknown(const struct shader_value *v)
{
    for (unsigned k = 0; k < 4; k++)
        assert_false(v[k].known);
}
