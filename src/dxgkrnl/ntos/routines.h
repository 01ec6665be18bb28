/* SPDX-License-Identifier: MIT */
/* routines.h: the kernel routines that a miniport may import, with the module of Windows 7 x64 that exports each and the
 * highest IRQL that it may be called at.
 *
 * From this table come what a driver's imports are bound to, and the limits that the routines check. Modules: compared with
 * the export list of Windows 7 (tests/wddm/exports.txt). Limits: the "IRQL" row of the routine's page in the WDK's
 * documentation; where what is allowed depends on the arguments (a wait that may time out at once, paged pool), the routine
 * itself checks it, and the limit here is the highest. ANY_LEVEL: there is none.
 *
 *   R(module, name, limit)   a routine of include/wddm/ntddk.h
 *   L(module, name, limit)   of a later Windows than 7: for drivers that say that they need one
 *   C(module, name, limit)   one of the C library, which goes by another name here (dxgk_crt_NAME): its own has another
 *                            calling convention
 */
#pragma once

#include "dxgkrnl/kernel.h"

enum { ANY_LEVEL = HIGH_LEVEL };

#define NTOS_ROUTINES(R, C)                                                                                  \
    R(ntoskrnl, DbgPrintEx, ANY_LEVEL)                                                                       \
    R(ntoskrnl, ExAcquireFastMutex, APC_LEVEL)                                                               \
    R(ntoskrnl, ExAllocatePoolWithTag, DISPATCH_LEVEL)                                                       \
    R(ntoskrnl, ExDeleteNPagedLookasideList, DISPATCH_LEVEL)                                                 \
    R(ntoskrnl, ExDeletePagedLookasideList, APC_LEVEL)                                                       \
    R(ntoskrnl, ExFreePool, DISPATCH_LEVEL)                                                                  \
    R(ntoskrnl, ExFreePoolWithTag, DISPATCH_LEVEL)                                                           \
    R(ntoskrnl, ExGetPreviousMode, ANY_LEVEL)                                                                \
    R(ntoskrnl, ExInitializeNPagedLookasideList, DISPATCH_LEVEL)                                             \
    R(ntoskrnl, ExInitializePagedLookasideList, APC_LEVEL)                                                   \
    R(ntoskrnl, ExInterlockedInsertHeadList, ANY_LEVEL)                                                      \
    R(ntoskrnl, ExInterlockedInsertTailList, ANY_LEVEL)                                                      \
    R(ntoskrnl, ExInterlockedRemoveHeadList, ANY_LEVEL)                                                      \
    R(ntoskrnl, ExQueryDepthSList, ANY_LEVEL)                                                                \
    R(ntoskrnl, ExQueueWorkItem, DISPATCH_LEVEL)                                                             \
    R(ntoskrnl, ExReleaseFastMutex, APC_LEVEL)                                                               \
    R(ntoskrnl, ExpInterlockedFlushSList, ANY_LEVEL)                                                         \
    R(ntoskrnl, ExpInterlockedPopEntrySList, ANY_LEVEL)                                                      \
    R(ntoskrnl, ExpInterlockedPushEntrySList, ANY_LEVEL)                                                     \
    R(ntoskrnl, InitializeSListHead, ANY_LEVEL)                                                              \
    R(ntoskrnl, IoAllocateMdl, DISPATCH_LEVEL)                                                               \
    R(ntoskrnl, IoAllocateWorkItem, DISPATCH_LEVEL)                                                          \
    R(ntoskrnl, IoBuildDeviceIoControlRequest, PASSIVE_LEVEL)                                                \
    R(ntoskrnl, IoFreeMdl, DISPATCH_LEVEL)                                                                   \
    R(ntoskrnl, IoFreeWorkItem, DISPATCH_LEVEL)                                                              \
    R(ntoskrnl, IoGetDeviceObjectPointer, PASSIVE_LEVEL)                                                     \
    R(ntoskrnl, IoGetDeviceProperty, PASSIVE_LEVEL)                                                          \
    R(ntoskrnl, IoOpenDeviceRegistryKey, PASSIVE_LEVEL)                                                      \
    R(ntoskrnl, IoQueueWorkItem, DISPATCH_LEVEL)                                                             \
    R(ntoskrnl, IofCallDriver, DISPATCH_LEVEL)                                                               \
    R(ntoskrnl, KeAcquireSpinLockAtDpcLevel, ANY_LEVEL)                                                      \
    R(ntoskrnl, KeAcquireSpinLockRaiseToDpc, DISPATCH_LEVEL)                                                 \
    R(ntoskrnl, KeCancelTimer, DISPATCH_LEVEL)                                                               \
    R(ntoskrnl, KeClearEvent, DISPATCH_LEVEL)                                                                \
    R(ntoskrnl, KeDelayExecutionThread, APC_LEVEL)                                                           \
    R(ntoskrnl, KeFlushQueuedDpcs, PASSIVE_LEVEL)                                                            \
    R(ntoskrnl, KeGetCurrentProcessorNumberEx, ANY_LEVEL)                                                    \
    R(ntoskrnl, KeInitializeDpc, ANY_LEVEL)                                                                  \
    R(ntoskrnl, KeInitializeEvent, ANY_LEVEL)                                                                \
    R(ntoskrnl, KeInitializeMutex, ANY_LEVEL)                                                                \
    R(ntoskrnl, KeInitializeSemaphore, ANY_LEVEL)                                                            \
    R(ntoskrnl, KeInitializeTimer, DISPATCH_LEVEL)                                                           \
    R(ntoskrnl, KeInsertQueueDpc, ANY_LEVEL)                                                                 \
    R(ntoskrnl, KeQueryTimeIncrement, ANY_LEVEL)                                                             \
    R(ntoskrnl, KeReadStateEvent, DISPATCH_LEVEL)                                                            \
    R(ntoskrnl, KeReadStateMutex, DISPATCH_LEVEL)                                                            \
    R(ntoskrnl, KeReadStateSemaphore, ANY_LEVEL)                                                             \
    R(ntoskrnl, KeReleaseMutex, DISPATCH_LEVEL)                                                              \
    R(ntoskrnl, KeReleaseSemaphore, DISPATCH_LEVEL)                                                          \
    R(ntoskrnl, KeReleaseSpinLock, DISPATCH_LEVEL)                                                           \
    R(ntoskrnl, KeReleaseSpinLockFromDpcLevel, ANY_LEVEL)                                                    \
    R(ntoskrnl, KeResetEvent, DISPATCH_LEVEL)                                                                \
    R(ntoskrnl, KeSetEvent, DISPATCH_LEVEL)                                                                  \
    R(ntoskrnl, KeSetTimer, DISPATCH_LEVEL)                                                                  \
    R(ntoskrnl, KeWaitForMultipleObjects, DISPATCH_LEVEL)                                                    \
    R(ntoskrnl, KeWaitForSingleObject, DISPATCH_LEVEL)                                                       \
    R(ntoskrnl, MmAllocateContiguousMemory, DISPATCH_LEVEL)                                                  \
    R(ntoskrnl, MmAllocateContiguousMemorySpecifyCache, DISPATCH_LEVEL)                                      \
    R(ntoskrnl, MmBuildMdlForNonPagedPool, DISPATCH_LEVEL)                                                   \
    R(ntoskrnl, MmFreeContiguousMemory, DISPATCH_LEVEL)                                                      \
    R(ntoskrnl, MmFreeContiguousMemorySpecifyCache, DISPATCH_LEVEL)                                          \
    R(ntoskrnl, MmGetPhysicalAddress, ANY_LEVEL)                                                             \
    R(ntoskrnl, MmGetPhysicalMemoryRanges, PASSIVE_LEVEL)                                                    \
    R(ntoskrnl, MmGetVirtualForPhysical, ANY_LEVEL)                                                          \
    R(ntoskrnl, MmMapIoSpace, DISPATCH_LEVEL)                                                                \
    R(ntoskrnl, MmMapLockedPagesSpecifyCache, DISPATCH_LEVEL)                                                \
    R(ntoskrnl, MmProbeAndLockPages, DISPATCH_LEVEL)                                                         \
    R(ntoskrnl, MmSecureVirtualMemory, APC_LEVEL)                                                            \
    R(ntoskrnl, MmUnlockPages, DISPATCH_LEVEL)                                                               \
    R(ntoskrnl, MmUnmapIoSpace, DISPATCH_LEVEL)                                                              \
    R(ntoskrnl, MmUnmapLockedPages, DISPATCH_LEVEL)                                                          \
    R(ntoskrnl, MmUnsecureVirtualMemory, APC_LEVEL)                                                          \
    R(ntoskrnl, ObReferenceObjectByHandle, PASSIVE_LEVEL)                                                    \
    R(ntoskrnl, ObfDereferenceObject, DISPATCH_LEVEL)                                                        \
    R(ntoskrnl, PsCreateSystemThread, PASSIVE_LEVEL)                                                         \
    R(ntoskrnl, PsDereferencePrimaryToken, APC_LEVEL)                                                        \
    R(ntoskrnl, PsGetCurrentProcess, ANY_LEVEL)                                                              \
    R(ntoskrnl, PsGetCurrentProcessId, ANY_LEVEL)                                                            \
    R(ntoskrnl, PsReferencePrimaryToken, PASSIVE_LEVEL)                                                      \
    R(ntoskrnl, PsTerminateSystemThread, PASSIVE_LEVEL)                                                      \
    R(ntoskrnl, RtlAnsiStringToUnicodeString, PASSIVE_LEVEL)                                                 \
    R(ntoskrnl, RtlAssert, ANY_LEVEL)                                                                        \
    R(ntoskrnl, RtlCompareMemory, ANY_LEVEL)                                                                 \
    R(ntoskrnl, RtlFreeUnicodeString, PASSIVE_LEVEL)                                                         \
    R(ntoskrnl, RtlInitAnsiString, ANY_LEVEL)                                                                \
    R(ntoskrnl, RtlInitUnicodeString, ANY_LEVEL)                                                             \
    R(ntoskrnl, RtlQueryRegistryValues, PASSIVE_LEVEL)                                                       \
    R(ntoskrnl, SeSinglePrivilegeCheck, PASSIVE_LEVEL)                                                       \
    R(ntoskrnl, SeTokenIsAdmin, PASSIVE_LEVEL)                                                               \
    R(ntoskrnl, ZwClose, PASSIVE_LEVEL)                                                                      \
    R(ntoskrnl, ZwLoadDriver, PASSIVE_LEVEL)                                                                 \
    R(ntoskrnl, ZwOpenKey, PASSIVE_LEVEL)                                                                    \
    R(ntoskrnl, ZwQuerySection, PASSIVE_LEVEL)                                                               \
    R(ntoskrnl, ZwQueryValueKey, PASSIVE_LEVEL)                                                              \
    R(ntoskrnl, ZwSetValueKey, PASSIVE_LEVEL)                                                                \
    R(ntoskrnl, __C_specific_handler, ANY_LEVEL)                                                             \
    R(hal, KeQueryPerformanceCounter, ANY_LEVEL)                                                             \
    R(hal, KeStallExecutionProcessor, ANY_LEVEL)                                                             \
    C(ntoskrnl, memcmp, ANY_LEVEL)                                                                           \
    C(ntoskrnl, memcpy, ANY_LEVEL)                                                                           \
    C(ntoskrnl, memmove, ANY_LEVEL)                                                                          \
    C(ntoskrnl, memset, ANY_LEVEL)

/* What Windows 10 added. */
#define NTOS_LATER_ROUTINES(L)                                                                               \
    L(ntoskrnl, ExAllocatePool2, DISPATCH_LEVEL)                                                             \
    L(ntoskrnl, MmMapIoSpaceEx, DISPATCH_LEVEL)

enum {
#define NTOS_LIMIT(module, name, limit) LIMIT_##name = limit,
    NTOS_ROUTINES(NTOS_LIMIT, NTOS_LIMIT) NTOS_LATER_ROUTINES(NTOS_LIMIT)
#undef NTOS_LIMIT
};

/* The first line of a routine: the kernel that it was called in, `k`, and the check of its limit. */
#define ENTER(name)                                                                                          \
    struct kernel *k = dxgk_kernel_self(#name);                                                              \
    dxgk_kernel_check(k, #name, LIMIT_##name)
#define SELF()  dxgk_kernel_self(__func__)
#define OWNER() ((struct dxgk *)dxgk_kernel_ctx(SELF()))

/* A dispatcher object's waiters are a kwaiters that its WaitListHead points to. */
static inline struct kwaiters *dxgk_ntos_waiters(DISPATCHER_HEADER *h)
{
    return (struct kwaiters *)&h->WaitListHead;
}

/* A LARGE_INTEGER time as a deadline: negative is relative, in 100 ns; absolute times count from this kernel's clock. NULL:
 * LOOP_FOREVER. */
uint64_t dxgk_ntos_deadline(struct kernel *k, const LARGE_INTEGER *t);

/* What the export `name` of `module` ("ntoskrnl.exe", "HAL.dll", in any case) is bound to, or NULL. */
void *dxgk_ntos_export(const char *module, const char *name);
/* The same for a driver that says that it needs a later Windows than 7. */
void *dxgk_ntos_export_later(const char *module, const char *name);
