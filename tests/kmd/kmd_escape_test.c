/* SPDX-License-Identifier: MIT */
/* The escapes of the miniport: what they answer, to whom, and what they say to bad input. */
#include "test.h"

#include <stdlib.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "aerogpu/ext.h"
#include "kmd_rig.h"

#define SIM  (&(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 1}})
#define LIVE (&(struct stack_params){.machine = {.kind = MACHINE_LIVE}})

/* Renders one NOP and waits. */
static void work(struct rig_context *x)
{
    struct abi_builder b;

    abi_builder_init(&b);
    ABI_EMIT(&b, NOP, nop);
    assert_int_equal(rig_render(x, &b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(x), STATUS_SUCCESS);
    abi_builder_finish(&b);
}

TEST(the_device_is_described)
{
    struct aerogpu_escape_query_device a = {0};
    struct aerogpu_escape_query_device_v2 b = {0};
    struct rig r = {0};

    rig_up(&r, SIM);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_DEVICE, &a), STATUS_SUCCESS);
    assert_int_equal(a.mmio_version, 0x10004);
    assert_int_equal(a.header.size, sizeof(a));
    assert_int_equal(RIG_ESCAPE(&r, QUERY_DEVICE_V2, &b), STATUS_SUCCESS);
    assert_int_equal(b.detected_mmio_magic, AEROGPU_MMIO_MAGIC);
    assert_int_equal(b.abi_version_u32, 0x10004);
    assert_int_equal(b.features_lo,
                     AEROGPU_FEATURES_ALL | (AEROGPU_EXT_FEATURES_ALL & ~AEROGPU_EXT_FEATURE(EXT_ADDRESSES)));
    assert_int_equal(b.features_hi, 0);
    rig_down(&r);
}

/* Every op: sizes around its limits, foreign versions, unknown ops. */
TEST(sizes_are_checked)
{
    static const struct {
        uint32_t op, size, need;
    } ops[] = {
        {AEROGPU_ESCAPE_OP_QUERY_DEVICE, 24, 24},       {AEROGPU_ESCAPE_OP_QUERY_FENCE, 48, 32},
        {AEROGPU_ESCAPE_OP_DUMP_RING, 808, 40},         {AEROGPU_ESCAPE_OP_SELFTEST, 32, 32},
        {AEROGPU_ESCAPE_OP_QUERY_VBLANK, 56, 56},       {AEROGPU_ESCAPE_OP_DUMP_RING_V2, 1332, 52},
        {AEROGPU_ESCAPE_OP_QUERY_DEVICE_V2, 48, 48},    {AEROGPU_ESCAPE_OP_DUMP_CREATEALLOCATION, 1824, 32},
        {AEROGPU_ESCAPE_OP_QUERY_SCANOUT, 80, 72},      {AEROGPU_ESCAPE_OP_QUERY_CURSOR, 72, 72},
        {AEROGPU_ESCAPE_OP_QUERY_PERF, 264, 144},       {AEROGPU_ESCAPE_OP_QUERY_ERROR, 40, 40},
        {AEROGPU_ESCAPE_OP_SET_CURSOR_POSITION, 24, 24}};
    struct {
        struct aerogpu_escape_header h;
        uint8_t rest[4096];
    } e;
    struct rig r = {0};

    rig_up(&r, SIM);
    for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        for (uint32_t size = 16; size <= ops[i].size + 8; size += 4) {
            memset(&e, 0, sizeof(e));
            memset(e.rest + size - 16, 0xEE, 64);
            e.h = (struct aerogpu_escape_header){1, ops[i].op, size, 0};
            assert_int_equal(rig_escape(&r, r.client, &e, size),
                             size < ops[i].need ? STATUS_BUFFER_TOO_SMALL : STATUS_SUCCESS);
            if (size >= ops[i].need)
                assert_int_equal(e.h.size, size < ops[i].size ? size : ops[i].size);
            for (int k = 0; k < 64; k++) /* nothing behind the block is touched */
                assert_int_equal(e.rest[size - 16 + k], 0xEE);
        }
        e.h = (struct aerogpu_escape_header){1, ops[i].op, ops[i].size + 1, 0};
        assert_int_equal(rig_escape(&r, r.client, &e, ops[i].size), STATUS_INVALID_PARAMETER); /* size lies */
        e.h = (struct aerogpu_escape_header){2, ops[i].op, ops[i].size, 0};
        assert_int_equal(rig_escape(&r, r.client, &e, ops[i].size), STATUS_INVALID_PARAMETER);
    }
    assert_int_equal(rig_escape(&r, r.client, &e, 15), STATUS_BUFFER_TOO_SMALL);
    e.h = (struct aerogpu_escape_header){1, 0, 64, 0};
    assert_int_equal(rig_escape(&r, r.client, &e, 64), STATUS_NOT_SUPPORTED);
    e.h.op = 18;
    assert_int_equal(rig_escape(&r, r.client, &e, 64), STATUS_NOT_SUPPORTED);
    e.h.op = 0xFFFFFFFF;
    assert_int_equal(rig_escape(&r, r.client, &e, 64), STATUS_NOT_SUPPORTED);
    rig_down(&r);
}

TEST(other_sources_and_rings_do_not_exist)
{
    struct aerogpu_escape_query_vblank v = {.vidpn_source_id = 1};
    struct aerogpu_escape_query_scanout s = {.vidpn_source_id = 1};
    struct aerogpu_escape_dump_ring d = {.ring_id = 1};
    struct aerogpu_escape_dump_ring_v2 d2 = {.ring_id = 7};
    struct rig r = {0};

    rig_up(&r, SIM);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_VBLANK, &v), STATUS_INVALID_PARAMETER);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_SCANOUT, &s), STATUS_INVALID_PARAMETER);
    assert_int_equal(RIG_ESCAPE(&r, DUMP_RING, &d), STATUS_INVALID_PARAMETER);
    assert_int_equal(RIG_ESCAPE(&r, DUMP_RING_V2, &d2), STATUS_INVALID_PARAMETER);
    rig_down(&r);
}

TEST(the_ring_shows_what_was_submitted)
{
    struct aerogpu_escape_dump_ring d = {.desc_capacity = 32};
    struct aerogpu_escape_dump_ring_v2 v = {.desc_capacity = 32};
    struct rig_context x;
    struct rig r = {0};

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    for (int i = 0; i < 40; i++)
        work(&x);
    assert_int_equal(RIG_ESCAPE(&r, DUMP_RING, &d), STATUS_SUCCESS);
    assert_int_equal(d.head, d.tail);
    assert_int_equal(d.desc_count, 0); /* nothing is pending */
    assert_int_equal(d.desc_capacity, 32);
    assert_int_equal(RIG_ESCAPE(&r, DUMP_RING_V2, &v), STATUS_SUCCESS);
    assert_int_equal(v.desc_count, 32);
    assert_int_equal(v.tail, 40);
    assert_int_equal(v.ring_size_bytes, 64 + 256 * 64);
    for (int i = 1; i < 32; i++)
        assert_int_equal(v.desc[i].fence, v.desc[i - 1].fence + 1);
    assert_int_equal(v.desc[31].cmd_size_bytes, 32);
    v.desc_capacity = 5;
    assert_int_equal(RIG_ESCAPE(&r, DUMP_RING_V2, &v), STATUS_SUCCESS);
    assert_int_equal(v.desc_count, 5);
    assert_int_equal(v.desc[4].fence, 40);
    v.desc_capacity = 0xFFFFFFFF;
    assert_int_equal(RIG_ESCAPE(&r, DUMP_RING_V2, &v), STATUS_SUCCESS);
    assert_int_equal(v.desc_count, 32);
    rig_down(&r);
}

TEST(pending_work_is_listed_while_the_device_hangs)
{
    struct aerogpu_escape_dump_ring_v2 v = {.desc_capacity = 32};
    struct aerogpu_escape_query_fence f = {0};
    struct aerogpu_escape_selftest t = {.timeout_ms = 5};
    struct abi_builder b;
    struct rig_context x;
    struct rig r = {0};

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 100);
    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM, .faults.hang = 1000000}});
    x = rig_context(&r, r.client);
    abi_builder_init(&b);
    ABI_EMIT(&b, NOP, nop);
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    stack_sleep(r.stack, NSEC_PER_SEC);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
    assert_int_equal(f.last_submitted_fence, f.last_completed_fence + 1);
    assert_int_equal(RIG_ESCAPE(&r, DUMP_RING_V2, &v), STATUS_SUCCESS);
    assert_int_equal(v.desc[v.desc_count - 1].fence, f.last_submitted_fence);
    assert_int_equal(RIG_ESCAPE(&r, SELFTEST, &t), STATUS_SUCCESS);
    assert_int_equal(t.passed, 0);
    assert_int_equal(t.error_code, AEROGPU_SELFTEST_GPU_BUSY);
    abi_builder_finish(&b);
    stack_sleep(r.stack, 150 * NSEC_PER_SEC); /* the time-out comes after all */
    assert_int_equal(dxgk_event_count(r.dxgk, 4101), 1);
    rig_down(&r);
}

/* After a reset that failed, escapes still answer. */
TEST(the_selftest_tests)
{
    struct aerogpu_escape_selftest t = {.timeout_ms = 2000};
    struct aerogpu_escape_query_perf p = {0};
    struct rig r = {0}, l = {0};

    rig_up(&r, SIM);
    assert_int_equal(RIG_ESCAPE(&r, SELFTEST, &t), STATUS_SUCCESS);
    assert_int_equal(t.error_code, AEROGPU_SELFTEST_OK);
    assert_int_equal(t.passed, 1);
    t.timeout_ms = 1; /* no vblank in a millisecond */
    assert_int_equal(RIG_ESCAPE(&r, SELFTEST, &t), STATUS_SUCCESS);
    assert_int_equal(t.passed, 0);
    assert_int_not_equal(t.error_code, AEROGPU_SELFTEST_OK);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_PERF, &p), STATUS_SUCCESS);
    assert_int_equal(p.selftest_count, 2);
    assert_int_equal(p.selftest_last_error_code, t.error_code);
    rig_down(&r);
    rig_up(&l, LIVE);
    t.timeout_ms = 10000;
    assert_int_equal(RIG_ESCAPE(&l, SELFTEST, &t), STATUS_SUCCESS);
    assert_int_equal(t.error_code, AEROGPU_SELFTEST_OK);
    rig_down(&l);
}

static void *selftest(void *arg)
{
    struct aerogpu_escape_selftest t = {.timeout_ms = 10000};

    return RIG_ESCAPE((struct rig *)arg, SELFTEST, &t) == STATUS_SUCCESS && t.passed ? arg : NULL;
}

/* Vblank interrupts that somebody comes to want while a self-test has them on stay on. */
TEST(a_selftest_leaves_vblanks_to_who_wants_them)
{
    D3DKMT_WAITFORVERTICALBLANKEVENT wait = {0};
    struct aerogpu_escape_query_vblank v = {0};
    struct rig r = {0};
    pthread_t thread;
    void *passed;

    rig_up(&r, LIVE);
    wait.hAdapter = r.adapter;
    for (unsigned i = 1; i <= 5; i++) {
        do { /* until they are off again: nobody wants one */
            usleep(10000);
            assert_int_equal(RIG_ESCAPE(&r, QUERY_VBLANK, &v), STATUS_SUCCESS);
        } while (v.irq_enable & AEROGPU_IRQ_SCANOUT_VBLANK);
        assert_int_equal(pthread_create(&thread, NULL, selftest, &r), 0);
        usleep(i * 2000);
        for (int k = 0; k < 3; k++)
            assert_int_equal(dxgk_WaitForVerticalBlankEvent(r.client, &wait), STATUS_SUCCESS);
        assert_int_equal(pthread_join(thread, &passed), 0);
        assert_non_null(passed);
        assert_int_equal(dxgk_WaitForVerticalBlankEvent(r.client, &wait), STATUS_SUCCESS);
    }
    assert_true(dxgk_event_count(r.dxgk, 4) <
                3); /* seldom switched on again: a busy machine loses 250 ms, too */
    rig_down(&r);
}

TEST(created_allocations_are_traced)
{
    struct aerogpu_escape_dump_createallocation d = {.entry_capacity = 32};
    struct aerogpu_alloc_priv_v2 p;
    struct rig_context x;
    struct rig r = {0};
    D3DKMT_HANDLE a;
    uint32_t before;

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    assert_int_equal(RIG_ESCAPE(&r, DUMP_CREATEALLOCATION, &d), STATUS_SUCCESS);
    before = d.write_index; /* the desktop's own */
    assert_int_equal(d.entry_count, before);
    assert_true(d.entries[0].alloc_id >= AEROGPU_ALLOC_ID_KMD_MIN);
    for (unsigned i = 0; i < 40; i++) {
        p = rig_priv(1000 + i, 4096, 0, 0);
        if (i == 39) {
            p = rig_priv(1000 + i, 0, 64, 64);
        }
        assert_int_equal(rig_allocate(&x, &p, &a), STATUS_SUCCESS);
    }
    p.size_bytes = 0;
    assert_int_equal(rig_allocate(&x, &p, &a), STATUS_INVALID_PARAMETER); /* is not traced */
    d.entry_capacity = 32;
    assert_int_equal(RIG_ESCAPE(&r, DUMP_CREATEALLOCATION, &d), STATUS_SUCCESS);
    assert_int_equal(d.write_index, before + 40);
    assert_int_equal(d.entry_count, 32);
    for (unsigned i = 0; i < 32; i++) {
        assert_int_equal(d.entries[i].seq, before + 8 + i);
        assert_int_equal(d.entries[i].alloc_id, 1008 + i);
        assert_int_equal(d.entries[i].num_allocations, 1);
        assert_int_equal(d.entries[i].size_bytes, i == 31 ? 256 * 64 : 4096);
        assert_int_equal(d.entries[i].pitch_bytes, i == 31 ? 256 : 0);
        assert_int_equal(d.entries[i].flags_out & 1, 1);
    }
    rig_down(&r);
}

TEST(the_log_is_read_line_by_line)
{
    struct aerogpu_escape_read_log e = {0};
    struct rig r = {0};
    uint64_t lines = 0, next = 0;
    bool found = false;

    rig_up(&r, SIM);
    for (uint32_t size = 200;; size = 4096) { /* a short block holds some lines, the next the rest */
        memset(&e, 0xEE, sizeof(e));
        e.header = (struct aerogpu_escape_header){1, AEROGPU_EXT_ESCAPE_OP_READ_LOG, size, 0};
        e.first = next;
        assert_int_equal(rig_escape(&r, r.client, &e, size), STATUS_SUCCESS);
        assert_int_equal(e.first, next);
        if (e.next == e.first)
            break;
        assert_in_range(e.text_bytes, 1, size - 40);
        assert_int_equal(e.text[e.text_bytes - 1], '\n');
        for (uint32_t i = 0; i < e.text_bytes; i++)
            lines += e.text[i] == '\n';
        found |= size == 4096 && memmem(e.text, e.text_bytes, "mode: 1024 x 768, pitch 4096\n", 29);
        next = e.next;
    }
    assert_int_equal(lines, next);
    assert_true(lines >= 3);
    assert_true(found);
    e.header = (struct aerogpu_escape_header){1, AEROGPU_EXT_ESCAPE_OP_READ_LOG, 4096, 0};
    e.first = UINT64_MAX;
    assert_int_equal(rig_escape(&r, r.client, &e, 4096), STATUS_SUCCESS);
    assert_int_equal(e.next, lines);
    assert_int_equal(e.text_bytes, 0);
    e.header.size = 39;
    assert_int_equal(rig_escape(&r, r.client, &e, 4096), STATUS_BUFFER_TOO_SMALL);
    rig_down(&r);
}

/* ---- cursor -------------------------------------------------------------- */

TEST(the_cursor_is_set_moved_and_shown)
{
    struct {
        struct aerogpu_escape_set_cursor_shape e;
        uint32_t pixels[32 * 32];
    } shape = {.e = {.width = 32,
                     .height = 32,
                     .hot_x = 3,
                     .hot_y = 4,
                     .pitch_bytes = 128,
                     .format = AEROGPU_FORMAT_B8G8R8A8_UNORM}};
    struct aerogpu_escape_set_cursor_position pos = {.x = (uint32_t)-5, .y = 7};
    struct aerogpu_escape_set_cursor_visibility vis = {.visible = 1};
    struct aerogpu_escape_query_cursor q = {0};
    struct gpu_picture pic;
    struct error e = {0};
    struct rig r = {0};

    rig_up(&r, SIM);
    assert_int_equal(RIG_ESCAPE(&r, SET_CURSOR_VISIBILITY, &vis),
                     STATUS_DEVICE_NOT_READY); /* there is no shape */
    for (int i = 0; i < 32 * 32; i++)
        shape.pixels[i] = 0xFF000000u | (uint32_t)i;
    assert_int_equal(RIG_ESCAPE(&r, SET_CURSOR_SHAPE, &shape.e),
                     STATUS_BUFFER_TOO_SMALL); /* pixels are missing */
    shape.e.header.size = sizeof(shape);
    assert_int_equal(rig_escape(&r, r.client, &shape, sizeof(shape)), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, SET_CURSOR_POSITION, &pos), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, SET_CURSOR_VISIBILITY, &vis), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_CURSOR, &q), STATUS_SUCCESS);
    assert_int_equal(q.flags, AEROGPU_ESCAPE_FLAGS_VALID | 1);
    assert_int_equal(q.enable, 1);
    assert_int_equal((int32_t)q.x, -5);
    assert_int_equal(q.y, 7);
    assert_int_equal(q.hot_x, 3);
    assert_int_equal(q.hot_y, 4);
    assert_int_equal(q.width, 32);
    assert_int_equal(q.height, 32);
    assert_int_equal(q.pitch_bytes, 128);
    assert_int_equal(gpu_read_cursor(machine_gpu(stack_machine(r.stack)), &pic, &e), 0);
    assert_int_equal(pic.width, 32);
    assert_int_equal(pic.rgba[4 * 33 + 2], 33); /* blue */
    free(pic.rgba);
    vis.visible = 2;
    assert_int_equal(RIG_ESCAPE(&r, SET_CURSOR_VISIBILITY, &vis), STATUS_INVALID_PARAMETER);
    vis.visible = 0;
    assert_int_equal(RIG_ESCAPE(&r, SET_CURSOR_VISIBILITY, &vis), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_CURSOR, &q), STATUS_SUCCESS);
    assert_int_equal(q.enable, 0);
#define REFUSED(field, value)                                                                                \
    do {                                                                                                     \
        __typeof__(shape) bad = shape;                                                                       \
        bad.e.header.size = sizeof(bad);                                                                     \
        bad.e.field = value;                                                                                 \
        assert_int_equal(rig_escape(&r, r.client, &bad, sizeof(bad)), STATUS_INVALID_PARAMETER);             \
    } while (0)
    REFUSED(width, 0);
    REFUSED(height, 0);
    REFUSED(width, 257);
    REFUSED(height, 0xFFFFFFFF);
    REFUSED(hot_x, 32);
    REFUSED(hot_y, 32);
    REFUSED(pitch_bytes, 127);
    REFUSED(pitch_bytes, 0xFFFFFFFC);
    REFUSED(format, AEROGPU_FORMAT_B5G6R5_UNORM);
    REFUSED(format, 0);
    rig_down(&r);
}

/* ---- gates --------------------------------------------------------------- */

TEST(what_others_do_is_not_for_strangers)
{
    static const uint32_t guarded[] = {AEROGPU_ESCAPE_OP_DUMP_RING,
                                       AEROGPU_ESCAPE_OP_DUMP_RING_V2,
                                       AEROGPU_ESCAPE_OP_DUMP_CREATEALLOCATION,
                                       AEROGPU_EXT_ESCAPE_OP_READ_LOG,
                                       AEROGPU_ESCAPE_OP_SET_CURSOR_POSITION,
                                       AEROGPU_ESCAPE_OP_SET_CURSOR_SHAPE,
                                       AEROGPU_ESCAPE_OP_SET_CURSOR_VISIBILITY};
    static const uint32_t open[] = {
        AEROGPU_ESCAPE_OP_QUERY_FENCE,     AEROGPU_ESCAPE_OP_QUERY_PERF,   AEROGPU_ESCAPE_OP_QUERY_DEVICE,
        AEROGPU_ESCAPE_OP_QUERY_DEVICE_V2, AEROGPU_ESCAPE_OP_QUERY_VBLANK, AEROGPU_ESCAPE_OP_QUERY_SCANOUT,
        AEROGPU_ESCAPE_OP_QUERY_CURSOR,    AEROGPU_ESCAPE_OP_QUERY_ERROR,  AEROGPU_ESCAPE_OP_SELFTEST};
    struct {
        struct aerogpu_escape_header h;
        uint8_t rest[4096];
    } e;
    struct dxgk_client *stranger;
    struct rig r = {0};

    rig_up(&r, SIM);
    assert_int_equal(dxgk_client_open(r.dxgk, &stranger, 200, false), 0);
#define ASK(c, op)                                                                                           \
    (memset(&e, 0, sizeof(e)), e.h = (struct aerogpu_escape_header){1, op, sizeof(e), 0},                    \
     rig_escape(&r, c, &e, sizeof(e)))
    for (unsigned i = 0; i < sizeof(guarded) / sizeof(*guarded); i++) {
        assert_int_equal(ASK(stranger, guarded[i]), STATUS_ACCESS_DENIED);
        for (unsigned k = 0; k < sizeof(e.rest); k++)
            assert_int_equal(e.rest[k], 0);
        assert_int_not_equal(ASK(r.client, guarded[i]), STATUS_ACCESS_DENIED);
    }
    for (unsigned i = 0; i < sizeof(open) / sizeof(*open); i++)
        assert_int_equal(ASK(stranger, open[i]), STATUS_SUCCESS);
#undef ASK
    dxgk_client_close(stranger);
    rig_down(&r);
}

TEST(reading_memory_needs_the_setting_and_privilege)
{
    struct aerogpu_escape_read_gpa e = {.gpa = 0x1000, .size_bytes = 16};
    struct dxgk_client *stranger;
    struct rig r = {0};

    for (int on = 0; on < 2; on++) {
        memset(&r, 0, sizeof(r));
        if (on)
            rig_set(&r, RIG_SERVICE, "EnableReadGpaEscape", 1);
        rig_up(&r, SIM);
        assert_int_equal(dxgk_client_open(r.dxgk, &stranger, 200, false), 0);
        e.header = (struct aerogpu_escape_header){1, AEROGPU_ESCAPE_OP_READ_GPA, sizeof(e), 0};
        assert_int_equal(rig_escape(&r, stranger, &e, sizeof(e)), STATUS_NOT_SUPPORTED);
        assert_int_equal(rig_escape(&r, r.client, &e, sizeof(e)), on ? STATUS_SUCCESS : STATUS_NOT_SUPPORTED);
        dxgk_client_close(stranger);
        rig_down(&r);
    }
}

TEST(memory_is_read)
{
    struct aerogpu_escape_read_gpa e = {0};
    struct dxgk_client *admin;
    struct rig r = {0};
    uint64_t end;

    rig_set(&r, RIG_SERVICE, "EnableReadGpaEscape", 1);
    rig_up(&r, SIM);
    assert_int_equal(dxgk_client_open(r.dxgk, &admin, 200, true), 0);
    end = rig_memory_end(&r, admin);
    for (int i = 0; i < 8192; i++)
        machine_ram(stack_machine(r.stack))[end - 8192 + i] = (uint8_t)(i * 7);
#define READ(at, n, status_, copied, result)                                                                 \
    do {                                                                                                     \
        e = (struct aerogpu_escape_read_gpa){                                                                \
            .header = {1, AEROGPU_ESCAPE_OP_READ_GPA, sizeof(e), 0}, .gpa = at, .size_bytes = n};            \
        memset(e.data, 0xEE, sizeof(e.data));                                                                \
        assert_int_equal(rig_escape(&r, admin, &e, sizeof(e)), result);                                      \
        if (NT_SUCCESS(result)) {                                                                            \
            assert_int_equal(e.status, (uint32_t)(status_));                                                 \
            assert_int_equal(e.bytes_copied, copied);                                                        \
            for (uint32_t i = 0; i < 4096; i++)                                                              \
                assert_int_equal(                                                                            \
                    e.data[i], (int)i < (int)(copied) ? machine_ram(stack_machine(r.stack))[(at) + i] : 0);  \
        }                                                                                                    \
    } while (0)
    READ(end - 8192, 4096, STATUS_SUCCESS, 4096, STATUS_SUCCESS);
    READ(end - 8192 + 100, 4096, STATUS_SUCCESS, 4096, STATUS_SUCCESS);
    READ(end - 10, 10, STATUS_SUCCESS, 10, STATUS_SUCCESS);
    READ(end - 4096 - 10, 4096 + 0, STATUS_SUCCESS, 4096, STATUS_SUCCESS);
    READ(end, 1, STATUS_SUCCESS, 0, STATUS_INVALID_PARAMETER);
    READ(UINT64_MAX, 1, STATUS_SUCCESS, 0, STATUS_INVALID_PARAMETER);
    READ(0xFEB00000ull, 4, STATUS_SUCCESS, 0, STATUS_INVALID_PARAMETER); /* registers are not memory */
    READ(0x1000, 0, STATUS_SUCCESS, 0, STATUS_INVALID_PARAMETER);
    READ(0x1000, 4097, STATUS_SUCCESS, 0, STATUS_INVALID_PARAMETER);
    e = (struct aerogpu_escape_read_gpa){
        .header = {1, AEROGPU_ESCAPE_OP_READ_GPA, 56, 0}, .gpa = 0x1000, .size_bytes = 17};
    assert_int_equal(rig_escape(&r, admin, &e, 56), STATUS_BUFFER_TOO_SMALL); /* 16 bytes of room */
    e.size_bytes = 16;
    assert_int_equal(rig_escape(&r, admin, &e, 56), STATUS_SUCCESS);
    dxgk_client_close(admin);
    rig_down(&r);
}

TEST(a_partial_read_says_so)
{
    struct aerogpu_escape_read_gpa e;
    struct dxgk_client *admin;
    struct rig r = {0};
    uint64_t end;

    rig_set(&r, RIG_SERVICE, "EnableReadGpaEscape", 1);
    rig_up(&r, SIM);
    assert_int_equal(dxgk_client_open(r.dxgk, &admin, 200, true), 0);
    end = rig_memory_end(&r, admin);
    READ(end - 100, 4096, STATUS_PARTIAL_COPY, 100, STATUS_SUCCESS);
    READ(end - 1, 2, STATUS_PARTIAL_COPY, 1, STATUS_SUCCESS);
    dxgk_client_close(admin);
    rig_down(&r);
}

static D3DKMT_HANDLE shared(struct rig_context *x, uint32_t id, struct aerogpu_alloc_priv_v2 *p,
                            D3DKMT_HANDLE *share)
{
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = p, .PrivateDriverDataSize = sizeof(*p)};
    D3DKMT_CREATEALLOCATION a = {.hDevice = x->device, .NumAllocations = 1, .pAllocationInfo = &info};

    *p = rig_priv(id, 0, 64, 64);
    p->flags |= AEROGPU_ALLOC_PRIV_FLAG_SHARED;
    a.Flags.CreateResource = a.Flags.CreateShared = 1;
    assert_int_equal(dxgk_CreateAllocation(x->client, &a), STATUS_SUCCESS);
    *share = a.hGlobalShare;
    return info.hAllocation;
}

TEST(shared_handles_have_debug_tokens)
{
    struct aerogpu_escape_map_shared_handle e = {0};
    struct aerogpu_alloc_priv_v2 p;
    D3DKMT_HANDLE share[2];
    struct dxgk_client *stranger;
    struct rig_context x;
    struct rig r = {0};
    uint32_t token;

    rig_set(&r, RIG_SERVICE, "EnableMapSharedHandleEscape", 1);
    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    shared(&x, 5, &p, &share[0]);
    shared(&x, 6, &p, &share[1]);
    assert_int_equal(dxgk_client_open(r.dxgk, &stranger, 200, false), 0);
#define MAP(c, h)                                                                                            \
    (e =                                                                                                     \
         (struct aerogpu_escape_map_shared_handle){                                                          \
             {1, AEROGPU_ESCAPE_OP_MAP_SHARED_HANDLE, sizeof(e), 0}, h, 0, 0},                               \
     rig_escape(&r, c, &e, sizeof(e)))
    assert_int_equal(MAP(stranger, share[0]), STATUS_NOT_SUPPORTED);
    assert_int_equal(MAP(r.client, share[0]), STATUS_SUCCESS);
    token = e.debug_token;
    assert_int_not_equal(token, 0);
    assert_int_equal(MAP(r.client, share[1]), STATUS_SUCCESS);
    assert_int_not_equal(e.debug_token, token);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(MAP(r.client, share[0]), STATUS_SUCCESS);
        assert_int_equal(e.debug_token, token);
    }
    assert_int_equal(MAP(r.client, 0), STATUS_INVALID_PARAMETER);
    assert_int_equal(MAP(r.client, 0xDEAD), STATUS_INVALID_HANDLE);
    assert_int_equal(MAP(r.client, 0x123456789ull), STATUS_INVALID_HANDLE);
    assert_int_equal(MAP(r.client, x.device), STATUS_INVALID_HANDLE); /* another kind of handle */
    dxgk_client_close(stranger);
    rig_down(&r);
}

/* ---- private data -------------------------------------------------------- */

TEST(bad_private_data_is_refused)
{
    struct aerogpu_alloc_priv_v2 good = rig_priv(9, 4096, 0, 0), p;
    struct rig_context x;
    struct rig r = {0};
    D3DKMT_HANDLE a;
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &p};
    D3DKMT_CREATEALLOCATION c = {.NumAllocations = 1, .pAllocationInfo = &info};

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
#define BAD(field, value)                                                                                    \
    do {                                                                                                     \
        p = good;                                                                                            \
        p.field = value;                                                                                     \
        assert_int_equal(rig_allocate(&x, &p, &a), STATUS_INVALID_PARAMETER);                                \
    } while (0)
    BAD(magic, 0);
    BAD(version, 0);
    BAD(version, 3);
    BAD(alloc_id, 0);
    BAD(alloc_id, 0x90000000); /* not given out */
    BAD(flags, 8);
    BAD(share_token, 77); /* not shared */
    BAD(size_bytes, 0);
    BAD(kind, 3);
    good = rig_priv(9, 0, 64, 64);
    BAD(height, 65); /* does not fit */
    BAD(row_pitch_bytes, 0xFFFFFFFF);
    good = rig_priv(9, 4096, 0, 0);
    c.hDevice = x.device;
    for (UINT size = 0; size < 80; size++) {
        uint8_t bytes[80] = {0};
        p = good;
        p.version = size < 64 ? 1 : 2;
        memcpy(bytes, &p, sizeof(p));
        info.pPrivateDriverData = size ? bytes : NULL;
        info.PrivateDriverDataSize = size;
        assert_int_equal(dxgk_CreateAllocation(r.client, &c),
                         size < 40 ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS);
    }
    p = good; /* version 2 in 40 bytes */
    info.pPrivateDriverData = &p;
    info.PrivateDriverDataSize = 40;
    assert_int_equal(dxgk_CreateAllocation(r.client, &c), STATUS_INVALID_PARAMETER);
    rig_down(&r);
}

TEST(a_shared_surface_is_one_allocation)
{
    struct aerogpu_alloc_priv_v2 p[2] = {rig_priv(1, 4096, 0, 0), rig_priv(2, 4096, 0, 0)};
    D3DDDI_ALLOCATIONINFO info[2] = {{.pPrivateDriverData = &p[0], .PrivateDriverDataSize = sizeof(p[0])},
                                     {.pPrivateDriverData = &p[1], .PrivateDriverDataSize = sizeof(p[1])}};
    D3DKMT_CREATEALLOCATION a = {.NumAllocations = 2, .pAllocationInfo = info};
    struct rig_context x;
    struct rig r = {0};

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    a.hDevice = x.device;
    a.Flags.CreateResource = 1;
    assert_int_equal(dxgk_CreateAllocation(r.client, &a), STATUS_SUCCESS);
    for (int i = 0; i < 2; i++) {
        a.hResource = 0;
        p[i].flags |= AEROGPU_ALLOC_PRIV_FLAG_SHARED;
        assert_int_equal(dxgk_CreateAllocation(r.client, &a), STATUS_INVALID_PARAMETER);
        p[i].flags &= ~AEROGPU_ALLOC_PRIV_FLAG_SHARED;
    }
    rig_down(&r);
}

TEST(contexts_ask_for_their_buffers)
{
    struct aerogpu_context_priv p = {AEROGPU_CONTEXT_PRIV_MAGIC, 1, 0, 0};
    D3DKMT_CREATECONTEXT c = {.pPrivateDriverData = &p, .PrivateDriverDataSize = sizeof(p)};
    static const struct {
        uint32_t asked, got;
    } sizes[] = {{0, 262144}, {1, 65536}, {100000, 102400}, {1 << 20, 1 << 20}, {UINT32_MAX, 1 << 20}};
    struct rig_context x;
    struct rig r = {0};

    rig_set(&r, RIG_SERVICE, "MaxDmaBufferBytes", 1 << 20);
    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    c.hDevice = x.device;
    for (unsigned i = 0; i < 5; i++) {
        p.dma_buffer_bytes = sizes[i].asked;
        assert_int_equal(dxgk_CreateContext(r.client, &c), STATUS_SUCCESS);
        assert_int_equal(c.CommandBufferSize, sizes[i].got);
    }
    p.magic++;
    assert_int_equal(dxgk_CreateContext(r.client, &c), STATUS_INVALID_PARAMETER);
    p.magic--;
    p.version = 2;
    assert_int_equal(dxgk_CreateContext(r.client, &c), STATUS_INVALID_PARAMETER);
    p.version = 1;
    p.flags = 1;
    assert_int_equal(dxgk_CreateContext(r.client, &c), STATUS_INVALID_PARAMETER);
    p.flags = 0;
    c.PrivateDriverDataSize = 15;
    assert_int_equal(dxgk_CreateContext(r.client, &c), STATUS_INVALID_PARAMETER);
    rig_down(&r);
}

/* ---- streams ------------------------------------------------------------- */

static NTSTATUS raw(struct rig_context *x, const void *bytes, uint32_t size)
{
    memcpy(x->command, bytes, size);
    return dxgk_Render(x->client, &(D3DKMT_RENDER){.hContext = x->context, .CommandLength = size});
}

TEST(bad_streams_are_refused)
{
    struct {
        struct aerogpu_cmd_stream_header h;
        union {
            struct aerogpu_cmd_destroy_resource d;
            struct aerogpu_cmd_set_samplers s;
            struct aerogpu_cmd_import_shared_surface i;
            struct aerogpu_cmd_hdr hdr;
            uint8_t room[64];
        };
    } good = {.h = {AEROGPU_CMD_STREAM_MAGIC, AEROGPU_ABI_VERSION_U32, 40, 0, 0, 0},
              .d = {{AEROGPU_CMD_DESTROY_RESOURCE, 16}, 5, 0}},
      s;
    struct rig_context x;
    struct rig r = {0};

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    assert_int_equal(raw(&x, &good, 40), STATUS_SUCCESS);
#define STREAM(change, size, result)                                                                         \
    do {                                                                                                     \
        s = good;                                                                                            \
        change;                                                                                              \
        assert_int_equal(raw(&x, &s, size), result);                                                         \
    } while (0)
    STREAM(s.h.magic++, 40, STATUS_INVALID_PARAMETER);
    STREAM(s.h.abi_version = 0x20000, 40, STATUS_INVALID_PARAMETER);
    STREAM(s.h.abi_version = 0x1FFFF, 40, STATUS_SUCCESS); /* newer minors are tolerated */
    STREAM(s.h.size_bytes = 44, 40, STATUS_INVALID_PARAMETER);
    STREAM(s.h.size_bytes = 20, 40, STATUS_INVALID_PARAMETER);
    STREAM(s.h.size_bytes = 38, 40, STATUS_INVALID_PARAMETER);
    STREAM(s.h.size_bytes = 24, 40, STATUS_SUCCESS); /* what follows is ignored */
    STREAM(s.h.size_bytes = 28, 40, STATUS_INVALID_PARAMETER);
    STREAM((void)0, 23, STATUS_INVALID_PARAMETER);
    STREAM((void)0, 0, STATUS_INVALID_PARAMETER);
    STREAM(s.d.hdr.size_bytes = 0, 40, STATUS_INVALID_PARAMETER);
    STREAM(s.d.hdr.size_bytes = 4, 40, STATUS_INVALID_PARAMETER);
    STREAM(s.d.hdr.size_bytes = 18, 40, STATUS_INVALID_PARAMETER);
    STREAM(s.d.hdr.size_bytes = 20, 40, STATUS_INVALID_PARAMETER);
    STREAM(s.d.hdr.size_bytes = 0xFFFFFFFC, 40, STATUS_INVALID_PARAMETER);
    STREAM((s.d.hdr.size_bytes = 8, s.h.size_bytes = 32), 32,
           STATUS_INVALID_PARAMETER);                    /* shorter than its struct */
    STREAM(s.d.hdr.opcode = 0x7777, 40, STATUS_SUCCESS); /* unknown: skipped */
    STREAM(s.d.hdr.opcode = AEROGPU_CMD_EXT_DESTROY_CONTEXT, 40, STATUS_NOT_SUPPORTED); /* not for clients */
    STREAM(s.d.hdr.opcode = AEROGPU_CMD_EXT_BUFFER_ADDRESS, 40, STATUS_INVALID_PARAMETER); /* too short */
    STREAM((s.d.hdr = (struct aerogpu_cmd_hdr){AEROGPU_CMD_EXT_BUFFER_ADDRESS, 32}, s.h.size_bytes = 56), 56,
           STATUS_SUCCESS);
    STREAM((s.d.hdr = (struct aerogpu_cmd_hdr){AEROGPU_CMD_EXT_BUFFER_ADDRESS, 32}, s.h.size_bytes = 56,
            s.d.reserved0 = 1 << 20),
           56, STATUS_INVALID_PARAMETER);
    STREAM(s.d.hdr.opcode = 0xFFFF, 40, STATUS_NOT_SUPPORTED);
    STREAM(s.d.resource_handle = 1 << 20, 40, STATUS_INVALID_PARAMETER);
    STREAM(s.d.resource_handle = (1 << 20) - 1, 40, STATUS_SUCCESS);
    STREAM((s.s = (struct aerogpu_cmd_set_samplers){{AEROGPU_CMD_SET_SAMPLERS, 32}, 0, 0, 2, 0},
            s.h.size_bytes = 56),
           56, STATUS_SUCCESS);
    STREAM((s.s = (struct aerogpu_cmd_set_samplers){{AEROGPU_CMD_SET_SAMPLERS, 32}, 0, 0, 3, 0},
            s.h.size_bytes = 56),
           56, STATUS_INVALID_PARAMETER);
    STREAM(
        (s.i = (struct aerogpu_cmd_import_shared_surface){{AEROGPU_CMD_IMPORT_SHARED_SURFACE, 24}, 1, 0, 99},
         s.h.size_bytes = 48),
        48, STATUS_ACCESS_DENIED);
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    rig_down(&r);
}

/* The table names guest memory by id: of two allocations with one id the device could take either. */
TEST(two_allocations_with_one_id_are_refused)
{
    struct aerogpu_alloc_priv_v2 p = rig_priv(42, 4096, 0, 0);
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};
    D3DKMT_HANDLE a[2];

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    assert_int_equal(rig_allocate(&x, &p, &a[0]), STATUS_SUCCESS);
    assert_int_equal(rig_allocate(&x, &p, &a[1]), STATUS_SUCCESS);
    abi_builder_init(&b);
    ABI_EMIT(&b, NOP, nop);
    assert_int_equal(rig_render(&x, &b, a, 2, 0), STATUS_INVALID_PARAMETER);
    for (unsigned i = 0; i < 2; i++) { /* each alone is right */
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, &a[i], 1, 0), STATUS_SUCCESS);
    }
    abi_builder_finish(&b);
    rig_down(&r);
}

/* ---- whose is what ------------------------------------------------------- */

static uint32_t stream_of(struct rig *r, unsigned back, const struct aerogpu_cmd_hdr **packets)
{
    struct aerogpu_escape_dump_ring_v2 v = {.desc_capacity = 32};
    const struct aerogpu_cmd_stream_header *h;

    assert_int_equal(RIG_ESCAPE(r, DUMP_RING_V2, &v), STATUS_SUCCESS);
    assert_true(v.desc_count > back);
    h = (const void *)(machine_ram(stack_machine(r->stack)) + v.desc[v.desc_count - 1 - back].cmd_gpa);
    *packets = (const void *)(h + 1);
    return h->size_bytes - 24;
}

TEST(names_belong_to_their_device)
{
    struct rig_context x[2];
    struct abi_builder b;
    struct rig r = {0};
    uint32_t handle[2];

    rig_up(&r, SIM);
    abi_builder_init(&b);
    for (int i = 0; i < 2; i++) {
        const struct aerogpu_cmd_hdr *p;
        x[i] = rig_context(&r, r.client);
        ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 77, .size_bytes = 64);
        assert_int_equal(rig_render(&x[i], &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x[i]), STATUS_SUCCESS);
        assert_int_equal(stream_of(&r, 0, &p), sizeof(struct aerogpu_cmd_create_buffer));
        handle[i] = ((const struct aerogpu_cmd_create_buffer *)(const void *)p)->buffer_handle;
        assert_int_equal(handle[i] & 0xFFFFF, 77);
    }
    assert_int_not_equal(handle[0], handle[1]);
    abi_builder_finish(&b);
    rig_down(&r);
}

TEST(what_a_client_leaves_is_destroyed)
{
    const struct aerogpu_cmd_ext_destroy_handles *d;
    const struct aerogpu_cmd_hdr *p;
    struct dxgk_client *c;
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};

    rig_up(&r, SIM);
    abi_builder_init(&b);
    assert_int_equal(dxgk_client_open(r.dxgk, &c, 300, false), 0);
    x = rig_context(&r, c);
    for (uint32_t i = 1; i <= 3; i++)
        ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = i, .size_bytes = 64);
    ABI_EMIT(&b, CREATE_SAMPLER, create_sampler, .sampler_handle = 5000);
    ABI_EMIT(&b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 2);
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    dxgk_client_close(c);
    assert_int_equal(stream_of(&r, 0, &p), 2 * 16);
    assert_int_equal(p->opcode, AEROGPU_CMD_EXT_DESTROY_CONTEXT);
    d = (const void *)(p + 2);
    assert_int_equal(d->hdr.opcode, AEROGPU_CMD_EXT_DESTROY_HANDLES);
    assert_int_equal(d->first & 0xFFFFF, 0);
    assert_int_equal(d->last - d->first, 0xFFFFF);
    assert_true(stream_of(&r, 1, &p) > 0); /* what the client said */
    assert_int_equal(p->opcode, AEROGPU_CMD_CREATE_BUFFER);
    assert_int_equal(((const struct aerogpu_cmd_create_buffer *)(const void *)p)->buffer_handle,
                     d->first + 1);
    abi_builder_finish(&b);
    rig_down(&r);
}

TEST(many_clients_come_and_go)
{
    struct abi_builder b;
    struct rig r = {0};

    rig_up(&r, SIM);
    abi_builder_init(&b);
    for (int i = 0; i < 5000; i++) { /* more than there are numbers */
        struct rig_context x = rig_context(&r, r.client);
        ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .size_bytes = 64);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        rig_context_destroy(&x);
    }
    abi_builder_finish(&b);
    rig_down(&r);
}

TEST(tokens_open_shared_surfaces_only)
{
    struct aerogpu_alloc_priv_v2 p, opened;
    D3DKMT_HANDLE share;
    struct dxgk_client *c;
    struct rig_context x, y;
    struct abi_builder b;
    struct rig r = {0};
    D3DDDI_OPENALLOCATIONINFO info;
    D3DKMT_OPENRESOURCE open = {.NumAllocations = 1,
                                .pOpenAllocationInfo = &info,
                                .pTotalPrivateDriverDataBuffer = &opened,
                                .TotalPrivateDriverDataBufferSize = sizeof(opened)};
    uint8_t nothing[8];

    rig_up(&r, SIM);
    abi_builder_init(&b);
    assert_int_equal(dxgk_client_open(r.dxgk, &c, 300, false), 0);
    x = rig_context(&r, r.client);
    y = rig_context(&r, c);
    shared(&x, 5, &p, &share);
    assert_true(p.share_token != 0); /* the driver has made it */
    ABI_EMIT(&b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = 1,
             .share_token = p.share_token);
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    ABI_EMIT(&b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 1,
             .share_token = p.share_token);
    assert_int_equal(rig_render(&y, &b, NULL, 0, 0), STATUS_ACCESS_DENIED); /* known, but not opened */
    open.hDevice = y.device;
    open.hGlobalShare = share;
    open.pPrivateRuntimeData = open.pResourcePrivateDriverData = nothing;
    assert_int_equal(dxgk_OpenResource(c, &open), STATUS_SUCCESS);
    assert_memory_equal(&opened, &p, sizeof(p));
    ABI_EMIT(&b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 1,
             .share_token = p.share_token);
    assert_int_equal(rig_render(&y, &b, NULL, 0, 0), STATUS_SUCCESS);
    ABI_EMIT(&b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = 2,
             .share_token = p.share_token);
    assert_int_equal(rig_render(&y, &b, NULL, 0, 0), STATUS_ACCESS_DENIED); /* only its creator */
    ABI_EMIT(&b, RELEASE_SHARED_SURFACE, release_shared_surface, .share_token = p.share_token);
    assert_int_equal(rig_render(&y, &b, NULL, 0, 0), STATUS_ACCESS_DENIED);
    abi_builder_finish(&b);
    dxgk_client_close(c);
    rig_down(&r);
}
