/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "crash_scene.h"
#include "plant.h"

void crash_shader(struct abi_builder *b, uint32_t handle, uint32_t stage, const void *bytes, uint32_t size)
{
    ABI_EMIT_TAIL(b, CREATE_SHADER_DXBC, create_shader_dxbc, bytes, size, .shader_handle = handle,
                  .stage = stage, .dxbc_size_bytes = size);
}

void crash_scene(struct abi_builder *b)
{
    static uint8_t code[65536];
    char path[4096];
    uint32_t size;
    FILE *f;

    snprintf(path, sizeof(path), "%s/samples/shaders/fullscreen_vs.dxbc", getenv("AEROGPU_SOURCE_ROOT"));
    f = fopen(path, "rb");
    assert_non_null(f);
    size = (uint32_t)fread(code, 1, sizeof(code), f);
    fclose(f);
    ABI_EMIT(b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 1, .usage_flags = 16,
             .format = AEROGPU_FORMAT_R8G8B8A8_UNORM, .width = 1024, .height = 1024, .mip_levels = 1,
             .array_layers = 1);
    crash_shader(b, 2, AEROGPU_SHADER_STAGE_VERTEX, code, size);
    crash_shader(b, 3, AEROGPU_SHADER_STAGE_PIXEL, plant_endless.words, plant_endless.size);
    ABI_EMIT(b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {1});
    ABI_EMIT(b, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, .topology = AEROGPU_TOPOLOGY_TRIANGLELIST);
    ABI_EMIT(b, CLEAR, clear, .flags = 1);
}

void crash_endless_draw(struct abi_builder *b)
{
    ABI_EMIT(b, BIND_SHADERS, bind_shaders, .vs = 2, .ps = 3);
    ABI_EMIT(b, DRAW, draw, .vertex_count = 3, .instance_count = 1);
}
