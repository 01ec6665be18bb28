/* SPDX-License-Identifier: MIT */
/* objects.h: what faulty.c does wrong with objects of the kernel's that it has in its own memory. */
#pragma once

static KTIMER timer, raw_timer;
static KSPIN_LOCK lock, lock2;
static ERESOURCE resource;
static NPAGED_LOOKASIDE_LIST lookaside;
static KLOCK_QUEUE_HANDLE queued;
static LARGE_INTEGER later = {.QuadPart = -10000000};

static BOOLEAN NTAPI acquires(PVOID context)
{
    KeAcquireSpinLockAtDpcLevel(context);
    return TRUE;
}

static BOOLEAN NTAPI lowers(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    KeLowerIrql(PASSIVE_LEVEL);
    return TRUE;
}

static void synchronize(PKSYNCHRONIZE_ROUTINE routine, ULONG message)
{
    BOOLEAN result;

    callbacks.DxgkCbSynchronizeExecution(callbacks.DeviceHandle, routine, &lock, message, &result);
}

static PVOID pool_of(SIZE_T size)
{
    return ExAllocatePoolWithTag(NonPagedPool, size, 0x746C7546);
}

/* All of them are right. */
static void allocate_with_flags(void)
{
    static const unsigned types[] = {
        NonPagedPool | POOL_RAISE_IF_ALLOCATION_FAILURE,
        PagedPool | POOL_RAISE_IF_ALLOCATION_FAILURE | POOL_COLD_ALLOCATION,
        PagedPool | POOL_COLD_ALLOCATION,
        PagedPoolSession | POOL_RAISE_IF_ALLOCATION_FAILURE,
    };

    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        ExFreePool(ExAllocatePoolWithTag((POOL_TYPE)types[i], 64, 0x746C7546));
    ExFreePool(ExAllocatePoolWithQuotaTag((POOL_TYPE)(PagedPool | POOL_QUOTA_FAIL_INSTEAD_OF_RAISE), 64,
                                          0x746C7546));
}

static VOID NTAPI queue_again(PKDPC d, PVOID context, PVOID a, PVOID b)
{
    UNREFERENCED_PARAMETER(context);
    KeInsertQueueDpc(d, a, b);
}

static VOID NTAPI on_bugcheck_waits(PVOID buffer, ULONG length)
{
    UNREFERENCED_PARAMETER(buffer);
    UNREFERENCED_PARAMETER(length);
    ExAllocatePoolWithTag(NonPagedPool, 16, 0x746C7546);
}

static unsigned starts;
static PVOID paged(void)
{
    return ExAllocatePoolWithTag(PagedPool, 4096, 0x746C7546);
}

static VOID NTAPI makes_another(PVOID context)
{
    HANDLE h;

    PsCreateSystemThread(&h, 0, NULL, NULL, NULL, makes_another, context);
    ZwClose(h);
}

static WORK_QUEUE_ITEM item;
static VOID NTAPI queues_again(PVOID context)
{
    ExQueueWorkItem(context, DelayedWorkQueue);
}

static VOID NTAPI waits_for_nothing(PVOID context)
{
    LARGE_INTEGER none = {.QuadPart = 0};

    for (;;) {
        KeDelayExecutionThread(KernelMode, FALSE, &none);
        sink += context != NULL;
    }
}

static const GUID provider = {1, 2, 3, {4}};
static FAST_MUTEX fast;
static KBUGCHECK_CALLBACK_RECORD record;

static VOID NTAPI on_bugcheck(PVOID buffer, ULONG length)
{
    UNREFERENCED_PARAMETER(buffer);
    UNREFERENCED_PARAMETER(length);
}

static VOID NTAPI set_again(PKDPC d, PVOID context, PVOID a, PVOID b)
{
    LARGE_INTEGER now = {.QuadPart = 0};

    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(a);
    UNREFERENCED_PARAMETER(b);
    KeSetTimer(&timer, now, d);
}

static const char *volatile wide = "%d %wZ"; /* which compilers do not know */
static PHYSICAL_ADDRESS anywhere = {.QuadPart = -1};

static void write_contiguous(long at)
{
    char *p = MmAllocateContiguousMemory(8192, anywhere);

    p[at] = 1;
    MmFreeContiguousMemory(p);
}

static void write_freed_contiguous(void)
{
    char *p = MmAllocateContiguousMemory(65536, anywhere);

    MmFreeContiguousMemory(p);
    p[40000] = 1;
}

static PVOID uncached(void)
{
    PHYSICAL_ADDRESS none = {.QuadPart = 0};

    return MmAllocateContiguousMemorySpecifyCache(8192, none, anywhere, none, MmNonCached);
}

static void free_nothing_of(SIZE_T size)
{
    MmFreeContiguousMemorySpecifyCache(uncached(), size, MmNonCached);
}

static void free_twice(void)
{
    PVOID p = uncached();

    MmFreeContiguousMemory(p);
    MmFreeContiguousMemory(p);
}

/* A timer that is set, in memory that goes. */
static void free_contiguous_timer(void)
{
    KTIMER *t = uncached();

    KeInitializeTimer(t);
    KeSetTimer(t, later, NULL);
    MmFreeContiguousMemory(t);
}

/* Right: each by one of its own. */
static void free_each(void)
{
    MmFreeContiguousMemory(uncached());
    MmFreeContiguousMemorySpecifyCache(uncached(), 8192, MmNonCached);
    MmFreeContiguousMemory(MmAllocateContiguousMemory(100, anywhere));
    MmFreeNonCachedMemory(MmAllocateNonCachedMemory(5000), 5000);
}

/* What a DDI that fails leaves behind. */
static VOID NTAPI waits_for_long(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, NULL);
}

static void start_thread(void)
{
    HANDLE h;

    PsCreateSystemThread(&h, 0, NULL, NULL, NULL, waits_for_long, NULL);
    ZwClose(h);
}

static void map_memory(void)
{
    PHYSICAL_ADDRESS start = {.QuadPart = 4096};

    MmMapIoSpace(start, 4096, MmNonCached);
}

static void leave_timer(void)
{
    KeInitializeTimer(&timer);
    KeSetTimerEx(&timer, later, 1000, NULL);
}

static void open_key(void)
{
    HANDLE h;

    IoOpenDeviceRegistryKey(device_object, PLUGPLAY_REGKEY_DRIVER, KEY_READ, &h);
}

enum common { COMMON_SIZE, COMMON_CACHE, COMMON_OTHER, COMMON_ADDRESS, COMMON_TWICE };
static void free_common(enum common how)
{
    DEVICE_DESCRIPTION description = {.Version = DEVICE_DESCRIPTION_VERSION,
                                      .Master = TRUE,
                                      .ScatterGather = TRUE,
                                      .Dma64BitAddresses = TRUE,
                                      .InterfaceType = PCIBus,
                                      .MaximumLength = 65536};
    PHYSICAL_ADDRESS logical;
    ULONG registers;
    PDMA_ADAPTER a = IoGetDmaAdapter(device_object, &description, &registers);
    PVOID p = a->DmaOperations->AllocateCommonBuffer(a, 8192, &logical, TRUE);

    if (how == COMMON_TWICE)
        a->DmaOperations->FreeCommonBuffer(a, 8192, logical, p, TRUE);
    if (how == COMMON_ADDRESS)
        logical.QuadPart += 4096;
    if (how == COMMON_OTHER)
        MmFreeContiguousMemory(p);
    else
        a->DmaOperations->FreeCommonBuffer(a, how == COMMON_SIZE ? 4096 : 8192, logical, p,
                                           how != COMMON_CACHE);
    a->DmaOperations->PutDmaAdapter(a);
}

#define FAULTS_OF_OBJECTS(F)                                                                                 \
    F(wait_handle, {                                                                                         \
        HANDLE h;                                                                                            \
        PsCreateSystemThread(&h, 0, NULL, NULL, NULL, returns, NULL);                                        \
        KeWaitForSingleObject(h, Executive, KernelMode, FALSE, &later);                                      \
        ZwClose(h);                                                                                          \
    })                                                                                                       \
    F(wait_of_pool, {                                                                                        \
        PKEVENT e = pool_of(sizeof(*e));                                                                     \
        KeInitializeEvent(e, NotificationEvent, FALSE);                                                      \
        ExFreePool(e);                                                                                       \
        KeSetEvent(e, 0, FALSE);                                                                             \
    })                                                                                                       \
    F(print_wide, {                                                                                          \
        UNICODE_STRING text = {.Buffer = NULL};                                                              \
        KeRaiseIrql(DISPATCH_LEVEL, &old_irql);                                                              \
        DbgPrint(wide, 1, &text);                                                                            \
        KeLowerIrql(old_irql);                                                                               \
    })                                                                                                       \
    F(contiguous_over, write_contiguous(8192))                                                               \
    F(contiguous_front, write_contiguous(-4))                                                                \
    F(contiguous_far, write_contiguous(8192 + 4000))                                                         \
    F(contiguous_far_front, write_contiguous(-4000))                                                         \
    F(contiguous_freed, write_freed_contiguous())                                                            \
    F(contiguous_twice, free_twice())                                                                        \
    F(contiguous_timer, free_contiguous_timer())                                                             \
    F(contiguous_cache, MmFreeContiguousMemorySpecifyCache(uncached(), 8192, MmCached))                      \
    F(contiguous_none, free_nothing_of(0))                                                                   \
    F(contiguous_other,                                                                                      \
      MmFreeContiguousMemorySpecifyCache(MmAllocateContiguousMemory(8192, anywhere), 8192, MmCached))        \
    F(uncached_other, MmFreeContiguousMemory(MmAllocateNonCachedMemory(8192)))                               \
    F(contiguous_well, free_each())                                                                          \
    F(fails_after, sink = 1)                                                                                 \
    F(fails_pool, pool())                                                                                    \
    F(fails_timer, leave_timer())                                                                            \
    F(fails_contiguous, uncached())                                                                          \
    F(fails_mapping, map_memory())                                                                           \
    F(fails_thread, start_thread())                                                                          \
    F(fails_key, open_key())                                                                                 \
    F(common_size, free_common(COMMON_SIZE))                                                                 \
    F(common_cache, free_common(COMMON_CACHE))                                                               \
    F(common_twice, free_common(COMMON_TWICE))                                                               \
    F(common_other, free_common(COMMON_OTHER))                                                               \
    F(common_address, free_common(COMMON_ADDRESS))                                                           \
    F(timer_again, {                                                                                         \
        KeInitializeTimer(&timer);                                                                           \
        KeSetTimer(&timer, later, NULL);                                                                     \
        KeInitializeTimer(&timer);                                                                           \
    })                                                                                                       \
    F(timer_raw, KeSetTimer(&raw_timer, later, NULL))                                                        \
    F(timer_is_event, KeCancelTimer((PKTIMER)&event))                                                        \
    F(timer_period, {                                                                                        \
        KeInitializeTimer(&timer);                                                                           \
        KeSetTimerEx(&timer, later, -5, NULL);                                                               \
        KeCancelTimer(&timer);                                                                               \
    })                                                                                                       \
    F(dpc_again, {                                                                                           \
        KeRaiseIrql(DISPATCH_LEVEL, &old_irql);                                                              \
        KeInitializeDpc(&dpc, dpc_routine, NULL);                                                            \
        KeInsertQueueDpc(&dpc, NULL, NULL);                                                                  \
        KeInitializeDpc(&dpc, dpc_routine, NULL);                                                            \
        KeInsertQueueDpc(&dpc, NULL, NULL);                                                                  \
        KeLowerIrql(old_irql);                                                                               \
    })                                                                                                       \
    F(dpc_loop, {                                                                                            \
        KeInitializeDpc(&dpc, queue_again, NULL);                                                            \
        KeInsertQueueDpc(&dpc, NULL, NULL);                                                                  \
    })                                                                                                       \
    F(timer_loop, {                                                                                          \
        KeInitializeDpc(&dpc, set_again, NULL);                                                              \
        KeInitializeTimer(&timer);                                                                           \
        KeInsertQueueDpc(&dpc, NULL, NULL);                                                                  \
    })                                                                                                       \
    F(resource_left, ExInitializeResourceLite(&resource))                                                    \
    F(resource_freed, {                                                                                      \
        PERESOURCE r = pool_of(sizeof(*r));                                                                  \
        ExInitializeResourceLite(r);                                                                         \
        ExFreePool(r);                                                                                       \
    })                                                                                                       \
    F(lookaside_left, ExInitializeNPagedLookasideList(&lookaside, NULL, NULL, 0, 64, 0x746C7546, 0))         \
    F(lookaside_other, {                                                                                     \
        ExInitializeNPagedLookasideList(&lookaside, NULL, NULL, 0, 64, 0x746C7546, 0);                       \
        ExDeletePagedLookasideList((PPAGED_LOOKASIDE_LIST)&lookaside);                                       \
        ExDeleteNPagedLookasideList(&lookaside);                                                             \
    })                                                                                                       \
    F(pool_type, ExFreePool(ExAllocatePoolWithTag(NonPagedPoolMustSucceed, 64, 0x746C7546)))                 \
    F(probe_pool, ProbeForWrite(pool_of(64), 64, 1))                                                         \
    F(probe_data, ProbeForWrite(&timer, 8, 1))                                                               \
    F(bugcheck, KeBugCheckEx(0xE2, 0, 0, 0, 0))                                                              \
    F(refuses, pool_of(64))                                                                                  \
    F(entry_irql, KeRaiseIrql(DISPATCH_LEVEL, &old_irql))                                                    \
    F(pool_flags, allocate_with_flags())                                                                     \
    F(pool_tag, ExFreePool(ExAllocatePoolWithTag(NonPagedPool, 64, 0)))                                      \
    F(pool_paged, {                                                                                          \
        PVOID p = ExAllocatePoolWithTag(PagedPool, 64, 0x746C7546);                                          \
        KeRaiseIrql(DISPATCH_LEVEL, &old_irql);                                                              \
        ExFreePool(p);                                                                                       \
        KeLowerIrql(old_irql);                                                                               \
    })                                                                                                       \
    F(contiguous_size, {                                                                                     \
        PHYSICAL_ADDRESS highest = {.QuadPart = -1};                                                         \
        MmFreeContiguousMemorySpecifyCache(MmAllocateContiguousMemory(4096, highest), 8192, MmNonCached);    \
    })                                                                                                       \
    F(uncached_size, MmFreeNonCachedMemory(MmAllocateNonCachedMemory(8192), 4096))                           \
    F(set_key, {                                                                                             \
        ULONG length;                                                                                        \
        ZwQueryValueKey((HANDLE)0x1000, NULL, KeyValuePartialInformation, NULL, 0, &length);                 \
    })                                                                                                       \
    F(lock_again, {                                                                                          \
        KeAcquireSpinLock(&lock, &old_irql);                                                                 \
        KeInitializeSpinLock(&lock);                                                                         \
        KeLowerIrql(old_irql);                                                                               \
    })                                                                                                       \
    F(lock_raw, {                                                                                            \
        lock = 0x1234;                                                                                       \
        KeAcquireSpinLock(&lock, &old_irql);                                                                 \
        KeReleaseSpinLock(&lock, old_irql);                                                                  \
    })                                                                                                       \
    F(lock_freed, {                                                                                          \
        PKSPIN_LOCK l = (PKSPIN_LOCK)pool();                                                                 \
        KeInitializeSpinLock(l);                                                                             \
        KeAcquireSpinLock(l, &old_irql);                                                                     \
        ExFreePool(l);                                                                                       \
        KeLowerIrql(old_irql);                                                                               \
    })                                                                                                       \
    F(lock_irql, {                                                                                           \
        KeAcquireSpinLock(&lock, &old_irql);                                                                 \
        KeReleaseSpinLock(&lock, DISPATCH_LEVEL);                                                            \
        KeLowerIrql(old_irql);                                                                               \
    })                                                                                                       \
    F(lock_order, {                                                                                          \
        KIRQL second;                                                                                        \
        KeAcquireSpinLock(&lock, &old_irql);                                                                 \
        KeAcquireSpinLock(&lock2, &second);                                                                  \
        KeReleaseSpinLock(&lock, old_irql);                                                                  \
        KeReleaseSpinLock(&lock2, second);                                                                   \
        KeLowerIrql(old_irql);                                                                               \
    })                                                                                                       \
    F(lock_kept, {                                                                                           \
        KeAcquireSpinLock(&lock, &old_irql);                                                                 \
        KeLowerIrql(old_irql);                                                                               \
    })                                                                                                       \
    F(lock_mixed, {                                                                                          \
        KeAcquireInStackQueuedSpinLock(&lock, &queued);                                                      \
        KeReleaseSpinLock(&lock, queued.OldIrql);                                                            \
    })                                                                                                       \
    F(lock_synchronized, {                                                                                   \
        lock = 0;                                                                                            \
        synchronize(acquires, 0);                                                                            \
    })                                                                                                       \
    F(irql_synchronized, synchronize(lowers, 0))                                                             \
    F(message, synchronize(acquires, 55))                                                                    \
    F(resource_bare, {                                                                                       \
        ExInitializeResourceLite(&resource);                                                                 \
        ExAcquireResourceExclusiveLite(&resource, TRUE);                                                     \
        ExReleaseResourceLite(&resource);                                                                    \
        ExDeleteResourceLite(&resource);                                                                     \
    })                                                                                                       \
    F(mutex_bare, {                                                                                          \
        ExInitializeFastMutex(&fast);                                                                        \
        ExAcquireFastMutexUnsafe(&fast);                                                                     \
        ExReleaseFastMutexUnsafe(&fast);                                                                     \
    })                                                                                                       \
    F(no_wait, {                                                                                             \
        KeInitializeEvent(&event, NotificationEvent, FALSE);                                                 \
        KeSetEvent(&event, 0, TRUE);                                                                         \
    })                                                                                                       \
    F(mdl_irql, {                                                                                            \
        PVOID p = ExAllocatePoolWithTag(PagedPool, 4096, 0x746C7546);                                        \
        PMDL m = IoAllocateMdl(p, 4096, FALSE, FALSE, NULL);                                                 \
        KeRaiseIrql(DISPATCH_LEVEL, &old_irql);                                                              \
        MmProbeAndLockPages(m, KernelMode, IoWriteAccess);                                                   \
        KeLowerIrql(old_irql);                                                                               \
        MmUnlockPages(m);                                                                                    \
        IoFreeMdl(m);                                                                                        \
        ExFreePool(p);                                                                                       \
    })                                                                                                       \
    F(mdl_freed, {                                                                                           \
        PVOID p = ExAllocatePoolWithTag(PagedPool, 4096, 0x746C7546);                                        \
        PMDL m = IoAllocateMdl(p, 4096, FALSE, FALSE, NULL);                                                 \
        MmProbeAndLockPages(m, KernelMode, IoWriteAccess);                                                   \
        ExFreePool(p);                                                                                       \
        MmUnlockPages(m);                                                                                    \
        IoFreeMdl(m);                                                                                        \
    })                                                                                                       \
    F(map_other, {                                                                                           \
        PHYSICAL_ADDRESS start = {.QuadPart = 4096};                                                         \
        callbacks.DxgkCbUnmapMemory(callbacks.DeviceHandle, MmMapIoSpace(start, 4096, MmNonCached));         \
    })                                                                                                       \
    F(etw_twice, {                                                                                           \
        REGHANDLE h;                                                                                         \
        EtwRegister(&provider, NULL, NULL, &h);                                                              \
        EtwUnregister(h);                                                                                    \
        EtwUnregister(h);                                                                                    \
    })                                                                                                       \
    F(bugcheck_left, KeRegisterBugCheckCallback(&record, on_bugcheck, NULL, 0, (PUCHAR) "faulty"))           \
    F(bugcheck_called, {                                                                                     \
        KeRegisterBugCheckCallback(&record, on_bugcheck_waits, NULL, 0, (PUCHAR) "faulty");                  \
        KeBugCheckEx(0xE2, 0, 0, 0, 0);                                                                      \
    })                                                                                                       \
    F(reference_over, ObDereferenceObject(PsGetCurrentProcess()))                                            \
    F(reference_wild, ObDereferenceObject(&event))                                                           \
    F(token_left, PsReferencePrimaryToken(PsGetCurrentProcess()))                                            \
    F(object_left, ObReferenceObject(PsGetCurrentProcess()))                                                 \
    F(token_over, {                                                                                          \
        PVOID token = PsReferencePrimaryToken(PsGetCurrentProcess());                                        \
        PsDereferencePrimaryToken(token);                                                                    \
        PsDereferencePrimaryToken(token);                                                                    \
    })                                                                                                       \
    F(paged_touched, {                                                                                       \
        char *p = paged();                                                                                   \
        KeRaiseIrql(DISPATCH_LEVEL, &old_irql);                                                              \
        p[7] = 1;                                                                                            \
        KeLowerIrql(old_irql);                                                                               \
        ExFreePool(p);                                                                                       \
    })                                                                                                       \
    F(paged_event, {                                                                                         \
        PKEVENT e = paged();                                                                                 \
        KeInitializeEvent(e, NotificationEvent, FALSE);                                                      \
        KeRaiseIrql(DISPATCH_LEVEL, &old_irql);                                                              \
        KeSetEvent(e, 0, FALSE);                                                                             \
        KeLowerIrql(old_irql);                                                                               \
        ExFreePool(e);                                                                                       \
    })                                                                                                       \
    F(paged_well, {                                                                                          \
        char *p = paged();                                                                                   \
        char *q = pool();                                                                                    \
        PMDL m = IoAllocateMdl(p, 4096, FALSE, FALSE, NULL);                                                 \
        MmProbeAndLockPages(m, KernelMode, IoWriteAccess);                                                   \
        KeRaiseIrql(DISPATCH_LEVEL, &old_irql);                                                              \
        p[7] = 1; /* it is locked */                                                                         \
        KeLowerIrql(old_irql);                                                                               \
        MmUnlockPages(m);                                                                                    \
        IoFreeMdl(m);                                                                                        \
        KeRaiseIrql(DISPATCH_LEVEL, &old_irql);                                                              \
        ExFreePool(q);                                                                                       \
        KeLowerIrql(old_irql);                                                                               \
        p[8] = 1;                                                                                            \
        ExFreePool(p);                                                                                       \
    })                                                                                                       \
    F(thread_chain, makes_another(NULL))                                                                     \
    F(                                                                                                       \
        item_again, if (!starts++) {                                                                         \
            ExInitializeWorkItem(&item, queues_again, &item);                                                \
            ExQueueWorkItem(&item, DelayedWorkQueue);                                                        \
        })                                                                                                   \
    F(leak_many, {                                                                                           \
        for (int i = 0; i < 5000; i++)                                                                       \
            pool();                                                                                          \
    })                                                                                                       \
    F(item_anew, {                                                                                           \
        ExInitializeWorkItem(&item, returns, &item);                                                         \
        ExQueueWorkItem(&item, DelayedWorkQueue);                                                            \
        ExInitializeWorkItem(&item, returns, &item);                                                         \
    })                                                                                                       \
    F(item_freed, {                                                                                          \
        PWORK_QUEUE_ITEM i = (PWORK_QUEUE_ITEM)pool();                                                       \
        ExInitializeWorkItem(i, returns, NULL);                                                              \
        ExQueueWorkItem(i, DelayedWorkQueue);                                                                \
        ExFreePool(i);                                                                                       \
    })                                                                                                       \
    F(wait_nothing, {                                                                                        \
        HANDLE h;                                                                                            \
        PsCreateSystemThread(&h, 0, NULL, NULL, NULL, waits_for_nothing, NULL);                              \
        ZwClose(h);                                                                                          \
    })                                                                                                       \
    F(apcs, {                                                                                                \
        KMUTEX m;                                                                                            \
        KGUARDED_MUTEX g;                                                                                    \
        KeInitializeMutex(&m, 0);                                                                            \
        KeWaitForSingleObject(&m, Executive, KernelMode, FALSE, NULL);                                       \
        if (!KeAreApcsDisabled() || KeAreAllApcsDisabled())                                                  \
            DbgBreakPoint();                                                                                 \
        KeReleaseMutex(&m, FALSE);                                                                           \
        KeInitializeGuardedMutex(&g);                                                                        \
        KeAcquireGuardedMutex(&g);                                                                           \
        if (!KeAreAllApcsDisabled())                                                                         \
            DbgBreakPoint();                                                                                 \
        KeReleaseGuardedMutex(&g);                                                                           \
        if (KeAreApcsDisabled() || KeAreAllApcsDisabled())                                                   \
            DbgBreakPoint();                                                                                 \
    })                                                                                                       \
    F(physical, {                                                                                            \
        PVOID p = pool();                                                                                    \
        if (!MmGetPhysicalAddress(p).QuadPart)                                                               \
            DbgBreakPoint();                                                                                 \
        ExFreePool(p);                                                                                       \
    })                                                                                                       \
    F(fresh, {                                                                                               \
        if (starts++)                                                                                        \
            DbgBreakPoint();                                                                                 \
    })
