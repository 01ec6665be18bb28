/* SPDX-License-Identifier: MIT */
/* dxgkrnl: where things end: memory, turns, devices, clients. */
#include "test.h"

#include <stdlib.h>

#include "dxgkrnl/kernel.h"
#include "dxgkrnl/progress.h"
#include "dxgkrnl_rig.h"

/* The segment is filled with pieces that leave no gap; what comes then takes the place of another. */
TEST(memory_ends_where_its_segment_ends)
{
    enum { PIECE = 16 << 10, PIECES = (SOFTGPU_PAGES << 12) / PIECE };
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE a, last;
    D3DKMT_QUERYSTATISTICS st = {.Type = D3DKMT_QUERYSTATISTICS_SEGMENT, .AdapterLuid.LowPart = 0x1000};

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    for (int i = 0; i < PIECES; i++) {
        assert_int_equal(ctx_allocate(&w, &x, PIECE, false, &a), STATUS_SUCCESS);
        ctx_put(&x, OP_FILL, 1, 0, 4, 0);
        assert_int_equal(ctx_render(w.client, &x, &a, 1), STATUS_SUCCESS);
    }
    assert_int_equal(ctx_allocate(&w, &x, 4096, false, &last), STATUS_SUCCESS);
    ctx_put(&x, OP_FILL, 1, 0, 4, 0);
    assert_int_equal(ctx_render(w.client, &x, &last, 1), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_int_equal(w.gpu.faulted, 0);
    assert_int_equal(dxgk_QueryStatistics(w.client, &st), STATUS_SUCCESS);
    assert_true(st.QueryResult.SegmentInformation.Memory.TotalBytesEvicted > 0);
    assert_true(st.QueryResult.SegmentInformation.BytesResident <= SOFTGPU_PAGES << 12);
    world_down(&w, 0);
}

/* One submission that needs more than there is: that is said, and nobody else is touched. */
TEST(work_that_does_not_fit_ends_its_device)
{
    struct world w;
    struct ctx x, other;
    D3DKMT_HANDLE a[5];

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    other = ctx_make(&w, w.client, w.adapter);
    for (int i = 0; i < 5; i++)
        assert_int_equal(ctx_allocate(&w, &x, 1 << 20, false, &a[i]), STATUS_SUCCESS);
    ctx_put(&x, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, a, 5), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_DEVICE_REMOVED);
    assert_int_equal(device_state(&w, x.device), D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    ctx_put(&other, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &other, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &other), STATUS_SUCCESS);
    world_down(&w, 0);
}

TEST(equals_take_turns)
{
    enum { EACH = 12 };
    struct world w;
    struct ctx x[2];

    world_up(&w, false);
    for (int i = 0; i < 2; i++)
        x[i] = ctx_make(&w, w.client, w.adapter);
    for (int i = 0; i < 2; i++) /* the second comes when the first has queued everything */
        for (int j = 0; j < EACH; j++) {
            ctx_put(&x[i], OP_DELAY, 10, 0, 0, 0);
            assert_int_equal(ctx_render(w.client, &x[i], NULL, 0), STATUS_SUCCESS);
        }
    assert_int_equal(dxgk_wait_progress(w.client, x[0].context, EACH, LOOP_FOREVER), STATUS_SUCCESS);
    assert_true(dxgk_context_progress(w.client, x[1].context)->completed >= EACH / 2);
    world_down(&w, 0);
}

/* What a device has queued when it is lost is not done. */
TEST(a_lost_device_does_nothing_more)
{
    struct world w;
    struct ctx bad, waits, idle, good;
    D3DKMT_HANDLE mem, fence;
    uint64_t executed;

    world_up(&w, false);
    bad = ctx_make(&w, w.client, w.adapter);
    waits = ctx_second(&w, &bad);
    idle = ctx_second(&w, &bad);
    good = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(ctx_allocate(&w, &bad, 4096, false, &mem), STATUS_SUCCESS);
    fence = sync_make(&w, &good, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_FENCE});
    sync_wait(&w, &waits, fence, 1);
    ctx_put(&waits, OP_FILL, 2, 0, 1, 0);
    assert_int_equal(ctx_render(w.client, &waits, &mem, 1), STATUS_SUCCESS);
    ctx_put(&bad, OP_FAULT, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &bad, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &bad), STATUS_DEVICE_REMOVED);
    for (int i = 0; i < 3; i++)
        assert_int_equal(dxgk_context_progress(w.client, (struct ctx[]){bad, waits, idle}[i].context)->state,
                         D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    executed = w.gpu.executed;
    sync_signal(&w, &good, fence, 1);
    assert_int_equal(ctx_idle(w.client, &good), STATUS_SUCCESS);
    world_settle(&w);
    assert_int_equal(device_state(&w, good.device), D3DKMT_DEVICEEXECUTION_ACTIVE);
    assert_int_equal(w.gpu.executed, executed);
    ctx_hang(&w, &good); /* a reset takes what is there, not what was lost before */
    assert_int_equal(device_state(&w, bad.device), D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    world_down(&w, 0);
}

struct waiter {
    struct world *w;
    struct dxgk_client *client;
    enum { FOR_IDLE, FOR_MEMORY, FOR_ROOM, FOR_PROGRESS, FOR_VBLANK, WAITERS } what;
    struct ctx x;
    D3DKMT_HANDLE memory, adapter;
    bool begun, done;
    NTSTATUS status;
};

static void wait_for(void *arg)
{
    struct waiter *a = arg;
    D3DKMT_LOCK lock = {.hDevice = a->x.device, .hAllocation = a->memory};

    a->begun = true;
    switch (a->what) {
    case FOR_IDLE:
        a->status = ctx_idle(a->client, &a->x);
        break;
    case FOR_MEMORY:
        a->status = dxgk_Lock(a->client, &lock);
        break;
    case FOR_ROOM:
        do
            ctx_put(&a->x, OP_NOP, 0, 0, 0, 0);
        while (NT_SUCCESS(a->status = ctx_render(a->client, &a->x, NULL, 0)));
        break;
    case FOR_PROGRESS:
        a->status = dxgk_wait_progress(a->client, a->x.context, 1000, LOOP_FOREVER);
        break;
    default:
        a->status = dxgk_WaitForVerticalBlankEvent(
            a->client, &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = a->adapter});
    }
    a->done = true;
}

/* Whatever its threads wait for: the service goes on at once, and not when the device has answered. */
TEST(who_goes_waits_for_nothing)
{
    for (int what = 0; what < WAITERS; what++) {
        struct world w;
        struct waiter a = {.w = &w, .what = what};
        D3DKMT_OPENADAPTERFROMHDC open = {0};
        struct softgpu_alloc priv = {.size = 4096};
        D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
        D3DKMT_CREATEALLOCATION c = {.NumAllocations = 1, .pAllocationInfo = &info};

        world_up(&w, false);
        assert_int_equal(dxgk_client_open(w.dxgk, &a.client, 200, false), 0);
        assert_int_equal(dxgk_OpenAdapterFromHdc(a.client, &open), STATUS_SUCCESS);
        a.adapter = open.hAdapter;
        a.x = ctx_make(&w, a.client, a.adapter);
        c.hDevice = a.x.device;
        assert_int_equal(dxgk_CreateAllocation(a.client, &c), STATUS_SUCCESS);
        a.memory = info.hAllocation;
        ctx_put(&a.x, OP_HANG, 0, 0, 0, 0);
        if (what != FOR_VBLANK)
            assert_int_equal(ctx_render(a.client, &a.x, &a.memory, 1), STATUS_SUCCESS);
        assert_int_equal(dxgk_kernel_spawn(dxgk_kernel(w.dxgk), "waiter", wait_for, &a), 0);
        while (!a.begun && loop_run_once(w.loop, LOOP_FOREVER) > 0)
            ;
        if (what != FOR_VBLANK) /* before the next */
            world_settle(&w);
        assert_false(a.done);
        dxgk_client_cancel(a.client);
        world_settle(&w);
        assert_true(a.done);
        assert_int_equal(a.status, STATUS_CANCELLED);
        dxgk_client_close(a.client);
        world_down(&w, 0);
    }
}

/* More over time than a client may have at once, and than there are handles. */
TEST(what_has_gone_counts_no_more)
{
    enum { MANY = 20000 };
    struct world w;
    struct ctx x;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    for (int i = 0; i < MANY; i++) {
        struct ctx y = ctx_second(&w, &x);
        assert_int_equal(dxgk_DestroyContext(w.client, &(D3DKMT_DESTROYCONTEXT){y.context}), STATUS_SUCCESS);
    }
    for (int i = 0; i < MANY; i++) {
        struct dxgk_client *c;
        D3DKMT_OPENADAPTERFROMHDC open = {0};
        assert_int_equal(dxgk_client_open(w.dxgk, &c, 200, false), 0);
        for (int j = 0; j < 4; j++)
            assert_int_equal(dxgk_OpenAdapterFromHdc(c, &open), STATUS_SUCCESS);
        dxgk_client_close(c);
    }
    world_down(&w, 0);
}

int main(void)
{
    setenv("AEROGPU_LOG", "error", 0);
    return test_run();
}
