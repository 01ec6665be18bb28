/* SPDX-License-Identifier: MIT */
/* lists.c: lists that any IRQL may touch, and lookaside lists, which are made of them. There is one processor, and nothing here is
 * interrupted, so that nothing here is atomic. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

enum { LOOKASIDE_DEPTH = 4 }; /* what Windows begins with */

/* ---- lists under a spin lock --------------------------------------------- */

/* Its holder was interrupted: on a real processor the caller spins for ever. */
static void check_free(const char *routine, const KSPIN_LOCK *lock)
{
    if (*lock)
        dxgk_kernel_violation(SELF(), "%s of a spin lock that is held: a deadlock", routine);
}

LARGE_INTEGER NTAPI ExInterlockedAddLargeInteger(PLARGE_INTEGER Addend, LARGE_INTEGER Increment,
                                                 PKSPIN_LOCK Lock)
{
    LARGE_INTEGER old = *Addend;

    check_free("ExInterlockedAddLargeInteger", Lock);
    Addend->QuadPart = (LONGLONG)((ULONGLONG)old.QuadPart + (ULONGLONG)Increment.QuadPart);
    return old;
}

ULONG NTAPI ExInterlockedAddUlong(PULONG Addend, ULONG Increment, PKSPIN_LOCK Lock)
{
    ULONG old = *Addend;

    check_free("ExInterlockedAddUlong", Lock);
    *Addend += Increment;
    return old;
}

PLIST_ENTRY NTAPI ExInterlockedInsertHeadList(PLIST_ENTRY ListHead, PLIST_ENTRY ListEntry, PKSPIN_LOCK Lock)
{
    PLIST_ENTRY first = ListHead->Flink;

    check_free("ExInterlockedInsertHeadList", Lock);
    InsertHeadList(ListHead, ListEntry);
    return first == ListHead ? NULL : first;
}

PLIST_ENTRY NTAPI ExInterlockedInsertTailList(PLIST_ENTRY ListHead, PLIST_ENTRY ListEntry, PKSPIN_LOCK Lock)
{
    PLIST_ENTRY last = ListHead->Blink;

    check_free("ExInterlockedInsertTailList", Lock);
    InsertTailList(ListHead, ListEntry);
    return last == ListHead ? NULL : last;
}

PLIST_ENTRY NTAPI ExInterlockedRemoveHeadList(PLIST_ENTRY ListHead, PKSPIN_LOCK Lock)
{
    check_free("ExInterlockedRemoveHeadList", Lock);
    return IsListEmpty(ListHead) ? NULL : RemoveHeadList(ListHead);
}

PSINGLE_LIST_ENTRY NTAPI ExInterlockedPopEntryList(PSINGLE_LIST_ENTRY ListHead, PKSPIN_LOCK Lock)
{
    PSINGLE_LIST_ENTRY first = ListHead->Next;

    check_free("ExInterlockedPopEntryList", Lock);
    if (first)
        ListHead->Next = first->Next;
    return first;
}

PSINGLE_LIST_ENTRY NTAPI ExInterlockedPushEntryList(PSINGLE_LIST_ENTRY ListHead, PSINGLE_LIST_ENTRY ListEntry,
                                                    PKSPIN_LOCK Lock)
{
    PSINGLE_LIST_ENTRY first = ListHead->Next;

    check_free("ExInterlockedPushEntryList", Lock);
    ListEntry->Next = first;
    ListHead->Next = ListEntry;
    return first;
}

/* ---- lists without a lock: Region is the first entry, Alignment their number --- */

VOID NTAPI InitializeSListHead(PSLIST_HEADER SListHead)
{
    *SListHead = (SLIST_HEADER){0};
}

USHORT NTAPI ExQueryDepthSList(PSLIST_HEADER SListHead)
{
    CHECK(ExQueryDepthSList);
    return (USHORT)SListHead->Alignment;
}

PSLIST_ENTRY NTAPI ExpInterlockedPushEntrySList(PSLIST_HEADER ListHead, PSLIST_ENTRY ListEntry)
{
    PSLIST_ENTRY first = (PSLIST_ENTRY)ListHead->Region;

    ListEntry->Next = first;
    ListHead->Region = (ULONG_PTR)ListEntry;
    ListHead->Alignment++;
    return first;
}

PSLIST_ENTRY NTAPI ExpInterlockedPopEntrySList(PSLIST_HEADER ListHead)
{
    PSLIST_ENTRY first = (PSLIST_ENTRY)ListHead->Region;

    if (first) {
        ListHead->Region = (ULONG_PTR)first->Next;
        ListHead->Alignment--;
    }
    return first;
}

PSLIST_ENTRY NTAPI ExpInterlockedFlushSList(PSLIST_HEADER ListHead)
{
    PSLIST_ENTRY first = (PSLIST_ENTRY)ListHead->Region;

    InitializeSListHead(ListHead);
    return first;
}

/* ---- lookaside lists ----------------------------------------------------- */

static void initialize(const char *routine, PGENERAL_LOOKASIDE list, POOL_TYPE type,
                       PALLOCATE_FUNCTION allocate, PFREE_FUNCTION release, SIZE_T size, ULONG tag)
{
    dxgk_ntos_initialised(routine, type == PagedPool ? KNOWN_PAGED_LOOKASIDE : KNOWN_LOOKASIDE, list,
                          sizeof(*list));
    *list = (GENERAL_LOOKASIDE){.Depth = LOOKASIDE_DEPTH,
                                .MaximumDepth = LOOKASIDE_DEPTH,
                                .Type = type,
                                .Tag = tag,
                                .Size = (ULONG)(size < sizeof(SLIST_ENTRY) ? sizeof(SLIST_ENTRY) : size),
                                .Allocate = allocate ? allocate : ExAllocatePoolWithTag,
                                .Free = release ? release : ExFreePool};
}

static void empty(const char *routine, enum known_kind kind, PGENERAL_LOOKASIDE list)
{
    PSLIST_ENTRY e;

    if (!dxgk_ntos_known(routine, kind, list))
        return;
    dxgk_ntos_deleted(OWNER(), list);
    while ((e = ExpInterlockedPopEntrySList(&list->ListHead)))
        list->Free(e);
}

VOID NTAPI ExInitializeNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside, PALLOCATE_FUNCTION Allocate,
                                           PFREE_FUNCTION Free, ULONG Flags, SIZE_T Size, ULONG Tag,
                                           USHORT Depth)
{
    CHECK(ExInitializeNPagedLookasideList);
    UNREFERENCED_PARAMETER(Flags);
    UNREFERENCED_PARAMETER(Depth);
    initialize("ExInitializeNPagedLookasideList", &Lookaside->L, NonPagedPool, Allocate, Free, Size, Tag);
}

VOID NTAPI ExInitializePagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside, PALLOCATE_FUNCTION Allocate,
                                          PFREE_FUNCTION Free, ULONG Flags, SIZE_T Size, ULONG Tag,
                                          USHORT Depth)
{
    CHECK(ExInitializePagedLookasideList);
    UNREFERENCED_PARAMETER(Flags);
    UNREFERENCED_PARAMETER(Depth);
    initialize("ExInitializePagedLookasideList", &Lookaside->L, PagedPool, Allocate, Free, Size, Tag);
}

VOID NTAPI ExDeleteNPagedLookasideList(PNPAGED_LOOKASIDE_LIST Lookaside)
{
    CHECK(ExDeleteNPagedLookasideList);
    empty("ExDeleteNPagedLookasideList", KNOWN_LOOKASIDE, &Lookaside->L);
}

VOID NTAPI ExDeletePagedLookasideList(PPAGED_LOOKASIDE_LIST Lookaside)
{
    CHECK(ExDeletePagedLookasideList);
    empty("ExDeletePagedLookasideList", KNOWN_PAGED_LOOKASIDE, &Lookaside->L);
}
