/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "dxgkrnl_rig.h"

#include <string.h>

static struct settings test_settings;

void world_up(struct world *w, bool live)
{
    struct error e = {0};
    struct dxgk_params p = {
        .clock = &w->clock, .bus = &w->gpu.bus, .settings = &test_settings, .service = "softgpu"};
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC) "\\\\.\\DISPLAY1"};

    memset(w, 0, sizeof(*w));
    if (live) {
        clock_init_live(&w->clock);
    } else {
        clock_init_virtual(&w->clock, NSEC_PER_SEC);
        assert_int_equal(loop_create(&w->loop, &w->clock), 0);
    }
    p.loop = w->loop;
    assert_int_equal(softgpu_init(&w->gpu, &w->clock, w->loop), 0);
    assert_int_equal(dxgk_create(&w->dxgk, &p, &e), 0);
    w->gpu.dxgk = w->dxgk;
    if (dxgk_load_file(w->dxgk, SOFTGPU_KMD, &e))
        fail_msg("%s", e.text);
    if (!NT_SUCCESS(dxgk_start(w->dxgk, &e)))
        fail_msg("%s", e.text);
    assert_int_equal(dxgk_client_open(w->dxgk, &w->client, 100, false), 0);
    assert_int_equal(dxgk_OpenAdapterFromHdc(w->client, &open), STATUS_SUCCESS);
    w->adapter = open.hAdapter;
}

void world_down(struct world *w, unsigned violations)
{
    dxgk_client_close(w->client);
    dxgk_unload(w->dxgk);
    softgpu_stop(&w->gpu);
    for (unsigned i = violations; i < dxgk_violations(w->dxgk); i++)
        print_error("violation: %s\n", dxgk_violation(w->dxgk, i));
    assert_int_equal(dxgk_violations(w->dxgk), violations);
    dxgk_destroy(w->dxgk);
    assert_int_equal(w->gpu.allocated, 0);
    softgpu_finish(&w->gpu);
    loop_destroy(w->loop);
    dxgk_settings_finish(&test_settings);
}

void world_set(const char *name, uint32_t value)
{
    assert_int_equal(dxgk_settings_set(&test_settings, SETTINGS_GRAPHICS_DRIVERS, name, value), 0);
}

struct ctx ctx_make(struct world *w, struct dxgk_client *c, D3DKMT_HANDLE adapter)
{
    D3DKMT_CREATEDEVICE d = {.hAdapter = adapter};
    D3DKMT_CREATECONTEXT x = {0};

    assert_int_equal(dxgk_CreateDevice(c, &d), STATUS_SUCCESS);
    x.hDevice = d.hDevice;
    assert_int_equal(dxgk_CreateContext(c, &x), STATUS_SUCCESS);
    (void)w;
    return (struct ctx){d.hDevice, x.hContext, x.pCommandBuffer, x.pAllocationList, 0};
}

struct ctx ctx_second(struct world *w, const struct ctx *a)
{
    D3DKMT_CREATECONTEXT x = {.hDevice = a->device};

    assert_int_equal(dxgk_CreateContext(w->client, &x), STATUS_SUCCESS);
    return (struct ctx){a->device, x.hContext, x.pCommandBuffer, x.pAllocationList, 0};
}

D3DKMT_HANDLE sync_make(struct world *w, const struct ctx *x, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = x->device, .Info = info};

    assert_int_equal(dxgk_CreateSynchronizationObject2(w->client, &c), STATUS_SUCCESS);
    return c.hSyncObject;
}

void sync_wait(struct world *w, const struct ctx *x, D3DKMT_HANDLE o, UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 a = {
        .hContext = x->context, .ObjectCount = 1, .ObjectHandleArray = {o}, .Fence.FenceValue = value};

    assert_int_equal(dxgk_WaitForSynchronizationObject2(w->client, &a), STATUS_SUCCESS);
}

void sync_signal(struct world *w, const struct ctx *x, D3DKMT_HANDLE o, UINT64 value)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 a = {
        .hContext = x->context, .ObjectCount = 1, .ObjectHandleArray = {o}, .Fence.FenceValue = value};

    assert_int_equal(dxgk_SignalSynchronizationObject2(w->client, &a), STATUS_SUCCESS);
}

NTSTATUS ctx_allocate(struct world *w, struct ctx *x, uint32_t size, bool primary, D3DKMT_HANDLE *out)
{
    struct softgpu_alloc priv = {.size = size, .width = primary ? 320 : 0, .height = primary ? 200 : 0};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION a = {.hDevice = x->device, .NumAllocations = 1, .pAllocationInfo = &info};
    NTSTATUS s;

    info.Flags.Primary = primary;
    s = dxgk_CreateAllocation(w->client, &a);
    *out = info.hAllocation;
    return s;
}

void ctx_put(struct ctx *x, uint32_t op, uint32_t value, uint64_t at, uint32_t count, uint32_t index)
{
    x->cmd[x->n++] = (struct softgpu_cmd){op, value, at, count, index};
}

NTSTATUS ctx_render(struct dxgk_client *c, struct ctx *x, const D3DKMT_HANDLE *allocs, unsigned num)
{
    D3DKMT_RENDER r = {
        .hContext = x->context, .CommandLength = x->n * sizeof(*x->cmd), .AllocationCount = num};

    for (unsigned i = 0; i < num; i++) {
        x->list[i] = (D3DDDI_ALLOCATIONLIST){.hAllocation = allocs[i]};
        x->list[i].WriteOperation = 1;
    }
    x->n = 0;
    return dxgk_Render(c, &r);
}

NTSTATUS ctx_idle(struct dxgk_client *c, struct ctx *x)
{
    return dxgk_WaitForIdle(c, &(D3DKMT_WAITFORIDLE){.hDevice = x->device});
}

NTSTATUS world_escape(struct world *w, struct softgpu_escape *e)
{
    return dxgk_Escape(w->client, &(D3DKMT_ESCAPE){.hAdapter = w->adapter,
                                                   .pPrivateDriverData = e,
                                                   .PrivateDriverDataSize = sizeof(*e)});
}

D3DKMT_DEVICEEXECUTION_STATE device_state(struct world *w, D3DKMT_HANDLE device)
{
    D3DKMT_GETDEVICESTATE g = {.hDevice = device, .StateType = D3DKMT_DEVICESTATE_EXECUTION};

    assert_int_equal(dxgk_GetDeviceState(w->client, &g), STATUS_SUCCESS);
    return g.ExecutionState;
}

void world_settle(struct world *w)
{
    uint64_t until = clock_now(&w->clock) + 10 * NSEC_PER_MSEC;

    while (w->loop && clock_now(&w->clock) < until)
        loop_run_once(w->loop, until);
}

void ctx_hang(struct world *w, struct ctx *x)
{
    ctx_put(x, OP_HANG, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w->client, x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w->client, x), STATUS_DEVICE_REMOVED);
    world_settle(w);
}
