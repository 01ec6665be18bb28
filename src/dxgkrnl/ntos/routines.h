/* SPDX-License-Identifier: MIT */
/* routines.h: the kernel routines that a miniport may import, with the module of Windows 7 x64 that exports each and the
 * highest IRQL that it may be called at.
 *
 * From these tables come what a driver's imports are bound to, and the limits that the routines check. Modules: compared with
 * the export list of Windows 7 (tests/wddm/exports.txt). Limits: what the routine's page in the WDK's documentation says; each has its
 * source in tests/wddm/irql.tsv, which a test holds against this table, row by row. Where what is allowed depends on the
 * arguments (a wait that may time out at once, paged pool), the routine itself checks it, and the limit here is the highest.
 * ANY_LEVEL: there is none.
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
    R(ntoskrnl, DbgBreakPoint, ANY_LEVEL)                                                                    \
    R(ntoskrnl, DbgPrint, DIRQL)                                                                             \
    R(ntoskrnl, DbgPrintEx, DIRQL)                                                                           \
    R(ntoskrnl, DbgPrompt, DIRQL)                                                                            \
    R(ntoskrnl, EtwEventEnabled, ANY_LEVEL)                                                                  \
    R(ntoskrnl, EtwProviderEnabled, ANY_LEVEL)                                                               \
    R(ntoskrnl, EtwRegister, PASSIVE_LEVEL)                                                                  \
    R(ntoskrnl, EtwUnregister, PASSIVE_LEVEL)                                                                \
    R(ntoskrnl, EtwWrite, ANY_LEVEL)                                                                         \
    R(ntoskrnl, ExAcquireFastMutex, APC_LEVEL)                                                               \
    R(ntoskrnl, ExAcquireFastMutexUnsafe, APC_LEVEL)                                                         \
    R(ntoskrnl, ExAcquireResourceExclusiveLite, APC_LEVEL)                                                   \
    R(ntoskrnl, ExAcquireResourceSharedLite, APC_LEVEL)                                                      \
    R(ntoskrnl, ExAcquireRundownProtection, DISPATCH_LEVEL)                                                  \
    R(ntoskrnl, ExAcquireSharedStarveExclusive, APC_LEVEL)                                                   \
    R(ntoskrnl, ExAcquireSharedWaitForExclusive, APC_LEVEL)                                                  \
    R(ntoskrnl, ExAllocatePoolWithQuotaTag, DISPATCH_LEVEL)                                                  \
    R(ntoskrnl, ExAllocatePoolWithTag, DISPATCH_LEVEL)                                                       \
    R(ntoskrnl, ExAllocatePoolWithTagPriority, DISPATCH_LEVEL)                                               \
    R(ntoskrnl, ExConvertExclusiveToSharedLite, APC_LEVEL)                                                   \
    R(ntoskrnl, ExDeleteNPagedLookasideList, DISPATCH_LEVEL)                                                 \
    R(ntoskrnl, ExDeletePagedLookasideList, APC_LEVEL)                                                       \
    R(ntoskrnl, ExDeleteResourceLite, APC_LEVEL)                                                             \
    R(ntoskrnl, ExFreePool, DISPATCH_LEVEL)                                                                  \
    R(ntoskrnl, ExFreePoolWithTag, DISPATCH_LEVEL)                                                           \
    R(ntoskrnl, ExGetPreviousMode, DISPATCH_LEVEL)                                                           \
    R(ntoskrnl, ExInitializeNPagedLookasideList, DISPATCH_LEVEL)                                             \
    R(ntoskrnl, ExInitializePagedLookasideList, APC_LEVEL)                                                   \
    R(ntoskrnl, ExInitializeResourceLite, DISPATCH_LEVEL)                                                    \
    R(ntoskrnl, ExInitializeRundownProtection, APC_LEVEL)                                                    \
    R(ntoskrnl, ExInterlockedAddLargeInteger, ANY_LEVEL)                                                     \
    R(ntoskrnl, ExInterlockedAddUlong, ANY_LEVEL)                                                            \
    R(ntoskrnl, ExInterlockedInsertHeadList, ANY_LEVEL)                                                      \
    R(ntoskrnl, ExInterlockedInsertTailList, ANY_LEVEL)                                                      \
    R(ntoskrnl, ExInterlockedPopEntryList, ANY_LEVEL)                                                        \
    R(ntoskrnl, ExInterlockedPushEntryList, ANY_LEVEL)                                                       \
    R(ntoskrnl, ExInterlockedRemoveHeadList, ANY_LEVEL)                                                      \
    R(ntoskrnl, ExIsResourceAcquiredExclusiveLite, DISPATCH_LEVEL)                                           \
    R(ntoskrnl, ExIsResourceAcquiredSharedLite, DISPATCH_LEVEL)                                              \
    R(ntoskrnl, ExLocalTimeToSystemTime, ANY_LEVEL)                                                          \
    R(ntoskrnl, ExpInterlockedFlushSList, ANY_LEVEL)                                                         \
    R(ntoskrnl, ExpInterlockedPopEntrySList, ANY_LEVEL)                                                      \
    R(ntoskrnl, ExpInterlockedPushEntrySList, ANY_LEVEL)                                                     \
    R(ntoskrnl, ExQueryDepthSList, DISPATCH_LEVEL)                                                           \
    R(ntoskrnl, ExQueueWorkItem, DISPATCH_LEVEL)                                                             \
    R(ntoskrnl, ExRaiseStatus, APC_LEVEL)                                                                    \
    R(ntoskrnl, ExReinitializeResourceLite, DISPATCH_LEVEL)                                                  \
    R(ntoskrnl, ExReInitializeRundownProtection, APC_LEVEL)                                                  \
    R(ntoskrnl, ExReleaseFastMutex, APC_LEVEL)                                                               \
    R(ntoskrnl, ExReleaseFastMutexUnsafe, APC_LEVEL)                                                         \
    R(ntoskrnl, ExReleaseResourceLite, DISPATCH_LEVEL)                                                       \
    R(ntoskrnl, ExReleaseRundownProtection, DISPATCH_LEVEL)                                                  \
    R(ntoskrnl, ExRundownCompleted, APC_LEVEL)                                                               \
    R(ntoskrnl, ExSystemTimeToLocalTime, ANY_LEVEL)                                                          \
    R(ntoskrnl, ExTryToAcquireFastMutex, APC_LEVEL)                                                          \
    R(ntoskrnl, ExUuidCreate, PASSIVE_LEVEL)                                                                 \
    R(ntoskrnl, ExWaitForRundownProtectionRelease, APC_LEVEL)                                                \
    R(ntoskrnl, InitializeSListHead, ANY_LEVEL)                                                              \
    R(ntoskrnl, IoAllocateIrp, DISPATCH_LEVEL)                                                               \
    R(ntoskrnl, IoAllocateMdl, DISPATCH_LEVEL)                                                               \
    R(ntoskrnl, IoAllocateWorkItem, DISPATCH_LEVEL)                                                          \
    R(ntoskrnl, IoBuildDeviceIoControlRequest, APC_LEVEL)                                                    \
    R(ntoskrnl, IoBuildSynchronousFsdRequest, APC_LEVEL)                                                     \
    R(ntoskrnl, IoFreeIrp, DISPATCH_LEVEL)                                                                   \
    R(ntoskrnl, IoGetDmaAdapter, PASSIVE_LEVEL)                                                              \
    R(ntoskrnl, IoGetRelatedDeviceObject, DISPATCH_LEVEL)                                                    \
    R(ntoskrnl, IofCallDriver, DISPATCH_LEVEL)                                                               \
    R(ntoskrnl, IoFreeMdl, DISPATCH_LEVEL)                                                                   \
    R(ntoskrnl, IoFreeWorkItem, DISPATCH_LEVEL)                                                              \
    R(ntoskrnl, IoGetDeviceObjectPointer, PASSIVE_LEVEL)                                                     \
    R(ntoskrnl, IoGetDeviceProperty, PASSIVE_LEVEL)                                                          \
    R(ntoskrnl, IoInitializeIrp, DISPATCH_LEVEL)                                                             \
    R(ntoskrnl, IoOpenDeviceRegistryKey, PASSIVE_LEVEL)                                                      \
    R(ntoskrnl, IoQueueWorkItem, DISPATCH_LEVEL)                                                             \
    R(ntoskrnl, IoReuseIrp, DISPATCH_LEVEL)                                                                  \
    R(ntoskrnl, KdRefreshDebuggerNotPresent, ANY_LEVEL)                                                      \
    R(ntoskrnl, KeAcquireGuardedMutex, APC_LEVEL)                                                            \
    R(ntoskrnl, KeAcquireGuardedMutexUnsafe, APC_LEVEL)                                                      \
    R(ntoskrnl, KeAcquireInStackQueuedSpinLock, DISPATCH_LEVEL)                                              \
    R(ntoskrnl, KeAcquireInStackQueuedSpinLockAtDpcLevel, ANY_LEVEL)                                         \
    R(ntoskrnl, KeAcquireSpinLockAtDpcLevel, ANY_LEVEL)                                                      \
    R(ntoskrnl, KeAcquireSpinLockRaiseToDpc, DISPATCH_LEVEL)                                                 \
    R(ntoskrnl, KeAreAllApcsDisabled, DISPATCH_LEVEL)                                                        \
    R(ntoskrnl, KeAreApcsDisabled, DISPATCH_LEVEL)                                                           \
    R(ntoskrnl, KeBugCheck, ANY_LEVEL)                                                                       \
    R(ntoskrnl, KeBugCheckEx, ANY_LEVEL)                                                                     \
    R(ntoskrnl, KeCancelTimer, DISPATCH_LEVEL)                                                               \
    R(ntoskrnl, KeClearEvent, DISPATCH_LEVEL)                                                                \
    R(ntoskrnl, KeDelayExecutionThread, APC_LEVEL)                                                           \
    R(ntoskrnl, KeDeregisterBugCheckCallback, ANY_LEVEL)                                                     \
    R(ntoskrnl, KeDeregisterBugCheckReasonCallback, ANY_LEVEL)                                               \
    R(ntoskrnl, KeEnterCriticalRegion, APC_LEVEL)                                                            \
    R(ntoskrnl, KeEnterGuardedRegion, APC_LEVEL)                                                             \
    R(ntoskrnl, KeFlushQueuedDpcs, PASSIVE_LEVEL)                                                            \
    R(ntoskrnl, KeGetCurrentProcessorNumberEx, ANY_LEVEL)                                                    \
    R(ntoskrnl, KeGetRecommendedSharedDataAlignment, ANY_LEVEL)                                              \
    R(ntoskrnl, KeInitializeDpc, ANY_LEVEL)                                                                  \
    R(ntoskrnl, KeInitializeEvent, ANY_LEVEL)                                                                \
    R(ntoskrnl, KeInitializeGuardedMutex, APC_LEVEL)                                                         \
    R(ntoskrnl, KeInitializeMutex, ANY_LEVEL)                                                                \
    R(ntoskrnl, KeInitializeSemaphore, DISPATCH_LEVEL)                                                       \
    R(ntoskrnl, KeInitializeThreadedDpc, ANY_LEVEL)                                                          \
    R(ntoskrnl, KeInitializeTimer, DISPATCH_LEVEL)                                                           \
    R(ntoskrnl, KeInitializeTimerEx, DISPATCH_LEVEL)                                                         \
    R(ntoskrnl, KeInsertQueueDpc, ANY_LEVEL)                                                                 \
    R(ntoskrnl, KeInvalidateAllCaches, DISPATCH_LEVEL)                                                       \
    R(ntoskrnl, KeLeaveCriticalRegion, APC_LEVEL)                                                            \
    R(ntoskrnl, KeLeaveGuardedRegion, APC_LEVEL)                                                             \
    R(ntoskrnl, KePulseEvent, DISPATCH_LEVEL)                                                                \
    R(ntoskrnl, KeQueryActiveGroupCount, ANY_LEVEL)                                                          \
    R(ntoskrnl, KeQueryActiveProcessorCount, ANY_LEVEL)                                                      \
    R(ntoskrnl, KeQueryActiveProcessorCountEx, ANY_LEVEL)                                                    \
    R(ntoskrnl, KeQueryActiveProcessors, ANY_LEVEL)                                                          \
    R(ntoskrnl, KeQueryMaximumProcessorCount, ANY_LEVEL)                                                     \
    R(ntoskrnl, KeQueryPriorityThread, PASSIVE_LEVEL)                                                        \
    R(ntoskrnl, KeQueryTimeIncrement, ANY_LEVEL)                                                             \
    R(ntoskrnl, KeReadStateEvent, DISPATCH_LEVEL)                                                            \
    R(ntoskrnl, KeReadStateMutex, DISPATCH_LEVEL)                                                            \
    R(ntoskrnl, KeReadStateSemaphore, ANY_LEVEL)                                                             \
    R(ntoskrnl, KeReadStateTimer, DISPATCH_LEVEL)                                                            \
    R(ntoskrnl, KeRegisterBugCheckCallback, ANY_LEVEL)                                                       \
    R(ntoskrnl, KeRegisterBugCheckReasonCallback, ANY_LEVEL)                                                 \
    R(ntoskrnl, KeReleaseGuardedMutex, APC_LEVEL)                                                            \
    R(ntoskrnl, KeReleaseGuardedMutexUnsafe, APC_LEVEL)                                                      \
    R(ntoskrnl, KeReleaseInStackQueuedSpinLock, DISPATCH_LEVEL)                                              \
    R(ntoskrnl, KeReleaseInStackQueuedSpinLockFromDpcLevel, ANY_LEVEL)                                       \
    R(ntoskrnl, KeReleaseMutex, DISPATCH_LEVEL)                                                              \
    R(ntoskrnl, KeReleaseSemaphore, DISPATCH_LEVEL)                                                          \
    R(ntoskrnl, KeReleaseSpinLock, DISPATCH_LEVEL)                                                           \
    R(ntoskrnl, KeReleaseSpinLockFromDpcLevel, ANY_LEVEL)                                                    \
    R(ntoskrnl, KeRemoveQueueDpc, ANY_LEVEL)                                                                 \
    R(ntoskrnl, KeResetEvent, DISPATCH_LEVEL)                                                                \
    R(ntoskrnl, KeRevertToUserAffinityThread, DISPATCH_LEVEL)                                                \
    R(ntoskrnl, KeSetCoalescableTimer, DISPATCH_LEVEL)                                                       \
    R(ntoskrnl, KeSetEvent, DISPATCH_LEVEL)                                                                  \
    R(ntoskrnl, KeSetImportanceDpc, ANY_LEVEL)                                                               \
    R(ntoskrnl, KeSetPriorityThread, PASSIVE_LEVEL)                                                          \
    R(ntoskrnl, KeSetSystemAffinityThread, DISPATCH_LEVEL)                                                   \
    R(ntoskrnl, KeSetTargetProcessorDpc, ANY_LEVEL)                                                          \
    R(ntoskrnl, KeSetTimer, DISPATCH_LEVEL)                                                                  \
    R(ntoskrnl, KeSetTimerEx, DISPATCH_LEVEL)                                                                \
    R(ntoskrnl, KeTestSpinLock, ANY_LEVEL)                                                                   \
    R(ntoskrnl, KeTryToAcquireGuardedMutex, APC_LEVEL)                                                       \
    R(ntoskrnl, KeTryToAcquireSpinLockAtDpcLevel, DISPATCH_LEVEL)                                            \
    R(ntoskrnl, KeWaitForMultipleObjects, DISPATCH_LEVEL)                                                    \
    R(ntoskrnl, KeWaitForSingleObject, DISPATCH_LEVEL)                                                       \
    R(ntoskrnl, MmAllocateContiguousMemory, DISPATCH_LEVEL)                                                  \
    R(ntoskrnl, MmAllocateContiguousMemorySpecifyCache, DISPATCH_LEVEL)                                      \
    R(ntoskrnl, MmAllocateNonCachedMemory, APC_LEVEL)                                                        \
    R(ntoskrnl, MmAllocatePagesForMdl, DISPATCH_LEVEL)                                                       \
    R(ntoskrnl, MmAllocatePagesForMdlEx, DISPATCH_LEVEL)                                                     \
    R(ntoskrnl, MmBuildMdlForNonPagedPool, DISPATCH_LEVEL)                                                   \
    R(ntoskrnl, MmFreeContiguousMemory, DISPATCH_LEVEL)                                                      \
    R(ntoskrnl, MmFreeContiguousMemorySpecifyCache, DISPATCH_LEVEL)                                          \
    R(ntoskrnl, MmFreeNonCachedMemory, APC_LEVEL)                                                            \
    R(ntoskrnl, MmFreePagesFromMdl, DISPATCH_LEVEL)                                                          \
    R(ntoskrnl, MmGetPhysicalAddress, ANY_LEVEL)                                                             \
    R(ntoskrnl, MmGetPhysicalMemoryRanges, PASSIVE_LEVEL)                                                    \
    R(ntoskrnl, MmGetSystemRoutineAddress, PASSIVE_LEVEL)                                                    \
    R(ntoskrnl, MmGetVirtualForPhysical, ANY_LEVEL)                                                          \
    R(ntoskrnl, MmIsAddressValid, DISPATCH_LEVEL)                                                            \
    R(ntoskrnl, MmIsDriverVerifying, APC_LEVEL)                                                              \
    R(ntoskrnl, MmLockPagableDataSection, APC_LEVEL)                                                         \
    R(ntoskrnl, MmMapIoSpace, DISPATCH_LEVEL)                                                                \
    R(ntoskrnl, MmMapLockedPages, DISPATCH_LEVEL)                                                            \
    R(ntoskrnl, MmMapLockedPagesSpecifyCache, DISPATCH_LEVEL)                                                \
    R(ntoskrnl, MmProbeAndLockPages, DISPATCH_LEVEL)                                                         \
    R(ntoskrnl, MmQuerySystemSize, ANY_LEVEL)                                                                \
    R(ntoskrnl, MmSecureVirtualMemory, APC_LEVEL)                                                            \
    R(ntoskrnl, MmUnlockPagableImageSection, APC_LEVEL)                                                      \
    R(ntoskrnl, MmUnlockPages, DISPATCH_LEVEL)                                                               \
    R(ntoskrnl, MmUnmapIoSpace, DISPATCH_LEVEL)                                                              \
    R(ntoskrnl, MmUnmapLockedPages, DISPATCH_LEVEL)                                                          \
    R(ntoskrnl, MmUnsecureVirtualMemory, APC_LEVEL)                                                          \
    R(ntoskrnl, ObfDereferenceObject, DISPATCH_LEVEL)                                                        \
    R(ntoskrnl, ObfDereferenceObjectWithTag, DISPATCH_LEVEL)                                                 \
    R(ntoskrnl, ObfReferenceObject, DISPATCH_LEVEL)                                                          \
    R(ntoskrnl, ObReferenceObjectByHandle, PASSIVE_LEVEL)                                                    \
    R(ntoskrnl, ObReferenceObjectByHandleWithTag, PASSIVE_LEVEL)                                             \
    R(ntoskrnl, ProbeForRead, APC_LEVEL)                                                                     \
    R(ntoskrnl, ProbeForWrite, APC_LEVEL)                                                                    \
    R(ntoskrnl, PsCreateSystemThread, PASSIVE_LEVEL)                                                         \
    R(ntoskrnl, PsDereferencePrimaryToken, APC_LEVEL)                                                        \
    R(ntoskrnl, PsGetCurrentProcess, ANY_LEVEL)                                                              \
    R(ntoskrnl, PsGetCurrentProcessId, ANY_LEVEL)                                                            \
    R(ntoskrnl, PsGetCurrentProcessSessionId, ANY_LEVEL)                                                     \
    R(ntoskrnl, PsGetCurrentThread, ANY_LEVEL)                                                               \
    R(ntoskrnl, PsGetCurrentThreadId, ANY_LEVEL)                                                             \
    R(ntoskrnl, PsGetProcessId, ANY_LEVEL)                                                                   \
    R(ntoskrnl, PsGetVersion, PASSIVE_LEVEL)                                                                 \
    R(ntoskrnl, PsReferencePrimaryToken, PASSIVE_LEVEL)                                                      \
    R(ntoskrnl, PsTerminateSystemThread, PASSIVE_LEVEL)                                                      \
    R(ntoskrnl, RtlAnsiStringToUnicodeString, PASSIVE_LEVEL)                                                 \
    R(ntoskrnl, RtlAppendUnicodeStringToString, ANY_LEVEL)                                                   \
    R(ntoskrnl, RtlAppendUnicodeToString, ANY_LEVEL)                                                         \
    R(ntoskrnl, RtlAreBitsClear, ANY_LEVEL)                                                                  \
    R(ntoskrnl, RtlAreBitsSet, ANY_LEVEL)                                                                    \
    R(ntoskrnl, RtlAssert, ANY_LEVEL)                                                                        \
    R(ntoskrnl, RtlCharToInteger, PASSIVE_LEVEL)                                                             \
    R(ntoskrnl, RtlCheckRegistryKey, PASSIVE_LEVEL)                                                          \
    R(ntoskrnl, RtlClearAllBits, ANY_LEVEL)                                                                  \
    R(ntoskrnl, RtlClearBits, ANY_LEVEL)                                                                     \
    R(ntoskrnl, RtlCompareMemory, ANY_LEVEL)                                                                 \
    R(ntoskrnl, RtlCompareString, PASSIVE_LEVEL)                                                             \
    R(ntoskrnl, RtlCompareUnicodeString, PASSIVE_LEVEL)                                                      \
    R(ntoskrnl, RtlCopyUnicodeString, ANY_LEVEL)                                                             \
    R(ntoskrnl, RtlCreateRegistryKey, PASSIVE_LEVEL)                                                         \
    R(ntoskrnl, RtlDeleteRegistryValue, PASSIVE_LEVEL)                                                       \
    R(ntoskrnl, RtlDowncaseUnicodeString, APC_LEVEL)                                                         \
    R(ntoskrnl, RtlEqualString, PASSIVE_LEVEL)                                                               \
    R(ntoskrnl, RtlEqualUnicodeString, PASSIVE_LEVEL)                                                        \
    R(ntoskrnl, RtlFindClearBits, ANY_LEVEL)                                                                 \
    R(ntoskrnl, RtlFindClearBitsAndSet, ANY_LEVEL)                                                           \
    R(ntoskrnl, RtlFreeAnsiString, APC_LEVEL)                                                                \
    R(ntoskrnl, RtlFreeUnicodeString, APC_LEVEL)                                                             \
    R(ntoskrnl, RtlGetVersion, PASSIVE_LEVEL)                                                                \
    R(ntoskrnl, RtlGUIDFromString, PASSIVE_LEVEL)                                                            \
    R(ntoskrnl, RtlInitAnsiString, ANY_LEVEL)                                                                \
    R(ntoskrnl, RtlInitializeBitMap, APC_LEVEL)                                                              \
    R(ntoskrnl, RtlInitString, DISPATCH_LEVEL)                                                               \
    R(ntoskrnl, RtlInitUnicodeString, DISPATCH_LEVEL)                                                        \
    R(ntoskrnl, RtlInt64ToUnicodeString, PASSIVE_LEVEL)                                                      \
    R(ntoskrnl, RtlIntegerToUnicodeString, PASSIVE_LEVEL)                                                    \
    R(ntoskrnl, RtlNumberOfSetBits, ANY_LEVEL)                                                               \
    R(ntoskrnl, RtlPrefixUnicodeString, PASSIVE_LEVEL)                                                       \
    R(ntoskrnl, RtlQueryRegistryValues, PASSIVE_LEVEL)                                                       \
    R(ntoskrnl, RtlSetAllBits, ANY_LEVEL)                                                                    \
    R(ntoskrnl, RtlSetBits, ANY_LEVEL)                                                                       \
    R(ntoskrnl, RtlStringFromGUID, PASSIVE_LEVEL)                                                            \
    R(ntoskrnl, RtlTestBit, ANY_LEVEL)                                                                       \
    R(ntoskrnl, RtlTimeFieldsToTime, ANY_LEVEL)                                                              \
    R(ntoskrnl, RtlTimeToTimeFields, ANY_LEVEL)                                                              \
    R(ntoskrnl, RtlUnicodeStringToAnsiString, PASSIVE_LEVEL)                                                 \
    R(ntoskrnl, RtlUnicodeStringToInteger, PASSIVE_LEVEL)                                                    \
    R(ntoskrnl, RtlUpcaseUnicodeChar, APC_LEVEL)                                                             \
    R(ntoskrnl, RtlUpcaseUnicodeString, APC_LEVEL)                                                           \
    R(ntoskrnl, RtlWriteRegistryValue, PASSIVE_LEVEL)                                                        \
    R(ntoskrnl, SeSinglePrivilegeCheck, PASSIVE_LEVEL)                                                       \
    R(ntoskrnl, SeTokenIsAdmin, PASSIVE_LEVEL)                                                               \
    R(ntoskrnl, vDbgPrintEx, DIRQL)                                                                          \
    R(ntoskrnl, ZwClose, PASSIVE_LEVEL)                                                                      \
    R(ntoskrnl, ZwCreateFile, PASSIVE_LEVEL)                                                                 \
    R(ntoskrnl, ZwCreateKey, PASSIVE_LEVEL)                                                                  \
    R(ntoskrnl, ZwDeleteValueKey, PASSIVE_LEVEL)                                                             \
    R(ntoskrnl, ZwEnumerateKey, PASSIVE_LEVEL)                                                               \
    R(ntoskrnl, ZwFlushKey, PASSIVE_LEVEL)                                                                   \
    R(ntoskrnl, ZwLoadDriver, PASSIVE_LEVEL)                                                                 \
    R(ntoskrnl, ZwOpenFile, PASSIVE_LEVEL)                                                                   \
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
    C(ntoskrnl, memset, ANY_LEVEL)                                                                           \
    C(ntoskrnl, _purecall, ANY_LEVEL)                                                                        \
    C(ntoskrnl, _snprintf, ANY_LEVEL)                                                                        \
    C(ntoskrnl, _snwprintf, ANY_LEVEL)                                                                       \
    C(ntoskrnl, sprintf, ANY_LEVEL)                                                                          \
    C(ntoskrnl, strcat, ANY_LEVEL)                                                                           \
    C(ntoskrnl, strchr, ANY_LEVEL)                                                                           \
    C(ntoskrnl, strcmp, ANY_LEVEL)                                                                           \
    C(ntoskrnl, strcpy, ANY_LEVEL)                                                                           \
    C(ntoskrnl, _stricmp, ANY_LEVEL)                                                                         \
    C(ntoskrnl, strlen, ANY_LEVEL)                                                                           \
    C(ntoskrnl, strncmp, ANY_LEVEL)                                                                          \
    C(ntoskrnl, strncpy, ANY_LEVEL)                                                                          \
    C(ntoskrnl, _strnicmp, ANY_LEVEL)                                                                        \
    C(ntoskrnl, strrchr, ANY_LEVEL)                                                                          \
    C(ntoskrnl, strstr, ANY_LEVEL)                                                                           \
    C(ntoskrnl, swprintf, ANY_LEVEL)                                                                         \
    C(ntoskrnl, tolower, ANY_LEVEL)                                                                          \
    C(ntoskrnl, toupper, ANY_LEVEL)                                                                          \
    C(ntoskrnl, _vsnprintf, ANY_LEVEL)                                                                       \
    C(ntoskrnl, _vsnwprintf, ANY_LEVEL)                                                                      \
    C(ntoskrnl, wcscat, ANY_LEVEL)                                                                           \
    C(ntoskrnl, wcschr, ANY_LEVEL)                                                                           \
    C(ntoskrnl, wcscmp, ANY_LEVEL)                                                                           \
    C(ntoskrnl, wcscpy, ANY_LEVEL)                                                                           \
    C(ntoskrnl, _wcsicmp, ANY_LEVEL)                                                                         \
    C(ntoskrnl, wcslen, ANY_LEVEL)                                                                           \
    C(ntoskrnl, wcsncmp, ANY_LEVEL)                                                                          \
    C(ntoskrnl, wcsncpy, ANY_LEVEL)                                                                          \
    C(ntoskrnl, _wcsnicmp, ANY_LEVEL)                                                                        \
    C(ntoskrnl, wcsstr, ANY_LEVEL)

/* Variables of the kernel's; the list of exports has routines only. V(module, name) */
#define NTOS_VARIABLES(V)                                                                                    \
    V(ntoskrnl, ExEventObjectType)                                                                           \
    V(ntoskrnl, ExSemaphoreObjectType)                                                                       \
    V(ntoskrnl, IoFileObjectType)                                                                            \
    V(ntoskrnl, KdDebuggerEnabled)                                                                           \
    V(ntoskrnl, KdDebuggerNotPresent)                                                                        \
    V(ntoskrnl, MmSectionObjectType)                                                                         \
    V(ntoskrnl, PsProcessType)                                                                               \
    V(ntoskrnl, PsThreadType)                                                                                \
    V(ntoskrnl, SeTokenObjectType)

/* What later ones added. */
#define NTOS_LATER_ROUTINES(L)                                                                               \
    L(ntoskrnl, ExAllocatePool2, DISPATCH_LEVEL)                                                             \
    L(ntoskrnl, KeInitializeSpinLock, ANY_LEVEL)                                                             \
    L(ntoskrnl, MmMapIoSpaceEx, DISPATCH_LEVEL)

/* Not imported but handed out, in DXGKRNL_INTERFACE. B(name, limit) */
#define NTOS_CALLBACKS(B)                                                                                    \
    B(DxgkCbAcquirePostDisplayOwnership, APC_LEVEL)                                                          \
    B(DxgkCbEnumHandleChildren, PASSIVE_LEVEL)                                                               \
    B(DxgkCbEvalAcpiMethod, PASSIVE_LEVEL)                                                                   \
    B(DxgkCbExcludeAdapterAccess, PASSIVE_LEVEL)                                                             \
    B(DxgkCbGetCaptureAddress, PASSIVE_LEVEL)                                                                \
    B(DxgkCbGetDeviceInformation, PASSIVE_LEVEL)                                                             \
    B(DxgkCbGetHandleData, APC_LEVEL)                                                                        \
    B(DxgkCbGetHandleParent, APC_LEVEL)                                                                      \
    B(DxgkCbIndicateChildStatus, DISPATCH_LEVEL)                                                             \
    B(DxgkCbIsDevicePresent, PASSIVE_LEVEL)                                                                  \
    B(DxgkCbLogEtwEvent, ANY_LEVEL)                                                                          \
    B(DxgkCbMapMemory, PASSIVE_LEVEL)                                                                        \
    B(DxgkCbNotifyDpc, DISPATCH_LEVEL)                                                                       \
    B(DxgkCbNotifyInterrupt, DIRQL)                                                                          \
    B(DxgkCbQueryMonitorInterface, APC_LEVEL)                                                                \
    B(DxgkCbQueryServices, PASSIVE_LEVEL)                                                                    \
    B(DxgkCbQueryVidPnInterface, APC_LEVEL)                                                                  \
    B(DxgkCbQueueDpc, ANY_LEVEL)                                                                             \
    B(DxgkCbReadDeviceSpace, PASSIVE_LEVEL)                                                                  \
    B(DxgkCbSynchronizeExecution, DISPATCH_LEVEL)                                                            \
    B(DxgkCbUnmapMemory, PASSIVE_LEVEL)                                                                      \
    B(DxgkCbWriteDeviceSpace, PASSIVE_LEVEL)

enum {
#define NTOS_LIMIT(module, name, limit)  LIMIT_##name = limit,
#define NTOS_CALLBACK_LIMIT(name, limit) LIMIT_##name = limit,
    NTOS_ROUTINES(NTOS_LIMIT, NTOS_LIMIT) NTOS_LATER_ROUTINES(NTOS_LIMIT) NTOS_CALLBACKS(NTOS_CALLBACK_LIMIT)
#undef NTOS_LIMIT
#undef NTOS_CALLBACK_LIMIT
};

/* The first line of a routine: the kernel that it was called in, `k`, and the check of its limit. */
#define ENTER(name)                                                                                          \
    struct kernel *k = dxgk_kernel_self(#name);                                                              \
    dxgk_kernel_check(k, #name, LIMIT_##name)
/* The check alone, true if it may be called: of one that another routine does, whose limit is higher. */
#define CHECK(name) dxgk_kernel_check(dxgk_kernel_self(#name), #name, LIMIT_##name)
#define SELF()      dxgk_kernel_self(__func__)
#define OWNER()     ((struct dxgk *)dxgk_kernel_ctx(SELF()))

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
/* The export that begins there; NULL: none. */
const char *dxgk_ntos_export_name(const void *start);
/* The same as dxgk_ntos_export for a driver that says that it needs a later Windows than 7. */
void *dxgk_ntos_export_later(const char *module, const char *name);
