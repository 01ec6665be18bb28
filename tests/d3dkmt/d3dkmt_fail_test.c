/* SPDX-License-Identifier: MIT */
/* Each allocation and system call of the client, of the service and of a request fails once: the caller is told, nothing stays
 * behind, and the next one is served. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "d3dkmt/wire.h"
#include "d3dkmt_rig.h"

static int serve_once(void *unused)
{
    struct d3dkmt_server *server;
    struct error e = {0};
    char path[64];
    int r;

    snprintf(path, sizeof(path), "/tmp/d3dkmt-fail.%d", (int)getpid());
    r = d3dkmt_serve(
        &server,
        &(struct d3dkmt_serve_params){.dxgk = rig.dxgk, .path = path, .mode = 0600, .group = (gid_t)-1}, &e);
    if (!r)
        d3dkmt_serve_end(server);
    assert_int_equal(access(path, F_OK), -1);
    return r;
}

TEST_IN(a_service_begins_or_says_why, local)
{
    assert_true(alloc_fail_each(serve_once, NULL) > 6);
}

/* A program from its start to its end; false: somewhere on the way it was told that it cannot be. */
static bool program(void)
{
    D3DKMT_CREATEALLOCATION c;
    D3DKMT_HANDLE h = 0;
    struct app a;
    bool ok = NT_SUCCESS(app_open(&a)) && NT_SUCCESS(app_alloc(&a, 4096, false, true, &h, &c));
    D3DKMT_LOCK lock = {.hDevice = a.device, .hAllocation = h};

    if (ok && NT_SUCCESS(D3DKMTLock(&lock))) {
        *(uint32_t *)lock.pData = 7;
        ok = NT_SUCCESS(D3DKMTUnlock(&(D3DKMT_UNLOCK){a.device, 1, &h}));
    } else {
        ok = false;
    }
    ok = ok && NT_SUCCESS(D3DKMTWaitForVerticalBlankEvent(
                   &(D3DKMT_WAITFORVERTICALBLANKEVENT){a.adapter, a.device, a.source}));
    if (a.device)
        D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){a.device});
    if (a.adapter)
        D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){a.adapter});
    return ok;
}

TEST_IN(a_client_is_told_and_leaves_nothing, served)
{
    unsigned before, survived = 0, n = 0;
    struct error e = {0};
    int failed;

    assert_int_equal(d3dkmt_connect(rig.path, &e), 0);
    assert_true(program()); /* what is opened once is open now */
    d3dkmt_disconnect();
    rig_await_nobody();
    before = test_open_fds();
    for (failed = 1; failed; n++) {
        bool ok;
        alloc_fail_arm(n);
        ok = !d3dkmt_connect(rig.path, &e) && program();
        failed = alloc_fail_disarm();
        d3dkmt_disconnect();
        rig_await_nobody();
        survived += failed && ok;
        if (!failed)
            assert_true(ok);
        for (int i = 0; i < 1000 && test_open_fds() != before; i++)
            usleep(10000); /* who went before the service saw him is not counted yet */
        if (test_open_fds() != before)
            fail_msg("call %u (%s) failed: %u descriptors were open before, now %u", n, alloc_fail_what(),
                     before, test_open_fds());
    }
    assert_true(n > 5);
    print_message("# %u calls were made to fail, %u programs went on\n", n - 1, survived);
}

TEST_IN(who_is_counted_no_more_has_no_descriptor, served)
{
    unsigned before = 0;
    struct error e = {0};

    for (int i = 0; i <= 100; i++) {
        struct d3dkmt_server_stats st;
        struct app a;
        assert_int_equal(d3dkmt_connect(rig.path, &e), 0);
        assert_int_equal(app_open(&a), STATUS_SUCCESS);
        d3dkmt_disconnect();
        do
            d3dkmt_serve_stats(rig.server, &st);
        while (st.connected);
        if (!i)
            before = test_open_fds(); /* what is opened once is open now */
        assert_int_equal(test_open_fds(), before);
    }
}

/* One request as it comes from the socket; the structure that was answered in `arg`. */
static NTSTATUS request(enum d3dkmt_thunk thunk, void *arg, int *failed, unsigned nth)
{
    uint8_t *msg = malloc(WIRE_MAX), *reply = malloc(WIRE_MAX);
    size_t size = d3dkmt_wire_write(msg, thunk, arg, 0, NULL);
    int fd;
    bool bad;
    NTSTATUS s;

    alloc_fail_arm(nth);
    size = d3dkmt_handle(rig.local, msg, size, -1, reply, &fd, &bad);
    *failed = alloc_fail_disarm();
    assert_false(bad && !*failed);
    s = d3dkmt_wire_parse_reply(reply, size, thunk, arg);
    free(msg);
    free(reply);
    return s;
}

/* Failing until it goes well; what it answered. What ends something may do without, and has then done it. */
static void each(enum d3dkmt_thunk thunk, void *arg, size_t size)
{
    const bool ends = thunk == D3DKMT_THUNK_DestroyDevice || thunk == D3DKMT_THUNK_CloseAdapter;
    uint8_t before[256];
    int failed = 1;

    memcpy(before, arg, size);
    for (unsigned n = 0; failed; n++) {
        NTSTATUS s;
        memcpy(arg, before, size);
        s = request(thunk, arg, &failed, n);
        if (ends && s == STATUS_SUCCESS)
            return;
        if (failed ? s != STATUS_NO_MEMORY && s != STATUS_INSUFFICIENT_RESOURCES : s != STATUS_SUCCESS)
            fail_msg("%s: call %u (%s) failed: the answer is %x", d3dkmt_wire_thunks[thunk].name, n,
                     failed ? alloc_fail_what() : "none", (unsigned)s);
    }
}
#define EACH(name, arg) each(D3DKMT_THUNK_##name, arg, sizeof(*(arg)))

TEST_IN(a_request_is_done_or_says_that_there_is_no_memory, local)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE d = {0};
    D3DKMT_CREATECONTEXT x = {0};
    struct softgpu_alloc priv = {.size = 4096};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION c = {.NumAllocations = 1, .pAllocationInfo = &info};
    D3DKMT_LOCK lock = {0};

    EACH(OpenAdapterFromHdc, &open);
    d.hAdapter = open.hAdapter;
    EACH(CreateDevice, &d);
    x.hDevice = c.hDevice = d.hDevice;
    EACH(CreateContext, &x);
    EACH(CreateAllocation, &c);
    lock = (D3DKMT_LOCK){.hDevice = d.hDevice, .hAllocation = info.hAllocation};
    EACH(Lock, &lock);
    EACH(DestroyDevice, &(D3DKMT_DESTROYDEVICE){d.hDevice});
    EACH(CloseAdapter, &(D3DKMT_CLOSEADAPTER){open.hAdapter});
}
