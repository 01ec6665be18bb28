/* SPDX-License-Identifier: MIT */
/* Shader bytes in, descriptions and exact errors out. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "test.h"

#include "abi/d3d9_program.h"
#include "base/dxbc/dxbc_sum.h"
#include "base/dxbc/dxbc.h"
#include "executor/shader/shader_internal.h"
#include "executor/shader/sm4.h"
#include "executor/shader/spirv_bounds.h"
#include "shader_files.h"

static uint8_t bytes[65536];

static struct shader *load(const char *name, struct error *e)
{
    struct shader *s = NULL;
    size_t n = read_sample(name, bytes, sizeof(bytes));

    assert_true(n > 0);
    shader_create(&s, sample_stage(name), bytes, n, NULL, e);
    return s;
}

static void expect_error(enum exec_stage stage, const void *data, size_t size, int code, const char *text)
{
    struct shader *s = NULL;
    struct error e = {0};

    assert_int_equal(shader_create(&s, stage, data, size, NULL, &e), code);
    assert_string_equal(e.text, text);
    assert_null(s);
}

TEST(test_all_samples)
{
    char path[512];
    int seen = 0;
    struct dirent *f;
    DIR *dir;

    snprintf(path, sizeof(path), "%s/samples/shaders",
             getenv("AEROGPU_SOURCE_ROOT") ? getenv("AEROGPU_SOURCE_ROOT") : ".");
    dir = opendir(path);
    assert_non_null(dir);
    while ((f = readdir(dir))) {
        struct shader_link_params p = {0};
        struct shader_program prog;
        struct error e = {0};
        struct shader *s;
        if (!strstr(f->d_name, ".dxbc") && !strstr(f->d_name, ".d3d9"))
            continue;
        s = load(f->d_name, &e);
        if (!s)
            fail_msg("%s: %s", f->d_name, e.text);
        for (uint32_t k = 0; k < shader_info(s)->descriptor_count; k++)
            assert_int_equal(shader_info(s)->descriptors[k].binding, k);
        p.stages[shader_info(s)->stage] = s;
        if (shader_info(s)->stage == EXEC_VS || shader_info(s)->stage == EXEC_CS) {
            assert_int_equal(shader_link(&prog, &p, &e), 0);
            assert_true(prog.code[shader_info(s)->stage].count > 20);
            shader_program_finish(&prog);
        }
        shader_unref(s);
        seen++;
    }
    closedir(dir);
    assert_true(seen >= 40);
}

static unsigned point_sizes(const struct shader_code *c)
{
    unsigned n = 0;

    for (size_t i = 5; i < c->count; i += c->words[i] >> 16)
        n += (c->words[i] & 0xFFFF) == 71 && c->words[i + 2] == 11 &&
             c->words[i + 3] == 1; /* OpDecorate BuiltIn */
    return n;
}

/* The sample's geometry shader, its output declared to be points. */
static struct shader *points_gs(void)
{
    size_t n = read_sample("point_gs.dxbc", bytes, sizeof(bytes));
    const uint32_t strip = 0x5C | 5 << 11 | 1 << 24, points = 0x5C | 1 << 11 | 1 << 24;
    struct error e = {0};
    struct shader *s;
    uint32_t sum[4];
    unsigned found = 0;

    for (size_t i = 32; i + 4 <= n; i += 4)
        if (!memcmp(bytes + i, &strip, 4)) {
            memcpy(bytes + i, &points, 4);
            found++;
        }
    assert_int_equal(found, 1);
    dxbc_sum(bytes, n, sum);
    memcpy(bytes + 4, sum, sizeof(sum));
    assert_int_equal(shader_create(&s, EXEC_GS, bytes, n, NULL, &e), 0);
    return s;
}

/* Whoever hands points to the rasteriser writes their size, and nobody else does. */
TEST(test_point_size)
{
    struct error e = {0};
    struct shader *vs = load("colour_vs.dxbc", &e), *gs = points_gs();
    struct shader_link_params p = {.stages[EXEC_VS] = vs};
    struct shader_program prog;
    struct shader_key plain;

    assert_int_equal(shader_link(&prog, &p, &e), 0);
    assert_int_equal(point_sizes(&prog.code[EXEC_VS]), 0);
    plain = prog.key;
    shader_program_finish(&prog);
    p.variant.points = true;
    assert_int_equal(shader_link(&prog, &p, &e), 0);
    assert_int_equal(point_sizes(&prog.code[EXEC_VS]), 1);
    assert_int_equal(shader_validate(prog.code[EXEC_VS].words, prog.code[EXEC_VS].count, &e), 0);
    assert_memory_not_equal(&prog.key, &plain, sizeof(plain));
    shader_program_finish(&prog);
    assert_int_equal(shader_info(gs)->gs_output, SHADER_PRIMITIVE_POINTS);
    p.stages[EXEC_GS] = gs;
    assert_int_equal(shader_link(&prog, &p, &e), 0);
    assert_int_equal(point_sizes(&prog.code[EXEC_VS]), 0);
    assert_int_equal(point_sizes(&prog.code[EXEC_GS]), 1);
    assert_int_equal(shader_validate(prog.code[EXEC_GS].words, prog.code[EXEC_GS].count, &e), 0);
    shader_program_finish(&prog);
    shader_unref(vs);
    shader_unref(gs);
}

TEST(test_dxbc_description)
{
    struct error e = {0};
    struct shader *s = load("scene_vs.dxbc", &e);
    const struct shader_info *i = shader_info(s);

    assert_int_equal(i->kind, SHADER_DXBC);
    assert_int_equal(i->major, 4);
    assert_int_equal(i->input_count, 3);
    assert_string_equal(i->inputs[0].semantic, "POSITION");
    assert_int_equal(i->inputs[0].semantic_hash, 0x7808e88a);
    assert_int_equal(i->inputs[1].semantic_hash, 0x3c329992);
    assert_int_equal(i->inputs[2].semantic_hash, 0x0bc45413);
    assert_int_equal(i->inputs[2].location, 2);
    assert_int_equal(i->inputs[0].mask, 7);
    assert_int_equal(i->inputs[0].component, SHADER_COMPONENT_FLOAT);
    assert_int_equal(i->descriptor_count, 1);
    assert_int_equal(i->descriptors[0].kind, SHADER_CBV);
    assert_int_equal(i->descriptors[0].size, 128);
    shader_unref(s);
    s = load("scene_ps.dxbc", &e);
    i = shader_info(s);
    assert_int_equal(i->descriptor_count, 3);
    assert_int_equal(i->descriptors[0].index, 1); /* cb1 */
    assert_int_equal(i->target_mask, 1);
    shader_unref(s);
    s = load("picture_raw_cs.dxbc", &e);
    i = shader_info(s);
    assert_int_equal(i->group_size[0], 8);
    assert_int_equal(i->group_size[1], 8);
    assert_int_equal(i->group_size[2], 1);
    assert_int_equal(i->descriptors[1].kind, SHADER_UAV_RAW);
    shader_unref(s);
    s = load("ring_structured_cs.dxbc", &e);
    assert_int_equal(shader_info(s)->descriptors[0].kind, SHADER_UAV_STRUCTURED);
    assert_int_equal(shader_info(s)->descriptors[0].size, 32);
    shader_unref(s);
    s = load("transpose_image_cs.dxbc", &e);
    assert_int_equal(shader_info(s)->descriptors[1].dim, SHADER_DIM_2D);
    assert_int_equal(shader_info(s)->descriptors[2].kind, SHADER_UAV_TEXTURE);
    shader_unref(s);
    s = load("quads_gs.dxbc", &e);
    assert_int_equal(shader_info(s)->gs_input, SHADER_PRIMITIVE_TRIANGLES);
    assert_int_equal(shader_info(s)->gs_output, SHADER_PRIMITIVE_TRIANGLE_STRIP);
    assert_int_equal(shader_info(s)->gs_max_vertices, 12);
    shader_unref(s);
    s = load("bulge_hs.dxbc", &e);
    assert_int_equal(shader_info(s)->hs_input_points, 3);
    assert_int_equal(shader_info(s)->hs_output_points, 3);
    assert_int_equal(shader_info(s)->tess_domain, 2);
    assert_int_equal(shader_info(s)->tess_output, 3);
    shader_unref(s);
}

TEST(test_dxbc_errors)
{
    size_t n = read_sample("colour_vs.dxbc", bytes, sizeof(bytes));
    uint32_t v, sum[4];

    expect_error(EXEC_VS, bytes, 3, -EINVAL, "a shader of 3 bytes has no version");
    expect_error(EXEC_VS, "junk", 4, -EINVAL,
                 "shader bytes begin with 0x6b6e756a, neither DXBC nor a Direct3D 9 version");
    expect_error(EXEC_VS, bytes, 31, -EINVAL, "DXBC: header needs 32 bytes, there are 31");
    expect_error(EXEC_PS, bytes, n, -EINVAL, "DXBC: a vertex program (type 1) cannot be a pixel shader");
    dxbc_sum(bytes, n, sum);
    assert_memory_equal(sum, bytes + 4, 16);
    bytes[n - 1] ^= 1;
    expect_error(EXEC_VS, bytes, n, -EINVAL, "DXBC: checksum does not match the contents");
    memset(bytes + 4, 0, 16);
    expect_error(EXEC_VS, bytes, n, -EINVAL, "DXBC: checksum does not match the contents");
    n = read_sample("colour_vs.dxbc", bytes, sizeof(bytes));
    v = (uint32_t)n + 4;
    memcpy(bytes + 24, &v, 4);
    expect_error(EXEC_VS, bytes, n, -EINVAL, "DXBC: total size field is 532, there are 528 bytes");
    n = read_sample("colour_vs.dxbc", bytes, sizeof(bytes));
    v = (uint32_t)n;
    memcpy(bytes + 32, &v, 4); /* the first chunk begins where the container ends */
    dxbc_sum(bytes, n, sum);
    memcpy(bytes + 4, sum, 16);
    expect_error(EXEC_VS, bytes, n, -EINVAL,
                 "DXBC: chunk 0 at offset 528 ends past the container of 528 bytes");
}

/* The first instruction `from` of a program becomes `to`, and the checksum is made right. */
static void change_opcode(size_t n, uint32_t from, uint32_t to)
{
    uint32_t sum[4], word = 0, length;
    size_t at = 32;

    while (at + 16 < n && memcmp(bytes + at, "SHDR", 4) && memcmp(bytes + at, "SHEX", 4))
        at += 4;
    for (at += 16; at + 4 <= n; at += 4 * length) {
        memcpy(&word, bytes + at, 4);
        length = word >> 24 & 127;
        assert_int_not_equal(length, 0);
        if ((word & 0x7ff) == from)
            break;
    }
    word = (word & ~0x7ffu) | to;
    memcpy(bytes + at, &word, 4);
    dxbc_sum(bytes, n, sum);
    memcpy(bytes + 4, sum, 16);
}

/* libvkd3d-shader translates them all the same, into what is no program of that stage. */
TEST(test_dxbc_stages)
{
    enum { MOV = 54, DERIV_RTX = 11, DERIV_RTY_FINE = 125 };
    struct error e = {0};
    struct shader *s = NULL;
    size_t n;

    n = read_sample("colour_vs.dxbc", bytes, sizeof(bytes));
    change_opcode(n, MOV, DERIV_RTX);
    assert_int_equal(shader_create(&s, EXEC_VS, bytes, n, NULL, &e), -EINVAL);
    assert_non_null(strstr(e.text, "is not of this stage"));
    n = read_sample("colour_vs.dxbc", bytes, sizeof(bytes));
    change_opcode(n, MOV, DERIV_RTY_FINE);
    assert_int_equal(shader_create(&s, EXEC_VS, bytes, n, NULL, &e), -EINVAL);
    n = read_sample("colour_vs.dxbc", bytes, sizeof(bytes));
    change_opcode(n, MOV, MOV);
    assert_int_equal(shader_create(&s, EXEC_VS, bytes, n, NULL, &e), 0);
    shader_unref(s);
}

/* Every prefix and every single wrong bit of a program is refused with a reason, or still a good shader. */
TEST(test_dxbc_damage)
{
    static uint8_t copy[65536];
    size_t n = read_sample("quads_gs.dxbc", bytes, sizeof(bytes));
    uint32_t sum[4];

    for (size_t k = 4; k < n; k++) {
        struct shader *s = NULL;
        struct error e = {0};
        assert_int_not_equal(shader_create(&s, EXEC_GS, bytes, k, NULL, &e), 0);
        assert_int_not_equal(e.text[0], 0);
    }
    for (size_t k = 32; k < n; k += 3) {
        struct shader *s = NULL;
        struct error e = {0};
        memcpy(copy, bytes, n);
        copy[k] ^= (uint8_t)(1u << (k % 8));
        dxbc_sum(copy, n, sum);
        memcpy(copy + 4, sum, 16);
        if (shader_create(&s, EXEC_GS, copy, n, NULL, &e))
            assert_int_not_equal(e.text[0], 0);
        shader_unref(s);
    }
}

/* Compilers write a word of nothing behind where a texture's sample lies; anything else there is a word too many. */
TEST(test_sample_position)
{
    uint32_t c[] = {
        0x43425844, 0,          0,          0,          0,  1,          232, 3,          44,
        60,         112,                       /* the container */
        0x4E475349, 8,          0,          8, /* ISGN: empty */
        0x4E47534F, 44,         1,          8,          32, 0,          0,   3,          0,
        15,         0x545F5653, 0x65677261, 0x74,          /* SV_Target */
        0x58454853, 112,        0x50,       28,            /* ps_5_0 */
        0x04002058, 0x00107000, 0,          0x5555,        /* dcl_resource_texture2dms t0 */
        0x03000065, 0x001020F2, 0,          0x02000068, 1, /* dcl_output o0; dcl_temps 1 */
        0x0800006E, 0x00100032, 0,          0x00107046, 0,  0x4001,     0,   0, /* sample_pos r0.xy, t0, 0 */
        0x08000036, 0x001020F2, 0,          0x4002,     0,  0x3F800000, 0,   0x3F800000, 0x0100003E};
    struct error e = {0};
    struct shader *sh;
    uint32_t sum[4];

    for (uint32_t behind = 0; behind < 2; behind++) {
        c[48] = behind;
        dxbc_sum(c, sizeof(c), sum);
        memcpy(&c[1], sum, sizeof(sum));
        if (behind) {
            expect_error(EXEC_PS, c, sizeof(c), -EINVAL,
                         "DXBC: sample_pos at word 11 has 1 words behind its operands");
            continue;
        }
        if (shader_create(&sh, EXEC_PS, c, sizeof(c), NULL, &e))
            fail_msg("%s", e.text);
        shader_unref(sh);
    }
}

TEST(test_opcode_numbers)
{
    assert_string_equal(sm4_ops[SM4_OP_DCL_RESOURCE].name, "dcl_resource");
    assert_string_equal(sm4_ops[SM4_OP_HS_DECLS].name, "hs_decls");
    assert_string_equal(sm4_ops[SM4_OP_DCL_THREAD_GROUP].name, "dcl_thread_group");
    assert_string_equal(sm4_ops[SM4_OP_STORE_STRUCTURED].name, "store_structured");
    assert_string_equal(sm4_ops[SM4_OP_IMM_ATOMIC_CONSUME].name, "imm_atomic_consume");
    assert_string_equal(sm4_ops[190].name, "sync");
    assert_string_equal(sm4_ops[206].name, "dcl_gs_instance_count");
    assert_int_equal(sm4_op_count, 207);
}

TEST(test_d3d9_description)
{
    struct error e = {0};
    struct shader *s = load("lights_vs20.d3d9", &e);
    const struct shader_info *i = shader_info(s);

    assert_int_equal(i->kind, SHADER_D3D9);
    assert_int_equal(i->major, 2);
    assert_int_equal(i->input_count, 2);
    assert_string_equal(i->inputs[1].semantic, "NORMAL");
    assert_int_equal(i->inputs[1].d3d9_usage, D3D9_USAGE_NORMAL);
    assert_int_equal(i->inputs[1].location, 1);
    assert_int_equal(i->d3d9.count_f, 256); /* indexed */
    assert_int_equal(i->d3d9.count_i, 1);
    assert_int_equal(i->d3d9.count_b, 1);
    assert_int_equal(i->d3d9.offset_i, 4096);
    assert_int_equal(i->d3d9.offset_b, 4112);
    assert_int_equal(i->d3d9.offset_params, 4128);
    assert_int_equal(i->d3d9.size, 4128 + sizeof(struct shader_d3d9_params));
    assert_int_equal(i->descriptors[0].kind, SHADER_D3D9_BLOCK);
    shader_unref(s);
    s = load("textured_ps_2_0.d3d9", &e);
    i = shader_info(s);
    assert_int_equal(i->d3d9.count_f, 1);
    assert_int_equal(i->descriptor_count, 2);
    assert_int_equal(i->descriptors[1].kind, SHADER_D3D9_SAMPLER);
    assert_int_equal(i->descriptors[1].dim, SHADER_DIM_2D);
    assert_int_equal(i->target_mask, 1);
    shader_unref(s);
    s = load("depth_ps20.d3d9", &e);
    assert_true(shader_info(s)->writes_depth);
    shader_unref(s);
    s = load("points_vs20.d3d9", &e);
    assert_true(shader_info(s)->writes_point_size);
    shader_unref(s);
}

#define PS(...)                                                                                              \
    (const uint32_t[]){0xffff0200, __VA_ARGS__, T_END},                                                      \
        sizeof((const uint32_t[]){0xffff0200, __VA_ARGS__, T_END})
#define VS(...)                                                                                              \
    (const uint32_t[]){0xfffe0300, __VA_ARGS__, T_END},                                                      \
        sizeof((const uint32_t[]){0xfffe0300, __VA_ARGS__, T_END})

TEST(test_d3d9_errors)
{
    static const uint32_t old_version[] = {0xfffe0105, T_END}, no_end[] = {0xffff0200, T_OP(0, 0)};
    /* The bare form, without bit 31: all parameters have it or none, and a length is the operands' or one more. */
    static const uint32_t mixed_tokens[] = {0xfffe0200, 0x03000001, 0x400f0000, 0x90e40000, T_END};
    static const uint32_t bare_long[] = {0xfffe0200, 0x04000001, 0x400f0000, 0x10e40000, T_END};
    static const uint32_t bare_sm3[] = {0xfffe0300, 0x02000001, 0x600f0000, 0x10e40000, T_END};

    expect_error(EXEC_VS, old_version, sizeof(old_version), -EINVAL,
                 "D3D9: version token 0xfffe0105 is none of vs_1_1..3_0 and ps_1_1..3_0");
    expect_error(EXEC_PS, no_end, sizeof(no_end), -EINVAL, "D3D9: no end token in 2 words");
    expect_error(EXEC_VS, mixed_tokens, sizeof(mixed_tokens), -EINVAL,
                 "D3D9: mov at word 1: 0x90e40000 at word 3 is no parameter token");
    expect_error(EXEC_VS, bare_long, sizeof(bare_long), -EINVAL,
                 "D3D9: mov at word 1 says it has 4 words, its operands take 2");
    expect_error(EXEC_VS, bare_sm3, sizeof(bare_sm3), -EINVAL,
                 "D3D9: mov at word 1: 0x600f0000 at word 2 is no parameter token");
    expect_error(EXEC_VS, PS(T_OP(1, 2), T_DST(8, 0, 15), T_SRC(2, 0)), -EINVAL,
                 "D3D9: a pixel program cannot be a vertex shader");
    expect_error(EXEC_PS, PS(T_OP(1, 2), T_DST(8, 4, 15), T_SRC(2, 0)), -EINVAL,
                 "D3D9: mov at word 1 cannot write oC4");
    expect_error(EXEC_PS, PS(T_OP(1, 2), T_DST(8, 0, 15), T_SRC(2, 300)), -EINVAL,
                 "D3D9: mov at word 1 reads c300, which ps_2_0 does not have");
    expect_error(EXEC_PS, PS(T_OP(12, 3), T_DST(0, 0, 15), T_SRC(2, 0), T_SRC(2, 0)), -EINVAL,
                 "D3D9: slt at word 1 does not exist in ps_2_0");
    expect_error(EXEC_PS, PS(T_OP(66, 3), T_DST(0, 0, 15), T_SRC(2, 0), T_SRC(10, 3)), -EINVAL,
                 "D3D9: tex at word 1 uses a sampler that is not declared");
    expect_error(EXEC_PS, PS(T_OP(43, 0)), -EINVAL, "D3D9: endif at word 1 closes nothing");
    expect_error(EXEC_PS, PS(T_OP(39, 0)), -EINVAL, "D3D9: endrep at word 1 closes nothing");
    expect_error(EXEC_PS, PS(T_OP(42, 0)), -EINVAL, "D3D9: else at word 1 has no if");
    expect_error(EXEC_PS, PS(T_OP(38, 1), T_SRC(7, 0)), -EINVAL, "D3D9: the shader ends inside a block");
    expect_error(EXEC_VS, VS(T_OP(25, 1), T_SRC(18, 2)), -EINVAL,
                 "D3D9: call at word 1 calls l2, which is not defined");
    expect_error(EXEC_VS, VS(T_OP(28, 0)), -EINVAL, "D3D9: the vertex shader writes no position");
    expect_error(EXEC_VS, VS(T_OP(1, 3), T_DST(0, 0, 15), T_SRC(2, 0)), -EINVAL,
                 "D3D9: mov at word 1 says it has 3 words, its operands take 2");
    expect_error(EXEC_VS,
                 VS(T_OP(31, 2), T_DCL(0, 0), T_DST(1, 0, 15), T_OP(31, 2), T_DCL(3, 0), T_DST(1, 0, 15)),
                 -EINVAL, "D3D9: dcl at word 4 declares its register again");
    expect_error(EXEC_VS, VS(T_OP(123, 0)), -EINVAL, "D3D9: word 1 is 0x0000007b, no known opcode");
}

/* 60 subroutines that call the next twice would be 2^60 instructions in place. */
TEST(test_d3d9_growth)
{
    uint32_t w[700], n = 0;

    w[n++] = 0xfffe0300;
    w[n++] = T_OP(25, 1);
    w[n++] = T_SRC(18, 0);
    w[n++] = T_OP(28, 0);
    for (uint32_t k = 0; k < 60; k++) {
        w[n++] = T_OP(30, 1);
        w[n++] = T_SRC(18, k);
        for (int twice = 0; twice < 2 && k < 59; twice++) {
            w[n++] = T_OP(25, 1);
            w[n++] = T_SRC(18, k + 1);
        }
        w[n++] = T_OP(28, 0);
    }
    w[n++] = T_END;
    expect_error(EXEC_VS, w, n * 4, -ENOTSUP,
                 "D3D9: subroutines and indexed constants come to more than 65536 steps");
}

static void expect_link_error(struct shader_link_params p, const char *text)
{
    struct shader_program prog;
    struct error e = {0};

    assert_int_equal(shader_link(&prog, &p, &e), -EINVAL);
    assert_string_equal(e.text, text);
}

TEST(test_link)
{
    struct error e = {0};
    struct shader *vs = load("colour_vs.dxbc", &e), *ps9 = load("colour_ps_2_0.d3d9", &e);
    struct shader *vs9 = load("colour_vs_2_0.d3d9", &e), *hs = load("bulge_hs.dxbc", &e),
                  *cs = load("sum_raw_cs.dxbc", &e);
    struct shader_link_params p = {.stages = {[EXEC_VS] = vs9, [EXEC_PS] = ps9}}, q = p;
    struct shader_key a, b;

    expect_link_error((struct shader_link_params){.stages = {[EXEC_VS] = vs, [EXEC_PS] = ps9}},
                      "a DXBC and a Direct3D 9 shader are bound together");
    expect_link_error((struct shader_link_params){.stages = {[EXEC_PS] = ps9}}, "no vertex shader is bound");
    expect_link_error((struct shader_link_params){.stages = {[EXEC_VS] = vs, [EXEC_HS] = hs}},
                      "a hull shader is bound without a domain shader");
    expect_link_error((struct shader_link_params){.stages = {[EXEC_VS] = vs, [EXEC_CS] = cs}},
                      "a compute shader is linked with a vertex shader");
    a = shader_link_key(&p);
    q.variant.alpha_func = 8; /* always passes: the same code */
    b = shader_link_key(&q);
    assert_memory_equal(&a, &b, sizeof(a));
    q.variant.point_sprite = true; /* without points */
    q.variant.projected = 3;       /* of shader model 1 only */
    b = shader_link_key(&q);
    assert_memory_equal(&a, &b, sizeof(a));
    q.variant.alpha_func = 5;
    b = shader_link_key(&q);
    assert_memory_not_equal(&a, &b, sizeof(a));
    p.stages[EXEC_VS] = vs;
    p.stages[EXEC_PS] = NULL;
    q = p;
    q.variant = (struct shader_variant){.alpha_func = 3, .fog = SHADER_FOG_EXP, .flat = true};
    a = shader_link_key(&p);
    b = shader_link_key(&q);
    assert_memory_equal(&a, &b, sizeof(a)); /* DXBC ignores most variants */
    shader_unref(vs);
    shader_unref(vs9);
    shader_unref(ps9);
    shader_unref(hs);
    shader_unref(cs);
}

TEST(test_print)
{
    struct strbuf b = {0};
    size_t n = read_sample("scene_ps.dxbc", bytes, sizeof(bytes));

    shader_print(&b, bytes, n);
    assert_non_null(strstr(strbuf_str(&b), "checksum right"));
    assert_non_null(strstr(strbuf_str(&b), "pixel shader model 4.0"));
    assert_non_null(strstr(strbuf_str(&b), "sample r0.xyzw, v2.xyxx, t0.xyzw, s0\n"));
    strbuf_clear(&b);
    n = read_sample("loop_vs30.d3d9", bytes, sizeof(bytes));
    shader_print(&b, bytes, n);
    assert_non_null(strstr(strbuf_str(&b), "vs_3_0:\n"));
    assert_non_null(strstr(strbuf_str(&b), "(p0) add r1, r0, v1\n"));
    assert_non_null(strstr(strbuf_str(&b), "  add r0, r0, c[aL + 0]\n"));
    strbuf_clear(&b);
    shader_print(&b, bytes, 60);
    assert_non_null(strstr(strbuf_str(&b), "stopped: D3D9: "));
    strbuf_clear(&b);
    shader_print(&b, "junk", 4);
    assert_string_equal(strbuf_str(&b), "  4 bytes that are neither DXBC nor Direct3D 9 bytecode\n");
    strbuf_finish(&b);
}

#define OP(opcode, length) ((length) << 16 | (opcode))

/* DeviceMemoryBarrier() of Direct3D, as libvkd3d-shader 1.2 translates it: a barrier for no memory at all, which Vulkan refuses. */
TEST(test_barrier_of_views)
{
    enum { VOID_TYPE = 1, UINT, FUNCTION_TYPE, DEVICE, ACQUIRE_RELEASE, MAIN, LABEL, IDS };
    /* clang-format off */
    static const uint32_t module[] = {
        0x07230203, 0x00010300, 0, IDS, 0,
        OP(17, 2), 1,                      /* OpCapability Shader */
        OP(14, 3), 0, 1,                   /* OpMemoryModel Logical GLSL450 */
        OP(15, 5), 5, MAIN, 0x6E69616D, 0, /* OpEntryPoint GLCompute "main" */
        OP(16, 6), MAIN, 17, 1, 1, 1,      /* OpExecutionMode LocalSize 1 1 1 */
        OP(19, 2), VOID_TYPE,
        OP(21, 4), UINT, 32, 0,
        OP(33, 3), FUNCTION_TYPE, VOID_TYPE,
        OP(43, 4), UINT, DEVICE, 1,
        OP(43, 4), UINT, ACQUIRE_RELEASE, 8,
        OP(54, 5), VOID_TYPE, MAIN, 0, FUNCTION_TYPE,
        OP(248, 2), LABEL,
        OP(225, 3), DEVICE, ACQUIRE_RELEASE, /* OpMemoryBarrier */
        OP(253, 1), OP(56, 1)};
    /* clang-format on */
    size_t count = sizeof(module) / sizeof(*module);
    uint32_t *words = malloc(sizeof(module));
    struct error e = {0};

    assert_non_null(words);
    memcpy(words, module, sizeof(module));
    assert_int_not_equal(shader_validate(words, count, &e), 0);
    assert_int_equal(spirv_bound_arrays(&words, &count), 0);
    assert_int_equal(shader_validate(words, count, &e), 0);
    free(words);
}

/* The phases of a hull shader, as libvkd3d-shader 1.2 translates them: each has the type of functions again. */
TEST(test_types_of_phases)
{
    enum {
        VOID_TYPE = 1,
        UINT,
        OTHER,
        FUNCTION_TYPE,
        AGAIN,
        MAIN,
        PHASE,
        WITH_ID,
        PARAMETER,
        LABELS,
        IDS = LABELS + 3
    };
    /* clang-format off */
    static const uint32_t module[] = {
        0x07230203, 0x00010300, 0, IDS, 0,
        OP(17, 2), 1,                      /* OpCapability Shader */
        OP(14, 3), 0, 1,                   /* OpMemoryModel Logical GLSL450 */
        OP(15, 5), 5, MAIN, 0x6E69616D, 0, /* OpEntryPoint GLCompute "main" */
        OP(16, 6), MAIN, 17, 1, 1, 1,      /* OpExecutionMode LocalSize 1 1 1 */
        OP(19, 2), VOID_TYPE,
        OP(21, 4), UINT, 32, 0,
        OP(33, 4), OTHER, VOID_TYPE, UINT,
        OP(33, 3), FUNCTION_TYPE, VOID_TYPE,
        OP(33, 3), AGAIN, VOID_TYPE,
        OP(54, 5), VOID_TYPE, MAIN, 0, FUNCTION_TYPE, OP(248, 2), LABELS, OP(253, 1), OP(56, 1),
        OP(54, 5), VOID_TYPE, PHASE, 0, AGAIN, OP(248, 2), LABELS + 1, OP(253, 1), OP(56, 1),
        OP(54, 5), VOID_TYPE, WITH_ID, 0, OTHER, OP(55, 3), UINT, PARAMETER, OP(248, 2), LABELS + 2, OP(253, 1), OP(56, 1)};
    /* clang-format on */
    size_t count = sizeof(module) / sizeof(*module);
    uint32_t *words = malloc(sizeof(module));
    struct error e = {0};

    assert_non_null(words);
    memcpy(words, module, sizeof(module));
    assert_int_not_equal(shader_validate(words, count, &e), 0);
    assert_int_equal(spirv_bound_arrays(&words, &count), 0);
    e = (struct error){0};
    if (shader_validate(words, count, &e))
        fail_msg("%s", e.text);
    assert_int_equal(count, sizeof(module) / sizeof(*module) - 3);
    free(words);
}
