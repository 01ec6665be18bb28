/* SPDX-License-Identifier: MIT */
/* scene.c: what several tests draw, dispatch and look at. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file/png.h"
#include "suite_shaders.h"

NTSTATUS suite_scene_create(struct suite_scene *sc, struct umd_device *d, uint32_t width, uint32_t height)
{
    static const float triangle[3][8] = {{0, 0.6f, 0.5f, 1, 0, 1, 0, 1},
                                         {0.6f, -0.6f, 0.5f, 1, 0, 1, 0, 1},
                                         {-0.6f, -0.6f, 0.5f, 1, 0, 1, 0, 1}};
    struct umd_texture_params p = {.width = width,
                                   .height = height,
                                   .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                   .usage =
                                       AEROGPU_RESOURCE_USAGE_RENDER_TARGET | AEROGPU_RESOURCE_USAGE_TEXTURE};
    NTSTATUS s;

    *sc = (struct suite_scene){.device = d};
    s = umd_texture(d, &sc->target, &p);
    if (NT_SUCCESS(s))
        s = umd_buffer(d, &sc->vertices, AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, triangle, sizeof(triangle),
                       false);
    if (NT_SUCCESS(s))
        s = umd_shader(d, &sc->vs, AEROGPU_SHADER_STAGE_VERTEX, colour_vs_dxbc, sizeof(colour_vs_dxbc));
    if (NT_SUCCESS(s))
        s = umd_shader(d, &sc->ps, AEROGPU_SHADER_STAGE_PIXEL, colour_ps_dxbc, sizeof(colour_ps_dxbc));
    if (!NT_SUCCESS(s))
        return s;
    sc->layout = umd_layout(d, "POSITION:4 COLOR:4");
    return STATUS_SUCCESS;
}

void suite_scene_draw(struct suite_scene *sc)
{
    struct umd_device *d = sc->device;

    umd_target(d, sc->target);
    umd_clear(d, 1, 0, 0, 1);
    umd_bind_shaders(d, sc->vs, sc->ps, 0);
    ABI_EMIT(umd_stream(d), SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = sc->layout);
    ABI_EMIT(umd_stream(d), SET_RASTERIZER_STATE, set_rasterizer_state, .cull_mode = AEROGPU_CULL_NONE);
    ABI_EMIT(umd_stream(d), SET_PRIMITIVE_TOPOLOGY, set_primitive_topology,
             .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    umd_vertices(d, sc->vertices, 32);
    umd_draw(d, 3);
}

void suite_scene_destroy(struct suite_scene *sc)
{
    umd_destroy(sc->vertices);
    umd_destroy(sc->target);
    *sc = (struct suite_scene){0};
}

bool suite_scene_check(struct suite *s, const uint32_t *pixels, uint32_t width, uint32_t height)
{
    uint32_t corner = pixels[5 * width + 5] & 0xFFFFFF,
             centre = pixels[height / 2 * width + width / 2] & 0xFFFFFF;

    if (s->host && s->host->sim) /* nothing is drawn there */
        return true;
    if (corner != 0xFF0000)
        suite_fail(s, "pixel (5,5) is #%06x, expected #ff0000", corner);
    else if (centre != 0x00FF00)
        suite_fail(s, "the centre is #%06x, expected #00ff00", centre);
    return !s->failed;
}

void suite_dump(struct suite *s, const char *what, const uint32_t *pixels, uint32_t width, uint32_t height)
{
    uint8_t *rgba;
    char path[512];

    if (!s->dump)
        return;
    rgba = malloc((size_t)width * height * 4);
    for (size_t i = 0; rgba && i < (size_t)width * height; i++) {
        rgba[4 * i] = (uint8_t)(pixels[i] >> 16);
        rgba[4 * i + 1] = (uint8_t)(pixels[i] >> 8);
        rgba[4 * i + 2] = (uint8_t)pixels[i];
        rgba[4 * i + 3] = 255;
    }
    snprintf(path, sizeof(path), "%s%s%s_%s.png", s->log_dir ? s->log_dir : "", s->log_dir ? "/" : "",
             s->name, what);
    if (rgba && !png_file_write(path, rgba, width, height, (size_t)width * 4, NULL))
        suite_artifact(s, path);
    free(rgba);
}

NTSTATUS suite_dispatch(struct umd_device *d, struct umd_resource **buffer, uint32_t groups_x,
                        uint32_t groups_y)
{
    const uint32_t extent[4] = {groups_x * 8 < 64 ? groups_x * 8 : 64, groups_y * 8 < 64 ? groups_y * 8 : 64,
                                0, 0};
    struct umd_resource *size = NULL;
    uint32_t cs;
    NTSTATUS s;

    *buffer = NULL;
    s = umd_buffer(d, buffer, AEROGPU_RESOURCE_USAGE_STORAGE, NULL, 64 * 64 * 4, false);
    if (NT_SUCCESS(s))
        s = umd_buffer(d, &size, AEROGPU_RESOURCE_USAGE_CONSTANT_BUFFER, extent, sizeof(extent), false);
    if (NT_SUCCESS(s))
        s = umd_shader(d, &cs, AEROGPU_SHADER_STAGE_COMPUTE, picture_raw_cs_dxbc,
                       sizeof(picture_raw_cs_dxbc));
    if (!NT_SUCCESS(s))
        return s;
    umd_bind_shaders(d, 0, 0, cs);
    umd_constants(d, AEROGPU_SHADER_STAGE_COMPUTE, size, sizeof(extent));
    umd_dispatch(d, *buffer, groups_x, groups_y, 1);
    return STATUS_SUCCESS;
}

NTSTATUS suite_hang(struct suite *s, struct umd_device *d)
{
    struct umd_resource *buffer;
    bool sim = s->host && s->host->sim; /* its executor runs no shaders: it is stopped instead */
    NTSTATUS st;

    if (sim && !suite_fault(s, DXGK_FAULT_STOP_EXECUTOR, 1))
        return STATUS_NOT_SUPPORTED;
    st = suite_dispatch(d, &buffer, sim ? 1 : 65535, sim ? 1 : 65535);
    return NT_SUCCESS(st) ? umd_flush(d, NULL) : st;
}
