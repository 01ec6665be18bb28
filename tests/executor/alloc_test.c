/* SPDX-License-Identifier: MIT */
/* Without memory, descriptors or threads: each allocation and system call of shader, engine, host and process fails once, and
 * what called it says so, loses nothing, and works again. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aerogpu/pci.h>

#include "alloc_fail.h"
#include "engine_rig.h"
#include "executor/host/host.h"
#include "executor/host/launch.h"
#include "executor/process/memory.h"
#include "poke_cs.h"
#include "shader_files.h"

/* ---- shader -------------------------------------------------------------- */

struct pair {
    uint8_t vs[8192], ps[8192];
    size_t vs_size, ps_size;
};

static int link_pair(void *ctx)
{
    const struct pair *files = ctx;
    struct shader *vs = NULL, *ps = NULL;
    struct shader_program program = {0};
    struct error e = {0};
    int err = shader_create(&vs, EXEC_VS, files->vs, files->vs_size, NULL, &e);

    if (!err)
        err = shader_create(&ps, EXEC_PS, files->ps, files->ps_size, NULL, &e);
    if (!err)
        err = shader_link(&program, &(struct shader_link_params){.stages = {[EXEC_VS] = vs, [EXEC_PS] = ps}},
                          &e);
    assert_int_equal(err != 0, e.text[0] != 0);
    shader_program_finish(&program);
    shader_unref(vs);
    shader_unref(ps);
    return err;
}

TEST(shaders_without_memory)
{
    static const char *const names[][2] = {{"colour_vs.dxbc", "colour_ps.dxbc"},
                                           {"lit_vs_3_0.d3d9", "branch_ps30.d3d9"},
                                           {"colour_vs_2_0.d3d9", "modulate_ps11.d3d9"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct pair files;

        files.vs_size = read_sample(names[i][0], files.vs, sizeof(files.vs));
        files.ps_size = read_sample(names[i][1], files.ps, sizeof(files.ps));
        assert_true(files.vs_size && files.ps_size);
        assert_true(alloc_fail_each(link_pair, &files) >= 8);
    }
}

static int make_spirv(void *ctx)
{
    struct shader *s;
    struct error e = {0};
    int err = shader_create(&s, EXEC_CS, poke_cs, sizeof(poke_cs), NULL, &e);

    shader_unref(s);
    return err;
}

TEST(spirv_without_memory)
{
    assert_true(alloc_fail_each(make_spirv, NULL) >= 3);
}

/* ---- engine -------------------------------------------------------------- */

static void *no_dma(void *ctx, uint64_t gpa, uint64_t size)
{
    return NULL;
}

static void no_completion(void *ctx, const struct abi_completion *c)
{
}

static int make_engine(void *ctx)
{
    struct exec_engine *g = NULL;
    struct error e = {0};
    int err = exec_engine_create(
        &g, &(struct exec_engine_params){.dma_map = no_dma, .complete = no_completion, .progress = ctx}, &e);

    if (err)
        return err;
    exec_engine_destroy(g);
    return *alloc_fail_what() ? ALLOC_FAIL_COPED : 0; /* one translating thread of two, or no markers */
}

TEST(engine_without_memory)
{
    void *progress =
        mmap(NULL, sizeof(struct exec_progress), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    rig_of(state);
    assert_true(alloc_fail_each(make_engine, progress) >= 10);
    munmap(progress, sizeof(struct exec_progress));
}

/* One of everything. */
static void scene(struct rig *r)
{
    const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, GREEN)};

    rig_alloc(r, 5, RIG_DATA_GPA, 65536, 0);
    rig_make_target(r);
    rig_clear(r, 3, RED, 1, 0);
    rig_plain(r, v, 6);
    rig_draw(r, 6, 0);
    rig_present(r);
    ABI_EMIT(&r->b, CREATE_BUFFER, create_buffer, .buffer_handle = 30, .usage_flags = 255, .size_bytes = 4096,
             .backing_alloc_id = 5);
    ABI_EMIT(&r->b, COPY_BUFFER, copy_buffer, .dst_buffer = 30, .src_buffer = 1, .size_bytes = 64,
             .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    ABI_EMIT(&r->b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 31,
             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE, .format = AEROGPU_FORMAT_R8G8B8A8_UNORM,
             .width = 8, .height = 8, .mip_levels = 1, .array_layers = 1);
    ABI_EMIT(&r->b, CREATE_TEXTURE_VIEW, create_texture_view, .view_handle = 32, .texture_handle = 31,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .mip_level_count = 1, .array_layer_count = 1);
    ABI_EMIT(&r->b, EXPORT_SHARED_SURFACE, export_shared_surface, .resource_handle = 31, .share_token = 7);
    ABI_EMIT(&r->b, IMPORT_SHARED_SURFACE, import_shared_surface, .out_resource_handle = 33,
             .share_token = 7);
    rig_textured(r, "texture_ps.dxbc");
    rig_use_texture(r, 32);
    rig_draw(r, 3, 0);
    rig_present(r);
}

/* An engine of its own each time: what it has found once it does not make again. */
TEST(submissions_without_memory)
{
    unsigned n = 0;

    rig_of(state);
    for (int failed = 1; failed; n++) {
        const struct abi_completion *c;
        struct rig r;

        assert_int_equal(rig_create(&r), 0);
        scene(&r);
        alloc_fail_arm(n);
        c = rig_run(&r);
        failed = alloc_fail_disarm();
        if (c->error && (!failed || c->error != AEROGPU_ERROR_BACKEND || c->cause != ABI_CAUSE_MEMORY))
            fail_msg("call %u (%s): error %u, cause %u, %s", n, alloc_fail_what(), c->error, c->cause,
                     c->message);
        exec_engine_reset(r.engine);
        scene(&r);
        rig_run_ok(&r);
        rig_destroy(&r);
    }
    assert_true(n > 40);
}

/* ---- host ---------------------------------------------------------------- */

static struct exec_host_params host_params(void)
{
    return (struct exec_host_params){.executable = TEST_PROGRAMS "/exec_test_executor",
                                     .complete = no_completion};
}

static int use_host(void *ctx)
{
    const struct exec_host_params p = host_params();
    const int fd = *(int *)ctx;
    struct exec_host *host;
    struct error e = {0};
    int err = exec_host_create(&host, &p, &e);

    if (err)
        return err;
    err = exec_host_wait_ready(host, 10000, &e);
    if (!err)
        err = exec_host_map(host, 0, 65536, fd, 0, &e);
    if (!err)
        err = exec_host_unmap(host, 0, 65536);
    exec_host_destroy(host);
    return err;
}

TEST(host_without_memory)
{
    int fd = memfd_create("ram", MFD_CLOEXEC);

    assert_int_equal(ftruncate(fd, 65536), 0);
    assert_true(alloc_fail_each(use_host, &fd) >= 6);
    close(fd);
}

static int spawn(void *ctx)
{
    const struct exec_spawn_params p = {.path = TEST_PROGRAMS "/exec_test_executor", .done_fd = *(int *)ctx};
    struct exec_child child;
    struct error e = {0};
    int err = exec_spawn(&child, &p, &e);

    if (err)
        return err;
    kill(child.pid, SIGKILL);
    waitpid(child.pid, NULL, 0);
    exec_child_close(&child);
    exec_shared_unmap(child.shared);
    return 0;
}

TEST(start_without_memory)
{
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    assert_true(alloc_fail_each(spawn, &fds[1]) >= 4);
    close(fds[0]);
    close(fds[1]);
}

/* ---- process ------------------------------------------------------------- */

/* Two regions that touch, and a range across both. */
static int map_memory(void *ctx)
{
    const int fd = *(int *)ctx;
    struct exec_memory m;
    int err;

    exec_memory_init(&m);
    err = exec_memory_add(&m, 0x10000, 8192, fd, 0);
    if (!err)
        err = exec_memory_add(&m, 0x12000, 8192, fd, 8192);
    if (!err && !exec_memory_get(&m, 0x11000, 8192))
        err = -ENOMEM;
    exec_memory_finish(&m);
    return err;
}

TEST(guest_memory_without_memory)
{
    int fd = memfd_create("ram", MFD_CLOEXEC);

    assert_int_equal(ftruncate(fd, 16384), 0);
    assert_true(alloc_fail_each(map_memory, &fd) >= 5);
    close(fd);
}

TEST_GROUP(rig_group_setup, rig_group_teardown);
