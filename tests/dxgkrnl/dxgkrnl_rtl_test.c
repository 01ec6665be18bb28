/* SPDX-License-Identifier: MIT */
/* The run-time library and the further locks, timers and providers of the kernel, called as a stranger's miniport would. */
#include <stdio.h>

#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/print.h"
#include "dxgkrnl/ntos/routines.h"
#include "ntos_rig.h"
#include "wddm/ntstrsafe.h"

/* ---- strings, numbers, bits ---------------------------------------------- */

#define TEXT(name, size, text)                                                                               \
    WCHAR name##_units[size];                                                                                \
    UNICODE_STRING name = {0, sizeof(name##_units), name##_units};                                           \
    fill(&name, text)

static void fill(PUNICODE_STRING s, const char *text)
{
    for (s->Length = 0; text[s->Length / 2]; s->Length += 2)
        s->Buffer[s->Length / 2] = (WCHAR)text[s->Length / 2];
}

TEST(strings_are_copied_appended_and_compared)
{
    struct world w;
    ANSI_STRING narrow, other;
    TEXT(a, 8, "Render");
    TEXT(b, 8, "rENDER");
    TEXT(small, 4, "");

    up(&w, false);
    assert_false(RtlEqualUnicodeString(&a, &b, FALSE));
    assert_true(RtlEqualUnicodeString(&a, &b, TRUE));
    assert_int_equal(RtlCompareUnicodeString(&a, &b, FALSE), 'R' - 'r');
    RtlCopyUnicodeString(&small, &a); /* what there is room for, without a zero then */
    assert_int_equal(small.Length, 8);
    assert_true(RtlPrefixUnicodeString(&small, &a, FALSE));
    assert_false(RtlPrefixUnicodeString(&a, &small, FALSE));
    assert_int_equal(RtlAppendUnicodeToString(&a, u"Km"), STATUS_SUCCESS);
    assert_int_equal(RtlAppendUnicodeStringToString(&a, &b), STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(a.Length, 16);
    assert_int_equal(RtlUnicodeStringToAnsiString(&narrow, &a, TRUE), STATUS_SUCCESS);
    assert_string_equal(narrow.Buffer, "RenderKm");
    RtlInitString(&other, "RENDERKM");
    assert_true(RtlEqualString(&narrow, &other, TRUE));
    assert_true(RtlCompareString(&narrow, &other, FALSE) > 0);
    RtlFreeAnsiString(&narrow);
    RtlCopyUnicodeString(&a, NULL);
    assert_int_equal(a.Length, 0);
    down(&w, 0);
}

TEST(numbers_are_read_and_written)
{
    static const struct {
        const char *text;
        ULONG base, value;
    } good[] = {{"4096", 0, 4096}, {" -2", 10, (ULONG)-2}, {"0x1fF", 0, 0x1FF},         {"0o17", 0, 15},
                {"0b101", 0, 5},   {"77x", 8, 63},         {"ffffffff", 16, UINT32_MAX}};
    struct world w;
    ULONG v;
    TEXT(out, 12, "");
    TEXT(small, 2, "");

    up(&w, false);
    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        TEXT(in, 12, good[i].text);
        assert_int_equal(RtlUnicodeStringToInteger(&in, good[i].base, &v), STATUS_SUCCESS);
        assert_int_equal(v, good[i].value);
    }
    assert_int_equal(RtlUnicodeStringToInteger(&out, 7, &v), STATUS_INVALID_PARAMETER);
    assert_int_equal(RtlIntegerToUnicodeString(48879, 16, &out), STATUS_SUCCESS);
    assert_memory_equal(out.Buffer, u"BEEF", 10);
    assert_int_equal(RtlIntegerToUnicodeString(100, 10, &small), STATUS_BUFFER_OVERFLOW);
    down(&w, 0);
}

TEST(bits_are_found_set_and_counted)
{
    struct world w;
    ULONG memory[3] = {0, 0, 0xFFFFFFFF};
    RTL_BITMAP b;

    up(&w, false);
    RtlInitializeBitMap(&b, memory, 70);
    RtlSetBits(&b, 0, 30);
    assert_int_equal(RtlFindClearBits(&b, 8, 0), 30);
    assert_int_equal(RtlFindClearBitsAndSet(&b, 8, 40), 40);
    assert_int_equal(RtlFindClearBits(&b, 16, 64),
                     48); /* behind the hint there is none; in front of it there is */
    assert_int_equal(RtlFindClearBits(&b, 17, 0), 0xFFFFFFFF);
    assert_int_equal(RtlNumberOfSetBits(&b), 30 + 8 + 6);
    assert_true(RtlAreBitsSet(&b, 40, 8));
    assert_true(RtlAreBitsClear(&b, 30, 10));
    assert_false(RtlAreBitsClear(&b, 66, 10)); /* beyond the end */
    RtlClearBits(&b, 40, 1);
    assert_false(RtlTestBit(&b, 40));
    RtlSetAllBits(&b);
    assert_int_equal(RtlNumberOfSetBits(&b), 70);
    RtlClearAllBits(&b);
    assert_int_equal(memory[2], 0xFFFFFFFF & ~0x3Fu); /* bits behind the end are nobody's */
    RtlSetBits(&b, 69, 2);
    violated(&w, "RtlSetBits of 2 bits at 69: the bitmap has 70");
    down(&w, 1);
}

/* As an image's import would be bound. */
#define IMPORT(name, result, ...) result(NTAPI *name)(__VA_ARGS__) = dxgk_ntos_export("ntoskrnl.exe", #name)

TEST(the_c_library_of_the_kernel)
{
    IMPORT(_snprintf, int, char *, SIZE_T, const char *, ...);
    IMPORT(_snwprintf, int, WCHAR *, SIZE_T, const WCHAR *, ...);
    IMPORT(_wcsicmp, int, const WCHAR *, const WCHAR *);
    IMPORT(wcsstr, const WCHAR *, const WCHAR *, const WCHAR *);
    IMPORT(wcsncpy, WCHAR *, WCHAR *, const WCHAR *, SIZE_T);
    char text[8] = "#######";
    WCHAR wide[16], four[4];

    assert_int_equal(_snprintf(text, 8, "%s %d", "gpu", 12), 6);
    assert_string_equal(text, "gpu 12");
    memset(text, '#', sizeof(text));
    assert_int_equal(_snprintf(text, 4, "%s", "abcd"), 4); /* fits, without its zero */
    assert_memory_equal(text, "abcd####", 8);
    assert_int_equal(_snprintf(text, 3, "%s", "wxyz"), -1);
    assert_memory_equal(text, "wxyd", 4);
    assert_int_equal(_snwprintf(wide, 16, u"%s|%S|%hs|%02x", u"a", "b", "c", 10), 8);
    assert_memory_equal(wide, u"a|b|c|0a", 18);
    assert_int_equal(_snwprintf(wide, 3, u"%d", 12345), -1);
    assert_memory_equal(wide, u"123|", 8);
    assert_int_equal(_wcsicmp(u"AeroGPU", u"aerogpu"), 0);
    assert_true(_wcsicmp(u"a", u"b") < 0);
    assert_ptr_equal(wcsstr(wide, u"3|"), wide + 2);
    assert_null(wcsstr(u"abc", u"cd"));
    wcsncpy(four, u"x", 4);
    assert_memory_equal(four, u"x\0\0", 8);
    assert_null(dxgk_ntos_export("ntoskrnl.exe", "printf"));
}

TEST(safe_strings_end_inside_their_buffers)
{
    WCHAR wide[5];
    char text[6];
    size_t n;

    assert_int_equal(RtlStringCchCopyA(text, 6, "abc"), STATUS_SUCCESS);
    assert_int_equal(RtlStringCbCatA(text, 6, "defg"), STATUS_BUFFER_OVERFLOW);
    assert_string_equal(text, "abcde");
    assert_int_equal(RtlStringCbLengthA(text, sizeof(text), &n), STATUS_SUCCESS);
    assert_int_equal(n, 5);
    assert_int_equal(RtlStringCchLengthA(text, 5, &n), STATUS_INVALID_PARAMETER);
    assert_int_equal(RtlStringCbCopyW(wide, sizeof(wide), u"longer"), STATUS_BUFFER_OVERFLOW);
    assert_memory_equal(wide, u"long", 10);
    assert_int_equal(RtlStringCchCopyNW(wide, 5, u"longer", 2), STATUS_SUCCESS);
    assert_memory_equal(wide, u"lo", 6);
    assert_int_equal(RtlStringCchCopyA(text, 0, "x"), STATUS_INVALID_PARAMETER);
    assert_string_equal(text, "abcde");
}

/* ---- locks and timers ---------------------------------------------------- */

TEST(spin_locks_with_a_queue)
{
    struct world w;
    KLOCK_QUEUE_HANDLE h, inner;
    KSPIN_LOCK lock, other;

    up(&w, false);
    KeInitializeSpinLock(&lock);
    KeInitializeSpinLock(&other);
    KeAcquireInStackQueuedSpinLock(&lock, &h);
    assert_int_equal(KeGetCurrentIrql(), DISPATCH_LEVEL);
    assert_false(KeTryToAcquireSpinLockAtDpcLevel(&lock));
    KeAcquireInStackQueuedSpinLockAtDpcLevel(&other, &inner);
    KeReleaseInStackQueuedSpinLockFromDpcLevel(&inner);
    assert_true(KeTryToAcquireSpinLockAtDpcLevel(&other));
    KeReleaseSpinLockFromDpcLevel(&other);
    KeReleaseInStackQueuedSpinLock(&h);
    assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
    KeAcquireInStackQueuedSpinLockAtDpcLevel(&other, &inner);
    violated(&w,
             "KeAcquireInStackQueuedSpinLockAtDpcLevel called at IRQL 0, must be at least DISPATCH_LEVEL");
    down(&w, 1);
}

TEST(limits_are_those_of_the_documentation)
{
    struct world w;
    EX_RUNDOWN_REF run;
    RTL_BITMAP map;
    ULONG bits = 0;
    KIRQL old;

    up(&w, false);
    ExInitializeRundownProtection(&run);
    RtlInitializeBitMap(&map, &bits, 32);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    assert_true(ExAcquireRundownProtection(&run)); /* nonpaged: up to DISPATCH_LEVEL */
    ExReleaseRundownProtection(&run);
    RtlSetAllBits(&map);
    RtlInitializeBitMap(&map, &bits, 32);
    violated(&w, "RtlInitializeBitMap called at IRQL 2, allowed up to 1");
    KeLowerIrql(old);
    down(&w, 1);
}

TEST(mutexes_that_are_tried)
{
    struct world w;
    FAST_MUTEX f;
    KGUARDED_MUTEX g;

    up(&w, false);
    ExInitializeFastMutex(&f);
    KeInitializeGuardedMutex(&g);
    assert_true(ExTryToAcquireFastMutex(&f));
    assert_int_equal(KeGetCurrentIrql(), APC_LEVEL);
    assert_false(ExTryToAcquireFastMutex(&f));
    ExReleaseFastMutex(&f);
    assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
    KeEnterCriticalRegion();
    ExAcquireFastMutexUnsafe(&f);
    ExReleaseFastMutexUnsafe(&f);
    KeLeaveCriticalRegion();
    KeAcquireGuardedMutex(&g);
    assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
    assert_false(KeTryToAcquireGuardedMutex(&g));
    KeReleaseGuardedMutex(&g);
    KeReleaseGuardedMutex(&g);
    violated(&w, "KeReleaseGuardedMutex by a thread that does not own the mutex");
    down(&w, 1);
}

static ERESOURCE resource;
static EX_RUNDOWN_REF rundown;
static KEVENT go;

static void NTAPI reader(PVOID context)
{
    (void)context;
    KeEnterCriticalRegion();
    assert_false(ExAcquireResourceSharedLite(&resource, FALSE)); /* the writer has it */
    assert_true(ExAcquireResourceSharedLite(&resource, TRUE));
    assert_false(ExIsResourceAcquiredExclusiveLite(&resource));
    KeSetEvent(&go, 0, FALSE);
    ExReleaseResourceLite(&resource);
    KeLeaveCriticalRegion();
    ExReleaseRundownProtection(&rundown);
}

TEST(readers_wait_for_the_writer_and_the_end_for_everybody)
{
    char text[120];
    struct world w;
    HANDLE thread;

    up(&w, false);
    assert_int_equal(ExInitializeResourceLite(&resource), STATUS_SUCCESS);
    ExInitializeRundownProtection(&rundown);
    KeInitializeEvent(&go, NotificationEvent, FALSE);
    assert_true(ExAcquireRundownProtection(&rundown));
    KeEnterCriticalRegion();
    assert_true(ExAcquireResourceExclusiveLite(&resource, TRUE));
    assert_true(ExAcquireResourceExclusiveLite(&resource, FALSE)); /* once more */
    assert_int_equal(PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL, reader, NULL),
                     STATUS_SUCCESS);
    ZwClose(thread);
    assert_int_equal(wait_one(&go, 5), STATUS_TIMEOUT);
    ExReleaseResourceLite(&resource);
    assert_int_equal(wait_one(&go, 5), STATUS_TIMEOUT);
    ExReleaseResourceLite(&resource);
    KeLeaveCriticalRegion();
    ExWaitForRundownProtectionRelease(&rundown);
    assert_int_equal(KeReadStateEvent(&go), 1); /* the thread had gone through before it let go */
    assert_false(ExAcquireRundownProtection(&rundown));
    assert_int_equal(ExDeleteResourceLite(&resource), STATUS_SUCCESS);
    ExAcquireResourceSharedLite(&resource, TRUE);
    snprintf(text, sizeof(text),
             "ExAcquireResourceSharedLite of %p, which is not a resource that was initialised",
             (void *)&resource);
    violated(&w, text);
    ExReleaseRundownProtection(&rundown);
    violated(&w, "ExReleaseRundownProtection without a reference");
    down(&w, 2);
}

static unsigned ticks;

static VOID NTAPI tick(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc, (void)context, (void)a, (void)b;
    ticks++;
}

TEST(timers_that_repeat)
{
    struct world w;
    LARGE_INTEGER t = ms(35), before, after;
    KTIMER timer;
    KDPC dpc, queued;
    KIRQL old;

    up(&w, false);
    KeQueryTickCount(&before);
    KeInitializeTimerEx(&timer, SynchronizationTimer);
    KeInitializeDpc(&dpc, tick, NULL);
    assert_false(KeSetTimerEx(&timer, ms(10), 10, &dpc));
    KeDelayExecutionThread(KernelMode, FALSE, &t);
    assert_int_equal(ticks, 3);
    KeQueryTickCount(&after);
    assert_true(after.QuadPart - before.QuadPart == 2 ||
                after.QuadPart - before.QuadPart == 3); /* of 15.625 ms */
    assert_true(KeReadStateTimer(&timer));
    assert_int_equal(wait_one(&timer, 0), STATUS_SUCCESS);
    assert_int_equal(wait_one(&timer, 0), STATUS_TIMEOUT); /* one waiter a time */
    assert_true(KeCancelTimer(&timer));
    KeDelayExecutionThread(KernelMode, FALSE, &t);
    assert_int_equal(ticks, 3);
    KeInitializeThreadedDpc(&queued, tick, NULL);
    KeSetImportanceDpc(&queued, HighImportance);
    KeSetTargetProcessorDpc(&queued, 0);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    assert_true(KeInsertQueueDpc(&queued, NULL, NULL));
    assert_true(KeRemoveQueueDpc(&queued));
    assert_false(KeRemoveQueueDpc(&queued));
    KeLowerIrql(old);
    assert_int_equal(ticks, 3);
    down(&w, 0);
}

/* ---- the rest ------------------------------------------------------------ */

TEST(what_is_there_of_the_system)
{
    struct world w;
    RTL_OSVERSIONINFOW v = {.dwOSVersionInfoSize = sizeof(v)};
    OBJECT_ATTRIBUTES a = {0};
    IO_STATUS_BLOCK io;
    HANDLE file;
    PVOID p;
    TEXT(known, 40, "KeSetTimerEx");
    TEXT(unknown, 40, "ExAllocatePool2");

    up(&w, false);
    assert_int_equal(RtlGetVersion(&v), STATUS_SUCCESS);
    assert_int_equal(v.dwMajorVersion << 8 | v.dwMinorVersion, 0x601);
    assert_ptr_equal(MmGetSystemRoutineAddress(&known), KeSetTimerEx);
    assert_null(MmGetSystemRoutineAddress(&unknown)); /* of a later Windows */
    assert_int_equal(ZwCreateFile(&file, GENERIC_READ, &a, &io, NULL, 0, 0, FILE_OPEN, 0, NULL, 0),
                     STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(KeQueryActiveProcessorCount(NULL), 1);
    assert_true(*PsThreadType != *IoFileObjectType);
    assert_true(KdRefreshDebuggerNotPresent() && KD_DEBUGGER_NOT_PRESENT);
    p = MmAllocateNonCachedMemory(100);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % PAGE_SIZE, 0);
    MmFreeNonCachedMemory(p, 100);
    p = ExAllocatePoolWithQuotaTag((POOL_TYPE)(NonPagedPool | 8), 16, 0x74736554);
    assert_non_null(p);
    ExFreePool(p);
    ProbeForRead(&w, 4, 2);
    ProbeForWrite((PVOID)(uintptr_t)0xFFFF800000000000, 4, 1);
    violated(&w, "ProbeForWrite: 0xffff800000000000 is no address of a process: Windows raises an exception");
    assert_int_equal(READ_PORT_USHORT((PUSHORT)(uintptr_t)0x1CF), 0xFFFF);
    WRITE_PORT_UCHAR((PUCHAR)(uintptr_t)0x60, 1);
    violated(&w, "a read of port 0x1cf, 2 bytes: the adapter has no ports"); /* and is not said again */
    DbgBreakPoint();
    violated(&w, "DbgBreakPoint without a debugger");
    down(&w, 3);
}

TEST(requests_to_a_device_that_takes_none)
{
    struct world w;
    LARGE_INTEGER at = {.QuadPart = 512};
    static WCHAR path[] = u"\\Device\\DxgKrnl";
    UNICODE_STRING name = RTL_CONSTANT_STRING(path);
    PFILE_OBJECT file;
    PDEVICE_OBJECT device;
    IO_STATUS_BLOCK io = {0};
    char text[4];
    KEVENT done;
    PIRP irp;

    up(&w, false);
    KeInitializeEvent(&done, NotificationEvent, FALSE);
    assert_int_equal(IoGetDeviceObjectPointer(&name, FILE_ALL_ACCESS, &file, &device), STATUS_SUCCESS);
    assert_ptr_equal(IoGetRelatedDeviceObject(file), device);
    irp = IoBuildSynchronousFsdRequest(IRP_MJ_WRITE, device, text, 4, &at, &done, &io);
    assert_non_null(irp);
    assert_int_equal(IoGetNextIrpStackLocation(irp)->MajorFunction, IRP_MJ_WRITE);
    assert_int_equal(IoGetNextIrpStackLocation(irp)->Parameters.Write.ByteOffset.QuadPart, 512);
    assert_int_equal(IoCallDriver(device, irp), STATUS_INVALID_DEVICE_REQUEST);
    assert_int_equal(io.Status, STATUS_INVALID_DEVICE_REQUEST);
    assert_int_equal(KeReadStateEvent(&done), 1);
    ObDereferenceObject(file);
    down(&w, 0);
}

TEST(a_driver_that_stops_the_system_stops_its_adapter)
{
    struct world w;

    up(&w, false);
    KeBugCheckEx(0xEA, 1, 2, 3, 4);
    violated(&w, "the miniport called KeBugCheckEx(0xea, 0x1, 0x2, 0x3, 0x4)");
    assert_int_equal(w.dxgk->state, DXGK_FAILED);
    down(&w, 1);
}

/* ---- events -------------------------------------------------------------- */

static const GUID own = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static int enabled = -1;

static VOID NTAPI notice(LPCGUID source, ULONG control, UCHAR level, ULONGLONG any, ULONGLONG all,
                         PVOID filter, PVOID context)
{
    (void)source, (void)level, (void)any, (void)all, (void)filter, (void)context;
    enabled = (int)control;
}

static struct dxgk_trace_block block;

static NTSTATUS trace(struct world *w, enum dxgk_trace_op op)
{
    block.op = op;
    return dxgk_trace_escape(w->dxgk, true, &block, sizeof(block));
}

TEST(a_miniport_s_events_are_traced_while_somebody_wants_them)
{
    static const EVENT_DESCRIPTOR about = {.Id = 7, .Opcode = 2, .Keyword = 16};
    const char words[] = "0123456789012345678901234567890123456789";
    LARGE_INTEGER t = ms(11000);
    struct world w;
    EVENT_DATA_DESCRIPTOR data[2];
    REGHANDLE h;

    up(&w, false);
    assert_int_equal(EtwRegister(&own, notice, NULL, &h), STATUS_SUCCESS);
    assert_false(EtwEventEnabled(h, &about));
    assert_int_equal(EtwWrite(h, &about, NULL, 0, NULL), STATUS_SUCCESS); /* nobody wants it */
    assert_int_equal(trace(&w, DXGK_TRACE_READ_OP), STATUS_INVALID_DEVICE_STATE);
    assert_int_equal(trace(&w, DXGK_TRACE_START_OP), STATUS_SUCCESS);
    assert_int_equal(enabled, 1);
    assert_true(EtwEventEnabled(h, &about));
    EventDataDescCreate(&data[0], "ab", 2);
    EventDataDescCreate(&data[1], words, 40);
    assert_int_equal(EtwWrite(h, &about, NULL, 2, data), STATUS_SUCCESS);
    assert_int_equal(trace(&w, DXGK_TRACE_READ_OP), STATUS_SUCCESS);
    assert_int_equal(block.count, 1);
    assert_int_equal(block.event[0].id, 7);
    assert_int_equal(block.event[0].keyword, 16);
    assert_int_equal(block.event[0].size, 32);
    assert_memory_equal(block.event[0].provider, &own, 16);
    assert_memory_equal(block.event[0].field, "ab012345678901234567890123456789", 32);
    for (int i = 0; i < TRACE_RING + 5; i++)
        EtwWrite(h, &about, NULL, 0, NULL);
    trace(&w, DXGK_TRACE_READ_OP);
    assert_int_equal(block.lost, 5);
    assert_int_equal(block.count, DXGK_TRACE_MOST);
    KeDelayExecutionThread(KernelMode, FALSE, &t); /* who traced is gone: the next event ends it */
    EtwWrite(h, &about, NULL, 0, NULL);
    assert_false(EtwEventEnabled(h, &about));
    assert_int_equal(trace(&w, DXGK_TRACE_READ_OP), STATUS_INVALID_DEVICE_STATE);
    trace(&w, DXGK_TRACE_START_OP);
    trace(&w, DXGK_TRACE_START_OP); /* another one */
    trace(&w, DXGK_TRACE_STOP_OP);
    assert_int_equal(trace(&w, DXGK_TRACE_READ_OP), STATUS_SUCCESS);
    assert_int_equal(enabled, 1);
    trace(&w, DXGK_TRACE_STOP_OP);
    assert_int_equal(enabled, 0);
    assert_int_equal(dxgk_trace_escape(w.dxgk, false, &block, sizeof(block)), STATUS_ACCESS_DENIED);
    assert_int_equal(EtwUnregister(h), STATUS_SUCCESS);
    assert_int_equal(EtwWrite(h, &about, NULL, 0, NULL), STATUS_INVALID_HANDLE);
    assert_int_equal(EtwRegister(&own, NULL, NULL, &h), STATUS_SUCCESS); /* and stays */
    down(&w, 1);
}

TEST(values_have_types_and_keys_are_made)
{
    struct world w;
    WCHAR text[] = {'C', 'h', 'i', 'p', 0}, path[] = {'s', 'o', 'f', 't', 'g', 'p', 'u', '\\', 'P', 0},
          got[8];
    WCHAR absent[] = {'N', 'o', 0};
    UNICODE_STRING name, sub = {2, 2, &path[8]}, string = {0, sizeof(got), got}, made = {0};
    OBJECT_ATTRIBUTES attributes;
    HANDLE root, key;
    ULONG64 wide = 0x123456789;
    ULONG size, disposition;
    union {
        KEY_VALUE_PARTIAL_INFORMATION info;
        KEY_BASIC_INFORMATION key;
        UCHAR bytes[64];
        LONG room;
    } u;
    RTL_QUERY_REGISTRY_TABLE t[3] = {{NULL, RTL_QUERY_REGISTRY_DIRECT, text, &string, REG_NONE, NULL, 0},
                                     {NULL, RTL_QUERY_REGISTRY_DIRECT, absent, &made, REG_SZ, text, 0}};

    up(&w, false);
    RtlInitUnicodeString(&name, text);
    assert_int_equal(IoOpenDeviceRegistryKey(NULL, PLUGPLAY_REGKEY_DRIVER, KEY_READ | KEY_WRITE, &root),
                     STATUS_SUCCESS);
    assert_int_equal(ZwSetValueKey(root, &name, 0, REG_QWORD, &wide, 4), STATUS_INVALID_PARAMETER);
    assert_int_equal(ZwSetValueKey(root, &name, 0, REG_QWORD, &wide, 8), STATUS_SUCCESS);
    assert_int_equal(ZwQueryValueKey(root, &name, KeyValuePartialInformation, &u, sizeof(u), &size),
                     STATUS_SUCCESS);
    assert_int_equal(u.info.Type, REG_QWORD);
    assert_int_equal(u.info.DataLength, 8);
    assert_memory_equal(u.info.Data, &wide, 8);
    assert_int_equal(ZwQueryValueKey(root, &name, KeyValuePartialInformation, &u, 14, &size),
                     STATUS_BUFFER_OVERFLOW);
    assert_int_equal(size, 20);
    /* a key, which is found under its root, once */
    InitializeObjectAttributes(&attributes, &sub, OBJ_KERNEL_HANDLE, root, NULL);
    assert_int_equal(ZwEnumerateKey(root, 0, KeyBasicInformation, &u, sizeof(u), &size),
                     STATUS_NO_MORE_ENTRIES);
    assert_int_equal(ZwCreateKey(&key, KEY_WRITE, &attributes, 0, NULL, 0, &disposition), STATUS_SUCCESS);
    assert_int_equal(disposition, REG_CREATED_NEW_KEY);
    assert_int_equal(ZwSetValueKey(key, &name, 0, REG_BINARY, text, 3), STATUS_SUCCESS);
    assert_int_equal(ZwClose(key), STATUS_SUCCESS);
    assert_int_equal(ZwCreateKey(&key, KEY_READ, &attributes, 0, NULL, 0, &disposition), STATUS_SUCCESS);
    assert_int_equal(disposition, REG_OPENED_EXISTING_KEY);
    assert_int_equal(ZwClose(key), STATUS_SUCCESS);
    assert_int_equal(ZwEnumerateKey(root, 0, KeyBasicInformation, &u, sizeof(u), &size), STATUS_SUCCESS);
    assert_int_equal(u.key.NameLength, 2);
    assert_int_equal(u.key.Name[0], 'P');
    assert_int_equal(ZwEnumerateKey(root, 1, KeyBasicInformation, &u, sizeof(u), &size),
                     STATUS_NO_MORE_ENTRIES);
    assert_int_equal(ZwClose(root), STATUS_SUCCESS);
    /* strings, and defaults of them */
    assert_int_equal(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, path), STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, path, text, REG_SZ, text, sizeof(text)),
                     STATUS_SUCCESS);
    assert_int_equal(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, path), STATUS_SUCCESS);
    assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_SERVICES, path, t, NULL, NULL), STATUS_SUCCESS);
    assert_int_equal(string.Length, 8);
    assert_memory_equal(got, text, sizeof(text));
    assert_int_equal(made.Length, 8);
    assert_memory_equal(made.Buffer, text, sizeof(text));
    RtlFreeUnicodeString(&made);
    string.MaximumLength = 6;
    assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_SERVICES, path, t, NULL, NULL),
                     STATUS_BUFFER_TOO_SMALL);
    /* bytes, with room for them in front */
    assert_int_equal(RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, path, text, REG_BINARY, text, 8),
                     STATUS_SUCCESS);
    t[0].EntryContext = &u;
    t[1] = (RTL_QUERY_REGISTRY_TABLE){0};
    u.room = -8;
    assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_SERVICES, path, t, NULL, NULL), STATUS_SUCCESS);
    assert_memory_equal(u.bytes, text, 8);
    u.room = 15;
    assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_SERVICES, path, t, NULL, NULL),
                     STATUS_BUFFER_TOO_SMALL);
    down(&w, 0);
}

int main(void)
{
    setenv("AEROGPU_LOG", "error", 0);
    return test_run();
}
