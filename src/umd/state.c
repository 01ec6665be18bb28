/* SPDX-License-Identifier: MIT */
/* state.c: shaders, bindings, draws and dispatches. */
#include "umd/priv.h"

NTSTATUS umd_shader(struct umd_device *d, uint32_t *out, uint32_t stage, const void *dxbc, size_t size)
{
    if (size > d->command_size / 2)
        return STATUS_INVALID_BUFFER_SIZE;
    *out = umd_name(d);
    ABI_EMIT_TAIL(&d->stream, CREATE_SHADER_DXBC, create_shader_dxbc, dxbc, (uint32_t)size,
                  .shader_handle = *out, .stage = stage, .dxbc_size_bytes = (uint32_t)size);
    umd_made(d, *out, false);
    return STATUS_SUCCESS;
}

uint32_t umd_layout(struct umd_device *d, const char *spec)
{
    uint32_t handle = umd_name(d);

    abi_builder_layout(&d->stream, handle, spec);
    umd_made(d, handle, true);
    ABI_EMIT(&d->stream, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = handle);
    return handle;
}

void umd_bind_shaders(struct umd_device *d, uint32_t vs, uint32_t ps, uint32_t cs)
{
    ABI_EMIT(&d->stream, BIND_SHADERS, bind_shaders, .vs = vs, .ps = ps, .cs = cs);
}

void umd_target(struct umd_device *d, struct umd_resource *colour)
{
    umd_rebind(&d->target, colour, true);
    umd_use(colour, true);
    ABI_EMIT(&d->stream, SET_RENDER_TARGETS, set_render_targets, .color_count = colour ? 1 : 0,
             .colors = {colour ? colour->handle : 0});
    if (colour)
        ABI_EMIT(&d->stream, SET_VIEWPORT, set_viewport, .width = abi_f32((float)colour->width),
                 .height = abi_f32((float)colour->height), .max_depth = abi_f32(1));
}

void umd_clear(struct umd_device *d, float r, float g, float b, float a)
{
    ABI_EMIT(&d->stream, CLEAR, clear, .flags = AEROGPU_CLEAR_COLOR,
             .color_rgba = {abi_f32(r), abi_f32(g), abi_f32(b), abi_f32(a)}, .depth = abi_f32(1));
}

void umd_vertices(struct umd_device *d, struct umd_resource *buffer, uint32_t stride)
{
    struct aerogpu_vertex_buffer_binding binding = {.buffer = buffer ? buffer->handle : 0,
                                                    .stride_bytes = stride};

    umd_rebind(&d->vertices, buffer, false);
    ABI_EMIT_TAIL(&d->stream, SET_VERTEX_BUFFERS, set_vertex_buffers, &binding, sizeof(binding),
                  .buffer_count = 1);
}

void umd_constants(struct umd_device *d, uint32_t stage, struct umd_resource *buffer, uint32_t size)
{
    struct aerogpu_constant_buffer_binding binding = {.buffer = buffer ? buffer->handle : 0,
                                                      .size_bytes = size};

    umd_rebind(&d->constants[stage & 7], buffer, false);
    ABI_EMIT_TAIL(&d->stream, SET_CONSTANT_BUFFERS, set_constant_buffers, &binding, sizeof(binding),
                  .shader_stage = stage, .buffer_count = 1);
}

void umd_draw(struct umd_device *d, uint32_t vertices)
{
    ABI_EMIT(&d->stream, DRAW, draw, .vertex_count = vertices, .instance_count = 1);
}

void umd_dispatch(struct umd_device *d, struct umd_resource *uav, uint32_t x, uint32_t y, uint32_t z)
{
    struct aerogpu_unordered_access_buffer_binding binding = {
        .buffer = uav ? uav->handle : 0, .initial_count = AEROGPU_UAV_INITIAL_COUNT_KEEP};

    umd_rebind(&d->uav, uav, true);
    ABI_EMIT_TAIL(&d->stream, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, &binding,
                  sizeof(binding), .shader_stage = AEROGPU_SHADER_STAGE_COMPUTE, .uav_count = 1);
    ABI_EMIT(&d->stream, DISPATCH, dispatch, .group_count_x = x, .group_count_y = y, .group_count_z = z);
}
