/* SPDX-License-Identifier: MIT */
/* evidence_test.c: what could look the same, of docs/evidence.md, made to look the same. */
#include "test.h"
#include "watch_rig.h"

#include <stdio.h>
#include <string.h>

#include <aerogpu/ext.h>

#include "base/clock.h"

enum { POINTER = 10, TARGET = 11, TARGET_BYTES = 4096 };

static void addressed(struct rig *r, uint32_t handle, uint32_t size)
{
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = handle,
             .usage_flags = AEROGPU_RESOURCE_USAGE_STORAGE | AEROGPU_RESOURCE_USAGE_EXT_ADDRESS,
             .size_bytes = size);
}

static void point_to(struct rig *r, uint32_t handle, uint64_t offset)
{
    ABI_EMIT(&r->b, EXT_BUFFER_ADDRESS, ext_buffer_address, .dst_buffer = POINTER, .src_buffer = handle,
             .src_offset = offset);
}

static void destroy(struct rig *r, uint32_t handle)
{
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = handle);
}

/* A buffer ends behind what used it by its address, and before what comes behind: in one submission and over several, whether or
 * not its handle names something new. */
TEST(buffers_end_in_stream_order)
{
    struct rig *r = rig_init(EXEC_MARKERS_GROUPS);
    uint64_t fence;

    poke(r, 0);
    dispatch(r);
    destroy(r, TARGET);
    submit(r);
    for (uint32_t i = 0; i < 20; i++) {
        addressed(r, TARGET, TARGET_BYTES);
        point_to(r, TARGET, 4 * i);
        dispatch(r);
        ABI_EMIT(&r->b, EXT_DESTROY_HANDLES, ext_destroy_handles, .first = TARGET, .last = TARGET);
        fence = submit(r);
        if (i % 4 == 3)
            assert_int_equal(driver_wait(r->d, fence, 60 * NSEC_PER_SEC), 0);
    }
    assert_int_equal(watch_crashes(r->w), 0);

    addressed(r, TARGET, 2 * TARGET_BYTES);
    point_to(r, TARGET, 100);
    dispatch(r);
    destroy(r, TARGET);
    addressed(r, TARGET, TARGET_BYTES);
    dispatch(r);
    submit(r);
    await_crash(r, 1);
    assert_int_equal(r->crash.draw, 1);
    assert_int_equal(r->crash.which, BB_SURE_PROVEN);
    assert_int_equal(r->crash.fault_kind, BB_FAULT_USE_AFTER_FREE);
    assert_non_null(
        strstr(r->crash.text, "use after free, 100 bytes into the destroyed buffer 11 of 8192 bytes"));
    rig_finish(r);
}

TEST_GROUP(rig_make_dir, rig_remove_dir);
