/* SPDX-License-Identifier: MIT */
/* MDLs, and pages that only they describe, as strangers' miniports use them. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dxgkrnl/adapter.h"
#include "ntos_rig.h"

TEST(an_mdl_of_memory_that_the_device_reaches)
{
    struct world w;
    PHYSICAL_ADDRESS any = {.QuadPart = INT64_MAX};
    uint8_t *memory;
    PMDL mdl;

    up(&w, false);
    memory = MmAllocateContiguousMemory(3 * PAGE_SIZE, any);
    mdl = IoAllocateMdl(memory + 100, 2 * PAGE_SIZE, FALSE, FALSE, NULL);
    assert_int_equal(MmGetMdlByteOffset(mdl), 100);
    MmBuildMdlForNonPagedPool(mdl);
    for (ULONG i = 0; i < 3; i++)
        assert_int_equal(MmGetMdlPfnArray(mdl)[i],
                         ((uint64_t)MmGetPhysicalAddress(memory).QuadPart >> PAGE_SHIFT) + i);
    assert_ptr_equal(MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority), memory + 100);
    IoFreeMdl(mdl);
    MmFreeContiguousMemory(memory);
    down(&w, 0);
}

static uint8_t *shared_pages(size_t n)
{
    int fd = memfd_create("mdl", MFD_CLOEXEC);
    uint8_t *p;

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)(n * PAGE_SIZE)), 0);
    p = mmap(NULL, n * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_ptr_not_equal(p, MAP_FAILED);
    return p;
}

TEST(pages_that_lie_apart_are_mapped_together)
{
    struct world w;
    uint8_t *pages = shared_pages(3), *together;
    PFN_NUMBER swap, *pfn;
    PMDL mdl;

    up(&w, false);
    mdl = IoAllocateMdl(pages + 16, 3 * PAGE_SIZE - 16, FALSE, FALSE, NULL);
    MmProbeAndLockPages(mdl, KernelMode, IoModifyAccess);
    assert_ptr_equal(MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority), pages + 16);
    MmUnmapLockedPages(pages + 16, mdl);
    pfn = MmGetMdlPfnArray(mdl);
    swap = pfn[0];
    pfn[0] = pfn[2];
    pfn[2] = swap;
    together = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
    assert_non_null(together);
    together[0] = 1;
    together[PAGE_SIZE] = 2;
    together[2 * PAGE_SIZE] = 3;
    assert_int_equal(pages[2 * PAGE_SIZE + 16], 1);
    assert_int_equal(pages[PAGE_SIZE + 16], 2);
    assert_int_equal(pages[16], 3);
    MmUnlockPages(mdl); /* unmaps, too */
    IoFreeMdl(mdl);
    munmap(pages, 3 * PAGE_SIZE);
    down(&w, 0);
}

TEST(misuse_of_mdls_is_seen)
{
    struct world w;
    uint8_t *pages = shared_pages(1);
    PMDL mdl;

    up(&w, false);
    mdl = IoAllocateMdl(pages, PAGE_SIZE, FALSE, FALSE, NULL);
    assert_int_equal(mprotect(pages, PAGE_SIZE, PROT_READ), 0);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    violated(&w, "MmProbeAndLockPages raises an exception: 4096 bytes at ");
    MmUnlockPages(mdl);
    violated(&w, "MmUnlockPages of an MDL whose pages are not locked");
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    violated(&w, "MmProbeAndLockPages of an MDL whose pages are known");
    MmUnmapLockedPages(pages, mdl);
    violated(&w, "MmUnmapLockedPages of 0x");
    IoFreeMdl(mdl);
    violated(&w, "IoFreeMdl of an MDL whose pages are locked");
    mdl = IoAllocateMdl(pages, PAGE_SIZE, FALSE, FALSE, NULL);
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    MmMapLockedPagesSpecifyCache(mdl, KernelMode, MmCached, NULL, FALSE, NormalPagePriority);
    dxgk_kernel_leave(k);
    dxgk_unload(w.dxgk);
    violated(&w, "the miniport leaked a mapping of 4096 bytes");
    munmap(pages, PAGE_SIZE);
    world_down(&w, 7); /* and the MDL is leaked pool */
}

/* ---- pages without an address -------------------------------------------- */

static const PHYSICAL_ADDRESS zero, any = {.QuadPart = -1};

TEST(pages_for_an_mdl_are_zero_and_of_the_device)
{
    static const ULONG flags[] = {0, MM_ALLOCATE_FULLY_REQUIRED, MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS};
    struct world w;

    up(&w, false);
    for (unsigned i = 0; i < 3; i++) {
        PHYSICAL_ADDRESS chunk = {.QuadPart = i == 2 ? 4 * PAGE_SIZE : 0};
        PMDL mdl = i ? MmAllocatePagesForMdlEx(zero, any, chunk, 8 * PAGE_SIZE, MmCached, flags[i])
                     : MmAllocatePagesForMdl(zero, any, zero, 8 * PAGE_SIZE - 5);
        uint8_t *p;

        assert_non_null(mdl);
        assert_int_equal(MmGetMdlByteCount(mdl), 8 * PAGE_SIZE);
        assert_int_equal(MmGetMdlByteOffset(mdl), 0);
        p = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
        assert_non_null(p);
        for (unsigned n = 0; n < 8 * PAGE_SIZE; n++)
            assert_int_equal(p[n], 0);
        memset(p, 1, 8 * PAGE_SIZE);
        assert_int_equal(MmGetPhysicalAddress(p + 3 * PAGE_SIZE).QuadPart >> PAGE_SHIFT,
                         MmGetMdlPfnArray(mdl)[3]);
        assert_true(i != 2 || MmGetMdlPfnArray(mdl)[0] % 4 == 0);
        MmUnmapLockedPages(p, mdl);
        MmFreePagesFromMdl(mdl);
        if (i)
            ExFreePool(mdl);
        else
            IoFreeMdl(mdl);
    }
    down(&w, 0);
}

TEST(pages_for_an_mdl_are_where_they_may_be)
{
    const PHYSICAL_ADDRESS low = {.QuadPart = PAGE_SIZE - 1}, far = {.QuadPart = INT64_C(1) << 50};
    const ULONG most = 0xFFFFF000;
    struct world w;
    PMDL mdl;

    up(&w, false);
    assert_null(MmAllocatePagesForMdl(far, any, zero, PAGE_SIZE));
    assert_null(MmAllocatePagesForMdl(zero, low, zero, 2 * PAGE_SIZE));
    assert_null(MmAllocatePagesForMdl(zero, any, zero, 0));
    assert_null(MmAllocatePagesForMdlEx(zero, any, zero, most, MmCached, MM_ALLOCATE_FULLY_REQUIRED));
    mdl = MmAllocatePagesForMdlEx(zero, any, zero, most, MmCached, MM_DONT_ZERO_ALLOCATION);
    assert_non_null(mdl); /* what there is */
    assert_in_range(MmGetMdlByteCount(mdl), PAGE_SIZE, most - 1);
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    down(&w, 0);
}

TEST(misuse_of_pages_for_an_mdl_is_seen)
{
    const PHYSICAL_ADDRESS odd = {.QuadPart = 100};
    struct world w;
    PMDL mdl;

    up(&w, false);
    assert_null(MmAllocatePagesForMdl(zero, any, odd, PAGE_SIZE));
    violated(&w, "MmAllocatePagesForMdl of 4096 bytes with SkipBytes 0x64");
    mdl = MmAllocatePagesForMdl(zero, any, zero, PAGE_SIZE);
    MmUnlockPages(mdl);
    violated(&w, "MmUnlockPages of an MDL of MmAllocatePagesForMdl");
    MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
    MmFreePagesFromMdl(mdl);
    violated(&w, "MmFreePagesFromMdl of an MDL whose pages are mapped");
    MmFreePagesFromMdl(mdl);
    violated(&w, "MmFreePagesFromMdl of 0x");
    ExFreePool(mdl);
    mdl = MmAllocatePagesForMdl(zero, any, zero, PAGE_SIZE);
    ExFreePool(mdl);
    MmFreePagesFromMdl(mdl);
    violated(&w, "MmFreePagesFromMdl of an MDL that was freed or written over");
    mdl = MmAllocatePagesForMdl(zero, any, zero, 3 * PAGE_SIZE);
    ExFreePool(mdl);
    dxgk_kernel_leave(k);
    dxgk_unload(w.dxgk);
    violated(&w, "the miniport leaked 12288 bytes of pages that MmAllocatePagesForMdl gave it");
    world_down(&w, 6);
}

/* ---- what else they import ----------------------------------------------- */

TEST(every_uuid_is_another)
{
    struct world w;
    UUID a, b;

    up(&w, false);
    assert_int_equal(ExUuidCreate(&a), STATUS_SUCCESS);
    assert_int_equal(ExUuidCreate(&b), STATUS_SUCCESS);
    assert_memory_not_equal(&a, &b, sizeof(a));
    assert_int_equal(a.Data3 >> 12, 4);
    assert_int_equal(a.Data4[0] >> 6, 2);
    down(&w, 0);
}

static VOID NTAPI on_bugcheck(KBUGCHECK_CALLBACK_REASON reason, PKBUGCHECK_REASON_CALLBACK_RECORD record,
                              PVOID data, ULONG length)
{
    UNREFERENCED_PARAMETER(reason);
    UNREFERENCED_PARAMETER(record);
    UNREFERENCED_PARAMETER(data);
    UNREFERENCED_PARAMETER(length);
}

TEST(bug_check_callbacks_are_given_back)
{
    static UCHAR name[] = "test";
    PKBUGCHECK_REASON_CALLBACK_RECORD in_pool;
    KBUGCHECK_REASON_CALLBACK_RECORD r;
    KFLOATING_SAVE save;
    struct world w;

    up(&w, false);
    assert_int_equal(KeSaveFloatingPointState(&save), STATUS_SUCCESS);
    assert_int_equal(KeRestoreFloatingPointState(&save), STATUS_SUCCESS);
    KeInitializeCallbackRecord(&r);
    assert_false(KeDeregisterBugCheckReasonCallback(&r));
    assert_true(KeRegisterBugCheckReasonCallback(&r, on_bugcheck, KbCallbackSecondaryDumpData, name));
    assert_false(KeRegisterBugCheckReasonCallback(&r, on_bugcheck, KbCallbackSecondaryDumpData, name));
    assert_true(KeDeregisterBugCheckReasonCallback(&r));
    assert_false(KeDeregisterBugCheckReasonCallback(&r));
    assert_int_equal(dxgk_violations(w.dxgk), 0);
    assert_false(KeRegisterBugCheckReasonCallback(&r, on_bugcheck, KbCallbackInvalid, name));
    violated(&w, "KeRegisterBugCheckReasonCallback for reason 0");
    assert_false(KeRegisterBugCheckReasonCallback(&r, NULL, KbCallbackAddPages, name));
    violated(&w, "KeRegisterBugCheckReasonCallback without a routine");
    in_pool = ExAllocatePoolWithTag(NonPagedPool, sizeof(*in_pool), 0x31677562);
    KeInitializeCallbackRecord(in_pool);
    assert_true(KeRegisterBugCheckReasonCallback(in_pool, on_bugcheck, KbCallbackDumpIo, name));
    ExFreePool(in_pool);
    violated(&w, "ExFreePool of 48 bytes, tag bug1, with a bug check callback in it that is registered");
    assert_true(KeRegisterBugCheckReasonCallback(&r, on_bugcheck, KbCallbackAddPages, name));
    KeInitializeCallbackRecord(&r);
    assert_true(KeRegisterBugCheckReasonCallback(&r, on_bugcheck, KbCallbackAddPages, name));
    violated(&w, "KeRegisterBugCheckReasonCallback of a bug check callback that was not deleted");
    dxgk_kernel_leave(k);
    dxgk_unload(w.dxgk);
    violated(&w, "the miniport left a bug check callback registered");
    world_down(&w, 5);
}

int main(void)
{
    setenv("AEROGPU_LOG", "error", 0);
    return test_run();
}
