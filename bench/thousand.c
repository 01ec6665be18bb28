/* SPDX-License-Identifier: MIT */
#include "thousand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/pci.h>

#include "abi/builder.h"

enum { STREAM_SPACE = 1 << 20, SHADER_SPACE = 65536, COLUMNS = 40, ROWS = 25 };

static struct thousand_vertex vertices[DRAWS * 6];

void check(int r, const char *what, const struct error *e)
{
    if (!r)
        return;
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
            e && e->code ? e->text : strerror(-r));
    exit(4);
}

const struct thousand_vertex *thousand_vertices(size_t *bytes)
{
    for (int i = 0; i < DRAWS; i++) {
        const int column = i % COLUMNS, row = i / COLUMNS;
        float x = -1 + 2.0f * (float)column / COLUMNS, y = 1 - 2.0f * (float)row / ROWS, w = 0.04f, h = 0.06f;
        const float corners[6][2] = {{x, y - h}, {x, y}, {x + w, y}, {x, y - h}, {x + w, y}, {x + w, y - h}};

        for (int k = 0; k < 6; k++)
            vertices[i * 6 + k] =
                (struct thousand_vertex){{corners[k][0], corners[k][1], 0, 1},
                                         {(float)(i % 7) / 7, (float)(i % 11) / 11, (float)k / 6, 1}};
    }
    *bytes = sizeof(vertices);
    return vertices;
}

void *thousand_shader(const char *name, size_t *size)
{
    char path[512];
    uint8_t *bytes;
    FILE *f;

    snprintf(path, sizeof(path), "%s/samples/shaders/%s", AEROGPU_SOURCE_DIR, name);
    f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(4);
    }
    bytes = malloc(SHADER_SPACE);
    *size = fread(bytes, 1, SHADER_SPACE, f);
    fclose(f);
    return bytes;
}

static void emit_shader(struct abi_builder *b, uint32_t handle, uint32_t stage, const char *name)
{
    size_t size;
    void *bytes = thousand_shader(name, &size);

    ABI_EMIT_TAIL(b, CREATE_SHADER_DXBC, create_shader_dxbc, bytes, (uint32_t)size, .shader_handle = handle,
                  .stage = stage, .dxbc_size_bytes = (uint32_t)size);
    free(bytes);
}

static void emit_objects(struct abi_builder *b)
{
    const struct aerogpu_vertex_buffer_binding vb = {.buffer = 1,
                                                     .stride_bytes = sizeof(struct thousand_vertex)};
    size_t bytes;
    const struct thousand_vertex *v = thousand_vertices(&bytes);

    ABI_EMIT(b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 2, .usage_flags = 16,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = WIDTH, .height = HEIGHT, .mip_levels = 1,
             .array_layers = 1);
    ABI_EMIT(b, CREATE_BUFFER, create_buffer, .buffer_handle = 1, .usage_flags = 1, .size_bytes = bytes);
    ABI_EMIT_TAIL(b, UPLOAD_RESOURCE, upload_resource, v, (uint32_t)bytes, .resource_handle = 1,
                  .size_bytes = bytes);
    emit_shader(b, 3, AEROGPU_SHADER_STAGE_VERTEX, "colour_vs.dxbc");
    emit_shader(b, 4, AEROGPU_SHADER_STAGE_PIXEL, "colour_ps.dxbc");
    abi_builder_layout(b, 5, "POSITION:4 COLOR:4");
    ABI_EMIT(b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {2});
    ABI_EMIT(b, BIND_SHADERS, bind_shaders, .vs = 3, .ps = 4);
    ABI_EMIT(b, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = 5);
    ABI_EMIT_TAIL(b, SET_VERTEX_BUFFERS, set_vertex_buffers, &vb, sizeof(vb), .buffer_count = 1);
}

static void emit_frame(struct abi_builder *b)
{
    ABI_EMIT(b, CLEAR, clear, .flags = 1, .color_rgba = {0, 0, 0, abi_f32(1)});
    for (uint32_t i = 0; i < DRAWS; i++)
        ABI_EMIT(b, DRAW, draw, .vertex_count = 6, .instance_count = 1, .first_vertex = i * 6);
    ABI_EMIT(b, PRESENT, present, .scanout_id = 0);
}

static void place(struct thousand *t, struct abi_builder *b)
{
    const void *bytes = abi_builder_end(b, &t->frame_size);

    memcpy(driver_ptr(t->driver, t->stream_gpa), bytes, t->frame_size);
    abi_builder_reset(b);
}

static void on_error(void *ctx, uint32_t code, uint64_t fence, uint32_t count)
{
    ((struct thousand *)ctx)->errors++;
}

void thousand_open(struct thousand *t, enum exec_markers markers)
{
    struct machine_params mp = {.kind = MACHINE_LIVE, .markers = markers};
    struct driver_params dp = {.on_error = on_error, .ctx = t};
    struct abi_builder b;
    struct error e = {0};

    *t = (struct thousand){0};
    check(machine_create(&t->machine, &mp, &e), "machine", &e);
    check(machine_wait_ready(t->machine, 30000, &e), "executor", &e);
    dp.machine = t->machine;
    check(driver_create(&t->driver, &dp, &e), "driver", &e);
    t->stream_gpa = driver_alloc(t->driver, STREAM_SPACE, 4096);
    abi_builder_init(&b);
    emit_objects(&b);
    place(t, &b);
    thousand_wait(t, thousand_submit(t));
    emit_frame(&b);
    place(t, &b);
    abi_builder_finish(&b);
}

void thousand_close(struct thousand *t)
{
    driver_destroy(t->driver);
    machine_destroy(t->machine);
}

uint64_t thousand_submit(struct thousand *t)
{
    struct driver_submission s = {.cmd_gpa = t->stream_gpa, .cmd_size = t->frame_size};
    uint64_t fence;

    check(driver_submit(t->driver, &s, &fence), "submit", NULL);
    return fence;
}

void thousand_wait(struct thousand *t, uint64_t fence)
{
    check(driver_wait(t->driver, fence, 10 * NSEC_PER_SEC), "wait", NULL);
}
