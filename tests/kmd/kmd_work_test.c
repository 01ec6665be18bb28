/* SPDX-License-Identifier: MIT */
/* The miniport's work: allocation tables, long streams, preemption, many clients. */
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "dxgkrnl/faults.h"
#include "dxgkrnl/progress.h"
#include "kmd_rig.h"

#define SIM  (&(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 1}})
#define LIVE (&(struct stack_params){.machine = {.kind = MACHINE_LIVE}})

/* ---- allocation tables --------------------------------------------------- */

TEST(the_table_says_what_is_read_only)
{
    struct aerogpu_escape_query_perf perf = {0};
    struct aerogpu_escape_dump_ring_v2 ring = {.desc_capacity = 1};
    const struct aerogpu_alloc_table_header *h;
    const struct aerogpu_alloc_entry *e;
    struct aerogpu_alloc_priv_v2 p;
    struct abi_builder b;
    struct rig_context x;
    struct rig r = {0};
    D3DKMT_HANDLE a[3], list[4];

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    for (unsigned i = 0; i < 3; i++) {
        p = rig_priv(100 + i, 8192 * (i + 1), 0, 0);
        assert_int_equal(rig_allocate(&x, &p, &a[i]), STATUS_SUCCESS);
    }
    abi_builder_init(&b);
    ABI_EMIT(&b, NOP, nop);
    memcpy(list, a, sizeof(a));
    list[3] = a[0]; /* again, this time written */
    assert_int_equal(rig_render(&x, &b, list, 4, 0xA), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_PERF, &perf), STATUS_SUCCESS);
    assert_int_equal(perf.alloc_table_count, 1);
    assert_int_equal(perf.alloc_table_entries, 3);
    assert_int_equal(perf.alloc_table_readonly_entries, 1);
    assert_int_equal(RIG_ESCAPE(&r, DUMP_RING_V2, &ring), STATUS_SUCCESS);
    assert_int_equal(ring.desc_count, 1);
    assert_int_equal(ring.ring_format, AEROGPU_RING_FORMAT_AGPU);
    assert_true(ring.desc[0].alloc_table_gpa != 0);
    assert_int_equal(ring.desc[0].alloc_table_size_bytes, 24 + 3 * 32);
    h = (const void *)(machine_ram(stack_machine(r.stack)) + ring.desc[0].alloc_table_gpa);
    e = (const void *)(h + 1);
    assert_int_equal(h->magic, AEROGPU_ALLOC_TABLE_MAGIC);
    assert_int_equal(h->entry_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(e[i].alloc_id, 100 + i);
        assert_int_equal(e[i].size_bytes, 8192 * (i + 1));
        assert_int_equal(e[i].flags, i == 2 ? AEROGPU_ALLOC_FLAG_READONLY : 0);
        assert_true(e[i].gpa != 0 && e[i].gpa % 4096 == 0);
    }
    abi_builder_finish(&b);
    rig_down(&r);
}

/* The device itself refuses to write where the list said it would not. */
TEST(a_write_to_what_is_read_only_faults)
{
    struct aerogpu_escape_query_error q = {0};
    struct aerogpu_alloc_priv_v2 p = rig_priv(7, 4096, 0, 0);
    struct rig_context x, y;
    struct abi_builder b;
    struct rig r = {0};
    D3DKMT_HANDLE a;

    rig_up(&r, LIVE);
    x = rig_context(&r, r.client);
    y = rig_context(&r, r.client);
    assert_int_equal(rig_allocate(&x, &p, &a), STATUS_SUCCESS);
    abi_builder_init(&b);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .size_bytes = 4096);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 2, .size_bytes = 4096, .backing_alloc_id = 7);
    ABI_EMIT(&b, COPY_BUFFER, copy_buffer, .dst_buffer = 2, .src_buffer = 1, .size_bytes = 4096,
             .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    assert_int_equal(rig_render(&x, &b, &a, 1, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&x), STATUS_DEVICE_REMOVED);
    assert_int_equal(rig_state(&x), D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_ERROR, &q), STATUS_SUCCESS);
    assert_int_equal(q.flags, AEROGPU_ESCAPE_FLAGS_VALID | 3);
    assert_int_not_equal(q.error_code, AEROGPU_ERROR_NONE);
    assert_int_equal(q.error_count, 1);
    assert_int_equal(dxgk_event_count(r.dxgk, 4109), 1);
    ABI_EMIT(&b, NOP, nop); /* others go on */
    assert_int_equal(rig_render(&y, &b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&y), STATUS_SUCCESS);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* The driver's own submission behind it has the same fence, which completes only then: the error is there before. */
TEST(a_fault_in_front_of_internal_work_is_a_fault)
{
    struct aerogpu_alloc_priv_v2 p = rig_priv(7, 4096, 0, 0);
    struct rig_context x, y;
    struct abi_builder b;
    struct rig r = {0};
    D3DKMT_HANDLE a;

    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_SIM,
                                                  .exec_min_ns = 5 * NSEC_PER_MSEC,
                                                  .exec_max_ns = 5 * NSEC_PER_MSEC}});
    x = rig_context(&r, r.client);
    y = rig_context(&r, r.client);
    assert_int_equal(rig_allocate(&x, &p, &a), STATUS_SUCCESS);
    abi_builder_init(&b);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .size_bytes = 4096);
    assert_int_equal(rig_render(&y, &b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&y), STATUS_SUCCESS);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 2, .size_bytes = 4096, .backing_alloc_id = 7);
    ABI_EMIT(&b, COPY_BUFFER, copy_buffer, .dst_buffer = 2, .src_buffer = 2, .size_bytes = 64,
             .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    assert_int_equal(rig_render(&x, &b, &a, 1, 0), STATUS_SUCCESS);
    rig_context_destroy(&y); /* its buffer is destroyed for it */
    assert_int_equal(rig_idle(&x), STATUS_DEVICE_REMOVED);
    assert_int_equal(rig_state(&x), D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    assert_int_equal(dxgk_event_count(r.dxgk, 4109), 1);
    abi_builder_finish(&b);
    rig_down(&r);
}

enum { LATCHED = 5 };

/* Interrupts get lost, and the watchdog finds two errors with good work around them: which devices are removed, a bit each. */
static unsigned removed_by_two_errors(const struct stack_params *params, unsigned *events)
{
    struct aerogpu_alloc_priv_v2 p = rig_priv(7, 4096, 0, 0);
    struct rig_context x[LATCHED];
    D3DKMT_HANDLE a[LATCHED];
    struct abi_builder b;
    struct rig r = {0};
    unsigned removed = 0;

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "HwQueuedRenderPacketGroupLimit",
            2 * LATCHED); /* all in the ring */
    rig_up(&r, params);
    abi_builder_init(&b);
    for (unsigned i = 0; i < LATCHED; i++) {
        x[i] = rig_context(&r, r.client);
        assert_int_equal(rig_allocate(&x[i], &p, &a[i]), STATUS_SUCCESS);
    }
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_LOSE_INTERRUPT, 3), STATUS_SUCCESS);
    for (unsigned i = 0; i < LATCHED; i++) {
        ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 2, .size_bytes = 4096,
                 .backing_alloc_id = 7);
        ABI_EMIT(&b, COPY_BUFFER, copy_buffer, .dst_buffer = 2, .src_buffer = 2, .size_bytes = 64,
                 .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
        assert_int_equal(rig_render(&x[i], &b, &a[i], 1, !(i & 1)), STATUS_SUCCESS);
    }
    for (unsigned i = 0; i < LATCHED; i++) {
        NTSTATUS s = rig_idle(&x[i]);

        assert_true(s == STATUS_SUCCESS || s == STATUS_DEVICE_REMOVED);
        removed |= (unsigned)(s == STATUS_DEVICE_REMOVED) << i;
    }
    *events = dxgk_event_count(r.dxgk, 4109);
    abi_builder_finish(&b);
    rig_down(&r);
    return removed;
}

TEST(of_several_faults_each_is_its_own_clients)
{
    unsigned events;

    assert_int_equal(removed_by_two_errors(SIM, &events), 0xA); /* the odd ones */
    assert_int_equal(events, 2);
}

/* A device that keeps one fence of an error: who may have failed has, and the guilty one with him. */
TEST(of_several_faults_in_one_latch_none_is_let_off)
{
    const struct stack_params one = {
        .machine = {.kind = MACHINE_SIM,
                    .seed = 1,
                    .without_features = AEROGPU_EXT_FEATURE(EXT_CLIENTS) | AEROGPU_EXT_FEATURE(EXT_ENGINES)}};
    unsigned events;

    assert_int_equal(removed_by_two_errors(&one, &events), 0xF); /* all but the last */
}

/* The registers are asked when the page shows nothing: no watchdog is needed for that. */
TEST(a_page_that_is_stale_delays_nothing)
{
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};
    uint64_t start;

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    abi_builder_init(&b);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_STALE_FENCE, 1), STATUS_SUCCESS);
        start = machine_now(stack_machine(r.stack));
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        assert_true(machine_now(stack_machine(r.stack)) - start < 50 * NSEC_PER_MSEC);
        assert_int_equal(machine_stale_fences_left(stack_machine(r.stack)), 0);
    }
    abi_builder_finish(&b);
    rig_down(&r);
}

TEST(a_long_stream_is_cut_between_packets)
{
    struct aerogpu_escape_query_fence f = {0};
    static uint8_t data[16000];
    struct abi_builder b;
    struct rig_context x;
    struct rig r = {0};
    uint64_t before;
    uint32_t size = 24;

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
    before = f.last_submitted_fence;
    abi_builder_init(&b);
    while (size + sizeof(data) + 8 <= x.command_size) {
        ABI_EMIT_TAIL(&b, DEBUG_MARKER, debug_marker, data, sizeof(data));
        size += sizeof(data) + 8;
    }
    while (size + 8 <= x.command_size) { /* to the last byte: the table's room makes it two submissions */
        ABI_EMIT(&b, NOP, nop);
        size += 8;
    }
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
    assert_int_equal(f.last_completed_fence - before, 2);
    assert_int_equal(f.error_irq_count, 0);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* ---- what a client may say ----------------------------------------------- */

/* Handles are below 2^20: what is above would name another device's. */
TEST(a_handle_is_the_clients_own)
{
    static const struct {
        uint32_t handle;
        NTSTATUS status;
    } cases[] = {{1, STATUS_SUCCESS},
                 {(1 << 20) - 1, STATUS_SUCCESS},
                 {1 << 20, STATUS_INVALID_PARAMETER},
                 {(1 << 20) + 1, STATUS_INVALID_PARAMETER},
                 {0xFFFFFFFF, STATUS_INVALID_PARAMETER}};
    struct aerogpu_vertex_buffer_binding v = {0};
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    abi_builder_init(&b);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = cases[i].handle, .size_bytes = 64);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), cases[i].status);
        v.buffer = cases[i].handle; /* in a tail as well */
        ABI_EMIT_TAIL(&b, SET_VERTEX_BUFFERS, set_vertex_buffers, &v, sizeof(v), .buffer_count = 1);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), cases[i].status);
    }
    rig_idle(&x);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* Two bindings fit, so a count of three is refused, and so is every other: what is behind the packet is nobody's to name. */
TEST(a_counted_tail_lies_inside_its_packet)
{
    static const uint32_t counts[] = {3, 4, 31, 32, 33, 0x10000000, 0xFFFFFFFF};
    struct aerogpu_vertex_buffer_binding v[2] = {{0}};
    struct rig_context x;
    struct abi_builder b;
    struct rig r = {0};

    rig_up(&r, SIM);
    x = rig_context(&r, r.client);
    abi_builder_init(&b);
    ABI_EMIT_TAIL(&b, SET_VERTEX_BUFFERS, set_vertex_buffers, v, sizeof(v), .buffer_count = 2);
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    for (unsigned i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        ABI_EMIT_TAIL(&b, SET_VERTEX_BUFFERS, set_vertex_buffers, v, sizeof(v), .buffer_count = counts[i]);
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_INVALID_PARAMETER);
        ABI_EMIT_TAIL(&b, SET_SHADER_CONSTANTS_F, set_shader_constants_f, v, sizeof(v),
                      .vec4_count = counts[i]);
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_INVALID_PARAMETER);
    }
    assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* ---- order --------------------------------------------------------------- */

/* Whichever node a signal is on and whichever a wait, nothing else has to happen for the one to end the other. */
TEST(a_signal_wakes_whoever_waits)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 o = {.Info.Type = D3DDDI_FENCE};
    struct dxgk_client *client;
    struct rig_context x[2];
    struct rig r = {0};
    UINT node;

    rig_up(&r, SIM);
    assert_int_equal(dxgk_client_open(r.dxgk, &client, 400, false), 0);
    x[0] = rig_own_context(&r, client, &node);
    x[1] = rig_context(&r, client);
    assert_true(node);
    o.hDevice = x[0].device;
    assert_int_equal(dxgk_CreateSynchronizationObject2(client, &o), STATUS_SUCCESS);
    for (uint64_t i = 1; i <= 16; i++) {
        D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 w = {.hContext = x[i % 2].context, .ObjectCount = 1};
        D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 s = {.hContext = x[(i + 1) % 2].context, .ObjectCount = 1};
        const struct dxgk_progress *p = dxgk_context_progress(client, w.hContext);
        w.ObjectHandleArray[0] = s.ObjectHandleArray[0] = o.hSyncObject;
        w.Fence.FenceValue = s.Fence.FenceValue = i;
        assert_int_equal(dxgk_WaitForSynchronizationObject2(client, &w), STATUS_SUCCESS);
        stack_sleep(r.stack, 7 * NSEC_PER_MSEC);
        assert_int_equal(p->completed, p->queued - 1);
        assert_int_equal(dxgk_SignalSynchronizationObject2(client, &s), STATUS_SUCCESS);
        stack_sleep(r.stack, 10 * NSEC_PER_USEC);
        assert_int_equal(p->completed, p->queued);
    }
    dxgk_client_close(client);
    rig_down(&r);
}

/* A context of a higher class passes the work of the others. */
TEST(urgent_work_preempts)
{
    struct rig_context low, high;
    struct abi_builder b;
    struct rig r = {0};

    rig_up(&r, SIM);
    low = rig_context(&r, r.client);
    high = rig_context(&r, r.client);
    assert_int_equal(
        dxgk_SetContextSchedulingPriority(
            r.client, &(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY){.hContext = high.context, .Priority = 5}),
        STATUS_SUCCESS);
    abi_builder_init(&b);
    for (int n = 0; n < 40; n++) {
        for (int i = 0; i < 5; i++) {
            ABI_EMIT(&b, NOP, nop);
            assert_int_equal(rig_render(&low, &b, NULL, 0, 0), STATUS_SUCCESS);
        }
        ABI_EMIT(&b, NOP, nop);
        assert_int_equal(rig_render(&high, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&high), STATUS_SUCCESS);
    }
    assert_int_equal(rig_idle(&low), STATUS_SUCCESS);
    abi_builder_finish(&b);
    rig_down(&r);
}

/* ---- many clients -------------------------------------------------------- */

static uint64_t resident(struct rig *r)
{
    unsigned long long pages = 0;
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/statm", machine_executor_pid(stack_machine(r->stack)));
    f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*u %llu", &pages), 1);
    fclose(f);
    return pages * 4096;
}

/* Says of texture 1 what is not true: a name used twice, an end of the wrong kind, an end behind an error. Whoever kept books of
 * what streams say would believe it. */
static void lie(struct abi_builder *b, unsigned how)
{
    if (how == 1)
        ABI_EMIT(b, CREATE_SAMPLER, create_sampler, .sampler_handle = 1);
    if (how == 2)
        ABI_EMIT(b, DESTROY_SAMPLER, destroy_sampler, .sampler_handle = 1);
    if (how == 3)
        ABI_EMIT(b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {99});
    ABI_EMIT(b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 1);
}

/* Clients come, draw into 16 MiB each, and go without a word, or with a false one. */
TEST(dead_clients_leave_nothing_at_the_gpu)
{
    struct abi_builder b;
    struct rig r = {0};
    uint64_t before = 0;

    /* What is left of one that has an executor of its own ends with that; here they share one. */
    rig_up(&r, &(struct stack_params){.machine = {.kind = MACHINE_LIVE, .one_executor = true}});
    abi_builder_init(&b);
    for (unsigned i = 0; i < 40; i++) {
        struct dxgk_client *c;
        struct rig_context x;
        assert_int_equal(dxgk_client_open(r.dxgk, &c, 300 + i, false), 0);
        x = rig_context(&r, c);
        ABI_EMIT(&b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 1,
                 .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                 .width = 2048, .height = 2048, .mip_levels = 1, .array_layers = 1);
        ABI_EMIT(&b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {1});
        ABI_EMIT(&b, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR, .color_rgba = {abi_f32(1)});
        assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
        assert_int_equal(rig_idle(&x), STATUS_SUCCESS);
        if (i % 4) {
            lie(&b, i % 4);
            assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
            rig_idle(&x); /* the device is lost */
        }
        dxgk_client_close(c);
        if (i == 4)
            before = resident(&r);
    }
    assert_true(resident(&r) < before + (UINT64_C(200) << 20)); /* not 35 times 16 MiB */
    abi_builder_finish(&b);
    rig_down(&r);
}

/* Clients come, make a device and a context, do nothing, and go: no number stays taken for want of a fence. */
TEST(devices_that_never_work_leave_nothing)
{
    struct rig r = {0};

    rig_up(&r, SIM);
    for (unsigned i = 0; i < 4200; i++) {
        struct dxgk_client *c;
        assert_int_equal(dxgk_client_open(r.dxgk, &c, 300 + i, false), 0);
        rig_context(&r, c);
        dxgk_client_close(c);
    }
    rig_down(&r);
}

/* The stream that went to the device last. */
static const uint8_t *last_stream(struct rig *r, uint32_t *size)
{
    struct aerogpu_escape_dump_ring_v2 ring = {.desc_capacity = 1};

    assert_int_equal(RIG_ESCAPE(r, DUMP_RING_V2, &ring), STATUS_SUCCESS);
    assert_int_equal(ring.desc_count, 1);
    *size = ring.desc[0].cmd_size_bytes;
    return machine_ram(stack_machine(r->stack)) + ring.desc[0].cmd_gpa;
}

/* A device that has made buffer 1, and under which number the GPU knows it. */
static struct rig_context named(struct rig *r, unsigned *number)
{
    struct aerogpu_cmd_create_buffer c;
    struct rig_context x = rig_context(r, r->client);
    struct abi_builder b;
    uint32_t size;

    abi_builder_init(&b);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .size_bytes = 64);
    assert_int_equal(rig_render(&x, &b, NULL, 0, 0), STATUS_SUCCESS);
    abi_builder_finish(&b);
    memcpy(&c, last_stream(r, &size) + sizeof(struct aerogpu_cmd_stream_header), sizeof(c));
    assert_int_equal(size, sizeof(struct aerogpu_cmd_stream_header) + sizeof(c));
    assert_int_equal(c.buffer_handle & 0xFFFFF, 1);
    *number = c.buffer_handle >> 20;
    return x;
}

/* What the device has not executed yet is as it was when it was submitted, whoever else ends meanwhile. */
TEST(what_says_who_ended_waits_until_it_was_heard)
{
    struct rig_context x[3];
    const uint8_t *stream;
    uint8_t before[256];
    struct rig r = {0};
    uint32_t size, own;
    unsigned number;

    rig_up(&r, SIM);
    for (unsigned i = 0; i < 3; i++) {
        x[i] = named(&r, &number);
        assert_int_equal(rig_idle(&x[i]), STATUS_SUCCESS);
    }
    last_stream(&r, &own);
    rig_context_destroy(&x[0]); /* its names end, and the device has heard of it */
    stack_sleep(r.stack, 50 * NSEC_PER_MSEC);
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_LATE_EXECUTOR, 20000000), STATUS_SUCCESS);
    rig_context_destroy(&x[1]);
    stream = last_stream(&r, &size);
    assert_true(size > sizeof(struct aerogpu_cmd_stream_header) && size <= sizeof(before) && size != own);
    memcpy(before, stream, size);
    stack_sleep(r.stack, 10 * NSEC_PER_SEC); /* it has taken the stream, and does not come to it */
    rig_context_destroy(&x[2]);
    assert_memory_equal(stream, before, size);
    rig_down(&r);
}

/* More devices come than there are numbers, while the GPU has not been told of all the dead: none gets a number under which it
 * still knows another. */
TEST(a_number_is_free_when_its_names_have_ended)
{
    enum { NUMBERS = 4094, LAST = 16 };
    struct rig_context x, dead[2], last[LAST];
    unsigned number, numbers[2];
    struct rig r = {0};

    rig_set(&r, SETTINGS_GRAPHICS_DRIVERS, "HwQueuedRenderPacketGroupLimit", 2 * LAST); /* all in the ring */
    rig_up(&r, SIM);
    rig_context(
        &r, r.client); /* whose client goes on, so that there is nothing to say of those that do nothing */
    for (unsigned i = 0; i < 2; i++) {
        dead[i] = named(&r, &numbers[i]);
        assert_int_equal(rig_idle(&dead[i]), STATUS_SUCCESS);
    }
    assert_int_equal(dxgk_inject(r.dxgk, DXGK_FAULT_LATE_EXECUTOR, 1500000), STATUS_SUCCESS);
    rig_context_destroy(&dead[0]); /* said at once; */
    rig_context_destroy(&dead[1]); /* this one when that was heard */
    for (unsigned i = 0; i < NUMBERS - LAST / 2; i++) {
        x = rig_context(&r, r.client);
        rig_context_destroy(&x);
    }
    for (unsigned i = 0; i < LAST; i++) {
        last[i] = named(&r, &number);
        assert_int_not_equal(number, numbers[1]);
    }
    for (unsigned i = 0; i < LAST; i++)
        assert_int_equal(rig_idle(&last[i]), STATUS_SUCCESS);
    rig_down(&r);
}

struct crowd {
    struct rig *r;
    pthread_t thread;
    unsigned id;
    bool failed;
};

static void *one_of_many(void *arg)
{
    struct crowd *c = arg;
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE d = {0};
    D3DKMT_CREATECONTEXT x = {0};
    struct dxgk_client *client;
    struct abi_builder b;
    const void *bytes;
    uint32_t size;

    if (dxgk_client_open(c->r->dxgk, &client, 400 + c->id, false))
        return NULL;
    abi_builder_init(&b);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .size_bytes = 64);
    ABI_EMIT(&b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 1);
    bytes = abi_builder_end(&b, &size);
    c->failed = dxgk_OpenAdapterFromHdc(client, &open);
    d.hAdapter = open.hAdapter;
    c->failed |= dxgk_CreateDevice(client, &d) != STATUS_SUCCESS;
    x.hDevice = d.hDevice;
    c->failed |= dxgk_CreateContext(client, &x) != STATUS_SUCCESS;
    for (int i = 0; i < 100 && !c->failed; i++) {
        D3DKMT_RENDER render = {.hContext = x.hContext, .CommandLength = size};
        memcpy(x.pCommandBuffer, bytes, size);
        c->failed |= dxgk_Render(client, &render) != STATUS_SUCCESS;
        if (i % 10 == 0)
            c->failed |=
                dxgk_WaitForIdle(client, &(D3DKMT_WAITFORIDLE){.hDevice = d.hDevice}) != STATUS_SUCCESS;
    }
    dxgk_client_close(client);
    abi_builder_finish(&b);
    return NULL;
}

TEST(many_threads_at_once)
{
    struct aerogpu_escape_query_fence f = {0};
    struct crowd crowd[8];
    struct rig r = {0};

    rig_up(&r, LIVE);
    for (unsigned i = 0; i < 8; i++) {
        crowd[i] = (struct crowd){.r = &r, .id = i, .failed = true};
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, one_of_many, &crowd[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        pthread_join(crowd[i].thread, NULL);
        assert_false(crowd[i].failed);
    }
    assert_int_equal(RIG_ESCAPE(&r, QUERY_FENCE, &f), STATUS_SUCCESS);
    assert_int_equal(f.error_irq_count, 0);
    assert_true(f.last_completed_fence > 0);
    rig_down(&r);
}
