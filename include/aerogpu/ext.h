/* SPDX-License-Identifier: MIT */
/* ext.h: where our own additions to the ABI live, out of the way of the public one: feature bits from 32 up, which say what
 * there is, and opcodes from 0x8000 up. A driver that does not look for them never meets them.
 */
#pragma once

#include "aerogpu/abi.h"
#include "aerogpu/cmd.h"
#include "aerogpu/escape.h"

#define AEROGPU_EXT_FIRST_FEATURE_BIT 32
#define AEROGPU_EXT_FIRST_OPCODE      0x8000u

/* F(bit, NAME, name, meaning): bits of FEATURES_LO/HI. A device without the bit skips the packets, as it does opcodes that it
 * does not know; breadcrumb buffers are skipped, too, where the host's Vulkan device cannot write guest memory. */
#define AEROGPU_EXT_FEATURES(F)                                                                              \
    F(32, EXT_CONTEXTS, ext_contexts, "EXT_DESTROY_CONTEXT, EXT_DESTROY_HANDLES, for the kernel driver")     \
    F(33, EXT_SPIRV, ext_spirv, "CREATE_SHADER_DXBC takes SPIR-V")                                           \
    F(34, EXT_ADDRESSES, ext_addresses,                                                                      \
      "USAGE_EXT_ADDRESS, EXT_BUFFER_ADDRESS, EXT_RESIDENCY; where the host allows them")                    \
    F(35, EXT_BREADCRUMBS, ext_breadcrumbs, "EXT_BREADCRUMB_BUFFER, EXT_WRITE_BREADCRUMB")                   \
    F(36, EXT_MARKERS, ext_markers, "EXT_PUSH_MARKER, EXT_POP_MARKER")                                       \
    F(37, EXT_CHECKPOINTS, ext_checkpoints, "EXT_CHECKPOINT, EXT_CHECKPOINT_POINTER")                        \
    F(38, EXT_CLIENTS, ext_clients, "submissions name their client, which has an executor of its own")       \
    F(39, EXT_ENGINES, ext_engines,                                                                          \
      "a ring can be reset into one whose engines each have a fence of their own")                           \
    F(40, EXT_FORMATS, ext_formats, "textures of the formats from 0x8000 on; shown they cannot be")          \
    F(41, EXT_QUERIES, ext_queries, "EXT_BEGIN_QUERY, EXT_END_QUERY, EXT_WRITE_TIMESTAMP")                   \
    F(42, EXT_DIMENSIONS, ext_dimensions, "USAGE_EXT_1D, USAGE_EXT_3D, and the formats from 0x8020 on")      \
    F(43, EXT_SAMPLERS, ext_samplers, "EXT_CREATE_SAMPLER")                                                  \
    F(44, EXT_MIPS, ext_mips, "EXT_GENERATE_MIPS")                                                           \
    F(45, EXT_GROUPS, ext_groups,                                                                            \
      "of EXT_CLIENTS: submissions that cross sessions say which groups they are of")                        \
    F(46, EXT_D3D9, ext_d3d9, "EXT_SET_D3D9_VALUES")                                                         \
    F(47, EXT_VIEWS, ext_views,                                                                              \
      "EXT_CREATE_BUFFER_VIEW, EXT_CLEAR_VIEW, EXT_COPY_COUNT, what binds takes views; the format 0x8036")   \
    F(48, EXT_INDIRECT, ext_indirect, "EXT_DRAW_INDIRECT, EXT_DISPATCH_INDIRECT")                            \
    F(49, EXT_STATES, ext_states,                                                                            \
      "EXT_SET_BLEND_STATE, EXT_SET_RASTERIZER_STATE, EXT_SET_VIEWPORTS, EXT_SET_SCISSORS")                  \
    F(50, EXT_SAMPLES, ext_samples, "USAGE_EXT_SAMPLES, EXT_RESOLVE")                                        \
    F(51, EXT_STREAM_OUTPUT, ext_stream_output,                                                              \
      "shaders with a chunk AGSO, EXT_SET_STREAM_OUTPUT, EXT_DRAW_AUTO, queries of kinds 2 to 5")            \
    F(52, EXT_NAMES, ext_names, "EXT_NAME")                                                                  \
    F(53, EXT_COPIES, ext_copies,                                                                            \
      "COPY_TEXTURE2D into another format whose texels or blocks have as many bytes; "                       \
      "its size is the source's")                                                                            \
    F(54, EXT_BUFFER_TARGETS, ext_buffer_targets,                                                            \
      "SET_RENDER_TARGETS takes views of buffers that have a format, as long as a texture may be wide")      \
    F(55, EXT_OUTPUT, ext_output,                                                                            \
      "logic operations of EXT_SET_BLEND_STATE, RASTERIZER_FLAG_EXT_SAMPLES, EXT_CLEAR_RECTS")

enum aerogpu_ext_feature_bit {
#define AEROGPU_ROW(bit, NAME, name, doc) AEROGPU_FEATURE_BIT_##NAME = bit,
    AEROGPU_EXT_FEATURES(AEROGPU_ROW)
#undef AEROGPU_ROW
};
#define AEROGPU_EXT_FEATURE(NAME)                  (UINT64_C(1) << AEROGPU_FEATURE_BIT_##NAME)
#define AEROGPU_EXT_FEATURE_OR(bit, NAME, name, d) AEROGPU_EXT_FEATURE(NAME) |
#define AEROGPU_EXT_FEATURES_ALL                   (AEROGPU_EXT_FEATURES(AEROGPU_EXT_FEATURE_OR) UINT64_C(0))

/* EXT_FORMATS: formats of CREATE_TEXTURE2D and CREATE_TEXTURE_VIEW, in the form of the table in pci.h. A view of such a texture may have
 * any of them whose texels or blocks have the same bytes. */
#define AEROGPU_EXT_FORMATS(F)                                                                               \
    F(0x8000, EXT_R32G32B32A32_FLOAT, 16, 1, COLOR, 1, 0, 0, "floats of 32 bits")                            \
    F(0x8001, EXT_R16G16B16A16_FLOAT, 8, 1, COLOR, 1, 0, 0, "floats of 16 bits")                             \
    F(0x8002, EXT_R16G16B16A16_UNORM, 8, 1, COLOR, 1, 0, 0, "16 bits each, 0 to 1")                          \
    F(0x8003, EXT_R16G16B16A16_SNORM, 8, 1, COLOR, 1, 0, 0, "16 bits each, -1 to 1")                         \
    F(0x8004, EXT_R32G32_FLOAT, 8, 1, COLOR, 0, 0, 0, "floats of 32 bits")                                   \
    F(0x8005, EXT_R10G10B10A2_UNORM, 4, 1, COLOR, 1, 0, 0, "bits 0-9 R, 10-19 G, 20-29 B, 30-31 A")          \
    F(0x8006, EXT_R11G11B10_FLOAT, 4, 1, COLOR, 0, 0, 0, "bits 0-10 R, 11-21 G, 22-31 B, without signs")     \
    F(0x8007, EXT_R8G8B8A8_SNORM, 4, 1, COLOR, 1, 0, 0, "8 bits each, -1 to 1")                              \
    F(0x8008, EXT_R16G16_FLOAT, 4, 1, COLOR, 0, 0, 0, "floats of 16 bits")                                   \
    F(0x8009, EXT_R16G16_UNORM, 4, 1, COLOR, 0, 0, 0, "16 bits each, 0 to 1")                                \
    F(0x800A, EXT_R16G16_SNORM, 4, 1, COLOR, 0, 0, 0, "16 bits each, -1 to 1")                               \
    F(0x800B, EXT_R32_FLOAT, 4, 1, COLOR, 0, 0, 0, "floats of 32 bits")                                      \
    F(0x800C, EXT_R8G8_UNORM, 2, 1, COLOR, 0, 0, 0, "8 bits each, 0 to 1")                                   \
    F(0x800D, EXT_R8G8_SNORM, 2, 1, COLOR, 0, 0, 0, "8 bits each, -1 to 1")                                  \
    F(0x800E, EXT_R16_FLOAT, 2, 1, COLOR, 0, 0, 0, "floats of 16 bits")                                      \
    F(0x800F, EXT_R16_UNORM, 2, 1, COLOR, 0, 0, 0, "16 bits each, 0 to 1")                                   \
    F(0x8010, EXT_R16_SNORM, 2, 1, COLOR, 0, 0, 0, "16 bits each, -1 to 1")                                  \
    F(0x8011, EXT_R8_UNORM, 1, 1, COLOR, 0, 0, 0, "8 bits each, 0 to 1")                                     \
    F(0x8012, EXT_R8_SNORM, 1, 1, COLOR, 0, 0, 0, "8 bits each, -1 to 1")                                    \
    F(0x8013, EXT_R9G9B9E5_FLOAT, 4, 1, COLOR, 0, 0, 0, "bits 0-8 R, 9-17 G, 18-26 B, 27-31 their exponent") \
    F(0x8014, EXT_BC4_UNORM, 8, 4, BC, 0, 0, 0, "BC4")                                                       \
    F(0x8015, EXT_BC4_SNORM, 8, 4, BC, 0, 0, 0, "BC4, signed")                                               \
    F(0x8016, EXT_BC5_UNORM, 16, 4, BC, 0, 0, 0, "BC5")                                                      \
    F(0x8017, EXT_BC5_SNORM, 16, 4, BC, 0, 0, 0, "BC5, signed")                                              \
    F(0x8018, EXT_BC6H_UFLOAT, 16, 4, BC, 0, 0, 0, "BC6H")                                                   \
    F(0x8019, EXT_BC6H_SFLOAT, 16, 4, BC, 0, 0, 0, "BC6H, signed")                                           \
    F(0x8020, EXT_R32G32B32A32_UINT, 16, 1, COLOR, 1, 0, 0, "integers of 32 bits")                           \
    F(0x8021, EXT_R32G32B32A32_SINT, 16, 1, COLOR, 1, 0, 0, "the same with signs")                           \
    F(0x8022, EXT_R16G16B16A16_UINT, 8, 1, COLOR, 1, 0, 0, "integers of 16 bits")                            \
    F(0x8023, EXT_R16G16B16A16_SINT, 8, 1, COLOR, 1, 0, 0, "the same with signs")                            \
    F(0x8024, EXT_R32G32_UINT, 8, 1, COLOR, 0, 0, 0, "integers of 32 bits")                                  \
    F(0x8025, EXT_R32G32_SINT, 8, 1, COLOR, 0, 0, 0, "the same with signs")                                  \
    F(0x8026, EXT_R10G10B10A2_UINT, 4, 1, COLOR, 1, 0, 0, "bits 0-9 R, 10-19 G, 20-29 B, 30-31 A")           \
    F(0x8027, EXT_R8G8B8A8_UINT, 4, 1, COLOR, 1, 0, 0, "integers of 8 bits")                                 \
    F(0x8028, EXT_R8G8B8A8_SINT, 4, 1, COLOR, 1, 0, 0, "the same with signs")                                \
    F(0x8029, EXT_R16G16_UINT, 4, 1, COLOR, 0, 0, 0, "integers of 16 bits")                                  \
    F(0x802A, EXT_R16G16_SINT, 4, 1, COLOR, 0, 0, 0, "the same with signs")                                  \
    F(0x802B, EXT_R32_UINT, 4, 1, COLOR, 0, 0, 0, "integers of 32 bits")                                     \
    F(0x802C, EXT_R32_SINT, 4, 1, COLOR, 0, 0, 0, "the same with signs")                                     \
    F(0x802D, EXT_R8G8_UINT, 2, 1, COLOR, 0, 0, 0, "integers of 8 bits")                                     \
    F(0x802E, EXT_R8G8_SINT, 2, 1, COLOR, 0, 0, 0, "the same with signs")                                    \
    F(0x802F, EXT_R16_UINT, 2, 1, COLOR, 0, 0, 0, "integers of 16 bits")                                     \
    F(0x8030, EXT_R16_SINT, 2, 1, COLOR, 0, 0, 0, "the same with signs")                                     \
    F(0x8031, EXT_R8_UINT, 1, 1, COLOR, 0, 0, 0, "integers of 8 bits")                                       \
    F(0x8032, EXT_R8_SINT, 1, 1, COLOR, 0, 0, 0, "the same with signs")                                      \
    F(0x8033, EXT_A8_UNORM, 1, 1, COLOR, 1, 0, 0, "8 bits, 0 to 1, of A alone")                              \
    F(0x8034, EXT_D16_UNORM, 2, 1, DEPTH, 0, 0, 0, "depth of 16 bits")                                       \
    F(0x8035, EXT_D32_FLOAT_S8_UINT, 8, 1, DEPTH, 0, 0, 0,                                                   \
      "bits 0-31 depth, a float, 32-39 stencil, 40-63 nothing")                                              \
    F(0x8036, EXT_STENCIL_UINT, 1, 1, DEPTH, 0, 0, 0,                                                        \
      "of views alone: the stencil of a texture that has one, an integer in G")

enum aerogpu_ext_format {
#define AEROGPU_ROW(value, name, bytes, block, kind, alpha, srgb, minor, doc) AEROGPU_FORMAT_##name = value,
    AEROGPU_EXT_FORMATS(AEROGPU_ROW)
#undef AEROGPU_ROW
};
#define AEROGPU_EXT_FIRST_FORMAT 0x8000u

/* EXT_DIMENSIONS, of CREATE_TEXTURE2D: a texture of one dimension, whose height is 1, or of three, whose array_layers are its depth:
 * each mip has half of it, and in the linear layout the slices of a mip follow each other, and the mips then. Where a
 * packet names a layer, it is a slice; a view of a part of the slices can be drawn to, and what is read is all of a mip. */
#define AEROGPU_RESOURCE_USAGE_EXT_1D 0x40000000u
#define AEROGPU_RESOURCE_USAGE_EXT_3D 0x20000000u

/* EXT_SAMPLES, of CREATE_TEXTURE2D: 1 << n samples in each texel, where there is one mip and no guest memory behind it. */
#define AEROGPU_RESOURCE_USAGE_EXT_SAMPLES(n)        ((uint32_t)(n) << 26)
#define AEROGPU_RESOURCE_USAGE_EXT_SAMPLES_OF(usage) ((usage) >> 26 & 7u)

/* EXT_OUTPUT, of EXT_SET_RASTERIZER_STATE's flags: as many samples as primitives are looked at with while there is no target, or
 * the most below that the host has; 0: one. */
#define AEROGPU_RASTERIZER_FLAG_EXT_SAMPLES(n)        ((uint32_t)(n) << 8)
#define AEROGPU_RASTERIZER_FLAG_EXT_SAMPLES_OF(flags) ((flags) >> 8 & 31u)

/* EXT_STREAM_OUTPUT: a DXBC container of the last stage in front of the pixel shader may have this chunk: the struct, and `count` entries.
 * The entries of one slot follow each other in the buffer, in their order; those of register 0xFFFFFFFF are gaps of as many words as
 * their mask has bits. */
#define AEROGPU_STREAM_OUTPUT_CHUNK 0x4F534741u /* "AGSO" */
#define AEROGPU_STREAM_OUTPUT_SLOTS 4u
#define AEROGPU_STREAM_OUTPUT_MOST  512u /* entries */
#define AEROGPU_STREAM_OUTPUT_GAP   UINT32_MAX

struct aerogpu_stream_output {
    uint32_t count;
    uint32_t rasterized; /* the stream that goes to the rasterizer; 4 and more: none does */
    uint32_t strides[4]; /* of each slot, bytes; 0: as much as its entries have */
};

struct aerogpu_stream_output_entry {
    uint8_t stream, slot, mask; /* mask: components of the register, which follow each other */
    uint8_t reserved0;
    uint32_t reg;
};

/* EXT_CLIENTS: the low half of reserved0 of a submit descriptor is the client's number, 0 for none, the high half its session: that of
 * one user, who is shown, and waited for, apart from others. What a client makes (handles, tokens, contexts)
 * is known to its own submissions only. Surfaces that several clients share are what their guest memory holds: an entry of the
 * allocation table with the flag below is read before the stream, and written back behind it unless it is READONLY. */
#define AEROGPU_SUBMIT_FLAG_EXT_HIDDEN                                                                       \
    (1u << 27) /* what it presents is not shown: the scanout shows another session */
#define AEROGPU_SUBMIT_FLAG_EXT_CROSSES                                                                      \
    (1u << 28) /* ORDERED after those of other sessions, too, that have this flag and a group in common */
#define AEROGPU_SUBMIT_FLAG_EXT_QUIET                                                                        \
    (1u << 29) /* its failure is no error of its fence, which is another's */
#define AEROGPU_SUBMIT_FLAG_EXT_ORDERED                                                                      \
    (1u << 30) /* begins when those of other clients of its session before it have ended */
#define AEROGPU_SUBMIT_FLAG_EXT_CLIENT_ENDS                                                                  \
    (1u << 31)                                   /* all that it has made goes; there need be no stream */
#define AEROGPU_ALLOC_FLAG_EXT_SHARED (1u << 31) /* of an entry of the allocation table */

/* EXT_GROUPS: cmd_reserved0 of a descriptor with CROSSES is a set of groups, a bit each; 0, as without the feature, is all of them. The
 * driver gives each surface that crosses sessions groups, which it keeps, and a submission those of all such surfaces that it names. */

/* Of EXT_CLIENTS, too: the fences of the last errors, 64 bits each, read only; that of the error which made ERROR_COUNT n is at
 * [(n - 1) % AEROGPU_EXT_ERRORS]. Else of several errors between two looks only the last would have a fence. */
#define AEROGPU_EXT_REG_ERROR_FENCES 0x8000u
#define AEROGPU_EXT_ERRORS           64u

/* EXT_ENGINES: a reset of the ring with this bit makes engine_id of a descriptor one of AEROGPU_EXT_ENGINES time lines. Submissions
 * of one engine begin and signal in the order of the ring, and wait for no other's. Engine 0 signals COMPLETED_FENCE; each has its
 * last fence here (64 bits, read only) and in the fence page. Each fence rises within its engine. The slot of a
 * descriptor is free as soon as it was taken: the memory of stream and table is until the fence. A reset without the bit ends it;
 * a driver that never sets it has the one time line of the ABI, whatever its descriptors say. */
#define AEROGPU_RING_CONTROL_EXT_ENGINES (1u << 31)
#define AEROGPU_EXT_ENGINES              64u
#define AEROGPU_EXT_REG_ENGINE_FENCES    0x8400u
#define AEROGPU_EXT_FENCE_PAGE_ENGINES   512u /* offset of the fences in the page, which is this long then: */
#define AEROGPU_EXT_FENCE_PAGE_BYTES     1024u /* and begins at a multiple of 8 */

/* Of struct aerogpu_umd_private, flags: the engine that is the calling process's own, 0 as long as it has no device: its contexts
 * may have that one and 0. */
#define AEROGPU_EXT_UMD_PRIVATE_FLAG_ENGINE(engine) ((engine) << 16)
#define AEROGPU_EXT_UMD_PRIVATE_ENGINE(flags)       ((flags) >> 16 & 63u)

/* Of struct aerogpu_umd_private, flags: handles in streams are the device's own, below 2^20, and end with it. Without it there is one
 * namespace for everybody, and what a process leaves stays. */
#define AEROGPU_EXT_UMD_PRIVATE_FLAG_OWN_HANDLES 0x80000000u

/* SPIR-V: the bytes of CREATE_SHADER_DXBC may be a SPIR-V module: a pixel or compute shader 'main' without inputs, whose only
 * resource is a uniform block at binding 0 (descriptor set 0 for compute, 1 for pixel shaders), which is constant buffer 0.
 *
 * GPU addresses, where the host allows them (they reach everything that the executor's process can): such a module may use
 * physical storage buffers. A buffer made with AEROGPU_RESOURCE_USAGE_EXT_ADDRESS has an address, which EXT_BUFFER_ADDRESS
 * writes into a buffer, so that a recording does not depend on what the address is. Accesses in front of and behind such a
 * buffer, and to one that is destroyed, are page faults. */
#define AEROGPU_RESOURCE_USAGE_EXT_ADDRESS 0x80000000u /* of CREATE_BUFFER */

/* Our packets, in the form of the table in cmd.h: structs, opcodes, decoder, printer and reference page come from it. */
#define AEROGPU_FIELDS_EXT_DESTROY_CONTEXT(F, A)                                                             \
    F(U32, context_id, U, "which; the one that the stream itself works on is left alone")                    \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_EXT_BUFFER_ADDRESS(F, A)                                                              \
    F(U32, dst_buffer, HANDLE, "gets the address, 8 bytes")                                                  \
    F(U32, src_buffer, HANDLE, "whose address it is")                                                        \
    F(U64, dst_offset, U, "multiple of 4")                                                                   \
    F(U64, src_offset, U, "added to the address, modulo 2^64: may point outside of the buffer")
#define AEROGPU_FIELDS_EXT_BREADCRUMB_BUFFER(F, A)                                                           \
    F(U32, alloc_id, ALLOC, "writable guest memory")                                                         \
    F(U32, count, U, "markers of 8 bytes; 0: no buffer any more")                                            \
    F(U64, offset, U, "multiple of 8, in the allocation")
#define AEROGPU_FIELDS_EXT_WRITE_BREADCRUMB(F, A)                                                            \
    F(U32, type, U, "0 top of pipe, 1 bottom of pipe")                                                       \
    F(U32, index, U, "in the context's breadcrumb buffer")                                                   \
    F(U64, data, X, "what is written")
#define AEROGPU_FIELDS_EXT_PUSH_MARKER(F, A)
#define AEROGPU_FIELDS_EXT_POP_MARKER(F, A)
#define AEROGPU_FIELDS_EXT_CHECKPOINT(F, A)                                                                  \
    F(U32, payload_bytes, U, "1 to 1024, which follow")                                                      \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_EXT_CHECKPOINT_POINTER(F, A)                                                          \
    F(U32, alloc_id, ALLOC, "guest memory that is read when a dump is made; 0: none")                        \
    F(U32, payload_bytes, U, "1 to 1024 of that memory; 0 without")                                          \
    F(U64, pointer, X, "offset in the allocation; without one any number of the client's own")

#define AEROGPU_FIELDS_EXT_RESIDENCY(F, A)                                                                   \
    F(U32, buffer, HANDLE, "a buffer with an address")                                                       \
    F(U32, resident, BOOL, "0: evicted, its address faults; 1: back again, with what it held")
#define AEROGPU_FIELDS_EXT_DESTROY_HANDLES(F, A)                                                             \
    F(U32, first, X, "every handle from here")                                                               \
    F(U32, last, X, "to here ends, of whatever kind")

#define AEROGPU_FIELDS_EXT_BEGIN_QUERY(F, A)                                                                 \
    F(U32, slot, U, "0 to 63: which of the context's queries; one under way is given up")                    \
    F(U32, kind, U, "0 samples that passed, 1 what the stages did, 2 to 5 what stream 0 to 3 put out")       \
    F(U32, alloc_id, ALLOC, "writable guest memory")                                                         \
    F(U32, reserved0, RSV, "0")                                                                              \
    F(U64, offset, U, "multiple of 8, in the allocation")
#define AEROGPU_FIELDS_EXT_END_QUERY(F, A)                                                                   \
    F(U32, slot, U, "of a query that has begun")                                                             \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_EXT_WRITE_TIMESTAMP(F, A)                                                             \
    F(U32, alloc_id, ALLOC, "writable guest memory")                                                         \
    F(U32, reserved0, RSV, "0")                                                                              \
    F(U64, offset, U, "multiple of 8, in the allocation")
#define AEROGPU_FIELDS_EXT_GENERATE_MIPS(F, A)                                                               \
    F(U32, texture, HANDLE, "a texture, or a view, whose first mip the others are made of")                  \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_EXT_CREATE_SAMPLER(F, A)                                                              \
    F(U32, sampler_handle, NEW, "handle of the new sampler")                                                 \
    F(U32, filter, X, "as D3D11_FILTER")                                                                     \
    F(U32, address_u, U, "as D3D11_TEXTURE_ADDRESS_MODE")                                                    \
    F(U32, address_v, U, "the same")                                                                         \
    F(U32, address_w, U, "the same")                                                                         \
    F(F32, lod_bias, FLOAT, "added to the level of detail")                                                  \
    F(U32, max_anisotropy, U, "1 to 16")                                                                     \
    F(U32, compare_func, U, "as D3D11_COMPARISON_FUNC, for filters that compare")                            \
    A(F32, border_rgba, 4, FLOAT, "what lies outside")                                                       \
    F(F32, min_lod, FLOAT, "no finer level of detail is read")                                               \
    F(F32, max_lod, FLOAT, "no coarser one")

#define AEROGPU_FIELDS_EXT_SET_D3D9_VALUES(F, A)                                                             \
    F(U32, first, U, "the first row, 0 to 27")                                                               \
    F(U32, vec4_count, U, "rows of four numbers, which follow")

#define AEROGPU_FIELDS_EXT_CREATE_BUFFER_VIEW(F, A)                                                          \
    F(U32, view_handle, NEW, "handle of the new view")                                                       \
    F(U32, buffer, HANDLE, "what it looks at")                                                               \
    F(U32, dxgi_format, U, "of its texels, as DXGI_FORMAT; 0: words, of a raw or structured buffer")         \
    F(U32, reserved0, RSV, "0")                                                                              \
    F(U64, offset_bytes, U, "multiple of a texel's size, or of 4")                                           \
    F(U64, size_bytes, U, "the same, not 0")
#define AEROGPU_FIELDS_EXT_CLEAR_VIEW(F, A)                                                                  \
    F(U32, view, HANDLE, "a texture, or a view of a texture or a buffer")                                    \
    F(U32, floats, BOOL, "0: the values' low bits are the texels'; 1: they are converted to its format")     \
    A(U32, values, 4, X, "R, G, B and A; of a buffer without a format the first")
#define AEROGPU_FIELDS_EXT_COPY_COUNT(F, A)                                                                  \
    F(U32, view, HANDLE, "a view of a buffer")                                                               \
    F(U32, dst_buffer, HANDLE, "gets the view's hidden counter, 4 bytes")                                    \
    F(U64, dst_offset, U, "multiple of 4")
#define AEROGPU_FIELDS_EXT_DRAW_INDIRECT(F, A)                                                               \
    F(U32, buffer, HANDLE, "where the numbers of DRAW, or DRAW_INDEXED, lie, in their order")                \
    F(U32, indexed, BOOL, "which of the two")                                                                \
    F(U64, offset, U, "multiple of 4")
#define AEROGPU_FIELDS_EXT_DISPATCH_INDIRECT(F, A)                                                           \
    F(U32, buffer, HANDLE, "where the three numbers of DISPATCH lie")                                        \
    F(U32, reserved0, RSV, "0")                                                                              \
    F(U64, offset, U, "multiple of 4")
#define AEROGPU_FIELDS_EXT_SET_BLEND_STATE(F, A)                                                             \
    F(U32, alpha_to_coverage, BOOL, "")                                                                      \
    F(U32, sample_mask, X, "")                                                                               \
    A(F32, constant_rgba, 4, FLOAT, "")                                                                      \
    A(U32, targets, 16, X,                                                                                   \
      "two of each: source, destination (D3D11_BLEND), operation (D3D11_BLEND_OP), enable, 8 bits each; "    \
      "those of alpha, and the write mask. Enable 2: a logic operation (D3D11_LOGIC_OP), all alike")
#define AEROGPU_FIELDS_EXT_SET_RASTERIZER_STATE(F, A)                                                        \
    F(U32, fill_mode, FILL, "")                                                                              \
    F(U32, cull_mode, CULL, "")                                                                              \
    F(U32, front_ccw, BOOL, "")                                                                              \
    F(U32, scissor_enable, BOOL, "")                                                                         \
    F(I32, depth_bias, U, "in units of the depth buffer's resolution")                                       \
    F(F32, depth_bias_clamp, FLOAT, "0: none")                                                               \
    F(F32, slope_scaled_depth_bias, FLOAT, "")                                                               \
    F(U32, flags, RASTERIZER_FLAG, "")
#define AEROGPU_FIELDS_EXT_SET_VIEWPORTS(F, A)                                                               \
    F(U32, vec4_count, U, "two for each of at most 16 viewports: x, y, width, height; min, max depth, 0, 0") \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_EXT_SET_SCISSORS(F, A)                                                                \
    F(U32, vec4_count, U, "one for each of at most 16 viewports: x, y, width, height")                       \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_EXT_RESOLVE(F, A)                                                                     \
    F(U32, dst_texture, HANDLE, "of one sample")                                                             \
    F(U32, src_texture, HANDLE, "of several, and as large as the destination's mip")                         \
    F(U32, dst_mip_level, U, "")                                                                             \
    F(U32, dst_array_layer, U, "")                                                                           \
    F(U32, src_array_layer, U, "")                                                                           \
    F(U32, format, FORMAT, "how the texels of both are read")
#define AEROGPU_FIELDS_EXT_SET_STREAM_OUTPUT(F, A)                                                           \
    A(U32, buffers, 4, HANDLE, "0: none")                                                                    \
    A(U32, offsets, 4, X, "multiple of 4; 0xFFFFFFFF: behind what was written there")
#define AEROGPU_FIELDS_EXT_DRAW_AUTO(F, A)                                                                   \
    F(U32, reserved0, RSV, "0")                                                                              \
    F(U32, reserved1, RSV, "0")
#define AEROGPU_FIELDS_EXT_NAME(F, A)                                                                        \
    F(U32, object, HANDLE, "a resource, view or shader")                                                     \
    F(U32, reserved0, RSV, "0")
#define AEROGPU_FIELDS_EXT_CLEAR_RECTS(F, A)                                                                 \
    A(F32, color_rgba, 4, FLOAT, "as CLEAR's")                                                               \
    F(U32, vec4_count, U, "rectangles of all colour targets: x, y, width, height; what is outside is not")   \
    F(U32, reserved0, RSV, "0")

/* CREATE_BUFFER_VIEW: DESTROY_TEXTURE_VIEW ends it. SET_TEXTURE takes one, and SET_UNORDERED_ACCESS_BUFFERS does, and a texture or a view
 * of one, in the place of a buffer: offset and size are the view's then. Each has a hidden counter of its own.
 *
 * DESTROY_CONTEXT: the pipeline state of a context goes, and with it what is still bound there.
 *
 * DESTROY_HANDLES: what a client left behind: never an error, whatever the handles name, or nothing.
 *
 * BREADCRUMB_BUFFER, WRITE_BREADCRUMB: 64-bit markers that a stream has written into guest memory, where they can be read at
 * any instant, whatever became of the device. Each context has a buffer of its own; its allocation has to be in the table of
 * each submission that writes markers. A TOP marker is written when the command
 * processor reaches it, a BOTTOM marker when all draws and dispatches before it are done; neither holds anything up, but no
 * more than 64 BOTTOM markers and checkpoints wait at a time.
 *
 * PUSH_MARKER, POP_MARKER: named regions: what is between belongs to the name. They nest, and need not be balanced; a
 * DEBUG_MARKER names what comes next inside of them. The text follows the header, UTF-8, padded with zeroes.
 *
 * NAME: what its program calls an object, for people; an empty text takes the name away. UTF-8, padded with zeroes.
 *
 * CHECKPOINT, CHECKPOINT_POINTER: a context remembers the last one that its command processor reached (top) and the last one
 * that everything before it is done for (bottom); a crash dump has both, with their payloads: a copy, or what is then found
 * where the pointer points.
 *
 * BEGIN_QUERY, END_QUERY: the draws and dispatches of the context between them are counted. Guest memory becomes zero, and each
 * submission of the context that draws meanwhile adds what it counted, until END_QUERY; its allocation has to be in the
 * tables of all these. Samples are 8 bytes; what the stages did is 11 numbers of 8 bytes, in the order of
 * D3D11_QUERY_DATA_PIPELINE_STATISTICS; of a stream's output two: how many primitives were written, and how many would have been. Where
 * the host cannot count, the numbers stay zero.
 *
 * DRAW_AUTO: draws what EXT_SET_STREAM_OUTPUT had written to the buffer that is bound as the first vertex buffer.
 *
 * WRITE_TIMESTAMP: the time when everything before it was done, in nanoseconds of a clock that rises; 0: the host has none.
 *
 * SET_D3D9_VALUES: what shaders of Direct3D 9 depend on beside their registers and render states; all of it begins as 0, but the
 * matrices, which begin as unit matrices and scale by 1. Rows 0 to 5 are the planes of CLIPPLANEENABLE, in clip space: what has a
 * negative product with one of those that are enabled is cut away. Rows 6 + 2n and 7 + 2n are stage n's BUMPENVMAT00, 01, 10, 11
 * and BUMPENVLSCALE, BUMPENVLOFFSET. Row 22 has a number for each of stages 0 to 3: by which of them, 2, 3 or 4, its coordinates are
 * divided in pixel shaders 1.0 to 1.3; 0: by none. Rows 23 to 26 have a number for each of 16 streams of vertex declarations of Direct3D 9: of how many
 * instances each gets the same element of the stream; 0: the stream has one for each vertex. Row 27 begins with a number whose bit n
 * says that pixel shaders compare the third coordinate with the depth that sampler n reads: 1 where it is no more, else 0; and one that is
 * 1 if table fog goes by w, 0 if by depth. The bits of its third say the same of those that read depth as a number, which all four components
 * have then; and those of its fourth of those whose colours are decoded from sRGB after they were sampled. Row 28, by their fourth component,
 * is added to positions that vertex shaders wrote, after planes cut: where pixels have their centres at whole numbers, 1 / width and
 * -1 / height of the viewport. */
#define AEROGPU_EXT_PACKETS(P)                                                                               \
    P(0x8000, EXT_DESTROY_CONTEXT, ext_destroy_context, 16, NONE, hdr, 4, KERNEL, "ends a context")          \
    P(0x8001, EXT_BUFFER_ADDRESS, ext_buffer_address, 32, NONE, hdr, 4, SHARE,                               \
      "writes a buffer's GPU address")                                                                       \
    P(0x8002, EXT_BREADCRUMB_BUFFER, ext_breadcrumb_buffer, 24, NONE, hdr, 4, MARK,                          \
      "sets the context's breadcrumb buffer")                                                                \
    P(0x8003, EXT_WRITE_BREADCRUMB, ext_write_breadcrumb, 24, NONE, hdr, 4, MARK, "writes a marker")         \
    P(0x8004, EXT_PUSH_MARKER, ext_push_marker, 8, TEXT, hdr, 4, META, "begins a named region")              \
    P(0x8005, EXT_POP_MARKER, ext_pop_marker, 8, NONE, hdr, 4, META,                                         \
      "ends the innermost region; without one it is ignored")                                                \
    P(0x8006, EXT_CHECKPOINT, ext_checkpoint, 16, BYTES, payload_bytes, 4, MARK,                             \
      "a place in the stream that a crash dump names")                                                       \
    P(0x8007, EXT_CHECKPOINT_POINTER, ext_checkpoint_pointer, 24, NONE, hdr, 4, MARK,                        \
      "the same, with what it says elsewhere")                                                               \
    P(0x8008, EXT_RESIDENCY, ext_residency, 16, NONE, hdr, 4, SHARE,                                         \
      "evicts a buffer, or makes it resident again")                                                         \
    P(0x8009, EXT_DESTROY_HANDLES, ext_destroy_handles, 16, NONE, hdr, 4, KERNEL,                            \
      "ends all handles of a range")                                                                         \
    P(0x800B, EXT_BEGIN_QUERY, ext_begin_query, 32, NONE, hdr, 4, MARK,                                      \
      "counts what is drawn, into guest memory")                                                             \
    P(0x800C, EXT_END_QUERY, ext_end_query, 16, NONE, hdr, 4, MARK, "ends it")                               \
    P(0x800D, EXT_WRITE_TIMESTAMP, ext_write_timestamp, 24, NONE, hdr, 4, MARK,                              \
      "writes the time into guest memory")                                                                   \
    P(0x800E, EXT_CREATE_SAMPLER, ext_create_sampler, 64, NONE, hdr, 4, CREATE(DESTROY_SAMPLER),             \
      "a sampler, with all that Direct3D 11 says of one")                                                    \
    P(0x800F, EXT_GENERATE_MIPS, ext_generate_mips, 16, NONE, hdr, 4, TRANSFER,                              \
      "makes each mip of the one before")                                                                    \
    P(0x8010, EXT_SET_D3D9_VALUES, ext_set_d3d9_values, 16, VEC4F, vec4_count, 4, STATE(4),                  \
      "clip planes, bump matrices, projected stages")                                                        \
    P(0x8011, EXT_CREATE_BUFFER_VIEW, ext_create_buffer_view, 40, NONE, hdr, 4,                              \
      CREATE(DESTROY_TEXTURE_VIEW), "makes a view of a part of a buffer")                                    \
    P(0x8012, EXT_CLEAR_VIEW, ext_clear_view, 32, NONE, hdr, 4, TRANSFER, "fills what a view looks at")      \
    P(0x8013, EXT_COPY_COUNT, ext_copy_count, 24, NONE, hdr, 4, TRANSFER, "copies a hidden counter")         \
    P(0x8014, EXT_DRAW_INDIRECT, ext_draw_indirect, 24, NONE, hdr, 4, DRAW, "draws as a buffer says")        \
    P(0x8015, EXT_DISPATCH_INDIRECT, ext_dispatch_indirect, 24, NONE, hdr, 4, DRAW,                          \
      "runs the compute shader as a buffer says")                                                            \
    P(0x8016, EXT_SET_BLEND_STATE, ext_set_blend_state, 96, NONE, hdr, 4, STATE(0),                          \
      "sets blending of each target, with all that Direct3D 11 says of it")                                  \
    P(0x8017, EXT_SET_RASTERIZER_STATE, ext_set_rasterizer_state, 40, NONE, hdr, 4, STATE(0),                \
      "sets fill, cull, bias and clipping, with all that Direct3D 11 says of them")                          \
    P(0x8018, EXT_SET_VIEWPORTS, ext_set_viewports, 16, VEC4F, vec4_count, 4, STATE(0),                      \
      "sets several viewports")                                                                              \
    P(0x8019, EXT_SET_SCISSORS, ext_set_scissors, 16, VEC4I, vec4_count, 4, STATE(0),                        \
      "sets several scissor rectangles")                                                                     \
    P(0x801A, EXT_RESOLVE, ext_resolve, 32, NONE, hdr, 4, TRANSFER, "makes one sample of several")           \
    P(0x801B, EXT_SET_STREAM_OUTPUT, ext_set_stream_output, 40, NONE, hdr, 4, STATE(0),                      \
      "binds buffers that vertices are written to")                                                          \
    P(0x801C, EXT_DRAW_AUTO, ext_draw_auto, 16, NONE, hdr, 4, DRAW, "draws vertices that were written")      \
    P(0x801D, EXT_NAME, ext_name, 16, TEXT, hdr, 4, META, "names an object")                                 \
    P(0x801E, EXT_CLEAR_RECTS, ext_clear_rects, 32, VEC4I, vec4_count, 4, DRAW, "clears parts of targets")

enum aerogpu_d3d9_row {
    AEROGPU_D3D9_ROW_CLIP = 0,
    AEROGPU_D3D9_ROW_BUMP = 6,
    AEROGPU_D3D9_ROW_PROJECTED = 22,
    AEROGPU_D3D9_ROW_INSTANCES = 23,
    AEROGPU_D3D9_ROW_SAMPLING = 27,
    AEROGPU_D3D9_ROW_CENTRE = 28,
    AEROGPU_D3D9_ROWS = 29
};
enum aerogpu_query_kind {
    AEROGPU_QUERY_SAMPLES = 0,
    AEROGPU_QUERY_STATISTICS = 1,
    AEROGPU_QUERY_STREAM = 2, /* 3 to 5: the other streams */
};
#define AEROGPU_QUERY_SLOTS            64u
#define AEROGPU_QUERY_STATISTICS_WORDS 11u
enum aerogpu_breadcrumb_type { AEROGPU_BREADCRUMB_TOP = 0, AEROGPU_BREADCRUMB_BOTTOM = 1 };
#define AEROGPU_CHECKPOINT_MAX_BYTES 1024u

#pragma pack(push, 1)
#define AEROGPU_PACKET_STRUCT(opcode, NAME, name, size, tail, count_field, minor, class, doc)                \
    struct aerogpu_cmd_##name {                                                                              \
        struct aerogpu_cmd_hdr hdr;                                                                          \
        AEROGPU_FIELDS_##NAME(AEROGPU_STRUCT_FIELD, AEROGPU_STRUCT_ARRAY)                                    \
    };
AEROGPU_EXT_PACKETS(AEROGPU_PACKET_STRUCT)
#undef AEROGPU_PACKET_STRUCT
#pragma pack(pop)

enum aerogpu_cmd_ext_opcode {
#define AEROGPU_PACKET_OPCODE(opcode, NAME, name, size, tail, count_field, minor, class, doc)                \
    AEROGPU_CMD_##NAME = opcode,
    AEROGPU_EXT_PACKETS(AEROGPU_PACKET_OPCODE)
#undef AEROGPU_PACKET_OPCODE
};

#define AEROGPU_ASSERT_PACKET(opcode, NAME, name, size, tail, count_field, minor, class, doc)                \
    AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_cmd_##name) == size, #NAME);
AEROGPU_EXT_PACKETS(AEROGPU_ASSERT_PACKET)
#undef AEROGPU_ASSERT_PACKET

/* Private data of a WDDM context: what its user-mode driver asks for. Contexts without any get the defaults. */
#define AEROGPU_CONTEXT_PRIV_MAGIC 0x58544341u /* "ACTX" */

struct aerogpu_context_priv {
    uint32_t magic;
    uint32_t version;          /* 1 */
    uint32_t dma_buffer_bytes; /* of one submission at most; 0: the default; up to MaxDmaBufferBytes */
    uint32_t flags;            /* 0 */
};

AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_context_priv) == 16, "version 1");

/* An escape of our own: lines of the driver's circular log, oldest first, each "number seconds level text\n". */
#define AEROGPU_EXT_ESCAPE_OP_READ_LOG 0x8000u
#define AEROGPU_EXT_LOG_TEXT           4056u

struct aerogpu_escape_read_log {
    struct aerogpu_escape_header header;
    uint64_t first;      /* in: number of the first line wanted; out: of the first in `text` */
    uint64_t next;       /* out: what to ask for next; equal to first: there is nothing new */
    uint32_t text_bytes; /* out */
    uint32_t reserved0;
    char text[AEROGPU_EXT_LOG_TEXT];
};

AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_escape_read_log) == 4096, "one page");
