/* SPDX-License-Identifier: MIT */
/* escape.h: the driver-private calls of D3DKMTEscape, and the blob that UMDRIVERPRIVATE returns.
 *
 * Every escape is one packed block without pointers, the same for 32-bit and 64-bit callers: a header, then
 * the fields of its op. Blocks have grown over time: a caller may send a shorter one, the driver fills the
 * prefix that fits and says in header.size what it filled. Row order: E(op, NAME, struct suffix, bytes, doc);
 * each op has a field table F(type, name, dir, doc) and A(element type, name, count, dir, doc). dir: in, out,
 * inout (capacity-like), or pad (0).
 */
#pragma once

#include "aerogpu/abi.h"

#define AEROGPU_ESCAPE_VERSION      1u
#define AEROGPU_ESCAPE_RECENT       32   /* entries of the dump arrays */
#define AEROGPU_ESCAPE_READ_GPA_MAX 4096 /* bytes of one READ_GPA */
#define AEROGPU_ESCAPE_FLAGS_VALID  (1u << 31)
/* Bits of the `flags` of each query, beside VALID. */
enum aerogpu_escape_flags {
    AEROGPU_ESCAPE_VBLANK_SUPPORTED = 1 << 0,
    AEROGPU_ESCAPE_VBLANK_INTERRUPT_TYPE = 1 << 1,
    AEROGPU_ESCAPE_SCANOUT_CACHED_FB_GPA = 1 << 0,
    AEROGPU_ESCAPE_CURSOR_SUPPORTED = 1 << 0,
    AEROGPU_ESCAPE_PERF_RING = 1 << 0,
    AEROGPU_ESCAPE_PERF_VBLANK = 1 << 1,
    AEROGPU_ESCAPE_PERF_SCANLINE = 1 << 2,
    AEROGPU_ESCAPE_ERROR_SUPPORTED = 1 << 0,
    AEROGPU_ESCAPE_ERROR_LATCHED = 1 << 1,
};
#define AEROGPU_ESCAPE_SCANOUT_V1 72 /* bytes of QUERY_SCANOUT without cached_fb_gpa */

#define AEROGPU_ESCAPES(E)                                                                                   \
    E(1, QUERY_DEVICE, query_device, 24, "ABI version of the device")                                        \
    E(2, QUERY_FENCE, query_fence, 48, "fence counters of the adapter")                                      \
    E(3, DUMP_RING, dump_ring, 808, "ring indices and the pending descriptors")                              \
    E(4, SELFTEST, selftest, 32, "runs the driver's self-test")                                              \
    E(5, QUERY_VBLANK, query_vblank, 56, "vblank registers and the requested interrupt")                     \
    E(6, DUMP_RING_V2, dump_ring_v2, 1332, "ring indices and the last descriptors, completed ones too")      \
    E(7, QUERY_DEVICE_V2, query_device_v2, 48, "magic, ABI version and features")                            \
    E(8, MAP_SHARED_HANDLE, map_shared_handle, 32, "debug token of a shared NT handle (gated)")              \
    E(9, DUMP_CREATEALLOCATION, dump_createallocation, 1824, "the last allocations that were created")       \
    E(10, QUERY_SCANOUT, query_scanout, 80, "scanout as the driver and the registers have it")               \
    E(11, QUERY_CURSOR, query_cursor, 72, "cursor registers")                                                \
    E(12, QUERY_PERF, query_perf, 264, "counters")                                                           \
    E(13, READ_GPA, read_gpa, 4136, "reads guest memory (gated)")                                            \
    E(14, QUERY_ERROR, query_error, 40, "the error latch")                                                   \
    E(15, SET_CURSOR_SHAPE, set_cursor_shape, 48,                                                            \
      "cursor image; pitch_bytes * height bytes of pixels follow")                                           \
    E(16, SET_CURSOR_POSITION, set_cursor_position, 24, "moves the cursor")                                  \
    E(17, SET_CURSOR_VISIBILITY, set_cursor_visibility, 24, "shows or hides the cursor")

enum aerogpu_escape_op {
#define AEROGPU_ROW(op, NAME, name, bytes, doc) AEROGPU_ESCAPE_OP_##NAME = op,
    AEROGPU_ESCAPES(AEROGPU_ROW)
#undef AEROGPU_ROW
};

#define AEROGPU_ESCAPE_FIELDS_header(F, A)                                                                   \
    F(uint32_t, version, in, "1")                                                                            \
    F(uint32_t, op, in, "AEROGPU_ESCAPE_OP_*")                                                               \
    F(uint32_t, size, inout, "bytes of the whole block")                                                     \
    F(uint32_t, reserved0, pad, "0")

#define AEROGPU_ESCAPE_FIELDS_query_device(F, A)                                                             \
    F(uint32_t, mmio_version, out, "ABI_VERSION")                                                            \
    F(uint32_t, reserved0, pad, "0")

#define AEROGPU_ESCAPE_FIELDS_query_fence(F, A)                                                              \
    F(uint64_t, last_submitted_fence, out, "of the whole adapter")                                           \
    F(uint64_t, last_completed_fence, out, "of the whole adapter")                                           \
    F(uint64_t, error_irq_count, out, "error interrupts seen")                                               \
    F(uint64_t, last_error_fence, out, "fence of the last of them")

/* One pending submission, in DUMP_RING. */
#define AEROGPU_ESCAPE_FIELDS_ring_desc(F, A)                                                                \
    F(uint64_t, signal_fence, out, "its fence")                                                              \
    F(uint64_t, cmd_gpa, out, "its stream")                                                                  \
    F(uint32_t, cmd_size_bytes, out, "its size")                                                             \
    F(uint32_t, flags, out, "AEROGPU_SUBMIT_FLAG_*")

#define AEROGPU_ESCAPE_FIELDS_dump_ring(F, A)                                                                \
    F(uint32_t, ring_id, in, "0")                                                                            \
    F(uint32_t, ring_size_bytes, out, "size of the ring")                                                    \
    F(uint32_t, head, out, "as in the ring header")                                                          \
    F(uint32_t, tail, out, "as in the ring header")                                                          \
    F(uint32_t, desc_count, out, "entries filled in")                                                        \
    F(uint32_t, desc_capacity, inout, "entries wanted, at most 32")                                          \
    A(ring_desc, desc, AEROGPU_ESCAPE_RECENT, out, "oldest first")

#define AEROGPU_ESCAPE_FIELDS_ring_desc_v2(F, A)                                                             \
    F(uint64_t, fence, out, "its fence")                                                                     \
    F(uint64_t, cmd_gpa, out, "its stream")                                                                  \
    F(uint32_t, cmd_size_bytes, out, "its size")                                                             \
    F(uint32_t, flags, out, "AEROGPU_SUBMIT_FLAG_*")                                                         \
    F(uint64_t, alloc_table_gpa, out, "its allocation table")                                                \
    F(uint32_t, alloc_table_size_bytes, out, "its size")                                                     \
    F(uint32_t, reserved0, pad, "0")

#define AEROGPU_ESCAPE_FIELDS_dump_ring_v2(F, A)                                                             \
    F(uint32_t, ring_id, in, "0")                                                                            \
    F(uint32_t, ring_format, out, "AEROGPU_RING_FORMAT_*")                                                   \
    F(uint32_t, ring_size_bytes, out, "size of the ring")                                                    \
    F(uint32_t, head, out, "as in the ring header")                                                          \
    F(uint32_t, tail, out, "as in the ring header")                                                          \
    F(uint32_t, desc_count, out, "entries filled in; the newest is the last")                                \
    F(uint32_t, desc_capacity, inout, "entries wanted, at most 32")                                          \
    F(uint32_t, reserved0, pad, "0")                                                                         \
    F(uint32_t, reserved1, pad, "0")                                                                         \
    A(ring_desc_v2, desc, AEROGPU_ESCAPE_RECENT, out, "oldest first")

#define AEROGPU_ESCAPE_FIELDS_selftest(F, A)                                                                 \
    F(uint32_t, timeout_ms, in, "time budget")                                                               \
    F(uint32_t, passed, out, "1 if it passed")                                                               \
    F(uint32_t, error_code, out, "AEROGPU_SELFTEST_*")                                                       \
    F(uint32_t, reserved0, pad, "0")

#define AEROGPU_ESCAPE_FIELDS_query_vblank(F, A)                                                             \
    F(uint32_t, vidpn_source_id, in, "0")                                                                    \
    F(uint32_t, irq_enable, out, "IRQ_ENABLE")                                                               \
    F(uint32_t, irq_status, out, "IRQ_STATUS")                                                               \
    F(uint32_t, flags, out, "bit 31 valid, bit 0 vblank supported, bit 1 interrupt type valid")              \
    F(uint64_t, vblank_seq, out, "SCANOUT0_VBLANK_SEQ")                                                      \
    F(uint64_t, last_vblank_time_ns, out, "SCANOUT0_VBLANK_TIME_NS")                                         \
    F(uint32_t, vblank_period_ns, out, "SCANOUT0_VBLANK_PERIOD_NS")                                          \
    F(uint32_t, vblank_interrupt_type, out, "DXGK_INTERRUPT_TYPE that ControlInterrupt asked for")

#define AEROGPU_ESCAPE_FIELDS_query_device_v2(F, A)                                                          \
    F(uint32_t, detected_mmio_magic, out, "MAGIC")                                                           \
    F(uint32_t, abi_version_u32, out, "ABI_VERSION")                                                         \
    F(uint64_t, features_lo, out, "FEATURES")                                                                \
    F(uint64_t, features_hi, out, "0")                                                                       \
    F(uint64_t, reserved0, pad, "0")

#define AEROGPU_ESCAPE_FIELDS_map_shared_handle(F, A)                                                        \
    F(uint64_t, shared_handle, in, "NT handle of a shared surface")                                          \
    F(uint32_t, debug_token, out, "names it for a debugger; not a share token")                              \
    F(uint32_t, reserved0, pad, "0")

#define AEROGPU_ESCAPE_FIELDS_createallocation(F, A)                                                         \
    F(uint32_t, seq, out, "number of this entry")                                                            \
    F(uint32_t, call_seq, out, "number of the call that created it")                                         \
    F(uint32_t, alloc_index, out, "its place among the allocations of that call")                            \
    F(uint32_t, num_allocations, out, "allocations of that call")                                            \
    F(uint32_t, create_flags, out, "DXGKARG_CREATEALLOCATION.Flags")                                         \
    F(uint32_t, alloc_id, out, "given by the user-mode driver or made up")                                   \
    F(uint32_t, priv_flags, out, "AEROGPU_ALLOC_PRIV_FLAG_*, 0 without private data")                        \
    F(uint32_t, pitch_bytes, out, "0 if unknown")                                                            \
    F(uint64_t, share_token, out, "0 if not shared")                                                         \
    F(uint64_t, size_bytes, out, "DXGK_ALLOCATIONINFO.Size")                                                 \
    F(uint32_t, flags_in, out, "DXGK_ALLOCATIONINFO.Flags as they came")                                     \
    F(uint32_t, flags_out, out, "and as they went")

#define AEROGPU_ESCAPE_FIELDS_dump_createallocation(F, A)                                                    \
    F(uint32_t, write_index, out, "entries ever written")                                                    \
    F(uint32_t, entry_count, out, "entries filled in")                                                       \
    F(uint32_t, entry_capacity, inout, "entries wanted, at most 32")                                         \
    F(uint32_t, reserved0, pad, "0")                                                                         \
    A(createallocation, entries, AEROGPU_ESCAPE_RECENT, out, "oldest first")

#define AEROGPU_ESCAPE_FIELDS_query_scanout(F, A)                                                            \
    F(uint32_t, vidpn_source_id, in, "0")                                                                    \
    F(uint32_t, flags, out,                                                                                  \
      "bit 31 valid, bit 0 cached_fb_gpa valid, bit 1 post-display ownership released")                      \
    F(uint32_t, cached_enable, out, "what the driver last set")                                              \
    F(uint32_t, cached_width, out, "what the driver last set")                                               \
    F(uint32_t, cached_height, out, "what the driver last set")                                              \
    F(uint32_t, cached_format, out, "what the driver last set")                                              \
    F(uint32_t, cached_pitch_bytes, out, "what the driver last set")                                         \
    F(uint32_t, mmio_enable, out, "SCANOUT0_ENABLE")                                                         \
    F(uint32_t, mmio_width, out, "SCANOUT0_WIDTH")                                                           \
    F(uint32_t, mmio_height, out, "SCANOUT0_HEIGHT")                                                         \
    F(uint32_t, mmio_format, out, "SCANOUT0_FORMAT")                                                         \
    F(uint32_t, mmio_pitch_bytes, out, "SCANOUT0_PITCH_BYTES")                                               \
    F(uint64_t, mmio_fb_gpa, out, "SCANOUT0_FB_GPA")                                                         \
    F(uint64_t, cached_fb_gpa, out, "what the driver last set; absent in 72-byte blocks")

#define AEROGPU_ESCAPE_FIELDS_query_cursor(F, A)                                                             \
    F(uint32_t, flags, out, "bit 31 valid, bit 0 cursor supported, bit 1 post-display ownership released")   \
    F(uint32_t, reserved0, pad, "0")                                                                         \
    F(uint32_t, enable, out, "CURSOR_ENABLE")                                                                \
    F(uint32_t, x, out, "CURSOR_X, signed")                                                                  \
    F(uint32_t, y, out, "CURSOR_Y, signed")                                                                  \
    F(uint32_t, hot_x, out, "CURSOR_HOT_X")                                                                  \
    F(uint32_t, hot_y, out, "CURSOR_HOT_Y")                                                                  \
    F(uint32_t, width, out, "CURSOR_WIDTH")                                                                  \
    F(uint32_t, height, out, "CURSOR_HEIGHT")                                                                \
    F(uint32_t, format, out, "CURSOR_FORMAT")                                                                \
    F(uint64_t, fb_gpa, out, "CURSOR_FB_GPA")                                                                \
    F(uint32_t, pitch_bytes, out, "CURSOR_PITCH_BYTES")                                                      \
    F(uint32_t, reserved1, pad, "0")

#define AEROGPU_ESCAPE_FIELDS_query_perf(F, A)                                                               \
    F(uint64_t, last_submitted_fence, out, "of the whole adapter")                                           \
    F(uint64_t, last_completed_fence, out, "of the whole adapter")                                           \
    F(uint32_t, ring0_head, out, "as in the ring header")                                                    \
    F(uint32_t, ring0_tail, out, "as in the ring header")                                                    \
    F(uint32_t, ring0_size_bytes, out, "as in the ring header")                                              \
    F(uint32_t, ring0_entry_count, out, "as in the ring header")                                             \
    F(uint64_t, total_submissions, out, "all kinds")                                                         \
    F(uint64_t, total_presents, out, "presents")                                                             \
    F(uint64_t, total_render_submits, out, "renders")                                                        \
    F(uint64_t, total_internal_submits, out, "the driver's own")                                             \
    F(uint64_t, irq_fence_delivered, out, "fence interrupts")                                                \
    F(uint64_t, irq_vblank_delivered, out, "vblank interrupts")                                              \
    F(uint64_t, irq_spurious, out, "interrupts without a cause")                                             \
    F(uint64_t, reset_from_timeout_count, out, "times that the adapter was reset")                           \
    F(uint64_t, last_reset_time_100ns, out, "system time of the last, 100 ns units")                         \
    F(uint64_t, vblank_seq, out, "SCANOUT0_VBLANK_SEQ")                                                      \
    F(uint64_t, last_vblank_time_ns, out, "SCANOUT0_VBLANK_TIME_NS")                                         \
    F(uint32_t, vblank_period_ns, out, "SCANOUT0_VBLANK_PERIOD_NS")                                          \
    F(uint32_t, error_state, out, "bit 31 error latched, bits 0-30 time of the last in 10 ms units")         \
    F(uint64_t, error_irq_count, out, "error interrupts seen")                                               \
    F(uint64_t, last_error_fence, out, "fence of the last of them")                                          \
    F(uint64_t, ring_push_failures, out, "submissions that found the ring full")                             \
    F(uint64_t, selftest_count, out, "self-tests run")                                                       \
    F(uint32_t, selftest_last_error_code, out, "AEROGPU_SELFTEST_* of the last")                             \
    F(uint32_t, flags, out, "bit 31 valid, bit 0 ring, bit 1 vblank, bit 2 scanline fields valid")           \
    F(uint32_t, pending_meta_handle_count, out, "renders and presents not submitted yet")                    \
    F(uint32_t, pending_meta_handle_reserved0, pad, "0")                                                     \
    F(uint64_t, pending_meta_handle_bytes, out, "their size")                                                \
    F(uint64_t, get_scanline_cache_hits, out, "scanline queries answered without registers")                 \
    F(uint64_t, get_scanline_mmio_polls, out, "scanline queries that read registers")                        \
    F(uint64_t, contig_pool_hit, out, "contiguous buffers reused")                                           \
    F(uint64_t, contig_pool_miss, out, "contiguous buffers made")                                            \
    F(uint64_t, contig_pool_bytes_saved, out, "bytes reused")                                                \
    F(uint64_t, alloc_table_count, out, "allocation tables built")                                           \
    F(uint64_t, alloc_table_entries, out, "their entries")                                                   \
    F(uint64_t, alloc_table_readonly_entries, out, "those marked READONLY")

#define AEROGPU_ESCAPE_FIELDS_read_gpa(F, A)                                                                 \
    F(uint64_t, gpa, in, "guest address")                                                                    \
    F(uint32_t, size_bytes, in, "at most 4096")                                                              \
    F(uint32_t, reserved0, pad, "0")                                                                         \
    F(uint32_t, status, out, "NTSTATUS")                                                                     \
    F(uint32_t, bytes_copied, out, "bytes of data that are valid")                                           \
    A(byte, data, AEROGPU_ESCAPE_READ_GPA_MAX, out, "what is there")

#define AEROGPU_ESCAPE_FIELDS_query_error(F, A)                                                              \
    F(uint32_t, flags, out, "bit 31 valid, bit 0 error registers supported, bit 1 error latched")            \
    F(uint32_t, error_code, out, "ERROR_CODE")                                                               \
    F(uint64_t, error_fence, out, "ERROR_FENCE")                                                             \
    F(uint32_t, error_count, out, "ERROR_COUNT")                                                             \
    F(uint32_t, reserved0, pad, "0")

#define AEROGPU_ESCAPE_FIELDS_set_cursor_shape(F, A)                                                         \
    F(uint32_t, width, in, "pixels")                                                                         \
    F(uint32_t, height, in, "rows")                                                                          \
    F(uint32_t, hot_x, in, "hot spot")                                                                       \
    F(uint32_t, hot_y, in, "hot spot")                                                                       \
    F(uint32_t, pitch_bytes, in, "distance of two rows")                                                     \
    F(uint32_t, format, in, "a 32-bit BGRA or BGRX format")                                                  \
    F(uint32_t, reserved0, pad, "0")                                                                         \
    F(uint32_t, reserved1, pad, "0")

#define AEROGPU_ESCAPE_FIELDS_set_cursor_position(F, A)                                                      \
    F(uint32_t, x, in, "signed")                                                                             \
    F(uint32_t, y, in, "signed")

#define AEROGPU_ESCAPE_FIELDS_set_cursor_visibility(F, A)                                                    \
    F(uint32_t, visible, in, "0 or 1")                                                                       \
    F(uint32_t, reserved0, pad, "0")

enum aerogpu_ring_format {
    AEROGPU_RING_FORMAT_UNKNOWN,
    AEROGPU_RING_FORMAT_LEGACY,
    AEROGPU_RING_FORMAT_AGPU
};

/* S(value, NAME, doc): error_code of SELFTEST; the exit code of dbgctl --selftest. */
#define AEROGPU_SELFTEST_CODES(S)                                                                            \
    S(0, OK, "passed")                                                                                       \
    S(1, INVALID_STATE, "the adapter is not running")                                                        \
    S(2, RING_NOT_READY, "there is no ring")                                                                 \
    S(3, GPU_BUSY, "work is pending")                                                                        \
    S(4, NO_RESOURCES, "out of memory")                                                                      \
    S(5, TIMEOUT, "the submission did not complete")                                                         \
    S(6, VBLANK_REGS_OUT_OF_RANGE, "BAR0 is too small for the vblank registers")                             \
    S(7, VBLANK_SEQ_STUCK, "vblank does not tick")                                                           \
    S(8, VBLANK_IRQ_REGS_OUT_OF_RANGE, "BAR0 is too small for the interrupt registers")                      \
    S(9, VBLANK_IRQ_NOT_LATCHED, "an enabled vblank did not set its status bit")                             \
    S(10, VBLANK_IRQ_NOT_CLEARED, "IRQ_ACK did not clear it")                                                \
    S(11, CURSOR_REGS_OUT_OF_RANGE, "BAR0 is too small for the cursor registers")                            \
    S(12, CURSOR_RW_MISMATCH, "a cursor register does not hold its value")                                   \
    S(13, VBLANK_IRQ_NOT_DELIVERED, "the interrupt did not arrive")                                          \
    S(14, TIME_BUDGET_EXHAUSTED, "timeout_ms ran out")

enum aerogpu_selftest_code {
#define AEROGPU_ROW(value, NAME, doc) AEROGPU_SELFTEST_##NAME = value,
    AEROGPU_SELFTEST_CODES(AEROGPU_ROW)
#undef AEROGPU_ROW
};

/* ---- the blob of UMDRIVERPRIVATE ----------------------------------------- */

#define AEROGPU_UMD_PRIVATE_VERSION 1u

#define AEROGPU_UMD_PRIVATE_FIELDS(F)                                                                        \
    F(uint32_t, size_bytes, "64 or more")                                                                    \
    F(uint32_t, struct_version, "1")                                                                         \
    F(uint32_t, device_mmio_magic, "MAGIC")                                                                  \
    F(uint32_t, device_abi_version, "ABI_VERSION")                                                           \
    F(uint32_t, reserved0, "0")                                                                              \
    F(uint64_t, device_features, "FEATURES; at offset 20, unaligned")                                        \
    F(uint32_t, flags, "AEROGPU_UMD_PRIVATE_FLAG_*")                                                         \
    F(uint32_t, reserved1, "0")                                                                              \
    F(uint32_t, reserved2, "0")                                                                              \
    F(uint64_t, reserved3, "0")                                                                              \
    F(uint64_t, reserved4, "0")                                                                              \
    F(uint64_t, reserved5, "0")

#define AEROGPU_UMD_PRIVATE_FLAG_LEGACY     0x1u
#define AEROGPU_UMD_PRIVATE_FLAG_VBLANK     0x2u
#define AEROGPU_UMD_PRIVATE_FLAG_FENCE_PAGE 0x4u /* in use, not only supported */

/* ---- the structs --------------------------------------------------------- */

typedef uint8_t aerogpu_escape_byte_t; /* so that byte arrays read like the others in the tables */

#define AEROGPU_MEMBER(type, name, dir, doc)       type name;
#define AEROGPU_ARRAY(elem, name, count, dir, doc) AEROGPU_ELEM_##elem name[count];
#define AEROGPU_ELEM_byte                          aerogpu_escape_byte_t
#define AEROGPU_ELEM_ring_desc                     struct aerogpu_escape_ring_desc
#define AEROGPU_ELEM_ring_desc_v2                  struct aerogpu_escape_ring_desc_v2
#define AEROGPU_ELEM_createallocation              struct aerogpu_escape_createallocation
#pragma pack(push, 1)
struct aerogpu_escape_header {
    AEROGPU_ESCAPE_FIELDS_header(AEROGPU_MEMBER, AEROGPU_ARRAY)
};
struct aerogpu_escape_ring_desc {
    AEROGPU_ESCAPE_FIELDS_ring_desc(AEROGPU_MEMBER, AEROGPU_ARRAY)
};
struct aerogpu_escape_ring_desc_v2 {
    AEROGPU_ESCAPE_FIELDS_ring_desc_v2(AEROGPU_MEMBER, AEROGPU_ARRAY)
};
struct aerogpu_escape_createallocation {
    AEROGPU_ESCAPE_FIELDS_createallocation(AEROGPU_MEMBER, AEROGPU_ARRAY)
};
#define AEROGPU_ROW(op_, NAME, name, bytes, doc)                                                             \
    struct aerogpu_escape_##name {                                                                           \
        struct aerogpu_escape_header header;                                                                 \
        AEROGPU_ESCAPE_FIELDS_##name(AEROGPU_MEMBER, AEROGPU_ARRAY)                                          \
    };
AEROGPU_ESCAPES(AEROGPU_ROW)
#undef AEROGPU_ROW
#undef AEROGPU_MEMBER
#undef AEROGPU_ARRAY
#define AEROGPU_MEMBER(type, name, doc) type name;
struct aerogpu_umd_private {
    AEROGPU_UMD_PRIVATE_FIELDS(AEROGPU_MEMBER)
};
#pragma pack(pop)
#undef AEROGPU_MEMBER
#undef AEROGPU_ELEM_byte
#undef AEROGPU_ELEM_ring_desc
#undef AEROGPU_ELEM_ring_desc_v2
#undef AEROGPU_ELEM_createallocation

AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_escape_header) == 16, "escape version 1");
#define AEROGPU_ROW(op, NAME, name, bytes, doc)                                                              \
    AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_escape_##name) == (bytes), "escape " #NAME);
AEROGPU_ESCAPES(AEROGPU_ROW)
#undef AEROGPU_ROW
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_escape_ring_desc) == 24, "DUMP_RING");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_escape_ring_desc_v2) == 40, "DUMP_RING_V2");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_escape_createallocation) == 56, "DUMP_CREATEALLOCATION");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_escape_dump_ring, desc) == 40, "DUMP_RING");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_escape_dump_ring_v2, desc) == 52, "DUMP_RING_V2");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_escape_query_scanout, mmio_fb_gpa) == 64, "QUERY_SCANOUT");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_escape_query_scanout, cached_fb_gpa) ==
                          AEROGPU_ESCAPE_SCANOUT_V1,
                      "v2");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_escape_query_cursor, fb_gpa) == 56, "QUERY_CURSOR");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_escape_query_perf, error_irq_count) == 144, "QUERY_PERF");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_escape_read_gpa, data) == 40, "READ_GPA");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_escape_query_error, error_count) == 32, "QUERY_ERROR");
AEROGPU_STATIC_ASSERT(sizeof(struct aerogpu_umd_private) == 64, "version 1");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_umd_private, device_features) == 20, "version 1");
AEROGPU_STATIC_ASSERT(offsetof(struct aerogpu_umd_private, flags) == 28, "version 1");
