/* SPDX-License-Identifier: MIT */
/* Buffers that are written anew while the device reads them: each draw reads what it was meant to, and memory comes back. */
#include "test.h"

#include <vulkan/vulkan.h>

#include <aerogpu/pci.h>

#include "engine_rig.h"

enum { COLUMNS = 8, WIDTH = 64 / COLUMNS, ROUNDS = 30, IDLE = 40 };

static unsigned made, gone;

VkResult __real_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkBuffer *out);
VkResult __wrap_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkBuffer *out);
void __real_vkDestroyBuffer(VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *allocator);
void __wrap_vkDestroyBuffer(VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *allocator);

VkResult __wrap_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkBuffer *out)
{
    VkResult r = __real_vkCreateBuffer(device, info, allocator, out);

    made += !r;
    return r;
}

void __wrap_vkDestroyBuffer(VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *allocator)
{
    gone += buffer != VK_NULL_HANDLE;
    __real_vkDestroyBuffer(device, buffer, allocator);
}

/* One column each, of the round's colour. */
static void columns(struct rig *r, unsigned round)
{
    for (unsigned i = 0; i < COLUMNS; i++) {
        const float x = (float)i * 2 / COLUMNS - 1;
        const struct rig_vertex v[] = {RECT(x, -1, x + 2.0f / COLUMNS, 1, 0, (i + round) % 2 ? RED : GREEN)};

        rig_upload(r, 1, 0, v, sizeof(v));
        rig_draw(r, 6, 0);
    }
}

static void start(struct rig *r)
{
    static const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};

    rig_make_target(r);
    rig_plain(r, v, 6);
}

RIG_TEST(draws_read_what_was_written_before_them)
{
    struct rig *r = rig_of(state);
    const unsigned before = made;

    start(r);
    for (unsigned round = 0; round < ROUNDS; round++) {
        columns(r, round);
        rig_present(r);
        rig_run_ok(r);
        for (unsigned i = 0; i < COLUMNS; i++)
            assert_int_equal(rig_pixel(r, i * WIDTH + 1, 9), (i + round) % 2 ? RED : GREEN);
    }
    /* Memory of the round before, which may just be on its way back, and of this one; staging. */
    assert_true(made - before < 3 * COLUMNS);
}

RIG_TEST(what_nobody_asks_for_goes)
{
    struct rig *r = rig_of(state);
    unsigned before;

    start(r);
    columns(r, 0);
    rig_run_ok(r);
    before = gone;
    for (int i = 0; i < IDLE; i++) {
        rig_draw(r, 6, 0);
        rig_run_ok(r);
    }
    assert_int_equal(gone, before + COLUMNS - 1);
    columns(r, 1);
    rig_present(r);
    rig_run_ok(r);
    assert_int_equal(rig_pixel(r, 1, 9), RED);
}

RIG_TEST(a_buffer_that_goes_takes_along_what_it_had)
{
    struct rig *r = rig_of(state);
    unsigned before;

    start(r);
    rig_run_ok(r);
    columns(r, 0);
    rig_present(r);
    rig_bind_vb(r, 0, 0, 0, 0);
    ABI_EMIT(&r->b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 1);
    before = gone;
    rig_run_ok(r);
    assert_int_equal(gone, before); /* the device had not drawn when it was destroyed */
    for (unsigned i = 0; i < COLUMNS; i++)
        assert_int_equal(rig_pixel(r, i * WIDTH + 1, 9), i % 2 ? RED : GREEN);
    for (int i = 0; i < IDLE; i++) { /* who is told that it is done may be so before it counts as done */
        rig_clear(r, 1, RED, 0, 0);
        rig_run_ok(r);
    }
    assert_int_equal(gone, before + COLUMNS);
}

TEST_GROUP(rig_group_setup, rig_group_teardown);
