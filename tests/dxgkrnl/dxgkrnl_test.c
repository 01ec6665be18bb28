/* SPDX-License-Identifier: MIT */
/* dxgkrnl hosts a miniport that it does not know (tests/softgpu/kmd.c), in virtual time and live. */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dxgkrnl/faults.h"
#include "dxgkrnl_rig.h"

TEST(a_foreign_miniport_starts_and_stops)
{
    struct world w;
    D3DKMT_CURRENTDISPLAYMODE mode = {0};
    D3DKMT_QUERYADAPTERINFO q = {.Type = KMTQAITYPE_CURRENTDISPLAYMODE,
                                 .pPrivateDriverData = &mode,
                                 .PrivateDriverDataSize = sizeof(mode)};
    D3DKMT_DISPLAYMODE list[4];
    D3DKMT_GETDISPLAYMODELIST l = {0};
    D3DKMT_SEGMENTSIZEINFO seg;
    D3DKMT_GETSCANLINE line;
    uint32_t priv = 0;
    struct error e = {0};

    world_up(&w, false);
    q.hAdapter = l.hAdapter = w.adapter;
    assert_int_equal(dxgk_QueryAdapterInfo(w.client, &q), STATUS_SUCCESS);
    assert_int_equal(mode.DisplayMode.Width, 640);
    assert_int_equal(mode.DisplayMode.IntegerRefreshRate, 60);
    assert_int_equal(dxgk_GetDisplayModeList(w.client, &l), STATUS_SUCCESS);
    assert_int_equal(l.ModeCount, 3);
    l.pModeList = list;
    l.ModeCount = 1;
    assert_int_equal(dxgk_GetDisplayModeList(w.client, &l), STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(dxgk_GetDisplayModeList(w.client, &l), STATUS_SUCCESS);
    assert_int_equal(list[1].Width, 320);
    q = (D3DKMT_QUERYADAPTERINFO){w.adapter, KMTQAITYPE_GETSEGMENTSIZE, &seg, sizeof(seg)};
    assert_int_equal(dxgk_QueryAdapterInfo(w.client, &q), STATUS_SUCCESS);
    assert_int_equal(seg.SharedSystemMemorySize, 4 * SOFTGPU_PAGES * 4096);
    q = (D3DKMT_QUERYADAPTERINFO){w.adapter, KMTQAITYPE_UMDRIVERPRIVATE, &priv, sizeof(priv)};
    assert_int_equal(dxgk_QueryAdapterInfo(w.client, &q), STATUS_SUCCESS);
    assert_int_equal(priv, SOFTGPU_ID);
    line = (D3DKMT_GETSCANLINE){.hAdapter = w.adapter};
    assert_int_equal(dxgk_GetScanLine(w.client, &line), STATUS_SUCCESS);
    assert_int_equal(line.ScanLine, 42);
    dxgk_stop(w.dxgk);
    assert_int_equal(dxgk_QueryAdapterInfo(w.client, &q), STATUS_DEVICE_REMOVED);
    assert_int_equal(dxgk_start(w.dxgk, &e), STATUS_SUCCESS); /* a second life */
    assert_int_equal(dxgk_QueryAdapterInfo(w.client, &q), STATUS_SUCCESS);
    assert_int_equal(dxgk_set_power(w.dxgk, PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS);
    assert_int_equal(dxgk_set_power(w.dxgk, PowerDeviceD0, PowerActionNone), STATUS_SUCCESS);
    world_down(&w, 0);
}

static NTSTATUS NTAPI entry_that_forgets(PDRIVER_OBJECT driver, PUNICODE_STRING path)
{
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI entry_without_ddis(PDRIVER_OBJECT driver, PUNICODE_STRING path)
{
    DRIVER_INITIALIZATION_DATA d = {.Version = DXGKDDI_INTERFACE_VERSION_WIN7};

    return DxgkInitialize(driver, path, &d);
}

static NTSTATUS NTAPI entry_of_the_future(PDRIVER_OBJECT driver, PUNICODE_STRING path)
{
    DRIVER_INITIALIZATION_DATA d = {.Version = 0x300E};

    return DxgkInitialize(driver, path, &d);
}

static NTSTATUS NTAPI entry_that_faults(PDRIVER_OBJECT driver, PUNICODE_STRING path)
{
    __builtin_trap();
}

static NTSTATUS NTAPI entry_that_waits(PDRIVER_OBJECT driver, PUNICODE_STRING path)
{
    KEVENT never;

    KeInitializeEvent(&never, NotificationEvent, FALSE);
    return KeWaitForSingleObject(&never, Executive, KernelMode, FALSE, NULL);
}

TEST(incomplete_miniports_are_refused)
{
    struct clock clock;
    struct loop *loop;
    struct softgpu gpu;
    struct dxgk *d;
    struct error e = {0};

    clock_init_virtual(&clock, 0);
    assert_int_equal(loop_create(&loop, &clock), 0);
    softgpu_init(&gpu, &clock, loop);
    assert_int_equal(
        dxgk_create(&d, &(struct dxgk_params){.clock = &clock, .loop = loop, .bus = &gpu.bus}, &e), 0);
    assert_int_equal(dxgk_load(d, entry_that_forgets, &e), -ENXIO);
    assert_string_equal(e.text, "DriverEntry succeeded without DxgkInitialize");
    error_clear(&e);
    assert_int_equal(dxgk_load(d, entry_without_ddis, &e), -ENXIO);
    assert_string_equal(e.text, "the miniport lacks DxgkDdiAddDevice, which WDDM 1.1 demands");
    error_clear(&e);
    assert_int_equal(dxgk_load(d, entry_of_the_future, &e), -ENOEXEC);
    assert_string_equal(
        e.text,
        "the miniport is for interface version 0x300e; Windows 7 takes 0x2005, and of Vista 0x1052 and 0x1053");
    error_clear(&e);
    assert_int_equal(dxgk_load(d, entry_that_faults, &e), -ENXIO);
    assert_non_null(strstr(e.text, "an illegal instruction at "));
    assert_non_null(strstr(e.text, ", in DriverEntry"));
    error_clear(&e);
    assert_int_equal(dxgk_load(d, entry_that_waits, &e), -ENXIO);
    assert_string_equal(e.text, "DriverEntry has not returned within TdrDdiDelay (5 s)");
    error_clear(&e);
    assert_int_equal(dxgk_load(d, entry_that_forgets, &e), -ENXIO);
    assert_string_equal(e.text, "DriverEntry succeeded without DxgkInitialize");
    error_clear(&e);
    assert_int_equal(dxgk_load_file(d, "/nonexistent.so", &e), -ENOENT);
    dxgk_destroy(d);
    softgpu_finish(&gpu);
    loop_destroy(loop);
}

static void never_heard(void *ctx, const struct dxgk_event *e)
{
    for (;;)
        pause();
}

/* What is said of a fault needs something that the fault left locked: the process ends, and that is said all the same. */
TEST(a_fault_that_cannot_be_told_ends_the_process)
{
    char said[16384];
    int ends[2], status;
    size_t at = 0;
    ssize_t n;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct clock clock;
        struct loop *loop;
        struct softgpu gpu;
        struct dxgk *d;
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        clock_init_virtual(&clock, 0);
        if (!loop_create(&loop, &clock)) {
            softgpu_init(&gpu, &clock, loop);
            if (!dxgk_create(&d,
                             &(struct dxgk_params){
                                 .clock = &clock, .loop = loop, .bus = &gpu.bus, .on_event = never_heard},
                             NULL))
                dxgk_load(d, entry_that_faults, NULL);
        }
        _exit(99);
    }
    close(ends[1]);
    while ((n = read(ends[0], said + at, sizeof(said) - 1 - at)) > 0)
        at += (size_t)n;
    said[at] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(said, "locked this process up: an illegal instruction at "));
}

static void check_render(struct world *w)
{
    struct ctx x = ctx_make(w, w->client, w->adapter);
    D3DKMT_HANDLE a;
    D3DKMT_LOCK lock = {.hDevice = x.device};
    int fd = eventfd(0, EFD_NONBLOCK);
    uint64_t n = 0;

    assert_int_equal(ctx_allocate(w, &x, 8192, false, &a), STATUS_SUCCESS);
    ctx_put(&x, OP_FILL, 0xABCD, 4096, 1024, 0);
    assert_int_equal(ctx_render(w->client, &x, &a, 1), STATUS_SUCCESS);
    ctx_put(&x, OP_DELAY, 5, 0, 0, 0);
    ctx_put(&x, OP_FILL, 0x1234, 8188, 1, 0);
    assert_int_equal(ctx_render(w->client, &x, &a, 1), STATUS_SUCCESS);
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 sig = {.hContext = x.context, .CpuEventHandle = (HANDLE)(intptr_t)fd};
    sig.Flags.EnqueueCpuEvent = 1;
    assert_int_equal(dxgk_SignalSynchronizationObject2(w->client, &sig), STATUS_SUCCESS);
    lock.hAllocation = a;
    lock.Flags.DonotWait = 1;
    assert_int_equal(dxgk_Lock(w->client, &lock), STATUS_GRAPHICS_ALLOCATION_BUSY);
    assert_int_equal(read(fd, &n, 8), -1);
    lock.Flags.DonotWait = 0;
    assert_int_equal(dxgk_Lock(w->client, &lock), STATUS_SUCCESS);
    assert_int_equal(((uint32_t *)lock.pData)[0], 0);
    assert_int_equal(((uint32_t *)lock.pData)[1024], 0xABCD);
    assert_int_equal(((uint32_t *)lock.pData)[2047], 0x1234);
    assert_int_equal(dxgk_Unlock(w->client, &(D3DKMT_UNLOCK){x.device, 1, &a}), STATUS_SUCCESS);
    assert_int_equal(dxgk_Unlock(w->client, &(D3DKMT_UNLOCK){x.device, 1, &a}), STATUS_INVALID_PARAMETER);
    assert_int_equal(ctx_idle(w->client, &x), STATUS_SUCCESS);
    assert_int_equal(read(fd, &n, 8), 8);
    assert_int_equal(n, 1);
    close(fd);
}

TEST(work_runs_in_order_and_signals)
{
    struct world w;

    world_up(&w, false);
    check_render(&w);
    world_down(&w, 0);
}

TEST(a_long_command_buffer_is_split)
{
    struct world w;
    struct ctx x;
    uint64_t before;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    before = w.gpu.executed;
    while (x.n < 16384 / sizeof(*x.cmd))
        ctx_put(&x, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_int_equal(w.gpu.executed - before, 16384 / sizeof(*x.cmd));
    world_down(&w, 0);
}

TEST(memory_is_evicted_and_budgeted)
{
    struct world w;
    struct ctx x;
    D3DKMT_HANDLE a[20];
    D3DKMT_LOCK lock;
    D3DKMT_QUERYSTATISTICS st = {.Type = D3DKMT_QUERYSTATISTICS_SEGMENT};
    unsigned n = 0;
    NTSTATUS s;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    while (n < 20 && NT_SUCCESS(s = ctx_allocate(&w, &x, 1 << 20, false, &a[n])))
        n++;
    assert_int_equal(s, STATUS_GRAPHICS_NO_VIDEO_MEMORY); /* 16 MiB less the desktop's surface */
    assert_int_equal(n, 14);
    assert_int_equal(ctx_allocate(&w, &x, 0, false, &a[19]), STATUS_INVALID_PARAMETER);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < n; i++) {
            ctx_put(&x, OP_FILL, 100 * round + i, 1 << 19, 4, 0);
            assert_int_equal(ctx_render(w.client, &x, &a[i], 1), STATUS_SUCCESS);
        }
    for (unsigned i = 0; i < n; i++) {
        lock = (D3DKMT_LOCK){.hDevice = x.device, .hAllocation = a[i]};
        assert_int_equal(dxgk_Lock(w.client, &lock), STATUS_SUCCESS);
        assert_int_equal(((uint32_t *)lock.pData)[1 << 17], 100 + i);
        assert_int_equal(dxgk_Unlock(w.client, &(D3DKMT_UNLOCK){x.device, 1, &a[i]}), STATUS_SUCCESS);
    }
    st.AdapterLuid.LowPart = 0x1000;
    assert_int_equal(dxgk_QueryStatistics(w.client, &st), STATUS_SUCCESS);
    assert_true(st.QueryResult.SegmentInformation.Memory.TotalBytesEvicted >= 20 << 20);
    assert_true(st.QueryResult.SegmentInformation.BytesResident <= 4 << 20);
    world_down(&w, 0);
}

/* What is dear stays, what is not goes first, however recently it was used; asking moves nothing. */
TEST(dear_allocations_are_evicted_last)
{
    struct world w;
    struct ctx x, other;
    D3DKMT_HANDLE a[10];
    D3DKMT_ALLOCATIONRESIDENCYSTATUS is[10];
    UINT priority[] = {D3DDDI_ALLOCATIONPRIORITY_HIGH, D3DDDI_ALLOCATIONPRIORITY_MINIMUM};
    D3DKMT_QUERYALLOCATIONRESIDENCY q = {
        .phAllocationList = a, .AllocationCount = 10, .pResidencyStatus = is};
    D3DKMT_SETALLOCATIONPRIORITY p = {.phAllocationList = a, .AllocationCount = 1, .pPriorities = priority};
    D3DKMT_GETCONTEXTSCHEDULINGPRIORITY g = {0};

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    other = ctx_make(&w, w.client, w.adapter);
    q.hDevice = p.hDevice = x.device;
    for (int i = 0; i < 10; i++)
        assert_int_equal(ctx_allocate(&w, &x, 1 << 20, false, &a[i]), STATUS_SUCCESS);
    assert_int_equal(dxgk_QueryAllocationResidency(w.client, &q), STATUS_SUCCESS);
    for (int i = 0; i < 10; i++)
        assert_int_equal(is[i], D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT);
    assert_int_equal(dxgk_SetAllocationPriority(w.client, &p), STATUS_SUCCESS); /* the first is dear */
    for (int i = 0; i < 10; i++) {                                              /* four fit */
        ctx_put(&x, OP_FILL, 1, 0, 4, 0);
        assert_int_equal(ctx_render(w.client, &x, &a[i], 1), STATUS_SUCCESS);
        assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    }
    assert_int_equal(dxgk_QueryAllocationResidency(w.client, &q), STATUS_SUCCESS);
    assert_int_not_equal(is[0], D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT);
    assert_int_not_equal(is[9], D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT);
    assert_int_equal(is[1], D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT);
    p.phAllocationList = &a[9]; /* used last, and worth least */
    p.pPriorities = &priority[1];
    assert_int_equal(dxgk_SetAllocationPriority(w.client, &p), STATUS_SUCCESS);
    ctx_put(&x, OP_FILL, 1, 0, 4, 0);
    assert_int_equal(ctx_render(w.client, &x, &a[1], 1), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_int_equal(dxgk_QueryAllocationResidency(w.client, &q), STATUS_SUCCESS);
    assert_int_equal(is[9], D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT);
    assert_int_not_equal(is[0], D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT);

    q.hDevice = other.device; /* another device's */
    assert_int_equal(dxgk_QueryAllocationResidency(w.client, &q), STATUS_INVALID_HANDLE);
    q.hDevice = x.device;
    q.hResource = a[0]; /* no resource */
    assert_int_equal(dxgk_QueryAllocationResidency(w.client, &q), STATUS_INVALID_HANDLE);
    q.hResource = 0;
    q.AllocationCount = 0;
    assert_int_equal(dxgk_QueryAllocationResidency(w.client, &q), STATUS_INVALID_PARAMETER);
    p.pPriorities = NULL;
    assert_int_equal(dxgk_SetAllocationPriority(w.client, &p), STATUS_INVALID_PARAMETER);
    g.hContext = x.context;
    dxgk_SetContextSchedulingPriority(w.client, &(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY){x.context, -3});
    assert_int_equal(dxgk_GetContextSchedulingPriority(w.client, &g), STATUS_SUCCESS);
    assert_int_equal(g.Priority, -3);
    g.hContext = x.device;
    assert_int_equal(dxgk_GetContextSchedulingPriority(w.client, &g), STATUS_INVALID_HANDLE);
    world_down(&w, 0);
}

TEST(waiting_in_a_dpc_is_caught_and_named)
{
    struct world w;
    struct ctx x;
    struct softgpu_escape e = {.op = ESC_BAD_DPC};
    const char *text;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    ctx_put(&x, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    text = dxgk_violation(w.dxgk, 0);
    assert_non_null(text);
    assert_ptr_equal(
        strstr(text, "KeDelayExecutionThread called at IRQL 2, allowed up to 1, in DxgkDdiDpcRoutine"), text);
    assert_non_null(strstr(text, "softgpu_kmd")); /* the call stack */
    assert_int_equal(dxgk_event_count(w.dxgk, 0xC4), 1);
    world_down(&w, 1);
}

TEST(locks_and_fences_are_checked)
{
    struct world w;
    struct ctx x;
    struct softgpu_escape e = {.op = ESC_DOUBLE_LOCK};

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    assert_non_null(
        strstr(dxgk_violation(w.dxgk, 0), "KeAcquireSpinLockAtDpcLevel of a spin lock that is held"));
    e.op = ESC_BAD_FENCE;
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    ctx_put(&x, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &x, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 1), "DMA_COMPLETED of fence 1"));
    world_down(&w, 2);
}

TEST(mutexes_that_are_kept_are_named)
{
    struct world w;
    struct softgpu_escape e = {.op = ESC_KEEP_MUTEX};

    world_up(&w, false);
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 0), "DxgkDdiEscape returned and keeps 1 mutexes"));
    e.value = 1; /* a fast one, which raises the IRQL */
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 1), "DxgkDdiEscape returned and keeps 1 mutexes"));
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS); /* comes back */
    assert_non_null(strstr(dxgk_violation(w.dxgk, 2), "of a mutex that the thread owns: a deadlock"));
    assert_non_null(strstr(dxgk_violation(w.dxgk, 3), "DxgkDdiEscape returned and keeps 1 mutexes"));
    world_down(&w, 4);
}

TEST(regions_and_timers_that_are_left_are_named)
{
    struct world w;
    struct softgpu_escape critical = {.op = ESC_CRITICAL}, timer = {.op = ESC_LEAVE_TIMER};

    world_up(&w, false);
    for (critical.value = 0; critical.value < 2; critical.value++) {
        assert_int_equal(world_escape(&w, &critical), STATUS_SUCCESS);
        assert_non_null(
            strstr(dxgk_violation(w.dxgk, critical.value),
                   "DxgkDdiEscape returned inside of 1 critical or guarded regions that it entered"));
    }
    assert_int_equal(world_escape(&w, &timer), STATUS_SUCCESS);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 2), "tag TGPU, with a timer in it that is set"));
    timer.value = 1; /* in what RemoveDevice frees */
    assert_int_equal(world_escape(&w, &timer), STATUS_SUCCESS);
    world_down(&w, 4);
}

TEST(urgent_work_preempts)
{
    struct world w;
    struct ctx slow, urgent;
    uint64_t start;
    D3DKMT_QUERYSTATISTICS st = {.Type = D3DKMT_QUERYSTATISTICS_NODE, .AdapterLuid.LowPart = 0x1000};

    world_up(&w, false);
    slow = ctx_make(&w, w.client, w.adapter);
    urgent = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(dxgk_SetContextSchedulingPriority(
                         w.client, &(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY){urgent.context, 7}),
                     STATUS_SUCCESS);
    assert_int_equal(dxgk_SetContextSchedulingPriority(
                         w.client, &(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY){urgent.context, 8}),
                     STATUS_INVALID_PARAMETER);
    start = clock_now(&w.clock);
    for (int i = 0; i < 5; i++) {
        ctx_put(&slow, OP_DELAY, 100, 0, 0, 0);
        assert_int_equal(ctx_render(w.client, &slow, NULL, 0), STATUS_SUCCESS);
    }
    ctx_put(&urgent, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &urgent, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &urgent), STATUS_SUCCESS);
    assert_int_equal(clock_now(&w.clock) - start,
                     100 * NSEC_PER_MSEC); /* behind one buffer, not behind two */
    assert_int_equal(ctx_idle(w.client, &slow), STATUS_SUCCESS);
    assert_int_equal(clock_now(&w.clock) - start,
                     500 * NSEC_PER_MSEC); /* nothing ran twice, nothing was lost */
    assert_int_equal(dxgk_QueryStatistics(w.client, &st), STATUS_SUCCESS);
    assert_int_equal(st.QueryResult.NodeInformation.GlobalInformation.PreemptionCounter[0], 1);
    world_down(&w, 0);
}

static NTSTATUS set_class(struct dxgk_client *c, uint64_t process, UINT class_)
{
    return dxgk_ProcessPriority(c, &(D3DKMT_PROCESSPRIORITY){.Process = process, .Set = 1, .Class = class_});
}

/* Work of a process of a higher class goes first; one of a lower class waits for a second at most. */
TEST(classes_of_processes_order_their_work)
{
    D3DKMT_PROCESSPRIORITY get = {0};
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    struct dxgk_client *other, *admin;
    struct world w;
    struct ctx busy, idle;
    uint64_t start;

    world_set("HwQueuedRenderPacketGroupLimit", 1);
    world_up(&w, false);
    assert_int_equal(dxgk_client_open(w.dxgk, &other, 77, false), 0);
    dxgk_client_set_user(other, 1000, false);
    assert_int_equal(dxgk_ProcessPriority(other, &get), STATUS_SUCCESS);
    assert_int_equal(get.Class, D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL);
    assert_int_equal(set_class(other, 0, D3DKMT_SCHEDULINGPRIORITYCLASS_HIGH), STATUS_PRIVILEGE_NOT_HELD);
    assert_int_equal(set_class(other, 0, 6), STATUS_INVALID_PARAMETER);
    assert_int_equal(set_class(other, 1, D3DKMT_SCHEDULINGPRIORITYCLASS_IDLE), STATUS_INVALID_HANDLE);
    assert_int_equal(set_class(other, 0, D3DKMT_SCHEDULINGPRIORITYCLASS_IDLE), STATUS_SUCCESS);
    assert_int_equal(dxgk_OpenAdapterFromHdc(other, &open), STATUS_SUCCESS);
    idle = ctx_make(&w, other, open.hAdapter);
    assert_int_equal(
        dxgk_SetContextSchedulingPriority(other, &(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY){idle.context, 7}),
        STATUS_SUCCESS);
    busy = ctx_make(&w, w.client, w.adapter);
    start = clock_now(&w.clock);
    ctx_put(&busy, OP_DELAY, 100, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &busy, NULL, 0), STATUS_SUCCESS);
    ctx_put(&idle, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(other, &idle, NULL, 0), STATUS_SUCCESS);
    for (int i = 0; i < 19; i++) {
        ctx_put(&busy, OP_DELAY, 100, 0, 0, 0);
        assert_int_equal(ctx_render(w.client, &busy, NULL, 0), STATUS_SUCCESS);
    }
    assert_int_equal(ctx_idle(other, &idle), STATUS_SUCCESS);
    assert_int_equal(clock_now(&w.clock) - start,
                     NSEC_PER_SEC); /* behind ten, not behind one, and not behind twenty */
    assert_int_equal(ctx_idle(w.client, &busy), STATUS_SUCCESS);
    assert_int_equal(dxgk_client_open(w.dxgk, &admin, 78, true), 0);
    assert_int_equal(set_class(admin, 77, D3DKMT_SCHEDULINGPRIORITYCLASS_REALTIME), STATUS_SUCCESS);
    assert_int_equal(dxgk_ProcessPriority(other, &get), STATUS_SUCCESS);
    assert_int_equal(get.Class, D3DKMT_SCHEDULINGPRIORITYCLASS_REALTIME);
    dxgk_client_close(admin);
    dxgk_client_close(other);
    world_down(&w, 0);
}

TEST(preempted_work_keeps_its_order)
{
    D3DKMT_QUERYSTATISTICS st = {.Type = D3DKMT_QUERYSTATISTICS_NODE, .AdapterLuid.LowPart = 0x1000};
    struct world w;
    struct ctx slow, urgent;
    D3DKMT_HANDLE mem;
    D3DKMT_LOCK lock;

    world_set("HwQueuedRenderPacketGroupLimit", 4);
    world_up(&w, false);
    slow = ctx_make(&w, w.client, w.adapter);
    urgent = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(ctx_allocate(&w, &slow, 4096, false, &mem), STATUS_SUCCESS);
    assert_int_equal(dxgk_SetContextSchedulingPriority(
                         w.client, &(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY){urgent.context, 7}),
                     STATUS_SUCCESS);
    ctx_put(&slow, OP_FILL, 9, 0, 1, 0); /* from here on it is resident */
    assert_int_equal(ctx_render(w.client, &slow, &mem, 1), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &slow), STATUS_SUCCESS);
    ctx_put(&slow, OP_DELAY, 100, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &slow, NULL, 0), STATUS_SUCCESS);
    for (uint32_t i = 1; i <= 3; i++) {
        ctx_put(&slow, OP_FILL, i, 0, 1, 0);
        assert_int_equal(ctx_render(w.client, &slow, &mem, 1), STATUS_SUCCESS);
    }
    ctx_put(&urgent, OP_NOP, 0, 0, 0, 0);
    assert_int_equal(ctx_render(w.client, &urgent, NULL, 0), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &slow), STATUS_SUCCESS);
    assert_int_equal(dxgk_QueryStatistics(w.client, &st), STATUS_SUCCESS);
    assert_int_equal(st.QueryResult.NodeInformation.GlobalInformation.PreemptionCounter[0], 3);
    lock = (D3DKMT_LOCK){.hDevice = slow.device, .hAllocation = mem};
    assert_int_equal(dxgk_Lock(w.client, &lock), STATUS_SUCCESS);
    assert_int_equal(*(uint32_t *)lock.pData, 3);
    world_down(&w, 0);
}

TEST(fences_order_contexts)
{
    struct world w;
    struct ctx a, b;
    D3DKMT_HANDLE mem;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {0};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 wait = {0};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 sig = {0};
    D3DKMT_CREATECONTEXT x = {0};
    D3DKMT_LOCK lock;

    world_up(&w, false);
    a = ctx_make(&w, w.client, w.adapter);
    x.hDevice = a.device;
    assert_int_equal(dxgk_CreateContext(w.client, &x), STATUS_SUCCESS);
    b = (struct ctx){a.device, x.hContext, x.pCommandBuffer, x.pAllocationList, 0};
    assert_int_equal(ctx_allocate(&w, &a, 4096, false, &mem), STATUS_SUCCESS);
    c.hDevice = a.device;
    c.Info.Type = D3DDDI_FENCE;
    assert_int_equal(dxgk_CreateSynchronizationObject2(w.client, &c), STATUS_SUCCESS);
    wait.hContext = b.context;
    sig.hContext = a.context;
    wait.ObjectCount = sig.ObjectCount = 1;
    wait.ObjectHandleArray[0] = sig.ObjectHandleArray[0] = c.hSyncObject;
    wait.Fence.FenceValue = sig.Fence.FenceValue = 5;
    assert_int_equal(dxgk_WaitForSynchronizationObject2(w.client, &wait), STATUS_SUCCESS);
    ctx_put(&b, OP_FILL, 2, 0, 1, 0);
    assert_int_equal(ctx_render(w.client, &b, &mem, 1), STATUS_SUCCESS);
    ctx_put(&a, OP_DELAY, 50, 0, 0, 0);
    ctx_put(&a, OP_FILL, 1, 0, 1, 0);
    assert_int_equal(ctx_render(w.client, &a, &mem, 1), STATUS_SUCCESS);
    assert_int_equal(dxgk_SignalSynchronizationObject2(w.client, &sig), STATUS_SUCCESS);
    lock = (D3DKMT_LOCK){.hDevice = a.device, .hAllocation = mem};
    assert_int_equal(dxgk_Lock(w.client, &lock), STATUS_SUCCESS);
    assert_int_equal(*(uint32_t *)lock.pData, 2);
    world_down(&w, 0);
}

/* Another context of the same device. */
/* Whether the context has done so many packets, or will in 10 ms. */
static NTSTATUS done(struct world *w, const struct ctx *x, uint64_t packets)
{
    return dxgk_wait_progress(w->client, x->context, packets, 10 * NSEC_PER_MSEC);
}

TEST(mutexes_and_semaphores_let_through_as_many_as_they_say)
{
    struct world w;
    struct ctx a, b;
    D3DKMT_HANDLE free_mutex, owned, semaphore;

    world_up(&w, false);
    a = ctx_make(&w, w.client, w.adapter);
    b = ctx_second(&w, &a);
    free_mutex = sync_make(&w, &a, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SYNCHRONIZATION_MUTEX});
    owned = sync_make(&w, &a,
                      (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SYNCHRONIZATION_MUTEX,
                                                          .SynchronizationMutex.InitialState = TRUE});
    semaphore = sync_make(&w, &a,
                          (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){
                              .Type = D3DDDI_SEMAPHORE, .Semaphore = {.MaxCount = 2, .InitialCount = 1}});
    sync_wait(&w, &a, free_mutex, 0);
    assert_int_equal(done(&w, &a, 1), STATUS_SUCCESS);
    sync_wait(&w, &a, owned, 0);
    assert_int_equal(done(&w, &a, 2), STATUS_TIMEOUT);
    sync_signal(&w, &b, owned, 0);
    assert_int_equal(done(&w, &a, 2), STATUS_SUCCESS);
    for (int i = 0; i < 3; i++)
        sync_signal(&w, &b, semaphore, 0);
    assert_int_equal(done(&w, &b, 4), STATUS_SUCCESS);
    for (int i = 0; i < 3; i++)
        sync_wait(&w, &a, semaphore, 0);
    assert_int_equal(done(&w, &a, 4), STATUS_SUCCESS);
    assert_int_equal(done(&w, &a, 5), STATUS_TIMEOUT); /* it never held more than two */
    sync_signal(&w, &b, semaphore, 0);
    assert_int_equal(done(&w, &a, 5), STATUS_SUCCESS);
    world_down(&w, 0);
}

TEST(lock_waits_for_work_that_is_only_queued)
{
    struct world w;
    struct ctx a, b;
    D3DKMT_HANDLE mem, fence;
    D3DKMT_LOCK lock;

    world_up(&w, false);
    a = ctx_make(&w, w.client, w.adapter);
    b = ctx_second(&w, &a);
    assert_int_equal(ctx_allocate(&w, &a, 4096, false, &mem), STATUS_SUCCESS);
    fence = sync_make(&w, &a, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_FENCE});
    sync_wait(&w, &b, fence, 1);
    ctx_put(&b, OP_FILL, 2, 0, 1, 0);
    assert_int_equal(ctx_render(w.client, &b, &mem, 1), STATUS_SUCCESS);
    lock = (D3DKMT_LOCK){.hDevice = a.device, .hAllocation = mem, .Flags.DonotWait = 1};
    assert_int_equal(dxgk_Lock(w.client, &lock), STATUS_GRAPHICS_ALLOCATION_BUSY);
    sync_signal(&w, &a, fence, 1);
    lock.Flags.DonotWait = 0;
    assert_int_equal(dxgk_Lock(w.client, &lock), STATUS_SUCCESS);
    assert_int_equal(*(uint32_t *)lock.pData, 2);
    world_down(&w, 0);
}

TEST(closed_handles_name_nothing)
{
    struct world w;
    struct ctx a;
    D3DKMT_HANDLE old, new;

    world_up(&w, false);
    a = ctx_make(&w, w.client, w.adapter);
    for (int i = 0; i < 4; i++) {
        old = sync_make(&w, &a, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_FENCE});
        assert_int_equal(
            dxgk_DestroySynchronizationObject(w.client, &(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){old}),
            STATUS_SUCCESS);
        new = sync_make(&w, &a, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_FENCE});
        assert_int_not_equal(old, new); /* it came into its place */
        assert_int_equal(
            dxgk_DestroySynchronizationObject(w.client, &(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){old}),
            STATUS_INVALID_HANDLE);
    }
    world_down(&w, 0);
}

TEST(surfaces_are_shared_between_processes)
{
    struct world w;
    struct dxgk_client *other;
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    struct ctx x, y;
    struct softgpu_alloc priv = {.size = 4096};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION a = {.NumAllocations = 1,
                                 .pAllocationInfo = &info,
                                 .pPrivateRuntimeData = "hello",
                                 .PrivateRuntimeDataSize = 5};
    D3DKMT_QUERYRESOURCEINFO q = {0};
    D3DDDI_OPENALLOCATIONINFO opened;
    char runtime[5], total[64];
    D3DKMT_OPENRESOURCE o = {.NumAllocations = 1,
                             .pOpenAllocationInfo = &opened,
                             .pPrivateRuntimeData = runtime,
                             .PrivateRuntimeDataSize = 5,
                             .pTotalPrivateDriverDataBuffer = total,
                             .TotalPrivateDriverDataBufferSize = sizeof(total)};
    D3DKMT_LOCK lock;

    world_up(&w, false);
    x = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(dxgk_client_open(w.dxgk, &other, 200, true), 0);
    assert_int_equal(dxgk_OpenAdapterFromHdc(other, &open), STATUS_SUCCESS);
    y = ctx_make(&w, other, open.hAdapter);
    a.hDevice = x.device;
    a.Flags.CreateShared = 1;
    assert_int_equal(dxgk_CreateAllocation(w.client, &a), STATUS_INVALID_PARAMETER);
    a.Flags.CreateResource = 1;
    assert_int_equal(dxgk_CreateAllocation(w.client, &a), STATUS_SUCCESS);
    q.hDevice = o.hDevice = y.device;
    q.hGlobalShare = o.hGlobalShare = a.hGlobalShare;
    assert_int_equal(dxgk_QueryResourceInfo(other, &q), STATUS_SUCCESS);
    assert_int_equal(q.NumAllocations, 1);
    assert_int_equal(q.TotalPrivateDriverDataSize, sizeof(priv));
    assert_int_equal(dxgk_OpenResource(other, &o), STATUS_SUCCESS);
    assert_memory_equal(runtime, "hello", 5);
    /* The handle of one process means nothing in another. */
    lock = (D3DKMT_LOCK){.hDevice = y.device, .hAllocation = info.hAllocation};
    assert_int_equal(dxgk_Lock(other, &lock), STATUS_INVALID_HANDLE);
    ctx_put(&x, OP_FILL, 77, 0, 1, 0);
    assert_int_equal(ctx_render(w.client, &x, &info.hAllocation, 1), STATUS_SUCCESS);
    assert_int_equal(ctx_idle(w.client, &x), STATUS_SUCCESS);
    dxgk_client_close(w.client); /* its maker goes; the surface stays */
    lock.hAllocation = opened.hAllocation;
    assert_int_equal(dxgk_Lock(other, &lock), STATUS_SUCCESS);
    assert_int_equal(*(uint32_t *)lock.pData, 77);
    w.client = other;
    world_down(&w, 0);
}

TEST(bad_arguments_have_exact_answers)
{
    struct world w;
    struct ctx x, y;
    struct softgpu_escape e = {.op = ESC_ADMIN, .value = 9};
    D3DKMT_HANDLE a;
    D3DKMT_CREATECONTEXT cc = {.NodeOrdinal = 1};
    D3DKMT_RENDER r = {0};
    uint32_t tdr = D3DKMT_TDRDBGCTRLTYPE_FORCETDR;
    D3DKMT_ESCAPE esc = {
        .Type = D3DKMT_ESCAPE_TDRDBGCTRL, .pPrivateDriverData = &tdr, .PrivateDriverDataSize = 4};
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC) "DISPLAY1"};
    D3DKMT_PRESENT p = {0};

    world_up(&w, false);
    assert_int_equal(dxgk_OpenAdapterFromHdc(w.client, &open), STATUS_INVALID_PARAMETER);
    open.hDc = (HDC) "\\\\.\\DISPLAY2";
    assert_int_equal(dxgk_OpenAdapterFromHdc(w.client, &open), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    x = ctx_make(&w, w.client, w.adapter);
    y = ctx_make(&w, w.client, w.adapter);
    assert_int_equal(dxgk_CreateDevice(w.client, &(D3DKMT_CREATEDEVICE){.hAdapter = x.device}),
                     STATUS_INVALID_HANDLE);
    assert_int_equal(dxgk_DestroyDevice(w.client, &(D3DKMT_DESTROYDEVICE){0}), STATUS_INVALID_HANDLE);
    assert_int_equal(dxgk_DestroyDevice(w.client, &(D3DKMT_DESTROYDEVICE){0xFFFFFFFF}),
                     STATUS_INVALID_HANDLE);
    cc.hDevice = x.device;
    assert_int_equal(dxgk_CreateContext(w.client, &cc), STATUS_INVALID_PARAMETER);
    assert_int_equal(ctx_allocate(&w, &x, 4096, false, &a), STATUS_SUCCESS);
    assert_int_equal(ctx_render(w.client, &y, &a, 1), STATUS_GRAPHICS_WRONG_ALLOCATION_DEVICE);
    a ^= 1u << 20;
    assert_int_equal(ctx_render(w.client, &x, &a, 1), STATUS_INVALID_HANDLE);
    r.hContext = x.context;
    r.CommandLength = 16385;
    assert_int_equal(dxgk_Render(w.client, &r), STATUS_INVALID_PARAMETER);
    r.CommandLength = 1;
    r.CommandOffset = 16384;
    assert_int_equal(dxgk_Render(w.client, &r), STATUS_INVALID_PARAMETER);
    r.CommandOffset = 0;
    assert_int_equal(dxgk_Render(w.client, &r),
                     STATUS_INVALID_PARAMETER); /* the miniport: not a whole command */
    r.AllocationCount = 65;
    assert_int_equal(dxgk_Render(w.client, &r), STATUS_INVALID_PARAMETER);
    assert_int_equal(world_escape(&w, &e), STATUS_SUCCESS);
    assert_int_equal(e.value, 0); /* not an administrator */
    esc.hAdapter = w.adapter;
    assert_int_equal(dxgk_Escape(w.client, &esc), STATUS_ACCESS_DENIED);
    esc.PrivateDriverDataSize = 3;
    assert_int_equal(dxgk_Escape(w.client, &esc), STATUS_INVALID_PARAMETER);
    esc.Type = 99;
    assert_int_equal(dxgk_Escape(w.client, &esc), STATUS_NOT_SUPPORTED);
    p.hContext = x.context;
    assert_int_equal(dxgk_Present(w.client, &p), STATUS_INVALID_PARAMETER);
    assert_int_equal(dxgk_DestroyDevice(w.client, &(D3DKMT_DESTROYDEVICE){x.device}), STATUS_SUCCESS);
    assert_int_equal(dxgk_DestroyDevice(w.client, &(D3DKMT_DESTROYDEVICE){x.device}), STATUS_INVALID_HANDLE);
    assert_int_equal(dxgk_Render(w.client, &r), STATUS_INVALID_HANDLE);
    world_down(&w, 0);
}

TEST(settings_are_parsed_strictly)
{
    struct settings s = {0};
    struct error e = {0};
    uint32_t v;
    const char good[] =
        "; comment\n[HKR\\Parameters]\nNonLocalMemorySizeMB = 0x200 ; 512\n\n[" SETTINGS_GRAPHICS_DRIVERS
        "]\r\nTdrDelay=10\r\n";

    assert_int_equal(dxgk_settings_parse(&s, good, sizeof(good) - 1, &e), 0);
    assert_true(dxgk_settings_get(&s, "hkr\\parameters", "nonlocalmemorysizemb", &v));
    assert_int_equal(v, 512);
    assert_true(dxgk_settings_get(&s, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", &v));
    assert_int_equal(v, 10);
    assert_int_equal(dxgk_settings_parse(&s, "[K]\na=4294967296\n", 17, &e), -EINVAL);
    assert_string_equal(e.text, "line 2: a is not a number of 32 bits");
    error_clear(&e);
    assert_int_equal(dxgk_settings_parse(&s, "a=1", 3, &e), -EINVAL);
    assert_string_equal(e.text, "line 1: expected a value, \"Name = number\", under a [key]");
    assert_false(dxgk_settings_has_key(&s, "K"));
    dxgk_settings_finish(&s);
}

static void *live_client(void *arg)
{
    struct world *w = arg;
    struct dxgk_client *c;
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_WAITFORVERTICALBLANKEVENT v = {0};

    if (dxgk_client_open(w->dxgk, &c, 300, false) || dxgk_OpenAdapterFromHdc(c, &open))
        return "open";
    for (int i = 0; i < 20; i++) {
        D3DKMT_CREATEDEVICE d = {.hAdapter = open.hAdapter};
        D3DKMT_CREATECONTEXT x = {0};
        D3DKMT_RENDER r = {.CommandLength = sizeof(struct softgpu_cmd)};
        if (dxgk_CreateDevice(c, &d))
            return "device";
        x.hDevice = d.hDevice;
        if (dxgk_CreateContext(c, &x))
            return "context";
        memset(x.pCommandBuffer, 0, sizeof(struct softgpu_cmd));
        r.hContext = x.hContext;
        for (int j = 0; j < 10; j++)
            if (dxgk_Render(c, &r))
                return "render";
        if (dxgk_WaitForIdle(c, &(D3DKMT_WAITFORIDLE){d.hDevice}))
            return "idle";
        if (i % 2 && dxgk_DestroyDevice(c, &(D3DKMT_DESTROYDEVICE){d.hDevice}))
            return "destroy";
    }
    v.hAdapter = open.hAdapter;
    for (int i = 0; i < 5; i++)
        if (dxgk_WaitForVerticalBlankEvent(c, &v))
            return "vblank";
    dxgk_client_close(c);
    return NULL;
}

TEST(live_clients_run_at_once)
{
    struct world w;
    pthread_t t[8];
    void *failed;

    world_up(&w, true);
    check_render(&w);
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&t[i], NULL, live_client, &w), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(t[i], &failed);
        if (failed)
            fail_msg("a client failed at: %s", (char *)failed);
    }
    world_down(&w, 0);
}

/* Faults are for who runs the service, where the settings let them. */
TEST(faults_are_not_for_everybody)
{
    struct dxgk_injection i = {DXGK_FAULT_LOSE_INTERRUPT, 0};
    D3DKMT_ESCAPE esc = {.Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_INJECT,
                         .pPrivateDriverData = &i,
                         .PrivateDriverDataSize = sizeof(i)};

    for (int allowed = 0; allowed < 2; allowed++)
        for (int admin = 0; admin < 2; admin++) {
            D3DKMT_OPENADAPTERFROMHDC open = {0};
            struct dxgk_client *c;
            struct world w;

            world_set("EnableFaultInjection", (uint32_t)allowed);
            world_up(&w, false);
            assert_int_equal(dxgk_client_open(w.dxgk, &c, 200, admin), 0);
            assert_int_equal(dxgk_OpenAdapterFromHdc(c, &open), STATUS_SUCCESS);
            esc.hAdapter = open.hAdapter;
            i.fault = DXGK_FAULT_LOSE_INTERRUPT;
            assert_int_equal(dxgk_Escape(c, &esc), !admin    ? STATUS_ACCESS_DENIED
                                                   : allowed ? STATUS_SUCCESS
                                                             : STATUS_NOT_SUPPORTED);
            i.fault = DXGK_NUM_FAULTS; /* and no other tells whether a fault exists */
            assert_int_equal(dxgk_Escape(c, &esc), !admin    ? STATUS_ACCESS_DENIED
                                                   : allowed ? STATUS_INVALID_PARAMETER
                                                             : STATUS_NOT_SUPPORTED);
            dxgk_client_close(c);
            world_down(&w, 0);
        }
}

int main(void)
{
    setenv("AEROGPU_LOG", "error", 0);
    return test_run();
}
