/* SPDX-License-Identifier: MIT */
/* Times, GUIDs, DMA adapters, and what else strangers' miniports call now and then. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "dxgkrnl/adapter.h"
#include "ntos_rig.h"
#include "wddm/ntstatus.h"

TEST(times_are_dates_and_dates_times)
{
    struct world w;
    TIME_FIELDS f, again;
    LARGE_INTEGER t = {.QuadPart = 0}, back;

    up(&w, false);
    RtlTimeToTimeFields(&t, &f);
    assert_int_equal(f.Year * 10000 + f.Month * 100 + f.Day, 16010101);
    assert_int_equal(f.Weekday, 1);
    t.QuadPart = 116444736000000000; /* 1970 */
    RtlTimeToTimeFields(&t, &f);
    assert_int_equal(f.Year * 10000 + f.Month * 100 + f.Day, 19700101);
    assert_int_equal(f.Weekday, 4);
    f = (TIME_FIELDS){
        .Year = 2012, .Month = 2, .Day = 29, .Hour = 23, .Minute = 59, .Second = 58, .Milliseconds = 7};
    assert_true(RtlTimeFieldsToTime(&f, &t));
    assert_int_equal(t.QuadPart, 116444736000000000 + (INT64_C(1330559998) * 1000 + 7) * 10000);
    RtlTimeToTimeFields(&t, &again);
    f.Weekday = 3;
    assert_memory_equal(&again, &f, sizeof(f));
    for (f = (TIME_FIELDS){.Year = 1601, .Month = 1, .Day = 1}, t.QuadPart = 0; f.Year < 2101; f.Year++) {
        assert_true(
            RtlTimeFieldsToTime(&f, &back)); /* each new year is a day, and 365 or 366 after the one before */
        RtlTimeToTimeFields(&back, &again);
        assert_int_equal(again.Year, f.Year);
        assert_int_equal(again.Day, 1);
        assert_true(f.Year == 1601 || back.QuadPart - t.QuadPart == INT64_C(315360000000000) ||
                    back.QuadPart - t.QuadPart == INT64_C(316224000000000));
        t = back;
    }
    f = (TIME_FIELDS){.Year = 1900, .Month = 2, .Day = 29};
    assert_false(RtlTimeFieldsToTime(&f, &t));
    ExSystemTimeToLocalTime(&back, &t);
    ExLocalTimeToSystemTime(&t, &t);
    assert_int_equal(t.QuadPart, back.QuadPart);
    down(&w, 0);
}

TEST(guids_numbers_and_cases)
{
    static const GUID guid = {0x12345678, 0x9ABC, 0xDEF0, {1, 2, 3, 4, 5, 6, 7, 0xF8}};
    static const char text[] = "{12345678-9ABC-DEF0-0102-0304050607F8}";
    struct world w;
    UNICODE_STRING s, other;
    WCHAR room[24];
    ULONG v;
    GUID back;

    up(&w, false);
    assert_int_equal(RtlStringFromGUID(&guid, &s), STATUS_SUCCESS);
    assert_int_equal(s.Length, 2 * 38);
    for (size_t i = 0; i < 38; i++)
        assert_int_equal(s.Buffer[i], text[i]);
    assert_int_equal(RtlGUIDFromString(&s, &back), STATUS_SUCCESS);
    assert_memory_equal(&back, &guid, sizeof(guid));
    assert_int_equal(RtlDowncaseUnicodeString(&other, &s, TRUE), STATUS_SUCCESS);
    assert_int_equal(other.Buffer[11], 'a');
    assert_int_equal(RtlGUIDFromString(&other, &back), STATUS_SUCCESS);
    assert_int_equal(RtlUpcaseUnicodeString(&other, &other, FALSE), STATUS_SUCCESS);
    assert_int_equal(other.Buffer[11], 'A');
    other.Length -= 2;
    assert_int_equal(RtlGUIDFromString(&other, &back), STATUS_INVALID_PARAMETER);
    RtlFreeUnicodeString(&other);
    RtlFreeUnicodeString(&s);
    s = (UNICODE_STRING){.MaximumLength = sizeof(room), .Buffer = room};
    assert_int_equal(RtlInt64ToUnicodeString(0xFEDCBA9876543210, 16, &s), STATUS_SUCCESS);
    assert_int_equal(s.Length, 32);
    assert_int_equal(room[0], 'F');
    assert_int_equal(RtlInt64ToUnicodeString(~0ull, 2, &s), STATUS_BUFFER_OVERFLOW);
    assert_int_equal(RtlCharToInteger("-0x10", 0, &v), STATUS_SUCCESS);
    assert_int_equal(v, (ULONG)-16);
    assert_int_equal(RtlCharToInteger("7", 7, &v), STATUS_INVALID_PARAMETER);
    down(&w, 0);
}

TEST(registry_values_are_deleted)
{
    WCHAR path[] = u"aerogpu\\Old", name[] = u"Value";
    UNICODE_STRING value = {sizeof(name) - 2, sizeof(name), name},
                   service = {
                       2 * 62, 2 * 62,
                       (WCHAR[]){u"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\aerogpu\\Old"}};
    OBJECT_ATTRIBUTES attributes;
    struct world w;
    ULONG number = 7;
    HANDLE key;

    service.Length = 0;
    while (service.Buffer[service.Length / 2])
        service.Length += 2;
    up(&w, false);
    assert_int_equal(RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, path, name), STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(RtlCreateRegistryKey(RTL_REGISTRY_SERVICES, path), STATUS_SUCCESS);
    assert_int_equal(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, path), STATUS_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, path, name, REG_DWORD, &number, 4),
                         STATUS_SUCCESS);
        InitializeObjectAttributes(&attributes, &service, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL,
                                   NULL);
        assert_int_equal(ZwOpenKey(&key, i ? KEY_READ : KEY_WRITE, &attributes), STATUS_SUCCESS);
        assert_int_equal(ZwFlushKey(key), STATUS_SUCCESS);
        assert_int_equal(ZwDeleteValueKey(key, &value), i ? STATUS_ACCESS_DENIED : STATUS_SUCCESS);
        if (i)
            assert_int_equal(RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, path, name), STATUS_SUCCESS);
        else
            assert_int_equal(ZwDeleteValueKey(key, &value), STATUS_OBJECT_NAME_NOT_FOUND);
        assert_int_equal(ZwClose(key), STATUS_SUCCESS);
        assert_int_equal(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, path),
                         STATUS_SUCCESS); /* the key stays */
    }
    assert_int_equal(ZwFlushKey(key), STATUS_INVALID_HANDLE);
    violated(&w, "ZwFlushKey of ");
    down(&w, 1);
}

/* ---- locks, lists, addresses --------------------------------------------- */

TEST(a_writer_becomes_a_reader_and_run_down_begins_anew)
{
    struct world w;
    ERESOURCE r;
    EX_RUNDOWN_REF run;
    KSPIN_LOCK lock;
    KIRQL old;
    SINGLE_LIST_ENTRY head = {NULL}, a, b;

    up(&w, false);
    assert_int_equal(ExInitializeResourceLite(&r), STATUS_SUCCESS);
    assert_false(KeAreApcsDisabled());
    KeEnterCriticalRegion();
    assert_true(KeAreApcsDisabled());
    assert_true(ExAcquireResourceExclusiveLite(&r, TRUE));
    assert_int_equal(ExIsResourceAcquiredSharedLite(&r), 1);
    ExConvertExclusiveToSharedLite(&r);
    assert_false(ExIsResourceAcquiredExclusiveLite(&r));
    assert_true(ExAcquireSharedStarveExclusive(&r, FALSE));
    assert_true(ExAcquireSharedWaitForExclusive(&r, FALSE));
    assert_int_equal(ExIsResourceAcquiredSharedLite(&r), 3);
    assert_false(ExAcquireResourceExclusiveLite(&r, FALSE));
    for (int i = 0; i < 3; i++)
        ExReleaseResourceLite(&r);
    KeLeaveCriticalRegion();
    assert_int_equal(ExReinitializeResourceLite(&r), STATUS_SUCCESS);
    assert_int_equal(ExDeleteResourceLite(&r), STATUS_SUCCESS);
    ExInitializeRundownProtection(&run);
    ExWaitForRundownProtectionRelease(&run);
    ExRundownCompleted(&run);
    assert_false(ExAcquireRundownProtection(&run));
    ExReInitializeRundownProtection(&run);
    assert_true(ExAcquireRundownProtection(&run));
    ExReleaseRundownProtection(&run);
    KeInitializeSpinLock(&lock);
    assert_true(KeTestSpinLock(&lock));
    KeAcquireSpinLock(&lock, &old);
    assert_false(KeTestSpinLock(&lock));
    KeReleaseSpinLock(&lock, old);
    assert_ptr_equal(ExInterlockedPushEntryList(&head, &a, &lock), NULL);
    assert_ptr_equal(ExInterlockedPushEntryList(&head, &b, &lock), &a);
    assert_ptr_equal(ExInterlockedPopEntryList(&head, &lock), &b);
    assert_ptr_equal(ExInterlockedPopEntryList(&head, &lock), &a);
    assert_ptr_equal(ExInterlockedPopEntryList(&head, &lock), NULL);
    assert_true(MmIsAddressValid(&w));
    assert_false(MmIsAddressValid((PVOID)8));
    assert_int_equal(dxgk_violations(w.dxgk), 0);
    ExReInitializeRundownProtection(&run);
    violated(&w, "ExReInitializeRundownProtection before the run-down has ended");
    KeSetSystemAffinityThread(2);
    violated(&w, "KeSetSystemAffinityThread to 0x2, which has no processor that there is");
    down(&w, 2);
}

/* ---- DMA ----------------------------------------------------------------- */

static unsigned elements, bytes;
static PSCATTER_GATHER_LIST given;

static VOID NTAPI take_list(PDEVICE_OBJECT device, PIRP irp, PSCATTER_GATHER_LIST list, PVOID context)
{
    const uint64_t *start = context;

    (void)device;
    assert_ptr_equal(irp, NULL);
    elements = list->NumberOfElements;
    assert_int_equal(list->Elements[0].Address.QuadPart, *start + 100);
    for (ULONG i = 0; i < list->NumberOfElements; i++)
        bytes += list->Elements[i].Length;
    given = list;
}

TEST(a_bus_master_gets_lists_of_what_an_mdl_describes)
{
    DEVICE_DESCRIPTION what = {
        .Version = 2, .Master = TRUE, .ScatterGather = TRUE, .InterfaceType = PCIBus, .MaximumLength = 65536};
    PHYSICAL_ADDRESS logical, any = {.QuadPart = INT64_MAX};
    PDMA_ADAPTER a, none;
    struct world w;
    ULONG registers, length = 3 * PAGE_SIZE - 100;
    uint8_t *memory;
    uint64_t start;
    PVOID common;
    KIRQL old;
    PMDL mdl;

    up(&w, false);
    what.Master = FALSE;
    none = IoGetDmaAdapter(NULL, &what, &registers);
    assert_ptr_equal(none, NULL);
    what.Master = TRUE;
    a = IoGetDmaAdapter(NULL, &what, &registers);
    assert_ptr_not_equal(a, NULL);
    assert_int_equal(registers, 17);
    common = a->DmaOperations->AllocateCommonBuffer(a, PAGE_SIZE, &logical, TRUE);
    assert_int_equal(logical.QuadPart, MmGetPhysicalAddress(common).QuadPart);
    a->DmaOperations->FreeCommonBuffer(a, PAGE_SIZE, logical, common, TRUE);
    memory = MmAllocateContiguousMemory(3 * PAGE_SIZE, any);
    start = (uint64_t)MmGetPhysicalAddress(memory).QuadPart;
    mdl = IoAllocateMdl(memory + 100, length, FALSE, FALSE, NULL);
    MmBuildMdlForNonPagedPool(mdl);
    assert_int_equal(a->DmaOperations->MapTransfer(a, mdl, NULL, memory + 100, &length, TRUE).QuadPart,
                     start + 100);
    assert_int_equal(length, 3 * PAGE_SIZE - 100); /* it lies in one piece */
    MmGetMdlPfnArray(mdl)[1] += 7;                 /* as if it did not */
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    assert_int_equal(
        a->DmaOperations->GetScatterGatherList(a, NULL, mdl, memory + 100, length, take_list, &start, TRUE),
        STATUS_SUCCESS);
    assert_int_equal(elements, 3);
    assert_int_equal(bytes, length);
    a->DmaOperations->PutScatterGatherList(a, given, TRUE);
    assert_int_equal(
        a->DmaOperations->GetScatterGatherList(a, NULL, mdl, memory, length, take_list, &start, TRUE),
        STATUS_INVALID_PARAMETER);
    violated(&w, "BuildScatterGatherList of 12188 bytes at ");
    KeLowerIrql(old);
    IoFreeMdl(mdl);
    MmFreeContiguousMemory(memory);
    a->DmaOperations->PutDmaAdapter(a);
    a = IoGetDmaAdapter(NULL, &what, &registers); /* and keeps it */
    down(&w, 2);
}

struct waiter {
    KEVENT *event;
    NTSTATUS status;
    unsigned done;
};

static VOID NTAPI wait_a_second(PVOID context)
{
    LARGE_INTEGER second = {.QuadPart = -10000000};
    struct waiter *w = context;

    w->status = KeWaitForSingleObject(w->event, Executive, KernelMode, FALSE, &second);
    w->done++;
}

/* How many of two that wait for an event of this type go on when it is pulsed. */
static unsigned woken_by_pulse(EVENT_TYPE type)
{
    LARGE_INTEGER little = {.QuadPart = -100000}, more = {.QuadPart = -20000000};
    static struct waiter a[2];
    static KEVENT event;
    unsigned woken;
    HANDLE h;

    KeInitializeEvent(&event, type, FALSE);
    for (int i = 0; i < 2; i++) {
        a[i] = (struct waiter){.event = &event};
        assert_int_equal(PsCreateSystemThread(&h, 0, NULL, NULL, NULL, wait_a_second, &a[i]), STATUS_SUCCESS);
        ZwClose(h);
    }
    KeDelayExecutionThread(KernelMode, FALSE, &little);
    assert_int_equal(KePulseEvent(&event, 0, FALSE), 0);
    assert_int_equal(KeReadStateEvent(&event), 0);
    KeDelayExecutionThread(KernelMode, FALSE, &little);
    woken = (a[0].done && a[0].status == STATUS_SUCCESS) + (a[1].done && a[1].status == STATUS_SUCCESS);
    KeDelayExecutionThread(KernelMode, FALSE, &more);
    assert_true(a[0].done && a[1].done); /* who was not woken has timed out */
    return woken;
}

TEST(a_pulse_is_for_who_waits)
{
    LARGE_INTEGER now = {.QuadPart = 0};
    struct world w;
    KEVENT event;

    up(&w, false);
    assert_int_equal(woken_by_pulse(NotificationEvent), 2);
    assert_int_equal(woken_by_pulse(SynchronizationEvent), 1);
    KeInitializeEvent(&event, NotificationEvent, TRUE);
    assert_int_equal(KePulseEvent(&event, 0, FALSE), 1); /* what it was */
    assert_int_equal(KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, &now), STATUS_TIMEOUT);
    down(&w, 0);
}

static NTSTATUS NTAPI stop_completion(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
    UNREFERENCED_PARAMETER(device);
    *(NTSTATUS *)context = irp->IoStatus.Status;
    return STATUS_MORE_PROCESSING_REQUIRED;
}

TEST(a_driver_makes_its_own_requests)
{
    NTSTATUS seen = STATUS_SUCCESS;
    struct world w;
    PIRP irp;

    up(&w, false);
    irp = IoAllocateIrp(2, FALSE);
    assert_non_null(irp);
    assert_int_equal(irp->Size, IoSizeOfIrp(2));
    assert_int_equal(irp->StackCount, 2);
    IoGetNextIrpStackLocation(irp)->MajorFunction = IRP_MJ_READ;
    IoSetCompletionRoutine(irp, stop_completion, &seen, TRUE, TRUE, TRUE);
    assert_int_equal(IofCallDriver((PDEVICE_OBJECT)w.dxgk->objects->device, irp),
                     STATUS_INVALID_DEVICE_REQUEST);
    assert_int_equal(seen, STATUS_INVALID_DEVICE_REQUEST);
    assert_int_equal(irp->CurrentLocation, 3); /* as it was: it can be sent once more */
    IoReuseIrp(irp, STATUS_NOT_SUPPORTED);
    assert_int_equal(irp->IoStatus.Status, STATUS_NOT_SUPPORTED);
    assert_int_equal(dxgk_violations(w.dxgk), 0);
    IofCallDriver((PDEVICE_OBJECT)w.dxgk->objects->device, irp); /* nobody stops its completion */
    assert_int_equal(dxgk_violations(w.dxgk), 1);
    IoInitializeIrp(irp, sizeof(IRP), 1); /* has no room for one */
    assert_int_equal(dxgk_violations(w.dxgk), 2);
    IoFreeIrp(irp);
    assert_null(IoAllocateIrp(0, FALSE));
    down(&w, 3);
}

TEST(numbers_under_a_lock_and_processors)
{
    LARGE_INTEGER big = {.QuadPart = INT64_C(0xFFFFFFFF)}, one = {.QuadPart = 1};
    KSPIN_LOCK lock;
    struct world w;
    ULONG n = 41;

    up(&w, false);
    KeInitializeSpinLock(&lock);
    assert_int_equal(ExInterlockedAddUlong(&n, 1, &lock), 41);
    assert_int_equal(n, 42);
    assert_int_equal(ExInterlockedAddLargeInteger(&big, one, &lock).QuadPart, INT64_C(0xFFFFFFFF));
    assert_int_equal(big.QuadPart, INT64_C(0x100000000));
    assert_int_equal(KeQueryActiveGroupCount(), 1);
    assert_int_equal(KeQueryActiveProcessorCountEx(ALL_PROCESSOR_GROUPS), 1);
    assert_int_equal(KeQueryActiveProcessorCountEx(1), 0);
    assert_true(MmIsDriverVerifying((PDRIVER_OBJECT)w.dxgk->objects->driver));
    lock = 1;
    ExInterlockedAddUlong(&n, 1, &lock);
    lock = 0;
    down(&w, 1);
}

int main(void)
{
    setenv("AEROGPU_LOG", "error", 0);
    return test_run();
}
