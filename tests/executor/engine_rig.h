/* SPDX-License-Identifier: MIT */
/* engine_rig.h: an engine in this process with guest memory around it, for tests. */
#pragma once

#include <pthread.h>

#include "abi/builder.h"
#include "executor/engine/engine.h"

enum {
    RIG_RAM = 64 << 20,
    RIG_STREAM_GPA = 1 << 20,
    RIG_TABLE_GPA = 16 << 20,
    RIG_SCANOUT_GPA = 24 << 20,
    RIG_DATA_GPA = 32 << 20, /* the test's own */
};

struct rig {
    struct exec_engine *engine;
    uint8_t *ram;
    struct abi_builder b;
    struct abi_scanout scanout;
    uint32_t context_id;
    uint64_t next_id;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct abi_completion last; /* the newest completion */
    uint64_t completed;         /* how many */
    bool overtaken;             /* one completed before another that was submitted before it */
    uint32_t num_allocs;
};

/* 0, or a negative errno when there is no Vulkan device. */
int rig_create(struct rig *r);
/* The same, with an engine of these parameters; whom it calls is filled in. */
int rig_create_like(struct rig *r, const struct exec_engine_params *like);
void rig_destroy(struct rig *r);
/* A scanout of this size in format R8G8B8A8. */
void rig_scanout(struct rig *r, uint32_t width, uint32_t height);
/* Adds an entry to the allocation table of the next submission. */
void rig_alloc(struct rig *r, uint32_t alloc_id, uint64_t gpa, uint64_t size, uint32_t flags);
/* Submits what r->b holds, waits, empties r->b. */
const struct abi_completion *rig_run(struct rig *r);
/* The same, without waiting. */
void rig_submit(struct rig *r);
void rig_wait(struct rig *r);
/* Fails the test with the completion's message unless it is a success. */
void rig_run_ok(struct rig *r);
/* RGBA of the pixel of the scanout, as 0xRRGGBBAA. */
uint32_t rig_pixel(const struct rig *r, uint32_t x, uint32_t y);
/* Saves the scanout if the environment has AEROGPU_TEST_PNG=DIR. */
void rig_save(const struct rig *r, const char *name);
/* Bytes of a file of samples/shaders, or NULL; *size gets the length. free() them. */
uint8_t *rig_shader(const char *name, uint32_t *size);

/* ---- packets, appended to r->b ------------------------------------------- */

#define RED     0xFF0000FFu
#define GREEN   0x00FF00FFu
#define BLUE    0x0000FFFFu
#define WHITE   0xFFFFFFFFu
#define BLACK   0x000000FFu
#define YELLOW  0xFFFF00FFu
#define MAGENTA 0xFF00FFFFu

enum { TARGET = 100, DEPTH = 101 };

struct rig_vertex {
    float x, y, z, w;
    float r, g, b, a;
};

#define V(x, y, z, c)                                                                                        \
    {                                                                                                        \
        x, y, z, 1, (float)((c) >> 24) / 255, (float)((c) >> 16 & 255) / 255, (float)((c) >> 8 & 255) / 255, \
            (float)((c)&255) / 255                                                                           \
    }
/* A rectangle of two clockwise triangles. */
#define RECT(x0, y0, x1, y1, z, c)                                                                           \
    V(x0, y0, z, c), V(x0, y1, z, c), V(x1, y1, z, c), V(x0, y0, z, c), V(x1, y1, z, c), V(x1, y0, z, c)

struct rig_element {
    const char *semantic;
    uint32_t index, dxgi, slot, offset, per_instance, step;
};

void rig_make_target_of(struct rig *r, uint32_t handle, uint32_t format, uint32_t w, uint32_t h);
void rig_set_target(struct rig *r, uint32_t color, uint32_t depth);
void rig_make_target(struct rig *r);
void rig_clear(struct rig *r, uint32_t flags, uint32_t rgba, float depth, uint32_t stencil);
void rig_make_buffer(struct rig *r, uint32_t handle, const void *data, uint32_t size);
void rig_make_shader(struct rig *r, uint32_t handle, uint32_t stage, uint32_t stage_ex, const char *file);
void rig_bind_vb(struct rig *r, uint32_t slot, uint32_t handle, uint32_t stride, uint32_t offset);
void rig_draw(struct rig *r, uint32_t count, uint32_t first);
void rig_present(struct rig *r);
void rig_upload(struct rig *r, uint32_t handle, uint64_t offset, const void *data, uint32_t size);
void rig_use_texture(struct rig *r, uint32_t handle);
void rig_make_layout(struct rig *r, uint32_t handle, const struct rig_element *e, uint32_t n);

/* Shaders 10 and 11 of these files, which take a rig_vertex, their layout 12, and the vertices as buffer 1. */
void rig_coloured(struct rig *r, const char *vs, const char *ps, const struct rig_vertex *v, uint32_t n);
/* The same with colour_vs.dxbc and colour_ps.dxbc. */
void rig_plain(struct rig *r, const struct rig_vertex *v, uint32_t n);
/* fullscreen_vs.dxbc (shader 13) with a pixel shader that reads t0 (14), and sampler 15. */
void rig_textured(struct rig *r, const char *ps);

/* ---- groups of tests: cmocka's state is the rig, NULL where there is no Vulkan device ---- */

struct rig *rig_of(void **state); /* skips the test if there is none */
int rig_group_setup(void **state);
int rig_group_teardown(void **state);
int rig_each(void **state); /* before each test: an engine that has forgotten everything */
#define RIG_TEST(name) TEST_WITH(name, rig_each, NULL)
/* Runs and fails the test unless the error is `code` and its message contains `text`. */
void rig_expect_error(struct rig *r, uint32_t code, const char *text);
