/* SPDX-License-Identifier: MIT */
/* The kernel routines that strangers' miniports use, called as one would: with the processor held, in virtual time and live. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dxgkrnl/adapter.h"
#include "ntos_rig.h"
#include "wddm/ntintsafe.h"

static NTSTATUS wait_many(ULONG n, PVOID objects[], WAIT_TYPE type, int timeout_ms)
{
    LARGE_INTEGER t = ms(timeout_ms);
    KWAIT_BLOCK blocks[MAXIMUM_WAIT_OBJECTS];

    return KeWaitForMultipleObjects(n, objects, type, Executive, KernelMode, FALSE, &t, blocks);
}

/* ---- pool ---------------------------------------------------------------- */

TEST(pool_has_a_guard_and_what_is_freed_is_watched)
{
    const ULONG tag = 0x31677562; /* "bug1" */
    struct world w;
    PUCHAR p;

    up(&w, false);
    p = ExAllocatePoolWithTag(NonPagedPool, 100, tag);
    memset(p, 7, 100);
    ExFreePoolWithTag(p, tag);
    assert_int_equal(dxgk_violations(w.dxgk), 0);
    p = ExAllocatePoolWithTag(NonPagedPool, 100, tag);
    p[103] = 1;
    ExFreePoolWithTag(p, tag);
    violated(&w, "the miniport wrote behind the end of 100 bytes of pool, at byte 103, tag bug1");
    p = ExAllocatePoolWithTag(NonPagedPool, 50, tag);
    ExFreePoolWithTag(p, tag);
    p[10] = 1;
    assert_int_equal(dxgk_violations(w.dxgk), 1); /* nobody has looked yet */
    ExFreePoolWithTag(ExAllocatePoolWithTag(NonPagedPool, 1 << 20, tag), tag);
    violated(&w, "the miniport wrote at 10 of 50 bytes of pool, tag bug1, after it had freed them in no DDI");
    p = ExAllocatePoolWithTag(NonPagedPool, 60, tag);
    ExFreePoolWithTag(p, tag);
    ExFreePoolWithTag(p, tag);
    assert_non_null(strstr(dxgk_violation(w.dxgk, 2), "which is freed already"));
    down(&w, 3);
}

/* ---- what a device reaches, and what DDIs are handed ---------------------- */

TEST(contiguous_memory_larger_than_the_machine_is_refused)
{
    const PHYSICAL_ADDRESS any = {.QuadPart = INT64_MAX}, none = {.QuadPart = 0};
    struct world w;

    up(&w, false);
    for (SIZE_T less = 1; less <= 4 * PAGE_SIZE;
         less += PAGE_SIZE / 2) { /* with its guards such a size is a small one */
        assert_null(MmAllocateContiguousMemory((SIZE_T)0 - less, any));
        assert_null(MmAllocateContiguousMemorySpecifyCache((SIZE_T)0 - less, none, any, none, MmCached));
        assert_null(MmAllocateNonCachedMemory((SIZE_T)0 - less));
    }
    down(&w, 0);
}

TEST(freed_memory_is_kept_from_nobody)
{
    const PHYSICAL_ADDRESS any = {.QuadPart = INT64_MAX};
    struct physmem own = {0};
    PVOID all = NULL, p;
    struct world w;

    up(&w, false);
    while ((p = MmAllocateContiguousMemory(PAGE_SIZE, any))) {
        *(PVOID *)p = all;
        all = p;
    }
    assert_non_null(all);
    assert_int_not_equal(dxgk_physmem_alloc(w.dxgk, PAGE_SIZE, &own), 0);
    for (; all; all = p) {
        p = *(PVOID *)all;
        MmFreeContiguousMemory(all);
        if (!own.va)
            assert_int_equal(dxgk_physmem_alloc(w.dxgk, PAGE_SIZE, &own), 0);
    }
    dxgk_physmem_free(w.dxgk, &own);
    down(&w, 0);
}

TEST(who_writes_late_into_an_argument_is_not_the_next_ddi)
{
    const uint8_t large[112] = {0}, small[64] = {0};
    uint8_t *late;
    struct world w;

    up(&w, false);
    late = dxgk_argument(w.dxgk, large, sizeof(large));
    dxgk_argument_back(w.dxgk, "DxgkDdiRender", "its argument", late, sizeof(large), NULL);
    *late = 1;
    for (int i = 0; i < 100; i++)
        dxgk_argument_back(w.dxgk, "DxgkDdiPatch", "its argument",
                           dxgk_argument(w.dxgk, small, sizeof(small)), sizeof(small), NULL);
    violated(&w, "the miniport wrote into an argument of a DDI that had returned");
    down(&w, 1);
}

/* Instructions of SSE fault where it is not so, and lists without a lock. */
TEST(pool_is_aligned)
{
    const ULONG tag = 0x31677562;
    struct world w;

    up(&w, false);
    for (SIZE_T size = 1; size <= 3 * PAGE_SIZE; size += size < 200 ? 1 : 37) {
        uintptr_t p = (uintptr_t)ExAllocatePoolWithTag(NonPagedPool, size, tag);
        assert_int_equal(p % (size < PAGE_SIZE ? 2 * sizeof(void *) : PAGE_SIZE), 0);
        assert_true(size > PAGE_SIZE || p / PAGE_SIZE == (p + size - 1) / PAGE_SIZE);
        ExFreePoolWithTag((PVOID)p, tag);
    }
    down(&w, 0);
}

/* ---- work items ---------------------------------------------------------- */

struct work {
    WORK_QUEUE_ITEM item;
    KEVENT done, go;
    unsigned runs, again;
    KIRQL irql;
    struct kthread *thread;
};

static void NTAPI work(PVOID parameter)
{
    struct work *w = parameter;

    w->irql = KeGetCurrentIrql();
    w->thread = dxgk_kernel_thread(k);
    w->runs++;
    if (w->again) {
        w->again--;
        ExQueueWorkItem(&w->item, DelayedWorkQueue);
    } else {
        KeSetEvent(&w->done, 0, FALSE);
    }
}

static void NTAPI work_that_waits(PVOID parameter)
{
    struct work *w = parameter;

    assert_int_equal(wait_one(&w->go, 5000), STATUS_SUCCESS);
    w->runs++;
    KeSetEvent(&w->done, 0, FALSE);
}

static void work_init(struct work *w, PWORKER_THREAD_ROUTINE routine)
{
    memset(w, 0, sizeof(*w));
    w->irql = HIGH_LEVEL;
    KeInitializeEvent(&w->done, NotificationEvent, FALSE);
    KeInitializeEvent(&w->go, NotificationEvent, FALSE);
    ExInitializeWorkItem(&w->item, routine, w);
}

static void check_work_items(bool live)
{
    struct world w;
    struct work a, b;
    KIRQL old;

    up(&w, live);
    work_init(&a, work);
    a.again = 3;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ExQueueWorkItem(&a.item, CriticalWorkQueue);
    assert_int_equal(a.runs, 0);
    KeLowerIrql(old);
    assert_int_equal(wait_one(&a.done, 5000), STATUS_SUCCESS);
    assert_int_equal(a.runs, 4);
    assert_int_equal(a.irql, PASSIVE_LEVEL);
    assert_ptr_not_equal(a.thread, dxgk_kernel_thread(k));
    work_init(&a, work_that_waits); /* one that waits does not hold up the next */
    work_init(&b, work);
    ExQueueWorkItem(&a.item, DelayedWorkQueue);
    ExQueueWorkItem(&b.item, DelayedWorkQueue);
    assert_int_equal(wait_one(&b.done, 5000), STATUS_SUCCESS);
    assert_int_equal(a.runs, 0);
    KeSetEvent(&a.go, 0, FALSE);
    assert_int_equal(wait_one(&a.done, 5000), STATUS_SUCCESS);
    down(&w, 0);
}

TEST(work_items_run_on_a_thread_of_the_system)
{
    check_work_items(false);
}

TEST(work_items_run_live)
{
    check_work_items(true);
}

static void NTAPI io_work(PDEVICE_OBJECT device, PVOID context)
{
    struct work *w = context;

    assert_ptr_equal(device, k);
    w->runs++;
    KeSetEvent(&w->done, 0, FALSE);
}

TEST(work_items_of_a_device_end_before_the_driver_goes)
{
    struct world w;
    struct work a;
    PIO_WORKITEM item;

    up(&w, false);
    work_init(&a, NULL);
    item = IoAllocateWorkItem((PDEVICE_OBJECT)k);
    IoQueueWorkItem(item, io_work, DelayedWorkQueue, &a);
    IoFreeWorkItem(item);
    violated(&w, "IoFreeWorkItem of an item that is queued");
    IoQueueWorkItem(item, io_work, DelayedWorkQueue, &a);
    violated(&w, "IoQueueWorkItem of an item that is queued");
    assert_int_equal(wait_one(&a.done, 5000), STATUS_SUCCESS);
    KeClearEvent(&a.done);
    IoQueueWorkItem(item, io_work, DelayedWorkQueue, &a);
    dxgk_kernel_leave(k);
    dxgk_unload(w.dxgk);
    assert_int_equal(a.runs, 2);
    world_down(&w, 3); /* and the item itself is leaked pool */
}

static void NTAPI work_for_a_while(PVOID parameter)
{
    struct work *w = parameter;
    LARGE_INTEGER t = ms(500);

    KeDelayExecutionThread(KernelMode, FALSE, &t);
    w->runs++;
}

TEST(a_work_item_that_outlives_the_driver_is_seen)
{
    struct world w;
    struct work a;

    up(&w, false);
    work_init(&a, work_for_a_while);
    ExQueueWorkItem(&a.item, DelayedWorkQueue);
    dxgk_kernel_leave(k);
    dxgk_unload(w.dxgk);
    violated(&w, "the miniport left 1 work items that run or wait");
    assert_int_equal(a.runs, 1); /* its code is not taken away under it */
    world_down(&w, 1);
}

/* ---- threads ------------------------------------------------------------- */

static void NTAPI thread_that_ends(PVOID context)
{
    struct work *w = context;

    assert_int_equal(wait_one(&w->go, 5000), STATUS_SUCCESS);
    w->irql = KeGetCurrentIrql();
    PsTerminateSystemThread(STATUS_SUCCESS);
    w->runs++; /* not reached */
}

static void NTAPI thread_that_stays(PVOID context)
{
    struct work *w = context;

    for (;;) {
        w->runs++;
        KeWaitForSingleObject(&w->go, Executive, KernelMode, FALSE, NULL);
    }
}

static PVOID start(PKSTART_ROUTINE routine, PVOID context)
{
    PVOID object = NULL;
    HANDLE h;

    assert_int_equal(PsCreateSystemThread(&h, THREAD_ALL_ACCESS, NULL, NULL, NULL, routine, context),
                     STATUS_SUCCESS);
    assert_int_equal(
        ObReferenceObjectByHandle(h, THREAD_ALL_ACCESS, *IoFileObjectType, KernelMode, &object, NULL),
        STATUS_OBJECT_TYPE_MISMATCH);
    assert_null(object);
    assert_int_equal(
        ObReferenceObjectByHandle(h, THREAD_ALL_ACCESS, *PsThreadType, KernelMode, &object, NULL),
        STATUS_SUCCESS);
    assert_int_equal(ZwClose(h), STATUS_SUCCESS);
    return object;
}

static void check_threads(bool live)
{
    struct world w;
    struct work a;
    PVOID thread;

    up(&w, live);
    work_init(&a, NULL);
    thread = start(thread_that_ends, &a);
    assert_int_equal(wait_one(thread, 20), STATUS_TIMEOUT);
    KeSetEvent(&a.go, 0, FALSE);
    assert_int_equal(wait_one(thread, 5000), STATUS_SUCCESS);
    assert_int_equal(wait_one(thread, 0), STATUS_SUCCESS); /* stays signalled */
    assert_int_equal(a.irql, PASSIVE_LEVEL);
    assert_int_equal(a.runs, 0);
    ObDereferenceObject(thread);
    assert_int_equal(PsTerminateSystemThread(STATUS_SUCCESS), STATUS_INVALID_PARAMETER);
    down(&w, 0);
}

TEST(system_threads_run_and_end)
{
    check_threads(false);
}

TEST(system_threads_live)
{
    check_threads(true);
}

static void check_left_thread(bool live)
{
    struct world w;
    static struct work a;

    up(&w, live);
    work_init(&a, NULL);
    ObDereferenceObject(start(thread_that_stays, &a));
    assert_int_equal(wait_one(&a.done, 20), STATUS_TIMEOUT);
    assert_int_equal(a.runs, 1);
    dxgk_kernel_leave(k);
    dxgk_unload(w.dxgk);
    violated(&w, "the miniport left 1 system threads that run");
    world_down(&w, 1);
}

TEST(a_thread_that_is_left_is_ended)
{
    check_left_thread(false);
}

TEST(a_thread_that_is_left_is_ended_live)
{
    check_left_thread(true);
}

static struct work left_behind;

static NTSTATUS NTAPI entry_that_fails(PDRIVER_OBJECT driver, PUNICODE_STRING path)
{
    HANDLE thread;

    work_init(&left_behind, work);
    ExQueueWorkItem(&left_behind.item, DelayedWorkQueue);
    assert_int_equal(wait_one(&left_behind.done, 5000), STATUS_SUCCESS);
    assert_int_equal(
        PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL, thread_that_stays, &left_behind),
        STATUS_SUCCESS);
    ZwClose(thread);
    return STATUS_UNSUCCESSFUL;
}

TEST(a_driver_that_fails_to_load_leaves_no_thread)
{
    struct world w;
    struct error e = {0};

    world_up(&w, true);
    k = dxgk_kernel(w.dxgk);
    dxgk_client_close(w.client);
    dxgk_unload(w.dxgk);
    assert_int_equal(dxgk_load(w.dxgk, entry_that_fails, &e), -ENXIO);
    violated(&w, "the miniport left 1 system threads that run");
    assert_int_equal(dxgk_client_open(w.dxgk, &w.client, 100, false), 0);
    world_down(&w, 1);
}

/* ---- several objects ----------------------------------------------------- */

static void NTAPI set_later(PVOID context)
{
    LARGE_INTEGER t = ms(5);

    KeDelayExecutionThread(KernelMode, FALSE, &t);
    KeSetEvent(context, 0, FALSE);
}

static void check_wait_for_several(bool live)
{
    struct world w;
    KEVENT e[4];
    PVOID o[4], thread;

    up(&w, live);
    for (int i = 0; i < 4; i++) {
        KeInitializeEvent(&e[i], SynchronizationEvent, FALSE);
        o[i] = &e[i];
    }
    assert_int_equal(wait_many(4, o, WaitAny, 0), STATUS_TIMEOUT);
    assert_int_equal(wait_many(4, o, WaitAny, 5), STATUS_TIMEOUT);
    thread = start(set_later, &e[2]);
    assert_int_equal(wait_many(4, o, WaitAny, 5000), STATUS_WAIT_0 + 2);
    assert_int_equal(KeReadStateEvent(&e[2]), 0); /* taken */
    assert_int_equal(wait_one(thread, 5000), STATUS_SUCCESS);
    ObDereferenceObject(thread);
    KeSetEvent(&e[0], 0, FALSE);
    assert_int_equal(wait_many(2, o, WaitAll, 5), STATUS_TIMEOUT);
    assert_int_equal(KeReadStateEvent(&e[0]), 1); /* all, or none */
    thread = start(set_later, &e[1]);
    assert_int_equal(wait_many(2, o, WaitAll, 5000), STATUS_WAIT_0);
    assert_int_equal(KeReadStateEvent(&e[0]) + KeReadStateEvent(&e[1]), 0);
    assert_int_equal(wait_one(thread, 5000), STATUS_SUCCESS);
    ObDereferenceObject(thread);
    assert_int_equal(KeWaitForMultipleObjects(4, o, WaitAny, Executive, KernelMode, FALSE, NULL, NULL),
                     STATUS_INVALID_PARAMETER);
    violated(&w, "KeWaitForMultipleObjects of 4 objects, allowed are 1 to 3");
    down(&w, 1);
}

static VOID NTAPI take_mutex(PVOID context)
{
    PKMUTEX m = context;

    KeWaitForSingleObject(m, Executive, KernelMode, FALSE, NULL);
    KeReleaseMutex(m, FALSE);
}

static void check_counted_objects(bool live)
{
    struct world w;
    KSEMAPHORE s;
    KEVENT e;
    KMUTEX m;
    PVOID o[] = {&s, &m}, thread;

    up(&w, live);
    KeInitializeEvent(&e, NotificationEvent, 4); /* any TRUE */
    assert_int_equal(KeReadStateEvent(&e), 1);
    KeInitializeSemaphore(&s, 1, 3);
    assert_int_equal(wait_one(&s, 0), STATUS_SUCCESS);
    assert_int_equal(wait_one(&s, 5), STATUS_TIMEOUT);
    assert_int_equal(KeReleaseSemaphore(&s, 0, 3, FALSE), 0);
    assert_int_equal(KeReadStateSemaphore(&s), 3);
    assert_int_equal(KeReleaseSemaphore(&s, 0, 1, FALSE), 3);
    violated(&w, "KeReleaseSemaphore by 1: count 3, limit 3");
    KeInitializeMutex(&m, 0);
    assert_int_equal(wait_many(2, o, WaitAll, 0), STATUS_WAIT_0);
    assert_int_equal(KeReadStateSemaphore(&s), 2);
    assert_int_equal(wait_one(&m, 0), STATUS_SUCCESS); /* its owner, again */
    assert_int_equal(KeReadStateMutex(&m), -1);
    thread = start(take_mutex, &m);
    assert_int_equal(wait_one(thread, 5), STATUS_TIMEOUT);
    assert_int_equal(KeReleaseMutex(&m, FALSE), -1);
    assert_int_equal(wait_one(thread, 5), STATUS_TIMEOUT);
    assert_int_equal(KeReleaseMutex(&m, FALSE), 0);
    assert_int_equal(wait_one(thread, 5000), STATUS_SUCCESS);
    ObDereferenceObject(thread);
    KeReleaseMutex(&m, FALSE);
    violated(&w, "KeReleaseMutex by a thread that does not own the mutex");
    down(&w, 2);
}

TEST(semaphores_and_mutexes)
{
    check_counted_objects(false);
}

TEST(semaphores_and_mutexes_live)
{
    check_counted_objects(true);
}

TEST(any_or_all_of_several_objects)
{
    check_wait_for_several(false);
}

TEST(any_or_all_of_several_objects_live)
{
    check_wait_for_several(true);
}

/* ---- lists and lookaside lists ------------------------------------------- */

TEST(lists_keep_their_order)
{
    struct world w;
    LIST_ENTRY head, e[3];
    KSPIN_LOCK lock;
    SLIST_HEADER s;
    SLIST_ENTRY n[2];

    up(&w, false);
    InitializeListHead(&head);
    KeInitializeSpinLock(&lock);
    assert_null(ExInterlockedRemoveHeadList(&head, &lock));
    assert_null(ExInterlockedInsertTailList(&head, &e[0], &lock));
    assert_ptr_equal(ExInterlockedInsertTailList(&head, &e[1], &lock), &e[0]);
    assert_ptr_equal(ExInterlockedInsertHeadList(&head, &e[2], &lock), &e[0]);
    assert_ptr_equal(ExInterlockedRemoveHeadList(&head, &lock), &e[2]);
    assert_ptr_equal(RemoveTailList(&head), &e[1]);
    assert_true(RemoveEntryList(&e[0]));
    assert_true(IsListEmpty(&head));
    InitializeSListHead(&s);
    assert_null(InterlockedPopEntrySList(&s));
    assert_null(InterlockedPushEntrySList(&s, &n[0]));
    assert_ptr_equal(InterlockedPushEntrySList(&s, &n[1]), &n[0]);
    assert_int_equal(ExQueryDepthSList(&s), 2);
    assert_ptr_equal(InterlockedPopEntrySList(&s), &n[1]);
    assert_ptr_equal(ExInterlockedFlushSList(&s), &n[0]);
    assert_int_equal(ExQueryDepthSList(&s), 0);
    lock = 1;
    ExInterlockedInsertHeadList(&head, &e[0], &lock);
    violated(&w, "ExInterlockedInsertHeadList of a spin lock that is held: a deadlock");
    down(&w, 1);
}

TEST(lookaside_lists_keep_some_blocks)
{
    struct world w;
    NPAGED_LOOKASIDE_LIST l;
    PAGED_LOOKASIDE_LIST paged;
    void *block[8], *again;
    KIRQL old;

    up(&w, false);
    ExInitializeNPagedLookasideList(&l, NULL, NULL, 0, 4, 0x74736554, 0);
    for (int i = 0; i < 8; i++) {
        block[i] = ExAllocateFromNPagedLookasideList(&l);
        assert_non_null(block[i]);
        memset(block[i], i, 4);
    }
    for (int i = 0; i < 8; i++)
        ExFreeToNPagedLookasideList(&l, block[i]);
    assert_int_equal(ExQueryDepthSList(&l.L.ListHead), l.L.Depth);
    again = ExAllocateFromNPagedLookasideList(&l);
    assert_ptr_equal(again, block[l.L.Depth - 1]); /* the last that was kept */
    assert_int_equal(l.L.AllocateMisses, 8);
    ExFreeToNPagedLookasideList(&l, again);
    ExDeleteNPagedLookasideList(&l);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ExInitializePagedLookasideList(&paged, NULL, NULL, 0, 64, 0, 0);
    KeLowerIrql(old);
    violated(&w, "ExInitializePagedLookasideList called at IRQL 2, allowed up to 1");
    ExDeletePagedLookasideList(&paged);
    down(&w, 1);
}

/* ---- registers ------------------------------------------------------------ */

/* A register that begins inside a window and ends behind it is not in it, not even where the window is smaller. */
TEST(registers_end_inside_their_window)
{
    static const SIZE_T sizes[] = {2, 6};
    PHYSICAL_ADDRESS at = {.QuadPart = SOFTGPU_BAR};
    struct world w;

    up(&w, false);
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        PUCHAR window = MmMapIoSpace(at, sizes[i], MmNonCached);

        assert_non_null(window);
        READ_REGISTER_UCHAR(window + sizes[i] - 1);
        assert_int_equal(dxgk_violations(w.dxgk), 2 * i);
        assert_int_equal(READ_REGISTER_ULONG((volatile ULONG *)(void *)(window + sizes[i] - 2)), UINT32_MAX);
        violated(&w, "READ_REGISTER_ULONG of 0x");
        WRITE_REGISTER_ULONG((volatile ULONG *)(void *)(window + sizes[i] - 2), 0);
        violated(&w, "WRITE_REGISTER_ULONG of 0x");
        MmUnmapIoSpace(window, sizes[i]);
    }
    down(&w, 4);
}

/* As on x64, where they are volatile accesses; and whatever else is done to them, from a shared object and the C library. */
TEST(registers_are_memory)
{
    PHYSICAL_ADDRESS at = {.QuadPart = SOFTGPU_BAR};
    struct world w;
    volatile ULONG *window;
    ULONG first[4], copy[4];

    up(&w, false);
    window = MmMapIoSpace(at, PAGE_SIZE, MmNonCached);
    assert_non_null(window);
    for (unsigned i = 0; i < 4; i++)
        first[i] = READ_REGISTER_ULONG((volatile ULONG *)&window[i]);
    assert_int_not_equal(first[0], 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(window[i], first[i]);
    memcpy(copy, (const void *)window, sizeof(copy));
    assert_memory_equal(copy, first, sizeof(copy));
    RtlCopyMemory(copy, (const void *)(window + 1), 12);
    assert_memory_equal(copy, first + 1, 12);
    MmUnmapIoSpace((PVOID)window, PAGE_SIZE);
    down(&w, 0);
}

/* ---- what a driver asks -------------------------------------------------- */

static NTSTATUS NTAPI on_value(PWSTR name, ULONG type, PVOID data, ULONG length, PVOID context, PVOID entry)
{
    assert_int_equal(name[0], 'T');
    assert_int_equal(type, REG_DWORD);
    assert_int_equal(length, 4);
    memcpy(entry, data, 4);
    *(unsigned *)context += 1;
    return STATUS_SUCCESS;
}

static const WCHAR graphics_drivers[] = {'G', 'r', 'a', 'p', 'h', 'i', 'c', 's',
                                         'D', 'r', 'i', 'v', 'e', 'r', 's', 0};

TEST(many_values_of_the_registry_at_once)
{
    struct world w;
    WCHAR delay[] = {'T', 'd', 'r', 'D', 'e', 'l', 'a', 'y', 0}, none[] = {'T', 'x', 0};
    ULONG a = 0, b = 0, c = 0, d = 0, seven = 7;
    unsigned calls = 0;
    RTL_QUERY_REGISTRY_TABLE t[6] = {
        {NULL, RTL_QUERY_REGISTRY_DIRECT, delay, &a, REG_NONE, NULL, 0},
        {on_value, 0, delay, &b, REG_NONE, NULL, 0},
        {NULL, RTL_QUERY_REGISTRY_DIRECT, none, &c, REG_DWORD, &seven, 4},
        {NULL, RTL_QUERY_REGISTRY_DIRECT, none, &d, REG_NONE, NULL, 0},
    };

    world_set("TdrDelay", 5);
    up(&w, false);
    assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_CONTROL, graphics_drivers, t, &calls, NULL),
                     STATUS_SUCCESS);
    assert_int_equal(a, 5);
    assert_int_equal(b, 5);
    assert_int_equal(calls, 1);
    assert_int_equal(c, 7);
    assert_int_equal(d, 0);
    t[3].Flags |= RTL_QUERY_REGISTRY_REQUIRED;
    assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_CONTROL, graphics_drivers, t, &calls, NULL),
                     STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_SERVICES, none, t, &calls, NULL),
                     STATUS_OBJECT_NAME_NOT_FOUND);
    down(&w, 0);
}

TEST(a_value_that_is_set_is_read)
{
    struct world w;
    WCHAR text[] = {'T', 'x', 0};
    UNICODE_STRING name;
    HANDLE key;
    ULONG value = 77, size;
    union {
        KEY_VALUE_PARTIAL_INFORMATION info;
        UCHAR bytes[64];
    } u;

    up(&w, false);
    RtlInitUnicodeString(&name, text);
    assert_int_equal(IoOpenDeviceRegistryKey(NULL, PLUGPLAY_REGKEY_DRIVER, KEY_READ, &key), STATUS_SUCCESS);
    assert_int_equal(ZwSetValueKey(key, &name, 0, REG_DWORD, &value, 4), STATUS_ACCESS_DENIED);
    assert_int_equal(ZwClose(key), STATUS_SUCCESS);
    assert_int_equal(IoOpenDeviceRegistryKey(NULL, PLUGPLAY_REGKEY_DRIVER, KEY_READ | KEY_WRITE, &key),
                     STATUS_SUCCESS);
    assert_int_equal(ZwQueryValueKey(key, &name, KeyValuePartialInformation, &u, sizeof(u), &size),
                     STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(ZwSetValueKey(key, &name, 0, REG_DWORD, &value, 3), STATUS_INVALID_PARAMETER);
    assert_int_equal(ZwSetValueKey(key, &name, 0, REG_DWORD, &value, 4), STATUS_SUCCESS);
    assert_int_equal(ZwQueryValueKey(key, &name, KeyValuePartialInformation, &u, sizeof(u), &size),
                     STATUS_SUCCESS);
    assert_memory_equal(u.info.Data, &value, 4);
    assert_int_equal(ZwClose(key), STATUS_SUCCESS);
    down(&w, 0);
}

TEST(the_device_says_where_its_driver_key_is)
{
    struct world w;
    DXGKRNL_INTERFACE dxgk;
    DXGK_DEVICE_INFO info;
    OBJECT_ATTRIBUTES attributes;
    WCHAR text[] = {'T', 'x', 0};
    UNICODE_STRING name;
    HANDLE key;
    ULONG value = 77, read = 0;
    RTL_QUERY_REGISTRY_TABLE t[2] = {{NULL, RTL_QUERY_REGISTRY_DIRECT, text, &read, REG_NONE, NULL, 0}};

    up(&w, false);
    dxgk_callbacks_fill(w.dxgk);
    dxgk = w.dxgk->iface;
    assert_int_equal(dxgk.DxgkCbGetDeviceInformation(dxgk.DeviceHandle, &info), STATUS_SUCCESS);
    assert_int_equal(info.DeviceRegistryPath.Buffer[info.DeviceRegistryPath.Length / 2], 0);
    InitializeObjectAttributes(&attributes, &info.DeviceRegistryPath, OBJ_KERNEL_HANDLE, NULL, NULL);
    assert_int_equal(ZwOpenKey(&key, KEY_WRITE, &attributes), STATUS_SUCCESS);
    RtlInitUnicodeString(&name, text);
    assert_int_equal(ZwSetValueKey(key, &name, 0, REG_DWORD, &value, 4), STATUS_SUCCESS);
    assert_int_equal(ZwClose(key), STATUS_SUCCESS);
    assert_int_equal(
        RtlQueryRegistryValues(RTL_REGISTRY_ABSOLUTE, info.DeviceRegistryPath.Buffer, t, NULL, NULL),
        STATUS_SUCCESS);
    assert_int_equal(read, 77);
    info.DeviceRegistryPath.Length -= 2; /* ...\000 is another key */
    assert_int_equal(ZwOpenKey(&key, 0, &attributes), STATUS_OBJECT_NAME_NOT_FOUND);
    down(&w, 0);
}

TEST(keys_are_open_until_they_are_closed_and_no_longer)
{
    struct world w;
    OBJECT_ATTRIBUTES attributes;
    static const char service[] = "\\Registry\\Machine\\SYSTEM\\CurrentControlSet\\Services\\softgpu";
    WCHAR text[128], more[] = {'T', 'x', 0};
    UNICODE_STRING name, value;
    HANDLE key, other;
    ULONG size;
    union {
        KEY_VALUE_PARTIAL_INFORMATION info;
        UCHAR bytes[64];
    } u;

    up(&w, false);
    RtlInitUnicodeString(&value, more);
    for (size_t i = 0; i < sizeof(service); i++)
        text[i] = (WCHAR)service[i];
    RtlInitUnicodeString(&name, text);
    InitializeObjectAttributes(&attributes, &name, OBJ_KERNEL_HANDLE, NULL, NULL);
    assert_int_equal(ZwOpenKey(&key, 0, &attributes), STATUS_SUCCESS); /* without a setting, too */
    assert_int_equal(ZwQueryValueKey(key, &value, KeyValuePartialInformation, &u, sizeof(u), &size),
                     STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(ZwClose(key), STATUS_SUCCESS);
    assert_int_equal(dxgk_violations(w.dxgk), 0);
    assert_int_equal(ZwQueryValueKey(key, &value, KeyValuePartialInformation, &u, sizeof(u), &size),
                     STATUS_INVALID_HANDLE);
    violated(&w, "ZwQueryValueKey of 0x");
    assert_int_equal(ZwClose(key), STATUS_INVALID_HANDLE);
    violated(&w, "ZwClose of 0x");
    attributes.RootDirectory = key;
    assert_int_equal(ZwOpenKey(&other, 0, &attributes), STATUS_INVALID_HANDLE);
    violated(&w, "ZwOpenKey of 0x");
    assert_int_equal(IoOpenDeviceRegistryKey(NULL, PLUGPLAY_REGKEY_DRIVER, 0, &other), STATUS_SUCCESS);
    dxgk_kernel_leave(k);
    dxgk_unload(w.dxgk);
    violated(&w, "the miniport left the registry key HKR open");
    world_down(&w, 4);
}

TEST(properties_of_the_device)
{
    struct world w;
    WCHAR id[64];
    ULONG n = 0, bus = 99;
    KIRQL old;

    up(&w, false);
    assert_int_equal(IoGetDeviceProperty(NULL, DevicePropertyHardwareID, 4, id, &n), STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(n, 2 * (sizeof("PCI\\VEN_0000&DEV_0000") + 1));
    assert_int_equal(IoGetDeviceProperty(NULL, DevicePropertyHardwareID, sizeof(id), id, &n), STATUS_SUCCESS);
    assert_int_equal(id[0], 'P');
    assert_int_equal(id[n / 2 - 2] | id[n / 2 - 1], 0);
    assert_int_equal(IoGetDeviceProperty(NULL, DevicePropertyBusNumber, 4, &bus, &n), STATUS_SUCCESS);
    assert_int_equal(bus, 0);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    IoGetDeviceProperty(NULL, DevicePropertyBusNumber, 4, &bus, &n);
    KeLowerIrql(old);
    violated(&w, "IoGetDeviceProperty called at IRQL 2, allowed up to 0");
    down(&w, 1);
}

TEST(strings_are_widened)
{
    struct world w;
    ANSI_STRING narrow;
    UNICODE_STRING wide;
    WCHAR small[3];

    up(&w, false);
    RtlInitAnsiString(&narrow, "abc");
    assert_int_equal(RtlAnsiStringToUnicodeString(&wide, &narrow, TRUE), STATUS_SUCCESS);
    assert_int_equal(wide.Length, 6);
    assert_int_equal(wide.Buffer[2], 'c');
    assert_int_equal(wide.Buffer[3], 0);
    RtlFreeUnicodeString(&wide);
    assert_null(wide.Buffer);
    wide = (UNICODE_STRING){.MaximumLength = sizeof(small), .Buffer = small};
    assert_int_equal(RtlAnsiStringToUnicodeString(&wide, &narrow, FALSE), STATUS_BUFFER_OVERFLOW);
    down(&w, 0);
}

TEST(time_passes_in_units_of_100_ns)
{
    struct world w;
    ULONGLONG before;
    LARGE_INTEGER t = ms(3), now;

    up(&w, false);
    before = KeQueryInterruptTime();
    KeDelayExecutionThread(KernelMode, FALSE, &t);
    assert_int_equal(KeQueryInterruptTime() - before, 30000);
    KeQuerySystemTime(&now);
    assert_int_equal(now.QuadPart, KeQueryInterruptTime());
    assert_int_equal(KeGetCurrentProcessorNumber(), 0);
    assert_int_equal(RtlCompareMemory("abcd", "abxd", 4), 2);
    __C_specific_handler(NULL, NULL, NULL, NULL);
    violated(&w, "an exception reached __C_specific_handler");
    down(&w, 1);
}

TEST(arithmetic_that_overflows_says_so)
{
    ULONG u;
    SIZE_T s;
    LONG l;

    assert_int_equal(RtlULongAdd(0xFFFFFFFE, 1, &u), STATUS_SUCCESS);
    assert_int_equal(u, 0xFFFFFFFF);
    assert_int_equal(RtlULongAdd(0xFFFFFFFF, 1, &u), STATUS_INTEGER_OVERFLOW);
    assert_int_equal(u, 0xFFFFFFFF);
    assert_int_equal(RtlSizeTMult(SIZE_MAX / 2, 3, &s), STATUS_INTEGER_OVERFLOW);
    assert_int_equal(RtlSizeTSub(1, 2, &s), STATUS_INTEGER_OVERFLOW);
    assert_int_equal(RtlSizeTToULong((SIZE_T)1 << 32, &u), STATUS_INTEGER_OVERFLOW);
    assert_int_equal(RtlULongToLong(0x80000000, &l), STATUS_INTEGER_OVERFLOW);
    assert_int_equal(RtlULongToLong(0x7FFFFFFF, &l), STATUS_SUCCESS);
}

#ifdef __try /* a compiler with words of its own, or with none: clang has them for Windows alone */
TEST(the_words_of_exceptions_compile)
{
    volatile int guarded = 0, handled = 0;

    __try {
        guarded = 1;
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        handled = (int)GetExceptionCode();
    }
    assert_int_equal(guarded, 1);
    assert_int_equal(handled, 0);
}
#endif

int main(void)
{
    setenv("AEROGPU_LOG", "error", 0);
    return test_run();
}
