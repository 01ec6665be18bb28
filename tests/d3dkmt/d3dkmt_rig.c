/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "d3dkmt_rig.h"
#include "dxgkrnl/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct rig rig;

static void rig_up(void)
{
    static struct settings settings;
    struct error e = {0};
    struct dxgk_params p = {
        .clock = &rig.clock, .bus = &rig.gpu.bus, .settings = &settings, .service = "softgpu"};

    memset(&rig, 0, sizeof(rig));
    dxgk_settings_set(&settings, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 60); /* app_force_tdr */
    dxgk_settings_set(&settings, SETTINGS_GRAPHICS_DRIVERS, "TdrLimitCount", 1000);
    clock_init_live(&rig.clock);
    assert_int_equal(softgpu_init(&rig.gpu, &rig.clock, NULL), 0);
    assert_int_equal(dxgk_create(&rig.dxgk, &p, &e), 0);
    dxgk_settings_finish(&settings);
    rig.gpu.dxgk = rig.dxgk;
    if (dxgk_load_file(rig.dxgk, SOFTGPU_KMD, &e) || !NT_SUCCESS(dxgk_start(rig.dxgk, &e)))
        fail_msg("%s", e.text);
}

int rig_up_local(void **state)
{
    rig_up();
    assert_int_equal(dxgk_client_open(rig.dxgk, &rig.local, (uint64_t)getpid(), true), 0);
    d3dkmt_local(&rig.transport, rig.local);
    d3dkmt_use(&rig.transport);
    return 0;
}

const char *rig_subuid(void)
{
    static char path[64];

    snprintf(path, sizeof(path), "/tmp/d3dkmt-subuid.%d", (int)getpid());
    return path;
}

int rig_up_served(void **state)
{
    struct d3dkmt_serve_params p = {
        .path = rig.path, .mode = 0600, .group = (gid_t)-1, .subuid = rig_subuid()};
    struct error e = {0};

    rig_up();
    snprintf(rig.path, sizeof(rig.path), "/tmp/d3dkmt-test.%d", (int)getpid());
    p.dxgk = rig.dxgk;
    if (d3dkmt_serve(&rig.server, &p, &e))
        fail_msg("%s", e.text);
    setenv(D3DKMT_SOCKET_VARIABLE, rig.path, 1); /* found without d3dkmt_connect */
    return 0;
}

int rig_up_connected(void **state)
{
    struct error e = {0};

    rig_up_served(state);
    if (d3dkmt_connect(rig.path, &e))
        fail_msg("%s", e.text);
    return 0;
}

int rig_down(void **state)
{
    d3dkmt_use(NULL);
    d3dkmt_disconnect();
    unsetenv(D3DKMT_SOCKET_VARIABLE);
    d3dkmt_serve_end(rig.server);
    dxgk_client_close(rig.local);
    dxgk_unload(rig.dxgk);
    softgpu_stop(&rig.gpu);
    for (unsigned i = 0; i < dxgk_violations(rig.dxgk); i++)
        print_error("violation: %s\n", dxgk_violation(rig.dxgk, i));
    assert_int_equal(dxgk_violations(rig.dxgk), 0);
    dxgk_destroy(rig.dxgk);
    assert_int_equal(rig.gpu.allocated, 0);
    softgpu_finish(&rig.gpu);
    return 0;
}

NTSTATUS app_open(struct app *a)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE d = {0};
    D3DKMT_CREATECONTEXT x = {0};
    NTSTATUS s = D3DKMTOpenAdapterFromHdc(&open);

    *a = (struct app){.adapter = open.hAdapter, .source = open.VidPnSourceId};
    d.hAdapter = open.hAdapter;
    if (NT_SUCCESS(s))
        s = D3DKMTCreateDevice(&d);
    x.hDevice = a->device = d.hDevice;
    if (NT_SUCCESS(s))
        s = D3DKMTCreateContext(&x);
    a->context = x.hContext;
    a->cmd = x.pCommandBuffer;
    a->list = x.pAllocationList;
    return s;
}

/* In a child, a failed check must not go on with the tests. */
static bool in_child;

void app_close(struct app *a)
{
    assert_int_equal(D3DKMTDestroyContext(&(D3DKMT_DESTROYCONTEXT){a->context}), STATUS_SUCCESS);
    assert_int_equal(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){a->device}), STATUS_SUCCESS);
    assert_int_equal(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){a->adapter}), STATUS_SUCCESS);
}

void app_force_tdr(const struct app *a)
{
    uint32_t type = D3DKMT_TDRDBGCTRLTYPE_FORCETDR;
    D3DKMT_ESCAPE e = {.hAdapter = a->adapter,
                       .Type = D3DKMT_ESCAPE_TDRDBGCTRL,
                       .pPrivateDriverData = &type,
                       .PrivateDriverDataSize = sizeof(type)};

    assert_int_equal(D3DKMTEscape(&e), STATUS_SUCCESS);
}

NTSTATUS app_alloc(struct app *a, uint32_t size, bool primary, bool shared, D3DKMT_HANDLE *out,
                   D3DKMT_CREATEALLOCATION *c)
{
    struct softgpu_alloc priv = {.size = size, .width = primary ? 320 : 0, .height = primary ? 200 : 0};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    NTSTATUS s;

    *c = (D3DKMT_CREATEALLOCATION){.hDevice = a->device, .NumAllocations = 1, .pAllocationInfo = &info};
    c->Flags.CreateResource = c->Flags.CreateShared = shared;
    info.Flags.Primary = primary;
    s = D3DKMTCreateAllocation(c);
    *out = info.hAllocation;
    assert_ptr_equal(info.pPrivateDriverData, &priv);
    return s;
}

uint64_t app_render(struct app *a, uint32_t op, uint32_t value, D3DKMT_HANDLE alloc, uint32_t words,
                    NTSTATUS expected)
{
    D3DKMT_RENDER r = {.hContext = a->context, .CommandLength = sizeof(*a->cmd), .AllocationCount = !!alloc};
    NTSTATUS s;

    a->cmd[0] = (struct softgpu_cmd){op, value, 0, words, 0};
    a->list[0] = (D3DDDI_ALLOCATIONLIST){.hAllocation = alloc};
    a->list[0].WriteOperation = 1;
    s = D3DKMTRender(&r);
    if (in_child && s != expected)
        _exit(100);
    assert_int_equal(s, expected);
    if (NT_SUCCESS(s)) {
        assert_ptr_equal(r.pNewCommandBuffer, a->cmd);
        assert_ptr_equal(r.pNewAllocationList, a->list);
    }
    return d3dkmt_progress(a->context)->queued;
}

uint32_t *app_lock(struct app *a, D3DKMT_HANDLE h)
{
    D3DKMT_LOCK l = {.hDevice = a->device, .hAllocation = h};

    if (D3DKMTLock(&l) != STATUS_SUCCESS || !l.pData) {
        if (in_child)
            _exit(101);
        fail_msg("the allocation cannot be locked");
    }
    return l.pData;
}

void app_unlock(struct app *a, D3DKMT_HANDLE h)
{
    assert_int_equal(D3DKMTUnlock(&(D3DKMT_UNLOCK){a->device, 1, &h}), STATUS_SUCCESS);
}

/* Runs fn in a process of its own; its exit status. */
pid_t run_in_child(int (*fn)(void *arg), void *arg)
{
    pid_t pid = fork();

    if (!pid) {
        alarm(30);
        in_child = true;
        _exit(fn(arg));
    }
    return pid;
}

int child_result(pid_t pid)
{
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void rig_await_nobody(void)
{
    struct d3dkmt_server_stats st;

    for (int i = 0; i < 1000; i++) {
        d3dkmt_serve_stats(rig.server, &st);
        if (!st.open_clients && !st.connected)
            break;
        usleep(10000);
    }
    assert_int_equal(st.open_clients, 0);
    assert_int_equal(st.connected, 0);
}
