/* SPDX-License-Identifier: MIT */
/* Each allocation and system call on the way from nothing to a frame fails once, in virtual time, where all runs on one thread:
 * somebody is told, nothing crashes, nothing stays behind (ASan, descriptors, the device's memory). */
#include "softgpu/device.h"

#include "test.h"

#include "../alloc_fail.h"

/* A program from its start to its end; false: somewhere on the way it was told that it cannot be. */
static bool program(struct dxgk *d)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE dev = {0};
    D3DKMT_CREATECONTEXT x = {0};
    struct softgpu_alloc priv = {.size = 4096};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION c = {.NumAllocations = 1, .pAllocationInfo = &info};
    D3DKMT_RENDER r = {.CommandLength = sizeof(struct softgpu_cmd), .AllocationCount = 1};
    struct dxgk_client *client;
    bool ok = false;

    if (dxgk_client_open(d, &client, 1, false))
        return false;
    if (!NT_SUCCESS(dxgk_OpenAdapterFromHdc(client, &open)))
        goto out;
    dev.hAdapter = open.hAdapter;
    if (!NT_SUCCESS(dxgk_CreateDevice(client, &dev)))
        goto out;
    c.hDevice = x.hDevice = dev.hDevice;
    c.Flags.CreateResource = c.Flags.CreateShared = 1;
    if (!NT_SUCCESS(dxgk_CreateContext(client, &x)) || !NT_SUCCESS(dxgk_CreateAllocation(client, &c)))
        goto out;
    r.hContext = x.hContext;
    *(struct softgpu_cmd *)x.pCommandBuffer = (struct softgpu_cmd){.op = OP_NOP};
    x.pAllocationList[0] = (D3DDDI_ALLOCATIONLIST){.hAllocation = info.hAllocation, .Value = 1};
    ok = NT_SUCCESS(dxgk_Render(client, &r)) &&
         NT_SUCCESS(dxgk_WaitForIdle(client, &(D3DKMT_WAITFORIDLE){dev.hDevice}));
out:
    dxgk_client_close(client);
    return ok;
}

/* With the nth call from dxgk_create on failing; *failed is what it failed with, 0: none was left to fail. */
static bool life(unsigned nth, int *failed)
{
    struct clock clock;
    struct loop *loop;
    struct softgpu gpu;
    struct dxgk *d = NULL;
    struct error e = {0};
    struct dxgk_params p = {.clock = &clock, .bus = &gpu.bus, .service = "softgpu"};
    bool ok;

    clock_init_virtual(&clock, NSEC_PER_SEC);
    assert_int_equal(loop_create(&loop, &clock), 0);
    p.loop = loop;
    assert_int_equal(softgpu_init(&gpu, &clock, loop), 0);
    alloc_fail_arm(nth);
    ok = !dxgk_create(&d, &p, &e);
    gpu.dxgk = d;
    ok = ok && !dxgk_load_file(d, SOFTGPU_KMD, &e) && NT_SUCCESS(dxgk_start(d, &e)) && program(d);
    if (d)
        dxgk_unload(d);
    *failed = alloc_fail_disarm();
    assert_int_equal(d ? dxgk_violations(d) : 0, 0); /* nothing leaked, no rule broken */
    softgpu_stop(&gpu);
    dxgk_destroy(d);
    assert_int_equal(gpu.allocated, 0);
    softgpu_finish(&gpu);
    loop_destroy(loop);
    return ok;
}

TEST(whatever_fails_is_survived)
{
    unsigned before, survived = 0, n = 0;
    int failed;

    assert_true(life(100000, &failed));
    before = test_open_fds();
    for (failed = 1; failed; n++) {
        survived += life(n, &failed);
        assert_int_equal(test_open_fds(), before);
    }
    assert_true(n > 50);
    assert_true(survived >= 1 && survived < n / 2);
    print_message("# %u calls were made to fail, %u lives went on\n", n - 1, survived - 1);
}
