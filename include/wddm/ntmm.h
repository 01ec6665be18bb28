/* SPDX-License-Identifier: MIT */
/* ntmm.h: a part of ntddk.h, which says whence it comes: lists, pool, lookaside lists, physical memory and MDLs. */
#pragma once

#include "wddm/ntke.h"

WDDM_C_BEGIN

/* ---- lists --------------------------------------------------------------- */

static FORCEINLINE VOID InitializeListHead(PLIST_ENTRY ListHead)
{
    ListHead->Flink = ListHead->Blink = ListHead;
}
#define IsListEmpty(head) ((BOOLEAN)((head)->Flink == (head)))
/* Whether the list is empty now. */
static FORCEINLINE BOOLEAN RemoveEntryList(PLIST_ENTRY Entry)
{
    Entry->Blink->Flink = Entry->Flink;
    Entry->Flink->Blink = Entry->Blink;
    return Entry->Flink == Entry->Blink;
}
static FORCEINLINE PLIST_ENTRY RemoveHeadList(PLIST_ENTRY ListHead)
{
    PLIST_ENTRY e = ListHead->Flink;

    RemoveEntryList(e);
    return e;
}
static FORCEINLINE PLIST_ENTRY RemoveTailList(PLIST_ENTRY ListHead)
{
    PLIST_ENTRY e = ListHead->Blink;

    RemoveEntryList(e);
    return e;
}
static FORCEINLINE VOID InsertHeadList(PLIST_ENTRY ListHead, PLIST_ENTRY Entry)
{
    Entry->Flink = ListHead->Flink;
    Entry->Blink = ListHead;
    ListHead->Flink->Blink = Entry;
    ListHead->Flink = Entry;
}
static FORCEINLINE VOID InsertTailList(PLIST_ENTRY ListHead, PLIST_ENTRY Entry)
{
    InsertHeadList(ListHead->Blink, Entry);
}

/* The same under a spin lock that the routine takes; NULL stands for an empty list. */
NTKERNELAPI LARGE_INTEGER NTAPI ExInterlockedAddLargeInteger(PLARGE_INTEGER Addend, LARGE_INTEGER Increment,
                                                             PKSPIN_LOCK Lock);
NTKERNELAPI ULONG FASTCALL ExInterlockedAddUlong(PULONG Addend, ULONG Increment, PKSPIN_LOCK Lock);
NTKERNELAPI PLIST_ENTRY FASTCALL ExInterlockedInsertHeadList(PLIST_ENTRY ListHead, PLIST_ENTRY ListEntry,
                                                             PKSPIN_LOCK Lock);
NTKERNELAPI PLIST_ENTRY FASTCALL ExInterlockedInsertTailList(PLIST_ENTRY ListHead, PLIST_ENTRY ListEntry,
                                                             PKSPIN_LOCK Lock);
NTKERNELAPI PLIST_ENTRY FASTCALL ExInterlockedRemoveHeadList(PLIST_ENTRY ListHead, PKSPIN_LOCK Lock);

typedef struct DECLSPEC_ALIGN(2 * sizeof(PVOID)) _SLIST_ENTRY {
    struct _SLIST_ENTRY *Next;
} SLIST_ENTRY, *PSLIST_ENTRY;

/* Its contents are the kernel's. */
typedef struct DECLSPEC_ALIGN(2 * sizeof(PVOID)) _SLIST_HEADER {
    ULONG_PTR Alignment;
    ULONG_PTR Region;
} SLIST_HEADER, *PSLIST_HEADER;

NTKERNELAPI VOID NTAPI InitializeSListHead(PSLIST_HEADER SListHead);
NTKERNELAPI USHORT NTAPI ExQueryDepthSList(PSLIST_HEADER SListHead);
NTKERNELAPI PSLIST_ENTRY NTAPI ExpInterlockedPopEntrySList(PSLIST_HEADER ListHead);
NTKERNELAPI PSLIST_ENTRY NTAPI ExpInterlockedPushEntrySList(PSLIST_HEADER ListHead, PSLIST_ENTRY ListEntry);
NTKERNELAPI PSLIST_ENTRY NTAPI ExpInterlockedFlushSList(PSLIST_HEADER ListHead);
#define ExInitializeSListHead(head)                   InitializeSListHead(head)
#define InterlockedPopEntrySList(head)                ExpInterlockedPopEntrySList(head)
#define InterlockedPushEntrySList(head, entry)        ExpInterlockedPushEntrySList(head, entry)
#define ExInterlockedPopEntrySList(head, lock)        ExpInterlockedPopEntrySList(head)
#define ExInterlockedPushEntrySList(head, entry, lck) ExpInterlockedPushEntrySList(head, entry)
#define ExInterlockedFlushSList(head)                 ExpInterlockedFlushSList(head)

/* ---- memory -------------------------------------------------------------- */

typedef enum _POOL_TYPE {
    NonPagedPool = 0,
    PagedPool,
    NonPagedPoolMustSucceed,
    DontUseThisType,
    NonPagedPoolCacheAligned,
    PagedPoolCacheAligned,
    NonPagedPoolCacheAlignedMustS,
    MaxPoolType,
    NonPagedPoolSession = 32,
    PagedPoolSession,
    NonPagedPoolMustSucceedSession,
    DontUseThisTypeSession,
    NonPagedPoolCacheAlignedSession,
    PagedPoolCacheAlignedSession,
    NonPagedPoolCacheAlignedMustSSession,
#if defined(NTDDI_VERSION) && NTDDI_VERSION >= 0x06020000 /* Windows 8 */
    NonPagedPoolNx = 512,
    NonPagedPoolNxCacheAligned = 516,
#endif
} POOL_TYPE;

/* In a POOL_TYPE, beside the type. */
#define POOL_QUOTA_FAIL_INSTEAD_OF_RAISE 8
#define POOL_RAISE_IF_ALLOCATION_FAILURE 16
#define POOL_COLD_ALLOCATION             256

typedef enum _MEMORY_CACHING_TYPE { MmNonCached = 0, MmCached = 1, MmWriteCombined = 2 } MEMORY_CACHING_TYPE;

typedef ULONG_PTR PFN_NUMBER, *PPFN_NUMBER;

#define PAGE_SIZE  0x1000
#define PAGE_SHIFT 12

/* The page numbers follow the header, as the WDK documents for MmGetMdlPfnArray. */
typedef struct _MDL {
    struct _MDL *Next;
    SHORT Size;
    SHORT MdlFlags;
    struct _EPROCESS *Process;
    PVOID MappedSystemVa;
    PVOID StartVa;
    ULONG ByteCount;
    ULONG ByteOffset;
} MDL, *PMDL;

#define MDL_MAPPED_TO_SYSTEM_VA     0x0001
#define MDL_PAGES_LOCKED            0x0002
#define MDL_SOURCE_IS_NONPAGED_POOL 0x0004

#define MmGetMdlPfnArray(mdl)       ((PPFN_NUMBER)((mdl) + 1))
#define MmGetMdlByteCount(mdl)      ((mdl)->ByteCount)
#define MmGetMdlByteOffset(mdl)     ((mdl)->ByteOffset)
#define MmGetMdlVirtualAddress(mdl) ((PVOID)((PCHAR)(mdl)->StartVa + (mdl)->ByteOffset))

NTKERNELAPI PVOID NTAPI ExAllocatePoolWithTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag);
NTKERNELAPI VOID NTAPI ExFreePoolWithTag(PVOID P, ULONG Tag);
NTKERNELAPI VOID NTAPI ExFreePool(PVOID P);
#define ExAllocatePool(type, size) ExAllocatePoolWithTag(type, size, 0x656E6F4E) /* None */
/* Of Windows 10, for drivers that only display: they may be of any later version. The memory is zeroed. */
typedef ULONGLONG POOL_FLAGS;
#define POOL_FLAG_UNINITIALIZED 0x0000000000000002ull
#define POOL_FLAG_NON_PAGED     0x0000000000000040ull
#define POOL_FLAG_PAGED         0x0000000000000100ull
NTKERNELAPI PVOID NTAPI ExAllocatePool2(POOL_FLAGS Flags, SIZE_T NumberOfBytes, ULONG Tag);

typedef PVOID NTAPI ALLOCATE_FUNCTION(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag);
typedef ALLOCATE_FUNCTION *PALLOCATE_FUNCTION;
typedef VOID NTAPI FREE_FUNCTION(PVOID Buffer);
typedef FREE_FUNCTION *PFREE_FUNCTION;

/* Blocks of one size; those that were freed wait here to be allocated again. */
typedef struct DECLSPEC_CACHEALIGN _GENERAL_LOOKASIDE {
    SLIST_HEADER ListHead;
    USHORT Depth, MaximumDepth;
    ULONG TotalAllocates, AllocateMisses, TotalFrees, FreeMisses;
    POOL_TYPE Type;
    ULONG Tag, Size;
    PALLOCATE_FUNCTION Allocate;
    PFREE_FUNCTION Free;
    LIST_ENTRY ListEntry;
    ULONG LastTotalAllocates, LastAllocateMisses;
    ULONG Future[2];
} GENERAL_LOOKASIDE, *PGENERAL_LOOKASIDE;
typedef struct _NPAGED_LOOKASIDE_LIST {
    GENERAL_LOOKASIDE L;
} NPAGED_LOOKASIDE_LIST, *PNPAGED_LOOKASIDE_LIST;
typedef struct _PAGED_LOOKASIDE_LIST {
    GENERAL_LOOKASIDE L;
} PAGED_LOOKASIDE_LIST, *PPAGED_LOOKASIDE_LIST;

/* NULL for the routines: ExAllocatePoolWithTag and ExFreePool. Flags and Depth: 0. */
NTKERNELAPI VOID NTAPI ExInitializeNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside,
                                                       PALLOCATE_FUNCTION Allocate, PFREE_FUNCTION Free,
                                                       ULONG Flags, SIZE_T Size, ULONG Tag, USHORT Depth);
NTKERNELAPI VOID NTAPI ExDeleteNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside);
NTKERNELAPI VOID NTAPI ExInitializePagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside,
                                                      PALLOCATE_FUNCTION Allocate, PFREE_FUNCTION Free,
                                                      ULONG Flags, SIZE_T Size, ULONG Tag, USHORT Depth);
NTKERNELAPI VOID NTAPI ExDeletePagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside);

/* Inline on x64 Windows, too. */
static FORCEINLINE PVOID wddm_lookaside_allocate(PGENERAL_LOOKASIDE list)
{
    PVOID block = ExpInterlockedPopEntrySList(&list->ListHead);

    list->TotalAllocates++;
    if (!block) {
        list->AllocateMisses++;
        block = list->Allocate(list->Type, list->Size, list->Tag);
    }
    return block;
}
static FORCEINLINE VOID wddm_lookaside_free(PGENERAL_LOOKASIDE list, PVOID block)
{
    list->TotalFrees++;
    if (ExQueryDepthSList(&list->ListHead) >= list->Depth) {
        list->FreeMisses++;
        list->Free(block);
    } else {
        ExpInterlockedPushEntrySList(&list->ListHead, (PSLIST_ENTRY)block);
    }
}
#define ExAllocateFromNPagedLookasideList(list)  wddm_lookaside_allocate(&(list)->L)
#define ExFreeToNPagedLookasideList(list, block) wddm_lookaside_free(&(list)->L, block)
#define ExAllocateFromPagedLookasideList(list)   wddm_lookaside_allocate(&(list)->L)
#define ExFreeToPagedLookasideList(list, block)  wddm_lookaside_free(&(list)->L, block)

NTKERNELAPI PVOID NTAPI MmAllocateContiguousMemory(SIZE_T NumberOfBytes,
                                                   PHYSICAL_ADDRESS HighestAcceptableAddress);
NTKERNELAPI PVOID NTAPI MmAllocateContiguousMemorySpecifyCache(SIZE_T NumberOfBytes,
                                                               PHYSICAL_ADDRESS LowestAcceptableAddress,
                                                               PHYSICAL_ADDRESS HighestAcceptableAddress,
                                                               PHYSICAL_ADDRESS BoundaryAddressMultiple,
                                                               MEMORY_CACHING_TYPE CacheType);
NTKERNELAPI VOID NTAPI MmFreeContiguousMemory(PVOID BaseAddress);
NTKERNELAPI VOID NTAPI MmFreeContiguousMemorySpecifyCache(PVOID BaseAddress, SIZE_T NumberOfBytes,
                                                          MEMORY_CACHING_TYPE CacheType);
NTKERNELAPI PHYSICAL_ADDRESS NTAPI MmGetPhysicalAddress(PVOID BaseAddress);
NTKERNELAPI PVOID NTAPI MmGetVirtualForPhysical(PHYSICAL_ADDRESS PhysicalAddress);
NTKERNELAPI PVOID NTAPI MmMapIoSpace(PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes,
                                     MEMORY_CACHING_TYPE CacheType);
/* Of Windows 10; Protect is of PAGE_*. */
NTKERNELAPI PVOID NTAPI MmMapIoSpaceEx(PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes, ULONG Protect);
NTKERNELAPI VOID NTAPI MmUnmapIoSpace(PVOID BaseAddress, SIZE_T NumberOfBytes);
#define MM_USER_PROBE_ADDRESS ((ULONG_PTR)0x00007FFFFFFF0000ull) /* x64: what is below belongs to a process */

/* An MDL describes the pages under a range of virtual memory. Its life: allocated; its pages known (locked, or of nonpaged pool);
 * mapped; and back. */
typedef enum _LOCK_OPERATION { IoReadAccess = 0, IoWriteAccess = 1, IoModifyAccess = 2 } LOCK_OPERATION;
typedef enum _MM_PAGE_PRIORITY {
    LowPagePriority = 0,
    NormalPagePriority = 16,
    HighPagePriority = 32
} MM_PAGE_PRIORITY;
#if defined(NTDDI_VERSION) && NTDDI_VERSION >= 0x06020000 /* Windows 8 */
#define MdlMappingNoWrite   0x80000000
#define MdlMappingNoExecute 0x40000000
#endif

NTKERNELAPI PMDL NTAPI IoAllocateMdl(PVOID VirtualAddress, ULONG Length, BOOLEAN SecondaryBuffer,
                                     BOOLEAN ChargeQuota, PIRP Irp);
NTKERNELAPI VOID NTAPI IoFreeMdl(PMDL Mdl);
NTKERNELAPI VOID NTAPI MmBuildMdlForNonPagedPool(PMDL MemoryDescriptorList);
/* Raises an exception where the memory cannot be accessed so. */
NTKERNELAPI VOID NTAPI MmProbeAndLockPages(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode,
                                           LOCK_OPERATION Operation);
NTKERNELAPI VOID NTAPI MmUnlockPages(PMDL MemoryDescriptorList);
/* Contiguous, in the order of the MDL; NULL: no room for it. */
NTKERNELAPI PVOID NTAPI MmMapLockedPagesSpecifyCache(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode,
                                                     MEMORY_CACHING_TYPE CacheType, PVOID BaseAddress,
                                                     ULONG BugCheckOnFailure, MM_PAGE_PRIORITY Priority);
NTKERNELAPI VOID NTAPI MmUnmapLockedPages(PVOID BaseAddress, PMDL MemoryDescriptorList);
static FORCEINLINE PVOID MmGetSystemAddressForMdlSafe(PMDL Mdl, ULONG Priority)
{
    if (Mdl->MdlFlags & (MDL_MAPPED_TO_SYSTEM_VA | MDL_SOURCE_IS_NONPAGED_POOL))
        return Mdl->MappedSystemVa;
    return MmMapLockedPagesSpecifyCache(Mdl, KernelMode, MmCached, NULL, FALSE, (MM_PAGE_PRIORITY)Priority);
}
#define ADDRESS_AND_SIZE_TO_SPAN_PAGES(va, size)                                                             \
    ((ULONG)((((ULONG_PTR)(va) & (PAGE_SIZE - 1)) + (size) + (PAGE_SIZE - 1)) >> PAGE_SHIFT))
#define BYTE_OFFSET(va)                            ((ULONG)((ULONG_PTR)(va) & (PAGE_SIZE - 1)))
#define PAGE_ALIGN(va)                             ((PVOID)((ULONG_PTR)(va) & ~(ULONG_PTR)(PAGE_SIZE - 1)))
#define BYTES_TO_PAGES(size)                       (((size) >> PAGE_SHIFT) + (((size) & (PAGE_SIZE - 1)) != 0))
#define ROUND_TO_PAGES(size)                       (((ULONG_PTR)(size) + PAGE_SIZE - 1) & ~(ULONG_PTR)(PAGE_SIZE - 1))
#define KeFlushIoBuffers(mdl, read_operation, dma) /* caches are coherent on x86 and x64 */

#define PAGE_READONLY     0x002
#define PAGE_READWRITE    0x004
#define PAGE_NOCACHE      0x200
#define PAGE_WRITECOMBINE 0x400
NTKERNELAPI HANDLE NTAPI MmSecureVirtualMemory(PVOID Address, SIZE_T Size, ULONG ProbeMode);
NTKERNELAPI VOID NTAPI MmUnsecureVirtualMemory(HANDLE SecureHandle);

typedef struct _PHYSICAL_MEMORY_RANGE {
    PHYSICAL_ADDRESS BaseAddress;
    LARGE_INTEGER NumberOfBytes;
} PHYSICAL_MEMORY_RANGE, *PPHYSICAL_MEMORY_RANGE;

/* An array that ends with an entry of zeroes; the caller frees it with ExFreePool. */
NTKERNELAPI PPHYSICAL_MEMORY_RANGE NTAPI MmGetPhysicalMemoryRanges(VOID);

WDDM_SIZE(MDL, 48);
WDDM_SIZE(SLIST_HEADER, 16);
WDDM_SIZE(NPAGED_LOOKASIDE_LIST, 128);
WDDM_SIZE(PAGED_LOOKASIDE_LIST, 128);
WDDM_OFFSET(GENERAL_LOOKASIDE, Allocate, 48);

WDDM_C_END
