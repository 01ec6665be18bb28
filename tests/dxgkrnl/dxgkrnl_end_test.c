/* SPDX-License-Identifier: MIT */
/* dxgkrnl: where things end: memory, turns, devices, clients. */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- the host's memory --------------------------------------------------- */

enum { FIRST_PROCESS = 700, HOST_PROCESSES = 4 };

static struct {
    uint64_t bytes[HOST_PROCESSES];
    unsigned ended[HOST_PROCESSES];
} host;

static uint64_t host_memory(void *ctx, uint64_t process)
{
    return process - FIRST_PROCESS < HOST_PROCESSES ? host.bytes[process - FIRST_PROCESS] : 0;
}

static bool host_ends(void *ctx, uint64_t process, bool hangs)
{
    host.ended[process - FIRST_PROCESS]++;
    host.bytes[process - FIRST_PROCESS] = 0;
    return true;
}

static void a_second(struct world *w)
{
    const uint64_t until = clock_now(&w->clock) + NSEC_PER_SEC;

    while (clock_now(&w->clock) < until)
        loop_run_once(w->loop, until);
}

static struct dxgk_client *host_client(struct world *w, uint64_t process, uint32_t user)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    struct dxgk_client *c;

    assert_int_equal(dxgk_client_open(w->dxgk, &c, process, false), 0);
    dxgk_client_set_user(c, user, false);
    assert_int_equal(dxgk_OpenAdapterFromHdc(c, &open), STATUS_SUCCESS);
    assert_int_equal(dxgk_CreateDevice(c, &(D3DKMT_CREATEDEVICE){.hAdapter = open.hAdapter}), STATUS_SUCCESS);
    return c;
}

/* What a process has is the process's, whichever of its connections comes or goes: only who has more than before is asked about his share,
 * and then once. */
TEST(a_process_keeps_what_it_has_of_the_hosts_memory)
{
    const uint64_t mib = UINT64_C(1) << 20;
    struct dxgk_client *c[5];
    struct world w;

    memset(&host, 0, sizeof(host));
    world_up(&w, false);
    w.gpu.bus.work_memory = 1000 * mib;
    w.gpu.bus.end_work = host_ends;
    w.gpu.bus.memory = host_memory;
    for (unsigned i = 0; i < 4; i++)
        c[i] = host_client(&w, FIRST_PROCESS + i, 1000 + i);
    c[4] = host_client(&w, FIRST_PROCESS, 1000);
    host.bytes[0] = 200 * mib; /* a share, while there is as much left */
    a_second(&w);
    for (unsigned i = 1; i < 4; i++)
        host.bytes[i] = 100 * mib; /* and now there is not, by what others have */
    a_second(&w);
    assert_int_equal(dxgk_event_count(w.dxgk, 9), 0);
    dxgk_client_close(c[0]); /* its process has another */
    a_second(&w);
    c[0] = host_client(&w, FIRST_PROCESS, 1000);
    a_second(&w);
    assert_int_equal(dxgk_event_count(w.dxgk, 9), 0);
    host.bytes[0] += 32 * mib;
    a_second(&w);
    assert_int_equal(dxgk_event_count(w.dxgk, 9), 1);
    assert_int_equal(host.ended[0], 1);
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(host.ended[i], 0);
    for (unsigned i = 0; i < 5; i++)
        dxgk_client_close(c[i]);
    world_down(&w, 0);
}

/* ---- the host's memory: what runtimes keep with resources ------------------ */

enum { DATA = 256 << 10 };

static D3DKMT_HANDLE device_of_user(struct world *w, struct dxgk_client **c, uint64_t process, uint32_t user)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE device = {0};

    assert_int_equal(dxgk_client_open(w->dxgk, c, process, false), 0);
    dxgk_client_set_user(*c, user, false);
    assert_int_equal(dxgk_OpenAdapterFromHdc(*c, &open), STATUS_SUCCESS);
    device.hAdapter = open.hAdapter;
    assert_int_equal(dxgk_CreateDevice(*c, &device), STATUS_SUCCESS);
    return device.hDevice;
}

static NTSTATUS keep(struct dxgk_client *c, D3DKMT_HANDLE device, D3DKMT_HANDLE *resource)
{
    static uint8_t data[DATA];
    D3DKMT_CREATEALLOCATION a = {.hDevice = device,
                                 .pPrivateRuntimeData = data,
                                 .PrivateRuntimeDataSize = sizeof(data),
                                 .Flags.CreateResource = 1};
    NTSTATUS s = dxgk_CreateAllocation(c, &a);

    *resource = a.hResource;
    return s;
}

/* What a stranger's processes have their runtimes keep in the host is a share, too, and comes back with the resources. */
TEST(what_is_kept_with_resources_is_a_users_share)
{
    struct dxgk_client *c[3];
    D3DKMT_HANDLE device[3], resource, first = 0;
    unsigned kept[2] = {0}, again;
    struct world w;
    NTSTATUS s;

    world_up(&w, false);
    for (unsigned i = 0; i < 3; i++)
        device[i] = device_of_user(&w, &c[i], 700 + i, 1000 + i / 2);
    for (unsigned i = 0; i < 2; i++) /* two processes of one user */
        while ((s = keep(c[i], device[i], &resource)) == STATUS_SUCCESS && ++kept[i] < 4096)
            first = first ? first : resource;
    assert_int_equal(s, STATUS_NO_MEMORY);
    assert_true(kept[0] > 100 && kept[1] == 0);
    for (again = 0; again < kept[0] / 3; again++) /* others find something */
        assert_int_equal(keep(c[2], device[2], &resource), STATUS_SUCCESS);
    dxgk_client_close(c[2]);
    assert_int_equal(
        dxgk_DestroyAllocation(c[0], &(D3DKMT_DESTROYALLOCATION){.hDevice = device[0], .hResource = first}),
        STATUS_SUCCESS);
    assert_int_equal(keep(c[1], device[1], &resource), STATUS_SUCCESS);
    assert_int_equal(keep(c[1], device[1], &resource), STATUS_NO_MEMORY);
    dxgk_client_close(c[0]);
    dxgk_client_close(c[1]);
    world_down(&w, 0);
}

/* ---- what starts for processes ------------------------------------------------ */

enum { STARTERS = 6 };

static struct {
    _Atomic unsigned now[2], most[2], together; /* of users 1000 and 1001 */
    _Atomic unsigned all;
} starts;

static void slow_start(void *ctx, uint64_t process)
{
    const unsigned user = process == FIRST_PROCESS + STARTERS - 1; /* 1 for 1001, in the first test */
    const unsigned now = ++starts.now[user];

    starts.all++;

    if (now > starts.most[user])
        starts.most[user] = now;
    usleep(100000);
    if (starts.now[0] && starts.now[1])
        starts.together = 1;
    starts.now[user]--;
}

struct starter {
    pthread_t thread;
    struct world *w;
    struct dxgk_client *client;
    uint64_t process;
};

static void *starter_main(void *arg)
{
    struct starter *s = arg;

    s->client = host_client(s->w, s->process, s->process == FIRST_PROCESS + STARTERS - 1 ? 1001 : 1000);
    return NULL;
}

/* A user waits for one start at a time, whatever number of processes he has: another waits for no more than that. */
TEST(a_user_starts_one_at_a_time)
{
    struct starter s[STARTERS];
    struct world w;

    memset(&starts, 0, sizeof(starts));
    world_up(&w, true);
    w.gpu.bus.prepare = slow_start;
    for (unsigned i = 0; i < STARTERS; i++) {
        s[i] = (struct starter){.w = &w, .process = FIRST_PROCESS + i};
        assert_int_equal(pthread_create(&s[i].thread, NULL, starter_main, &s[i]), 0);
    }
    for (unsigned i = 0; i < STARTERS; i++)
        assert_int_equal(pthread_join(s[i].thread, NULL), 0);
    assert_int_equal(starts.most[0], 1);
    assert_int_equal(starts.most[1], 1);
    assert_int_equal(starts.together, 1);
    for (unsigned i = 0; i < STARTERS; i++)
        dxgk_client_close(s[i].client);
    world_down(&w, 0);
}

static void *late_main(void *arg)
{
    struct starter *s = arg;
    D3DKMT_OPENADAPTERFROMHDC open = {0};

    dxgk_OpenAdapterFromHdc(s->client, &open);
    dxgk_CreateDevice(s->client, &(D3DKMT_CREATEDEVICE){.hAdapter = open.hAdapter});
    return NULL;
}

/* Who is killed while he waits for his user's turn starts nothing: that would be a way past it. */
TEST(nothing_starts_for_who_has_gone)
{
    struct starter s[STARTERS];
    struct world w;

    memset(&starts, 0, sizeof(starts));
    world_up(&w, true);
    w.gpu.bus.prepare = slow_start;
    for (unsigned i = 0; i < STARTERS; i++) {
        s[i] = (struct starter){.w = &w};
        assert_int_equal(dxgk_client_open(w.dxgk, &s[i].client, FIRST_PROCESS + STARTERS + i, false), 0);
        dxgk_client_set_user(s[i].client, 1000, false);
        assert_int_equal(pthread_create(&s[i].thread, NULL, late_main, &s[i]), 0);
    }
    while (!starts.all)
        usleep(1000);
    for (unsigned i = 0; i < STARTERS; i++)
        dxgk_client_cancel(s[i].client);
    for (unsigned i = 0; i < STARTERS; i++)
        assert_int_equal(pthread_join(s[i].thread, NULL), 0);
    assert_int_equal(starts.most[0], 1);
    assert_int_equal(starts.all, 1);
    for (unsigned i = 0; i < STARTERS; i++)
        dxgk_client_close(s[i].client);
    world_down(&w, 0);
}

int main(void)
{
    setenv("AEROGPU_LOG", "error", 0);
    return test_run();
}

TEST(a_render_that_says_nonsense_is_named_and_refused)
{
    static const char *const says[] = {
        [RENDER_TOO_FAR] = "DxgkDdiRender advanced pDmaBuffer past its buffer",
        [RENDER_OF_NOBODY] = "DxgkDdiRender: patch location 0 is of allocation 1 of 1, at 0 of",
        [RENDER_NOWHERE] = "DxgkDdiRender: patch location 0 is of allocation 0 of 1, at"};
    struct softgpu_escape e = {.op = ESC_RENDER_RULE};
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE a;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(ctx_allocate(&w, &x, 4096, false, &a), STATUS_SUCCESS);
    for (e.value = RENDER_TOO_FAR; e.value <= RENDER_NOWHERE; e.value++) {
        assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
        ctx_put(&x, OP_NOP, 0, 0, 0, 0);
        assert_int_equal(ctx_render(w.client, &x, &a, 1), STATUS_INTERNAL_ERROR);
        assert_int_equal(dxgk_violations(w.dxgk), e.value);
        assert_memory_equal(dxgk_violation(w.dxgk, e.value - 1), says[e.value], strlen(says[e.value]));
        x.n = 0;
    }
    ctx_put(&x, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, &a, 1), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    world_down(&w, RENDER_NOWHERE);
}
