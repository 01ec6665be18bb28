/* SPDX-License-Identifier: MIT */
/* The user-mode driver on the whole stack in virtual time: how it cuts long work into submissions. */
#include "test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aerogpu/ext.h>

#include "abi/stream.h"
#include "base/rng.h"
#include "d3dkmt/server.h"
#include "../kmd/kmd_rig.h"
#include "umd/umd.h"

enum { PACKET_NS = 50000 };

struct bench {
    struct rig rig;
    struct d3dkmt_transport transport;
    struct umd_device *d;
};

static void up(struct bench *b)
{
    *b = (struct bench){0};
    rig_up(&b->rig, &(struct stack_params){.machine = {.kind = MACHINE_SIM,
                                                       .exec_min_ns = 1000,
                                                       .exec_max_ns = 2000,
                                                       .exec_packet_ns = PACKET_NS}});
    d3dkmt_local(&b->transport, b->rig.client);
    d3dkmt_use(&b->transport);
    umd_use_clock(stack_clock(b->rig.stack));
    assert_int_equal(umd_open(&b->d, NULL), STATUS_SUCCESS);
}

static void down(struct bench *b)
{
    umd_close(b->d);
    umd_use_clock(NULL);
    d3dkmt_use(NULL);
    rig_down(&b->rig);
}

/* First of all: a process looks for the variable once, at its first device. */
TEST(what_a_device_does_is_logged_where_somebody_asks)
{
    char path[] = "/tmp/aerogpu-umd-log-XXXXXX", text[4096] = "";
    int fd = mkstemp(path), status;
    struct bench b;
    pid_t child;

    assert_true(fd >= 0);
    child = fork();
    if (!child) {
        setenv("AEROGPU_UMD_LOG", path, 1);
        up(&b);
        ABI_EMIT(umd_stream(b.d), NOP, nop);
        umd_flush(b.d, NULL);
        down(&b);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    assert_non_null(strstr(text, " open: device 0x"));
    assert_non_null(strstr(text, " bytes, 0 allocations: 0x00000000\n"));
    assert_non_null(strstr(text, " 1 submissions, 0 presents, "));
    close(fd);
    unlink(path);
}

struct cut {
    uint32_t submissions, long_ones; /* longer than 100 ms at the GPU */
    uint64_t longest_ns;
};

/* `steps` steps of `packets` packets, which the program takes for `units` units; itself it needs `own_ns` for each. */
static struct cut work(struct bench *b, uint32_t steps, uint32_t packets, uint32_t units, uint64_t own_ns)
{
    struct cut c = {0};
    uint64_t before = umd_stats(b->d)->submissions, in_stream = 0;

    for (uint32_t i = 0; i < steps; i++) {
        for (uint32_t k = 0; k < packets; k++)
            ABI_EMIT(umd_stream(b->d), NOP, nop);
        in_stream += packets;
        assert_int_equal(umd_split(b->d, units), STATUS_SUCCESS);
        if (umd_stats(b->d)->submissions != before) {
            uint64_t took = in_stream * PACKET_NS;
            before = umd_stats(b->d)->submissions;
            c.submissions++;
            c.long_ones += took > 100 * NSEC_PER_MSEC;
            c.longest_ns = took > c.longest_ns ? took : c.longest_ns;
            in_stream = 0;
        }
        if (own_ns)
            stack_sleep(b->rig.stack, own_ns);
    }
    assert_int_equal(umd_finish(b->d, 600000), STATUS_SUCCESS);
    assert_int_equal(dxgk_event_count(b->rig.dxgk, 4101), 0);
    return c;
}

/* Light work goes in few submissions, and heavy work in many: each is about UMD_SPLIT_MS long. */
TEST(submissions_find_their_size)
{
    static const uint32_t packets[] = {1, 5, 40, 300};

    for (unsigned i = 0; i < 4; i++) {
        uint32_t steps = 40000 / packets[i];
        struct bench b;
        struct cut c;
        up(&b);
        c = work(&b, steps, packets[i], 1, 200000);
        assert_int_equal(c.long_ones, 0);
        assert_true((uint64_t)steps * packets[i] * PACKET_NS / c.submissions > 4 * NSEC_PER_MSEC);
        assert_true((uint64_t)steps * packets[i] * PACKET_NS / c.submissions < 40 * NSEC_PER_MSEC);
        down(&b);
    }
}

/* A program that is far ahead of the GPU: what waits behind other submissions is not itself long. */
TEST(a_queue_is_not_taken_for_slowness)
{
    struct bench b;
    struct cut c;

    up(&b);
    c = work(&b, 40000, 1, 1, 1000); /* fifty times as fast as the GPU */
    assert_int_equal(c.long_ones, 0);
    assert_true(c.submissions < 40000 * (uint64_t)PACKET_NS / (5 * NSEC_PER_MSEC));
    down(&b);
}

/* Steps that become three hundred times as heavy, and the program does not know: what is under way by then is too long. */
TEST(sudden_weight_is_noticed)
{
    struct bench b;
    struct cut light, heavy;

    up(&b);
    light = work(&b, 5000, 1, 1, 60000);
    assert_int_equal(light.long_ones, 0);
    heavy = work(&b, 2000, 300, 1, 15 * NSEC_PER_MSEC);
    assert_true(heavy.long_ones <= 2);
    assert_true(heavy.submissions >= 1000); /* of 15 ms each */
    down(&b);
}

/* The checklist's aim: 99.9 % of submissions under 100 ms, whatever the work is like, and with a program whose units are
 * wrong by up to three in either direction. */
TEST(nearly_all_submissions_are_short)
{
    struct rng rng = {.state = 7};
    uint32_t submissions = 0, long_ones = 0;
    struct bench b;

    up(&b);
    for (int i = 0; i < 60; i++) {
        uint32_t packets = 1 + (uint32_t)rng_below(&rng, 100);
        struct cut c = work(&b, 400, packets, packets + (uint32_t)rng_below(&rng, 3 * packets),
                            rng_below(&rng, 5 * NSEC_PER_MSEC));
        submissions += c.submissions;
        long_ones += c.long_ones;
    }
    assert_true(submissions > 1000);
    assert_true(long_ones * 1000 <= submissions);
    down(&b);
}

/* Half of the command buffer is the other limit. */
TEST(a_stream_stays_inside_its_buffer)
{
    struct bench b;

    up(&b);
    for (int i = 0; i < 20000; i++) {
        ABI_EMIT(umd_stream(b.d), NOP, nop);
        assert_int_equal(umd_split(b.d, 0), STATUS_SUCCESS); /* the caller says that it weighs nothing */
    }
    assert_int_equal(umd_finish(b.d, 60000), STATUS_SUCCESS);
    assert_true(umd_stats(b.d)->splits >= 1);
    down(&b);
}
/* A kernel driver that is not ours, as far as its clients see it: one namespace for everybody. Streams are read and go nowhere. */
struct foreign {
    struct d3dkmt_transport inner;
    D3DKMT_CREATECONTEXT context; /* the newest */
    uint32_t made[64], num_made, live, ended;
};

static NTSTATUS foreign_call(void *ctx, enum d3dkmt_thunk thunk, void *arg)
{
    struct foreign *f = ctx;
    struct abi_stream stream;
    struct abi_packet p;
    struct error e = {0};
    NTSTATUS s;

    if (thunk == D3DKMT_THUNK_Render) {
        D3DKMT_RENDER *r = arg;
        assert_int_equal(abi_stream_open(&stream, (uint8_t *)f->context.pCommandBuffer + r->CommandOffset,
                                         r->CommandLength, &e),
                         0);
        while (abi_stream_next(&stream, &p, &e) == 1) {
            uint32_t name = p.size >= 12 ? abi_packet_u32(&p, 8) : 0;
            switch (p.opcode) {
            case AEROGPU_CMD_CREATE_TEXTURE2D:
            case AEROGPU_CMD_CREATE_BUFFER:
            case AEROGPU_CMD_CREATE_SHADER_DXBC:
            case AEROGPU_CMD_CREATE_INPUT_LAYOUT:
                for (uint32_t i = 0; i < f->num_made; i++)
                    assert_int_not_equal(f->made[i], name);
                f->made[f->num_made++] = name;
                f->live++;
                break;
            case AEROGPU_CMD_DESTROY_RESOURCE:
            case AEROGPU_CMD_DESTROY_SHADER:
            case AEROGPU_CMD_DESTROY_INPUT_LAYOUT:
                f->live--;
                f->ended++;
                break;
            default:
                break;
            }
        }
        r->pNewCommandBuffer = f->context.pCommandBuffer;
        r->NewCommandBufferSize = f->context.CommandBufferSize;
        r->pNewAllocationList = f->context.pAllocationList;
        r->NewAllocationListSize = f->context.AllocationListSize;
        return STATUS_SUCCESS;
    }
    s = f->inner.call(f->inner.ctx, thunk, arg);
    if (thunk == D3DKMT_THUNK_QueryAdapterInfo) {
        const D3DKMT_QUERYADAPTERINFO *q = arg;
        if (q->Type == KMTQAITYPE_UMDRIVERPRIVATE)
            ((struct aerogpu_umd_private *)q->pPrivateDriverData)->flags &=
                ~AEROGPU_EXT_UMD_PRIVATE_FLAG_OWN_HANDLES;
    } else if (thunk == D3DKMT_THUNK_CreateContext) {
        f->context = *(D3DKMT_CREATECONTEXT *)arg;
    }
    return s;
}

static const struct dxgk_progress *foreign_progress(void *ctx, D3DKMT_HANDLE context)
{
    struct foreign *f = ctx;

    return f->inner.progress(f->inner.ctx, context);
}

TEST(under_another_kernel_driver_names_meet_nobodys_and_nothing_is_left)
{
    struct foreign f = {0};
    const struct d3dkmt_transport t = {.call = foreign_call, .progress = foreign_progress, .ctx = &f};
    struct umd_texture_params p = {.width = 8, .height = 8, .format = AEROGPU_FORMAT_B8G8R8A8_UNORM};
    struct umd_resource *r;
    struct umd_device *d;
    struct bench b;
    uint32_t shader;

    up(&b);
    assert_true(umd_private(b.d)->flags & AEROGPU_EXT_UMD_PRIVATE_FLAG_OWN_HANDLES);
    f.inner = b.transport;
    d3dkmt_use(&t);
    for (int i = 0; i < 3; i++) { /* devices one after the other, as processes would be */
        assert_int_equal(umd_open(&d, NULL), STATUS_SUCCESS);
        assert_int_equal(umd_texture(d, &r, &p), STATUS_SUCCESS);
        assert_int_equal(umd_buffer(d, &r, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, NULL, 64, false),
                         STATUS_SUCCESS);
        for (int k = 0; k < 5; k++)
            assert_int_equal(umd_shader(d, &shader, AEROGPU_SHADER_STAGE_PIXEL, "12345678", 8),
                             STATUS_SUCCESS);
        umd_layout(d, "POSITION:4");
        assert_int_equal(umd_flush(d, NULL), STATUS_SUCCESS);
        assert_int_equal(f.live, 8);
        umd_close(d);
        assert_int_equal(f.live, 0);
    }
    assert_int_equal(f.ended, 24);
    d3dkmt_use(&b.transport);
    down(&b);
}
