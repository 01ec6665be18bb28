/* SPDX-License-Identifier: MIT */
/* Resources and guest memory: what formats, ranges and views of buffers mean, byte by byte. */
#include "test.h"

#include <string.h>

#include <aerogpu/pci.h>

#include "base/dxbc/dxbc_sum.h"
#include "engine_rig.h"
#include "base/dxbc/dxbc.h"

/* colour_vs and colour_ps over buffer 1. */
RIG_TEST(x8_is_opaque_in_guest_memory)
{
    struct rig *r = rig_of(state);
    const uint8_t texels[16] = {1, 2, 3, 0, 4, 5, 6, 0x7F, 7, 8, 9, 10, 11, 12, 13, 0xFF};
    const uint32_t formats[] = {AEROGPU_FORMAT_B8G8R8X8_UNORM, AEROGPU_FORMAT_R8G8B8X8_UNORM_SRGB};

    for (int i = 0; i < 2; i++) {
        rig_each(state);
        memset(r->ram + RIG_DATA_GPA, 0xAB, 4096);
        rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
        rig_make_target_of(r, 30, formats[i], 4, 1);
        rig_upload(r, 30, 0, texels, 16);
        ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 31, .usage_flags = 8,
                 .format = formats[i], .width = 4, .height = 2, .mip_levels = 1, .array_layers = 1,
                 .row_pitch_bytes = 20, .backing_alloc_id = 7);
        ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 31, .src_texture = 30, .dst_x = 1,
                 .dst_y = 1, .src_x = 0, .width = 3, .height = 1, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
        rig_run_ok(r);
        const uint8_t want[] = {0xAB, 0xAB, 0xAB, 0xAB, 1, 2, 3, 255, 4, 5, 6, 255, 7, 8, 9, 255, 0xAB};
        assert_memory_equal(r->ram + RIG_DATA_GPA + 20, want, sizeof(want));
    }
}

RIG_TEST(dirty_ranges_of_what_has_no_guest_memory_are_nothing)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, RED)};

    rig_make_target(r);
    rig_plain(r, v, 6);
    ABI_EMIT(&r->b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = 1, .size_bytes = 32);
    rig_draw(r, 6, 0);
    ABI_EMIT(&r->b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = TARGET,
             .offset_bytes = 1 << 20, .size_bytes = 32);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 47, 31), RED);
    assert_int_equal(rig_pixel(r, 48, 31), 0);
    ABI_EMIT(&r->b, RESOURCE_DIRTY_RANGE, resource_dirty_range, .resource_handle = 99, .size_bytes = 32);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "handle 99 names no buffer and no texture");
}

RIG_TEST(draws_into_16_bits)
{
    struct rig *r = rig_of(state);
    const struct rig_vertex v[] = {RECT(-1, 0, 0.5f, 1, 0, 0xFF8400FF), RECT(-1, -1, 1, 0, 0, 0x0084FF00)};
    const struct {
        uint32_t format;
        uint16_t above, below, right;
    } cases[] = {{AEROGPU_FORMAT_B5G6R5_UNORM, 0xFC20, 0x043F, 0x001F},
                 {AEROGPU_FORMAT_B5G5R5A1_UNORM, 0xFE00, 0x021F, 0x801F}};

    for (int i = 0; i < 2; i++) {
        rig_each(state);
        memset(r->ram + RIG_DATA_GPA, 0xAB, 4096);
        rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
        rig_make_target_of(r, 30, cases[i].format, 8, 6);
        rig_set_target(r, 30, 0);
        rig_clear(r, 1, BLUE, 0, 0);
        rig_plain(r, v, 12);
        rig_draw(r, 12, 0);
        ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 31, .usage_flags = 8,
                 .format = cases[i].format, .width = 8, .height = 6, .mip_levels = 1, .array_layers = 1,
                 .row_pitch_bytes = 18, .backing_alloc_id = 7);
        ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 31, .src_texture = 30, .dst_x = 1,
                 .src_x = 1, .width = 7, .height = 6, .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
        rig_run_ok(r);
        for (uint32_t y = 0; y < 6; y++)
            for (uint32_t x = 0; x < 9; x++) {
                uint16_t got;
                memcpy(&got, r->ram + RIG_DATA_GPA + y * 18 + 2 * x, 2);
                assert_int_equal(got, x == 0 || x == 8 ? 0xABAB
                                      : y >= 3         ? cases[i].below
                                      : x >= 6         ? cases[i].right
                                                       : cases[i].above);
            }
    }
}

/* BC1, 10 x 6 with three mips in guest memory: 3 x 2 blocks on a padded pitch, then 2 x 1 and 1 x 1 tight. */
RIG_TEST(blocks_at_the_edge)
{
    struct rig *r = rig_of(state);
    uint8_t *mem = r->ram + RIG_DATA_GPA, *back = mem + 4096;

    memset(mem, 0, 8192);
    for (uint32_t y = 0; y < 2; y++)
        for (uint32_t i = 0; i < 32; i++)
            mem[y * 32 + i] = (uint8_t)(1 + y * 32 + i);
    for (uint32_t i = 64; i < 64 + 16 + 8; i++)
        mem[i] = (uint8_t)(1 + i);
    memset(back, 0xAB, 4096);
    for (uint32_t k = 0; k < 2; k++) {
        rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
        rig_alloc(r, 8, RIG_DATA_GPA + 4096, 4096, 0);
        ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 30 + k, .usage_flags = 8,
                 .format = AEROGPU_FORMAT_BC1_RGBA_UNORM, .width = 10, .height = 6, .mip_levels = 3,
                 .array_layers = 1, .row_pitch_bytes = 32, .backing_alloc_id = 7 + k);
        if (!k)
            rig_run_ok(r);
    }
    ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 31, .src_texture = 30, .dst_x = 8,
             .src_x = 8, .dst_y = 4, .src_y = 4, .width = 2, .height = 2, .flags = 1);
    ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 31, .src_texture = 30, .dst_mip_level = 1,
             .src_mip_level = 1, .dst_x = 4, .src_x = 4, .width = 1, .height = 3, .flags = 1);
    ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 31, .src_texture = 30, .dst_mip_level = 2,
             .src_mip_level = 2, .width = 2, .height = 1, .flags = 1);
    rig_run_ok(r);
    for (uint32_t i = 0; i < 96; i++) {
        bool copied = (i >= 48 && i < 56) || (i >= 72 && i < 80) || (i >= 80 && i < 88);
        assert_int_equal(back[i], copied ? mem[i] : 0xAB);
    }
    ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 31, .src_texture = 30, .dst_x = 4,
             .src_x = 4, .width = 2, .height = 4);
    rig_alloc(r, 8, RIG_DATA_GPA + 4096, 4096, 0);
    rig_expect_error(r, AEROGPU_ERROR_CMD_DECODE, "cuts 4 x 4 blocks of texture 31");
}

/* Raw views may begin at any word, and end where they say: what is past the end reads zero. */
RIG_TEST(raw_views_begin_at_words)
{
    struct rig *r = rig_of(state);
    uint32_t words[80], *mem = (uint32_t *)(void *)(r->ram + RIG_DATA_GPA);
    struct aerogpu_shader_resource_buffer_binding in = {.buffer = 60, .offset_bytes = 20};
    struct aerogpu_unordered_access_buffer_binding out = {
        .buffer = 61, .offset_bytes = 12, .size_bytes = 4, .initial_count = UINT32_MAX};

    for (uint32_t i = 0; i < 80; i++)
        words[i] = i < 5 ? 1000000 : i;
    rig_make_buffer(r, 60, words, sizeof(words));
    rig_make_buffer(r, 61, NULL, 64);
    rig_make_shader(r, 62, AEROGPU_SHADER_STAGE_COMPUTE, 0, "sum_raw_cs.dxbc");
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 62);
    for (int k = 0; k < 2; k++) {
        in.size_bytes = k ? 40 : 0;
        out.offset_bytes = k ? 20 : 12;
        ABI_EMIT_TAIL(&r->b, SET_SHADER_RESOURCE_BUFFERS, set_shader_resource_buffers, &in, sizeof(in),
                      .shader_stage = 2, .buffer_count = 1);
        ABI_EMIT_TAIL(&r->b, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &out, sizeof(out),
                      .shader_stage = 2, .uav_count = 1);
        ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
    }
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 63, .size_bytes = 64,
             .backing_alloc_id = 7);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 63, .src_buffer = 61, .size_bytes = 64,
             .flags = 1);
    rig_run_ok(r);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(mem[i], i == 3 ? 64 * (5 + 68) / 2 : i == 5 ? 10 * (5 + 14) / 2 : 0);
}

/* What one context stores where nothing is bound, nobody reads: neither where nothing is bound nor in another context. */
RIG_TEST(unbound_stores_are_nobody_elses)
{
    struct rig *r = rig_of(state);
    uint32_t *mem = (uint32_t *)(void *)(r->ram + RIG_DATA_GPA);
    const struct aerogpu_unordered_access_buffer_binding out = {
        .buffer = 61, .size_bytes = 64, .initial_count = UINT32_MAX};

    rig_make_buffer(r, 61, NULL, 64);
    rig_make_shader(r, 62, AEROGPU_SHADER_STAGE_COMPUTE, 0, "ring_structured_cs.dxbc");
    rig_make_shader(r, 63, AEROGPU_SHADER_STAGE_COMPUTE, 0, "sum_raw_cs.dxbc");
    for (uint32_t context = 0; context < 2; context++) {
        ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 62);
        ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
        rig_run_ok(r);
        r->context_id = context;
        ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 63);
        ABI_EMIT_TAIL(&r->b, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &out, sizeof(out),
                      .shader_stage = 2, .uav_count = 1);
        ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
        rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
        ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 64 + context, .size_bytes = 64,
                 .backing_alloc_id = 7);
        ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 64 + context, .src_buffer = 61,
                 .size_bytes = 64, .flags = 1);
        rig_run_ok(r);
        assert_int_equal(mem[0], 0);
    }
}

/* A container around the words of a program, with empty signatures. Returns its size. */
static uint32_t container(uint8_t *out, const uint32_t *words, uint32_t n)
{
    const uint32_t at[3] = {44, 60, 76},
                   names[3] = {DXBC_FOURCC('I', 'S', 'G', 'N'), DXBC_FOURCC('O', 'S', 'G', 'N'),
                               DXBC_FOURCC('S', 'H', 'E', 'X')};
    uint32_t size = 84 + 4 * n, w[21 + 512] = {DXBC_FOURCC('D', 'X', 'B', 'C'), 0, 0, 0, 0, 1, size, 3};

    for (uint32_t i = 0; i < 3; i++) {
        w[8 + i] = at[i];
        w[at[i] / 4] = names[i];
        w[at[i] / 4 + 1] = i < 2 ? 8 : 4 * n;
        if (i < 2)
            w[at[i] / 4 + 3] = 8;
    }
    memcpy(&w[21], words, 4 * n);
    memcpy(out, w, size);
    dxbc_sum(out, size, &w[1]);
    memcpy(out + 4, &w[1], 16);
    return size;
}

/* Each group writes its ticket at its ticket's place. */
RIG_TEST(uav_counters_start_and_go_on)
{
    struct rig *r = rig_of(state);
    uint32_t *mem = (uint32_t *)(void *)(r->ram + RIG_DATA_GPA);
    static const uint32_t program[] = {
        0x00050050, 27,         0x0480009E, 0x0011E000, 0, 4, /* dcl_uav_structured_opc u0, 4 */
        0x02000068, 1,                                        /* dcl_temps 1 */
        0x0400009B, 1,          1,          1,                /* dcl_thread_group 1, 1, 1 */
        0x050000B2, 0x00100012, 0,          0x0011E000, 0,    /* imm_atomic_alloc r0.x, u0 */
        0x090000A8, 0x0011E012, 0,          0x0010000A, 0, 0x00004001,
        0,          0x0010000A, 0, /* store_structured u0.x, r0.x, 0, r0.x */
        0x0100003E};               /* ret */
    const struct {
        uint32_t start, groups;
    } steps[] = {{2, 3}, {UINT32_MAX, 2}, {10, 1}};
    uint8_t bytes[512];
    uint32_t size = container(bytes, program, sizeof(program) / 4);

    rig_make_buffer(r, 60, NULL, 64);
    ABI_EMIT_TAIL(&r->b, CREATE_SHADER_DXBC, create_shader_dxbc, bytes, size, .shader_handle = 62, .stage = 2,
                  .dxbc_size_bytes = size);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 62);
    for (int i = 0; i < 3; i++) {
        struct aerogpu_unordered_access_buffer_binding u = {.buffer = 60, .initial_count = steps[i].start};
        ABI_EMIT_TAIL(&r->b, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &u, sizeof(u),
                      .shader_stage = 2, .uav_count = 1);
        ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = steps[i].groups, .group_count_y = 1,
                 .group_count_z = 1);
    }
    rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 63, .size_bytes = 64,
             .backing_alloc_id = 7);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 63, .src_buffer = 60, .size_bytes = 64,
             .flags = 1);
    rig_run_ok(r);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(mem[i], (i >= 2 && i <= 6) || i == 10 ? i : 0);
}

/* Indexes every memory by the first word of t0, and writes what it finds to u0. */
static const uint32_t beyond[] = {
    0x00050050, 130, /* cs_5_0; its length: below */
    0x00001835, 10,         5, 5,          5,          5,          5,
    5,          5,          5,                /* dcl_immediateConstantBuffer, two rows */
    0x04000859, 0x00208E46, 0, 2,             /* dcl_constantbuffer cb0[2], dynamicIndexed */
    0x030000A1, 0x00107000, 0,                /* dcl_resource_raw t0 */
    0x0300009D, 0x0011E000, 0,                /* dcl_uav_raw u0 */
    0x02000068, 2,                            /* dcl_temps 2 */
    0x04000069, 0,          4, 4,             /* dcl_indexableTemp x0[4], 4 */
    0x0400009F, 0x0011F000, 0, 16,            /* dcl_tgsm_raw g0, 16 */
    0x050000A0, 0x0011F000, 1, 8,          2, /* dcl_tgsm_structured g1, 8, 2 */
    0x0400009B, 1,          1, 1,             /* dcl_thread_group 1, 1, 1 */
    0x070000A5, 0x00100012, 0, 0x00004001, 0,          0x00107006, 0, /* ld_raw r0.x, 0, t0 */
    0x070000A6, 0x0011F012, 0, 0x00004001, 12,         0x00004001, 9, /* store_raw g0.x, 12, 9 */
    0x070000A6, 0x0011F012, 0, 0x0010000A, 0,          0x00004001, 7, /* store_raw g0.x, r0.x, 7 */
    0x070000AD, 0x0011F000, 0, 0x0010000A, 0,          0x00004001, 1, /* atomic_iadd g0, r0.x, 1 */
    0x070000A5, 0x00100012, 1, 0x0010000A, 0,          0x0011F006, 0, /* ld_raw r1.x, r0.x, g0 */
    0x070000A5, 0x00100022, 1, 0x00004001, 12,         0x0011F006, 0, /* ld_raw r1.y, 12, g0 */
    0x070000A6, 0x0011E012, 0, 0x00004001, 0,          0x0010000A, 1, /* store_raw u0, 0, r1.x */
    0x070000A6, 0x0011E012, 0, 0x00004001, 4,          0x0010001A, 1, /* store_raw u0, 4, r1.y */
    0x090000A8, 0x0011F012, 1, 0x0010000A, 0,          0x00004001, 0,
    0x00004001, 7, /* store_structured g1.x, r0.x, 0, 7 */
    0x090000A7, 0x00100012, 1, 0x0010000A, 0,          0x00004001, 0,
    0x0011F006, 1,                                                    /* ld_structured r1.x, r0.x, 0, g1 */
    0x070000A6, 0x0011E012, 0, 0x00004001, 8,          0x0010000A, 1, /* store_raw u0, 8, r1.x */
    0x06000036, 0x00203012, 0, 3,          0x00004001, 9,             /* mov x0[3].x, 9 */
    0x07000036, 0x04203012, 0, 0x0010000A, 0,          0x00004001, 7, /* mov x0[r0.x].x, 7 */
    0x07000036, 0x00100012, 1, 0x0420300A, 0,          0x0010000A, 0, /* mov r1.x, x0[r0.x].x */
    0x06000036, 0x00100022, 1, 0x0020300A, 0,          3,             /* mov r1.y, x0[3].x */
    0x070000A6, 0x0011E012, 0, 0x00004001, 12,         0x0010000A, 1, /* store_raw u0, 12, r1.x */
    0x070000A6, 0x0011E012, 0, 0x00004001, 16,         0x0010001A, 1, /* store_raw u0, 16, r1.y */
    0x06000036, 0x00100012, 1, 0x0090900A, 0x0010000A, 0,             /* mov r1.x, icb[r0.x].x */
    0x070000A6, 0x0011E012, 0, 0x00004001, 20,         0x0010000A, 1, /* store_raw u0, 20, r1.x */
    0x07000036, 0x00100012, 1, 0x0420800A, 0,          0x0010000A, 0, /* mov r1.x, cb0[r0.x].x */
    0x070000A6, 0x0011E012, 0, 0x00004001, 24,         0x0010000A, 1, /* store_raw u0, 24, r1.x */
    0x070000A5, 0x00100012, 1, 0x0010000A, 0,          0x00107006, 0, /* ld_raw r1.x, r0.x, t0 */
    0x070000A6, 0x0011E012, 0, 0x00004001, 28,         0x0010000A, 1, /* store_raw u0, 28, r1.x */
    0x070000A6, 0x0011E012, 0, 0x0010000A, 0,          0x00004001, 7, /* store_raw u0, r0.x, 7 */
    0x0100003E};                                                      /* ret */

/* Direct3D's registers are 4096, whether they can be indexed or not: a driver has them on a stack. */
RIG_TEST(registers_are_bounded)
{
    static const struct {
        uint32_t temps, x0, x1;
        const char *why;
    } programs[] = {{1000, 3000, 96, NULL},
                    {1000, 3000, 97, "DXBC: dcl_indexable_temp at word 12 asks for more than 4096 registers"},
                    {0, 4096, 1, "DXBC: dcl_indexable_temp at word 12 asks for more than 4096 registers"}};
    struct rig *r = rig_of(state);

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const uint32_t words[] = {
            0x00050050, 17, 0x0400009B,     1, 1,          1, 0x02000068,     programs[i].temps,
            0x04000069, 0,  programs[i].x0, 4, 0x04000069, 1, programs[i].x1, 4,
            0x0100003E};
        uint8_t bytes[sizeof(words) + 128];
        uint32_t size = container(bytes, words, sizeof(words) / 4);

        ABI_EMIT_TAIL(&r->b, CREATE_SHADER_DXBC, create_shader_dxbc, bytes, size,
                      .shader_handle = 62 + (uint32_t)i, .stage = 2, .dxbc_size_bytes = size);
        if (programs[i].why)
            rig_expect_error(r, AEROGPU_ERROR_BACKEND, programs[i].why);
        else
            rig_run_ok(r);
    }
}

/* Whatever memory a program indexes, what is outside of it reads as zero, and a write there changes nothing inside. */
RIG_TEST(shader_memory_has_ends)
{
    struct rig *r = rig_of(state);
    uint32_t *mem = (uint32_t *)(void *)(r->ram + RIG_DATA_GPA);
    static const uint32_t outside[] = {64, 1000, 1u << 20, 0x3FFFFFFC, 0x7FFFFFFC, 0x90000000, 0xFFFFFFFC};
    static const uint32_t want[16] = {0, 9, 0, 0, 9, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5};
    uint32_t words[sizeof(beyond) / 4], fives[16], size;
    uint8_t bytes[sizeof(beyond) + 128];
    struct aerogpu_shader_resource_buffer_binding t = {.buffer = 61};
    struct aerogpu_constant_buffer_binding cb = {.buffer = 59};
    struct aerogpu_unordered_access_buffer_binding u = {.buffer = 60,
                                                        .initial_count = AEROGPU_UAV_INITIAL_COUNT_KEEP};

    memcpy(words, beyond, sizeof(words));
    words[1] = sizeof(words) / 4;
    size = container(bytes, words, sizeof(words) / 4);
    for (int i = 0; i < 16; i++)
        fives[i] = 5;
    rig_make_buffer(r, 59, fives, 32);
    rig_make_buffer(r, 60, NULL, 64);
    rig_make_buffer(r, 61, NULL, 64);
    ABI_EMIT_TAIL(&r->b, CREATE_SHADER_DXBC, create_shader_dxbc, bytes, size, .shader_handle = 62, .stage = 2,
                  .dxbc_size_bytes = size);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 62);
    ABI_EMIT_TAIL(&r->b, SET_CONSTANT_BUFFERS, set_constant_buffers, &cb, sizeof(cb), .shader_stage = 2,
                  .buffer_count = 1);
    ABI_EMIT_TAIL(&r->b, SET_SHADER_RESOURCE_BUFFERS, set_shader_resource_buffers, &t, sizeof(t),
                  .shader_stage = 2, .buffer_count = 1);
    ABI_EMIT_TAIL(&r->b, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &u, sizeof(u),
                  .shader_stage = 2, .uav_count = 1);
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        rig_upload(r, 60, 0, fives, 64);
        rig_upload(r, 61, 0, &outside[i], 4);
        ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
        rig_alloc(r, 7, RIG_DATA_GPA, 4096, 0);
        ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 63, .size_bytes = 64,
                 .backing_alloc_id = 7);
        ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 63, .src_buffer = 60, .size_bytes = 64,
                 .flags = 1);
        ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 63);
        rig_run_ok(r);
        for (uint32_t k = 0; k < 16; k++)
            if (mem[k] != want[k])
                fail_msg("index 0x%x: word %u is %u, not %u", outside[i], k, mem[k], want[k]);
    }
}

/* A new texture is zero, also where memory that another one had is used again. */
RIG_TEST(new_textures_are_zero)
{
    struct rig *r = rig_of(state);
    uint8_t junk[64 * 64 + 32 * 32], *mem = r->ram + RIG_DATA_GPA;
    const uint32_t formats[] = {AEROGPU_FORMAT_BC3_RGBA_UNORM, AEROGPU_FORMAT_R8G8B8A8_UNORM,
                                AEROGPU_FORMAT_D32_FLOAT};

    memset(junk, 0x5A, sizeof(junk));
    for (int k = 0; k < 3; k++) {
        uint32_t size = k ? 32 : 64, pitch = k ? 128 : 256, bytes = pitch * (k ? 32 : 16);
        for (int again = 0; again < 2; again++) {
            ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 30, .usage_flags = 8,
                     .format = formats[k], .width = size, .height = size, .mip_levels = 2, .array_layers = 1);
            if (!again)
                rig_upload(r, 30, 0, junk, bytes + bytes / 4);
            if (!again)
                ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 30);
            rig_run_ok(r);
        }
        memset(mem, 0xAB, 8192);
        rig_alloc(r, 7, RIG_DATA_GPA, 8192, 0);
        ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 31, .usage_flags = 8,
                 .format = formats[k], .width = size, .height = size, .mip_levels = 2, .array_layers = 1,
                 .row_pitch_bytes = pitch, .backing_alloc_id = 7);
        for (uint32_t mip = 0; mip < 2; mip++)
            ABI_EMIT(&r->b, COPY_TEXTURE2D, copy_texture2d, .dst_texture = 31, .src_texture = 30,
                     .dst_mip_level = mip, .src_mip_level = mip, .width = size >> mip, .height = size >> mip,
                     .flags = 1);
        ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 30);
        ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 31);
        rig_run_ok(r);
        for (uint32_t i = 0; i < bytes + bytes / 4; i++)
            assert_int_equal(mem[i], 0);
        assert_int_equal(mem[bytes + bytes / 4], 0xAB);
    }
}

TEST_GROUP(rig_group_setup, rig_group_teardown);
