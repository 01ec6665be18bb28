/* SPDX-License-Identifier: MIT */
/* cmd.h: the command stream: a header, then packets.
 *
 * This file is a table. Every enumeration, every packet and every field stands in it once, with its meaning; the structs
 * and constants below are made from it, and so are the decoder, validator, printer and reference page (src/abi).
 *
 * Rules of the stream:
 *  - it begins with struct aerogpu_cmd_stream_header; packets follow until its size_bytes, trailing bytes are ignored;
 *  - a packet is { u32 opcode, u32 size_bytes, … }: size_bytes counts the header, is a multiple of 4 and stays inside the
 *    stream;
 *  - sizes of packets are minima: a longer packet is legal and what is not understood is ignored;
 *  - an unknown opcode is skipped by its size;
 *  - handles live in one namespace for all kinds and all contexts, 0 is none; pipeline state belongs to a context.
 */
#pragma once

#include <aerogpu/abi.h>

typedef uint32_t aerogpu_handle_t;

#define AEROGPU_CMD_STREAM_MAGIC           0x444D4341u /* "ACMD" */
#define AEROGPU_MAX_RENDER_TARGETS         8u
#define AEROGPU_STAGE_EX_MIN_ABI_MINOR     3u /* below it, stage_ex fields are reserved and ignored */
#define AEROGPU_INPUT_LAYOUT_BLOB_MAGIC    0x59414C49u /* "ILAY" */
#define AEROGPU_INPUT_LAYOUT_BLOB_VERSION  1u
#define AEROGPU_UAV_INITIAL_COUNT_KEEP     0xFFFFFFFFu
#define AEROGPU_BIND_SHADERS_EXTENDED_SIZE 36u /* with {gs, hs, ds} appended */

/* ---- enumerations: V(name, value) ---------------------------------------- */

#define AEROGPU_ENUM_SHADER_STAGE(V) V(VERTEX, 0) V(PIXEL, 1) V(COMPUTE, 2) V(GEOMETRY, 3)

/* Where a packet has a stage_ex field and stage is COMPUTE, a value other than NONE names the stage instead. The values
 * are DXBC program types; 1 would be a vertex shader and is invalid. */
#define AEROGPU_ENUM_SHADER_STAGE_EX(V) V(NONE, 0) V(GEOMETRY, 2) V(HULL, 3) V(DOMAIN, 4) V(COMPUTE, 5)

#define AEROGPU_ENUM_INDEX_FORMAT(V)    V(UINT16, 0) V(UINT32, 1)
#define AEROGPU_ENUM_SAMPLER_FILTER(V)  V(NEAREST, 0) V(LINEAR, 1)
#define AEROGPU_ENUM_SAMPLER_ADDRESS(V) V(CLAMP_TO_EDGE, 0) V(REPEAT, 1) V(MIRROR_REPEAT, 2)
#define AEROGPU_ENUM_FILL(V)            V(SOLID, 0) V(WIREFRAME, 1)
#define AEROGPU_ENUM_CULL(V)            V(NONE, 0) V(FRONT, 1) V(BACK, 2)
#define AEROGPU_ENUM_BLEND_OP(V)        V(ADD, 0) V(SUBTRACT, 1) V(REV_SUBTRACT, 2) V(MIN, 3) V(MAX, 4)

#define AEROGPU_ENUM_BLEND(V)                                                                                \
    V(ZERO, 0)                                                                                               \
    V(ONE, 1)                                                                                                \
    V(SRC_ALPHA, 2)                                                                                          \
    V(INV_SRC_ALPHA, 3)                                                                                      \
    V(DEST_ALPHA, 4)                                                                                         \
    V(INV_DEST_ALPHA, 5)                                                                                     \
    V(CONSTANT, 6)                                                                                           \
    V(INV_CONSTANT, 7)

#define AEROGPU_ENUM_COMPARE(V)                                                                              \
    V(NEVER, 0)                                                                                              \
    V(LESS, 1)                                                                                               \
    V(EQUAL, 2)                                                                                              \
    V(LESS_EQUAL, 3)                                                                                         \
    V(GREATER, 4)                                                                                            \
    V(NOT_EQUAL, 5)                                                                                          \
    V(GREATER_EQUAL, 6)                                                                                      \
    V(ALWAYS, 7)

#define AEROGPU_ENUM_TOPOLOGY(V)                                                                             \
    V(POINTLIST, 1)                                                                                          \
    V(LINELIST, 2)                                                                                           \
    V(LINESTRIP, 3)                                                                                          \
    V(TRIANGLELIST, 4)                                                                                       \
    V(TRIANGLESTRIP, 5)                                                                                      \
    V(TRIANGLEFAN, 6)                                                                                        \
    V(LINELIST_ADJ, 10)                                                                                      \
    V(LINESTRIP_ADJ, 11)                                                                                     \
    V(TRIANGLELIST_ADJ, 12)                                                                                  \
    V(TRIANGLESTRIP_ADJ, 13)                                                                                 \
    V(PATCHLIST_1, 33)                                                                                       \
    V(PATCHLIST_2, 34)                                                                                       \
    V(PATCHLIST_3, 35)                                                                                       \
    V(PATCHLIST_4, 36)                                                                                       \
    V(PATCHLIST_5, 37)                                                                                       \
    V(PATCHLIST_6, 38)                                                                                       \
    V(PATCHLIST_7, 39)                                                                                       \
    V(PATCHLIST_8, 40)                                                                                       \
    V(PATCHLIST_9, 41)                                                                                       \
    V(PATCHLIST_10, 42)                                                                                      \
    V(PATCHLIST_11, 43)                                                                                      \
    V(PATCHLIST_12, 44)                                                                                      \
    V(PATCHLIST_13, 45)                                                                                      \
    V(PATCHLIST_14, 46)                                                                                      \
    V(PATCHLIST_15, 47)                                                                                      \
    V(PATCHLIST_16, 48)                                                                                      \
    V(PATCHLIST_17, 49)                                                                                      \
    V(PATCHLIST_18, 50)                                                                                      \
    V(PATCHLIST_19, 51)                                                                                      \
    V(PATCHLIST_20, 52)                                                                                      \
    V(PATCHLIST_21, 53)                                                                                      \
    V(PATCHLIST_22, 54)                                                                                      \
    V(PATCHLIST_23, 55)                                                                                      \
    V(PATCHLIST_24, 56)                                                                                      \
    V(PATCHLIST_25, 57)                                                                                      \
    V(PATCHLIST_26, 58)                                                                                      \
    V(PATCHLIST_27, 59)                                                                                      \
    V(PATCHLIST_28, 60)                                                                                      \
    V(PATCHLIST_29, 61)                                                                                      \
    V(PATCHLIST_30, 62)                                                                                      \
    V(PATCHLIST_31, 63)                                                                                      \
    V(PATCHLIST_32, 64)

/* flags: the values are single bits */
#define AEROGPU_ENUM_RESOURCE_USAGE(V)                                                                       \
    V(VERTEX_BUFFER, 1)                                                                                      \
    V(INDEX_BUFFER, 2)                                                                                       \
    V(CONSTANT_BUFFER, 4)                                                                                    \
    V(TEXTURE, 8)                                                                                            \
    V(RENDER_TARGET, 16)                                                                                     \
    V(DEPTH_STENCIL, 32)                                                                                     \
    V(SCANOUT, 64)                                                                                           \
    V(STORAGE, 128)
#define AEROGPU_ENUM_COPY_FLAG(V)       V(WRITEBACK_DST, 1)
#define AEROGPU_ENUM_CLEAR(V)           V(COLOR, 1) V(DEPTH, 2) V(STENCIL, 4)
#define AEROGPU_ENUM_PRESENT_FLAG(V)    V(VSYNC, 1)
#define AEROGPU_ENUM_RASTERIZER_FLAG(V) V(DEPTH_CLIP_DISABLE, 1)

/* E(ENUM): every enumeration above; the constants are AEROGPU_<ENUM>_<name>. */
#define AEROGPU_ENUMS(E)                                                                                     \
    E(SHADER_STAGE)                                                                                          \
    E(SHADER_STAGE_EX)                                                                                       \
    E(INDEX_FORMAT)                                                                                          \
    E(SAMPLER_FILTER)                                                                                        \
    E(SAMPLER_ADDRESS)                                                                                       \
    E(FILL)                                                                                                  \
    E(CULL)                                                                                                  \
    E(BLEND_OP)                                                                                              \
    E(BLEND)                                                                                                 \
    E(COMPARE)                                                                                               \
    E(TOPOLOGY)
#define AEROGPU_FLAG_ENUMS(E)                                                                                \
    E(RESOURCE_USAGE)                                                                                        \
    E(COPY_FLAG)                                                                                             \
    E(CLEAR)                                                                                                 \
    E(PRESENT_FLAG)                                                                                          \
    E(RASTERIZER_FLAG)

/* ---- fields: F(type, name, kind, meaning), A(type, name, count, kind, meaning) --------------------------------------
 *
 * type: U8 U32 I32 U64, F32 (IEEE-754 bits in a u32).
 * kind, what the value is: one of AEROGPU_KINDS, or of the enumerations above.
 */
#define AEROGPU_KINDS(K)                                                                                     \
    K(U, "")                                                                                                 \
    K(X, "") /* best read in hexadecimal */                                                                  \
    K(FLOAT, "float")                                                                                        \
    K(RSV, "reserved")                                                                                       \
    K(HANDLE, "handle")     /* of an object that is used, or 0 */                                            \
    K(NEW, "new handle")    /* of the object that the packet makes */                                        \
    K(END, "handle, ended") /* of the object that the packet ends */                                         \
    K(ALLOC, "alloc_id")    /* or 0 */                                                                       \
    K(TOKEN, "token")       /* of a shared surface */                                                        \
    K(FORMAT, "format")     /* pci.h */                                                                      \
    K(BOOL, "0 or 1")                                                                                        \
    K(MASK, "bits")                                                                                          \
    K(D3DRS, "D3DRENDERSTATETYPE")                                                                           \
    K(D3DSAMP, "D3DSAMPLERSTATETYPE")

#define AEROGPU_FIELDS_NOP(F, A)
#define AEROGPU_FIELDS_DEBUG_MARKER(F, A)
#define AEROGPU_FIELDS_CREATE_BUFFER(F, A)                                                                   \
    F(U32, buffer_handle, NEW, "handle of the new buffer")                                                   \
    F(U32, usage_flags, RESOURCE_USAGE, "what it may be bound as")                                           \
    F(U64, size_bytes, U, "size, a multiple of 4, not 0")                                                    \
    F(U32, backing_alloc_id, ALLOC, "guest allocation behind it, 0: memory of the host")                     \
    F(U32, backing_offset_bytes, U, "where the buffer begins in that allocation")                            \
    F(U64, reserved0, RSV, "0")
#define AEROGPU_FIELDS_CREATE_TEXTURE2D(F, A)                                                                \
    F(U32, texture_handle, NEW, "handle of the new texture")                                                 \
    F(U32, usage_flags, RESOURCE_USAGE, "what it may be bound as")                                           \
    F(U32, format, FORMAT, "texel format")                                                                   \
    F(U32, width, U, "texels, not 0")                                                                        \
    F(U32, height, U, "texels, not 0")                                                                       \
    F(U32, mip_levels, U, "at least 1")                                                                      \
    F(U32, array_layers, U, "at least 1")                                                                    \
    F(U32, row_pitch_bytes, U,                                                                               \
      "bytes from row to row of mip 0 (block rows for BC formats); 0: tight, legal without backing only")    \
    F(U32, backing_alloc_id, ALLOC, "guest allocation behind it, 0: memory of the host")                     \
    F(U32, backing_offset_bytes, U, "where the texture begins in that allocation")                           \
    F(U64, reserved0, RSV, "0")
#define AEROGPU_FIELDS_DESTROY_RESOURCE(F, A)                                                                \
    F(U32, resource_handle, END, "buffer, texture or alias; unknown handles are ignored")                    \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_RESOURCE_DIRTY_RANGE(F, A)                                                            \
    F(U32, resource_handle, HANDLE, "guest-backed buffer or texture")                                        \
    F(U32, reserved0, RSV, "0")                                                                              \
    F(U64, offset_bytes, U, "first byte that the guest changed, from the start of the resource")             \
    F(U64, size_bytes, U, "bytes changed")
#define AEROGPU_FIELDS_UPLOAD_RESOURCE(F, A)                                                                 \
    F(U32, resource_handle, HANDLE, "buffer or texture")                                                     \
    F(U32, reserved0, RSV, "0")                                                                              \
    F(U64, offset_bytes, U,                                                                                  \
      "where the bytes go, in the linear layout of the resource; multiple of 4 for buffers")                 \
    F(U64, size_bytes, U, "bytes that follow; multiple of 4 for buffers")
#define AEROGPU_FIELDS_COPY_BUFFER(F, A)                                                                     \
    F(U32, dst_buffer, HANDLE, "destination")                                                                \
    F(U32, src_buffer, HANDLE, "source")                                                                     \
    F(U64, dst_offset_bytes, U, "multiple of 4")                                                             \
    F(U64, src_offset_bytes, U, "multiple of 4")                                                             \
    F(U64, size_bytes, U, "multiple of 4")                                                                   \
    F(U32, flags, COPY_FLAG, "WRITEBACK_DST: the result goes to guest memory before the fence")              \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_COPY_TEXTURE2D(F, A)                                                                  \
    F(U32, dst_texture, HANDLE, "destination")                                                               \
    F(U32, src_texture, HANDLE, "source, of the same format")                                                \
    F(U32, dst_mip_level, U, "")                                                                             \
    F(U32, dst_array_layer, U, "")                                                                           \
    F(U32, src_mip_level, U, "")                                                                             \
    F(U32, src_array_layer, U, "")                                                                           \
    F(U32, dst_x, U, "texels")                                                                               \
    F(U32, dst_y, U, "texels")                                                                               \
    F(U32, src_x, U, "texels")                                                                               \
    F(U32, src_y, U, "texels")                                                                               \
    F(U32, width, U, "texels")                                                                               \
    F(U32, height, U, "texels")                                                                              \
    F(U32, flags, COPY_FLAG, "WRITEBACK_DST: the result goes to guest memory before the fence")              \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_CREATE_TEXTURE_VIEW(F, A)                                                             \
    F(U32, view_handle, NEW, "handle of the new view")                                                       \
    F(U32, texture_handle, HANDLE, "the texture it looks at")                                                \
    F(U32, format, FORMAT, "how its texels are read: the texture's format or its sRGB/linear twin")          \
    F(U32, base_mip_level, U, "")                                                                            \
    F(U32, mip_level_count, U, "at least 1")                                                                 \
    F(U32, base_array_layer, U, "")                                                                          \
    F(U32, array_layer_count, U, "at least 1")                                                               \
    F(U64, reserved0, RSV, "0")
#define AEROGPU_FIELDS_DESTROY_TEXTURE_VIEW(F, A)                                                            \
    F(U32, view_handle, END, "unknown handles are ignored")                                                  \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_CREATE_SHADER_DXBC(F, A)                                                              \
    F(U32, shader_handle, NEW, "handle of the new shader")                                                   \
    F(U32, stage, SHADER_STAGE, "its stage")                                                                 \
    F(U32, dxbc_size_bytes, U, "bytes of bytecode that follow")                                              \
    F(U32, stage_ex, SHADER_STAGE_EX, "stage when stage is COMPUTE (minor 3)")
#define AEROGPU_FIELDS_DESTROY_SHADER(F, A)                                                                  \
    F(U32, shader_handle, END, "unknown handles are ignored")                                                \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_BIND_SHADERS(F, A)                                                                    \
    F(U32, vs, HANDLE, "vertex shader")                                                                      \
    F(U32, ps, HANDLE, "pixel shader")                                                                       \
    F(U32, cs, HANDLE, "compute shader")                                                                     \
    F(U32, gs_legacy, HANDLE, "geometry shader in the 24-byte form; ignored in the 36-byte form")
#define AEROGPU_FIELDS_SET_SHADER_CONSTANTS_F(F, A)                                                          \
    F(U32, stage, SHADER_STAGE, "")                                                                          \
    F(U32, start_register, U, "first register c#")                                                           \
    F(U32, vec4_count, U, "registers that follow")                                                           \
    F(U32, stage_ex, SHADER_STAGE_EX, "stage when stage is COMPUTE (minor 3)")
#define AEROGPU_FIELDS_CREATE_INPUT_LAYOUT(F, A)                                                             \
    F(U32, input_layout_handle, NEW, "handle of the new layout")                                             \
    F(U32, blob_size_bytes, U, "bytes that follow: an ILAY blob, or a Direct3D 9 vertex declaration")        \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_DESTROY_INPUT_LAYOUT(F, A)                                                            \
    F(U32, input_layout_handle, END, "unknown handles are ignored")                                          \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_SET_INPUT_LAYOUT(F, A)                                                                \
    F(U32, input_layout_handle, HANDLE, "0: none")                                                           \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_SET_SHADER_CONSTANTS_I(F, A)                                                          \
    F(U32, stage, SHADER_STAGE, "")                                                                          \
    F(U32, start_register, U, "first register i#")                                                           \
    F(U32, vec4_count, U, "registers that follow")                                                           \
    F(U32, stage_ex, SHADER_STAGE_EX, "stage when stage is COMPUTE (minor 3)")
#define AEROGPU_FIELDS_SET_SHADER_CONSTANTS_B(F, A)                                                          \
    F(U32, stage, SHADER_STAGE, "")                                                                          \
    F(U32, start_register, U, "first register b#")                                                           \
    F(U32, bool_count, U, "registers that follow, 16 bytes each; any lane other than 0 is true")             \
    F(U32, stage_ex, SHADER_STAGE_EX, "stage when stage is COMPUTE (minor 3)")
#define AEROGPU_FIELDS_SET_BLEND_STATE(F, A)                                                                 \
    F(U32, enable, BOOL, "")                                                                                 \
    F(U32, src_factor, BLEND, "")                                                                            \
    F(U32, dst_factor, BLEND, "")                                                                            \
    F(U32, blend_op, BLEND_OP, "")                                                                           \
    F(U8, color_write_mask, MASK, "bit 0 red, 1 green, 2 blue, 3 alpha")                                     \
    A(U8, reserved0, 3, RSV, "0")                                                                            \
    F(U32, src_factor_alpha, BLEND, "")                                                                      \
    F(U32, dst_factor_alpha, BLEND, "")                                                                      \
    F(U32, blend_op_alpha, BLEND_OP, "")                                                                     \
    A(F32, blend_constant_rgba, 4, FLOAT, "for CONSTANT and INV_CONSTANT")                                   \
    F(U32, sample_mask, MASK, "bit 0 off: nothing is drawn")
#define AEROGPU_FIELDS_SET_DEPTH_STENCIL_STATE(F, A)                                                         \
    F(U32, depth_enable, BOOL, "")                                                                           \
    F(U32, depth_write_enable, BOOL, "")                                                                     \
    F(U32, depth_func, COMPARE, "")                                                                          \
    F(U32, stencil_enable, BOOL, "functions and operations come from Direct3D 9 render states")              \
    F(U8, stencil_read_mask, MASK, "")                                                                       \
    F(U8, stencil_write_mask, MASK, "")                                                                      \
    A(U8, reserved0, 2, RSV, "0")
#define AEROGPU_FIELDS_SET_RASTERIZER_STATE(F, A)                                                            \
    F(U32, fill_mode, FILL, "")                                                                              \
    F(U32, cull_mode, CULL, "")                                                                              \
    F(U32, front_ccw, BOOL, "0: clockwise on the screen is front")                                           \
    F(U32, scissor_enable, BOOL, "without SET_SCISSOR the scissor is the whole target")                      \
    F(I32, depth_bias, U, "in units of the depth format's resolution")                                       \
    F(U32, flags, RASTERIZER_FLAG, "")
#define AEROGPU_FIELDS_SET_RENDER_TARGETS(F, A)                                                              \
    F(U32, color_count, U, "0 to 8")                                                                         \
    F(U32, depth_stencil, HANDLE, "texture or view, 0: none")                                                \
    A(U32, colors, 8, HANDLE, "textures or views, 0: none")
#define AEROGPU_FIELDS_SET_VIEWPORT(F, A)                                                                    \
    F(F32, x, FLOAT, "pixels")                                                                               \
    F(F32, y, FLOAT, "pixels, downwards")                                                                    \
    F(F32, width, FLOAT, "pixels")                                                                           \
    F(F32, height, FLOAT, "pixels")                                                                          \
    F(F32, min_depth, FLOAT, "0 to 1")                                                                       \
    F(F32, max_depth, FLOAT, "0 to 1")
#define AEROGPU_FIELDS_SET_SCISSOR(F, A)                                                                     \
    F(I32, x, U, "pixels")                                                                                   \
    F(I32, y, U, "pixels, downwards")                                                                        \
    F(I32, width, U, "pixels")                                                                               \
    F(I32, height, U, "pixels")
#define AEROGPU_FIELDS_SET_VERTEX_BUFFERS(F, A)                                                              \
    F(U32, start_slot, U, "")                                                                                \
    F(U32, buffer_count, U, "bindings that follow")
#define AEROGPU_FIELDS_SET_INDEX_BUFFER(F, A)                                                                \
    F(U32, buffer, HANDLE, "0: none")                                                                        \
    F(U32, format, INDEX_FORMAT, "")                                                                         \
    F(U32, offset_bytes, U, "")                                                                              \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_SET_PRIMITIVE_TOPOLOGY(F, A)                                                          \
    F(U32, topology, TOPOLOGY, "")                                                                           \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_SET_TEXTURE(F, A)                                                                     \
    F(U32, shader_stage, SHADER_STAGE, "")                                                                   \
    F(U32, slot, U, "t# (Direct3D 10 and later), s# (Direct3D 9)")                                           \
    F(U32, texture, HANDLE, "texture or view, 0: none")                                                      \
    F(U32, stage_ex, SHADER_STAGE_EX, "stage when stage is COMPUTE (minor 3)")
#define AEROGPU_FIELDS_SET_SAMPLER_STATE(F, A)                                                               \
    F(U32, shader_stage, SHADER_STAGE, "")                                                                   \
    F(U32, slot, U, "s#")                                                                                    \
    F(U32, state, D3DSAMP, "D3DSAMPLERSTATETYPE")                                                            \
    F(U32, value, X, "")
#define AEROGPU_FIELDS_SET_RENDER_STATE(F, A)                                                                \
    F(U32, state, D3DRS, "D3DRENDERSTATETYPE")                                                               \
    F(U32, value, X, "")
#define AEROGPU_FIELDS_CREATE_SAMPLER(F, A)                                                                  \
    F(U32, sampler_handle, NEW, "handle of the new sampler")                                                 \
    F(U32, filter, SAMPLER_FILTER, "")                                                                       \
    F(U32, address_u, SAMPLER_ADDRESS, "")                                                                   \
    F(U32, address_v, SAMPLER_ADDRESS, "")                                                                   \
    F(U32, address_w, SAMPLER_ADDRESS, "")
#define AEROGPU_FIELDS_DESTROY_SAMPLER(F, A)                                                                 \
    F(U32, sampler_handle, END, "unknown handles are ignored")                                               \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_SET_SAMPLERS(F, A)                                                                    \
    F(U32, shader_stage, SHADER_STAGE, "")                                                                   \
    F(U32, start_slot, U, "")                                                                                \
    F(U32, sampler_count, U, "handles that follow")                                                          \
    F(U32, stage_ex, SHADER_STAGE_EX, "stage when stage is COMPUTE (minor 3)")
#define AEROGPU_FIELDS_SET_CONSTANT_BUFFERS(F, A)                                                            \
    F(U32, shader_stage, SHADER_STAGE, "")                                                                   \
    F(U32, start_slot, U, "b#")                                                                              \
    F(U32, buffer_count, U, "bindings that follow")                                                          \
    F(U32, stage_ex, SHADER_STAGE_EX, "stage when stage is COMPUTE (minor 3)")
#define AEROGPU_FIELDS_SET_SHADER_RESOURCE_BUFFERS(F, A)                                                     \
    F(U32, shader_stage, SHADER_STAGE, "")                                                                   \
    F(U32, start_slot, U, "t#")                                                                              \
    F(U32, buffer_count, U, "bindings that follow")                                                          \
    F(U32, stage_ex, SHADER_STAGE_EX, "stage when stage is COMPUTE (minor 3)")
#define AEROGPU_FIELDS_SET_UNORDERED_ACCESS_BUFFERS(F, A)                                                    \
    F(U32, shader_stage, SHADER_STAGE, "")                                                                   \
    F(U32, start_slot, U, "u#")                                                                              \
    F(U32, uav_count, U, "bindings that follow")                                                             \
    F(U32, stage_ex, SHADER_STAGE_EX, "stage when stage is COMPUTE (minor 3)")
#define AEROGPU_FIELDS_CLEAR(F, A)                                                                           \
    F(U32, flags, CLEAR, "what to clear of the bound targets")                                               \
    A(F32, color_rgba, 4, FLOAT, "")                                                                         \
    F(F32, depth, FLOAT, "")                                                                                 \
    F(U32, stencil, U, "the low 8 bits")
#define AEROGPU_FIELDS_DRAW(F, A)                                                                            \
    F(U32, vertex_count, U, "")                                                                              \
    F(U32, instance_count, U, "")                                                                            \
    F(U32, first_vertex, U, "")                                                                              \
    F(U32, first_instance, U, "")
#define AEROGPU_FIELDS_DRAW_INDEXED(F, A)                                                                    \
    F(U32, index_count, U, "")                                                                               \
    F(U32, instance_count, U, "")                                                                            \
    F(U32, first_index, U, "")                                                                               \
    F(I32, base_vertex, U, "added to every index")                                                           \
    F(U32, first_instance, U, "")
#define AEROGPU_FIELDS_DISPATCH(F, A)                                                                        \
    F(U32, group_count_x, U, "")                                                                             \
    F(U32, group_count_y, U, "")                                                                             \
    F(U32, group_count_z, U, "")                                                                             \
    F(U32, stage_ex, SHADER_STAGE_EX, "NONE or COMPUTE")
#define AEROGPU_FIELDS_PRESENT(F, A)                                                                         \
    F(U32, scanout_id, U, "0")                                                                               \
    F(U32, flags, PRESENT_FLAG, "VSYNC: the fence completes on a vblank")
#define AEROGPU_FIELDS_PRESENT_EX(F, A)                                                                      \
    F(U32, scanout_id, U, "0")                                                                               \
    F(U32, flags, PRESENT_FLAG, "VSYNC: the fence completes on a vblank")                                    \
    F(U32, d3d9_present_flags, X, "dwFlags of PresentEx, not interpreted")                                   \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_EXPORT_SHARED_SURFACE(F, A)                                                           \
    F(U32, resource_handle, HANDLE, "resource to share")                                                     \
    F(U32, reserved0, RSV, "0")                                                                              \
    F(U64, share_token, TOKEN, "not 0; unique for ever")
#define AEROGPU_FIELDS_IMPORT_SHARED_SURFACE(F, A)                                                           \
    F(U32, out_resource_handle, NEW, "handle of the new alias")                                              \
    F(U32, reserved0, RSV, "0")                                                                              \
    F(U64, share_token, TOKEN, "an exported token that is not released")
#define AEROGPU_FIELDS_RELEASE_SHARED_SURFACE(F, A)                                                          \
    F(U64, share_token, TOKEN, "retired from now on; unknown tokens are ignored, aliases stay")              \
    F(U64, reserved0, RSV, "0")
#define AEROGPU_FIELDS_FLUSH(F, A)                                                                           \
    F(U32, reserved0, RSV, "0")                                                                              \
    F(U32, reserved1, RSV, "0")

/* ---- elements of tails: L(NAME, name, size, whether it begins with a handle); their fields as above ---- */

#define AEROGPU_FIELDS_VERTEX_BUFFER_BINDING(F, A)                                                           \
    F(U32, buffer, HANDLE, "0: none")                                                                        \
    F(U32, stride_bytes, U, "")                                                                              \
    F(U32, offset_bytes, U, "")                                                                              \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_CONSTANT_BUFFER_BINDING(F, A)                                                         \
    F(U32, buffer, HANDLE, "0: none")                                                                        \
    F(U32, offset_bytes, U, "")                                                                              \
    F(U32, size_bytes, U, "0: the rest of the buffer")                                                       \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_SHADER_RESOURCE_BUFFER_BINDING(F, A)                                                  \
    F(U32, buffer, HANDLE, "0: none")                                                                        \
    F(U32, offset_bytes, U, "")                                                                              \
    F(U32, size_bytes, U, "0: the rest of the buffer")                                                       \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_UNORDERED_ACCESS_BUFFER_BINDING(F, A)                                                 \
    F(U32, buffer, HANDLE, "0: none")                                                                        \
    F(U32, offset_bytes, U, "")                                                                              \
    F(U32, size_bytes, U, "0: the rest of the buffer")                                                       \
    F(U32, initial_count, X, "of the hidden counter; 0xFFFFFFFF keeps it")
#define AEROGPU_FIELDS_INPUT_LAYOUT_ELEMENT_DXGI(F, A)                                                       \
    F(U32, semantic_name_hash, X, "FNV-1a (32 bits) of the upper-case semantic name")                        \
    F(U32, semantic_index, U, "")                                                                            \
    F(U32, dxgi_format, U, "DXGI_FORMAT")                                                                    \
    F(U32, input_slot, U, "")                                                                                \
    F(U32, aligned_byte_offset, U, "0xFFFFFFFF: behind the element before it")                               \
    F(U32, input_slot_class, U, "0 per vertex, 1 per instance")                                              \
    F(U32, instance_data_step_rate, U, "")
#define AEROGPU_FIELDS_INPUT_LAYOUT_BLOB_HEADER(F, A)                                                        \
    F(U32, magic, X, "\"ILAY\"")                                                                             \
    F(U32, version, U, "1")                                                                                  \
    F(U32, element_count, U, "elements that follow")                                                         \
    F(U32, reserved0, RSV, "0")

#define AEROGPU_ELEMENTS(L)                                                                                  \
    L(VERTEX_BUFFER_BINDING, vertex_buffer_binding, 16, 1)                                                   \
    L(CONSTANT_BUFFER_BINDING, constant_buffer_binding, 16, 1)                                               \
    L(SHADER_RESOURCE_BUFFER_BINDING, shader_resource_buffer_binding, 16, 1)                                 \
    L(UNORDERED_ACCESS_BUFFER_BINDING, unordered_access_buffer_binding, 16, 1)                               \
    L(INPUT_LAYOUT_ELEMENT_DXGI, input_layout_element_dxgi, 28, 0)                                           \
    L(INPUT_LAYOUT_BLOB_HEADER, input_layout_blob_header, 16, 0)

/* Tails, what follows a packet: T(NAME, bytes of one element, whether each begins with a handle, meaning). Or
 * one of the elements above. */
#define AEROGPU_TAILS(T)                                                                                     \
    T(NONE, 0, 0, "")                                                                                        \
    T(TEXT, 1, 0, "UTF-8 text to the end of the packet")                                                     \
    T(BYTES, 1, 0, "bytes, padded to a multiple of 4")                                                       \
    T(VEC4F, 16, 0, "registers of four floats")                                                              \
    T(VEC4I, 16, 0, "registers of four 32-bit integers")                                                     \
    T(HANDLES, 4, 1, "handles")                                                                              \
    T(BIND, 4, 1, "from 36 bytes on: the handles gs, hs, ds, which then count, also when 0")

/* ---- packets: P(opcode, NAME, name, size, tail, count field, minor, class, meaning) ----------------------------------
 *
 * size: bytes without the tail. tail: of the list above, as many elements as the count field says (hdr: it is not counted).
 * minor: the ABI minor that brought it.
 * class, what the packet is to those who follow a stream without executing it:
 *   META            says something to people and tools; the device has nothing to do
 *   KERNEL          for the kernel driver's own streams; clients may not say it
 *   CREATE(packet)  makes the object of its NEW field, which `packet` ends
 *   DESTROY         ends the object of its END field, if there is one
 *   SHARE           changes what a resource is or is called
 *   TRANSFER        work: writes bytes of a resource
 *   STATE(bytes)    sets state of the context. Two of them set the same if the bytes behind the header are the same (stage,
 *                   slot, state), and stage_ex is, where there is one
 *   MARK            records how far the device has come
 *   WORK            other work on what is bound
 *   DRAW            work: a draw or dispatch
 *   PRESENT         work: shows a picture
 */
#define AEROGPU_CLASSES(C)                                                                                   \
    C(META) C(KERNEL) C(CREATE) C(DESTROY) C(SHARE) C(TRANSFER) C(STATE) C(MARK) C(WORK) C(DRAW) C(PRESENT)
#define AEROGPU_PACKETS(P)                                                                                   \
    P(0x000, NOP, nop, 8, NONE, hdr, 0, META, "does nothing")                                                \
    P(0x001, DEBUG_MARKER, debug_marker, 8, TEXT, hdr, 0, META, "names what comes next, for people")         \
    P(0x100, CREATE_BUFFER, create_buffer, 40, NONE, hdr, 0, CREATE(DESTROY_RESOURCE), "makes a buffer")     \
    P(0x101, CREATE_TEXTURE2D, create_texture2d, 56, NONE, hdr, 0, CREATE(DESTROY_RESOURCE),                 \
      "makes a texture, mipmapped and layered if asked")                                                     \
    P(0x102, DESTROY_RESOURCE, destroy_resource, 16, NONE, hdr, 0, DESTROY,                                  \
      "gives up one handle; the memory goes with the last")                                                  \
    P(0x103, RESOURCE_DIRTY_RANGE, resource_dirty_range, 32, NONE, hdr, 0, TRANSFER,                         \
      "guest memory changed: read it again before use")                                                      \
    P(0x104, UPLOAD_RESOURCE, upload_resource, 32, BYTES, size_bytes, 0, TRANSFER,                           \
      "writes the bytes that follow")                                                                        \
    P(0x105, COPY_BUFFER, copy_buffer, 48, NONE, hdr, 1, TRANSFER, "copies between buffers")                 \
    P(0x106, COPY_TEXTURE2D, copy_texture2d, 64, NONE, hdr, 1, TRANSFER,                                     \
      "copies a rectangle between textures")                                                                 \
    P(0x107, CREATE_TEXTURE_VIEW, create_texture_view, 44, NONE, hdr, 3, CREATE(DESTROY_TEXTURE_VIEW),       \
      "makes a view of some mips and layers")                                                                \
    P(0x108, DESTROY_TEXTURE_VIEW, destroy_texture_view, 16, NONE, hdr, 3, DESTROY, "removes a view")        \
    P(0x200, CREATE_SHADER_DXBC, create_shader_dxbc, 24, BYTES, dxbc_size_bytes, 0, CREATE(DESTROY_SHADER),  \
      "makes a shader of DXBC or Direct3D 9 bytecode")                                                       \
    P(0x201, DESTROY_SHADER, destroy_shader, 16, NONE, hdr, 0, DESTROY, "removes a shader")                  \
    P(0x202, BIND_SHADERS, bind_shaders, 24, BIND, hdr, 0, STATE(0), "sets the shaders of all stages")       \
    P(0x203, SET_SHADER_CONSTANTS_F, set_shader_constants_f, 24, VEC4F, vec4_count, 0, STATE(8),             \
      "sets float registers c#")                                                                             \
    P(0x204, CREATE_INPUT_LAYOUT, create_input_layout, 20, BYTES, blob_size_bytes, 0,                        \
      CREATE(DESTROY_INPUT_LAYOUT), "makes an input layout")                                                 \
    P(0x205, DESTROY_INPUT_LAYOUT, destroy_input_layout, 16, NONE, hdr, 0, DESTROY,                          \
      "removes an input layout")                                                                             \
    P(0x206, SET_INPUT_LAYOUT, set_input_layout, 16, NONE, hdr, 0, STATE(0), "sets the input layout")        \
    P(0x207, SET_SHADER_CONSTANTS_I, set_shader_constants_i, 24, VEC4I, vec4_count, 4, STATE(8),             \
      "sets integer registers i#")                                                                           \
    P(0x208, SET_SHADER_CONSTANTS_B, set_shader_constants_b, 24, VEC4I, bool_count, 4, STATE(8),             \
      "sets boolean registers b#")                                                                           \
    P(0x300, SET_BLEND_STATE, set_blend_state, 60, NONE, hdr, 0, STATE(0),                                   \
      "sets blending and colour write masks")                                                                \
    P(0x301, SET_DEPTH_STENCIL_STATE, set_depth_stencil_state, 28, NONE, hdr, 0, STATE(0),                   \
      "sets depth and stencil tests")                                                                        \
    P(0x302, SET_RASTERIZER_STATE, set_rasterizer_state, 32, NONE, hdr, 0, STATE(0),                         \
      "sets fill, cull, bias and clipping")                                                                  \
    P(0x400, SET_RENDER_TARGETS, set_render_targets, 48, NONE, hdr, 0, STATE(0),                             \
      "sets colour and depth targets")                                                                       \
    P(0x401, SET_VIEWPORT, set_viewport, 32, NONE, hdr, 0, STATE(0), "sets the viewport")                    \
    P(0x402, SET_SCISSOR, set_scissor, 24, NONE, hdr, 0, STATE(0), "sets the scissor rectangle")             \
    P(0x500, SET_VERTEX_BUFFERS, set_vertex_buffers, 16, VERTEX_BUFFER_BINDING, buffer_count, 0, STATE(4),   \
      "binds vertex buffers")                                                                                \
    P(0x501, SET_INDEX_BUFFER, set_index_buffer, 24, NONE, hdr, 0, STATE(0), "binds the index buffer")       \
    P(0x502, SET_PRIMITIVE_TOPOLOGY, set_primitive_topology, 16, NONE, hdr, 0, STATE(0),                     \
      "sets what vertices form")                                                                             \
    P(0x510, SET_TEXTURE, set_texture, 24, NONE, hdr, 0, STATE(8), "binds a texture or view to a stage")     \
    P(0x511, SET_SAMPLER_STATE, set_sampler_state, 24, NONE, hdr, 0, STATE(12),                              \
      "sets one Direct3D 9 sampler state")                                                                   \
    P(0x512, SET_RENDER_STATE, set_render_state, 16, NONE, hdr, 0, STATE(4),                                 \
      "sets one Direct3D 9 render state")                                                                    \
    P(0x520, CREATE_SAMPLER, create_sampler, 28, NONE, hdr, 0, CREATE(DESTROY_SAMPLER), "makes a sampler")   \
    P(0x521, DESTROY_SAMPLER, destroy_sampler, 16, NONE, hdr, 0, DESTROY, "removes a sampler")               \
    P(0x522, SET_SAMPLERS, set_samplers, 24, HANDLES, sampler_count, 0, STATE(8),                            \
      "binds samplers to a stage")                                                                           \
    P(0x523, SET_CONSTANT_BUFFERS, set_constant_buffers, 24, CONSTANT_BUFFER_BINDING, buffer_count, 0,       \
      STATE(8), "binds constant buffers to a stage")                                                         \
    P(0x524, SET_SHADER_RESOURCE_BUFFERS, set_shader_resource_buffers, 24, SHADER_RESOURCE_BUFFER_BINDING,   \
      buffer_count, 2, STATE(8), "binds buffers for reading to a stage")                                     \
    P(0x525, SET_UNORDERED_ACCESS_BUFFERS, set_unordered_access_buffers, 24,                                 \
      UNORDERED_ACCESS_BUFFER_BINDING, uav_count, 2, STATE(8),                                               \
      "binds buffers for reading and writing to a stage")                                                    \
    P(0x600, CLEAR, clear, 36, NONE, hdr, 0, WORK, "clears the bound targets")                               \
    P(0x601, DRAW, draw, 24, NONE, hdr, 0, DRAW, "draws vertices")                                           \
    P(0x602, DRAW_INDEXED, draw_indexed, 28, NONE, hdr, 0, DRAW, "draws indexed vertices")                   \
    P(0x603, DISPATCH, dispatch, 24, NONE, hdr, 2, DRAW, "runs the compute shader")                          \
    P(0x700, PRESENT, present, 16, NONE, hdr, 0, PRESENT, "shows colour target 0 on the scanout")            \
    P(0x701, PRESENT_EX, present_ex, 24, NONE, hdr, 0, PRESENT, "the same, with Direct3D 9Ex flags")         \
    P(0x710, EXPORT_SHARED_SURFACE, export_shared_surface, 24, NONE, hdr, 0, SHARE,                          \
      "names a resource by a token")                                                                         \
    P(0x711, IMPORT_SHARED_SURFACE, import_shared_surface, 24, NONE, hdr, 0, CREATE(DESTROY_RESOURCE),       \
      "makes an alias of the resource behind a token")                                                       \
    P(0x712, RELEASE_SHARED_SURFACE, release_shared_surface, 24, NONE, hdr, 0, SHARE, "retires a token")     \
    P(0x720, FLUSH, flush, 16, NONE, hdr, 0, META, "asks that all before it be started")

/* ---- what the table makes ------------------------------------------------ */

#define AEROGPU_CTYPE_U8  uint8_t
#define AEROGPU_CTYPE_U32 uint32_t
#define AEROGPU_CTYPE_I32 int32_t
#define AEROGPU_CTYPE_U64 uint64_t
#define AEROGPU_CTYPE_F32 uint32_t

#define AEROGPU_STRUCT_FIELD(type, name, kind, doc)        AEROGPU_CTYPE_##type name;
#define AEROGPU_STRUCT_ARRAY(type, name, count, kind, doc) AEROGPU_CTYPE_##type name[count];

#pragma pack(push, 1)

struct aerogpu_cmd_stream_header {
    uint32_t magic;       /* AEROGPU_CMD_STREAM_MAGIC */
    uint32_t abi_version; /* of the writer */
    uint32_t size_bytes;  /* header and packets, a multiple of 4, at most the descriptor's cmd_size_bytes */
    uint32_t flags;       /* 0 */
    uint32_t reserved0;
    uint32_t reserved1;
};

struct aerogpu_cmd_hdr {
    uint32_t opcode;
    uint32_t size_bytes;
};

#define AEROGPU_PACKET_STRUCT(opcode, NAME, name, size, tail, count_field, minor, class, doc)                \
    struct aerogpu_cmd_##name {                                                                              \
        struct aerogpu_cmd_hdr hdr;                                                                          \
        AEROGPU_FIELDS_##NAME(AEROGPU_STRUCT_FIELD, AEROGPU_STRUCT_ARRAY)                                    \
    };
AEROGPU_PACKETS(AEROGPU_PACKET_STRUCT)
#undef AEROGPU_PACKET_STRUCT

#define AEROGPU_ELEMENT_STRUCT(NAME, name, size, named)                                                      \
    struct aerogpu_##name {                                                                                  \
        AEROGPU_FIELDS_##NAME(AEROGPU_STRUCT_FIELD, AEROGPU_STRUCT_ARRAY)                                    \
    };
AEROGPU_ELEMENTS(AEROGPU_ELEMENT_STRUCT)
#undef AEROGPU_ELEMENT_STRUCT

/* BIND_SHADERS in its 36-byte form. */
struct aerogpu_cmd_bind_shaders_ex {
    struct aerogpu_cmd_bind_shaders base;
    uint32_t gs, hs, ds; /* they count, also when 0 */
};

#pragma pack(pop)

enum aerogpu_cmd_opcode {
#define AEROGPU_PACKET_OPCODE(opcode, NAME, name, size, tail, count_field, minor, class, doc)                \
    AEROGPU_CMD_##NAME = opcode,
    AEROGPU_PACKETS(AEROGPU_PACKET_OPCODE)
#undef AEROGPU_PACKET_OPCODE
};

enum aerogpu_kind {
#define AEROGPU_DEFINE_KIND(E)            AEROGPU_KIND_##E,
#define AEROGPU_DEFINE_PLAIN_KIND(K, doc) AEROGPU_KIND_##K,
    AEROGPU_KINDS(AEROGPU_DEFINE_PLAIN_KIND) AEROGPU_ENUMS(AEROGPU_DEFINE_KIND)
        AEROGPU_FLAG_ENUMS(AEROGPU_DEFINE_KIND) AEROGPU_KIND_COUNT
};

enum aerogpu_tail {
#define AEROGPU_DEFINE_TAIL(NAME, bytes, named, doc)          AEROGPU_TAIL_##NAME,
#define AEROGPU_DEFINE_ELEMENT_TAIL(NAME, name, bytes, named) AEROGPU_TAIL_##NAME,
    AEROGPU_TAILS(AEROGPU_DEFINE_TAIL) AEROGPU_ELEMENTS(AEROGPU_DEFINE_ELEMENT_TAIL) AEROGPU_TAIL_COUNT
};

enum aerogpu_class {
#define AEROGPU_DEFINE_CLASS(C) AEROGPU_CLASS_##C,
    AEROGPU_CLASSES(AEROGPU_DEFINE_CLASS)
};

/* What a row says in its class column: initialise it with {AEROGPU_IS_##class}. */
struct aerogpu_packet_class {
    uint8_t id;      /* enum aerogpu_class */
    uint8_t key;     /* STATE: bytes */
    uint16_t ending; /* CREATE: opcode of the packet that ends what it makes */
};
#define AEROGPU_IS_META           AEROGPU_CLASS_META, 0, 0
#define AEROGPU_IS_KERNEL         AEROGPU_CLASS_KERNEL, 0, 0
#define AEROGPU_IS_CREATE(packet) AEROGPU_CLASS_CREATE, 0, AEROGPU_CMD_##packet
#define AEROGPU_IS_DESTROY        AEROGPU_CLASS_DESTROY, 0, 0
#define AEROGPU_IS_SHARE          AEROGPU_CLASS_SHARE, 0, 0
#define AEROGPU_IS_TRANSFER       AEROGPU_CLASS_TRANSFER, 0, 0
#define AEROGPU_IS_STATE(bytes)   AEROGPU_CLASS_STATE, bytes, 0
#define AEROGPU_IS_MARK           AEROGPU_CLASS_MARK, 0, 0
#define AEROGPU_IS_WORK           AEROGPU_CLASS_WORK, 0, 0
#define AEROGPU_IS_DRAW           AEROGPU_CLASS_DRAW, 0, 0
#define AEROGPU_IS_PRESENT        AEROGPU_CLASS_PRESENT, 0, 0

#define AEROGPU_DEFINE_SHADER_STAGE(name, value)    AEROGPU_SHADER_STAGE_##name = value,
#define AEROGPU_DEFINE_SHADER_STAGE_EX(name, value) AEROGPU_SHADER_STAGE_EX_##name = value,
#define AEROGPU_DEFINE_INDEX_FORMAT(name, value)    AEROGPU_INDEX_FORMAT_##name = value,
#define AEROGPU_DEFINE_SAMPLER_FILTER(name, value)  AEROGPU_SAMPLER_FILTER_##name = value,
#define AEROGPU_DEFINE_SAMPLER_ADDRESS(name, value) AEROGPU_SAMPLER_ADDRESS_##name = value,
#define AEROGPU_DEFINE_FILL(name, value)            AEROGPU_FILL_##name = value,
#define AEROGPU_DEFINE_CULL(name, value)            AEROGPU_CULL_##name = value,
#define AEROGPU_DEFINE_BLEND_OP(name, value)        AEROGPU_BLEND_OP_##name = value,
#define AEROGPU_DEFINE_BLEND(name, value)           AEROGPU_BLEND_##name = value,
#define AEROGPU_DEFINE_COMPARE(name, value)         AEROGPU_COMPARE_##name = value,
#define AEROGPU_DEFINE_TOPOLOGY(name, value)        AEROGPU_TOPOLOGY_##name = value,
#define AEROGPU_DEFINE_RESOURCE_USAGE(name, value)  AEROGPU_RESOURCE_USAGE_##name = value,
#define AEROGPU_DEFINE_COPY_FLAG(name, value)       AEROGPU_COPY_FLAG_##name = value,
#define AEROGPU_DEFINE_CLEAR(name, value)           AEROGPU_CLEAR_##name = value,
#define AEROGPU_DEFINE_PRESENT_FLAG(name, value)    AEROGPU_PRESENT_FLAG_##name = value,
#define AEROGPU_DEFINE_RASTERIZER_FLAG(name, value) AEROGPU_RASTERIZER_FLAG_##name = value,
#define AEROGPU_DEFINE_ENUM(E)                      enum aerogpu_cmd_enum_##E{AEROGPU_ENUM_##E(AEROGPU_DEFINE_##E)};
AEROGPU_ENUMS(AEROGPU_DEFINE_ENUM)
AEROGPU_FLAG_ENUMS(AEROGPU_DEFINE_ENUM)

AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_cmd_stream_header) == 24, "stream header");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_cmd_hdr) == 8, "packet header");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_cmd_bind_shaders_ex) == AEROGPU_BIND_SHADERS_EXTENDED_SIZE,
                      "bind");
#define AEROGPU_ASSERT_PACKET(opcode, NAME, name, size, tail, count_field, minor, class, doc)                \
    AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_cmd_##name) == size, #NAME);
AEROGPU_PACKETS(AEROGPU_ASSERT_PACKET)
#undef AEROGPU_ASSERT_PACKET
#define AEROGPU_ASSERT_ELEMENT(NAME, name, size, named)                                                      \
    AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_##name) == size, #NAME);
AEROGPU_ELEMENTS(AEROGPU_ASSERT_ELEMENT)
#undef AEROGPU_ASSERT_ELEMENT
