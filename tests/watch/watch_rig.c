/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>

#include "crash_scene.h"
#include "plant.h"
#include "watch_rig.h"

enum { SPACES = 8 };

char rig_dir[] = "/tmp/aerogpu-test-XXXXXX";
uint32_t rig_hang_ms = HANG_MS;
uint64_t rig_executor_bytes;

int rig_make_dir(void **state)
{
    return mkdtemp(rig_dir) ? 0 : -1;
}

int rig_remove_dir(void **state)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", rig_dir);
    return system(command);
}

static void on_found(void *ctx, const struct watch_crash *crash, const char *path, const struct error *e)
{
    struct rig *r = ctx;

    r->crash = *crash;
    r->crashes++;
    snprintf(r->dump, sizeof(r->dump), "%s", path ? path : "");
}

static void make_table(struct rig *r)
{
    struct aerogpu_alloc_entry entries[2] = {
        {.alloc_id = ALLOC, .gpa = r->memory, .size_bytes = ALLOC_BYTES},
        {.alloc_id = NOWHERE, .gpa = UINT64_C(1) << 40, .size_bytes = ALLOC_BYTES}};
    struct aerogpu_alloc_table_header header = {.magic = AEROGPU_ALLOC_TABLE_MAGIC,
                                                .abi_version = AEROGPU_ABI_VERSION_U32,
                                                .size_bytes = sizeof(header) + sizeof(entries),
                                                .entry_count = 2,
                                                .entry_stride_bytes = sizeof(entries[0])};
    uint8_t *at = driver_ptr(r->d, r->table);

    memcpy(at, &header, sizeof(header));
    memcpy(at + sizeof(header), entries, sizeof(entries));
}

static void one_setting(const void *of, void (*row)(void *to, const char *name, const char *value), void *to)
{
    row(to, "TdrDelay", "2");
}

static struct rig
    the_rig; /* threads write to it, also where a check has failed and left the function that had it */

struct rig *rig_init(enum exec_markers markers)
{
    struct rig *r = &the_rig;
    struct error e = {0};

    if (r->m)
        rig_finish(r);
    if (machine_create(&r->m,
                       &(struct machine_params){.kind = MACHINE_LIVE,
                                                .markers = markers,
                                                .addresses = true,
                                                .executor_bytes = rig_executor_bytes},
                       &e) ||
        machine_wait_ready(r->m, 60000, &e) ||
        driver_create(&r->d, &(struct driver_params){.machine = r->m}, &e) ||
        watch_create(&r->w,
                     &(struct watch_params){.machine = r->m,
                                            .directory = rig_dir,
                                            .program = "watch_test",
                                            .settings = one_setting,
                                            .hang_ms = rig_hang_ms,
                                            .max_dumps = 100,
                                            .all_errors = true,
                                            .found = on_found,
                                            .ctx = r},
                     &e))
        fail_msg("%s", e.text);
    r->stream = driver_alloc(r->d, SPACES * SPACE, 4096);
    r->table = driver_alloc(r->d, 4096, 4096);
    r->memory = driver_alloc(r->d, ALLOC_BYTES, 4096);
    memset(driver_ptr(r->d, r->memory), 0, ALLOC_BYTES);
    make_table(r);
    abi_builder_init(&r->b);
    return r;
}

void rig_finish(struct rig *r)
{
    abi_builder_finish(&r->b);
    watch_destroy(r->w);
    driver_destroy(r->d);
    machine_destroy(r->m);
    *r = (struct rig){0};
}

uint64_t submit(struct rig *r)
{
    uint32_t size;
    uint64_t fence;
    const void *bytes = abi_builder_end(&r->b, &size);
    const uint64_t stream = r->stream + SPACE * (r->submissions++ % SPACES); /* several may be under way */

    assert_true(size <= SPACE);
    memcpy(driver_ptr(r->d, stream), bytes, size);
    assert_int_equal(driver_submit(r->d,
                                   &(struct driver_submission){.cmd_gpa = stream,
                                                               .cmd_size = size,
                                                               .alloc_gpa = r->table,
                                                               .alloc_size = 24 + 64,
                                                               .context_id = 3},
                                   &fence),
                     0);
    abi_builder_reset(&r->b);
    return fence;
}

/* Until the watch has found `crashes` in all. */
void await_crash(struct rig *r, uint32_t crashes)
{
    for (int i = 0; i < 4000 && watch_crashes(r->w) < crashes; i++)
        usleep(10000);
    watch_settle(r->w);
    if (r->crashes != crashes)
        fail_msg("%u crashes, not %u: %s", r->crashes, crashes, r->crash.text);
}

void assert_hang(struct rig *r)
{
    if (r->crash.cause == BB_CAUSE_STARVED) {
        print_message("# the machine hardly let the executor run: %s\n", r->crash.text);
        rig_finish(r);
        skip();
    }
    assert_int_equal(r->crash.cause, BB_CAUSE_HANG);
}

/* Until the Vulkan device is at work on something. */
void await_work(struct rig *r)
{
    struct exec_progress *progress = calloc(1, sizeof(*progress));
    bool works = false;

    assert_non_null(progress);
    for (int i = 0; i < 6000 && !works; i++) {
        usleep(10000);
        if (machine_progress(r->m, progress))
            for (int k = 0; k < EXEC_PROGRESS_SLOTS; k++)
                works |= progress->slots[k].state == EXEC_PROGRESS_QUEUED &&
                         progress->slots[k].top > progress->slots[k].bottom;
    }
    free(progress);
    assert_true(works);
}

/* The first column of the first row, as text; "" for none. */
const char *ask(const char *path, const char *sql)
{
    static char text[2048];
    sqlite3_stmt *s;
    sqlite3 *db;

    text[0] = '\0';
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0))
        snprintf(text, sizeof(text), "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    sqlite3_close(db);
    return text;
}

/* All statuses so far, "active, timeout, …", from a dump that is made for it. */
const char *statuses(struct rig *r)
{
    static int n;
    char path[128];
    struct error e = {0};

    snprintf(path, sizeof(path), "%s/statuses-%d", rig_dir, n++);
    watch_settle(r->w);
    if (watch_request(r->w, path, &e))
        fail_msg("%s", e.text);
    return ask(path, "SELECT group_concat(status, ', ') FROM (SELECT status FROM status ORDER BY rowid)");
}

/* Something that works. */
void run_good(struct rig *r)
{
    ABI_EMIT(&r->b, NOP, nop, .hdr = {0});
    assert_int_equal(driver_wait(r->d, submit(r), 60 * NSEC_PER_SEC), 0);
}

void constants(struct rig *r, uint32_t buffer, uint32_t offset)
{
    const struct aerogpu_constant_buffer_binding b = {
        .buffer = buffer, .offset_bytes = offset, .size_bytes = 16};

    ABI_EMIT_TAIL(&r->b, SET_CONSTANT_BUFFERS, set_constant_buffers, &b, sizeof(b),
                  .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .buffer_count = 1);
}

/* A store by the compute shader of samples/plant.c to buffer 11, whose address is in buffer 10. */
void poke(struct rig *r, uint32_t offset)
{
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 10,
             .usage_flags = AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, .size_bytes = 512);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 11,
             .usage_flags = AEROGPU_RESOURCE_USAGE_STORAGE | AEROGPU_RESOURCE_USAGE_EXT_ADDRESS,
             .size_bytes = 8192);
    crash_shader(&r->b, 12, AEROGPU_SHADER_STAGE_COMPUTE, plant_poke.words, plant_poke.size);
    ABI_EMIT(&r->b, EXT_BUFFER_ADDRESS, ext_buffer_address, .dst_buffer = 10, .src_buffer = 11,
             .src_offset = 4096);
    constants(r, 10, offset);
    ABI_EMIT(&r->b, BIND_SHADERS, bind_shaders, .cs = 12);
}

void dispatch(struct rig *r)
{
    ABI_EMIT(&r->b, DISPATCH, dispatch, .group_count_x = 1, .group_count_y = 1, .group_count_z = 1);
}
