/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <string.h>

#include "kmd_rig.h"

void rig_set(struct rig *r, const char *key, const char *name, uint32_t value)
{
    assert_int_equal(dxgk_settings_set(&r->settings, key, name, value), 0);
}

void rig_up(struct rig *r, const struct stack_params *p)
{
    struct stack_params q = *p;
    struct error e = {0};
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC) "\\\\.\\DISPLAY1"};

    q.settings = &r->settings;
    r->live = q.machine.kind == MACHINE_LIVE;
    if (r->live && !q.machine.executor)
        q.machine.executor = TEST_EXECUTOR;
    if (!q.machine.ram_size)
        q.machine.ram_size = 256 << 20;
    if (stack_create(&r->stack, &q, &e))
        fail_msg("%s", e.text);
    if (machine_wait_ready(stack_machine(r->stack), 20000, &e))
        fail_msg("%s", e.text);
    r->dxgk = stack_dxgk(r->stack);
    if (!NT_SUCCESS(stack_start(r->stack, &e)))
        fail_msg("%s", e.text);
    assert_int_equal(dxgk_client_open(r->dxgk, &r->client, 100, true), 0);
    assert_int_equal(dxgk_OpenAdapterFromHdc(r->client, &open), STATUS_SUCCESS);
    r->adapter = open.hAdapter;
}

void rig_down_with(struct rig *r, unsigned violations)
{
    dxgk_client_close(r->client);
    dxgk_unload(r->dxgk);
    for (unsigned i = violations; i < dxgk_violations(r->dxgk); i++)
        print_error("violation: %s\n", dxgk_violation(r->dxgk, i));
    assert_int_equal(dxgk_violations(r->dxgk), violations);
    assert_int_equal(stack_memory_used(r->stack), 0);
    stack_destroy(r->stack);
    dxgk_settings_finish(&r->settings);
}

void rig_down(struct rig *r)
{
    rig_down_with(r, 0);
}

static struct rig_context make_context(struct rig *r, struct dxgk_client *c, UINT *node)
{
    struct aerogpu_umd_private info = {0};
    D3DKMT_QUERYADAPTERINFO q = {.Type = KMTQAITYPE_UMDRIVERPRIVATE,
                                 .pPrivateDriverData = &info,
                                 .PrivateDriverDataSize = sizeof(info)};
    D3DKMT_CREATEDEVICE d = {.hAdapter = r->adapter};
    D3DKMT_CREATECONTEXT x = {0};

    if (c != r->client) {
        D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC) "\\\\.\\DISPLAY1"};
        assert_int_equal(dxgk_OpenAdapterFromHdc(c, &open), STATUS_SUCCESS);
        d.hAdapter = open.hAdapter;
    }
    assert_int_equal(dxgk_CreateDevice(c, &d), STATUS_SUCCESS);
    x.hDevice = d.hDevice;
    if (node) {
        q.hAdapter = d.hAdapter;
        assert_int_equal(dxgk_QueryAdapterInfo(c, &q), STATUS_SUCCESS);
        x.NodeOrdinal = *node = AEROGPU_EXT_UMD_PRIVATE_ENGINE(info.flags);
    }
    assert_int_equal(dxgk_CreateContext(c, &x), STATUS_SUCCESS);
    return (struct rig_context){.client = c,
                                .device = d.hDevice,
                                .context = x.hContext,
                                .command = x.pCommandBuffer,
                                .list = x.pAllocationList,
                                .command_size = x.CommandBufferSize,
                                .list_size = x.AllocationListSize};
}

struct rig_context rig_context(struct rig *r, struct dxgk_client *c)
{
    return make_context(r, c, NULL);
}

struct rig_context rig_own_context(struct rig *r, struct dxgk_client *c, UINT *node)
{
    return make_context(r, c, node);
}

void rig_context_destroy(struct rig_context *x)
{
    assert_int_equal(dxgk_DestroyDevice(x->client, &(D3DKMT_DESTROYDEVICE){.hDevice = x->device}),
                     STATUS_SUCCESS);
}

struct aerogpu_alloc_priv_v2 rig_priv(uint32_t alloc_id, uint64_t size, uint32_t width, uint32_t height)
{
    return (struct aerogpu_alloc_priv_v2){
        .magic = AEROGPU_ALLOC_PRIV_MAGIC,
        .version = 2,
        .alloc_id = alloc_id,
        .flags = AEROGPU_ALLOC_PRIV_FLAG_CPU_VISIBLE,
        .size_bytes = width ? (uint64_t)((4 * width + 255) & ~255u) * height : size,
        .kind = width ? AEROGPU_ALLOC_KIND_TEXTURE2D : AEROGPU_ALLOC_KIND_BUFFER,
        .width = width,
        .height = height,
        .format = width ? 87 : 0,
        .row_pitch_bytes = (4 * width + 255) & ~255u};
}

NTSTATUS rig_allocate(struct rig_context *x, struct aerogpu_alloc_priv_v2 *priv, D3DKMT_HANDLE *out)
{
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = priv, .PrivateDriverDataSize = sizeof(*priv)};
    D3DKMT_CREATEALLOCATION a = {.hDevice = x->device, .NumAllocations = 1, .pAllocationInfo = &info};
    NTSTATUS s = dxgk_CreateAllocation(x->client, &a);

    *out = info.hAllocation;
    return s;
}

void *rig_lock(struct rig_context *x, D3DKMT_HANDLE a)
{
    D3DKMT_LOCK lock = {.hDevice = x->device, .hAllocation = a};

    assert_int_equal(dxgk_Lock(x->client, &lock), STATUS_SUCCESS);
    return lock.pData;
}

void rig_unlock(struct rig_context *x, D3DKMT_HANDLE a)
{
    assert_int_equal(dxgk_Unlock(x->client, &(D3DKMT_UNLOCK){x->device, 1, &a}), STATUS_SUCCESS);
}

NTSTATUS rig_render(struct rig_context *x, struct abi_builder *b, const D3DKMT_HANDLE *allocs, unsigned n,
                    uint32_t write)
{
    D3DKMT_RENDER r = {.hContext = x->context, .AllocationCount = n};
    uint32_t size;
    const void *bytes = abi_builder_end(b, &size);
    NTSTATUS s;

    assert_true(size <= x->command_size);
    memcpy(x->command, bytes, size);
    r.CommandLength = size;
    for (unsigned i = 0; i < n; i++) {
        x->list[i] = (D3DDDI_ALLOCATIONLIST){.hAllocation = allocs[i]};
        x->list[i].WriteOperation = write >> i & 1;
    }
    s = dxgk_Render(x->client, &r);
    abi_builder_reset(b);
    return s;
}

NTSTATUS rig_idle(struct rig_context *x)
{
    return dxgk_WaitForIdle(x->client, &(D3DKMT_WAITFORIDLE){.hDevice = x->device});
}

D3DKMT_DEVICEEXECUTION_STATE rig_state(struct rig_context *x)
{
    D3DKMT_GETDEVICESTATE g = {.hDevice = x->device, .StateType = D3DKMT_DEVICESTATE_EXECUTION};

    assert_int_equal(dxgk_GetDeviceState(x->client, &g), STATUS_SUCCESS);
    return g.ExecutionState;
}

NTSTATUS rig_escape(struct rig *r, struct dxgk_client *c, void *block, uint32_t size)
{
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC) "\\\\.\\DISPLAY1"};
    D3DKMT_HANDLE adapter = r->adapter;
    NTSTATUS s;

    if (c != r->client) {
        assert_int_equal(dxgk_OpenAdapterFromHdc(c, &open), STATUS_SUCCESS);
        adapter = open.hAdapter;
    }
    s = dxgk_Escape(
        c, &(D3DKMT_ESCAPE){.hAdapter = adapter, .pPrivateDriverData = block, .PrivateDriverDataSize = size});
    if (c != r->client)
        assert_int_equal(dxgk_CloseAdapter(c, &(D3DKMT_CLOSEADAPTER){adapter}), STATUS_SUCCESS);
    return s;
}

uint64_t rig_memory_end(struct rig *r, struct dxgk_client *admin)
{
    struct aerogpu_escape_read_gpa e;
    uint64_t at = machine_ram_size(stack_machine(r->stack));

    for (;; at += 4096) {
        e = (struct aerogpu_escape_read_gpa){
            .header = {1, AEROGPU_ESCAPE_OP_READ_GPA, sizeof(e), 0}, .gpa = at, .size_bytes = 4};
        if (!NT_SUCCESS(rig_escape(r, admin, &e, sizeof(e))))
            return at;
    }
}
