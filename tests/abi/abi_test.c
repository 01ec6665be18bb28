/* SPDX-License-Identifier: MIT */
/* The ABI room: layouts against numbers written down independently of the table, the decoder's rules, the printer. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>

#include "alloc_fail.h"
#include "abi/alloc_table.h"
#include "abi/builder.h"
#include "abi/print.h"

#define OFFSET(s, f, n) assert_int_equal(offsetof(struct aerogpu_cmd_##s, f), n)

TEST(offsets_are_those_of_the_abi)
{
    OFFSET(create_buffer, size_bytes, 16);
    OFFSET(create_buffer, backing_alloc_id, 24);
    OFFSET(create_texture2d, backing_alloc_id, 40);
    OFFSET(create_texture2d, row_pitch_bytes, 36);
    OFFSET(create_texture_view, reserved0, 36);
    OFFSET(upload_resource, offset_bytes, 16);
    OFFSET(copy_buffer, flags, 40);
    OFFSET(copy_texture2d, flags, 56);
    OFFSET(create_shader_dxbc, dxbc_size_bytes, 16);
    OFFSET(create_shader_dxbc, stage_ex, 20);
    OFFSET(set_blend_state, color_write_mask, 24);
    OFFSET(set_blend_state, src_factor_alpha, 28);
    OFFSET(set_blend_state, blend_constant_rgba, 40);
    OFFSET(set_blend_state, sample_mask, 56);
    OFFSET(set_depth_stencil_state, stencil_read_mask, 24);
    OFFSET(set_rasterizer_state, depth_bias, 24);
    OFFSET(set_render_targets, colors, 16);
    OFFSET(set_texture, texture, 16);
    OFFSET(set_texture, stage_ex, 20);
    OFFSET(clear, color_rgba, 12);
    OFFSET(clear, depth, 28);
    OFFSET(draw_indexed, base_vertex, 20);
    OFFSET(present_ex, d3d9_present_flags, 16);
    OFFSET(import_shared_surface, share_token, 16);
    OFFSET(release_shared_surface, share_token, 8);
    assert_int_equal(AEROGPU_CMD_FLUSH, 0x720);
    assert_int_equal(AEROGPU_CMD_SET_UNORDERED_ACCESS_BUFFERS, 0x525);
    assert_int_equal(AEROGPU_TOPOLOGY_PATCHLIST_32, 64);
    assert_int_equal(ABI_NUM_PACKETS, 48 + 30); /* and ours */
}

TEST(field_tables_cover_their_structs)
{
    for (uint32_t i = 0; i < ABI_NUM_PACKETS; i++) {
        const struct abi_packet_desc *d = &abi_packets[i];
        uint32_t end = 8;
        assert_ptr_equal(abi_packet_find(d->opcode), d);
        for (uint32_t k = 0; k < d->num_fields; k++) {
            const uint32_t sizes[] = {1, 4, 4, 8, 4};
            assert_int_equal(d->fields[k].offset, end);
            end += sizes[d->fields[k].type] * (uint32_t)d->fields[k].count;
        }
        assert_int_equal(end, d->size);
    }
    assert_null(abi_packet_find(0x109));
    assert_null(abi_packet_find(0x800));
    assert_null(abi_packet_find(UINT32_MAX));
}

TEST(semantic_hashes)
{
    assert_int_equal(abi_semantic_hash("POSITION"), 0x7808e88a);
    assert_int_equal(abi_semantic_hash("Color"), 0xe7c308f8);
    assert_int_equal(abi_semantic_hash("texcoord"), 0x0bc45413);
    assert_int_equal(abi_semantic_hash("NORMAL"), 0x3c329992);
    assert_int_equal(abi_semantic_hash("SV_Position"), 0x178476ae);
}

/* Decodes a whole stream; returns the number of packets or the error. */
static int decode(const void *data, uint32_t size, struct error *e)
{
    struct abi_stream s;
    struct abi_packet p;
    int n = 0, r = abi_stream_open(&s, data, size, e);

    if (r)
        return r;
    while ((r = abi_stream_next(&s, &p, e)) > 0)
        n++;
    return r ? r : n;
}

TEST(a_built_stream_decodes)
{
    struct abi_builder b;
    struct aerogpu_vertex_buffer_binding vb[2] = {{.buffer = 5, .stride_bytes = 28},
                                                  {.buffer = 6, .stride_bytes = 12}};
    struct abi_stream s;
    struct abi_packet p;
    struct strbuf text = {0};
    struct error e = {0};
    uint32_t size;
    const void *data;

    abi_builder_init(&b);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 5, .usage_flags = 1, .size_bytes = 84);
    ABI_EMIT_TAIL(&b, UPLOAD_RESOURCE, upload_resource, "abcde", 5, .resource_handle = 5, .size_bytes = 5);
    ABI_EMIT_TAIL(&b, SET_VERTEX_BUFFERS, set_vertex_buffers, vb, sizeof(vb), .buffer_count = 2);
    abi_builder_packet(&b, 0x7777, &(struct aerogpu_cmd_hdr){0}, 8, "unknown!", 8);
    ABI_EMIT_TAIL(&b, DEBUG_MARKER, debug_marker, "shadow \"pass\"", 13, .hdr = {0});
    ABI_EMIT(&b, SET_VIEWPORT, set_viewport, .width = abi_f32(64), .height = abi_f32(0.5f));
    data = abi_builder_end(&b, &size);
    assert_non_null(data);
    assert_int_equal(abi_stream_open(&s, data, size, &e), 0);
    assert_int_equal(abi_stream_next(&s, &p, &e), 1);
    abi_print_packet(&text, &p, 8);
    assert_string_equal(strbuf_str(&text),
                        "CREATE_BUFFER buffer_handle=5 usage_flags=VERTEX_BUFFER size_bytes=84 "
                        "backing_alloc_id=0 backing_offset_bytes=0");
    assert_int_equal(abi_stream_next(&s, &p, &e), 1);
    assert_int_equal(p.tail_size, 5);
    assert_memory_equal(p.tail, "abcde", 5);
    assert_int_equal(p.size, 40);
    assert_int_equal(abi_stream_next(&s, &p, &e), 1);
    strbuf_clear(&text);
    abi_print_packet(&text, &p, 1);
    assert_string_equal(strbuf_str(&text),
                        "SET_VERTEX_BUFFERS start_slot=0 buffer_count=2 {buffer=5 stride_bytes=28 "
                        "offset_bytes=0} …");
    assert_int_equal(abi_stream_next(&s, &p, &e), 1);
    assert_null(p.desc);
    assert_int_equal(p.opcode, 0x7777);
    assert_int_equal(abi_stream_next(&s, &p, &e), 1);
    strbuf_clear(&text);
    abi_print_packet(&text, &p, 8);
    assert_string_equal(strbuf_str(&text), "DEBUG_MARKER \"shadow \\x22pass\\x22\"");
    assert_int_equal(abi_stream_next(&s, &p, &e), 1);
    json_t *j = abi_packet_json(&p);
    assert_true(json_real_value(json_object_get(json_object_get(j, "fields"), "height")) == 0.5);
    json_decref(j);
    assert_int_equal(abi_stream_next(&s, &p, &e), 0);
    assert_int_equal(abi_stream_next(&s, &p, &e), 0);
    strbuf_finish(&text);
    abi_builder_finish(&b);
}

TEST(bad_headers_are_refused)
{
    uint32_t h[6] = {AEROGPU_CMD_STREAM_MAGIC, AEROGPU_ABI_VERSION_U32, 24, 0, 0, 0};
    struct error e = {0};

    assert_int_equal(decode(h, 24, &e), 0);
    assert_int_equal(decode(h, 23, &e), -EBADMSG);
    h[1] = 0x00010063; /* a minor of the future */
    assert_int_equal(decode(h, 24, NULL), 0);
    h[1] = 0x00020000;
    error_clear(&e);
    assert_int_equal(decode(h, 24, &e), -EBADMSG);
    assert_string_equal(e.text, "command stream: ABI major version 2, this device speaks 1");
    h[1] = AEROGPU_ABI_VERSION_U32;
    for (uint32_t bad = 0; bad < 64; bad++) {
        h[2] = bad;
        assert_int_equal(decode(h, 24, NULL), bad == 24 ? 0 : -EBADMSG);
    }
    h[2] = 24;
    h[0]++;
    assert_int_equal(decode(h, 24, NULL), -EBADMSG);
}

/* Builds a stream of one packet whose bytes the caller chooses. */
static int decode_one(uint32_t minor, const uint32_t *words, uint32_t n, struct error *e)
{
    uint32_t s[64] = {AEROGPU_CMD_STREAM_MAGIC, 0x10000 | minor, 24 + 4 * n};

    memcpy(s + 6, words, 4 * n);
    return decode(s, sizeof(s), e);
}

TEST(packet_sizes_are_minima)
{
    struct error e = {0};

    assert_int_equal(decode_one(4, (uint32_t[]){0x601, 24, 3, 1, 0, 0}, 6, NULL), 1);
    assert_int_equal(decode_one(4, (uint32_t[]){0x601, 32, 3, 1, 0, 0, 9, 9}, 8, NULL), 1);
    assert_int_equal(decode_one(4, (uint32_t[]){0x601, 20, 3, 1, 0}, 5, &e), -EBADMSG);
    assert_string_equal(e.text, "packet 0 at offset 0x18: DRAW: size_bytes is 20, at least 24 is needed");
    assert_int_equal(decode_one(4, (uint32_t[]){0x601, 28, 3, 1, 0, 0}, 6, NULL), -EBADMSG);
    assert_int_equal(decode_one(4, (uint32_t[]){0, 4, 0, 8}, 4, NULL), -EBADMSG);
    assert_int_equal(decode_one(4, (uint32_t[]){0, 10, 0, 8}, 4, NULL), -EBADMSG);
    assert_int_equal(decode_one(4, (uint32_t[]){0, 8, 0}, 3, NULL), -EBADMSG);
    assert_int_equal(decode_one(4, (uint32_t[]){0, UINT32_MAX, 0}, 3, NULL), -EBADMSG);
}

/* 28 bytes were all of SET_BLEND_STATE once. */
TEST(short_blend_states_are_filled_up)
{
    struct aerogpu_cmd_set_blend_state full = {.enable = 1,
                                               .src_factor = AEROGPU_BLEND_SRC_ALPHA,
                                               .dst_factor = AEROGPU_BLEND_INV_SRC_ALPHA,
                                               .blend_op = AEROGPU_BLEND_OP_MAX,
                                               .color_write_mask = 5,
                                               .src_factor_alpha = AEROGPU_BLEND_ZERO,
                                               .sample_mask = 6},
                                       got;
    struct abi_builder b;
    struct abi_stream s;
    struct abi_packet p;
    struct error e = {0};
    const void *bytes;
    uint32_t size;

    abi_builder_init(&b);
    abi_builder_packet(&b, AEROGPU_CMD_SET_BLEND_STATE, &full, 28, NULL, 0);
    abi_builder_packet(&b, AEROGPU_CMD_SET_BLEND_STATE, &full, 32, NULL, 0);
    abi_builder_packet(&b, AEROGPU_CMD_SET_BLEND_STATE, &full, 24, NULL, 0);
    bytes = abi_builder_end(&b, &size);
    assert_int_equal(abi_stream_open(&s, bytes, size, &e), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(abi_stream_next(&s, &p, &e), 1);
        assert_int_equal(p.size, i ? 32 : 28);
        memcpy(&got, p.data, sizeof(got));
        assert_int_equal(got.color_write_mask, 5);
        assert_int_equal(got.src_factor_alpha, i ? AEROGPU_BLEND_ZERO : AEROGPU_BLEND_SRC_ALPHA);
        assert_int_equal(got.dst_factor_alpha, AEROGPU_BLEND_INV_SRC_ALPHA);
        assert_int_equal(got.blend_op_alpha, AEROGPU_BLEND_OP_MAX);
        assert_int_equal(got.blend_constant_rgba[3], abi_f32(1));
        assert_int_equal(got.sample_mask, UINT32_MAX);
    }
    assert_int_equal(abi_stream_next(&s, &p, &e), -EBADMSG);
    assert_string_equal(e.text,
                        "packet 2 at offset 0x54: SET_BLEND_STATE: size_bytes is 24, at least 60 is needed");
    abi_builder_finish(&b);
}

TEST(counted_tails_stay_inside)
{
    struct error e = {0};

    assert_int_equal(decode_one(4, (uint32_t[]){0x500, 32, 0, 1, 5, 28, 0, 0}, 8, NULL), 1);
    assert_int_equal(decode_one(4, (uint32_t[]){0x500, 32, 0, 2, 5, 28, 0, 0}, 8, &e), -EBADMSG);
    assert_string_equal(
        e.text,
        "packet 0 at offset 0x18: SET_VERTEX_BUFFERS: 2 elements of 16 bytes do not fit its 32 bytes");
    assert_int_equal(decode_one(4, (uint32_t[]){0x500, 32, 0, 0x10000001, 5, 28, 0, 0}, 8, NULL), -EBADMSG);
    /* a 64-bit count */
    assert_int_equal(decode_one(4, (uint32_t[]){0x104, 36, 1, 0, 0, 0, 4, 0, 0xabcd}, 9, NULL), 1);
    assert_int_equal(decode_one(4, (uint32_t[]){0x104, 36, 1, 0, 0, 0, 4, 1, 0xabcd}, 9, NULL), -EBADMSG);
}

TEST(enumerations_are_checked)
{
    struct error e = {0};

    for (uint32_t t = 0; t < 70; t++) {
        bool legal = (t >= 1 && t <= 6) || (t >= 10 && t <= 13) || (t >= 33 && t <= 64);
        assert_int_equal(decode_one(4, (uint32_t[]){0x502, 16, t, 0}, 4, NULL), legal ? 1 : -EBADMSG);
    }
    assert_int_equal(decode_one(4, (uint32_t[]){0x501, 24, 1, 2, 0, 0}, 6, &e), -EBADMSG);
    assert_string_equal(
        e.text, "packet 0 at offset 0x18: SET_INDEX_BUFFER: format is 2, which is none that the ABI defines");
    uint32_t tex[14] = {0x101, 56, 1, 8, 0, 4, 4, 1, 1};
    for (uint32_t f = 0; f < 80; f++) {
        bool legal = (f >= 1 && f <= 10) || f == 32 || f == 33 || (f >= 64 && f <= 71);
        tex[4] = f;
        assert_int_equal(decode_one(4, tex, 14, NULL), legal ? 1 : -EBADMSG);
    }
}

/* Sixteen bytes a register where the packet has room for them, else four. */
TEST(bool_constants_have_one_lane_or_four)
{
    uint32_t words[] = {AEROGPU_CMD_STREAM_MAGIC,
                        AEROGPU_ABI_VERSION_U32,
                        24 + 56,
                        0,
                        0,
                        0,
                        0x208,
                        56,
                        0,
                        5,
                        2,
                        0,
                        0,
                        1,
                        0,
                        0,
                        7,
                        8,
                        9,
                        10};
    struct {
        uint32_t bytes, elem, count;
    } cases[] = {{56, 16, 2}, {52, 4, 2}, {32, 4, 2}, {28, 0, 0}};
    struct strbuf out = {0};
    struct abi_stream st;
    struct abi_packet p;

    for (int i = 0; i < 4; i++) {
        words[2] = 24 + cases[i].bytes;
        words[7] = cases[i].bytes;
        assert_int_equal(abi_stream_open(&st, words, sizeof(words), NULL), 0);
        assert_int_equal(abi_stream_next(&st, &p, NULL), cases[i].elem ? 1 : -EBADMSG);
        if (!cases[i].elem)
            continue;
        assert_int_equal(p.elem_size, cases[i].elem);
        assert_int_equal(p.tail_count, cases[i].count);
        assert_int_equal(p.tail_size, cases[i].elem * cases[i].count);
        strbuf_clear(&out);
        abi_print_packet(&out, &p, 8);
        assert_non_null(strstr(strbuf_str(&out), i ? " 0 1" : "(0,1,0,0) (7,8,9,10)"));
    }
    strbuf_finish(&out);
}

TEST(stage_ex_counts_from_minor_3)
{
    struct abi_stream s = {.minor = 3};

    for (uint32_t ex = 0; ex < 8; ex++) {
        uint32_t bind[] = {0x510, 24, AEROGPU_SHADER_STAGE_COMPUTE, 0, 0, ex};
        assert_int_equal(decode_one(3, bind, 6, NULL), ex == 1 || ex > 5 ? -EBADMSG : 1);
        assert_int_equal(decode_one(2, bind, 6, NULL), 1);
        bind[2] = AEROGPU_SHADER_STAGE_PIXEL;
        assert_int_equal(decode_one(3, bind, 6, NULL), 1);
    }
    assert_int_equal(abi_stage(&s, AEROGPU_SHADER_STAGE_COMPUTE, 0), ABI_CS);
    assert_int_equal(abi_stage(&s, AEROGPU_SHADER_STAGE_COMPUTE, 3), ABI_HS);
    assert_int_equal(abi_stage(&s, AEROGPU_SHADER_STAGE_PIXEL, 3), ABI_PS);
    assert_int_equal(abi_stage(&s, AEROGPU_SHADER_STAGE_GEOMETRY, 0), ABI_GS);
    s.minor = 2;
    assert_int_equal(abi_stage(&s, AEROGPU_SHADER_STAGE_COMPUTE, 3), ABI_CS);
}

TEST(bind_shaders_has_two_forms)
{
    uint32_t words[] = {0x202, 24, 1, 2, 3, 4, 5, 6, 7, 8};
    const uint32_t sizes[] = {24, 28, 32, 36, 40}, tails[] = {0, 0, 0, 3, 3};

    for (int i = 0; i < 5; i++) {
        uint32_t s[32] = {AEROGPU_CMD_STREAM_MAGIC, AEROGPU_ABI_VERSION_U32, 24 + sizes[i]};
        struct abi_stream st;
        struct abi_packet p;
        words[1] = sizes[i];
        memcpy(s + 6, words, sizeof(words));
        assert_int_equal(abi_stream_open(&st, s, sizeof(s), NULL), 0);
        assert_int_equal(abi_stream_next(&st, &p, NULL), 1);
        assert_int_equal(p.tail_count, tails[i]);
    }
}

static void make_table(uint8_t *out, uint32_t stride, uint32_t n)
{
    struct aerogpu_alloc_table_header h = {.magic = AEROGPU_ALLOC_TABLE_MAGIC,
                                           .abi_version = AEROGPU_ABI_VERSION_U32,
                                           .size_bytes = 24 + stride * n,
                                           .entry_count = n,
                                           .entry_stride_bytes = stride};
    memcpy(out, &h, sizeof(h));
    for (uint32_t i = 0; i < n; i++) {
        struct aerogpu_alloc_entry entry = {
            .alloc_id = 10 - i, .gpa = 0x1000 * i, .size_bytes = 0x1000, .flags = i & 1};
        memcpy(out + 24 + i * stride, &entry, sizeof(entry));
    }
}

TEST(allocation_tables)
{
    uint8_t data[400] = {0};
    struct abi_alloc_table t = {0};
    struct aerogpu_alloc_entry *second = (void *)(data + 24 + 40);
    struct error e = {0};

    make_table(data, 40, 4);
    assert_int_equal(abi_alloc_table_parse(&t, data, 24 + 160, &e), 0);
    assert_int_equal(t.count, 4);
    assert_int_equal(abi_alloc_table_find(&t, 9)->gpa, 0x1000);
    assert_true(abi_alloc_table_find(&t, 9)->readonly);
    assert_false(abi_alloc_table_find(&t, 10)->readonly); /* at gpa 0, which is legal */
    assert_null(abi_alloc_table_find(&t, 11));
    assert_int_equal(abi_alloc_table_parse(&t, data, 24 + 159, NULL), -EBADMSG);
    assert_null(abi_alloc_table_find(&t, 9));
    make_table(data, 28, 4);
    assert_int_equal(abi_alloc_table_parse(&t, data, sizeof(data), NULL), -EBADMSG);
    make_table(data, 40, 4);
    second->alloc_id = 10;
    assert_int_equal(abi_alloc_table_parse(&t, data, sizeof(data), &e), -EBADMSG);
    assert_string_equal(e.text, "allocation table: alloc_id 10 stands in it twice");
    second->alloc_id = 0;
    assert_int_equal(abi_alloc_table_parse(&t, data, sizeof(data), NULL), -EBADMSG);
    second->alloc_id = 77;
    second->gpa = UINT64_MAX;
    error_clear(&e);
    assert_int_equal(abi_alloc_table_parse(&t, data, sizeof(data), &e), -EBADMSG);
    assert_string_equal(
        e.text, "allocation table: entry 1 at offset 0x40: alloc_id 77: gpa 0xffffffffffffffff + size "
                "0x1000 overflows");
    second->gpa = 0;
    second->size_bytes = 0;
    assert_int_equal(abi_alloc_table_parse(&t, data, sizeof(data), NULL), -EBADMSG);
    abi_alloc_table_finish(&t);
}

/* The class column says the same as the fields. */
TEST(classes_agree_with_fields)
{
    for (uint32_t i = 0; i < ABI_NUM_PACKETS; i++) {
        const struct abi_packet_desc *d = &abi_packets[i];
        uint32_t made = 0, ended = 0;

        for (uint32_t f = 0; f < d->num_fields; f++) {
            made += d->fields[f].kind == AEROGPU_KIND_NEW;
            ended += d->fields[f].kind == AEROGPU_KIND_END;
        }
        assert_int_equal(made, d->class.id == AEROGPU_CLASS_CREATE);
        assert_int_equal(ended, d->class.id == AEROGPU_CLASS_DESTROY);
        assert_int_equal(d->object != 0, made + ended);
        assert_true(sizeof(struct aerogpu_cmd_hdr) + d->class.key <= d->size);
        if (made) {
            const struct abi_packet_desc *end = abi_packet_find(d->class.ending);
            assert_non_null(end);
            assert_int_equal(end->class.id, AEROGPU_CLASS_DESTROY);
            /* the kernel driver notes and ends names by this place alone */
            assert_int_equal(d->object, sizeof(struct aerogpu_cmd_hdr));
            assert_int_equal(end->object, sizeof(struct aerogpu_cmd_hdr));
        } else {
            assert_int_equal(d->class.ending, 0);
        }
    }
    assert_true(abi_opcode_is_draw(AEROGPU_CMD_DISPATCH));
    assert_false(abi_opcode_is_draw(AEROGPU_CMD_CLEAR));
    assert_true(abi_opcode_is_work(AEROGPU_CMD_CLEAR));
    assert_true(abi_opcode_is_work(AEROGPU_CMD_CREATE_TEXTURE2D));
    assert_true(abi_opcode_is_work(AEROGPU_CMD_EXT_RESIDENCY));
    assert_false(abi_opcode_is_work(AEROGPU_CMD_SET_VIEWPORT));
    assert_int_equal(abi_class(0x9999), AEROGPU_CLASS_META);
}

static int build_and_print(void *ctx)
{
    struct abi_builder b;
    struct abi_stream s;
    struct abi_packet p;
    struct strbuf text = {0};
    const void *bytes;
    uint32_t size;
    int err = -ENOMEM;

    abi_builder_init(&b);
    for (uint32_t i = 0; i < 40; i++)
        ABI_EMIT(&b, SET_VIEWPORT, set_viewport, .x = i, .y = i);
    bytes = abi_builder_end(&b, &size);
    if (bytes && !abi_stream_open(&s, bytes, size, NULL)) {
        while (abi_stream_next(&s, &p, NULL) > 0)
            abi_print_packet(&text, &p, 8);
        err = strbuf_failed(&text) ? -ENOMEM : 0;
    }
    abi_builder_finish(&b);
    strbuf_finish(&text);
    return err;
}

static int parse_table(void *ctx)
{
    struct {
        struct aerogpu_alloc_table_header h;
        struct aerogpu_alloc_entry entries[3];
    } t = {.h = {.magic = AEROGPU_ALLOC_TABLE_MAGIC,
                 .abi_version = AEROGPU_ABI_VERSION_U32,
                 .size_bytes = sizeof(t),
                 .entry_count = 3,
                 .entry_stride_bytes = sizeof(t.entries[0])}};
    struct abi_alloc_table table = {0};
    int err;

    for (uint32_t i = 0; i < 3; i++)
        t.entries[i] = (struct aerogpu_alloc_entry){.alloc_id = 3 - i, .size_bytes = 4096};
    err = abi_alloc_table_parse(&table, &t, sizeof(t), NULL);
    assert_int_equal(abi_alloc_table_find(&table, 2) != NULL, !err);
    abi_alloc_table_finish(&table);
    return err;
}

TEST(without_memory)
{
    assert_true(alloc_fail_each(build_and_print, NULL) >= 2);
    assert_true(alloc_fail_each(parse_table, NULL) >= 1);
}
