/* SPDX-License-Identifier: MIT */
/* breadcrumb_test.c: the guest's own markers (ext.h), read in guest memory while and after the device works on them. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>

#include "abi/builder.h"
#include "base/log.h"
#include "machine/driver.h"
#include "crash_scene.h"
#include "plant.h"

enum { SPACE = 1 << 18, MARKERS = 128, ALLOC = 9 };

struct rig {
    struct machine *m;
    struct driver *d;
    struct abi_builder b;
    uint64_t stream, table, markers;
    uint32_t errors;
};

static void on_error(void *ctx, uint32_t code, uint64_t fence, uint32_t count)
{
    ((struct rig *)ctx)->errors++;
}

static void rig_init(struct rig *r, enum exec_markers markers)
{
    struct aerogpu_alloc_entry entry = {.alloc_id = ALLOC, .size_bytes = MARKERS * 8};
    struct aerogpu_alloc_table_header header = {.magic = AEROGPU_ALLOC_TABLE_MAGIC,
                                                .abi_version = AEROGPU_ABI_VERSION_U32,
                                                .size_bytes = sizeof(header) + sizeof(entry),
                                                .entry_count = 1,
                                                .entry_stride_bytes = sizeof(entry)};
    struct error e = {0};

    *r = (struct rig){0};
    if (machine_create(&r->m, &(struct machine_params){.kind = MACHINE_LIVE, .markers = markers}, &e) ||
        machine_wait_ready(r->m, 60000, &e) ||
        driver_create(&r->d, &(struct driver_params){.machine = r->m, .on_error = on_error, .ctx = r}, &e))
        fail_msg("%s", e.text);
    r->stream = driver_alloc(r->d, SPACE, 4096);
    r->table = driver_alloc(r->d, 4096, 4096);
    r->markers = driver_alloc(r->d, 4096, 4096);
    entry.gpa = r->markers;
    memset(driver_ptr(r->d, r->markers), 0, 4096);
    memcpy(driver_ptr(r->d, r->table), &header, sizeof(header));
    memcpy((uint8_t *)driver_ptr(r->d, r->table) + sizeof(header), &entry, sizeof(entry));
    abi_builder_init(&r->b);
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_BREADCRUMB_BUFFER,
                       &(struct aerogpu_cmd_ext_breadcrumb_buffer){.alloc_id = ALLOC, .count = MARKERS}, 24,
                       NULL, 0);
}

static void rig_finish(struct rig *r)
{
    abi_builder_finish(&r->b);
    driver_destroy(r->d);
    machine_destroy(r->m);
}

static uint64_t submit(struct rig *r)
{
    uint32_t size;
    uint64_t fence;
    const void *bytes = abi_builder_end(&r->b, &size);

    memcpy(driver_ptr(r->d, r->stream), bytes, size);
    assert_int_equal(driver_submit(r->d,
                                   &(struct driver_submission){.cmd_gpa = r->stream,
                                                               .cmd_size = size,
                                                               .alloc_gpa = r->table,
                                                               .alloc_size = 24 + 32},
                                   &fence),
                     0);
    return fence;
}

static void marker(struct rig *r, uint32_t type, uint32_t index, uint64_t data)
{
    abi_builder_packet(&r->b, AEROGPU_CMD_EXT_WRITE_BREADCRUMB,
                       &(struct aerogpu_cmd_ext_write_breadcrumb){.type = type, .index = index, .data = data},
                       24, NULL, 0);
}

static uint64_t value(struct rig *r, uint32_t index)
{
    return ((volatile uint64_t *)driver_ptr(r->d, r->markers))[index];
}

/* However long the executor takes to get there. */
static void await(struct rig *r, uint32_t index, uint64_t v)
{
    for (int i = 0; i < 6000 && value(r, index) != v; i++)
        usleep(10000);
    assert_int_equal(value(r, index), v);
}

TEST(all_are_written)
{
    struct rig r;

    rig_init(&r, EXEC_MARKERS_GROUPS);
    crash_scene(&r.b);
    for (uint32_t i = 0; i < MARKERS; i++) /* more than can wait at a time */
        marker(&r, i % 3 == 0 ? AEROGPU_BREADCRUMB_TOP : AEROGPU_BREADCRUMB_BOTTOM, i,
               0x100000001u * (i + 1ull));
    assert_int_equal(driver_wait(r.d, submit(&r), 60 * NSEC_PER_SEC), 0);
    for (uint32_t i = 0; i < MARKERS; i++)
        assert_int_equal(value(&r, i), 0x100000001u * (i + 1ull));
    assert_int_equal(r.errors, 0);
    rig_finish(&r);
}

/* The buffer is an allocation, not an address: what is written later goes where that submission has it. */
TEST(markers_follow_their_allocation)
{
    struct aerogpu_alloc_entry entry;
    struct rig r;
    uint64_t moved, *at;

    rig_init(&r, EXEC_MARKERS_GROUPS);
    crash_scene(&r.b);
    marker(&r, AEROGPU_BREADCRUMB_TOP, 1, 1);
    assert_int_equal(driver_wait(r.d, submit(&r), 20 * NSEC_PER_SEC), 0);
    assert_int_equal(value(&r, 1), 1);
    moved = driver_alloc(r.d, 4096, 4096);
    at = driver_ptr(r.d, moved);
    memset(at, 0, 4096);
    memcpy(&entry, (uint8_t *)driver_ptr(r.d, r.table) + sizeof(struct aerogpu_alloc_table_header),
           sizeof(entry));
    entry.gpa = moved;
    memcpy((uint8_t *)driver_ptr(r.d, r.table) + sizeof(struct aerogpu_alloc_table_header), &entry,
           sizeof(entry));
    abi_builder_reset(&r.b);
    marker(&r, AEROGPU_BREADCRUMB_TOP, 2, 2);
    marker(&r, AEROGPU_BREADCRUMB_BOTTOM, 3, 3);
    assert_int_equal(driver_wait(r.d, submit(&r), 20 * NSEC_PER_SEC), 0);
    assert_int_equal(at[2], 2);
    assert_int_equal(at[3], 3);
    assert_int_equal(value(&r, 2), 0);
    assert_int_equal(value(&r, 3), 0);
    assert_int_equal(r.errors, 0);
    rig_finish(&r);
}

/* Reference 5's second example on the real thing: X hangs, Y is at the top of the pipe. */
static void hang(enum exec_markers markers, bool second_top)
{
    struct rig r;
    uint64_t fence;

    rig_init(&r, markers);
    crash_scene(&r.b);
    marker(&r, AEROGPU_BREADCRUMB_TOP, 1, 1);
    crash_endless_draw(&r.b);
    marker(&r, AEROGPU_BREADCRUMB_BOTTOM, 2, 2);
    marker(&r, AEROGPU_BREADCRUMB_TOP, 3, 3);
    crash_endless_draw(&r.b);
    marker(&r, AEROGPU_BREADCRUMB_BOTTOM, 4, 4);
    fence = submit(&r);
    await(&r, 1, 1);
    if (second_top)
        await(&r, 3, 3);
    assert_int_equal(driver_wait(r.d, fence, NSEC_PER_SEC), -ETIMEDOUT);
    assert_int_equal(value(&r, 2), 0);
    assert_int_equal(value(&r, 3), second_top ? 3 : 0);
    assert_int_equal(value(&r, 4), 0);
    rig_finish(&r);
}

TEST(groups_in_a_hang)
{
    hang(EXEC_MARKERS_GROUPS, true); /* the command processor has gone on */
}

TEST(exact_in_a_hang)
{
    hang(EXEC_MARKERS_EXACT, false);
}

/* A BOTTOM marker at the head of a submission, or of a piece of one, waits for what hangs before it. */
TEST(bottoms_wait_for_what_came_before)
{
    for (int pieces = 0; pieces < 2; pieces++) {
        struct rig r;

        rig_init(&r, EXEC_MARKERS_GROUPS);
        crash_scene(&r.b);
        crash_endless_draw(&r.b);
        if (pieces)
            marker(&r, AEROGPU_BREADCRUMB_BOTTOM, 1, 1);
        for (int i = 0; i < 1500 && pieces; i++) /* the pass is cut */
            ABI_EMIT(&r.b, DRAW, draw, .vertex_count = 1, .instance_count = 1);
        submit(&r);
        abi_builder_reset(&r.b);
        r.stream += SPACE / 2;
        if (!pieces)
            marker(&r, AEROGPU_BREADCRUMB_BOTTOM, 1, 1);
        assert_int_equal(driver_wait(r.d, submit(&r), NSEC_PER_SEC), -ETIMEDOUT);
        assert_int_equal(value(&r, 1), 0);
        rig_finish(&r);
    }
}

TEST(bad_marker)
{
    static const struct {
        uint32_t type, index;
        const char *text;
    } cases[] = {{0, MARKERS, "index 128, the breadcrumb buffer has 128"},
                 {1, UINT32_MAX, "index 4294967295, the breadcrumb buffer has 128"},
                 {2, 0, "type 2 is neither TOP nor BOTTOM"}};

    for (int i = 0; i < 3; i++) {
        struct gpu_stats stats;
        struct rig r;

        rig_init(&r, EXEC_MARKERS_GROUPS);
        marker(&r, cases[i].type, cases[i].index, 1);
        assert_int_equal(driver_wait(r.d, submit(&r), 60 * NSEC_PER_SEC), 0);
        gpu_get_stats(machine_gpu(r.m), &stats);
        assert_non_null(strstr(stats.last_error, cases[i].text));
        rig_finish(&r);
    }
}

int main(void)
{
    log_set_level(LOG_ERROR);
    return test_run();
}
