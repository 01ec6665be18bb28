/* SPDX-License-Identifier: MIT */
/* resource.c: locks of readers and a writer (ERESOURCE), and run-down protection. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <string.h>

/* ---- resources ----------------------------------------------------------- */

/* What an ERESOURCE is here. */
struct eresource {
    struct kwaiters waiters;
    struct kthread *writer; /* NULL: none */
    ULONG writes, reads;    /* times that it is held */
};
_Static_assert(sizeof(struct eresource) <= sizeof(ERESOURCE), "it fits");

static struct eresource *of(const char *routine, PERESOURCE resource)
{
    struct eresource *r = (struct eresource *)resource;

    return dxgk_ntos_known(routine, KNOWN_RESOURCE, r) ? r : NULL;
}

/* One that nobody may hold. */
static struct eresource *unheld(struct kernel *k, const char *routine, PERESOURCE resource)
{
    struct eresource *r = of(routine, resource);

    if (r && (r->writes || r->reads))
        dxgk_kernel_violation(k, "%s of a resource that is held", routine);
    return r;
}

NTSTATUS NTAPI ExInitializeResourceLite(PERESOURCE Resource)
{
    ENTER(ExInitializeResourceLite);
    (void)k;
    dxgk_ntos_initialised("ExInitializeResourceLite", KNOWN_RESOURCE, Resource, sizeof(*Resource));
    memset(Resource, 0, sizeof(*Resource));
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ExDeleteResourceLite(PERESOURCE Resource)
{
    struct eresource *r;
    ENTER(ExDeleteResourceLite);

    r = unheld(k, "ExDeleteResourceLite", Resource);
    if (!r)
        return STATUS_INVALID_PARAMETER;
    dxgk_ntos_deleted(OWNER(), r);
    memset(Resource, 0, sizeof(*Resource));
    return STATUS_SUCCESS;
}

/* A thread that could be suspended in its middle is nobody to hold one. */
static void check_region(struct kernel *k, const char *routine)
{
    if (!dxgk_kernel_in_region(k))
        dxgk_kernel_violation(k, "%s outside of every critical region, and below APC_LEVEL", routine);
}

BOOLEAN NTAPI ExAcquireResourceExclusiveLite(PERESOURCE Resource, BOOLEAN Wait)
{
    struct eresource *r;
    ENTER(ExAcquireResourceExclusiveLite);

    r = of("ExAcquireResourceExclusiveLite", Resource);
    if (!r)
        return FALSE;
    check_region(k, "ExAcquireResourceExclusiveLite");
    while (r->writer != dxgk_kernel_thread(k) && (r->writes || r->reads))
        if (!Wait || !dxgk_kernel_wait(k, &r->waiters, LOOP_FOREVER))
            return FALSE;
    r->writer = dxgk_kernel_thread(k);
    r->writes++;
    dxgk_kernel_own(k, true);
    return TRUE;
}

/* A writer may take it again as a reader, and holds it once more as a writer then. */
BOOLEAN NTAPI ExAcquireResourceSharedLite(PERESOURCE Resource, BOOLEAN Wait)
{
    struct eresource *r;
    ENTER(ExAcquireResourceSharedLite);

    r = of("ExAcquireResourceSharedLite", Resource);
    if (!r)
        return FALSE;
    check_region(k, "ExAcquireResourceSharedLite");
    if (r->writer == dxgk_kernel_thread(k)) {
        r->writes++;
        dxgk_kernel_own(k, true);
        return TRUE;
    }
    while (r->writes)
        if (!Wait || !dxgk_kernel_wait(k, &r->waiters, LOOP_FOREVER))
            return FALSE;
    r->reads++;
    dxgk_kernel_own(k, true);
    return TRUE;
}

VOID NTAPI ExReleaseResourceLite(PERESOURCE Resource)
{
    struct eresource *r;
    ENTER(ExReleaseResourceLite);

    r = of("ExReleaseResourceLite", Resource);
    if (!r)
        return;
    if (r->writes ? r->writer != dxgk_kernel_thread(k) : !r->reads) {
        dxgk_kernel_violation(k, "ExReleaseResourceLite by a thread that does not hold the resource");
        return;
    }
    dxgk_kernel_own(k, false);
    if (r->writes)
        r->writes--;
    else
        r->reads--;
    if (!r->writes)
        r->writer = NULL;
    if (!r->writes && !r->reads)
        dxgk_kernel_wake_all(k, &r->waiters);
}

BOOLEAN NTAPI ExIsResourceAcquiredExclusiveLite(PERESOURCE Resource)
{
    struct eresource *r;
    ENTER(ExIsResourceAcquiredExclusiveLite);

    r = of("ExIsResourceAcquiredExclusiveLite", Resource);
    return r && r->writer == dxgk_kernel_thread(k);
}

/* Readers are not told apart. */
ULONG NTAPI ExIsResourceAcquiredSharedLite(PERESOURCE Resource)
{
    struct eresource *r;
    ENTER(ExIsResourceAcquiredSharedLite);

    r = of("ExIsResourceAcquiredSharedLite", Resource);
    return !r ? 0 : r->writer == dxgk_kernel_thread(k) ? r->writes : r->reads;
}

/* Nobody who waits has anybody wait behind him here. */
BOOLEAN NTAPI ExAcquireSharedStarveExclusive(PERESOURCE Resource, BOOLEAN Wait)
{
    CHECK(ExAcquireSharedStarveExclusive);
    return ExAcquireResourceSharedLite(Resource, Wait);
}

BOOLEAN NTAPI ExAcquireSharedWaitForExclusive(PERESOURCE Resource, BOOLEAN Wait)
{
    CHECK(ExAcquireSharedWaitForExclusive);
    return ExAcquireResourceSharedLite(Resource, Wait);
}

VOID NTAPI ExConvertExclusiveToSharedLite(PERESOURCE Resource)
{
    struct eresource *r;
    ENTER(ExConvertExclusiveToSharedLite);

    r = of("ExConvertExclusiveToSharedLite", Resource);
    if (!r)
        return;
    if (r->writer != dxgk_kernel_thread(k)) {
        dxgk_kernel_violation(k,
                              "ExConvertExclusiveToSharedLite by a thread that does not hold the resource");
        return;
    }
    r->reads = r->writes;
    r->writes = 0;
    r->writer = NULL;
    dxgk_kernel_wake_all(k, &r->waiters);
}

NTSTATUS NTAPI ExReinitializeResourceLite(PERESOURCE Resource)
{
    struct eresource *r;
    ENTER(ExReinitializeResourceLite);

    r = unheld(k, "ExReinitializeResourceLite", Resource);
    if (!r)
        return STATUS_INVALID_PARAMETER;
    memset(Resource, 0, sizeof(*Resource));
    return STATUS_SUCCESS;
}

/* ---- run-down ------------------------------------------------------------ */

/* Bit 0 of the count: somebody waits for the end; references count above it, as in Windows. */
VOID NTAPI ExInitializeRundownProtection(PEX_RUNDOWN_REF RunRef)
{
    CHECK(ExInitializeRundownProtection);
    RunRef->Count = 0;
}

BOOLEAN NTAPI ExAcquireRundownProtection(PEX_RUNDOWN_REF RunRef)
{
    ENTER(ExAcquireRundownProtection);
    if (RunRef->Count & 1)
        return FALSE;
    RunRef->Count += 2;
    return TRUE;
}

VOID NTAPI ExReleaseRundownProtection(PEX_RUNDOWN_REF RunRef)
{
    ENTER(ExReleaseRundownProtection);
    if (RunRef->Count < 2) {
        dxgk_kernel_violation(k, "ExReleaseRundownProtection without a reference");
        return;
    }
    RunRef->Count -= 2;
    if (RunRef->Count == 1)
        dxgk_kernel_wake_all(k, &OWNER()->ntos.rundown);
}

VOID NTAPI ExWaitForRundownProtectionRelease(PEX_RUNDOWN_REF RunRef)
{
    ENTER(ExWaitForRundownProtectionRelease);
    RunRef->Count |= 1;
    while (RunRef->Count > 1)
        if (!dxgk_kernel_wait(k, &OWNER()->ntos.rundown, LOOP_FOREVER))
            return;
}

VOID NTAPI ExRundownCompleted(PEX_RUNDOWN_REF RunRef)
{
    CHECK(ExRundownCompleted);
    RunRef->Count = 1;
}

VOID NTAPI ExReInitializeRundownProtection(PEX_RUNDOWN_REF RunRef)
{
    ENTER(ExReInitializeRundownProtection);
    if (RunRef->Count != 1)
        dxgk_kernel_violation(k, "ExReInitializeRundownProtection before the run-down has ended");
    RunRef->Count = 0;
}
