/* SPDX-License-Identifier: MIT */
#include "sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <aerogpu/alloc.h>

void sample_begin_frame(struct sample *s)
{
    if (!s->error.code)
        trace_writer_begin_frame(s->trace, s->frame, &s->error);
}

void sample_end_frame(struct sample *s)
{
    if (!s->error.code)
        trace_writer_present(s->trace, &s->error);
    s->frame++;
}

void sample_add_alloc(struct sample *s, uint32_t id, uint64_t gpa, void *data, uint32_t size)
{
    void *written = malloc(size);

    if (!written)
        error_set(&s->error, -ENOMEM, "no memory for an allocation");
    else
        s->allocs[s->num_allocs++] =
            (struct sample_alloc){.id = id, .gpa = gpa, .data = data, .size = size, .written = written};
}

static void write_allocs(struct sample *s, struct trace_submission *sub, struct trace_range *ranges)
{
    struct {
        struct aerogpu_alloc_table_header header;
        struct aerogpu_alloc_entry entries[SAMPLE_MAX_ALLOCS];
    } table = {.header = {.magic = AEROGPU_ALLOC_TABLE_MAGIC,
                          .abi_version = AEROGPU_ABI_VERSION_U32,
                          .size_bytes = 24 + 32 * s->num_allocs,
                          .entry_count = s->num_allocs,
                          .entry_stride_bytes = 32}};

    for (uint32_t i = 0; i < s->num_allocs; i++) {
        struct sample_alloc *a = &s->allocs[i];

        table.entries[i] =
            (struct aerogpu_alloc_entry){.alloc_id = a->id, .gpa = a->gpa, .size_bytes = a->size};
        if (!a->blob || memcmp(a->written, a->data, a->size)) {
            trace_writer_blob(s->trace, TRACE_BLOB_ALLOC_MEMORY, a->data, a->size, &a->blob, &s->error);
            memcpy(a->written, a->data, a->size);
        }
        ranges[i] = (struct trace_range){.alloc_id = a->id, .gpa = a->gpa, .size = a->size, .blob = a->blob};
    }
    trace_writer_blob(s->trace, TRACE_BLOB_ALLOC_TABLE, &table, table.header.size_bytes, &sub->alloc_blob,
                      &s->error);
    sub->ranges = ranges;
    sub->num_ranges = s->num_allocs;
}

void sample_submit(struct sample *s, uint32_t context, uint32_t submit_flags)
{
    struct trace_submission sub = {
        .submit_flags = submit_flags, .context_id = context, .signal_fence = ++s->fence};
    struct trace_range ranges[SAMPLE_MAX_ALLOCS];
    uint32_t size = 0;
    const void *stream = abi_builder_end(&s->stream, &size);

    if (!stream)
        error_set(&s->error, -ENOMEM, "no memory for a command stream");
    if (!s->error.code)
        trace_writer_blob(s->trace, TRACE_BLOB_CMD_STREAM, stream, size, &sub.cmd_blob, &s->error);
    if (!s->error.code && s->num_allocs)
        write_allocs(s, &sub, ranges);
    if (!s->error.code)
        trace_writer_submission(s->trace, &sub, &s->error);
    abi_builder_reset(&s->stream);
}

void sample_shader(struct sample *s, uint32_t handle, uint32_t stage, const char *name)
{
    char path[4096];
    static uint8_t code[64 * 1024];
    size_t size;
    FILE *in;

    snprintf(path, sizeof(path), "%s/%s", s->shaders, name);
    in = fopen(path, "re");
    if (!in) {
        error_set(&s->error, -errno, "%s: %s", path, strerror(errno));
        return;
    }
    size = fread(code, 1, sizeof(code), in);
    if (ferror(in) || !feof(in))
        error_set(&s->error, -EIO, "%s: cannot be read whole", path);
    fclose(in);
    ABI_EMIT_TAIL(&s->stream, CREATE_SHADER_DXBC, create_shader_dxbc, code, (uint32_t)size,
                  .shader_handle = handle, .stage = stage, .dxbc_size_bytes = (uint32_t)size);
}

void sample_buffer(struct sample *s, uint32_t handle, uint32_t usage, const void *data, uint32_t size)
{
    uint32_t padded = (size + 3) & ~3u;

    ABI_EMIT(&s->stream, CREATE_BUFFER, create_buffer, .buffer_handle = handle, .usage_flags = usage,
             .size_bytes = padded);
    if (data)
        ABI_EMIT_TAIL(&s->stream, UPLOAD_RESOURCE, upload_resource, data, size, .resource_handle = handle,
                      .size_bytes = padded);
}

void sample_viewport(struct sample *s, float width, float height)
{
    ABI_EMIT(&s->stream, SET_VIEWPORT, set_viewport, .width = abi_f32(width), .height = abi_f32(height),
             .max_depth = abi_f32(1));
}

void sample_targets(struct sample *s, uint32_t colour, uint32_t depth, uint32_t width, uint32_t height,
                    uint32_t format)
{
    ABI_EMIT(&s->stream, CREATE_TEXTURE2D, create_texture2d, .texture_handle = colour,
             .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET | AEROGPU_RESOURCE_USAGE_TEXTURE,
             .format = format, .width = width, .height = height, .mip_levels = 1, .array_layers = 1);
    if (depth)
        ABI_EMIT(&s->stream, CREATE_TEXTURE2D, create_texture2d, .texture_handle = depth,
                 .usage_flags = AEROGPU_RESOURCE_USAGE_DEPTH_STENCIL, .format = AEROGPU_FORMAT_D32_FLOAT,
                 .width = width, .height = height, .mip_levels = 1, .array_layers = 1);
    ABI_EMIT(&s->stream, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .depth_stencil = depth,
             .colors = {colour});
    sample_viewport(s, (float)width, (float)height);
}

void sample_clear(struct sample *s, uint32_t flags, float r, float g, float b)
{
    ABI_EMIT(&s->stream, CLEAR, clear, .flags = flags,
             .color_rgba = {abi_f32(r), abi_f32(g), abi_f32(b), abi_f32(1)}, .depth = abi_f32(1));
}

void sample_layout(struct sample *s, uint32_t handle, const char *spec)
{
    abi_builder_layout(&s->stream, handle, spec);
    ABI_EMIT(&s->stream, SET_INPUT_LAYOUT, set_input_layout, .input_layout_handle = handle);
}

void sample_bind_vertices(struct sample *s, uint32_t buffer, uint32_t stride)
{
    struct aerogpu_vertex_buffer_binding binding = {.buffer = buffer, .stride_bytes = stride};

    ABI_EMIT_TAIL(&s->stream, SET_VERTEX_BUFFERS, set_vertex_buffers, &binding, sizeof(binding),
                  .buffer_count = 1);
}

void sample_bind_constants(struct sample *s, uint32_t stage, uint32_t slot, uint32_t buffer, uint32_t size)
{
    struct aerogpu_constant_buffer_binding binding = {.buffer = buffer, .size_bytes = size};

    ABI_EMIT_TAIL(&s->stream, SET_CONSTANT_BUFFERS, set_constant_buffers, &binding, sizeof(binding),
                  .shader_stage = stage, .start_slot = slot, .buffer_count = 1);
}

void sample_bind_shaders(struct sample *s, uint32_t vs, uint32_t ps)
{
    ABI_EMIT(&s->stream, BIND_SHADERS, bind_shaders, .vs = vs, .ps = ps);
}
